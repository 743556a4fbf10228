"""``probative rank``."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex

import pytest

import probative as pv

ANN, YORK = "Ann\tB-PER\nlives\tO\n\n", "in\tO\nYork\tB-LOC\n\n"
GOLD = (ANN + YORK) * 15
OLD = (ANN.replace("B-PER", "O") + YORK) * 10 + (ANN + YORK.replace("B-LOC", "O")) * 5
NEW = (ANN + YORK) * 13 + (ANN + YORK.replace("LOC", "GPE")) * 2
FORMATS = ("text", "json", "markdown", "latex", "csv")


@pytest.fixture
def files(write, tmp_path):
    (tmp_path / "systems").mkdir()
    gold = write(GOLD, "gold.conll")
    return gold, write(OLD, "systems/old.conll"), write(NEW, "systems/new.conll")


def ranking(outcome):
    assert outcome.status == 0, outcome.err
    return json.loads(outcome.out)


def names(outcome):
    return [system["name"] for system in ranking(outcome)["ranking"]]


def test_json_contract(run, files):
    answer = ranking(run("rank", *files, "-f", "json"))
    assert answer["command"] == "rank"
    assert answer["version"] == pv.__version__
    assert answer["signature"] == (
        f"probative:{pv.__version__}|rank|entities|iob2|conlleval|f1|exact-by-sentence|holm|"
        f"paired-posterior|level:0.95|seed:0"
    )
    assert [system["name"] for system in answer["systems"]] == ["old", "new"]
    (pair,) = answer["pairs"]
    assert (pair["a"], pair["b"], pair["decided"]) == ("old", "new", True)
    assert answer["summary"] == "new leads (F1 93.3) and is better than old (adjusted p = 0.00331)."


@pytest.mark.parametrize("form", FORMATS)
def test_every_format(run, files, form):
    outcome = run("rank", *files, "-f", form, "-q")
    assert outcome.status == 0
    assert outcome.err == ""
    assert "new" in outcome.out
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(outcome.out)))
        assert [row["kind"] for row in rows] == ["system", "system", "pair"]


def test_bold_is_explained_only_where_something_is_bold(run, files):
    assert "bold" not in run("rank", *files).out
    assert "bold" not in run("compare", *files, "--metric", "recall").out
    for form in ("markdown", "latex"):
        assert "Decided differences are in bold" in run("rank", *files, "-f", form).out
        shown = run("compare", *files, "--metric", "recall", "-f", form).out
        assert "Established differences are in bold" in shown
        same = run("compare", *files[:2], files[1], "--metric", "recall", "-f", form).out
        assert "bold" not in same


def test_names_folders_and_patterns(run, files, tmp_path):
    gold, old, new = files
    folder = tmp_path / "systems"
    by_name = run("rank", gold, f"base={old}", new, "-f", "json")
    assert names(by_name) == ["new", "base"]
    assert names(run("rank", gold, folder, "-f", "json")) == ["new", "old"]
    assert names(run("rank", gold, folder / "*.conll", "-f", "json")) == ["new", "old"]
    assert names(run("rank", gold, old, new, "--names", "x,y", "-f", "json")) == ["y", "x"]
    # the answer is no system, though it lies beside them
    (folder / "gold.conll").write_text(GOLD)
    among = run("rank", folder / "gold.conll", folder, "-f", "json")
    assert names(among) == ["new", "old"]
    (folder / ".hidden").write_text("no system")
    assert names(run("rank", folder / "gold.conll", folder, "-f", "json")) == ["new", "old"]


def test_a_table_with_columns(run, write):
    rows = "yes,yes,no\nno,no,no\nyes,yes,yes\nno,no,yes\n" * 10
    table = write("gold,one,two\n" + rows, "table.csv")
    answer = ranking(
        run("rank", table, "--gold-column", "gold", "--columns", "one,two", "-f", "json")
    )
    assert [system["name"] for system in answer["ranking"]] == ["one", "two"]
    assert answer["task"] == "labels"


def test_counts(run, write):
    one = write("tp,fp,fn\n" + "2,0,1\n1,1,0\n" * 10, "one.csv")
    two = write("tp,fp,fn\n" + "1,2,2\n0,1,1\n" * 10, "two.csv")
    answer = ranking(run("rank", "--counts", one, two, "-f", "json"))
    assert [system["name"] for system in answer["ranking"]] == ["one", "two"]
    assert answer["task"] == "counts"
    assert names(run("rank", "--counts", f"x={one}", two, "-f", "json")) == ["x", "two"]
    both = write("model,tp,fp,fn\n" + "a,2,0,1\na,1,1,0\nb,1,2,2\nb,0,1,1\n" * 10, "both.csv")
    again = ranking(run("rank", "--counts", both, "-f", "json"))
    assert [system["name"] for system in again["ranking"]] == ["a", "b"]
    assert again["pairs"][0]["pvalue"] == answer["pairs"][0]["pvalue"]


def test_bad_input(refused, files, write, tmp_path):
    gold, old, new = files
    (tmp_path / "empty").mkdir()
    assert "the folder holds no files" in refused("rank", gold, tmp_path / "empty")
    assert "no file matches this pattern" in refused("rank", gold, tmp_path / "x*.conll")
    assert "expected NAME=FILE" in refused("rank", gold, f"={old}")
    assert "only the gold file" in refused("rank", gold, tmp_path / "gold*")
    assert "--names" in refused("rank", gold, f"a={old}", new, "--names", "x,y")
    assert "'a' twice" in refused("rank", gold, f"a={old}", f"a={new}")
    assert "--metric" in refused("rank", gold, old, new, "--metric", "f2")
    assert "--adjust" in refused("rank", gold, old, new, "--adjust", "none")
    assert "--by: does not apply to counts" in refused(
        "rank", "--counts", write("tp,fp,fn\n1,1,1\n2,2,2\n", "c.csv"), "--by", "item"
    )
    (tmp_path / "d").mkdir()
    again = write("tp,fp,fn\n1,1,1\n2,2,2\n", "d/c.csv")
    assert "'c' for the second time" in refused("rank", "--counts", tmp_path / "c.csv", again)


def test_no_input_is_written_over(refused, files):
    gold, old, new = files
    page = old.with_suffix(".html")
    page.write_bytes(old.read_bytes())
    assert "is an input" in refused("rank", gold, f"x={page}", new, "--html", page)


@pytest.mark.parametrize("width", [80, 60, 44, 30])
def test_narrow_terminals_lose_columns_in_order(run, files, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    out = run("rank", *files, "-q").out
    assert all(len(line) <= width for line in out.splitlines())
    head = next(line.split() for line in out.splitlines() if line.startswith(" system"))
    assert head[:2] == ["system", "F1"]
    order = ["rank", "ties", "P(best)"]
    kept = [name for name in order if name in head]
    # what goes first is at the end
    assert kept == order[: len(kept)]
    if len(kept) < len(order):
        assert "Hidden columns (terminal too narrow)" in " ".join(out.split())


def test_two_systems_fit_eighty_columns(run, files, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = run("compare", *files, "-q", "--metric", "recall").out
    assert all(len(line) <= 80 for line in out.splitlines())


def test_many_systems_are_pointed_to_rank(run, files):
    gold, old, new = files
    several = [gold, old, new, gold, old]
    outcome = run("compare", *several, "--metric", "recall", "-f", "json", "-v")
    assert "4 systems: rank orders them all" in outcome.err
    answer = json.loads(outcome.out)
    # each against the baseline, nothing left out
    assert len(answer["comparisons"]) == len(answer["verdicts"]) == 3
    few = run("compare", gold, old, new, gold, "--metric", "recall", "-f", "json")
    assert "rank orders" not in few.err


def test_a_figure_and_a_page(run, files, tmp_path):
    figure, page = tmp_path / "board.svg", tmp_path / "board.html"
    assert run("rank", *files, "--figure", figure, "--html", page).status == 0
    assert "<svg" in figure.read_text()
    assert "new leads" in page.read_text()


def test_study(run):
    outcome = run("study", "ranks", "--systems", "2", "--replicates", "2", "-f", "json", "-q")
    conditions = json.loads(outcome.out)["conditions"]
    assert len(conditions) == 8
    assert {"rank_sets", "limits", "decided"} <= conditions[0].keys()


def test_study_without_tests(run):
    how = ("study", "ranks", "--systems", "2", "--replicates", "2", "--limits-only", "-q")
    assert json.loads(run(*how, "-f", "json").out)["conditions"][0]["rank_sets"] is None
    shown = run(*how).out
    assert "No pair is tested" in shown
    assert "decided" not in shown


def test_names_and_columns_are_never_passed_over(run, refused, files, write):
    assert "'x' twice" in refused("rank", *files, "--names", "x,x")
    assert "empty name" in refused("rank", *files, "--names", "x,")
    table = write("y,a\n1,1\n0,0\n1,0\n0,0\n", "t.csv")
    twice = run("rank", table, "--gold-column", "y", "--columns", "a,a", "-f", "json")
    assert names(twice) == ["a (1)", "a (2)"]


def test_folders_in_a_folder_are_told(run, files):
    gold, old, _ = files
    (old.parent / "inner").mkdir()
    (old.parent / ".hidden").mkdir()
    told = run("rank", gold, old.parent, "-f", "json", "-v").err
    assert f"{old.parent.name}: folders in it are passed over: inner" in told


def test_units_of_a_table_are_named_where_there_are_no_documents(refused, write):
    table = write("y,a,doc\n1,1,x\n0,0,x\n1,0,y\n0,0,y\n", "t.csv")
    words = ("rank", table, "--gold-column", "y", "--columns", "a", "--by", "document")
    assert "expected 'unit' or 'item'" in refused(*words, "--unit-column", "doc")
    assert refused(*words).rstrip().endswith("expected 'item'")


def test_one_pair_is_not_called_all(run, files):
    out = run("rank", *files, "-v").out
    assert "randomisation test by sentence)." in out
    assert "all 1 pairs" not in out


def test_a_probability_surer_than_its_test_is_told(run, files):
    gold, old, new = files
    # one sentence more is wrong, and no draw of sentences can make it right
    worse = new.with_name("worse.conll")
    worse.write_text(new.read_text().replace("B-PER", "O", 1))
    said = "P(best) resamples only these sentences and is overconfident here; use rank and ties."
    assert said in run("rank", gold, new, worse, old, "-v").out
    assert said not in run("rank", *files, "-v").out


@pytest.mark.parametrize("width", [40, 44, 60, 80])
def test_pairs_fit_narrow_terminals(run, files, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    out = run("rank", *files, "-v").out
    assert max(map(len, out.splitlines())) <= width
    pairs = out.partition("The pair")[2]
    assert "difference" in pairs
    assert "p adjusted" in pairs


def test_a_long_name_goes_on_in_the_next_line(run, files, monkeypatch):
    gold, old, new = files
    monkeypatch.setenv("COLUMNS", "100")
    out = run("rank", gold, f"{'long' * 30}={old}", new, "-q").out
    board = out.partition("\n\n")[0]
    assert "".join(re.findall("(?m)^ ([a-z]+)", board)).count("long") >= 29
    assert "P(best)" in board  # one long name takes no more columns than it must
    assert max(map(len, out.splitlines())) <= 100


def test_the_answer_may_be_ranked_where_it_is_named(run, refused, files):
    gold, old, _ = files
    assert names(run("rank", gold, f"best={gold}", old, "-f", "json")) == ["best", "old"]
    assert names(run("rank", gold, gold, old, "-f", "json")) == ["gold", "old"]
    (gold.parent / "alone").mkdir()
    gold.rename(gold.parent / "alone" / "gold.conll")
    moved = gold.parent / "alone" / "gold.conll"
    assert "only the gold file" in refused("rank", moved, moved.parent)


def command_of(page, one, other):
    """The command that the page shows for two of its systems, by their places."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    parts, words = (json.loads(text)["command"][key] for key in ("parts", "systems"))
    said = "".join(
        part + (words[(other, one)[k % 2]][k // 2] if k + 1 < len(parts) else "")
        for k, part in enumerate(parts)
    )
    return shlex.split(said)


@pytest.mark.parametrize("named", [False, True])
def test_the_page_names_the_command_for_a_pair_that_it_does_not_hold(
    run, write, files, tmp_path, monkeypatch, named
):
    gold, *paths = files
    paths.append(
        write((ANN + YORK) * 9 + (ANN + YORK.replace("B-LOC", "O")) * 6, "systems/a third.conll")
    )
    given = [f"no {k}={path}" for k, path in enumerate(paths)] if named else paths
    page = tmp_path / "board.html"
    options = ("--only", "PER", "--only", "LOC", "--level", "0.9", "--seed", "3")
    outcome = run("rank", gold, *given, *options, "--html", page, "--comparisons", 1)
    assert outcome.status == 0, outcome.err
    content = page.read_text(encoding="utf-8")
    ranking = [dict(s) for s in json.loads(run("rank", gold, *given, "-f", "json").out)["ranking"]]
    program, *words = command_of(content, 0, 2)
    assert program == "probative"
    assert not any("/" in word for word in words)  # base names: a page shows no folders
    for path in (gold, *paths):
        if path.parent != tmp_path:
            path.rename(tmp_path / path.name)
    monkeypatch.chdir(tmp_path)
    answer = json.loads(run(*words, "-f", "json").out)
    assert [system["name"] for system in answer["systems"]] == [
        ranking[2]["name"],
        ranking[0]["name"],
    ]
    assert answer["comparisons"][0]["level"] == 0.9
    assert "|only:PER,LOC" in answer["signature"]
    assert (tmp_path / "pair.html").exists()
    assert " A B " in content  # without script


def test_the_command_for_columns_of_a_table(run, write, tmp_path, monkeypatch):
    rows = "".join(f"{g},{a},{b},{c}\n" for g, a, b, c in ("xxyy", "yyyx", "xyxx") * 5)
    table = write("gold,first one,b,c\n" + rows, "table.csv")
    page = tmp_path / "board.html"
    columns = ("--gold-column", "gold", "--columns", "first one,b,c")
    assert run("rank", table, *columns, "--html", page, "--comparisons", 0).status == 0
    monkeypatch.chdir(tmp_path)
    _, *words = command_of(page.read_text(encoding="utf-8"), 0, 1)
    outcome = run(*words, "-f", "json")
    assert outcome.status == 0, outcome.err
    assert len(json.loads(outcome.out)["systems"]) == 2


def test_comparisons_belong_to_a_page(refused, files):
    assert refused("rank", *files, "--comparisons", 2) == (
        "probative: --comparisons: has no effect without --html; expected both"
    )
