"""Read column files: one token per line with its tags, an empty line after a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from probative.errors import InputError, Recognised
from probative.reading.annotations import Tagged, Text
from probative.reading.fields import Table, distinct, first_eight, split, values_at
from probative.reading.source import Source, place_of_number, snippet

if TYPE_CHECKING:
    Ints = NDArray[np.int32]

TAG = re.compile(r"O|(?:[BIESMLU]|B[23])(?:-.+)?", re.DOTALL)  # A tag of any scheme.
# A tag in another notation: b-per, B_PER, PER-B.
ODD_TAG = re.compile(r"[biesmlu]-.+|[BIESMLUbiesmlu]_.+|.+[-_][BIESMLU]", re.DOTALL)
_NUMBER = re.compile(rb"\d+(?:([-.])\d+)?")
_DOCUMENT_MARKS = (b"-DOCSTART-", b"-X-")


@dataclass(frozen=True, eq=False)
class Layout:
    """The lines of a column file that are tokens, and where sentences and documents begin."""

    table: Table  # lines and fields
    rows: Ints  # the lines (from 0) that hold tokens
    text: Text
    numbered: bool  # True if the first column numbers the tokens
    surface: Ints | None = None  # lines (from 0) of surface tokens, where ranges stand for words
    ragged: Ints | None = None  # the lines (from 0) that were skipped
    _coded: dict[int, tuple[Ints, tuple[bytes, ...]]] = field(default_factory=dict, repr=False)

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return int(self.table.width[self.rows[0]])

    @property
    def token_column(self) -> int | None:
        """Return the column of the tokens, from 0; None in a file of tags only."""
        return None if self.width == 1 else int(self.numbered)


def layout(source: Source, *, comments: bool = False, skip_ragged: bool = False) -> Layout:
    """Find tokens, sentences and documents; ``#`` always starts a comment in numbered files."""
    table = split(source)
    opening = np.frombuffer(source.data, np.uint8).take(table.begin, mode="clip")
    hashed = np.flatnonzero(opening == ord("#"))  # no empty lines
    filled = np.flatnonzero(table.width).astype(np.int32)
    content = np.delete(filled, np.searchsorted(filled, hashed)) if len(hashed) else filled
    kinds = _numbering(table, content)
    numbered = kinds is not None
    comments = numbered or comments
    content = content if comments else filled
    if not len(content):
        raise source.error("holds comments only; expected at least one token")
    marks, starts = _document_marks(table, content, opening)
    breaks = np.sort(np.append(np.flatnonzero(table.width == 0), content[marks]))
    new_document = content[marks]
    rows, surface = np.delete(content, marks) if len(marks) else content, None
    if kinds is not None:
        rows, surface = rows[kinds == 0], _surface(table, rows, kinds)
        if not len(rows):
            raise source.error("holds no numbered token; expected at least one")
    if comments and len(hashed):
        words = first_eight(source, table.begin[hashed], table.length[hashed])
        newdoc = hashed[words == int.from_bytes(b"# newdoc", "little")]
        new_document = np.sort(np.append(new_document, newdoc))
    if not len(rows):
        raise source.error("holds document lines only; expected at least one token")
    ragged = rows[:0]
    if not table.uniform:
        width = table.width[rows]
        widths, times = np.unique(width, return_counts=True)
        ragged = rows[width != (widths[np.argmax(times)] if skip_ragged else width[0])]
    if len(ragged) and not skip_ragged:
        raise ragged_line(table, int(ragged[0]), int(table.width[rows[0]]))
    rows = np.setdiff1d(rows, ragged, assume_unique=True) if len(ragged) else rows
    tokens: dict[str, Any] = {}
    if table.width[rows[0]] > 1:
        start, end = table.column(int(numbered), rows)
        tokens = {"start": start, "size": (end - start).astype(table.length.dtype)}
    text = _sentences(table, rows, breaks, new_document, document_lines=starts, **tokens)
    return Layout(table, rows, text, numbered, surface, ragged)


def _numbering(table: Table, rows: Ints) -> Ints | None:
    """Return the kind of every line's number: 0 word, 1 range, 2 empty node; None if no numbers."""
    if not len(rows) or (table.uniform or table.width[rows].min()) < 2:
        return None
    array = np.frombuffer(table.source.data, np.uint8)
    if not ord("0") <= array[table.column(0, rows[:1])[0][0]] <= ord("9"):
        return None  # as in most files, so this check saves a pass
    start, end = table.column(0, rows)
    digit = (array[start] >= ord("0")) & (array[start] <= ord("9")) & (end > start)
    if not digit.all():
        return None
    codes, values = distinct(table.source, start, end)
    matches = [_NUMBER.fullmatch(value) for value in values]
    if not all(matches) or not values[codes[0]].startswith((b"1", b"0.1")):
        return None
    kind = {None: 0, b"-": 1, b".": 2}
    return np.array([kind[m.group(1)] for m in matches if m], dtype=np.int32)[codes]


def _surface(table: Table, rows: Ints, kinds: Ints) -> Ints | None:
    """Return the lines of surface tokens: ranges, and the words that no range covers."""
    if not (kinds == 1).any():
        return None
    start, end = table.column(0, rows)
    covered = np.zeros(len(rows), dtype=bool)
    for at in np.flatnonzero(kinds == 1).tolist():
        name = table.source.data[start[at] : end[at]]
        low, high = name.split(b"-")
        missing = int(high[:9]) - int(low[:9]) + 1
        seen = at + 1
        # its words follow directly; empty nodes may be among them
        while missing > 0 and seen < len(rows) and rows[seen] == rows[seen - 1] + 1:
            if kinds[seen] == 1:
                break
            covered[seen] = True
            missing -= int(kinds[seen] == 0)
            seen += 1
        if missing or seen == at + 1:
            problem = f"the range {name.decode()[:40]} is not followed by its words"
            raise table.source.error(f"{problem}; expected them below", int(rows[at]) + 1)
    return np.asarray(rows[(kinds != 2) & ~covered])


