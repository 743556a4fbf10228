"""Compute the difference of two scores as a function of the positives credited to the baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import copysign, gcd, isqrt, lcm, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from probative.errors import InputError
from probative.metrics import NEEDS_TN, TABLE, Metric

if TYPE_CHECKING:
    from probative.counts import PairedCounts


# --- Score differences as a function of the baseline's positives
#
# Both systems are scored against the same gold, and an exchange keeps the sums of their true and
# false positives: the baseline's (x, f) determine both scores. Most scores are a ratio of two
# affine functions of (x, f) with whole coefficients; the others are such a function over a power of
# the numbers of predicted and of other items (`_MarginDifference`). In both cases ties can be
# decided in integers.

if TYPE_CHECKING:
    Exact = Any  # a Fraction, or a RootSum: numbers that are compared without rounding


# Quotients of exact numbers have rounding errors of a few 1e-15; differences closer to a tie than
# this are decided in integers.
_DECIDED_EXACTLY = 1e-13


@dataclass(frozen=True)
class ScoreDifference:
    """The score difference B - A if A has x true and f false positives, B the rest of `total`."""

    # the scores are (a·x + b·f + c) / (u·x + w·f + k), unless a subclass has others; a score rises
    # with x and falls with f; 0/0 counts as 0

    top: tuple[int, int, int]
    bottom: tuple[int, int, int]
    total: tuple[int, int]

    @property
    def line(self) -> tuple[int, int] | None:
        """Return the weights of x and f if the denominator is the same in all exchanges."""
        return self.top[:2] if self.bottom[:2] == (0, 0) else None

    @property
    def may_jump(self) -> bool:
        """Return True if a score with few predicted items rests on few items, as precision does."""
        return self.bottom[2] == 0 and self.line is None

    def projected(self) -> ScoreDifference:
        """Return the difference as a function of -(a·x + b·f) alone."""
        a, b, c = self.top
        total = 0, -(a * self.total[0] + b * self.total[1])
        return ScoreDifference((0, -1, c), self.bottom, total)

    def spacing(self, steps: Iterable[tuple[int, int]]) -> Fraction:
        """Return the distance of neighbouring differences if credit moves in steps, else 0."""
        if self.line is None:
            return Fraction(0)
        a, b = self.line
        return Fraction(2 * gcd(*(a * x + b * f for x, f in steps)), max(self.bottom[2], 1))

    def difference(self, x: Any, f: Any) -> Any:
        """Return B's score minus A's, in floating point."""
        return self._score(self.total[0] - x, self.total[1] - f) - self._score(x, f)

    def exact_difference(self, x: int, f: int) -> Exact:
        """Return B's score minus A's, exactly."""
        return self._exact(self.total[0] - x, self.total[1] - f) - self._exact(x, f)

    def gradient(self, x: Any, f: Any) -> NDArray[np.float64]:
        """Return the derivatives of the difference by x and f; 0 if a denominator is 0."""
        slope_a = self._slope(x, f)
        slope_b = self._slope(self.total[0] - x, self.total[1] - f)
        return np.asarray(-(slope_a + slope_b))

    def at_least(self, x: Any, f: Any, threshold: Exact) -> NDArray[np.bool_]:
        """Return True where the difference is at least the threshold; ties count, exactly."""
        x, f = np.broadcast_arrays(x, f)
        excess = self.difference(x, f) - float(threshold)
        reached = np.asarray(excess > 0)
        close = np.abs(excess) <= _DECIDED_EXACTLY
        if np.any(close):
            points = np.stack([x[close], f[close]], axis=-1)
            distinct, which = np.unique(points, axis=0, return_inverse=True)
            exact = [self.exact_difference(*map(int, point)) >= threshold for point in distinct]
            reached[close] = np.array(exact)[which.reshape(-1)]
        return reached

    def first_extreme(
        self,
        x: NDArray[np.int64],
        f: Callable[[NDArray[np.int64]], NDArray[np.int64]],
        low: int,
        high: int,
        threshold: Exact,
    ) -> NDArray[np.int64]:
        """Find for every row x the least j in low..high (else high + 1) at the threshold."""
        # the difference rises with every false positive that moves to A: the extreme j are a tail
        left = np.full(len(x), low, dtype=np.int64)
        right = np.full(len(x), high + 1, dtype=np.int64)
        while np.any(left < right):
            middle = np.minimum((left + right) // 2, high)
            reached = self.at_least(x, f(middle), threshold)
            left, right = (
                np.where(reached, left, np.minimum(middle + 1, right)),
                np.where(reached, np.minimum(middle, right), right),
            )
        return left

    def _score(self, x: Any, f: Any) -> Any:
        a, b, c = map(float, self.top)
        u, w, k = map(float, self.bottom)
        bottom = u * x + w * f + k
        return (a * x + b * f + c) / np.where(bottom > 0, bottom, 1.0)

    def _exact(self, x: int, f: int) -> Fraction:
        (a, b, c), (u, w, k) = self.top, self.bottom
        return Fraction(a * x + b * f + c, max(u * x + w * f + k, 1))

    def _slope(self, x: Any, f: Any) -> NDArray[np.float64]:
        (a, b, c), (u, w, k) = self.top, self.bottom
        bottom = u * x + w * f + k
        bottom = np.where(bottom > 0, bottom, np.inf)
        score = (a * x + b * f + c) / bottom
        return np.array([(a - score * u) / bottom, (b - score * w) / bottom])


def score_difference(paired: PairedCounts, metric: str, beta: float) -> ScoreDifference:
    """Build the difference of a metric on one table."""
    if metric in NEEDS_TN and not paired.has_negatives:
        raise InputError(f"metric: {metric} needs tn (case 7), and these cases have none")
    t = [int(value) for value in paired.cases]
    positives = t[0] + t[2] + t[4] + t[6]
    total = t[0] + t[2] + 2 * t[4], t[1] + t[3] + 2 * t[5]
    return difference_of_totals(positives, sum(t) - positives, total, metric, beta)


def difference_of_totals(
    positives: int, negatives: int, total: tuple[int, int], metric: str, beta: float
) -> ScoreDifference:
    """Build the difference of a metric; `total` sums both systems' true and false positives."""
    own = TABLE[metric]
    if not isinstance(own, Metric):
        return _of_composite(positives, negatives, total, metric)
    # read beta as the decimal that it prints as: 0.1 is exactly a tenth
    b2 = Fraction(repr(float(beta))) ** 2
    forms = own.forms(b2)
    scale = lcm(*(Fraction(weight).denominator for form in forms for weight in form))

    def of_credit(form: tuple[Any, ...]) -> tuple[int, int, int]:
        """Express a form in (x, f) alone, by fn = positives - x and tn = negatives - f."""
        tp, fp, fn, tn = (int(scale * weight) for weight in form)
        return tp - fn, fp - tn, fn * positives + tn * negatives

    top, bottom = map(of_credit, forms)
    return ScoreDifference(top, bottom, total)


