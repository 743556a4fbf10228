"""The mean of independent differences, one per data set: its interval and its posterior.

It is the mean over these data sets, each of which could have held other units. Nothing is said
about other data sets: these were chosen, not drawn.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.inference._outcomes import Outcomes
from probative.inference.beta_posterior import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from probative._types import Number
    from probative.results import DifferencePosterior

__all__ = ["MeanPosterior", "mean_limits"]

_REACH = 1 - 1e-6  # the level of the limits beyond which no posterior is looked at
_STEPS = 2048  # of the grid on which posteriors are added up


def mean_limits(
    differences: Sequence[tuple[float, float, float]], *, most: float = 1.0
) -> tuple[float, float, float]:
    """The mean of independent differences, and its limits.

    Variances add, divided by n². They are recovered from the limits of every difference, lower and
    upper ones apart, so that the limits of one data set are its own, and those of many allow for
    lopsided intervals and for few units as the single ones do.

    Parameters
    ----------
    differences
        The difference, its lower and its upper limit, of every data set.
    most
        The largest difference that there can be.

    Examples
    --------
    >>> from probative.inference.mean_difference import mean_limits
    >>> [round(v, 4) for v in mean_limits([(0.02, -0.01, 0.05), (0.04, 0.00, 0.07)])]
    [0.03, 0.005, 0.0512]
    """
    d, low, high = np.asarray(differences, dtype=np.float64).T
    mean, n = float(d.mean()), len(d)
    if math.isnan(mean):
        return math.nan, -most, most
    below, above = (float(np.sqrt(((d - limit) ** 2).sum())) / n for limit in (low, high))
    return mean, max(-most, mean - below), min(most, mean + above)


class MeanPosterior(Outcomes):
    """The posterior of the mean of independent differences.

    Parameters
    ----------
    posteriors
        Of the difference on every data set. That of one alone is its own.
    most
        The largest difference that there can be.

    Examples
    --------
    >>> import probative as pv
    >>> from probative.inference.clustered_posterior import posterior_of_difference
    >>> from probative.inference.mean_difference import MeanPosterior
    >>> one = posterior_of_difference(pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300]))
    >>> mean = MeanPosterior([one, one, one])
    >>> round(one.sf(0), 3), round(mean.sf(0), 3)
    (0.945, 0.997)
    """

    kind = "mean"

    def __init__(self, posteriors: Sequence[DifferencePosterior], *, most: float = 1.0):
        self.posteriors = tuple(posteriors)
        self.most = most
        self._table: tuple[Any, Any] | None = None

    def cdf(self, d: ArrayLike) -> Number:
        """Return the probability of a mean difference of at most d."""
        if len(self.posteriors) == 1:
            return self.posteriors[0].cdf(d)
        places, below = self._grid()
        return plain(np.interp(np.asarray(d, dtype=np.float64), places, below, left=0.0, right=1.0))

    def sf(self, d: ArrayLike) -> Number:
        """Return the probability of a mean difference above d."""
        if len(self.posteriors) == 1:
            return self.posteriors[0].sf(d)
        places, below = self._grid()
        return plain(
            np.interp(np.asarray(d, dtype=np.float64), places, 1 - below, left=1.0, right=0.0)
        )

    def pdf(self, d: ArrayLike) -> Number:
        """Return the density at d."""
        if len(self.posteriors) == 1:
            return self.posteriors[0].pdf(d)
        places, below = self._grid()
        density = np.diff(below) / np.diff(places)
        middles = (places[1:] + places[:-1]) / 2
        return plain(
            np.interp(np.asarray(d, dtype=np.float64), middles, density, left=0.0, right=0.0)
        )

    def interval(self, level: float = 0.95) -> tuple[Number, Number]:
        """Return the equal-tailed limits."""
        if len(self.posteriors) == 1:
            return self.posteriors[0].interval(level)
        places, below = self._grid()
        if np.isnan(below).any():
            return -self.most, self.most
        low, high = np.interp([(1 - level) / 2, (1 + level) / 2], below, places)
        return float(low), float(high)

    def _grid(self) -> tuple[Any, Any]:
        """Places, and the probability of a mean up to each: the parts are added up on a grid."""
        if self._table is None:
            self._table = self._add_up()
        return self._table

    def _add_up(self) -> tuple[Any, Any]:
        n = len(self.posteriors)
        ends = np.array([posterior.interval(_REACH) for posterior in self.posteriors], dtype=float)
        step = float((ends[:, 1] - ends[:, 0]).sum()) / _STEPS
        masses = np.ones(1)
        for posterior, (low, high) in zip(self.posteriors, ends, strict=True):
            edges = low + step * np.arange(math.ceil((high - low) / step) + 1)
            below = np.asarray(posterior.cdf(edges), dtype=np.float64)
            masses = np.convolve(masses, np.diff(below))
        total = masses.sum()
        # every part lies in the middle of its step: n halves of a step in all
        first = (ends[:, 0].sum() + step * (n - 1) / 2) / n
        places = first + step / n * np.arange(len(masses) + 1)
        return places, np.concatenate([[0.0], np.cumsum(masses / total)])
