"""Averages of shifted log-odds distributions: what F-beta's posterior is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative.inference import _log_odds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative._types import Array

__all__ = ["Mixture"]


@dataclass(frozen=True)
class Mixture:
    """Log odds of Beta(a, b) plus a shift that takes a value with each weight.

    All arrays have the shifts along their last axis; a and b have length 1 there. The
    arguments of the methods have the shape of the tables, or any shape for a single table.
    """

    a: Array
    b: Array
    shift: Array
    weight: Array

    def mirrored(self) -> Mixture:
        """Change the sign of the log odds: successes and failures exchanged."""
        return Mixture(self.b, self.a, -self.shift, self.weight)

    def take(self, which: NDArray[np.bool_]) -> Mixture:
        """Some of the tables; a single table serves for all."""
        if len(self.a) == 1:
            return self
        return Mixture(self.a[which], self.b[which], self.shift[which], self.weight[which])

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
