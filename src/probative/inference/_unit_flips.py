"""Every unit is flipped with probability ½, and what the flipped ones hold is added up.

Units that hold the same need not be flipped one by one: how many of n are flipped is the number of
ones among n random bits, counted byte by byte; of hundreds of units it is drawn as a binomial
variate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from probative._types import Array

__all__ = ["UnitFlips"]

_MANY = 256  # units from which on a binomial variate is quicker than bits
_BYTES_AT_ONCE = 1 << 22
_EXACT = 1 << 24  # whole numbers up to this are exact in single precision
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
