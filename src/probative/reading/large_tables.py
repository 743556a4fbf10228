"""Count the labels of large tables and of databases in DuckDB, without reading their rows."""

from __future__ import annotations

import glob
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import shown
from probative.errors import InputError, suggestion
from probative.labels import EXPECTED_LABEL, factorise, is_missing, missing_labels
from probative.reading.alignment import NOTHING, Mismatch, settle
from probative.reading.annotations import Labels, Repeats
from probative.reading.database import (
    DATABASES,
    TableFiles,
    check_columns,
    check_types,
    columns_of_file,
    connected,
    find_tables,
    folder_of,
    head_of,
    identifier,
    is_many,
    is_path_of_table,
    literal,
    literal_path,
    lock,
    watched,
)
from probative.reading.formats import FORMATS, Glance, Options, recognise
from probative.reading.source import LARGE_TEXT, Source, kind_of, place_of_number
from probative.reading.table_sides import Sides, tags_reason
from probative.reading.tables import (
    NO_ROWS,
    Cells,
    Wanted,
    choose_columns,
    first_bad_line,
    is_number,
)
from probative.tables.engines import listed
from probative.tables.query import Kinds, NeedsRowsError, count_kinds
from probative.tables.scores import SummedScores, sum_table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

    from probative.options import ReadingOptions

    Names = Sequence[str | None]
    Tables = Sequence[TableFiles]


# --- Tables of databases
# DuckDB databases are attached; SQLite tables are copied in batches. This process reads only stored
# rows. Views and generated columns run code from the file: another process computes them, which may
# open only this database and is stopped after a time limit.

_SQLITE_BATCH = 100_000  # rows of SQLite that are in Python at a time
_SQLITE_STEPS_PER_CLOCK_CHECK = 100_000  # instructions of SQLite's virtual machine
_SECONDS, _SECONDS_PER_BYTE = 60, 1e-6  # time limit for a database
_DUCKDB_SUFFIXES = ("", ".wal", ".wal.checkpoint", ".wal.recovery")  # the file and its logs
_EXIT_OTHER_FILES = 3  # exit status of the computing process if a view reads other files
_COMPUTE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from probative.reading.large_tables import compute; compute(*sys.argv[2:])"
)


def _seconds(tables: Tables) -> int | None:
    """Return the time limit for these tables in seconds; None if none is in a database."""
    if not any(files.kind in DATABASES for files in tables):
        return None
    return int(_SECONDS + _SECONDS_PER_BYTE * sum(files.size for files in tables))


@contextmanager
def _limited(database: Connection, most: int | None) -> Iterator[None]:
    """Interrupt the statement that a connection runs after so many seconds; None: never."""
    timer = threading.Timer(most or 0, database.interrupt)
    timer.daemon = True
    if most is not None:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _files_of(files: TableFiles, copy: Path) -> list[Path]:
    """Return the files that a connection may open for a table of a database and for its copy."""
    return [Path(f"{path}{log}") for path in (files.paths[0], copy) for log in _DUCKDB_SUFFIXES]


def _attach(
    database: Connection,
    files: TableFiles,
    called: str,
    copy: Path | None = None,
    memory_limit: str | None = None,
) -> TableFiles:
    """Make a table of a database visible to a connection; return it with its name in statements."""
    # rows that the database computes are written to ``copy`` by another process; None: here
    rows = _sqlite_tables(files) if files.kind == "sqlite" else _tables(database, files, called)
    names = [name if schema == "main" else f"{schema}.{name}" for schema, name, _ in rows]
    there = dict(zip(names, rows, strict=True))
    name = _choose_table(files, {name: computed for name, (_, _, computed) in there.items()})
    *own_name, computed = there[name]
    if computed and copy is not None:
        _compute_apart(files, name, copy, memory_limit)
        own = replace(files, kind="duckdb", paths=(copy,), table="rows")
        return replace(_attach(database, own, f"{called}_copy"), paths=files.paths)
    if files.kind == "sqlite":
        return _read_sqlite(database, files, name, called)
    table = ".".join(map(identifier, (called, *own_name)))
    described = database.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()
    return replace(files, table=table, columns=tuple(row[0] for row in described))


