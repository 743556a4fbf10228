"""The randomisation test by item for a thousand million items and more.

Where U ~ Bin(n, ½) takes millions of values with a probability to speak of, the probability that
the difference is extreme given U is a smooth function of it, but for the rounding of the first
extreme V to a whole number. Stretches of consecutive values, equally spaced, average over both:
the smooth part as exactly as all values would (a trapezoid rule), the roundings as a sample of
them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from probative.inference import _log_odds
from probative.inference._half_binomial import half_binomial
from probative.inference._score_difference import AffineDifference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative._types import Array
    from probative.inference._score_difference import Exact, ScoreDifference

__all__ = ["HugeExchange"]

_STRETCHES, _LENGTH = 400, 1024
_REACH = 9.5  # standard deviations; or, where the p-value is small, this:
_FAR = 39.0


@dataclass(frozen=True)
class HugeExchange:
    """Every item of a huge table is exchanged with probability ½."""

    cases: NDArray[np.int64]
    gap: ScoreDifference

    def tail(self, threshold: Exact) -> float:
        """P(difference >= threshold)."""
        if self._counts_items:
            return self._linear_tail(threshold)
        pvalue = self._tail_within(_REACH, float(threshold))
        left_out = 4 * math.exp(-(_REACH**2) / 2)
        return pvalue if left_out < 1e-12 * pvalue else self._tail_within(_FAR, float(threshold))

    def _tail_within(self, reach: float, threshold: float) -> float:
        t = self.cases.astype(np.float64)
        numbers = int(t[0] + t[2]), int(t[1] + t[3])
        bases = t[4], t[5]
        # go through the values of the one that takes fewer; the other's are a tail
        own = 0 if numbers[0] <= numbers[1] else 1
        values, share = _stretches(numbers[own], reach)
        edge = self._edge(own, bases[own] + values, threshold) - bases[1 - own]
        # A's score rises with true positives and falls with false ones; a tie counts, whichever
        # way it is rounded
        n = numbers[1 - own]
        slack = min(0.25, 1e-15 * float(t.sum()))
        least = np.ceil(edge - slack) if own == 0 else n - np.floor(edge + slack)
        return float(np.sum(half_binomial(values, numbers[own]) * _upper_tail(least, n)) * share)

    @property
    def sampled(self) -> tuple[int, float] | None:
        """How many values of U stand for all, and a bound on the relative error that comes from it.

        It is how much one value of V, more or less, can matter. None where all were gone through.
        """
        fewer, more = sorted((int(self.cases[[0, 2]].sum()), int(self.cases[[1, 3]].sum())))
        values, share = _stretches(fewer, _REACH)
        if self._counts_items or share == 1:
            return None
        return len(values), 1 / math.sqrt(more)

    @property
    def _counts_items(self) -> bool:
        """Whether the difference is one of numbers of items, over one that does not change."""
        line = self.gap.line
        return line is not None and max(map(abs, line)) <= 1

    def _linear_tail(self, threshold: Exact) -> float:
        """The same where the difference counts items: they are one binomial variate."""
        t = [int(x) for x in self.cases]
        assert isinstance(self.gap, AffineDifference)  # noqa: S101  # others have no line
        (a, b, _), total = self.gap.top, self.gap.total
        most = math.floor((a * total[0] + b * total[1] - threshold * self.gap.bottom[2]) / 2)
        # A's credit is a·(t4 + U) + b·(t5 + V), with a of 0 or 1 and b of 0 or -1
        n_true, n_false = a * (t[0] + t[2]), -b * (t[1] + t[3])
        n = n_true + n_false
        most += n_false - a * t[4] - b * t[5]
        return float(_upper_tail(np.array([float(n - most)]), n)[0])

    def _edge(self, own: int, given: Array, threshold: float) -> Array:
        """Where the difference is the threshold, as a function of A's true or false positives.

        The difference is nearly a straight line in the other one: Newton's method.
        """
        other = np.full(len(given), self.gap.total[1 - own] / 2)
        for _ in range(30):
            point = (given, other) if own == 0 else (other, given)
            excess = self.gap.difference(*point) - threshold
            slope = self.gap.gradient(*point)[1 - own]
            # where it does not move at all, all values are extreme or none is
            far = np.where((excess >= 0) == (own == 0), np.inf, -np.inf)
            with np.errstate(divide="ignore", invalid="ignore"):
                move = np.where(slope != 0, excess / slope, far)
            other = np.clip(other - move, 0, self.gap.total[1 - own])
            if np.max(np.abs(move)) < 0.01:
                break
        return other


def _stretches(n: int, reach: float) -> tuple[NDArray[np.int64], float]:
    """Values of Bin(n, ½), and how many each stands for."""
    distance = min(math.ceil(reach * math.sqrt(n) / 2) + 1, (n + 1) // 2)
    if 2 * distance <= 2 * _STRETCHES * _LENGTH:
        return np.arange(max(0, n // 2 - distance), min(n, n // 2 + distance) + 1), 1.0
    spacing = 2 * distance // _STRETCHES
    starts = n // 2 - distance + spacing * np.arange(_STRETCHES, dtype=np.int64)
    return (starts[:, None] + np.arange(_LENGTH)).ravel(), spacing / _LENGTH


def _upper_tail(least: Array, n: int) -> Array:
    """P(V >= least) for V ~ Bin(n, ½)."""
    inner = (least > 0) & (least <= n)
    tail = np.where(least > n, 0.0, 1.0)
    if n > 0:
        a = np.clip(least, 1, n)
        values = _log_odds.cdf(a, n - a + 1, np.zeros(len(a)))
        tail = np.where(inner, values, tail)
    return tail
