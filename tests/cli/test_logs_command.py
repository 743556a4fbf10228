"""Logs of evaluations on the command line."""

from __future__ import annotations

import json

import pytest
from conftest import ROOT

LOGS = ROOT / "tests" / "data" / "logs"
OLD, NEW = LOGS / "samples_sums_old.jsonl", LOGS / "samples_sums_new.jsonl"


def test_compare_two_logs(run):
    outcome = run("compare", OLD, NEW, "-f", "json")
    assert outcome.status == 0
    document = json.loads(outcome.out)
    assert document["task"] == "samples"
    assert [system["name"] for system in document["systems"]] == [
        "samples_sums_old", "samples_sums_new"
    ]  # fmt: skip
    (comparison,) = document["comparisons"]
    assert (comparison["metric"], comparison["by"]) == ("accuracy", "item")
    assert comparison["difference"] == pytest.approx(0.1)
    assert "log of lm-evaluation-harness, because its first record has 'doc_id'" in outcome.err


def test_names(run):
    for words in ((f"old={OLD}", f"new={NEW}"), (OLD, NEW, "--names", "old,new")):
        for command in ("compare", "rank", "score"):
            outcome = run(command, *words, "-q", "-f", "json")
            assert outcome.status == 0, outcome.err
            names = {system["name"] for system in json.loads(outcome.out)["systems"]}
            assert names == {"old", "new"}


def test_an_answer_with_a_name_is_no_answer(run, tmp_path):
    path = tmp_path / "gold.conll"
    path.write_text("Ann B-PER\n\n")
    for command in ("compare", "rank", "score"):
        outcome = run(command, f"gold={path}", f"a={path}", f"b={path}")
        assert outcome.status == 2
        assert "names: 3 for 2 systems" in outcome.err


def test_scores_rankings_and_plans(run):
    for words in (("score", OLD), ("score", OLD, NEW), ("plan", OLD, NEW)):
        outcome = run(*words, "-q")
        assert outcome.status == 0, outcome.err
        assert "accuracy" in outcome.out
    outcome = run("rank", LOGS / "inspect_old.eval", LOGS / "inspect_new.eval")
    assert "mockllm/new leads (accuracy 75.00)" in outcome.out


def test_which_score_is_asked_by_its_flag(run):
    choices = LOGS / "samples_choices_old.jsonl"
    outcome = run("score", choices)
    assert outcome.status == 2
    assert outcome.err == (
        f"{choices}: which score? There are acc, acc_norm; expected one of them to be named "
        f"(--score-name)\n"
    )
    assert run("score", choices, "--score-name", "acc").status == 0
    graded = LOGS / "inspect_old_graded.json"
    outcome = run("score", graded)
    assert outcome.status == 2
    assert "(--threshold)" in outcome.err
    assert run("score", graded, "--threshold", "0.5").status == 0


def test_a_gate(run):
    outcome = run("compare", OLD, NEW, "--require-not-worse", "--margin", "0.2")
    assert outcome.status == 0
    outcome = run("compare", NEW, OLD, "--require-better")
    assert outcome.status == 1


def test_what_needs_an_answer_or_texts_refuses_logs(run, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(NEW.read_bytes())
    for words in (
        ("board", OLD, folder, "-o", tmp_path / "site"),
        ("split", OLD, "-o", tmp_path / "folds"),
        ("crossval", OLD, "--a", "crf:iob2", "--b", "crf:iobes"),
        ("sweep", OLD, OLD),
        ("split", ROOT / "tests" / "data" / "rows" / "gold.parquet", "-o", tmp_path / "folds"),
        ("split", ROOT / "tests" / "data" / "docs" / "gold.spacy", "-o", tmp_path / "folds"),
        ("compare", OLD, NEW, "--train", OLD),
        ("compare", OLD),
    ):
        outcome = run(*words)
        assert outcome.status == 2, words
        assert outcome.err.count("\n") == 1, outcome.err


@pytest.mark.parametrize("name", sorted(p.name for p in LOGS.glob("*")))
@pytest.mark.parametrize("cut", [0, 1, 100, -200])
def test_cut_logs_are_one_line_and_status_2(run, tmp_path, name, cut):
    path = tmp_path / name
    path.write_bytes((LOGS / name).read_bytes()[:cut])
    outcome = run("score", path, "--score-name", "no such score")
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert str(path) in outcome.err
