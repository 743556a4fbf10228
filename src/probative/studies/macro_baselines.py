"""Intervals of macro averages as others make them, for comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative.counts import PairedCounts
from probative.inference.differences import difference
from probative.inference.intervals import interval
from probative.inference.macro import macro_score
from probative.inference.macro_posterior import macro_posterior
from probative.metrics import ratio, score

if TYPE_CHECKING:
    from probative._types import Array
    from probative.label_counts import LabelCounts

__all__ = [
    "delta_difference",
    "delta_interval",
    "mover_difference",
    "mover_interval",
    "one_prior_interval",
]


def delta_interval(cells: LabelCounts, level: float) -> tuple[float, float]:
    """By the delta method over the units, on the scale of log odds, with Student's quantile."""
    estimate = macro_score(cells)
    if not 0 < estimate < 1:
        return 0.0, 1.0
    reach = _reach(_moves(cells), level) / (estimate * (1 - estimate))
    low, high = special.expit(special.logit(estimate) + np.array([-reach, reach])).tolist()
    return low, high


def delta_difference(a: LabelCounts, b: LabelCounts, level: float) -> tuple[float, float]:
    """By the delta method over the units, with Student's quantile."""
    estimate = macro_score(b) - macro_score(a)
    reach = _reach(_moves(b) - _moves(a), level)
    return estimate - reach, estimate + reach


def mover_interval(cells: LabelCounts, level: float) -> tuple[float, float]:
    """Wilson's limits of the labels, whose arms are added up in squares."""
    tables = cells.by_label()
    limits = interval(tables, "f1", level=level)
    return _join(
        np.asarray(score(tables, zero_division=0)), np.asarray(limits.low), np.asarray(limits.high)
    )


def mover_difference(paired: Array, level: float) -> tuple[float, float]:
    """The limits of each label's difference (METHODS' MOVER), whose arms are added up in squares.

    `paired` holds the seven paired cases of every label.
    """
    differences = [difference(PairedCounts(row), "f1", level=level) for row in paired]
    estimates, low, high = np.array([(d.estimate, d.low, d.high) for d in differences]).T
    return _join(np.nan_to_num(estimates), low, high)


def one_prior_interval(cells: LabelCounts, level: float) -> tuple[float, float]:
    """A prior that labels of every size share, worth at most eight items."""
    tables = cells.by_label()
    posterior = macro_posterior(
        np.asarray(tables.tp),
        np.asarray(tables.nu),
        f1=True,
        slope_spread=1e-4,
        largest_kappa=8.0,
    )
    low, high = np.asarray(posterior.ppf([(1 - level) / 2, (1 + level) / 2])).tolist()
    return low, high


def _join(estimate: Array, low: Array, high: Array) -> tuple[float, float]:
    n, centre = len(estimate), float(np.mean(estimate))
    below, above = (
        math.sqrt(float(np.sum(arm**2))) / n for arm in (estimate - low, high - estimate)
    )
    return centre - below, centre + above


def _moves(cells: LabelCounts) -> Array:
    """How far each unit moves the macro F1."""
    x, y = ratio(cells.counts, "f1")
    top, bottom = cells.sum_by_label(x), cells.sum_by_label(y)
    with np.errstate(invalid="ignore", divide="ignore"):
        share, weight = (
            np.where(bottom > 0, top / bottom, 0.0),
            np.where(bottom > 0, 1 / bottom, 0.0),
        )
    moved = (x - share[cells.label] * y) * weight[cells.label]
    return cells.sum_by_unit(moved) / cells.n_labels


def _reach(moves: Array, level: float) -> float:
    n = len(moves)
    quantile = float(special.stdtrit(n - 1, (1 + level) / 2))
    return quantile * math.sqrt(n / (n - 1) * float(np.sum(moves**2)))
