"""Compute the posterior of the difference of two scores with independent posteriors, B minus A.

P(B - A <= d) is the average of B's distribution function over A's density (or of A's over B's).
With x and x + d the two scores, x = l + L·expit(u) maps the range in which both lie between 0 and
1 to the whole line. There the integrand is analytic for all d and all shapes, and a trapezoid rule
converges exponentially; averaging over the narrower of the two needs fewer points.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from probative._validation import Array, Number, fraction, open_probability
from probative.inference.posterior import log_odds
from probative.inference.posterior.single import (
    PROBES,
    CompositePosterior,
    Posterior,
    Single,
    limits_beyond,
    plain,
)

# --- The probabilities that A is better, B is better, or both are equivalent

_LARGEST_ERROR_CALLED_EXACT = 1e-8  # of a probability


def computed(error: Number) -> str:
    """Return the word for probabilities with this error: "exact" or "integrated"."""
    return "exact" if np.all(np.asarray(error) <= _LARGEST_ERROR_CALLED_EXACT) else "integrated"


class Outcomes(ABC):
    """The base class of posteriors of a difference that have a distribution function."""

    def cdf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference of at most d."""
        return self._at("cdf", d)

    def sf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference above d; as accurate as `cdf` where it is tiny."""
        return self._at("sf", d)

    def pdf(self, d: ArrayLike) -> Number:
        """Return the density of the difference at d; infinite where it is unbounded."""
        return self._at("pdf", d)

    @abstractmethod
    def _at(self, name: str, d: ArrayLike) -> Any:
        """Return the `cdf`, `sf` or `pdf` at d."""

    @abstractmethod
    def interval(self, level: float = 0.95) -> tuple[Number, Number]:
        """Return the equal-tailed interval of the difference with probability `level`."""

    def curve(self, points: int = 201) -> tuple[Array, Array]:
        """Return differences from the 0.001 to the 0.999 quantile, and the density there."""
        d = np.linspace(*self.interval(0.998), points)
        return d, np.asarray(self.pdf(d))

    @property
    def no_evidence(self) -> bool:
        """Return True if a score rests on a single unit, so that there are no probabilities."""
        return False

    @property
    def _symmetric(self) -> Any:
        """Return True if exchanging the systems changes nothing, for each table."""
        return False

    def _better(self, rope: float) -> tuple[Array, Array]:
        """Return P(A better) and P(B better)."""
        return np.asarray(self.cdf(-rope)), np.asarray(self.sf(rope))

    def probabilities(self, rope: float = 0.0) -> tuple[float, float, float]:
        """Return P(A better), P(equivalent) and P(B better); NaN where there is no evidence.

        Differences of at most `rope` either way count as equivalent.
        """
        rope = fraction("rope", rope)
        if self.no_evidence:
            return math.nan, math.nan, math.nan
        a_better, b_better = self._better(rope)
        alike = self._symmetric
        if np.any(alike):  # make both exactly equal, whatever the error of the nodes
            half = (a_better + b_better) / 2
            a_better, b_better = (np.where(alike, half, own) for own in (a_better, b_better))
        between = np.maximum(1 - a_better - b_better, 0) if rope else np.zeros(a_better.shape)
        return plain(a_better), plain(between), plain(b_better)


# --- Scores whose odds are those of a Beta variate, times a factor

_CHUNK = 4096  # tables evaluated at once; bounds the memory


class IndependentPosterior(Outcomes):
    """The posterior of B minus A, for independent posteriors of the two scores.

    Parameters
    ----------
    a, b
        Posteriors of the two scores, of one table each or of several.
    """

    kind = "independent"
    error = 0.0  # of the probabilities, beyond rounding

    def __init__(self, a: Posterior, b: Posterior):
        self.shape = np.broadcast_shapes(a.shape, b.shape)
        self._flat_a, self._flat_b = a._flat(self.shape), b._flat(self.shape)

    @property
    def mean(self) -> Number:
        """Return the expected difference."""
        return plain(np.reshape(self._flat_b.mean - self._flat_a.mean, self.shape))

    @property
    def var(self) -> Number:
        """Return the variance of the difference."""
        return plain(np.reshape(self._flat_b.var + self._flat_a.var, self.shape))

    def _at(self, name: str, d: ArrayLike) -> Any:
        d = np.asarray(d, dtype=np.float64)
        if name == "sf":
            return self._swapped.cdf(-d)
        beyond = np.abs(d) >= 1  # where no difference of scores lies
        if not beyond.any():
            return self._evaluate(lambda pair, d: pair.averages(d, name)[0], d)
        inside = self._at(name, np.where(beyond, 0.0, d))
        return plain(np.where(beyond, (d > 0) * (name == "cdf"), inside))

    def _better(self, rope: float) -> tuple[Array, Array]:
        if rope:
            return super()._better(rope)
        # P(B better) with all its digits where it is small
        a_better = np.asarray(self.cdf(0.0))
        b_better = np.asarray(1 - a_better)
        small = b_better < 0.01
        if small.any():
            chosen = IndependentPosterior(self._flat_b[small.ravel()], self._flat_a[small.ravel()])
            b_better[small] = chosen.cdf(0.0)
        return a_better, b_better

    def interval(self, level: float = 0.95) -> tuple[Number, Number]:
        """Return the equal-tailed interval of the difference with probability `level`."""
        tail = (1 - open_probability("level", level)) / 2
        # the upper end for B - A is the negated lower end for A - B: exchanging the systems gives
        # exactly the mirrored interval, and tiny tails keep their digits
        return plain(self._lower_limit(tail)), plain(-self._swapped._lower_limit(tail))

    def _lower_limit(self, tail: float) -> Array:
        def search(pair: _Pair, start: Array, sd: Array, q: Array) -> Array:
            # tiny probabilities need no relative accuracy here
            return quantile_search(
                lambda d, at: pair[at].averages(d, "fast_cdf", "pdf"), q, start, sd
            )

        sd = np.sqrt(np.asarray(self.var))
        start = np.clip(np.asarray(self.mean) + special.ndtri(tail) * sd, -0.999, 0.999)
        return np.asarray(self._evaluate(search, start, sd, tail))

    @cached_property
    def _swapped(self) -> IndependentPosterior:
        swapped = IndependentPosterior(self._flat_b, self._flat_a)
        swapped.shape = self.shape
        return swapped

    def _evaluate(self, function: Callable[..., Array], *arguments: ArrayLike) -> Any:
        """Call a function of tables and arguments on `_CHUNK` tables at a time."""
        arrays = [np.asarray(x, dtype=np.float64) for x in arguments]
        shape = np.broadcast_shapes(self.shape, *(x.shape for x in arrays))
        flat = [np.broadcast_to(x, shape).ravel() for x in arrays]
        a, b = self._flat_a, self._flat_b
        if shape == self.shape and a.a.size <= _CHUNK:  # these, and what they know already
            return plain(_by_narrower(function, a, b, flat).reshape(shape))
        tables = np.arange(a.a.size).reshape(self.shape)
        index = np.broadcast_to(tables, shape).ravel()
        result = np.empty(len(index))
        for start in range(0, len(index), _CHUNK):
            at = slice(start, start + _CHUNK)
            result[at] = _by_narrower(function, a[index[at]], b[index[at]], [x[at] for x in flat])
        return plain(result.reshape(shape))


def _by_narrower(
    function: Callable[..., Array], a: Posterior, b: Posterior, arguments: Sequence[Array]
) -> Array:
    """Average over the narrower posterior, table by table."""
    # B - A = (1 - A) - (1 - B): exchanging the two and mirroring both only exchanges their roles
    a_narrower = a.log_odds_spread <= b.log_odds_spread
    result = np.empty(len(a_narrower))
    for chosen, narrow, wide in ((a_narrower, a, b), (~a_narrower, b.mirrored, a.mirrored)):
        if chosen.all():
            return function(_Pair(narrow, wide), *arguments)
        if chosen.any():
            pair = _Pair(narrow[chosen], wide[chosen])
            result[chosen] = function(pair, *(x[chosen] for x in arguments))
    return result


@dataclass(frozen=True)
class _Pair:
    """The posteriors of A, the narrower, and of B, for equally many tables."""

    a: Posterior
    b: Posterior

    def __getitem__(self, at: Any) -> _Pair:
        return _Pair(self.a[at], self.b[at])

    def averages(self, d: Array, *names: str) -> list[Array]:
        """Average over A: P(B - A <= d) ("cdf", "fast_cdf"), or the density at d ("pdf")."""
        low, high = self._extent(d)
        # A's density in u is narrowest at an end, where dy/du is largest
        steepest = np.maximum(*(_Positions(u, d).slope for u in (low, high)))
        width = self.a.log_odds_spread / np.maximum(steepest, 1e-300)
        step = log_odds.step(width, self.b.log_odds_spread)
        size = np.maximum(2, np.ceil((high - low) / step) + 1)
        # tables with similar numbers of nodes go together
        groups = np.ceil(2 * np.log2(size))
        order, pieces = [], []
        for group in sorted(set(groups.tolist())):
            at = np.flatnonzero(groups == group)
            u = np.linspace(low[at], high[at], int(size[at].max()), axis=-1)
            pair = self if len(at) == len(d) else self[at]
            places = _Positions(u, d[at, None])
            mass = np.exp(pair.a.at_nodes("log_pdf", places.log_odds()))
            mass *= places.slope
            mass *= u[:, 1:2] - u[:, :1]
            order.append(at)
            pieces.append([np.sum(mass * pair._of_b(name, places), axis=-1) for name in names])
        back = np.argsort(np.concatenate(order))
        found = [np.concatenate(column)[back] for column in zip(*pieces, strict=True)]
        return [
            values if name == "pdf" else self._tail(values, d)
            for name, values in zip(names, found, strict=True)
        ]

    def _of_b(self, name: str, at: _Positions) -> Array:
        """Return the distribution function of B, or its density, at each node."""
        if name != "pdf":
            return self.b.at_nodes(name, at.log_odds(shifted=True))
        with np.errstate(over="ignore", divide="ignore"):
            # bounded: the density of B's log odds is negligible where the factor overflows
            share, rest = at.shifted
            stretch = np.minimum(1 / share / rest, 1e300)
        return np.asarray(np.exp(self.b.at_nodes("log_pdf", at.log_odds(shifted=True))) * stretch)

    def _tail(self, inside: Array, d: Array) -> Array:
        """Add the probability of A above 1 - d, where B - A is at most d in any case."""
        beyond = np.zeros(len(d))
        up = (d > 0) & (special.logit(1 - np.maximum(d, 0)) < self.a.log_odds_window[1])
        if up.any():
            beyond[up] = self.a[up].sf(1 - d[up])
        return np.clip(inside + beyond, 0, 1)

    def _extent(self, d: Array) -> tuple[Array, Array]:
        """Return the range of u in which the integrand is not negligible."""
        y_low, y_high = self.a.log_odds_window
        if not d.any():
            return y_low, y_high
        up, down = np.maximum(d, 0), np.maximum(-d, 0)
        low, high = (_stretched(y, up, down) for y in (y_low, y_high))
        if np.isfinite(low).all() and np.isfinite(high).all():
            return low, high
        middle = _stretched((y_low + y_high) / 2, up, down)
        top = self._far_end(up, 1.0, np.where(np.isfinite(middle), middle, low + 4))
        bottom = self._far_end(down, -1.0, np.where(np.isfinite(middle), -middle, 4 - high))
        nowhere = (low == np.inf) | (high == -np.inf)
        low = np.select([nowhere, np.isfinite(low)], [0.0, low], -bottom)
        high = np.select([nowhere, np.isfinite(high)], [0.0, high], top)
        return low, high

    def _far_end(self, margin: Array, side: float, middle: Array) -> Array:
        """Return how far u must go where A's density continues beyond the end of the range."""
        with np.errstate(divide="ignore"):
            edge = np.where(margin > 0, side * (np.log1p(-margin) - np.log(margin)), 0.0)
            log_margin = np.log(margin)
        height = self.a.at_nodes("log_pdf", edge[:, None])[:, 0]
        below_peak = np.minimum(height + np.log(self.a.log_odds_spread) + 1, 0)
        return np.maximum(log_odds.DROP + below_peak, 1) + np.maximum(
            np.maximum(middle, 0), -log_margin
        )


