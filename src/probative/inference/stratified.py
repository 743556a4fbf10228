"""Estimate scores of a pool from a sample drawn at random within strata."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import flag, one_of, open_probability
from probative.counts import Counts, counts_of
from probative.errors import InputError
from probative.inference.proportions import wilson
from probative.inference.units import influence, student_quantile
from probative.metrics import METRICS, bounds, contributions, span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from probative._validation import Array


# -----------------------------------------------------------------------------
# The total of a pool of units from a sample that was drawn at random within strata.
#
# Every unit drawn stands for N_h/n_h units of its stratum, N_h the number of units that the
# stratum has and n_h that of the units drawn from it. The variance of the total is the sum over
# the strata of N_h²·(1 - n_h/N_h)·s_h²/n_h: what all units of a stratum have in common costs
# nothing.
# -----------------------------------------------------------------------------

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Draw:
    """Units drawn at random within strata.

    Attributes
    ----------
    stratum
        The number of the stratum of every labelled unit, from 0.
    sizes
        How many units of the pool every stratum has.

    Examples
    --------
    >>> from probative.inference.stratified import Draw
    >>> draw = Draw.of([0, 0, 1, 1, 1], [10, 3])
    >>> draw.total([1, 0, 2, 2, 3])
    12.0
    """

    stratum: NDArray[np.intp]
    sizes: Array

    @classmethod
    def of(cls, stratum: ArrayLike, sizes: ArrayLike) -> Draw:
        """Check what is given: units of every stratum that has any, and not more than it has."""
        own = np.asarray(stratum)
        all_ = np.asarray(sizes, dtype=np.float64)
        if own.ndim != 1 or all_.ndim != 1:
            raise InputError(
                f"stratum: shapes {own.shape} and {all_.shape} of sizes; expected two rows"
            )
        if not own.size:
            raise InputError("stratum: no labelled unit; expected at least one")
        if own.dtype.kind not in "iu" or own.min() < 0 or own.max() >= len(all_):
            raise InputError(f"stratum: expected whole numbers from 0 to {len(all_) - 1}")
        if not np.all(np.isfinite(all_) & (all_ >= 0) & (all_ == np.rint(all_))):
            raise InputError("sizes: expected numbers of units, 0 or more")
        draw = cls(own.astype(np.intp), all_)
        few = np.flatnonzero((draw.drawn == 0) & (all_ > 0))
        if few.size:
            raise InputError(
                f"stratum: no unit of {few.size} strata with {all_[few].sum():,.0f} units is "
                f"labelled, the first being number {few[0]}; expected units of each"
            )
        many = np.flatnonzero(draw.drawn > all_)
        if many.size:
            raise InputError(
                f"stratum: {draw.drawn[many[0]]:g} units of stratum {many[0]}, which has "
                f"{all_[many[0]]:g}; expected no more"
            )
        return draw

    @cached_property
    def drawn(self) -> Array:
        """How many units of every stratum are labelled."""
        return np.bincount(self.stratum, minlength=len(self.sizes)).astype(np.float64)

    @cached_property
    def weights(self) -> Array:
        """How many units of the pool every labelled unit stands for."""
        return (self.sizes[self.stratum]) / self.drawn[self.stratum]

    @property
    def rest(self) -> Array:
        """The share of every stratum that is not labelled."""
        return 1 - np.divide(
            self.drawn, self.sizes, out=np.ones_like(self.sizes), where=self.sizes > 0
        )

    @property
    def lonely(self) -> NDArray[np.bool_]:
        """Of which strata a single unit of several is labelled."""
        return np.asarray((self.drawn == 1) & (self.sizes > 1))

    @property
    def pool(self) -> float:
        """How many units there are."""
        return float(self.sizes.sum())

    @property
    def labelled(self) -> int:
        """How many of them are labelled."""
        return len(self.stratum)

    def total(self, values: ArrayLike) -> float:
        """The total over the pool of something that every labelled unit has."""
        return float(self.weights @ np.asarray(values, dtype=np.float64))

    def means(self, values: Array) -> Array:
        """The mean of every stratum; 0 where nothing was drawn."""
        sums = np.bincount(self.stratum, weights=values, minlength=len(self.sizes))
        return sums / np.maximum(self.drawn, 1)


@dataclass(frozen=True)
class _Spread:
    """How far a total over the pool is known from a stratified sample.

    Attributes
    ----------
    variance, degrees_of_freedom
        Of the total, and how well the strata tell it (Satterthwaite); no degrees of freedom where
        they tell nothing.
    unit_variance
        The variance of the units of the whole pool about their mean, estimated without bias from
        the strata: what simply random units would have to do with.
    by_stratum
        What each stratum adds to the variance.
    """

    variance: float
    degrees_of_freedom: float
    unit_variance: float
    by_stratum: Array

    def worth(self, draw: Draw, *, finite: bool = True) -> float:
        """How many units drawn simply at random would tell the total as well; NaN if unknown.

        It is the same for the pool and beyond it: n units of N have the variance
        N²·(1/n - 1/N)·S² there and N²/n·S² here.
        """
        pool, unit = draw.pool, self.unit_variance
        if not unit > 0:
            return pool if finite and not np.any(draw.rest > 0) else math.nan
        return pool**2 * unit / (self.variance + (pool * unit if finite else 0.0))

    def design_effect(self, draw: Draw, *, finite: bool = True) -> float:
        """The variance, over that of as many simply random units; NaN if unknown."""
        pool, n = draw.pool, draw.labelled
        random = pool**2 * (1 / n - (1 / pool if finite else 0.0)) * self.unit_variance
        return self.variance / random if random > 0 else math.nan


def spread_of(
    values: ArrayLike,
    draw: Draw,
    *,
    finite: bool = True,
    judged: _Judged | None = None,
    least: Array | None = None,
) -> _Spread:
    """How far the total of `values` over the pool (`finite`) or beyond it is known.

    Parameters
    ----------
    values
        One per labelled unit.
    draw
        Their strata.
    finite
        Whether the pool is all that matters. Beyond it, the pool is a random sample of N units
        itself, which adds N times the variance of its units.
    judged
        What a judge leaves of the values; by default all of it.
    least
        By stratum, the least variance that its units are taken to have; by default none.

    Examples
    --------
    >>> from probative.inference.stratified import Draw, spread_of
    >>> spread = spread_of([1, 0, 2, 2, 3], Draw.of([0, 0, 1, 1, 1], [10, 3]))
    >>> spread.variance, spread.degrees_of_freedom
    (20.0, 1.0)
    """
    own = np.asarray(values, dtype=np.float64)
    left = own if judged is None else judged.residuals
    n, size = draw.drawn, draw.sizes
    unit, freedom = _variances(left, draw, None if judged is None else judged.lost, least)
    chance = np.divide(size**2 * unit, n, out=np.zeros_like(n), where=n > 0)
    parts = chance * draw.rest
    alone, _ = _variances(own, draw, None, least)
    within = float(np.maximum(size - 1, 0) @ alone) / max(draw.pool - 1, 1)
    all_units = max(
        unit_variance(own, draw, least), within
    )  # strata never differ less than not at all
    variance = float(parts.sum()) + (0.0 if finite else draw.pool * all_units)
    squared = (parts if finite else chance) ** 2
    doubt = float(np.divide(squared, freedom, out=np.zeros_like(n), where=freedom > 0).sum())
    known = variance**2 / doubt if doubt > 0 else 0.0
    return _Spread(variance, known, all_units, parts)


def unit_variance(values: ArrayLike, draw: Draw, least: Array | None = None) -> float:
    """The variance of all units of the pool, without bias: within strata and between them.

    The squared distance of a stratum's mean from that of all is too large by what both vary.

    Parameters
    ----------
    values
        One per labelled unit.
    draw
        Their strata.
    least
        As for `spread_of`; without it there is no bias.
    """
    own, size, pool = np.asarray(values, dtype=np.float64), draw.sizes, draw.pool
    if pool <= 1:
        return 0.0
    unit, _ = _variances(own, draw, None, least)
    error = np.divide(unit * draw.rest, draw.drawn, out=np.zeros_like(unit), where=draw.drawn > 0)
    apart = draw.means(own) - draw.total(own) / pool
    between = float(size @ (apart**2 - error)) + float(size**2 @ error) / pool
    return (float(np.maximum(size - 1, 0) @ unit) + between) / (pool - 1)


def _variances(
    values: Array, draw: Draw, lost: Array | None = None, least: Array | None = None
) -> tuple[Array, Array]:
    """The variance of the units of every stratum, and its degrees of freedom.

    Where one unit of several is labelled, they are taken to vary as all labelled units do,
    whatever their stratum: rather too much than too little.
    """
    freedom = np.maximum(draw.drawn - 1 - (0.0 if lost is None else lost), 0.0)
    squares = _squares(values, draw)
    unit = squares / np.maximum(draw.drawn - 1, 1)
    lonely = draw.lonely
    if lonely.any() and draw.labelled > 1:
        together = Draw(np.zeros(draw.labelled, np.intp), np.array([float(draw.labelled)]))
        unit[lonely] = float(_squares(values, together)[0]) / (draw.labelled - 1)
        freedom[lonely] = 1.0
    return (unit if least is None else np.maximum(unit, least)), freedom


def _squares(values: Array, draw: Draw) -> Array:
    """The sum of squares about the mean, by stratum; what is rounding is 0."""
    apart = values - draw.means(values)[draw.stratum]
    apart[np.abs(apart) <= _ROUNDING * np.abs(values).max()] = 0.0
    return np.bincount(draw.stratum, apart**2, len(draw.sizes)).astype(np.float64)


# -----------------------------------------------------------------------------
# Intervals of what a stratified sample shows of a pool, and what they rest on.
# -----------------------------------------------------------------------------

_ONE_UNIT = "one unit: no evidence of how others would come out, so the limits are all there is"
_ALIKE = (
    "all labelled units are alike: no evidence of how others would differ, so the limits are all "
    "there is"
)
_SELDOM_WRONG = (
    "the judge is hardly ever wrong in labelled units, which says little of how far it is in "
    "others: the interval may be too short"
)


def _score_limits(
    value: float,
    spread: _Spread,
    even_units: float,
    level: float,
    *,
    between: tuple[float, float] = (0.0, 1.0),
) -> tuple[float, float]:
    """Wilson's limits of a share that so many independent items would tell as well.

    Parameters
    ----------
    value, spread
        The score, and how far it is known.
    even_units
        How many units of equal weight tell it: the items, where all units are alike.
    level
        The nominal coverage.
    between
        The least and the most that the score can be.
    """
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
        far = t * math.sqrt(spread.variance) / (high - low)
        items = min(items, t**2 * (1 / far - 1)) if far < 1 else 0.0
    if not items > 0:
        return low, high
    least, most = wilson(share * items, items, t)
    return low + (high - low) * float(least), low + (high - low) * float(most)


def _difference_limits(
    value: float, spread: _Spread, level: float, most: float = 1.0, *, known: bool = False
) -> tuple[float, float]:
    """Student's limits of a difference; all that it can be where nothing tells how far it varies.

    Parameters
    ----------
    value, spread
        The difference, and how far it is known.
    level
        The nominal coverage.
    most
        By how much two scores can differ.
    known
        Whether nothing that is not labelled can change it.
    """
    if math.isnan(value):
        return -most, most
    if not spread.variance > 0 and known:
        return value, value
    if not spread.degrees_of_freedom > 0:
        return -most, most
    reach = float(student_quantile(level, spread.degrees_of_freedom)) * math.sqrt(spread.variance)
    return max(-most, value - reach), min(most, value + reach)


def _find_doubts(spread: _Spread, draw: Draw) -> Iterator[str]:
    """Say what the interval rests on, where the design leaves units without evidence.

    Parameters
    ----------
    spread, draw
        How far something is known, and from which units.
    """
    if not spread.degrees_of_freedom > 0:
        if np.any(draw.rest > 0):
            yield _ONE_UNIT if draw.labelled == 1 else _ALIKE
        return
    lonely = int(np.count_nonzero(draw.lonely))
    if lonely:
        strata = "1 stratum has" if lonely == 1 else f"{lonely} strata have"
        yield (
            f"{strata} one labelled unit of several: its others are taken to vary as all "
            f"labelled units do"
        )


# -----------------------------------------------------------------------------
# What labelled units tell of a pool comes back as a `Projection`.
# -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _JudgeEffect:
    """What a judge has changed.

    Attributes
    ----------
    moved
        The estimate, less that of the labels alone.
    width
        The standard error, over that of the labels alone.
    strata
        In how many strata the judge was listened to: elsewhere too few units are labelled, or the
        judge says the same of all of them.
    """

    moved: float
    width: float
    strata: int


@dataclass(frozen=True)
class Projection:
    """A score of a pool, or a difference of two, as labelled units tell it.

    Attributes
    ----------
    estimate, low, high
        The estimate and its limits.
    standard_error, degrees_of_freedom
        How far it is known, and how well that is; no degrees of freedom without evidence.
    design_effect
        The variance, over that of as many units drawn simply at random from the pool.
    worth
        How many units drawn simply at random would tell it as well, analysed in the usual way.
    by_stratum
        What each stratum adds to the variance.
    judge
        What a judge has changed; None without one.
    notes
        Why the limits may be too narrow; empty where nothing speaks against them.
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    degrees_of_freedom: float
    design_effect: float
    worth: float
    by_stratum: Array
    judge: _JudgeEffect | None = None
    notes: tuple[str, ...] = ()

    @property
    def no_evidence(self) -> bool:
        """Whether nothing tells how far the estimate may be off."""
        return not self.degrees_of_freedom > 0 and self.low < self.high


