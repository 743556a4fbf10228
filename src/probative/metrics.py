"""The one table of metrics, and scores as functions of `Counts`.

Every score is a ratio of two linear forms in tp, fp, fn and tn. One whose denominator is 0 is
undefined: NaN, unless scikit-learn's ``zero_division`` value is asked for. Scores of array-valued
counts are arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from probative._validation import one_of, positive
from probative.counts import counts_of
from probative.errors import InputError

if TYPE_CHECKING:
    from probative._types import Array, Number
    from probative.counts import Counts

__all__ = [
    "CELLS",
    "METRICS",
    "NEEDS_TN",
    "PRF",
    "TABLE",
    "Metric",
    "Share",
    "accuracy",
    "f1",
    "f1_from_jaccard",
    "fbeta",
    "jaccard",
    "label_metric",
    "npv",
    "precision",
    "ratio",
    "recall",
    "score",
    "specificity",
]

CELLS = ("tp", "fp", "fn", "tn")

Form = tuple[int, int, int, int]
# one number or an array of them
Value = TypeVar("Value", float, "Array")


@dataclass(frozen=True)
class Share:
    """What makes a score the share of hits among hits and misses, but for a factor of its odds.

    Attributes
    ----------
    hits, misses
        The cells that count for and against it.
    factor
        The odds of the score over the odds of the share: 2 for F1, whose share is Jaccard's.
    """

    hits: tuple[str, ...]
    misses: tuple[str, ...]
    factor: float

    def proportion(self, counts: Counts) -> tuple[Any, Any]:
        """How many hits there are, and how many of both."""
        hits, misses = (
            sum(getattr(counts, cell) for cell in cells) for cells in (self.hits, self.misses)
        )
        return hits, hits + misses

    def score(self, proportion: Value) -> Value:
        """The score, given the share of hits."""
        return self.factor * proportion / (1 + (self.factor - 1) * proportion)


@dataclass(frozen=True)
class Metric:
    """A score: a ratio of two linear forms in tp, fp, fn, tn, which an error never raises.

    It lies between 0 and 1, and more is better, in every test and sentence: a rate of errors is
    told by what is right instead.

    Attributes
    ----------
    name
        What it is called in Python, on the command line and in JSON.
    words, latex
        What it is called in print, and in a paper.
    top, bottom
        The weights of tp, fp, fn, tn in numerator and denominator.
    top_beta, bottom_beta
        What β² times adds to these weights; only F-beta has any.
    """

    name: str
    words: str
    latex: str
    top: Form
    bottom: Form
    top_beta: Form = (0, 0, 0, 0)
    bottom_beta: Form = (0, 0, 0, 0)

    def __post_init__(self) -> None:
        for top, bottom in ((self.top, self.bottom), (self.top_beta, self.bottom_beta)):
            if top[1] or top[2] or any(not 0 <= x <= y for x, y in zip(top, bottom, strict=True)):
                raise InputError(
                    f"top: {self.name} may rise with an error; expected no weight of fp or fn in "
                    f"the numerator, and none that the denominator does not have, too"
                )

    def forms(self, b2: Any = 1) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The weights of numerator and denominator, β² being `b2` (any kind of number)."""
        return _add(self.top, self.top_beta, b2), _add(self.bottom, self.bottom_beta, b2)

    @property
    def needs_tn(self) -> bool:
        """Whether true negatives matter."""
        return self.bottom[3] != 0

    @property
    def is_of_all_items(self) -> bool:
        """Whether it is a share of all items, as accuracy is."""
        return all(self.bottom)

    @property
    def is_share_of_right(self) -> bool:
        """Whether it is tp / (tp + errors) where every error is one of both kinds: fp = fn."""
        (tp, *wrong), (hits, *all_wrong) = (
            (form[0], form[1] + form[2], form[3]) for form in (self.top, self.bottom)
        )
        return tp == hits and not any(wrong) and all_wrong == [hits, 0]

    @property
    def depends_on_beta(self) -> bool:
        """Whether the weight of recall matters."""
        return any(self.bottom_beta)

    def share(self, b2: float = 1.0) -> Share | None:
        """The score as a share of hits and misses; None where the misses weigh differently."""
        top, bottom = self.forms(b2)
        hits = {cell: w for cell, w in zip(CELLS, top, strict=True) if w}
        rest = (y - x for x, y in zip(top, bottom, strict=True))
        misses = {cell: w for cell, w in zip(CELLS, rest, strict=True) if w}
        if len({*hits.values()}) > 1 or len({*misses.values()}) > 1:
            return None
        factor = next(iter(hits.values())) / next(iter(misses.values()))
        return Share(tuple(hits), tuple(misses), float(factor))


