"""Rows of tables in memory that belong together by their ids, whatever their order."""

from __future__ import annotations

from dataclasses import replace
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.reading.annotations import Labels, LabelSets, RowIds
from probative.reading.keys import NOTHING, Mismatch, settle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.options import ReadingOptions

    Side = Labels | LabelSets

__all__ = ["join_by_key"]

_SHOWN = 3


def join_by_key(
    gold: Side, systems: Sequence[Any], options: ReadingOptions
) -> tuple[Side, list[Any], list[str]]:
    """The answer and the systems with the same rows in the same order.

    Parameters
    ----------
    gold, systems
        The sides, with what their rows are called.
    options
        With `key` and `on_missing`.

    Returns
    -------
    The answer, the systems, and notes.
    """
    sides = [gold, *systems]
    codes, n_ids, names = _number_ids(sides)
    held = np.stack([np.bincount(own, minlength=n_ids) for own in codes])
    answer = held[0] > 0
    found = []
    for side, own in zip(sides, held, strict=True):
        missing, extra, doubled = answer & (own == 0), ~answer & (own > 0), own > 1
        found.append(
            Mismatch(
                side.name,
                missing=_examples(missing, names),
                extra=_examples(extra, names),
                doubled=_examples(doubled, names),
            )
        )
    common: NDArray[np.bool_] = np.all(held > 0, axis=0)
    notes = settle(
        found, options.key, options.on_missing, int(answer.sum()), int(np.count_nonzero(common))
    )
    kept = common if options.on_missing == "drop" else answer
    order = codes[0][kept[codes[0]]]  # that of the answer
    joined = []
    for side, own in zip(sides, codes, strict=True):
        place = np.full(n_ids, -1, dtype=np.int64)
        place[own] = np.arange(len(own))
        joined.append(_in_places(side, place[order]))
    return joined[0], joined[1:], notes


def _number_ids(sides: Sequence[Side]) -> tuple[list[NDArray[np.int64]], int, list[str]]:
    """The ids of every side as numbers that mean the same for all."""
    number: dict[str, int] = {}
    codes = []
    for side in sides:
        if not isinstance(side.aligned, RowIds):
            raise InputError(
                f"key: {side.name} is no table; expected tables with these columns", None
            )
        names = side.aligned.names
        own = np.array([number.setdefault(name, len(number)) for name in names], dtype=np.int64)
        codes.append(own[side.aligned.codes])
    return codes, len(number), list(number)


def _examples(which: NDArray[np.bool_], names: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    places = np.flatnonzero(which).tolist()
    first = nsmallest(_SHOWN, (names[i].replace("\x1f", ", ") for i in places))
    return len(places), tuple(first)


def _in_places(side: Side, places: NDArray[np.int64]) -> Side:
    """The rows of these places; -1 stands for a row of no label."""
    lost = places < 0
    texts = side.texts
    common: dict[str, Any] = {
        "units": None if side.units is None else side.units[places],
        "texts": None if texts is None else lambda: _texts_in(texts(), places),
        "aligned": None,
    }
    if side.groups is not None:
        common["groups"] = replace(side.groups, codes=side.groups.codes[places])
    if isinstance(side, Labels):
        codes, names = side.codes[places], side.names
        if lost.any():  # texts in their order: no text stands before the empty one
            codes, names = np.where(lost, 0, codes + 1).astype(np.int32), (NOTHING, *names)
        return replace(side, codes=codes, names=names, **common)
    row = np.full(len(side), -1, dtype=np.int64)
    row[places[~lost]] = np.flatnonzero(~lost)
    new = row[side.item]
    order = np.lexsort((side.codes, new))
    order = order[new[order] >= 0]
    return replace(
        side,
        item=new[order].astype(np.int32),
        codes=side.codes[order],
        n_items=len(places),
        **common,
    )


def _texts_in(texts: Sequence[str], places: NDArray[np.int64]) -> Sequence[str]:
    return [texts[i] for i in places.tolist()] if len(texts) else ()
