"""Functions of one variable as Chebyshev series, piece by piece.

A piece whose series has not died away is halved. What the last coefficients leave is the error.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from probative._types import Array

__all__ = ["TERMS", "Pieces", "chebyshev", "integral_to_end"]

TERMS = 24  # of a series
_CHUNK = 2**11  # points handled at once: they stay in the processor's cache
_ANGLES = np.pi * (np.arange(TERMS) + 0.5) / TERMS
_POINTS = np.cos(_ANGLES)
_TO_SERIES = np.cos(np.outer(np.arange(TERMS), _ANGLES)) * 2 / TERMS
_TO_SERIES[0] /= 2


@dataclass(frozen=True)
class Pieces:
    """Series on the pieces between the edges; each column of a series is a function."""

    edges: Array
    series: list[NDArray[Any]]
    error: float

    @classmethod
    def fit(
        cls,
        function: Callable[[Array], NDArray[Any]],
        edges: Array,
        tolerance: float,
        halvings: int,
    ) -> Pieces:
        """Halve the pieces until all series have died away to the tolerance.

        The function is given points, and returns a row for each.
        """
        waiting = [(float(a), float(b)) for a, b in pairwise(edges)]
        done: list[tuple[float, float, NDArray[Any]]] = []
        error = 0.0
        for left in range(halvings, -1, -1):
            if not waiting:
                break
            points = np.concatenate([(a + b) / 2 + (b - a) / 2 * _POINTS for a, b in waiting])
            values = function(points).reshape(len(waiting), TERMS, -1)
            again = []
            for (a, b), value in zip(waiting, values, strict=True):
                series = _TO_SERIES @ value
                last = float(np.max(np.abs(series[-2:])))
                if last > tolerance and left:
                    again += [(a, (a + b) / 2), ((a + b) / 2, b)]
                else:
                    done.append((a, b, series))
                    error = max(error, last)
            waiting = again
        done.sort(key=lambda piece: piece[0])
        return cls(np.array([done[0][0], *(b for _, b, _ in done)]), [s for *_, s in done], error)

    def at(self, x: Array, columns: int | None = None) -> NDArray[Any]:
        """The functions, or the first of them, along a new last axis; 0 outside the pieces."""
        flat = x.ravel()
        width = self.series[0].shape[1] if columns is None else columns
        values = np.zeros((len(flat), width), dtype=self.series[0].dtype)
        which = np.searchsorted(self.edges, flat, side="right") - 1
        for i, series in enumerate(self.series):
            all_inside = np.flatnonzero(which == i)
            for first in range(0, len(all_inside), _CHUNK):
                inside = all_inside[first : first + _CHUNK]
                polynomials = chebyshev(self._scaled(i, flat[inside]), TERMS)
                values[inside] = polynomials.T @ series[:, :width]
        return values.reshape(*x.shape, width)

    def _scaled(self, i: int, x: Array) -> Array:
        a, b = self.edges[i : i + 2]
        return np.asarray((2 * x - a - b) / (b - a))


def chebyshev(x: Array, terms: int) -> Array:
    """Chebyshev polynomials at x, a row for each degree."""
    rows = np.empty((terms, len(x)))
    rows[0], rows[1] = 1.0, x
    known = 2
    while known < terms:  # T_m+n = 2·T_m·T_n - T_m-n
        m, more = known - 1, min(known - 1, terms - known)
        new = rows[known : known + more]
        np.multiply(rows[1 : more + 1], 2 * rows[m], out=new)
        new -= rows[m - more : m][::-1]
        known += more
    return rows


def integral_to_end(series: NDArray[Any]) -> NDArray[Any]:
    """The series of the integral from x to 1, which has a term more."""
    padded = np.zeros((TERMS + 2, series.shape[1]), dtype=series.dtype)
    padded[:TERMS] = series
    padded[0] *= 2
    degree = np.arange(1, TERMS + 1)[:, None]
    found = np.zeros((TERMS + 1, series.shape[1]), dtype=series.dtype)
    found[1:] = (padded[2:] - padded[:TERMS]) / (2 * degree)
    found[0] = -found[1:].sum(axis=0)
    return found
