"""Compute the posterior of one score, given confusion counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from probative._validation import (
    RNG,
    Array,
    Number,
    accepts_seed,
    one_of,
    open_probability,
    positive,
    random_generator,
)
from probative.errors import InputError
from probative.inference.posterior import log_odds
from probative.metrics import TABLE, Composite, bounds, counts_for

if TYPE_CHECKING:
    from probative.counts import Counts
    from probative.inference.posterior.nodes import Nodes


# --- Scores whose odds are a constant factor times the odds of a Beta variate

_KINDS = ("equal-tailed", "highest-density")

# Tables evaluated at once where each needs dozens or hundreds of numbers; bounds the memory.
_CHUNK = 1024


class Posterior:
    """The posterior of a score whose odds are `factor` times the odds of a Beta(a, b) variate.

    Parameters
    ----------
    a, b
        Shapes of the Beta variate: numbers, or arrays with one element per table.
    factor
        1 for proportions, 2 for F1 (whose Beta variate is the Jaccard index).
    """

    def __init__(self, a: ArrayLike, b: ArrayLike, factor: float = 1.0):
        self.a, self.b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
        if self.a.shape != self.b.shape:
            self.a, self.b = np.broadcast_arrays(self.a, self.b)
        self.factor = factor

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the array of tables; () for a single table."""
        return self.a.shape

    # --- on the scale of log odds, y, which the posterior of a difference uses

    def of_log_odds(self, function: str, y: Array) -> Array:
        """Return the `log_pdf`, `cdf`, `fast_cdf` or `sf` of the score's log odds at y."""
        values: Array = getattr(log_odds, function)(self.a, self.b, y - np.log(self.factor))
        return values

    def log_odds_rule(self) -> tuple[Array, Array]:
        """Return nodes and weights (along a new last axis) that average over the log odds."""
        y, weight = log_odds.rule(self.a, self.b)
        return y + np.log(self.factor), weight

    @cached_property
    def log_odds_window(self) -> tuple[Array, Array]:
        """Return the log odds outside which the density is negligible."""
        low, high = log_odds.window(self.a, self.b)
        return low + np.log(self.factor), high + np.log(self.factor)

    @cached_property
    def log_odds_spread(self) -> Array:
        """Return the standard deviation of the Beta variate's log odds, on which steps depend."""
        return log_odds.spread(self.a, self.b)

    def at_nodes(self, function: str, y: Array) -> Array:
        """Call a function of the log odds with one row of arguments per table."""
        return self[..., None].of_log_odds(function, y)

    @property
    def mirrored(self) -> Posterior:
        """Return the posterior of 1 minus the score."""
        return Posterior(self.b, self.a, 1 / self.factor)

    # --- on the scale of the score, t

    def logpdf(self, t: ArrayLike) -> Number:
        """Return the log density at t; minus infinity outside [0, 1]."""
        t, inner = _scores(t)
        # for a shape of 1 the density has a finite limit at the end, which log odds of ±600 reach
        y = np.where(inner, special.logit(np.where(inner, t, 0.5)), np.where(t <= 0, -600.0, 600.0))
        density = self.of_log_odds("log_pdf", y) - special.log_expit(y) - special.log_expit(-y)
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
        return self._tail("cdf", t)

    def sf(self, t: ArrayLike) -> Number:
        """Return the probability of a score above t; accurate where it is tiny."""
        return self._tail("sf", t)

    def ppf(self, q: ArrayLike) -> Number:
        """Return the quantile: the score below which lies the probability q."""
        return plain(self._quantile(np.asarray(q, dtype=np.float64), upper=False))

    def isf(self, q: ArrayLike) -> Number:
        """Return the score above which lies the probability q; accurate for tiny q."""
        return plain(self._quantile(np.asarray(q, dtype=np.float64), upper=True))

    @accepts_seed
    def rvs(self, size: int | tuple[int, ...] | None = None, rng: RNG | None = None) -> Number:
        """Draw scores, `size` per table; the shape of the tables comes last in the result."""
        shape = () if size is None else np.broadcast_shapes(size)
        return plain(self._drawn(random_generator(rng), (*shape, *self.shape)))

    def interval(self, level: float = 0.95, *, kind: str = "equal-tailed") -> tuple[Number, Number]:
        """Return the interval that contains the score with probability `level`.

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
        """Return the expected score."""
        return plain(self._moments[0])

    @property
    def var(self) -> Number:
        """Return the variance of the score."""
        return plain(self._moments[1])

    @property
    def mode(self) -> Number:
        """Return the most probable score; NaN where there is none or several (a flat density)."""
        low, high = self.a < 1, self.b < 1
        choices = [np.nan, 0.0, 1.0]
        return plain(np.select([low & high, low, high], choices, self._inner_mode()))

    def _inner_mode(self) -> Array:
        a, b = self.a, self.b
        c, k = self.factor, self.factor - 1
        # the density is stationary where 2k t² + h t = c(a - 1)
        h = (a - 1) * (c + k) + (b - 1) * c - k * (a + b)
        with np.errstate(invalid="ignore", divide="ignore"):
            root = np.sqrt(h**2 + 8 * k * c * (a - 1))
            inner = np.where(h > 0, 2 * c * (a - 1) / (h + root), (root - h) / (4 * k or np.nan))
        return np.clip(inner, 0, 1)

    def __getitem__(self, index: Any) -> Self:
        """Return the posterior of the selected tables."""
        some: Self = self._each(lambda shapes: shapes[index])
        return some

    def _flat(self, shape: tuple[int, ...]) -> Self:
        """Return the tables broadcast to `shape` and flattened."""
        if shape == self.shape and len(shape) == 1:
            return self
        flat: Self = self._each(lambda shapes: np.broadcast_to(shapes, shape).ravel())
        return flat

    def _each(self, change: Callable[[Array], Array]) -> Any:
        """Return the posterior with changed arrays of tables."""
        return Posterior(change(self.a), change(self.b), self.factor)

    def _smallest_shape(self) -> Array:
        return np.asarray(np.minimum(self.a, self.b))

    # --- helpers

    @cached_property
    def _moments(self) -> list[Array]:
        """Return mean and variance."""
        if self.factor == 1:
            n = self.a + self.b
            return [self.a / n, (self.a / n) * (self.b / n) / (n + 1)]

        def averages(part: Posterior) -> tuple[Array, Array]:
            y, weight = part.log_odds_rule()
            # average the smaller of score and 1 - score, which loses no digits
            side = np.where(part.a * part.factor > part.b, -1.0, 1.0)
            u = special.expit(side[..., None] * y)
            mean = np.sum(weight * u, axis=-1)
            var = np.sum(weight * (u - mean[..., None]) ** 2, axis=-1)
            return np.where(side > 0, mean, 1 - mean), var

        return self._in_parts(averages)

    def _in_parts(self, function: Callable[..., Any], *arguments: Array) -> list[Array]:
        """Evaluate a function of tables and arguments on `_CHUNK` of them at a time."""
        shape = np.broadcast_shapes(self.shape, *(np.shape(x) for x in arguments))
        flat = [np.broadcast_to(x, shape).ravel() for x in arguments]
        tables = self._flat(self.shape if self.a.size == 1 else shape)
        if tables.a.size <= _CHUNK:
            order = np.arange(int(np.prod(shape)))
            parts = [(tables, order[i : i + _CHUNK]) for i in range(0, max(1, len(order)), _CHUNK)]
        else:
            # the smallest shape of a chunk decides how many terms its sums have: sort by it
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

    def _drawn(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return _of_share(rng.beta(self.a, self.b, shape), self.factor)

    def _quantile(self, q: Array, *, upper: bool) -> Array:
        share = (special.betainccinv if upper else special.betaincinv)(self.a, self.b, q)
        return _of_share(share, self.factor)

    def _tail(self, function: str, t: ArrayLike) -> Any:
        t, inner = _scores(t)
        below, above = (0.0, 1.0) if function == "cdf" else (1.0, 0.0)
        tail = self.of_log_odds(function, special.logit(np.where(inner, t, 0.5)))
        return plain(np.select([inner, t <= 0, t >= 1], [tail, below, above], np.nan))

    @property
    def _peaks_at_both_ends(self) -> bool:
        return bool(np.any((self.a < 1) & (self.b < 1)))

    def _highest_density(self, level: float) -> tuple[Any, Any]:
        if self._peaks_at_both_ends:
            raise InputError(
                "kind: the density is highest at both ends, so no interval has the highest "
                "density; use 'equal-tailed', or a prior of 1 or more"
            )
        # find by bisection the lower tail for which the density at both ends is equal
        few, many = np.zeros(self.shape), np.full(self.shape, 1 - level)
        for _ in range(50):
            below = (few + many) / 2
            falls = self.logpdf(self.ppf(below)) >= self.logpdf(self.isf(1 - level - below))
            few, many = np.where(falls, few, below), np.where(falls, below, many)
        below = (few + many) / 2
        least, most = self._bounds
        low = np.where(below < 1e-15, least, self.ppf(below))
        high = np.where(1 - level - below < 1e-15, most, self.isf(1 - level - below))
        return plain(low), plain(high)

    _bounds = 0.0, 1.0  # of the score


def _of_share(share: Any, factor: Any) -> Array:
    """Return the score whose odds are `factor` times those of the share."""
    return np.asarray(factor * share / (1 + (factor - 1) * share))


def _scores(t: ArrayLike) -> tuple[Array, NDArray[np.bool_]]:
    t = np.asarray(t, dtype=np.float64)
    return t, (t > 0) & (t < 1)


def plain(value: Any) -> Any:
    """Return a 0-dimensional value as a float, and any other as an array."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value)


