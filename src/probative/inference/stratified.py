"""Scores of a pool of units from a sample that was drawn at random within strata.

A score is a ratio F = X/Y of sums over the units; what a unit moves it by is z = (x - F·y)/Y, and
the variance of the score is that of a total of these z over the pool.

    project_score(counts, draw, metric) -> Projection
    project_difference(a, b, draw, metric) -> Projection

`counts` hold one row per labelled unit. What a system has returned is projected together with what
is right, although its number is known for all units: both vary alike from unit to unit, which makes
their ratio less uncertain than either, and a score stays between 0 and 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import flag, one_of, open_probability
from probative.counts import Counts, counts_of
from probative.errors import InputError
from probative.inference.clusters import student_quantile
from probative.inference.projections import JudgeEffect, Projection
from probative.inference.strata import Draw, Spread, spread_of
from probative.inference.stratified_limits import (
    SELDOM_WRONG,
    difference_limits,
    find_doubts,
    score_limits,
)
from probative.metrics import METRICS, bounds, contributions, span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from probative._types import Array
    from probative.inference.judges import Judge, Judged

    _Limits = Callable[[float, Spread], tuple[float, float]]

__all__ = [
    "Draw",
    "PoolScores",
    "influences",
    "project_difference",
    "project_score",
]

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
    judged: Judged | None = None

    @property
    def shifted(self) -> float:
        """The estimate, with what the judge adds to it."""
        return self.value + (0.0 if self.judged is None else self.judged.shift)

    def spread(self, draw: Draw, *, finite: bool) -> Spread:
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

    def leans_on_the_least(self, spread: Spread, draw: Draw, *, finite: bool) -> bool:
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

        def limits(value: float, spread: Spread) -> tuple[float, float]:
            even_units = self._even_units(target)
            return score_limits(value, spread, even_units, self.level, between=between)

        return self._narrower(target, between, limits)

    def difference(self, a: int = 0, b: int = 1) -> Projection:
        """The score of system `b` minus that of system `a`."""
        target, most = self._difference(a, b), span(self.metric)
        known = target.is_known(self.draw)

        def limits(value: float, spread: Spread) -> tuple[float, float]:
            return difference_limits(value, spread, self.level, most, known=known)

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
            return replace(alone, judge=JudgeEffect(0.0, 1.0, 0))
        old, new = alone.standard_error, found.standard_error
        strata = int(np.count_nonzero(target.judged.lost))
        effect = JudgeEffect(
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
        doubts = [*find_doubts(spread, draw)] if low < high else []
        if target.leans_on_the_least(spread, draw, finite=finite):
            doubts.append(SELDOM_WRONG)
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
    moves, reach = np.asarray((x - value * y) / bottom), np.asarray(y / bottom)
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
    return np.asarray((x - top / bottom * y) / bottom) if bottom > 0 else np.zeros(4)


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
