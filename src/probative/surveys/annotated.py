"""Read the annotated units of a sample, find them in its design, and compute their counts.

An annotated file holds the units of the sample as they were written, or in another order if tokens,
texts or ids identify them. Several files hold the draws of a design one after the other, or any
parts of it. Missing, duplicate and unknown units are errors: a selection from the sample is no
longer a random sample.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.counts import Counts
from probative.errors import InputError
from probative.matching.choices import how_to_read
from probative.reading.inputs import annotations_of, is_path
from probative.surveys.blanks import unanswered
from probative.surveys.pool import n_parts, names_of_parts
from probative.wording.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.matching.matched import Matched
    from probative.surveys.design import Design
    from probative.surveys.pool import Pool

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

__all__ = ["Annotated", "read_annotated", "read_draws", "say_what_is_out"]


@dataclass(frozen=True, eq=False)
class Annotated:
    """The counts of the annotated units of a sample."""

    counts: tuple[Counts, ...]  # of each system, one row per drawn unit, as in the design
    matched: Matched  # the outputs, to the annotations of the first file
    positives: float  # items in the annotations
    notes: tuple[str, ...]


def read_annotated(
    design: Design, pool: Pool, annotated: Sequence[Any], *, batches: int | None = None
) -> Annotated:
    """Read the annotations of a sample, find each unit in the design, and compute its counts.

    `annotated` holds files, lists of files, or any gold that `score` takes; together they hold each
    drawn unit once. With `batches`, only the first draws of the design are expected.
    """
    units = design.units
    meant = units.number if batches is None else units.number[units.batch < batches]
    parts = pool.parts_of(meant)
    files = [file for given in annotated for file in _one_by_one(given, design)]
    sides = [_read(given, number, pool, design) for number, given in enumerate(files)]
    if not sides:
        raise InputError("annotated: missing; expected the annotated sample")
    places, notes = _find(sides, pool, parts, design)
    row_of_unit = np.full(pool.n_units, -1, dtype=np.intp)
    row_of_unit[meant] = np.arange(len(meant))
    tables = [np.zeros((len(meant), 4)) for _ in pool.names]
    matches: list[Matched] = []
    with_tn = True
    for side, side_places in zip(sides, places, strict=True):
        matched = _match(side, pool, parts[side_places])
        rows = row_of_unit[pool.unit_of_part[parts[side_places]]]
        for number, table in enumerate(tables):
            counts = matched.items.counts(number, by="sentence")
            tn = 0 * counts.tp if counts.tn is None else counts.tn
            np.add.at(table, rows, np.stack([counts.tp, counts.fp, counts.fn, tn], axis=1))
            with_tn = with_tn and counts.tn is not None
        known = {note for output in matched.systems for note in output.notes}
        notes += [note for note in matched.notes if note not in known]  # the pool has shown these
        matches.append(matched)
    counts_of_all = tuple(
        Counts(tp, fp, fn, tn if with_tn else None)
        for tp, fp, fn, tn in (table.T for table in tables)
    )
    positives = sum(float(matched.items.positives) for matched in matches)
    return Annotated(counts_of_all, matches[0], positives, tuple(dict.fromkeys(notes)))


def read_draws(design: Design, pool: Pool, annotated: Sequence[Any]) -> tuple[int, Annotated]:
    """Read the annotations of all complete draws; return how many there are, and their counts."""
    # units of a draw that somebody labelled first need not be a random part of it
    wrong: InputError | None = None
    for done in range(len(design.batches), 0, -1):
        try:
            return done, read_annotated(design, pool, annotated, batches=done)
        except InputError as error:
            wrong = wrong or error  # report the error of reading all draws
    raise wrong if wrong is not None else InputError("design: no draw; expected at least one")


def say_what_is_out(design: Design, done: int) -> list[str]:
    """Note the draws of a design that are not annotated yet."""
    if done == len(design.batches):
        return []
    draws, units = len(design.batches), sum(map(sum, design.batches[done:]))
    to_come = counted(units, design.unit)
    return [f"{done} of {draws} draws are annotated; {to_come} are still to come"]


def _one_by_one(given: Any, design: Design) -> Sequence[Any]:
    """Return the files of a list of paths; anything else as it is.

    A list of texts holds labels if the outputs came from Python, and files if they came from files.
    """
    if not isinstance(given, (list, tuple)) or not given or not all(map(is_path, given)):
        return [given]
    meant = design.task == "entities" or any(isinstance(path, Path) for path in given)
    return given if meant or all(output.path for output in design.outputs) else [given]


def _read(given: Any, number: int, pool: Pool, design: Design) -> Any:
    """Read an annotated file, or an input from Python, as gold."""
    options = replace(how_to_read(pool.reading), tag_column=None, predicted=False)
    try:
        side: Any = annotations_of(given, f"annotated, number {number + 1}", options)
    except InputError:
        _refuse_blanks(given, design)  # blanks may be the reason why it cannot be read
        raise
    if side.origin is not None and side.origin.form == design.written.get("format"):
        _refuse_blanks(given, design)
    if side.task != pool.task:
        raise InputError(
            f"is {side.task}, but the outputs are {pool.task}; expected the annotated sample",
            given if is_path(given) else None,
        )
    return side


def _refuse_blanks(given: Any, design: Design) -> None:
    """Refuse a file of the sample that is not filled in completely."""
    if not is_path(given) or not design.written:
        return
    try:
        blank = unanswered(given, design.written)
    except InputError:  # another kind of file: reading it raises its own error
        return
    if blank:
        what = "token" if design.written.get("format") == "columns" else "row"
        raise InputError(
            f"{counted(blank, what)} without a label; expected a label for each", given
        )


def _match(side: Any, pool: Pool, parts: Ints) -> Matched:
    """Match the outputs on some parts to their annotations; refuse other labels."""
    try:
        return pool.match(side, parts)
    except InputError as error:
        found, expected, _ = str(error).partition("; expected the same labels")
        if not expected:
            raise
        raise InputError(f"{found}; expected annotations with the labels of the outputs") from None


# --- Finding annotated units in the design


def _find(
    sides: Sequence[Any], pool: Pool, parts: Ints, design: Design
) -> tuple[list[Ints], list[str]]:
    """Return the places of annotated sentences among the drawn ones, and notes."""
    named = [names_of_parts(side, pool.sides[0]) for side in sides]
    found = [both for both in named if both is not None]
    if len(found) == len(named) and all(both[1] == found[0][1] for both in found):
        batch = np.zeros(pool.n_units, dtype=np.intp)
        batch[design.units.number] = design.units.batch
        drawn = [found[0][1][place] for place in parts.tolist()]
        names = [own for own, _ in found]
        return _by_name(names, drawn, batch[pool.unit_of_part[parts]], pool)
    sizes = [n_parts(side) for side in sides]
    if sum(sizes) != len(parts):
        draws = f" in {len(design.batches)} draws" if len(design.batches) > 1 else ""
        raise InputError(
            f"annotated: {counted(sum(sizes), _part(pool))} without tokens, texts or ids, but "
            f"{len(parts):,} were drawn{draws}; expected all of them, in the order in "
            f"which they were drawn"
        )
    ends = np.cumsum([0, *sizes])
    every = np.arange(len(parts), dtype=np.intp)
    return [every[low:high] for low, high in pairwise(ends)], []


def _by_name(
    names: Sequence[Any], drawn: Sequence[Any], batch: Ints, pool: Pool
) -> tuple[list[Ints], list[str]]:
    """Find annotated sentences by their names; refuse missing, duplicate and unknown ones."""
    free: dict[Any, deque[int]] = defaultdict(deque)
    for place, name in enumerate(drawn):
        free[name].append(place)
    known = set(drawn)
    places: list[list[int]] = [[] for _ in names]
    twice, strange = 0, []
    for side_names, side_places in zip(names, places, strict=True):
        for name in side_names:
            if free[name]:
                side_places.append(free[name].popleft())
            elif name in known:
                twice += 1
            else:
                strange.append(name)
    missing = [place for unused in free.values() for place in unused]
    if missing or twice or strange:
        raise InputError(_mismatch(missing, twice, strange, batch, pool))
    flat = [place for side_places in places for place in side_places]
    notes = []
    if flat != sorted(flat):
        equal = len(drawn) - len(known)
        notes.append("the annotated units are not in the order in which they were drawn")
        if equal:
            notes.append(
                f"{equal + sum(drawn.count(n) > 1 for n in known)} of them have the text of "
                "another one: these are matched in order"
            )
    return [np.array(side_places, dtype=np.intp) for side_places in places], notes


def _mismatch(
    missing: Sequence[int], twice: int, strange: Sequence[Any], batch: Ints, pool: Pool
) -> str:
    """Describe how the annotated units differ from those drawn, with counts."""
    what = _part(pool)
    parts = []
    if missing:
        late = np.unique(batch[list(missing)])
        where = f" (of draw {', '.join(str(n + 1) for n in late)})" if batch.max() > 0 else ""
        parts.append(f"{len(missing):,} of the {counted(len(batch), what)} are missing{where}")
    if twice:
        parts.append(f"{twice:,} occur more often than drawn")
    if strange:
        shown = " ".join(strange[0]) if isinstance(strange[0], tuple) else str(strange[0])
        parts.append(f"{len(strange):,} not in the design (the first: {shown[:40]!r})")
    return f"annotated: {', '.join(parts)}; expected each drawn {what} once"


def _part(pool: Pool) -> str:
    """Return the word for what an annotated file holds: sentences, even if documents were drawn."""
    is_whole = pool.unit != "document" or pool.task == "records"
    return pool.unit if is_whole else "sentence"
