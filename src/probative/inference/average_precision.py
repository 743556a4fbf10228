"""Average precision and the area under the ROC curve, with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative.inference.clusters import student_quantile
from probative.inference.ranked import cumulated_from_below
from probative.inference.unit_weights import WeightedCurves
from probative.results import Interval

if TYPE_CHECKING:
    from probative._types import Array
    from probative.inference.ranked import Ranked

__all__ = [
    "average_precision_interval",
    "influence_on_average_precision",
    "influence_on_roc_auc",
    "roc_auc",
    "roc_auc_interval",
    "standard_error",
]

# A system that errs nowhere has a standard error of 0, which is no evidence that it never errs:
# half a positive item at the very end of the ranking is added to what was seen.
_MISPLACED = 0.5
_FEW_MISPLACED = 1.0
FEW = "few positive items: the interval rests on {}"
ONE_POSITIVE = "one positive {}: no evidence of how others would come out"
NO_NEGATIVE = "no negative item: nothing to be told apart"


# --- average precision ------------------------------------------------------------------------


def influence_on_average_precision(ranked: Ranked) -> Array:
    """How far each item moves the average precision: its derivative by the item's weight.

    A positive item adds its own precision, raises that of all positives below it and the number of
    positives; a negative one lowers the precision of the positives below. They sum to 0.
    """
    added, predicted = ranked.new_positives, ranked.predicted
    raised = cumulated_from_below(added / predicted)
    lowered = cumulated_from_below(added * ranked.precision / predicted)
    own = ranked.precision[ranked.step] + raised[ranked.step] - ranked.average_precision
    return (np.where(ranked.is_positive, own, 0.0) - lowered[ranked.step]) / ranked.positives


def average_precision_interval(ranked: Ranked, level: float) -> Interval:
    """The interval of average precision, on the logit scale, the bias of small samples removed.

    Centre and standard error come from leaving out one unit at a time, Student's quantile from the
    number of positives (their effective number of units). Above, the estimate itself is the centre;
    below, half a misplaced positive is allowed for.
    """
    estimate = ranked.average_precision
    unit = "item" if ranked.unit is None else "unit"
    freedom = ranked.positive_units - 1
    if not ranked.negatives or not freedom > 0:
        why = ONE_POSITIVE.format(unit) if ranked.negatives else NO_NEGATIVE
        return Interval("average_precision", "logit-jackknife", level, estimate, 0.0, 1.0, why)
    jackknife = _without_one(ranked)
    deviation = max(
        jackknife.deviation, standard_error(ranked, influence_on_average_precision(ranked))
    )
    centre = min(max(jackknife.centre, 0.0), 1.0)
    chance = ranked.positives / ranked.items
    worth = ranked.positive_units
    missed = _MISPLACED * max(0.0, centre - chance) / (worth + _MISPLACED)
    quantile = float(student_quantile(level, freedom))
    low, _ = _logit_limits(centre - missed, math.hypot(deviation, missed), quantile)
    _, high = _logit_limits(centre, deviation, quantile)
    few = worth < 5
    note = FEW.format(f"{worth:.3g} of them") if few else None
    low, high = min(low, estimate), max(high, estimate)
    effect = None if ranked.unit is None else _design_effect(ranked)
    return Interval(
        "average_precision", "logit-jackknife", level, estimate, low, high, note, effect
    )


def _design_effect(ranked: Ranked) -> float:
    influence = influence_on_average_precision(ranked)
    alone = float(influence @ influence)
    together = ranked.by_unit(influence)
    return float(together @ together) / alone if alone > 0 else math.nan


def _logit_limits(centre: float, deviation: float, quantile: float) -> tuple[float, float]:
    """Limits that are symmetric on the logit scale; at 0 and 1 there is no room beyond."""
    spread = centre * (1 - centre)
    if spread <= 0:
        return centre, centre
    middle, reach = special.logit(centre), quantile * deviation / spread
    return float(special.expit(middle - reach)), float(special.expit(middle + reach))


def standard_error(ranked: Ranked, influence: Array) -> float:
    """The standard error of a score by how far each item moves it; units are independent."""
    units = ranked.by_unit(influence)
    n = len(units)
    return math.sqrt(n / (n - 1) * float(units @ units)) if n > 1 else math.inf


@dataclass(frozen=True)
class _Jackknife:
    centre: float
    deviation: float


def _without_one(ranked: Ranked) -> _Jackknife:
    """Centre and standard error by leaving out one item (unit) at a time."""
    if ranked.unit is None:
        estimate, values = ranked.average_precision, _without_each_item(ranked)
    else:
        curves = WeightedCurves.of(ranked)
        n = curves.n_units
        estimate = float(curves.average_precision(np.ones((n, 1)))[0])
        values = np.concatenate(
            [
                curves.average_precision(1.0 - np.eye(n, 400, -start)[:, : min(400, n - start)])
                for start in range(0, n, 400)
            ]
        )
        values = values[~np.isnan(values)]
    n = len(values)
    mean = float(values.mean())
    centre = n * estimate - (n - 1) * mean
    # the bias of the steps that were put together is that of the curve itself
    centre += ranked.average_precision - estimate
    spread = float(((values - mean) ** 2).sum())
    return _Jackknife(centre, math.sqrt((n - 1) / n * spread))


def _without_each_item(ranked: Ranked) -> Array:
    """The average precision without each of the items, all in one pass over the steps."""
    added, tp, predicted = ranked.new_positives, ranked.tp, ranked.predicted
    rest = np.maximum(predicted - 1, 1)
    above = np.append(0.0, np.cumsum(added * ranked.precision)[:-1])
    kept = cumulated_from_below(added * tp / rest) - added * tp / rest
    lost = cumulated_from_below(added / rest) - added / rest
    alone = predicted == 1

    def without(is_positive: int) -> Array:
        own = (added - is_positive) * (tp - is_positive) / rest
        total = above + np.where(alone, 0.0, own) + kept - is_positive * lost
        return np.asarray(total / (ranked.positives - is_positive))

    return np.where(ranked.is_positive, without(1)[ranked.step], without(0)[ranked.step])


# --- the area under the ROC curve -------------------------------------------------------------


def roc_auc(ranked: Ranked) -> float:
    """The share of pairs of a positive and a negative in which the positive scores higher.

    A tie counts half. NaN where one of the classes is not there.
    """
    if not ranked.negatives:
        return math.nan
    right = ranked.new_positives @ (ranked.negatives - ranked.fp + _new_negatives(ranked) / 2)
    return float(right / (ranked.positives * ranked.negatives))


def _new_negatives(ranked: Ranked) -> Array:
    return ranked.new_items - ranked.new_positives


def influence_on_roc_auc(ranked: Ranked) -> Array:
    """DeLong's components: how far each item moves the area, as far as it deviates from the mean.

    Divided by the number of items of its class, so that the squares add up to the variance (but for
    the degree of freedom of each class).
    """
    area, p, n = roc_auc(ranked), ranked.positives, ranked.negatives
    beaten = (n - ranked.fp + _new_negatives(ranked) / 2) / n
    beating = (ranked.tp - ranked.new_positives / 2) / p
    own = np.where(ranked.is_positive, beaten[ranked.step], beating[ranked.step])
    return np.asarray((own - area) / np.where(ranked.is_positive, p, n))


def _delong_deviation(ranked: Ranked) -> float:
    """DeLong's standard error; with units, that of sums of the components over units."""
    influence = influence_on_roc_auc(ranked)
    if ranked.unit is not None:
        return standard_error(ranked, influence)
    variance = 0.0
    for of_class, n in (
        (ranked.is_positive, ranked.positives),
        (~ranked.is_positive, ranked.negatives),
    ):
        own = influence[of_class]
        variance += float(own @ own) * n / (n - 1) if n > 1 else math.inf
    return math.sqrt(variance)


