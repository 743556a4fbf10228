"""Judge curves of precision and recall: areas, best threshold, bands, calibration."""

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
from probative.results import Band, BestThreshold, Calibration, CalibrationBin, Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative._validation import Array


# --- Items in the order of their scores
#
# A step is a distinct score: all items with this score or a higher one are predicted positive.
# Items with equal scores share a step, so that their order does not matter.


@dataclass(frozen=True, eq=False)
class Ranked:
    """Items ranked by their scores, with their gold labels.

    Attributes
    ----------
    is_positive
        The gold label of every item.
    step
        The step of every item, from 0: the highest score.
    thresholds
        The score of every step, descending.
    unit
        The unit of every item as a code from 0, or None if items are independent.
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
        """Return the number of items."""
        return len(self.is_positive)

    @cached_property
    def new_positives(self) -> Array:
        """Return the number of positive items at each step."""
        weights = self.is_positive.astype(float)
        counts = np.bincount(self.step, weights=weights, minlength=len(self.thresholds))
        return np.asarray(counts, dtype=float)

    @cached_property
    def new_items(self) -> Array:
        """Return the number of items at each step."""
        return np.bincount(self.step, minlength=len(self.thresholds)).astype(float)

    @cached_property
    def tp(self) -> Array:
        """Return the true positives at the threshold of each step."""
        return np.cumsum(self.new_positives)

    @cached_property
    def predicted(self) -> Array:
        """Return the number of items predicted positive at the threshold of each step."""
        return np.cumsum(self.new_items)

    @property
    def fp(self) -> Array:
        """Return the false positives at the threshold of each step."""
        return self.predicted - self.tp

    @property
    def positives(self) -> int:
        """Return the number of positive items."""
        return int(self.tp[-1])

    @property
    def negatives(self) -> int:
        """Return the number of negative items."""
        return self.items - self.positives

    @cached_property
    def precision(self) -> Array:
        """Return the precision at the threshold of each step."""
        return self.tp / self.predicted

    @cached_property
    def recall(self) -> Array:
        """Return the recall at the threshold of each step."""
        return self.tp / self.positives

    @cached_property
    def average_precision(self) -> float:
        """Return the mean precision over the steps, weighted by the recall that each adds."""
        return float(self.new_positives @ self.precision / self.positives)

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """Return the unit of every item; its index if items are independent."""
        return np.arange(self.items) if self.unit is None else self.unit

    @cached_property
    def n_units(self) -> int:
        """Return the number of units."""
        return self.items if self.unit is None else int(self.unit.max()) + 1

    def by_unit(self, values: Array) -> Array:
        """Sum values of items by unit."""
        if self.unit is None:
            return values
        sums = np.bincount(self.unit, weights=values, minlength=self.n_units)
        return np.asarray(sums, dtype=float)

    @cached_property
    def positive_units(self) -> float:
        """Return Kish's effective number of units for the positives."""
        return self._units_of(self.is_positive)

    @cached_property
    def negative_units(self) -> float:
        """Return Kish's effective number of units for the negatives; 0 without any."""
        return self._units_of(~self.is_positive) if self.negatives else 0.0

    @property
    def fewest(self) -> float:
        """Return the smaller effective number of units of the two classes.

        With one or fewer, nothing is known about the variance.
        """
        return min(self.positive_units, self.negative_units)

    def _units_of(self, chosen: NDArray[np.bool_]) -> float:
        """Return Kish's effective number of units for the chosen items."""
        if self.unit is None:
            return float(np.count_nonzero(chosen))
        own = self.by_unit(chosen.astype(float))
        return effective_units(own)


def _cumulated_from_below(values: Array) -> Array:
    """Return the sums over each step and all steps below it."""
    return np.cumsum(values[::-1])[::-1]


# --- The curve under other weights of the units
#
# Bootstrap, cross-fitting and jackknife reweight the units; here many sets of weights are applied
# at once. Very many steps or units are merged, at almost no loss of accuracy: steps down to about
# two thousand with equal numbers of items, units at random, whose sums stay independent.

_MOST_STEPS, _MOST_UNITS = 2_000, 4_000  # rows and columns; more are merged


