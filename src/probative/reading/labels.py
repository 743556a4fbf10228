"""One label per line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from probative.reading.annotations import Labels
from probative.reading.fields import distinct, lines_of

if TYPE_CHECKING:
    from probative.reading.source import Source

__all__ = ["read_labels"]


def read_labels(source: Source) -> Labels:
    """Read one label per line; white space around it is dropped, inside it is kept."""
    begin, end = lines_of(source)
    filled = np.flatnonzero(end > begin)
    begin, end = begin[: filled[-1] + 1], end[: filled[-1] + 1]
    codes, values = distinct(source, begin, end)
    stripped = [value.decode("utf-8", "replace").strip() for value in values]
    empty = [code for code, name in enumerate(stripped) if not name]
    if empty:
        missing = np.isin(codes, empty)
        if missing.all():
            raise source.error("holds spaces only; expected at least one label")
        last = int(np.flatnonzero(~missing)[-1])
        codes, missing = codes[: last + 1], missing[: last + 1]
        if missing.any():
            raise source.error("the line is empty; expected a label", int(np.argmax(missing)) + 1)
    names = tuple(sorted(set(stripped) - {""}))
    number = {name: i for i, name in enumerate(names)}
    merged = np.array([number.get(name, -1) for name in stripped], dtype=np.int32)
    return Labels(source.name, merged[codes], names, notes=(f"{source.name}: one label per line",))
