"""Tables as plain text where nothing must be broken: what goes to a file or a pipe.

Rich draws the others, in colour or on a narrow terminal; it takes longer to load than a score
takes to compute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative.reporting.escape import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from probative.reporting.document import Table

__all__ = ["note_lines", "table_lines"]


def table_lines(table: Table, width: int) -> list[str] | None:
    """The lines of a table, each column as wide as it needs; None where that is not all."""
    rows = [[plain(cell) for cell in row] for row in (table.columns, *table.rows)]
    title = plain(table.title)
    texts = [title, *(cell for row in rows for cell in row)]
    if len(rows) == 1 or not rows[0] or any(not text.isprintable() for text in texts):
        return None
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    total = sum(widths) + 3 * (len(widths) - 1) + 2
    if total > width or cell_len(title) > total or 0 in widths:
        return None
    words = [table.holds_words(i) for i in range(len(widths))]
    head, *body = (" " + "   ".join(_padded(row, widths, words)) for row in rows)
    return [title, "", head, " " + "─" * (total - 2), *body, ""]


def note_lines(note: str, width: int | None) -> list[str]:
    """A sentence in lines of this width; on one line where there is no limit."""
    text = plain(note)
    if width is None or cell_len(text) <= width:
        return [text]
    lines, line = [], ""
    for word in text.split():
        wider = f"{line} {word}" if line else word
        if line and cell_len(wider) > width:
            lines.append(line)
            line = word
        else:
            line = wider
        while cell_len(line) > width:  # longer than a line: cut
            at = next((i for i in range(len(line), 0, -1) if cell_len(line[:i]) <= width), 1)
            lines.append(line[:at])
            line = line[at:]
    return [*lines, line]


def cell_len(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():  # as most are: no need for tables of wide characters
        return len(text)
    from rich.cells import cell_len as columns_of

    return columns_of(text)


def _padded(row: list[str], widths: list[int], words: list[bool]) -> Iterable[str]:
    for cell, size, from_left in zip(row, widths, words, strict=True):
        text = cell if from_left else cell.rstrip()
        room = " " * (size - cell_len(text))
        yield text + room if from_left else room + text
