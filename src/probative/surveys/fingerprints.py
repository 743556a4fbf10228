"""Whether an input is still what it was."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from probative.errors import InputError
from probative.identity import digest
from probative.reading.inputs import is_path

__all__ = ["fingerprint"]


def fingerprint(data: Any) -> str:
    """A text that tells whether an input is still the same: of a file, by its content alone."""
    if not is_path(data):
        return f"python:{digest('systems', data)}"
    if str(data) == "-":
        raise InputError(
            "-: standard input cannot be read again when the sample is annotated; expected a file"
        )
    path = Path(data)
    content = hashlib.sha256()
    try:
        if path.is_dir():
            for file in sorted(path.iterdir()):
                content.update(file.name.encode() + b"\0" + file.read_bytes())
        else:
            with path.open("rb") as opened:
                while piece := opened.read(1 << 24):
                    content.update(piece)
    except FileNotFoundError:
        raise InputError("there is no such file", path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read: {reason.lower()}", path) from None
    return f"sha256:{content.hexdigest()}"
