"""The file of a ledger: one line per use of a test set, and never a torn or lost one.

One exclusive lock is held from reading what came before until the new line is on the disk; it ends
with the process, however that ends. Every line has the number of its look and a checksum, which
takes that of the line before into account. The first line says how many follow and what the last
checksum is: it is written after them, so that lines that are missing at the end are noticed.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import contextmanager
from dataclasses import fields
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from probative.errors import InputError
from probative.files import check_target
from probative.inference.allowance import CANDIDATES
from probative.results.ledger import TestSetUse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["End", "append_uses", "lines_of", "lock", "open_locked", "read_uses", "reason_of"]

_FORMAT = "probative ledger 1"
_START = json.dumps({"format": _FORMAT})[:-1].encode()  # of every line
_DIGITS = 16  # of a checksum
_LOCKED = 2**40  # of Windows, where a lock keeps others from reading: a byte behind all others


class End(NamedTuple):
    """Where what is whole of a file ends: its bytes, its uses, and the checksum of the last."""

    size: int = 0
    uses: int = 0
    check: str = "0" * _DIGITS


@contextmanager
def open_locked(path: Path | str) -> Iterator[IO[bytes]]:
    """The file, open for this process alone."""
    target = check_target(path)
    fresh = not target.exists()
    try:
        descriptor = os.open(target, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        with os.fdopen(descriptor, "r+b", buffering=0) as file:
            lock(file, path)
            if fresh:
                _keep_name(target.parent)
            yield file
    except OSError as error:
        raise InputError(f"cannot be written: {reason_of(error)}", path) from None


def lock(file: IO[bytes], path: Path | str, *, shared: bool = False) -> None:
    """Wait until nobody else has the file; the lock ends when it is closed."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt
        import time

        while True:
            file.seek(_LOCKED)
            try:
                place = file.fileno()
                msvcrt.locking(place, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
            except OSError:
                time.sleep(0.05)
            else:
                return
    try:
        fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
    except OSError as error:
        raise InputError(
            f"cannot be locked ({reason_of(error)}), and two writers could spoil it; expected a "
            f"file system that has locks",
            path,
        ) from None


def _keep_name(folder: Path) -> None:
    """Make sure that the name of a new file outlasts a loss of power, where that can be asked."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def append_uses(file: IO[bytes], path: Path | str, end: End, uses: Sequence[TestSetUse]) -> None:
    """Put uses behind what is whole, on the disk; or leave the file as it was."""
    lines, check = lines_of(uses, end.check)
    file.seek(0)
    head = file.read(min(end.size, len(_head(end))))
    if not head:
        lines = _head(End()) + lines
    else:
        file.seek(end.size - 1)
        lines = lines if file.read(1) == b"\n" else b"\n" + lines
    try:
        file.truncate(end.size)
        _write(file, end.size, lines)
        # what is cut off from now on is missed
        _write(file, 0, _head(End(uses=end.uses + len(uses), check=check)))
    except OSError as error:
        file.truncate(end.size)
        file.seek(0)
        file.write(head)
        raise InputError(f"cannot be written: {reason_of(error)}", path) from None


def _write(file: IO[bytes], place: int, content: bytes) -> None:
    file.seek(place)
    left = memoryview(content)
    while left:
        left = left[file.write(left) :]
    file.flush()
    os.fsync(file.fileno())


def read_uses(file: IO[bytes], path: Path | str) -> tuple[list[TestSetUse], End, tuple[str, ...]]:
    """Return the uses in a file, where what is whole ends, and what is to be said of the rest."""
    file.seek(0)
    data = file.read()
    size = data.rfind(b"\n") + 1
    rest = data[size:]
    if size and rest.startswith(_START) and rest.endswith(b"}"):  # whole, but for the line's end
        size, rest = len(data), b""
    head, *lines = data[:size].splitlines() or [_head(End()).rstrip()]
    told = _parse_head(head, path)
    uses, check = [], End().check
    for number, line in enumerate(lines, 2):
        use, check = _parse(line, check, path, number)
        uses.append(use)
        if len(uses) == told.uses and check != told.check:
            raise _damaged(path, number)
    if len(uses) < told.uses:
        raise InputError(
            f"has {len(uses)} uses of test sets, and had {told.uses}: lines were cut from its end; "
            f"expected the file as it was written",
            path,
        )
    end = End(size, len(uses), check)
    if not rest:
        return uses, end, ()
    ours = rest.startswith(_START) or _START.startswith(rest)
    if not ours and not size and rest.strip(b"\0"):
        raise _no_ledger(path)
    note = (
        f"{path}: its last line is torn ({len(rest)} bytes), since a writer was stopped before it "
        f"told its verdict; the next use writes over it"
    )
    return uses, end, (note,)


def _head(end: End) -> bytes:
    """Return the first line, as long whatever it says."""
    content = {"format": _FORMAT, "uses": f"{end.uses:012}", "check": end.check}
    return json.dumps(content).encode() + b"\n"


def _parse_head(line: bytes, path: Path | str) -> End:
    if not line.startswith(_START):
        raise _no_ledger(path)
    try:
        content = json.loads(line)
        told = End(uses=int(content["uses"]), check=content["check"])
        known = _head(told).rstrip() == line
    except (ValueError, KeyError, TypeError, RecursionError):
        known = False
    if not known:
        raise _damaged(path, 1)
    return told


def _parse(line: bytes, before: str, path: Path | str, number: int) -> tuple[TestSetUse, str]:
    """Return a use from its line, and its checksum; not a byte may have changed."""
    if not line.startswith(_START):
        raise InputError(
            "is damaged: this is no line of a ledger; expected it as it was", path, number
        )
    try:
        content = json.loads(line)
        check = content.pop("check")
        known = _check_of(content, before) == check
        del content["format"]
        content["sketch"] = tuple(content["sketch"])
        use = TestSetUse(**content)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        known = False
    if not known or use.candidates not in CANDIDATES or not 0 < use.threshold < 1:
        raise _damaged(path, number)
    return use, check


def _damaged(path: Path | str, number: int) -> InputError:
    return InputError(
        "is damaged: its checksum does not fit, or a line before it was changed, removed or put "
        "in; expected the lines as they were written",
        path,
        number,
    )


def _no_ledger(path: Path | str) -> InputError:
    return InputError("is no ledger of gates; expected one, or the name of a new file", path)


def lines_of(uses: Sequence[TestSetUse], check: str) -> tuple[bytes, str]:
    """Return uses as lines behind one with this checksum, and the last checksum."""
    lines = []
    for use in uses:
        content = {"format": _FORMAT} | {f.name: getattr(use, f.name) for f in fields(use)}
        content["sketch"] = list(use.sketch)
        check = _check_of(content, check)
        lines.append(json.dumps(content | {"check": check}).encode() + b"\n")
    return b"".join(lines), check


def _check_of(content: dict[str, Any], before: str) -> str:
    return hashlib.sha256((before + json.dumps(content)).encode()).hexdigest()[:_DIGITS]


def reason_of(error: OSError) -> str:
    """Why the system refused, in words."""
    return os.strerror(error.errno) if error.errno is not None else str(error)
