"""One table by every road: `tally` in five libraries, `score` on frames, files and databases.

All roads give the same counts, or refuse the same column for the same reason.
"""

from __future__ import annotations

import csv
import json
import math
import re
import sqlite3
import warnings
from decimal import Decimal

import pytest

import probative as pv
from probative.errors import InputError
from probative.labels import label_text
from probative.tables import TallyWarning, count_tags
from probative.tables.query import sql_text

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

ENGINE = {"memory_limit": "1GB"}  # DuckDB counts a file of any size
NAN, INF = float("nan"), math.inf
GOLD, SYSTEM = ["y", "n", "y", "n", "z"], ["y", "y", "n", "n", "z"]


class Roads:
    """A table with the columns g, s and perhaps u, as every road takes it."""

    def __init__(self, folder, columns):
        self.folder, self.columns = folder, columns
        self.rows = [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]
        kinds = [{type(v) for v in own if v is not None} for own in columns.values()]
        self.typed = all(len(kind) == 1 for kind in kinds)
        self.texts = all(kind <= {str} for kind in kinds)
        self.nested = any(kind & {list, dict} for kind in kinds)

    def pandas(self):
        return pd.DataFrame({n: own if self.typed else pd.Series(own, dtype=object)
                             for n, own in self.columns.items()})  # fmt: skip

    def polars(self):
        return pl.DataFrame(self.columns)

    def duckdb(self):
        held = self.polars()  # noqa: F841  # DuckDB finds it by its name
        return duckdb.sql("SELECT * FROM held")

    def parquet(self):
        self.polars().write_parquet(self.folder / "t.parquet")
        return self.folder / "t.parquet"

    def duckdb_file(self):
        held, place = self.polars(), self.folder / "t.duckdb"  # noqa: F841
        with duckdb.connect(str(place)) as database:
            database.execute("CREATE TABLE t AS SELECT * FROM held")
        return place

    def sqlite(self):
        place = self.folder / "t.db"
        with sqlite3.connect(place) as database:
            database.execute(f"CREATE TABLE t ({', '.join(self.columns)})")
            marks = ", ".join("?" for _ in self.columns)
            rows = [tuple(row.values()) for row in self.rows]
            database.executemany(f"INSERT INTO t VALUES ({marks})", rows)  # noqa: S608
        database.close()
        return place

    def jsonl(self):
        place = self.folder / "t.jsonl"
        place.write_text("".join(json.dumps(row) + "\n" for row in self.rows))
        return place

    def csv(self):
        place = self.folder / "t.csv"
        with place.open("w", newline="") as file:
            writer = csv.DictWriter(file, [*self.columns, "id"])
            writer.writeheader()
            for number, row in enumerate(self.rows):
                writer.writerow({**row, "id": number})
        return place

    def all(self):
        """The name of every road that can hold such a table, its table and choices."""
        yield "tally pandas", self.pandas, None
        yield "score pandas", self.pandas, {}
        yield "jsonl rows", self.jsonl, {}
        yield "jsonl engine", self.jsonl, ENGINE
        if not self.nested:
            yield "sqlite", self.sqlite, {}
        if self.typed:
            yield "tally polars", self.polars, None
            yield "tally lazy", lambda: self.polars().lazy(), None
            yield "tally pyarrow", lambda: self.polars().to_arrow(), None
            yield "tally duckdb", self.duckdb, None
            yield "score polars", self.polars, {}
            yield "parquet rows", self.parquet, {}
            yield "parquet engine", self.parquet, ENGINE
            yield "duckdb file", self.duckdb_file, {}
        if self.texts:  # a file of texts has no other types
            yield "csv rows", self.csv, {}
            yield "csv engine", self.csv, ENGINE


def counted(counts):
    if isinstance(counts, dict):
        return {label: counted(own) for label, own in counts.items()}
    return tuple(int(n) for n in (counts.tp, counts.fp, counts.fn))


def labels_by(table, how):
    """The counts of a road: of the class that counts as yes, or of every class."""
    if how is None:
        return counted(pv.tally(table, gold="g", pred="s"))
    (system,) = pv.score(table, gold_column="g", columns=["s"], **how)
    by_label = {own.label: own.counts for own in system.by_label}
    return counted(by_label or system.counts)


def units_by(table, how):
    """The number of units of a road."""
    if how is None:
        return pv.tally(table, gold="g", systems=["s"], unit="u").n_units()
    return pv.score(table, gold_column="g", columns=["s"], unit_column="u", **how).to_dict()[
        "units"
    ]


def groups_by(table, how):
    """The number of rows in every group of a road, by the text of the group."""
    if how is None:
        found = pv.tally(table, gold="g", systems=["s"], by="u")
        rows = {key: int(found.counts(group=key, by_unit=False).predicted) for key in found.groups}
        return {label_text(key) or "(missing)": number for key, number in rows.items()}
    found = pv.score(table, gold_column="g", columns=["s"], group="u", **how)
    return {own.group: int(own.systems[0].counts.predicted) for own in found.groups}


