"""Run DuckDB in memory, reading only the given files: large tables, and Parquet of any size.

Names and paths come from users; they enter a statement only through `identifier` and `literal`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import shown
from probative.errors import InputError
from probative.reading.tables import Cells, choose_columns, refuse_records, refuse_twins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import duckdb

    from probative.reading.source import Source
    from probative.reading.table_files import TableFiles
    from probative.reading.tables import Wanted

_MEMORY_LIMIT = "1GB"
_MEMORY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(KB|MB|GB|TB|KiB|MiB|GiB|TiB)\s*", re.ASCII)
_SMALLEST_MEMORY_LIMIT = 50e6  # bytes; with less the engine cannot even read a file
_MAGIC = re.compile(r"[*?\[]")
_PROGRESS_INTERVAL = 0.2  # seconds

# callback for the share of a query that is done, or None
_tell: ContextVar[Callable[[float], None] | None] = ContextVar("tell", default=None)


def identifier(name: str) -> str:
    """Quote the name of a column or table for a statement."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Quote a text for a statement."""
    return "'" + text.replace("'", "''") + "'"


def literal_path(path: str | Path) -> str:
    """Quote the path of one file for a statement, with pattern characters escaped."""
    absolute = os.path.abspath(path)  # noqa: PTH100  # keeps symbolic links
    return literal(_MAGIC.sub(lambda sign: f"[{sign[0]}]", absolute))


def lock(
    database: duckdb.DuckDBPyConnection, paths: Iterable[Path], attached: Iterable[Path] = ()
) -> None:
    """Restrict a database to these files, permanently."""
    # A path with pattern characters needs access to a folder, because DuckDB searches it. The paths
    # of ``attached`` databases are never treated as patterns.
    plain, folders = [str(path.absolute()) for path in attached], set()
    for path in map(Path, map(os.path.abspath, paths)):
        if _MAGIC.search(str(path)):
            folder = next(own for own in path.parents if not _MAGIC.search(str(own)))
            folders.add(os.path.join(folder, ""))  # noqa: PTH118  # with a separator at its end
        else:
            plain.append(str(path))
    database.execute(
        f"SET allowed_paths = [{', '.join(map(literal, plain))}]; "
        f"SET allowed_directories = [{', '.join(map(literal, sorted(folders)))}]; "
        f"SET enable_external_access = false; SET lock_configuration = true"
    )


def check_memory_limit(value: Any) -> str:
    """Return the memory limit without spaces; refuse what is no size such as ``2GB``."""
    match = _MEMORY.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise InputError(f"memory_limit: {shown(value)}; expected a size such as '2GB'")
    base = 1024 if "i" in match[2] else 1000
    if float(match[1]) * base ** (1 + "KMGT".index(match[2][0])) < _SMALLEST_MEMORY_LIMIT:
        raise InputError(f"memory_limit: {value!r} is too small; expected at least '50MB'")
    return f"{match[1]}{match[2]}"