if TYPE_CHECKING:
    _Limits = Callable[[float, _Spread], tuple[float, float]]


_MOST_UNSEEN = 3  # what none of n units shows is so many times 1/n of all, at most (at 0.95)
_LEANING = 0.25  # of the variance that labels have not shown, from which on a note says so


def influences(
    counts: Counts, draw: Draw, metric: str = "f1", *, beta: float = 1.0
) -> tuple[float, Array]:
    """The score of the pool, and what every labelled unit moves it by: (x - F·y)/Y.

    Parameters
    ----------
    counts
        One row per labelled unit.
    draw
        Their strata.
    metric, beta
        The score.

    Returns
    -------
    score, moves
        NaN and zeros where the score is undefined.
    """
    target = _target(counts, _projected(counts, draw), draw, metric, beta)
    return target.value, target.moves


def _projected(counts: Counts, draw: Draw) -> Counts:
    """The counts of the pool."""
    return (counts * draw.weights).sum()


@dataclass(frozen=True, eq=False)
class _Target:
    """A score, or a difference of two: what is known of a total over the pool.

    Attributes
    ----------
    value, moves
        The estimate, and what every labelled unit moves it by.
    reach
        How far every labelled unit could have moved it at most; None where that is not known.
    item
        How far a single item could have moved it at most.
    empty
        In which labelled units nothing counts.
    miss, missed
        What an item moves it by that nobody has returned, and its share of the denominator.
    judged
        What a judge leaves of the moves; None without one.
    """

    value: float
    moves: Array
    reach: Array | None
    item: float
    empty: NDArray[np.bool_]
    miss: float
    missed: float
    judged: _Judged | None = None

    @property
    def shifted(self) -> float:
        """The estimate, with what the judge adds to it."""
        return self.value + (0.0 if self.judged is None else self.judged.shift)

    def spread(self, draw: Draw, *, finite: bool) -> _Spread:
        """How far the estimate is known."""
        least = self._least(draw)
        return spread_of(self.moves, draw, finite=finite, judged=self.judged, least=least)

    def is_known(self, draw: Draw) -> bool:
        """Whether nothing that is not labelled can move it.

        Of each stratum all is labelled, or nothing counts in what is, and a missed item is nothing.
        """
        if not np.any(draw.rest > 0):
            return True
        return not self.miss and not np.any(draw.rest[draw.stratum[~self.empty]] > 0)

    def leans_on_the_least(self, spread: _Spread, draw: Draw, *, finite: bool) -> bool:
        """Whether a judge leaves so little that a good part of the spread is the least there is.

        A judge who errs seldom, but far, looks perfect in most samples, and the least variance of
        units that all came out alike knows nothing of such errors.
        """
        if self.judged is None or not self.judged.lost.any() or not spread.variance > 0:
            return False
        seen = spread_of(self.moves, draw, finite=finite, judged=self.judged)
        return bool(seen.by_stratum.sum() < (1 - _LEANING) * spread.by_stratum.sum())

    def _least(self, draw: Draw) -> Array | None:
        """The least variance of the units of every stratum: as if half a unit more had gone wrong.

        Units that all came out alike do not say that all others would. A unit of many items does
        not go wrong as a whole: the square of what it moves is taken between that of the unit and
        that of one item. Where nothing is to be found in any labelled unit of a stratum, the rule
        of three bounds how many of the others may hold an item; the 0.95 interval reaches so far.
        """
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
            most = np.minimum(1.0, _MOST_UNSEEN / n) * rest * size
            far = self.miss * most / (1 + self.missed * most)
            t = student_quantile(0.95, np.maximum(n - 1, 1))
            least[unseen] = (far / t / size) ** 2 * n / rest
        return least


