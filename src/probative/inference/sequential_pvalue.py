"""Sampled p-values: drawn until it is clear on which side of a level they lie.

A sampled test estimates a probability: that of a draw at least as extreme as what was observed, the
p-value of the test that draws everything. How many draws it needs depends on how far that lies from
the levels it is compared with. So one looks at a few numbers of draws fixed beforehand, and stops
at the first look at which the interval of Clopper and Pearson leaves out every level. With an error
of 1e-4 shared out among the looks, all intervals together hold the p-value with a probability of
0.9999 (a union bound, whatever the stopping): so often is every decision that of the test that
draws everything. (An interval that is valid at any time, from a mixture of likelihoods, would be
wider: it allows for a look after every draw.)

Where several p-values are adjusted for their number, the decisions about one depend on the others.
They are clear as soon as they are the same wherever within their limits the p-values lie: an
adjustment is monotone, so the lower limits and the upper ones show it.

References: A. Gandy, "Sequential implementation of Monte Carlo tests with uniformly bounded
resampling risk", 2009. A. Gandy & G. Hahn, "MMCTest: a safe algorithm for implementing multiple
Monte Carlo tests", 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative._validation import random_generator
from probative.inference.multiplicity import adjust_pvalues
from probative.workers import in_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from probative._types import RNG, Array, Mask

    Numbers = NDArray[np.int64]
    Known = tuple[float, int]
    Draw = Callable[[np.random.Generator, int], int]
    DrawOfTests = Callable[[np.random.Generator, int, Numbers], ArrayLike]

__all__ = [
    "ERROR",
    "LEVELS",
    "MOST",
    "SampledPvalue",
    "levels_at",
    "limits_of_share",
    "looks",
    "sequential_pvalue",
    "sequential_pvalues",
]

LEVELS = (0.05, 0.01)
ERROR = 1e-4
MOST = 10**6
STREAM = 1024  # draws that one generator makes: the same whoever makes them
_FIRST = 2 * STREAM
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
    >>> from probative.inference.sequential_pvalue import sequential_pvalue
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
    return [(at // STREAM, min(STREAM, end - at)) for at in range(start, end, STREAM)]


def _drawn(draw: DrawOfTests, seed: int, tests: Numbers, stream: tuple[int, int]) -> Numbers:
    place, number = stream
    count = np.asarray(draw(np.random.default_rng((seed, place)), number, tests))
    return count.astype(np.int64)


def _listed(levels: Sequence[float]) -> str:
    return " and ".join(f"{level:g}" for level in levels)
