from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest

import probative as pv

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from data import tweets  # noqa: E402
from models import Broken, Editing, Least, Lexicon  # noqa: E402

# P(recall of B > recall of A) has a closed form; most tests here are about something else
compare_models = partial(pv.compare_models, metric="recall")


def outcome(result):
    """Everything but the seconds."""
    return (
        [(f.fold, f.model, f.train, f.validation, f.counts.to_dict()) for f in result.folds],
        [table.cases.tolist() for table in result.paired],
        [test.to_dict() for test in result.tests],
        result.seed,
    )


@pytest.fixture(scope="module")
def plain():
    return compare_models(Lexicon(1), Lexicon(2), *tweets(), rng=5)


def test_counts_are_those_of_training_and_predicting_by_hand(plain):
    sentences, spans = tweets()
    units = {
        **{
            label: [sum(kind == label for *_, kind in s) for s in spans] for label in ("LOC", "PER")
        },
        "tokens": [len(s) for s in sentences],
    }
    cv = pv.BlockRegularizedCV(3, random_state=5, regularize=units)
    for number, (train, validation) in enumerate(cv.split(sentences)):
        sides = []
        for least in (1, 2):
            model = Lexicon(least).fit([sentences[i] for i in train], [spans[i] for i in train])
            sides.append(model.predict([sentences[i] for i in validation]))
        gold = [spans[i] for i in validation]
        expected = pv.PairedCounts.from_spans(gold, *sides).total()
        assert plain.paired[number].cases.tolist() == expected.cases.tolist()
        assert plain.folds[2 * number].counts == expected.a
        assert plain.folds[2 * number + 1].counts == expected.b
    assert len(plain.paired) == 6
    assert plain.balance.units == ("LOC", "PER", "tokens")


def test_the_judgement_is_that_of_the_bayes_test():
    plain = pv.compare_models(Lexicon(1), Lexicon(2), *tweets(300), m=1, rng=5)
    a = [fold.counts for fold in plain.folds if fold.model == "A"]
    b = [fold.counts for fold in plain.folds if fold.model == "B"]
    assert [(t.metric, t.posterior.kind) for t in plain.tests] == [
        (metric, posterior)
        for metric in ("precision", "recall", "f1")
        for posterior in ("paired", "independent")
    ]
    independent = pv.bayes_test(a, b, "f1")
    assert plain.tests[5].to_dict() == independent.to_dict()
    paired = pv.bayes_test(list(plain.paired), metric="f1")
    assert plain.published["f1"].to_dict() == paired.to_dict()
    assert plain.effective_a == pv.effective_counts(a)
    assert plain.effective_b == pv.effective_counts(b)
    with pytest.raises(KeyError):
        plain["accuracy"]
    with pytest.raises(KeyError):
        plain.published["accuracy"]
    assert "F1" in str(plain)
    content = json.loads(json.dumps(plain.to_dict(), allow_nan=False))
    assert content["folds"][0]["counts"] == a[0].to_dict()


def test_indexing_gives_the_test_that_the_verdict_rests_on(plain):
    (adjusted,) = plain.adjusted_tests
    published = plain.published["recall"]
    assert adjusted.fold_design_effect > 1
    assert plain["recall"] is adjusted
    assert published.p_b_better != pytest.approx(adjusted.p_b_better, abs=1e-3)
    assert f"P(A better) = {adjusted.p_a_better:.3f}" in str(plain)
    assert f"does not, has P(B better) = {published.p_b_better:.3f}" in str(plain)


def test_every_fit_has_its_own_copies_of_the_data(plain):
    sentences, spans = tweets()
    spoiled = compare_models(Editing(1), Editing(2), sentences, spans, rng=5, n_jobs=1)
    assert outcome(spoiled) == outcome(plain)
    assert (sentences, spans) == tweets()
    cells = np.empty(len(sentences), dtype=object)
    cells[:] = sentences
    spoiled = compare_models(Lexicon(1), Editing(2), cells, spans, rng=5, n_jobs=1)
    assert outcome(spoiled) == outcome(plain)


