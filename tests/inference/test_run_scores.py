"""Scores of runs by themselves: permutations, ranks, almost stochastic order."""

import json
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from probative.inference import runs as run_scores
from probative.inference.runs import almost_stochastic_order, compare_run_scores, permutation_pvalue

GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "runs.json").read_text())["scores"]
few = st.lists(st.integers(0, 12).map(lambda k: k / 16), min_size=1, max_size=5)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda c: f"{len(c['a'])}-{len(c['b'])}")
def test_golden_values(case):
    tests = compare_run_scores(case["a"], case["b"])
    assert tests.permutation_pvalue == pytest.approx(case["assignments"], rel=1e-12)
    assert tests.eps_min == pytest.approx(case["eps_min"], abs=1e-9)
    assert tests.eps_min_a == pytest.approx(case["eps_min_a"], abs=1e-9)
    expected = stats.mannwhitneyu(case["a"], case["b"]).pvalue
    assert tests.rank_pvalue == pytest.approx(expected)
    if case["signs"] is not None:
        paired = compare_run_scores(case["a"], case["b"], paired_runs=True)
        assert paired.permutation_pvalue == pytest.approx(case["signs"], rel=1e-12)
        assert paired.rank_test == "wilcoxon"


@settings(max_examples=60, deadline=None)
@given(few, few)
def test_all_assignments_are_counted_ties_included(a, b):
    every = a + b
    seen, extreme = abs(np.mean(b) - np.mean(a)), 0
    for chosen in combinations(range(len(every)), len(a)):
        own = [every[i] for i in chosen]
        others = [every[i] for i in range(len(every)) if i not in chosen]
        extreme += abs(np.mean(others) - np.mean(own)) >= seen - 1e-12
    p, assignments, exact = permutation_pvalue(a, b)
    assert exact
    assert assignments == math.comb(len(every), len(a))
    assert p == pytest.approx(extreme / assignments)


def test_thirty_six_runs_are_still_exact():
    """C(36, 18) is nine milliards: counted by halves, and as rare as it must be."""
    p, assignments, exact = permutation_pvalue(np.arange(18), np.arange(100, 118))
    assert exact
    assert assignments == math.comb(36, 18)
    assert p == 2 / assignments


def test_more_runs_are_sampled_and_say_so():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, 20), rng.normal(0.6, 1, 20)
    p, _, exact = permutation_pvalue(a, b, n_resamples=4000, rng=1)
    assert not exact
    assert p == pytest.approx(stats.ttest_ind(a, b).pvalue, abs=0.02)
    assert not compare_run_scores(a, b, n_resamples=200).exact


@settings(max_examples=40, deadline=None)
@given(few, few)
def test_the_two_orders_complement_each_other(a, b):
    """What violates one order is what supports the other: the ratios add up to 1."""
    one = run_scores._violation_ratios(np.sort(a)[None], np.sort(b)[None])[0]
    other = run_scores._violation_ratios(np.sort(b)[None], np.sort(a)[None])[0]
    assert one + other == pytest.approx(1)
    tests = compare_run_scores(a, b)
    assert tests.eps_min >= other - 1e-12
    assert 0 <= tests.eps_min <= 1
    swapped = compare_run_scores(b, a)
    assert (tests.eps_min, tests.eps_min_a) == pytest.approx((swapped.eps_min_a, swapped.eps_min))
    assert tests.p_run_better == pytest.approx(1 - swapped.p_run_better)


def test_drawn_resamples_agree_with_all_of_them(monkeypatch):
    a, b = [0.70, 0.72, 0.71, 0.73, 0.69], [0.71, 0.74, 0.70, 0.75, 0.73]
    exact = almost_stochastic_order(b, a)
    monkeypatch.setattr(run_scores, "_MOST_RESAMPLES_ENUMERATED", 0)
    drawn = almost_stochastic_order(b, a, n_resamples=50_000, rng=0)
    assert drawn != exact
    assert drawn == pytest.approx(exact, abs=0.01)


def test_complete_dominance_and_equality():
    assert almost_stochastic_order([3, 4, 5], [0, 1, 2]) == 0
    assert almost_stochastic_order([0, 1, 2], [3, 4, 5]) == 1
    tests = compare_run_scores([0.5, 0.5], [0.5, 0.5], paired_runs=True)
    assert (tests.permutation_pvalue, tests.rank_pvalue, tests.p_run_better) == (1, 1, 0.5)
