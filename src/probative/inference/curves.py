"""Judge a curve of precision and recall: area, average precision, best threshold, bands."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize, special

from probative.counts import Counts
from probative.inference.intervals import interval
from probative.inference.proportions import clopper_pearson, normal_quantile, wilson
from probative.inference.units import effective_units, student_quantile
from probative.results import Band, BestThreshold, Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative._validation import Array


# -----------------------------------------------------------------------------
# Items in the order of their scores: the curve behind precision, recall and their averages.
#
# A step is a score that occurs: all items of that score and above are taken for "yes". Items of
# one score have one step, so that their order does not matter.
# -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Ranked:
    """A yes or no and a score per item.

    Attributes
    ----------
    is_positive
        The answer, per item.
    step
        The step of every item, from 0: the highest score.
    thresholds
        The score of every step, falling.
    unit
        The unit of every item as a code from 0, or None where items are independent.
    """

    is_positive: NDArray[np.bool_]
    step: NDArray[np.int64]
    thresholds: Array
    unit: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls, is_positive: NDArray[np.bool_], scores: Array, unit: NDArray[np.int64] | None = None
    ) -> Ranked:
        """Rank items by their scores."""
        order = np.argsort(-scores)
        falling = scores[order]
        begins = np.append(True, falling[1:] != falling[:-1])
        step = np.empty(len(scores), dtype=np.int64)
        step[order] = np.cumsum(begins) - 1
        return cls(is_positive, step, falling[begins] + 0.0, unit)  # no minus zero

    @property
    def items(self) -> int:
        """How many items there are."""
        return len(self.is_positive)

    @cached_property
    def new_positives(self) -> Array:
        """How many positive items have the score of each step."""
        weights = self.is_positive.astype(float)
        counts = np.bincount(self.step, weights=weights, minlength=len(self.thresholds))
        return np.asarray(counts, dtype=float)

    @cached_property
    def new_items(self) -> Array:
        """How many items have the score of each step."""
        return np.bincount(self.step, minlength=len(self.thresholds)).astype(float)

    @cached_property
    def tp(self) -> Array:
        """The true positives from each step on."""
        return np.cumsum(self.new_positives)

    @cached_property
    def predicted(self) -> Array:
        """How many items are taken for "yes" from each step on."""
        return np.cumsum(self.new_items)

    @property
    def fp(self) -> Array:
        """The false positives from each step on."""
        return self.predicted - self.tp

    @property
    def positives(self) -> int:
        """How many items are positive."""
        return int(self.tp[-1])

    @property
    def negatives(self) -> int:
        """How many items are not."""
        return self.items - self.positives

    @cached_property
    def precision(self) -> Array:
        """The share of positives among what is taken for "yes"."""
        return self.tp / self.predicted

    @cached_property
    def recall(self) -> Array:
        """The share of the positives that is taken for "yes"."""
        return self.tp / self.positives

    @cached_property
    def average_precision(self) -> float:
        """The mean of the precision over the steps, each weighted by the recall that it adds."""
        return float(self.new_positives @ self.precision / self.positives)

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """The unit of every item; its own number where items are independent."""
        return np.arange(self.items) if self.unit is None else self.unit

    @cached_property
    def n_units(self) -> int:
        """How many units there are."""
        return self.items if self.unit is None else int(self.unit.max()) + 1

    def by_unit(self, values: Array) -> Array:
        """Sums of what every item has, per unit."""
        if self.unit is None:
            return values
        sums = np.bincount(self.unit, weights=values, minlength=self.n_units)
        return np.asarray(sums, dtype=float)

    @cached_property
    def positive_units(self) -> float:
        """How many equally large units would hold the positives as unevenly as these (Kish)."""
        return self._units_of(self.is_positive)

    @cached_property
    def negative_units(self) -> float:
        """How many equally large units would hold the others as unevenly as these; 0 of none."""
        return self._units_of(~self.is_positive) if self.negatives else 0.0

    @property
    def fewest(self) -> float:
        """The smaller of the two: of one or less nothing is known of how others would come out."""
        return min(self.positive_units, self.negative_units)

    def _units_of(self, chosen: NDArray[np.bool_]) -> float:
        if self.unit is None:
            return float(np.count_nonzero(chosen))
        own = self.by_unit(chosen.astype(float))
        return effective_units(own)


def _cumulated_from_below(values: Array) -> Array:
    """Sums over each step and all below it."""
    return np.cumsum(values[::-1])[::-1]


# -----------------------------------------------------------------------------
# The curve under other weights of the units: what resampling and leaving out have in common.
#
# A test set in which unit u counts w times has a curve of its own. Bootstrap, cross-fitting and
# leaving out one unit at a time are such weights; here they are applied to many test sets at once.
# Of very many steps or units some are put together, which costs next to nothing in accuracy:
# thresholds a two-thousandth of the items apart, and units at random, whose sums are independent.
# -----------------------------------------------------------------------------

_MOST_STEPS, _MOST_UNITS = 2_000, 4_000


@dataclass(frozen=True, eq=False)
class WeightedCurves:
    """Positives and items by step (rows) and unit (columns).

    Attributes
    ----------
    positives, items
        Sparse matrices.
    last_step
        The last of the curve's own steps that every row holds.
    """

    positives: Any
    items: Any
    last_step: NDArray[np.int64]

    @classmethod
    def of(
        cls, ranked: Ranked, block: NDArray[np.int64] | None = None, *, most: int = _MOST_STEPS
    ) -> WeightedCurves:
        """Gather the steps and units of a curve.

        Parameters
        ----------
        ranked
            The curve.
        block
            The column of every unit; by default `blocks_of` them.
        most
            The largest number of rows.
        """
        from scipy import sparse

        block = blocks_of(ranked.n_units) if block is None else block
        last = _spread(ranked.predicted, most)
        row = np.searchsorted(last, ranked.step)
        column = block[ranked.units]
        shape = (len(last), int(block.max()) + 1)
        ones = np.ones(ranked.items)
        items = sparse.csr_matrix((ones, (row, column)), shape)
        own = ranked.is_positive
        positives = sparse.csr_matrix((ones[own], (row[own], column[own])), shape)
        return cls(positives, items, last)

    @property
    def n_units(self) -> int:
        """How many columns there are."""
        return int(self.items.shape[1])

    def cumulated(self, weights: Array) -> tuple[Array, Array]:
        """True positives and predicted items at every step, a column for each set of weights."""
        tp, predicted = self.positives @ weights, self.items @ weights
        return np.cumsum(tp, axis=0), np.cumsum(predicted, axis=0)

    def average_precision(self, weights: Array) -> Array:
        """The average precision under each set of weights; NaN without positives."""
        tp, predicted = self.cumulated(weights)
        gained = np.diff(tp, axis=0, prepend=0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(predicted > 0, tp / predicted, 0.0)
            return np.asarray((gained * share).sum(axis=0) / tp[-1])


def blocks_of(units: int, most: int = _MOST_UNITS) -> NDArray[np.int64]:
    """Put units together at random, if there are more than that; always the same ones."""
    if units <= most:
        return np.arange(units)
    return np.random.default_rng(units).permutation(units) % most


def _spread(predicted: Array, most: int) -> NDArray[np.int64]:
    """All steps, or so many of them that hold about as many items each."""
    if len(predicted) <= most:
        return np.arange(len(predicted))
    places = np.searchsorted(predicted, np.linspace(0, predicted[-1], most + 1)[1:])
    return np.unique(np.minimum(places, len(predicted) - 1))


def fbeta_of(tp: Array, predicted: Array, positives: Any, beta: float) -> Array:
    """F-beta from true positives, predicted items and positives; 0 where there is nothing."""
    below = beta**2 * positives + predicted
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below > 0, (1 + beta**2) * tp / below, 0.0)


# -----------------------------------------------------------------------------
# Average precision, with its interval.
# -----------------------------------------------------------------------------

# A system that errs nowhere has a standard error of 0, which is no evidence that it never errs, and
# one that finds none of a few positives may find others: half a positive item at the very end, or
# at the very top of the ranking, is added to what was seen.
_MISPLACED = 0.5
_FEW = "few positive items: the interval rests on {}"
_ONE = "one {} {}: no evidence of how others would come out"
_NO_NEGATIVE = "no negative item: nothing to be told apart"


def influence_on_average_precision(ranked: Ranked) -> Array:
    """How far each item moves the average precision: its derivative by the item's weight.

    A positive item adds its own precision, raises that of all positives below it and the number of
    positives; a negative one lowers the precision of the positives below. They sum to 0.
    """
    added, predicted = ranked.new_positives, ranked.predicted
    raised = _cumulated_from_below(added / predicted)
    lowered = _cumulated_from_below(added * ranked.precision / predicted)
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
        alone = _ONE.format("negative" if freedom > 0 else "positive", unit)
        why = alone if ranked.negatives else _NO_NEGATIVE
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
    note = _FEW.format(f"{worth:.3g} of them") if few else None
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
    kept = _cumulated_from_below(added * tp / rest) - added * tp / rest
    lost = _cumulated_from_below(added / rest) - added / rest
    alone = predicted == 1

    def without(is_positive: int) -> Array:
        own = (added - is_positive) * (tp - is_positive) / rest
        total = above + np.where(alone, 0.0, own) + kept - is_positive * lost
        return np.asarray(total / (ranked.positives - is_positive))

    return np.where(ranked.is_positive, without(1)[ranked.step], without(0)[ranked.step])


# -----------------------------------------------------------------------------
# The area under the ROC curve, with its interval.
#
# The area is a share of pairs, and its limits are found as Wilson finds those of a share: which
# areas would not be refuted by the one that was seen? How much an area varies is told by the data
# (DeLong) where pairs of both orders were seen. Of an area near 1 the data tell too little: the
# few items that may be far out of order are not among them. So it is told by exponential scores,
# too (Hanley and McNeil), the long tail above for positives or below for negatives, and the wider
# limits count.
# -----------------------------------------------------------------------------

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
        return Interval(_METRIC, _METHOD, level, math.nan, 0.0, 1.0, _NO_NEGATIVE)
    if ranked.fewest <= 1:
        classes = "positive" if ranked.positive_units <= 1 else "negative"
        note = _ONE.format(classes, "item" if ranked.unit is None else "unit")
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


# -----------------------------------------------------------------------------
# The threshold with the highest F-beta, and what F-beta it will have on other data.
#
# The highest of many scores is too high: it was chosen because it is. Cross-fitting tells by how
# much: each tenth of the units is scored at the threshold that the others choose. That optimism is
# taken off the score; it is known no better than to its own size, which the lower limit allows
# for. The upper limit stays, since nothing makes the chosen threshold worse than it looks by more
# than chance. The best threshold itself may lie wherever the score is not clearly lower than at
# the chosen one, as its differences under other weights of the units tell. (The thresholds that
# are best under such weights lie too close together: the highest point of a flat curve jumps, and
# resampling does not know how far.)
# -----------------------------------------------------------------------------

_FOLDS, _REPEATS = 10, 10
DRAWS = 1_000
_ROUNDING = 1e-12
_BEST_THRESHOLD_FEW = 30
_NOTE = "few positive items: the interval of the score elsewhere is rough"


def best_threshold(
    ranked: Ranked, level: float, beta: float, rng: np.random.Generator
) -> BestThreshold:
    """Choose a threshold, and say how good it will be.

    Parameters
    ----------
    ranked
        The curve.
    level
        The level of the intervals.
    beta
        The weight of recall in F-beta.
    rng
        For the folds and the weights.
    """
    metric = "f1" if beta == 1 else "fbeta"
    along = fbeta_of(ranked.tp, ranked.predicted, ranked.positives, beta)
    at = int(np.argmax(along))
    naive = _interval_at(ranked, at, metric, level, beta)
    curves = WeightedCurves.of(ranked)
    fitted = _cross_fitted(curves, beta, rng)
    # of a single unit nothing can be held out: nothing is known
    optimism = math.nan if math.isnan(fitted) else max(0.0, float(along[at]) - fitted)
    tp, predicted = curves.cumulated(weights_of_units(curves.n_units, rng))
    drawn = fbeta_of(tp, predicted, tp[-1], beta)
    first, last = _rivals(curves, along, level, ranked.positive_units - 1, drawn)
    is_inner = last + 1 < len(ranked.thresholds)  # all between two scores do the same
    below = math.hypot(float(along[at]) - float(naive.low), optimism)
    low = min(float(naive.low), float(along[at]) - below) - optimism
    return BestThreshold(
        metric=metric,
        beta=beta,
        threshold=float(ranked.thresholds[at]),
        threshold_low=float(ranked.thresholds[last + 1]) if is_inner else -math.inf,
        threshold_high=float(ranked.thresholds[first]),
        estimate=float(along[at]) - optimism,
        low=0.0 if math.isnan(optimism) else max(0.0, low),
        high=1.0 if math.isnan(optimism) else float(naive.high),
        apparent=float(along[at]),
        apparent_low=float(naive.low),
        apparent_high=float(naive.high),
        optimism=optimism,
        precision=float(ranked.precision[at]),
        recall=float(ranked.recall[at]),
        level=level,
        note=_NOTE if ranked.positive_units < _BEST_THRESHOLD_FEW else None,
    )


def _interval_at(ranked: Ranked, at: int, metric: str, level: float, beta: float) -> Any:
    """The interval of F-beta at a threshold as if nobody had chosen it."""
    yes, taken = ranked.is_positive, ranked.step <= at
    cells = (yes & taken, ~yes & taken, yes & ~taken)
    if ranked.unit is None:
        counts = Counts(*(float(np.count_nonzero(cell)) for cell in cells))
        return interval(counts, metric, level=level, beta=beta)
    counts = Counts(*(ranked.by_unit(cell.astype(float)) for cell in cells))
    return interval(counts, metric, level=level, beta=beta, clustered=True)


def _cross_fitted(curves: WeightedCurves, beta: float, rng: np.random.Generator) -> float:
    """F-beta of thresholds that were each chosen without the units they are applied to.

    Parameters
    ----------
    curves
        Steps and units.
    beta
        The weight of recall in F-beta.
    rng
        For the folds.
    """
    n = curves.n_units
    folds = min(_FOLDS, n)
    if folds < 2:
        return math.nan
    everything = curves.cumulated(np.ones((n, 1)))
    positives = float(everything[0][-1, 0])
    scores = []
    for _ in range(_REPEATS):
        fold = rng.permutation(n) % folds
        kept = (fold[:, None] != np.arange(folds)).astype(float)
        tp, predicted = curves.cumulated(kept)
        at = np.argmax(fbeta_of(tp, predicted, tp[-1], beta), axis=0)
        column = np.arange(folds)
        right, taken = (
            (own[at, 0] - part[at, column]).sum()
            for own, part in zip(everything, (tp, predicted), strict=True)
        )
        scores.append(float(fbeta_of(right, taken, positives, beta)))
    return float(np.mean(scores))


def weights_of_units(n: int, rng: np.random.Generator, draws: int = DRAWS) -> Array:
    """The weights of units in draws of the Bayesian bootstrap, a column each."""
    return rng.standard_exponential((n, draws))


def _rivals(
    curves: WeightedCurves, along: Array, level: float, freedom: float, drawn: Array
) -> tuple[int, int]:
    """The first and the last step that is not clearly worse than the best one.

    Clearly: the difference of their F-beta is more than Student's quantile times the deviation that
    it has under other weights of the units.

    Parameters
    ----------
    curves
        Steps and units.
    along
        F-beta at every step of the curve.
    level, freedom
        Of Student's quantile.
    drawn
        F-beta under other weights, per row of `curves` and draw.
    """
    own = along[curves.last_step]
    best = int(np.argmax(own))
    deviation = (drawn[best] - drawn).std(axis=1)
    reach = float(student_quantile(level, freedom)) * deviation
    kept = curves.last_step[own[best] - own <= reach + _ROUNDING]
    at = int(np.argmax(along))
    return min(int(kept[0]), at), max(int(kept[-1]), at)


# -----------------------------------------------------------------------------
# Limits of precision and recall along a curve: at one threshold, and at all of them at once.
#
# Pointwise limits hold at a threshold that was chosen beforehand: Wilson's, with the effective
# number of items where these belong to units. Simultaneous ones hold at all thresholds together,
# hence also at one that was chosen after looking. For independent items they rest on the order
# statistics of the scores of positives and negatives: a band of equal local levels for either
# distribution (of many scores, within Kolmogorov's), whose joint level is that of uniform order
# statistics and so the same for all systems; ties make it wider than need be. Both, and an exact
# interval of the share of positives, are carried over to precision. Items of units count as what
# they are worth: their number over the largest design effect along the curve.
# -----------------------------------------------------------------------------

if TYPE_CHECKING:
    Limits = tuple[Any, Any]


_DRAWS, _SEED = 4_000, 20_250  # of uniform samples: the constants are the same in every call
_EACH = 30  # up to so many scores every number of them has a local level of its own
_CURVE_BANDS_FEW = 200  # scores: all of their order statistics have limits
_GRID = 60  # order statistics of either half that have limits otherwise
_ENDS = 0.1  # of a curve, where few items tell nothing about a design effect
_FEW_ITEMS = 30
_STEPS = "few items of a class: limits move in steps, and single ones hold less often"
_DEPENDENT = "items of units: counted as what they are worth, close for many units only"


def pointwise_band(ranked: Ranked, level: float) -> Band:
    """Wilson's limits of precision and recall at each threshold by itself."""
    z = normal_quantile(level)
    few = _STEPS if ranked.fewest < _FEW_ITEMS else None
    if ranked.unit is None:
        precision = wilson(ranked.tp, ranked.predicted, z)
        recall = wilson(ranked.tp, float(ranked.positives), z)
        return Band("pointwise", "wilson", level, *precision, *recall, few)
    return Band("pointwise", "wilson", level, *_limits_of_units(ranked, level), few)