@dataclass(frozen=True, eq=False)
class WeightedCurves:
    """Sparse tables of positives and items by step (rows) and unit (columns).

    `last_step` is the last of the curve's own steps in each row.
    """

    positives: Any
    items: Any
    last_step: NDArray[np.int64]

    @classmethod
    def of(
        cls, ranked: Ranked, block: NDArray[np.int64] | None = None, *, most: int = _MOST_STEPS
    ) -> WeightedCurves:
        """Build the tables of a curve, with `most` rows at most.

        `block` is the column of every unit; by default `blocks_of` them.
        """
        from scipy import sparse

        block = blocks_of(ranked.n_units) if block is None else block
        last = _spread(ranked.predicted, most)
        row = np.searchsorted(last, np.arange(len(ranked.thresholds)))[ranked.step]
        column = block[ranked.units]
        shape = (len(last), int(block.max()) + 1)
        ones = np.ones(ranked.items)
        items = sparse.csr_matrix((ones, (row, column)), shape)
        own = ranked.is_positive
        positives = sparse.csr_matrix((ones[own], (row[own], column[own])), shape)
        return cls(positives, items, last)

    @property
    def n_units(self) -> int:
        """Return the number of columns."""
        return int(self.items.shape[1])

    def cumulated(self, weights: Array) -> tuple[Array, Array]:
        """Return true positives and predicted items at every step; sets of weights are columns."""
        tp, predicted = self.positives @ weights, self.items @ weights
        return np.cumsum(tp, axis=0), np.cumsum(predicted, axis=0)

    def average_precision(self, weights: Array) -> Array:
        """Return the average precision under each set of weights; NaN without positives."""
        tp, predicted = self.cumulated(weights)
        gained = np.diff(tp, axis=0, prepend=0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(predicted > 0, tp / predicted, 0.0)
            return np.asarray((gained * share).sum(axis=0) / tp[-1])


def blocks_of(units: int, most: int = _MOST_UNITS) -> NDArray[np.int64]:
    """Assign units to at most `most` blocks, at random but always in the same way."""
    if units <= most:
        return np.arange(units)
    return np.random.default_rng(units).permutation(units) % most


def _spread(predicted: Array, most: int) -> NDArray[np.int64]:
    """Return all steps, or `most` of them with about equal numbers of items between them."""
    if len(predicted) <= most:
        return np.arange(len(predicted))
    places = np.searchsorted(predicted, np.linspace(0, predicted[-1], most + 1)[1:])
    return np.unique(np.minimum(places, len(predicted) - 1))


def fbeta_of(tp: Array, predicted: Array, positives: Any, beta: float) -> Array:
    """Compute F-beta from true positives, predicted items and positives; 0 for 0/0."""
    below = beta**2 * positives + predicted
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below > 0, (1 + beta**2) * tp / below, 0.0)


# --- Average precision and its interval

# A system without errors has a standard error of 0, which does not show that it never errs, and one
# that misses all of a few positives may find others. So half a positive item is added, at the very
# end of the ranking for the lower limit, at the very top for the upper limit.
_ADDED_POSITIVES = 0.5
_FEW_POSITIVES = "few positive items: the interval rests on {}"
_ONE_OF_A_CLASS = "one {} {}: its variation cannot be estimated"
_NO_NEGATIVE = "no negative item: nothing to distinguish"


def influence_on_average_precision(ranked: Ranked) -> Array:
    """Compute the derivative of the average precision by each item's weight.

    A positive item adds its own precision and raises the precision of all positives below it and
    the number of positives; a negative item lowers the precision of the positives below it. The
    derivatives sum to 0.
    """
    added, predicted = ranked.new_positives, ranked.predicted
    raised = _cumulated_from_below(added / predicted)
    lowered = _cumulated_from_below(added * ranked.precision / predicted)
    own = ranked.precision[ranked.step] + raised[ranked.step] - ranked.average_precision
    return (np.where(ranked.is_positive, own, 0.0) - lowered[ranked.step]) / ranked.positives


def average_precision_interval(ranked: Ranked, level: float) -> Interval:
    """Compute the logit interval of average precision, corrected for small-sample bias.

    Centre and standard error come from the jackknife over units, Student's quantile from the
    effective number of units of the positives. The lower limit allows for half a positive at the
    very end, the upper limit for half a positive at the very top.
    """
    estimate = ranked.average_precision
    unit = "item" if ranked.unit is None else "unit"
    freedom = ranked.positive_units - 1
    if not ranked.negatives or not ranked.fewest > 1:
        alone = _ONE_OF_A_CLASS.format("negative" if freedom > 0 else "positive", unit)
        why = alone if ranked.negatives else _NO_NEGATIVE
        return Interval("average_precision", "logit-jackknife", level, estimate, 0.0, 1.0, why)
    jackknife = _without_one(ranked)
    deviation = max(
        jackknife.deviation, standard_error(ranked, influence_on_average_precision(ranked))
    )
    centre = min(max(jackknife.centre, 0.0), 1.0)
    chance = ranked.positives / ranked.items
    worth = ranked.positive_units
    unseen = _ADDED_POSITIVES / (worth + _ADDED_POSITIVES)
    missed, gained = unseen * max(0.0, centre - chance), unseen * (1 - centre)
    quantile = float(student_quantile(level, freedom))
    low, _ = _logit_limits(centre - missed, math.hypot(deviation, missed), quantile)
    _, high = _logit_limits(centre + gained, math.hypot(deviation, gained), quantile)
    few = worth < 5
    note = _FEW_POSITIVES.format(f"{worth:.3g} of them") if few else None
    low, high = min(low, estimate), max(high, estimate)
    effect = None if ranked.unit is None else _design_effect(ranked)
    return Interval(
        "average_precision", "logit-jackknife", level, estimate, low, high, note, effect
    )


