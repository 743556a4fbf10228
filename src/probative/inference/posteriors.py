"""Posterior distributions of scores, given confusion counts.

On the scale of log odds all of them are one distribution. The odds of precision, recall,
accuracy and the Jaccard index F* are those of a Beta variate; the odds of F1 are twice the odds
of F*; and the odds of F-beta are (1 + β²)/(1 + (β² - 1) W) times the odds of F*, with W, the
share of false negatives among the errors, a Beta variate of its own.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special

from probative._validation import one_of, open_probability, positive, random_generator
from probative.errors import InputError
from probative.inference import _log_odds
from probative.inference._mixtures import Mixture
from probative.metrics import METRICS, NEEDS_TN

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from probative.counts import Counts

    Array = NDArray[np.float64]

__all__ = ["FBetaPosterior", "Posterior", "posterior"]

KINDS = ("equal-tailed", "highest-density")

# What the two shapes of a metric's Beta variate count, and the factor between its odds and the
# score's; the prior adds its weight once for every count.
_SHAPES: dict[str, tuple[tuple[str, ...], tuple[str, ...], float]] = {
    "precision": (("tp",), ("fp",), 1.0),
    "recall": (("tp",), ("fn",), 1.0),
    "f1": (("tp",), ("fp", "fn"), 2.0),
    "jaccard": (("tp",), ("fp", "fn"), 1.0),
    "accuracy": (("tp", "tn"), ("fp", "fn"), 1.0),
    "specificity": (("tn",), ("fp",), 1.0),
    "npv": (("tn",), ("fn",), 1.0),
}
# Accuracy is a share of all items, not of two kinds of them: its prior is Beta(prior, prior).
_SINGLE_PRIOR = ("accuracy",)

# Tables handled at once where each needs dozens or hundreds of numbers.
_CHUNK = 1024


def posterior(
    counts: Counts, metric: str = "f1", *, prior: float = 1.0, beta: float = 1.0
) -> Posterior:
    """Return the posterior distribution of a score, given confusion counts.

    Parameters
    ----------
    counts
        One table or an array of them; effective counts may be fractions.
    metric
        One of precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv.
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
    computed on the scale of F1. F-beta averages over the share of false negatives among the
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
    one_of("metric", metric, METRICS)
    prior = positive("prior", prior)
    beta = positive("beta", beta)
    if metric in NEEDS_TN and counts.tn is None:
        raise InputError(f"metric: {metric} needs tn, and these counts have none")
    if metric == "fbeta":
        return FBetaPosterior(counts.tp + prior, counts.fp + prior, counts.fn + prior, beta)
    hits, misses, factor = _SHAPES[metric]
    a, b = (
        sum(getattr(counts, name) for name in names)
        + prior * (1 if metric in _SINGLE_PRIOR else len(names))
        for names in (hits, misses)
    )
    return Posterior(a, b, factor)


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

    def log_odds_sf(self, y: Array) -> Array:
        """Return the probability of log odds above y."""
        return _log_odds.sf(self.a, self.b, y - np.log(self.factor))

    def log_odds_rule(self, finest: Array | float = np.inf) -> tuple[Array, Array]:
        """Return nodes and weights (along a new last axis) that average over the log odds."""
        y, weight = _log_odds.rule(self.a, self.b, finest)
        return y + np.log(self.factor), weight

    # --- on the scale of the score, t ---

    def logpdf(self, t: ArrayLike) -> Any:
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
        return _plain(np.where(np.isnan(t), np.nan, density))

    def pdf(self, t: ArrayLike) -> Any:
        """Return the density at t; 0 outside [0, 1]."""
        return _plain(np.exp(self.logpdf(t)))

    def cdf(self, t: ArrayLike) -> Any:
        """Return the probability of a score of at most t."""
        return self._tail(self.log_odds_cdf, t, 0.0, 1.0)

    def sf(self, t: ArrayLike) -> Any:
        """Return the probability of a score above t, accurate where it is tiny."""
        return self._tail(self.log_odds_sf, t, 1.0, 0.0)

    def ppf(self, q: ArrayLike) -> Any:
        """Return the quantile: the score below which lies the probability q."""
        return _plain(self._from_share(special.betaincinv(self.a, self.b, q)))

    def isf(self, q: ArrayLike) -> Any:
        """Return the score above which lies the probability q, accurate where q is tiny."""
        return _plain(self._from_share(special.betainccinv(self.a, self.b, q)))

    def rvs(self, size: int | tuple[int, ...] | None = None, rng: Any = None) -> Any:
        """Draw scores: `size` of them a table, so that the shape is `size` and then the tables'."""
        rng = random_generator(rng)
        shape = () if size is None else np.broadcast_shapes(size)
        return _plain(self._from_share(rng.beta(self.a, self.b, (*shape, *self.shape))))

    def interval(self, level: float = 0.95, *, kind: str = "equal-tailed") -> tuple[Any, Any]:
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
    def mean(self) -> Any:
        """The expected score."""
        if self.factor == 1:
            return _plain(self.a / (self.a + self.b))
        return _plain(self._moments.mean)

    @property
    def var(self) -> Any:
        """The variance of the score."""
        if self.factor == 1:
            n = self.a + self.b
            return _plain((self.a / n) * (self.b / n) / (n + 1))
        return _plain(self._moments.var)

    @property
    def mode(self) -> Any:
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
        return _plain(mode)

    def __getitem__(self, index: Any) -> Posterior:
        """Return the posterior of some of the tables."""
        return Posterior(self.a[index], self.b[index], self.factor)

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
        return _plain(tail)

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
        return _plain(low), _plain(high)


