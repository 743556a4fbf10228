"""The studies of curves."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from probative.cli import main
from probative_studies.curves import (
    KINDS,
    PAIRS,
    PROBABILITIES,
    QUESTIONS,
    Truth,
    _truths,
    curve_study,
    draw_pair,
    draw_scores,
    draw_units,
)


@pytest.mark.parametrize("kind", KINDS)
def test_true_values_are_those_of_a_large_test_set(kind):
    ranked = draw_scores(kind, 0.2, 40_000, 0.8, np.random.default_rng(1))
    truth = Truth(kind, 0.2, 0.8)
    scores = ranked.thresholds[ranked.step]
    expected = average_precision_score(ranked.is_positive, scores)
    assert truth.average_precision == pytest.approx(expected, abs=0.01)
    assert truth.roc_auc == pytest.approx(roc_auc_score(ranked.is_positive, scores), abs=0.01)
    if not truth.grid:
        assert truth.roc_auc == pytest.approx(0.8, abs=1e-3)
    k = len(ranked.thresholds) // 2
    at = ranked.thresholds[k]
    assert truth.precision(at) == pytest.approx(ranked.precision[k], abs=0.02)
    assert truth.recall(at) == pytest.approx(ranked.recall[k], abs=0.02)
    assert truth.f1(at) == pytest.approx(f1_score(ranked.is_positive, scores >= at), abs=0.02)


def test_units_have_any_size():
    unit = draw_units(20_000, np.random.default_rng(2))
    sizes = np.bincount(unit)
    assert sizes.mean() == pytest.approx(5, rel=0.05)
    assert sizes.std() > 3


@pytest.mark.parametrize("pair", PAIRS)
def test_two_systems_are_related_as_told(pair):
    a, b = draw_pair(pair, 0.5, 5_000, 0.8, np.random.default_rng(3))
    scores = [own.thresholds[own.step] for own in (a, b)]
    for own, truth in zip(scores, _truths(pair, 0.5, 0.8), strict=True):
        assert roc_auc_score(a.is_positive, own) == pytest.approx(truth.roc_auc, abs=0.02)
    assert (scores[0] != scores[1]).mean() == pytest.approx(0.01 if pair == "copies" else 1)


def test_intervals_hold_and_the_naive_one_does_not():
    condition = {"kinds": ["continuous"], "positives": [20], "shares": [0.1], "areas": [0.75]}
    (order,) = curve_study(**condition, questions=["order"], replicates=60, rng=3)["order"]
    assert min(order.covered_ap, order.covered_auc) > 0.85
    how = {"questions": ["threshold"], "replicates": 40, "rng": 3}
    (found,) = curve_study(**condition, **how)["threshold"]
    assert found.covered_curve > 0.9
    assert found.covered_best > found.covered_naive
    assert abs(found.bias_best) < found.bias_naive
    assert found.covered_threshold > 0.85


def test_the_area_is_held_where_delong_s_variance_is_too_small():
    """Near 1, with many more negatives: the logit of DeLong's covers three of four such sets."""
    condition = {"kinds": ["missed"], "positives": [20], "shares": [0.05], "areas": [0.99]}
    (found,) = curve_study(**condition, questions=["order"], replicates=150, rng=2)["order"]
    assert found.covered_auc > 0.9


def test_where_everything_is_best_taken_there_is_no_threshold():
    assert math.isnan(Truth("missed", 0.5, 0.6).best)


def test_systems_of_one_quality_are_seldom_said_to_differ():
    condition = {"pairs": ["alike"], "positives": [10], "shares": [0.5], "areas": [0.8]}
    how = {"questions": ["difference"], "replicates": 40, "rng": 5}
    (found,) = curve_study(**condition, **how)["difference"]
    assert max(found.found_ap, found.found_auc, found.found_best) <= 0.2
    assert min(found.covered_ap, found.covered_auc, found.covered_best) > 0.8


@pytest.mark.slow
def test_calibration_errors_are_held():
    how = {"questions": ["calibration"], "replicates": 60, "rng": 6}
    found = curve_study(items=[100], **how)["calibration"]
    assert [one.probabilities for one in found] == list(PROBABILITIES)
    for one in found:
        assert one.covered > 0.9, one
    for one in found[:4]:
        assert abs(one.left - one.error) < abs(one.seen - one.error), one
    assert {one.probabilities for one in found if one.noted} == {"units", "high units"}


def test_the_command_prints_what_the_studies_found(capsys):
    words = "study curves --kind tied --pair copies --share 0.5 --positives 5 --area 0.8"
    words += " --probabilities bold --n 20 --replicates 3"
    assert main([*words.split(), "-q", "-f", "json", "--seed", "4"]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = curve_study(
        positives=[5],
        shares=[0.5],
        areas=[0.8],
        kinds=["tied"],
        pairs=["copies"],
        probabilities=["bold"],
        items=[20],
        replicates=3,
        rng=4,
    )
    assert list(found) == list(QUESTIONS)
    assert printed["questions"] == {k: [one.to_dict() for one in v] for k, v in found.items()}
    # a question has the same draws without the others
    assert main([*words.split(), "-q", "-f", "json", "--seed", "4", "--question", "order"]) == 0
    alone = json.loads(capsys.readouterr().out)["questions"]
    assert alone == {"order": printed["questions"]["order"]}


def test_other_questions_are_refused(capsys):
    assert main(["study", "curves", "--question", "size"]) == 2
    assert "order, threshold, calibration" in capsys.readouterr().err