def _design_effect(ranked: Ranked) -> float:
    """Return the design effect of the units on the average precision."""
    influence = influence_on_average_precision(ranked)
    alone = float(influence @ influence)
    together = ranked.by_unit(influence)
    return float(together @ together) / alone if alone > 0 else math.nan


def _logit_limits(centre: float, deviation: float, quantile: float) -> tuple[float, float]:
    """Return limits symmetric on the logit scale; at 0 and 1 they equal the centre."""
    spread = centre * (1 - centre)
    if spread <= 0:
        return centre, centre
    middle, reach = special.logit(centre), quantile * deviation / spread
    return float(special.expit(middle - reach)), float(special.expit(middle + reach))


def standard_error(ranked: Ranked, influence: Array) -> float:
    """Compute the standard error of a score from its derivatives by item; units are independent."""
    units = ranked.by_unit(influence)
    n = len(units)
    return math.sqrt(n / (n - 1) * float(units @ units)) if n > 1 else math.inf


@dataclass(frozen=True)
class _Jackknife:
    centre: float
    deviation: float


def _without_one(ranked: Ranked) -> _Jackknife:
    """Return centre and standard error of the jackknife over items or units."""
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
    # correct for the difference between the merged steps and the curve itself
    centre += ranked.average_precision - estimate
    spread = float(((values - mean) ** 2).sum())
    return _Jackknife(centre, math.sqrt((n - 1) / n * spread))


def _without_each_item(ranked: Ranked) -> Array:
    """Return the average precision without each item, all in one pass over the steps."""
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


# --- Area under the ROC curve and its interval
#
# The area is a proportion of pairs. Its interval is a score interval, as Wilson's: the areas that
# the observed one does not reject. The variance comes from the data (DeLong) if pairs of both
# orders occur. For an area near 1 the data show too little variance, because the few items that may
# be far out of order are not among them. So the variance under exponential scores (Hanley and
# McNeil) is used, too, with the long tail above for positives or below for negatives, and the
# widest interval counts.

_METRIC, _METHOD = "roc_auc", "delong-score"
_EDGE = 1e-12  # areas closer to 0 or 1 have no variance


def roc_auc(ranked: Ranked) -> float:
    """Compute the share of pairs of a positive and a negative in which the positive scores higher.

    A tie counts half. NaN if a class has no items.
    """
    if not ranked.negatives:
        return math.nan
    right = ranked.new_positives @ (ranked.negatives - ranked.fp + _new_negatives(ranked) / 2)
    return float(right / (ranked.positives * ranked.negatives))


def _new_negatives(ranked: Ranked) -> Array:
    """Return the number of negative items at each step."""
    return ranked.new_items - ranked.new_positives


def influence_on_roc_auc(ranked: Ranked) -> Array:
    """Compute DeLong's components: each item's share of rightly ordered pairs, less the area.

    They are divided by the number of items of the class, so that their squares add up to the
    variance (but for the degree of freedom of each class).
    """
    area, p, n = roc_auc(ranked), ranked.positives, ranked.negatives
    beaten = (n - ranked.fp + _new_negatives(ranked) / 2) / n
    beating = (ranked.tp - ranked.new_positives / 2) / p
    own = np.where(ranked.is_positive, beaten[ranked.step], beating[ranked.step])
    return np.asarray((own - area) / np.where(ranked.is_positive, p, n))


def roc_auc_interval(ranked: Ranked, level: float) -> Interval:
    """Compute the score interval of the area under the ROC curve.

    Items of units count with their effective sample size: their number over the design effect.
    """
    estimate = roc_auc(ranked)
    if math.isnan(estimate):
        return Interval(_METRIC, _METHOD, level, math.nan, 0.0, 1.0, _NO_NEGATIVE)
    if ranked.fewest <= 1:
        classes = "positive" if ranked.positive_units <= 1 else "negative"
        note = _ONE_OF_A_CLASS.format(classes, "item" if ranked.unit is None else "unit")
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
    shown_effect = None if ranked.unit is None else effect
    return Interval(_METRIC, _METHOD, level, estimate, low, high, None, shown_effect)


