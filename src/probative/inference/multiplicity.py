"""Adjusting p-values for how many there are."""

from __future__ import annotations

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
        "holm" keeps the probability of any false discovery below the level, whatever the
        dependence between the tests. "benjamini-hochberg" keeps the expected share of false
        discoveries below it, for independent or positively dependent tests.

    Returns
    -------
    numpy.ndarray
        The adjusted p-values, in the same order; compare them with the level as they are.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", 1979. Y. Benjamini &
    Y. Hochberg, "Controlling the false discovery rate", 1995.

    Examples
    --------
    >>> import probative as pv
    >>> pv.adjust_pvalues([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    >>> pv.adjust_pvalues([0.01, 0.04, 0.03], "benjamini-hochberg").tolist()
    [0.03, 0.04, 0.04]
    """
    p = amounts("pvalues", pvalues)
    if p.ndim != 1:
        raise InputError(f"pvalues: shape {p.shape}; expected a sequence of p-values")
    if np.any(p > 1):
        raise InputError(f"pvalues: {p[p > 1][0]:g} is not between 0 and 1")
    one_of("method", method, ("holm", "benjamini-hochberg"))
    order = np.argsort(p)
    n = len(p)
    rank = np.arange(1, n + 1)
    if method == "holm":
        stepped = np.maximum.accumulate(p[order] * (n + 1 - rank))
    else:
        stepped = np.minimum.accumulate((p[order] * n / rank)[::-1])[::-1]
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted
