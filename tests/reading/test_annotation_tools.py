"""Exports of annotation tools: Label Studio, Prodigy, Doccano.

These are written by hand, for all that may be wrong in them; test_files_of_tools.py has files that
the tools wrote.
"""

from __future__ import annotations

import json

import pytest

import probative as pv
from probative.errors import InputError

TEXTS = ["Ada Quill sails to Low Haven.", "Nobody waits.", "Ben Quill stays."]
GOLD = [[(0, 9, "PER"), (19, 28, "LOC")], [], [(0, 9, "PER")]]
SYSTEM = [[(0, 9, "PER"), (19, 22, "LOC")], [(0, 6, "PER")], [(0, 9, "PER")]]
EXPECTED = pv.Counts(2, 2, 1)


@pytest.fixture
def write(tmp_path):
    def make(name, content):
        path = tmp_path / name
        if name.endswith(".jsonl"):
            path.write_text("".join(json.dumps(record) + "\n" for record in content))
        else:
            path.write_text(json.dumps(content, indent=1))
        return path

    return make


# --- Label Studio -----------------------------------------------------------------------------


def results(text, spans):
    return [
        {
            "id": f"r{i}",
            "from_name": "label",
            "to_name": "text",
            "type": "labels",
            "value": {"start": i, "end": j, "text": text[i:j], "labels": [label]},
        }
        for i, j, label in spans
    ]


def tasks(sides, **more):
    made = []
    for number, (text, spans) in enumerate(zip(TEXTS, sides, strict=True), start=1):
        annotation = {"id": 10 + number, "was_cancelled": False, "result": results(text, spans)}
        made.append({"id": number, "data": {"text": text}, "annotations": [annotation], **more})
    return made


def test_label_studio_spans(write):
    gold, system = write("gold.json", tasks(GOLD)), write("system.json", tasks(SYSTEM))
    assert pv.score(gold, system)[0].counts == EXPECTED
    report = pv.check(gold)
    assert (report.input_format, report.labels) == ("labelstudio", {"LOC": 1, "PER": 2})
    assert report.reason == "it is a list of tasks with 'data' and 'annotations'"


def test_label_studio_predictions_in_the_same_tasks(write):
    document = tasks(GOLD)
    for task, spans in zip(document, SYSTEM, strict=True):
        text = task["data"]["text"]
        task["predictions"] = [
            {"model_version": "old", "result": results(text, spans)},
            {"model_version": "new", "result": task["annotations"][0]["result"]},
        ]
    result = pv.compare(write("both.json", document))
    assert [(s.name, s.counts) for s in result.systems] == [
        ("old", EXPECTED), ("new", pv.Counts(3, 0, 0))
    ]  # fmt: skip
    del document[1]["predictions"][0]
    with pytest.raises(InputError, match=r"1 of 3 tasks have no prediction of 'old' \('2'\)"):
        pv.compare(write("both.json", document))


def test_label_studio_short_form(write):
    short = [
        {"id": i, "text": text, "label": [{"start": a, "end": b, "text": text[a:b], "labels": [c]}
                                          for a, b, c in spans]}
        for i, (text, spans) in enumerate(zip(TEXTS, GOLD, strict=True))
    ]  # fmt: skip
    system = write("system.json", tasks(SYSTEM))
    assert pv.score(write("gold.json", short), system)[0].counts == EXPECTED


def choice(text, *labels):
    result = {"from_name": "topic", "type": "choices", "value": {"choices": list(labels)}}
    return {"id": 1, "data": {"text": text}, "annotations": [{"id": 2, "result": [result]}]}


def test_label_studio_choices(write):
    gold = write("gold.json", [choice("a", "yes"), choice("b", "no"), choice("c", "yes")])
    system = write("system.json", [choice("a", "yes"), choice("b", "yes"), choice("c", "no")])
    result = pv.score(gold, system)
    assert result.task == "labels"
    assert result[0].counts == pv.Counts(1, 1, 1, 0)


def test_several_annotations_need_a_ground_truth(write):
    document = tasks(GOLD)
    document[0]["annotations"].append({"id": 9, "result": []})
    path = write("gold.json", document)
    with pytest.raises(InputError, match=r"task 1 has 2 annotations; expected one, or one that is"):
        pv.score(path, path)
    document[0]["annotations"][1]["ground_truth"] = True
    assert pv.check(write("gold.json", document)).labels == {"PER": 1}
    document[0]["annotations"][1]["was_cancelled"] = True
    assert pv.check(write("gold.json", document)).labels == {"LOC": 1, "PER": 2}


