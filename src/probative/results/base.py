"""Define the base class of all results, and the interval of one score.

Results hold numbers; they print as a sentence (`str`) and in short (`repr`), and convert to a
dictionary for JSON (`to_dict`), a data frame, and a document: a page, Markdown, LaTeX. An undefined
number is NaN here and null in JSON.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from importlib import import_module
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from probative.counts import Counts, ItemCounts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from probative._validation import Number, Words
    from probative.reporting.document import Document

    Named = tuple[tuple[str, ...], Any]


# --- Results and intervals

_LONGEST_REPR = 160  # characters
_JSON_TYPES = frozenset((str, int, bool, type(None)))  # kept as they are


@cache
def _shown_fields(kind: Any) -> tuple[str, ...]:
    """Return the fields of a class of results that users see."""
    return tuple(f.name for f in fields(kind) if f.repr)


@dataclass(frozen=True, eq=False)
class Result:
    """Base class of all results."""

    _report = "render.result_document"  # the function of `reporting` that makes the document
    # fields that hold the lines of the table, and fields that are repeated in each line
    _lines: ClassVar[tuple[str, ...]] = ()
    _head: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; fields that do not apply are left out."""
        return {name: jsonable(v) for name, v in self._shown().items() if v is not None}

    def _shown(self) -> dict[str, Any]:
        kind: Any = type(self)
        return self._own(_shown_fields(kind))

    def __str__(self) -> str:
        shown = ((k.replace("_", " "), v) for k, v in self.records()[0].items() if v is not None)
        return ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in shown)

    def _own(self, names: Iterable[str]) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}

    def records(self) -> list[dict[str, Any]]:
        """Return the result as flat dictionaries, one per line of a table."""
        if not self._lines:
            return [_plain_values(self.to_dict())]
        head = _plain_values(jsonable(self._own(self._head)))
        parts = (part for name in self._lines for part in getattr(self, name) or ())
        return [head | record for part in parts for record in part.records()]

    def to_metrics(self) -> dict[str, float]:
        """Return the numbers as one flat dictionary, for experiment trackers.

        A score has its name, and the ends of its interval are called `f1_low` and `f1_high`; names
        of systems and labels come before it, with a slash. Undefined numbers are left out.

        Examples
        --------
        >>> import probative as pv
        >>> list(pv.interval(pv.Counts(tp=50, fp=0, fn=50), "recall").to_metrics())
        ['recall', 'recall_low', 'recall_high']
        """
        return _flat(self._metrics())

    def _metrics(self) -> Iterable[Named]:
        """Yield the parts of a name and the number: by default for the fields of the result."""
        own = self._shown()
        return numbers_of(own, own.get("metric"))

    def _metrics_under(self, *head: str) -> Iterator[Named]:
        """Yield the parts of a name, after these, and the number."""
        return (((*head, *parts), value) for parts, value in self._metrics())

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the result as a data frame of pandas, Polars or PyArrow."""
        from probative.reporting.render import to_frame

        return to_frame(self.records(), backend)

    def to_html(self) -> str:
        """Return one HTML page that needs no other files."""
        from probative.reporting.render import as_html

        return as_html(self._document())

    def to_markdown(self) -> str:
        """Return tables and sentences for a README or an issue."""
        from probative.reporting.render import as_markdown

        return as_markdown(self._document())

    def to_latex(self, *, label: str | None = None) -> str:
        r"""Return tables for a paper, in the style of the booktabs package.

        Parameters
        ----------
        label
            The label of the first table for ``\ref``; by default it is made from its title.
        """
        from probative.reporting.render import as_latex

        return as_latex(self._document(), label)

    def _document(self) -> Document:
        """Return the document to show: by default the records as a table."""
        document: Document = shown_by(self._report, self)
        return document

    def _repr_html_(self) -> str:
        from probative.reporting.render import document_html

        return document_html(self._document())

    def _key_numbers(self) -> str:
        """Return the text that `repr` shows."""
        return str(self)

    def __repr__(self) -> str:
        words = " ".join(self._key_numbers().split())
        if len(words) > _LONGEST_REPR:
            words = words[: _LONGEST_REPR - 1] + "…"
        return f"<{type(self).__name__} {words}>"


@dataclass(frozen=True, eq=False, repr=False)
class SignedResult(Result):
    """Result of a whole job."""

    signature: str = field(default="", repr=False, kw_only=True)
    """A short reproducible description of every choice."""


class DifferenceResult(Result):
    """Result that estimates a difference of two systems."""

    difference: float

    @property
    def estimate(self) -> float:
        """Return the difference, under the name common to all results."""
        return self.difference


@dataclass(frozen=True, eq=False, repr=False)
class PairDifference(DifferenceResult):
    """Difference of two systems in one metric, B minus A, with its interval."""

    a: str  #: The first system, A.
    b: str  #: The second system, B.
    metric: str  #: The score.
    difference: float  #: B minus A.
    low: float  #: The lower end of the interval of the difference.
    high: float  #: The upper end of the interval of the difference.

    def __str__(self) -> str:
        limits = with_limits(self.difference, self.low, self.high, "+.4f")
        return f"{self.metric}, {self.b} - {self.a}: {limits}"


class ScoresByMetric(Result):
    """Result that has scores in several metrics."""

    scores: tuple[Interval, ...]

    def __getitem__(self, metric: str) -> Interval:
        """Return the interval of a metric by its name."""
        return {score.metric: score for score in self.scores}[metric]

    def _listed(self, most: int | None = None, digits: int = 4) -> str:
        """Return the first scores with their intervals as text."""
        return ", ".join(
            f"{s.metric} {with_limits(s.estimate, s.low, s.high, f'.{digits}f')}"
            for s in self.scores[:most]
        )


@dataclass(frozen=True, eq=False, repr=False)
class Interval(Result):
    """Score with its confidence or credible interval.

    Attributes
    ----------
    metric, method, level
        The score, the method of the interval, and its level.
    estimate, low, high
        The score and the ends of its interval: numbers, or arrays if the counts were arrays. An
        undefined score is NaN with the interval from 0 to 1.
    note
        A caveat about this interval, or None. For arrays an array of these.
    design_effect
        The ratio of the variance to that of independent items, if the counts were clustered; the
        interval already allows for it. For arrays an array of these.
    signature
        A short reproducible description of every choice.
    """

    metric: str
    method: str
    level: float
    estimate: Number
    low: Number
    high: Number
    note: str | Words | None = None
    design_effect: Number | None = None
    signature: str = field(default="", repr=False)

    def _metrics(self) -> Iterable[Named]:
        if not np.ndim(self.estimate):
            return super()._metrics()
        return (named for i, one in enumerate(self) for named in one._metrics_under(str(i)))

    def records(self) -> list[dict[str, Any]]:
        """Return the interval as a dictionary, or one per table."""
        if np.ndim(self.estimate):
            return [one.to_dict() for one in self]
        return super().records()

    def __getitem__(self, index: int) -> Interval:
        own = self._own(_OF_A_TABLE).items()
        return replace(self, **{name: values[index] for name, values in own if np.ndim(values)})

    def __len__(self) -> int:
        return len(np.asarray(self.estimate))

    def __iter__(self) -> Iterator[Interval]:
        if np.ndim(self.estimate) != 1:
            return (self[i] for i in range(len(self)))
        columns = self._own((*_OF_A_TABLE, "signature")).values()
        rows: Iterator[tuple[Any, ...]]
        rows = zip(*(_column(value, len(self)) for value in columns), strict=True)
        head = self.metric, self.method, self.level
        return (Interval(*head, *row) for row in rows)

    def __str__(self) -> str:
        head = f"{self.metric}, {self.level:.4g} {self.method} interval"
        if np.ndim(self.estimate):
            return f"{head} of {np.size(self.estimate)} tables"
        return f"{head}: {with_limits(self.estimate, self.low, self.high)}{bracketed(self.note)}"


class LateInterval(Interval):
    """Interval whose numbers are computed when one of them is first read."""

    @classmethod
    def of(
        cls, metric: str, method: str, level: float, compute: Callable[[], Interval]
    ) -> LateInterval:
        """Return an interval that `compute` will return with its numbers."""
        late = object.__new__(cls)
        vars(late).update(metric=metric, method=method, level=level, _compute=compute)
        return late

    @cached_property
    def _judged(self) -> Interval:
        return vars(self).pop("_compute")()  # type: ignore[no-any-return]

    estimate = cached_property(lambda self: self._judged.estimate)
    low = cached_property(lambda self: self._judged.low)
    high = cached_property(lambda self: self._judged.high)
    note = cached_property(lambda self: self._judged.note)

    def __reduce__(self) -> tuple[Any, ...]:
        return Interval, tuple(getattr(self, entry.name) for entry in fields(self))

    def __repr__(self) -> str:
        kind, values = self.__reduce__()
        return repr(kind(*values))


def shown_by(function: str, *what: Any, **how: Any) -> Any:
    """Return what "module.function" of `reporting`, imported now, makes of a result."""
    module, name = function.split(".")
    return getattr(import_module(f"probative.reporting.{module}"), name)(*what, **how)


def drawn_by(function: str, *what: Any) -> list[Axes]:
    """Return the axes of the figure that a function of `reporting` draws."""
    axes: list[Axes] = shown_by(function, *what).axes
    return axes


def with_limits(estimate: Any, low: Any, high: Any, form: str = ".4f") -> str:
    """Return an estimate with the ends of its interval as text."""
    return f"{estimate:{form}} [{low:{form}}, {high:{form}}]"


def bracketed(note: Any) -> str:
    """Return a note in brackets, as it follows a result in print."""
    return f" ({note})" if note else ""


def _plain_values(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the values that fit into a line of a table, each count under its own name."""
    plain = {name: v for name, v in entry.items() if not isinstance(v, (list, dict))}
    counts: dict[str, Any] = entry.get("counts", {})
    return plain | counts


