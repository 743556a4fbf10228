"""How much data is needed?"""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

import probative as pv
from probative.errors import InputError

PILOT = pv.PairedCounts([30, 20, 45, 18, 400, 60, 70])


def added_by_units(paired, metric="f1"):
    """What each unit adds to the difference, written out; items where there are no units."""
    if paired.has_units:
        rows = np.repeat(paired.cases, paired._number(), axis=0)
    else:
        rows = np.repeat(np.eye(8), paired.cases.astype(int), axis=0)
    units = pv.PairedCounts(rows if paired.has_negatives else rows[:, :7])
    (xa, ya), (xb, yb) = (pv.metrics.ratio(c, metric) for c in (units.a, units.b))
    pooled = (xa.sum() + xb.sum()) / (ya.sum() + yb.sum())
    return len(rows) * ((xb - xa) - pooled * (yb - ya)) / ((ya.sum() + yb.sum()) / 2)


def expected_power(paired, difference, units, level, metric="f1"):
    """P(|T| > z) of the statistic T = mean(u)/sqrt(mean(u²)/n), by the delta method.

    The units are moved so that their mean is the difference asked for.
    """
    u = added_by_units(paired, metric)
    u = u * (1 if u.mean() > 0 else -1)
    bessel = len(u) / (len(u) - 1)
    u = u - u.mean() + difference
    null = bessel * np.var(u) + difference**2
    influence = u - difference * u**2 / (2 * null)
    variance = np.var(influence) + (bessel - 1) * np.var(u)
    # the second moment alone is corrected for the mean being estimated
    z = stats.norm.ppf((1 + level) / 2)
    shift, spread = difference * math.sqrt(units), math.sqrt(variance)
    threshold = z * math.sqrt(null)
    return stats.norm.sf((threshold - shift) / spread) + stats.norm.cdf(
        (-threshold - shift) / spread
    )


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_sample_size_is_the_least_that_has_the_power(power, level):
    found = pv.plan(PILOT, "f1", difference=0.02, power=power, level=level)
    assert expected_power(PILOT, 0.02, found.units * 1.002, level) >= power
    assert expected_power(PILOT, 0.02, found.units * 0.998, level) < power
    assert pv.plan(PILOT, "f1", difference=0.02, units=found.units, level=level).power >= power
    fewer = pv.plan(PILOT, "f1", difference=0.02, units=found.units - 1, level=level)
    assert fewer.power < power
    assert found.observed_units == 643


@pytest.mark.parametrize("difference", [0.01, 0.05, 0.2])
def test_power_of_a_given_size(difference):
    found = pv.plan(PILOT, "f1", difference=difference, units=300)
    expected = expected_power(PILOT, difference, 300, 0.95)
    assert found.power == pytest.approx(expected, rel=2e-3)


def test_power_without_much_difference_is_the_textbooks():
    """n = ((z_a·s0 + z_b·s1)/d)², and s1 is s0 where the difference is small."""
    deviation = np.std(added_by_units(PILOT, "recall"), ddof=1)
    effect = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    found = pv.plan(PILOT, "recall", difference=0.001)
    assert found.units == pytest.approx((effect * deviation / 0.001) ** 2, rel=0.01)


def test_smallest_detectable_difference():
    found = pv.plan(PILOT, "recall", power=0.9, units=5000)
    expected = optimize.brentq(
        lambda d: expected_power(PILOT, d, 5000, 0.95, "recall") - 0.9, 1e-9, 1, xtol=1e-15
    )
    assert found.difference == pytest.approx(expected, rel=2e-3)


def test_units_are_what_varies():
    rows = [[3, 0, 0, 0, 1, 0, 0], [0, 0, 4, 0, 1, 0, 0], [0, 0, 0, 0, 5, 0, 0]]
    sentences = pv.PairedCounts(rows, [20, 25, 30])
    by_unit, by_item = pv.plan(sentences, "f1"), pv.plan(sentences.total(), "f1")
    assert by_unit.observed_units == 75
    # entities of a sentence fall together, so more of them are needed
    per_sentence = sentences.total().cases.sum() / 75
    assert by_unit.units * per_sentence > 2 * by_item.units


def test_empty_units_have_to_be_collected_too():
    rows = np.random.default_rng(2).poisson([0.3, 0.2, 0.5, 0.2, 3, 0.3, 0.4], (80, 7))
    filled = pv.plan(pv.PairedCounts(rows), "f1")
    padded = pv.plan(pv.PairedCounts([*rows, [0] * 7], [1] * 80 + [80]), "f1")
    assert padded.units == pytest.approx(2 * filled.units, rel=0.02)
    assert (filled.observed_units, padded.observed_units) == (80, 160)


@given(
    cases=st.lists(st.integers(0, 50), min_size=7, max_size=7),
    difference=st.floats(0.001, 0.5),
    power=st.floats(0.1, 0.99),
)
def test_the_three_questions_agree(cases, difference, power):
    paired = pv.PairedCounts(cases)
    sized = pv.plan(paired, "f1", difference=difference, power=power)
    if sized.units is None:
        assert sized.note
        return
    assert sized.units >= 6
    reached = pv.plan(paired, "f1", difference=difference, units=sized.units).power
    assert reached >= power - 1e-9
    smallest = pv.plan(paired, "f1", power=power, units=sized.units).difference
    assert smallest <= difference * (1 + 1e-9)
    swapped = pv.plan(paired.swapped(), "f1", difference=difference, power=power)
    assert swapped.units == sized.units


