"""A walk tilted towards what was observed, and where it may be found.

Tilting by tau gives the end point z a probability in proportion to exp(<tau, z>)·P(z): the coin of
a step d then falls on it with log-odds <tau, d>. Any tail probability of the walk is one of the
tilted walk, weighed by exp(-<tau, z>); tilted so that its mean lies on the edge of a region, the
walk is there often enough to give the probability of the region with all its digits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from probative.inference._walk import Lattice, Walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative.inference._score_difference import Exact, ScoreDifference

__all__ = ["NEGLIGIBLE", "TiltedWalk", "tilt_onto"]

NEGLIGIBLE = -41.0  # the logarithm of 1.6e-18
_FACTORS = np.geomspace(1 / 16, 2, 16)[:, None]
_STEEPEST = 12.0  # a coin with log-odds of 24 is as good as thrown
_NEAR = 0.05  # a share of the threshold: from there on the window of the walk holds its edge
_AXES = (np.array([-1.0, 0.0]), np.array([0.0, 1.0]), np.array([-1.0, 1.0]))


def tilt_onto(walk: Walk, gap: ScoreDifference, threshold: Exact) -> NDArray[np.float64]:
    """A tilt that brings the mean to the threshold.

    Any tilt near it gives the same probability; a good one gives it to more digits, so that a
    rough solution will do. The gradient shows the way, but where few items are returned it turns
    on the way, and may lead past the goal: then one axis after the other is tried, and what is
    reached most easily counts.
    """
    goal = float(threshold)
    if goal <= 0:
        return np.zeros(2)
    tau = _tilt_along_gradient(walk, gap, goal)
    if abs(_missing(walk, gap, goal, tau)) <= _NEAR * goal:
        return tau
    longest = _STEEPEST / np.max(np.abs(walk.steps))
    others = [axis * _length_of_tilt(walk, gap, goal, axis, longest) for axis in _AXES]
    near = [other for other in others if _missing(walk, gap, goal, other) <= _NEAR * goal]
    return min(near, key=lambda other: _rate(walk, other), default=np.zeros(2))


def _missing(walk: Walk, gap: ScoreDifference, goal: float, tau: NDArray[np.float64]) -> float:
    """How far below the goal the difference is where the mean of the tilted walk lies."""
    mean, _ = _tilted_moments(walk, tau)
    return float(goal - gap.difference(*mean))


def _rate(walk: Walk, tau: NDArray[np.float64]) -> float:
    """Minus the logarithm, roughly, of the chance to be found where the tilted walk is."""
    mean, _ = _tilted_moments(walk, tau)
    return float(tau @ (mean - walk.centre) - walk.times @ _log_cosh(walk.steps @ tau / 2))


def _tilt_along_gradient(walk: Walk, gap: ScoreDifference, goal: float) -> NDArray[np.float64]:
    tau = np.zeros(2)
    for _ in range(3):
        mean, _ = _tilted_moments(walk, tau)
        direction = gap.gradient(*mean)
        largest = np.max(np.abs(walk.steps @ direction))
        if largest == 0:
            break
        length = _length_of_tilt(walk, gap, goal, direction, _STEEPEST / largest)
        tau = length * direction
    return tau


def _length_of_tilt(
    walk: Walk, gap: ScoreDifference, goal: float, direction: NDArray[np.float64], longest: float
) -> float:
    """Newton's method, kept between what is known to be too short and too long."""
    low, high, length = 0.0, 2 * longest, 0.0
    for _ in range(30):
        mean, covariance = _tilted_moments(walk, length * direction)
        missing = goal - gap.difference(*mean)
        if abs(missing) <= 1e-3 * goal:
            break
        low, high = (length, high) if missing > 0 else (low, length)
        slope = gap.gradient(*mean) @ covariance @ direction
        length += missing / slope if slope > 0 else high
        if not low < length < high:
            length = (low + high) / 2
    return length