def _tables(database: Connection, files: TableFiles, called: str) -> list[tuple[str, str, bool]]:
    """Attach a DuckDB database; return schema and name of its tables, and True if computed."""
    place = literal(str(files.paths[0].absolute()))
    database.execute(f"ATTACH {place} AS {identifier(called)} (READ_ONLY, TYPE duckdb)")
    return database.execute(
        "SELECT schema_name, table_name, contains(sql, 'GENERATED ALWAYS AS') FROM duckdb_tables() "
        "WHERE database_name = $1 AND NOT internal UNION ALL SELECT schema_name, view_name, true "
        "FROM duckdb_views() WHERE database_name = $1 AND NOT internal ORDER BY ALL",
        [called],
    ).fetchall()


def _choose_table(files: TableFiles, there: dict[str, bool]) -> str:
    """Return the requested table, or the only one that is stored."""
    if files.table is None:
        stored = [name for name, computed in there.items() if not computed]
        if len(stored) == 1:
            return stored[0]
        if not there:
            raise files.error("the database holds no tables; expected one")
        held = f"several tables ({listed(stored)})" if stored else f"views ({listed(list(there))})"
        raise files.error(f"the database holds {held}; expected one of them (table=)")
    if files.table not in there:
        expected = f"expected one of {listed(list(there))}{suggestion(files.table, there)}"
        raise files.error(f"there is no table {files.table!r}; {expected}")
    return files.table


# --- Computed rows: views and generated columns


def _compute_apart(files: TableFiles, name: str, copy: Path, memory_limit: str | None) -> None:
    """Compute a view in another process, with a time limit, and copy its rows."""
    most = _seconds([files]) or 0
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
    if done.returncode == _EXIT_OTHER_FILES:
        raise files.error(f"{name!r} reads other files; expected a view of its own database")
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").split("\n")
        reason = next((line.strip() for line in reversed(lines) if line.strip()), "no reason given")
        raise files.error(f"{name!r} cannot be computed: {reason[:200]}")


def compute(kind: str, path: str, table: str, copy: str, memory_limit: str) -> None:
    """Copy the rows of a computed table into a new DuckDB database; the other process runs this."""
    import duckdb

    place = Path(path)
    files = TableFiles(name=path, kind=kind, paths=(place,), table=table, size=place.stat().st_size)
    try:
        with connected(memory_limit or None) as database:
            lock(database, [], _files_of(files, Path(copy)))
            database.execute(f"ATTACH {literal(copy)} AS copied")
            rows = _attach(database, files, "source").table
            database.execute(f"CREATE TABLE copied.main.rows AS FROM {rows}")
    except duckdb.PermissionException:
        sys.exit(_EXIT_OTHER_FILES)
    except (duckdb.Error, InputError) as error:
        sys.exit(str(error).strip().split("\n")[0])


def _too_long(files: TableFiles, name: str, most: int) -> InputError:
    what = f"{name!r} takes more than {most} s"
    return files.error(f"{what}; expected a table of rows that are stored")


# --- SQLite


@contextmanager
def _sqlite(files: TableFiles) -> Iterator[Any]:
    """Open a SQLite database read-only, without trusting functions in its schema."""
    import sqlite3

    try:
        place = files.paths[0].absolute().as_uri()
        with closing(sqlite3.connect(f"{place}?mode=ro", uri=True)) as source:
            source.execute("PRAGMA trusted_schema = OFF")
            yield source
    except (sqlite3.Error, UnicodeError) as error:
        raise files.error(f"is no database that can be read: {error}") from None


def _sqlite_tables(files: TableFiles) -> list[tuple[str, str, bool]]:
    """Return schema and name of the tables of a SQLite database, and True if computed."""
    # stored tables have a root page; views and virtual tables have none
    with _sqlite(files) as source:
        rows = source.execute(
            "SELECT name, type = 'table' AND rootpage > 0 FROM sqlite_master WHERE type IN "
            "('table', 'view') AND name NOT LIKE 'sqlite^_%' ESCAPE '^' ORDER BY name"
        ).fetchall()
        generated = "SELECT count(*) FROM pragma_table_xinfo(?) WHERE hidden > 0"
        return [
            ("main", name, not stored or source.execute(generated, [name]).fetchone()[0] > 0)
            for name, stored in rows
        ]