def roc_auc_interval(ranked: Ranked, level: float) -> Interval:
    """DeLong's interval on the logit scale, which stays within 0 and 1.

    Where the classes are parted without a mistake the standard error is 0; then as many disjoint
    pairs as there are items of the smaller class, all of them right, give an exact limit.
    """
    metric, method = "roc_auc", "delong-logit"
    estimate = roc_auc(ranked)
    if math.isnan(estimate):
        return Interval(metric, method, level, math.nan, 0.0, 1.0, NO_NEGATIVE)
    pairs = _disjoint_pairs(ranked)
    deviation = _delong_deviation(ranked)
    if math.isinf(deviation):
        note = "one item of a class: no evidence of how others would come out"
        return Interval(metric, method, level, estimate, 0.0, 1.0, note)
    if deviation == 0 and estimate in (0.0, 1.0):
        reach = ((1 - level) / 2) ** (1 / pairs)
        low, high = (reach, 1.0) if estimate == 1 else (0.0, 1 - reach)
        note = "no pair is out of order: the limit is that of as many disjoint pairs"
        return Interval(metric, "disjoint-pairs", level, estimate, low, high, note)
    quantile = float(student_quantile(level, _freedom(ranked)))
    low, high = _logit_limits(estimate, deviation, quantile)
    # what the smaller class has out of order, in items
    few = pairs * min(estimate, 1 - estimate) < _FEW_MISPLACED
    doubt = "few pairs are out of order: the interval may be too short" if few else None
    return Interval(metric, method, level, estimate, low, high, doubt)


def _disjoint_pairs(ranked: Ranked) -> float:
    if ranked.unit is None:
        return float(min(ranked.positives, ranked.negatives))
    own = ranked.by_unit(ranked.is_positive.astype(float))
    rest = ranked.by_unit((~ranked.is_positive).astype(float))
    return float(min(np.count_nonzero(own), np.count_nonzero(rest)))


def _freedom(ranked: Ranked) -> float:
    if ranked.unit is None:
        return float(min(ranked.positives, ranked.negatives) - 1)
    return max(1e-3, ranked.positive_units - 1)
