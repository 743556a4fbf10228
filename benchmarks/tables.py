"""Tables of any size, tallied where they are: against scikit-learn, pandas and plain SQL.

``python benchmarks/tables.py`` compares on ten million rows; with ``--large`` it tallies a hundred
million instead and writes docs/results/tables.csv.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import pandas as pd
from sklearn.metrics import confusion_matrix
from timing import Line, seconds, show

import probative as pv
from probative.tables import count_table

GROUPS, UNITS, DOCUMENTS, CORES = 20, 1_000_000, 100_000, 2
RESULTS = Path(__file__).resolve().parent.parent / "docs" / "results" / "tables.csv"


def write_rows(path: Path, rows: int) -> None:
    """Binary labels: 3 of 10 are yes, A is wrong in 12 of 100 rows and B in 10."""
    duckdb.connect().execute(
        f"""
        copy (
          select gold, if(hash(i, 2) % 100 < 12, 1 - gold, gold)::utinyint as a,
                 if(hash(i, 3) % 100 < 10, 1 - gold, gold)::utinyint as b,
                 'g' || hash(i, 4) % {GROUPS} as lang, (hash(i, 5) % {UNITS})::integer as unit,
                 (hash(i, 6) % 1000) / 1000.0 as x, (hash(i, 7) % 1000) / 1000.0 as y,
                 (hash(i, 8) % {DOCUMENTS})::integer as doc
          from (select i, (hash(i, 1) % 10 < 3)::utinyint as gold from range({rows}) r(i))
        ) to '{path}' (format parquet)
        """  # noqa: S608
    )


def opened(path: Path) -> duckdb.DuckDBPyRelation:
    connection = duckdb.connect()
    connection.execute(f"set threads = {CORES}")
    return connection.read_parquet(str(path))


HOW = {"gold": "gold", "a": "a", "b": "b"}
BY_GROUP = "select lang, gold, a, b, count(*) from held group by all"
BY_UNIT = """
with units as (
  select unit, count(*) as n, sum((gold = 1)::bigint) as pos,
         sum((a = 1)::bigint) as pa, sum((gold = 1 and a = 1)::bigint) as ta,
         sum((b = 1)::bigint) as pb, sum((gold = 1 and b = 1)::bigint) as tb,
         sum((a = 1 and b = 1)::bigint) as p, sum((gold = 1 and a = 1 and b = 1)::bigint) as t
  from held group by unit
)
select * exclude (unit), count(*) as number from units group by all
"""


SUMS = """
select doc, count(*), sum(x), sum(y), sum(x * x), sum(y * y), count(x), count(y) from held
group by doc
"""


def plain(path: Path, query: str) -> object:
    return opened(path).query("held", query).fetchnumpy()


def side_by_side(path: Path) -> bool:
    """Ten million rows: ours beside what people use."""
    frame = pd.read_parquet(path)
    tallied = seconds(lambda: pv.tally(opened(path), **HOW), repeats=3)
    grouped = seconds(lambda: pv.tally(opened(path), **HOW, by="lang"), repeats=3)
    units = seconds(lambda: pv.tally(opened(path), **HOW, unit="unit"), repeats=2)
    in_memory = seconds(lambda: pv.tally(frame, **HOW), repeats=2)
    matrices = seconds(
        lambda: [confusion_matrix(frame["gold"], frame[name]) for name in "ab"], repeats=1
    )
    table = seconds(lambda: pd.crosstab(frame["gold"], [frame["a"], frame["b"]]), repeats=1)
    by_group = seconds(lambda: plain(path, BY_GROUP), repeats=3)
    by_unit = seconds(lambda: plain(path, BY_UNIT), repeats=2)
    summed = seconds(lambda: pv.tally(opened(path), scores=["x", "y"], unit="doc"), repeats=3)
    sums = seconds(lambda: plain(path, SUMS), repeats=3)
    return show(
        f"Tables, {len(frame):,} rows of Parquet, {CORES} cores",
        [
            Line("both systems from the file / confusion_matrix of each", tallied, matrices, 1 / 3),
            Line("both systems of a pandas frame / confusion_matrix of each",
                 in_memory, matrices, 1),
            Line("both systems from the file / pandas crosstab", tallied, table, 1 / 3),
            Line("by group / plain DuckDB SQL", grouped, by_group, 1.3),
            # the labels are listed and checked first, and that is a query of its own
            Line("by unit / plain DuckDB SQL, with the labels listed",
                 units, by_unit + seconds(lambda: plain(path, BY_GROUP), repeats=2), 1.3),
            Line("graded scores summed by unit / plain DuckDB SQL", summed, sums, 1.3),
        ],
    )  # fmt: skip


def measure(path: str, what: str) -> None:
    """In a process of its own: one tally, its time and peak memory, and what follows from it."""
    how = {"group": {"by": "lang"}, "unit": {"unit": "unit"}}[what]
    start = time.perf_counter()
    counted = count_table(opened(Path(path)), gold="gold", systems=["a", "b"], **how)
    told = {"seconds": time.perf_counter() - start}
    paired = counted.paired("a", "b")
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    (peak,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    told |= {"peak": int(peak) * 1024 / 1e9, "kinds": len(paired.cases) if what == "unit" else 0}
    statistics = {
        "exact test": lambda: pv.randomization_test(paired),
        "difference": lambda: pv.difference(paired),
        "posterior": lambda: pv.bayes_test(paired),
        "score": lambda: pv.interval(counted.counts("b"), clustered=what == "unit"),
    }
    for name, work in statistics.items():
        start = time.perf_counter()
        result = work()
        told[name] = time.perf_counter() - start
        if name == "exact test":
            told["method"] = result.method
    print(json.dumps(told))


def large(folder: Path, rows: int) -> bool:
    path = folder / "large.parquet"
    write_rows(path, rows)
    told = {}
    for what in ("group", "unit"):
        done = subprocess.run(
            [sys.executable, __file__, "--measure", str(path), what],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        told[what] = json.loads(done.stdout.splitlines()[-1])
    text = page(told)
    print(text)
    if rows >= 100_000_000:
        RESULTS.write_text(text, encoding="utf-8")
    names = ("exact test", "difference", "posterior", "score")
    return all(
        own["seconds"] < limit and own["peak"] < 2 and max(own[n] for n in names) < 2
        for own, limit in ((told["group"], 10), (told["unit"], 60))
    )


def page(told: dict[str, dict[str, float]]) -> str:
    names = ("exact test", "difference", "posterior", "score")
    lines = [
        f"{label},{own['seconds']:.1f} s,{own['peak']:.2f} GB,"
        + ",".join(f"{own[name]:.2f} s" for name in names)
        for label, own in (("by group", told["group"]), ("by unit", told["unit"]))
    ]
    return "\n".join([f"tally,time,peak memory,{','.join(names)}", *lines, ""])


def main() -> bool:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "rows.parquet"
        write_rows(path, 10_000_000)
        return side_by_side(path)


def main_large(rows: int = 100_000_000) -> bool:
    with tempfile.TemporaryDirectory() as name:
        return large(Path(name), rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:])
        raise SystemExit
    raise SystemExit(not (main_large() if "--large" in sys.argv else main()))
