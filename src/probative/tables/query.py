"""Build the aggregate queries: distinct rows, and distinct units, with their counts.

A unit is described by sums over its rows. For one class that counts as "yes": the number of rows,
of positives, and for every system of returned and of correctly returned rows; for every pair of
systems the rows that both returned, and those of them that are correct. The eight cases of a pair
follow from these. If all classes count, the sums are taken over all classes (equal labels instead
of "yes") and for each class separately.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, time
from functools import cached_property, partial, reduce
from itertools import combinations
from numbers import Number
from operator import add, and_, or_
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from probative._lazy import ModuleOnDemand
from probative._validation import Array, Ints, shown
from probative.errors import InputError
from probative.labels import EXPECTED_LABEL, is_missing, label_text
from probative.tables.engines import opened

if TYPE_CHECKING:
    import narwhals as nw
    from duckdb import DuckDBPyConnection as Connection

    from probative.tables.engines import Frame

    Named = dict[str, tuple[str, str]]  # parameter and column by safe name
    Rows = Mapping[str, Sequence[Any]]  # columns of the result of a query
    Same = Callable[[int, int], nw.Expr]  # the condition that two sides return the same
else:
    nw = ModuleOnDemand("narwhals")

_T = TypeVar("_T", bound=Any)

# --- Queries

NUMBER, HELD = "n", "held"  # columns: the number of rows, and of those that have a unit
ALL = ""  # "label" of all classes together, as no label is empty
_LONGEST_CHAIN = 300  # labels that one expression names one by one, if no cast gives their texts


def statistics_of(systems: int) -> list[str]:
    """Return the names of the columns that are summed for every unit, for so many systems."""
    own = [f"{what}{k}" for k in range(systems) for what in ("p", "t")]
    both = [f"{what}{i}_{j}" for i, j in combinations(range(systems), 2) for what in ("p", "t")]
    return ["rows", "pos", *own, *both]


def conditions_of(sides: int, same: Callable[[int, int], _T]) -> list[_T]:
    """Return the conditions whose sums `statistics_of` names after "rows"."""
    # ``same`` is the condition that two sides (gold is 0) return the same, in any library; of a
    # side with itself, that it returns something
    conditions = [same(0, 0)]
    for k in range(1, sides):
        conditions += [same(k, k), same(0, k)]
    for i, j in combinations(range(1, sides), 2):
        conditions += [same(i, j), same(i, j) & same(0, i)]
    return conditions


def count_cells(frame: Frame, keys: list[str], unit: str | None = None) -> Frame:
    """Return the query for the number of rows of every kind, and of those that have a unit."""
    held = [] if unit is None else [nw.col(unit).count().alias(HELD)]
    return frame.group_by(*keys).agg(nw.len().alias(NUMBER), *held)


def count_units(
    frame: Frame,
    groups: list[str],
    unit: str,
    columns: dict[str, LabelColumn],
    *,
    positive: str | None,
    drop: bool,
    fineness: float | None = None,
) -> Frame:
    """Return the query for distinct units: one row of sums, and the number of units with it."""
    # The first of ``columns`` is gold. Without ``positive``, all classes count, together and one by
    # one. With ``fineness``, units that are nearly alike are merged as well.
    if drop:
        frame = without_gaps(frame, [*columns, unit])
    names = statistics_of(len(columns) - 1)
    if positive is not None:
        yes = [_is_label(safe, column, positive) for safe, column in columns.items()]
        rows = _summands(frame, [*groups, unit], len(yes), partial(_both, yes))
        keys = groups
    else:
        rows, keys = _each_class(frame, [*groups, unit], columns), [*groups, "label"]
    by_unit = sum_units(rows, [*keys, unit], names)
    if fineness is None:
        return merge_units(by_unit, keys, names)
    return _merge_alike(by_unit, keys, len(columns) - 1, fineness)


def sum_units(rows: Frame, keys: list[str], names: list[str]) -> Frame:
    """Return the query for the sums of every unit."""
    sums = rows.group_by(*keys).agg(*(nw.col(name).sum() for name in names))
    return sums.with_columns(*(nw.col(name).cast(nw.Int64) for name in names))


def merge_units(by_unit: Frame, keys: list[str], names: list[str]) -> Frame:
    """Return the query that merges equal units and counts them."""
    return by_unit.group_by(*keys, *names).agg(nw.len().alias(NUMBER))


def _summands(
    frame: Frame, keep: list[str], sides: int, same: Same, label: nw.Expr | None = None
) -> Frame:
    """Return what every row adds to the sums of its unit."""
    is_row = ~nw.col(keep[-1]).is_null() | nw.col(keep[-1]).is_null()
    conditions = [is_row, *conditions_of(sides, same)]
    names = statistics_of(sides - 1)
    numbers = [c.cast(nw.Int64).alias(n) for n, c in zip(names, conditions, strict=True)]
    return frame.select(*keep, *numbers, *([] if label is None else [label.alias("label")]))


def _each_class(frame: Frame, keep: list[str], columns: dict[str, LabelColumn]) -> Frame:
    """Return the sums for each class that a row names, and for all classes together."""
    schema = frame.collect_schema()
    texts = [f"text_{safe}" for safe in columns]
    own = ((safe, _text(safe, column, schema[safe])) for safe, column in columns.items())
    frame = frame.select(*keep, *(text.alias(f"text_{safe}") for safe, text in own))
    sides = len(texts)

    def same(i: int, j: int) -> nw.Expr:
        """Return the condition that two texts are present and equal; it is never null."""
        a, b = nw.col(texts[i]), nw.col(texts[j])
        return ~a.is_null() if i == j else (a == b) & ~a.is_null() & ~b.is_null()

    branches = [_summands(frame, keep, sides, same, nw.lit(ALL))]
    for place in range(sides):
        yes = [same(place, k) for k in range(sides)]
        named = frame.filter(reduce(and_, [yes[place], *(~before for before in yes[:place])]))
        branches.append(_summands(named, keep, sides, partial(_both, yes), nw.col(texts[place])))
    # sum before joining: fewer rows, and plans that every optimiser handles well
    sums = [nw.col(name).sum() for name in statistics_of(sides - 1)]
    branches = [branch.group_by(*keep, "label").agg(*sums) for branch in branches]
    return nw.concat(branches, how="vertical")  # type: ignore[type-var]


def _both(yes: list[nw.Expr], i: int, j: int) -> nw.Expr:
    return yes[i] if i == j else yes[i] & yes[j]


def _is_label(safe: str, column: LabelColumn, text: str) -> nw.Expr:
    """Return the condition that a column has a value with this text; it is never null."""
    there = ~nw.col(safe).is_null()
    values = [value for value, own in column.texts.items() if own == text]
    if not values:
        return there & ~there
    same: nw.Expr = reduce(or_, [nw.col(safe) == value for value in values])
    return same & there


def _text(safe: str, column: LabelColumn, dtype: Any) -> nw.Expr:
    """Return the text of every value, null if it is missing."""
    if dtype == nw.String or dtype.is_integer():  # a cast: PyArrow has two types of text
        return nw.when(~is_gap(safe, dtype)).then(nw.col(safe).cast(nw.String))
    if len(column.texts) > _LONGEST_CHAIN:
        held = f"column {column.name!r} has {len(column.texts):,} labels of the type {dtype}"
        raise InputError(f"{column.parameter}: {held}; expected text or whole numbers")
    # no literal null: some libraries would turn it into text
    first, *others = sorted(column.labels) or [ALL]
    chain: nw.Expr = nw.when(_is_label(safe, column, first)).then(nw.lit(first))
    for label in others:
        chain = nw.when(_is_label(safe, column, label)).then(nw.lit(label)).otherwise(chain)
    return chain


# --- Labels of columns: the text of each value, and which values are missing
# Labels are compared by their texts, as everywhere in this package (`labels.label_text`). The first
# query brings the distinct values of a column, so that no value is converted unseen.


def is_gap(name: str, dtype: Any) -> nw.Expr:
    """Return the condition that `label_text` of a value is None; it is never null."""
    own = nw.col(name)
    if dtype.is_float():
        return own.is_null() | own.is_nan() | (own.abs() == math.inf)
    if dtype in (nw.Categorical, nw.Enum):
        own = own.cast(nw.String)
    elif dtype not in (nw.String, nw.Object):
        return own.is_null()
    return own.is_null() | (own == "")


def without_gaps(frame: Frame, names: Iterable[str]) -> Frame:
    """Return the rows that lack no value of these columns."""
    schema = frame.collect_schema()
    return frame.filter(~reduce(or_, [is_gap(name, schema[name]) for name in names]))


def plain(frame: Frame, labels: Named, keys: Named) -> Frame:
    """Return the frame with null for every missing group or unit; refuse lists and objects."""
    schema = frame.collect_schema()
    for safe, (parameter, name) in {**labels, **keys}.items():
        if schema[safe].is_nested():
            raise _no_label(parameter, name, str(schema[safe]))
        if schema[safe] == nw.Object and frame.implementation.is_pandas():
            frame = _plain_objects(frame, safe, parameter, name, merge=safe in keys)
    marked = [
        nw.when(~is_gap(safe, schema[safe])).then(nw.col(safe)).alias(safe)
        for safe in keys
        if schema[safe] in (nw.String, nw.Categorical, nw.Enum) or schema[safe].is_float()
    ]
    return frame.with_columns(*marked) if marked else frame


def _plain_objects(frame: Frame, safe: str, parameter: str, name: str, *, merge: bool) -> Frame:
    """Return a pandas frame with None for missing objects; equal texts as one value to merge."""
    import pandas as pd

    native = nw.to_native(frame)
    first: dict[str, Any] = {}
    values: list[Any] = []
    for value in native[safe].tolist():
        text = _text_of(parameter, name, value)
        values.append(None if text is None else first.setdefault(text, value) if merge else value)
    return opened(native.assign(**{safe: pd.Series(values, index=native.index, dtype=object)}))


def _text_of(parameter: str, name: str, value: Any) -> str | None:
    """Return the text of a value of a column, None if it is missing; refuse what is no label."""
    try:
        return label_text(value)
    except (TypeError, ValueError, ArithmeticError):
        raise _no_label(parameter, name, shown(value)) from None


@dataclass(frozen=True)
class LabelColumn:
    """One column of labels."""

    parameter: str  # that named it: gold, pred, a, b, systems
    name: str  # in the table
    texts: dict[Any, str | None]  # of every value that occurs; None for missing ones

    @classmethod
    def of(cls, parameter: str, name: str, values: Iterable[Any]) -> LabelColumn:
        """Build the column from its distinct values."""
        return cls(parameter, name, {value: _text_of(parameter, name, value) for value in values})

    @cached_property
    def labels(self) -> frozenset[str]:
        """Return the texts of its labels."""
        return frozenset(text for text in self.texts.values() if text is not None)


def _no_label(parameter: str, name: str, held: str) -> InputError:
    """Return the error for a column that holds what can be no label."""
    return InputError(f"{parameter}: column {name!r} holds {held}; {EXPECTED_LABEL}")


def kinds_of(column: LabelColumn) -> tuple[str, ...]:
    """Return the types of the values of a column, in words."""
    return tuple(sorted({_kind(v) for v, text in column.texts.items() if text is not None}))


def _kind(value: Any) -> str:
    if isinstance(value, (str, bytes)):
        return "text"
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "truth values"
    if isinstance(value, Number):
        return "numbers"
    return "dates" if isinstance(value, (date, time)) else type(value).__name__


def values_of(column: Any) -> list[Any]:
    """Return the values of a column, with None for missing ones."""
    values = column.tolist() if isinstance(column, np.ndarray) else column
    return [None if is_missing(value) else value for value in values]


def numbers_of(rows: Rows, names: list[str]) -> tuple[Ints, Array]:
    """Return the number of units of every row of a query, and its sums of these names."""
    sums = np.stack([np.asarray(rows[name], dtype=np.float64) for name in names], axis=1)
    return np.asarray(rows[NUMBER], dtype=np.int64), sums


def group_keys(rows: Rows, groups: list[str], size: int, *, single: bool) -> list[Hashable]:
    """Return the group of every row: a value, or a tuple of values of several columns."""
    if not groups:
        return [None] * size
    columns = [values_of(rows[safe]) for safe in groups]
    return columns[0] if single else list(zip(*columns, strict=True))


def sort_groups(keys: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Return the distinct groups in the order of their values."""
    return tuple(sorted(dict.fromkeys(keys), key=_sorting))


