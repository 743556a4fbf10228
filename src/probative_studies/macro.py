"""Do the intervals of macro averages cover what they promise?

Test sets are drawn from populations whose macro F1 is known, and judged by two systems that err
together. Labels are independent of each other in ten conditions, from comfortable ones to labels
with three items; in the others every datum has one label, and what one label misses is another
one's false alarm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy import special

from probative._validation import Array, Ints
from probative.counts import Counts, LabelCounts, PairedCounts
from probative.inference.differences import difference
from probative.inference.intervals import interval
from probative.inference.macro import (
    MacroEvidence,
    degrees_of_freedom,
    macro_posterior,
    macro_score,
)
from probative.inference.macro_comparison import macro_difference
from probative.metrics import ratio, score
from probative_studies.harness import Report, Row, checked, mean, quiet, share_of, streams

# --- Intervals of macro averages as others make them, for comparison.


def _delta_interval(cells: LabelCounts, level: float) -> tuple[float, float]:
    """Use the delta method over the units, on the log-odds scale, with Student's quantile."""
    estimate = macro_score(cells)
    if not 0 < estimate < 1:
        return 0.0, 1.0
    reach = _reach(_moves(cells), level) / (estimate * (1 - estimate))
    low, high = special.expit(special.logit(estimate) + np.array([-reach, reach])).tolist()
    return low, high


def _delta_difference(a: LabelCounts, b: LabelCounts, level: float) -> tuple[float, float]:
    """Use the delta method over the units, with Student's quantile."""
    estimate = macro_score(b) - macro_score(a)
    reach = _reach(_moves(b) - _moves(a), level)
    return estimate - reach, estimate + reach


def _mover_interval(cells: LabelCounts, level: float) -> tuple[float, float]:
    """Join Wilson's limits of the labels; their arms are added up in squares."""
    tables = cells.by_label()
    limits = interval(tables, "f1", level=level)
    return _join(*map(np.asarray, (score(tables, zero_division=0), limits.low, limits.high)))


def _mover_difference(paired: Array, level: float) -> tuple[float, float]:
    """Join the limits (MOVER) of each label's difference, from its seven paired cases."""
    differences = [difference(PairedCounts(row), "f1", level=level) for row in paired]
    estimates, low, high = np.array([(d.estimate, d.low, d.high) for d in differences]).T
    return _join(np.nan_to_num(estimates), low, high)


