from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import probative as pv
from probative.data import load
from probative_studies import coverage as study

published = load("f1_intervals")
QUANTITIES = ("coverage", "length", "overshoot", "degeneracy")


@pytest.fixture(scope="module")
def conditions():
    return study.coverage_study()


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_tables_3_to_6_of_the_paper(conditions, quantity):
    assert len(conditions) == 18 * 4
    for found in conditions:
        by_method = published["tables"][quantity][found.scenario]
        assert found.method in by_method or quantity in ("overshoot", "degeneracy")
        values = by_method.get(found.method, [0] * 6)
        expected = values[published["n"].index(found.n)]
        assert getattr(found, quantity) == pytest.approx(expected, abs=0.0015), found


def brute_force(n, cells, method):
    """All tables of n items, one by one, with rational weights."""
    p = [Fraction(str(cells[name])) for name in ("p11", "p10", "p01", "p00")]
    true = 2 * p[0] / (2 * p[0] + p[1] + p[2])
    totals = dict.fromkeys(QUANTITIES, 0.0)
    mass = Fraction(0)
    for tp in range(n + 1):
        for fp in range(n + 1 - tp):
            for fn in range(n + 1 - tp - fp):
                if tp + fp + fn == 0:
                    continue
                tn = n - tp - fp - fn
                ways = comb(n, tp) * comb(n - tp, fp) * comb(n - tp - fp, fn)
                weight = ways * p[0] ** tp * p[1] ** fp * p[2] ** fn * p[3] ** tn
                mass += weight
                found = pv.interval(pv.Counts(tp, fp, fn), "f1", method)
                totals["coverage"] += float(weight) * (found.low <= float(true) <= found.high)
                totals["length"] += float(weight) * (found.high - found.low)
                totals["overshoot"] += float(weight) * (found.low < 0 or found.high > 1)
                totals["degeneracy"] += float(weight) * (found.low == found.high)
    return {name: value / float(mass) for name, value in totals.items()}


@pytest.mark.parametrize("method", study.METHODS)
def test_the_sum_equals_full_enumeration(method):
    for n, cells in (
        (1, {"p11": 0.5, "p10": 0.25, "p01": 0.15, "p00": 0.1}),
        (7, {"p11": 0.3, "p10": 0.2, "p01": 0.1, "p00": 0.4}),
    ):
        (found,) = study.operating_characteristics(n, cells, [method])
        expected = brute_force(n, cells, method)
        for quantity in QUANTITIES:
            assert getattr(found, quantity) == pytest.approx(expected[quantity], abs=1e-12)


@pytest.mark.parametrize("metric", ["precision", "recall", "jaccard"])
def test_other_metrics_agree_with_simulation(metric):
    cells = {"p11": 0.3, "p10": 0.1, "p01": 0.2, "p00": 0.4}
    (exact,) = study.operating_characteristics(60, cells, ["wilson"], metric=metric)
    draws = np.random.default_rng(3).multinomial(60, [*cells.values()], size=100_000)
    found = pv.interval(pv.Counts(*draws.T), metric)
    true = 0.3 / {"precision": 0.4, "recall": 0.5, "jaccard": 0.6}[metric]
    covered = (found.low <= true) & (true <= found.high)
    assert exact.coverage == pytest.approx(covered.mean(), abs=4 * 0.5 / 100_000**0.5)
    assert exact.length == pytest.approx((found.high - found.low).mean(), rel=1e-3)


@settings(max_examples=30)
@given(st.integers(1, 10**6), st.one_of(st.sampled_from([0.0, 1.0]), st.floats(1e-12, 1 - 1e-12)))
def test_binomial_weights(trials, chance):
    from scipy.stats import binom

    (events,), (weights,) = study._binomial(np.array([float(trials)]), np.array([chance]))
    possible = (events >= 0) & (events <= trials)
    assert weights[~possible].sum() == 0
    expected = binom.pmf(events[possible], trials, chance)
    np.testing.assert_allclose(weights[possible], expected, rtol=1e-9, atol=1e-13)


def test_certain_cells_are_fine():
    (sure,) = study.operating_characteristics(10, {"p11": 1.0}, ["wilson-direct"])
    assert (sure.coverage, sure.degeneracy) == (1, 0)
    (wald,) = study.operating_characteristics(10, {"p11": 1.0}, ["wald"])
    assert (wald.length, wald.degeneracy) == (0, 1)


def test_large_samples_are_summed_in_pieces(monkeypatch):
    cells = {"p11": 0.4, "p10": 0.1, "p01": 0.1, "p00": 0.4}
    (whole,) = study.operating_characteristics(500, cells, ["wald"])
    monkeypatch.setattr(study, "_PAIRS", 1000)
    (pieces,) = study.operating_characteristics(500, cells, ["wald"])
    for quantity in QUANTITIES:
        assert getattr(pieces, quantity) == pytest.approx(getattr(whole, quantity), rel=1e-12)


def test_coverage_at_a_fixed_size_is_the_binomial_sum():
    nu, true = 12, 0.7
    share = true / (2 - true)
    by_hand = 0.0
    for tp in range(nu + 1):
        found = pv.interval(pv.Counts(tp, nu - tp, 0), "f1", "wilson-direct")
        if found.low <= true <= found.high:
            by_hand += comb(nu, tp) * share**tp * (1 - share) ** (nu - tp)
    (found,) = study.coverage_given_trials([true], nu, "wilson-direct")
    assert found == pytest.approx(by_hand, abs=1e-13)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n: 0 is not a whole number"),
        ({"n": 2.5}, "n: 2.5 is not"),
        ({"probabilities": {"p11": 0.5}}, "add up to 0.5; expected 1"),
        ({"probabilities": {"p12": 0.5}}, "probabilities: unknown 'p12'"),
        ({"probabilities": {"p11": -1, "p00": 2}}, "p11: -1 is not"),
        ({"probabilities": {"p00": 1}}, "f1 is undefined"),
        ({"methods": ["wild"]}, "methods: unknown 'wild'.*did you mean 'wald'"),
        ({"metric": "fbeta"}, "metric: unknown 'fbeta'"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    usual = {"n": 10, "probabilities": {"p11": 0.5, "p10": 0.2, "p01": 0.2, "p00": 0.1}}
    with pytest.raises(ValueError, match=message):
        study.operating_characteristics(**{**usual, **arguments})
