"""The study of curves."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from probative.cli import main
from probative.studies.curves import KINDS, _Truth, curve_study, draw_scores


@pytest.mark.parametrize("kind", KINDS)
def test_true_values_are_those_of_a_large_test_set(kind):
    ranked = draw_scores(kind, 0.2, 40_000, 1.0, np.random.default_rng(1))
    truth = _Truth(0.2, 1.0, 0.5 if kind == "tied" else 0.0)
    scores = ranked.thresholds[ranked.step]
    expected = average_precision_score(ranked.is_positive, scores)
    assert truth.average_precision == pytest.approx(expected, abs=0.01)
    assert truth.roc_auc == pytest.approx(roc_auc_score(ranked.is_positive, scores), abs=0.01)
    k = len(ranked.thresholds) // 2
    assert truth.precision(ranked.thresholds[k]) == pytest.approx(ranked.precision[k], abs=0.02)
    assert truth.recall(ranked.thresholds[k]) == pytest.approx(ranked.recall[k], abs=0.02)


def test_intervals_hold_and_the_naive_one_does_not():
    (found,) = curve_study(
        positives=[20], shares=[0.1], distances=[1.0], kinds=["continuous"], replicates=50, rng=3
    )
    assert found.covered_ap > 0.85
    assert found.covered_curve > 0.9
    assert found.covered_best > found.covered_naive
    assert abs(found.bias_best) < found.bias_naive


def test_the_command_prints_what_the_study_found(capsys):
    words = "study curves --kind tied --share 0.5 --positives 5 --distance 1 --replicates 3"
    assert main([*words.split(), "-q", "-f", "json", "--seed", "4"]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = curve_study(
        positives=[5], shares=[0.5], distances=[1.0], kinds=["tied"], replicates=3, rng=4
    )
    assert printed["conditions"] == [one.to_dict() for one in found]