def _one_prior_interval(cells: LabelCounts, level: float) -> tuple[float, float]:
    """Use one prior for labels of every size, worth at most eight items."""
    tables = cells.by_label()
    posterior = macro_posterior(
        np.asarray(tables.tp), np.asarray(tables.nu), f1=True, slope_spread=1e-4, largest_kappa=8.0
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
    """Return how far each unit moves the macro F1."""
    x, y = ratio(cells.counts, "f1")
    top, bottom = cells.sum_by_label(x), cells.sum_by_label(y)
    with np.errstate(invalid="ignore", divide="ignore"):
        share, weight = (np.where(bottom > 0, own / bottom, 0.0) for own in (top, 1.0))
    moved = (x - share[cells.label] * y) * weight[cells.label]
    return cells.sum_by_unit(moved) / cells.n_labels


def _reach(moves: Array, level: float) -> float:
    n = len(moves)
    quantile = float(special.stdtrit(n - 1, (1 + level) / 2))
    return quantile * math.sqrt(n / (n - 1) * float(np.sum(moves**2)))


_BETTER = 0.02  # what B's F1 exceeds A's by
_TOGETHER = 0.5  # how often the two systems share their fate
_RIGHT = (0.75, 0.8)  # shares of data with one label each that A and B get right by themselves


class _Sample(NamedTuple):
    """A test set as two systems answer it, and their macro F1 in the population."""

    a: LabelCounts
    b: LabelCounts
    paired: Array
    true_a: float
    true_b: float


@dataclass(frozen=True)
class _SeparateLabels:
    """Labels with so many expected items each, independent of each other; items are units.

    Precision and recall of each label are A's `f1`, and B's is two points higher.
    """

    items: tuple[float, ...]
    f1: tuple[float, ...]

    def draw(self, generator: Generator) -> _Sample:
        """Draw a test set."""
        items, a = np.array(self.items, np.float64), np.array(self.f1)
        b = np.minimum(a + _BETTER, 0.99)
        both = _TOGETHER * np.minimum(a, b) + (1 - _TOGETHER) * a * b
        alarms_a, alarms_b = items * (1 - a), items * (1 - b)
        shared = _TOGETHER * np.minimum(alarms_a, alarms_b)
        expected = [
            *(items * (a - both), alarms_a - shared, items * (b - both), alarms_b - shared),
            *(items * both, shared, items * (1 - a - b + both)),
        ]
        paired = generator.poisson(np.stack(expected, axis=1))
        label, case = (grid.ravel() for grid in np.indices(paired.shape))
        label, case = (np.repeat(part, paired.ravel()) for part in (label, case))
        cases, unit = PairedCounts(np.eye(7)), np.arange(len(label))
        cells_a, cells_b = (
            LabelCounts(unit, label, side[case], len(unit), len(items))
            for side in (cases.a, cases.b)
        )
        return _Sample(
            cells_a, cells_b, paired.astype(np.float64), float(a.mean()), float(b.mean())
        )


@dataclass(frozen=True)
class _OneLabelEach:
    """Data with one label each; A is right on 75 % of them, B on about 78 %."""

    items: int
    prevalence: tuple[float, ...]

    def draw(self, generator: Generator) -> _Sample:
        """Draw a test set."""
        prevalence = np.array(self.prevalence)
        cells, patterns = _population(prevalence)
        data = patterns[generator.choice(len(cells), size=self.items, p=cells)]
        k = len(prevalence)
        gold, a, b = (data[:, side, None] == np.arange(k) for side in range(3))
        said = (a & ~b, ~a & b, a & b, ~a & ~b)
        cases = [np.sum(which & own, axis=0) for own in said for which in (gold, ~gold)]
        paired = cases[:7]
        side_a, side_b = (
            LabelCounts.from_table(Counts(gold & s, ~gold & s, gold & ~s)) for s in (a, b)
        )
        true_a, true_b = (_population_macro_f1(cells, patterns, side) for side in (1, 2))
        return _Sample(side_a, side_b, np.stack(paired, axis=1).astype(float), true_a, true_b)


def _even(f1: float, *items: float) -> _SeparateLabels:
    return _SeparateLabels(tuple(items), (f1,) * len(items))


CONDITIONS: dict[str, _SeparateLabels | _OneLabelEach] = {
    "3 and 1000 items, 0.9": _even(0.9, 3, 1000),
    "3 and 300 items, 0.9": _even(0.9, 3, 300),
    "300, 300 and 3 items, 0.9": _even(0.9, 300, 300, 3),
    "60, 60 and 3 items, 0.9": _even(0.9, 60, 60, 3),
    "20 labels of 5, 0.9": _even(0.9, *[5] * 20),
    "20 labels of 50, 0.95": _even(0.95, *[50] * 20),
    "4 labels of 3, 0.9": _even(0.9, *[3] * 4),
    "3 to 500 items, 0.4 to 0.95": _SeparateLabels(
        (3, 6, 12, 25, 50, 120, 250, 500), tuple(np.linspace(0.4, 0.95, 8).tolist())
    ),
    "5 labels of 200, 0.9": _even(0.9, *[200] * 5),
    "10 labels of 100, 0.6 to 0.95": _SeparateLabels(
        (100,) * 10, tuple(np.linspace(0.6, 0.95, 10).tolist())
    ),
    "2 classes, 100 data": _OneLabelEach(100, (0.7, 0.3)),
    "5 classes, 100 data": _OneLabelEach(100, (0.5, 0.25, 0.15, 0.07, 0.03)),
    "5 classes, 1000 data": _OneLabelEach(1000, (0.5, 0.25, 0.15, 0.07, 0.03)),
}


def macro_coverage(
    conditions: dict[str, _SeparateLabels | _OneLabelEach] | None = None,
    *,
    level: float = 0.95,
    replicates: int = 400,
    rng: int = 0,
    report: Report = quiet,
) -> list[Row]:
    """Simulate test sets under every condition, and count how often the truth is covered."""
    level, replicates = checked(level, replicates)
    chosen = CONDITIONS if conditions is None else conditions
    study = []
    for k, ((name, condition), generator) in enumerate(streams(chosen.items(), rng, quiet)):
        limits, true = [], []
        for r in range(replicates):
            report(k * replicates + r, len(chosen) * replicates)
            sample = condition.draw(generator)
            by_method = _limits(sample, level)
            limits.append(list(by_method.values()))
            gap = sample.true_b - sample.true_a
            true.append([sample.true_a if q == "one system" else gap for q, _ in by_method])
        low, high = np.moveaxis(np.array(limits), -1, 0)
        held = (low <= true) & (true <= high)
        for i, (question, method) in enumerate(by_method):
            coverage, error = share_of(held[:, i])
            about = {"condition": name, "question": question, "method": method}
            found = {"coverage": coverage, "standard_error": error}
            length = mean((high - low)[:, i])
            study.append(Row(**about, **found, length=length, replicates=replicates))
    return study


def _limits(sample: _Sample, level: float) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the limits of every method, by question and name."""
    a, b, paired, *_ = sample
    both, posterior = macro_difference(a, b, level=level)
    one = MacroEvidence(both.a, posterior.a, degrees_of_freedom(a))  # is found on the way
    single, gap = "one system", "difference"
    return {
        (single, "delta"): _delta_interval(a, level),
        (single, "mover"): _mover_interval(a, level),
        (single, "one prior"): _one_prior_interval(a, level),
        (single, "hierarchical"): one.limits(level),
        (gap, "delta"): _delta_difference(a, b, level),
        (gap, "mover"): _mover_difference(paired, level),
        (gap, "hierarchical"): (both.low, both.high),
    }


def _population(prevalence: Array) -> tuple[Array, Ints]:
    """Return the probabilities of all triples of right label, label of A and label of B."""
    k = len(prevalence)
    right = np.eye(k, dtype=bool)
    wrong = np.where(right, 0, prevalence)
    wrong = wrong / wrong.sum(axis=1, keepdims=True)
    a, b = (np.where(right, share, (1 - share) * wrong) for share in _RIGHT)
    apart = (1 - _TOGETHER) * a[:, :, None] * b[:, None, :]
    cells = prevalence[:, None, None] * (_TOGETHER * a[:, :, None] * np.eye(k) + apart)
    return cells.ravel() / cells.sum(), np.indices((k, k, k)).reshape(3, -1).T


def _population_macro_f1(cells: Array, patterns: Ints, side: int) -> float:
    scores = []
    for label in range(int(patterns.max()) + 1):
        gold, predicted = patterns[:, 0] == label, patterns[:, side] == label
        both = cells[gold & predicted].sum()
        scores.append(2 * both / (cells[gold].sum() + cells[predicted].sum()))
    return mean(scores)
