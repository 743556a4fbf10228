"""What is known of a difference that a mean and its standard error tell: Student's distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative.inference._outcomes import Outcomes
from probative.inference.beta_posterior import plain
from probative.inference.clusters import student_quantile

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from probative._types import Number
    from probative.results import DifferencePosterior

__all__ = ["StudentPosterior"]


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
    >>> from probative.inference.student_posterior import StudentPosterior
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
