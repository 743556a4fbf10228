from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import probative as pv

COUNTS = ("--tp", 77, "--fp", 44, "--fn", 10)


def test_text_shows_points(run):
    outcome = run("interval", *COUNTS)
    assert outcome.status == 0
    assert "74.0 [66.9, 80.1]" in outcome.out
    assert outcome.err == ""


def test_json_is_the_contract(run):
    answer = json.loads(run("interval", *COUNTS, "--tn", 702, "--format", "json").out)
    assert list(answer) == ["command", "version", "signature", "counts", "intervals"]
    assert answer["command"] == "interval"
    assert answer["version"] == pv.__version__
    assert answer["signature"] == (
        f"probative:{pv.__version__}|precision,recall,f1|wilson,wilson-indirect|level:0.95"
    )
    assert answer["counts"] == {"tp": 77, "fp": 44, "fn": 10, "tn": 702}
    assert [entry["metric"] for entry in answer["intervals"]] == ["precision", "recall", "f1"]
    found = pv.interval(pv.Counts(77, 44, 10))
    assert answer["intervals"][2] == found.to_dict()


def test_undefined_is_null_in_json_and_a_dash_in_text(run):
    entry = json.loads(run("interval", "--tp", 0, "--fp", 0, "--fn", 3, "-f", "json").out)[
        "intervals"
    ][0]
    assert entry["metric"] == "precision"
    assert entry["estimate"] is None
    assert (entry["low"], entry["high"]) == (0, 1)
    assert "undefined" in entry["note"]
    assert "–" in run("interval", "--tp", 0, "--fp", 0, "--fn", 3).out


def test_all_methods_of_all_metrics(run):
    words = "precision,recall,f1,fbeta,jaccard,accuracy,specificity,npv"
    answer = json.loads(
        run("interval", *COUNTS, "--tn", 5, "--metric", words, "--method", "all", "-f", "json").out
    )
    assert len(answer["intervals"]) == 6 * 6 + 7 + 7
    options = ("--metric", "fbeta", "--beta", 2, "--method", "all", "-f", "json")
    answer = json.loads(run("interval", *COUNTS, *options).out)
    assert [entry["method"] for entry in answer["intervals"]] == ["logit", "bayes", "wald"]
    assert "beta:2" in answer["signature"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "name,tp,fp,fn\nx,77,44,10\ny,0,1,2\n"),
        ("a.tsv", "TP\tFP\tFN\r\n77\t44\t10\r\n\r\n0\t1\t2"),
        ("a.json", '[{"tp": 77, "fp": 44, "fn": 10}, {"tp": 0, "fp": 1, "fn": 2}]'),
        ("b.json", '{"rows": [{"tp": 77, "fp": 44, "fn": 10}, {"tp": 0, "fp": 1, "fn": 2}]}'),
        ("c.jsonl", '{"tp": 77, "fp": 44, "fn": 10}\n\n{"tp": 0, "fp": 1, "fn": 2}\n'),
        ("d.csv", "\ufefftp;fp;fn\n77;44;10\n0;1;2\n"),
    ],
)
def test_many_tables_from_a_file(run, tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    answer = json.loads(run("interval", "--counts", path, "--metric", "f1", "-f", "json").out)
    assert [row["counts"] for row in answer["rows"]] == [
        {"tp": 77, "fp": 44, "fn": 10},
        {"tp": 0, "fp": 1, "fn": 2},
    ]
    assert answer["rows"][0]["intervals"][0] == pv.interval(pv.Counts(77, 44, 10)).to_dict()
    lines = list(csv.DictReader(io.StringIO(run("interval", "--counts", path, "-f", "csv").out)))
    assert len(lines) == 6
    assert float(lines[2]["low"]) == pv.interval(pv.Counts(77, 44, 10)).low
    assert run("interval", "--counts", path).out.count("wilson-indirect") == 2


def test_an_answer_in_json_can_be_read_again(run, tmp_path):
    path = tmp_path / "answer.json"
    (tmp_path / "in.csv").write_text("tp,fp,fn,tn\n1.5,2,3,4\n5,6,7,8\n")
    path.write_text(run("interval", "--counts", tmp_path / "in.csv", "-f", "json").out)
    again = json.loads(run("interval", "--counts", path, "-f", "json").out)
    assert again == json.loads(path.read_text())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("tp,fp\n1,2\n", ":1: no column 'fn' among 'tp, fp'; expected tp, fp, fn"),
        ("tp,fp,fn\n1,two,3\n", ":2: fp is 'two'; expected a number"),
        ("tp,fp,fn\n1,2,3\n\n4,-5,6\n", ":4: fp is '-5'; expected a number >= 0"),
        ("tp,fp,fn\n1,2\n", ":2: 2 cells; expected 3, as in the header"),
        ("tp,fp,fn\n1,inf,2\n", ":2: fp is 'inf'; expected a number >= 0"),
        ("", ": is empty; expected a header"),
        ("  \n", ": is empty"),
        ("tp,fp,fn\n", ": there is a header, but no row"),
        ("[]", ": there is a header, but no row"),
        ("[1, 2]", ":1: found 1; expected an object"),
        ('{"tp": 1, "fp": 2, "fn": 3}\n{"tp": 1', """:2: '{"tp": 1' is not JSON"""),
        ('[{"tp": 1, "fp": null, "fn": 3}]', ":1: fp is None; expected a number"),
        ('[{"tp": 1, "fp": true, "fn": 3}]', ":1: fp is True; expected a number"),
        ("[" * 100_000, ":1: '" + "[" * 60 + "…' is not JSON (too deep or too large)"),
    ],
)
def test_bad_files_are_named_with_line_and_remedy(refused, tmp_path, content, message):
    path = tmp_path / "counts.csv"
    path.write_text(content)
    line = refused("interval", "--counts", path)
    assert line.startswith(f"{path}{message}"), line


