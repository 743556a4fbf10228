"""Labels against labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from probative._validation import one_of
from probative.errors import InputError
from probative.matching.items import Items, collect, union
from probative.positive import positive_label

if TYPE_CHECKING:
    from probative.reading.annotations import Labels

__all__ = ["match_labels", "positive_class"]


def positive_class(gold: Labels, *systems: Labels) -> str | None:
    """The "yes" of a two-class problem whose labels say which it is, else None."""
    return positive_label({name for side in (gold, *systems) for name in side.names})


def match_labels(gold: Labels, *systems: Labels, positive: str | None = None) -> Items:
    """Find the distinct (item, label) pairs of the answer and of the systems.

    Parameters
    ----------
    gold
        The answer.
    systems
        One or more outputs on the same items.
    positive
        The class that counts as "yes"; by default all classes, each against the rest.
    """
    for system in systems:
        if len(system) != len(gold):
            raise InputError(
                f"{system.name}: {len(system)} labels, but {gold.name} has {len(gold)}; expected "
                f"as many"
            )
    everyone = (gold, *systems)
    labels, codes = union([side.names for side in everyone])
    item = np.arange(len(gold), dtype=np.int32)
    sides = [(item, code[side.codes]) for side, code in zip(everyone, codes, strict=True)]
    unit = item if gold.units is None else gold.units
    n_units = int(unit.max(initial=-1)) + 1
    items = collect(sides, labels, len(gold))
    items = Items(
        unit[items.unit],
        items.label,
        labels,
        items.answer,
        items.says,
        n_units,
        universe=np.bincount(unit, minlength=n_units),
    )
    if positive is None:
        return items
    one_of("positive", positive, labels)
    return items.only([positive])