def refusal(error):
    """What a message says of which column, without the road and the places of rows."""
    said = re.search(
        r"column '[gsu]' (has missing labels: \d of \d|holds continuous numbers)", error
    )
    if said:
        return said[0]
    no_label = re.search(r"column '[gsu]' (holds|row \d is) .*; expected (text, a|columns)", error)
    return "column holds no labels" if no_label else error


def outcomes(roads, take):
    """What every road gives: a dictionary of roads by outcome."""
    found = {}
    for road, table, how in roads.all():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TallyWarning)
            try:
                outcome = take(table(), how)
            except InputError as error:
                outcome = refusal(str(error))
        found.setdefault(str(outcome), []).append(road)
    return found


@pytest.mark.parametrize(
    ("gold", "system", "expected"),
    [
        (GOLD, SYSTEM, {"n": (1, 1, 1), "y": (1, 1, 1), "z": (1, 0, 0)}),
        (["y", "n", None, "n", "z"], SYSTEM, "column 'g' has missing labels: 1 of 5"),
        (GOLD, ["y", "", "n", "", "z"], "column 's' has missing labels: 2 of 5"),
        ([1.0, 0.0, NAN, 0.0, 2.0], [1.0] * 5, "column 'g' has missing labels: 1 of 5"),
        ([1.0, 0.0, 1.0, 0.0, 2.0], [1.0, INF, 0.0, -INF, NAN],
         "column 's' has missing labels: 3 of 5"),
        ([1, 0, None, 0, 2], [1, 1, 0, 0, 2], "column 'g' has missing labels: 1 of 5"),
        (["NA", "nan", "null", "None", "NaN"], ["NA", "nan", "NA", "None", "x"],
         {"NA": (1, 1, 0), "NaN": (0, 0, 1), "None": (1, 0, 0), "nan": (1, 0, 0),
          "null": (0, 0, 1), "x": (0, 1, 0)}),
        (["y", "y ", " y", "n", " "], ["y", "y", "y", "n ", " "],
         {" ": (1, 0, 0), " y": (0, 0, 1), "n": (0, 0, 1), "n ": (0, 1, 0), "y": (1, 2, 0),
          "y ": (0, 0, 1)}),
        ([1, 0, 1, 0, 2], [1.0, 1.0, 0.0, 0.0, 2.0],
         {"0": (1, 1, 1), "1": (1, 1, 1), "2": (1, 0, 0)}),
        ([1, 0, 1, 0, 2], ["1", "1.0", "0", "0", "2"],
         {"0": (1, 1, 1), "1": (1, 0, 1), "1.0": (0, 1, 0), "2": (1, 0, 0)}),
        ([True, False, True, False, True], [1, 1, 0, 0, 1], (2, 1, 1)),
        ([True, False, True, False, True], ["1", "1", "0", "0", "1"], (2, 1, 1)),
        ([-0.0, 0.0, 1.0, 1.0, 1.0], [0, 0, 1, 1, 0], (2, 0, 1)),
        ([1, "1", True, 1.0, "x"], ["1", 1, 1, "x", "x"], {"1": (3, 0, 1), "x": (1, 1, 0)}),
        ([1, "1", None, 1.0, ""], ["1", 1, 1, "x", "x"], "column 'g' has missing labels: 2 of 5"),
        ([0.5, 0.0, 1.5, 0.0, 2.0], [0.5, 1.0, 0.0, 0.0, 2.0],
         "column 'g' holds continuous numbers"),
        (["0.5", "0", "1.5"], ["0.5", "1", "0"],
         {"0": (0, 1, 1), "0.5": (1, 0, 0), "1": (0, 1, 0), "1.5": (0, 0, 1)}),
        ([10**18 + 1, 10**18, 1], [10**18 + 1, 10**18 + 1, 1],
         {"1": (1, 0, 0), str(10**18): (0, 0, 1), str(10**18 + 1): (1, 1, 0)}),
    ],
)  # fmt: skip
def test_the_same_labels_by_every_road(tmp_path, gold, system, expected):
    roads = Roads(tmp_path, {"g": gold, "s": system})
    found = outcomes(roads, labels_by)
    if roads.nested and roads.typed:  # a database cannot be read row by row to find the row
        assert found.pop(next(said for said in found if "lists or objects" in said)) == [
            "duckdb file"
        ]
    assert list(found) == [str(expected)], found


