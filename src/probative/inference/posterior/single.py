"""Compute the posterior of one score, given confusion counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special

from probative._validation import one_of, open_probability, positive, random_generator
from probative.counts import counts_of
from probative.errors import InputError
from probative.inference.posterior import log_odds
from probative.inference.posterior import log_odds as _log_odds
from probative.inference.posterior.nodes import Nodes, gauss_nodes
from probative.metrics import TABLE, Composite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from probative._validation import RNG, Array, Number
    from probative.counts import Counts


# -----------------------------------------------------------------------------
# The posterior of a score whose odds are those of a Beta variate, up to a factor.
# -----------------------------------------------------------------------------

_KINDS = ("equal-tailed", "highest-density")

# Tables handled at once where each needs dozens or hundreds of numbers.
_CHUNK = 1024


class Posterior:
    """A score whose odds are `factor` times the odds of a Beta(a, b) variate.

    Parameters
    ----------
    a, b
        Shapes of the Beta variate: numbers, or arrays for as many tables.
    factor
        1 for proportions, 2 for F1 (whose Beta variate is the Jaccard index).
    """

    def __init__(self, a: ArrayLike, b: ArrayLike, factor: float = 1.0):
        self.a, self.b = np.broadcast_arrays(
            np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
        )
        self.factor = factor

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tables; () for a single one."""
        return self.a.shape

    # --- on the scale of log odds, y: what the tests of two models build on ---

    def log_odds_logpdf(self, y: Array) -> Array:
        """Return the log density of the score's log odds."""
        return log_odds.log_pdf(self.a, self.b, y - np.log(self.factor))

    def log_odds_cdf(self, y: Array) -> Array:
        """Return the probability of log odds of at most y."""
        return log_odds.cdf(self.a, self.b, y - np.log(self.factor))

    def log_odds_fast_cdf(self, y: Array) -> Array:
        """Return `log_odds_cdf` with absolute accuracy only, in less time."""
        return log_odds.fast_cdf(self.a, self.b, y - np.log(self.factor))

    def log_odds_sf(self, y: Array) -> Array:
        """Return the probability of log odds above y."""
        return log_odds.sf(self.a, self.b, y - np.log(self.factor))

    def log_odds_rule(self) -> tuple[Array, Array]:
        """Return nodes and weights (along a new last axis) that average over the log odds."""
        y, weight = log_odds.rule(self.a, self.b)
        return y + np.log(self.factor), weight

    def log_odds_window(self) -> tuple[Array, Array]:
        """Return the log odds outside which the density is negligible."""
        return self._window

    def log_odds_spread(self) -> Array:
        """Return the distance over which the density of the log odds can change at most."""
        return self._spread

    @cached_property
    def _window(self) -> tuple[Array, Array]:
        low, high = log_odds.window(self.a, self.b)
        return low + np.log(self.factor), high + np.log(self.factor)

    @cached_property
    def _spread(self) -> Array:
        return log_odds.spread(self.a, self.b)

    def at_nodes(self, function: str, y: Array) -> Array:
        """Call a function of the log odds with a row of arguments for every table."""
        values: Array = getattr(self[..., None], function)(y)
        return values

    def mirrored(self) -> Mirrored:
        """Return the posterior of the shortfall, 1 minus the score."""
        return Mirrored(self)

    # --- on the scale of the score, t ---

    def logpdf(self, t: ArrayLike) -> Number:
        """Return the log density at t; minus infinity outside [0, 1]."""
        t, inner = _scores(t)
        # for a shape of 1 the density has a finite limit at the end, which log odds of ±600 reach
        y = np.where(inner, special.logit(np.where(inner, t, 0.5)), np.where(t <= 0, -600.0, 600.0))
        density = self.log_odds_logpdf(y) - special.log_expit(y) - special.log_expit(-y)
        at_end = [
            np.where(shape == 1, density, np.where(shape < 1, np.inf, -np.inf))
            for shape in (self.a, self.b)
        ]
        density = np.select([t == 0, t == 1, inner], [*at_end, density], -np.inf)
        return plain(np.where(np.isnan(t), np.nan, density))

    def pdf(self, t: ArrayLike) -> Number:
        """Return the density at t; 0 outside [0, 1]."""
        return plain(np.exp(self.logpdf(t)))

    def cdf(self, t: ArrayLike) -> Number:
        """Return the probability of a score of at most t."""
        return self._tail(self.log_odds_cdf, t, 0.0, 1.0)

    def sf(self, t: ArrayLike) -> Number:
        """Return the probability of a score above t, accurate where it is tiny."""
        return self._tail(self.log_odds_sf, t, 1.0, 0.0)

    def ppf(self, q: ArrayLike) -> Number:
        """Return the quantile: the score below which lies the probability q."""
        return plain(self._from_share(special.betaincinv(self.a, self.b, q)))

    def isf(self, q: ArrayLike) -> Number:
        """Return the score above which lies the probability q, accurate where q is tiny."""
        return plain(self._from_share(special.betainccinv(self.a, self.b, q)))

    def rvs(self, size: int | tuple[int, ...] | None = None, rng: RNG | None = None) -> Number:
        """Draw scores: `size` of them a table, so that the shape is `size` and then the tables'."""
        rng = random_generator(rng)
        shape = () if size is None else np.broadcast_shapes(size)
        return plain(self._from_share(rng.beta(self.a, self.b, (*shape, *self.shape))))

    def interval(self, level: float = 0.95, *, kind: str = "equal-tailed") -> tuple[Number, Number]:
        """Return the limits between which the score lies with probability `level`.

        Parameters
        ----------
        level
            A probability, strictly between 0 and 1.
        kind
            "equal-tailed": as much probability below as above. "highest-density": the shortest
            interval; it reaches the end of the scale where the density is highest there.
        """
        level = open_probability("level", level)
        if one_of("kind", kind, _KINDS) == "equal-tailed":
            tail = (1 - level) / 2
            return self.ppf(tail), self.isf(tail)
        return self._highest_density(level)

    @property
    def mean(self) -> Number:
        """The expected score."""
        if self.factor == 1:
            return plain(self.a / (self.a + self.b))
        return plain(self._moments.mean)

    @property
    def var(self) -> Number:
        """The variance of the score."""
        if self.factor == 1:
            n = self.a + self.b
            return plain((self.a / n) * (self.b / n) / (n + 1))
        return plain(self._moments.var)

    @property
    def mode(self) -> Number:
        """The most probable score; NaN where there is none or more than one (a flat density)."""
        a, b = self.a, self.b
        c, k = self.factor, self.factor - 1
        # the density is stationary where 2k t² + h t = c(a - 1)
        h = (a - 1) * (c + k) + (b - 1) * c - k * (a + b)
        with np.errstate(invalid="ignore", divide="ignore"):
            root = np.sqrt(h**2 + 8 * k * c * (a - 1))
            inner = np.where(h > 0, 2 * c * (a - 1) / (h + root), (root - h) / (4 * k or np.nan))
        low, high = a < 1, b < 1
        mode = np.select([low & high, low, high], [np.nan, 0.0, 1.0], np.clip(inner, 0, 1))
        return plain(mode)

    def __getitem__(self, index: Any) -> Posterior:
        """Return the posterior of some of the tables."""
        some = Posterior.__new__(Posterior)
        some.a, some.b, some.factor = self.a[index], self.b[index], self.factor
        return some

    def _flat(self, shape: tuple[int, ...]) -> Posterior:
        """The tables, repeated to fill `shape` and laid out in one row."""
        if shape == self.shape and len(shape) == 1:
            return self
        a, b = (np.broadcast_to(x, shape).ravel() for x in (self.a, self.b))
        return Posterior(a, b, self.factor)

    def _smallest_shape(self) -> Array:
        return np.asarray(np.minimum(self.a, self.b))

    # --- shared machinery ---

    @cached_property
    def _moments(self) -> _Moments:
        def averages(part: Posterior) -> tuple[Array, Array]:
            y, weight = part.log_odds_rule()
            # of the two, score and shortfall, take the smaller: its digits are all there
            side = np.where(part.a * part.factor > part.b, -1.0, 1.0)
            u = special.expit(side[..., None] * y)
            mean = np.sum(weight * u, axis=-1)
            var = np.sum(weight * (u - mean[..., None]) ** 2, axis=-1)
            return np.where(side > 0, mean, 1 - mean), var

        return _Moments(*self._in_parts(averages))

    def _in_parts(self, function: Callable[..., Any], *arguments: Array) -> list[Array]:
        """Evaluate a function of tables and arguments on a few thousand of them at a time."""
        shape = np.broadcast_shapes(self.shape, *(np.shape(x) for x in arguments))
        flat = [np.broadcast_to(x, shape).ravel() for x in arguments]
        tables = self._flat(self.shape if self.a.size == 1 else shape)
        if tables.a.size <= _CHUNK:
            order = np.arange(int(np.prod(shape)))
            parts = [(tables, order[i : i + _CHUNK]) for i in range(0, max(1, len(order)), _CHUNK)]
        else:
            # a sum has as many terms as its smallest shape makes it need: like goes with like
            order = np.argsort(tables._smallest_shape())
            cuts = np.array_split(order, -(-len(order) // _CHUNK))
            parts = [(tables[at], at) for at in cuts]
        pieces = [function(part, *(x[at] for x in flat)) for part, at in parts]
        results = []
        for column in zip(*pieces, strict=True):
            result = np.empty(len(order))
            result[order] = np.concatenate(column)
            results.append(result.reshape(shape))
        return results

    def _from_share(self, share: Any) -> Array:
        return np.asarray(self.factor * share / (1 + (self.factor - 1) * share))

    def _tail(
        self, log_odds_tail: Callable[[Array], Array], t: ArrayLike, below: float, above: float
    ) -> Any:
        t, inner = _scores(t)
        tail = log_odds_tail(special.logit(np.where(inner, t, 0.5)))
        tail = np.select([inner, t <= 0, t >= 1], [tail, below, above], np.nan)
        return plain(tail)

    def _highest_density(self, level: float) -> tuple[Any, Any]:
        if np.any((self.a < 1) & (self.b < 1)):
            raise InputError(
                "kind: the density is highest at both ends, so no interval has the highest "
                "density; use 'equal-tailed', or a prior of 1 or more"
            )
        # the tail below the interval grows until the density at its ends is the same
        few, many = np.zeros(self.shape), np.full(self.shape, 1 - level)
        for _ in range(60):
            below = (few + many) / 2
            falls = self.logpdf(self.ppf(below)) >= self.logpdf(self.isf(1 - level - below))
            few, many = np.where(falls, few, below), np.where(falls, below, many)
        below = (few + many) / 2
        low = np.where(below < 1e-15, 0.0, self.ppf(below))
        high = np.where(1 - level - below < 1e-15, 1.0, self.isf(1 - level - below))
        return plain(low), plain(high)


class Mirrored:
    """The posterior of 1 minus a score, as far as the difference of two scores needs it."""

    def __init__(self, original: Posterior):
        self.original = original

    @property
    def var(self) -> Number:
        """The variance."""
        return self.original.var

    def sf(self, t: ArrayLike) -> Number:
        """Return the probability of a shortfall above t."""
        return self.original.cdf(1 - np.asarray(t))

    def log_odds_window(self) -> tuple[Array, Array]:
        """Return the log odds outside which the density is negligible."""
        low, high = self.original.log_odds_window()
        return -high, -low

    def log_odds_spread(self) -> Array:
        """Return the distance over which the density of the log odds can change at most."""
        return self.original.log_odds_spread()

    def at_nodes(self, function: str, y: Array) -> Array:
        """Call a function of the log odds with a row of arguments for every table."""
        if function == "log_odds_fast_cdf":
            return np.asarray(1 - self.original.at_nodes(function, -y))
        mirror = {"log_odds_cdf": "log_odds_sf", "log_odds_sf": "log_odds_cdf"}
        return self.original.at_nodes(mirror.get(function, function), -y)

    def __getitem__(self, index: Any) -> Mirrored:
        return Mirrored(self.original[index])


class _Moments(NamedTuple):
    mean: Array
    var: Array


def _scores(t: ArrayLike) -> tuple[Array, NDArray[np.bool_]]:
    t = np.asarray(t, dtype=np.float64)
    return t, (t > 0) & (t < 1)


def plain(value: Any) -> Any:
    """A single number as a float, an array as itself."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value)


# -----------------------------------------------------------------------------
# Averages of shifted log-odds distributions: what F-beta's posterior is made of.
# -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Mixture:
    """Log odds of Beta(a, b) plus a shift that takes a value with each weight.

    All arrays have the shifts along their last axis; a and b have length 1 there. The
    arguments of the methods have the shape of the tables, or any shape for a single table.
    """

    a: Array
    b: Array
    shift: Array
    weight: Array

    def mirrored(self) -> _Mixture:
        """Change the sign of the log odds: successes and failures exchanged."""
        return _Mixture(self.b, self.a, -self.shift, self.weight)

    def take(self, which: NDArray[np.bool_]) -> _Mixture:
        """Some of the tables; a single table serves for all."""
        if len(self.a) == 1:
            return self
        return _Mixture(self.a[which], self.b[which], self.shift[which], self.weight[which])

    def spread(self) -> Array:
        """Standard deviation."""
        mean = np.sum(self.weight * self.shift, axis=-1, keepdims=True)
        var = np.sum(self.weight * (self.shift - mean) ** 2, axis=-1)
        own = _log_odds.spread(self.a, self.b)[..., 0]
        return np.asarray(np.sqrt(own**2 + var))

    def lower_tail(self, y: Array) -> Array:
        """Probability of at most y."""
        tails = _log_odds.cdf(self.a, self.b, y[..., None] - self.shift)
        return np.asarray(np.sum(self.weight * tails, axis=-1))

    def fast_lower_tail(self, y: Array) -> Array:
        """Probability of at most y, with absolute accuracy only."""
        tails = _log_odds.fast_cdf(self.a, self.b, y[..., None] - self.shift)
        return np.asarray(np.sum(self.weight * tails, axis=-1))

    def log_pdf(self, y: Array) -> Array:
        """Log density."""
        terms = self.log_terms(y)
        highest = terms.max(axis=-1, keepdims=True)
        return np.asarray(highest[..., 0] + np.log(np.sum(np.exp(terms - highest), axis=-1)))

    def log_terms(self, y: Array) -> Array:
        """Log of each shift's part of the density."""
        with np.errstate(divide="ignore"):
            log_weight = np.log(self.weight)
        return log_weight + _log_odds.log_pdf(self.a, self.b, y[..., None] - self.shift)

    def quantile(self, q: Array) -> Array:
        """Where the lower tail is q: Newton's method on its logarithm, kept within brackets."""
        a, b = self.a[..., 0], self.b[..., 0]
        with np.errstate(divide="ignore"):
            own = np.log(special.betaincinv(a, b, q)) - np.log(special.betainccinv(b, a, q))
        own = np.clip(own, -700, 700)
        low, high = own + self.shift.min(axis=-1), own + self.shift.max(axis=-1)
        centre = np.sum(self.weight * self.shift, axis=-1)
        peak = np.log(self.a / self.b)[..., 0]
        wider = self.spread() / _log_odds.spread(self.a, self.b)[..., 0]
        y = np.clip(peak + centre + wider * (own - peak), low, high)
        close = 1e-8 * self.spread()
        with np.errstate(divide="ignore", invalid="ignore"):
            log_q = np.log(q)
            for _ in range(60):
                tail = self.lower_tail(y)
                excess = np.log(tail) - log_q
                high = np.where(excess >= 0, y, high)
                low = np.where(excess <= 0, y, low)
                newton = y - excess * tail / np.exp(self.log_pdf(y))
                inside = (newton >= low) & (newton <= high)
                move = np.where(inside, newton, (low + high) / 2) - y
                y = y + move
                if not np.any(np.abs(move) > close):  # the next move would be its square
                    break
        return np.select([q > 0, q == 0], [y, -np.inf], np.nan)

    def peak(self) -> Array:
        """Log odds at which the density of the score itself, not of its log odds, is highest."""
        y, _ = _log_odds.rule(self.a[..., 0], self.b[..., 0])
        low = np.minimum(y[..., 0] + self.shift.min(axis=-1), -25.0)
        high = np.maximum(y[..., -1] + self.shift.max(axis=-1), 25.0)
        start, end = low, high
        for _ in range(80):
            middle = (low + high) / 2
            rises = self._score_slope(middle) > 0
            low, high = np.where(rises, middle, low), np.where(rises, high, middle)
        return np.select([low == start, high == end], [-np.inf, np.inf], (low + high) / 2)

    def _score_slope(self, y: Array) -> Array:
        """Derivative, in y, of the log density of the score."""
        part = special.softmax(self.log_terms(y), axis=-1)
        slopes = _log_odds.slope(self.a, self.b, y[..., None] - self.shift)
        return np.asarray(np.sum(part * slopes, axis=-1) + np.tanh(y / 2))


# -----------------------------------------------------------------------------
# The posterior of F-beta.
# -----------------------------------------------------------------------------

_NEAR = 1e-6  # a search tells a flat top from its surroundings no better


class _FBetaPosterior(Posterior):
    """F-beta: an average of posteriors like that of F1, over the kinds of the errors.

    Parameters
    ----------
    tp, fp, fn
        Counts with the prior added: shapes of three independent gamma variates.
    beta
        The weight of recall.
    """

    def __init__(self, tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, beta: float):
        tp, fp, fn = (np.asarray(x, dtype=np.float64) for x in (tp, fp, fn))
        super().__init__(tp, fp + fn, 1 + beta**2)
        self.fp, self.fn = np.broadcast_arrays(fp, fn)
        self.beta = beta

    def __getitem__(self, index: Any) -> _FBetaPosterior:
        """Return the posterior of some of the tables."""
        return _FBetaPosterior(self.a[index], self.fp[index], self.fn[index], self.beta)

    def log_odds_logpdf(self, y: Array) -> Array:
        """Return the log density of the score's log odds."""
        return self._in_parts(lambda part, y: (part._mixture.log_pdf(y),), y)[0]

    def log_odds_cdf(self, y: Array) -> Array:
        """Return the probability of log odds of at most y."""
        return self._in_parts(lambda part, y: (part._mixture.lower_tail(y),), y)[0]

    def log_odds_fast_cdf(self, y: Array) -> Array:
        """Return `log_odds_cdf` with absolute accuracy only, in less time."""
        return self._in_parts(lambda part, y: (part._mixture.fast_lower_tail(y),), y)[0]

    def log_odds_sf(self, y: Array) -> Array:
        """Return the probability of log odds above y."""
        return self._in_parts(lambda part, y: (part._mixture.mirrored().lower_tail(-y),), y)[0]

    def log_odds_window(self) -> tuple[Array, Array]:
        """Return the log odds outside which the density is negligible."""
        low, high = _log_odds.window(self.a, self.b)
        shift = self._mixture.shift
        return low + shift.min(axis=-1), high + shift.max(axis=-1)

    def log_odds_rule(self) -> tuple[Array, Array]:
        """Return nodes and weights (along a new last axis) that average over the log odds."""
        # the shift may end abruptly, so only the Beta variate makes the density smooth
        y, length = _log_odds.nodes(*self.log_odds_window(), self.log_odds_spread(), np.inf)
        log_weight = self.at_nodes("log_odds_logpdf", y)
        weight = length * np.exp(log_weight - log_weight.max(axis=-1, keepdims=True))
        return y, weight / weight.sum(axis=-1, keepdims=True)

    def at_nodes(self, function: str, y: Array) -> Array:
        """Call a function of the log odds with a row of arguments for every table."""
        if self.a.size == 1:
            values: Array = getattr(self, function)(y)
            return values
        columns = np.moveaxis(y, -1, 0)  # one by one: the shifts are a third dimension
        return np.stack([getattr(self, function)(column) for column in columns], axis=-1)

    def ppf(self, q: ArrayLike) -> Number:
        """Return the quantile: the score below which lies the probability q."""
        q = np.asarray(q, dtype=np.float64)
        return plain(self._quantile(q, 1 - q))

    def isf(self, q: ArrayLike) -> Number:
        """Return the score above which lies the probability q, accurate where q is tiny."""
        q = np.asarray(q, dtype=np.float64)
        return plain(self._quantile(1 - q, q))

    def rvs(self, size: int | tuple[int, ...] | None = None, rng: RNG | None = None) -> Number:
        """Draw scores: `size` of them a table, so that the shape is `size` and then the tables'."""
        rng = random_generator(rng)
        shape = (*(() if size is None else np.broadcast_shapes(size)), *self.shape)
        errors = rng.beta(self.fn, self.fp, shape)
        factor = self.factor / (1 + (self.beta**2 - 1) * errors)
        share = rng.beta(self.a, self.b, shape)
        return plain(factor * share / (1 + (factor - 1) * share))

    @property
    def mean(self) -> Number:
        """The expected score."""
        return plain(self._moments.mean)

    @property
    def var(self) -> Number:
        """The variance of the score."""
        return plain(self._moments.var)

    @property
    def mode(self) -> Number:
        """The most probable score; NaN where the density is highest at both ends."""
        inner = self._in_parts(lambda part: (special.expit(part._mixture.peak()),))[0]
        # with a shape of 1 the density may be highest at an end, which a search only comes near
        inner = np.where((self.a == 1) & (inner < _NEAR), 0.0, inner)
        inner = np.where((self.b == 1) & (1 - inner < _NEAR), 1.0, inner)
        low, high = self.a < 1, self.b < 1
        return plain(np.select([low & high, low, high], [np.nan, 0.0, 1.0], inner))

    def _flat(self, shape: tuple[int, ...]) -> _FBetaPosterior:
        if shape == self.shape and len(shape) == 1:
            return self
        tp, fp, fn = (np.broadcast_to(x, shape).ravel() for x in (self.a, self.fp, self.fn))
        return _FBetaPosterior(tp, fp, fn, self.beta)

    def _smallest_shape(self) -> Array:
        return np.asarray(np.minimum(self.fp, self.fn))

    @cached_property
    def _mixture(self) -> _Mixture:
        """What the score's log odds are, given each possible share of misses among the errors."""
        gain = self.beta**2 - 1
        steepest = special.logit(1 / (1 + self.beta))
        ends, _ = _log_odds.rule(self.fn, self.fp)
        share = special.expit(np.clip(steepest, ends[..., 0], ends[..., -1]))
        slope = np.abs(gain) * share * (1 - share) / (1 + gain * share)
        with np.errstate(divide="ignore"):
            finest = _log_odds.spread(self.a, self.b) / slope
        odds, weight = _log_odds.rule(self.fn, self.fp, finest)
        weighed = special.expit(-odds) + self.beta**2 * special.expit(odds)
        return _Mixture(self.a[..., None], self.b[..., None], np.log(self.factor / weighed), weight)

    def _quantile(self, below: Array, above: Array) -> Array:
        def solve(part: _FBetaPosterior, below: Array, above: Array) -> tuple[Array]:
            mixture = part._mixture
            upper = above < below
            # the lower tail of the mirror image is the upper tail
            y = np.empty(below.shape)
            y[~upper] = mixture.take(~upper).quantile(below[~upper])
            y[upper] = -mixture.take(upper).mirrored().quantile(above[upper])
            return (special.expit(y),)

        return self._in_parts(solve, below, above)[0]


# -----------------------------------------------------------------------------
# A Beta variate whose tails are looked up, where they are wanted at thousands of points.
# -----------------------------------------------------------------------------

_ENTRIES = 2**12
_LEAST = 0.25  # shapes below which tails reach too far for a table


@dataclass(frozen=True)
class ShareLaw:
    """Beta(a, b), by Hermite's rule between the logarithms of its tails at even log odds.

    The relative error is 1e-7 at most, far in a tail, too.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.posterior.single import ShareLaw
    >>> [f"{float(x[0]):.6f}" for x in ShareLaw(3.5, 8.5).tails(np.array([0.2]))]
    ['0.257655', '0.742345']
    """

    a: float
    b: float

    def tails(self, share: Array) -> tuple[Array, Array]:
        """P(at most this share) and P(above it)."""
        if min(self.a, self.b) < _LEAST:
            return special.betainc(self.a, self.b, share), special.betaincc(self.a, self.b, share)
        below, above = self._logs
        with np.errstate(divide="ignore"):
            y = np.clip(special.logit(share), below.x[0], below.x[-1])
        inside = (share > 0) & (share < 1)
        return (
            np.where(inside, np.exp(below(y)), share >= 1),
            np.where(inside, np.exp(above(y)), share <= 0),
        )

    def density(self, share: Array) -> Array:
        """The density at a share."""
        inner = np.clip(share, 1e-300, 1 - 1e-16)
        logs = special.xlogy(self.a - 1, inner) + special.xlog1py(self.b - 1, -inner)
        return np.asarray(np.exp(logs - special.betaln(self.a, self.b)))

    @cached_property
    def _logs(self) -> tuple[Any, Any]:
        from scipy.interpolate import CubicHermiteSpline

        shapes = np.array(self.a), np.array(self.b)
        y = np.linspace(*_log_odds.window(*shapes), _ENTRIES)
        density = np.exp(_log_odds.log_pdf(*shapes, y))
        below, above = _log_odds.cdf(*shapes, y), _log_odds.sf(*shapes, y)
        return (
            CubicHermiteSpline(y, np.log(below), density / below),
            CubicHermiteSpline(y, np.log(above), -density / above),
        )


# -----------------------------------------------------------------------------
# Posteriors of scores that are no ratio of linear forms.
#
# The four cells have a Dirichlet posterior: the share of positives, recall and specificity are
# then independent Beta variates. Every score rises with recall, the others given; so its
# distribution function is that of recall at the root of an equation, averaged over the others by
# Gauss rules. The same holds with answer and system exchanged, and with yes and no: what varies
# the score most takes the place of recall, and the average is one of a smooth function.
# -----------------------------------------------------------------------------

_TOLERANCE, _MOST_NODES = 1e-9, 400
_FEW = 3.0  # items and prior, below which a cell is nearly empty
_POINTS = (384, 56)  # of each share, where one or two are averaged over
_NEAR_ENDS = (0.9, 0.99)
_PROBES = np.array([-2.0, -0.6, 0.9, 2.0])  # standard deviations from the middle
_STEP = 1e-6  # of the scale, for a derivative
_NEGLIGIBLE = 1e-10  # the weight of a node that is left out
_MANY = 2**14  # tails from which on they are looked up
_GRID = 257  # points for moments and modes
_CLOSE = 1e-9  # of the scale: a limit is settled
_FARTHEST = 9.0  # standard deviations
# The orders of tp, fp, fn, tn that put recall, specificity, precision and npv first.
_ORDERS = ([0, 1, 2, 3], [3, 2, 1, 0], [0, 2, 1, 3], [3, 1, 2, 0])
_SENSIBLE = {
    "balanced_accuracy": (0, 1),
    "informedness": (0, 1),
    "markedness": (2, 3),
    "fowlkes_mallows": (0, 2),
}


def invert(
    tails: Callable[[Array], tuple[Array, Array]], q: Array, low: float, high: float, start: Array
) -> Array:
    """Where a distribution function reaches q: Newton's method, kept between two bounds.

    Parameters
    ----------
    tails
        The distribution function and its density.
    q
        Probabilities.
    low, high
        The ends of the scale.
    start
        Where to begin.
    """
    below, above = np.full_like(q, low), np.full_like(q, high)
    x = np.clip(start, low + 1e-9 * (high - low), high - 1e-9 * (high - low))
    for _ in range(60):
        value, slope = tails(x)
        below, above = np.where(value < q, x, below), np.where(value < q, above, x)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            new = x - (value - q) / slope
        new = np.where((new > below) & (new < above), new, (below + above) / 2)
        if np.max(np.abs(new - x)) < _CLOSE * (high - low):
            return new
        x = new
    return x


@dataclass(frozen=True, eq=False)
class Single:
    """The posterior of one table."""

    metric: str
    cells: Array  # with the prior
    coarseness: int = 1  # of the points at which few items are averaged

    @cached_property
    def own(self) -> Composite:
        """The score."""
        found = TABLE[self.metric]
        assert isinstance(found, Composite)  # noqa: S101  # others have posteriors of their own
        return found

    @cached_property
    def centre(self) -> float:
        """The score of the cells."""
        return float(self.own.value(*self.cells))

    @cached_property
    def sd(self) -> float:
        """Its standard deviation, nearly."""
        slope = np.array([float(x) for x in self.own.slopes(*self.cells)])
        return float(np.sqrt(max(self.cells @ slope**2, 1e-30)))

    @cached_property
    def order(self) -> Array:
        """The cells in the order in which their first share varies the score most."""
        slope = np.array([float(x) for x in self.own.slopes(*self.cells)])

        def varied(order: list[int]) -> float:
            tp, fn = self.cells[order[0]], self.cells[order[2]]
            return float(tp * fn / (tp + fn) * (slope[order[0]] - slope[order[2]]) ** 2)

        orders = [_ORDERS[i] for i in _SENSIBLE.get(self.metric, range(4))]
        return self.cells[max(orders, key=varied)]

    @property
    def others(self) -> list[tuple[float, float]]:
        """The shapes of the shares that are averaged over."""
        tp, fp, fn, tn = self.order.tolist()
        if self.metric == "fowlkes_mallows":
            return [(tp + fn, fp)]
        if self.metric in ("kappa", "mcc"):
            return [(tn, fp), (tp + fn, fp + tn)]
        return [(tn, fp)]

    @cached_property
    def nodes(self) -> Nodes:
        """At which the other shares are averaged."""
        if self.is_smooth:
            return gauss_nodes(self.others, self._averages, _TOLERANCE, _MOST_NODES)
        points = _POINTS[len(self.others) - 1] // self.coarseness
        return _even_nodes(self.others, points)

    @property
    def coarser(self) -> Single:
        """The same with half of the points."""
        return replace(self, coarseness=2 * self.coarseness)

    @cached_property
    def error(self) -> float:
        """An estimate of the error of the probabilities, beyond rounding."""
        if self.is_smooth:
            return self.nodes.error
        fine, coarse = self._averages([self.nodes, self.coarser.nodes])
        return float(np.max(np.abs(fine - coarse)))

    @property
    def has_few(self) -> bool:
        """Whether the score comes near its bounds, where the average is of what has kinks."""
        return bool(self.cells[: 4 if self.own.needs_tn else 3].min() < _FEW)

    @property
    def is_smooth(self) -> bool:
        """Whether few points tell the average, by rules that know their error."""
        return len(self.others) > 1 and not self.has_few

    def _averages(self, parts: Sequence[Nodes]) -> Array:
        ends = self.own.low, self.own.high
        near = [self.centre + (end - self.centre) * share for end in ends for share in _NEAR_ENDS]
        probes = np.append(np.clip(self.centre + _PROBES * self.sd, *ends), near)
        return np.array([self.tail(probes, part) for part in parts])

    def tail(self, t: Array, nodes: Nodes | None = None, *, upper: bool = False) -> Array:
        """P(at most t), or P(above t)."""
        nodes = self.nodes if nodes is None else nodes
        tp, _, fn, _ = self.order
        share = np.clip(self._recall(t[:, None], nodes), 0.0, 1.0)
        if share.size > _MANY:
            return np.asarray(self._law.tails(share)[upper] @ nodes.weight)
        function = special.betaincc if upper else special.betainc
        return np.asarray(function(tp, fn, share) @ nodes.weight)

    @cached_property
    def _law(self) -> ShareLaw:
        return ShareLaw(float(self.order[0]), float(self.order[2]))

    def density(self, t: Array) -> Array:
        """The density at t."""
        tp, _, fn, _ = self.order
        h = _STEP * min(self.sd, 0.1)
        share = self._recall(t[:, None], self.nodes)
        rise = self._recall(t[:, None] + h, self.nodes) - self._recall(t[:, None] - h, self.nodes)
        inside = (share > 0) & (share < 1)
        share = np.where(inside, share, 0.5)
        logs = special.xlogy(tp - 1, share) + special.xlog1py(fn - 1, -share)
        values = np.exp(logs - special.betaln(tp, fn)) * rise / (2 * h)
        return np.asarray(np.where(inside, values, 0.0) @ self.nodes.weight)

    def _recall(self, t: Any, nodes: Nodes) -> Any:
        """The recall at which the score is t, given the other shares; outside [0, 1] if none is."""
        if self.metric == "fowlkes_mallows":
            t = np.clip(t, 0.0, 1.0)
            q, rest = nodes.share[0], nodes.rest[0]
            return t * (t * q + np.sqrt((t * q) ** 2 + 4 * q * rest)) / (2 * q)
        false = nodes.rest[0]  # the rate of false alarms
        if self.metric == "balanced_accuracy":
            return 2 * t - 1 + false
        if self.metric in ("informedness", "markedness"):
            return t + false
        p, n = nodes.share[1], nodes.rest[1]
        f = n * false
        if self.metric == "kappa":
            top, bottom = t * ((n - p) * f + p) + 2 * p * f, 2 * n - t * (n - p)
            # where most are positive, no recall gives a kappa so low
            return np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0) / p, -1.0)
        c = t * t * p * n
        root = np.sqrt(c * (c + 4 * f * (n - f)))
        m = (2 * n * f + c + np.sign(t) * root) / (2 * (n * n + c))
        return (m - f) / p

    def quantile(self, q: Array, *, upper: bool = False) -> Array:
        """The score below which lies the probability q, or above which."""

        def tails(t: Array) -> tuple[Array, Array]:
            value = self.tail(t, upper=upper)
            return (1 - value, self.density(t)) if upper else (value, self.density(t))

        start = self.centre + self.sd * special.ndtri(1 - q if upper else q)
        return invert(tails, 1 - q if upper else q, self.own.low, self.own.high, start)

    @cached_property
    def moments(self) -> tuple[float, float]:
        """Mean and variance, by parts: integrals of the tails."""
        ends = np.clip(
            self.centre + np.array([-1, 1]) * _FARTHEST * self.sd, self.own.low, self.own.high
        )
        x, w = _gauss_legendre(_GRID)
        t = ends[0] + (x + 1) / 2 * (ends[1] - ends[0])
        w = w * (ends[1] - ends[0]) / 2
        above = self.tail(t, upper=True)
        mean = ends[0] + float(w @ above)
        second = ends[0] ** 2 + float(w @ (2 * t * above))
        return mean, max(0.0, second - mean**2)


