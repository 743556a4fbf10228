"""Estimate scores of a pool from a sample drawn at random within strata."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from probative.counts import Counts
from probative.errors import InputError
from probative.inference.intervals import wilson
from probative.inference.units import ONE_UNIT, influence, student_quantile
from probative.metrics import bounds, contributions, span

if TYPE_CHECKING:
    from probative._validation import Array

    _Limits = Callable[[float, "Spread"], tuple[float, float]]


# --- Totals of a pool from a sample drawn at random within strata
# Each drawn unit represents N_h/n_h units of its stratum, where N_h is the size of the stratum
# and n_h the number of units drawn from it. The variance of the total is the sum over strata of
# N_h²·(1 - n_h/N_h)·s_h²/n_h.

_ROUNDING = 1e-12  # relative to the largest value: smaller deviations count as 0


class Draw:
    """Units drawn at random within strata; every stratum has labelled units."""

    def __init__(self, stratum: ArrayLike, sizes: ArrayLike) -> None:
        # the index of the stratum of every labelled unit, from 0; units of the pool by stratum
        self.stratum = np.asarray(stratum, dtype=np.intp)
        self.sizes = np.asarray(sizes, dtype=np.float64)
        self.labelled, self.pool = len(self.stratum), float(self.sizes.sum())
        if not self.labelled:
            raise InputError("stratum: no labelled unit; expected at least one")
        self.drawn = np.bincount(self.stratum, minlength=len(self.sizes)).astype(np.float64)
        few = np.flatnonzero((self.drawn == 0) & (self.sizes > 0))
        if few.size:
            raise InputError(
                f"stratum: no unit of {few.size} strata with {self.sizes[few].sum():,.0f} units is "
                f"labelled, the first being number {few[0]}; expected units of each"
            )
        # how many units of the pool each labelled unit represents
        self.weights = self.sizes[self.stratum] / self.drawn[self.stratum]
        share = np.divide(self.drawn, self.sizes, np.ones_like(self.sizes), where=self.sizes > 0)
        self.rest: Array = 1 - share  # the fraction of every stratum that is not labelled
        self.is_census = not np.any(self.rest > 0)
        # strata of several units of which only one is labelled
        self.lonely = (self.drawn == 1) & (self.sizes > 1)

    def total(self, values: ArrayLike) -> float:
        """Estimate the total over the pool from one value per labelled unit."""
        return float(self.weights @ np.asarray(values, dtype=np.float64))

    def means(self, values: Array) -> Array:
        """Return the mean of every stratum; 0 where nothing was drawn."""
        sums = np.bincount(self.stratum, weights=values, minlength=len(self.sizes))
        return sums / np.maximum(self.drawn, 1)


class Spread:
    """The variance of a total over the pool that is estimated from a stratified sample."""

    def __init__(
        self,
        values: ArrayLike,  # one per labelled unit
        draw: Draw,
        *,
        finite: bool = True,
        judged: _Judged | None = None,
        least: Array | None = None,
    ) -> None:
        # Unless `finite`, the pool is itself a random sample, which adds N times the variance of
        # its units. `least` is a lower bound of the variance of the units, by stratum.
        numbers = np.asarray(values, dtype=np.float64)
        left = numbers if judged is None else judged.residuals
        n, size = draw.drawn, draw.sizes
        unit, freedom = _variances(left, draw, least, 0.0 if judged is None else judged.lost)
        chance = np.divide(size**2 * unit, n, out=np.zeros_like(n), where=n > 0)
        parts = chance * draw.rest
        unjudged, _ = _variances(numbers, draw, least)
        within = float(np.maximum(size - 1, 0) @ unjudged) / max(draw.pool - 1, 1)
        # the variance between strata cannot be negative
        all_units = max(unit_variance(numbers, draw, least), within)
        variance = float(parts.sum()) + (0.0 if finite else draw.pool * all_units)
        squared = (parts if finite else chance) ** 2
        satterthwaite = float(
            np.divide(squared, freedom, out=np.zeros_like(n), where=freedom > 0).sum()
        )
        # 0 degrees of freedom (Satterthwaite) without evidence; the rest is NaN if unknown
        self.variance, self.by_stratum = variance, parts
        self.degrees_of_freedom = variance**2 / satterthwaite if satterthwaite > 0 else 0.0
        pool, whole = draw.pool, 1.0 if finite else 0.0
        self.worth = pool if finite and draw.is_census else math.nan
        if all_units > 0:  # the number of simple random units with this variance
            self.worth = pool**2 * all_units / (variance + whole * pool * all_units)
        # the variance over that of as many simple random units
        random = pool**2 * (1 / draw.labelled - whole / pool) * all_units
        self.design_effect = variance / random if random > 0 else math.nan


def unit_variance(values: ArrayLike, draw: Draw, least: Array | None = None) -> float:
    """Estimate the variance of all units of the pool, within strata and between them."""
    # minus the sampling variance of the means; unbiased without `least`
    numbers, size, pool = np.asarray(values, dtype=np.float64), draw.sizes, draw.pool
    if pool <= 1:
        return 0.0
    unit, _ = _variances(numbers, draw, least)
    error = np.divide(unit * draw.rest, draw.drawn, out=np.zeros_like(unit), where=draw.drawn > 0)
    deviation = draw.means(numbers) - draw.total(numbers) / pool
    between = float(size @ (deviation**2 - error)) + float(size**2 @ error) / pool
    return (float(np.maximum(size - 1, 0) @ unit) + between) / (pool - 1)


def _variances(
    values: Array, draw: Draw, least: Array | None, lost: Array | float = 0.0
) -> tuple[Array, Array]:
    """Estimate the variance of the units of every stratum and its degrees of freedom."""
    # where one unit of several is labelled, that of all labelled units, which is rather too large
    freedom = np.maximum(draw.drawn - 1 - lost, 0.0)
    unit = _squares(values, draw) / np.maximum(draw.drawn - 1, 1)
    lonely = draw.lonely
    if lonely.any() and draw.labelled > 1:
        together = Draw(np.zeros(draw.labelled, np.intp), np.array([float(draw.labelled)]))
        unit[lonely] = float(_squares(values, together)[0]) / (draw.labelled - 1)
        freedom[lonely] = 1.0
    return (unit if least is None else np.maximum(unit, least)), freedom


def _squares(values: Array, draw: Draw) -> Array:
    """Sum the squared deviations from the mean by stratum; set rounding errors to 0."""
    deviation = values - draw.means(values)[draw.stratum]
    deviation[np.abs(deviation) <= _ROUNDING * np.abs(values).max()] = 0.0
    return np.bincount(draw.stratum, deviation**2, len(draw.sizes)).astype(np.float64)


# --- Intervals of a score and of a difference

_ALIKE = (
    "all labelled units are equal: the variation between units is unknown, so the interval is "
    "the whole range"
)
_SELDOM_WRONG = (
    "the judge is rarely wrong in the labelled units, so its errors are hardly known: the "
    "interval may be too narrow"
)


def _score_limits(
    value: float, spread: Spread, even_units: float, level: float, between: tuple[float, float]
) -> tuple[float, float]:
    """Compute Wilson's interval with the effective sample size that matches the variance."""
    # `even_units` is Kish's number, used where all units are alike; `between` is the range
    low, high = between
    if math.isnan(value):
        return low, high
    if math.isinf(even_units) and not spread.variance > 0:
        return value, value
    share = (value - low) / (high - low)
    items, freedom = even_units, even_units - 1
    if spread.variance > 0:
        freedom = spread.degrees_of_freedom
        if 0 < share < 1:
            items = share * (1 - share) * (high - low) ** 2 / spread.variance
    if not freedom > 0:
        return low, high
    t = float(student_quantile(level, freedom))
    if share in (0, 1) and spread.variance > 0:  # Wilson's limits reach t²/(items + t²) then
        reach = t * math.sqrt(spread.variance) / (high - low)
        items = min(items, t**2 * (1 / reach - 1)) if reach < 1 else 0.0
    if not items > 0:
        return low, high
    least, most = wilson(share * items, items, t)
    return low + (high - low) * float(least), low + (high - low) * float(most)


