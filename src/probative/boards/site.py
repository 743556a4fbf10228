"""A folder of pages that is replaced whole or not at all, and only if it is ours."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from probative.errors import InputError
from probative.files import check_folder, make_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["MANIFEST", "check_site", "locked", "real_site", "replace_site"]

MANIFEST = "manifest.json"  # what makes a folder a site of ours: the list of its files
_WHAT = "written by probative board, which replaces this folder whole"
_EXCHANGE, _HERE = 2, -100  # RENAME_EXCHANGE and AT_FDCWD of Linux


def real_site(path: Path | str) -> Path:
    """The folder that is meant, through symbolic links, if it can be one at all."""
    site = Path(os.path.realpath(path))
    if not site.name:
        raise InputError("is no place for a site; expected a folder of its own", path)
    if site == Path(os.path.realpath(".")):
        raise InputError("is where this command runs; expected another folder", path)
    check_folder(site)
    return site


@contextmanager
def locked(site: Path) -> Iterator[None]:
    """Keep other builders out, and clear away what a killed one has left.

    The lock ends with the process, however that ends.
    """
    make_folder(site.parent)
    place = site.with_name(f".{site.name}.lock")
    file = _acquire(place, site)
    try:
        _restore(site)
        yield
    finally:
        with suppress(PermissionError):  # Windows removes no open file
            place.unlink(missing_ok=True)  # before anybody else can have it
        file.close()


def _acquire(place: Path, site: Path) -> IO[bytes]:
    """An open file that no other process has locked."""
    while True:
        try:
            file = place.open("ab")
        except OSError as error:
            raise InputError(f"cannot be built: {_reason(error)}", site) from None
        try:
            _lock(file)
        except OSError:
            file.close()
            raise InputError(
                "is being built by another process; expected that to end first", site
            ) from None
        # whoever had it before has removed it
        if place.exists() and os.path.samestat(os.fstat(file.fileno()), place.stat()):
            return file
        file.close()


def _lock(file: IO[bytes]) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def check_site(site: Path) -> None:
    """Refuse to replace a folder that is not ours, or that holds what we did not write."""
    if not site.exists() or not any(site.iterdir()):
        return
    try:
        content = json.loads((site / MANIFEST).read_bytes())
        written = content["files"] if content["what"] == _WHAT else None
    except (OSError, ValueError, KeyError, TypeError):
        written = None
    if not isinstance(written, dict):
        raise InputError(
            f"is no site of a board (it has no {MANIFEST} of one); expected such a site, or a new "
            f"or empty folder",
            site,
        )
    for path in sorted(site.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            continue
        name = path.relative_to(site).as_posix()
        if name != MANIFEST and (name not in written or path.is_symlink()):
            raise InputError(
                f"holds {name!r}, which the board has not written and would lose; expected it "
                f"elsewhere",
                site,
            )
        if name != MANIFEST and _digest(path.read_bytes()) != written[name]:
            raise InputError(
                f"{name!r} was edited there, and would be lost; expected another folder, or "
                f"{name!r} removed",
                site,
            )


def replace_site(site: Path, files: Mapping[str, str]) -> None:
    """Put a new site into the place of the old one, in one step where the system has one.

    Parameters
    ----------
    site
        The folder.
    files
        What shall be in it, and nothing else: content by path.
    """
    try:
        new = Path(tempfile.mkdtemp(prefix=f".{site.name}-building-", dir=site.parent))
        try:
            _write(new, files)
            new.chmod(_mode(site))
            check_site(site)  # it may have changed meanwhile
            _swap(new, site)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    except OSError as error:
        raise InputError(f"cannot be written: {_reason(error)}", site) from None


def _write(folder: Path, files: Mapping[str, str]) -> None:
    digests = {}
    for name, content in files.items():
        data = content.encode()
        place = folder / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(data)
        digests[name] = _digest(data)
    manifest = {"what": _WHAT, "files": digests}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def _swap(new: Path, site: Path) -> None:
    if not site.exists():
        new.rename(site)
    elif not _exchange(new, site):
        # two steps: what a kill between them leaves is put right by `_restore`
        old = Path(tempfile.mkdtemp(prefix=f".{site.name}-old-", dir=site.parent)) / "site"
        site.rename(old)
        try:
            new.rename(site)
        except OSError:
            old.rename(site)
            raise
        finally:
            shutil.rmtree(old.parent, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; False where the system cannot."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    return bool(rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0)


def _restore(site: Path) -> None:
    """Put an old site back that a killed builder moved away, and remove unfinished ones."""
    left = re.compile(re.escape(f".{site.name}-") + r"(building|old)-\w{8}")
    for path in sorted(site.parent.iterdir()):
        if left.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
            if (path / "site").is_dir() and not site.exists():
                (path / "site").rename(site)
            shutil.rmtree(path, ignore_errors=True)


def _mode(site: Path) -> int:
    """The permissions of the old site, or those that a plain mkdir() would give."""
    if site.exists():
        return stat.S_IMODE(site.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o777 & ~mask


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno is not None else str(error)
