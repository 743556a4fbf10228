"""Tables of databases: those of DuckDB are attached, those of SQLite are read in batches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._labels import label_text
from probative.errors import suggestion
from probative.reading.database import identifier, literal
from probative.reading.tables import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from probative.reading.table_files import TableFiles

__all__ = ["attach"]

_AT_ONCE = 100_000  # rows of SQLite that are in Python at a time


def attach(database: duckdb.DuckDBPyConnection, files: TableFiles, called: str) -> TableFiles:
    """The table with the name by which statements know it.

    Parameters
    ----------
    database
        The database that is to see it.
    files
        A file of SQLite or DuckDB.
    called
        What it is to be called.
    """
    if files.kind == "sqlite":
        return _read_sqlite(database, files, called)
    place = literal(str(files.paths[0].absolute()))
    database.execute(f"ATTACH {place} AS {identifier(called)} (READ_ONLY, TYPE duckdb)")
    rows = database.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = $1 AND NOT "
        "internal UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE database_name "
        "= $1 AND NOT internal ORDER BY ALL",
        [called],
    ).fetchall()
    there = {
        name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in rows
    }
    schema, name = there[_choose(files, list(there))]
    table = ".".join(map(identifier, (called, schema, name)))
    described = database.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()
    return replace(files, table=table, columns=tuple(row[0] for row in described))


def _choose(files: TableFiles, there: Sequence[str]) -> str:
    """The table that is asked for, or the only one."""
    if files.table is None:
        if len(there) == 1:
            return there[0]
        if not there:
            raise files.error("the database holds no tables; expected one")
        raise files.error(
            f"the database holds several tables ({listed(there)}); expected one of them (table=)"
        )
    if files.table not in there:
        raise files.error(
            f"there is no table {files.table!r}; expected one of {listed(there)}"
            + suggestion(files.table, there)
        )
    return files.table


def _read_sqlite(database: duckdb.DuckDBPyConnection, files: TableFiles, called: str) -> TableFiles:
    import sqlite3

    try:
        place = files.paths[0].absolute().as_uri()
        source = sqlite3.connect(f"{place}?mode=ro", uri=True)
        try:
            rows = source.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE "
                "'sqlite^_%' ESCAPE '^' ORDER BY name"
            ).fetchall()
            name = _choose(files, [row[0] for row in rows])
            return _copy(source, database, files, name, called)
        finally:
            source.close()
    except (sqlite3.Error, UnicodeError) as error:
        raise files.error(f"is no database that can be read: {error}") from None


def _copy(
    source: Any,
    database: duckdb.DuckDBPyConnection,
    files: TableFiles,
    name: str,
    called: str,
) -> TableFiles:
    """Every value as its text, which tells 1 and 1.0 for the same label, as everywhere."""
    rows = source.execute(f"SELECT * FROM {identifier(name)}")
    columns = [entry[0] for entry in rows.description]
    own = ", ".join(f"c{i} VARCHAR" for i in range(len(columns)))
    database.execute(f"CREATE TEMP TABLE {called}_rows ({own})")
    while batch := rows.fetchmany(_AT_ONCE):
        block = {  # noqa: F841  # the statement below sees it by its name
            f"c{i}": np.array([_text(value) for value in values], dtype=object)
            for i, values in enumerate(zip(*batch, strict=True))
        }
        database.execute(f"INSERT INTO {called}_rows SELECT * FROM block")
    names = ", ".join(f"c{i} AS {identifier(column)}" for i, column in enumerate(columns))
    database.execute(f"CREATE TEMP VIEW {called} AS SELECT {names} FROM {called}_rows")
    return replace(files, table=called, columns=tuple(columns))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else label_text(value)
