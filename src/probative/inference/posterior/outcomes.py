"""What the posterior of one difference says of the two systems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from probative._validation import fraction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from probative._validation import Number


_EXACT = 1e-8  # error up to which an integral is called exact


def computed(error: Number) -> str:
    """What to call probabilities that were integrated with this error: "exact", if they are."""
    return "exact" if np.all(np.asarray(error) <= _EXACT) else "integrated"


class Outcomes(ABC):
    """What posteriors with a distribution function have in common."""

    @abstractmethod
    def cdf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference of at most d."""

    @abstractmethod
    def sf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference above d."""

    @property
    def _symmetric(self) -> bool:
        """Whether exchanging the systems changes nothing."""
        return False

    def probabilities(self, rope: float = 0.0) -> tuple[float, float, float]:
        """Return P(A better), P(equivalent) and P(B better).

        Differences of at most `rope` either way count as equivalent.
        """
        rope = fraction("rope", rope)
        a_better, b_better = float(self.cdf(-rope)), float(self.sf(rope))
        if self._symmetric:  # exactly, whatever the nodes
            a_better = b_better = (a_better + b_better) / 2
        return a_better, max(1 - a_better - b_better, 0.0) if rope > 0 else 0.0, b_better