def simultaneous_band(ranked: Ranked, level: float) -> Band:
    """Limits of precision and recall that hold at all thresholds together."""
    # three independent statements, each of which must hold
    each = level ** (1 / 3)
    found = _limits_of_share(ranked.tp, ranked.positives, each, _class_effect(ranked))
    others = Ranked(~ranked.is_positive, ranked.step, ranked.thresholds, ranked.unit)
    false = _limits_of_share(ranked.fp, ranked.negatives, each, _class_effect(others))
    effect = _share_effect(ranked)
    share = clopper_pearson(ranked.positives / effect, ranked.items / effect, (1 - each) / 2)
    low = _precision(share[0], found[0], false[1])
    high = _precision(share[1], found[1], false[0])
    note = None if ranked.unit is None else _DEPENDENT
    return Band("simultaneous", "equal-local-levels", level, low, high, *found, note)


def _precision(share: Any, found: Array, false: Array) -> Array:
    """What precision is if that share is positive, and these shares of either class are taken."""
    right, wrong = share * found, (1 - share) * false
    total = right + wrong
    return np.where(total > 0, right / np.where(total > 0, total, 1.0), 1.0)


# --- equal local levels -----------------------------------------------------------------------


def _limits_of_share(taken: Array, total: int, level: float, effect: float) -> Limits:
    """Limits, at all thresholds at once, of the share of scores above each.

    As many independent scores are counted as these are worth: their number over the design effect.
    """
    if not total:
        return np.zeros(len(taken)), np.ones(len(taken))
    taken, n = taken / effect, max(1, int(total / effect))
    shares = np.minimum(taken / n, 1.0)
    if n <= _CURVE_BANDS_FEW:
        return _limits_by_order(taken, n, level)
    # of many scores the band is tied to some; Kolmogorov's, narrower in the middle, to all
    half = (1 + level) / 2
    reach = np.sqrt(np.log(2 / (1 - half)) / (2 * n))
    low, high = _limits_by_order(taken, n, half)
    return np.maximum(low, shares - reach), np.minimum(high, shares + reach)


