"""The study of the intervals of MCC, kappa and their kin."""

from __future__ import annotations

import json

import numpy as np
import pytest

import probative as pv
from probative.inference.classes import ConfusedItems
from probative.metrics import score
from probative_studies.coverage import operating_characteristics
from probative_studies.metrics import (
    CONDITIONS,
    Confused,
    cells_of_items,
    least_coverage,
    metric_study,
    paired_shares,
    units_hold,
)


def test_the_least_coverage_is_that_of_its_condition():
    found = least_coverage("informedness", 6, "jeffreys")
    shares = [float(x) for x in found.condition.removeprefix("least, at ").split()]
    shares[3] = 1 - sum(shares[:3])
    cells = dict(zip(("p11", "p10", "p01", "p00"), shares, strict=True))
    (alone,) = operating_characteristics(6, cells, ["jeffreys"], metric="informedness")
    assert found.coverage == pytest.approx(alone.coverage, abs=1e-3)
    even = {"p11": 0.4, "p10": 0.1, "p01": 0.1, "p00": 0.4}
    (other,) = operating_characteristics(6, even, ["jeffreys"], metric="informedness")
    assert found.coverage < other.coverage


def test_shares_of_cases_are_those_that_were_asked_for():
    shares = paired_shares(0.3, 0.8, 0.9, 0.1, 0.4)
    table = pv.PairedCounts(shares)
    assert shares.sum() == pytest.approx(1)
    assert score(table.a, "recall") == pytest.approx(0.8)
    assert score(table.b, "recall") == pytest.approx(0.84)
    assert score(table.b, "specificity") == pytest.approx(0.94)
    assert shares[:4].sum() == pytest.approx(0.1)


@pytest.mark.parametrize("condition", [CONDITIONS[0], CONDITIONS[-1]], ids=lambda c: c.name)
@pytest.mark.parametrize("metric", ["mcc", "kappa", "balanced_accuracy"])
def test_large_test_sets_of_several_classes_have_the_true_scores(condition, metric):
    large = Confused("large", condition.shares, condition.right, condition.copied, 100_000)
    a, b = large.draw(np.random.default_rng(1))
    assert isinstance(a, ConfusedItems)
    rng = np.random.default_rng(1)
    single, gap = large.interval(metric, rng, 0.99), large.difference(metric, rng, 0.99)
    truth = large.truth(metric)
    assert single.estimate == pytest.approx(truth[0], abs=0.01)
    assert gap.estimate == pytest.approx(truth[1] - truth[0], abs=0.01)
    assert np.mean(a.said != b.said) < 1 - large.copied


def test_all_questions_are_answered():
    results = metric_study(["difference", "classes"], ["informedness"], replicates=1)
    assert {r.question for r in results} == {"difference"}
    assert all(0 <= r.coverage <= 1 and r.length > 0 for r in results)
    results = metric_study(["units"], ["informedness"], conditions=["rare, equal"], replicates=1)
    assert [r.n for r in results] == [10, 20, 40]
    with pytest.raises(pv.InputError, match="conditions: none is called raer"):
        metric_study(["units"], conditions=["raer"])
    with pytest.raises(pv.InputError, match="questions"):
        metric_study(["scores"])
    with pytest.raises(pv.InputError, match="metrics"):
        metric_study(["score"], ["f1"])


def test_on_the_command_line(run):
    words = ["study", "metrics", "--question", "score", "--metric", "informedness", "--n", 4]
    content = json.loads(run(*words, "--format", "json").out)
    assert content["command"] == "study metrics"
    assert content["conditions"][0]["coverage"] > 0.93


@pytest.mark.parametrize("metric", ["mcc", "informedness", "fowlkes_mallows"])
def test_tails_tell_what_the_limits_of_units_hold(metric):
    rng = np.random.default_rng(3)
    units = pv.Counts(*rng.poisson([4, 0.4, 0.3, 6], (8, 4)).T)
    found = pv.interval(units, metric, clustered=True)
    for end, inwards in ((found.low, 1e-6), (found.high, -1e-6)):
        assert units_hold(units, metric, end + inwards) == (True, found.note is not None)
        assert units_hold(units, metric, end - inwards)[0] is False
    assert units_hold(units, metric, found.estimate)[0] is True


def test_a_class_of_a_unit_is_one_cell():
    condition = next(c for c in CONDITIONS if c.units == 10)
    items, _ = condition.draw(np.random.default_rng(0))
    cells = cells_of_items(items)
    assert len({*zip(cells.unit.tolist(), cells.label.tolist(), strict=True)}) == len(cells.unit)
    right = np.bincount(items.answer, items.said == items.answer)
    np.testing.assert_array_equal(cells.by_label.tp, right)