def _read_sqlite(database: Connection, files: TableFiles, name: str, called: str) -> TableFiles:
    """Copy a SQLite table into DuckDB as JSON, because a column may hold values of any type."""
    most = _seconds([files]) or 0
    last = time.monotonic() + most
    with _sqlite(files) as source:
        source.set_progress_handler(lambda: time.monotonic() > last, _SQLITE_STEPS_PER_CLOCK_CHECK)
        try:
            rows = source.execute(f"SELECT * FROM {identifier(name)}")
            columns = [entry[0] for entry in rows.description]
            own = ", ".join(f"c{i} JSON" for i in range(len(columns)))
            database.execute(f"CREATE TEMP TABLE {called}_rows ({own})")
            while batch := rows.fetchmany(_SQLITE_BATCH):
                block: Any = {
                    f"c{i}": np.array([_json(value) for value in values], dtype=object)
                    for i, values in enumerate(zip(*batch, strict=True))
                }
                database.register("block", block)
                database.execute(f"INSERT INTO {called}_rows SELECT * FROM block")
                database.unregister("block")
        except source.OperationalError as error:
            if time.monotonic() > last:
                raise _too_long(files, name, most) from None
            raise error from None
    names = ", ".join(f"c{i} AS {identifier(column)}" for i, column in enumerate(columns))
    database.execute(f"CREATE TEMP VIEW {called} AS SELECT {names} FROM {called}_rows")
    return replace(files, table=called, columns=tuple(columns))


def _json(value: Any) -> str | None:
    if is_missing(value):
        return None
    return json.dumps(value.decode() if isinstance(value, bytes) else value, ensure_ascii=False)


# --- Columns of tables that the engine counts

_NESTED = re.compile(r"\[\d*\]$|^(STRUCT|MAP|UNION)\b")
_ENCODINGS = ("utf-8", "utf8", "ascii")


def _given(*columns: str | None) -> list[str]:
    """Return those of some columns that are given."""
    return [column for column in columns if column is not None]


@contextmanager
def _opened(
    tables: Tables, memory_limit: str | None
) -> Iterator[tuple[Connection, list[TableFiles]]]:
    """Yield a connection that sees these tables, and the tables under their names there."""
    import duckdb

    with connected(memory_limit) as database:
        attached, most = list(tables), _seconds(tables)
        stored = [path for t in tables if t.kind not in DATABASES for path in t.paths]
        databases = [i for i, files in enumerate(tables) if files.kind in DATABASES]
        copies = {i: folder_of(database) / f"table_{i}" for i in databases}
        try:
            lock(database, stored, [p for i in copies for p in _files_of(tables[i], copies[i])])
            with _limited(database, most):
                for i, copy in copies.items():
                    first = tables.index(tables[i])
                    if first == i:
                        attached[i] = _attach(database, tables[i], copy.name, copy, memory_limit)
                    else:  # the same table again
                        attached[i] = attached[first]
                yield database, attached
        except duckdb.InterruptException:
            problem = f"takes more than {most} s"
            expected = "expected a smaller database, or Parquet"
            raise attached[0].error(f"{problem}; {expected}") from None
        except duckdb.Error as error:
            raise _explain(error, attached, memory_limit) from None


def _described(database: Connection, files: TableFiles, columns: Sequence[str]) -> TableFiles:
    """Return a table with the types of the requested columns; refuse missing or nested columns."""
    if files.kind == "parquet":
        files = check_types(database, files, columns)
    check_columns(files, columns)
    asked = list(dict.fromkeys(columns))
    rows = database.execute(f"DESCRIBE FROM {files.scan(asked)}").fetchall()
    types = dict(zip(asked, (row[1] for row in rows), strict=True))
    for column, kind in types.items():
        if _NESTED.search(kind):
            raise NeedsRowsError(f"column {column!r} holds lists or objects ({kind})")
    return replace(files, types=types)