def _limits_by_order(taken: Array, n: int, level: float) -> Limits:
    grid, tail = _grid(n), local_level(_rounded_up(n), level) / 2
    low, high = special.betaincinv(grid, n + 1 - grid, [[tail], [1 - tail]])
    # a threshold lies between two order statistics, and the share between their limits
    below = np.searchsorted(grid, taken, side="right")
    above = np.searchsorted(grid, taken + 1)
    return np.append(0.0, low)[below], np.append(high, 1.0)[above]


def _rounded_up(n: int) -> int:
    """The next of some numbers of scores: with more of them a local level is a little smaller."""
    if n <= _EACH:
        return n
    return int(_EACH * 1.1 ** np.ceil(np.log(n / _EACH) / np.log(1.1) - 1e-9)) + 1


@lru_cache(maxsize=256)
def local_level(n: int, level: float) -> float:
    """The level of each single limit at which all of them together hold with probability `level`.

    From samples of uniform order statistics, the same ones in every call.

    Parameters
    ----------
    n
        How many independent scores there are.
    level
        The level of the band.
    """
    grid = _grid(n)
    rng = np.random.default_rng(_SEED)
    steps = np.diff(np.append(grid, n + 1), prepend=0)
    sums = np.cumsum(rng.standard_gamma(steps, size=(_DRAWS, len(steps))), axis=1)
    below = special.betainc(grid, n + 1 - grid, sums[:, :-1] / sums[:, -1:])
    worst = 2 * np.minimum(below, 1 - below).min(axis=1)
    return float(np.quantile(worst, 1 - level, method="lower"))