@dataclass(frozen=True, eq=False)
class PoolScores:
    """The scores of systems in a pool, in one metric; `score` and `difference` tell them.

    Attributes
    ----------
    draw
        The strata of the labelled units.
    metric, level
        The score, and the nominal coverage of limits.
    finite
        Whether the pool is all that matters; else it is taken for a random sample of what does.
    disputed
        How many items of every labelled unit some systems have returned and others have not; None
        where that is not known.
    """

    draw: Draw
    metric: str
    level: float
    finite: bool
    disputed: Array | None
    _targets: tuple[_Target, ...]
    _item_moves: tuple[Array, ...]

    @classmethod
    def of(
        cls,
        systems: Sequence[Counts],
        draw: Draw,
        metric: str = "f1",
        *,
        level: float = 0.95,
        beta: float = 1.0,
        finite: bool = True,
        judge: Judge | None = None,
        disputed: ArrayLike | None = None,
    ) -> PoolScores:
        """Project the counts of labelled units to their pool.

        Parameters
        ----------
        systems
            The counts of each system, one row per labelled unit.
        draw
            The strata of the units.
        metric, beta
            The score.
        level
            The nominal coverage of limits.
        finite
            Whether the pool is all that matters; else it is taken for a random sample of what does.
        judge
            Somebody's opinion on all units of the pool.
        disputed
            How many items of every labelled unit some systems have returned and others have not,
            where that is known: differences are then taken to vary as if half a unit more of
            every stratum had gone the other way.
        """
        one_of("metric", metric, METRICS)
        level, finite = open_probability("level", level), flag("finite", finite)
        for number, counts in enumerate(systems):
            if counts_of(f"systems[{number}]", counts).shape != (draw.labelled,):
                raise InputError(
                    f"systems[{number}]: counts of shape {counts.shape}; expected one row for each "
                    f"of the {draw.labelled:,} labelled units"
                )
        totals = [_projected(counts, draw) for counts in systems]
        items = [_item_moves(total, metric, beta) for total in totals]
        targets = [
            _target(counts, total, draw, metric, beta, float(own[2]))
            for counts, total, own in zip(systems, totals, items, strict=True)
        ]
        if judge is not None and not any(math.isnan(target.value) for target in targets):
            opinions = judge.explain(
                [(t.value, t.moves) for t in targets], totals, draw, metric, beta
            )
            targets = [replace(t, judged=own) for t, own in zip(targets, opinions, strict=True)]
        apart = None if disputed is None else np.asarray(disputed, dtype=np.float64)
        return cls(draw, metric, level, finite, apart, tuple(targets), tuple(items))

    def score(self, system: int = 0) -> Projection:
        """The score of a system."""
        target, between = self._targets[system], bounds(self.metric)

        def limits(value: float, spread: _Spread) -> tuple[float, float]:
            even_units = self._even_units(target)
            return _score_limits(value, spread, even_units, self.level, between=between)

        return self._narrower(target, between, limits)

    def difference(self, a: int = 0, b: int = 1) -> Projection:
        """The score of system `b` minus that of system `a`."""
        target, most = self._difference(a, b), span(self.metric)
        known = target.is_known(self.draw)

        def limits(value: float, spread: _Spread) -> tuple[float, float]:
            return _difference_limits(value, spread, self.level, most, known=known)

        return self._narrower(target, (-most, most), limits)

    def _narrower(
        self, target: _Target, between: tuple[float, float], limits: _Limits
    ) -> Projection:
        """Project with the judge, if there is one and the interval is no wider for it."""
        alone = self._project(replace(target, judged=None), between, limits)
        if target.judged is None:
            return alone
        found = self._project(target, between, limits)
        if not found.high - found.low <= alone.high - alone.low:
            return replace(alone, judge=_JudgeEffect(0.0, 1.0, 0))
        old, new = alone.standard_error, found.standard_error
        strata = int(np.count_nonzero(target.judged.lost))
        effect = _JudgeEffect(
            found.estimate - target.value, new / old if old > 0 else math.nan, strata
        )
        return replace(found, judge=effect)

    def _difference(self, a: int, b: int) -> _Target:
        first, second = self._targets[a], self._targets[b]
        swing = max(_swing(self._item_moves[k], self._item_moves[m]) for k, m in ((a, b), (b, a)))
        judged = None
        if first.judged is not None and second.judged is not None:
            judged = second.judged - first.judged
        return _Target(
            second.value - first.value,
            second.moves - first.moves,
            None if self.disputed is None else swing * self.disputed,
            swing,
            first.empty & second.empty,
            second.miss - first.miss,
            min(first.missed, second.missed),
            judged,
        )

    def _even_units(self, target: _Target) -> float:
        """How many units of equal weight the labelled ones are worth (Kish).

        Units that stand for nothing beyond themselves, since all of their stratum are labelled,
        leave nothing open.
        """
        weight = self.draw.weights * (0.0 if target.reach is None else target.reach)
        left = self.draw.rest[self.draw.stratum] if self.finite else np.ones_like(weight)
        open_ = float(left @ weight**2)
        return float(weight.sum()) ** 2 / open_ if open_ > 0 else math.inf

    def _project(
        self, target: _Target, between: tuple[float, float], limits: _Limits
    ) -> Projection:
        draw, finite = self.draw, self.finite
        spread = target.spread(draw, finite=finite)
        value = float(np.clip(target.shifted, *between))
        low, high = limits(value, spread)
        doubts = [*_find_doubts(spread, draw)] if low < high else []
        if target.leans_on_the_least(spread, draw, finite=finite):
            doubts.append(_SELDOM_WRONG)
        return Projection(
            value,
            low,
            high,
            math.sqrt(spread.variance),
            spread.degrees_of_freedom,
            spread.design_effect(draw, finite=finite),
            spread.worth(draw, finite=finite),
            spread.by_stratum,
            None,
            () if math.isnan(value) else tuple(doubts),
        )


