"""Compute the difference of two scores as a function of what the baseline is credited with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import copysign, gcd, isqrt, lcm, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.metrics import NEEDS_TN, TABLE, Metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from probative.counts import PairedCounts


# -----------------------------------------------------------------------------
# The difference of two scores as a function of what the baseline is credited with.
#
# Both systems answer the same questions, so what the two score together is fixed: whoever knows
# the baseline's true and false positives (x, f) knows both scores. Most scores are a ratio of two
# affine functions of (x, f) with whole coefficients; the others are such a function over a power
# of what a system returns and leaves out (`_margin_difference`). Either way ties can be settled in
# integers.
# -----------------------------------------------------------------------------

if TYPE_CHECKING:
    Exact = Any  # a Fraction, or a RootSum: numbers that are compared without rounding


# Quotients of exactly known numbers are off by a few units in the last place, 1e-15; what is
# closer to a tie than this is decided in integers.
_CLOSE = 1e-13


class ScoreDifference(ABC):
    """Score difference B - A where A is credited with (x, f) and B with what is left.

    A score rises with x and falls with f, and is 0 where it would be 0/0.

    Attributes
    ----------
    total
        What both are credited with together.
    """

    total: tuple[int, int]

    def difference(self, x: Any, f: Any) -> Any:
        """B's score minus A's, in floating point."""
        return self._score(self.total[0] - x, self.total[1] - f) - self._score(x, f)

    def exact_difference(self, x: int, f: int) -> Exact:
        """B's score minus A's, exactly."""
        return self._exact(self.total[0] - x, self.total[1] - f) - self._exact(x, f)

    def gradient(self, x: Any, f: Any) -> NDArray[np.float64]:
        """How the difference changes with (x, f); 0 where a score has no denominator."""
        slope_a = self._slope(x, f)
        slope_b = self._slope(self.total[0] - x, self.total[1] - f)
        return np.asarray(-(slope_a + slope_b))

    def at_least(self, x: Any, f: Any, threshold: Exact) -> NDArray[np.bool_]:
        """Whether the difference reaches the threshold; a tie does, and no rounding breaks it."""
        x, f = np.broadcast_arrays(x, f)
        excess = self.difference(x, f) - float(threshold)
        reached = np.asarray(excess > 0)
        close = np.abs(excess) <= _CLOSE
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
        """For every row x the least j in low..high for which (x, f(j)) reaches the threshold.

        A's score falls and B's rises with every false positive that moves to A, so the extreme j
        of a row are a tail; high + 1 says that there is none.
        """
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

    def projected(self) -> ScoreDifference:
        """The same difference told by one number, where the denominator is fixed."""
        return self

    def spacing(self, steps: Iterable[tuple[int, int]]) -> Fraction:  # noqa: ARG002
        """How far apart differences are if A's credit changes in such steps; 0: no such distance.

        What A gets B loses, so that a step counts twice.
        """
        return Fraction(0)

    @property
    def line(self) -> tuple[int, int] | None:
        """The weights of x and f, where the denominator is the same whatever is exchanged."""
        return None

    @property
    def may_jump(self) -> bool:
        """Whether a score rests on few items where few are returned, as precision does."""
        return True

    @abstractmethod
    def _score(self, x: Any, f: Any) -> Any:
        """The score of a system credited with (x, f)."""

    @abstractmethod
    def _exact(self, x: int, f: int) -> Any:
        """The same, exactly."""

    @abstractmethod
    def _slope(self, x: Any, f: Any) -> NDArray[np.float64]:
        """The derivatives in x and f."""


@dataclass(frozen=True)
class AffineDifference(ScoreDifference):
    """Of scores (a·x + b·f + c) / (u·x + w·f + k)."""

    top: tuple[int, int, int]
    bottom: tuple[int, int, int]
    total: tuple[int, int]

    def projected(self) -> AffineDifference:
        """The same difference told by -(a·x + b·f) alone."""
        a, b, c = self.top
        return AffineDifference(
            (0, -1, c), self.bottom, (0, -(a * self.total[0] + b * self.total[1]))
        )

    def spacing(self, steps: Iterable[tuple[int, int]]) -> Fraction:
        """How far apart differences are."""
        if self.line is None:
            return Fraction(0)
        a, b = self.line
        return Fraction(2 * gcd(*(a * x + b * f for x, f in steps)), max(self.bottom[2], 1))

    @property
    def line(self) -> tuple[int, int] | None:
        """The weights of x and f, where the denominator is the same whatever is exchanged."""
        return self.top[:2] if self.bottom[:2] == (0, 0) else None

    @property
    def may_jump(self) -> bool:
        """Whether a score rests on few items where few are returned, as precision does."""
        return self.bottom[2] == 0 and self.line is None

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
    """The difference of a metric on one table."""
    if metric in NEEDS_TN and not paired.has_negatives:
        raise InputError(f"metric: {metric} needs tn (case 7), and these cases have none")
    t = [int(value) for value in paired.cases]
    positives = t[0] + t[2] + t[4] + t[6]
    total = t[0] + t[2] + 2 * t[4], t[1] + t[3] + 2 * t[5]
    return difference_of_totals(positives, sum(t) - positives, total, metric, beta)


def difference_of_totals(
    positives: int, negatives: int, total: tuple[int, int], metric: str, beta: float
) -> ScoreDifference:
    """The difference of a metric where both systems together have `total` true, false positives.

    `positives` and `negatives` are the items that the answer has, and those that it has not.
    """
    own = TABLE[metric]
    if not isinstance(own, Metric):
        return _of_composite(positives, negatives, total, metric)
    # the decimal that beta prints as: 0.1 is meant to be a tenth
    b2 = Fraction(repr(float(beta))) ** 2
    forms = own.forms(b2)
    scale = lcm(*(Fraction(weight).denominator for form in forms for weight in form))

    def of_credit(form: tuple[Any, ...]) -> tuple[int, int, int]:
        """A form in (x, f) alone: what is no true positive is missed, no false one is left out."""
        tp, fp, fn, tn = (int(scale * weight) for weight in form)
        return tp - fn, fp - tn, fn * positives + tn * negatives

    top, bottom = map(of_credit, forms)
    return AffineDifference(top, bottom, total)


def _of_composite(p: int, n: int, total: tuple[int, int], metric: str) -> ScoreDifference:
    """The difference of a score that is no ratio of linear forms, of p positives and n negatives.

    Given these, tp·tn - fp·fn is n·x - p·f; that and how much is returned, x + f, tell all.
    """
    surplus = n, -p
    match metric:
        case "informedness":
            return AffineDifference((*surplus, 0), (0, 0, p * n), total)
        case "balanced_accuracy":
            return AffineDifference((*surplus, p * n), (0, 0, 2 * p * n), total)
        case "kappa":
            return AffineDifference((2 * n, -2 * p, 0), (n - p, n - p, p * (p + n)), total)
        case "markedness":
            return _MarginDifference(surplus, 1, p + n, False, total)
        case "mcc":
            return _MarginDifference(surplus, p * n, p + n, True, total)
        case "fowlkes_mallows":
            return _MarginDifference((1, 0), p, None, True, total)
    raise InputError(f"metric: the exchange of systems is not known for {metric}")


# -----------------------------------------------------------------------------
# Sums of square roots, compared without rounding.
# -----------------------------------------------------------------------------

_BITS = 64


@dataclass(frozen=True, eq=False)
class RootSum:
    """The sum of signed square roots: a term t stands for the root of |t| with the sign of t.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from probative.inference.score_differences import RootSum
    >>> five, two = RootSum((Fraction(5),)), RootSum((Fraction(2),))
    >>> five - two >= Fraction(821, 1000), RootSum((Fraction(8),)) - two - two == 0
    (True, True)
    """

    terms: tuple[Fraction, ...]

    def __float__(self) -> float:
        return sum(copysign(sqrt(abs(t)), t) for t in self.terms)

    def __neg__(self) -> RootSum:
        return RootSum(tuple(-t for t in self.terms))

    def __abs__(self) -> RootSum:
        return -self if self.sign() < 0 else self

    def __sub__(self, other: RootSum | Fraction | int) -> RootSum:
        if not isinstance(other, RootSum):
            number = Fraction(other)
            other = RootSum((number * abs(number),))
        return RootSum(self.terms + (-other).terms)

    def __ge__(self, other: RootSum | Fraction | int) -> bool:
        return (self - other).sign() >= 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (RootSum, Fraction, int)):
            return NotImplemented
        return (self - other).sign() == 0

    __hash__ = None  # type: ignore[assignment]  # equal sums may have different terms

    def sign(self) -> int:
        """-1, 0 or 1, exactly.

        The product of the sums with all combinations of signs is a whole number, if what stands
        under the roots is. So a sum that is not 0 is at least one over the product of the others.
        """
        scale = lcm(*(t.denominator for t in self.terms))
        signed = [(1 if t > 0 else -1, int(abs(t) * scale * scale)) for t in self.terms if t]
        if not signed:
            return 0
        largest = sum(isqrt(square) + 1 for _, square in signed)
        enough = 2 + largest.bit_length() * 2 ** len(signed)
        bits = _BITS
        while True:
            total = sum(side * isqrt(square << 2 * bits) for side, square in signed)
            if abs(total) > len(signed):
                return 1 if total > 0 else -1
            if bits >= enough:
                return 0
            bits = min(4 * bits, enough)


# -----------------------------------------------------------------------------
# The difference of two scores that depend on how much a system returns, and not linearly.
#
# With m = x + f what a system returns of n items, of which p are positive, and n·x - p·f in the
# numerator, Matthews' coefficient and markedness are a linear function over a power of m·(n - m);
# the index of Fowlkes and Mallows is x over the root of m·p.
# -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _MarginDifference(ScoreDifference):
    """Of scores (a·x + b·f) / (factor·m·(items - m)), or over the root of that; m = x + f.

    Without `items` the last factor is 1.
    """

    top: tuple[int, int]
    factor: int
    items: int | None
    root: bool
    total: tuple[int, int]

    def _score(self, x: Any, f: Any) -> Any:
        top, bottom, _ = self._parts(x, f)
        return top / bottom

    def _exact(self, x: int, f: int) -> Any:
        (a, b), m = self.top, x + f
        top, bottom = a * x + b * f, self.factor * m * self._left_out(m)
        if not self.root:
            return Fraction(top, max(bottom, 1))
        return RootSum((Fraction(top * abs(top), max(bottom, 1)),))

    def _slope(self, x: Any, f: Any) -> NDArray[np.float64]:
        top, bottom, rate = self._parts(x, f)
        a, b = self.top
        return np.array([a / bottom - top / bottom * rate, b / bottom - top / bottom * rate])

    def _parts(self, x: Any, f: Any) -> tuple[Any, Any, Any]:
        """Numerator, denominator, and the derivative of its logarithm; as if infinite for 0."""
        a, b = map(float, self.top)
        x, f = np.asarray(x, dtype=np.float64), np.asarray(f, dtype=np.float64)
        m, power = x + f, 0.5 if self.root else 1.0
        left = self._left_out(m)
        there = (m > 0) & (left > 0) & (self.factor > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            # root by root, so that no product of large numbers loses its last digits
            bottom = np.power(m, power) * np.power(left, power) * float(self.factor) ** power
            rate = power * (1 / m - (0.0 if self.items is None else 1 / left))
        return a * x + b * f, np.where(there, bottom, np.inf), np.where(there, rate, 0.0)

    def _left_out(self, m: Any) -> Any:
        return 1 if self.items is None else self.items - m
