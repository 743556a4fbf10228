"""Compute the posterior of a difference in precision as a sum over one variable."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial.chebyshev import chebint
from numpy.typing import NDArray
from scipy import special

from probative.inference.posterior import log_odds

if TYPE_CHECKING:
    from probative._validation import Array


# --- Convolution of the log ratios of true and of false positives
#
# Together they give z, the difference of the log odds. Each is given by the density of its
# logarithm and by its contribution to W, the mean of the log odds (see `_RatioAbove`,
# `PrecisionLaw`). For every z the integral is split at the edges of the pieces of both: between
# these, both are polynomials and a Gauss rule suffices.

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(14)
_RATIO_SUMS_CHUNK = 2**10  # points evaluated at once, so that they stay in the processor's cache


class _Part(ABC):
    """A part of the distribution of z: the ratios on the same side of 1, or on different sides."""

    def __init__(self, first: _RatioAbove, second: _RatioAbove, sign: float, waves: _Waves):
        self._first, self._second, self._sign = first, second, sign
        self._frequency = waves.frequency
        turn = self._frequency * second.centre - self._frequency * first.centre
        self._turn = np.exp(sign * 1j * turn)

    @property
    @abstractmethod
    def most(self) -> float:
        """Return the largest z."""

    @abstractmethod
    def _points(self, log_z: Array) -> tuple[NDArray[np.intp], Array, Array, Array]:
        """Return index of z, logarithms of both log ratios and weights; one row per stretch."""

    @abstractmethod
    def _sums(self, first: Array, second: Array, weight: Array, start: Any, z: Array) -> Complex:
        """Return the sums over the points of every z, whose first stretches are at `start`."""

    def total(self, log_z: Array) -> Array:
        """Return the density of log z."""
        which, first, second, weight = self._points(log_z)
        product = self._first.pieces.at(first, 1) * self._second.pieces.at(second, 1)
        values = np.sum(product[..., 0] * weight, axis=1)
        return np.asarray(np.bincount(which, values, len(log_z)), dtype=np.float64)

    def wave_parts(self, log_z: Array) -> Complex:
        """Return the density of log z times the characteristic function of W; one row per z."""
        which, first, second, weight = self._points(log_z)
        result = np.zeros((len(log_z), len(self._frequency)), dtype=complex)
        if len(which):
            start = np.flatnonzero(np.append(True, np.diff(which) > 0))
            rows = which[start]
            result[rows] = self._sums(first, second, weight, start, np.exp(log_z)[rows])
        return result


class _Alike(_Part):
    """The part with both ratios on the same side of 1: the log ratios differ by z."""

    # the smaller log ratio comes first

    @property
    def most(self) -> float:
        return float(self._second.edges[-1])

    def _points(self, log_z: Array) -> tuple[NDArray[np.intp], Array, Array, Array]:
        z, smaller, larger = np.exp(log_z), self._first, self._second
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

    def _sums(self, first: Array, second: Array, weight: Array, start: Any, z: Array) -> Complex:
        a, b = self._first.pieces.at(first), self._second.pieces.at(second)
        a *= weight[..., None]
        # true and false positives enter W with opposite signs
        small = self._first.complex_waves(-self._sign)
        large = self._second.complex_waves(self._sign)
        joint = np.add.reduceat(np.matmul(b.transpose(0, 2, 1), a), start, axis=0)
        turned = (joint.reshape(-1, a.shape[2]) @ small).reshape(len(z), b.shape[2], -1)
        half = np.exp(self._sign * 0.5j * np.outer(z, self._frequency)) * self._turn
        return np.asarray(np.einsum("zko,ko->zo", turned, large) * half)


class _Apart(_Part):
    """The part with the ratios on different sides of 1: the absolute log ratios add up to z."""

    # the log ratio of hits comes first, that of false alarms second

    @property
    def most(self) -> float:
        return float(self._first.edges[-1] + self._second.edges[-1])

    def _points(self, log_z: Array) -> tuple[NDArray[np.intp], Array, Array, Array]:
        z, hits, alarms = np.exp(log_z), self._first, self._second
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

    def _sums(self, first: Array, second: Array, weight: Array, start: Any, z: Array) -> Complex:
        del z
        step = float(self._frequency[1])
        sums = np.empty((len(self._frequency), len(weight)), dtype=complex)
        together = max(1, _RATIO_SUMS_CHUNK // len(_NODES))
        for begin in range(0, len(weight), together):
            part = slice(begin, begin + together)
            hits, alarms = first[part], second[part]
            product = self._first.waves_at(hits, -1.0)
            product *= self._second.waves_at(alarms, 1.0)
            turn = np.exp(0.5j * step * (np.exp(alarms) - np.exp(hits))).ravel()
            product *= _powers(turn, len(product))
            sums[:, part] = np.sum(product.reshape(-1, *hits.shape) * weight[part], axis=2)
        return np.asarray(np.add.reduceat(sums, start, axis=1).T * self._turn)


def _powers(x: Complex, size: int) -> Complex:
    """Return all powers of x from 0 to size - 1, one row each."""
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
    """Return Gauss points between all edges from low to high, one row per stretch of each row."""
    edges = np.sort(np.clip(edges, low[:, None], high[:, None]), axis=1)
    which, at = np.nonzero(np.diff(edges) > 1e-9)
    start, end = edges[which, at][:, None], edges[which, at + 1][:, None]
    half = (end - start) / 2
    return which, start + half + half * _NODES, half * _WEIGHTS


# --- Piecewise Chebyshev series of functions of one variable
#
# A piece whose series has not converged is halved. The last coefficients estimate the error.

_TERMS = 24  # per series
_PIECEWISE_CHUNK = 2**11  # points evaluated at once, so that they stay in the processor's cache
_ANGLES = np.pi * (np.arange(_TERMS) + 0.5) / _TERMS
_CHEBYSHEV_POINTS = np.cos(_ANGLES)
_TO_SERIES = np.cos(np.outer(np.arange(_TERMS), _ANGLES)) * 2 / _TERMS
_TO_SERIES[0] /= 2
_SIGNS = (-1.0) ** np.arange(_TERMS + 1)  # of the polynomials at the start of a piece


@dataclass(frozen=True)
class _Pieces:
    """Chebyshev series on the pieces between the edges; each column of a series is one function."""

    edges: Array
    series: list[NDArray[Any]]
    error: float

    @classmethod
    def fit(
        cls, function: Callable[[Array], NDArray[Any]], edges: Array, tolerance: float
    ) -> _Pieces:
        """Halve the pieces until all series of the function, one row per point, have converged."""
        waiting = [(float(a), float(b)) for a, b in itertools.pairwise(edges)]
        done: list[tuple[float, float, NDArray[Any]]] = []
        error = 0.0
        for left in range(_HALVINGS, -1, -1):
            if not waiting:
                break
            points = np.concatenate(
                [(a + b) / 2 + (b - a) / 2 * _CHEBYSHEV_POINTS for a, b in waiting]
            )
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
        """Return all functions, or the first ones, along a new last axis; 0 outside the pieces."""
        flat = x.ravel()
        width = self.series[0].shape[1] if columns is None else columns
        values = np.zeros((len(flat), width), dtype=self.series[0].dtype)
        which = np.searchsorted(self.edges, flat, side="right") - 1
        for i, series in enumerate(self.series):
            a, b = self.edges[i : i + 2]
            all_inside = np.flatnonzero(which == i)
            for first in range(0, len(all_inside), _PIECEWISE_CHUNK):
                inside = all_inside[first : first + _PIECEWISE_CHUNK]
                polynomials = _chebyshev((2 * flat[inside] - a - b) / (b - a), _TERMS)
                values[inside] = polynomials.T @ series[:, :width]
        return values.reshape(*x.shape, width)


def _chebyshev(x: Array, terms: int) -> Array:
    """Return the Chebyshev polynomials at x, one row per degree."""
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


# --- The ratio of two sums of gamma variates that share one: (a + c)/(a + b)
#
# The scores depend on its logarithm ζ and on the scale m = ½ log((a + b)(a + c)/(a + b + c)²),
# where a is counted by both systems, b only by A and c only by B. For ζ > 0, y = b/(a + b) and
# x = c/(a + b) are independent, a Beta and a Beta prime variate, and
#
#     x - y = e^ζ - 1,    m = -ζ/2 - δ,    δ = log(1 + y·e^-ζ) in (0, log 2)
#
# The density of ζ is an integral over y whose singularities, on the scale of log odds, stay at
# distance π from the real line however small ζ is: a trapezoid rule converges exponentially. For
# ζ < 0, b and c are exchanged. As a function of log ζ the density is smooth and stored as
# Chebyshev series, together with averages of Chebyshev polynomials of δ, which give the
# characteristic function of δ.

_RATIO_TOLERANCE = 1e-10
_LARGEST_ZETA = 600.0
_LEAST_LOG_ZETA = -600.0
_TAIL_ABOVE_LARGEST_ZETA = 1e-12  # probability that is left out
_STEP_OF_Y = 0.55  # log odds
_LEAST_STEPS, _MOST_STEPS = 40, 120
_MARGIN = 2.5  # log odds beyond the features of the integrand from which on steps grow
_GROWTH = 2.0  # log odds over which the growth of the steps increases by a factor e
_TAIL = 28.0  # minus the logarithm of what is left out at either end
_RATIO_DROP = 26.0  # the rule ends where the logarithm of the integrand is this far below its peak
_LEAST_SHARE_OF_USEFUL_STEPS = 0.6  # otherwise the range is narrowed
_MOST_NARROWINGS = 14
_PIECE_LENGTHS = (2.0, 2.0, 7.0, 10.0, 13.0)  # from the top down; then longer by 3 each
_STRETCH_OF_LAST_PIECE = 1.6
_NARROW_PEAK = 7.0  # standard deviations from 0, beyond which the peak gets its own piece


@dataclass(frozen=True)
class _Waves:
    """The frequencies of the characteristic functions, and the weight of each (`decay`)."""

    frequency: Array
    decay: Array


def _moments_of_ratios(cells: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Return mean and variance of the log ratios of true and of false positives."""
    a0, a1, a2, a3, a4, a5 = cells[:6]
    return _mean_and_variance(a4, a0, a2), _mean_and_variance(a5, a1, a3)