def _variance(ranked: Ranked) -> tuple[float, float, float]:
    """Return DeLong's variance, its Satterthwaite degrees of freedom, and the design effect."""
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
    """Return the ends of the score interval of the area if scores are exponential."""

    def beyond(area: float) -> float:
        spread = 1 + (p - 1) * (1 - area) / (2 - area) + (n - 1) * area / (1 + area)
        variance = area * (1 - area) * spread / (p * n)
        return float((estimate - area) ** 2 - quantile**2 * variance)

    def between(a: float, b: float) -> float:
        return float(optimize.brentq(beyond, a, b)) if beyond(a) * beyond(b) < 0 else estimate

    inner = min(max(estimate, _EDGE), 1 - _EDGE)  # at 0 and 1 the variance is 0
    return (
        between(_EDGE, inner) if estimate > _EDGE else 0.0,
        between(inner, 1 - _EDGE) if estimate < 1 - _EDGE else 1.0,
    )


# --- The threshold with the highest F-beta, and its F-beta on other data
#
# The highest of many scores is too high, because it was chosen. Cross-fitting estimates this
# optimism: each tenth of the units is scored at the threshold that the other units choose. The
# optimism is subtracted from the score. It is known only to about its own size, which the lower end
# of the interval allows for; the upper end stays. The interval of the best threshold holds all
# thresholds whose score is not clearly lower than at the chosen one, by the spread of the
# differences under other weights of the units. (Bootstrap quantiles of the best threshold are too
# close together: the maximum of a flat curve jumps, and resampling underestimates how far.)

_FOLDS, _REPEATS = 10, 10  # of the cross-fitting
_BOOTSTRAP_DRAWS = 1_000  # of the Bayesian bootstrap
_ROUNDING = 1e-12
_FEWEST_POSITIVES_FOR_A_THRESHOLD = 30  # below, the interval of the score has a note
_FEW_FOR_A_THRESHOLD = "few positive items: the interval of the score elsewhere is rough"


def best_threshold(
    ranked: Ranked, level: float, beta: float, rng: np.random.Generator
) -> BestThreshold:
    """Choose the threshold with the highest F-beta, and estimate its F-beta on other data."""
    metric = "f1" if beta == 1 else "fbeta"
    along = fbeta_of(ranked.tp, ranked.predicted, ranked.positives, beta)
    at = int(np.argmax(along))
    naive = _interval_at(ranked, at, metric, level, beta)
    curves = WeightedCurves.of(ranked)
    fitted = _cross_fitted(curves, beta, rng)
    # a single unit cannot be held out: the optimism is unknown
    optimism = math.nan if math.isnan(fitted) else max(0.0, float(along[at]) - fitted)
    tp, predicted = curves.cumulated(weights_of_units(curves.n_units, rng))
    drawn = fbeta_of(tp, predicted, tp[-1], beta)
    first, last = _rivals(curves, along, level, ranked.positive_units - 1, drawn)
    is_inner = last + 1 < len(ranked.thresholds)  # all thresholds between two scores are equivalent
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
        note=_FEW_FOR_A_THRESHOLD
        if ranked.positive_units < _FEWEST_POSITIVES_FOR_A_THRESHOLD
        else None,
    )


def _interval_at(ranked: Ranked, at: int, metric: str, level: float, beta: float) -> Any:
    """Compute the interval of F-beta at a threshold, as if it had not been chosen by its score."""
    yes, taken = ranked.is_positive, ranked.step <= at
    cells = (yes & taken, ~yes & taken, yes & ~taken)
    if ranked.unit is None:
        counts = Counts(*(float(np.count_nonzero(cell)) for cell in cells))
        return interval(counts, metric, level=level, beta=beta)
    counts = Counts(*(ranked.by_unit(cell.astype(float)) for cell in cells))
    return interval(counts, metric, level=level, beta=beta, clustered=True)


def _cross_fitted(curves: WeightedCurves, beta: float, rng: np.random.Generator) -> float:
    """Return F-beta of thresholds chosen without the units that they are applied to."""
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


def weights_of_units(n: int, rng: np.random.Generator, draws: int = _BOOTSTRAP_DRAWS) -> Array:
    """Draw weights of units for the Bayesian bootstrap, one column per draw."""
    return rng.standard_exponential((n, draws))


