"""Read the content of a file as UTF-8 bytes, whatever its encoding and compression."""

from __future__ import annotations

import codecs
import io
import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeGuard

from probative._validation import shortened
from probative.errors import InputError, Recognised

if TYPE_CHECKING:
    import gzip

    Decode = Callable[[Any], Any]

LARGEST = 2**31 - 64  # Byte positions are kept in 32-bit integers.

_GZIP = b"\x1f\x8b"
_MAGIC = {"parquet": b"PAR1", "zip": b"PK\x03\x04"}
_ZLIB = b"x"  # first byte of zlib data, as in files of spaCy
_BYTES_PER_READ = 1 << 24
_FILES_LOOKED_AT = 20  # of a folder, to find out if they are records
# A packed file (Parquet, zip, spaCy) may unpack to so many bytes, or so many times its size.
_ALWAYS_UNPACKED, _UNPACKED_RATIO = 1 << 26, 100
_TOO_LARGE = "too deep or too large"  # why JSON cannot be parsed, if the parser gives no reason
_NO_TEXT_MAGIC = (b"\xff\xfe", b"\xfe\xff", b"PK\x03\x04")  # UTF-16 and UTF-32; archives
LARGE_TEXT = 64 << 20  # bytes from which the engine counts a text file
# Codecs that Python lists as text encodings, but in which no file is written.
_NO_FILE_ENCODINGS = {"idna", "punycode", "undefined"}
_BYTE_ORDER_MARKS = dict.fromkeys((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-32")
_BYTE_ORDER_MARKS |= dict.fromkeys((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16")


class TooLargeError(InputError):
    """A file has more bytes than may be read, packed or unpacked."""


@dataclass(frozen=True, eq=False)
class Source:
    """The content of a file, and its name in messages."""

    name: str
    # the content: valid UTF-8 without byte-order mark, lines ended by ``\n`` or ``\r\n``
    data: bytes = field(repr=False)
    notes: tuple[str, ...] = ()
    # the place of content that is not read here: a Parquet file on disk, of which `data` is only
    # the beginning, or a brat folder. None if `data` holds everything
    path: Path | None = None
    # the most bytes that a packed file (Parquet, zip, spaCy) may unpack to; None: as many as its
    # reader can take
    limit: int | None = None

    @property
    def suffix(self) -> str:
        """Return the suffix of the file name in lower case, without ``.gz``."""
        return Path(self.name.removesuffix(".gz")).suffix.lower()

    @cached_property
    def kind(self) -> str:
        """Return what this is: text, folder, docbin (a file of spaCy), parquet or zip."""
        if self.path is not None and not self.data:
            return "folder"
        if self.data.startswith(_ZLIB) and Path(self.name).suffix == ".spacy":
            return "docbin"
        return next((kind for kind, magic in _MAGIC.items() if self.data.startswith(magic)), "text")

    @property
    def opening(self) -> bytes:
        """Return the first character that is no space."""
        return self.data.lstrip()[:1]

    @cached_property
    def first_object(self) -> dict[str, Any] | None:
        """Return the JSON object of the first line, or None."""
        if self.kind != "text" or self.opening != b"{":
            return None
        return object_of(self.data.lstrip().split(b"\n", 1)[0])

    @cached_property
    def document(self) -> Any:
        """Return the content as one JSON value."""
        return self.parse_json("one value")

    def parse_json(self, expected: str, **how: Any) -> Any:
        """Parse the content as one JSON value."""
        try:
            return json.loads(self.data, **how)
        except (ValueError, RecursionError) as error:
            line, reason = getattr(error, "lineno", None), getattr(error, "msg", _TOO_LARGE)
            raise self.error(f"is not JSON ({reason}); expected {expected}", line) from None

    def parse_toml(self, expected: str) -> dict[str, Any]:
        """Parse the content as TOML."""
        import tomllib  # few files need it

        try:
            return tomllib.loads(self.data.decode())
        except (ValueError, RecursionError) as error:
            reason = " ".join(str(error).split()) if isinstance(error, ValueError) else _TOO_LARGE
            raise self.error(f"is no TOML ({reason:.200}); expected {expected}") from None

    def json_lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the objects of JSON lines, each with its line number."""
        return ((number, self.json_object(number, line)) for number, line in self.filled_lines())

    def filled_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are not blank, each with its number."""
        lines = enumerate(self.data.split(b"\n"), start=1)
        return ((number, line) for number, line in lines if line.strip())

    def json_value(
        self, number: int, line: bytes | str, expected: str, decode: Decode = json.loads
    ) -> Any:
        """Return the JSON value that a line holds."""
        try:
            return decode(line)
        except (ValueError, RecursionError) as error:
            problem = f"{snippet(line)} is not JSON ({getattr(error, 'msg', _TOO_LARGE)})"
            raise self.error(f"{problem}; {expected}", number) from None

    def json_object(
        self, number: int, line: bytes | str, decode: Decode = json.loads
    ) -> dict[str, Any]:
        """Return the object that a line holds."""
        record = self.json_value(number, line, "expected one object per line", decode)
        if not isinstance(record, dict):
            raise self.error(f"{snippet(line)} is not a JSON object; expected one per line", number)
        return record

    def expect(self, kind: type, what: str, value: Any, line: int | None = None) -> Any:
        """Return a JSON value of this type; refuse another one."""
        if isinstance(value, kind):
            return value
        expected = {dict: "an object", list: "a list", bool: "true or false"}[kind]
        raise self.error(f"{what} is {as_json(value)}; expected {expected}", line)

    def error(self, message: str, line: int | None = None) -> InputError:
        """Return an error at a line of this file; lines count from 1."""
        return InputError(message, self.name, line)

    def refuse_unpacking(self, size: float) -> None:
        """Refuse to unpack to more bytes than the limit, or than a multiple of the size."""
        most = max(_ALWAYS_UNPACKED, _UNPACKED_RATIO * len(self.data))
        if self.limit is not None and size > self.limit:
            raise _too_large(self.name, self.limit)
        if self.limit is None and size > most:
            sizes = f"{len(self.data) / 2**20:.2g} MiB to more than {most / 2**20:.0f} MiB"
            raise self.error(f"unpacks from {sizes}; expected a file that is packed less")


def object_of(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object that bytes hold; None if they hold something else."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def snippet(raw: bytes | str, limit: int = 60) -> str:
    """Return a piece of a file for a one-line message, in quotes."""
    part = raw[: 4 * limit]
    text = (part if isinstance(part, str) else part.decode("utf-8", "replace")).rstrip("\r\n")
    return repr(shortened(text, limit))


def place_of_number(number: int | str, width: int, error: Callable[[str], InputError]) -> int:
    """Return the position (from 0) of a column by its number, from 1, or from -1 backwards."""
    place = int(number) - 1 if int(number) > 0 else width + int(number)
    if not 0 <= place < width or not int(number):
        raise error(f"there is no column {number}; expected 1 to {width}")
    return place


def are_texts(value: Any) -> TypeGuard[list[str]]:
    """Return True if this is a list of texts."""
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def quoted(names: Iterable[str]) -> str:
    """Return names in quotes for a one-line message."""
    return ", ".join(map(repr, names))


def some_of(names: Sequence[str], most: int = 3) -> str:
    """Return the first of some names in quotes, shortened, for a one-line message."""
    named = quoted(shortened(name, 40) for name in names[:most])
    return named + (", …" if len(names) > most else "")


def refuse_others(what: str, first: str, expected: Iterable[str], name: str, found: Any) -> None:
    """Refuse documents or samples (``found`` of ``name``) that are not those of the first file."""
    mine, theirs = dict.fromkeys(expected), dict.fromkeys(found)
    missing = [key for key in mine if key not in theirs]
    extra = [key for key in theirs if key not in mine]
    of = f"{len(missing)} of the {len(mine)} {what} of {first}"
    parts = [f"{of} are missing ({some_of(missing)})"] if missing else []
    if extra:
        parts.append(f"{len(extra)} of its {len(theirs)} are not in {first} ({some_of(extra)})")
    if parts:
        raise InputError(" and ".join(parts) + f"; expected the same {what}", name)


def as_json(value: Any) -> str:
    """Return a value as JSON for a one-line message, shortened."""
    return shortened(json.dumps(value, ensure_ascii=False, default=repr), 60)


def where_they_differ(one: str, other: str, limit: int = 30) -> tuple[str, str]:
    """Return pieces of two texts, in quotes, from shortly before they begin to differ."""
    pairs = enumerate(zip(one, other, strict=False))
    place = next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
    begin = max(place - 10, 0) if place > limit else 0
    opening = "…" if begin else ""
    end = begin + limit
    here, there = (text[begin:end] + "…" * (len(text) > end) for text in (one, other))
    return repr(opening + here), repr(opening + there)


def load(
    path: str | Path,
    *,
    encoding: str | None = None,
    limit: int | None = None,
    expected: str = "at least one line",
    data: bytes | None = None,
) -> Source:
    """Read a file, a compressed file, a pipe or standard input (``-``), opening it once."""
    # ``limit`` is the most bytes, also unpacked; ``data`` are the bytes if they were already read
    name = "standard input" if str(path) == "-" else str(path)
    most = LARGEST if limit is None else limit
    place = None
    if data is None:
        if is_brat_folder(path) or is_record_folder(path):
            return Source(name, b"", path=Path(path))
        data, place = _raw(path, name, most)
    data = _unpack(name, data, most)
    packed = Source(name, data, path=place, limit=limit)
    if packed.kind != "text":
        return packed
    notes: tuple[str, ...] = ()
    if encoding is None:
        marks = _BYTE_ORDER_MARKS.items()
        encoding = next((marked for mark, marked in marks if data.startswith(mark)), None)
        notes = (Recognised(f"{name}: {encoding}, by its byte-order mark"),) if encoding else ()
    data = _check_utf8(name, data) if encoding is None else _transcode(name, data, encoding)
    if len(data) > LARGEST:  # another encoding may need fewer bytes than UTF-8
        raise _too_large(name, LARGEST)
    if b"\x00" in data:
        line = data.count(b"\n", 0, data.index(b"\x00")) + 1
        raise InputError("is a binary file (it holds NUL bytes); expected text", name, line)
    if not data or data.isspace():
        raise InputError(f"is empty; expected {expected}", name)
    if b"\r" in data and b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    return Source(name, data, notes)


def kind_of(path: Path) -> str:
    """Return the kind of a file by its first bytes: parquet, sqlite, duckdb, text, or other."""
    if not path.is_file():
        return "other"
    with path.open("rb") as file:
        opening = file.read(16)
    if opening.startswith((b"PAR1", b"SQLite format 3\0")):
        return "parquet" if opening.startswith(b"PAR1") else "sqlite"
    if opening[8:12] == b"DUCK":
        return "duckdb"
    return "other" if opening.startswith(_NO_TEXT_MAGIC) or not opening else "text"


def is_small_text(path: Path) -> bool:
    """Return True for a file of text that is read in Python, not counted in DuckDB."""
    try:
        return kind_of(path) == "text" and path.stat().st_size < LARGE_TEXT
    except (OSError, ValueError):
        return False  # reported when it is read


def is_brat_folder(path: str | Path) -> bool:
    """Return True if this is a folder with brat annotations."""
    try:
        return str(path) != "-" and Path(path).is_dir() and any(Path(path).glob("*.ann"))
    except (OSError, ValueError):
        return False


def is_record_folder(path: str | Path | None) -> bool:
    """Return True if this is a folder with JSON files, of which one of the first is one object."""
    if path is None or str(path) == "-" or is_brat_folder(path):
        return False
    try:
        files = sorted(Path(path).glob("*.json"))[:_FILES_LOOKED_AT] if Path(path).is_dir() else []
        return any(object_of(file.read_bytes()) is not None for file in files if file.is_file())
    except (OSError, ValueError):
        return False


def is_output(path: str | Path, beside: str | Path | None = None) -> bool:
    """Return True for an output: a file, a brat folder, or records if gold is a folder of such."""
    if Path(path).is_file() or is_brat_folder(path):
        return True
    return is_record_folder(beside) and is_record_folder(path)


def refuse_repeats(paths: Iterable[object]) -> None:
    """Refuse a pipe or standard input that is named twice, as it can be read only once."""
    names: dict[object, str] = {}
    for path in paths:
        if not isinstance(path, (str, Path)) or (stream := _stream(path)) is None:
            continue
        if stream in names:
            also = "" if names[stream] == str(path) else f" (also called {names[stream]})"
            problem = f"is named twice{also}, but can be read only once"
            called = "standard input" if str(path) == "-" else path
            raise InputError(f"{problem}; expected another input, or a file", called)
        names[stream] = str(path)


def _stream(path: str | Path) -> object:
    """Return the identity of a stream (its device and number); None if it is no stream."""
    try:
        status = os.fstat(0) if str(path) == "-" else Path(path).stat()
    except (OSError, ValueError):
        status = None
    if status is None or stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
        return "-" if str(path) == "-" else None
    return status.st_dev, status.st_ino


def _raw(path: str | Path, name: str, limit: int) -> tuple[bytes, Path | None]:
    """Return the bytes of a file; for Parquet on disk only the first ones, and its path."""
    try:
        if str(path) == "-":
            if sys.stdin is None:
                raise InputError("is closed; expected something to read", name)
            return _limited(sys.stdin.buffer, name, limit), None
        if Path(path).is_dir():
            raise InputError("is a directory; expected a file", name)
        with Path(path).open("rb") as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                opening = file.read(len(_MAGIC["parquet"]))
                if opening == _MAGIC["parquet"]:
                    return opening, Path(path)
                file.seek(0)
            return _limited(file, name, limit), None
    except InputError:
        raise
    except (OSError, ValueError, AttributeError) as error:
        raise unreadable(name, error) from None


def unreadable(name: str, error: Exception) -> InputError:
    """Return the error for a file that cannot be opened or read."""
    if isinstance(error, FileNotFoundError):
        return InputError("there is no such file", name)
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    return InputError(f"cannot be read: {reason}", name)


def _limited(file: IO[bytes] | gzip.GzipFile, name: str, limit: int) -> bytes:
    """Return the content of a file; refuse devices and more than ``limit`` bytes."""
    content = io.BytesIO()  # getvalue() makes no copy
    if isinstance(file, io.BufferedReader):
        status = os.fstat(file.fileno())
        device = stat.S_ISBLK(status.st_mode) or stat.S_ISCHR(status.st_mode)
        if device and not file.isatty():
            if file.read(1):  # /dev/null is empty; other devices may be endless
                raise InputError("is a device; expected a file", name)
            return b""
        if stat.S_ISREG(status.st_mode) and status.st_size <= limit:
            content = io.BytesIO(file.read(status.st_size + 1))
            content.seek(0, io.SEEK_END)
    while content.tell() <= limit and (part := file.read(_BYTES_PER_READ)):
        content.write(part)
    if content.tell() > limit:
        raise _too_large(name, limit)
    return content.getvalue()


def _too_large(name: str, limit: int) -> InputError:
    shown = f"{limit / 2**30:.0f} GiB" if limit >= 2**30 else f"{limit / 2**20:.0f} MiB"
    return TooLargeError(f"holds more than {shown}; expected less: split it", name)


def _unpack(name: str, data: bytes, limit: int) -> bytes:
    if not data.startswith(_GZIP):
        return data
    import gzip  # few files need it
    import zlib

    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            return _limited(file, name, limit)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"is a damaged gzip file: {str(error).lower()}", name) from None


def _check_utf8(name: str, data: bytes) -> bytes:
    """Return the bytes without a mark if they are UTF-8; refuse others."""
    data = data.removeprefix(codecs.BOM_UTF8)
    if data.isascii():
        return data
    begin = 0
    while begin < len(data):
        end = begin + _BYTES_PER_READ
        try:
            begin += codecs.utf_8_decode(data[begin:end], "strict", end >= len(data))[1]
        except UnicodeDecodeError as error:
            place = begin + error.start
            if b"\x00" in data:
                return data  # the caller reports a binary file
            problem = f"byte 0x{data[place]:02x} is not UTF-8; expected UTF-8, or another encoding"
            named = "to be named (encoding=, such as latin-1 or gb18030)"
            raise InputError(f"{problem} {named}", name, data.count(b"\n", 0, place) + 1) from None
    return data


def _transcode(name: str, data: bytes, encoding: str) -> bytes:
    try:
        if codecs.lookup(encoding).name in _NO_FILE_ENCODINGS:
            raise LookupError
        return data.decode(encoding).removeprefix("\ufeff").encode()
    except (LookupError, TypeError):
        expected = "expected a text encoding such as utf-8, latin-1, gb18030"
        raise InputError(f"encoding: unknown {encoding!r}; {expected}") from None
    except UnicodeDecodeError as error:
        problem = f"byte 0x{data[error.start]:02x} is not {encoding}; expected another encoding"
        raise InputError(problem, name, data.count(b"\n", 0, error.start) + 1) from None
    except (UnicodeError, ValueError) as error:
        raise InputError(f"is not {encoding}: {error}", name) from None
