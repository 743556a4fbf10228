"""Hold the items of gold and systems, and count them.

An item is any distinct span (word, label of an item) that gold or one of the systems returns.
Counts and paired counts need only the sides that have it. Where a span need not be equal to count
as right, the items are the gold spans, found or not, and the distinct wrong ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import gcd, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from probative._validation import one_of
from probative.counts import Counts, LabelCounts, PairedCounts
from probative.errors import InputError
from probative.labels import distinct_integers
from probative.reading.annotations import coded, codes_in, ranges

if TYPE_CHECKING:
    from probative.matching.matched import Matched

    Ints = NDArray[np.int32]

GROUPINGS = ("label", "sentence", "document")
_ITEMS_AT_ONCE = 2**17  # counted in one go
_BY_ITEM = ("unit", "label", "answer", "start", "end", "times")  # have one entry per item


@dataclass(frozen=True, eq=False)
class Items:
    """Distinct items of gold and systems, and which side has which."""

    unit: Ints  # the unit (sentence) and the code of the label of every item
    label: Ints
    labels: tuple[str, ...]  # the label of every code, in alphabetical order
    answer: NDArray[np.bool_]  # True where gold has the item
    says: NDArray[np.bool_]  # True where a system has the item: one row per system
    n_units: int  # number of units, with or without items
    document: Ints | None = None  # the document of every unit; None if none are marked
    universe: NDArray[Any] | None = None  # decisions in every unit, where "no" can be counted too
    start: NDArray[Any] | None = None  # of every item in its unit, for spans
    end: NDArray[Any] | None = None
    times: NDArray[Any] | None = None  # equal items of its unit that an item stands for
    number: NDArray[Any] | None = None  # equal units that a unit stands for
    weight: float = field(default=1.0, kw_only=True)  # ½ if a span is two items
    # the items if every label is matched by itself, where these differ: scores of single labels are
    # computed from them. None if they are the same
    within_labels: Items | None = field(default=None, kw_only=True)

    @property
    def is_condensed(self) -> bool:
        """Return True if equal items or equal units are kept once, with their number."""
        return self.times is not None or self.number is not None

    @property
    def units_in_all(self) -> int:
        """Return the number of units, with equal ones each counted."""
        return self.n_units if self.number is None else int(self.number.sum())

    @property
    def positives(self) -> int:
        """Return the number of gold spans (words, labels)."""
        weights = self.weights(None)
        there = np.count_nonzero(self.answer) if weights is None else weights[self.answer].sum()
        return round(self.weight * float(there))

    @property
    def positives_by_label(self) -> NDArray[np.int64]:
        """Return the number of gold spans (words, data) of every label."""
        weights = self.weights(None)
        own = None if weights is None else weights[self.answer]
        parts = np.bincount(self.label[self.answer], weights=own, minlength=len(self.labels))
        return np.asarray(np.rint(self.weight * parts), dtype=np.int64)

    def weights(self, by: str | None) -> NDArray[np.float64] | None:
        """Return how many equal items (of its unit, or of all) each stands for; None if one."""
        if not self.is_condensed:
            return None
        times = np.ones(len(self.unit)) if self.times is None else self.times.astype(np.float64)
        if self.number is None or by == "sentence":
            return times
        return np.asarray(times * self.number[self.unit])

    def counts(self, system: int = 0, *, by: str | None = None) -> Counts:
        """Count a system's outcomes: one table, or one per label, sentence or document."""
        if by == "label" and self.within_labels is not None:
            return self.within_labels.counts(system, by=by)
        group, size = self._groups(by)
        tp, fp, fn = self._outcomes(system, group, size, self.weights(by))
        decisions = self._decisions(by)
        counts = Counts(tp, fp, fn, None if decisions is None else decisions - tp - fp - fn)
        return counts if by is not None else counts[0]

    def by_unit_and_label(self, system: int = 0, *, by: str = "sentence") -> LabelCounts:
        """Count a system's outcomes in every cell of units and labels that holds an item."""
        if self.within_labels is not None:
            return self.within_labels.by_unit_and_label(system, by=by)
        if by not in self._known:
            self._known[by] = self._cells(by)
        unit, label, cell, n_units = self._known[by]
        weights, number = self.weights("sentence"), self.number
        if by == "item":
            weights, number = None, self.weights(None)
        counts = Counts(*self._outcomes(system, cell, len(unit), weights))
        return LabelCounts(unit, label, counts, n_units, len(self.labels), number)

    def _outcomes(
        self, system: int, group: NDArray[Any], size: int, weights: NDArray[np.float64] | None
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return the true positives, false positives and false negatives of every group."""
        found = np.zeros(4 * size, dtype=np.int64 if weights is None else np.float64)
        step = max(_ITEMS_AT_ONCE, size)  # parts that fit the cache, and few to add
        for start in range(0, len(group), step):
            part = slice(start, start + step)
            outcome = group[part] * np.intp(4)
            outcome += self.says[system, part] * np.int8(2)
            outcome += self.answer[part]
            own = None if weights is None else weights[part]
            found += np.bincount(outcome, weights=own, minlength=4 * size)
        number = found.reshape(size, 4)
        weighed = number if self.weight == 1 else number * self.weight
        return weighed[:, 3], weighed[:, 2], weighed[:, 1]

    def _cells(self, by: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], int]:
        """Return unit and label of every cell, the cell of every item, and the number of units."""
        if by == "item":
            every = np.arange(len(self.unit))
            return every, self.label.astype(np.intp), every, len(every)
        group, n_units = self._groups(by)
        size = max(1, len(self.labels))
        key = group.astype(np.int64) * size + self.label
        cell, place = distinct_integers(key)
        return place // size, place % size, cell, n_units

    def uses(self, system: int | None = None) -> NDArray[np.bool_]:
        """Return True for the labels that gold has; with `system`, that gold or this system has."""
        if self.within_labels is not None:
            return self.within_labels.uses(system)
        if system not in self._known:
            which = self.answer if system is None else self.answer | self.says[system]
            self._known[system] = np.bincount(self.label[which], minlength=len(self.labels)) > 0
        return np.asarray(self._known[system])

    @cached_property
    def _known(self) -> dict[int | str | None, Any]:
        """Return the cache of `uses` by system, and of `_cells` by unit."""
        return {}

    def paired(self, a: int, b: int, *, by: str | None = "sentence") -> PairedCounts:
        """Count the eight cases of two systems, one row per sentence, document or label."""
        if by == "label" and self.within_labels is not None:
            return self.within_labels.paired(a, b, by=by)
        group, size = self._groups(by)
        says_a, says_b = self.says[a], self.says[b]
        case = np.where(says_a, np.where(says_b, 4, 0), np.where(says_b, 2, 6)) + ~self.answer
        kept = says_a | says_b | self.answer  # drop false alarms of other systems
        weights, place = self.weights(by), group[kept] * 8 + case[kept]
        own = None if weights is None else weights[kept]
        cases = np.bincount(place, weights=own, minlength=size * 8).reshape(size, 8)
        return self._with_decisions(cases, by)

    def _with_decisions(self, cases: NDArray[Any], by: str | None, runs: int = 1) -> PairedCounts:
        """Add case 7 where decisions can be counted, and the numbers of equal units."""
        decisions = self._decisions(by)
        if decisions is None:
            cases = cases[:, :7] if self.weight == 1 else cases[:, :7] * self.weight
        else:
            cases[:, 7] = runs * decisions - cases[:, :7].sum(axis=1)
        number = self.number if by == "sentence" else None
        return PairedCounts(cases if by is not None else cases[0], number)

    def paired_runs(self, a: Sequence[int], b: Sequence[int], *, by: str) -> PairedCounts:
        """Add up the cases of every run of A beside every run of B."""
        # an item that n of N runs of A and m of M runs of B return is n·m times in both, n·(M - m)
        # times in A alone, and so on
        group, size = self._groups(by)
        in_a, in_b = (self.says[list(runs)].sum(axis=0) for runs in (a, b))
        out_a, out_b = len(a) - in_a, len(b) - in_b
        weights = self.weights(by)
        cases = np.zeros((size, 8))
        for case, times in enumerate((in_a * out_b, out_a * in_b, in_a * in_b, out_a * out_b)):
            own = times if weights is None else times * weights
            counted = np.bincount(group * 2 + ~self.answer, weights=own, minlength=size * 2)
            cases[:, 2 * case : 2 * case + 2] = counted.reshape(size, 2)
        return self._with_decisions(cases, by, len(a) * len(b))

    @cached_property
    def by_label(self) -> tuple[Items, ...]:
        """Return the items of each label alone, in the order of `labels`."""
        if self.within_labels is not None:
            return self.within_labels.by_label
        order = np.argsort(self.label, kind="stable")
        ends = np.cumsum(np.bincount(self.label, minlength=len(self.labels)))
        alone = replace(self, start=None, end=None, label=np.zeros_like(self.label))
        return tuple(
            replace(alone.where(own), labels=(label,), universe=self.universe)
            for label, own in zip(self.labels, np.split(order, ends[:-1]), strict=True)
        )

    def of_systems(self, systems: Sequence[int]) -> Items:
        """Return the items with some of the systems."""
        return self._map(lambda items: replace(items, says=items.says[list(systems)]))

    def pooled(self, systems: Sequence[int]) -> Items:
        """Return the items once per system, as the items of one system."""

        def pool(items: Items) -> Items:
            tiled = items._columns(lambda own: np.tile(own, len(systems)))
            universe = None if items.universe is None else len(systems) * items.universe
            says = items.says[list(systems)].reshape(1, -1)
            return replace(items, **tiled, says=says, universe=universe)

        return self._map(pool)

    def _columns(self, change: Callable[[NDArray[Any]], NDArray[Any]]) -> dict[str, Any]:
        """Return what has one entry per item, changed."""
        columns = {name: getattr(self, name) for name in _BY_ITEM}
        return {name: change(own) for name, own in columns.items() if own is not None}

    def _map(self, change: Callable[[Items], Items]) -> Items:
        within = None if self.within_labels is None else self.within_labels._map(change)
        return replace(change(self), within_labels=within)

    def only(self, labels: Sequence[str]) -> Items:
        """Return the items with one of these labels."""
        for label in labels:
            one_of("only", label, self.labels)
        kept = sorted(set(labels))  # as `self.labels` are
        code = codes_in(kept, self.labels)[self.label]
        wanted, universe = code >= 0, self.universe if len(kept) == 1 else None
        labels = tuple(kept)
        return replace(self.where(wanted), label=code[wanted], labels=labels, universe=universe)

    def where(self, wanted: NDArray[Any]) -> Items:
        """Return the items of a mask (or at places); true negatives can then not be counted."""
        kept = self._columns(lambda own: own[wanted])
        says = self.says[:, wanted]
        return replace(self, **kept, says=says, universe=None, within_labels=None)

    def of_units(self, units: NDArray[Any]) -> Items:
        """Return the items of these units (in ascending order) alone, with units renumbered."""
        document = self.document
        if document is not None:
            document = np.unique(document[units], return_inverse=True)[1].astype(np.int32)
        order, first = self._by_unit
        items = np.sort(order[ranges(first, units)])
        within = self.within_labels
        return replace(
            self.where(items)._renumbered(units),
            document=document,
            universe=None if self.universe is None else self.universe[units],
            within_labels=None if within is None else within.of_units(units),
        )

    def in_own_units(self) -> Items:
        """Return the items without the units that hold none, and without true negatives."""
        units = np.flatnonzero(np.bincount(self.unit))
        document = None if self.document is None else self.document[units]
        return replace(self._renumbered(units), document=document, universe=None)

    def _renumbered(self, units: NDArray[Any]) -> Items:
        """Return the items with these units alone, which are all that they have, from 0 on."""
        unit = np.searchsorted(units, self.unit).astype(np.int32)
        number = None if self.number is None else self.number[units]
        return replace(self, unit=unit, n_units=len(units), number=number)

    @cached_property
    def _by_unit(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the places of the items ordered by unit, and where each unit begins there."""
        ends = np.cumsum(np.bincount(self.unit + 1, minlength=self.n_units + 1))
        return np.argsort(self.unit, kind="stable"), ends

    def _groups(self, by: str | None) -> tuple[NDArray[np.intp], int]:
        """Return the group of every item, and the number of groups."""
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
        """Return the number of yes-or-no decisions in all, where "no" can be counted."""
        universe = np.zeros(0) if self.universe is None else self.universe
        return int((universe if self.number is None else universe * self.number).sum())

    def _decisions(self, by: str | None) -> Any:
        """Return the number of yes-or-no decisions of every group; None if unknown."""
        if self.universe is None or (len(self.labels) != 1 and by != "label"):
            return None
        if by == "sentence":
            return self.universe
        if by == "document" and self.document is not None:
            return np.bincount(self.document, weights=self.universe)
        return np.full(len(self.labels) if by == "label" else 1, self.decisions)


def union(names: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], list[Ints]]:
    """Return one numbering for the labels of several sides, and each side's codes in it."""
    codes, everything = coded([name for side in names for name in side])
    return everything, np.split(codes, np.cumsum([len(side) for side in names])[:-1])


