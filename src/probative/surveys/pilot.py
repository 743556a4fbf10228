"""Annotated units of a pool, and what they tell about those that are not annotated yet."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.matching.choices import how_to_read
from probative.matching.matched import match_inputs
from probative.reading.annotations import RowIds, Spans, Tagged, Text
from probative.reading.inputs import annotations_of, is_path, task_of
from probative.reading.parts import part_of
from probative.surveys.expectations import Evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative._types import Ints
    from probative.matching.matched import Matched
    from probative.surveys.pool import Pool

__all__ = ["evidence_of_judge", "evidence_of_pilot"]


def evidence_of_pilot(
    pool: Pool, pilot: Any, drawn: Ints | None = None
) -> tuple[Evidence, list[str]]:
    """Read annotated units, find them in the pool, and count what is right in them.

    Parameters
    ----------
    pool
        Who returns what.
    pilot
        A file of annotated units, which are found by their text or ids; or, from Python, their
        numbers and their annotations as a pair.
    drawn
        The units of a sample, where the pilot is that sample: of equal texts, these are meant.

    Returns
    -------
    The evidence, and what is to be said about it.
    """
    numbers = None
    if isinstance(pilot, tuple) and len(pilot) == 2 and not is_path(pilot[0]):
        numbers, pilot = _numbers(pilot[0], pool), pilot[1]
    options = replace(how_to_read(pool.reading), tag_column=None, predicted=False)
    side: Any = annotations_of(pilot, "pilot", options)
    if task_of(side) != pool.task:
        raise InputError(f"pilot: is {task_of(side)}, but the outputs are {pool.task}")
    notes: list[str] = []
    if numbers is None:
        found, places = _whole_units(pool, *_look_up(pool, side, drawn))
        total = _n_parts(side)
        if not len(found):
            raise InputError(
                f"pilot: none of its {total} units is in the pool as a whole; expected some"
            )
        if len(found) < total:
            notes.append(
                f"pilot: {total - len(found)} of its {total} units are not in the pool as a whole "
                f"and are left out"
            )
        side = part_of(side, places)
        parts = found
    else:
        parts = pool.parts_of(numbers)
    outputs = [part_of(own, parts) for own in _any(pool.sides)]
    reading = replace(pool.reading, tag_column=None, columns=(), align_by="tokens")
    matched = match_inputs(
        side, outputs, names=pool.names, find_positive=False, all_there=False, reading=reading
    )
    units = pool.unit_of_part[parts]
    return _evidence(matched, units, "pilot"), notes


def evidence_of_judge(pool: Pool) -> Evidence | None:
    """What a judge says of all units; None without one."""
    return None if pool.judged is None else _evidence(pool.judged, pool.unit_of_part, "judge")


def _any(sides: Any) -> Sequence[Any]:
    return tuple(sides)


def _numbers(given: Any, pool: Pool) -> Ints:
    numbers = np.asarray(given)
    wrong = numbers.ndim != 1 or numbers.dtype.kind not in "iu"
    if wrong or len(np.unique(numbers)) < len(numbers) or not len(numbers):
        raise InputError("pilot: expected the numbers of different units, and their annotations")
    if numbers.min() < 0 or numbers.max() >= pool.n_units:
        raise InputError(f"pilot: a unit is not in the pool; expected 0 to {pool.n_units - 1}")
    return numbers.astype(np.int64)


def _n_parts(side: Any) -> int:
    if isinstance(side, (Tagged, Spans)):
        return side.text.n_sentences
    return len(side) if side.units is None else int(side.units.max(initial=-1)) + 1


def _look_up(pool: Pool, side: Any, drawn: Ints | None) -> tuple[Ints, Ints]:
    """The sentences of the pool that annotated ones are, and the places of these in their file."""
    mine, theirs = _names_of_parts(side, pool.sides[0])
    order = np.arange(len(mine))
    if drawn is not None:  # of equal texts those that were drawn come first
        first = pool.parts_of(drawn)
        order = np.concatenate([first, np.setdiff1d(order, first)])
    places: dict[Any, list[int]] = defaultdict(list)
    for place in order[::-1].tolist():
        places[mine[place]].append(place)
    found = [(places[name].pop(), at) for at, name in enumerate(theirs) if places.get(name)]
    pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _whole_units(pool: Pool, found: Ints, places: Ints) -> tuple[Ints, Ints]:
    """Those of documents that are annotated from the first sentence to the last."""
    unit = pool.unit_of_part
    there = np.bincount(unit[found], minlength=pool.n_units)
    whole = (there == np.bincount(unit, minlength=pool.n_units))[unit[found]]
    return found[whole], places[whole]


def _names_of_parts(side: Any, own: Any) -> tuple[list[Any], list[Any]]:
    """What tells the sentences of the pool from others, and the same of annotated ones."""
    texts = [_text_of(s) for s in (own, side)]
    if all(text is not None for text in texts):
        mine, theirs = ([tuple(t.words(i)) for i in range(t.n_sentences)] for t in _any(texts))
        if any(mine) and any(theirs):
            return mine, theirs
    elif own.units is None and side.units is None:
        rows = [own.aligned, side.aligned]
        if all(isinstance(row, RowIds) for row in rows) and rows[0].column == rows[1].column:
            mine, theirs = ([row.names[code] for code in row.codes] for row in rows)
            return mine, theirs
        both = [s.texts() if s.texts is not None else () for s in (own, side)]
        if all(len(texts_) for texts_ in both):
            return list(both[0]), list(both[1])
    raise InputError(
        "pilot: nothing tells which units of the pool these are; expected tokens, texts or ids in "
        "both, or (from Python) the numbers of the units beside their annotations"
    )


def _text_of(side: Any) -> Text | None:
    if isinstance(side, (Tagged, Spans)):
        return side.text
    return side.aligned if isinstance(side.aligned, Text) else None


def _evidence(matched: Matched, unit_of_part: Any, source: str) -> Evidence:
    """What is right among what systems return, unit by unit."""
    items = matched.items
    units, unit = np.unique(unit_of_part, return_inverse=True)
    of_item = unit.reshape(-1)[items.unit]

    def number(which: Any) -> Any:
        counted = np.bincount(of_item[which], minlength=len(units))
        return np.asarray(items.weight * counted, dtype=np.float64)

    everyone, anyone = items.says.all(axis=0), items.says.any(axis=0)
    right = items.answer
    return Evidence(
        units.astype(np.int64),
        number(right & everyone),
        number(right & anyone & ~everyone),
        number(right & ~anyone),
        np.stack([number(right & says) for says in items.says]),
        number(right),
        source,
    )
