"""Scores of the whole table of several classes: in groups, of systems with labels of their own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as reference

import probative as pv

OF_TABLES = {
    "mcc": reference.matthews_corrcoef,
    "kappa": reference.cohen_kappa_score,
    "balanced_accuracy": reference.balanced_accuracy_score,
}
HOW = {"gold_column": "y", "columns": ["old", "new"]}


def table(n=150, seed=0):
    rng = np.random.default_rng(seed)
    gold = rng.choice(list("bcd"), n)

    def says(share, labels):
        return np.where(rng.random(n) < share, gold, rng.choice(list(labels), n))

    return pd.DataFrame(
        {
            "y": gold,
            "old": says(0.5, "bcd"),
            "new": says(0.7, "bcd"),
            "early": says(0.6, "abcd"),
            "late": says(0.7, "bcde"),
            "lang": rng.choice(["de", "fr"], n),
            "doc": rng.integers(0, 20, n),
        }
    )


def limits(interval):
    return interval.low, interval.estimate, interval.high


@pytest.mark.parametrize("metric", OF_TABLES)
@pytest.mark.parametrize("more", [{}, {"unit_column": "doc"}, {"unit_column": "doc", "by": "item"}])
def test_a_group_has_the_table_of_its_own_rows(metric, more):
    frame, how = table(), {"metric": metric, **HOW, **more}
    for group in pv.compare(frame, group="lang", **how).groups:
        own = frame[frame["lang"] == group.group]
        alone = pv.compare(own, **how)
        (c,), (d,) = group.comparisons, alone.comparisons
        assert c.score_a == pytest.approx(OF_TABLES[metric](own["y"], own["old"]))
        assert c.score_b == pytest.approx(OF_TABLES[metric](own["y"], own["new"]))
        assert (c.low, c.high) == pytest.approx((d.low, d.high))
        assert c.pvalue == pytest.approx(d.pvalue, abs=0.02)  # sampled, units in another order
        for one, other in zip(group.systems, alone.systems, strict=True):
            assert limits(one[metric]) == pytest.approx(limits(other[metric]))


def test_scores_of_groups_have_tables_of_their_own_rows():
    frame = table()
    for group in pv.score(frame, group="lang", metric=list(OF_TABLES), **HOW).groups:
        own = frame[frame["lang"] == group.group]
        for metric, score in OF_TABLES.items():
            assert group.systems[1][metric].estimate == pytest.approx(score(own["y"], own["new"]))


@pytest.mark.parametrize("metric", ["mcc", "kappa"])
@pytest.mark.parametrize("pair", [("old", "early"), ("early", "old"), ("early", "late")])
def test_systems_may_use_labels_of_their_own(metric, pair):
    frame = table()
    gold, a, b = frame["y"].to_numpy(), *(frame[name].to_numpy() for name in pair)
    c = pv.compare(list(gold), list(a), list(b), metric=metric).comparisons[0]
    score = OF_TABLES[metric]
    gap = score(gold, b) - score(gold, a)
    assert c.difference == pytest.approx(gap)
    rng, draws = np.random.default_rng(0), 150
    swaps = rng.random((draws, len(gold))) < 0.5
    gaps = [score(gold, np.where(s, a, b)) - score(gold, np.where(s, b, a)) for s in swaps]
    share = np.mean(np.abs(gaps) >= abs(gap) - 1e-12)
    assert c.pvalue == pytest.approx(share, abs=4 * np.sqrt(0.25 / draws))