def _tilted_moments(
    walk: Walk, tau: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean and the covariance of the tilted walk."""
    tilt = np.tanh(walk.steps @ tau / 2)
    mean = walk.centre + (walk.times * tilt) @ walk.steps / 2
    spread = walk.times * (1 - tilt**2) / 4
    return np.asarray(mean), np.asarray((walk.steps.T * spread) @ walk.steps)


class TiltedWalk:
    """A tilted walk in lattice coordinates (i, j), in the window where it is not negligible.

    Attributes
    ----------
    steps, times, tilt
        The steps, how often each may be taken, and t = 2q - 1 for coins that fall with chance q.
    tau, origin
        The tilt, and the point near the tilted mean that distances are measured from.
    midpoint
        The mean of the walk before it was tilted.
    rows, columns
        The values of i and j in the window.
    log_gain
        The logarithm of what the tilt multiplied the probability of the origin by.
    """

    def __init__(self, walk: Walk, tau: NDArray[np.float64]) -> None:
        self.walk = walk
        self.lattice = Lattice.spanned_by(walk)
        a, c, e = self.lattice.a, self.lattice.c, self.lattice.e
        self.tau = np.array([tau[0] * a + tau[1] * c, tau[1] * e])
        self.steps, self.times = self.lattice.coordinates(walk.steps), walk.times
        half_odds = walk.steps @ tau / 2
        self.tilt = np.tanh(half_odds)
        self.midpoint = self.times @ self.steps / 2
        mean = self.midpoint + (self.times * self.tilt) @ self.steps / 2
        self.origin = np.round(mean).astype(np.int64)
        self.rows, self.columns = (_window(s, self.times, half_odds) for s in self.steps.T)
        untilting = self.times @ _log_cosh(half_odds)
        self.log_gain = float(self.tau @ (self.origin - self.midpoint) - untilting)

    def first_extreme(self, gap: ScoreDifference, threshold: Exact) -> NDArray[np.int64]:
        """The column where each row's extreme points begin; one beyond the last where none are."""
        walk, lattice = self.walk, self.lattice
        x = walk.base[0] + lattice.a * self.rows
        offset = walk.base[1] + lattice.c * self.rows
        least, most = walk.reachable(x)
        low, high = int(self.columns[0]), int(self.columns[-1])
        first = gap.first_extreme(
            x, lambda j: np.clip(offset + lattice.e * j, least, most), low, high, threshold
        )
        # unreachable points have no probability, but the tilt could give them a large weight
        return np.asarray(np.clip(-((offset - least) // max(lattice.e, 1)), first, high + 1))


def _window(
    steps: NDArray[np.int64], times: NDArray[np.int64], half_odds: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The whole numbers outside which a tilted walk on a line is negligible."""
    mean = float(times @ (steps * (1 + np.tanh(half_odds)))) / 2
    low, high = int(times @ np.minimum(steps, 0)), int(times @ np.maximum(steps, 0))
    if low < high:
        low = max(low, math.floor(mean - _reach(-steps, times, half_odds)))
        high = min(high, math.ceil(mean + _reach(steps, times, half_odds)))
    return np.arange(low, high + 1)


def _reach(
    steps: NDArray[np.int64], times: NDArray[np.int64], half_odds: NDArray[np.float64]
) -> float:
    """How far above its mean a tilted walk may be found.

    Chernoff's bound, P(Z - mean >= h) <= exp(K(s) - s·h), holds for every s > 0.
    """
    deviation = np.sqrt(times @ (steps / np.cosh(half_odds)) ** 2) / 2
    s = min(9 / deviation, 30 / np.max(np.abs(steps))) * _FACTORS
    x = s * steps / 2
    log_mean = _log_cosh(half_odds + x) - _log_cosh(half_odds) - x * np.tanh(half_odds)
    return float(np.min((log_mean @ times - NEGLIGIBLE) / s[:, 0]))


def _log_cosh(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Accurate for small and for large x."""
    size = np.abs(x)
    near = 0.5 * np.log1p(np.sinh(np.minimum(size, 1)) ** 2)
    far = size + np.log1p(np.exp(-2 * size)) - math.log(2)
    return np.asarray(np.where(size < 1, near, far))