def _mean_and_variance(both: float, only_a: float, only_b: float) -> tuple[float, float]:
    """Return mean and variance of the log ratio to first order."""
    a, b = both + only_a, both + only_b
    shared = both * (1 / b - 1 / a) ** 2
    return float(np.log(b / a)), only_b / b**2 + only_a / a**2 + shared


def _places_to_look(low: float, high: float, mean: float, sd: float) -> Array:
    """Return logarithms of trial values: evenly between the bounds, and around the mean."""
    about = mean + sd * np.arange(-9, 10, 1.5)
    about = about[(about > np.exp(low)) & (about < np.exp(high))]
    grid = np.sort(np.concatenate([np.linspace(low, high, 16), np.log(about)]))
    return np.asarray(grid[np.append(True, np.diff(grid) > 1e-9)])


def _edges_between(low: float, high: float, mean: float, sd: float) -> Array:
    """Return edges of pieces on a logarithmic scale: short around a peak, longer towards 0."""
    edges = [high]
    if mean > _NARROW_PEAK * sd:
        peak = np.log([mean + _NARROW_PEAK * sd, mean - 3 * sd]).tolist()
        edges += [x for x in peak if low + 0.1 < x < high - 0.1]
    for length in itertools.chain(_PIECE_LENGTHS, itertools.count(16.0, 3.0)):
        if edges[-1] - low <= _STRETCH_OF_LAST_PIECE * length:
            break
        edges.append(edges[-1] - length)
    return np.array([low, *edges[::-1]])


