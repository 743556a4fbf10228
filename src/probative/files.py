"""Writing files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from probative.errors import InputError

__all__ = ["write_whole"]


def write_whole(path: Path | str, content: str | bytes) -> None:
    """Write a file under another name first, so that a failure leaves what was there."""
    target = Path(path)
    data = content.encode() if isinstance(content, str) else content
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            mask = os.umask(0)
            os.umask(mask)
            Path(name).chmod(0o666 & ~mask)  # as a plain open() would have made it
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", target) from None
