"""Declare the options of every job, and make signatures from them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from numbers import Real
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypedDict

from probative._version import __version__
from probative.errors import InputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probative._validation import RNG


# --- Base class and signature

ALWAYS = {"always": True}  # in the signature even if it is the default
_INPUT = {"input": True}  # a further input: the signature shows that it exists, not its path
_LONGEST_VALUE = 120  # characters of an option in a signature; a longer one becomes a digest


@dataclass(frozen=True, kw_only=True)
class Options:
    """Base class of the options of all jobs."""

    # options that the signature leaves out, because its facts show them: task, metrics …
    told: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def of(cls, given: Mapping[str, Any], *, beside: Iterable[str] = ()) -> Self:
        """Make the options from keywords; refuse an unknown name and suggest a known one.

        `beside` holds further keywords of the function that are not options.
        """
        own = {entry.name for entry in fields(cls)}
        known = [*own, *beside]
        for name in given:
            if name not in own:
                raise InputError(
                    f"{name}: there is no such option; expected one of {', '.join(sorted(known))}"
                    + suggestion(name, known)
                )
        return cls(**given)

    def signature(self, *facts: str) -> str:
        """Return a short reproducible description: facts, and all options that are not defaults.

        The facts are what resulted from the options: the task, the metrics, the methods.
        """
        chosen = []
        for entry in fields(self):
            value = getattr(self, entry.name)
            absent = value is None or (isinstance(value, (list, tuple, Mapping)) and not value)
            if entry.name in self.told or absent:
                continue
            if entry.metadata.get("always") or _text(value) != _text(entry.default):
                name = entry.metadata.get("as", entry.name.replace("_", "-"))
                is_true = value is True and isinstance(entry.default, bool)
                flag = is_true or "input" in entry.metadata
                chosen.append(name if flag else f"{name}:{_shorten(value)}")
        return sign(*facts, *chosen)


def sign(*facts: str) -> str:
    """Join the version and the facts into a signature."""
    return "|".join((f"probative:{__version__}", *(fact for fact in facts if fact)))


def _shorten(value: Any) -> str:
    """Return an option as unique text, as a digest if it is long."""
    text = _text(value)
    if len(text) <= _LONGEST_VALUE:
        return text
    return f"sha256-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


def _text(value: Any) -> str:
    """Return an option as unique text; characters that separate parts are escaped."""
    if isinstance(value, (list, tuple)):
        return ",".join(
            f"({_text(v)})" if isinstance(v, (list, tuple)) else _text(v) for v in value
        )
    if isinstance(value, Mapping):
        pairs = ((_text(old), _text(new)) for old, new in value.items())
        return ",".join(f"{old.replace('=', '%3D')}={new}" for old, new in sorted(pairs))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if hasattr(value, "__array__") and not isinstance(value, Real):
        from probative.files import digest

        return digest("options", value)
    if not isinstance(value, (str, Real, PurePath)):
        return f"<{type(value).__name__}>"
    try:
        text = str(value)
    except ValueError:  # Python refuses to print very long integers
        text = f"{value:x}"
    for sign_, code in (("%", "%25"), ("|", "%7C"), (",", "%2C"), ("(", "%28"), (")", "%29")):
        text = text.replace(sign_, code)
    return text


# --- Reading and matching


class ReadingKeywords(TypedDict, total=False):
    """Options of reading and matching inputs, as keywords; see `ReadingOptions`."""

    task: str | None
    input_format: str | None
    encoding: str | None
    tag_column: int | str | None
    gold_column: int | str | None
    columns: Sequence[int | str]
    unit_column: str | None
    run_column: str | None
    group: str | None
    comments: bool
    header: bool | None
    multilabel: bool | str | None
    probability_columns: Sequence[str]
    threshold: float | None
    mapping: Mapping[str, str] | None
    ignore_case: bool
    align_by: str
    scheme: str | None
    repair: str
    match: str
    ignore_type: bool
    only: Sequence[str]
    positive: Any
    labels: Sequence[str] | str | None
    label_names: Sequence[str]
    score_name: str | None
    train_words: Any
    key: str | Sequence[str]
    on_missing: str
    memory_limit: str | None
    table: str | None


@dataclass(frozen=True, kw_only=True)
class ReadingOptions(Options):
    """Options of reading and matching inputs; an option that is None is recognised.

    Attributes
    ----------
    task
        entities, segmentation or labels.
    input_format, encoding, tag_column, comments
        The format and the encoding of the files, the column of the tags, and whether ``#`` starts
        a comment.
    gold_column, columns, unit_column
        The columns of gold, of the systems and of the units in a file or frame that holds them
        all: numbers in a column file, names in a table.
    run_column
        The column of a table with the run of each row.
    group
        The column of a table with the group of each row: a language, a domain, a day. Every group
        is also scored and compared by itself.
    header
        Whether the first line of a table names its columns; without names, columns have numbers.
    multilabel
        Whether items have any number of labels: True for sets or lists of them, or the text
        between the labels in a cell of a table.
    probability_columns
        The columns of a table that hold the probability of one class each, named like the classes:
        the class with the highest probability is the label.
    threshold
        For predictions that are probabilities (or scores) of the positive class: the smallest
        value that counts as yes. For scores of logs: the smallest value that counts as right.
    mapping, ignore_case
        New names for labels, or for the types of tags; whether to ignore upper and lower case.
    align_by
        ``tokens``: files must hold the same tokens. ``position``: the same number is enough.
        ``characters``: words of a text that differs slightly from gold are aligned by their
        characters.
    scheme, repair
        The tag scheme, and how to read tags that break its rules.
    match
        When a span is right: ``strict``, if label and boundaries are; ``exact``, ``partial`` or
        ``type``, as in nervaluate; ``boundary:K``, if both ends lie within K of those of gold. Or
        what is counted instead of spans: ``tokens``, ``characters``.
    ignore_type, only
        Count boundaries alone; count these labels only.
    positive
        The class that counts as "yes", for labels.
    labels
        The labels of macro averages: by default those of gold; ``union`` adds those of the system.
    label_names
        The names of numeric labels, from 0 on, in rows of tokens and tags.
    score_name
        The score to use, for logs.
    train_words
        For word segmentation: a file or list of training sentences, or a lexicon.
    key, on_missing
        The columns by which the rows of several tables are joined; and what happens to rows that a
        system does not have: "error", "drop" (they are left out for all), or "negative" (the
        system says no to them).
    memory_limit
        The memory that the engine for large tables may use, such as ``2GB``. A table for which it
        is given is never read whole.
    table
        The table of a database to read.
    """

    task: str | None = None
    input_format: str | None = None
    encoding: str | None = None
    tag_column: int | str | None = None
    gold_column: int | str | None = None
    columns: Sequence[int | str] = ()
    unit_column: str | None = None
    run_column: str | None = None
    group: str | None = None
    comments: bool = False
    header: bool | None = None
    multilabel: bool | str | None = None
    probability_columns: Sequence[str] = ()
    threshold: float | None = None
    mapping: Mapping[str, str] | tuple[tuple[str, str], ...] | None = None
    ignore_case: bool = False
    align_by: str = field(default="tokens", metadata={"as": "align"})
    scheme: str | None = None
    repair: str = "conlleval"
    match: str = "strict"
    ignore_type: bool = False
    only: Sequence[str] = ()
    positive: Any = None
    labels: Sequence[str] | str | None = None
    label_names: Sequence[str] = ()
    score_name: str | None = None
    train_words: Any = None
    key: str | Sequence[str] = ()
    on_missing: str = "error"
    memory_limit: str | None = None
    table: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.mapping, tuple):  # pairs from the command line
            object.__setattr__(self, "mapping", _as_dictionary(self.mapping))
        if isinstance(self.key, str):
            object.__setattr__(self, "key", (self.key,))

    # the facts show how tags were repaired; a memory limit changes no result
    told = frozenset({"task", "scheme", "repair", "memory_limit"})


def _as_dictionary(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return pairs of old and new names as a dictionary; refuse a repeated old name."""
    twice = next((old for i, (old, _) in enumerate(pairs) if old in dict(pairs[:i])), None)
    if twice is not None:
        raise InputError(f"mapping: {twice!r} twice; expected one new name each")
    return dict(pairs)


