"""What is known of the scores of all systems, before they are put in order."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.counts import Counts
from probative.errors import InputError
from probative.inference.confusion import pool_items
from probative.inference.confusion_leaderboard import evidence_of_tables
from probative.inference.macro_leaderboard import evidence_of_labels
from probative.inference.unit_table import UnitTable
from probative.matching.pooled import counts_of_runs
from probative.runs.counting import pooled_counts
from probative.scoring.classes import confused_items, confused_runs, over_answered
from probative.scoring.intervals import cells_of

if TYPE_CHECKING:
    from probative.inference.leaderboard import Evidence
    from probative.matching.matched import Matched

__all__ = ["WITHOUT_POSITIVES", "evidence_of_classes", "evidence_of_means", "unit_table"]

_WRITTEN_OUT = 10_000_000  # units that are drawn one by one at most
WITHOUT_POSITIVES = ("accuracy", "specificity", "npv")  # scores that need nothing to be found


def evidence_of_means(matched: Matched, unit: str, metric: str, how: dict[str, Any]) -> Evidence:
    """What is known of means over labels."""
    by = cells_of(matched, unit)
    cells = [matched.items.by_unit_and_label(i, by=by) for i in range(len(matched.names))]
    if cells[0].repeats.sum() > _WRITTEN_OUT:
        raise InputError(
            f"average: the macro ranks of {int(cells[0].repeats.sum()):,} units would not fit into "
            f"memory; expected 'micro', or larger units"
        )
    return evidence_of_labels(
        [own.written_out() for own in cells],  # each unit is drawn for itself
        metric,
        labels=matched.averaged,
        answered=matched.items.uses() if matched.own_labels else matched.averaged[0],
        own_labels=matched.own_labels,
        **how,
    )


def evidence_of_classes(matched: Matched, unit: str, metric: str, how: dict[str, Any]) -> Evidence:
    """What is known of scores of the whole table of all classes."""
    if metric == "balanced_accuracy":  # the mean recall of the classes
        if matched.runs:
            raise InputError(
                "metric: several runs have no ranks by 'balanced_accuracy' of several classes yet; "
                "expected 'mcc', 'kappa' or 'accuracy'"
            )
        return evidence_of_means(over_answered(matched), unit, "recall", how)
    if matched.runs:
        times = math.lcm(*(len(group.places) for group in matched.runs))
        systems = [pool_items(confused_runs(matched, group, unit), times) for group in matched.runs]
    else:
        systems = [confused_items(matched, i, unit) for i in range(len(matched.names))]
    return evidence_of_tables(systems, metric, **{k: v for k, v in how.items() if k != "beta"})


def unit_table(matched: Matched, unit: str) -> UnitTable:
    """The counts of every system on each unit, as the tests of pairs exchange them."""
    items = matched.items
    if matched.runs:
        return UnitTable.of_counts(
            [
                pooled / items.weight
                for pooled in pooled_counts(
                    [counts_of_runs(matched, group, unit) for group in matched.runs]
                )
            ]
        )
    datum = matched.unit == "item" and len(items.labels) > 1 and not matched.all_classes
    if unit == "item" and not datum:
        return _item_table(matched)
    by = "document" if unit == "document" else "sentence"
    # halves of items are exchanged on a lattice of whole ones: no score changes if all are doubled
    counts = [items.counts(i, by=by) / items.weight for i in range(len(matched.names))]
    if matched.all_classes:  # what was given instead of the right label is no item of its own
        counts = [Counts(c.tp, np.zeros_like(c.fp), c.fn) for c in counts]
    table = UnitTable.of_counts(counts)
    return table if items.number is None else replace(table, number=items.number)


def _item_table(matched: Matched) -> UnitTable:
    """The same with every item for a unit."""
    items = matched.items
    kept = items.answer if matched.all_classes else np.ones(len(items.answer), dtype=bool)
    says, answer = items.says[:, kept], items.answer[kept]
    negatives = None
    number = np.ones(len(answer), dtype=np.int64)
    weights = items.weights(None)
    if weights is not None:
        number = weights[kept].astype(np.int64)
    if items.universe is not None and len(items.labels) == 1:
        # what nobody proposes, and the answer does not have
        says = np.concatenate([says, np.zeros((len(says), 1), dtype=bool)], axis=1)
        answer = np.append(answer, False)
        number = np.append(number, items.decisions - number.sum())
        negatives = (~answer).astype(np.int32)
    return UnitTable(
        (says & answer).astype(np.int32),
        (says & ~answer).astype(np.int32),
        answer.astype(np.int32),
        negatives,
        number,
        by_item=True,
    )
