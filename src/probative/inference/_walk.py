"""Random exchanges of whole units as a walk on a lattice.

With d_i = (tp_A - tp_B, fp_A - fp_B) of unit i, exchanging units at random credits the baseline
with base + Z, Z = sum of b_i·d_i with fair coins b_i in {0, 1}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Lattice", "Walk", "walk_of_credits", "walk_of_units"]


@dataclass(frozen=True)
class Walk:
    """From `base`, every step d_j is taken Bin(m_j, ½) times, m_j from `times`."""

    steps: NDArray[np.int64]
    times: NDArray[np.int64]
    base: NDArray[np.int64]

    @property
    def centre(self) -> NDArray[np.float64]:
        """Where the walk ends on average."""
        return np.asarray(self.base + self.times @ self.steps / 2)

    def moved(self, by: NDArray[np.int64]) -> Walk:
        """The same walk from another base."""
        return Walk(self.steps, self.times, self.base + by)

    def has_at_most(self, outcomes: int) -> bool:
        """Whether there are so few ways to take the steps, equal ones not told apart."""
        return bool(np.sum(np.log1p(self.times)) <= np.log(outcomes))

    def projected(self, a: int, b: int) -> Walk:
        """The walk of -(a·x + b·f) alone, as the second coordinate."""
        onto = np.array([[0, -a], [0, -b]])
        return _tidy(self.steps @ onto, self.times, self.base @ onto)

    def reachable(self, x: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The least and the most that f can be at each x: the hull of the walk.

        It is the sum of the steps put end to end in the order of their slopes.
        """
        order = np.argsort(np.arctan2(self.steps[:, 1], self.steps[:, 0]))
        path = self.steps[order] * self.times[order, None]
        below, above = (
            self.base + np.concatenate([[[0, 0]], np.cumsum(part, axis=0)])
            for part in (path, path[::-1])
        )
        # where the path is upright, the first of the points above one another is the lowest
        upright = np.count_nonzero(self.steps[:, 0] == 0)
        below = below[: len(below) - upright]
        above = above[upright:]
        least = np.ceil(np.interp(x, *below.T) - 1e-6).astype(np.int64)
        most = np.floor(np.interp(x, *above.T) + 1e-6).astype(np.int64)
        return least, most


@dataclass(frozen=True)
class Lattice:
    """The points (a·i, c·i + e·j) that sums of the steps can reach; a or e is 0 on a line.

    The walk's rows of equal x stay rows of equal i, and f still rises along them with j. Walking
    on this lattice rather than on all pairs of whole numbers wastes no part of a grid where the
    steps share a period, and is one-dimensional where they share a direction.
    """

    a: int
    c: int
    e: int

    @classmethod
    def spanned_by(cls, walk: Walk) -> Lattice:
        """Reduce the steps to a basis by Euclid's algorithm, and shear it upright."""
        a = c = e = 0
        for step in walk.steps.tolist():
            a, c, rest = _euclid(a, c, *step)
            e = math.gcd(e, rest)
            if a == e == 1:
                break
        if a and e:
            i = walk.steps[:, 0] / a
            weight = walk.times * i
            slope = weight @ walk.steps[:, 1] / (weight @ i)
            c += e * round((float(slope) - c) / e)
        return cls(a, c, e)

    def coordinates(self, points: NDArray[np.int64]) -> NDArray[np.int64]:
        """Turn (x, f) into (i, j)."""
        i = points[..., 0] // max(self.a, 1)
        j = (points[..., 1] - self.c * i) // max(self.e, 1)
        return np.stack([i, j], axis=-1)


def _euclid(a: int, c: int, x: int, f: int) -> tuple[int, int, int]:
    """Reduce the vectors (a, c) and (x, f) to (gcd of a and x, …) and (0, rest)."""
    while x:
        a, c, x, f = x, f, a % x, c - a // x * f
    return a, c, f


def walk_of_units(cases: NDArray[np.float64], number: NDArray[np.int64]) -> Walk:
    """The walk of units with these cases, so many of each."""
    t = cases.astype(np.int64)
    a = np.stack([t[:, 0] + t[:, 4], t[:, 1] + t[:, 5]], axis=1)
    b = np.stack([t[:, 2] + t[:, 4], t[:, 3] + t[:, 5]], axis=1)
    return walk_of_credits(a, b, number)


def walk_of_credits(a: NDArray[np.int64], b: NDArray[np.int64], number: NDArray[np.int64]) -> Walk:
    """The walk of units in which two systems have these true and false positives."""
    steps = a - b
    return _tidy(steps, number, number @ b)


def _tidy(steps: NDArray[np.int64], number: NDArray[np.int64], base: NDArray[np.int64]) -> Walk:
    """Make one step of equal ones and of opposite ones; leave out those that lead nowhere."""
    moving = steps.any(axis=1) & (number > 0)
    steps, number = steps[moving], number[moving]
    backward = (steps[:, 0] < 0) | ((steps[:, 0] == 0) & (steps[:, 1] < 0))
    # a coin for -d has the law of -d and a coin for d
    base = base + number[backward] @ steps[backward]
    steps = np.where(backward[:, None], -steps, steps)
    if len(steps):
        (x, f), width = (steps - steps.min(axis=0)).T, np.ptp(steps[:, 1]) + 1
        _, first, group = np.unique(x * width + f, return_index=True, return_inverse=True)
        steps, number = steps[first], np.bincount(group, weights=number).astype(np.int64)
    return Walk(steps, number, base)
