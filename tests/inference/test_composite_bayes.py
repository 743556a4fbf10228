"""Bayes tests of separate counts, of scores that are no ratios of linear forms."""

from __future__ import annotations

import json

import numpy as np
import pytest

import probative as pv
from probative.metrics import COMPOSITES, score
from tests.conftest import GOLDEN

golden = json.loads((GOLDEN / "composite_bayes.json").read_text())
A, B = pv.Counts(77, 44, 10, 702), pv.Counts(80, 30, 7, 716)


@pytest.mark.parametrize("row", golden, ids=lambda r: f"{r['metric']}-{sum(r['a'])}-{r['d']}")
def test_probabilities_found_in_other_ways(row):
    a, b = (pv.Counts(*row[system]) for system in "ab")
    difference = pv.bayes_test(a, b, row["metric"]).posterior
    found, expected = difference.cdf(float(row["d"])), float(row["below"])
    assert found == pytest.approx(expected, abs=max(2 * difference.error, 2e-9))
    assert difference.sf(float(row["d"])) == pytest.approx(1 - expected, abs=1e-5)
    assert difference.error < 1e-4


@pytest.mark.parametrize("metric", COMPOSITES)
@pytest.mark.parametrize("few", [False, True], ids=["many", "few"])
def test_drawn_scores_agree(metric, few):
    a, b = (pv.Counts(5, 1, 2, 12), pv.Counts(2, 0, 3, 9)) if few else (A, B)
    test = pv.bayes_test(a, b, metric, rope=0.02, level=0.9)
    sampled = pv.bayes_test(
        a, b, metric, rope=0.02, level=0.9, method="sampled", n_resamples=100_000, rng=1
    )
    near = 5 * 0.5 / np.sqrt(1e5)
    for name in ("p_h0", "p_h1", "p_a_better", "p_equivalent", "p_b_better"):
        assert getattr(test, name) == pytest.approx(getattr(sampled, name), abs=near), name
    width = test.high - test.low
    assert [test.low, test.high] == pytest.approx([sampled.low, sampled.high], abs=0.02 * width)
    assert test.posterior.kind == "independent"


@pytest.mark.parametrize("metric", COMPOSITES)
def test_exchanged_systems_exchange_their_chances(metric):
    one, other = pv.bayes_test(A, B, metric), pv.bayes_test(B, A, metric)
    assert one.p_b_better == pytest.approx(other.p_a_better, abs=1e-8)
    assert [one.low, one.high] == pytest.approx([-other.high, -other.low], abs=1e-6)
    same = pv.bayes_test(A, A, metric)
    assert same.p_h0 == same.p_h1
    assert same.decision == "H0"


def test_arrays_are_as_many_tests():
    tables = [
        pv.Counts(*(np.array([x, y]) for x, y in zip(one, other, strict=True)))
        for one, other in (((77, 44, 10, 702), (5, 1, 2, 12)), ((80, 30, 7, 716), (4, 0, 3, 13)))
    ]
    both = pv.bayes_test(*tables, "mcc")
    for i in (0, 1):
        alone = pv.bayes_test(tables[0][i], tables[1][i], "mcc")
        assert both.p_h1[i] == pytest.approx(alone.p_h1, abs=1e-12)
        assert both.low[i] == pytest.approx(alone.low, abs=1e-9)
    assert np.shape(both.posterior.cdf([[0.0], [0.1], [0.2]])) == (3, 2)


def test_a_density_belongs_to_its_tails():
    difference = pv.bayes_test(A, B, "kappa").posterior
    d, density = difference.curve(401)
    assert np.trapezoid(density, d) == pytest.approx(0.998, abs=1e-4)
    step = 1e-3
    slope = (difference.cdf(0.05 + step) - difference.cdf(0.05 - step)) / (2 * step)
    assert difference.pdf(0.05) == pytest.approx(slope, rel=1e-3)
    assert difference.mean == pytest.approx(
        float(np.mean(score(B, "kappa")) - score(A, "kappa")), abs=0.02
    )


def test_folds_are_added_up_as_for_f1():
    folds = [pv.Counts(40, 7, 9, 44), pv.Counts(38, 8, 11, 43)] * 3
    better = [pv.Counts(44, 7, 5, 44), pv.Counts(43, 8, 6, 43)] * 3
    test = pv.bayes_test(folds, better, "kappa")
    assert test.weight < 1
    assert test.decision == "H1"
    assert test.fold_design_effect is not None


def test_on_the_command_line(run, tmp_path):
    for name, rows in (("a", "77,44,10,702"), ("b", "80,30,7,716")):
        (tmp_path / f"{name}.csv").write_text(f"tp,fp,fn,tn\n{rows}\n")
    files = [tmp_path / f"{name}.csv" for name in "ab"]
    content = json.loads(run("bayes", *files, "--metric", "mcc", "--format", "json").out)
    assert content["tests"][0]["p_h1"] == pytest.approx(pv.bayes_test(A, B, "mcc").p_h1)


def test_the_points_of_the_rule_are_found_once(monkeypatch):
    asked, found = [], np.polynomial.legendre.leggauss
    monkeypatch.setattr(np.polynomial.legendre, "leggauss", lambda n: asked.append(n) or found(n))
    for tp in (70, 71, 72):
        pv.bayes_test(pv.Counts(tp, 44, 10, 702), pv.Counts(80, 30, 7, 716), "mcc")
    assert asked.count(257) <= 1
