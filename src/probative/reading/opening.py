"""What a file is: it is opened and read once, and recognised from its content."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from probative._validation import one_of
from probative.errors import InputError
from probative.reading.columns import TAG, column_of, layout, share_of_tags
from probative.reading.fields import split
from probative.reading.jsonlines import SPAN_KEYS
from probative.reading.source import Source, load

if TYPE_CHECKING:
    from probative.reading.columns import Layout

__all__ = ["FORMATS", "TASKS", "Input", "Options", "format_of", "open_input"]

TASKS = ("entities", "segmentation", "labels")
FORMATS = ("columns", "conllu", "segmented", "labels", "jsonl", "table")
_TASK_OF = {
    "columns": "entities",
    "conllu": "segmentation",
    "segmented": "segmentation",
    "labels": "labels",
    "jsonl": "entities",
    "table": "labels",
}
_HEAD = 1 << 16


@dataclass(frozen=True)
class Options:
    """How to read a file; None means: recognise it.

    Attributes
    ----------
    task, input_format
        One of `TASKS` and of `FORMATS`.
    encoding
        The file's encoding.
    tag_column
        The column of the tags in a column file, from 1 or from -1 backwards.
    comments
        Whether ``#`` starts a comment in a column file that does not number its tokens.
    column, unit
        The column of the labels and that of the units in a table.
    """

    task: str | None = None
    input_format: str | None = None
    encoding: str | None = None
    tag_column: int | None = None
    comments: bool = False
    column: str | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        if self.task is not None:
            one_of("task", self.task, TASKS)
        if self.input_format is not None:
            one_of("input_format", self.input_format, FORMATS)


@dataclass(frozen=True, eq=False)
class Input:
    """A file that has been read, and what it is.

    Attributes
    ----------
    source
        Its content.
    kind, task
        One of `FORMATS`, and of `TASKS`: those that were asked for, or recognised.
    options
        How to read it.
    """

    source: Source
    kind: str
    task: str
    options: Options

    @cached_property
    def layout(self) -> Layout:
        """Lines, columns and sentences of a column file."""
        return layout(self.source, comments=self.options.comments)


def open_input(path: str | Path, options: Options | None = None) -> Input:
    """Read a file, a pipe or standard input (``-``), once, and find out what it is.

    Parameters
    ----------
    path
        The file.
    options
        What is known about it; by default everything is recognised from its content.
    """
    options = options or Options()
    source = load(path, encoding=options.encoding)
    kind = options.input_format or format_of(source, options.task)
    return Input(source, kind, options.task or _TASK_OF[kind], options)


def format_of(source: Source, task: str | None = None) -> str:
    """Recognise the format from the content, and from the name where that is not enough."""
    if source.is_parquet:
        return "table"
    suffix = Path(source.name.removesuffix(".gz")).suffix.lower()
    data = source.data
    if data.lstrip()[:1] == b"{":
        kind = _json_kind(data.lstrip().split(b"\n", 1)[0])
        if kind is not None:
            return kind
    if suffix in (".jsonl", ".json", ".ndjson"):
        return "jsonl"
    if suffix == ".csv":
        return "table"
    kind = _text_kind(Source(source.name, _head(data)), task)
    return "table" if suffix == ".tsv" and kind not in ("columns", "conllu") else kind


def _head(data: bytes) -> bytes:
    """The first lines from which a format is recognised, those without content left out."""
    if len(data) <= _HEAD:
        return data
    blank = len(data) - len(data.lstrip())
    first = data.rfind(b"\n", 0, blank) + 1
    last = data.rfind(b"\n", first, first + _HEAD) + 1
    return data[first : last or first + _HEAD]


def _json_kind(line: bytes) -> str | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    has_text = "text" in record or "tokens" in record or "words" in record
    has_spans = any(isinstance(record.get(key), list) for key in SPAN_KEYS)
    return "jsonl" if has_text and (has_spans or not set(SPAN_KEYS) & set(record)) else "table"


def _text_kind(head: Source, task: str | None) -> str:
    try:
        shape = layout(head)
    except InputError:
        return _kind_of_ragged(head, task)
    if shape.numbered:
        return "conllu" if shape.width == 10 and shape.table.tabs else "columns"
    if task == "segmentation":
        return "columns" if _has_tags(shape) else "segmented"
    if shape.width == 1:
        _, values = column_of(shape, 0)
        names = [value.decode("utf-8", "replace") for value in values]
        tags = all(TAG.fullmatch(name) for name in names) and any("-" in name for name in names)
        return "columns" if tags or task == "entities" else "labels"
    if task == "entities" or _has_tags(shape):
        return "columns"
    return "columns" if task == "labels" else "segmented"


def _has_tags(shape: Layout) -> bool:
    """Whether a column holds tags, by and large: the last one does more often than others."""
    return any(share_of_tags(shape, column) > 0.5 for column in reversed(range(shape.width)))


def _kind_of_ragged(head: Source, task: str | None) -> str:
    """Segmented text, or a column file with a few broken lines."""
    if task == "entities":
        return "columns"
    table = split(head)
    width = table.width[table.width > 0]
    if not len(width):
        return "segmented"
    usual = int(np.bincount(width).argmax())
    rows = np.flatnonzero(table.width == usual).astype(np.int32)
    if usual < 2 or len(rows) < 0.5 * len(width):
        return "labels" if task == "labels" else "segmented"
    start, end = table.column(-1, rows)
    tags = [
        TAG.fullmatch(head.data[i:j].decode("utf-8", "replace")) is not None
        for i, j in zip(start[:2000].tolist(), end[:2000].tolist(), strict=True)
    ]
    return "columns" if np.mean(tags) > 0.5 else "labels" if task == "labels" else "segmented"
