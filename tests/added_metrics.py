"""Metrics that are added to the table work everywhere: `test_metrics` runs this in a process.

What stands first is all that somebody who adds one writes. Four are metrics that there are already
under another name, so that every number must be theirs; one is F1 with yes and no exchanged.
"""

from __future__ import annotations

from probative import metrics

for added in (
    metrics.Metric("csi", "CSI", "C$_{SI}$", (1, 0, 0, 0), (1, 1, 1, 0)),
    metrics.Metric("dice", "Dice", "Dice", (2, 0, 0, 0), (2, 1, 1, 0)),
    metrics.Metric("agreement", "agreement", "agreement", (1, 0, 0, 1), (1, 1, 1, 1)),
    metrics.Metric("omission", "omission", "omission", (0, 0, 0, 1), (0, 0, 1, 1)),
    metrics.Metric("f1_of_no", "F1 of no", "F$_1$ of no", (0, 0, 0, 2), (0, 1, 1, 2)),
    metrics.Metric("uneven", "uneven", "uneven", (3, 0, 0, 0), (3, 1, 2, 0)),
):
    metrics.TABLE[added.name] = added
metrics.METRICS = tuple(metrics.TABLE)
metrics.NEEDS_TN = tuple(name for name, metric in metrics.TABLE.items() if metric.needs_tn)

import numpy as np  # noqa: E402  # the table is complete before anything else is loaded
import pytest  # noqa: E402

import probative as pv  # noqa: E402
from probative.counts import LabelCounts  # noqa: E402
from probative.inference.macro import macro_interval  # noqa: E402
from probative.wording.numbers import metric_name  # noqa: E402
from probative_studies.coverage import coverage_study  # noqa: E402

TABLE = [30, 20, 80, 10, 400, 60, 70, 3000]
ROWS = [[3, 2, 8, 1, 40, 6, 7, 30], [1, 0, 2, 1, 9, 2, 1, 20], [0, 1, 1, 2, 5, 1, 0, 9]]
TWINS = {"csi": "jaccard", "dice": "f1", "agreement": "accuracy", "omission": "npv"}


def numbers(metric: str) -> list[float]:
    """One number of everything that is computed for a metric."""
    paired, units = pv.PairedCounts(TABLE), pv.PairedCounts(ROWS)
    posterior = pv.posterior(paired.a, metric)
    test = pv.bayes_test(paired, metric)
    drawn = pv.bayes_test(paired, metric, method="sampled", n_resamples=50, rng=1)
    a = units.a
    two_labels = pv.Counts(*(np.stack([n, n // 2], axis=1) for n in (a.tp, a.fp, a.fn, a.tn)))
    macro = macro_interval(LabelCounts.from_table(two_labels), metric)
    methods = (None, "wald", "logit", "bayes")
    return [
        pv.metrics.score(paired.a, metric),
        *[pv.interval(paired.a, metric, method).low for method in methods],
        pv.interval(units.a, metric, clustered=True).high,
        posterior.mean,
        posterior.cdf(0.6),
        test.p_h0,
        *test.posterior.interval(),
        drawn.low,
        pv.randomization_test(units, metric, by="unit").pvalue,
        pv.randomization_test(paired, metric, by="item").pvalue,
        *[pv.difference(paired, metric, method=method).low for method in ("mover", "bayes")],
        pv.bootstrap_difference(units, metric, n_resamples=200, rng=1).low,
        pv.plan(units, metric, difference=0.01).units,
        macro.low,
        macro.high,
        *[c.coverage for c in coverage_study(sizes=[20], methods=["bayes"], metric=metric)],
    ]


def check_twins() -> None:
    """Whatever is asked by name is asked of the table."""
    for name, twin in TWINS.items():
        assert numbers(name) == numbers(twin), name


def check_f1_of_no() -> None:
    """F1 of the negatives is F1 where yes and no are exchanged."""
    here = pv.PairedCounts(TABLE)
    there = pv.PairedCounts(np.array(TABLE)[[3, 2, 1, 0, 7, 6, 5, 4]])
    for method in ("wilson-indirect", "wilson-direct", "clopper-pearson", "jeffreys", "wald"):
        limits = pv.interval(here.a, "f1_of_no", method), pv.interval(there.a, "f1", method)
        assert_alike(*([i.low, i.high] for i in limits))
    limits = pv.difference(here, "f1_of_no"), pv.difference(there, "f1")
    assert_alike(*([i.low, i.high] for i in limits))
    bayes = pv.bayes_test(here, "f1_of_no"), pv.bayes_test(there, "f1")
    assert_alike(*(test.p_h0 for test in bayes))
    exact = pv.randomization_test(here, "f1_of_no"), pv.randomization_test(there, "f1")
    assert_alike(*(test.pvalue for test in exact))


def check_uneven() -> None:
    """One whose errors weigh differently has score, interval, difference, test; no posterior."""
    paired = pv.PairedCounts(TABLE)
    tp, fp, fn = paired.a.tp, paired.a.fp, paired.a.fn
    assert pv.metrics.score(paired.a, "uneven") == 3 * tp / (3 * tp + fp + 2 * fn)
    interval = pv.interval(paired.a, "uneven")
    assert interval.method == "logit"
    assert interval.low < interval.estimate < interval.high
    difference = pv.difference(paired, "uneven")
    assert difference.low < difference.estimate < difference.high
    assert 0 < pv.randomization_test(paired, "uneven").pvalue < 1
    with pytest.raises(pv.InputError, match="metric: "):
        pv.posterior(paired.a, "uneven")
    with pytest.raises(pv.InputError, match="metric: "):
        pv.bayes_test(paired, "uneven")


def check_results() -> None:
    """From tags to labels, averages, names in print."""
    tags = ["B-PER", "O", "B-LOC", "O", "B-PER"]
    gold = [tags, tags[::-1], tags[:3]] * 3
    old = [["B-PER", "O", "B-ORG", "O", "O"], tags[::-1], ["O", "O", "B-LOC"]] * 3
    new = [[*tags[:4], "O"], tags, tags[:3]] * 3
    for name in ("csi", "dice"):
        pair = (name, TWINS[name])
        scores = [pv.score(gold, old, metric=metric)[0] for metric in pair]
        assert_same(*([limits(x) for x in (*s.scores, *each_label(s))] for s in scores))
        for average in ("micro", "macro"):
            found = [pv.compare(gold, old, new, metric=metric, average=average) for metric in pair]
            assert_same(
                *([(c.pvalue, c.p_b_better, limits(c)) for c in f.comparisons] for f in found)
            )
            assert_same(*([list(map(limits, c.by_label)) for c in f.comparisons] for f in found))
    assert metric_name("macro_csi") == "macro CSI"
    assert "C$_{SI}$" in pv.compare(gold, old, new, metric="csi").to_latex()


def each_label(scores: pv.results.SystemScores) -> list[pv.Interval]:
    return [interval for label in scores.by_label for interval in label.scores]


def limits(interval: object) -> tuple[float, float]:
    return interval.low, interval.high


def assert_alike(mine: object, theirs: object) -> None:
    np.testing.assert_allclose(mine, theirs, rtol=1e-9)


def assert_same(mine: object, theirs: object) -> None:
    assert mine, "nothing to compare"
    assert mine == theirs


if __name__ == "__main__":
    check_twins()
    check_f1_of_no()
    check_uneven()
    check_results()
