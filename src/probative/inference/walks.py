"""Compute tail probabilities of random exchanges of whole units, as a walk on a lattice."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import special

if TYPE_CHECKING:
    from probative._validation import Array, Ints
    from probative.inference.score_differences import Exact, ScoreDifference


# --- Random exchanges of whole units as a walk on a lattice
#
# With d_i = (tp_A - tp_B, fp_A - fp_B) of unit i, random exchanges of units credit the baseline
# with base + Z, Z = sum of b_i·d_i with fair coins b_i in {0, 1}.


@dataclass(frozen=True)
class Walk:
    """A walk from `base` that takes every step d_j Bin(m_j, ½) times, with m_j from `times`."""

    steps: Ints
    times: Ints
    base: Ints

    @property
    def centre(self) -> Array:
        """Return the mean end point of the walk."""
        return np.asarray(self.base + self.times @ self.steps / 2)

    def has_at_most(self, outcomes: int) -> bool:
        """Return True if the walk has few enough outcomes to enumerate, at most `outcomes`."""
        return bool(np.sum(np.log1p(self.times)) <= np.log(outcomes))

    def projected(self, a: int, b: int) -> Walk:
        """Return the walk of -(a·x + b·f) alone, as the second coordinate."""
        onto = np.array([[0, -a], [0, -b]])
        return _tidy(self.steps @ onto, self.times, self.base @ onto)

    def reachable(self, x: Ints) -> tuple[Ints, Ints]:
        """Return the smallest and largest f at each x: the steps end to end in order of slope."""
        order = np.argsort(np.arctan2(self.steps[:, 1], self.steps[:, 0]))
        path = self.steps[order] * self.times[order, None]
        below, above = (
            self.base + np.concatenate([[[0, 0]], np.cumsum(part, axis=0)])
            for part in (path, path[::-1])
        )
        # upright steps have equal x: keep the lowest point below and the highest point above
        upright = np.count_nonzero(self.steps[:, 0] == 0)
        below = below[: len(below) - upright]
        above = above[upright:]
        least = np.ceil(np.interp(x, *below.T) - 1e-6).astype(np.int64)
        most = np.floor(np.interp(x, *above.T) + 1e-6).astype(np.int64)
        return least, most


class Lattice:
    """The lattice of points (a·i, c·i + e·j) that steps reach; a or e is 0 on a line."""

    # Rows of equal x stay rows of equal i, and f rises along them with j. The grid has no
    # unreachable points if the steps share a period, and one dimension if they share a direction.

    def __init__(self, walk: Walk) -> None:
        # reduce the steps to a basis by Euclid's algorithm, and shear it upright
        a = c = e = 0
        for step in walk.steps.tolist():
            x, f = step
            while x:  # (a, c) and the step become (gcd of a and x, …) and (0, f)
                a, c, x, f = x, f, a % x, c - a // x * f
            e = math.gcd(e, f)
            if a == e == 1:
                break
        if a and e:
            i = walk.steps[:, 0] / a
            weight = walk.times * i
            slope = weight @ walk.steps[:, 1] / (weight @ i)
            c += e * round((float(slope) - c) / e)
        self.a, self.c, self.e = a, c, e

    def coordinates(self, points: Ints) -> Ints:
        """Convert points (x, f) to (i, j)."""
        i = points[..., 0] // max(self.a, 1)
        j = (points[..., 1] - self.c * i) // max(self.e, 1)
        return np.stack([i, j], axis=-1)


def walk_of_units(cases: Array, number: Ints) -> Walk:
    """Build the walk of units with these cases, `number` units of each."""
    t = cases.astype(np.int64)
    a = np.stack([t[:, 0] + t[:, 4], t[:, 1] + t[:, 5]], axis=1)
    b = np.stack([t[:, 2] + t[:, 4], t[:, 3] + t[:, 5]], axis=1)
    return walk_of_credits(a, b, number)


def walk_of_credits(a: Ints, b: Ints, number: Ints) -> Walk:
    """Build the walk of units in which two systems have these true and false positives."""
    return _tidy(a - b, number, number @ b)


def _tidy(steps: Ints, number: Ints, base: Ints) -> Walk:
    """Merge equal and opposite steps into one, and remove steps of length 0."""
    moving = steps.any(axis=1) & (number > 0)
    steps, number = steps[moving], number[moving]
    backward = (steps[:, 0] < 0) | ((steps[:, 0] == 0) & (steps[:, 1] < 0))
    # a coin for -d has the distribution of -d plus a coin for d
    base = base + number[backward] @ steps[backward]
    steps = np.where(backward[:, None], -steps, steps)
    if len(steps):
        (x, f), width = (steps - steps.min(axis=0)).T, np.ptp(steps[:, 1]) + 1
        _, first, group = np.unique(x * width + f, return_index=True, return_inverse=True)
        steps, number = steps[first], np.bincount(group, weights=number).astype(np.int64)
    return Walk(steps, number, base)


# --- A walk tilted towards the observed difference (exponential tilting)
#
# Tilting by tau makes the probability of the end point z proportional to exp(<tau, z>)·P(z): the
# coin of a step d then has log-odds <tau, d>. A tail probability of the walk is one of the tilted
# walk, weighted by exp(-<tau, z>). If the mean of the tilted walk lies on the edge of a region, the
# walk is there often enough to give the probability of the region to full relative accuracy.

_NEGLIGIBLE = -41.0  # the logarithm of 1.6e-18
_CHERNOFF_FACTORS = np.geomspace(1 / 16, 2, 16)[:, None]  # times a first guess of s
_LARGEST_HALF_LOG_ODDS = 12.0  # a coin with log-odds of 24 is practically certain
# a share of the threshold: a mean this close to it has the edge within the window of the walk
_CLOSE_ENOUGH = 0.05
_TILT_AXES = (np.array([-1.0, 0.0]), np.array([0.0, 1.0]), np.array([-1.0, 1.0]))


def tilt_onto(walk: Walk, gap: ScoreDifference, threshold: Exact) -> Array:
    """Return a tilt that brings the mean of the walk to about the threshold."""
    # With few predicted items the gradient changes on the way and may miss the threshold. Then each
    # axis is tried, and the most probable end point counts.
    goal, tau = float(threshold), np.zeros(2)
    if goal <= 0:
        return tau

    def missing(tau: Array) -> float:
        """Return how far the difference at the mean of the tilted walk is below the goal."""
        return float(goal - gap.difference(*_tilted_moments(walk, tau)[0]))

    def rate(tau: Array) -> float:
        """Return roughly minus the log probability of the walk being at the tilted mean."""
        mean, _ = _tilted_moments(walk, tau)
        return float(tau @ (mean - walk.centre) - walk.times @ _log_cosh(walk.steps @ tau / 2))

    for _ in range(3):  # along the gradient of the difference
        direction = gap.gradient(*_tilted_moments(walk, tau)[0])
        largest = np.max(np.abs(walk.steps @ direction))
        if largest == 0:
            break
        longest = _LARGEST_HALF_LOG_ODDS / largest
        tau = _length_of_tilt(walk, gap, goal, direction, longest) * direction
    if abs(missing(tau)) <= _CLOSE_ENOUGH * goal:
        return tau
    longest = _LARGEST_HALF_LOG_ODDS / np.max(np.abs(walk.steps))
    others = [axis * _length_of_tilt(walk, gap, goal, axis, longest) for axis in _TILT_AXES]
    near = [other for other in others if missing(other) <= _CLOSE_ENOUGH * goal]
    return min(near, key=rate, default=np.zeros(2))


def _length_of_tilt(
    walk: Walk, gap: ScoreDifference, goal: float, direction: Array, longest: float
) -> float:
    """Find the length of a tilt by Newton's method, kept between a lower and an upper bound."""
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


