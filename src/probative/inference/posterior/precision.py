"""Compute the posterior of a difference in precision as a sum over one variable."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative.inference.posterior import log_odds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from probative._validation import Array


# -----------------------------------------------------------------------------
# How two log ratios, of true and of false positives, make up the difference z of the log odds.
#
# Each of them is known by the density of its logarithm, and with it what it adds to W, the mean of
# the log odds (see `_shared_ratio`, `_precision_law`). For every z the integral goes over
# stretches between the edges of the pieces of either: within these both are polynomials, and a
# Gauss rule will do.
# -----------------------------------------------------------------------------

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(14)
_RATIO_SUMS_CHUNK = 2**10  # points handled at once: their waves stay in the processor's cache


class _Alike:
    """Both ratios on the same side of 1: the larger log ratio is z more than the smaller."""

    def __init__(self, smaller: _RatioAbove, larger: _RatioAbove, sign: float, waves: _Waves):
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


class _Apart:
    """The ratios on different sides of 1: their log ratios add up to z."""

    def __init__(self, hits: _RatioAbove, alarms: _RatioAbove, waves: _Waves):
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
        together = max(1, _RATIO_SUMS_CHUNK // len(_NODES))
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


def _complex_waves(ratio: _RatioAbove, sign: float) -> Complex:
    """What the polynomials of δ make of each frequency."""
    waves = ratio.waves.astype(complex)
    waves[1::2] *= sign * 1j
    return np.asarray(waves)


def _waves_at(ratio: _RatioAbove, log_zeta: Array, sign: float) -> Complex:
    """The characteristic function of δ times the density, a row for each frequency."""
    averages = ratio.pieces.at(log_zeta.ravel()).T
    found = np.empty((ratio.waves.shape[1], averages.shape[1]), dtype=complex)
    found.real = ratio.waves[::2].T @ averages[::2]
    found.imag = sign * (ratio.waves[1::2].T @ averages[1::2])
    return found


# -----------------------------------------------------------------------------
# Functions of one variable as Chebyshev series, piece by piece.
#
# A piece whose series has not died away is halved. What the last coefficients leave is the error.
# -----------------------------------------------------------------------------

_TERMS = 24  # of a series
_PIECEWISE_CHUNK = 2**11  # points handled at once: they stay in the processor's cache
_ANGLES = np.pi * (np.arange(_TERMS) + 0.5) / _TERMS
_POINTS = np.cos(_ANGLES)
_TO_SERIES = np.cos(np.outer(np.arange(_TERMS), _ANGLES)) * 2 / _TERMS
_TO_SERIES[0] /= 2


@dataclass(frozen=True)
class _Pieces:
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
    ) -> _Pieces:
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
            values = function(points).reshape(len(waiting), _TERMS, -1)
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
            for first in range(0, len(all_inside), _PIECEWISE_CHUNK):
                inside = all_inside[first : first + _PIECEWISE_CHUNK]
                polynomials = _chebyshev(self._scaled(i, flat[inside]), _TERMS)
                values[inside] = polynomials.T @ series[:, :width]
        return values.reshape(*x.shape, width)

    def _scaled(self, i: int, x: Array) -> Array:
        a, b = self.edges[i : i + 2]
        return np.asarray((2 * x - a - b) / (b - a))


def _chebyshev(x: Array, terms: int) -> Array:
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


def _integral_to_end(series: NDArray[Any]) -> NDArray[Any]:
    """The series of the integral from x to 1, which has a term more."""
    padded = np.zeros((_TERMS + 2, series.shape[1]), dtype=series.dtype)
    padded[:_TERMS] = series
    padded[0] *= 2
    degree = np.arange(1, _TERMS + 1)[:, None]
    found = np.zeros((_TERMS + 1, series.shape[1]), dtype=series.dtype)
    found[1:] = (padded[2:] - padded[:_TERMS]) / (2 * degree)
    found[0] = -found[1:].sum(axis=0)
    return found


# -----------------------------------------------------------------------------
# The ratio of two sums of gamma variates that share one: (a + c)/(a + b).
#
# Its logarithm ζ and, beside it, the scale m = ½ log((a + b)(a + c)/(a + b + c)²) are what a score
# of two systems depends on, where a is what both have, b what only A and c what only B has. For ζ
# > 0, y = b/(a + b) and x = c/(a + b) are independent, a Beta and a Beta prime variate, and
#
#     x - y = e^ζ - 1,    m = -ζ/2 - δ,    δ = log(1 + y·e^-ζ) in (0, log 2)
#
# The density of ζ is an integral over y, with singularities on the scale of log odds that stay
# away from the real line by π, however small ζ is: a trapezoid rule converges exponentially. Below
# 0, b and c change places. As a function of log ζ the density is smooth, and kept as Chebyshev
# series; with it averages of Chebyshev polynomials of δ, from which its characteristic function is
# put together.
# -----------------------------------------------------------------------------

_RATIO_TOLERANCE = 1e-10
_LARGEST = 600.0  # ζ
_LEAST = -600.0  # log ζ
_BEYOND = 1e-12  # probability of more
_STEP = 0.55  # of the rule for y, on the scale of log odds
_LEAST_STEPS, _MOST_STEPS = 40, 120
_MARGIN = 2.5  # log odds beyond the integrand's features from which on steps grow
_GROWTH = 2.0
_TAIL = 28.0  # logarithm of what is left out at either end
_RATIO_DROP = 26.0  # of the peak to where the rule ends
_FILLED = 0.6  # part of the steps that must matter
_ZOOMS = 14
_LENGTHS = (2.0, 2.0, 7.0, 10.0, 13.0)  # of pieces from the top down, and so on
_STRETCH = 1.6  # by which the last may be longer
_NARROW = 7.0  # standard deviations from 0, from which on the peak gets its own piece


@dataclass(frozen=True)
class _Waves:
    """The frequencies at which characteristic functions are wanted, and how much they matter."""

    frequency: Array
    decay: Array

    @property
    def step(self) -> float:
        """From one to the next."""
        return float(self.frequency[1])


def _mean_and_variance(both: float, only_a: float, only_b: float) -> tuple[float, float]:
    """Of the log ratio, as far as it is linear."""
    a, b = both + only_a, both + only_b
    shared = both * (1 / b - 1 / a) ** 2
    return float(np.log(b / a)), only_b / b**2 + only_a / a**2 + shared


def _places_to_look(low: float, high: float, mean: float, sd: float) -> Array:
    """Logarithms of numbers: evenly between the limits, and about the mean."""
    about = mean + sd * np.arange(-9, 10, 1.5)
    about = about[(about > np.exp(low)) & (about < np.exp(high))]
    grid = np.sort(np.concatenate([np.linspace(low, high, 16), np.log(about)]))
    return np.asarray(grid[np.append(True, np.diff(grid) > 1e-9)])


def _edges_between(low: float, high: float, mean: float, sd: float) -> Array:
    """Edges of pieces on a scale of logarithms: short about a peak, longer towards 0."""
    edges = [high]
    if mean > _NARROW * sd:
        peak = np.log([mean + _NARROW * sd, mean - 3 * sd]).tolist()
        edges += [x for x in peak if low + 0.1 < x < high - 0.1]
    for length in itertools.chain(_LENGTHS, itertools.count(16.0, 3.0)):
        if edges[-1] - low <= _STRETCH * length:
            break
        edges.append(edges[-1] - length)
    return np.array([low, *edges[::-1]])


class _RatioAbove:
    """The part of the log ratio's distribution above 0, of gamma variates with these shapes."""

    def __init__(self, both: float, only_a: float, only_b: float, waves: _Waves):
        self._shapes = both, only_a, only_b
        self._constant = -special.betaln(only_a, both) - special.betaln(only_b, both + only_a)
        share = special.betainccinv(only_b, both + only_a, _BEYOND)
        most = min(np.log1p(share / (1 - share)), _LARGEST) if share < 1 else _LARGEST
        fall = min(1.0, only_a + only_b)
        mean, variance = _mean_and_variance(both, only_a, only_b)
        spread = mean, float(np.sqrt(variance))
        low, high = max(np.log(most) + np.log(_LEFT_OUT) / fall - 1, _LEAST), np.log(most)
        grid = _places_to_look(low, high, *spread)
        delta, weight = self._rule(grid)
        kept = np.flatnonzero(weight.sum(axis=1) > _LEFT_OUT)
        self.empty = not len(kept)
        if self.empty:
            return
        low, high = grid[max(kept[0] - 1, 0)], grid[min(kept[-1] + 1, len(grid) - 1)]
        self._fix_polynomials(delta[weight > 1e-15 * weight.max()], waves)
        self.pieces = _Pieces.fit(
            self._averages, _edges_between(low, high, *spread), _RATIO_TOLERANCE, _HALVINGS
        )

    @cached_property
    def mass(self) -> float:
        """The probability of a log ratio above 0."""
        if self.empty:
            return 0.0
        sign = (-1.0) ** np.arange(_TERMS + 1)
        halves = np.diff(self.pieces.edges) / 2
        series = zip(self.pieces.series, halves, strict=True)
        return float(sum(half * (sign @ _integral_to_end(one[:, :1]))[0] for one, half in series))

    @cached_property
    def edges(self) -> Array:
        """The edges of the pieces, as values of ζ."""
        return np.exp(self.pieces.edges)

    def _fix_polynomials(self, delta: Array, waves: _Waves) -> None:
        """Where δ lies, and of which degree its polynomials must be."""
        low, high = float(delta.min()), float(delta.max())
        margin = (high - low) / 10
        low, high = max(low - margin, 0.0), min(high + margin, float(np.log(2)))
        self._centre, self._radius = (low + high) / 2, max((high - low) / 2, 1e-300)
        most = waves.frequency[-1] * self._radius
        degree = np.arange(int(most + 6 + 3 * np.cbrt(most + 1)))
        bessel = special.jv(degree[:, None], self._radius * waves.frequency)
        scale = np.max(waves.decay * np.abs(bessel), axis=1)
        scale[0] = 1.0
        size = int(np.flatnonzero(scale > _LEFT_OUT)[-1]) + 1
        # each polynomial counts by how much it may matter
        self._scale = scale[:size]
        # exp(iωδ) is the sum of 2·i^k·J_k·T_k, half of the first; the i of odd k is left out here
        self.waves = 2 * bessel[:size] / self._scale[:, None]
        self.waves[0] /= 2
        self.waves[np.arange(size) % 4 >= 2] *= -1

    def shift(self, frequency: Array) -> Array:
        """The angle by which the middle of δ turns what the polynomials make up."""
        return np.asarray(frequency * self._centre)

    def _averages(self, log_zeta: Array) -> Array:
        """Averages of the polynomials of δ, times the density of log ζ."""
        delta, weight = self._rule(log_zeta)
        x = np.clip((delta - self._centre) / self._radius, -1, 1)
        found = np.empty((len(log_zeta), len(self._scale)))
        last, now = np.ones_like(x), x
        for i in range(len(self._scale)):
            found[:, i] = np.einsum("ij,ij->i", weight, last)
            last, now = now, 2 * x * now - last
        return np.asarray(found * self._scale)

    def _rule(self, log_zeta: Array) -> tuple[Array, Array]:
        """δ and its weights, which add up to the density of log ζ; a row for each ζ."""
        both, only_a, only_b = self._shapes
        zeta = np.exp(log_zeta)
        gap = np.expm1(zeta)[:, None]
        left = np.log(gap / (1 + gap)) - _MARGIN

        def odds(t: Array) -> tuple[Array, Array]:
            # equal steps, but at the ends, where the integrand is a power of y or of 1 - y
            up, down = np.exp((t - _MARGIN) / _GROWTH), np.exp((left - t) / _GROWTH)
            return t + up - down, 1 + (up + down) / _GROWTH

        def log_integrand(t: Array) -> Array:
            y, rate = odds(t)
            log_y = special.log_expit(y)
            x = gap + np.exp(log_y)
            powers = only_a * log_y + both * special.log_expit(-y) + (only_b - 1) * np.log(x)
            return np.asarray(powers - sum(self._shapes) * np.log1p(x) + np.log(rate))

        low = left[:, 0] - _GROWTH * np.log(_TAIL / only_a + 2) - 1
        high = np.full(len(zeta), _MARGIN + _GROWTH * np.log(_TAIL / both + 2) + 1)
        t, logs = _zoomed(log_integrand, low, high)
        step = (t[:, 1] - t[:, 0])[:, None]
        weight = np.exp(logs + self._constant + (log_zeta + zeta)[:, None]) * step
        return np.log1p(special.expit(odds(t)[0]) * np.exp(-zeta)[:, None]), weight


