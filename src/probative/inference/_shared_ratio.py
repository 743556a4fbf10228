"""The ratio of two sums of gamma variates that share one: (a + c)/(a + b).

Its logarithm ζ and, beside it, the scale m = ½ log((a + b)(a + c)/(a + b + c)²) are what a score of
two systems depends on, where a is what both have, b what only A and c what only B has. For ζ > 0,
y = b/(a + b) and x = c/(a + b) are independent, a Beta and a Beta prime variate, and

    x - y = e^ζ - 1,    m = -ζ/2 - δ,    δ = log(1 + y·e^-ζ) in (0, log 2)

The density of ζ is an integral over y, with singularities on the scale of log odds that stay away
from the real line by π, however small ζ is: a trapezoid rule converges exponentially. Below 0, b
and c change places. As a function of log ζ the density is smooth, and kept as Chebyshev series;
with it averages of Chebyshev polynomials of δ, from which its characteristic function is put
together.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative.inference._piecewise import TERMS, Pieces, integral_to_end

if TYPE_CHECKING:
    from collections.abc import Callable

    from probative._types import Array

__all__ = ["RatioAbove", "Waves", "edges_between", "mean_and_variance", "places_to_look"]

_LEFT_OUT = 1e-11  # density of log ζ that is left out
_TOLERANCE = 1e-10
_HALVINGS = 5
_LARGEST = 600.0  # ζ
_LEAST = -600.0  # log ζ
_BEYOND = 1e-12  # probability of more
_STEP = 0.55  # of the rule for y, on the scale of log odds
_LEAST_STEPS, _MOST_STEPS = 40, 120
_MARGIN = 2.5  # log odds beyond the integrand's features from which on steps grow
_GROWTH = 2.0
_TAIL = 28.0  # logarithm of what is left out at either end
_DROP = 26.0  # of the peak to where the rule ends
_FILLED = 0.6  # part of the steps that must matter
_ZOOMS = 14
_LENGTHS = (2.0, 2.0, 7.0, 10.0, 13.0)  # of pieces from the top down, and so on
_STRETCH = 1.6  # by which the last may be longer
_NARROW = 7.0  # standard deviations from 0, from which on the peak gets its own piece


@dataclass(frozen=True)
class Waves:
    """The frequencies at which characteristic functions are wanted, and how much they matter."""

    frequency: Array
    decay: Array

    @property
    def step(self) -> float:
        """From one to the next."""
        return float(self.frequency[1])


def mean_and_variance(both: float, only_a: float, only_b: float) -> tuple[float, float]:
    """Of the log ratio, as far as it is linear."""
    a, b = both + only_a, both + only_b
    shared = both * (1 / b - 1 / a) ** 2
    return float(np.log(b / a)), only_b / b**2 + only_a / a**2 + shared


def places_to_look(low: float, high: float, mean: float, sd: float) -> Array:
    """Logarithms of numbers: evenly between the limits, and about the mean."""
    about = mean + sd * np.arange(-9, 10, 1.5)
    about = about[(about > np.exp(low)) & (about < np.exp(high))]
    grid = np.sort(np.concatenate([np.linspace(low, high, 16), np.log(about)]))
    return np.asarray(grid[np.append(True, np.diff(grid) > 1e-9)])


def edges_between(low: float, high: float, mean: float, sd: float) -> Array:
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


class RatioAbove:
    """The part of the log ratio's distribution above 0, of gamma variates with these shapes."""

    def __init__(self, both: float, only_a: float, only_b: float, waves: Waves):
        self._shapes = both, only_a, only_b
        self._constant = -special.betaln(only_a, both) - special.betaln(only_b, both + only_a)
        share = special.betainccinv(only_b, both + only_a, _BEYOND)
        most = min(np.log1p(share / (1 - share)), _LARGEST) if share < 1 else _LARGEST
        fall = min(1.0, only_a + only_b)
        mean, variance = mean_and_variance(both, only_a, only_b)
        spread = mean, float(np.sqrt(variance))
        low, high = max(np.log(most) + np.log(_LEFT_OUT) / fall - 1, _LEAST), np.log(most)
        grid = places_to_look(low, high, *spread)
        delta, weight = self._rule(grid)
        kept = np.flatnonzero(weight.sum(axis=1) > _LEFT_OUT)
        self.empty = not len(kept)
        if self.empty:
            return
        low, high = grid[max(kept[0] - 1, 0)], grid[min(kept[-1] + 1, len(grid) - 1)]
        self._fix_polynomials(delta[weight > 1e-15 * weight.max()], waves)
        self.pieces = Pieces.fit(
            self._averages, edges_between(low, high, *spread), _TOLERANCE, _HALVINGS
        )

    @cached_property
    def mass(self) -> float:
        """The probability of a log ratio above 0."""
        if self.empty:
            return 0.0
        sign = (-1.0) ** np.arange(TERMS + 1)
        halves = np.diff(self.pieces.edges) / 2
        series = zip(self.pieces.series, halves, strict=True)
        return float(sum(half * (sign @ integral_to_end(one[:, :1]))[0] for one, half in series))

    @cached_property
    def edges(self) -> Array:
        """The edges of the pieces, as values of ζ."""
        return np.exp(self.pieces.edges)

    def _fix_polynomials(self, delta: Array, waves: Waves) -> None:
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
        matters = logs > logs.max(axis=1, keepdims=True) - _DROP
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