def _tilted_moments(walk: Walk, tau: Array) -> tuple[Array, Array]:
    """Return mean and covariance of the tilted walk."""
    tilt = np.tanh(walk.steps @ tau / 2)
    mean = walk.centre + (walk.times * tilt) @ walk.steps / 2
    spread = walk.times * (1 - tilt**2) / 4
    return np.asarray(mean), np.asarray((walk.steps.T * spread) @ walk.steps)


class TiltedWalk:
    """A tilted walk in lattice coordinates (i, j), in the window where it is not negligible."""

    def __init__(self, walk: Walk, tau: Array) -> None:
        self.walk = walk
        self.lattice = Lattice(walk)
        a, c, e = self.lattice.a, self.lattice.c, self.lattice.e
        self.tau = np.array([tau[0] * a + tau[1] * c, tau[1] * e])
        self.steps, self.times = self.lattice.coordinates(walk.steps), walk.times
        half_odds = walk.steps @ tau / 2
        self.tilt = np.tanh(half_odds)  # 2q - 1 for coins with probability q
        self.midpoint = self.times @ self.steps / 2
        mean = self.midpoint + (self.times * self.tilt) @ self.steps / 2
        self.origin = np.round(mean).astype(np.int64)  # distances are measured from here
        self.rows, self.columns = (_window(s, self.times, half_odds) for s in self.steps.T)
        # the log of the factor by which the tilt multiplied the probability of the origin
        untilting = self.times @ _log_cosh(half_odds)
        self.log_gain = float(self.tau @ (self.origin - self.midpoint) - untilting)

    def first_extreme(self, gap: ScoreDifference, threshold: Exact) -> Ints:
        """Return the column of each row's first extreme point; one beyond the last if none."""
        walk, lattice = self.walk, self.lattice
        x = walk.base[0] + lattice.a * self.rows
        offset = walk.base[1] + lattice.c * self.rows
        least, most = walk.reachable(x)
        low, high = int(self.columns[0]), int(self.columns[-1])
        first = gap.first_extreme(
            x, lambda j: np.clip(offset + lattice.e * j, least, most), low, high, threshold
        )
        # unreachable points have probability 0, but the tilt could give them a large weight
        return np.asarray(np.clip(-((offset - least) // max(lattice.e, 1)), first, high + 1))


def _window(steps: Ints, times: Ints, half_odds: Array) -> Ints:
    """Return the whole numbers outside of which a tilted walk on a line is negligible."""
    mean = float(times @ (steps * (1 + np.tanh(half_odds)))) / 2
    low, high = int(times @ np.minimum(steps, 0)), int(times @ np.maximum(steps, 0))
    if low < high:
        low = max(low, math.floor(mean - _reach(-steps, times, half_odds)))
        high = min(high, math.ceil(mean + _reach(steps, times, half_odds)))
    return np.arange(low, high + 1)


def _reach(steps: Ints, times: Ints, half_odds: Array) -> float:
    """Return the distance above the mean beyond which the walk is negligible (Chernoff's bound)."""
    deviation = np.sqrt(times @ (steps / np.cosh(half_odds)) ** 2) / 2
    s = min(9 / deviation, 30 / np.max(np.abs(steps))) * _CHERNOFF_FACTORS
    x = s * steps / 2
    log_mean = _log_cosh(half_odds + x) - _log_cosh(half_odds) - x * np.tanh(half_odds)
    return float(np.min((log_mean @ times - _NEGLIGIBLE) / s[:, 0]))


def _log_cosh(x: Array) -> Array:
    """Compute log cosh x accurately for small and large x."""
    size = np.abs(x)
    near = 0.5 * np.log1p(np.sinh(np.minimum(size, 1)) ** 2)
    far = size + np.log1p(np.exp(-2 * size)) - math.log(2)
    return np.asarray(np.where(size < 1, near, far))


# --- The characteristic function of a tilted walk, where it is not negligible
#
# The factor of a step d with coin weight q = (1+t)/2, taken m times and measured from its midpoint,
# is (cos x + i·t·sin x)^m with x = <θ, d>/2. Its modulus falls off quickly with |θ| if the walk is
# long, so that a few thousand frequencies are enough, however large the grid. They are found by
# bounding the modulus over boxes of frequencies and splitting only the boxes that may matter. If
# the steps almost share a period, there are several such places, and all are found.

_FIRST_BOXES_PER_SIDE = 32
_STEPS_AT_ONCE = 16
_SPECTRUM_NUMBERS_AT_ONCE = 2**16  # a table of this size fits into the cache
BYTES_A_FREQUENCY = 256


class TooLargeError(Exception):
    """Error raised if a test needs more memory than is allowed."""

    def __init__(self, needed: float) -> None:
        super().__init__(f"at least {needed / 2**20:,.0f} MiB")


def significant_share(times: Ints, tilt: Array) -> float:
    """Estimate the share of all frequencies where |phi| is not negligible."""
    # Over the frequencies, the logarithm of a coin's factor has mean log((1+|t|)/2) and, for t = 0,
    # variance π²/12; their sum is taken as normal.
    mean = times @ np.log((1 + np.abs(tilt)) / 2)
    variance = np.pi**2 / 12 * (times @ (1 - np.abs(tilt)))
    return float(special.ndtr((mean - _NEGLIGIBLE) / np.sqrt(variance + 1e-9)))


def significant_frequencies(
    walk: TiltedWalk, shape: tuple[int, int], memory_limit: float
) -> tuple[Ints, Array]:
    """Find the frequencies (k1, k2), k1 <= n1/2, where |phi| is not negligible, and log|phi|."""
    spacing = 2 * np.pi / np.array(shape)
    start = np.array([0, -(shape[1] // 2)])
    stop = np.array([shape[0] // 2 + 1, shape[1] - shape[1] // 2])
    # the smallest powers of two that give so few boxes
    few = ((stop - start) / _FIRST_BOXES_PER_SIDE).tolist()
    size = np.array([1 << max(0, math.ceil(math.log2(least))) for least in few])
    weight = walk.times * (1 - walk.tilt**2)
    order = np.argsort(-weight * ((walk.steps * spacing) ** 2).sum(axis=1))
    steps, times, tilt = walk.steps[order], walk.times[order], walk.tilt[order]
    corners = _product(*(np.arange(a, b, s) for a, b, s in zip(start, stop, size, strict=True)))
    while True:
        half = spacing * (size - 1) / 2
        bound = _modulus_bound(corners * spacing + half, half, steps, times, tilt)
        corners, bound = corners[bound > _NEGLIGIBLE], bound[bound > _NEGLIGIBLE]
        if len(corners) * BYTES_A_FREQUENCY > memory_limit:
            raise TooLargeError(len(corners) * float(np.prod(size)) * BYTES_A_FREQUENCY)
        if np.all(size == 1):
            return corners, bound
        parts = np.minimum(size, 2)
        size = size // parts
        offsets = _product(*(np.arange(n) for n in parts)) * size
        corners = (corners[:, None, :] + offsets).reshape(-1, 2)
        corners = corners[np.all(corners < stop, axis=1)]


def _modulus_bound(centre: Array, half: Array, steps: Ints, times: Ints, tilt: Array) -> Array:
    """Return upper bounds of log|phi| in boxes; where it is negligible the sum stops early."""
    bound = np.zeros(len(centre))
    spread = 1 - tilt**2
    slack = np.abs(steps) @ half / 2
    for piece in _pieces(len(centre), _STEPS_AT_ONCE):
        alive = np.arange(len(centre))[piece]
        for first in range(0, len(times), _STEPS_AT_ONCE):
            some = slice(first, first + _STEPS_AT_ONCE)
            x = centre[alive] @ steps[some].T / 2
            x -= np.pi * np.round(x / np.pi)
            away = np.sin(np.maximum(np.abs(x) - slack[some], 0))
            with np.errstate(divide="ignore"):  # log 0 = -inf is intended
                bound[alive] += np.log1p(-spread[some] * away**2) @ times[some] / 2
            alive = alive[bound[alive] > _NEGLIGIBLE]
    return bound


def _pieces(length: int, width: int) -> Iterator[slice]:
    """Slice a long array so that a table `width` wide of each slice fits into the cache."""
    piece = max(1, _SPECTRUM_NUMBERS_AT_ONCE // max(1, width))
    return (slice(first, first + piece) for first in range(0, length, piece))


def _product(first: Ints, second: Ints) -> Ints:
    """Return all pairs of two lists of numbers."""
    return np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1).reshape(-1, 2)


# --- Tail probability of a long walk, by Fourier inversion
#
# The characteristic function, where it is not negligible, is summed against the transform of the
# extreme region. A row of that region is an interval, so its transform is a geometric sum, and no
# grid of the size of the walk is needed.

_INVERSION_NUMBERS_AT_ONCE = 2**20
_BYTES_PER_ROW = 200


class Inversion:
    """A tilted walk, prepared for sums over regions by Fourier inversion in its window."""

    def __init__(self, walk: TiltedWalk, memory_limit: float) -> None:
        if len(walk.rows) * _BYTES_PER_ROW > memory_limit:
            raise TooLargeError(len(walk.rows) * _BYTES_PER_ROW)
        self.walk = walk
        # a length a little above that of the rows for which the Fourier transform is fast
        ratios = ((odd, math.log2(len(walk.rows) / odd)) for odd in (1, 3, 5, 9, 15))
        fast = min(odd << max(0, math.ceil(power)) for odd, power in ratios)
        self.shape = fast, len(walk.columns)
        self.frequencies, log_modulus = significant_frequencies(walk, self.shape, memory_limit)
        # the phase of the characteristic function, about the midpoint measured from the origin
        theta = 2 * np.pi * self.frequencies / self.shape
        phase = theta @ (walk.midpoint - walk.origin)
        for chosen in _pieces(len(theta), len(walk.times)):
            x = theta[chosen] @ walk.steps.T / 2
            turns = np.round(x / np.pi)
            x -= np.pi * turns
            # half a turn is a change of sign; counted separately, large powers of it lose no digits
            phase[chosen] += np.arctan2(walk.tilt * np.sin(x), np.cos(x)) @ walk.times
            phase[chosen] += np.pi * ((turns % 2) @ (walk.times % 2) % 2)
        self.phi = np.asarray(np.exp(log_modulus + 1j * phase))

    def tail(self, first: Ints) -> float:
        """Return the probability of all points from the column `first` on in each row."""
        k1, k2 = self.frequencies.T
        # phi and the transform at -k are the conjugates of those at k
        mirrored = (k1 > 0) & (2 * k1 != self.shape[0])
        phi = self.phi * np.where(mirrored, 2.0, 1.0)
        phi *= _roots_of_unity(self.shape[0])[
            k1 * (self.walk.rows[0] - self.walk.origin[0]) % self.shape[0]
        ]
        columns, column = np.unique(k2, return_inverse=True)
        at_once = max(1, _INVERSION_NUMBERS_AT_ONCE // self.shape[0])
        total = 0.0
        for start in range(0, len(columns), at_once):
            transform = self._transform(first, columns[start : start + at_once])
            here = (column >= start) & (column < start + at_once)
            total += np.sum(phi[here] * transform[column[here] - start, k1[here]]).real
        return float(total * np.exp(-self.walk.log_gain) / self.shape[0] / self.shape[1])

    def _transform(self, first: Ints, k2: Ints) -> NDArray[np.complex128]:
        """Sum exp(-<tau + i·theta, z - origin>) over the extreme region, for k2 and every k1."""
        n = self.shape[1]
        beyond = self.walk.columns[-1] + 1 - self.walk.origin[1]
        begin = first - self.walk.origin[1]
        level = self.walk.tau[0] * (self.walk.rows - self.walk.origin[0])
        held = begin < beyond
        at_begin = np.exp(np.where(held, -level - self.walk.tau[1] * begin, -np.inf))
        at_beyond = np.exp(np.where(held, -level - self.walk.tau[1] * beyond, -np.inf))
        roots = _roots_of_unity(n)
        s = self.walk.tau[1] + 2j * np.pi * k2 / n
        with np.errstate(invalid="ignore"):  # rows with s = 0 are replaced below
            sums = at_begin * roots[np.outer(k2, begin) % n] - np.outer(
                roots[k2 * beyond % n], at_beyond
            )
            sums /= -np.expm1(-s)[:, None]
        s, number = self.walk.tau[1], beyond - begin
        # 1 + exp(-s) + … + exp(-s(number-1))
        sums[k2 == 0] = at_begin * (number if s == 0 else np.expm1(-s * number) / np.expm1(-s))
        return np.asarray(np.fft.fft(sums, n=self.shape[0], axis=1))


def _roots_of_unity(n: int) -> NDArray[np.complex128]:
    """Return exp(-2πi·k/n) for k = 0..n-1."""
    return np.asarray(np.exp(-2j * np.pi * np.arange(n) / n))


# --- Tail probability of a short walk, coin by coin
#
# With few coins the characteristic function is nowhere negligible, and adding the coins one after
# the other is quicker.


class Convolution:
    """A tilted walk, prepared for sums over regions: the probabilities in its window."""

    def __init__(self, walk: TiltedWalk) -> None:
        self.walk = walk
        low = np.array([walk.rows[0], walk.columns[0]])
        high = np.array([walk.rows[-1], walk.columns[-1]])
        mean, corner, law = np.zeros(2), np.zeros(2, dtype=np.int64), np.ones((1, 1))
        for step, chance in zip(
            np.repeat(walk.steps, walk.times, axis=0),
            np.repeat((1 + walk.tilt) / 2, walk.times),
            strict=True,
        ):
            # the distribution after a step that is taken with probability `chance`
            height, width = law.shape
            before, law = law, np.zeros((height + abs(step[0]), width + abs(step[1])))
            stay, go = np.maximum(-step, 0), np.maximum(step, 0)
            law[stay[0] : stay[0] + height, stay[1] : stay[1] + width] = (1 - chance) * before
            law[go[0] : go[0] + height, go[1] : go[1] + width] += chance * before
            corner, mean = corner + np.minimum(step, 0), mean + chance * step
            # cut off what is as far from the mean as the edge of the window: it is negligible
            moved = np.round(mean).astype(np.int64) - walk.origin
            start = np.maximum(low + moved - corner, 0)
            stop = np.minimum(high + moved + 1 - corner, law.shape)
            corner, law = corner + start, law[start[0] : stop[0], start[1] : stop[1]]
        self.law = law
        self.rows = corner[0] + np.arange(law.shape[0])
        self.columns = corner[1] + np.arange(law.shape[1])

    def tail(self, first: Ints) -> float:
        """Return the probability of all points from the column `first` on in each row."""
        begin = first[self.rows - self.walk.rows[0]]
        i, j = self.rows - self.walk.origin[0], self.columns - self.walk.origin[1]
        log_weight = -np.add.outer(self.walk.tau[0] * i, self.walk.tau[1] * j)
        log_weight[self.columns < begin[:, None]] = -np.inf
        return float(np.sum(self.law * np.exp(log_weight)) * np.exp(-self.walk.log_gain))
