"""Run DuckDB in memory, reading only the given files: tables of any size, Parquet, databases.

Names and paths come from users; they enter a statement only through `identifier` and `literal`.
"""

from __future__ import annotations

import csv
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import shown
from probative.errors import InputError
from probative.files import find_paths
from probative.reading.source import Source, is_brat_folder, is_record_folder, kind_of, unreadable
from probative.reading.tables import (
    Cells,
    Wanted,
    choose_columns,
    delimited_rows,
    dialect_of,
    objects_of,
    refuse_records,
    refuse_twins,
)
from probative.tables.engines import check_column, listed
from probative.tables.query import sql_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

_MEMORY_LIMIT = "1GB"
_MEMORY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(KB|MB|GB|TB|KiB|MiB|GiB|TiB)\s*", re.ASCII)
_SMALLEST_MEMORY_LIMIT = 50e6  # bytes; with less the engine cannot even read a file
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
    return literal(glob.escape(os.path.abspath(path)))  # noqa: PTH100  # keeps symbolic links


def lock(database: Connection, paths: Iterable[Path], attached: Iterable[Path] = ()) -> None:
    """Restrict a database to these files, permanently."""
    # A path with pattern characters needs access to a folder, because DuckDB searches it. The paths
    # of ``attached`` databases are never treated as patterns.
    plain, folders = [str(path.absolute()) for path in attached], set()
    for path in map(Path, map(os.path.abspath, paths)):
        if glob.has_magic(str(path)):
            folder = next(own for own in path.parents if not glob.has_magic(str(own)))
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
def connected(memory_limit: str | None = None) -> Iterator[Connection]:
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


def folder_of(database: Connection) -> Path:
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
def watched(database: Connection) -> Iterator[None]:
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


def columns_of_file(database: Connection, path: Path) -> list[tuple[str, tuple[str, ...]]]:
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


def check_types(database: Connection, files: TableFiles, columns: Sequence[str]) -> TableFiles:
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
        held = f"SELECT decode(value) FROM parquet_kv_metadata({literal_path(place)})"
        metadata = database.execute(f"{held} WHERE decode(key) = ?", [_METADATA]).fetchall()
    records = [dict(zip(chosen.values(), row, strict=False)) for row in rows]
    return records, metadata[0][0] if metadata else None


def read_parquet_cells(source: Source, wanted: Wanted) -> Cells:
    """Read columns of a table; DuckDB numbers their distinct values."""
    with _opened_parquet(source) as (database, _, columns):
        there = [name for name, _ in columns]
        refuse_twins(source, there)
        names, asked = choose_columns(wanted, there, source.error)
        lists = {name for name, kind in columns if kind.endswith("[]")}
        objects = {name for name, kind in columns if kind.startswith(("STRUCT", "MAP"))}
        refuse_records(wanted, names, there, objects, lists, source.error)
        read = {}
        for name in asked:
            column = f"c{there.index(name)}"
            distinct = f"SELECT DISTINCT {column} AS v FROM source"
            numbered = f"SELECT v, row_number() OVER () - 1 AS code FROM ({distinct})"
            database.execute(f"CREATE OR REPLACE TABLE names AS {numbered}")
            values = database.execute("SELECT v FROM names ORDER BY code").fetchall()
            joined = f"source JOIN names ON {column} IS NOT DISTINCT FROM v"
            found = database.execute(f"SELECT code FROM {joined} ORDER BY place").fetchnumpy()
            codes = np.asarray(found["code"], dtype=np.int32)
            read[name] = codes, [value for (value,) in values]
        return Cells("parquet", names, wanted.unit, read, group=wanted.group)


@contextmanager
def _opened_parquet(source: Source) -> Iterator[tuple[Connection, Path, list[tuple[str, str]]]]:
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
            rows = f"read_parquet({literal_path(place)}, hive_partitioning = false) AS t({columns})"
            placed = f"SELECT {columns}, row_number() OVER () AS place FROM {rows}"
            database.execute(f"CREATE VIEW source AS {placed}")
            if source.limit is not None:
                # a value of a million rows takes a few bytes here, but memory for every row
                cells = f"{_BYTES_PER_CELL} * greatest(num_values, row_group_num_rows)"
                asked = f"SELECT sum(greatest(total_uncompressed_size, {cells}))"
                held = f"parquet_metadata({literal_path(place)})"
                ((size,),) = database.execute(f"{asked} FROM {held}").fetchall()
                source.refuse_unpacking(int(size or 0))
            described = database.execute("DESCRIBE source").fetchall()  # the last one is `place`
            yield database, place, [(n, row[1]) for n, row in zip(names, described, strict=False)]
        except (duckdb.Error, UnicodeError) as error:
            reason = str(error).strip().splitlines()[0].replace(literal_path(place), "it")
            raise source.error(f"is no table that can be read: {reason}") from None


