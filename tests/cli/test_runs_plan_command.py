"""``probative plan`` with several runs."""

import json

import numpy as np
import pytest

import probative as pv


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    gold = [["B-PER", "O", "B-LOC"]] * 80

    def write(name, sentences):
        rows = ("\n".join(f"w{i}\t{t}" for i, t in enumerate(s)) for s in sentences)
        (tmp_path / name).write_text("\n\n".join(rows) + "\n")

    write("gold.conll", gold)
    for system, skill, runs in (("a", 0.6, 3), ("b", 0.7, 4)):
        (tmp_path / system).mkdir()
        for k in range(runs):
            right = skill + rng.normal(0, 0.03)
            said = [[t if rng.random() < right else "O" for t in s] for s in gold]
            write(f"{system}/{k}.conll", said)
    monkeypatch.chdir(tmp_path)
    return tmp_path


RUNS = ("gold.conll", "--runs", "A=a", "--runs", "B=b")


def test_python_and_the_command_plan_alike(run, folder):
    answer = json.loads(run("plan", *RUNS, "--difference", "0.03", "-f", "json").out)
    runs = {name: sorted(map(str, folder.glob(f"{name.lower()}/*"))) for name in "AB"}
    plan = pv.plan("gold.conll", runs, difference=0.03)
    told = json.loads(json.dumps(plan.to_dict()))
    assert {key: answer[key] for key in told} == told
    assert (answer["command"], answer["runs"]) == ("plan", [3, 4, 5, 10, 20])
    assert answer["observed_units"] == 80
    assert "runs:3,4" in answer["signature"]
    compared = pv.compare("gold.conll", runs).comparisons[1]
    assert answer["half_width"] == pytest.approx((compared.high - compared.low) / 2)


def test_counts_plan_as_files_do():
    rng = np.random.default_rng(1)
    runs = {
        name: [pv.Counts(tp, rng.integers(0, 2, 40), 3 - tp) for tp in rng.integers(0, 4, (3, 40))]
        for name in "AB"
    }
    plan = pv.plan(runs, units=90)
    assert plan.units == (40, 90)
    assert "|counts|runs:3,3|" in plan.signature
    with pytest.raises(pv.InputError, match="only: does not apply to counts"):
        pv.plan(runs, only=["PER"])
    with pytest.raises(pv.InputError, match="systems: 1 of them"):
        pv.plan({"A": runs["A"]})


@pytest.mark.parametrize("form", ["text", "json", "csv", "markdown", "latex"])
def test_every_form(run, folder, form):
    outcome = run("plan", *RUNS, "-f", form, "-q", "--html", "plan.html", "--figure", "plan.svg")
    assert "3" in outcome.out
    assert "One more run of each system" in (folder / "plan.html").read_text()
    assert (folder / "plan.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (*RUNS, "--paired-runs"),
            "--paired-runs: 3 runs of A, but 4 of B; expected the same number",
        ),
        (("gold.conll", "--runs", "A=a"), "1 of them; expected two"),
        (("gold.conll", "--runs", "A=a", "--runs", "B=b/0.conll"), "B: one run"),
        (("gold.conll", "a/0.conll", "b/0.conll", "--paired-runs"), "--paired-runs: has no effect"),
        (("gold.conll", "a/0.conll", "b/0.conll", "--figure", "x.png"), "--figure: only plans"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_planned_is_refused_in_one_line(refused, arguments, message):
    said = refused("plan", *arguments, "-q")
    assert message in said
    assert len(said.strip().splitlines()) == 1


@pytest.mark.usefixtures("folder")
def test_one_run_each_is_the_plain_plan(run):
    named = ("A=a/0.conll", "B=b/0.conll")
    plain = json.loads(run("plan", "gold.conll", *named, "-f", "json").out)
    words = ("--runs", "A=a/0.conll", "--runs", "B=b/0.conll", "-f", "json")
    assert json.loads(run("plan", "gold.conll", *words).out) == plain
