"""Write the units of a sample as a file for annotators, without any system's output.

Only what shows the text of a unit is written: tokens, texts, ids, documents. All other columns may
hold the output of a system, and are left out unless they are requested.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.matching.choices import how_to_read
from probative.reading.alignment import align
from probative.reading.annotations import TEXT_COLUMNS, RowIds, Text
from probative.reading.columns import column_of, layout, share_of_tags
from probative.reading.formats import FORMATS, Input, open_input
from probative.reading.inputs import is_path
from probative.reading.lines import SPAN_KEYS
from probative.reading.records import KEY_BORDER, USUAL_KEY
from probative.reading.rows import TOKENS, is_tag_column
from probative.reading.source import load
from probative.reading.table_sides import is_beside
from probative.reading.tables import (
    PREDICTED_NAMES,
    dialect_of,
    is_list_of_objects,
    listed,
    objects_of,
    plain_name,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from probative.reading.columns import Layout
    from probative.reading.source import Source
    from probative.surveys.pool import Pool


# --- Sentences of a column file, with a blank for every tag

_BLANK = "_"  # not a tag in any scheme
_KEPT_COMMENTS = (b"# sent_id", b"# text =")


@dataclass(frozen=True, eq=False)
class _ColumnBlanks:
    """A column file of which only some columns are written."""

    shape: Layout  # its lines and columns
    columns: tuple[int, ...]  # that are written, from 0
    text: Text

    @property
    def n_parts(self) -> int:
        """Return the number of sentences."""
        return self.text.n_sentences

    @property
    def written(self) -> dict[str, Any]:
        """Return how to read an annotated file."""
        return {"format": "columns", "column": -1, "blank": _BLANK}

    def write(self, parts: NDArray[Any]) -> str:
        """Return the lines of some sentences, with a blank last column for tags."""
        between = "\t" if self.shape.table.tabs else " "
        documents, lines, last = self.text.document, [], None
        for part in parts.tolist():
            document = None if documents is None else int(documents[part])
            if document is not None and document != last:
                lines += self._document_line(document, between)
                last = document
            lines += [*self._comments(part), *self._tokens(part, between), ""]
        return "\n".join(lines) + "\n"

    def _tokens(self, part: int, between: str) -> list[str]:
        data = self.shape.table.source.data
        low, high = self.text.first[part : part + 2].tolist()
        return [
            between.join([*(data[a[i] : b[i]].decode() for a, b in self._fields), _BLANK])
            for i in range(low, high)
        ]

    @cached_property
    def _fields(self) -> list[Any]:
        """Return start and end of every field that is written, column by column."""
        return [self.shape.table.column(column, self.shape.rows) for column in self.columns]

    def _comments(self, part: int) -> list[str]:
        """Return the comments that identify a sentence, for formats that have comments."""
        if not self.shape.numbered:
            return []
        lines = self.text.raw(part).split(b"\n")
        return [line.decode().rstrip("\r") for line in lines if line.startswith(_KEPT_COMMENTS)]

    def _document_line(self, document: int, between: str) -> list[str]:
        """Return the lines that start a document."""
        if not self.shape.numbered:
            width = len(self.columns) + 1
            return [between.join(["-DOCSTART-", *[_BLANK] * (width - 1)]), ""]
        documents: Any = self.text.document
        first = int(np.argmax(documents == document))
        lines = self.text.raw(first).split(b"\n")
        named = next((line for line in lines if line.startswith(b"# newdoc")), b"# newdoc")
        return [named.decode().rstrip("\r")]


def _open_columns(opened: Input, keep: Sequence[int | str], *, is_output: bool) -> _ColumnBlanks:
    """Find the tokens of a column file; refuse one without tokens."""
    shape = opened.layout
    token = shape.token_column
    if token is None and is_output:
        raise opened.source.error(
            "holds tags and no tokens; expected the tokens of the pool in a file of their own"
        )
    token = token or 0
    if shape.width > 1 and share_of_tags(shape, token) > 0.5:
        raise opened.source.error(f"column {token + 1} holds tags; expected the tokens first")
    start, end = shape.table.column(token, shape.rows)
    text = replace(shape.text, start=start, end=end)
    numbers = [0] if shape.numbered and token else []
    more = [_kept(opened, column) for column in keep]
    return _ColumnBlanks(shape, tuple(dict.fromkeys([*numbers, token, *more])), text)


def _kept(opened: Input, column: int | str) -> int:
    """Return the index of a further column to be written; refuse one that holds tags."""
    shape, source = opened.layout, opened.source
    number = int(column) if str(column).lstrip("-").isdecimal() else 0
    place = number - 1 if number > 0 else shape.width + number
    if number == 0 or not 0 <= place < shape.width:
        raise source.error(f"there is no column {column}; expected 1 to {shape.width} for keep=")
    asked = opened.options.tag_column
    tagged = isinstance(asked, int) and place == (asked - 1 if asked > 0 else shape.width + asked)
    if place != shape.token_column and (tagged or share_of_tags(shape, place) > 0.5):
        raise source.error(
            f"column {column} holds tags, which annotators must not see; expected others for keep="
        )
    return place


# --- Rows of a table or objects of JSON lines, with an empty label

# Columns that only identify a row; label_id, for instance, would reveal the label
_ID = re.compile(
    r"|((text|item|row|example|sample|record|tweet|post|message|review|comment|question|orig)_)?"
    r"(id|idx|index|uid|uuid|guid)|key|unnamed:_0"
)
_TOKEN_KEYS = ("text", "start", "end", "id", "ws")  # kept keys of tokens that are objects
_DELIMITED = ("csv", "tsv")
GOLD_KEY = "gold"  # what annotators fill in for records


@dataclass(frozen=True, eq=False)
class _TableBlanks:
    """Rows of a table of which only some columns are written."""

    kind: str  # csv, tsv, jsonl or json
    form: str  # the name of the format for `input_format`
    names: tuple[str, ...]  # the columns that are written
    rows: Sequence[Sequence[Any]]  # their cells
    answer: str  # the column that annotators fill in
    part_of_row: NDArray[Any] | None = None  # sentence or unit of every row, if several share one
    delimiter: str = ","
    # the text or the tokens of every row, if a row is a sentence
    sentences: Sequence[Sequence[str]] | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()

    @property
    def n_parts(self) -> int:
        """Return the number of units as read."""
        part = self.part_of_row
        return len(self.rows) if part is None else int(part.max(initial=-1)) + 1

    @property
    def written(self) -> dict[str, Any]:
        """Return how to read an annotated file."""
        blank = "" if self.kind in _DELIMITED else None
        return {"format": self.form, "column": self.answer, "blank": blank}

    @property
    def ids(self) -> RowIds | None:
        """Return the identifiers of the rows, from the first column that holds only these."""
        column = next((n for n in self.names if n and _ID.fullmatch(plain_name(n))), None)
        if column is None:
            return None
        texts = [str(row[self.names.index(column)]) for row in self.rows]
        names = tuple(dict.fromkeys(texts))
        number = {text: i for i, text in enumerate(names)}
        return RowIds(column, np.array([number[t] for t in texts], dtype=np.int32), names)

    def write(self, parts: NDArray[Any]) -> str:
        """Return the rows of some units, with an empty last column for gold."""
        chosen: Any = parts
        if self.part_of_row is not None:
            chosen = np.flatnonzero(np.isin(self.part_of_row, parts))
        rows = [self.rows[i] for i in chosen.tolist()]
        if self.kind in _DELIMITED:
            return self._delimited(rows)
        records = [dict(zip((*self.names, self.answer), (*row, None), strict=True)) for row in rows]
        lines = [json.dumps(record, ensure_ascii=False) for record in records]
        listed_, lined = "[\n" + ",\n".join(lines) + "\n]\n", "\n".join(lines) + "\n"
        return listed_ if self.kind == "json" else lined

    def _delimited(self, rows: Sequence[Sequence[Any]]) -> str:
        """Return the rows as CSV or TSV."""
        text = io.StringIO()
        writer = csv.writer(
            text,
            delimiter=self.delimiter,
            quoting=csv.QUOTE_MINIMAL if self.kind == "csv" else csv.QUOTE_NONE,
            lineterminator="\n",
            quotechar='"' if self.kind == "csv" else None,
        )
        writer.writerow([*self.names, self.answer])
        writer.writerows([*row, ""] for row in rows)
        return text.getvalue()


def _open_table(
    opened: Input, keep: Sequence[int | str], labels: Sequence[str], *, tags: bool
) -> _TableBlanks:
    """Read the columns of a table that annotators may see; never `labels`, those of systems."""
    source = opened.source
    if source.is_parquet:
        raise source.error(
            "is Parquet, but samples are not written as Parquet; expected the pool as CSV, "
            "TSV or JSON lines"
        )
    kind, delimiter, names, rows = _rows_of_table(source, comments=opened.options.comments)
    unit = opened.options.unit
    asked = [str(column) for column in keep]
    kept = _kept_names(source, names, asked, labels, unit)
    kept = _without_objects(kept, asked, [dict(zip(names, row, strict=True)) for row in rows])
    if not kept:
        raise _nothing_known(source, names)
    places = [names.index(name) for name in kept]
    note = (
        f"{source.name}: has no known column of texts, so the sample names its rows by "
        f"{listed(kept)} only; keep= adds columns for annotators"
    )
    tells = any(_is_text(name) for name in kept) or keep
    return _TableBlanks(
        kind,
        "table",
        tuple(kept),
        [[row[place] for place in places] for row in rows],
        "tag" if tags else "label",
        delimiter=delimiter,
        notes=() if tells else (note,),
    )


def _is_text(name: str) -> bool:
    """Return True if the name of a column is one for texts."""
    return plain_name(name) in TEXT_COLUMNS or is_beside(plain_name(name))


def _is_safe(name: str, unit: str | None) -> bool:
    """Return True if a column holds or identifies a text and cannot be a system's output."""
    return _is_text(name) or name == unit or _ID.fullmatch(plain_name(name)) is not None


