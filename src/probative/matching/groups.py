"""The groups of what was matched: languages, domains, days, as a column of the table tells them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.matching.choices import groups_of
from probative.matching.labels import UNION, averaged_labels, match_labels
from probative.reading.annotations import Labels, LabelSets, Repeats
from probative.reading.runs import natural_order
from probative.reading.table_sides import MISSING_GROUP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from probative.matching.items import Items
    from probative.matching.matched import Matched
    from probative.options import ReadingOptions

    Codes = NDArray[np.int32]

__all__ = ["MatchedGroup", "crossing_units", "groups_in_order", "part_by_group"]


@dataclass(frozen=True, eq=False)
class MatchedGroup:
    """The part of what was matched that belongs to one group.

    Attributes
    ----------
    name
        The group.
    matched
        The same systems, on the items of the group alone.
    rows
        How many rows (sentences, of tags) of the table belong to it.
    """

    name: str
    matched: Matched
    rows: int

    def units(self, unit: str) -> int:
        """How many units of this kind it has."""
        items = self.matched.items
        if unit == "document" and items.document is not None:
            return int(items.document.max(initial=-1)) + 1
        return items.units_in_all


def part_by_group(matched: Matched, reading: ReadingOptions) -> Iterator[MatchedGroup]:
    """Every group by itself, in the natural order of their names; what is missing comes last.

    Parameters
    ----------
    matched
        Labels of rows, or tags of sentences, of a table whose groups were read.
    reading
        The choices: which labels a macro average is taken over, it tells for every group alike.
    """
    groups = groups_of(matched.gold)
    if groups is None:
        return
    order = np.argsort(groups.codes, kind="stable")
    ends = np.cumsum(np.bincount(groups.codes, minlength=len(groups.names)))
    rows = dict(zip(groups.names, np.split(order, ends[:-1]), strict=True))
    for name in groups_in_order(rows):
        own = np.sort(rows[name])
        if not len(own):
            continue
        part = _part_of_rows(matched, own)
        part = replace(part, averaged=_averaged(matched, part.items, reading))
        yield MatchedGroup(name, part, _number_of_rows(matched.gold, own))


def _number_of_rows(gold: Any, rows: NDArray[Any]) -> int:
    """How many rows of the table these are, of which equal ones may be kept once."""
    repeats = getattr(gold, "repeats", None)
    return len(rows) if repeats is None else int(repeats.of_rows(gold.units)[rows].sum())


def groups_in_order(names: Any) -> list[str]:
    """The names of groups in natural order, that of what is missing last."""
    return sorted(names, key=lambda name: (name == MISSING_GROUP, natural_order(name), name))


def crossing_units(matched: Matched) -> int:
    """How many units have rows in several groups."""
    groups, units = groups_of(matched.gold), getattr(matched.gold, "units", None)
    if groups is None or units is None:
        return 0
    pairs = np.unique(np.stack([units, groups.codes]), axis=1)
    crossing = np.bincount(pairs[0]) > 1
    repeats = getattr(matched.gold, "repeats", None)
    number = np.ones(len(crossing)) if repeats is None else repeats.number[: len(crossing)]
    return int(number[crossing].sum())


def _part_of_rows(matched: Matched, rows: NDArray[Any]) -> Matched:
    """What was matched of these rows (sentences) alone."""
    if not isinstance(matched.gold, (Labels, LabelSets)):
        return replace(matched, items=matched.items.of_units(rows))
    gold, *systems = (_rows_of(side, rows) for side in (matched.gold, *matched.systems))
    items = match_labels(gold, *systems, positive=matched.positive)
    # labels that were not asked for were left out of the whole
    kept = matched.items.labels
    items = items if items.labels == kept else items.only(kept)
    # a table of all classes is made from the labels themselves
    return replace(matched, items=items, gold=gold, systems=tuple(systems))


def _rows_of(side: Labels | LabelSets, rows: NDArray[Any]) -> Labels | LabelSets:
    units: Codes | None = None
    kept = rows
    if side.units is not None:
        kept, number = np.unique(side.units[rows], return_inverse=True)
        units = number.reshape(-1).astype(np.int32)
    if isinstance(side, Labels):
        repeats = side.repeats
        if repeats is not None:
            times = None if repeats.times is None else repeats.times[rows]
            repeats = Repeats(times, repeats.number[kept])
        return replace(side, codes=side.codes[rows], units=units, groups=None, repeats=repeats)
    place = np.full(side.n_items, -1, dtype=np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    item = place[side.item]
    here = item >= 0
    return replace(
        side,
        item=item[here],
        codes=side.codes[here],
        n_items=len(rows),
        units=units,
        groups=None,
    )


def _averaged(matched: Matched, items: Items, reading: ReadingOptions) -> Any:
    """The labels of macro averages in a group, chosen as they are for the whole."""
    if matched.own_labels:
        return averaged_labels(items, UNION)
    return averaged_labels(items, None) if reading.labels is None else matched.averaged
