"""Macro averages: the plain mean of a score over several labels.

A macro average is no score of summed counts, so nothing binomial is left of it; each label's own
score still is a proportion of its items, or a function of one. Their prior is shared
(`shared_prior`), their mean is a convolution (`macro_posterior`). What dependence costs is taken
off the counts first: each label's are divided by its design effect over the units, and all of them
by what it costs that the labels are not independent of each other either: what one label misses,
another one is given too much.

A label whose score has an empty denominator counts as 0 in the average, as in scikit-learn's
default; how little is known of it shows in the interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import one_of, open_probability
from probative.inference.clusters import ONE_UNIT, student_quantile
from probative.inference.label_dependence import (
    effective_units,
    kinds_of_items,
    label_dependence,
)
from probative.inference.macro_posterior import MacroPosterior, macro_posterior
from probative.label_counts import LabelCounts
from probative.metrics import METRICS, TABLE, Share, ratio, score
from probative.results import Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative._types import Array
    from probative.counts import Counts

__all__ = [
    "MacroEvidence",
    "degrees_of_freedom",
    "macro_evidence",
    "macro_interval",
    "macro_score",
    "moves_of_units",
    "normal_tail_of",
]

METHOD = "hierarchical"
NO_LABELS = "undefined: there are no labels"
NO_ITEMS = "undefined: there are no items"
_HALF = 0.5  # of an item of each kind, added so that no variance is thought to be 0


def macro_score(counts: Counts | LabelCounts, metric: str = "f1", *, beta: float = 1.0) -> float:
    """The mean of a score over labels.

    Parameters
    ----------
    counts
        One row per unit and one column per label, or `LabelCounts`.
    metric, beta
        The score.

    Examples
    --------
    >>> import probative as pv
    >>> from probative.inference.macro import macro_score
    >>> two_labels = pv.Counts(tp=[[8, 1]], fp=[[2, 1]], fn=[[0, 2]])
    >>> round(macro_score(two_labels), 4)
    0.6444
    """
    one_of("metric", metric, METRICS)
    cells = as_cells(counts)
    if not cells.n_labels:
        return math.nan
    return float(np.mean(score(cells.by_label(), metric, beta=beta, zero_division=0)))


def macro_interval(
    counts: Counts | LabelCounts, metric: str = "f1", *, level: float = 0.95, beta: float = 1.0
) -> Interval:
    """An interval for a macro average, from the posterior of labels that share their prior.

    Parameters
    ----------
    counts
        One row per unit (sentence, item) and one column per label, or `LabelCounts`.
    metric, level, beta
        As for `probative.interval`.

    Examples
    --------
    >>> import numpy as np
    >>> import probative as pv
    >>> from probative.inference.macro import macro_interval
    >>> right = np.arange(40) % 8 > 0  # of a label with 36 items, and of one with 4
    >>> is_rare = np.arange(40) % 10 == 9
    >>> tp, fn = (np.stack([yes & ~is_rare, yes & is_rare], axis=1) for yes in (right, ~right))
    >>> print(macro_interval(pv.Counts(tp=tp, fp=np.zeros((40, 2)), fn=fn)))
    macro_f1, 0.95 hierarchical interval: 0.9627 [0.8211, 0.9804]
    """
    level = open_probability("level", level)
    evidence = macro_evidence(as_cells(counts), metric, beta=beta)
    low, high = evidence.limits(level)
    return Interval(f"macro_{metric}", METHOD, level, evidence.estimate, low, high, evidence.note)


@dataclass(frozen=True, eq=False)
class MacroEvidence:
    """What is known of one macro average.

    Attributes
    ----------
    estimate
        The average.
    posterior
        Its distribution, before Student's t allows for the number of units; None where there is
        no evidence.
    degrees_of_freedom
        The effective number of units, less one.
    note
        What must be said, or None.
    """

    estimate: float
    posterior: MacroPosterior | None
    degrees_of_freedom: float
    note: str | None = None

    def limits(self, level: float) -> tuple[float, float]:
        """The equal-tailed limits, widened to the estimate where it lies outside of them."""
        if self.posterior is None:
            return 0.0, 1.0
        tail = normal_tail_of(level, self.degrees_of_freedom)
        low, high = np.asarray(self.posterior.ppf([tail, 1 - tail])).tolist()
        return max(0.0, min(low, self.estimate)), min(1.0, max(high, self.estimate))


def normal_tail_of(level: float, degrees_of_freedom: float) -> float:
    """The normal tail beyond Student's quantile: P0 at the limits, where T(Φ⁻¹(P0)) is theirs."""
    return float(special.ndtr(-student_quantile(level, degrees_of_freedom)))


