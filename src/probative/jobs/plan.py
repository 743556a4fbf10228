"""Plan how much data a comparison needs, from the cases or the files of a pilot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

from probative._validation import Input, Systems, one_of, positive, whole_number
from probative.counts import Counts, PairedCounts
from probative.errors import InputError
from probative.inference.compare import Choices, compare_runs_of
from probative.inference.planning import plan_runs
from probative.inference.pooled import PooledScore
from probative.jobs.runs import counts_of_runs
from probative.jobs.score import (
    AVERAGES,
    by_name,
    facts_of_reading,
    match_systems,
    score_asked_for,
    several_runs,
    signed_runs,
    systems_of,
)
from probative.metrics import METRICS
from probative.options import CompareOptions, GradedKeywords, PlanOptions

if TYPE_CHECKING:
    from probative.inference.scores import Score
    from probative.matching.outputs import RunGroup
    from probative.results import Plan, RunsPlan

_OF_CASES = frozenset(("metric", "difference", "power", "units", "level", "beta"))


class _CountsKeywords(TypedDict, total=False):
    """Choices of a plan from counts by run, as keywords."""

    metric: str | None
    difference: float | None
    power: float | None
    units: int | None
    level: float
    beta: float
    paired_runs: bool


class _RunsKeywords(_CountsKeywords, GradedKeywords, total=False):
    """Choices of a plan from the outputs of runs, as keywords."""

    average: str
    by: str | None


@overload
def plan(  # type: ignore[overload-overlap]  # a mapping may hold one output each
    pilot: Input, runs: Mapping[str, Sequence[Input]], /, **how: Unpack[_RunsKeywords]
) -> Plan | RunsPlan: ...


@overload
def plan(
    pilot: Input | PairedCounts | None = None,
    *systems: Systems,
    names: Sequence[str] | None = None,
    metric: str | None = None,
    average: str = "micro",
    by: str | None = None,
    difference: float | None = None,
    power: float | None = None,
    units: int | Sequence[object] | None = None,
    level: float = 0.95,
    beta: float = 1.0,
    **reading: Unpack[GradedKeywords],
) -> Plan: ...


@overload
def plan(pilot: Mapping[str, Sequence[Counts]], /, **how: Unpack[_CountsKeywords]) -> RunsPlan: ...


def plan(
    pilot: Input | PairedCounts | Mapping[str, Sequence[Counts]] | None = None,
    *systems: Systems | Mapping[str, Sequence[Input]],
    **how: Any,
) -> Plan | RunsPlan:
    """Compute sample size, power or smallest detectable difference of a comparison.

    A pilot shows how much the difference varies from unit to unit (sentence to sentence). Given
    two of difference, power and number of units, the third follows, for the two-sided exchange
    test at ``1 - level`` and new units like those of the pilot.

    Parameters
    ----------
    pilot, systems
        Gold and the outputs of two systems, as for `compare`; or their `PairedCounts`, with one
        row per unit where items are not independent. Then the metric may come second. With
        several runs, ``{name: [run, ...], name: [run, ...]}``, as for `compare`, or the `Counts`
        of each run by system.
    names
        The names of the systems; not for `PairedCounts`.
    metric
        The score; by default as for `compare`, and f1 for `PairedCounts`.
    average
        "micro" pools all labels; "macro" takes the mean over labels. Not for `PairedCounts`.
    by
        The units, as for `compare`; not for `PairedCounts`.
    difference
        The difference to detect, a fraction of 1; by default the observed one, unless power and
        units are given: then the smallest detectable difference is computed.
    power
        The probability of detecting it; 0.8 by default, unless units and difference are given:
        then the power is computed.
    units
        The number of units; computed by default. With `scores`, a list holds the unit of every
        item instead, as for `compare`.
    level
        1 minus the level of significance.
    beta
        The weight of recall in F-beta.
    paired_runs
        Whether run i of either system belongs to run i of the other, as for `compare`.
    **reading
        Options of reading and matching, as for `score`; not for `PairedCounts`.

    Returns
    -------
    Plan
        With `difference`, `power`, `units`, and `observed_units` of the pilot. A value that no
        number could reach is None: `units` for a difference of 0, `difference` if even one of 1
        could not be detected. A `note` gives the reason.
    RunsPlan
        With several runs: the length of the interval for procedures and the power for other
        numbers of runs and units, and the effect of another run compared with more units.

    Notes
    -----
    The plan uses the normal approximation with the variances of the pilot: it is rough for a pilot
    of few units, and useless for one in which the systems hardly differ. The observed difference is
    an estimate, too; if it happens to be too large, so is the power, and the number of units is too
    small. Plan with the smallest difference that would matter to you.

    Units without any counts (sentences without any entity) carry no information, but have to be
    collected: new units are assumed to have as many of them as the pilot, and `units` includes
    them.

    Examples
    --------
    >>> import probative as pv
    >>> gold = [["B-PER", "O", "B-LOC"]] * 50
    >>> old = [["B-PER", "O", "O"]] * 20 + [["O", "O", "B-LOC"]] * 8 + gold[28:]
    >>> new = [["B-PER", "O", "O"]] * 9 + gold[9:]
    >>> pv.plan(gold, old, new, difference=0.05).units
    68
    >>> pilot = pv.PairedCounts([30, 20, 45, 18, 400, 60, 70])
    >>> print(pv.plan(pilot, "f1", difference=0.02))
    f1: a difference of 0.02 needs 1,442 units for power 0.8 at level 0.95 (643 observed)
    >>> round(pv.plan(pilot, "f1", difference=0.02, units=1000).power, 2)
    0.64
    """
    if isinstance(pilot, Mapping):
        if systems:
            raise InputError("systems: the counts hold them already; expected none beside them")
        return _plan_counts(pilot, PlanOptions.of(how))
    if not isinstance(pilot, PairedCounts):
        return plan_from_files(pilot, *systems, **how)
    options = PlanOptions.of(how)  # raises an error for unknown names
    for name in how.keys() - _OF_CASES:
        raise InputError(f"{name}: applies to files, not to PairedCounts")
    if systems:
        if len(systems) > 1 or not isinstance(systems[0], str) or "metric" in how:
            raise InputError(
                "systems: PairedCounts hold two already; expected at most a metric beside them"
            )
        how["metric"] = systems[0]
    metric = one_of("metric", how.pop("metric", "f1"), METRICS)
    score = PooledScore.of_cases(pilot, metric, beta=positive("beta", options.beta))
    how.pop("beta", None)
    result = score.plan(0, 1, **how)
    by = "by-unit" if pilot.has_units else "by-item"
    return replace(result, signature=options.signature("plan", result.metric, by))


def plan_from_files(
    gold: Input | None, *systems: Systems, names: Sequence[str] | None = None, **how: Any
) -> Plan | RunsPlan:
    """Compute a `plan` from the inputs of a comparison, which are the pilot."""
    options = PlanOptions.of(how, beside=("names",))
    one_of("average", options.average, AVERAGES)
    if options.group is not None:
        raise InputError("group: a plan has no groups; expected the rows of one group alone")
    matched, _ = match_systems(gold, *by_name(list(systems), names, gold), options)
    several = several_runs(matched)
    if options.paired_runs and not several:
        raise InputError("paired_runs: has no effect without runs; expected several per system")
    groups = systems_of(matched)
    if len(groups) != 2:
        raise InputError(f"systems: {len(groups)} of them; expected two")
    score, unit = score_asked_for(matched, options)
    facts = facts_of_reading(matched, options)
    result: Any
    if several:
        facts = (*facts, signed_runs(groups))
        result = _plan_runs(score, groups, options)
    else:
        wanted: Any = options.units
        a, b = groups
        result = score.plan(
            *(a.places[0], b.places[0]),
            difference=options.difference,
            power=options.power,
            units=wanted if options.scores is None or isinstance(wanted, int) else None,
            level=options.level,
        )
        result = replace(result, a=a.name, b=b.name)
    if matched.task == "scores":
        result = replace(result, task=matched.task, range=matched.range)
    signature = options.signature("plan", *facts, score.metric, f"by-{unit}")
    found: Plan | RunsPlan = replace(
        result, metric=score.metric, by=unit, notes=matched.notes, signature=signature
    )
    return found


def _plan_counts(
    systems: Mapping[str, Counts | Sequence[Counts]], options: PlanOptions
) -> RunsPlan:
    """Plan the number of runs and units from the counts of each run, one row per unit."""
    runs, groups = counts_of_runs(systems, options, *_OF_CASES, "paired_runs")
    if len(groups) != 2:
        raise InputError(f"systems: {len(groups)} of them; expected two")
    score = PooledScore.of_counts(runs, options.metric or "f1", beta=options.beta)
    signature = options.signature("plan", "counts", signed_runs(groups), score.metric, "by-unit")
    return replace(_plan_runs(score, groups, options), signature=signature)


def _plan_runs(score: Score, systems: Sequence[RunGroup], options: PlanOptions) -> RunsPlan:
    """Plan from the runs of two systems, which are rows of a score."""
    for system in systems:
        if len(system.places) < 2:
            name = system.name
            raise InputError(f"{name}: one run, which says nothing about others; expected several")
    choices = Choices.of(CompareOptions(level=options.level), "unit")
    a, b = systems
    sides = a.places, b.places, (a.name, b.name)
    pilot = compare_runs_of(score, *sides, choices, paired_runs=options.paired_runs)
    if pilot.procedures is None:
        raise InputError(f"systems: {pilot.models.note}; expected a pilot that shows how runs vary")
    units = None
    if options.units is not None:
        units = sorted({score.observed_units, whole_number("units", options.units, least=2)})
    return plan_runs(
        pilot.procedures,
        difference=options.difference,
        power=0.8 if options.power is None else options.power,
        units=units,
    )
