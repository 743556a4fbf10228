"""Plan how many units, or runs and units, a comparison needs."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from probative._validation import one_number, open_probability, positive, whole_number
from probative.errors import ONE_POINT, InputError
from probative.inference.intervals import normal_quantile
from probative.inference.runs import add_squares
from probative.inference.units import contributions, student_quantile
from probative.results.plans import Plan
from probative.results.runs import RunsPlan, RunsSurface, VarianceParts

if TYPE_CHECKING:
    from probative.counts import PairedCounts
    from probative.results import Comparison

_MOST_UNITS = 10**15  # more than anybody will ever have
_SYSTEMS_NEVER_DIFFER = "the systems never differ in the pilot, so their variation is unknown"
_PILOT_OF_ONE_UNIT = "the pilot is one unit, so the variation between units is unknown"
UNDEFINED = "the denominator of a score is 0 in the pilot"
_TOO_FEW_UNITS_TO_REJECT = "with so few units the exact test cannot reject, whatever it sees"


def plan_from_pilot(
    pilot: Pilot,
    metric: str,
    observed: float,
    *,
    difference: float | None = None,
    power: float | None = None,
    units: int | None = None,
    level: float = 0.95,
    most: float = 1.0,
) -> Plan:
    """Compute the plan from the variation of the units in a pilot, for any kind of score."""
    level = open_probability("level", level)
    if difference is not None and power is not None and units is not None:
        raise InputError(
            "units: difference, power and units are all given; expected at most two of them"
        )
    power = None if power is None else open_probability("power", power)
    units = None if units is None else whole_number("units", units)
    note = pilot.trouble
    if units is not None and power is not None:
        smallest = None
        if note is None:
            smallest, note = pilot.smallest_difference(power, units, level, most)
        return Plan(metric, smallest, power, level, units, int(pilot.units), note)
    wanted = abs(observed) if difference is None else _wanted_difference(difference, most)
    if note is None and math.isnan(wanted):
        note = UNDEFINED
    if units is not None:
        reached = pilot.power(wanted, units, level) if note is None else None
        if note is None and units < _fewest(level):
            note = _TOO_FEW_UNITS_TO_REJECT
        return Plan(metric, wanted, reached, level, units, int(pilot.units), note)
    enough, needed = 0.8 if power is None else power, None
    if note is None and wanted:
        needed = _least(
            lambda number: pilot.power(wanted, number, level) >= enough, _fewest(level), _MOST_UNITS
        )
        note = None if needed else f"more than {_MOST_UNITS:.0e} units are needed"
    return Plan(metric, wanted, enough, level, needed, int(pilot.units), note)


def _wanted_difference(difference: float, most: float) -> float:
    wanted = positive("difference", abs(one_number("difference", difference)), zero=True)
    if wanted > most:
        size = " in size" if difference < 0 else ""
        raise InputError(
            f"difference: {difference!r} is more than {most:g}{size}; expected a fraction of "
            f"1: {ONE_POINT}"
        )
    return wanted


@dataclass(frozen=True)
class Pilot:
    """The variation of one unit in a pilot, and how often an exchange changes anything."""

    units: float  # with empty ones
    # the second, third and fourth central moments of a unit's contribution to the difference, in
    # the direction of the observed difference
    moments: tuple[float, float, float]
    informative: float  # share of the units in which exchanging A and B changes anything
    trouble: str | None  # why nothing can be planned

    @classmethod
    def of(cls, paired: PairedCounts, metric: str, beta: float) -> Pilot:
        """Return the pilot from the cases of two systems."""
        (a, b), number = contributions(paired, metric, beta=beta, pooled=True)
        units = float(paired.n_units if paired.has_units else paired.cases.sum())
        return cls.of_ratios(a, b, number, units)

    @classmethod
    def of_ratios(
        cls, a: tuple[Any, Any], b: tuple[Any, Any], number: NDArray[Any], units: float
    ) -> Pilot:
        """Return the pilot from x and y of the units of two ratios, at the mean of both."""
        (x_a, y_a), (x_b, y_b) = ((number @ x, number @ y) for x, y in (a, b))
        if not (y_a > 0 and y_b > 0):
            return cls.without_any(units, UNDEFINED)
        dx, dy = b[0] - a[0], b[1] - a[1]
        informative = float(number[(dx != 0) | (dy != 0)].sum())
        added = units * (dx - (x_a + x_b) / (y_a + y_b) * dy) / ((y_a + y_b) / 2)
        return cls.of_units(added, number, units, informative)

    @classmethod
    def of_units(
        cls, added: NDArray[np.float64], number: NDArray[Any], units: float, informative: float
    ) -> Pilot:
        """Return the pilot from the contributions of the units to the difference."""
        # `added` is that of a unit of each kind times the number of all units; `informative` is a
        # number of units
        if not informative > 0:
            return cls.without_any(units, _SYSTEMS_NEVER_DIFFER)
        if number.sum() < 2:
            return cls.without_any(units, _PILOT_OF_ONE_UNIT)
        # empty units add nothing but count, because a new sample will contain them, too
        added, number = np.append(added, 0.0), np.append(number, units - number.sum())
        mean = number @ added / units
        second, third, fourth = (float(number @ (added - mean) ** k) / units for k in (2, 3, 4))
        third = math.copysign(1, mean) * third if mean else -abs(third)
        second *= units / (units - 1)
        return cls(units, (second, third, fourth), informative / units, None)

    @classmethod
    def without_any(cls, units: float, trouble: str) -> Pilot:
        """Return a pilot from which nothing can be planned, with the reason."""
        return cls(units, (math.nan, math.nan, math.nan), math.nan, trouble)

    def smallest_difference(
        self, power: float, units: int, level: float, most: float
    ) -> tuple[float | None, str | None]:
        """Return the smallest difference that is detected with this power, and a note."""
        if units < _fewest(level):
            return None, _TOO_FEW_UNITS_TO_REJECT
        if self.power(most, units, level) < power:
            return None, f"no difference up to {most:g} is detectable with this power"
        if self._normal_power(0.0, units, level) >= power:
            return 0.0, None
        low, high = 0.0, most
        for _ in range(80):
            middle = (low + high) / 2
            enough = self._normal_power(middle, units, level) >= power
            low, high = (low, middle) if enough else (middle, high)
        return high, None

    def power(self, difference: float, units: float, level: float) -> float:
        """Return the probability that the exchange test rejects."""
        # at most the probability of as many informative units as the exact test needs to reject
        fewest = _fewest(level)
        if units < fewest:
            return 0.0
        possible = float(special.betainc(fewest, units - fewest + 1, self.informative))
        return min(self._normal_power(difference, units, level), possible)

    def _normal_power(self, difference: float, units: float, level: float) -> float:
        """Return the probability that the difference, centred on its true value, leaves ±z·s0."""
        second, third, fourth = self.moments
        if difference == 0 and second == 0:
            return 0.0
        d, null = difference, second + difference**2  # s0²
        variance = (
            second
            - d / null * (third + 2 * d * second)
            + (d / null) ** 2 / 4 * (fourth + 4 * d * third + (4 * d**2 - second) * second)
        )
        spread = math.sqrt(max(0.0, variance))
        threshold, shift = normal_quantile(level) * math.sqrt(null), d * math.sqrt(units)
        if not spread > 0:
            return float(shift > threshold)
        above, below = (side * shift - threshold for side in (1, -1))
        return float(special.ndtr(above / spread) + special.ndtr(below / spread))


def _fewest(level: float) -> int:
    """Return the smallest number k of informative units whose least p-value, 2·(1/2)^k, rejects."""
    return math.ceil(1 - math.log2(1 - level))


def _least(enough: Callable[[float], Any], low: int, most: int) -> int | None:
    """Return the smallest whole number from `low` on that is enough; None if `most` is not."""
    if not enough(float(most)):
        return None
    return low + bisect_left(range(low, most), True, key=lambda number: bool(enough(float(number))))


# --- Numbers of runs and units for a comparison of procedures
#
# The variance by units falls with the number of units, that by runs with the number of runs, and
# their interaction with both. Intervals and power are those of `compare_procedures`: Student's with
# Satterthwaite's degrees of freedom. The runs of both systems are assumed to have the same
# variance, because a handful of runs hardly shows which has the larger one.

_RUNS_TRIED = (3, 5, 10, 20)
_UNITS_TRIED = (0.25, 0.5, 1, 2, 4, 10)  # multiples of the units of the pilot
_FIGURE_STEPS = 60  # in either direction
_MOST_UNITS_WITH_RUNS = 10**12  # more than anybody will ever have
_NO_VARIATION = "nothing varies in the pilot, so the variation is unknown"


def plan_runs(
    pilot: Comparison,
    *,
    difference: float | None = None,
    power: float = 0.8,
    level: float | None = None,
    runs: Sequence[int] | None = None,
    units: Sequence[int] | None = None,
) -> RunsPlan:
    """Plan other numbers of runs and units, from a comparison of procedures."""
    parts = pilot.variance
    assert parts is not None  # noqa: S101  # only comparisons of models have none
    level = pilot.level if level is None else open_probability("level", level)
    power = open_probability("power", power)
    wanted = abs(pilot.difference) if difference is None else _wanted_difference(difference, 1.0)
    design = RunsDesign.of(parts)
    observed = sorted({parts.n_runs_a, parts.n_runs_b})
    tried = sorted({*_RUNS_TRIED, *observed} if runs is None else set(runs))
    sizes = [max(2, round(t * parts.n_units)) for t in _UNITS_TRIED] if units is None else units
    sizes = sorted({whole_number("units", n, least=2) for n in sizes})
    tried = [whole_number("runs", r, least=2) for r in tried]
    grid = np.array(tried)[:, None], np.array(tried)[:, None], np.array(sizes)
    now = parts.n_runs_a, parts.n_runs_b
    like_it = float(design.half_width(*now, parts.n_units, level))
    another = float(design.half_width(now[0] + 1, now[1] + 1, parts.n_units, level))
    half_width = like_it
    if level == pilot.level:  # then use the actual half-width, not the expected one
        half_width = (pilot.high - pilot.low) / 2
    down, across = (
        np.geomspace(min(axis), max(*axis, 2 * min(axis)), _FIGURE_STEPS)
        for axis in ({*tried, *now}, {*sizes, parts.n_units})
    )
    fine = down[:, None], down[:, None], across
    return RunsPlan(
        metric=pilot.metric,
        level=level,
        difference=wanted,
        power=power,
        runs=tuple(tried),
        units=tuple(sizes),
        half_widths=_rows(design.half_width(*grid, level)),
        powers=_rows(design.power(wanted, *grid, level)),
        units_needed=tuple(design.units_for(wanted, power, r, level) for r in tried),
        n_runs_a=now[0],
        n_runs_b=now[1],
        observed_units=parts.n_units,
        half_width=half_width,
        half_width_with_another_run=half_width * another / like_it if like_it else 0.0,
        # the smallest number of units whose interval is no longer than with another run
        units_instead=_least(
            lambda n: design.half_width(*now, n, level) <= another * (1 + 1e-12),
            parts.n_units,
            _MOST_UNITS_WITH_RUNS,
        ),
        shares=parts.shares,
        paired_runs=parts.paired_runs,
        note=None if parts.total > 0 else _NO_VARIATION,
        surface=RunsSurface(
            down, across, design.half_width(*fine, level), design.power(wanted, *fine, level)
        ),
    )


def _rows(table: ArrayLike) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in np.asarray(table, dtype=np.float64).tolist())


@dataclass(frozen=True)
class RunsDesign:
    """The variances of one unit, one run, and one run on one unit."""

    unit: float
    run: float  # of the true score of a run; of the difference of two if runs come in pairs
    both: float  # of the interaction of a run, or a pair of runs, with a unit
    paired_runs: bool

    @classmethod
    def of(cls, parts: VarianceParts) -> RunsDesign:
        """Return the design from the variance components of a mean difference."""
        n, a, b = parts.n_units, parts.n_runs_a, parts.n_runs_b
        kinds = 1 if parts.paired_runs else 2
        return cls(
            parts.units * n,
            (parts.runs_a * a + parts.runs_b * b) / kinds,
            (parts.interaction_a * a + parts.interaction_b * b) * n / kinds,
            parts.paired_runs,
        )

    def mean_squares(self, runs_a: Any, runs_b: Any, units: Any) -> tuple[Any, Any, Any]:
        """Return the true variance, the (larger) estimated one, and its degrees of freedom."""
        numbers = (runs_a,) if self.paired_runs else (runs_a, runs_b)
        both = sum(self.both / (runs * units) for runs in numbers)
        by_unit = self.unit / units + both
        by_run = [((self.run + self.both / units) / runs, runs - 1) for runs in numbers]
        estimated, freedom = add_squares([(by_unit, units - 1), *by_run])
        return estimated - both, estimated, freedom

    def half_width(self, runs_a: Any, runs_b: Any, units: Any, level: float) -> Any:
        """Return half the expected length of the interval."""
        _, estimated, freedom = self.mean_squares(runs_a, runs_b, units)
        return student_quantile(level, freedom) * np.sqrt(estimated)

    def power(self, difference: float, runs_a: Any, runs_b: Any, units: Any, level: float) -> Any:
        """Return the probability that the test of the procedures rejects."""
        true, estimated, freedom = self.mean_squares(runs_a, runs_b, units)
        with np.errstate(invalid="ignore", divide="ignore"):
            shift = difference / np.sqrt(true)
            threshold = student_quantile(level, freedom) * np.sqrt(estimated / true)
            many = np.minimum(freedom, 1e6)  # practically normal
            above, below = (special.nctdtr(many, shift, end) for end in (threshold, -threshold))
            inside = above - below
            # the normal approximation, for far tails where SciPy returns NaN
            off = threshold * (1 - 1 / (4 * many)) - shift
            tail = special.ndtr(off / np.sqrt(1 + threshold**2 / (2 * many)))
        power = 1 - np.where(np.isnan(inside), tail, inside)
        return np.where(true > 0, np.clip(power, 0.0, 1.0), float(difference > 0))

    def units_for(self, difference: float, power: float, runs: int, level: float) -> int | None:
        """Return the smallest number of units with that power; None if no number has it."""
        return _least(
            lambda n: self.power(difference, runs, runs, n, level) >= power,
            2,
            _MOST_UNITS_WITH_RUNS,
        )
