"""The sampled tests of the macro averages of all pairs share their exchanges."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import probative as pv
from probative.inference import macro_pair_tests as module
from probative.inference.macro_pair_tests import macro_pair_tests
from probative.inference.macro_test import macro_test
from probative.label_counts import LabelCounts

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
    for signs in module._signs(seed, 0, n_resamples, N_UNITS):
        one, other = (np.where(signs[:, None], x, y).sum(axis=1) for x, y in ((a, b), (b, a)))
        extreme += abs(average(*one) - average(*other)) >= observed - 1e-12
    return (extreme + 1) / (n_resamples + 1)


@pytest.mark.parametrize("own_labels", [False, True])
@pytest.mark.parametrize(("metric", "beta"), [("f1", 1.0), ("precision", 1.0), ("fbeta", 0.7)])
def test_each_pair_by_hand(metric, beta, own_labels):
    cells = drawn(empty=True)
    labels = np.array([True, True, True, False])
    pairs = list(combinations(range(4), 2))
    how = {"own_labels": own_labels, "seed": 5, "n_resamples": 300}
    shared = macro_pair_tests(cells, pairs, metric, beta=beta, labels=labels, **how)
    for (i, j), p in zip(pairs, shared, strict=True):
        assert p == by_hand(cells, i, j, metric, beta, labels, **how), (i, j)
    assert shared[2] == 1  # of a copy


def test_within_the_error_of_sampling_it_is_the_test_of_two():
    cells, n = drawn(seed=2), 20_000
    every = np.ones(N_LABELS, dtype=bool)
    pairs = [(0, 1), (0, 2), (1, 2), (1, 3)]
    shared = macro_pair_tests(cells, pairs, labels=every, n_resamples=n, seed=1)
    for (i, j), p in zip(pairs, shared, strict=True):
        alone = macro_test(cells[i], cells[j], n_resamples=n, rng=9).pvalue
        error = np.sqrt(2 * alone * (1 - alone) / n) + 1 / n
        assert abs(p - alone) < 4.5 * error, (i, j)


def test_a_pair_depends_on_its_systems_and_the_seed_alone(monkeypatch):
    cells = drawn(5)
    every = np.ones(N_LABELS, dtype=bool)
    pairs = list(combinations(range(5), 2))
    how = {"labels": every, "n_resamples": 1500, "seed": 3}
    all_of_them = macro_pair_tests(cells, pairs, **how)
    assert macro_pair_tests(cells[1:3], [(0, 1)], **how)[0] == all_of_them[pairs.index((1, 2))]
    assert (macro_pair_tests(cells, pairs, n_jobs=2, **how) == all_of_them).all()
    assert (macro_pair_tests(cells, pairs, **{**how, "seed": 4}) != all_of_them).any()
    monkeypatch.setattr(module, "_AT_ONCE", 256)  # in more steps
    assert (macro_pair_tests(cells, pairs, **how) == all_of_them).all()
    monkeypatch.setattr(module, "DENSE", 2.0)  # tables that are nearly empty
    assert (macro_pair_tests(cells, pairs, **how) == all_of_them).all()


def test_progress_ends_at_one(monkeypatch):
    monkeypatch.setattr(module, "_AT_ONCE", 256)
    told = []
    every = np.ones(N_LABELS, dtype=bool)
    macro_pair_tests(drawn(3), [(0, 1)], labels=every, n_resamples=600, report=told.append)
    assert told == pytest.approx([256 / 600, 512 / 600, 1.0])
