"""What models are asked for, and what they may answer."""

from __future__ import annotations

import math

import numpy as np
import pytest

import probative as pv
from probative.crossval.runner import LabelTask, task_for


class Says:
    """A model that answers what it was told to."""

    def __init__(self, answers):
        self.answers = answers

    def fit(self, X, y):  # noqa: ARG002  # it learns nothing
        return self

    def predict(self, X):
        return self.answers(X) if callable(self.answers) else [self.answers] * len(X)


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1],
        [1, 2],
        [-1, 1],
        [0, 2],
        [True, False],
        [0.0, 1.0],
        ["0", "1"],
        ["no", "yes"],
        ["maybe", "yes"],
        ["False", "True"],
        ["false", "true"],
        ["Yes", "No"],
        ["spam", "ham"],
        [0, 1, 2],
        np.array([0, 1], dtype=np.int8),
        np.array([False, True]),
    ],
    ids=str,
)
def test_one_rule_says_which_class_is_the_positive_one(labels):
    gold = [labels[i % len(labels)] for i in range(24)]
    compared = pv.compare(gold, gold, gold)
    counted = compared.systems[0].counts
    task = task_for(gold, gold, None)
    cases = task.cases(gold, gold, gold)
    assert (task.positive is None) == ("accuracy" in task.metrics)
    if task.positive is None:
        assert counted.positives == len(gold)
    else:
        assert counted.positives == cases.a.positives < len(gold)


def test_labels_are_compared_by_their_text():
    task = task_for(range(4), [0, 1, 1, 0], None)
    for said in ([0.0, 1.0, 1.0, 0.0], np.array([False, True, True, False]), ["0", "1", "1", "0"]):
        labels = task.check_predictions(said, range(4))
        assert task.cases([0, 1, 1, 0], labels, labels).cases.tolist() == [0, 0, 0, 0, 2, 0, 0, 2]
    three = task_for(range(4), ["a", "b", "c", "a"], None)
    found = three.cases(["a", "b", "c", "a"], ["a", "b", "c", "b"], ["a", "a", "c", "a"])
    assert found.cases.tolist() == [1, 0, 1, 0, 2, 0, 0, 0]


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        (None, r"predictions: has missing labels: 12 of 12 \(instance 1, 2, 3, …\)"),
        (math.nan, "predictions: has missing labels"),
        (0.7, r"predicts 0\.7 for instance 1; expected one of 0, 1"),
        ("yes", r"predicts 'yes' for instance 1; expected one of 0, 1"),
        ([0, 1], r"predictions: instance 1 is \[0, 1\]; expected text, a number or a truth value"),
        (lambda X: np.full((len(X), 2), 0.5), r"predictions: shape \(12, 2\); expected one label"),
        (lambda X: 1, "predicts 1 labels for 12 instances"),
        (lambda X: [1] * 5, "predicts 5 labels for 12 instances"),
        (lambda X: [0] * 11 + [np.nan], r"missing labels: 1 of 12 \(instance 12\)"),
    ],
)
def test_what_is_no_label_is_refused_with_fold_and_model(answers, words):
    X, y = list(range(24)), [0, 1] * 12
    with pytest.raises(pv.InputError, match=rf"fold 1, model B, predict: .*{words}"):
        pv.compare_models(Says(1), Says(answers), X, y, rng=0)


@pytest.mark.parametrize(
    ("spans", "words"),
    [
        ([(0.5, 1, "X")], r"sentence 1: span \(0\.5, 1, 'X'\); expected .* whole numbers"),
        ([(0, 1.9, "X")], "whole numbers"),
        ([(0, math.nan, "X")], "whole numbers"),
        ([(0, 1, None)], "whole numbers"),
        (None, "sentence 1: None; expected spans"),
        ("X", "sentence 1: 'X'; expected spans"),
    ],
)
def test_what_is_no_span_is_refused_with_fold_and_model(spans, words):
    X, y = [["w", "v"]] * 24, [[(0, 1, "X")], []] * 12
    with pytest.raises(pv.InputError, match=f"fold 1, model A, predict: .*{words}"):
        pv.compare_models(Says(lambda X: [spans] * len(X)), Says([]), X, y, rng=0)


def test_labels_without_a_value_are_no_classes():
    for gap in (None, math.nan):
        with pytest.raises(pv.InputError, match=r"y: has missing labels: 1 of 4 \(instance 4\)"):
            task_for(range(4), [0, 1, 1, gap], None)


def test_without_known_classes_every_label_is_taken():
    assert LabelTask("yes").check_predictions(["yes", "what"], range(2)) == ["yes", "what"]
