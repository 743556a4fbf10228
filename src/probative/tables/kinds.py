"""Count the distinct rows and the distinct units of a statement in DuckDB.

Only the distinct rows and their counts leave the engine. With units, equal units (the same rows
equally often) are also kept once: unlike the sums of `query`, they serve any label and any metric.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.labels import EXPECTED_LABEL

if TYPE_CHECKING:
    import duckdb
    from numpy.typing import NDArray

__all__ = ["Kinds", "NeedsRowsError", "count_kinds", "sql_text"]

_MOST_KINDS = 1_000_000  # columns of labels have fewer, columns of probabilities more
_MOST_KINDS_AS_COLUMNS = 64  # up to here, counting units uses one column per distinct row


class NeedsRowsError(Exception):  # the caller then reads row by row, if it can
    """A table cannot be counted without reading its rows; the message is the reason."""


def sql_text(value: str, kind: str, name: str) -> str:
    """Return DuckDB's SQL for `label_text` of an expression of this type, NULL if it is missing.

    ``name`` is the column in the message on lists and objects.
    """
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
        text = (
            f"CASE WHEN NOT isfinite({value}) THEN NULL WHEN {value} = trunc({value}) "
            f"THEN coalesce({whole}, {cast}) ELSE {cast} END"
        )
    elif kind == "BOOLEAN":
        text = f"CAST(CAST({value} AS INTEGER) AS VARCHAR)"
    elif kind.startswith("DECIMAL") and not kind.endswith(",0)"):
        text = f"rtrim(rtrim({cast}, '0'), '.')"
    else:
        text = cast
    return f"nullif({text}, '')"


@dataclass(frozen=True, eq=False)
class Kinds:
    """The distinct rows of a table with their counts, and the distinct units with theirs.

    Attributes
    ----------
    values
        Values of the distinct rows, column by column.
    number
        Number of rows equal to each distinct row.
    without_unit
        Number of rows without a unit.
    unit, row, times
        Sparse table: distinct unit, distinct row, and how often that row occurs in such a unit.
    units
        Number of units equal to each distinct unit.
    """

    values: list[list[Any]]
    number: NDArray[np.int64]
    without_unit: int = 0
    unit: NDArray[np.int64] | None = None
    row: NDArray[np.int64] | None = None
    times: NDArray[np.int64] | None = None
    units: NDArray[np.int64] | None = None


def count_kinds(
    database: duckdb.DuckDBPyConnection, rows: str, n_columns: int, *, has_unit: bool
) -> Kinds:
    """Count equal rows, and equal units, of a statement with columns c0, c1, … and u (the unit)."""
    columns = ", ".join(f"c{i}" for i in range(n_columns))
    lost = "count(*) FILTER (u IS NULL)" if has_unit else "0"
    database.execute(
        # a fixed order: samples must not depend on which thread was faster
        f"CREATE OR REPLACE TEMP TABLE kinds AS SELECT row_number() OVER (ORDER BY {columns}) "
        f"- 1 AS code, * FROM (SELECT {columns}, count(*) AS n, {lost} AS lost FROM ({rows}) "
        f"GROUP BY {columns})"
    )
    ((size,),) = database.execute("SELECT count(*) FROM kinds").fetchall()
    if size > _MOST_KINDS:
        raise NeedsRowsError(
            f"there are {size:,} different rows, more than labels have (at most {_MOST_KINDS:,})"
        )
    found = database.execute(f"SELECT n, lost, {columns} FROM kinds ORDER BY code").fetchall()
    number, lost_rows, *values = (
        zip(*found, strict=True) if found else ((), (), *([()] * n_columns))
    )
    kinds = Kinds([list(own) for own in values], np.array(number, np.int64), sum(lost_rows))
    if not has_unit or kinds.without_unit or not len(found):
        return kinds
    return _count_units(database, rows, n_columns, kinds)


def _count_units(
    database: duckdb.DuckDBPyConnection, rows: str, n_columns: int, kinds: Kinds
) -> Kinds:
    """Count equal units: those in which the same rows occur equally often."""
    same = " AND ".join(f"r.c{i} IS NOT DISTINCT FROM k.c{i}" for i in range(n_columns))
    coded = f"SELECT r.u AS u, k.code AS code FROM ({rows}) r JOIN kinds k ON {same}"
    size = len(kinds.number)
    if size <= _MOST_KINDS_AS_COLUMNS:
        each = ", ".join(f"count(*) FILTER (code = {code}) AS n{code}" for code in range(size))
        statement = (
            f"SELECT COLUMNS('^n[0-9]+$'), count(*) AS number FROM "
            f"(SELECT {each} FROM ({coded}) GROUP BY u) GROUP BY ALL ORDER BY ALL"
        )
        found = database.execute(statement).fetchnumpy()
        units = np.asarray(found["number"], np.int64)
        table = np.stack([np.asarray(found[f"n{code}"], np.int64) for code in range(size)], axis=1)
        unit, row = np.nonzero(table)
        return replace(kinds, unit=unit, row=row, times=table[unit, row], units=units)
    statement = (
        f"SELECT own, count(*) AS number FROM (SELECT list((code, n) ORDER BY code) AS own FROM "
        f"(SELECT u, code, count(*) AS n FROM ({coded}) GROUP BY u, code) GROUP BY u) GROUP BY own"
    )
    found = database.execute(
        f"SELECT place, number, pair[1] AS code, pair[2] AS times FROM (SELECT row_number() "
        f"OVER (ORDER BY own) - 1 AS place, number, unnest(own) AS pair FROM ({statement}))"
    ).fetchnumpy()
    unit, row, times = (np.asarray(found[n], np.int64) for n in ("place", "code", "times"))
    units = np.zeros(int(unit.max(initial=-1)) + 1, dtype=np.int64)
    units[unit] = np.asarray(found["number"], np.int64)
    return replace(kinds, unit=unit, row=row, times=times, units=units)