def _target(
    counts: Counts, total: Counts, draw: Draw, metric: str, beta: float, miss: float = 0.0
) -> _Target:
    """The score of a system; NaN where it is undefined."""
    x, y = contributions(counts, metric, at=total, beta=beta)
    bottom, empty = draw.total(y), np.asarray(y == 0)
    if not bottom > 0:
        nothing = np.zeros(draw.labelled)
        return _Target(math.nan, nothing, nothing, 0.0, empty, 0.0, 0.0)
    value = draw.total(x) / bottom
    moves, reach = influence(x, y, draw.total(x), bottom), np.asarray(y / bottom)
    _, sizes = _items(total, metric, beta) / bottom
    return _Target(value, moves, reach, float(sizes.max()), empty, miss, float(sizes[2]))


def _swing(of_a: Array, of_b: Array) -> float:
    """What an item that only B has returned moves the difference by, if it is right."""
    (_, _, missed, left_alone), (right, wrong, _, _) = of_a, of_b
    return abs(float((right - wrong) - (missed - left_alone)))


def _item_moves(total: Counts, metric: str, beta: float) -> Array:
    """What one item moves a score by: a true positive, a false one, a missed one, none."""
    x, y = _items(total, metric, beta)
    top, bottom = contributions(total, metric, at=total, beta=beta)
    return influence(x, y, top, bottom) if bottom > 0 else np.zeros(4)


