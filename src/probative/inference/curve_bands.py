"""Limits of precision and recall along a curve: at one threshold, and at all of them at once.

Pointwise limits hold at a threshold that was chosen beforehand: Wilson's, with the effective number
of items where these belong to units. Simultaneous ones hold at all thresholds together, hence also
at one that was chosen after looking. For independent items they rest on the order statistics of the
scores of positives and negatives: a band of equal local levels for either distribution (of many
scores, within Kolmogorov's), whose joint level is that of uniform order statistics and so the same
for all systems; ties make it wider than need be. Both, and an exact interval of the share of
positives, are carried over to precision. Items of units count as what they are worth: their number
over the largest design effect along the curve.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative.inference.clusters import student_quantile
from probative.inference.proportions import clopper_pearson, normal_quantile, wilson
from probative.inference.ranked import Ranked
from probative.results import Band

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative._types import Array

    Limits = tuple[Any, Any]

__all__ = ["local_level", "pointwise_band", "simultaneous_band"]

_DRAWS, _SEED = 4_000, 20_250  # of uniform samples: the constants are the same in every call
_EACH = 30  # up to so many scores every number of them has a local level of its own
_FEW = 200  # scores: all of their order statistics have limits
_GRID = 60  # order statistics of either half that have limits otherwise
_ENDS = 0.1  # of a curve, where few items tell nothing about a design effect
_FEW_ITEMS = 30
_STEPS = "few items of a class: limits move in steps, and single ones hold less often"
_DEPENDENT = "items of units: counted as what they are worth, close for many units only"


def pointwise_band(ranked: Ranked, level: float) -> Band:
    """Wilson's limits of precision and recall at each threshold by itself."""
    z = normal_quantile(level)
    few = _STEPS if ranked.fewest < _FEW_ITEMS else None
    if ranked.unit is None:
        precision = wilson(ranked.tp, ranked.predicted, z)
        recall = wilson(ranked.tp, float(ranked.positives), z)
        return Band("pointwise", "wilson", level, *precision, *recall, few)
    return Band("pointwise", "wilson", level, *_limits_of_units(ranked, level), few)


def simultaneous_band(ranked: Ranked, level: float) -> Band:
    """Limits of precision and recall that hold at all thresholds together."""
    # three independent statements, each of which must hold
    each = level ** (1 / 3)
    found = _limits_of_share(ranked.tp, ranked.positives, each, _class_effect(ranked))
    others = Ranked(~ranked.is_positive, ranked.step, ranked.thresholds, ranked.unit)
    false = _limits_of_share(ranked.fp, ranked.negatives, each, _class_effect(others))
    effect = _share_effect(ranked)
    share = clopper_pearson(ranked.positives / effect, ranked.items / effect, (1 - each) / 2)
    low = _precision(share[0], found[0], false[1])
    high = _precision(share[1], found[1], false[0])
    note = None if ranked.unit is None else _DEPENDENT
    return Band("simultaneous", "equal-local-levels", level, low, high, *found, note)


def _precision(share: Any, found: Array, false: Array) -> Array:
    """What precision is if that share is positive, and these shares of either class are taken."""
    right, wrong = share * found, (1 - share) * false
    total = right + wrong
    return np.where(total > 0, right / np.where(total > 0, total, 1.0), 1.0)


# --- equal local levels -----------------------------------------------------------------------


def _limits_of_share(taken: Array, total: int, level: float, effect: float) -> Limits:
    """Limits, at all thresholds at once, of the share of scores above each.

    As many independent scores are counted as these are worth: their number over the design effect.
    """
    if not total:
        return np.zeros(len(taken)), np.ones(len(taken))
    taken, n = taken / effect, max(1, int(total / effect))
    shares = np.minimum(taken / n, 1.0)
    if n <= _FEW:
        return _limits_by_order(taken, n, level)
    # of many scores the band is tied to some; Kolmogorov's, narrower in the middle, to all
    half = (1 + level) / 2
    reach = np.sqrt(np.log(2 / (1 - half)) / (2 * n))
    low, high = _limits_by_order(taken, n, half)
    return np.maximum(low, shares - reach), np.minimum(high, shares + reach)


def _limits_by_order(taken: Array, n: int, level: float) -> Limits:
    grid, tail = _grid(n), local_level(_rounded_up(n), level) / 2
    low, high = special.betaincinv(grid, n + 1 - grid, [[tail], [1 - tail]])
    # a threshold lies between two order statistics, and the share between their limits
    below = np.searchsorted(grid, taken, side="right")
    above = np.searchsorted(grid, taken + 1)
    return np.append(0.0, low)[below], np.append(high, 1.0)[above]


def _rounded_up(n: int) -> int:
    """The next of some numbers of scores: with more of them a local level is a little smaller."""
    if n <= _EACH:
        return n
    return int(_EACH * 1.1 ** np.ceil(np.log(n / _EACH) / np.log(1.1) - 1e-9)) + 1