@pytest.mark.parametrize(
    ("units", "number"),
    [
        (["a", "a", "b", "b", "c"], 3),
        (["a", "a", None, "b", "c"], "column 'u' has missing labels: 1 of 5"),
        (["a", "a", "", "", "c"], "column 'u' has missing labels: 2 of 5"),
        ([1.0, 1.5, NAN, 2.0, 2.0], "column 'u' has missing labels: 1 of 5"),
        ([1.0, 1.0, INF, -INF, 2.0], "column 'u' has missing labels: 2 of 5"),
        ([1e39, 1e39, -1e39, 0.5, 0.0], 4),
        ([1, 1.0, "1", True, "True"], 2),
        ([["a"], ["a"], ["b"], ["b"], ["b"]], "column holds no labels"),
    ],
)
def test_the_same_units_by_every_road(tmp_path, units, number):
    found = outcomes(Roads(tmp_path, {"g": GOLD, "s": SYSTEM, "u": units}), units_by)
    found.pop(next((said for said in found if "does not count" in said), ""), None)
    assert list(found) == [str(number)], found


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (["a", "a", None, "", "c"], {"(missing)": 2, "a": 2, "c": 1}),
        ([1.0, 1.5, NAN, INF, 1.0], {"(missing)": 2, "1": 2, "1.5": 1}),
        ([1, 1.0, "1", True, "True"], {"1": 4, "True": 1}),
        ([["a"], ["a"], ["b"], ["b"], ["b"]], "column holds no labels"),
    ],
)
def test_the_same_groups_by_every_road(tmp_path, groups, expected):
    def take(table, how):
        return dict(sorted(groups_by(table, how).items()))

    found = outcomes(Roads(tmp_path, {"g": GOLD, "s": SYSTEM, "u": groups}), take)
    found.pop(next((said for said in found if "does not count" in said), ""), None)
    assert list(found) == [str(expected)], found


def test_a_unit_in_rows_with_and_without_a_group_is_one_unit():
    frame = pl.DataFrame({"g": [1, 0, 1], "s": [1, 1, 1], "u": ["d"] * 3, "b": ["", None, "x"]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TallyWarning)
        found = pv.tally(frame, gold="g", systems=["s"], unit="u", by="b")
    assert found.groups == ("x", None)
    assert found.n_units(None) == 1


def test_a_missing_unit_is_left_out_with_the_missing_labels():
    frame = pd.DataFrame({"g": [1, 0, 1, 0], "s": [1, 1, 1, 0], "u": ["a", "", "b", "b"]})
    with pytest.warns(TallyWarning, match="1 rows without a unit are left out of the units"):
        found = pv.tally(frame, gold="g", systems=["s"], unit="u", on_null="drop")
    assert found.n_units() == 2
    assert found.counts("s").sum() == pv.Counts(2, 0, 0, 1)


def test_tags_have_units_by_the_same_rule():
    frame = pd.DataFrame({"g": ["B-X", "O"], "s": ["B-X", "O"], "u": ["a", ""]})
    with pytest.raises(InputError, match="unit: column 'u' has missing labels: 1 of 2"):
        count_tags(frame, gold="g", systems=["s"], scheme="iob2", unit="u")


def test_labels_that_gold_never_has_are_a_warning_where_rows_are_only_counted(tmp_path):
    roads = Roads(tmp_path, {"g": ["y", "n", "n"], "s": ["Y", "N", "N"]})
    with pytest.warns(TallyWarning) as caught:
        pv.tally(roads.pandas(), gold="g", pred="s")
    assert [str(own.message)[:34] for own in caught] == [
        "'s' has labels that 'g' never has:",
        "'g' has labels that 's' never has:",
    ]
    for table, how in ((roads.pandas(), {}), (roads.csv(), ENGINE)):
        with pytest.raises(InputError, match="no gold label occurs"):
            pv.score(table, gold_column="g", columns=["s"], **how)


def test_whole_numbers_of_any_size_stay_apart_in_duckdb():
    rows = duckdb.sql("SELECT CAST('1' || repeat('0', 29) || i AS HUGEINT) AS g FROM range(3) t(i)")
    assert pv.tally(rows, gold="g", systems=["g"]).labels == tuple(
        str(10**30 + i) for i in range(3)
    )


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("VARCHAR", ["", "a", " ", "1.0", None]),
        ("BIGINT", [0, -3, 2**62, None]),
        ("HUGEINT", [10**30, -1]),
        ("BOOLEAN", [True, False, None]),
        ("DOUBLE", [0.0, -0.0, 1.0, 0.1, 1e20, 1e-7, 0.5, NAN, INF, -INF, None]),
        ("DECIMAL(9,3)", [Decimal("1.000"), Decimal("-0.250"), Decimal("10.000"), None]),
        ("DECIMAL(9,0)", [Decimal(100), None]),
    ],
)
def test_sql_writes_a_label_as_python_does(kind, values):
    if "HUGEINT" in kind and tuple(map(int, duckdb.__version__.split(".")[:2])) < (1, 3):
        pytest.skip("DuckDB before 1.3 writes such numbers through floats")
    rows = [(value,) for value in values]
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE t (x {kind})")
        database.executemany("INSERT INTO t VALUES (?)", rows)
        found = database.sql("FROM t").project(sql_text("x", kind, "x")).fetchall()
    assert [text for (text,) in found] == [label_text(value) for value in values]


def test_sql_writes_json_as_python_does():
    values = [1, 1.0, 0.5, True, False, "true", "", None, "1", 2**60, "ü\n"]
    with duckdb.connect() as database:
        database.execute("CREATE TABLE t (x JSON)")
        database.executemany("INSERT INTO t VALUES (?)", [(json.dumps(v),) for v in values])
        found = database.sql("FROM t").project(sql_text("x", "JSON", "x")).fetchall()
    assert [text for (text,) in found] == [label_text(value) for value in values]
