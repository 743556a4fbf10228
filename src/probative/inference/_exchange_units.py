"""The randomisation test by unit: an exact tail probability of a lattice walk.

The law of the walk is tilted so that its mean lies where the difference of the scores equals the
threshold; then it is inverted from its characteristic function, summed against the transform of
the extreme region. A row of that region is an interval, so its transform is a geometric sum. The
tilt keeps the relative accuracy of any p-value, and no grid of the size of the walk is needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from probative.inference._half_binomial import half_binomial
from probative.inference._spectrum import (
    TooLargeError,
    characteristic_function,
    significant_frequencies,
)
from probative.inference._walk import Lattice, Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from fractions import Fraction

    from numpy.typing import NDArray

    from probative.inference._contest import Contest

    Credits = Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]

__all__ = ["Inversion", "UnitExchange", "tail_by_enumeration", "tilt_onto"]

_NEGLIGIBLE = -41.0  # exp(-41) = 1.6e-18
_FEW = 2**12  # outcomes that are quicker written out than transformed
_STEEPEST = 12.0  # a coin with log-odds of 24 is as good as thrown
_NUMBERS_AT_ONCE = 2**20
_BYTES_A_ROW = 200


@dataclass(frozen=True)
class UnitExchange:
    """Every unit is exchanged with probability ½."""

    walk: Walk
    contest: Contest
    memory_limit: float

    @classmethod
    def of(cls, walk: Walk, contest: Contest, memory_limit: float) -> UnitExchange:
        """Set up the exchange, on a line where one number tells the difference."""
        if contest.is_linear:
            walk, contest = walk.projected(*contest.top[:2]), contest.projected()
        return cls(walk, contest, memory_limit)

    def tail(self, threshold: Fraction) -> float:
        """P(difference >= threshold)."""
        if self.walk.has_at_most(_FEW):
            return tail_by_enumeration(self.walk, self.contest, threshold)
        tau = tilt_onto(self.walk, self.contest, threshold)
        return Inversion(self.walk, tau, self.memory_limit).tail(self.contest, threshold)

    def tails(self) -> Callable[[Fraction], float]:
        """P(difference >= threshold) for many thresholds, to a small absolute error."""
        if self.walk.has_at_most(_FEW):
            return self.tail
        untilted = Inversion(self.walk, np.zeros(2), self.memory_limit)
        return lambda threshold: untilted.tail(self.contest, threshold)

    def deviation(self) -> float:
        """About the standard deviation of the difference."""
        slope = self.walk.steps @ self.contest.gradient(*self.walk.centre)
        return float(np.sqrt(self.walk.times @ slope**2) / 2)

    def sample(self, n_resamples: int, rng: np.random.Generator) -> Credits:
        """Draw what A is credited with, a binomial draw for each distinct step."""
        at_once = max(1, _NUMBERS_AT_ONCE // max(1, len(self.walk.times)))
        for start in range(0, n_resamples, at_once):
            size = (min(at_once, n_resamples - start), len(self.walk.times))
            ends = self.walk.base + rng.binomial(self.walk.times, 0.5, size) @ self.walk.steps
            yield ends[:, 0], ends[:, 1]


def tail_by_enumeration(walk: Walk, contest: Contest, threshold: Fraction) -> float:
    """P(difference >= threshold) from all the outcomes of a short walk."""
    ends, probability = walk.base[None, :], np.ones(1)
    for step, n in zip(walk.steps, walk.times.tolist(), strict=True):
        taken = np.arange(n + 1)
        ends = (ends[:, None, :] + taken[:, None] * step).reshape(-1, 2)
        probability = np.outer(probability, half_binomial(taken, n)).reshape(-1)
    return float(np.sum(probability[contest.at_least(ends[:, 0], ends[:, 1], threshold)]))


def tilt_onto(walk: Walk, contest: Contest, threshold: Fraction) -> NDArray[np.float64]:
    """A tilt along the gradient of the difference that brings the mean to the threshold.

    Any tilt gives the same probability; a good one gives it to more digits, so that a rough
    solution will do.
    """
    tau = np.zeros(2)
    if threshold <= 0:
        return tau
    goal = float(threshold)
    for _ in range(4):
        direction = contest.gradient(*_tilted_mean(walk, tau))
        largest = np.max(np.abs(walk.steps @ direction))
        if largest == 0:
            break
        low, high = 0.0, 2 * _STEEPEST / largest
        for _ in range(24):
            middle = (low + high) / 2
            short = contest.difference(*_tilted_mean(walk, middle * direction)) < goal
            low, high = (middle, high) if short else (low, middle)
        tau = high * direction
    return tau


def _tilted_mean(walk: Walk, tau: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(walk.centre + (walk.times * np.tanh(walk.steps @ tau / 2)) @ walk.steps / 2)


class Inversion:
    """A tilted walk, ready to be summed over regions.

    Points are told by their lattice coordinates (i, j), frequencies by their place (k1, k2) in a
    grid as large as the window outside which the walk is negligible.
    """

    def __init__(self, walk: Walk, tau: NDArray[np.float64], memory_limit: float) -> None:
        self.walk = walk
        self.lattice = Lattice.spanned_by(walk)
        a, c, e = self.lattice.a, self.lattice.c, self.lattice.e
        self.tau = np.array([tau[0] * a + tau[1] * c, tau[1] * e])
        steps, times = self.lattice.coordinates(walk.steps), walk.times
        half_odds = walk.steps @ tau / 2
        tilt = np.tanh(half_odds)
        midpoint = times @ steps / 2
        self.origin = np.round(midpoint + (times * tilt) @ steps / 2).astype(np.int64)
        self.rows, self.columns = (_window(s, times, half_odds) for s in steps.T)
        if len(self.rows) * _BYTES_A_ROW > memory_limit:
            raise TooLargeError(len(self.rows) * _BYTES_A_ROW)
        self.shape = _fast_length(len(self.rows)), len(self.columns)
        self.frequencies, log_modulus = significant_frequencies(
            steps, times, tilt, self.shape, _NEGLIGIBLE, memory_limit
        )
        theta = 2 * np.pi * self.frequencies / self.shape
        self.phi = characteristic_function(
            theta, log_modulus, steps, times, tilt, midpoint - self.origin
        )
        # what the tilt multiplied the probability of the origin by
        self.log_gain = self.tau @ (self.origin - midpoint) - times @ _log_cosh(half_odds)

    def tail(self, contest: Contest, threshold: Fraction) -> float:
        """P(difference >= threshold)."""
        first = self._first_extreme(contest, threshold)
        k1, k2 = self.frequencies.T
        # phi and the transform at -k are the conjugates of those at k
        mirrored = (k1 > 0) & (2 * k1 != self.shape[0])
        phi = self.phi * np.where(mirrored, 2.0, 1.0)
        phi *= _roots_of_unity(self.shape[0])[k1 * (self.rows[0] - self.origin[0]) % self.shape[0]]
        columns, column = np.unique(k2, return_inverse=True)
        at_once = max(1, _NUMBERS_AT_ONCE // self.shape[0])
        total = 0.0
        for start in range(0, len(columns), at_once):
            transform = self._transform(first, columns[start : start + at_once])
            here = (column >= start) & (column < start + at_once)
            total += np.sum(phi[here] * transform[column[here] - start, k1[here]]).real
        return float(total * np.exp(-self.log_gain) / self.shape[0] / self.shape[1])

    def _first_extreme(self, contest: Contest, threshold: Fraction) -> NDArray[np.int64]:
        """The column where each row's extreme points begin; one beyond the last where none are."""
        walk, lattice = self.walk, self.lattice
        x = walk.base[0] + lattice.a * self.rows
        offset = walk.base[1] + lattice.c * self.rows
        least, most = walk.reachable(x)
        low, high = int(self.columns[0]), int(self.columns[-1])
        first = contest.first_extreme(
            x, lambda j: np.clip(offset + lattice.e * j, least, most), low, high, threshold
        )
        # unreachable points have no probability, but the tilt could give them a large weight
        return np.asarray(np.clip(-((offset - least) // max(lattice.e, 1)), first, high + 1))

    def _transform(self, first: NDArray[np.int64], k2: NDArray[np.int64]) -> NDArray[np.complex128]:
        """Sum exp(-<tau + i·theta, z - origin>) over the extreme region, for k2 and every k1."""
        n = self.shape[1]
        beyond = self.columns[-1] + 1 - self.origin[1]
        begin = first - self.origin[1]
        level = self.tau[0] * (self.rows - self.origin[0])
        held = begin < beyond
        at_begin = np.exp(np.where(held, -level - self.tau[1] * begin, -np.inf))
        at_beyond = np.exp(np.where(held, -level - self.tau[1] * beyond, -np.inf))
        roots = _roots_of_unity(n)
        s = self.tau[1] + 2j * np.pi * k2 / n
        with np.errstate(invalid="ignore"):  # s = 0 gives way to the line after the next
            sums = at_begin * roots[np.outer(k2, begin) % n] - np.outer(
                roots[k2 * beyond % n], at_beyond
            )
            sums /= -np.expm1(-s)[:, None]
        sums[k2 == 0] = at_begin * _geometric_sum(self.tau[1], beyond - begin)
        return np.asarray(np.fft.fft(sums, n=self.shape[0], axis=1))


def _geometric_sum(s: float, n: NDArray[np.int64]) -> NDArray[np.float64]:
    """1 + exp(-s) + … + exp(-s(n-1))."""
    return np.asarray(n if s == 0 else np.expm1(-s * n) / np.expm1(-s), dtype=np.float64)


def _fast_length(least: int) -> int:
    """A length not much above `least` that a fast Fourier transform likes."""
    return min(odd << max(0, math.ceil(math.log2(least / odd))) for odd in (1, 3, 5, 9, 15))


def _roots_of_unity(n: int) -> NDArray[np.complex128]:
    return np.asarray(np.exp(-2j * np.pi * np.arange(n) / n))


def _window(
    steps: NDArray[np.int64], times: NDArray[np.int64], half_odds: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The whole numbers outside which a tilted walk on a line is negligible."""
    mean = float(times @ (steps * (1 + np.tanh(half_odds)))) / 2
    low, high = int(times @ np.minimum(steps, 0)), int(times @ np.maximum(steps, 0))
    if low < high:
        low = max(low, math.floor(mean - _reach(-steps, times, half_odds)))
        high = min(high, math.ceil(mean + _reach(steps, times, half_odds)))
    return np.arange(low, high + 1)


def _reach(
    steps: NDArray[np.int64], times: NDArray[np.int64], half_odds: NDArray[np.float64]
) -> float:
    """How far above its mean a tilted walk may be found.

    Chernoff's bound, P(Z - mean >= h) <= exp(K(s) - s·h), holds for every s > 0.
    """
    deviation = np.sqrt(times @ (steps / np.cosh(half_odds)) ** 2) / 2
    s = min(9 / deviation, 30 / np.max(np.abs(steps))) * np.geomspace(1 / 16, 2, 16)[:, None]
    x = s * steps / 2
    log_mean = _log_cosh(half_odds + x) - _log_cosh(half_odds) - x * np.tanh(half_odds)
    return float(np.min((log_mean @ times - _NEGLIGIBLE) / s[:, 0]))


def _log_cosh(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Accurate for small and for large x."""
    size = np.abs(x)
    near = 0.5 * np.log1p(np.sinh(np.minimum(size, 1)) ** 2)
    far = size + np.log1p(np.exp(-2 * size)) - math.log(2)
    return np.asarray(np.where(size < 1, near, far))
