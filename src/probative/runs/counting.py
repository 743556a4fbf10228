"""Counts by run and unit, whatever they were made from."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import shown
from probative.counts import Counts
from probative.errors import InputError
from probative.inference.intervals import interval
from probative.metrics import PRF
from probative.metrics import score as score_of
from probative.results import RunScores, Scores, SystemScores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probative.options import ReadingOptions

__all__ = ["counts_by_system", "pooled_counts", "refuse_all_but", "scores_of_counts"]


def counts_by_system(
    systems: Mapping[str, Counts | Sequence[Counts]],
) -> dict[str, list[Counts]]:
    """The counts of every run by system, if they were counted on the same units and answer."""
    if not systems:
        raise InputError("systems: none; expected at least one")
    by_system = {str(name): _as_runs(str(name), own) for name, own in systems.items()}
    first = None
    for name, runs in by_system.items():
        if not runs:
            raise InputError(f"{name}: no runs; expected one at least")
        for number, counts in enumerate(runs, start=1):
            here = f"{name}, run {number}" if len(runs) > 1 else name
            if len(counts.shape) != 1:
                raise InputError(f"{here}: shape {counts.shape}; expected one row per unit")
            first = (here, counts) if first is None else first
            _check_same_answer(*first, here, counts)
    return by_system


def _as_runs(name: str, own: object) -> list[Counts]:
    """One or several counts as a list."""
    runs: list[Any] = list(own) if isinstance(own, (list, tuple)) else [own]
    if not all(isinstance(counts, Counts) for counts in runs):
        raise InputError(f"{name}: {shown(own)}; expected Counts, one row per unit")
    return runs


def _check_same_answer(first: str, one: Counts, name: str, other: Counts) -> None:
    """Refuse counts that cannot be those of one answer."""
    if len(one) != len(other):
        raise InputError(f"{name}: {len(other)} units, but {first} has {len(one)}")
    if (one.tn is None) != (other.tn is None):
        raise InputError(f"{name}: tn is there for some systems only; expected all or none")
    sides: list[tuple[str, Any, Any]] = [("positives", one.positives, other.positives)]
    if one.tn is not None and other.tn is not None:
        sides.append(("negatives", one.fp + one.tn, other.fp + other.tn))
    for what, here, there in sides:
        wrong = np.flatnonzero(np.asarray(here) != np.asarray(there))
        if len(wrong):
            unit = wrong[0]
            raise InputError(
                f"{name}: {there[unit]:g} {what} in unit {unit + 1}, but {first} has "
                f"{here[unit]:g}; expected counts against the same answer"
            )


def pooled_counts(systems: Sequence[Sequence[Counts]]) -> list[Counts]:
    """The sums over the runs of each system, as if each had the same number of runs.

    Parameters
    ----------
    systems
        The counts of each run, one row per unit.
    """
    most = math.lcm(*(len(runs) for runs in systems))
    return [sum(runs[1:], start=runs[0]) * (most // len(runs)) for runs in systems]


def scores_of_counts(
    systems: Mapping[str, Sequence[Counts]], level: float, beta: float, metrics: Sequence[str]
) -> Scores:
    """The scores of systems of which the counts by run and unit are known.

    Parameters
    ----------
    systems
        The counts of each run, by system.
    level, beta
        Of the intervals.
    metrics
        The scores beside the usual ones.
    """
    wanted = dict.fromkeys((*PRF, *metrics))
    scored, of_runs = [], []
    for name, runs in systems.items():
        pooled = sum(runs[1:], start=runs[0])
        limits = (interval(pooled, m, level=level, beta=beta, clustered=True) for m in wanted)
        scored.append(SystemScores(name, pooled.sum(), tuple(limits)))
        called = tuple(f"run {k}" for k in range(1, len(runs) + 1))
        for metric in wanted:
            values = [score_of(own.sum(), metric, beta=beta) for own in runs]
            of_runs.append(RunScores.of(name, metric, called, values))
    units = len(next(iter(systems.values()))[0])
    return Scores(
        "counts", tuple(scored), level, units, "unit", by="unit", run_scores=tuple(of_runs)
    )


def refuse_all_but(options: ReadingOptions, *known: str) -> None:
    """Refuse choices that counts have no use for."""
    usual = type(options)()
    for entry in fields(options):
        if entry.name not in known and getattr(options, entry.name) != getattr(usual, entry.name):
            raise InputError(f"{entry.name}: means nothing for counts; expected it left out")
