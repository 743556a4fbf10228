"""Design effects, clustered intervals and the interval of a difference."""

from __future__ import annotations

import copy
import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import probative as pv
from probative.inference.differences import mover
from probative.inference.posterior.paired import PairedPosterior
from probative.inference.posterior.student import posterior_of_difference
from probative.inference.units import (
    ONE_UNIT,
    correlation,
    dependence_of_difference,
    dependence_of_score,
    design_notes,
)

METRICS = ("precision", "recall", "f1", "fbeta", "jaccard", "accuracy", "specificity", "npv")
rows = st.lists(st.lists(st.integers(0, 5), min_size=8, max_size=8), min_size=3, max_size=20)


units_of = st.lists(st.lists(st.integers(0, 5), min_size=7, max_size=7), min_size=1, max_size=8)


def scores_without(cases, metric, beta, system):
    """The score without each of the units, by brute force."""
    rest = [np.delete(cases, i, axis=0).sum(axis=0) for i in range(len(cases))]
    tables = [getattr(pv.PairedCounts(table), system) for table in rest]
    return np.array([pv.metrics.score(table, metric, beta=beta) for table in tables])


def jackknife_variance(without):
    n = len(without)
    return (n - 1) / n * np.sum((without - without.mean()) ** 2)


def influences(cases, metric, beta, system):
    """(x_i - F·y_i)/Y, written out unit by unit."""
    x, y = [], []
    for row in cases:
        counts = getattr(pv.PairedCounts(row), system)
        top, bottom = pv.metrics.ratio(counts, metric, beta=beta)
        x.append(top)
        y.append(bottom)
    f = sum(x) / sum(y)
    return [(a - f * b) / sum(y) for a, b in zip(x, y, strict=True)]


def item_rows(table):
    """The same items, each a unit of its own."""
    return [row for case, n in enumerate(table) for row in [np.eye(8)[case]] * int(n)]


@pytest.mark.parametrize("metric", METRICS)
def test_design_effects_follow_their_definition(metric):
    rng = np.random.default_rng(1)
    cases = rng.integers(0, 6, (12, 8))
    items = item_rows(cases.sum(axis=0))
    paired = pv.PairedCounts(cases)
    i = {s: influences(items, metric, 2.0, s) for s in "ab"}
    without = {s: scores_without(cases, metric, 2.0, s) for s in "ab"}
    expected = jackknife_variance(without["a"]) / np.sum(np.square(i["a"]))
    found = dependence_of_score(paired.a, metric, beta=2.0)
    assert found.design_effect == pytest.approx(expected, rel=1e-10)
    of_items = np.subtract(i["b"], i["a"])
    expected = jackknife_variance(without["b"] - without["a"]) / np.sum(of_items**2)
    found = dependence_of_difference(paired, metric, beta=2.0)
    assert found.design_effect == pytest.approx(expected, rel=1e-10)
    assert found.divisor == max(1, found.design_effect)


@pytest.mark.parametrize("metric", METRICS)
def test_correlation_is_that_of_the_table_and_a_half(metric):
    cases = np.random.default_rng(1).integers(0, 6, 8)
    items = item_rows(2 * cases + 1)  # twice the items: correlations do not change
    i = {s: influences(items, metric, 2.0, s) for s in "ab"}
    expected = np.dot(i["a"], i["b"]) / math.sqrt(np.dot(i["a"], i["a"]) * np.dot(i["b"], i["b"]))
    found = correlation(pv.PairedCounts(cases), metric, beta=2.0)
    assert found == pytest.approx(expected, rel=1e-12)


