"""Define the frozen objects that all functions return.

They hold numbers, print as one line (`str`) and convert to a dictionary for JSON (`to_dict`). An
undefined number is NaN here and null in JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative._lazy import names_on_demand

if TYPE_CHECKING:
    from probative.results.base import *
    from probative.results.comparisons import *
    from probative.results.crossval import *
    from probative.results.curves import *
    from probative.results.datasets import *
    from probative.results.ledger import *
    from probative.results.plans import *
    from probative.results.ranking import *
    from probative.results.records import *
    from probative.results.runs import *
    from probative.results.scores import *
    from probative.results.surveys import *

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