# --- The files of a table of any size: a file, a folder, a pattern or a database
# Only the beginnings of files are read here: their kind and the names of their columns.

DATABASES = ("sqlite", "duckdb")
_HEAD = 1 << 16  # bytes read from the beginning of a text
_GZIP = b"\x1f\x8b"
_ENDINGS = dict.fromkeys((".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".txt"), "text")
_ENDINGS |= dict.fromkeys((".parquet", ".pq", ".parq"), "parquet")
# a NULL marker that no file holds, so that empty cells are empty text, as for Python's reader
_NO_NULL = f"\x01{os.urandom(16).hex()}"
_PATH = "\x02"  # name of the column with the path of a row's file
_PLACE = "\x01"  # begins the names of columns by their positions, which no file has
_NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"  # a folder's word for a missing value
_LONGEST_LINE = 1 << 24  # bytes; the engine keeps some such buffers for every core
# unlike the methods of paths, False for names that no file can have
_exists, _is_dir = os.path.exists, os.path.isdir


@dataclass(frozen=True, kw_only=True)
class TableFiles:
    """One table, in one or more files."""

    name: str  # the word that was given for it
    kind: str  # csv, tsv, jsonl, parquet, sqlite or duckdb
    paths: tuple[Path, ...]
    columns: tuple[str, ...] = ()  # the names of its columns
    partitions: tuple[str, ...] = ()  # further columns, from folders such as ``day=2024-01-01``
    header: bool = True  # the first line of a text names the columns
    dialect: dict[str, Any] = field(default_factory=dict)  # of a text, for Python's csv reader
    headers: tuple[tuple[str, ...], ...] = ()  # the columns of each file (text, Parquet) in order
    comments: bool = False  # lines that begin with # are skipped
    table: str | None = None  # the table of a database
    size: int = 0  # of the files in bytes
    types: dict[str, str] = field(default_factory=dict)  # the engine's, of requested columns

    def error(self, message: str, path: Path | None = None, line: int | None = None) -> InputError:
        """Return an error in this table, or in one of its files."""
        return InputError(message, self.name if path is None else self.shown(path), line)

    def shown(self, path: Path) -> str:
        """Return the name of a file in messages: as it was given, if it is the only one."""
        return self.name if len(self.paths) == 1 and not is_many(self.name) else str(path)

    def called(self, column: str) -> str:
        """Return the name of a column in `scan`; the engine ignores case in names."""
        return f"column_{self.columns.index(column)}"

    def text(self, column: str) -> str:
        """Return a column as an SQL expression for its text, NULL if empty; JSON without quotes."""
        return sql_text(self.called(column), self.types[column], column)

    def value(self, column: str, value: Any) -> Any:
        """Convert a value of the engine to a Python value."""
        return json.loads(value) if value is not None and self.types[column] == "JSON" else value

    def scan(self, asked: Sequence[str]) -> str:
        """Return what stands after FROM to read these columns, under the names of `called`."""
        columns = list(dict.fromkeys(asked))
        if self.kind in DATABASES:  # attached before
            return self._select(columns, identifier, str(self.table))
        if self.kind == "jsonl":
            return self._scan_json(columns)
        # each file has its own order of columns, so they are selected by position
        by_header: dict[tuple[str, ...], list[Path]] = {}
        for path, header in zip(self.paths, self.headers, strict=True):
            by_header.setdefault(header, []).append(path)
        parts = []
        for header, paths in by_header.items():
            places = [f'"{_PLACE}{number}"' for number in range(len(header))]
            rows = f"{self._read('read_parquet', paths)} AS t({', '.join(places)})"
            if self.kind != "parquet":
                rows = self._read("read_csv", paths, self._csv_settings(len(header)))
            taken = dict(zip(header, places, strict=True))
            parts.append(self._select(columns, taken.__getitem__, rows))
        return parts[0] if len(parts) == 1 else f"({' UNION ALL '.join(parts)})"

    def _scan_json(self, columns: Sequence[str]) -> str:
        """Return the scan of JSON lines; objects are read whole if keys differ only in case."""
        own = [name for name in columns if name not in self.partitions]
        whole = len({name.casefold() for name in own}) < len(own)
        kinds = ", ".join(f"{literal(name)}: 'JSON'" for name in ([_PLACE] if whole else own))
        form = f"format='newline_delimited', records='{str(not whole).lower()}'"
        settings = f"{form}, columns={{{kinds}}}, maximum_object_size={_LONGEST_LINE}"
        rows = self._read("read_json", self.paths, settings)
        return self._select(columns, _of_object if whole else identifier, rows)

    def _select(self, columns: Sequence[str], taken: Callable[[str], str], rows: str) -> str:
        """Return the subquery that renames columns as `called` does, in brackets."""
        values = {n: _of_folder(n) if n in self.partitions else taken(n) for n in columns}
        own = ", ".join(f"{value} AS {self.called(name)}" for name, value in values.items())
        return f"(SELECT {own} FROM {rows})"

    def _csv_settings(self, width: int) -> str:
        """Return the settings for reading a text with so many columns."""
        quote = literal("" if self.dialect.get("quoting") == csv.QUOTE_NONE else '"')
        names = ", ".join(f"'{_PLACE}{number}': 'VARCHAR'" for number in range(width))
        return (
            f"delim={literal(self.dialect['delimiter'])}, quote={quote}, escape={quote}, "
            f"header={str(self.header).lower()}, columns={{{names}}}, auto_detect=false, "
            f"nullstr={literal(_NO_NULL)}, strict_mode=true, null_padding=false, "
            f"max_line_size={_LONGEST_LINE}, buffer_size={2 * _LONGEST_LINE}"
            + (", comment='#'" if self.comments else "")
        )

    @staticmethod
    def _read(function: str, paths: Sequence[Path], how: str = "") -> str:
        """Return the call that reads files, without the engine's own Hive partitions."""
        places = ", ".join(map(literal_path, paths))
        settings = f"hive_partitioning=false, filename={literal(_PATH)}"
        return f"{function}([{places}], {settings}{how and ', '}{how})"


def _of_folder(name: str) -> str:
    """Return the SQL for the value of a partition: the last folder of this name in the path."""
    pattern = literal(rf".*[/\\]{re.escape(name)}=([^/\\]*)[/\\]")
    value = f"url_decode(regexp_extract({identifier(_PATH)}, {pattern}, 1))"
    return f"nullif({value}, {literal(_NO_PARTITION)})"


def _of_object(name: str) -> str:
    """Return the SQL for the value of a key in an object, NULL if it is null."""
    pointer = "/" + name.replace("~", "~0").replace("/", "~1")
    value = f"({identifier(_PLACE)} -> {literal(pointer)})"
    return f"CASE WHEN json_type({value}) <> 'NULL' THEN {value} END"


def is_many(word: str | Path) -> bool:
    """Return True if a word stands for a folder of tables or for the files of a pattern."""
    is_pattern = glob.has_magic(str(word)) and not _exists(word)
    return is_path_of_table(word) and (_is_dir(word) or is_pattern)


def is_path_of_table(data: Any) -> bool:
    """Return True if this can be the path of a table that the engine reads."""
    if not isinstance(data, (str, Path)) or str(data) == "-":
        return False
    return not is_brat_folder(data) and not is_record_folder(data)


def find_tables(
    word: object, *, comments: bool = False, header: bool | None = None, table: str | None = None
) -> TableFiles | None:
    """Return the table of a file, a folder or a pattern; None if the engine cannot read it."""
    name = str(word)
    paths, root = _files(name)
    kinds = {path: _kind(path, name) for path in paths}
    first_of = {kind: path for path, kind in reversed(kinds.items())}
    if len(first_of) > 1:
        one, other = (f"{first_of[kind]} ({kind})" for kind in sorted(first_of)[:2])
        problem = f"holds files of several kinds, such as {one} and {other}"
        raise InputError(f"{problem}; expected tables of one kind", name)
    (kind,) = first_of
    if kind == "other":
        if len(paths) == 1 and not is_many(name):
            return None
        raise InputError("is no table; expected CSV, TSV, JSON lines or Parquet", paths[0])
    if kind in DATABASES and len(paths) > 1:
        raise InputError("holds several databases; expected one", name)
    if table is not None and kind not in DATABASES:
        raise InputError("table: there is no database; leave it out")
    files = TableFiles(
        name=name,
        kind=kind,
        paths=tuple(paths),
        partitions=() if root is None else _partitions(paths, root),
        comments=comments,
        table=table,
        size=sum(path.stat().st_size for path in paths),
    )
    return _with_texts(files, header) if kind == "text" else files


def _files(name: str) -> tuple[list[Path], Path | None]:
    """Return the files that a word stands for, and the folder below which partitions begin."""
    paths: list[Path] = []
    if _is_dir(name):

        def refuse(error: OSError) -> None:
            raise unreadable(str(error.filename or name), error) from None

        for folder, folders, files in os.walk(name, onerror=refuse):
            folders[:] = sorted(f for f in folders if f[0] not in "._")
            paths += (Path(folder) / file for file in sorted(files) if file[0] not in "._")
        if not paths:
            raise InputError("the folder holds no files; expected tables", name)
        return _without_links([_readable(str(path)) for path in paths]), Path(name)
    if _exists(name) or not glob.has_magic(name):
        return [_readable(name)], None
    paths = [path for path in map(Path, find_paths(name, recursive=True)) if path.is_file()]
    if not paths:
        raise InputError("no file matches this pattern", name)
    root = Path(name[: next(i for i, sign in enumerate(name) if sign in "*?[")]).parent
    return _without_links(_readable(str(path)) for path in paths), root


def _readable(name: str) -> Path:
    try:
        with Path(name).open("rb"):
            return Path(name)
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from None


def _without_links(paths: Iterable[Path]) -> list[Path]:
    """Return each file once, under its own name rather than that of a link to it."""
    once: dict[tuple[int, int], tuple[bool, Path]] = {}
    for path in paths:
        own = path.stat()
        is_link = path.resolve() != Path(os.path.abspath(path))  # noqa: PTH100  # links stay links
        before = once.setdefault((own.st_dev, own.st_ino), (is_link, path))
        if before[0] and not is_link:
            once[own.st_dev, own.st_ino] = (is_link, path)
    return [path for _, path in once.values()]


def _partitions(paths: Sequence[Path], root: Path) -> tuple[str, ...]:
    """Return the partition columns of the folders below the given one; refuse differences."""
    below = [path.parent.parts[len(root.parts) :] for path in paths]
    told = [[part.partition("=")[0] for part in parts if "=" in part] for parts in below]
    for path, own in zip(paths, told, strict=True):
        if sorted(own) != sorted(told[0]):
            here, there = (listed(names) or "no column" for names in (own, told[0]))
            problem = f"folder names give {here}, but {there} for {paths[0]}"
            raise InputError(f"{problem}; expected every file in folders of the same names", path)
        if len(set(own)) < len(own):
            problem = f"two folders give the same column ({listed(own)})"
            raise InputError(f"{problem}; expected different names", str(path))
    return tuple(told[0])


def _kind(path: Path, name: str) -> str:
    """Return the kind of a file; one of several text files is recognised by its suffix."""
    kind = kind_of(path)
    if str(path) == name or kind not in ("text", "other"):
        return kind
    return _ENDINGS.get(Source(path.name, b"").suffix, "other")


# --- Text files


def head_of(path: Path, name: str) -> Source:
    """Return the complete lines at the beginning of a text."""
    try:
        with path.open("rb") as file:
            data = file.read(_HEAD)
            if data.startswith(_GZIP):
                file.seek(0)
                with gzip.GzipFile(fileobj=file) as unpacked:
                    data = unpacked.read(_HEAD)
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(name, error) from None
    data = data.removeprefix(b"\xef\xbb\xbf")
    if len(data) >= _HEAD:
        data = data[: data.rfind(b"\n") + 1] or data
    if not data.strip():
        raise InputError("is empty; expected at least one line", name)
    return Source(name, data.decode("utf-8", "replace").encode())


def _with_texts(files: TableFiles, header: bool | None) -> TableFiles | None:
    """Return the table with kind, dialect and columns from its first lines; None if no table."""
    heads = [head_of(path, files.shown(path)) for path in files.paths]
    first = heads[0].data.lstrip()
    if first.startswith(b"["):
        return None
    if first.startswith(b"{"):
        names = dict.fromkeys(key for head in heads for own in objects_of(head) for key in own)
        return replace(files, kind="jsonl", columns=(*names, *files.partitions))
    kind, dialect = dialect_of(heads[0], comments=files.comments)
    headers: tuple[tuple[str, ...], ...] = ()
    for head in heads:
        _, row = next(delimited_rows(head, kind, dialect, comments=files.comments), (0, []))
        if header is False:
            row = [f"column {number + 1}" for number in range(len(row))]
        headers += (tuple(row),)
    columns = (*headers[0], *files.partitions)
    files = replace(files, kind=kind, dialect=dialect, headers=headers, columns=columns)
    return replace(files, header=header is not False)


def check_columns(files: TableFiles, columns: Sequence[str]) -> None:
    """Refuse columns that the table, or one of its files, does not have or has twice."""
    known = list(files.columns)
    for name in columns:
        of_folders, twice = name in files.partitions, f"column {name!r} is given by folders and by"
        if of_folders and known.count(name) > 1:
            raise files.error(f"{twice} the files; expected only one of them")
        check_column(name, known, files.error)
        for path, header in zip(files.paths, files.headers, strict=False):
            if name not in header and not of_folders:
                problem = f"there is no column {name!r}, but {files.paths[0]} has one"
                raise files.error(f"{problem}; expected it in every file", path)
            if of_folders and name in header:
                raise files.error(f"{twice} the file; expected only one of them", path)
            if header.count(name) > 1:
                raise files.error(f"two columns are called {name!r}; expected one", path)