def _sorting(key: Hashable) -> list[tuple[int, Any]]:
    """Return the sort key of a group: numbers before texts, missing values last."""
    return [
        (2, "") if p is None else (0, p) if isinstance(p, (int, float)) else (1, str(p))
        for p in (key if isinstance(key, tuple) else (key,))
    ]


# --- Merging units that are nearly alike, if there are too many distinct ones
# The exact test of two systems depends on a unit only through the differences of the systems in
# true and in false positives. Units with the same two differences are merged if their other cases
# nearly agree; the engine returns their number and their sums, so that totals and test do not
# change. Each merged kind is then written as units that are as equal as whole numbers allow.

# Every case as a sum of `statistics_of`, for one and for two systems: those that may differ within
# a merged kind, and those that may not.
_FREE = {
    1: {"tp": "+t0", "fp": "+p0 -t0", "fn": "+pos -t0", "tn": "+rows -pos -p0 +t0"},
    2: {
        "c2": "+t1 -t0_1",
        "c3": "+p1 -t1 -p0_1 +t0_1",
        "c4": "+t0_1",
        "c5": "+p0_1 -t0_1",
        "c6": "+pos -t0 -t1 +t0_1",
        "c7": "+rows -pos -p0 +t0 -p1 +t1 +p0_1 -t0_1",
    },
}
_FIXED: dict[int, dict[str, str]] = {1: {}, 2: {"dt": "+t0 -t1", "df": "+p0 -t0 -p1 +t1"}}


