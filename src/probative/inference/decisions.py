"""Decide whether two systems differ, by the exchange test and Student's test by unit.

The exchange test asks whether the outputs of two systems on a unit could be exchanged, not whether
their scores are equal. Where the systems return different amounts and some units are hard for both,
scores can be equal without the outputs being exchangeable: the null distribution is narrower than
the distribution of the difference, and the test rejects too often at every sample size. Decisions
therefore use the larger of two p-values: that of the exchange, and Student's from the jackknife
variance of the difference and Kish's degrees of freedom, on which the interval rests, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative.inference.units import contributions, variance_of_difference
from probative.metrics import score
from probative.wording.verdict import why_by_unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative._validation import Array
    from probative.counts import PairedCounts

__all__ = [
    "UnitTest",
    "exchange_errors",
    "overstating",
    "student_pvalue",
    "unit_test",
]

# Ratio of the standard error of the difference to that under exchange above which it is mentioned:
# from about here on, the exchange test rejects equal scores in 0.07 of the cases instead of 0.05.
_LEAST_EXCESS_TO_MENTION = 1.1


def student_pvalue(difference: Any, standard_error: Any, degrees_of_freedom: Any) -> Any:
    """Return Student's two-sided p-value; NaN where there is no standard error."""
    error = np.asarray(standard_error, dtype=np.float64)
    freedom = np.asarray(degrees_of_freedom, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = 2 * special.stdtr(np.minimum(freedom, 1e12), -np.abs(difference) / error)
    return np.where((error > 0) & (freedom > 0), p, np.nan)


@dataclass(frozen=True)
class UnitTest:
    """Student's test of a difference by unit, beside the exchange test.

    Attributes
    ----------
    pvalue
        Two-sided; NaN if no unit moves the difference, or there is only one.
    excess
        The standard error of the difference divided by that under exchange; NaN without one.
    """

    pvalue: float
    excess: float

    def why(
        self,
        paired: PairedCounts,
        exchanged: float,
        names: tuple[str, str] = ("A", "B"),
        unit: str = "unit",
    ) -> str | None:
        """Say why this p-value decides, if that of the exchange would overstate the evidence."""
        if not overstating(self.excess, exchanged, self.pvalue):
            return None
        total = paired.total()
        returned = float(total.a.tp + total.a.fp), float(total.b.tp + total.b.fp)
        return why_by_unit(names, returned, self.excess, (exchanged, self.pvalue), unit)


def unit_test(paired: PairedCounts, metric: str = "f1", *, beta: float = 1.0) -> UnitTest:
    """Test a difference by Student's distribution over units; without units, over items."""
    total = paired.total()
    gap = score(total.b, metric, beta=beta) - score(total.a, metric, beta=beta)
    variance, freedom = variance_of_difference(paired, metric, beta=beta)
    (a, b), number = contributions(paired, metric, beta=beta, pooled=True)
    x, y = (np.stack([contribution[k] for contribution in (a, b)]) for k in (0, 1))
    under_exchange = float(exchange_errors(x, y, number)[0, 1])
    # a variance this small is a rounding error of 0
    error = math.sqrt(variance) if variance > 1e-20 else 0.0
    excess = error / under_exchange if under_exchange > 0 else math.nan
    return UnitTest(float(student_pvalue(gap, error, freedom)), excess)


def exchange_errors(x: Array, y: Array, number: NDArray[Any]) -> Array:
    """Return the standard error of the difference of every pair under exchange.

    `x` and `y` are the contributions of every kind of unit to numerator and denominator, with one
    row per system.
    """

    def squares(left: Array, right: Array) -> Array:
        """Sum the products of the differences of every pair over the units."""
        products = (left * number) @ right.T
        diagonal = np.diag(products)
        return np.asarray(np.add.outer(diagonal, diagonal) - products - products.T)

    top, bottom = np.add.outer(x @ number, x @ number), np.add.outer(y @ number, y @ number)
    with np.errstate(invalid="ignore", divide="ignore"):
        f = top / bottom
        variance = squares(x, x) - 2 * f * squares(x, y) + f**2 * squares(y, y)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)) / (bottom / 2))


def overstating(excess: Any, pvalue: Any, p_unit: Any) -> Any:
    """Return True where the exchange test alone would overstate the evidence of a difference."""
    with np.errstate(invalid="ignore"):
        return (np.asarray(excess) > _LEAST_EXCESS_TO_MENTION) & (
            np.asarray(p_unit) > np.asarray(pvalue)
        )
