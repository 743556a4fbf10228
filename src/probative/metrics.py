"""The one table of metrics, and scores as functions of `Counts`.

Most scores are ratios of two linear forms in tp, fp, fn and tn; the others (`Composite`) are smooth
functions of the four, and near any table as good as such a ratio. A score whose denominator is 0 is
undefined: NaN, unless scikit-learn's ``zero_division`` value is asked for. Scores of array-valued
counts are arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from probative._validation import one_of, positive
from probative.counts import counts_of
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from probative._validation import Array, Number
    from probative.counts import Counts

__all__ = [
    "CELLS",
    "COMPOSITES",
    "METRICS",
    "NEEDS_TN",
    "PRF",
    "RATIOS",
    "TABLE",
    "Composite",
    "Metric",
    "Share",
    "accuracy",
    "balanced_accuracy",
    "bounds",
    "contributions",
    "f1",
    "f1_from_jaccard",
    "fbeta",
    "fowlkes_mallows",
    "informedness",
    "jaccard",
    "kappa",
    "label_metric",
    "markedness",
    "mcc",
    "npv",
    "precision",
    "ratio",
    "recall",
    "score",
    "span",
    "specificity",
]

# -----------------------------------------------------------------------------
# Scores that are no ratio of linear forms, as functions of tp, fp, fn and tn.
#
# Each has its value, NaN where a denominator is 0, and its derivatives in the four cells. All
# depend on the shares of the cells alone, so that the derivatives, weighed by the cells, add up to
# 0.
# -----------------------------------------------------------------------------

if TYPE_CHECKING:
    Slopes = tuple[Any, Any, Any, Any]


_ROUNDING = 1e-13  # derivatives times the number of items; what is smaller is none


def _divide(top: Any, bottom: Any) -> Any:
    """A quotient that is NaN where the denominator is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.asarray(bottom) > 0, np.divide(top, bottom), np.nan)


