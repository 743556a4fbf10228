"""The posterior of a difference in precision, B minus A, as a sum over one variable.

The true positives of A and B, and their false positives, are sums of gamma variates that share one:
T_A = a + b, T_B = a + c, F_A = u + v, F_B = u + w. The log odds of the two precisions, X and Y, are

    W = (X + Y)/2 = ½ log(T_A T_B) - ½ log(F_A F_B),    Z = Y - X = log(T_B/T_A) - log(F_B/F_A)

and B - A = d where sinh(Z/2) - d·cosh(Z/2) = d·cosh W: for every W one z, so that

    P(B - A > d) = ∫ P(Z > z(d, W), W) dW

True and false positives are independent: the characteristic function of W, where Z is near z, is a
convolution of what `_shared_ratio` knows of either (`_ratio_sums`). Where the two ratios lie on the
same side of 1, ζ_T = z + ζ_F, and on different sides ζ_T + ζ_F = z; on the scale of logarithms
neither integrand has a singularity near the real line. What does not depend on d is worked out
once: a table over W (for a trapezoid rule) and log z (Chebyshev series).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative.inference import _log_odds
from probative.inference._piecewise import TERMS, Pieces, chebyshev, integral_to_end
from probative.inference._ratio_sums import Alike, Apart
from probative.inference._shared_ratio import (
    RatioAbove,
    Waves,
    edges_between,
    mean_and_variance,
    places_to_look,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from probative._types import Array

    Complex = NDArray[np.complex128]

__all__ = ["PrecisionLaw"]

_DROP = 22.0  # logarithm of what is left out of W, and of its characteristic function
_WIDEST_STEP = 0.45  # of W
_MOST_WAVES = 400
_MOST_PLACES = 800  # of W, for the sake of a Z that is known better
_MANY = 1e5  # counts from which on log gamma functions lose digits
_MOST_CASES = 1e7  # on which the systems disagree
_LEFT_OUT = 1e-11
_TOLERANCE = 3e-9
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
        hits = RatioAbove(a4, a0, a2, rest), RatioAbove(a4, a2, a0, rest)
        alarms = RatioAbove(a5, a1, a3, rest), RatioAbove(a5, a3, a1, rest)
        (up, var_up), (down, var_down) = (
            mean_and_variance(a4, a0, a2),
            mean_and_variance(a5, a1, a3),
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

    waves: Waves
    factor: Complex  # the characteristic function of log(T/F), of all of either, and the weights
    place: Array

    @classmethod
    def of(cls, cells: Sequence[float]) -> _Grid:
        a0, a1, a2, a3, a4, a5 = cells[:6]
        true, false = a0 + a2 + a4, a1 + a3 + a5

        def decay(x: Array) -> Array:
            return np.real(_log_gamma_ratio(true, x) + _log_gamma_ratio(false, x))

        highest = _crossing(lambda x: float(decay(np.array(x))) + _DROP)
        ends = []
        for t, f in ((a0 + a4, a1 + a5), (a2 + a4, a3 + a5)):
            shapes = np.array(t), np.array(f)
            ends.append(_log_odds.window(*shapes, _drop(t, true))[0])
            ends.append(_log_odds.window(*shapes, _drop(f, false))[1])
        low, high = min(ends) - np.log(true / false), max(ends) - np.log(true / false)
        step = 2 * np.pi / (high - low)
        frequency = np.arange(0, highest + step, step)
        size = int((high - low) / min(_WIDEST_STEP, 1.3 * np.pi / highest)) + 2
        size = max(size, int(min((high - low) / _width_of_a_step(cells), _MOST_PLACES)))
        factor = np.exp(_log_gamma_ratio(true, frequency) + _log_gamma_ratio(false, -frequency))
        factor *= step / np.pi
        factor[0] /= 2
        waves = Waves(frequency, np.exp(decay(frequency)))
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
    hits, alarms = mean_and_variance(a4, a0, a2), mean_and_variance(a5, a1, a3)
    z, sd = abs(hits[0] - alarms[0]), np.sqrt(min(hits[1], alarms[1]))
    return float(sd / min(1.0, max(z, sd)))


def _drop(shape: float, total: float) -> float:
    """How far the density of one system's log odds falls, where that of W is next to nothing.

    Where the shapes are small, W has lighter tails than X or Y alone.
    """
    return float(_DROP / (1 + (min(total / shape, 2.0) - 1) * np.exp(-shape / 3)))


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
        hits_up: RatioAbove,
        hits_down: RatioAbove,
        alarms_up: RatioAbove,
        alarms_down: RatioAbove,
        mean: float,
        sd: float,
        power: float,
    ):
        self._grid, self._power = grid, power
        self._terms: list[Alike | Apart] = []
        if not (hits_up.empty or alarms_up.empty):
            self._terms.append(Alike(alarms_up, hits_up, -1.0, grid.waves))
        if not (hits_down.empty or alarms_down.empty):
            self._terms.append(Alike(hits_down, alarms_down, 1.0, grid.waves))
        if not (hits_up.empty or alarms_down.empty):
            self._terms.append(Apart(hits_up, alarms_down, grid.waves))
        self._pieces: Pieces | None = None
        most = max((term.most for term in self._terms), default=0.0)
        if most:
            self._tabulate(most, mean, sd)

    def _tabulate(self, most: float, mean: float, sd: float) -> None:
        high = np.log(most)
        low = min(high, np.log(max(abs(mean), sd))) - _REACH
        grid = places_to_look(low, high, mean, sd)
        kept = np.flatnonzero(sum(term.total(grid) for term in self._terms) > _LEFT_OUT)
        if not len(kept):
            return
        low, high = grid[max(kept[0] - 1, 0)], grid[min(kept[-1] + 1, len(grid) - 1)]
        edges = edges_between(low, high, mean, sd)
        pieces = Pieces.fit(self._wave_parts, edges, _TOLERANCE, _HALVINGS)
        turns = np.exp(-1j * np.outer(self._grid.waves.frequency, self._grid.place))
        self._density = [np.real(series @ turns) for series in pieces.series]
        sign = (-1.0) ** np.arange(TERMS + 1)
        self._beyond: list[Array] = []
        right = np.zeros(len(self._grid.place))
        for series, half in list(zip(self._density, np.diff(pieces.edges) / 2, strict=True))[::-1]:
            integral = integral_to_end(series) * half
            integral[0] += right
            right = sign @ integral
            self._beyond.insert(0, integral)
        # below the pieces the density is a power of z
        self._lowest = sign[:TERMS] @ self._density[0]
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
                polynomials = chebyshev(x, TERMS + 1)
                value[at] = np.einsum("ij,ij->j", polynomials, beyond[:, at[1]])
                if density:
                    rate[at] = np.einsum("ij,ij->j", polynomials[:-1], slope[:, at[1]])
        at = np.nonzero(which < 0)
        rate[at] = self._lowest[at[1]] * np.exp(self._power * (log_z[at] - edges[0]))
        value[at] = self._all[at[1]] - rate[at] / self._power
        return value, rate
