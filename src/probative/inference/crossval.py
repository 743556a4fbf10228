"""Evaluate cross-validated counts: effective counts, training variance, and tests on folds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from probative._validation import Array, finite, numbers, one_of, positive
from probative.counts import Counts, PairedCounts
from probative.errors import InputError
from probative.inference.posterior.independent import computed
from probative.inference.posterior.single import posterior
from probative.inference.posterior.student import ClusteredPosterior
from probative.inference.units import Dependence, influence, student_quantile
from probative.metrics import PRF, TABLE, Composite, ratio, score
from probative.results import ScorePosteriors, SignificanceTest

if TYPE_CHECKING:
    from probative.results import BayesTest


# --- Effective counts of a cross-validation

Weight = str | float | tuple[float, float]
_Table = TypeVar("_Table", Counts, PairedCounts)

WEIGHTS = ("effective", "averaged")


def effective_counts(folds: Sequence[_Table], *, weight: Weight = "effective") -> _Table:
    """Return the effective counts of the folds of a cross-validation.

    In m repetitions of two-fold cross-validation every item is predicted m times, by models whose
    training sets overlap, so the 2m tables are correlated. Their sum is multiplied by a weight that
    allows for this: the effective counts carry as much information as independent items.

    Parameters
    ----------
    folds
        The `Counts` (or `PairedCounts`) of the 2m folds, two per repetition.
    weight
        "effective": 1/(1 + ρ₁ + 2(m-1)ρ₂), averaged over the correlations ρ₁ of the two folds of a
        repetition, in [0, ½], and ρ₂ of folds of different repetitions, in [¼, ½].
        "averaged": 1/(2m), as if all folds held the same information. A pair (ρ₁, ρ₂): these
        correlations. A number: the weight itself.

    Returns
    -------
    Counts or PairedCounts
        The effective counts; in general not whole numbers.

    References
    ----------
    Wang and Li, "Bayes Test of Precision, Recall, and F1 Measure for Comparison of Two Natural
    Language Processing Models" (ACL 2019).

    Examples
    --------
    >>> import probative as pv
    >>> folds = [pv.Counts(90, 10, 10), pv.Counts(88, 12, 12)] * 3
    >>> effective = pv.effective_counts(folds)
    >>> print(f"{effective.tp:.2f} {effective.fp:.2f} {effective.fn:.2f}")
    196.94 24.34 24.34
    >>> pv.effective_counts(folds, weight="averaged")
    Counts(tp=89, fp=11, fn=11)
    """
    tables = _check_folds(folds)
    first = tables[0]
    factor = fold_weight(len(tables) // 2, weight)
    if isinstance(first, Counts):
        return Counts.stacked(tables)._map(lambda cell: factor * cell.sum(axis=0))
    return sum(tables[1:], start=first) * factor


def fold_weight(m: int, weight: Weight = "effective") -> float:
    """Return the weight of the summed counts of m repetitions of two-fold cross-validation."""
    if m != int(m) or m < 1:
        raise InputError(f"m: {m!r} is not a whole number >= 1")
    if isinstance(weight, str):
        one_of("weight", weight, WEIGHTS)
        return _average_weight(m) if weight == "effective" else 1 / (2 * m)
    if not isinstance(weight, (tuple, list)):
        return positive("weight", weight)
    if len(weight) != 2:
        raise InputError(f"weight: {len(weight)} correlations; expected a pair (rho1, rho2)")
    for name, value in zip(("rho1", "rho2"), weight, strict=True):
        if not -1 <= finite("weight", value) <= 1:
            raise InputError(f"weight: {name} = {value!r} is not a correlation, between -1 and 1")
    inside, between = weight
    inflation = 1 + inside + 2 * (m - 1) * between
    if inflation <= 0:
        raise InputError(
            f"weight: {2 * m} folds cannot have the correlations {inside:g} and {between:g}; "
            f"expected 1 + rho1 + {2 * (m - 1)} rho2 above 0"
        )
    return 1 / inflation


def score_posteriors(
    folds: Mapping[str, Sequence[Counts]],
    metrics: Sequence[str] = PRF,
    *,
    weights: Sequence[Weight] = WEIGHTS,
    prior: float = 1.0,
    beta: float = 1.0,
) -> tuple[ScorePosteriors, ...]:
    """Return the posteriors of each score by model and by way to add up its folds."""

    def of_model(tables: Sequence[Counts], metric: str) -> dict[str, Any]:
        found = {}
        for weight in weights:
            own = effective_counts(tables, weight=weight) if len(tables) > 1 else tables[0]
            found[str(weight)] = posterior(own, metric, prior=prior, beta=beta)
        return found

    return tuple(
        ScorePosteriors(metric, {name: of_model(own, metric) for name, own in folds.items()})
        for metric in metrics
    )


def _average_weight(m: int) -> float:
    """Return 1/(1 + x + c·y), averaged over x in [0, 1/2], y in [1/4, 1/2]; c = 2(m - 1)."""
    if m == 1:
        return 2 * math.log(1.5)
    c = 2 * (m - 1)

    def g(u: float) -> float:
        return u * math.log(u)

    return 8 / c * (g(1.5 + c / 2) - g(1 + c / 2) - g(1.5 + c / 4) + g(1 + c / 4))


def _check_folds(folds: Sequence[_Table]) -> list[_Table]:
    """Return each fold as one table; refuse what is not a list of folds of one type."""
    kinds = {type(fold) for fold in folds} if isinstance(folds, Sequence) else {type(folds)}
    if not isinstance(folds, Sequence) or not (kinds <= {Counts} or kinds <= {PairedCounts}):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise InputError(f"folds: found {names}; expected a list of Counts or of PairedCounts")
    if not folds or len(folds) % 2:
        raise InputError(
            f"folds: {len(folds)} of them; expected an even number, two folds per repetition"
        )
    tables: list[_Table] = [f.total() if isinstance(f, PairedCounts) else f for f in folds]
    negatives = [
        t.has_negatives if isinstance(t, PairedCounts) else t.tn is not None for t in tables
    ]
    for number, own in enumerate(negatives[1:], 2):
        if own != negatives[0]:
            raise InputError(f"folds: of fold 1 and fold {number} only one has true negatives")
    return tables


# --- Training variance of a cross-validation: variance that its items do not explain
#
# The effective counts allow for the overlap of folds, not for a learner that behaves differently
# when it is trained on another half. The two folds of a repetition train and validate on different
# items, so the variance of their differences B minus A holds both. The fold design effect is this
# variance over the variance that the items alone explain.

_UNDEFINED = (
    "the training variance cannot be measured here (a fold without a score, or folds that are all "
    "alike) and is not allowed for"
)
TIE = 1e-10  # probabilities that differ by less are equal, and a tie accepts H0
_INFINITE_FREEDOM = 1e9  # with more degrees of freedom, Student's distribution is normal


def fold_design_effect(
    a: Sequence[Any], b: Sequence[Counts] | None = None, metric: str = "f1", *, beta: float = 1.0
) -> Any:
    """Compute the fold design effect: the variance of fold differences over that of their items."""
    folds = _check_folds(a)
    if b is None:
        sides = [Counts.stacked([getattr(fold, side) for fold in folds]) for side in "ba"]
        explained = item_variance(sum(folds[1:], start=folds[0]), metric, beta)
    else:
        sides = [Counts.stacked(side) for side in (_check_folds(b), folds)]
        explained = sum(_variance(side.sum(axis=0), metric, beta) for side in sides)
    scores_b, scores_a = (np.asarray(score(side, metric, beta=beta)) for side in sides)
    return _effect(scores_b - scores_a, len(folds) * explained)


def fold_dependence(effect: float, m: int) -> Dependence:
    """Return the divisor of effective counts for a fold design effect, with its freedom."""
    if math.isnan(effect):
        return Dependence(effect, 1.0, math.inf, m, _UNDEFINED)
    # Satterthwaite: of the effect, 1 is explained and known, the rest measured in m repetitions
    freedom = m * (effect / (effect - 1)) ** 2 if effect > 1 else math.inf
    freedom = math.inf if freedom > _INFINITE_FREEDOM else freedom
    return Dependence(effect, max(1.0, effect), freedom, m)


def with_training_variance(
    test: BayesTest, folds: Sequence[PairedCounts], weight: Weight, beta: float
) -> BayesTest:
    """Return a paired test of folds that allows for their training variance."""
    # The effective counts are divided by the fold design effect if it exceeds 1: of the difference,
    # and of each score for its interval. Student's distribution replaces the normal one.
    sides = [[fold.total().a for fold in folds], [fold.total().b for fold in folds]]
    of_a, of_b = (
        _score_limits(side, test.metric, test.level, weight, test.prior, beta) for side in sides
    )
    signature = f"{test.signature}|training-variance:yes"
    effect = math.nan if test.fold_design_effect is None else float(test.fold_design_effect)
    dependence = fold_dependence(effect, len(folds) // 2)
    test = replace(test, interval_a=of_a, interval_b=of_b)
    if math.isinf(dependence.degrees_of_freedom):
        return replace(test, note=dependence.note, signature=signature)
    table = effective_counts(folds, weight=weight)
    difference = ClusteredPosterior(table, test.metric, dependence, prior=test.prior, beta=beta)
    outcome = integrated(difference, test.rope)
    method = computed(difference.error)
    return replace(
        test,
        decision="H1" if outcome["p_h1"] - outcome["p_h0"] > TIE else "H0",
        posterior=difference,
        weight=test.weight / dependence.divisor,
        method=method,
        **outcome,
        degrees_of_freedom=dependence.degrees_of_freedom,
        signature=signature.replace(f"|{test.method}|", f"|{method}|", 1),
    )


def integrated(difference: Any, rope: float) -> dict[str, Any]:
    """Compute the probabilities of the hypotheses and outcomes by integration."""
    a_better, equivalent, b_better = difference.probabilities(rope)
    p_h0, _, p_h1 = difference.probabilities(0.0) if rope else (a_better, 0.0, b_better)
    return {
        "p_h0": p_h0,
        "p_h1": p_h1,
        "p_a_better": a_better,
        "p_equivalent": equivalent,
        "p_b_better": b_better,
        "error": difference.error,
    }


def _score_limits(
    folds: Sequence[Counts], metric: str, level: float, weight: Weight, prior: float, beta: float
) -> tuple[float, float]:
    """Return the interval of one model's score, by its own fold design effect."""
    stacked = Counts.stacked(folds)
    explained = len(folds) * _variance(stacked.sum(axis=0), metric, beta)
    effect = _effect(np.asarray(score(stacked, metric, beta=beta)), explained)
    dependence = fold_dependence(effect, len(folds) // 2)
    counts = effective_counts(folds, weight=weight) / dependence.divisor
    t = student_quantile(level, dependence.degrees_of_freedom)
    tail = float(special.ndtr(-t))
    of_score = posterior(counts, metric, prior=prior, beta=beta)
    return of_score.ppf(tail), of_score.isf(tail)


def _effect(scores: Array, explained: Any) -> Any:
    """Return the variance within repetitions (two folds each) over the explained variance."""
    within = np.mean((scores[::2] - scores[1::2]) ** 2 / 2, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        effect = within / explained
    effect = np.where((within > 0) & (np.asarray(explained) > 0), effect, np.nan)
    return float(effect) if effect.ndim == 0 else effect


def item_variance(table: PairedCounts, metric: str, beta: float) -> float:
    """Return the variance of the difference B minus A over tables of independent items."""
    kinds = PairedCounts(np.eye(8))
    b, a = (
        np.array(own._cells()).T @ _moves(total, metric, beta)
        for own, total in ((kinds.b, table.b), (kinds.a, table.a))
    )
    return float(table.cases @ (b - a) ** 2)


def _variance(counts: Counts, metric: str, beta: float) -> Any:
    """Return the variance of one score over tables of independent items."""
    tn = 0.0 * counts.tp if counts.tn is None else counts.tn
    number: Array = np.array([counts.tp, counts.fp, counts.fn, tn])
    return (number * _moves(counts, metric, beta) ** 2).sum(axis=0)


def _moves(total: Counts, metric: str, beta: float) -> Array:
    """Return the move of the score by one more tp, fp, fn or tn: (x - F·y)/Y for F = X/Y."""
    own = TABLE[metric]
    if isinstance(own, Composite):
        return np.array(np.broadcast_arrays(*own.slopes(*own.cells(total))))
    forms = np.array(own.forms(beta**2)).reshape(2, 4, *(1 for _ in total.shape))
    return influence(*forms, *map(np.asarray, ratio(total, metric, beta=beta)))


# --- Tests on the scores of cross-validation folds, for comparison with the literature
#
# They assume normal fold scores, which scores near 0 or 1 are not, and see only a few of them.
# `bayes_test` on the folds' counts uses more of the data.


def five_by_two_t_test(
    a: ArrayLike, b: ArrayLike, *, alternative: str = "two-sided"
) -> SignificanceTest:
    """Compute Dietterich's 5×2cv t-test.

    With d_ij = b_ij - a_ij and s_i² the sum of squares of a repetition's two differences about
    their mean, t = d_11 / sqrt(mean of the s_i²), with 5 degrees of freedom. It assumes that all
    ten differences are independent, and its result depends on which fold comes first.

    Parameters
    ----------
    a, b
        Scores of the baseline and of the challenger, five rows (repetitions) of two (folds).
    alternative
        "two-sided"; "greater", B is better; "less", B is worse.

    References
    ----------
    T. G. Dietterich, "Approximate statistical tests for comparing supervised classification
    learning algorithms", 1998.

    Examples
    --------
    >>> import probative as pv
    >>> a = [[0.80, 0.82], [0.79, 0.83], [0.81, 0.80], [0.82, 0.81], [0.78, 0.82]]
    >>> b = [[0.83, 0.84], [0.82, 0.84], [0.82, 0.83], [0.85, 0.82], [0.81, 0.83]]
    >>> test = pv.five_by_two_t_test(a, b)
    >>> round(test.statistic, 3), round(test.pvalue, 4)
    (2.301, 0.0697)
    """
    d = _fold_differences(a, b, repetitions=5)
    return _t_test("5x2cv t", float(d[0, 0]), float(np.mean(_within(d))), 5, alternative)


def five_by_two_f_test(a: ArrayLike, b: ArrayLike) -> SignificanceTest:
    """Compute Alpaydin's combined 5×2cv F-test.

    F = (sum of all d_ij²) / (2·sum of s_i²) with 10 and 5 degrees of freedom. Unlike the t-test
    it does not depend on the order of the folds. It has no direction.

    Parameters
    ----------
    a, b
        Scores of the baseline and of the challenger, five rows (repetitions) of two (folds).

    References
    ----------
    E. Alpaydin, "Combined 5×2 cv F test for comparing supervised classification learning
    algorithms", 1999.

    Examples
    --------
    >>> import probative as pv
    >>> a = [[0.80, 0.82], [0.79, 0.83], [0.81, 0.80], [0.82, 0.81], [0.78, 0.82]]
    >>> b = [[0.83, 0.84], [0.82, 0.84], [0.82, 0.83], [0.85, 0.82], [0.81, 0.83]]
    >>> test = pv.five_by_two_f_test(a, b)
    >>> round(test.statistic, 3), round(test.pvalue, 4)
    (3.118, 0.1107)
    """
    d = _fold_differences(a, b, repetitions=5)
    top, bottom = float(np.sum(d**2)), float(2 * np.sum(_within(d)))
    if bottom == 0:
        return _without_variance("5x2cv F", float(np.mean(d)), "two-sided", (10.0, 5.0))
    f = top / bottom
    pvalue = float(special.fdtrc(10, 5, f))
    return SignificanceTest("5x2cv F", f, pvalue, "two-sided", degrees_of_freedom=(10.0, 5.0))


def block_regularized_t_test(
    a: ArrayLike, b: ArrayLike, *, correlation: float = 0.5, alternative: str = "two-sided"
) -> SignificanceTest:
    """Compute the t-test on m×2 block-regularised cross-validation.

    Two fold differences are correlated, because their training sets overlap or exclude each
    other. If every two of the 2m differences have correlation r, the variance of their mean is
    estimated without bias by

        [1 + (2m-1)·r] / [2m·(2m-1)·(1-r)] · (sum of squares about the mean),

    and the mean divided by its root has a t-distribution with 2m-1 degrees of freedom, exactly so
    for normal differences. The correlations are unknown. Experiments found them between 0 and 1/2,
    so they are all set to the largest, 1/2. For m = 3 the factor is 7/30, with 5 degrees of
    freedom.

    This is conservative in nearly all of that range, but not if the two folds of a repetition are
    uncorrelated and those of different repetitions have correlation 1/2, as with a learner that a
    new training set hardly changes. Then only m contrasts vary, fewer than the degrees of freedom,
    and a nominal 0.05 is 0.0558 for m = 3 (0.0544 for m = 2 and 5, 0.0524 for m = 10).

    Parameters
    ----------
    a, b
        Scores of the baseline and of the challenger, m >= 2 rows (repetitions) of two (folds).
    correlation
        The correlation of two fold differences, in [0, 1).
    alternative
        "two-sided"; "greater", B is better; "less", B is worse.

    References
    ----------
    Y. Wang, R. Wang, H. Jia & J. Li, "Blocked 3×2 cross-validated t-test for comparing supervised
    classification learning algorithms", 2014, for the idea of a conservative variance that
    counts the correlation between repetitions.

    Examples
    --------
    >>> import probative as pv
    >>> a = [[0.80, 0.82], [0.79, 0.83], [0.81, 0.80]]
    >>> b = [[0.83, 0.84], [0.82, 0.84], [0.82, 0.83]]
    >>> test = pv.block_regularized_t_test(a, b)
    >>> round(test.statistic, 3), round(test.pvalue, 4)
    (2.04, 0.0968)
    """
    if not 0 <= correlation < 1:
        raise InputError(f"correlation: {correlation!r} is not in [0, 1)")
    d = _fold_differences(a, b)
    n = d.size
    factor = (1 + (n - 1) * correlation) / (n * (n - 1) * (1 - correlation))
    variance = factor * float(np.sum((d - d.mean()) ** 2))
    return _t_test(f"{n // 2}x2 BCV t", float(d.mean()), variance, n - 1, alternative)


def _fold_differences(
    a: ArrayLike, b: ArrayLike, repetitions: int | None = None
) -> NDArray[np.float64]:
    """Return the differences of fold scores, B minus A; refuse wrong shapes and values."""
    scores = []
    for name, values in (("a", a), ("b", b)):
        try:
            array = numbers(name, values)
        except InputError:
            raise InputError(f"{name}: not numbers; expected rows of two fold scores") from None
        rows = repetitions or max(2, len(array) if array.ndim else 0)
        if array.shape != (rows, 2):
            wanted = f"({repetitions or 'm >= 2'}, 2)"
            raise InputError(f"{name}: shape {array.shape}; expected fold scores of shape {wanted}")
        if not np.all(np.isfinite(array)):
            raise InputError(f"{name}: a fold score is not a finite number")
        scores.append(array)
    if scores[0].shape != scores[1].shape:
        raise InputError(f"b: {len(scores[1])} repetitions, but a has {len(scores[0])}")
    return np.asarray(scores[1] - scores[0])


def _within(d: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of squares of each repetition's two differences about their mean."""
    return np.asarray((d[:, 0] - d[:, 1]) ** 2 / 2)


def _t_test(
    name: str, effect: float, variance: float, freedom: int, alternative: str
) -> SignificanceTest:
    """Return the t-test of an effect with an estimated variance."""
    one_of("alternative", alternative, ("two-sided", "greater", "less"))
    if variance == 0:
        return _without_variance(name, effect, alternative, float(freedom))
    t = effect / math.sqrt(variance)
    below, above = (float(special.stdtr(freedom, side)) for side in (t, -t))
    pvalue = {"less": below, "greater": above}.get(alternative, 2 * min(below, above))
    return SignificanceTest(name, t, pvalue, alternative, degrees_of_freedom=float(freedom))


def _without_variance(
    name: str, effect: float, alternative: str, freedom: float | tuple[float, float]
) -> SignificanceTest:
    """Return a result without a p-value, for differences that are all the same."""
    note = "all the differences that the variance is estimated from are the same: no test"
    statistic = math.nan if effect == 0 else math.copysign(math.inf, effect)
    return SignificanceTest(name, statistic, math.nan, alternative, freedom, note)
