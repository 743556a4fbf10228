"""Scores that are no ratios of linear forms: everything that F1 has."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inference.of_scores import confusion_difference, confusion_tests
from scipy import special
from sklearn import metrics as sk

import probative as pv
from probative.errors import InputError
from probative.inference import exchange as _exchange_units
from probative.inference.classes import (
    ConfusedItems,
    confusion_interval,
)
from probative.inference.intervals import methods_for
from probative.inference.posterior.paired import CompositePairedPosterior
from probative.inference.posterior.single import CompositePosterior
from probative.inference.units import dependence_of_score
from probative.metrics import (
    COMPOSITES,
    RATIOS,
    TABLE,
    bounds,
    score,
    score_of_table,
    slopes_of_table,
)
from probative_studies.metrics import least_coverage
from tests.conftest import GOLDEN

golden = json.loads((GOLDEN / "composites.json").read_text())
WITH_PEERS = {
    "mcc": sk.matthews_corrcoef,
    "kappa": sk.cohen_kappa_score,
    "balanced_accuracy": sk.balanced_accuracy_score,
}
cell = st.integers(0, 12)
tables = st.tuples(cell, cell, cell, cell)


@pytest.mark.parametrize("row", golden["scores"], ids=lambda r: f"{r['metric']}-{sum(r['table'])}")
def test_values_and_standard_errors_in_forty_digits(row):
    counts, own = pv.Counts(*row["table"]), TABLE[row["metric"]]
    assert score(counts, row["metric"]) == pytest.approx(float(row["value"]), abs=1e-15)
    if "deviation" in row:
        slopes = own.slopes(*map(float, row["table"]))
        variance = sum(n * d**2 for n, d in zip(row["table"], slopes, strict=True))
        assert math.sqrt(variance) == pytest.approx(float(row["deviation"]), rel=1e-10)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=60))
@settings(max_examples=60, deadline=None)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")  # scikit-learn's own
def test_values_are_those_of_scikit_learn(items):
    gold, said = (np.array(column, dtype=int) for column in zip(*items, strict=True))
    table = sk.confusion_matrix(gold, said, labels=[1, 0])
    counts = pv.Counts(tp=table[0, 0], fp=table[1, 0], fn=table[0, 1], tn=table[1, 1])
    for metric, peer in WITH_PEERS.items():
        found = score(counts, metric)
        if not math.isnan(found):
            assert found == pytest.approx(peer(gold, said), abs=1e-12)
    if len({*said}) == 1 or len({*gold}) == 1:  # scikit-learn's 0 can be asked for
        assert math.isnan(score(counts, "mcc"))
        assert score(counts, "mcc", zero_division=0.0) == sk.matthews_corrcoef(gold, said)


@given(tables, st.sampled_from(COMPOSITES))
@settings(deadline=None)
def test_an_error_never_raises_a_score_while_the_answer_stays(table, metric):
    tp, fp, fn, tn = table
    here = score(pv.Counts(tp, fp, fn, tn), metric)
    for worse in ((tp - 1, fp, fn + 1, tn), (tp, fp + 1, fn, tn - 1)):
        if min(worse) >= 0:
            there = score(pv.Counts(*worse), metric)
            if not math.isnan(here + there):
                assert there <= here + 1e-12
    low, high = bounds(metric)
    assert math.isnan(here) or low <= here <= high


def score_or_0(tp, fp, positives, negatives, metric):
    value = score(pv.Counts(tp, fp, positives - tp, negatives - fp), metric)
    return np.nan_to_num(value)


def expected_pvalues(gaps, weight, observed):
    near = 1e-11
    both = 1.0 if abs(observed) < near else weight[np.abs(gaps) >= abs(observed) - near].sum()
    return {
        "two-sided": min(1.0, both),
        "greater": weight[gaps >= observed - near].sum(),
        "less": weight[gaps <= observed + near].sum(),
    }


@pytest.mark.parametrize("metric", COMPOSITES)
def test_by_item_agrees_with_all_exchanges_written_out(metric):
    rng = np.random.default_rng(7)
    for _ in range(60):
        t = rng.integers(0, rng.integers(1, 8), 8)
        p, n = t[[0, 2, 4, 6]].sum(), t[[1, 3, 5, 7]].sum()
        u, v = np.meshgrid(np.arange(t[0] + t[2] + 1), np.arange(t[1] + t[3] + 1), indexing="ij")
        ways = np.vectorize(math.comb)
        weight = ways(t[0] + t[2], u) * ways(t[1] + t[3], v) / 2.0 ** t[:4].sum()
        a = score_or_0(t[4] + u, t[5] + v, p, n, metric)
        b = score_or_0(t[4] + t[0] + t[2] - u, t[5] + t[1] + t[3] - v, p, n, metric)
        paired = pv.PairedCounts(t)
        observed = b[t[0], t[1]] - a[t[0], t[1]]
        for alternative, expected in expected_pvalues(b - a, weight, observed).items():
            test = pv.randomization_test(paired, metric, alternative=alternative)
            assert test.pvalue == pytest.approx(expected, abs=1e-12), (t, alternative)
            assert test.method == "exact"


@pytest.mark.parametrize("few", [2**12, 1], ids=["written-out", "by-the-lattice"])
@pytest.mark.parametrize("metric", COMPOSITES)
def test_by_unit_agrees_with_all_exchanges_written_out(metric, few, monkeypatch):
    monkeypatch.setattr(_exchange_units, "_MOST_OUTCOMES_ENUMERATED", few)
    rng = np.random.default_rng(8)
    for _ in range(15):
        rows = rng.integers(0, rng.integers(2, 5), (rng.integers(1, 9), 8))
        p, n = rows[:, [0, 2, 4, 6]].sum(), rows[:, [1, 3, 5, 7]].sum()
        a = np.stack([rows[:, 0] + rows[:, 4], rows[:, 1] + rows[:, 5]], axis=1)
        b = np.stack([rows[:, 2] + rows[:, 4], rows[:, 3] + rows[:, 5]], axis=1)
        swapped = np.array(list(itertools.product((0, 1), repeat=len(rows))))
        own, other = (swapped @ x + (1 - swapped) @ y for x, y in ((b, a), (a, b)))
        gaps = score_or_0(*other.T, p, n, metric) - score_or_0(*own.T, p, n, metric)
        weight = np.full(len(gaps), 1 / len(gaps))
        for alternative, expected in expected_pvalues(gaps, weight, gaps[0]).items():
            test = pv.randomization_test(pv.PairedCounts(rows), metric, alternative=alternative)
            assert test.pvalue == pytest.approx(expected, abs=1e-10), (rows.tolist(), alternative)


@pytest.mark.parametrize("row", golden["tails"], ids=lambda row: str(sum(row["table"])))
def test_the_posterior_of_informedness_in_forty_digits(row):
    found = pv.posterior(pv.Counts(*row["table"]), "informedness", prior=0.5)
    assert found.cdf(float(row["t"])) == pytest.approx(float(row["below"]), abs=1e-6)


few = json.loads((GOLDEN / "few_items.json").read_text())


@pytest.mark.parametrize("row", few["rows"], ids=lambda r: f"{r['metric']}{r['table']}{r['prior']}")
def test_posteriors_of_few_items_agree_with_fifty_million_draws(row):
    found = pv.posterior(pv.Counts(*row["table"]), row["metric"], prior=row["prior"])
    gap = np.max(np.abs(found.cdf(few["places"]) - np.array(row["cdf"])))
    all_wrong = row["metric"] == "kappa" and row["table"] == [0, 2, 2, 0]
    assert gap < (0.01 if all_wrong else 0.001)
    assert gap < found.error + 4e-4  # of the draws


@pytest.mark.parametrize("row", few["rows"], ids=lambda r: f"{r['metric']}{r['table']}{r['prior']}")
def test_densities_of_few_items_add_up_to_the_draws(row):
    found = pv.posterior(pv.Counts(*row["table"]), row["metric"], prior=row["prior"])
    least, _ = bounds(row["metric"])
    # with a small prior the density has a spike at 0, which the difference that it is made of blurs
    spike = row["prior"] < 0.5
    for k, (low, high) in enumerate(itertools.pairwise(few["places"])):
        if low >= least and not (spike and low < 0 < high):
            places = low + (high - low) * (np.arange(400) + 0.5) / 400
            mass = np.mean(found.pdf(places)) * (high - low)
            drawn = row["cdf"][k + 1] - row["cdf"][k]
            assert mass == pytest.approx(drawn, rel=0.03, abs=0.004)


@pytest.mark.parametrize(
    ("metric", "table", "prior"),
    [("informedness", (0, 8, 20, 0), 0.5), ("mcc", (0, 9, 9, 0), 0.125)],
)
def test_intervals_of_highest_density_end_at_the_bounds_of_the_score(metric, table, prior):
    found = pv.posterior(pv.Counts(*table), metric, prior=prior)
    low, high = found.interval(0.95, kind="highest-density")
    assert low == -1 < high < found.ppf(0.975)
    assert found.cdf(high) == pytest.approx(0.95, abs=1e-6)


@pytest.mark.parametrize("metric", ["kappa", "mcc"])
@pytest.mark.parametrize("table", [(50, 0, 0, 0), (0, 50, 0, 0), (3, 2, 0, 0), (0, 0, 0, 0)])
def test_tiny_priors_of_an_empty_class_are_refused(metric, table):
    assert 0 < pv.posterior(pv.Counts(*table), metric, prior=0.1).cdf(0.3) <= 1
    with pytest.raises(InputError, match=r"prior: 0\.05 is too small for .* class empty"):
        pv.posterior(pv.Counts(*table), metric, prior=0.05)
    assert 0 < pv.posterior(pv.Counts(5, 1, 0, 3), metric, prior=0.05).cdf(0.3) < 1


@pytest.mark.parametrize("metric", COMPOSITES)
@pytest.mark.parametrize("table", [(77, 44, 10, 702), (10, 0, 0, 10)])
def test_posteriors_agree_with_draws(metric, table):
    found = pv.posterior(pv.Counts(*table), metric)
    drawn = found.rvs(60_000, rng=1)
    low, high = found.interval(0.9)
    for share in (np.mean(drawn < low), np.mean(drawn > high)):
        assert share == pytest.approx(0.05, abs=5 * math.sqrt(0.05 * 0.95 / 6e4) + 1e-4)
    assert found.mean == pytest.approx(drawn.mean(), abs=5 * drawn.std() / math.sqrt(6e4))
    assert math.sqrt(found.var) == pytest.approx(drawn.std(), rel=0.02)
    assert low < found.mode < high or found.mode in bounds(metric) or metric == "fowlkes_mallows"
    at, h = float(found.ppf(0.3)), 1e-4
    slope = (found.cdf(at + h) - found.cdf(at - h)) / (2 * h)
    assert found.pdf(at) == pytest.approx(slope, rel=0.02)


@pytest.mark.parametrize("metric", COMPOSITES)
@pytest.mark.parametrize("cases", [[30, 20, 80, 10, 400, 60, 70, 3000], [0, 1, 3, 0, 20, 0, 2, 40]])
def test_paired_posteriors_agree_with_draws(metric, cases):
    found = CompositePairedPosterior(pv.PairedCounts(cases), metric)
    rng = np.random.default_rng(2)
    drawn = pv.PairedCounts(rng.standard_gamma(np.array(cases) + 0.5, (60_000, 8)))
    gaps = score(drawn.b, metric) - score(drawn.a, metric)
    low, high = found.interval(0.9)
    near = 5 * math.sqrt(0.25 / 6e4) + found.error
    assert np.mean(gaps < low) == pytest.approx(0.05, abs=near)
    assert np.mean(gaps > high) == pytest.approx(0.05, abs=near)
    assert found.probabilities()[2] == pytest.approx(np.mean(gaps > 0), abs=near)
    assert found.error < 5e-3


@pytest.mark.parametrize("metric", COMPOSITES)
def test_limits_are_ordered_and_within_bounds(metric):
    low, high = bounds(metric)
    for table in ((77, 44, 10, 702), (5, 0, 0, 15), (0, 3, 4, 13), (1, 0, 19, 0), (0, 0, 0, 9)):
        for method in methods_for(metric):
            found = pv.interval(pv.Counts(*table), metric, method)
            if math.isnan(found.estimate):
                assert (found.low, found.high) == (low, high)
                assert found.note.startswith("undefined")
            elif method != "wald":
                assert low <= found.low <= found.high <= high
            if method in ("guarded", "jeffreys", "mover") and not math.isnan(found.estimate):
                assert found.low <= found.estimate <= found.high


@pytest.mark.parametrize("metric", COMPOSITES)
def test_a_difference_may_exceed_1_where_a_score_may_be_below_0(metric):
    gap = pv.difference(pv.PairedCounts([0, 40, 40, 0, 0, 0, 0, 0]), metric)
    assert gap.estimate == pytest.approx(bounds(metric)[1] - bounds(metric)[0])
    assert gap.low <= gap.estimate <= gap.high


@pytest.mark.parametrize("metric", [*COMPOSITES, "f1"])
def test_units_of_one_item_are_items(metric):
    rng = np.random.default_rng(3)
    kinds = np.eye(4, dtype=int)[rng.choice(4, 300, p=[0.3, 0.1, 0.1, 0.5])]
    units = pv.Counts(*kinds.T)
    alone, clustered = pv.interval(units.sum(), metric), pv.interval(units, metric, clustered=True)
    assert clustered.low == pytest.approx(alone.low, abs=0.01)
    assert dependence_of_score(units, metric).design_effect == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("metric", [m for m in COMPOSITES if m != "kappa"])
def test_a_class_in_one_unit_alone_is_no_evidence(metric):
    units = pv.Counts(tp=[5, 0, 0], fp=[1, 0, 0], fn=[1, 0, 0], tn=[9, 8, 7])
    found = pv.interval(units, metric, clustered=True)
    assert (found.low, found.high) == bounds(metric)
    assert found.note.startswith("one unit")


@pytest.mark.parametrize("metric", COMPOSITES)
def test_a_plan_is_not_moved_by_items_on_which_systems_agree(metric):
    found = pv.plan(pv.PairedCounts([30, 20, 55, 30, 400, 60, 70, 3000]), metric, difference=0.03)
    assert found.units is not None
    same = pv.plan(pv.PairedCounts([0, 0, 0, 0, 400, 60, 70, 3000]), metric, difference=0.03)
    assert same.units is None
    assert "never differ" in same.note


@pytest.mark.parametrize("metric", ["mcc", "kappa"])
def test_several_classes_are_those_of_scikit_learn(metric):
    rng = np.random.default_rng(4)
    for _ in range(100):
        k, n = int(rng.integers(2, 7)), int(rng.integers(5, 80))
        gold = rng.integers(0, k, n)
        said = np.where(rng.random(n) < 0.6, gold, rng.integers(0, k, n))
        table = sk.confusion_matrix(gold, said, labels=range(k)).astype(float)
        found = float(score_of_table(table, metric))
        assert math.isnan(found) or found == pytest.approx(WITH_PEERS[metric](gold, said))
        full = table + 0.5
        slopes, h = slopes_of_table(full, metric), 1e-5
        for i, j in ((0, 0), (0, k - 1), (k - 1, 0)):
            step = np.zeros((k, k))
            step[i, j] = h
            rise = score_of_table(full + step, metric) - score_of_table(full - step, metric)
            assert slopes[i, j] == pytest.approx(float(rise) / (2 * h), abs=1e-8)


@pytest.mark.parametrize("metric", COMPOSITES)
def test_guarded_limits_are_quantiles_of_posteriors_that_lean_away(metric):
    tp, fp, fn, tn = table = (5, 0, 1, 14)
    found = pv.interval(pv.Counts(*table), metric, level=0.9)
    assert found.method == "guarded"
    low = CompositePosterior(metric, [tp + 0.125, fp + 0.75, fn + 0.75, tn + 0.125])
    high = CompositePosterior(metric, [tp + 0.75, fp + 0.125, fn + 0.125, tn + 0.75])
    assert [found.low, found.high] == pytest.approx([low.ppf(0.05), high.isf(0.05)], abs=4e-9)
    jeffreys = pv.interval(pv.Counts(*table), metric, "jeffreys", level=0.9)
    assert found.low < jeffreys.low < jeffreys.high < found.high


@pytest.mark.parametrize("metric", ["mcc", "informedness", "fowlkes_mallows"])
def test_the_least_coverage_of_five_items_is_above_093(metric):
    assert least_coverage(metric, 5).coverage > 0.93
    assert least_coverage(metric, 5, "jeffreys").coverage < 0.92


def test_differences_of_poor_systems_are_covered_by_all_tables():
    # two systems that guess, apart from each other: every case is as likely as every other
    n, metric = 6, "mcc"
    covered = defined = 0.0
    for cuts in itertools.combinations(range(n + 7), 7):
        cases = np.diff([-1, *cuts, n + 7]) - 1
        gap = pv.difference(pv.PairedCounts(cases), metric)
        if np.isnan(gap.estimate):
            continue
        chance = math.factorial(n) / np.prod(special.factorial(cases)) / 8**n
        defined += chance
        covered += chance * (gap.low <= 1e-12 and gap.high >= -1e-12)
    assert defined > 0.9
    assert covered / defined > 0.95


def test_differences_join_the_limits_of_the_two_scores():
    paired = pv.PairedCounts([9, 4, 3, 8, 12, 6, 5, 60])
    gap = pv.difference(paired, "mcc")
    a, b = (pv.interval(counts, "mcc") for counts in (paired.a, paired.b))
    below, above = b.estimate - b.low, a.high - a.estimate
    arm = math.sqrt(below**2 + above**2 - 2 * gap.correlation * below * above)
    assert gap.low == pytest.approx(gap.estimate - arm, abs=1e-12)


def test_kappa_of_mostly_positives_has_a_least_value():
    """Where no recall gives a kappa so low, the equation has a root all the same, of no meaning."""
    kappa = CompositePosterior("kappa", [2.0, 2.0, 2.0, 2.0])
    drawn = np.random.default_rng(0).standard_gamma(2.0, (4, 200_000))
    for t in (-0.999, -0.9, -0.5):
        share = np.mean(TABLE["kappa"].value(*drawn) <= t)
        assert kappa.cdf(t) == pytest.approx(share, abs=5 * math.sqrt(0.04 / 2e5))
    assert np.all(np.diff(kappa.cdf(np.linspace(-1, 1, 201))) >= 0)


@pytest.mark.parametrize("classes", [2, 3])
def test_one_label_for_everything_is_no_certainty(classes):
    answer = np.arange(60) % (4 * classes) // 4
    said = np.zeros(60, dtype=int)
    by_system = confusion_interval(ConfusedItems(answer, said, classes), "kappa")
    assert by_system.estimate == 0
    assert by_system.low < -0.02 < 0.02 < by_system.high < 0.5
    assert "one class" in by_system.note
    by_answer = confusion_interval(ConfusedItems(said, answer, classes), "kappa")
    assert (by_answer.low, by_answer.high) == (by_system.low, by_system.high)
    # a rare class that was never called may have been missed by chance alone
    rare = confusion_interval(ConfusedItems(answer * 0 + (np.arange(60) == 7), said, 2), "kappa")
    assert rare.high == 1.0
    both = confusion_interval(ConfusedItems(said + 1, said, classes), "kappa")
    assert (both.low, both.high) == (-1.0, 1.0)
    items = [ConfusedItems(answer, one, classes) for one in (said, answer)]
    gap = confusion_difference(*items, "kappa")
    assert gap.low < gap.estimate == 1


def test_differences_at_many_points_are_those_at_each():
    both = CompositePairedPosterior(pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300]), "mcc")
    d = np.linspace(-0.2, 0.4, 700)
    below, above, density = both.cdf(d), both.sf(d), both.pdf(d)
    for i in (0, 111, 350, 401, 555, 699):
        assert below[i] == pytest.approx(both.cdf(d[i]), abs=1e-6)
        assert above[i] == pytest.approx(both.sf(d[i]), abs=1e-6)
        assert density[i] == pytest.approx(both.pdf(d[i]), abs=1e-2)


def test_the_mean_of_differences_may_exceed_1():
    far = pv.PairedCounts([0, 40, 40, 0, 0, 0, 0, 0])
    result = pv.compare_datasets({"x": far, "y": far}, metric="informedness")
    assert result.mean.estimate == pytest.approx(2.0)
    assert result.mean.low < 2.0 <= result.mean.high <= 2.0
    assert result.mean.low > 1.5
    assert result.mean.posterior.interval()[1] > 1.8


def test_two_classes_are_two_classes_by_either_way():
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 2, 400)
    a, b = (np.where(rng.random(400) < e, 1 - gold, gold) for e in (0.2, 0.12))
    both = [ConfusedItems(gold, said, 2) for said in (a, b)]
    paired = pv.PairedCounts.from_labels(gold, a, b)
    for metric in ("mcc", "kappa"):
        table = confusion_interval(both[1], metric)
        cells = pv.interval(paired.b, metric)
        assert table.estimate == pytest.approx(cells.estimate)
        assert [table.low, table.high] == pytest.approx([cells.low, cells.high], abs=0.01)
        gap, other = confusion_difference(*both, metric), pv.difference(paired, metric)
        assert [gap.low, gap.high] == pytest.approx([other.low, other.high], abs=0.02)
        test = confusion_tests([both], metric, rng=1)[0]
        exact = pv.randomization_test(paired, metric)
        assert test.pvalue == pytest.approx(exact.pvalue, abs=5 * test.standard_error + 1e-4)


def test_what_makes_no_sense_is_refused_in_one_line():
    with pytest.raises(InputError, match="mcc needs tn"):
        pv.interval(pv.Counts(tp=5, fp=1, fn=2), "mcc")
    gold, said = ["x", "y", "z"] * 20, ["x", "y", "x"] * 20
    with pytest.raises(InputError, match="not defined over all classes"):
        pv.score(gold, said, metric="markedness")
    with pytest.raises(InputError, match="no mean over labels"):
        pv.compare(gold, said, gold, metric="mcc", average="macro")
    with pytest.raises(InputError, match="not defined over all classes"):
        pv.rank(gold, {"a": said, "b": gold}, metric="informedness")


def test_whole_tables_are_scored_and_compared():
    rng = np.random.default_rng(6)
    gold = rng.choice(["x", "y", "z"], 300)
    said = [
        np.where(rng.random(300) < e, rng.choice(["x", "y", "z"], 300), gold) for e in (0.4, 0.1)
    ]
    result = pv.compare(gold, *said, metric=["mcc", "kappa", "balanced_accuracy"], rng=1)
    for comparison in result.comparisons:
        peer = WITH_PEERS[comparison.metric]
        gap = peer(gold, said[1]) - peer(gold, said[0])
        assert comparison.difference == pytest.approx(gap)
        assert comparison.low < gap < comparison.high
        assert comparison.pvalue < 0.01
        assert comparison.p_b_better > 0.99


def test_every_metric_is_of_one_kind():
    assert set(RATIOS) | set(COMPOSITES) == set(TABLE)
    assert not set(RATIOS) & set(COMPOSITES)


@pytest.mark.parametrize("metric", COMPOSITES)
def test_bootstraps_runs_and_ranks_take_them(metric):
    rng = np.random.default_rng(9)
    units = pv.PairedCounts(rng.poisson([0.3, 0.1, 0.5, 0.1, 3, 0.4, 0.3, 20], (60, 8)))
    drawn, limits = pv.bootstrap_difference(units, metric, rng=1), pv.difference(units, metric)
    assert drawn.estimate == limits.estimate
    assert drawn.low == pytest.approx(limits.low, abs=0.03)
    items = pv.bootstrap_difference(units.total(), metric, rng=1, n_resamples=500)
    assert items.low < items.estimate < items.high
    tp = [rng.binomial(3, q, 80) for q in (0.6, 0.62, 0.9, 0.92)]
    runs = [pv.Counts(t, f, 3 - t, 5 - f) for t in tp for f in (rng.binomial(5, 0.2, 80),)]
    found = pv.compare({"A": runs[:2], "B": runs[2:]}, metric=metric)
    assert found.comparisons[0].difference > 0
    board = pv.rank({"a": runs[0], "b": runs[2]}, metric=metric)
    assert [system.name for system in board.ranking] == ["b", "a"]
    assert board.ranking[0].p_best > 0.95
