"""Counts by unit and label, kept only where there is something to count."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative.counts import Counts

__all__ = ["LabelCounts"]


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """The counts of one system in every cell of units and labels that holds an item.

    A table of all units and labels is nearly empty: a hundred thousand labels on as many units
    would have ten thousand million cells.

    Attributes
    ----------
    unit, label
        The unit and the label of every cell.
    counts
        The counts in it.
    n_units, n_labels
        How many units and labels there are, with or without items.
    number
        How many equal units each unit stands for; None where it is one.

    Examples
    --------
    >>> import probative as pv
    >>> from probative.label_counts import LabelCounts
    >>> cells = LabelCounts.from_table(pv.Counts(tp=[[8, 1]], fp=[[2, 1]], fn=[[0, 2]]))
    >>> cells.by_label().tp
    array([8., 1.])
    """

    unit: NDArray[Any]
    label: NDArray[Any]
    counts: Counts
    n_units: int
    n_labels: int
    number: NDArray[Any] | None = None

    @classmethod
    def from_table(cls, counts: Counts) -> LabelCounts:
        """Of a full table: one row per unit and one column per label."""
        if len(counts.shape) != 2:
            raise InputError(
                f"counts: shape {counts.shape}; expected one row per unit, one column per label"
            )
        n_units, n_labels = counts.shape
        unit = np.repeat(np.arange(n_units), n_labels)
        label = np.tile(np.arange(n_labels), n_units)
        return cls(unit, label, counts.reshape(n_units * n_labels), n_units, n_labels)

    @cached_property
    def kinds(self) -> tuple[LabelCounts, NDArray[np.float64]]:
        """Cells of one label that have the same counts, as one, and how many there are of each.

        Sentences are small: a million tokens have a few hundred kinds of cells. Where there would
        be more kinds than cells, or counts are fractions, every cell is a kind.
        """
        counts = self.counts
        cells_of = (counts.tp, counts.fp, counts.fn, counts.tn)
        parts = [np.asarray(part) for part in cells_of if part is not None]
        shape = (self.n_labels, *(int(part.max(initial=0)) + 1 for part in parts))
        if prod(shape) > len(self.label) or any((part % 1).any() for part in parts):
            return self, np.ones(len(self.label))
        cells = (np.asarray(self.label), *(part.astype(np.intp) for part in parts))
        weights = None if self.number is None else self.number[self.unit]
        number = np.bincount(np.ravel_multi_index(cells, shape), weights=weights)
        there = np.flatnonzero(number)
        label, *columns = np.unravel_index(there, shape)
        kinds = LabelCounts(label, label, type(counts)(*columns), 0, self.n_labels)
        return kinds, number[there].astype(np.float64)

    def by_label(self) -> Counts:
        """One table per label: the sums over the units."""
        return self._by_label

    @cached_property
    def _by_label(self) -> Counts:
        return self.counts._map(lambda cells: self.sum_by_label(cells))

    @cached_property
    def items_by_unit(self) -> NDArray[np.float64]:
        """How many items every unit holds."""
        return self.sum_by_unit(self.counts.nu)

    def sum_by_label(self, cells: Any) -> NDArray[np.float64]:
        """Add up a number per cell for every label, over all units that each one stands for."""
        if self.number is not None:
            cells = np.asarray(cells) * self.number[self.unit]
        return self._sum(self.label, cells, self.n_labels)

    def sum_by_unit(self, cells: Any) -> NDArray[np.float64]:
        """Add up a number per cell for every unit, once where it stands for several."""
        return self._sum(self.unit, cells, self.n_units)

    @cached_property
    def repeats(self) -> NDArray[np.float64]:
        """How many units each unit stands for."""
        if self.number is None:
            return np.ones(self.n_units)
        return np.asarray(self.number, dtype=np.float64)

    def written_out(self) -> LabelCounts:
        """The same with every unit for itself."""
        if self.number is None:
            return self
        number = np.asarray(self.number, dtype=np.int64)
        first = np.concatenate([[0], np.cumsum(number)])
        times = number[self.unit]
        cell = np.repeat(np.arange(len(self.unit)), times)
        start = np.cumsum(times) - times
        unit = first[self.unit[cell]] + np.arange(len(cell)) - start[cell]
        return LabelCounts(unit, self.label[cell], self.counts[cell], int(first[-1]), self.n_labels)

    @staticmethod
    def _sum(group: NDArray[Any], cells: Any, size: int) -> NDArray[np.float64]:
        weights = np.asarray(cells, dtype=np.float64)
        return np.bincount(group, weights=weights, minlength=size).astype(np.float64)

    def only(self, labels: NDArray[np.bool_]) -> LabelCounts:
        """The cells of some labels alone, and the labels numbered anew."""
        if labels.all():
            return self
        kept = labels[self.label]
        code = np.cumsum(labels) - 1
        return LabelCounts(
            self.unit[kept],
            code[self.label[kept]],
            self.counts[kept],
            self.n_units,
            int(labels.sum()),
            self.number,
        )
