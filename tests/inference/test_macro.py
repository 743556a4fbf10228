"""Macro averages, against scikit-learn, full enumeration and numeric differentiation."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import precision_recall_fscore_support

import probative as pv
from probative.errors import InputError
from probative.inference.macro import (
    macro_difference,
    macro_interval,
    macro_score,
    macro_test,
    normal_tail,
)

METRICS = ("precision", "recall", "f1")


def of_labels(gold, pred, labels):
    """A row a datum, a column a label."""
    yes, said = (
        np.array([[x == label for label in labels] for x in side]) for side in (gold, pred)
    )
    return pv.Counts(tp=yes & said, fp=~yes & said, fn=yes & ~said)


@pytest.fixture
def labelled():
    rng = np.random.default_rng(8)
    gold, a, b = rng.choice(list("abc"), (3, 30), p=[0.5, 0.3, 0.2])
    return gold, a, b


@pytest.mark.parametrize("metric", METRICS)
def test_scores_equal_scikit_learn(labelled, metric):
    gold, a, _ = labelled
    theirs = precision_recall_fscore_support(
        gold, a, labels=list("abcd"), average="macro", zero_division=0
    )
    ours = macro_score(of_labels(gold, a, "abcd"), metric)
    assert ours == pytest.approx(theirs[METRICS.index(metric)])


def weighted_macro(counts, weights, metric):
    total = pv.Counts(*(weights @ part for part in (counts.tp, counts.fp, counts.fn)))
    return float(np.mean(pv.metrics.score(total, metric, zero_division=0)))


@pytest.mark.parametrize("metric", METRICS)
def test_the_delta_method_follows_the_derivative_of_each_unit(labelled, metric):
    """A unit's influence is the derivative of the average in its weight."""
    gold, a, b = labelled
    counts = of_labels(gold, a, "abc"), of_labels(gold, b, "abc")
    n, step = len(gold), 1e-5

    def influences(system):
        rows = []
        for i in range(n):
            values = []
            for sign in (1, -1):
                weights = np.ones(n)
                weights[i] += sign * step
                values.append(weighted_macro(system, weights, metric))
            rows.append((values[0] - values[1]) / (2 * step))
        return np.array(rows)

    moves = [influences(system) for system in counts]
    spread = math.sqrt(n / (n - 1) * np.sum((moves[1] - moves[0]) ** 2))
    found, error = macro_difference(*counts, metric)
    assert error == pytest.approx(spread, rel=1e-6)
    reach = stats.t.ppf(0.975, n - 1) * spread
    assert (found.low, found.high) == pytest.approx(
        (found.estimate - reach, found.estimate + reach), rel=1e-6
    )
    correlation = moves[0] @ moves[1] / math.sqrt(np.sum(moves[0] ** 2) * np.sum(moves[1] ** 2))
    assert found.correlation == pytest.approx(correlation, abs=1e-6)

    single = macro_interval(counts[0], metric)
    alone = math.sqrt(n / (n - 1) * np.sum(moves[0] ** 2))
    f = single.estimate
    ends = [
        1
        / (
            1
            + math.exp(
                -(math.log(f / (1 - f)) + sign * stats.t.ppf(0.975, n - 1) * alone / (f * (1 - f)))
            )
        )
        for sign in (-1, 1)
    ]
    assert (single.low, single.high) == pytest.approx(tuple(ends), rel=1e-6)


def exact_macro_pvalue(a, b, metric):
    """All exchanges of whole units, in fractions."""

    def macro(totals):
        scores = []
        for tp, fp, fn in totals:
            top, bottom = {
                "f1": (2 * tp, 2 * tp + fp + fn),
                "recall": (tp, tp + fn),
                "precision": (tp, tp + fp),
            }[metric]
            scores.append(Fraction(int(top), int(bottom)) if bottom else Fraction(0))
        return sum(scores) / len(scores)

    cells_a = np.stack([a.tp, a.fp, a.fn], axis=-1).astype(int)
    cells_b = np.stack([b.tp, b.fp, b.fn], axis=-1).astype(int)
    observed = abs(macro(cells_b.sum(axis=0)) - macro(cells_a.sum(axis=0)))
    extreme = 0
    for swap in itertools.product([False, True], repeat=len(cells_a)):
        chosen = np.array(swap)[:, None, None]
        left = np.where(chosen, cells_b, cells_a).sum(axis=0)
        right = np.where(chosen, cells_a, cells_b).sum(axis=0)
        extreme += abs(macro(right) - macro(left)) >= observed
    return extreme / 2 ** len(cells_a)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(3))
