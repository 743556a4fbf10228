"""The threshold with the highest F-beta, and what F-beta it will have on other data.

The highest of many scores is too high: it was chosen because it is. Cross-fitting tells by how
much: each tenth of the units is scored at the threshold that the others choose. That optimism is
taken off the score; it is known no better than to its own size, which the lower limit allows for.
The upper limit stays, since nothing makes the chosen threshold worse than it looks by more than
chance. The best threshold itself may lie wherever the score is not clearly lower than at the chosen
one, as its differences under other weights of the units tell. (The thresholds that are best under
such weights lie too close together: the highest point of a flat curve jumps, and resampling does
not know how far.)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.counts import Counts
from probative.inference.clusters import student_quantile
from probative.inference.intervals import interval
from probative.inference.unit_weights import WeightedCurves, fbeta_of
from probative.results import BestThreshold

if TYPE_CHECKING:
    from probative._types import Array
    from probative.inference.ranked import Ranked

__all__ = ["best_threshold", "cross_fitted", "weights_of_units"]

_FOLDS, _REPEATS = 10, 10
DRAWS = 1_000
_ROUNDING = 1e-12
_FEW = 30
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
    fitted = cross_fitted(curves, beta, rng)
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
        note=_NOTE if ranked.positive_units < _FEW else None,
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


def cross_fitted(curves: WeightedCurves, beta: float, rng: np.random.Generator) -> float:
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