# the fields of an interval that are arrays if it holds those of many tables
_OF_A_TABLE = ("estimate", "low", "high", "note", "design_effect")


def _column(value: Any, n: int) -> list[Any]:
    """Return a field of `n` intervals as a list of plain values."""
    return np.asarray(value).tolist() if np.ndim(value) else [value] * n


def jsonable(value: Any) -> Any:
    """Convert NumPy values to Python's, and undefined numbers to None; posteriors to their kind."""
    kind = type(value)
    if kind is float:
        return value if math.isfinite(value) else None
    if kind in _JSON_TYPES:
        return value
    if isinstance(value, (Result, Counts, ItemCounts)):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if isinstance(value, dict):
        return {key: jsonable(item) for key, item in value.items()}
    if isinstance(value, np.generic):
        return jsonable(value.item())
    # a posterior of a difference; asking for the protocol takes as long as all the rest
    return value.kind if hasattr(value, "probabilities") else value


# --- Numbers of results under names for experiment trackers

# fields that are options, not results
_CHOICES = frozenset(("level", "rope", "power", "margin", "confidence", "identical"))
# characters that MLflow refuses in a name; the slash separates parts
_ODD = re.compile(r"[^\w\-. :]")


def numbers_of(fields: Mapping[str, Any], metric: str | None) -> Iterable[Named]:
    """Name the numbers among the fields of a result after its metric."""
    head = "" if metric is None else f"{metric}_"
    limits = "difference_" if "difference" in fields else ""
    for name, value in fields.items():
        if isinstance(value, Real) and name not in _CHOICES:
            own = limits + name if name in ("low", "high") else name
            yield (metric if metric and name == "estimate" else head + own,), value


