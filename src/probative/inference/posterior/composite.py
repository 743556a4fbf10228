"""Compute posteriors of differences in MCC, kappa and other scores that are not plain ratios."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import fraction, one_of, open_probability
from probative.inference.posterior.log_odds import TailTable
from probative.inference.posterior.nodes import Nodes, sobol_nodes
from probative.inference.posterior.paired import PairedPosterior
from probative.inference.posterior.single import (
    CompositePosterior,
    Single,
    invert,
    plain,
)
from probative.metrics import METRICS, TABLE, Composite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from probative._validation import Array, Number
    from probative.counts import PairedCounts


# --- The paired posterior of B minus A
#
# The eight cases have a Dirichlet posterior. Independent Beta variates are the share of positives
# and, separately for positives and negatives: the share of disputed items, the share of these that
# B wins, and the share of the undisputed items that are right. B minus A increases with the share
# that B wins, so its distribution function is that of this share at the root of an equation,
# averaged over the other six at scrambled Sobol points. Of the two shares that B wins, the one that
# varies the difference more is integrated exactly. The spread of independent scramblings gives the
# error.

_COMPOSITE_PAIRED_PROBES = np.array([-2.0, -0.6, 0.0, 0.9, 2.0])  # standard deviations
_MOST_ROOT_STEPS = 60
_ROOT_TOLERANCE = 1e-11  # of the difference
_LARGEST_LOG_ODDS = 690.0  # of a share that is not 0 or 1 as a number
_TABLE_POINTS = 129  # tails of more differences are interpolated between these
_POSITIVE = (2, 0, 4, 6)  # cases: B wins, A wins, both are right, both are wrong
_NEGATIVE = (1, 3, 7, 5)
_OF_A = (0, 4), (1, 5), (2, 6), (3, 7)  # the cases of tp, fp, fn and tn
_OF_B = (2, 4), (3, 5), (0, 6), (1, 7)


def paired_posterior(
    table: PairedCounts, metric: str = "f1", *, prior: float = 1.0, beta: float = 1.0
) -> PairedPosterior:
    """Return the paired posterior of the difference B minus A, for any metric."""
    is_composite = isinstance(TABLE[one_of("metric", metric, METRICS)], Composite)
    kind = CompositePairedPosterior if is_composite else PairedPosterior
    return kind(table, metric, prior=prior, beta=beta)


class CompositePairedPosterior(PairedPosterior):
    """The paired posterior of B minus A in a score that is not a ratio of linear forms."""

    def _set_up(self, metric: str, prior: float, beta: float) -> None:
        del beta  # no composite score depends on it
        entry = TABLE[metric]
        assert isinstance(entry, Composite)  # noqa: S101  # as `paired_posterior` makes sure
        self._score = entry
        self._most = entry.high - entry.low
        self._cells = self.table.cases + prior / 2

    @property
    def error(self) -> float:
        """Return the estimated error of the probabilities: three standard errors of scramblings."""
        return self._nodes.error

    @cached_property
    def _moves(self) -> Array:
        """Return how much one item of each case changes the difference, to first order."""
        t = self._cells
        a, b = (
            np.array(
                [float(x) for x in self._score.slopes(*(t[list(part)].sum() for part in pairs))]
            )
            for pairs in (_OF_A, _OF_B)
        )
        of_a, of_b = [0, 1, 2, 3, 0, 1, 2, 3], [2, 3, 0, 1, 0, 1, 2, 3]
        return np.asarray(b[of_b] - a[of_a])

    @cached_property
    def _sd(self) -> float:
        return float(np.sqrt(self._cells @ self._moves**2))

    @cached_property
    def _sides(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return positives and negatives, first the side on which winning matters more."""

        def varied(side: tuple[int, ...]) -> float:
            won, lost = self._cells[side[0]], self._cells[side[1]]
            gap = self._moves[side[0]] - self._moves[side[1]]
            return float(won * lost / (won + lost) * gap**2)

        sides = sorted((_POSITIVE, _NEGATIVE), key=varied, reverse=True)
        return sides[0], sides[1]

    @property
    def _shapes(self) -> list[tuple[float, float]]:
        """Return the Beta shapes of the shares that are averaged over."""
        first, second = ([float(self._cells[i]) for i in side] for side in self._sides)
        return [
            (sum(first), sum(second)),
            (first[0] + first[1], first[2] + first[3]),
            (first[2], first[3]),
            (second[0] + second[1], second[2] + second[3]),
            (second[0], second[1]),
            (second[2], second[3]),
        ]

    @cached_property
    def _nodes(self) -> Nodes:
        probes = self._centre + _COMPOSITE_PAIRED_PROBES * self._sd

        def averages(parts: Sequence[Nodes]) -> Array:
            return np.array([self._below(probes, part) for part in parts])

        return sobol_nodes(self._shapes, averages)

    @property
    def _centre(self) -> float:
        t = self._cells
        a, b = (
            float(self._score.value(*(t[list(part)].sum() for part in pairs)))
            for pairs in (_OF_A, _OF_B)
        )
        return b - a

    def _gap(self, won: Array, nodes: Nodes) -> Array:
        """Return B minus A if B wins this share of the first side's disputed items."""
        share, rest = nodes.share, nodes.rest
        cases: list[Any] = [None] * 8
        wins = (won, 1 - won), (share[4], rest[4])
        for side, part, disputed, agreed, win in (
            (self._sides[0], share[0], 1, 2, wins[0]),
            (self._sides[1], rest[0], 3, 5, wins[1]),
        ):
            for i, x in zip(side[:2], win, strict=True):
                cases[i] = part * share[disputed] * x
            for i, x in zip(side[2:], (share[agreed], rest[agreed]), strict=True):
                cases[i] = part * rest[disputed] * x
        a, b = (
            np.nan_to_num(self._score.value(*(cases[i] + cases[j] for i, j in pairs)))
            for pairs in (_OF_A, _OF_B)
        )
        return np.asarray(b - a)

    def _root(self, d: float, nodes: Nodes) -> tuple[Array, Array]:
        """Return the share at which the difference is d, and its derivative in d, at every node."""
        low, high = np.zeros(len(nodes.weight)), np.ones(len(nodes.weight))
        at_low, at_high = self._gap(low, nodes) - d, self._gap(high, nodes) - d
        span = at_high - at_low
        x = np.clip(-at_low / np.where(span > 0, span, 1.0), 0.0, 1.0)
        outside = (at_low >= 0) | (at_high <= 0)
        x = np.where(at_low >= 0, 0.0, np.where(at_high <= 0, 1.0, x))
        moved = np.zeros(len(x))  # which end moved last
        for _ in range(_MOST_ROOT_STEPS):
            value = self._gap(x, nodes) - d
            if np.all(outside | (np.abs(value) < _ROOT_TOLERANCE)):
                break
            rises = value < 0
            # the Illinois rule: halve the value at an end that stays twice
            at_high = np.where(rises, np.where(moved < 0, at_high / 2, at_high), value)
            at_low = np.where(rises, value, np.where(moved > 0, at_low / 2, at_low))
            moved = np.where(rises, -1.0, 1.0)
            low, high = np.where(rises, x, low), np.where(rises, high, x)
            with np.errstate(divide="ignore", invalid="ignore"):
                new = (low * at_high - high * at_low) / (at_high - at_low)
            inside = (new > low) & (new < high)
            x = np.where(outside, x, np.where(inside, new, (low + high) / 2))
        h = 1e-5
        left, right = np.maximum(x - h, 0.0), np.minimum(x + h, 1.0)
        rise = (self._gap(right, nodes) - self._gap(left, nodes)) / (right - left)
        return x, np.where(outside | (rise <= 0), 0.0, 1 / np.where(rise > 0, rise, 1.0))

    @cached_property
    def _law(self) -> TailTable:
        """Return the distribution of the share that B wins on the first side."""
        return TailTable(*(float(self._cells[i]) for i in self._sides[0][:2]))

    def _below(self, d: Array, nodes: Nodes) -> Array:
        roots = (self._root(x, nodes)[0] for x in d.tolist())
        return np.array([self._law.cdf(special.logit(root)) @ nodes.weight for root in roots])

    def _tails_at(self, d: Array, *, density: bool) -> Sequence[Array]:
        """Return P(at most d), P(above d) and, if asked for, the density."""
        # Many differences are interpolated in a table by Hermite's rule, whose error is far below
        # that of the nodes.
        if len(d) > _TABLE_POINTS:
            from scipy.interpolate import CubicHermiteSpline, PchipInterpolator

            few = np.linspace(d.min(), d.max(), _TABLE_POINTS)
            below, above, slope = self._tails_at(few, density=True)
            return (
                np.clip(CubicHermiteSpline(few, below, slope)(d), 0.0, 1.0),
                np.clip(CubicHermiteSpline(few, above, -slope)(d), 0.0, 1.0),
                PchipInterpolator(few, slope)(d),
            )
        rows = [self._tails_of(x, density=density) for x in d.tolist()]
        return list(np.array(rows).reshape(-1, 3).T)

    def _tails_of(self, d: float, *, density: bool) -> tuple[float, float, float]:
        weight = self._nodes.weight
        share, slope = self._root(d, self._nodes)
        y = np.clip(special.logit(share), -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS)
        height = np.nan
        if density:
            at_share = np.exp(self._law.log_pdf(y)) / (special.expit(y) * special.expit(-y))
            height = float(at_share @ (slope * weight))
        return float(self._law.cdf(y) @ weight), float(self._law.sf(y) @ weight), height

    def limits(self, tail: float) -> tuple[float, float]:
        """Return the two quantiles beyond each of which lies the probability `tail`."""

        def tails(x: Array) -> tuple[Array, Array]:
            below, above, density = map(np.asarray, self._tails(x, density=True))
            return np.array([below[0], 1 - above[1]]), density

        q = np.array([tail, 1 - tail])
        start = self._centre + self._sd * special.ndtri(q)
        low, high = invert(tails, q, -self._most, self._most, start)
        return float(low), float(high)


