"""The randomisation test of two macro averages: whole units are exchanged at random.

An exact test would have to walk on a lattice with two dimensions per label.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from probative._validation import one_of, random_generator, whole_number
from probative.inference.macro import as_cells
from probative.inference.macro_difference import check_same_cells
from probative.metrics import METRICS, ratio
from probative.results import NullDistribution, RandomizationTest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative._types import RNG
    from probative.counts import Counts
    from probative.label_counts import LabelCounts

    Array = NDArray[np.float64]
    Mask = NDArray[np.bool_]

__all__ = ["TIE", "contributions", "macro_test"]

_AT_ONCE = 1 << 22  # numbers held in memory while exchanges are drawn
TIE = 1e-12  # a tie that rounding would break is still a tie
_BINS_A_SIDE, _REACH = 20, 4.0  # of the histogram of the null distribution, in deviations


def macro_test(
    a: Counts | LabelCounts,
    b: Counts | LabelCounts,
    metric: str = "f1",
    *,
    by: str = "unit",
    n_resamples: int = 10_000,
    rng: RNG | None = None,
    beta: float = 1.0,
    labels: Mask | None = None,
    own_labels: bool = False,
    null: bool = False,
) -> RandomizationTest:
    """Test two macro averages by random exchanges of whole units, two-sided.

    Parameters
    ----------
    a, b
        The counts of the two systems on the same units and labels.
    metric, beta
        The score.
    by
        What the units are called.
    n_resamples, rng
        How many exchanges to draw, and a seed or generator for them.
    labels
        The labels that count; by default all.
    own_labels
        Whether a label that an output uses counts for that output, too.
    null
        Whether to return the null distribution, too: of the same draws as the p-value.
    """
    cells_a, cells_b = as_cells(a), as_cells(b)
    check_same_cells(cells_a, cells_b)
    one_of("metric", metric, METRICS)
    n_resamples = whole_number("n_resamples", n_resamples, most=10**9)
    generator = random_generator(rng)
    always = np.ones(cells_a.n_labels, dtype=bool) if labels is None else labels
    average = _Average(always, own_labels=own_labels)
    parts = [contributions(cells, metric, beta) for cells in (cells_a, cells_b)]
    totals = [np.stack([cells_a.sum_by_label(column) for column in part]) for part in parts]
    moves, number = _distinct_moves(cells_a, parts[0] - parts[1])
    observed = float(average(totals[1]) - average(totals[0]))

    differences = np.empty(n_resamples)
    width = max(1, len(number), totals[0].size)
    for start in range(0, n_resamples, step := max(1, _AT_ONCE // width)):
        draws = min(step, n_resamples - start)
        exchanged = generator.binomial(number, 0.5, size=(draws, len(number)))
        moved = (moves.T @ exchanged.T.astype(np.float64)).T.reshape(draws, *totals[0].shape)
        new_a, new_b = totals[0] - moved, totals[1] + moved
        differences[start : start + draws] = average(new_b) - average(new_a)
    size = np.abs(differences)
    extreme = np.count_nonzero(size >= abs(observed) - TIE)
    pvalue = (int(extreme) + 1) / (n_resamples + 1)
    return RandomizationTest(
        metric=f"macro_{metric}",
        alternative="two-sided",
        by=by,
        method="sampled",
        statistic=observed,
        pvalue=pvalue,
        n_units=int(cells_a.repeats.sum()),
        n_resamples=n_resamples,
        standard_error=math.sqrt(pvalue * (1 - pvalue) / n_resamples),
        null=_null_distribution(size, abs(observed)) if null else None,
    )


class _Average:
    """The macro averages of arrays of totals: rows of x, y and items returned, by label."""

    def __init__(self, always: Mask, *, own_labels: bool):
        self.always, self.own_labels = always, own_labels

    def __call__(self, totals: Array) -> Array:
        top, bottom, returned = totals[..., 0, :], totals[..., 1, :], totals[..., 2, :]
        with np.errstate(invalid="ignore", divide="ignore"):
            # sums of fractions come back as 0 only up to rounding
            scores = np.where(bottom > TIE, top / bottom, 0.0)
        counts = self.always
        if self.own_labels:
            counts = counts | (returned > TIE)
        number = np.maximum(1, np.sum(np.broadcast_to(counts, scores.shape), axis=-1))
        return np.asarray(np.sum(scores * counts, axis=-1) / number)


def contributions(cells: LabelCounts, metric: str, beta: float) -> Array:
    """What every cell adds to numerator, denominator and items returned: one row each."""
    x, y = ratio(cells.counts, metric, beta=beta)
    return np.stack([np.asarray(part, np.float64) for part in (x, y, cells.counts.predicted)])


def _distinct_moves(cells: LabelCounts, parts: Array) -> tuple[Any, NDArray[np.int64]]:
    """The distinct changes that exchanging a unit makes, and how many units make each.

    A row per kind of unit, a column per part and label.
    """
    columns = np.arange(3)[:, None] * cells.n_labels + cells.label
    rows = np.broadcast_to(cells.unit, columns.shape)
    shape = (cells.n_units, 3 * cells.n_labels)
    table = sparse.coo_array((parts.ravel(), (rows.ravel(), columns.ravel())), shape=shape).tocsr()
    table.sum_duplicates()
    table.eliminate_zeros()
    kinds: dict[bytes, list[int]] = {}
    for unit in np.flatnonzero(np.diff(table.indptr)).tolist():
        own = slice(table.indptr[unit], table.indptr[unit + 1])
        key = table.indices[own].tobytes() + table.data[own].tobytes()
        kinds.setdefault(key, []).append(unit)
    first = [units[0] for units in kinds.values()]
    times = cells.repeats
    number = np.array([times[units].sum() for units in kinds.values()], dtype=np.int64)
    return table[first], number


def _null_distribution(size: Array, observed: float) -> NullDistribution:
    """The histogram of the drawn differences; the observed one is an edge."""
    deviation = float(np.sqrt(np.mean(size**2)))
    span = max(_REACH * deviation, observed)
    if span == 0:
        return NullDistribution(np.array([-1.0, 1.0]), np.array([1.0]))
    width = span / _BINS_A_SIDE
    if observed > 0:
        width = observed / max(1, round(observed / width))
    edges = width * np.arange(1, math.ceil(span / width - 1e-9) + 1)
    tails = 1 - np.searchsorted(np.sort(size), edges - TIE) / len(size)
    outer = np.append(-np.diff(tails)[:-1], tails[-2:-1]) / 2
    middle = 1 - tails[0] if len(edges) > 1 else 1.0
    return NullDistribution(
        np.concatenate([-edges[::-1], edges]), np.concatenate([outer[::-1], [middle], outer])
    )
