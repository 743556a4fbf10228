"""The study of macro averages: what it draws, and what it counts."""

from __future__ import annotations

import numpy as np
import pytest

from probative.inference.macro import macro_interval, macro_score
from probative.inference.macro_comparison import macro_difference
from probative_studies.metrics import MACRO_CONDITIONS, _macro_limits, macro_coverage

FEW = ("3 and 300 items, 0.9", "2 classes, 100 data")


@pytest.mark.parametrize("name", MACRO_CONDITIONS)
def test_large_samples_have_the_scores_of_the_population(name):
    """The means over many draws of a label's counts give back the F1 that was asked for."""
    generator = np.random.default_rng(1)
    draws = [MACRO_CONDITIONS[name].draw(generator) for _ in range(200)]
    for side in ("a", "b"):
        tables = [getattr(draw, side).by_label for draw in draws]
        tp, fp, fn = (
            sum(np.asarray(getattr(t, kind)) for t in tables) for kind in ("tp", "fp", "fn")
        )
        expected = getattr(draws[0], f"true_{side}")
        assert np.mean(2 * tp / (2 * tp + fp + fn)) == pytest.approx(expected, abs=0.02)
    # the paired cases are those of the two systems
    one = draws[0]
    assert one.paired[:, [0, 4]].sum() == one.a.counts.tp.sum()
    assert one.paired[:, [2, 4]].sum() == one.b.counts.tp.sum()


def test_coverage_by_method():
    seen = []
    found = macro_coverage(
        {name: MACRO_CONDITIONS[name] for name in FEW},
        replicates=6,
        rng=0,
        report=lambda done, total: seen.append((done, total)),
    )
    assert [(m.condition, m.question, m.method) for m in found[:7]] == [
        (FEW[0], "one system", "delta"),
        (FEW[0], "one system", "mover"),
        (FEW[0], "one system", "one prior"),
        (FEW[0], "one system", "hierarchical"),
        (FEW[0], "difference", "delta"),
        (FEW[0], "difference", "mover"),
        (FEW[0], "difference", "hierarchical"),
    ]
    assert all(0 <= m.coverage <= 1 and m.length > 0 for m in found)
    assert seen[-1] == (11, 12)
    again = macro_coverage({name: MACRO_CONDITIONS[name] for name in FEW}, replicates=6, rng=0)
    assert [m.to_dict() for m in again] == [m.to_dict() for m in found]


def test_the_limits_are_those_of_the_library():
    """The study finds A's average on the way to the difference: it is the same."""
    sample = MACRO_CONDITIONS[FEW[1]].draw(np.random.default_rng(3))
    limits = _macro_limits(sample, 0.9)
    one, (both, _) = macro_interval(sample.a, level=0.9), macro_difference(*sample[:2], level=0.9)
    assert limits["one system", "hierarchical"] == pytest.approx((one.low, one.high), abs=1e-12)
    assert limits["difference", "hierarchical"] == (both.low, both.high)


def test_estimates_are_in_the_limits():
    sample = MACRO_CONDITIONS[FEW[0]].draw(np.random.default_rng(0))
    assert 0 < macro_score(sample.a) <= 1
