"""How good is this NLP system, and is that one really better?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative._version import __version__

if TYPE_CHECKING:
    from probative import metrics, results, seqeval, sklearn, tables, testing
    from probative.counts import Counts, PairedCounts
    from probative.crossval.runner import compare_models
    from probative.crossval.splitter import BlockRegularizedCV
    from probative.errors import InputError
    from probative.inference.bayes import bayes_test
    from probative.inference.crossval import (
        block_regularized_t_test,
        effective_counts,
        five_by_two_f_test,
        five_by_two_t_test,
    )
    from probative.inference.differences import bootstrap_difference, difference
    from probative.inference.exchange import mcnemar_test, randomization_test
    from probative.inference.groups import adjust_pvalues
    from probative.inference.intervals import interval
    from probative.inference.posterior.single import posterior
    from probative.inference.sequential import sequential
    from probative.jobs.agreement import agreement
    from probative.jobs.board import board
    from probative.jobs.compare import compare
    from probative.jobs.curve import compare_curves, curve
    from probative.jobs.datasets import compare_datasets
    from probative.jobs.gate import gate
    from probative.jobs.ledger import read_ledger
    from probative.jobs.plan import plan
    from probative.jobs.rank import rank
    from probative.jobs.score import score
    from probative.jobs.sweep import segmentation_sweep
    from probative.matching.check import check
    from probative.results import (
        Agreement,
        BayesTest,
        Board,
        Comparison,
        Comparisons,
        Curve,
        CurveComparison,
        DatasetComparisons,
        Difference,
        Estimate,
        FileCheck,
        GateVerdict,
        Interval,
        Ledger,
        Look,
        Looks,
        ModelComparison,
        Plan,
        RandomizationTest,
        Ranking,
        Sampled,
        Scores,
        SegmentationSweep,
        SignificanceTest,
        SystemScores,
    )
    from probative.surveys.design import read_design
    from probative.surveys.estimating import estimate
    from probative.surveys.sampling import sample
    from probative.surveys.watching import watch
    from probative.tables.counting import tally

# The names in each module, which is imported on first use, to keep the start fast.
_HOMES = {
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

__all__ = [
    "Agreement",
    "BayesTest",
    "BlockRegularizedCV",
    "Board",
    "Comparison",
    "Comparisons",
    "Counts",
    "Curve",
    "CurveComparison",
    "DatasetComparisons",
    "Difference",
    "Estimate",
    "FileCheck",
    "GateVerdict",
    "InputError",
    "Interval",
    "Ledger",
    "Look",
    "Looks",
    "ModelComparison",
    "PairedCounts",
    "Plan",
    "RandomizationTest",
    "Ranking",
    "Sampled",
    "Scores",
    "SegmentationSweep",
    "SignificanceTest",
    "SystemScores",
    "__version__",
    "adjust_pvalues",
    "agreement",
    "bayes_test",
    "block_regularized_t_test",
    "board",
    "bootstrap_difference",
    "check",
    "compare",
    "compare_curves",
    "compare_datasets",
    "compare_models",
    "curve",
    "difference",
    "effective_counts",
    "estimate",
    "five_by_two_f_test",
    "five_by_two_t_test",
    "gate",
    "interval",
    "mcnemar_test",
    "metrics",
    "plan",
    "posterior",
    "randomization_test",
    "rank",
    "read_design",
    "read_ledger",
    "results",
    "sample",
    "score",
    "segmentation_sweep",
    "seqeval",
    "sequential",
    "sklearn",
    "tables",
    "tally",
    "testing",
    "watch",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"probative.{name}")
    for home, names in _HOMES.items():
        if name in names.split():
            value = getattr(import_module(f"probative.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'probative' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
