"""Segmented text, labels, JSON lines, tables; recognition."""

from __future__ import annotations

import gzip
import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from probative.errors import InputError
from probative.reading.annotations import Labels, Segmented, Spans, Tagged
from probative.reading.formats import Options, read, read_pair, recognise
from probative.reading.inputs import annotations_of
from probative.reading.source import Source


def labels_of(labels: Labels) -> list[str]:
    return [labels.names[code] for code in labels.codes]


# --- segmented text ---------------------------------------------------------------------------


def test_segmented_text(write):
    words = read(write("约翰 喜欢\u3000玛丽\n\n 他  也 是 \n\n\n"))
    assert isinstance(words, Segmented)
    assert words.n_sentences == 3
    assert [words.words(i) for i in range(3)] == [["约翰", "喜欢", "玛丽"], [], ["他", "也", "是"]]
    assert words.lengths.tolist() == [6, 0, 3]
    assert words.sentence_text(0) == "约翰喜欢玛丽"
    assert words.line.tolist() == [1, 2, 3]


def test_segmented_text_of_all_widths(write):
    sentences = [["a", "ß", "北京", "😀😀"], ["x" * 1000], ["é", "e\u0301"]]
    path = write("\r\n".join(" ".join(words) for words in sentences))
    words = read(path, Options(task="segmentation"))
    assert [words.words(i) for i in range(3)] == sentences


def test_only_wide_spaces_is_empty(write):
    with pytest.raises(InputError, match="holds spaces only; expected at least one word"):
        read(write("\u3000\n\u3000"), Options(task="segmentation"))


def test_words_from_python():
    words = annotations_of([["ab", "c"], "d ef", []], "gold", Options(task="segmentation"))
    assert isinstance(words, Segmented)
    assert [words.words(i) for i in range(3)] == [["ab", "c"], ["d", "ef"], []]
    with pytest.raises(InputError, match=r"gold: sentence 1 is \[1\]; expected words"):
        annotations_of([[1]], "gold", Options(task="segmentation"))
    with pytest.raises(InputError, match="gold: no words"):
        annotations_of([[], []], "gold", Options(task="segmentation"))


# --- labels -----------------------------------------------------------------------------------


def test_a_label_a_line(write):
    labels = read(write("spam\nham \r\nspam\n\n", "labels.txt"))
    assert labels_of(labels) == ["spam", "ham", "spam"]
    labels = read(write("very good\nbad\n"), Options(input_format="labels"))
    assert labels_of(labels) == ["very good", "bad"]


def test_a_missing_label_is_an_error(write):
    with pytest.raises(InputError, match=":2: the line is empty; expected a label"):
        read(write("spam\n\nham\n"), Options(input_format="labels"))


@pytest.mark.parametrize("space", ["\u2028", "\u0085\n\u3000", "\x1c"])
def test_spaces_that_no_byte_test_knows_are_no_labels(write, space):
    with pytest.raises(InputError, match="holds spaces only; expected at least one label"):
        read(write(space), Options(input_format="labels"))


def test_labels_from_python():
    assert labels_of(annotations_of(["b", "a"], "gold", Options())) == ["b", "a"]
    assert labels_of(annotations_of(np.array([1, 0]), "gold", Options())) == ["1", "0"]
    assert labels_of(annotations_of(np.array([1.0, 0.0]), "gold", Options())) == ["1", "0"]
    for wrong, message in (
        ([], "is empty"),
        (["a", None], r"gold: has missing labels: 1 of 2 \(item 2\); expected one for every item"),
        (np.zeros((2, 2)), "shape"),
        (7, "int is no input"),
        ([["O"], 7], "sentence 2 is 7"),
        ([[["x"]]], "sentence 1: span"),
    ):
        with pytest.raises(InputError, match=message):
            annotations_of(wrong, "gold", Options())


# --- JSON lines -------------------------------------------------------------------------------

RECORD = {"text": "Ann sleeps", "spans": [[0, 3, "PER"], {"start": 0, "end": 10, "label": "S"}]}


def test_json_lines_with_spans(write):
    more = {"text": "nobody", "spans": []}
    spans = read(write("\n".join(json.dumps(r) for r in (RECORD, more)), "a.jsonl"))
    assert isinstance(spans, Spans)
    assert spans.of(0) == [(0, 3, "PER"), (0, 10, "S")]
    assert spans.of(1) == []
    assert spans.text.words(0)[0:3] == "Ann"