def _difference_limits(
    value: float, spread: Spread, level: float, most: float, *, known: bool
) -> tuple[float, float]:
    """Compute Student's interval within ±`most`; `known`: no unlabelled unit matters."""
    if math.isnan(value):
        return -most, most
    if not spread.variance > 0 and known:
        return value, value
    if not spread.degrees_of_freedom > 0:
        return -most, most
    reach = float(student_quantile(level, spread.degrees_of_freedom)) * math.sqrt(spread.variance)
    return max(-most, value - reach), min(most, value + reach)


def _find_doubts(spread: Spread, draw: Draw) -> Iterator[str]:
    """Yield the notes on strata that leave the interval without evidence, or with little."""
    if not spread.degrees_of_freedom > 0:
        if not draw.is_census:
            yield ONE_UNIT if draw.labelled == 1 else _ALIKE
        return
    if lonely := int(np.count_nonzero(draw.lonely)):
        strata = "1 stratum has" if lonely == 1 else f"{lonely} strata have"
        yield (
            f"{strata} one labelled unit of several: its others are taken to vary as all "
            f"labelled units do"
        )


# --- Estimates for the pool


class _JudgeEffect(NamedTuple):
    """The effect of a judge on an estimate."""

    moved: float  # the estimate minus that of the labels alone
    width: float  # the standard error divided by that of the labels alone


