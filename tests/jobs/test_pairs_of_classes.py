"""Two systems by scores of the whole table of several classes: plans and runs."""

from __future__ import annotations

import numpy as np
import pytest
from inference.of_scores import (
    class_score,
    compare_table_runs,
    confusion_difference,
    confusion_plan,
)
from sklearn import metrics as reference

import probative as pv
from probative.inference.classes import (
    ConfusedItems,
)
from probative.metrics import score_of_table, slopes_of_table

OF_TABLES = {
    "mcc": reference.matthews_corrcoef,
    "kappa": reference.cohen_kappa_score,
    "balanced_accuracy": reference.balanced_accuracy_score,
}
K = 5


def drawn(rng, n, share, gold=None, k=K):
    gold = rng.integers(0, k, n) if gold is None else gold
    return np.where(rng.random(n) < share, gold, rng.integers(0, k, n))


def labels(codes):
    return [f"c{code}" for code in codes]


def test_balanced_accuracy_of_a_table_and_its_slopes():
    rng = np.random.default_rng(1)
    gold = rng.integers(0, 3, 50)
    said = drawn(rng, 50, 0.5, gold, 4)
    table = ConfusedItems(gold, said, 4).table  # the answer lacks the last class
    with pytest.warns(UserWarning, match="not in y_true"):
        expected = reference.balanced_accuracy_score(gold, said)
    assert score_of_table(table, "balanced_accuracy") == pytest.approx(expected)
    slopes = slopes_of_table(table, "balanced_accuracy")
    for i, j in np.ndindex(3, 4):
        moved = table.copy()
        moved[i, j] += 1e-6
        change = score_of_table(moved, "balanced_accuracy") - expected
        assert slopes[i, j] == pytest.approx(change / 1e-6, abs=1e-5)


@pytest.mark.parametrize("metric", ["mcc", "kappa"])
def test_the_power_of_a_plan_is_that_of_the_test(metric):
    rng = np.random.default_rng(7)
    gold = rng.integers(0, K, 3000)
    pilot = [ConfusedItems(gold, drawn(rng, 3000, share, gold), K) for share in (0.55, 0.74)]
    planned = confusion_plan(*pilot, metric, units=180)
    times, rejected = 300, 0
    for _ in range(times):
        rows = rng.integers(0, 3000, 180)
        a, b = (ConfusedItems(own.answer[rows], own.said[rows], K) for own in pilot)
        rejected += (class_score((a, b), metric).exchange(0, 1).extreme(rng, 199) + 1) / 200 <= 0.05
    error = np.sqrt(planned.power * (1 - planned.power) / times)
    assert rejected / times == pytest.approx(planned.power, abs=0.03 + 2.5 * error)
    assert 0.5 < planned.power < 0.95


@pytest.mark.parametrize("metric", OF_TABLES)
def test_a_plan_from_files_is_that_of_the_comparison(metric):
    rng = np.random.default_rng(2)
    gold = rng.integers(0, K, 200)
    old, new = (labels(drawn(rng, 200, share, gold)) for share in (0.5, 0.6))
    planned = pv.plan(labels(gold), old, new, metric=metric)
    compared = pv.compare(labels(gold), old, new, metric=metric, examples=False).comparisons[0]
    assert planned.difference == pytest.approx(abs(compared.difference))
    assert (planned.metric, planned.units) == (metric, compared.units_needed)
    again = pv.plan(labels(gold), old, new, metric=metric, units=planned.units)
    assert again.power == pytest.approx(0.8, abs=0.02)
    same = pv.plan(labels(gold), old, old, metric=metric, difference=0.1)
    assert (same.units, "never differ" in same.note) == (None, True)


def test_a_plan_for_whole_units_needs_fewer_of_them():
    rng = np.random.default_rng(3)
    gold = np.repeat(rng.integers(0, K, 100), 4)
    a, b = (drawn(rng, 400, share, gold) for share in (0.5, 0.6))
    units = np.repeat(np.arange(100), 4)
    by_item = confusion_plan(*(ConfusedItems(gold, s, K) for s in (a, b)), difference=0.1)
    by_unit = confusion_plan(*(ConfusedItems(gold, s, K, units) for s in (a, b)), difference=0.1)
    assert by_unit.observed_units == 100
    assert by_unit.units == pytest.approx(by_item.units / 4, rel=0.3)
    one = confusion_plan(*(ConfusedItems(gold, s, K, 0 * units) for s in (a, b)), difference=0.1)
    assert "one unit" in one.note


@pytest.mark.parametrize("metric", OF_TABLES)
def test_runs_answer_both_questions(metric):
    rng = np.random.default_rng(4)
    gold = rng.integers(0, K, 250)
    runs = {
        "old": [drawn(rng, 250, 0.5, gold) for _ in range(3)],
        "new": [drawn(rng, 250, 0.65, gold) for _ in range(4)],
    }
    given = {name: [labels(run) for run in own] for name, own in runs.items()}
    score = OF_TABLES[metric]
    models, procedures = pv.compare(labels(gold), given, metric=metric).comparisons
    assert (models.question, procedures.question) == ("models", "procedures")
    together = [score(np.tile(gold, len(own)), np.concatenate(own)) for own in runs.values()]
    assert [models.score_a, models.score_b] == pytest.approx(together)
    means = [np.mean([score(gold, run) for run in own]) for own in runs.values()]
    assert [procedures.score_a, procedures.score_b] == pytest.approx(means)
    assert procedures.low <= models.low - models.difference + procedures.difference
    assert models.pvalue <= procedures.pvalue < 0.05
    assert procedures.low > 0
    scored = pv.score(labels(gold), given, metric=metric)
    assert scored["old"][metric].estimate == pytest.approx(together[0])
    assert [own.mean for own in scored.run_scores[:2]] == pytest.approx(means)
    assert pv.plan(labels(gold), given, metric=metric).metric == metric


@pytest.mark.parametrize("metric", ["mcc", "kappa"])
def test_copies_of_one_run_say_no_more_than_one(metric):
    rng = np.random.default_rng(5)
    gold = rng.integers(0, K, 300)
    a, b = (ConfusedItems(gold, drawn(rng, 300, share, gold), K) for share in (0.5, 0.6))
    once = confusion_difference(a, b, metric)
    models = compare_table_runs([a] * 3, [b] * 2, metric, rng=0).models
    assert models.estimate == pytest.approx(once.estimate)
    assert (models.low, models.high) == pytest.approx((once.low, once.high), abs=0.005)
    same = compare_table_runs([a, a], [a, a], metric, rng=0)
    assert (same.models.pvalue, same.models.estimate) == (1.0, 0.0)