@pytest.mark.parametrize(
    "record",
    [
        {"tokens": ["Ann", "sleeps"], "entities": [[0, 1, "PER"]]},
        {"words": ["Ann", "sleeps"], "labels": [{"start": 0, "end": 1, "type": "PER"}]},
        {"tokens": [{"text": "Ann"}, {"text": "sleeps"}], "label": [[0, 1, "PER"]]},
        {
            "tokens": ["Ann", "sleeps"],
            "entities": [{"start_offset": 0, "end_offset": 1, "label": "PER"}],
        },
    ],
)
def test_the_dialects_of_annotation_tools(write, record):
    spans = read(write(json.dumps(record)))
    assert spans.of(0) == [(0, 1, "PER")]
    assert list(spans.text.words(0)) == ["Ann", "sleeps"]


def test_equal_spans_count_once_and_that_is_said(write):
    spans = read(write(json.dumps({"text": "ab", "spans": [[0, 1, "A"], [0, 1, "A"]]})))
    assert len(spans) == 1
    assert spans.notes[-1].endswith("1 spans given twice, counted once")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", ":2: '{' is not JSON"),
        ("[1]", ":2: '[1]' is not a JSON object"),
        ('{"spans": []}', ":2: the object has no text"),
        ('{"text": "ab", "spans": 3}', ":2: 'spans' holds 3; expected a list of spans"),
        (
            '{"text": "ab", "spans": [[0, 3, "A"]]}',
            ':2: span [0, 3, "A"]; expected [start, end, label] or',
        ),
        ('{"text": "ab", "spans": [[1, 1, "A"]]}', "0 <= start < end <= 2"),
        ('{"text": "ab", "spans": [[true, 2, "A"]]}', ":2: span [true, 2"),
        ('{"text": "ab", "spans": [{"start": 0}]}', ":2: span {"),
        ('{"text": "ab", "spans": [[0, 1, 7]]}', ":2: span [0, 1, 7]"),
        ("[" * 100_000, "is not JSON (too deep or too large)"),
    ],
)
def test_json_errors(write, line, message):
    with pytest.raises(InputError) as caught:
        read(write(json.dumps(RECORD) + "\n" + line, "a.jsonl"))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_spans_at_all(write):
    with pytest.raises(InputError, match="no object has a list of spans"):
        read(write('{"text": "ab"}', "a.jsonl"))


def test_spans_from_python():
    spans = annotations_of([{(0, 2, "A"), (1, 3, "B")}, set()], "gold", Options())
    assert spans.of(0) == [(0, 2, "A"), (1, 3, "B")]
    assert spans.n_sentences == 2
    with pytest.raises(InputError, match="gold: sentence 1: span"):
        annotations_of([{(2, 1, "A")}], "gold", Options())


# --- tables -----------------------------------------------------------------------------------

CSV = 'id,gold,"new, one",doc\n1,yes,yes,a\n2,no,yes,a\n3,no,"n""o",b\n'


def test_tables_by_column_names(write):
    path = write(CSV, "odd [name] *.csv")
    gold, systems, names = read_pair(path, Options(unit="doc"), columns=["new, one"])
    assert labels_of(gold) == ["yes", "no", "no"]
    assert gold.units.tolist() == [0, 0, 1]
    assert labels_of(systems[0]) == ["yes", "yes", 'n"o']
    assert names == ["new, one"]


def test_every_kind_of_table_tells_the_same(write, tmp_path):
    rows = [{"y": "a b", "z": "c"}, {"y": "ü", "z": "a b"}]
    duckdb.sql("SELECT * FROM (VALUES ('a b', 'c'), ('ü', 'a b')) AS t(y, z)").write_parquet(
        str(tmp_path / "t.parquet")
    )
    paths = [
        write("y,z\na b,c\nü,a b\n", "t.csv"),
        write("y\tz\na b\tc\nü\ta b\n", "t.tsv"),
        write("\n".join(json.dumps(row) for row in rows), "t.jsonl"),
        write(gzip.compress("y,z\na b,c\nü,a b\n".encode()), "t.csv.gz"),
        tmp_path / "t.parquet",
    ]
    for path in paths:
        gold, (system,), _ = read_pair(path, gold="y", columns=["z"])
        assert labels_of(gold) == ["a b", "ü"], path
        assert labels_of(system) == ["c", "a b"], path


