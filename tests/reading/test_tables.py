"""Tables hold what is written in them; labels are compared by their text, numbers by value."""

from __future__ import annotations

import json
import uuid
from datetime import date
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import probative as pv
from probative.errors import InputError
from probative.labels import label_text
from probative.reading.formats import Options, read, read_pair
from probative.reading.inputs import annotations_of, both_of
from probative.reading.source import Source
from probative.reading.table_sides import read_table


def labels_of(labels):
    return [labels.names[code] for code in labels.codes]


def values(write, content, name="t.csv", **how):
    return labels_of(read(write(content, name), Options(column="gold", **how)))


# --- CSV and TSV ------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_no_row_vanishes(write, separator, end):
    for marks in (["#", "#x", "$", "''", "# a comment?", "NN"] * 50, ["#", "NN"] * 150):
        others = marks[::-1]  # a last cell of "#" makes sniffers take it for the mark of a comment
        rows = [f"gold{separator}other", *map(separator.join, zip(marks, others, strict=True))]
        assert values(write, end.join(rows) + end, "t.csv") == marks
        if separator == "\t":
            assert values(write, end.join(rows), "t.tsv") == marks


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "1.0", "01"], ["1", "1.0", "01"]),
        (["9007199254740993", "9007199254740992"], ["9007199254740993", "9007199254740992"]),
        (["2024-1-5", "05/01/2024", "12:30"], ["2024-1-5", "05/01/2024", "12:30"]),
        (["NaN", "1e999", "null", "true"], ["NaN", "1e999", "null", "true"]),
        ([" a", "a "], [" a", "a "]),
        (['"a, ""b""\nc"', "d"], ['a, "b"\nc', "d"]),
        (['a "quoted" word', "b"], ['a "quoted" word', "b"]),
        (["x" * 200_000, "y"], ["x" * 200_000, "y"]),
    ],
)
def test_cells_are_labels_as_they_are_written(write, cells, expected):
    assert values(write, "gold\n" + "\n".join(cells) + "\n") == expected
    assert values(write, "gold,n\n" + "".join(f"{c},1\n" for c in cells)) == expected


def test_tsv_knows_no_quotes(write):
    assert values(write, 'gold\tn\n"\t1\n"a\t2\n', "t.tsv") == ['"', '"a']


def test_the_header_tells_the_separator(write):
    assert values(write, '"a\tb",gold\n1,x\n', "t.csv") == ["x"]
    assert values(write, "gold\tb,c\nx,y\t1\n", "t.tsv") == ["x,y"]
    assert values(write, '"a;b",gold\n1,x\n', "t.csv") == ["x"]
    assert values(write, "\n\ngold,n\nx,1\n\n\n", "t.csv") == ["x"]
    assert values(write, ",gold\n0,x\n1,y\n", "t.csv") == ["x", "y"]  # as pandas writes its index


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("gold,n\na,1\nb\n", "t.csv:3: 1 cell; expected 2, as in the header"),
        ("gold,n\na,1\nb,2,3\n", "t.csv:3: 3 cells; expected 2, as in the header"),
        ('gold,n\n"a\nb",1\nc\n', "t.csv:4: 1 cell; expected 2, as in the header"),
        ("gold,n\na,1\n\nb,2\n", "t.csv:3: the line is empty; expected a row"),
        ("gold\na\n\nb\n", "t.csv:3: the line is empty; expected a row"),
        ("gold,gold\na,1\n", "t.csv:1: two columns are called 'gold'; expected different names"),
        ('gold,n\n"a,1\n', "t.csv:2: unexpected end of data; expected CSV"),
        ('gold,n\n"a"b,1\n', "expected CSV"),
        ("x,y\na,b\n", "there is no column 'gold'; expected one of x, y"),
        (
            "gold,n\n,1\nb,2\n,3\n,4\n,5\n",
            "column 'gold' has missing labels: 4 of 5 (row 1, 3, 4, ",
        ),
        ("gold,n\n", "the table has no rows; expected at least one"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(write, content, message):
    with pytest.raises(InputError) as caught:
        values(write, content)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).count("t.csv") == 1


# --- JSON lines -------------------------------------------------------------------------------


def lines(*records):
    return "\n".join(r if isinstance(r, str) else json.dumps(r) for r in records)


