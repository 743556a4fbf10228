"""Writing files whole or not at all, only where there is nothing else to lose; finding them."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "check_folder",
    "check_target",
    "create_whole",
    "find_paths",
    "make_folder",
    "write_whole",
]

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def find_paths(pattern: str, *, recursive: bool = False) -> list[str]:
    """The paths that a pattern stands for, in order; it may begin anywhere, and have ``**``."""
    return sorted(glob(pattern, recursive=recursive))  # noqa: PTH207  # Path's begin in a folder


def write_whole(path: Path | str, content: str | bytes) -> None:
    """Write a file under another name first, so that a failure leaves what was there.

    A symbolic link stays a link: what it points to is written. A device, a pipe, a socket or a
    directory is never replaced.
    """
    target = check_target(path)
    with _beside(target, content, path) as temporary:
        temporary.replace(target)


def create_whole(path: Path | str, content: str | bytes) -> bool:
    """Write a file unless there is one; of several that try at once, one succeeds.

    Parameters
    ----------
    path
        The file.
    content
        What shall be in it, from the moment it is there.

    Returns
    -------
    bool
        Whether it was written. False: there was one, and it is as it was.
    """
    target = Path(path)
    with _beside(target, content, path) as temporary:
        try:
            os.link(temporary, target)
        except FileExistsError:
            return False
        except (OSError, NotImplementedError):  # a file system without second names
            try:
                with target.open("xb") as file:
                    file.write(temporary.read_bytes())
            except FileExistsError:
                return False
    return True


@contextmanager
def _beside(target: Path, content: str | bytes, path: Path | str) -> Iterator[Path]:
    """A finished file beside the target, to be put into its place; what is not, is removed."""
    data = content.encode() if isinstance(content, str) else content
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}-")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            temporary.chmod(_mode(target))
            yield temporary
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot be written: {_reason(error)}", path) from None


def check_target(path: Path | str) -> Path:
    """Return the file that writing to this path would make or replace, or say why none can be.

    Nothing is opened or changed: a command can ask before it begins to work.
    """
    try:
        target = Path(os.path.realpath(path))
        parent = target.parent.stat()
        mode = _file_mode(target)
    except FileNotFoundError:
        raise InputError("cannot be written: its folder does not exist", path) from None
    except NotADirectoryError:
        raise InputError("cannot be written: its folder is not a directory", path) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be written: {_reason(error)}", path) from None
    if not stat.S_ISDIR(parent.st_mode):
        raise InputError("cannot be written: its folder is not a directory", path)
    if mode is not None and not stat.S_ISREG(mode):
        kind = next((kind for is_kind, kind in _KINDS if is_kind(mode)), "not a file")
        raise InputError(f"cannot be written: it is {kind}; expected the name of a file", path)
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError("cannot be written: its folder is not writable", path)
    if mode is not None and not os.access(target, os.W_OK):
        raise InputError("cannot be written: it is read-only", path)
    return target


def check_folder(path: Path | str) -> None:
    """Say why files cannot be put into a folder of this name, existing or not; change nothing."""
    folder = Path(path)
    try:
        while _file_mode(folder) is None and folder != folder.parent:
            folder = folder.parent
        mode = _file_mode(folder)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be made: {_reason(error)}", path) from None
    what = "cannot be used: it" if folder == Path(path) else f"cannot be made: {folder}"
    if mode is None or not stat.S_ISDIR(mode):
        raise InputError(f"{what} is not a directory", path)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{what} is not writable", path)


def make_folder(path: Path | str) -> None:
    """Make a folder, with those above it, where it is missing."""
    check_folder(path)
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {_reason(error)}", path) from None


def _file_mode(path: Path) -> int | None:
    """What kind of file a path is, or None where there is none."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return None


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those that a plain open() would give."""
    mode = _file_mode(target)
    if mode is not None:
        return stat.S_IMODE(mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _reason(error: OSError | ValueError) -> str:
    """The reason in words, without the path that the message names already."""
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno) if error.errno != errno.ENOSPC else "the disk is full"
    return str(error)
