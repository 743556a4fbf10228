"""What a command has to say, before it is known in which form.

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
    """Text that stands out: bold, where the form has it."""

    __slots__ = ()


@dataclass(frozen=True)
class Tracks:
    """Intervals drawn in the rows of a table, all on one scale from `low` to `high`.

    `rows` hold the estimate and the limits of each row, None where it has none; `zero` draws the
    line of no difference, `marked` rows have the colour of the baseline.
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
        """Put these estimates and limits on one scale; what is undefined is not drawn."""
        defined = tuple(row if row[0] == row[0] else None for row in rows)
        values = [value for row in defined if row for value in row] + [0.0] * zero
        low, high = min(values, default=0.0), max(values, default=1.0)
        return cls(defined, low, high if high > low else low + 0.01, zero, frozenset(marked))

    def place(self, value: float) -> str:
        """Where a value lies on the scale, in percent."""
        return f"{100 * (value - self.low) / (self.high - self.low):.1f}%"


@dataclass(frozen=True)
class Table:
    """Rows of ready-made text under column heads.

    The first `text_columns` hold words, and so does the last one where `closing_words`; the others
    hold numbers. Where there are `tracks`, the page draws each row's interval in it. Where there
    is no room for all columns, the `droppable` ones are left out, the first of them first.
    `bold_note` says what bold text means, where the form shows any. `links` are where the first
    cells of the rows lead on a page. `caption` is what a paper's caption says besides. Before
    `track_column`, text draws the tracks where there is room; None: it does not.
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
        """The notes of a form that shows what stands out."""
        shown = self.bold_note and any(
            isinstance(cell, Strong) for row in self.rows for cell in row
        )
        return (*self.notes, self.bold_note) if shown else self.notes

    def holds_words(self, column: int) -> bool:
        """Whether a column is to be read from the left, and may be broken into lines."""
        last = column == len(self.columns) - 1
        return column < self.text_columns or (last and self.closing_words)

    @property
    def word_columns(self) -> tuple[bool, ...]:
        """Of every column, whether it is to be read from the left."""
        return tuple(self.holds_words(i) for i in range(len(self.columns)))

    def full_head(self, column: int) -> str:
        """The head of a column; where several have it, with what it belongs to, left of it."""
        head = self.columns[column]
        if self.columns.count(head) == 1:
            return head
        return f"{head} of {self.columns[column - 1]}"

    def without(self, column: int) -> Table:
        """The same table without a column."""
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
        """The same table with one more column before this place."""
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
    """A figure as SVG, with its words for those who cannot see it.

    `title` says what it shows, `reading` in plain words how to read it.
    """

    svg: str
    title: str
    description: str
    reading: str = ""


@dataclass(frozen=True)
class Document:
    """Everything a command prints.

    Attributes
    ----------
    title
        The head of the page.
    payload
        What ``--format json`` prints: the contract.
    tables
        What people read, in order.
    records
        What ``--format csv`` prints: one dictionary per line, numbers in full precision.
    leading
        Sentences above the tables: the verdicts.
    notes
        Sentences below the tables: assumptions, warnings.
    drawings
        Figures for the HTML page.
    page, content
        The template of the HTML page, and a function that gives what it shows besides all this:
        figures take time, and not everybody wants the page.
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
    """The top level of every JSON answer."""
    return {"command": command, "version": __version__, "signature": signature, **content}