def test_a_number_among_texts_changes_nothing(write):
    path = write(
        lines({"gold": "a", "pred": "a"}, {"gold": "b", "pred": 1}, {"gold": "c", "pred": "c"}),
        "t.jsonl",
    )
    scores = pv.score(path, positive=None)[0]
    assert scores.counts.tp == 2


def test_json_values_are_labels(write):
    big = 2**53 + 1
    found = values(
        write,
        lines(*({"gold": v} for v in (1, 1.0, "1", "1.0", True, big, big - 1, 0.5, "2024-1-5"))),
        "t.jsonl",
    )
    assert found == ["1", "1", "1", "1.0", "1", str(big), str(big - 1), "0.5", "2024-1-5"]


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (['{"gold": NaN}', '{"gold": 1}'], "missing labels: 1 of 2 (row 1)"),
        (['{"gold": 1e999}', '{"gold": Infinity}', '{"gold": null}', '{"x": 1}'], "labels: 4 of 4"),
        (['{"gold": ""}'], "missing labels: 1 of 1"),
        (['{"gold": 1, "gold": 2}'], "the key 'gold' occurs twice"),
        (['{"gold": [1]}'], "column 'gold' row 1 is [1]; expected text, a number or a truth value"),
        (['{"gold": "\\ud800"}'], "expected text"),
        (['{"gold": ' + "9" * 5000 + "}"], "is not JSON"),
        (['{"gold": ' + "[" * 100_000], "is not JSON"),
        (['{"gold": 1}', "[]"], "t.jsonl:2: '[]' is not a JSON object"),
        (['{"gold": 1}', "x"], "t.jsonl:2: 'x' is not JSON"),
    ],
)
def test_json_that_holds_no_labels(write, records, message):
    with pytest.raises(InputError) as caught:
        values(write, lines(*records), "t.jsonl", input_format="table")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "written",
    [
        # two lines that are one object, and one line that holds two
        ['{"gold": "a", "x": [{"b": 1}', '{"c": 2}]}', '{"gold": "a"}, {"gold": "b"}'],
        ['{"gold": "a"', '"pred": "b"}', '{"gold": "a"}, {"gold": "b"}'],
        ['{"gold": "a', 'b"}', '{"gold": "a"}, {"gold": "b"}'],
        ['{"gold": "a"},', '{"gold": "b"}'],
        ['{"gold": "a"}', '{"gold": "b"}\u00a0'],
        ['{"gold": "a", "gold": "b"}'],
        ['{"gold": "a", "gold" : "b"}', '{"gold": "\\":"}'],
        ['{"gold": "a", "gold": ":"}'],
    ],
)
def test_lines_that_are_read_together_are_objects_each(write, written):
    path = write("\n".join(['{"gold": "a"}', *written, '{"gold": "a"}']) + "\n", "t.jsonl")
    with pytest.raises(InputError, match=r"t\.jsonl:[23]: .*is not JSON"):
        read(path, Options(input_format="table"))


def test_objects_of_any_style_are_read(write):
    many = [f'{{"id": {i}, "gold": "{"ab"[i % 2]}", "note": "at 12:30"}}' for i in range(9000)]
    many[7] = '\t{ "gold" :"b","note" : {"deep": [1, {"x": 2}]}}  '
    many[5000] = ""
    path = write("\n".join(many), "t.jsonl")
    found = labels_of(read(path, Options(input_format="table", column="gold")))
    del many[5000]
    assert found == [json.loads(line)["gold"] for line in many]


@pytest.mark.parametrize("separator", [" ", "\t"])
def test_a_file_of_very_many_columns_is_read_in_one_pass_each(write, separator, monkeypatch):
    from probative.reading import fields

    def refuse(*_):
        raise AssertionError("a table of buckets is made for one field")

    monkeypatch.setattr(fields, "_group", refuse)
    path = write(separator.join(f"w{i}" for i in range(5000)) + "\n", "t.txt")
    with pytest.raises(InputError, match="no column holds tags"):
        read(path, Options(task="entities"))


def test_a_column_may_be_absent_in_the_first_row(write):
    path = write(lines({"gold": "a"}, {"gold": "b", "pred": "b"}), "t.jsonl")
    with pytest.raises(InputError, match=r"column 'pred' has missing labels: 1 of 2 \(row 1\)"):
        read_pair(path, gold="gold", columns=["pred"])


# --- Parquet ----------------------------------------------------------------------------------