# --- Scoring


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(ReadingOptions):
    """Options of a scoring."""

    metric: str | Sequence[str] | None = None
    method: str | None = None
    by: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    overlap: bool = False
    second_gold: Any = field(default=None, metadata=_INPUT)

    told = ReadingOptions.told | {"method", "by"}


# --- Comparisons and plans


@dataclass(frozen=True, kw_only=True)
class CompareOptions(ReadingOptions):
    """Options of a comparison."""

    metric: str | Sequence[str] | None = None
    average: str = "micro"
    by: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    rope: float = field(default=0.0, metadata=ALWAYS)
    beta: float = 1.0
    prior: float = field(default=1.0, metadata=ALWAYS)
    power: float = 0.8
    all_pairs: bool = False
    paired_runs: bool = False
    train: Any = None
    second_gold: Any = field(default=None, metadata=_INPUT)
    rng: RNG | None = field(default=0, metadata={"as": "seed"})

    told = ReadingOptions.told | {"metric", "by"}


@dataclass(frozen=True, kw_only=True)
class PlanOptions(ReadingOptions):
    """Options of a plan."""

    metric: str | None = None
    average: str = "micro"
    by: str | None = None
    difference: float | None = None
    power: float | None = None
    units: int | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    paired_runs: bool = False

    told = ReadingOptions.told | {"metric", "average", "by"}


