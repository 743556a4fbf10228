"""McNemar's test, the paired bootstrap, adjusted p-values, tests on folds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

import probative as pv

TABLE = [3, 2, 8, 1, 40, 6, 7, 300]


@given(st.lists(st.integers(0, 12), min_size=8, max_size=8))
def test_mcnemar_agrees_with_statsmodels(t):
    paired = pv.PairedCounts(t)
    only_a, only_b = t[0] + t[3], t[1] + t[2]
    both, neither = t[4] + t[7], t[5] + t[6]
    found = pv.mcnemar_test(paired)
    expected = mcnemar([[both, only_a], [only_b, neither]], exact=True).pvalue
    assert found.pvalue == pytest.approx(min(expected, 1.0), abs=1e-12)
    by_item = pv.randomization_test(paired, "accuracy", by="item")
    assert found.pvalue == pytest.approx(by_item.pvalue, abs=1e-12)


@pytest.mark.parametrize(("better", "worse"), [(8, 2), (3, 9), (5, 5), (1, 0), (0, 7)])
def test_mid_p_counts_half_of_the_ties(better, worse):
    paired = pv.PairedCounts([worse, 0, better, 0, 9, 9, 9, 9])
    law = stats.binom(better + worse, 0.5)
    greater = law.sf(better) + law.pmf(better) / 2
    less = law.cdf(better - 1) + law.pmf(better) / 2
    expected = {"greater": greater, "less": less, "two-sided": 2 * min(greater, less)}
    for alternative, value in expected.items():
        found = pv.mcnemar_test(paired, method="mid-p", alternative=alternative)
        assert found.pvalue == pytest.approx(value, abs=1e-14)


def test_mcnemar_without_discordant_items():
    found = pv.mcnemar_test(pv.PairedCounts([0, 0, 0, 0, 5, 5, 5, 5]))
    assert found.pvalue == 1
    assert found.note


def test_mcnemar_refuses_fractions_and_unknown_words():
    with pytest.raises(ValueError, match=r"^paired: fractions"):
        pv.mcnemar_test(pv.PairedCounts(TABLE) * 0.5)
    with pytest.raises(ValueError, match=r"^method: unknown"):
        pv.mcnemar_test(pv.PairedCounts(TABLE), method="chi2")
    with pytest.raises(ValueError, match=r"^alternative: unknown"):
        pv.mcnemar_test(pv.PairedCounts(TABLE), alternative="more")


def sentence_cases(n=120, seed=1):
    return np.random.default_rng(seed).poisson([0.2, 0.15, 0.3, 0.15, 2, 0.3, 0.4, 3], (n, 8))


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("metric", ["f1", "precision", "accuracy"])
def test_bootstrap_agrees_with_scipy(method, metric):
    """Both draw units; what is left of a difference between the two is Monte-Carlo noise."""
    cases = sentence_cases()

    def difference(index):
        table = pv.PairedCounts(cases[np.asarray(index, dtype=int)].sum(axis=0))
        return pv.metrics.score(table.b, metric) - pv.metrics.score(table.a, metric)

    expected = stats.bootstrap(
        (np.arange(len(cases)),),
        difference,
        vectorized=False,
        method=method,
        n_resamples=4000,
        rng=np.random.default_rng(2),
    ).confidence_interval
    found = pv.bootstrap_difference(
        pv.PairedCounts(cases), metric, method=method, n_resamples=40_000, rng=3
    )
    length = found.high - found.low
    assert found.low == pytest.approx(expected.low, abs=0.05 * length)
    assert found.high == pytest.approx(expected.high, abs=0.05 * length)
    assert found.estimate == pytest.approx(difference(np.arange(len(cases))))
    assert found.method == f"bootstrap-{method}"


def test_bootstrap_draws_items_where_there_are_no_units():
    whole = pv.PairedCounts(TABLE)
    items = pv.PairedCounts(np.eye(8), TABLE)
    one, other = (pv.bootstrap_difference(p, rng=4) for p in (whole, items))
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=0.01)


def test_bootstrap_repeats_with_its_seed_and_handles_the_undefined():
    paired = pv.PairedCounts(TABLE)
    one, same = (pv.bootstrap_difference(paired, rng=5, n_resamples=500) for _ in range(2))
    assert (one.low, one.high) == (same.low, same.high)
    rare = pv.bootstrap_difference(pv.PairedCounts([1, 0, 1, 0, 0, 0, 0, 5]), "precision", rng=6)
    assert "undefined score" in rare.note
    none = pv.bootstrap_difference(pv.PairedCounts([0, 0, 3, 1, 0, 0, 2, 9]), "precision")
    assert math.isnan(none.estimate)
    equal = pv.bootstrap_difference(pv.PairedCounts([0, 0, 0, 0, 4, 1, 2, 9]), rng=7)
    assert equal.low == equal.high == 0


def test_bootstrap_refuses_bad_arguments():
    paired = pv.PairedCounts(TABLE)
    for arguments, named in [
        ({"method": "basic"}, "method"),
        ({"level": 1}, "level"),
        ({"n_resamples": -3}, "n_resamples"),
        ({"metric": "bleu"}, "metric"),
    ]:
        with pytest.raises(ValueError, match=f"^{named}: "):
            pv.bootstrap_difference(paired, **arguments)
    with pytest.raises(ValueError, match=r"^paired: fractions"):
        pv.bootstrap_difference(paired * 0.3)
    with pytest.raises(ValueError, match=r"^paired: .*; expected PairedCounts"):
        pv.bootstrap_difference(TABLE)
    for metric in ("accuracy", "mcc"):
        with pytest.raises(ValueError, match=f"^metric: {metric} needs tn"):
            pv.bootstrap_difference(pv.PairedCounts(TABLE[:7]), metric)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
@settings(max_examples=12)  # statsmodels takes a twentieth of a second for each
def test_adjusted_pvalues_agree_with_statsmodels(pvalues):
    for ours, theirs in (("holm", "holm"), ("benjamini-hochberg", "fdr_bh")):
        found = pv.adjust_pvalues(pvalues, ours)
        assert found == pytest.approx(multipletests(pvalues, method=theirs)[1], abs=1e-12)
        assert np.all(found >= np.array(pvalues) - 1e-15)


def test_adjusting_refuses_what_is_no_pvalue():
    assert pv.adjust_pvalues([]).size == 0
    with pytest.raises(ValueError, match=r"^pvalues: 1.5 is not between"):
        pv.adjust_pvalues([0.1, 1.5])
    with pytest.raises(ValueError, match=r"^pvalues: "):
        pv.adjust_pvalues([0.1, math.nan])
    with pytest.raises(ValueError, match=r"^method: unknown"):
        pv.adjust_pvalues([0.1], "bonferroni")
    with pytest.raises(ValueError, match=r"^pvalues: shape"):
        pv.adjust_pvalues([[0.1]])


def folds(rows, seed=8):
    rng = np.random.default_rng(seed)
    return rng.normal(0.8, 0.02, (rows, 2)), rng.normal(0.82, 0.02, (rows, 2))


def test_five_by_two_tests_follow_their_formulas():
    a, b = folds(5)
    d = b - a
    s2 = ((d - d.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    t = d[0, 0] / math.sqrt(s2.mean())
    found = pv.five_by_two_t_test(a, b)
    assert found.statistic == pytest.approx(t)
    assert found.pvalue == pytest.approx(2 * stats.t.sf(abs(t), 5))
    assert pv.five_by_two_t_test(a, b, alternative="greater").pvalue == pytest.approx(
        stats.t.sf(t, 5)
    )
    assert pv.five_by_two_t_test(a, b, alternative="less").pvalue == pytest.approx(
        stats.t.cdf(t, 5)
    )
    f = (d**2).sum() / (2 * s2.sum())
    combined = pv.five_by_two_f_test(a, b)
    assert combined.statistic == pytest.approx(f)
    assert combined.pvalue == pytest.approx(stats.f.sf(f, 10, 5))
    assert combined.to_dict()["degrees_of_freedom"] == [10, 5]


def test_block_regularized_t_without_correlation_is_the_plain_t_test():
    a, b = folds(3)
    found = pv.block_regularized_t_test(a, b, correlation=0)
    expected = stats.ttest_1samp((b - a).ravel(), 0)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.pvalue == pytest.approx(expected.pvalue)


def test_block_regularized_t_has_its_size_at_the_assumed_correlation():
    """Normal differences with all correlations 1/2: exactly a t-distribution with 5 degrees."""
    rng = np.random.default_rng(9)
    shared = rng.normal(size=(4000, 1, 1))
    d = math.sqrt(0.5) * (shared + rng.normal(size=(4000, 3, 2)))
    pvalues = [pv.block_regularized_t_test(np.zeros((3, 2)), x).pvalue for x in d]
    assert stats.kstest(pvalues, "uniform").pvalue > 0.001
    wrong = [pv.block_regularized_t_test(np.zeros((3, 2)), x, correlation=0).pvalue for x in d]
    assert np.mean(np.array(wrong) < 0.05) > 0.3


@pytest.mark.parametrize(("m", "size"), [(2, 0.0544), (3, 0.0558), (5, 0.0544), (10, 0.0524)])
def test_block_regularized_t_exceeds_its_size_for_very_stable_learners(m, size):
    """Folds of a repetition uncorrelated, those of different repetitions with correlation 1/2.

    Then a fold difference is s_i + e_ij with e_i1 = -e_i2, the s_i all equal: t² is a multiple
    of F with 1 and m degrees of freedom.
    """
    critical = stats.t.isf(0.025, 2 * m - 1) ** 2 * (2 * m + 1) / (2 * m - 1)
    exact = stats.f.sf(critical, 1, m)
    assert exact == pytest.approx(size, abs=5e-5)
    assert f"{size}" in pv.block_regularized_t_test.__doc__
    rng = np.random.default_rng(m)
    common, within = rng.standard_normal((4000, 1, 1)), rng.standard_normal((4000, m, 1))
    d = (common + within * [1, -1]) / np.sqrt(2)
    zeros = np.zeros((m, 2))
    rejected = np.mean([pv.block_regularized_t_test(zeros, x).pvalue <= 0.05 for x in d])
    assert rejected == pytest.approx(exact, abs=4 * np.sqrt(exact / 4000))


def test_fold_tests_without_variance_give_no_pvalue():
    a = np.full((5, 2), 0.8)
    for test in (pv.five_by_two_t_test, pv.five_by_two_f_test, pv.block_regularized_t_test):
        found = test(a, a + 0.25)
        assert math.isnan(found.pvalue)
        assert found.note
        assert found.statistic == math.inf


def test_fold_tests_refuse_other_shapes():
    good = np.zeros((5, 2))
    with pytest.raises(ValueError, match=r"^a: shape \(3, 2\); expected fold scores of shape"):
        pv.five_by_two_t_test(np.zeros((3, 2)), good)
    with pytest.raises(ValueError, match=r"^b: shape"):
        pv.five_by_two_f_test(good, np.zeros(10))
    with pytest.raises(ValueError, match=r"^b: 4 repetitions, but a has 5"):
        pv.block_regularized_t_test(good, np.zeros((4, 2)))
    with pytest.raises(ValueError, match=r"^b: a fold score is not a finite"):
        pv.block_regularized_t_test(good, np.full((5, 2), np.nan))
    with pytest.raises(ValueError, match=r"^a: not numbers"):
        pv.block_regularized_t_test([["x", "y"]], good)
    with pytest.raises(ValueError, match=r"^correlation: "):
        pv.block_regularized_t_test(good, good, correlation=1)


def test_tests_say_themselves_in_a_line():
    assert str(pv.mcnemar_test(pv.PairedCounts(TABLE))) == (
        "McNemar, exact test, two-sided: statistic 0.7143, p = 0.1796"
    )
