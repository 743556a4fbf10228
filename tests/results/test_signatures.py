"""The signature of a result tells every choice that can change it."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import probative as pv

COUNTS = pv.Counts([7, 9, 4], [4, 1, 2], [1, 3, 2], [9, 9, 9])
PAIRED = pv.PairedCounts([[1, 0, 2, 0, 4, 0, 1]] * 5 + [[0, 1, 3, 0, 6, 1, 1]] * 7)
FOLDS = [pv.PairedCounts([3, 2, 8 + i, 1, 40, 6, 7, 90]) for i in range(6)]
GOLD, ROWS = [["ab", "c"], ["de"]], [[0.1, 0.9], [0.4]]


class Least:
    """A model that needs no training."""

    def __init__(self, least):
        self.least = least

    def fit(self, X, y):  # noqa: ARG002
        return self

    def predict(self, X):
        return [int(x > self.least) for x in X]


X = list(range(48))
Y = [int(x % 7 > 2) for x in X]

# the data, other choices than the usual ones, and keywords that change no number
JOBS = {
    "interval": (
        (COUNTS,),
        {"metric": "recall", "method": "wald", "level": 0.9, "clustered": True},
        {},
        (),
    ),
    "difference": ((PAIRED,), {"metric": "recall", "method": "bayes", "level": 0.9}, {}, ()),
    "bootstrap_difference": (
        (PAIRED,),
        {"metric": "recall", "method": "bca", "level": 0.9, "n_resamples": 99, "rng": 2},
        {"n_resamples": 50, "rng": 1},
        (),
    ),
    "randomization_test": (
        (PAIRED,),
        {
            "metric": "recall",
            "by": "item",
            "alternative": "less",
            "method": "exact",
            "n_resamples": 99,
            "rng": 2,
        },
        {"method": "sampled", "n_resamples": 50, "rng": 1},
        ("null", "memory_limit"),
    ),
    "bayes_test": (
        (FOLDS,),
        {
            "metric": "recall",
            "rope": 0.01,
            "prior": 0.5,
            "weight": "averaged",
            "level": 0.9,
            "training_variance": True,
        },
        {},
        ("b", "method", "n_resamples", "rng"),  # those of drawing are changed below
    ),
    "plan": (
        (PAIRED,),
        {"metric": "recall", "difference": 0.2, "power": 0.9, "units": 70, "level": 0.9},
        {},
        (),
    ),
    "segmentation_sweep": (
        (GOLD, ROWS),
        {"steps": 5, "level": 0.9, "input_format": "segmented", "encoding": "utf-16"},
        {},
        (),
    ),
    "compare_models": (
        (Least(10), Least(22), X, Y),
        {
            "m": 2,
            "metric": "recall",
            "positive": 0,
            "groups": [x // 2 for x in X],
            "regularize": False,
            "rng": 2,
            "names": ("x", "y"),
            "rope": 0.01,
            "prior": 0.5,
            "level": 0.9,
            "weight": "averaged",
        },
        {"rng": 1, "m": 1},
        ("n_jobs", "folder", "report"),
    ),
}


@pytest.mark.parametrize("name", JOBS)
def test_any_other_choice_is_another_signature(name):
    data, others, base, silent = JOBS[name]
    function = getattr(pv, name)
    usual = function(*data, **base).signature
    assert usual == function(*data, **base).signature
    said = {usual}
    for key, value in others.items():
        said.add(function(*data, **{**base, key: value}).signature)
    assert len(said) == 1 + len(others), sorted(said)
    known = list(inspect.signature(function).parameters)[len(data) :]
    if name != "plan":  # whose keywords depend on the kind of the data
        assert set(known) == {*others, *silent} | ({"beta", "prior"} & set(known))


@pytest.mark.parametrize("name", ["interval", "difference", "randomization_test", "bayes_test"])
def test_beta_is_a_choice_where_it_matters(name):
    (data, *_), function = JOBS[name], getattr(pv, name)
    said = [function(*data, metric="fbeta", beta=beta).signature for beta in (0.5, 2)]
    assert said[0] != said[1]


@pytest.mark.parametrize("name", ["interval", "difference"])
def test_a_prior_is_a_choice_where_it_matters(name):
    (data, *_), function = JOBS[name], getattr(pv, name)
    said = [function(*data, method="bayes", prior=prior).signature for prior in (0.5, 1)]
    assert said[0] != said[1]


def test_drawing_is_a_choice_of_a_bayes_test():
    ways = [
        {},
        {"method": "sampled", "n_resamples": 50, "rng": 1},
        {"method": "sampled", "n_resamples": 60, "rng": 1},
        {"method": "sampled", "n_resamples": 50, "rng": 2},
    ]
    said = {pv.bayes_test(FOLDS, "recall", **how).signature for how in ways}
    assert len(said) == len(ways)
    generator = np.random.default_rng(1)
    drawn = pv.bayes_test(FOLDS, "recall", method="sampled", n_resamples=50, rng=generator)
    assert drawn.signature.endswith("|seed:<Generator>")