def _document_marks(table: Table, content: Ints, opening: Any) -> tuple[NDArray[np.intp], int]:
    """Return which of the lines mark a document, and the number of -DOCSTART- lines."""
    maybe = np.flatnonzero(opening == ord("-"))
    if not len(maybe):
        return maybe, 0
    maybe = np.flatnonzero(np.isin(content, maybe))
    start, end = table.column(0, content[maybe])
    # a longer field is no mark, and need not be copied
    texts = values_at(table.source, start, np.minimum(end, start + len(b"-DOCSTART-") + 1))
    marks = maybe[[text in _DOCUMENT_MARKS for text in texts]]
    return marks, texts.count(b"-DOCSTART-")


def ragged_line(table: Table, row: int, expected: int) -> InputError:
    """Return the error for a line (from 0) with an unexpected number of columns."""
    width, separator = int(table.width[row]), "TABs" if table.tabs else "white space"
    has = f"has {width} column{'s' * (width != 1)} separated by {separator}"
    return table.source.error(f"{snippet(table.line(row))} {has}; expected {expected}", row + 1)


def _sentences(
    table: Table, rows: Ints, breaks: NDArray[Any], new_document: NDArray[Any], **known: Any
) -> Text:
    """Find sentences and documents, given the lines that end sentences or begin documents."""
    gaps = np.flatnonzero(rows[1:] - rows[:-1] > 1)  # a break or a comment is between them
    gaps = gaps[np.searchsorted(breaks, rows[gaps]) < np.searchsorted(breaks, rows[gaps + 1])]
    begins = np.concatenate([[0], gaps + 1]).astype(np.int32)
    first = np.append(begins, np.int32(len(rows)))
    opening = rows[begins]  # the line of every sentence's first token
    document = None
    if len(new_document):
        number = np.searchsorted(new_document, opening, side="right").astype(np.int32)
        document = number - number[0]
    closing = rows[first[1:] - 1]
    # the first line of the comments before a sentence: after the last sentence and the last break
    after, marks = np.append(0, closing[:-1] + 1), np.append(-1, breaks)
    start = np.maximum(after, marks[np.searchsorted(marks, opening) - 1] + 1)
    block = np.stack([table.begin[start], table.end(closing)]).T
    known |= {"row": rows, "document": document, "source": table.source, "block": block}
    return Text(table.source.name, first, **known)


def column_of(shape: Layout, number: int) -> tuple[Ints, tuple[bytes, ...]]:
    """Return codes and distinct values of a column, from 0 or from -1 backwards."""
    # the last one is cached, because the column that is recognised by its tags is read next
    if number not in shape._coded:
        shape._coded.clear()
        shape._coded[number] = shape.table.distinct(number, shape.rows)
    return shape._coded[number]


def share_of_tags(shape: Layout, column: int) -> float:
    """Return the share of tokens whose value in this column (from 0) looks like a tag."""
    codes, values = column_of(shape, column)
    return float(are_tags(values)[codes].mean())


def are_tags(values: Iterable[bytes]) -> NDArray[np.bool_]:
    """Return True for every value that looks like a tag; a longer one than any tag is none."""
    names = (value.decode("utf-8", "replace") if len(value) <= 1000 else "" for value in values)
    return np.array([TAG.fullmatch(name) is not None for name in names])


def read_tags(
    shape: Layout, column: int | str | None = None, *, any_values: bool = False
) -> Tagged:
    """Read the tags of a column (from 1, or -1 backwards), by default the last that holds tags."""
    source = shape.table.source
    if isinstance(column, str):
        problem = f"{column[:60]!r} is the name of a column, but these have none"
        raise source.error(f"{problem}; expected its number (tag_column=)")
    if column is None:
        at = shape.width - 1 if any_values else _recognise_tag_column(shape)
    else:
        line = int(shape.rows[0]) + 1
        at = place_of_number(column, shape.width, lambda text: source.error(text, line))
    codes, values = column_of(shape, at)
    names = tuple(value.decode("utf-8", "replace") for value in values)
    how = f"columns separated by {'TAB' if shape.table.tabs else 'white space'}"
    note = Recognised(f"{source.name}: {how}, tags in column {at + 1} of {shape.width}")
    return Tagged(shape.text, codes, names, notes=(note,))


def _recognise_tag_column(shape: Layout) -> int:
    last = shape.width - 1
    shares = {last: share_of_tags(shape, last)}
    if shares[last] == 1:
        return last
    others = (column for column in range(last) if column != shape.token_column)
    shares |= {column: share_of_tags(shape, column) for column in others}
    whole = [column for column, share in shares.items() if share == 1]
    if len(whole) == 1:
        return whole[0]
    # a column with a few wrong tags is still the column of tags
    best = max(shares, key=lambda column: (shares[column], column))
    if not whole and shares[best] > 0.5:
        return best
    row = int(shape.rows[0])
    several = ", ".join(str(column + 1) for column in sorted(whole))
    which = f"columns {several} all hold" if whole else "no column holds"
    what = f"{which} tags such as O, B-PER, I-PER in lines like {snippet(shape.table.line(row))}"
    expected = "expected the column to be named (tag_column=)"
    raise shape.table.source.error(f"{what}; {expected}", row + 1)
