"""Tables of any size on the command line: wall time and the largest memory of `probative compare`.

python benchmarks/table_files.py              # 10,000,000 rows
python benchmarks/table_files.py 100000000    # any number of them
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = "1GB"
UNITS = 100  # rows per unit


def make(place: Path, rows: int) -> None:
    """A table of generated judgements: gold, two systems, 20 groups, and units of rows."""
    import duckdb

    right = "CASE WHEN hash(i, {0}) % 100 < {1} THEN y ELSE (y + 1) % 2 END"
    with duckdb.connect(config={"memory_limit": LIMIT}) as database:
        database.execute(
            f"COPY (SELECT y, {right.format(1, 80)} AS old, {right.format(2, 82)} AS new, "  # noqa: S608
            f"'l' || (hash(i, 3) % 20) AS lang, i // {UNITS} AS doc, i AS id FROM "
            f"(SELECT i, (hash(i) % 2)::TINYINT AS y FROM range({rows}) t(i))) "
            f"TO '{place}' (FORMAT parquet)"
        )


def run(*words: str) -> tuple[float, float]:
    """Seconds and the largest memory, in megabytes, of a command."""
    start = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-m", "probative", *words, "-q"], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(words)}: exit {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "judged.parquet"
        make(table, rows)
        size = table.stat().st_size / 2**20
        print(f"{rows:,} rows, {size:,.0f} MiB of Parquet; a memory limit of {LIMIT}")
        common = [str(table), "--gold-column", "y", "--columns", "old,new"]
        common += ["--memory-limit", LIMIT]
        calls = {
            "score": ["score", *common],
            "compare": ["compare", *common],
            "compare by group": ["compare", *common, "--group", "lang"],
            "compare by unit": ["compare", *common, "--unit", "doc"],
            "rank": ["rank", *common],
        }
        for name, words in calls.items():
            seconds, memory = run(*words)
            print(f"{name:<20} {seconds:8.1f} s {memory:8.0f} MB")


if __name__ == "__main__":
    main()