@cache
def _gauss_legendre(points: int) -> tuple[Array, Array]:
    """Return points and weights of Gauss' rule, which take longer to find than most integrals."""
    return np.polynomial.legendre.leggauss(points)


class CompositePosterior(Posterior):
    """The posterior of a score that is no ratio of linear forms, of one table or several.

    Parameters
    ----------
    metric
        balanced_accuracy, mcc, kappa, informedness, markedness or fowlkes_mallows.
    cells
        tp, fp, fn and tn with the prior added: numbers, or arrays for as many tables.

    Examples
    --------
    >>> import probative as pv
    >>> mcc = pv.posterior(pv.Counts(tp=77, fp=44, fn=10, tn=702), "mcc")
    >>> low, high = mcc.interval(0.95)
    >>> print(f"{mcc.mean:.4f} [{low:.4f}, {high:.4f}]")
    0.7103 [0.6377, 0.7761]
    """

    def __init__(self, metric: str, cells: Sequence[ArrayLike]):
        self.metric = metric
        self._cells = np.stack(np.broadcast_arrays(*cells), axis=-1).astype(np.float64)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tables; () for a single one."""
        return self._cells.shape[:-1]

    @cached_property
    def tables(self) -> list[Single]:
        """One posterior per table."""
        return [Single(self.metric, row) for row in self._cells.reshape(-1, 4)]

    @property
    def error(self) -> float:
        """An estimate of the error of the probabilities, beyond rounding."""
        return max(one.error for one in self.tables)

    def _map(self, function: Callable[[Single, Array], Array], at: ArrayLike) -> Any:
        at = np.asarray(at, dtype=np.float64)
        shape = np.broadcast_shapes(self.shape, at.shape)
        if not self.shape:
            return plain(function(self.tables[0], at.reshape(-1)).reshape(shape))
        flat = np.broadcast_to(at, shape).reshape(-1)
        which = np.broadcast_to(np.arange(len(self.tables)).reshape(self.shape), shape).reshape(-1)
        values = [function(self.tables[i], flat[[k]])[0] for k, i in enumerate(which)]
        return np.array(values).reshape(shape)

    def cdf(self, t: ArrayLike) -> Number:
        """Return the probability of a score of at most t."""
        return self._map(lambda one, t: one.tail(_within(one, t)), t)

    def sf(self, t: ArrayLike) -> Number:
        """Return the probability of a score above t."""
        return self._map(lambda one, t: one.tail(_within(one, t), upper=True), t)

    def pdf(self, t: ArrayLike) -> Number:
        """Return the density at t; 0 outside of the bounds of the score."""

        def density(one: Single, t: Array) -> Array:
            inside = (t >= one.own.low) & (t <= one.own.high)
            return np.where(inside, one.density(_within(one, t)), 0.0)

        return self._map(density, t)

    def logpdf(self, t: ArrayLike) -> Number:
        """Return the log density at t."""
        with np.errstate(divide="ignore"):
            return plain(np.log(self.pdf(t)))

    def ppf(self, q: ArrayLike) -> Number:
        """Return the quantile: the score below which lies the probability q."""
        return self._map(lambda one, q: one.quantile(q), q)

    def isf(self, q: ArrayLike) -> Number:
        """Return the score above which lies the probability q."""
        return self._map(lambda one, q: one.quantile(q, upper=True), q)

    def rvs(self, size: int | tuple[int, ...] | None = None, rng: RNG | None = None) -> Number:
        """Draw scores: `size` of them a table, so that the shape is `size` and then the tables'."""
        rng = random_generator(rng)
        shape = () if size is None else np.broadcast_shapes(size)
        drawn = rng.standard_gamma(self._cells, (*shape, *self._cells.shape))
        return plain(self.tables[0].own.value(*np.moveaxis(drawn, -1, 0)))

    def interval(self, level: float = 0.95, *, kind: str = "equal-tailed") -> tuple[Number, Number]:
        """Return the limits between which the score lies with probability `level`.

        Parameters
        ----------
        level
            A probability, strictly between 0 and 1.
        kind
            "equal-tailed", or "highest-density": the shortest interval.
        """
        level = open_probability("level", level)
        tail = (1 - level) / 2
        if one_of("kind", kind, _KINDS) == "equal-tailed":
            return self.ppf(tail), self.isf(tail)
        limits = np.array([_shortest(one, level) for one in self.tables])
        low, high = (plain(column.reshape(self.shape)) for column in limits.T)
        return low, high

    @property
    def mean(self) -> Number:
        """The expected score."""
        return self._map(lambda one, _: np.array([one.moments[0]]), 0.0)

    @property
    def var(self) -> Number:
        """The variance of the score."""
        return self._map(lambda one, _: np.array([one.moments[1]]), 0.0)

    @property
    def mode(self) -> Number:
        """The most probable score."""
        return self._map(lambda one, _: np.array([_mode(one)]), 0.0)

    def __getitem__(self, index: Any) -> CompositePosterior:
        """Return the posterior of some of the tables."""
        some = self._cells[index]
        return CompositePosterior(self.metric, list(np.moveaxis(some, -1, 0)))

    def _flat(self, shape: tuple[int, ...]) -> CompositePosterior:
        cells = np.broadcast_to(self._cells, (*shape, 4)).reshape(-1, 4)
        return CompositePosterior(self.metric, list(cells.T))


