"""A counted table, from which scores, comparisons and rankings are computed.

Other rooms may rely on `count_table` and its keywords, and of `Tallied` on the attributes in its
docstring, `n_rows`, `n_units`, `counts` and `paired`. Names with an underscore may change.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from probative._validation import one_of
from probative.counts import Counts, PairedCounts
from probative.errors import InputError, suggestion
from probative.tables.query import conditions_of, statistics_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from probative._validation import Array


@dataclass(frozen=True, eq=False)
class Cells:
    """The distinct rows of a table with their counts."""

    group: NDArray[np.int64]
    answer: NDArray[np.int64]  # the gold label; -1 for no label
    says: NDArray[np.int64]  # the label that each system gives: one row per system
    number: Array  # of rows equal to each distinct row


@dataclass(frozen=True, eq=False)
class UnitRows:
    """Distinct units: their sums (columns as in `query.statistics_of`) and their numbers."""

    sums: Array
    number: NDArray[np.int64]


def units_by_key(
    keys: Sequence[tuple[int | None, str | None]], sums: Array, number: NDArray[np.int64]
) -> dict[tuple[int | None, str | None], UnitRows]:
    """Return the distinct units of each group and class."""
    places: dict[tuple[int | None, str | None], list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)
    return {key: UnitRows(sums[own], number[own]) for key, own in places.items()}


@dataclass(frozen=True, eq=False)
class Tallied:
    """The counts of a table: how many rows, and how many units, fall into which case.

    Attributes
    ----------
    names
        The systems.
    labels
        The texts of all labels, in alphabetical order.
    positive
        The label that counts as "yes"; None if all classes count.
    groups
        The values of the groups (tuples for several columns); empty without groups.
    unit
        The column of the units, or None.
    notes
        Remarks on the labels, in sentences.

    Examples
    --------
    >>> import pandas
    >>> from probative.tables import count_table
    >>> frame = pandas.DataFrame(
    ...     {"y": [1, 1, 0, 0], "old": [1, 0, 1, 0], "new": [1, 1, 0, 0], "day": [1, 1, 1, 2]}
    ... )
    >>> table = count_table(frame, gold="y", systems=["old", "new"], by="day")
    >>> table.names, table.groups, table.positive
    (('old', 'new'), (1, 2), '1')
    >>> table.counts("old")
    Counts(tp=1, fp=1, fn=1, tn=1)
    >>> table.paired("old", "new", group=1)
    PairedCounts([0, 1, 1, 0, 1, 0, 0, 0])
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    positive: str | None
    groups: tuple[Hashable, ...]
    unit: str | None
    notes: tuple[str, ...]
    _cells: Cells | None = field(repr=False)
    _units: dict[tuple[int | None, str | None], UnitRows] = field(repr=False)

    @property
    def n_rows(self) -> int:
        """Return the number of rows that were counted."""
        if self._cells is not None:
            return int(self._cells.number.sum())
        return sum(
            int(rows.number @ rows.sums[:, 0])
            for (group, _), rows in self._units.items()
            if group is not None or not self.groups
        )

    def n_units(self, group: Hashable = None) -> int:
        """Return the number of units, in a group or in all."""
        return int(self._rows(group, self.positive).number.sum())

    def counts(
        self,
        system: str | int = 0,
        *,
        group: Hashable = None,
        label: str | None = None,
        by_unit: bool | None = None,
    ) -> Counts:
        """Return the counts of a system: one table, or one per unit.

        Parameters
        ----------
        system
            Its name or its number.
        group
            One of `groups`; by default all rows.
        label
            The class to count against the rest; by default `positive`, or all classes if all count:
            a wrong label is then a false positive of one class and a false negative of another, and
            there are no true negatives.
        by_unit
            True for one table per unit (equal ones repeated, in no order); by default True if there
            are units.
        """
        sums, number = self._sums((self._system(system),), group, label, by_unit)
        rows, positives, returned, right = sums.T[:4]
        fp, fn = returned - right, positives - right
        has_negatives = self._has_negatives(label, number is not None)
        counts = Counts(right, fp, fn, rows - right - fp - fn if has_negatives else None)
        if number is None:
            return counts[0]
        return counts[np.repeat(np.arange(len(number)), number)]

    def paired(
        self,
        a: str | int = 0,
        b: str | int = 1,
        *,
        group: Hashable = None,
        label: str | None = None,
        by_unit: bool | None = None,
    ) -> PairedCounts:
        """Return the cases of two systems: one table, or one row per distinct unit.

        Parameters
        ----------
        a, b
            The names or numbers of the baseline and of the challenger.
        group, label, by_unit
            As for `counts`; rows of distinct units have multiplicities.
        """
        sums, number = self._sums((self._system(a), self._system(b)), group, label, by_unit)
        cases = _cases(sums)[:, : 7 + self._has_negatives(label, number is not None)]
        if number is None:
            return PairedCounts(cases[0])
        return PairedCounts(cases, number).grouped()

    def _system(self, system: str | int) -> int:
        if isinstance(system, int) and not isinstance(system, bool) and 0 <= system < len(self):
            return system
        if system not in self.names:
            raise InputError(
                f"system: there is no {system!r}; expected one of {', '.join(self.names)}"
                + suggestion(system, self.names)
            )
        return self.names.index(str(system))

    def __len__(self) -> int:
        return len(self.names)

    def _class(self, label: str | None) -> str | None:
        """Return the class to count; None for all."""
        if label is None:
            return self.positive
        return one_of("label", label, self.labels)

    def _has_negatives(self, label: str | None, by_unit: bool) -> bool:
        """Return True if true negatives were counted: never for all classes together."""
        return (self.positive if by_unit else self._class(label)) is not None

    def _group(self, group: Hashable) -> int | None:
        if group is None and None not in self.groups:
            return None
        if group not in self.groups:
            shown = ", ".join(map(repr, self.groups[:20]))
            raise InputError(f"group: there is no {group!r}; expected one of {shown}")
        return self.groups.index(group)

    def _sums(
        self, systems: tuple[int, ...], group: Hashable, label: str | None, by_unit: bool | None
    ) -> tuple[Array, NDArray[np.int64] | None]:
        """Return the sums of these systems: one row and None, or distinct units and numbers."""
        by_unit = self.unit is not None if by_unit is None else by_unit
        if not by_unit:
            return self._item_sums(systems, self._group(group), self._class(label))[None], None
        rows = self._rows(group, self._class(label))
        places = _places(len(self), systems)
        return rows.sums[:, places], rows.number

    def _rows(self, group: Hashable, label: str | None) -> UnitRows:
        if self.unit is None:
            raise InputError("by_unit: no column of units was counted; expected unit=")
        at = self._group(group)
        if (at, None) not in self._units and (at, self.positive) not in self._units:
            raise InputError(
                "group: units were counted in each group alone; expected overall=True for all"
            )
        found = self._units.get((at, label))
        if found is None and self.positive is not None:
            raise InputError(
                f"label: units were counted for {self.positive!r} alone; expected that"
            )
        everyone = self._units[at, self.positive]
        found = UnitRows(everyone.sums[:0], everyone.number[:0]) if found is None else found
        sums, number = found.sums, found.number
        # add the units without this label
        others = int(everyone.number.sum() - number.sum())
        if others:
            sums = np.concatenate([sums, np.zeros((1, sums.shape[1]))])
            number = np.append(number, others)
        return UnitRows(sums, number)

    def _item_sums(self, systems: tuple[int, ...], group: int | None, label: str | None) -> Array:
        """Return the sums over all rows, or over those of a group."""
        cells = self._cells
        if cells is None:  # only sums were counted (`count_tags`)
            own = [rows for (at, _), rows in self._units.items() if group in (None, at)]
            sums = np.sum([rows.number @ rows.sums for rows in own], axis=0)
            return np.asarray(sums[_places(len(self), systems)])
        kept = slice(None) if group is None else cells.group == group
        number = cells.number[kept]
        sides = [cells.answer[kept], *(cells.says[k][kept] for k in systems)]
        code = None if label is None else self.labels.index(label)

        def same(i: int, j: int) -> NDArray[np.bool_]:
            yes = sides[i] >= 0 if code is None else sides[i] == code
            return np.asarray(yes & (sides[i] == sides[j]))

        parts = conditions_of(len(sides), same)
        return np.array([number.sum(), *(number @ part for part in parts)], dtype=np.float64)


def _places(systems: int, chosen: tuple[int, ...]) -> list[int]:
    """Return the columns of the chosen systems among the sums of all systems."""
    column = {name: place for place, name in enumerate(statistics_of(systems))}
    pairs = (sorted({i, j}) for i, j in combinations(chosen, 2))
    sides = [*map(str, chosen), *("_".join(map(str, pair)) for pair in pairs)]
    names = ["rows", "pos", *(f"{what}{side}" for side in sides for what in ("p", "t"))]
    return [column[name] for name in names]


def _cases(sums: Array) -> Array:
    """Compute the eight cases from what each system and both returned, and how much is correct."""
    rows, positives, returned_a, right_a, returned_b, right_b, returned, right = sums.T[:8]
    wrong = returned - right
    cases = [right_a - right, returned_a - right_a - wrong]
    cases += [right_b - right, returned_b - right_b - wrong]
    cases += [right, wrong, positives - right_a - right_b + right]
    return np.stack([*cases, rows - sum(cases)], axis=1)