def numbered_alike(
    sides: Sequence[tuple[tuple[str, ...], Ints]],
) -> tuple[tuple[str, ...], list[Ints]]:
    """Return one numbering for the labels of several sides, and the items of each side in it."""
    everything, codes = union([names for names, _ in sides])
    return everything, [
        own.astype(np.int32, copy=False) if names == everything else code[own]
        for (names, own), code in zip(sides, codes, strict=True)
    ]


def collect(
    sides: Sequence[tuple[NDArray[Any], ...]],
    labels: tuple[str, ...],
    n_units: int,
    document: Ints | None = None,
) -> Items:
    """Find the distinct items (tuples of arrays: unit, place, label) of gold and of each system."""
    number = [len(side[0]) for side in sides]
    columns = [np.concatenate(parts) for parts in zip(*sides, strict=True)]
    first, item = distinct_rows(columns)
    member = np.zeros((len(sides), len(first)), dtype=bool)
    for side, own in zip(member, np.split(item, np.cumsum(number)[:-1]), strict=True):
        side[own] = True
    unit, label = (columns[place][first].astype(np.int32) for place in (0, -1))
    of_items = unit, label, labels, member[0], member[1:], n_units, document, None
    return Items(*of_items, *(column[first] for column in columns[1:-1][:2]))


