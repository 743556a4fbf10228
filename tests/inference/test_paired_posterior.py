from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from conftest import GOLDEN
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import probative as pv
from probative.inference._paired_nodes import gauss_jacobi, sobol_nodes
from probative.inference.paired_posterior import PAIRED_METRICS, PairedPosterior

drawn = json.loads((GOLDEN / "paired_draws.json").read_text())
DENSE = [30, 20, 80, 15, 400, 60, 70, 3000]
SPARSE = [3, 2, 8, 1, 40, 6, 7, 300]
RATIOS = ("precision", "f1", "fbeta", "jaccard")


@pytest.mark.parametrize("row", drawn, ids=lambda row: f"{row[1]}-{sum(row[0])}")
def test_ten_million_draws_agree(row):
    table, metric, limits, shares = row
    found = PairedPosterior(pv.PairedCounts(table), metric, beta=2)
    # five standard errors of a share of ten million, plus our own error
    tolerance = 5 * np.sqrt(0.25 / 1e7) + 4 * found.error
    np.testing.assert_allclose(found.cdf(limits), shares, atol=tolerance, rtol=0)
    assert found.error <= (1e-5 if found.rule == "quadrature" else 1e-4)


@pytest.mark.parametrize("table", [DENSE, SPARSE, [0] * 8])
@pytest.mark.parametrize("metric", RATIOS)
def test_the_marginals_are_the_single_posteriors(table, metric):
    found = PairedPosterior(pv.PairedCounts(table), metric, beta=2)
    engine = found._engine
    for top, bottom, alone in (
        (engine.top_a, engine.bottom_a, found.a),
        (engine.top_b, engine.bottom_b, found.b),
    ):
        mean, var = moments(engine, top, bottom)
        assert mean == pytest.approx(alone.mean, abs=1e-5 + 4 * engine.error)
        assert var == pytest.approx(alone.var, abs=1e-5 + 4 * engine.error)


def moments(engine, top, bottom):
    """Mean and variance of a ratio over the nodes and over the split that is integrated out."""
    rule = gauss_jacobi(*engine.cells[[engine.up, engine.down]], 12)
    first = second = 0.0
    for share, weight in zip(*rule, strict=True):
        g = engine.nodes.copy()
        g[:, engine.up] = share * engine.nodes[:, engine.down]
        g[:, engine.down] *= 1 - share
        ratio = (g @ top / (g @ bottom)).reshape(engine.weight.shape)
        first += weight * np.sum(engine.weight * ratio, axis=-1).mean()
        second += weight * np.sum(engine.weight * ratio**2, axis=-1).mean()
    return first, second - first**2


@pytest.mark.parametrize("table", [DENSE, SPARSE])
@pytest.mark.parametrize(
    ("metric", "tail"), [("precision", "one"), ("f1", "sum"), ("fbeta", "two")]
)
def test_quantiles_of_the_marginals(table, metric, tail):
    found = PairedPosterior(pv.PairedCounts(table), metric, beta=2)
    engine = found._engine
    up, down = engine.up, engine.down
    other = (1, 3) if up == 2 else (2, 0)
    nodes, weight = sobol_nodes(engine.cells, (up, down), other, tail, seed=1)
    q = np.array([0.025, 0.25, 0.5, 0.9, 0.975])
    # with A's numerator set to nothing the difference is B's score
    alone = dataclasses.replace(engine, top_a=np.zeros(7), nodes=nodes, weight=weight)
    below, _ = alone._averages(np.asarray(found.b.ppf(q)))
    error = below.std(axis=0, ddof=1) / np.sqrt(len(below))
    assert np.all(error < 1e-3)
    assert np.all(np.abs(below.mean(axis=0) - q) < 6 * error + 1e-6)


def test_closed_forms_of_recall_and_accuracy():
    cells = np.array(SPARSE) + 0.5
    recall = PairedPosterior(pv.PairedCounts(SPARSE), "recall")
    assert recall.cdf(0.0) == pytest.approx(special.betainc(cells[2], cells[0], 0.5), abs=1e-13)
    cells = np.array(SPARSE) + 0.25
    accuracy = PairedPosterior(pv.PairedCounts(SPARSE), "accuracy")
    expected = special.betainc(cells[1] + cells[2], cells[0] + cells[3], 0.5)
    assert accuracy.cdf(0.0) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("metric", ["recall", "accuracy"])
@pytest.mark.parametrize(
    "table", [DENSE, SPARSE, [0] * 8, [10**6, 5, 10**6 + 900, 9, 10**8, 3, 4, 0]]
)
def test_one_integral_agrees_with_draws(metric, table):
    found = PairedPosterior(pv.PairedCounts(table), metric)
    sampled = pv.bayes_test(
        pv.PairedCounts(table), metric=metric, method="sampled", n_resamples=400_000, rng=4
    )
    low, high = found.interval()
    assert found.cdf(low) == pytest.approx(0.025, abs=1e-9)
    assert found.cdf(high) == pytest.approx(0.975, abs=1e-9)
    assert found.cdf(sampled.low) == pytest.approx(0.025, abs=2e-3)
    assert found.cdf(sampled.high) == pytest.approx(0.975, abs=2e-3)
    assert found.cdf(0.0) == pytest.approx(sampled.p_h0, abs=4e-3)


