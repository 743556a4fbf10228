from __future__ import annotations

import copy
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import probative as pv
from probative.crossval.splitter import first_halves, number_of_blocks


def largest_size_difference(folds):
    return max(abs(len(train) - len(validation)) for train, validation in folds)


@pytest.mark.parametrize(("m", "blocks"), [(1, 2), (2, 4), (3, 4), (5, 8), (7, 8), (8, 16)])
def test_every_pair_of_repetitions_shares_a_quarter_of_the_blocks(m, blocks):
    halves = first_halves(m)
    assert halves.shape == (m, blocks)
    assert number_of_blocks(m) == blocks
    assert (halves.sum(axis=1) == blocks / 2).all()
    for i, j in combinations(range(m), 2):
        for one in (halves[i], ~halves[i]):
            for other in (halves[j], ~halves[j]):
                assert (one & other).sum() == blocks / 4


@pytest.mark.parametrize("m", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("n", [17, 99, 101, 1001, 1003, 1005, 1007])
def test_sizes_overlaps_and_validations_with_odd_n(m, n):
    cv = pv.BlockRegularizedCV(m, random_state=n)
    folds = list(cv.split(range(n)))
    blocks = number_of_blocks(m)
    assert len(folds) == cv.get_n_splits() == 2 * m
    sizes = np.bincount(cv.blocks(range(n)), minlength=blocks)
    assert np.ptp(sizes) <= 1
    assert largest_size_difference(folds) <= (1 if m <= 5 else 3)
    validated = np.zeros(n, dtype=int)
    for train, validation in folds:
        assert np.array_equal(np.sort(np.concatenate([train, validation])), np.arange(n))
        validated[validation] += 1
    assert (validated == m).all()
    for i, j in combinations(range(2 * m), 2):
        shared = len(np.intersect1d(folds[i][0], folds[j][0]))
        if i // 2 == j // 2:
            assert shared == 0
        else:
            assert abs(shared - n / 4) <= blocks


@given(n=st.integers(8, 300), m=st.integers(1, 7), seed=st.integers(0, 2**31))
def test_no_even_n_is_worse_than_it_must_be(n, m, seed):
    folds = list(pv.BlockRegularizedCV(m, random_state=seed).split(range(n)))
    assert largest_size_difference(folds) <= (3 if m == 7 else 2)


@given(
    labels=st.lists(st.sampled_from("abcd"), min_size=32, max_size=200),
    m=st.sampled_from([1, 2, 3, 5, 7]),
    seed=st.integers(0, 2**31),
)
@pytest.mark.filterwarnings("ignore:fewer members")
def test_the_blocks_have_equal_shares_of_every_class(labels, m, seed):
    cv = pv.BlockRegularizedCV(m, random_state=seed)
    blocks = cv.blocks(labels, labels)
    counts = np.array(
        [
            [sum(x == c for x, b in zip(labels, blocks, strict=True) if b == k) for c in "abcd"]
            for k in range(number_of_blocks(m))
        ]
    )
    assert (np.ptp(counts, axis=0) <= 1).all()


def test_a_seed_makes_the_split_repeatable_and_none_does_not():
    def blocks(seed):
        return pv.BlockRegularizedCV(random_state=seed).blocks(range(100)).tolist()

    assert blocks(3) == blocks(3) != blocks(4)
    assert blocks(None) != blocks(None)
    assert blocks(np.random.default_rng(3)) == blocks(np.random.default_rng(3))
    assert blocks(np.random.RandomState(3)) == blocks(np.random.RandomState(3))


@given(
    sizes=st.lists(st.integers(1, 9), min_size=12, max_size=60),
    m=st.sampled_from([1, 3, 7]),
    seed=st.integers(0, 1000),
)
def test_groups_are_never_cut(sizes, m, seed):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    cv = pv.BlockRegularizedCV(m, random_state=seed)
    blocks = cv.blocks(groups, groups=groups)
    assert all(len(set(blocks[groups == g])) == 1 for g in range(len(sizes)))
    balance = cv.balance(groups, groups=groups)
    assert sum(balance.block_sizes) == len(groups)
    folds = list(cv.split(groups, groups=groups))
    assert balance.size_difference == largest_size_difference(folds)


def test_groups_and_units_are_balanced_together():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(300), rng.integers(1, 30, 300))
    units = rng.poisson([0.5, 0.1], (len(groups), 2))
    cv = pv.BlockRegularizedCV(random_state=0, regularize=units)
    balance = cv.balance(groups, groups=groups)
    assert balance.size_difference <= 4
    assert (balance.deviation < 0.005).all()
    assert (balance.random_deviation > 0.01).all()


def test_the_report_is_that_of_the_split():
    units = np.random.default_rng(0).poisson(0.3, (500, 3))
    cv = pv.BlockRegularizedCV(random_state=1, regularize=dict(zip("xyz", units.T, strict=True)))
    balance = cv.balance(units)
    halves = np.array([units[validation].sum(axis=0) for _, validation in cv.split(units)])
    total = units.sum(axis=0)
    expected = np.abs(halves - total / 2).max(axis=0) / (total / 2)
    np.testing.assert_allclose(balance.deviation, expected, rtol=1e-12)
    counts = np.array([units[cv.blocks(units) == b].sum(axis=0) for b in range(4)])
    chi = ((counts - total / 4) ** 2 / (total / 4)).sum(axis=0)
    np.testing.assert_allclose(balance.chi_square, chi, rtol=1e-12, atol=1e-12)
    assert balance.units == ("x", "y", "z")
    assert balance.totals.tolist() == total.tolist()
    assert balance.to_dict()["block_sizes"] == [125] * 4
    assert "4 blocks of 125, halves differ by 0 at most" in str(balance)
    assert str(pv.BlockRegularizedCV(random_state=1).balance(range(9))).startswith("4 blocks of 2")