def _flat(named: Iterable[Named]) -> dict[str, float]:
    """Join the parts of names by slashes, and number repeats; leave out undefined numbers."""
    numbers: dict[str, float] = {}
    for parts, value in named:
        if math.isfinite(value):
            key = "/".join(_cleaned(part) for part in parts)
            times = 1
            while (unique := key if times == 1 else f"{key}_{times}") in numbers:
                times += 1
            numbers[unique] = float(value)
    return numbers


def _cleaned(part: str) -> str:
    name = _ODD.sub("_", part).strip()
    return name if name.strip(".") else "_"


# --- Interfaces of posteriors


class DifferencePosterior(Protocol):
    """Posterior distribution of a difference, B minus A; JSON has its kind alone.

    `kind` is "paired" (both systems saw the same items), "independent" or, for macro averages,
    "hierarchical".
    """

    @property
    def kind(self) -> str:
        """Return how the posterior was made."""

    def cdf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference of at most `d`."""

    def sf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference above `d`."""

    def pdf(self, d: ArrayLike) -> Number:
        """Return the density at `d`."""

    def interval(self, level: float = 0.95) -> tuple[Number, Number]:
        """Return the ends of the equal-tailed credible interval."""

    def probabilities(self, rope: float = 0.0) -> tuple[float, float, float]:
        """Return P(A better), P(equivalent) and P(B better) by more than `rope`."""


class ScorePosterior(Protocol):
    """Posterior distribution of a score."""

    def pdf(self, x: ArrayLike) -> Number:
        """Return the density at `x`."""

    def ppf(self, q: ArrayLike) -> Number:
        """Return the `q` quantile."""

    def isf(self, q: ArrayLike) -> Number:
        """Return the `1 - q` quantile."""
