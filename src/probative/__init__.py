"""How good is this NLP system, and is that one really better?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative._lazy import names_on_demand
from probative._version import __version__ as __version__

if TYPE_CHECKING:
    from probative import metrics as metrics
    from probative import results as results
    from probative import seqeval as seqeval
    from probative import sklearn as sklearn
    from probative import tables as tables
    from probative import testing as testing
    from probative.counts import Counts as Counts
    from probative.counts import PairedCounts as PairedCounts
    from probative.crossval.runner import compare_models as compare_models
    from probative.crossval.splitter import BlockRegularizedCV as BlockRegularizedCV
    from probative.errors import InputError as InputError
    from probative.inference.bayes import bayes_test as bayes_test
    from probative.inference.crossval import block_regularized_t_test as block_regularized_t_test
    from probative.inference.crossval import effective_counts as effective_counts
    from probative.inference.crossval import five_by_two_f_test as five_by_two_f_test
    from probative.inference.crossval import five_by_two_t_test as five_by_two_t_test
    from probative.inference.differences import bootstrap_difference as bootstrap_difference
    from probative.inference.differences import difference as difference
    from probative.inference.exchange import mcnemar_test as mcnemar_test
    from probative.inference.exchange import randomization_test as randomization_test
    from probative.inference.groups import adjust_pvalues as adjust_pvalues
    from probative.inference.intervals import interval as interval
    from probative.inference.posterior.single import posterior as posterior
    from probative.inference.sequential import sequential as sequential
    from probative.jobs.agreement import agreement as agreement
    from probative.jobs.board import board as board
    from probative.jobs.compare import compare as compare
    from probative.jobs.curve import compare_curves as compare_curves
    from probative.jobs.curve import curve as curve
    from probative.jobs.datasets import compare_datasets as compare_datasets
    from probative.jobs.gate import gate as gate
    from probative.jobs.ledger import read_ledger as read_ledger
    from probative.jobs.plan import plan as plan
    from probative.jobs.rank import rank as rank
    from probative.jobs.score import score as score
    from probative.jobs.sweep import segmentation_sweep as segmentation_sweep
    from probative.matching.check import check as check
    from probative.results import Agreement as Agreement
    from probative.results import BayesTest as BayesTest
    from probative.results import Board as Board
    from probative.results import Comparison as Comparison
    from probative.results import Comparisons as Comparisons
    from probative.results import Curve as Curve
    from probative.results import CurveComparison as CurveComparison
    from probative.results import DatasetComparisons as DatasetComparisons
    from probative.results import Difference as Difference
    from probative.results import Estimate as Estimate
    from probative.results import FileCheck as FileCheck
    from probative.results import GateVerdict as GateVerdict
    from probative.results import Interval as Interval
    from probative.results import Ledger as Ledger
    from probative.results import Look as Look
    from probative.results import Looks as Looks
    from probative.results import ModelComparison as ModelComparison
    from probative.results import Plan as Plan
    from probative.results import RandomizationTest as RandomizationTest
    from probative.results import Ranking as Ranking
    from probative.results import Sampled as Sampled
    from probative.results import Scores as Scores
    from probative.results import SegmentationSweep as SegmentationSweep
    from probative.results import SignificanceTest as SignificanceTest
    from probative.results import SystemScores as SystemScores
    from probative.surveys.design import read_design as read_design
    from probative.surveys.estimating import estimate as estimate
    from probative.surveys.sampling import sample as sample
    from probative.surveys.watching import watch as watch
    from probative.tables.counting import tally as tally

# The names in each module, which is imported on first use, to keep the start fast.
_HOMES = {
    "_version": "__version__",
    "counts": "Counts PairedCounts",
    "crossval.runner": "compare_models",
    "crossval.splitter": "BlockRegularizedCV",
    "errors": "InputError",
    "inference.bayes": "bayes_test",
    "inference.crossval": (
        "block_regularized_t_test effective_counts five_by_two_f_test five_by_two_t_test"
    ),
    "inference.differences": "bootstrap_difference difference",
    "inference.exchange": "mcnemar_test randomization_test",
    "inference.groups": "adjust_pvalues",
    "inference.intervals": "interval",
    "inference.posterior.single": "posterior",
    "inference.sequential": "sequential",
    "jobs.agreement": "agreement",
    "jobs.board": "board",
    "jobs.compare": "compare",
    "jobs.curve": "compare_curves curve",
    "jobs.datasets": "compare_datasets",
    "jobs.gate": "gate",
    "jobs.ledger": "read_ledger",
    "jobs.plan": "plan",
    "jobs.rank": "rank",
    "jobs.score": "score",
    "jobs.sweep": "segmentation_sweep",
    "matching.check": "check",
    "results": (
        "Agreement BayesTest Board Comparison Comparisons Curve CurveComparison "
        "DatasetComparisons Difference Estimate FileCheck GateVerdict Interval Ledger Look Looks "
        "ModelComparison Plan RandomizationTest Ranking Sampled Scores SegmentationSweep "
        "SignificanceTest SystemScores"
    ),
    "surveys.design": "read_design",
    "surveys.estimating": "estimate",
    "surveys.sampling": "sample",
    "surveys.watching": "watch",
    "tables": "tally",
}
_MODULES = ("metrics", "results", "seqeval", "sklearn", "tables", "testing")

__getattr__, __dir__ = names_on_demand(
    __name__, {home: names.split() for home, names in _HOMES.items()}, modules=_MODULES
)
__all__ = list(__dir__())
