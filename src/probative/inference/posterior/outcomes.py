"""Compute the probabilities that A is better, B is better, or both are equivalent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from probative._validation import fraction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from probative._validation import Number


_LARGEST_ERROR_CALLED_EXACT = 1e-8  # of a probability


def computed(error: Number) -> str:
    """Return the word for probabilities with this error: "exact" or "integrated"."""
    return "exact" if np.all(np.asarray(error) <= _LARGEST_ERROR_CALLED_EXACT) else "integrated"


class Outcomes(ABC):
    """The base class of posteriors of a difference that have a distribution function."""

    @abstractmethod
    def cdf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference of at most d."""

    @abstractmethod
    def sf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference above d."""

    @property
    def _symmetric(self) -> bool:
        """Return True if exchanging the systems changes nothing."""
        return False

    def probabilities(self, rope: float = 0.0) -> tuple[float, float, float]:
        """Return P(A better), P(equivalent) and P(B better).

        Differences of at most `rope` either way count as equivalent.
        """
        rope = fraction("rope", rope)
        a_better, b_better = float(self.cdf(-rope)), float(self.sf(rope))
        if self._symmetric:  # make both exactly equal, whatever the error of the nodes
            a_better = b_better = (a_better + b_better) / 2
        return a_better, max(1 - a_better - b_better, 0.0) if rope > 0 else 0.0, b_better
