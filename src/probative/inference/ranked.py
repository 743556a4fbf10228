"""Items in the order of their scores: the curve behind precision, recall and their averages.

A step is a score that occurs: all items of that score and above are taken for "yes". Items of one
score have one step, so that their order does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative._types import Array

__all__ = ["Ranked", "cumulated_from_below"]


@dataclass(frozen=True, eq=False)
class Ranked:
    """A yes or no and a score per item.

    Attributes
    ----------
    is_positive
        The answer, per item.
    step
        The step of every item, from 0: the highest score.
    thresholds
        The score of every step, falling.
    unit
        The unit of every item as a code from 0, or None where items are independent.
    """

    is_positive: NDArray[np.bool_]
    step: NDArray[np.int64]
    thresholds: Array
    unit: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls, is_positive: NDArray[np.bool_], scores: Array, unit: NDArray[np.int64] | None = None
    ) -> Ranked:
        """Rank items by their scores."""
        order = np.argsort(-scores)
        falling = scores[order]
        begins = np.append(True, falling[1:] != falling[:-1])
        step = np.empty(len(scores), dtype=np.int64)
        step[order] = np.cumsum(begins) - 1
        return cls(is_positive, step, falling[begins] + 0.0, unit)  # no minus zero

    @property
    def items(self) -> int:
        """How many items there are."""
        return len(self.is_positive)

    @cached_property
    def new_positives(self) -> Array:
        """How many positive items have the score of each step."""
        weights = self.is_positive.astype(float)
        counts = np.bincount(self.step, weights=weights, minlength=len(self.thresholds))
        return np.asarray(counts, dtype=float)

    @cached_property
    def new_items(self) -> Array:
        """How many items have the score of each step."""
        return np.bincount(self.step, minlength=len(self.thresholds)).astype(float)

    @cached_property
    def tp(self) -> Array:
        """The true positives from each step on."""
        return np.cumsum(self.new_positives)

    @cached_property
    def predicted(self) -> Array:
        """How many items are taken for "yes" from each step on."""
        return np.cumsum(self.new_items)

    @property
    def fp(self) -> Array:
        """The false positives from each step on."""
        return self.predicted - self.tp

    @property
    def positives(self) -> int:
        """How many items are positive."""
        return int(self.tp[-1])

    @property
    def negatives(self) -> int:
        """How many items are not."""
        return self.items - self.positives

    @cached_property
    def precision(self) -> Array:
        """The share of positives among what is taken for "yes"."""
        return self.tp / self.predicted

    @cached_property
    def recall(self) -> Array:
        """The share of the positives that is taken for "yes"."""
        return self.tp / self.positives

    @cached_property
    def average_precision(self) -> float:
        """The mean of the precision over the steps, each weighted by the recall that it adds."""
        return float(self.new_positives @ self.precision / self.positives)

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """The unit of every item; its own number where items are independent."""
        return np.arange(self.items) if self.unit is None else self.unit

    @cached_property
    def n_units(self) -> int:
        """How many units there are."""
        return self.items if self.unit is None else int(self.unit.max()) + 1

    def by_unit(self, values: Array) -> Array:
        """Sums of what every item has, per unit."""
        if self.unit is None:
            return values
        sums = np.bincount(self.unit, weights=values, minlength=self.n_units)
        return np.asarray(sums, dtype=float)

    @cached_property
    def positive_units(self) -> float:
        """How many equally large units would hold the positives as unevenly as these (Kish)."""
        return self._units_of(self.is_positive)

    @cached_property
    def negative_units(self) -> float:
        """How many equally large units would hold the others as unevenly as these; 0 of none."""
        return self._units_of(~self.is_positive) if self.negatives else 0.0

    @property
    def fewest(self) -> float:
        """The smaller of the two: of one or less nothing is known of how others would come out."""
        return min(self.positive_units, self.negative_units)

    def _units_of(self, chosen: NDArray[np.bool_]) -> float:
        if self.unit is None:
            return float(np.count_nonzero(chosen))
        own = self.by_unit(chosen.astype(float))
        return float(own.sum() ** 2 / (own**2).sum())


def cumulated_from_below(values: Array) -> Array:
    """Sums over each step and all below it."""
    return np.cumsum(values[::-1])[::-1]
