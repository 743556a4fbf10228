"""Define all metrics in one table, and compute scores from `Counts`.

Most scores are ratios of two linear forms in tp, fp, fn and tn; the others (`Composite`) are smooth
functions of the four, which near any table are approximated by such a ratio. A score whose
denominator is 0 is undefined: NaN, or the value of ``zero_division`` as in scikit-learn. Scores of
array-valued counts are arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np

from probative._validation import Array, Number, one_of, positive
from probative.counts import CELLS, Counts, counts_of
from probative.errors import InputError

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

# --- Scores that are not ratios of linear forms, as functions of tp, fp, fn and tn
#
# Each has its value, NaN where a denominator is 0, and its derivatives in the four cells. All
# depend on the shares of the cells alone, so that the derivatives, weighted by the cells, add up
# to 0.

if TYPE_CHECKING:
    Slopes = tuple[Any, ...]

_SMALLEST_SLOPE = 1e-13  # times the number of items; a smaller derivative is a rounding error


def _divide(top: Any, bottom: Any, undefined: float = np.nan) -> Any:
    """Divide; return NaN, or another value, where the denominator is 0."""
    there = np.asarray(bottom) > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.asarray(np.divide(top, bottom))
    return value if there.all() else np.where(there, value, undefined)


def _informed(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Return recall + specificity - 1: the difference of the rates of saying yes."""
    return _divide(tp, tp + fn) - _divide(fp, fp + tn)


def _informed_slopes(tp: Any, fp: Any, fn: Any, tn: Any) -> Slopes:
    """Return the derivatives of informedness."""
    yes, no = _divide(1.0, tp + fn), _divide(1.0, fp + tn)
    return fn * yes * yes, -tn * no * no, -tp * yes * yes, fp * no * no