def distinct_rows(columns: Sequence[NDArray[Any]]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the index of the first of each distinct row, and the code of every row."""
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    if prod(sizes) >= 2**62:
        rows = np.stack([column.astype(np.int64) for column in columns], axis=1)
        _, first, item = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        return first, item.reshape(-1)
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        if size > 1:
            key *= size
            key += column
    if (key[1:] > key[:-1]).all():  # the rows are sorted, and all different
        return np.arange(len(key)), np.arange(len(key), dtype=np.int32)
    # the sides are sorted already, which a merge sort uses
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    fresh = np.ones(len(key), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    item = np.empty(len(key), dtype=np.int32)
    item[order] = np.cumsum(fresh, dtype=np.int32) - np.int32(1)
    return order[fresh], item


# --- Paired counts of two systems, by the unit that is exchanged


def cases_of(matched: Matched, a: Sequence[int], b: Sequence[int], unit: str) -> PairedCounts:
    """Return the paired counts of all runs of A beside those of B, as `cases_of_runs`."""
    if matched.all_classes:  # wrong labels are not counted beside the right ones
        paired = cases_of_runs(matched.items, a, b, unit)
        cases = paired.cases[..., :7].copy()
        cases[..., [1, 3, 5]] = 0
        return PairedCounts(cases, paired.multiplicity)
    if unit == matched.unit == "item" and len(matched.items.labels) > 1:
        unit = "datum"  # the missed label and the wrong one given belong together
    return cases_of_runs(matched.items, a, b, unit)


def cases_of_runs(items: Items, a: Sequence[int], b: Sequence[int], unit: str) -> PairedCounts:
    """Return the paired counts of all runs of A beside all of B, one row per unit."""
    # divided by the greatest common divisor of the two numbers of runs: with equal numbers, the
    # counts of a system are the sums over its runs
    by = "document" if unit == "document" else "sentence"
    if len(a) == len(b) == 1:
        return items.paired(a[0], b[0], by=None if unit == "item" else by)
    return items.paired_runs(a, b, by=by) / gcd(len(a), len(b))