def test_degrees_of_freedom_are_the_effective_number_of_units_less_one():
    counts = pv.Counts(tp=[3, 1, 0, 0], fp=[1, 0, 2, 0], fn=[2, 0, 1, 0])
    y = np.array([9, 2, 3])  # the fourth unit is empty
    found = dependence_of_score(counts, "f1")
    assert found.degrees_of_freedom == pytest.approx(y.sum() ** 2 / np.sum(y**2) - 1)
    assert found.units == 3
    same = dependence_of_score(pv.Counts(tp=[3] * 7, fp=[1] * 7, fn=[2] * 7), "f1")
    assert same.degrees_of_freedom == pytest.approx(6)
    paired = pv.PairedCounts([[1, 0, 0, 0, 2, 0, 0], [0, 1, 0, 0, 1, 0, 0], [0, 0, 0, 1, 0, 0, 4]])
    y = np.array([6 + 5, 3 + 2, 4 + 5])
    found = dependence_of_difference(paired, "f1")
    assert found.degrees_of_freedom == pytest.approx(y.sum() ** 2 / np.sum(y**2) - 1)


def test_few_large_units_tell_the_variance_whatever_many_small_ones_tell():
    """Satterthwaite's degrees of freedom, written out unit by unit."""
    rng = np.random.default_rng(8)
    sizes = np.concatenate([[90, 60], np.full(40, 5)])
    own = rng.dirichlet(np.array([1, 1, 1, 1, 8, 2, 2]) * 0.3, len(sizes))
    units = pv.PairedCounts(rng.multinomial(sizes, own))
    found = dependence_of_difference(units, "recall")
    y = (units.a.tp + units.a.fn).astype(float)  # items that recall is of, the same for both
    r = (found.divisor - 1) / (np.sum(y**2) / y.sum() - 1)
    variance = y * (1 + (y - 1) * r)
    assert 0 < r < 1
    assert found.variance_freedom == pytest.approx(variance.sum() ** 2 / np.sum(variance**2))
    assert found.tail_freedom == found.variance_freedom < 0.7 * found.degrees_of_freedom
    # probabilities and the posterior's limits rest on it, MOVER's limits do not
    posterior = posterior_of_difference(units, "recall")
    score = stats.norm.ppf(posterior.base.sf(0))
    assert posterior.sf(0) == pytest.approx(stats.t.cdf(score, found.variance_freedom))
    low, high = posterior.interval(0.9)
    assert (posterior.cdf(low), posterior.sf(high)) == pytest.approx((0.05, 0.05))
    # equal units tell it no less well
    rows = [[2, 0, 0, 1, 9, 1, 2], [0, 1, 2, 0, 9, 1, 2]]
    even = dependence_of_difference(pv.PairedCounts(rows, [7, 8]), "f1")
    assert even.variance_freedom == pytest.approx(15)
    assert even.tail_freedom == even.degrees_of_freedom == pytest.approx(14)


def test_one_item_a_unit_has_a_design_effect_of_about_one():
    table = [6, 4, 9, 3, 40, 6, 7, 300]
    units = pv.PairedCounts(np.eye(8), table)
    assert dependence_of_score(units.a, "f1").design_effect == pytest.approx(1, rel=0.02)
    assert dependence_of_difference(units, "f1").design_effect == pytest.approx(1, rel=0.02)
    assert dependence_of_score(units.a, "accuracy").design_effect == pytest.approx(
        375 / 374, rel=1e-12
    )


def test_repeating_every_item_of_a_unit_doubles_the_design_effect():
    cases = np.random.default_rng(2).integers(0, 4, (30, 8))
    once, twice = pv.PairedCounts(cases), pv.PairedCounts(2 * cases)
    for of, units in ((dependence_of_score, "b"), (dependence_of_difference, None)):
        few, many = (of(getattr(p, units) if units else p).design_effect for p in (once, twice))
        assert many == pytest.approx(2 * few)