def _grid(n: int) -> NDArray[np.int64]:
    """The order statistics that have limits: all of few, else ever fewer towards the middle."""
    if n <= _CURVE_BANDS_FEW:
        return np.arange(1, n + 1)
    half = np.unique(np.round(np.geomspace(1, n / 2, _GRID)).astype(np.int64))
    return np.unique(np.concatenate([half, n + 1 - half]))


# --- units ------------------------------------------------------------------------------------


def _limits_of_units(ranked: Ranked, level: float) -> tuple[Any, Any, Any, Any]:
    """Wilson's limits of precision and recall, with as many items as the units are worth."""
    sums = _UnitSums(ranked)
    recall = _limits_of_ratio(
        ranked.tp, float(ranked.positives), sums.recall_spread(), sums.recall_sizes, level
    )
    precision = _limits_of_ratio(
        ranked.tp, ranked.predicted, sums.precision_spread(), sums.sizes, level
    )
    return *precision, *recall


def _limits_of_ratio(
    tp: Array,
    total: Any,
    spread: tuple[Array, Any],
    sizes: Any,
    level: float,
) -> Limits:
    """Wilson's limits of tp / total, whose units deviate so much and are so large.

    Parameters
    ----------
    tp, total
        The ratio.
    spread
        The sum of the squared deviations of units, and how many units there are.
    sizes
        The sum of the squared sizes of units.
    level
        The level.
    """
    squares, units = spread
    share = tp / total
    alone = share * (1 - share) * total
    with np.errstate(invalid="ignore", divide="ignore"):
        together = np.where(units > 1, squares * units / (units - 1), np.nan)
        # where all are right or all wrong, as if a unit were one item
        effect = np.where(alone > 1e-9, together / alone, total / units)
    freedom = total**2 / sizes - 1
    quantile = student_quantile(level, freedom)
    worth = total / np.maximum(np.nan_to_num(effect, nan=1.0), 1.0)
    low, high = wilson(share * worth, worth, quantile)
    # one unit is no evidence of how others would come out
    none = np.less_equal(freedom, 1e-9)
    return np.where(none, 0.0, low), np.where(none, 1.0, high)


