from __future__ import annotations

import copy
import itertools
import json
import pickle
import warnings

import numpy as np
import pytest
from check_paired_posterior import b_better, check
from conftest import GOLDEN
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import probative as pv
from probative.inference.posterior import log_odds
from probative.inference.posterior.nodes import gauss_jacobi, stretched_gauss
from probative.inference.posterior.paired import PairedPosterior
from probative.metrics import RATIOS as METRICS

exact = json.loads((GOLDEN / "paired_exact.json").read_text())
drawn = json.loads((GOLDEN / "paired_draws.json").read_text())
precision = json.loads((GOLDEN / "paired_precision.json").read_text())
tails = json.loads((GOLDEN / "paired_tails.json").read_text())
DENSE = [30, 20, 80, 15, 400, 60, 70, 3000]
SPARSE = [3, 2, 8, 1, 40, 6, 7, 300]


@pytest.mark.parametrize(
    "cases",
    [
        [13239, 2, 19, 100294, 93, 3, 0],  # -0.998, give or take 2e-4
        [4, 1186618, 3, 2, 50846, 62556, 0],  # what both systems share decides
    ],
)
def test_lopsided_tables_agree_with_draws(cases):
    """Their errors are seen where the posterior lies, and where no rule is fine enough."""
    paired = pv.PairedCounts(cases)
    posterior = PairedPosterior(paired, "precision")
    draws = np.random.default_rng(0).standard_gamma(paired.cases[:6] + 0.5, size=(100_000, 6)).T
    a, b = (
        (own + draws[4]) / (own + draws[4] + wrong + draws[5])
        for own, wrong in ((draws[0], draws[1]), (draws[2], draws[3]))
    )
    shares = [0.025, 0.25, 0.5, 0.75, 0.975]
    np.testing.assert_allclose(posterior.cdf(np.quantile(b - a, shares)), shares, atol=0.006)


@pytest.mark.parametrize("row", drawn, ids=lambda row: f"{row[1]}-{sum(row[0])}")
def test_ten_million_draws_agree(row):
    table, metric, limits, shares = row
    found = PairedPosterior(pv.PairedCounts(table), metric, beta=2)
    # five standard errors of a share of ten million, plus our own error
    tolerance = 5 * np.sqrt(0.25 / 1e7) + 4 * found.error
    np.testing.assert_allclose(found.cdf(limits), shares, atol=tolerance, rtol=0)
    # the share that F-beta needs besides takes more nodes than it gets
    assert found.error <= {"precision": 1e-8, "fbeta": 5e-6}.get(metric, 2e-6)


@pytest.mark.parametrize("row", exact, ids=lambda row: f"{row[2]}-{sum(row[0])}-{row[1]}")
def test_other_integrals_and_draws_agree(row):
    """Another order of integration where all cases are filled, three million draws elsewhere."""
    table, prior, metric, limits, shares, tolerance = row
    found = PairedPosterior(pv.PairedCounts(table), metric, prior=prior, beta=2)
    margin, shares = tolerance + found.error, np.array(shares)
    # scores that were drawn next to 1 are rounded, and their difference to 0: under a prior of 0.1,
    # 0.3 % of the posterior is that close to it
    rounding = 2.3e-16 if tolerance > 1e-8 else 0.0
    assert np.all(found.cdf(np.array(limits) + rounding) >= shares - margin)
    assert np.all(found.cdf(np.array(limits) - rounding) <= shares + margin)
    assert np.all(found.sf(np.array(limits) - rounding) >= 1 - shares - margin)
    assert np.all(found.sf(np.array(limits) + rounding) <= 1 - shares + margin)
    low, high = found.interval()
    assert found.cdf(low) == pytest.approx(0.025, abs=1e-7 + found.error)
    assert found.sf(high) == pytest.approx(0.025, abs=1e-7 + found.error)
    if tolerance <= 1e-8:
        assert found.error <= 2e-8


