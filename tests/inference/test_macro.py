"""Macro averages, against scikit-learn, full enumeration, draws and clustered intervals."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from inference.of_scores import as_cells, macro_test
from sklearn.metrics import fbeta_score, precision_recall_fscore_support

import probative as pv
from probative.counts import LabelCounts
from probative.errors import InputError
from probative.inference.macro import (
    MacroPosterior,
    label_dependence,
    label_intervals,
    macro_interval,
    macro_posterior,
    macro_score,
)
from probative.inference.macro_comparison import (
    MacroDifferencePosterior,
    MacroScore,
    macro_difference,
)
from probative.inference.units import dependence_of_score

METRICS = ("precision", "recall", "f1")
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "macro.json").read_text())


def of_labels(gold, pred, labels):
    """One row per datum, one column per label."""
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
    ours = macro_score(as_cells(of_labels(gold, a, "abcd")), metric)
    assert ours == pytest.approx(theirs[METRICS.index(metric)])


# --- the posterior -------------------------------------------------------------------------------


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["name"])
def test_posterior_equals_brute_force_draws(case):
    """Within a twentieth of the interval's length; draws and nodes are both approximations."""
    found = macro_posterior(np.array(case["right"]), np.array(case["items"]), f1=case["f1"])
    low, middle, high = case["quantiles"]
    assert found.ppf([0.025, 0.5, 0.975]) == pytest.approx(
        [low, middle, high], abs=0.05 * (high - low)
    )
    assert found.mean == pytest.approx(case["mean"], abs=0.03 * (high - low))


def test_many_labels_at_once_are_as_good_as_normal():
    """A hundred thousand labels: the mean of the posterior is that of the shares, nearly."""
    rng = np.random.default_rng(1)
    items = rng.integers(1, 6, 100_000).astype(float)
    right = rng.binomial(items.astype(int), 0.7).astype(float)
    found = macro_posterior(right, items, f1=False)
    assert found.mean == pytest.approx(0.7, abs=0.005)
    low, high = found.ppf([0.025, 0.975])
    assert 0 < high - low < 0.01


def test_huge_counts():
    found = macro_posterior(np.array([3e6, 7e11]), np.array([4e6, 1e12]), f1=False)
    low, high = found.ppf([0.025, 0.975])
    error = math.sqrt(0.75 * 0.25 / 4e6) / 2
    assert (low, high) == pytest.approx(
        (0.725 - 1.96 * error, 0.725 + 1.96 * error), abs=error / 20
    )


@pytest.mark.parametrize("right", [(0, 0), (4, 5), (400, 500), (0, 500)])
def test_extremes_have_limits_near_them(right):
    """All right or all wrong: the posterior must not leak to the other end."""
    items = np.array([max(1, r) for r in (4, 5)]) if max(right) < 6 else np.array([400, 500])
    found = macro_posterior(np.minimum(right, items).astype(float), items.astype(float), f1=True)
    below, above = found.ppf([0.001, 0.999])
    estimate = np.mean(np.minimum(right, items) / items)
    assert below <= estimate + 1e-3
    assert above >= estimate - 1e-3
    if items.min() >= 400:
        assert above - below < 0.05


tables = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 5), st.integers(1, 4), st.just(3)),
    elements=st.integers(0, 6),
)


@settings(deadline=None, max_examples=60)
@given(tables, st.sampled_from(("precision", "recall", "f1", "fbeta", "jaccard")), st.data())
def test_limits_hold_the_estimate_within_0_and_1(cells, metric, data):
    counts = pv.Counts(*np.moveaxis(cells, -1, 0))
    found = macro_interval(as_cells(counts), metric, beta=2.0)
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    order = data.draw(st.permutations(range(cells.shape[1])))
    counts = as_cells(pv.Counts(*np.moveaxis(cells[:, order], -1, 0)))
    permuted = macro_interval(counts, metric, beta=2.0)
    assert (permuted.low, permuted.high) == pytest.approx((found.low, found.high), abs=1e-9)


def test_one_unit_is_no_evidence():
    one = as_cells(pv.Counts(tp=[[8, 1]], fp=[[2, 1]], fn=[[0, 2]]))
    found = macro_interval(one)
    assert (found.low, found.high) == (0, 1)
    assert "one unit" in found.note
    gap, posterior = macro_difference(one, one)
    assert (gap.low, gap.high) == (-1, 1)
    assert all(math.isnan(p) for p in posterior.probabilities())


