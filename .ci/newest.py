"""Print the newest Python that is installed besides the one that runs this; nothing without one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

NEWEST_TRIED = 30  # of Python 3

names = [f"python3.{minor}" for minor in range(NEWEST_TRIED, sys.version_info[1], -1)]
found = [path for name in names if (path := shutil.which(name))]
roots = {os.environ.get("PYENV_ROOT", ""), str(Path.home() / ".pyenv")} - {""}
for root in roots:
    found += map(str, Path(root).glob("versions/3.*/bin/python3"))


def version(python: str) -> tuple[int, ...]:
    """Return the version that a Python prints; (0,) if it does not start."""
    command = [python, "--version"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    numbers = re.findall(r"\d+", answer.stdout)[:3]
    return tuple(map(int, numbers)) if answer.returncode == 0 and numbers else (0,)


newest = max(found, key=version, default=None)
if newest is not None and version(newest)[:2] > sys.version_info[:2]:
    sys.stdout.write(newest)