def _zoomed(log_function: Callable[[Array], Array], low: Array, high: Array) -> tuple[Array, Array]:
    """Equally spaced points over where positive functions matter, and their logarithms there."""
    size = int(np.clip(np.max(high - low) / _STEP, _LEAST_STEPS, _MOST_STEPS))
    part = np.arange(size) / (size - 1)
    for _ in range(_ZOOMS):
        t = low[:, None] + (high - low)[:, None] * part
        logs = log_function(t)
        matters = logs > logs.max(axis=1, keepdims=True) - _RATIO_DROP
        first = np.argmax(matters, axis=1)
        last = size - 1 - np.argmax(matters[:, ::-1], axis=1)
        narrow = last - first < _FILLED * size
        if not narrow.any():
            break
        step = (high - low) / (size - 1)
        start, end = np.maximum(first - 1, 0), np.minimum(last + 1, size - 1)
        low, high = (
            np.where(narrow, low + step * start, low),
            np.where(narrow, low + step * end, high),
        )
    return t, logs


# -----------------------------------------------------------------------------
# The posterior of a difference in precision, B minus A, as a sum over one variable.
#
# The true positives of A and B, and their false positives, are sums of gamma variates that share
# one: T_A = a + b, T_B = a + c, F_A = u + v, F_B = u + w. The log odds of the two precisions, X
# and Y, are
#
#     W = (X + Y)/2 = ½ log(T_A T_B) - ½ log(F_A F_B),    Z = Y - X = log(T_B/T_A) - log(F_B/F_A)
#
# and B - A = d where sinh(Z/2) - d·cosh(Z/2) = d·cosh W: for every W one z, so that
#
#     P(B - A > d) = ∫ P(Z > z(d, W), W) dW
#
# True and false positives are independent: the characteristic function of W, where Z is near z, is
# a convolution of what `_shared_ratio` knows of either (`_ratio_sums`). Where the two ratios lie
# on the same side of 1, ζ_T = z + ζ_F, and on different sides ζ_T + ζ_F = z; on the scale of
# logarithms neither integrand has a singularity near the real line. What does not depend on d is
# worked out once: a table over W (for a trapezoid rule) and log z (Chebyshev series).
# -----------------------------------------------------------------------------