def test_where_no_number_would_do():
    same = pv.PairedCounts([0, 0, 0, 0, 40, 6, 7])
    found = pv.plan(same, "f1")
    assert found.units is None
    assert "no number of units" in str(found)
    assert found.to_dict()["units"] is None
    tie = pv.plan(pv.PairedCounts([5, 0, 5, 0, 40, 0, 7]), "recall")
    assert (tie.difference, tie.units) == (0, None)
    blind = pv.plan(same, "f1", difference=0.1, units=10)
    assert blind.power is None
    assert blind.to_dict()["power"] is None
    assert "never differ" in str(blind)
    assert pv.plan(same, "f1", power=0.5, units=10).difference is None
    one = pv.plan(pv.PairedCounts([[0, 0, 9, 1, 40, 2, 3]]), "f1")
    assert one.units is None
    assert "one unit" in one.note
    undefined = pv.plan(pv.PairedCounts([0, 0, 3, 1, 0, 0, 2]), "precision")
    assert undefined.units is None
    assert "denominator" in undefined.note


def test_too_few_units_cannot_reject():
    """Five informative units have a p-value of 1/16 at the least; a difference of 1 or not."""
    found = pv.plan(PILOT, "f1", difference=1.0, units=5)
    assert found.power == 0
    assert "cannot reject" in found.note
    assert pv.plan(PILOT, "f1", power=0.5, units=5).difference is None
    always = pv.PairedCounts([[0, 0, 1, 0, 3, 0, 0], [0, 0, 2, 0, 3, 0, 1]], [20, 20])
    assert pv.plan(always, "recall").units == 6
    assert pv.plan(always, "recall", level=0.99).units == 8
    clear = pv.PairedCounts([[0, 0, 1, 0, 3, 0, 0]] * 6)
    assert pv.randomization_test(clear, "recall", by="unit").pvalue == pytest.approx(1 / 32)
    # where only a tenth of the units tells anything, there must be six of these
    rarely = pv.PairedCounts([[0, 0, 1, 0, 3, 0, 0], [0, 0, 0, 0, 3, 0, 1]], [10, 90])
    needed = pv.plan(rarely, "recall", difference=0.9, power=0.8).units
    assert stats.binom.sf(5, needed, 0.1) >= 0.8 > stats.binom.sf(5, needed - 1, 0.1)


@pytest.mark.parametrize("difference", [1e-100, 1e-9, 1e-5, 1.0])
@pytest.mark.parametrize("level", [1e-6, 0.5, 0.9999999])
def test_no_difference_is_too_small_or_too_large_to_ask_about(difference, level):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sized = pv.plan(PILOT, "f1", difference=difference, level=level)
        assert sized.units is None or 2 <= sized.units <= 10**15
        for units in (1, 10, 10**12):
            power = pv.plan(PILOT, "f1", difference=difference, units=units, level=level).power
            assert 0 <= power <= 1 + 1e-12
            smallest = pv.plan(PILOT, "f1", power=0.8, units=units, level=level).difference
            assert smallest is None or 0 <= smallest <= 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"difference": 0.1, "power": 0.8, "units": 10}, "units: difference, power and units"),
        ({"power": 1.0}, "power: 1.0 is not between 0 and 1"),
        ({"level": 0.0}, "level: 0.0 is not between 0 and 1"),
        ({"units": 0}, "units: 0 is not a whole number >= 1"),
        ({"units": 1.5}, "units: 1.5 is not a whole number >= 1"),
        ({"difference": math.nan}, "difference: nan is not a finite number >= 0"),
        ({"difference": 1e-320}, "difference: 1e-320 is too small; expected"),
        ({"difference": 5}, "difference: 5 is more than 1; expected a fraction"),
        ({"difference": -1.5}, "difference: -1.5 is more than 1 in size; expected a fraction"),
        ({"metric": "bleu"}, "metric: unknown 'bleu'"),
    ],
)
def test_wrong_arguments(wrong, message):
    with pytest.raises(InputError) as error:
        pv.plan(PILOT, **wrong)
    assert message in str(error.value)
    with pytest.raises(InputError, match="pred: missing; expected a second input beside gold"):
        pv.plan([1, 2])


def test_the_power_is_what_the_test_shows():
    """A quick check by simulation; the recorded study is the thorough one."""
    rng = np.random.default_rng(3)
    shares = PILOT.cases[:7] / PILOT.cases.sum()
    observed = pv.metrics.f1(PILOT.b) - pv.metrics.f1(PILOT.a)
    found = pv.plan(PILOT, "f1", difference=observed, power=0.8)
    draws = 400
    hits = sum(
        pv.randomization_test(pv.PairedCounts(rng.multinomial(found.units, shares))).pvalue <= 0.05
        for _ in range(draws)
    )
    assert hits / draws == pytest.approx(0.8, abs=4 * math.sqrt(0.16 / draws))