@dataclass(frozen=True)
class Projection:
    """The estimate of a score of a pool, or of a difference of two scores, from labelled units."""

    estimate: float  # the estimate and its interval
    low: float
    high: float
    standard_error: float  # with its degrees of freedom: 0 without evidence
    degrees_of_freedom: float
    design_effect: float  # the variance divided by that of as many simple random units of the pool
    worth: float  # the number of simple random units with the same variance
    by_stratum: Array  # what each stratum adds to the variance
    judge: _JudgeEffect | None = None  # the effect of a judge; None without one
    notes: tuple[str, ...] = ()

    @property
    def no_evidence(self) -> bool:
        """Return True if the data show nothing about the error of the estimate."""
        return not self.degrees_of_freedom > 0 and self.low < self.high


_RULE_OF_THREE = 3  # what none of n units shows has a share of at most 3/n (at 0.95)
# A note is given if the lower bound adds more than this share of the variance
_NOTED_SHARE_OF_LOWER_BOUND = 0.25


@dataclass(frozen=True, eq=False)
class _Target:
    """A score or a difference of two, as a total over the pool."""

    value: float  # the estimate and the influence of every labelled unit on it
    moves: Array
    reach: Array | None  # the largest possible influence of every labelled unit, if known
    item: float  # the largest possible influence of a single item
    empty: NDArray[np.bool_]  # the labelled units in which nothing counts
    miss: float  # the influence of an item that nobody returned, and its share of the denominator
    missed: float
    items: Array  # by how much one item changes a score: a tp, fp, fn and tn; none for differences
    judged: _Judged | None = None  # the residuals of the influences after a judge; None without one

    def is_known(self, draw: Draw) -> bool:
        """Return True if no unlabelled unit can change the value."""
        # all labelled, or nothing counts in labelled units and a missed item has no influence
        open_ = bool(np.any(draw.rest[draw.stratum[~self.empty]] > 0))
        return draw.is_census or not (self.miss or open_)

    def least(self, draw: Draw) -> Array:
        """Return a lower bound of the variance of the units of every stratum."""
        # The variance as if half a unit more had gone wrong, its squared influence taken between
        # that of a unit and that of one item. Where no labelled unit of a stratum holds an item,
        # the rule of three bounds how many others may, and the 0.95 interval reaches that bound.
        least = np.zeros(len(draw.sizes))
        if self.reach is not None:
            share = 0.5 / (draw.drawn + 1)
            squares = self.reach * np.minimum(self.reach, self.item)
            least = draw.means(squares) * share * (1 - share)
        full = np.bincount(draw.stratum[~self.empty], minlength=len(draw.sizes)) > 0
        unseen = ~full & (draw.rest > 0)
        if self.miss and unseen.any():
            n = draw.drawn[unseen]
            rest, size = draw.rest[unseen], draw.sizes[unseen]
            most = np.minimum(1.0, _RULE_OF_THREE / n) * rest * size
            far = self.miss * most / (1 + self.missed * most)
            t = student_quantile(0.95, np.maximum(n - 1, 1))
            least[unseen] = (far / t / size) ** 2 * n / rest
        return least


