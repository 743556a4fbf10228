"""Intervals drawn with characters in the rows of a table: a forest plot for the terminal."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from probative.reporting.plain_text import cell_len

if TYPE_CHECKING:
    from probative.reporting.document import Table, Tracks

__all__ = ["draw_tracks"]

_LEAST, _MOST = 15, 41  # characters of a drawing; odd, so that something stands in the middle
_GAP = 3  # between columns


def draw_tracks(table: Table, width: int) -> Table:
    """The table with its intervals drawn, where it asks for that and there is room.

    Columns that can be spared make room for it.
    """
    if table.track_column is None or table.tracks is None:
        return table
    room = _room(table, width)
    narrow = table
    while room < _LEAST and narrow.droppable and narrow.track_column is not None:
        narrow = narrow.without(narrow.droppable[0])
        room = _room(narrow, width)
    if room < _LEAST or narrow.track_column is None:
        return table
    size, place = min(room, _MOST), narrow.track_column
    if narrow is not table:
        spared = [head for head in table.columns if head not in narrow.columns]
        words = f"Columns left out for want of room: {', '.join(spared)}."
        narrow = replace(narrow, notes=(*narrow.notes, words))
    cells = [_drawn(row, table.tracks, size) for row in table.tracks.rows]
    return narrow.with_column(place, "", cells)


def _room(table: Table, width: int) -> int:
    """The characters that the other columns leave."""
    rows = (table.columns, *table.rows)
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    return width - sum(widths) - _GAP * len(widths) - 4


def _drawn(row: tuple[float, float, float] | None, tracks: Tracks, size: int) -> str:
    """One interval: ``├──●──┤``, with ``┊`` at zero."""

    def place(value: float) -> int:
        share = (value - tracks.low) / (tracks.high - tracks.low)
        return min(size - 1, max(0, round(share * (size - 1))))

    signs = [" "] * size
    if tracks.zero:
        signs[place(0.0)] = "┊"
    if row is not None:
        estimate, low, high = (place(value) for value in row)
        for at in range(low, high + 1):
            signs[at] = "┼" if signs[at] == "┊" and low < at < high else "─"
        signs[low], signs[high] = "├", "┤"
        signs[estimate] = "●"
    return f"│{''.join(signs)}│"  # a column of numbers would lose the blanks at its ends
