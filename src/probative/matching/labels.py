"""Labels against labels, and which labels a mean is taken over."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import numpy as np

from probative._validation import one_of
from probative.errors import InputError
from probative.matching.items import Items, collect, union
from probative.positive import positive_label
from probative.reading.annotations import LabelSets
from probative.reading.keys import NOTHING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.reading.annotations import Labels

    Side = Labels | LabelSets

__all__ = ["UNION", "averaged_labels", "match_labels", "only_in_a_system", "positive_class"]

UNION = "union"
_NAMED = 5  # labels that a note names
_COMPARED = 10_000  # labels that a misspelt one is compared with


def positive_class(*answers: Labels) -> str | None:
    """The "yes" of a two-class problem whose labels say which it is, else None."""
    return positive_label({name for side in answers for name in side.names})


def averaged_labels(items: Items, labels: str | Sequence[str] | None) -> NDArray[np.bool_]:
    """Which labels the mean of each system is taken over: one row per system.

    A row depends on the answer and on the system itself, never on the other systems.

    Parameters
    ----------
    items
        Who proposes what.
    labels
        None for those of the answer; "union" for those of the answer and of the system itself, as
        in scikit-learn; or their names.
    """
    systems = range(len(items.says))
    if labels is None:
        return np.stack([items.uses() for _ in systems])
    if isinstance(labels, str) and labels == UNION:
        return np.stack([items.uses(i) for i in systems])
    wanted = {labels} if isinstance(labels, str) else set(labels)
    for label in sorted(wanted - set(items.labels), key=str):
        # of a hundred thousand labels the likeliest are enough
        near = difflib.get_close_matches(str(label), items.labels[:_COMPARED], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"labels: neither the answer nor a system has {label!r}{hint}")
    if not wanted:
        raise InputError("labels: none given; expected their names, or 'union'")
    return np.stack([np.array([label in wanted for label in items.labels]) for _ in systems])


def only_in_a_system(items: Items, names: Sequence[str]) -> list[str]:
    """A note for each system that uses labels which the answer has not."""
    notes = []
    for i, name in enumerate(names):
        extra = np.flatnonzero(items.uses(i) & ~items.uses())
        if len(extra):
            shown = ", ".join(repr(items.labels[k]) for k in extra[:_NAMED])
            more = f" and {len(extra) - _NAMED:,} more" if len(extra) > _NAMED else ""
            notes.append(
                f"{name} uses labels that the answer does not have: {shown}{more}; they count as "
                f"false alarms, but not in macro averages unless labels are chosen"
            )
    return notes


def _what(side: Side) -> str:
    return "items" if isinstance(side, LabelSets) else "labels"


def match_labels(gold: Side, *systems: Side, positive: str | None = None) -> Items:
    """Find the distinct (item, label) pairs of the answer and of the systems.

    Parameters
    ----------
    gold
        The answer: a label per item, or a set of them.
    systems
        One or more outputs on the same items.
    positive
        The class that counts as "yes"; by default all classes, each against the rest.
    """
    for system in systems:
        if len(system) != len(gold):
            raise InputError(
                f"{system.name}: {len(system)} {_what(system)}, but {gold.name} has {len(gold)}; "
                f"expected as many"
            )
    everyone = (gold, *systems)
    labels, codes = union([side.names for side in everyone])
    item = np.arange(len(gold), dtype=np.int32)
    sides = [
        (side.item if isinstance(side, LabelSets) else item, code[side.codes])
        for side, code in zip(everyone, codes, strict=True)
    ]
    if labels[:1] == (NOTHING,):  # who has no row for an item says nothing of it
        labels = labels[1:]
        sides = [(own[code > 0], code[code > 0] - 1) for own, code in sides]
    unit = item if gold.units is None else gold.units
    n_units = int(unit.max(initial=-1)) + 1
    items = collect(sides, labels, len(gold))
    repeats = None if isinstance(gold, LabelSets) else gold.repeats
    times = None if repeats is None else repeats.times
    items = Items(
        unit[items.unit],
        items.label,
        labels,
        items.answer,
        items.says,
        n_units,
        # of sets, nobody knows how many labels could have been given
        universe=(
            None
            if isinstance(gold, LabelSets)
            else np.bincount(unit, weights=times, minlength=n_units)
        ),
        times=None if times is None else times[items.unit],
        number=None if repeats is None else repeats.number,
    )
    if positive is None:
        return items
    one_of("positive", positive, labels)
    return items.only([positive])