if TYPE_CHECKING:
    Complex = NDArray[np.complex128]


_LAW_DROP = 22.0  # logarithm of what is left out of W, and of its characteristic function
_WIDEST_STEP = 0.45  # of W
_MOST_WAVES = 400
_MOST_PLACES = 800  # of W, for the sake of a Z that is known better
_MANY = 1e5  # counts from which on log gamma functions lose digits
_MOST_CASES = 1e7  # on which the systems disagree
_LEFT_OUT = 1e-11
_LAW_TOLERANCE = 3e-9
_HALVINGS = 5
_REACH = 14.0  # log z from the top down; below, the density is a power of z
_LEAST_ERROR = 1e-9
_FAR = 1e-7  # the tail beyond which relative accuracy is lost
_NEXT_TO_0 = 1e-30
_TINY = 1e-300


class PrecisionLaw:
    """The difference of two precisions; cells are the shapes of the cases 0 to 5.

    Tails below 1e-7 are carried on as a power of 1 - d, so that limits at any level are found.
    """

    def __init__(self, cells: Sequence[float]):
        a0, a1, a2, a3, a4, a5 = cells[:6]
        true, false = a0 + a2 + a4, a1 + a3 + a5
        grid = _Grid.of(cells)
        self._grid = grid
        rest = grid.waves
        hits = _RatioAbove(a4, a0, a2, rest), _RatioAbove(a4, a2, a0, rest)
        alarms = _RatioAbove(a5, a1, a3, rest), _RatioAbove(a5, a3, a1, rest)
        (up, var_up), (down, var_down) = (
            _mean_and_variance(a4, a0, a2),
            _mean_and_variance(a5, a1, a3),
        )
        power = min(1.0, a0 + a1 + a2 + a3)
        mean, sd = up - down, float(np.sqrt(var_up + var_down))
        self.b_above = _Side(grid, *hits, *alarms, mean, sd, power)
        self.a_above = _Side(grid, *hits[::-1], *alarms[::-1], -mean, sd, power)
        self.endless = a0 + a1 + a2 + a3 <= 1
        self._centre = float(np.log(true / false))
        self._total = self.b_above.mass + self.a_above.mass
        self._expected = 1.0
        if true + false > _MANY:  # then the total lacks a factor, which is no error
            self._expected = float(np.prod([sum(x.mass for x in pair) for pair in (hits, alarms)]))

    @staticmethod
    def suits(cells: Sequence[float]) -> bool:
        """Whether this rule will do.

        Next to no prior stretches W over hundreds; huge counts leave too few digits.
        """
        if sum(cells[:4]) > _MOST_CASES:
            return False
        return len(_Grid.of(cells).waves.frequency) <= _MOST_WAVES

    @property
    def error(self) -> float:
        """What series and rules leave: both sides together must have the probability 1."""
        if not min(self._expected, self._total) > 0:  # too small for a number
            return np.inf
        sides = max(self.b_above.error, self.a_above.error)
        return max(_LEAST_ERROR, sides, abs(self._total / self._expected - 1))

    @property
    def at_0(self) -> tuple[float, float]:
        """P(at most 0) and P(above 0)."""
        return self.a_above.mass / self._total, self.b_above.mass / self._total

    def tails(self, d: Array, *, density: bool = False) -> tuple[Array, Array, Array]:
        """P(at most d), P(above d) and, where asked for, the density."""
        below, above, slope = np.zeros((3, len(d)))
        for side, rises, near, far in (
            (self.b_above, d >= 0, above, below),
            (self.a_above, d < 0, below, above),
        ):
            if rises.any():
                near[rises], slope[rises] = self._beyond(side, np.abs(d[rises]), density=density)
                far[rises] = 1 - near[rises]
        at_0 = d == 0
        below[at_0] = self.at_0[0]
        if self.endless:
            slope[at_0] = np.inf
        return below, above, slope if density else np.full(len(d), np.nan)

    def _beyond(self, side: _Side, d: Array, *, density: bool) -> tuple[Array, Array]:
        tail, slope = side.beyond(d, self._centre, density=density)
        tail, slope = tail / self._total, slope / self._total
        # a sum of terms of either sign tells nothing of tails far out
        if np.any(tail < _FAR):
            edge, value, power = self._joints[side is self.b_above]
            far = d > edge
            rest = np.clip((1 - d[far]) / (1 - edge), 0, 1)
            tail[far] = value * rest**power
            slope[far] = value * power / (1 - edge) * rest ** (power - 1)
        return np.clip(tail, 0, 1), np.maximum(slope, 0)

    @cached_property
    def _joints(self) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """Where, to the left and to the right, a power of 1 - d takes over: there, value, power."""
        return self._joint(self.a_above), self._joint(self.b_above)

    def _joint(self, side: _Side) -> tuple[float, float, float]:
        low, high = 0.0, 1.0
        for _ in range(60):
            d = (low + high) / 2
            tail = side.beyond(np.array([d]), self._centre, density=False)[0][0] / self._total
            low, high = (d, high) if tail > _FAR else (low, d)
        tail, slope = (
            float(x[0]) / self._total
            for x in side.beyond(np.array([low]), self._centre, density=True)
        )
        value = max(tail, _TINY)
        return low, value, max(1.0, slope * (1 - low) / value)


