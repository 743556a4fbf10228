"""How much data a comparison needs: from the cases of a pilot, or from its files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack, overload

from probative._validation import positive
from probative.comparison import plan_from_files
from probative.counts import PairedCounts
from probative.errors import InputError
from probative.inference.planning import plan as plan_from_cases
from probative.options import PlanOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative._types import Input, Systems
    from probative.options import ReadingKeywords
    from probative.results import Plan

__all__ = ["plan"]

_OF_CASES = frozenset(("metric", "difference", "power", "units", "level", "beta"))


@overload
def plan(
    pilot: PairedCounts,
    metric: str = "f1",
    /,
    *,
    difference: float | None = None,
    power: float | None = None,
    units: int | None = None,
    level: float = 0.95,
    beta: float = 1.0,
) -> Plan: ...


@overload
def plan(
    pilot: Input | PairedCounts,
    *systems: Systems,
    names: Sequence[str] | None = None,
    metric: str | None = None,
    by: str | None = None,
    difference: float | None = None,
    power: float | None = None,
    units: int | None = None,
    level: float = 0.95,
    beta: float = 1.0,
    **reading: Unpack[ReadingKeywords],
) -> Plan: ...


def plan(pilot: Input | PairedCounts, *systems: Systems, **how: Any) -> Plan:
    """Sample size, power or smallest detectable difference for a comparison of two systems.

    A pilot tells how much the difference varies from unit to unit (sentence to sentence). Given
    two of difference, power and number of units, the third follows, for the two-sided exchange
    test at ``1 - level`` and new units like those of the pilot.

    Parameters
    ----------
    pilot, systems
        The answer and the outputs of two systems, as for `compare`; or their `PairedCounts`, with
        one row per unit where items are not independent. Then the metric may come second.
    names
        What the systems are called; not for `PairedCounts`.
    metric
        The score; by default as for `compare`, and f1 for `PairedCounts`.
    by
        What counts as a unit, as for `compare`; not for `PairedCounts`.
    difference
        The difference to be shown, a fraction of 1; by default the observed one, unless power
        and units are given: then the smallest one that would show.
    power
        The probability of showing it; 0.8 by default, unless units and difference are given: then
        it is what is computed.
    units
        The number of units; what is computed, by default.
    level
        1 minus the level of significance.
    beta
        The weight of recall in F-beta.
    **reading
        How to read and match, as for `score`; not for `PairedCounts`.

    Returns
    -------
    Plan
        With `difference`, `power`, `units`, and `observed_units` of the pilot. What no number
        would do for is None: `units` for a difference of 0, `difference` where even one of 1
        would not show. A `note` says why.

    Notes
    -----
    By the normal approximation, with the variances of the pilot: a pilot of few units makes it
    rough, and one in which the systems hardly differ makes it blind. The observed difference is
    an estimate too; if it happens to be too large, so is the power, and the number of units too
    small. Plan with the smallest difference that would matter to you.

    Units in which nothing counts (sentences without any entity) tell nothing, but they have to be
    collected: new units are taken to have as many of them as the pilot, and `units` includes them.

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
    f1: a difference of 0.02 needs 1,442 units to show with power 0.8 at level 0.95 (643 observed)
    >>> round(pv.plan(pilot, "f1", difference=0.02, units=1000).power, 2)
    0.64
    """
    if not isinstance(pilot, PairedCounts):
        return plan_from_files(pilot, *systems, **how)
    options = PlanOptions.of(how)  # complains about names that nobody knows
    for name in how.keys() - _OF_CASES:
        raise InputError(f"{name}: says how to read inputs, and PairedCounts are none")
    if systems:
        if len(systems) > 1 or not isinstance(systems[0], str) or "metric" in how:
            raise InputError(
                "systems: PairedCounts hold two already; expected at most a metric beside them"
            )
        how["metric"] = systems[0]
    positive("beta", options.beta)
    result = plan_from_cases(pilot, **how)
    by = "by-unit" if pilot.has_units else "by-item"
    return replace(result, signature=options.signature("plan", result.metric, by))
