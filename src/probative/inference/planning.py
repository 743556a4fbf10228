"""How much data would settle it?

Exchanging A and B in every unit, the exact test compares the difference with its standard error
under the null hypothesis: s0/sqrt(n), s0² the mean square of a unit's u = (dx - F·dy)/Y, with F and
Y of both systems pooled. A difference d then shows with power 1 - b on

    n = ((z_a·s0 + z_b·s1)/d)²

units, where s1 is how far the difference varies about z_a standard errors that vary with it: the
deviation of u - ½·d·u²/s0². Never on fewer than the exact test needs to reject at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import (
    one_number,
    one_of,
    open_probability,
    positive,
    whole_number,
)
from probative.counts import PairedCounts, paired_of
from probative.errors import ONE_POINT, InputError
from probative.inference.clusters import contributions
from probative.inference.proportions import normal_quantile
from probative.metrics import METRICS, TABLE, score, span
from probative.results.plans import Plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["UNDEFINED", "Pilot", "plan", "plan_from_pilot"]

_MOST = 10**15  # units; nobody will ever have more
_BLIND = "the systems never differ in the pilot, which says nothing about how they would"
_ALONE = "the pilot is one unit, which says nothing about how others would come out"
UNDEFINED = "the denominator of a score is 0 in the pilot"
_CANNOT = "with so few units the exact test cannot reject, whatever it sees"


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
    """Sample size, power or smallest detectable difference, from the cases of a pilot.

    `probative.plan` calls it, and says what the choices mean.

    Parameters
    ----------
    paired
        The pilot: the cases of two systems, with one row per unit where items are not independent.
    metric, difference, power, units, level, beta
        As for `probative.plan`.
    """
    paired_of("paired", paired)
    one_of("metric", metric, METRICS)
    level = open_probability("level", level)
    beta = positive("beta", beta) if TABLE[metric].depends_on_beta else 1.0
    table = paired.total()
    observed = score(table.b, metric, beta=beta) - score(table.a, metric, beta=beta)
    return plan_from_pilot(
        Pilot.of(paired, metric, beta),
        metric,
        float(observed),
        difference=difference,
        power=power,
        units=units,
        level=level,
    )


def plan_from_pilot(
    pilot: Pilot,
    metric: str,
    observed: float,
    *,
    difference: float | None = None,
    power: float | None = None,
    units: int | None = None,
    level: float = 0.95,
) -> Plan:
    """The same from what a pilot knows of units, whatever the score is made of.

    Parameters
    ----------
    pilot
        How units vary.
    metric
        The score.
    observed
        The difference in the pilot.
    difference, power, units, level
        As for `probative.plan`.
    """
    if difference is not None and power is not None and units is not None:
        raise InputError("units: difference, power and units are all given; nothing is left to do")
    if power is not None:
        power = open_probability("power", power)
    if units is not None:
        units = whole_number("units", units)
    if units is not None and power is not None:
        smallest, note = pilot.smallest_difference(power, units, level, span(metric))
        return Plan(metric, smallest, power, level, units, int(pilot.units), note)
    wanted = abs(observed) if difference is None else _wanted_difference(difference, metric)
    if units is not None:
        reached, note = pilot.power_of(wanted, units, level)
        return Plan(metric, wanted, reached, level, units, int(pilot.units), note)
    power = 0.8 if power is None else power
    needed, note = pilot.units_for(wanted, power, level)
    return Plan(metric, wanted, power, level, needed, int(pilot.units), note)


def _wanted_difference(difference: float, metric: str) -> float:
    wanted = positive("difference", abs(one_number("difference", difference)), zero=True)
    most = span(metric)
    if wanted > most:
        size = " in size" if difference < 0 else ""
        raise InputError(
            f"difference: {difference!r} is more than {most:g}{size}; expected a fraction of "
            f"1: {ONE_POINT}"
        )
    return wanted


@dataclass(frozen=True)
class Pilot:
    """What a pilot knows: how one unit varies, and how often there is something to exchange.

    Attributes
    ----------
    units
        How many there are, empty ones included.
    moments
        The second, third and fourth central moments of what a unit adds to the difference, in
        the direction of the observed one.
    informative
        The share of the units in which exchanging A and B changes anything.
    trouble
        Why nothing can be planned with it, or None.
    """

    units: float
    moments: tuple[float, float, float]
    informative: float
    trouble: str | None

    @classmethod
    def of(cls, paired: PairedCounts, metric: str, beta: float) -> Pilot:
        """From the cases of two systems."""
        (a, b), number = contributions(paired, metric, beta=beta, pooled=True)
        units = float(paired.n_units if paired.has_units else paired.cases.sum())
        (x_a, y_a), (x_b, y_b) = ((number @ x, number @ y) for x, y in (a, b))
        if not (y_a > 0 and y_b > 0):
            return cls.without_any(units, UNDEFINED)
        dx, dy = b[0] - a[0], b[1] - a[1]
        informative = float(number[(dx != 0) | (dy != 0)].sum())
        added = units * (dx - (x_a + x_b) / (y_a + y_b) * dy) / ((y_a + y_b) / 2)
        return cls.of_units(added, number, units, informative)

    @classmethod
    def of_units(
        cls,
        added: NDArray[np.float64],
        number: NDArray[Any],
        units: float,
        informative: float,
    ) -> Pilot:
        """From what the units of each kind add to the difference, times the number of all units.

        Parameters
        ----------
        added, number
            What a unit of each kind adds, and how many there are of it.
        units, informative
            How many units there are in all, and in how many exchanging A and B changes anything.
        """
        trouble = _BLIND if not informative > 0 else _ALONE if number.sum() < 2 else None
        if trouble:
            return cls.without_any(units, trouble)
        # empty units add nothing, and are there all the same: others will have to be collected
        added, number = np.append(added, 0.0), np.append(number, units - number.sum())
        mean = number @ added / units
        second, third, fourth = (float(number @ (added - mean) ** k) / units for k in (2, 3, 4))
        third = math.copysign(1, mean) * third if mean else -abs(third)
        second *= units / (units - 1)
        return cls(units, (second, third, fourth), informative / units, None)

    @classmethod
    def without_any(cls, units: float, trouble: str) -> Pilot:
        """A pilot that nothing can be planned with, and why."""
        return cls(units, (math.nan, math.nan, math.nan), math.nan, trouble)

    def power_of(
        self, difference: float, units: int, level: float
    ) -> tuple[float | None, str | None]:
        """The probability that the exchange test rejects, and what must be said of it."""
        if self.trouble or math.isnan(difference):
            return None, self.trouble or UNDEFINED
        note = _CANNOT if units < _fewest(level) else None
        return min(self._normal_power(difference, units, level), self._possible(units, level)), note

    def units_for(
        self, difference: float, power: float, level: float
    ) -> tuple[int | None, str | None]:
        """The least number of units that have the power."""
        if self.trouble or math.isnan(difference):
            return None, self.trouble or UNDEFINED
        if difference == 0:
            return None, None

        def enough(units: float) -> bool:
            return (
                self._normal_power(difference, units, level) >= power
                and self._possible(units, level) >= power
            )

        if not enough(_MOST):
            return None, f"more than {_MOST:.0e} units would be needed"
        return _least(enough, _fewest(level), _MOST), None

    def smallest_difference(
        self, power: float, units: int, level: float, most: float = 1.0
    ) -> tuple[float | None, str | None]:
        """The least difference that shows with this power."""
        if self.trouble:
            return None, self.trouble
        if units < _fewest(level):
            return None, _CANNOT
        if self._possible(units, level) < power or self._normal_power(most, units, level) < power:
            return None, f"no difference up to {most:g} would show with this power"
        if self._normal_power(0.0, units, level) >= power:
            return 0.0, None
        low, high = 0.0, most
        for _ in range(80):
            middle = (low + high) / 2
            enough = self._normal_power(middle, units, level) >= power
            low, high = (low, middle) if enough else (middle, high)
        return high, None

    def _normal_power(self, difference: float, units: float, level: float) -> float:
        """The probability that the difference leaves ±z·s0 when it is centred on its true value."""
        second, third, fourth = self.moments
        if difference == 0 and second == 0:
            return 0.0
        d, null = difference, second + difference**2  # s0²
        spread = math.sqrt(
            max(
                0.0,
                second
                - d / null * (third + 2 * d * second)
                + (d / null) ** 2 / 4 * (fourth + 4 * d * third + (4 * d**2 - second) * second),
            )
        )
        threshold, shift = normal_quantile(level) * math.sqrt(null), d * math.sqrt(units)
        if not spread > 0:
            return float(shift > threshold)
        above, below = (side * shift - threshold for side in (1, -1))
        return float(special.ndtr(above / spread) + special.ndtr(below / spread))

    def _possible(self, units: float, level: float) -> float:
        """The probability of as many informative units as the exact test needs to reject."""
        fewest = _fewest(level)
        if units < fewest:
            return 0.0
        return float(special.betainc(fewest, units - fewest + 1, self.informative))


def _fewest(level: float) -> int:
    """The informative units with which 2·(1/2)^k, the least p-value there is, is small enough."""
    return math.ceil(1 - math.log2(1 - level))


def _least(enough: Callable[[float], bool], low: int, high: int) -> int:
    """The least whole number from `low` to `high` that is enough; `high` is."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return high