def test_spans_and_choices_together_are_asked_about(write):
    document = tasks(GOLD)
    for task in document:
        task["annotations"][0]["result"].append(
            {"from_name": "topic", "type": "choices", "value": {"choices": ["sea"]}}
        )
    path = write("gold.json", document)
    with pytest.raises(InputError, match="has both spans and choices; expected task='entities' or"):
        pv.score(path, path)
    assert pv.score(path, path, task="entities")[0].counts == pv.Counts(3, 0, 0)
    assert pv.score(path, path, task="labels")[0].counts.tp == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": 0.5}, "expected whole numbers start and end"),
        ({"end": 999}, r"span 0 to 999; expected 0 <= start < end <= 29"),
        ({"text": "Eve"}, "is 'Eve', but the text has 'Ada Quill' there"),
        ({"labels": []}, "and a list of labels"),
    ],
)
def test_bad_results_are_named(write, change, message):
    document = tasks(GOLD)
    document[0]["annotations"][0]["result"][0]["value"] |= change
    path = write("gold.json", document)
    with pytest.raises(InputError, match=message) as error:
        pv.score(path, path)
    assert str(error.value).startswith(f"{path}: task 1")


def test_a_cut_export_is_named_with_its_line(write):
    path = write("gold.json", tasks(GOLD))
    path.write_text(path.read_text()[:300])
    with pytest.raises(InputError, match=r"gold\.json:\d+: is not JSON"):
        pv.score(path, path)


# --- Prodigy ----------------------------------------------------------------------------------


def prodigy(sides, answers=("accept",) * 3):
    return [
        {"text": text, "_input_hash": 1, "answer": answer,
         "spans": [{"start": i, "end": j, "label": c, "token_start": 0} for i, j, c in spans]}
        for text, spans, answer in zip(TEXTS, sides, answers, strict=True)
    ]  # fmt: skip


def test_prodigy_spans(write):
    gold, system = write("gold.jsonl", prodigy(GOLD)), write("system.jsonl", prodigy(SYSTEM))
    assert pv.score(gold, system)[0].counts == EXPECTED


def test_what_was_not_accepted_is_left_out_of_both_sides(write):
    gold = write("gold.jsonl", prodigy(GOLD, ("accept", "reject", "accept")))
    system = write("system.jsonl", prodigy(SYSTEM))
    result = pv.score(gold, system)
    assert result[0].counts == pv.Counts(2, 1, 1)
    assert result.units == 2
    assert any("is not 'accept' are left out: 1 'reject'" in note for note in result.notes)
    assert "1 of 3 texts are left out, as they were not accepted" in result.notes
    # a system that has an output for the accepted texts only says the same
    fewer = write("fewer.jsonl", [r for i, r in enumerate(prodigy(SYSTEM)) if i != 1])
    assert pv.score(gold, fewer)[0].counts == pv.Counts(2, 1, 1)
    # what another annotator did not accept is left out, too
    other = write("other.jsonl", prodigy(SYSTEM, ("ignore", "accept", "accept")))
    assert pv.score(gold, other)[0].counts == pv.Counts(1, 0, 0)


def test_nothing_accepted_is_an_error(write):
    gold = write("gold.jsonl", prodigy(GOLD, ("ignore",) * 3))
    with pytest.raises(InputError, match="no text has gold; expected at least one"):
        pv.score(gold, gold)


def chosen(*accepted, answer="accept"):
    options = [{"id": x, "text": x} for x in ("sea", "land")]
    return [
        {"text": f"t{i}", "options": options, "accept": list(one), "answer": answer}
        for i, one in enumerate(accepted)
    ]


def test_prodigy_choices(write):
    gold = write("gold.jsonl", chosen(["sea"], ["land"], ["sea"]))
    system = write("system.jsonl", chosen(["sea"], ["sea"], ["sea"]))
    result = pv.score(gold, system)
    assert (result.task, result[0].counts.tp) == ("labels", 2)
    assert pv.check(gold).reason == "its first object has options and what was accepted of them"
    several = write("several.jsonl", chosen(["sea", "land"], ["sea"]))
    assert pv.check(several).facts == {"items": 2, "labels": 3}
    rejected = write("gold.jsonl", chosen(["sea"], answer="reject"))
    with pytest.raises(InputError, match=r"gold.jsonl:1: 1 of 1 answers are not 'accept'"):
        pv.score(rejected, system)


# --- Doccano ----------------------------------------------------------------------------------


def test_doccano_spans(write):
    first = [{"id": i, "text": t, "label": [list(s) for s in spans]}
             for i, (t, spans) in enumerate(zip(TEXTS, GOLD, strict=True))]  # fmt: skip
    second = [
        {"id": i, "text": t, "relations": [], "Comments": [],
         "entities": [{"id": 1, "label": c, "start_offset": a, "end_offset": b}
                      for a, b, c in spans]}
        for i, (t, spans) in enumerate(zip(TEXTS, SYSTEM, strict=True))
    ]  # fmt: skip
    gold, system = write("gold.jsonl", first), write("system.jsonl", second)
    assert pv.score(gold, system)[0].counts == EXPECTED


def test_doccano_labels(write):
    gold = write("gold.jsonl", [{"id": i, "text": "x", "label": [c]} for i, c in enumerate("aba")])
    system = write("s.jsonl", [{"id": i, "text": "x", "label": [c]} for i, c in enumerate("abb")])
    result = pv.score(gold, system)  # any number of labels per text: sets
    assert (result.task, result[0].counts) == ("labels", pv.Counts(2, 1, 1))
