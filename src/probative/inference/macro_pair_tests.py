"""The sampled tests of the macro averages of all pairs of systems.

Which units are exchanged is drawn once for all pairs. A system that exchanges some units has what
it had on the others, and what the other system had on these: two sums that each system needs once,
as one product of matrices, whatever the number of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from probative.inference.macro_test import TIE, contributions
from probative.workers import in_processes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from probative.label_counts import LabelCounts

    Array = NDArray[np.float64]
    Mask = NDArray[np.bool_]
    Pair = tuple[int, int]

__all__ = ["DENSE", "macro_pair_tests"]

_STREAM = 256  # exchanges that one seed draws; the draws do not depend on how many fit into memory
_AT_ONCE = 2048  # exchanges at once; fewer where units, systems or labels are many
_NUMBERS = 1 << 24  # held in memory at once
DENSE = 0.04  # the share of cells with a count from which on a full table is faster
_EXACT = 1 << 24  # whole numbers up to this are exact in single precision


def macro_pair_tests(
    cells: Sequence[LabelCounts],
    pairs: Sequence[Pair],
    metric: str = "f1",
    *,
    labels: Mask,
    own_labels: bool = False,
    beta: float = 1.0,
    n_resamples: int = 10_000,
    seed: int = 0,
    n_jobs: int | None = 1,
    report: Callable[[float], None] | None = None,
) -> Array:
    """The p-values of pairs of systems, two-sided, from the same exchanges of whole units.

    Parameters
    ----------
    cells
        The counts of every system in the same cells of units and labels.
    pairs
        The numbers of the two systems of each pair.
    metric, labels, own_labels, beta
        As for `probative.inference.macro_test.macro_test`.
    n_resamples, seed
        How many exchanges are drawn, and a seed for them: the p-value of a pair depends on these
        and on its two systems alone.
    n_jobs
        How many processes work at once.
    report
        Is told which share of the exchanges is done.
    """
    sums = _Sums.of(cells, metric, beta, labels, own_labels=own_labels)
    step = _STREAM * max(1, min(_AT_ONCE, _NUMBERS // sums.width) // _STREAM)
    starts = range(0, n_resamples, step)
    spans = [(start, min(start + step, n_resamples)) for start in starts]
    observed = sums.observed(pairs)
    count = partial(_count_extreme, sums, pairs, observed, seed)
    extreme = np.zeros(len(pairs), dtype=np.int64)
    for (_, end), number in in_processes(count, spans, n_jobs):
        extreme += number
        if report is not None:
            report(end / n_resamples)
    return np.asarray((extreme + 1) / (n_resamples + 1))


@dataclass(frozen=True, eq=False)
class _Sums:
    """What every unit adds to the sums that macro averages are made of.

    Attributes
    ----------
    table
        A row per unit on which systems differ; a column per system, part and label. The parts are
        numerator, denominator and, where labels of an output count, the items returned.
    units
        Which units these are.
    totals
        The sums over all units, by system, part and label.
    always
        Which labels count, whatever is exchanged.
    own_labels
        Whether those that are returned count, too.
    n_units
        How many units there are in all.
    defined
        Whether no exchange can leave a label without a score.
    """

    table: Any
    units: NDArray[np.intp]
    totals: Array
    always: Mask
    own_labels: bool
    n_units: int
    defined: bool

    @classmethod
    def of(
        cls,
        cells: Sequence[LabelCounts],
        metric: str,
        beta: float,
        labels: Mask,
        *,
        own_labels: bool,
    ) -> _Sums:
        chosen = np.ones_like(labels) if own_labels else labels
        n_parts, n_labels = 2 + own_labels, int(chosen.sum())
        parts = [contributions(own.only(chosen), metric, beta)[:n_parts] for own in cells]
        first = cells[0].only(chosen)
        totals = np.array([[first.sum_by_label(part) for part in own] for own in parts])
        values = np.concatenate(parts)  # a row per column of a block of labels
        differ = np.any([own != parts[0] for own in parts], axis=(0, 1))
        there = np.isin(first.unit, np.unique(first.unit[differ]))
        units, row = np.unique(first.unit[there], return_inverse=True)
        blocks = np.arange(len(values))[:, None] * n_labels + first.label[there]
        shape = (len(units), len(values) * n_labels)
        places = (np.broadcast_to(row, blocks.shape).ravel(), blocks.ravel())
        table = sparse.coo_array((values[:, there].ravel(), places), shape=shape).tocsr()
        table.eliminate_zeros()
        whole = not (table.data % 1).any() and totals.max(initial=0) < _EXACT
        table = table.astype(np.float32 if whole else np.float64)
        full = table.nnz > DENSE * table.shape[0] * table.shape[1]
        size = len(cells), n_parts, n_labels
        least = first.sum_by_label(np.min([own[1] for own in parts], axis=0))
        return cls(
            table.toarray() if full and np.prod(shape) < _NUMBERS * 4 else table,
            units,
            totals.reshape(size),
            labels[chosen],
            own_labels,
            first.n_units,
            bool(np.all(least > TIE)),
        )

    @property
    def width(self) -> int:
        """How many numbers one exchange takes."""
        return int(max(1, self.n_units, self.totals.size))

    def observed(self, pairs: Sequence[Pair]) -> Array:
        """The differences of the pairs as they are."""
        scores = np.array([self.averages(*own[..., None])[0] for own in self.totals])
        return np.array([abs(scores[j] - scores[i]) for i, j in pairs])

    def exchanged(self, signs: NDArray[np.bool_]) -> Array:
        """The sums over the exchanged units: by system, part, label and draw."""
        chosen = signs[:, self.units].astype(self.table.dtype)
        sums = np.asarray(self.table.T @ chosen.T, dtype=np.float64)
        return sums.reshape(*self.totals.shape, len(signs))

    def averages(self, top: Array, bottom: Array, returned: Array | None = None) -> Array:
        """The macro averages of sums: one row per label, one column per draw."""
        if self.defined:
            scores = top / bottom
        else:  # sums of fractions come back as 0 only up to rounding
            scores = np.divide(top, bottom, out=np.zeros_like(top), where=bottom > TIE)
        if returned is None:
            return np.asarray(scores.sum(axis=0) / max(1, len(scores)))
        counts = self.always[:, None] | (returned > TIE)
        return np.asarray((scores * counts).sum(axis=0) / np.maximum(1, counts.sum(axis=0)))


def _signs(seed: int, start: int, end: int, n_units: int) -> NDArray[np.bool_]:
    """Which units the exchanges from `start` to `end` exchange: one row per exchange."""
    bits = []
    for stream in range(start // _STREAM, ceil(end / _STREAM)):
        raw = np.random.default_rng((seed, stream)).bytes(_STREAM * ceil(n_units / 8))
        rows = np.frombuffer(raw, dtype=np.uint8).reshape(_STREAM, -1)
        bits.append(np.unpackbits(rows, axis=1, count=n_units))
    return np.concatenate(bits)[: end - start].view(bool)


def _count_extreme(
    sums: _Sums, pairs: Sequence[Pair], observed: Array, seed: int, span: tuple[int, int]
) -> NDArray[np.int64]:
    """How many of these exchanges make the difference of each pair at least as large."""
    given = sums.exchanged(_signs(seed, *span, sums.n_units))
    kept = sums.totals[..., None] - given
    extreme = np.empty(len(pairs), dtype=np.int64)
    for place, (i, j) in enumerate(pairs):
        gap = sums.averages(*(kept[j] + given[i])) - sums.averages(*(kept[i] + given[j]))
        extreme[place] = np.count_nonzero(np.abs(gap) >= observed[place] - TIE)
    return extreme