def macro_evidence(cells: LabelCounts, metric: str = "f1", *, beta: float = 1.0) -> MacroEvidence:
    """What the counts of one system tell of its macro average."""
    estimate = macro_score(cells, metric, beta=beta)
    if math.isnan(estimate):
        return MacroEvidence(estimate, None, 0.0, NO_LABELS)
    freedom = degrees_of_freedom(cells)
    if freedom == 0:
        nothing = NO_ITEMS if not np.any(cells.counts.nu) else ONE_UNIT
        return MacroEvidence(estimate, None, 0.0, nothing)
    right, items = proportions_of(cells.by_label(), metric, beta)
    divisor = _divisors(cells, metric, beta)
    share = _share(metric, beta)
    f1 = share is not None and share.factor == 2
    posterior = macro_posterior(right / divisor, items / divisor, f1=f1)
    return MacroEvidence(estimate, posterior, freedom)


def as_cells(counts: Counts | LabelCounts) -> LabelCounts:
    """Counts by unit and label, from a full table too."""
    return counts if isinstance(counts, LabelCounts) else LabelCounts.from_table(counts)


def degrees_of_freedom(*systems: LabelCounts) -> float:
    """Kish's effective number of units, less one; infinite where every unit is one item."""
    size = np.asarray(sum(cells.items_by_unit for cells in systems))
    number = systems[0].repeats
    if number[size > 0].sum() > 1 and all((cells.items_by_unit <= 1).all() for cells in systems):
        return math.inf
    return max(0.0, effective_units(size, number) - 1)


def _divisors(cells: LabelCounts, metric: str, beta: float) -> Array:
    """What the counts of every label are to be divided by."""
    most = np.zeros(cells.n_labels)
    kinds, _ = cells.kinds
    np.maximum.at(most, kinds.label, kinds.counts.nu)
    # items of a label that are alone in their units are independent
    within = np.where(most <= 1, 1.0, label_dependence(cells, metric, beta=beta).divisor)
    return np.asarray(within * _cost_across(cells, metric, beta))


def proportions_of(tables: Counts, metric: str, beta: float) -> tuple[Array, Array]:
    """Items of each label that are right, and all of them: what its score is a function of.

    F1 is a function of tp of tp + fp + fn. A score whose errors weigh differently, as those of
    F-beta, is a function of no proportion: it is taken for one itself, of as many items as give it
    the variance of the delta method.
    """
    share = _share(metric, beta)
    if share is not None:
        right, items = share.proportion(tables)
        return np.asarray(right, np.float64), np.asarray(items, np.float64)
    x, y = (np.asarray(part, np.float64) for part in ratio(tables, metric, beta=beta))
    table, (item_x, item_y) = kinds_of_items(tables, metric, beta)
    table = table + _HALF * (item_y > 0)
    top, bottom = table @ item_x, table @ item_y
    value = top / bottom
    variance = (table * (item_x - value[:, None] * item_y) ** 2).sum(axis=1) / bottom**2
    items = np.where(y > 0, value * (1 - value) / variance, 0.0)
    with np.errstate(invalid="ignore"):
        return np.where(y > 0, x / y, 0.0) * items, items


def _share(metric: str, beta: float) -> Share | None:
    """The share that a score is, or whose F1 it is."""
    share = TABLE[metric].share(beta**2)
    return share if share is not None and share.factor in (1, 2) else None


def shifts(
    cells: LabelCounts, sums: tuple[Any, Any], added: tuple[Any, Any], metric: str, beta: float
) -> tuple[Array, Array]:
    """How far every cell, and an item of every added kind and label, moves the mean of labels.

    `sums` are the numerator and the denominator of every label's score, `added` what an item of
    each kind would add to them, of which half a one has been added already.
    """
    x, y = ratio(cells.counts, metric, beta=beta)
    item_x, item_y = added
    top, bottom = (part + _HALF * item.sum() for part, item in zip(sums, added, strict=True))
    share = top / bottom
    of_cells = (x - share[cells.label] * y) / bottom[cells.label]
    of_items = (item_x - share[:, None] * item_y) / bottom[:, None]
    return of_cells / max(1, cells.n_labels), of_items / max(1, cells.n_labels)


def moves_of_units(cells: LabelCounts, mask: NDArray[np.bool_], metric: str, beta: float) -> Array:
    """Return how far every unit moves the mean over the labels of a system that count."""
    totals = cells.by_label()
    _, added = kinds_of_items(totals, metric, beta)
    of_cells, _ = shifts(cells, ratio(totals, metric, beta=beta), added, metric, beta)
    share = cells.n_labels / max(1, mask.sum())
    return np.asarray(cells.sum_by_unit(of_cells * mask[cells.label]) * share)


def _cost_across(cells: LabelCounts, metric: str, beta: float) -> float:
    """The variance of the mean over the variance that independent labels would give it."""
    totals = cells.by_label()
    _, added = kinds_of_items(totals, metric, beta)
    of_cells, of_items = shifts(cells, ratio(totals, metric, beta=beta), added, metric, beta)
    unknown = _HALF * float(np.sum(of_items**2))
    number = cells.repeats
    together = float(number @ cells.sum_by_unit(of_cells) ** 2) + unknown
    apart = float(number[cells.unit] @ of_cells**2) + unknown
    return max(1.0, together / apart)
