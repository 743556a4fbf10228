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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import flag, one_of, open_probability
from probative.counts import Counts, counts_of
from probative.errors import InputError
from probative.inference.clusters import student_quantile
from probative.inference.proportions import wilson
from probative.inference.strata import Draw, Spread, spread_of, unit_variance
from probative.metrics import METRICS, bounds, contributions, span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.inference.judges import Judge, Judged

    Array = NDArray[np.float64]

__all__ = [
    "Draw",
    "Projection",
    "Spread",
    "influences",
    "project_difference",
    "project_score",
    "spread_of",
    "unit_variance",
]


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
    total = _projected(counts, draw)
    x, y = contributions(counts, metric, at=total, beta=beta)
    return _moves(x, y, draw)


def _projected(counts: Counts, draw: Draw) -> Counts:
    """The counts of the pool."""
    return (counts * draw.weights).sum()


def _moves(x: Any, y: Any, draw: Draw) -> tuple[float, Array]:
    top, bottom = draw.total(x), draw.total(y)
    if not bottom > 0:
        return math.nan, np.zeros(draw.labelled)
    value = top / bottom
    return value, np.asarray((x - value * y) / bottom)


@dataclass(frozen=True)
class JudgeEffect:
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
    judge: JudgeEffect | None = None
    notes: tuple[str, ...] = ()

    @property
    def no_evidence(self) -> bool:
        """Whether nothing tells how far the estimate may be off."""
        return not self.degrees_of_freedom > 0 and self.low < self.high


@dataclass(frozen=True, eq=False)
class PoolScores:
    """The scores of systems in a pool, in one metric; `score` and `difference` tell them.

    Attributes
    ----------
    systems
        The counts of each system, one row per labelled unit.
    draw
        The strata of the units.
    metric, beta, level
        The score, and the nominal coverage of limits.
    finite
        Whether the pool is all that matters; else it is taken for a random sample of what does.
    values, moves
        Of each system its score, and what every labelled unit moves it by.
    judged
        What a judge leaves of the moves of each system; empty without one.
    """

    systems: tuple[Counts, ...]
    draw: Draw
    metric: str
    beta: float
    level: float
    finite: bool
    values: tuple[float, ...]
    moves: tuple[Array, ...]
    judged: tuple[Judged, ...]

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
        """
        one_of("metric", metric, METRICS)
        level, finite = open_probability("level", level), flag("finite", finite)
        for number, counts in enumerate(systems):
            if counts_of(f"systems[{number}]", counts).shape != (draw.labelled,):
                raise InputError(
                    f"systems[{number}]: counts of shape {counts.shape}; expected one row for each "
                    f"of the {draw.labelled:,} labelled units"
                )
        values, moves = zip(
            *(influences(counts, draw, metric, beta=beta) for counts in systems), strict=True
        )
        judged: Sequence[Judged] = ()
        if judge is not None and not any(map(math.isnan, values)):
            totals = [_projected(counts, draw) for counts in systems]
            judged = judge.explain(moves, values, totals, draw, metric, beta)
        return cls(tuple(systems), draw, metric, beta, level, finite, values, moves, tuple(judged))

    def score(self, system: int = 0) -> Projection:
        """The score of a system."""
        judged = self.judged[system] if self.judged else None
        low, high = bounds(self.metric)
        value, spread = self.values[system], self._spread(self.moves[system], judged)
        shifted = float(np.clip(value + (judged.shift if judged else 0.0), low, high))
        limits = score_limits(
            shifted, spread, self._even_units(system), self.level, between=(low, high)
        )
        return self._projection(value, shifted, limits, self.moves[system], spread, judged)

    def difference(self, a: int = 0, b: int = 1) -> Projection:
        """The score of system `b` minus that of system `a`."""
        judged = self.judged[b] - self.judged[a] if self.judged else None
        most = span(self.metric)
        value, moves = self.values[b] - self.values[a], self.moves[b] - self.moves[a]
        spread = self._spread(moves, judged)
        shifted = float(np.clip(value + (judged.shift if judged else 0.0), -most, most))
        limits = difference_limits(shifted, spread, self.draw, self.level, most)
        return self._projection(value, shifted, limits, moves, spread, judged)

    def _spread(self, moves: Array, judged: Judged | None) -> Spread:
        return spread_of(moves, self.draw, finite=self.finite, judged=judged)

    def _even_units(self, system: int) -> float:
        """How many units of equal weight the labelled ones are worth (Kish).

        Units that stand for nothing beyond themselves, since all of their stratum are labelled,
        leave nothing open.
        """
        total = _projected(self.systems[system], self.draw)
        _, y = contributions(self.systems[system], self.metric, at=total, beta=self.beta)
        weight = self.draw.weights * y
        left = self.draw.rest[self.draw.stratum] if self.finite else np.ones_like(weight)
        open_ = float(left @ weight**2)
        return float(weight.sum()) ** 2 / open_ if open_ > 0 else math.inf

    def _projection(
        self,
        alone: float,
        estimate: float,
        limits: tuple[float, float],
        moves: Array,
        spread: Spread,
        judged: Judged | None,
    ) -> Projection:
        draw, finite = self.draw, self.finite
        effect = None
        if judged is not None:
            plain = self._spread(moves, None)
            width = math.sqrt(spread.variance / plain.variance) if plain.variance > 0 else math.nan
            effect = JudgeEffect(estimate - alone, width, int(np.count_nonzero(judged.lost)))
        return Projection(
            estimate,
            *limits,
            math.sqrt(spread.variance),
            spread.degrees_of_freedom,
            spread.design_effect(draw, finite=finite),
            spread.worth(draw, finite=finite),
            spread.by_stratum,
            effect,
            (),
        )


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
    0.764 [0.408, 0.938]
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


def score_limits(
    value: float,
    spread: Spread,
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
    if math.isinf(even_units):
        return value, value
    share = (value - low) / (high - low)
    items, freedom = even_units, even_units - 1
    if spread.variance > 0:
        freedom = spread.degrees_of_freedom
        if 0 < share < 1:
            items = share * (1 - share) * (high - low) ** 2 / spread.variance
    if not freedom > 0:
        return low, high
    ends = wilson(share * items, items, float(student_quantile(level, freedom)))
    return tuple(low + (high - low) * float(end) for end in ends)  # type: ignore[return-value]


def difference_limits(
    value: float, spread: Spread, draw: Draw, level: float, most: float = 1.0
) -> tuple[float, float]:
    """Student's limits of a difference; all that it can be where nothing tells how far it varies.

    Parameters
    ----------
    value, spread
        The difference, and how far it is known.
    draw
        The strata of the labelled units.
    level
        The nominal coverage.
    most
        By how much two scores can differ.
    """
    if math.isnan(value):
        return -most, most
    if not spread.variance > 0 and not np.any(draw.rest > 0):
        return value, value
    if not spread.degrees_of_freedom > 0:
        return -most, most
    reach = float(student_quantile(level, spread.degrees_of_freedom)) * math.sqrt(spread.variance)
    return max(-most, value - reach), min(most, value + reach)
