"""The posterior of a mean over labels, by convolution.

Given the prior that they share, the labels' shares are independent betas. The mean of their scores
is a sum of independent terms: its characteristic function is the product of theirs, averaged over
the nodes of the prior. Labels whose score is nearly known next to the rest enter as normal terms
with their exact means and variances; so do a hundred thousand labels at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative.inference.beta_posterior import plain
from probative.inference.shared_prior import LabelPosteriors, label_posteriors
from probative.metrics import f1_from_jaccard

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from probative._types import Array, Number

__all__ = ["MacroPosterior", "macro_posterior"]

_CELLS = 512  # of the grid
_SPARE = 64  # cells left over for what rounding each term up to whole cells adds
_NARROW = 16  # cells below which a label's own distribution is a normal term
_TAIL = 1e-7  # of a label's distribution, which may lie outside of its grid
_TERMS = 64  # of the series of F1's moments: the rest is below 2**-58
_LARGE = 1e8  # items from which the variance is the delta method's, to ten digits


@dataclass(frozen=True, eq=False)
class MacroPosterior:
    """The distribution of a mean over labels on a grid.

    Attributes
    ----------
    edges
        The limits of the grid's cells.
    below
        The probability of at most each of them.
    """

    edges: Array
    below: Array

    def cdf(self, value: ArrayLike) -> Number:
        """The probability of at most `value`."""
        value = np.asarray(value, np.float64)
        return plain(np.interp(value, self.edges, self.below, left=0.0, right=1.0))

    def ppf(self, probability: ArrayLike) -> Number:
        """The value that is exceeded with probability 1 - `probability`."""
        return plain(np.interp(np.asarray(probability, np.float64), *self._inverse))

    @property
    def mean(self) -> float:
        """The expected value."""
        return float(np.diff(self.below) @ (self.edges[1:] + self.edges[:-1]) / 2)

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        middle = (self.edges[1:] + self.edges[:-1]) / 2
        return float(np.sqrt(np.diff(self.below) @ (middle - self.mean) ** 2))

    @property
    def _inverse(self) -> tuple[Array, Array]:
        rising = np.concatenate([[True], np.diff(self.below) > 0])
        return self.below[rising], self.edges[rising]


def macro_posterior(right: Array, items: Array, *, f1: bool, **prior: Any) -> MacroPosterior:
    """The posterior of the mean over labels of a share J, or of F1 = 2J/(1 + J).

    Parameters
    ----------
    right, items
        How many of the items of each label are right, and how many there are.
    f1
        Whether the mean is that of F1, J being the Jaccard score.
    **prior
        Another prior than the usual one, as for `shared_prior.label_posteriors`.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.macro_posterior import macro_posterior
    >>> average = macro_posterior(np.array([3.0, 250.0]), np.array([4.0, 300.0]), f1=True)
    >>> [round(limit, 2) for limit in average.ppf([0.025, 0.975]).tolist()]
    [0.69, 0.95]
    """
    tables, number = np.unique(np.stack([right, items]), axis=1, return_counts=True)
    labels = label_posteriors(tables[0], tables[1], number.astype(float), **prior)
    mean, variance = _moments(labels, f1=f1)
    low, high = _ranges(labels, f1=f1)
    one = 1 / number.sum()  # what one label weighs in the mean
    centre = mean @ number * one
    width = (high - low) * one
    # the root of squares would do for one node of the prior; the nodes differ in their means
    reach = min(number @ width, 2 * float(np.sqrt(number @ width**2)) + float(np.ptp(centre)))
    step = reach / (_CELLS - _SPARE)

    # The number of a value's cell, counted from the lowest value of each term, stands for it: the
    # numbers add up, modulo the size of the grid.
    wide = np.flatnonzero(width >= _NARROW * step)
    base = float(number[wide] @ low[wide]) * one + (number[wide].sum() - 1) / 2 * step
    product = np.ones((len(centre), _CELLS // 2 + 1), np.complex128)
    for k in wide:
        masses = _cell_masses(labels.a[:, k], labels.b[:, k], low[k], step / one, f1=f1)
        term = np.fft.rfft(masses, _CELLS, axis=1)
        product *= term if number[k] == 1 else term ** number[k]
    if len(wide) < len(number):
        narrow = width < _NARROW * step
        known = mean[:, narrow] @ number[narrow] * one
        spread = np.sqrt(variance[:, narrow] @ number[narrow]) * one
        start = float(known.min()) - _CELLS / 4 * step
        product *= np.fft.rfft(_normal_masses(known - start, spread, step), axis=1)
        base += start + step / 2
    mass = np.maximum(np.fft.irfft(labels.weight @ product, _CELLS), 0.0)

    lowest, highest = float(low @ number) * one, float(high @ number) * one
    start = float(labels.weight @ centre) - step * _CELLS / 2
    start = min(max(start, lowest), max(lowest, highest - reach))
    first = int(np.floor((start - base) / step + 1e-9))
    below = np.concatenate([[0.0], np.cumsum(np.roll(mass, -first))])
    below /= below[-1]
    edges = base + step * (first + np.arange(_CELLS + 1))
    # rounding to cells must not move the mean
    edges += float(labels.weight @ centre) - np.diff(below) @ (edges[1:] + edges[:-1]) / 2
    return MacroPosterior(np.clip(edges, 0.0, 1.0), below)


def _normal_masses(mean: Array, deviation: Array, step: float) -> Array:
    """The probability of every cell for normal distributions, one row each.

    One that is narrower than a cell is given its width: it lies somewhere in it.
    """
    edges = step * np.arange(_CELLS + 1)
    scale = np.maximum(deviation, step / 2)[:, None]
    return np.asarray(np.diff(special.ndtr((edges - mean[:, None]) / scale), axis=1))


def _cell_masses(a: Array, b: Array, low: float, step: float, *, f1: bool) -> Array:
    """The probability of every cell from `low` on for beta distributions, one row each."""
    cells = min(_CELLS, int(np.ceil((1 - low) / step - 1e-9)))
    edges = np.minimum(low + step * np.arange(cells + 1), 1.0)
    middle = (edges[:-1] + edges[1:]) / 2
    share = _share(middle, f1=f1)
    log_measure = np.log(np.diff(edges))
    if f1:
        log_measure = log_measure + np.log(2) - 2 * np.log(2 - middle)
    log_density = np.outer(a - 1, np.log(share)) + np.outer(b - 1, np.log1p(-share))
    masses = np.exp(log_density + log_measure - special.betaln(a, b)[:, None])
    # a beta density may rise without bound at 0 and 1: there the exact masses
    for ends in (slice(0, 3), slice(max(0, cells - 3), cells)):
        limits = _share(edges[ends.start : ends.stop + 1], f1=f1)
        masses[:, ends] = np.diff(special.betainc(a[:, None], b[:, None], limits), axis=1)
    return np.asarray(masses / masses.sum(axis=1, keepdims=True))


def _share(score: Array, *, f1: bool) -> Array:
    return score / (2 - score) if f1 else score


def _ranges(labels: LabelPosteriors, *, f1: bool) -> tuple[Array, Array]:
    """Between which values every label lies at every node, but for a tiny tail."""
    low = special.betaincinv(labels.a.min(axis=0), labels.b.max(axis=0), _TAIL)
    high = special.betaincinv(labels.a.max(axis=0), labels.b.min(axis=0), 1 - _TAIL)
    return (f1_from_jaccard(low), f1_from_jaccard(high)) if f1 else (low, high)


def _moments(labels: LabelPosteriors, *, f1: bool) -> tuple[Array, Array]:
    """Mean and variance of every label's score at every node.

    With u = 1 - J, F1 = J/(1 - u/2): a series in u/2, whose terms have moments that follow from
    one another.
    """
    a, b = labels.a, labels.b
    size = a + b
    share = a / size
    spread = share * (1 - share) / (size + 1)
    if not f1:
        return share, spread
    first, second = np.ones_like(a), np.ones_like(a)
    term, term_2 = np.ones_like(a), np.ones_like(a)
    for k in range(_TERMS):
        term = term * (b + k) / (size + 1 + k) / 2
        term_2 = term_2 * (b + k) / (size + 2 + k) / 2
        first += term
        second += (k + 2) * term_2
    mean = share * first
    variance = share * (a + 1) / (size + 1) * second - mean**2
    steep = 2 / (1 + share) ** 2
    return mean, np.where(size < _LARGE, np.maximum(variance, 0.0), spread * steep**2)
