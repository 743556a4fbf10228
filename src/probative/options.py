"""Every choice of a job, in one place.

Python's keywords, the options of the command line and the signature of a result are all made from
these classes, so that none of them can know a choice that the others do not.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields
from numbers import Real
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypedDict

from probative._version import __version__
from probative.errors import InputError, suggestion
from probative.identity import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "ALWAYS",
    "BayesOptions",
    "BoardOptions",
    "CheckOptions",
    "CompareOptions",
    "CorpusOptions",
    "CrossvalOptions",
    "DemoOptions",
    "DifferenceOptions",
    "ExchangeOptions",
    "FoldsOptions",
    "IntervalOptions",
    "Options",
    "PlanOptions",
    "RankOptions",
    "ReadingKeywords",
    "ReadingOptions",
    "ScoreOptions",
    "SplitOptions",
    "SweepOptions",
    "sign",
]

ALWAYS = {"always": True}  # said even where it is the default
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
            absent = value is None or (isinstance(value, (list, tuple)) and not value)
            if entry.name in self.told or absent:
                continue
            if entry.metadata.get("always") or _text(value) != _text(entry.default):
                name = entry.metadata.get("as", entry.name.replace("_", "-"))
                flag = value is True and isinstance(entry.default, bool)
                chosen.append(name if flag else f"{name}:{_written(value)}")
        return sign(*facts, *chosen)


def sign(*facts: str) -> str:
    """The version and what was done, as one line."""
    return "|".join((f"probative:{__version__}", *(fact for fact in facts if fact)))


def _written(value: Any) -> str:
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
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if hasattr(value, "__array__") and not isinstance(value, Real):
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


class ReadingKeywords(TypedDict, total=False):
    """How to read and match inputs, as keywords; see `ReadingOptions`."""

    task: str | None
    input_format: str | None
    encoding: str | None
    tag_column: int | None
    gold_column: int | str | None
    columns: Sequence[int | str]
    unit_column: str | None
    comments: bool
    align_by: str
    scheme: str | None
    repair: str
    ignore_type: bool
    only: Sequence[str]
    positive: Any
    labels: Sequence[str] | str | None
    train_words: Any


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
    align_by
        ``tokens``: files must tell the same tokens. ``position``: as many will do.
    scheme, repair
        The tag scheme, and what to do where tags break its rules.
    ignore_type, only
        Count boundaries alone; count these labels only.
    positive
        The class that counts as "yes", for labels.
    labels
        The labels of macro averages: by default the answer's; ``union`` adds those of the system.
    train_words
        For word segmentation: a file or list of training sentences, or a lexicon.
    """

    task: str | None = None
    input_format: str | None = None
    encoding: str | None = None
    tag_column: int | None = None
    gold_column: int | str | None = None
    columns: Sequence[int | str] = ()
    unit_column: str | None = None
    comments: bool = False
    align_by: str = field(default="tokens", metadata={"as": "align"})
    scheme: str | None = None
    repair: str = "conlleval"
    ignore_type: bool = False
    only: Sequence[str] = ()
    positive: Any = None
    labels: Sequence[str] | str | None = None
    train_words: Any = None

    # how tags were repaired is told where there were tags
    told = frozenset({"task", "scheme", "repair"})


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(ReadingOptions):
    """The choices of a scoring."""

    metric: str | Sequence[str] | None = None
    method: str | None = None
    by: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    overlap: bool = False

    told = ReadingOptions.told | {"method", "by"}


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
    train: Any = None
    rng: Any = field(default=0, metadata={"as": "seed"})

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

    told = ReadingOptions.told | {"metric", "by"}


@dataclass(frozen=True, kw_only=True)
class RankOptions(ReadingOptions):
    """The choices of a ranking."""

    metric: str | None = None
    average: str = "micro"
    by: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    adjust: str = "holm"
    rng: Any = field(default=0, metadata={"as": "seed"} | ALWAYS)

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


@dataclass(frozen=True, kw_only=True)
class DifferenceOptions(Options):
    """The choices of an interval of a difference; those of resampling where it resamples."""

    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    prior: float = 1.0
    n_resamples: int | None = None
    rng: Any = field(default=None, metadata={"as": "seed"})


@dataclass(frozen=True, kw_only=True)
class ExchangeOptions(Options):
    """The choices of a randomisation test."""

    alternative: str = field(default="two-sided", metadata=ALWAYS)
    beta: float = 1.0
    n_resamples: int | None = None
    rng: Any = field(default=None, metadata={"as": "seed"})


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
    rng: Any = field(default=None, metadata={"as": "seed"})
    training_variance: bool = False


@dataclass(frozen=True, kw_only=True)
class CorpusOptions(Options):
    """How to read a corpus; what is None is recognised."""

    task: str | None = None
    input_format: str | None = None
    encoding: str | None = None
    tag_column: int | None = None
    comments: bool = False
    scheme: str | None = None

    told = frozenset({"task"})


@dataclass(frozen=True, kw_only=True)
class CrossvalOptions(CorpusOptions, FoldsOptions):
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
    rng: Any = field(default=None, metadata={"as": "seed"})

    # the seed that was drawn is told where none was given
    told = frozenset({"task", "metric", "m", "rng"})


@dataclass(frozen=True, kw_only=True)
class SplitOptions(CorpusOptions):
    """The choices of a split into folds."""

    m: int = field(default=3, metadata=ALWAYS)
    regularize: Sequence[str] = field(default=("entities", "tokens"), metadata=ALWAYS)
    keep_documents: bool = False
    gold_column: str | None = None
    rng: Any = field(default=None, metadata={"as": "seed"})

    told = frozenset({"task", "rng"})


@dataclass(frozen=True, kw_only=True)
class SweepOptions(Options):
    """The choices of a threshold sweep."""

    steps: int = field(default=20, metadata=ALWAYS)
    input_format: str | None = None
    encoding: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)


@dataclass(frozen=True, kw_only=True)
class CheckOptions(CorpusOptions):
    """The choices of a check of a file."""

    column: str | None = None

    told = frozenset({"task", "input_format"})


@dataclass(frozen=True, kw_only=True)
class DemoOptions(Options):
    """The choices of the demonstration."""

    level: float = field(default=0.95, metadata=ALWAYS)
