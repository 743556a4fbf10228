"""Rows of tokens and tags: files written by Hugging Face's library (tests/recipes), and Python."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from recipes.sentences import GOLD, NAMES, PREDICTED, TOKENS, numbers

import probative as pv
from probative.errors import InputError

ROWS = Path(__file__).parent.parent / "data" / "rows"
EXPECTED = pv.Counts(4, 1, 2)


def rows(tags, **more):
    columns = {"tokens": TOKENS, "ner_tags": numbers(tags)} | more
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_the_tags_are_right():
    assert pv.score(GOLD, PREDICTED)[0].counts == EXPECTED


@pytest.mark.parametrize("gold", ["gold.jsonl", "gold.parquet"])
@pytest.mark.parametrize("system", ["system.jsonl", "system.parquet"])
def test_files_with_the_names_beside_or_inside(gold, system):
    result = pv.score(ROWS / gold, ROWS / system)
    assert result[0].counts == EXPECTED
    assert result.scheme == "iob2"


def test_parquet_knows_its_names_alone(tmp_path):
    for name in ("gold.parquet", "system.parquet"):
        shutil.copy(ROWS / name, tmp_path / name)
    assert pv.score(tmp_path / "gold.parquet", tmp_path / "system.parquet")[0].counts == EXPECTED


def test_numbers_without_names_are_refused(tmp_path):
    gold, system = (tmp_path / name for name in ("gold.jsonl", "system.jsonl"))
    shutil.copy(ROWS / gold.name, gold)
    shutil.copy(ROWS / system.name, system)
    with pytest.raises(InputError) as error:
        pv.score(gold, system)
    assert str(error.value) == (
        f"{gold}:1: the tags under 'ner_tags' are numbers; expected their names, from 0 "
        f"on (label_names=), or a dataset_info.json beside the file"
    )
    assert pv.score(gold, system, label_names=NAMES)[0].counts == EXPECTED
    with pytest.raises(
        InputError, match=r"tag 4 under 'ner_tags'; expected 0 to 3, as there are 4"
    ):
        pv.score(gold, system, label_names=NAMES[:4])


def test_tags_as_texts_need_no_names(tmp_path):
    gold, pred = (
        lines(
            tmp_path / f"{name}.jsonl",
            [{"tokens": t, "ner_tags": tags} for t, tags in zip(TOKENS, side, strict=True)],
        )
        for name, side in (("gold", GOLD), ("pred", PREDICTED))
    )
    assert pv.score(gold, pred)[0].counts == EXPECTED


def test_python_rows_and_a_second_column():
    gold, system = rows(GOLD), rows(PREDICTED)
    assert pv.score(gold, system, label_names=NAMES)[0].counts == EXPECTED
    both = rows(GOLD, predictions=numbers(PREDICTED))
    assert pv.score(both, label_names=NAMES)[0].counts == EXPECTED
    named = rows(GOLD, old_predictions=numbers(PREDICTED), new_predictions=numbers(GOLD))
    result = pv.compare(
        named,
        gold_column="ner_tags",
        columns=["old_predictions", "new_predictions"],
        label_names=NAMES,
    )
    assert [system.counts for system in result.systems] == [EXPECTED, pv.Counts(6, 0, 0)]
    assert [system.name for system in result.systems] == ["old_predictions", "new_predictions"]


def test_a_file_with_a_column_of_predictions(tmp_path):
    both = lines(tmp_path / "both.jsonl", rows(GOLD, predictions=numbers(PREDICTED)))
    assert pv.score(both, label_names=NAMES)[0].counts == EXPECTED
    # the answer from its column, the output from that of predictions
    assert pv.score(both, both, label_names=NAMES)[0].counts == EXPECTED


def test_what_is_minus_100_is_not_looked_at(tmp_path):
    # as trainers have it: the first token of a row and the inside of words are not labelled
    gold = [[-100, *row[1:-1], -100] for row in numbers(GOLD)]
    system = numbers(PREDICTED)
    everywhere = [[NAMES[t] if t >= 0 else "O" for t in row] for row in gold]
    masked = [
        ["O" if g < 0 else NAMES[p] for g, p in zip(one, other, strict=True)]
        for one, other in zip(gold, system, strict=True)
    ]
    expected = pv.score(
        [row[1:-1] for row in everywhere], [row[1:-1] for row in masked]
    )[0].counts  # fmt: skip
    a = lines(tmp_path / "a.jsonl", [{"tokens": t, "ner_tags": g} for t, g in
                                     zip(TOKENS, gold, strict=True)])  # fmt: skip
    b = lines(tmp_path / "b.jsonl", [{"tokens": t, "predictions": p} for t, p in
                                     zip(TOKENS, system, strict=True)])  # fmt: skip
    result = pv.score(a, b, label_names=NAMES)
    assert result[0].counts == expected
    assert any("8 tokens without one (-100)" in note for note in result.notes)
    with pytest.raises(InputError, match=r"8 tokens have no tag \(-100\), but one in"):
        pv.score(b, a, label_names=NAMES)
    labels = pv.score(rows(GOLD, predictions=gold), label_names=NAMES, task="labels",
                      gold_column="predictions", columns=["ner_tags"])  # fmt: skip
    assert labels[0].counts.tp == 26 - 8


def test_other_tokens_are_refused(tmp_path):
    other = [
        {"tokens": ["x", *r["tokens"][1:]], "ner_tags": r["ner_tags"]} for r in rows(PREDICTED)
    ]
    path = lines(tmp_path / "other.jsonl", other)
    with pytest.raises(InputError, match=r"other.jsonl:1: token 'x', gold has "):
        pv.score(ROWS / "gold.jsonl", path, label_names=NAMES)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ('{"tokens": ["a", "b"], "ner_tags": [0]}', "1 tags under 'ner_tags', but 2 tokens"),
        ('{"tokens": ["a", "b"], "ner_tags": null}', "'ner_tags' is None; expected a list of tags"),
        ('{"tokens": "a b", "ner_tags": [0, 0]}', "'tokens' is 'a b'; expected a list of texts"),
        ('{"tokens": ["a"], "ner_tags": [1.5]}', "1.5 under 'ner_tags' is no tag"),
        ('{"tokens": ["a"], "ner_tags": [[1]]}', "[1] under 'ner_tags' is no tag"),
        ("{", "'{' is not JSON"),
    ],
)
def test_bad_rows_are_named(tmp_path, record, message):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"tokens": ["a"], "ner_tags": [0]}\n' + record + "\n")
    with pytest.raises(InputError) as error:
        pv.score(path, path, label_names=NAMES)
    assert str(error.value).startswith(f"{path}:2: ")
    assert message in str(error.value)


def test_arrays_of_numbers_as_trainers_have_them():
    width = max(map(len, TOKENS))
    gold, system = (
        np.array([[*row, *[-100] * (width - len(row))] for row in numbers(tags)])
        for tags in (GOLD, PREDICTED)
    )
    assert pv.score(gold, system, label_names=NAMES)[0].counts == EXPECTED
    system[gold == -100] = 1  # whatever a model says of what is not looked at
    assert pv.score(gold, system, label_names=NAMES)[0].counts == EXPECTED
    assert pv.score(gold.tolist(), list(system), label_names=NAMES)[0].counts == EXPECTED
    with pytest.raises(InputError, match=r"names of (numbered )?tags \(label_names=\)"):
        pv.score(gold.tolist(), system.tolist())
    with pytest.raises(InputError, match=r"names of (numbered )?tags \(label_names=\)"):
        pv.score(gold, system)


def test_labels_by_their_numbers(tmp_path):
    names = ["no", "yes"]
    result = pv.score([0, 1, 1, 0], [0, 1, 0, 0], label_names=names)
    assert result[0].counts == pv.Counts(1, 0, 1, 2)
    assert pv.score([0, 1, 1, 0], ["no", "yes", "no", "no"], label_names=names)[0].counts == (
        result[0].counts
    )
    table = tmp_path / "labels.csv"
    table.write_text("gold,pred\n0,0\n1,1\n1,0\n0,0\n")
    assert pv.score(table, label_names=names)[0].counts == result[0].counts
    with pytest.raises(InputError, match=r"pred: row 2: label '2' has no name; expected 0 to 1"):
        pv.score([0, 1], [0, 2], label_names=names)


def test_names_that_would_be_passed_over_are_refused():
    with pytest.raises(InputError, match="label_names: the tags are no numbers"):
        pv.score(GOLD, PREDICTED, label_names=NAMES)
    with pytest.raises(InputError, match="label_names: 'O' twice"):
        pv.score(rows(GOLD), rows(PREDICTED), label_names=["O", "O"])
    with pytest.raises(InputError, match="label_names: '1' is a number itself"):
        pv.score([0, 1], [0, 1], label_names=["1", "0"])


def test_a_list_of_rows_in_one_document(tmp_path):
    gold, system = tmp_path / "gold.json", tmp_path / "system.json"
    gold.write_text(json.dumps(rows(GOLD), indent=1))
    system.write_text(json.dumps(rows(PREDICTED)))
    assert pv.score(gold, system, label_names=NAMES)[0].counts == EXPECTED
    reason = pv.check(gold, label_names=NAMES).reason
    assert reason == "in its first object, it has as many tags under 'ner_tags' as tokens"


class Feature:
    def __init__(self, names=None, feature=None):
        if names:
            self.names = names
        if feature:
            self.feature = feature


class Dataset(list):
    """What Hugging Face's datasets look like to us."""

    def __init__(self, items, features):
        super().__init__(items)
        self.features, self.column_names = features, list(items[0])