@pytest.fixture
def parquet(tmp_path):
    def make(query: str):
        path = tmp_path / "t.parquet"
        duckdb.sql(query).write_parquet(str(path))
        return path

    return make


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT * FROM (VALUES (1), (2)) t(gold)", ["1", "2"]),
        ("SELECT * FROM (VALUES (1.0::DOUBLE), (2.0)) t(gold)", ["1", "2"]),
        ("SELECT * FROM (VALUES (1.00::DECIMAL(9,2)), (0.50)) t(gold)", ["1", "0.5"]),
        ("SELECT * FROM (VALUES (true), (false)) t(gold)", ["1", "0"]),
        (
            "SELECT * FROM (VALUES (9007199254740993::BIGINT), (9007199254740992)) t(gold)",
            ["9007199254740993", "9007199254740992"],
        ),
        ("SELECT * FROM (VALUES (DATE '2024-01-05'), ('2024-01-06')) t(gold)",
         ["2024-01-05", "2024-01-06"]),
        ("SELECT * FROM (VALUES ('1.0'), ('#'), ('1')) t(gold)", ["1.0", "#", "1"]),
    ],
)  # fmt: skip
def test_parquet_values_are_labels(parquet, query, expected):
    assert labels_of(read(parquet(query))) == expected


def test_rows_of_parquet_stay_in_order(parquet):
    path = parquet("SELECT (i * 7919 % 101)::VARCHAR AS gold FROM range(300000) t(i)")
    assert labels_of(read(path)) == [str(i * 7919 % 101) for i in range(300_000)]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM (VALUES (1), (NULL)) t(gold)", r"missing labels: 1 of 2 \(row 2\)"),
        ("SELECT * FROM (VALUES ('nan'::DOUBLE), (1)) t(gold)", r"labels: 1 of 2 \(row 1\)"),
        ("SELECT [1] AS gold", r"row 1 is \[1\]; expected text"),
        ("SELECT 1 AS x, 2 AS z", "which column holds the labels\\? There are x, z"),
        ("SELECT 1 AS gold WHERE false", "the table has no rows"),
    ],
)
def test_parquet_that_holds_no_labels(parquet, query, message):
    with pytest.raises(InputError, match=message):
        read(parquet(query))


def test_the_database_reads_this_file_only(parquet, tmp_path):
    from probative.reading.database import connected, literal_path, lock

    secret = tmp_path / "secret.csv"
    secret.write_text("gold\nx\n")
    path = parquet("SELECT 1 AS gold")
    with connected() as database:
        lock(database, [path])
        query = f"SELECT gold FROM read_parquet({literal_path(path)})"  # noqa: S608
        assert database.execute(query).fetchall() == [(1,)]
        for query in ("INSTALL httpfs", "LOAD httpfs"):
            with pytest.raises(duckdb.Error):
                database.execute(query)
        with pytest.raises(duckdb.Error):
            database.execute("SELECT * FROM read_csv(?)", [str(secret)])
        settings = "SELECT value FROM duckdb_settings() WHERE name LIKE 'auto%known_extensions'"
        assert set(database.execute(settings).fetchall()) == {("false",)}


def test_an_error_does_not_repeat_the_path(write):
    path = write(b"PAR1 and nothing more", "t.parquet")
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).count("parquet: is no table") == 1
    assert "/table.parquet" not in str(caught.value)


# --- the same rule everywhere -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1.0", "1.0"), (1, "1"), (1.0, "1"), (True, "1"), (np.True_, "1"), (np.int8(1), "1"),
        (np.float32(1), "1"), (Decimal("1.00"), "1"), (Fraction(2, 2), "1"), (-0.0, "0"),
        (0.5, "0.5"), (Decimal("0.50"), "0.5"), (Fraction(1, 2), "0.5"), (Fraction(1, 3), "1/3"),
        (1e22, "1" + "0" * 22), (10**22, "1" + "0" * 22), (2**60 + 1, str(2**60 + 1)),
        (Decimal(10) ** 400, "1" + "0" * 400), (np.str_("x"), "x"), (b"x", "x"),
        (date(2024, 1, 5), "2024-01-05"), (uuid.UUID(int=1), str(uuid.UUID(int=1))),
        (np.datetime64("2024-01-05"), "2024-01-05"),
        (None, None), (float("nan"), None), (float("-inf"), None), (Decimal("NaN"), None),
        (pd.NA, None), (pd.NaT, None), (np.datetime64("NaT"), None), (np.ma.masked, None),
        ("", None),
    ],
)  # fmt: skip
def test_the_text_of_a_label(value, expected):
    assert label_text(value) == expected


