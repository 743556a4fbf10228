"""A table of the upper tail of a Beta variate's log odds, for many thousand arguments at once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from probative.inference import _log_odds

if TYPE_CHECKING:
    from probative._types import Array

__all__ = ["TailTable"]

_ENTRIES = 400  # or more, so that they are not farther apart than this
_LARGEST_STEP = 0.1
_SMALL = 30.0  # exp(-30) of a share is as good as nothing


class TailTable:
    """The upper tail of the log odds of Beta(a, b), to about 1e-12 of itself.

    The logarithm of the tail is smooth and its first two derivatives are known, so that a
    polynomial of the fifth degree between any two entries of a short table follows it. Beyond the
    table the variate, or what it lacks to 1, is so small that its distribution is a power.
    """

    def __init__(self, a: float, b: float):
        self.a, self.b = np.array(a, dtype=np.float64), np.array(b, dtype=np.float64)
        low, high = _log_odds.window(self.a, self.b)
        self._low = float(np.maximum(low, -_SMALL - np.log(np.maximum(self.b, 1))))
        end = float(np.minimum(high, _SMALL + np.log(np.maximum(self.a, 1))))
        self._last = max(_ENTRIES, int((end - self._low) / _LARGEST_STEP)) - 1
        self._step = (end - self._low) / self._last

    def log_pdf(self, y: Array) -> Array:
        """Return the log density at y."""
        return _log_odds.log_pdf(self.a, self.b, y)

    def sf(self, y: Array) -> Array:
        """Return the probability of log odds above y."""
        if y.size <= _ENTRIES:
            return _log_odds.sf(self.a, self.b, y)
        place = np.maximum((y - self._low) / self._step, 0.0)
        entry = np.minimum(place, self._last - 1).astype(np.intp)
        place -= entry
        beyond = np.maximum(place - 1, 0.0)
        np.minimum(place, 1.0, out=place)
        value = self._coefficients[5].take(entry)
        for row in self._coefficients[4::-1]:
            value *= place
            value += row.take(entry)
        value -= float(self.b) * self._step * beyond
        tail = np.exp(value, out=value)
        below = y < self._low
        if below.any():
            tail[below] = 1 - self._below * np.exp(self.a * (y[below] - self._low))
        return np.asarray(tail)

    @cached_property
    def _below(self) -> float:
        """The lower tail at the beginning of the table."""
        return float(_log_odds.cdf(self.a, self.b, np.array(self._low)))

    @cached_property
    def _coefficients(self) -> Array:
        """Polynomials between the entries, by rising power: Hermite's, of the fifth degree."""
        h = self._step
        y = np.asarray(self._low + h * np.arange(self._last + 1), dtype=np.float64)
        value = np.log(_log_odds.sf(self.a, self.b, y))
        hazard = np.exp(self.log_pdf(y) - value)
        slope = -h * hazard
        bend = -(h**2) * hazard * (_log_odds.slope(self.a, self.b, y) + hazard)
        start, first, second = value[:-1], slope[:-1], bend[:-1] / 2
        gap = value[1:] - start - first - second
        turn = slope[1:] - first - 2 * second
        rest = (bend[1:] - 2 * second) / 2
        return np.stack(
            [
                start,
                first,
                second,
                10 * gap - 4 * turn + rest,
                -15 * gap + 7 * turn - 2 * rest,
                6 * gap - 3 * turn + rest,
            ]
        )
