"""Limits of the balanced accuracy of several classes, where some are rare or always right."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from probative.inference.classes import Worth
from probative.inference.proportions import wilson

ITEMS = Worth(None, 1.0, np.inf)


def limits(table: list[list[int]]) -> tuple[float, float]:
    return ITEMS.limits(np.array(table, dtype=np.float64), "balanced_accuracy", 0.95)


def test_an_answer_of_one_class_has_the_limits_of_its_recall():
    expected = wilson(8, 10, stats.norm.ppf(0.975))
    assert limits([[8, 2], [0, 0]]) == pytest.approx(expected, abs=1e-12)
    low, high = limits([[10, 0], [0, 0]])
    assert 0.6 < low < 0.75
    assert high == 1


def test_one_class_given_to_everything_leaves_rare_classes_open():
    low, high = limits([[50, 0, 0], [49, 0, 0], [1, 0, 0]])
    assert low < 1 / 3
    assert high > (1 + 0 + 0.75) / 3  # a single item says little of its class


@pytest.mark.parametrize(
    ("sizes", "recalls"),
    [((20, 3), (0.9, 0.5)), ((20, 3), (0.95, 0.1)), ((30, 30), (0.9, 0.7)), ((12, 8), (1.0, 0.4))],
)
def test_coverage_by_all_tables(sizes, recalls):
    truth, covered = float(np.mean(recalls)), 0.0
    for right in itertools.product(*(range(n + 1) for n in sizes)):
        chance = np.prod(
            [stats.binom.pmf(x, n, p) for x, n, p in zip(right, sizes, recalls, strict=True)]
        )
        if chance < 1e-9:
            continue
        (a, b), (m, n) = right, sizes
        low, high = limits([[a, m - a], [n - b, b]])
        covered += chance * (low <= truth <= high)
    assert covered > 0.93
