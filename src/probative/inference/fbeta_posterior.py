"""The posterior of F-beta."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import random_generator
from probative.inference import _log_odds
from probative.inference._mixtures import Mixture
from probative.inference.beta_posterior import Posterior, plain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from probative._types import RNG, Array, Number

__all__ = ["FBetaPosterior"]

_NEAR = 1e-6  # a search tells a flat top from its surroundings no better


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
