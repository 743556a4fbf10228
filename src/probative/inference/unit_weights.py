"""The curve under other weights of the units: what resampling and leaving out have in common.

A test set in which unit u counts w times has a curve of its own. Bootstrap, cross-fitting and
leaving out one unit at a time are such weights; here they are applied to many test sets at once.
Of very many steps or units some are put together, which costs next to nothing in accuracy:
thresholds a two-thousandth of the items apart, and units at random, whose sums are independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative._types import Array
    from probative.inference.ranked import Ranked

__all__ = ["WeightedCurves", "fbeta_of"]

_MOST_STEPS, _MOST_UNITS = 2_000, 4_000


@dataclass(frozen=True, eq=False)
class WeightedCurves:
    """Positives and items by step (rows) and unit (columns).

    Attributes
    ----------
    positives, items
        Sparse matrices.
    last_step
        The last of the curve's own steps that every row holds.
    """

    positives: Any
    items: Any
    last_step: NDArray[np.int64]

    @classmethod
    def of(
        cls, ranked: Ranked, block: NDArray[np.int64] | None = None, *, most: int = _MOST_STEPS
    ) -> WeightedCurves:
        """Gather the steps and units of a curve.

        Parameters
        ----------
        ranked
            The curve.
        block
            The column of every unit; by default `blocks_of` them.
        most
            The largest number of rows.
        """
        from scipy import sparse

        block = blocks_of(ranked.n_units) if block is None else block
        last = _spread(ranked.predicted, most)
        row = np.searchsorted(last, ranked.step)
        column = block[ranked.units]
        shape = (len(last), int(block.max()) + 1)
        ones = np.ones(ranked.items)
        items = sparse.csr_matrix((ones, (row, column)), shape)
        own = ranked.is_positive
        positives = sparse.csr_matrix((ones[own], (row[own], column[own])), shape)
        return cls(positives, items, last)

    @property
    def n_units(self) -> int:
        """How many columns there are."""
        return int(self.items.shape[1])

    def cumulated(self, weights: Array) -> tuple[Array, Array]:
        """True positives and predicted items at every step, a column for each set of weights."""
        tp, predicted = self.positives @ weights, self.items @ weights
        return np.cumsum(tp, axis=0), np.cumsum(predicted, axis=0)

    def average_precision(self, weights: Array) -> Array:
        """The average precision under each set of weights; NaN without positives."""
        tp, predicted = self.cumulated(weights)
        gained = np.diff(tp, axis=0, prepend=0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(predicted > 0, tp / predicted, 0.0)
            return np.asarray((gained * share).sum(axis=0) / tp[-1])


def blocks_of(units: int, most: int = _MOST_UNITS) -> NDArray[np.int64]:
    """Put units together at random, if there are more than that; always the same ones."""
    if units <= most:
        return np.arange(units)
    return np.random.default_rng(units).permutation(units) % most


def _spread(predicted: Array, most: int) -> NDArray[np.int64]:
    """All steps, or so many of them that hold about as many items each."""
    if len(predicted) <= most:
        return np.arange(len(predicted))
    places = np.searchsorted(predicted, np.linspace(0, predicted[-1], most + 1)[1:])
    return np.unique(np.minimum(places, len(predicted) - 1))


def fbeta_of(tp: Array, predicted: Array, positives: Any, beta: float) -> Array:
    """F-beta from true positives, predicted items and positives; 0 where there is nothing."""
    below = beta**2 * positives + predicted
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below > 0, (1 + beta**2) * tp / below, 0.0)
