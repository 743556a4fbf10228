"""Adjust p-values for multiple comparisons."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from probative._validation import amounts, one_of
from probative.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["adjust_pvalues"]


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
    p = amounts("pvalues", pvalues)
    if p.ndim != 1:
        raise InputError(f"pvalues: shape {p.shape}; expected a sequence of p-values")
    if np.any(p > 1):
        raise InputError(f"pvalues: {p[p > 1][0]:g} is not between 0 and 1")
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


def _most_true(n_pairs: int) -> NDArray[np.int64]:
    """Return how many null hypotheses of pairs can be true at most if 0, 1, 2, … are false."""
    k = (1 + isqrt(1 + 8 * n_pairs)) // 2
    if k * (k - 1) // 2 != n_pairs:
        raise InputError(
            f"pvalues: {n_pairs} of them; expected those of all pairs of some systems: 1, 3, 6, …"
        )
    possible = _possible_numbers(k)
    numbers = [m for m in range(n_pairs + 1) if possible >> m & 1]
    left = np.arange(n_pairs, 0, -1)
    return np.asarray(numbers)[np.searchsorted(numbers, left, side="right") - 1]


def _possible_numbers(k: int) -> int:
    """Return which numbers of pairs of k systems can be equal at once, as the set bits of a number.

    Equal systems form groups: a group of j has j(j-1)/2 equal pairs.
    """
    possible = [1]
    for size in range(1, k + 1):
        numbers = 0
        for group in range(1, size + 1):
            numbers |= possible[size - group] << (group * (group - 1) // 2)
        possible.append(numbers)
    return possible[k]