# --- Mixtures of shifted log-odds distributions, of which the posterior of F-beta is one


@dataclass(frozen=True)
class _Mixture:
    """A mixture of the log odds of Beta(a, b), shifted by each `shift` with its `weight`."""

    # All arrays have the shifts along their last axis; a and b have length 1 there. The
    # arguments of the methods have the shape of the tables, or any shape for a single table.

    a: Array
    b: Array
    shift: Array
    weight: Array

    def spread(self) -> Array:
        """Return the standard deviation."""
        mean = np.sum(self.weight * self.shift, axis=-1, keepdims=True)
        var = np.sum(self.weight * (self.shift - mean) ** 2, axis=-1)
        beta_sd = log_odds.spread(self.a, self.b)[..., 0]
        return np.asarray(np.sqrt(beta_sd**2 + var))

    def at(self, function: str, y: Array) -> Array:
        """Return the `log_pdf`, `cdf`, `fast_cdf` or `sf` at y."""
        if function == "log_pdf":
            terms = self._log_terms(y)
            highest = terms.max(axis=-1, keepdims=True)
            return np.asarray(highest[..., 0] + np.log(np.sum(np.exp(terms - highest), axis=-1)))
        tails = getattr(log_odds, function)(self.a, self.b, y[..., None] - self.shift)
        return np.asarray(np.sum(self.weight * tails, axis=-1))

    def _log_terms(self, y: Array) -> Array:
        """Return the log of the contribution of each shift to the density at y."""
        with np.errstate(divide="ignore"):
            log_weight = np.log(self.weight)
        return log_weight + log_odds.log_pdf(self.a, self.b, y[..., None] - self.shift)

    def quantile(self, q: Array) -> Array:
        """Find the y whose lower tail is q, by Newton's method on its logarithm within brackets."""
        a, b = self.a[..., 0], self.b[..., 0]
        with np.errstate(divide="ignore"):
            beta_quantile = np.log(special.betaincinv(a, b, q)) - np.log(
                special.betainccinv(b, a, q)
            )
        beta_quantile = np.clip(beta_quantile, -700, 700)
        low, high = beta_quantile + self.shift.min(axis=-1), beta_quantile + self.shift.max(axis=-1)
        centre = np.sum(self.weight * self.shift, axis=-1)
        peak = np.log(self.a / self.b)[..., 0]
        wider = self.spread() / log_odds.spread(self.a, self.b)[..., 0]
        y = np.clip(peak + centre + wider * (beta_quantile - peak), low, high)
        close = 1e-8 * self.spread()
        with np.errstate(divide="ignore", invalid="ignore"):
            log_q = np.log(q)
            for _ in range(60):
                tail = self.at("cdf", y)
                excess = np.log(tail) - log_q
                high = np.where(excess >= 0, y, high)
                low = np.where(excess <= 0, y, low)
                newton = y - excess * tail / np.exp(self.at("log_pdf", y))
                inside = (newton >= low) & (newton <= high)
                move = np.where(inside, newton, (low + high) / 2) - y
                y = y + move
                if not np.any(np.abs(move) > close):  # Newton converges quadratically from here
                    break
        return np.select([q > 0, q == 0], [y, -np.inf], np.nan)

    def peak(self) -> Array:
        """Return the log odds at which the density of the score (not of its log odds) peaks."""
        y, _ = log_odds.rule(self.a[..., 0], self.b[..., 0])
        low = np.minimum(y[..., 0] + self.shift.min(axis=-1), -25.0)
        high = np.maximum(y[..., -1] + self.shift.max(axis=-1), 25.0)
        start, end = low, high
        for _ in range(80):
            middle = (low + high) / 2
            # the derivative of the log density of the score
            part = special.softmax(self._log_terms(middle), axis=-1)
            slopes = log_odds.slope(self.a, self.b, middle[..., None] - self.shift)
            rises = np.sum(part * slopes, axis=-1) + np.tanh(middle / 2) > 0
            low, high = np.where(rises, middle, low), np.where(rises, high, middle)
        return np.select([low == start, high == end], [-np.inf, np.inf], (low + high) / 2)


