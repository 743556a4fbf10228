"""All benchmarks, or those named: ``python benchmarks/run.py [NAME ...]``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

OTHER = {"run", "timing", "train_runs"}


def main(names: list[str]) -> bool:
    folder = Path(__file__).resolve().parent
    sys.path.insert(0, str(folder))
    names = names or sorted(p.stem for p in folder.glob("*.py") if p.stem not in OTHER)
    verdicts = [importlib.import_module(name).main() for name in names]  # all run, whatever fails
    return all(verdicts)


if __name__ == "__main__":
    raise SystemExit(not main(sys.argv[1:]))