def test_a_shock_shared_by_both_systems_cancels_in_the_difference():
    """Easy and hard sentences: both systems find all or nothing, save for independent slips."""
    rng = np.random.default_rng(3)
    hard = rng.random(400) < 0.5
    cases = np.zeros((400, 8))
    cases[:, 4], cases[:, 6] = np.where(hard, 0, 8), np.where(hard, 8, 0)
    slip = rng.integers(0, 2, 400)
    cases[np.arange(400), 2 * slip] += 1
    paired = pv.PairedCounts(cases)
    assert dependence_of_score(paired.a, "recall").design_effect > 5
    assert dependence_of_difference(paired, "recall").design_effect < 1.1


def test_multiplicity_stands_for_repeated_rows():
    cases = np.random.default_rng(4).integers(0, 4, (9, 8))
    number = np.array([1, 4, 2, 7, 1, 1, 3, 2, 5])
    short, long = pv.PairedCounts(cases, number), pv.PairedCounts(np.repeat(cases, number, axis=0))
    few, many = dependence_of_difference(short), dependence_of_difference(long)
    assert few.design_effect == pytest.approx(many.design_effect, rel=1e-12)
    assert few.degrees_of_freedom == pytest.approx(many.degrees_of_freedom, rel=1e-12)
    assert (few.units, few.note) == (many.units, many.note) == (26, None)
    assert str(pv.difference(short)) == str(pv.difference(long))


@given(units_of, st.integers(1, 50))
def test_empty_units_are_not_there(cases, empty):
    """A thousand of them once narrowed [-0.04, +0.47] to [+0.06, +0.37]."""
    appended = np.concatenate([np.array(cases), np.zeros((empty, 7))])
    few, many = pv.PairedCounts(cases), pv.PairedCounts(appended)
    for method in ("mover", "bayes"):
        if method == "bayes" and not np.sum(cases):
            continue
        one, other = (pv.difference(p, "recall", method=method).to_dict() for p in (few, many))
        assert one == other
    one, other = (pv.interval(p.a, "f1", clustered=True).to_dict() for p in (few, many))
    assert one == other
    one, other = (pv.bootstrap_difference(p, n_resamples=50, rng=1) for p in (few, many))
    assert one.to_dict() == other.to_dict()


def test_a_thousand_empty_sentences_do_not_narrow_the_interval_of_four():
    rows = [
        [0, 0, 2, 0, 3, 0, 1],
        [0, 0, 0, 0, 2, 1, 0],
        [0, 0, 1, 0, 1, 0, 2],
        [1, 0, 1, 0, 2, 0, 0],
    ]
    four = pv.difference(pv.PairedCounts(rows), "f1")
    padded = pv.difference(pv.PairedCounts([*rows, [0] * 7], [1, 1, 1, 1, 1000]), "f1")
    assert padded.to_dict() == four.to_dict()
    assert four.low < 0


def test_clustered_interval_is_wilsons_with_students_quantile():
    units = pv.PairedCounts(np.random.default_rng(5).integers(0, 6, (40, 8))).a
    for metric in ("f1", "precision", "accuracy"):
        found = pv.interval(units, metric, clustered=True)
        worth = dependence_of_score(units, metric)
        plain = pv.interval(units.sum(), metric)
        t = stats.t.ppf(0.975, worth.degrees_of_freedom)
        level = 1 - 2 * stats.norm.sf(t)
        divided = pv.interval(units.sum() / worth.divisor, metric, level=level)
        assert found.design_effect == worth.design_effect
        assert (found.low, found.high) == pytest.approx((divided.low, divided.high), rel=1e-9)
        assert found.estimate == pytest.approx(plain.estimate)
        assert found.high - found.low > plain.high - plain.low


@pytest.mark.parametrize("right", [True, False])
def test_all_right_or_all_wrong_is_worth_as_many_items_as_units(right):
    n = np.array([5, 7, 9, 11])
    units = pv.Counts(tp=n * right, fp=n * 0, fn=n * (not right))
    found = pv.interval(units, "recall", clustered=True)
    worth = dependence_of_score(units, "recall")
    assert math.isnan(found.design_effect)
    assert worth.divisor == 8
    assert worth.degrees_of_freedom == pytest.approx(32**2 / np.sum(n**2) - 1)
    t = stats.t.ppf(0.975, worth.degrees_of_freedom)
    width = t**2 / (4 + t**2)  # Wilson's interval of 4 of 4
    expected = (1 - width, 1) if right else (0, width)
    assert (found.low, found.high) == pytest.approx(expected)
    assert found.note is None
    assert found.to_dict()["design_effect"] is None


