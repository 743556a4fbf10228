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
there is no edge and a trapezoid rule converges exponentially. Below 0, A and B change places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from probative.inference import _log_odds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative.inference._tail_table import TailTable

    Array = NDArray[np.float64]

__all__ = ["Coefficients", "Discordance", "Size"]

_CHUNK = 2**13  # numbers handled at once: they stay in the processor's cache
_MARGIN = 4.0  # standard deviations below which the beginning of the integral does not matter


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
class Size:
    """The Beta variate K, on the scale of log odds, and how it is integrated over."""

    a: Array
    b: Array
    step: float  # of the trapezoid rule, in standard deviations
    drop: float  # it ends where the integrand has fallen to exp(-drop)
    low: float
    high: float
    sd: float

    @classmethod
    def of(cls, a: float, b: float, step: float = 0.6, drop: float = 25.0) -> Size:
        """Work out where the variate lies."""
        shapes = np.array(a), np.array(b)
        low, high = _log_odds.window(*shapes, drop)
        return cls(*shapes, step, drop, float(low), float(high), float(_log_odds.spread(*shapes)))


@dataclass(frozen=True)
class Discordance:
    """Differences d >= 0, averaged over K, V and the nodes of the other shares."""

    at: Coefficients
    weight: Array
    size: Size  # of K
    won: TailTable  # of V

    def tail(self, d: float, *, density: bool = False) -> tuple[float, float]:
        """P(B - A > d) and the density at d, which is NaN unless asked for."""
        if d >= 1:
            return 0.0, 0.0
        share, slope = 0.0, 0.0 if density else np.nan
        with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
            begin, gain = _least_odds(self.at, d)
            y, mass = self._grid(begin, density)
            rows = max(1, _CHUNK // y.shape[-1])
            for first in range(0, len(self.weight), rows):
                some = slice(first, first + rows)
                one = some if len(y) > 1 else slice(None)
                values = self._given(d, some, y[one], begin[some], gain[some], density=density)
                for i, value in enumerate(values):
                    total = float(np.sum(self.weight[some] @ (value * mass[one])))
                    share, slope = (share + total, slope) if i == 0 else (share, slope + total)
        if density and d == 0 and self.size.a <= 1:
            slope = np.inf
        return min(share, 1.0), slope

    def _grid(self, begin: Array, density: bool) -> tuple[Array, Array]:
        """Log odds of K from where B - A can exceed d on, and the probability of each.

        One row for all nodes where the integrals begin so low that it does not matter.
        """
        low, high, sd = self.size.low, self.size.high, self.size.sd
        start = np.maximum(begin, low - _MARGIN * sd)
        if np.all(start < low - 0.999 * _MARGIN * sd):
            start = start[:1]
        # what is integrated falls like exp(t·b), b the second shape of V, and dy/dt like exp(t)
        least = -self.size.drop / (float(self.won.b) + (0 if density else 1))
        first = np.maximum(_inverse_softplus(np.maximum(low - start, 0) / sd), least)
        last = np.maximum(_inverse_softplus(np.maximum(high - start, 0) / sd), first)
        size = max(2, int(np.ceil(np.max(last - first) / self.size.step)) + 1)
        t = np.linspace(first, last, size, axis=-1)
        small = np.exp(-np.abs(t))
        y = start[:, None] + sd * (np.maximum(t, 0) + np.log1p(small))
        rate = np.where(t >= 0, 1.0, small) / (1 + small)
        scale = sd * (last - first) / (size - 1)
        return y, np.exp(_log_odds.log_pdf(self.size.a, self.size.b, y)) * rate * scale[:, None]

    def _given(
        self, d: float, rows: slice, y: Array, begin: Array, gain: Array, *, density: bool
    ) -> tuple[Array, ...]:
        """P(B - A > d) given K at every node, and the density."""
        k, m = special.expit(y), special.expit(-y)
        alike, up1, up2, down1, down2, *rest = (x[rows, None] for x in self.at)
        up_a, up_b, down_a, down_b = (m * alike + k * x for x in rest)
        # P(B - A > d) = P(V/(1-V) > root of square·x² + linear·x = constant)
        constant = k * (m * down1 + k * down2) + d * (down_a * down_b)
        mixed = down_a * up_b + up_a * down_b
        linear = k * m * (up1 - down1) - d * mixed
        # a factor of it is the distance from where the integral begins
        square = -k * np.expm1(begin[:, None] - y)
        square *= (1 - d) * up2 * k + gain[:, None] * m
        np.maximum(square, 1e-300, out=square)
        root = np.sqrt(linear * linear + 4 * constant * square)
        half = np.abs(linear) + root
        limit = np.where(linear >= 0, 2 * constant / half, half / (2 * square))
        at_limit = np.log(limit)
        above = self.won.sf(at_limit)
        if not density:
            return (above,)
        # by the theorem of the implicit function
        slope = (down_a * down_b / limit + mixed + up_a * up_b * limit) / root
        dens = np.exp(self.won.log_pdf(at_limit)) * slope
        return above, np.where(above > 0, dens, 0.0)


def _least_odds(at: Coefficients, d: float) -> tuple[Array, Array]:
    """Log odds of K from which on B - A exceeds d where V is 1.

    These solve square·x² + linear·x = constant; also returned is constant/x.
    """
    square = (1 - d) * at.up2
    linear = at.up1 - d * at.alike * (at.up_a + at.up_b)
    constant = d * at.alike * at.alike
    half = np.abs(linear) + np.sqrt(linear * linear + 4 * square * constant)
    rises = linear >= 0
    odds = np.where(rises, 2 * constant / half, half / (2 * square))
    return np.log(odds), np.where(rises, half / 2, 2 * constant * square / half)


def _inverse_softplus(x: Array) -> Array:
    """The t for which log(1 + exp(t)) is x."""
    return np.where(x > 30, x, np.log(np.expm1(np.minimum(x, 30))))
