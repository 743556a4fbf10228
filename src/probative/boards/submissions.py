"""The submissions in a folder; what cannot be one has a reason, and stops nobody else."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from probative.errors import InputError
from probative.matching.outputs import short_name
from probative.reading.source import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "SubmittedFile",
    "content_digest",
    "find_submissions",
    "one_per_name",
    "read_submission",
]

# a pipe that nobody writes to must not hold up the board; Windows has neither
_AS_IT_IS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_LINK = "is a link; expected the file itself"


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
    is_first
        Whether it holds its name; otherwise another submission does.
    """

    name: str
    path: Path
    file: str
    error: str | None = None
    is_first: bool = True

    @property
    def held_name(self) -> str:
        """The name that it holds: the server of a site may not tell upper from lower case."""
        return self.name.casefold()

    @property
    def entry(self) -> str:
        """What stands in the folder of submissions itself: the file, or its folder."""
        return Path(self.file).parts[0]


def find_submissions(folder: Path, *, answer: Path) -> list[SubmittedFile]:
    """Find the files of a folder, and those that stand alone in a folder of it, by name.

    Hidden files are passed over, and so is the answer itself.

    Parameters
    ----------
    folder
        Where to look.
    answer
        The answer, which is no submission wherever it stands.
    """
    try:
        entries = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except NotADirectoryError:
        raise InputError("is no folder; expected one that holds the submissions", folder) from None
    except FileNotFoundError:
        raise InputError("there is no such folder", folder) from None
    except OSError as error:
        raise InputError(f"cannot be read: {os.strerror(error.errno or 0)}", folder) from None
    return [look for entry in entries for look in _look_at(entry, folder, answer)]


def one_per_name(files: Sequence[SubmittedFile], holders: Mapping[str, str]) -> list[SubmittedFile]:
    """Refuse all submissions of one name but the one that came first.

    Parameters
    ----------
    files
        The submissions; where none of one name is known, the first of them has it.
    holders
        The file or folder that had a name at the last build.
    """
    first: dict[str, SubmittedFile] = {}
    for one in files:
        if one.held_name not in first or one.entry == holders.get(one.held_name):
            first[one.held_name] = one
    return [_if_first(one, first[one.held_name]) for one in files]


def content_digest(path: Path) -> str:
    """Return a text that files of the same content share, and no others."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_submission(one: SubmittedFile, root: Path, *, answer: Path, largest: int) -> bytes:
    """Read a file that somebody submitted; what was checked is what is read.

    The file is opened once, and no link is followed on the way from the folder of submissions to
    it: a link that is put into its place meanwhile is refused.

    Parameters
    ----------
    one
        The submission.
    root
        The folder of submissions.
    answer
        The answer, which is no submission.
    largest
        The most bytes that it may have.
    """
    try:
        handle = _open(one.path, root)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InputError("is no file; expected one", one.path)
            with suppress(OSError):
                if os.path.samestat(status, answer.stat()):
                    raise InputError("is the answer itself; expected an output", one.path)
            data = file.read(largest + 1)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise InputError(f"cannot be read: {reason}", one.path) from None
    if len(data) > largest:
        raise TooLargeError("is too large", one.path)
    return data


def _open(path: Path, root: Path) -> int:
    """Open a file below a folder without following a link."""
    *folders, last = path.relative_to(root).parts
    if os.open not in os.supports_dir_fd:  # Windows
        for place in (path, path.parent):
            if place != root and place.is_symlink():
                raise InputError(_LINK, path)
        return os.open(path, os.O_RDONLY | _BINARY)
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in folders:
            inside = os.open(name, os.O_RDONLY | os.O_DIRECTORY | _AS_IT_IS, dir_fd=at)
            os.close(at)
            at = inside
        return os.open(last, os.O_RDONLY | _AS_IT_IS, dir_fd=at)
    except OSError as error:
        # Linux and macOS say ELOOP, BSD EMLINK, and ENOTDIR of a folder that became a link
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR):
            raise InputError(_LINK, path) from None
        raise
    finally:
        os.close(at)


def _if_first(one: SubmittedFile, first: SubmittedFile) -> SubmittedFile:
    """Return the submission, with an error if another one has its name."""
    if one is first:
        return one
    reason = f"has the name of {first.file}, which was there first; expected another name"
    return one._replace(error=reason, is_first=False)


def _look_at(entry: Path, root: Path, answer: Path) -> Iterator[SubmittedFile]:
    """Say what an entry of the folder is; nothing, if it is the answer."""
    path, name, error = entry, _printable(short_name(entry)), None
    try:
        if entry.is_symlink():
            error = _LINK
        elif entry.is_dir():
            name = _printable(entry.name)
            inside = [own for own in sorted(entry.iterdir()) if not own.name.startswith(".")]
            if len(inside) != 1:
                error = f"is a folder of {len(inside):,} files; expected one"
            elif inside[0].is_dir() and not inside[0].is_symlink():
                error = "is a folder in a folder; expected one file"
            else:
                path = inside[0]
        if error is None and answer.exists() and os.path.samestat(path.lstat(), answer.stat()):
            return
    except OSError as failure:
        error = f"cannot be read: {os.strerror(failure.errno or 0).lower()}"
    yield SubmittedFile(name, path, _printable(str(path.relative_to(root))), error)


def _printable(name: str) -> str:
    """Return a name as text, also where the file system has bytes that are none."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