def test_options_reach_the_bayes_test():
    result = compare_models(
        Lexicon(1),
        Lexicon(2),
        *tweets(),
        m=1,
        rng=5,
        metric="f1",
        rope=0.02,
        level=0.9,
        weight="averaged",
        names=("old", "new"),
    )
    a = [fold.counts for fold in result.folds if fold.model == "old"]
    b = [fold.counts for fold in result.folds if fold.model == "new"]
    assert len(a) == len(b) == 2
    expected = pv.bayes_test(a, b, "f1", rope=0.02, level=0.9, weight="averaged")
    assert result.tests[1].to_dict() == expected.to_dict()


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_neither_jobs_nor_backend_change_the_result(plain, backend):
    with joblib.parallel_config(backend, n_jobs=2):
        result = compare_models(Lexicon(1), Lexicon(2), *tweets(), rng=5)
    assert outcome(result) == outcome(plain)
    again = compare_models(Lexicon(1), Lexicon(2), *tweets(), rng=5, n_jobs=3)
    assert outcome(again) == outcome(plain)


@pytest.mark.cluster
@pytest.mark.filterwarnings("default")
def test_a_cluster_of_two_processes_gives_the_same_result(plain, tmp_path):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(sys.path.insert, 0, str(HERE))
        workers = {str(pid) for pid in client.run(os.getpid).values()}
        models = (Lexicon(least, pause=0.05, log=str(tmp_path / "pids")) for least in (1, 2))
        with joblib.parallel_config("dask"):
            result = compare_models(*models, *tweets(), rng=5)
    assert set((tmp_path / "pids").read_text().split()) == workers
    assert len(workers) == 2
    assert outcome(result) == outcome(plain)


def test_a_killed_run_continues_where_it_stopped(plain, tmp_path):
    folder, log = tmp_path / "results", tmp_path / "log"
    command = [sys.executable, str(HERE / "killed_run.py"), str(folder), str(log)]
    process = subprocess.Popen(command)
    deadline = time.monotonic() + 60
    while len(list(folder.glob("fold-*"))) < 4:
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = len(list(folder.glob("fold-*")))
    assert 4 <= done < 12
    fits = len(log.read_text().split())
    subprocess.run(command, check=True)
    assert len(list(folder.glob("fold-*.json"))) == 12
    # at most the fit that was under way when the run was killed is done twice
    assert len(log.read_text().split()) - fits == 12 - done
    # Lexicon's log is no part of what it learns, but of what it is: the same one finds the folder
    model = {"pause": 0.25, "log": str(log)}
    seen = []
    result = compare_models(
        Lexicon(1, **model),
        Lexicon(2, **model),
        *tweets(),
        folder=folder,
        report=lambda *told: seen.append(told),
    )
    assert seen == [(12, 12)]
    assert outcome(result) == outcome(plain)


def test_a_folder_of_another_run_is_refused(tmp_path):
    sentences, spans = tweets(40)

    def run(a=1, m=1, data=sentences, seed=3):
        return compare_models(
            Lexicon(a), Lexicon(2), data, spans, m=m, folder=tmp_path / "f", rng=seed
        )

    first = run()
    assert outcome(run()) == outcome(first)
    assert outcome(run(seed=None)) == outcome(first)
    for change, what in (
        ({"a": 5}, "model_a"),
        ({"m": 2}, "m is 1 there and 2 here"),
        ({"data": [*sentences[:-1], [*sentences[-1][:-1], "other"]]}, "data"),
        ({"seed": 4}, "seed is 3 there and 4 here"),
    ):
        with pytest.raises(pv.InputError, match=f"holds the results of another run: {what}"):
            run(**change)
    (tmp_path / "f" / "fold-1-a.json").write_text("{")
    with pytest.raises(
        pv.InputError, match=r"fold-1-a.json: cannot be read \(it is no file of .*; delete"
    ):
        run()
    (tmp_path / "f" / "fold-1-a.json").unlink()
    assert outcome(run()) == outcome(first)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    with pytest.raises(pv.InputError, match=r"other: holds 'thesis.tex' and no run.json"):
        compare_models(Lexicon(), Lexicon(), sentences, spans, folder=tmp_path / "other")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("fit", "fold 1, model B, fit: KeyError: 'no such word'"),
        ("predict", "fold 1, model B, predict: ZeroDivisionError: division by zero"),
        ("short", "fold 1, model B, predict: predicts spans for 19 sentences, and there are 20"),
        ("none", "fold 1, model B, predict: predicts spans for None sentences"),
        ("outside", r"fold 1, model B, predict: sentence 1: span \(0, 99, 'X'\); expected"),
        ("shape", r"fold 1, model B, predict: sentence 1: span \(0, 1\); expected \(start"),
    ],
)
def test_a_failing_fold_names_its_fold_and_model(how, message, tmp_path):
    with pytest.raises(pv.InputError, match=message):
        compare_models(Lexicon(), Broken(how), *tweets(40), m=1, folder=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"run.json", "fold-1-a.json"}


