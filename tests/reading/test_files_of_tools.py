"""Files that Label Studio, Doccano and a converter for brat wrote themselves: see tests/recipes."""

from __future__ import annotations

import json

import pytest
from conftest import ROOT

import probative as pv
from probative.errors import InputError

DATA = ROOT / "tests" / "data"
STUDIO, DOCCANO, BRAT = DATA / "label_studio", DATA / "doccano", DATA / "brat"
ENTITIES = pv.Counts(4, 1, 2)
TASKS = "it is a list of tasks with 'data' and 'annotations'"
SHORT = "it is a list of texts with their labels, as JSON-MIN has them"


def shortened(path, tmp_path, order):
    """A list or the lines of a file in another order."""
    text = path.read_text()
    if path.suffix == ".jsonl":
        lines = text.splitlines()
        changed = "".join(lines[i] + "\n" for i in order)
    else:
        items = json.loads(text)
        changed = json.dumps([items[i] for i in order])
    other = tmp_path / path.name
    other.write_text(changed)
    return other


# --- Label Studio -----------------------------------------------------------------------------


@pytest.mark.parametrize("gold", ["entities_gold.json", "entities_gold_min.json"])
@pytest.mark.parametrize("system", ["entities_system.json", "entities_system_min.json"])
def test_spans_of_label_studio(gold, system):
    result = pv.score(STUDIO / gold, STUDIO / system)
    assert (result.task, result.units, result[0].counts) == ("entities", 4, ENTITIES)
    report = pv.check(STUDIO / gold)
    assert (report.input_format, report.problems) == ("labelstudio", ())
    assert report.reason == (SHORT if "min" in gold else TASKS)
    assert report.labels == {"LOC": 3, "PER": 3}


def test_columns_of_label_studio():
    gold, system = STUDIO / "entities_gold.conll", STUDIO / "entities_system.conll"
    assert pv.score(gold, system)[0].counts == ENTITIES
    report = pv.check(gold)
    assert (report.reason, report.problems) == ("column 4 holds tags such as 'B-PER'", ())


@pytest.mark.parametrize("gold", ["gold.json", "gold_min.json"])
@pytest.mark.parametrize("system", ["system.json", "system_min.json"])
def test_choices_of_label_studio(gold, system):
    # one topic per text: land, sea, land, land against land, land, land, land
    one = pv.score(STUDIO / f"topic_{gold}", STUDIO / f"topic_{system}")
    assert (one.task, one.units, one[0].counts) == ("labels", 4, pv.Counts(3, 1, 1))
    assert pv.check(STUDIO / f"topic_{gold}").labels == {"land": 3, "sea": 1}
    # any number: land; sea; none; land and sea
    some = pv.score(STUDIO / f"topics_{gold}", STUDIO / f"topics_{system}")
    assert (some.task, some.units, some[0].counts) == ("labels", 4, pv.Counts(3, 1, 1))
    report = pv.check(STUDIO / f"topics_{gold}")
    assert report.labels == {"land": 2, "sea": 2}
    assert report.reason == (SHORT if "min" in gold else TASKS)


def test_choices_of_label_studio_in_a_table():
    sides = STUDIO / "topic_gold.csv", STUDIO / "topic_system.csv"
    with pytest.raises(InputError, match="which column holds the labels"):
        pv.score(*sides)
    result = pv.score(*sides, gold_column="topic", columns=["topic"])
    assert result[0].counts == pv.Counts(3, 1, 1)


@pytest.mark.parametrize("kind", ["entities", "topics"])
def test_a_text_without_results_may_come_first(kind, tmp_path):
    # JSON-MIN then has no key for them
    order = [2, 0, 1, 3]
    gold = shortened(STUDIO / f"{kind}_gold_min.json", tmp_path, order)
    system = shortened(STUDIO / f"{kind}_system_min.json", tmp_path, order)
    assert not {"label", "topic"} & set(json.loads(gold.read_text())[0])
    expected = ENTITIES if kind == "entities" else pv.Counts(3, 1, 1)
    assert pv.score(gold, system)[0].counts == expected
    assert pv.check(gold).reason == SHORT


def test_predictions_of_label_studio():
    result = pv.score(STUDIO / "predicted.json")
    assert [(s.name, s.counts) for s in result.systems] == [("system", ENTITIES)]
    with pytest.raises(InputError, match="task 1 has the number of a prediction, 1; expected it"):
        pv.score(STUDIO / "numbered.json")


@pytest.mark.parametrize("ending", [".json", "_min.json"])
def test_skipped_tasks_and_second_annotations(ending):
    skipped = STUDIO / f"skipped{ending}"
    assert pv.score(skipped, STUDIO / f"entities_system{ending}")[0].counts == ENTITIES
    twice = STUDIO / f"twice{ending}"
    with pytest.raises(InputError, match=r"task \d+ has 2 annotations; expected one"):
        pv.score(twice, twice)