class _Positions:
    """The values A = x and B = x + d at x = l + L·expit(u), exact as sums of positive numbers."""

    # with d = 0, u are the log odds of both

    def __init__(self, u: Array, d: Array):
        self.u, self.d, self.length, self.equal = u, d, np.asarray(1 - np.abs(d)), not d.any()

    @cached_property
    def parts(self) -> tuple[Array, Array]:
        """Return L·expit(u) and L·expit(-u)."""
        return self.length * special.expit(self.u), self.length * special.expit(-self.u)

    @property
    def x(self) -> tuple[Array, Array]:
        """Return x and 1 - x."""
        near, far = self.parts
        return np.maximum(-self.d, 0) + near, np.maximum(self.d, 0) + far

    @property
    def shifted(self) -> tuple[Array, Array]:
        """Return x + d and 1 - x - d."""
        near, far = self.parts
        return np.maximum(self.d, 0) + near, np.maximum(-self.d, 0) + far

    @property
    def slope(self) -> Array:
        """Return the derivative of A's log odds with respect to u."""
        if self.equal:
            return np.ones_like(self.u)
        near, far = (
            np.divide(part, whole, out=np.ones_like(whole), where=whole > 0)
            for part, whole in zip(self.parts, self.x, strict=True)
        )
        return np.asarray(near * far / self.length)

    def log_odds(self, *, shifted: bool = False) -> Array:
        """Return A's log odds, or B's (`shifted`)."""
        if self.equal:
            return self.u
        share, rest = self.shifted if shifted else self.x
        return self._log(share, 1.0) - self._log(rest, -1.0)

    def _log(self, part: Array, side: float) -> Array:
        """Return the logarithm of a part, also where the part underflows to 0."""
        with np.errstate(divide="ignore"):
            logs = np.log(part)
        lost = part == 0
        if lost.any():
            logs = np.where(lost, np.log(self.length) + side * self.u, logs)
        return np.asarray(logs)