def test_a_failure_elsewhere_is_told_alike():
    with pytest.raises(pv.InputError, match="model B, fit: KeyError: 'no such word'"):
        compare_models(Lexicon(), Broken("fit"), *tweets(40), n_jobs=2)


class Half:
    def fit(self, X, y):  # noqa: ARG002
        return self


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model_b": Half()}, "model_b: Half has no predict; expected an object with fit and"),
        ({"model_a": Lexicon}, "model_a: Lexicon is a class; expected an object of it"),
        ({"y": [[]] * 5}, "y: 5 values, but X has 40 instances"),
        ({"y": [[(0, 50, "X")]] + [[]] * 39}, r"y: sentence 1: span \(0, 50, 'X'\); expected"),
        ({"positive": "x"}, "positive: applies to labels, and y holds spans"),
        ({"y": [1] * 40}, "y: holds one class, 1; expected at least two"),
        ({"y": np.zeros((40, 2))}, r"y: shape \(40, 2\); expected one label per instance"),
        ({"y": [0, 1] * 20, "positive": 2}, "positive: no instance has the class 2"),
        ({"y": ["a", "b"] * 20, "metric": "jaccard"}, "metric: unknown 'jaccard'; expected one of"),
        ({"metric": "accuracy"}, "metric: unknown 'accuracy'; expected one of precision, recall"),
        ({"y": ["a", "b"] * 20, "metric": "npv"}, "metric: unknown 'npv'; expected one of"),
        ({"metric": "recal"}, "did you mean 'recall'"),
        ({"m": 40}, "X: 40 instances; expected at least 64"),
        ({"m": 3.0}, "m: 3.0 is not a whole number from 1 to 127"),
        ({"rng": "x"}, "rng: 'x' is not a number"),
        ({"rope": -1}, "rope: -1"),
        ({"level": 2}, "level: 2"),
    ],
)
def test_bad_input(arguments, message):
    sentences, spans = tweets(40)
    given = {"model_a": Lexicon(), "model_b": Lexicon(2), "X": sentences, "y": spans} | arguments
    with pytest.raises(pv.InputError, match=message):
        compare_models(**given)


class Untrainable(Lexicon):
    def fit(self, X, y):  # noqa: ARG002
        raise AssertionError("trained")


@pytest.mark.parametrize(
    ("option", "value"),
    [("rope", 1.5), ("prior", 0), ("beta", 0), ("level", 1), ("weight", "all"), ("weight", -1)],
)
def test_what_the_test_would_refuse_is_refused_before_training(option, value):
    sentences, spans = tweets(40)
    how = {option: value} | ({"metric": "fbeta"} if option == "beta" else {})
    with pytest.raises(pv.InputError, match=f"^{option}: "):
        compare_models(Untrainable(), Untrainable(2), sentences, spans, **how)