class FBetaPosterior(Posterior):
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

    def __getitem__(self, index: Any) -> FBetaPosterior:
        """Return the posterior of some of the tables."""
        return FBetaPosterior(self.a[index], self.fp[index], self.fn[index], self.beta)

    def log_odds_logpdf(self, y: Array) -> Array:
        """Return the log density of the score's log odds."""
        return self._in_parts(lambda part, y: (part._mixture.log_pdf(y),), y)[0]

    def log_odds_cdf(self, y: Array) -> Array:
        """Return the probability of log odds of at most y."""
        return self._in_parts(lambda part, y: (part._mixture.lower_tail(y),), y)[0]

    def log_odds_sf(self, y: Array) -> Array:
        """Return the probability of log odds above y."""
        return self._in_parts(lambda part, y: (part._mixture.mirrored().lower_tail(-y),), y)[0]

    def log_odds_rule(self, finest: Array | float = np.inf) -> tuple[Array, Array]:
        """Return nodes and weights (along a new last axis) that average over the log odds."""
        mixture = self._mixture
        y, _ = _log_odds.rule(self.a, self.b)
        low = y[..., 0] + mixture.shift.min(axis=-1)
        high = y[..., -1] + mixture.shift.max(axis=-1)
        # the shift may end abruptly, so only the Beta variate makes the density smooth
        y = _log_odds.nodes(low, high, _log_odds.spread(self.a, self.b), finest)
        log_weight = np.stack(
            [mixture.log_pdf(column) for column in np.moveaxis(y, -1, 0)], axis=-1
        )
        weight = np.exp(log_weight - log_weight.max(axis=-1, keepdims=True))
        return y, weight / weight.sum(axis=-1, keepdims=True)

    def ppf(self, q: ArrayLike) -> Any:
        """Return the quantile: the score below which lies the probability q."""
        q = np.asarray(q, dtype=np.float64)
        return _plain(self._quantile(q, 1 - q))

    def isf(self, q: ArrayLike) -> Any:
        """Return the score above which lies the probability q, accurate where q is tiny."""
        q = np.asarray(q, dtype=np.float64)
        return _plain(self._quantile(1 - q, q))

    def rvs(self, size: int | tuple[int, ...] | None = None, rng: Any = None) -> Any:
        """Draw scores: `size` of them a table, so that the shape is `size` and then the tables'."""
        rng = random_generator(rng)
        shape = (*(() if size is None else np.broadcast_shapes(size)), *self.shape)
        errors = rng.beta(self.fn, self.fp, shape)
        factor = self.factor / (1 + (self.beta**2 - 1) * errors)
        share = rng.beta(self.a, self.b, shape)
        return _plain(factor * share / (1 + (factor - 1) * share))

    @property
    def mean(self) -> Any:
        """The expected score."""
        return _plain(self._moments.mean)

    @property
    def var(self) -> Any:
        """The variance of the score."""
        return _plain(self._moments.var)

    @property
    def mode(self) -> Any:
        """The most probable score; NaN where the density is highest at both ends."""
        inner = self._in_parts(lambda part: (special.expit(part._mixture.peak()),))[0]
        low, high = self.a < 1, self.b < 1
        return _plain(np.select([low & high, low, high], [np.nan, 0.0, 1.0], inner))

    def _flat(self, shape: tuple[int, ...]) -> FBetaPosterior:
        if shape == self.shape and len(shape) == 1:
            return self
        tp, fp, fn = (np.broadcast_to(x, shape).ravel() for x in (self.a, self.fp, self.fn))
        return FBetaPosterior(tp, fp, fn, self.beta)

    def _smallest_shape(self) -> Array:
        return np.asarray(np.minimum(self.fp, self.fn))

    @cached_property
    def _mixture(self) -> Mixture:
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
        return Mixture(self.a[..., None], self.b[..., None], np.log(self.factor / weighed), weight)

    def _quantile(self, below: Array, above: Array) -> Array:
        def solve(part: FBetaPosterior, below: Array, above: Array) -> tuple[Array]:
            mixture = part._mixture
            upper = above < below
            # the lower tail of the mirror image is the upper tail
            y = np.empty(below.shape)
            y[~upper] = mixture.take(~upper).quantile(below[~upper])
            y[upper] = -mixture.take(upper).mirrored().quantile(above[upper])
            return (special.expit(y),)

        return self._in_parts(solve, below, above)[0]


class _Moments(NamedTuple):
    mean: Array
    var: Array


def _scores(t: ArrayLike) -> tuple[Array, NDArray[np.bool_]]:
    t = np.asarray(t, dtype=np.float64)
    return t, (t > 0) & (t < 1)


def _plain(value: Any) -> Any:
    """A single number as a float, an array as itself."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value)
