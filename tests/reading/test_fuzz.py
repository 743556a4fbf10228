"""A small part of the run of tests/fuzz_readers.py, with a fixed seed."""

from __future__ import annotations

import fuzz_readers


def test_damaged_files_give_a_result_or_a_line():
    before = fuzz_readers.peak()
    wrong, tally = fuzz_readers.fuzz(250, seed=20, table_share=0.05)
    assert not wrong, wrong[0]
    assert tally["result"] > 100
    assert tally["error"] > 100
    assert fuzz_readers.peak() - before < 1e9