def _rivals(
    curves: WeightedCurves, along: Array, level: float, freedom: float, drawn: Array
) -> tuple[int, int]:
    """Return the first and last step whose F-beta is not clearly lower than the best one.

    Clearly lower: by more than Student's quantile times the standard deviation of the difference
    under other weights of the units. `along` is F-beta at every step, `drawn` F-beta by row of
    `curves` and draw.
    """
    own = along[curves.last_step]
    best = int(np.argmax(own))
    deviation = (drawn[best] - drawn).std(axis=1)
    reach = float(student_quantile(level, freedom)) * deviation
    kept = curves.last_step[own[best] - own <= reach + _ROUNDING]
    at = int(np.argmax(along))
    return min(int(kept[0]), at), max(int(kept[-1]), at)


# --- Bands of precision and recall along a curve, pointwise and simultaneous
#
# Pointwise intervals hold at a threshold chosen beforehand: Wilson's, with the effective sample
# size if items belong to units. A simultaneous band holds at all thresholds together, hence also
# at one chosen after looking. For independent items it rests on the order statistics of the scores
# of positives and negatives: a band of equal local levels for either distribution (within
# Kolmogorov's, for many scores). Its joint level is that of uniform order statistics and so the
# same for all systems; ties make it conservative. Both bands and an exact interval of the share of
# positives give the band of precision. Items of units count with their effective sample size:
# their number over the largest design effect along the curve.

if TYPE_CHECKING:
    Limits = tuple[Any, Any]


_UNIFORM_DRAWS, _SEED = 4_000, 20_250  # of uniform samples: local levels are the same in every call
_MOST_SCORES_WITHOUT_ROUNDING = 30  # beyond, the number of scores is rounded for a local level
_MOST_SCORES_WITH_ALL_LIMITS = 200  # beyond, only a grid of order statistics has limits
_GRID_PER_HALF = 60  # order statistics of this grid in either half
_END_OF_CURVE = 0.1  # a share: within it too few items show a design effect
_FEWEST_ITEMS_FOR_SMOOTH_LIMITS = 30  # of a class; below, the band has a note
_FEW_ITEMS = "few items of a class: the interval changes in steps, and its coverage varies"
_DEPENDENT = (
    "items are counted by their effective sample size, which is accurate for many units only"
)


def pointwise_band(ranked: Ranked, level: float) -> Band:
    """Compute Wilson intervals of precision and recall at each threshold by itself."""
    z = normal_quantile(level)
    few = _FEW_ITEMS if ranked.fewest < _FEWEST_ITEMS_FOR_SMOOTH_LIMITS else None
    if ranked.unit is None:
        precision = wilson(ranked.tp, ranked.predicted, z)
        recall = wilson(ranked.tp, float(ranked.positives), z)
        return Band("pointwise", "wilson", level, *precision, *recall, few)
    return Band("pointwise", "wilson", level, *_limits_of_units(ranked, level), few)


def simultaneous_band(ranked: Ranked, level: float) -> Band:
    """Compute a band of precision and recall that holds at all thresholds together."""
    # three independent statements (recall, false positive rate, share) must all hold
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
    """Compute precision from the share of positives, the recall and the false positive rate."""
    right, wrong = share * found, (1 - share) * false
    total = right + wrong
    return np.where(total > 0, right / np.where(total > 0, total, 1.0), 1.0)


# --- Equal local levels


def _limits_of_share(taken: Array, total: int, level: float, effect: float) -> Limits:
    """Return simultaneous limits of the share of scores above each threshold.

    They use the effective number of independent scores: their number over the design effect.
    """
    if not total:
        return np.zeros(len(taken)), np.ones(len(taken))
    taken, n = taken / effect, max(1, int(total / effect))
    shares = np.minimum(taken / n, 1.0)
    if n <= _MOST_SCORES_WITH_ALL_LIMITS:
        return _limits_by_order(taken, n, level)
    # for many scores the band uses only some; Kolmogorov's uses all, and is narrower in the middle
    half = (1 + level) / 2
    reach = np.sqrt(np.log(2 / (1 - half)) / (2 * n))
    low, high = _limits_by_order(taken, n, half)
    return np.maximum(low, shares - reach), np.minimum(high, shares + reach)


def _limits_by_order(taken: Array, n: int, level: float) -> Limits:
    """Return limits of the share of scores above each threshold, from its order statistics."""
    grid, tail = _grid(n), local_level(_rounded_up(n), level) / 2
    low, high = special.betaincinv(grid, n + 1 - grid, [[tail], [1 - tail]])
    # a threshold lies between two order statistics, so the share lies between their limits
    below = np.searchsorted(grid, taken, side="right")
    above = np.searchsorted(grid, taken + 1)
    return np.append(0.0, low)[below], np.append(high, 1.0)[above]