def _labels_of(
    files: TableFiles,
    columns: Sequence[str],
    values: Sequence[Sequence[Any]],
    kinds: Kinds,
    unit: str | None,
    options: Options,
    *,
    tell: bool = True,
) -> list[Any]:
    """Return the labels of columns with repeats (a group is last); ``tell`` notes the engine."""
    total, group = int(kinds.number.sum()), options.group
    if not total:
        raise files.error(NO_ROWS)
    for column, own in zip(columns, values, strict=True):
        without = sum(int(n) for v, n in zip(own, kinds.number, strict=True) if is_missing(v))
        if without and column != group:  # a group may be missing
            raise files.error(f"column {column!r} {missing_labels(without, total)}")
        wrong = next((v for v in own if isinstance(v, (list, dict))), None)
        if isinstance(wrong, list):
            raise NeedsRowsError(f"column {column!r} holds lists")
        if wrong is not None:
            raise files.error(f"column {column!r} holds {shown(wrong)}; {EXPECTED_LABEL}")
    if kinds.without_unit:
        raise files.error(f"column {unit!r} {missing_labels(kinds.without_unit, total)}")
    coded = ((column, *factorise(own)) for column, own in zip(columns, values, strict=True))
    read = {column: (codes[kinds.row], distinct) for column, codes, distinct in coded}
    repeats = Repeats(kinds.times, kinds.units)
    units = None if kinds.unit is None else kinds.unit.astype(np.int32)
    labels = list(columns) if group is None else list(columns[:-1])
    reason = None if options.task == "labels" else tags_reason(read[labels[0]][1])
    if reason is not None:  # tags of tokens need their sentences
        raise NeedsRowsError(f"column {labels[0]!r} holds tags ({reason}; or task='labels')")
    cells = Cells(files.kind, labels, unit, read, repeats=repeats, units=units, group=group)
    source = Source(files.name, b" ")
    first, *others = Sides(cells, replace(options, task="labels"), files.name, source).make()
    note = f"{files.name}: {total:,} rows, counted by the engine: no single row can be shown"
    return [replace(first, notes=(*first.notes, note)) if tell else first, *others]


# --- Errors of the engine

_LINE = re.compile(r"Line: (\d+)")
_WIDTH = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")


def _explain(error: Exception, tables: Tables, memory_limit: str | None = None) -> InputError:
    """Turn an error of the engine into one line that names the file."""
    message = str(error).strip()
    # the table and the file that it names; the first table if neither
    files, path = tables[0], None
    places = [(table, own) for table in tables for own in table.paths]
    for table, own in reversed(places):
        escaped = glob.escape(os.path.abspath(own))  # noqa: PTH100  # as in `literal_path`
        if escaped in message or str(own.absolute()) in message:
            files, path = table, own
    first = message.splitlines()[0] if message else "no reason given"
    if "Out of Memory" in first or "max_temp_directory_size" in message:
        place = f"{memory_limit or 'the memory'} and the space for temporary files"
        return files.error(f"does not fit into {place}; expected more (memory_limit=)")
    if first.endswith(EXPECTED_LABEL):  # raised by `sql_text`
        return files.error(first.split(": ", 1)[1])
    line = _LINE.search(message)
    number = int(line[1]) if line else None
    width = _WIDTH.search(message)
    if width:
        return files.error(f"{width[2]} cells; expected {width[1]}, as in the header", path, number)
    if "nicode" in message or "utf-8" in message.lower():
        expected = "expected UTF-8, or a smaller file and its encoding (encoding=)"
        return files.error(f"is not UTF-8; {expected}", path, number)
    if files.kind == "jsonl" and path is not None:
        found = first_bad_line(files.shown(path), path)
        if found is not None:
            return found
    reason = first.split(": ", 1)[-1]
    if number is not None:  # errors of CSV give the reason further below
        reason = next((text for text in message.splitlines()[2:] if text.strip()), reason)
    for _, own in places:
        for quote in ('"', "'"):
            reason = reason.replace(f"{quote}{own.absolute()}{quote}", "it")
    return files.error(f"is no table that can be read: {reason.rstrip('. ')}", path, number)


_EXPECTED_LABELS = "expected columns of labels, or one smaller file"
MANY_ROWS = 1_000_000  # rows above which the engine counts a Parquet file


def read_large_pair(
    path: Any, options: Options, gold: Any, columns: Sequence[Any], choices: ReadingOptions
) -> tuple[Labels, list[Labels], list[str]] | None:
    """Read gold and systems from a table that the engine counts; None if it does not count it."""
    files = _large_table(path, options, [gold, *columns], choices)
    if files is None:
        return None
    try:
        with _opened([files], choices.memory_limit) as (database, (table,)):
            answer, *systems = _count(database, table, options, gold, columns)
    except NeedsRowsError as reason:
        if not _can_be_read_by_rows(files):
            raise files.error(f"{reason}; {_EXPECTED_LABELS}") from None
        return None
    return answer, systems, [system.name for system in systems]


