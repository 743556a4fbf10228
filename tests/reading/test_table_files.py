"""Tables of any size: counted by the engine they give what reading all their rows gives."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import probative as pv
from probative.cli import main
from probative.reading.database import connected, identifier, literal, literal_path

COLUMNS = {"gold_column": "y", "columns": ["old", "new"]}
LIMIT = {"memory_limit": "1GB"}
# what is drawn, in an order that depends on the order of the rows
DRAWN = ("p_best", "expected_rank", "p_b_better", "pvalue", "p_adjusted")


def rows(labels: str = "abc", size: int = 240, seed: int = 0) -> pl.DataFrame:
    rng = random.Random(seed)  # noqa: S311

    def says(truth: str, share: float) -> str:
        return truth if rng.random() < share else rng.choice(labels)

    gold = [rng.choice(labels) for _ in range(size)]
    return pl.DataFrame(
        {
            "id": list(range(size)),
            "y": gold,
            "old": [says(g, 0.5) for g in gold],
            "new": [says(g, 0.65) for g in gold],
            "doc": [f"d{rng.randrange(30)}" for _ in range(size)],
            "lang": [rng.choice(["de", "en", "fr"]) for _ in range(size)],
        }
    )


def flat(value: object, path: str = "") -> dict[str, object]:
    if isinstance(value, dict):
        return {k: v for name, own in value.items() for k, v in flat(own, f"{path}.{name}").items()}
    if isinstance(value, list):
        parts = [flat(own, f"{path}[{i}]") for i, own in enumerate(value)]
        return {k: v for part in parts for k, v in part.items()}
    return {path: value}


def assert_equal(one: object, other: object, *, sampled: bool = False) -> None:
    a, b = flat(one.to_dict()), flat(other.to_dict())
    kept = [k for k in a if "notes" not in k and "verdict" not in k and "summary" not in k]
    assert {k for k in b if "notes" not in k} == {k for k in a if "notes" not in k}
    drawn = ("note", "draws", "pvalue_low", "pvalue_high") if sampled else ()
    for name in (k for k in kept if not k.endswith(drawn)):
        near = 1e-9
        if sampled and name.endswith(DRAWN):
            near = 0.02
        if isinstance(a[name], float):
            assert a[name] == pytest.approx(b[name], abs=near, nan_ok=True), name
        else:
            assert a[name] == b[name], name


CHOICES = [
    {},
    {"unit_column": "doc"},
    {"positive": "a"},
    {"positive": "a", "unit_column": "doc"},
    {"only": ["a", "b"]},
    {"only": ["a", "b"], "unit_column": "doc"},
    {"unit_column": "doc", "by": "item"},
    {"mapping": {"c": "b"}, "metric": "accuracy"},
    {"group": "lang"},
    {"group": "lang", "unit_column": "doc"},
]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
@pytest.mark.parametrize("job", [pv.score, pv.compare], ids=["score", "compare"])
def test_counted_rows_give_what_all_rows_give(tmp_path, job, choice):
    table = tmp_path / "table.csv"
    rows().write_csv(table)
    assert_equal(job(table, **COLUMNS, **choice), job(table, **COLUMNS, **choice, **LIMIT))


@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize("unit", [None, "doc"])
def test_ranks_and_macro_averages_agree_up_to_what_is_drawn(tmp_path, average, unit):
    table = tmp_path / "table.csv"
    rows().write_csv(table)
    choice = {**COLUMNS, "average": average, "unit_column": unit}
    for job in (pv.rank, pv.compare):
        assert_equal(job(table, **choice), job(table, **choice, **LIMIT), sampled=True)


TABLES = ("mcc", "kappa", "balanced_accuracy")


@pytest.mark.parametrize(
    "choice",
    [{}, {"unit_column": "doc"}, {"unit_column": "doc", "by": "item"}, {"group": "lang"}],
    ids=str,
)
def test_tables_of_all_classes_are_those_of_all_rows(tmp_path, choice):
    table = tmp_path / "table.csv"
    frame = rows(size=60)
    # equal rows within units, and equal units
    again = [frame.with_columns(doc=pl.col("doc") + f"-{i}") for i in range(3)]
    pl.concat([*again, frame, frame]).write_csv(table)
    choice = {**COLUMNS, **choice, "metric": TABLES}
    assert_equal(pv.score(table, **choice), pv.score(table, **choice, **LIMIT))
    one, other = (pv.compare(table, **choice, **more) for more in ({}, LIMIT))
    for row, kept in zip(one.comparisons, other.comparisons, strict=True):
        assert row.observed_units == kept.observed_units
        for name in ("score_a", "score_b", "low", "high", "design_effect"):
            assert getattr(row, name) == pytest.approx(getattr(kept, name), nan_ok=True), name
        assert row.pvalue == pytest.approx(kept.pvalue, abs=0.02)


def test_two_classes_with_many_kinds_of_rows(tmp_path):
    table = tmp_path / "table.csv"
    rows("abcdefgh", 600).write_csv(table)  # more kinds of rows than get a column each
    choice = {**COLUMNS, "unit_column": "doc"}
    assert_equal(pv.compare(table, **choice), pv.compare(table, **choice, **LIMIT))


def test_what_is_drawn_does_not_depend_on_who_was_faster(tmp_path):
    table = tmp_path / "table.csv"
    rows().write_csv(table)
    choice = {**COLUMNS, **LIMIT, "average": "macro", "unit_column": "doc"}
    first, *others = (pv.compare(table, **choice).to_dict() for _ in range(3))
    assert all(other == first for other in others)


def written(frame: pl.DataFrame, folder: Path, kind: str) -> Path:
    place = folder / f"table.{kind}"
    if kind == "csv":
        frame.write_csv(place)
    elif kind == "tsv":
        frame.write_csv(place, separator="\t")
    elif kind == "csv.gz":
        place.write_bytes(gzip.compress(frame.write_csv().encode()))
    elif kind == "jsonl":
        frame.write_ndjson(place)
    elif kind == "parquet":
        frame.write_parquet(place)
    elif kind == "db":
        with sqlite3.connect(place) as database:
            database.execute(f"CREATE TABLE preds ({', '.join(frame.columns)})")
            marks = ", ".join("?" * frame.width)
            database.executemany(f"INSERT INTO preds VALUES ({marks})", frame.rows())  # noqa: S608
        database.close()
    else:
        source = folder / "source.csv"
        frame.write_csv(source)
        with duckdb.connect(str(place)) as database:
            database.execute(f"CREATE TABLE preds AS FROM read_csv({literal(str(source))})")
        source.unlink()
    return place


KINDS = ["csv", "tsv", "csv.gz", "jsonl", "parquet", "db", "duckdb"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table(tmp_path, kind):
    expected = pv.compare(rows(), **COLUMNS, unit_column="doc")
    found = pv.compare(written(rows(), tmp_path, kind), **COLUMNS, unit_column="doc", **LIMIT)
    assert_equal(expected, found)
    assert any("240 rows, counted by the engine" in note for note in found.notes)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("pattern", [False, True])
def test_folders_and_patterns_with_columns_of_their_own(tmp_path, kind, pattern):
    frame = rows()
    for lang in ("de", "en", "fr"):
        (tmp_path / "parts" / f"lang={lang}").mkdir(parents=True)
        own = frame.filter(pl.col("lang") == lang).drop("lang")
        written(own, tmp_path / "parts" / f"lang={lang}", kind)
    where = str(tmp_path / "parts" / "*" / f"*.{kind}") if pattern else tmp_path / "parts"
    choice = {**COLUMNS, "unit_column": "doc", "group": "lang"}
    assert_equal(pv.compare(frame, **choice), pv.compare(where, **choice))


def test_files_of_text_whose_columns_stand_in_another_order(tmp_path):
    frame = rows()
    frame[:100].write_csv(tmp_path / "a.csv")
    frame[100:].select(reversed(frame.columns)).write_csv(tmp_path / "b.csv")
    assert_equal(pv.compare(frame, **COLUMNS), pv.compare(tmp_path, **COLUMNS))


def test_a_large_file_is_counted_without_being_asked(tmp_path, monkeypatch):
    for module in ("source", "large_tables"):
        monkeypatch.setattr(f"probative.reading.{module}.LARGE_TEXT", 100)
    monkeypatch.setattr("probative.reading.large_tables.MANY_ROWS", 100)
    for kind in ("csv", "jsonl", "parquet"):
        found = pv.compare(written(rows(), tmp_path, kind), **COLUMNS)
        assert any("counted by the engine" in note for note in found.notes)


# --- tables that are joined -------------------------------------------------------------------


def shuffled(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    own = frame.select("id", pl.col(column).alias("pred"))
    return own.sample(fraction=1, shuffle=True, seed=1)


@pytest.mark.parametrize(
    ("kind", "limit"),
    [(kind, limit) for kind in ("csv", "jsonl", "parquet") for limit in ({}, LIMIT)]
    + [("frame", {})],  # which are joined in memory
)
def test_a_perfect_system_in_another_order(tmp_path, kind, limit):
    frame = rows()
    gold, pred = frame.select("id", pl.col("y").alias("label")), shuffled(frame, "y")
    choice = {"gold_column": "label", "columns": ["pred"]}
    if kind != "frame":
        gold.write_csv(tmp_path / "gold.csv")
        gold, pred = tmp_path / "gold.csv", written(pred, tmp_path, kind)
    with pytest.raises(pv.InputError, match=r"the same in another order.*key='id'"):
        pv.score(gold, pred, **choice)
    found = pv.score(gold, pred, **choice, key="id", **limit)
    assert found[0]["accuracy"].estimate == 1
    assert "rows are joined by 'id', compared as text" in found.notes


@pytest.mark.parametrize("choice", [{}, {"unit_column": "doc"}, {"group": "lang"}], ids=str)
@pytest.mark.parametrize("limit", [{}, LIMIT], ids=["rows", "engine"])
def test_joined_tables_give_what_one_table_gives(tmp_path, choice, limit):
    frame = rows()
    frame.select("id", "y", "doc", "lang").write_parquet(tmp_path / "gold.parquet")
    shuffled(frame, "old").write_csv(tmp_path / "old.csv")
    shuffled(frame, "new").write_ndjson(tmp_path / "new.jsonl")
    expected = pv.compare(frame, **COLUMNS, **choice)
    paths = [tmp_path / name for name in ("gold.parquet", "old.csv", "new.jsonl")]
    assert_equal(expected, pv.compare(*paths, key="id", **choice, **limit))


@pytest.mark.parametrize("kind", ["csv", "parquet", "db", "duckdb", "frame"])
@pytest.mark.parametrize("limit", [{}, LIMIT], ids=["rows", "engine"])
def test_the_table_of_the_gold_labels_may_hold_the_first_systems(tmp_path, kind, limit):
    frame = rows()
    first, second = frame.drop("new"), frame.select("id", "new").sample(fraction=1, shuffle=True)
    if kind != "frame":
        second.write_csv(tmp_path / "second.csv")
        first, second = written(first, tmp_path, kind), tmp_path / "second.csv"
    elif limit:
        pytest.skip("frames are joined in memory")
    choice = {"key": "id", **limit, "unit_column": "doc"}
    found = pv.compare(first, second, **COLUMNS, **choice)
    assert_equal(pv.compare(frame, **COLUMNS, unit_column="doc"), found)
    three = pv.score(first, second, gold_column="y", columns=["old", "old", "new"], **choice)
    assert [own.name for own in three] == ["old (1)", "old (2)", "new"]
    with pytest.raises(pv.InputError, match="there is no column 'new'"):
        pv.compare(first, second, gold_column="y", columns=["new", "old"], **choice)


def test_a_key_of_several_columns(tmp_path):
    frame = rows().with_columns(token=pl.col("id") % 7, text=pl.col("id") // 7)
    gold = frame.select("text", "token", pl.col("y").alias("label"))
    pred = frame.select("token", "text", pl.col("new").alias("pred")).sample(
        fraction=1, shuffle=True, seed=2
    )
    expected = pv.score(frame, gold_column="y", columns=["new"])[0]["accuracy"].estimate
    gold.write_csv(tmp_path / "gold.csv")
    pred.write_csv(tmp_path / "pred.csv")
    for limit in ({}, LIMIT):
        found = pv.score(
            tmp_path / "gold.csv", tmp_path / "pred.csv", key=["text", "token"], **limit
        )
        assert found[0]["accuracy"].estimate == expected


@pytest.mark.parametrize("limit", [{}, LIMIT], ids=["rows", "engine"])
class TestIdsThatDoNotFit:
    @pytest.fixture
    def gold(self, tmp_path):
        rows().select("id", pl.col("y").alias("label")).write_csv(tmp_path / "gold.csv")
        return tmp_path / "gold.csv"

    def score(self, gold, pred: pl.DataFrame, limit, **choice):
        pred.write_csv(gold.parent / "pred.csv")
        return pv.score(gold, gold.parent / "pred.csv", key="id", **choice, **limit)

    def test_missing(self, gold, limit):
        pred = shuffled(rows(), "new").filter(pl.col("id") >= 20)
        with pytest.raises(
            pv.InputError, match=r"20 ids \('0', '1', '10', …\) of 240 in .*missing"
        ):
            self.score(gold, pred, limit)
        dropped = self.score(gold, pred, limit, on_missing="drop")
        assert dropped.units == 220
        negative = self.score(gold, pred, limit, on_missing="negative")
        assert negative.units == 240
        assert negative[0].counts.tp == dropped[0].counts.tp
        assert negative[0].counts.fp == dropped[0].counts.fp
        assert negative[0].counts.fn == dropped[0].counts.fn + 20
        assert any("20 ids" in note and "count as no" in note for note in negative.notes)

    def test_unknown(self, gold, limit):
        more = pl.DataFrame({"id": [900, 901], "pred": ["a", "b"]})
        pred = pl.concat([shuffled(rows(), "new"), more])
        for choice in ({}, {"on_missing": "negative"}):
            with pytest.raises(pv.InputError, match=r"2 ids \('900', '901'\) not in"):
                self.score(gold, pred, limit, **choice)
        assert self.score(gold, pred, limit, on_missing="drop").units == 240

    def test_doubled(self, gold, limit):
        own = shuffled(rows(), "new")
        for choice in ({}, {"on_missing": "drop"}, {"on_missing": "negative"}):
            with pytest.raises(pv.InputError, match=r"1 id \('\d+'\) of 'id' more than once"):
                self.score(gold, pl.concat([own, own[:1]]), limit, **choice)

    def test_without_an_id(self, gold, limit):
        own = shuffled(rows(), "new").with_columns(id=pl.col("id").cast(pl.String))
        own = own.with_columns(id=pl.when(pl.col("id") == "7").then(None).otherwise(pl.col("id")))
        with pytest.raises(pv.InputError, match="1 row has no 'id'"):
            self.score(gold, own, limit)

    def test_nothing_in_common(self, gold, limit):
        pred = shuffled(rows(), "new").with_columns(id=pl.col("id") + 1000)
        with pytest.raises(pv.InputError, match="no 'id' in common"):
            self.score(gold, pred, limit, on_missing="drop")

    def test_numbers_and_texts_are_the_same_ids(self, gold, limit):
        pred = shuffled(rows(), "new")
        texts = gold.parent / "texts.jsonl"
        numbers = gold.parent / "numbers.parquet"
        pred.with_columns(id=pl.col("id").cast(pl.String)).write_ndjson(texts)
        pred.with_columns(id=pl.col("id").cast(pl.Float64)).write_parquet(numbers)
        found = [pv.score(gold, p, key="id", **limit)[0].counts for p in (texts, numbers)]
        assert found[0] == found[1]


def test_ids_of_other_names_are_not_compared_in_silence(tmp_path):
    (tmp_path / "gold.csv").write_text("id,label\n1,a\n2,b\n3,a\n")
    (tmp_path / "pred.csv").write_text("row_id,pred\n3,a\n2,b\n1,a\n")
    notes = pv.score(tmp_path / "gold.csv", tmp_path / "pred.csv").notes
    assert any("paired by their places" in note for note in notes)


# --- what goes wrong --------------------------------------------------------------------------


def test_a_key_that_a_table_lacks_is_named_by_its_flag(tmp_path, capsys):
    for name in ("gold", "pred"):
        (tmp_path / f"{name}.csv").write_text("id,y\n1,a\n2,b\n")
    paths = [str(tmp_path / f"{name}.csv") for name in ("gold", "pred")]
    with pytest.raises(pv.InputError, match=r"gold.csv: there is no column 'no' to join by \(key="):
        pv.score(*paths, gold_column="y", columns=["y"], key="no")
    words = ["score", *paths, "--gold-column", "y", "--columns", "y", "--key", "no"]
    assert main(words) == 2
    assert "gold.csv: there is no column 'no' to join by (--key);" in capsys.readouterr().err


def fails(capsys, *words: object) -> str:
    code = main(["compare", *map(str, words), "--gold-column", "y", "--columns", "old,new"])
    printed = capsys.readouterr()
    assert code == 2
    assert printed.out == ""  # nothing partial
    assert printed.err.count("\n") == 1
    return printed.err


class TestFailures:
    def test_a_file_cut_in_half(self, tmp_path, capsys):
        rows().write_parquet(tmp_path / "a.parquet")
        whole = (tmp_path / "a.parquet").read_bytes()
        (tmp_path / "b.parquet").write_bytes(whole[: len(whole) // 2])
        assert "b.parquet: is no table that can be read" in fails(capsys, tmp_path)

    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    def test_a_column_missing_in_one_file(self, tmp_path, capsys, kind):
        for name, frame in (("x", rows()), ("z", rows().drop("new"))):
            (tmp_path / name).mkdir()
            written(frame, tmp_path / name, kind)
        error = fails(capsys, tmp_path)
        assert f"z/table.{kind}: there is no column 'new', but" in error.replace(os.sep, "/")

    def test_a_column_of_another_type_in_one_file(self, tmp_path, capsys):
        rows().with_columns(new=pl.lit(1)).write_parquet(tmp_path / "a.parquet")
        rows().with_columns(new=pl.lit(0.5)).write_parquet(tmp_path / "b.parquet")
        assert "b.parquet: column 'new' is DOUBLE, but INT32" in fails(capsys, tmp_path)

    def test_folders(self, tmp_path, capsys):
        assert "the folder holds no files" in fails(capsys, tmp_path)
        rows().write_csv(tmp_path / "a.csv")
        (tmp_path / "notes.md").write_text("more")
        assert "files of several kinds" in fails(capsys, tmp_path)
        assert "no file matches" in fails(capsys, tmp_path / "*.parquet")

    @pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="everything may be read")
    def test_without_permission(self, tmp_path, capsys):
        (tmp_path / "a").mkdir(mode=0)
        assert "cannot be read" in fails(capsys, tmp_path)

    def test_lines(self, tmp_path, capsys):
        table = tmp_path / "table.csv"
        table.write_text("y,old,new\n" + "a,b,a\n" * 40 + "a,b,a,c\n")
        error = fails(capsys, table, "--memory-limit", "1GB")
        assert error.endswith("table.csv:42: 4 cells; expected 3, as in the header\n")
        table.write_bytes(b"y,old,new\n" + b"a,b,a\n" * 40 + b"\xff,b,a\n")
        assert "table.csv:42: is not UTF-8" in fails(capsys, table, "--memory-limit", "1GB")
        table.write_text("y,old,new\n" + "a,b,a\n" * 40 + "a,,a\n")
        error = fails(capsys, table, "--memory-limit", "1GB")
        assert "column 'old' has missing labels: 1 of 41" in error
        table = tmp_path / "table.jsonl"
        good = json.dumps({"y": "a", "old": "b", "new": "a"}) + "\n"
        table.write_text(good * 20 + '{"y": "a",\n' + good)
        assert "table.jsonl:21: " in fails(capsys, table, "--memory-limit", "1GB")

    def test_databases(self, tmp_path, capsys):
        place = written(rows(), tmp_path, "db")
        with sqlite3.connect(place) as database:
            database.execute("CREATE TABLE more (a)")
        database.close()
        assert "several tables (more, preds)" in fails(capsys, place)
        assert "did you mean 'preds'?" in fails(capsys, place, "--table", "pred")
        assert main(["score", str(place), "--table", "preds", "--gold-column", "y",
                     "--columns", "old", "-q"]) == 0  # fmt: skip

    def test_a_view_that_looks_elsewhere(self, tmp_path, capsys):
        rows().write_csv(tmp_path / "other.csv")
        place = tmp_path / "x.duckdb"
        with duckdb.connect(str(place)) as database:
            other = literal(str(tmp_path / "other.csv"))
            database.execute(f"CREATE VIEW preds AS FROM read_csv({other})")
        assert "holds views (preds); expected one of them" in fails(capsys, place)
        assert "'preds' reads other files" in fails(capsys, place, "--table", "preds")

    def test_too_little_memory_is_told(self):
        with pytest.raises(pv.InputError, match="expected a size such as '2GB'"):
            pv.score("x.csv", **COLUMNS, memory_limit="lots")


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_nothing_is_left_behind_after_a_kill():
    script = (
        "import sys, time\n"
        "from probative.reading.database import connected\n"
        "with connected() as database:\n"
        "    query = \"SELECT current_setting('temp_directory')\"\n"
        "    ((folder,),) = database.execute(query).fetchall()\n"
        "    import os; os.makedirs(folder); open(folder + '/x', 'w').close()\n"
        "    print(folder, flush=True)\n"
        "    time.sleep(60)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    folder = Path(child.stdout.readline().strip())
    assert (folder / "x").exists()
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    for _ in range(100):
        if not folder.parent.exists():
            break
        time.sleep(0.05)
    assert not folder.parent.exists()


ODD = st.text(
    st.characters(codec="utf-8", exclude_characters="\0/", exclude_categories=["Cs"]),
    min_size=1,
    max_size=20,
)
NASTY = st.sampled_from(
    ['"; DROP TABLE x; --', "it's", "a*?[b].csv", "%s %d {0}", "x\ny", "--", "''"]
)


@given(name=ODD | NASTY)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_name_changes_a_statement(name):
    with duckdb.connect() as database:
        found = database.execute(f"SELECT {literal(name)}, 1 AS {identifier(name)}")
        assert found.description[1][0] == name
        assert found.fetchall() == [(name, 1)]


@given(name=NASTY | ODD.filter(lambda text: text.isprintable() and text not in (".", "..")))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_path_stands_for_itself_alone(name):
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / name
        try:
            place.write_text("y\n1\n")
        except OSError:
            return  # too long for this file system
        (Path(folder) / "other").write_text("y\n2\n")
        with connected() as database:
            try:
                found = database.execute(
                    f"SELECT y FROM read_csv([{literal_path(place)}], columns={{'y': 'VARCHAR'}})"  # noqa: S608
                ).fetchall()
            except duckdb.Error:  # DuckDB finds no such name; it never takes another file
                assert "\\" in name
                assert set(name) & set("*?[")
                return
        expected = "2" if name == "other" else "1"
        assert found == [(expected,)]


@pytest.mark.parametrize("name", ['y"; DROP TABLE kinds; --', "it's\n%[*]?"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_columns_of_odd_names(tmp_path, name, kind):
    frame = rows().rename({"y": name, "new": f"{name}2", "doc": f"{name}3"})
    choice = {"gold_column": name, "columns": ["old", f"{name}2"], "unit_column": f"{name}3"}
    table = written(frame, tmp_path, kind)
    assert_equal(pv.compare(frame, **choice), pv.compare(table, **choice, **LIMIT))


def test_the_tables_of_a_comparison_by_option(tmp_path, capsys):
    frame = rows()
    frame.select("id", "y").write_csv(tmp_path / "gold.csv")
    for name in ("old", "new"):
        shuffled(frame, name).write_csv(tmp_path / f"{name}.csv")
    words = [str(tmp_path / f"{name}.csv") for name in ("gold", "old", "new")]
    assert main(["compare", *words, "--key", "id", "-f", "json", "-q"]) == 0
    one = capsys.readouterr().out
    named = [word for pair in zip(("--gold", "--a", "--b"), words, strict=True) for word in pair]
    assert main(["compare", *named, "--key", "id", "-f", "json", "-q"]) == 0
    assert capsys.readouterr().out == one
    assert main(["compare", *named[2:], "--key", "id"]) == 2
    assert "--gold: missing" in capsys.readouterr().err


# --- names that differ by case alone, and columns that folders tell ---------------------------


TWO_CASES = pl.DataFrame(
    {
        "y": ["a", "b", "a", "b"],
        "pred": ["a", "b", "a", "b"],
        "PRED": ["b", "a", "b", "a"],
        "lang": ["de", "de", "fr", "fr"],
        "Lang": ["x", "y", "x", "y"],
    }
)


def groups_of(found: object) -> list[tuple[str, int]]:
    return [(own["group"], own["rows"]) for own in found.to_dict()["groups"]]


@pytest.mark.parametrize("limit", [{}, LIMIT], ids=["rows", "engine"])
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
class TestNamesThatDifferByCaseAlone:
    def test_the_exact_name_is_read(self, tmp_path, kind, limit):
        table = written(TWO_CASES, tmp_path, kind)
        for names in (["pred"], ["PRED"], ["pred", "PRED"], ["PRED", "pred"]):
            found = pv.score(table, gold_column="y", columns=names, metric="accuracy", **limit)
            right = [own["accuracy"].estimate for own in found]
            assert right == [1.0 if name == "pred" else 0.0 for name in names]

    def test_groups_and_units(self, tmp_path, kind, limit):
        table = written(TWO_CASES, tmp_path, kind)
        choice = {"gold_column": "y", "columns": ["pred", "PRED"], **limit}
        for name, groups in (("lang", ["de", "fr"]), ("Lang", ["x", "y"])):
            found = pv.score(table, **choice, group=name)
            assert groups_of(found) == [(group, 2) for group in groups]
        for name in ("lang", "Lang"):
            assert pv.score(table, **choice, unit_column=name).units == 2

    def test_a_name_that_is_not_there_is_not_found(self, tmp_path, kind, limit):
        table = written(TWO_CASES, tmp_path, kind)
        with pytest.raises(pv.InputError, match="there is no column 'Pred'"):
            pv.score(table, gold_column="y", columns=["Pred"], **limit)

    def test_ids(self, tmp_path, kind, limit):
        frame = TWO_CASES.with_columns(id=pl.Series([1, 2, 3, 4]), ID=pl.Series([4, 3, 2, 1]))
        table = written(frame.select("id", "ID", "y"), tmp_path, kind)
        other = tmp_path / "pred.csv"
        frame.select("ID", "id", "PRED").write_csv(other)
        for key, accuracy in (("id", 0.0), ("ID", 0.0)):
            found = pv.score(table, other, gold_column="y", columns=["PRED"], key=key, **limit)
            assert found[0]["accuracy"].estimate == accuracy
        frame.select(pl.col("ID").alias("id"), pl.col("id").alias("ID"), "PRED").write_csv(other)
        found = pv.score(table, other, gold_column="y", columns=["PRED"], key="ID", **limit)
        assert found[0]["accuracy"].estimate == 1.0


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_files_with_their_columns_in_other_orders(tmp_path, kind):
    written(TWO_CASES, tmp_path, kind).rename(tmp_path / f"a.{kind}")
    written(TWO_CASES[:, ::-1], tmp_path, kind).rename(tmp_path / f"b.{kind}")
    written(TWO_CASES.drop("pred"), tmp_path, kind).rename(tmp_path / f"c.{kind}")
    found = pv.score(tmp_path, gold_column="y", columns=["PRED"])
    assert (found.units, found[0].counts.tp) == (12, 0)
    (tmp_path / f"c.{kind}").unlink()
    found = pv.score(tmp_path, gold_column="y", columns=["PRED", "pred"])
    assert [own.counts.tp for own in found] == [0, 8]


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
class TestColumnsThatFoldersTell:
    def parted(self, folder: Path, kind: str, frame: pl.DataFrame, name: str = "lang") -> Path:
        for value in ("de", "fr"):
            place = folder / "tables" / f"{name}={value}"
            place.mkdir(parents=True)
            written(frame, place, kind)
        return folder / "tables"

    def test_a_column_of_the_same_name_is_refused(self, tmp_path, kind):
        place = self.parted(tmp_path, kind, TWO_CASES)
        choice = {"gold_column": "y", "columns": ["pred"]}
        assert pv.score(place, **choice)[0].counts.tp == 8  # nobody asks for it
        for asked in ({"group": "lang"}, {"unit_column": "lang"}):
            with pytest.raises(pv.InputError, match="'lang' is given by folders and by the"):
                pv.score(place, **choice, **asked)

    def test_a_name_in_another_case_is_another_column(self, tmp_path, kind):
        place = self.parted(tmp_path, kind, TWO_CASES.drop("Lang"), "Lang")
        choice = {"gold_column": "y", "columns": ["pred"]}
        for name in ("lang", "Lang"):
            assert groups_of(pv.score(place, **choice, group=name)) == [("de", 4), ("fr", 4)]
        both = pv.score(place, **choice, group="lang", unit_column="Lang")
        assert both.units == 2

    def test_folders_above_tell_nothing(self, tmp_path, kind):
        above = tmp_path / "pred=b" / "y=a"
        above.mkdir(parents=True)
        place = self.parted(above, kind, TWO_CASES.drop("lang", "Lang"))
        found = pv.score(place, gold_column="y", columns=["pred"], group="lang")
        assert groups_of(found) == [("de", 4), ("fr", 4)]
        assert found[0].counts.tp == 8

    def test_every_file_is_in_such_a_folder_or_none(self, tmp_path, kind):
        place = self.parted(tmp_path, kind, TWO_CASES.drop("lang", "Lang"))
        written(TWO_CASES.drop("lang", "Lang"), place, kind)
        with pytest.raises(pv.InputError, match="expected every file in folders of the same names"):
            pv.score(place, gold_column="y", columns=["pred"])

    def test_values_are_text_without_escapes(self, tmp_path, kind):
        for value in ("a%20b", "01"):
            place = tmp_path / f"x y={value}"
            place.mkdir()
            written(TWO_CASES, place, kind)
        found = pv.score(tmp_path, gold_column="y", columns=["pred"], group="x y")
        assert groups_of(found) == [("01", 4), ("a b", 4)]


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_a_file_and_links_to_it_are_counted_once(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    place = written(TWO_CASES, folder, "csv")
    (folder / "a-link.csv").symlink_to(place)
    os.link(place, folder / "b-link.csv")
    (tmp_path / "other").symlink_to(folder)
    choice = {"gold_column": "y", "columns": ["pred"]}
    for word in (folder, folder / "*.csv", tmp_path / "**" / "*.csv"):
        assert pv.score(word, **choice).units == 4
    outside = written(TWO_CASES, tmp_path, "csv")
    (folder / "c-link.csv").symlink_to(outside)
    assert pv.score(folder, **choice).units == 8


def test_columns_that_are_called_as_the_engine_calls_its_own(tmp_path):
    names = {"lang": "file_row_number", "Lang": "filename"}
    place = written(TWO_CASES.rename(names), tmp_path, "parquet")
    for limit in ({}, LIMIT):
        for name in names.values():
            found = pv.score(place, gold_column="y", columns=["pred"], unit_column=name, **limit)
            assert found.units == 2


@pytest.mark.parametrize("limit", ["50MB", "200MB", "1GB"])
def test_a_small_packed_table_fits_into_little_memory(tmp_path, limit):
    place = tmp_path / "table.csv.gz"
    place.write_bytes(gzip.compress(b"y,old,new\na,a,b\nb,b,b\n"))
    assert pv.score(place, **COLUMNS, memory_limit=limit)[0].counts.tp == 2
