from __future__ import annotations

import json
import math

import numpy as np
import pytest
from conftest import GOLDEN
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

import probative as pv
from probative.inference.posterior import single as beta_posterior

golden = json.loads((GOLDEN / "posteriors.json").read_text())
fbeta_golden = json.loads((GOLDEN / "fbeta_posteriors.json").read_text())
TN_FREE = ("precision", "recall", "f1", "fbeta", "jaccard")

size = st.one_of(st.integers(0, 30), st.integers(0, 10**4), st.integers(0, 10**9))
table = st.builds(pv.Counts, size, size, size)
small_table = st.builds(pv.Counts, *[st.floats(0, 300)] * 3)
beta = st.sampled_from([0.3, 0.5, 2.0, 5.0])


@pytest.mark.parametrize("row", golden, ids=lambda row: "-".join(map(str, row[:6])))
def test_intervals_agree_with_thirty_digits(row):
    *counts, metric, level, low, high = row
    found = pv.posterior(pv.Counts(*counts), metric).interval(level)
    assert found == pytest.approx((float(low), float(high)), rel=1e-11, abs=1e-15)


@pytest.mark.parametrize("row", fbeta_golden, ids=str)
def test_fbeta_agrees_with_thirty_digits(row):
    tp, fp, fn, beta, t, expected = row
    found = pv.posterior(pv.Counts(tp, fp, fn), "fbeta", beta=beta)
    assert found.cdf(t) == pytest.approx(float(expected), rel=1e-12)
    # a probability near 1 carries few digits of its complement
    assert found.ppf(float(expected)) == pytest.approx(t, rel=1e-8 if t >= 0.9 else 1e-12)


def test_proportions_are_scipys_beta_distributions():
    counts = pv.Counts(7, 4, 11, 20)
    shapes = {
        "precision": (8, 5),
        "recall": (8, 12),
        "jaccard": (8, 17),
        "accuracy": (28, 16),
        "specificity": (21, 5),
        "npv": (21, 12),
    }
    t, q = np.linspace(-0.1, 1.1, 37), np.linspace(0, 1, 11)
    for metric, (a, b) in shapes.items():
        ours, theirs = pv.posterior(counts, metric), stats.beta(a, b)
        for name in ("pdf", "cdf", "sf"):
            np.testing.assert_allclose(getattr(ours, name)(t), getattr(theirs, name)(t), rtol=1e-12)
        for name in ("ppf", "isf"):
            np.testing.assert_allclose(getattr(ours, name)(q), getattr(theirs, name)(q), rtol=1e-12)
        assert (ours.mean, ours.var) == pytest.approx(theirs.stats("mv"), rel=1e-14)


def test_prior_weights():
    counts = pv.Counts(3, 1, 2, 5)
    assert pv.posterior(counts, "recall", prior=0.5).mean == pytest.approx(3.5 / 6)
    assert pv.posterior(counts, "jaccard", prior=0.5).mean == pytest.approx(3.5 / 7.5)
    assert pv.posterior(counts, "accuracy", prior=0.5).mean == pytest.approx(8.5 / 12)


@settings(max_examples=50)
@given(table, st.floats(0.05, 20))
def test_f1_is_jaccard_carried_over(counts, prior):
    f1 = pv.posterior(counts, "f1", prior=prior)
    jaccard = pv.posterior(counts, "jaccard", prior=prior)
    q = np.array([1e-9, 0.025, 0.5, 0.975])
    np.testing.assert_allclose(f1.ppf(q), pv.metrics.f1_from_jaccard(jaccard.ppf(q)), rtol=1e-14)
    x = jaccard.ppf(q)
    x = x[1 - x > 1e-6]  # nearer to 1 a score cannot tell its odds
    np.testing.assert_allclose(f1.cdf(pv.metrics.f1_from_jaccard(x)), jaccard.cdf(x), rtol=1e-6)


