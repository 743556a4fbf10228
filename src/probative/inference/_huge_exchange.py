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
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.inference import _log_odds
from probative.inference._half_binomial import half_binomial

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from probative.inference._score_difference import ScoreDifference

    Array = NDArray[np.float64]

__all__ = ["HugeExchange"]

_STRETCHES, _LENGTH = 400, 1024
_REACH = 9.5  # standard deviations; or, where the p-value is small, this:
_FAR = 39.0


@dataclass(frozen=True)
class HugeExchange:
    """Every item of a huge table is exchanged with probability ½."""

    cases: NDArray[np.int64]
    gap: ScoreDifference

    def tail(self, threshold: Fraction) -> float:
        """P(difference >= threshold)."""
        if self.gap.is_linear:
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
        if self.gap.is_linear or share == 1:
            return None
        return len(values), 1 / math.sqrt(more)

    def _linear_tail(self, threshold: Fraction) -> float:
        """The same where the difference counts items: they are one binomial variate."""
        t = [int(x) for x in self.cases]
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
            slope = self._slope(1 - own, *point)
            # where it does not move at all, all values are extreme or none is
            far = np.where((excess >= 0) == (own == 0), np.inf, -np.inf)
            with np.errstate(divide="ignore", invalid="ignore"):
                move = np.where(slope != 0, excess / slope, far)
            other = np.clip(other - move, 0, self.gap.total[1 - own])
            if np.max(np.abs(move)) < 0.01:
                break
        return other

    def _slope(self, axis: int, x: Array, f: Array) -> Any:
        """The derivative of the difference in A's true (0) or false (1) positives."""
        gap = self.gap
        total: Any = 0.0
        for x_, f_ in ((x, f), (gap.total[0] - x, gap.total[1] - f)):
            bottom = gap.bottom[0] * x_ + gap.bottom[1] * f_ + gap.bottom[2]
            bottom = np.where(bottom > 0, bottom, np.inf)
            top = gap.top[0] * x_ + gap.top[1] * f_ + gap.top[2]
            total = total - (gap.top[axis] - top / bottom * gap.bottom[axis]) / bottom
        return total


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
