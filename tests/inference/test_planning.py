"""How much data would settle it?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

import probative as pv
from probative.errors import InputError
from probative.inference.clusters import variance_of_difference

PILOT = pv.PairedCounts([30, 20, 45, 18, 400, 60, 70])


def textbook_power(difference, deviation, units, level):
    """Of a two-sided z-test, both tails."""
    z = stats.norm.ppf((1 + level) / 2)
    shift = difference * math.sqrt(units) / deviation
    return stats.norm.sf(z - shift) + stats.norm.cdf(-z - shift)


def pilot_deviation(paired, metric="f1"):
    variance, n = variance_of_difference(paired, metric)
    return math.sqrt(variance * n)


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_sample_size_is_the_least_that_has_the_power(power, level):
    found = pv.plan(PILOT, "f1", difference=0.02, power=power, level=level)
    deviation = pilot_deviation(PILOT)
    assert textbook_power(0.02, deviation, found.units, level) >= power
    assert textbook_power(0.02, deviation, found.units - 1, level) < power
    assert found.observed_units == 643


def test_power_of_a_given_size():
    found = pv.plan(PILOT, "f1", difference=0.02, units=1000)
    expected = textbook_power(0.02, pilot_deviation(PILOT), 1000, 0.95)
    assert found.power == pytest.approx(expected, rel=1e-12)


def test_smallest_detectable_difference():
    found = pv.plan(PILOT, "recall", power=0.9, units=5000)
    deviation = pilot_deviation(PILOT, "recall")
    expected = optimize.brentq(
        lambda d: textbook_power(d, deviation, 5000, 0.95) - 0.9, 1e-9, 1, xtol=1e-15
    )
    assert found.difference == pytest.approx(expected, rel=1e-9)


def test_recall_of_paired_items_by_hand():
    """Items are right or wrong: the variance is that of a difference of two shares."""
    table = pv.PairedCounts([10, 0, 25, 0, 60, 0, 5])
    d = (25 - 10) / 100
    variance = ((10 + 25) / 100 - d**2) * 100 / 99
    effect = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    expected = math.ceil((effect / d) ** 2 * variance)
    found = pv.plan(table, "recall")
    assert found.difference == pytest.approx(d)
    assert found.units == pytest.approx(expected, abs=1)


def test_units_are_what_varies():
    rows = [[3, 0, 0, 0, 1, 0, 0], [0, 0, 4, 0, 1, 0, 0], [0, 0, 0, 0, 5, 0, 0]]
    sentences = pv.PairedCounts(rows, [20, 25, 30])
    by_unit, by_item = pv.plan(sentences, "f1"), pv.plan(sentences.total(), "f1")
    assert by_unit.observed_units == 75
    # entities of a sentence fall together, so more of them are needed
    per_sentence = sentences.total().cases.sum() / 75
    assert by_unit.units * per_sentence > 2 * by_item.units


@given(
    cases=st.lists(st.integers(0, 50), min_size=7, max_size=7),
    difference=st.floats(0.001, 0.5),
    power=st.floats(0.1, 0.99),
)
def test_the_three_questions_agree(cases, difference, power):
    paired = pv.PairedCounts(cases)
    sized = pv.plan(paired, "f1", difference=difference, power=power)
    if sized.units is None:
        assert not pilot_deviation(paired) > 0
        return
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
    assert math.isnan(pv.plan(same, "f1", difference=0.1, units=10).power)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"difference": 0.1, "power": 0.8, "units": 10}, "units: difference, power and units"),
        ({"power": 1.0}, "power: 1.0 is not between 0 and 1"),
        ({"level": 0.0}, "level: 0.0 is not between 0 and 1"),
        ({"units": 0}, "units: 0 is not a whole number >= 1"),
        ({"units": 1.5}, "units: 1.5 is not a whole number >= 1"),
        ({"difference": math.nan}, "difference: nan is not a finite number >= 0"),
        ({"metric": "bleu"}, "metric: unknown 'bleu'"),
    ],
)
def test_wrong_arguments(wrong, message):
    with pytest.raises(InputError) as error:
        pv.plan(PILOT, **wrong)
    assert message in str(error.value)
    with pytest.raises(InputError, match="paired: expected PairedCounts, not list"):
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
