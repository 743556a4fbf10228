"""Every choice of a study: what its function takes, its command asks for and its signature says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from probative.metrics import COMPOSITES
from probative.options import ALWAYS, FoldsOptions, Options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative._validation import RNG


_SEED = ALWAYS | {"as": "seed"}


@dataclass(frozen=True, kw_only=True)
class SimulationOptions(Options):
    """The choices that simulations share."""

    level: float = field(default=0.95, metadata=ALWAYS)
    replicates: int = field(default=1000, metadata=ALWAYS)
    rng: RNG | None = field(default=0, metadata=_SEED)


@dataclass(frozen=True, kw_only=True)
class PairingOptions(SimulationOptions):
    """Of `probative_studies.pairing.pairing_study`."""

    sizes: Sequence[int] = field(default=(200, 1000, 5000), metadata={"as": "n"})
    metrics: Sequence[str] = field(default=("precision", "recall", "f1"), metadata={"as": "metric"})


@dataclass(frozen=True, kw_only=True)
class TrainingOptions(SimulationOptions):
    """Of `probative_studies.training.training_study`."""

    learners: Sequence[str] = field(
        default=("stump", "neighbour", "centroid"), metadata=ALWAYS | {"as": "learner"}
    )
    gains: Sequence[float] = field(default=(0.0, 0.25), metadata=ALWAYS | {"as": "gain"})
    distance: float = field(default=0.5, metadata=ALWAYS)
    copies: str = field(default="own", metadata=ALWAYS)
    items: int = field(default=400, metadata=ALWAYS | {"as": "n"})


@dataclass(frozen=True, kw_only=True)
class ClusterOptions(SimulationOptions):
    """Of `probative_studies.clusters`: which conditions, and of `cluster_study`."""

    correlations: Sequence[float] = field(default=(0.1, 0.3), metadata={"as": "correlation"})
    questions: Sequence[str] = field(
        default=("score", "difference"), metadata=ALWAYS | {"as": "question"}
    )


@dataclass(frozen=True, kw_only=True)
class TestsOptions(SimulationOptions):
    """Of `probative_studies.tests.size_and_power`; None stands for the usual methods."""

    correlations: Sequence[float] = field(
        default=(0.0, 0.1, 0.2, 0.4, 0.6), metadata={"as": "correlation"}
    )
    differences: Sequence[float] = field(default=(0.0, 0.03), metadata={"as": "difference"})
    methods: Sequence[str] | None = None
    units: int = field(default=200, metadata=ALWAYS)
    items: float = field(default=5.0, metadata=ALWAYS)

    told = frozenset({"methods"})


@dataclass(frozen=True, kw_only=True)
class PlanningOptions(SimulationOptions):
    """Of `probative_studies.planning.planning_study`."""

    powers: Sequence[float] = field(default=(0.5, 0.8, 0.9), metadata={"as": "power"})


@dataclass(frozen=True, kw_only=True)
class SequentialOptions(Options):
    """Of `probative_studies.sequential.stopping_study`."""

    shares: Sequence[float] | None = field(default=None, metadata={"as": "share"})
    most: int = field(default=10**6, metadata=ALWAYS)


@dataclass(frozen=True, kw_only=True)
class MacroOptions(SimulationOptions):
    """Of `probative_studies.macro.macro_coverage`."""

    replicates: int = field(default=400, metadata=ALWAYS)


@dataclass(frozen=True, kw_only=True)
class MetricStudyOptions(SimulationOptions):
    """Of `probative_studies.metrics.metric_study`; None stands for the method that is used."""

    questions: Sequence[str] = field(
        default=(
            *("score", "difference", "units", "unit-differences"),
            *("classes", "class-differences"),
        ),
        metadata=ALWAYS | {"as": "question"},
    )
    metrics: Sequence[str] = field(default=COMPOSITES, metadata={"as": "metric"})
    sizes: Sequence[int] = field(default=(10, 20), metadata={"as": "n"})
    methods: Sequence[str] | None = None
    conditions: Sequence[str] | None = field(default=None, metadata={"as": "condition"})
    replicates: int = field(default=400, metadata=ALWAYS)


@dataclass(frozen=True, kw_only=True)
class GateOptions(Options):
    """Of `probative_studies.gates.gate_study`."""

    margins: Sequence[float] = field(default=(0.0, 0.02), metadata=ALWAYS)
    correlation: float = field(default=0.1, metadata=ALWAYS)
    confidence: float = field(default=0.95, metadata=ALWAYS)
    replicates: int = field(default=2000, metadata=ALWAYS)
    rng: RNG | None = field(default=0, metadata=_SEED)


@dataclass(frozen=True, kw_only=True)
class LookOptions(Options):
    """Of `probative_studies.looks.look_study`."""

    level: float = field(default=0.95, metadata=ALWAYS)
    units: int = field(default=1000, metadata=ALWAYS)
    batch: int = field(default=5, metadata=ALWAYS)
    streams: int = field(default=1000, metadata=ALWAYS)
    item_streams: int = field(default=10_000, metadata=ALWAYS)
    rng: int = field(default=0, metadata=_SEED)


@dataclass(frozen=True, kw_only=True)
class WatchingOptions(Options):
    """Of `probative_studies.watching.watching_study`."""

    level: float = field(default=0.95, metadata=ALWAYS)
    pool: int = field(default=2000, metadata=ALWAYS)
    units: int = field(default=400, metadata=ALWAYS)
    batch: int = field(default=20, metadata=ALWAYS)
    streams: int = field(default=500, metadata=ALWAYS)
    rng: int = field(default=0, metadata=_SEED)


@dataclass(frozen=True, kw_only=True)
class LedgerStudyOptions(Options):
    """Of `probative_studies.ledger.ledger_study`."""

    sequences: int = field(default=2000, metadata=ALWAYS)
    looks: int = field(default=20, metadata=ALWAYS)
    items: int = field(default=300, metadata=ALWAYS)
    confidence: float = field(default=0.95, metadata=ALWAYS)
    rng: int = field(default=0, metadata=_SEED)


@dataclass(frozen=True, kw_only=True)
class AnnotationOptions(Options):
    """Of `probative_studies.annotation.annotation_study`."""

    sizes: Sequence[int] = field(default=(100, 200, 400), metadata=ALWAYS | {"as": "n"})
    prevalences: Sequence[float] = field(
        default=(0.05, 0.01, 0.005, 0.002), metadata={"as": "prevalence"}
    )
    kinds: Sequence[str] = field(
        default=("calibrated", "timid", "bold", "shifted", "none", "nonsense", "blind"),
        metadata={"as": "confidence"},
    )
    items: int = field(default=100_000, metadata=ALWAYS)
    level: float = field(default=0.95, metadata=ALWAYS)
    replicates: int = field(default=400, metadata=ALWAYS)
    rng: int = field(default=0, metadata=_SEED)


@dataclass(frozen=True, kw_only=True)
class DatasetStudyOptions(Options):
    """Of `probative_studies.datasets.dataset_study`."""

    datasets: Sequence[int] = field(default=(2, 3, 6, 20), metadata=ALWAYS)
    replicates: int = field(default=4000, metadata=ALWAYS)
    rng: RNG | None = field(default=0, metadata=_SEED)


@dataclass(frozen=True, kw_only=True)
class CoverageOptions(Options):
    """Of `probative_studies.coverage.coverage_study`; `cells` are its scenarios, as written."""

    sizes: Sequence[int] | None = field(default=None, metadata={"as": "n"})
    cells: Sequence[str] = ()
    methods: Sequence[str] | None = None
    metric: str = "f1"
    level: float = field(default=0.95, metadata=ALWAYS)

    told = frozenset({"methods", "metric"})


@dataclass(frozen=True, kw_only=True)
class BayesStudyOptions(FoldsOptions):
    """Of `probative_studies.bayes`: of its tests, and of its simulation."""

    replicates: int = field(default=10_000, metadata=ALWAYS)
    n: int = field(default=600, metadata=ALWAYS)
    rng: int | None = field(default=0, metadata=_SEED)


@dataclass(frozen=True, kw_only=True)
class ChunkingOptions(Options):
    """Of `probative_studies.chunking.chunking_study` and of its learner."""

    label: str = field(default="ORG", metadata=ALWAYS | {"as": "only"})
    features: Sequence[int] | None = None
    encoding: str | None = None
    c2: float = field(default=0.1, metadata=ALWAYS)
    max_iterations: int = field(default=100, metadata=ALWAYS | {"as": "iterations"})
    m: int = 3
    rng: RNG | None = field(default=None, metadata={"as": "seed"})

    told = frozenset({"m", "rng"})


@dataclass(frozen=True, kw_only=True)
class SegmentationOptions(Options):
    """Of `probative_studies.segmentation.segmentation_study`.

    `sizes` and `step` are the learning curve's as they were written; `language` chooses among the
    published figures.
    """

    systems: Sequence[str] | None = None
    sizes: Sequence[str] = ()
    step: int | None = None
    curve: str | None = None
    spaces: bool = field(default=True, metadata=ALWAYS)
    epochs: int = field(default=30, metadata=ALWAYS)
    device: str = "auto"
    rng: RNG | None = field(default=0, metadata=_SEED)
    steps: int = field(default=20, metadata=ALWAYS)
    language: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)

    told = frozenset({"systems"})


@dataclass(frozen=True, kw_only=True)
class RanksOptions(SimulationOptions):
    """Of `probative_studies.ranks.rank_study`."""

    systems: Sequence[int] = field(default=(5, 20), metadata=ALWAYS)
    adjust: str = "holm"
    limits_only: bool = False


@dataclass(frozen=True, kw_only=True)
class RunsOptions(SimulationOptions):
    """Of `probative_studies.runs.runs_study`."""

    runs: Sequence[int] = field(default=(3, 5, 10), metadata=ALWAYS)
    ratios: Sequence[float] = field(default=(0.0, 0.1, 1.0, 4.0), metadata={"as": "ratio"})
    units: Sequence[int] = field(default=(20, 200, 1000), metadata={"as": "n"})
    scores: Sequence[float] = field(default=(0.5, 0.75, 0.9), metadata={"as": "f1"})
    seeds: Sequence[str] = field(default=("alike", "paired", "one", "failing"))


@dataclass(frozen=True, kw_only=True)
class RepeatsOptions(SimulationOptions):
    """Of `probative_studies.runs.repeats_study`."""

    samples: Sequence[int] = field(default=(50, 200, 1000), metadata={"as": "n"})
    repeats: Sequence[int] = field(default=(1, 5, 20), metadata=ALWAYS)
    scores: Sequence[float] = field(default=(0.5, 0.75, 0.9), metadata={"as": "score"})


@dataclass(frozen=True, kw_only=True)
class CurveStudyOptions(SimulationOptions):
    """Of `probative_studies.curves.curve_study`."""

    replicates: int = field(default=400, metadata=ALWAYS)
    questions: Sequence[str] = field(
        default=("order", "threshold", "calibration", "difference"),
        metadata=ALWAYS | {"as": "question"},
    )
    positives: Sequence[int] = field(default=(5, 10, 20, 50, 200), metadata=ALWAYS)
    shares: Sequence[float] = field(default=(0.5, 0.05), metadata={"as": "share"})
    areas: Sequence[float] = field(default=(0.6, 0.8, 0.95, 0.99), metadata={"as": "area"})
    kinds: Sequence[str] = field(
        default=("continuous", "tied", "coarse", "missed", "units"), metadata={"as": "kind"}
    )
    pairs: Sequence[str] = field(
        default=("alike", "units", "copies", "better"), metadata={"as": "pair"}
    )
    probabilities: Sequence[str] = (
        *("right", "bold", "high", "units"),
        *("high units", "bolder", "labels", "rare", "partly"),
    )
    items: Sequence[int] = field(default=(20, 50, 200, 1000), metadata={"as": "n"})


@dataclass(frozen=True, kw_only=True)
class AgreementStudyOptions(SimulationOptions):
    """Of `probative_studies.agreement.agreement_study`."""


@dataclass(frozen=True, kw_only=True)
class OverlapOptions(SimulationOptions):
    """Of `probative_studies.overlap.overlap_study`."""