class _UnitSums:
    """Sums of squares over units at every step, from what each item adds to its unit's."""

    def __init__(self, ranked: Ranked):
        self.ranked = ranked
        yes = ranked.is_positive.astype(float)
        positives = ranked.by_unit(yes)
        order = np.lexsort((ranked.step, ranked.units))
        unit, said = ranked.units[order], yes[order]
        begins = np.append(True, unit[1:] != unit[:-1])
        start = np.maximum.accumulate(np.where(begins, np.arange(len(unit)), 0))
        before = np.cumsum(said) - said
        # items and positives of the same unit that come before
        y, x = np.arange(len(unit)) - start, before - before[start]
        own = positives[unit]
        place = ranked.step[order]
        n = len(ranked.thresholds)

        def along(added: Any) -> Array:
            return np.cumsum(np.bincount(place, weights=added, minlength=n))

        self.sizes = along(2 * y + 1.0)
        self._right = along(said * (2 * x + 1))
        self._mixed = along(np.where(said > 0, x + y + 1, x))
        self._of_positives = along(said * own)
        self._units = along(begins.astype(float))
        self._positive_units = float(np.count_nonzero(positives))
        self.recall_sizes = float((positives**2).sum())

    def precision_spread(self) -> tuple[Array, Array]:
        """Squared deviations of true positives from what the precision lets expect."""
        p = self.ranked.precision
        return self._right - 2 * p * self._mixed + p**2 * self.sizes, self._units

    def recall_spread(self) -> tuple[Array, float]:
        """Squared deviations of true positives from what the recall lets expect."""
        r = self.ranked.recall
        squares = self._right - 2 * r * self._of_positives + r**2 * self.recall_sizes
        return squares, self._positive_units


def _class_effect(ranked: Ranked) -> float:
    """The largest design effect of the share of positives above a threshold, but for the ends."""
    if ranked.unit is None or not ranked.positives:
        return 1.0
    sums = _UnitSums(ranked)
    squares, units = sums.recall_spread()
    share = ranked.recall
    inner = (share > _ENDS) & (share < 1 - _ENDS)
    if units < 2 or not inner.any():
        return sums.recall_sizes / ranked.positives  # as if a unit were one item
    alone = share[inner] * (1 - share[inner]) * ranked.positives
    return max(1.0, float((squares[inner] * units / (units - 1) / alone).max()))


def _share_effect(ranked: Ranked) -> float:
    """The design effect of the share of positives."""
    if ranked.unit is None or not ranked.negatives or ranked.n_units < 2:
        return 1.0
    share = ranked.positives / ranked.items
    deviations = ranked.by_unit(ranked.is_positive.astype(float) - share)
    n = ranked.n_units
    together = n / (n - 1) * float(deviations @ deviations)
    return max(1.0, together / (ranked.items * share * (1 - share)))
