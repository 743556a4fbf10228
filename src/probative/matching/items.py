"""Everything that the answer or a system proposes, and who proposes it.

An item is any distinct span (word, label of an item) that the answer or one of the systems
returns. Who says yes to it is all that counts and paired counts need. Where a span need not be
equal to count as right, the items are the spans of the answer, found or not, and the distinct
wrong ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import one_of
from probative.counts import Counts, LabelCounts, PairedCounts
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from probative.matching.matched import Matched


# -----------------------------------------------------------------------------
# An item is any distinct span (word, label of an item) that the answer or one of the systems
# returns. Who says yes to it is all that counts and paired counts need. Where a span need not be
# equal to count as right, the items are the spans of the answer, found or not, and the distinct
# wrong ones.
# -----------------------------------------------------------------------------

if TYPE_CHECKING:
    Ints = NDArray[np.int32]


GROUPINGS = ("label", "sentence", "document")
_DENSE = 8  # cells per item up to which a table of all cells is made


@dataclass(frozen=True, eq=False)
class Items:
    """Who proposes what.

    Attributes
    ----------
    unit, label
        The unit (sentence) and the label's code of every item.
    labels
        The label every code stands for, in alphabetical order.
    answer
        Whether the answer has the item.
    says
        Whether each system has it: one row per system.
    n_units
        How many units there are, with or without items.
    document
        The document of every unit, or None where none are marked.
    universe
        How many decisions every unit holds, where "no" can be counted too (a single class);
        else None.
    start, end
        Where every item begins and ends in its unit, where items are spans; else None.
    times
        How many equal items of its unit every item stands for; None where it is one.
    number
        How many equal units every unit stands for; None where it is one.
    weight
        What an item counts: 1, or ½ where a span is two items because half of it can be right.
    within_labels
        The items if every label is matched alone, where that gives others: what is said of single
        labels rests on these. None where a label's items are the same.
    """

    unit: Ints
    label: Ints
    labels: tuple[str, ...]
    answer: NDArray[np.bool_]
    says: NDArray[np.bool_]
    n_units: int
    document: Ints | None = None
    universe: NDArray[Any] | None = None
    start: NDArray[Any] | None = None
    end: NDArray[Any] | None = None
    times: NDArray[Any] | None = None
    number: NDArray[Any] | None = None
    weight: float = field(default=1.0, kw_only=True)
    within_labels: Items | None = field(default=None, kw_only=True)

    @property
    def is_condensed(self) -> bool:
        """Whether equal items or equal units are kept once, with their number."""
        return self.times is not None or self.number is not None

    @property
    def units_in_all(self) -> int:
        """How many units there are, equal ones each counted."""
        return self.n_units if self.number is None else int(self.number.sum())

    @property
    def positives(self) -> int:
        """How many spans (words, labels) the answer has."""
        weights = self.weights(None)
        if weights is None:
            return round(self.weight * np.count_nonzero(self.answer))
        return round(self.weight * float(weights[self.answer].sum()))

    @property
    def positives_by_label(self) -> NDArray[np.int64]:
        """How many spans (words, data) of every label the answer has."""
        weights = self.weights(None)
        own = None if weights is None else weights[self.answer]
        parts = np.bincount(self.label[self.answer], weights=own, minlength=len(self.labels))
        return np.asarray(np.rint(self.weight * parts), dtype=np.int64)

    def weights(self, by: str | None) -> NDArray[np.float64] | None:
        """How many items each one stands for: in its unit alone, or in all units; None for one."""
        if not self.is_condensed:
            return None
        times = np.ones(len(self.unit)) if self.times is None else self.times.astype(np.float64)
        if self.number is None or by == "sentence":
            return times
        return np.asarray(times * self.number[self.unit])

    def counts(self, system: int = 0, *, by: str | None = None) -> Counts:
        """The counts of a system: one table, or one per label, sentence or document.

        Parameters
        ----------
        system
            Its number, from 0.
        by
            ``label``, ``sentence`` or ``document``; by default everything together.
        """
        if by == "label" and self.within_labels is not None:
            return self.within_labels.counts(system, by=by)
        group, size = self._groups(by)
        tp, fp, fn = self._outcomes(system, group, size, self.weights(by))
        decisions = self._decisions(by)
        counts = Counts(tp, fp, fn, None if decisions is None else decisions - tp - fp - fn)
        return counts if by is not None else counts[0]

    def by_unit_and_label(self, system: int = 0, *, by: str = "sentence") -> LabelCounts:
        """The counts of a system in every cell of units and labels that holds an item.

        The cells are the same for all systems.

        Parameters
        ----------
        system
            Its number, from 0.
        by
            ``sentence`` or ``document``; ``item`` for cells of one item each.
        """
        if self.within_labels is not None:
            return self.within_labels.by_unit_and_label(system, by=by)
        if by not in self._cells_of:
            self._cells_of[by] = self._cells(by)
        unit, label, cell, n_units = self._cells_of[by]
        weights, number = self.weights("sentence"), self.number
        if by == "item":
            weights, number = None, self.weights(None)
        counts = Counts(*self._outcomes(system, cell, len(unit), weights))
        return LabelCounts(unit, label, counts, n_units, len(self.labels), number)

    def _outcomes(
        self, system: int, group: NDArray[Any], size: int, weights: NDArray[np.float64] | None
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """How many items of every group are right, too much and missed."""
        outcome = group * 4
        outcome += self.says[system] * np.int8(2)
        outcome += self.answer
        number = np.bincount(outcome, weights=weights, minlength=4 * size).reshape(size, 4)
        weighed = number if self.weight == 1 else number * self.weight
        return weighed[:, 3], weighed[:, 2], weighed[:, 1]

    @cached_property
    def _cells_of(self) -> dict[str, tuple[NDArray[Any], NDArray[Any], NDArray[Any], int]]:
        """What `_cells` has found: several scores ask for the same ones."""
        return {}

    def _cells(self, by: str) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], int]:
        """Unit and label of every cell, the cell of every item, and how many units there are."""
        if by == "item":
            every = np.arange(len(self.unit))
            return every, self.label.astype(np.intp), every, len(every)
        group, n_units = self._groups(by)
        size = max(1, len(self.labels))
        key = group.astype(np.int64) * size + self.label
        if n_units * size <= _DENSE * len(key):  # a table of all cells is smaller than a sort
            used = np.zeros(n_units * size, dtype=bool)
            used[key] = True
            place, cell = np.flatnonzero(used), (np.cumsum(used) - 1)[key]
        else:
            place, cell = np.unique(key, return_inverse=True)
        return place // size, place % size, cell.reshape(-1), n_units

    def uses(self, system: int | None = None) -> NDArray[np.bool_]:
        """Which labels the answer has; with `system`, or a system."""
        if self.within_labels is not None:
            return self.within_labels.uses(system)
        which = self.answer if system is None else self.answer | self.says[system]
        return np.bincount(self.label[which], minlength=len(self.labels)) > 0

    def paired(self, a: int, b: int, *, by: str | None = "sentence") -> PairedCounts:
        """The eight cases of two systems, one row per sentence or document, or one table.

        Parameters
        ----------
        a, b
            The numbers of the baseline and of the challenger.
        by
            ``sentence``, ``document`` or ``label``; None for one table.
        """
        if by == "label" and self.within_labels is not None:
            return self.within_labels.paired(a, b, by=by)
        group, size = self._groups(by)
        says_a, says_b = self.says[a], self.says[b]
        case = np.where(says_a, np.where(says_b, 4, 0), np.where(says_b, 2, 6)) + ~self.answer
        kept = says_a | says_b | self.answer  # other systems' false alarms are no item of these two
        weights = self.weights(by)
        cases: NDArray[Any] = np.bincount(
            group[kept] * 8 + case[kept],
            weights=None if weights is None else weights[kept],
            minlength=size * 8,
        ).reshape(size, 8)
        decisions = self._decisions(by)
        if decisions is None:
            cases = cases[:, :7] if self.weight == 1 else cases[:, :7] * self.weight
        else:
            cases[:, 7] = decisions - cases.sum(axis=1)
        number = self.number if by == "sentence" else None
        return PairedCounts(cases if by is not None else cases[0], number)

    @cached_property
    def by_label(self) -> tuple[Items, ...]:
        """The items of each label alone, in the order of `labels`."""
        if self.within_labels is not None:
            return self.within_labels.by_label
        order = np.argsort(self.label, kind="stable")
        ends = np.cumsum(np.bincount(self.label, minlength=len(self.labels)))
        return tuple(
            Items(
                self.unit[own],
                np.zeros(len(own), dtype=np.int32),
                (label,),
                self.answer[own],
                self.says[:, own],
                self.n_units,
                self.document,
                self.universe,
                times=None if self.times is None else self.times[own],
                number=self.number,
                weight=self.weight,
            )
            for label, own in zip(self.labels, np.split(order, ends[:-1]), strict=True)
        )

    def of_systems(self, systems: Sequence[int]) -> Items:
        """The same items, said by some of the systems."""
        return self._map(lambda items: replace(items, says=items.says[list(systems)]))

    def pooled(self, systems: Sequence[int]) -> Items:
        """The items once per system, as one system says them all."""
        number = len(systems)

        def tiled(values: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if values is None else np.tile(values, number)

        return self._map(
            lambda items: replace(
                items,
                unit=np.tile(items.unit, number),
                label=np.tile(items.label, number),
                answer=np.tile(items.answer, number),
                says=items.says[list(systems)].reshape(1, -1),
                universe=None if items.universe is None else number * items.universe,
                start=tiled(items.start),
                end=tiled(items.end),
            )
        )

    def _map(self, change: Callable[[Items], Items]) -> Items:
        within = None if self.within_labels is None else self.within_labels._map(change)
        return replace(change(self), within_labels=within)

    def only(self, labels: Sequence[str]) -> Items:
        """The items with one of these labels."""
        for label in labels:
            one_of("only", label, self.labels)
        kept = set(labels)
        of_these = np.array([label in kept for label in self.labels], dtype=bool)
        wanted, code = of_these[self.label], np.cumsum(of_these) - 1
        return replace(
            self.where(wanted),
            label=code.astype(np.int32)[self.label[wanted]],
            labels=tuple(label for label in self.labels if label in kept),
            universe=self.universe if len(kept) == 1 else None,
        )

    def where(self, wanted: NDArray[np.bool_]) -> Items:
        """The items of a mask; what is no item is not told apart from what was left out."""
        return replace(
            self,
            unit=self.unit[wanted],
            label=self.label[wanted],
            answer=self.answer[wanted],
            says=self.says[:, wanted],
            universe=None,
            start=None if self.start is None else self.start[wanted],
            end=None if self.end is None else self.end[wanted],
            times=None if self.times is None else self.times[wanted],
            within_labels=None,
        )

    def of_units(self, units: NDArray[Any]) -> Items:
        """The items of these units alone, whose numbers begin anew; their order is kept."""
        place = np.full(self.n_units, -1, dtype=np.int32)
        place[units] = np.arange(len(units), dtype=np.int32)
        document: Ints | None = None
        if self.document is not None:
            _, number = np.unique(self.document[units], return_inverse=True)
            document = number.reshape(-1).astype(np.int32)
        universe = None if self.universe is None else self.universe[units]
        there = self.where(place[self.unit] >= 0)
        within = self.within_labels
        return replace(
            there,
            unit=place[there.unit],
            n_units=len(units),
            document=document,
            universe=universe,
            within_labels=None if within is None else within.of_units(units),
        )

    def _groups(self, by: str | None) -> tuple[NDArray[np.intp], int]:
        if by is None:
            return np.zeros(len(self.unit), dtype=np.intp), 1
        one_of("by", by, GROUPINGS)
        if by == "label":
            return self.label.astype(np.intp), len(self.labels)
        if by == "sentence":
            return self.unit.astype(np.intp), self.n_units
        if self.document is None:
            raise InputError("by: no documents are marked; expected 'label' or 'sentence'")
        return self.document[self.unit].astype(np.intp), int(self.document.max(initial=-1)) + 1

    @property
    def decisions(self) -> int:
        """How many yes-or-no decisions there are in all, where "no" can be counted."""
        universe = np.zeros(0) if self.universe is None else self.universe
        return int((universe if self.number is None else universe * self.number).sum())

    def _decisions(self, by: str | None) -> Any:
        """How many yes-or-no decisions every group holds."""
        if self.universe is None or (len(self.labels) != 1 and by != "label"):
            return None
        if by == "sentence":
            return self.universe
        if by == "document" and self.document is not None:
            return np.bincount(self.document, weights=self.universe)
        size = len(self.labels) if by == "label" else 1
        return np.full(size, self.decisions)


def union(names: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], list[Ints]]:
    """One numbering for the labels of several sides, and each side's codes in it."""
    everything = tuple(sorted(set().union(*names)))
    code = {name: i for i, name in enumerate(everything)}
    return everything, [np.array([code[n] for n in side], dtype=np.int32) for side in names]