@contextmanager
def connected(memory_limit: str | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield an empty database in memory, with a temporary folder for what exceeds the limit."""
    import duckdb

    folder = Path(tempfile.mkdtemp(prefix="probative-"))
    guard = _guard(folder)
    settings: dict[str, Any] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "memory_limit": memory_limit or _MEMORY_LIMIT,
        "preserve_insertion_order": "false",
        "temp_directory": str(folder / "spilled"),
    }
    try:
        with duckdb.connect(":memory:", config=settings) as database:
            yield database
    finally:
        if guard is not None and guard.stdin is not None:
            guard.stdin.close()
            guard.wait()
        shutil.rmtree(folder, ignore_errors=True)


def folder_of(database: duckdb.DuckDBPyConnection) -> Path:
    """Return the temporary folder of a database that `connected` made."""
    ((place,),) = database.execute("SELECT current_setting('temp_directory')").fetchall()
    return Path(place).parent


def _guard(folder: Path) -> subprocess.Popen[bytes] | None:
    """Start a process that removes the folder when this process ends, even if it is killed."""
    shell = shutil.which("sh")
    if shell is None:
        return None
    try:
        return subprocess.Popen(  # noqa: S603  # waits until this process closes the pipe
            [shell, "-c", 'cat >/dev/null; rm -rf -- "$1"', shell, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # signals to this process group do not end the guard
        )
    except OSError:
        return None


@contextmanager
def telling(tell: Callable[[float], None]) -> Iterator[None]:
    """Call a function with the share of a query that is done, from 0 to 1, while any runs."""
    token = _tell.set(tell)
    try:
        yield
    finally:
        _tell.reset(token)


@contextmanager
def watched(database: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Report the progress of the query that a database runs, if `telling` is active."""
    tell = _tell.get()
    if tell is None:
        yield
        return
    done = threading.Event()

    def look() -> None:
        while not done.wait(_PROGRESS_INTERVAL):
            tell(max(0.0, float(database.query_progress()) / 100))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


# --- Parquet files: column names and types


def columns_of_file(
    database: duckdb.DuckDBPyConnection, path: Path
) -> list[tuple[str, tuple[str, ...]]]:
    """Return the columns of a file by their names in it, each with its types."""
    # DuckDB itself would rename a second column of the same name
    query = (
        f"SELECT name, coalesce(num_children, 0), type, converted_type, logical_type::VARCHAR "
        f"FROM parquet_schema({literal_path(path)})"
    )
    (_, number, *_), *fields = database.execute(query).fetchall()
    columns = []
    for _ in range(number):
        (name, children, *kind), *fields = fields
        while children:  # parts of a nested column
            (_, more, *inner), *fields = fields
            kind += inner
            children += more - 1
        columns.append((name, tuple(map(str, kind))))
    return columns


def check_types(
    database: duckdb.DuckDBPyConnection, files: TableFiles, columns: Sequence[str]
) -> TableFiles:
    """Return the table with the columns of each file; refuse columns whose type varies."""
    # the engine would convert the numbers of one file to the type of another: 0.5 would become 0
    of_files = [columns_of_file(database, path) for path in files.paths]
    headers = tuple(tuple(name for name, _ in own) for own in of_files)
    files = replace(files, headers=headers, columns=(*headers[0], *files.partitions))
    for column in dict.fromkeys(columns):
        kinds = [next((kind for name, kind in own if name == column), None) for own in of_files]
        for path, own in zip(files.paths, kinds, strict=True):
            if own is not None and kinds[0] is not None and own != kinds[0]:
                mine, theirs = (k[0] if k[1] == "None" else k[1] for k in (own, kinds[0]))
                problem = f"column {column!r} is {mine}, but {theirs} in {files.paths[0]}"
                raise files.error(f"{problem}; expected the same type in every file", path)
    return files


# --- Parquet files: cells and lists of a single one

_BYTES_PER_CELL = 8  # at least, once it is read
_METADATA = "huggingface"  # key of the metadata that Hugging Face datasets write


def list_columns(source: Source) -> list[str]:
    """Return the columns of a Parquet file that hold lists."""
    with _opened_parquet(source) as (_, _, columns):
        return [name for name, kind in columns if kind.endswith("[]")]


def parquet_rows(
    source: Source, *, lists: bool = False, most: int | None = None
) -> tuple[list[dict[str, Any]], str | None]:
    """Return the rows (with columns of lists alone), and Hugging Face's metadata on the columns."""
    with _opened_parquet(source) as (database, place, columns):
        wanted = [not lists or kind.endswith("[]") for _, kind in columns]
        chosen = {f"c{i}": name for i, (name, _) in enumerate(columns) if wanted[i]}
        if source.limit is not None and lists and chosen:
            sizes = " + ".join(f"coalesce(strlen({column}::VARCHAR), 0)" for column in chosen)
            ((size,),) = database.execute(f"SELECT sum({sizes}) FROM source").fetchall()
            source.refuse_unpacking(int(size or 0))
        some = "" if most is None else f" LIMIT {most}"
        asked = f"SELECT {', '.join(chosen) or 'NULL'} FROM source ORDER BY place{some}"
        rows = database.execute(asked).fetchall()
        metadata = database.execute(
            f"SELECT decode(value) FROM parquet_kv_metadata({literal_path(place)}) "
            f"WHERE decode(key) = ?",
            [_METADATA],
        ).fetchall()
    records = [dict(zip(chosen.values(), row, strict=False)) for row in rows]
    return records, metadata[0][0] if metadata else None


def read_parquet_cells(source: Source, wanted: Wanted) -> Cells:
    """Read columns of a table; DuckDB numbers their distinct values."""
    with _opened_parquet(source) as (database, _, columns):
        there = [name for name, _ in columns]
        refuse_twins(source, there)
        names, unit, asked = choose_columns(wanted, there, source.error)
        lists = {name for name, kind in columns if kind.endswith("[]")}
        objects = {name for name, kind in columns if kind.startswith(("STRUCT", "MAP"))}
        refuse_records(wanted, names, there, objects, lists, source.error)
        read = {}
        for name in asked:
            column = f"c{there.index(name)}"
            database.execute(
                f"CREATE OR REPLACE TABLE names AS SELECT v, row_number() OVER () - 1 AS code "
                f"FROM (SELECT DISTINCT {column} AS v FROM source)"
            )
            values = database.execute("SELECT v FROM names ORDER BY code").fetchall()
            joined = f"source JOIN names ON {column} IS NOT DISTINCT FROM v"
            found = database.execute(f"SELECT code FROM {joined} ORDER BY place").fetchnumpy()
            codes = np.asarray(found["code"], dtype=np.int32)
            read[name] = codes, [value for (value,) in values]
        return Cells("parquet", names, unit, read, group=wanted.group)


@contextmanager
def _opened_parquet(
    source: Source,
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path, list[tuple[str, str]]]]:
    """Yield a connection with the view `source`, the path of the file, and the columns' types."""
    # In the view, columns are c0, c1, … and the row number is `place`, because a file may have any
    # names. Data from a pipe are written to a temporary file.
    import duckdb

    with tempfile.TemporaryDirectory() as folder, connected() as database:
        place = source.path
        if place is None:
            place = Path(folder) / "table.parquet"
            place.write_bytes(source.data)
        try:
            database.execute("SET preserve_insertion_order = true")
            lock(database, [place])
            names = [name for name, _ in columns_of_file(database, place)]
            columns = ", ".join(f"c{number}" for number in range(len(names)))
            database.execute(
                f"CREATE VIEW source AS SELECT {columns}, row_number() OVER () AS place FROM "
                f"read_parquet({literal_path(place)}, hive_partitioning = false) AS t({columns})"
            )
            if source.limit is not None:
                # a value of a million rows takes a few bytes here, but memory for every row
                ((size,),) = database.execute(
                    f"SELECT sum(greatest(total_uncompressed_size, {_BYTES_PER_CELL} * "
                    f"greatest(num_values, row_group_num_rows))) "
                    f"FROM parquet_metadata({literal_path(place)})"
                ).fetchall()
                source.refuse_unpacking(int(size or 0))
            described = database.execute("DESCRIBE source").fetchall()  # the last one is `place`
            yield database, place, [(n, row[1]) for n, row in zip(names, described, strict=False)]
        except (duckdb.Error, UnicodeError) as error:
            reason = str(error).strip().splitlines()[0].replace(literal_path(place), "it")
            raise source.error(f"is no table that can be read: {reason}") from None
