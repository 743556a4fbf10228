"""What is known of a difference after the data: the one question that all posteriors answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["DifferencePosterior"]


class DifferencePosterior(Protocol):
    """The posterior distribution of a difference, B minus A.

    `kind` says how it was made: "paired" (exact, both systems saw the same items) or "normal".
    """

    @property
    def kind(self) -> str:
        """How it was made."""

    def cdf(self, d: ArrayLike) -> Any:
        """The probability of a difference of at most `d`."""

    def sf(self, d: ArrayLike) -> Any:
        """The probability of a difference above `d`."""

    def pdf(self, d: ArrayLike) -> Any:
        """The density at `d`."""

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The equal-tailed limits between which the difference lies."""
