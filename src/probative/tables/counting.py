"""Count a frame: choose the columns, run the aggregate queries, check their results."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from probative._validation import Array, Ints, Mask, flag, names_of, one_of, shown
from probative.counts import Counts, PairedCounts
from probative.errors import InputError
from probative.labels import label_name, missing_labels, positive_label, refuse_continuous
from probative.tables.engines import chosen, fetch, opened
from probative.tables.query import (
    HELD,
    NUMBER,
    LabelColumn,
    conditions_of,
    count_cells,
    count_units,
    group_keys,
    kinds_of,
    numbers_of,
    plain,
    sort_groups,
    statistics_of,
    units_alike,
    values_of,
)
from probative.tables.scores import SummedScores, range_of, sum_table

if TYPE_CHECKING:
    from probative.tables.engines import Frame

    _Key = tuple[int | None, str | None]  # group and class
    # of distinct units: sums (columns as in `query.statistics_of`) and numbers
    _Units = dict[_Key, tuple[Array, Ints]]

_ON_NULL = ("error", "drop", "negative")
_MOST_CELLS = 1_000_000  # distinct rows; columns of labels have fewer
_MOST_KINDS = 2_000_000  # distinct units that leave an engine
_FIRST_FINENESS = 4.0  # bins per standard deviation of a number of items; halved as needed
_MOST_HALVINGS = 30  # after which a number of less than 2**56 items has a single bin
_MOST_EXAMPLES = 5  # labels listed in a note
_GOLD = "gold"


class TallyWarning(UserWarning):
    """Warning about labels of a table that were counted as they are."""


class _Asked(NamedTuple):
    """The requested columns of a table: parameter and column, by the safe names of queries."""

    systems: tuple[str, ...]  # their names
    labels: dict[str, tuple[str, str]]  # gold is the first
    groups: dict[str, tuple[str, str]]
    units: dict[str, tuple[str, str]]
    single_by: bool  # True if a group is a value, False if it is a tuple of values


# --- The counts of a table


class _Cells(NamedTuple):
    """The distinct rows of a table with their counts."""

    group: Ints
    codes: Ints  # of labels: one row per side, gold first; -1 for no label
    number: Array  # of rows equal to each distinct row


def units_by_key(keys: Iterable[_Key], sums: Array, number: Ints) -> _Units:
    """Return the distinct units of each group and class."""
    places: dict[_Key, list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)
    return {key: (sums[own], number[own]) for key, own in places.items()}


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
    _cells: _Cells | None = field(repr=False)
    _units: _Units = field(repr=False)

    @property
    def n_rows(self) -> int:
        """Return the number of rows that were counted."""
        return int(self._item_sums((), None, None)[0])

    def n_units(self, group: Hashable = None) -> int:
        """Return the number of units, in a group or in all."""
        return int(self._rows(group, self.positive)[1].sum())

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
        return counts[0] if number is None else counts[np.repeat(np.arange(len(number)), number)]

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
        return PairedCounts(cases[0]) if number is None else PairedCounts(cases, number).grouped()

    def _system(self, system: str | int) -> int:
        if isinstance(system, int) and not isinstance(system, bool) and 0 <= system < len(self):
            return system
        return self.names.index(one_of("system", system, self.names))

    def __len__(self) -> int:
        return len(self.names)

    def _class(self, label: str | None) -> str | None:
        """Return the class to count; None for all."""
        return self.positive if label is None else one_of("label", label, self.labels)

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
    ) -> tuple[Array, Ints | None]:
        """Return the sums of these systems: one row and None, or distinct units and numbers."""
        by_unit = self.unit is not None if by_unit is None else by_unit
        if not by_unit:
            return self._item_sums(systems, self._group(group), self._class(label))[None], None
        sums, number = self._rows(group, self._class(label))
        return sums[:, _places(len(self), systems)], number

    def _rows(self, group: Hashable, label: str | None) -> tuple[Array, Ints]:
        if self.unit is None:
            raise InputError("by_unit: no column of units was counted; expected unit=")
        at = self._group(group)
        if (at, None) not in self._units and (at, self.positive) not in self._units:
            problem = "group: units were counted in each group alone"
            raise InputError(f"{problem}; expected overall=True for all")
        if (at, label) not in self._units and self.positive is not None:
            problem = f"label: units were counted for {self.positive!r} alone"
            raise InputError(f"{problem}; expected that")
        all_sums, all_numbers = self._units[at, self.positive]
        sums, number = self._units.get((at, label), (all_sums[:0], all_numbers[:0]))
        others = int(all_numbers.sum() - number.sum())  # add the units without this label
        if others:
            sums = np.concatenate([sums, np.zeros((1, sums.shape[1]))])
            number = np.append(number, others)
        return sums, number

    def _item_sums(self, systems: tuple[int, ...], group: int | None, label: str | None) -> Array:
        """Return the sums over all rows, or over those of a group."""
        cells = self._cells
        if cells is None:  # only sums were counted (`count_tags`)
            own = [rows for (at, _), rows in self._units.items() if group in (None, at)]
            total = np.sum([number @ sums for sums, number in own], axis=0)
            return np.asarray(total[_places(len(self), systems)])
        kept = slice(None) if group is None else cells.group == group
        number = cells.number[kept]
        sides = [cells.codes[k][kept] for k in (0, *(1 + system for system in systems))]
        # a class that no row has, such as 1 where all are 0, has no code; -1 is that of no label
        known = label in self.labels
        code = None if label is None else self.labels.index(label) if known else -2

        def same(i: int, j: int) -> Mask:
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


# --- Counting in the engine


def count_table(
    frame: object,
    *,
    gold: str,
    systems: Sequence[str] | Mapping[str, str],
    by: str | Sequence[str] | None = None,
    unit: str | None = None,
    positive: object = None,
    on_null: str = "error",
    overall: bool = False,
    parameters: Sequence[str] = (),
    find_positive: bool = True,
) -> Tallied:
    """Count a table in the engine that holds it, with the arguments of `tally`."""
    # `overall`: with groups and units, count the units of all groups together as well, as a unit
    # may have rows in several groups; `parameters` named the columns of the systems, for messages
    asked = check_asked(gold, systems, by, unit, parameters)
    one_of("on_null", on_null, _ON_NULL)
    flag("overall", overall)
    keys = {**asked.groups, **asked.units}
    source = plain(chosen(opened(frame), {**keys, **asked.labels}), asked.labels, keys)
    counted = _Counted(source, asked, on_null)
    yes = _positive(positive, counted.labels, find_positive=find_positive)
    units: _Units = {}
    if unit is not None:
        units = counted.unit_rows(list(asked.groups), yes)
        if overall and asked.groups:
            units |= counted.unit_rows([], yes)
    return Tallied(
        names=asked.systems,
        labels=counted.labels,
        positive=yes,
        groups=counted.groups if asked.groups else (),
        unit=unit,
        notes=tuple(counted.notes),
        _cells=counted.cells,
        _units=units,
    )


class _Counted:
    """The queries of one table and their results."""

    def __init__(self, source: Frame, asked: _Asked, on_null: str):
        self.source, self.asked, self.on_null = source, asked, on_null
        self.notes: list[str] = []
        keys, unit = [*asked.groups, *asked.labels], next(iter(asked.units), None)
        rows = fetch(lambda: count_cells(source, keys, unit), _MOST_CELLS)
        number = np.asarray(rows[NUMBER], dtype=np.float64)
        if len(number) > _MOST_CELLS:
            asking = f"are {asked.labels['g'][1]!r} and the columns of the systems labels?"
            expected = "Expected fewer labels, systems or groups"
            raise InputError(f"gold: more than {_MOST_CELLS:,} kinds of rows; {asking} {expected}")
        if not len(number):
            raise InputError("frame: the table has no rows; expected at least one")
        values = {safe: values_of(rows[safe]) for safe in asked.labels}
        named = asked.labels.items()
        self.columns = {safe: LabelColumn.of(*own, values[safe]) for safe, own in named}
        gold = self.columns["g"]
        held = [value for value, text in gold.texts.items() if text is not None]
        name = f"gold: column {gold.name!r}"
        refuse_continuous(held, lambda text: InputError(f"{name} {text}"), int(number.sum()))
        self.labels = tuple(sorted(frozenset().union(*(c.labels for c in self.columns.values()))))
        code = {label: i for i, label in enumerate(self.labels)} | {None: -1}
        columns = self.columns.items()
        coded = [[code[column.texts[v]] for v in values[safe]] for safe, column in columns]
        codes = np.array(coded, dtype=np.int64)
        kept = self._without_gaps(codes, number)
        if unit is not None and on_null != "drop":
            lost = int(number.sum() - np.sum(rows[HELD], dtype=np.float64))
            if lost:
                what = missing_labels(lost, int(number.sum()))
                raise InputError(f"unit: column {asked.units[unit][1]!r} {what}, or on_null='drop'")
        self.cells = _Cells(self._grouped(rows, kept), codes[:, kept], number[kept])
        kinds = {column.name: kinds_of(column) for column in self.columns.values()}
        if len({kind for own in kinds.values() for kind in own}) > 1:
            types = "; ".join(f"{name!r}: {' and '.join(own)}" for name, own in kinds.items())
            what = "labels of different types are compared by their texts"
            self.notes.append(f"{what} ({types}): 1 is '1' is True")
        self.notes += self._strangers(codes[:, kept], number[kept])

    def _grouped(self, rows: dict[str, Sequence[Any]], kept: Mask) -> Ints:
        """Name the groups that have rows; return the group of every kept kind of row."""
        groups, size = list(self.asked.groups), len(rows[NUMBER])
        every = group_keys(rows, groups, size, single=self.asked.single_by)
        keys = [key for key, own in zip(every, kept, strict=True) if own]
        self.groups = sort_groups(keys)
        number = {key: i for i, key in enumerate(self.groups)}
        without = any(k is None or (isinstance(k, tuple) and None in k) for k in self.groups)
        if self.asked.groups and without:
            listed = ", ".join(repr(name) for _, name in self.asked.groups.values())
            what = "some rows have no value; they are a group of their own, None"
            self.notes.append(f"{listed}: {what}")
        return np.array([number[key] for key in keys], dtype=np.int64)

    def _without_gaps(self, codes: Ints, number: Array) -> Mask:
        """Return True for every kind of row that counts, by the policy for missing labels."""
        gaps, total = codes < 0, int(number.sum())
        everything = np.ones(codes.shape[1], dtype=bool)
        columns = zip(self.columns.values(), gaps, strict=True)
        lacking = [(column, int(number @ gap)) for column, gap in columns if gap.any()]
        if not lacking:
            return everything
        missing = ", ".join(f"{n:,} of {total:,} in {column.name!r}" for column, n in lacking)
        if self.on_null == "error":
            column, n = lacking[0]
            what = missing_labels(n, total)
            ways = "or on_null='drop' or on_null='negative'"
            raise InputError(f"{column.parameter}: column {column.name!r} {what}, {ways}")
        if self.on_null == "negative":
            self.notes.append(f"labels are missing ({missing}); they count as no label")
            return everything
        kept: Mask = np.logical_not(np.any(gaps, axis=0))
        left_out = int(number[~kept].sum())
        if not kept.any():
            raise InputError(f"gold: every row lacks a label ({missing}); expected labels")
        self.notes.append(f"labels are missing ({missing}); {left_out:,} rows are left out")
        return kept

    def _strangers(self, codes: Ints, number: Array) -> list[str]:
        """Return notes on labels that only one side has, with their frequencies."""
        times = [np.bincount(own[own >= 0], number[own >= 0], len(self.labels)) for own in codes]
        gold, *systems = zip((column.name for column in self.columns.values()), times, strict=True)
        notes = []
        for system in systems:
            for (side, there), (lacking, other) in ((system, gold), (gold, system)):
                alone = np.flatnonzero((there > 0) & (other == 0))
                if len(alone):
                    first, rest = alone[:_MOST_EXAMPLES], len(alone) - _MOST_EXAMPLES
                    listed = ", ".join(f"{self.labels[i]!r} ({int(there[i]):,})" for i in first)
                    more = f" and {rest:,} more" if rest > 0 else ""
                    notes.append(f"{side!r} has labels that {lacking!r} never has: {listed}{more}")
        return notes

    def unit_rows(self, groups: list[str], positive: str | None) -> _Units:
        """Return the distinct units, by group and class."""
        rows = self._kinds_of_units(groups, positive, None)
        if len(rows[NUMBER]) > _MOST_KINDS:
            rows = self._alike(groups, positive)
        number, sums = numbers_of(rows, statistics_of(len(self.asked.systems)))
        at = {key: i for i, key in enumerate(self.groups)} if groups else {}
        keys = group_keys(rows, groups, len(number), single=self.asked.single_by)
        labels = [positive] * len(number)
        if positive is None:
            labels = [str(label) if label else None for label in rows["label"]]  # `ALL` is empty
        # every row counts once: refuse a table that changed between its two queries
        whole = np.array([label == positive for label in labels], dtype=bool)
        seen, expected = int((number * sums[:, 0] * whole).sum()), int(self.cells.number.sum())
        if seen > expected or (seen < expected and self.on_null != "drop"):
            changed = f"the table changed while it was counted, from {expected:,} rows to {seen:,}"
            raise InputError(f"frame: {changed}; expected one that stays")
        if seen < expected:
            self.notes.append(f"{expected - seen:,} rows without a unit are left out of the units")
        return units_by_key(zip([at.get(key) for key in keys], labels, strict=True), sums, number)

    def _kinds_of_units(
        self, groups: list[str], positive: str | None, fineness: float | None
    ) -> dict[str, Sequence[Any]]:
        how: Any = {"positive": positive, "drop": self.on_null == "drop", "fineness": fineness}
        return fetch(
            lambda: count_units(self.source, groups, "u", self.columns, **how), _MOST_KINDS
        )

    def _alike(self, groups: list[str], positive: str | None) -> dict[str, Any]:
        """Merge units that are nearly alike, because there are too many distinct ones."""
        systems = len(self.asked.systems)
        if systems > 2:
            problem = f"unit: more than {_MOST_KINDS:,} kinds of units"
            raise InputError(f"{problem}; expected one or two systems")
        for halvings in range(_MOST_HALVINGS + 1):
            rows = self._kinds_of_units(groups, positive, _FIRST_FINENESS / 2**halvings)
            if len(rows[NUMBER]) <= _MOST_KINDS:
                break
        else:
            what = "even if those that are nearly alike are merged"
            problem = f"unit: more than {_MOST_KINDS:,} kinds of units, {what}"
            raise InputError(f"{problem}; expected fewer groups or classes")
        merged, lost = units_alike(rows, [*groups, *([] if positive else ["label"])], systems)
        what = f"more than {_MOST_KINDS:,} kinds of units: those that are nearly alike are merged"
        effect = f"the variance of the cases of units becomes up to {100 * lost:.2g} % smaller"
        self.notes.append(f"{what}; totals and the exact test stay the same, {effect}")
        return merged


def check_asked(
    gold: object, systems: object, by: object, unit: object, parameters: Sequence[str] = ()
) -> _Asked:
    """Return the requested columns; refuse what can name none."""
    named = _columns_of("systems", systems)
    if not isinstance(gold, str):
        raise InputError(f"gold: {shown(gold)}; expected the name of a column")
    groups, single = _groups_of(by), isinstance(by, str)
    if unit is not None and not isinstance(unit, str):
        raise InputError(f"unit: {shown(unit)}; expected the name of a column")
    asked = zip(parameters or ["systems"] * len(named), named.values(), strict=True)
    return _Asked(
        tuple(named),
        {"g": (_GOLD, gold), **{f"s{k}": own for k, own in enumerate(asked)}},
        {f"b{i}": ("by", name) for i, name in enumerate(groups)},
        {} if unit is None else {"u": ("unit", unit)},
        single,
    )


def _groups_of(by: object) -> tuple[str, ...]:
    """Return the columns of groups."""
    return () if by is None else (by,) if isinstance(by, str) else tuple(names_of("by", by))


def _columns_of(parameter: str, systems: object) -> dict[str, Any]:
    """Return the columns of systems by name."""
    if isinstance(systems, Mapping):
        named = {str(name): column for name, column in systems.items()}
    else:
        columns = names_of(parameter, systems)
        twice = next((name for i, name in enumerate(columns) if name in columns[:i]), None)
        if twice is not None:
            raise InputError(f"{parameter}: {twice!r} twice; expected different columns")
        named = {name: name for name in columns}
    if not named:
        raise InputError(f"{parameter}: none given; expected at least one column")
    return named


def _positive(asked: object, labels: tuple[str, ...], *, find_positive: bool) -> str | None:
    """Return the class that counts as "yes"; None if all classes count."""
    if asked is None:
        return positive_label(labels) if find_positive else None
    return one_of("positive", label_name("positive", asked), labels)


# --- The public function

_Tally = Counts | PairedCounts


def tally(
    frame: object,
    *,
    gold: str | None = None,
    pred: str | None = None,
    a: str | None = None,
    b: str | None = None,
    systems: Sequence[str] | Mapping[str, str] | None = None,
    by: str | Sequence[str] | None = None,
    unit: str | None = None,
    positive: object = None,
    on_null: str = "error",
    scores: Sequence[str] | Mapping[str, str] | None = None,
    range: tuple[float, float] | str | None = None,  # noqa: A002  # as in `compare`
) -> (
    _Tally
    | dict[Hashable, _Tally | dict[str, _Tally]]
    | dict[str, _Tally]
    | Tallied
    | SummedScores
    | dict[Hashable, SummedScores]
):
    """Count a table in the engine that holds it, with one aggregate query.

    Parameters
    ----------
    frame
        A table of pandas, Polars (eager or lazy), PyArrow, DuckDB, Ibis, Dask or PySpark, with one
        judged item per row.
    gold
        The column of the gold labels.
    pred
        The column of one system's labels, for `Counts`.
    a, b
        The columns of a baseline and a challenger, for `PairedCounts`.
    systems
        The columns of several systems, or a dictionary of them by name, for a `Tallied`, which
        has the counts of each and the cases of every pair.
    by
        The column or columns of groups (languages, days): the result is a dictionary by group.
    unit
        The column of the units (a document, a user). Units are summed and equal ones merged in the
        engine: `PairedCounts` have one row per distinct unit and its multiplicity, `Counts` one row
        per unit.
    positive
        The label that counts as "yes". By default one that means yes, such as 1 of 0 and 1 or "yes"
        of "no" and "yes". If there is none, each class is counted against the rest, and the result
        (or that of every group) is a dictionary by label.
    on_null
        What to do with rows in which a label is missing (null, NaN, empty text): "error"; "drop"
        the row; or "negative": count it as no label.
    scores
        Instead of labels: the columns of graded scores of the systems, or a dictionary of them by
        name. Sums, sums of squares and numbers of every unit make a `SummedScores`, which
        ``compare(scores=...)`` and ``rank(scores=...)`` take.
    range
        The smallest and the largest possible score, 0 and 1 by default; or "none".

    Returns
    -------
    Counts, PairedCounts, Tallied, SummedScores, or dictionaries of them

    Warns
    -----
    TallyWarning
        If labels are missing and that is no error, if labels of different types are compared (by
        their texts: 1 is "1"), and if one side has labels that the other does not have.

    Notes
    -----
    One GROUP BY lists the labels; without units, no other query is needed. Units take a second one,
    after the labels have been checked. If the table is itself the result of a long computation,
    cache it first (``.cache()`` of Spark, ``.persist()`` of Dask).

    Examples
    --------
    >>> import pandas
    >>> import probative as pv
    >>> frame = pandas.DataFrame(
    ...     {
    ...         "gold": ["yes", "yes", "no", "no", "yes", "no"],
    ...         "old": ["yes", "no", "yes", "no", "yes", "no"],
    ...         "new": ["yes", "yes", "no", "no", "yes", "yes"],
    ...         "lang": ["de", "de", "de", "fr", "fr", "fr"],
    ...     }
    ... )
    >>> pv.tally(frame, gold="gold", pred="new")
    Counts(tp=3, fp=1, fn=0, tn=2)
    >>> for lang, paired in pv.tally(frame, gold="gold", a="old", b="new", by="lang").items():
    ...     print(lang, paired)
    de PairedCounts([0, 1, 1, 0, 1, 0, 0, 0])
    fr PairedCounts([0, 0, 0, 1, 1, 0, 0, 1])
    """
    if scores is not None:
        labels = {"gold": gold, "pred": pred, "a": a, "b": b, "systems": systems}
        given = next((name for name, value in labels.items() if value is not None), None)
        if given is not None:
            raise InputError(f"{given}: is of labels; expected scores= without it")
        drop = one_of("on_null", on_null, _ON_NULL[:2]) == "drop"
        groups, columns = _groups_of(by), _columns_of("scores", scores)
        how: Any = {"by": groups, "single_by": isinstance(by, str), "range_": range_of(range)}
        found = sum_table(frame, columns, unit=unit, drop=drop, **how)
        left_out = next(iter(found.values())).left_out
        if left_out:
            said = f"{left_out:,} rows are left out, because a system has no score of them"
            warnings.warn(TallyWarning(said), stacklevel=2)
        return found if groups else found[None]
    if gold is None:
        raise InputError("gold: is missing; expected the column of the gold labels, or scores=")
    if range is not None:
        raise InputError("range: is that of graded scores; expected scores=")
    named, parameters = _systems(pred, a, b, systems)
    which: Any = {"positive": positive, "on_null": on_null, "parameters": parameters}
    table = count_table(frame, gold=gold, systems=named, by=by, unit=unit, **which)
    for note in table.notes:
        warnings.warn(TallyWarning(note), stacklevel=2)
    if systems is not None:
        return table
    count: Callable[..., _Tally] = table.counts if pred is not None else table.paired

    def of_group(group: Hashable) -> _Tally | dict[str, _Tally]:
        if table.positive is not None:
            return count(group=group)
        return {label: count(group=group, label=label) for label in table.labels}

    return of_group(None) if by is None else {group: of_group(group) for group in table.groups}


def _systems(
    pred: object, a: object, b: object, systems: Sequence[str] | Mapping[str, str] | None
) -> tuple[Sequence[str] | Mapping[str, str], tuple[str, ...]]:
    """Return the columns of the systems, and the parameter that named each."""
    named: dict[str, Any] = {"pred": pred, "a": a, "b": b}
    given = {name: column for name, column in named.items() if column is not None}
    if systems is not None and not given:
        return systems, ()
    if systems is None and tuple(given) in (("pred",), ("a", "b")):
        return given, tuple(given)
    listed = ", ".join([*given, *(["systems"] if systems is not None else [])]) or "none of them"
    raise InputError(f"pred: {listed} given; expected pred, or a and b, or systems")
