"""What many systems have right and wrong on the units of one test set.

The answer is the same for all of them, so the true and false positives of a system on every unit
tell all its scores, and those of two systems their exchange test.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.counts import Counts
from probative.errors import InputError
from probative.metrics import COMPOSITES, NEEDS_TN, contributions, ratio, score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative._types import Array

__all__ = ["UnitTable"]


@dataclass(frozen=True, eq=False)
class UnitTable:
    """The counts of several systems, unit by unit.

    Attributes
    ----------
    tp, fp
        True and false positives: one row per system, one column per kind of unit.
    positives, negatives
        The items of every unit that the answer has, and those that it has not (None where they
        cannot be counted).
    number
        How many units there are of each kind.
    by_item
        Whether every unit is a single item.
    """

    tp: NDArray[Any]
    fp: NDArray[Any]
    positives: NDArray[Any]
    negatives: NDArray[Any] | None
    number: NDArray[np.int64]
    by_item: bool = False

    @classmethod
    def of_counts(cls, systems: Sequence[Counts], *, by_item: bool = False) -> UnitTable:
        """From the counts of every system on the same units.

        Examples
        --------
        >>> import probative as pv
        >>> from probative.inference.unit_table import UnitTable
        >>> old = pv.Counts(tp=[1, 0, 2], fp=[0, 1, 0], fn=[1, 0, 0])
        >>> new = pv.Counts(tp=[2, 0, 2], fp=[0, 0, 1], fn=[0, 0, 0])
        >>> UnitTable.of_counts([old, new]).positives.tolist()
        [2, 0, 2]
        """
        first = systems[0]
        columns = [[c.tp, c.fp, c.fn, *([] if c.tn is None else [c.tn])] for c in systems]
        whole = [_whole(np.stack([np.atleast_1d(part) for part in own])) for own in columns]
        tp, fp = (np.stack([own[row] for own in whole]) for row in (0, 1))
        negatives = None if first.tn is None else whole[0][1] + whole[0][3]
        positives = whole[0][0] + whole[0][2]
        number = np.ones(tp.shape[1], dtype=np.int64)
        return cls(tp, fp, positives, negatives, number, by_item)

    @property
    def n_systems(self) -> int:
        """How many systems there are."""
        return len(self.tp)

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return int(self.number.sum())

    def only(self, systems: NDArray[Any]) -> UnitTable:
        """Some of the systems alone."""
        return replace(self, tp=self.tp[systems], fp=self.fp[systems])

    def grouped(self) -> UnitTable:
        """Equal units once, with their number."""
        rows = [self.tp, self.fp, self.positives[None]]
        rows += [] if self.negatives is None else [self.negatives[None]]
        stacked = np.ascontiguousarray(np.concatenate(rows).T)
        keys = stacked.view(np.dtype((np.void, stacked.itemsize * stacked.shape[1])))[:, 0]
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first)  # in the order of their first appearance
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        number = np.bincount(place[group], weights=self.number, minlength=len(first))
        kept = first[order]
        return UnitTable(
            self.tp[:, kept],
            self.fp[:, kept],
            self.positives[kept],
            None if self.negatives is None else self.negatives[kept],
            number.astype(np.int64),
            self.by_item,
        )

    def distinct(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The first system of each kind, and the kind of every system: copies count once."""
        kinds: dict[bytes, int] = {}
        first: list[int] = []
        kind = np.empty(self.n_systems, dtype=np.intp)
        for k in range(self.n_systems):
            key = self.tp[k].tobytes() + self.fp[k].tobytes()
            if key not in kinds:
                kinds[key] = len(first)
                first.append(k)
            kind[k] = kinds[key]
        return np.array(first, dtype=np.intp), kind

    def counts(self) -> Counts:
        """One table per system and kind of unit."""
        tn = None if self.negatives is None else self.negatives - self.fp
        return Counts(self.tp, self.fp, self.positives - self.tp, tn)

    def totals(self, weights: NDArray[Any]) -> Counts:
        """The sums over the units, as often as the weights say: systems along the last axis."""
        return self.counts()._map(lambda cells: np.asarray(weights @ cells.T))

    def scores(self, metric: str, weights: NDArray[Any], *, beta: float = 1.0) -> Array:
        """The scores of all systems, where the kinds of units are weighed so: one row per draw."""
        return np.asarray(score(self.totals(weights), metric, beta=beta))

    def contributions(self, metric: str = "f1", *, beta: float = 1.0) -> tuple[Array, Array]:
        """What every kind of unit adds to numerator and denominator: one row per system."""
        if metric in NEEDS_TN and self.negatives is None:
            raise InputError(f"metric: {metric} needs tn, and these counts have none")
        if metric in COMPOSITES:
            rows, totals = self.counts(), self.totals(self.number)
            parts = [
                contributions(rows[k], metric, at=totals[k], units=True)
                for k in range(self.n_systems)
            ]
            x, y = (np.stack([part[i] for part in parts]) for i in (0, 1))
            return x, y
        x, y = ratio(self.counts(), metric, beta=beta)
        return np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)


def _whole(cells: NDArray[Any]) -> NDArray[np.int32]:
    """Counts as whole numbers; a part of an item cannot be exchanged."""
    rounded = np.round(cells)
    if np.any(cells != rounded):
        value = cells[cells != rounded].flat[0]
        raise InputError(f"counts: {value:g} of an item cannot be exchanged; expected whole counts")
    if np.max(rounded, initial=0) >= 2**31:
        raise InputError("counts: more than 2**31 items in one unit")
    return np.asarray(rounded.astype(np.int32))
