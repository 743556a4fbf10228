"""Small parts of the runs of the fuzzers in tests/, with fixed seeds."""

from __future__ import annotations

import fuzz_formats
import fuzz_readers
import fuzz_tables
import pytest


def test_damaged_files_give_a_result_or_a_line():
    before = fuzz_readers.peak()
    wrong, tally = fuzz_readers.fuzz(250, seed=20, table_share=0.05)
    assert not wrong, wrong[0]
    assert tally["result"] > 100
    assert tally["error"] > 100
    assert tally["pipe"] > 5
    assert fuzz_readers.peak() - before < 1e9


def test_damaged_files_of_other_tools_give_a_result_or_a_line():
    wrong, tally = fuzz_readers.fuzz(150, seed=21, table_share=0.0, tools=True)
    assert not wrong, wrong[0]
    assert tally["result"] > 100
    assert tally["error"] > 100


def test_every_value_of_a_table_is_what_python_reads():
    wrong, tally = fuzz_tables.fuzz(150, seed=5)
    assert not wrong, wrong[0]
    assert tally["values"] > 10_000


@pytest.mark.slow
def test_the_same_data_give_the_same_counts_in_every_format():
    wrong, tally = fuzz_formats.fuzz(40, seed=7, engine=4)
    assert not wrong, wrong[0]
    assert tally.keys() > fuzz_formats.BY_ROWS.keys()
    assert len(fuzz_formats.BY_ROWS) + len(fuzz_formats.BY_ENGINE) >= 16
    assert len(fuzz_formats.ENTITIES) >= 11
