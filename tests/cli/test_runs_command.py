"""``--runs``: several runs per system on the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import probative as pv

FORMATS = ("text", "json", "markdown", "latex", "csv")
TAGS = ("O", "B-PER", "B-LOC")


def sentences(seed: int, error: float = 0.0) -> list[list[str]]:
    """An answer; with a probability of error, what a run makes of it."""
    answer = np.random.default_rng(7)
    rng = np.random.default_rng(seed)
    told = []
    for _ in range(50):
        gold = answer.choice(TAGS, answer.integers(2, 6)).tolist()
        told.append([str(rng.choice(TAGS)) if rng.random() < error else tag for tag in gold])
    return told


def text(tagged: list[list[str]]) -> str:
    return "\n".join("".join(f"w{i}\t{tag}\n" for i, tag in enumerate(s)) for s in tagged)


@pytest.fixture(autouse=True)
def folder(write, tmp_path, monkeypatch):
    for name, error, runs in (("a", 0.4, (1, 2, 10)), ("b", 0.2, (1, 2, 3, 4))):
        (tmp_path / name).mkdir()
        for number in runs:
            write(text(sentences(100 * number + len(runs), error)), f"{name}/run-{number}.conll")
    write(text(sentences(0)), "gold.conll")
    monkeypatch.chdir(tmp_path)
    return tmp_path


BOTH = ("gold.conll", "--runs", "A=a/*.conll", "--runs", "B=b/*.conll")


def answer(outcome):
    assert outcome.status == 0, outcome.err
    return json.loads(outcome.out)


def test_patterns_folders_and_files_are_what_python_has(run, folder):
    found = answer(run("compare", *BOTH, "-f", "json"))
    files = {
        name: [folder / name.lower() / f"run-{n}.conll" for n in numbers]
        for name, numbers in (("A", (1, 2, 10)), ("B", (1, 2, 3, 4)))
    }
    python = pv.compare(folder / "gold.conll", files)
    assert found["comparisons"] == python.to_dict()["comparisons"]
    assert found["signature"] == python.signature
    assert "runs:3,4" in python.signature
    assert found["run_scores"][0]["runs"] == ["run-1", "run-2", "run-10"]
    by_folder = run("compare", "gold.conll", "--runs", "A=a", "--runs", "B=b", "-f", "json")
    assert answer(by_folder)["comparisons"] == found["comparisons"]
    one_by_one = [f"A=a/run-{n}.conll" for n in (10, 1, 2)] + ["B=b"]
    mixed = answer(
        run(
            "compare",
            "gold.conll",
            *(w for word in one_by_one for w in ("--runs", word)),
            "-f",
            "json",
        )
    )
    for one, other in zip(mixed["comparisons"], found["comparisons"], strict=True):
        for name in ("difference", "low", "high", "pvalue", "p_b_better"):
            assert one[name] == pytest.approx(other[name], rel=1e-9)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("command", ["compare", "rank", "score"])
def test_every_format(run, command, form):
    outcome = run(command, *BOTH, "-f", form, "-q")
    assert outcome.status == 0, outcome.err
    assert outcome.err == ""
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(outcome.out)))
        runs = {(row["system"], row["run"]) for row in rows if row["kind"] == "run"}
        assert len(runs) == 7
    if form == "text":
        assert "±" in outcome.out
        assert ("New runs: " in outcome.out) == (command == "compare")
        assert "worst run" in run(command, *BOTH, "-v").out


def test_text_tables_fit_on_a_terminal(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for command in ("compare", "rank", "score"):
        outcome = run(command, *BOTH, "-q")
        assert max(len(line) for line in outcome.out.split("\n")) <= 80, command


def test_a_plain_system_beside_runs_is_the_baseline(run):
    found = answer(run("compare", "gold.conll", "a/run-1.conll", "--runs", "B=b", "-f", "json"))
    (only,) = found["comparisons"]
    assert (only["a"], only["b"], only["question"]) == ("run-1", "B", "models")
    assert only["runs"] == {"run-1": 1, "B": 4}


def test_gates_ask_about_new_runs(run):
    outcome = run("compare", *BOTH, "--require-better", "-q", "-f", "json")
    gates = json.loads(outcome.out)["gates"]
    assert gates[0]["question"] == "procedures"
    assert (
        "--require-better PASSED: B against A, F1 of new runs: P(B − A > 0 points)" in outcome.err
    )
    failed = run("compare", *BOTH, "--require-better", "--margin", "0.9", "-q")
    assert failed.status == 1
    alone = run(
        "compare", "gold.conll", "--runs", "A=a/run-1.conll", "--runs", "B=b", "--require-better"
    )
    assert alone.status == 1
    assert "new runs cannot be judged" in alone.err
    single = run(
        *("compare", "gold.conll", "--runs", "A=a/run-1.conll", "--runs", "B=b/run-1.conll"),
        "--require-not-worse",
    )
    assert "F1 of these models" in single.err


def test_pages_and_figures_are_written(run, folder):
    for command in ("compare", "rank"):
        outcome = run(command, *BOTH, "--html", "p.html", "--figure", "f.svg", "-q")
        assert outcome.status == 0, outcome.err
        page = (folder / "p.html").read_text(encoding="utf-8")
        assert "runs" in page
        assert (folder / "f.svg").stat().st_size > 1000
        (folder / "p.html").unlink()


def test_paired_runs_name_their_pairs(run, folder):
    (folder / "b" / "run-4.conll").unlink()
    outcome = run("compare", *BOTH, "--paired-runs", "-q")
    assert outcome.status == 0, outcome.err
    assert "run-1 with run-1, run-2 with run-2, run-10 with run-3." in outcome.out
    (folder / "b" / "run-3.conll").unlink()
    refused = run("compare", *BOTH, "--paired-runs")
    assert refused.status == 2
    assert "--paired-runs: 3 runs of A, but 2 of B; expected the same number" in refused.err


def counts_table(tagged, model, seed):
    rows = []
    for gold, own in zip(sentences(0), tagged, strict=True):
        told = {(i, t) for i, t in enumerate(own) if t != "O"}
        right = {(i, t) for i, t in enumerate(gold) if t != "O"}
        rows.append(f"{len(told & right)},{len(told - right)},{len(right - told)},{model},{seed}")
    return rows


def test_counts_by_run_and_unit(run, write):
    rows, more = ["tp,fp,fn,model,run"], []
    for name, error, seeds in (("A", 0.4, (1, 2, 10)), ("B", 0.2, (1, 2, 3, 4))):
        for seed in seeds:
            own = counts_table(sentences(100 * seed + len(seeds), error), name, seed)
            rows += own
            head = ["tp,fp,fn", *(",".join(row.split(",")[:3]) for row in own)]
            file = write("\n".join(head) + "\n", f"{name}-{seed}.csv")
            more += ["--runs", f"{name}={file}"]
    write("\n".join(rows) + "\n", "counts.csv")
    by_files = answer(run("compare", *BOTH, "-f", "json"))["comparisons"]
    in_one = answer(run("compare", "counts.csv", "--counts", "-f", "json"))
    apart = answer(run("compare", "--counts", *more, "-f", "json"))
    assert in_one["comparisons"] == apart["comparisons"]
    assert in_one["task"] == "counts"
    for one, other in zip(in_one["comparisons"], by_files, strict=True):
        assert one["question"] == other["question"]
        assert one["pvalue"] == pytest.approx(other["pvalue"])
        assert one["difference"] == pytest.approx(other["difference"])
    ranked = answer(run("rank", "counts.csv", "--counts", "-f", "json"))
    assert ranked["pairs"][0]["pvalue"] == pytest.approx(by_files[0]["pvalue"])
    # without runs two systems of counts are compared, too
    plain = [f"{name}-1.csv" for name in "AB"]
    (only,) = answer(run("compare", "--counts", *plain, "-f", "json"))["comparisons"]
    assert only["question"] == "models"


def test_a_table_with_a_run_column(run, write):
    rng = np.random.default_rng(5)
    lines = ["y,old,new,seed"]
    gold = rng.choice(["x", "y"], 60)
    for seed in (3, 1, 20):
        for label in gold:
            said = [str(rng.choice(["x", "y"])) if rng.random() < e else label for e in (0.5, 0.2)]
            lines.append(f"{label},{said[0]},{said[1]},{seed}")
    write("\n".join(lines) + "\n", "t.csv")
    how = ("t.csv", "--gold-column", "y", "--columns", "old,new", "--run-column", "seed")
    found = answer(run("compare", *how, "-f", "json"))
    assert [c["question"] for c in found["comparisons"]] == ["models", "procedures"]
    assert found["run_scores"][0]["runs"] == ["1", "3", "20"]
    assert answer(run("rank", *how, "-f", "json"))["ranking"][0]["name"] == "new"
    assert answer(run("score", *how, "-f", "json"))["run_scores"][0]["repeated"]["answers"] == 180


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["gold.conll", "--runs", "a/*.conll"], "--runs: 'a/*.conll'; expected NAME=FILES"),
        (["gold.conll", "--runs", "A=c/*.conll", "--runs", "B=b"], "c/*.conll: no file matches"),
        (["gold.conll", "--runs", "A=a", "--runs", "B=a/run-2.conll"],
         "a/run-2.conll: is run 2 of A and run 1 of B"),
        (["gold.conll", "--runs", "A=a"], "give two outputs: probative compare GOLD A B"),
        (["gold.conll", "--runs", "A=a", "--runs", "B=b", "--names", "x,y"],
         "--names: cannot be combined with --runs"),
        (["gold.conll", "a/run-1.conll", "--runs", "run-1=b"],
         "--runs: 'run-1' is a system already"),
        (["gold.conll", "--runs", "A=a", "--runs", "B=b", "--run-column", "seed"],
         "--run-column: does not apply to entities"),
        (["--runs", "A=a", "--runs", "B=b"], "no log of samples, and there is no gold"),
        (["--counts"], "FILE: missing; expected files of counts"),
        (["gold.conll", "a/run-1.conll", "b/run-1.conll", "--paired-runs"],
         "--paired-runs: there are no runs"),
    ],
)  # fmt: skip
def test_errors_are_one_line(run, words, message):
    outcome = run("compare", *words)
    assert outcome.status == 2
    assert message in outcome.err
    assert len(outcome.err.strip().split("\n")) == 1
    assert outcome.out == ""


def test_a_run_with_missing_sentences_is_named(run, write):
    write(text(sentences(5, 0.2)[:30] + sentences(5, 0.2)[31:]), "b/run-2.conll")
    outcome = run("compare", *BOTH)
    assert outcome.status == 2
    assert outcome.err.startswith(
        "b/run-2.conll: 49 sentences, but gold.conll has 50; expected the"
    )
    assert "sentence 31" in outcome.err or "first that differs" not in outcome.err


def test_no_run_is_written_over(run):
    outcome = run("compare", *BOTH, "--html", "a/run-2.conll")
    assert outcome.status == 2
    assert "a/run-2.conll: is an input" in outcome.err


def test_a_folder_of_brat_is_one_run(run, folder):
    (folder / "gold").mkdir()
    places = [folder / "gold"]
    for name, number in (("old", 1), ("old", 2), ("new", 1), ("new", 2)):
        places.append(folder / name / f"seed-{number}")
        places[-1].mkdir(parents=True)
    for number, place in enumerate(places):
        for doc in range(4):
            (place / f"{doc}.txt").write_text("Rome and Bern\n")
            found = "T1\tLOC 0 4\tRome\n" if (doc + number) % 4 else "T1\tLOC 9 13\tBern\n"
            (place / f"{doc}.ann").write_text(found)
    patterns = answer(
        run("compare", "gold", "--runs", "A=old/*", "--runs", "B=new/seed-[12]", "-f", "json")
    )
    assert patterns["comparisons"][0]["runs"] == {"A": 2, "B": 2}
    folders = ("--runs", "A=old/seed-1", "--runs", "A=old/seed-2", "--runs", "B=new")
    assert answer(run("compare", "gold", *folders, "-f", "json")) == patterns
    python = pv.compare("gold", {n: [str(p) for p in Path(n).iterdir()] for n in ("old", "new")})
    assert [c.runs for c in python.comparisons] == [{"old": 2, "new": 2}] * 2
    ranked = run("rank", "gold", "old", "new/*", "-f", "json")
    assert len(answer(ranked)["systems"]) == 4
    assert "passed over" not in ranked.err


def test_names_of_systems_keep_their_capitals(run, write):
    rows = "".join(f"w{i} {'B-PER' if i % 3 else 'O'}\n" + "\n" * (i % 5 == 4) for i in range(200))
    write(rows, "gold.conll")
    for k in range(3):
        write(rows.replace(f"{k} B-PER", f"{k} O").replace("4 B-PER", "4 O"), f"a{k}.conll")
        write(rows.replace(f"{k}1 B-PER", f"{k}1 O"), f"b{k}.conll")
    found = run("compare", "gold.conll", "--runs", "A=a*.conll", "--runs", "B=b*.conll", "-q")
    assert found.status == 0, found.err
    assert "These models: B better: strong evidence." in found.out


def test_tags_in_a_table_of_runs_are_no_labels_in_silence(run, refused, write):
    rows = [f"w{i},{'B-PER' if i % 3 else 'O'},B-PER,O,{seed}" for seed in (1, 2) for i in range(9)]
    write("token,gold,a,b,seed\n" + "\n".join(rows) + "\n", "tags.csv")
    words = ("compare", "tags.csv", "--gold-column", "gold", "--columns", "a,b")
    words = (*words, "--run-column", "seed")
    assert "these are tags (all are O or like 'B-PER')" in refused(*words)
    assert "--run-column parts rows of labels" in refused(*words)
    assert "expected a file for each run, or --task labels" in refused(*words)
    assert "not of entities" in refused(*words, "--task", "entities")
    labels = run(*words, "--task", "labels")
    assert labels.status == 0
    assert "tags.csv: csv table, labels in column 'gold'; csv table" in labels.err


def counted(units, seed, column="doc"):
    """Counts of documents of very different sizes, a row each."""
    rng = np.random.default_rng(seed)
    rows = [f"{column},tp,fp,fn"]
    for unit in units:
        size = 2 + 5 * unit
        missed = int(rng.integers(0, 1 + size // 3))
        rows.append(f"d{unit},{size - missed},{int(rng.integers(0, 4))},{missed}")
    return rows


def test_counts_are_joined_by_the_column_that_names_units(run, write):
    a, b = counted(range(20), 1), counted(range(20), 2)
    write("\n".join(a) + "\n", "a.csv")
    write("\n".join(b) + "\n", "b.csv")
    write("\n".join([b[0], *b[:0:-1]]) + "\n", "turned.csv")
    usual = answer(run("compare", "--counts", "a.csv", "b.csv", "-f", "json"))
    turned = answer(run("compare", "--counts", "a.csv", "turned.csv", "-f", "json"))
    assert usual["comparisons"][0]["pvalue"] == turned["comparisons"][0]["pvalue"]
    assert usual["notes"] == turned["notes"] == ["paired by column 'doc'"]
    second = ("b.csv", "turned.csv")
    ranks = [answer(run("rank", "--counts", "a.csv", file, "-f", "json")) for file in second]
    assert ranks[0]["pairs"][0]["pvalue"] == ranks[1]["pairs"][0]["pvalue"]
    assert "paired by column 'doc'" in run("compare", "--counts", "a.csv", "b.csv").err
    # in one file, the systems one after the other
    in_one = ["model," + a[0], *(f"a,{row}" for row in a[1:]), *(f"b,{row}" for row in b[:0:-1])]
    write("\n".join(in_one) + "\n", "both.csv")
    together = answer(run("compare", "--counts", "both.csv", "-f", "json"))
    assert together["comparisons"][0]["pvalue"] == usual["comparisons"][0]["pvalue"]
    write("\n".join([*b[:-1], b[-1].replace("d19", "d77")]) + "\n", "other.csv")
    outcome = run("compare", "--counts", "a.csv", "other.csv")
    assert outcome.status == 2
    assert (
        "other.csv: doc 'd19' occurs in only one of two systems; expected the same" in outcome.err
    )


def test_counts_without_such_a_column_are_paired_by_row_order(run, write):
    for name, seed in (("a", 1), ("b", 2)):
        rows = [row.replace("d", "") for row in counted(range(1, 12), seed, "rank")]
        write("\n".join(rows) + "\n", f"{name}.csv")
        write("\n".join(row.partition(",")[2] for row in rows) + "\n", f"{name}-bare.csv")
    for files in (["a.csv", "b.csv"], ["a-bare.csv", "b-bare.csv"]):
        (note,) = answer(run("compare", "--counts", *files, "-f", "json"))["notes"]
        assert note.startswith("rows are matched by position"), files
        assert "rows are matched by position" in run("rank", "--counts", *files).err
    write("tp,fp,fn\n8,1,2\n", "one.csv")
    write("tp,fp,fn\n7,1,3\n", "two.csv")
    assert "row order" not in run("compare", "--counts", "one.csv", "two.csv").err


def test_a_run_that_is_gold_itself_is_noted(run, write):
    write("yes\nno\nyes\n", "gold.txt")
    write("yes\nno\nno\n", "run.txt")
    note = "gold.txt: is gold itself, so all of it is right"
    outcome = run("score", "gold.txt", "--runs", "A=run.txt", "--runs", "A=./gold.txt")
    assert outcome.status == 0
    assert note in outcome.err
    Path("link.txt").symlink_to("gold.txt")
    assert "link.txt: is gold itself" in run("score", "gold.txt", "link.txt").err
    assert note in run("score", "gold.txt", "gold.txt").err
    assert "is gold itself" not in run("score", "gold.txt", "run.txt").err
