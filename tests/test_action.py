"""The GitHub Action: its steps, run here as a runner would run them."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the action's shell is bash")

GOLD = ["Ann B-PER\nsaw O\n", "York B-LOC\nis O\n"] * 20
WORSE = ["Ann O\nsaw O\n", "York B-LOC\nis O\n"] * 8 + GOLD[16:]


@pytest.fixture(scope="module")
def action():
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


@pytest.fixture
def runner(tmp_path, action):
    """A runner: returns a function that runs the gate's step with inputs, and what it wrote."""
    temp = tmp_path / "runner temp"
    programs = temp / "probative" / "venv" / "bin"
    programs.mkdir(parents=True)
    for name, words in (("probative", "-P -m probative "), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} {words}"$@"\n')
        (programs / name).chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    for name, sentences in (("gold", GOLD), ("old", GOLD), ("new", WORSE)):
        (work / f"{name}.conll").write_text("\n".join(sentences))
    (step,) = [step for step in action["runs"]["steps"] if step.get("id") == "gate"]

    def run(**given):
        usual = {name: entry.get("default", "") for name, entry in action["inputs"].items()}
        inputs = {**usual, "gold": "gold.conll", "baseline": "old.conll", "candidate": "new.conll",
                  **given}  # fmt: skip
        files = {name: tmp_path / name for name in ("summary.md", "output.txt")}
        for file in files.values():
            file.unlink(missing_ok=True)
        environment = {
            **os.environ,
            **{
                name: re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value)[1]
                for name, value in step["env"].items()
            },
            "RUNNER_TEMP": str(temp),
            "GITHUB_STEP_SUMMARY": str(files["summary.md"]),
            "GITHUB_OUTPUT": str(files["output.txt"]),
        }
        environment |= {name: inputs[environment[name]] for name in step["env"]}
        done = subprocess.run(
            # as GitHub calls it for `shell: bash`
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        written = [f.read_text() if f.exists() else "" for f in files.values()]
        output = dict(line.split("=", 1) for line in written[1].splitlines())
        return done, written[0], output

    run.work = work
    return run


def test_what_is_given_is_never_part_of_a_script(action):
    for step in action["runs"]["steps"]:
        if "run" in step:
            assert "${{" not in step["run"]
            assert step["shell"] == "bash"
    assert action["runs"]["using"] == "composite"
    used = re.findall(r"inputs\.(\w+)", (ROOT / "action.yml").read_text())
    assert set(used) == set(action["inputs"])
    for entry in (*action["inputs"].values(), *action["outputs"].values()):
        assert entry["description"]


def test_a_gate_that_holds(runner):
    done, summary, output = runner(baseline="new.conll", candidate="old.conll")
    assert done.returncode == 0, done.stdout + done.stderr
    assert summary.startswith("## ✅ The gate holds\n\n    ")
    assert "    --require-not-worse PASSED: old against new, F1: P(B − A > 0 points) =" in summary
    assert "| system | precision | recall |" in summary
    assert "points higher than new (F1 100.0 against" in summary
    assert output["passed"] == "true"
    assert output["verdict"].startswith("--require-not-worse PASSED: old against new")
    with open(output["page"], encoding="utf-8") as page:  # noqa: PTH123
        assert "<!doctype html>" in page.read(100).lower()


def test_a_gate_that_does_not_hold_still_leaves_its_page(runner):
    done, summary, output = runner(margin="1pt", confidence="0.9")
    assert done.returncode == 1
    assert summary.startswith("## ❌ The gate does not hold")
    assert "P(B − A > −1 point)" in summary
    assert output["passed"] == "false"
    assert output["page"].endswith("report.html")


def test_bad_input_is_an_error_and_no_verdict(runner):
    runner(baseline="new.conll", candidate="old.conll")  # a page from before is not shown again
    done, summary, output = runner(gold="missing.conll")
    assert done.returncode == 2
    assert summary.startswith("## ⚠️ Nothing could be compared")
    assert "missing.conll" in summary
    assert output == {"passed": "", "verdict": ""}


def test_a_file_may_be_called_like_a_command_of_the_runner(runner):
    done, _, _ = runner(candidate="::error::pwned")
    lines = done.stdout.splitlines()
    stopped = re.fullmatch(r"::stop-commands::(\w{32})", lines[0])
    assert lines[1].startswith("::error::pwned")
    assert lines[-1] == f"::{stopped[1]}::"


def test_several_candidates_and_options(runner):
    done, summary, _ = runner(
        gold="gold.conll\n",
        baseline="new.conll",
        candidate="old.conll\ngold.conll\n",
        gate="fail-if-worse",
        args='--metric recall --names "the old,the new,the gold" --by item',
    )
    assert done.returncode == 0, done.stdout
    assert summary.count("--fail-if-worse PASSED: ") == 2
    assert "the new against the old, recall" in summary


HOSTILE = [
    "$(touch pwned).conll",
    "`touch pwned`.conll",
    "a; touch pwned #.conll",
    'it\'s "quoted" && touch pwned.conll',
    "${HOME} | touch pwned.conll",
    "*",
    "--help",
    "-",
    "a\\nb.conll",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_names(runner, name):
    (runner.work / name).write_text("\n".join(GOLD))
    before = sorted(path.name for path in runner.work.iterdir())
    done, summary, output = runner(candidate=name, baseline="new.conll")
    assert sorted(path.name for path in runner.work.iterdir()) == before
    assert done.returncode == 0, done.stdout
    assert output["passed"] == "true"
    assert summary


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"args": "; touch pwned"}, ";: there is no such file"),
        ({"args": "$(touch pwned)"}, "$(touch: there is no such file"),
        ({"args": "--metric 'f1"}, "args: ValueError: No closing quotation"),
        ({"args": "--metric\n'`touch pwned`'"}, "unknown '`touch pwned`'"),
        ({"margin": "0; touch pwned"}, "margin"),
        ({"margin": "1"}, "margin"),
        ({"confidence": "$(touch pwned)"}, "confidence"),
        ({"gate": "fail-if-worse; touch pwned"}, "gate: expected fail-if-worse"),
        ({"gold": "gold.conll\ntouch pwned"}, "gold, baseline: several lines"),
        ({"candidate": ""}, "expected gold, baseline and candidate"),
        ({"gold": ""}, "expected gold, baseline and candidate"),
        ({"candidate": "new.conll\n::set-output name=passed::true\npassed=true"}, "passed"),
    ],
)
def test_hostile_inputs_are_refused_and_run_nothing(runner, inputs, words):
    done, _, output = runner(**inputs)
    assert done.returncode == 2
    assert not (runner.work / "pwned").exists()
    assert words in done.stdout + done.stderr
    assert output.get("passed", "") == ""


