from __future__ import annotations

import math
import subprocess
import sys

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


# What somebody who adds a metric would write into the table; nothing else knows of it.
ADDED = """
from probative import metrics
metrics.TABLE["csi"] = metrics.Metric("csi", "CSI", "CSI", (1, 0, 0, 0), (1, 1, 1, 0))
metrics.TABLE["misses"] = metrics.Metric("misses", "yes", "yes", (0, 0, 0, 1), (0, 0, 1, 1))
metrics.METRICS = tuple(metrics.TABLE)
metrics.NEEDS_TN = tuple(name for name, metric in metrics.TABLE.items() if metric.needs_tn)

import probative as pv
from probative.studies.coverage import coverage_study
from probative.wording import metric_name

counts = pv.Counts(tp=77, fp=44, fn=10, tn=702)
paired = pv.PairedCounts([30, 20, 80, 10, 400, 60, 70, 3000])
rows = [[3, 2, 8, 1, 40, 6, 7, 30], [1, 0, 2, 1, 9, 2, 1, 20], [0, 1, 1, 2, 5, 1, 0, 9]]
units = pv.PairedCounts(rows)

def everything(metric):
    found = pv.posterior(counts, metric)
    test = pv.bayes_test(paired, metric)
    return [
        pv.metrics.score(counts, metric),
        *[pv.interval(counts, metric, method).low for method in (None, "wald", "logit", "bayes")],
        pv.interval(units.a, metric, clustered=True).high,
        found.mean, found.cdf(0.6),
        test.p_h0, *test.posterior.interval(),
        pv.randomization_test(units, metric, by="unit").pvalue,
        pv.randomization_test(paired, metric, by="item").pvalue,
        *[pv.difference(paired, metric, method=m).low for m in ("mover", "bayes")],
        pv.bootstrap_difference(units, metric, n_resamples=200, rng=1).low,
        pv.plan(units, metric, difference=0.01).units,
        *[c.coverage for c in coverage_study(sizes=[20], methods=["wilson"], metric=metric)],
    ]

assert everything("csi") == everything("jaccard")
assert everything("misses") == everything("npv")
assert metric_name("macro_csi") == "macro CSI"
gold, pred = [["B-PER", "O", "B-LOC"]] * 5, [["B-PER", "O", "B-ORG"]] * 5
assert pv.score(gold, pred, metric="csi")[0].scores[0].estimate == 1 / 3
print("done")
"""


def test_a_metric_that_is_added_to_the_table_works_everywhere():
    command = [sys.executable, "-c", ADDED]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr


def test_the_paired_posterior_knows_all_metrics():
    paired = pv.PairedCounts([30, 20, 80, 10, 400, 60, 70, 3000])
    negated = pv.PairedCounts([10, 80, 20, 30, 3000, 70, 60, 400])  # yes is said for no
    for metric, twin in (("specificity", "recall"), ("npv", "precision")):
        found, expected = pv.bayes_test(paired, metric), pv.bayes_test(negated, twin)
        assert found.p_h0 == expected.p_h0
        assert found.posterior.interval() == expected.posterior.interval()
        assert found.difference == expected.difference