@pytest.mark.parametrize("value", [1j, object(), "\ud800", b"\xff", Decimal("1e999999"), ("a",)])
def test_what_is_no_label(value):
    with pytest.raises(InputError, match=r"gold: item 2 is .*; expected text, a number or a t"):
        annotations_of(["a", value], "gold", Options())


def test_numbers_are_equal_by_value_whatever_holds_them(write, parquet):
    sides = [
        [1, 2, 2],
        [1.0, 2.0, 2.0],
        np.array([1, 2, 2], dtype=np.uint8),
        np.ma.array([1, 2, 2]),
        pd.Series([1, 2, 2], dtype="Int64"),
        pl.Series([1.0, 2.0, 2.0]),
        pa.chunked_array([[1, 2], [2]]),
        pa.array([1.0, 2.0, 2.0]),
        pd.Series(["1", "2", "2"], dtype="category"),
        ["1", "2", "2"],
    ]
    files = [
        write("gold\n1\n2\n2\n", "t.csv"),
        write(lines({"gold": 1}, {"gold": 2.0}, {"gold": 2}), "t.jsonl"),
        write("1\n2\n2\n", "labels.txt"),
        parquet("SELECT * FROM (VALUES (1.0::DOUBLE), (2), (2)) t(gold)"),
    ]
    pairs = [(side, other) for side in sides for other in (sides[0], side)]
    for side, other in (*pairs, *zip(files, files, strict=True)):
        counts = pv.score(side, other, task="labels")[0].counts
        assert (counts.tp, counts.fp) == (3, 0), side


def test_truth_values_are_one_and_zero():
    gold = [True, False, True]
    for pred in ([1, 0, 1], np.array([1.0, 0.0, 1.0]), pd.Series(gold), ["1", "0", "1"]):
        assert pv.score(gold, pred)[0].counts == pv.Counts(2, 0, 0, 1)
    assert pv.Counts.from_labels(gold, [1, 0, 1], positive=True) == pv.Counts(2, 0, 0, 1)
    assert pv.Counts.from_labels(gold, ["1", "0", "1"]) == pv.Counts(2, 0, 0, 1)


def test_continuous_gold_is_refused_and_strings_are_labels():
    gold, pred = [0.5, 0.3, 1.0], [0.2, 0.3, 1.0]
    message = "continuous numbers such as 0.5, which are no classes; expected classes"
    for form in (list, np.array, pd.Series, pl.Series):
        with pytest.raises(InputError, match=f"gold: holds {message}"):
            pv.score(form(gold), form(pred))
    with pytest.raises(InputError, match=f"column 'y' holds {message}"):
        pv.score(pd.DataFrame({"y": gold, "z": pred}), gold_column="y", columns=["z"])
    with pytest.raises(InputError, match=message):
        pv.compare(gold, pred, pred)
    texts = [list(map(str, side)) for side in (gold, pred)]
    assert pv.score(*texts)[0]["accuracy"].estimate == pytest.approx(2 / 3)
    assert pv.score([1.0, 2.0], [1, 2])[0]["accuracy"].estimate == 1
    assert pv.score([1, 0, 1], [0.7, 0.2, 0.4], threshold=0.5)[0].counts.tp == 1


def test_large_numbers_stay_apart():
    big = 2**53
    for gold, pred in (([big, big + 1], [big, big]), (["x", big + 1], ["x", big])):
        assert pv.score(gold, pred)[0].counts.tp == 1
    frame = pd.DataFrame({"y": [big, big + 1], "z": [big, big]})
    assert pv.score(frame, gold_column="y", columns=["z"])[0].counts.tp == 1


