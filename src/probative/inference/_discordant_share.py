"""How K, the share of the cases on which two systems disagree, is integrated over.

K is a Beta variate, and the integral begins where it is large enough for a difference. There are
two rules. One has equal steps on the scale of log odds, and does for any shapes. Where there are
few cases, the density of K is nearly a polynomial: a Gauss-Jacobi rule between the beginning and 1
then takes a handful of points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from probative.inference import _log_odds
from probative.inference._paired_nodes import gauss_jacobi

if TYPE_CHECKING:
    from probative._types import Array

__all__ = ["GaussShare", "Points", "SteppedShare"]

_MANY = 50  # equal steps of a trapezoid rule; where it would take more, they grow
_EVEN = 8.0  # log odds about the middle within which they hardly do, at first
_FINER = np.sqrt(2.0)
_MARGIN = 4.0  # standard deviations below which the beginning of the integral does not matter


class Points(NamedTuple):
    """Where K is looked at, along the last axis but one; the nodes have the last."""

    k: Array
    rest: Array  # 1 - K
    ahead: Array  # 1 less the odds with which the integral begins over those of K
    mass: Array


@dataclass(frozen=True)
class GaussShare:
    """K by a Gauss-Jacobi rule, for few cases."""

    a: float
    b: float
    points: int

    def over(self, begin: Array, power: float) -> Points:
        """Points from log odds `begin` on, where the integrand rises like this power."""
        start, room = (special.expit(sign * begin[:, None, :]) for sign in (1, -1))
        x, rest, weight = (
            column[:, None] for column in gauss_jacobi(power + 1, self.b, self.points)
        )
        k = start + room * x
        scale = special.betaln(power + 1, self.b) - special.betaln(self.a, self.b)
        # Beta(a, b) over what the rule is made for
        fixed = self.b * np.log(room) + (scale + np.log(weight) - power * np.log(x))
        return Points(k, room * rest, x / k, np.exp((self.a - 1) * np.log(k) + fixed))

    def whole(self) -> Points:
        """Points for all of K."""
        x, rest, weight = (column[:, None] for column in gauss_jacobi(self.a, self.b, self.points))
        return Points(x, rest, np.ones_like(x), weight)


@dataclass(frozen=True)
class SteppedShare:
    """K by a trapezoid rule on the scale of log odds."""

    a: Array
    b: Array
    drop: float  # the rule ends where the integrand has fallen to exp(-drop)
    step: float
    even: float  # log odds about the middle within which its steps hardly grow
    low: float
    high: float
    sd: float

    @classmethod
    def of(cls, a: float, b: float, drop: float) -> SteppedShare:
        """Work out where the variate lies; the steps resolve its density."""
        shapes = np.array(a), np.array(b)
        sd = float(_log_odds.spread(*shapes))
        low, high = _log_odds.window(*shapes, drop)
        # in standard deviations, and on the scale of log odds itself
        step = 1 / np.sqrt(1 + sd**2)
        return cls(*shapes, drop, float(step), _EVEN, float(low), float(high), sd)

    def refined(self) -> SteppedShare:
        """The same with steps that are shorter by a factor of √2, and equal over a longer way."""
        return replace(self, step=self.step / _FINER, even=self.even * _FINER)

    @property
    def points(self) -> int:
        """About how many points it takes."""
        return int((self.high - self.low) / (self.sd * self.step)) + 20

    @property
    def _floor(self) -> float:
        """Where the integral begins at the lowest: what lies below does not matter."""
        return self.low - _MARGIN * self.sd

    def over(self, begin: Array, least: Array) -> Points:
        """Points from log odds `begin` on, the least of them at t; steps are equal in t.

        Log odds are begin + sd·softplus(t).
        """
        start = np.maximum(begin, self._floor)
        if np.all(begin <= self._floor):  # then the same points do for all
            start, least = start[:1, :1], least[:1, :1]
        first = np.maximum(_inverse_softplus(np.maximum(self.low - start, 0) / self.sd), least)
        last = np.maximum(_inverse_softplus(np.maximum(self.high - start, 0) / self.sd), first)
        t, rate = self._steps(first, last, np.maximum(-start, 0) / self.sd)
        small = np.exp(-np.abs(t))
        beyond = self.sd * (np.maximum(t, 0) + np.log1p(small))
        y = start[:, None, :] + beyond
        rate = rate * self.sd * np.where(t >= 0, 1.0, small) / (1 + small)
        mass = np.exp(_log_odds.log_pdf(self.a, self.b, y)) * rate
        ahead = -np.expm1((begin - start)[:, None, :] - beyond)
        return Points(special.expit(y), special.expit(-y), ahead, mass)

    def _steps(self, first: Array, last: Array, centre: Array) -> tuple[Array, Array]:
        """Points for a trapezoid rule from first to last, along a new axis, and their distances.

        Where shapes below 1 stretch K over hundreds of log odds, only those about the centre are
        equally far apart: t = centre + c·sinh(u) has equal steps in u.
        """
        first, last, centre = (x[:, None, :] for x in (first, last, centre))
        steps = max(1, int(np.ceil(np.max(last - first) / self.step)))
        if steps <= _MANY:
            distance = (last - first) / steps
            return first + distance * np.arange(steps + 1)[:, None], distance
        scale = self.even / self.sd
        low, high = np.arcsinh((first - centre) / scale), np.arcsinh((last - centre) / scale)
        steps = max(1, int(np.ceil(np.max(high - low) * scale / self.step)))
        distance = (high - low) / steps
        u = low + distance * np.arange(steps + 1)[:, None]
        return centre + scale * np.sinh(u), scale * np.cosh(u) * distance


def _inverse_softplus(x: Array) -> Array:
    """The t for which log(1 + exp(t)) is x."""
    return np.where(x > 30, x, np.log(np.expm1(np.minimum(x, 30))))
