"""The interval of a score that is pooled over labels, from the counts of the units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.counts import Counts
from probative.inference.intervals import interval
from probative.scoring.basis import MACRO, metrics_of, unit_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.matching.matched import Matched
    from probative.options import ScoreOptions
    from probative.results import Interval

__all__ = ["Choices", "cells_of", "intervals_of", "pooled_interval"]


@dataclass(frozen=True)
class Choices:
    """What all scores of a call have in common.

    `asked` are the metrics that were asked for; none for the usual ones. `also` come on top.
    """

    unit: str
    level: float
    asked: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    beta: float = 1.0
    method: str | None = None
    overlap: bool = False

    @property
    def how(self) -> dict[str, Any]:
        """How every interval is made."""
        return {"level": self.level, "beta": self.beta, "method": self.method}

    def among(self, usual: Sequence[str]) -> tuple[str, ...]:
        """The metrics to compute, where these are the usual ones."""
        single = [metric for metric in self.also if not metric.startswith(MACRO)]
        return tuple(dict.fromkeys((*(self.asked or usual), *single)))


def intervals_of(matched: Matched, options: ScoreOptions) -> list[Interval]:
    """The interval of one metric of every system, pooled over labels.

    Parameters
    ----------
    matched
        What has been gathered.
    options
        The choices, with a single metric.
    """
    metrics = metrics_of(matched, options.metric or ())
    unit = unit_of(matched, options.by)
    choices = Choices(unit, options.level, metrics, (), options.beta, options.method)
    scored = "recall" if matched.all_classes else metrics[0]
    intervals = []
    for i in range(len(matched.names)):
        units = matched.items.counts(i, by="sentence")
        if matched.all_classes:  # what was given instead of the right label is no item of its own
            units = Counts(units.tp, np.zeros_like(units.fp), units.fn)
        intervals.append(pooled_interval(matched, units, scored, choices))
    return intervals


def pooled_interval(matched: Matched, units: Counts, metric: str, choices: Choices) -> Interval:
    """The interval of a metric from the counts of every sentence (unit, datum)."""
    number = matched.items.number
    if choices.unit == "document":
        units = _by_document(units, matched.items.document)
    elif choices.unit == "item" and (matched.unit != "item" or np.max(units.nu, initial=0) <= 1):
        table = units.sum() if number is None else (units * number).sum()
        return interval(table, metric, **choices.how)
    # the label that was missed and the one that was given instead belong to one datum
    return interval(units, metric, clustered=True, multiplicity=number, **choices.how)


def _by_document(units: Counts, document: Any) -> Counts:
    """The counts of every sentence, added up for each document."""
    tp, fp, fn = (np.bincount(document, weights=n) for n in (units.tp, units.fp, units.fn))
    tn = None if units.tn is None else np.bincount(document, weights=units.tn)
    return Counts(tp, fp, fn, tn)


def cells_of(matched: Matched, unit: str) -> str:
    """The units by the name that items have for them; a datum's labels belong together."""
    return "sentence" if unit == matched.unit else unit