def _kept_names(
    source: Source,
    names: Sequence[str],
    keep: Sequence[str],
    labels: Sequence[str],
    unit: str | None,
) -> list[str]:
    """Return the columns to write; refuse requested columns that are missing or hold labels."""
    for name in keep:
        if name not in names:
            raise source.error(
                f"there is no column {name!r}; expected one of {listed(list(names))} for keep="
            )
        if name in labels or plain_name(name) in PREDICTED_NAMES:
            raise source.error(
                f"column {name!r} holds labels, which annotators must not see; expected others "
                f"for keep="
            )
    safe = [name for name in names if name not in labels and _is_safe(name, unit)]
    kept = [name for name in names if name in safe or name in keep]
    if not kept:
        raise _nothing_known(source, names)
    return kept


def _nothing_known(source: Source, names: Sequence[str]) -> InputError:
    """Return the error for a table without known columns of texts or ids."""
    return source.error(
        f"no column of texts or ids is known among {listed(list(names))}; expected keep= with the "
        "columns for annotators"
    )


def _without_objects(
    names: Sequence[str], sure: Sequence[str], records: Sequence[dict[str, Any]]
) -> list[str]:
    """Return the names that are `sure` or hold no objects, which may be anything."""

    def is_plain(value: Any) -> bool:
        if isinstance(value, list):
            return all(isinstance(part, str) for part in value)
        return not isinstance(value, dict)

    return [n for n in names if n in sure or all(is_plain(record.get(n)) for record in records)]