class _RatioAbove:
    """The distribution of the log ratio above 0, for gamma variates with these shapes."""

    def __init__(self, both: float, only_a: float, only_b: float, waves: _Waves):
        self._shapes = both, only_a, only_b
        self._constant = -special.betaln(only_a, both) - special.betaln(only_b, both + only_a)
        share = special.betainccinv(only_b, both + only_a, _TAIL_ABOVE_LARGEST_ZETA)
        most = min(np.log1p(share / (1 - share)), _LARGEST_ZETA) if share < 1 else _LARGEST_ZETA
        fall = min(1.0, only_a + only_b)
        mean, variance = _mean_and_variance(both, only_a, only_b)
        spread = mean, float(np.sqrt(variance))
        high = np.log(most)
        low = max(high + np.log(_NEGLIGIBLE) / fall - 1, _LEAST_LOG_ZETA)
        grid = _places_to_look(low, high, *spread)
        delta, weight = self._rule(grid)
        kept = np.flatnonzero(weight.sum(axis=1) > _NEGLIGIBLE)
        self.empty = not len(kept)
        if self.empty:
            return
        low, high = grid[max(kept[0] - 1, 0)], grid[min(kept[-1] + 1, len(grid) - 1)]
        self._fix_polynomials(delta[weight > 1e-15 * weight.max()], waves)
        edges = _edges_between(low, high, *spread)
        self.pieces = _Pieces.fit(self._averages, edges, _RATIO_TOLERANCE)

    @cached_property
    def mass(self) -> float:
        """Return the probability of a log ratio above 0."""
        if self.empty:
            return 0.0
        series = zip(self.pieces.series, np.diff(self.pieces.edges) / 2, strict=True)
        parts = (half * -(_SIGNS @ chebint(piece[:, :1], lbnd=1))[0] for piece, half in series)
        return float(sum(parts))

    @cached_property
    def edges(self) -> Array:
        """Return the edges of the pieces as values of ζ."""
        return np.exp(self.pieces.edges)

    def _fix_polynomials(self, delta: Array, waves: _Waves) -> None:
        """Set the range of δ and the degree of its polynomials."""
        low, high = float(delta.min()), float(delta.max())
        margin = (high - low) / 10
        low, high = max(low - margin, 0.0), min(high + margin, float(np.log(2)))
        self.centre, self._radius = (low + high) / 2, max((high - low) / 2, 1e-300)
        most = waves.frequency[-1] * self._radius
        degree = np.arange(int(most + 6 + 3 * np.cbrt(most + 1)))
        bessel = special.jv(degree[:, None], self._radius * waves.frequency)
        scale = np.max(waves.decay * np.abs(bessel), axis=1)
        scale[0] = 1.0
        size = int(np.flatnonzero(scale > _NEGLIGIBLE)[-1]) + 1
        # scale each polynomial by its largest possible contribution
        self._scale = scale[:size]
        # exp(iωδ) = J_0·T_0 + Σ 2·i^k·J_k·T_k; the factor i of odd k is left out here
        self.waves = 2 * bessel[:size] / self._scale[:, None]
        self.waves[0] /= 2
        self.waves[np.arange(size) % 4 >= 2] *= -1

    def complex_waves(self, sign: float) -> Complex:
        """Return the coefficients of the polynomials of δ in its characteristic function."""
        waves = self.waves.astype(complex)
        waves[1::2] *= sign * 1j
        return np.asarray(waves)

    def waves_at(self, log_zeta: Array, sign: float) -> Complex:
        """Return the characteristic function of δ times the density, one row per frequency."""
        averages = self.pieces.at(log_zeta.ravel()).T
        result = np.empty((self.waves.shape[1], averages.shape[1]), dtype=complex)
        result.real = self.waves[::2].T @ averages[::2]
        result.imag = sign * (self.waves[1::2].T @ averages[1::2])
        return result

    def _averages(self, log_zeta: Array) -> Array:
        """Return averages of the polynomials of δ, times the density of log ζ."""
        delta, weight = self._rule(log_zeta)
        x = np.clip((delta - self.centre) / self._radius, -1, 1)
        result = np.empty((len(log_zeta), len(self._scale)))
        last, now = np.ones_like(x), x
        for i in range(len(self._scale)):
            result[:, i] = np.einsum("ij,ij->i", weight, last)
            last, now = now, 2 * x * now - last
        return np.asarray(result * self._scale)

    def _rule(self, log_zeta: Array) -> tuple[Array, Array]:
        """Return δ and weights that add up to the density of log ζ; one row per ζ."""
        both, only_a, only_b = self._shapes
        zeta = np.exp(log_zeta)
        gap = np.expm1(zeta)[:, None]
        left = np.log(gap / (1 + gap)) - _MARGIN

        def odds(t: Array) -> tuple[Array, Array]:
            # steps are equal except at the ends, where the integrand is a power of y or of 1 - y
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
    """Return equally spaced points where positive functions matter, and their logarithms there."""
    size = int(np.clip(np.max(high - low) / _STEP_OF_Y, _LEAST_STEPS, _MOST_STEPS))
    part = np.arange(size) / (size - 1)
    for _ in range(_MOST_NARROWINGS):
        t = low[:, None] + (high - low)[:, None] * part
        logs = log_function(t)
        matters = logs > logs.max(axis=1, keepdims=True) - _RATIO_DROP
        first = np.argmax(matters, axis=1)
        last = size - 1 - np.argmax(matters[:, ::-1], axis=1)
        narrow = last - first < _LEAST_SHARE_OF_USEFUL_STEPS * size
        if not narrow.any():
            break
        step = (high - low) / (size - 1)
        start, end = np.maximum(first - 1, 0), np.minimum(last + 1, size - 1)
        moved = low + step * start, low + step * end
        low, high = np.where(narrow, moved[0], low), np.where(narrow, moved[1], high)
    return t, logs


