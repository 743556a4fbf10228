"""Tables of any size: a file, a folder, a pattern or a database, to be read by the engine.

Nothing is read here but the beginnings of files: what they are, and what their columns are called.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import uuid
import zlib
from dataclasses import dataclass, field, replace
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probative.errors import InputError, suggestion
from probative.files import find_paths
from probative.reading.database import identifier, literal, literal_path
from probative.reading.source import Source, is_brat_folder
from probative.reading.tables import dialect_of, listed, objects_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = [
    "DATABASES",
    "TableFiles",
    "check_columns",
    "find_tables",
    "head_of",
    "is_many",
    "is_path_of_table",
    "kind_of",
]

DATABASES = ("sqlite", "duckdb")
_HEAD = 1 << 16
_MAGIC = {b"PAR1": "parquet", b"SQLite format 3\0": "sqlite"}
_DUCK = slice(8, 12)  # where a file of DuckDB says that it is one
_GZIP = b"\x1f\x8b"
_OTHER_MARKS = (b"\xff\xfe", b"\xfe\xff", b"PK\x03\x04")  # UTF-16 and UTF-32; archives
_ENDINGS = {
    ".csv": "text",
    ".tsv": "text",
    ".jsonl": "text",
    ".ndjson": "text",
    ".json": "text",
    ".txt": "text",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".parq": "parquet",
}
# nothing that a file can hold: a cell that is empty is empty text, as for Python's reader
_NO_NULL = f"\x01{uuid.uuid4().hex}"
_PATH = "\x02"  # the column with the path of a row's file
_NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"  # how a folder says that there is no value
_LONGEST_LINE = 1 << 24  # of which the engine keeps some for every core


@dataclass(frozen=True, kw_only=True)
class TableFiles:
    """One table, in one or more files.

    Attributes
    ----------
    name
        What was given for it.
    kind
        csv, tsv, jsonl, parquet, sqlite or duckdb.
    paths
        Its files, in their order.
    columns
        What its columns are called.
    partitions
        Further columns, which folders such as ``day=2024-01-01`` tell.
    header
        Whether the first line of a text names the columns.
    dialect
        What separates the cells of a text, as Python's reader is told it.
    headers
        The columns of each file of a text, or of Parquet, in its order.
    comments
        Whether lines that begin with # are left out.
    table
        Which table of a database it is.
    size
        How many bytes the files have.
    """

    name: str
    kind: str
    paths: tuple[Path, ...]
    columns: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    header: bool = True
    dialect: dict[str, Any] = field(default_factory=dict)
    headers: tuple[tuple[str, ...], ...] = ()
    comments: bool = False
    table: str | None = None
    size: int = 0

    def error(self, message: str, path: Path | None = None, line: int | None = None) -> InputError:
        """An error in this table, or in one of its files."""
        return InputError(message, self.name if path is None else self.shown(path), line)

    def shown(self, path: Path) -> str:
        """What messages call a file: as it was given, if it is the only one."""
        return self.name if len(self.paths) == 1 and not is_many(self.name) else str(path)

    def called(self, column: str) -> str:
        """Return what `scan` calls a column: the engine does not tell ``pred`` from ``PRED``."""
        return f"column_{self.columns.index(column)}"

    def scan(self, columns: Sequence[str]) -> str:
        """Return the rows with these columns, as what stands after FROM in a statement.

        What the columns are called there, `called` says.
        """
        if self.kind in DATABASES:  # as `attach` has left it
            return self._select(columns, identifier, str(self.table))
        if self.kind == "jsonl":
            return self._scan_json(columns)
        # each file has its own order of columns: they are told by their places
        by_header: dict[tuple[str, ...], list[Path]] = {}
        for path, header in zip(self.paths, self.headers, strict=True):
            by_header.setdefault(header, []).append(path)
        parts = []
        for header, paths in by_header.items():
            places = [identifier(_place(number)) for number in range(len(header))]
            if self.kind == "parquet":
                rows = f"{self._read('read_parquet', paths)} AS t({', '.join(places)})"
            else:
                rows = self._read("read_csv", paths, self._how(len(header)))
            taken = dict(zip(header, places, strict=True))
            parts.append(self._select(columns, taken.__getitem__, rows))
        return parts[0] if len(parts) == 1 else f"({' UNION ALL '.join(parts)})"

    def _scan_json(self, columns: Sequence[str]) -> str:
        """Objects are read whole where the engine would take two keys for one."""
        own = [name for name in columns if name not in self.partitions]
        whole = len({name.casefold() for name in own}) < len(own)
        kinds = ", ".join(f"{literal(name)}: 'JSON'" for name in ([_place(0)] if whole else own))
        how = (
            f"format='newline_delimited', records='{str(not whole).lower()}', columns={{{kinds}}}, "
            f"maximum_object_size={_LONGEST_LINE}"
        )
        rows = self._read("read_json", self.paths, how)
        return self._select(columns, _of_object if whole else identifier, rows)

    def _select(self, columns: Sequence[str], taken: Callable[[str], str], rows: str) -> str:
        """Return the statement that calls columns as `called` does, in brackets."""
        own = [
            f"{_of_folder(name) if name in self.partitions else taken(name)} AS {self.called(name)}"
            for name in columns
        ]
        return f"(SELECT {', '.join(own)} FROM {rows})"

    def _how(self, width: int) -> str:
        """Return how to read a text of so many columns."""
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
        """Return the call that reads files; folders are told by `_of_folder` and nothing else."""
        places = ", ".join(map(literal_path, paths))
        settings = f"hive_partitioning=false, filename={literal(_PATH)}"
        return f"{function}([{places}], {settings}{how and ', '}{how})"


def _place(number: int) -> str:
    """Return the name of a column by its place, which no file has."""
    return f"\x01{number}"


def _of_folder(name: str) -> str:
    """Return what the last folder of this name says in the path of a row, as text."""
    sign = r"[/\\]"
    pattern = literal(f".*{sign}{re.escape(name)}=([^/\\\\]*){sign}")
    value = f"url_decode(regexp_extract({identifier(_PATH)}, {pattern}, 1))"
    return f"nullif({value}, {literal(_NO_PARTITION)})"


def _of_object(name: str) -> str:
    """Return what an object has under a key."""
    pointer = "/" + name.replace("~", "~0").replace("/", "~1")
    value = f"({identifier(_place(0))} -> {literal(pointer)})"
    return f"CASE WHEN json_type({value}) <> 'NULL' THEN {value} END"


def is_many(word: str | Path) -> bool:
    """Whether a word stands for a folder of tables or for the files of a pattern."""
    text = str(word)
    if text == "-" or is_brat_folder(text):
        return False
    return _is_dir(text) or (has_magic(text) and not _exists(text))


def is_path_of_table(data: Any) -> bool:
    """Whether this can be the path of a table that the engine reads."""
    return isinstance(data, (str, Path)) and str(data) != "-" and not is_brat_folder(data)


def find_tables(
    word: str | Path,
    *,
    comments: bool = False,
    header: bool | None = None,
    table: str | None = None,
) -> TableFiles | None:
    """What table a word stands for; None if it is none that the engine reads.

    Parameters
    ----------
    word
        A file, a folder, or a pattern such as ``preds/*.parquet``. A file of that very name wins.
    comments, header
        As for any table of text.
    table
        Which table of a database to take, where it has several.
    """
    name = str(word)
    paths, root = _files(name)
    kinds = {path: _kind(path, name) for path in paths}
    several = sorted(set(kinds.values()))
    if len(paths) > 1 and len(several) > 1:
        examples = [next(str(p) for p, k in kinds.items() if k == kind) for kind in several[:2]]
        raise InputError(
            f"holds files of several kinds, such as {examples[0]} ({several[0]}) and {examples[1]} "
            f"({several[1]}); expected tables of one kind",
            name,
        )
    (kind,) = several
    if kind == "other":
        if len(paths) == 1 and not is_many(name):
            return None
        raise InputError("is no table; expected CSV, TSV, JSON lines or Parquet", paths[0])
    if kind in DATABASES and len(paths) > 1:
        raise InputError("holds several databases; expected one", name)
    if table is not None and kind not in DATABASES:
        raise InputError("table: there is no database; expected it left out")
    partitions = () if root is None else _partitions(paths, root)
    size = sum(path.stat().st_size for path in paths)
    files = TableFiles(
        name=name,
        kind=kind,
        paths=tuple(paths),
        partitions=partitions,
        comments=comments,
        table=table,
        size=size,
    )
    return _with_texts(files, header) if kind == "text" else files


def _files(name: str) -> tuple[list[Path], Path | None]:
    """The files that a word stands for, and the folder below which folders tell columns."""
    if _is_dir(name):
        return _without_links(_below_folder(name)), Path(name)
    if _exists(name) or not has_magic(name):
        return [_readable(name)], None
    found = list(map(Path, find_paths(name, recursive=True)))
    paths = [path for path in found if path.is_file()]
    if not paths:
        raise InputError("no file matches this pattern", name)
    root = Path(name[: next(i for i, sign in enumerate(name) if sign in "*?[")]).parent
    return _without_links(_readable(str(path)) for path in paths), root


def _below_folder(name: str) -> list[Path]:
    paths: list[Path] = []

    def refuse(error: OSError) -> None:
        raise _unreadable(str(error.filename or name), error) from None

    for folder, folders, files in os.walk(name, onerror=refuse):
        folders[:] = sorted(f for f in folders if f[0] not in "._")
        paths += (Path(folder) / file for file in sorted(files) if file[0] not in "._")
    if not paths:
        raise InputError("the folder holds no files; expected tables", name)
    return [_readable(str(path)) for path in paths]


def _readable(name: str) -> Path:
    try:
        with Path(name).open("rb"):
            return Path(name)
    except FileNotFoundError:
        raise InputError("there is no such file", name) from None
    except (OSError, ValueError) as error:
        raise _unreadable(name, error) from None


def _unreadable(name: str, error: Exception) -> InputError:
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    return InputError(f"cannot be read: {reason}", name)


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
    """Return the columns that the folders below the one that was given tell, for every file."""
    told = [
        [part.partition("=")[0] for part in _below(path, root) if "=" in part] for path in paths
    ]
    for path, own in zip(paths, told, strict=True):
        if sorted(own) != sorted(told[0]):
            raise InputError(
                f"folders tell {listed(own) or 'no column'}, but {listed(told[0]) or 'no column'} "
                f"for {paths[0]}; expected every file in folders of the same names",
                str(path),
            )
        if len(set(own)) < len(own):
            raise InputError(
                f"two folders tell one column ({listed(own)}); expected different names", str(path)
            )
    return tuple(told[0])


def _below(path: Path, root: Path) -> tuple[str, ...]:
    """The folders between a file and the folder that was given."""
    try:
        return path.parent.relative_to(root).parts
    except ValueError:
        return ()


def kind_of(path: Path) -> str:
    """What a file is by its first bytes: parquet, sqlite, duckdb, text, or other."""
    if not path.is_file():
        return "other"
    with path.open("rb") as file:
        opening = file.read(16)
    for magic, kind in _MAGIC.items():
        if opening.startswith(magic):
            return kind
    if opening[_DUCK] == b"DUCK":
        return "duckdb"
    return "other" if opening.startswith(_OTHER_MARKS) or not opening else "text"


def _kind(path: Path, name: str) -> str:
    """The same; of several files, a text needs a name that says so."""
    kind = kind_of(path)
    return kind if str(path) == name or kind not in ("text", "other") else _of_ending(path)


def _of_ending(path: Path) -> str:
    return _ENDINGS.get(Path(path.name.removesuffix(".gz")).suffix.lower(), "other")


# --- texts ------------------------------------------------------------------------------------


def head_of(path: Path, name: str) -> Source:
    """The first lines of a text, as far as they are whole."""
    try:
        with path.open("rb") as file:
            data = file.read(_HEAD)
            if data.startswith(_GZIP):
                file.seek(0)
                with gzip.GzipFile(fileobj=file) as unpacked:
                    data = unpacked.read(_HEAD)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(name, error) from None
    data = data.removeprefix(b"\xef\xbb\xbf")
    if len(data) >= _HEAD:
        data = data[: data.rfind(b"\n") + 1] or data
    if not data.strip():
        raise InputError("is empty; expected at least one line", name)
    return Source(name, data)


def _with_texts(files: TableFiles, header: bool | None) -> TableFiles | None:
    """The same with what the first lines of its files say; None for what is no table of lines."""
    heads = [head_of(path, files.shown(path)) for path in files.paths]
    first = heads[0].data.lstrip()
    if first.startswith(b"["):
        return None
    if first.startswith(b"{"):
        names: dict[str, None] = {}
        for head in heads:
            for record in objects_of(head):
                names |= dict.fromkeys(record)
        own = replace(files, kind="jsonl", columns=tuple(names))
        return replace(own, columns=(*own.columns, *own.partitions))
    kind, dialect = dialect_of(heads[0], comments=files.comments)
    headers = tuple(_first_row(head, dialect, comments=files.comments) for head in heads)
    if header is False:
        headers = tuple(
            tuple(f"column {place + 1}" for place in range(len(row))) for row in headers
        )
    files = replace(
        files,
        kind=kind,
        dialect=dialect,
        headers=headers,
        header=header is not False,
        columns=headers[0],
    )
    return replace(files, columns=(*files.columns, *files.partitions))


def _first_row(head: Source, dialect: dict[str, Any], *, comments: bool) -> tuple[str, ...]:
    lines = io.StringIO(head.data.decode("utf-8", "replace"), newline="")
    kept = (line for line in lines if not (comments and line.startswith("#")))
    try:
        return tuple(next((row for row in csv.reader(kept, **dialect) if row), []))
    except csv.Error as error:
        raise head.error(f"{error}; expected a table", 1) from None


def check_columns(files: TableFiles, columns: Sequence[str]) -> None:
    """Refuse columns that the table, or one file of it, does not have, or has twice.

    Parameters
    ----------
    files
        The table.
    columns
        Those that are to be read.
    """
    known = list(files.columns)
    for name in columns:
        if name not in known:
            raise files.error(
                f"there is no column {name!r}; expected one of {listed(known)}"
                + suggestion(name, known)
            )
        if name in files.partitions and known.count(name) > 1:
            raise files.error(
                f"column {name!r} is told by folders and stands in the files; expected one of both"
            )
        if known.count(name) > 1:
            raise files.error(f"{known.count(name)} columns are called {name!r}; expected one")
        for path, header in zip(files.paths, files.headers, strict=False):
            if name not in (*header, *files.partitions):
                raise files.error(
                    f"there is no column {name!r}, but {files.paths[0]} has one; expected it in "
                    f"every file",
                    path,
                )
            if name in files.partitions and name in header:
                raise files.error(
                    f"column {name!r} is told by folders and stands in the file; expected one of "
                    f"both",
                    path,
                )
            if header.count(name) > 1:
                raise files.error(f"two columns are called {name!r}; expected one", path)


def _is_dir(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):
        return False


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False
