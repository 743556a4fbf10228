"""A second annotation beside the systems, by scores of the whole table of several classes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as reference

import probative as pv

OF_TABLES = {
    "mcc": reference.matthews_corrcoef,
    "kappa": reference.cohen_kappa_score,
    "balanced_accuracy": reference.balanced_accuracy_score,
}


def drawn(n=200):
    rng = np.random.default_rng(6)
    names = np.array(["x", "y", "z"])
    gold = names[rng.integers(0, 3, n)]
    shares = (0.6, 0.9, 0.85)
    return gold, [np.where(rng.random(n) < p, gold, names[rng.integers(0, 3, n)]) for p in shares]


@pytest.mark.parametrize("metric", OF_TABLES)
def test_the_ceiling_of_several_classes(metric):
    gold, (low, high, second) = drawn()
    scored = pv.score(gold, low, high, second_gold=second, metric=metric)
    score, alone = OF_TABLES[metric], pv.score(gold, second, metric=metric)
    for system, ceiling in zip((low, high), scored.ceilings, strict=True):
        c = pv.compare(gold, second, system, metric=metric, examples=False).comparisons[0]
        assert ceiling.metric == metric
        assert ceiling.second == "second annotation"
        assert ceiling.score == pytest.approx(score(gold, system))
        assert ceiling.second_score == pytest.approx(score(gold, second))
        own = alone[0][metric]
        assert (ceiling.second_low, ceiling.second_high) == pytest.approx((own.low, own.high))
        assert (ceiling.difference, ceiling.low) == pytest.approx((c.difference, c.low))
        assert ceiling.pvalue == pytest.approx(c.pvalue, abs=0.03)
    compared = pv.compare(gold, low, high, second_gold=second, metric=metric, examples=False)
    assert [c.to_dict() for c in compared.ceilings] == [c.to_dict() for c in scored.ceilings]
