"""A margin of one point, however it is written; what could be misread is refused in one line."""

from __future__ import annotations

import json
from html import unescape

import pytest

GOLD = "yes\nno\nno\nyes\n" * 10
OLD = "yes\nno\nyes\nyes\n" * 10
NEW = "yes\nno\nno\nyes\n" * 9 + "no\nno\nno\nyes\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in (("gold.txt", GOLD), ("old.txt", OLD), ("new.txt", NEW)):
        (tmp_path / name).write_text(content)
    return "gold.txt", "old.txt", "new.txt"


@pytest.mark.parametrize("margin", ["1pt", "1 pt", "1pts", "1pp", "1point", "1%", "0.01", ".01"])
def test_one_point(run, files, margin, tmp_path):
    asked = ("compare", *files, "--require-not-worse", "--margin", margin)
    outcome = run(*asked, "-q", "--html", "page.html")
    assert outcome.status == 0
    line = "require-not-worse PASSED: new against old, F1: P(B − A > −1 point) = "
    assert outcome.err.startswith(f"--{line}")
    assert line[1:] in unescape((tmp_path / "page.html").read_text(encoding="utf-8"))
    (gate,) = json.loads(run(*asked, "-f", "json").out)["gates"]
    assert (gate["margin"], gate["margin_points"], gate["passed"]) == (0.01, 1.0, True)
    assert set(gate) >= {"kind", "margin", "confidence", "probability", "passed"}


@pytest.mark.parametrize(
    ("margin", "message"),
    [
        ("1", "--margin: 1.0 is not below 1; expected a fraction of 1: 0.01 is one point, as are"),
        ("14.5", "--margin: 14.5 is not below 1; expected a fraction of 1"),
        ("100%", "--margin: 1.0 is not below 1; expected a fraction of 1"),
        ("-0.01", "--margin: -0.01 is not a finite number >= 0"),
        ("-1pt", "--margin: -0.01 is not a finite number >= 0"),
        ("nan", "'nan' is not a number"),
        ("1 percent of it", "'1 percent of it' is not a number"),
        ("%", "'%' is not a number"),
    ],
)  # fmt: skip
def test_what_could_be_misread(run, files, margin, message):
    outcome = run("compare", *files, "--fail-if-worse", f"--margin={margin}")
    assert outcome.status == 2
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_ropes_and_differences_in_points(run, files):
    answers = [run("compare", *files, "--rope", r, "-f", "json").out for r in ("0.007", "0.7pt")]
    assert answers[0] == answers[1]
    plans = [run("plan", *files, "--difference", d, "-f", "json").out for d in ("0.05", "5%")]
    assert plans[0] == plans[1]
    for difference in ("1", "-2"):
        outcome = run("plan", *files, f"--difference={difference}")
        assert outcome.status == 2
        assert "is not below 1; expected a fraction of 1: 0.01 is one point" in outcome.err


def test_names_of_systems(run, files):
    gold, old, new = files
    for command in ("score", "compare", "plan"):
        named = json.loads(run(command, gold, f"A={old}", f"B={new}", "-f", "json").out)
        listed = json.loads(run(command, *files, "--names", "A,B", "-f", "json").out)
        assert named == listed
    assert (named["a"], named["b"]) == ("A", "B")
    assert (
        "--names: the systems have names already"
        in run("plan", gold, f"A={old}", new, "--names", "A,B").err
    )
    assert "--names: 'x' twice" in run("plan", *files, "--names", "x,x").err
    assert "expected NAME=FILE" in run("score", gold, "=old.txt").err
    assert run("check", "some=gold.txt").status == 0


def test_a_comparison_tells_how_far_it_is(files):
    import probative as pv

    seen = []
    pv.compare(*files, files[1], metric=["f1", "recall"], report=lambda *done: seen.append(done))
    assert seen == [(0, 4), (1, 4), (2, 4), (3, 4)]
    with pytest.raises(ValueError, match="report: 1; expected a function of two numbers"):
        pv.compare(*files, report=1)
