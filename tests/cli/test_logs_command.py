"""Logs of evaluations on the command line."""

from __future__ import annotations

import json

import pytest
from conftest import ROOT

import probative as pv

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
    assert "mockllm/new leads (accuracy 75.0)" in outcome.out


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


def test_logs_are_runs_without_an_answer(run, refused, write, tmp_path):
    right = {"a": ("1101011010", "1100011110"), "b": ("1111011011", "1101111111", "1111111010")}
    for name, runs in right.items():
        (tmp_path / name).mkdir()
        for number, said in enumerate(runs, start=1):
            records = ({"id": sample, "correct": bool(int(one))} for sample, one in enumerate(said))
            write("".join(json.dumps(r) + "\n" for r in records), f"{name}/run{number}.jsonl")
    words = ("--runs", f"A={tmp_path / 'a'}", "--runs", f"B={tmp_path / 'b'}/*.jsonl")
    outcome = run("compare", *words, "-f", "json")
    assert outcome.status == 0, outcome.err
    found = json.loads(outcome.out)
    # the same as labels that are right where the log says so
    labels = {name.upper(): [list(said) for said in runs] for name, runs in right.items()}
    python = pv.compare(list("1" * 10), labels, metric="accuracy", task="labels")
    for own, other in zip(found["comparisons"], python.comparisons, strict=True):
        assert (own["question"], own["runs"]) == (other.question, {"A": 2, "B": 3})
        assert own["difference"] == pytest.approx(other.difference)
        assert own["pvalue"] == pytest.approx(other.pvalue)
    files = {name.upper(): sorted((tmp_path / name).iterdir()) for name in right}
    assert pv.compare(files).to_dict()["comparisons"] == found["comparisons"]
    ranked = run("rank", *words, "--html", tmp_path / "page.html", "-q", "-f", "json")
    assert [system["name"] for system in json.loads(ranked.out)["ranking"]] == ["B", "A"]
    assert "--gold-column: does not apply to samples" in refused(
        "compare", *words, "--gold-column", "x"
    )
    write("x B-PER\n", "a/tags.conll")
    assert "tags.conll: is no log of samples, and there is no gold" in refused("compare", *words)


def test_logs_of_findings_are_runs(run, write):
    for name in ("a1", "a2", "b1", "b2"):
        missed = [int(name[0] == "a" and i % 3 == 0) for i in range(12)]
        records = ({"id": i, "tp": 2 - fn, "fp": i % 2, "fn": fn} for i, fn in enumerate(missed))
        write("".join(json.dumps(record) + "\n" for record in records), f"{name}.jsonl")
    folder = write("", "empty").parent
    words = ("--runs", f"A={folder}/a?.jsonl", "--runs", f"B={folder}/b?.jsonl")
    for command in ("compare", "rank"):
        outcome = run(command, *words, "-f", "json")
        assert outcome.status == 0, outcome.err
        scores = {s["name"]: s["counts"] for s in json.loads(outcome.out)["systems"]}
        assert scores["A"]["tp"] == 40
        assert scores["B"]["fn"] == 0