@pytest.mark.parametrize("row", precision, ids=lambda row: f"{row[0]}-{row[1]}")
def test_precision_of_tiny_tables_errs_by_no_more_than_it_claims(row):
    """Ratios of true and of false positives are independent: one integral gives P(B better)."""
    table, prior, better, tolerance = row
    found = PairedPosterior(pv.PairedCounts(table), "precision", prior=prior)
    assert found.sf(0.0) == pytest.approx(better, abs=found.error + tolerance)
    assert found.cdf(0.0) == pytest.approx(1 - better, abs=found.error + tolerance)
    assert found.error <= 1e-8


@pytest.mark.parametrize("row", tails, ids=lambda row: f"{row[0]}-{row[1]}-{row[2]}")
def test_precision_beyond_a_difference_is_right_to_eight_digits(row):
    """Brute force over the shares of the cases, in another order (make_paired_tails.py)."""
    table, prior, d, beyond, tolerance = row
    found = PairedPosterior(pv.PairedCounts(table), "precision", prior=prior)
    assert found.error <= 1e-8
    assert (found.sf if d > 0 else found.cdf)(d) == pytest.approx(
        beyond, abs=found.error + tolerance
    )


@pytest.mark.parametrize(
    "table", [[0] * 8, [37, 0, 721, 0, 1728, 0, 12, 5], [1, 0, 2, 0, 3, 1, 1, 4]]
)
def test_the_mean_of_the_distribution_is_the_difference_of_the_means(table):
    """The integral of the tails, to eight digits: no rule for the means has part in these."""
    for metric in ("precision", "npv"):
        found = PairedPosterior(pv.PairedCounts(table), metric)
        t = np.linspace(-3.4, 3.4, 401)  # a double-exponential rule for the unit interval
        d = special.expit(np.pi * np.sinh(t))
        weight = d * special.expit(-np.pi * np.sinh(t)) * np.pi * np.cosh(t) * (t[1] - t[0])
        assert weight @ (found.sf(d) - found.cdf(-d)) == pytest.approx(found.mean, abs=2e-8)


def test_npv_is_the_precision_of_the_negatives():
    table = [3, 1, 0, 2, 4, 1, 0, 7]
    found = PairedPosterior(pv.PairedCounts(table), "npv")
    turned = PairedPosterior(
        pv.PairedCounts([table[i] for i in (3, 2, 1, 0, 7, 6, 5, 4)]), "precision"
    )
    assert found.error <= 1e-8
    np.testing.assert_allclose(
        found.cdf([-0.2, 0.0, 0.1]), turned.cdf([-0.2, 0.0, 0.1]), rtol=1e-12
    )


def test_a_small_prior_reaches_the_corners():
    # 10^7 draws with gamma variates as logarithms: -0.0693 and 0.9999992
    low, high = PairedPosterior(
        pv.PairedCounts([0, 0, 3, 0, 0, 0, 20]), "precision", prior=0.1
    ).interval()
    assert low == pytest.approx(-0.0693, abs=2e-3)
    assert 1 - high == pytest.approx(8e-7, rel=0.2)
    with pytest.raises(pv.InputError, match=r"prior: 0\.02 is too small for so sparse a table"):
        PairedPosterior(pv.PairedCounts([0, 0, 3, 0, 0, 0, 20]), "precision", prior=0.02).cdf(0.0)


def test_the_claimed_error_is_true_at_any_prior_and_metric():
    record = check(n_tables=1, n_draws=100_000, seed=2)
    assert not record.failures
    assert len(record.errors) == 35


@pytest.mark.parametrize("metric", ["precision", "f1", "jaccard"])
@pytest.mark.parametrize(
    ("table", "prior"),
    [
        ([0] * 8, 0.5),
        ([0, 17, 0, 5, 0, 11, 0, 5], 1.0),
        ([1, 2, 1, 3, 21, 41759, 620091, 7173], 1.0),
        ([0, 0, 1, 3, 51, 726271, 41, 827], 1.0),
        (DENSE, 1.0),
    ],
)
def test_the_exact_chance_that_b_is_better(table, prior, metric):
    """True and false positives enter it independently: two integrals, whatever the metric."""
    better, own = b_better(np.array(table) + prior / 2, metric)
    assert own <= 1e-7
    found = PairedPosterior(pv.PairedCounts(table), metric, prior=prior)
    assert found.sf(0.0) == pytest.approx(better, abs=found.error + own)