def _even_nodes(shapes: Sequence[tuple[float, float]], points: int) -> Nodes:
    """Points whose log odds are evenly spaced, as far as the shares have any probability."""
    rules = []
    for a, b in shapes:
        own = np.array(a), np.array(b)
        y = np.linspace(*_log_odds.window(*own), points)
        weight = np.exp(_log_odds.log_pdf(*own, y))
        rules.append((special.expit(y), special.expit(-y), weight / weight.sum()))
    weight = rules[0][2]
    for _, _, more in rules[1:]:
        weight = np.multiply.outer(weight, more)
    kept = np.nonzero(weight > _NEGLIGIBLE)
    share, rest = (tuple(r[i][at] for r, at in zip(rules, kept, strict=True)) for i in (0, 1))
    return Nodes(share, rest, weight[kept] / weight[kept].sum())


def _within(one: Single, t: Array) -> Array:
    return np.clip(t, one.own.low, one.own.high)


def _mode(one: Single) -> float:
    """By ever finer grids."""
    low, high = one.quantile(np.array([0.001, 0.999]))
    for _ in range(4):
        t = np.linspace(low, high, 65)
        best = int(np.argmax(one.density(t)))
        low, high = t[max(best - 1, 0)], t[min(best + 1, len(t) - 1)]
    return float((low + high) / 2)


