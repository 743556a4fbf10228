"""A file's content as UTF-8 bytes, whatever it was on disk."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import sys
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from probative.errors import InputError

__all__ = ["LARGEST", "Source", "load", "snippet"]

# Byte positions are kept in 32-bit integers.
LARGEST = 2**31 - 64

_GZIP = b"\x1f\x8b"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, eq=False)
class Source:
    r"""What was read, and what to call it in messages.

    Attributes
    ----------
    name
        The path as it was given.
    data
        The content: valid UTF-8 without byte-order mark, lines ended by ``\n`` or ``\r\n``.
    notes
        What was done to get there and the reader should know.
    """

    name: str
    data: bytes = field(repr=False)
    notes: tuple[str, ...] = ()

    def error(self, message: str, line: int | None = None) -> InputError:
        """An error at a line of this file; lines count from 1."""
        return InputError(message, self.name, line)


def snippet(raw: bytes, limit: int = 60) -> str:
    """A piece of a file as it can stand in a one-line message, in quotes."""
    text = raw[: 4 * limit].decode("utf-8", "replace").rstrip("\r\n")
    return repr(text if len(text) <= limit else text[:limit] + "…")


def load(path: str | Path, *, encoding: str | None = None) -> Source:
    """Read a file, a compressed file or standard input (``-``).

    Parameters
    ----------
    path
        Where to read. Content that begins like a gzip file is unpacked, whatever its name.
    encoding
        The name of its encoding. By default UTF-8, or what a byte-order mark says.
    """
    name = "standard input" if str(path) == "-" else str(path)
    data = _unpacked(name, _raw(path))
    data, notes = _as_utf8(name, data, encoding)
    if b"\x00" in data:
        raise InputError(
            "is a binary file (it holds NUL bytes); expected text", name, _line(data, b"\x00")
        )
    if not data or data.isspace():
        raise InputError("is empty; expected at least one line", name)
    if b"\r" in data and b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    return Source(name, data, notes)


def _line(data: bytes, what: bytes) -> int:
    return data.count(b"\n", 0, data.index(what)) + 1


def _raw(path: str | Path) -> bytes:
    try:
        if str(path) == "-":
            data = _limited(sys.stdin.buffer)
        elif Path(path).is_dir():
            raise InputError("is a directory; expected a file", path)
        else:
            with Path(path).open("rb") as file:
                data = _limited(file)
    except FileNotFoundError:
        raise InputError("there is no such file", path) from None
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError(f"cannot be read: {reason}", path) from None
    return _not_too_large(str(path), data)


def _limited(file: IO[bytes] | gzip.GzipFile) -> bytes:
    """The content of a file, or a little more than the most that is allowed."""
    if isinstance(file, io.BufferedReader) and file.seekable():
        size = os.fstat(file.fileno()).st_size
        if size:  # not a pipe, not a file of /proc
            return file.read(min(size, LARGEST) + 1)
    parts, size = [], 0
    while size <= LARGEST and (part := file.read(1 << 24)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _unpacked(name: str, data: bytes) -> bytes:
    if not data.startswith(_GZIP):
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            return _not_too_large(name, _limited(file))
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"is a damaged gzip file: {str(error).lower()}", name) from None


def _not_too_large(name: str, data: bytes) -> bytes:
    if len(data) > LARGEST:
        raise InputError("holds more than 2 GiB; expected less: split it", name)
    return data


def _as_utf8(name: str, data: bytes, encoding: str | None) -> tuple[bytes, tuple[str, ...]]:
    if encoding is None:
        for mark, what in _MARKS:
            if data.startswith(mark):
                if what == "utf-8":
                    return _checked(name, data[len(mark) :]), ()
                return _transcoded(name, data, what), (f"{name}: {what}, by its byte-order mark",)
        return _checked(name, data), ()
    return _transcoded(name, data, encoding), ()


def _checked(name: str, data: bytes) -> bytes:
    """The same bytes, if they are UTF-8."""
    if data.isascii():
        return data
    step = 1 << 24
    decoder = codecs.getincrementaldecoder("utf-8")()
    for begin in range(0, len(data), step):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(data[begin : begin + step], final=begin + step >= len(data))
        except UnicodeDecodeError as error:
            place = begin - pending + error.start
            if b"\x00" in data:
                return data  # the caller says that this is no text at all
            raise InputError(
                f"byte 0x{data[place]:02x} is not UTF-8; expected UTF-8, or another encoding "
                f"to be named (--encoding latin-1, gb18030, …)",
                name,
                data.count(b"\n", 0, place) + 1,
            ) from None
    return data


def _transcoded(name: str, data: bytes, encoding: str) -> bytes:
    try:
        text = data.decode(encoding)
        return text.removeprefix("\ufeff").encode()
    except LookupError:
        raise InputError(
            f"encoding: unknown {encoding!r}; expected a text encoding such as utf-8, latin-1, "
            f"gb18030"
        ) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"byte 0x{data[error.start]:02x} is not {encoding}; expected another encoding",
            name,
            line,
        ) from None
    except (UnicodeError, ValueError) as error:
        raise InputError(f"is not {encoding}: {error}", name) from None
