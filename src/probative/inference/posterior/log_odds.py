"""Compute densities, tails and integrals of the log odds of Beta variates.

On this scale the density of Beta(a, b) is smooth, has one peak (at log(a/b), for any shapes above
0) and falls off exponentially, so that a trapezoid rule integrates it to rounding error: for
shapes below 1 as well as for shapes of 1e9.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from probative._validation import Array


# The rule ends where the density has fallen to exp(-DROP) of its peak.
DROP = 36.0
# The error of a trapezoid rule with step h is the density's Fourier transform at 2π/h. Near a
# normal density that is exp(-2π²sd²/h²), 5e-20 at h = sd/1.5; for small shapes, whose singularities
# act as if they were π/2 off the real line, it is exp(-π²/h), 4e-19 at h = 0.23.
_STEPS_PER_SD = 1.5
_LARGEST_STEP = 0.23
_MOST_EQUAL_STEPS = 1500  # a rule that needs more has steps that grow outwards
_STEPS_BEFORE_GROWTH = 60  # about, on either side of the middle
_NEARLY_NORMAL_SHAPE = 1e9  # from this smallest shape on, use a normal approximation
_SIDES = np.array([-1.0, 1.0])  # below the peak, and above it


def fast_cdf(a: Array, b: Array, y: Array) -> Array:
    """Return `cdf` with absolute accuracy only: tiny probabilities have few digits."""
    if np.any(np.minimum(a, b) >= _NEARLY_NORMAL_SHAPE):
        return cdf(a, b, y)
    right = y > 0
    tail = _incomplete(np.where(right, b, a), np.where(right, a, b), special.expit(-np.abs(y)))
    return np.asarray(np.where(right, 1 - tail, tail))


def sf(a: Array, b: Array, y: Array) -> Array:
    """Return the probability that the log odds of Beta(a, b) exceed y."""
    return cdf(b, a, -y)


def log_pdf(a: Array, b: Array, y: Array) -> Array:
    """Return the log density of the log odds of Beta(a, b) at y."""
    # the log density at the peak, without the difference of huge log-gammas
    n = a + b
    rest_a, rest_b, rest_n = stirling_rest(np.array([a, b, n]))
    rest = rest_a + rest_b - rest_n
    peak = 0.5 * np.log(a / n * b / (2 * np.pi)) - rest
    return np.asarray(peak + _log_ratio(a, b, y - np.log(a / b)))


def slope(a: Array, b: Array, y: Array) -> Array:
    """Return the derivative of `log_pdf` in y."""
    return np.asarray(a * special.expit(-y) - b * special.expit(y))


def spread(a: Array, b: Array) -> Array:
    """Return the standard deviation of the log odds of Beta(a, b)."""
    # the Hurwitz zeta function at 2 is the trigamma function
    return np.asarray(np.sqrt(special.zeta(2, a) + special.zeta(2, b)))


def rule(a: Array, b: Array, finest: Array | float = np.inf) -> tuple[Array, Array]:
    """Return nodes, on a new last axis, and weights of averages over the log odds of Beta(a, b)."""
    # the step resolves the density and an integrand that changes within `finest`
    low, high = _reach(a, b)
    offset, length = nodes(low, high, spread(a, b), finest)
    weight = np.exp(_log_ratio(a[..., None], b[..., None], offset)) * length
    return np.log(a / b)[..., None] + offset, weight / weight.sum(axis=-1, keepdims=True)


def window(a: Array, b: Array, drop: float = DROP) -> tuple[Array, Array]:
    """Return the log odds where the density of Beta(a, b) has fallen to exp(-drop) of its peak."""
    low, high = np.log(a / b) + _reach(a, b, drop)
    return low, high


def nodes(low: Array, high: Array, sd: Array, finest: Array | float) -> tuple[Array, Array]:
    """Return points from low to high for a density of standard deviation sd, and their lengths."""
    # They are equally spaced, as many in each row as the widest needs. Where shapes far below 1
    # stretch the range over thousands, only the middle is: x = s·sinh(t) has equal steps in t.
    h = step(sd, finest)
    size = max(2, int(np.ceil(np.max((high - low) / h, initial=0))) + 1)
    if size <= _MOST_EQUAL_STEPS:
        return low[..., None] + (high - low)[..., None] * np.linspace(0, 1, size), np.ones(size)
    return _growing(low, high, _STEPS_BEFORE_GROWTH * h, _STEPS_BEFORE_GROWTH)


def _growing(low: Array, high: Array, even: Array, steps: float) -> tuple[Array, Array]:
    """Return points from low to high, so many steps within `even` of 0, and their lengths."""
    first, last = np.arcsinh(low / even), np.arcsinh(high / even)
    t = np.linspace(first, last, int(np.ceil(np.max(last - first) * steps)) + 1, axis=-1)
    return even[..., None] * np.sinh(t), np.cosh(t)


def stretched(a: float, b: float, step: float, even: float) -> tuple[Array, Array]:
    """Return nodes and relative weights for the log odds of Beta(a, b), with growing steps."""
    # they are about `step` apart within `even` log odds of the peak
    shapes = np.array(a), np.array(b)
    low, high = _reach(*shapes)
    offset, length = _growing(low, high, np.array(even), even / step)
    y = np.log(a / b) + offset
    return y, np.exp(log_pdf(*shapes, y)) * length


def step(sd: Array, finest: Array | float) -> Array:
    """Return the step of a trapezoid rule for a density times a function `finest` wide."""
    # the widths of both factors and _LARGEST_STEP combine as widths of normal densities do
    squares = _STEPS_PER_SD**2 * (sd**-2 + np.asarray(finest) ** -2.0) + _LARGEST_STEP**-2
    return np.asarray(1 / np.sqrt(squares))


def cdf(a: Array, b: Array, y: Array) -> Array:
    """Return the probability that the log odds of Beta(a, b) are at most y."""
    # from the side where the argument of the incomplete beta function is exact
    huge = np.minimum(a, b) >= _NEARLY_NORMAL_SHAPE
    if np.any(huge):
        a, b, y, huge = np.broadcast_arrays(a, b, y, huge)
        tail = np.empty(y.shape)
        tail[huge] = _nearly_normal(a[huge], b[huge], y[huge])
        if not huge.all():
            tail[~huge] = cdf(a[~huge], b[~huge], y[~huge])
        return tail
    left = y <= 0
    if left.all():
        return _incomplete(a, b, special.expit(y))
    if not left.any():
        return _complement(b, a, special.expit(-y))
    a, b, y, left = np.broadcast_arrays(a, b, y, left)
    tail = np.empty(y.shape)
    tail[left] = _incomplete(a[left], b[left], special.expit(y[left]))
    right = ~left
    tail[right] = _complement(b[right], a[right], special.expit(-y[right]))
    return tail


def _nearly_normal(a: Array, b: Array, y: Array) -> Array:
    """Return P(log odds <= y) for huge shapes, where SciPy's betainc may be wrong by a percent."""
    # The signed root of the deviance is normal up to its skewness; the error is of the order of
    # the reciprocal of the smaller shape.
    offset = y - np.log(a / b)
    root = np.sign(offset) * np.sqrt(np.maximum(-2 * _log_ratio(a, b, offset), 0))
    skewness = (b - a) / (3 * np.sqrt(a + b) * np.sqrt(a) * np.sqrt(b))
    density = np.exp(-(root**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(np.clip(special.ndtr(root) + density * skewness, 0, 1))


def _incomplete(a: Array, b: Array, x: Array) -> Array:
    """Return the regularised incomplete beta function I_x(a, b), for x of at most 1/2."""
    # Above the mean of a lopsided distribution SciPy's betainc loses half its digits; betaincc,
    # which takes several times as long, does not.
    share = np.asarray(special.betainc(a, b, x))
    lossy = (b > 1000 * a) & (a < 200) & (x * (a + b) > a)
    if lossy.any():
        a, b, x = np.broadcast_arrays(a, b, x)
        share[lossy] = 1 - special.betaincc(a[lossy], b[lossy], x[lossy])
    return share


def _complement(a: Array, b: Array, x: Array) -> Array:
    """Return 1 - I_x(a, b), with all its digits where it is small."""
    rest = np.asarray(1 - _incomplete(a, b, x))
    small = rest < 1e-4
    if small.any():
        a, b, x = np.broadcast_arrays(a, b, x)
        rest[small] = special.betaincc(a[small], b[small], x[small])
    return rest


def _log_ratio(a: Array, b: Array, offset: Array) -> Array:
    """Return the log density at `offset` from the peak, relative to the peak."""
    n = a + b
    with np.errstate(over="ignore", invalid="ignore"):
        below = a * np.log1p(b / n * np.expm1(-offset))
        above = b * np.log1p(a / n * np.expm1(offset))
        ratio = np.asarray(-(below + above))
    far = np.abs(offset) > 600
    if np.any(far):  # expm1 would soon overflow, and nothing cancels any more
        log_p, log_q = np.log(a / n), np.log(b / n)
        below = a * np.logaddexp(log_p, log_q - offset)
        above = b * np.logaddexp(log_q, log_p + offset)
        ratio = np.where(far, -(below + above), ratio)
    return ratio


def _reach(a: Array, b: Array, drop: float = DROP) -> Array:
    """Return where, from the peak, the log density has fallen by `drop`: below it, and above it."""
    # Use Newton's method. The log density is concave, so that after the first step the iterates
    # converge monotonically from outside.
    peak = np.log(a / b)
    side = _SIDES.reshape(2, *(1,) * np.ndim(peak + drop))
    rate = np.where(side > 0, b, a)
    offset = side * np.maximum(np.sqrt(2 * drop * (1 / a + 1 / b)), drop / rate)
    for _ in range(60):
        gap = _log_ratio(a, b, offset) + drop
        move = gap / slope(a, b, peak + offset)
        offset = offset - move
        if np.all(np.abs(move) <= 1e-3 * np.abs(offset)):
            break
    return offset


def stirling_rest(z: Array) -> Array:
    """Return log Gamma(z) minus Stirling's formula."""
    large = np.maximum(z, 10.0)
    square = large * large
    last = 1 / 1188 - 691 / (360360 * square)
    series = (
        1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - last / square) / square) / square) / square
    ) / large
    if np.all(z > 10):
        return np.asarray(series)
    small = np.minimum(z, 10.0)
    direct = (
        special.gammaln(small) - (small - 0.5) * np.log(small) + small - 0.5 * np.log(2 * np.pi)
    )
    return np.asarray(np.where(z > 10, series, direct))