def test_identical_systems_are_worth_as_many_items_as_units():
    rows = np.zeros((6, 7))
    rows[:, 4], rows[:, 6] = 12, 3
    paired = pv.PairedCounts(rows)
    worth = dependence_of_difference(paired, "f1")
    assert (worth.divisor, worth.units) == (15, 6)
    found = pv.difference(paired, "f1")
    assert found.low < -0.2
    assert found.high == pytest.approx(-found.low)


ONE = pv.PairedCounts([[0, 0, 9, 1, 40, 2, 3, 5]])


@pytest.mark.parametrize(
    "paired", [ONE, pv.PairedCounts([*ONE.cases, [0] * 8])], ids=["1", "+empty"]
)
@pytest.mark.parametrize("method", ["mover", "bayes"])
def test_one_unit_is_no_evidence(paired, method):
    found = pv.difference(paired, "f1", method=method, level=0.5)
    assert (found.low, found.high, found.note) == (-1, 1, ONE_UNIT)
    assert math.isnan(found.design_effect)
    assert found.estimate > 0
    single = pv.interval(paired.a, "f1", clustered=True)
    assert (single.low, single.high, single.note) == (0, 1, ONE_UNIT)
    posterior = posterior_of_difference(paired, "f1")
    assert posterior.no_evidence
    assert all(math.isnan(p) for p in posterior.probabilities(0.01))
    assert posterior.interval(0.5) == (-1, 1)
    for function in (posterior.cdf, posterior.sf, posterior.pdf):
        assert np.isnan(function([-0.1, 0.0, 0.2])).all()
    assert math.isnan(posterior.mean)
    boot = pv.bootstrap_difference(paired, "f1", rng=1)
    assert (boot.low, boot.high, boot.note) == (-1, 1, ONE_UNIT)


def test_a_system_that_speaks_in_one_unit_only_is_no_evidence_of_its_precision():
    rows = [[2, 1, 0, 0, 3, 0, 0], [0, 0, 2, 1, 0, 0, 0], [0, 0, 3, 0, 0, 0, 0]]
    found = pv.difference(pv.PairedCounts(rows), "precision")
    assert (found.low, found.high, found.note) == (-1, 1, ONE_UNIT)
    assert pv.bootstrap_difference(pv.PairedCounts(rows), "precision").note == ONE_UNIT
    assert pv.difference(pv.PairedCounts(rows), "f1").note != ONE_UNIT


def _documents(n, rng, *, harder=False, f1=0.7):
    """Documents of lognormal length; the long ones may be harder."""
    size = np.maximum(1, rng.lognormal(2.5, 1.0, n)).astype(int)
    right = np.clip(1 / (1 + size / 12), 0.02, 0.98) if harder else np.full(n, f1 / (2 - f1))
    tp = rng.binomial(size, rng.beta(9 * right, 9 * (1 - right)))
    fp = rng.binomial(size - tp, 0.5)
    return pv.Counts(tp, fp, size - tp - fp)