@settings(max_examples=40)
@given(table)
def test_fbeta_at_one_is_f1(counts):
    f1, fbeta = pv.posterior(counts, "f1"), pv.posterior(counts, "fbeta", beta=1)
    q = np.array([1e-9, 0.025, 0.5, 0.975, 1 - 1e-9])
    t = f1.ppf(q)
    np.testing.assert_allclose(fbeta.ppf(q), t, rtol=1e-10)
    np.testing.assert_allclose(fbeta.cdf(t), f1.cdf(t), rtol=1e-10)
    np.testing.assert_allclose(fbeta.sf(t), f1.sf(t), rtol=1e-10)
    np.testing.assert_allclose(fbeta.logpdf(t), f1.logpdf(t), rtol=1e-10, atol=1e-10)
    assert (fbeta.mean, fbeta.mode) == pytest.approx((f1.mean, f1.mode), rel=1e-10)
    assert fbeta.var == pytest.approx(f1.var, rel=1e-8)


@settings(max_examples=40)
@given(small_table, beta, st.sampled_from(TN_FREE))
def test_quantiles_invert_the_distribution_function(counts, beta, metric):
    found = pv.posterior(counts, metric, beta=beta)
    q = np.array([1e-12, 1e-4, 0.3, 0.5, 0.9])
    np.testing.assert_allclose(found.cdf(found.ppf(q)), q, rtol=1e-10)
    t = found.isf(q)
    # a score within rounding error of 1 cannot tell its upper tail
    close_to_one = 1 - t < 1e-7
    np.testing.assert_allclose(found.sf(t)[~close_to_one], q[~close_to_one], rtol=1e-7)
    np.testing.assert_allclose(found.cdf(t) + found.sf(t), 1, rtol=1e-12)


@settings(max_examples=40)
@given(small_table, beta, st.sampled_from(TN_FREE))
def test_density_is_the_derivative_and_adds_up(counts, beta, metric):
    found = pv.posterior(counts, metric, beta=beta)
    low, high = found.ppf(0.01), found.isf(0.01)
    mass, _ = integrate.quad(found.pdf, low, high, epsabs=1e-11, epsrel=1e-11, limit=200)
    assert mass == pytest.approx(0.98, abs=1e-9)
    nodes, weight = found.log_odds_rule()
    density = np.exp(found.of_log_odds("log_pdf", nodes))
    assert density.sum() * (nodes[1] - nodes[0]) == pytest.approx(1, abs=1e-12)
    assert weight.sum() == pytest.approx(1, abs=1e-14)


def series_mean(a, b):
    """The mean of F1 by its series, with a = fp + fn + 2 and b = tp + 1."""
    term, total = 1.0, 0.0
    for k in range(60):
        total += term
        term *= 0.5 * (a + k) / (a + b + 1 + k)
    return b / (a + b) * total


@given(table)
def test_moments_of_f1(counts):
    f1 = pv.posterior(counts, "f1")
    assert f1.mean == pytest.approx(
        series_mean(counts.fp + counts.fn + 2, counts.tp + 1), rel=1e-12
    )
    if counts.nu > 10**4:  # near a normal distribution: the delta method from F*
        jaccard = pv.posterior(counts, "jaccard")
        slope = 2 / (1 + jaccard.mean) ** 2
        assert f1.var == pytest.approx(slope**2 * jaccard.var, rel=0.01)


def test_moments_of_fbeta_by_quadrature():
    for counts, beta in [((77, 44, 10), 2), ((0, 3, 0), 0.5), ((1000, 100, 0), 10)]:
        found = pv.posterior(pv.Counts(*counts), "fbeta", beta=beta)
        mean, _ = integrate.quad(found.sf, 0, 1, points=[found.ppf(0.5)], limit=200)
        second, _ = integrate.quad(lambda t: 2 * t * found.sf(t), 0, 1, points=[found.ppf(0.5)])  # noqa: B023
        assert found.mean == pytest.approx(mean, rel=1e-9)
        assert found.var == pytest.approx(second - mean**2, rel=1e-6)


@settings(max_examples=50)
@given(small_table, beta, st.sampled_from(["f1", "fbeta", "recall"]))
def test_no_score_is_more_probable_than_the_mode(counts, beta, metric):
    found = pv.posterior(counts, metric, beta=beta)
    if math.isnan(found.mode):
        assert found.pdf(0.2) == pytest.approx(found.pdf(0.7))
        return
    # the density may fall to 0 within rounding error of the mode
    mode = found.mode
    highest = found.logpdf([np.nextafter(mode, 0), mode, np.nextafter(mode, 1)]).max()
    assert np.all(found.logpdf(np.linspace(0, 1, 1001)) <= highest + 1e-9)


