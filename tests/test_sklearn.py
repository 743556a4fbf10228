"""scikit-learn: arrays as they are, and a scorer that returns counts."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate

import probative as pv
from probative.errors import InputError
from probative.sklearn import counts_scorer, fold_counts

RNG = np.random.default_rng(5)
BITS = RNG.integers(0, 2, 60), RNG.integers(0, 2, 60)
KINDS = tuple(np.array(["ant", "bee", "cow"])[RNG.integers(0, 3, 60)] for _ in range(2))
CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "array": np.asarray,
    "objects": lambda values: np.array(list(values), dtype=object),
    "pandas": pd.Series,
    "shuffled index": lambda values: pd.Series(values, index=np.arange(len(values))[::-1]),
    "categorical": lambda values: pd.Series(pd.Categorical(values)),
    "bare categorical": pd.Categorical,
    "polars": pl.Series,
    "read-only": lambda values: (v := np.array(values), v.setflags(write=False))[0],
}
YES_OR_NO = {
    "ints": lambda bits: bits,
    "small ints": lambda bits: bits.astype(np.uint8),
    "bool": lambda bits: bits.astype(bool),
    "floats": lambda bits: bits.astype(float),
    "strings": lambda bits: np.where(bits, "yes", "no"),
    "minus": lambda bits: 2 * bits - 1,
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", YES_OR_NO)
def test_two_classes_score_as_in_scikit_learn(container, kind):
    gold, pred = (YES_OR_NO[kind](bits) for bits in BITS)
    scored = pv.score(CONTAINERS[container](gold), CONTAINERS[container](pred))[0]
    positive = {"strings": "yes", "bool": True}.get(kind, 1)
    expected = precision_recall_fscore_support(gold, pred, pos_label=positive, average="binary")
    got = [scored[metric].estimate for metric in ("precision", "recall", "f1")]
    assert got == pytest.approx(expected[:3])
    assert scored["accuracy"].estimate == pytest.approx(accuracy_score(gold, pred))
    c = scored.counts
    assert confusion_matrix(gold, pred).ravel().tolist() == [c.tn, c.fp, c.fn, c.tp]


@pytest.mark.parametrize("container", CONTAINERS)
def test_several_classes_score_as_in_scikit_learn(container):
    gold, pred = (CONTAINERS[container](side) for side in KINDS)
    scored = pv.score(gold, pred, labels="union")[0]
    assert scored["accuracy"].estimate == pytest.approx(accuracy_score(*KINDS))
    each = precision_recall_fscore_support(*KINDS)
    for number, label in enumerate(scored.by_label):
        got = [score.estimate for score in label.scores]
        assert got == pytest.approx([part[number] for part in each[:3]])
    macro = precision_recall_fscore_support(*KINDS, average="macro")
    got = [scored[f"macro_{metric}"].estimate for metric in ("precision", "recall", "f1")]
    assert got == pytest.approx(macro[:3])


def test_labels_and_positive_mean_labels_and_pos_label():
    two = ["ant", "cow"]
    scored = pv.score(*KINDS, labels=two)[0]
    expected = precision_recall_fscore_support(*KINDS, labels=two, average="macro")
    assert scored["macro_f1"].estimate == pytest.approx(expected[2])
    binary = [np.where(side == "bee", "spam", "ham") for side in KINDS]
    scored = pv.score(*binary, positive="spam")[0]
    expected = precision_recall_fscore_support(*binary, pos_label="spam", average="binary")
    assert scored["f1"].estimate == pytest.approx(expected[2])
    scored = pv.score(*KINDS, only=two)[0]
    micro = precision_recall_fscore_support(*KINDS, labels=two, average="micro")
    assert scored["f1"].estimate == pytest.approx(micro[2])


def problem(classes=2):
    X, y = make_classification(
        n_samples=120, n_informative=4, n_classes=classes, random_state=1, flip_y=0.2
    )
    return X, y, LogisticRegression()


@pytest.mark.parametrize("jobs", [1, 2])
def test_cross_validation_carries_counts(jobs):
    X, y, model = problem()
    results = cross_validate(model, X, y, cv=4, scoring=counts_scorer(), n_jobs=jobs)
    folds = fold_counts(results)
    assert len(folds) == 4
    total = pv.Counts(*np.sum([[f.tp, f.fp, f.fn, f.tn] for f in folds], axis=0))
    tn, fp, fn, tp = confusion_matrix(y, cross_val_predict(model, X, y, cv=4)).ravel()
    assert (total.tp, total.fp, total.fn, total.tn) == (tp, fp, fn, tn)


def test_folds_of_two_models_can_be_compared():
    X, y, model = problem()
    cv = pv.BlockRegularizedCV(m=3, random_state=0)
    a, b = (
        fold_counts(cross_validate(m, X[:, :n], y, cv=cv, scoring=counts_scorer(1)))
        for m, n in ((model, 5), (model, 20))
    )
    assert len(a) == 6
    test = pv.bayes_test(a, b, "f1")
    assert 0 <= test.p_b_better <= 1


def test_several_classes_are_counted_each_against_the_others():
    X, y, model = problem(3)
    results = cross_validate(model, X, y, cv=3, scoring=counts_scorer(labels=[0, 1, 2]))
    by_class = [sum(fold.tp for fold in fold_counts(results, label)) for label in (0, 1, 2)]
    right = cross_val_predict(model, X, y, cv=3) == y
    assert by_class == [np.count_nonzero(right & (y == label)) for label in (0, 1, 2)]
    with pytest.raises(InputError, match="results: there is no 'test_tp'"):
        fold_counts(results)


def test_a_grid_search_takes_it_beside_a_score():
    X, y, model = problem()
    scorer = counts_scorer()

    def scores(estimator, X, y):
        counts = scorer(estimator, X, y)
        return {**counts, "f1": pv.metrics.score(pv.Counts(**counts), "f1")}

    search = GridSearchCV(model, {"C": [0.01, 1]}, scoring=scores, refit="f1", cv=3).fit(X, y)
    assert search.cv_results_["mean_test_tp"].shape == (2,)


def test_what_cannot_be_counted_is_said():
    X, y, model = problem(3)
    with pytest.raises(InputError, match="it is not known which class counts as yes; expected one"):
        counts_scorer()(model.fit(X, y), X, y)
    with pytest.raises(InputError, match="positive: no class 'spam'; expected one of '0', '1'"):
        counts_scorer("spam")(model, X, y)
    with pytest.raises(InputError, match="cannot be combined"):
        counts_scorer(1, labels=[1])
    with pytest.raises(InputError, match="labels: 'ant'; expected a list"):
        counts_scorer(labels="ant")
    with warnings.catch_warnings():  # scikit-learn turns the error into a warning
        warnings.simplefilter("ignore")
        results = cross_validate(model, X, y, cv=3, scoring=counts_scorer("spam"))
    with pytest.raises(InputError, match="results: "):
        fold_counts(results)


def test_a_fold_without_the_class_counts_nothing_of_it():
    class Says:
        classes_ = ("no", "yes")

        def predict(self, X):
            return ["no"] * len(X)

    assert counts_scorer()(Says(), [1, 2], ["no", "no"]) == {"tp": 0, "fp": 0, "fn": 0, "tn": 2}
