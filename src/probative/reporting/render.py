"""A `Document` as text, JSON, Markdown, LaTeX, CSV or HTML."""

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
from probative.reporting.text_tracks import draw_tracks
from probative.wording.numbers import points

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from jinja2 import Environment
    from markupsafe import Markup
    from rich.console import Console
    from rich.table import Table as RichTable

    from probative.reporting.document import Document, Table

__all__ = ["FORMATS", "UNLIMITED", "as_html", "as_latex", "as_part", "is_page", "render"]

_WIDE, _MOST_COLUMNS = 7, 8  # columns of a LaTeX table that are set closely; that fit a page
_PAGE, _GAP = 80, 1.5  # letters in a line of a small table, and those that columns are apart
_SHORT = 20  # letters of a name that need no second line
_RAGGED = r"\raggedright "
_NOT_LATIN = "% holds letters that pdfLaTeX does not have; needs LuaLaTeX or XeLaTeX, and a font"
_NAMES_OF_SCORES = ("metric", "score")  # heads of columns
UNLIMITED = 200  # columns where no terminal sets a limit: tables fit, sentences stay on one line


def render(document: Document, form: str, *, colour: bool = False, width: int = UNLIMITED) -> str:
    """Return the document in the form asked for, one of `FORMATS`, ending in a line break."""
    one_of("form", form, FORMATS)
    if form == "text":
        return as_text(document, colour=colour, width=width)
    return _RENDERERS[form](document)


def as_text(document: Document, *, colour: bool = False, width: int = UNLIMITED) -> str:
    """Tables for the terminal, a file or a pipe."""
    document = replace(document, tables=tuple(draw_tracks(t, width) for t in document.tables))
    text = None if colour else _as_plain_text(document, width)
    if text is None:
        text = _as_rich_text(document, colour=colour, width=width)
    lines = "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
    return re.sub(r"\n{3,}", "\n\n", lines) + "\n"


def _as_plain_text(document: Document, width: int = UNLIMITED) -> str | None:
    """The same without Rich, where all tables fit."""
    from probative.reporting.plain_text import note_lines, table_lines

    lines: list[str] = []
    room = None if width == UNLIMITED else width
    for words in document.leading:
        lines += [*note_lines(words, room), ""]
    for table in document.tables:
        drawn = table_lines(table, width)
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
    console.width = max(width, needed)  # Rich takes what is missing from the words, to the last
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
        # numbers are never broken or cut: a table that needs more room than there is takes it
        whole = cells if not words else [word for cell in cells for word in cell.split()]
        grid.add_column(
            Text(cells[0]),
            justify="left" if words else "right",
            min_width=min(max(map(cell_len, whole), default=0), 40),
            no_wrap=not words,  # what is too much is taken from the words alone
            overflow="fold",  # a name that is longer than its column goes on in the next line
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
    """The contract."""
    text = json.dumps(document.payload, ensure_ascii=False, indent=2, allow_nan=False)
    return escape.json_text(text) + "\n"


def as_csv(document: Document) -> str:
    """One line per record; the columns are those of all records, in order of appearance."""
    columns = list(dict.fromkeys(key for record in document.records for key in record))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    for record in document.records:
        writer.writerow({key: escape.csv_cell(value) for key, value in record.items()})
    return out.getvalue()


def as_markdown(document: Document) -> str:
    """Pipe tables, as README files and issue trackers show them."""
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
    r"""Tables for a paper, in the style of the booktabs package; what else is said, as comments.

    Parameters
    ----------
    document
        What is to be shown.
    label
        What ``\ref`` calls the first table, and with a number the others; by default they are
        called after their titles.
    """
    tables = [
        _latex_table(table, name)
        for table, name in zip(document.tables, _labels(document.tables, label), strict=True)
    ]
    notes = "".join(_latex_comment(note) for note in (*document.leading, *document.notes))
    return "\n".join([*tables, notes] if notes else tables)


def _latex_comment(note: str) -> str:
    """A sentence that stands beside the table, in lines that an editor shows whole."""
    lines = wrap(escape.plain(note), 98, break_long_words=False, break_on_hyphens=False)
    return "".join(f"% {line}\n" for line in lines)


def _labels(tables: Sequence[Table], label: str | None) -> list[str]:
    """A name for every table that no other one has."""
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
    wide = len(table.columns) >= _WIDE or room is not None
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
    """The table without columns that a page has no room for; those of one head go together."""
    left_out: set[str] = set()
    while table.droppable and (
        len(table.columns) > _MOST_COLUMNS or table.columns[table.droppable[0]] in left_out
    ):
        left_out.add(table.columns[table.droppable[0]])
        table = table.without(table.droppable[0])
    return table


def _room_for_names(table: Table) -> float | None:
    """The share of a page's width for the first column, where names are too long for a line."""
    widths = [max(map(len, column)) for column in zip(table.columns, *table.rows, strict=True)]
    room = _PAGE - sum(width + _GAP for width in widths[1:])
    return None if widths[0] <= max(room, _SHORT) else max(room / _PAGE, 0.25)


def _markdown(cell: str) -> str:
    safe = escape.markdown(cell)
    return f"**{safe}**" if isinstance(cell, Strong) and cell else safe


def _latex_row(columns: Sequence[str], row: Sequence[str]) -> Iterator[str]:
    for head, cell in zip(columns, row, strict=True):
        named = head in _NAMES_OF_SCORES and not isinstance(cell, Strong)
        yield _latex_name(cell) if named else _latex(cell)


def _latex_name(text: str) -> str:
    """A head or the name of a score, as papers print it: F1 with its 1 below the line."""
    whole = TABLE.get(text.replace(" ", "_"))
    if whole is not None:
        return whole.latex
    words = text.split(" ")
    return " ".join(TABLE[w].latex if w in TABLE else escape.latex(w) for w in words)


def _latex(cell: str) -> str:
    safe = escape.latex(cell)
    return rf"\textbf{{{safe}}}" if isinstance(cell, Strong) and cell else safe


def as_html(document: Document) -> str:
    """One page, nothing loaded from anywhere; a script only where there is something to choose."""
    template = _templates().get_template(document.page)
    return template.render(document=document, **document.content())


def as_part(template: str, content: Mapping[str, Any]) -> Markup:
    """A part of a page, from a template that is none by itself."""
    from markupsafe import Markup

    return Markup(_templates().get_template(template).render(content))  # noqa: S704  # escaped there


def is_page(path: Path) -> bool:
    """Whether a file is a page of this program, which it may replace, or is not there yet."""
    try:
        with path.open("rb") as file:
            return _GENERATOR in file.read(2000) or path.stat().st_size == 0
    except FileNotFoundError:
        return True


_GENERATOR = b'<meta name="generator" content="probative '  # as in templates/base.html


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("probative.reporting"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["plain"] = escape.plain
    environment.filters["points"] = lambda value: points(value, 1)
    environment.filters["plain_value"] = _sort_value
    environment.tests["strong"] = lambda cell: isinstance(cell, Strong)
    return environment


def _sort_value(value: str | float) -> str:
    """What a column is sorted by, as an attribute; an undefined number is empty."""
    if isinstance(value, str):
        return escape.plain(value)
    return "" if value != value else repr(value)


_RENDERERS = {"json": as_json, "markdown": as_markdown, "latex": as_latex, "csv": as_csv}
FORMATS = ("text", *_RENDERERS)