def _of_composite(p: int, n: int, total: tuple[int, int], metric: str) -> ScoreDifference:
    """Build the difference of a composite score, for p positives and n negatives."""
    # tp·tn - fp·fn is n·x - p·f; with the number of predicted items it determines the score
    surplus, predicted = (n, -p, 0), (1, 1, 0)
    match metric:
        case "informedness":
            return ScoreDifference(surplus, (0, 0, p * n), total)
        case "balanced_accuracy":
            return ScoreDifference((n, -p, p * n), (0, 0, 2 * p * n), total)
        case "kappa":
            return ScoreDifference((2 * n, -2 * p, 0), (n - p, n - p, p * (p + n)), total)
        case "markedness":
            return _MarginDifference(surplus, predicted, total, 1, p + n, root=False)
        case "mcc":
            return _MarginDifference(surplus, predicted, total, p * n, p + n, root=True)
        case "fowlkes_mallows":
            return _MarginDifference((1, 0, 0), predicted, total, p, None, root=True)
    raise InputError(f"metric: the exchange of systems is not known for {metric}")


# --- Sums of square roots, compared without rounding

_FIRST_BITS = 64  # after the binary point, in the first attempt to find a sign


@dataclass(frozen=True, eq=False)
class _RootSum:
    """A sum of signed square roots (of |t| with the sign of t), compared without rounding."""

    terms: tuple[Fraction, ...]

    def __float__(self) -> float:
        return sum(copysign(sqrt(abs(t)), t) for t in self.terms)

    def __neg__(self) -> _RootSum:
        return _RootSum(tuple(-t for t in self.terms))

    def __abs__(self) -> _RootSum:
        return -self if self.sign() < 0 else self

    def __sub__(self, other: _RootSum | Fraction | int) -> _RootSum:
        if not isinstance(other, _RootSum):
            number = Fraction(other)
            other = _RootSum((number * abs(number),))
        return _RootSum(self.terms + (-other).terms)

    def __ge__(self, other: _RootSum | Fraction | int) -> bool:
        return (self - other).sign() >= 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (_RootSum, Fraction, int)):
            return NotImplemented
        return (self - other).sign() == 0

    __hash__ = None  # type: ignore[assignment]  # equal sums may have different terms

    def sign(self) -> int:
        """Return the exact sign: -1, 0 or 1."""
        # The product of the sums over all combinations of signs is a whole number if the radicands
        # are: a sum that is not 0 is at least one over the product of the others.
        scale = lcm(*(t.denominator for t in self.terms))
        signed = [(1 if t > 0 else -1, int(abs(t) * scale * scale)) for t in self.terms if t]
        if not signed:
            return 0
        largest = sum(isqrt(square) + 1 for _, square in signed)
        enough = 2 + largest.bit_length() * 2 ** len(signed)
        bits = _FIRST_BITS
        while True:
            total = sum(side * isqrt(square << 2 * bits) for side, square in signed)
            if abs(total) > len(signed):
                return 1 if total > 0 else -1
            if bits >= enough:
                return 0
            bits = min(4 * bits, enough)