def test_an_empty_table_claims_its_error():
    # two million draws say 0.53225, with a standard error of 0.00035
    found = PairedPosterior(pv.PairedCounts([0] * 7), "f1", prior=0.5)
    assert abs(found.cdf(0.01) - 0.53225) <= found.error + 0.001
    assert found.error <= 2e-3


@pytest.mark.parametrize("prior", [0.001, 0.01, 0.05])
def test_the_least_prior_does_no_harm_where_there_are_counts(prior):
    found = PairedPosterior(pv.PairedCounts(DENSE), "f1", prior=prior)
    near = PairedPosterior(pv.PairedCounts(DENSE), "f1", prior=0.1)
    assert found.error <= 1e-8
    assert found.cdf(0.05) == pytest.approx(near.cdf(0.05), abs=1e-3)


@pytest.mark.parametrize(("lost", "won"), [(10**12, 10**6), (10**8, 10**3)])
def test_a_difference_of_recall_is_normal_where_nearly_all_favours_one_system(lost, won):
    table = [lost, 0, won, 0, lost, 10**6, 10**6, 0]
    share = (np.array(table) + 0.5)[[0, 2, 4, 6]]
    n = share.sum()
    mean = (share[1] - share[0]) / n
    sd = np.sqrt(((share[0] + share[1]) / n - mean**2) / (n + 1))
    z = np.array([-1.5, -0.5, 0.0, 0.7, 1.9])
    found = PairedPosterior(pv.PairedCounts(table), "recall")
    np.testing.assert_allclose(found.cdf(mean + z * sd), special.ndtr(z), atol=1e-5)


def test_how_many_cases_favour_one_system_may_be_better_known_than_how_many_there_are():
    # six million draws, standard errors of at most 0.0002
    found = PairedPosterior(pv.PairedCounts([3501, 25, 29, 46, 526, 1383, 5805, 31]), "f1")
    shares = [0.308732, 0.499803, 0.757780]
    np.testing.assert_allclose(found.cdf([-0.4353, -0.43268, -0.42901]), shares, atol=8e-4)
    assert found.error <= 2e-8


@settings(max_examples=30)
@given(st.floats(0.01, 1e6), st.floats(0.01, 1e6), st.integers(2, 13))
def test_stretched_rules_have_the_mean_of_the_beta_distribution(a, b, size):
    share, rest, weight = stretched_gauss(a, b, size)
    np.testing.assert_allclose(share + rest, 1, atol=1e-15)
    assert weight.sum() == pytest.approx(1, abs=1e-12)
    if size >= 9:
        assert weight @ share == pytest.approx(a / (a + b), rel=1e-2)


UGLY = {
    "items": [30, 24, 41, 17, 180, 60, 70, 0],
    "sparse": SPARSE,
    "tiny": [1, 0, 2, 1, 5, 0, 1, 0],
    "near-copy": [2, 0, 1, 1, 500, 30, 40, 0],
    "copy": [0, 0, 0, 0, 900, 70, 60, 0],
    "one-sided": [0, 0, 80, 0, 400, 60, 70, 0],
    "huge near-copy": [3, 1, 5, 2, 10**12, 10**11, 10**11, 0],
}


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("table", UGLY.values(), ids=UGLY.keys())
def test_the_density_is_smooth_and_has_one_peak(table, metric):
    found = PairedPosterior(pv.PairedCounts(table), metric, beta=2)
    d, density = found.curve(41)
    assert np.all(np.isfinite(density))
    noise = 1e-7 * density.max()
    slopes = np.diff(density)
    turns = np.sign(slopes[np.abs(slopes) > noise])
    assert np.count_nonzero(np.diff(turns)) <= 1
    # on either side of 0, where the density of two near-copies has a cusp, it bends once at most
    for side in (d > 0, d < 0):
        if side.sum() > 5:
            bends = np.diff(density[side], 2)
            signs = np.sign(bends[np.abs(bends) > noise])
            assert np.count_nonzero(np.diff(signs)) <= (2 if side.all() else 3)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    "table", [UGLY["items"], UGLY["tiny"], DENSE], ids=["items", "tiny", "big"]
)
def test_the_density_is_the_derivative_and_integrates_to_one(table, metric):
    found = PairedPosterior(pv.PairedCounts(table), metric, beta=2)
    low, high = found.interval(0.99)
    nodes, weights = np.polynomial.legendre.leggauss(24)
    below = [min(low, 0.0), max(min(high, 0.0), low), high]
    pieces = [(x, y) for x, y in itertools.pairwise(below) if y > x and x >= low]
    if not pieces:
        pieces = [(low, high)]
    for x, y in pieces:
        points = (x + y) / 2 + (y - x) / 2 * nodes
        area = (y - x) / 2 * float(weights @ found.pdf(points))
        assert area == pytest.approx(found.cdf(y) - found.cdf(x), abs=2e-5 + 2 * found.error)
    d = np.linspace(low, high, 9) + 1e-3 * (high - low)
    step = 1e-4 * (high - low)
    slope = (found.cdf(d + step) - found.cdf(d - step)) / (2 * step)
    np.testing.assert_allclose(found.pdf(d), slope, rtol=1e-4, atol=1e-5 * np.max(slope))