def _rounded_up(n: int) -> int:
    """Round a number of scores up to a coarse scale; its local level is slightly smaller."""
    if n <= _MOST_SCORES_WITHOUT_ROUNDING:
        return n
    return (
        int(
            _MOST_SCORES_WITHOUT_ROUNDING
            * 1.1 ** np.ceil(np.log(n / _MOST_SCORES_WITHOUT_ROUNDING) / np.log(1.1) - 1e-9)
        )
        + 1
    )


@lru_cache(maxsize=256)
def local_level(n: int, level: float) -> float:
    """Return the level of each single limit at which all together hold with probability `level`.

    It comes from samples of the order statistics of `n` uniform variables, the same in every call.
    """
    grid = _grid(n)
    rng = np.random.default_rng(_SEED)
    steps = np.diff(np.append(grid, n + 1), prepend=0)
    sums = np.cumsum(rng.standard_gamma(steps, size=(_UNIFORM_DRAWS, len(steps))), axis=1)
    below = special.betainc(grid, n + 1 - grid, sums[:, :-1] / sums[:, -1:])
    worst = 2 * np.minimum(below, 1 - below).min(axis=1)
    return float(np.quantile(worst, 1 - level, method="lower"))


def _grid(n: int) -> NDArray[np.int64]:
    """Return the order statistics with limits: all of few, else fewer towards the middle."""
    if n <= _MOST_SCORES_WITH_ALL_LIMITS:
        return np.arange(1, n + 1)
    half = np.unique(np.round(np.geomspace(1, n / 2, _GRID_PER_HALF)).astype(np.int64))
    return np.unique(np.concatenate([half, n + 1 - half]))


# --- Bands with units


def _limits_of_units(ranked: Ranked, level: float) -> tuple[Any, Any, Any, Any]:
    """Return Wilson limits of precision and recall at the effective sample size of the units."""
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
    """Return Wilson limits of tp / total at the effective sample size of its units.

    `spread` holds the sum of squared deviations of units and their number; `sizes` is the sum of
    the squared sizes of units.
    """
    squares, units = spread
    share = tp / total
    alone = share * (1 - share) * total
    with np.errstate(invalid="ignore", divide="ignore"):
        together = np.where(units > 1, squares * units / (units - 1), np.nan)
        # if all are right or all wrong, count each unit as one item
        effect = np.where(alone > 1e-9, together / alone, total / units)
    freedom = total**2 / sizes - 1
    quantile = student_quantile(level, freedom)
    worth = total / np.maximum(np.nan_to_num(effect, nan=1.0), 1.0)
    low, high = wilson(share * worth, worth, quantile)
    # one unit shows nothing about the variance between units
    none = np.less_equal(freedom, 1e-9)
    return np.where(none, 0.0, low), np.where(none, 1.0, high)


class _UnitSums:
    """Sums of squares over units at every step, accumulated item by item."""

    def __init__(self, ranked: Ranked):
        self.ranked = ranked
        yes = ranked.is_positive.astype(float)
        positives = ranked.by_unit(yes)
        order = np.lexsort((ranked.step, ranked.units))
        unit, said = ranked.units[order], yes[order]
        begins = np.append(True, unit[1:] != unit[:-1])
        start = np.maximum.accumulate(np.where(begins, np.arange(len(unit)), 0))
        before = np.cumsum(said) - said
        # items and positives of the same unit that rank before
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
        """Return the squared deviations of true positives from the precision, and the units."""
        p = self.ranked.precision
        return self._right - 2 * p * self._mixed + p**2 * self.sizes, self._units

    def recall_spread(self) -> tuple[Array, float]:
        """Return the squared deviations of true positives from the recall, and the units."""
        r = self.ranked.recall
        squares = self._right - 2 * r * self._of_positives + r**2 * self.recall_sizes
        return squares, self._positive_units


def _class_effect(ranked: Ranked) -> float:
    """Return the largest design effect of the recall along the curve, except near its ends."""
    if ranked.unit is None or not ranked.positives:
        return 1.0
    sums = _UnitSums(ranked)
    squares, units = sums.recall_spread()
    share = ranked.recall
    inner = (share > _END_OF_CURVE) & (share < 1 - _END_OF_CURVE)
    if units < 2 or not inner.any():
        return sums.recall_sizes / ranked.positives  # count each unit as one item
    alone = share[inner] * (1 - share[inner]) * ranked.positives
    return max(1.0, float((squares[inner] * units / (units - 1) / alone).max()))