# --- Differences of scores that are not linear in the number of predicted items
#
# Let m = x + f be the number of predicted items out of n, of which p are positive. Matthews'
# coefficient and markedness have (n-p)·x - p·f in the numerator and a power of m·(n - m) in the
# denominator; the index of Fowlkes and Mallows is x over the root of m·p.


@dataclass(frozen=True)
class _MarginDifference(ScoreDifference):
    """The difference of scores (a·x + b·f) / (factor·m·(items - m)), with m = x + f."""

    # with `root` over the root of that; without `items` the last factor is 1

    factor: int
    items: int | None
    root: bool

    def _score(self, x: Any, f: Any) -> Any:
        top, bottom, _ = self._parts(x, f)
        return top / bottom

    def _exact(self, x: int, f: int) -> Any:
        (a, b, _), m = self.top, x + f
        top, bottom = a * x + b * f, self.factor * m * self._left_out(m)
        if not self.root:
            return Fraction(top, max(bottom, 1))
        return _RootSum((Fraction(top * abs(top), max(bottom, 1)),))

    def _slope(self, x: Any, f: Any) -> NDArray[np.float64]:
        top, bottom, rate = self._parts(x, f)
        a, b, _ = self.top
        return np.array([a / bottom - top / bottom * rate, b / bottom - top / bottom * rate])

    def _parts(self, x: Any, f: Any) -> tuple[Any, Any, Any]:
        """Return numerator, denominator (infinite for 0), and the derivative of its logarithm."""
        a, b, _ = map(float, self.top)
        x, f = np.asarray(x, dtype=np.float64), np.asarray(f, dtype=np.float64)
        m, power = x + f, 0.5 if self.root else 1.0
        left = self._left_out(m)
        there = (m > 0) & (left > 0) & (self.factor > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            # take roots before the product, so that large numbers do not lose their last digits
            bottom = np.power(m, power) * np.power(left, power) * float(self.factor) ** power
            rate = power * (1 / m - (0.0 if self.items is None else 1 / left))
        return a * x + b * f, np.where(there, bottom, np.inf), np.where(there, rate, 0.0)

    def _left_out(self, m: Any) -> Any:
        """Return the number of items that are not predicted."""
        return 1 if self.items is None else self.items - m
