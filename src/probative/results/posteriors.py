"""What is known of a difference after the data: the one question that all posteriors answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from probative._types import Number

__all__ = ["DifferencePosterior", "ScorePosterior"]


class DifferencePosterior(Protocol):
    """The posterior distribution of a difference, B minus A.

    `kind` says how it was made: "paired" (both systems saw the same items), "independent" or, for
    macro averages, "hierarchical".
    """

    @property
    def kind(self) -> str:
        """How it was made."""

    def cdf(self, d: ArrayLike) -> Number:
        """The probability of a difference of at most `d`."""

    def sf(self, d: ArrayLike) -> Number:
        """The probability of a difference above `d`."""

    def pdf(self, d: ArrayLike) -> Number:
        """The density at `d`."""

    def interval(self, level: float = 0.95) -> tuple[Number, Number]:
        """The equal-tailed limits between which the difference lies."""


class ScorePosterior(Protocol):
    """The posterior distribution of a score."""

    def pdf(self, x: ArrayLike) -> Number:
        """The density at `x`."""

    def ppf(self, q: ArrayLike) -> Number:
        """The score below which the share `q` lies."""

    def isf(self, q: ArrayLike) -> Number:
        """The score above which the share `q` lies."""
