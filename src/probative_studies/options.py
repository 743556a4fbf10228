"""Declare every choice of a study: its default, its flag and help, and its name in the signature.

A field made by `_choice` carries its option; the others (level, replicates, seed, …) have the
option that all commands of `probative` share.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from probative.cli import options
from probative.metrics import COMPOSITES
from probative.options import ALWAYS, FoldsOptions, Option, Options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative._validation import RNG


_SEED = ALWAYS | {"as": "seed"}
_PARSERS = {int: options.whole, float: options.number}
_LIST_PARSERS = {int: options.whole_list, float: options.number_list, str: options.word_list}


def _choice(
    default: Any,
    flag: str,
    words: str | Option,
    *,
    signed: str = "",
    always: bool = False,
    parser: Any = None,
    several: bool = False,
    **how: Any,
) -> Any:
    """Declare a field with its option; `flag` is "--name METAVAR" or only "METAVAR".

    The default decides how the option is read: several values may be repeated or joined by commas,
    unless the metavar says that only commas are taken. The signature calls the choice by its flag,
    or as `signed` says.
    """
    name, _, metavar = flag.rpartition(" ")
    if isinstance(default, tuple) and default:
        parser, several = _LIST_PARSERS[type(default[0])], not metavar.endswith(",...")
    elif parser is None and not isinstance(default, bool):
        parser = _PARSERS.get(type(default))
    if not isinstance(words, Option):
        flags = (name,) if name else ()
        how |= {"parser": parser, "several": several, "help": words}
        words = Option(*flags, metavar=metavar or None, **how)
    metadata: dict[str, Any] = {"option": words} | (ALWAYS if always else {})
    if signed or name:
        metadata["as"] = signed or name.removeprefix("--")
    return field(default=default, metadata=metadata)


def chosen(kind: type[Options], order: str) -> dict[str, Option]:
    """Return the options of these fields, in this order."""
    return options.choose(*order.split(), **kind.options())


@dataclass(frozen=True, kw_only=True)
class SimulationOptions(Options):
    """Choices that simulations share."""

    level: float = field(default=0.95, metadata=ALWAYS)
    replicates: int = field(default=1000, metadata=ALWAYS)
    rng: RNG | None = field(default=0, metadata=_SEED)


@dataclass(frozen=True, kw_only=True)
class PairingOptions(SimulationOptions):
    """Options of `pairing_study`."""

    sizes: Sequence[int] = _choice(
        (200, 1000, 5000), "--n N", "Items; several times, or separated by commas."
    )
    metrics: Sequence[str] = _choice(
        ("precision", "recall", "f1"), "NAME", options.STATISTICS["metric"], signed="metric"
    )


@dataclass(frozen=True, kw_only=True)
class TrainingOptions(SimulationOptions):
    """Options of `training_study`."""

    learners: Sequence[str] = _choice(
        ("stump", "neighbour", "centroid"),
        "--learner NAME",
        "Learners; several times, or separated by commas.",
        always=True,
    )
    gains: Sequence[float] = _choice(
        (0.0, 0.25),
        "--gain X",
        "How much more B's features tell; 0: neither is better. Several times, or with commas.",
        always=True,
    )
    distance: float = _choice(
        0.5, "--distance X", "The distance of the classes, in standard deviations.", always=True
    )
    copies: str = _choice(
        "own",
        "--copies KIND",
        "own: features of their own; subsampled: each trained on half of the items.",
        always=True,
    )
    items: int = _choice(400, "--n N", "Items per data set.", always=True)


@dataclass(frozen=True, kw_only=True)
class ClusterOptions(SimulationOptions):
    """Options of `cluster_study`: the conditions and the simulation."""

    correlations: Sequence[float] = _choice(
        (0.1, 0.3),
        "--correlation R",
        "Correlations of items of a unit; several times, or with commas.",
    )
    questions: Sequence[str] = _choice(
        ("score", "difference"),
        "--question NAME",
        "Whose intervals: score, difference.",
        always=True,
    )


@dataclass(frozen=True, kw_only=True)
class TestsOptions(SimulationOptions):
    """Options of `size_and_power`; None stands for the usual methods."""

    correlations: Sequence[float] = _choice(
        (0.0, 0.1, 0.2, 0.4, 0.6),
        "--correlation R",
        "Correlations of items of a sentence; several times, or separated by commas.",
    )
    differences: Sequence[float] = _choice(
        (0.0, 0.03),
        "--difference D",
        "True differences of F1, as fractions of 1; several times, or with commas.",
    )
    methods: Sequence[str] | None = _choice(
        None,
        "--method NAME",
        "item-test, unit-test, bootstrap, bootstrap-bca, mover, mover-items, bayes, bayes-items.",
        parser=options.word_list,
        several=True,
    )
    units: int = _choice(200, "N", "Sentences in a test set.", always=True)
    items: float = _choice(5.0, "X", "Mean number of items per sentence.", always=True)

    told = frozenset({"methods"})


@dataclass(frozen=True, kw_only=True)
class PlanningOptions(SimulationOptions):
    """Options of `planning_study`."""

    powers: Sequence[float] = _choice(
        (0.5, 0.8, 0.9), "--power P", "Powers to plan for; several times, or with commas."
    )


@dataclass(frozen=True, kw_only=True)
class SequentialOptions(Options):
    """Options of `stopping_study`."""

    shares: Sequence[float] | None = _choice(
        None,
        "--share P",
        "P-values that tests estimate; several times, or with commas.",
        parser=options.number_list,
        several=True,
    )
    most: int = _choice(10**6, "N", "The most draws of a test.", always=True)


@dataclass(frozen=True, kw_only=True)
class MacroOptions(SimulationOptions):
    """Options of `macro_coverage`."""

    replicates: int = field(default=400, metadata=ALWAYS)


@dataclass(frozen=True, kw_only=True)
class MetricStudyOptions(SimulationOptions):
    """Options of `metric_study`; None stands for the method that is used."""

    questions: Sequence[str] = _choice(
        ("score", "difference", "units", "unit-differences", "classes", "class-differences"),
        "--question NAME",
        "score (exactly), difference, units, unit-differences, classes or class-differences; "
        "several times, or with commas.",
        always=True,
    )
    metrics: Sequence[str] = _choice(
        COMPOSITES,
        "--metric NAME",
        "balanced_accuracy, mcc, kappa, informedness, markedness, fowlkes_mallows.",
    )
    sizes: Sequence[int] = _choice((10, 20), "--n N", "Items of a test set, for --question score.")
    methods: Sequence[str] | None = _choice(
        None,
        "--method NAME",
        "Intervals, for --question score; by default the one that is used.",
        signed="methods",
        parser=options.word_list,
        several=True,
    )
    conditions: Sequence[str] | None = _choice(
        None,
        "--condition NAME",
        "Draw only where this is part of the condition's name, such as 'rare, lognormal'; may be "
        "repeated.",
        several=True,
    )
    replicates: int = field(default=400, metadata=ALWAYS)


@dataclass(frozen=True, kw_only=True)
class GateOptions(Options):
    """Options of `gate_study`."""

    margins: Sequence[float] = _choice(
        (0.0, 0.02),
        "--margin D",
        "Margins; several times, or with commas.",
        signed="margins",
        always=True,
    )
    correlation: float = _choice(0.1, "R", "The correlation of items of a unit.", always=True)
    confidence: float = _choice(0.95, "P", "The confidence of the gates.", always=True)
    replicates: int = field(default=2000, metadata=ALWAYS)
    rng: RNG | None = field(default=0, metadata=_SEED)


@dataclass(frozen=True, kw_only=True)
class LookOptions(Options):
    """Options of `look_study`."""

    level: float = field(default=0.95, metadata=ALWAYS)
    units: int = _choice(1000, "N", "Units in a stream.", always=True)
    batch: int = _choice(5, "N", "Units between two looks.", always=True)
    streams: int = _choice(1000, "N", "Streams of units.", always=True)
    item_streams: int = _choice(10_000, "N", "Streams of items.", always=True)
    rng: int = field(default=0, metadata=_SEED)


@dataclass(frozen=True, kw_only=True)
class WatchingOptions(Options):
    """Options of `watching_study`."""

    level: float = field(default=0.95, metadata=ALWAYS)
    pool: int = _choice(2000, "N", "Units of a pool.", always=True)
    units: int = _choice(400, "N", "Units labelled in the end.", always=True)
    batch: int = _choice(20, "N", "Units between two looks.", always=True)
    streams: int = _choice(500, "N", "Pools of every kind.", always=True)
    rng: int = field(default=0, metadata=_SEED)


@dataclass(frozen=True, kw_only=True)
class LedgerStudyOptions(Options):
    """Options of `ledger_study`."""

    sequences: int = _choice(2000, "N", "Sequences of candidates.", always=True)
    looks: int = _choice(20, "N", "Candidates in a sequence.", always=True)
    items: int = _choice(300, "N", "Items of a test set.", always=True)
    confidence: float = _choice(0.95, "P", "The confidence of the gate.", always=True)
    rng: int = field(default=0, metadata=_SEED)


@dataclass(frozen=True, kw_only=True)
class AnnotationOptions(Options):
    """Options of `annotation_study`."""

    sizes: Sequence[int] = _choice(
        (100, 200, 400), "--n N", "Numbers of labels; several times, or with commas.", always=True
    )
    prevalences: Sequence[float] = _choice(
        (0.05, 0.01, 0.005, 0.002), "--prevalence P", "Shares of positive items."
    )
    kinds: Sequence[str] = _choice(
        ("calibrated", "timid", "bold", "shifted", "none", "nonsense", "blind"),
        "--confidence NAME",
        "What is said of items: calibrated, timid, bold, shifted, none, nonsense, blind.",
    )
    items: int = _choice(100_000, "N", "Items in a pool.", always=True)
    level: float = field(default=0.95, metadata=ALWAYS)
    replicates: int = field(default=400, metadata=ALWAYS)
    rng: int = field(default=0, metadata=_SEED)


@dataclass(frozen=True, kw_only=True)
class DatasetStudyOptions(Options):
    """Options of `dataset_study`."""

    datasets: Sequence[int] = _choice(
        (2, 3, 6, 20),
        "--number N",
        "How many data sets; several times, or with commas.",
        signed="datasets",
        always=True,
    )
    replicates: int = field(default=4000, metadata=ALWAYS)
    rng: RNG | None = field(default=0, metadata=_SEED)


@dataclass(frozen=True, kw_only=True)
class CoverageOptions(Options):
    """Options of `coverage_study`; `cells` are its scenarios as written."""

    sizes: Sequence[int] | None = _choice(
        None,
        "--n N",
        "Items; several times, or separated by commas.",
        parser=options.whole_list,
        several=True,
    )
    cells: Sequence[str] = _choice(
        (),
        "P11,P10,P01[,P00]",
        "Probabilities of a true positive, false positive, false negative [, true negative]; "
        "several times for several scenarios.",
        several=True,
    )
    methods: Sequence[str] | None = _choice(
        None,
        "--method NAME",
        "Interval methods; by default the paper's four.",
        parser=options.word_list,
        several=True,
    )
    metric: str = _choice(
        "f1",
        "NAME",
        "f1, or any other metric but fbeta.",
        among=("f1", "jaccard", "precision", "recall"),
    )
    level: float = field(default=0.95, metadata=ALWAYS)

    told = frozenset({"methods", "metric"})


@dataclass(frozen=True, kw_only=True)
class BayesStudyOptions(FoldsOptions):
    """Options of `task_tests` and `simulate_credibility`."""

    replicates: int = _choice(
        10_000, "N", "Simulated data sets of each kind; 0 leaves the simulation out.", always=True
    )
    n: int = _choice(600, "N", "Items per data set.", always=True)
    rng: int | None = field(default=0, metadata=_SEED)


@dataclass(frozen=True, kw_only=True)
class ChunkingOptions(Options):
    """Options of `chunking_study` and of its learner."""

    label: str = _choice(
        "ORG", "--only LABEL", "The type of the third task.", always=True, needs=("ner",)
    )
    features: Sequence[int] | None = _choice(
        None,
        "N,...",
        "Columns beside the word that features see; by default the second of four.",
        parser=options.column_numbers,
        needs=("ner",),
    )
    encoding: str | None = None
    c2: float = _choice(0.1, "NUMBER", "The L2 penalty.", always=True)
    max_iterations: int = _choice(100, "--iterations N", "L-BFGS iterations at most.", always=True)
    m: int = 3
    rng: RNG | None = field(default=None, metadata={"as": "seed"})

    told = frozenset({"m", "rng"})


@dataclass(frozen=True, kw_only=True)
class SegmentationOptions(Options):
    """Options of `segmentation_study`, and the published figures to show.

    `sizes` and `step` are those of the learning curve as written.
    """

    systems: Sequence[str] | None = _choice(
        None,
        "A,B",
        "Of maxmatch, crf and bigru; by default those that are installed.",
        parser=options.word_list,
    )
    sizes: Sequence[str] = _choice(
        (),
        "N,N",
        "Training sentences at each point of the learning curve.",
        parser=options.word_list,
    )
    step: int | None = _choice(
        None, "N", "A learning curve that grows by N sentences.", parser=options.whole
    )
    curve: str | None = _choice(
        None,
        "NAME",
        "The system of the learning curve; by default the last.",
        needs=("sizes", "step"),
    )
    spaces: bool = _choice(True, "", "Whether segmenters see the spaces of the text.", always=True)
    epochs: int = _choice(30, "N", "Epochs of the network.", always=True)
    device: str = _choice(
        "auto",
        "NAME",
        "Where the network computes: auto, cpu or cuda.",
        among=("auto", "cpu", "cuda"),
    )
    rng: RNG | None = field(default=0, metadata=_SEED)
    steps: int = _choice(20, "N", "Steps of the sweep.", always=True)
    language: str | None = _choice(
        None, "zh|en", "Show the published figures of this language only.", among=("zh", "en")
    )
    level: float = field(default=0.95, metadata=ALWAYS)

    told = frozenset({"systems"})


@dataclass(frozen=True, kw_only=True)
class RanksOptions(SimulationOptions):
    """Options of `rank_study`."""

    systems: Sequence[int] = _choice(
        (5, 20), "N,...", "How many systems; with commas.", always=True
    )
    adjust: str = _choice("holm", "HOW", "holm or shaffer.")
    limits_only: bool = _choice(
        False, "", "Leave out the tests of pairs, and with them the rank sets."
    )


@dataclass(frozen=True, kw_only=True)
class RunsOptions(SimulationOptions):
    """Options of `runs_study`."""

    runs: Sequence[int] = _choice((3, 5, 10), "R,...", "Runs of either system.", always=True)
    ratios: Sequence[float] = _choice(
        (0.0, 0.1, 1.0, 4.0),
        "--ratio V",
        "The variance of seeds over that of test sets; several times, or with commas.",
    )
    units: Sequence[int] = _choice((20, 200, 1000), "N,...", "Units of a test set.", signed="n")
    scores: Sequence[float] = _choice(
        (0.5, 0.75, 0.9),
        "--score F1",
        "The true score; several times, or with commas.",
        signed="f1",
    )
    seeds: Sequence[str] = _choice(
        ("alike", "paired", "one", "failing"),
        "--spread HOW,...",
        "How seeds spread: alike, paired, one, failing.",
        signed="seeds",
    )


@dataclass(frozen=True, kw_only=True)
class RepeatsOptions(SimulationOptions):
    """Options of `repeats_study`."""

    samples: Sequence[int] = _choice((50, 200, 1000), "N,...", "Samples.", signed="n")
    repeats: Sequence[int] = _choice((1, 5, 20), "K,...", "Answers to each sample.", always=True)
    scores: Sequence[float] = _choice(
        (0.5, 0.75, 0.9), "--score P", "The true score; several times, or with commas."
    )


@dataclass(frozen=True, kw_only=True)
class CurveStudyOptions(SimulationOptions):
    """Options of `curve_study`."""

    replicates: int = field(default=400, metadata=ALWAYS)
    questions: Sequence[str] = _choice(
        ("order", "threshold", "calibration", "difference"),
        "--question NAME",
        "What is asked: order, threshold, calibration, difference.",
        always=True,
    )
    positives: Sequence[int] = _choice(
        (5, 10, 20, 50, 200), "N", "Expected numbers of positives.", always=True
    )
    shares: Sequence[float] = _choice(
        (0.5, 0.05), "--share P", "Shares of positives; several times, or with commas."
    )
    areas: Sequence[float] = _choice(
        (0.6, 0.8, 0.95, 0.99), "--area P", "Areas under the ROC curve."
    )
    kinds: Sequence[str] = _choice(
        ("continuous", "tied", "coarse", "missed", "units"),
        "--kind NAME",
        "How scores are drawn: continuous, tied, coarse, missed, units.",
    )
    pairs: Sequence[str] = _choice(
        ("alike", "units", "copies", "better"),
        "--pair NAME",
        "How two systems are related: alike, units, copies, better.",
    )
    probabilities: Sequence[str] = _choice(
        ("right", "bold", "high", "units", "high units", "bolder", "labels", "rare", "partly"),
        "NAME",
        "What is wrong with probabilities: right (nothing), bold, high, units, 'high units', "
        "bolder, labels, rare, partly.",
    )
    items: Sequence[int] = _choice(
        (20, 50, 200, 1000), "--n N", "How many probabilities there are."
    )


@dataclass(frozen=True, kw_only=True)
class AgreementStudyOptions(SimulationOptions):
    """Options of `agreement_study`."""


@dataclass(frozen=True, kw_only=True)
class OverlapOptions(SimulationOptions):
    """Options of `overlap_study`."""
