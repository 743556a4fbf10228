"""One score of several classes: kappa and Matthews' coefficient of the whole confusion table.

An item of class i that is called j moves a score by its derivative in that cell. So the items of a
unit move it by their sum, and what units cost follows as in `clusters`. The limits are those of the
log odds of the score within its bounds. For the lower one an item is added to the table, shared
out as chance would: without it a table without errors, or nearly so, would seem to be sure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative._confusion import OF_TABLES, score_of_margins, score_of_table, slopes_of_table
from probative._validation import one_of, open_probability, random_generator
from probative.errors import InputError
from probative.inference.clusters import ONE_UNIT, student_quantile
from probative.inference.differences import mover
from probative.inference.proportions import normal_quantile
from probative.inference.sequential_pvalue import levels_at, sequential_pvalue
from probative.inference.student_posterior import StudentPosterior
from probative.results import Difference, Interval, RandomizationTest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative._types import RNG

    Array = NDArray[np.float64]
    Codes = NDArray[np.intp]

__all__ = [
    "ConfusedItems",
    "confusion_difference",
    "confusion_interval",
    "confusion_posterior",
    "confusion_test",
]

METHOD = "logit"
_ADDED = 1.0  # items that are added, as chance would share them out
_NUMBERS_AT_ONCE = 2**20
_TIE = 1e-12
_UNDEFINED = "undefined: everything is of one class"
_ONE_LABEL = "everything is called one class: limits from how often others may be called otherwise"


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

    def moves(self, metric: str) -> Array:
        """How far every item moves the score."""
        return np.asarray(slopes_of_table(self.table, metric)[self.answer, self.said])


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
    kappa, 0.95 logit interval: 0.6170 [0.4141, 0.7569]
    """
    one_of("metric", metric, OF_TABLES)
    level = open_probability("level", level)
    table = items.table
    estimate = float(score_of_table(table, metric))
    if np.isnan(estimate):
        return Interval(metric, METHOD, level, estimate, -1.0, 1.0, _UNDEFINED)
    worth = _Worth.of(items.units, items.moves(metric), len(items.answer))
    low, high = worth.limits(table, metric, level)
    return Interval(
        metric,
        METHOD,
        level,
        estimate,
        min(low, estimate),
        max(high, estimate),
        worth.note or (_ONE_LABEL if _has_one_label(table) else None),
        worth.design_effect,
    )


@dataclass(frozen=True)
class _Worth:
    """What units are worth: a divisor of their items, and degrees of freedom."""

    design_effect: float | None
    divisor: float
    freedom: float

    @classmethod
    def of(cls, units: Codes | None, moves: Array, n: int) -> _Worth:
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
        return None if self.freedom > 0 else ONE_UNIT

    def limits(self, table: Array, metric: str, level: float) -> tuple[float, float]:
        """Limits of the score of a table, whose items are worth so much."""
        if not self.freedom > 0:
            return -1.0, 1.0
        endless = np.isinf(self.freedom)
        z = normal_quantile(level) if endless else float(student_quantile(level, self.freedom))
        return _limits_of_table(table / self.divisor, metric, z)


def _limits_of_table(table: Array, metric: str, z: float) -> tuple[float, float]:
    if _has_one_label(table):
        return _limits_of_one_label(table, metric, z)
    chance = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True)
    added = table + _ADDED * chance / table.sum() ** 2
    return _logit_limit(added, metric, -z), _logit_limit(table, metric, z)


def _logit_limit(table: Array, metric: str, z: float) -> float:
    """So many standard errors from the score, on the scale of log odds between -1 and 1."""
    score = float(score_of_table(table, metric))
    if abs(score) >= 1:
        return score
    variance = float(np.sum(table * slopes_of_table(table, metric) ** 2))
    return float(np.tanh(np.arctanh(score) + z * np.sqrt(variance) / (1 - score**2)))


def _has_one_label(table: Array) -> bool:
    """Whether the answer has one class, or one is given to everything: kappa is 0 then."""
    return any(np.count_nonzero(table.sum(axis=axis)) == 1 for axis in (0, 1))


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
    score_a, score_b = (float(score_of_table(side.table, metric)) for side in (a, b))
    gap = score_b - score_a
    if np.isnan(gap):
        return Difference(
            metric, "mover", level, np.nan, -2.0, 2.0, score_a, score_b, 0.0, None, _UNDEFINED
        )
    moves_a, moves_b = a.moves(metric), b.moves(metric)
    worth = _Worth.of(a.units, moves_b - moves_a, len(a.answer))
    if not worth.freedom > 0:
        return Difference(
            metric,
            "mover",
            level,
            gap,
            -2.0,
            2.0,
            score_a,
            score_b,
            0.0,
            worth.design_effect,
            worth.note,
        )
    r = _correlation(moves_a, moves_b, worth.divisor)
    singles = []
    for side, score in ((a, score_a), (b, score_b)):
        low, high = worth.limits(side.table, metric, level)
        own = Interval(metric, METHOD, level, score, min(low, score), max(high, score))
        singles.append(own)
    low, high = mover(singles[0], singles[1], r)
    return Difference(
        metric, "mover", level, gap, low, high, score_a, score_b, r, worth.design_effect, worth.note
    )


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
        return StudentPosterior(np.nan, 0.0, np.inf, most=2.0)
    moves = b.moves(metric) - a.moves(metric)
    worth = _Worth.of(a.units, moves, len(a.answer))
    # as wide as the limits, which allow for what moves the scores by nothing here
    z = normal_quantile(gap.level)
    freedom = max(worth.freedom, 1e-3)
    reach = float(student_quantile(gap.level, freedom)) if np.isfinite(freedom) else z
    return StudentPosterior(gap.estimate, (gap.high - gap.low) / 2 / reach, freedom, most=2.0)