def _shortest(one: Single, level: float) -> tuple[float, float]:
    """The quantiles at which the density is the same."""
    few, many = 0.0, 1 - level
    for _ in range(40):
        below = (few + many) / 2
        low, high = one.quantile(np.array([below, below + level]))
        falls = one.density(np.array([low]))[0] >= one.density(np.array([high]))[0]
        few, many = (few, below) if falls else (below, many)
    return float(low), float(high)


# -----------------------------------------------------------------------------
# Posterior distributions of scores, given confusion counts.
#
# On the scale of log odds all of them are one distribution. The odds of precision, recall,
# accuracy and the Jaccard index F* are those of a Beta variate; the odds of F1 are twice the odds
# of F*; and the odds of F-beta are (1 + β²)/(1 + (β² - 1) W) times the odds of F*, with W, the
# share of false negatives among the errors, a Beta variate of its own.
# -----------------------------------------------------------------------------

_PRIORS = (0.001, 1e12)
_BETAS = (1e-6, 1e6)


def prior_weight(prior: float) -> float:
    """Return the weight of a prior, if a posterior can be worked out with it."""
    weight = positive("prior", prior)
    if not _PRIORS[0] <= weight <= _PRIORS[1]:
        raise InputError(
            f"prior: {prior!r} is out of range; expected {_PRIORS[0]} (below it, all that was not "
            f"seen is as good as impossible) to {_PRIORS[1]:g}"
        )
    return weight


