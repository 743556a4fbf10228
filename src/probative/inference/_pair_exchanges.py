"""The sampled tests of all pairs of systems, whatever their scores are made of.

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
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy import sparse

from probative.inference.sequential_pvalue import MOST, sequential_pvalues

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from probative._types import Array
    from probative.inference.sequential_pvalue import SampledPvalue

    Pair = tuple[int, int]

__all__ = ["PairExchange", "SharedExchanges", "sampled_pair_tests"]

TIE = 1e-12  # a tie that rounding would break is still a tie
_NUMBERS = 1 << 23  # held in memory at once
_PAIRS = 1 << 18  # numbers of some pairs that are worked on at once, so that they stay at hand
_EXACT = 1 << 24  # whole numbers up to this are exact in single precision


class PairExchange(Protocol):
    """The exchanges of one pair by itself."""

    def extreme(self, generator: np.random.Generator, number: int) -> int:
        """How many of so many exchanges make the difference at least as large."""


@dataclass(frozen=True, eq=False)
class SharedExchanges:
    """What every unit adds to the sums that the scores of all systems are made of.

    Attributes
    ----------
    table
        A row per system and sum: how much more than to those of the first system a unit adds; a
        column per unit on which systems differ.
    units
        Which units these are.
    totals
        The sums over all units, by system; what follows is up to `scores`.
    n_units
        How many units there are in all.
    scores
        Turns sums of systems, in the shape of `totals` and a last axis of draws, into scores.
    """

    table: Any
    units: NDArray[np.intp]
    totals: Array
    n_units: int
    scores: Callable[[Array], Array]

    @classmethod
    def of(
        cls,
        differences: Sequence[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]],
        totals: Array,
        n_units: int,
        scores: Callable[[Array], Array],
    ) -> SharedExchanges:
        """From the rows, units and values of the differences, part by part."""
        rows, columns, values = (np.concatenate(parts) for parts in zip(*differences, strict=True))
        units, column = np.unique(columns, return_inverse=True)
        shape = (totals.size, len(units))
        table = sparse.coo_array((values, (rows, column)), shape=shape).tocsr()
        whole = not (table.data % 1).any() and totals.max(initial=0) < _EXACT
        return cls(
            table.astype(np.float32 if whole else np.float64), units, totals, n_units, scores
        )

    def observed(self, pairs: Sequence[Pair]) -> Array:
        """The differences of the pairs as they are."""
        scores = self.scores(self.totals[..., None])[:, 0]
        return np.array([abs(scores[j] - scores[i]) for i, j in pairs])

    def draw(self, generator: np.random.Generator, number: int) -> Iterator[Array]:
        """Exchange all units at random so many times, some at once.

        The sums over the exchanged ones: in the shape of `totals`, and by draw.
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
            new_i = self.scores(self.totals[i][..., None] + moved)
            new_j = self.scores(self.totals[j][..., None] - moved)
            reached = np.abs(new_j - new_i) >= observed[some, None] - TIE
            extreme[some] = np.count_nonzero(reached, axis=1)
        return extreme


def sampled_pair_tests(
    shared: SharedExchanges,
    alone: Callable[[int], PairExchange],
    pairs: Sequence[Pair],
    *,
    few: int,
    level: float = 0.95,
    adjust: str = "holm",
    known: Mapping[Pair, tuple[float, int]] | None = None,
    n_resamples: int | None = None,
    most: int = MOST,
    seed: int = 0,
    n_jobs: int | None = 1,
    report: Callable[[int, int], None] | None = None,
) -> list[SampledPvalue]:
    """The p-values of pairs of systems, two-sided, from exchanges of whole units.

    Parameters
    ----------
    shared
        What all pairs exchange.
    alone
        What a pair exchanges by itself, by its number.
    pairs
        The numbers of the two systems of each pair.
    few
        How many open pairs are quicker tested one by one.
    level, adjust
        With what the adjusted p-values will be compared: exchanges are drawn until that is clear.
    known, n_resamples, most, n_jobs, report
        As for `probative.inference.sequential_pvalue.sequential_pvalues`; what is known, by pair.
    seed
        For the exchanges.
    """
    observed = shared.observed(pairs)
    sides = np.array(pairs, dtype=np.intp).reshape(-1, 2)

    def draw(
        generator: np.random.Generator, number: int, tests: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        if len(tests) <= few:
            # the exchanges of a pair do not depend on which others are still open
            seeds = generator.integers(2**63, size=len(pairs))[tests].tolist()
            drawn = zip(tests.tolist(), map(np.random.default_rng, seeds), strict=True)
            return np.array([alone(test).extreme(own, number) for test, own in drawn])
        extreme = np.zeros(len(tests), dtype=np.int64)
        for flipped in shared.draw(generator, number):
            extreme += shared.count_extreme(flipped, sides[tests], observed[tests])
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
