"""Compute the difference of two scores: its interval, and the p-value that decides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import one_of, open_probability, positive
from probative.counts import PairedCounts, paired_of
from probative.inference.intervals import default_method, interval, limits_of_units
from probative.inference.posterior.student import ClusteredPosterior
from probative.inference.units import (
    contributions,
    correlation,
    dependence_of_difference,
    variance_of_difference,
)
from probative.metrics import METRICS, TABLE, score, span
from probative.options import DifferenceOptions
from probative.results import Difference, Interval
from probative.wording.verdict import why_by_unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative._validation import Array
    from probative.counts import Counts
    from probative.inference.units import Dependence
    from probative.results import DifferencePosterior


_METHODS = ("mover", "bayes")
_UNDEFINED = "undefined: the denominator of a score is 0"
_OUTSIDE = "the estimate lies outside the interval: the prior outweighs these counts"


def difference(
    paired: PairedCounts,
    metric: str = "f1",
    *,
    method: str = "mover",
    level: float = 0.95,
    beta: float = 1.0,
    prior: float = 1.0,
) -> Difference:
    """Compute an interval for the difference of two scores, B minus A.

    With units, the table is divided by the design effect of the difference and Student's quantile
    replaces the normal one, so that the interval allows for the dependence of the items of a unit
    and for the number of units. Without units the items are taken to be independent.

    Parameters
    ----------
    paired
        The cases of the two systems, one table or one row per unit.
    metric
        One of precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv.
    method
        "mover" combines the default intervals of the two scores with their correlation; "bayes"
        is the equal-tailed interval of the paired posterior.
    level
        The nominal coverage, in (0, 1).
    beta
        The weight of recall in F-beta.
    prior
        The prior weight of a cell of either system's table for "bayes".

    Returns
    -------
    Difference
        With `estimate`, `low`, `high`, the scores `a` and `b`, their `correlation` and the
        `design_effect` of the difference.

    Examples
    --------
    >>> import probative as pv
    >>> paired = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
    >>> print(pv.difference(paired, "f1"))
    f1, B - A: +0.0606 [-0.0140, +0.1404], 0.95 mover interval
    """
    paired_of("paired", paired)
    one_of("metric", metric, METRICS)
    one_of("method", method, _METHODS)
    level = open_probability("level", level)
    beta = positive("beta", beta) if TABLE[metric].depends_on_beta else 1.0
    prior = positive("prior", prior)
    options, head = DifferenceOptions(level=level, beta=beta, prior=prior), (metric, method, level)
    signature, most = options.signature("difference", metric, method), span(metric)

    table = paired.total()
    a, b = score(table.a, metric, beta=beta), score(table.b, metric, beta=beta)
    if math.isnan(a) or math.isnan(b):
        limits = math.nan, -most, most
        return Difference(*head, *limits, a, b, 0.0, note=_UNDEFINED, signature=signature)
    dependence = effect = note = None
    if paired.has_units:
        dependence = dependence_of_difference(paired, metric, beta=beta)
        effect, note = dependence.design_effect, dependence.note
    effective = table / dependence.divisor if dependence else table
    r = correlation(effective, metric, beta=beta)
    if dependence and dependence.no_evidence:
        low, high = -most, most
    elif method == "bayes":
        posterior = ClusteredPosterior(paired, metric, dependence, prior=prior, beta=beta)
        low, high = posterior.interval(level)
        if not low <= b - a <= high:
            note = "; ".join(filter(None, (note, _OUTSIDE)))
    else:
        singles = [_single(own, dependence, metric, level, beta) for own in (table.a, table.b)]
        low, high = mover(singles[0], singles[1], r)
    return Difference(*head, b - a, low, high, a, b, r, effect, note, signature=signature)


def one_sided_low(posterior: DifferencePosterior, confidence: float) -> float:
    """Return the lower end of the one-sided interval of a difference."""
    # for cases of two systems that of MOVER, otherwise that of the posterior, both at the level
    # 2·confidence - 1; a confidence below 0.5 counts as 0.5
    level = max(2 * confidence - 1, 1e-6)
    if not isinstance(posterior, ClusteredPosterior) or posterior.no_evidence:
        return float(posterior.interval(level)[0])
    dependence, (metric, _, beta) = posterior.dependence, posterior.choices
    total = posterior.table * (dependence.divisor if dependence else 1.0)
    singles = [_single(counts, dependence, metric, level, beta) for counts in (total.a, total.b)]
    r = correlation(posterior.table, metric, beta=beta)
    return mover(singles[0], singles[1], r)[0]


def _single(
    counts: Counts, dependence: Dependence | None, metric: str, level: float, beta: float
) -> Interval:
    """Return the interval of one score, with the effective sample size of the difference."""
    method = default_method(metric, beta)
    if dependence is None:
        return interval(counts, metric, method, level=level, beta=beta)
    estimate = score(counts, metric, beta=beta)
    low, high, note = limits_of_units(counts, dependence, metric, method, level, beta)
    return Interval(metric, method, level, estimate, low, high, note)


def mover(a: Interval, b: Interval, r: float) -> tuple[float, float]:
    """Recover the variances of two scores from their intervals, and combine them."""
    # at a score of 0 or 1, the interval of F-beta comes from its posterior and leaves it out
    arms = [(max(0.0, x.estimate - x.low), max(0.0, x.high - x.estimate)) for x in (a, b)]
    low, high = combine_arms(b.estimate - a.estimate, arms[0], arms[1], r)
    most = span(a.metric)
    return max(-most, low), min(most, high)


def combine_arms(
    estimate: float, a: tuple[float, float], b: tuple[float, float], r: float
) -> tuple[float, float]:
    """Return the interval of a difference from how far two intervals reach down and up."""
    # each end combines the lower half of one interval with the upper half of the other: the third
    # side of a triangle whose sides x and y meet at an angle of cosine r
    below, above = (
        math.sqrt(max(0.0, (x - y) ** 2 + 2 * (1 - r) * x * y))
        for x, y in ((b[0], a[1]), (b[1], a[0]))
    )
    return estimate - below, estimate + above


# --- Decide whether two systems differ, by the exchange test and Student's test by unit
#
# The exchange test asks whether the outputs of two systems on a unit could be exchanged, not
# whether their scores are equal. Where the systems return different amounts and some units are
# hard for both, scores can be equal without the outputs being exchangeable: the null distribution
# is narrower than the distribution of the difference, and the test rejects too often at every
# sample size. Decisions therefore use the larger of two p-values: that of the exchange, and
# Student's from the jackknife variance of the difference and Kish's degrees of freedom, on which
# the interval rests, too.

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
    """Student's test of a difference by unit, beside the exchange test."""

    pvalue: float  # two-sided; NaN if no unit moves the difference, or there is only one
    excess: float  # the standard error over that under exchange; NaN without one
    standard_error: float = math.nan  # of the difference
    degrees_of_freedom: float = math.nan
    returned: tuple[float, float] = (math.nan, math.nan)  # the number of items of each system

    def why(
        self, exchanged: float, names: tuple[str, str] = ("A", "B"), unit: str = "unit"
    ) -> str | None:
        """Say why this p-value decides, if that of the exchange would overstate the evidence."""
        if not overstating(self.excess, exchanged, self.pvalue):
            return None
        return why_by_unit(names, self.returned, self.excess, (exchanged, self.pvalue), unit)


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
    pvalue = float(student_pvalue(gap, error, freedom))
    returned = float(total.a.tp + total.a.fp), float(total.b.tp + total.b.fp)
    return UnitTest(pvalue, excess, math.sqrt(variance), freedom, returned)


def exchange_errors(x: Array, y: Array, number: NDArray[Any]) -> Array:
    """Return the standard error of the difference of every pair of rows under exchange."""

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
        later = np.asarray(p_unit) > np.asarray(pvalue)
        return (np.asarray(excess) > _LEAST_EXCESS_TO_MENTION) & later
