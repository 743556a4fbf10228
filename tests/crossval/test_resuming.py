"""Runs that go on: what a folder holds is taken for what it is, and for nothing else."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest

import probative as pv
from probative import files as resume

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from data import tweets  # noqa: E402
from models import Broken, Lexicon  # noqa: E402

compare_models = partial(pv.compare_models, metric="recall", m=1)


def outcome(result):
    return [table.cases.tolist() for table in result.paired], result.seed


def change(path, **changes):
    """Change what a file holds, with a checksum that fits."""
    content = json.loads(path.read_text())["content"]
    content["result"] |= changes
    path.write_bytes(resume.seal(content))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"predictions": "x" * 20}, r"predictions: 'x+' is no list"),
        ({"predictions": ["x"] * 20}, r"sentence 1: (span )?'x'; expected"),
        ({"predictions": [[]] * 19}, "predicts spans for 19 sentences, and there are 20"),
        ({"predictions": [[[0, 99, "PER"]]] * 20}, r"sentence 1: span \[0, 99, 'PER'\]; expected"),
        ({"predictions": [[[0, 1, 3]]] * 20}, r"sentence 1: span \[0, 1, 3\]; expected"),
        ({"predictions": None}, "predictions: None is no list"),
        ({"seconds": "1"}, "seconds: '1' is not a number"),
        ({"seconds": True}, "seconds: True is not a number"),
        ({"seconds": -1}, "seconds: -1 is not a finite number >= 0"),
        ({"seconds": float("nan")}, "seconds: nan is not a finite number"),
        ({"more": 1}, "it has no seconds and predictions"),
    ],
)
def test_stored_predictions_are_checked_like_those_of_a_model(tmp_path, changes, message):
    run = partial(compare_models, Lexicon(1), Lexicon(2), *tweets(40), folder=tmp_path)
    run(rng=1)
    change(tmp_path / "fold-2-b.json", **changes)
    with pytest.raises(pv.InputError, match=message) as caught:
        run()
    assert str(caught.value).startswith(f"{tmp_path}/fold-2-b.json: cannot be read (")
    assert str(caught.value).endswith("; delete it to do its part again")


def test_swapped_folds_are_noticed(tmp_path):
    run = partial(compare_models, Lexicon(1), Lexicon(2), *tweets(40), folder=tmp_path)
    first = run()
    one, two = tmp_path / "fold-1-a.json", tmp_path / "fold-2-a.json"
    content = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(content)
    with pytest.raises(pv.InputError, match=r"fold-1-a\.json: holds another part: fold is 2"):
        run()
    one.unlink()
    two.unlink()
    assert outcome(run()) == outcome(first)


def test_labels_of_another_kind_are_a_matter_of_the_checksum(tmp_path):
    from sklearn.linear_model import LogisticRegression

    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    run = partial(compare_models, LogisticRegression(), LogisticRegression(C=9), X, y)
    first = run(folder=tmp_path)
    path = tmp_path / "fold-1-a.json"
    path.write_bytes(path.read_bytes().replace(b"[0, ", b'["0", ').replace(b"[1, ", b'["1", '))
    with pytest.raises(pv.InputError, match=r"fold-1-a\.json: cannot be read \(its checksum"):
        run(folder=tmp_path)
    path.unlink()
    assert outcome(run(folder=tmp_path)) == outcome(first)


@pytest.mark.parametrize("what", ["groups", "regularize"])
def test_another_split_is_another_run(tmp_path, what):
    run = partial(compare_models, Lexicon(1), Lexicon(2), *tweets(40), folder=tmp_path)
    run()
    with pytest.raises(pv.InputError, match=f"holds the results of another run: {what}"):
        run(**{what: {"x": [1, 2] * 20} if what == "regularize" else [*range(20)] * 2})


class Local:
    def __init__(self, rule):
        self.rule = rule

    def fit(self, X, y):  # noqa: ARG002
        return self

    def predict(self, X):
        return [[] for _ in X]


def test_what_cannot_be_pickled_is_refused_with_a_folder_and_works_without(tmp_path):
    models = Local(lambda x: x), Local(lambda x: not x)
    with pytest.raises(pv.InputError, match="model_a: Local cannot be identified"):
        compare_models(*models, *tweets(40), folder=tmp_path / "f")
    assert not (tmp_path / "f").exists()
    assert len(compare_models(*models, *tweets(40)).folds) == 4


@pytest.mark.parametrize("how", ["exit-fit", "exit-predict"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_model_cannot_end_the_program(how, jobs):
    with pytest.raises(pv.InputError, match=rf"model B, {how[5:]}: SystemExit: 0"):
        compare_models(Lexicon(), Broken(how), *tweets(40), n_jobs=jobs)


def test_a_worker_that_dies_is_no_error_of_the_program():
    with pytest.raises(pv.InputError, match="a process that trained a model was killed"):
        compare_models(Lexicon(), Broken("die"), *tweets(40), n_jobs=2)


def test_interrupts_stay_interrupts():
    with pytest.raises(KeyboardInterrupt):
        compare_models(Lexicon(), Broken("interrupt"), *tweets(40))


@pytest.mark.parametrize("jobs", [0, True, 1.5, "2"])
def test_no_number_of_jobs(jobs):
    with pytest.raises(pv.InputError, match="n_jobs: "):
        compare_models(Lexicon(), Lexicon(), *tweets(40), n_jobs=jobs)


@pytest.mark.parametrize(("jobs", "expected"), [(100, [4]), (10**30, [4]), (3, [3]), (1, [])])
def test_no_more_workers_than_fits(monkeypatch, jobs, expected):
    asked = []
    original = joblib.Parallel

    def counting(n_jobs, **rest):
        asked.append(n_jobs)
        return original(n_jobs=1, **rest)

    monkeypatch.setattr(joblib, "Parallel", counting)
    compare_models(Lexicon(), Lexicon(2), *tweets(40), n_jobs=jobs)
    assert asked == expected


def test_nothing_left_to_do_starts_nothing(monkeypatch, tmp_path):
    run = partial(compare_models, Lexicon(1), Lexicon(2), *tweets(40), folder=tmp_path)
    first = run()
    monkeypatch.setattr(joblib, "Parallel", None)
    assert outcome(run(n_jobs=2)) == outcome(first)
