"""How two log ratios, of true and of false positives, make up the difference z of the log odds.

Each of them is known by the density of its logarithm, and with it what it adds to W, the mean of
the log odds (see `_shared_ratio`, `_precision_law`). For every z the integral goes over stretches
between the edges of the pieces of either: within these both are polynomials, and a Gauss rule will
do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative._types import Array
    from probative.inference._shared_ratio import RatioAbove, Waves

    Complex = NDArray[np.complex128]

__all__ = ["Alike", "Apart"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(14)
_CHUNK = 2**10  # points handled at once: their waves stay in the processor's cache
_TINY = 1e-300


class Alike:
    """Both ratios on the same side of 1: the larger log ratio is z more than the smaller."""

    def __init__(self, smaller: RatioAbove, larger: RatioAbove, sign: float, waves: Waves):
        self._smaller, self._larger, self._sign = smaller, larger, sign
        self._frequency = waves.frequency
        # the hits turn one way, the false alarms the other
        self._small_waves = _complex_waves(smaller, sign * -1.0)
        self._large_waves = _complex_waves(larger, sign)
        turn = larger.shift(self._frequency) - smaller.shift(self._frequency)
        self._turn = np.exp(sign * 1j * turn)
        self.most = float(larger.edges[-1])

    def _points(self, z: Array) -> tuple[NDArray[np.intp], Array, Array, Array]:
        """Which z, the logarithms of both, and weights; a row for each stretch of each z."""
        smaller, larger = self._smaller, self._larger
        low = np.maximum(smaller.edges[0], larger.edges[0] - z)
        high = np.maximum(np.minimum(smaller.edges[-1], larger.edges[-1] - z), low)
        edges = np.concatenate(
            [
                np.broadcast_to(smaller.pieces.edges, (len(z), len(smaller.edges))),
                np.log(np.maximum(larger.edges - z[:, None], _TINY)),
            ],
            axis=1,
        )
        which, small, weight = _stretches(edges, np.log(low), np.log(high))
        sums = z[which, None] + np.exp(small)
        return which, small, np.log(sums), weight * z[which, None] / sums

    def total(self, log_z: Array) -> Array:
        """The density of log z."""
        which, small, large, weight = self._points(np.exp(log_z))
        product = self._smaller.pieces.at(small, 1) * self._larger.pieces.at(large, 1)
        return _added_up(which, np.sum(product[..., 0] * weight, axis=1), len(log_z))

    def wave_parts(self, log_z: Array) -> Complex:
        """The same for every frequency of W: a row for each z."""
        z = np.exp(log_z)
        which, small, large, weight = self._points(z)
        found = np.zeros((len(z), len(self._frequency)), dtype=complex)
        if not len(which):
            return found
        a, b = self._smaller.pieces.at(small), self._larger.pieces.at(large)
        a *= weight[..., None]
        start, rows = _runs(which)
        joint = np.add.reduceat(np.matmul(b.transpose(0, 2, 1), a), start, axis=0)
        turned = (joint.reshape(-1, a.shape[2]) @ self._small_waves).reshape(
            len(rows), b.shape[2], -1
        )
        half = np.exp(self._sign * 0.5j * np.outer(z[rows], self._frequency)) * self._turn
        found[rows] = np.einsum("zko,ko->zo", turned, self._large_waves) * half
        return found


class Apart:
    """The ratios on different sides of 1: their log ratios add up to z."""

    def __init__(self, hits: RatioAbove, alarms: RatioAbove, waves: Waves):
        self._hits, self._alarms = hits, alarms
        self._waves = waves
        turn = alarms.shift(waves.frequency) - hits.shift(waves.frequency)
        self._turn = np.exp(1j * turn)
        self.most = float(hits.edges[-1] + alarms.edges[-1])

    def _points(self, log_z: Array) -> tuple[NDArray[np.intp], Array, Array, Array]:
        """Which z, the logarithms of both, and weights; a row for each stretch of each z."""
        z = np.exp(log_z)
        hits, alarms = self._hits, self._alarms
        least, most = np.maximum(hits.edges[0], z - alarms.edges[-1]), np.minimum(hits.edges[-1], z)
        other_least = np.maximum(alarms.edges[0], z - hits.edges[-1])
        other_most = np.minimum(alarms.edges[-1], z - least)
        low = np.log(least) - np.log(np.maximum(other_most, _TINY))
        high = np.log(np.minimum(most, np.maximum(z - other_least, _TINY))) - np.log(other_least)
        high = np.where((other_most > other_least) & (z > least), high, low)
        edges = np.concatenate(
            [
                hits.pieces.edges - np.log(np.maximum(z[:, None] - hits.edges, _TINY)),
                np.log(np.maximum(z[:, None] - alarms.edges, _TINY)) - alarms.pieces.edges,
                np.zeros((len(z), 1)),
            ],
            axis=1,
        )
        which, odds, weight = _stretches(edges, low, np.maximum(high, low))
        parts = (log_z[which, None] + special.log_expit(sign * odds) for sign in (1, -1))
        return which, *parts, weight

    def total(self, log_z: Array) -> Array:
        """The density of log z."""
        which, hits, alarms, weight = self._points(log_z)
        product = self._hits.pieces.at(hits, 1) * self._alarms.pieces.at(alarms, 1)
        return _added_up(which, np.sum(product[..., 0] * weight, axis=1), len(log_z))

    def wave_parts(self, log_z: Array) -> Complex:
        """The same for every frequency of W: a row for each z."""
        which, hits, alarms, weight = self._points(log_z)
        found = np.zeros((len(log_z), len(self._waves.frequency)), dtype=complex)
        if not len(which):
            return found
        sums = np.empty((found.shape[1], len(which)), dtype=complex)
        together = max(1, _CHUNK // len(_NODES))
        for first in range(0, len(which), together):
            part = slice(first, first + together)
            sums[:, part] = self._sums(hits[part], alarms[part], weight[part])
        start, rows = _runs(which)
        found[rows] = np.add.reduceat(sums, start, axis=1).T * self._turn
        return found

    def _sums(self, hits: Array, alarms: Array, weight: Array) -> Complex:
        """The sum over each stretch, for every frequency."""
        product = _waves_at(self._hits, hits, -1.0)
        product *= _waves_at(self._alarms, alarms, 1.0)
        turn = np.exp(0.5j * self._waves.step * (np.exp(alarms) - np.exp(hits))).ravel()
        product *= _powers(turn, len(product))
        return np.asarray(np.sum(product.reshape(-1, *weight.shape) * weight, axis=2))


def _powers(x: Complex, size: int) -> Complex:
    """All powers from 0 on, a row for each."""
    rows = np.empty((size, len(x)), dtype=complex)
    rows[0] = 1
    done, factor = 1, x
    while done < size:
        more = min(done, size - done)
        np.multiply(rows[:more], factor, out=rows[done : done + more])
        done += more
        factor = factor * factor
    return rows


def _stretches(edges: Array, low: Array, high: Array) -> tuple[Any, Array, Array]:
    """Gauss points between all edges within the limits, a row for each stretch of each row."""
    edges = np.sort(np.clip(edges, low[:, None], high[:, None]), axis=1)
    which, at = np.nonzero(np.diff(edges) > 1e-9)
    start, end = edges[which, at][:, None], edges[which, at + 1][:, None]
    half = (end - start) / 2
    return which, start + half + half * _NODES, half * _WEIGHTS


def _added_up(which: NDArray[np.intp], values: Array, size: int) -> Array:
    """The sum of the values of each number."""
    sums = np.zeros(size)
    np.add.at(sums, which, values)
    return sums


def _runs(which: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where runs of equal numbers begin, and the numbers."""
    start = np.flatnonzero(np.append(True, np.diff(which) > 0))
    return start, which[start]


def _complex_waves(ratio: RatioAbove, sign: float) -> Complex:
    """What the polynomials of δ make of each frequency."""
    waves = ratio.waves.astype(complex)
    waves[1::2] *= sign * 1j
    return np.asarray(waves)


def _waves_at(ratio: RatioAbove, log_zeta: Array, sign: float) -> Complex:
    """The characteristic function of δ times the density, a row for each frequency."""
    averages = ratio.pieces.at(log_zeta.ravel()).T
    found = np.empty((ratio.waves.shape[1], averages.shape[1]), dtype=complex)
    found.real = ratio.waves[::2].T @ averages[::2]
    found.imag = sign * (ratio.waves[1::2].T @ averages[1::2])
    return found
