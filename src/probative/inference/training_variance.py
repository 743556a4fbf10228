"""The training variance of a cross-validation: what its items alone do not explain.

The effective counts know how folds overlap, not that a learner trained on another half behaves
differently. The two folds of a repetition train and validate on different items, so their
differences B minus A show both; the fold design effect compares how much they vary with how much
the items alone would make them vary.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative.counts import Counts, PairedCounts
from probative.inference._outcomes import computed
from probative.inference.clustered_posterior import ClusteredPosterior
from probative.inference.clusters import Dependence, student_quantile
from probative.inference.effective import check_folds, effective_counts
from probative.inference.posteriors import posterior
from probative.metrics import COMPOSITES, TABLE, Composite, ratio, score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative._types import Array
    from probative.inference.effective import Weight
    from probative.results import BayesTest

__all__ = [
    "fold_dependence",
    "fold_design_effect",
    "fold_freedom",
    "item_variance",
    "with_training_variance",
]

UNDEFINED = (
    "the training variance cannot be measured here (a fold without a score, or folds that are all "
    "alike) and is not allowed for"
)
_TIE = 1e-10  # probabilities that differ by less are equal
_FREEDOM = 1e9  # from here on Student's distribution is the normal one


def fold_design_effect(
    a: Sequence[Any], b: Sequence[Counts] | None = None, metric: str = "f1", *, beta: float = 1.0
) -> Any:
    """Return how many times more the folds' differences vary than their items explain.

    Parameters
    ----------
    a, b
        The `PairedCounts` of the 2m folds of a cross-validation, two per repetition; or the
        `Counts` of both models, whose items then count as independent.
    metric, beta
        The score.

    Returns
    -------
    float
        The variance of the fold differences within repetitions, over that which the items
        explain: about 1 for learners that a new training set hardly changes, more for others.
        NaN where it is undefined: a fold without a score, folds that are all alike, or models
        that never differ. For array-valued counts an array.

    Examples
    --------
    >>> import probative as pv
    >>> from probative.inference.training_variance import fold_design_effect
    >>> first = pv.PairedCounts([3, 4, 9, 4, 60, 8, 9])
    >>> second = pv.PairedCounts([7, 4, 4, 4, 60, 8, 9])
    >>> print(f"{fold_design_effect([first, second] * 3):.2f}")
    2.60
    """
    folds = check_folds(a)
    if b is None:
        sides = [[fold.b for fold in folds], [fold.a for fold in folds]]
        explained = item_variance(sum(folds[1:], start=folds[0]), metric, beta)
    else:
        sides = [check_folds(b), folds]
        explained = sum(_variance(_total(side), metric, beta) for side in sides)
    scores_b, scores_a = (_scores(side, metric, beta) for side in sides)
    return _effect(scores_b - scores_a, len(folds) * explained)


def fold_dependence(effect: float, m: int) -> Dependence:
    """Return what to divide effective counts by, and the degrees of freedom of that divisor.

    Parameters
    ----------
    effect
        The fold design effect.
    m
        The repetitions that it was measured in.
    """
    if math.isnan(effect):
        return Dependence(effect, 1.0, math.inf, m, UNDEFINED)
    return Dependence(effect, max(1.0, effect), fold_freedom(effect, m), m)


def fold_freedom(effect: float, m: int) -> float:
    """Return the degrees of freedom of a variance that is a fold design effect times known.

    Of the effect, 1 is what the items explain, which is known; the rest is measured in m
    repetitions. By Satterthwaite's rule the sum is worth m·(effect / (effect - 1))² degrees of
    freedom: infinitely many without training variance, m where there is nothing else.

    Examples
    --------
    >>> from probative.inference.training_variance import fold_freedom
    >>> fold_freedom(2.0, 3), fold_freedom(0.8, 3)
    (12.0, inf)
    """
    if not effect > 1:
        return math.inf
    freedom = m * (effect / (effect - 1)) ** 2
    return math.inf if freedom > _FREEDOM else freedom


def with_training_variance(
    test: BayesTest, folds: Sequence[PairedCounts], weight: Weight, beta: float
) -> BayesTest:
    """Return a paired test of folds with their training variance allowed for.

    The effective counts are divided by the fold design effect, where it exceeds 1, that of the
    difference for the difference and that of each score for its interval; Student's
    distribution takes the place of the normal one.

    Parameters
    ----------
    test
        The published test.
    folds, weight, beta
        What it was made from.
    """
    sides = [[fold.total().a for fold in folds], [fold.total().b for fold in folds]]
    of_a, of_b = (
        _score_limits(side, test.metric, test.level, weight, test.prior, beta) for side in sides
    )
    signature = f"{test.signature}|training-variance:yes"
    effect = math.nan if test.fold_design_effect is None else float(test.fold_design_effect)
    dependence = fold_dependence(effect, len(folds) // 2)
    if math.isinf(dependence.degrees_of_freedom):
        return replace(
            test, interval_a=of_a, interval_b=of_b, note=dependence.note, signature=signature
        )
    table = effective_counts(folds, weight=weight)
    difference = ClusteredPosterior(table, test.metric, dependence, prior=test.prior, beta=beta)
    a_better, equivalent, b_better = difference.probabilities(test.rope)
    p_h0, _, p_h1 = difference.probabilities(0.0)
    method = computed(difference.error)
    return replace(
        test,
        p_h0=p_h0,
        p_h1=p_h1,
        decision="H1" if p_h1 - p_h0 > _TIE else "H0",
        interval_a=of_a,
        interval_b=of_b,
        p_a_better=a_better,
        p_equivalent=equivalent,
        p_b_better=b_better,
        posterior=difference,
        weight=test.weight / dependence.divisor,
        method=method,
        error=difference.error,
        degrees_of_freedom=dependence.degrees_of_freedom,
        signature=signature.replace(f"|{test.method}|", f"|{method}|", 1),
    )


def _score_limits(
    folds: Sequence[Counts], metric: str, level: float, weight: Weight, prior: float, beta: float
) -> tuple[float, float]:
    """The interval of one model's score, by its own fold design effect."""
    explained = len(folds) * _variance(_total(folds), metric, beta)
    dependence = fold_dependence(_effect(_scores(folds, metric, beta), explained), len(folds) // 2)
    counts = effective_counts(folds, weight=weight) / dependence.divisor
    t = student_quantile(level, dependence.degrees_of_freedom)
    tail = float(special.ndtr(-t))
    of_score = posterior(counts, metric, prior=prior, beta=beta)
    return of_score.ppf(tail), of_score.isf(tail)


def _total(folds: Sequence[Counts]) -> Counts:
    return sum(folds[1:], start=folds[0])


def _scores(folds: Sequence[Counts], metric: str, beta: float) -> Array:
    """The score of every fold, along the first axis."""
    if metric in COMPOSITES:
        return np.stack([np.asarray(score(fold, metric)) for fold in folds])
    x, y = (np.stack(part) for part in zip(*(_ratio(f, metric, beta) for f in folds), strict=True))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(x / y)


def _effect(scores: Array, explained: Any) -> Any:
    """The variance within repetitions, two folds each, over the variance that is explained."""
    within = np.mean((scores[::2] - scores[1::2]) ** 2 / 2, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        effect = within / explained
    effect = np.where((within > 0) & (np.asarray(explained) > 0), effect, np.nan)
    return float(effect) if effect.ndim == 0 else effect


def item_variance(table: PairedCounts, metric: str, beta: float) -> float:
    """The variance of the difference B minus A over tables of independent items."""
    kinds = PairedCounts(np.eye(8))
    shift = _influence(kinds.b, table.b, metric, beta) - _influence(kinds.a, table.a, metric, beta)
    return float(table.cases @ shift**2)


def _variance(counts: Counts, metric: str, beta: float) -> Any:
    """The variance of one score over tables of independent items."""
    numbers = [counts.tp, counts.fp, counts.fn, 0.0 if counts.tn is None else counts.tn]
    kinds = Counts(*np.eye(4))
    return sum(
        number * _influence(kinds[kind], counts, metric, beta) ** 2
        for kind, number in enumerate(numbers)
    )


def _influence(kinds: Counts, total: Counts, metric: str, beta: float) -> Any:
    """(x - F·y)/Y: how far an item of each kind moves the score F = X/Y."""
    own = TABLE[metric]
    if isinstance(own, Composite):
        slopes = own.slopes(*own.cells(total))
        return sum(cell * slope for cell, slope in zip(own.cells(kinds), slopes, strict=True))
    x, y = _ratio(kinds, metric, beta)
    total_x, total_y = _ratio(total, metric, beta)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (x - total_x / total_y * y) / total_y


def _ratio(counts: Counts, metric: str, beta: float) -> tuple[Array, Array]:
    x, y = ratio(counts, metric, beta=beta)
    return np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