MODULES = ("shlex", "secrets", "os", "hmac", "base64", "random", "venv", "pip", "sitecustomize")


def test_modules_of_the_checked_out_tree_are_not_run(runner):
    for name in MODULES:
        (runner.work / f"{name}.py").write_text(f"open('pwned-{name}', 'w')\n")
    done, _, output = runner(baseline="new.conll", candidate="old.conll", args="--metric recall")
    assert sorted(path.name for path in runner.work.glob("pwned*")) == []
    assert done.returncode == 0, done.stdout + done.stderr
    assert output["passed"] == "true"


def test_no_python_of_the_action_looks_into_the_working_directory(action):
    calls = [
        line
        for step in action["runs"]["steps"]
        for line in step.get("run", "").splitlines()
        if re.search(r"python\"? -|PYTHON\"? -", line)
    ]
    assert len(calls) == 4
    for line in calls:
        assert re.search(r"(python|PYTHON)\"? -I -", line), line


@pytest.mark.parametrize("args", ["--help", "--version"])
def test_without_a_verdict_nothing_has_passed(runner, args):
    done, summary, output = runner(baseline="new.conll", candidate="old.conll", args=args)
    assert done.returncode == 2
    assert output["passed"] == ""
    assert "The gate holds" not in summary


@pytest.mark.parametrize("args", ["-q", "--names 'x,--require-not-worse PASSED: '"])
def test_a_verdict_is_found_whatever_else_is_said(runner, args):
    done, _, output = runner(baseline="new.conll", candidate="old.conll", args=args)
    assert done.returncode == 0, done.stdout
    assert output["passed"] == "true"
    done, _, output = runner(args=args)
    assert done.returncode == 1
    assert output["passed"] == "false"


def test_the_page_on_gates_shows_every_input(action):
    yaml = pytest.importorskip("yaml")
    page = (ROOT / "docs" / "gates.md").read_text(encoding="utf-8")
    workflow = yaml.safe_load(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1])
    (step,) = [
        step
        for step in workflow["jobs"]["compare"]["steps"]
        if step.get("uses", "").startswith("OWNER/probative@")
    ]
    assert set(step["with"]) <= set(action["inputs"])
    table = page[page.index("| input | meaning") :].partition("\n\n")[0]
    assert set(re.findall(r"`([a-z]+)`", "".join(re.findall(r"^\| (.*?) \|", table, re.M)))) == set(
        action["inputs"]
    )
    for name in action["outputs"]:
        assert f"`{name}`" in page