def _items(total: Counts, metric: str, beta: float) -> Array:
    """What one item adds to numerator and denominator: a true positive, a false one, and so on."""
    kinds = np.eye(4)
    rows = Counts(kinds[0], kinds[1], kinds[2], None if total.tn is None else kinds[3])
    return np.array(contributions(rows, metric, at=total, beta=beta), dtype=np.float64)


def project_score(counts: Counts, draw: Draw, metric: str = "f1", **how: Any) -> Projection:
    """The score of one system in a pool, as `PoolScores` tells it.

    Parameters
    ----------
    counts
        One row per labelled unit.
    draw
        Their strata.
    metric
        The score.
    **how
        As for `PoolScores.of`.

    Examples
    --------
    >>> import probative as pv
    >>> from probative.inference.stratified import Draw, project_score
    >>> counts = pv.Counts(tp=[2, 1, 1, 0, 3, 2], fp=[0, 1, 0, 2, 0, 1], fn=[0, 0, 1, 1, 0, 1])
    >>> found = project_score(counts, Draw.of([0, 0, 0, 1, 1, 1], [40, 10]))
    >>> print(f"{found.estimate:.3f} [{found.low:.3f}, {found.high:.3f}]")
    0.764 [0.344, 0.952]
    """
    return PoolScores.of([counts], draw, metric, **how).score()


