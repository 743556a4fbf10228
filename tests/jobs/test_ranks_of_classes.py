"""Systems ranked by scores of the whole table of several classes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as reference

import probative as pv

OF_TABLES = {
    "mcc": reference.matthews_corrcoef,
    "kappa": reference.cohen_kappa_score,
    "balanced_accuracy": reference.balanced_accuracy_score,
}
pytestmark = pytest.mark.filterwarnings("ignore:y_pred contains classes")


def drawn(n=300, k=4, systems=4, *, seed=0):
    rng = np.random.default_rng(seed)
    names = np.array([f"c{i}" for i in range(k)])
    gold = names[rng.integers(0, k, n)]
    outputs = {
        f"s{j}": np.where(rng.random(n) < 0.4 + 0.12 * j, gold, names[rng.integers(0, k, n)])
        for j in range(systems)
    }
    return gold, outputs


@pytest.mark.parametrize("metric", OF_TABLES)
def test_values_order_and_pairs(metric):
    gold, outputs = drawn()
    ranked = pv.rank(gold, outputs, metric=metric, n_jobs=1)
    score = OF_TABLES[metric]
    for row in ranked.ranking:
        assert row.estimate == pytest.approx(score(gold, outputs[row.name]))
        assert row.low < row.estimate < row.high
    assert [row.name for row in ranked.ranking] == ["s3", "s2", "s1", "s0"]
    assert (ranked.ranking[0].rank_low, ranked.ranking[-1].rank_high) == (1, 4)
    assert ranked.ranking[0].p_best > 0.9
    assert ranked.test == "sampled"
    pair = ranked.pair("s0", "s3")
    assert pair.decided
    assert pair.difference == pytest.approx(score(gold, outputs["s3"]) - score(gold, outputs["s0"]))
    assert 0 < pair.low < pair.difference < pair.high


@pytest.mark.parametrize("metric", OF_TABLES)
def test_two_systems_are_ranked_as_they_are_compared(metric):
    gold, outputs = drawn(200, systems=2, seed=3)
    for how in ({}, {"labels": "union"}):
        ranked = pv.rank(gold, outputs, metric=metric, n_jobs=1, **how)
        (c,) = pv.compare(gold, outputs, metric=metric, **how).comparisons
        pair = ranked.pair("s0", "s1")
        assert pair.difference == pytest.approx(c.difference)
        assert (pair.low, pair.high) == pytest.approx((c.low, c.high), abs=0.003)
        assert pair.pvalue == pytest.approx(c.pvalue, abs=0.03)


def test_balanced_accuracy_is_that_of_the_answers_classes_whatever_labels_means_have():
    gold, outputs = drawn(200, k=3, systems=2)
    outputs["s0"] = np.where(np.arange(200) % 9 == 0, "other", outputs["s0"])
    expected = [reference.balanced_accuracy_score(gold, said) for said in outputs.values()]
    for labels in (None, "union", ["c0", "c1"]):
        c = pv.compare(gold, outputs, metric="balanced_accuracy", labels=labels).comparisons[0]
        assert [c.score_a, c.score_b] == pytest.approx(expected)


@pytest.mark.parametrize("metric", OF_TABLES)
def test_copies_share_a_rank(metric):
    gold, outputs = drawn(150, systems=2)
    outputs["copy"] = outputs["s1"]
    ranked = pv.rank(gold, outputs, metric=metric, n_jobs=1)
    pair = ranked.pair("s1", "copy")
    assert pair.identical
    assert (pair.pvalue, pair.difference, pair.decided) == (1.0, 0.0, False)
    assert pair.low < 0 < pair.high
    assert ranked["s1"][metric].estimate == ranked["copy"][metric].estimate


def test_who_says_one_class_has_no_correlation_and_no_rank():
    gold, outputs = drawn(80)
    outputs["one"] = np.full(80, "c0")
    ranked = pv.rank(gold, outputs, metric="mcc", n_jobs=1)
    last = ranked.ranking[-1]
    assert (last.name, np.isnan(last.estimate), np.isnan(last.p_best)) == ("one", True, True)
    assert ranked.pair("s3", "s0").decided
    agreed = pv.rank(gold, outputs, metric="kappa", n_jobs=1).ranking[-1]
    assert (agreed.name, agreed.estimate) == ("one", 0.0)


def test_an_answer_of_one_class_decides_nothing():
    gold = ["b"] * 20
    outputs = {"x": ["b"] * 20, "y": ["b"] * 15 + ["c"] * 3 + ["d"] * 2}
    for metric in ("mcc", "kappa"):
        ranked = pv.rank(gold, outputs, metric=metric, n_jobs=1)
        assert not any(pair.decided for pair in ranked.pairs)


def test_units_are_exchanged_whole():
    gold, outputs = drawn(200, systems=3)
    frame = {"y": np.repeat(gold, 3), "doc": np.repeat(np.arange(200), 3)}
    frame |= {name: np.repeat(said, 3) for name, said in outputs.items()}
    import pandas as pd

    how = {"metric": "kappa", "n_jobs": 1, "gold_column": "y", "columns": list(outputs)}
    threefold = pv.rank(pd.DataFrame(frame), unit_column="doc", **how)
    once = pv.rank(gold, outputs, metric="kappa", n_jobs=1)
    for pair in once.pairs:
        other = threefold.pair(pair.a, pair.b)
        assert other.pvalue == pytest.approx(pair.pvalue, abs=0.03)
        assert (other.low, other.high) == pytest.approx((pair.low, pair.high), abs=0.03)


def test_pages_of_pairs_and_boards_follow(tmp_path):
    gold, outputs = drawn(120, systems=3)
    ranked = pv.rank(gold, outputs, metric="mcc", comparisons=3, n_jobs=1)
    assert [c.comparisons[0].metric for c in ranked.comparisons] == ["mcc"] * 3
    assert "MCC" in ranked.to_html()
    (tmp_path / "in").mkdir()
    for name, said in {"gold": gold, **outputs}.items():
        place = tmp_path / ("gold.txt" if name == "gold" else f"in/{name}.txt")
        place.write_text("\n".join(said) + "\n")
    how = {"metric": "mcc", "task": "labels", "n_jobs": 1}
    board = pv.board(tmp_path / "gold.txt", tmp_path / "in", tmp_path / "site", **how)
    again = pv.board(tmp_path / "gold.txt", tmp_path / "in", tmp_path / "site", **how)
    assert board.scored == ("s0", "s1", "s2")
    assert (again.pairs_tested, again.pairs_reused) == (0, 3)


def test_runs_of_a_system_are_ranked_together():
    gold, outputs = drawn(150, systems=3)
    runs = {"low": [outputs["s0"], outputs["s1"]], "high": [outputs["s2"]] * 3}
    for metric in ("mcc", "kappa"):
        ranked = pv.rank(gold, runs, metric=metric, n_jobs=1)
        low = OF_TABLES[metric](np.tile(gold, 2), np.concatenate(runs["low"]))
        assert ranked["low"][metric].estimate == pytest.approx(low)
        models = pv.compare(gold, runs, metric=metric).comparisons[0]
        pair = ranked.pair("low", "high")
        assert pair.difference == pytest.approx(models.difference)
        assert pair.pvalue == pytest.approx(models.pvalue, abs=0.02)
        assert (pair.low, pair.high) == pytest.approx((models.low, models.high), abs=0.02)
