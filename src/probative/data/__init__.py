"""Published figures and demonstration counts, as JSON files beside this one."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

__all__ = ["load"]


def load(name: str) -> Any:
    """Return the content of one of the JSON files of this package."""
    return json.loads(files("probative.data").joinpath(f"{name}.json").read_text(encoding="utf-8"))
