"""Read the cells of tables: CSV, TSV, JSON lines, JSON lists and Parquet."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from probative._validation import shown
from probative.errors import InputError
from probative.labels import EXPECTED_LABEL, Column
from probative.reading.annotations import TEXT_COLUMNS, Repeats
from probative.reading.source import LARGEST, Source, place_of_number
from probative.tables.engines import check_column, listed

if TYPE_CHECKING:
    Ints = NDArray[np.int32]
    # per column: one code per row, and the values of the codes
    Read = dict[str, tuple[Ints, list[Any]]]

# usual names of columns, as `plain_name` writes them
_GOLD_NAMES = ("gold", "label", "labels", "y", "y_true", "target", "answer", "tag", "tags", "ner")
PREDICTED_NAMES = ("pred", "prediction", "predicted", "y_pred", "system", *_GOLD_NAMES)
_TAGS = "tags"  # tags of tokens, but also keywords of a record
# Fields that may be objects beside a label: they describe the item or annotate it otherwise.
DETAILS = (
    *("meta", "metadata", "info", "extra", "options", "spans", "entities", "tokens", "words"),
    *("accept", "relations", "probabilities", "probs", "scores", "logits", "messages", "input"),
)
NO_ROWS = "the table has no rows; expected at least one"
_LINES_PER_BLOCK = 4096  # JSON lines that are parsed at once
_SEPARATOR = ",\n"  # the line end makes sure that no string spans two lines
_SPACED = re.compile(r'"\s+:')
_SIMPLE = frozenset({str, int, float, bool, type(None)})
_LISTED = re.compile(rb"\s*\[\s*\{")
_NUMBER = re.compile(r"-?[1-9][0-9]{0,8}", re.ASCII)


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells that were read from a table."""

    kind: str  # csv, tsv, jsonl, json, parquet or frame
    names: list[str]  # the requested columns in their order, by their names in the table
    unit: str | None  # the column of the units
    columns: Read  # for every column that was read, one code per row and the values of the codes
    # rows (from 0) that follow empty lines, with the numbers of those lines (from 1)
    breaks: dict[int, int] = field(default_factory=dict)
    reason: str | None = None  # why the first line is a header or a row, if that was in doubt
    group: str | None = None  # the column of the groups
    # if equal rows are kept once: how many rows each stands for, and the unit of each
    repeats: Repeats | None = None
    units: Ints | None = None

    def __len__(self) -> int:
        return len(self.columns[self.names[0]][0])

    def refuse_empty(self, error: Callable[[str], InputError]) -> None:
        """Refuse a table without rows."""
        if not len(self):
            raise error(NO_ROWS)


class Wanted(NamedTuple):
    """The columns of a table to read."""

    # names or numbers; None means the column with a usual name: the first is searched among the
    # names of gold (gold, label, y, …), the others among those of predictions
    columns: Sequence[str | None]
    unit: str | None = None  # the column of the units
    # True for the name (as `plain_name` writes it) of a column to read as well
    beside: Callable[[str], bool] = lambda _: False
    header: bool | None = None  # the first line names the columns; None: decide by the content
    comments: bool = False  # lines that begin with # are skipped
    lists: bool = False  # cells are lists of labels; lists of texts are accepted anyway
    # the output of a system: a single column is searched among the names of predictions first,
    # because gold may be in the same table
    predicted: bool = False
    group: str | None = None  # the column of the groups


def read_cells(source: Source, wanted: Wanted) -> Cells:
    """Read columns of a table: CSV, TSV, JSON lines, a JSON list or Parquet."""
    if source.kind == "parquet":
        from probative.reading.database import read_parquet_cells

        return read_parquet_cells(source, wanted)
    return (_json_lines if is_json(source) else _delimited)(source, wanted)


def is_json(source: Source) -> bool:
    """Return True if the content begins like JSON lines or a JSON list of objects."""
    return source.data[:1000].lstrip().startswith(b"{") or is_list_of_objects(source)


def is_list_of_objects(source: Source) -> bool:
    """Return True if the content begins like a JSON list of objects."""
    return _LISTED.match(source.data[:1000]) is not None


def is_number(column: str) -> bool:
    """Return True if a column is given by what may be its number."""
    return _NUMBER.fullmatch(column) is not None


