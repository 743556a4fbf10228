"""How much data would settle it?"""

from __future__ import annotations

import math

from scipy import special

from probative._validation import one_number, one_of, open_probability, positive, whole_number
from probative.counts import PairedCounts
from probative.errors import InputError
from probative.inference.clusters import variance_of_difference
from probative.inference.proportions import normal_quantile
from probative.metrics import METRICS, score
from probative.results.plans import Plan

__all__ = ["plan"]


def plan(
    paired: PairedCounts,
    metric: str = "f1",
    *,
    difference: float | None = None,
    power: float | None = None,
    units: int | None = None,
    level: float = 0.95,
    beta: float = 1.0,
) -> Plan:
    """Sample size, power or smallest detectable difference for a comparison of two systems.

    A pilot tells how much the difference varies from unit to unit (sentence to sentence). Given
    two of difference, power and number of units, the third follows, for a two-sided test at
    ``1 - level`` and new units like those of the pilot.

    Parameters
    ----------
    paired
        The pilot: the cases of two systems, with a row a unit where items are not independent.
    metric, beta
        The score.
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

    Returns
    -------
    Plan
        With `difference`, `power`, `units`, and `observed_units` of the pilot. `units` is None
        where no number would do: a difference of 0, or systems that never differ.

    Notes
    -----
    By the normal approximation, with the variance of the pilot: a pilot of few units makes it
    rough, and one in which the systems hardly differ makes it blind. The observed difference is
    an estimate too; if it happens to be too large, so is the power, and the number of units too
    small. Plan with the smallest difference that would matter to you.

    Examples
    --------
    >>> import probative as pv
    >>> pilot = pv.PairedCounts([30, 20, 45, 18, 400, 60, 70])
    >>> print(pv.plan(pilot, "f1", difference=0.02))
    f1: a difference of 0.02 needs 1,451 units to show with power 0.8 at level 0.95 (643 observed)
    >>> round(pv.plan(pilot, "f1", difference=0.02, units=1000).power, 2)
    0.64
    """
    if not isinstance(paired, PairedCounts):
        raise InputError(f"paired: expected PairedCounts, not {type(paired).__name__}")
    one_of("metric", metric, METRICS)
    level = open_probability("level", level)
    beta = positive("beta", beta) if metric == "fbeta" else 1.0
    if difference is not None and power is not None and units is not None:
        raise InputError("units: difference, power and units are all given; nothing is left to do")
    if power is not None:
        power = open_probability("power", power)
    if units is not None:
        units = whole_number("units", units)
    variance, observed_units = variance_of_difference(paired, metric, beta=beta)
    spread = math.sqrt(variance * observed_units)  # of one unit's contribution
    if units is not None and power is not None:
        smallest = _effect(power, level) * spread / math.sqrt(units)
        return Plan(metric, smallest, power, level, units, observed_units)
    wanted = _wanted_difference(paired, metric, difference, beta)
    if units is not None:
        power = _power(wanted, spread, units, level)
    else:
        power = 0.8 if power is None else power
        units = _units(wanted, spread, power, level)
    return Plan(metric, wanted, power, level, units, observed_units)


def _wanted_difference(
    paired: PairedCounts, metric: str, difference: float | None, beta: float
) -> float:
    if difference is not None:
        return positive("difference", abs(one_number("difference", difference)), zero=True)
    table = paired.total()
    observed = score(table.b, metric, beta=beta) - score(table.a, metric, beta=beta)
    return abs(float(observed))


def _units(difference: float, spread: float, power: float, level: float) -> int | None:
    if not difference > 0 or not spread > 0:
        return None
    return max(2, math.ceil((_effect(power, level) * spread / difference) ** 2))


def _power(difference: float, spread: float, units: int, level: float) -> float:
    """The probability that the test statistic leaves ±z when it is centred on the effect."""
    if not spread > 0:
        return math.nan
    z, effect = normal_quantile(level), difference * math.sqrt(units) / spread
    return float(special.ndtr(effect - z) + special.ndtr(-effect - z))


def _effect(power: float, level: float) -> float:
    """How many standard errors the difference must measure for this power; `_power` inverted."""
    low, high = 0.0, normal_quantile(level) + abs(float(special.ndtri(power))) + 1
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _power(middle, 1.0, 1, level) < power else (low, middle)
    return high