# --- missing is not a label -------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        ["a", None, "b", float("nan")],
        [1, None, 2, None],
        np.array([1.0, np.nan, 2.0, np.nan]),
        np.array(["a", None, "b", None], dtype=object),
        np.ma.array([1, 9, 2, 9], mask=[0, 1, 0, 1]),
        pd.Series([1, None, 2, None]),
        pd.Series([1, None, 2, None], dtype="Int64"),
        pd.Series(["a", None, "b", pd.NA], dtype="string"),
        pd.Series(["a", None, "b", None], dtype="category"),
        pd.Series(["2024-01-05", None, "2024-01-06", None], dtype="datetime64[ns]"),
        pd.array([True, None, False, None], dtype="boolean"),
        pl.Series([1, None, 2, None]),
        pl.Series(["a", None, "b", None]),
        pa.array([1, None, 2, None]),
        pa.chunked_array([["a", None], ["b", None]]),
    ],
)
def test_missing_labels_are_counted_and_refused(labels):
    for what in (
        lambda: pv.score(labels, labels),
        lambda: pv.Counts.from_labels(labels, labels),
        lambda: pv.PairedCounts.from_labels(labels, labels, labels),
    ):
        with pytest.raises(InputError, match=r"has missing labels: 2 of 4 \(item 2, 4\)"):
            what()


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_missing_labels_of_frames(kind):
    frame = kind({"y": [1, None, 2], "z": [1, 2, 2], "u": [1, None, 3]})
    message = r"gold: column 'y' has missing labels: 1 of 3 \(row 2\)"
    with pytest.raises(InputError, match=message):
        both_of(frame, Options(), "y", ["z"])
    with pytest.raises(InputError, match="column 'u' has missing labels: 1 of 3"):
        both_of(frame, Options(unit="u"), "z", ["z"])


def test_frames_with_doubled_columns_are_refused():
    frame = pd.DataFrame([["a", "b"]], columns=["y", "y"])
    with pytest.raises(InputError):
        both_of(frame, Options(), "y", ["y"])


@pytest.mark.parametrize("gold", [{"a", "b"}, frozenset("ab"), {"a": 1}, b"ab"])
def test_what_has_no_order_is_refused(gold):
    with pytest.raises(InputError, match=r"gold: .* expected"):
        pv.score(gold, ["a", "b"])
    with pytest.raises(InputError, match=r"gold: .* expected"):
        pv.Counts.from_labels(gold, ["a", "b"])


@pytest.mark.parametrize("gold", [[{"B-PER", "O"}], [{"to", "be"}]])
def test_sets_of_words_or_tags_are_refused(gold):
    with pytest.raises(InputError, match="no order; expected a list"):
        pv.score(gold, gold, task="segmentation")


def test_sets_of_tags_are_refused_and_sets_of_labels_are_not():
    gold = [{"B-PER", "O"}]
    with pytest.raises(InputError, match="no order; expected a list"):
        pv.score(gold, gold)
    assert pv.score(gold, gold, multilabel=True)[0].counts == pv.Counts(tp=2, fp=0, fn=0)
    assert pv.score([{"to", "be"}], [{"to"}])[0].counts == pv.Counts(tp=1, fp=0, fn=1)


def test_a_source_that_was_read_is_not_read_again():
    (labels,) = read_table(Source("somewhere", b"gold\n#\n1\n"), [None], Options())
    assert labels_of(labels) == ["#", "1"]


def test_two_columns_of_one_name_in_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    nested = pa.array([{"x": 1, "y": [1, 2]}, {"x": 2, "y": []}])
    labels = [pa.array(["a", "b"]), nested, pa.array(["a", "a"])]
    path = tmp_path / "twins.parquet"
    parquet.write_table(pa.Table.from_arrays(labels, names=["gold", "more", "gold"]), path)
    with pytest.raises(
        InputError, match=r"two columns are called 'gold'; expected different names"
    ):
        read(path, Options(column="gold"))
    parquet.write_table(pa.Table.from_arrays(labels, names=["gold", "x", "pred"]), path)
    assert read(path, Options(column="gold")).names == ("a", "b")


# --- an answer beside the predictions ---------------------------------------------------------


def test_of_a_system_s_file_the_predictions_are_read_and_not_the_answer_beside(write):
    gold = write("id,label\n1,a\n2,b\n3,a\n4,b\n", "gold.csv")
    pred = write("id,label,pred\n1,a,b\n2,b,b\n3,a,a\n4,b,a\n", "pred.csv")
    assert pv.score(gold, pred)[0]["accuracy"].estimate == 0.5
    assert labels_of(read(pred)) == list("abab")  # as an answer, it is read as one
    both = pv.score(pred, pred)
    assert both[0]["accuracy"].estimate == 0.5
    assert not any("is the gold file itself" in note for note in both.notes)


