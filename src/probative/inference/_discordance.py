"""The difference of two scores, given how the cases share what they have.

The cases 0 to 3, on which the systems disagree, are put together by whom they favour: 1 and 2 (B
alone is right, A alone is wrong) raise B minus A, 0 and 3 lower it. With K the share of all four,
V that of the favourable ones among them, and M = 1 - K:

    U = K·V,  L = K·(1 - V)
    B - A = (M(u1·U - l1·L) + u2·U² - l2·L²) / ((c·M + ua·U + la·L)(c·M + ub·U + lb·L))

The coefficients depend on the other shares only: how each of
the two pairs, and what both systems did alike, is divided. K, V and these are independent Beta
variates.

For a difference d >= 0, B - A exceeds d where V exceeds the root of a quadratic, and only where K
exceeds the root of another. The first is integrated out as an incomplete beta function; the second
is where the integral over K begins, y = y_d + S·softplus(t) on the scale of log odds, so that in t
there is no edge and a trapezoid rule converges exponentially. Its steps must resolve the density of
K and how fast P(V > root) changes with K, which is faster where V is known better than K. Below 0,
A and B change places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from probative.inference import _log_odds
from probative.inference._discordant_share import GaussShare, SteppedShare

if TYPE_CHECKING:
    from collections.abc import Callable

    from probative._types import Array
    from probative.inference._discordant_share import Points
    from probative.inference._tail_table import TailTable

__all__ = ["Coefficients", "Discordance"]

_CHUNK = 2**12  # numbers handled at once: they stay in the processor's cache
_NEVER = 1e6  # log odds
_LEAST = 1e-300


class Coefficients(NamedTuple):
    """What the difference is made of, at every node; see above."""

    alike: Array  # of M in both denominators
    up1: Array
    up2: Array
    down1: Array
    down2: Array
    up_a: Array
    up_b: Array
    down_a: Array
    down_b: Array

    def swapped(self) -> Coefficients:
        """The same with A and B exchanged."""
        alike, up1, up2, down1, down2, up_a, up_b, down_a, down_b = self
        return Coefficients(alike, down1, down2, up1, up2, down_b, down_a, up_b, up_a)


@dataclass(frozen=True)
class Discordance:
    """Differences d >= 0, averaged over K, V and the nodes of the other shares."""

    at: Coefficients
    weight: Array  # of the nodes; columns of it give as many averages
    size: GaussShare | SteppedShare  # K
    won: TailTable  # V

    def tail(self, d: Array, *, density: bool = False) -> tuple[Array, Array]:
        """P(B - A > d) and the density at each d, which is NaN unless asked for."""
        shape = (len(d), *self.weight.shape[1:])
        share, slope = np.zeros(shape), np.full(shape, 0.0 if density else np.nan)
        # some d together where there are few nodes, and 0 apart, from where all of K counts
        together = max(1, _CHUNK // (self.size.points * len(self.weight)))
        with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
            for inside in (np.flatnonzero(d == 0), np.flatnonzero((d > 0) & (d < 1))):
                for first in range(0, len(inside), together):
                    at = inside[first : first + together]
                    share[at], slope[at] = self._average(d[at], density=density)
        if density and self.size.a <= 1:
            slope[d == 0] = np.inf
        return np.minimum(share, 1.0), slope

    def _average(self, d: Array, *, density: bool) -> tuple[Array, Array]:
        """The same; arrays have an axis for d, one for K and one for the nodes."""
        begin, gain = _least_odds(self.at, d[:, None])
        points = self._points(d[:, None], begin, gain, density=density)
        shape = (len(d), *self.weight.shape[1:])
        sums = [np.zeros(shape), np.full(shape, 0.0 if density else np.nan)]
        rows = max(1, _CHUNK // (self.size.points * len(d)))
        for first in range(0, len(self.weight), rows):
            some = slice(first, first + rows)
            at = points(some)
            values = self._probability_given(
                d[:, None, None],
                [x[some] for x in self.at],
                at,
                gain[:, None, some],
                density=density,
            )
            for i, value in enumerate(values):
                sums[i] += np.sum(value * at.mass, axis=-2) @ self.weight[some]
        return sums[0], sums[1]

    def _points(
        self, d: Array, begin: Array, gain: Array, *, density: bool
    ) -> Callable[[slice], Points]:
        """Where K is looked at, for some of the nodes."""
        size = self.size
        if isinstance(size, GaussShare):
            if np.all(d == 0):
                whole = size.whole()
                return lambda _: whole
            # V is next to 1 at first, and its tail a power of what it lacks to 1
            return lambda some: size.over(begin[:, some], float(self.won.b) - 1)
        least = self._first(d, begin, gain, size, density=density)
        return lambda some: size.over(begin[:, some], least[:, some])

    def _first(
        self, d: Array, begin: Array, gain: Array, size: SteppedShare, *, density: bool
    ) -> Array:
        """The t from which on the integrand matters, where the integral begins at K's own pace.

        It falls like exp(t·b) at last, b the second shape of V, and dy/dt like exp(t). V is next to
        1 there, and its odds are inverse to the distance from where the integral begins; where V
        has nearly all its probability next to 1, that is so over a long way.
        """
        b = self.won.b + (0 if density else 1)
        most = _log_odds.window(self.won.a, b, size.drop)[1]
        k, m = special.expit(begin), special.expit(-begin)
        alike, up1, up2, down1, _, *rest = self.at
        up_a, up_b, down_a, down_b = (m * alike + k * x for x in rest)
        linear = k * m * (up1 - down1) - d * (down_a * up_b + up_a * down_b)
        odds = np.abs(linear) / (k * ((1 - d) * up2 * k + gain * m) * size.sd)
        return np.asarray(np.fmin(np.log(odds) - most, -size.drop / float(b)))

    def _probability_given(
        self, d: Array, at: list[Array], points: Points, gain: Array, *, density: bool
    ) -> tuple[Array, ...]:
        """P(B - A > d) given K at every node, and the density."""
        k, m, ahead, _ = points
        alike, up1, up2, down1, down2, *rest = at
        both = m * alike
        up_a, up_b, down_a, down_b = (both + k * x for x in rest)
        # P(B - A > d) = P(V/(1-V) > root of square·x² + linear·x = constant)
        lower = down_a * down_b
        mixed = down_a * up_b + up_a * down_b
        constant = k * (m * down1 + k * down2) + d * lower
        linear = k * m * (up1 - down1) - d * mixed
        # a factor of it is the distance from where the integral begins
        square = k * ahead * ((1 - d) * up2 * k + gain * m)
        # shares of 1e-300 and less count as such
        square, constant = np.maximum(square, _LEAST), np.maximum(constant, _LEAST)
        root = np.sqrt(linear * linear + 4 * constant * square)
        half = np.maximum(np.abs(linear) + root, _LEAST)
        limit = np.where(linear >= 0, 2 * constant / half, half / (2 * square))
        at_limit = np.log(limit)
        above = self.won.sf(at_limit)
        if not density:
            return (above,)
        # by the theorem of the implicit function
        slope = (lower / limit + mixed + up_a * up_b * limit) / root
        dens = np.exp(self.won.log_pdf(at_limit)) * slope
        return above, np.where(np.isfinite(dens), dens, 0.0)


def _least_odds(at: Coefficients, d: Array) -> tuple[Array, Array]:
    """Log odds of K from which on B - A exceeds d where V is 1.

    These solve square·x² + linear·x = constant; also returned is constant/x.
    """
    square = (1 - d) * at.up2
    linear = at.up1 - d * at.alike * (at.up_a + at.up_b)
    constant = d * at.alike * at.alike
    half = np.abs(linear) + np.sqrt(linear * linear + 4 * square * constant)
    rises = linear >= 0
    odds = np.where(rises, 2 * constant / half, half / (2 * square))
    # where B - A exceeds d for no K at all, so far up that K never is
    return np.fmin(np.log(odds), _NEVER), np.where(rises, half / 2, 2 * constant * square / half)
