"""Count outcomes in scikit-learn's cross-validation, instead of scores without counts.

The mean and standard deviation of fold scores do not show the uncertainty of a score: training sets
overlap, and an F1 of 30 items weighs as much as one of 3,000. The counts do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from probative._validation import Instances, Labels, Model, names_of, shown
from probative.counts import Counts
from probative.errors import InputError
from probative.labels import label_name, labels_in, positive_label

__all__ = ["CountsScorer", "counts_scorer", "fold_counts"]

_CELLS = ("tp", "fp", "fn", "tn")


def counts_scorer(
    positive: object = None, *, labels: Sequence[object] | None = None
) -> CountsScorer:
    """Make a scorer whose results are counts, for `cross_validate` and its like.

    Parameters
    ----------
    positive
        The class that counts as "yes". By default it is recognised: 1 of 0 and 1, "yes" of "no"
        and "yes".
    labels
        Several classes instead, each against all others.

    Returns
    -------
    CountsScorer
        A callable for ``scoring=``. `cross_validate` then returns ``test_tp``, ``test_fp``,
        ``test_fn`` and ``test_tn`` (with `labels` ``test_tp_LABEL`` and so on), and `fold_counts`
        turns them into `Counts`.

    Examples
    --------
    >>> import probative as pv
    >>> from probative.sklearn import counts_scorer, fold_counts
    >>> class Threshold:  # instead of a classifier
    ...     def predict(self, X):
    ...         return [int(x > 2) for x in X]
    >>> scorer = counts_scorer()
    >>> scorer(Threshold(), [1, 2, 3, 4], [0, 1, 1, 1])
    {'tp': 2, 'fp': 0, 'fn': 1, 'tn': 1}
    """
    if labels is None:
        return CountsScorer(None if positive is None else label_name("positive", positive))
    if positive is not None:
        raise InputError("positive: cannot be combined with labels=; expected one of the two")
    if isinstance(labels, str) or not np.iterable(labels) or not len(list(labels)):
        raise InputError(f"labels: {shown(labels)}; expected a list of classes")
    names = tuple(label_name("labels", label) for label in labels)
    return CountsScorer(None, names_of("labels", names))


@dataclass(frozen=True)
class CountsScorer:
    """Scorer that returns counts; made by `counts_scorer`.

    Attributes
    ----------
    positive
        The class that counts as "yes", or None if it is recognised.
    labels
        The classes that are counted each against all others; empty for `positive` alone.
    """

    positive: str | None = None
    labels: tuple[str, ...] = ()

    def __call__(self, estimator: Model, X: Instances, y: Labels) -> dict[str, int]:
        """Count the right and wrong predictions of a fitted classifier.

        Parameters
        ----------
        estimator
            The classifier.
        X, y
            Instances and their classes.
        """
        gold, known = labels_in("y", y)
        pred, said = labels_in("predictions", estimator.predict(X))
        if len(gold) != len(pred):
            raise InputError(
                f"predictions: {len(pred)} of them; expected one per item, {len(gold)}"
            )
        learnt = getattr(estimator, "classes_", None)
        classes = [*known, *said, *(() if learnt is None else labels_in("classes_", learnt)[1])]
        expected = f"expected one of {', '.join(map(repr, sorted(set(classes))[:10]))}"
        positive = self.positive or positive_label(classes)
        if not self.labels and positive is None:
            raise InputError(f"positive: it is not known which class counts as yes; {expected}")
        wanted: tuple[Any, ...] = self.labels or (positive,)
        for label in wanted:
            if label not in classes:
                raise InputError(f"positive: no class {label!r}; {expected}")
        counted = {}
        for label in wanted:
            answer = gold == (known.index(label) if label in known else -1)
            says = pred == (said.index(label) if label in said else -1)
            end = f"_{label}" if self.labels else ""
            for cell, number in Counts.from_labels(answer, says).to_dict().items():
                counted[cell + end] = number
        return counted


def fold_counts(results: Mapping[str, Any], label: object = None) -> list[Counts]:
    """Return the counts of every fold, from the result of `cross_validate`.

    Parameters
    ----------
    results
        The result of ``cross_validate(..., scoring=counts_scorer())``.
    label
        One of the `labels` of the scorer, if it had some.

    Returns
    -------
    list of Counts
        The folds of a cross-validation, as `bayes_test` and `effective_counts` take them.

    Examples
    --------
    >>> from probative.sklearn import fold_counts
    >>> fold_counts({"test_tp": [8, 7], "test_fp": [1, 2], "test_fn": [2, 3], "test_tn": [9, 8]})
    [Counts(tp=8, fp=1, fn=2, tn=9), Counts(tp=7, fp=2, fn=3, tn=8)]
    """
    end = "" if label is None else f"_{label_name('label', label)}"
    names = [f"test_{cell}{end}" for cell in _CELLS]
    missing = [name for name in names if name not in results]
    if missing:
        raise InputError(
            f"results: there is no {missing[0]!r}; expected what cross_validate returns with "
            f"scoring=counts_scorer()"
        )
    table = np.array([np.asarray(results[name], dtype=float) for name in names])
    failed = np.flatnonzero(np.isnan(table).any(axis=0))
    if len(failed):
        raise InputError(
            f"results: fold {int(failed[0]) + 1} has no counts, since its model or the scorer "
            f"failed; cross_validate(..., error_score='raise') shows why"
        )
    return [Counts(*fold) for fold in table.T]
