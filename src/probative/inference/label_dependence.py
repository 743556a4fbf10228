"""What it costs, label by label, that the items of a unit are not independent.

The same quantities as `clusters.dependence_of_score` finds for one score, for every label at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from probative.counts import Counts
from probative.inference.clusters import ONE_UNIT, student_quantile
from probative.inference.intervals import UNDEFINED, default_method
from probative.inference.proportions import wilson
from probative.metrics import TABLE, ratio, score
from probative.results import Interval

if TYPE_CHECKING:
    from probative._types import Array
    from probative.label_counts import LabelCounts

__all__ = [
    "LabelDependence",
    "effective_units",
    "kinds_of_items",
    "label_dependence",
    "label_intervals",
]


class LabelDependence(NamedTuple):
    """What `clusters.Dependence` says, one number per label."""

    design_effect: Array
    divisor: Array
    degrees_of_freedom: Array


def label_dependence(
    cells: LabelCounts, metric: str = "f1", *, beta: float = 1.0
) -> LabelDependence:
    """How much less the items of units tell about the score of each label.

    Parameters
    ----------
    cells
        The counts of one system.
    metric, beta
        The score.

    Examples
    --------
    >>> import probative as pv
    >>> from probative.inference.label_dependence import label_dependence
    >>> from probative.label_counts import LabelCounts
    >>> counts = pv.Counts(tp=[4, 0, 5, 1, 0, 3], fp=[0, 2, 0, 0, 1, 0], fn=[0, 3, 1, 0, 4, 0])
    >>> label_dependence(LabelCounts.from_table(counts.reshape(6, 1))).design_effect.round(2)
    array([4.77])
    """
    tables, (item_x, item_y) = kinds_of_items(cells.by_label(), metric, beta)
    cells, number = cells.kinds
    x, y = (np.asarray(part, np.float64) for part in ratio(cells.counts, metric, beta=beta))
    total_x, total_y = cells.sum_by_label(number * x), cells.sum_by_label(number * y)
    units = cells.sum_by_label(number * (y > 0))
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = total_y**2 / cells.sum_by_label(number * y**2) - 1
        share = total_x / total_y
        by_item = (item_x - share[:, None] * item_y) / total_y[:, None]
        independent = (tables * by_item**2).sum(axis=1)
        # the score without a unit less the score with it
        moved = (share[cells.label] * y - x) / (total_y[cells.label] - y)
        moved = np.where(y > 0, moved, 0.0)
        mean = cells.sum_by_label(number * moved) / units
        squares = cells.sum_by_label(number * moved**2) - units * mean**2
        effect = (units - 1) / units * squares / independent
        items = tables[:, item_y > 0].sum(axis=1) / units
    freedom = np.where((units > 1) & (freedom > 0), freedom, 0.0)
    effect = np.where((freedom > 0) & (independent > 0), effect, np.nan)
    # one unit counts as one item, as units do that are all right or all wrong
    divisor = np.where(np.isnan(effect), np.where(units > 0, items, 1.0), effect)
    return LabelDependence(effect, np.maximum(1.0, divisor), freedom)


def is_at_once(metric: str) -> bool:
    """Whether `label_intervals` makes the usual intervals of all labels at once, Wilson's.

    True negatives are not counted by label, and F-beta has no such interval.
    """
    score = TABLE[metric]
    by_wilson = default_method(metric).startswith("wilson")
    return by_wilson and not (score.needs_tn or score.depends_on_beta)


def label_intervals(cells: LabelCounts, metric: str = "f1", *, level: float = 0.95) -> Interval:
    """The clustered intervals of every label, as arrays, for a metric that `is_at_once`.

    Each is `probative.interval(..., clustered=True)` of the units of that label.
    """
    tables = cells.by_label()
    dependence = label_dependence(cells, metric)
    share = TABLE[metric].share()
    assert share is not None  # noqa: S101  # as `is_at_once` says
    right, items = share.proportion(tables)
    reach = student_quantile(level, dependence.degrees_of_freedom)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        low, high = wilson(right / dependence.divisor, items / dependence.divisor, reach)
        low, high = share.score(low), share.score(high)
    estimate = score(tables, metric)
    known = dependence.degrees_of_freedom > 0
    note = np.array([None, ONE_UNIT, UNDEFINED])[np.where(np.isnan(estimate), 2, 1 - known)]
    return Interval(
        metric,
        default_method(metric),
        level,
        estimate,
        np.where(known, np.fmin(low, estimate), 0.0),  # not left out by rounding
        np.where(known, np.fmax(high, estimate), 1.0),
        note,
        dependence.design_effect,
    )


def kinds_of_items(tables: Counts, metric: str, beta: float) -> tuple[Array, tuple[Any, Any]]:
    """How many items of each kind every table has, and what an item adds to x and y."""
    parts = (tables.tp, tables.fp, tables.fn, *(() if tables.tn is None else (tables.tn,)))
    columns = np.stack([np.atleast_1d(part) for part in parts], axis=-1)
    kinds = ratio(Counts(*np.eye(columns.shape[-1])), metric, beta=beta)
    return columns.astype(np.float64), kinds


def effective_units(size: Array, number: Array) -> float:
    """Kish's effective number of units, (sum y)² / sum y²; 0 where there are none.

    There are so many units (`number`) of each `size`.
    """
    squares = float(number @ size**2)
    return float(number @ size) ** 2 / squares if squares > 0 else 0.0
