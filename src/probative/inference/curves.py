"""Judge and compare curves of precision and recall: areas, best threshold, bands, calibration."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from probative.counts import Counts
from probative.inference.compare import Choices, compare_pairs
from probative.inference.differences import mover
from probative.inference.intervals import clopper_pearson, interval, normal_quantile, wilson
from probative.inference.posterior.student import StudentPosterior
from probative.inference.sampled import SampledPvalue, levels_at, sequential_pvalues
from probative.inference.scores import PairScore
from probative.inference.units import effective_units, student_quantile
from probative.results import (
    Band,
    BestThreshold,
    Calibration,
    CalibrationBin,
    Comparison,
    Difference,
    Interval,
    RandomizationTest,
)

if TYPE_CHECKING:
    from probative._validation import RNG, Array
    from probative.results import Curve


# --- Items in the order of their scores
#
# A step is a distinct score: all items with this score or a higher one are predicted positive.
# Items with equal scores share a step, so that their order does not matter.


class Ranked:
    """Items ranked by their scores, with their gold labels."""

    def __init__(
        self,
        is_positive: NDArray[np.bool_],  # the gold label of every item
        scores: Array,
        unit: NDArray[np.int64] | None = None,  # of every item, from 0; None: independent items
    ) -> None:
        self.is_positive, self.unit, self.by = is_positive, unit, "item" if unit is None else "unit"
        order = np.argsort(-scores)
        falling = scores[order]
        begins = np.ones(len(falling), dtype=bool)
        np.not_equal(falling[1:], falling[:-1], out=begins[1:])
        self.thresholds = falling[begins] + 0.0  # of every step, descending; no minus zero
        # the step of every item, from 0: the highest score
        self.step = step = np.empty(len(scores), dtype=np.int64)
        step[order] = np.cumsum(begins) - 1
        self.items, steps = len(is_positive), len(self.thresholds)
        # positives and items at each step, and at its threshold: with all steps above
        self.new_positives = np.bincount(step, is_positive, steps)
        self.new_items = np.bincount(step, minlength=steps).astype(float)
        self.tp: Array = np.cumsum(self.new_positives)
        self.predicted: Array = np.cumsum(self.new_items)
        self.positives = int(self.tp[-1])
        self.negatives = self.items - self.positives
        self.precision = self.tp / self.predicted
        self.recall = self.tp / max(self.positives, 1)
        self.n_units = self.items if unit is None else int(unit.max()) + 1

    @property
    def fp(self) -> Array:
        """Return the false positives at the threshold of each step."""
        return self.predicted - self.tp

    @cached_property
    def average_precision(self) -> float:
        """Return the mean precision over the steps, weighted by the recall that each adds."""
        return float(self.new_positives @ self.precision / self.positives)

    @property
    def units(self) -> NDArray[np.int64]:
        """Return the unit of every item; its index if items are independent."""
        return np.arange(self.items) if self.unit is None else self.unit

    @cached_property
    def block(self) -> NDArray[np.int64]:
        """Return the column of every unit; merge many at random, but always in the same way."""
        n = self.n_units
        few = n <= _MOST_UNITS
        return np.arange(n) if few else np.random.default_rng(n).permutation(n) % _MOST_UNITS

    def by_unit(self, values: Array) -> Array:
        """Sum values of items by unit."""
        if self.unit is None:
            return values
        return np.bincount(self.unit, values, self.n_units).astype(float)

    @cached_property
    def positive_units(self) -> float:
        """Return Kish's effective number of units for the positives."""
        return effective_units(self.by_unit(self.is_positive.astype(float)))

    @cached_property
    def fewest(self) -> float:
        """Return the smaller effective number of units of the two classes."""
        # with one or fewer, nothing is known about the variance
        negatives = self.by_unit((~self.is_positive).astype(float))
        return min(self.positive_units, effective_units(negatives))


def _cumulated_from_below(values: Array) -> Array:
    """Return the sums over each step and all steps below it."""
    return np.cumsum(values[::-1])[::-1]


# --- The curve under other weights of the units
#
# Bootstrap, cross-fitting and jackknife reweight the units; here many sets of weights are applied
# at once. Very many steps or units are merged, at almost no loss of accuracy: steps down to about
# two thousand with equal numbers of items, units at random, whose sums stay independent.

_MOST_STEPS, _MOST_UNITS = 2_000, 4_000  # rows and columns; more are merged