class PoolScores:
    """The scores of systems in a pool, in one metric."""

    def __init__(
        self,
        systems: Sequence[Counts],  # one row per labelled unit
        draw: Draw,
        metric: str = "f1",
        *,
        level: float = 0.95,
        beta: float = 1.0,
        finite: bool = True,  # only the pool matters; else it is a sample of a larger population
        judge: Judge | None = None,
        disputed: ArrayLike | None = None,  # by unit, items that only some systems returned
    ) -> None:
        totals = [(counts * draw.weights).sum() for counts in systems]
        targets = [
            target_of(counts, total, draw, metric, beta)
            for counts, total in zip(systems, totals, strict=True)
        ]
        if judge is not None and not any(math.isnan(target.value) for target in targets):
            scores = [(t.value, t.moves) for t in targets]
            opinions = judge.explain(scores, totals, draw, metric, beta)
            targets = [replace(t, judged=own) for t, own in zip(targets, opinions, strict=True)]
        self.draw, self.metric, self.level, self.finite = draw, metric, level, finite
        self.disputed = None if disputed is None else np.asarray(disputed, dtype=np.float64)
        self._targets = targets

    def score(self, system: int = 0) -> Projection:
        """Estimate the score of a system."""
        target, between = self._targets[system], bounds(self.metric)
        # Kish's number of units of equal weight; fully labelled strata add no variance
        weight = self.draw.weights * (0.0 if target.reach is None else target.reach)
        left = self.draw.rest[self.draw.stratum] if self.finite else np.ones_like(weight)
        open_ = float(left @ weight**2)
        even_units = float(weight.sum()) ** 2 / open_ if open_ > 0 else math.inf
        limits = partial(_score_limits, even_units=even_units, level=self.level, between=between)
        return self._narrower(target, between, limits)

    def difference(self, a: int = 0, b: int = 1) -> Projection:
        """Estimate the score of system `b` minus that of system `a`."""
        first, second = self._targets[a], self._targets[b]
        swing = max(_swing(first.items, second.items), _swing(second.items, first.items))
        judged = None
        if first.judged is not None and second.judged is not None:
            # the residuals of two values that were regressed together
            residuals = second.judged.residuals - first.judged.residuals
            shift = second.judged.shift - first.judged.shift
            judged = _Judged(residuals, shift, first.judged.lost)
        target = _Target(
            second.value - first.value,
            second.moves - first.moves,
            None if self.disputed is None else swing * self.disputed,
            swing,
            first.empty & second.empty,
            second.miss - first.miss,
            min(first.missed, second.missed),
            np.zeros(0),
            judged,
        )
        most, known = span(self.metric), target.is_known(self.draw)
        limits = partial(_difference_limits, level=self.level, most=most, known=known)
        return self._narrower(target, (-most, most), limits)

    def _narrower(
        self, target: _Target, between: tuple[float, float], limits: _Limits
    ) -> Projection:
        """Estimate with the judge if the interval is no longer than without one."""
        unjudged = self._project(replace(target, judged=None), between, limits)
        if target.judged is None:
            return unjudged
        judged = self._project(target, between, limits)
        if not judged.high - judged.low <= unjudged.high - unjudged.low:
            return replace(unjudged, judge=_JudgeEffect(0.0, 1.0))
        old, new = unjudged.standard_error, judged.standard_error
        width = new / old if old > 0 else math.nan
        return replace(judged, judge=_JudgeEffect(judged.estimate - target.value, width))

    def _project(
        self, target: _Target, between: tuple[float, float], limits: _Limits
    ) -> Projection:
        draw, finite = self.draw, self.finite
        least = target.least(draw)
        spread = Spread(target.moves, draw, finite=finite, judged=target.judged, least=least)
        shift = 0.0 if target.judged is None else target.judged.shift
        value = float(np.clip(target.value + shift, *between))
        low, high = limits(value, spread)
        doubts = [*_find_doubts(spread, draw)] if low < high else []
        if target.judged is not None and target.judged.lost.any() and spread.variance > 0:
            # a judge with rare but large errors looks perfect in most samples: the lower bound
            # makes up much of the variance that it leaves
            seen = Spread(target.moves, draw, finite=finite, judged=target.judged)
            much = (1 - _NOTED_SHARE_OF_LOWER_BOUND) * spread.by_stratum.sum()
            if seen.by_stratum.sum() < much:
                doubts.append(_SELDOM_WRONG)
        return Projection(
            value,
            low,
            high,
            math.sqrt(spread.variance),
            spread.degrees_of_freedom,
            spread.design_effect,
            spread.worth,
            spread.by_stratum,
            None,
            () if math.isnan(value) else tuple(doubts),
        )