@dataclass(frozen=True)
class _Grid:
    """Frequencies, and the places of W, less log(n_T/n_F), at which it is summed up."""

    waves: _Waves
    factor: Complex  # the characteristic function of log(T/F), of all of either, and the weights
    place: Array

    @classmethod
    def of(cls, cells: Sequence[float]) -> _Grid:
        a0, a1, a2, a3, a4, a5 = cells[:6]
        true, false = a0 + a2 + a4, a1 + a3 + a5

        def decay(x: Array) -> Array:
            return np.real(_log_gamma_ratio(true, x) + _log_gamma_ratio(false, x))

        highest = _crossing(lambda x: float(decay(np.array(x))) + _LAW_DROP)
        ends = []
        for t, f in ((a0 + a4, a1 + a5), (a2 + a4, a3 + a5)):
            shapes = np.array(t), np.array(f)
            ends.append(log_odds.window(*shapes, _drop(t, true))[0])
            ends.append(log_odds.window(*shapes, _drop(f, false))[1])
        low, high = min(ends) - np.log(true / false), max(ends) - np.log(true / false)
        step = 2 * np.pi / (high - low)
        frequency = np.arange(0, highest + step, step)
        size = int((high - low) / min(_WIDEST_STEP, 1.3 * np.pi / highest)) + 2
        size = max(size, int(min((high - low) / _width_of_a_step(cells), _MOST_PLACES)))
        factor = np.exp(_log_gamma_ratio(true, frequency) + _log_gamma_ratio(false, -frequency))
        factor *= step / np.pi
        factor[0] /= 2
        waves = _Waves(frequency, np.exp(decay(frequency)))
        return cls(waves, factor, np.linspace(low, high, size))

    @property
    def step(self) -> float:
        """Of W."""
        return float(self.place[1] - self.place[0])


