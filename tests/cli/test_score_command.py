"""``probative score`` and ``probative check``."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys

import pytest

GOLD = "Ann\tB-PER\nlives\tO\n\nin\tO\nYork\tB-LOC\n"
PRED = "Ann\tB-PER\nlives\tO\n\nin\tO\nYork\tB-ORG\n"


@pytest.fixture
def files(write):
    return write(GOLD, "gold.conll"), write(PRED, "pred.conll")


def test_json_contract(run, files):
    outcome = run("score", *files, "--format", "json")
    assert outcome.status == 0
    answer = json.loads(outcome.out)
    assert answer["command"] == "score"
    assert answer["task"] == "entities"
    assert answer["signature"].startswith("probative:")
    assert "|entities|iob2|conlleval|" in answer["signature"]
    (system,) = answer["systems"]
    assert system["name"] == "pred"
    assert system["counts"] == {"tp": 1, "fp": 1, "fn": 1}
    by_metric = {score["metric"]: score for score in system["scores"]}
    assert list(by_metric)[:3] == ["precision", "recall", "f1"]
    assert by_metric["f1"]["estimate"] == 0.5
    assert {"metric", "method", "level", "estimate", "low", "high"} <= by_metric["f1"].keys()
    assert [entry["label"] for entry in system["by_label"]] == ["LOC", "ORG", "PER"]
    assert system["by_label"][1]["counts"] == {"tp": 0, "fp": 1, "fn": 0}
    undefined = {s["metric"]: s for s in system["by_label"][1]["scores"]}["recall"]
    assert undefined["estimate"] is None


def test_what_was_recognised_is_said_on_standard_error(run, files):
    outcome = run("score", *files)
    assert "columns separated by TAB, tags in column 2 of 2" in outcome.err
    assert "scheme iob2" in outcome.err
    assert run("score", *files, "--quiet").err == ""


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv", "json", "conlleval"])
def test_every_format(run, files, form):
    outcome = run("score", *files, "--format", form, "--quiet")
    assert outcome.status == 0
    assert "50.0" in outcome.out or "0.5" in outcome.out
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(outcome.out)))
        assert [row["metric"] for row in rows if not row["label"]][:3] == [
            "precision",
            "recall",
            "f1",
        ]
        assert {row["label"] for row in rows} == {"", "LOC", "ORG", "PER"}


def test_conlleval_layout(run, files):
    assert run("score", *files, "--format", "conlleval", "-q").out == (
        "processed 4 tokens with 2 phrases; found: 2 phrases; correct: 1.\n"
        "accuracy:  75.00%; precision:  50.00%; recall:  50.00%; FB1:  50.00\n"
        "              LOC: precision:   0.00%; recall:   0.00%; FB1:   0.00  0\n"
        "              ORG: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n"
        "              PER: precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n"
    )


def test_one_file_with_both_columns(run, write):
    path = write("Ann B-PER B-PER B-LOC\nlives O O O\n")
    answer = json.loads(
        run("score", path, "-f", "json", "--columns", "3,4", "--gold-column", 2).out
    )
    assert [s["counts"]["tp"] for s in answer["systems"]] == [1, 0]
    assert [s["name"] for s in answer["systems"]] == ["column 3", "column 4"]


def test_a_table(run, write):
    path = write("y,old,new\n1,0,1\n0,0,0\n1,1,1\n", "t.csv")
    answer = json.loads(
        run("score", path, "--gold-column", "y", "--columns", "old,new", "-f", "json").out
    )
    assert answer["task"] == "labels"
    assert [s["counts"] for s in answer["systems"]] == [
        {"tp": 1, "fp": 0, "fn": 1, "tn": 1},
        {"tp": 2, "fp": 0, "fn": 0, "tn": 1},
    ]


def test_segmentation(run, write):
    gold, pred = write("a bc d\ne f\n", "gold"), write("a b cd\ne f\n", "pred")
    train = write("a e\n", "train")
    outcome = run("score", gold, pred, "--train-words", train, "-f", "json")
    answer = json.loads(outcome.out)
    assert answer["task"] == "segmentation"
    (system,) = answer["systems"]
    scores = {s["metric"]: s["estimate"] for s in system["scores"]}
    assert list(scores) == [
        "recall",
        "precision",
        "f1",
        "tnr",
        "boundary_precision",
        "boundary_recall",
        "boundary_f1",
        "oov_recall",
        "iv_recall",
    ]
    assert scores["recall"] == 0.6
    assert (scores["oov_recall"], scores["iv_recall"]) == (pytest.approx(1 / 3), 1)
    assert system["splitting_bias"] == 1
    assert "Recall leads" in run("score", gold, pred, "-q").out


def test_options(run, files):
    def counts(*options):
        answer = json.loads(run("score", *files, "-f", "json", *options).out)
        return answer["systems"][0]["counts"], answer["signature"]

    assert counts("--ignore-type")[0] == {"tp": 2, "fp": 0, "fn": 0}
    assert "|ignore-type|" in counts("--ignore-type")[1]
    assert counts("--only", "PER")[0] == {"tp": 1, "fp": 0, "fn": 0}
    assert "|only:PER|" in counts("--only", "PER")[1]
    assert counts("--scheme", "iobes")[0] == {"tp": 1, "fp": 1, "fn": 1}
    assert counts("--repair", "strict", "--scheme", "iobes")[0] == {"tp": 0, "fp": 0, "fn": 0}
    assert counts("--level", "0.9")[1].endswith("level:0.9")
    text = run("score", *files, "--overlap", "--names", "mine", "-q").out
    assert "Overlaps: mine" in text
    assert "spurious" in text


def test_html_page(run, files, tmp_path):
    page = tmp_path / "page.html"
    assert run("score", *files, "--html", page).status == 0
    assert "Scores of pred<" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--tag-column", "9"), "there is no column 9; expected 1 to 2"),
        (
            ("--tag-column", "x"),
            "'x' is the name of a column, but these have none; expected its number",
        ),
        (("--task", "ner"), "task: unknown 'ner'"),
        (("--input-format", "xml"), "--input-format: unknown 'xml'"),
        (("--scheme", "iob3"), "scheme: unknown 'iob3'"),
        (("--repair", "lax"), "repair: unknown 'lax'"),
        (("--align", "no"), "--align: unknown 'no'"),
        (("--only", "MISC"), "only: unknown 'MISC'; expected one of LOC, ORG, PER"),
        (("--format", "xml"), "--format: unknown 'xml'"),
        (("--encoding", "klingon"), "encoding: unknown 'klingon'"),
        (("--names", "a,b"), "names: 2 for 1 systems"),
        (("--level", "1.5"), "level: 1.5 is not between 0 and 1"),
    ],
)
def test_wrong_options(refused, files, arguments, message):
    assert message in refused("score", *files, *arguments)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"Ann\tB-PER\n\x00\x00", "is a binary file"),
        (b"Ann\tB-PER\nZo\xeb\tO\n", ":2: byte 0xeb is not UTF-8"),
        (b"Ann\tB-PER\nlives\n\nin\tO\nYork\tO\n", ":2: 'lives' has 1 column"),
        (b"Ann\tB-PER\nlives\tQ\n\nin\tO\nYork\tO\n", ":2: unknown tag 'Q'"),
        (
            b"Ann\tB-PER\nlived\tO\n\nin\tO\nYork\tO\n",
            ":2: token 'lived', gold has 'lives' (--align position ignores tokens)",
        ),
        (b"Ann\tB-PER\nlives\tO\n", "1 sentences, but"),
        (b"a\tNN\nb\tVB\n", ":1: no column holds tags"),
    ],
)
def test_broken_files_are_one_line_and_status_2(refused, files, write, content, message):
    path = write(content, "broken")
    line = refused("score", files[0], path, "--quiet")
    assert message in line
    assert line.startswith(str(path))


def test_directories_and_missing_files(refused, files, tmp_path):
    assert refused("score", files[0], tmp_path).endswith("is a directory; expected a file")
    assert refused("score", files[0], tmp_path / "no").endswith("there is no such file")
    assert "missing" in refused("score").lower()


def test_check_a_good_file(run, files):
    outcome = run("check", files[0])
    assert outcome.status == 0
    assert "No problems found." in outcome.out
    answer = json.loads(run("check", files[0], "--format", "json").out)
    assert answer["input_format"] == "columns"
    assert answer["facts"] == {
        "sentences": 2,
        "tokens": 4,
        "columns": 2,
        "scheme": "iob2",
        "spans": 2,
    }
    assert answer["labels"] == {"LOC": 1, "PER": 1}
    assert answer["problems"] == []


def test_check_lists_everything_that_is_wrong(run, write):
    path = write("a\tB-X\nb\tI-Y\n\nc\nd\tQ\ne\tQ\n\nf\tB-X\n\tO\ng\tI-X\n")
    outcome = run("check", path)
    assert outcome.status == 1
    for expected in (
        ":4: 'c' has 1 column",
        ":5: unknown tag 'Q', 2 times",
        ":2: tag 'I-Y' after 'B-X' breaks the rules of iob2",
        ":9: the token is empty",
        ":10: tag 'I-X' after 'O' breaks the rules of iob2",
    ):
        assert f"{path}{expected}" in outcome.out, expected
    many = write("".join("x I-A\n\n" for _ in range(100)))
    assert run("check", many, "--scheme", "iob2").out.count("breaks the rules") == 20
    assert "80 more tags out of place" in run("check", many, "--scheme", "iob2").out


@pytest.mark.parametrize(
    ("name", "content", "kind", "facts"),
    [
        ("a", "a b\n\nc\n", "segmented", {"sentences": 3, "words": 3, "characters": 3}),
        ("a", "spam\nham\n", "labels", {"items": 2}),
        ("a.csv", "label\nspam\n", "table", {"items": 1}),
        ("a", '{"text": "ab", "spans": [[0, 1, "A"]]}', "jsonl", {"texts": 1, "spans": 1}),
        (
            "a",
            "# newdoc\n1\tab" + "\t_" * 8 + "\n",
            "conllu",
            {
                "sentences": 1,
                "tokens": 1,
                "documents": 1,
                "columns": 10,
                "words": 1,
                "characters": 2,
            },
        ),
    ],
)
def test_check_of_every_format(run, write, name, content, kind, facts):
    answer = json.loads(run("check", write(content, name), "--format", "json").out)
    assert answer["input_format"] == kind
    assert answer["facts"] == facts


def test_check_of_json_lines_and_labels_with_problems(run, write):
    path = write('{"text": "ab", "spans": [[0, 9, "A"]]}\n{"spans": []}\n', "a.jsonl")
    outcome = run("check", path)
    assert outcome.status == 1
    assert f"{path}:1: span" in outcome.out
    assert f"{path}:2: the object has no text" in outcome.out
    path = write("a\n\nb\n")
    outcome = run("check", path, "--input-format", "labels")
    assert f"{path}:2: the line is empty; expected a label" in outcome.out
    tokens = run("check", write("a NN\nb VB\n"), "--task", "labels", "-f", "json").out
    assert json.loads(tokens)["labels"] == {"NN": 1, "VB": 1}


def test_figure(run, files, tmp_path):
    path = tmp_path / "scores.svg"
    outcome = run("score", *files, "--figure", path)
    assert outcome.status == 0
    assert f"wrote {path}" in outcome.err
    assert b"<svg" in path.read_bytes()


def test_choices_of_scores_are_in_the_signature(run, write):
    mark, gold, pred = "-DOCSTART-\tO\n\n", "".join([GOLD, "\n"]), "".join([PRED, "\n"])
    files = write((mark + gold) * 6, "gold.conll"), write((mark + pred) * 6, "pred.conll")
    base = ("score", *files, "-q", "-f", "json")
    plain = json.loads(run(*base).out)
    assert (plain["unit"], plain["by"], plain["units"]) == ("sentence", "sentence", 12)
    changed = {
        ("--by", "document"): "by-document",
        ("--by", "item"): "by-item",
        ("--metric", "fbeta", "--beta", "2"): "beta:2",
        ("--metric", "fbeta", "--beta", "0.5"): "beta:0.5",
        ("--method", "bayes"): "bayes",
    }
    signatures = {plain["signature"]}
    for options, words in changed.items():
        answer = json.loads(run(*base, *options).out)
        assert f"|{words}" in answer["signature"]
        assert answer["signature"] not in signatures
        signatures.add(answer["signature"])
    by_document = json.loads(run(*base, "--by", "document").out)
    assert by_document["unit"] == by_document["by"] == "document"
    assert by_document["units"] == 6
    scores = json.loads(run(*base, "--metric", "jaccard").out)["systems"][0]["scores"]
    assert [score["metric"] for score in scores] == ["jaccard", "macro_jaccard"]
    text = run("score", *files, "-v", "--by", "document", "--metric", "jaccard").out
    assert "items of one document" in text
    assert "Jaccard" in text


def test_the_report_of_conlleval_cannot_steer_a_terminal(run, write):
    tags = write("a\tB-\x1b[31mX\nb\tO\n\nc\tB-\u202eY\n")
    outcome = run("score", tags, tags, "-f", "conlleval")
    assert outcome.status == 0
    assert r"\x1b[31mX" in outcome.out
    assert r"\u202eY" in outcome.out
    assert not {"\x1b", "\u202e"} & set(outcome.out + outcome.err)


def test_the_help_says_what_is_random(run):
    words = " ".join(run("score", "--help").out.split())
    assert "--seed N The seed of random numbers: --probabilities draws" in words


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_json_is_json_whatever_the_encoding_of_standard_output(tmp_path, encoding):
    (tmp_path / "gold.txt").write_text("m\u00b2\nja\U0001d11e\nm\u00b2\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "probative", "score", "gold.txt", "gold.txt", "-f", "json", "-q"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
        capture_output=True,
        check=True,
    )
    assert {own["label"] for own in json.loads(done.stdout)["systems"][0]["by_label"]} == {
        "m\u00b2",
        "ja\U0001d11e",
    }
    assert done.stdout.isascii() == (encoding != "utf-8")
