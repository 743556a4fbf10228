"""How much data would settle it?

The exchange test compares the difference with what exchanging A and B in every unit would give:
its standard error under the null hypothesis, s0 for one unit, comes from z0 = (dx - F·dy)/Y with
F and Y of both systems pooled. Under the alternative the difference varies by s1, from the units'
moves of the difference. A difference d then shows with power 1 - b on

    n = ((z_a·s0 + z_b·s1)/d)²

units, and never on fewer than the exact test needs to reject at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scipy import special

from probative._validation import one_of, open_probability, positive, whole_number
from probative.counts import PairedCounts
from probative.errors import InputError
from probative.inference.clusters import contributions
from probative.inference.proportions import normal_quantile
from probative.metrics import METRICS, score
from probative.results.plans import Plan

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["plan"]

_MOST = 10**15  # units; nobody will ever have more
_BLIND = "the systems never differ in the pilot, which says nothing about how they would"
_ALONE = "the pilot is one unit, which says nothing about how others would come out"
_UNDEFINED = "the denominator of a score is 0 in the pilot"
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
    """Sample size, power or smallest detectable difference for a comparison of two systems.

    A pilot tells how much the difference varies from unit to unit (sentence to sentence). Given
    two of difference, power and number of units, the third follows, for the two-sided exchange
    test at ``1 - level`` and new units like those of the pilot.

    Parameters
    ----------
    paired
        The pilot: the cases of two systems, with one row per unit where items are not independent.
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
    >>> pilot = pv.PairedCounts([30, 20, 45, 18, 400, 60, 70])
    >>> print(pv.plan(pilot, "f1", difference=0.02))
    f1: a difference of 0.02 needs 1,452 units to show with power 0.8 at level 0.95 (643 observed)
    >>> round(pv.plan(pilot, "f1", difference=0.02, units=1000).power, 2)
    0.64
    """
    if not isinstance(paired, PairedCounts):
        raise InputError(f"paired: expected PairedCounts, not {type(paired).__name__}")
    one_of("metric", metric, METRICS)
    level = open_probability("level", level)
    beta = positive("beta", beta) if metric == "fbeta" else 1.0
    if None not in (difference, power, units):
        raise InputError("units: difference, power and units are all given; nothing is left to do")
    if power is not None:
        power = open_probability("power", power)
    if units is not None:
        units = whole_number("units", units)
    pilot = _Pilot.of(paired, metric, beta)
    if units is not None and power is not None:
        smallest, note = pilot.smallest_difference(power, units, level)
        return Plan(metric, smallest, power, level, units, pilot.units, note)
    wanted = _wanted_difference(paired, metric, difference, beta)
    if units is not None:
        reached, note = pilot.power_of(wanted, units, level)
        return Plan(metric, wanted, reached, level, units, pilot.units, note)
    power = 0.8 if power is None else power
    needed, note = pilot.units_for(wanted, power, level)
    return Plan(metric, wanted, power, level, needed, pilot.units, note)


def _wanted_difference(
    paired: PairedCounts, metric: str, difference: float | None, beta: float
) -> float:
    if difference is not None:
        wanted = positive("difference", abs(float(difference)), zero=True)
        if wanted > 1:
            raise InputError(
                f"difference: {difference!r} is more than 1; expected a fraction, as 0.02 for two "
                f"points"
            )
        return wanted
    table = paired.total()
    observed = score(table.b, metric, beta=beta) - score(table.a, metric, beta=beta)
    return abs(float(observed))


@dataclass(frozen=True)
class _Pilot:
    """What a pilot knows: how one unit varies, and how often there is something to exchange.

    Attributes
    ----------
    units
        How many there are, empty ones included.
    null, alternative
        The variance of a unit's move of the difference: its share in the exchange test's (but for
        the square of the difference itself), and that of the difference on new test sets.
    informative
        The share of the units in which exchanging A and B changes anything.
    trouble
        Why nothing can be planned with it, or None.
    """

    units: int
    null: float
    alternative: float
    informative: float
    trouble: str | None

    @classmethod
    def of(cls, paired: PairedCounts, metric: str, beta: float) -> _Pilot:
        (a, b), number = contributions(paired, metric, beta=beta)
        units = int(paired.n_units if paired.has_units else paired.cases.sum())
        (x_a, y_a), (x_b, y_b) = ((number @ x, number @ y) for x, y in (a, b))
        n = float(number.sum())
        if not (y_a > 0 and y_b > 0):
            return cls(units, math.nan, math.nan, math.nan, _UNDEFINED)
        dx, dy = b[0] - a[0], b[1] - a[1]
        informative = float(number[(dx != 0) | (dy != 0)].sum())
        trouble = _BLIND if not informative > 0 else _ALONE if n < 2 else None
        if trouble:
            return cls(units, math.nan, math.nan, math.nan, trouble)
        # each of all units, empty ones included, moves the difference by 1/units on average
        exchanged = units * (dx - (x_a + x_b) / (y_a + y_b) * dy) / ((y_a + y_b) / 2)
        moved = units * ((b[0] - x_b / y_b * b[1]) / y_b - (a[0] - x_a / y_a * a[1]) / y_a)
        null = number @ exchanged**2 / units - (number @ exchanged / units) ** 2
        alternative = n / (n - 1) * (number @ moved**2) / units
        return cls(units, max(0.0, float(null)), float(alternative), informative / units, None)

    def power_of(
        self, difference: float, units: int, level: float
    ) -> tuple[float | None, str | None]:
        """The probability that the exchange test rejects, and what must be said of it."""
        if self.trouble or math.isnan(difference):
            return None, self.trouble or _UNDEFINED
        note = _CANNOT if units < _fewest(level) else None
        return min(self._normal_power(difference, units, level), self._possible(units, level)), note

    def units_for(
        self, difference: float, power: float, level: float
    ) -> tuple[int | None, str | None]:
        """The least number of units that have the power."""
        if self.trouble or math.isnan(difference):
            return None, self.trouble or _UNDEFINED
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
        self, power: float, units: int, level: float
    ) -> tuple[float | None, str | None]:
        """The least difference that shows with this power."""
        if self.trouble:
            return None, self.trouble
        if units < _fewest(level):
            return None, _CANNOT
        if self._possible(units, level) < power or self._normal_power(1.0, units, level) < power:
            return None, "no difference up to 1 would show with this power"
        if self._normal_power(0.0, units, level) >= power:
            return 0.0, None
        low, high = 0.0, 1.0
        for _ in range(80):
            middle = (low + high) / 2
            enough = self._normal_power(middle, units, level) >= power
            low, high = (low, middle) if enough else (middle, high)
        return high, None

    def _normal_power(self, difference: float, units: float, level: float) -> float:
        """The probability that the difference leaves ±z·s0 when it is centred on its true value."""
        threshold = normal_quantile(level) * math.sqrt(self.null + difference**2)
        shift, spread = difference * math.sqrt(units), math.sqrt(self.alternative)
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
