"""``probative sample``: one line where something is wrong, and never a file lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

OLD = "Ada{0} B-PER\nmet O\n\nBob{0} O\nsaw O\nRome{0} B-LOC\n\nso O\n\n"
NEW = "Ada{0} B-PER\nmet O\n\nBob{0} B-PER\nsaw O\nRome{0} O\n\nso O\n\n"


@pytest.fixture
def files(write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("old.conll", OLD), ("new.conll", NEW)):
        write("".join(text.format(i) for i in range(30)), name)
    return "old.conll", "old.conll", "new.conll"


def test_sample_and_more(run, files, tmp_path):
    first = run("sample", *files, "--size", 20, "-o", "s.conll", "--explain")
    assert first.status == 0
    assert " 2 items in dispute " in first.out
    assert (
        "20 sentences of 90 chosen for the difference between old and new: equivalent" in first.out
    )
    assert first.err.endswith("wrote s.conll\nwrote s.design.json\n")
    assert "is the gold file itself" not in first.err
    assert "B-" not in (tmp_path / "s.conll").read_text()
    more = run("sample", "--add", 10, "s.design.json", "-o", "more.conll", "-q", "-f", "json")
    answer = json.loads(more.out)
    assert (answer["command"], answer["labelled"], answer["new"]) == ("sample", 30, 10)
    assert answer["files"] == {"sample": "more.conll", "design": "s.design.json"}
    assert sum(stratum["new"] for stratum in answer["strata"]) == 10
    assert len(answer["units"]) == 10
    assert (tmp_path / "more.conll").read_text().count("\n\n") == 10
    assert more.err == ""


@pytest.mark.parametrize("form", ["markdown", "latex", "csv"])
def test_every_form(run, files, form):
    done = run("sample", *files, "--size", 20, "-o", "s.conll", "--explain", "-f", form)
    assert done.status == 0
    assert "in dispute" in done.out


def test_page(run, files, tmp_path):
    run("sample", *files, "--size", 20, "-o", "s.conll", "--html", "page.html")
    assert "equivalent to about" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--size", "91"], "probative: --size: 91, but the pool has 90 sentences; expected at"),
        (["--size", "0"], "probative: --size: 0 is not a whole number >= 2"),
        (["--size", "-3"], "probative sample: '--size': '-3' is not a whole number >= 0"),
        ([], "probative: --size: missing; expected how many units to annotate"),
        (["--size", "9", "--for", "fun"], "probative: --for: unknown 'fun'; expected one of score"),
        (["--size", "9", "--by", "item"], "probative: --by: 'item' is no unit of these outputs"),
        (["--size", "9", "--by", "word"], "probative: --by: unknown 'word'; expected one of"),
        (["--size", "9", "--keep", "2"], "old.conll: column 2 holds tags, which annotators must"),
        (["--size", "9", "--scores", "2"], "probative: --scores: old.conll, column 2: item 1 is"),
        (["--size", "9", "--pilot", "none"], "none: there is no such file"),
        (["--size", "9", "--judge", "none"], "none: there is no such file"),
        (["--size", "9", "--task", "segmentation"], "probative: systems: old.conll is a segmen"),
        (
            ["--add", "3"],
            "old.conll: is not JSON, or is incomplete; expected the whole design",
        ),
        (["--size", "9", "--html", "s.design.json"], "s.design.json: is the design; expected"),
        (["--size", "9", "--html", "s.conll"], "s.conll: cannot be both --html and --output"),
        (["--size", "9", "-o", "old.conll"], "old.conll: is an input; expected another file for"),
    ],
)
def test_one_line_and_no_file(run, files, tmp_path, words, line):
    before = sorted(tmp_path.iterdir())
    done = run("sample", *files, "-o", "s.conll", *words)
    assert (done.status, done.out) == (2, "")
    told = done.err.strip().splitlines()[-1]
    assert told.startswith(line), told
    assert sorted(tmp_path.iterdir()) == before


def test_standard_input_cannot_be_read_again(run, files):
    done = run("sample", files[0], "-", files[2], "--size", 9, "-o", "s.conll")
    assert done.status == 2


def test_one_output_alone_is_no_pool_and_system(run, files):
    done = run("sample", files[0], "--size", 9, "-o", "s.conll")
    assert done.err == "probative: A: missing; expected the output of a system beside the pool\n"


def test_names_of_systems(run, files):
    done = run("sample", files[0], "ours=old.conll", "new.conll", "--size", 9, "-o", "s.conll")
    assert "the difference between ours and new" in done.out
    again = run("sample", *files, "--names", "x,y", "--size", 9, "-o", "t.conll")
    assert "the difference between x and y" in again.out


def test_a_design_is_whole_after_a_kill(files, run, tmp_path):
    """Killed at any moment, the design is the old one or the new one."""
    assert run("sample", *files, "--size", 10, "-o", "s.conll").status == 0
    for number, delay in enumerate((0.2, 0.5, 0.9)):
        words = ["sample", "--add", "2", "s.design.json", "-o", f"more{number}.conll", "-q"]
        process = subprocess.Popen([sys.executable, "-m", "probative", *words], cwd=tmp_path)
        time.sleep(delay)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        design = json.loads((tmp_path / "s.design.json").read_text())
        assert sum(map(sum, design["batches"])) in range(10, 18, 2)


def test_confidences_of_a_table(run, write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    share = [i % 40 / 40 for i in range(400)]
    rows = [(i, f"text {i}", "yes" if p > 0.5 else "no", p) for i, p in enumerate(share)]
    write("id,text,pred,p\n" + "".join(f"{i},{text},{y},{p}\n" for i, text, y, p in rows), "a.csv")
    done = run("sample", "a.csv", "a.csv", "--scores", "p", "--size", 60, "-o", "s.csv",
               "--explain")  # fmt: skip
    assert done.status == 0
    assert "yes, p " in done.out
    assert "from confidences" in done.out
    assert (tmp_path / "s.csv").read_text().startswith("id,text,label\n")
    design = json.loads((tmp_path / "s.design.json").read_text())
    assert (design["scores"], design["reading"]["positive"]) == ("p", "yes")
    more = run("sample", "--add", 5, "s.design.json", "-o", "more.csv")
    assert more.status == 0
