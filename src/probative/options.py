"""Declare every choice of every job; signatures are made from these declarations."""

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


# -----------------------------------------------------------------------------
# What the choices of all jobs share, and the signature made from them.
# -----------------------------------------------------------------------------

ALWAYS = {"always": True}  # said even where it is the default
_INPUT = {"input": True}  # a further input: that there is one is said, not where it lies
_LONGEST = 120  # characters of a choice; what is longer is told by its digest


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the options of all jobs share."""

    # choices that what comes of them tells: the task that was recognised, the metrics computed …
    told: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def of(cls, given: Mapping[str, Any], *, beside: Iterable[str] = ()) -> Self:
        """Make them from keywords; a name that nobody knows is an error that suggests another.

        Parameters
        ----------
        given
            The keywords.
        beside
            Further keywords of the function, which are no choices, for what is suggested.
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
        """A short reproducible description: what was done, and every choice but the usual ones.

        Parameters
        ----------
        facts
            What came of the choices: the task, the metrics, the methods.
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
    """The version and what was done, as one line."""
    return "|".join((f"probative:{__version__}", *(fact for fact in facts if fact)))


def _shorten(value: Any) -> str:
    """A choice as text that no other choice has, not longer than people read."""
    text = _text(value)
    if len(text) <= _LONGEST:
        return text
    return f"sha256-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


def _text(value: Any) -> str:
    """A choice as text that no other choice has; what would part a signature is encoded."""
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
    except ValueError:  # a whole number of more digits than Python turns into text
        text = f"{value:x}"
    for sign_, code in (("%", "%25"), ("|", "%7C"), (",", "%2C"), ("(", "%28"), (")", "%29")):
        text = text.replace(sign_, code)
    return text


# -----------------------------------------------------------------------------
# How to read and match inputs.
# -----------------------------------------------------------------------------


class ReadingKeywords(TypedDict, total=False):
    """How to read and match inputs, as keywords; see `ReadingOptions`."""

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
    """How to read and match inputs; what is None is recognised.

    Attributes
    ----------
    task
        entities, segmentation or labels.
    input_format, encoding, tag_column, comments
        How to read the files.
    gold_column, columns, unit_column
        The columns of the answer, of the systems and of the units in a file or frame that holds
        them all: numbers in a column file, names in a table.
    run_column
        The column of a table that says which run a row belongs to.
    group
        The column of a table that says which group a row belongs to: a language, a domain, a day.
        Every group is scored and compared by itself, too.
    header
        Whether the first line of a table names its columns; without, columns have numbers.
    multilabel
        Whether items have any number of labels: True for sets or lists of them, or the text that
        stands between the labels in a cell of a table.
    probability_columns
        The columns of a table that hold the probability of a class each, and are called as the
        classes are: the likeliest class is the label.
    threshold
        For predictions that are probabilities (or scores) of the positive class: from here on yes.
        For scores of logs: from here on right.
    mapping, ignore_case
        Other names for labels, or for the types of tags; whether capitals make a difference.
    align_by
        ``tokens``: files must tell the same tokens. ``position``: as many will do.
        ``characters``: words of a text that is not quite the answer's are looked up where their
        characters are.
    scheme, repair
        The tag scheme, and what to do where tags break its rules.
    match
        When a span is right: ``strict``, if label and boundaries are; ``exact``, ``partial`` or
        ``type``, as nervaluate has them; ``boundary:K``, if both ends lie within K of the
        answer's. Or what is counted instead of spans: ``tokens``, ``characters``.
    ignore_type, only
        Count boundaries alone; count these labels only.
    positive
        The class that counts as "yes", for labels.
    labels
        The labels of macro averages: by default the answer's; ``union`` adds those of the system.
    label_names
        What the numbers of labels stand for, from 0 on, in rows of tokens and tags.
    score_name
        Of logs: the score to take.
    train_words
        For word segmentation: a file or list of training sentences, or a lexicon.
    key, on_missing
        The columns that tell which rows of several tables belong together; and what becomes of
        rows that a system does not have: "error", "drop" (they are left out for all), or
        "negative" (the system says no to them).
    memory_limit
        How much memory the engine may use that counts large tables, such as ``2GB``. A table for
        which it is given is never read whole.
    table
        Which table of a database to read.
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
        if isinstance(self.mapping, tuple):  # pairs, as the command line reads them
            object.__setattr__(self, "mapping", _as_dictionary(self.mapping))
        if isinstance(self.key, str):
            object.__setattr__(self, "key", (self.key,))

    # how tags were repaired is told where there were tags; memory changes no number
    told = frozenset({"task", "scheme", "repair", "memory_limit"})


