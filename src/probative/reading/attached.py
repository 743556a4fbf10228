"""Tables of databases: those of DuckDB are attached, those of SQLite are read in batches.

Only stored rows are read in this process. What a database computes (views, generated columns) is
read if it is asked for, by a process that may open this database alone and is ended after a time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._labels import label_text
from probative.errors import InputError, suggestion
from probative.reading.database import connected, identifier, literal, lock
from probative.reading.table_files import DATABASES, TableFiles
from probative.reading.tables import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb

__all__ = ["attach", "files_of", "limited", "seconds"]

_AT_ONCE = 100_000  # rows of SQLite that are in Python at a time
_STEPS = 100_000  # of SQLite between two looks at the clock
_SECONDS, _SECONDS_PER_BYTE = 60, 1e-6  # that a database may take
_LOGS = ("", ".wal", ".wal.checkpoint", ".wal.recovery")  # of DuckDB, beside its file
_OTHER_FILES = 3  # what the process that computes ends with where a view reads other files
_COMPUTE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from probative.reading.attached import compute; compute(*sys.argv[2:])"
)


def seconds(tables: Sequence[TableFiles]) -> int | None:
    """Return how long these tables may take; None if none of them is in a database."""
    if not any(files.kind in DATABASES for files in tables):
        return None
    return int(_SECONDS + _SECONDS_PER_BYTE * sum(files.size for files in tables))


@contextmanager
def limited(database: duckdb.DuckDBPyConnection, most: int | None) -> Iterator[None]:
    """Interrupt what a connection does after so many seconds."""
    if most is None:
        yield
        return
    timer = threading.Timer(most, database.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def files_of(files: TableFiles, copy: Path) -> list[Path]:
    """Return the files that a connection opens for the table of a database.

    Parameters
    ----------
    files
        The table.
    copy
        Where rows that the database computes are put.
    """
    return [Path(f"{path}{log}") for path in (files.paths[0], copy) for log in _LOGS]


def attach(
    database: duckdb.DuckDBPyConnection,
    files: TableFiles,
    called: str,
    copy: Path | None = None,
    memory_limit: str | None = None,
) -> TableFiles:
    """Return the table with the name by which statements know it.

    Parameters
    ----------
    database
        The connection that is to see it; it may open no other files.
    files
        A file of SQLite or DuckDB.
    called
        What it is to be called.
    copy
        Where to put the rows if the database computes them; None: they are computed here.
    memory_limit
        How much memory computing them may use.
    """
    there = _sqlite_tables(files) if files.kind == "sqlite" else _tables(database, files, called)
    name = _choose(files, {name: computed for name, (_, computed) in there.items()})
    own_name, computed = there[name]
    if computed and copy is not None:
        _compute_apart(files, name, copy, memory_limit)
        own = replace(files, kind="duckdb", paths=(copy,), table="rows")
        return replace(attach(database, own, f"{called}_copy"), paths=files.paths)
    if files.kind == "sqlite":
        return _read_sqlite(database, files, name, called)
    table = ".".join(map(identifier, (called, *own_name)))
    described = database.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()
    return replace(files, table=table, columns=tuple(row[0] for row in described))


def _tables(
    database: duckdb.DuckDBPyConnection, files: TableFiles, called: str
) -> dict[str, tuple[tuple[str, str], bool]]:
    """Attach a database; return its tables: schema, name, and whether they are computed."""
    place = literal(str(files.paths[0].absolute()))
    database.execute(f"ATTACH {place} AS {identifier(called)} (READ_ONLY, TYPE duckdb)")
    rows = database.execute(
        "SELECT schema_name, table_name, contains(sql, 'GENERATED ALWAYS AS') FROM duckdb_tables() "
        "WHERE database_name = $1 AND NOT internal UNION ALL SELECT schema_name, view_name, true "
        "FROM duckdb_views() WHERE database_name = $1 AND NOT internal ORDER BY ALL",
        [called],
    ).fetchall()
    return {
        name if schema == "main" else f"{schema}.{name}": ((schema, name), computed)
        for schema, name, computed in rows
    }


def _choose(files: TableFiles, there: dict[str, bool]) -> str:
    """Return the table that is asked for, or the only one that is stored."""
    if files.table is None:
        stored = [name for name, computed in there.items() if not computed]
        if len(stored) == 1:
            return stored[0]
        if not there:
            raise files.error("the database holds no tables; expected one")
        if not stored:
            raise files.error(
                f"the database holds no stored tables, only what it computes ({listed(list(there))}"
                f"); expected a table, or one of these by its name (table=)"
            )
        raise files.error(
            f"the database holds several tables ({listed(stored)}); expected one of them (table=)"
        )
    if files.table not in there:
        raise files.error(
            f"there is no table {files.table!r}; expected one of {listed(list(there))}"
            + suggestion(files.table, list(there))
        )
    return files.table


# --- what a database computes -----------------------------------------------------------------


def _compute_apart(files: TableFiles, name: str, copy: Path, memory_limit: str | None) -> None:
    """Have another process copy what a database computes; end it if that takes too long."""
    most = seconds([files]) or 0
    words = [files.kind, str(files.paths[0].absolute()), name, str(copy), memory_limit or ""]
    try:
        done = subprocess.run(  # noqa: S603  # our own program
            [sys.executable, "-I", "-c", _COMPUTE, json.dumps(sys.path), *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=most,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _too_long(files, name, most) from None
    if done.returncode == _OTHER_FILES:
        raise files.error(
            f"{name!r} reads other files; expected what reads the tables of its own database"
        )
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").split("\n")
        reason = next((line.strip() for line in reversed(lines) if line.strip()), "no reason given")
        raise files.error(f"{name!r} cannot be computed: {reason[:200]}")


def compute(kind: str, path: str, table: str, copy: str, memory_limit: str) -> None:
    """Copy the rows of a table that a database computes; this process does nothing else.

    Parameters
    ----------
    kind, path, table
        The database and the table.
    copy
        The database of DuckDB to be made, with one table.
    memory_limit
        How much memory may be used; empty: as much as usual.
    """
    import duckdb

    place = Path(path)
    files = TableFiles(name=path, kind=kind, paths=(place,), table=table, size=place.stat().st_size)
    try:
        with connected(memory_limit or None) as database:
            lock(database, [], files_of(files, Path(copy)))
            database.execute(f"ATTACH {literal(copy)} AS copied")
            rows = attach(database, files, "source").table
            database.execute(f"CREATE TABLE copied.main.rows AS FROM {rows}")
    except duckdb.PermissionException:
        sys.exit(_OTHER_FILES)
    except (duckdb.Error, InputError) as error:
        sys.exit(str(error).strip().split("\n")[0])


def _too_long(files: TableFiles, name: str, most: int) -> InputError:
    return files.error(
        f"{name!r} takes more than {most} s; expected a table of rows that are stored"
    )


# --- SQLite -----------------------------------------------------------------------------------


@contextmanager
def _sqlite(files: TableFiles) -> Iterator[Any]:
    """Open a database of SQLite that trusts nothing in its file."""
    import sqlite3

    try:
        place = files.paths[0].absolute().as_uri()
        source = sqlite3.connect(f"{place}?mode=ro", uri=True)
        try:
            source.execute("PRAGMA trusted_schema = OFF")
            yield source
        finally:
            source.close()
    except (sqlite3.Error, UnicodeError) as error:
        raise files.error(f"is no database that can be read: {error}") from None


def _sqlite_tables(files: TableFiles) -> dict[str, tuple[tuple[str, str], bool]]:
    """Return the tables, each with whether it is computed; what is stored has a first page."""
    with _sqlite(files) as source:
        rows = source.execute(
            "SELECT name, type = 'table' AND rootpage > 0 FROM sqlite_master WHERE type IN "
            "('table', 'view') AND name NOT LIKE 'sqlite^_%' ESCAPE '^' ORDER BY name"
        ).fetchall()
        generated = "SELECT count(*) FROM pragma_table_xinfo(?) WHERE hidden > 0"
        return {
            name: (
                ("main", name),
                not stored or source.execute(generated, [name]).fetchone()[0] > 0,
            )
            for name, stored in rows
        }


def _read_sqlite(
    database: duckdb.DuckDBPyConnection, files: TableFiles, name: str, called: str
) -> TableFiles:
    most = seconds([files]) or 0
    last = time.monotonic() + most
    with _sqlite(files) as source:
        source.set_progress_handler(lambda: time.monotonic() > last, _STEPS)
        try:
            return _copy(source, database, files, name, called)
        except source.OperationalError as error:
            if time.monotonic() > last:
                raise _too_long(files, name, most) from None
            raise error from None


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
        block: Any = {
            f"c{i}": np.array([_text(value) for value in values], dtype=object)
            for i, values in enumerate(zip(*batch, strict=True))
        }
        database.register("block", block)
        database.execute(f"INSERT INTO {called}_rows SELECT * FROM block")
        database.unregister("block")
    names = ", ".join(f"c{i} AS {identifier(column)}" for i, column in enumerate(columns))
    database.execute(f"CREATE TEMP VIEW {called} AS SELECT {names} FROM {called}_rows")
    return replace(files, table=called, columns=tuple(columns))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else label_text(value)