def test_few_units_say_what_they_may_not_show():
    """The rule of three, whatever the scores are: fewer than 60 effective units."""
    missing = "a weakness that affects fewer than 1 page in {} may be missing from this test set"
    for tp in (4, 2, 0):
        twelve = pv.Counts([tp] * 12, [0] * 12, [4 - tp] * 12)
        assert design_notes([twelve], ["a"], "page") == ["12 pages: " + missing.format(4)]
    assert not design_notes([pv.Counts([2] * 60, [0] * 60, [1] * 60)], ["a"], "page")
    uneven = pv.Counts([1] * 99 + [99], [0] * 100, [0] * 100)
    (said,) = design_notes([uneven], ["a"], "page")
    assert said.startswith("100 pages (effective sample size 4): a weakness that affects many")
    # empty units are not there, and rows may stand for several
    rows = pv.Counts([2, 0], [0, 1], [1, 0])
    assert design_notes([rows], ["a"], "page", [30, 500]) == [
        "30 pages that hold items: " + missing.format(10)
    ]


def test_longer_units_that_score_lower_are_said():
    rng = np.random.default_rng(2)
    harder = [_documents(40, rng, harder=True) for _ in range(40)]
    even = [_documents(40, rng) for _ in range(100)]
    good = [_documents(100, rng, f1=0.97) for _ in range(100)]

    def said(counts):
        return any("longer documents" in note for note in design_notes([counts], ["a"], "document"))

    assert np.mean([*map(said, harder)]) > 0.7
    assert np.mean([*map(said, even)]) < 0.05
    assert np.mean([*map(said, good)]) < 0.08  # short ones are all right by chance
    both = harder[0], harder[0]
    assert " for a, −" in design_notes(both, ["a", "b"], "document")[-1]
    assert design_notes(both, ["a", "b"], "document")[-1].endswith(
        " for b): intervals may be too optimistic"
    )


def test_what_the_sample_happens_to_hold_is_no_note():
    """Few mistakes, or a dispute that lies on one side, show nothing of what is missing."""
    wrong = np.zeros(70)
    wrong[[3, 17]] = 9, 6
    assert pv.interval(pv.Counts(30 - wrong, wrong, 0 * wrong), "f1", clustered=True).note is None
    rows = np.zeros((20, 7))
    rows[:, 4], rows[:, 6], rows[:2, 0] = 20, 10, 2
    for method in ("mover", "bayes"):
        assert pv.difference(pv.PairedCounts(rows), "f1", method=method).note is None
    assert pv.difference(pv.PairedCounts([10, 0, 0, 0, 480, 0, 510]), "recall").note is None


def test_clustered_needs_units():
    with pytest.raises(ValueError, match=r"^clustered: counts of shape \(\)"):
        pv.interval(pv.Counts(3, 1, 2), "f1", clustered=True)


def test_mover_follows_its_formula():
    paired = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
    a, b = pv.interval(paired.a, "f1"), pv.interval(paired.b, "f1")
    r = correlation(paired, "f1")
    d = b.estimate - a.estimate
    x, y = b.estimate - b.low, a.high - a.estimate
    u, v = b.high - b.estimate, a.estimate - a.low
    found = pv.difference(paired, "f1")
    assert found.low == pytest.approx(d - math.sqrt(x * x - 2 * r * x * y + y * y))
    assert found.high == pytest.approx(d + math.sqrt(u * u - 2 * r * u * v + v * v))
    assert found.correlation == r
    assert found.design_effect is None
    assert (found.low, found.high) == pytest.approx(mover(a, b, r))


@pytest.mark.parametrize("metric", METRICS)
def test_difference_with_units_divides_by_its_own_design_effect(metric):
    paired = pv.PairedCounts(np.random.default_rng(6).integers(0, 6, (40, 8)))
    found = pv.difference(paired, metric, beta=2.0)
    worth = dependence_of_difference(paired, metric, beta=2.0 if metric == "fbeta" else 1.0)
    divided = paired.total() / worth.divisor
    level = 1 - 2 * stats.norm.sf(stats.t.ppf(0.975, worth.degrees_of_freedom))
    same = pv.difference(divided, metric, beta=2.0, level=level)
    assert found.design_effect == worth.design_effect
    assert (found.low, found.high) == pytest.approx((same.low, same.high))


