"""Define the frozen objects that all functions return.

They hold numbers, print as one line (`str`) and convert to a dictionary for JSON (`to_dict`). An
undefined number is NaN here and null in JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative._lazy import names_on_demand

if TYPE_CHECKING:
    from probative.results.base import DifferencePosterior as DifferencePosterior
    from probative.results.base import Interval as Interval
    from probative.results.base import Result as Result
    from probative.results.base import ScorePosterior as ScorePosterior
    from probative.results.base import jsonable as jsonable
    from probative.results.comparisons import Bucket as Bucket
    from probative.results.comparisons import BucketDifference as BucketDifference
    from probative.results.comparisons import Comparison as Comparison
    from probative.results.comparisons import Comparisons as Comparisons
    from probative.results.comparisons import Difference as Difference
    from probative.results.comparisons import Example as Example
    from probative.results.comparisons import GateVerdict as GateVerdict
    from probative.results.comparisons import Group as Group
    from probative.results.comparisons import GroupSummary as GroupSummary
    from probative.results.comparisons import GroupWeight as GroupWeight
    from probative.results.comparisons import Heterogeneity as Heterogeneity
    from probative.results.comparisons import LabelDifference as LabelDifference
    from probative.results.comparisons import LabelExample as LabelExample
    from probative.results.comparisons import NullDistribution as NullDistribution
    from probative.results.comparisons import RandomizationTest as RandomizationTest
    from probative.results.comparisons import SignificanceTest as SignificanceTest
    from probative.results.comparisons import SystemScore as SystemScore
    from probative.results.crossval import BayesTest as BayesTest
    from probative.results.crossval import FoldCounts as FoldCounts
    from probative.results.crossval import ModelComparison as ModelComparison
    from probative.results.crossval import ScorePosteriors as ScorePosteriors
    from probative.results.crossval import SplitBalance as SplitBalance
    from probative.results.curves import Band as Band
    from probative.results.curves import BestCut as BestCut
    from probative.results.curves import BestThreshold as BestThreshold
    from probative.results.curves import Calibration as Calibration
    from probative.results.curves import CalibrationBin as CalibrationBin
    from probative.results.curves import Curve as Curve
    from probative.results.curves import CurveComparison as CurveComparison
    from probative.results.curves import SegmentationSweep as SegmentationSweep
    from probative.results.datasets import Dataset as Dataset
    from probative.results.datasets import DatasetComparisons as DatasetComparisons
    from probative.results.datasets import DatasetCount as DatasetCount
    from probative.results.datasets import MeanDifference as MeanDifference
    from probative.results.ledger import Fingerprints as Fingerprints
    from probative.results.ledger import GateUse as GateUse
    from probative.results.ledger import Ledger as Ledger
    from probative.results.ledger import TestSet as TestSet
    from probative.results.ledger import TestSetUse as TestSetUse
    from probative.results.plans import Plan as Plan
    from probative.results.ranking import Board as Board
    from probative.results.ranking import RankedPair as RankedPair
    from probative.results.ranking import RankedSystem as RankedSystem
    from probative.results.ranking import Ranking as Ranking
    from probative.results.ranking import Submission as Submission
    from probative.results.records import FieldChange as FieldChange
    from probative.results.records import FieldCounts as FieldCounts
    from probative.results.records import FieldExample as FieldExample
    from probative.results.records import NearMiss as NearMiss
    from probative.results.records import PathSummary as PathSummary
    from probative.results.records import RecordExample as RecordExample
    from probative.results.records import RecordOutcomes as RecordOutcomes
    from probative.results.runs import RepeatedScore as RepeatedScore
    from probative.results.runs import RunScoreTests as RunScoreTests
    from probative.results.runs import RunsPlan as RunsPlan
    from probative.results.runs import VarianceParts as VarianceParts
    from probative.results.scores import Agreement as Agreement
    from probative.results.scores import Ceiling as Ceiling
    from probative.results.scores import FileCheck as FileCheck
    from probative.results.scores import JudgeAgreement as JudgeAgreement
    from probative.results.scores import LabelScores as LabelScores
    from probative.results.scores import PairAgreement as PairAgreement
    from probative.results.scores import RunScores as RunScores
    from probative.results.scores import Scores as Scores
    from probative.results.scores import SystemScores as SystemScores
    from probative.results.surveys import Estimate as Estimate
    from probative.results.surveys import EstimatedDifference as EstimatedDifference
    from probative.results.surveys import EstimatedScore as EstimatedScore
    from probative.results.surveys import EstimatedStratum as EstimatedStratum
    from probative.results.surveys import Look as Look
    from probative.results.surveys import Looks as Looks
    from probative.results.surveys import Sampled as Sampled
    from probative.results.surveys import SampledStratum as SampledStratum

_HOMES = {
    "base": "DifferencePosterior Interval Result ScorePosterior jsonable",
    "comparisons": (
        "Bucket BucketDifference Comparison Comparisons Difference Example GateVerdict Group "
        "GroupSummary GroupWeight Heterogeneity LabelDifference LabelExample NullDistribution "
        "RandomizationTest SignificanceTest SystemScore"
    ),
    "crossval": "BayesTest FoldCounts ModelComparison ScorePosteriors SplitBalance",
    "curves": (
        "Band BestCut BestThreshold Calibration CalibrationBin Curve CurveComparison "
        "SegmentationSweep"
    ),
    "datasets": "Dataset DatasetComparisons DatasetCount MeanDifference",
    "ledger": "Fingerprints GateUse Ledger TestSet TestSetUse",
    "plans": "Plan",
    "ranking": "Board RankedPair RankedSystem Ranking Submission",
    "runs": ("RepeatedScore RunScoreTests RunsPlan VarianceParts"),
    "records": (
        "FieldChange FieldCounts FieldExample NearMiss PathSummary RecordExample RecordOutcomes"
    ),
    "scores": (
        "Agreement Ceiling FileCheck JudgeAgreement LabelScores PairAgreement RunScores Scores "
        "SystemScores"
    ),
    "surveys": (
        "Estimate EstimatedDifference EstimatedScore EstimatedStratum Look Looks Sampled "
        "SampledStratum"
    ),
}

__getattr__, __dir__ = names_on_demand(
    __name__, {module: names.split() for module, names in _HOMES.items()}
)
__all__ = [name for names in _HOMES.values() for name in names.split()]