def _stretched(y: Array, up: Array, down: Array) -> Array:
    """Return the u at which A's log odds are y; infinite where B would lie outside [0, 1]."""
    near, far = special.expit(y) - down, special.expit(-y) - up
    with np.errstate(divide="ignore", invalid="ignore"):
        # without a margin, log_expit is accurate also where expit underflows
        log_near = np.where(down > 0, np.log(near), special.log_expit(y))
        log_far = np.where(up > 0, np.log(far), special.log_expit(-y))
        u = log_near - log_far
    outside_near, outside_far = (near <= 0) & (down > 0), (far <= 0) & (up > 0)
    u = np.where(outside_near, -np.inf, np.where(outside_far, np.inf, u))
    return np.where((up == 0) & (down == 0), y, u)


def quantile_search(
    tails: Callable[[Array, NDArray[np.intp]], Sequence[Array]], q: Array, start: Array, sd: Array
) -> Array:
    """Find where distribution functions on [-1, 1] are q, starting near normal quantiles."""
    # Newton's method, within brackets, on the normal quantile of the distribution function, which
    # is nearly a straight line. `tails` takes points and the indices of their distributions.
    target = special.ndtri(q)
    quantile = start.copy()
    low, high = np.full_like(start, -1.0), np.full_like(start, 1.0)
    last = np.full_like(start, np.inf)
    at = np.arange(len(start))
    for _ in range(200):
        d = quantile[at]
        below, density = tails(d, at)
        z = special.ndtri(below)
        low[at] = np.where(z <= target[at], d, low[at])
        high[at] = np.where(z >= target[at], d, high[at])
        gap = np.abs(target[at] - z)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = d + (target[at] - z) * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) / density
        # an unbounded density, at 0 or at an end, makes the steps too short
        good = (newton >= low[at]) & (newton <= high[at]) & (gap <= 0.5 * last[at])
        last[at] = np.where(good, gap, np.inf)
        quantile[at] = np.where(good, newton, (low[at] + high[at]) / 2)
        # Newton's method squares the error, times a factor that is large for heavy tails: after a
        # move of 1e-6 of the span, the error is still below 1e-10 of it
        span = np.minimum(sd[at], 1 - np.abs(d))
        near = np.where(good, 1e-6 * span, 1e-15 * np.maximum(span, np.abs(d)))
        # a probability so tiny that it has no digits, beside its density, stops the steps, too
        settled = (np.abs(quantile[at] - d) <= near) & ~(good & (gap > 0.01))
        at = at[~settled & (gap > 0)]
        if not len(at):
            break
    return quantile


