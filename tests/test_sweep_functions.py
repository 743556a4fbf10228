"""A small part of the sweep of tests/sweep_functions.py, which is run by hand."""

from __future__ import annotations

import pytest
from sweep_functions import CHECKS, sweep

CALLS = 180


@pytest.mark.slow
def test_calls_with_arguments_from_end_to_end():
    record = sweep(range(CALLS), seed=3)
    assert not record.failures, record.examples
    # most calls of every function have an answer
    assert all(record.refused[check.__name__] < CALLS / len(CHECKS) / 2 for check in CHECKS)
    # and the slowest of each is told so that it can be called again
    assert "PairedCounts([" in record.slowest["mcnemar"][1]
