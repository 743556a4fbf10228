"""Limits of kappa and Matthews' coefficient of a whole table, by every table that could be."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from probative.inference.classes import (
    INDEPENDENT,
    ConfusedItems,
    confusion_interval,
    limits_of_table,
)
from probative.metrics import score_of_table


@pytest.mark.parametrize("metric", ["kappa", "mcc"])
@pytest.mark.parametrize(
    "shares",
    [[0.9, 0.02, 0.05, 0.03], [0.9, 0.03, 0.03, 0.04], [0.45, 0.05, 0.05, 0.45]],
)
def test_coverage_with_a_rare_class(metric, shares):
    # three positives are expected in the first: that none of them is found happens, too
    n = 40
    truth = float(score_of_table(np.array(shares).reshape(2, 2), metric))
    tables = [
        (n - b - c - d, b, c, d)
        for b in range(n + 1)
        for c in range(n + 1 - b)
        for d in range(n + 1 - b - c)
    ]
    chances = stats.multinomial(n, shares).pmf(tables)
    covered = all_of_them = 0.0
    for table, chance in zip(np.array(tables, dtype=np.float64), chances, strict=True):
        square = table.reshape(2, 2)
        if chance < 1e-6 or np.isnan(score_of_table(square, metric)):
            continue
        low, high = limits_of_table(square, metric, 0.95, INDEPENDENT)
        all_of_them += chance
        covered += chance * (low <= truth <= high)
    assert covered / all_of_them > 0.94


@pytest.mark.parametrize("metric", ["kappa", "mcc"])
def test_a_class_that_only_others_use_changes_no_limit(metric):
    table = np.array([[30.0, 2, 0], [3, 20, 0], [0, 0, 0]])
    wide, narrow = (
        limits_of_table(own, metric, 0.95, INDEPENDENT) for own in (table, table[:2, :2])
    )
    assert wide == pytest.approx(narrow, abs=1e-14)


def test_the_note_names_what_has_one_class():
    mixed, same = np.array([0, 0, 0, 1]), np.zeros(4, dtype=np.intp)
    assert "gold has only one class" in str(confusion_interval(ConfusedItems(same, mixed, 2)).note)
    assert "only one class is predicted" in str(
        confusion_interval(ConfusedItems(mixed, same, 2)).note
    )
