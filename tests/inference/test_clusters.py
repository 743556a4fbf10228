"""Design effects, clustered intervals and the interval of a difference."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import probative as pv
from probative.inference.clusters import (
    correlation,
    design_effect,
    design_effect_of_difference,
    effective_divisor,
)
from probative.inference.differences import mover
from probative.inference.paired_posterior import PairedPosterior

METRICS = ("precision", "recall", "f1", "fbeta", "jaccard", "accuracy", "specificity", "npv")
rows = st.lists(st.lists(st.integers(0, 5), min_size=8, max_size=8), min_size=3, max_size=20)


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
    n = len(cases)
    e = {s: influences(cases, metric, 2.0, s) for s in "ab"}
    i = {s: influences(items, metric, 2.0, s) for s in "ab"}
    expected = n / (n - 1) * np.sum(np.square(e["a"])) / np.sum(np.square(i["a"]))
    assert design_effect(paired.a, metric, beta=2.0) == pytest.approx(expected, rel=1e-12)
    of_units = np.subtract(e["b"], e["a"])
    of_items = np.subtract(i["b"], i["a"])
    expected = n / (n - 1) * np.sum(of_units**2) / np.sum(of_items**2)
    found = design_effect_of_difference(paired, metric, beta=2.0)
    assert found == pytest.approx(expected, rel=1e-12)
    expected = np.dot(i["a"], i["b"]) / math.sqrt(np.dot(i["a"], i["a"]) * np.dot(i["b"], i["b"]))
    found = correlation(paired.total(), metric, beta=2.0)
    assert found == pytest.approx(expected, rel=1e-12)


def test_one_item_a_unit_has_a_design_effect_of_about_one():
    table = [6, 4, 9, 3, 40, 6, 7, 300]
    units = pv.PairedCounts(np.eye(8), table)
    n = sum(table)
    assert design_effect(units.a, "f1") == pytest.approx(n / (n - 1), rel=1e-12)
    assert design_effect_of_difference(units, "f1") == pytest.approx(n / (n - 1), rel=1e-12)


def test_repeating_every_item_of_a_unit_doubles_the_design_effect():
    cases = np.random.default_rng(2).integers(0, 4, (30, 8))
    once, twice = pv.PairedCounts(cases), pv.PairedCounts(2 * cases)
    assert design_effect(twice.b, "f1") == pytest.approx(2 * design_effect(once.b, "f1"))
    assert design_effect_of_difference(twice) == pytest.approx(
        2 * design_effect_of_difference(once)
    )


def test_a_shock_shared_by_both_systems_cancels_in_the_difference():
    """Easy and hard sentences: both systems find all or nothing, save for independent slips."""
    rng = np.random.default_rng(3)
    hard = rng.random(400) < 0.5
    cases = np.zeros((400, 8))
    cases[:, 4], cases[:, 6] = np.where(hard, 0, 8), np.where(hard, 8, 0)
    slip = rng.integers(0, 2, 400)
    cases[np.arange(400), 2 * slip] += 1
    paired = pv.PairedCounts(cases)
    assert design_effect(paired.a, "recall") > 5
    assert design_effect_of_difference(paired, "recall") < 1.1


def test_multiplicity_stands_for_repeated_rows():
    cases = np.random.default_rng(4).integers(0, 4, (9, 8))
    number = np.array([1, 4, 2, 7, 1, 1, 3, 2, 5])
    short, long = pv.PairedCounts(cases, number), pv.PairedCounts(np.repeat(cases, number, axis=0))
    assert design_effect_of_difference(short) == pytest.approx(design_effect_of_difference(long))
    assert str(pv.difference(short)) == str(pv.difference(long))
    assert short.n_units == 26


def test_divisor_uses_students_quantile():
    from scipy import stats

    expected = 2.5 * (stats.t.ppf(0.975, 9) / stats.norm.ppf(0.975)) ** 2
    assert effective_divisor(2.5, 10, 0.95) == pytest.approx(expected, rel=1e-10)
    few = (stats.t.ppf(0.975, 9) / stats.norm.ppf(0.975)) ** 2
    assert effective_divisor(0.4, 10, 0.95) == pytest.approx(few, rel=1e-10)
    assert effective_divisor(math.nan, 10, 0.95) == 1


def test_clustered_interval_is_that_of_the_divided_table():
    units = pv.PairedCounts(np.random.default_rng(5).integers(0, 6, (40, 8))).a
    for metric in ("f1", "precision", "accuracy"):
        found = pv.interval(units, metric, clustered=True)
        effect = design_effect(units, metric)
        plain = pv.interval(units.sum(), metric)
        divided = pv.interval(units.sum() / effective_divisor(effect, 40, 0.95), metric)
        assert found.design_effect == effect
        assert (found.low, found.high) == (divided.low, divided.high)
        assert found.estimate == pytest.approx(plain.estimate)
        assert found.high - found.low > plain.high - plain.low


@pytest.mark.parametrize(
    "counts",
    [
        pv.Counts(tp=[3], fp=[1], fn=[2]),
        pv.Counts(tp=[3, 4], fp=[0, 0], fn=[0, 0]),
        pv.Counts(tp=[0, 0], fp=[0, 0], fn=[0, 0]),
    ],
    ids=["one unit", "no variance", "empty"],
)
def test_an_undefined_design_effect_is_one_with_a_note(counts):
    found = pv.interval(counts, "f1", clustered=True)
    plain = pv.interval(counts.sum(), "f1")
    assert math.isnan(found.design_effect)
    assert "design effect is undefined" in found.note
    assert (found.low, found.high) == (plain.low, plain.high)
    assert found.to_dict()["design_effect"] is None


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
    effect = design_effect_of_difference(paired, metric, beta=2.0 if metric == "fbeta" else 1.0)
    divided = pv.difference(paired.total() / effective_divisor(effect, 40, 0.95), metric, beta=2.0)
    assert found.design_effect == pytest.approx(effect)
    assert (found.low, found.high) == pytest.approx((divided.low, divided.high))


@pytest.mark.parametrize("metric", ["f1", "precision", "recall", "accuracy"])
def test_bayes_is_the_paired_posterior_of_the_divided_table(metric):
    paired = pv.PairedCounts(np.random.default_rng(9).poisson([1, 1, 2, 1, 9, 2, 2, 20], (60, 8)))
    found = pv.difference(paired, metric, method="bayes", level=0.9, prior=0.5)
    effect = design_effect_of_difference(paired, metric)
    divided = paired.total() / effective_divisor(effect, 60, 0.9)
    assert found.design_effect == pytest.approx(effect)
    expected = PairedPosterior(divided, metric, prior=0.5).interval(0.9)
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-12)
    # a Dirichlet distribution over the cases, drawn: the limits are about the same
    share = np.random.default_rng(10).dirichlet(divided.cases + 0.25, 100_000)
    drawn = pv.PairedCounts(share)
    d = pv.metrics.score(drawn.b, metric) - pv.metrics.score(drawn.a, metric)
    assert np.quantile(d, [0.05, 0.95]) == pytest.approx([found.low, found.high], abs=0.002)


def test_bayes_is_near_mover_on_a_large_table():
    paired = pv.PairedCounts([120, 90, 190, 80, 4000, 300, 400])
    bayes, mover = (pv.difference(paired, method=method) for method in ("bayes", "mover"))
    assert (bayes.low, bayes.high) == pytest.approx((mover.low, mover.high), abs=2e-4)


def test_bayes_says_which_scores_it_knows():
    with pytest.raises(ValueError, match=r"^metric: "):
        pv.difference(pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300]), "npv", method="bayes")


@given(rows, st.sampled_from(METRICS), st.sampled_from([0.5, 0.9, 0.99]))
def test_difference_is_sane(cases, metric, level):
    paired = pv.PairedCounts(np.array(cases) + np.eye(8)[np.arange(len(cases)) % 8])
    found = pv.difference(paired, metric, level=level)
    other = pv.difference(paired.swapped(), metric, level=level)
    if math.isnan(found.estimate):
        assert (found.low, found.high) == (-1, 1)
        return
    assert -1 - 1e-12 <= found.low <= found.estimate <= found.high <= 1 + 1e-12
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
    with pytest.raises(ValueError, match=r"^paired: expected PairedCounts"):
        pv.difference([1, 2, 3])
    with pytest.raises(ValueError, match=r"^metric: accuracy needs tn"):
        pv.difference(pv.PairedCounts([3, 2, 8, 1, 40, 6, 7]), "accuracy")
    with pytest.raises(ValueError, match=r"^paired: one table"):
        design_effect_of_difference(pv.PairedCounts([3, 2, 8, 1, 40, 6, 7]))
    with pytest.raises(ValueError, match=r"^counts: shape"):
        design_effect(pv.Counts(1, 2, 3))
