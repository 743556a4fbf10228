"""The sampled tests of the macro averages of all pairs share their exchanges."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from inference.of_scores import macro_pair_tests, macro_test

import probative as pv
from probative.counts import LabelCounts
from probative.inference import macro_comparison as module
from probative.inference import sampled as _pair_exchanges

N_UNITS, N_LABELS = 60, 4


def drawn(k=4, *, seed=0, empty=False):
    """Cells of systems of which one is a copy; with `empty`, a label that hardly anybody uses."""
    rng = np.random.default_rng(seed)
    rate = np.full(N_LABELS, 0.6)
    if empty:
        rate[-1] = 0.02
    positives = rng.poisson(rate, (N_UNITS, N_LABELS))
    tables = []
    for j in range(k):
        tp = rng.binomial(positives, 0.55 + 0.1 * j)
        tables.append(pv.Counts(tp, rng.poisson(rate / 4, positives.shape), positives - tp))
    tables[-1] = tables[0]
    return [LabelCounts.from_table(table) for table in tables]


def by_hand(cells, i, j, metric, beta, labels, *, own_labels, seed, n_resamples):
    """The p-value, exchange by exchange."""

    def average(tp, fp, fn):
        with np.errstate(invalid="ignore", divide="ignore"):
            top, bottom = {
                "f1": (2 * tp, 2 * tp + fp + fn),
                "precision": (tp, tp + fp),
                "fbeta": ((1 + beta**2) * tp, (1 + beta**2) * tp + beta**2 * fn + fp),
            }[metric]
            scores = np.where(bottom > 0, top / bottom, 0)
        counts = labels | (own_labels & (tp + fp > 0))
        return scores[counts].sum() / max(1, counts.sum())

    shape = (N_UNITS, N_LABELS)
    a, b = (
        np.stack([np.reshape(x, shape) for x in (c.counts.tp, c.counts.fp, c.counts.fn)]).astype(
            float
        )
        for c in (cells[i], cells[j])
    )
    observed = abs(average(*b.sum(axis=1)) - average(*a.sum(axis=1)))
    extreme = 0
    stream = np.random.default_rng((int(np.random.default_rng(seed).integers(2**63)), 0))
    width = -(-n_resamples // 8)
    raw = stream.integers(2**64, size=-(-N_UNITS * width // 8), dtype=np.uint64).view(np.uint8)
    flipped = np.unpackbits(raw[: N_UNITS * width].reshape(N_UNITS, width), axis=1)
    for signs in flipped[:, :n_resamples].T.astype(bool):
        one, other = (np.where(signs[:, None], x, y).sum(axis=1) for x, y in ((a, b), (b, a)))
        extreme += abs(average(*one) - average(*other)) >= observed - 1e-12
    return (extreme + 1) / (n_resamples + 1)


@pytest.mark.parametrize("own_labels", [False, True])
@pytest.mark.parametrize(("metric", "beta"), [("f1", 1.0), ("precision", 1.0), ("fbeta", 0.7)])
def test_each_pair_by_hand(metric, beta, own_labels, monkeypatch):
    monkeypatch.setattr(module, "_FEW_OPEN_PAIRS", 0)
    cells = drawn(empty=True)
    labels = np.array([True, True, True, False])
    pairs = list(combinations(range(4), 2))
    how = {"own_labels": own_labels, "seed": 5, "n_resamples": 300}
    shared = macro_pair_tests(cells, pairs, metric, beta=beta, labels=labels, **how)
    for (i, j), p in zip(pairs, shared, strict=True):
        assert p.pvalue == by_hand(cells, i, j, metric, beta, labels, **how), (i, j)
    assert shared[2].pvalue == 1  # of a copy


@pytest.mark.parametrize("few", [0, 64])
def test_within_the_error_of_sampling_it_is_the_test_of_two(few, monkeypatch):
    monkeypatch.setattr(module, "_FEW_OPEN_PAIRS", few)
    cells, n = drawn(seed=2), 20_000
    every = np.ones(N_LABELS, dtype=bool)
    pairs = [(0, 1), (0, 2), (1, 2), (1, 3)]
    shared = macro_pair_tests(cells, pairs, labels=every, n_resamples=n, seed=1)
    for (i, j), p in zip(pairs, shared, strict=True):
        alone = macro_test(cells[i], cells[j], n_resamples=n, rng=9).pvalue
        error = np.sqrt(2 * alone * (1 - alone) / n) + 1 / n
        assert abs(p.pvalue - alone) < 4.5 * error, (i, j)


def test_a_pair_depends_on_its_systems_and_the_seed_alone(monkeypatch):
    monkeypatch.setattr(module, "_FEW_OPEN_PAIRS", 0)
    cells = drawn(5)
    every = np.ones(N_LABELS, dtype=bool)
    pairs = list(combinations(range(5), 2))
    how = {"labels": every, "n_resamples": 1500, "seed": 3}
    all_of_them = macro_pair_tests(cells, pairs, **how)
    (alone,) = macro_pair_tests(cells[1:3], [(0, 1)], **how)
    assert alone.pvalue == all_of_them[pairs.index((1, 2))].pvalue
    assert macro_pair_tests(cells, pairs, n_jobs=2, **how) == all_of_them
    assert macro_pair_tests(cells, pairs, **{**how, "seed": 4}) != all_of_them
    monkeypatch.setattr(_pair_exchanges, "_NUMBERS_IN_MEMORY", 1 << 10)  # in more steps
    monkeypatch.setattr(_pair_exchanges, "_NUMBERS_OF_PAIRS_AT_ONCE", 1 << 10)
    assert macro_pair_tests(cells, pairs, **how) == all_of_them


def test_progress_ends_with_all_pairs():
    told = []
    every = np.ones(N_LABELS, dtype=bool)
    pairs = list(combinations(range(3), 2))
    known = {(0, 2): (1.0, 0)}
    how = {"labels": every, "known": known, "report": lambda *done: told.append(done)}
    found = macro_pair_tests(drawn(3), pairs, **how)
    assert told[-1] == (3, 3)
    assert (found[1].pvalue, found[1].draws) == (1.0, 0)


def test_what_is_known_is_drawn_on_only_where_it_must():
    cells = drawn(4, seed=3)
    every = np.ones(N_LABELS, dtype=bool)
    pairs = list(combinations(range(4), 2))
    first = macro_pair_tests(cells, pairs, labels=every, seed=1)
    known = {pair: (own.pvalue, own.draws) for pair, own in zip(pairs, first, strict=True)}
    again = macro_pair_tests(cells, pairs, labels=every, seed=1, known=known)
    assert again == first
    of_three = [(0, 1), (0, 2), (1, 2)]
    few = macro_pair_tests(cells[:3], of_three, labels=every, seed=1)
    known = {pair: (own.pvalue, own.draws) for pair, own in zip(of_three, few, strict=True)}
    later = dict(
        zip(pairs, macro_pair_tests(cells, pairs, labels=every, seed=1, known=known), strict=True)
    )
    adjusted = [pv.adjust_pvalues([p.pvalue for p in own]) for own in (first, later.values())]
    assert ((adjusted[0] <= 0.05) == (adjusted[1] <= 0.05)).all()
    assert all(later[pair].draws >= known[pair][1] for pair in of_three)