def test_datasets_tell_their_names_themselves():
    features = {"tokens": Feature(), "ner_tags": Feature(feature=Feature(NAMES))}
    gold, system = (Dataset(rows(tags), features) for tags in (GOLD, PREDICTED))
    assert pv.score(gold, system)[0].counts == EXPECTED
    assert pv.score(Dataset(rows(GOLD, predictions=PREDICTED), features))[0].counts == EXPECTED


def test_datasets_of_one_label_per_row():
    features = {"text": Feature(), "label": Feature(["no", "yes"])}
    gold = Dataset([{"text": "a", "label": i} for i in (0, 1, 1, 0)], features)
    system = ["no", "yes", "no", "no"]
    assert pv.score(gold, system)[0].counts == pv.Counts(1, 0, 1, 2)
    with pytest.raises(InputError, match="row 1: label '7' has no name; expected 0 to 1"):
        pv.score(Dataset([{"label": 7}], features), ["yes"])


def test_check_says_what_rows_are():
    report = pv.check(ROWS / "gold.parquet")
    assert (report.input_format, report.labels) == ("rows", {"LOC": 3, "PER": 3})
    assert report.reason == "it has columns of lists, 'tokens' and 'ner_tags'"
    report = pv.check(ROWS / "gold.jsonl")
    assert report.reason == "it has as many tags under 'ner_tags' as tokens"


@pytest.mark.parametrize("strange", ["null", "1", "[]"])
def test_a_list_of_rows_holds_objects_alone(tmp_path, strange):
    file = tmp_path / "rows.json"
    file.write_text(f'[{{"tokens": ["a"], "ner_tags": ["O"]}}, {strange}]')
    with pytest.raises(InputError, match="is no row; expected objects in the list"):
        pv.score(file, file, input_format="rows")