@dataclass(frozen=True, kw_only=True)
class DemoOptions(Options):
    """Options of the demonstration."""

    level: float = field(default=0.95, metadata=ALWAYS)


# --- Rankings and boards


@dataclass(frozen=True, kw_only=True)
class RankOptions(ReadingOptions):
    """Options of a ranking."""

    metric: str | None = None
    average: str = "micro"
    by: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    adjust: str = "holm"
    rng: RNG | None = field(default=0, metadata={"as": "seed"} | ALWAYS)

    # the fact about the test shows how p-values were adjusted
    told = ReadingOptions.told | {"metric", "by", "adjust"}


@dataclass(frozen=True, kw_only=True)
class BoardOptions(RankOptions):
    """Options of a board.

    Attributes
    ----------
    show_gold
        Whether the site may show contents of gold.
    max_size
        The largest size of a submission in MiB.
    """

    show_gold: bool = False
    max_size: float = 64.0


# --- Agreement between annotators


@dataclass(frozen=True, kw_only=True)
class AgreementOptions(ReadingOptions):
    """Options of agreement between annotators.

    Attributes
    ----------
    by, level
        As for a scoring.
    missing
        The label that stands for none, where annotators have left items out; the empty text for
        blank cells of tables.
    """

    by: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    missing: str | None = None

    told = ReadingOptions.told | {"by"}


# --- Curves of precision and recall


@dataclass(frozen=True, kw_only=True)
class CurveOptions(ReadingOptions):
    """Options of a curve, or of the comparison of two."""

    beta: float = 1.0
    bins: int = 10
    level: float = field(default=0.95, metadata=ALWAYS)
    rope: float = 0.0
    rng: RNG | None = field(default=0, metadata={"as": "seed"})


# --- Intervals and tests of a difference


@dataclass(frozen=True, kw_only=True)
class DifferenceOptions(Options):
    """Options of an interval of a difference; `n_resamples` and `rng` if it resamples."""

    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    prior: float = 1.0
    n_resamples: int | None = None
    rng: RNG | None = field(default=None, metadata={"as": "seed"})


@dataclass(frozen=True, kw_only=True)
class ExchangeOptions(Options):
    """Options of a randomisation test."""

    alternative: str = field(default="two-sided", metadata=ALWAYS)
    beta: float = 1.0
    n_resamples: int | None = None
    rng: RNG | None = field(default=None, metadata={"as": "seed"})


# --- Intervals from counts


@dataclass(frozen=True, kw_only=True)
class IntervalOptions(Options):
    """Options of intervals from counts."""

    metric: str | Sequence[str] | None = None
    method: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    prior: float = 1.0
    clustered: bool = False

    told = frozenset({"metric", "method"})


# --- Corpora, and models trained on them


@dataclass(frozen=True, kw_only=True)
class FoldsOptions(Options):
    """Options of a Bayes test of two models, given their folds."""

    metric: str | Sequence[str] | None = None
    weight: Any = field(default="effective", metadata=ALWAYS)
    level: float = field(default=0.95, metadata=ALWAYS)
    prior: float = field(default=1.0, metadata=ALWAYS)
    rope: float = 0.0
    beta: float = 1.0

    told = frozenset({"metric"})


@dataclass(frozen=True, kw_only=True)
class BayesOptions(FoldsOptions):
    """Options of a Bayes test, from counts or from predictions for folds.

    Attributes
    ----------
    only, ignore_type
        For predictions: count these labels only; count boundaries alone.
    n_resamples, rng
        For counts: the number of draws that replace the integral, and their seed; None integrates.
    training_variance
        Whether to estimate the variance due to training from the differences of folds.
    """

    only: Sequence[str] = ()
    ignore_type: bool = False
    n_resamples: int | None = field(default=None, metadata={"as": "sampled"})
    rng: RNG | None = field(default=None, metadata={"as": "seed"})
    training_variance: bool = False


