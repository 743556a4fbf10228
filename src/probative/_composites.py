"""Scores that are no ratio of linear forms, as functions of tp, fp, fn and tn.

Each has its value, NaN where a denominator is 0, and its derivatives in the four cells. All depend
on the shares of the cells alone, so that the derivatives, weighed by the cells, add up to 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from probative._types import Array

    Slopes = tuple[Any, Any, Any, Any]

__all__ = [
    "balanced_accuracy",
    "balanced_accuracy_slopes",
    "fowlkes_mallows",
    "fowlkes_mallows_slopes",
    "informedness",
    "informedness_slopes",
    "kappa",
    "kappa_slopes",
    "linearised",
    "markedness",
    "markedness_slopes",
    "mcc",
    "mcc_slopes",
]

_ROUNDING = 1e-13  # derivatives times the number of items; what is smaller is none


def _divide(top: Any, bottom: Any) -> Any:
    """A quotient that is NaN where the denominator is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.asarray(bottom) > 0, np.divide(top, bottom), np.nan)


def informedness(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Recall + specificity - 1: the difference of the rates at which yes is said."""
    return _divide(tp, tp + fn) - _divide(fp, fp + tn)


def informedness_slopes(tp: Any, fp: Any, fn: Any, tn: Any) -> Slopes:
    """Its derivatives."""
    yes, no = _divide(1.0, tp + fn), _divide(1.0, fp + tn)
    return fn * yes * yes, -tn * no * no, -tp * yes * yes, fp * no * no


def balanced_accuracy(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """The mean of recall and specificity."""
    return (_divide(tp, tp + fn) + _divide(tn, fp + tn)) / 2


def balanced_accuracy_slopes(tp: Any, fp: Any, fn: Any, tn: Any) -> Slopes:
    """Its derivatives."""
    a, b, c, d = informedness_slopes(tp, fp, fn, tn)
    return a / 2, b / 2, c / 2, d / 2


def markedness(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Precision + npv - 1: informedness with the answer and the system exchanged."""
    return informedness(tp, fn, fp, tn)


def markedness_slopes(tp: Any, fp: Any, fn: Any, tn: Any) -> Slopes:
    """Its derivatives."""
    a, c, b, d = informedness_slopes(tp, fn, fp, tn)
    return a, b, c, d


def mcc(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """The correlation of answer and system: the geometric mean of informedness and markedness."""
    surplus = np.multiply(1.0 * tp, tn) - np.multiply(1.0 * fp, fn)
    informed = _divide(surplus, (1.0 * tp + fn) * (fp + tn))
    marked = _divide(surplus, (1.0 * tp + fp) * (fn + tn))
    return np.sign(surplus) * np.sqrt(informed * marked)


def mcc_slopes(tp: Any, fp: Any, fn: Any, tn: Any) -> Slopes:
    """Its derivatives."""
    said, answer, others, silent = (
        _divide(1.0, margin) for margin in (tp + fp, tp + fn, fp + tn, fn + tn)
    )
    root = np.sqrt(said) * np.sqrt(answer) * np.sqrt(others) * np.sqrt(silent)
    half = mcc(tp, fp, fn, tn) / 2
    return (
        tn * root - half * (said + answer),
        -fn * root - half * (said + others),
        -fp * root - half * (answer + silent),
        tp * root - half * (others + silent),
    )


def kappa(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Agreement beyond chance, over the most that there could be."""
    top = 2.0 * (np.multiply(1.0 * tp, tn) - np.multiply(1.0 * fp, fn))
    return _divide(top, _chance(tp, fp, fn, tn))


def _chance(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """How often answer and system would differ if they were independent, times n²."""
    return (1.0 * tp + fp) * (fp + tn) + (1.0 * tp + fn) * (fn + tn)


def kappa_slopes(tp: Any, fp: Any, fn: Any, tn: Any) -> Slopes:
    """Its derivatives."""
    value, bottom = kappa(tp, fp, fn, tn), _chance(tp, fp, fn, tn)
    return (
        _divide(2.0 * tn - value * (fp + fn + 2.0 * tn), bottom),
        _divide(-2.0 * fn - value * (tp + 2.0 * fp + tn), bottom),
        _divide(-2.0 * fp - value * (tp + 2.0 * fn + tn), bottom),
        _divide(2.0 * tp - value * (2.0 * tp + fp + fn), bottom),
    )


def fowlkes_mallows(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:  # noqa: ARG001  # as the others
    """The geometric mean of precision and recall."""
    return np.sqrt(_divide(tp, tp + fp) * _divide(tp, tp + fn))


def fowlkes_mallows_slopes(tp: Any, fp: Any, fn: Any, tn: Any) -> Slopes:
    """Its derivatives."""
    said, answer = _divide(1.0, tp + fp), _divide(1.0, tp + fn)
    half = fowlkes_mallows(tp, fp, fn, tn) / 2
    gain = np.sqrt(said) * np.sqrt(answer)
    return gain - half * (said + answer), -half * said, -half * answer, 0.0 * half


def linearised(
    rows: Array,
    cells: Array,
    value: Callable[..., Any],
    slopes: Callable[..., Slopes],
    *,
    whole: bool,
) -> tuple[Array, Array]:
    """The x and y of rows of cells whose ratio has the value and the derivatives of a score.

    Parameters
    ----------
    rows
        The cells of each row.
    cells
        The table near which that is so.
    value, slopes
        The score.
    whole
        Whether the rows are the units of the table. A score that is undefined without one of them
        rests on that unit alone, whatever the others hold.
    """
    score = float(value(*cells))
    if np.isnan(score):
        return np.zeros(rows.shape[:-1]), np.zeros(rows.shape[:-1])
    n = cells.sum()
    slope = np.array([float(one) for one in slopes(*cells)])
    slope = np.where(n * np.abs(slope) > _ROUNDING, slope, 0.0)
    # of the items that the answer has, and of those that it has not: number and variance
    sides = [np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0, 1.0])]
    numbers = [max(float(side @ cells), 1e-300) for side in sides]
    variances = [float((side * cells) @ slope**2) for side in sides]
    if not sum(variances) > 0:
        variances = [1.0, 1.0]
    worth = sum(v / k * side for v, k, side in zip(variances, numbers, sides, strict=True))
    y = n / sum(variances) * (rows @ worth)
    if whole:
        rest = np.asarray(value(*np.moveaxis(cells - rows, -1, 0)))
        if np.isnan(rest).any():
            y = np.where(np.isnan(rest), n, 0.0)
    return score * y + n * (rows @ slope), y
