"""Sample exchange tests until the decision is clear."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy import sparse, special

from probative._validation import random_generator
from probative.inference.multiplicity import adjust_pvalues
from probative.workers import in_processes, in_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from probative._validation import RNG, Array, Mask
    from probative.inference.pairs import KnownTests


# -----------------------------------------------------------------------------
# Sampled p-values: drawn until it is clear on which side of a level they lie.
#
# A sampled test estimates a probability: that of a draw at least as extreme as what was observed,
# the p-value of the test that draws everything. How many draws it needs depends on how far that
# lies from the levels it is compared with. So one looks at a few numbers of draws fixed
# beforehand, and stops at the first look at which the interval of Clopper and Pearson leaves out
# every level. With an error of 1e-4 shared out among the looks, all intervals together hold the
# p-value with a probability of 0.9999 (a union bound, whatever the stopping): so often is every
# decision that of the test that draws everything. (An interval that is valid at any time, from a
# mixture of likelihoods, would be wider: it allows for a look after every draw.)
#
# Where several p-values are adjusted for their number, the decisions about one depend on the
# others. They are clear as soon as they are the same wherever within their limits the p-values
# lie: an adjustment is monotone, so the lower limits and the upper ones show it.
#
# References: A. Gandy, "Sequential implementation of Monte Carlo tests with uniformly bounded
# resampling risk", 2009. A. Gandy & G. Hahn, "MMCTest: a safe algorithm for implementing multiple
# Monte Carlo tests", 2014.
# -----------------------------------------------------------------------------

if TYPE_CHECKING:
    Numbers = NDArray[np.int64]
    Known = tuple[float, int]
    Draw = Callable[[np.random.Generator, int], int]
    DrawOfTests = Callable[[np.random.Generator, int, Numbers], ArrayLike]


LEVELS = (0.05, 0.01)
ERROR = 1e-4
MOST = 10**6
_STREAM = 1024  # draws that one generator makes: the same whoever makes them
_FIRST = 2 * _STREAM
_GROWTH = 1.25  # of the number of draws from one look to the next


@dataclass(frozen=True)
class SampledPvalue:
    """What draws tell of a p-value.

    Attributes
    ----------
    pvalue
        The estimate, (extreme + 1) / (draws + 1).
    low, high
        Between these the p-value of the test that draws everything lies, with a probability of one
        minus the error, however drawing came to stop.
    draws, extreme
        How many draws there were, and how many of them were at least as extreme as the data.
    levels, undecided
        With which levels it is compared, and those of which it is not clear whether it exceeds
        them.
    """

    pvalue: float
    low: float
    high: float
    draws: int
    extreme: int
    levels: tuple[float, ...] = LEVELS
    undecided: tuple[float, ...] = ()

    @property
    def clear(self) -> bool:
        """Whether it is clear at every level."""
        return not self.undecided

    @property
    def standard_error(self) -> float:
        """The Monte-Carlo error of the estimate, as of a fixed number of draws."""
        return sqrt(self.pvalue * (1 - self.pvalue) / self.draws)

    def __str__(self) -> str:
        within = f"p between {self.low:.4g} and {self.high:.4g}"
        if self.clear:
            return f"decided at {_listed(self.levels)} after {self.draws:,} draws: {within}"
        return f"undecided at {_listed(self.undecided)} after {self.draws:,} draws: {within}"


def levels_at(level: float) -> tuple[float, ...]:
    """The levels that p-values are compared with, where intervals have this one."""
    own = round(1 - level, 12)
    return tuple(sorted({*LEVELS, own}, reverse=True))


def sequential_pvalue(
    draw: Draw,
    *,
    levels: Sequence[float] = LEVELS,
    n_resamples: int | None = None,
    most: int = MOST,
    error: float = ERROR,
    rng: RNG | None = None,
    n_jobs: int | None = 1,
) -> SampledPvalue:
    """A p-value from draws under the null hypothesis, as many as it needs.

    Parameters
    ----------
    draw
        Called with a generator and a number of draws; tells how many of them are at least as
        extreme as the data. Each call has a generator of its own, and calls may come from several
        threads at once.
    levels
        With which levels the p-value will be compared.
    n_resamples
        How many draws to make, whatever they show; by default as many as it takes.
    most
        How many draws are made at most.
    error
        The probability with which a decision may differ from that of the test that draws
        everything.
    rng
        A seed or generator; the result depends on it alone, not on the number of jobs.
    n_jobs
        How many threads work at once; -1 for as many as there are cores.

    Examples
    --------
    >>> from probative.inference.sampled import sequential_pvalue
    >>> flips, heads = 20, 16
    >>> def draw(generator, number):
    ...     away = abs(generator.binomial(flips, 0.5, number) - flips / 2)
    ...     return int((away >= heads - flips / 2).sum())
    >>> print(sequential_pvalue(draw, rng=1))
    decided at 0.05 and 0.01 after 61,440 draws: p between 0.01027 and 0.01438
    """
    found = sequential_pvalues(
        lambda generator, number, tests: [draw(generator, number)],
        1,
        levels=levels,
        n_resamples=n_resamples,
        most=most,
        error=error,
        rng=rng,
        n_jobs=n_jobs,
    )
    return found[0]


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
    error: float = ERROR,
    rng: RNG | None = None,
    n_jobs: int | None = 1,
    report: Callable[[int, int], None] | None = None,
) -> list[SampledPvalue]:
    """The p-values of several tests, as many draws for each as its decisions need.

    Parameters
    ----------
    draw
        As for `sequential_pvalue`; the third argument holds the numbers of the tests that are still
        open, and the answer is a count for each of them.
    n_tests
        How many tests there are.
    adjust, plain
        How the p-values will be adjusted for their number, as for `adjust_pvalues`, if they are;
        and whether each will be compared with the levels as it is, too.
    known
        P-values that are known already, by the numbers of their tests, and from how many draws:
        none, if they are exact. If more draws of one are needed, it goes on from there.
    levels, n_resamples, most, error, rng, n_jobs
        As for `sequential_pvalue`. The error is that of all tests together.
    report
        Is told how many tests are done, and how many there are.
    """
    levels = tuple(levels)
    seed = int(random_generator(rng).integers(2**63))
    planned = [n_resamples] if n_resamples is not None else looks(most)
    found = _Found.of(n_tests, error / (len(planned) * max(1, n_tests)), planned, known or {})
    unclear = found.unclear(levels, adjust, plain=plain)
    unsettled = unclear.any(axis=0)
    for start, end in zip([0, *planned], planned, strict=False):
        tests = np.flatnonzero(unsettled & (found.draws < end))
        if not len(tests):
            continue
        work = partial(_drawn, draw, seed, tests)
        for count in in_threads(work, _streams(start, end), n_jobs):
            found.extreme[tests] += count
        found.draws[tests] = end
        found.limit(tests)
        now = found.unclear(levels, adjust, plain=plain)
        unclear = np.where(unsettled, now, unclear)  # what is clear stays so
        unsettled = unclear.any(axis=0)
        if report is not None:
            report(int(n_tests - unsettled.sum()), n_tests)
    return found.pvalues(levels, unclear)


@dataclass
class _Found:
    """What is known of several p-values so far."""

    extreme: Numbers
    draws: Numbers
    low: Array
    high: Array
    error: float  # of each interval

    @classmethod
    def of(
        cls, n_tests: int, error: float, planned: Sequence[int], known: Mapping[int, Known]
    ) -> _Found:
        extreme, draws = (np.zeros(n_tests, dtype=np.int64) for _ in range(2))
        found = cls(extreme, draws, np.zeros(n_tests), np.ones(n_tests), error)
        for test, (pvalue, number) in known.items():
            if number == 0:
                found.low[test] = found.high[test] = pvalue
            elif number in planned:  # of other numbers it would not be known when to go on
                extreme[test], draws[test] = round(pvalue * (number + 1)) - 1, number
        found.limit(np.flatnonzero(draws))
        return found

    def limit(self, tests: Numbers) -> None:
        """Limit the p-values of some tests, from all their draws."""
        self.low[tests], self.high[tests] = limits_of_share(
            self.extreme[tests], self.draws[tests], self.error
        )

    def unclear(self, levels: Sequence[float], adjust: str | None, *, plain: bool) -> Mask:
        """For which levels (rows) and tests a decision depends on where within its limits p is."""
        sides = [(self.low, self.high)] if plain or adjust is None else []
        if adjust is not None:
            sides.append((adjust_pvalues(self.low, adjust), adjust_pvalues(self.high, adjust)))
        return np.array(
            [np.any([(low <= t) & (high > t) for low, high in sides], axis=0) for t in levels]
        )

    def pvalues(self, levels: tuple[float, ...], unclear: Mask) -> list[SampledPvalue]:
        """The results, one per test."""
        counts = zip(self.extreme.tolist(), self.draws.tolist(), strict=True)
        limits = zip(self.low.tolist(), self.high.tolist(), strict=True)
        open_at = [tuple(t for t, own in zip(levels, row, strict=True) if own) for row in unclear.T]
        return [
            SampledPvalue((x + 1) / (n + 1) if n else high, low, high, n, x, levels, undecided)
            for (x, n), (low, high), undecided in zip(counts, limits, open_at, strict=True)
        ]


def looks(most: int = MOST) -> list[int]:
    """After how many draws one looks: the numbers grow by a quarter, in whole streams."""
    numbers = [min(_FIRST, most)]
    while numbers[-1] < most:
        wanted = max(numbers[-1] + _FIRST, _GROWTH * numbers[-1])
        numbers.append(min(most, _FIRST * ceil(wanted / _FIRST)))
    return numbers


def limits_of_share(extreme: ArrayLike, draws: ArrayLike, error: float) -> tuple[Array, Array]:
    """The limits of Clopper and Pearson, which miss the truth with at most this probability."""
    x, n = (np.asarray(part, dtype=np.float64) for part in (extreme, draws))
    inner = np.maximum(x, 1)
    low = np.where(x > 0, special.betaincinv(inner, n - inner + 1, error / 2), 0.0)
    inner = np.minimum(x, n - 1)
    high = np.where(x < n, special.betainccinv(inner + 1, n - inner, error / 2), 1.0)
    return low, high


def _streams(start: int, end: int) -> list[tuple[int, int]]:
    """The numbers of the streams between two looks, and how many draws each makes."""
    return [(at // _STREAM, min(_STREAM, end - at)) for at in range(start, end, _STREAM)]


def _drawn(draw: DrawOfTests, seed: int, tests: Numbers, stream: tuple[int, int]) -> Numbers:
    place, number = stream
    count = np.asarray(draw(np.random.default_rng((seed, place)), number, tests))
    return count.astype(np.int64)


def _listed(levels: Sequence[float]) -> str:
    return " and ".join(f"{level:g}" for level in levels)


# -----------------------------------------------------------------------------
# The sampled tests of all pairs of systems, whatever their scores are made of.
#
# Which units are exchanged is drawn once for all pairs. What a unit adds to the sums of a system
# is known as its difference from what it adds to those of the first: few units tell systems apart,
# so that a table of the differences is nearly empty. The sums over the exchanged units are one
# product of matrices, whatever the number of pairs; two systems that exchange these units change
# their sums by the difference of two of its rows.
#
# Where few pairs are open, each is tested by itself: the units that tell two systems apart are of
# few kinds.
# -----------------------------------------------------------------------------

if TYPE_CHECKING:
    Pair = tuple[int, int]


TIE = 1e-12  # a tie that rounding would break is still a tie
_NUMBERS = 1 << 23  # held in memory at once
_PAIRS = 1 << 18  # numbers of some pairs that are worked on at once, so that they stay at hand
_EXACT = 1 << 24  # whole numbers up to this are exact in single precision


class _PairExchange(Protocol):
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
    alone: Callable[[int], _PairExchange],
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
        As for `probative.inference.sampled.sequential_pvalues`; what is known, by pair.
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


# -----------------------------------------------------------------------------
# Every unit is flipped with probability ½, and what the flipped ones hold is added up.
#
# Units that hold the same need not be flipped one by one: how many of n are flipped is the number
# of ones among n random bits, counted byte by byte; of hundreds of units it is drawn as a binomial
# variate.
# -----------------------------------------------------------------------------

_MANY = 256  # units from which on a binomial variate is quicker than bits
_BYTES_AT_ONCE = 1 << 22
# masks of every other bit, pair and four of a word
_ODD_BITS, _ODD_PAIRS, _ODD_FOURS = (
    np.uint64(int.from_bytes(bytes([byte] * 8))) for byte in (0x55, 0x33, 0x0F)
)


class UnitFlips:
    """Sums over units, each of which is flipped with probability ½.

    Parameters
    ----------
    table
        What is added up: a sparse array with a row per sum and a column per kind of unit.
    number
        How many units there are of every kind.
    """

    def __init__(self, table: Any, number: NDArray[np.int64]):
        self.n_sums = table.shape[0]
        many = number >= _MANY
        self._many = number[many]
        few = number[~many]
        n_bytes = (few + 7) // 8
        # a column per byte; of the last byte of a kind some bits alone are units
        self._mask = np.full(int(n_bytes.sum()), 255, dtype=np.uint8)
        self._mask[np.cumsum(n_bytes) - 1] = (1 << (few - 8 * (n_bytes - 1))) - 1
        of_bytes = np.repeat(np.flatnonzero(~many), n_bytes)
        reach = abs(table) @ number if len(number) else np.zeros(1)
        whole = not (table.data % 1).any() and reach.max(initial=0) < _EXACT
        dtype = np.float32 if whole else np.float64
        columns = np.concatenate([of_bytes, np.flatnonzero(many)])
        self._table = sparse.csr_array(table.astype(dtype)[:, columns])

    def draw(self, generator: np.random.Generator, number: int) -> Iterator[Array]:
        """Flip all units so many times: a row per sum, a column per time; some at once."""
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
        """How many units of every byte are flipped."""
        size = len(self._mask) * times
        words = generator.integers(2**64, size=-(-size // 8), dtype=np.uint64, endpoint=False)
        words = words.astype("<u8", copy=False)
        raw = words.view(np.uint8)[:size].reshape(len(self._mask), times)
        raw &= self._mask[:, None]
        _count_ones(words)
        return raw


def _count_ones(words: NDArray[np.uint64]) -> None:
    """Replace every byte by the number of its ones, eight bytes at a time: pairs, fours, eights."""
    words -= (words >> 1) & _ODD_BITS
    fours = words & _ODD_PAIRS
    words >>= 2
    words &= _ODD_PAIRS
    words += fours
    words += words >> 4
    words &= _ODD_FOURS


# -----------------------------------------------------------------------------
# Pairs of systems of which nothing is exact: sampled tests, and limits pair by pair.
# -----------------------------------------------------------------------------

if TYPE_CHECKING:
    KnownLimits = MutableMapping[tuple[int, int], tuple[float, float, float]]


_ALWAYS = 100_000  # exchanges that may be drawn, however many pairs there are
_OF_ALL_PAIRS = 3 * 10**8
_ENOUGH = 20  # pairs from which on other processes are worth their start


def most_exchanges(n_pairs: int) -> int:
    """How many exchanges may be drawn for one of so many pairs."""
    return min(MOST, max(_ALWAYS, _OF_ALL_PAIRS // max(1, n_pairs)))


def kinds_of(keys: Iterable[bytes]) -> NDArray[np.intp]:
    """The kind of every system, from all that counts of it: copies are of one kind."""
    kinds: dict[bytes, int] = {}
    return np.array([kinds.setdefault(key, len(kinds)) for key in keys], dtype=np.intp)


def sample_pairs(
    find: Callable[..., Any], kind: NDArray[np.intp], tested: KnownTests | None
) -> dict[str, Any]:
    """Test all pairs of systems; what is found, as `Evidence` has it.

    Parameters
    ----------
    find
        The tests of pairs, as for `macro_pair_tests`, but for its systems.
    kind
        The kind of every system.
    tested
        As for `probative.inference.pairs.pair_tests`.
    """
    k = len(kind)
    tested = {} if tested is None else tested
    pairs = list(combinations(range(k), 2))
    same = {pair: (1.0, 0) for pair in pairs if kind[pair[0]] == kind[pair[1]]}
    found = find(pairs, known={**tested, **same}, most=most_exchanges(len(pairs)))
    pvalues, draws = np.ones((k, k)), [own.draws for own in found if own.draws]
    for (i, j), own in zip(pairs, found, strict=True):
        pvalues[i, j] = pvalues[j, i] = own.pvalue
        if (i, j) not in same:
            tested[i, j] = own.pvalue, own.draws
    return {
        "pvalues": pvalues,
        "sampled": len(pairs),
        "unclear": sum(not own.clear for own in found),
        "draws": (min(draws, default=0), max(draws, default=0)),
    }


def limits_of_pairs(
    find: Callable[[float, tuple[Any, Any]], tuple[float, float]],
    systems: Sequence[Any],
    there: Sequence[int],
    limited: KnownLimits | None,
    *,
    n_jobs: int | None,
) -> Callable[[float], tuple[Array, Array]]:
    """What turns a normal quantile into the limits of all differences, row minus column.

    Parameters
    ----------
    find
        The limits of the difference of two systems at a level, the second minus the first.
    systems, there
        All systems, and the numbers of those that are judged.
    limited
        Limits that are known already, by the numbers of the two systems, the lower first: how many
        standard errors they reach, and the limits. What is new is added.
    n_jobs
        How many processes work at once, where there are enough pairs.
    """

    def limits(quantile: float) -> tuple[Array, Array]:
        level = float(special.erf(quantile / np.sqrt(2)))
        known = {} if limited is None else limited
        wanted = list(combinations(there, 2))
        unknown = [pair for pair in wanted if known.get(pair, (None,))[0] != quantile]
        # a process is sent the two systems of its pair alone
        parts = [(systems[i], systems[j]) for i, j in unknown]
        jobs = n_jobs if len(parts) >= _ENOUGH else 1
        found = in_processes(partial(find, level), parts, jobs)
        for pair, (_, own) in zip(unknown, found, strict=True):
            known[pair] = quantile, *own
        place = {i: at for at, i in enumerate(there)}
        low, high = np.zeros((len(there), len(there))), np.zeros((len(there), len(there)))
        for i, j in wanted:
            a, b = place[i], place[j]
            _, least, most = known[i, j]
            low[b, a], high[b, a], low[a, b], high[a, b] = least, most, -most, -least
        return low, high

    return limits