def test_sampled_p_values_approach_the_full_enumeration(metric, seed):
    rng = np.random.default_rng(seed)
    gold, a, b = rng.choice(list("abc"), (3, 9))
    counts = of_labels(gold, a, "abc"), of_labels(gold, b, "abc")
    exact = exact_macro_pvalue(*counts, metric)
    found = macro_test(*counts, metric, n_resamples=40_000, rng=seed)
    assert found.pvalue == pytest.approx(exact, abs=5 * math.sqrt(0.25 / 40_000))
    assert found.standard_error == pytest.approx(
        math.sqrt(found.pvalue * (1 - found.pvalue) / 40_000)
    )


def test_ties_count_as_extreme():
    counts = pv.Counts(tp=[[1, 0], [0, 1]], fp=[[0, 1], [1, 0]], fn=[[0, 0], [0, 0]])
    mirrored = pv.Counts(tp=counts.tp[::-1], fp=counts.fp[::-1], fn=counts.fn[::-1])
    assert exact_macro_pvalue(counts, mirrored, "f1") == 1
    assert macro_test(counts, mirrored, rng=0).pvalue == 1


def test_a_seed_repeats_the_draws_and_memory_only_splits_them(labelled, monkeypatch):
    gold, a, b = labelled
    counts = of_labels(gold, a, "abc"), of_labels(gold, b, "abc")
    once = macro_test(*counts, rng=7).pvalue
    assert macro_test(*counts, rng=7).pvalue == once
    monkeypatch.setattr("probative.inference.macro._AT_ONCE", 64)
    assert macro_test(*counts, rng=7).pvalue == pytest.approx(once, abs=0.03)


def test_extremes():
    perfect = pv.Counts(tp=[[1, 2], [3, 4]], fp=[[0, 0]] * 2, fn=[[0, 0]] * 2)
    found = macro_interval(perfect)
    assert (found.estimate, found.low, found.high) == (1, 0, 1)
    assert "extreme" in found.note
    nothing = pv.Counts(*np.zeros((3, 4, 0)))
    assert math.isnan(macro_score(nothing))
    assert "no labels" in macro_interval(nothing).note
    gap, error = macro_difference(nothing, nothing)
    assert math.isnan(gap.estimate)
    assert (gap.low, gap.high, error) == (-1, 1, 0)
    assert macro_test(nothing, nothing, rng=0).pvalue == 1


def test_normal_tail():
    assert normal_tail(0.3, 0.1) == pytest.approx(stats.norm.sf(3))
    assert normal_tail(-0.3, 0.1) == pytest.approx(stats.norm.cdf(3))
    assert (normal_tail(0.1, 0), normal_tail(0, 0), normal_tail(-0.1, 0)) == (0, 0, 1)
    assert math.isnan(normal_tail(0.1, math.nan))


def test_wrong_shapes():
    one = pv.Counts(tp=[[1, 2]], fp=[[1, 2]], fn=[[1, 2]])
    with pytest.raises(InputError, match="expected a row a unit, a column a label"):
        macro_score(pv.Counts(1, 2, 3))
    with pytest.raises(InputError, match="b: shape"):
        macro_test(one, pv.Counts(tp=[[1]], fp=[[1]], fn=[[1]]))
    with pytest.raises(InputError, match="metric: unknown 'f2'"):
        macro_interval(one, "f2")
    with pytest.raises(InputError, match="n_resamples: 0 is not a whole number"):
        macro_test(one, one, n_resamples=0)
