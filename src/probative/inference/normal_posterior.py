"""The posterior of a difference where nothing exact exists: normal, or Student's t."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import open_probability
from probative.inference.beta_posterior import plain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["NormalPosterior"]


@dataclass(frozen=True)
class NormalPosterior:
    """A difference around its estimate, with a standard error.

    Attributes
    ----------
    mean
        The estimate.
    deviation
        Its standard error. 0: the difference is known; NaN: nothing is.
    degrees_of_freedom
        Of Student's t, where the standard error is itself an estimate from few units.

    Examples
    --------
    >>> from probative.inference.normal_posterior import NormalPosterior
    >>> known = NormalPosterior(mean=0.02, deviation=0.01)
    >>> round(known.sf(0.0), 4)
    0.9772
    >>> [round(limit, 4) for limit in known.interval(0.95)]
    [0.0004, 0.0396]
    """

    mean: float
    deviation: float
    degrees_of_freedom: float = math.inf

    kind = "normal"

    def cdf(self, d: ArrayLike) -> Any:
        """The probability of a difference of at most `d`."""
        return plain(self._below(np.asarray(d, dtype=np.float64) - self.mean))

    def sf(self, d: ArrayLike) -> Any:
        """The probability of a difference above `d`."""
        if self.deviation == 0:
            return plain(1.0 - self._below(np.asarray(d, dtype=np.float64) - self.mean))
        return plain(self._below(self.mean - np.asarray(d, dtype=np.float64)))

    def pdf(self, d: ArrayLike) -> Any:
        """The density at `d`."""
        z = (np.asarray(d, dtype=np.float64) - self.mean) / self.deviation
        n = self.degrees_of_freedom
        if math.isinf(n):
            log_density = -0.5 * z**2 - 0.5 * math.log(2 * math.pi)
        else:
            log_density = -(n + 1) / 2 * np.log1p(z**2 / n)
            log_density -= special.betaln(0.5, n / 2) + 0.5 * math.log(n)
        return plain(np.asarray(np.exp(log_density) / self.deviation))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The equal-tailed limits between which the difference lies, within -1 and 1."""
        if math.isnan(self.deviation):
            return -1.0, 1.0
        upper = (1 + open_probability("level", level)) / 2
        n = self.degrees_of_freedom
        z = special.ndtri(upper) if math.isinf(n) else special.stdtrit(n, upper)
        reach = float(z) * self.deviation
        return max(-1.0, self.mean - reach), min(1.0, self.mean + reach)

    def probabilities(self, rope: float = 0.0) -> tuple[float, float, float]:
        """Return P(A better), P(equivalent) and P(B better) by more than `rope`."""
        # a known difference on the border of the region lies within it
        a_better = float(self._below(np.asarray(-rope - self.mean)))
        if self.deviation == 0:
            a_better = float(self.mean < -rope)
        b_better = float(self.sf(rope))
        return a_better, float(np.maximum(0.0, 1 - a_better - b_better)), b_better

    def _below(self, distance: Any) -> Any:
        """The probability that the difference exceeds its mean by at most a distance."""
        if self.deviation == 0:
            return np.where(distance >= 0, 1.0, 0.0)
        z = distance / self.deviation
        n = self.degrees_of_freedom
        return np.asarray(special.ndtr(z) if math.isinf(n) else special.stdtr(n, z))