def _signs(terms: str) -> dict[str, int]:
    """Return the statistics in a sum with their signs."""
    return {term[1:]: 1 if term[0] == "+" else -1 for term in terms.split()}


def _merge_alike(by_unit: Frame, keys: list[str], systems: int, fineness: float) -> Frame:
    """Return the query that merges units that nearly agree: their number and their sums."""
    # ``fineness`` is the number of bins per standard deviation of a number n of independent items,
    # which is sqrt(n). Small numbers have bins of their own. Of all classes together, "true
    # negatives" may be below 0.
    free, fixed = _FREE[systems], _FIXED[systems]
    parts = [
        reduce(add, [nw.col(n) * sign for n, sign in _signs(terms).items()]).alias(f"_{name}")
        for name, terms in (free | fixed).items()
    ]
    split = by_unit.select(*keys, *parts)
    numbers = {n: nw.col(f"_{n}") for n in free}
    roots = {n: own.abs().cast(nw.Float64) ** 0.5 * fineness for n, own in numbers.items()}
    bins = [own.cast(nw.Int64).alias(f"bin_{n}") for n, own in roots.items()]
    split = split.with_columns(*bins, *((x * x).alias(f"own_{n}") for n, x in numbers.items()))
    kinds = [*keys, *(f"_{n}" for n in fixed), *(f"bin_{n}" for n in free)]
    sums = [own.sum().alias(f"sum_{name}") for name, own in numbers.items()]
    sums += [nw.col(f"own_{name}").sum().alias(f"square_{name}") for name in free]
    return split.group_by(*kinds).agg(nw.len().alias(NUMBER), *sums)