@pytest.mark.parametrize("metric", ["f1", "precision", "recall", "accuracy"])
def test_posterior_is_the_paired_one_with_students_tails(metric):
    paired = pv.PairedCounts(np.random.default_rng(9).poisson([1, 1, 2, 1, 9, 2, 2, 20], (60, 8)))
    found = pv.difference(paired, metric, method="bayes", level=0.9, prior=0.5)
    worth = dependence_of_difference(paired, metric)
    base = PairedPosterior(paired.total() / worth.divisor, metric, prior=0.5)
    posterior = posterior_of_difference(paired, metric, prior=0.5)
    assert (posterior.kind, posterior.mean) == ("paired", base.mean)
    assert base.error <= posterior.error <= 5 * base.error
    t = stats.t(worth.degrees_of_freedom)
    for d in (-0.05, 0.0, 0.03, 0.1):
        expected = t.cdf(stats.norm.ppf(base.cdf(d)))
        assert posterior.cdf(d) == pytest.approx(expected, rel=1e-3, abs=1e-9)
        assert posterior.sf(d) == pytest.approx(1 - posterior.cdf(d), abs=1e-12)
        slope = (posterior.cdf(d + 1e-5) - posterior.cdf(d - 1e-5)) / 2e-5
        assert posterior.pdf(d) == pytest.approx(slope, rel=1e-2, abs=1e-6)
    assert (found.low, found.high) == posterior.interval(0.9)
    assert posterior.cdf(found.low) == pytest.approx(0.05, abs=1e-6)
    assert posterior.sf(found.high) == pytest.approx(0.05, abs=1e-6)


def test_without_units_it_is_the_paired_posterior():
    table = pv.PairedCounts([30, 20, 80, 10, 400, 60, 70, 3000])
    found, base = posterior_of_difference(table), PairedPosterior(table)
    assert found.interval(0.9) == base.interval(0.9)
    assert found.probabilities(0.01) == base.probabilities(0.01)
    assert found.cdf(0.03) == base.cdf(0.03)
    assert found.pdf(0.03) == base.pdf(0.03)
    assert found.sf(0.03) == pytest.approx(1 - base.cdf(0.03), abs=1e-6)


SENTENCES = pv.PairedCounts(
    [[0, 0, 3, 0, 12, 0, 0], [2, 0, 0, 0, 14, 1, 0], [0, 2, 0, 0, 11, 0, 1]], [9, 4, 6]
)


def test_probabilities_do_not_depend_on_a_level_and_swapping_mirrors_them():
    one, other = posterior_of_difference(SENTENCES), posterior_of_difference(SENTENCES.swapped())
    a, equal, b = one.probabilities(0.02)
    assert (b, equal, a) == pytest.approx(other.probabilities(0.02), abs=1e-12)
    low, high = one.interval(0.8)
    assert other.interval(0.8) == pytest.approx((-high, -low), abs=1e-12)
    # limits and probabilities tell the same at every level
    for level in (0.5, 0.9, 0.999):
        low, high = one.interval(level)
        assert one.cdf(low) == pytest.approx((1 - level) / 2, rel=1e-4)
        assert one.sf(high) == pytest.approx((1 - level) / 2, rel=1e-4)


def test_probabilities_are_monotone_down_to_the_far_tails():
    rows = np.zeros((30, 7))
    rows[:, 2], rows[:, 4] = np.arange(30) % 4 + 20, 60  # B is far better
    posterior = posterior_of_difference(pv.PairedCounts(rows), "recall")
    d = np.linspace(-0.9, 0.9, 181)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        below, above = posterior.cdf(d), posterior.sf(d)
        density = posterior.pdf(d)
    assert (np.diff(below) >= 0).all()
    assert (np.diff(above) <= 0).all()
    assert below + above == pytest.approx(np.ones(len(d)))
    assert (posterior.cdf(1), posterior.sf(1), posterior.cdf(-1), posterior.sf(-1)) == (1, 0, 0, 1)
    # the paired posterior is known up to eight deviations
    a_better, _, b_better = posterior.probabilities(0)
    freedom = posterior.dependence.tail_freedom
    assert a_better <= stats.t.cdf(-7.8, freedom)
    assert b_better == pytest.approx(1 - a_better, abs=1e-15)
    assert (np.isfinite(density) & (density >= 0)).all()