def _rows_of_table(
    source: Source, *, comments: bool = False
) -> tuple[str, str, list[str], list[list[Any]]]:
    """Return the kind of a table, its delimiter, its columns and its rows."""
    if source.data[:1000].lstrip().startswith(b"{") or is_list_of_objects(source):
        records = source.document if is_list_of_objects(source) else objects_of(source)
        if not all(isinstance(record, dict) for record in records):
            raise source.error(
                "is a list with other values than objects; expected one object per row"
            )
        names = list(dict.fromkeys(key for record in records for key in record))
        rows = [[record.get(name) for name in names] for record in records]
        return ("json" if is_list_of_objects(source) else "jsonl"), ",", names, rows
    kind, dialect = dialect_of(source, comments=comments)
    text = io.StringIO(source.data.decode(), newline="")
    lines = (line for line in text if not (comments and line.startswith("#")))
    try:
        all_rows = [row for row in csv.reader(lines, **dialect) if row]
    except csv.Error as error:
        raise source.error(f"{error}; expected {kind.upper()}") from None
    names, *body = all_rows
    uneven = next((n for n, row in enumerate(body, start=1) if len(row) != len(names)), None)
    if uneven is not None:
        raise source.error(
            f"row {uneven} has {len(body[uneven - 1])} cells; expected {len(names)}, as in the "
            f"first line"
        )
    return kind, str(dialect["delimiter"]), names, [list(row) for row in body]


