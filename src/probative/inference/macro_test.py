"""The randomisation test of two macro averages: whole units are exchanged at random.

An exact test would have to walk on a lattice with two dimensions per label. How many exchanges are
drawn depends on what they show: see `probative.inference.sequential_pvalue`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from probative._validation import one_of, random_generator, whole_number
from probative.inference._pair_exchanges import TIE
from probative.inference._unit_flips import UnitFlips
from probative.inference.macro import as_cells
from probative.inference.macro_difference import check_same_cells
from probative.inference.sequential_pvalue import LEVELS, sequential_pvalues
from probative.metrics import METRICS, ratio
from probative.results import NullDistribution, RandomizationTest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative._types import RNG, Array, Mask
    from probative.counts import Counts
    from probative.label_counts import LabelCounts

__all__ = ["TIE", "MacroExchange", "contributions", "macro_test", "macro_tests"]

_BINS_A_SIDE, _REACH = 20, 4.0  # of the histogram of the null distribution, in deviations


def macro_test(
    a: Counts | LabelCounts,
    b: Counts | LabelCounts,
    metric: str = "f1",
    *,
    by: str = "unit",
    n_resamples: int | None = None,
    levels: Sequence[float] = LEVELS,
    rng: RNG | None = None,
    beta: float = 1.0,
    labels: Mask | None = None,
    own_labels: bool = False,
    null: bool = False,
    n_jobs: int | None = 1,
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
    n_resamples, levels
        How many exchanges to draw; by default as many as it takes until it is clear on which side
        of these levels the p-value lies, a million at most.
    rng
        A seed or generator for them.
    labels
        The labels that count; by default all.
    own_labels
        Whether a label that an output uses counts for that output, too.
    null
        Whether to return the null distribution, too: of the same draws as the p-value.
    n_jobs
        How many threads work at once; -1 for as many as there are cores. The result is the same.
    """
    found = macro_tests(
        [(a, b)],
        metric,
        by=by,
        n_resamples=n_resamples,
        levels=levels,
        rng=rng,
        beta=beta,
        labels=labels,
        own_labels=own_labels,
        null=null,
        n_jobs=n_jobs,
    )
    return found[0]


def macro_tests(
    pairs: Sequence[tuple[Counts | LabelCounts, Counts | LabelCounts]],
    metric: str = "f1",
    *,
    by: str = "unit",
    n_resamples: int | None = None,
    levels: Sequence[float] = LEVELS,
    rng: RNG | None = None,
    beta: float = 1.0,
    labels: Mask | None = None,
    own_labels: bool = False,
    null: bool = False,
    n_jobs: int | None = 1,
) -> list[RandomizationTest]:
    """The same for several pairs, whose p-values will be adjusted by Holm's method.

    Exchanges are drawn until it is clear at every level what the test of each pair says, by itself
    and adjusted for their number.
    """
    one_of("metric", metric, METRICS)
    if n_resamples is not None:
        n_resamples = whole_number("n_resamples", n_resamples, most=10**9)
    generator = random_generator(rng)
    exchanges = [
        MacroExchange(
            as_cells(a), as_cells(b), metric, beta, labels, own_labels=own_labels, keep=null
        )
        for a, b in pairs
    ]

    def draw(own: np.random.Generator, number: int, tests: NDArray[np.int64]) -> list[int]:
        # the exchanges of a pair do not depend on which others are still open
        seeds = own.integers(2**63, size=len(exchanges)).tolist()
        return [exchanges[i].extreme(np.random.default_rng(seeds[i]), number) for i in tests]

    found = sequential_pvalues(
        draw, len(pairs), levels=levels, n_resamples=n_resamples, rng=generator, n_jobs=n_jobs
    )
    return [
        RandomizationTest(
            metric=f"macro_{metric}",
            alternative="two-sided",
            by=by,
            method="sampled",
            statistic=exchange.observed,
            pvalue=own.pvalue,
            n_units=exchange.n_units,
            n_resamples=own.draws,
            standard_error=own.standard_error,
            pvalue_low=own.low,
            pvalue_high=own.high,
            note=str(own),
            null=_null_distribution(exchange.sizes, abs(exchange.observed)) if null else None,
        )
        for exchange, own in zip(exchanges, found, strict=True)
    ]


class MacroExchange:
    """Random exchanges of the units of two systems, and what they do to two macro averages."""

    def __init__(
        self,
        a: LabelCounts,
        b: LabelCounts,
        metric: str,
        beta: float,
        labels: Mask | None,
        *,
        own_labels: bool,
        keep: bool = False,
    ):
        check_same_cells(a, b)
        always = np.ones(a.n_labels, dtype=bool) if labels is None else labels
        self._average = _Average(always, own_labels=own_labels)
        # which labels are returned matters to those alone that count only where they are
        parts = [contributions(cells, metric, beta)[: 2 + own_labels] for cells in (a, b)]
        self._totals = [np.stack([a.sum_by_label(column) for column in part]) for part in parts]
        self._flips = UnitFlips(*_distinct_moves(a, parts[0] - parts[1]))
        self.n_units = int(a.repeats.sum())
        self.observed = float(self._average(self._totals[1]) - self._average(self._totals[0]))
        self._kept: list[Array] | None = [] if keep else None

    def extreme(self, generator: np.random.Generator, number: int) -> int:
        """How many of so many exchanges make the difference at least as large."""
        a, b = self._totals
        extreme = 0
        for sums in self._flips.draw(generator, number):
            moved = sums.T.reshape(sums.shape[1], *a.shape)
            size = np.abs(self._average(b + moved) - self._average(a - moved))
            extreme += int(np.count_nonzero(size >= abs(self.observed) - TIE))
            if self._kept is not None:
                self._kept.append(size)
        return extreme

    @property
    def sizes(self) -> Array:
        """How large the differences were after every exchange, where they were to be kept."""
        return np.concatenate(self._kept or [np.zeros(1)])


class _Average:
    """The macro averages of arrays of totals: rows of x, y and, for own labels, items returned."""

    def __init__(self, always: Mask, *, own_labels: bool):
        self.always, self.own_labels = always, own_labels

    def __call__(self, totals: Array) -> Array:
        top, bottom = totals[..., 0, :], totals[..., 1, :]
        with np.errstate(invalid="ignore", divide="ignore"):
            # sums of fractions come back as 0 only up to rounding
            scores = np.where(bottom > TIE, top / bottom, 0.0)
        counts = self.always
        if self.own_labels:
            counts = counts | (totals[..., 2, :] > TIE)
        number = np.maximum(1, np.sum(np.broadcast_to(counts, scores.shape), axis=-1))
        return np.asarray(np.sum(scores * counts, axis=-1) / number)


def contributions(cells: LabelCounts, metric: str, beta: float) -> Array:
    """What every cell adds to numerator, denominator and items returned: one row each."""
    x, y = ratio(cells.counts, metric, beta=beta)
    return np.stack([np.asarray(part, np.float64) for part in (x, y, cells.counts.predicted)])


def _distinct_moves(cells: LabelCounts, parts: Array) -> tuple[Any, NDArray[np.int64]]:
    """The distinct changes that exchanging a unit makes, and how many units make each.

    A row per part and label, a column per kind of unit.
    """
    columns = np.arange(len(parts))[:, None] * cells.n_labels + cells.label
    there = parts != 0
    rows = np.broadcast_to(cells.unit, columns.shape)[there]
    shape = (cells.n_units, len(parts) * cells.n_labels)
    table = sparse.coo_array((parts[there], (rows, columns[there])), shape=shape).tocsr()
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
    return table[first].T.tocsr(), number


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
