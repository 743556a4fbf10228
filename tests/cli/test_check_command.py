"""``probative check``: what a file is and what is wrong with it."""

from __future__ import annotations

import json

import pytest


def test_what_is_no_scheme_or_encoding_is_bad_usage(refused, write):
    path = write("Ann B-PER\nsleeps O\n")
    assert "scheme: unknown 'x'; expected one of iob2" in refused("check", path, "--scheme", "x")
    assert "encoding: unknown 'idna'" in refused("check", path, "--encoding", "idna")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "a", "spans": [[' + "9" * 5000 + ', 1, "A"]]}', "is not JSON (too deep or too"),
        ('{"text": "a\\ud800", "spans": [[0, 1, "A"]]}', "holds half a character; expected text"),
        ('{"text": "ab", "spans": [[0, 1, "\\uDBFF"]]}', "holds half a character; expected text"),
    ],
)
def test_json_that_python_cannot_hold(run, refused, write, line, message):
    path = write(line, "a.jsonl")
    outcome = run("check", path, "-f", "json", "-q")
    (problem,) = json.loads(outcome.out)["problems"]
    assert outcome.status == 1
    assert message in problem
    assert message in refused("score", path, path)


def test_whole_characters_may_be_escaped(run, write):
    path = write('{"text": "\\ud83d\\ude00 \\\\ud800", "spans": [[0, 1, "A"]]}', "a.jsonl")
    assert run("check", path, "-q").status == 0


def test_a_table_is_checked_once_and_in_one_opening(run, write):
    path = write("gold,n\n#,1\nb,2\n", "t.csv")
    found = json.loads(run("check", path, "-f", "json", "-q").out)
    assert (found["facts"], found["labels"]) == ({"items": 2}, {"#": 1, "b": 1})


def test_problems_name_the_flags_that_settle_them(run, write):
    path = write('{"tokens": ["Ann", "saw"], "ner_tags": [1, 0]}\n', "rows.jsonl")
    outcome = run("check", path)
    assert outcome.status == 1
    assert "(--label-names)" in " ".join(outcome.out.split())
    assert run("check", path, "--label-names", "O,B-PER").status == 0


def test_samples_are_asked_for_of_a_file_of_spans(run, write):
    path = write('{"text": "Ann", "spans": [[0, 3, "PER"]]}\n', "a.jsonl")
    found = json.loads(run("check", path, "--task", "samples", "-f", "json", "-q").out)
    assert (found["facts"], found["labels"]) == ({"texts": 1, "spans": 1}, {"PER": 1})
