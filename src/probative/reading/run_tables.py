"""Tables whose rows belong to different runs, as a column of theirs says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.reading.annotations import Labels, RowIds
from probative.reading.inputs import is_frame, is_path
from probative.reading.opening import open_input
from probative.reading.runs import natural_order
from probative.reading.sequences import sides_from_frame
from probative.reading.table_sides import read_table, tags_reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.reading.annotations import LabelSets, Tagged
    from probative.reading.opening import Options

__all__ = ["RunTable", "read_run_table"]


@dataclass(frozen=True, eq=False)
class RunTable:
    """The columns of a table, parted by the run to which every row belongs.

    Attributes
    ----------
    name
        What messages call the table.
    runs
        What the runs are called, in natural order.
    sides
        The labels of every column that was asked for, one `Labels` per run.
    """

    name: str
    runs: tuple[str, ...]
    sides: tuple[tuple[Labels, ...], ...]

    def check_answers(self) -> None:
        """Refuse runs whose rows are not on the same items: the first column is the answer."""
        first, *others = self.sides[0]
        for run, own in zip(self.runs[1:], others, strict=True):
            self._check_order(first, run, own)
            here = f"run {run!r}"
            if len(own) != len(first):
                raise InputError(
                    f"{self.name}: {here} has {len(own)} rows, but run {self.runs[0]!r} has "
                    f"{len(first)}; expected the same items in every run"
                )
            wrong = np.flatnonzero(first.codes != own.codes)
            if first.units is not None and own.units is not None:
                wrong = np.union1d(wrong, np.flatnonzero(first.units != own.units))
            if len(wrong):
                row = int(wrong[0])
                raise InputError(
                    f"{self.name}: row {row + 1} of {here} has the answer "
                    f"{own.names[own.codes[row]]!r}, that of run {self.runs[0]!r} "
                    f"{first.names[first.codes[row]]!r}; expected the same items in every run, in "
                    f"the same order or with unit_column= to find them by"
                )

    def _check_order(self, first: Labels, run: str, own: Labels) -> None:
        """Refuse rows that are called as those of the first run are, but in another order."""
        mine, theirs = first.aligned, own.aligned
        if not isinstance(mine, RowIds) or not isinstance(theirs, RowIds):
            return
        if not np.array_equal(np.sort(mine.codes), np.sort(theirs.codes)):
            return  # every row of the table has a name of its own
        wrong = np.flatnonzero(mine.codes != theirs.codes)
        if len(wrong):
            row = int(wrong[0])
            raise InputError(
                f"{self.name}: row {row + 1} of run {run!r} is {theirs.names[theirs.codes[row]]!r} "
                f"by column {mine.column!r}, that of run {self.runs[0]!r} "
                f"{mine.names[mine.codes[row]]!r}; expected the same order in every run, or "
                f"unit_column={mine.column!r} to find them by"
            )


def read_run_table(
    data: Any,
    columns: Sequence[str | None],
    run_column: str,
    options: Options,
    *,
    sort: bool = True,
) -> RunTable:
    """Read columns of a table and part their rows by run.

    Parameters
    ----------
    data
        The path of a table, or a data frame.
    columns
        The columns of labels. Of a file, None stands for the one that its name tells.
    run_column
        The column of the runs.
    options
        How to read it.
    sort
        Whether to put the rows of every run in the order of their units, if there are any: not
        where the answer stands elsewhere, in an order of its own.
    """
    how = replace(options, input_format="table", task="labels")
    # names of runs are no predictions: numbers among them are no probabilities
    plainly = replace(how, predicted=False, probability_columns=(), multilabel=None)
    if is_path(data):
        source = open_input(data, how).source
        name = source.name
        # apart: which column holds labels depends on how many are asked for
        read = read_table(source, columns, how, ids=True, run_column=run_column)
        sides = [_single(name, side) for side in read]
        (run,) = (_single(name, side) for side in read_table(source, [run_column], plainly))
    elif is_frame(data):
        name = "gold" if options.column is None else options.column
        named = [c for c in columns if c is not None]
        if len(named) < len(columns):
            raise InputError(f"{name}: is a data frame; expected its columns to be named")
        sides = [_single(name, side) for side in sides_from_frame("columns", data, named, how)]
        (of_run,) = sides_from_frame("run_column", data, [run_column], plainly)
        run = _single(name, of_run)
    else:
        raise InputError("run_column: there is no table to look it up in; expected a table")
    _refuse_tags(name, sides[0], options.task)
    order = sorted(range(len(run.names)), key=lambda code: natural_order(run.names[code]))
    rows = [_rows(run, code, sort=sort) for code in order]
    return RunTable(
        name,
        tuple(run.names[code] for code in order),
        tuple(tuple(_part(side, own) for own in rows) for side in sides),
    )


def _single(name: str, side: Labels | LabelSets | Tagged) -> Labels:
    """The same side, if its rows have one label each."""
    if not isinstance(side, Labels):
        raise InputError(
            f"{name}: run_column= parts rows of one label each; expected such a table, or a file "
            f"for each run"
        )
    return side


def _refuse_tags(name: str, answer: Labels, task: str | None) -> None:
    """Refuse tags of tokens unless they were said to be labels: no run would be parted rightly."""
    reason = tags_reason(answer.names)
    if task not in (None, "labels") or (task is None and reason is not None):
        what = "" if reason is None else f" and these are tags ({reason}),"
        raise InputError(
            f"{name}: run_column= parts rows of labels,{what} not of entities; expected a file for "
            f"each run, or task='labels'"
        )


def _rows(run: Labels, code: int, *, sort: bool) -> NDArray[np.intp]:
    """The rows of a run, by their units where there are any."""
    own = np.flatnonzero(run.codes == code)
    return own if run.units is None or not sort else own[np.argsort(run.units[own], kind="stable")]


def _part(side: Labels, rows: NDArray[np.intp]) -> Labels:
    units = None if side.units is None else side.units[rows]
    said = side.texts

    def texts() -> Sequence[str]:
        everything = said() if said is not None else ()
        return [everything[row] for row in rows.tolist()] if len(everything) else ()

    return replace(
        side,
        codes=side.codes[rows],
        units=units,
        texts=None if said is None else texts,
        aligned=_part_ids(side.aligned, rows),
    )


def _part_ids(ids: object, rows: NDArray[np.intp]) -> RowIds | None:
    if not isinstance(ids, RowIds) or len(set(ids.codes[rows].tolist())) == 1 < len(rows):
        return None  # the run has a name there, not its rows
    return replace(ids, codes=ids.codes[rows])