def sum_large_scores(
    path: Any,
    options: Options,
    columns: Sequence[str],
    choices: ReadingOptions,
    range_: tuple[float, float] | None,
) -> SummedScores | None:
    """Sum the graded scores of a large table by unit; None if the engine does not count it."""
    files = _large_table(path, options, columns, choices)
    if files is None:
        return None
    with _opened([files], choices.memory_limit) as (database, (table,)):
        named, names, unit = _choose_names(database, table, columns, options)
        scanned = _described(database, named, [*names, *_given(unit)])
        own = [f"{_number(scanned, name)} AS s{k}" for k, name in enumerate(names)]
        own.append(f"{scanned.text(unit or '')} AS u")
        rows = f"SELECT {', '.join(own)} FROM {scanned.scan(list(scanned.types))}"
        systems = {name: f"s{k}" for k, name in enumerate(names)}
        try:
            with watched(database):
                relation = database.sql(rows)
                return sum_table(relation, systems, unit="u", range_=range_, drop=True)[None]
        except InputError as error:
            text = _NO_NUMBER.search(str(error))
            said = f"{text[1]} is no score; expected numbers" if text else str(error)
            raise files.error(said.replace("'u'", repr(unit))) from None


_NO_NUMBER = re.compile(r"Could not convert string ('.*') to DOUBLE")


def _number(table: TableFiles, column: str) -> str:
    """Return a column of scores as an SQL expression for numbers."""
    value = table.called(column)
    if table.types[column] in ("VARCHAR", "JSON"):
        value = f"nullif(trim({table.text(column)}), '')"
    return f"CAST({value} AS DOUBLE)"


def _can_be_read_by_rows(files: TableFiles) -> bool:
    """Return True if the table is one plain file, which can also be read row by row."""
    return len(files.paths) == 1 and not is_many(files.name) and files.kind not in DATABASES


def _large_table(
    path: Any, options: Options, columns: Sequence[Any], choices: ReadingOptions
) -> TableFiles | None:
    """Return the table at a path if the engine should count it, else None."""
    if not is_path_of_table(path):
        return None
    asked = choices.memory_limit is not None or choices.table is not None
    if not (asked or is_many(path) or _is_large(Path(path))):
        return None
    files = find_tables(path, comments=options.comments, header=options.header, table=choices.table)
    refused = {
        f"task={options.task!r}": options.task not in (None, "labels"),
        "multilabel=": options.multilabel,
        "probability_columns=": options.probability_columns,
        f"input_format={options.input_format!r}": options.input_format not in (None, "table"),
        f"encoding={options.encoding!r}": (options.encoding or "utf8").lower() not in _ENCODINGS,
    }
    why = next((name for name, is_given in refused.items() if is_given), None)
    if files is None or (why and _can_be_read_by_rows(files)):
        return None
    if why:
        raise files.error(f"{why} needs rows; {_EXPECTED_LABELS}")
    if files.kind in ("csv", "tsv", "jsonl") and not _is_table(files, options, columns):
        return None
    return files