# --- The posterior of F-beta

_NEAREST_MODE_TO_AN_END = 1e-6  # score; closer modes are the end: the search resolves no more


class _FBetaPosterior(Posterior):
    """The posterior of F-beta: a mixture of posteriors like that of F1, over kinds of errors."""

    # The arguments tp, fp and fn include the prior.

    def __init__(
        self, tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, beta: float, *, of_rest: bool = False
    ):
        tp, fp, fn = (np.asarray(x, dtype=np.float64) for x in (tp, fp, fn))
        shapes = (fp + fn, tp) if of_rest else (tp, fp + fn)
        super().__init__(*shapes, 1 + beta**2)
        self.fp, self.fn = np.broadcast_arrays(fp, fn)
        self.beta, self.of_rest = beta, of_rest  # `of_rest`: of 1 minus the score

    def _each(self, change: Callable[[Array], Array]) -> _FBetaPosterior:
        tp = self.b if self.of_rest else self.a
        tp, fp, fn = change(tp), change(self.fp), change(self.fn)
        return _FBetaPosterior(tp, fp, fn, self.beta, of_rest=self.of_rest)

    @property
    def mirrored(self) -> Posterior:
        """Return the posterior of 1 minus the score."""
        return _FBetaPosterior(self.a, self.fp, self.fn, self.beta, of_rest=True)

    def of_log_odds(self, function: str, y: Array) -> Array:
        """Return the `log_pdf`, `cdf`, `fast_cdf` or `sf` of the score's log odds at y."""
        return self._in_parts(lambda part, y: (part._mixture.at(function, y),), y)[0]

    @cached_property
    def log_odds_window(self) -> tuple[Array, Array]:
        """Return the log odds outside which the density is negligible."""
        low, high = log_odds.window(self.a, self.b)
        shift = self._mixture.shift
        return low + shift.min(axis=-1), high + shift.max(axis=-1)

    def log_odds_rule(self) -> tuple[Array, Array]:
        """Return nodes and weights (along a new last axis) that average over the log odds."""
        # the shift may end abruptly, so only the Beta variate makes the density smooth
        y, length = log_odds.nodes(*self.log_odds_window, self.log_odds_spread, np.inf)
        log_weight = self.at_nodes("log_pdf", y)
        weight = length * np.exp(log_weight - log_weight.max(axis=-1, keepdims=True))
        return y, weight / weight.sum(axis=-1, keepdims=True)

    def at_nodes(self, function: str, y: Array) -> Array:
        """Call a function of the log odds with one row of arguments per table."""
        if self.a.size == 1:
            return self.of_log_odds(function, y)
        columns = np.moveaxis(y, -1, 0)  # one at a time, since the shifts add a third dimension
        return np.stack([self.of_log_odds(function, column) for column in columns], axis=-1)

    def _drawn(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        errors = rng.beta(self.fn, self.fp, shape)
        factor = self.factor / (1 + (self.beta**2 - 1) * errors)
        return _of_share(rng.beta(self.a, self.b, shape), factor)

    def _inner_mode(self) -> Array:
        inner = self._in_parts(lambda part: (special.expit(part._mixture.peak()),))[0]
        # with a shape of 1 the density may be highest at an end, which the search only approaches
        inner = np.where((self.a == 1) & (inner < _NEAREST_MODE_TO_AN_END), 0.0, inner)
        return np.where((self.b == 1) & (1 - inner < _NEAREST_MODE_TO_AN_END), 1.0, inner)

    def _smallest_shape(self) -> Array:
        return np.asarray(np.minimum(self.fp, self.fn))

    @cached_property
    def _mixture(self) -> _Mixture:
        """Return the log odds of the score as a mixture over the share of misses among errors."""
        gain = self.beta**2 - 1
        steepest = special.logit(1 / (1 + self.beta))
        ends, _ = log_odds.rule(self.fn, self.fp)
        share = special.expit(np.clip(steepest, ends[..., 0], ends[..., -1]))
        slope = np.abs(gain) * share * (1 - share) / (1 + gain * share)
        with np.errstate(divide="ignore"):
            finest = log_odds.spread(self.a, self.b) / slope
        odds, weight = log_odds.rule(self.fn, self.fp, finest)
        weighed = special.expit(-odds) + self.beta**2 * special.expit(odds)
        shift = np.log(weighed / self.factor if self.of_rest else self.factor / weighed)
        return _Mixture(self.a[..., None], self.b[..., None], shift, weight)

    def _quantile(self, q: Array, *, upper: bool) -> Array:
        def solve(part: _FBetaPosterior, below: Array, above: Array) -> tuple[Array]:
            own, high = part._mixture, (above < below)[:, None]
            # the upper tail is the lower tail of the mirror image
            side, shapes = np.where(high, -1.0, 1.0), (own.a, own.b)
            a, b = (np.where(high, shapes[1 - i], shapes[i]) for i in (0, 1))
            mixture = _Mixture(a, b, side * own.shift, own.weight)
            return (special.expit(side[:, 0] * mixture.quantile(np.minimum(below, above))),)

        return self._in_parts(solve, *((1 - q, q) if upper else (q, 1 - q)))[0]


# --- Posteriors of scores that are not ratios of linear forms
#
# The four cells have a Dirichlet posterior, so the share of positives, recall and specificity are
# independent Beta variates. Given the other two, every score increases with recall. Its
# distribution function is therefore that of recall at the root of an equation, averaged over the
# other two by Gauss rules. The same holds after exchanging gold and system, or positive and
# negative. The share that varies the score most takes the place of recall, which makes the
# averaged function smooth.

_OF_TWO_SHARES = ("kappa", "mcc")  # averaged over, and the third one integrated exactly
# With smaller priors the probability lies where shares and their differences from 1 have no digits.
LEAST_PRIOR = 0.1
_TOLERANCE, _MOST_NODES = 1e-9, 400
_SMALLEST_FULL_CELL = 3.0  # items plus prior; with fewer, the score comes near its bounds
# steps in the middle, and how far they hardly grow, in standard deviations of log odds (at most 1):
# where one share is averaged over, and where two are
_STEPS_OF_SHARES = ((0.02, 2.0), (0.15, 2.25))
_FARTHEST_LOG_ODDS = 700.0
_PROBES_NEAR_BOUNDS = (0.9, 0.99)  # fractions of the way from the centre to a bound of the score
PROBES = np.array([-2.0, -0.6, 0.9, 2.0])  # standard deviations from the centre
_DERIVATIVE_STEP, _STEP_OF_FEW = 1e-6, 0.05  # standard deviations
_LARGEST_SD = 0.4  # for which such a step does not reach a spike of the density from far
_FEWEST_TAILS_FOR_A_TABLE = 2**8  # of which each takes as long as ten look-ups
_MOMENT_POINTS = 257
_QUANTILE_TOLERANCE = 1e-9  # fraction of the range of the score
_FARTHEST = 9.0  # standard deviations over which moments are integrated
# The orders of tp, fp, fn, tn that put recall, specificity, precision and npv first.
_ORDERS = ([0, 1, 2, 3], [3, 2, 1, 0], [0, 2, 1, 3], [3, 1, 2, 0])
# The orders for which `_recall` solves a score, where these are not all four.
_ORDERS_OF_METRIC = {
    "balanced_accuracy": (0, 1),
    "informedness": (0, 1),
    "markedness": (2, 3),
    "fowlkes_mallows": (0, 2),
}


def _invert(
    tails: Callable[[Array], tuple[Array, Array]], q: Array, low: float, high: float, start: Array
) -> Array:
    """Find where a distribution function (with its density) is q by Newton's method in brackets."""
    below, above = np.full_like(q, low), np.full_like(q, high)
    x = np.clip(start, low + 1e-9 * (high - low), high - 1e-9 * (high - low))
    for _ in range(60):
        value, slope = tails(x)
        below, above = np.where(value < q, x, below), np.where(value < q, above, x)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            new = x - (value - q) / slope
        new = np.where((new > below) & (new < above), new, (below + above) / 2)
        if np.max(np.abs(new - x)) < _QUANTILE_TOLERANCE * (high - low):
            return new
        x = new
    return x


def limits_beyond(
    tail: float,
    tails: Callable[[Array], tuple[Array, Array]],
    centre: float,
    sd: float,
    score: Composite,
) -> tuple[float, float]:
    """Find the two differences of a score beyond each of which lies the probability `tail`."""
    q, most = np.array([tail, 1 - tail]), score.high - score.low
    low, high = _invert(tails, q, -most, most, centre + sd * special.ndtri(q))
    return float(low), float(high)


@dataclass(frozen=True, eq=False)
class Single:
    """The posterior of a composite score of one table."""

    metric: str
    cells: Array  # tp, fp, fn, tn with the prior added
    coarseness: int = 1  # divides the number of points of the even rule

    @cached_property
    def own(self) -> Composite:
        """Return the entry of the score in the table of metrics."""
        score = TABLE[self.metric]
        assert isinstance(score, Composite)  # noqa: S101  # others have posteriors of their own
        return score

    @cached_property
    def centre(self) -> float:
        """Return the score of the cells."""
        return float(self.own.value(*self.cells))

    @cached_property
    def _slope(self) -> Array:
        return np.array([float(x) for x in self.own.slopes(*self.cells)])

    @cached_property
    def sd(self) -> float:
        """Return the standard deviation of the score to first order (delta method)."""
        return float(np.sqrt(max(float(self.cells @ self._slope**2), 1e-30)))

    @cached_property
    def order(self) -> Array:
        """Return the cells in the order that puts the share that varies the score most first."""

        def varied(order: list[int]) -> float:
            (tp, fn), slope = self.cells[order[:3:2]], self._slope[order[:3:2]]
            return float(tp * fn / (tp + fn) * (slope[0] - slope[1]) ** 2)

        orders = [_ORDERS[i] for i in _ORDERS_OF_METRIC.get(self.metric, range(4))]
        return self.cells[max(orders, key=varied)]

    @property
    def others(self) -> list[tuple[float, float]]:
        """Return the Beta shapes of the shares that are averaged over."""
        tp, fp, fn, tn = self.order.tolist()
        if self.metric == "fowlkes_mallows":
            return [(tp + fn, fp)]
        if self.metric in _OF_TWO_SHARES:
            return [(tn, fp), (tp + fn, fp + tn)]
        return [(tn, fp)]

    @cached_property
    def nodes(self) -> Nodes:
        """Return the nodes of the average over the other shares."""
        from probative.inference.posterior.nodes import gauss_nodes, product

        if self.is_smooth:
            return gauss_nodes(self.others, self._averages, _TOLERANCE, _MOST_NODES)
        # a few items leave kinks in the averaged function and long tails in a share: product rules
        # with small steps around the middle that grow outwards
        (step, even), rules = _STEPS_OF_SHARES[len(self.others) - 1], []
        for a, b in self.others:
            sd = min(1.0, float(log_odds.spread(np.array(a), np.array(b))))
            y, weight = log_odds.stretched(a, b, step * self.coarseness * sd, even * sd)
            y = np.clip(y, -_FARTHEST_LOG_ODDS, _FARTHEST_LOG_ODDS)  # so that no share is 0
            rules.append((special.expit(y), special.expit(-y), weight / weight.sum()))
        return product(rules)

    @property
    def coarser(self) -> Single:
        """Return this posterior with about half of the points per share."""
        return replace(self, coarseness=2 * self.coarseness)

    @cached_property
    def error(self) -> float:
        """Return an estimate of the error of the probabilities, beyond rounding."""
        if self.is_smooth:
            return self.nodes.error
        fine, coarse = self._averages([self.nodes, self.coarser.nodes])
        return float(np.max(np.abs(fine - coarse)))

    @property
    def has_few(self) -> bool:
        """Return True if the score comes near its bounds, where the averaged function has kinks."""
        return bool(self.cells[: 4 if self.own.needs_tn else 3].min() < _SMALLEST_FULL_CELL)

    @property
    def is_smooth(self) -> bool:
        """Return True if Gauss rules, which estimate their own error, suffice for the average."""
        return len(self.others) > 1 and not self.has_few

    def _averages(self, parts: Sequence[Nodes]) -> Array:
        ends = self.own.low, self.own.high
        near = [
            self.centre + (end - self.centre) * share
            for end in ends
            for share in _PROBES_NEAR_BOUNDS
        ]
        probes = np.append(np.clip(self.centre + PROBES * self.sd, *ends), near)
        return np.array([self.tail(probes, part) for part in parts])

    def tail(self, t: Array, nodes: Nodes | None = None, *, upper: bool = False) -> Array:
        """Return P(at most t), or P(above t)."""
        nodes = self.nodes if nodes is None else nodes
        tp, _, fn, _ = self.order
        t = np.clip(t, self.own.low, self.own.high)
        share = np.clip(self._recall(t[:, None], nodes), 0.0, 1.0)
        if share.size > _FEWEST_TAILS_FOR_A_TABLE:
            tail = self._law.sf if upper else self._law.cdf
            return np.asarray(tail(special.logit(share)) @ nodes.weight)
        function = special.betaincc if upper else special.betainc
        return np.asarray(function(tp, fn, share) @ nodes.weight)

    @cached_property
    def _law(self) -> log_odds.TailTable:
        return log_odds.TailTable(float(self.order[0]), float(self.order[2]))

    def density(self, t: Array) -> Array:
        """Return the density at t; 0 outside the bounds of the score."""
        tp, _, fn, _ = self.order
        outside = (t < self.own.low) | (t > self.own.high)
        if self.has_few:  # a sum over nodes has a spike at each where a shape is below 1
            room = np.minimum(t - self.own.low, self.own.high - t)
            step = np.maximum(_STEP_OF_FEW * np.minimum(min(self.sd, _LARGEST_SD), room), 1e-12)
            rise = self.tail(t + step) - self.tail(t - step)
            return np.asarray(np.where(outside, 0.0, rise / (2 * step)))
        t = t[:, None]
        h = _DERIVATIVE_STEP * min(self.sd, 0.1)
        share = self._recall(t, self.nodes)
        rise = self._recall(t + h, self.nodes) - self._recall(t - h, self.nodes)
        inside = (share > 0) & (share < 1)
        share = np.where(inside, share, 0.5)
        logs = special.xlogy(tp - 1, share) + special.xlog1py(fn - 1, -share)
        values = np.exp(logs - special.betaln(tp, fn)) * rise / (2 * h)
        return np.where(outside, 0.0, np.where(inside, values, 0.0) @ self.nodes.weight)

    def _recall(self, t: Any, nodes: Nodes) -> Any:
        """Return the recall at which the score is t, given the other shares."""
        # The result is outside [0, 1] if there is no such recall.
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
            # where most items are positive, no recall gives so low a kappa
            return np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0) / p, -1.0)
        c = t * t * p * n
        root = np.sqrt(c * (c + 4 * f * (n - f)))
        m = (2 * n * f + c + np.sign(t) * root) / (2 * (n * n + c))
        return (m - f) / p

    def quantile(self, q: Array, *, upper: bool = False) -> Array:
        """Return the score below which (or above which) lies the probability q."""

        def tails(t: Array) -> tuple[Array, Array]:
            value = self.tail(t, upper=upper)
            return 1 - value if upper else value, self.density(t)

        q = 1 - q if upper else q
        start = self.centre + self.sd * special.ndtri(q)
        return _invert(tails, q, self.own.low, self.own.high, start)

    @cached_property
    def moments(self) -> tuple[float, float]:
        """Return mean and variance, integrated by parts from the tails."""
        reach = np.inf if self.has_few else _FARTHEST * self.sd
        ends = np.clip(self.centre + np.array([-reach, reach]), self.own.low, self.own.high)
        x, w = _gauss_legendre(_MOMENT_POINTS)
        t = ends[0] + (x + 1) / 2 * (ends[1] - ends[0])
        w = w * (ends[1] - ends[0]) / 2
        above = self.tail(t, upper=True)
        mean = ends[0] + float(w @ above)
        second = ends[0] ** 2 + float(w @ (2 * t * above))
        return mean, max(0.0, second - mean**2)


