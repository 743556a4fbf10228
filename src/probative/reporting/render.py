"""Render a `Document` as text, JSON, Markdown, LaTeX, CSV or HTML, also in a notebook."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from probative._validation import one_of
from probative.errors import InputError
from probative.metrics import TABLE
from probative.options import sign
from probative.reporting import escape
from probative.reporting.document import Column, Document, Strong, Table, Tracks, payload
from probative.reporting.escape import plain
from probative.wording.numbers import points, scale_of

if TYPE_CHECKING:
    from jinja2 import Environment

    from probative.results import Result


# --- Tables as text
#
# Columns of words are broken into lines where there is no room, and columns that still do not fit
# are hidden and named. Rich would take longer to load than a score takes to compute.

_NARROWEST_WORDS = 24  # letters of a name that are kept on one line, even in a narrow table
_GAP = 3  # letters between columns


def _fitted(table: Table, width: int) -> tuple[Table, list[str]]:
    """Hide columns until the table fits; return it with the names of the hidden ones."""
    # first those that say so, then the last ones of numbers, then the last ones of words
    hidden: list[str] = []
    while len(table.columns) > 2 and sum(_least_widths(table)) > _room_for(table, width):
        last = [i for i, words in enumerate(table.word_columns) if i > 1 and not words]
        place = (*table.droppable[:1], *reversed(last), len(table.columns) - 1)[0]
        hidden.append(table.full_head(place))
        table = table.without(place)
    return table, hidden


def _room_for(table: Table, width: int) -> int:
    """Return the letters that all columns of a table may have together."""
    return width - _GAP * (len(table.columns) - 1) - 2


def _full_widths(table: Table) -> list[int]:
    columns = zip(table.columns, *table.rows, strict=True)
    return [max(_cell_len(plain(cell)) for cell in column) for column in columns]


def _least_widths(table: Table) -> list[int]:
    """Return the least width of each column: columns of words may be broken into lines."""
    # the names in the first column are broken only if there is nothing to hide instead
    widths = _full_widths(table)
    for i, column in enumerate(zip(table.columns, *table.rows, strict=True)):
        if table.word_columns[i]:
            words = [_cell_len(word) for cell in column for word in plain(cell).split()]
            whole = widths[i] if i == 0 and table.droppable else max(words, default=0)
            widths[i] = min(whole, _NARROWEST_WORDS)
    return widths


def _widths(table: Table, width: int) -> list[int]:
    """Return the widths of the columns; columns of words share what the others leave."""
    widths, least = _full_widths(table), _least_widths(table)
    excess = sum(widths) - _room_for(table, width)
    while excess > 0:
        widest = max(range(len(widths)), key=lambda i: widths[i] - least[i])
        if widths[widest] <= least[widest]:
            break
        widths[widest] -= 1
        excess -= 1
    return widths


def _table_lines(table: Table, width: int, bold: Callable[[str], str]) -> list[str]:
    """Return the lines of a table with its title and the names of hidden columns."""
    table, hidden = _fitted(table, width)
    lines = [bold(line) for line in note_lines(table.title, width)] if table.title else []
    if table.columns:
        widths, words = _widths(table, width), table.word_columns
        line = " " + "─" * (sum(widths) + _GAP * (len(widths) - 1))
        lines += _row_lines([Strong(head) for head in table.columns], widths, words, bold)
        for place, row in enumerate(table.rows):
            lines += [line] if place in (0, table.rule) else []
            lines += _row_lines(row, widths, words, bold)
    if hidden:
        lines += note_lines(_hidden_words(hidden), width)
    return lines


def _hidden_words(heads: Iterable[str]) -> str:
    """Return the note on columns that are hidden."""
    return f"Hidden columns (terminal too narrow): {', '.join(dict.fromkeys(heads))}."


def _row_lines(
    row: Sequence[str], widths: Sequence[int], words: Sequence[bool], bold: Callable[[str], str]
) -> Iterator[str]:
    """Yield the lines of one row; those of words may be several."""
    cells = [
        note_lines(cell, size) if from_left else [plain(cell).strip()]
        for cell, size, from_left in zip(row, widths, words, strict=True)
    ]
    for k in range(max(map(len, cells))):
        parts = []
        for cell, texts, size, from_left in zip(row, cells, widths, words, strict=True):
            text = texts[k] if k < len(texts) else ""
            shown = bold(text) if text and isinstance(cell, Strong) else text
            blank = " " * (size - _cell_len(text))
            parts.append(shown + blank if from_left else blank + shown)
        yield (" " + (" " * _GAP).join(parts)).rstrip()


def note_lines(note: str, width: int | None) -> list[str]:
    """Break a sentence into lines of this width; return one line without a width."""
    text = plain(note)
    if width is None or _cell_len(text) <= width:
        return [text]
    lines, line = [], ""
    for word in re.split(r"[ \t\n]+(?!%)", text.strip()):  # a per cent sign stays with its number
        if line and _cell_len(f"{line} {word}") > width:
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line else word
        while _cell_len(line) > width:  # a word longer than a line is cut
            most = range(min(len(line), width), 0, -1)
            at = next((i for i in most if _cell_len(line[:i]) <= width), 1)
            lines.append(line[:at])
            line = line[at:]
    return [*lines, line]


def _cell_len(text: str) -> int:
    """Return the number of terminal columns that a text takes."""
    if text.isascii():  # most are: avoids loading the tables of wide characters
        return len(text)
    from rich.cells import cell_len as columns_of

    return columns_of(text)


# --- Intervals drawn with characters in the rows of a table

_NARROWEST_TRACK, _WIDEST_TRACK = 15, 41  # characters of a drawing; odd, so that there is a middle


def _draw_tracks(table: Table, width: int) -> Table:
    """Draw the intervals in a column, if the table asks for that; droppable ones make room."""
    if table.track_column is None or table.tracks is None:
        return table
    narrow = table
    while (room := _room(narrow, width)) < _NARROWEST_TRACK and narrow.droppable:
        narrow = narrow.without(narrow.droppable[0])
    if room < _NARROWEST_TRACK or narrow.track_column is None:
        return table
    size, place = min(room, _WIDEST_TRACK), narrow.track_column
    if narrow is not table:
        spared = [head for head in table.columns if head not in narrow.columns]
        narrow = replace(narrow, notes=(*narrow.notes, _hidden_words(spared)))
    cells = [_drawn(row, table.tracks, size) for row in table.tracks.rows]
    return narrow.with_column(place, "", cells)


def _room(table: Table, width: int) -> int:
    """Return the number of characters that the other columns leave."""
    return _room_for(table, width) - sum(_full_widths(table)) - _GAP - 2


def _drawn(row: tuple[float, float, float] | None, tracks: Tracks, size: int) -> str:
    """Draw one interval: ``├──●──┤``, with ``┊`` at zero."""

    def place(value: float) -> int:
        return min(size - 1, max(0, round(tracks.share(value) * (size - 1))))

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
_LETTERS_OF_A_USUAL_TABLE, _LETTERS_OF_A_SMALL_TABLE = 62, 74  # wider ones are set smaller
_PAGE_LETTERS, _GAP_LETTERS = 76, 1.5  # letters in a line of a small table, and between columns
_SHORT_NAME_LETTERS = 20  # letters of a name that never need a second line
_RAGGED = r"\raggedright "
_NOT_LATIN = "% holds letters that pdfLaTeX does not have; needs LuaLaTeX or XeLaTeX, and a font"
_NAMES_OF_SCORES = ("metric", "score")  # headings of columns
UNLIMITED = 200  # terminal columns without a terminal: tables fit, sentences stay on one line


def render(
    document: Document,
    form: str,
    *,
    colour: bool = False,
    width: int = UNLIMITED,
    verbose: bool = False,
) -> str:
    """Return the document in the form asked for, one of `FORMATS`, ending in a line break."""
    one_of("form", form, FORMATS)
    if form == "text":
        return as_text(document, colour=colour, width=width, verbose=verbose)
    return _RENDERERS[form](document)


_NO_BREAK = "\u00a0"
_VERDICT_WORDS = re.compile(  # printed in bold
    r"not established|[Nn]o verdict|identical outputs|equivalent|\b(?:strong|moderate)(?= evidence)"
    r"|(?<=\bis )(?:strong|moderate)\b|\bPASSED\b|\bFAILED\b|\bleads?\b"
)


def as_text(
    document: Document, *, colour: bool = False, width: int = UNLIMITED, verbose: bool = False
) -> str:
    """Render tables and notes for the terminal, a file or a pipe; the verdict comes last."""

    def bold(text: str) -> str:
        return f"\x1b[1m{text}\x1b[0m" if colour else text

    room = None if width == UNLIMITED else width
    shown = (*document.tables, *document.more) if verbose else document.tables
    blocks = [note_lines(words, room) for words in document.leading]
    for table in [_draw_tracks(table, width) for table in shown]:
        details = table.all_notes if colour else (*table.notes, *table.details)
        own = details if verbose else table.notes
        lines = _table_lines(table, width, bold)
        blocks.append([*lines, *(line for note in own for line in note_lines(note, room))])
    signed = document.signature
    notes = (*document.notes, *document.details) if verbose else document.notes
    below = [*(note for note in notes if note != signed), *([signed] if verbose and signed else [])]
    blocks += [note_lines(note, room) for note in below]
    for words in document.verdict:
        whole = _VERDICT_WORDS.sub(lambda found: found[0].replace(" ", _NO_BREAK), words)
        lines = [line.replace(_NO_BREAK, " ") for line in note_lines(whole, room)]
        blocks.append([_VERDICT_WORDS.sub(lambda found: bold(found[0]), line) for line in lines])
    return "\n\n".join("\n".join(lines) for lines in blocks if lines) + "\n"


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
    for table in (*document.tables, *document.more):
        lines = [f"**{escape.markdown(table.title)}**", ""] if table.title else []
        ruler = [":---" if words else "---:" for words in table.word_columns]
        head, *body = ([_markdown(cell) for cell in row] for row in (table.columns, *table.rows))
        lines += ["| " + " | ".join(cells) + " |" for cells in (head, ruler, *body)]
        parts.append("\n".join(lines))
        parts.extend(escape.markdown(note) for note in table.all_notes)
    below = (*document.notes, *document.details, *document.verdict)
    parts.extend(escape.markdown(note) for note in below)
    return "\n\n".join(parts) + "\n"


def as_latex(document: Document, label: str | None = None) -> str:
    r"""Render booktabs tables for a paper, with all notes as comments.

    `label` is the ``\ref`` name of the first table, numbered for the others; by default they are
    named after their titles.
    """
    shown = (*document.tables, *document.more)
    parts = list(map(_latex_table, shown, _labels(shown, label)))
    whole = partial(wrap, width=98, break_long_words=False, break_on_hyphens=False)
    lines = [f"% {line}\n" for note in document.sentences for line in whole(escape.plain(note))]
    return "\n".join([*parts, "".join(lines)] if lines else parts)


def _labels(tables: Sequence[Table], label: str | None) -> list[str]:
    """Return a unique label for every table."""
    if label is not None and not re.fullmatch(r"[\w:.-]+", label, re.ASCII):
        raise InputError(f"label: {label!r}; expected letters, digits, colons, dots and hyphens")
    names: list[str] = []
    for table in tables:
        title = re.split(r" (?:and|in|of|with) ", table.title.lower())[0]
        words = re.findall(r"[a-z0-9]+", title)
        name = label or f"tab:{'-'.join(words[:2]) or 'table'}"
        known = (name, *(f"{name}-{times}" for times in range(2, len(names) + 2)))
        names.append(next(unique for unique in known if unique not in names))
    return names


def _latex_table(table: Table, label: str) -> str:
    table = _fitting(table)
    aligned = ["l" if words else "r" for words in table.word_columns]
    longest = [max(map(len, column)) for column in zip(table.columns, *table.rows, strict=True)]
    # the share of the line for the first column, if its names are too long
    left = _PAGE_LETTERS - sum(size + _GAP_LETTERS for size in longest[1:])
    narrow = longest[0] > max(left, _SHORT_NAME_LETTERS)
    letters = sum(longest) + _GAP_LETTERS * (len(table.columns) - 1)
    close = len(table.columns) >= _FEWEST_CLOSE_COLUMNS or letters > _LETTERS_OF_A_USUAL_TABLE
    wide = narrow or close
    small = r"\footnotesize" if letters > _LETTERS_OF_A_SMALL_TABLE else r"\small"
    if narrow:
        aligned[0] = rf"p{{{max(left / _PAGE_LETTERS, 0.25):.2f}\linewidth}}"
    # the name of a score in the first column is plain
    heads = ("", *table.columns[1:])
    rows = [" & ".join(map(_latex, row, heads)) for row in table.rows]
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
        small if wide else "",
        r"\setlength{\tabcolsep}{3pt}" if wide else "",
        rf"\begin{{tabular}}{{{''.join(aligned)}}}",
        r"\toprule",
        " & ".join(map(_latex_name, table.columns)) + r" \\",
        r"\midrule",
        *(rf"{_RAGGED * narrow}{row} \\" for row in rows),
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


def _markdown(cell: str) -> str:
    safe = escape.markdown(cell)
    return f"**{safe}**" if isinstance(cell, Strong) and cell else safe


def _latex_name(text: str) -> str:
    """Return a heading or the name of a score in LaTeX, such as F1 with a subscript."""
    names = {metric.words: metric.latex for metric in TABLE.values()}
    if text in names:
        return names[text]
    return " ".join(names.get(word) or escape.latex(word) for word in text.split(" "))


def _latex(cell: str, head: str = "") -> str:
    if isinstance(cell, Strong) and cell:
        return rf"\textbf{{{escape.latex(cell)}}}"
    return _latex_name(cell) if head in _NAMES_OF_SCORES else escape.latex(cell)


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

    from probative.reporting.pictures import svg

    loader = PackageLoader("probative.reporting")
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"plain": escape.plain, "svg": svg, "plain_value": _sort_value}
    environment.filters["points"] = lambda value: points(value, 1)
    environment.tests["strong"] = lambda cell: isinstance(cell, Strong)
    return environment


def _sort_value(value: str | float) -> str:
    """Return the sort key of a cell as an attribute; an undefined number is empty."""
    if isinstance(value, str):
        return escape.plain(value)
    return "" if value != value else repr(value)


_RENDERERS = {"json": as_json, "markdown": as_markdown, "latex": as_latex, "csv": as_csv}
FORMATS = ("text", *_RENDERERS)


# --- Any result, also in a notebook and as a data frame

_BACKENDS = ("pandas", "polars", "pyarrow")


def document_html(document: Document) -> str:
    """Render the tables and sentences of a document as HTML."""
    return templates().get_template("notebook.html").render(document=document)


def to_frame(records: Sequence[dict[str, Any]], backend: str = "pandas") -> Any:
    """Return records as a data frame of pandas, Polars or PyArrow."""
    one_of("backend", backend, _BACKENDS)
    columns = list(dict.fromkeys(key for record in records for key in record))
    data = {column: [record.get(column) for record in records] for column in columns}
    try:
        module = import_module(backend)
        make = module.table if backend == "pyarrow" else module.DataFrame
        return make(data, strict=False) if backend == "polars" else make(data)
    except ImportError:
        raise InputError(f"backend: {backend} is not installed here") from None


def result_document(result: Result) -> Document:
    """Build the document of a result that has no layout of its own."""
    records = result.records()
    names = dict.fromkeys(key for record in records for key in record)

    def column(name: str) -> Column:
        words = name == "note" or any(isinstance(record.get(name), str) for record in records)
        head = name.replace("_", " ")
        return Column(head, lambda record: record.get(name), _result_report_cell, words=words)

    # words first, then numbers, the note last
    columns = sorted(map(column, names), key=lambda own: (own.head == "note", not own.words))
    # the words of a class name such as ``RandomizationTest``
    title = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(result).__name__).capitalize()
    table = Table.of(records, *columns, title=title)
    signed = getattr(result, "signature", "") or sign(title.lower().replace(" ", "-"))
    return Document(
        title=title,
        payload=payload(title.lower(), signed, **result.to_dict()),
        tables=(table,),
        records=tuple(records),
        notes=(signed,),
        verdict=(str(result),),
    )


def _result_report_cell(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "–" if value is None else str(value)
    return f"{value:.4g}".replace("-", "−") if isinstance(value, float) else f"{value:,}"
