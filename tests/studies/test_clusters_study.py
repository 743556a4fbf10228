"""The study of coverage with few and uneven units, and that of planned power."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import probative as pv
from probative.inference.units import dependence_of_score
from probative_studies.clusters import (
    Condition,
    _Kinds,
    case_shares,
    cluster_study,
    conditions,
    differences,
    draw,
    scores,
    true_difference,
)
from probative_studies.tests import planning_study, power_check


@pytest.mark.parametrize("f1", [0.5, 0.75, 0.95, 0.97])
@pytest.mark.parametrize("gap", [0.0, 0.005])
def test_shares_have_the_scores_that_were_asked_for(f1, gap):
    shares = case_shares(Condition("difference", f1=f1, gap=gap, disputed=0.04))
    assert shares.sum() == pytest.approx(1)
    assert np.all(shares >= 0)
    assert shares[:4].sum() <= 0.04 + 1e-12
    assert true_difference(shares) == pytest.approx(gap, abs=1e-12)
    mean = (pv.metrics.f1(pv.PairedCounts(shares).a) + pv.metrics.f1(pv.PairedCounts(shares).b)) / 2
    assert mean == pytest.approx(f1, abs=0.03)


def test_near_copies_have_the_recall_that_was_asked_for():
    shares = case_shares(Condition("difference", "recall", 0.49, sizes="item", disputed=0.01))
    table = pv.PairedCounts(shares)
    assert pv.metrics.recall(table.a) == pytest.approx(0.49)
    assert true_difference(shares, "recall") == pytest.approx(-0.01)


@pytest.mark.parametrize("sizes", ["equal", "lognormal", "zipf"])
def test_items_of_a_unit_have_the_correlation_that_was_asked_for(sizes):
    condition = Condition("score", units=20_000, sizes=sizes, items=5, correlation=0.2)
    cases = draw(np.random.default_rng(1), condition, case_shares(condition))
    m = cases.sum(axis=1)
    assert m.min() >= 1
    assert sizes == "zipf" or m.mean() == pytest.approx(5, rel=0.08)
    expected = 1 + 0.2 * (np.sum(m**2) / np.sum(m) - 1)
    found = dependence_of_score(pv.PairedCounts(cases).a, "recall").design_effect
    assert found == pytest.approx(expected, rel=0.25)


def test_rare_labels_leave_most_units_empty():
    rare = next(c for c in conditions() if c.filled < 1)
    cases = draw(np.random.default_rng(2), rare, case_shares(rare))
    assert len(cases) == 1000
    assert 0 < np.count_nonzero(cases.sum(axis=1)) < 40


def test_the_conditions_are_those_of_the_page():
    every = conditions()
    assert {c.units for c in every if c.items == 30} == {10, 12, 15, 20, 40}
    assert {c.sizes for c in every} == {"equal", "lognormal", "zipf", "item"}
    assert {c.f1 for c in every if c.question == "score"} == {0.5, 0.75, 0.95, 0.97}
    assert {c.units for c in every if c.sizes == "item"} == {50, 100, 300, 1000}


def test_uneven_documents_are_covered_now_and_were_not():
    uneven = Condition("score", units=12, sizes="zipf")
    copies = Condition("difference", "recall", 0.49, 100, "item", 1, 0.0, disputed=0.01)
    few, near = cluster_study([uneven, copies], replicates=400, rng=1)
    assert few.before < 0.87
    assert few.after > 0.93
    assert few.length_after > few.length_before
    assert near.before < 0.75
    assert near.after > 0.95
    error = math.sqrt(few.after * (1 - few.after) / 400)
    assert few.standard_error == pytest.approx(error)


def test_misses_near_a_score_of_one_carry_no_note_of_the_sample():
    (found,) = cluster_study([Condition("score", f1=0.97, correlation=0.3)], replicates=300)
    assert found.after < 0.93
    assert found.noted == 0


def test_the_study_of_clusters_on_the_command_line(run):
    words = ["study", "clusters", "--replicates", 1, "--question", "score", "--correlation", "0.1"]
    content = json.loads(run(*words, "--format", "json", "--seed", 3).out)
    assert content["command"] == "study clusters"
    assert "seed:3" in content["signature"]
    assert len(content["conditions"]) == 63
    assert "Few and uneven units" in run(*words).out


def test_plans_are_checked_on_six_pairs_and_more():
    found = planning_study([0.5], replicates=2)
    assert len(found) == 8
    assert sum("uh_ritual" in check.pilot for check in found) == 7
    assert all(0 <= check.simulated <= 1 and check.units > 50 for check in found)


@pytest.mark.slow
def test_a_planned_power_comes_out():
    rng = np.random.default_rng(5)
    pilot = pv.PairedCounts(rng.poisson([0.3, 0.2, 0.6, 0.1, 3, 0.3, 0.4], (60, 7)))
    for power in (0.5, 0.9):
        found = power_check(pilot, "pilot", power=power, replicates=400, rng=6)
        assert found.simulated == pytest.approx(power, abs=0.04 + 3 * found.standard_error)


@pytest.mark.parametrize(
    "condition",
    [
        Condition("score", f1=0.95, units=10, sizes="zipf"),
        Condition("score", f1=0.5, units=1000, items=2, filled=0.01),
        Condition("difference", f1=0.95, units=12, sizes="lognormal", gap=0.005),
        Condition("difference", f1=0.5, units=20, sizes="zipf", disputed=0.01),
        Condition("difference", units=300, items=2, filled=0.01),
        Condition("difference", "recall", 0.49, 100, "item", 1, 0.0, disputed=0.01),
    ],
    ids=lambda c: f"{c.question}-{c.metric}-{c.units}-{c.sizes}",
)
def test_the_study_uses_the_intervals_of_the_library(condition):
    rng, shares = np.random.default_rng(7), case_shares(condition)
    sets = np.stack([draw(rng, condition, shares) for _ in range(40)])
    sets = sets[sets.sum(axis=(1, 2)) > 0]
    single = condition.sizes == "item"
    study = scores if condition.question == "score" else differences
    drawn = sets.sum(axis=1, keepdims=True) if single else sets
    found = study(drawn, _Kinds.of(condition.metric), 0.95, first=False)
    for low, high, noted, cases in zip(found.low, found.high, found.noted, sets, strict=True):
        paired = pv.PairedCounts(cases.sum(axis=0) if single else cases)
        if condition.question == "score":
            expected = pv.interval(paired.a, condition.metric, clustered=True)
        else:
            expected = pv.difference(paired, condition.metric)
        if math.isnan(expected.estimate):
            continue
        assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-9)
        assert noted == (expected.note is not None)


@pytest.mark.parametrize("correlation", [5e-324, 1e-12, 0.999, 1 - 1e-16])
def test_extreme_correlations_fill_every_unit(correlation):
    condition = Condition("score", f1=0.75, units=30, sizes="equal", correlation=correlation)
    rows = draw(np.random.default_rng(0), condition, case_shares(condition))
    assert (rows.sum(axis=1) == rows.sum(axis=1)[0]).all()
    alike = (rows > 0).sum(axis=1) == 1
    assert alike.mean() > 0.9 if correlation > 0.5 else alike.mean() < 0.5
