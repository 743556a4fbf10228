"""Combine comparisons: adjusted p-values, heterogeneity, mean difference, partial conjunction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from probative._validation import Number, amounts, one_of, open_probability
from probative.errors import InputError
from probative.inference.posterior.independent import Outcomes
from probative.inference.posterior.single import plain
from probative.results import Heterogeneity

if TYPE_CHECKING:
    from probative.results import DifferencePosterior


# --- Heterogeneity of a difference between groups: Cochran's Q with Welch's correction
#
# W. G. Cochran, "The combination of estimates from different experiments", 1954. B. L. Welch, "On
# the comparison of several mean values: an alternative approach", 1951. J. P. T. Higgins &
# S. G. Thompson, "Quantifying heterogeneity in a meta-analysis", 2002.


def heterogeneity(
    differences: ArrayLike, standard_errors: ArrayLike, degrees_of_freedom: ArrayLike
) -> Heterogeneity | None:
    """Test whether all groups have the same difference; estimate the share of real spread (I²)."""
    # Q is chi-squared if standard errors are known. Those of few units make it too large: Welch's F
    # of a one-way layout with unequal variances corrects for that with their degrees of freedom.
    d, se, freedom = (
        np.asarray(values, dtype=np.float64)
        for values in (differences, standard_errors, degrees_of_freedom)
    )
    there = np.isfinite(d) & (se > 0) & (freedom > 0)
    d, se, freedom = d[there], se[there], freedom[there]
    k = len(d)
    if k < 2:
        return None
    weight = 1 / se**2
    share = weight / weight.sum()
    q = float(weight @ (d - share @ d) ** 2)
    doubt = float(((1 - share) ** 2 / freedom).sum())
    f = q / (k - 1) / (1 + 2 * (k - 2) / (k**2 - 1) * doubt)
    rest = (k**2 - 1) / (3 * max(doubt, 1e-12))  # no doubt: standard errors that are known
    pvalue = float(special.fdtrc(k - 1, rest, f))
    return Heterogeneity(q, k - 1, pvalue, max(0.0, 1 - (k - 1) / q) if q > 0 else 0.0)


# --- The mean of independent differences, one per data set: its interval and its posterior
#
# It is the mean over these data sets, each of which is a sample of units. It says nothing about
# other data sets, because these were chosen, not drawn.

_LEVEL_OF_GRID = 1 - 1e-6  # of the interval of each posterior that the grid covers
_GRID_STEPS = 4096  # of all posteriors together: probabilities are accurate to about 5e-6
# a posterior is computed at one step in so many, but at this many steps at least, and interpolated
# at the rest; not near 0, where posteriors of nearly equal systems have a cusp
_STEPS_PER_TAIL, _FEWEST_TAILS, _TAILS_NEAR_0 = 8, 64, 8


def mean_limits(
    differences: Sequence[tuple[float, float, float]], *, most: float = 1.0
) -> tuple[float, float, float]:
    """Return the mean of independent differences and the two ends of its interval."""
    # variances are recovered from each interval, separately below and above (MOVER)
    d, low, high = np.asarray(differences, dtype=np.float64).T
    mean, n = float(d.mean()), len(d)
    if math.isnan(mean):
        return math.nan, -most, most
    below, above = (float(np.sqrt(((d - limit) ** 2).sum())) / n for limit in (low, high))
    return mean, max(-most, mean - below), min(most, mean + above)


class MeanPosterior(Outcomes):
    """The posterior of the mean of independent differences."""

    kind = "mean"

    def __init__(self, posteriors: Sequence[DifferencePosterior], *, most: float = 1.0):
        self.posteriors = tuple(posteriors)
        self.most = most

    def _at(self, name: str, d: ArrayLike) -> Any:
        if len(self.posteriors) == 1:
            return getattr(self.posteriors[0], name)(d)
        places, below = self._grid
        left, right = float(name == "sf"), float(name == "cdf")
        if name == "pdf":
            places, below = (places[1:] + places[:-1]) / 2, np.diff(below) / np.diff(places)
        values = 1 - below if name == "sf" else below
        return plain(np.interp(np.asarray(d, float), places, values, left=left, right=right))

    def interval(self, level: float = 0.95) -> tuple[Number, Number]:
        """Return the equal-tailed interval with probability `level`."""
        if len(self.posteriors) == 1:
            return self.posteriors[0].interval(level)
        places, below = self._grid
        if np.isnan(below).any():
            return -self.most, self.most
        low, high = np.interp([(1 - level) / 2, (1 + level) / 2], below, places)
        return float(low), float(high)

    @cached_property
    def _grid(self) -> tuple[Any, Any]:
        """Return grid points and the probability up to each, by convolution of the posteriors."""
        n = len(self.posteriors)
        ends = np.array([own.interval(_LEVEL_OF_GRID) for own in self.posteriors], dtype=float)
        step = float((ends[:, 1] - ends[:, 0]).sum()) / _GRID_STEPS
        masses = np.ones(1)
        for posterior, (low, high) in zip(self.posteriors, ends, strict=True):
            parts = min(_STEPS_PER_TAIL, max(1, int((high - low) / step / _FEWEST_TAILS)))
            edges = low + step * np.arange(math.ceil((high - low) / step / parts) * parts + 1)
            below = _between(np.asarray(posterior.cdf(edges[::parts]), dtype=np.float64), parts)
            if parts > 1:
                near = np.abs(edges) < step * parts * _TAILS_NEAR_0
                below[near] = posterior.cdf(edges[near])
            masses = np.convolve(masses, np.maximum(np.diff(below), 0.0))
        total = masses.sum()
        # every mass lies in the middle of its step: n half steps in all
        first = (ends[:, 0].sum() + step * (n - 1) / 2) / n
        places = first + step / n * np.arange(len(masses) + 1)
        return places, np.concatenate([[0.0], np.cumsum(masses / total)])


def _between(values: NDArray[np.float64], parts: int) -> NDArray[np.float64]:
    """Divide every step of equally spaced values into parts, by cubics through four of them."""
    t = np.arange(parts) / parts
    weights = (
        -t * (t - 1) * (t - 2) / 6,
        (t + 1) * (t - 1) * (t - 2) / 2,
        -(t + 1) * t * (t - 2) / 2,
        (t + 1) * t * (t - 1) / 6,
    )
    fours = np.lib.stride_tricks.sliding_window_view(np.pad(values, (1, 2), mode="edge"), 4)
    return np.append((fours[:-1] @ np.array(weights)).ravel(), values[-1])


# --- The number of data sets on which B is better, from partial-conjunction p-values
#
# Y. Benjamini & R. Heller, "Screening for partial conjunction hypotheses", 2008. R. Dror,
# G. Baumer, M. Bogomolov & R. Reichart, "Replicability analysis for natural language processing",
# 2017.

METHODS = ("bonferroni", "fisher")


def partial_conjunction(pvalues: ArrayLike, method: str = "bonferroni") -> NDArray[np.float64]:
    """Compute the p-values of "at least u of these hypotheses are false", for u = 1, 2, … n."""
    p = np.sort(_checked(pvalues))
    if not len(p):
        raise InputError(f"pvalues: shape {p.shape}; expected a sequence of p-values")
    one_of("method", method, METHODS)
    left = np.arange(len(p), 0, -1)  # n - u + 1, the number that are at least as large
    if method == "bonferroni":
        single = left * p
    else:
        with np.errstate(divide="ignore"):
            half = -np.cumsum(np.log(p)[::-1])[::-1]
        # the upper tail of chi-squared on 2k degrees of freedom at 2x
        single = special.gammaincc(left, half)
    return np.asarray(np.minimum(np.maximum.accumulate(single), 1.0))


def count_of_conjunctions(
    pvalues: ArrayLike, method: str = "bonferroni", level: float = 0.95
) -> int:
    """Return a lower confidence bound for the number of data sets on which B is better."""
    alpha = 1 - open_probability("level", level)
    return int(np.count_nonzero(partial_conjunction(pvalues, method) <= alpha * (1 + 1e-9)))


# --- Adjust p-values for multiple comparisons


def adjust_pvalues(pvalues: ArrayLike, method: str = "holm") -> NDArray[np.float64]:
    """Adjust p-values for multiple comparisons.

    Parameters
    ----------
    pvalues
        A sequence of p-values.
    method
        "holm" bounds the probability of any false discovery by 1 - level, under any dependence
        between the tests. "benjamini-hochberg" bounds the expected share of false discoveries, for
        independent or positively dependent tests. "shaffer" is for the tests of all pairs of some
        systems and never weaker than "holm": if some pairs differ, only certain numbers of the
        others can be equal.

    Returns
    -------
    numpy.ndarray
        The adjusted p-values, in the same order; compare them directly with 1 - level.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", 1979. Y. Benjamini &
    Y. Hochberg, "Controlling the false discovery rate", 1995. J. P. Shaffer, "Modified
    sequentially rejective multiple test procedures", 1986.

    Examples
    --------
    >>> import probative as pv
    >>> pv.adjust_pvalues([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    >>> pv.adjust_pvalues([0.01, 0.04, 0.03], "benjamini-hochberg").tolist()
    [0.03, 0.04, 0.04]
    >>> pv.adjust_pvalues([0.01, 0.04, 0.03], "shaffer").tolist()
    [0.03, 0.04, 0.03]
    """
    p = _checked(pvalues)
    one_of("method", method, ("holm", "shaffer", "benjamini-hochberg"))
    order = np.argsort(p)
    n = len(p)
    rank = np.arange(1, n + 1)
    if method != "benjamini-hochberg":
        true = n + 1 - rank if method == "holm" else _most_true(n)
        stepped = np.maximum.accumulate(p[order] * true)
    else:
        stepped = np.minimum.accumulate((p[order] * n / rank)[::-1])[::-1]
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _checked(pvalues: ArrayLike) -> NDArray[np.float64]:
    """Return p-values as an array of numbers between 0 and 1."""
    p = amounts("pvalues", pvalues)
    if p.ndim != 1:
        raise InputError(f"pvalues: shape {p.shape}; expected a sequence of p-values")
    if np.any(p > 1):
        raise InputError(f"pvalues: {p[p > 1][0]:g} is not between 0 and 1")
    return p


def _most_true(n_pairs: int) -> NDArray[np.int64]:
    """Return how many null hypotheses of pairs can be true at most if 0, 1, 2, … are false."""
    k = (1 + math.isqrt(1 + 8 * n_pairs)) // 2
    if k * (k - 1) // 2 != n_pairs:
        raise InputError(
            f"pvalues: {n_pairs} of them; expected those of all pairs of some systems: 1, 3, 6, …"
        )
    # the numbers of pairs that can be equal at once, as set bits, of 0, 1, … k systems: equal
    # systems form groups, and a group of j has j(j-1)/2 equal pairs
    possible = [1]
    for size in range(1, k + 1):
        numbers = 0
        for group in range(1, size + 1):
            numbers |= possible[size - group] << (group * (group - 1) // 2)
        possible.append(numbers)
    known = [m for m in range(n_pairs + 1) if possible[k] >> m & 1]
    left = np.arange(n_pairs, 0, -1)
    return np.asarray(known)[np.searchsorted(known, left, side="right") - 1]
