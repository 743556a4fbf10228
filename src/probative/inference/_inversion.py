"""A tail probability of a long walk, by Fourier inversion.

The characteristic function is summed, where it is not negligible, against the transform of the
extreme region. A row of that region is an interval, so its transform is a geometric sum: no grid
of the size of the walk is needed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from probative.inference._spectrum import (
    TooLargeError,
    characteristic_function,
    significant_frequencies,
)
from probative.inference._tilt import NEGLIGIBLE, TiltedWalk

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Inversion"]

_NUMBERS_AT_ONCE = 2**20
_BYTES_A_ROW = 200


class Inversion:
    """A tilted walk, ready to be summed over regions.

    Frequencies are told by their place (k1, k2) in a grid as large as the window of the walk.
    """

    def __init__(self, walk: TiltedWalk, memory_limit: float) -> None:
        if len(walk.rows) * _BYTES_A_ROW > memory_limit:
            raise TooLargeError(len(walk.rows) * _BYTES_A_ROW)
        self.walk = walk
        self.shape = _fast_length(len(walk.rows)), len(walk.columns)
        self.frequencies, log_modulus = significant_frequencies(
            walk.steps, walk.times, walk.tilt, self.shape, NEGLIGIBLE, memory_limit
        )
        self.phi = characteristic_function(
            2 * np.pi * self.frequencies / self.shape,
            log_modulus,
            walk.steps,
            walk.times,
            walk.tilt,
            walk.midpoint - walk.origin,
        )

    def tail(self, first: NDArray[np.int64]) -> float:
        """The probability of what lies from the column `first` on in each row."""
        k1, k2 = self.frequencies.T
        # phi and the transform at -k are the conjugates of those at k
        mirrored = (k1 > 0) & (2 * k1 != self.shape[0])
        phi = self.phi * np.where(mirrored, 2.0, 1.0)
        phi *= _roots_of_unity(self.shape[0])[
            k1 * (self.walk.rows[0] - self.walk.origin[0]) % self.shape[0]
        ]
        columns, column = np.unique(k2, return_inverse=True)
        at_once = max(1, _NUMBERS_AT_ONCE // self.shape[0])
        total = 0.0
        for start in range(0, len(columns), at_once):
            transform = self._transform(first, columns[start : start + at_once])
            here = (column >= start) & (column < start + at_once)
            total += np.sum(phi[here] * transform[column[here] - start, k1[here]]).real
        return float(total * np.exp(-self.walk.log_gain) / self.shape[0] / self.shape[1])

    def _transform(self, first: NDArray[np.int64], k2: NDArray[np.int64]) -> NDArray[np.complex128]:
        """Sum exp(-<tau + i·theta, z - origin>) over the extreme region, for k2 and every k1."""
        n = self.shape[1]
        beyond = self.walk.columns[-1] + 1 - self.walk.origin[1]
        begin = first - self.walk.origin[1]
        level = self.walk.tau[0] * (self.walk.rows - self.walk.origin[0])
        held = begin < beyond
        at_begin = np.exp(np.where(held, -level - self.walk.tau[1] * begin, -np.inf))
        at_beyond = np.exp(np.where(held, -level - self.walk.tau[1] * beyond, -np.inf))
        roots = _roots_of_unity(n)
        s = self.walk.tau[1] + 2j * np.pi * k2 / n
        with np.errstate(invalid="ignore"):  # s = 0 gives way to the line after the next
            sums = at_begin * roots[np.outer(k2, begin) % n] - np.outer(
                roots[k2 * beyond % n], at_beyond
            )
            sums /= -np.expm1(-s)[:, None]
        sums[k2 == 0] = at_begin * _geometric_sum(self.walk.tau[1], beyond - begin)
        return np.asarray(np.fft.fft(sums, n=self.shape[0], axis=1))


def _geometric_sum(s: float, n: NDArray[np.int64]) -> NDArray[np.float64]:
    """1 + exp(-s) + … + exp(-s(n-1))."""
    return np.asarray(n if s == 0 else np.expm1(-s * n) / np.expm1(-s), dtype=np.float64)


def _fast_length(least: int) -> int:
    """A length not much above `least` that a fast Fourier transform likes."""
    return min(odd << max(0, math.ceil(math.log2(least / odd))) for odd in (1, 3, 5, 9, 15))


def _roots_of_unity(n: int) -> NDArray[np.complex128]:
    return np.asarray(np.exp(-2j * np.pi * np.arange(n) / n))