def _width_of_a_step(cells: Sequence[float]) -> float:
    """How far W moves while P(Z > z(d, W)) falls from 1 to 0: z moves by at most as much, or by z.

    Where Z is known better than W, its sum needs shorter steps than W itself. One of its two parts
    may have an edge, as gamma variates of small shapes do, which the other part alone rounds off.
    """
    a0, a1, a2, a3, a4, a5 = cells[:6]
    hits, alarms = _mean_and_variance(a4, a0, a2), _mean_and_variance(a5, a1, a3)
    z, sd = abs(hits[0] - alarms[0]), np.sqrt(min(hits[1], alarms[1]))
    return float(sd / min(1.0, max(z, sd)))


def _drop(shape: float, total: float) -> float:
    """How far the density of one system's log odds falls, where that of W is next to nothing.

    Where the shapes are small, W has lighter tails than X or Y alone.
    """
    return float(_LAW_DROP / (1 + (min(total / shape, 2.0) - 1) * np.exp(-shape / 3)))


def _crossing(function: Callable[[float], float]) -> float:
    """About where a falling function is 0."""
    low, high = 0.0, 1.0
    while function(high) > 0:
        low, high = high, 2 * high
    for _ in range(8):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return high


def _log_gamma_ratio(n: float, x: Array) -> Complex:
    """Log Γ(n + ix)/Γ(n), less ix·log n, without the difference of huge logarithms."""
    z = 1j * x
    if n < 1e3:
        return np.asarray(special.loggamma(n + z) - special.gammaln(n) - z * np.log(n))
    series = (1 / (n + z) - 1 / n) / 12 - (1 / (n + z) ** 3 - 1 / n**3) / 360
    return np.asarray((n - 0.5 + z) * np.log1p(z / n) - z + series)