# --- The posterior of B minus A for independent posteriors
#
# P(B - A <= d) is the average of B's distribution function over A's density, or of A's over B's:
# over the narrower of the two. The density is smooth on the scale of the log odds of the score
# between its bounds, where a trapezoid rule converges fast; half of its points show the error.

_RULE_POINTS = 161
_TAIL_LEFT_OUT = 1e-13  # probability on either side
_COMPOSITE_INDEPENDENT_PROBES = np.array(
    [-2.0, -0.6, 0.9, 2.0]
)  # standard deviations from the mean
_CURVE_POINTS = 61  # a drawn density is interpolated between these


@dataclass(frozen=True, eq=False)
class _Pair:
    """The posteriors of the two scores, of one table each."""

    a: Single
    b: Single
    points: int = _RULE_POINTS

    @cached_property
    def a_is_narrower(self) -> bool:
        return self.a.sd <= self.b.sd

    @cached_property
    def rule(self) -> tuple[Array, Array]:
        """Return scores of the narrower posterior and their probabilities."""
        narrow = self.a if self.a_is_narrower else self.b
        low, width = narrow.own.low, narrow.own.high - narrow.own.low
        tail = np.array([_TAIL_LEFT_OUT])
        ends = np.append(narrow.quantile(tail), narrow.quantile(tail, upper=True))
        places = np.clip((ends - low) / width, 1e-15, 1 - 1e-15)
        ends = special.logit(places)
        y = np.linspace(ends[0], ends[1], self.points)
        share, rest = special.expit(y), special.expit(-y)
        x = low + width * share
        if narrow.has_few:  # then the density has jumps, but the distribution function has none
            return x, _steps(narrow.tail(x))
        mass = narrow.density(x) * share * rest
        return x, mass / mass.sum()

    def tail(self, d: Array, *, upper: bool = False) -> Array:
        """Return P(at most d), or P(above d)."""
        # B - A <= d where B <= A + d, or A >= B - d
        wide, sign = (self.b, 1.0) if self.a_is_narrower else (self.a, -1.0)
        return self._average(d, sign, lambda t: wide.tail(t, upper=upper is self.a_is_narrower))

    def density(self, d: Array) -> Array:
        wide, sign = (self.b, 1.0) if self.a_is_narrower else (self.a, -1.0)

        def inside(t: Array) -> Array:
            return np.where((t > wide.own.low) & (t < wide.own.high), wide.density(t), 0.0)

        return self._average(d, sign, inside)

    def _average(self, d: Array, sign: float, function: Callable[[Array], Array]) -> Array:
        (x, mass), score = self.rule, self.a.own
        at = np.clip(x + sign * d[:, None], score.low, score.high)
        return np.asarray(function(at.ravel()).reshape(at.shape) @ mass)

    @cached_property
    def centre(self) -> float:
        return self.b.moments[0] - self.a.moments[0]

    @cached_property
    def sd(self) -> float:
        return float(np.sqrt(self.a.moments[1] + self.b.moments[1]))

    @cached_property
    def error(self) -> float:
        """Return the change that half of the points would make, in this average and inside it."""
        d = self.centre + self.sd * _COMPOSITE_INDEPENDENT_PROBES
        coarser = _Pair(self.a.coarser, self.b.coarser, self.points // 2 + 1).tail(d)
        within = sum(single.error for single in (self.a, self.b) if single.is_smooth)
        return float(np.max(np.abs(self.tail(d) - coarser))) + within

    def limits(self, tail: float) -> tuple[float, float]:
        """Return the two quantiles beyond each of which lies the probability `tail`."""

        def tails(x: Array) -> tuple[Array, Array]:
            below, above = self.tail(x[:1]), self.tail(x[1:], upper=True)
            return np.append(below, 1 - above), self.density(x)

        q = np.array([tail, 1 - tail])
        most = self.a.own.high - self.a.own.low
        low, high = invert(tails, q, -most, most, self.centre + self.sd * special.ndtri(q))
        return float(low), float(high)


def _steps(below: Array) -> Array:
    """Return weights of points from the distribution function, by Richardson extrapolation."""
    weight = 4 / 3 * _mean_steps(below)
    weight[::2] -= 1 / 3 * _mean_steps(below[::2])
    return np.asarray(weight / weight.sum())


def _mean_steps(below: Array) -> Array:
    """Return half of the increments on both sides of each point."""
    step = np.diff(below, prepend=0.0, append=1.0)
    step[0], step[-1] = 2 * step[0], 2 * step[-1]  # the tails count in full
    return np.asarray((step[1:] + step[:-1]) / 2)


class CompositeIndependentPosterior:
    """The posterior of B minus A, for independent posteriors of the two scores."""

    kind = "independent"

    def __init__(self, a: CompositePosterior, b: CompositePosterior):
        self.shape = np.broadcast_shapes(a.shape, b.shape)
        sides = a._flat(self.shape).tables, b._flat(self.shape).tables
        self._pairs = [_Pair(*pair) for pair in zip(*sides, strict=True)]

    @property
    def error(self) -> float:
        """Return an estimate of the error of the probabilities, beyond rounding."""
        return max(pair.error for pair in self._pairs)

    @property
    def mean(self) -> Number:
        """Return the expected difference."""
        return self._each(lambda pair: pair.centre)

    @property
    def var(self) -> Number:
        """Return the variance of the difference."""
        return self._each(lambda pair: pair.sd**2)

    def cdf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference of at most d."""
        return self._map(lambda pair, d: pair.tail(d), d)

    def sf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference above d."""
        return self._map(lambda pair, d: pair.tail(d, upper=True), d)

    def pdf(self, d: ArrayLike) -> Number:
        """Return the density of the difference at d."""
        return self._map(lambda pair, d: pair.density(d), d)

    def probabilities(self, rope: float = 0.0) -> tuple[Number, Number, Number]:
        """Return P(A better), P(equivalent) and P(B better).

        Differences of at most `rope` either way count as equivalent.
        """
        rope = fraction("rope", rope)
        a_better, b_better = np.asarray(self.cdf(-rope)), np.asarray(self.sf(rope))
        alike = np.reshape(
            [np.array_equal(pair.a.cells, pair.b.cells) for pair in self._pairs], self.shape
        )
        half = (a_better + b_better) / 2  # equal tables get exactly equal probabilities
        a_better, b_better = (np.where(alike, half, side) for side in (a_better, b_better))
        between = np.maximum(1 - a_better - b_better, 0) if rope else 0 * a_better
        return plain(a_better), plain(between), plain(b_better)

    def interval(self, level: float = 0.95) -> tuple[Number, Number]:
        """Return the equal-tailed interval of the difference with probability `level`."""
        tail = (1 - open_probability("level", level)) / 2
        limits = np.reshape([pair.limits(tail) for pair in self._pairs], (*self.shape, 2))
        return plain(limits[..., 0]), plain(limits[..., 1])

    def curve(self, points: int = 201) -> tuple[Array, Array]:
        """Return differences from the 0.001 to the 0.999 quantile, and the density there."""
        from scipy.interpolate import PchipInterpolator

        d = np.linspace(*self.interval(0.998), points)
        few = np.linspace(d[0], d[-1], _CURVE_POINTS)
        return d, np.asarray(PchipInterpolator(few, self.pdf(few))(d))

    def _each(self, function: Callable[[_Pair], float]) -> Any:
        return plain(np.reshape([function(pair) for pair in self._pairs], self.shape))

    def _map(self, function: Callable[[_Pair, Array], Array], at: ArrayLike) -> Any:
        at = np.asarray(at, dtype=np.float64)
        if not self.shape:
            return plain(function(self._pairs[0], at.ravel()).reshape(at.shape))
        shape = np.broadcast_shapes(self.shape, at.shape)
        flat = np.broadcast_to(at, shape).reshape(-1, len(self._pairs))
        columns = [function(pair, flat[:, i]) for i, pair in enumerate(self._pairs)]
        return np.stack(columns, axis=-1).reshape(shape)