@pytest.mark.parametrize("above", ["  \n", "\t\n", ",,,,\n", "\r\n \r\n"])
def test_blank_lines_above_the_header_are_passed_over(run, tmp_path, above):
    path = tmp_path / "counts.csv"
    path.write_text("tp,fp,fn\n1,2,3\n")
    expected = run("interval", "--counts", path, "-f", "json", "-q")
    path.write_text(f"{above}tp,fp,fn\n , \n1,2,3\n")
    assert expected.status == 0
    assert run("interval", "--counts", path, "-f", "json", "-q").out == expected.out


def test_no_flag_is_named_that_the_command_lacks(refused, tmp_path):
    (tmp_path / "counts.csv").write_text("tp,fp,fn\n# a\n1,2,3\n")
    line = refused("interval", "--counts", tmp_path / "counts.csv")
    assert line.endswith(":2: 1 cell; expected 3, as in the header")


def test_files_that_cannot_be_read(refused, tmp_path):
    assert refused("interval", "--counts", tmp_path / "no").endswith("there is no such file")
    assert "is a directory" in refused("interval", "--counts", tmp_path)
    (tmp_path / "latin").write_bytes(b"tp,fp,fn\n1,2,\xe9\n")
    assert "latin:2: byte 0xe9 is not UTF-8" in refused("interval", "--counts", tmp_path / "latin")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--tp", -3, "--fp", 1, "--fn", 1), "probative: --tp: -3 is not a finite number >= 0"),
        ((*COUNTS, "--level", 2), "probative: --level: 2.0 is not between 0 and 1"),
        ((*COUNTS, "--method", "wilsn"), "did you mean 'wilson'?"),
        ((*COUNTS, "--metric", "recal"), "did you mean 'recall'?"),
        ((*COUNTS, "--format", "jsn"), "did you mean 'json'?"),
        ((*COUNTS, "--metric", "npv"), "npv needs tn"),
        (("--tp", "x"), "probative interval: '--tp': 'x' is not a number"),
        ((*COUNTS, "--seed", "x"), "'x' is not a whole number"),
        (("--tp", 1), "--fp: missing; expected --tp, --fp and --fn, or --counts FILE"),
        ((*COUNTS, "--counts", "f"), "--counts: cannot be combined with --tp, --fp, --fn"),
        (("--tp",), "requires an argument"),
        (("--tq", 3), "No such option: --tq"),
        ((*COUNTS, "word"), "unexpected extra argument"),
    ],
)
def test_bad_usage_is_one_line(refused, arguments, message):
    assert message in refused("interval", *arguments)


def test_misspelt_commands(refused):
    assert "did you mean 'interval'?" in refused("intervl")
    assert "did you mean 'coverage'?" in refused("study", "coverge")


def test_no_arguments_show_the_help(run):
    assert run().out.startswith("Usage: probative [OPTIONS] COMMAND")
    assert "coverage" in run("study").out


def test_version_and_module():
    installed = Path(sys.executable).with_name("probative")
    for command in ([sys.executable, "-m", "probative"], [installed]):
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout == f"probative {pv.__version__}\n"