@lru_cache(maxsize=256)
def local_level(n: int, level: float) -> float:
    """The level of each single limit at which all of them together hold with probability `level`.

    From samples of uniform order statistics, the same ones in every call.

    Parameters
    ----------
    n
        How many independent scores there are.
    level
        The level of the band.
    """
    grid = _grid(n)
    rng = np.random.default_rng(_SEED)
    steps = np.diff(np.append(grid, n + 1), prepend=0)
    sums = np.cumsum(rng.standard_gamma(steps, size=(_DRAWS, len(steps))), axis=1)
    below = special.betainc(grid, n + 1 - grid, sums[:, :-1] / sums[:, -1:])
    worst = 2 * np.minimum(below, 1 - below).min(axis=1)
    return float(np.quantile(worst, 1 - level, method="lower"))


def _grid(n: int) -> NDArray[np.int64]:
    """The order statistics that have limits: all of few, else ever fewer towards the middle."""
    if n <= _FEW:
        return np.arange(1, n + 1)
    half = np.unique(np.round(np.geomspace(1, n / 2, _GRID)).astype(np.int64))
    return np.unique(np.concatenate([half, n + 1 - half]))


# --- units ------------------------------------------------------------------------------------


def _limits_of_units(ranked: Ranked, level: float) -> tuple[Any, Any, Any, Any]:
    """Wilson's limits of precision and recall, with as many items as the units are worth."""
    sums = _UnitSums(ranked)
    recall = _limits_of_ratio(
        ranked.tp, float(ranked.positives), sums.recall_spread(), sums.recall_sizes, level
    )
    precision = _limits_of_ratio(
        ranked.tp, ranked.predicted, sums.precision_spread(), sums.sizes, level
    )
    return *precision, *recall


def _limits_of_ratio(
    tp: Array,
    total: Any,
    spread: tuple[Array, Any],
    sizes: Any,
    level: float,
) -> Limits:
    """Wilson's limits of tp / total, whose units deviate so much and are so large.

    Parameters
    ----------
    tp, total
        The ratio.
    spread
        The sum of the squared deviations of units, and how many units there are.
    sizes
        The sum of the squared sizes of units.
    level
        The level.
    """
    squares, units = spread
    share = tp / total
    alone = share * (1 - share) * total
    with np.errstate(invalid="ignore", divide="ignore"):
        together = np.where(units > 1, squares * units / (units - 1), np.nan)
        # where all are right or all wrong, as if a unit were one item
        effect = np.where(alone > 1e-9, together / alone, total / units)
    freedom = total**2 / sizes - 1
    quantile = student_quantile(level, freedom)
    worth = total / np.maximum(np.nan_to_num(effect, nan=1.0), 1.0)
    low, high = wilson(share * worth, worth, quantile)
    # one unit is no evidence of how others would come out
    none = np.less_equal(freedom, 1e-9)
    return np.where(none, 0.0, low), np.where(none, 1.0, high)


class _UnitSums:
    """Sums of squares over units at every step, from what each item adds to its unit's."""

    def __init__(self, ranked: Ranked):
        self.ranked = ranked
        yes = ranked.is_positive.astype(float)
        positives = ranked.by_unit(yes)
        order = np.lexsort((ranked.step, ranked.units))
        unit, said = ranked.units[order], yes[order]
        begins = np.append(True, unit[1:] != unit[:-1])
        start = np.maximum.accumulate(np.where(begins, np.arange(len(unit)), 0))
        before = np.cumsum(said) - said
        # items and positives of the same unit that come before
        y, x = np.arange(len(unit)) - start, before - before[start]
        own = positives[unit]
        place = ranked.step[order]
        n = len(ranked.thresholds)

        def along(added: Any) -> Array:
            return np.cumsum(np.bincount(place, weights=added, minlength=n))

        self.sizes = along(2 * y + 1.0)
        self._right = along(said * (2 * x + 1))
        self._mixed = along(np.where(said > 0, x + y + 1, x))
        self._of_positives = along(said * own)
        self._units = along(begins.astype(float))
        self._positive_units = float(np.count_nonzero(positives))
        self.recall_sizes = float((positives**2).sum())

    def precision_spread(self) -> tuple[Array, Array]:
        """Squared deviations of true positives from what the precision lets expect."""
        p = self.ranked.precision
        return self._right - 2 * p * self._mixed + p**2 * self.sizes, self._units

    def recall_spread(self) -> tuple[Array, float]:
        """Squared deviations of true positives from what the recall lets expect."""
        r = self.ranked.recall
        squares = self._right - 2 * r * self._of_positives + r**2 * self.recall_sizes
        return squares, self._positive_units


def _class_effect(ranked: Ranked) -> float:
    """The largest design effect of the share of positives above a threshold, but for the ends."""
    if ranked.unit is None or not ranked.positives:
        return 1.0
    sums = _UnitSums(ranked)
    squares, units = sums.recall_spread()
    share = ranked.recall
    inner = (share > _ENDS) & (share < 1 - _ENDS)
    if units < 2 or not inner.any():
        return sums.recall_sizes / ranked.positives  # as if a unit were one item
    alone = share[inner] * (1 - share[inner]) * ranked.positives
    return max(1.0, float((squares[inner] * units / (units - 1) / alone).max()))


def _share_effect(ranked: Ranked) -> float:
    """The design effect of the share of positives."""
    if ranked.unit is None or not ranked.negatives or ranked.n_units < 2:
        return 1.0
    share = ranked.positives / ranked.items
    deviations = ranked.by_unit(ranked.is_positive.astype(float) - share)
    n = ranked.n_units
    together = n / (n - 1) * float(deviations @ deviations)
    return max(1.0, together / (ranked.items * share * (1 - share)))
