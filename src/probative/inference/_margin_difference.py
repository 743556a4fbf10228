"""The difference of two scores that depend on how much a system returns, and not linearly.

With m = x + f what a system returns of n items, of which p are positive, and n·x - p·f in the
numerator, Matthews' coefficient and markedness are a linear function over a power of m·(n - m); the
index of Fowlkes and Mallows is x over the root of m·p.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.inference._roots import RootSum
from probative.inference._score_difference import ScoreDifference

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MarginDifference"]


@dataclass(frozen=True)
class MarginDifference(ScoreDifference):
    """Of scores (a·x + b·f) / (factor·m·(items - m)), or over the root of that; m = x + f.

    Without `items` the last factor is 1.
    """

    top: tuple[int, int]
    factor: int
    items: int | None
    root: bool
    total: tuple[int, int]

    def _score(self, x: Any, f: Any) -> Any:
        top, bottom, _ = self._parts(x, f)
        return top / bottom

    def _exact(self, x: int, f: int) -> Any:
        (a, b), m = self.top, x + f
        top, bottom = a * x + b * f, self.factor * m * self._left_out(m)
        if not self.root:
            return Fraction(top, max(bottom, 1))
        return RootSum((Fraction(top * abs(top), max(bottom, 1)),))

    def _slope(self, x: Any, f: Any) -> NDArray[np.float64]:
        top, bottom, rate = self._parts(x, f)
        a, b = self.top
        return np.array([a / bottom - top / bottom * rate, b / bottom - top / bottom * rate])

    def _parts(self, x: Any, f: Any) -> tuple[Any, Any, Any]:
        """Numerator, denominator, and the derivative of its logarithm; as if infinite for 0."""
        a, b = map(float, self.top)
        x, f = np.asarray(x, dtype=np.float64), np.asarray(f, dtype=np.float64)
        m, power = x + f, 0.5 if self.root else 1.0
        left = self._left_out(m)
        there = (m > 0) & (left > 0) & (self.factor > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            # root by root, so that no product of large numbers loses its last digits
            bottom = np.power(m, power) * np.power(left, power) * float(self.factor) ** power
            rate = power * (1 / m - (0.0 if self.items is None else 1 / left))
        return a * x + b * f, np.where(there, bottom, np.inf), np.where(there, rate, 0.0)

    def _left_out(self, m: Any) -> Any:
        return 1 if self.items is None else self.items - m
