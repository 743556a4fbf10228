"""Declare every choice of a study: its default, its flag and help, and its name in the signature.

A field made by `_choice` carries its option; the others (level, replicates, seed, …) have the
option that all commands of `probative` share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, make_dataclass
from typing import Any

from probative.cli import options
from probative.metrics import COMPOSITES
from probative.options import ALWAYS, FoldsOptions, Option, Options, choice

_PARSERS = {int: options.whole, float: options.number}
_LIST_PARSERS = {int: options.whole_list, float: options.number_list, str: options.word_list}


def _choice(
    default: Any,
    text: str,
    *,
    signed: str = "",
    parser: Any = None,
    lists: Any = None,
    several: bool = False,
    **how: Any,
) -> Any:
    """Declare a field with its option; `text` is "--name METAVAR: help" or "METAVAR: help".

    The default decides how the option is read: several values may be repeated or joined by commas,
    unless the metavar says that only commas are taken; a switch has its help only. Without a
    default, `lists` reads several values. The signature calls the choice by its flag, or as
    `signed` says, and only if it is not the default.
    """
    form, words = ("", text) if isinstance(default, bool) else text.partition(": ")[::2]
    if isinstance(default, tuple) and default:
        parser, several = _LIST_PARSERS[type(default[0])], not form.endswith(",...")
    elif lists is not None:
        parser, several = lists, True
    elif parser is None and not isinstance(default, bool):
        parser = _PARSERS.get(type(default))
    signed = signed or form.rpartition(" ")[0].removeprefix("--")
    return choice(default, form, words, parser=parser, several=several, signed=signed, **how)


def _always(*words: Any, **how: Any) -> Any:
    """Declare a field with its option that the signature always shows."""
    return _choice(*words, always=True, **how)


def _shared(default: Any, signed: str = "") -> Any:
    """Declare a field whose option all commands share, and that the signature always shows."""
    return field(default=default, metadata=ALWAYS | ({"as": signed} if signed else {}))


def chosen(kind: type[Options], order: str) -> dict[str, Option]:
    """Return the options of these fields, in this order."""
    return options.choose(*order.split(), **kind.options())


@dataclass(frozen=True, kw_only=True)
class SimulationOptions(Options):
    """Choices that simulations share."""

    level: float = _shared(0.95)
    replicates: int = _shared(1000)
    rng: int | None = _shared(0, "seed")


def _declare(*, base: type[Options] = SimulationOptions, **choices: Any) -> type[Options]:
    """Make the class of a study's options."""
    entries = [(name, Any, choice) for name, choice in choices.items()]
    return make_dataclass("StudyOptions", entries, bases=(base,), frozen=True, kw_only=True)


