"""`compare --ledger`, `--hide-scores` and `probative ledger` from the outside."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

GOLD = "Ann B-PER\nsaw O\nYork B-LOC\n\nthe O\nBank B-ORG\n\n"
OLD = "Ann O\nsaw O\nYork B-LOC\n\nthe O\nBank O\n\n"
NEW = "Ann B-PER\nsaw O\nYork B-LOC\n\nthe O\nBank B-PER\n\n"


@pytest.fixture
def files(write):
    return (
        write(GOLD * 40, "gold.conll"),
        write(OLD * 25 + GOLD * 15, "old.conll"),
        write(NEW * 8 + GOLD * 32, "new.conll"),
    )


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "gates.jsonl"


def test_every_use_is_told_and_written(run, files, ledger):
    first = run("compare", *files, "--require-better", "--ledger", ledger)
    assert first.status == 0
    assert re.search(
        r"--ledger: test set \w{8}, use 1 \(new to this ledger\); 1 − P may be at most 0.015; "
        r"worn out after about 24 more uses if none passes",
        first.err,
    )
    assert "points higher" in first.out
    gold, old, new = files
    second = run("compare", gold, new, old, "--require-better", "--ledger", ledger)
    assert second.status == 1
    assert "use 2, 1 pass before" in second.err
    assert "no promise: scores were shown at 1 use before; 80 new sentences" in second.err
    again = run("compare", *files, "--require-better", "--ledger", ledger, "-q")
    assert again.status == 0
    assert "use 1 again (asked before on " in again.err
    shown = run("ledger", ledger, "--uses")
    assert shown.status == 0
    assert "no promise" in shown.out
    assert shown.out.count("scores shown") >= 3
    answer = json.loads(run("ledger", ledger, "-f", "json").out)
    assert answer["command"] == "ledger"
    (one,) = answer["sets"]
    assert (one["looks"], one["passes"], one["uses"], one["shown"]) == (2, 1, 3, 3)
    assert [use["look"] for use in answer["uses"]] == [1, 2, 1]


@pytest.mark.parametrize("form", ["text", "json", "markdown", "latex", "csv"])
@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (0, 1, 1)])
def test_hidden_scores_are_in_no_form(run, files, tmp_path, ledger, form, order):
    """Nothing but the verdict may differ: outputs of other systems with the same verdict."""
    words = [files[i] for i in order]
    page = tmp_path / "page.html"
    asked = ("--require-better", "--hide-scores", "--ledger", ledger, "--html", page, "-f", form)
    outcome = run("compare", *words, "--names", "x,y", *asked)
    full = json.loads(run("compare", *words, "--names", "x,y", "-f", "json").out)
    assert outcome.status == (0 if order == (0, 1, 2) else 1)
    comparison = full["comparisons"][0]
    secrets = {
        *(s["estimate"] for system in full["systems"] for s in system["scores"]),
        *(comparison[k] for k in ("difference", "low", "high", "pvalue", "p_b_better")),
    }
    secrets = {secret for secret in secrets if 0.001 < abs(secret) < 0.999}
    for text in (outcome.out, outcome.err, page.read_text(encoding="utf-8")):
        numbers = {float(n) for n in re.findall(r"(?<![\w.])\d+\.\d+(?:e-\d+)?", text)}
        for secret in secrets:
            close = [n for n in numbers for s in (secret, -secret, 100 * secret, -100 * secret)
                     if abs(n - s) < 1e-4]  # fmt: skip
            assert not close, (secret, close)
    assert "identical" not in outcome.out + outcome.err + page.read_text(encoding="utf-8")


def test_hidden_scores_look_the_same_for_all_that_fail(run, files, tmp_path):
    gold, old, new = files
    outputs = []
    for number, pair in enumerate(((new, old), (old, old))):
        place = tmp_path / f"{number}.jsonl"
        asked = ("--names", "x,y", "--require-better", "--hide-scores", "--ledger", place)
        outcome = run("compare", gold, *pair, *asked)
        assert outcome.status == 1
        outputs.append((outcome.out, outcome.err))
    assert outputs[0] == outputs[1]


def test_hidden_scores_need_a_gate_and_nothing_that_shows_them(run, files, tmp_path, write):
    assert run("compare", *files, "--require-better", "--hide-scores").status == 0
    table = write("gold,old,new,g\n" + "a,a,b,x\nb,b,b,y\n" * 9, "t.csv")
    for more, flag in (
        (("--by-label",), "--by-label"),
        (("--buckets",), "--buckets"),
        (("--compact",), "--compact"),
        (("--digits", 1), "--digits"),
        (("--figure", tmp_path / "x.png"), "--figure"),
    ):
        outcome = run("compare", *files, "--require-better", "--hide-scores", *more)
        assert outcome.status == 2
        assert f"{flag}: cannot be combined with --hide-scores" in outcome.err
    told = ("compare", table, "--gold-column", "gold", "--columns", "old,new", "--group", "g")
    outcome = run(*told, "--require-better", "--hide-scores")
    assert (outcome.status, "--group: cannot be combined with --hide-scores" in outcome.err) == (
        2,
        True,
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--ledger", "x.jsonl"), "--ledger: has no effect without --fail-if-worse or"),
        (("--hide-scores",), "--hide-scores: has no effect without --fail-if-worse"),
        (("--candidates", "adaptive"), "--candidates: has no effect without --ledger"),
        (
            ("--require-better", "--candidates", "independent"),
            "--candidates: has no effect without",
        ),
        (("--fail-if-worse", "--ledger", "x.jsonl"), "--ledger: limits how often"),
        (("--require-better", "--ledger", "x", "--candidates", "y"), "--candidates: unknown 'y'"),
        (("--require-better", "--ledger", "no/x"), "no/x: cannot be written: its folder does not"),
    ],
)
def test_what_a_ledger_is_told_is_checked(run, files, words, said):
    outcome = run("compare", *files, *words)
    assert outcome.status == 2
    assert said in outcome.err
    assert outcome.err.count("\n") == 1
    assert not outcome.out


def test_what_has_no_answer_or_several_has_no_ledger(run, files, write, ledger):
    gate = ("--require-better", "--ledger", ledger)
    counts = write("model,tp,fp,fn\n" + "a,3,1,1\nb,4,0,0\n" * 8, "c.csv")
    outcome = run("compare", counts, "--counts", *gate)
    assert (outcome.status, "--ledger: cannot be combined with --counts" in outcome.err) == (
        2,
        True,
    )
    outcome = run("compare", "--dataset", "x", *files, *gate)
    assert (outcome.status, "--ledger: cannot be combined with --dataset" in outcome.err) == (
        2,
        True,
    )
    line = '{{"doc_id": {}, "resps": [], "filter": "x", "metrics": ["acc"], "acc": {}}}\n'
    logs = [
        write("".join(line.format(i, int(i % k == 0)) for i in range(12)), f"log{k}.jsonl")
        for k in (2, 3)
    ]
    outcome = run("compare", *logs, *gate)
    assert (outcome.status, "--ledger: logs hold no gold" in outcome.err) == (2, True)
    assert not ledger.exists()


def test_a_wrong_file_is_no_ledger(run, files, tmp_path):
    assert "is no ledger of gates" in run("ledger", files[0]).err
    missing = run("ledger", tmp_path / "none.jsonl")
    assert missing.status == 2
    assert "none.jsonl: cannot be read: No such file" in missing.err
    inputs = run("compare", *files, "--require-better", "--ledger", files[0])
    assert inputs.status == 2
    assert "is no ledger of gates" in inputs.err


def test_hidden_verdicts_are_flat_in_csv(run, files, ledger):
    out = run("compare", *files, "--require-better", "--ledger", ledger, "--hide-scores", "-fcsv")
    (row,) = csv.DictReader(io.StringIO(out.out))
    assert [row[k] for k in ("look", "passes", "passed")] == ["1", "0", "True"]
    assert "{" not in out.out


def test_a_ledger_without_uses_says_so(run, write):
    shown = run("ledger", write("", "gates.jsonl"))
    assert shown.status == 0
    assert shown.out.startswith("No gate has used this ledger yet.\n")
    assert json.loads(run("ledger", write("", "gates.jsonl"), "-fjson").out)["sets"] == []
