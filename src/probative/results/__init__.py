"""The frozen objects in which every answer comes back.

They hold numbers, can say themselves in one line (`str`) and as a dictionary for JSON
(`to_dict`). An undefined number is NaN here and null in JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative._lazy import names_on_demand

if TYPE_CHECKING:
    from probative.results.agreement import Agreement, Ceiling, PairAgreement
    from probative.results.base import Interval, Result, jsonable
    from probative.results.bayes import BayesTest
    from probative.results.boards import Board, Submission
    from probative.results.comparisons import (
        Bucket,
        BucketDifference,
        Comparison,
        Comparisons,
        Example,
        LabelDifference,
        LabelExample,
        SystemScore,
    )
    from probative.results.crossval import (
        FoldCounts,
        ModelComparison,
        ScorePosteriors,
        SplitBalance,
    )
    from probative.results.curves import (
        Band,
        BestThreshold,
        Calibration,
        CalibrationBin,
        Curve,
        CurveComparison,
    )
    from probative.results.datasets import (
        Dataset,
        DatasetComparisons,
        DatasetCount,
        MeanDifference,
    )
    from probative.results.estimates import (
        Estimate,
        EstimatedDifference,
        EstimatedScore,
        EstimatedStratum,
    )
    from probative.results.gates import GateVerdict
    from probative.results.groups import Group, GroupSummary, GroupWeight, Heterogeneity
    from probative.results.ledger import Fingerprints, GateUse, Ledger, TestSet, TestSetUse
    from probative.results.plans import Plan
    from probative.results.posteriors import DifferencePosterior, ScorePosterior
    from probative.results.ranking import RankedPair, RankedSystem, Ranking
    from probative.results.runs import (
        ModelsAnswer,
        ProceduresAnswer,
        RepeatedScore,
        RunScoreTests,
        RunsDifference,
        RunsPlan,
        VarianceParts,
    )
    from probative.results.sampled import Sampled, SampledStratum
    from probative.results.scores import FileCheck, LabelScores, RunScores, Scores, SystemScores
    from probative.results.segmentation import (
        BestCut,
        CurvePoint,
        Reversal,
        SegmentationStudy,
        SegmentationSweep,
        SegmenterRun,
    )
    from probative.results.sequences import Look, Looks
    from probative.results.tests import (
        Difference,
        NullDistribution,
        RandomizationTest,
        SignificanceTest,
    )

__all__ = [
    "Agreement",
    "Band",
    "BayesTest",
    "BestCut",
    "BestThreshold",
    "Board",
    "Bucket",
    "BucketDifference",
    "Calibration",
    "CalibrationBin",
    "Ceiling",
    "Comparison",
    "Comparisons",
    "Curve",
    "CurveComparison",
    "CurvePoint",
    "Dataset",
    "DatasetComparisons",
    "DatasetCount",
    "Difference",
    "DifferencePosterior",
    "Estimate",
    "EstimatedDifference",
    "EstimatedScore",
    "EstimatedStratum",
    "Example",
    "FileCheck",
    "Fingerprints",
    "FoldCounts",
    "GateUse",
    "GateVerdict",
    "Group",
    "GroupSummary",
    "GroupWeight",
    "Heterogeneity",
    "Interval",
    "LabelDifference",
    "LabelExample",
    "LabelScores",
    "Ledger",
    "Look",
    "Looks",
    "MeanDifference",
    "ModelComparison",
    "ModelsAnswer",
    "NullDistribution",
    "PairAgreement",
    "Plan",
    "ProceduresAnswer",
    "RandomizationTest",
    "RankedPair",
    "RankedSystem",
    "Ranking",
    "RepeatedScore",
    "Result",
    "Reversal",
    "RunScoreTests",
    "RunScores",
    "RunsDifference",
    "RunsPlan",
    "Sampled",
    "SampledStratum",
    "ScorePosterior",
    "ScorePosteriors",
    "Scores",
    "SegmentationStudy",
    "SegmentationSweep",
    "SegmenterRun",
    "SignificanceTest",
    "SplitBalance",
    "Submission",
    "SystemScore",
    "SystemScores",
    "TestSet",
    "TestSetUse",
    "VarianceParts",
    "jsonable",
]

__getattr__, __dir__ = names_on_demand(
    __name__,
    {
        "agreement": ("Agreement", "Ceiling", "PairAgreement"),
        "base": ("Interval", "Result", "jsonable"),
        "bayes": ("BayesTest",),
        "boards": ("Board", "Submission"),
        "comparisons": (
            "Bucket",
            "BucketDifference",
            "Comparison",
            "Comparisons",
            "Example",
            "LabelDifference",
            "LabelExample",
            "SystemScore",
        ),
        "crossval": ("FoldCounts", "ModelComparison", "ScorePosteriors", "SplitBalance"),
        "curves": (
            "Band",
            "BestThreshold",
            "Calibration",
            "CalibrationBin",
            "Curve",
            "CurveComparison",
        ),
        "datasets": ("Dataset", "DatasetComparisons", "DatasetCount", "MeanDifference"),
        "estimates": ("Estimate", "EstimatedDifference", "EstimatedScore", "EstimatedStratum"),
        "gates": ("GateVerdict",),
        "groups": ("Group", "GroupSummary", "GroupWeight", "Heterogeneity"),
        "ledger": ("Fingerprints", "GateUse", "Ledger", "TestSet", "TestSetUse"),
        "plans": ("Plan",),
        "posteriors": ("DifferencePosterior", "ScorePosterior"),
        "ranking": ("RankedPair", "RankedSystem", "Ranking"),
        "runs": (
            "ModelsAnswer",
            "ProceduresAnswer",
            "RepeatedScore",
            "RunScoreTests",
            "RunsDifference",
            "RunsPlan",
            "VarianceParts",
        ),
        "sampled": ("Sampled", "SampledStratum"),
        "scores": ("FileCheck", "LabelScores", "RunScores", "Scores", "SystemScores"),
        "segmentation": (
            "BestCut",
            "CurvePoint",
            "Reversal",
            "SegmentationStudy",
            "SegmentationSweep",
            "SegmenterRun",
        ),
        "sequences": ("Look", "Looks"),
        "tests": ("Difference", "NullDistribution", "RandomizationTest", "SignificanceTest"),
    },
)