def test_nothing_there():
    nothing = as_cells(pv.Counts(*np.zeros((3, 4, 0))))
    assert math.isnan(macro_score(nothing))
    assert "no labels" in macro_interval(nothing).note
    gap, _ = macro_difference(nothing, nothing)
    assert math.isnan(gap.estimate)
    assert (gap.low, gap.high) == (-1, 1)
    assert macro_test(nothing, nothing, rng=0).pvalue == 1
    empty = macro_interval(as_cells(pv.Counts(*np.zeros((3, 4, 2)))))
    assert (empty.estimate, empty.low, empty.high) == (0, 0, 1)
    assert "no items" in empty.note


def test_a_rare_label_shows_in_the_interval():
    """Three items of one label: the delta method's interval was a third as long."""
    found = np.arange(303) >= 30
    rare = np.arange(303) >= 300
    tp = np.stack([found & ~rare, found & rare], axis=1)
    fn = np.stack([~found & ~rare, ~found & rare], axis=1)
    one = macro_interval(as_cells(pv.Counts(tp, np.zeros_like(tp), fn)))
    assert one.estimate == pytest.approx((2 * 270 / 570 + 1) / 2)
    assert one.low < 0.85  # the delta method: 0.967


def test_errors_that_count_twice_widen_the_interval():
    """In two classes what one misses the other is given: the labels are not independent."""
    rng = np.random.default_rng(2)
    gold = rng.choice(list("ab"), 200)
    pred = np.where(rng.random(200) < 0.8, gold, np.where(gold == "a", "b", "a"))
    together = of_labels(gold, pred, "ab")
    cells = LabelCounts.from_table(together)
    apart = LabelCounts(np.arange(len(cells.unit)), cells.label, cells.counts, len(cells.unit), 2)
    wide, narrow = macro_interval(cells), macro_interval(apart)
    ratio = (wide.high - wide.low) / (narrow.high - narrow.low)
    assert 1.25 < ratio < 1.5  # the variance is about twice as large


@pytest.mark.parametrize("metric", [*METRICS, "jaccard"])
def test_labels_at_once_are_as_one_by_one(metric):
    rng = np.random.default_rng(3)
    counts = pv.Counts(*rng.poisson(0.7, (3, 40, 6)))
    counts = pv.Counts(
        *(
            np.where(np.arange(6) == 5, (np.arange(40) == 3)[:, None], c)
            for c in (counts.tp, counts.fp, counts.fn)
        )
    )
    cells = LabelCounts.from_table(counts)
    found = label_intervals(cells, metric, level=0.9)
    _, _, freedom = label_dependence(cells, metric)
    for k, ours in enumerate(found):
        units = pv.Counts(*(c[:, k] for c in (counts.tp, counts.fp, counts.fn)))
        theirs = pv.interval(units, metric, clustered=True, level=0.9)
        for name in ("estimate", "low", "high", "design_effect"):
            assert getattr(ours, name) == pytest.approx(getattr(theirs, name), nan_ok=True)
        assert (ours.note, ours.method) == (theirs.note, theirs.method)
        one = dependence_of_score(units, metric)
        assert freedom[k] == pytest.approx(one.degrees_of_freedom)


# --- the difference ------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", [*METRICS, "jaccard"])
def test_swapping_mirrors_the_difference(labelled, metric):
    gold, a, b = labelled
    counts = [as_cells(of_labels(gold, said, "abc")) for said in (a, b)]
    there, posterior = macro_difference(*counts, metric)
    back, mirrored = macro_difference(*counts[::-1], metric)
    assert (back.estimate, back.low, back.high) == pytest.approx(
        (-there.estimate, -there.high, -there.low), abs=1e-9
    )
    assert mirrored.probabilities(0.01) == pytest.approx(posterior.probabilities(0.01)[::-1])