def units_alike(rows: Rows, keys: list[str], systems: int) -> tuple[dict[str, Any], float]:
    """Split merged kinds into rows as those of `count_units`; return the lost share of variance."""
    number = np.asarray(rows[NUMBER], dtype=np.int64)
    columns = [np.asarray(rows[f"sum_{n}"], dtype=np.int64) for n in _FREE[systems]]
    # divide the totals among the units; the first units get one more if there is a remainder
    share, remainder = np.divmod(np.stack(columns, axis=1), number[:, None])
    begins = np.pad(np.sort(remainder), ((0, 0), (1, 0)))
    ends = np.concatenate([begins[:, 1:], number[:, None]], axis=1)
    kind, part = np.nonzero(ends > begins)
    begin = begins[kind, part]
    free, times = share[kind] + (remainder[kind] > begin[:, None]), ends[kind, part] - begin
    fixed = [np.asarray(rows[f"_{n}"], dtype=np.int64)[kind, None] for n in _FIXED[systems]]
    squares = np.array([np.sum(np.asarray(rows[f"square_{n}"], float)) for n in _FREE[systems]])
    cases, n = free.astype(np.float64), times.sum()
    mean = times @ cases / n
    true, left = squares / n - mean**2, times @ cases**2 / n - mean**2
    moving = true > 0
    lost = float(np.max(1 - left[moving] / true[moving], initial=0.0))
    signs = [_signs(terms) for terms in (_FREE[systems] | _FIXED[systems]).values()]
    names = statistics_of(systems)
    inverse = np.rint(np.linalg.inv([[own.get(name, 0) for name in names] for own in signs]))
    sums = inverse @ np.concatenate([free, *fixed], axis=1).T
    split: dict[str, Any] = {key: [rows[key][place] for place in kind.tolist()] for key in keys}
    return {**split, NUMBER: times, **dict(zip(names, sums, strict=True))}, lost


