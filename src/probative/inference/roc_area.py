"""The area under the ROC curve, with its interval.

The area is a share of pairs, and its limits are found as Wilson finds those of a share: which areas
would not be refuted by the one that was seen? How much an area varies is told by the data (DeLong)
where pairs of both orders were seen. Of an area near 1 the data tell too little: the few items that
may be far out of order are not among them. So it is told by exponential scores, too (Hanley and
McNeil), the long tail above for positives or below for negatives, and the wider limits count.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize

from probative.inference.average_precision import NO_NEGATIVE, ONE, standard_error
from probative.inference.clusters import student_quantile
from probative.inference.proportions import wilson
from probative.results import Interval

if TYPE_CHECKING:
    from probative._types import Array
    from probative.inference.ranked import Ranked

__all__ = ["influence_on_roc_auc", "roc_auc", "roc_auc_interval"]

_METRIC, _METHOD = "roc_auc", "delong-score"
_EDGE = 1e-12


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


def roc_auc_interval(ranked: Ranked, level: float) -> Interval:
    """The interval of the area under the ROC curve, by the score of a supposed area.

    Items of units count as what they are worth: their number over the design effect.
    """
    estimate = roc_auc(ranked)
    if math.isnan(estimate):
        return Interval(_METRIC, _METHOD, level, math.nan, 0.0, 1.0, NO_NEGATIVE)
    if ranked.fewest <= 1:
        classes = "positive" if ranked.positive_units <= 1 else "negative"
        note = ONE.format(classes, "item" if ranked.unit is None else "unit")
        return Interval(_METRIC, _METHOD, level, estimate, 0.0, 1.0, note)
    variance, freedom, effect = _variance(ranked)
    quantile = float(student_quantile(level, freedom))
    p, n = (max(1.0, own / effect) for own in (ranked.positives, ranked.negatives))
    limits = [_with_exponential_scores(estimate, p, n, quantile)]
    limits.append(_with_exponential_scores(estimate, n, p, quantile))
    if variance > 0:
        worth = estimate * (1 - estimate) / variance
        limits.append(wilson(estimate * worth, worth, quantile))
    low, high = float(min(own[0] for own in limits)), float(max(own[1] for own in limits))
    told = None if ranked.unit is None else effect
    return Interval(_METRIC, _METHOD, level, estimate, low, high, None, told)


def _variance(ranked: Ranked) -> tuple[float, float, float]:
    """DeLong's variance, its degrees of freedom (Satterthwaite) and the design effect of units."""
    influence = influence_on_roc_auc(ranked)
    parts = []
    for of_class, n in (
        (ranked.is_positive, ranked.positives),
        (~ranked.is_positive, ranked.negatives),
    ):
        own = influence[of_class]
        parts.append((float(own @ own) * n / (n - 1) if n > 1 else 0.0, n - 1))
    alone = sum(part for part, _ in parts)
    if ranked.unit is None:
        each = sum(part**2 / freedom for part, freedom in parts)
        freedom = alone**2 / each if alone > 0 else ranked.fewest - 1
        return alone, freedom, 1.0
    together = standard_error(ranked, influence) ** 2
    as_if_one_item = min(ranked.positives, ranked.negatives) / ranked.fewest
    effect = max(1.0, together / alone if alone > 0 else as_if_one_item)
    return max(together, alone), ranked.fewest - 1, effect


def _with_exponential_scores(
    estimate: float, p: float, n: float, quantile: float
) -> tuple[float, float]:
    """The areas that lie within `quantile` standard deviations, if scores are exponential."""

    def beyond(area: float) -> float:
        spread = 1 + (p - 1) * (1 - area) / (2 - area) + (n - 1) * area / (1 + area)
        variance = area * (1 - area) * spread / (p * n)
        return float((estimate - area) ** 2 - quantile**2 * variance)

    def between(a: float, b: float) -> float:
        return float(optimize.brentq(beyond, a, b)) if beyond(a) * beyond(b) < 0 else estimate

    inner = min(max(estimate, _EDGE), 1 - _EDGE)  # at 0 and 1 nothing varies
    return (
        between(_EDGE, inner) if estimate > _EDGE else 0.0,
        between(inner, 1 - _EDGE) if estimate < 1 - _EDGE else 1.0,
    )
