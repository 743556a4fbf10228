"""Declare the commands of `probative study`, each with its options.

A field made by `choice` carries its option; the others (level, replicates, seed, …) have the option
that all commands of `probative` share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, make_dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import click

from probative._validation import one_of
from probative.cli import options, output
from probative.cli.output import progress
from probative.data import load
from probative.errors import InputError
from probative.metrics import COMPOSITES
from probative.options import STATISTICS, FoldsOptions, Option, Options, options_class
from probative.options import choice as field_of
from probative_studies.harness import emit, perform

# --- Options

_PARSERS = {int: options.whole, float: options.number}
_LIST_PARSERS = {int: options.whole_list, float: options.number_list, str: options.word_list}


def choice(
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
    form = "" if isinstance(default, bool) else text.partition(": ")[0]
    if isinstance(default, tuple) and default:
        parser, several = _LIST_PARSERS[type(default[0])], not form.endswith(",...")
    elif lists is not None:
        parser, several = lists, True
    elif parser is None and not isinstance(default, bool):
        parser = _PARSERS.get(type(default))
    signed = signed or form.rpartition(" ")[0].removeprefix("--")
    return field_of(text, default, parser=parser, several=several, signed=signed, **how)


def always(*words: Any, **how: Any) -> Any:
    """Declare a field with its option that the signature always shows."""
    return choice(*words, always=True, **how)


def shared(default: Any, signed: str = "") -> Any:
    """Declare a field whose option all commands share, and that the signature always shows."""
    return Option(hidden=True, always=True, signed=signed)(default)


def chosen(kind: type[Options], order: str) -> dict[str, Option]:
    """Return the options of these fields, in this order."""
    return options.choose(*order.split(), **kind.options())


@options_class
class _SimulationOptions(Options):
    """Choices that simulations share."""

    level: float = shared(0.95)
    replicates: int = shared(1000)
    rng: int | None = shared(0, "seed")


@options_class
class _TestsOptions(_SimulationOptions):
    """Options of `size_and_power`; None stands for the usual methods."""

    correlations: Sequence[float] = choice(
        (0.0, 0.1, 0.2, 0.4, 0.6),
        "--correlation R: Correlations of items of a sentence; several times, or separated "
        "by commas.",
    )
    differences: Sequence[float] = choice(
        (0.0, 0.03),
        "--difference D: True differences of F1, as fractions of 1; several times, or with commas.",
    )
    methods: Sequence[str] | None = choice(
        None,
        "--method NAME: item-test, unit-test, bootstrap, bootstrap-bca, mover, mover-items, "
        "bayes, bayes-items.",
        lists=options.word_list,
    )
    units: int = always(200, "N: Sentences in a test set.")
    items: float = always(5.0, "X: Mean number of items per sentence.")

    told = frozenset({"methods"})


@options_class
class _CoverageOptions(Options):
    """Options of `coverage_study`; `cells` are its scenarios as written."""

    sizes: Sequence[int] | None = choice(
        None, "--n N: Items; several times, or separated by commas.", lists=options.whole_list
    )
    cells: Sequence[str] = choice(
        (),
        "P11,P10,P01[,P00]: Probabilities of a true positive, false positive, false negative"
        " [, true negative]; several times for several scenarios.",
        several=True,
    )
    methods: Sequence[str] | None = choice(
        None,
        "--method NAME: Interval methods; by default the paper's four.",
        lists=options.word_list,
    )
    metric: str = choice(
        "f1",
        "NAME: f1, or any other metric but fbeta.",
        among=("f1", "jaccard", "precision", "recall"),
    )
    level: float = shared(0.95)

    told = frozenset({"methods", "metric"})


@options_class
class _BayesStudyOptions(FoldsOptions):
    """Options of `task_tests` and `simulate_credibility`."""

    replicates: int = always(
        10_000, "N: Simulated data sets of each kind; 0 leaves the simulation out."
    )
    n: int = always(600, "N: Items per data set.")
    rng: int | None = shared(0, "seed")


@options_class
class _ChunkingOptions(Options):
    """Options of `chunking_study` and of its learner."""

    label: str = always("ORG", "--only LABEL: The type of the third task.", needs=("ner",))
    features: Sequence[int] | None = choice(
        None,
        "N,...: Columns beside the word that features see; by default the second of four.",
        parser=options.column_numbers,
        needs=("ner",),
    )
    encoding: str | None = None
    c2: float = always(0.1, "NUMBER: The L2 penalty.")
    max_iterations: int = always(100, "--iterations N: L-BFGS iterations at most.")
    m: int = 3
    rng: int | None = field(default=None, metadata={"as": "seed"})

    told = frozenset({"m", "rng"})


@options_class
class _SegmentationOptions(Options):
    """Options of `segmentation_study`, and the published figures to show."""

    systems: Sequence[str] | None = choice(
        None,
        "A,B: Of maxmatch, crf and bigru; by default those that are installed.",
        parser=options.word_list,
    )
    sizes: Sequence[str] = choice(
        (), "N,N: Training sentences at each point of the learning curve.", parser=options.word_list
    )
    step: int | None = choice(
        None, "N: A learning curve that grows by N sentences.", parser=options.whole
    )
    curve: str | None = choice(
        None,
        "NAME: The system of the learning curve; by default the last.",
        needs=("sizes", "step"),
    )
    spaces: bool = always(True, "Whether segmenters see the spaces of the text.")
    epochs: int = always(30, "N: Epochs of the network.")
    device: str = choice(
        "auto",
        "NAME: Where the network computes: auto, cpu or cuda.",
        among=("auto", "cpu", "cuda"),
    )
    rng: int | None = shared(0, "seed")
    steps: int = always(20, "N: Steps of the sweep.")
    language: str | None = choice(
        None, "zh|en: Show the published figures of this language only.", among=("zh", "en")
    )
    level: float = shared(0.95)

    told = frozenset({"systems"})


# --- Studies that are a table

_TEST_SETS = "{0.replicates:,} test sets each; the level is {0.level:g}."
_LOOKS = "; looks; share=ever; standard_error; fixed=fixed, ever; once=fixed, once; streams"
_EVER_WRONG = (
    "Ever wrong in at most {doubt:.4g} of the streams is allowed; of a test that finds B better, "
    "more is better."
)


def _exceeding(words: str) -> Any:
    """Return a note that names the conditions under which a promise was broken."""

    def note(_: Any, results: Any) -> str:
        broken = "; ".join(str(result) for result in results if not result.holds)
        return f"{words} by three standard errors: {broken or 'nowhere'}."

    return note


def _note_of_training(given: Any, _: Any) -> str:
    sees = {
        "own": "Each sees two features of its own",
        "subsampled": "Each is trained on a random half of the training items",
    }
    return (
        "How often one of two learners is called better, as published and with training variance "
        f"allowed for. {sees.get(given.copies, given.copies)}; without a gain neither is better, "
        f"and {1 - given.level:.2g} would be right."
    )


def _note_of_ranks(given: Any, _: Any) -> str:
    sets = f"{given.replicates:,} test sets each: the share on which "
    if given.limits_only:
        return f"{sets}the limits of all differences hold the true ones. No pair is tested."
    return (
        f"{sets}all rank sets hold the true ranks, and on which the limits of all differences hold "
        f"the true ones; and the mean share of pairs that are decided."
    )


def _columns_of_ranks(given: Any) -> str:
    tested, decided = "rank_sets; rank_error=s.e.; ", "; decided"
    if given.limits_only:
        tested = decided = ""
    return f"systems; truth=in truth; units=test set; {tested}limits; limits_error=s.e.{decided}"


def simulation(
    path: str,
    question: str,
    *,
    order: str = "level replicates rng",
    title: Any,
    columns: Any,
    notes: Any,
    counting: str = "conditions",
    out: Any = output.Output,
    name: str = "",
    base: type[Options] = _SimulationOptions,
    told: Sequence[str] = (),
    **choices: Any,
) -> Any:
    """Declare the command of a study that shows one row per condition, and its own choices."""
    # `path` is the function, `question` the help, `order` names the options as help lists them;
    # titles, columns and notes are texts, or functions of the options (notes: and of the results);
    # a study of several questions has titles and columns by question; the signature leaves out
    # the options that are `told`
    module, function = path.split(".")
    name = name or module
    entries = [(each, Any, declared) for each, declared in choices.items()]
    how: dict[str, Any] = {"bases": (base,), "namespace": {"told": frozenset(told)}}
    plain: Any = {"init": False, "repr": False, "eq": False}  # `Options` has these methods
    kind = make_dataclass("StudyOptions", entries, **how, **plain)

    def command(given: Any, out: output.Output) -> None:
        study = getattr(import_module(f"probative_studies.{module}"), function)
        results = perform(study, given, out, counting)
        emit(name, results, given, out, title=title, columns=columns, notes=notes)

    command.__name__, command.__doc__ = name, question
    command.__annotations__ = {"given": Annotated[kind, chosen(kind, order)], "out": out}
    return command


agreement = simulation(
    "kinds.agreement_study",
    "Do the intervals of alpha and kappa between annotators hold? By simulation.",
    name="agreement",
    title="Agreement between annotators: coverage",
    columns="items; annotators; labels; guesses; per_unit; missing; coefficient; value=true; "
    "covered=coverage; length; noted=with a note; standard_error",
    notes="{0.replicates:,} corpora each; the level is {0.level:g}.",
)
records = simulation(
    "kinds.record_study",
    "Do intervals and tests of JSON records hold, by document and by field? By simulation.",
    name="records",
    title="Records: coverage of intervals, and how often tests reject equal systems",
    columns="documents; malformed; question=of; truth; by_document=by document; "
    "by_field=by field; length; standard_error",
    notes="{0.replicates:,} test sets each; the level is {0.level:g}. By field: as if the fields "
    "of a document were independent.",
)
graded = simulation(
    "kinds.graded_study",
    "Do the intervals of means of graded scores hold? By simulation.",
    name="graded",
    title="Means of graded scores: coverage",
    columns="shape; sizes; units; value=true mean; covered=coverage; difference=true difference; "
    "difference_covered=coverage of it; length; false_alarms; standard_error",
    notes=_TEST_SETS,
)
judges = simulation(
    "kinds.judge_study",
    "Do intervals hold if human labels correct a judge? By simulation.",
    title="A judge corrected by human labels of 2,000 items: coverage",
    columns="noise; bias; per_unit; whole; labels; covered=mean; difference_covered=difference; "
    "uncorrected=judge alone; length; length_of_labels=length of labels alone; standard_error",
    notes="{0.replicates:,} pools each; the level is {0.level:g}.",
    name="judges",
)
clusters = simulation(
    "clusters.chosen_conditions",
    "Do intervals cover what they promise with few or uneven units? By simulation.",
    order="correlations questions replicates level rng",
    title="Few and uneven units",
    columns="question=of a; metric=score; f1=true score; units; sizes; items=mean items; "
    "correlation; disputed=in dispute; before; after; standard_error; noted=with a note; "
    "unnoted_misses=misses without; length_after=length",
    notes="Coverage of intervals before (linearised variance, number of units less one) and after "
    "(leaving out one unit at a time, effective number of units less one).",
    correlations=choice(
        (0.1, 0.3),
        "--correlation R: Correlations of items of a unit; several times, or with commas.",
    ),
    questions=always(
        ("score", "difference"), "--question NAME: Whose intervals: score, difference."
    ),
)
_CONDITION = "share; positives; area; "
curves = simulation(
    "curves.curve_study",
    "Do intervals and tests of curves, thresholds and calibration hold? By simulation.",
    order="questions kinds pairs shares positives areas probabilities items level replicates rng",
    title={
        "order": "Average precision and the area under the ROC curve: coverage",
        "threshold": "Along the curve, and at its best threshold: coverage",
        "calibration": "Calibration error: coverage",
        "difference": "Two systems: differences found, and coverage",
    },
    columns={
        "order": f"kind=scores; {_CONDITION}average_precision=true AP; covered_ap=AP; "
        "length_ap=length; noted_ap=note; roc_auc=true AUC; covered_auc=AUC; length_auc=length; "
        "noted_auc=note; standard_error",
        "threshold": f"kind=scores; {_CONDITION}covered_point=one threshold; noted_point=note; "
        "covered_curve=whole curve; covered_naive=F1 naive; covered_best=F1 elsewhere; "
        "noted_best=note; bias_naive; bias_best=bias; covered_threshold=best threshold; "
        "standard_error",
        "calibration": "probabilities; items; error=true error; seen; left; covered=coverage; "
        "length; noted=note; covered_bins=bins; standard_error",
        "difference": f"pair=systems; {_CONDITION}found_ap=found: AP; found_auc=AUC; "
        "found_best=F1; covered_ap=coverage: AP; noted_ap=note; covered_auc=AUC; noted_auc=note; "
        "covered_best=F1; noted_best=note; surer=P > 0.95; standard_error",
    },
    notes=_TEST_SETS,
    replicates=shared(400),
    questions=always(
        ("order", "threshold", "calibration", "difference"),
        "--question NAME: What is asked: order, threshold, calibration, difference.",
    ),
    positives=always((5, 10, 20, 50, 200), "N: Expected numbers of positives."),
    shares=choice((0.5, 0.05), "--share P: Shares of positives; several times, or with commas."),
    areas=choice((0.6, 0.8, 0.95, 0.99), "--area P: Areas under the ROC curve."),
    kinds=choice(
        ("continuous", "tied", "coarse", "missed", "units"),
        "--kind NAME: How scores are drawn: continuous, tied, coarse, missed, units.",
    ),
    pairs=choice(
        ("alike", "units", "copies", "better"),
        "--pair NAME: How two systems are related: alike, units, copies, better.",
    ),
    probabilities=choice(
        ("right", "bold", "high", "units", "high units", "bolder", "labels", "rare", "partly"),
        "NAME: What is wrong with probabilities: right (nothing), bold, high, units, 'high "
        "units', bolder, labels, rare, partly.",
    ),
    items=choice((20, 50, 200, 1000), "--n N: How many probabilities there are."),
)
_CLAIMS = (
    "A count may be too large, and a spread be found that is not there, in 0.05; a mean must be "
    "covered in at least 0.93."
)
datasets = simulation(
    "gates.dataset_study",
    "Do the claims about several data sets hold? Counts, means and their spread, by simulation.",
    order="datasets replicates rng",
    name="datasets",
    title="Claims about several data sets",
    columns="claim; method; dependence=data sets; datasets=number; better; share; standard_error; "
    "replicates",
    notes=(_CLAIMS, _exceeding("Worse")),
    base=Options,
    datasets=always(
        (2, 3, 6, 20),
        "--number N: How many data sets; several times, or with commas.",
        signed="datasets",
    ),
    replicates=shared(4000),
    rng=shared(0, "seed"),
)
gates = simulation(
    "gates.gate_study",
    "How often do gates err? Equal and uneven units, 10 to 100 of them, by simulation.",
    order="margins correlation confidence replicates rng",
    title="Errors of gates",
    columns="gate; error; margin; sizes; units; share; standard_error",
    notes=(
        (
            "{0.replicates:,} test sets each, at the border of what the gate guards: a share of "
            "{doubt:.4g} is allowed."
        ),
        _exceeding("More"),
    ),
    base=Options,
    margins=always(
        (0.0, 0.02), "--margin D: Margins; several times, or with commas.", signed="margins"
    ),
    correlation=always(0.1, "R: The correlation of items of a unit."),
    confidence=always(0.95, "P: The confidence of the gates."),
    replicates=shared(2000),
    rng=shared(0, "seed"),
)
ledger = simulation(
    "gates.ledger_study",
    "Does the ledger keep its promise? Many candidates that are no better, on one test set.",
    order="sequences looks items confidence rng",
    name="ledger",
    title="Gates on one test set",
    columns="way=candidates; looks; plain=plain gates; independent=ledger, independent; "
    "adaptive=ledger, adaptive; promised",
    notes="The share of {0.sequences:,} sequences in which a candidate that is no better passes a "
    "gate: {doubt:.4g} is allowed where it is promised (standard error {error:.4f}).",
    counting="sequences",
    base=Options,
    sequences=always(2000, "N: Sequences of candidates."),
    looks=always(20, "N: Candidates in a sequence."),
    items=always(300, "N: Items of a test set."),
    confidence=always(0.95, "P: The confidence of the gate."),
    rng=shared(0, "seed"),
)
looks = simulation(
    "looks.look_study",
    "Do limits and tests hold at every look? Hundreds of looks at streams of labels.",
    order="level units batch streams item_streams rng",
    title="Wrong at any look",
    columns=f"what; condition=streams of{_LOOKS}",
    notes=_EVER_WRONG,
    base=Options,
    level=shared(0.95),
    units=always(1000, "N: Units in a stream."),
    batch=always(5, "N: Units between two looks."),
    streams=always(1000, "N: Streams of units."),
    item_streams=always(10_000, "N: Streams of items."),
    rng=shared(0, "seed"),
)
macro = simulation(
    "metrics.macro_coverage",
    "Do the intervals of macro averages cover what they promise? By simulation.",
    order="replicates level rng",
    name="macro",
    title="Coverage of the intervals of macro F1",
    columns="condition=labels and F1; question=of; method; coverage; standard_error; length",
    notes="Intervals of macro F1. delta: the delta method over units, as it was before. mover: "
    "Wilson's limits of each label, joined. one prior: labels share a prior whatever their size. "
    "hierarchical: what is used here.\nB scores two points more than A on every label; half of the "
    "time they share their fate.",
    counting="test sets",
    replicates=shared(400),
)
metrics = simulation(
    "metrics.metric_study",
    "Do the intervals of MCC, kappa and their kin cover what they promise?",
    order="questions metrics sizes methods conditions replicates level rng",
    title="Coverage of the intervals of MCC, kappa and their kin",
    columns="question=of a; metric; condition; n; method; coverage; standard_error; "
    "noted=with a note; unnoted_misses=misses without; length",
    notes="Of one score, the least coverage over shares of positives, recalls and specificities: a "
    "sum over all tables, at the shares of tp, fp, fn and tn that are told. The rest is drawn.",
    replicates=shared(400),
    questions=always(
        ("score", "difference", "units", "unit-differences", "classes", "class-differences"),
        "--question NAME: score (exactly), difference, units, unit-differences, classes or "
        "class-differences; several times, or with commas.",
    ),
    metrics=choice(
        COMPOSITES,
        "--metric NAME: balanced_accuracy, mcc, kappa, informedness, markedness, fowlkes_mallows.",
    ),
    sizes=choice((10, 20), "--n N: Items of a test set, for --question score."),
    methods=choice(
        None,
        "--method NAME: Intervals, for --question score; by default the one that is used.",
        signed="methods",
        lists=options.word_list,
    ),
    conditions=choice(
        None,
        "--condition NAME: Draw only where this is part of the condition's name, such as "
        "'rare, lognormal'; may be repeated.",
        several=True,
    ),
)
overlap = simulation(
    "kinds.overlap_study",
    "Do intervals hold where spans are found in part, and count one half? By simulation.",
    name="overlap",
    title="Spans found in part: coverage",
    columns="sentences; spans=spans each; found; partly=of these in part; f1=true F1; "
    "covered=coverage; length; standard_error",
    notes=_TEST_SETS,
)
pairing = simulation(
    "bayes.pairing_study",
    "Do intervals of a difference hold the truth? Does pairing make them shorter? Simulated.",
    order="sizes metrics replicates level rng",
    name="pairing",
    title=lambda given: f"Coverage of the {100 * given.level:g} % interval of B − A",
    columns="items; metric; posterior; coverage; standard_error; length; "
    "difference=true difference",
    notes="Test sets are drawn from a population on which the two systems treat nine items in ten "
    "alike. Independent posteriors ignore that, and their intervals are too long.",
    sizes=choice((200, 1000, 5000), "--n N: Items; several times, or separated by commas."),
    metrics=STATISTICS["metric"](("precision", "recall", "f1"), signed="metric"),
)
planning = simulation(
    "tests.planning_study",
    "Does a planned sample size give the power that was asked for? By simulation.",
    order="powers replicates level rng",
    name="planning",
    title="Planned and simulated power",
    columns="pilot; difference; units=units planned; planned=power planned; simulated; "
    "standard_error",
    notes="Test sets of the planned size are drawn from the units of the pilot; simulated is the "
    "share on which the exact randomisation test by unit is significant.",
    counting="test sets",
    powers=choice((0.5, 0.8, 0.9), "--power P: Powers to plan for; several times, or with commas."),
)
ranks = simulation(
    "ranks.rank_study",
    "Do all rank sets, and the limits of all differences, hold at once? By simulation.",
    order="systems adjust limits_only level replicates rng",
    title="Leaderboards that are right in everything",
    columns=_columns_of_ranks,
    notes=_note_of_ranks,
    counting="test sets",
    systems=always((5, 20), "N,...: How many systems; with commas."),
    adjust=choice("holm", "HOW: holm or shaffer."),
    limits_only=choice(False, "Leave out the tests of pairs, and with them the rank sets."),
)
repeats = simulation(
    "runs.repeats_study",
    "Do the limits hold for a model that answers each sample several times? By simulation.",
    order="samples repeats scores level replicates rng",
    title="Repeated answers: do the limits hold?",
    columns="score; truth; samples; repeats=answers each; coverage; standard_error; "
    "ignoring=as if independent; share_of_answers",
    name="repeats",
    notes="{0.replicates:,} test sets each: how often the limits hold the true score, the same for "
    "limits that take all items to be independent, and the share of the variance that more answers "
    "could remove, as estimated, on average.",
    samples=choice((50, 200, 1000), "N,...: Samples.", signed="n"),
    repeats=always((1, 5, 20), "K,...: Answers to each sample."),
    scores=choice((0.5, 0.75, 0.9), "--score P: The true score; several times, or with commas."),
)
runs = simulation(
    "runs.runs_study",
    "Do the limits for training procedures hold, with few runs and many? By simulation.",
    order="runs ratios units scores seeds level replicates rng",
    title="Several runs: do the limits for procedures hold?",
    columns="seeds; f1=F1; units; ratio; runs_a=runs of A; runs_b=of B; coverage; standard_error; "
    "size; width=length; once; ignoring=ignoring seeds; ignoring_width=length; new_run=new runs; "
    "new_run_here=here",
    notes="{0.replicates:,} test sets for each population: how often the limits for procedures "
    "hold their true difference, 0, and how often their test rejects it; the same coverage where "
    "what runs do to single units is counted once, and of the limits for models, which ignore that "
    "seeds vary. New runs: how often limits of the same kind hold the difference of two new runs, "
    "on a new test set and on this one.",
    counting="populations",
    runs=always((3, 5, 10), "R,...: Runs of either system."),
    ratios=choice(
        (0.0, 0.1, 1.0, 4.0),
        "--ratio V: The variance of seeds over that of test sets; several times, or with commas.",
    ),
    units=choice((20, 200, 1000), "N,...: Units of a test set.", signed="n"),
    scores=choice(
        (0.5, 0.75, 0.9), "--score F1: The true score; several times, or with commas.", signed="f1"
    ),
    seeds=choice(
        ("alike", "paired", "one", "failing"),
        "--spread HOW,...: How seeds spread: alike, paired, one, failing.",
        signed="seeds",
    ),
)
sequential = simulation(
    "looks.stopping_study",
    "When do sampled tests stop, and how often do they decide wrongly? Computed.",
    order="shares most",
    name="sequential",
    title="When sampled tests stop",
    columns="share=p-value; draws=draws expected; at_first=decided at first look; "
    "wrong=wrong of a million; undecided",
    notes="Decisions at 0.05 and 0.01. Wrong are those that differ from what drawing everything "
    "would decide; 100 of a million are allowed.",
    counting="p-values",
    out=output.Output,
    base=Options,
    shares=choice(
        None,
        "--share P: P-values that tests estimate; several times, or with commas.",
        lists=options.number_list,
    ),
    most=always(10**6, "N: The most draws of a test."),
)
training = simulation(
    "bayes.training_study",
    "How often is one of two equally good learners called better? Simulated.",
    order="learners gains distance copies items replicates level rng",
    name="training",
    title="Is one of two learners called better?",
    columns="learner; metric; gain; published; published_error=s.e.; adjusted; "
    "adjusted_error=s.e. ; effect=fold effect; notable=above 2",
    notes=_note_of_training,
    counting="data sets",
    learners=always(
        ("stump", "neighbour", "centroid"),
        "--learner NAME: Learners; several times, or separated by commas.",
    ),
    gains=always(
        (0.0, 0.25),
        "--gain X: How much more B's features tell; 0: neither is better. Several times, or "
        "with commas.",
    ),
    distance=always(0.5, "--distance X: The distance of the classes, in standard deviations."),
    copies=always(
        "own",
        "--copies KIND: own: features of their own; subsampled: each trained on half of the items.",
    ),
    items=always(400, "--n N: Items per data set."),
)
watching = simulation(
    "looks.watching_study",
    "Do limits and tests hold at every look at a sample that was drawn by dispute?",
    order="level pool units batch streams rng",
    name="watching",
    title="Wrong at any look at a stratified sample",
    columns=f"what; condition=pools of{_LOOKS}",
    notes=_EVER_WRONG,
    counting="streams",
    base=Options,
    level=shared(0.95),
    pool=always(2000, "N: Units of a pool."),
    units=always(400, "N: Units labelled in the end."),
    batch=always(20, "N: Units between two looks."),
    streams=always(500, "N: Pools of every kind."),
    rng=shared(0, "seed"),
)


annotation = simulation(
    "annotation.annotation_study",
    """Do scores of a pool hold that few labels tell, and what is placing these labels worth?

    Example: probative study annotation --gold test.conll --system a --system b --system c
    """,
    order="gold systems names sizes prevalences kinds items level replicates rng",
    title="Scores of a pool from few labels",
    columns="pool; question; labels; placement=placed; help; truth; coverage; standard_error; "
    "width; worth; normal; noted; unnoted=without note",
    notes="{0.replicates:,} samples each; the level is {0.level:g}.",
    base=Options,
    told=("gold", "systems", "names"),
    gold=choice(None, "FILE: An annotated pool; without, single items are made."),
    systems=choice(
        (),
        "--system FILE: The outputs of A, B and a third, of which judges are made.",
        several=True,
    ),
    names=choice(
        (), "FILE: Instead, two annotated files whose names two taggers know.", several=True
    ),
    sizes=always((100, 200, 400), "--n N: Numbers of labels; several times, or with commas."),
    prevalences=choice((0.05, 0.01, 0.005, 0.002), "--prevalence P: Shares of positive items."),
    kinds=choice(
        ("calibrated", "timid", "bold", "shifted", "none", "nonsense", "blind"),
        "--confidence NAME: What is said of items: calibrated, timid, bold, shifted, none, "
        "nonsense, blind.",
    ),
    items=always(100_000, "N: Items in a pool."),
    level=shared(0.95),
    replicates=shared(400),
    rng=shared(0, "seed"),
)


# --- Studies with figures or documents of their own


def bayes(
    *,
    given: Annotated[
        _BayesStudyOptions, chosen(_BayesStudyOptions, "replicates n level prior rope weight rng")
    ],
    task: str = field_of(
        "NAME: Which figure --figure draws: cws, ner or org.",
        "cws",
        among=("cws", "ner", "org"),
        needs=("figure",),
    ),
    out: output.Drawn,
) -> None:
    """The paper of the Bayes test, computed again: tables 2 to 5, figures 1 to 3, simulation.

    Tables and figures come from the released counts of three tagging tasks. The simulation
    cross-validates a logistic regression on data sets drawn afresh.
    """
    from probative.inference.crossval import score_posteriors
    from probative.reporting.bayes_report import density_figure
    from probative_studies import bayes as study

    one_of("--task", task, study.TASKS)
    choices = vars(given)
    tasks = study.task_tests(
        **{name: choices[name] for name in ("rope", "weight", "level", "prior")}
    )
    drawn = {name: choices[name] for name in ("replicates", "n", "level", "rng")}
    simulation = []
    if given.replicates:
        with progress("data sets", quiet=out.quiet) as report:
            simulation = study.simulate_credibility(**drawn, report=report)
    published = load("bayes_test")["simulation"]["published"]
    signature = given.signature("bayes", "exact")
    document = study.study_document(tasks, simulation, published, signature=signature)

    def draw() -> Any:
        shown = next(tested for tested in tasks if tested.task == task)
        folds = dict(zip((shown.a, shown.b), study.published_folds(task), strict=True))
        return density_figure(score_posteriors(folds, prior=given.prior), title=shown.name)

    out.emit(document, draw)


def chunking(
    *,
    cws: tuple[str, ...] | None = field_of(
        "FILE: Segmented text, such as SIGHAN 2005's pku_training.utf8; repeatable.", several=True
    ),
    ner: tuple[str, ...] | None = field_of(
        "FILE: Entities, such as CoNLL-2003's eng.train; repeatable.", several=True
    ),
    given: Annotated[
        _ChunkingOptions,
        chosen(_ChunkingOptions, "label features encoding c2 max_iterations m rng"),
    ],
    jobs: int | None = options.JOBS(None),
    resume: Path | None = options.RESUME(None),
    out: output.Output,
) -> None:
    """Does a finer tag set make a better chunker? Wang and Li's three experiments on your corpora.

    Example: probative study chunking --cws pku_training.utf8 --ner eng.train --jobs 2
    """
    from probative_studies.chunking import chunking_document, chunking_study

    with progress("fits", quiet=out.quiet) as report:
        results = chunking_study(
            cws=cws or (), ner=ner or (), n_jobs=jobs, folder=resume, report=report, **vars(given)
        )
    published = {task: entry["published"] for task, entry in load("bayes_test")["tasks"].items()}
    # the third task has a type of entities only where there are entities
    signature = (given if ner else replace(given, label="")).signature(
        "chunking", "crf", f"{given.m}x2-block-regularised", f"seed:{results[0].comparison.seed}"
    )
    out.emit(chunking_document(results, published, signature=signature))


def coverage(
    *,
    given: Annotated[
        _CoverageOptions, chosen(_CoverageOptions, "sizes cells methods metric level")
    ],
    plot: str = field_of(
        "NAME: What --figure draws: coverage, length or heatmap.",
        "coverage",
        among=("coverage", "length", "heatmap"),
        needs=("figure",),
    ),
    out: output.Drawn,
) -> None:
    """Do the intervals cover what they promise? Exact coverage, length, overshoot, degeneracy.

    Without options: the 18 conditions and four methods of Lam's simulation study, beside the
    published figures.
    """
    from probative.inference.intervals import methods_for
    from probative_studies import coverage as study

    one_of("--plot", plot, ("coverage", "length", "heatmap"))
    metric, level = given.metric, given.level
    usual = study.METHODS if metric == "f1" else methods_for(metric)[:1]
    methods = tuple(given.methods or usual)
    own_conditions = given.cells or given.sizes or metric != "f1" or level != 0.95
    as_published = not own_conditions and set(methods) <= set(study.METHODS)
    with progress("exact sums", quiet=out.quiet) as report:
        results = study.coverage_study(
            _scenarios(given.cells), given.sizes, methods, metric=metric, level=level, report=report
        )
    published = load("f1_intervals") if as_published else None
    signature = given.signature("coverage", metric, ",".join(methods), "exact")
    document = study.coverage_document(results, published, signature=signature)
    figures = {
        "coverage": lambda: study.coverage_figure(results),
        "length": lambda: study.length_figure(study.length_curves(level=level)),
        "heatmap": lambda: study.heat_map_figure(*study.coverage_map(methods, level=level), level),
    }
    out.emit(document, figures[plot])


def _scenarios(cells: Sequence[str]) -> dict[str, dict[str, float]] | None:
    """Read cell probabilities; a missing p00 is what is left to 1."""
    scenarios = {}
    for text in cells:
        try:
            values = options.number_list(text)
        except click.BadParameter:
            values = ()
        if len(values) == 3:
            values = (*values, max(0.0, round(1 - sum(values), 12)))
        if len(values) != 4:
            raise InputError(
                f"--cells: {text!r:.60}; expected three or four numbers, P11,P10,P01[,P00]"
            )
        scenarios[text] = dict(zip(("p11", "p10", "p01", "p00"), values, strict=True))
    return scenarios or None


_ALIKE = ("curve", "spaces", "epochs", "device", "rng", "steps", "level")


def segmentation(
    train: str = field_of("FILE: CoNLL-U, columns or segmented text to train on.", required=True),
    dev: str = field_of("FILE: The same, for the choice of the network's epoch.", required=True),
    test: str = field_of("FILE: The same, to be scored on.", required=True),
    *,
    given: Annotated[
        _SegmentationOptions,
        chosen(
            _SegmentationOptions,
            "systems sizes step curve epochs device spaces steps language level rng",
        ),
    ],
    resume: Path | None = options.RESUME(None),
    output: Path | None = field_of(
        "--output -o DIR: Write tables, figures, outputs and JSON there."
    ),
    out: output.Output,
) -> None:
    """Is recall the score to trust? Three word segmenters, a threshold sweep, a learning curve.

    Example: probative study segmentation --train train.conllu --dev dev.conllu --test test.conllu
    """
    from probative.files import make_folder, write_whole
    from probative.jobs.sweep import segmented
    from probative_studies.segmentation import (
        installed_systems,
        output_files,
        segmentation_study,
        study_document,
    )

    published = load("segmentation")["table2"]
    if given.language is not None:
        language = one_of("--language", given.language, published)
        published = {language: published[language]}
    systems, missing = installed_systems()
    if given.systems is not None:
        systems, missing = list(given.systems), []
    out.remark(*missing)
    training = segmented(train, "train")
    points = _sizes(given.sizes, given.step, training.n_sentences)
    if output is not None:
        make_folder(output)
    with progress("runs", quiet=out.quiet) as bar:

        def report(done: int, total: int, what: str) -> None:
            bar(done, total)
            if "iteration" not in what:
                out.remark(what)

        how = {name: getattr(given, name) for name in _ALIKE}
        how |= {"systems": systems, "sizes": points, "folder": resume, "report": report}
        study = segmentation_study(training, dev, test, **how)
    signature = given.signature("segmentation", ",".join(systems))
    document = study_document(study, published, html=out.html is not None, signature=signature)
    if output is not None:
        for name, content in output_files(study, document).items():
            write_whole(output / name, content)
        out.remark(f"wrote {output}")
    out.emit(document)


def _sizes(sizes: Sequence[str], step: int | None, everything: int) -> list[int]:
    if sizes and step is not None:
        raise InputError("--step: cannot be combined with --sizes; expected one of the two")
    if step is not None:
        if step < 1:
            raise InputError("--step: 0 is not a whole number >= 1")
        return list(range(step, everything, step))
    found: list[int] = []
    for word in sizes:
        try:
            what = "whole number >= 1 or 'all'"
            found += [everything] if word == "all" else options.whole_list(word, what=what)
        except click.BadParameter as error:
            raise InputError(f"--sizes: {error.message}") from None
    return found


def tests(
    given: Annotated[
        _TestsOptions,
        chosen(_TestsOptions, "correlations differences methods units items replicates level rng"),
    ],
    out: output.Drawn,
) -> None:
    """Which tests err as rarely as they say where items of a sentence are alike? Size and power.

    Without options: exact randomisation tests by item and by unit, the paired bootstrap, and the
    intervals of a difference with and without the design effect, at five correlations.
    """
    from probative_studies import tests as study

    methods = given.methods or study.USUAL
    results = perform(study.size_and_power, replace(given, methods=methods), out, "test sets")
    signature = given.signature("tests", "f1", ",".join(methods))
    out.emit(
        study.tests_document(results, signature=signature), lambda: study.tests_figure(results)
    )


# in the order in which help lists them
_ALL = (
    *(coverage, bayes, pairing, tests, chunking, segmentation, planning, sequential, clusters),
    *(metrics, macro, gates, training, ranks, runs, repeats, looks, watching, ledger, datasets),
    *(curves, annotation, agreement, overlap, records, graded, judges),
)
STUDIES = {study.__name__: study for study in _ALL}
