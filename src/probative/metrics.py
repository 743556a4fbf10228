"""Scores as functions of `Counts`.

Every score is a ratio. One whose denominator is 0 is undefined: NaN, unless scikit-learn's
``zero_division`` value is asked for. Scores of array-valued counts are arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import one_of, positive
from probative.counts import counts_of
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from probative.counts import Counts

__all__ = [
    "METRICS",
    "NEEDS_TN",
    "accuracy",
    "f1",
    "f1_from_jaccard",
    "fbeta",
    "jaccard",
    "npv",
    "precision",
    "ratio",
    "recall",
    "score",
    "specificity",
]

# Each metric's numerator and denominator; b2 is beta squared, which only F-beta uses.
_RATIOS: dict[str, Callable[[Counts, float], tuple[Any, Any]]] = {
    "precision": lambda c, b2: (c.tp, c.predicted),
    "recall": lambda c, b2: (c.tp, c.positives),
    "f1": lambda c, b2: (2 * c.tp, 2 * c.tp + c.fp + c.fn),
    "fbeta": lambda c, b2: ((1 + b2) * c.tp, (1 + b2) * c.tp + b2 * c.fn + c.fp),
    "jaccard": lambda c, b2: (c.tp, c.nu),
    "accuracy": lambda c, b2: (c.tp + c.tn, c.nu + c.tn),
    "specificity": lambda c, b2: (c.tn, c.tn + c.fp),
    "npv": lambda c, b2: (c.tn, c.tn + c.fn),
}
METRICS = tuple(_RATIOS)
NEEDS_TN = ("accuracy", "specificity", "npv")


def ratio(counts: Counts, metric: str, *, beta: float = 1.0) -> tuple[Any, Any]:
    """Return the numerator and the denominator of a metric."""
    one_of("metric", metric, METRICS)
    counts = counts_of("counts", counts)
    if metric in NEEDS_TN and counts.tn is None:
        raise InputError(f"metric: {metric} needs tn, and these counts have none")
    return _RATIOS[metric](counts, positive("beta", beta) ** 2)


def score(
    counts: Counts, metric: str = "f1", *, beta: float = 1.0, zero_division: float = np.nan
) -> Any:
    """Return the score named `metric`.

    Parameters
    ----------
    counts
        One table or an array of them.
    metric
        One of precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv.
    beta
        The weight of recall in F-beta; the other metrics do not use it.
    zero_division
        What a score with an empty denominator is called: NaN, or 0 or 1 as in scikit-learn.

    Examples
    --------
    >>> import probative as pv
    >>> pv.metrics.score(pv.Counts(tp=77, fp=44, fn=10), "recall")
    0.8850574712643678
    """
    numerator, denominator = ratio(counts, metric, beta=beta)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.where(
            np.asarray(denominator) > 0, np.divide(numerator, denominator), zero_division
        )
    return float(value) if value.ndim == 0 else value


def precision(counts: Counts, *, zero_division: float = np.nan) -> Any:
    """Return tp / (tp + fp)."""
    return score(counts, "precision", zero_division=zero_division)


def recall(counts: Counts, *, zero_division: float = np.nan) -> Any:
    """Return tp / (tp + fn)."""
    return score(counts, "recall", zero_division=zero_division)


def f1(counts: Counts, *, zero_division: float = np.nan) -> Any:
    """Return 2 tp / (2 tp + fp + fn)."""
    return score(counts, "f1", zero_division=zero_division)


def fbeta(counts: Counts, beta: float, *, zero_division: float = np.nan) -> Any:
    """Return (1 + β²) tp / ((1 + β²) tp + β² fn + fp)."""
    return score(counts, "fbeta", beta=beta, zero_division=zero_division)


def jaccard(counts: Counts, *, zero_division: float = np.nan) -> Any:
    """Return tp / (tp + fp + fn), also called F*."""
    return score(counts, "jaccard", zero_division=zero_division)


def accuracy(counts: Counts, *, zero_division: float = np.nan) -> Any:
    """Return (tp + tn) / (tp + fp + fn + tn)."""
    return score(counts, "accuracy", zero_division=zero_division)


def specificity(counts: Counts, *, zero_division: float = np.nan) -> Any:
    """Return tn / (tn + fp)."""
    return score(counts, "specificity", zero_division=zero_division)


def npv(counts: Counts, *, zero_division: float = np.nan) -> Any:
    """Return tn / (tn + fn), the negative predictive value."""
    return score(counts, "npv", zero_division=zero_division)


def f1_from_jaccard(share: Any) -> Any:
    """Carry a Jaccard value (F*) over to F1: 2 F* / (1 + F*)."""
    return 2 * share / (1 + share)
