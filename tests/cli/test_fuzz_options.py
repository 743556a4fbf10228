"""A small part of the run of tests/fuzz_options.py, with a fixed seed."""

from __future__ import annotations

import sys

import pytest

if sys.platform == "win32":
    pytest.skip("the fuzzer makes pipes, devices and alarms", allow_module_level=True)

import fuzz_options


def test_random_command_lines_end_as_promised():
    wrong, tally = fuzz_options.fuzz(150, seed=1, processes=False)
    assert not wrong, "\n".join(wrong)
    assert tally[0] > 40
    assert tally[2] > 40
