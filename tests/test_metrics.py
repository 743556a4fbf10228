from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

import probative as pv
from probative import metrics

labels = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=50)


@given(labels, st.floats(0.1, 10))
def test_scores_equal_scikit_learn(pairs, beta):
    gold, pred = (np.array(column) for column in zip(*pairs, strict=True))
    counts = pv.Counts.from_labels(gold, pred)
    for zero in (0.0, 1.0):
        ours = [
            metrics.precision(counts, zero_division=zero),
            metrics.recall(counts, zero_division=zero),
            metrics.fbeta(counts, beta, zero_division=zero),
            metrics.accuracy(counts),
            metrics.jaccard(counts, zero_division=zero),
            metrics.specificity(counts, zero_division=zero),
            metrics.npv(counts, zero_division=zero),
        ]
        flipped = {"pos_label": 0, "zero_division": zero}
        theirs = [
            sk.precision_score(gold, pred, zero_division=zero),
            sk.recall_score(gold, pred, zero_division=zero),
            sk.fbeta_score(gold, pred, beta=beta, zero_division=zero),
            sk.accuracy_score(gold, pred),
            sk.jaccard_score(gold, pred, zero_division=zero),
            sk.recall_score(gold, pred, **flipped),
            sk.precision_score(gold, pred, **flipped),
        ]
        np.testing.assert_allclose(ours, theirs, rtol=1e-14)


def test_an_empty_denominator_is_undefined_not_zero():
    empty = pv.Counts(0, 0, 0, 0)
    for metric in metrics.METRICS:
        assert math.isnan(metrics.score(empty, metric))
    assert np.isnan(metrics.f1(pv.Counts([0, 1], [0, 1], [0, 0]))).tolist() == [True, False]


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9))
def test_f1_is_fbeta_at_one_and_the_map_of_jaccard(tp, fp, fn):
    counts = pv.Counts(tp, fp, fn)
    if counts.nu:
        assert metrics.f1(counts) == pytest.approx(metrics.fbeta(counts, 1.0), rel=1e-15)
        mapped = metrics.f1_from_jaccard(metrics.jaccard(counts))
        assert metrics.f1(counts) == pytest.approx(mapped, rel=1e-14)


def test_arguments_are_checked():
    counts = pv.Counts(1, 1, 1)
    with pytest.raises(ValueError, match="metric: accuracy needs tn"):
        metrics.accuracy(counts)
    with pytest.raises(ValueError, match=r"metric: unknown 'f2'.*did you mean 'f1'"):
        metrics.score(counts, "f2")
    with pytest.raises(ValueError, match="beta: 0 is not"):
        metrics.fbeta(counts, 0)


def test_a_metric_that_is_added_to_the_table_works_everywhere():
    command = [sys.executable, str(Path(__file__).parent / "added_metrics.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("top", "bottom"),
    [((0, 1, 0, 0), (1, 1, 0, 0)), ((1, 0, 1, 0), (1, 1, 1, 0)), ((2, 0, 0, 0), (1, 1, 0, 0))],
)
def test_a_score_that_errors_raise_is_no_metric(top, bottom):
    # exact tests and sentences take more for better: they would be wrong in silence
    with pytest.raises(pv.InputError, match="top: rate may rise with an error"):
        metrics.Metric("rate", "rate", "rate", top, bottom)


def test_the_help_of_the_commands_names_every_metric():
    from probative.options import STATISTICS

    assert set(metrics.METRICS) <= set(
        STATISTICS["metric"].help.replace(",", "").replace(";", "").split()
    )


def test_the_paired_posterior_knows_all_metrics():
    paired = pv.PairedCounts([30, 20, 80, 10, 400, 60, 70, 3000])
    negated = pv.PairedCounts([10, 80, 20, 30, 3000, 70, 60, 400])  # yes is said for no
    for metric, twin in (("specificity", "recall"), ("npv", "precision")):
        found, expected = pv.bayes_test(paired, metric), pv.bayes_test(negated, twin)
        assert found.p_h0 == expected.p_h0
        assert found.posterior.interval() == expected.posterior.interval()
        assert found.difference == expected.difference