def project_difference(
    a: Counts, b: Counts, draw: Draw, metric: str = "f1", **how: Any
) -> Projection:
    """The score of B minus that of A in a pool, as `PoolScores` tells it.

    Parameters
    ----------
    a, b
        The counts of either system, one row per labelled unit.
    draw
        The strata of the units.
    metric
        The score.
    **how
        As for `PoolScores.of`.

    Examples
    --------
    >>> import probative as pv
    >>> from probative.inference.stratified import Draw, project_difference
    >>> a = pv.Counts(tp=[2, 1, 1, 0, 3, 2], fp=[0, 1, 0, 2, 0, 1], fn=[0, 0, 1, 1, 0, 1])
    >>> b = pv.Counts(tp=[2, 1, 2, 1, 3, 2], fp=[0, 1, 0, 1, 0, 1], fn=[0, 0, 0, 0, 0, 1])
    >>> found = project_difference(a, b, Draw.of([0, 0, 0, 1, 1, 1], [40, 10]))
    >>> print(f"{found.estimate:+.3f} [{found.low:+.3f}, {found.high:+.3f}]")
    +0.118 [-0.177, +0.412]
    """
    return PoolScores.of([a, b], draw, metric, **how).difference()


# -----------------------------------------------------------------------------
# A judge's opinion on every unit of a pool, used to sharpen what few labels tell.
#
# In every stratum the labelled units tell how far the truth follows the judge: a regression slope.
# The total over the pool is that of the labelled units plus the slope times what the judge knows
# of the others. An opinion that has nothing to do with the truth has a slope near 0 and changes
# nothing; a biased one cancels, since only how the judge differs between units is used
# (prediction-powered inference with a tuned slope; the regression estimator of survey sampling).
# -----------------------------------------------------------------------------

# Labelled units of a stratum below which its slopes are not trusted: so many per slope
_PER_SLOPE = 10
_ALL_BUT_EQUAL = 1e-6


