"""The studies of several runs and of repeated answers."""

import numpy as np
import pytest

from probative.inference.runs import Spread
from probative_studies.runs import Population, _answers, draw, repeats_study, runs_study


@pytest.mark.parametrize("seeds", ["alike", "paired", "one", "failing"])
def test_populations_are_what_they_say(seeds):
    """The mean score is F1, and seeds spread as far as the ratio says."""
    population = Population(0.75, 2000, 4.0, seeds)
    a, b = draw(np.random.default_rng(0), population, 10, 40)
    for side in (a, b):
        assert side.runs().scores.mean() == pytest.approx(0.75, abs=0.005)
    single = float(np.mean(Spread.of(a.first(1).runs(), b.first(1).runs()).by_unit))
    spread = Spread.of(a.runs(), b.runs(), seeds == "paired")
    own = zip(spread.variances, spread.interactions, strict=True)
    found = [float(np.mean(v - i)) / single for v, i in own]
    expected = {"alike": [4, 4], "paired": [4], "one": [0, 4], "failing": [4, 4]}[seeds]
    assert found == pytest.approx(expected, abs=1.2)


@pytest.mark.slow
def test_limits_for_procedures_hold_where_those_for_models_do_not():
    found = runs_study([3, 5], [4.0], [60], [0.75], ["alike"], replicates=300, rng=2)
    assert [(one.runs_a, one.runs_b) for one in found] == [(3, 3), (5, 5), (3, 5)]
    for one in found:
        assert one.coverage > 0.91
        assert one.ignoring < 0.85
        assert one.size < 0.09
        assert one.new_run > 0.9
        assert one.new_run_here > 0.9
        assert one.width > one.ignoring_width
        assert one.coverage >= 1 - one.size - 1e-12  # limits reach at least as far as the test


def test_seeds_that_do_not_spread_are_tried_for_alike_and_paired_only():
    found = runs_study([3], [0.0], [20], [0.75], replicates=20)
    assert [one.seeds for one in found] == ["alike", "paired"]
    assert all(one.ratio == 0 for one in found)


def test_the_same_seed_gives_the_same_numbers():
    one, other = (runs_study([2], [1.0], [20], [0.9], ["paired"], replicates=30) for _ in "ab")
    assert one[0].to_dict() == other[0].to_dict()


def test_repeated_answers():
    found = repeats_study([60], [1, 8], [0.75], replicates=200, rng=1)
    assert [(one.score, one.repeats) for one in found] == [
        ("pass rate", 1),
        ("pass rate", 8),
        ("f1", 1),
        ("f1", 8),
    ]
    for one in found:
        assert one.coverage > 0.9
    assert found[1].ignoring < 0.85
    assert np.isnan(found[0].share_of_answers)
    assert 0 < found[3].share_of_answers < found[1].share_of_answers < 0.4


def test_answers_have_the_true_score():
    rng = np.random.default_rng(0)
    passed = _answers(rng, 0.9, 20_000, 2, 1)
    assert passed.tp.mean() == pytest.approx(0.9, abs=0.01)
    items = _answers(rng, 0.5, 5000, 2, 5).sum()
    assert 2 * items.tp / (2 * items.tp + items.fp + items.fn) == pytest.approx(0.5, abs=0.02)
