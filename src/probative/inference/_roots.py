"""Sums of square roots, compared without rounding."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import copysign, isqrt, lcm, sqrt

__all__ = ["RootSum"]

_BITS = 64


@dataclass(frozen=True, eq=False)
class RootSum:
    """The sum of signed square roots: a term t stands for the root of |t| with the sign of t.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from probative.inference._roots import RootSum
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