@pytest.mark.parametrize("content", ["y,p\n1,0.7\n0,0.2\n1,0.4\n", "y,seen\n1,1\n0,1\n1,0\n"])
@pytest.mark.parametrize("runs", [False, True])
def test_an_answer_that_would_be_scored_against_itself_is_refused(write, content, runs):
    gold = write("y\n1\n0\n1\n", "gold.csv")
    own = write(content, "own.csv")
    name = content[2 : content.index("\n")]
    words = f"'y' is gold, and column '{name}' may be the output"
    with pytest.raises(InputError, match=words):
        pv.compare(gold, {"A": [own], "B": [own]}) if runs else pv.score(gold, own)
    assert pv.score(gold, own, columns=["y"])[0]["accuracy"].estimate == 1


def test_a_perfect_system_may_have_columns_of_other_kinds(write):
    gold = write("y\n1\n0\n1\n", "gold.csv")
    own = write("id,text,y,size\n1,red,1,12\n2,blue,0,17\n3,red,1,14\n", "own.csv")
    assert pv.score(gold, own)[0]["accuracy"].estimate == 1


# --- records are no labels --------------------------------------------------------------------

INVOICE = {"vendor": {"name": "A"}, "total": 1.5, "tags": ["a", "b"], "lines": [{"sku": "p"}]}
FLAT = {"supplier": "A", "total": 1.5, "tags": ["a", "b"]}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (FLAT, "looks like records with the fields supplier, total, tags, not like labels; exp"),
        ({"label": "x", "vendor": {"name": "A"}}, "could be a table .* or JSON objects"),
    ],
)
def test_records_are_not_taken_for_labels(write, run, record, message):
    files = [write(lines(record, record), f"{name}.jsonl") for name in ("gold", "a", "b")]
    with pytest.raises(InputError, match=message):
        pv.compare(*files)
    outcome = run("check", files[0])
    assert outcome.status == 2
    assert "records" in outcome.out + outcome.err
    assert "Nothing is wrong" not in outcome.out
    assert pv.score(files[0], files[1], task="records").task == "records"


def test_nested_objects_are_records(write, parquet):
    files = [write(lines(INVOICE, INVOICE), f"{name}.jsonl") for name in ("gold", "a")]
    assert pv.score(*files).task == "records"
    path = parquet("SELECT {'name': 'A'} AS vendor, ['a', 'b'] AS tags")
    assert pv.score(path, path).task == "records"


def test_what_describes_an_item_may_stand_beside_its_label(write):
    for rows in (
        [{"text": "t", "label": "x", "meta": {"source": "web"}}, {"text": "u", "label": "y"}],
        [{"id": 1, "text": "t", "tags": ["a", "b"]}, {"id": 2, "text": "u", "tags": []}],
        [{"label": "x", "keywords": ["k"], "_hash": {"n": 1}}, {"label": "y", "lang": "de"}],
    ):
        path = write(lines(*rows), "t.jsonl")
        assert pv.score(path, path)[0].counts.fp == 0
    path = write(lines(INVOICE, INVOICE), "t.jsonl")
    assert pv.score(path, path, gold_column="tags", columns=["tags"])[0].counts.tp == 4


def test_continuous_gold_in_files_is_refused_and_ratings_are_classes(tmp_path):
    import duckdb

    rows = [(i / 97, "a", "b") for i in range(60)]
    text = "gold,a,b\n" + "\n".join(f"{g},{a},{b}" for g, a, b in rows) + "\n"
    (tmp_path / "x.csv").write_text(text)
    place = tmp_path / "x.parquet"
    duckdb.read_csv(str(tmp_path / "x.csv")).write_parquet(str(place))
    lines = [f'{{"gold": {g}, "a": "{a}", "b": "{b}"}}' for g, a, b in rows]
    (tmp_path / "x.jsonl").write_text("\n".join(lines) + "\n")
    for name in ("x.csv", "x.parquet", "x.jsonl"):
        with pytest.raises(pv.InputError, match="continuous numbers"):
            pv.compare(tmp_path / name, gold_column="gold", columns=["a", "b"])
    ratings = "gold,a,b\n" + "3.5,3.5,4\n4,4,3.5\n2.5,3.5,2.5\n" * 10
    (tmp_path / "ratings.csv").write_text(ratings)
    found = pv.compare(tmp_path / "ratings.csv", gold_column="gold", columns=["a", "b"])
    assert found.systems[0].counts.tp == 20


def test_objects_beside_a_list_make_records(tmp_path):
    place = tmp_path / "x.jsonl"
    place.write_text('{"doc": {"v": "v1"}, "tags": ["c"]}\n{"doc": {"v": "v2"}, "tags": ["d"]}\n')
    assert pv.check(place).task == "records"
