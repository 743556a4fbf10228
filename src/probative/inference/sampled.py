"""Sample exchange tests until the decision is clear."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from probative._validation import RNG, Array, Mask, random_generator
from probative.inference.groups import adjust_pvalues
from probative.inference.intervals import clopper_pearson
from probative.results import NullDistribution, RandomizationTest
from probative.workers import in_threads

if TYPE_CHECKING:
    Numbers = NDArray[np.int64]
    Known = tuple[float, int]
    DrawOfTests = Callable[[np.random.Generator, int, Numbers], ArrayLike]
    Pair = tuple[int, int]


# --- Sampled p-values, drawn until they are clear of the levels
#
# A sampled test estimates the p-value of the complete test: the probability of a draw at least as
# extreme as the data. The number of draws that it needs depends on the distance of that p-value
# from the levels it is compared with. So there are a few looks at fixed numbers of draws, and
# drawing stops at the first look at which the Clopper-Pearson interval excludes every level. An
# error of 1e-4 is divided among the looks. By the union bound, all intervals together hold the
# p-value with probability 0.9999, whatever the stopping, and so often every decision is that of the
# complete test. (An anytime-valid interval would be wider: it allows for a look after every draw.)
#
# If several p-values are adjusted for their number, a decision about one depends on the others.
# Decisions are clear as soon as they are the same wherever in their intervals the p-values lie.
# Adjustments are monotone, so the lower and the upper ends of the intervals show this.
#
# References: A. Gandy, "Sequential implementation of Monte Carlo tests with uniformly bounded
# resampling risk", 2009. A. Gandy & G. Hahn, "MMCTest: a safe algorithm for implementing multiple
# Monte Carlo tests", 2014.

LEVELS = (0.05, 0.01)
ERROR = 1e-4  # probability that a decision differs from that of the complete test
MOST = 10**6  # draws
_DRAWS_PER_STREAM = 1024  # each stream has its own generator: results do not depend on n_jobs
_DRAWS_AT_FIRST_LOOK = 2 * _DRAWS_PER_STREAM
_GROWTH_BETWEEN_LOOKS = 1.25  # of the number of draws


@dataclass(frozen=True)
class SampledPvalue:
    """A sampled p-value with its interval."""

    pvalue: float  # (extreme + 1) / (draws + 1)
    # an interval of the p-value of the complete test, whenever drawing stops
    low: float
    high: float
    draws: int
    extreme: int  # draws at least as extreme as the data
    levels: tuple[float, ...] = LEVELS
    undecided: tuple[float, ...] = ()  # levels that the interval does not exclude

    @property
    def clear(self) -> bool:
        """Return True if the decision is clear at every level."""
        return not self.undecided

    @property
    def standard_error(self) -> float:
        """Return the Monte Carlo error of the estimate, as for a fixed number of draws."""
        return sqrt(self.pvalue * (1 - self.pvalue) / self.draws)

    def __str__(self) -> str:
        within = f"after {self.draws:,} draws: p between {self.low:.4g} and {self.high:.4g}"
        levels = " and ".join(f"{level:g}" for level in self.undecided or self.levels)
        return f"{'decided' if self.clear else 'undecided'} at {levels} {within}"


def levels_at(level: float) -> tuple[float, ...]:
    """Return the levels that p-values are compared with, next to intervals of this level."""
    own = round(1 - level, 12)
    return tuple(sorted({*LEVELS, own}, reverse=True))


def sequential_pvalue(draw: Callable[[np.random.Generator, int], int], **how: Any) -> SampledPvalue:
    """Sample a p-value under the null hypothesis with as many draws as the decision needs."""
    return sequential_pvalues(lambda own, number, tests: [draw(own, number)], 1, **how)[0]


def sequential_pvalues(
    draw: DrawOfTests,
    n_tests: int,
    *,
    levels: Sequence[float] = LEVELS,
    adjust: str | None = "holm",
    plain: bool = True,
    known: Mapping[int, Known] | None = None,
    n_resamples: int | None = None,
    most: int = MOST,
    rng: RNG | None = None,
    n_jobs: int | None = 1,
    report: Callable[[int, int], None] | None = None,
) -> list[SampledPvalue]:
    """Sample the p-values of several tests, each with as many draws as its decisions need."""
    # `draw` gets a generator, a number of draws and the indices of the open tests, and returns how
    # many draws are at least as extreme as the data, for each; calls may come from several threads.
    # P-values are compared with the levels adjusted by `adjust`, and unadjusted, too, if `plain`.
    # `known` holds p-values by test with their numbers of draws (0: exact), from which drawing goes
    # on. `ERROR` is that of all tests together. The result depends on `rng`, not on `n_jobs`.
    levels = tuple(levels)
    seed = int(random_generator(rng).integers(2**63))
    planned = [n_resamples] if n_resamples is not None else looks(most)
    # the draws of every test so far, and the interval of its p-value
    extreme, draws = (np.zeros(n_tests, dtype=np.int64) for _ in range(2))
    low, high = np.zeros(n_tests), np.ones(n_tests)
    for test, (pvalue, number) in (known or {}).items():
        if number == 0:
            low[test] = high[test] = pvalue
        elif number in planned:  # drawing can go on only from a planned number of draws
            extreme[test], draws[test] = round(pvalue * (number + 1)) - 1, number

    def limit(tests: Numbers) -> Mask:
        """Update the intervals of some tests; return by level and test if both decisions may be."""
        each = ERROR / (len(planned) * max(1, n_tests))
        low[tests], high[tests] = clopper_pearson(extreme[tests], draws[tests], each / 2)
        sides = [(low, high)] if plain or adjust is None else []
        if adjust is not None:
            sides.append((adjust_pvalues(low, adjust), adjust_pvalues(high, adjust)))
        return np.array([np.any([(a <= t) & (b > t) for a, b in sides], axis=0) for t in levels])

    def drawn(tests: Numbers, end: int, at: int) -> Numbers:
        """Draw the stream that begins at this draw, and return the counts of the open tests."""
        own = np.random.default_rng((seed, at // _DRAWS_PER_STREAM))
        count = np.asarray(draw(own, min(_DRAWS_PER_STREAM, end - at), tests))
        return count.astype(np.int64)

    unclear = limit(np.flatnonzero(draws))
    unsettled = unclear.any(axis=0)
    for start, end in zip([0, *planned], planned, strict=False):
        tests = np.flatnonzero(unsettled & (draws < end))
        if not len(tests):
            continue
        streams = range(start, end, _DRAWS_PER_STREAM)
        for count in in_threads(partial(drawn, tests, end), streams, n_jobs):
            extreme[tests] += count
        draws[tests] = end
        unclear = np.where(unsettled, limit(tests), unclear)  # a decision once clear stays clear
        unsettled = unclear.any(axis=0)
        if report is not None:
            report(int(n_tests - unsettled.sum()), n_tests)
    columns = (part.tolist() for part in (extreme, draws, low, high))
    open_at = [tuple(compress(levels, row)) for row in unclear.T]
    return [
        SampledPvalue((x + 1) / (n + 1) if n else most, least, most, n, x, levels, undecided)
        for x, n, least, most, undecided in zip(*columns, open_at, strict=True)
    ]


def looks(most: int = MOST) -> list[int]:
    """Return the numbers of draws at the looks: they grow by a quarter, in whole streams."""
    numbers = [min(_DRAWS_AT_FIRST_LOOK, most)]
    while numbers[-1] < most:
        wanted = max(numbers[-1] + _DRAWS_AT_FIRST_LOOK, _GROWTH_BETWEEN_LOOKS * numbers[-1])
        numbers.append(min(most, _DRAWS_AT_FIRST_LOOK * ceil(wanted / _DRAWS_AT_FIRST_LOOK)))
    return numbers


# --- Sampled tests of all pairs of systems, for any score
#
# The exchanged units are drawn once for all pairs. A unit's part in the sums of a system is stored
# as its difference from the part in the first system's sums; few units distinguish systems, so the
# table is sparse. One matrix product gives the sums over the exchanged units for all pairs: an
# exchange changes the sums of two systems by the difference of two of its rows.
#
# If few pairs are open, each is tested by itself, because the units that distinguish two systems
# are of few kinds.

TIE = 1e-12  # differences this close are equal but for rounding
_NUMBERS_IN_MEMORY = 1 << 23  # at once
_NUMBERS_OF_PAIRS_AT_ONCE = 1 << 18  # so few that they stay in the cache
_EXACT_IN_SINGLE_PRECISION = 1 << 24  # whole numbers up to this


class SharedExchanges:
    """Each unit's part in the sums behind the scores of all systems."""

    def __init__(
        self,
        # rows, units and values of each unit's part less the part in the first system's sums
        differences: Sequence[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]],
        totals: Array,  # systems on the first axis; the other axes are up to `scores`
        n_units: int,
        scores: Callable[[Array], Array],  # of sums, shaped as `totals` with a last axis of draws
    ) -> None:
        rows, columns, values = (np.concatenate(parts) for parts in zip(*differences, strict=True))
        self.units, column = np.unique(columns, return_inverse=True)  # on which systems differ
        # one row per system and sum, one column per unit
        shape = (totals.size, len(self.units))
        table = sparse.coo_array((values, (rows, column)), shape=shape).tocsr()
        whole = not (table.data % 1).any() and totals.max(initial=0) < _EXACT_IN_SINGLE_PRECISION
        self.table = table.astype(np.float32 if whole else np.float64)
        self.totals, self.n_units, self.scores = totals, n_units, scores

    def observed(self, pairs: Sequence[Pair]) -> Array:
        """Return the observed absolute differences of the pairs."""
        scores = self.scores(self.totals[..., None])[:, 0]
        return np.array([abs(scores[j] - scores[i]) for i, j in pairs])

    def draw(self, generator: np.random.Generator, number: int) -> Iterator[Array]:
        """Exchange all units at random `number` times, in batches."""
        n_bytes = -(-number // 8)
        words = generator.integers(2**64, size=-(-self.n_units * n_bytes // 8), dtype=np.uint64)
        raw = words.astype("<u8", copy=False).view(np.uint8)[: self.n_units * n_bytes]
        bits = raw.reshape(self.n_units, n_bytes)[self.units]
        step = max(1, _NUMBERS_IN_MEMORY // max(1, len(self.units), self.totals.size) // 8)
        for start in range(0, n_bytes, step):
            flipped = np.unpackbits(bits[:, start : start + step], axis=1)
            flipped = flipped[:, : number - 8 * start].astype(self.table.dtype)
            yield np.asarray(self.table @ flipped).reshape(*self.totals.shape, -1)

    def count_extreme(
        self, given: Array, sides: NDArray[np.intp], observed: Array
    ) -> NDArray[np.int64]:
        """Count the exchanges with a difference at least as large as observed, by pair."""
        width = max(1, given[0].size)
        extreme = np.empty(len(sides), dtype=np.int64)
        for start in range(0, len(sides), step := max(1, _NUMBERS_OF_PAIRS_AT_ONCE // width)):
            some = slice(start, start + step)
            i, j = sides[some].T
            moved = np.subtract(given[j], given[i], dtype=np.float64)
            new_i = self.scores(self.totals[i][..., None] + moved)
            new_j = self.scores(self.totals[j][..., None] - moved)
            reached = np.abs(new_j - new_i) >= observed[some, None] - TIE
            extreme[some] = np.count_nonzero(reached, axis=1)
        return extreme


# --- Sums over units that are flipped with probability ½
#
# Equal units are not flipped one by one: the number of flipped units out of n is the number of ones
# among n random bits, counted byte by byte; for hundreds of units it is a binomial variate.

_FEWEST_UNITS_FOR_BINOMIAL = 256  # from here on a binomial variate is quicker than bits
_BYTES_AT_ONCE = 1 << 22
# masks of every other bit, pair of bits and four bits of a word
_ODD_BITS, _ODD_PAIRS, _ODD_FOURS = (
    np.uint64(int.from_bytes(bytes([byte] * 8))) for byte in (0x55, 0x33, 0x0F)
)


class _UnitFlips:
    """Sums over units, each of which is flipped with probability ½."""

    # `table` is sparse: one row per sum, one column per kind of unit

    def __init__(self, table: Any, number: NDArray[np.int64]):
        many = number >= _FEWEST_UNITS_FOR_BINOMIAL
        self._many = number[many]
        few = number[~many]
        n_bytes = (few + 7) // 8
        # one column per byte; in the last byte of a kind only some bits are units
        self._mask = np.full(int(n_bytes.sum()), 255, dtype=np.uint8)
        self._mask[np.cumsum(n_bytes) - 1] = (1 << (few - 8 * (n_bytes - 1))) - 1
        of_bytes = np.repeat(np.flatnonzero(~many), n_bytes)
        reach = abs(table) @ number if len(number) else np.zeros(1)
        whole = not (table.data % 1).any() and reach.max(initial=0) < _EXACT_IN_SINGLE_PRECISION
        dtype = np.float32 if whole else np.float64
        columns = np.concatenate([of_bytes, np.flatnonzero(many)])
        self._table = sparse.csr_array(table.astype(dtype)[:, columns])

    def draw(self, generator: np.random.Generator, number: int) -> Iterator[Array]:
        """Flip all units `number` times in batches; yield one row per sum, one column per time."""
        width = max(1, self._table.shape[1])
        at_once = max(8, _BYTES_AT_ONCE // width)
        for start in range(0, number, at_once):
            times = min(at_once, number - start)
            flipped = np.empty((self._table.shape[1], times), dtype=self._table.dtype)
            flipped[: len(self._mask)] = self._ones(generator, times)
            flipped[len(self._mask) :] = generator.binomial(
                self._many[:, None], 0.5, (len(self._many), times)
            )
            yield np.asarray(self._table @ flipped, dtype=np.float64)

    def _ones(self, generator: np.random.Generator, times: int) -> NDArray[np.uint8]:
        """Return the number of flipped units in every byte."""
        size = len(self._mask) * times
        words = generator.integers(2**64, size=-(-size // 8), dtype=np.uint64, endpoint=False)
        words = words.astype("<u8", copy=False)
        raw = words.view(np.uint8)[:size].reshape(len(self._mask), times)
        raw &= self._mask[:, None]
        # replace every byte by the number of its ones: pairs, then fours, then eights of bits
        words -= (words >> 1) & _ODD_BITS
        fours = words & _ODD_PAIRS
        words >>= 2
        words &= _ODD_PAIRS
        words += fours
        words += words >> 4
        words &= _ODD_FOURS
        return raw


# --- The exchange test of one pair, for scores without an exact one

_BINS_PER_SIDE, _REACH_OF_BINS = 20, 4.0  # of the null distribution's histogram, in deviations


class SampledExchange:
    """Random exchanges of the units of two systems, and what they do to the scores."""

    # `a` and `b` are the sums behind the two scores. `moves` is sparse: one row per sum, one column
    # per kind of unit, with what a flipped unit adds to `base` (by default to the sums of B).
    # `scores` turns sums into scores, with draws on the last axis. `keep` keeps all differences.

    def __init__(
        self,
        a: Array,
        b: Array,
        moves: Any,
        number: NDArray[np.int64],
        scores: Callable[[Array], Array],
        n_units: int,
        *,
        base: Array | None = None,
        keep: bool = False,
    ):
        self.n_units, self._scores = n_units, scores
        of_a, of_b = (float(scores(own[..., None])[0]) for own in (a, b))
        self.observed = of_b - of_a
        self._base, self._total = b if base is None else base, a + b
        self._flips = _UnitFlips(moves, number)
        self._kept: list[Array] | None = [] if keep else None

    def extreme(self, generator: np.random.Generator, number: int) -> int:
        """Count the exchanges, out of `number`, with a difference at least as large as observed."""
        extreme = 0
        for moved in self._flips.draw(generator, number):
            own = self._base[..., None] + moved.reshape(*self._base.shape, moved.shape[-1])
            size = np.abs(self._scores(own) - self._scores(self._total[..., None] - own))
            extreme += int(np.count_nonzero(size >= abs(self.observed) - TIE))
            if self._kept is not None:
                self._kept.append(size)
        return extreme

    def null(self) -> NullDistribution | None:
        """Return the histogram of the drawn differences, with the observed one as an edge."""
        if self._kept is None:
            return None
        size, observed = np.concatenate(self._kept or [np.zeros(1)]), abs(self.observed)
        deviation = float(np.sqrt(np.mean(size**2)))
        span = max(_REACH_OF_BINS * deviation, observed)
        if span == 0:
            return NullDistribution(np.array([-1.0, 1.0]), np.array([1.0]))
        width = span / _BINS_PER_SIDE
        if observed > 0:
            width = observed / max(1, round(observed / width))
        edges = width * np.arange(1, ceil(span / width - 1e-9) + 1)
        tails = 1 - np.searchsorted(np.sort(size), edges - TIE) / len(size)
        return symmetric_histogram(edges, tails / 2)


def symmetric_histogram(edges: Any, tails: Array) -> NullDistribution:
    """Return a symmetric null distribution from positive edges and the upper tails beyond them."""
    outer = np.append(-np.diff(tails)[:-1], tails[-2:-1])
    middle = 1 - 2 * tails[0] if len(edges) > 1 else 1.0
    return NullDistribution(
        np.concatenate([-edges[::-1], edges]), np.concatenate([outer[::-1], [middle], outer])
    )


def sampled_tests(
    exchanges: Sequence[SampledExchange], metric: str, *, by: str = "unit", **how: Any
) -> list[RandomizationTest]:
    """Test several pairs whose p-values will be adjusted by Holm's method; two-sided."""

    def draw(own: np.random.Generator, number: int, tests: NDArray[np.int64]) -> list[int]:
        # one seed per pair: its exchanges do not depend on which other pairs are still open
        seeds = own.integers(2**63, size=len(exchanges)).tolist()
        return [exchanges[i].extreme(np.random.default_rng(seeds[i]), number) for i in tests]

    found = sequential_pvalues(draw, len(exchanges), **how)
    return [
        RandomizationTest(
            metric=metric,
            alternative="two-sided",
            by=by,
            method="sampled",
            statistic=exchange.observed,
            pvalue=1.0 if abs(exchange.observed) <= TIE else own.pvalue,
            n_units=exchange.n_units,
            n_resamples=own.draws,
            standard_error=own.standard_error,
            pvalue_low=own.low,
            pvalue_high=own.high,
            note=str(own),
            null=exchange.null(),
        )
        for exchange, own in zip(exchanges, found, strict=True)
    ]


_EXCHANGES_ALWAYS_ALLOWED = 100_000  # per pair, however many pairs there are
_MOST_EXCHANGES_OF_ALL_PAIRS = 3 * 10**8


def most_exchanges(n_pairs: int) -> int:
    """Return the largest number of exchanges to draw for each of `n_pairs` pairs."""
    return min(
        MOST, max(_EXCHANGES_ALWAYS_ALLOWED, _MOST_EXCHANGES_OF_ALL_PAIRS // max(1, n_pairs))
    )


def kinds_of(keys: Iterable[bytes]) -> NDArray[np.intp]:
    """Return the kind of every system; systems with equal keys are of one kind."""
    kinds: dict[bytes, int] = {}
    return np.array([kinds.setdefault(key, len(kinds)) for key in keys], dtype=np.intp)
