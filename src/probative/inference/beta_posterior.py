"""The posterior of a score whose odds are those of a Beta variate, up to a factor."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special

from probative._validation import one_of, open_probability, random_generator
from probative.errors import InputError
from probative.inference import _log_odds

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from probative._types import RNG, Array, Number

__all__ = ["KINDS", "Mirrored", "Posterior", "plain"]

KINDS = ("equal-tailed", "highest-density")

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
        return _log_odds.log_pdf(self.a, self.b, y - np.log(self.factor))

    def log_odds_cdf(self, y: Array) -> Array:
        """Return the probability of log odds of at most y."""
        return _log_odds.cdf(self.a, self.b, y - np.log(self.factor))

    def log_odds_fast_cdf(self, y: Array) -> Array:
        """Return `log_odds_cdf` with absolute accuracy only, in less time."""
        return _log_odds.fast_cdf(self.a, self.b, y - np.log(self.factor))

    def log_odds_sf(self, y: Array) -> Array:
        """Return the probability of log odds above y."""
        return _log_odds.sf(self.a, self.b, y - np.log(self.factor))

    def log_odds_rule(self) -> tuple[Array, Array]:
        """Return nodes and weights (along a new last axis) that average over the log odds."""
        y, weight = _log_odds.rule(self.a, self.b)
        return y + np.log(self.factor), weight

    def log_odds_window(self) -> tuple[Array, Array]:
        """Return the log odds outside which the density is negligible."""
        return self._window

    def log_odds_spread(self) -> Array:
        """Return the distance over which the density of the log odds can change at most."""
        return self._spread

    @cached_property
    def _window(self) -> tuple[Array, Array]:
        low, high = _log_odds.window(self.a, self.b)
        return low + np.log(self.factor), high + np.log(self.factor)

    @cached_property
    def _spread(self) -> Array:
        return _log_odds.spread(self.a, self.b)

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
        if one_of("kind", kind, KINDS) == "equal-tailed":
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
