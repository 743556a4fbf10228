"""Whether a difference is the same in all groups: Cochran's Q with Welch's allowance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative.errors import InputError
from probative.results import Heterogeneity

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["heterogeneity"]


def heterogeneity(
    differences: ArrayLike, standard_errors: ArrayLike, degrees_of_freedom: ArrayLike
) -> Heterogeneity | None:
    """Test whether groups have one difference, and tell which share of their spread is real.

    Weighted by w = 1/se², the squared distances of the differences from their mean add up to Q. If
    all groups had the same difference and known standard errors, it would follow the chi-squared
    distribution. Theirs are estimates from few units, which make Q too large: Welch's F of a
    one-way layout with unequal variances allows for that by their degrees of freedom.

    Parameters
    ----------
    differences, standard_errors, degrees_of_freedom
        Of every group. A group without a standard error (undefined, or 0) is left out.

    Returns
    -------
    Heterogeneity or None
        None for fewer than two groups.

    References
    ----------
    W. G. Cochran, "The combination of estimates from different experiments", 1954. B. L. Welch,
    "On the comparison of several mean values: an alternative approach", 1951. J. P. T. Higgins &
    S. G. Thompson, "Quantifying heterogeneity in a meta-analysis", 2002.

    Examples
    --------
    >>> from probative.inference.heterogeneity import heterogeneity
    >>> print(heterogeneity([0.02, 0.03, -0.05], [0.01, 0.02, 0.015], [90, 60, 80]))
    Q = 17.20 on 2 degrees of freedom, p = 0.0003256, I² = 0.88
    """
    d, se, freedom = (
        np.asarray(values, dtype=np.float64)
        for values in (differences, standard_errors, degrees_of_freedom)
    )
    if not d.shape == se.shape == freedom.shape or d.ndim != 1:
        raise InputError(
            f"standard_errors: shapes {d.shape}, {se.shape} and {freedom.shape}; expected one of "
            f"each per group"
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
    rest = (k**2 - 1) / (3 * doubt)
    pvalue = float(special.fdtrc(k - 1, rest, f))
    return Heterogeneity(q, k - 1, pvalue, max(0.0, 1 - (k - 1) / q) if q > 0 else 0.0)
