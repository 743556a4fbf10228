"""The randomisation test by item."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inference.exchanges import difference_of, law_by_item, pvalue_of
from scipy import special, stats

import probative as pv
from probative.inference.exchange import half_binomial
from probative.metrics import RATIOS as METRICS

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "randomization.json").read_text())
HUGE = json.loads((Path(__file__).parents[1] / "golden" / "huge_exchange.json").read_text())
ALTERNATIVES = ("two-sided", "greater", "less")
tables = st.lists(st.integers(0, 30), min_size=8, max_size=8)


def test_a_known_value():
    test = pv.randomization_test(pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300]), "f1")
    assert test.pvalue == pytest.approx(1141 / 8192, rel=1e-13)
    assert test.method == "exact"
    assert test.by == "item"
    assert test.n_units == 367
    assert test.statistic == pytest.approx(2 * 48 / (2 * 48 + 17) - 2 * 43 / (2 * 43 + 23))


def test_agrees_with_all_exchanges_written_out():
    rng = np.random.default_rng(20)
    worst = 0.0
    ties = 0
    for case in range(300):
        t = np.concatenate([rng.integers(0, 6, 4), rng.integers(0, 8, 4)])
        metric = METRICS[case % len(METRICS)]
        beta = ("0.5", "2", "0.3", "1")[case % 4]
        law = law_by_item(t, metric, Fraction(beta))
        observed = difference_of(t, metric, Fraction(beta))
        ties += law[observed] > 1
        for alternative in ALTERNATIVES:
            test = pv.randomization_test(
                pv.PairedCounts(t), metric, alternative=alternative, beta=float(beta)
            )
            assert test.statistic == pytest.approx(float(observed), abs=1e-15)
            worst = max(worst, abs(test.pvalue - float(pvalue_of(law, observed, alternative))))
    assert worst < 1e-12
    assert ties > 100  # the cases do put the settling of ties to the test


@pytest.mark.parametrize("metric", ["precision", "f1", "accuracy"])
def test_agrees_with_a_million_shuffles_on_a_large_table(metric):
    paired = pv.PairedCounts([420, 310, 480, 330, 9000, 800, 900, 50_000])
    exact = pv.randomization_test(paired, metric)
    sampled = pv.randomization_test(paired, metric, method="sampled", n_resamples=10**6, rng=1)
    assert sampled.method == "sampled"
    assert 0.001 < exact.pvalue < 0.9
    assert abs(sampled.pvalue - exact.pvalue) < 4 * sampled.standard_error


@pytest.mark.parametrize("case", GOLDEN["by_item"], ids=lambda case: case["name"])
def test_far_tails_and_large_tables(case):
    """Against exact rational arithmetic, and at 10^9 items against 40 digits."""
    test = pv.randomization_test(
        pv.PairedCounts(case["cases"]), case["metric"], alternative=case["alternative"]
    )
    assert test.pvalue == pytest.approx(float(case["pvalue"]), rel=case["tolerance"], abs=0)


@pytest.mark.parametrize("case", GOLDEN["half_binomial"], ids=lambda case: f"{case['n']}")
def test_binomial_probabilities_keep_their_digits(case):
    found = half_binomial(np.array(case["k"]), case["n"])
    assert found == pytest.approx([float(p) for p in case["probability"]], rel=5e-13, abs=0)


@given(tables, st.sampled_from(METRICS))
@settings(max_examples=60, deadline=None)
def test_swapping_the_systems_mirrors_the_test(t, metric):
    paired = pv.PairedCounts(t)
    p = {a: pv.randomization_test(paired, metric, alternative=a) for a in ALTERNATIVES}
    q = {a: pv.randomization_test(paired.swapped(), metric, alternative=a) for a in ALTERNATIVES}
    assert p["two-sided"].statistic == -q["two-sided"].statistic
    assert p["two-sided"].pvalue == q["two-sided"].pvalue
    assert p["greater"].pvalue == q["less"].pvalue
    assert p["less"].pvalue == q["greater"].pvalue
    assert 0 < p["two-sided"].pvalue <= 1
    # what is at least as large and what is at most as large overlap in the ties
    assert p["greater"].pvalue + p["less"].pvalue >= 1 - 1e-12


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
@settings(deadline=None)
def test_mcnemar_is_the_accuracy_case(t0, t1, t2, t3):
    from scipy.stats import binomtest

    better, worse = t1 + t2, t0 + t3
    test = pv.randomization_test(pv.PairedCounts([t0, t1, t2, t3, 5, 4, 3, 2]), "accuracy")
    expected = binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert test.pvalue == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_identical_systems_give_one(metric, alternative):
    paired = pv.PairedCounts([0, 0, 0, 0, 5, 2, 3, 9])
    assert pv.randomization_test(paired, metric, alternative=alternative).pvalue == 1


def test_an_empty_table_gives_one_and_says_so():
    test = pv.randomization_test(pv.PairedCounts(np.zeros(8)), "precision")
    assert test.pvalue == 1
    assert "undefined" in test.note


def test_sampled_follows_its_formula_and_its_seed():
    paired = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
    one, same, other = (
        pv.randomization_test(paired, method="sampled", n_resamples=999, rng=seed)
        for seed in (1, 1, 3)
    )
    assert one.pvalue == same.pvalue != other.pvalue
    assert (one.pvalue * 1000) == pytest.approx(round(one.pvalue * 1000), abs=1e-9)
    assert one.standard_error == pytest.approx((one.pvalue * (1 - one.pvalue) / 999) ** 0.5)


def test_rounding_cannot_break_a_tie():
    """0.3 - 0.1 and 0.2 differ in floating point; many exchanges here are such ties."""
    t = np.array([1, 1, 3, 0, 0, 0, 6, 0])
    law = law_by_item(t, "recall")
    observed = difference_of(t, "recall")
    assert law[observed] > 1
    found = pv.randomization_test(pv.PairedCounts(t), "recall", alternative="greater").pvalue
    assert found == pytest.approx(float(pvalue_of(law, observed, "greater")), rel=1e-14)


def test_null_distribution_shows_the_pvalue():
    paired = pv.PairedCounts([30, 20, 48, 21, 400, 60, 70, 300])
    for method in ("exact", "sampled"):
        test = pv.randomization_test(paired, null=True, method=method, n_resamples=100_000, rng=3)
        edges, probability = test.null.edges, test.null.probabilities
        assert len(edges) == len(probability) + 1
        assert np.all(probability >= 0)
        assert probability.sum() == pytest.approx(1, abs=1e-12)
        outside = np.abs((edges[1:] + edges[:-1]) / 2) > abs(test.statistic)
        allowed = 1e-10 if method == "exact" else 1e-4
        assert probability[outside].sum() == pytest.approx(test.pvalue, abs=allowed)
        assert "null" not in test.to_dict()
    assert pv.randomization_test(paired).null is None


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"alternative": "bigger"}, "alternative"),
        ({"metric": "f2"}, "metric"),
        ({"by": "unit"}, "by"),
        ({"by": "word"}, "by"),
        ({"method": "guess"}, "method"),
        ({"n_resamples": 0}, "n_resamples"),
        ({"n_resamples": 1.5}, "n_resamples"),
        ({"beta": 0}, "beta"),
        ({"rng": "x"}, "rng"),
        ({"memory_limit": -1}, "memory_limit"),
    ],
)
def test_bad_arguments_are_named(arguments, named):
    with pytest.raises(ValueError, match=f"^{named}: "):
        pv.randomization_test(pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300]), **arguments)


def test_bad_data_are_named():
    with pytest.raises(ValueError, match=r"^cases: -1 is not"):
        pv.PairedCounts([3, 2, -1, 1, 40, 6, 7, 300])
    with pytest.raises(ValueError, match=r"^metric: accuracy needs tn"):
        pv.randomization_test(pv.PairedCounts([3, 2, 8, 1, 40, 6, 7]), "accuracy")
    with pytest.raises(ValueError, match=r"^paired: 1.5 of an item cannot be exchanged"):
        pv.randomization_test(pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300]) * 0.5)
    with pytest.raises(ValueError, match=r"^paired: \[3, 2, .*; expected PairedCounts"):
        pv.randomization_test([3, 2, 8, 1, 40, 6, 7, 300])


def test_says_itself_in_a_line_and_a_dictionary():
    test = pv.randomization_test(pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300]))
    assert "\n" not in str(test)
    assert test.to_dict() == {
        "metric": "f1",
        "alternative": "two-sided",
        "by": "item",
        "method": "exact",
        "statistic": test.statistic,
        "pvalue": test.pvalue,
        "n_units": 367,
    }


def test_a_pvalue_too_small_to_write_is_not_called_zero():
    test = pv.randomization_test(pv.PairedCounts([0, 0, 2000, 0, 9, 9, 9, 9]))
    assert test.pvalue == 0
    assert "below 1e-300" in test.note


@pytest.mark.parametrize("metric", ["recall", "accuracy"])
def test_huge_tables_meet_the_normal_limit(metric):
    n = 10**10 // 8
    paired = pv.PairedCounts([n, n // 2, n + 10**5, n // 2, n, n, n, n])
    # the difference is (n2 - n0) / N, and a sum of fair coins
    changed = 2 * n + 10**5 + (n if metric == "accuracy" else 0)
    z = 10**5 / np.sqrt(changed)
    found = pv.randomization_test(paired, metric)
    assert found.pvalue == pytest.approx(2 * special.ndtr(-z), rel=1e-4)
    assert found.method == "exact"


def test_tables_too_large_for_the_memory_are_sampled():
    n = 10**14 // 8
    paired = pv.PairedCounts([n, n // 2, n + 10**7, n // 2, n, n, n, n])
    found = pv.randomization_test(paired, "f1", rng=1)
    assert found.method == "sampled"
    assert "sampled, because the exact test needs" in found.note
    smaller = pv.PairedCounts(paired.cases // 10**6)
    assert pv.randomization_test(smaller, "f1", memory_limit=2**23, rng=1).method == "exact"
    assert pv.randomization_test(smaller, "f1", memory_limit=2**20, rng=1).method == "sampled"


@pytest.mark.parametrize("case", HUGE, ids=[f"{case['name']}, {case['metric']}" for case in HUGE])
def test_huge_tables_have_the_pvalues_of_the_sum_over_all_values(case):
    found = pv.randomization_test(pv.PairedCounts(case["cases"]), case["metric"])
    assert found.pvalue == pytest.approx(float(case["pvalue"]), rel=1e-12, abs=0)
    assert found.method == "exact"


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("method", ["exact", "mid-p"])
@pytest.mark.parametrize("only", [(0, 0), (3, 9), (9, 3), (5, 5), (0, 7), (480, 520)])
def test_mcnemar_is_the_binomial_test(only, method, alternative):
    a, b = only
    table = pv.PairedCounts([a, b, 0, 0, 4, 3, 2, 1])
    found = pv.mcnemar_test(table, method=method, alternative=alternative)
    if a + b == 0:
        assert found.pvalue == 1
        return
    expected = stats.binomtest(b, a + b, alternative=alternative).pvalue
    if method == "mid-p" and not (alternative == "two-sided" and a == b):
        tied = stats.binom.pmf(b, a + b, 0.5)
        expected -= tied if alternative == "two-sided" else tied / 2
    assert found.pvalue == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    "cases", [[30, 0, 48, 0, 400, 0, 70], [3, 0, 4, 0, 9, 0, 2], [5, 0, 5, 0, 9]]
)
@pytest.mark.parametrize("by", ["item", "unit"])
def test_the_null_distribution_of_a_share_has_no_hollow_in_the_middle(cases, by):
    """Differences of recall come in steps; a bin's height is its probability by its width."""
    cases = [*cases, *[0] * (7 - len(cases))]
    paired = pv.PairedCounts(cases)
    if by == "unit":
        paired = pv.PairedCounts(np.repeat(np.eye(7, dtype=int), cases, axis=0))
    test = pv.randomization_test(paired, "recall", by=by, null=True)
    edges, probability = test.null.edges, test.null.probabilities
    height = probability / np.diff(edges)
    middle = len(height) // 2
    assert np.all(np.diff(height[middle:]) <= 1e-12)  # a binomial law falls from its middle on
    extreme = np.maximum(np.abs(edges[1:]), np.abs(edges[:-1])) > abs(test.statistic) * (1 + 1e-9)
    assert probability[extreme].sum() == pytest.approx(test.pvalue, abs=1e-10)
    total, discordant = sum(cases[:7:2]), cases[0] + cases[2]
    inside = np.diff(edges) * total / 2  # lattice points that a bin holds
    assert discordant
    np.testing.assert_allclose(inside, np.round(inside), atol=1e-9)