# --- A table of the upper tail of a Beta variate's log odds, for thousands of arguments

_FEWEST_ENTRIES = 400
_LARGEST_STEP_OF_TABLE = 0.1  # log odds between entries
_END_OF_TABLE = 30.0  # log odds, at least; beyond, the distribution is a power of the variate


class TailTable:
    """The upper tail of the log odds of Beta(a, b), with a relative error of about 1e-12.

    The logarithm of the tail is smooth and its first two derivatives are known, so that a
    polynomial of degree five between any two entries of a short table approximates it. Beyond the
    table, the variate or 1 minus it is so small that its distribution is a power.
    """

    def __init__(self, a: float, b: float):
        self.a, self.b = np.array(a, dtype=np.float64), np.array(b, dtype=np.float64)
        low, high = window(self.a, self.b)
        self._low = float(np.maximum(low, -_END_OF_TABLE - np.log(np.maximum(self.b, 1))))
        end = float(np.minimum(high, _END_OF_TABLE + np.log(np.maximum(self.a, 1))))
        self._last = max(_FEWEST_ENTRIES, int((end - self._low) / _LARGEST_STEP_OF_TABLE)) - 1
        self._step = (end - self._low) / self._last

    def log_pdf(self, y: Array) -> Array:
        """Return the log density at y."""
        return log_pdf(self.a, self.b, y)

    def sf(self, y: Array) -> Array:
        """Return the probability of log odds above y."""
        if y.size <= _FEWEST_ENTRIES:
            return sf(self.a, self.b, y)
        place = np.maximum((y - self._low) / self._step, 0.0)
        entry = np.minimum(place, self._last - 1).astype(np.intp)
        place -= entry
        beyond = np.maximum(place - 1, 0.0)
        np.minimum(place, 1.0, out=place)
        value = self._coefficients[5].take(entry)
        for row in self._coefficients[4::-1]:
            value *= place
            value += row.take(entry)
        value -= float(self.b) * self._step * beyond
        tail = np.exp(value, out=value)
        below = y < self._low
        if below.any():
            tail[below] = 1 - self._below * np.exp(self.a * (y[below] - self._low))
        return np.asarray(tail)

    def cdf(self, y: Array) -> Array:
        """Return the probability of log odds of at most y."""
        return self._mirrored.sf(-y)

    @cached_property
    def _mirrored(self) -> TailTable:
        return TailTable(float(self.b), float(self.a))

    @cached_property
    def _below(self) -> float:
        """Return the lower tail at the first entry of the table."""
        return float(cdf(self.a, self.b, np.array(self._low)))

    @cached_property
    def _coefficients(self) -> Array:
        """Return the quintic Hermite polynomials between the entries, by rising power."""
        h = self._step
        y = np.asarray(self._low + h * np.arange(self._last + 1), dtype=np.float64)
        value = np.log(sf(self.a, self.b, y))
        hazard = np.exp(self.log_pdf(y) - value)
        fall = -h * hazard
        bend = -(h**2) * hazard * (slope(self.a, self.b, y) + hazard)
        start, first, second = value[:-1], fall[:-1], bend[:-1] / 2
        gap = value[1:] - start - first - second
        turn = fall[1:] - first - 2 * second
        rest = (bend[1:] - 2 * second) / 2
        return np.stack(
            [
                start,
                first,
                second,
                10 * gap - 4 * turn + rest,
                -15 * gap + 7 * turn - 2 * rest,
                6 * gap - 3 * turn + rest,
            ]
        )