def _open_objects(opened: Input, keep: Sequence[int | str], *, tagged: bool) -> _TableBlanks:
    """Read the keys that annotators may see of JSON lines with spans, or with tokens and tags."""
    source = opened.source
    if source.is_parquet:
        raise source.error(
            "is Parquet, but samples are not written as Parquet; expected the pool as JSON lines"
        )
    records = objects_of(source)
    keys = list(dict.fromkeys(key for record in records for key in record))
    taken = [key for key in keys if is_tag_column(key)] if tagged else list(SPAN_KEYS)
    wanted = [str(column) for column in keep]
    asked = _kept_names(source, keys, wanted, taken, None)
    names = [name for name in keys if name in asked or name in ("text", *TOKENS)]
    names = _without_objects(names, (*wanted, *TOKENS), records)
    annotation_key = next(
        (key for key in (*SPAN_KEYS, *taken) if key in keys and key in taken), None
    )
    rows = [[_without_more(record.get(name)) for name in names] for record in records]
    return _TableBlanks(
        "jsonl",
        "rows" if tagged else "jsonl",
        tuple(names),
        rows,
        ("ner_tags" if tagged else annotation_key or "spans"),
        sentences=[_words(record) for record in records],
    )


def _without_more(value: Any) -> Any:
    """Remove from tokens that are objects everything but the keys of the token itself."""
    if isinstance(value, list) and all(isinstance(token, dict) for token in value):
        return [{key: token[key] for key in _TOKEN_KEYS if key in token} for token in value]
    return value


def _words(record: dict[str, Any]) -> Sequence[str]:
    """Return the text or the tokens of a record."""
    if isinstance(record.get("text"), str):
        return str(record["text"])
    tokens = record.get("tokens", record.get("words")) or []
    return [str(t.get("text")) if isinstance(t, dict) else str(t) for t in tokens]


def _open_lines(source: Source) -> _TableBlanks:
    """Read texts, one per line, as a table with a column for the label."""
    lines = source.data.decode().split("\n")
    texts = [line.rstrip("\r") for line in (lines[:-1] if not lines[-1] else lines)]
    tabs = any("\t" in text for text in texts)
    rows = [[str(number), text] for number, text in enumerate(texts, start=1)]
    kind, delimiter = ("csv", ",") if tabs else ("tsv", "\t")
    return _TableBlanks(kind, "table", ("id", "text"), rows, "label", delimiter=delimiter)