def informedness_value(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Recall + specificity - 1: the difference of the rates at which yes is said."""
    return _divide(tp, tp + fn) - _divide(fp, fp + tn)


def informedness_slopes(tp: Any, fp: Any, fn: Any, tn: Any) -> Slopes:
    """Its derivatives."""
    yes, no = _divide(1.0, tp + fn), _divide(1.0, fp + tn)
    return fn * yes * yes, -tn * no * no, -tp * yes * yes, fp * no * no


def balanced_accuracy_value(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """The mean of recall and specificity."""
    return (_divide(tp, tp + fn) + _divide(tn, fp + tn)) / 2


def balanced_accuracy_slopes(tp: Any, fp: Any, fn: Any, tn: Any) -> Slopes:
    """Its derivatives."""
    a, b, c, d = informedness_slopes(tp, fp, fn, tn)
    return a / 2, b / 2, c / 2, d / 2


def markedness_value(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Precision + npv - 1: informedness with the answer and the system exchanged."""
    return informedness_value(tp, fn, fp, tn)


def markedness_slopes(tp: Any, fp: Any, fn: Any, tn: Any) -> Slopes:
    """Its derivatives."""
    a, c, b, d = informedness_slopes(tp, fn, fp, tn)
    return a, b, c, d


def mcc_value(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
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
    half = mcc_value(tp, fp, fn, tn) / 2
    return (
        tn * root - half * (said + answer),
        -fn * root - half * (said + others),
        -fp * root - half * (answer + silent),
        tp * root - half * (others + silent),
    )


def kappa_value(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Agreement beyond chance, over the most that there could be."""
    top = 2.0 * (np.multiply(1.0 * tp, tn) - np.multiply(1.0 * fp, fn))
    return _divide(top, _chance(tp, fp, fn, tn))


def _chance(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """How often answer and system would differ if they were independent, times n²."""
    return (1.0 * tp + fp) * (fp + tn) + (1.0 * tp + fn) * (fn + tn)


def kappa_slopes(tp: Any, fp: Any, fn: Any, tn: Any) -> Slopes:
    """Its derivatives."""
    value, bottom = kappa_value(tp, fp, fn, tn), _chance(tp, fp, fn, tn)
    return (
        _divide(2.0 * tn - value * (fp + fn + 2.0 * tn), bottom),
        _divide(-2.0 * fn - value * (tp + 2.0 * fp + tn), bottom),
        _divide(-2.0 * fp - value * (tp + 2.0 * fn + tn), bottom),
        _divide(2.0 * tp - value * (2.0 * tp + fp + fn), bottom),
    )


def fowlkes_mallows_value(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:  # noqa: ARG001  # as the others
    """The geometric mean of precision and recall."""
    return np.sqrt(_divide(tp, tp + fp) * _divide(tp, tp + fn))


def fowlkes_mallows_slopes(tp: Any, fp: Any, fn: Any, tn: Any) -> Slopes:
    """Its derivatives."""
    said, answer = _divide(1.0, tp + fp), _divide(1.0, tp + fn)
    half = fowlkes_mallows_value(tp, fp, fn, tn) / 2
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


# -----------------------------------------------------------------------------
# Most scores are ratios of two linear forms in tp, fp, fn and tn; the others (`Composite`) are
# smooth functions of the four, and near any table as good as such a ratio. A score whose
# denominator is 0 is undefined: NaN, unless scikit-learn's ``zero_division`` value is asked for.
# Scores of array-valued counts are arrays.
# -----------------------------------------------------------------------------

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

    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0

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


@dataclass(frozen=True)
class Composite:
    """A score that is no ratio of linear forms: a smooth function of tp, fp, fn and tn.

    It depends on their shares alone, not on how many items there are. An error never raises it
    either, as long as the answer stays the same; more is better.

    Attributes
    ----------
    name, words, latex
        What it is called, as for `Metric`.
    value
        The score of four cells, NaN where it is undefined.
    slopes
        Its derivatives in the four cells.
    low, high
        Between which it lies.
    needs_tn
        Whether true negatives matter.
    """

    name: str
    words: str
    latex: str
    value: Callable[..., Any]
    slopes: Callable[..., tuple[Any, ...]]
    low: float = 0.0
    high: float = 1.0
    needs_tn: bool = True

    is_of_all_items: ClassVar[bool] = False
    is_share_of_right: ClassVar[bool] = False
    depends_on_beta: ClassVar[bool] = False

    def share(self, b2: float = 1.0) -> None:  # noqa: ARG002  # as `Metric.share`
        """It is no share of hits and misses."""
        return

    def cells(self, counts: Counts) -> tuple[Any, ...]:
        """The four cells; without true negatives, 0 of them."""
        return counts.tp, counts.fp, counts.fn, counts.tn if self.needs_tn else 0 * counts.tp


TABLE: dict[str, Metric | Composite] = {
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
        Composite(
            "balanced_accuracy",
            "balanced accuracy",
            "balanced accuracy",
            balanced_accuracy_value,
            balanced_accuracy_slopes,
        ),
        Composite("mcc", "MCC", "MCC", mcc_value, mcc_slopes, low=-1.0),
        Composite("kappa", "kappa", r"$\kappa$", kappa_value, kappa_slopes, low=-1.0),
        Composite(
            "informedness",
            "informedness",
            "informedness",
            informedness_value,
            informedness_slopes,
            low=-1.0,
        ),
        Composite(
            "markedness",
            "markedness",
            "markedness",
            markedness_value,
            markedness_slopes,
            low=-1.0,
        ),
        Composite(
            "fowlkes_mallows",
            "Fowlkes-Mallows",
            "Fowlkes--Mallows",
            fowlkes_mallows_value,
            fowlkes_mallows_slopes,
            needs_tn=False,
        ),
    )
}
METRICS = tuple(TABLE)
PRF = ("precision", "recall", "f1")  # what is shown where nobody asks for others
NEEDS_TN = tuple(name for name, metric in TABLE.items() if metric.needs_tn)
RATIOS = tuple(name for name, metric in TABLE.items() if isinstance(metric, Metric))
COMPOSITES = tuple(name for name, metric in TABLE.items() if isinstance(metric, Composite))


def bounds(metric: str) -> tuple[float, float]:
    """Between which a score lies; other names than those of the table are shares."""
    known = TABLE.get(metric)
    return (0.0, 1.0) if known is None else (known.low, known.high)


def span(metric: str) -> float:
    """The most by which two scores can differ."""
    low, high = bounds(metric)
    return high - low


def label_metric(metric: str) -> str:
    """What tells of a single label what `metric` tells of all: a label has no accuracy."""
    own = TABLE[metric]
    return "f1" if own.is_of_all_items or (isinstance(own, Composite) and own.needs_tn) else metric


def ratio(counts: Counts, metric: str, *, beta: float = 1.0) -> tuple[Any, Any]:
    """Return the numerator and the denominator of a metric that is a ratio of linear forms."""
    counts = _counts_for(metric, counts)
    own = TABLE[metric]
    if isinstance(own, Composite):
        raise InputError(f"metric: {metric} is no ratio of two sums over items")
    top, bottom = own.forms(positive("beta", beta) ** 2)
    return _combine(counts, top), _combine(counts, bottom)


def _counts_for(metric: str, counts: Counts) -> Counts:
    """The counts, if they are enough for a metric that there is."""
    one_of("metric", metric, METRICS)
    counts = counts_of("counts", counts)
    if metric in NEEDS_TN and counts.tn is None:
        raise InputError(f"metric: {metric} needs tn, and these counts have none")
    return counts


def contributions(
    counts: Counts,
    metric: str,
    *,
    at: Counts | None = None,
    units: bool | None = None,
    beta: float = 1.0,
) -> tuple[Any, Any]:
    """What rows of counts add to numerator and denominator of a score x/y.

    Near a table every score is such a ratio: that of a `Composite` has the same value and the same
    derivatives. What a row adds to its denominator is how much of the variance it is expected to
    make, by how many items it has that the answer has, and that it has not.

    Parameters
    ----------
    counts
        One row per unit, or per kind of item.
    metric, beta
        The score.
    at
        The table; by default the sum of the rows.
    units
        Whether the rows are the units of that table; by default without `at`. A score that is
        undefined without one of them rests on that one alone.

    Examples
    --------
    >>> import probative as pv
    >>> rows = pv.Counts(tp=[4, 3], fp=[1, 0], fn=[0, 2], tn=[5, 9])
    >>> x, y = pv.metrics.contributions(rows, "mcc")
    >>> bool(abs(x.sum() / y.sum() - pv.metrics.mcc(rows.sum())) < 1e-12)
    True
    """
    counts = _counts_for(metric, counts)
    own = TABLE[metric]
    if not isinstance(own, Composite):
        return ratio(counts, metric, beta=beta)
    rows = np.stack(np.broadcast_arrays(*own.cells(counts)), axis=-1).astype(np.float64)
    whole = at is None if units is None else units
    cells = rows.reshape(-1, 4).sum(axis=0) if at is None else np.array(own.cells(at), np.float64)
    return linearised(rows, cells, own.value, own.slopes, whole=whole)


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
        One of precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv,
        balanced_accuracy, mcc, kappa, informedness, markedness, fowlkes_mallows.
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
    counts = _counts_for(metric, counts)
    own = TABLE[metric]
    if isinstance(own, Composite):
        cells = np.asarray(own.value(*own.cells(counts)))
        value = np.where(np.isnan(cells), zero_division, cells)
        return float(value) if value.ndim == 0 else value
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


def balanced_accuracy(counts: Counts, *, zero_division: float = np.nan) -> Number:
    """Return the mean of recall and specificity."""
    return score(counts, "balanced_accuracy", zero_division=zero_division)


def mcc(counts: Counts, *, zero_division: float = np.nan) -> Number:
    """Return Matthews' correlation coefficient of answer and system.

    It is undefined where either says yes to everything or to nothing; scikit-learn calls it 0 then,
    as ``zero_division=0`` does.

    Examples
    --------
    >>> import probative as pv
    >>> round(pv.metrics.mcc(pv.Counts(tp=77, fp=44, fn=10, tn=702)), 4)
    0.717
    """
    return score(counts, "mcc", zero_division=zero_division)


def kappa(counts: Counts, *, zero_division: float = np.nan) -> Number:
    """Return Cohen's kappa: the agreement beyond that of independent answers of the same rates."""
    return score(counts, "kappa", zero_division=zero_division)


def informedness(counts: Counts, *, zero_division: float = np.nan) -> Number:
    """Return recall + specificity - 1, also called Youden's J."""
    return score(counts, "informedness", zero_division=zero_division)


def markedness(counts: Counts, *, zero_division: float = np.nan) -> Number:
    """Return precision + npv - 1."""
    return score(counts, "markedness", zero_division=zero_division)


def fowlkes_mallows(counts: Counts, *, zero_division: float = np.nan) -> Number:
    """Return the geometric mean of precision and recall."""
    return score(counts, "fowlkes_mallows", zero_division=zero_division)


def f1_from_jaccard(share: Value) -> Value:
    """Carry a Jaccard value (F*) over to F1: 2 F* / (1 + F*)."""
    return 2 * share / (1 + share)


# -----------------------------------------------------------------------------
# Scores of a whole confusion table of several classes, and their derivatives.
#
# Row i, column j of a table counts the items of class i that a system calls j. With two classes,
# kappa and Matthews' coefficient are those of `metrics`.
# -----------------------------------------------------------------------------

OF_TABLES = ("mcc", "kappa")  # metrics of a whole table, whatever the number of classes


def score_of_table(table: Array, metric: str) -> Any:
    """Gorodkin's R_K ("mcc"), Cohen's kappa or balanced accuracy of tables of classes by classes.

    The classes are the last two axes. NaN where it is undefined: of kappa where everything is one
    class for both, of R_K where everything is one class for either. Balanced accuracy is the mean
    recall of the classes that the answer has.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.metrics import score_of_table
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
