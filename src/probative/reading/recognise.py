"""The reader for every kind of file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from probative.reading.annotations import Labels, Segmented, Spans, Tagged
from probative.reading.columns import TAG, tagged
from probative.reading.jsonlines import read_spans
from probative.reading.labels import read_labels
from probative.reading.opening import FORMATS, TASKS, Input, Options, format_of, open_input
from probative.reading.segmented import read_forms, read_segmented
from probative.reading.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "FORMATS",
    "TASKS",
    "Annotations",
    "Options",
    "format_of",
    "open_input",
    "read",
    "read_pair",
]

Annotations = Tagged | Spans | Segmented | Labels


def read(path: str | Path | Input, options: Options | None = None) -> Annotations:
    """Read a file of any kind that is known.

    Parameters
    ----------
    path
        The file; ``-`` is standard input. Or what `open_input` made of it.
    options
        What is known about it; by default everything is recognised from its content.
    """
    found = path if isinstance(path, Input) else open_input(path, options)
    source, kind, task = found.source, found.kind, found.task
    if kind == "table":
        _check_table(found)
        (labels,) = read_table(source, [found.options.column], unit=found.options.unit)
        return labels
    if kind in ("columns", "conllu"):
        if task == "segmentation":
            return read_forms(found.layout)
        tags = tagged(found.layout, found.options.tag_column, any_values=task == "labels")
        return tags if task == "entities" else token_labels(tags)
    if kind == "jsonl" and task == "entities":
        return read_spans(source)
    if kind == "segmented" and task == "segmentation":
        return read_segmented(source)
    if kind == "labels" and task == "labels":
        return read_labels(source)
    raise source.error(f"read as {kind}, it has nothing for the task {task!r}")


def _check_table(found: Input) -> None:
    if found.task != "labels":
        raise found.source.error(f"is a table of labels; expected a file for {found.task}")


def token_labels(tags: Tagged) -> Labels:
    """The tags of tokens as labels of items, one unit per sentence."""
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
    if any(isinstance(c, str) and not _is_number(c) for c in (gold, *columns)):
        options = replace(options, input_format="table")  # names of columns, not numbers
    found = open_input(path, options)
    source = found.source
    if found.kind == "table":
        return _table_pair(found, gold, columns)
    if found.kind not in ("columns", "conllu"):
        raise source.error(
            f"is {_described(found.kind)}, which holds one side; expected a second file, or one "
            f"file with a gold and a predicted column"
        )
    shape = found.layout
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
        if all(known):
            continue
        share = float(np.array(known)[side.tags].mean())
        if share <= 0.5:
            raise source.error(
                f"{side.notes[0].rsplit(': ', 1)[1]} of which most are none, such as "
                f"{side.names[int(side.tags[0])][:60]!r}; expected a gold and a predicted column",
                int(shape.rows[0]) + 1,
            )
    return answer, list(systems), names


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]{1,9}", text) is not None


def _table_pair(
    found: Input, gold: int | str | None, columns: Sequence[int | str]
) -> tuple[Annotations, list[Annotations], list[str]]:
    _check_table(found)
    wanted: list[str | None] = [None if gold is None else str(gold)]
    wanted += [str(column) for column in columns] or [None]
    answer, *systems = read_table(found.source, wanted, unit=found.options.unit)
    return answer, list(systems), [system.name for system in systems]


def _described(kind: str) -> str:
    return {
        "segmented": "segmented text",
        "labels": "a list of labels",
        "jsonl": "JSON lines with spans",
    }.get(kind, kind)
