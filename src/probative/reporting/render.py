"""Render a `Document` as text, JSON, Markdown, LaTeX, CSV or HTML."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from functools import cache
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from probative._validation import one_of
from probative.errors import InputError
from probative.metrics import TABLE
from probative.reporting import escape
from probative.reporting.document import Strong
from probative.reporting.escape import plain
from probative.wording.numbers import points, scale_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from jinja2 import Environment
    from markupsafe import Markup
    from rich.console import Console
    from rich.table import Table as RichTable

    from probative.reporting.document import Document, Table, Tracks


# --- Tables as plain text for a file or a pipe, if they fit
#
# Rich draws the others, in colour or on a narrow terminal; it takes longer to load than a score
# takes to compute.


def _table_lines(table: Table, width: int) -> list[str] | None:
    """Return the lines of a table with columns at full width; None if it does not fit."""
    rows = [[plain(cell) for cell in row] for row in (table.columns, *table.rows)]
    title = plain(table.title)
    texts = [title, *(cell for row in rows for cell in row)]
    if len(rows) == 1 or not rows[0] or any(not text.isprintable() for text in texts):
        return None
    widths = [max(map(_cell_len, column)) for column in zip(*rows, strict=True)]
    total = sum(widths) + 3 * (len(widths) - 1) + 2
    if total > width or _cell_len(title) > total or 0 in widths:
        return None
    words = [table.holds_words(i) for i in range(len(widths))]
    head, *body = (" " + "   ".join(_padded(row, widths, words)) for row in rows)
    return [title, "", head, " " + "─" * (total - 2), *body, ""]


def note_lines(note: str, width: int | None) -> list[str]:
    """Break a sentence into lines of this width; return one line without a width."""
    text = plain(note)
    if width is None or _cell_len(text) <= width:
        return [text]
    lines, line = [], ""
    for word in text.split():
        wider = f"{line} {word}" if line else word
        if line and _cell_len(wider) > width:
            lines.append(line)
            line = word
        else:
            line = wider
        while _cell_len(line) > width:  # a word longer than a line is cut
            at = next((i for i in range(len(line), 0, -1) if _cell_len(line[:i]) <= width), 1)
            lines.append(line[:at])
            line = line[at:]
    return [*lines, line]


def _cell_len(text: str) -> int:
    """Return the number of terminal columns that a text takes."""
    if text.isascii():  # most are: avoids loading the tables of wide characters
        return len(text)
    from rich.cells import cell_len as columns_of

    return columns_of(text)


def _padded(row: list[str], widths: list[int], words: list[bool]) -> Iterable[str]:
    for cell, size, from_left in zip(row, widths, words, strict=True):
        text = cell if from_left else cell.rstrip()
        room = " " * (size - _cell_len(text))
        yield text + room if from_left else room + text


# --- Intervals drawn with characters in the rows of a table

_NARROWEST_TRACK, _WIDEST_TRACK = 15, 41  # characters of a drawing; odd, so that there is a middle
_TEXT_TRACKS_GAP = 3  # characters between columns


def _draw_tracks(table: Table, width: int) -> Table:
    """Draw the intervals of a table in a column, if it asks for that and there is room.

    Droppable columns make room for it.
    """
    if table.track_column is None or table.tracks is None:
        return table
    room = _room(table, width)
    narrow = table
    while room < _NARROWEST_TRACK and narrow.droppable and narrow.track_column is not None:
        narrow = narrow.without(narrow.droppable[0])
        room = _room(narrow, width)
    if room < _NARROWEST_TRACK or narrow.track_column is None:
        return table
    size, place = min(room, _WIDEST_TRACK), narrow.track_column
    if narrow is not table:
        spared = [head for head in table.columns if head not in narrow.columns]
        words = f"Columns left out for want of room: {', '.join(spared)}."
        narrow = replace(narrow, notes=(*narrow.notes, words))
    cells = [_drawn(row, table.tracks, size) for row in table.tracks.rows]
    return narrow.with_column(place, "", cells)


def _room(table: Table, width: int) -> int:
    """Return the number of characters that the other columns leave."""
    rows = (table.columns, *table.rows)
    widths = [max(map(_cell_len, column)) for column in zip(*rows, strict=True)]
    return width - sum(widths) - _TEXT_TRACKS_GAP * len(widths) - 4


def _drawn(row: tuple[float, float, float] | None, tracks: Tracks, size: int) -> str:
    """Draw one interval: ``├──●──┤``, with ``┊`` at zero."""

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
    # bars at both ends, since a column of numbers would lose its blanks
    return f"│{''.join(signs)}│"


# columns of a LaTeX table: from this number on they are set closely; more do not fit a page
_FEWEST_CLOSE_COLUMNS, _MOST_COLUMNS = 7, 8
_PAGE_LETTERS, _GAP_LETTERS = 80, 1.5  # letters in a line of a small table, and between columns
_SHORT_NAME_LETTERS = 20  # letters of a name that never need a second line
_RAGGED = r"\raggedright "
_NOT_LATIN = "% holds letters that pdfLaTeX does not have; needs LuaLaTeX or XeLaTeX, and a font"
_NAMES_OF_SCORES = ("metric", "score")  # headings of columns
UNLIMITED = 200  # terminal columns without a terminal: tables fit, sentences stay on one line


def render(document: Document, form: str, *, colour: bool = False, width: int = UNLIMITED) -> str:
    """Return the document in the form asked for, one of `FORMATS`, ending in a line break."""
    one_of("form", form, FORMATS)
    if form == "text":
        return as_text(document, colour=colour, width=width)
    return _RENDERERS[form](document)


def as_text(document: Document, *, colour: bool = False, width: int = UNLIMITED) -> str:
    """Render tables and notes for the terminal, a file or a pipe."""
    with scale_of(document.scale):
        document = replace(document, tables=tuple(_draw_tracks(t, width) for t in document.tables))
    text = None if colour else _as_plain_text(document, width)
    if text is None:
        text = _as_rich_text(document, colour=colour, width=width)
    lines = "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
    return re.sub(r"\n{3,}", "\n\n", lines) + "\n"


def _as_plain_text(document: Document, width: int = UNLIMITED) -> str | None:
    """Render as text without Rich; return None if a table does not fit."""
    lines: list[str] = []
    room = None if width == UNLIMITED else width
    for words in document.leading:
        lines += [*note_lines(words, room), ""]
    for table in document.tables:
        drawn = _table_lines(table, width)
        if drawn is None:
            return None
        lines += drawn
        for note in table.notes:
            lines += note_lines(note, room)
        lines.append("")
    for note in document.notes:
        lines += [*note_lines(note, room), ""]
    return "\n".join(lines)


def _as_rich_text(document: Document, *, colour: bool, width: int) -> str:
    from rich.console import Console
    from rich.text import Text

    console = Console(
        file=io.StringIO(), width=width, force_terminal=colour, no_color=not colour, highlight=False
    )

    def tell(note: str) -> None:
        console.print(Text(escape.plain(note)), soft_wrap=width == UNLIMITED)

    for words in document.leading:
        tell(words)
        console.print()
    for table in document.tables:
        left_out = _print_table(table, console, width)
        for note in table.all_notes if colour else table.notes:
            tell(note)
        if left_out:
            tell(f"Columns left out for want of room: {', '.join(dict.fromkeys(left_out))}.")
        console.print()
    for note in document.notes:
        tell(note)
        console.print()
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]  # the StringIO above


def _print_table(table: Table, console: Console, width: int) -> list[str]:
    """Print a table, and return the columns for which there was no room."""
    left_out: list[str] = []
    while True:
        grid = _rich_table(table)
        needed = sum(column.min_width or 0 for column in grid.columns) + 3 * len(grid.columns) - 1
        if needed <= width or not table.droppable:
            break
        left_out.append(table.full_head(table.droppable[0]))
        table = table.without(table.droppable[0])
    console.width = max(width, needed)  # otherwise Rich would shrink columns of words to nothing
    console.print(grid, crop=False)
    console.width = width
    return left_out


def _rich_table(table: Table) -> RichTable:
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable(
        title=Text(escape.plain(table.title), style="bold") if table.title else None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for i, head in enumerate(table.columns):
        cells = [escape.plain(text) for text in (head, *(row[i] for row in table.rows))]
        words = table.holds_words(i)
        # numbers are never broken or cut: the table is then wider than the terminal
        whole = cells if not words else [word for cell in cells for word in cell.split()]
        grid.add_column(
            Text(cells[0]),
            justify="left" if words else "right",
            min_width=min(max(map(cell_len, whole), default=0), 40),
            no_wrap=not words,  # only columns of words shrink
            overflow="fold",  # a long name continues on the next line
        )
    for row in table.rows:
        grid.add_row(
            *(
                Text(escape.plain(cell), style="bold" if isinstance(cell, Strong) else "")
                for cell in row
            )
        )
    return grid


def as_json(document: Document) -> str:
    """Render the payload as JSON, which is a contract."""
    text = json.dumps(document.payload, ensure_ascii=False, indent=2, allow_nan=False)
    return escape.json_text(text) + "\n"


def as_csv(document: Document) -> str:
    """Render one line per record; columns are those of all records in order of appearance."""
    columns = list(dict.fromkeys(key for record in document.records for key in record))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    for record in document.records:
        writer.writerow({key: escape.csv_cell(value) for key, value in record.items()})
    return out.getvalue()


def as_markdown(document: Document) -> str:
    """Render pipe tables, as README files and issue trackers show them."""
    parts = [escape.markdown(words) for words in document.leading]
    for table in document.tables:
        lines = [f"**{escape.markdown(table.title)}**", ""] if table.title else []
        ruler = [":---" if table.holds_words(i) else "---:" for i in range(len(table.columns))]
        head, *body = ([_markdown(cell) for cell in row] for row in (table.columns, *table.rows))
        lines += ["| " + " | ".join(cells) + " |" for cells in (head, ruler, *body)]
        parts.append("\n".join(lines))
        parts.extend(escape.markdown(note) for note in table.all_notes)
    parts.extend(escape.markdown(note) for note in document.notes)
    return "\n\n".join(parts) + "\n"


def as_latex(document: Document, label: str | None = None) -> str:
    r"""Render booktabs tables for a paper, with all notes as comments.

    `label` is the ``\ref`` name of the first table, numbered for the others; by default they are
    named after their titles.
    """
    tables = [
        _latex_table(table, name)
        for table, name in zip(document.tables, _labels(document.tables, label), strict=True)
    ]
    notes = "".join(_latex_comment(note) for note in (*document.leading, *document.notes))
    return "\n".join([*tables, notes] if notes else tables)


def _latex_comment(note: str) -> str:
    """Return a sentence as comment lines that fit into an editor."""
    lines = wrap(escape.plain(note), 98, break_long_words=False, break_on_hyphens=False)
    return "".join(f"% {line}\n" for line in lines)


def _labels(tables: Sequence[Table], label: str | None) -> list[str]:
    """Return a unique label for every table."""
    if label is not None and not re.fullmatch(r"[\w:.-]+", label, re.ASCII):
        raise InputError(f"label: {label!r}; expected letters, digits, colons, dots and hyphens")
    names: list[str] = []
    for table in tables:
        title = re.split(r" (?:and|in|of|with) ", table.title.lower())[0]
        words = re.findall(r"[a-z0-9]+", title)
        name = label or f"tab:{'-'.join(words[:2]) or 'table'}"
        times = 1
        while (unique := name if times == 1 else f"{name}-{times}") in names:
            times += 1
        names.append(unique)
    return names


def _latex_table(table: Table, label: str) -> str:
    table = _fitting(table)
    aligned = ["l" if table.holds_words(i) else "r" for i in range(len(table.columns))]
    room = _room_for_names(table)
    wide = len(table.columns) >= _FEWEST_CLOSE_COLUMNS or room is not None
    if room is not None:
        aligned[0] = rf"p{{{room:.2f}\linewidth}}"
        first = [_RAGGED + _latex(row[0]) for row in table.rows]
    else:
        first = [_latex(row[0]) for row in table.rows]
    rest = [_latex_row(table.columns[1:], row[1:]) for row in table.rows]
    title = f"{_latex_name(table.title)}." if table.title else ""
    said = (*table.all_notes, *table.caption)
    caption = " ".join([title, *map(escape.latex, said)]).strip()
    words = (table.title, *said, *table.columns)
    cells = (*words, *(cell for row in table.rows for cell in row))
    lines = [
        "% needs \\usepackage{booktabs}",
        "" if all(map(escape.is_latin, cells)) else _NOT_LATIN,
        r"\begin{table}",
        r"\centering",
        r"\small" if wide else "",
        r"\setlength{\tabcolsep}{3pt}" if wide else "",
        rf"\begin{{tabular}}{{{''.join(aligned)}}}",
        r"\toprule",
        " & ".join(map(_latex_name, table.columns)) + r" \\",
        r"\midrule",
        *(" & ".join([name, *row]) + r" \\" for name, row in zip(first, rest, strict=True)),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{caption}}}" if caption else "",
        rf"\label{{{label}}}" if caption else "",
        r"\end{table}",
    ]
    return "\n".join(line for line in lines if line) + "\n"


def _fitting(table: Table) -> Table:
    """Drop columns that do not fit on a page; those with the same heading go together."""
    left_out: set[str] = set()
    while table.droppable and (
        len(table.columns) > _MOST_COLUMNS or table.columns[table.droppable[0]] in left_out
    ):
        left_out.add(table.columns[table.droppable[0]])
        table = table.without(table.droppable[0])
    return table


def _room_for_names(table: Table) -> float | None:
    """Return the share of the line for the first column if its names are too long."""
    widths = [max(map(len, column)) for column in zip(table.columns, *table.rows, strict=True)]
    room = _PAGE_LETTERS - sum(width + _GAP_LETTERS for width in widths[1:])
    return None if widths[0] <= max(room, _SHORT_NAME_LETTERS) else max(room / _PAGE_LETTERS, 0.25)


def _markdown(cell: str) -> str:
    safe = escape.markdown(cell)
    return f"**{safe}**" if isinstance(cell, Strong) and cell else safe


def _latex_row(columns: Sequence[str], row: Sequence[str]) -> Iterator[str]:
    for head, cell in zip(columns, row, strict=True):
        named = head in _NAMES_OF_SCORES and not isinstance(cell, Strong)
        yield _latex_name(cell) if named else _latex(cell)


def _latex_name(text: str) -> str:
    """Return a heading or the name of a score in LaTeX, such as F1 with a subscript."""
    whole = TABLE.get(text.replace(" ", "_"))
    if whole is not None:
        return whole.latex
    words = text.split(" ")
    return " ".join(TABLE[w].latex if w in TABLE else escape.latex(w) for w in words)


def _latex(cell: str) -> str:
    safe = escape.latex(cell)
    return rf"\textbf{{{safe}}}" if isinstance(cell, Strong) and cell else safe


def as_html(document: Document) -> str:
    """Render one page that loads nothing; a script only where there is something to choose."""
    template = templates().get_template(document.page)
    contents = {"document": document, "contents": _PLACE_OF_CONTENTS}
    with scale_of(document.scale):
        page = template.render(**contents, **document.content())
    return _with_contents(page)


_PLACE_OF_CONTENTS = "\x00"  # no text on a page holds it
_SECTION = re.compile("<h2>(.*?)</h2>", re.DOTALL)
_TWO_SCREENS = 1800  # pixels
_ROW, _FIGURE, _PARAGRAPH = 34, 300, 30  # pixels, roughly
_FEWEST_SECTIONS = 3


def _with_contents(page: str) -> str:
    """Number the sections, and list them with links if the page is longer than two screens."""
    titles = [" ".join(words.split()) for words in _SECTION.findall(page)]
    numbers = iter(range(1, len(titles) + 1))
    page = _SECTION.sub(lambda found: f'<h2 id="part-{next(numbers)}">{found[1]}</h2>', page)
    sizes = (("<tr", _ROW), ("<svg", _FIGURE), ("<p", _PARAGRAPH))
    length = sum(page.count(tag) * size for tag, size in sizes)
    contents = ""
    if len(titles) >= _FEWEST_SECTIONS and length > _TWO_SCREENS:
        links = (f'<li><a href="#part-{k}">{words}</a></li>' for k, words in enumerate(titles, 1))
        contents = f'<nav class="contents" aria-label="Contents"><ul>{"".join(links)}</ul></nav>'
    return page.replace(_PLACE_OF_CONTENTS, contents)


def as_part(template: str, content: Mapping[str, Any]) -> Markup:
    """Render a part of a page from a template."""
    from markupsafe import Markup

    return Markup(templates().get_template(template).render(content))  # noqa: S704  # escaped there


def is_page(path: Path) -> bool:
    """Return True if a file may be replaced: a page of this program, empty or missing."""
    try:
        with path.open("rb") as file:
            return _GENERATOR in file.read(2000) or path.stat().st_size == 0
    except FileNotFoundError:
        return True


_GENERATOR = b'<meta name="generator" content="probative '  # as in templates/base.html


@cache
def templates() -> Environment:
    """Return the templates of pages, with the filters that they use."""
    from jinja2 import Environment, PackageLoader

    from probative.reporting.svg import svg

    environment = Environment(
        loader=PackageLoader("probative.reporting"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["plain"] = escape.plain
    environment.filters["svg"] = svg
    environment.filters["points"] = lambda value: points(value, 1)
    environment.filters["plain_value"] = _sort_value
    environment.tests["strong"] = lambda cell: isinstance(cell, Strong)
    return environment


def _sort_value(value: str | float) -> str:
    """Return the sort key of a cell as an attribute; an undefined number is empty."""
    if isinstance(value, str):
        return escape.plain(value)
    return "" if value != value else repr(value)


_RENDERERS = {"json": as_json, "markdown": as_markdown, "latex": as_latex, "csv": as_csv}
FORMATS = ("text", *_RENDERERS)