def test_frames_and_sparse_matrices_are_units():
    import pandas as pd
    from scipy.sparse import csr_array

    units = np.random.default_rng(0).poisson(0.3, (60, 2))
    expected = pv.BlockRegularizedCV(random_state=1, regularize=units).blocks(units).tolist()
    for same in (pd.DataFrame(units, columns=["PER", "LOC"]), csr_array(units)):
        cv = pv.BlockRegularizedCV(random_state=1, regularize=same)
        assert cv.blocks(same).tolist() == expected
    frame = pd.DataFrame(units, columns=["PER", "LOC"])
    named = pv.BlockRegularizedCV(random_state=1, regularize=frame).balance(frame)
    assert named.units == ("PER", "LOC")


def test_what_is_no_class_is_not_balanced():
    y = np.random.default_rng(0).normal(size=100)
    cv = pv.BlockRegularizedCV(random_state=0)
    assert cv.balance(y, y).units == ()
    assert cv.balance(y, np.arange(100)).units == ()
    assert pv.BlockRegularizedCV(regularize=False).balance(y, np.ones(100)).units == ()
    spans = [[(0, 1, "x")], []] * 50
    assert cv.balance(spans, spans).units == ()


def entity_units(path):
    from probative.matching.schemes import decode
    from probative.reading.formats import Options, read

    spans = decode(read(path, Options(task="entities")), scheme="iob2")
    units = np.zeros((spans.n_sentences, len(spans.labels)))
    np.add.at(units, (spans.sentence, spans.label), 1)
    return units, spans.labels


def test_real_entities_are_balanced_and_beat_a_random_split_every_time(shared):
    units, labels = entity_units(shared / "data" / "uner" / "zh_gsd-ud-train.iob2")
    total = units.sum(axis=0)
    assert (total > 200).sum() >= 3, labels
    for seed in range(100):
        cv = pv.BlockRegularizedCV(3, random_state=seed, regularize=units)
        rng = np.random.default_rng(seed)
        mine, random = (
            np.array([units[v].sum(axis=0) for _, v in splitter.split(units)])
            for splitter in (cv, pv.BlockRegularizedCV(random_state=rng, regularize=False))
        )
        deviation = np.abs(mine - total / 2).max(axis=0) / (total / 2)
        assert (deviation[total > 200] <= 0.005).all(), (seed, deviation)
        by_chance = np.abs(random - total / 2).max(axis=0) / (total / 2)
        assert deviation.max() < by_chance.max()
        assert (deviation < by_chance).all()


def test_a_hundred_thousand_instances_with_twenty_units():
    rng = np.random.default_rng(0)
    units = rng.poisson(rng.uniform(0.01, 2, 20), (100_000, 20))
    blocks = pv.BlockRegularizedCV(3, random_state=0, regularize=units).blocks(units)
    counts = np.array([units[blocks == b].sum(axis=0) for b in range(4)])
    assert (np.abs(counts / units.sum(axis=0) * 4 - 1) < 0.002).all()


@pytest.mark.parametrize(
    ("options", "data", "message"),
    [
        ({}, {"X": range(3)}, "X: 3 instances; expected at least 4, one per block"),
        ({"m": 7}, {"X": range(7)}, "X: 7 instances; expected at least 8"),
        ({"m": 0}, {"X": range(9)}, "m: 0 is not a whole number from 1 to 127"),
        ({"m": 2.5}, {"X": range(9)}, "m: 2.5 is not"),
        ({"m": True}, {"X": range(9)}, "m: True is not"),
        ({}, {"X": 5}, "X: int has no length"),
        ({}, {"X": range(9), "y": [1, 2]}, "y: 2 values, but X has 9 instances"),
        ({}, {"X": range(9), "groups": [1]}, r"groups: shape \(1,\); expected one per instance"),
        ({}, {"X": range(9), "groups": [1, 2, 3] * 3}, "groups: 3 groups; expected at least 4"),
        ({"regularize": [1, 2]}, {"X": range(9)}, "regularize: shape"),
        ({"regularize": {"a": [1], "b": [1, 2]}}, {"X": range(9)}, "sequences of one length"),
        ({"regularize": -np.ones((9, 1))}, {"X": range(9)}, "regularize: -1 is not a finite"),
        ({"regularize": np.arange(9000)}, {"X": range(9000)}, "more than 4000 classes"),
        ({"random_state": "x"}, {"X": range(9)}, "random_state: 'x' is not a seed"),
    ],
)
def test_bad_input_is_named(options, data, message):
    with pytest.raises(pv.InputError, match=message):
        list(pv.BlockRegularizedCV(**options).split(**data))


def test_a_rare_class_is_told_with_its_consequence():
    y = ["spam"] * 3 + ["ham"] * 30
    with pytest.warns(UserWarning, match=r"fewer members than the 4 blocks: 'spam' \(3\); some"):
        pv.BlockRegularizedCV(random_state=0).blocks(y, y)


def test_it_works_in_scikit_learn():
    from sklearn.datasets import load_iris
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, cross_validate

    X, y = load_iris(return_X_y=True)
    cv = pv.BlockRegularizedCV(m=3, random_state=0)
    model = LogisticRegression(max_iter=1000)
    scores = cross_validate(model, X, y, cv=cv)["test_score"]
    assert len(scores) == 6
    assert scores.min() > 0.9
    search = GridSearchCV(model, {"C": [0.1, 1]}, cv=copy.deepcopy(cv)).fit(X, y)
    assert search.n_splits_ == 6
    assert repr(cv) == "BlockRegularizedCV(m=3, random_state=0)"
