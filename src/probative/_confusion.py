"""Scores of a whole confusion table of several classes, and their derivatives.

Row i, column j of a table counts the items of class i that a system calls j. With two classes,
kappa and Matthews' coefficient are those of `metrics`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from probative._types import Array

__all__ = ["OF_TABLES", "score_of_margins", "score_of_table", "slopes_of_table"]

OF_TABLES = ("mcc", "kappa")  # metrics of a whole table, whatever the number of classes


def score_of_table(table: Array, metric: str) -> Any:
    """Gorodkin's R_K ("mcc"), Cohen's kappa or balanced accuracy of tables of classes by classes.

    The classes are the last two axes. NaN where it is undefined: of kappa where everything is one
    class for both, of R_K where everything is one class for either. Balanced accuracy is the mean
    recall of the classes that the answer has.

    Examples
    --------
    >>> import numpy as np
    >>> from probative._confusion import score_of_table
    >>> table = np.array([[5.0, 1, 0], [0, 4, 2], [1, 0, 7]])
    >>> [round(float(score_of_table(table, metric)), 4) for metric in ("kappa", "mcc")]
    [0.6947, 0.6974]
    """
    if metric == "balanced_accuracy":
        right, answer = np.diagonal(table, axis1=-2, axis2=-1), table.sum(axis=-1)
        there = answer > 0
        recall = np.divide(right, answer, out=np.zeros(right.shape), where=there)
        return recall.sum(axis=-1) / there.sum(axis=-1)
    right = np.trace(table, axis1=-2, axis2=-1)
    return score_of_margins(right, table.sum(axis=-2), table.sum(axis=-1), metric)


def score_of_margins(right: Any, said: Array, answer: Array, metric: str) -> Any:
    """The same from the number of right items and from how often each class is said, and is right.

    These are all that matter: the answer is the same for all systems.
    """
    n = answer.sum(axis=-1)
    chance = (said * answer).sum(axis=-1)
    top = n * right - chance
    if metric == "kappa":
        bottom = n * n - chance
    else:
        spread = [n * n - (margin * margin).sum(axis=-1) for margin in (said, answer)]
        bottom = np.sqrt(np.maximum(spread[0], 0.0)) * np.sqrt(np.maximum(spread[1], 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(bottom > 0, np.minimum(top / bottom, 1.0), np.nan)


def slopes_of_table(table: Array, metric: str) -> Array:
    """The derivatives of the score in every cell of one table."""
    n, said, answer = table.sum(), table.sum(axis=0), table.sum(axis=1)
    score = float(score_of_table(table, metric))
    if metric == "balanced_accuracy":
        there = answer > 0
        share = np.divide(1, answer, out=np.zeros(len(table)), where=there) / there.sum()
        recall = np.diagonal(table) * share * there.sum()
        return np.asarray((np.eye(len(table)) - recall[:, None]) * share[:, None])
    by_cell = said[:, None] + answer[None, :]
    top = np.trace(table) + n * np.eye(len(table)) - by_cell
    if metric == "kappa":
        return np.asarray((top - score * (2 * n - by_cell)) / (n * n - said @ answer))
    spread_said, spread_answer = n * n - said @ said, n * n - answer @ answer
    pull = (n - said[None, :]) / spread_said + (n - answer[:, None]) / spread_answer
    return np.asarray(top / np.sqrt(spread_said * spread_answer) - score * pull)
