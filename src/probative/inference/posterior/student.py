"""Compute posteriors of a difference from its estimate and standard error, or its interval."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative._validation import fraction
from probative.inference.posterior.single import plain
from probative.inference.units import student_quantile

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from probative._validation import Number
    from probative.results import DifferencePosterior


# -----------------------------------------------------------------------------
# Compute the probabilities that A is better, B is better, or both are equivalent.
# -----------------------------------------------------------------------------

_LARGEST_ERROR_CALLED_EXACT = 1e-8  # of a probability


def computed(error: Number) -> str:
    """Return the word for probabilities with this error: "exact" or "integrated"."""
    return "exact" if np.all(np.asarray(error) <= _LARGEST_ERROR_CALLED_EXACT) else "integrated"


class Outcomes(ABC):
    """The base class of posteriors of a difference that have a distribution function."""

    @abstractmethod
    def cdf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference of at most d."""

    @abstractmethod
    def sf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference above d."""

    @property
    def _symmetric(self) -> bool:
        """Return True if exchanging the systems changes nothing."""
        return False

    def probabilities(self, rope: float = 0.0) -> tuple[float, float, float]:
        """Return P(A better), P(equivalent) and P(B better).

        Differences of at most `rope` either way count as equivalent.
        """
        rope = fraction("rope", rope)
        a_better, b_better = float(self.cdf(-rope)), float(self.sf(rope))
        if self._symmetric:  # make both exactly equal, whatever the error of the nodes
            a_better = b_better = (a_better + b_better) / 2
        return a_better, max(1 - a_better - b_better, 0.0) if rope > 0 else 0.0, b_better


# --- Posterior of a difference from its estimate and standard error: Student's distribution


class StudentPosterior(Outcomes):
    """Student's distribution of a difference, B minus A, around its estimate.

    If `models` is given, the posterior that leaves fewer things to chance, no probability is
    farther from one half than there. `most` is the largest possible difference of two scores.
    """

    kind = "student"

    def __init__(
        self,
        estimate: float,
        standard_error: float,
        degrees_of_freedom: float,
        models: DifferencePosterior | None = None,
        most: float = 1.0,
    ):
        self.most = most
        self.models = models
        self.estimate = estimate
        self.standard_error = standard_error
        self.degrees_of_freedom = degrees_of_freedom

    def cdf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference of at most d."""
        probability = self._below(np.asarray(d, dtype=float) - self.estimate)
        return plain(
            probability if self.models is None else _between(probability, self.models.cdf(d))
        )

    def sf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference above d."""
        probability = self._below(self.estimate - np.asarray(d, dtype=float))
        return plain(
            probability if self.models is None else _between(probability, self.models.sf(d))
        )

    def pdf(self, d: ArrayLike) -> Number:
        """Return the density at d."""
        deviation, freedom = self.standard_error, self.degrees_of_freedom
        x = (np.asarray(d, dtype=float) - self.estimate) / deviation
        if math.isinf(freedom):
            return plain(np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) / deviation)
        scale = special.beta(0.5, freedom / 2) * math.sqrt(freedom) * deviation
        return plain((1 + x**2 / freedom) ** (-(freedom + 1) / 2) / scale)

    def interval(self, level: float = 0.95) -> tuple[Number, Number]:
        """Return the equal-tailed interval, within the range of a difference."""
        reach = 0.0
        if self.standard_error > 0:
            reach = float(student_quantile(level, self.degrees_of_freedom)) * self.standard_error
        return max(-self.most, self.estimate - reach), min(self.most, self.estimate + reach)

    def _below(self, x: ArrayLike) -> Number:
        """Return P(estimation error < x); a tie counts half."""
        if not self.standard_error > 0:
            return 0.5 + 0.5 * np.sign(x)
        z = np.asarray(x) / self.standard_error
        if math.isinf(self.degrees_of_freedom):
            return special.ndtr(z)
        return special.stdtr(self.degrees_of_freedom, z)


def _between(p: Number, q: Number) -> Number:
    """Return the median of p, q and one half."""
    return np.median([p, q, np.full_like(p, 0.5)], axis=0)


# --- Posterior of a difference, approximated from its estimate and interval


class LimitsPosterior(Outcomes):
    """Two half-normal distributions around an estimate, as wide as its interval on either side.

    `level` is that of the interval, `most` the largest possible difference of two scores.
    """

    kind = "limits"

    def __init__(
        self, estimate: float, low: float, high: float, level: float = 0.95, most: float = 1.0
    ):
        self.estimate, self.most = estimate, most
        quantile = float(special.ndtri(0.5 + level / 2))
        self.below, self.above = (estimate - low) / quantile, (high - estimate) / quantile

    def cdf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference of at most d."""
        return plain(special.ndtr(self._apart(d)))

    def sf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference above d."""
        return plain(special.ndtr(-self._apart(d)))

    def pdf(self, d: ArrayLike) -> Number:
        """Return the density at d."""
        deviation = np.where(np.asarray(d) < self.estimate, self.below, self.above)
        scale = np.maximum(deviation, 1e-300) * np.sqrt(2 * np.pi)
        return plain(np.exp(-(self._apart(d) ** 2) / 2) / scale)

    def interval(self, level: float = 0.95) -> tuple[Number, Number]:
        """Return the equal-tailed interval, within the range of a difference."""
        quantile = float(special.ndtri(0.5 + level / 2))
        low, high = self.estimate - quantile * self.below, self.estimate + quantile * self.above
        return max(-self.most, low), min(self.most, high)

    def _apart(self, d: ArrayLike) -> Number:
        """Return the distance from the estimate in standard errors of its side."""
        off = np.asarray(d, dtype=float) - self.estimate
        deviation = np.where(off < 0, self.below, self.above)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(off == 0, 0.0, off / deviation)