def test_repetitions_may_be_an_integer_of_numpy():
    sentences, spans = tweets(40)
    found = [
        compare_models(Lexicon(), Lexicon(2), sentences, spans, m=m, rng=1)
        for m in (2, np.int64(2))
    ]
    assert found[0].to_dict()["tests"] == found[1].to_dict()["tests"]
    assert type(found[1].m) is int
    assert pv.BlockRegularizedCV(m=np.int64(2), random_state=0).balance(sentences).m == 2


def labelled():
    from sklearn.datasets import make_classification

    return make_classification(n_samples=240, n_informative=3, random_state=0)


def test_scikit_learn_models_on_two_classes():
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    X, y = labelled()
    result = compare_models(DecisionTreeClassifier(max_depth=1), LogisticRegression(), X, y, rng=0)
    assert [test.metric for test in result.tests] == ["recall"] * 2
    cv = pv.BlockRegularizedCV(3, random_state=0)
    train, validation = next(cv.split(X, y))
    predicted = LogisticRegression().fit(X[train], y[train]).predict(X[validation])
    assert result.folds[1].counts == pv.Counts.from_labels(y[validation], predicted)
    no = compare_models(
        DecisionTreeClassifier(max_depth=1), LogisticRegression(), X, y, rng=0, positive=0
    )
    assert no.folds[1].counts.tp == result.folds[1].counts.tn


def test_many_classes_are_judged_by_micro_f1_which_is_accuracy():
    from sklearn.datasets import load_iris
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import f1_score
    from sklearn.tree import DecisionTreeClassifier

    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    for labels in (y, names):
        result = compare_models(
            DecisionTreeClassifier(max_depth=1),
            LogisticRegression(max_iter=1000),
            X,
            labels,
            rng=0,
            metric="f1",
        )
        assert [test.metric for test in result.tests] == ["accuracy", "accuracy"]
        train, validation = next(pv.BlockRegularizedCV(3, random_state=0).split(X, labels))
        model = LogisticRegression(max_iter=1000).fit(X[train], labels[train])
        expected = f1_score(labels[validation], model.predict(X[validation]), average="micro")
        assert pv.metrics.accuracy(result.folds[1].counts) == pytest.approx(expected, abs=1e-12)
        assert result.paired[0].total().cases.sum() == len(validation)


def test_open_seeds_of_scikit_learn_models_are_settled():
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = labelled()
    forest = RandomForestClassifier(3)
    piped = make_pipeline(StandardScaler(), RandomForestClassifier(3, max_depth=2))

    def run(**how):
        return outcome(compare_models(forest, piped, X, y, m=1, rng=1, **how))

    assert run() == run() == run(n_jobs=2)
    assert forest.random_state is None


def test_frames_and_groups():
    import pandas as pd
    from sklearn.linear_model import LogisticRegression

    X, y = labelled()
    frame, column = pd.DataFrame(X), pd.Series(y, index=np.arange(240) + 7)
    groups = np.repeat(np.arange(40), 6)
    models = LogisticRegression(), LogisticRegression(C=0.01)
    from_frames = compare_models(*models, frame, column, rng=0, groups=groups)
    from_arrays = compare_models(*models, X, y, rng=0, groups=groups)
    assert outcome(from_frames) == outcome(from_arrays)
    assert outcome(from_arrays) != outcome(compare_models(*models, X, y, rng=0))


def test_figures_and_frames(plain):
    axes = plain.plot()
    assert len(axes) == 1
    assert len(axes[0].lines) == 4  # two models, effective and averaged counts
    frame = plain.to_frame()
    assert frame["posterior"].tolist() == ["paired", "independent"]
    assert "<table>" in plain._repr_html_()
    differences, density = plain.tests[0].posterior.curve()
    step = differences[1] - differences[0]
    assert density.sum() * step == pytest.approx(1, abs=0.01)


def test_scores_of_the_negative_class_where_there_is_a_positive_one():
    X = list(range(48))
    y = [int(x % 7 > 2) for x in X]
    models = (Least(10), Least(22))
    result = pv.compare_models(*models, X, y, m=1, metric=["npv", "specificity"], rng=1)
    assert result.metrics == ("npv", "specificity")