def test_probabilities_and_limits_come_from_one_distribution(labelled):
    gold, a, b = labelled
    _, posterior = macro_difference(*(as_cells(of_labels(gold, said, "abc")) for said in (a, b)))
    for level in (0.5, 0.9, 0.95, 0.99):
        low, high = posterior.interval(level)
        assert posterior.cdf(low) == pytest.approx((1 - level) / 2, abs=1e-6)
        assert posterior.sf(high) == pytest.approx((1 - level) / 2, abs=1e-6)
    d = np.linspace(-1, 1, 4001)
    assert np.trapezoid(posterior.pdf(d), d) == pytest.approx(1, abs=0.01)
    again = pickle.loads(pickle.dumps(posterior))  # noqa: S301  # our own bytes
    assert again.probabilities(0.02) == posterior.probabilities(0.02)


def test_the_copula_of_normal_averages_is_normal():
    """Two normal averages with a correlation have a normal difference."""
    from scipy import stats

    def normal(mean, sd):
        edges = np.linspace(0, 1, 4001)
        return MacroPosterior(edges, stats.norm.cdf(edges, mean, sd))

    found = MacroDifferencePosterior(normal(0.5, 0.02), normal(0.53, 0.03), 0.6, math.inf)
    spread = math.sqrt(0.02**2 + 0.03**2 - 2 * 0.6 * 0.02 * 0.03)
    expected = stats.norm(0.03, spread)
    assert found.interval(0.95) == pytest.approx(expected.interval(0.95), abs=spread / 500)
    assert found.sf(0.0) == pytest.approx(expected.sf(0.0), abs=1e-4)
    assert found.cdf(-0.01) == pytest.approx(expected.cdf(-0.01), abs=1e-4)


def test_own_labels_of_each_system():
    """Labels that count for one system alone enter its average only."""
    counts = pv.Counts(tp=[[3, 0], [2, 0]], fp=[[0, 0], [0, 0]], fn=[[1, 0], [1, 0]])
    other = pv.Counts(tp=[[3, 0], [2, 0]], fp=[[0, 1], [0, 2]], fn=[[1, 0], [1, 0]])
    masks = np.array([True, False]), np.array([True, True])
    cells = as_cells(counts), as_cells(other)
    gap = MacroScore(cells, np.array(masks)).difference(0, 1, 0.95)
    assert (gap.a, gap.b) == (pytest.approx(10 / 12), pytest.approx(5 / 12))
    test = macro_test(counts, other, labels=masks[0], own_labels=True, rng=0)
    assert test.statistic == pytest.approx(-5 / 12)


# --- the test ------------------------------------------------------------------------------------


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
    monkeypatch.setattr("probative.inference.sampled._BYTES_AT_ONCE", 64)
    assert macro_test(*counts, rng=7).pvalue == pytest.approx(once, abs=0.03)


def test_the_null_distribution_is_that_of_the_p_value(labelled):
    gold, a, b = labelled
    counts = of_labels(gold, a, "abc"), of_labels(gold, b, "abc")
    found = macro_test(*counts, rng=7, null=True)
    assert found.pvalue == macro_test(*counts, rng=7).pvalue
    edges, masses = np.asarray(found.null.edges), np.asarray(found.null.probabilities)
    assert len(edges) == len(masses) + 1
    assert masses.sum() == pytest.approx(1)
    observed = abs(found.statistic)
    assert np.isclose(edges, observed).any()
    middle = (edges[:-1] + edges[1:]) / 2
    extreme = masses[np.abs(middle) > observed].sum()
    assert found.pvalue == pytest.approx(
        (extreme * found.n_resamples + 1) / (found.n_resamples + 1)
    )


def test_wrong_shapes():
    one = pv.Counts(tp=[[1, 2]], fp=[[1, 2]], fn=[[1, 2]])
    with pytest.raises(InputError, match="expected one row per unit, one column per label"):
        as_cells(pv.Counts(1, 2, 3))
    with pytest.raises(InputError, match="metric: unknown 'f2'"):
        macro_interval(as_cells(one), "f2")
    with pytest.raises(InputError, match="n_resamples: 0 is not a whole number"):
        macro_test(one, one, n_resamples=0)


def test_fbeta_average_equals_scikit_learn(labelled):
    gold, a, _ = labelled
    found = macro_interval(as_cells(of_labels(gold, a, "abc")), "fbeta", beta=2.0)
    assert found.estimate == pytest.approx(fbeta_score(gold, a, beta=2, average="macro"))
    assert found.low < found.estimate < found.high
