"""Describe what a command prints, whatever the form.

A `Document` is made from results; `reporting.render` turns it into text, JSON, Markdown, LaTeX,
CSV or HTML.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from probative._version import __version__
from probative.wording.numbers import number, points

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["Document", "Drawing", "Strong", "Table", "Tracks", "number", "payload", "points"]


class Strong(str):
    """Text in bold, where the form has it."""

    __slots__ = ()


@dataclass(frozen=True)
class Tracks:
    """Intervals drawn in the rows of a table, all on one scale from `low` to `high`.

    `rows` hold the estimate and the interval of each row, or None; `zero` draws the line of no
    difference, `marked` rows have the colour of the baseline.
    """

    rows: tuple[tuple[float, float, float] | None, ...]
    low: float
    high: float
    zero: bool = False
    marked: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls,
        rows: Sequence[tuple[float, float, float]],
        *,
        zero: bool = False,
        marked: Iterable[int] = (),
    ) -> Tracks:
        """Put these estimates and intervals on one scale; undefined ones are not drawn."""
        defined = tuple(row if row[0] == row[0] else None for row in rows)
        values = [value for row in defined if row for value in row] + [0.0] * zero
        low, high = min(values, default=0.0), max(values, default=1.0)
        return cls(defined, low, high if high > low else low + 0.01, zero, frozenset(marked))

    def place(self, value: float) -> str:
        """Return the place of a value on the scale, in percent."""
        return f"{100 * (value - self.low) / (self.high - self.low):.1f}%"


@dataclass(frozen=True)
class Table:
    """Rows of formatted text under column headings.

    The first `text_columns` hold words, and so does the last one if `closing_words`; the others
    hold numbers. The page draws the `tracks` in the rows; text draws them before `track_column`, if
    that is not None and there is room. If there is no room for all columns, the `droppable` ones
    are left out in this order. `bold_note` explains bold text, `links` are the targets of the first
    cells on a page, and `caption` is added to the caption in a paper.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    text_columns: int = 1
    closing_words: bool = False
    tracks: Tracks | None = None
    droppable: tuple[int, ...] = ()
    bold_note: str = ""
    links: tuple[str, ...] = ()
    caption: tuple[str, ...] = ()
    track_column: int | None = None

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Return the notes, with the one on bold text if there is any."""
        shown = self.bold_note and any(
            isinstance(cell, Strong) for row in self.rows for cell in row
        )
        return (*self.notes, self.bold_note) if shown else self.notes

    def holds_words(self, column: int) -> bool:
        """Return True if a column is aligned left and may be broken into lines."""
        last = column == len(self.columns) - 1
        return column < self.text_columns or (last and self.closing_words)

    @property
    def word_columns(self) -> tuple[bool, ...]:
        """Return for every column True if it is aligned left."""
        return tuple(self.holds_words(i) for i in range(len(self.columns)))

    def full_head(self, column: int) -> str:
        """Return the heading of a column, with that of its left neighbour if not unique."""
        head = self.columns[column]
        if self.columns.count(head) == 1:
            return head
        return f"{head} of {self.columns[column - 1]}"

    def without(self, column: int) -> Table:
        """Return the table without a column."""
        kept = [i for i in range(len(self.columns)) if i != column]
        return replace(
            self,
            columns=tuple(self.columns[i] for i in kept),
            rows=tuple(tuple(row[i] for i in kept) for row in self.rows),
            text_columns=sum(i < self.text_columns for i in kept),
            closing_words=self.closing_words and column != len(self.columns) - 1,
            droppable=tuple(i - (i > column) for i in self.droppable if i != column),
            track_column=None
            if self.track_column is None
            else self.track_column - (self.track_column > column),
        )

    def with_column(self, place: int, head: str, cells: Sequence[str]) -> Table:
        """Return the table with one more column before this place."""
        rows = zip(self.rows, cells, strict=True)
        return replace(
            self,
            columns=(*self.columns[:place], head, *self.columns[place:]),
            rows=tuple((*row[:place], cell, *row[place:]) for row, cell in rows),
            text_columns=self.text_columns + (place < self.text_columns),
            droppable=tuple(i + (i >= place) for i in self.droppable),
            track_column=None,
        )


@dataclass(frozen=True)
class Drawing:
    """Figure as SVG, with a description for those who cannot see it.

    `title` says what it shows, `reading` how to read it.
    """

    svg: str
    title: str
    description: str
    reading: str = ""


@dataclass(frozen=True)
class Document:
    """Content of everything that a command prints.

    Attributes
    ----------
    title
        The heading of the page.
    payload
        The output of ``--format json``: the contract.
    tables
        The tables in order.
    records
        The output of ``--format csv``: one dictionary per line, numbers in full precision.
    leading
        Sentences above the tables: the verdicts.
    notes
        Sentences below the tables: assumptions, warnings.
    drawings
        Figures for the HTML page.
    page, content
        The template of the HTML page, and a function that returns its further variables: a
        function, because figures take time and not everybody wants the page.
    """

    title: str
    payload: dict[str, Any]
    tables: tuple[Table, ...]
    records: tuple[dict[str, Any], ...]
    notes: tuple[str, ...] = ()
    leading: tuple[str, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    page: str = "page.html"
    content: Callable[[], Mapping[str, Any]] = dict


def payload(command: str, signature: str, **content: Any) -> dict[str, Any]:
    """Return the top level of every JSON output."""
    return {"command": command, "version": __version__, "signature": signature, **content}