@dataclass(frozen=True, eq=False)
class _Judged:
    """What a judge leaves of the values of labelled units.

    Attributes
    ----------
    residuals
        One per labelled unit: what would be left of it if the slopes had been found without it,
        weighed by how much the unit counts in the total. Their variance is that of the total also
        where a few units make the slopes, or vary more than others.
    shift
        What the judge adds to the total over the pool.
    lost
        By stratum, the degrees of freedom that the slopes took; 0 where there are none.
    """

    residuals: Array
    shift: float
    lost: Array

    def __sub__(self, other: _Judged) -> _Judged:
        """Of the difference of two values that were judged by the same slopes."""
        return _Judged(self.residuals - other.residuals, self.shift - other.shift, self.lost)


@dataclass(frozen=True, eq=False)
class Judge:
    """What somebody says of every unit of a pool, labelled or not.

    Attributes
    ----------
    counts
        The counts of each system against the judge's opinion, one row per unit of the pool.
    stratum
        The number of the stratum of every unit.
    labelled
        The numbers of the labelled units in the pool, in the order of their labels.
    """

    counts: tuple[Counts, ...]
    stratum: NDArray[np.intp]
    labelled: NDArray[np.intp]

    @classmethod
    def of(cls, counts: Sequence[Counts], stratum: Any, labelled: Any, draw: Draw) -> Judge:
        """Check that the pool is that of the draw."""
        strata, rows = np.asarray(stratum), np.asarray(labelled)
        if any(own.shape != strata.shape for own in counts):
            raise InputError(
                f"judge: counts of {[own.shape for own in counts]} units; expected {strata.shape}"
            )
        sizes = np.bincount(strata, minlength=len(draw.sizes))
        if not np.array_equal(sizes, draw.sizes) or not np.array_equal(strata[rows], draw.stratum):
            raise InputError("judge: other strata than those of the labelled units")
        return cls(tuple(counts), strata.astype(np.intp), rows.astype(np.intp))

    def explain(
        self,
        scores: Sequence[tuple[float, Array]],
        totals: Sequence[Counts],
        draw: Draw,
        metric: str,
        beta: float,
    ) -> list[_Judged]:
        """What is left of what units move scores by, the judge's opinion of them being known.

        Parameters
        ----------
        scores
            Of every system its score, and what every labelled unit moves it by.
        totals
            The counts of the pool without the judge.
        draw
            The strata of the labelled units.
        metric, beta
            The score.
        """
        opinions = []
        for own, (score, _), total in zip(self.counts, scores, totals, strict=True):
            x, y = contributions(own, metric, at=total, beta=beta)
            _, bottom = contributions(total, metric, at=total, beta=beta)
            opinions.append((x - score * y) / bottom)
        values = np.stack([moves for _, moves in scores], axis=1)
        return self._regress(values, np.stack(opinions, axis=1), draw)

    def _regress(self, values: Array, opinions: Array, draw: Draw) -> list[_Judged]:
        """Slopes within each stratum; all systems' opinions explain each, so differences agree."""
        residuals, shift = values.copy(), np.zeros(values.shape[1])
        lost = np.zeros(len(draw.sizes))
        for h in np.flatnonzero((draw.rest > 0) & (draw.drawn > 0)):
            mine = draw.stratum == h
            known = opinions[self.labelled[mine]]
            x, y = known - known.mean(axis=0), values[mine] - values[mine].mean(axis=0)
            x[np.abs(x) <= _ROUNDING * np.abs(known).max()] = 0.0
            inverse, rank = _inverse_of_squares(x)
            if not rank or len(x) < _PER_SLOPE * rank:
                continue
            slopes = inverse @ x.T @ y
            off = opinions[self.stratum == h].mean(axis=0) - known.mean(axis=0)
            shift += draw.sizes[h] * off @ slopes
            lost[h] = rank
            residuals[mine] = (y - x @ slopes) * _counted_without(x, inverse, off)[:, None]
        return [_Judged(residuals[:, k], float(shift[k]), lost) for k in range(len(shift))]


def _inverse_of_squares(x: Array) -> tuple[Array, int]:
    """The inverse of x'x, and how many slopes there are: all but equal opinions count once."""
    _, lengths, axes = np.linalg.svd(x, full_matrices=False)
    kept = (lengths > 0) & (lengths > _ALL_BUT_EQUAL * lengths[0])
    along = axes[kept] / lengths[kept, None]
    return along.T @ along, int(kept.sum())


def _counted_without(x: Array, inverse: Array, off: Array) -> Array:
    """What to multiply residuals by: the weight of a unit, over what it has of its own slopes."""
    n = len(x)
    weight = 1 + n * (x @ inverse @ off)
    leverage = 1 / n + np.einsum("ij,jk,ik->i", x, inverse, x)
    # a unit that a slope rests on alone has no residual, and says nothing about it
    return np.asarray(weight * (1 - 1 / n) / np.maximum(1 - leverage, 1 / n))


