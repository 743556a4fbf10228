"""Every choice of a job, in one place.

Python's keywords, the options of the command line and the signature of a result are all made from
these classes, so that none of them can know a choice that the others do not.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypedDict

from probative._version import __version__
from probative.errors import InputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "CompareOptions",
    "Options",
    "PlanOptions",
    "ReadingKeywords",
    "ReadingOptions",
    "ScoreOptions",
    "sign",
]

_ALWAYS = {"always": True}  # said even where it is the default


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the options of all jobs share."""

    # choices that what comes of them tells: the task that was recognised, the metrics computed …
    told: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Make them from keywords; a name that nobody knows is an error that suggests another."""
        known = [entry.name for entry in fields(cls)]
        for name in given:
            if name not in known:
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
            if isinstance(value, list):
                value = tuple(value)
            if entry.name in self.told or value is None:
                continue
            if value != entry.default or entry.metadata.get("always"):
                name = entry.metadata.get("as", entry.name)
                chosen.append(name if value is True else f"{name}:{_written(value)}")
        return sign(*facts, *chosen)


def sign(*facts: str) -> str:
    """The version and what was done, as one line."""
    return "|".join((f"probative:{__version__}", *(fact for fact in facts if fact)))


def _written(value: Any) -> str:
    """A choice as text that no other choice has; what would part a signature is encoded."""
    if isinstance(value, (list, tuple)):
        return ",".join(_written(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, (str, int, float)):
        return f"<{type(value).__name__}>"
    text = str(value)
    for sign_, code in (("%", "%25"), ("|", "%7C"), (",", "%2C")):
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
    ignore_type: bool = field(default=False, metadata={"as": "ignore-type"})
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
    level: float = field(default=0.95, metadata=_ALWAYS)
    beta: float = 1.0
    overlap: bool = False

    told = ReadingOptions.told | {"method", "by"}


@dataclass(frozen=True, kw_only=True)
class CompareOptions(ReadingOptions):
    """The choices of a comparison."""

    metric: str | Sequence[str] | None = None
    average: str = "micro"
    by: str | None = None
    level: float = field(default=0.95, metadata=_ALWAYS)
    rope: float = field(default=0.0, metadata=_ALWAYS)
    beta: float = 1.0
    prior: float = field(default=1.0, metadata=_ALWAYS)
    power: float = 0.8
    all_pairs: bool = field(default=False, metadata={"as": "all-pairs"})
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
    level: float = field(default=0.95, metadata=_ALWAYS)
    beta: float = 1.0

    told = ReadingOptions.told | {"metric", "by"}
