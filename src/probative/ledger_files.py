"""The file of a ledger: one line per use of a test set, and never a torn or lost one.

One exclusive lock is held from reading what came before until the new line is on the disk; it ends
with the process, however that ends. Every line has a checksum and the number of its look.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import contextmanager
from dataclasses import fields
from typing import IO, TYPE_CHECKING, Any

from probative.errors import InputError
from probative.files import check_target
from probative.inference.allowance import CANDIDATES
from probative.results.ledger import TestSetUse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["append_lines", "line_of", "lock", "open_locked", "read_uses", "reason_of"]

_FORMAT = "probative ledger 1"
_START = json.dumps({"format": _FORMAT})[:-1].encode()  # of every line
_LOCKED = 2**40  # of Windows, where a lock keeps others from reading: a byte behind all others


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


def append_lines(file: IO[bytes], path: Path | str, size: int, lines: bytes) -> None:
    """Put lines behind what is whole, on the disk; or leave the file as it was."""
    try:
        file.truncate(size)
        file.seek(max(size - 1, 0))
        ended = not size or file.read(1) == b"\n"
        left = memoryview(lines if ended else b"\n" + lines)
        while left:
            left = left[file.write(left) :]
        file.flush()
        os.fsync(file.fileno())
    except OSError as error:
        file.truncate(size)
        raise InputError(f"cannot be written: {reason_of(error)}", path) from None


def read_uses(file: IO[bytes], path: Path | str) -> tuple[list[TestSetUse], int, tuple[str, ...]]:
    """The uses in a file, where what is whole ends, and what is to be said of the rest."""
    file.seek(0)
    data = file.read()
    end = data.rfind(b"\n") + 1
    whole, rest = data[:end], data[end:]
    uses = [_parse(line, path, number) for number, line in enumerate(whole.splitlines(), 1)]
    _check_looks(uses, path)
    if not rest:
        return uses, end, ()
    if rest.startswith(_START) and rest.endswith(b"}"):  # whole, but for the end of the line
        return [*uses, _parse(rest, path, len(uses) + 1)], len(data), ()
    ours = rest.startswith(_START) or _START.startswith(rest)
    if not ours and not uses and rest.strip(b"\0"):
        raise _no_ledger(path)
    note = (
        f"{path}: its last line is torn ({len(rest)} bytes), since a writer was stopped before it "
        f"told its verdict; the next use writes over it"
    )
    return uses, end, (note,)


def _parse(line: bytes, path: Path | str, number: int) -> TestSetUse:
    """A use from its line; not a byte may have changed."""
    if not line.startswith(_START):
        if number == 1:
            raise _no_ledger(path)
        raise InputError(
            "is damaged: this is no line of a ledger; expected it as it was", path, number
        )
    try:
        content = json.loads(line)
        check = content.pop("check")
        known = _check_of(content) == check
        del content["format"]
        content["sketch"] = tuple(content["sketch"])
        use = TestSetUse(**content)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        known = False
    if not known or use.candidates not in CANDIDATES or not 0 < use.threshold < 1:
        raise InputError(
            "is damaged: its checksum does not fit; expected the line as it was written",
            path,
            number,
        )
    return use


def _check_looks(uses: Sequence[TestSetUse], path: Path | str) -> None:
    """Every look at a test set is there, and once."""
    looks: dict[str, int] = {}
    for number, use in enumerate(uses, 1):
        due = looks.get(use.test_set, 0) + (not use.repeated)
        if use.look != due and not (use.repeated and use.look <= due):
            raise InputError(
                f"tells of look {use.look} at test set {use.test_set[:8]}; expected look {due}: "
                f"lines were removed or put in",
                path,
                number,
            )
        looks[use.test_set] = due


def _no_ledger(path: Path | str) -> InputError:
    return InputError("is no ledger of gates; expected one, or the name of a new file", path)


def line_of(use: TestSetUse) -> bytes:
    """A use as a line, with its checksum."""
    content = {"format": _FORMAT} | {f.name: getattr(use, f.name) for f in fields(use)}
    content["sketch"] = list(use.sketch)
    return json.dumps(content | {"check": _check_of(content)}).encode() + b"\n"


def _check_of(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def reason_of(error: OSError) -> str:
    """Why the system refused, in words."""
    return os.strerror(error.errno) if error.errno is not None else str(error)
