"""How many runs, and how many units?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from probative._validation import open_probability, whole_number
from probative.errors import InputError
from probative.inference.confusion_runs import compare_table_runs
from probative.inference.runs import compare_runs
from probative.inference.runs_planning import plan_runs
from probative.matching.pooled import counts_of_runs
from probative.runs.counting import counts_by_system, refuse_all_but
from probative.scoring.basis import (
    compared_metrics,
    facts_of_reading,
    is_of_classes,
    scored_as,
    signed_runs,
    unit_of_runs,
)
from probative.scoring.classes import confused_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from probative.counts import Counts
    from probative.matching.matched import Matched
    from probative.options import PlanOptions
    from probative.results import RunsDifference, RunsPlan

__all__ = ["plan_counts", "plan_groups"]


def plan_groups(matched: Matched, options: PlanOptions) -> RunsPlan:
    """How many runs, and how many units, a comparison of two systems with several runs needs.

    Parameters
    ----------
    matched
        What has been gathered, with the runs of both systems: the pilot.
    options
        The choices, as for `plan`.
    """
    if len(matched.runs) != 2:
        raise InputError(f"systems: {len(matched.runs)} of them; expected two")
    unit = unit_of_runs(matched, options.by)
    (metric,) = compared_metrics(matched, options.metric, "micro", tables=True)
    if is_of_classes(matched, metric):
        items = {group.name: confused_runs(matched, group, unit) for group in matched.runs}
        compare = partial(compare_table_runs, metric=metric)
        result = _plan_of(items, compare, matched.items.units_in_all, options)
    else:
        counts = {group.name: counts_of_runs(matched, group, unit) for group in matched.runs}
        result = _plan_of_counts(counts, scored_as(matched, metric), options)
    facts = (*facts_of_reading(matched, options), signed_runs(matched))
    signature = options.signature("plan", *facts, metric, f"by-{unit}")
    return replace(result, metric=metric, by=unit, notes=matched.notes, signature=signature)


def plan_counts(systems: Mapping[str, Counts | Sequence[Counts]], options: PlanOptions) -> RunsPlan:
    """The same for systems of which only the counts by run and unit are known.

    Parameters
    ----------
    systems
        The `Counts` of each run, one row per unit, the same units in all; by system.
    options
        The choices, as for `plan`.
    """
    refuse_all_but(
        options, "metric", "difference", "power", "units", "level", "beta", "paired_runs"
    )
    by_system = counts_by_system(systems)
    if len(by_system) != 2:
        raise InputError(f"systems: {len(by_system)} of them; expected two")
    metric = options.metric or "f1"
    facts = ("counts", f"runs:{','.join(str(len(own)) for own in by_system.values())}")
    signature = options.signature("plan", *facts, metric, "by-unit")
    return replace(_plan_of_counts(by_system, metric, options), signature=signature)


def _plan_of_counts(
    counts: Mapping[str, Sequence[Counts]], metric: str, options: PlanOptions
) -> RunsPlan:
    compare = partial(compare_runs, metric=metric, beta=options.beta)
    return _plan_of(counts, compare, len(next(iter(counts.values()))[0]), options)


def _plan_of(
    systems: Mapping[str, Sequence[Any]],
    compare: Callable[..., RunsDifference],
    n_units: int,
    options: PlanOptions,
) -> RunsPlan:
    """A plan from the runs of two systems, and what compares them."""
    (name_a, a), (name_b, b) = systems.items()
    for name, runs in systems.items():
        if len(runs) < 2:
            raise InputError(f"{name}: one run, which says nothing about others; expected several")
    if options.paired_runs and len(a) != len(b):
        raise InputError(
            f"paired_runs: {len(a)} runs of {name_a}, but {len(b)} of {name_b}; expected as many"
        )
    level = open_probability("level", options.level)
    pilot = compare(a, b, level=level, paired_runs=options.paired_runs)
    if pilot.procedures is None:
        raise InputError(f"systems: {pilot.note}; expected a pilot that tells how runs vary")
    units = None
    if options.units is not None:
        units = sorted({n_units, whole_number("units", options.units, least=2)})
    return plan_runs(
        pilot,
        difference=options.difference,
        power=0.8 if options.power is None else options.power,
        units=units,
    )
