"""Records from files, tables, folders, raw texts and Python data; the traps among them."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import json
from decimal import Decimal

import numpy as np
import pytest

from probative.errors import InputError
from probative.matching.records import match_records
from probative.reading.formats import Input, Options
from probative.reading.records import (
    DEEPEST,
    join_record,
    parse_record,
    record_pair,
    records_from_objects,
    why_records,
)
from probative.reading.records import read_records as records_of
from probative.reading.source import Source, load

GOLD = Options()


def output(**choices):
    return Options(predicted=True, **choices)


def read_records(path, options=None):
    source = Source(str(path), b"", path=path) if path.is_dir() else load(path)
    return records_of(Input(source, "records", "records", options or output()))


def read_columns(path, gold_column=None, columns=()):
    answer, systems, _ = record_pair(
        Input(load(path), "records", "records", output()), gold_column, columns
    )
    return answer, systems


def parsed(text, **choices):
    return parse_record(text, InputError, **choices)


def written(folder, name, *lines):
    path = folder / name
    path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines))
    return path


# --- Raw text


@pytest.mark.parametrize(
    ("text", "repair"),
    [
        ('{"a": 1}', ""),
        ('  {"a": 1}\n', ""),
        ('\ufeff{"a": 1}', "byte-order mark"),
        ('```json\n{"a": 1}\n```', "code fence"),
        ('```\n{"a": 1}\n```\n', "code fence"),
        ('```json\n{"a": 1}', "code fence"),
        ('[{"a": 1}]', "one-element list"),
        ('"{\\"a\\": 1}"', "JSON in a string"),
        ('```json\n[{"a": 1}]\n```', "code fence, one-element list"),
    ],
)
def test_repairs(text, repair):
    assert parsed(text) == ({"a": 1}, "", repair)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("```json\n```", "empty"),
        ("Sorry.", "not JSON"),
        ('{"a": 1,}', "not JSON"),
        ('{"a": 1}{"b": 2}', "Extra data"),
        ('{"a": 1, "a": 2}', "'a' occurs twice"),
        ('{"a": {"b": 1, "b": 1}}', "'b' occurs twice"),
        ('{"a": NaN}', "NaN"),
        ('{"a": [-Infinity]}', "Infinity"),
        ('{"a": [1e999]}', "too large"),
        ("[1, 2]", "no JSON object"),
        ('[{"a": 1}, {"a": 2}]', "no JSON object"),
        ("12", "no JSON object"),
        ("null", "no JSON object"),
        ('Here it is: {"a": 1}.', "not JSON"),
    ],
)
def test_problems(text, problem):
    found = parsed(text)
    assert found.record is None
    assert problem in found.problem


def test_prose_is_searched_on_request():
    text = 'Of {x} and {"a": 1}, I choose {"a": {"b": 2}}. Good?'
    assert parsed(text, find_json=True) == ({"a": {"b": 2}}, "", "prose")
    assert parsed("Nothing { here", find_json=True).record is None
    assert parsed('```json\nNote: {"a": 1}\n```', find_json=True).record == {"a": 1}


def test_integers_are_exact():
    assert parsed('{"a": 9007199254740993}').record == {"a": 9007199254740993}
    assert parsed('{"a": 1' + "0" * 400 + "}").record == {"a": 10**400}


@pytest.mark.parametrize("levels", [DEEPEST + 1, 1_000, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_deep_nesting_is_an_error_with_its_line(tmp_path, levels, opening, closing):
    deep = '{"id": 2, "v": ' + opening * levels + "1" + closing * levels + "}"
    path = written(tmp_path, "a.jsonl", {"id": 1, "v": 1}, deep)
    with pytest.raises(InputError, match=r"a\.jsonl:2: the record is nested too deeply"):
        read_records(path)


def test_nesting_up_to_the_bound_is_matched():
    record = value = {}
    for _ in range(DEEPEST - 1):
        value["a"] = {}
        value = value["a"]
    value["a"] = 1
    side = records_from_objects([record], "gold")
    assert match_records(side, [side]).items.counts(0).tp == 1


# --- Files


def test_json_lines_are_joined_by_id(tmp_path):
    gold = written(tmp_path, "gold.jsonl", {"id": 1, "v": "a"}, {"id": 2, "v": "b"})
    system = written(tmp_path, "a.jsonl", {"v": "x", "id": "2"}, "", {"id": "1", "v": "a"})
    first = read_records(gold, GOLD)
    joined = join_record(first, read_records(system))
    assert first.documents == ({"v": "a"}, {"v": "b"})
    assert joined.documents == ({"v": "a"}, {"v": "x"})
    assert joined.keys == ("1", "2")
    assert joined.lines == (3, 1)
    assert joined.quality == ""


def test_another_key_and_several(tmp_path):
    path = written(tmp_path, "a.jsonl", {"d": "x", "p": 1, "id": 7}, {"d": "x", "p": 2, "id": 7})
    records = read_records(path, output(key=("d", "p")))
    assert records.documents == ({"id": 7}, {"id": 7})
    with pytest.raises(InputError, match=r"a\.jsonl:1: the record has no 'doc'"):
        read_records(path, output(key=("doc",)))


def test_bad_outputs_are_counted(tmp_path):
    gold = written(tmp_path, "gold.jsonl", *({"id": i, "v": i} for i in range(7)))
    system = written(
        tmp_path,
        "a.jsonl",
        {"id": 0, "v": 0},
        '{"id": 1, "v": ',  # its id can be read
        "Sorry",  # that of one of the missing
        '[{"id": 3, "v": 3}]',
        json.dumps('{"id": 4, "v": 4}'),
        '```json {"id": 5, "v": 5} ```',
    )
    joined = join_record(read_records(gold, GOLD), read_records(system))
    assert joined.documents == ({"v": 0}, None, None, {"v": 3}, {"v": 4}, {"v": 5}, None)
    assert set(joined.malformed) == {1, 2}
    assert set(joined.repaired) == {3, 4, 5}
    assert joined.missing == {6}
    assert joined.quality.endswith("of 7 outputs, 2 not JSON objects, 1 missing, 3 repaired")


def test_bad_outputs_can_be_refused(tmp_path):
    path = written(tmp_path, "a.jsonl", {"id": 0, "v": 0}, "Sorry")
    with pytest.raises(InputError, match=r"a\.jsonl:2: .*not JSON.*expected a JSON object"):
        read_records(path, output(on_malformed="error"))


@pytest.mark.parametrize(
    "line",
    [
        '{"id": 2, "v": 1,}',
        '{"id": 2} {"id": 3}',
        '{"id": 2, "id": 3}',
        '{"id": 2, "v": NaN}',
        "5",
        '[{"id": 2}]',
        '```json {"id": 2}```',
    ],
)
def test_gold_must_be_right(tmp_path, line):
    path = written(tmp_path, "gold.jsonl", {"id": 1, "v": 1}, line)
    with pytest.raises(InputError, match=r"gold\.jsonl:2: .*expected a JSON object"):
        read_records(path, GOLD)


def test_duplicate_ids_are_an_error(tmp_path):
    path = written(tmp_path, "a.jsonl", {"id": 1, "v": 1}, {"id": 2, "v": 1}, {"id": "1", "v": 2})
    with pytest.raises(
        InputError, match=r"a\.jsonl:3: two records have the 'id' '1' \(first in line 1"
    ):
        read_records(path)


def test_documents_without_gold_are_an_error(tmp_path):
    gold = records_from_objects([{"id": 1, "v": 1}], "gold")
    path = written(tmp_path, "a.jsonl", {"id": 1, "v": 1}, {"id": 5, "v": 1})
    with pytest.raises(InputError, match=r"a\.jsonl:2: 1 of 2 documents are not in gold \('5'\)"):
        join_record(gold, read_records(path))


def test_records_without_keys_go_by_place(tmp_path):
    gold = read_records(written(tmp_path, "gold.jsonl", {"v": 1}, {"v": 2}), GOLD)
    system = read_records(written(tmp_path, "a.jsonl", {"v": 1}, "Sorry"))
    joined = join_record(gold, system)
    assert joined.documents == ({"v": 1}, None)
    with pytest.raises(InputError, match="1 records, but 2"):
        join_record(gold, records_from_objects([{"v": 1}], "A"))


def test_a_record_without_the_id_that_others_have_is_an_error(tmp_path):
    path = written(tmp_path, "a.jsonl", {"id": 1, "v": 1}, {"v": 2})
    with pytest.raises(InputError, match=r"a\.jsonl:2: the record has no 'id'"):
        read_records(path)


def test_rows_of_one_table_belong_together_without_ids(tmp_path):
    path = written(
        tmp_path,
        "a.jsonl",
        {"gold": {"id": 7, "v": 1}, "output": "no"},
        {"gold": {"id": 8, "v": 1}, "output": '{"id": 7}'},
    )
    gold, (output,) = read_columns(path)
    assert gold.documents == ({"id": 7, "v": 1}, {"id": 8, "v": 1})
    assert join_record(gold, output).documents == (None, {"id": 7})


def test_a_column_of_records_is_found(tmp_path):
    path = written(
        tmp_path,
        "a.jsonl",
        {"id": "x", "output": "Sorry", "seconds": 1.5},
        {"id": "y", "output": '```json\n{"v": 1}\n```', "seconds": 1.5},
        {"id": "z", "output": '{"v": 2}', "seconds": 2.5},
        {"id": "w", "output": None, "seconds": 2.5},
    )
    records = read_records(path)
    assert records.keys == ("x", "y", "z", "w")
    assert records.documents == (None, {"v": 1}, {"v": 2}, None)
    assert (set(records.malformed), set(records.repaired), records.missing) == ({0}, {1}, {3})
    assert "column 'output'" in records.notes[0]
    with pytest.raises(InputError, match=r"no column 'outputs'.*did you mean 'output'"):
        read_records(path, output(column="outputs"))


def test_a_field_with_a_usual_name_stays_a_field(tmp_path):
    path = written(tmp_path, "a.jsonl", {"id": 1, "result": {"v": 1}, "items": [{"q": 1}]})
    assert read_records(path).documents == ({"result": {"v": 1}, "items": [{"q": 1}]},)


@pytest.mark.parametrize("names", [("expected", "output"), ("reference", "prediction")])
def test_gold_and_systems_in_columns_of_json_lines(tmp_path, names):
    gold, output = names
    path = written(
        tmp_path,
        "both.jsonl",
        {"id": 1, "input": {"x": 1}, gold: {"v": 1}, f"{output}_a": {"v": 1}, f"{output}_b": "no"},
        {
            "id": 2,
            "input": {"x": 2},
            gold: '{"v": 2}',
            f"{output}_a": {},
            f"{output}_b": '{"v": 2}',
        },
        {
            "id": 3,
            "input": {"x": 3},
            gold: {"v": 3},
            f"{output}_a": None,
            f"{output}_b": '{"v": 2}',
        },
    )
    side, (a, b) = read_columns(path)
    assert side.documents == ({"v": 1}, {"v": 2}, {"v": 3})
    assert (a.name, b.name) == (f"{output}_a", f"{output}_b")
    assert a.documents == ({"v": 1}, {}, None)
    assert b.documents == (None, {"v": 2}, {"v": 2})
    assert (dict(a.repaired), a.missing, set(b.malformed)) == ({}, {2}, {0})
    (c,) = read_columns(path, columns=[f"{output}_b"])[1]
    assert c.documents == b.documents


def test_gold_and_systems_in_a_table(tmp_path):
    rows = [
        "id,gold,old,new",
        '1,"{""v"": 1}","{""v"": 2}",oops',
        '2,"{""v"": 1}","{""v"": 1}","{}"',
    ]
    gold, (old, new) = read_columns(written(tmp_path, "t.csv", *rows))
    assert (gold.keys, gold.documents) == (("1", "2"), ({"v": 1}, {"v": 1}))
    assert old.documents == ({"v": 2}, {"v": 1})
    assert (old.repaired, set(new.malformed)) == ({}, {0})
    with pytest.raises(InputError, match="expected gold_column= and columns=, of id, a"):
        read_columns(written(tmp_path, "u.csv", "id,a", "1,2"))


def test_columns_of_a_parquet_file(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [1], "expected": [{"v": [1, 2]}], "output": ['{"v": [1]}']})
    frame.to_parquet(tmp_path / "t.parquet")
    gold, (output,) = read_columns(tmp_path / "t.parquet")
    assert (gold.documents, output.documents) == (({"v": [1, 2]},), ({"v": [1]},))


def test_folders_are_joined_by_file_name(tmp_path):
    for folder in ("gold", "a"):
        (tmp_path / folder).mkdir()
    written(tmp_path, "gold/x.json", '{\n"v": 1\n}')
    written(tmp_path, "gold/y.json", {"v": 2})
    written(tmp_path, "gold/z.json", {"v": 3})
    written(tmp_path, "a/y.json", '```json\n{"v": 2}\n```')
    written(tmp_path, "a/z.json", "")
    gold = read_records(tmp_path / "gold", GOLD)
    joined = join_record(gold, read_records(tmp_path / "a"))
    assert joined.keys == ("x", "y", "z")
    assert joined.documents == (None, {"v": 2}, None)
    assert (joined.missing, set(joined.repaired), set(joined.malformed)) == ({0}, {1}, {2})
    written(tmp_path, "a/other.json", {"v": 3})
    with pytest.raises(InputError, match="'other'"):
        join_record(gold, read_records(tmp_path / "a"))
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match=r"no file \*\.json"):
        read_records(tmp_path / "none")


def test_a_list_and_an_object_of_objects(tmp_path):
    rows = [{"id": 1, "v": {"x": 1}}, {"id": 2, "v": {"x": 2}}]
    by_key = {"1": {"v": {"x": 1}}, "2": {"v": {"x": 2}}}
    for value in (rows, by_key):
        for indent in (None, 2):
            path = tmp_path / "a.json"
            path.write_text(json.dumps(value, indent=indent))
            records = read_records(path)
            assert records.keys == ("1", "2")
            assert records.documents == ({"v": {"x": 1}}, {"v": {"x": 2}})
    path.write_text(json.dumps(rows[:1]))
    assert read_records(path, GOLD).keys == ("1",)
    path.write_text(json.dumps({"v": 1, "w": {}}, indent=2))
    with pytest.raises(InputError, match="a single JSON object"):
        read_records(path)


def test_a_byte_order_mark_of_a_file_is_no_repair(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": 1, "v": 1}\n')
    records = read_records(path)
    assert (records.documents, records.repaired) == (({"v": 1},), {})


# --- Python data


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Line:
    sku: str
    number: int


@dataclasses.dataclass
class Invoice:
    lines: list[Line]
    colour: Colour
    day: dt.date


class Model:
    """As a model of pydantic."""

    def model_dump(self, *, mode):
        assert mode == "json"
        return {"v": (1, 2)}


def test_python_objects_become_records():
    invoice = Invoice([Line("a", np.int64(3))], Colour.RED, dt.date(2024, 3, 1))
    side = records_from_objects({"x": invoice, 2: Model(), "z": None, "w": '{"v": 1}'}, "A")
    assert side.keys == ("x", "2", "z", "w")
    assert side.documents == (
        {"lines": [{"sku": "a", "number": 3}], "colour": "red", "day": "2024-03-01"},
        {"v": [1, 2]},
        None,
        {"v": 1},
    )
    assert side.missing == {2}


def test_python_numbers_are_kept():
    (record,) = records_from_objects(
        [{"a": Decimal("1.5"), "b": Decimal(10**20), "c": np.float32(0.5), "d": True}], "A"
    ).documents
    assert record == {"a": 1.5, "b": 10**20, "c": 0.5, "d": True}
    assert [type(v) for v in record.values()] == [float, int, float, bool]


def test_the_callers_data_are_not_changed():
    data = [{"id": 1, "v": [1]}]
    records_from_objects(data, "A")
    assert data == [{"id": 1, "v": [1]}]


@pytest.mark.parametrize(
    ("data", "part"),
    [
        ("text", "expected records in a list"),
        (5, "expected records in a list"),
        ([{"v": object()}], "record 1: .*is of type object"),
        ([{(1, 2): 1}], "keys that are no text"),
    ],
)
def test_other_python_data_are_refused(data, part):
    with pytest.raises(InputError, match=part):
        records_from_objects(data, "A")


def test_nan_in_python_data():
    assert set(records_from_objects([{"v": float("nan")}], "A").malformed) == {0}
    with pytest.raises(InputError, match="gold: record 1: nan"):
        records_from_objects([{"v": float("nan")}], "gold", GOLD)


def test_circular_data_are_refused():
    record = {}
    record["v"] = record
    with pytest.raises(InputError, match="nested too deeply"):
        records_from_objects([record], "A")


# --- Recognition


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"id": 1, "expected": {"v": 1}, "output": '{"v": 1}'}, "'expected' and 'output'"),
        ({"id": 1, "output": '{"v": 1}'}, "column 'output'"),
        ({"id": 1, "vendor": {"name": "x"}, "tags": ["a"]}, "'vendor' holds objects"),
        ({"id": 1, "items": [{"q": 1}]}, "'items' holds objects"),
        ({"id": 1, "text": "x", "label": "y"}, None),
        ({"id": 1, "text": "x", "tags": ["a", "b"], "meta": {"page": 1}}, None),
    ],
)
def test_why_a_file_holds_records(row, reason):
    found = why_records([row])
    assert found is None if reason is None else reason in found
