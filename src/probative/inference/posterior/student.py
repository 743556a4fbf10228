"""Compute posteriors of a difference from its estimate and standard error, or its interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative.inference.posterior.outcomes import Outcomes
from probative.inference.posterior.single import plain
from probative.inference.units import student_quantile

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from probative._validation import Number
    from probative.results import DifferencePosterior


# -----------------------------------------------------------------------------
# What is known of a difference that a mean and its standard error tell: Student's distribution.
# -----------------------------------------------------------------------------


class StudentPosterior(Outcomes):
    """The distribution of a difference about its estimate, B minus A.

    Parameters
    ----------
    estimate, standard_error, degrees_of_freedom
        Where it lies, how wide it is, and how well that is known.
    models
        What is known of the difference with fewer things left to chance, if anything: no
        probability here is further from one half than there.
    most
        By how much two scores can differ.

    Examples
    --------
    >>> from probative.inference.posterior.student import StudentPosterior
    >>> posterior = StudentPosterior(0.02, 0.01, 8.0)
    >>> round(posterior.sf(0), 4)
    0.9597
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
        own = self._below(np.asarray(d, dtype=float) - self.estimate)
        return plain(own if self.models is None else _between(own, self.models.cdf(d)))

    def sf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference above d."""
        own = self._below(self.estimate - np.asarray(d, dtype=float))
        return plain(own if self.models is None else _between(own, self.models.sf(d)))

    def pdf(self, d: ArrayLike) -> Number:
        """Return the density at d."""
        deviation, freedom = self.standard_error, self.degrees_of_freedom
        x = (np.asarray(d, dtype=float) - self.estimate) / deviation
        if math.isinf(freedom):
            return plain(np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) / deviation)
        scale = special.beta(0.5, freedom / 2) * math.sqrt(freedom) * deviation
        return plain((1 + x**2 / freedom) ** (-(freedom + 1) / 2) / scale)

    def interval(self, level: float = 0.95) -> tuple[Number, Number]:
        """Return the equal-tailed limits, within those of a difference."""
        reach = 0.0
        if self.standard_error > 0:
            reach = float(student_quantile(level, self.degrees_of_freedom)) * self.standard_error
        return max(-self.most, self.estimate - reach), min(self.most, self.estimate + reach)

    def _below(self, x: ArrayLike) -> Number:
        """The probability of less than x more than the estimate; a tie counts half."""
        if not self.standard_error > 0:
            return 0.5 + 0.5 * np.sign(x)
        z = np.asarray(x) / self.standard_error
        if math.isinf(self.degrees_of_freedom):
            return special.ndtr(z)
        return special.stdtr(self.degrees_of_freedom, z)


def _between(p: Number, q: Number) -> Number:
    """Whichever is nearer to one half; or that, if it lies between them."""
    return np.median([p, q, np.full_like(p, 0.5)], axis=0)


# -----------------------------------------------------------------------------
# What is known of a difference of which only an estimate and limits are.
# -----------------------------------------------------------------------------


class LimitsPosterior(Outcomes):
    """Two halves of normal distributions about an estimate, as wide as its limits on either side.

    Parameters
    ----------
    estimate, low, high
        The estimate and its limits.
    level
        That of the limits.
    most
        By how much two scores can differ.

    Examples
    --------
    >>> from probative.inference.posterior.student import LimitsPosterior
    >>> posterior = LimitsPosterior(0.04, 0.0, 0.06)
    >>> round(posterior.sf(0), 4)
    0.975
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
        """Return the equal-tailed limits, within those of a difference."""
        quantile = float(special.ndtri(0.5 + level / 2))
        low, high = self.estimate - quantile * self.below, self.estimate + quantile * self.above
        return max(-self.most, low), min(self.most, high)

    def _apart(self, d: ArrayLike) -> Number:
        """How far something is from the estimate, in standard errors of its side; a tie is 0."""
        off = np.asarray(d, dtype=float) - self.estimate
        deviation = np.where(off < 0, self.below, self.above)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(off == 0, 0.0, off / deviation)