def _correlation(a: Array, b: Array, divisor: float) -> float:
    """Of the two scores, with one more item that moves one alone: never known to be 1.

    They count as much as the items that move the scores most.
    """
    extra = divisor * max(float(np.max(a**2, initial=0)), float(np.max(b**2, initial=0)))
    aa, ab, bb = (float(x @ y) for x, y in ((a, a), (a, b), (b, b)))
    bottom = np.sqrt((aa + extra) * (bb + extra))
    return ab / float(bottom) if bottom > 0 else 0.0


def confusion_test(
    a: ConfusedItems,
    b: ConfusedItems,
    metric: str = "kappa",
    *,
    level: float = 0.95,
    rng: RNG | None = None,
) -> RandomizationTest:
    """The randomisation test by sampled exchanges of items, or of units; two-sided.

    Parameters
    ----------
    a, b, metric, level
        As for `confusion_difference`; drawing stops when it is clear whether the p-value is below
        0.05, 0.01 and 1 - level.
    rng
        A seed or generator.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.confusion import ConfusedItems, confusion_test
    >>> answer = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2] * 5)
    >>> a = ConfusedItems(answer, np.array([0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 0] * 5), 3)
    >>> b = ConfusedItems(answer, np.array([0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2] * 5), 3)
    >>> confusion_test(a, b, rng=0).pvalue < 0.01
    True
    """
    one_of("metric", metric, OF_TABLES)
    walk = _Exchange.of(a, b, metric)
    observed = walk.observed
    unit = "item" if a.units is None else "unit"
    number = len(a.answer) if a.units is None else int(a.units.max(initial=-1)) + 1

    def extreme(generator: np.random.Generator, draws: int) -> int:
        gaps = walk.gaps(generator, draws)
        return int(np.count_nonzero(np.abs(gaps) >= abs(observed) - _TIE))

    found = sequential_pvalue(extreme, levels=levels_at(level), rng=random_generator(rng))
    return RandomizationTest(
        metric=metric,
        alternative="two-sided",
        by=unit,
        statistic=observed,
        n_units=number,
        method="sampled",
        pvalue=1.0 if abs(observed) <= _TIE else found.pvalue,
        n_resamples=found.draws,
        standard_error=found.standard_error,
        note=None if found.clear else str(found),
    )


@dataclass(frozen=True, eq=False)
class _Exchange:
    """Random exchanges of what differs: how many are right, and how often each class is said."""

    steps: Array
    times: NDArray[np.int64]
    base: Array
    total: Array
    answer: Array
    metric: str

    @classmethod
    def of(cls, a: ConfusedItems, b: ConfusedItems, metric: str) -> _Exchange:
        k = a.n_classes
        sums = [np.concatenate([[np.trace(s.table)], s.table.sum(axis=0)]) for s in (a, b)]
        differ = np.flatnonzero(a.said != b.said)
        unit = differ if a.units is None else a.units[differ]
        unit, place = np.unique(unit, return_inverse=True)
        steps = np.zeros((len(unit), k + 1))
        for side, sign in ((a, 1.0), (b, -1.0)):
            said = side.said[differ]
            right = sign * (said == side.answer[differ])
            steps[:, 0] += np.bincount(place, right, minlength=len(unit))
            np.add.at(steps, (place, said + 1), sign)
        steps, times = np.unique(steps, axis=0, return_counts=True)
        return cls(steps, times, sums[1], sums[0] + sums[1], a.table.sum(axis=1), metric)

    @property
    def observed(self) -> float:
        """B minus A; an undefined score counts as 0."""
        return float(self._gap((self.base + self.times @ self.steps)[None, :])[0])

    def gaps(self, generator: np.random.Generator, draws: int) -> Array:
        """Differences after so many exchanges."""
        at_once = max(1, _NUMBERS_AT_ONCE // max(1, len(self.times)))
        parts = []
        for start in range(0, draws, at_once):
            size = (min(at_once, draws - start), len(self.times))
            taken = generator.binomial(self.times, 0.5, size)
            parts.append(self._gap(self.base + taken @ self.steps))
        return np.concatenate(parts)

    def _gap(self, own: Array) -> Array:
        a, b = (
            np.nan_to_num(score_of_margins(side[:, 0], side[:, 1:], self.answer, self.metric))
            for side in (own, self.total - own)
        )
        return np.asarray(b - a)
