"""Means of graded scores: exact tests, intervals, differences."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from probative.errors import InputError
from probative.inference import means
from probative.inference.intervals import wilson
from probative.inference.means import MeanScore, exchange_pvalue, step_of


def enumerated(d):
    """Return the share of all signs with a sum at least as large as observed."""
    signs = np.array(list(product((-1.0, 1.0), repeat=len(d))))
    return np.mean(np.abs(signs @ d) >= abs(d.sum()) - 1e-9)


def scores_of(*systems, unit=None, **how):
    """Return the mean score of systems from their item scores."""
    systems = np.asarray(systems, dtype=float)
    unit = np.arange(systems.shape[1]) if unit is None else np.asarray(unit)
    x = np.array([np.bincount(unit, own) for own in systems])
    y = np.tile(np.bincount(unit).astype(float), (len(systems), 1))
    return MeanScore(x, y, **how)


@given(st.lists(st.integers(-8, 8), min_size=1, max_size=14), st.sampled_from([1, 2, 3, 7, 100]))
def test_the_pvalue_is_that_of_all_exchanges(d, parts):
    d = np.array(d) / parts
    assert exchange_pvalue(d).pvalue == pytest.approx(enumerated(d), abs=1e-12)


@pytest.mark.parametrize("kind", ["lattice", "grid"])
def test_longer_walks_agree_with_all_exchanges(kind, monkeypatch):
    monkeypatch.setattr(means, "MOST_RUNS_COUNTED", 0)
    rng = np.random.default_rng(3)
    for _ in range(5):
        d = rng.integers(-4, 6, 16) / 2 if kind == "lattice" else rng.normal(0.4, 1, 16)
        found, expected = exchange_pvalue(d), enumerated(d)
        if found is None:  # so few exchanges that the bracket holds two values
            assert kind == "grid"
            continue
        assert found.method == ("exact" if kind == "lattice" else "bracketed")
        assert found.low - 1e-12 <= expected <= found.high + 1e-12
        assert found.pvalue == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("n", [60, 300, 2000])
def test_brackets_are_narrow_and_agree_with_sampling(n):
    rng = np.random.default_rng(n)
    d = rng.normal(1.5 / np.sqrt(n), 1, n)
    found = exchange_pvalue(d)
    assert found.method == "bracketed"
    assert found.high - found.low <= 0.01 * found.pvalue
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), (20_000, n))
    sampled = np.mean(np.abs(signs @ d) >= abs(d.sum()))
    assert found.pvalue == pytest.approx(sampled, abs=4 * np.sqrt(found.pvalue / 20_000))
    if n == 2000:
        assert found.pvalue == pytest.approx(stats.ttest_1samp(d, 0).pvalue, rel=0.02)


def test_pvalues_agree_with_scipy():
    rng = np.random.default_rng(8)
    d = rng.normal(0.03, 0.2, 40)
    sampled = stats.permutation_test(
        (d,), np.sum, permutation_type="samples", n_resamples=20_000, rng=3
    )
    found = exchange_pvalue(d)
    error = math.sqrt(found.pvalue * (1 - found.pvalue) / 20_000)
    assert abs(found.pvalue - sampled.pvalue) < 4 * error
    large = rng.normal(0.004, 0.2, 5000)
    assert exchange_pvalue(large).pvalue == pytest.approx(
        stats.ttest_1samp(large, 0).pvalue, rel=0.02
    )


@pytest.mark.parametrize("n", [60, 200, 1000])
def test_a_coarse_grid_brackets_what_a_fine_one_finds(n):
    d = np.random.default_rng(n).normal(0.02, 0.2, n)
    coarse = exchange_pvalue(d)
    fine = means._bracket(d, means._REACH * math.sqrt(d @ d) / 2**22)
    assert coarse.low <= fine.pvalue <= coarse.high
    assert coarse.high - coarse.low <= 0.01 * coarse.pvalue
    assert coarse.scale >= 4 * fine.scale


def test_the_step_of_decimals_and_thirds():
    assert step_of(np.array([0.25, 0.5, 1.0])) == 0.25
    assert step_of(np.array([1.2, -0.9])) == pytest.approx(0.3)
    assert step_of(np.array([1 / 3, 2 / 3])) == pytest.approx(1 / 3)
    assert step_of(np.array([0.0])) is None
    assert step_of(np.random.default_rng(0).normal(size=4)) is None


def test_scores_of_right_and_wrong_have_the_exact_test_of_accuracy():
    rng = np.random.default_rng(5)
    a, b = rng.random((2, 80)) < [[0.6], [0.75]]
    score = scores_of(a, b)
    (test,) = score.tests([(0, 1)], level=0.95, rng=rng, null=True)
    only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
    expected = stats.binomtest(only_a, only_a + only_b).pvalue
    assert test.method == "exact"
    assert test.pvalue == pytest.approx(expected, rel=1e-10)
    assert test.null.probabilities.sum() == pytest.approx(1)


def test_the_interval_is_wilson_with_the_effective_size():
    values = np.array([0.2, 0.9, 0.5, 0.4, 1.0, 0.7])
    found = scores_of(1 + 4 * values, range=(1, 5)).interval(0, 0.9)
    m, v = values.mean(), values.var(ddof=1) / 6
    n, t = m * (1 - m) / v, stats.t.ppf(0.95, 5)
    low, high = wilson(m * n, n, t)
    assert (found.estimate, found.low, found.high) == pytest.approx(
        (1 + 4 * m, 1 + 4 * low, 1 + 4 * high)
    )
    unbounded = scores_of(values, range=None).interval(0, 0.9)
    reach = t * np.sqrt(v)
    assert (unbounded.low, unbounded.high) == pytest.approx((m - reach, m + reach))
    assert unbounded.method == "student"


def test_equal_scores_count_as_one_score_per_unit():
    found = scores_of([0.5] * 9).interval(0, 0.95)
    low, high = wilson(4.5, 9, stats.t.ppf(0.975, 8))
    assert (found.low, found.high) == pytest.approx((float(low), float(high)))


def test_the_difference_of_copies_has_a_width_and_one_of_shifted_scores_its_sign():
    rng = np.random.default_rng(7)
    a = rng.integers(1, 6, 60)
    score = scores_of(a, a, np.minimum(a + 1, 5), range=(1, 5))
    same = score.difference(0, 1, 0.95)
    assert same.low < 0 < same.high
    assert same.high == pytest.approx(stats.t.ppf(0.975, 59) / 60, rel=0.15)
    better = score.difference(0, 2, 0.95)
    assert better.low > 0
    assert score.posterior(0, 2).probabilities(0.0)[2] > 0.999
    assert score.unit_test(0, 2).pvalue == pytest.approx(
        stats.ttest_rel(np.minimum(a + 1, 5), a).pvalue
    )


def test_units_are_exchanged_as_a_whole():
    unit = np.repeat(np.arange(5), 8)
    a = np.repeat([0.1, 0.2, 0.3, 0.4, 0.5], 8)
    score = scores_of(a, a + 0.2, unit=unit)
    (test,) = score.tests([(0, 1)], level=0.95, rng=np.random.default_rng(0))
    assert test.pvalue == pytest.approx(2 / 2**5)


def test_runs_are_added_up():
    rng = np.random.default_rng(2)
    a, b = rng.random((3, 30)), rng.random((2, 30))
    score = scores_of(*a, *b)
    pooled = score.pooled([[0, 1, 2], [3, 4]])
    alone = scores_of(a.mean(axis=0), b.mean(axis=0))
    assert pooled.estimates == pytest.approx(alone.estimates)
    one, other = pooled.difference(0, 1, 0.95), alone.difference(0, 1, 0.95)
    assert (one.low, one.high) == pytest.approx((other.low, other.high))
    assert score.runs([3, 4]).scores == pytest.approx(b.mean(axis=1))


def test_unequal_denominators_are_sampled():
    x = np.array([[3.0, 1, 2, 4], [2.0, 2, 2, 5]])
    y = np.array([[4.0, 3, 3, 5], [4.0, 4, 3, 5]])
    score = MeanScore(x, y)
    (test,) = score.tests([(0, 1)], level=0.95, rng=np.random.default_rng(0))
    assert test.method == "sampled"


def test_one_unit_is_no_evidence():
    score = scores_of([0.5], [0.7])
    assert (score.interval(0, 0.95).low, score.interval(0, 0.95).high) == (0, 1)
    assert score.difference(0, 1, 0.95).high == 1
    with pytest.raises(InputError, match="expected a row per system"):
        MeanScore(np.ones((2, 3)), np.ones((2, 2)))