def test_two_units_say_nothing_at_a_high_level():
    """One degree of freedom: Student's quantile, 12.7, lies beyond what is known."""
    two = posterior_of_difference(pv.PairedCounts([[1, 1, 2, 1, 30, 2, 3], [1, 0, 3, 1, 28, 1, 3]]))
    assert two.interval(0.95) == (-1, 1)
    narrow, wide = two.interval(0.5), two.interval(0.9)
    assert -1 < wide[0] < narrow[0] < narrow[1] < wide[1] < 1
    assert two.cdf(-0.999) == pytest.approx(stats.t.cdf(-8, two.dependence.tail_freedom))


def test_symmetric_units_are_a_tie():
    rows = [[2, 0, 0, 1, 9, 1, 2], [0, 1, 2, 0, 9, 1, 2]]
    a, equal, b = posterior_of_difference(pv.PairedCounts(rows, [7, 7])).probabilities(0)
    assert (a, equal, b) == (0.5, 0, 0.5)


def test_posteriors_can_be_pickled_and_copied():
    posterior = posterior_of_difference(SENTENCES)
    pickled = pickle.loads(pickle.dumps(posterior))  # noqa: S301  # our own
    for twin in (pickled, copy.deepcopy(posterior)):
        assert twin.probabilities(0.01) == posterior.probabilities(0.01)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999999])
