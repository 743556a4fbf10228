"""Tests on the scores of cross-validation folds, for comparison with the literature.

They treat fold scores as normal variables, which scores near 0 or 1 are not, and see only a few
of them. `bayes_test` on the folds' counts uses more of the data.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative._validation import one_of
from probative.errors import InputError
from probative.results import SignificanceTest

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["block_regularized_t_test", "five_by_two_f_test", "five_by_two_t_test"]


def five_by_two_t_test(
    a: ArrayLike, b: ArrayLike, *, alternative: str = "two-sided"
) -> SignificanceTest:
    """Dietterich's 5×2cv t-test.

    With d_ij = b_ij - a_ij and s_i² the sum of squares of a repetition's two differences about
    their mean, t = d_11 / sqrt(mean of the s_i²), with 5 degrees of freedom. It takes all ten
    differences for independent, and its answer depends on which fold comes first.

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
    one_of("alternative", alternative, ("two-sided", "greater", "less"))
    d = _fold_differences(a, b, repetitions=5)
    variance = float(np.mean(_within(d)))
    return _t_test("5x2cv t", float(d[0, 0]), variance, 5, alternative)


def five_by_two_f_test(a: ArrayLike, b: ArrayLike) -> SignificanceTest:
    """Alpaydin's combined 5×2cv F-test.

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
    return SignificanceTest(
        "5x2cv F", f, float(special.fdtrc(10, 5, f)), "two-sided", degrees_of_freedom=(10.0, 5.0)
    )


def block_regularized_t_test(
    a: ArrayLike, b: ArrayLike, *, correlation: float = 0.5, alternative: str = "two-sided"
) -> SignificanceTest:
    """The t-test on m×2 block-regularised cross-validation, by default with 3 repetitions in mind.

    Two fold differences are correlated, because their training sets overlap or exclude each
    other. If every two of the 2m differences have correlation r, the variance of their mean is
    estimated without bias by

        [1 + (2m-1)·r] / [2m·(2m-1)·(1-r)] · (sum of squares about the mean),

    and the mean divided by its root has a t-distribution with 2m-1 degrees of freedom, exactly so
    for normal differences. The correlations are unknown; found between 0 and 1/2 in
    experiments, they are all set to the largest, 1/2. For m = 3 the factor is 7/30, with 5 degrees
    of freedom.

    That errs on the safe side in nearly all of that range, but not where the two folds of a
    repetition are uncorrelated and those of different repetitions have correlation 1/2, as with a
    learner that a new training set hardly changes: then only m contrasts vary, fewer than the
    degrees of freedom say, and a nominal 0.05 is 0.0558 for m = 3 (0.0544 for m = 2 and 5, 0.0524
    for m = 10).

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
    one_of("alternative", alternative, ("two-sided", "greater", "less"))
    if not 0 <= correlation < 1:
        raise InputError(f"correlation: {correlation!r} is not in [0, 1)")
    d = _fold_differences(a, b)
    n = d.size
    factor = (1 + (n - 1) * correlation) / (n * (n - 1) * (1 - correlation))
    variance = factor * float(np.sum((d - d.mean()) ** 2))
    name = f"{n // 2}x2 BCV t"
    return _t_test(name, float(d.mean()), variance, n - 1, alternative)


def _fold_differences(
    a: ArrayLike, b: ArrayLike, repetitions: int | None = None
) -> NDArray[np.float64]:
    scores = []
    for name, values in (("a", a), ("b", b)):
        try:
            array = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
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
    """The sum of squares of each repetition's two differences about their mean."""
    return np.asarray((d[:, 0] - d[:, 1]) ** 2 / 2)


def _t_test(
    name: str, effect: float, variance: float, freedom: int, alternative: str
) -> SignificanceTest:
    if variance == 0:
        return _without_variance(name, effect, alternative, float(freedom))
    t = effect / math.sqrt(variance)
    below = float(special.stdtr(freedom, t))
    above = float(special.stdtr(freedom, -t))
    pvalue = {"less": below, "greater": above}.get(alternative, 2 * min(below, above))
    return SignificanceTest(name, t, pvalue, alternative, degrees_of_freedom=float(freedom))


def _without_variance(
    name: str, effect: float, alternative: str, freedom: float | tuple[float, float]
) -> SignificanceTest:
    """What is left to say where all the differences are the same."""
    note = "all the differences that the variance is estimated from are the same: no test"
    statistic = math.nan if effect == 0 else math.copysign(math.inf, effect)
    return SignificanceTest(name, statistic, math.nan, alternative, freedom, note)
