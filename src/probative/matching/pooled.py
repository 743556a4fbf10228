"""Several runs of a system put together: the runs of a unit belong to that unit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.counts import Counts
from probative.matching.cases import cases_of_pair
from probative.matching.items import union
from probative.matching.labels import UNION, averaged_labels
from probative.reading.annotations import Labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probative.counts import PairedCounts
    from probative.matching.matched import Matched
    from probative.matching.outputs import RunGroup

__all__ = ["cases_of_runs", "counts_of_runs", "pool_runs", "unpooled"]


def counts_of_runs(matched: Matched, group: RunGroup, unit: str) -> list[Counts]:
    """The counts of every run of a system, one row per unit.

    Parameters
    ----------
    matched
        What has been gathered.
    group
        The runs.
    unit
        The units; a datum where items are asked for.
    """
    by = "document" if unit == "document" else "sentence"
    counts = [matched.items.counts(place, by=by) for place in group.places]
    if not matched.all_classes:
        return counts
    # what was given instead of the right label is no item of its own
    return [Counts(own.tp, np.zeros_like(own.fp), own.fn) for own in counts]


def cases_of_runs(matched: Matched, a: RunGroup, b: RunGroup, unit: str) -> Iterator[PairedCounts]:
    """The cases of every run of A beside every run of B, one row per unit."""
    rows = "datum" if unit == "item" else unit
    return (cases_of_pair(matched, i, j, rows) for i in a.places for j in b.places)


def pool_runs(matched: Matched, group: RunGroup) -> Matched:
    """A system that says in every unit what all runs of this one say.

    Every item is there once per run. Single items become units: what runs say of the same item is
    not independent.

    Parameters
    ----------
    matched
        What has been gathered.
    group
        The runs.
    """
    pooled = matched.items.pooled(group.places)
    gold, system = _repeated(matched, group)
    chosen = UNION if matched.own_labels else None
    averaged = matched.averaged[[group.places[0]]]
    return replace(
        matched,
        names=(group.name,),
        items=pooled,
        gold=gold,
        systems=system,
        tagged=(),
        averaged=averaged_labels(pooled, chosen) if matched.own_labels else averaged,
        runs=(),
    )


def _repeated(matched: Matched, group: RunGroup) -> tuple[Any, tuple[Any, ...]]:
    """The answer, and what the runs say; of single labels one run after the other."""
    gold = matched.gold
    if matched.task in ("labels", "samples") and gold.units is None:
        gold = replace(gold, units=np.arange(len(gold), dtype=np.int32))
    runs = [matched.systems[place] for place in group.places if matched.systems]
    if not runs or not isinstance(gold, Labels) or gold.units is None or gold.repeats is not None:
        return gold, tuple(runs[:1])  # of counts in logs, there are none
    names, codes = union([run.names for run in runs])
    said = np.concatenate([code[run.codes] for code, run in zip(codes, runs, strict=True)])
    answer, units = (np.tile(values, len(runs)) for values in (gold.codes, gold.units))
    nothing: dict[str, Any] = {"texts": None, "aligned": None, "groups": None}
    gold = replace(gold, codes=answer, units=units, **nothing)
    return gold, (replace(runs[0], codes=said, names=names, units=units, **nothing),)


def unpooled(matched: Matched) -> Matched:
    """Systems of one run each, as systems."""
    return replace(matched, names=tuple(group.name for group in matched.runs), runs=())
