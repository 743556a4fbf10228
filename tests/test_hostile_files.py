"""Hostile files get nothing: the script that builds them, as one test."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import ROOT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks, links and bash")


def test_no_hostile_file_gets_what_it_wants():
    pytest.importorskip("yaml")
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "hostile_files.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\n") == 13
