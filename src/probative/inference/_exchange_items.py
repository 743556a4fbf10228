"""The randomisation test by item: an exact sum over two binomials.

Exchanging items at random credits the baseline with t4 + U true and t5 + V false positives, where
U ~ Bin(t0 + t2, ½) and V ~ Bin(t1 + t3, ½). For every U the extreme V are a tail.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from probative.inference._half_binomial import half_binomial
from probative.inference._huge_exchange import HugeExchange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from fractions import Fraction

    from numpy.typing import NDArray

    from probative.inference._score_difference import Exact, ScoreDifference

    Credits = Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]

__all__ = ["ItemExchange"]

# In standard deviations: what lies beyond the first has a probability of 1e-19, what lies beyond
# the second cannot be written as a double.
_NEAR, _FAR = 9.5, 39.0
_HUGE = 10**8  # exchanged items from which on a p-value is found by `HugeExchange`


@dataclass(frozen=True)
class ItemExchange:
    """Every item of a table is exchanged with probability ½."""

    cases: NDArray[np.int64]
    gap: ScoreDifference

    def tail(self, threshold: Exact) -> float:
        """P(difference >= threshold)."""
        if self.is_huge:
            return HugeExchange(self.cases, self.gap).tail(threshold)
        pvalue = self._tail_within(_NEAR, threshold)
        left_out = 4 * math.exp(-(_NEAR**2) / 2)
        return pvalue if left_out < 1e-15 * pvalue else self._tail_within(_FAR, threshold)

    def tails(self) -> Callable[[Exact], float]:
        """The function `tail`, for many thresholds."""
        return self.tail

    @property
    def is_huge(self) -> bool:
        """Whether the values of both U and V that matter are too many to go through one by one."""
        return bool(self.cases[:4].sum() > _HUGE)

    @property
    def sampled(self) -> tuple[int, float] | None:
        """How many values were gone through for all, and a bound on the relative error that left.

        None where every value was.
        """
        return HugeExchange(self.cases, self.gap).sampled if self.is_huge else None

    def deviation(self) -> float:
        """About the standard deviation of the difference."""
        t = self.cases
        centre = np.array(self.gap.total) / 2
        variance = np.array([t[0] + t[2], t[1] + t[3]]) / 4
        return float(np.sqrt(variance @ self.gap.gradient(*centre) ** 2))

    def step(self) -> Fraction:
        """The distance of neighbouring differences, where it is the same everywhere; else 0."""
        t = self.cases
        steps = {(1, 0): t[0] + t[2], (0, 1): t[1] + t[3]}
        return self.gap.spacing(step for step, number in steps.items() if number)

    def sample(self, n_resamples: int, rng: np.random.Generator) -> Credits:
        """Draw what A is credited with."""
        t = self.cases
        x = t[4] + rng.binomial(t[0] + t[2], 0.5, n_resamples)
        f = t[5] + rng.binomial(t[1] + t[3], 0.5, n_resamples)
        yield x, f

    def _tail_within(self, reach: float, threshold: Exact) -> float:
        t = self.cases
        n_true, n_false = int(t[0] + t[2]), int(t[1] + t[3])
        u, v = _window(n_true, reach), _window(n_false, reach)
        tail_of_v = np.append(np.cumsum(half_binomial(v, n_false)[::-1])[::-1], 0.0)
        first = self.gap.first_extreme(
            t[4] + u, lambda v: t[5] + v, int(v[0]), int(v[-1]), threshold
        )
        return float(np.sum(half_binomial(u, n_true) * tail_of_v[first - v[0]]))


def _window(n: int, reach: float) -> NDArray[np.int64]:
    """The values of Bin(n, ½) within so many standard deviations of the mean."""
    distance = math.ceil(reach * math.sqrt(n) / 2) + 1
    return np.arange(max(0, n // 2 - distance), min(n, n // 2 + distance) + 1)