def plain_name(name: str) -> str:
    """Return the name of a column in lower case, with one underscore between words."""
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


def header_of(head: Source) -> list[str] | None:
    """Return the names in the first line of an even table with a usual label column, or None."""
    rows = _even_rows(head)
    there = rows and set(map(plain_name, rows[0])) & set(PREDICTED_NAMES)
    return rows[0] if there else None


def single_name(head: Source) -> str | None:
    """Return the first line if it is a usual name of a label column and occurs once; else None."""
    first, *others = head.data.decode("utf-8", "replace").split() or [""]
    return first if plain_name(first) in PREDICTED_NAMES and first not in others else None


def number_of_commas(head: Source) -> int:
    """Return the number of commas in each of the first lines; 0 if it varies."""
    rows = _even_rows(head)
    return len(rows[0]) - 1 if rows else 0


def _even_rows(head: Source) -> list[list[str]]:
    """Return the cells of the first lines if all have the same number, above 1; else []."""
    lines = [line for line in head.data.decode("utf-8", "replace").splitlines() if line]
    dialect: dict[str, Any] = {"strict": True}
    if lines and "\t" in lines[0]:
        dialect = {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
    try:
        rows = list(csv.reader(lines[:200], **dialect))
    except csv.Error:
        return []
    even = len(rows) > 1 and len({len(row) for row in rows}) == 1 and len(rows[0]) > 1
    return rows if even else []


# --- Choice of columns


def choose_columns(
    wanted: Wanted, there: list[str], error: Callable[[str], InputError]
) -> tuple[list[str], list[str]]:
    """Return the names of the label columns, and of all columns to read."""
    names: list[str] = []
    for place, column in enumerate(wanted.columns):
        if column is not None:
            names.append(column)
            continue
        usual: tuple[str, ...] = PREDICTED_NAMES
        if not place and not wanted.predicted:
            usual = _GOLD_NAMES + (PREDICTED_NAMES if len(wanted.columns) == 1 else ())
        plain = {plain_name(name): name for name in reversed(there) if name not in names}
        found = [plain[name] for name in usual if name in plain]
        if not found and len(there) != 1:
            problem = f"which column holds the labels? There are {listed(there)}"
            raise error(f"{problem}; expected them to be named (gold_column=, columns=)")
        names += (found or there)[:1]
    further = [name for name in (wanted.unit, wanted.group) if name is not None]
    asked = dict.fromkeys([*names, *further])
    for name in asked:
        check_column(name, there, error)
    beside = [name for name in there if wanted.beside(plain_name(name))]
    also = [name for name in beside if there.count(name) == 1]
    return names, list(dict.fromkeys([*asked, *also]))


def refuse_records(
    wanted: Wanted,
    names: Sequence[str],
    there: Sequence[str],
    objects: Collection[str],
    lists: Collection[str],
    error: Callable[[str], InputError],
) -> None:
    """Refuse records of many fields (some are objects, lists) if the labels were guessed."""
    guessed = {name for name, asked in zip(names, wanted.columns, strict=True) if asked is None}
    others = [name for name in there if name not in names and not name.startswith("_")]
    fields = [name for name in others if not wanted.beside(plain_name(name))]
    objects = {name for name in others if name in objects and plain_name(name) not in DETAILS}
    flat = [name for name in fields if plain_name(name) not in (*DETAILS, *TEXT_COLUMNS)]
    tags = not wanted.lists and any(n in lists and plain_name(n) == _TAGS for n in guessed)
    if guessed and (objects.intersection(fields) or (tags and (flat or objects))):
        problem = f"looks like records with the fields {listed(there)}, not like labels"
        expected = "or the column of labels to be named (gold_column=, columns=)"
        raise error(f"{problem}; expected task='records', {expected}")


# --- CSV and TSV


def _delimited(source: Source, wanted: Wanted) -> Cells:
    """Read the columns of CSV or TSV; decide if its first line names them."""
    kind, dialect = dialect_of(source, comments=wanted.comments)
    breaks: dict[int, int] = {}
    rows = delimited_rows(source, kind, dialect, comments=wanted.comments, breaks=breaks)
    line, first = next(rows, (0, []))
    wanted, there, is_header = _resolve_numbers(source, wanted, first)
    if is_header:
        refuse_twins(source, first, line)
    names, asked = choose_columns(wanted, there, source.error)
    contents = {name: Column() for name in asked}
    takers = [(there.index(name), column.add) for name, column in contents.items()]
    for _, cells in rows:
        for at, add in takers:
            add(cells[at])
    columns = {name: column.read() for name, column in contents.items()}
    above = {name: first[at] for name, (at, _) in zip(contents, takers, strict=True)}
    reason = None
    if is_header is None:
        is_header, reason = _is_header(source, [(above[n], columns[n]) for n in names])
    if not is_header:  # the first line is one more row
        for name, (codes, values) in columns.items():
            if above[name] not in values:
                values.append(above[name])
            columns[name] = np.insert(codes, 0, values.index(above[name])), values
        breaks = {row + 1: line for row, line in breaks.items()}
    return Cells(kind, names, wanted.unit, columns, breaks, reason, wanted.group)


def _resolve_numbers(
    source: Source, wanted: Wanted, first: list[str]
) -> tuple[Wanted, list[str], bool | None]:
    """Return wanted columns by name, the names, and if the first line has them (None: unknown)."""
    asked = [*wanted.columns, wanted.unit, wanted.group]
    places = [_place(source, wanted.header, first, column) for column in asked]
    both = list(zip(asked, places, strict=True))
    named = [column for column, place in both if column is not None and place is None]
    has_header = wanted.header
    if has_header is None and (named or all(place is None for place in places)):
        has_header = True
    if has_header is False and named:
        problem = f"there are no names of columns (header=False), so there is no {named[0]!r}"
        raise source.error(f"{problem}; expected numbers from 1 to {len(first)}")
    there = first if has_header else [f"column {place + 1}" for place in range(len(first))]
    *columns, unit, group = [c if place is None else there[place] for c, place in both]
    return wanted._replace(columns=columns, unit=unit, group=group), there, has_header


def _place(source: Source, header: bool | None, first: list[str], column: str | None) -> int | None:
    """Return the position (from 0) of a column that is requested by number; None for a name."""
    if column is None or not is_number(column):
        return None
    if column not in first or header is False:
        return place_of_number(column, len(first), source.error)
    if header is None and 0 < abs(int(column)) <= len(first):
        problem = f"{column!r} is the name of a column and could be the number of one"
        raise source.error(f"{problem}; expected header=True (names) or header=False (numbers)")
    return None


def _is_header(
    source: Source, columns: Sequence[tuple[str, tuple[Ints, list[Any]]]]
) -> tuple[bool, str]:
    """Return True if the first line names the label columns below, and the reason."""
    usual = next((cell for cell, _ in columns if plain_name(cell) in PREDICTED_NAMES), None)
    if usual is not None:
        return True, f"the first line names columns ({usual!r})"
    again = next((cell for cell, (_, values) in columns if cell in values), None)
    if again is not None:
        return False, f"the first line is a row ({again!r} occurs in others, too)"
    for cell, (codes, values) in columns:
        if all(map(is_decimal, values)) and not is_decimal(cell):
            return True, f"the first line names columns ({cell!r} is no number, all others are)"
        if not is_decimal(cell) and np.bincount(codes, minlength=1).min() > 1:
            return True, f"the first line names columns ({cell!r} occurs only there)"
    problem = f"the first line, with {columns[0][0]!r}, could name the columns or be a row"
    raise source.error(f"{problem}; expected header=True or header=False")


def is_decimal(value: Any) -> bool:
    """Return True if a value, or its text, is a number."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def dialect_of(source: Source, *, comments: bool = False) -> tuple[str, dict[str, Any]]:
    """Return csv or tsv, and the reader's settings, by the header; TSV has no quotes."""
    lines = source.data[: 1 << 16].lstrip().split(b"\n")
    head = next((line for line in lines if not (comments and line.startswith(b"#"))), b"")
    outside = b"".join(head.split(b'"')[::2])
    tabs = b"\t" in (head if source.suffix == ".tsv" else outside)
    if tabs and not (source.suffix == ".csv" and b"," in outside):
        return "tsv", {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
    delimiter = ";" if b";" in outside and b"," not in outside else ","
    return "csv", {"delimiter": delimiter, "strict": True}


def delimited_rows(
    source: Source,
    kind: str,
    dialect: dict[str, Any],
    *,
    comments: bool = False,
    breaks: dict[int, int] | None = None,
    skip_blank: bool = False,
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of CSV or TSV with their lines, all as wide as the first, none converted."""
    # ``breaks`` gets the first line of every run of empty lines, by the row that follows it; with
    # ``skip_blank``, rows of white space above the header are passed over as those below it are
    passed_over = 0  # lines that are comments

    def uncommented() -> Iterator[str]:
        nonlocal passed_over
        for line in text:
            if line.startswith("#"):
                passed_over += 1
            else:
                yield line

    text = io.TextIOWrapper(io.BytesIO(source.data), encoding="utf-8", newline="")
    limit = csv.field_size_limit(LARGEST)
    reader = csv.reader(uncommented() if comments else text, **dialect)
    width = empty = number = 0  # of the first row; first line of a run of empty lines; of rows
    try:
        for cells in reader:
            line = reader.line_num + passed_over
            if len(cells) != width or not cells:
                if not cells or ((width or skip_blank) and not any(map(str.strip, cells))):
                    empty = empty or line
                    continue
                if width:
                    comment = " (or comments=True, if # starts a comment)"
                    comment *= breaks is not None and cells[0][:1] == "#"
                    problem = f"{len(cells)} cell{'s' * (len(cells) != 1)}; expected {width}"
                    raise source.error(f"{problem}, as in the header{comment}", line)
                width, empty = len(cells), 0
            if empty and breaks is not None:
                breaks[number - 1] = empty
            empty = 0
            yield line, cells
            number += 1
    except csv.Error as error:
        line = reader.line_num + passed_over
        raise source.error(f"{error}; expected {kind.upper()}", line) from None
    finally:
        csv.field_size_limit(limit)


# --- JSON lines


def _json_lines(source: Source, wanted: Wanted) -> Cells:
    try:
        head = source.data.lstrip().split(b"\n", 1)[0]
        there = list(next(_objects(source, [head.decode()])))
        names, asked = choose_columns(wanted, there, source.error)
    except InputError:  # a column may be missing in the first row
        keys = dict.fromkeys(key for records in _blocks(source) for r in records for key in r)
        names, asked = choose_columns(wanted, list(keys), source.error)
    contents = {name: Column() for name in asked}
    entries = _SIMPLE if wanted.lists else {str}
    number = 0
    for records in _blocks(source):
        if not number and None in wanted.columns:
            there = list(dict.fromkeys(key for record in records for key in record))
            lists = {k for r in records for k, v in r.items() if type(v) is list}
            objects = {k for r in records for k, v in r.items() if is_object(v)}
            refuse_records(wanted, names, there, objects, lists, source.error)
        for name, column in list(contents.items()):
            values: list[Any] = [record.get(name) for record in records]
            if not _SIMPLE.issuperset(map(type, values)):  # lists of texts, or of what is wanted
                values = [
                    tuple(v) if type(v) is list and entries.issuperset(map(type, v)) else v
                    for v in values
                ]
            if not _SIMPLE.union([tuple]).issuperset(map(type, values)):
                if name not in {*names, wanted.unit, wanted.group}:
                    del contents[name]
                    continue
                place = next(i for i, v in enumerate(values) if type(v) not in (*_SIMPLE, tuple))
                raise source.error(odd_cell(name, number + place + 1, values[place]))
            column.extend(values)
        number += len(records)
    kind = "json" if is_list_of_objects(source) else "jsonl"
    columns = {name: column.read() for name, column in contents.items()}
    return Cells(kind, names, wanted.unit, columns, group=wanted.group)


def odd_cell(column: str, row: int, value: Any, expected: str = EXPECTED_LABEL) -> str:
    """Return the message on a cell that holds something else than expected."""
    return f"column {column!r} row {row} is {shown(value)}; {expected}"


def is_object(value: Any) -> bool:
    """Return True if this is an object or a list with objects."""
    return type(value) is dict or (type(value) is list and dict in map(type, value))


def _blocks(source: Source) -> Iterator[list[dict[str, Any]]]:
    """Yield the objects of many lines at a time, which is much faster than line by line."""
    if is_list_of_objects(source):
        items = source.parse_json("a list of objects", object_pairs_hook=without_doubles)
        for number, record in enumerate(items, start=1):
            if not isinstance(record, dict):
                raise source.error(f"item {number} is {shown(record)}; expected an object")
        yield items
        return
    lines = source.data.decode("utf-8", "replace").split("\n")
    for first in range(0, len(lines), _LINES_PER_BLOCK):
        some = lines[first : first + _LINES_PER_BLOCK]
        block = [bare for line in some if (bare := line.strip(" \t\r"))]
        yield _together(block) or list(_objects(source, some, first))


def _together(lines: list[str]) -> list[dict[str, Any]] | None:
    """Return the objects of some lines if surely one per line; else None."""
    # The lines are parsed as the items of one array. A line that begins with a brace can continue
    # the line before it only inside an array; so without brackets, as many objects as lines means
    # one object per line. No object has a key twice if there are as many keys as ends of keys.
    text = _SEPARATOR.join(lines)
    if "[" in text or not all(line[0] == "{" for line in lines):
        return None
    try:
        records: list[dict[str, Any]] = json.loads(f"[{text}]")
    except (ValueError, RecursionError):
        return None
    if len(records) != len(lines) or text.count("{") != len(lines):
        return None
    keys = sum(map(len, records))
    ends = text.count(":")  # more than keys if strings hold colons
    if ends != keys and (text.count('":') != keys or _SPACED.search(text)):
        return None
    return records


def objects_of(source: Source) -> list[dict[str, Any]]:
    """Return the objects of JSON lines or of a JSON list, each a row of a table."""
    return list(chain.from_iterable(_blocks(source)))


def _objects(source: Source, lines: list[str], before: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the objects of lines that come after so many others; refuse a line that is none."""
    decode = json.JSONDecoder(object_pairs_hook=without_doubles).decode
    for number, line in enumerate(lines, start=before + 1):
        if line and not line.isspace():
            yield source.json_object(number, line, decode)


def rows_of_table(
    source: Source, *, comments: bool = False
) -> tuple[str, str, list[str], list[list[Any]]]:
    """Return the kind of a table, its delimiter, its columns and its rows."""
    if is_json(source):
        records = objects_of(source)
        names = list(dict.fromkeys(key for record in records for key in record))
        rows = [[record.get(name) for name in names] for record in records]
        return ("json" if is_list_of_objects(source) else "jsonl"), ",", names, rows
    kind, dialect = dialect_of(source, comments=comments)
    (_, names), *body = delimited_rows(source, kind, dialect, comments=comments)
    return kind, str(dialect["delimiter"]), names, [cells for _, cells in body]


def delimited_objects(source: Source) -> list[dict[str, Any]]:
    """Return the rows of CSV or TSV as objects; refuse a table without rows."""
    (line, header), *rows = delimited_rows(source, *dialect_of(source))
    refuse_twins(source, header, line)
    if not rows:
        raise source.error(NO_ROWS)
    return [dict(zip(header, cells, strict=True)) for _, cells in rows]


class _DoubleKeyError(ValueError):
    """An object has a key twice."""

    msg = property(str)  # as errors of the parser have it


def without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; refuse a key that it has twice."""
    record = dict(pairs)
    if len(record) < len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise _DoubleKeyError(f"the key {twice!r:.60} occurs twice")
    return record


def refuse_twins(source: Source, names: Sequence[str], line: int | None = None) -> None:
    """Refuse two columns of one name."""
    twice = next((n for n, times in Counter(names).items() if n and times > 1), None)
    if twice is not None:
        way_out = "" if line is None else " (or header=False, if this line is a row)"
        problem = f"two columns are called {twice!r}"
        raise source.error(f"{problem}; expected different names{way_out}", line)


def first_bad_line(name: str, path: Path) -> InputError | None:
    """Return the error for the first line that is no JSON object; None if all are."""
    with path.open("rb") as file:
        for number, line in enumerate(file):
            try:
                list(_objects(Source(name, b""), [line.decode()], number))
            except UnicodeDecodeError as error:
                problem = f"byte 0x{line[error.start]:02x} is not UTF-8"
                return InputError(f"{problem}; expected UTF-8", name, number + 1)
            except InputError as error:
                return error
    return None
