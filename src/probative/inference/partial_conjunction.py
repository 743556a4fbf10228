"""On how many data sets is B better? Partial-conjunction p-values, and the count they allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative._validation import amounts, one_of, open_probability
from probative.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["METHODS", "count_of_conjunctions", "partial_conjunction"]

METHODS = ("bonferroni", "fisher")


def partial_conjunction(pvalues: ArrayLike, method: str = "bonferroni") -> NDArray[np.float64]:
    """The p-values of "at least u of these hypotheses are false", for u = 1, 2, … n.

    Parameters
    ----------
    pvalues
        One-sided p-values of the same comparison on n data sets.
    method
        "bonferroni", (n - u + 1)·p_(u), holds whatever the dependence between data sets. "fisher"
        adds up the logarithms of the n - u + 1 largest, for independent data sets.

    Returns
    -------
    numpy.ndarray
        One per u, never falling: the running maximum, so that more is never claimed sooner.

    References
    ----------
    Y. Benjamini & R. Heller, "Screening for partial conjunction hypotheses", 2008. R. Dror, G.
    Baumer, M. Bogomolov & R. Reichart, "Replicability analysis for natural language processing:
    testing significance with multiple datasets", 2017.

    Examples
    --------
    >>> from probative.inference.partial_conjunction import partial_conjunction
    >>> partial_conjunction([0.001, 0.2, 0.012]).round(4).tolist()
    [0.003, 0.024, 0.2]
    >>> partial_conjunction([0.001, 0.2, 0.012], "fisher").round(4).tolist()
    [0.0002, 0.0169, 0.2]
    """
    p = amounts("pvalues", pvalues)
    if p.ndim != 1 or not len(p):
        raise InputError(f"pvalues: shape {p.shape}; expected a sequence of p-values")
    if np.any(p > 1):
        raise InputError(f"pvalues: {p[p > 1][0]:g} is not between 0 and 1")
    one_of("method", method, METHODS)
    p = np.sort(p)
    left = np.arange(len(p), 0, -1)  # how many are at least as large: n - u + 1
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
    """On how many data sets B is better at least, with the confidence of the level.

    Parameters
    ----------
    pvalues, method
        As for `partial_conjunction`.
    level
        The count exceeds the true number with a probability of at most 1 - level.

    Examples
    --------
    >>> from probative.inference.partial_conjunction import count_of_conjunctions
    >>> count_of_conjunctions([0.001, 0.2, 0.012])
    2
    """
    alpha = 1 - open_probability("level", level)
    return int(np.count_nonzero(partial_conjunction(pvalues, method) <= alpha * (1 + 1e-9)))
