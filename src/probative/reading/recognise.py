"""Read a file of any known format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from probative.reading.annotations import (
    Labels,
    LabelSets,
    Origin,
    Records,
    Segmented,
    Spans,
    Tagged,
)
from probative.reading.columns import TAG, read_tags
from probative.reading.formats import FORMATS, TASKS, Glance, Input, Options, format_of, open_input
from probative.reading.logs import Samples
from probative.reading.table_sides import read_table
from probative.reading.tables import is_number
from probative.reading.tool_sides import PAIRS

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

Annotations = Tagged | Spans | Segmented | Labels | LabelSets | Samples | Records


def read(path: str | Path | Input, options: Options | None = None) -> Annotations:
    """Read a file of any known format; ``-`` is standard input."""
    opened = path if isinstance(path, Input) else open_input(path, options)
    found = FORMATS[opened.kind]
    if opened.task not in found.tasks:
        raise opened.source.error(
            f"read as {opened.kind}, it has nothing for the task {opened.task!r}"
        )
    return replace(found.read(opened), origin=Origin(opened.kind, opened.reason))


def read_pair(
    path: str | Path,
    options: Options | None = None,
    *,
    gold: int | str | None = None,
    columns: Sequence[int | str] = (),
) -> tuple[Annotations, list[Annotations], list[str]]:
    """Read gold and systems from the columns of one file; return them and the systems' names."""
    options = options or Options()
    opened = _opened_pair(path, options, [gold, *columns])
    source = opened.source
    if opened.kind in PAIRS:
        return PAIRS[opened.kind](opened, gold, columns)
    if opened.kind == "table":
        return _table_pair(opened, gold, columns)
    if opened.kind not in ("columns", "conllu"):
        raise source.error(
            f"is {FORMATS[opened.kind].title}, which holds one side; expected a second file, or "
            f"one file with a gold and a predicted column"
        )
    shape = opened.layout
    if shape.width < 2:
        raise source.error("has one column; expected a gold and a predicted one")
    task = options.task or "entities"
    wanted = [int(c) for c in columns] or [-1]
    answer, *systems = (
        replace(
            read_tags(shape, column, any_values=True),
            column=column if column > 0 else shape.width + column + 1,
        )
        for column in (int(gold) if gold is not None else -2, *wanted)
    )
    names = [Path(source.name).name] if len(wanted) == 1 else [f"column {c}" for c in wanted]
    if task == "labels":
        return answer.as_labels(), [system.as_labels() for system in systems], names
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


def _opened_pair(path: str | Path, options: Options, columns: Sequence[int | str | None]) -> Input:
    """Open a file; named columns mean a table, unless another tool wrote the file."""
    if all(c is None or isinstance(c, int) or is_number(c) for c in columns):
        return open_input(path, options)
    if "records" in (options.task, options.input_format):
        return open_input(path, options)
    if any("*" in str(column) for column in columns) and options.task is None:
        return open_input(path, replace(options, task="records"))
    opened = open_input(path, replace(options, input_format="table"))
    named = next((str(c) for c in columns if isinstance(c, str) and not is_number(c)), None)
    reason = Glance(opened.source, replace(options, column=named)).records
    if reason is not None and options.input_format is None and options.task is None:
        return replace(opened, kind="records", task="records", reason=reason, options=options)
    tool = Glance(opened.source, options).tool
    if tool is None or tool[0] not in PAIRS or options.input_format is not None:
        return opened
    kind, reason = tool
    task = options.task or FORMATS[kind].tasks[0]
    return replace(opened, kind=kind, task=task, reason=reason, options=options)


def _table_pair(
    opened: Input, gold: int | str | None, columns: Sequence[int | str]
) -> tuple[Annotations, list[Annotations], list[str]]:
    wanted: list[str | None] = [None if gold is None else str(gold)]
    wanted += [str(column) for column in columns] or [None]
    answer, *systems = read_table(opened.source, wanted, opened.options)
    if isinstance(answer, Tagged):
        names = [str(system.column) for system in systems if isinstance(system, Tagged)]
        return answer, list(systems), names
    return answer, list(systems), [system.name for system in systems]
