"""Tables of any size, with equal rows kept once: the engine counts them, nothing else leaves it.

A row is what the columns of labels say; without units every row is one. With units, equal units are
kept once, too: those in which the same rows stand equally often.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._labels import Column, is_missing
from probative._validation import shown
from probative.reading.annotations import Repeats
from probative.reading.attached import attach, files_of, limited, seconds
from probative.reading.database import connected, folder_of, lock, watched
from probative.reading.parquet_columns import check_types
from probative.reading.table_files import DATABASES, check_columns
from probative.reading.tables import Cells, first_bad_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb
    from numpy.typing import NDArray

    from probative.errors import InputError
    from probative.reading.table_files import TableFiles

__all__ = ["NeedsRowsError", "Scanned", "condense", "described", "opened"]

_MOST = 1_000_000  # different rows of a table of labels; probabilities have more
_FEW = 64  # kinds of rows up to which each has a column of its own in the count of units
_NESTED = re.compile(r"\[\d*\]$|^(STRUCT|MAP|UNION)\b")


class NeedsRowsError(Exception):  # the caller knows another way
    """That a table cannot be counted without its rows, and why."""


@dataclass(frozen=True)
class Scanned:
    """A table as a statement sees it.

    Attributes
    ----------
    files
        The table.
    columns
        The columns of labels that are asked for.
    types
        The engine's type of each column.
    """

    files: TableFiles
    columns: tuple[str, ...]
    types: dict[str, str]

    def value(self, column: str) -> str:
        """A column as it is."""
        return self.files.called(column)

    def text(self, column: str) -> str:
        """A column as text, empty where there is none: of JSON, without quotes."""
        name, kind = self.files.called(column), self.types[column]
        if kind == "JSON":
            name = f"({name} ->> '$')"
        elif kind in ("DOUBLE", "FLOAT"):  # whole numbers as such, as labels are written
            whole = f"CAST(CAST({name} AS HUGEINT) AS VARCHAR)"
            name = f"CASE WHEN {name} = trunc({name}) THEN {whole} ELSE CAST({name} AS VARCHAR) END"
        elif kind != "VARCHAR":
            name = f"CAST({name} AS VARCHAR)"
        return f"nullif({name}, '')"

    def scan(self, columns: Sequence[str]) -> str:
        """The rows with these columns, as the part of a statement that stands after FROM."""
        return self.files.scan(list(dict.fromkeys(columns)))

    def read(self, column: str, value: Any) -> Any:
        """What a value of the engine is in Python."""
        if value is not None and self.types[column] == "JSON":
            return json.loads(value)
        return value


@contextmanager
def opened(
    tables: Sequence[TableFiles], memory_limit: str | None
) -> Iterator[tuple[duckdb.DuckDBPyConnection, list[TableFiles]]]:
    """A database that sees these tables, and the tables as it sees them.

    What goes wrong while it is used is an error that names the file.
    """
    import duckdb

    with connected(memory_limit) as database:
        folder = folder_of(database)
        attached, most = list(tables), seconds(tables)
        stored = [path for t in tables if t.kind not in DATABASES for path in t.paths]
        copies = {
            place: folder / f"table_{place}"
            for place, files in enumerate(tables)
            if files.kind in DATABASES
        }
        try:
            own = (path for place, copy in copies.items() for path in files_of(tables[place], copy))
            lock(database, stored, own)
            with limited(database, most):
                for place, copy in copies.items():
                    if (first := tables.index(tables[place])) < place:  # one table twice
                        attached[place] = attached[first]
                        continue
                    attached[place] = attach(database, tables[place], copy.name, copy, memory_limit)
                yield database, attached
        except duckdb.InterruptException:
            raise attached[0].error(
                f"takes more than {most} s; expected a smaller database, or Parquet"
            ) from None
        except duckdb.Error as error:
            raise explain(error, attached, memory_limit) from None


def described(
    database: duckdb.DuckDBPyConnection, files: TableFiles, columns: Sequence[str]
) -> Scanned:
    """A table with the types of the columns that are asked for, all of which it has."""
    if files.kind == "parquet":
        files = check_types(database, files, columns)
    check_columns(files, columns)
    asked = list(dict.fromkeys(columns))
    rows = database.execute(f"DESCRIBE FROM {files.scan(asked)}").fetchall()
    types = dict(zip(asked, (row[1] for row in rows), strict=True))
    for column, kind in types.items():
        if _NESTED.search(kind):
            raise NeedsRowsError(f"column {column!r} holds lists or objects ({kind})")
    return Scanned(files, tuple(columns), types)


def condense(
    database: duckdb.DuckDBPyConnection,
    table: Scanned,
    columns: Sequence[str],
    unit: str | None = None,
    group: str | None = None,
) -> Cells:
    """Count the different rows of a table, and the different units.

    Parameters
    ----------
    database
        The database that sees the table.
    table
        The table.
    columns
        The columns of labels.
    unit, group
        The columns of the units and of the groups.
    """
    every = [*columns, *([] if group is None else [group])]
    own = [f"{table.value(column)} AS c{i}" for i, column in enumerate(every)]
    if unit is not None:
        own.append(f"{table.text(unit)} AS u")
    asked = [*every, *([] if unit is None else [unit])]
    rows = f"SELECT {', '.join(own)} FROM {table.scan(asked)}"
    kinds = count_kinds(database, rows, len(every), has_unit=unit is not None)
    values = [
        [table.read(column, value) for value in own]
        for column, own in zip(every, kinds.values, strict=True)
    ]
    refuse_missing(table.files, columns, values[: len(columns)], kinds, unit)
    return cells_of(table.files.kind, every, values, kinds, unit, group)


@dataclass(frozen=True, eq=False)
class Kinds:
    """The different rows of a table and how many there are of each; likewise its units.

    Attributes
    ----------
    values
        What each kind of row says, column by column.
    number
        How many rows of each kind there are.
    without_unit
        How many rows have no unit.
    unit, row, times
        Of each kind of unit, the kinds of its rows, and how many of each there are.
    units
        How many units of each kind there are.
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
    """Count equal rows, and equal units.

    Parameters
    ----------
    database
        Where the statement is to be run.
    rows
        A statement that gives the columns c0, c1, …, and u where there are units.
    n_columns
        How many columns there are besides the units.
    has_unit
        Whether there are units.
    """
    columns = ", ".join(f"c{i}" for i in range(n_columns))
    lost = "count(*) FILTER (u IS NULL)" if has_unit else "0"
    with watched(database):
        database.execute(
            # in an order of their own: what is sampled must not depend on who was faster
            f"CREATE OR REPLACE TEMP TABLE kinds AS SELECT row_number() OVER (ORDER BY {columns}) "
            f"- 1 AS code, * FROM (SELECT {columns}, count(*) AS n, {lost} AS lost FROM ({rows}) "
            f"GROUP BY {columns})"
        )
    ((size,),) = database.execute("SELECT count(*) FROM kinds").fetchall()
    if size > _MOST:
        raise NeedsRowsError(
            f"there are {size:,} different rows, more than labels have (at most {_MOST:,})"
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
    """Units with the same rows, as often, are of one kind."""
    same = " AND ".join(f"r.c{i} IS NOT DISTINCT FROM k.c{i}" for i in range(n_columns))
    coded = f"SELECT r.u AS u, k.code AS code FROM ({rows}) r JOIN kinds k ON {same}"
    size = len(kinds.number)
    if size <= _FEW:
        each = ", ".join(f"count(*) FILTER (code = {code}) AS n{code}" for code in range(size))
        statement = (
            f"SELECT COLUMNS('^n[0-9]+$'), count(*) AS number FROM "
            f"(SELECT {each} FROM ({coded}) GROUP BY u) GROUP BY ALL ORDER BY ALL"
        )
        with watched(database):
            found = database.execute(statement).fetchnumpy()
        units = np.asarray(found["number"], np.int64)
        table = np.stack([np.asarray(found[f"n{code}"], np.int64) for code in range(size)], axis=1)
        unit, row = np.nonzero(table)
        return replace(kinds, unit=unit, row=row, times=table[unit, row], units=units)
    statement = (
        f"SELECT own, count(*) AS number FROM (SELECT list((code, n) ORDER BY code) AS own FROM "
        f"(SELECT u, code, count(*) AS n FROM ({coded}) GROUP BY u, code) GROUP BY u) GROUP BY own"
    )
    with watched(database):
        found = database.execute(
            f"SELECT place, number, pair[1] AS code, pair[2] AS times FROM (SELECT row_number() "
            f"OVER (ORDER BY own) - 1 AS place, number, unnest(own) AS pair FROM ({statement}))"
        ).fetchnumpy()
    unit, row, times = (np.asarray(found[n], np.int64) for n in ("place", "code", "times"))
    units = np.zeros(int(unit.max(initial=-1)) + 1, dtype=np.int64)
    units[unit] = np.asarray(found["number"], np.int64)
    return replace(kinds, unit=unit, row=row, times=times, units=units)


def refuse_missing(
    files: TableFiles,
    columns: Sequence[str],
    values: Sequence[Sequence[Any]],
    kinds: Kinds,
    unit: str | None,
) -> None:
    """Refuse rows without a label or without a unit, and say how many there are."""
    total = int(kinds.number.sum())
    if not total:
        raise files.error("the table has no rows; expected at least one")
    for column, own in zip(columns, values, strict=True):
        without = sum(int(n) for v, n in zip(own, kinds.number, strict=True) if is_missing(v))
        if without:
            raise files.error(
                f"column {column!r} has missing labels: {without:,} of {total:,}; expected one for "
                f"every row"
            )
        wrong = next((v for v in own if isinstance(v, (list, dict))), None)
        if isinstance(wrong, list):
            raise NeedsRowsError(f"column {column!r} holds lists")
        if wrong is not None:
            raise files.error(
                f"column {column!r} holds {shown(wrong)}; expected text, a number or a truth value"
            )
    if kinds.without_unit:
        raise files.error(
            f"column {unit!r} has missing labels: {kinds.without_unit:,} of {total:,}; expected "
            f"one for every row"
        )


def cells_of(
    kind: str,
    columns: Sequence[str],
    values: Sequence[Sequence[Any]],
    kinds: Kinds,
    unit: str | None,
    group: str | None = None,
) -> Cells:
    """The cells of a table with equal rows, and equal units, kept once.

    The column of the groups, if there is one, is the last.
    """
    read = {}
    row = slice(None) if kinds.row is None else kinds.row
    for column, own in zip(columns, values, strict=True):
        content = Column()
        content.extend(own)
        read[column] = (content.codes[row], content.values)
    if kinds.unit is None or kinds.units is None:
        repeats, units = Repeats(None, kinds.number), None
    else:
        repeats, units = Repeats(kinds.times, kinds.units), kinds.unit.astype(np.int32)
    labels = list(columns) if group is None else list(columns[:-1])
    return Cells(kind, labels, unit, read, repeats=repeats, units=units, group=group)


# --- what went wrong --------------------------------------------------------------------------

_LINE = re.compile(r"Line: (\d+)")
_WIDTH = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")


def explain(
    error: Exception, tables: Sequence[TableFiles], memory_limit: str | None = None
) -> InputError:
    """What the engine has found, in one line that names the file.

    Parameters
    ----------
    error
        What it says.
    tables
        The tables that it was reading.
    memory_limit
        How much memory it had.
    """
    message = str(error).strip()
    files, path = _file_named(message, tables)
    first = message.splitlines()[0] if message else "no reason given"
    if "Out of Memory" in first or "max_temp_directory_size" in message:
        return files.error(
            f"does not fit into {memory_limit or 'the memory'} and the room for temporary files; "
            f"expected more (memory_limit=)"
        )
    line = _LINE.search(message)
    number = int(line[1]) if line else None
    width = _WIDTH.search(message)
    if width:
        return files.error(f"{width[2]} cells; expected {width[1]}, as in the header", path, number)
    if "nicode" in message or "utf-8" in message.lower():
        return files.error(
            "is not UTF-8; expected UTF-8, or a smaller file and another encoding (encoding=)",
            path,
            number,
        )
    if files.kind == "jsonl" and path is not None:
        found = first_bad_line(files.shown(path), path)
        if found is not None:
            return found
    reason = first.split(": ", 1)[-1]
    if number is not None:  # of CSV: what is wrong stands below
        reason = next((text for text in message.splitlines()[2:] if text.strip()), reason)
    for table in tables:
        for own in table.paths:
            reason = reason.replace(f'"{own.absolute()}"', "it").replace(
                f"'{own.absolute()}'", "it"
            )
    return files.error(f"is no table that can be read: {reason.rstrip('. ')}", path, number)


def _file_named(message: str, tables: Sequence[TableFiles]) -> tuple[TableFiles, Any]:
    """The table and the file that a message of the engine names; the first table if none."""
    from probative.reading.database import literal_path

    for files in tables:
        for path in files.paths:
            escaped = literal_path(path)[1:-1].replace("''", "'")
            if escaped in message or str(path.absolute()) in message:
                return files, path
    return tables[0], None
