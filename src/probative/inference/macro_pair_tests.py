"""The sampled tests of the macro averages of all pairs of systems.

Which units are exchanged is drawn once for all pairs. What a unit adds to the sums of a system is
known as its difference from what it adds to those of the first: few units tell systems apart, so
that a table of the differences is nearly empty. The sums over the exchanged units are one product
of matrices, whatever the number of pairs; two systems that exchange these units change their sums
by the difference of two of its rows.

Where few pairs are open, each is tested by itself: the units that tell two systems apart are of
few kinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from probative.inference.macro_test import TIE, MacroExchange, contributions
from probative.inference.sequential_pvalue import MOST, sequential_pvalues

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from probative.inference.sequential_pvalue import SampledPvalue
    from probative.label_counts import LabelCounts

    Array = NDArray[np.float64]
    Mask = NDArray[np.bool_]
    Pair = tuple[int, int]

__all__ = ["macro_pair_tests"]

_FEW = 64  # pairs that are quicker tested one by one
_NUMBERS = 1 << 23  # held in memory at once
_PAIRS = 1 << 18  # numbers of some pairs that are worked on at once, so that they stay at hand
_EXACT = 1 << 24  # whole numbers up to this are exact in single precision


def macro_pair_tests(
    cells: Sequence[LabelCounts],
    pairs: Sequence[Pair],
    metric: str = "f1",
    *,
    labels: Mask,
    own_labels: bool = False,
    beta: float = 1.0,
    level: float = 0.95,
    adjust: str = "holm",
    known: Mapping[Pair, tuple[float, int]] | None = None,
    n_resamples: int | None = None,
    most: int = MOST,
    seed: int = 0,
    n_jobs: int | None = 1,
    report: Callable[[int, int], None] | None = None,
) -> list[SampledPvalue]:
    """The p-values of pairs of systems, two-sided, from the same exchanges of whole units.

    Parameters
    ----------
    cells
        The counts of every system in the same cells of units and labels.
    pairs
        The numbers of the two systems of each pair.
    metric, labels, own_labels, beta
        As for `probative.inference.macro_test.macro_test`.
    level, adjust
        With what the adjusted p-values will be compared: exchanges are drawn until that is clear.
    known, n_resamples, most, n_jobs, report
        As for `probative.inference.sequential_pvalue.sequential_pvalues`; what is known, by pair.
    seed
        For the exchanges.
    """
    sums = _Sums.of(cells, metric, beta, labels, own_labels=own_labels)
    observed = sums.observed(pairs)
    sides = np.array(pairs, dtype=np.intp).reshape(-1, 2)

    @cache
    def alone(test: int) -> MacroExchange:
        a, b = (cells[k] for k in pairs[test])
        return MacroExchange(a, b, metric, beta, labels, own_labels=own_labels)

    def draw(
        generator: np.random.Generator, number: int, tests: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        if len(tests) <= _FEW:
            # the exchanges of a pair do not depend on which others are still open
            seeds = generator.integers(2**63, size=len(pairs))[tests].tolist()
            drawn = zip(tests.tolist(), map(np.random.default_rng, seeds), strict=True)
            return np.array([alone(test).extreme(own, number) for test, own in drawn])
        extreme = np.zeros(len(tests), dtype=np.int64)
        for flipped in sums.draw(generator, number):
            extreme += sums.count_extreme(flipped, sides[tests], observed[tests])
        return extreme

    place = {pair: t for t, pair in enumerate(pairs)}
    return sequential_pvalues(
        draw,
        len(pairs),
        levels=(1 - level,),
        adjust=adjust,
        plain=False,
        known={place[pair]: own for pair, own in (known or {}).items() if pair in place},
        n_resamples=n_resamples,
        most=most,
        rng=seed,
        n_jobs=n_jobs,
        report=report,
    )


@dataclass(frozen=True, eq=False)
class _Sums:
    """What every unit adds to the sums that macro averages are made of.

    Attributes
    ----------
    table
        A row per system, part and label: how much more than to those of the first system a unit
        adds; a column per unit on which systems differ. The parts are numerator, denominator and,
        where labels of an output count, the items returned.
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
        rows, columns, values = [], [], []
        for system, own in enumerate(parts):
            for part, (mine, other) in enumerate(zip(own, parts[0], strict=True)):
                there = np.flatnonzero(mine != other)
                values.append(mine[there] - other[there])
                rows.append((system * n_parts + part) * n_labels + first.label[there])
                columns.append(first.unit[there])
        units, column = np.unique(np.concatenate(columns), return_inverse=True)
        shape = (totals.size, len(units))
        places = (np.concatenate(rows), column)
        table = sparse.coo_array((np.concatenate(values), places), shape=shape).tocsr()
        whole = not (table.data % 1).any() and totals.max(initial=0) < _EXACT
        least = first.sum_by_label(np.min([own[1] for own in parts], axis=0))
        return cls(
            table.astype(np.float32 if whole else np.float64),
            units,
            totals.reshape(len(cells), n_parts, n_labels),
            labels[chosen],
            own_labels,
            first.n_units,
            bool(np.all(least > TIE)),
        )

    def observed(self, pairs: Sequence[Pair]) -> Array:
        """The differences of the pairs as they are."""
        scores = self.averages(self.totals[..., None])[:, 0]
        return np.array([abs(scores[j] - scores[i]) for i, j in pairs])

    def draw(self, generator: np.random.Generator, number: int) -> Iterator[Array]:
        """Exchange all units at random so many times, some at once.

        The sums over the exchanged ones: by system, part, label and draw.
        """
        n_bytes = -(-number // 8)
        words = generator.integers(2**64, size=-(-self.n_units * n_bytes // 8), dtype=np.uint64)
        raw = words.astype("<u8", copy=False).view(np.uint8)[: self.n_units * n_bytes]
        bits = raw.reshape(self.n_units, n_bytes)[self.units]
        step = max(1, _NUMBERS // max(1, len(self.units), self.totals.size) // 8)
        for start in range(0, n_bytes, step):
            flipped = np.unpackbits(bits[:, start : start + step], axis=1)
            flipped = flipped[:, : number - 8 * start].astype(self.table.dtype)
            yield np.asarray(self.table @ flipped).reshape(*self.totals.shape, -1)

    def count_extreme(
        self, given: Array, sides: NDArray[np.intp], observed: Array
    ) -> NDArray[np.int64]:
        """How many exchanges make the difference of each pair at least as large."""
        width = max(1, given[0].size)
        extreme = np.empty(len(sides), dtype=np.int64)
        for start in range(0, len(sides), step := max(1, _PAIRS // width)):
            some = slice(start, start + step)
            i, j = sides[some].T
            moved = np.subtract(given[j], given[i], dtype=np.float64)
            new_i = self.averages(self.totals[i][..., None] + moved)
            new_j = self.averages(self.totals[j][..., None] - moved)
            reached = np.abs(new_j - new_i) >= observed[some, None] - TIE
            extreme[some] = np.count_nonzero(reached, axis=1)
        return extreme

    def averages(self, sums: Array) -> Array:
        """The macro averages of sums by part, label and draw."""
        top, bottom = sums[:, 0], sums[:, 1]
        if self.defined:
            scores = top / bottom
        else:  # sums of fractions come back as 0 only up to rounding
            scores = np.divide(top, bottom, out=np.zeros_like(top), where=bottom > TIE)
        if not self.own_labels:
            return np.asarray(scores.sum(axis=1) / max(1, scores.shape[1]))
        counts = self.always[:, None] | (sums[:, 2] > TIE)
        return np.asarray((scores * counts).sum(axis=1) / np.maximum(1, counts.sum(axis=1)))
