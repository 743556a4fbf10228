"""How many runs, how many units? What the limits for procedures would be with other numbers.

From a comparison of several runs: the variance by units falls with the units, that by runs with
the runs, and that by what runs do to single units with both. Limits and power are those that
`compare_runs` would give, Student's with Satterthwaite's degrees of freedom. The runs of both
systems are taken to spread alike: a handful of them hardly tells which spreads more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import one_number, open_probability, whole_number
from probative.errors import InputError
from probative.inference.clusters import student_quantile
from probative.inference.runs import add_squares
from probative.results.runs import RunsPlan, RunsSurface

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from probative.results.runs import RunsDifference, VarianceParts

__all__ = ["RunsDesign", "plan_runs"]

_RUNS = (3, 5, 10, 20)
_TIMES = (0.25, 0.5, 1, 2, 4, 10)
_STEPS = 60  # of a figure, in either direction
_MOST = 10**12  # units; nobody will ever have more
_NOTHING = "nothing varies in the pilot, which says nothing about how others would"


def plan_runs(
    pilot: RunsDifference,
    *,
    difference: float | None = None,
    power: float = 0.8,
    level: float | None = None,
    runs: Sequence[int] | None = None,
    units: Sequence[int] | None = None,
) -> RunsPlan:
    """Half-widths and power with other numbers of runs and units.

    Parameters
    ----------
    pilot
        A comparison of two systems with two runs or more each.
    difference
        The true difference of the procedures to be shown; by default the observed one.
    power
        The probability of showing it.
    level
        Of the limits; by default that of the pilot.
    runs, units
        The numbers of runs of either system and of units to try; by default a range about those of
        the pilot.

    Examples
    --------
    >>> import numpy as np
    >>> import probative as pv
    >>> from probative.inference.runs import compare_runs
    >>> from probative.inference.runs_planning import plan_runs
    >>> rng = np.random.default_rng(1)
    >>> def run(ability):
    ...     tp = rng.binomial(3, ability + rng.normal(0, 0.02), 200)
    ...     return pv.Counts(tp=tp, fp=rng.binomial(1, 0.3, 200), fn=3 - tp)
    >>> pilot = compare_runs([run(0.75) for _ in range(5)], [run(0.77) for _ in range(5)])
    >>> plan = plan_runs(pilot, difference=0.02)
    >>> plan.runs, len(plan.units)
    ((3, 5, 10, 20), 6)
    >>> plan.half_widths[1][2] > plan.half_widths[2][2] > plan.half_widths[2][3]
    True
    """
    if pilot.procedures is None:
        raise InputError(f"pilot: {pilot.note}; expected two runs or more of either system")
    parts = pilot.procedures.parts
    level = pilot.level if level is None else open_probability("level", level)
    power = open_probability("power", power)
    wanted = abs(pilot.procedures.estimate if difference is None else _fraction(difference))
    design = RunsDesign.of(parts)
    observed = sorted({parts.n_runs_a, parts.n_runs_b})
    tried = sorted({*(_RUNS if runs is None else runs), *(observed if runs is None else ())})
    sizes = [max(2, round(t * parts.n_units)) for t in _TIMES] if units is None else units
    sizes = sorted({whole_number("units", n, least=2) for n in sizes})
    tried = [whole_number("runs", r, least=2) for r in tried]
    grid = np.array(tried)[:, None], np.array(tried)[:, None], np.array(sizes)
    now = parts.n_runs_a, parts.n_runs_b
    like_it = float(design.half_width(*now, parts.n_units, level))
    another = float(design.half_width(now[0] + 1, now[1] + 1, parts.n_units, level))
    half_width = like_it
    if level == pilot.level:  # as it is, rather than as it would be expected
        half_width = (pilot.procedures.high - pilot.procedures.low) / 2
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
        units_instead=design.units_within(another, *now, level, least=parts.n_units),
        shares=parts.shares,
        paired_runs=parts.paired_runs,
        note=None if parts.total > 0 else _NOTHING,
        surface=_surface(
            design, wanted, sorted({*tried, *now}), sorted({*sizes, parts.n_units}), level
        ),
    )


def _surface(
    design: RunsDesign, difference: float, runs: list[int], units: list[int], level: float
) -> RunsSurface:
    down, across = (np.geomspace(own[0], max(own[-1], 2 * own[0]), _STEPS) for own in (runs, units))
    grid = down[:, None], down[:, None], across
    half_widths = design.half_width(*grid, level)
    return RunsSurface(down, across, half_widths, design.power(difference, *grid, level))


def _fraction(difference: Any) -> float:
    wanted = one_number("difference", difference)
    if not abs(wanted) <= 1:
        raise InputError(
            f"difference: {difference!r}; expected a fraction of 1, as 0.02 for two points"
        )
    return wanted


def _rows(table: ArrayLike) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in np.asarray(table, dtype=np.float64).tolist())


@dataclass(frozen=True)
class RunsDesign:
    """Variances of one unit, one run, and one run on one unit.

    Attributes
    ----------
    unit
        Of what a unit adds to the difference, whatever the run.
    run
        Of the true score of a run; of the difference of two, where runs are paired.
    both
        Of what a run (or a pair of them) does to a unit.
    paired_runs
        Whether there is one kind of runs, that of pairs.
    """

    unit: float
    run: float
    both: float
    paired_runs: bool

    @classmethod
    def of(cls, parts: VarianceParts) -> RunsDesign:
        """From the parts of the variance of a mean difference."""
        n, a, b = parts.n_units, parts.n_runs_a, parts.n_runs_b
        kinds = 1 if parts.paired_runs else 2
        return cls(
            parts.units * n,
            (parts.runs_a * a + parts.runs_b * b) / kinds,
            (parts.interaction_a * a + parts.interaction_b * b) * n / kinds,
            parts.paired_runs,
        )

    def mean_squares(self, runs_a: Any, runs_b: Any, units: Any) -> tuple[Any, Any, Any]:
        """The true variance, the estimated one, which is larger, and its degrees of freedom."""
        numbers = (runs_a,) if self.paired_runs else (runs_a, runs_b)
        both = sum(self.both / (runs * units) for runs in numbers)
        by_unit = self.unit / units + both
        by_run = [((self.run + self.both / units) / runs, runs - 1) for runs in numbers]
        estimated, freedom = add_squares([(by_unit, units - 1), *by_run])
        return estimated - both, estimated, freedom

    def half_width(self, runs_a: Any, runs_b: Any, units: Any, level: float) -> Any:
        """Half the length of the interval to be expected."""
        _, estimated, freedom = self.mean_squares(runs_a, runs_b, units)
        return student_quantile(level, freedom) * np.sqrt(estimated)

    def power(self, difference: float, runs_a: Any, runs_b: Any, units: Any, level: float) -> Any:
        """The probability that the test of the procedures rejects."""
        true, estimated, freedom = self.mean_squares(runs_a, runs_b, units)
        with np.errstate(invalid="ignore", divide="ignore"):
            shift = difference / np.sqrt(true)
            threshold = student_quantile(level, freedom) * np.sqrt(estimated / true)
            many = np.minimum(freedom, 1e6)  # as good as normal
            inside = special.nctdtr(many, shift, threshold) - special.nctdtr(
                many, shift, -threshold
            )
            # where SciPy gives up, far in a tail: the normal approximation
            middle = 1 - 1 / (4 * many)
            tail = special.ndtr(
                (threshold * middle - shift) / np.sqrt(1 + threshold**2 / (2 * many))
            )
        power = 1 - np.where(np.isnan(inside), tail, inside)
        return np.where(true > 0, np.clip(power, 0.0, 1.0), float(difference > 0))

    def units_for(self, difference: float, power: float, runs: int, level: float) -> int | None:
        """The least number of units with that power; None where no number has it."""
        return _least(lambda n: self.power(difference, runs, runs, n, level) >= power)

    def units_within(
        self, half_width: float, runs_a: int, runs_b: int, level: float, *, least: int = 2
    ) -> int | None:
        """The least number of units whose interval is no longer; None where none is."""
        return _least(
            lambda n: self.half_width(runs_a, runs_b, n, level) <= half_width * (1 + 1e-12), least
        )


def _least(enough: Callable[[float], Any], low: int = 2) -> int | None:
    """The least whole number that is enough."""
    if not enough(float(_MOST)):
        return None
    high = low
    while not enough(float(high)):
        low, high = high + 1, min(2 * high, _MOST)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(float(middle)) else (middle + 1, high)
    return high