def _balanced(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Return the mean of recall and specificity."""
    return (_divide(tp, tp + fn) + _divide(tn, fp + tn)) / 2


def _balanced_slopes(tp: Any, fp: Any, fn: Any, tn: Any) -> Slopes:
    """Return the derivatives of balanced accuracy."""
    return tuple(slope / 2 for slope in _informed_slopes(tp, fp, fn, tn))


def _marked(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Return precision + npv - 1: informedness with gold and system exchanged."""
    return _informed(tp, fn, fp, tn)


def _marked_slopes(tp: Any, fp: Any, fn: Any, tn: Any) -> Slopes:
    """Return the derivatives of markedness."""
    a, c, b, d = _informed_slopes(tp, fn, fp, tn)
    return a, b, c, d


def _mcc(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Return the correlation of gold and system."""
    # its absolute value is the geometric mean of those of informedness and markedness
    surplus = np.multiply(1.0 * tp, tn) - np.multiply(1.0 * fp, fn)
    informed = _divide(surplus, (1.0 * tp + fn) * (fp + tn))
    marked = _divide(surplus, (1.0 * tp + fp) * (fn + tn))
    return np.sign(surplus) * np.sqrt(informed * marked)


def _mcc_slopes(tp: Any, fp: Any, fn: Any, tn: Any) -> Slopes:
    """Return the derivatives of Matthews' correlation coefficient."""
    said_yes, gold_yes, gold_no, said_no = (
        _divide(1.0, margin) for margin in (tp + fp, tp + fn, fp + tn, fn + tn)
    )
    root = np.sqrt(said_yes) * np.sqrt(gold_yes) * np.sqrt(gold_no) * np.sqrt(said_no)
    half = _mcc(tp, fp, fn, tn) / 2
    return (
        tn * root - half * (said_yes + gold_yes),
        -fn * root - half * (said_yes + gold_no),
        -fp * root - half * (gold_yes + said_no),
        tp * root - half * (gold_no + said_no),
    )


def _kappa(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Return (agreement - expected agreement) / (1 - expected agreement)."""
    top = 2.0 * (np.multiply(1.0 * tp, tn) - np.multiply(1.0 * fp, fn))
    return _divide(top, _chance(tp, fp, fn, tn))


def _chance(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Return the rate at which gold and system would differ if independent, times n²."""
    return (1.0 * tp + fp) * (fp + tn) + (1.0 * tp + fn) * (fn + tn)


def _kappa_slopes(tp: Any, fp: Any, fn: Any, tn: Any) -> Slopes:
    """Return the derivatives of kappa."""
    value, bottom = _kappa(tp, fp, fn, tn), _chance(tp, fp, fn, tn)
    return (
        _divide(2.0 * tn - value * (fp + fn + 2.0 * tn), bottom),
        _divide(-2.0 * fn - value * (tp + 2.0 * fp + tn), bottom),
        _divide(-2.0 * fp - value * (tp + 2.0 * fn + tn), bottom),
        _divide(2.0 * tp - value * (2.0 * tp + fp + fn), bottom),
    )


def _fowlkes(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:  # noqa: ARG001  # same arguments as the others
    """Return the geometric mean of precision and recall."""
    return np.sqrt(_divide(tp, tp + fp) * _divide(tp, tp + fn))


def _fowlkes_slopes(tp: Any, fp: Any, fn: Any, tn: Any) -> Slopes:
    """Return the derivatives of the Fowlkes-Mallows index."""
    said, answer = _divide(1.0, tp + fp), _divide(1.0, tp + fn)
    half = _fowlkes(tp, fp, fn, tn) / 2
    gain = np.sqrt(said) * np.sqrt(answer)
    return gain - half * (said + answer), -half * said, -half * answer, 0.0 * half


def _linearised(
    rows: Array,
    cells: Array,
    value: Callable[..., Any],
    slopes: Callable[..., Slopes],
    *,
    whole: bool,
) -> tuple[Array, Array]:
    """Return x and y of rows, whose ratio has value and derivatives of a score at `cells`."""
    # `whole`: the rows are the units of the table; if the score is undefined without one of them,
    # that unit alone gets all of the denominator
    score = float(value(*cells))
    if np.isnan(score):
        return np.zeros(rows.shape[:-1]), np.zeros(rows.shape[:-1])
    n = cells.sum()
    slope = np.array([float(derivative) for derivative in slopes(*cells)])
    slope = np.where(n * np.abs(slope) > _SMALLEST_SLOPE, slope, 0.0)
    # number and variance of the items that are yes in gold, and of those that are no
    sides = [np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0, 1.0])]
    numbers = [max(float(side @ cells), 1e-300) for side in sides]
    variances = [float((side * cells) @ slope**2) for side in sides]
    if not sum(variances) > 0:
        variances = [1.0, 1.0]
    per_item = sum(v / k * side for v, k, side in zip(variances, numbers, sides, strict=True))
    y = n / sum(variances) * (rows @ per_item)
    if whole:
        rest = np.asarray(value(*np.moveaxis(cells - rows, -1, 0)))
        if np.isnan(rest).any():
            y = np.where(np.isnan(rest), n, 0.0)
    return score * y + n * (rows @ slope), y


# --- The table of metrics

_Form = tuple[int, int, int, int]
# one number, or an array
_Value = TypeVar("_Value", float, "Array")


@dataclass(frozen=True)
class Share:
    """Form of a score whose odds are a constant times the odds of hits among hits and misses.

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
        """Return the number of hits, and the number of hits and misses."""
        hits, misses = (
            reduce(add, (getattr(counts, cell) for cell in cells))
            for cells in (self.hits, self.misses)
        )
        return hits, hits + misses

    def score(self, proportion: _Value) -> _Value:
        """Return the score for a share of hits."""
        if self.factor == 1:
            return proportion
        return self.factor * proportion / (1 + (self.factor - 1) * proportion)


@dataclass(frozen=True)
class Metric:
    """Score that is a ratio of two linear forms in tp, fp, fn, tn, which an error never raises.

    It lies between 0 and 1, and more is better, in every test and sentence; there are no error
    rates.

    Attributes
    ----------
    name
        Its name in Python, on the command line and in JSON.
    words, latex
        Its name in print, and in a paper.
    top, bottom
        The weights of tp, fp, fn, tn in numerator and denominator.
    top_beta, bottom_beta
        The terms that are added to these weights, multiplied by β²; only F-beta has any.
    """

    name: str
    words: str
    latex: str
    top: _Form
    bottom: _Form
    top_beta: _Form = (0, 0, 0, 0)
    bottom_beta: _Form = (0, 0, 0, 0)

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
        """Return the weights of numerator and denominator for β² = `b2` (any kind of number)."""
        if not self.depends_on_beta:
            return self.top, self.bottom
        return _add(self.top, self.top_beta, b2), _add(self.bottom, self.bottom_beta, b2)

    @property
    def needs_tn(self) -> bool:
        """Return True if true negatives matter."""
        return self.bottom[3] != 0

    @property
    def is_of_all_items(self) -> bool:
        """Return True if it is a share of all items, as accuracy is."""
        return all(self.bottom)

    @property
    def is_share_of_right(self) -> bool:
        """Return True if it equals tp / (tp + errors) when every error is both an fp and an fn."""
        (tp, *wrong), (hits, *all_wrong) = (
            (form[0], form[1] + form[2], form[3]) for form in (self.top, self.bottom)
        )
        return tp == hits and not any(wrong) and all_wrong == [hits, 0]

    @property
    def depends_on_beta(self) -> bool:
        """Return True if the weight of recall matters."""
        return any(self.bottom_beta)

    def share(self, b2: float = 1.0) -> Share | None:
        """Return the score as a share of hits; None if misses have different weights."""
        top, bottom = self.forms(b2)
        hits = {cell: w for cell, w in zip(CELLS, top, strict=True) if w}
        rest = (y - x for x, y in zip(top, bottom, strict=True))
        misses = {cell: w for cell, w in zip(CELLS, rest, strict=True) if w}
        if len({*hits.values()}) > 1 or len({*misses.values()}) > 1:
            return None
        factor = next(iter(hits.values())) / next(iter(misses.values()))
        return Share(tuple(hits), tuple(misses), float(factor))


def _add(form: _Form, by_beta: _Form, b2: Any) -> tuple[Any, ...]:
    return tuple(w + b2 * v if v else w for w, v in zip(form, by_beta, strict=True))


@dataclass(frozen=True)
class Composite:
    """Score that is a smooth function of tp, fp, fn and tn, but not a ratio of linear forms.

    It depends on their shares alone, not on the number of items. An error never raises it either,
    if gold stays the same; more is better.

    Attributes
    ----------
    name, words, latex
        Its names, as for `Metric`.
    value
        The score of four cells, NaN if it is undefined.
    slopes
        Its derivatives in the four cells.
    low, high
        Its smallest and its largest value.
    needs_tn
        Whether true negatives matter.
    """

    name: str
    words: str
    latex: str
    value: Callable[..., Any]
    slopes: Callable[..., Slopes]
    low: float = 0.0
    high: float = 1.0
    needs_tn: bool = True

    is_of_all_items: ClassVar[bool] = False
    is_share_of_right: ClassVar[bool] = False
    depends_on_beta: ClassVar[bool] = False

    def share(self, b2: float = 1.0) -> None:  # noqa: ARG002  # same arguments as `Metric.share`
        """Return None: it is not a share of hits and misses."""
        return

    def cells(self, counts: Counts) -> tuple[Any, ...]:
        """Return the four cells, with 0 true negatives if they do not matter."""
        return counts.tp, counts.fp, counts.fn, counts.tn if self.needs_tn else 0 * counts.tp


TABLE: dict[str, Metric | Composite] = {
    metric.name: metric
    for metric in (
        Metric("precision", "precision", "precision", (1, 0, 0, 0), (1, 1, 0, 0)),
        Metric("recall", "recall", "recall", (1, 0, 0, 0), (1, 0, 1, 0)),
        Metric("f1", "F1", "F$_1$", (2, 0, 0, 0), (2, 1, 1, 0)),
        # the last two forms are multiplied by β²
        Metric(
            "fbeta", "F-beta", r"F$_\beta$", (1, 0, 0, 0), (1, 1, 0, 0), (1, 0, 0, 0), (1, 0, 1, 0)
        ),
        Metric("jaccard", "Jaccard", "Jaccard", (1, 0, 0, 0), (1, 1, 1, 0)),
        Metric("accuracy", "accuracy", "accuracy", (1, 0, 0, 1), (1, 1, 1, 1)),
        Metric("specificity", "specificity", "specificity", (0, 0, 0, 1), (0, 1, 0, 1)),
        Metric("npv", "NPV", "NPV", (0, 0, 0, 1), (0, 0, 1, 1)),
        Composite(
            "balanced_accuracy",
            "balanced accuracy",
            "balanced accuracy",
            _balanced,
            _balanced_slopes,
        ),
        Composite("mcc", "MCC", "MCC", _mcc, _mcc_slopes, low=-1.0),
        Composite("kappa", "kappa", r"$\kappa$", _kappa, _kappa_slopes, low=-1.0),
        Composite(
            "informedness", "informedness", "informedness", _informed, _informed_slopes, low=-1.0
        ),
        Composite("markedness", "markedness", "markedness", _marked, _marked_slopes, low=-1.0),
        Composite(
            "fowlkes_mallows",
            "Fowlkes-Mallows",
            "Fowlkes--Mallows",
            _fowlkes,
            _fowlkes_slopes,
            needs_tn=False,
        ),
    )
}
METRICS = tuple(TABLE)
PRF = ("precision", "recall", "f1")  # shown by default
OF_SCORES = ("mean", "win_rate")  # metrics of graded scores, not of counts
NEEDS_TN = tuple(name for name, metric in TABLE.items() if metric.needs_tn)
RATIOS = tuple(name for name, metric in TABLE.items() if isinstance(metric, Metric))
COMPOSITES = tuple(name for name, metric in TABLE.items() if isinstance(metric, Composite))


def bounds(metric: str) -> tuple[float, float]:
    """Return the smallest and largest value of a score; 0 and 1 for names not in the table."""
    known = TABLE.get(metric)
    return (0.0, 1.0) if known is None else (known.low, known.high)


def span(metric: str) -> float:
    """Return the largest possible difference of two scores."""
    low, high = bounds(metric)
    return high - low


def label_metric(metric: str) -> str:
    """Return the metric for single labels: f1 instead of accuracy or of a composite with tn."""
    known = TABLE.get(metric)
    if known is None:
        return metric
    needs_all = known.is_of_all_items or (isinstance(known, Composite) and known.needs_tn)
    return "f1" if needs_all else metric


def ratio(counts: Counts, metric: str, *, beta: float = 1.0) -> tuple[Any, Any]:
    """Return the numerator and the denominator of a metric that is a ratio of linear forms."""
    counts = counts_for(metric, counts)
    own = TABLE[metric]
    if isinstance(own, Composite):
        raise InputError(f"metric: {metric} is no ratio of two sums over items")
    top, bottom = own.forms(positive("beta", beta) ** 2)
    return _combine(counts, top), _combine(counts, bottom)


def counts_for(metric: str, counts: Counts) -> Counts:
    """Return the counts; refuse an unknown metric, or counts without the tn that it needs."""
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
    """Return the contributions of rows of counts to numerator and denominator of a score x/y.

    For a `Composite`, x/y has its value and its derivatives at the table. The contribution of a row
    to the denominator is its expected share of the variance, from its numbers of items that are yes
    and that are no in gold.

    Parameters
    ----------
    counts
        One row per unit, or per kind of item.
    metric, beta
        The score.
    at
        The table; by default the sum of the rows.
    units
        Whether the rows are the units of that table; by default True without `at`. If the score is
        undefined without one of them, that unit alone gets all of the denominator.

    Examples
    --------
    >>> import probative as pv
    >>> rows = pv.Counts(tp=[4, 3], fp=[1, 0], fn=[0, 2], tn=[5, 9])
    >>> x, y = pv.metrics.contributions(rows, "mcc")
    >>> bool(abs(x.sum() / y.sum() - pv.metrics.mcc(rows.sum())) < 1e-12)
    True
    """
    counts = counts_for(metric, counts)
    own = TABLE[metric]
    if not isinstance(own, Composite):
        return ratio(counts, metric, beta=beta)
    rows = np.stack(np.broadcast_arrays(*own.cells(counts)), axis=-1).astype(np.float64)
    whole = at is None if units is None else units
    cells = rows.reshape(-1, 4).sum(axis=0) if at is None else np.array(own.cells(at), np.float64)
    return _linearised(rows, cells, own.value, own.slopes, whole=whole)


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
        The value of a score whose denominator is 0: NaN, or 0 or 1 as in scikit-learn.

    Examples
    --------
    >>> import probative as pv
    >>> pv.metrics.score(pv.Counts(tp=77, fp=44, fn=10), "recall")
    0.8850574712643678
    """
    counts = counts_for(metric, counts)
    own = TABLE[metric]
    if isinstance(own, Composite):
        cells = np.asarray(own.value(*own.cells(counts)))
        value = np.where(np.isnan(cells), zero_division, cells)
    else:
        value = _divide(*ratio(counts, metric, beta=beta), zero_division)
    return float(value) if value.ndim == 0 else value


class _Named(Protocol):
    def __call__(self, counts: Counts, *, zero_division: float = np.nan) -> Number: ...


def _named(metric: str, words: str) -> _Named:
    """Return the function that computes a metric, with its docstring."""

    def of(counts: Counts, *, zero_division: float = np.nan) -> Number:
        return score(counts, metric, zero_division=zero_division)

    of.__name__ = of.__qualname__ = metric
    of.__doc__ = words
    return of


precision = _named("precision", "Return tp / (tp + fp).")
recall = _named("recall", "Return tp / (tp + fn).")
f1 = _named("f1", "Return 2 tp / (2 tp + fp + fn).")
jaccard = _named("jaccard", "Return tp / (tp + fp + fn), also called F*.")
accuracy = _named("accuracy", "Return (tp + tn) / (tp + fp + fn + tn).")
specificity = _named("specificity", "Return tn / (tn + fp).")
npv = _named("npv", "Return tn / (tn + fn), the negative predictive value.")
balanced_accuracy = _named("balanced_accuracy", "Return the mean of recall and specificity.")
mcc = _named(
    "mcc",
    """Return Matthews' correlation coefficient of gold and system.

    It is undefined if either says yes to everything or to nothing; scikit-learn returns 0 then,
    as ``zero_division=0`` does.

    Examples
    --------
    >>> import probative as pv
    >>> round(pv.metrics.mcc(pv.Counts(tp=77, fp=44, fn=10, tn=702)), 4)
    0.717
    """,
)
kappa = _named(
    "kappa",
    "Return Cohen's kappa: the agreement beyond that of independent labels of the same rates.",
)
informedness = _named("informedness", "Return recall + specificity - 1, also called Youden's J.")
markedness = _named("markedness", "Return precision + npv - 1.")
fowlkes_mallows = _named("fowlkes_mallows", "Return the geometric mean of precision and recall.")


def fbeta(counts: Counts, beta: float, *, zero_division: float = np.nan) -> Number:
    """Return (1 + β²) tp / ((1 + β²) tp + β² fn + fp)."""
    return score(counts, "fbeta", beta=beta, zero_division=zero_division)


def f1_from_jaccard(share: _Value) -> _Value:
    """Convert a Jaccard value (F*) to F1: 2 F* / (1 + F*)."""
    return 2 * share / (1 + share)


# --- Scores of a whole confusion table of several classes, and their derivatives
#
# Row i, column j of a table counts the items of gold class i that a system assigns to class j.
# With two classes, kappa and Matthews' coefficient equal those above.

OF_TABLES = ("mcc", "kappa")  # metrics of a whole table with any number of classes


def score_of_table(table: Array, metric: str) -> Any:
    """Return Gorodkin's R_K ("mcc"), Cohen's kappa or balanced accuracy of confusion tables."""
    # The classes are the last two axes. The score is NaN if it is undefined: kappa if gold and
    # system hold one and the same class alone, R_K if either holds one class alone. Balanced
    # accuracy is the mean recall of the classes that gold has.
    if metric == "balanced_accuracy":
        right, answer = np.diagonal(table, axis1=-2, axis2=-1), table.sum(axis=-1)
        there = answer > 0
        recall = np.divide(right, answer, out=np.zeros(right.shape), where=there)
        return recall.sum(axis=-1) / there.sum(axis=-1)
    right = np.trace(table, axis1=-2, axis2=-1)
    return score_of_margins(right, table.sum(axis=-2), table.sum(axis=-1), metric)


def score_of_margins(right: Any, said: Array, answer: Array, metric: str) -> Any:
    """Return R_K or kappa from the number of right items and the counts of each class."""
    n = answer.sum(axis=-1)
    chance = (said * answer).sum(axis=-1)
    top = n * right - chance
    if metric == "kappa":
        bottom = n * n - chance
    else:
        spread = [n * n - (margin * margin).sum(axis=-1) for margin in (said, answer)]
        bottom = np.sqrt(np.maximum(spread[0], 0.0)) * np.sqrt(np.maximum(spread[1], 0.0))
    return np.minimum(_divide(top, bottom), 1.0)


def slopes_of_table(table: Array, metric: str) -> Array:
    """Return the derivatives of the score in every cell of one table."""
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
