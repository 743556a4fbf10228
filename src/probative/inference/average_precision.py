"""Average precision, with its interval."""

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
    "standard_error",
]

# A system that errs nowhere has a standard error of 0, which is no evidence that it never errs, and
# one that finds none of a few positives may find others: half a positive item at the very end, or
# at the very top of the ranking, is added to what was seen.
_MISPLACED = 0.5
FEW = "few positive items: the interval rests on {}"
ONE = "one {} {}: no evidence of how others would come out"
NO_NEGATIVE = "no negative item: nothing to be told apart"


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
    number of positives (their effective number of units). Below, half a positive at the very end is
    allowed for, above, half a positive at the very top.
    """
    estimate = ranked.average_precision
    unit = "item" if ranked.unit is None else "unit"
    freedom = ranked.positive_units - 1
    if not ranked.negatives or not ranked.fewest > 1:
        alone = ONE.format("negative" if freedom > 0 else "positive", unit)
        why = alone if ranked.negatives else NO_NEGATIVE
        return Interval("average_precision", "logit-jackknife", level, estimate, 0.0, 1.0, why)
    jackknife = _without_one(ranked)
    deviation = max(
        jackknife.deviation, standard_error(ranked, influence_on_average_precision(ranked))
    )
    centre = min(max(jackknife.centre, 0.0), 1.0)
    chance = ranked.positives / ranked.items
    worth = ranked.positive_units
    unseen = _MISPLACED / (worth + _MISPLACED)
    missed, gained = unseen * max(0.0, centre - chance), unseen * (1 - centre)
    quantile = float(student_quantile(level, freedom))
    low, _ = _logit_limits(centre - missed, math.hypot(deviation, missed), quantile)
    _, high = _logit_limits(centre + gained, math.hypot(deviation, gained), quantile)
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
