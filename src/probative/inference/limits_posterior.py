"""What is known of a difference of which only an estimate and limits are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative.inference._outcomes import Outcomes
from probative.inference.beta_posterior import plain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from probative._types import Number

__all__ = ["LimitsPosterior"]


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
    >>> from probative.inference.limits_posterior import LimitsPosterior
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