def test_modes_of_precision_and_recall_are_the_estimates():
    counts = pv.Counts(77, 44, 10)
    assert pv.posterior(counts, "precision").mode == pytest.approx(77 / 121, rel=1e-14)
    assert pv.posterior(counts, "recall").mode == pytest.approx(77 / 87, rel=1e-14)
    h = 56 + 2 * 78 - 5
    expected = (math.sqrt(h**2 + 16 * 77) - h) / 4
    assert pv.posterior(counts, "f1").mode == pytest.approx(expected, rel=1e-12)
    assert pv.posterior(counts, "f1").mode != pytest.approx(154 / 208, abs=1e-3)


@settings(max_examples=15)
@given(small_table, beta, st.sampled_from(["f1", "fbeta", "recall"]), st.floats(0.3, 0.99))
def test_highest_density_intervals(counts, beta, metric, level):
    found = pv.posterior(counts, metric, beta=beta)
    low, high = found.interval(level, kind="highest-density")
    assert found.cdf(high) - found.cdf(low) == pytest.approx(level, abs=1e-9)
    equal_tailed = found.interval(level)
    assert high - low <= equal_tailed[1] - equal_tailed[0] + 1e-9
    if low > 1e-6 and high < 1 - 1e-6:
        assert found.logpdf(low) == pytest.approx(found.logpdf(high), abs=1e-5)


def test_highest_density_interval_of_a_falling_density_starts_at_zero():
    low, high = pv.posterior(pv.Counts(0, 20, 0), "precision").interval(kind="highest-density")
    assert low == 0
    assert high == pytest.approx(1 - 0.05 ** (1 / 21), rel=1e-12)


def test_far_tails_keep_their_digits():
    f1 = pv.posterior(pv.Counts(10**6, 10, 10), "f1")
    assert 0 < f1.cdf(0.9998) < 1e-100
    expected = stats.beta(10**6 + 1, 22).logcdf(0.9998 / (2 - 0.9998))
    assert math.log(f1.cdf(0.9998)) == pytest.approx(expected, rel=1e-10)
    recall = pv.posterior(pv.Counts(10, 0, 10**6), "recall")
    assert recall.sf(0.001) == pytest.approx(stats.beta(11, 10**6 + 1).sf(0.001), rel=1e-10)
    assert recall.isf(1e-200) == pytest.approx(stats.beta(11, 10**6 + 1).isf(1e-200), rel=1e-9)


@pytest.mark.parametrize("metric", TN_FREE)
@pytest.mark.parametrize("size", [10**9, 10**12])
def test_huge_counts_stay_sane(metric, size):
    found = pv.posterior(pv.Counts(8 * size, size, 2 * size), metric, beta=2)
    low, high = found.interval()
    score = pv.metrics.score(pv.Counts(8, 1, 2), metric, beta=2)
    assert low < score < high
    assert high - low < 3 / math.sqrt(size)
    assert found.cdf(high) - found.cdf(low) == pytest.approx(
        0.95, abs=1e-3 if size > 1e10 else 1e-6
    )
    assert math.sqrt(found.var) == pytest.approx((high - low) / 3.919928, rel=1e-5)
    assert found.mean == pytest.approx(score, abs=1e-8)
    assert found.mode == pytest.approx(score, abs=1e-8)


@pytest.mark.parametrize("metric", TN_FREE)
def test_nothing_counted_is_the_prior(metric):
    found = pv.posterior(pv.Counts(0, 0, 0), metric, beta=2)
    low, high = found.interval()
    assert 0 < low < 0.03
    assert 0.8 < high <= 0.98