def collect(
    sides: Sequence[tuple[NDArray[Any], ...]],
    labels: tuple[str, ...],
    n_units: int,
    document: Ints | None = None,
    universe: NDArray[Any] | None = None,
) -> Items:
    """Find the distinct items of several sides.

    Parameters
    ----------
    sides
        The answer's and then each system's items: arrays of unit, place (start and end, for
        spans, and of which pieces they are), label.
    labels, n_units, document, universe
        As `Items` has them.
    """
    number = [len(side[0]) for side in sides]
    columns = [np.concatenate(parts) for parts in zip(*sides, strict=True)]
    first, item = _distinct(columns)
    member = np.zeros((len(sides), len(first)), dtype=bool)
    for side, own in zip(member, np.split(item, np.cumsum(number)[:-1]), strict=True):
        side[own] = True
    return Items(
        columns[0][first].astype(np.int32),
        columns[-1][first].astype(np.int32),
        labels,
        member[0],
        member[1:],
        n_units,
        document,
        universe,
        *(column[first] for column in columns[1:-1][:2]),
    )


def _distinct(columns: list[NDArray[Any]]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Where each distinct row stands first, and which of them every row is."""
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    if np.prod([float(size) for size in sizes]) >= 2**62:
        rows = np.stack([column.astype(np.int64) for column in columns], axis=1)
        _, first, item = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        return first, item.reshape(-1)
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        if size > 1:
            key *= size
            key += column
    # the sides are sorted already: a merging sort takes them in one pass
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    fresh = np.concatenate([[True], ordered[1:] != ordered[:-1]]) if len(key) else ordered > 0
    item = np.empty(len(key), dtype=np.int32)
    item[order] = np.cumsum(fresh, dtype=np.int32) - np.int32(1)
    return order[fresh], item


# -----------------------------------------------------------------------------
# The cases of two systems among what was matched, by what is exchanged.
# -----------------------------------------------------------------------------


def cases_of_pair(matched: Matched, i: int, j: int, unit: str) -> PairedCounts:
    """The cases of a pair, one row per unit, or one table where single items are exchanged."""
    several = len(matched.items.labels) > 1 and not matched.all_classes
    if unit == matched.unit == "item" and several:
        unit = "datum"  # the label that it missed and the one that it gave instead belong together
    paired = cases_by(matched.items, i, j, unit)
    if not matched.all_classes:
        return paired
    # what was given instead of the right label is no item of its own
    wrong = [1, 3, 5]
    cases = paired.cases[..., :7].copy()
    cases[..., wrong] = 0
    return PairedCounts(cases, paired.multiplicity)


def cases_by(items: Items, i: int, j: int, unit: str) -> PairedCounts:
    """The cases of a pair, one row per unit; one table for items."""
    by = {"item": None, "document": "document"}.get(unit, "sentence")
    return items.paired(i, j, by=by)