def _open_documents(
    path: Path | str, pool: Pool, keep: Sequence[int | str], same: Sequence[int]
) -> _TableBlanks:
    """Find what annotators may see of documents whose records are outputs: keys and texts."""
    key = [str(name) for name in pool.reading.key] or [USUAL_KEY]
    sides: Any = pool.sides
    order = {name: place for place, name in enumerate(sides[0].keys)}
    kind, delimiter = "jsonl", ","
    if Path(path).is_dir():
        texts = {file.stem: file for file in sorted(Path(path).iterdir()) if file.is_file()}
        known = {file.suffix for file in texts.values()} == {".txt"}
        names, held = [*key, *(["text"] if known else [])], [*texts]
        rows = [[n, *([texts[n].read_text("utf-8")] if known else [])] for n in held]
    elif same and sides[same[0]].column is None:  # all but the key are fields of an output
        names, held = key, [*order]
        rows = [name.split(KEY_BORDER) for name in held]
    else:
        source = load(path, encoding=pool.reading.encoding)
        kind, delimiter, there, cells = _rows_of_table(source)
        records = [dict(zip(there, row, strict=True)) for row in cells]
        wanted = [*key, *map(str, keep)]
        outputs = [*map(str, pool.reading.columns), *(sides[i].column for i in same)]
        names = _without_objects(_kept_names(source, there, wanted, outputs, None), wanted, records)
        held = [KEY_BORDER.join(str(record[name]) for name in key) for record in records]
        rows = [[record[name] for name in names] for record in records]
        keep = ()
    if keep:
        raise InputError("keep: there are no other columns; expected it left out", path)
    if {*held} != order.keys() or len(held) != len(order):
        odd = next((name for name in [*held, *order] if (name in order) != (name in held)), held[0])
        raise InputError(
            f"{len(held):,} documents, but the outputs have {len(order):,} (look at "
            f"{odd.replace(KEY_BORDER, ', ')!r}); expected the same, each once",
            path,
        )
    ordered = [row for _, row in sorted(zip((order[name] for name in held), rows, strict=True))]
    return _TableBlanks(kind, "records", tuple(names), ordered, GOLD_KEY, delimiter=delimiter)


# --- Opening the text of a pool in any format

Blanks = _ColumnBlanks | _TableBlanks
_WRITTEN = "columns (CoNLL), JSON lines with spans or with tokens and tags, tables (CSV, TSV, JSON)"
_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")


def open_blanks(
    path: Path | str, pool: Pool, outputs: Sequence[Any], keep: Sequence[int | str] = ()
) -> Blanks:
    """Open the text of a pool, from which units are written without any system's output."""
    same = [number for number, output in enumerate(outputs) if _is_same_file(path, output)]
    if pool.task == "records":
        return _open_documents(path, pool, keep, same)
    form = _form(path, pool, same)
    if form == "labels":
        return _lines(path, pool, is_output=bool(same))
    options = replace(how_to_read(pool.reading), input_format=form, predicted=True)
    opened = open_input(path, options)
    columns = [str(column) for column in pool.reading.columns]
    if form in ("columns", "conllu"):
        blanks: Blanks = _open_columns(opened, keep, is_output=bool(same))
    elif form == "table":
        blanks = _open_table(opened, keep, columns, tags=pool.task == "entities")
        blanks = _with_parts(blanks, pool, opened)
    elif form in ("jsonl", "rows"):
        blanks = _open_objects(opened, keep, tagged=form == "rows")
    else:
        raise InputError(
            f"is {FORMATS[form].title}, but samples are not written as that; expected the text of "
            f"the pool as {_WRITTEN}",
            path,
        )
    _same_text(blanks, pool, str(path))
    return blanks


def _is_same_file(path: Path | str, other: Any) -> bool:
    """Return True if both are paths of the same file."""
    return is_path(other) and os.path.realpath(path) == os.path.realpath(other)


def _form(path: Path | str, pool: Pool, same: Sequence[int]) -> str:
    """Return the format of the pool: that of the output that it is, or that of its content."""
    origins = [None if side.origin is None else side.origin.form for side in pool.sides]
    if same:
        return str(origins[same[0]])
    like = next((origin for origin in origins if origin is not None), None)
    if pool.reading.input_format is not None:
        return pool.reading.input_format
    suffix = Path(str(path).removesuffix(".gz")).suffix.lower()
    if suffix in _TABLES and like in ("table", "labels"):
        return "table"
    if like in ("columns", "conllu", "table", "jsonl", "labels"):
        return like
    options = replace(how_to_read(pool.reading), task=pool.task, like=like)
    return open_input(path, options).kind