def test_a_second_control_is_asked_about(tmp_path):
    tasks = json.loads((STUDIO / "topic_gold_min.json").read_text())
    for task in tasks:
        work = {key: task.pop(key) for key in list(task)[list(task).index("annotator") :]}
        task |= {"mood": "calm", **work}
    path = tmp_path / "two.json"
    path.write_text(json.dumps(tasks))
    with pytest.raises(InputError, match="has several sets of labels: mood, topic; expected"):
        pv.score(path, path)


# --- Doccano ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "key"), [("entities", "label"), ("relations", "entities")])
def test_spans_of_doccano(kind, key):
    gold, system = DOCCANO / f"{kind}_gold.jsonl", DOCCANO / f"{kind}_system.jsonl"
    result = pv.score(gold, system)
    assert (result.task, result.units, result[0].counts) == ("entities", 4, ENTITIES)
    report = pv.check(gold)
    assert (report.input_format, report.problems) == ("jsonl", ())
    assert report.reason == f"its first object has a text and a list under {key!r}"
    assert report.labels == {"LOC": 3, "PER": 3}


@pytest.mark.parametrize("gold", ["topics_gold.json", "topics_gold.jsonl"])
@pytest.mark.parametrize("system", ["topics_system.json", "topics_system.jsonl"])
def test_labels_of_doccano(gold, system):
    result = pv.score(DOCCANO / gold, DOCCANO / system)
    assert (result.task, result.units, result[0].counts) == ("labels", 4, pv.Counts(3, 1, 1))
    report = pv.check(DOCCANO / gold)
    begin = "its first line is a JSON object" if "jsonl" in gold else "it is a JSON list of objects"
    assert report.reason == f"{begin} with 'id', 'text', 'label', 'Comments'"
    assert (report.input_format, report.labels) == ("table", {"land": 2, "sea": 2})


def test_labels_of_doccano_in_a_table():
    sides = DOCCANO / "topics_gold.csv", DOCCANO / "topics_system.csv"
    with pytest.raises(InputError, match="column 'label' has missing labels: 1 of 4"):
        pv.score(*sides)
    assert pv.score(*sides, multilabel="#")[0].counts == pv.Counts(3, 1, 1)


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_a_text_without_labels_may_come_first(ending, tmp_path):
    order = [2, 0, 1, 3]
    gold = shortened(DOCCANO / f"topics_gold.{ending}", tmp_path, order)
    system = shortened(DOCCANO / f"topics_system.{ending}", tmp_path, order)
    assert pv.score(gold, system)[0].counts == pv.Counts(3, 1, 1)
    assert pv.check(gold).labels == {"land": 2, "sea": 2}


def test_a_text_without_spans_may_come_first(tmp_path):
    gold = shortened(DOCCANO / "entities_gold.jsonl", tmp_path, [2, 0, 1, 3])
    assert pv.check(gold).labels == {"LOC": 3, "PER": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"id": 1, "label": "a"}, 3]', "item 2 is 3; expected an object"),
        ('[{"label": "a", "label": "b"}]', "the key 'label' occurs twice"),
    ],
)
def test_bad_lists_are_named(text, message, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        pv.score(path, path)


@pytest.mark.parametrize(
    ("path", "task", "message"),
    [
        (
            DOCCANO / "topics_gold.jsonl",
            "entities",
            "is a table of sets of labels; expected a file",
        ),
        (STUDIO / "topics_gold.json", "entities", "has choices and no spans; expected some for"),
        (
            STUDIO / "entities_gold_min.json",
            "labels",
            "has spans and no choices; expected some for",
        ),
    ],
)
def test_what_is_not_there_is_not_scored(path, task, message):
    with pytest.raises(InputError, match=message):
        pv.score(path, path, task=task)


# --- brat -------------------------------------------------------------------------------------


def test_folders_of_brat():
    result = pv.score(BRAT / "gold", BRAT / "system")
    # one entity more than elsewhere, of two pieces, that the system finds
    assert (result.task, result.units, result[0].counts) == ("entities", 4, pv.Counts(5, 1, 2))
    report = pv.check(BRAT / "gold")
    assert (report.input_format, report.problems) == ("brat", ())
    assert report.reason == "it is a folder of .ann files"
    assert report.labels == {"LOC": 4, "PER": 3}
    assert any("1 entities of several pieces" in note for note in result.notes)
    # 7 links, 7 attributes, 2 relations
    assert any("16 relations, events, attributes and notes passed" in n for n in result.notes)


def test_the_tools_agree():
    gold = STUDIO / "entities_gold.json"
    assert pv.score(gold, DOCCANO / "entities_system.jsonl")[0].counts == ENTITIES
    assert pv.score(DOCCANO / "entities_gold.jsonl", gold)[0].counts == pv.Counts(6, 0, 0)