@dataclass(frozen=True, kw_only=True)
class _CorpusOptions(Options):
    """Options of reading a corpus; an option that is None is recognised."""

    task: str | None = None
    input_format: str | None = None
    encoding: str | None = None
    tag_column: int | str | None = None
    comments: bool = False
    scheme: str | None = None

    told = frozenset({"task"})


@dataclass(frozen=True, kw_only=True)
class CrossvalOptions(_CorpusOptions, FoldsOptions):
    """Options of a cross-validated comparison of two models.

    Attributes
    ----------
    a, b
        The names of the models.
    only, ignore_type, features
        Learn these labels only; learn boundaries alone; the columns that features use.
    positive, groups, regularize
        As for `probative.compare_models`.
    m, keep_documents, rng
        The number of repetitions, whether documents stay whole, and the seed of the split.
    """

    a: str | None = None
    b: str | None = None
    only: Sequence[str] = ()
    ignore_type: bool = False
    features: Sequence[int] = ()
    m: int = 3
    positive: Any = None
    groups: Any = None
    regularize: Any = None
    keep_documents: bool = False
    rng: RNG | None = field(default=None, metadata={"as": "seed"})

    # the facts show the seed, drawn or given
    told = frozenset({"task", "metric", "m", "rng"})


@dataclass(frozen=True, kw_only=True)
class SplitOptions(_CorpusOptions):
    """Options of a split into folds."""

    m: int = field(default=3, metadata=ALWAYS)
    regularize: Sequence[str] = field(default=("entities", "tokens"), metadata=ALWAYS)
    keep_documents: bool = False
    gold_column: str | None = None
    rng: int | None = field(default=None, metadata={"as": "seed"})

    told = frozenset({"task", "rng"})


@dataclass(frozen=True, kw_only=True)
class CheckOptions(_CorpusOptions):
    """Options of a check of a file."""

    column: str | None = None
    unit_column: str | None = None
    header: bool | None = None
    multilabel: bool | str | None = None
    label_names: Sequence[str] = ()
    score_name: str | None = None
    threshold: float | None = None

    told = frozenset({"task", "input_format"})


# --- Samples for annotation


@dataclass(frozen=True, kw_only=True)
class SampleOptions(ReadingOptions):
    """Options of a sample.

    Attributes
    ----------
    size, add
        The number of units to draw, or to draw in addition.
    goal
        What the sample is to estimate best: the ``score`` of each system, or their ``difference``.
    by
        The unit: sentence, document, unit or item.
    keep
        Further columns of the pool that annotators may see.
    level
        The level of the interval whose width is predicted.
    rng
        The seed of the order in which units are drawn.
    """

    size: int | None = None
    add: int | None = None
    goal: str | None = None
    by: str | None = None
    keep: Sequence[int | str] = ()
    level: float = field(default=0.95, metadata=ALWAYS)
    rng: int = field(default=0, metadata={"as": "seed"} | ALWAYS)

    told = ReadingOptions.told | {"size", "add", "goal", "by"}


# --- Estimates of a pool's scores


@dataclass(frozen=True, kw_only=True)
class EstimateOptions(Options):
    """Options of an estimate; the options of reading outputs are in the design.

    Attributes
    ----------
    metric
        The scores by which the systems are scored and compared.
    population
        Whether the pool is a random sample of the population of interest, not all of it.
    level
        The nominal coverage of intervals.
    rope
        Half the width of the region of practical equivalence.
    beta
        The weight of recall in F-beta.
    """

    metric: str | Sequence[str] | None = None
    population: bool = False
    level: float = field(default=0.95, metadata=ALWAYS)
    rope: float = field(default=0.0, metadata=ALWAYS)
    beta: float = 1.0

    told = frozenset({"metric"})


# --- Looks at a sample that is being annotated


@dataclass(frozen=True, kw_only=True)
class WatchOptions(Options):
    """Options of `watch`.

    Attributes
    ----------
    metric
        The score.
    level
        The probability that the intervals hold at every look.
    beta
        The weight of recall in F-beta.
    every
        The number of units between looks.
    planned
        The number of units that were planned before anything was labelled.
    """

    metric: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    every: int | None = None
    planned: int | None = None

    told = frozenset({"metric", "every", "planned"})


# --- Threshold sweeps


@dataclass(frozen=True, kw_only=True)
class SweepOptions(Options):
    """Options of a threshold sweep."""

    steps: int = field(default=20, metadata=ALWAYS)
    input_format: str | None = None
    encoding: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
