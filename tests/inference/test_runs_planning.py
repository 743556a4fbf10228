"""How many runs, how many units."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inference.of_scores import compare_runs

import probative as pv
from probative.inference.planning import RunsDesign, plan_runs
from probative.results import VarianceParts


def pilot(seed=0, runs=5, units=150, spread=0.03, **how):
    rng = np.random.default_rng(seed)

    def run(skill):
        tp = rng.binomial(4, np.clip(skill + rng.normal(0, spread), 0, 1), units)
        return pv.Counts(tp, rng.binomial(2, 0.3, units), 4 - tp)

    sides = [[run(skill) for _ in range(runs)] for skill in (0.7, 0.74)]
    return compare_runs(*sides, **how).procedures


designs = st.builds(
    RunsDesign,
    st.floats(0.001, 1),
    st.floats(0, 0.01),
    st.floats(0.001, 0.5),
    st.booleans(),
)


@settings(max_examples=60, deadline=None)
@given(designs, st.integers(3, 20), st.integers(50, 5000), st.floats(0.001, 0.3))
def test_more_of_anything_never_hurts_much(design, runs, units, difference):
    def power(r, n):
        return float(design.power(difference, r, r, n, 0.95))

    assert power(runs, units) <= power(runs + 1, units) + 0.01
    assert power(runs, units) <= power(runs, 2 * units) + 0.06  # fewer degrees of freedom
    width, more = (float(design.half_width(r, r, units, 0.95)) for r in (runs, runs + 1))
    assert more <= width * (1 + 1e-12)


def test_power_is_what_simulated_runs_have():
    """Normal scores of runs and units: how often Satterthwaite's test rejects."""
    design = RunsDesign(0.05, 0.0004, 0.03, False)
    rng = np.random.default_rng(5)
    runs, units, difference, trials = 5, 100, 0.05, 4000
    shared = rng.normal(0, math.sqrt(design.unit), (trials, units))
    scores = []
    for _ in "ab":
        seeds = rng.normal(0, math.sqrt(design.run), (trials, runs, 1))
        both = rng.normal(0, math.sqrt(design.both), (trials, runs, units))
        scores.append(seeds + both)
    a, b = scores[0], scores[1] + shared[:, None] + difference
    gap = b.mean((1, 2)) - a.mean((1, 2))
    by_unit = np.var(b.mean(1) - a.mean(1), axis=1, ddof=1) / units
    by_run = [np.var(side.mean(2), axis=1, ddof=1) / runs for side in (a, b)]
    total = by_unit + by_run[0] + by_run[1]
    freedom = total**2 / (by_unit**2 / (units - 1) + (by_run[0] ** 2 + by_run[1] ** 2) / (runs - 1))
    from scipy import special

    rejected = np.mean(np.abs(gap) > -special.stdtrit(freedom, 0.025) * np.sqrt(total))
    expected = float(design.power(difference, runs, runs, units, 0.95))
    assert expected == pytest.approx(rejected, abs=0.03)
    assert 0.2 < expected < 0.9


def test_the_variances_are_those_of_the_parts():
    parts = VarianceParts(0.1, 0.02, 0.04, 0.03, 100, 4, 5, 0.01, 0.02)
    design = RunsDesign.of(parts)
    assert design.unit == pytest.approx(10)
    assert design.run == pytest.approx((0.08 + 0.2) / 2)
    assert design.both == pytest.approx((0.01 * 4 + 0.02 * 5) * 100 / 2)
    paired = RunsDesign.of(VarianceParts(0.1, 0.02, 0.0, 0.01, 100, 4, 4, 0.01, 0.0, True))
    assert (paired.run, paired.both) == pytest.approx((0.08, 4))


def test_the_plan_of_a_pilot():
    observed = pilot()
    plan = plan_runs(observed, difference=0.03, power=0.9)
    now = observed
    assert plan.half_width == (now.high - now.low) / 2
    assert plan.half_width_with_another_run < plan.half_width
    assert plan.runs == (3, 5, 10, 20)
    assert plan.observed_units in plan.units
    assert np.shape(plan.half_widths) == np.shape(plan.powers) == (4, len(plan.units))
    design = RunsDesign.of(now.variance)
    for runs, needed in zip(plan.runs, plan.units_needed, strict=True):
        if needed is None:
            assert design.power(0.03, runs, runs, 1e9, 0.95) < 0.9
        else:
            assert design.power(0.03, runs, runs, needed, 0.95) >= 0.9
            assert needed == 2 or design.power(0.03, runs, runs, needed - 1, 0.95) < 0.9
    assert sum(needed is None for needed in plan.units_needed) in (1, 2, 3)  # both kinds are tried
    assert len(plan.records()) == 4 * len(plan.units)
    assert plan.to_dict()["runs"] == [3, 5, 10, 20]


def test_units_instead_of_a_run_do_as_much():
    plan = plan_runs(pilot(spread=0.01))
    if plan.units_instead is None:
        pytest.fail("seeds vary little here: units can replace a run")
    design = RunsDesign.of(pilot(spread=0.01).variance)
    another = design.half_width(6, 6, 150, 0.95)
    assert design.half_width(5, 5, plan.units_instead, 0.95) <= another * (1 + 1e-9)
    assert design.half_width(5, 5, plan.units_instead - 1, 0.95) > another
    assert plan_runs(pilot(spread=0.2)).units_instead is None


def test_paired_runs_are_planned_in_pairs():
    plan = plan_runs(pilot(paired_runs=True), runs=[4, 8], units=[100, 200])
    assert plan.paired_runs
    assert plan.runs == (4, 8)
    assert plan.half_widths[1][1] < plan.half_widths[0][0]


def test_nothing_varies():
    same = pv.Counts([3, 2, 4], [0, 1, 0], [1, 1, 0])
    plan = plan_runs(compare_runs([same] * 3, [same] * 3).procedures, difference=0.1)
    assert "nothing varies" in plan.note
    assert plan.powers[0][0] == 1
    with pytest.raises(pv.InputError, match="there is no figure"):
        plan.plot()


def test_what_cannot_be_planned_is_refused():
    one = pv.Counts([3, 2], [0, 1], [1, 1])
    with pytest.raises(pv.InputError, match="A: one run"):
        pv.plan({"A": [one], "B": [one]})
    for name, value in (("difference", 3), ("runs", [1]), ("units", [0]), ("power", 1.5)):
        with pytest.raises(pv.InputError, match=name):
            plan_runs(pilot(), **{name: value})


def test_a_plan_in_words_and_as_a_figure():
    plan = plan_runs(pilot(), difference=0.03)
    text = plan.to_markdown()
    assert "One more run of each system" in text
    assert f"{plan.observed_units:,} units" in text
    (axis,) = plan.plot()
    assert axis.get_xlabel() == "units"
    assert "power 0.8" in axis.get_title()