def _share_effect(ranked: Ranked) -> float:
    """Return the design effect of the share of positives."""
    if ranked.unit is None or not ranked.negatives or ranked.n_units < 2:
        return 1.0
    share = ranked.positives / ranked.items
    deviations = ranked.by_unit(ranked.is_positive.astype(float) - share)
    n = ranked.n_units
    together = n / (n - 1) * float(deviations @ deviations)
    return max(1.0, together / (ranked.items * share * (1 - share)))


# -----------------------------------------------------------------------------
# Compute the calibration of probabilities: reliability, calibration errors, the Brier score.
# -----------------------------------------------------------------------------

_FEWEST_ITEMS_PER_BIN = 5  # on average
_CALIBRATION_DEPENDENT = (
    "items are grouped in units: the interval of the calibration error may be too narrow"
)
_MEAN_OF_ABSOLUTE_NORMAL = math.sqrt(2 / math.pi)  # the mean of |z| for a standard normal z


def calibration(
    is_positive: NDArray[np.bool_],
    probabilities: Array,
    *,
    level: float,
    bins: int,
    unit: NDArray[np.int64] | None = None,
) -> Calibration:
    """Compare probabilities with gold in at most `bins` bins of about equally many items.

    Equal probabilities stay in one bin, and a bin has at least five items on average.
    """
    group = _equal_mass(
        probabilities, min(bins, max(1, len(probabilities) // _FEWEST_ITEMS_PER_BIN))
    )
    all_bins = [
        _bin(group == k, is_positive, probabilities, unit, level) for k in range(group.max() + 1)
    ]
    share = np.array([bin_.items for bin_ in all_bins]) / len(probabilities)
    gap = np.array([bin_.share - bin_.mean for bin_ in all_bins])
    # noise of the share of positives per bin: as observed, and if every probability were right
    noise = np.array([_calibration_variance(bin_) for bin_ in all_bins])
    expected = np.bincount(group, weights=probabilities * (1 - probabilities))
    chance = np.sqrt(expected) / np.array([bin_.items for bin_ in all_bins])
    error = float(share @ np.abs(gap))
    debiased = _debiased(share, gap, np.sqrt(noise))
    together = 1.0 if unit is None else _together(is_positive, group, gap, unit)
    low, high = _limits_of_error(all_bins, share, gap, together, level)
    brier, parts = _brier(is_positive, probabilities)
    return Calibration(
        bins=tuple(all_bins),
        ece=error,
        ece_by_chance=float(share @ chance) * _MEAN_OF_ABSOLUTE_NORMAL,
        ece_debiased=debiased,
        ece_low=min(low, debiased),
        ece_high=max(high, debiased),
        squared_error=float(share @ (gap**2 - noise)),
        brier=brier,
        miscalibration=parts[0],
        discrimination=parts[1],
        uncertainty=parts[2],
        level=level,
        note=None if unit is None else _CALIBRATION_DEPENDENT,
    )


def _equal_mass(values: Array, bins: int) -> Any:
    """Return the bin of every item: about equally many per bin, equal values in one."""
    cuts = np.quantile(values, np.arange(1, bins) / bins, method="higher")
    group = np.searchsorted(np.unique(cuts), values, side="right")
    return np.unique(group, return_inverse=True)[1].reshape(-1)


def _bin(chosen: Any, is_positive: Any, probabilities: Array, unit: Any, level: float) -> Any:
    said, came = probabilities[chosen], is_positive[chosen].astype(float)
    right, wrong = came, 1.0 - came
    if unit is None:
        counts, clustered = Counts(float(right.sum()), 0.0, float(wrong.sum())), False
    else:
        sums = (np.bincount(unit[chosen], weights=w) for w in (right, wrong))
        right, wrong = (np.asarray(s) for s in sums)
        counts, clustered = Counts(right, np.zeros_like(right), wrong), True
    limits = interval(counts, "recall", level=level, clustered=clustered)
    return CalibrationBin(
        low_edge=float(said.min()),
        high_edge=float(said.max()),
        items=len(said),
        positives=int(came.sum()),
        mean=float(said.mean()),
        share=float(came.mean()),
        low=float(limits.low),
        high=float(limits.high),
        design_effect=None if limits.design_effect is None else float(limits.design_effect),
    )


def _calibration_variance(bin_: CalibrationBin) -> float:
    """Return an unbiased estimate of the variance of the share; for one item, the largest."""
    if bin_.items < 2:
        return 0.25
    effect = bin_.design_effect
    factor = 1.0 if effect is None or math.isnan(effect) else max(1.0, effect)
    return factor * bin_.share * (1 - bin_.share) / (bin_.items - 1)


def _debiased(share: Array, gap: Array, deviation: Array) -> float:
    """Return the calibration error without the part that chance adds.

    Absolute gaps are too large on average, because chance makes gaps where there are none. The gaps
    are shrunk by one factor such that, with noise of the observed size, the expected error is the
    observed one; the result is 0 if noise alone gives as much.
    """
    seen = float(share @ np.abs(gap))

    def shown(factor: float) -> float:
        return float(share @ _mean_of_absolute(factor * gap, deviation)) - seen

    if seen == 0 or shown(0.0) >= 0:
        return 0.0
    return seen * (float(optimize.brentq(shown, 0.0, 1.0)) if shown(1.0) > 0 else 1.0)


def _likely(bin_: CalibrationBin) -> float:
    """Return the standard error of the share; half an item more of each kind keeps it above 0."""
    effect = bin_.design_effect
    factor = 1.0 if effect is None or math.isnan(effect) else max(1.0, effect)
    share = (bin_.positives + 0.5) / (bin_.items + 1)
    return math.sqrt(factor * share * (1 - share) / max(1, bin_.items - 1))


def _limits_of_error(
    bins: Sequence[CalibrationBin], share: Array, gap: Array, together: float, level: float
) -> tuple[float, float]:
    """Return the interval of the calibration error.

    Lower end: all gaps are moved towards 0, at most to 0, by the number of standard errors for
    which the observed error is at its upper quantile. Upper end, by MOVER: every gap may be as
    large as the Wilson interval of its bin allows. The variance is that of the bins times
    `together`.
    """
    size, seen = np.abs(gap), float(share @ np.abs(gap))
    deviation = np.array([_likely(bin_) for bin_ in bins])

    def nearer(by: float) -> Array:
        return np.maximum(0.0, size - by * deviation)

    def beyond(by: float) -> float:
        """Return the upper quantile of the error with these gaps minus the observed error."""
        mean = _mean_of_absolute(nearer(by), deviation)
        variance = share**2 @ np.maximum(0.0, nearer(by) ** 2 + deviation**2 - mean**2)
        chance = math.sqrt(together * float(variance))
        return float(share @ mean) + normal_quantile(level) * chance - seen

    most = float(np.max(size / deviation))
    low = 0.0
    if beyond(most) < 0:
        low = float(share @ nearer(float(optimize.brentq(beyond, 0.0, most))))
    largest = [max(bin_.mean - bin_.low, bin_.high - bin_.mean) for bin_ in bins]
    above = share * np.maximum(0.0, largest - size)
    return low, min(float(share @ largest), seen + math.sqrt(together * float(above @ above)))


def _together(is_positive: Any, group: Any, gap: Array, unit: Any) -> float:
    """Return the ratio of the variance of the error to that of independent bins, at least 1.

    Items of one unit that lie in several bins move their gaps together.
    """
    share = np.bincount(group, weights=is_positive) / np.bincount(group)
    moves = np.sign(gap)[group] * (is_positive - share[group])
    cells = np.unique(unit * len(gap) + group, return_inverse=True)[1]
    apart = float(np.sum(np.bincount(cells, weights=moves) ** 2))
    return max(1.0, float(np.sum(np.bincount(unit, weights=moves) ** 2)) / apart) if apart else 1.0


def _mean_of_absolute(mean: Array, deviation: Array) -> Array:
    """Return the mean of |x| for a normal x."""
    spread = np.where(deviation > 0, deviation, 1.0)
    z = mean / spread
    folded = spread * _MEAN_OF_ABSOLUTE_NORMAL * np.exp(-(z**2) / 2) + mean * special.erf(
        z / math.sqrt(2)
    )
    return np.where(deviation > 0, folded, np.abs(mean))


def _brier(is_positive: Any, probabilities: Array) -> tuple[float, tuple[float, float, float]]:
    """Return the Brier score, and its parts by the best monotone recalibration.

    Miscalibration is the gain of recalibration, discrimination the gain of the recalibrated
    probabilities over the share of positives. The score is miscalibration minus discrimination plus
    the uncertainty of that share.
    """
    came = is_positive.astype(float)
    order = np.argsort(probabilities, kind="stable")
    _, first, number = np.unique(probabilities[order], return_index=True, return_counts=True)
    means = np.add.reduceat(came[order], first) / number
    fitted = optimize.isotonic_regression(means, weights=number).x
    recalibrated = np.repeat(fitted, number)
    brier = float(np.mean((probabilities - came) ** 2))
    best = float(np.mean((recalibrated - came[order]) ** 2))
    share = float(came.mean())
    uncertain = share * (1 - share)
    return brier, (max(0.0, brier - best), max(0.0, uncertain - best), uncertain)