# --- The posterior of a difference in precision, B minus A, as a sum over one variable
#
# The true positives of A and B, and their false positives, are sums of gamma variates that share
# one: T_A = a + b, T_B = a + c, F_A = u + v, F_B = u + w. The log odds of the two precisions, X
# and Y, are
#
#     W = (X + Y)/2 = ½ log(T_A T_B) - ½ log(F_A F_B),    Z = Y - X = log(T_B/T_A) - log(F_B/F_A)
#
# and B - A = d where sinh(Z/2) - d·cosh(Z/2) = d·cosh W: one z for every W, so that
#
#     P(B - A > d) = ∫ P(Z > z(d, W), W) dW
#
# True and false positives are independent, so the characteristic function of W, given Z near z, is
# a convolution of those of the two ratios (`_Alike`, `_Apart`). If both ratios are on the same side
# of 1, ζ_T = z + ζ_F; otherwise ζ_T + ζ_F = z. On the scale of logarithms neither integrand has a
# singularity near the real line. What does not depend on d is computed once: a table over W (for a
# trapezoid rule) and log z (Chebyshev series).

if TYPE_CHECKING:
    Complex = NDArray[np.complex128]

_LAW_DROP = 22.0  # minus the logarithm of what is left out of W and its characteristic function
_WIDEST_STEP = 0.45  # of W
_MOST_WAVES = 400
_MOST_PLACES = 800  # of W, where Z is known better than W
_LARGE_COUNTS = 1e5  # above, log gamma functions lose digits
_MOST_CASES = 1e7  # on which the systems disagree
_NEGLIGIBLE = 1e-11
_LAW_TOLERANCE = 3e-9
_HALVINGS = 5
_RANGE_OF_LOG_Z = 14.0  # from the top down; below, the density is a power of z
_LEAST_ERROR = 1e-9
_LEAST_ACCURATE_TAIL = 1e-7  # smaller tails lose their relative accuracy
_NEXT_TO_0 = 1e-30
_TINY = 1e-300


