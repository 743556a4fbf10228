"""The submissions in a folder; what cannot be one has a reason, and stops nobody else."""

from __future__ import annotations

import gzip
import hashlib
import os
import stat
import zlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from probative.errors import InputError
from probative.matching.outputs import short_name

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SubmittedFile", "content_digest", "find_submissions"]

_PIECE = 1 << 20
_GZIP = b"\x1f\x8b"


class SubmittedFile(NamedTuple):
    """What stands in the folder under one name.

    Attributes
    ----------
    name
        The name of the file without its endings, or that of the folder which holds it.
    path
        The file.
    file
        Its path inside the folder of submissions.
    error
        Why it cannot be a submission, or None.
    """

    name: str
    path: Path
    file: str
    error: str | None = None


def find_submissions(folder: Path, *, answer: Path, largest: int) -> list[SubmittedFile]:
    """The files of a folder, and those that stand alone in a folder of it, by name.

    Hidden files are passed over, and so is the answer itself.

    Parameters
    ----------
    folder
        Where to look.
    answer
        The answer, which is no submission wherever it stands.
    largest
        The most bytes that a submission may have, also unpacked.
    """
    try:
        entries = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except NotADirectoryError:
        raise InputError("is no folder; expected one that holds the submissions", folder) from None
    except FileNotFoundError:
        raise InputError("there is no such folder", folder) from None
    except OSError as error:
        raise InputError(f"cannot be read: {os.strerror(error.errno or 0)}", folder) from None
    files = [look for entry in entries for look in _look_at(entry, folder, answer, largest)]
    # the file system of whoever serves the site may not tell upper from lower case
    times = Counter(one.name.casefold() for one in files)
    return [_if_single(one, files) if times[one.name.casefold()] > 1 else one for one in files]


def content_digest(path: Path) -> str:
    """A text that files of the same content share, and no others."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _if_single(one: SubmittedFile, files: list[SubmittedFile]) -> SubmittedFile:
    also = [
        other.file
        for other in files
        if other.name.casefold() == one.name.casefold() and other is not one
    ]
    return one._replace(error=f"has the name of {also[0]}, too; expected one submission per name")


def _look_at(entry: Path, root: Path, answer: Path, largest: int) -> Iterator[SubmittedFile]:
    """What an entry of the folder is; nothing, if it is the answer."""
    path, name = entry, _printable(short_name(entry))
    try:
        if entry.is_dir():
            name = _printable(entry.name)
            _refuse_outside(entry, root)
            path = _only_file(entry)
        _refuse_outside(path, root)
        status = path.stat()
        if answer.exists() and path.samefile(answer):
            return
        _refuse_unreadable(path, status, largest)
        error = None
    except _NoSubmissionError as reason:
        error = str(reason)
    except FileNotFoundError:
        error = "is a link that leads nowhere; expected a file"
    except OSError as failure:
        error = f"cannot be read: {os.strerror(failure.errno or 0).lower()}"
    yield SubmittedFile(name, path, _printable(str(path.relative_to(root))), error)


class _NoSubmissionError(Exception):  # a reason, caught where it is raised
    """Why something is no submission."""


def _only_file(folder: Path) -> Path:
    inside = [path for path in sorted(folder.iterdir()) if not path.name.startswith(".")]
    if len(inside) != 1:
        raise _NoSubmissionError(f"is a folder of {len(inside):,} files; expected one")
    if inside[0].is_dir():
        raise _NoSubmissionError("is a folder in a folder; expected one file")
    return inside[0]


def _refuse_outside(path: Path, root: Path) -> None:
    """Refuse a link out of the folder: the answer may be there, or anybody's files."""
    if Path(os.path.realpath(root)) not in Path(os.path.realpath(path)).parents:
        raise _NoSubmissionError("is a link that leads out of the folder; expected a file")


def _refuse_unreadable(path: Path, status: os.stat_result, largest: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise _NoSubmissionError("is no file; expected one")
    if not os.access(path, os.R_OK):
        raise _NoSubmissionError("cannot be read: permission denied")
    if status.st_size > largest or _unpacks_beyond(path, largest):
        raise _NoSubmissionError(
            f"holds more than {largest / 2**20:g} MiB, the max_size; expected less"
        )


def _unpacks_beyond(path: Path, largest: int) -> bool:
    """Whether a compressed file holds more than it may; nothing of it is kept."""
    with path.open("rb") as file:
        if file.read(2) != _GZIP:
            return False
    size = 0
    try:
        with gzip.open(path) as file:
            while size <= largest and (piece := file.read(_PIECE)):
                size += len(piece)
    except (OSError, EOFError, zlib.error):
        return False  # the reader says what is wrong with it
    return size > largest


def _printable(name: str) -> str:
    """A name as text, also where the file system has bytes that are none."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
