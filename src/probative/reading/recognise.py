"""What a file is, and the reader for it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from probative._validation import one_of
from probative.errors import InputError
from probative.reading.annotations import Labels, Segmented, Spans, Tagged
from probative.reading.columns import TAG, column_of, layout, share_of_tags, tagged
from probative.reading.fields import split
from probative.reading.jsonlines import SPAN_KEYS, read_spans
from probative.reading.labels import read_labels
from probative.reading.segmented import read_forms, read_segmented
from probative.reading.source import Source, load
from probative.reading.tables import is_parquet, read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.reading.columns import Layout

__all__ = ["FORMATS", "TASKS", "Options", "format_of", "read", "read_pair"]

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

Annotations = Tagged | Spans | Segmented | Labels


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


def read(path: str | Path, options: Options | None = None) -> Annotations:
    """Read a file of any kind that is known.

    Parameters
    ----------
    path
        The file; ``-`` is standard input.
    options
        What is known about it; by default everything is recognised from its content.
    """
    options = options or Options()
    if options.input_format == "table" or is_parquet(path):
        return _table(path, options)
    source = load(path, encoding=options.encoding)
    kind = options.input_format or format_of(source, options.task)
    if kind == "table":
        return _table(path, options, source)
    task = options.task or _TASK_OF[kind]
    return _read(source, kind, task, options)


def _table(path: str | Path, options: Options, source: Source | None = None) -> Labels:
    if options.task not in (None, "labels"):
        raise InputError(f"is a table of labels; expected a file for {options.task}", path)
    (labels,) = read_table(
        path, [options.column], unit=options.unit, encoding=options.encoding, source=source
    )
    return labels


def _read(source: Source, kind: str, task: str, options: Options) -> Annotations:
    if kind in ("columns", "conllu"):
        shape = layout(source, comments=options.comments)
        if task == "segmentation":
            return read_forms(shape)
        tags = tagged(shape, options.tag_column, any_values=task == "labels")
        return tags if task == "entities" else token_labels(tags)
    if kind == "jsonl" and task == "entities":
        return read_spans(source)
    if kind == "segmented" and task == "segmentation":
        return read_segmented(source)
    if kind == "labels" and task == "labels":
        return read_labels(source)
    raise source.error(f"read as {kind}, it has nothing for the task {task!r}")


def token_labels(tags: Tagged) -> Labels:
    """The tags of tokens as labels of items, a unit a sentence."""
    names = tuple(sorted(set(tags.names)))
    code = {name: i for i, name in enumerate(names)}
    codes = np.array([code[name] for name in tags.names], dtype=np.int32)[tags.tags]
    return Labels(tags.text.name, codes, names, tags.text.sentence, tags.notes)


def read_pair(
    path: str | Path,
    options: Options | None = None,
    *,
    gold: int | str | None = None,
    columns: Sequence[int | str] = (),
) -> tuple[Annotations, list[Annotations], list[str]]:
    """Read an answer and one or more systems from the columns of one file.

    Parameters
    ----------
    path
        A column file, or a table of labels.
    options
        As for `read`.
    gold, columns
        The columns of the answer and of the systems: numbers from 1 (from -1 backwards) in a
        column file, names in a table. By default the last but one and the last column, or the
        columns whose names say what they are.

    Returns
    -------
    The answer, the systems and their names.
    """
    options = options or Options()
    named = [c for c in (gold, *columns) if isinstance(c, str) and not _is_number(c)]
    if options.input_format == "table" or is_parquet(path) or named:
        return _table_pair(path, options, gold, columns)
    source = load(path, encoding=options.encoding)
    kind = options.input_format or format_of(source, options.task)
    if kind == "table":
        return _table_pair(path, options, gold, columns, source)
    if kind not in ("columns", "conllu"):
        raise source.error(
            f"is {_described(kind)}, which holds one side; expected a second file, or one file "
            f"with a gold and a predicted column"
        )
    shape = layout(source, comments=options.comments)
    if shape.width < 2:
        raise source.error("has one column; expected a gold and a predicted one")
    task = options.task or "entities"
    wanted = [int(c) for c in columns] or [-1]
    answer, *systems = (
        replace(
            tagged(shape, column, any_values=True),
            column=column if column > 0 else shape.width + column + 1,
        )
        for column in (int(gold) if gold is not None else -2, *wanted)
    )
    names = [Path(source.name).name] if len(wanted) == 1 else [f"column {c}" for c in wanted]
    if task == "labels":
        return token_labels(answer), [token_labels(system) for system in systems], names
    if task == "segmentation":
        raise source.error("holds one segmentation; expected a second file")
    for side in (answer, *systems):
        known = [TAG.fullmatch(name) is not None for name in side.names]
        share = float(np.array(known)[side.tags].mean())
        if share <= 0.5:
            raise source.error(
                f"{side.notes[0].rsplit(': ', 1)[1]} of which most are none, such as "
                f"{side.names[int(side.tags[0])][:60]!r}; expected a gold and a predicted column",
                int(shape.rows[0]) + 1,
            )
    return answer, list(systems), names


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdecimal()


def _table_pair(
    path: str | Path,
    options: Options,
    gold: int | str | None,
    columns: Sequence[int | str],
    source: Source | None = None,
) -> tuple[Annotations, list[Annotations], list[str]]:
    if options.task not in (None, "labels"):
        raise InputError(f"is a table of labels; expected a file for {options.task}", path)
    wanted: list[str | None] = [None if gold is None else str(gold)]
    wanted += [str(column) for column in columns] or [None]
    answer, *systems = read_table(
        path, wanted, unit=options.unit, encoding=options.encoding, source=source
    )
    return answer, list(systems), [system.name for system in systems]


def _described(kind: str) -> str:
    return {
        "segmented": "segmented text",
        "labels": "a list of labels",
        "jsonl": "JSON lines with spans",
    }.get(kind, kind)


def format_of(source: Source, task: str | None = None) -> str:
    """Recognise the format from the content, and from the name where that is not enough."""
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
    if len(data) > _HEAD:
        data = data[: data.rfind(b"\n", 0, _HEAD) + 1] or data[:_HEAD]
    kind = _text_kind(Source(source.name, data), task)
    return "table" if suffix == ".tsv" and kind not in ("columns", "conllu") else kind


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
        return "segmented" if _best_share(shape) <= 0.5 else "columns"
    if shape.width == 1:
        _, values = column_of(shape, 0)
        names = [value.decode("utf-8", "replace") for value in values]
        tags = all(TAG.fullmatch(name) for name in names) and any("-" in name for name in names)
        return "columns" if tags or task == "entities" else "labels"
    if task == "entities" or _best_share(shape) > 0.5:
        return "columns"
    return "columns" if task == "labels" else "segmented"


def _best_share(shape: Layout) -> float:
    return max(share_of_tags(shape, column) for column in range(shape.width))


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
