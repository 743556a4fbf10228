"""Writing files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["create_whole", "write_whole"]


def write_whole(path: Path | str, content: str | bytes) -> None:
    """Write a file under another name first, so that a failure leaves what was there."""
    target = Path(path)
    with _beside(target, content) as temporary:
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
    with _beside(target, content) as temporary:
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
def _beside(target: Path, content: str | bytes) -> Iterator[Path]:
    """A finished file beside the target, to be put into its place; what is not, is removed."""
    data = content.encode() if isinstance(content, str) else content
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}-")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            mask = os.umask(0)
            os.umask(mask)
            temporary.chmod(0o666 & ~mask)  # as a plain open() would have made it
            yield temporary
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", target) from None