def recall_weight(beta: float) -> float:
    """Return the weight of recall in F-beta, if its square can be reckoned with."""
    weight = positive("beta", beta)
    if not _BETAS[0] <= weight <= _BETAS[1]:
        raise InputError(
            f"beta: {beta!r} is out of range; expected {_BETAS[0]} to {_BETAS[1]:g}, beyond which "
            f"F-beta is precision or recall"
        )
    return weight


def posterior(
    counts: Counts, metric: str = "f1", *, prior: float = 1.0, beta: float = 1.0
) -> Posterior:
    """Return the posterior distribution of a score, given confusion counts.

    Parameters
    ----------
    counts
        One table or an array of them; effective counts may be fractions.
    metric
        One of precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv,
        balanced_accuracy, mcc, kappa, informedness, markedness, fowlkes_mallows.
    prior
        The weight λ of the prior: λ is added to each of tp, fp and fn (and tn). With 1, precision
        and recall are uniform before any item is seen.
    beta
        The weight of recall in F-beta; the other metrics do not use it.

    Returns
    -------
    Posterior
        With ``pdf``, ``logpdf``, ``cdf``, ``sf``, ``ppf``, ``isf``, ``rvs``, ``interval``,
        ``mean``, ``var`` and ``mode``. The shapes of the tables and of an argument are broadcast
        against each other, as with SciPy's distributions.

    Notes
    -----
    Precision is Beta(tp + λ, fp + λ), recall Beta(tp + λ, fn + λ), accuracy
    Beta(tp + tn + λ, fp + fn + λ) and the Jaccard index F* Beta(tp + λ, fp + fn + 2λ). F1 is
    2F*/(1 + F*): quantiles carry over, mean, mode and highest-density intervals do not and are
    computed on the scale of F1. The others are averages over what their four cells, a Dirichlet
    variate, leave open, by Gauss rules. F-beta averages over the share of false negatives among the
    errors, to rounding error.

    References
    ----------
    Goutte and Gaussier, "A Probabilistic Interpretation of Precision, Recall and F-Score, with
    Implication for Evaluation" (ECIR 2005); Wang and Li, "Bayes Test of Precision, Recall, and F1
    Measure for Comparison of Two Natural Language Processing Models" (ACL 2019).

    Examples
    --------
    >>> import probative as pv
    >>> f1 = pv.posterior(pv.Counts(tp=77, fp=44, fn=10), "f1")
    >>> print("{:.4f} {:.4f} {:.4f}".format(f1.mean, f1.mode, f1.cdf(0.7)))
    0.7349 0.7387 0.1530
    >>> low, high = f1.interval(0.95)
    >>> print(f"[{low:.4f}, {high:.4f}]")
    [0.6648, 0.7981]
    """
    counts = counts_of("counts", counts)
    score = TABLE[one_of("metric", metric, TABLE)]
    prior = prior_weight(prior)
    beta = recall_weight(beta)
    if score.needs_tn and counts.tn is None:
        raise InputError(f"metric: {metric} needs tn, and these counts have none")
    if isinstance(score, Composite):
        return CompositePosterior(metric, [x + prior for x in score.cells(counts)])
    if score.depends_on_beta:
        return _FBetaPosterior(counts.tp + prior, counts.fp + prior, counts.fn + prior, beta)
    share = score.share()
    if share is None:
        raise InputError(f"metric: {metric} has no posterior; its errors weigh differently")
    # The prior adds its weight once for every count. A share of all items is no share of two
    # kinds of them: its prior is Beta(prior, prior).
    a, b = (
        sum(getattr(counts, cell) for cell in cells)
        + prior * (1 if score.is_of_all_items else len(cells))
        for cells in (share.hits, share.misses)
    )
    return Posterior(a, b, share.factor)
