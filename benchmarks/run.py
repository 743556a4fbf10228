"""All benchmarks, or those named: ``python benchmarks/run.py [--write] [NAME ...]``.

With ``--write`` the figures of each go into docs/results/benchmarks.csv as soon as it has ended or
is interrupted, in place of its last ones: a run can be broken off, and done in parts.
"""

from __future__ import annotations

import csv
import importlib
import os
import platform
import sys
import traceback
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# of ours and of peers: threads that wait for each other count as processor time
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# no benchmarks, or of something else than time beside a limit: these are run by themselves
OTHER = {"run", "timing", "train_runs", "paired_posterior", "records_stickler", "table_files"}
PEERS = ("numpy", "scipy", "scikit-learn", "statsmodels", "krippendorff", "seqeval", "pandas")
FOLDER = Path(__file__).resolve().parent
PAGE = FOLDER.parent / "docs" / "tested.md"
TABLE = FOLDER.parent / "docs" / "results" / "benchmarks.csv"
HEAD = ("measured", "here", "peer", "ratio", "limit", "memory", "date")
BEGIN, END = "<!-- figures of the benchmarks -->", "<!-- end of the figures -->"


def main(words: list[str]) -> bool:
    names = [word for word in words if word != "--write"]
    sys.path.insert(0, str(FOLDER))
    names = names or sorted(p.stem for p in FOLDER.glob("*.py") if p.stem not in OTHER)
    holds = True
    for name in names:  # all run, whatever fails
        try:
            holds &= importlib.import_module(name).main()
        except ModuleNotFoundError as error:
            print(f"{name}: {error.name} is not installed; nothing to compare with")
        except Exception:  # the others still run
            traceback.print_exc()
            print(f"{name}: FAILS")
            holds = False
        finally:
            if "--write" in words:
                write()
    return holds


def write() -> None:
    """Put the figures of this run into the table, and keep the others that it holds."""
    timing = importlib.import_module("timing")
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = {row[0]: row for row in list(csv.reader(file))[1:]}
    today = datetime.now(UTC).date().isoformat()
    for line in (line for lines in timing.SHOWN.values() for line in lines):
        peaks = [f"{peak / 1e6:.3g} MB" for peak in line.peaks or () if peak]
        memory = " / ".join(peaks)
        cells = line.shown(line.ours), line.shown(line.peer), f"{line.ratio:.3g}"
        rows[line.what] = [line.what, *cells, f"{line.at_most:g}", memory, today]
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEAD, *rows.values()])
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{_versions()}\n{END}{after}", encoding="utf-8")


def _versions() -> str:
    """Name what was measured last, and with what."""
    known = [f"Python {platform.python_version()}"]
    for name in PEERS:
        try:
            known.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    how = "Processor time of one thread, the least of several runs in turns."
    return f"Last run with {', '.join(known)}. {how}"


if __name__ == "__main__":
    raise SystemExit(not main(sys.argv[1:]))