class _Side:
    """Z > 0: the density of log z at every W, and the probability beyond."""

    mass, error = 0.0, 0.0

    def __init__(
        self,
        grid: _Grid,
        hits_up: _RatioAbove,
        hits_down: _RatioAbove,
        alarms_up: _RatioAbove,
        alarms_down: _RatioAbove,
        mean: float,
        sd: float,
        power: float,
    ):
        self._grid, self._power = grid, power
        self._terms: list[_Alike | _Apart] = []
        if not (hits_up.empty or alarms_up.empty):
            self._terms.append(_Alike(alarms_up, hits_up, -1.0, grid.waves))
        if not (hits_down.empty or alarms_down.empty):
            self._terms.append(_Alike(hits_down, alarms_down, 1.0, grid.waves))
        if not (hits_up.empty or alarms_down.empty):
            self._terms.append(_Apart(hits_up, alarms_down, grid.waves))
        self._pieces: _Pieces | None = None
        most = max((term.most for term in self._terms), default=0.0)
        if most:
            self._tabulate(most, mean, sd)

    def _tabulate(self, most: float, mean: float, sd: float) -> None:
        high = np.log(most)
        low = min(high, np.log(max(abs(mean), sd))) - _REACH
        grid = _places_to_look(low, high, mean, sd)
        kept = np.flatnonzero(sum(term.total(grid) for term in self._terms) > _LEFT_OUT)
        if not len(kept):
            return
        low, high = grid[max(kept[0] - 1, 0)], grid[min(kept[-1] + 1, len(grid) - 1)]
        edges = _edges_between(low, high, mean, sd)
        pieces = _Pieces.fit(self._wave_parts, edges, _LAW_TOLERANCE, _HALVINGS)
        turns = np.exp(-1j * np.outer(self._grid.waves.frequency, self._grid.place))
        self._density = [np.real(series @ turns) for series in pieces.series]
        sign = (-1.0) ** np.arange(_TERMS + 1)
        self._beyond: list[Array] = []
        right = np.zeros(len(self._grid.place))
        for series, half in list(zip(self._density, np.diff(pieces.edges) / 2, strict=True))[::-1]:
            integral = _integral_to_end(series) * half
            integral[0] += right
            right = sign @ integral
            self._beyond.insert(0, integral)
        # below the pieces the density is a power of z
        self._lowest = sign[:_TERMS] @ self._density[0]
        self._all = right + self._lowest / self._power
        self._pieces, self.error = pieces, pieces.error
        self.mass = float(self._all.sum() * self._grid.step)

    def _wave_parts(self, log_z: Array) -> Complex:
        parts = sum(term.wave_parts(log_z) for term in self._terms)
        return np.asarray(parts * self._grid.factor)

    def beyond(self, d: Array, centre: float, *, density: bool) -> tuple[Array, Array]:
        """The probability of a difference above d, and its density, by the sum over W."""
        tail, slope = np.zeros((2, len(d)))
        inside = np.flatnonzero(d < 1)
        if self._pieces is None or not len(inside):
            return tail, slope
        away = np.maximum(d[inside], _NEXT_TO_0)[:, None]
        level, scale = np.cosh(self._grid.place + centre), np.sqrt((1 - away) * (1 + away))
        # sinh(z/2) - d·cosh(z/2) = √(1 - d²)·sinh(z/2 - artanh d)
        rise = np.arcsinh(away * level / scale)
        z = 2 * (np.arctanh(away) + rise)
        value, rate = self._at(np.log(z), density=density)
        value[d[inside] == 0] = self._all
        tail[inside] = value.sum(axis=1) * self._grid.step
        if density:
            rate = rate / z * 2 * (level + np.cosh(z / 2)) / (scale * np.cosh(rise))
            slope[inside] = rate.sum(axis=1) * self._grid.step
        return tail, slope

    def _at(self, log_z: Array, *, density: bool) -> tuple[Array, Array]:
        """P(Z > z) and the density of log z, at the W of each column."""
        assert self._pieces is not None  # noqa: S101
        edges = self._pieces.edges
        value, rate = np.zeros((2, *log_z.shape))
        which = np.searchsorted(edges, log_z, side="right") - 1
        for i, (beyond, slope) in enumerate(zip(self._beyond, self._density, strict=True)):
            at = np.nonzero(which == i)
            if len(at[0]):
                x = (2 * log_z[at] - edges[i] - edges[i + 1]) / (edges[i + 1] - edges[i])
                polynomials = _chebyshev(x, _TERMS + 1)
                value[at] = np.einsum("ij,ij->j", polynomials, beyond[:, at[1]])
                if density:
                    rate[at] = np.einsum("ij,ij->j", polynomials[:-1], slope[:, at[1]])
        at = np.nonzero(which < 0)
        rate[at] = self._lowest[at[1]] * np.exp(self._power * (log_z[at] - edges[0]))
        value[at] = self._all[at[1]] - rate[at] / self._power
        return value, rate