def target_of(counts: Counts, total: Counts, draw: Draw, metric: str, beta: float) -> _Target:
    """Compute the score of a system and the influence of every unit; NaN where it is undefined."""
    x, y = contributions(counts, metric, at=total, beta=beta)
    # what one item adds to numerator and denominator: tp, fp, fn and tn, in this order
    tp, fp, fn, tn = np.eye(4)
    rows = Counts(tp, fp, fn, None if total.tn is None else tn)
    item_x, item_y = map(np.asarray, contributions(rows, metric, at=total, beta=beta))
    top, below = contributions(total, metric, at=total, beta=beta)
    items = influence(item_x, item_y, top, below) if below > 0 else np.zeros(4)
    bottom, empty = draw.total(y), np.asarray(y == 0)
    if not bottom > 0:
        nothing = np.zeros(draw.labelled)
        return _Target(math.nan, nothing, nothing, 0.0, empty, 0.0, 0.0, items)
    value = draw.total(x) / bottom
    moves, reach = influence(x, y, draw.total(x), bottom), np.asarray(y / bottom)
    sizes, miss = item_y / bottom, float(items[2])
    item, missed = float(sizes.max()), float(sizes[2])
    return _Target(value, moves, reach, item, empty, miss, missed, items)


def _swing(of_a: Array, of_b: Array) -> float:
    """Return by how much a correct item that only B has returned changes the difference."""
    right, wrong, missed, left_alone = *of_b[:2], *of_a[2:]
    return abs(float((right - wrong) - (missed - left_alone)))


# --- A judge's opinion on every unit of the pool
# In every stratum the gold of the labelled units is regressed on the judge's opinion. The
# estimated total is that of the labelled units plus the slope times the difference between the
# judge's mean over the stratum and over its labelled units. An opinion unrelated to the gold has
# a slope near 0 and changes nothing; a constant bias cancels, since only differences between
# units are used (prediction-powered inference with a tuned slope; the regression estimator of
# survey sampling).

# Slopes are used only in strata with at least this many labelled units per slope
_FEWEST_UNITS_PER_SLOPE = 10
_COLLINEAR_BELOW = 1e-6  # relative singular value below which opinions count as collinear


@dataclass(frozen=True, eq=False)
class _Judged:
    """The values of labelled units after regression on a judge's opinion."""

    # one residual per labelled unit, as if the slopes had been estimated without the unit, times
    # its weight in the total: their variance is right even where a few units decide the slopes or
    # vary more than others
    residuals: Array
    shift: float  # what the judge adds to the estimated total
    lost: Array  # the degrees of freedom used by the slopes, by stratum; 0 without slopes