def precision_sides(cells: Sequence[float]) -> tuple[Side, Side, float] | None:
    """Return the sides B > A and A > B and their error, from the shapes of the cases 0 to 5."""
    # None if it is infeasible: a tiny prior stretches W over hundreds of log odds; huge counts
    # leave too few digits
    a0, a1, a2, a3, a4, a5 = cells[:6]
    disputed = a0 + a1 + a2 + a3
    grid = _Grid.of(cells)
    if disputed > _MOST_CASES or len(grid.waves.frequency) > _MOST_WAVES:
        return None
    true, false = a0 + a2 + a4, a1 + a3 + a5
    hits = _RatioAbove(a4, a0, a2, grid.waves), _RatioAbove(a4, a2, a0, grid.waves)
    alarms = _RatioAbove(a5, a1, a3, grid.waves), _RatioAbove(a5, a3, a1, grid.waves)
    (up, var_up), (down, var_down) = _moments_of_ratios(cells)
    mean, sd = up - down, float(np.sqrt(var_up + var_down))
    level = np.cosh(grid.place + np.log(true / false))
    b_above = Side(grid, hits, alarms, (mean, sd), level, disputed)
    a_above = Side(grid, hits[::-1], alarms[::-1], (-mean, sd), level, disputed)
    b_above.total = a_above.total = total = b_above.mass + a_above.mass
    expected = 1.0
    if true + false > _LARGE_COUNTS:  # then the total is off by a known factor: no error
        expected = float(np.prod([sum(x.mass for x in pair) for pair in (hits, alarms)]))
    if not min(expected, total) > 0:  # the probabilities underflow
        return None
    error = max(_LEAST_ERROR, b_above.error, a_above.error, abs(total / expected - 1))
    return b_above, a_above, error


