"""The difference of two scores that are no ratios of linear forms, of independent posteriors.

P(B - A <= d) is the average of B's distribution function over A's density, or of A's over B's:
over the narrower of the two. Between its bounds a score has log odds, on which its density is
smooth; a trapezoid rule there converges fast, and as many points to the side tell how far.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import fraction, open_probability
from probative.inference.beta_posterior import plain
from probative.inference.composite_posterior import CompositePosterior, Single, invert

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from probative._types import Array, Number

__all__ = ["CompositeIndependentPosterior"]

_POINTS = 161  # of the rule
_FARTHEST = 1e-13  # the probability that is left out on either side
_PROBES = np.array([-2.0, -0.6, 0.9, 2.0])  # standard deviations from the middle
_CURVE = 61  # points at which the density is worked out; between them it is interpolated


@dataclass(frozen=True, eq=False)
class _Pair:
    """One table of each system."""

    a: Single
    b: Single
    points: int = _POINTS

    @cached_property
    def a_is_narrower(self) -> bool:
        return self.a.sd <= self.b.sd

    @cached_property
    def rule(self) -> tuple[Array, Array]:
        """Scores of the narrower posterior, and their probabilities."""
        one = self.a if self.a_is_narrower else self.b
        low, width = one.own.low, one.own.high - one.own.low
        tail = np.array([_FARTHEST])
        ends = np.append(one.quantile(tail), one.quantile(tail, upper=True))
        places = np.clip((ends - low) / width, 1e-15, 1 - 1e-15)
        ends = special.logit(places)
        y = np.linspace(ends[0], ends[1], self.points)
        share, rest = special.expit(y), special.expit(-y)
        x = low + width * share
        if one.has_few:  # the density has steps, then, and its integral has not
            return x, _steps(one.tail(x))
        mass = one.density(x) * share * rest
        return x, mass / mass.sum()

    def tail(self, d: Array, *, upper: bool = False) -> Array:
        """P(at most d), or P(above d)."""
        # B - A <= d where B <= A + d, or A >= B - d
        wide, sign = (self.b, 1.0) if self.a_is_narrower else (self.a, -1.0)
        return self._average(d, sign, lambda t: wide.tail(t, upper=upper is self.a_is_narrower))

    def density(self, d: Array) -> Array:
        wide, sign = (self.b, 1.0) if self.a_is_narrower else (self.a, -1.0)

        def inside(t: Array) -> Array:
            return np.where((t > wide.own.low) & (t < wide.own.high), wide.density(t), 0.0)

        return self._average(d, sign, inside)

    def _average(self, d: Array, sign: float, function: Callable[[Array], Array]) -> Array:
        (x, mass), own = self.rule, self.a.own
        at = np.clip(x + sign * d[:, None], own.low, own.high)
        return np.asarray(function(at.ravel()).reshape(at.shape) @ mass)

    @cached_property
    def centre(self) -> float:
        return self.b.moments[0] - self.a.moments[0]

    @cached_property
    def sd(self) -> float:
        return float(np.sqrt(self.a.moments[1] + self.b.moments[1]))

    @cached_property
    def error(self) -> float:
        """What half of the points would change, of this average and of those within."""
        d = self.centre + self.sd * _PROBES
        coarser = _Pair(self.a.coarser, self.b.coarser, self.points // 2 + 1).tail(d)
        within = sum(one.error for one in (self.a, self.b) if one.is_smooth)
        return float(np.max(np.abs(self.tail(d) - coarser))) + within

    def limits(self, tail: float) -> tuple[float, float]:
        """The limits beyond which, on either side, lies the probability `tail`."""

        def tails(x: Array) -> tuple[Array, Array]:
            below, above = self.tail(x[:1]), self.tail(x[1:], upper=True)
            return np.append(below, 1 - above), self.density(x)

        q = np.array([tail, 1 - tail])
        most = self.a.own.high - self.a.own.low
        low, high = invert(tails, q, -most, most, self.centre + self.sd * special.ndtri(q))
        return float(low), float(high)


def _steps(below: Array) -> Array:
    """Weights of points between which a distribution function is known, by Richardson's rule."""
    weight = 4 / 3 * _mean_steps(below)
    weight[::2] -= 1 / 3 * _mean_steps(below[::2])
    return np.asarray(weight / weight.sum())


def _mean_steps(below: Array) -> Array:
    """Half of the steps on either side."""
    step = np.diff(below, prepend=0.0, append=1.0)
    step[0], step[-1] = 2 * step[0], 2 * step[-1]  # what lies outside
    return np.asarray((step[1:] + step[:-1]) / 2)


class CompositeIndependentPosterior:
    """The posterior of B minus A, for independent posteriors of the two scores.

    Parameters
    ----------
    a, b
        Posteriors of the two scores, of one table each or of as many.

    Examples
    --------
    >>> import probative as pv
    >>> a, b = pv.Counts(77, 44, 10, 702), pv.Counts(80, 30, 7, 716)
    >>> test = pv.bayes_test(a, b, "mcc")
    >>> print(f"{test.p_b_better:.4f} [{test.low:.4f}, {test.high:.4f}]")
    0.9443 [-0.0177, 0.1697]
    """

    kind = "independent"

    def __init__(self, a: CompositePosterior, b: CompositePosterior):
        self.shape = np.broadcast_shapes(a.shape, b.shape)
        sides = a._flat(self.shape).tables, b._flat(self.shape).tables
        self._pairs = [_Pair(*pair) for pair in zip(*sides, strict=True)]

    @property
    def error(self) -> float:
        """An estimate of the error of the probabilities, beyond rounding."""
        return max(pair.error for pair in self._pairs)

    @property
    def mean(self) -> Number:
        """The expected difference."""
        return self._each(lambda pair: pair.centre)

    @property
    def var(self) -> Number:
        """The variance of the difference."""
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
        half = (a_better + b_better) / 2  # of tables alike, exactly
        a_better, b_better = (np.where(alike, half, side) for side in (a_better, b_better))
        between = np.maximum(1 - a_better - b_better, 0) if rope else 0 * a_better
        return plain(a_better), plain(between), plain(b_better)

    def interval(self, level: float = 0.95) -> tuple[Number, Number]:
        """Return the equal-tailed limits between which the difference lies."""
        tail = (1 - open_probability("level", level)) / 2
        limits = np.reshape([pair.limits(tail) for pair in self._pairs], (*self.shape, 2))
        return plain(limits[..., 0]), plain(limits[..., 1])

    def curve(self, points: int = 201) -> tuple[Array, Array]:
        """Return differences from the 0.001 to the 0.999 quantile, and the density there."""
        from scipy.interpolate import PchipInterpolator

        d = np.linspace(*self.interval(0.998), points)
        few = np.linspace(d[0], d[-1], _CURVE)
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