def test_numbers_in_tables_are_labels(write):
    gold, (pred,), names = read_pair(write("gold,pred\n1,0\n0,0\n", "t.csv"))
    assert labels_of(gold) == ["1", "0"]
    assert labels_of(pred) == ["0", "0"]
    assert names == ["pred"]
    assert labels_of(read(write("label\n1\n0\n", "t.csv"))) == ["1", "0"]


@pytest.mark.parametrize(
    ("content", "column", "message"),
    [
        ("gold,b\n1,2\n", "c", "there is no column 'c'; expected one of gold, b"),
        ("a,b\n1,2\n", None, "which column holds the labels? There are a, b"),
        ("gold,b\n1,2\n,2\n", "b", "column 'gold' has missing labels: 1 of 2 (row 2)"),
        ("gold,b\n", "b", "the table has no rows; expected at least one"),
    ],
)
def test_table_errors(write, content, column, message):
    path = write(content, "t.csv")
    with pytest.raises(InputError) as caught:
        read_pair(path, columns=[] if column is None else [column])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_serves_labels_only(write):
    path = write(CSV, "t.csv")
    with pytest.raises(InputError, match="is a table of labels; expected a file for entities"):
        read(path, Options(task="entities"))
    with pytest.raises(InputError, match="is a table of labels; expected a file for entities"):
        read_pair(path, Options(task="entities"), columns=["new, one"])


def test_a_broken_parquet_file(write):
    with pytest.raises(InputError, match="is no table that can be read"):
        read(write(b"PAR1 and nothing more", "t.parquet"))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_any_data_frame(kind):
    from probative.reading.inputs import both_of

    frame = kind({"y": ["a", "b"], "z": ["b", "b"], "u": [7, 7]})
    gold, (pred,), names = both_of(frame, Options(unit="u"), "y", ["z"])
    assert labels_of(gold) == ["a", "b"]
    assert gold.units.tolist() == [0, 0]
    assert labels_of(pred) == ["b", "b"]
    assert names == ["z"]
    with pytest.raises(InputError, match="there is no column 'q'"):
        both_of(frame, Options(), "q", ["z"])
    with pytest.raises(InputError, match="columns of the data frame by name"):
        both_of(frame, Options(), None, [])
    missing = kind({"y": ["a", None]})
    with pytest.raises(InputError, match="column 'y' has missing labels"):
        both_of(missing, Options(), "y", ["y"])


# --- recognition ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a", "Ann B-PER\nsleeps O\n", "columns"),
        ("a.tsv", "Ann\tB-PER\nsleeps\tO\n", "columns"),
        ("a.tsv", "gold\tpred\na\tb\n", "table"),
        ("a.csv", "gold,pred\na,b\n", "table"),
        ("a", "1\tAnn" + "\t_" * 8 + "\n", "conllu"),
        ("a", "1\tAnn\tO\n", "columns"),
        ("a", "he sleeps well\nshe does not\n", "segmented"),
        ("a", "he sleeps\nshe wakes\n", "segmented"),
        ("a", "spam\nham\n", "labels"),
        ("a", "B-PER\nO\n", "columns"),
        ("a", '{"text": "a", "spans": []}\n', "jsonl"),
        ("a", '{"gold": "a", "pred": "b"}\n', "table"),
        ("a.jsonl", "{ broken\n", "jsonl"),
        ("a", "{ O\nx B-X\n", "columns"),
        ("a", "Ann B-PER\nsleeps O\nbroken\nYork B-LOC\n", "columns"),
        ("a", "# O\n#tag B-X\n", "columns"),
    ],
)
def test_formats_are_recognised(name, content, expected):
    assert recognise(Source(name, content.encode()), Options()).kind == expected


def test_the_rest_of_a_large_file_does_not_matter(write):
    content = "Ann B-PER\nsleeps O\n\n" * 30_000
    assert isinstance(read(write(content)), Tagged)
    assert recognise(Source("a", content.encode()), Options()).kind == "columns"
