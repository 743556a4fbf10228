"""The cases of two systems among what was matched, by what is exchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative.counts import PairedCounts

if TYPE_CHECKING:
    from probative.matching.items import Items
    from probative.matching.matched import Matched

__all__ = ["cases_by", "cases_of_pair"]


def cases_of_pair(matched: Matched, i: int, j: int, unit: str) -> PairedCounts:
    """The cases of a pair, one row per unit, or one table where single items are exchanged."""
    several = len(matched.items.labels) > 1 and not matched.all_classes
    if unit == matched.unit == "item" and several:
        unit = "datum"  # the label that it missed and the one that it gave instead belong together
    paired = cases_by(matched.items, i, j, unit)
    if not matched.all_classes:
        return paired
    # what was given instead of the right label is no item of its own
    wrong = [1, 3, 5]
    cases = paired.cases[..., :7].copy()
    cases[..., wrong] = 0
    return PairedCounts(cases, paired.multiplicity)


def cases_by(items: Items, i: int, j: int, unit: str) -> PairedCounts:
    """The cases of a pair, one row per unit; one table for items."""
    by = {"item": None, "document": "document"}.get(unit, "sentence")
    return items.paired(i, j, by=by)
