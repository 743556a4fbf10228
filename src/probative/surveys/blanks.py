"""The units of a sample as a file for annotators: the text of the pool, and no answer of anybody.

What is written of a unit is what tells its text: tokens, texts, ids, documents. Everything else in
the file of the pool may be what a system says, and is left out unless it is asked for.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.matching.choices import how_to_read
from probative.reading.alignment import align
from probative.reading.annotations import RowIds, Text
from probative.reading.columns import column_of, layout
from probative.reading.formats import FORMATS
from probative.reading.inputs import is_path
from probative.reading.opening import Input, open_input
from probative.reading.source import load
from probative.surveys.blank_columns import BLANK, ColumnBlanks, open_columns
from probative.surveys.blank_tables import (
    TableBlanks,
    open_lines,
    open_objects,
    open_table,
    rows_of_table,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probative.surveys.pool import Pool

__all__ = ["Blanks", "encoded", "open_blanks", "unanswered"]

Blanks = ColumnBlanks | TableBlanks
_WRITTEN = "columns (CoNLL), JSON lines with spans or with tokens and tags, tables (CSV, TSV, JSON)"
_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")


def open_blanks(
    path: Path | str, pool: Pool, outputs: Sequence[Any], keep: Sequence[int | str] = ()
) -> Blanks:
    """Open the text of a pool, from which units are written without answers.

    Parameters
    ----------
    path
        The corpus, or one of the outputs: only its text is used.
    pool
        Who returns what; its outputs must be of the same text.
    outputs
        The outputs, to see whether the pool is one of them.
    keep
        Further columns to be written.
    """
    same = [number for number, own in enumerate(outputs) if _is_same_file(path, own)]
    form = _form(path, pool, same)
    if form == "labels":
        return _lines(path, pool, is_output=bool(same))
    options = replace(how_to_read(pool.reading), input_format=form, predicted=True)
    opened = open_input(path, options)
    columns = [str(column) for column in pool.reading.columns]
    if form in ("columns", "conllu"):
        blanks: Blanks = open_columns(opened, keep, is_output=bool(same))
    elif form == "table":
        blanks = open_table(opened, keep, columns, tags=pool.task == "entities")
        blanks = _with_parts(blanks, pool, opened)
    elif form in ("jsonl", "rows"):
        blanks = open_objects(opened, keep, tagged=form == "rows")
    else:
        raise InputError(
            f"is {FORMATS[form].title}, which no sample is written as; expected the text of the "
            f"pool as {_WRITTEN}",
            path,
        )
    _same_text(blanks, pool, str(path))
    return blanks


def _is_same_file(path: Path | str, other: Any) -> bool:
    return is_path(other) and os.path.realpath(path) == os.path.realpath(other)


def _form(path: Path | str, pool: Pool, same: Sequence[int]) -> str:
    """The format of the pool: that of the output which it is, or by what it holds."""
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


def _lines(path: Path | str, pool: Pool, *, is_output: bool) -> TableBlanks:
    if is_output:
        raise InputError(
            "holds labels and no texts; expected the texts of the pool, one per line, or a table",
            path,
        )
    blanks = open_lines(load(path, encoding=pool.reading.encoding))
    _same_number(blanks, pool, str(path), "lines")
    return blanks


def _with_parts(blanks: TableBlanks, pool: Pool, opened: Input) -> TableBlanks:
    """The unit that was read of every row, where rows are tokens or items of units."""
    side: Any = pool.sides[0]
    if pool.task == "entities":
        text = side.text
        if len(blanks.rows) != text.n_tokens:
            raise opened.source.error(
                f"{len(blanks.rows)} rows, but the outputs have {text.n_tokens} tokens; expected "
                f"as many"
            )
        if not any(name.startswith(("sent", "sid")) for name in map(str.lower, blanks.names)):
            unit = opened.options.unit
            if unit is None or unit not in blanks.names:
                raise opened.source.error(
                    "nothing but empty lines tells sentences apart, which a table is not written "
                    "with; expected a column of sentences, or columns (CoNLL)"
                )
        return replace(blanks, part_of_row=text.sentence)
    if side.units is None or len(blanks.rows) != len(side):
        return blanks
    return replace(blanks, part_of_row=side.units)


def _same_text(blanks: Blanks, pool: Pool, name: str) -> None:
    """Refuse a pool of another text than the outputs have."""
    _same_number(blanks, pool, name, "rows" if isinstance(blanks, TableBlanks) else "sentences")
    side: Any = pool.sides[0]
    text = side.text if pool.task == "entities" else side.aligned
    if isinstance(blanks, ColumnBlanks):
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
    number = len(pool.unit_of_part)
    if blanks.n_parts != number:
        raise InputError(
            f"{blanks.n_parts} {what}, but the outputs have {number}; expected the same text", name
        )


def _same_ids(ids: RowIds, other: RowIds, name: str) -> None:
    mine, theirs = ([own.names[code] for code in own.codes] for own in (ids, other))
    row = next((i for i, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a != b), None)
    if row is not None:
        raise InputError(
            f"row {row + 1} has {ids.column} {mine[row][:40]!r}, but {theirs[row][:40]!r} in the "
            f"outputs; expected the same rows in the same order",
            name,
        )


def encoded(blanks: Blanks, pool: Pool, units: Any) -> bytes:
    """The file of some units, in the encoding of the outputs."""
    return blanks.write(pool.parts_of(units)).encode(pool.reading.encoding or "utf-8")


def unanswered(path: Path | str, written: Mapping[str, Any]) -> int:
    """How many tokens, rows or texts of an annotated file are still blank.

    Parameters
    ----------
    path
        The annotated file.
    written
        How the sample was written, as its design tells it.
    """
    source = load(path)
    if written.get("format") == "columns":
        shape = layout(source)
        codes, values = column_of(shape, -1)
        blank = [code for code, value in enumerate(values) if value == BLANK.encode()]
        return int(np.isin(codes, blank).sum())
    _, _, names, rows = rows_of_table(source)
    column = written.get("column")
    if column not in names:
        return len(rows)
    place = names.index(str(column))
    return sum(row[place] is None or row[place] == "" for row in rows)