def _lines(path: Path | str, pool: Pool, *, is_output: bool) -> _TableBlanks:
    """Read a file with one text per line; refuse an output, which holds labels."""
    if is_output:
        raise InputError(
            "holds labels and no texts; expected the texts of the pool, one per line, or a table",
            path,
        )
    blanks = _open_lines(load(path, encoding=pool.reading.encoding))
    _same_number(blanks, pool, str(path), "lines")
    return blanks


def _with_parts(blanks: _TableBlanks, pool: Pool, opened: Input) -> _TableBlanks:
    """Add the part as read of every row, if rows are tokens or items of units."""
    side: Any = pool.sides[0]
    if pool.task == "entities":
        text = side.text
        if len(blanks.rows) != text.n_tokens:
            raise opened.source.error(
                f"{len(blanks.rows)} rows, but the outputs have {text.n_tokens} tokens; expected "
                "the same number"
            )
        if not any(name.startswith(("sent", "sid")) for name in map(str.lower, blanks.names)):
            unit = opened.options.unit
            if unit is None or unit not in blanks.names:
                raise opened.source.error(
                    "only empty lines separate sentences, and a table has none; expected a "
                    "column of sentences, or columns (CoNLL)"
                )
        return replace(blanks, part_of_row=text.sentence)
    if side.units is None or len(blanks.rows) != len(side):
        return blanks
    return replace(blanks, part_of_row=side.units)


def _same_text(blanks: Blanks, pool: Pool, name: str) -> None:
    """Refuse a pool whose text differs from that of the outputs."""
    _same_number(blanks, pool, name, "rows" if isinstance(blanks, _TableBlanks) else "sentences")
    side: Any = pool.sides[0]
    text = side.text if pool.task == "entities" else side.aligned
    if isinstance(blanks, _ColumnBlanks):
        if isinstance(text, Text):
            align(blanks.text, text, by=pool.reading.align_by)
        return
    if blanks.sentences is not None and isinstance(text, Text) and text.sentences is not None:
        lengths = [len(sentence) for sentence in blanks.sentences]
        first = np.concatenate([[0], np.cumsum(lengths)])
        align(Text(name, first, sentences=blanks.sentences), text, by=pool.reading.align_by)
    ids = blanks.ids
    if isinstance(text, RowIds) and ids is not None and ids.column == text.column:
        _same_ids(ids, text, name)


def _same_number(blanks: Blanks, pool: Pool, name: str, what: str) -> None:
    """Refuse a pool with another number of parts than the outputs."""
    number = len(pool.unit_of_part)
    if blanks.n_parts != number:
        raise InputError(
            f"{blanks.n_parts} {what}, but the outputs have {number}; expected the same text", name
        )


def _same_ids(ids: RowIds, other: RowIds, name: str) -> None:
    """Refuse a pool with other row ids than the outputs."""
    mine, theirs = ([side.names[code] for code in side.codes] for side in (ids, other))
    row = next((i for i, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a != b), None)
    if row is not None:
        raise InputError(
            f"row {row + 1} has {ids.column} {mine[row][:40]!r}, but {theirs[row][:40]!r} in the "
            f"outputs; expected the same rows in the same order",
            name,
        )


def encoded(blanks: Blanks, pool: Pool, units: Any) -> bytes:
    """Return the file of some units, in the encoding of the outputs."""
    return blanks.write(pool.parts_of(units)).encode(pool.reading.encoding or "utf-8")


def unanswered(path: Path | str, written: Mapping[str, Any]) -> int:
    """Count what is still blank in an annotated file; `written` is the entry of its design."""
    if Path(path).is_dir():
        return 0
    source = load(path)
    if written.get("format") == "columns":
        shape = layout(source)
        codes, values = column_of(shape, -1)
        blank = [code for code, value in enumerate(values) if value == _BLANK.encode()]
        return int(np.isin(codes, blank).sum())
    _, _, names, rows = _rows_of_table(source)
    column = written.get("column")
    if column not in names:  # records may come back without the column
        return 0 if written.get("format") == "records" else len(rows)
    place = names.index(str(column))
    return sum(row[place] is None or row[place] == "" for row in rows)
