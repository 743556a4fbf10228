"""Read gold and systems from one file of another tool: columns, predictions, several logs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from probative.errors import InputError
from probative.reading.annotations import Origin
from probative.reading.formats import how_to_read_records
from probative.reading.records import read_columns
from probative.reading.rows import choose_column, read_rows, tagged_rows, without_ignored_tokens
from probative.reading.tools import (
    predictions_of_label_studio,
    read_hipe,
    read_label_studio,
    read_samples,
    side_of_choices,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from probative.reading.formats import Input
    from probative.reading.rows import Rows

    Pair = tuple[Any, list[Any], list[str]]


def _logs(opened: Input, gold: int | str | None, columns: Sequence[int | str]) -> Pair:
    if gold is not None or columns:
        raise InputError("gold_column, columns: a log has no columns; expected them left out")
    return read_samples(opened), [], []


def _rows(opened: Input, gold: int | str | None, columns: Sequence[int | str]) -> Pair:
    rows = read_rows(opened.source, opened.options.label_names)
    return pair_of_rows(rows, gold, columns, opened.task)


def pair_of_rows(
    rows: Rows, gold: int | str | None, columns: Sequence[int | str], task: str | None
) -> Pair:
    """Return the tags of the gold column and of the systems' columns, and their names."""
    there = list(rows.columns)
    answer = choose_column(rows.name, there, None if gold is None else str(gold), predicted=False)
    wanted = [str(column) for column in columns]
    if not wanted:
        left = [column for column in there if column != answer]
        if not left:
            raise InputError(
                f"has tags under {answer!r} only; expected a second file, or a column of "
                f"predictions",
                rows.name,
            )
        wanted = [choose_column(rows.name, there, None, predicted=True, taken=[answer])]
    names = [choose_column(rows.name, there, name, predicted=True) for name in wanted]
    sides = [tagged_rows(rows, name) for name in (answer, *names)]
    # one file has one text, so nothing needs to be aligned
    sides = [replace(side, text=sides[0].text) for side in sides]
    if task == "labels":
        sides = without_ignored_tokens(sides[0], sides[1:])
        return sides[0].as_labels(), [side.as_labels() for side in sides[1:]], names
    return sides[0], sides[1:], names


def _hipe(opened: Input, gold: int | str | None, columns: Sequence[int | str]) -> Pair:
    if gold is None or not columns:
        raise opened.source.error(
            "holds one side; expected a second file, or two columns (gold_column=, columns=)"
        )
    sides = [
        read_hipe(replace(opened, options=replace(opened.options, tag_column=c)))
        for c in (gold, *columns)
    ]
    return sides[0], sides[1:], [str(column) for column in columns]


def _label_studio(opened: Input, gold: int | str | None, columns: Sequence[int | str]) -> Pair:
    if gold is not None or columns:
        raise InputError("gold_column, columns: an export has none; expected them left out")
    source, task = opened.source, opened.options.task
    versions = predictions_of_label_studio(source, task)
    if not versions:
        raise source.error("has no predictions; expected a second file, or tasks with them")
    sides = [
        side_of_choices(source, side, "predictions") if isinstance(side, list) else side
        for side in versions.values()
    ]
    return read_label_studio(opened), sides, list(versions)


def _records(opened: Input, gold: int | str | None, columns: Sequence[int | str]) -> Pair:
    answer, systems = read_columns(
        opened.source,
        how_to_read_records(opened.options),
        gold_column=None if gold is None else str(gold),
        columns=[str(column) for column in columns],
    )
    origin = Origin("records", opened.reason)
    sides = [replace(side, origin=origin) for side in systems]
    return replace(answer, origin=origin), sides, [side.name for side in systems]


PAIRS: dict[str, Callable[[Input, int | str | None, Sequence[int | str]], Pair]] = {
    "log": _logs,
    "rows": _rows,
    "hipe": _hipe,
    "labelstudio": _label_studio,
    "records": _records,
}