class _WeightedCurves:
    """Sparse tables of positives and items by step (rows) and unit (columns)."""

    def __init__(self, ranked: Ranked) -> None:
        steps = last = np.arange(len(ranked.thresholds))
        if len(steps) > _MOST_STEPS:  # keep some, with about equal numbers of items between them
            ends = np.linspace(0, ranked.items, _MOST_STEPS + 1)[1:]
            last = np.unique(np.minimum(np.searchsorted(ranked.predicted, ends), steps[-1]))
        self.last_step = last  # the last of the curve's own steps in each row
        row = np.searchsorted(last, steps)[ranked.step]
        self.positives, self.items = _tables(ranked, row, len(last))
        self.n_units = int(self.items.shape[1])

    def cumulated(self, weights: Array) -> tuple[Array, Array]:
        """Return true positives and predicted items at every step; sets of weights are columns."""
        tp, predicted = self.positives @ weights, self.items @ weights
        return np.cumsum(tp, axis=0), np.cumsum(predicted, axis=0)

    def fbeta(self, weights: Array, beta: float) -> Array:
        """Return F-beta by row under each set of weights."""
        tp, predicted = self.cumulated(weights)
        return _fbeta_of(tp, predicted, tp[-1], beta)


def _tables(ranked: Ranked, row: NDArray[np.int64], rows: int) -> tuple[Any, Any]:
    """Return sparse tables of positives and of items, from the row of every item."""
    from scipy import sparse

    column, shape = ranked.block[ranked.units], (rows, int(ranked.block.max()) + 1)
    ones, own = np.ones(ranked.items), ranked.is_positive
    positives = sparse.csr_matrix((ones[own], (row[own], column[own])), shape)
    return positives, sparse.csr_matrix((ones, (row, column)), shape)


