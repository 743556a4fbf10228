"""Where axe-core is, which checks that everybody can read a page."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def axe_core() -> str:
    """The text of axe-core; the test skips where it is not installed."""
    places = [os.environ.get("AXE_CORE"), str(ROOT / "node_modules" / "axe-core" / "axe.min.js")]
    npm = shutil.which("npm")
    if npm is not None:
        asked = subprocess.run([npm, "root", "-g"], capture_output=True, text=True, check=False)
        places.append(str(Path(asked.stdout.strip()) / "axe-core" / "axe.min.js"))
    place = next((place for place in places if place and Path(place).is_file()), None)
    if place is None:
        pytest.skip("axe-core is not installed here: npm install axe-core, or set AXE_CORE")
    return Path(place).read_text(encoding="utf-8")
