"""``probative board``."""

from __future__ import annotations

import csv
import io
import json

import pytest

import probative as pv

ANN, YORK = "Ann\tB-PER\nlives\tO\n\n", "in\tO\nYork\tB-LOC\n\n"
GOLD = (ANN + YORK) * 15
OLD = (ANN.replace("B-PER", "O") + YORK) * 10 + (ANN + YORK.replace("B-LOC", "O")) * 5
NEW = (ANN + YORK) * 13 + (ANN + YORK.replace("LOC", "GPE")) * 2


@pytest.fixture
def call(run, write, tmp_path):
    """Call the command on two submissions and one that does not fit."""
    (tmp_path / "in").mkdir()
    gold = write(GOLD, "gold.conll")
    write(OLD, "in/old.conll")
    write(NEW, "in/new.conll")
    write(GOLD.replace("Ann", "Bob"), "in/odd.conll")

    def board(*words):
        return run("board", gold, tmp_path / "in", "-o", tmp_path / "site", "--jobs", 1, *words)

    return board


def test_json_contract(call):
    outcome = call("-f", "json")
    assert outcome.status == 0, outcome.err
    answer = json.loads(outcome.out)
    assert answer["command"] == "board"
    assert answer["version"] == pv.__version__
    assert answer["signature"] == (
        f"probative:{pv.__version__}|board|entities|iob2|conlleval|f1|exact-by-sentence|holm|"
        f"paired-posterior|level:0.95|seed:0"
    )
    assert answer["submissions"] == [
        {"name": "new", "file": "new.conll", "status": "scored"},
        {
            "name": "odd",
            "file": "odd.conll",
            "status": "refused",
            "error": "line 1: does not fit gold; expected the same sentences and tokens in the "
            "same order",
        },
        {"name": "old", "file": "old.conll", "status": "scored"},
    ]
    assert [system["name"] for system in answer["ranking"]] == ["new", "old"]
    (pair,) = answer["pairs"]
    assert (pair["a"], pair["b"], pair["decided"]) == ("old", "new", True)
    assert answer["summary"] == "new leads (F1 93.3) and is better than old (adjusted p = 0.00331)."
    assert (answer["pairs_tested"], answer["pairs_reused"]) == (1, 0)
    again = json.loads(call("-f", "json").out)
    assert [one["status"] for one in again["submissions"]] == ["reused", "refused", "reused"]
    assert (again["pairs_tested"], again["pairs_reused"]) == (0, 1)
    assert again["ranking"] == answer["ranking"]


def test_the_files_to_download(call, tmp_path):
    answer = json.loads(call("-f", "json").out)
    site = tmp_path / "site"
    published = json.loads((site / "board.json").read_text())
    for key in ("command", "version", "signature", "submissions", "ranking", "pairs", "systems"):
        assert published[key] == answer[key], key

    def rows(name):
        return list(csv.DictReader(io.StringIO((site / name).read_text())))

    assert [row["name"] for row in rows("leaderboard.csv")] == ["new", "old"]
    assert [(row["a"], row["b"]) for row in rows("pairs.csv")] == [("old", "new")]
    assert {row["label"] for row in rows("scores.csv")} == {"", "LOC", "PER"}  # GPE is no gold's
    assert [row["status"] for row in rows("submissions.csv")] == ["scored", "refused", "scored"]


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv"])
def test_every_format(call, form):
    outcome = call("-f", form, "-q")
    assert outcome.status == 0
    assert outcome.err == ""
    assert "does not fit gold" in outcome.out
    assert "new" in outcome.out


def test_what_was_done_is_said(call, tmp_path):
    outcome = call()
    assert "3 submissions: 2 scored, 0 reused, 1 refused; 1 pair tested, 0 reused." in outcome.out
    assert outcome.err == f"wrote {tmp_path / 'site'}\n"
    assert "2 reused" in call().out


def test_a_page_besides(call, tmp_path):
    assert call("--html", tmp_path / "one.html").status == 0
    assert "new leads" in (tmp_path / "one.html").read_text()
    before = (tmp_path / "site" / "index.html").read_text()
    outcome = call("--html", tmp_path / "site" / "index.html")
    assert outcome.status == 2
    assert "lies in the site, which is replaced" in outcome.err
    assert (tmp_path / "site" / "index.html").read_text() == before
    about = tmp_path / "about.md"
    about.write_text("hello")
    outcome = call("--about", about, "--html", about)
    assert outcome.status == 2
    assert "is an input; expected another file for --html" in outcome.err
    assert about.read_text() == "hello"


def test_bad_calls(run, refused, write, tmp_path):
    gold = write(GOLD, "gold.conll")
    (tmp_path / "in").mkdir()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "poem.txt").write_text("roses")
    assert "Missing option '--output'" in refused("board", gold, tmp_path / "in")
    said = refused("board", gold, tmp_path / "in", "-o", tmp_path / "mine")
    assert said.startswith(f"{tmp_path / 'mine'}: is not the site of a board")
    said = refused("board", gold, tmp_path / "in", "-o", tmp_path / "s", "--pairs", "few")
    assert said.startswith("probative: --pairs: ")
    said = refused("board", gold, tmp_path / "in", "-o", tmp_path / "s", "--max-size", "-1")
    assert said.startswith("probative: --max-size: ")
    said = refused("board", gold, tmp_path / "none", "-o", tmp_path / "s")
    assert said == f"{tmp_path / 'none'}: there is no such folder"
    said = refused("board", "-", tmp_path / "in", "-o", tmp_path / "s")
    assert said == "probative: gold: '-'; expected a path"
    said = refused("board", gold, tmp_path / "in", "-o", tmp_path / "in" / "site")
    assert "one lies in the other" in said
    assert run("board", gold, tmp_path / "in", "-o", tmp_path / "s").status == 0


def test_where_the_command_runs_is_no_site(refused, write, tmp_path, monkeypatch):
    gold = write(GOLD, "gold.conll")
    for name in ("in", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    said = refused("board", gold, tmp_path / "in", "-o", ".")
    assert said == ".: is the current folder; expected another one"


def test_why_a_submission_is_not_scored_names_flags(call, write, tmp_path):
    write("what is this\n", "in/words.conll")
    outcome = call("--show-gold", "-f", "json")
    reasons = {one["name"]: one.get("error") for one in json.loads(outcome.out)["submissions"]}
    assert reasons["odd"].endswith("gold has 'Ann' (--align position ignores tokens)")
    assert "align_by" not in outcome.out + (tmp_path / "site" / "index.html").read_text()
    assert "--align position" in (tmp_path / "site" / "submissions.csv").read_text()
    # in Python it is a keyword
    board = pv.board(tmp_path / "gold.conll", tmp_path / "in", tmp_path / "site", show_gold=True)
    (odd,) = [one for one in board.submissions if one.name == "odd"]
    assert odd.error.endswith("(align_by='position' ignores tokens)")


def test_a_submission_that_holds_the_answer_is_not_scored_by_it(run, write, tmp_path):
    (tmp_path / "all").mkdir()
    gold = write("y\n1\n0\n1\n", "gold.csv")
    write("y,p\n1,0.7\n0,0.2\n1,0.4\n", "all/own.csv")
    board = run("board", gold, tmp_path / "all", "-o", tmp_path / "site", "-q")
    assert "column 'p' may be the output" in " ".join(board.out.split())
    assert "1 refused" in board.out