def _as_dictionary(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Pairs of old and new names by the old ones, each of which stands there once."""
    twice = next((old for i, (old, _) in enumerate(pairs) if old in dict(pairs[:i])), None)
    if twice is not None:
        raise InputError(f"mapping: {twice!r} twice; expected one new name each")
    return dict(pairs)


# -----------------------------------------------------------------------------
# The choices of a scoring.
# -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(ReadingOptions):
    """The choices of a scoring."""

    metric: str | Sequence[str] | None = None
    method: str | None = None
    by: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    overlap: bool = False
    second_gold: Any = field(default=None, metadata=_INPUT)

    told = ReadingOptions.told | {"method", "by"}


# -----------------------------------------------------------------------------
# The choices of comparisons and rankings, of plans for them, and of the demonstration.
# -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CompareOptions(ReadingOptions):
    """The choices of a comparison."""

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
    """The choices of a plan."""

    metric: str | None = None
    by: str | None = None
    difference: float | None = None
    power: float | None = None
    units: int | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    paired_runs: bool = False

    told = ReadingOptions.told | {"metric", "by"}


@dataclass(frozen=True, kw_only=True)
class DemoOptions(Options):
    """The choices of the demonstration."""

    level: float = field(default=0.95, metadata=ALWAYS)


# -----------------------------------------------------------------------------
# The choices of rankings, and of boards.
# -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class RankOptions(ReadingOptions):
    """The choices of a ranking."""

    metric: str | None = None
    average: str = "micro"
    by: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    adjust: str = "holm"
    rng: RNG | None = field(default=0, metadata={"as": "seed"} | ALWAYS)

    # how p-values were adjusted is told beside the test
    told = ReadingOptions.told | {"metric", "by", "adjust"}


@dataclass(frozen=True, kw_only=True)
class BoardOptions(RankOptions):
    """The choices of a board.

    Attributes
    ----------
    show_gold
        Whether the site may show what stands in the answer.
    max_size
        The most MiB that a submission may have.
    """

    show_gold: bool = False
    max_size: float = 64.0


# -----------------------------------------------------------------------------
# The choices of agreement between annotators.
# -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class AgreementOptions(ReadingOptions):
    """The choices of agreement between annotators.

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


# -----------------------------------------------------------------------------
# The choices of curves of precision and recall.
# -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CurveOptions(ReadingOptions):
    """The choices of a curve, or of the comparison of two."""

    beta: float = 1.0
    bins: int = 10
    level: float = field(default=0.95, metadata=ALWAYS)
    rope: float = 0.0
    rng: RNG | None = field(default=0, metadata={"as": "seed"})


# -----------------------------------------------------------------------------
# The choices of intervals and tests of a difference.
# -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class DifferenceOptions(Options):
    """The choices of an interval of a difference; those of resampling where it resamples."""

    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    prior: float = 1.0
    n_resamples: int | None = None
    rng: RNG | None = field(default=None, metadata={"as": "seed"})


@dataclass(frozen=True, kw_only=True)
class ExchangeOptions(Options):
    """The choices of a randomisation test."""

    alternative: str = field(default="two-sided", metadata=ALWAYS)
    beta: float = 1.0
    n_resamples: int | None = None
    rng: RNG | None = field(default=None, metadata={"as": "seed"})


# -----------------------------------------------------------------------------
# The choices of intervals from counts.
# -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class IntervalOptions(Options):
    """The choices of intervals from counts."""

    metric: str | Sequence[str] | None = None
    method: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    prior: float = 1.0
    clustered: bool = False

    told = frozenset({"metric", "method"})


# -----------------------------------------------------------------------------
# The choices of what is done with a corpus, and with models trained on it.
# -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class FoldsOptions(Options):
    """The choices of a Bayes test of two models, given their folds."""

    metric: str | Sequence[str] | None = None
    weight: Any = field(default="effective", metadata=ALWAYS)
    level: float = field(default=0.95, metadata=ALWAYS)
    prior: float = field(default=1.0, metadata=ALWAYS)
    rope: float = 0.0
    beta: float = 1.0

    told = frozenset({"metric"})


@dataclass(frozen=True, kw_only=True)
class BayesOptions(FoldsOptions):
    """The choices of a Bayes test, from counts or from predictions for folds.

    Attributes
    ----------
    only, ignore_type
        Of predictions: count these labels only; count boundaries alone.
    n_resamples, rng
        Of counts: how many draws stand for the integral, and their seed; None integrates.
    training_variance
        Whether the differences of folds tell how much to allow for training.
    """

    only: Sequence[str] = ()
    ignore_type: bool = False
    n_resamples: int | None = field(default=None, metadata={"as": "sampled"})
    rng: RNG | None = field(default=None, metadata={"as": "seed"})
    training_variance: bool = False


@dataclass(frozen=True, kw_only=True)
class _CorpusOptions(Options):
    """How to read a corpus; what is None is recognised."""

    task: str | None = None
    input_format: str | None = None
    encoding: str | None = None
    tag_column: int | str | None = None
    comments: bool = False
    scheme: str | None = None

    told = frozenset({"task"})


@dataclass(frozen=True, kw_only=True)
class CrossvalOptions(_CorpusOptions, FoldsOptions):
    """The choices of a cross-validated comparison of two models.

    Attributes
    ----------
    a, b
        What the models are called.
    only, ignore_type, features
        Learn these labels only; learn boundaries alone; the columns that features see.
    positive, groups, regularize
        As for `probative.compare_models`.
    m, keep_documents, rng
        The repetitions, whether documents stay whole, and the seed of the split.
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

    # the seed that was drawn is told where none was given
    told = frozenset({"task", "metric", "m", "rng"})


@dataclass(frozen=True, kw_only=True)
class SplitOptions(_CorpusOptions):
    """The choices of a split into folds."""

    m: int = field(default=3, metadata=ALWAYS)
    regularize: Sequence[str] = field(default=("entities", "tokens"), metadata=ALWAYS)
    keep_documents: bool = False
    gold_column: str | None = None
    rng: int | None = field(default=None, metadata={"as": "seed"})

    told = frozenset({"task", "rng"})


@dataclass(frozen=True, kw_only=True)
class CheckOptions(_CorpusOptions):
    """The choices of a check of a file."""

    column: str | None = None
    unit_column: str | None = None
    header: bool | None = None
    multilabel: bool | str | None = None
    label_names: Sequence[str] = ()
    score_name: str | None = None
    threshold: float | None = None

    told = frozenset({"task", "input_format"})


# -----------------------------------------------------------------------------
# The choices of a sample.
# -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SampleOptions(ReadingOptions):
    """The choices of a sample.

    Attributes
    ----------
    size, add
        How many units to draw, or to draw besides.
    goal
        What the sample is to tell best: the ``score`` of each system, or their ``difference``.
    by
        What a unit is: sentence, document, unit or item.
    keep
        Further columns of the pool that annotators may see.
    level
        The level of the interval whose width is foretold.
    rng
        The seed of the orders in which units are drawn.
    """

    size: int | None = None
    add: int | None = None
    goal: str | None = None
    by: str | None = None
    keep: Sequence[int | str] = ()
    level: float = field(default=0.95, metadata=ALWAYS)
    rng: int = field(default=0, metadata={"as": "seed"} | ALWAYS)

    told = ReadingOptions.told | {"size", "add", "goal", "by"}


# -----------------------------------------------------------------------------
# The choices of an estimate of a pool's scores.
# -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class EstimateOptions(Options):
    """The choices of an estimate; how outputs are read stands in the design.

    Attributes
    ----------
    metric
        What the systems are scored and compared by.
    population
        Whether the pool is a random sample of what matters, not all of it.
    level
        The nominal coverage of limits.
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


# -----------------------------------------------------------------------------
# The choices of looks at a sample that is being annotated.
# -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class WatchOptions(Options):
    """The choices of `watch`.

    Attributes
    ----------
    metric
        The score.
    level
        With this probability the limits hold at every look.
    beta
        The weight of recall in F-beta.
    every
        After how many units somebody looks.
    planned
        How many units were planned before anything was labelled.
    """

    metric: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    every: int | None = None
    planned: int | None = None

    told = frozenset({"metric", "every", "planned"})


# -----------------------------------------------------------------------------
# The choices of a threshold sweep.
# -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SweepOptions(Options):
    """The choices of a threshold sweep."""

    steps: int = field(default=20, metadata=ALWAYS)
    input_format: str | None = None
    encoding: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