def test_copies_answer_alike():
    found = PairedPosterior(pv.PairedCounts(SPARSE), "f1")
    before = found.interval()
    for copied in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):  # noqa: S301
        assert copied.interval() == before
        assert copied.cdf(0.01) == found.cdf(0.01)


@pytest.mark.parametrize("metric", METRICS)
def test_levels_counts_and_differences_at_their_ends(metric):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for table in (SPARSE, [10**12] * 8, [0, 0, 10**12, 0, 0, 0, 0, 0]):
            found = PairedPosterior(pv.PairedCounts(table), metric)
            assert list(found.cdf([-2, -1, 1, 2])) == [0, 0, 1, 1]
            assert list(found.sf([-2, -1, 1, 2])) == [1, 1, 0, 0]
            assert list(found.pdf([-2, 2])) == [0, 0]
            wide = found.interval(0.9999999999999999)
            inner = found.interval(0.5)
            assert -1 <= wide[0] < inner[0] < inner[1] < wide[1] <= 1


def test_closed_forms_of_recall_and_accuracy():
    cells = np.array(SPARSE) + 0.5
    recall = PairedPosterior(pv.PairedCounts(SPARSE), "recall")
    assert recall.cdf(0.0) == pytest.approx(special.betainc(cells[2], cells[0], 0.5), abs=1e-13)
    cells = np.array(SPARSE) + 0.25
    accuracy = PairedPosterior(pv.PairedCounts(SPARSE), "accuracy")
    expected = special.betainc(cells[1] + cells[2], cells[0] + cells[3], 0.5)
    assert accuracy.cdf(0.0) == pytest.approx(expected, abs=1e-13)


def test_more_nodes_than_the_largest_gauss_rule_has():
    """Two systems without false alarms: shares next to nothing, of which one never settles."""
    table = pv.PairedCounts([37, 0, 721, 0, 1728, 0, 12, 2502])
    found = PairedPosterior(table, "f1")
    sampled = pv.bayes_test(table, metric="f1", method="sampled", n_resamples=400_000, rng=4)
    assert found.cdf(sampled.low) == pytest.approx(0.025, abs=2e-3)
    assert found.cdf(sampled.high) == pytest.approx(0.975, abs=2e-3)


@pytest.mark.parametrize("metric", ["recall", "accuracy"])
@pytest.mark.parametrize(
    "table", [DENSE, SPARSE, [0] * 8, [10**6, 5, 10**6 + 900, 9, 10**8, 3, 4, 0]]
)
def test_one_integral_agrees_with_draws(metric, table):
    found = PairedPosterior(pv.PairedCounts(table), metric)
    sampled = pv.bayes_test(
        pv.PairedCounts(table), metric=metric, method="sampled", n_resamples=400_000, rng=4
    )
    low, high = found.interval()
    assert found.cdf(low) == pytest.approx(0.025, abs=1e-9)
    assert found.cdf(high) == pytest.approx(0.975, abs=1e-9)
    assert found.cdf(sampled.low) == pytest.approx(0.025, abs=2e-3)
    assert found.cdf(sampled.high) == pytest.approx(0.975, abs=2e-3)
    assert found.cdf(0.0) == pytest.approx(sampled.p_h0, abs=4e-3)