@pytest.mark.parametrize("metric", TN_FREE)
def test_arrays_of_tables_are_the_single_tables(metric):
    rng = np.random.default_rng(5)
    counts = pv.Counts(*rng.integers(0, 200, (3, 2, 7)))
    many = pv.posterior(counts, metric, beta=2)
    t = rng.uniform(0.1, 0.9, (2, 7))
    for name in ("pdf", "cdf", "sf", "ppf", "isf"):
        found = getattr(many, name)(t)
        assert found.shape == (2, 7)
        for i in np.ndindex(2, 7):
            alone = pv.posterior(counts[i], metric, beta=2)
            assert found[i] == pytest.approx(getattr(alone, name)(t[i]), rel=1e-11)
    for name in ("mean", "var", "mode"):
        found = getattr(many, name)
        for i in np.ndindex(2, 7):
            alone = getattr(pv.posterior(counts[i], metric, beta=2), name)
            assert isinstance(alone, float)
            assert found[i] == pytest.approx(alone, rel=1e-11)
    assert many.cdf(t[..., None, None]).shape == (2, 7, 2, 7)
    assert many.ppf(0.5).shape == (2, 7)
    low, high = many.interval(kind="highest-density")
    assert np.all(low < high)


def test_many_tables_go_through_in_pieces(monkeypatch):
    rng = np.random.default_rng(6)
    counts = pv.Counts(*rng.integers(0, 40, (3, 50)))
    whole = pv.posterior(counts, "fbeta", beta=2)
    expected = whole.interval(), whole.mean, whole.cdf(0.4)
    monkeypatch.setattr(beta_posterior, "_CHUNK", 7)
    pieces = pv.posterior(counts, "fbeta", beta=2)
    found = pieces.interval(), pieces.mean, pieces.cdf(0.4)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("metric", TN_FREE)
def test_draws_follow_the_distribution(metric):
    found = pv.posterior(pv.Counts(20, 7, 3), metric, beta=2)
    draws = found.rvs(100_000, rng=3)
    assert draws.shape == (100_000,)
    assert stats.kstest(draws, found.cdf).pvalue > 1e-4
    np.testing.assert_array_equal(draws[:5], found.rvs(100_000, rng=3)[:5])
    assert isinstance(found.rvs(rng=1), float)
    assert pv.posterior(pv.Counts([1, 2], [3, 4], [5, 6]), metric).rvs((4, 3), rng=0).shape == (
        4,
        3,
        2,
    )


def test_limits_of_the_scale():
    flat = pv.posterior(pv.Counts(0, 0, 0), "precision")
    np.testing.assert_allclose(flat.pdf([-1, 0, 0.5, 1, 2]), [0, 1, 1, 1, 0], rtol=1e-12)
    assert math.isnan(flat.mode)
    assert math.isnan(flat.cdf(math.nan))
    assert math.isnan(flat.ppf(1.5))
    f1 = pv.posterior(pv.Counts(5, 0, 0), "f1", prior=0.5)  # Beta(5.5, 1) behind it
    np.testing.assert_allclose(f1.pdf([0, 1]), [0, 11])
    assert (f1.cdf(0), f1.cdf(1), f1.sf(0), f1.sf(1)) == (0, 1, 1, 0)
    assert (f1.ppf(0), f1.ppf(1), f1.mode) == (0, 1, 1)
    fbeta = pv.posterior(pv.Counts(5, 0, 0), "fbeta", beta=2)
    assert (fbeta.cdf(0), fbeta.cdf(1), fbeta.ppf(0), fbeta.ppf(1)) == (0, 1, 0, 1)


def test_bad_arguments_are_named():
    counts = pv.Counts(1, 2, 3)
    with pytest.raises(pv.InputError, match="metric: unknown 'f2'"):
        pv.posterior(counts, "f2")
    with pytest.raises(pv.InputError, match="metric: accuracy needs tn"):
        pv.posterior(counts, "accuracy")
    with pytest.raises(pv.InputError, match="prior: 0 is not a finite number > 0"):
        pv.posterior(counts, prior=0)
    with pytest.raises(pv.InputError, match="beta: -1 is not"):
        pv.posterior(counts, "fbeta", beta=-1)
    with pytest.raises(pv.InputError, match="level: 1 is not between 0 and 1"):
        pv.posterior(counts).interval(1)
    with pytest.raises(pv.InputError, match="kind: unknown 'shortest'"):
        pv.posterior(counts).interval(kind="shortest")
    with pytest.raises(pv.InputError, match="kind: the density is highest at both ends"):
        pv.posterior(pv.Counts(0, 0, 0), "recall", prior=0.5).interval(kind="highest-density")
    with pytest.raises(pv.InputError, match="rng: 'x'"):
        pv.posterior(counts).rvs(rng="x")