def _add(form: Form, by_beta: Form, b2: Any) -> tuple[Any, ...]:
    return tuple(w + b2 * v if v else w for w, v in zip(form, by_beta, strict=True))


TABLE = {
    metric.name: metric
    for metric in (
        Metric("precision", "precision", "precision", (1, 0, 0, 0), (1, 1, 0, 0)),
        Metric("recall", "recall", "recall", (1, 0, 0, 0), (1, 0, 1, 0)),
        Metric("f1", "F1", "F$_1$", (2, 0, 0, 0), (2, 1, 1, 0)),
        Metric(
            "fbeta",
            "F-beta",
            r"F$_\beta$",
            (1, 0, 0, 0),
            (1, 1, 0, 0),
            top_beta=(1, 0, 0, 0),
            bottom_beta=(1, 0, 1, 0),
        ),
        Metric("jaccard", "Jaccard", "Jaccard", (1, 0, 0, 0), (1, 1, 1, 0)),
        Metric("accuracy", "accuracy", "accuracy", (1, 0, 0, 1), (1, 1, 1, 1)),
        Metric("specificity", "specificity", "specificity", (0, 0, 0, 1), (0, 1, 0, 1)),
        Metric("npv", "NPV", "NPV", (0, 0, 0, 1), (0, 0, 1, 1)),
    )
}
METRICS = tuple(TABLE)
PRF = ("precision", "recall", "f1")  # what is shown where nobody asks for others
NEEDS_TN = tuple(name for name, metric in TABLE.items() if metric.needs_tn)


def label_metric(metric: str) -> str:
    """What tells of a single label what `metric` tells of all: a label has no accuracy."""
    return "f1" if TABLE[metric].is_of_all_items else metric


def ratio(counts: Counts, metric: str, *, beta: float = 1.0) -> tuple[Any, Any]:
    """Return the numerator and the denominator of a metric."""
    one_of("metric", metric, METRICS)
    counts = counts_of("counts", counts)
    if metric in NEEDS_TN and counts.tn is None:
        raise InputError(f"metric: {metric} needs tn, and these counts have none")
    top, bottom = TABLE[metric].forms(positive("beta", beta) ** 2)
    return _combine(counts, top), _combine(counts, bottom)


def _combine(counts: Counts, form: tuple[Any, ...]) -> Any:
    terms: list[Any] = [
        cell if weight == 1 else weight * cell
        for weight, cell in zip(form, (counts.tp, counts.fp, counts.fn, counts.tn), strict=True)
        if weight
    ]
    return sum(terms[1:], start=terms[0])


def score(
    counts: Counts, metric: str = "f1", *, beta: float = 1.0, zero_division: float = np.nan
) -> Number:
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


def precision(counts: Counts, *, zero_division: float = np.nan) -> Number:
    """Return tp / (tp + fp)."""
    return score(counts, "precision", zero_division=zero_division)


def recall(counts: Counts, *, zero_division: float = np.nan) -> Number:
    """Return tp / (tp + fn)."""
    return score(counts, "recall", zero_division=zero_division)


def f1(counts: Counts, *, zero_division: float = np.nan) -> Number:
    """Return 2 tp / (2 tp + fp + fn)."""
    return score(counts, "f1", zero_division=zero_division)


def fbeta(counts: Counts, beta: float, *, zero_division: float = np.nan) -> Number:
    """Return (1 + β²) tp / ((1 + β²) tp + β² fn + fp)."""
    return score(counts, "fbeta", beta=beta, zero_division=zero_division)


def jaccard(counts: Counts, *, zero_division: float = np.nan) -> Number:
    """Return tp / (tp + fp + fn), also called F*."""
    return score(counts, "jaccard", zero_division=zero_division)


def accuracy(counts: Counts, *, zero_division: float = np.nan) -> Number:
    """Return (tp + tn) / (tp + fp + fn + tn)."""
    return score(counts, "accuracy", zero_division=zero_division)


def specificity(counts: Counts, *, zero_division: float = np.nan) -> Number:
    """Return tn / (tn + fp)."""
    return score(counts, "specificity", zero_division=zero_division)


def npv(counts: Counts, *, zero_division: float = np.nan) -> Number:
    """Return tn / (tn + fn), the negative predictive value."""
    return score(counts, "npv", zero_division=zero_division)


def f1_from_jaccard(share: Value) -> Value:
    """Carry a Jaccard value (F*) over to F1: 2 F* / (1 + F*)."""
    return 2 * share / (1 + share)