@pytest.mark.parametrize("metric", METRICS)
def test_agreement_of_the_systems_shortens_the_interval(metric):
    table = pv.PairedCounts([12, 10, 25, 11, 900, 80, 90, 2000])
    paired = pv.bayes_test(table, metric=metric, beta=2)
    independent = pv.bayes_test(table.a, table.b, metric, beta=2)
    assert paired.posterior.kind == "paired"
    assert independent.posterior.kind == "independent"
    assert paired.high - paired.low < 0.5 * (independent.high - independent.low)
    assert paired.interval_a == pytest.approx(independent.interval_a, abs=1e-12)
    assert paired.difference == pytest.approx(independent.difference, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_exchanging_the_systems(metric):
    table = pv.PairedCounts(DENSE)
    one, other = (PairedPosterior(t, metric, beta=2) for t in (table, table.swapped()))
    tolerance = 1e-5 + 4 * (one.error + other.error)
    for d in (-0.02, 0.0, 0.03):
        assert one.cdf(d) == pytest.approx(1 - other.cdf(-d), abs=tolerance)
    assert one.mean == pytest.approx(-other.mean, abs=1e-12)
    low, high = one.interval()
    assert other.interval() == pytest.approx((-high, -low), abs=1e-4)


@pytest.mark.parametrize("metric", ["f1", "recall"])
def test_density_is_the_derivative(metric):
    found = PairedPosterior(pv.PairedCounts(DENSE), metric)
    d = np.linspace(*found.interval(0.999), 25)
    step = 1e-6
    slope = (found.cdf(d + step) - found.cdf(d - step)) / (2 * step)
    np.testing.assert_allclose(found.pdf(d), slope, rtol=1e-4, atol=1e-3)


def test_fbeta_at_one_is_f1():
    f1 = PairedPosterior(pv.PairedCounts(DENSE), "f1")
    fbeta = PairedPosterior(pv.PairedCounts(DENSE), "fbeta", beta=1)
    for d in (0.0, 0.03, 0.06):
        assert fbeta.cdf(d) == pytest.approx(f1.cdf(d), abs=1e-5 + 4 * fbeta.error)


def test_units_and_missing_negatives():
    rows = [[1, 0, 2, 0, 5, 1, 1], [0, 1, 0, 0, 7, 0, 0], [0, 1, 0, 0, 7, 0, 0]]
    units = pv.PairedCounts(rows)
    by_unit = pv.bayes_test(units, metric="recall")
    assert pv.bayes_test(units.grouped(), metric="recall").p_h0 == by_unit.p_h0
    assert by_unit.p_h0 > pv.bayes_test(units.total(), metric="recall").p_h0  # fewer than items
    with pytest.raises(pv.InputError, match="accuracy needs"):
        pv.bayes_test(units, metric="accuracy")
    with pytest.raises(pv.InputError, match="npv needs tn"):
        PairedPosterior(units, "npv")


def test_folds_of_pairs():
    folds = [pv.PairedCounts([12, 10, 25, 11, 900, 80, 90])] * 6
    found = pv.bayes_test(folds, metric="f1")
    alone = pv.bayes_test(pv.effective_counts(folds), metric="f1")
    assert found.weight == pytest.approx(0.36880211)
    assert found.p_h0 == alone.p_h0


def test_the_same_answer_every_time():
    for table, prior in ((SPARSE, 1.0), ([0, 0, 3, 0, 0, 0, 20], 0.5)):
        one, other = (
            PairedPosterior(pv.PairedCounts(table), "precision", prior=prior) for _ in range(2)
        )
        assert one.cdf(0.01) == other.cdf(0.01)
        assert one.error == other.error


@settings(max_examples=40)
@given(st.floats(0.3, 1e9), st.floats(0.3, 1e9), st.integers(2, 25))
def test_gauss_rules_have_the_moments_of_the_beta_distribution(a, b, size):
    nodes, rest, weight = gauss_jacobi(a, b, size)
    n = a + b
    mean, var = a / n, (a / n) * (b / n) / (n + 1)
    assert weight.sum() == pytest.approx(1, abs=1e-12)
    assert weight @ nodes == pytest.approx(mean, abs=1e-13)
    assert weight @ rest == pytest.approx(b / n, abs=1e-13)
    assert weight @ (nodes - mean) ** 2 == pytest.approx(var, rel=1e-8)
    third = 2 * var * (b - a) / n / (n + 2)
    assert weight @ (nodes - mean) ** 3 == pytest.approx(third, rel=1e-6, abs=1e-9 * var**1.5)


@settings(max_examples=40)
@given(st.floats(0.06, 1e12), st.floats(0.06, 1e12))
def test_the_table_of_tails_is_the_tail(a, b):
    table = log_odds.TailTable(a, b)
    y = np.linspace(*log_odds.window(table.a, table.b), 501)
    for found, tail in ((table.sf, log_odds.sf), (table.cdf, log_odds.cdf)):
        np.testing.assert_allclose(found(y), tail(table.a, table.b, y), rtol=1e-7, atol=2e-9)
        far = found(np.repeat([-np.inf, np.inf], 300))
        assert sorted(set(far.tolist())) == [0.0, 1.0]


def test_a_copy_under_next_to_no_prior_is_refused():
    # what either system has alone is next to nothing: shares below 1e-300 hold a part of it
    copies = pv.PairedCounts([0, 12, 0, 87_324_193, 11_052_139_242, 5, 61, 0])
    with pytest.raises(pv.InputError, match=r"prior: 0\.0037 is too small"):
        PairedPosterior(copies, "recall", prior=0.0037).cdf(0.0)
    assert PairedPosterior(copies, "recall", prior=0.1).cdf(0.0) == pytest.approx(0.5, abs=1e-9)


def test_limits_far_out_where_one_system_is_surely_better():
    """The lower limit lies above 0, and with it a tail that is 1 less a probability."""
    table = [3, 0, 198437173, 460294, 151601344, 65858985, 166213, 3534459241]
    found = PairedPosterior(pv.PairedCounts(table), "fbeta", prior=17.6, beta=2)
    low, high = found.interval(1 - 1e-12)
    middle, reach = (low + high) / 2, special.ndtri(1 - 5e-13)
    inner = found.interval(0.95)
    # so many items: the posterior is normal
    assert middle == pytest.approx(sum(inner) / 2, abs=1e-6)
    assert (high - low) / 2 == pytest.approx(reach * (inner[1] - inner[0]) / 2 / 1.96, rel=0.01)


def test_a_rule_whose_mass_is_too_small_for_a_number_is_not_used():
    table = pv.PairedCounts([452, 4547095, 5602, 2166569, 63, 4, 18, 2])
    found = PairedPosterior(table, "precision", prior=300)
    below, above = found.limits(0.1)
    assert below < found.mean < above


def test_a_ratio_known_better_than_the_level_of_both_precisions_is_summed_in_short_steps():
    table = pv.PairedCounts([0, 1, 157865, 0, 12621, 35, 3, 0])
    found = PairedPosterior(table, "precision", prior=0.5)
    rng, n = np.random.default_rng(19), 200_000
    g = rng.standard_gamma(table.cases[:6] + 0.25, (n, 6))
    right_a, wrong_a = g[:, 0] + g[:, 4], g[:, 1] + g[:, 5]
    right_b, wrong_b = g[:, 2] + g[:, 4], g[:, 3] + g[:, 5]
    drawn = right_b / (right_b + wrong_b) - right_a / (right_a + wrong_a)
    d = found.mean + drawn.std() * np.array([-1.5, -0.5, 0, 0.5, 1.5])
    below = np.asarray(found.cdf(d))
    share = (drawn[:, None] <= d).mean(axis=0)
    np.testing.assert_array_less(np.abs(share - below), 5 * np.sqrt(below * (1 - below) / n))
