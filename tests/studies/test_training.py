from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.tree import DecisionTreeClassifier

import probative as pv
from probative_studies import bayes as study


@pytest.fixture(scope="module")
def drawn():
    x, y = study._draw_sets(np.random.default_rng(3), 6, 400, (0.5, 0.5))
    return x.reshape(6, 400, 4)[..., :2], y.reshape(6, 400)


@pytest.mark.parametrize(
    ("name", "peer"),
    [
        ("neighbour", KNeighborsClassifier(1)),
        ("centroid", NearestCentroid()),
        ("stump", DecisionTreeClassifier(max_depth=1)),
    ],
)
def test_the_learners_are_what_they_are_called(drawn, name, peer):
    x, y = drawn
    said = study.LEARNERS[name](x[:, :200], y[:, :200], x[:, 200:])
    for i in range(len(x)):
        expected = peer.fit(x[i, :200], y[i, :200]).predict(x[i, 200:])
        if name == "stump":  # a tree cuts where impurity falls most, ours where most is right
            share = said[i].mean()
            assert 0 < share < 1
            assert np.mean(said[i] == y[i, 200:]) == pytest.approx(
                np.mean(expected == y[i, 200:]), abs=0.08
            )
        else:
            assert said[i].tolist() == expected.tolist()


def test_a_stump_has_the_fewest_errors_in_training(drawn):
    x, y = drawn
    said = study._stump(x, y, x)
    best = [
        max(
            np.mean((x[i, :, f] > cut) == y[i])
            for f in range(2)
            for cut in np.quantile(x[i, :, f], np.linspace(0.01, 0.99, 199))
        )
        for i in range(len(x))
    ]
    assert np.all(np.mean(said == y, axis=1) >= np.array(best) - 1e-12)


@pytest.mark.parametrize("metric", study.PRF)
def test_the_approximation_is_close_to_the_test_itself(metric):
    x, y = study._draw_sets(np.random.default_rng(1), 3, 400, (0.5, 0.75))
    for folds in study._paired_folds(study._centroid, x, y):
        published, adjusted, effect = study._judge(folds, metric)
        for tail, how in ((published, False), (adjusted, True)):
            test = pv.bayes_test(folds, metric=metric, training_variance=how)
            assert tail == pytest.approx(min(test.p_h0, test.p_h1), abs=0.01)
            assert test.fold_design_effect == effect


def test_folds_have_both_learners_on_the_same_items():
    x, y = study._draw_sets(np.random.default_rng(1), 2, 80, (0.5, 0.5))
    assert y.sum(axis=2).tolist() == [[10] * 4] * 2
    for folds in study._paired_folds(study._centroid, x, y):
        assert [fold.cases.sum() for fold in folds] == [40] * 6
        assert {fold.a.positives for fold in folds} == {20}
        assert folds[0].cases.tolist() != folds[1].cases.tolist()


@pytest.mark.slow
def test_an_unstable_learner_needs_the_allowance_and_a_gain_shows():
    found = study.training_study(["stump", "centroid"], items=200, replicates=150, rng=2)
    at = {(r.learner, r.metric, r.gain): r for r in found}
    stump, centroid = at["stump", "recall", 0.0], at["centroid", "recall", 0.0]
    assert stump.published > 0.15
    assert stump.adjusted < stump.published / 2
    assert centroid.published < 0.1
    assert at["centroid", "f1", 0.25].adjusted > at["centroid", "f1", 0.0].adjusted
    assert stump.effect > 2 > centroid.effect
    assert "learner stump, metric recall, items" in str(stump)
    again = study.training_study(["stump"], [0.0], items=200, replicates=150, rng=2)
    assert again[1].to_dict() == stump.to_dict()


def test_bad_arguments_are_refused():
    for how, words in (
        ({"learners": ["forest"]}, "learners: unknown 'forest'"),
        ({"items": 42}, "items: 42 is not a multiple of 8"),
        ({"replicates": 1}, "replicates: 1 is not a whole number >= 2"),
    ):
        with pytest.raises(pv.InputError, match=words):
            study.training_study(**how)


def test_the_command(run, refused):
    arguments = ("study", "training", "--learner", "centroid", "--gain", "0", "--n", 80, "-q")
    answer = json.loads(run(*arguments, "--replicates", 10, "-f", "json").out)
    assert [c["metric"] for c in answer["conditions"]] == ["precision", "recall", "f1"]
    assert answer["signature"].endswith(
        "|training|level:0.95|replicates:10|seed:0|learner:centroid|gain:0|distance:0.5|copies:own|n:80"
    )
    assert "--gain" in refused("study", "training", "--gain", "x")
    assert "--gain: " in refused(*arguments[:4], "--gain", "0.1", "--copies", "subsampled")
    assert "--copies: unknown 'all'" in refused(*arguments[:4], "--copies", "all")


def test_subsampled_copies_see_the_same_features_and_half_of_the_items():
    seen = []

    def spy(x, y, new):
        seen.append((x, y, new))
        return np.zeros(new.shape[:2], dtype=bool)

    rng = np.random.default_rng(1)
    x, y = study._draw_sets(rng, 2, 80, (1.0, 1.0))
    assert len(list(study._paired_folds(spy, x, y, rng))) == 2
    (first, labels, new), (second, _, same) = seen[:2]
    assert np.array_equal(new, same)
    assert first.shape == second.shape == (2, 20, 2)  # of the 40 items of a half
    assert not np.array_equal(first, second)
    known = {tuple(item): positive for item, positive in zip(_flat(x), _flat(y), strict=True)}
    assert all(known[tuple(item)] == yes for item, yes in zip(first[0], labels[0], strict=True))


def _flat(values):
    """The items of the first data set in a row: A's features, or the classes."""
    return values[0].reshape(80, -1)[:, :2].tolist() if values.ndim == 4 else values[0].ravel()


def test_the_recorded_figures_agree_with_a_smaller_run():
    path = Path(__file__).parents[2] / "docs" / "results" / "training.csv"
    with path.open(encoding="utf-8") as file:
        recorded = {(r["gain"], r["learner"], r["metric"]): r for r in csv.DictReader(file)}
    for result in study.training_study(["stump"], [0.0], replicates=200, rng=9):
        row = recorded["0", "stump", result.metric]
        published, adjusted = (float(row[name].split("(")[0]) for name in ("published", "adjusted"))
        assert result.published == pytest.approx(published, abs=4 * np.sqrt(published / 200))
        assert result.adjusted == pytest.approx(adjusted, abs=4 * np.sqrt(adjusted / 200))
