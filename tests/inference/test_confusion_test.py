"""Exchanges of what two systems say move the scores of whole confusion tables."""

from __future__ import annotations

from functools import partial
from itertools import combinations, product

import numpy as np
import pytest
from inference.of_scores import class_score, confusion_tests, pair_tests
from sklearn import metrics as reference

from probative.inference import classes as board
from probative.inference.classes import ConfusedItems
from probative.inference.units import jackknife_covariance

SCORES = {"mcc": reference.matthews_corrcoef, "kappa": reference.cohen_kappa_score}


def said_of(n, k, *, seed=0, systems=2):
    rng = np.random.default_rng(seed)
    answer = rng.integers(0, k, n)
    own = [np.where(rng.random(n) < 0.5, answer, rng.integers(0, k, n)) for _ in range(systems)]
    return answer, own


def sides(answer, own, k, units=None):
    return [ConfusedItems(answer, said, k, units) for said in own]


def quick_score(answer, said, metric):
    """The correlation of indicators, or agreement beyond chance: scikit-learn takes longer."""
    x, y = (np.eye(1 + max(answer.max(), said.max()))[own] for own in (answer, said))
    if metric == "kappa":
        chance = x.mean(axis=0) @ y.mean(axis=0)
        return ((answer == said).mean() - chance) / (1 - chance)
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    return (x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum())


def brute_force(answer, a, b, metric, units=None):
    """The share of all exchanges that make the difference at least as large."""
    units = np.arange(len(answer)) if units is None else units
    places = np.unique(units[a != b])
    score = partial(quick_score, metric=metric)

    def gap(taken):
        swap = np.isin(units, places[np.array(taken, dtype=bool)])
        return score(answer, np.where(swap, a, b)) - score(answer, np.where(swap, b, a))

    observed = abs(gap([0] * len(places)))
    gaps = [abs(gap(taken)) for taken in product([0, 1], repeat=len(places))]
    return np.mean(np.array(gaps) >= observed - 1e-9)


@pytest.mark.parametrize("metric", SCORES)
@pytest.mark.parametrize(("n", "k", "units"), [(12, 3, None), (14, 10, None), (30, 4, 8)])
def test_the_exchanges_are_all_exchanges(metric, n, k, units):
    answer, own = said_of(n, k, seed=n)
    if units:
        units = np.arange(n) % units
    exact = brute_force(answer, *own, metric, units)
    exchange = class_score(sides(answer, own, k, units), metric).exchange(0, 1)
    draws = 40_000
    share = exchange.extreme(np.random.default_rng(1), draws) / draws
    assert share == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / draws) + 1e-9)
    assert exchange.observed == pytest.approx(
        np.subtract(*(SCORES[metric](answer, s) for s in own[::-1]))
    )


@pytest.mark.parametrize("metric", SCORES)
def test_the_pairs_share_exchanges_that_are_those_of_each(metric, monkeypatch):
    k, n = 3, 12
    answer, own = said_of(n, k, seed=5, systems=4)
    own[3] = own[1]
    pairs = list(combinations(range(4), 2))
    everyone, draws = sides(answer, own, k), 20_000
    how = {"n_resamples": draws, "seed": 2}
    monkeypatch.setattr(board, "_KINDS_PER_SQUARED_CLASSES", 1e9)  # no pair by itself, but the last
    found = pair_tests(class_score(everyone, metric), pairs, **how)
    for (i, j), p in zip(pairs, found, strict=True):
        exact = brute_force(answer, own[i], own[j], metric)
        error = 4 * np.sqrt(exact * (1 - exact) / draws) + 1 / draws
        assert p.pvalue == pytest.approx(exact, abs=error), (i, j)
    assert found[pairs.index((1, 3))].pvalue == 1


def test_a_class_that_one_system_alone_uses_is_exchanged_with_it():
    answer = np.array([0, 0, 0, 1, 1, 1, 0, 1])
    a, b = answer.copy(), answer.copy()
    a[[0, 3, 4]] = 2
    b[[1]] = 1
    exact = brute_force(answer, a, b, "mcc")
    found = confusion_tests([sides(answer, [a, b], 3)], "mcc", rng=0)[0]
    assert found.pvalue == pytest.approx(exact, abs=0.03)


def test_many_pairs_are_drawn_until_their_adjusted_decisions_are_clear():
    answer = np.arange(60) % 3
    worse = np.where(np.arange(60) < 30, (answer + 1) % 3, answer)
    pair = sides(answer, [worse, answer], 3)
    alone, together = confusion_tests([pair], rng=0), confusion_tests([pair] * 8, rng=0)
    assert "decided at 0.05 and 0.01" in alone[0].note
    assert 8 * alone[0].pvalue_high > 0.01
    assert all(8 * own.pvalue_high < 0.01 for own in together)


def test_units_move_the_scores_of_a_leaderboard_as_leaving_them_out_does():
    k, n = 4, 400
    answer, own = said_of(n, k, seed=8, systems=3)
    units = np.arange(n) % 40
    score = class_score(sides(answer, own, k, units))
    left_out = np.array(
        [[SCORES["kappa"](answer[units != u], said[units != u]) for u in range(40)] for said in own]
    )
    jackknife = np.cov(left_out) * 39 * 39 / 40
    np.testing.assert_allclose(
        jackknife_covariance(score.moves, score.number), jackknife, rtol=0.05, atol=2e-6
    )


def test_weights_of_units_are_those_of_their_items():
    k, n = 3, 60
    answer, own = said_of(n, k, seed=4, systems=2)
    for units in (None, np.arange(n) % 12):
        score = class_score(sides(answer, own, k, units), "mcc")
        every = score.number[None].astype(float)
        expected = [SCORES["mcc"](answer, said) for said in own]
        np.testing.assert_allclose(score.resampled(np.arange(2), every)[0], expected)
    weights = np.random.default_rng(0).exponential(size=(1, 12))
    of_items = weights[0][np.arange(n) % 12]
    expected = [SCORES["mcc"](answer, said, sample_weight=of_items) for said in own]
    np.testing.assert_allclose(score.resampled(np.arange(2), weights)[0], expected)