def test_standard_input():
    command = [sys.executable, "-m", "probative", "interval", "--counts", "-", "-f", "csv"]
    done = subprocess.run(
        command, input="tp,fp,fn\n1,2,3\n", capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(
        "row,tp,fp,fn,metric,method,level,estimate,low,high\n1,1,2,3,precision"
    )


def test_a_closed_pipe_is_silent():
    script = f"{sys.executable} -m probative study coverage --n 25 -f csv | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {script}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_an_internal_error_is_told_as_such(run, monkeypatch):
    import probative.inference.intervals as module

    def broken(*_, **__):
        raise ZeroDivisionError("oh\nno")

    monkeypatch.setattr(module, "interval", broken)
    outcome = run("interval", *COUNTS)
    assert outcome.status == 3
    assert outcome.err.startswith(
        "probative: internal error, please report it: ZeroDivisionError: oh no"
    )
    monkeypatch.setattr(
        module, "interval", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    assert run("interval", *COUNTS).status == 130


def test_the_page_is_written_whole_or_not_at_all(run, refused, tmp_path):
    page = tmp_path / "page.html"
    outcome = run("interval", *COUNTS, "--html", page)
    assert outcome.err == f"wrote {page}\n"
    assert page.read_text().startswith("<!doctype html>")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    line = refused("interval", *COUNTS, "--html", tmp_path / "no" / "page.html")
    assert line.endswith("cannot be written: its folder does not exist")
    assert run("interval", *COUNTS, "--html", page, "--quiet").err == ""


@pytest.mark.slow
def test_the_study_command(run, tmp_path):
    answer = json.loads(run("study", "coverage", "--n", "25,50", "-f", "json").out)
    assert set(answer["conditions"][0]) == {
        *("scenario", "n", "method", "coverage", "length", "overshoot", "degeneracy"),
    }
    assert len(answer["conditions"]) == 3 * 2 * 4
    own = ("--cells", "0.2,0.3,0.1", "--n", 30, "--method", "jeffreys", "--level", 0.9)
    answer = json.loads(run("study", "coverage", *own, "-f", "json").out)
    assert [c["scenario"] for c in answer["conditions"]] == ["0.2,0.3,0.1"]
    assert 0.85 < answer["conditions"][0]["coverage"] < 0.95
    for plot, endings in (
        ("coverage", ("png", "svg", "pdf")),
        ("length", ["png"]),
        ("heatmap", ["svg"]),
    ):
        for ending in endings:
            path = tmp_path / f"{plot}.{ending}"
            assert (
                run("study", "coverage", "--n", "25", "--plot", plot, "--figure", path).status == 0
            )
            assert path.stat().st_size > 5000


@pytest.mark.slow
def test_the_study_prints_the_published_figures_beside_ours(run):
    out = run("study", "coverage").out
    assert out.count("pub.") == 16 + 1
    assert "The largest difference is 0.0008." in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--n", "ten"), "'--n': 'ten' is not a whole number"),
        (("--cells", "0.5"), "--cells: '0.5'; expected three or four numbers"),
        (("--cells", "0.5,0.6,0.7"), "add up to"),
        (("--figure", "x.png", "--plot", "heat"), "did you mean 'heatmap'?"),
        (("--n", "5", "--figure", "x.gif"), "expected a name ending in .png, .svg or .pdf"),
    ],
)
def test_bad_study_usage(refused, arguments, message):
    assert message in refused("study", "coverage", *arguments)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("tp,fp,fn\n1_000,2,3\n", "tp is '1_000'; expected a number >= 0"),
        ("tp,fp,fn\n\u0663,2,3\n", "expected a number >= 0"),
        ("tp,fp,fn\n1e300,2,3\n", "tp is '1e300'; expected a number >= 0 of at most 2**53"),
        ("tp,fp,fn\n" + "9" * 5000 + ",2,3\n", "expected a number >= 0"),
        ('[{"tp": ' + "9" * 5000 + ', "fp": 1, "fn": 1}]', "not JSON (too deep or too large)"),
        ('[{"tp": ' + "9" * 400 + ', "fp": 1, "fn": 1}]', "expected a number >= 0"),
        ('[{"tp": 1e300, "fp": 1, "fn": 1}]', "of at most 2**53"),
        ('{"rows": ' + "[" * 100_000, "not JSON"),
        ("tp,fp,fn,tp\n1,2,3,4\n", "2 columns 'tp'; expected one"),
    ],
)
def test_numbers_that_are_no_counts(refused, write, content, expected):
    path = write(content, "counts.csv")
    message = refused("interval", "--counts", path)
    assert message.startswith(f"{path}:")
    assert expected in message
    assert message.count("counts.csv") == 1
    assert len(message) < 400
    assert expected in refused("bayes", path)
