"""The randomisation test by unit: an exact tail probability of a lattice walk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from probative.inference._convolution import Convolution
from probative.inference._half_binomial import half_binomial
from probative.inference._inversion import Inversion
from probative.inference._spectrum import BYTES_A_FREQUENCY, TooLargeError, significant_share
from probative.inference._tilt import NEGLIGIBLE, TiltedWalk, tilt_onto
from probative.inference._walk import Lattice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from fractions import Fraction

    from numpy.typing import NDArray

    from probative.inference._score_difference import Exact, ScoreDifference
    from probative.inference._walk import Walk

    Credits = Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]

__all__ = ["UnitExchange", "tail_by_enumeration"]

_FEW = 2**12  # outcomes that are quicker written out than convolved
_NUMBERS_AT_ONCE = 2**20
_BYTES_A_CELL = 32
_EXACT_UNTILTED = 1e-12  # what is larger has enough digits without a tilt
_SECONDS_A_CELL, _SECONDS_A_FREQUENCY = 4e-9, 1e-7  # a coin, and a step; only their ratio matters


@dataclass(frozen=True)
class UnitExchange:
    """Every unit is exchanged with probability ½."""

    walk: Walk
    gap: ScoreDifference
    memory_limit: float

    @classmethod
    def of(cls, walk: Walk, gap: ScoreDifference, memory_limit: float) -> UnitExchange:
        """Set up the exchange, on a line where one number tells the difference."""
        if gap.line is not None:
            line = walk.projected(*gap.line)
            # with large weights a line may have more points than the plane that it is drawn in
            if _spread(line) <= _spread(walk) or max(map(abs, gap.line)) <= 1:
                return cls(line, gap.projected(), memory_limit)
        return cls(walk, gap, memory_limit)

    def tail(self, threshold: Exact) -> float:
        """P(difference >= threshold)."""
        if self.walk.has_at_most(_FEW):
            return tail_by_enumeration(self.walk, self.gap, threshold)
        tilted = self._tilted_tail(tilt_onto(self.walk, self.gap, threshold), threshold)
        if not self.gap.may_jump:
            return tilted
        # some outcomes may lie where the tilt leads away from, and be missed
        try:
            plain = self._tilted_tail(np.zeros(2), threshold)
        except TooLargeError:
            return tilted
        return max(tilted, plain) if plain > _EXACT_UNTILTED else tilted

    def _tilted_tail(self, tau: NDArray[np.float64], threshold: Exact) -> float:
        walk = TiltedWalk(self.walk, tau)
        return self._ready(walk).tail(walk.first_extreme(self.gap, threshold))

    def tails(self) -> Callable[[Exact], float]:
        """P(difference >= threshold) for many thresholds, to a small absolute error."""
        if self.walk.has_at_most(_FEW):
            return self.tail
        walk = TiltedWalk(self.walk, np.zeros(2))
        ready = self._ready(walk)
        return lambda threshold: ready.tail(walk.first_extreme(self.gap, threshold))

    def deviation(self) -> float:
        """About the standard deviation of the difference."""
        slope = self.walk.steps @ self.gap.gradient(*self.walk.centre)
        return float(np.sqrt(self.walk.times @ slope**2) / 2)

    def step(self) -> Fraction:
        """The distance of neighbouring differences, where it is the same everywhere; else 0."""
        return self.gap.spacing(self.walk.steps.tolist())

    def sample(self, n_resamples: int, rng: np.random.Generator) -> Credits:
        """Draw what A is credited with, a binomial draw for each distinct step."""
        at_once = max(1, _NUMBERS_AT_ONCE // max(1, len(self.walk.times)))
        for start in range(0, n_resamples, at_once):
            size = (min(at_once, n_resamples - start), len(self.walk.times))
            ends = self.walk.base + rng.binomial(self.walk.times, 0.5, size) @ self.walk.steps
            yield ends[:, 0], ends[:, 1]

    def _ready(self, walk: TiltedWalk) -> Convolution | Inversion:
        """Prepare sums over regions in the way that is quicker."""
        cells = float(len(walk.rows) * len(walk.columns))
        frequencies = cells / 2 * significant_share(walk.times, walk.tilt, NEGLIGIBLE)
        by_coins = _SECONDS_A_CELL * float(np.sum(walk.times)) * cells
        by_frequencies = _SECONDS_A_FREQUENCY * len(walk.times) * frequencies
        if by_coins < by_frequencies and cells * _BYTES_A_CELL <= self.memory_limit:
            return Convolution(walk)
        if frequencies * BYTES_A_FREQUENCY > self.memory_limit:
            raise TooLargeError(min(cells * _BYTES_A_CELL, frequencies * BYTES_A_FREQUENCY))
        return Inversion(walk, self.memory_limit)


def _spread(walk: Walk) -> float:
    """About how many points of its lattice a walk visits often."""
    lattice = Lattice.spanned_by(walk)
    deviations = np.sqrt(walk.times @ lattice.coordinates(walk.steps).astype(np.float64) ** 2)
    return float(np.prod(1 + 9 * deviations))


def tail_by_enumeration(walk: Walk, gap: ScoreDifference, threshold: Exact) -> float:
    """P(difference >= threshold) from all the outcomes of a short walk."""
    ends, probability = walk.base[None, :], np.ones(1)
    for step, n in zip(walk.steps, walk.times.tolist(), strict=True):
        taken = np.arange(n + 1)
        ends = (ends[:, None, :] + taken[:, None] * step).reshape(-1, 2)
        probability = np.outer(probability, half_binomial(taken, n)).reshape(-1)
    return float(np.sum(probability[gap.at_least(ends[:, 0], ends[:, 1], threshold)]))