def _average_precision_of(tp: Array, predicted: Array) -> Array:
    """Compute average precision from true positives and predicted items; NaN without positives."""
    gained = np.diff(tp, axis=0, prepend=0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(predicted > 0, tp / predicted, 0.0)
        return np.asarray((gained * share).sum(axis=0) / tp[-1])


def _fbeta_of(tp: Array, predicted: Array, positives: Any, beta: float) -> Array:
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


def influence_on_average_precision(ranked: Ranked) -> Array:
    """Compute the derivative of the average precision by each item's weight."""
    # A positive item adds its own precision and raises the precision of all positives below it and
    # the number of positives; a negative item lowers the precision of the positives below it. The
    # derivatives sum to 0.
    added, predicted = ranked.new_positives, ranked.predicted
    raised = _cumulated_from_below(added / predicted)
    lowered = _cumulated_from_below(added * ranked.precision / predicted)
    own = ranked.precision[ranked.step] + raised[ranked.step] - ranked.average_precision
    return (np.where(ranked.is_positive, own, 0.0) - lowered[ranked.step]) / ranked.positives


def average_precision_interval(ranked: Ranked, level: float) -> Interval:
    """Compute the logit interval of average precision, corrected for small-sample bias."""
    # Centre and standard error come from the jackknife over units, Student's quantile from the
    # effective number of units of the positives.
    head, estimate = ("average_precision", "logit-jackknife", level), ranked.average_precision
    if ranked.fewest <= 1:
        return Interval(*head, estimate, 0.0, 1.0, _why_no_interval(ranked))
    influence = influence_on_average_precision(ranked)
    jackknifed, deviation = _without_one(ranked)
    deviation = max(deviation, _standard_error(ranked, influence))
    centre, worth = min(max(jackknifed, 0.0), 1.0), ranked.positive_units
    unseen = _ADDED_POSITIVES / (worth + _ADDED_POSITIVES)
    missed = unseen * max(0.0, centre - ranked.positives / ranked.items)
    gained = unseen * (1 - centre)
    quantile = float(student_quantile(level, worth - 1))
    low, _ = _logit_limits(centre - missed, math.hypot(deviation, missed), quantile)
    _, high = _logit_limits(centre + gained, math.hypot(deviation, gained), quantile)
    note = _FEW_POSITIVES.format(f"{worth:.3g} of them") if worth < 5 else None
    effect = None
    if ranked.unit is not None:
        alone, together = float(influence @ influence), ranked.by_unit(influence)
        effect = float(together @ together) / alone if alone > 0 else math.nan
    return Interval(*head, estimate, min(low, estimate), max(high, estimate), note, effect)


def _why_no_interval(ranked: Ranked) -> str:
    """Return the note on a curve with a single unit of a class."""
    which = "positive" if ranked.positive_units <= 1 else "negative"
    return _ONE_OF_A_CLASS.format(which, ranked.by)


def _logit_limits(centre: float, deviation: float, quantile: float) -> tuple[float, float]:
    """Return limits symmetric on the logit scale; at 0 and 1 they equal the centre."""
    spread = centre * (1 - centre)
    if spread <= 0:
        return centre, centre
    middle, reach = special.logit(centre), quantile * deviation / spread
    return float(special.expit(middle - reach)), float(special.expit(middle + reach))


def _standard_error(ranked: Ranked, influence: Array) -> float:
    """Compute the standard error of a score from its derivatives by item; units are independent."""
    units = ranked.by_unit(influence)
    n = len(units)
    return math.sqrt(n / (n - 1) * float(units @ units)) if n > 1 else math.inf


def _without_one(ranked: Ranked) -> tuple[float, float]:
    """Return centre and standard error of the jackknife over items or units."""
    if ranked.unit is None:
        estimate, values = ranked.average_precision, _without_each_item(ranked)
    else:
        curves = _WeightedCurves(ranked)
        n = curves.n_units
        estimate = float(_average_precision_of(*curves.cumulated(np.ones((n, 1))))[0])
        sizes = ((start, min(400, n - start)) for start in range(0, n, 400))
        blocks = (curves.cumulated(1.0 - np.eye(n, size, -start)) for start, size in sizes)
        values = np.concatenate([_average_precision_of(*block) for block in blocks])
        values = values[~np.isnan(values)]
    n, mean = len(values), float(values.mean())
    centre = n * estimate - (n - 1) * mean
    # correct for the difference between the merged steps and the curve itself
    centre += ranked.average_precision - estimate
    return centre, math.sqrt((n - 1) / n * float(((values - mean) ** 2).sum()))


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

_EDGE = 1e-12  # areas closer to 0 or 1 have no variance


def roc_auc(ranked: Ranked) -> float:
    """Compute the share of pairs in which the positive scores higher; a tie counts half."""
    right = ranked.new_positives @ _negatives_below(ranked)
    return float(right / (ranked.positives * ranked.negatives))


def _negatives_below(ranked: Ranked) -> Array:
    """Count the negatives below each step; those of the step itself count half."""
    own = ranked.new_items - ranked.new_positives
    return np.asarray(ranked.negatives - ranked.fp + own / 2)


def influence_on_roc_auc(ranked: Ranked) -> Array:
    """Compute DeLong's components: each item's share of rightly ordered pairs, less the area."""
    # divided by the number of items of the class: their squares add up to the variance (but for
    # the degree of freedom of each class)
    area, p, n = roc_auc(ranked), ranked.positives, ranked.negatives
    beaten = _negatives_below(ranked) / n
    beating = (ranked.tp - ranked.new_positives / 2) / p
    own = np.where(ranked.is_positive, beaten[ranked.step], beating[ranked.step])
    return np.asarray((own - area) / np.where(ranked.is_positive, p, n))


def roc_auc_interval(ranked: Ranked, level: float) -> Interval:
    """Compute the score interval of the area under the ROC curve."""
    head, estimate = ("roc_auc", "delong-score", level), roc_auc(ranked)
    if ranked.fewest <= 1:
        return Interval(*head, estimate, 0.0, 1.0, _why_no_interval(ranked))
    variance, freedom, effect = _variance(ranked)
    quantile = float(student_quantile(level, freedom))
    # items of units count with their effective sample size: their number over the design effect
    p, n = (max(1.0, own / effect) for own in (ranked.positives, ranked.negatives))
    limits = [_with_exponential_scores(estimate, *pn, quantile) for pn in ((p, n), (n, p))]
    if variance > 0:
        worth = estimate * (1 - estimate) / variance
        limits.append(wilson(estimate * worth, worth, quantile))
    low, high = float(min(own[0] for own in limits)), float(max(own[1] for own in limits))
    of_units = None if ranked.unit is None else effect
    return Interval(*head, estimate, low, high, None, of_units)


def _variance(ranked: Ranked) -> tuple[float, float, float]:
    """Return DeLong's variance, its Satterthwaite degrees of freedom, and the design effect."""
    influence = influence_on_roc_auc(ranked)
    classes = [influence[of_class] for of_class in (ranked.is_positive, ~ranked.is_positive)]
    parts = [float(own @ own) * len(own) / (len(own) - 1) for own in classes]
    alone = sum(parts)
    if ranked.unit is None:
        each = sum(part**2 / (len(own) - 1) for part, own in zip(parts, classes, strict=True))
        freedom = alone**2 / each if alone > 0 else ranked.fewest - 1
        return alone, freedom, 1.0
    together = _standard_error(ranked, influence) ** 2
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


def best_threshold(ranked: Ranked, level: float, beta: float, seed: RNG | None) -> BestThreshold:
    """Choose the threshold with the highest F-beta, and estimate its F-beta on other data."""
    rng = np.random.default_rng(seed)
    metric = "f1" if beta == 1 else "fbeta"
    along = _fbeta_of(ranked.tp, ranked.predicted, ranked.positives, beta)
    at = int(np.argmax(along))
    apparent = float(along[at])
    # as if the threshold had not been chosen by its score
    yes, taken = ranked.is_positive, ranked.step <= at
    cells = (yes & taken, ~yes & taken, yes & ~taken)
    naive = _interval_of_units(cells, ranked.unit, metric, level, beta)
    apparent_low, apparent_high = float(naive.low), float(naive.high)
    curves = _WeightedCurves(ranked)
    fitted = _cross_fitted(curves, beta, rng)
    # a single unit cannot be held out: the optimism is unknown
    unknown = math.isnan(fitted)
    optimism = math.nan if unknown else max(0.0, apparent - fitted)
    drawn = curves.fbeta(rng.standard_exponential((curves.n_units, _BOOTSTRAP_DRAWS)), beta)
    # the first and last step whose F-beta is not clearly lower than the best one: by more than
    # Student's quantile times the standard deviation of the difference under other weights
    own = along[curves.last_step]
    best = int(np.argmax(own))
    quantile = float(student_quantile(level, ranked.positive_units - 1))
    reach = quantile * (drawn[best] - drawn).std(axis=1)
    rivals = curves.last_step[own[best] - own <= reach + _ROUNDING]
    first, last = min(int(rivals[0]), at), max(int(rivals[-1]), at)
    is_inner = last + 1 < len(ranked.thresholds)  # all thresholds between two scores are equivalent
    low = min(apparent_low, apparent - math.hypot(apparent - apparent_low, optimism)) - optimism
    few = ranked.positive_units < _FEWEST_POSITIVES_FOR_A_THRESHOLD
    return BestThreshold(
        metric=metric,
        beta=beta,
        threshold=float(ranked.thresholds[at]),
        threshold_low=float(ranked.thresholds[last + 1]) if is_inner else -math.inf,
        threshold_high=float(ranked.thresholds[first]),
        estimate=apparent - optimism,
        low=0.0 if unknown else max(0.0, low),
        high=1.0 if unknown else apparent_high,
        apparent=apparent,
        apparent_low=apparent_low,
        apparent_high=apparent_high,
        optimism=optimism,
        precision=float(ranked.precision[at]),
        recall=float(ranked.recall[at]),
        level=level,
        note=_FEW_FOR_A_THRESHOLD if few else None,
    )


def _interval_of_units(
    cells: Sequence[NDArray[Any]], unit: Any, metric: str, level: float, beta: float = 1.0
) -> Interval:
    """Compute the interval of a score from a mark per item for tp, fp and fn."""
    sums: Any = [np.sum(cell) if unit is None else np.bincount(unit, cell) for cell in cells]
    return interval(Counts(*sums), metric, level=level, beta=beta, clustered=unit is not None)


def _cross_fitted(curves: _WeightedCurves, beta: float, rng: np.random.Generator) -> float:
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
        at = np.argmax(_fbeta_of(tp, predicted, tp[-1], beta), axis=0)
        column = np.arange(folds)
        right, taken = (
            (own[at, 0] - part[at, column]).sum()
            for own, part in zip(everything, (tp, predicted), strict=True)
        )
        scores.append(float(_fbeta_of(right, taken, positives, beta)))
    return float(np.mean(scores))


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
    totals = ranked.predicted, float(ranked.positives)
    if ranked.unit is None:
        limits = [wilson(ranked.tp, total, z) for total in totals]
    else:
        spreads = zip(totals, _spreads(ranked), strict=True)
        limits = [_limits_of_ratio(ranked.tp, total, *own, level) for total, own in spreads]
    return Band("pointwise", "wilson", level, *limits[0], *limits[1], few)


def simultaneous_band(ranked: Ranked, level: float) -> Band:
    """Compute a band of precision and recall that holds at all thresholds together."""
    # three independent statements (recall, false positive rate, share) must all hold
    each = level ** (1 / 3)
    found = _limits_of_share(ranked.tp, ranked.positives, each, _class_effect(ranked))
    others = ranked
    if ranked.unit is not None:
        others = Ranked(~ranked.is_positive, ranked.thresholds[ranked.step], ranked.unit)
    false = _limits_of_share(ranked.fp, ranked.negatives, each, _class_effect(others))
    # the design effect of the share of positives
    effect, mean, n = 1.0, ranked.positives / ranked.items, ranked.n_units
    if ranked.unit is not None and n > 1:
        deviations = ranked.by_unit(ranked.is_positive.astype(float) - mean)
        together = n / (n - 1) * float(deviations @ deviations)
        effect = max(1.0, together / (ranked.items * mean * (1 - mean)))
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


def _limits_of_share(taken: Array, total: int, level: float, effect: float) -> tuple[Array, Array]:
    """Return simultaneous limits of the share of scores above each threshold."""
    # the effective number of independent scores is their number over the design effect
    taken, n = taken / effect, max(1, int(total / effect))
    shares = np.minimum(taken / n, 1.0)
    if n <= _MOST_SCORES_WITH_ALL_LIMITS:
        return _limits_by_order(taken, n, level)
    # for many scores the band uses only some; Kolmogorov's uses all, and is narrower in the middle
    half = (1 + level) / 2
    reach = np.sqrt(np.log(2 / (1 - half)) / (2 * n))
    low, high = _limits_by_order(taken, n, half)
    return np.maximum(low, shares - reach), np.minimum(high, shares + reach)


def _limits_by_order(taken: Array, n: int, level: float) -> tuple[Array, Array]:
    """Return limits of the share of scores above each threshold, from its order statistics."""
    grid, of_level = _grid(n), n
    if n > _MOST_SCORES_WITHOUT_ROUNDING:  # up to a coarse scale: the level is slightly smaller
        power = np.ceil(np.log(n / _MOST_SCORES_WITHOUT_ROUNDING) / np.log(1.1) - 1e-9)
        of_level = int(_MOST_SCORES_WITHOUT_ROUNDING * 1.1**power) + 1
    tail = local_level(of_level, level) / 2
    low, high = special.betaincinv(grid, n + 1 - grid, [[tail], [1 - tail]])
    # a threshold lies between two order statistics, so the share lies between their limits
    below = np.searchsorted(grid, taken, side="right")
    above = np.searchsorted(grid, taken + 1)
    return np.append(0.0, low)[below], np.append(high, 1.0)[above]


@lru_cache(maxsize=256)
def local_level(n: int, level: float) -> float:
    """Return the level of each single limit at which all together hold with probability `level`."""
    # from samples of the order statistics of n uniform variables, the same in every call
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


def _limits_of_ratio(
    tp: Array, total: Any, squares: Array, units: Any, sizes: Any, level: float
) -> tuple[Array, Array]:
    """Return Wilson limits of tp / total at the effective sample size of its units."""
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


def _spreads(ranked: Ranked) -> list[tuple[Array, Any, Any]]:
    """Return squared deviations, units and squared sizes by step, of precision and of recall."""
    # sums over units of the deviations of true positives, accumulated item by item
    yes = ranked.is_positive.astype(float)
    positives = ranked.by_unit(yes)
    order = np.lexsort((ranked.step, ranked.units))
    unit, said, place = ranked.units[order], yes[order], ranked.step[order]
    begins = np.append(True, unit[1:] != unit[:-1])
    start = np.maximum.accumulate(np.where(begins, np.arange(len(unit)), 0))
    before = np.cumsum(said) - said
    # items and positives of the same unit that rank before
    y, x = np.arange(len(unit)) - start, before - before[start]

    def along(added: Any) -> Array:
        return np.cumsum(np.bincount(place, weights=added, minlength=len(ranked.thresholds)))

    p, r = ranked.precision, ranked.recall
    sizes, positive_sizes = along(2 * y + 1.0), float((positives**2).sum())
    right, mixed = along(said * (2 * x + 1)), along(np.where(said > 0, x + y + 1, x))
    of_precision = right - 2 * p * mixed + p**2 * sizes
    of_recall = right - 2 * r * along(said * positives[unit]) + r**2 * positive_sizes
    return [
        (of_precision, along(begins), sizes),
        (of_recall, float(np.count_nonzero(positives)), positive_sizes),
    ]


def _class_effect(ranked: Ranked) -> float:
    """Return the largest design effect of the recall along the curve, except near its ends."""
    if ranked.unit is None:
        return 1.0
    _, (squares, units, sizes) = _spreads(ranked)
    share = ranked.recall
    inner = (share > _END_OF_CURVE) & (share < 1 - _END_OF_CURVE)
    if units < 2 or not inner.any():
        return float(sizes / ranked.positives)  # count each unit as one item
    alone = share[inner] * (1 - share[inner]) * ranked.positives
    return max(1.0, float((squares[inner] * units / (units - 1) / alone).max()))


# --- Calibration of probabilities: reliability, calibration errors, the Brier score

_FEWEST_ITEMS_PER_BIN = 5  # on average
_LARGEST_VARIANCE = 0.25  # of a share that is seen in one item
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
    """Compare probabilities with gold in at most `bins` bins of about equally many items."""
    bins = min(bins, max(1, len(probabilities) // _FEWEST_ITEMS_PER_BIN))
    # about equally many items per bin, equal probabilities in one
    cuts = np.quantile(probabilities, np.arange(1, bins) / bins, method="higher")
    group: Any = np.searchsorted(np.unique(cuts), probabilities, side="right")
    group = np.unique(group, return_inverse=True)[1].reshape(-1)
    all_bins = [
        _bin(group == k, is_positive, probabilities, unit, level) for k in range(group.max() + 1)
    ]
    fields = ("items", "positives", "mean", "share", "low", "high", "design_effect")
    rows = [[getattr(own, name) for name in fields] for own in all_bins]
    items, positives, mean, came, bin_low, bin_high, effect = np.array(rows, dtype=np.float64).T
    gap, share = came - mean, items / len(probabilities)
    # the variance of a share of positives per p(1 - p), unbiased where p is the observed share
    scale = np.fmax(effect, 1.0) / np.maximum(items - 1, 1)
    # noise of the share of positives per bin: as observed, and if every probability were right
    noise = np.where(items > 1, scale * came * (1 - came), _LARGEST_VARIANCE)
    chance = np.sqrt(np.bincount(group, probabilities * (1 - probabilities))) / items
    error = float(share @ np.abs(gap))
    debiased = _debiased(share, gap, np.sqrt(noise))
    together = 1.0 if unit is None else _together(is_positive, group, gap, unit)
    # half an item more of each kind keeps the standard errors above 0
    more = (positives + 0.5) / (items + 1)
    deviation = np.sqrt(scale * more * (1 - more))
    largest = np.maximum(mean - bin_low, bin_high - mean)
    low, high = _limits_of_error(share, gap, deviation, largest, together, level)
    return Calibration(
        bins=tuple(all_bins),
        ece=error,
        ece_by_chance=float(share @ chance) * _MEAN_OF_ABSOLUTE_NORMAL,
        ece_debiased=debiased,
        ece_low=min(low, debiased),
        ece_high=max(high, debiased),
        squared_error=float(share @ (gap**2 - noise)),
        **_brier(is_positive, probabilities),
        level=level,
        note=None if unit is None else _CALIBRATION_DEPENDENT,
    )


def _bin(
    chosen: Any, is_positive: Any, probabilities: Array, unit: Any, level: float
) -> CalibrationBin:
    """Return the items of one bin, with the interval of their share of positives."""
    said, came = probabilities[chosen], is_positive[chosen].astype(float)
    of_items = None if unit is None else unit[chosen]
    limits = _interval_of_units((came, 0 * came, 1 - came), of_items, "recall", level)
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


def _debiased(share: Array, gap: Array, deviation: Array) -> float:
    """Return the calibration error without the part that chance adds."""
    # Absolute gaps are too large on average, because chance makes gaps where there are none. They
    # are shrunk by one factor such that, with noise of the observed size, the expected error is the
    # observed one; the result is 0 if noise alone gives as much.
    seen = float(share @ np.abs(gap))

    def shown(factor: float) -> float:
        return float(share @ _mean_of_absolute(factor * gap, deviation)) - seen

    if seen == 0 or shown(0.0) >= 0:
        return 0.0
    return seen * (float(optimize.brentq(shown, 0.0, 1.0)) if shown(1.0) > 0 else 1.0)


def _limits_of_error(
    share: Array, gap: Array, deviation: Array, largest: Array, together: float, level: float
) -> tuple[float, float]:
    """Return the interval of the calibration error."""
    # Lower end: all gaps are moved towards 0, at most to 0, by the number of standard errors for
    # which the observed error is at its upper quantile. Upper end, by MOVER: every gap may be as
    # large as the Wilson interval of its bin allows. The variance is that of the bins times
    # `together`.
    size, seen = np.abs(gap), float(share @ np.abs(gap))

    def nearer(by: float) -> Array:
        return np.maximum(0.0, size - by * deviation)

    def beyond(by: float) -> float:
        mean = _mean_of_absolute(nearer(by), deviation)
        variance = share**2 @ np.maximum(0.0, nearer(by) ** 2 + deviation**2 - mean**2)
        chance = math.sqrt(together * float(variance))
        return float(share @ mean) + normal_quantile(level) * chance - seen

    most, low = float(np.max(size / deviation)), 0.0
    if beyond(most) < 0:
        low = float(share @ nearer(float(optimize.brentq(beyond, 0.0, most))))
    above = share * np.maximum(0.0, largest - size)
    return low, min(float(share @ largest), seen + math.sqrt(together * float(above @ above)))


def _together(is_positive: Any, group: Any, gap: Array, unit: Any) -> float:
    """Return the ratio of the variance of the error to that of independent bins, at least 1."""
    # items of one unit that lie in several bins move their gaps together
    share = np.bincount(group, weights=is_positive) / np.bincount(group)
    moves = np.sign(gap)[group] * (is_positive - share[group])
    cells = np.unique(unit * len(gap) + group, return_inverse=True)[1]
    apart = float(np.sum(np.bincount(cells, weights=moves) ** 2))
    return max(1.0, float(np.sum(np.bincount(unit, weights=moves) ** 2)) / apart) if apart else 1.0


def _mean_of_absolute(mean: Array, deviation: Array) -> Array:
    """Return the mean of |x| for a normal x."""
    spread = np.where(deviation > 0, deviation, 1.0)
    z = mean / spread
    near = spread * _MEAN_OF_ABSOLUTE_NORMAL * np.exp(-(z**2) / 2)
    return np.where(deviation > 0, near + mean * special.erf(z / math.sqrt(2)), np.abs(mean))


def _brier(is_positive: Any, probabilities: Array) -> dict[str, float]:
    """Return the Brier score: miscalibration minus discrimination plus uncertainty, and these."""
    # Miscalibration is the gain of the best monotone recalibration, discrimination the gain of the
    # recalibrated probabilities over the share of positives.
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
    gains = {"miscalibration": brier - best, "discrimination": uncertain - best}
    parts = {name: max(0.0, gain) for name, gain in gains.items()}
    return {"brier": brier, **parts, "uncertainty": uncertain}


# --- Comparison of the curves of two systems on the same items: intervals and a randomisation test
#
# The scores of two systems need not be on one scale, and average precision, the area under the ROC
# curve and the highest F-beta depend only on the order of the items. So the test exchanges ranks
# between the systems, item by item or unit by unit: under the null hypothesis, exchanging the ranks
# of an item within the two systems changes nothing in distribution.

_MOST_RANK_CLASSES = 2_000  # more take time and hardly change the result
_MOST_UNITS_ENUMERATED = 13  # units that an exchange changes; beyond, exchanges are sampled
_EXCHANGES_AT_ONCE = 256
_MOST_CELLS = 10**11  # of the curves, over all exchanges


@dataclass(eq=False)
class CurveScore(PairScore):
    """A score of the curves of two systems on the same items, whose exchange test is known."""

    metric: str
    a: Interval
    b: Interval
    correlation: float
    standard_error: float  # of the difference
    ranked: Ranked  # the items in the order of the baseline
    test: SampledPvalue | None  # None if both systems order the items alike
    exact: bool  # True if all exchanges were enumerated

    def __post_init__(self) -> None:
        self._gap = float(self.b.estimate) - float(self.a.estimate)
        # a single item or unit of a class shows nothing about the variance
        few = self.ranked.fewest <= 1 or math.isnan(self._gap)
        self._is_unknown = few and self.test is not None

    def difference(self, i: int, j: int, level: float) -> Difference:
        """Return the difference of the two systems, with the interval by MOVER."""
        del i, j
        low, high = (0.0, 0.0) if self.test is None else mover(self.a, self.b, self.correlation)
        limits = (-1.0, 1.0) if self._is_unknown else (low, high)
        scores = float(self.a.estimate), float(self.b.estimate)
        return Difference(
            self.metric, "mover", level, self._gap, *limits, *scores, self.correlation
        )

    def posterior(self, i: int, j: int) -> StudentPosterior:
        """Return Student's distribution of the difference."""
        del i, j
        freedom = max(1e-3, self.ranked.positive_units - 1)
        return StudentPosterior(self._gap, self.standard_error, freedom)

    def tests(self, pairs: Sequence[tuple[int, int]], **how: Any) -> Iterator[RandomizationTest]:
        """Yield the known test of the pair."""
        del how
        test, method = self.test, "exact" if self.exact else "sampled"
        pvalue = 1.0 if test is None or math.isnan(self._gap) else test.pvalue
        head = self.metric, "two-sided", self.ranked.by, method, self._gap, pvalue
        found: dict[str, Any] = {}
        if test is not None and not self.exact:
            found = {"n_resamples": test.draws, "pvalue_low": test.low, "pvalue_high": test.high}
        note = None if test is None or test.clear else str(test)
        for _ in pairs:
            yield RandomizationTest(*head, self.ranked.n_units, note=note, **found)

    def comparison(self, i: int, j: int, **found: Any) -> Comparison:
        """Return the comparison, without probabilities if nothing is known about the variance."""
        if self._is_unknown:
            found |= dict.fromkeys(("p_a_better", "p_equivalent", "p_b_better"), math.nan)
        found |= {"positives": self.ranked.positives, "identical": self.test is None}
        return super().comparison(i, j, **found)


def compare_ranked(
    ranked: Sequence[Ranked],
    curves: Sequence[Curve],
    *,
    level: float,
    beta: float,
    rope: float,
    rng: np.random.Generator,
    most: int | None = None,
) -> tuple[Comparison, ...]:
    """Compare average precision, the area under the ROC curve and the highest F-beta, B minus A."""
    # both systems on the same items, the baseline first; `most` is the largest number of exchanges
    first, second = ranked
    tests: Sequence[SampledPvalue | None] = [None] * 3
    exact = np.array_equal(first.step, second.step)
    if not exact:
        tests, exact = _exchange_ranks(first, second, level, beta, rng, most)
    # both scores, their correlation and the error of their difference, by metric
    one, other = curves
    pairs = []
    for metric, influence in (
        ("average_precision", influence_on_average_precision),
        ("roc_auc", influence_on_roc_auc),
    ):
        mine, theirs = influence(first), influence(second)
        together = _correlation(first.by_unit(mine), second.by_unit(theirs))
        scores = getattr(one, metric), getattr(other, metric)
        pairs.append((*scores, together, _standard_error(first, theirs - mine)))
    best_a, best_b = (
        Interval(f"best_{own.metric}", "cross-fitted", level, own.estimate, own.low, own.high)
        for own in (one.best, other.best)
    )
    weights = rng.standard_exponential((int(first.block.max()) + 1, _BOOTSTRAP_DRAWS))
    draws = [_WeightedCurves(own).fbeta(weights, beta).max(axis=0) for own in ranked]
    # the optimism of the two scores is known only to about its own size
    corrected = one.best.optimism - other.best.optimism
    spread = math.hypot(float(np.std(draws[1] - draws[0])), corrected)
    together = _correlation(*(own - own.mean() for own in draws))
    pairs.append((best_a, best_b, together, spread))
    choices = Choices(first.by, level, rope, Comparison.power, rng)
    names, found = [curve.name for curve in curves], list[Comparison]()
    for known, test in zip(pairs, tests, strict=True):
        score = CurveScore(known[0].metric, *known, first, test, exact)
        found += compare_pairs(score, [(0, 1)], names, choices)
    return tuple(found)


def _correlation(x: Array, y: Array) -> float:
    """Return the correlation of deviations from 0; 0 if one of them is all 0."""
    size = math.sqrt(float(x @ x) * float(y @ y))
    return min(1.0, max(-1.0, float(x @ y) / size)) if size > 0 else 0.0


def _exchange_ranks(
    a: Ranked, b: Ranked, level: float, beta: float, rng: np.random.Generator, most: int | None
) -> tuple[list[SampledPvalue], bool]:
    """Return the p-values of the three differences, and True if all exchanges were enumerated."""
    # twice the midrank of every item within each system, as classes shared by both
    middles = [(2 * own.predicted - own.new_items)[own.step] for own in (a, b)]
    values = np.unique(np.concatenate(middles))
    if len(values) <= _MOST_RANK_CLASSES:
        codes = [np.searchsorted(values, own) for own in middles]
    else:
        width, last = 2 * a.items / _MOST_RANK_CLASSES, _MOST_RANK_CLASSES - 1
        codes = [np.minimum((own / width).astype(np.int64), last) for own in middles]
    rows = int(max(code.max() for code in codes)) + 1
    sides = [_tables(a, code, rows) for code in codes]
    sums = [np.asarray(table.sum(axis=1)) for table in (*sides[0], *sides[1])]
    changes = [(theirs - own).tocsr() for own, theirs in zip(*sides, strict=True)]
    columns = int(a.block.max()) + 1

    def scores(gained: Array, items: Array) -> Array:
        """Return the three scores from positives and items by rank class."""
        tp, predicted = np.cumsum(gained, axis=0), np.cumsum(items, axis=0)
        below = a.negatives - (predicted - tp) + (items - gained) / 2
        area = (gained * below).sum(axis=0) / (a.positives * a.negatives)
        best = _fbeta_of(tp, predicted, a.positives, beta).max(axis=0)
        return np.stack([_average_precision_of(tp, predicted), area, best])

    def differences(flips: Array) -> Array:
        """Return B minus A after exchanges: one row per metric and one column per exchange."""
        moved = [change @ flips for change in changes]
        mine = scores(sums[0] + moved[0], sums[1] + moved[1])
        return np.asarray(scores(sums[2] - moved[0], sums[3] - moved[1]) - mine)

    observed = np.abs(differences(np.zeros((columns, 1))))

    def extreme(exchanges: Iterable[Array]) -> NDArray[np.int64]:
        found = np.zeros(3, dtype=np.int64)
        for flips in exchanges:
            far = np.abs(differences(flips)) >= observed - _ROUNDING
            found += np.count_nonzero(far, axis=1)
        return found

    def draw(
        generator: np.random.Generator, number: int, tests: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        starts = range(0, number, _EXCHANGES_AT_ONCE)
        sizes = ((columns, min(_EXCHANGES_AT_ONCE, number - start)) for start in starts)
        return extreme(generator.integers(0, 2, size).astype(float) for size in sizes)[tests]

    def enumerated() -> Iterator[Array]:
        """Yield all exchanges of the moving units; by symmetry, one unit stays in place."""
        for start in range(0, total, _EXCHANGES_AT_ONCE):
            code = np.arange(start, min(start + _EXCHANGES_AT_ONCE, total))
            flips = np.zeros((columns, len(code)))
            flips[moving[1:]] = (code >> np.arange(len(moving) - 1)[:, None]) & 1
            yield flips

    # the units in which an exchange changes anything
    moving = np.unique(np.concatenate([change.nonzero()[1] for change in changes]))
    levels = levels_at(level)
    if len(moving) <= _MOST_UNITS_ENUMERATED:
        total = 2 ** max(0, len(moving) - 1)  # one exchange if no unit moves
        shares = [(k / total, k) for k in extreme(enumerated()).tolist()]
        return [SampledPvalue(p, p, p, total, k, levels) for p, k in shares], True
    work = rows + sides[0][1].nnz
    most = most or int(min(10**6, max(10_000, _MOST_CELLS // (10 * work))))
    # each metric is a question of its own: p-values are not adjusted for each other
    found = sequential_pvalues(draw, 3, levels=levels, adjust=None, most=most, rng=rng, n_jobs=-1)
    return found, False
