"""One score of several classes: kappa and Matthews' coefficient of the whole confusion table.

An item of class i that is called j moves a score by its derivative in that cell. So the items of a
unit move it by their sum, and what units cost follows as in `clusters`. The limits are those of the
log odds of the score within its bounds. For the lower one an item is added to the table, shared
out as chance would: without it a table without errors, or nearly so, would seem to be sure. For the
upper one a right item is added, shared out evenly among the classes that occur on either side:
without it a table whose rare classes happen to be never right would. Both scores, and so their
limits, are the same with the two sides exchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative._confusion import OF_TABLES, score_of_table, slopes_of_table
from probative._validation import one_of, open_probability
from probative.errors import InputError
from probative.inference.clusters import ONE_UNIT, student_quantile
from probative.inference.decisions import student_pvalue
from probative.inference.differences import mover
from probative.inference.proportions import normal_quantile, wilson
from probative.inference.student_posterior import StudentPosterior
from probative.results import Difference, Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative._types import Array

    Codes = NDArray[np.intp]

__all__ = [
    "ConfusedItems",
    "Worth",
    "confusion_difference",
    "confusion_interval",
    "confusion_posterior",
    "confusion_unit_pvalue",
    "correlation_of_moves",
    "difference_of_tables",
    "pool_items",
    "posterior_of_gap",
]

METHOD = "logit"
_ADDED = 1.0  # items that are added, for the lower limit by chance, for the upper one right
_TIE = 1e-12
_UNDEFINED = "undefined: everything is of one class"
_ONE_LABEL = "everything is called one class: limits from how often others may be called otherwise"
_ONE_ANSWER = "the answer has one class: limits from how often it may have others"


@dataclass(frozen=True, eq=False)
class ConfusedItems:
    """The class of every item, and what a system calls it.

    Attributes
    ----------
    answer, said
        Numbers of classes, from 0.
    n_classes
        How many there are.
    units
        The number of each item's unit, from 0; None where items are independent.
    """

    answer: Codes
    said: Codes
    n_classes: int
    units: Codes | None = None

    def __post_init__(self) -> None:
        if len(self.answer) != len(self.said):
            raise InputError(f"said: {len(self.said)} items, but the answer has {len(self.answer)}")

    @property
    def table(self) -> Array:
        """How many items of each class are called by each."""
        k = self.n_classes
        flat = np.bincount(self.answer * k + self.said, minlength=k * k)
        return flat.reshape(k, k).astype(np.float64)

    @property
    def n_units(self) -> int:
        """How many units there are: items, where these are independent."""
        return len(self.answer) if self.units is None else int(self.units.max(initial=-1)) + 1

    @property
    def sums(self) -> Array:
        """How many items are right, and how often each class is said."""
        table = self.table
        return np.concatenate([[np.trace(table)], table.sum(axis=0)])

    def moves(self, metric: str) -> Array:
        """How far every item moves the score."""
        return np.asarray(slopes_of_table(self.table, metric)[self.answer, self.said])


def pool_items(runs: Sequence[ConfusedItems], times: int) -> ConfusedItems:
    """What all runs of a system say, each so often that there are as many as these times.

    What they say of one item, or unit, is one unit.
    """
    first, repeated = runs[0], times // len(runs)
    units = np.arange(len(first.answer)) if first.units is None else first.units
    said = np.concatenate([run.said for run in runs])
    return ConfusedItems(
        np.tile(first.answer, times),
        np.tile(said, repeated),
        first.n_classes,
        np.tile(units, times),
    )


def confusion_interval(
    items: ConfusedItems, metric: str = "kappa", *, level: float = 0.95
) -> Interval:
    """An interval for kappa or Matthews' coefficient of several classes.

    Parameters
    ----------
    items
        What a system says of every item.
    metric
        "kappa", or "mcc": Gorodkin's R_K.
    level
        The nominal coverage, in (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.confusion import ConfusedItems, confusion_interval
    >>> answer = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2] * 5)
    >>> said = np.array([0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 0] * 5)
    >>> print(confusion_interval(ConfusedItems(answer, said, 3)))
    kappa, 0.95 logit interval: 0.6170 [0.4141, 0.7613]
    """
    one_of("metric", metric, OF_TABLES)
    level = open_probability("level", level)
    table = items.table
    estimate = float(score_of_table(table, metric))
    if np.isnan(estimate):
        return Interval(metric, METHOD, level, estimate, -1.0, 1.0, _UNDEFINED)
    worth = Worth.of(items.units, items.moves(metric), len(items.answer))
    low, high = worth.limits(table, metric, level)
    return Interval(
        metric,
        METHOD,
        level,
        estimate,
        min(low, estimate),
        max(high, estimate),
        worth.note or _note_on_labels(table),
        worth.design_effect,
    )


@dataclass(frozen=True)
class Worth:
    """What units are worth: a divisor of their items, and degrees of freedom."""

    design_effect: float | None
    divisor: float
    freedom: float

    @classmethod
    def of(cls, units: Codes | None, moves: Array, n: int) -> Worth:
        """From the units of the items, how far each item moves the score, and their number."""
        if units is None:
            return cls(None, 1.0, np.inf)
        moved, size = np.bincount(units, moves), np.bincount(units).astype(np.float64)
        moved, size = moved[size > 0], size[size > 0]
        freedom = float(n**2 / (size @ size) - 1)
        if not freedom > 0:
            return cls(np.nan, 1.0, 0.0)
        independent = float(moves @ moves)
        if independent * n**2 < _TIE:
            return cls(np.nan, n / len(size), freedom)
        # leaving out a unit leaves fewer items to the others
        left = moved / (1 - size / n)
        variance = (len(size) - 1) / len(size) * float(np.sum((left - left.mean()) ** 2))
        effect = variance / independent
        return cls(effect, max(1.0, effect), freedom)

    @property
    def note(self) -> str | None:
        """What must be said of one unit."""
        return None if self.freedom > 0 else ONE_UNIT

    def limits(self, table: Array, metric: str, level: float) -> tuple[float, float]:
        """Limits of the score of a table, whose items are worth so much."""
        if not self.freedom > 0:
            return _least(metric), 1.0
        endless = np.isinf(self.freedom)
        z = normal_quantile(level) if endless else float(student_quantile(level, self.freedom))
        return _limits_of_table(table / self.divisor, metric, z)


def _limits_of_table(table: Array, metric: str, z: float) -> tuple[float, float]:
    if metric == "balanced_accuracy":
        return _limits_of_recalls(table, z)
    if _has_one_label(table):
        return _limits_of_one_label(table, metric, z)
    chance = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True)
    by_chance = table + _ADDED * chance / table.sum() ** 2
    there = table.sum(axis=0) + table.sum(axis=1) > 0
    righted = table + _ADDED * np.diag(there / there.sum())
    return _logit_limit(by_chance, metric, -z), _logit_limit(righted, metric, z)


def _limits_of_recalls(table: Array, z: float) -> tuple[float, float]:
    """Limits of the mean recall, by MOVER from Wilson's of every class that the answer has.

    A class that is always right, or never, adds nothing to the variance, and yet is not certain.
    """
    there = table.sum(axis=1) > 0
    right, answer = np.diagonal(table)[there], table.sum(axis=1)[there]
    recall, (low, high) = right / answer, wilson(right, answer, z)
    below, above = (float(np.sqrt(np.sum((recall - end) ** 2))) for end in (low, high))
    return float(recall.mean()) - below / len(recall), float(recall.mean()) + above / len(recall)


def _logit_limit(table: Array, metric: str, z: float) -> float:
    """So many standard errors from the score, on the scale of log odds between -1 and 1."""
    score = float(score_of_table(table, metric))
    if not -1 < score < 1:
        return score
    variance = float(np.sum(table * slopes_of_table(table, metric) ** 2))
    reach = z * np.sqrt(variance) * 2 / ((1 + score) * (1 - score))
    return float(np.tanh(np.arctanh(score) + reach / 2))


def _has_one_label(table: Array) -> bool:
    """Whether the answer has one class, or one is given to everything: kappa is 0 then."""
    return any(np.count_nonzero(table.sum(axis=axis)) == 1 for axis in (0, 1))


def _note_on_labels(table: Array) -> str | None:
    """What must be said of a single class."""
    if not _has_one_label(table):
        return None
    return _ONE_ANSWER if np.count_nonzero(table.sum(axis=1)) == 1 else _ONE_LABEL


def _limits_of_one_label(table: Array, metric: str, z: float) -> tuple[float, float]:
    """The worst and the best of what could be, if some items were called otherwise.

    No item of n was, so that up to 1 - tail^(1/n) of all may be, as Clopper and Pearson have it.
    """
    if np.count_nonzero(table) == 1:
        return -1.0, 1.0
    if np.count_nonzero(table.sum(axis=1)) == 1:  # the answer and the system play the same part
        table = table.T
    n, answer = table.sum(), table.sum(axis=1)
    label = int(np.argmax(table.sum(axis=0)))
    moved = n * -np.expm1(special.log_ndtr(-z) / n)
    others = np.where(np.arange(len(answer)) == label, 0.0, answer)
    best, worst = table.copy(), table.copy()
    righted = others * min(1.0, moved / others.sum())
    best[:, label] -= righted
    best += np.diag(righted)
    wronged = min(moved, answer[label])
    worst[label, label] -= wronged
    worst[label] += wronged * others / others.sum()
    low, high = (float(score_of_table(one, metric)) for one in (worst, best))
    return low, high


def confusion_difference(
    a: ConfusedItems, b: ConfusedItems, metric: str = "kappa", *, level: float = 0.95
) -> Difference:
    """An interval for the difference of two systems on the same items, B minus A, by MOVER.

    Parameters
    ----------
    a, b
        What the systems say; the answer and the units are the same.
    metric, level
        As for `confusion_interval`.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.confusion import ConfusedItems, confusion_difference
    >>> answer = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2] * 5)
    >>> a = ConfusedItems(answer, np.array([0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 0] * 5), 3)
    >>> b = ConfusedItems(answer, np.array([0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2] * 5), 3)
    >>> gap = confusion_difference(a, b)
    >>> bool(gap.low < gap.estimate < gap.high)
    True
    """
    one_of("metric", metric, OF_TABLES)
    level = open_probability("level", level)
    tables = a.table, b.table
    if np.isnan(sum(float(score_of_table(table, metric)) for table in tables)):
        return difference_of_tables(tables, metric, level, Worth(None, 1.0, np.inf), 0.0)
    moves_a, moves_b = a.moves(metric), b.moves(metric)
    worth = Worth.of(a.units, moves_b - moves_a, len(a.answer))
    squares = float(moves_a @ moves_a), float(moves_a @ moves_b), float(moves_b @ moves_b)
    most = max(float(np.max(own**2, initial=0)) for own in (moves_a, moves_b))
    r = correlation_of_moves(*squares, most * worth.divisor)
    return difference_of_tables(tables, metric, level, worth, r)


def difference_of_tables(
    tables: tuple[Array, Array], metric: str, level: float, worth: Worth, r: float
) -> Difference:
    """The difference of the scores of two tables, by MOVER.

    Parameters
    ----------
    tables
        Of A and of B.
    metric, level
        As for `confusion_interval`.
    worth
        What their units are worth to the difference.
    r
        The correlation of the two scores.
    """
    score_a, score_b = (float(score_of_table(table, metric)) for table in tables)
    gap, most = score_b - score_a, 1.0 - _least(metric)

    def told(low: float, high: float, note: str | None) -> Difference:
        effect = worth.design_effect
        return Difference(metric, "mover", level, gap, low, high, score_a, score_b, r, effect, note)

    if np.isnan(gap):
        return told(-most, most, _UNDEFINED)
    if not worth.freedom > 0:
        return told(-most, most, worth.note)
    singles = []
    for table, score in zip(tables, (score_a, score_b), strict=True):
        low, high = worth.limits(table, metric, level)
        own = Interval(metric, METHOD, level, score, min(low, score), max(high, score))
        singles.append(own)
    return told(*mover(singles[0], singles[1], r), worth.note)


def confusion_posterior(
    a: ConfusedItems, b: ConfusedItems, metric: str = "kappa"
) -> StudentPosterior:
    """What is known of the difference of two systems, about its estimate: Student's distribution.

    Parameters
    ----------
    a, b, metric
        As for `confusion_difference`.
    """
    gap = confusion_difference(a, b, metric)
    if np.isnan(gap.estimate):
        return posterior_of_gap(gap, np.inf)
    moves = b.moves(metric) - a.moves(metric)
    return posterior_of_gap(gap, Worth.of(a.units, moves, len(a.answer)).freedom)


def confusion_unit_pvalue(a: ConfusedItems, b: ConfusedItems, metric: str = "kappa") -> float:
    """Return Student's p-value of the difference of two systems, by unit or by item.

    Parameters
    ----------
    a, b, metric
        As for `confusion_difference`.
    """
    gap = float(score_of_table(b.table, metric)) - float(score_of_table(a.table, metric))
    if np.isnan(gap):
        return float("nan")
    units = np.arange(len(a.answer)) if a.units is None else a.units
    moves = b.moves(metric) - a.moves(metric)
    worth = Worth.of(units, moves, len(a.answer))
    variance = np.nan_to_num(worth.design_effect or 0.0) * float(moves @ moves)
    return float(student_pvalue(gap, np.sqrt(variance), worth.freedom))


def posterior_of_gap(gap: Difference, freedom: float) -> StudentPosterior:
    """Student's distribution about a difference, as wide as its limits.

    These allow for what moves the scores by nothing here.
    """
    most = 1.0 - _least(gap.metric)
    if np.isnan(gap.estimate):
        return StudentPosterior(np.nan, 0.0, np.inf, most=most)
    freedom = max(freedom, 1e-3)
    reach = (
        float(student_quantile(gap.level, freedom))
        if np.isfinite(freedom)
        else normal_quantile(gap.level)
    )
    return StudentPosterior(gap.estimate, (gap.high - gap.low) / 2 / reach, freedom, most=most)


def correlation_of_moves(aa: float, ab: float, bb: float, extra: float) -> float:
    """Of two scores, from sums of products of moves, with one more item that moves one alone.

    So it is never known to be 1. The extra item counts as much as those that move the scores most.
    """
    bottom = np.sqrt((aa + extra) * (bb + extra))
    return ab / float(bottom) if bottom > 0 else 0.0


def _least(metric: str) -> float:
    """The least value of a score."""
    return 0.0 if metric == "balanced_accuracy" else -1.0
