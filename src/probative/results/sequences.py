"""What is known at each look, while labels still arrive."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from probative.results.base import Result
from probative.wording.numbers import counted, metric_name, points, pvalue

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from probative.reporting.document import Document

__all__ = ["Look", "Looks"]


# Measured at level 0.95 (docs/results/looks.md); the study of samples of a pool comes to less.
_ABOUT = ", about (asymptotic: simulated streams were outside at some look in at most 4 %)"


@dataclass(frozen=True, eq=False, repr=False)
class Look(Result):
    """What is known after so many units, whenever one looks and however often.

    Attributes
    ----------
    look
        Which look this is, from 1.
    metric, level, by
        The score, the level of the limits, and what is counted: units or items.
    units
        How many of them there are so far.
    estimate, low, high
        One system's score, or the difference B minus A, and limits that hold at every look.
    score_a, score_b
        The two scores; None with one system.
    e_value
        How much a bet against exchangeable systems has grown by now; None with one system.
    pvalue
        One over the largest e-value so far, at most 1; it holds at any time.
    decided
        "b" if B was found better at the level, "a" if worse, else None. Of a sample of a pool: on
        this pool, since the limits left out 0 at this look or before; e-value and p-value ask
        whether the systems differ beyond it.
    more
        How many units more would be expected to decide it if the difference stays as it looks;
        None where that is unknown, or where it is decided.
    planned
        For how many units limits and bets are tuned.
    note
        What must be said about it, or None.
    pool
        How many units the pool has, where these are a sample of one; else None.
    signature
        A short reproducible description of every choice.
    """

    look: int
    metric: str
    level: float
    by: str
    units: int
    estimate: float
    low: float
    high: float
    score_a: float | None = None
    score_b: float | None = None
    e_value: float | None = None
    pvalue: float | None = None
    decided: str | None = None
    more: int | None = None
    planned: int | None = None
    note: str | None = None
    pool: int | None = None
    signature: str = field(default="", repr=False)

    @property
    def is_of_two(self) -> bool:
        """Whether it tells of the difference of two systems."""
        return self.pvalue is not None

    @property
    def has_limits(self) -> bool:
        """Whether the limits tell anything: at first they are all there is."""
        least = -1.0 if self.is_of_two else 0.0
        return self.estimate == self.estimate and not (self.low <= least and self.high >= 1.0)

    def verdict(self, a: str = "A", b: str = "B") -> str:
        """What the look says, with the names of the systems."""
        if self.pvalue is None:
            exact = self.by == "item" and self.pool is None
            return "the limits hold at every look" + ("" if exact else _ABOUT)
        value = pvalue(self.pvalue)
        said = f"p {value if value[0] == '<' else f'= {value}'} at any time"
        if self.decided:
            better, worse = (b, a) if self.decided == "b" else (a, b)
            if self.pool is not None:
                where = f"on this pool of {counted(self.pool, self.by)}"
                why = f"since the limits left out 0 (beyond it, {said})"
                return f"decided: {better} is better than {worse} {where}, {why}"
            return f"decided: {better} is better than {worse} ({said})"
        if self.pool is not None:
            if self.low == self.high == 0:
                return "there is no difference on this pool: no more labels would change that"
            said = f"beyond this pool, {said}"
        if self.more is None:
            return f"not decided ({said}); no difference in sight that more labels would decide"
        return (
            f"not decided ({said}); about {counted(self.more, self.by)} more would be expected to "
            f"decide it, if the difference stays as it looks"
        )

    def __str__(self) -> str:
        return self.summary()

    def summary(self, a: str = "A", b: str = "B") -> str:
        """The look in one line, with the names of the systems."""
        what = metric_name(self.metric)
        head = f"look {self.look}, {counted(self.units, self.by)}: "
        head += f"{what}, {b} − {a}" if self.is_of_two else what
        limits = f"{points(self.estimate)} [{points(self.low)}, {points(self.high)}]"
        return f"{head} {limits}; {self.verdict(a, b)}" + (f" ({self.note})" if self.note else "")


@dataclass(frozen=True, eq=False, repr=False)
class Looks(Result):
    """All looks so far, and what the last one says.

    Attributes
    ----------
    looks
        One `Look` after each batch.
    a, b
        What the systems are called; b is None with one system.
    signature
        A short reproducible description of every choice.
    """

    looks: tuple[Look, ...]
    a: str = "A"
    b: str | None = None
    notes: tuple[str, ...] = ()
    signature: str = field(default="", repr=False)

    @property
    def last(self) -> Look:
        """The newest look."""
        return self.looks[-1]

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per look."""
        return [look.to_dict() for look in self.looks]

    def __str__(self) -> str:
        if not self.looks:
            return "no looks yet"
        return self.last.summary(self.a, self.b or "B")

    def _metrics(self) -> Iterable[tuple[tuple[str, ...], Any]]:
        return self.last._metrics()

    def plot(self) -> Axes:
        """Draw the limits against the number of labels; returns matplotlib's axes."""
        from probative.reporting.watch_report import draw_looks

        return draw_looks(self)

    def _document(self) -> Document:
        from probative.reporting.watch_report import watch_document

        return watch_document(self)