@dataclass(frozen=True, eq=False)
class Judge:
    """A judge's opinion on every unit of a pool, labelled or not."""

    counts: Sequence[Counts]  # of each system against the judge, one row per unit of the pool
    stratum: NDArray[np.intp]  # index of the stratum of every unit
    labelled: NDArray[np.intp]  # indices of the labelled units in the pool, as labelled

    def explain(
        self,
        scores: Sequence[tuple[float, Array]],
        totals: Sequence[Counts],
        draw: Draw,
        metric: str,
        beta: float,
    ) -> list[_Judged]:
        """Regress the influences of labelled units on those that the judge's opinion gives."""
        given = []
        for system_counts, (score, _), total in zip(self.counts, scores, totals, strict=True):
            x, y = contributions(system_counts, metric, at=total, beta=beta)
            _, bottom = contributions(total, metric, at=total, beta=beta)
            given.append((x - score * y) / bottom)
        # slopes within each stratum, on all systems' opinions so that differences agree
        opinions, values = np.stack(given, axis=1), np.stack([moves for _, moves in scores], axis=1)
        residuals, shift = values.copy(), np.zeros(values.shape[1])
        lost = np.zeros(len(draw.sizes))
        for h in np.flatnonzero((draw.rest > 0) & (draw.drawn > 0)):
            mine = draw.stratum == h
            known = opinions[self.labelled[mine]]
            x, y = known - known.mean(axis=0), values[mine] - values[mine].mean(axis=0)
            x[np.abs(x) <= _ROUNDING * np.abs(known).max()] = 0.0
            # nearly collinear opinions count once; the trace of a projection is its rank
            inverse, n = np.linalg.pinv(x, _COLLINEAR_BELOW), len(x)
            leverage = np.sum(inverse.T * x, axis=1)
            rank = round(leverage.sum())
            if not rank or n < _FEWEST_UNITS_PER_SLOPE * rank:
                continue
            slopes = inverse @ y
            off = opinions[self.stratum == h].mean(axis=0) - known.mean(axis=0)
            shift += draw.sizes[h] * off @ slopes
            lost[h] = rank
            # the weight of a unit divided by one minus its leverage; a unit that alone decides a
            # slope has leverage 1 and residual 0: avoid dividing by 0
            weight = (1 + n * (off @ inverse)) * (1 - 1 / n)
            left = np.maximum(1 - 1 / n - leverage, 1 / n)
            residuals[mine] = (y - x @ slopes) * (weight / left)[:, None]
        return [_Judged(residuals[:, k], float(shift[k]), lost) for k in range(len(shift))]


# --- Allocation: how many units to draw from each stratum


def allocate(
    sizes: ArrayLike, spreads: ArrayLike, n: int, least: ArrayLike = 0
) -> NDArray[np.int64]:
    """Return the integers n_h that sum to `n` and minimise the variance of a total."""
    # One more unit from stratum h lowers the variance by N_h² S_h² / (n_h (n_h + 1)), which falls
    # with n_h, so the greedy choice is optimal (T. Wright, The American Statistician 66, 2012).
    size = np.asarray(sizes, dtype=np.int64)
    gain = np.asarray(size * np.asarray(spreads), dtype=np.float64)
    drawn = np.minimum(np.broadcast_to(np.asarray(least, dtype=np.int64), size.shape), size).copy()
    if not drawn.sum() <= n <= size.sum():
        raise ValueError(f"{n} units; expected {drawn.sum()} to {size.sum()}")
    queue = [(_priority(gain[h], int(drawn[h])), h) for h in np.flatnonzero(drawn < size)]
    heapq.heapify(queue)
    for _ in range(n - int(drawn.sum())):
        _, h = heapq.heappop(queue)
        drawn[h] += 1
        if drawn[h] < size[h]:
            heapq.heappush(queue, (_priority(gain[h], int(drawn[h])), h))
    return drawn


def _priority(gain: float, drawn: int) -> tuple[int, float, float]:
    """Return the sort key of a stratum: undrawn strata first, then the largest drop in variance."""
    # without variance, the stratum with the fewest drawn units comes first
    if drawn == 0 and gain > 0:
        return 0, -gain, 0
    return 1, -(gain**2) / max(1, drawn * (drawn + 1)), drawn


def sampling_variance(sizes: ArrayLike, spreads: ArrayLike, drawn: ArrayLike) -> float:
    """Compute the variance of a total if `drawn` units are drawn from each stratum."""
    size, spread, number = (np.asarray(x, dtype=np.float64) for x in (sizes, spreads, drawn))
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = (size * spread) ** 2 * (1 / number - 1 / size)
    return float(np.where(size * spread == 0, 0, parts).sum())


def worth_in_random_units(variance: float, spread: float, size: int) -> float:
    """Return the number of simple random units that give a total this variance."""
    # N² S² (1/n - 1/N) = V
    return 1 / (variance / (size * spread) ** 2 + 1 / size) if spread else math.nan
