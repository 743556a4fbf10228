"""A small part of the run of tests/fuzz_options.py, with a fixed seed."""

from __future__ import annotations

import fuzz_options
import pytest


@pytest.mark.slow
def test_random_command_lines_end_as_promised():
    wrong, tally = fuzz_options.fuzz(40, seed=1, processes=False)
    assert not wrong, "\n".join(wrong)
    assert tally[0] > 8
    assert tally[2] > 8