@dataclass(frozen=True)
class _Grid:
    """The frequencies, and the values of W - log(n_T/n_F) over which the sum goes."""

    waves: _Waves
    factor: Complex  # the characteristic function of log(T/F) of the totals, times the weights
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
        """Return the step of W."""
        return float(self.place[1] - self.place[0])


def _width_of_a_step(cells: Sequence[float]) -> float:
    """Return how far W moves while P(Z > z(d, W)) falls from 1 to 0."""
    # Meanwhile z moves by at most as much, or by z. Where Z is known better than W, the sum needs
    # shorter steps than W itself. One of the two parts of Z may have an edge, as gamma variates of
    # small shapes do, which the other part alone smooths.
    hits, alarms = _moments_of_ratios(cells)
    z, sd = abs(hits[0] - alarms[0]), np.sqrt(min(hits[1], alarms[1]))
    return float(sd / min(1.0, max(z, sd)))


def _drop(shape: float, total: float) -> float:
    """Return how far the log density of a system's log odds falls where that of W is negligible."""
    # Where the shapes are small, W has lighter tails than X or Y alone.
    return float(_LAW_DROP / (1 + (min(total / shape, 2.0) - 1) * np.exp(-shape / 3)))


def _crossing(function: Callable[[float], float]) -> float:
    """Return approximately where a decreasing function is 0."""
    low, high = 0.0, 1.0
    while function(high) > 0:
        low, high = high, 2 * high
    for _ in range(8):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return high


def _log_gamma_ratio(n: float, x: Array) -> Complex:
    """Return log Γ(n + ix)/Γ(n) - ix·log n without the difference of huge logarithms."""
    z = 1j * x
    if n < 1e3:
        return np.asarray(special.loggamma(n + z) - special.gammaln(n) - z * np.log(n))
    series = (1 / (n + z) - 1 / n) / 12 - (1 / (n + z) ** 3 - 1 / n**3) / 360
    return np.asarray((n - 0.5 + z) * np.log1p(z / n) - z + series)