# --- Distinct rows and distinct units of a statement in DuckDB
# Equal units (the same rows equally often) are kept once: unlike the sums above, they serve any
# label and any metric.

_MOST_KINDS = 1_000_000  # columns of labels have fewer, columns of probabilities more
_MOST_KINDS_AS_COLUMNS = 64  # up to here, counting units uses one column per distinct row


class NeedsRowsError(Exception):  # the caller then reads row by row, if it can
    """A table cannot be counted without reading its rows; the message is the reason."""


def sql_text(value: str, kind: str, name: str) -> str:
    """Return DuckDB's SQL for `label_text` of an expression of this type, NULL if it is missing."""
    # ``name`` is the column in the message on lists and objects
    cast = value if kind == "VARCHAR" else f"CAST({value} AS VARCHAR)"
    if kind == "JSON":
        number = sql_text(f"CAST({value} AS DOUBLE)", "DOUBLE", name)
        truth = sql_text(f"CAST({value} AS BOOLEAN)", "BOOLEAN", name)
        message = f"column {name!r} holds lists or objects; {EXPECTED_LABEL}".replace("'", "''")
        text = (
            f"CASE json_type({value}) WHEN 'DOUBLE' THEN {number} WHEN 'BOOLEAN' THEN {truth} "
            f"WHEN 'ARRAY' THEN error('{message}') WHEN 'OBJECT' THEN error('{message}') "
            f"ELSE {value} ->> '$' END"
        )
    elif kind in ("DOUBLE", "FLOAT"):
        whole = f"CAST(TRY_CAST({value} AS HUGEINT) AS VARCHAR)"
        finite = f"WHEN {value} = trunc({value}) THEN coalesce({whole}, {cast}) ELSE {cast}"
        text = f"CASE WHEN NOT isfinite({value}) THEN NULL {finite} END"
    elif kind == "BOOLEAN":
        text = f"CAST(CAST({value} AS INTEGER) AS VARCHAR)"
    elif kind.startswith("DECIMAL") and not kind.endswith(",0)"):
        text = f"rtrim(rtrim({cast}, '0'), '.')"
    else:
        text = cast
    return f"nullif({text}, '')"


@dataclass(frozen=True, eq=False)
class Kinds:
    """The distinct rows of a table with their counts, and the distinct units with theirs."""

    values: list[list[Any]]  # of the distinct rows, column by column
    number: Ints  # of rows equal to each distinct row
    without_unit: int  # number of rows without a unit
    # sparse table: distinct unit, distinct row, and how often that row occurs in such a unit;
    # without units, every distinct row
    row: Ints
    units: Ints  # number of units (without units, rows) equal to each distinct one
    unit: Ints | None = None
    times: Ints | None = None