PAIRING = _declare(
    sizes=_choice((200, 1000, 5000), "--n N: Items; several times, or separated by commas."),
    metrics=options.STATISTICS["metric"](("precision", "recall", "f1"), signed="metric"),
)
TRAINING = _declare(
    learners=_always(
        ("stump", "neighbour", "centroid"),
        "--learner NAME: Learners; several times, or separated by commas.",
    ),
    gains=_always(
        (0.0, 0.25),
        "--gain X: How much more B's features tell; 0: neither is better. Several times, or "
        "with commas.",
    ),
    distance=_always(0.5, "--distance X: The distance of the classes, in standard deviations."),
    copies=_always(
        "own",
        "--copies KIND: own: features of their own; subsampled: each trained on half of the items.",
    ),
    items=_always(400, "--n N: Items per data set."),
)
CLUSTERS = _declare(
    correlations=_choice(
        (0.1, 0.3),
        "--correlation R: Correlations of items of a unit; several times, or with commas.",
    ),
    questions=_always(
        ("score", "difference"), "--question NAME: Whose intervals: score, difference."
    ),
)
PLANNING = _declare(
    powers=_choice((0.5, 0.8, 0.9), "--power P: Powers to plan for; several times, or with commas.")
)
SEQUENTIAL = _declare(
    base=Options,
    shares=_choice(
        None,
        "--share P: P-values that tests estimate; several times, or with commas.",
        lists=options.number_list,
    ),
    most=_always(10**6, "N: The most draws of a test."),
)
MACRO = _declare(replicates=_shared(400))
METRICS = _declare(
    replicates=_shared(400),
    questions=_always(
        ("score", "difference", "units", "unit-differences", "classes", "class-differences"),
        "--question NAME: score (exactly), difference, units, unit-differences, classes or "
        "class-differences; several times, or with commas.",
    ),
    metrics=_choice(
        COMPOSITES,
        "--metric NAME: balanced_accuracy, mcc, kappa, informedness, markedness, fowlkes_mallows.",
    ),
    sizes=_choice((10, 20), "--n N: Items of a test set, for --question score."),
    methods=_choice(
        None,
        "--method NAME: Intervals, for --question score; by default the one that is used.",
        signed="methods",
        lists=options.word_list,
    ),
    conditions=_choice(
        None,
        "--condition NAME: Draw only where this is part of the condition's name, such as "
        "'rare, lognormal'; may be repeated.",
        several=True,
    ),
)
GATES = _declare(
    base=Options,
    margins=_always(
        (0.0, 0.02), "--margin D: Margins; several times, or with commas.", signed="margins"
    ),
    correlation=_always(0.1, "R: The correlation of items of a unit."),
    confidence=_always(0.95, "P: The confidence of the gates."),
    replicates=_shared(2000),
    rng=_shared(0, "seed"),
)
LOOKS = _declare(
    base=Options,
    level=_shared(0.95),
    units=_always(1000, "N: Units in a stream."),
    batch=_always(5, "N: Units between two looks."),
    streams=_always(1000, "N: Streams of units."),
    item_streams=_always(10_000, "N: Streams of items."),
    rng=_shared(0, "seed"),
)
WATCHING = _declare(
    base=Options,
    level=_shared(0.95),
    pool=_always(2000, "N: Units of a pool."),
    units=_always(400, "N: Units labelled in the end."),
    batch=_always(20, "N: Units between two looks."),
    streams=_always(500, "N: Pools of every kind."),
    rng=_shared(0, "seed"),
)
LEDGER = _declare(
    base=Options,
    sequences=_always(2000, "N: Sequences of candidates."),
    looks=_always(20, "N: Candidates in a sequence."),
    items=_always(300, "N: Items of a test set."),
    confidence=_always(0.95, "P: The confidence of the gate."),
    rng=_shared(0, "seed"),
)
DATASETS = _declare(
    base=Options,
    datasets=_always(
        (2, 3, 6, 20),
        "--number N: How many data sets; several times, or with commas.",
        signed="datasets",
    ),
    replicates=_shared(4000),
    rng=_shared(0, "seed"),
)
RANKS = _declare(
    systems=_always((5, 20), "N,...: How many systems; with commas."),
    adjust=_choice("holm", "HOW: holm or shaffer."),
    limits_only=_choice(False, "Leave out the tests of pairs, and with them the rank sets."),
)
RUNS = _declare(
    runs=_always((3, 5, 10), "R,...: Runs of either system."),
    ratios=_choice(
        (0.0, 0.1, 1.0, 4.0),
        "--ratio V: The variance of seeds over that of test sets; several times, or with commas.",
    ),
    units=_choice((20, 200, 1000), "N,...: Units of a test set.", signed="n"),
    scores=_choice(
        (0.5, 0.75, 0.9), "--score F1: The true score; several times, or with commas.", signed="f1"
    ),
    seeds=_choice(
        ("alike", "paired", "one", "failing"),
        "--spread HOW,...: How seeds spread: alike, paired, one, failing.",
        signed="seeds",
    ),
)
REPEATS = _declare(
    samples=_choice((50, 200, 1000), "N,...: Samples.", signed="n"),
    repeats=_always((1, 5, 20), "K,...: Answers to each sample."),
    scores=_choice((0.5, 0.75, 0.9), "--score P: The true score; several times, or with commas."),
)
CURVES = _declare(
    replicates=_shared(400),
    questions=_always(
        ("order", "threshold", "calibration", "difference"),
        "--question NAME: What is asked: order, threshold, calibration, difference.",
    ),
    positives=_always((5, 10, 20, 50, 200), "N: Expected numbers of positives."),
    shares=_choice((0.5, 0.05), "--share P: Shares of positives; several times, or with commas."),
    areas=_choice((0.6, 0.8, 0.95, 0.99), "--area P: Areas under the ROC curve."),
    kinds=_choice(
        ("continuous", "tied", "coarse", "missed", "units"),
        "--kind NAME: How scores are drawn: continuous, tied, coarse, missed, units.",
    ),
    pairs=_choice(
        ("alike", "units", "copies", "better"),
        "--pair NAME: How two systems are related: alike, units, copies, better.",
    ),
    probabilities=_choice(
        ("right", "bold", "high", "units", "high units", "bolder", "labels", "rare", "partly"),
        "NAME: What is wrong with probabilities: right (nothing), bold, high, units, 'high "
        "units', bolder, labels, rare, partly.",
    ),
    items=_choice((20, 50, 200, 1000), "--n N: How many probabilities there are."),
)


# --- Studies whose command is a function of its own


