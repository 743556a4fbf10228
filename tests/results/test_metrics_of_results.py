"""Results as flat dictionaries, for trackers of experiments."""

from __future__ import annotations

import json
import math
import re

import pytest

import probative as pv

GOLD = [["B-PER", "O"], ["O", "B-LOC"]] * 30
OLD = [["O", "O"]] * 20 + GOLD[20:]
NEW = [["O", "O"]] * 5 + GOLD[5:]
PAIRED = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
NAMES = re.compile(r"[\w\-./ :]+")  # what MLflow takes


def results():
    folds = [pv.Counts(77, 44, 10)] * 6
    return {
        "interval": pv.interval(pv.Counts(77, 44, 10)),
        "intervals": pv.interval(pv.Counts([77, 7], [44, 4], [10, 1])),
        "scores": pv.score(GOLD, OLD),
        "several": pv.score(GOLD, {"old": OLD, "new": NEW}),
        "comparisons": pv.compare(GOLD, {"old": OLD, "new": NEW}),
        "macro": pv.compare(GOLD, {"old": OLD, "new": NEW}, average="macro"),
        "ranking": pv.rank(GOLD, {"old": OLD, "new": NEW, "no": GOLD[::-1]}),
        "difference": pv.difference(PAIRED),
        "randomization": pv.randomization_test(PAIRED),
        "bayes": pv.bayes_test(folds, folds),
        "plan": pv.plan(PAIRED),
        "gate": pv.gate(pv.compare(GOLD, OLD, NEW), "fail-if-worse")[0],
        "mcnemar": pv.mcnemar_test(PAIRED),
        "segmentation": pv.score(["a b"] * 9, ["ab"] * 9, task="segmentation"),
        "check": pv.score([0, 1] * 9, [1, 0] * 9),
    }


@pytest.mark.parametrize("kind", results())
def test_numbers_are_finite_and_have_names_that_trackers_take(kind):
    metrics = results()[kind].to_metrics()
    assert metrics
    for name, value in metrics.items():
        assert NAMES.fullmatch(name)
        assert type(value) is float
        assert math.isfinite(value)
    assert json.loads(json.dumps(metrics)) == metrics


def test_names():
    one = pv.interval(pv.Counts(77, 44, 10), "f1")
    assert one.to_metrics() == {"f1": one.estimate, "f1_low": one.low, "f1_high": one.high}
    scored = pv.score(GOLD, OLD)
    metrics = scored.to_metrics()
    assert metrics["f1_low"] == scored[0]["f1"].low
    assert metrics["tp"] == 40
    assert metrics["LOC/recall_high"] == scored[0].by_label[0].scores[1].high
    found = pv.compare(GOLD, {"old": OLD, "new": NEW})
    metrics = found.to_metrics()
    (c,) = found.comparisons
    assert metrics["new/f1"] == c.score_b
    assert metrics["new vs old/f1_difference"] == c.difference
    assert metrics["new vs old/f1_difference_low"] == c.low
    assert metrics["new vs old/f1_p_b_better"] == c.p_b_better
    difference = pv.difference(PAIRED, "f1")
    assert difference.to_metrics()["f1_difference_high"] == difference.high
    ranking = pv.rank(GOLD, {"old": OLD, "new": NEW})
    assert ranking.to_metrics()["new/p_best"] == ranking.ranking[0].p_best
    assert pv.gate(found, "require-better")[0].to_metrics()["f1_passed"] == 1


def test_odd_names_lose_nothing():
    # two systems and two labels whose names differ only in what trackers do not take
    gold = [["B-a(b", "B-a)b"], ["O", "B-.."]] * 9
    scored = pv.score(gold, {"x(1": gold, "x)1": gold[::-1]})
    metrics = scored.to_metrics()
    assert metrics["x_1/a_b/tp"] == metrics["x_1/a_b/tp_2"] == 9
    assert metrics["x_1/_/tp"] == 9
    single = sum(len(pv.score(gold, side).to_metrics()) for side in (gold, gold[::-1]))
    assert len(metrics) == single


def test_undefined_numbers_are_left_out():
    metrics = pv.score([["O"]] * 5, [["O"]] * 5).to_metrics()
    assert "f1" not in metrics
    assert (metrics["f1_low"], metrics["f1_high"]) == (0, 1)
