"""Tables of any size: a file, a folder, a pattern or a database, to be read by the engine.

Nothing is read here but the beginnings of files: what they are, and what their columns are called.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
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
    from collections.abc import Sequence

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
    parted
        Whether folders such as ``day=2024-01-01`` tell further columns.
    header
        Whether the first line of a text names the columns.
    dialect
        What separates the cells of a text, as Python's reader is told it.
    headers
        The first line of each file of a text.
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
    parted: bool = False
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

    def scan(self, columns: Sequence[str]) -> str:
        """The rows with these columns, as the part of a statement that stands after FROM."""
        if self.kind == "parquet":
            return self._scan(
                "read_parquet", self.paths, f"{self._parts}, hive_types_autocast=false"
            )
        if self.kind == "jsonl":
            kinds = ", ".join(f"{literal(name)}: 'JSON'" for name in columns if self._is_own(name))
            how = (
                f"format='newline_delimited', records='true', columns={{{kinds}}}, "
                f"maximum_object_size={_LONGEST_LINE}, {self._parts}, hive_types_autocast=false"
            )
            return self._scan("read_json", self.paths, how)
        if self.kind in DATABASES:
            return str(self.table)  # as `attach` has left it
        return self._scan_text(columns)

    def _is_own(self, name: str) -> bool:
        return not self.parted or name not in self.partitions

    @property
    def partitions(self) -> tuple[str, ...]:
        """The columns that folders tell."""
        if not self.parted:
            return ()
        parts = self.paths[0].parent.parts
        return tuple(dict.fromkeys(part.partition("=")[0] for part in parts if "=" in part))

    @property
    def _parts(self) -> str:
        return f"hive_partitioning={str(self.parted).lower()}"

    def _scan_text(self, columns: Sequence[str]) -> str:
        """Files whose first lines differ are read one by one: each has its own order."""
        by_header: dict[tuple[str, ...], list[Path]] = {}
        for path, header in zip(self.paths, self.headers, strict=True):
            by_header.setdefault(header, []).append(path)
        quote = literal("" if self.dialect.get("quoting") == csv.QUOTE_NONE else '"')
        parts = []
        for header, paths in by_header.items():
            names = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in _distinct(header))
            how = (
                f"delim={literal(self.dialect['delimiter'])}, quote={quote}, escape={quote}, "
                f"header={str(self.header).lower()}, columns={{{names}}}, auto_detect=false, "
                f"nullstr={literal(_NO_NULL)}, strict_mode=true, null_padding=false, "
                f"max_line_size={_LONGEST_LINE}, {self._parts}, hive_types_autocast=false"
                + (", comment='#'" if self.comments else "")
            )
            parts.append(self._scan("read_csv", paths, how))
        if len(parts) == 1:
            return parts[0]
        named = ", ".join(map(identifier, columns))
        each = [f"SELECT {named} FROM {part}" for part in parts]
        return f"({' UNION ALL '.join(each)})"

    @staticmethod
    def _scan(function: str, paths: Sequence[Path], how: str) -> str:
        return f"{function}([{', '.join(map(literal_path, paths))}], {how})"


def _distinct(names: Sequence[str]) -> list[str]:
    """The names of columns, with numbers for those that are there twice: nobody asks for these."""
    seen: set[str] = set()
    distinct = []
    for number, name in enumerate(names):
        own = name if name and name.casefold() not in seen else f"\x01{number}"
        seen.add(own.casefold())
        distinct.append(own)
    return distinct


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
    parted = root is not None and any("=" in part for part in _below(paths[0], root))
    size = sum(path.stat().st_size for path in paths)
    files = TableFiles(
        name=name,
        kind=kind,
        paths=tuple(paths),
        parted=parted,
        comments=comments,
        table=table,
        size=size,
    )
    return _with_texts(files, header) if kind == "text" else files


def _files(name: str) -> tuple[list[Path], Path | None]:
    """The files that a word stands for, and the folder below which folders tell columns."""
    if _is_dir(name):
        return _below_folder(name), Path(name)
    if _exists(name) or not has_magic(name):
        return [_readable(name)], None
    found = list(map(Path, find_paths(name, recursive=True)))
    paths = [path for path in found if path.is_file()]
    if not paths:
        raise InputError("no file matches this pattern", name)
    root = Path(name[: next(i for i, sign in enumerate(name) if sign in "*?[")]).parent
    return [_readable(str(path)) for path in paths], root


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
        if known.count(name) > 1:
            raise files.error(f"{known.count(name)} columns are called {name!r}; expected one")
        for path, header in zip(files.paths, files.headers, strict=False):
            if name not in (*header, *files.partitions):
                raise files.error(
                    f"there is no column {name!r}, but {files.paths[0]} has one; expected it in "
                    f"every file",
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