def _is_large(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        kind = kind_of(path)
        if kind != "parquet":
            return kind in DATABASES or path.stat().st_size >= LARGE_TEXT
    except (OSError, ValueError):
        return False  # reported when it is read
    import duckdb

    try:
        with connected() as database:
            asked = f"SELECT sum(num_rows) FROM parquet_file_metadata({literal_path(path)})"
            ((rows,),) = database.execute(asked).fetchall()
    except duckdb.Error:
        return False
    return int(rows) > MANY_ROWS


def _is_table(files: TableFiles, options: Options, columns: Sequence[Any]) -> bool:
    """Return True if the first lines are those of a table, by the rules for all files."""
    head = head_of(files.paths[0], files.shown(files.paths[0]))
    if options.input_format is not None:
        return True
    if all(c is None or is_number(str(c)) for c in columns):
        return recognise(head, options).kind == "table"
    tool = Glance(head, options).tool
    return tool is None or FORMATS[tool[0]].pair is None


def _count(
    database: Connection, files: TableFiles, options: Options, gold: Any, columns: Sequence[Any]
) -> list[Any]:
    wanted = [gold, *columns] if columns else [gold, None]
    files, names, unit = _choose_names(database, files, wanted, options)
    group = _named(files, options.group, options)
    scanned = _described(database, files, [*names, *_given(unit, group), *options.key])
    if options.key:  # refuse repeated ids and rows without an id
        alone = _matched([scanned], names[:1], replace(options, group=None), None)
        database.execute(f"CREATE TEMP TABLE matched AS {alone}")
        _settle(database, [scanned], options.key, "error")
    if group in names:  # one column would be both labels and groups
        raise NeedsRowsError(f"column {group!r} holds labels and groups")
    every = [*names, *_given(group)]
    own = [f"{scanned.called(column)} AS c{i}" for i, column in enumerate(every)]
    own += [f"{scanned.text(name)} AS u" for name in _given(unit)]
    rows = f"SELECT {', '.join(own)} FROM {scanned.scan([*every, *_given(unit)])}"
    with watched(database):
        kinds = count_kinds(database, rows, len(every), has_unit=unit is not None)
    held = zip(every, kinds.values, strict=True)
    values = [[scanned.value(column, value) for value in cells] for column, cells in held]
    if options.blank is not None and any(is_missing(v) for cells in values for v in cells):
        raise NeedsRowsError("some cells are blank")
    return _labels_of(scanned, every, values, kinds, unit, replace(options, group=group))


def _choose_names(
    database: Connection, files: TableFiles, wanted: Sequence[Any], options: Options
) -> tuple[TableFiles, list[str], str | None]:
    """Return the table with its column names, those of labels, and that of units."""
    if files.kind == "parquet" and not files.columns:  # only the engine knows them
        own = [name for name, _ in columns_of_file(database, files.paths[0])]
        files = replace(files, columns=(*own, *files.partitions))
    names = [_named(files, column, options) for column in wanted]
    unit = _named(files, options.unit, options)
    predicted = options.predicted and len(wanted) == 1
    there = list(dict.fromkeys(files.columns))
    chosen, _ = choose_columns(Wanted(names, unit, predicted=predicted), there, files.error)
    return files, chosen, unit


def _named(files: TableFiles, column: Any, options: Options) -> str | None:
    """Return the name of a column that is given by its name or by its number."""
    if column is None or files.kind not in ("csv", "tsv") or not is_number(str(column)):
        return None if column is None else str(column)
    name, there = str(column), files.columns
    if name in there and options.header is not False:
        return name
    if options.header is None:
        problem = f"column {name} is asked for by its number"
        raise files.error(f"{problem}; expected header=True or header=False")
    return there[place_of_number(name, len(there), files.error)]


# --- Joining large tables by id
# The engine joins them; rows may be in any order.

_STAND_IN = "\x00"  # label of a missing row; sorts before all others


def read_large_joined(
    paths: Sequence[Any], columns: Names, options: Options, choices: ReadingOptions
) -> tuple[Labels, list[Labels], list[str]] | None:
    """Read gold (the first), the systems and notes from tables joined by id; None if all small."""
    if not all(map(is_path_of_table, paths)):
        return None
    large = [_large_table(path, options, [None], choices) for path in paths]
    if all(files is None for files in large):
        return None
    tables = []
    for path, files in zip(paths, large, strict=True):
        own = files or find_tables(path, comments=options.comments, header=options.header)
        if own is None:
            expected = "expected CSV, TSV, JSON lines or Parquet"
            raise InputError(f"is no table to be joined (key=); {expected}", path)
        tables.append(own)
    try:
        with _opened(tables, choices.memory_limit) as (database, attached):
            return _join(database, attached, columns, options, choices.on_missing)
    except NeedsRowsError as reason:
        if all(map(_can_be_read_by_rows, tables)):
            return None
        raise InputError(f"key: {reason}; {_EXPECTED_LABELS}") from None


def _join(
    database: Connection, tables: Tables, columns: Names, options: Options, on_missing: str
) -> tuple[Labels, list[Labels], list[str]]:
    scanned, names, unit = [], [], None
    for place, (files, column) in enumerate(zip(tables, columns, strict=True)):
        of_side = replace(options, predicted=place > 0, unit=None if place else options.unit)
        named, (name,), own_unit = _choose_names(database, files, [column], of_side)
        beside = [] if place else _given(own_unit, options.group)
        scanned.append(_described(database, named, [name, *options.key, *beside]))
        names.append(name)
        unit = unit if place else own_unit
    with watched(database):
        database.execute(f"CREATE TEMP TABLE matched AS {_matched(scanned, names, options, unit)}")
    notes = _settle(database, scanned, options.key, on_missing)
    width = len(tables)
    fits = [f"n{i} = 1" for i in range(width if on_missing == "drop" else 1)]
    selected = [f"v{i} AS c{i}, n{i} AS c{width + i}" for i in range(width)]
    selected += [f"g AS c{2 * width}" for _ in _given(options.group)]
    selected += ["w AS u" for _ in _given(unit)]
    rows = f"SELECT {', '.join(selected)} FROM matched WHERE {' AND '.join(fits)}"
    size = 2 * width + (options.group is not None)
    with watched(database):
        kinds = count_kinds(database, rows, size, has_unit=unit is not None)
    sides = []  # the labels of gold and of the systems, each with its own notes
    for i, (table, name) in enumerate(zip(scanned, names, strict=True)):
        held = list(zip(kinds.values[i], kinds.values[width + i], strict=True))
        own = [table.value(name, value) if n else _STAND_IN for value, n in held]
        plain = replace(options, key=(), group=None if i else options.group)
        groups = _given(plain.group)
        of_group = [[table.value(g, value) for value in kinds.values[2 * width]] for g in groups]
        cells = [name, *groups], [own, *of_group]
        (side,) = _labels_of(table, *cells, kinds, unit, plain, tell=not i)
        if not all(kinds.values[width + i]):  # some rows are missing
            labels = (NOTHING if label == _STAND_IN else label for label in side.names)
            side = replace(side, names=tuple(labels))
        sides.append(side)
    return sides[0], sides[1:], notes


def _matched(tables: Tables, names: Sequence[str], options: Options, unit: str | None) -> str:
    """Return the statement that gives one row per id."""
    # a row has the number of rows of each table, their labels, the unit and group of gold, and the
    # id if some table does not have exactly one row of it
    width, key, group = len(tables), options.key, options.group
    parts = []
    for place, (table, name) in enumerate(zip(tables, names, strict=True)):
        own = [f"{table.text(column)} AS k{i}" for i, column in enumerate(key)]
        own.append(f"{place} AS side")
        own += [f"{table.called(name) if i == place else 'NULL'} AS v{i}" for i in range(width)]
        if unit is not None:
            own.append(f"{table.text(unit) if not place else 'NULL'} AS w")
        if group is not None:
            own.append(f"{table.called(group) if not place else 'NULL'} AS g")
        asked = [*key, name, *([] if place else _given(unit, group))]
        parts.append(f"SELECT {', '.join(own)} FROM {table.scan(asked)}")
    keys = ", ".join(f"k{i}" for i in range(len(key)))
    selected = [f"count(*) FILTER (side = {i}) AS n{i}" for i in range(width)]
    kept = [f"v{i}" for i in range(width)]
    kept += ["w"] * (unit is not None) + ["g"] * (group is not None)
    selected += [f"any_value({name}) AS {name}" for name in kept]
    fits = " AND ".join(f"n{i} = 1" for i in range(width))
    lost = " OR ".join(f"k{i} IS NULL" for i in range(len(key)))
    return (
        f"SELECT * EXCLUDE ({keys}), ({lost}) AS lost, CASE WHEN NOT ({fits}) THEN "
        f"concat_ws(', ', {keys}) END AS id FROM (SELECT {keys}, {', '.join(selected)} FROM "
        f"({' UNION ALL '.join(parts)}) GROUP BY {keys})"
    )


def _settle(database: Connection, tables: Tables, key: Sequence[str], on_missing: str) -> list[str]:
    """Refuse missing, extra and repeated ids, or return notes on them, as on_missing asks."""
    wrong = []
    for i, table in enumerate(tables):
        which = [f"n0 > 0 AND n{i} = 0", f"n0 = 0 AND n{i} > 0", f"n{i} > 1"]
        filters = [f"FILTER ({own} AND NOT lost)" for own in which]
        parts = ", ".join(f"count(*) {own}, min(id, 3) {own}" for own in filters)
        asked = f"SELECT {parts}, coalesce(sum(n{i}) FILTER (lost), 0) FROM matched"
        ((*found, without),) = database.execute(asked).fetchall()
        examples = [tuple(own or ()) for own in found[1::2]]
        missing, extra, doubled = zip(found[::2], examples, strict=True)
        wrong.append(Mismatch(table.name, missing, extra, doubled, int(without)))
    every = " AND ".join(f"n{i} > 0" for i in range(len(tables)))
    counted = f"SELECT count(*) FILTER (n0 > 0), count(*) FILTER ({every}) FROM matched"
    ((answered, common),) = database.execute(counted).fetchall()
    return settle(wrong, key, on_missing, answered, common)
