"""Rows of a table, or objects of JSON lines, with nothing in the place of every answer."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.reading.annotations import TEXT_COLUMNS, RowIds
from probative.reading.jsonlines import SPAN_KEYS
from probative.reading.rows import TOKENS, is_tag_column
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
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.errors import InputError
    from probative.reading.opening import Input
    from probative.reading.source import Source

__all__ = ["TableBlanks", "open_lines", "open_objects", "open_table", "rows_of_table"]

# what names a row, and nothing but: label_id would name its label
_ID = re.compile(
    r"|((text|item|row|example|sample|record|tweet|post|message|review|comment|question|orig)_)?"
    r"(id|idx|index|uid|uuid|guid)|key|unnamed:_0"
)
_TOKEN_KEYS = ("text", "start", "end", "id", "ws")  # of tokens that are objects
_DELIMITED = ("csv", "tsv")


@dataclass(frozen=True, eq=False)
class TableBlanks:
    """Rows of which only what tells their texts is written.

    Attributes
    ----------
    kind
        csv, tsv, jsonl or json.
    form
        What `input_format` calls it.
    names, rows
        The columns that are written, and their cells.
    answer
        The column that annotators fill in.
    part_of_row
        The unit that was read of every row; None where each row is one.
    delimiter
        What stands between the cells of a line.
    sentences
        The text or the tokens of every row, where a row is a sentence.
    notes
        What is to be said about it.
    """

    kind: str
    form: str
    names: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    answer: str
    part_of_row: NDArray[Any] | None = None
    delimiter: str = ","
    sentences: Sequence[Sequence[str]] | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()

    @property
    def n_parts(self) -> int:
        """How many units were read."""
        part = self.part_of_row
        return len(self.rows) if part is None else int(part.max(initial=-1)) + 1

    @property
    def written(self) -> dict[str, Any]:
        """How an annotated file is to be read."""
        blank = "" if self.kind in _DELIMITED else None
        return {"format": self.form, "column": self.answer, "blank": blank}

    @property
    def ids(self) -> RowIds | None:
        """What the rows are called, by the first column that does nothing else."""
        column = next((n for n in self.names if n and _ID.fullmatch(plain_name(n))), None)
        if column is None:
            return None
        texts = [str(row[self.names.index(column)]) for row in self.rows]
        names = tuple(dict.fromkeys(texts))
        number = {text: i for i, text in enumerate(names)}
        return RowIds(column, np.array([number[t] for t in texts], dtype=np.int32), names)

    def write(self, parts: NDArray[Any]) -> str:
        """The rows of some units, with a last column for the answer that is empty."""
        chosen: Any = parts
        if self.part_of_row is not None:
            chosen = np.flatnonzero(np.isin(self.part_of_row, parts))
        rows = [self.rows[i] for i in chosen.tolist()]
        if self.kind in _DELIMITED:
            return self._delimited(rows)
        records = [dict(zip((*self.names, self.answer), (*row, None), strict=True)) for row in rows]
        lines = [json.dumps(record, ensure_ascii=False) for record in records]
        return (
            "[\n" + ",\n".join(lines) + "\n]\n" if self.kind == "json" else "\n".join(lines) + "\n"
        )

    def _delimited(self, rows: Sequence[Sequence[Any]]) -> str:
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


def open_table(
    opened: Input, keep: Sequence[int | str], labels: Sequence[str], *, tags: bool
) -> TableBlanks:
    """Read what tells the texts of a table.

    Parameters
    ----------
    opened
        The file.
    keep
        Further columns to be written.
    labels
        Columns that hold what systems say, and are never written.
    tags
        Whether its rows are tokens.
    """
    source = opened.source
    if source.is_parquet:
        raise source.error(
            "is Parquet, which no sample is written as; expected the pool as CSV, TSV or JSON lines"
        )
    kind, delimiter, names, rows = rows_of_table(source, comments=opened.options.comments)
    unit = opened.options.unit
    asked = [str(column) for column in keep]
    kept = _kept_names(source, names, asked, labels, unit)
    kept = _without_objects(kept, asked, [dict(zip(names, row, strict=True)) for row in rows])
    if not kept:
        raise _nothing_known(source, names)
    places = [names.index(name) for name in kept]
    note = (
        f"{source.name}: no column of texts is known, so the sample names its rows by "
        f"{listed(kept)} alone; keep= names columns that annotators may see"
    )
    tells = any(_is_text(name) for name in kept) or keep
    return TableBlanks(
        kind,
        "table",
        tuple(kept),
        [[row[place] for place in places] for row in rows],
        "tag" if tags else "label",
        delimiter=delimiter,
        notes=() if tells else (note,),
    )


def _is_text(name: str) -> bool:
    return plain_name(name) in TEXT_COLUMNS or is_beside(plain_name(name))


def _is_safe(name: str, unit: str | None) -> bool:
    """Whether a column tells a text, or names it, and can be no answer."""
    return _is_text(name) or name == unit or _ID.fullmatch(plain_name(name)) is not None


def _kept_names(
    source: Source,
    names: Sequence[str],
    keep: Sequence[str],
    labels: Sequence[str],
    unit: str | None,
) -> list[str]:
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
    return source.error(
        f"no column of texts or ids is known among {listed(list(names))}; expected keep= to name "
        f"those that annotators may see"
    )


def _without_objects(
    names: Sequence[str], sure: Sequence[str], records: Sequence[dict[str, Any]]
) -> list[str]:
    """The names under which single values or texts stand: in an object there may be anything."""

    def is_plain(value: Any) -> bool:
        if isinstance(value, list):
            return all(isinstance(part, str) for part in value)
        return not isinstance(value, dict)

    return [n for n in names if n in sure or all(is_plain(record.get(n)) for record in records)]


def rows_of_table(
    source: Source, *, comments: bool = False
) -> tuple[str, str, list[str], list[list[Any]]]:
    """The kind of a table, what stands between its cells, its columns and its rows."""
    if source.data[:1000].lstrip().startswith(b"{") or is_list_of_objects(source):
        records = source.document if is_list_of_objects(source) else objects_of(source)
        if not all(isinstance(record, dict) for record in records):
            raise source.error("is a list of more than objects; expected an object per row")
        names = list(dict.fromkeys(key for record in records for key in record))
        rows = [[record.get(name) for name in names] for record in records]
        return ("json" if is_list_of_objects(source) else "jsonl"), ",", names, rows
    kind, dialect = dialect_of(source, comments=comments)
    text = io.StringIO(source.data.decode(), newline="")
    lines = (line for line in text if not (comments and line.startswith("#")))
    try:
        found = [row for row in csv.reader(lines, **dialect) if row]
    except csv.Error as error:
        raise source.error(f"{error}; expected {kind.upper()}") from None
    names, *body = found
    uneven = next((n for n, row in enumerate(body, start=1) if len(row) != len(names)), None)
    if uneven is not None:
        raise source.error(
            f"row {uneven} has {len(body[uneven - 1])} cells; expected {len(names)}, as in the "
            f"first line"
        )
    return kind, str(dialect["delimiter"]), names, [list(row) for row in body]


def open_objects(opened: Input, keep: Sequence[int | str], *, tagged: bool) -> TableBlanks:
    """Read what tells the texts of JSON lines with spans, or of rows of tokens and tags."""
    source = opened.source
    if source.is_parquet:
        raise source.error(
            "is Parquet, which no sample is written as; expected the pool as JSON lines"
        )
    records = objects_of(source)
    there = list(dict.fromkeys(key for record in records for key in record))
    taken = [key for key in there if is_tag_column(key)] if tagged else list(SPAN_KEYS)
    wanted = [str(column) for column in keep]
    asked = _kept_names(source, there, wanted, taken, None)
    names = [name for name in there if name in asked or name in ("text", *TOKENS)]
    names = _without_objects(names, (*wanted, *TOKENS), records)
    own = next((key for key in (*SPAN_KEYS, *taken) if key in there and key in taken), None)
    rows = [[_without_more(record.get(name)) for name in names] for record in records]
    return TableBlanks(
        "jsonl",
        "rows" if tagged else "jsonl",
        tuple(names),
        rows,
        ("ner_tags" if tagged else own or "spans"),
        sentences=[_words(record) for record in records],
    )


def _without_more(value: Any) -> Any:
    """Tokens that are objects, with what tells the tokens only."""
    if isinstance(value, list) and all(isinstance(token, dict) for token in value):
        return [{key: token[key] for key in _TOKEN_KEYS if key in token} for token in value]
    return value


def _words(record: dict[str, Any]) -> Sequence[str]:
    if isinstance(record.get("text"), str):
        return str(record["text"])
    tokens = record.get("tokens", record.get("words")) or []
    return [str(t.get("text")) if isinstance(t, dict) else str(t) for t in tokens]


def open_lines(source: Source) -> TableBlanks:
    """Texts, one per line, which become a table with a column for the label."""
    lines = source.data.decode().split("\n")
    texts = [line.rstrip("\r") for line in (lines[:-1] if not lines[-1] else lines)]
    tabs = any("\t" in text for text in texts)
    rows = [[str(number), text] for number, text in enumerate(texts, start=1)]
    kind, delimiter = ("csv", ",") if tabs else ("tsv", "\t")
    return TableBlanks(kind, "table", ("id", "text"), rows, "label", delimiter=delimiter)