def count_kinds(database: Connection, rows: str, n_columns: int, *, has_unit: bool) -> Kinds:
    """Count equal rows, and equal units, of a statement with columns c0, c1, … and u (the unit)."""
    names = [f"c{i}" for i in range(n_columns)]
    columns = ", ".join(names)
    cells = count_cells(opened(database.sql(rows)), names, "u" if has_unit else None)
    lost = f"{NUMBER} - {HELD}" if has_unit else "0"
    # a fixed order: samples must not depend on which thread was faster
    code = f"row_number() OVER (ORDER BY {columns}) - 1 AS code"
    asked = f"SELECT {code}, {columns}, {NUMBER}, {lost} AS lost"
    rows_of = f"FROM ({nw.to_native(cells).sql_query()})"
    database.execute(f"CREATE OR REPLACE TEMP TABLE kinds AS {asked} {rows_of}")
    ((size,),) = database.execute("SELECT count(*) FROM kinds").fetchall()
    if size > _MOST_KINDS:
        most = f"more than labels have (at most {_MOST_KINDS:,})"
        raise NeedsRowsError(f"there are {size:,} different rows, {most}")
    ordered = f"SELECT {NUMBER}, lost, {columns} FROM kinds ORDER BY code"
    found: Any = database.execute(ordered).fetchall()
    times, lost_rows, *values = zip(*found, strict=True) if found else [()] * (2 + n_columns)
    number, lost = np.array(times, np.int64), sum(lost_rows)
    kinds = Kinds([list(own) for own in values], number, lost, np.arange(len(number)), number)
    if not has_unit or kinds.without_unit or not len(found):
        return kinds
    return _count_kinds_of_units(database, rows, n_columns, kinds)


def _count_kinds_of_units(database: Connection, rows: str, n_columns: int, kinds: Kinds) -> Kinds:
    """Count equal units: those in which the same rows occur equally often."""
    same = " AND ".join(f"r.c{i} IS NOT DISTINCT FROM k.c{i}" for i in range(n_columns))
    coded = f"SELECT r.u AS u, k.code AS code FROM ({rows}) r JOIN kinds k ON {same}"
    size = len(kinds.number)
    if size <= _MOST_KINDS_AS_COLUMNS:
        each = ", ".join(f"count(*) FILTER (code = {code}) AS n{code}" for code in range(size))
        by_unit = f"SELECT {each} FROM ({coded}) GROUP BY u"
        columns = "COLUMNS('^n[0-9]+$'), count(*) AS number"
        statement = f"SELECT {columns} FROM ({by_unit}) GROUP BY ALL ORDER BY ALL"
        found = database.execute(statement).fetchnumpy()
        units = np.asarray(found["number"], np.int64)
        table = np.stack([np.asarray(found[f"n{code}"], np.int64) for code in range(size)], axis=1)
        unit, row = np.nonzero(table)
        return replace(kinds, unit=unit, row=row, times=table[unit, row], units=units)
    counted = f"SELECT u, code, count(*) AS n FROM ({coded}) GROUP BY u, code"
    by_unit = f"SELECT list((code, n) ORDER BY code) AS own FROM ({counted}) GROUP BY u"
    statement = f"SELECT own, count(*) AS number FROM ({by_unit}) GROUP BY own"
    found = database.execute(
        f"SELECT place, number, pair[1] AS code, pair[2] AS times FROM (SELECT row_number() "
        f"OVER (ORDER BY own) - 1 AS place, number, unnest(own) AS pair FROM ({statement}))"
    ).fetchnumpy()
    unit, row, times = (np.asarray(found[n], np.int64) for n in ("place", "code", "times"))
    units = np.zeros(int(unit.max(initial=-1)) + 1, dtype=np.int64)
    units[unit] = np.asarray(found["number"], np.int64)
    return replace(kinds, unit=unit, row=row, times=times, units=units)