class Side:
    """The part Z > 0: the density of log z at every W, and the tail above z.

    Tails below 1e-7 are extrapolated as a power of 1 - d, so that quantiles of any level exist.
    """

    mass, error = 0.0, 0.0
    total: float  # mass of both sides, which should be 1

    def __init__(
        self,
        grid: _Grid,
        hits: tuple[_RatioAbove, ...],
        alarms: tuple[_RatioAbove, ...],
        mean_and_sd: tuple[float, float],
        level: Array,
        disputed: float,
    ):
        self._grid, self._level, self._power = grid, level, min(1.0, disputed)
        self._endless = disputed <= 1  # the density at 0
        (hits_up, hits_down), (alarms_up, alarms_down) = hits, alarms
        parts: list[tuple[type[_Part], _RatioAbove, _RatioAbove, float]] = [
            (_Alike, alarms_up, hits_up, -1.0),
            (_Alike, hits_down, alarms_down, 1.0),
            (_Apart, hits_up, alarms_down, 1.0),
        ]
        self._terms = [
            kind(first, second, sign, grid.waves)
            for kind, first, second, sign in parts
            if not (first.empty or second.empty)
        ]
        self._pieces: _Pieces | None = None
        most = max((term.most for term in self._terms), default=0.0)
        if most:
            self._tabulate(most, *mean_and_sd)

    def _tabulate(self, most: float, mean: float, sd: float) -> None:
        high = np.log(most)
        low = min(high, np.log(max(abs(mean), sd))) - _RANGE_OF_LOG_Z
        grid = _places_to_look(low, high, mean, sd)
        kept = np.flatnonzero(sum(term.total(grid) for term in self._terms) > _NEGLIGIBLE)
        if not len(kept):
            return
        low, high = grid[max(kept[0] - 1, 0)], grid[min(kept[-1] + 1, len(grid) - 1)]
        edges = _edges_between(low, high, mean, sd)

        def wave_parts(log_z: Array) -> Complex:
            return np.asarray(
                sum(term.wave_parts(log_z) for term in self._terms) * self._grid.factor
            )

        pieces = _Pieces.fit(wave_parts, edges, _LAW_TOLERANCE)
        turns = np.exp(-1j * np.outer(self._grid.waves.frequency, self._grid.place))
        self._density = [np.real(series @ turns) for series in pieces.series]
        self._integrals: list[Array] = []
        right = np.zeros(len(self._grid.place))
        for series, half in list(zip(self._density, np.diff(pieces.edges) / 2, strict=True))[::-1]:
            integral = -chebint(series, lbnd=1) * half  # from a place in the piece to its end
            integral[0] += right
            right = _SIGNS @ integral
            self._integrals.insert(0, integral)
        # below the pieces the density is a power of z
        self._lowest = _SIGNS[:_TERMS] @ self._density[0]
        self._all = right + self._lowest / self._power
        self._pieces, self.error = pieces, pieces.error
        self.mass = float(self._all.sum() * self._grid.step)

    def tail(self, d: Array, *, density: bool = False) -> tuple[Array, Array]:
        """Return the probability of a difference above d >= 0 and, if asked for, its density."""
        tail, slope = self._beyond(d, density=density)
        # the sum has terms of both signs, which cancel far in the tails
        if np.any(tail < _LEAST_ACCURATE_TAIL):
            edge, value, power = self._joint
            far = d > edge
            rest = np.clip((1 - d[far]) / (1 - edge), 0, 1)
            tail[far] = value * rest**power
            slope[far] = value * power / (1 - edge) * rest ** (power - 1)
        if self._endless:
            slope[d == 0] = np.inf
        return np.clip(tail, 0, 1), np.maximum(slope, 0)

    @cached_property
    def _joint(self) -> tuple[float, float, float]:
        """Return where a power of 1 - d takes over, the tail there and the power."""
        low, high = 0.0, 1.0
        for _ in range(60):
            d = (low + high) / 2
            inside = self._beyond(np.array([d]), density=False)[0][0] > _LEAST_ACCURATE_TAIL
            low, high = (d, high) if inside else (low, d)
        tail, slope = (float(x[0]) for x in self._beyond(np.array([low]), density=True))
        value = max(tail, _TINY)
        return low, value, max(1.0, slope * (1 - low) / value)

    def _beyond(self, d: Array, *, density: bool) -> tuple[Array, Array]:
        """Return the probability of a difference above d, and its density, by the sum over W."""
        tail, slope = np.zeros((2, len(d)))
        inside = np.flatnonzero(d < 1)
        if self._pieces is None or not len(inside):
            return tail, slope
        away = np.maximum(d[inside], _NEXT_TO_0)[:, None]
        level, scale = self._level, np.sqrt((1 - away) * (1 + away))
        # sinh(z/2) - d·cosh(z/2) = √(1 - d²)·sinh(z/2 - artanh d)
        rise = np.arcsinh(away * level / scale)
        z = 2 * (np.arctanh(away) + rise)
        value, rate = self._at(np.log(z), density=density)
        value[d[inside] == 0] = self._all
        step = self._grid.step / self.total
        tail[inside] = value.sum(axis=1) * step
        if density:
            rate = rate / z * 2 * (level + np.cosh(z / 2)) / (scale * np.cosh(rise))
            slope[inside] = rate.sum(axis=1) * step
        return tail, slope

    def _at(self, log_z: Array, *, density: bool) -> tuple[Array, Array]:
        """Return P(Z > z) and the density of log z, at the W of each column."""
        assert self._pieces is not None  # noqa: S101
        edges = self._pieces.edges
        value, rate = np.zeros((2, *log_z.shape))
        which = np.searchsorted(edges, log_z, side="right") - 1
        for i, (beyond, slope) in enumerate(zip(self._integrals, self._density, strict=True)):
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