@pytest.mark.parametrize("metric", ["f1", "fbeta", "recall", "accuracy"])
@pytest.mark.parametrize("size", [1, 30, 10**6, 10**12])
def test_a_giant_among_units_breaks_nothing(metric, level, size):
    """Degrees of freedom well below 1, quantiles beyond any normal tail."""
    rows = [[1, 1, 2, 1, 9, 2, 3, 5], [2, 1, 1, 1, 8, 1, 2, 9]]
    paired = pv.PairedCounts(np.array(rows) * [[1], [size]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in ("mover", "bayes"):
            found = pv.difference(paired, metric, method=method, level=level, beta=2.0)
            assert -1 <= found.low <= found.high <= 1
            if method == "mover":
                assert found.low <= found.estimate <= found.high
        for method in pv.inference.intervals.methods_for(metric, 2.0):
            single = pv.interval(paired.a, metric, method, level=level, beta=2.0, clustered=True)
            assert method == "wald" or 0 <= single.low <= single.high <= 1


def test_near_copies_have_an_interval_with_a_width():
    """With the correlation of the bare table it was [-0.0000, +0.0000]."""
    found = pv.difference(pv.PairedCounts([0, 0, 0, 0, 500, 0, 500]), "recall")
    assert found.low < -0.001
    assert found.high > 0.001


@given(
    st.lists(st.integers(0, 30), min_size=8, max_size=8),
    st.sampled_from(METRICS),
    st.sampled_from([0.2, 1.0, 5.0]),
    st.sampled_from([0.5, 0.95, 0.9999]),
)
def test_the_estimate_lies_within_its_limits_and_these_within_one(cases, metric, beta, level):
    found = pv.difference(pv.PairedCounts(cases), metric, beta=beta, level=level)
    assert -1 <= found.low <= found.high <= 1
    assert math.isnan(found.estimate) or found.low <= found.estimate <= found.high


def test_limits_of_a_posterior_that_leave_the_estimate_out_say_so():
    rows = np.zeros((3, 7))
    rows[:, 2] = 20  # B finds all, A nothing: a difference of 1
    found = pv.difference(pv.PairedCounts(rows), "recall", method="bayes", level=0.5)
    assert found.estimate == 1
    assert found.high < 1
    assert "outside the interval" in found.note


def test_bayes_is_near_mover_on_a_large_table():
    paired = pv.PairedCounts([120, 90, 190, 80, 4000, 300, 400])
    bayes, mover = (pv.difference(paired, method=method) for method in ("bayes", "mover"))
    assert (bayes.low, bayes.high) == pytest.approx((mover.low, mover.high), abs=2e-4)


def test_bayes_says_which_cases_it_needs():
    with pytest.raises(pv.InputError, match=r"^metric: npv needs tn"):
        pv.difference(pv.PairedCounts([3, 2, 8, 1, 40, 6, 7]), "npv", method="bayes")


@given(rows, st.sampled_from(METRICS), st.sampled_from([0.5, 0.9, 0.99]))
def test_difference_is_sane(cases, metric, level):
    paired = pv.PairedCounts(np.array(cases) + np.eye(8)[np.arange(len(cases)) % 8])
    found = pv.difference(paired, metric, level=level)
    other = pv.difference(paired.swapped(), metric, level=level)
    if math.isnan(found.estimate):
        assert (found.low, found.high) == (-1, 1)
        return
    assert -1 <= found.low <= found.estimate <= found.high <= 1
    assert found.estimate == pytest.approx(found.b - found.a)
    assert (other.low, other.high) == pytest.approx((-found.high, -found.low), abs=1e-9)
    wider = pv.difference(paired, metric, level=0.999)
    assert wider.low <= found.low + 1e-12
    assert wider.high >= found.high - 1e-12


def test_undefined_differences_say_so():
    found = pv.difference(pv.PairedCounts([0, 0, 3, 1, 0, 0, 2, 9]), "precision")
    assert math.isnan(found.estimate)
    assert (found.low, found.high) == (-1, 1)
    assert "undefined" in found.note
    assert found.to_dict()["estimate"] is None


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"metric": "f"}, "metric"),
        ({"method": "wald"}, "method"),
        ({"level": 95}, "level"),
        ({"metric": "fbeta", "beta": -1}, "beta"),
        ({"prior": 0}, "prior"),
    ],
)
def test_bad_arguments_are_named(arguments, named):
    with pytest.raises(ValueError, match=f"^{named}: "):
        pv.difference(pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300]), **arguments)


def test_bad_data_are_named():
    with pytest.raises(ValueError, match=r"^paired: .*; expected PairedCounts"):
        pv.difference([1, 2, 3])
    with pytest.raises(ValueError, match=r"^metric: accuracy needs tn"):
        pv.difference(pv.PairedCounts([3, 2, 8, 1, 40, 6, 7]), "accuracy")


def test_the_picture_of_a_few_units_has_one_peak():
    """Student's tails, squeezed against a difference of 1, are left out of it."""
    rows = [[0, 0, 0, 0, 1], [0, 0, 0, 2, 1, 0, 1], [0, 0, 0, 0, 1], [0, 0, 1, 0, 4, 1, 1]]
    found = posterior_of_difference(pv.PairedCounts([row + [0] * (8 - len(row)) for row in rows]))
    _, density = found.curve(101)
    turns = np.diff(np.sign(np.diff(density)))
    assert np.count_nonzero(turns) == 1
    assert found.interval(0.998) == (-1, 1)


@pytest.mark.parametrize("method", ["clopper-pearson", "jeffreys", "bayes"])
@pytest.mark.parametrize("level", [0.95, 0.999, 1 - 1e-9])
def test_limits_of_two_units_are_numbers_however_far_the_tail_is(method, level):
    units = pv.Counts([18, 46], [1, 1], [1, 0], [0, 0])
    for metric in ("precision", "recall", "f1", "jaccard", "accuracy"):
        found = pv.interval(units, metric, method, level=level, clustered=True)
        assert 0 <= found.low <= found.estimate <= found.high <= 1