@dataclass(frozen=True, kw_only=True)
class TestsOptions(SimulationOptions):
    """Options of `size_and_power`; None stands for the usual methods."""

    correlations: Sequence[float] = _choice(
        (0.0, 0.1, 0.2, 0.4, 0.6),
        "--correlation R: Correlations of items of a sentence; several times, or separated "
        "by commas.",
    )
    differences: Sequence[float] = _choice(
        (0.0, 0.03),
        "--difference D: True differences of F1, as fractions of 1; several times, or with commas.",
    )
    methods: Sequence[str] | None = _choice(
        None,
        "--method NAME: item-test, unit-test, bootstrap, bootstrap-bca, mover, mover-items, "
        "bayes, bayes-items.",
        lists=options.word_list,
    )
    units: int = _always(200, "N: Sentences in a test set.")
    items: float = _always(5.0, "X: Mean number of items per sentence.")

    told = frozenset({"methods"})


@dataclass(frozen=True, kw_only=True)
class AnnotationOptions(Options):
    """Options of `annotation_study`."""

    sizes: Sequence[int] = _always(
        (100, 200, 400), "--n N: Numbers of labels; several times, or with commas."
    )
    prevalences: Sequence[float] = _choice(
        (0.05, 0.01, 0.005, 0.002), "--prevalence P: Shares of positive items."
    )
    kinds: Sequence[str] = _choice(
        ("calibrated", "timid", "bold", "shifted", "none", "nonsense", "blind"),
        "--confidence NAME: What is said of items: calibrated, timid, bold, shifted, none, "
        "nonsense, blind.",
    )
    items: int = _always(100_000, "N: Items in a pool.")
    level: float = _shared(0.95)
    replicates: int = _shared(400)
    rng: int = _shared(0, "seed")


@dataclass(frozen=True, kw_only=True)
class CoverageOptions(Options):
    """Options of `coverage_study`; `cells` are its scenarios as written."""

    sizes: Sequence[int] | None = _choice(
        None,
        "--n N: Items; several times, or separated by commas.",
        lists=options.whole_list,
    )
    cells: Sequence[str] = _choice(
        (),
        "P11,P10,P01[,P00]: Probabilities of a true positive, false positive, false negative"
        " [, true negative]; several times for several scenarios.",
        several=True,
    )
    methods: Sequence[str] | None = _choice(
        None,
        "--method NAME: Interval methods; by default the paper's four.",
        lists=options.word_list,
    )
    metric: str = _choice(
        "f1",
        "NAME: f1, or any other metric but fbeta.",
        among=("f1", "jaccard", "precision", "recall"),
    )
    level: float = _shared(0.95)

    told = frozenset({"methods", "metric"})


@dataclass(frozen=True, kw_only=True)
class BayesStudyOptions(FoldsOptions):
    """Options of `task_tests` and `simulate_credibility`."""

    replicates: int = _always(
        10_000, "N: Simulated data sets of each kind; 0 leaves the simulation out."
    )
    n: int = _always(600, "N: Items per data set.")
    rng: int | None = _shared(0, "seed")


@dataclass(frozen=True, kw_only=True)
class ChunkingOptions(Options):
    """Options of `chunking_study` and of its learner."""

    label: str = _always("ORG", "--only LABEL: The type of the third task.", needs=("ner",))
    features: Sequence[int] | None = _choice(
        None,
        "N,...: Columns beside the word that features see; by default the second of four.",
        parser=options.column_numbers,
        needs=("ner",),
    )
    encoding: str | None = None
    c2: float = _always(0.1, "NUMBER: The L2 penalty.")
    max_iterations: int = _always(100, "--iterations N: L-BFGS iterations at most.")
    m: int = 3
    rng: int | None = field(default=None, metadata={"as": "seed"})

    told = frozenset({"m", "rng"})


@dataclass(frozen=True, kw_only=True)
class SegmentationOptions(Options):
    """Options of `segmentation_study`, and the published figures to show.

    `sizes` and `step` are those of the learning curve as written.
    """

    systems: Sequence[str] | None = _choice(
        None,
        "A,B: Of maxmatch, crf and bigru; by default those that are installed.",
        parser=options.word_list,
    )
    sizes: Sequence[str] = _choice(
        (), "N,N: Training sentences at each point of the learning curve.", parser=options.word_list
    )
    step: int | None = _choice(
        None, "N: A learning curve that grows by N sentences.", parser=options.whole
    )
    curve: str | None = _choice(
        None,
        "NAME: The system of the learning curve; by default the last.",
        needs=("sizes", "step"),
    )
    spaces: bool = _always(True, "Whether segmenters see the spaces of the text.")
    epochs: int = _always(30, "N: Epochs of the network.")
    device: str = _choice(
        "auto",
        "NAME: Where the network computes: auto, cpu or cuda.",
        among=("auto", "cpu", "cuda"),
    )
    rng: int | None = _shared(0, "seed")
    steps: int = _always(20, "N: Steps of the sweep.")
    language: str | None = _choice(
        None, "zh|en: Show the published figures of this language only.", among=("zh", "en")
    )
    level: float = _shared(0.95)

    told = frozenset({"systems"})
