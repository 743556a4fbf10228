"""Compute the difference of two scores: its interval, and the p-value that decides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from probative._validation import (
    RNG,
    Array,
    accepts_seed,
    one_of,
    open_probability,
    positive,
    random_generator,
    whole_number,
)
from probative.counts import Counts, PairedCounts, paired_of
from probative.errors import InputError
from probative.inference.intervals import default_method, interval, limits_of_units
from probative.inference.posterior.student import ClusteredPosterior
from probative.inference.units import (
    ONE_UNIT,
    Dependence,
    contributions,
    correlation,
    dependence_of_difference,
    kinds_of,
    variance_of_difference,
)
from probative.metrics import METRICS, TABLE, Composite, counts_for, score, span
from probative.options import DifferenceOptions
from probative.results import Difference, Interval
from probative.wording.verdict import why_by_unit

if TYPE_CHECKING:
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


# --- Paired bootstrap: whole units are drawn again

_NUMBERS_AT_ONCE = 2**20  # bounds the memory
_FEWEST_UNITS = 50  # units; in simulations, intervals of fewer cover less than their level
_FEW_UNITS = f"fewer than {_FEWEST_UNITS} units: bootstrap intervals are too narrow"


@accepts_seed
def bootstrap_difference(
    paired: PairedCounts,
    metric: str = "f1",
    *,
    method: str = "percentile",
    level: float = 0.95,
    n_resamples: int = 10_000,
    rng: RNG | None = None,
    beta: float = 1.0,
) -> Difference:
    """Compute an interval for the difference of two scores, B minus A, by the paired bootstrap.

    Units (sentences, documents) are drawn with replacement; without units, items are. Equal units
    are drawn together, with one multinomial draw per resample, and only their contributions to the
    numerators and denominators of the scores are summed.

    Parameters
    ----------
    paired
        The cases of the two systems, one row per unit or one table of whole numbers. Units in
        which nothing counts for either system are left out.
    metric
        One of precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv.
    method
        "percentile", or "bca": corrected for bias and for a variance that changes with the
        difference (acceleration, by leaving out one unit at a time). With few units the
        corrections are estimated from too few data, and the coverage is lower.
    level
        The nominal coverage, in (0, 1).
    n_resamples, rng
        The number of resamples, and a seed or generator for them.
    beta
        The weight of recall in F-beta.

    References
    ----------
    B. Efron, "Better bootstrap confidence intervals", 1987.

    Examples
    --------
    >>> import probative as pv
    >>> paired = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
    >>> gap = pv.bootstrap_difference(paired, "f1", rng=1)
    >>> gap.method, round(gap.estimate, 4), bool(gap.low < 0 < gap.high)
    ('bootstrap-percentile', 0.0606, True)
    """
    paired_of("paired", paired)
    one_of("metric", metric, METRICS)
    one_of("method", method, ("percentile", "bca"))
    level = open_probability("level", level)
    n_resamples = whole_number("n_resamples", n_resamples, most=10**9)
    generator = random_generator(rng)
    beta = positive("beta", beta) if TABLE[metric].depends_on_beta else 1.0

    sums, number = _sufficient_statistics(paired, metric, beta)
    most = span(metric)
    a, b = (float(value) for value in _scores(number @ sums, metric))
    result = partial(
        Difference,
        metric=metric,
        method=f"bootstrap-{method}",
        level=level,
        estimate=b - a,
        a=a,
        b=b,
        correlation=correlation(paired.total(), metric, beta=beta),
        signature=DifferenceOptions(
            level=level, beta=beta, n_resamples=n_resamples, rng=rng
        ).signature("difference", metric, f"bootstrap-{method}"),
    )
    if math.isnan(b - a):
        return result(low=-most, high=most, note=_UNDEFINED)
    least = 2
    if paired.has_units:
        rows, units = contributions(paired, metric, beta=beta)
        least = min(int(units[y > 0].sum()) for _, y in rows)
    if min(least, number.sum()) < 2:
        return result(low=-most, high=most, note=ONE_UNIT)
    n, at_once, parts = int(number.sum()), max(1, _NUMBERS_AT_ONCE // len(number)), []
    for start in range(0, n_resamples, at_once):
        size = min(at_once, n_resamples - start)
        of_a, of_b = _scores(generator.multinomial(n, number / n, size) @ sums, metric)
        parts.append(of_b - of_a)
    drawn = np.concatenate(parts)
    undefined = int(np.count_nonzero(np.isnan(drawn)))
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn):
        return result(low=-most, high=most, note="a score is undefined in every resample")
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if method == "bca":
        left_a, left_b = _scores(number @ sums - sums, metric)  # without one unit of each kind
        tails = _bca_tails(tails, drawn, b - a, np.asarray(left_b - left_a), number)
    low, high = np.quantile(drawn, tails).tolist()
    notes = [
        f"left out {undefined} resamples with an undefined score" if undefined else None,
        _FEW_UNITS if number.sum() < _FEWEST_UNITS else None,
    ]
    return result(low=low, high=high, note="; ".join(filter(None, notes)) or None)


def _sufficient_statistics(
    paired: PairedCounts, metric: str, beta: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the contributions of distinct units to both scores, and their numbers."""
    # (x_A, y_A, x_B, y_B) for ratios x/y, the cells for composite scores
    if not paired.has_units and np.any(paired.cases != np.round(paired.cases)):
        raise InputError("paired: fractions of items cannot be drawn; expected whole cases")
    entry = TABLE[metric]
    if isinstance(entry, Composite):
        kinds, number = kinds_of(paired.grouped())
        cells = [
            part for side in (kinds.a, kinds.b) for part in entry.cells(counts_for(metric, side))
        ]
        kept = number > 0
        return np.stack(cells, axis=-1)[kept], number[kept].astype(np.int64)
    (a, b), number = contributions(paired.grouped(), metric, beta=beta)
    return np.stack([*a, *b], axis=-1), number.astype(np.int64)


def _scores(sums: NDArray[np.float64], metric: str) -> tuple[Any, Any]:
    entry = TABLE[metric]
    if isinstance(entry, Composite):
        cells = np.moveaxis(sums, -1, 0)
        return entry.value(*cells[:4]), entry.value(*cells[4:])
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums[..., 0] / sums[..., 1], sums[..., 2] / sums[..., 3]


def _bca_tails(
    tails: NDArray[np.float64],
    drawn: NDArray[np.float64],
    estimate: float,
    without: NDArray[np.float64],
    number: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the levels of the bootstrap quantiles that BCa uses."""
    below = (np.mean(drawn < estimate) + np.mean(drawn <= estimate)) / 2
    bias = special.ndtri(np.clip(below, 1 / (2 * len(drawn)), 1 - 1 / (2 * len(drawn))))
    usable = ~np.isnan(without)
    if not usable.any():
        return np.asarray(special.ndtr(2 * bias + special.ndtri(tails)))
    deviation = np.average(without[usable], weights=number[usable]) - without[usable]
    spread = float(number[usable] @ deviation**2)
    skew = float(number[usable] @ deviation**3) / (6 * spread**1.5) if spread > 0 else 0.0
    z = bias + special.ndtri(tails)
    return np.asarray(special.ndtr(bias + z / (1 - skew * z)))


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