@pytest.mark.parametrize("metric", PAIRED_METRICS)
def test_agreement_of_the_systems_shortens_the_interval(metric):
    table = pv.PairedCounts([12, 10, 25, 11, 900, 80, 90, 2000])
    paired = pv.bayes_test(table, metric=metric, beta=2)
    independent = pv.bayes_test(table.a, table.b, metric, beta=2)
    assert paired.posterior.kind == "paired"
    assert independent.posterior.kind == "independent"
    assert paired.high - paired.low < 0.5 * (independent.high - independent.low)
    assert paired.interval_a == pytest.approx(independent.interval_a, abs=1e-12)
    assert paired.difference == pytest.approx(independent.difference, abs=1e-12)


@pytest.mark.parametrize("metric", PAIRED_METRICS)
def test_exchanging_the_systems(metric):
    table = pv.PairedCounts(DENSE)
    one, other = (PairedPosterior(t, metric, beta=2) for t in (table, table.swapped()))
    tolerance = 1e-5 + 4 * (one.error + other.error)
    for d in (-0.02, 0.0, 0.03):
        assert one.cdf(d) == pytest.approx(1 - other.cdf(-d), abs=tolerance)
    assert one.mean == pytest.approx(-other.mean, abs=1e-12)
    low, high = one.interval()
    assert other.interval() == pytest.approx((-high, -low), abs=1e-4)


@pytest.mark.parametrize("metric", ["f1", "recall"])
def test_density_is_the_derivative(metric):
    found = PairedPosterior(pv.PairedCounts(DENSE), metric)
    d = np.linspace(*found.interval(0.999), 25)
    step = 1e-6
    slope = (found.cdf(d + step) - found.cdf(d - step)) / (2 * step)
    np.testing.assert_allclose(found.pdf(d), slope, rtol=1e-4, atol=1e-3)


def test_fbeta_at_one_is_f1():
    f1 = PairedPosterior(pv.PairedCounts(DENSE), "f1")
    fbeta = PairedPosterior(pv.PairedCounts(DENSE), "fbeta", beta=1)
    for d in (0.0, 0.03, 0.06):
        assert fbeta.cdf(d) == pytest.approx(f1.cdf(d), abs=1e-5 + 4 * fbeta.error)


def test_units_and_missing_negatives():
    rows = [[1, 0, 2, 0, 5, 1, 1], [0, 1, 0, 0, 7, 0, 0], [0, 1, 0, 0, 7, 0, 0]]
    units = pv.PairedCounts(rows)
    total = pv.bayes_test(units.total(), metric="recall")
    assert pv.bayes_test(units, metric="recall").p_h0 == total.p_h0
    assert pv.bayes_test(units.grouped(), metric="recall").p_h0 == total.p_h0
    with pytest.raises(pv.InputError, match="accuracy needs"):
        pv.bayes_test(units, metric="accuracy")
    with pytest.raises(pv.InputError, match="metric: unknown 'npv'"):
        PairedPosterior(units, "npv")


def test_folds_of_pairs():
    folds = [pv.PairedCounts([12, 10, 25, 11, 900, 80, 90])] * 6
    found = pv.bayes_test(folds, metric="f1")
    alone = pv.bayes_test(pv.effective_counts(folds), metric="f1")
    assert found.weight == pytest.approx(0.36880211)
    assert found.p_h0 == alone.p_h0


def test_the_same_answer_every_time():
    one, other = (PairedPosterior(pv.PairedCounts(SPARSE), "f1") for _ in range(2))
    assert one.rule == "sobol"
    assert one.cdf(0.01) == other.cdf(0.01)
    reseeded = PairedPosterior(pv.PairedCounts(SPARSE), "f1", seed=5)
    assert one.cdf(0.0) != reseeded.cdf(0.0)
    assert one.cdf(0.0) == pytest.approx(reseeded.cdf(0.0), abs=6 * (one.error + reseeded.error))


@settings(max_examples=40)
@given(st.floats(0.3, 1e9), st.floats(0.3, 1e9), st.integers(2, 25))
def test_gauss_rules_have_the_moments_of_the_beta_distribution(a, b, size):
    nodes, weight = gauss_jacobi(a, b, size)
    n = a + b
    mean, var = a / n, (a / n) * (b / n) / (n + 1)
    assert weight.sum() == pytest.approx(1, abs=1e-12)
    assert weight @ nodes == pytest.approx(mean, abs=1e-13)
    assert weight @ (nodes - mean) ** 2 == pytest.approx(var, rel=1e-8)
    third = 2 * var * (b - a) / n / (n + 2)
    assert weight @ (nodes - mean) ** 3 == pytest.approx(third, rel=1e-6, abs=1e-9 * var**1.5)


def test_rules_can_be_asked_for():
    table = pv.PairedCounts(DENSE)
    quadrature = PairedPosterior(table, "f1", rule="quadrature")
    sobol = PairedPosterior(table, "f1", rule="sobol")
    assert (quadrature.rule, sobol.rule) == ("quadrature", "sobol")
    assert np.isnan(quadrature.error)
    for d in (0.0, 0.05):
        assert sobol.cdf(d) == pytest.approx(quadrature.cdf(d), abs=6 * sobol.error + 1e-6)
    with pytest.raises(pv.InputError, match="rule: unknown 'sobel'"):
        PairedPosterior(table, "f1", rule="sobel")
