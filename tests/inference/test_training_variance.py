"""The fold design effect, and what it does to the paired test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import probative as pv
from probative.inference.crossval import (
    fold_dependence,
    fold_design_effect,
    item_variance,
)
from probative.metrics import score

FICKLE = [
    pv.PairedCounts(row)
    for row in (
        [3, 4, 30, 4, 160, 28, 29, 300],
        [27, 4, 4, 4, 160, 28, 29, 300],
        [5, 6, 28, 3, 162, 26, 27, 300],
        [20, 4, 9, 4, 160, 28, 29, 300],
        [13, 4, 11, 4, 160, 28, 29, 300],
        [9, 6, 22, 3, 162, 26, 27, 300],
    )
]
METRICS = ("precision", "recall", "f1", "jaccard", "accuracy")
cells = st.lists(st.integers(1, 60), min_size=8, max_size=8)


def by_hand(folds, metric):
    """The definition, written out with the derivative taken numerically."""

    def difference(cases):
        table = pv.PairedCounts(cases)
        return score(table.b, metric) - score(table.a, metric)

    total = np.sum([fold.cases for fold in folds], axis=0)
    step = 1e-4
    slopes = [
        (difference(total + step * kind) - difference(total - step * kind)) / (2 * step)
        for kind in np.eye(8)
    ]
    explained = len(folds) * np.sum(total * np.square(slopes))
    d = np.array([difference(fold.cases) for fold in folds]).reshape(-1, 2)
    return np.mean(d.var(axis=1, ddof=1)) / explained


@pytest.mark.parametrize("metric", METRICS)
def test_the_effect_is_what_it_is_defined_to_be(metric):
    assert fold_design_effect(FICKLE, metric=metric) == pytest.approx(
        by_hand(FICKLE, metric), rel=1e-5
    )


def test_separate_counts_have_the_variances_of_both_models():
    a, b = [f.a for f in FICKLE], [f.b for f in FICKLE]
    total_a, total_b = sum(a[1:], start=a[0]), sum(b[1:], start=b[0])
    recalls = [score(c, "recall") for c in (total_a, total_b)]
    explained = 6 * sum(
        r * (1 - r) / c.positives for r, c in zip(recalls, (total_a, total_b), strict=True)
    )
    d = np.array([score(y, "recall") - score(x, "recall") for x, y in zip(a, b, strict=True)])
    within = np.mean(d.reshape(3, 2).var(axis=1, ddof=1))
    assert fold_design_effect(a, b, "recall") == pytest.approx(within / explained, rel=1e-12)
    test = pv.bayes_test(a, b, "recall")
    assert test.fold_design_effect == fold_design_effect(a, b, "recall")
    many = [pv.Counts([c.tp, 5], [c.fp, 6], [c.fn, 7]) for c in a]
    effects = fold_design_effect(many, many[::-1], "recall")
    assert effects.shape == (2,)
    assert np.isnan(effects[1])  # all folds alike


@settings(max_examples=50, deadline=None)
@given(st.lists(cells, min_size=4, max_size=4), st.sampled_from(METRICS))
def test_neither_the_order_within_repetitions_nor_the_roles_matter(rows, metric):
    folds = [pv.PairedCounts(row) for row in rows]
    effect = fold_design_effect(folds, metric=metric)
    turned = [folds[i] for i in (1, 0, 3, 2)]
    swapped = [fold.swapped() for fold in folds]
    larger = [fold * 10 for fold in folds]
    for other, factor in ((turned, 1), (swapped, 1), (larger, 10)):
        expected = pytest.approx(factor * effect, rel=1e-9, nan_ok=True)
        assert fold_design_effect(other, metric=metric) == expected


def test_items_alone_give_an_effect_of_one():
    rng = np.random.default_rng(5)
    shares = np.array([0.04, 0.03, 0.05, 0.03, 0.4, 0.05, 0.1, 0.3])
    for metric in ("recall", "f1"):
        effects = [
            fold_design_effect(
                [pv.PairedCounts(row) for row in rng.multinomial(2000, shares, 6)], metric=metric
            )
            for _ in range(500)
        ]
        # chi-square with three degrees of freedom, over three
        assert np.mean(effects) == pytest.approx(1, abs=4 * np.sqrt(2 / 3 / 500))


def test_undefined_effects_are_said_and_never_one_in_silence():
    same = [pv.PairedCounts([3, 2, 4, 1, 50, 5, 6, 70])] * 6
    agree = [pv.PairedCounts([0, 0, 0, 0, 50 + i, 5, 6, 70]) for i in range(6)]
    silent = [pv.PairedCounts([3, 2, 0, 0, 50, 5, 6, 70]) for _ in range(5)]
    silent.append(pv.PairedCounts([30, 2, 0, 0, 0, 0, 6, 70]))  # B returns nothing
    for folds, metric in ((same, "f1"), (agree, "recall"), (silent, "precision")):
        assert math.isnan(fold_design_effect(folds, metric=metric))
        plain = pv.bayes_test(folds, metric=metric)
        adjusted = pv.bayes_test(folds, metric=metric, training_variance=True)
        assert "cannot be measured" in adjusted.note
        assert adjusted.to_dict()["fold_design_effect"] is None
        assert adjusted.p_b_better == plain.p_b_better


def test_the_published_test_stays_and_the_adjusted_one_is_wider():
    plain = pv.bayes_test(FICKLE, metric="recall", rope=0.01)
    adjusted = pv.bayes_test(FICKLE, metric="recall", rope=0.01, training_variance=True)
    effect = plain.fold_design_effect
    assert effect == adjusted.fold_design_effect > 2
    single = pv.bayes_test(pv.effective_counts(FICKLE), metric="recall", rope=0.01)
    assert (plain.p_h0, plain.low, plain.high) == (single.p_h0, single.low, single.high)
    assert plain.weight / adjusted.weight == pytest.approx(effect)
    assert adjusted.low < plain.low < plain.high < adjusted.high
    # P = T(Φ⁻¹(P0)), P0 in closed form from the divided counts
    table = pv.effective_counts(FICKLE).cases / effect
    p0 = special.betainc(table[2] + 0.5, table[0] + 0.5, 0.5)
    freedom = fold_dependence(effect, 3).degrees_of_freedom
    assert adjusted.degrees_of_freedom == freedom
    assert adjusted.p_h0 == pytest.approx(special.stdtr(freedom, special.ndtri(p0)), rel=1e-9)
    total = adjusted.p_a_better + adjusted.p_equivalent + adjusted.p_b_better
    assert total == pytest.approx(1)
    for limit, tail in ((adjusted.low, 0.025), (adjusted.high, 0.975)):
        assert adjusted.posterior.cdf(limit) == pytest.approx(tail, abs=1e-7)
    assert adjusted.interval_a[0] < plain.interval_a[0]  # A's own scores vary, too


def test_stable_learners_keep_their_test():
    rng = np.random.default_rng(1)
    rows = np.round(rng.normal(1, 0.01, (6, 8)) * [9, 4, 12, 4, 160, 28, 29, 300])
    folds = [pv.PairedCounts(row) for row in rows]
    plain = pv.bayes_test(folds, metric="recall")
    adjusted = pv.bayes_test(folds, metric="recall", training_variance=True)
    assert adjusted.fold_design_effect < 1
    assert (adjusted.p_h0, adjusted.low, adjusted.weight) == (plain.p_h0, plain.low, plain.weight)
    assert adjusted.degrees_of_freedom is None


@given(st.floats(0, 1e12), st.integers(1, 50))
def test_degrees_of_freedom_fall_from_infinity_to_the_repetitions(effect, m):
    found = fold_dependence(effect, m)
    assert found.divisor >= 1
    assert found.degrees_of_freedom >= m
    assert math.isinf(found.degrees_of_freedom) or effect > 1
    assert fold_dependence(2.0, m).degrees_of_freedom == 4 * m


def test_what_has_no_folds_has_no_training_variance():
    table = pv.PairedCounts([3, 2, 4, 1, 50, 5, 6, 70])
    assert pv.bayes_test(table).fold_design_effect is None
    assert "fold_design_effect" not in pv.bayes_test(table).to_dict()
    a, b = [f.a for f in FICKLE], [f.b for f in FICKLE]
    for arguments, how in (((table,), {}), ((a, b), {}), ((FICKLE,), {"method": "sampled"})):
        with pytest.raises(pv.InputError, match="training_variance: expected a list of Paired"):
            pv.bayes_test(*arguments, training_variance=True, **how)


def test_the_variance_of_items_is_that_of_drawn_tables():
    shares = np.array([0.04, 0.03, 0.05, 0.03, 0.4, 0.05, 0.1, 0.3])
    rows = np.random.default_rng(2).multinomial(3000, shares, 4000)
    tables = [pv.PairedCounts(row) for row in rows]
    drawn = np.var([score(t.b, "f1") - score(t.a, "f1") for t in tables])
    assert item_variance(pv.PairedCounts(3000 * shares), "f1", 1.0) == pytest.approx(drawn, rel=0.1)


def test_students_tails_stretch_errors():
    rows = [[3, 4, 30, 4, 160, 28, 29], [27, 4, 4, 4, 160, 28, 29]] * 2
    folds = [pv.PairedCounts(row) for row in rows]
    test = pv.bayes_test(folds, metric="fbeta", beta=10, training_variance=True)
    base = test.posterior.base
    tail = min(base.cdf(0.0), base.sf(0.0)) + base.error
    stretched = special.stdtr(test.degrees_of_freedom, special.ndtri(tail))
    assert stretched - min(test.p_h0, test.p_h1) <= 1.01 * test.error
    assert test.method == "integrated"
    assert "|integrated|" in test.signature