# --- Scores that are not ratios of linear forms
#
# P(B - A <= d) is the average of B's distribution function over A's density, or of A's over B's:
# over the narrower of the two. The density is smooth on the scale of the log odds of the score
# between its bounds, where a trapezoid rule converges fast; half of its points show the error.

_RULE_POINTS = 161
_TAIL_LEFT_OUT = 1e-13  # probability on either side
_CURVE_POINTS = 61  # a drawn density is interpolated between these


@dataclass(frozen=True, eq=False)
class _CompositePair:
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
        wide = self.b if self.a_is_narrower else self.a
        return self._average(d, lambda t: wide.tail(t, upper=upper is self.a_is_narrower))

    def density(self, d: Array) -> Array:
        return self._average(d, (self.b if self.a_is_narrower else self.a).density)

    def _average(self, d: Array, function: Callable[[Array], Array]) -> Array:
        x, mass = self.rule
        at = x + (d if self.a_is_narrower else -d)[:, None]
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
        d = self.centre + self.sd * PROBES
        coarser = _CompositePair(self.a.coarser, self.b.coarser, self.points // 2 + 1).tail(d)
        within = sum(single.error for single in (self.a, self.b) if single.is_smooth)
        return float(np.max(np.abs(self.tail(d) - coarser))) + within

    def limits(self, tail: float) -> tuple[float, float]:
        """Return the two quantiles beyond each of which lies the probability `tail`."""

        def tails(x: Array) -> tuple[Array, Array]:
            below, above = self.tail(x[:1]), self.tail(x[1:], upper=True)
            return np.append(below, 1 - above), self.density(x)

        return limits_beyond(tail, tails, self.centre, self.sd, self.a.own)


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


class CompositeIndependentPosterior(Outcomes):
    """The posterior of B minus A, for independent posteriors of the two scores."""

    kind = "independent"

    def __init__(self, a: CompositePosterior, b: CompositePosterior):
        self.shape = np.broadcast_shapes(a.shape, b.shape)
        sides = a._flat(self.shape).tables, b._flat(self.shape).tables
        self._pairs = [_CompositePair(*pair) for pair in zip(*sides, strict=True)]

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

    @property
    def _symmetric(self) -> Any:
        alike = [np.array_equal(pair.a.cells, pair.b.cells) for pair in self._pairs]
        return np.reshape(alike, self.shape)

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

    def _each(self, function: Callable[[_CompositePair], float]) -> Any:
        return plain(np.reshape([function(pair) for pair in self._pairs], self.shape))

    def _at(self, name: str, d: ArrayLike) -> Any:
        d = np.asarray(d, dtype=np.float64)
        shape = np.broadcast_shapes(self.shape, d.shape)
        flat = np.broadcast_to(d, shape).reshape(-1, len(self._pairs))
        columns = [
            pair.density(own)
            if name == "pdf"
            else np.minimum(pair.tail(own, upper=name == "sf"), 1.0)  # the sum of weights rounds
            for pair, own in zip(self._pairs, flat.T, strict=True)
        ]
        return plain(np.stack(columns, axis=-1).reshape(shape))
