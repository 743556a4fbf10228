"""Find the files of a table of any size: a file, a folder, a pattern or a database.

Only the beginnings of files are read here: their kind and the names of their columns.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import uuid
import zlib
from dataclasses import dataclass, field, replace
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probative.errors import InputError
from probative.files import find_paths
from probative.reading.database import identifier, literal, literal_path
from probative.reading.source import Source, is_brat_folder, is_record_folder, unreadable
from probative.reading.tables import dialect_of, objects_of
from probative.tables.engines import check_column, listed
from probative.tables.query import sql_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

DATABASES = ("sqlite", "duckdb")
_HEAD = 1 << 16  # bytes read from the beginning of a text
_MAGIC = {b"PAR1": "parquet", b"SQLite format 3\0": "sqlite"}
_DUCKDB_MAGIC = slice(8, 12)  # bytes of DuckDB's magic word
_GZIP = b"\x1f\x8b"
_NO_TEXT_MAGIC = (b"\xff\xfe", b"\xfe\xff", b"PK\x03\x04")  # UTF-16 and UTF-32; archives
_ENDINGS = dict.fromkeys((".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".txt"), "text")
_ENDINGS |= dict.fromkeys((".parquet", ".pq", ".parq"), "parquet")
# a NULL marker that no file holds, so that empty cells are empty text, as for Python's reader
_NO_NULL = f"\x01{uuid.uuid4().hex}"
_PATH = "\x02"  # name of the column with the path of a row's file
_NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"  # a folder's word for a missing value
# unlike the methods of paths, False for names that no file can have
_exists, _is_dir = os.path.exists, os.path.isdir
_LONGEST_LINE = 1 << 24  # bytes; the engine keeps some such buffers for every core


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
        is_json = value is not None and self.types[column] == "JSON"
        return json.loads(value) if is_json else value

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
            places = [identifier(_place(number)) for number in range(len(header))]
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
        kinds = ", ".join(f"{literal(name)}: 'JSON'" for name in ([_place(0)] if whole else own))
        settings = (
            f"format='newline_delimited', records='{str(not whole).lower()}', columns={{{kinds}}}, "
            f"maximum_object_size={_LONGEST_LINE}"
        )
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
        names = ", ".join(f"{literal(_place(number))}: 'VARCHAR'" for number in range(width))
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


def _place(number: int) -> str:
    """Return a name for a column by its position, which no file has."""
    return f"\x01{number}"


def _of_folder(name: str) -> str:
    """Return the SQL for the value of a partition: the last folder of this name in the path."""
    sign = r"[/\\]"
    pattern = literal(f".*{sign}{re.escape(name)}=([^/\\\\]*){sign}")
    value = f"url_decode(regexp_extract({identifier(_PATH)}, {pattern}, 1))"
    return f"nullif({value}, {literal(_NO_PARTITION)})"


def _of_object(name: str) -> str:
    """Return the SQL for the value of a key in an object, NULL if it is null."""
    pointer = "/" + name.replace("~", "~0").replace("/", "~1")
    value = f"({identifier(_place(0))} -> {literal(pointer)})"
    return f"CASE WHEN json_type({value}) <> 'NULL' THEN {value} END"


def is_many(word: str | Path) -> bool:
    """Return True if a word stands for a folder of tables or for the files of a pattern."""
    text = str(word)
    if not is_path_of_table(text):
        return False
    return _is_dir(text) or (has_magic(text) and not _exists(text))


def is_path_of_table(data: Any) -> bool:
    """Return True if this can be the path of a table that the engine reads."""
    if not isinstance(data, (str, Path)) or str(data) == "-":
        return False
    return not is_brat_folder(data) and not is_record_folder(data)


def find_tables(
    word: str | Path,
    *,
    comments: bool = False,
    header: bool | None = None,
    table: str | None = None,
) -> TableFiles | None:
    """Return the table of a file, a folder or a pattern; None if the engine cannot read it."""
    name = str(word)
    paths, root = _files(name)
    kinds = {path: _kind(path, name) for path in paths}
    several = sorted(set(kinds.values()))
    if len(several) > 1:
        examples = (next(p for p, k in kinds.items() if k == kind) for kind in several[:2])
        one, other = (f"{path} ({kinds[path]})" for path in examples)
        problem = f"holds files of several kinds, such as {one} and {other}"
        raise InputError(f"{problem}; expected tables of one kind", name)
    (kind,) = several
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
    if _is_dir(name):

        def refuse(error: OSError) -> None:
            raise unreadable(str(error.filename or name), error) from None

        paths: list[Path] = []
        for folder, folders, files in os.walk(name, onerror=refuse):
            folders[:] = sorted(f for f in folders if f[0] not in "._")
            paths += (Path(folder) / file for file in sorted(files) if file[0] not in "._")
        if not paths:
            raise InputError("the folder holds no files; expected tables", name)
        return _without_links([_readable(str(path)) for path in paths]), Path(name)
    if _exists(name) or not has_magic(name):
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
    once: dict[tuple[int, int], Path] = {}
    for path in paths:
        own = path.stat()
        file = (own.st_dev, own.st_ino)
        if file not in once or (_is_link(once[file]) and not _is_link(path)):
            once[file] = path
    return list(once.values())


def _is_link(path: Path) -> bool:
    return path.resolve() != Path(os.path.abspath(path))  # noqa: PTH100  # links stay links


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


def kind_of(path: Path) -> str:
    """Return the kind of a file by its first bytes: parquet, sqlite, duckdb, text, or other."""
    if not path.is_file():
        return "other"
    with path.open("rb") as file:
        opening = file.read(16)
    for magic, kind in _MAGIC.items():
        if opening.startswith(magic):
            return kind
    if opening[_DUCKDB_MAGIC] == b"DUCK":
        return "duckdb"
    return "other" if opening.startswith(_NO_TEXT_MAGIC) or not opening else "text"


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
    return Source(name, data)


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
        lines = io.StringIO(head.data.decode("utf-8", "replace"), newline="")
        kept = (line for line in lines if not (files.comments and line.startswith("#")))
        try:
            row = next((row for row in csv.reader(kept, **dialect) if row), [])
        except csv.Error as error:
            raise head.error(f"{error}; expected a table", 1) from None
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