_gauss_legendre = cache(np.polynomial.legendre.leggauss)  # points and weights, slow to find


class CompositePosterior(Posterior):
    """The posterior of a score that is not a ratio of linear forms, of one table or several.

    The cells are tp, fp, fn and tn with the prior added: numbers, or arrays with one element per
    table.
    """

    def __init__(self, metric: str, cells: Sequence[ArrayLike]):
        self.metric = metric
        self._cells = np.stack(np.broadcast_arrays(*cells), axis=-1).astype(np.float64)
        self._bounds = bounds(metric)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the array of tables; () for a single table."""
        return self._cells.shape[:-1]

    @cached_property
    def tables(self) -> list[Single]:
        """Return one posterior per table."""
        return [Single(self.metric, row) for row in self._cells.reshape(-1, 4)]

    @property
    def error(self) -> float:
        """Return an estimate of the error of the probabilities, beyond rounding."""
        return max(table.error for table in self.tables)

    def _map(self, function: Callable[[Single, Array], Array], at: ArrayLike) -> Any:
        at = np.asarray(at, dtype=np.float64)
        shape = np.broadcast_shapes(self.shape, at.shape)
        if not self.shape:
            return plain(function(self.tables[0], at.reshape(-1)).reshape(shape))
        flat = np.broadcast_to(at, shape).reshape(-1)
        which = np.broadcast_to(np.arange(len(self.tables)).reshape(self.shape), shape).reshape(-1)
        values = [function(self.tables[i], flat[[k]])[0] for k, i in enumerate(which)]
        return np.array(values).reshape(shape)

    def _tail(self, function: str, t: ArrayLike) -> Any:
        return self._map(lambda table, t: table.tail(t, upper=function == "sf"), t)

    def pdf(self, t: ArrayLike) -> Number:
        """Return the density at t; 0 outside the bounds of the score."""
        return self._map(lambda table, t: table.density(t), t)

    def logpdf(self, t: ArrayLike) -> Number:
        """Return the log density at t."""
        with np.errstate(divide="ignore"):
            return plain(np.log(self.pdf(t)))

    def _quantile(self, q: Array, *, upper: bool) -> Any:
        return self._map(lambda table, q: table.quantile(q, upper=upper), q)

    _peaks_at_both_ends = False

    def _drawn(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        drawn = rng.standard_gamma(self._cells, (*shape, 4))
        return np.asarray(self.tables[0].own.value(*np.moveaxis(drawn, -1, 0)))

    @property
    def _moments(self) -> list[Array]:
        moments = zip(*(table.moments for table in self.tables), strict=True)
        return [np.reshape(column, self.shape) for column in moments]

    @property
    def mode(self) -> Number:
        """Return the most probable score."""
        return plain(np.reshape([_mode(table) for table in self.tables], self.shape))

    def _each(self, change: Callable[[Array], Array]) -> CompositePosterior:
        return CompositePosterior(self.metric, [change(x) for x in np.moveaxis(self._cells, -1, 0)])


def _mode(table: Single) -> float:
    """Find the most probable score on ever finer grids."""
    low, high = table.quantile(np.array([0.001, 0.999]))
    for _ in range(4):
        t = np.linspace(low, high, 65)
        best = int(np.argmax(table.density(t)))
        low, high = t[max(best - 1, 0)], t[min(best + 1, len(t) - 1)]
    return float((low + high) / 2)


# --- The posterior of any score, given confusion counts
#
# On the scale of log odds all of them are one distribution. The odds of precision, recall,
# accuracy and the Jaccard index F* are those of a Beta variate. The odds of F1 are twice the odds
# of F*. The odds of F-beta are (1 + β²)/(1 + (β² - 1) W) times the odds of F*, where W, the share
# of false negatives among the errors, is another, independent Beta variate.

_UNSEEN = "0.001 (below it, all that was not seen is as good as impossible) to 1e+12"
_ONE_SIDED = "1e-06 to 1e+06, beyond which F-beta is precision or recall"


def prior_weight(prior: float) -> float:
    """Return the weight of a prior; refuse one outside the range of the numerical methods."""
    return _within_range("prior", prior, 0.001, 1e12, _UNSEEN)


def recall_weight(beta: float) -> float:
    """Return the weight of recall in F-beta; refuse one whose square is out of numerical range."""
    return _within_range("beta", beta, 1e-6, 1e6, _ONE_SIDED)


def _within_range(name: str, value: float, low: float, high: float, expected: str) -> float:
    weight = positive(name, value)
    if not low <= weight <= high:
        raise InputError(f"{name}: {value!r} is out of range; expected {expected}")
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
    2F*/(1 + F*): its quantiles follow from those of F*, but its mean, mode and highest-density
    intervals do not and are computed on the scale of F1. F-beta is averaged over the share of
    false negatives among the errors, to rounding error. The composite scores are functions of four
    cells with a Dirichlet posterior; they are averaged over it by Gauss rules, or by finely
    stepped ones where a cell has fewer than three items, prior included: then probabilities are
    accurate to about 0.001 with a prior of 1/2 or more and to 0.004 with 1/8; of kappa of items
    that are nearly all wrong to 0.015.

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
    counts, score = counts_for(metric, counts), TABLE[metric]
    prior, beta = prior_weight(prior), recall_weight(beta)
    if isinstance(score, Composite):
        tp, fp, fn, tn = cells = score.cells(counts)
        empty = [np.any(np.equal(sum_, 0)) for sum_ in (tp + fn, fp + tn, tp + fp, fn + tn)]
        if metric in _OF_TWO_SHARES and prior < LEAST_PRIOR and any(empty):
            what = f"prior: {prior:g} is too small for {metric} of counts that leave a class empty"
            raise InputError(f"{what}; expected {LEAST_PRIOR} or more")
        return CompositePosterior(metric, [x + prior for x in cells])
    if score.depends_on_beta:
        return _FBetaPosterior(counts.tp + prior, counts.fp + prior, counts.fn + prior, beta)
    share = score.share()
    if share is None:
        raise InputError(f"metric: {metric} has no posterior; its errors weigh differently")
    # The prior adds its weight once per count. The exception is a share of all items (accuracy),
    # whose prior is Beta(prior, prior).
    a, b = (
        sum(getattr(counts, cell) for cell in cells)
        + prior * (1 if score.is_of_all_items else len(cells))
        for cells in (share.hits, share.misses)
    )
    return Posterior(a, b, share.factor)
