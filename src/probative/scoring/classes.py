"""Scores of the whole table of all classes: what is called what."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from probative.errors import InputError
from probative.inference.confusion import (
    ConfusedItems,
    confusion_difference,
    confusion_interval,
)
from probative.inference.confusion_test import confusion_test
from probative.inference.macro import macro_interval
from probative.inference.macro_difference import macro_difference
from probative.inference.macro_test import macro_test
from probative.inference.sequential_pvalue import levels_at
from probative.matching.items import union
from probative.matching.labels import averaged_labels
from probative.reading.annotations import LabelSets
from probative.scoring.basis import unit_of
from probative.scoring.intervals import Choices, cells_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from probative.label_counts import LabelCounts
    from probative.matching.matched import Matched
    from probative.matching.outputs import RunGroup
    from probative.options import ScoreOptions
    from probative.results import Difference, Interval, RandomizationTest

__all__ = [
    "confused_items",
    "confused_runs",
    "gap_of_classes",
    "interval_of_classes",
    "over_answered",
    "table_interval",
]


def table_interval(matched: Matched, i: int, options: ScoreOptions) -> Interval:
    """The interval of the one metric that was asked for, of all classes.

    Parameters
    ----------
    matched, i
        What has been gathered, and the number of the system.
    options
        The choices.
    """
    unit = unit_of(matched, options.by)
    choices = Choices(unit, options.level, method=options.method)
    by = cells_of(matched, unit)
    cells = partial(matched.items.by_unit_and_label, i, by=by)
    return interval_of_classes(matched, i, str(options.metric), choices, cells)


def interval_of_classes(
    matched: Matched, i: int, metric: str, choices: Choices, cells: Callable[[], LabelCounts]
) -> Interval:
    """The interval of a score of the whole table of all classes."""
    if choices.method is not None:
        raise InputError(f"method: {choices.method!r} means nothing for {metric} of all classes")
    if metric == "balanced_accuracy":  # the mean recall of the classes that the answer has
        recall = macro_interval(cells().only(matched.items.uses()), "recall", level=choices.level)
        return replace(recall, metric=metric, signature="")
    items = confused_items(matched, i, choices.unit)
    return confusion_interval(items, metric, level=choices.level)


def gap_of_classes(
    matched: Matched, i: int, j: int, options: ScoreOptions
) -> tuple[Difference, RandomizationTest]:
    """The difference of two systems, the second minus the first, and its test.

    Parameters
    ----------
    matched, i, j
        What has been gathered, and the numbers of the systems.
    options
        The choices, with one metric of all classes.
    """
    metric, level, unit = str(options.metric), options.level, unit_of(matched, options.by)
    if metric != "balanced_accuracy":
        a, b = (confused_items(matched, k, unit) for k in (i, j))
        gap = confusion_difference(a, b, metric, level=level)
        return gap, confusion_test(a, b, metric, level=level, rng=0)
    by, labels = cells_of(matched, unit), matched.items.uses()
    one, other = (matched.items.by_unit_and_label(k, by=by).only(labels) for k in (i, j))
    gap, _ = macro_difference(one, other, "recall", level=level)
    return gap, macro_test(one, other, "recall", by=unit, levels=levels_at(level), rng=0)


def over_answered(matched: Matched) -> Matched:
    """The same, with means over the classes of the answer alone, whatever labels were asked for.

    The mean of their recalls is balanced accuracy.
    """
    averaged = averaged_labels(matched.items, None)
    return replace(matched, averaged=averaged, own_labels=False)


def confused_items(matched: Matched, i: int, unit: str) -> ConfusedItems:
    """The class of every item, and what a system calls it."""
    gold, system = matched.gold, matched.systems[i]
    if isinstance(gold, LabelSets) or not hasattr(gold, "codes"):
        raise InputError("metric: of sets of labels there is no table of classes")
    # one numbering for all systems: what they say of an item is exchanged
    names, codes = union([gold.names, *(side.names for side in matched.systems)])
    of_gold, of_system = codes[0], codes[1 + i]
    units = None if unit == "item" or gold.units is None else gold.units
    rows = slice(None)
    if gold.repeats is not None:
        rows, units = gold.repeats.one_by_one(gold.units, by_unit=units is not None)
    answer, said = of_gold[gold.codes][rows], of_system[system.codes][rows]
    return ConfusedItems(answer, said, len(names), units)


def confused_runs(matched: Matched, group: RunGroup, unit: str) -> list[ConfusedItems]:
    """The same of every run of a system."""
    return [confused_items(matched, place, unit) for place in group.places]