# -----------------------------------------------------------------------------
# How many units to draw from each stratum: the whole numbers with the least variance.
# -----------------------------------------------------------------------------


def allocate(
    sizes: ArrayLike, spreads: ArrayLike, n: int, least: ArrayLike = 0
) -> NDArray[np.int64]:
    """The whole numbers n_h that add up to `n` and make the variance of a total least.

    The variance is the sum of N_h² S_h² (1/n_h - 1/N_h). One more unit from stratum h lowers it by
    N_h² S_h² / (n_h (n_h + 1)), and ever less: so the best unit is taken, time and again, which
    gives the best numbers of all, not rounded ones (Wright 2012).

    Parameters
    ----------
    sizes, spreads
        The number N_h of units in each stratum, and their standard deviation S_h.
    n
        How many to draw, from the sum of `least` to the sum of `sizes`.
    least
        How many to draw from each at least: what was drawn already, for instance.

    References
    ----------
    T. Wright, "The equivalence of Neyman optimum allocation for sampling and equal proportions for
    apportioning the U.S. House of Representatives", The American Statistician 66, 2012.
    """
    size = np.asarray(sizes, dtype=np.int64)
    gain = np.asarray(size * np.asarray(spreads, dtype=np.float64), dtype=np.float64)
    drawn = np.minimum(np.broadcast_to(np.asarray(least, dtype=np.int64), size.shape), size).copy()
    if not drawn.sum() <= n <= size.sum():
        raise ValueError(f"{n} units; expected {drawn.sum()} to {size.sum()}")
    drawn = _towards(gain, size, drawn, n)
    queue = [(_priority(gain[h], int(drawn[h])), h) for h in range(len(size)) if drawn[h] < size[h]]
    heapq.heapify(queue)
    for _ in range(n - int(drawn.sum())):
        h = queue[0][1]
        drawn[h] += 1
        if drawn[h] < size[h]:
            heapq.heapreplace(queue, (_priority(gain[h], int(drawn[h])), h))
        else:
            heapq.heappop(queue)
    return drawn


def _priority(gain: float, drawn: int) -> tuple[int, float, float]:
    """Who is next: a stratum of which nothing is known, then whoever lowers the variance most.

    Among strata in which all units are alike, the one with the fewest.
    """
    if drawn == 0 and gain > 0:
        return 0, -gain, 0
    return 1, -(gain**2) / max(1, drawn * (drawn + 1)), drawn


def _towards(
    gain: NDArray[np.float64], size: NDArray[np.int64], drawn: NDArray[np.int64], n: int
) -> NDArray[np.int64]:
    """Numbers below the best ones but near them, so that few are left to be taken one by one.

    Taking the best unit time and again stops at a common level of gain/sqrt(n_h (n_h + 1)): all
    numbers that a higher level gives are surely passed on the way.
    """
    low, high = 0.0, float(gain.max(initial=0.0))
    if high == 0:
        return drawn
    best = drawn
    for _ in range(60):
        level = (low + high) / 2
        # the largest m with gain/sqrt(m (m - 1)) >= level: unit m is taken at that level
        reached = np.floor(0.5 + np.sqrt(0.25 + (gain / level) ** 2))
        reached = np.where(gain > 0, np.minimum(reached, size), 0).astype(np.int64)
        taken = np.maximum(drawn, reached)
        if taken.sum() <= n:
            best, high = taken, level
        else:
            low = level
    return best


def sampling_variance(
    sizes: ArrayLike, spreads: ArrayLike, drawn: ArrayLike, *, finite: bool = True
) -> float:
    """The variance of an estimated total, if so many units are drawn from each stratum.

    Parameters
    ----------
    sizes, spreads, drawn
        Of each stratum the number of units, their standard deviation, and how many are drawn.
    finite
        Whether the total is that of these units; without, of others like them.
    """
    size, spread, number = (np.asarray(x, dtype=np.float64) for x in (sizes, spreads, drawn))
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = (size * spread) ** 2 * (1 / number - (1 / size if finite else 0))
    parts = np.where(size * spread == 0, 0, parts)
    return float(parts.sum())


def worth_in_random_units(variance: float, spread: float, size: int) -> float:
    """How many random units of a pool would give a total the same variance.

    Parameters
    ----------
    variance
        That of the total, with the sample as it is.
    spread
        The standard deviation among all units of the pool.
    size
        How many units the pool has.
    """
    if spread == 0:
        return float("nan")
    # N² S² (1/n - 1/N) = V
    return 1 / (variance / (size * spread) ** 2 + 1 / size)
