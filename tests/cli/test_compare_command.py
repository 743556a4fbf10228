"""``probative compare`` and ``probative plan``."""

from __future__ import annotations

import csv
import io
import json

import pytest
from reporting.structure import (
    csv_outline,
    html_outline,
    json_outline,
    latex_outline,
    markdown_outline,
    text_outline,
)

import probative as pv

FORMATS = ("text", "json", "markdown", "latex", "csv")
COMPARISON_KEYS = {
    "a",
    "b",
    "metric",
    "difference",
    "low",
    "high",
    "method",
    "pvalue",
    "test",
    "by",
    "design_effect",
    "p_a_better",
    "p_equivalent",
    "p_b_better",
    "rope",
    "posterior",
}


def conll(*sentences):
    """One sentence a string of words and tags, such as ``Ann/B-PER lives/O``."""
    lines = ("\n".join(w.replace("/", "\t") for w in s.split()) for s in sentences)
    return "\n\n".join(lines) + "\n"


ANN, YORK = "Ann/B-PER lives/O", "in/O York/B-LOC"
GOLD = conll(*[ANN, YORK] * 15)
OLD = conll(*["Ann/O lives/O", YORK] * 10, *[ANN, "in/O York/O"] * 5)
NEW = conll(*[ANN, YORK] * 13, *[ANN, "in/O York/B-GPE"] * 2)
NOTHING = conll(*["Ann/O lives/O", "in/O York/O"] * 15)


@pytest.fixture
def files(write):
    return write(GOLD, "gold.conll"), write(OLD, "old.conll"), write(NEW, "new.conll")


# recall has a closed posterior: these tests are about the command, not about the mathematics
FAST = ("--metric", "recall")


def test_json_contract(run, files):
    outcome = run("compare", *files, "--format", "json", *FAST)
    assert outcome.status == 0
    answer = json.loads(outcome.out)
    assert answer["command"] == "compare"
    assert answer["version"] == pv.__version__
    assert answer["signature"] == (
        f"probative:{pv.__version__}|entities|iob2|conlleval|recall|mover|exact-by-sentence|"
        f"paired-posterior|level:0.95|rope:0|prior:1"
    )
    assert answer["task"] == "entities"
    assert [system["name"] for system in answer["systems"]] == ["old", "new"]
    for system in answer["systems"]:
        assert {"name", "counts", "scores", "by_label"} <= system.keys()
        assert set(system["counts"]) == {"tp", "fp", "fn"}
        for score in system["scores"]:
            assert {"metric", "method", "level", "estimate", "low", "high"} <= score.keys()
        assert all({"label", "counts", "scores"} <= entry.keys() for entry in system["by_label"])
    # what only the other system uses is no label of this one
    labels = [[entry["label"] for entry in system["by_label"]] for system in answer["systems"]]
    assert labels == [["LOC", "PER"], ["GPE", "LOC", "PER"]]
    (comparison,) = answer["comparisons"]
    assert comparison.keys() >= COMPARISON_KEYS
    assert "p_adjusted" not in comparison
    assert (comparison["a"], comparison["b"]) == ("old", "new")
    assert comparison["difference"] == pytest.approx(28 / 30 - 15 / 30)
    assert isinstance(answer["verdicts"], list)
    assert answer["verdicts"][0].startswith("new scores 43.3 points higher than old")


def test_three_systems_have_adjusted_p_values(run, files, write):
    more = write(NOTHING, "nothing.conll")
    answer = json.loads(run("compare", *files, more, "--format", "json", *FAST).out)
    assert [(c["a"], c["b"]) for c in answer["comparisons"]] == [("old", "new"), ("old", "nothing")]
    assert all(c["p_adjusted"] >= c["pvalue"] for c in answer["comparisons"])
    answer = json.loads(run("compare", *files, more, "--all-pairs", "-f", "json", *FAST).out)
    assert len(answer["comparisons"]) == len(answer["verdicts"]) == 3


def test_the_verdict_ends_the_text(run, files):
    text = run("compare", *files, "--quiet", *FAST).out
    assert "new scores 43.3 points higher than old (recall 93.3 against 50.0;" in text
    assert "The evidence that new is better is strong" in text
    assert text.rstrip().endswith("p = 2.4e−04 by sentence.")
    full = run("compare", *files, "--verbose", *FAST).out
    assert "level:0.95|rope:0|prior:1" in full
    assert "p: exact two-sided randomisation test by sentence;" in full
    assert full.rstrip().endswith("p = 2.4e−04 by sentence.")


def test_latex_is_ready_for_a_paper(run, files):
    text = run("compare", *files, "--quiet", "-f", "latex", *FAST).out
    assert r"\textbf{+43.3 {[}+22.2, +60.7{]}}" in text
    caption = next(line for line in text.splitlines() if line.startswith(r"\caption"))
    assert "Established differences are in bold." in caption
    assert "p: exact two-sided randomisation test by sentence" in caption
    assert "points higher" not in caption
    assert latex_outline(text)[:5] == ["%", "begin", "centering", "begin", "toprule"]
    assert "% new scores 43.3 points higher than old" in text


def test_csv_has_scores_and_comparisons(run, files):
    rows = list(csv.DictReader(io.StringIO(run("compare", *files, "-f", "csv", *FAST).out)))
    assert {row["kind"] for row in rows} == {"score", "comparison"}
    (row,) = [row for row in rows if row["kind"] == "comparison"]
    assert float(row["difference"]) == pytest.approx(28 / 30 - 15 / 30)
    assert float(row["pvalue"]) < 0.001


def test_names_rope_by_label_and_metrics(run, files):
    outcome = run(
        "compare", *files, "--names", "x,y", "--rope", 0.01, "--by-label", "--by", "item",
        "--metric", "recall", "--level", 0.9, "-q",
    )  # fmt: skip
    assert outcome.status == 0, outcome.err
    assert "P(within 1 point)" in outcome.out
    assert "By label: y" in outcome.out
    assert "y against x, recall by label in points" in outcome.out
    assert "90 %" in outcome.out


def test_a_table_with_columns(run, write):
    path = write("y,old,new\n" + "1,0,1\n0,0,0\n1,1,1\n0,1,0\n" * 9, "t.csv")
    answer = json.loads(
        run("compare", path, "--gold-column", "y", "--columns", "old,new", "-f", "json", *FAST).out
    )
    assert answer["task"] == "labels"
    assert answer["comparisons"][0]["difference"] == pytest.approx(0.5)
    assert answer["comparisons"][0]["by"] == "item"


def test_macro_average(run, files):
    answer = json.loads(run("compare", *files, "--average", "macro", "-f", "json").out)
    (comparison,) = answer["comparisons"]
    assert comparison["metric"] == "macro_f1"
    assert (comparison["test"], comparison["posterior"]) == ("sampled", "hierarchical")
    again = json.loads(run("compare", *files, "--average", "macro", "-f", "json").out)
    assert again == answer
    text = run("compare", *files, "--average", "macro", "-q").out
    assert "macro F1" in text
    assert "interval and posterior are approximations" in text


# --- the edges, in every format ------------------------------------------------------------------

OUTLINES = {
    "text": text_outline,
    "json": json_outline,
    "markdown": markdown_outline,
    "latex": latex_outline,
    "csv": csv_outline,
}


def everywhere(run, tmp_path, *arguments):
    """The output in every format, each checked for its structure, and the page."""
    page = tmp_path / "page.html"
    found = {}
    for form in FORMATS:
        outcome = run("compare", *arguments, "-q", "-f", form, "--html", page, *FAST)
        assert outcome.status == 0, outcome.err
        OUTLINES[form](outcome.out)
        found[form] = outcome.out
    _, found["html"] = html_outline(page.read_text())
    return found


def test_identical_outputs_in_every_format(run, files, tmp_path):
    gold, old, _ = files
    found = everywhere(run, tmp_path, gold, old, old, "--names", "x,y")
    for form in ("text", "json", "markdown", "latex", "html"):
        assert "identical outputs: no item that counts differs" in found[form], form
    comparison = json.loads(found["json"])["comparisons"][0]
    assert (comparison["difference"], comparison["pvalue"]) == (0, 1)
    assert comparison["p_a_better"] == comparison["p_b_better"]
    assert comparison["identical"] is True
    rows = list(csv.DictReader(io.StringIO(found["csv"])))
    assert rows[-1]["identical"] == "True"


def test_a_system_without_predictions_in_every_format(run, files, write, tmp_path):
    found = everywhere(run, tmp_path, *files[:2], write(NOTHING, "nothing.conll"))
    for form in ("text", "markdown", "latex", "html"):
        assert "nothing returned nothing: its precision is undefined." in found[form], form
    answer = json.loads(found["json"])
    precision = answer["systems"][1]["scores"][0]
    assert (precision["metric"], precision["estimate"]) == ("precision", None)
    assert "undefined" in precision["note"]
    assert answer["comparisons"][0]["difference"] == -0.5
    rows = list(csv.DictReader(io.StringIO(found["csv"])))
    assert any("undefined" in row["note"] for row in rows if row["system"] == "nothing")


def test_gold_without_entities_in_every_format(run, files, write, tmp_path):
    found = everywhere(run, tmp_path, write(NOTHING, "empty.conll"), *files[1:])
    for form in ("text", "markdown", "latex", "html"):
        assert "Gold has nothing to find: recall is undefined" in found[form], form
    answer = json.loads(found["json"])
    assert answer["comparisons"][0]["difference"] is None
    assert "No verdict on old and new" in answer["verdicts"][0]
    rows = list(csv.DictReader(io.StringIO(found["csv"])))
    assert any("undefined" in row["note"] for row in rows)


def test_a_label_only_one_side_knows_in_every_format(run, files, tmp_path):
    found = everywhere(run, tmp_path, *files)
    for form in ("text", "markdown", "latex", "html"):
        assert "Labels that gold does not have: GPE (returned by new)." in found[form], form
    system = json.loads(found["json"])["systems"][1]
    gpe = next(entry for entry in system["by_label"] if entry["label"] == "GPE")
    assert gpe["counts"] == {"tp": 0, "fp": 2, "fn": 0}
    rows = list(csv.DictReader(io.StringIO(found["csv"])))
    assert any(row["label"] == "GPE" and "undefined" in row["note"] for row in rows)


def test_hostile_files_and_names(run, write, tmp_path):
    bad = "<script>\x1b[31m\u202e$x$ [1] =1+1|&_"
    entity = json.dumps({"text": "<b>Ann</b> " + "x" * 100_000, "spans": [[0, 3, bad]]})
    other = json.dumps({"text": "<b>Ann</b> " + "x" * 100_000, "spans": [[0, 3, "-C\t"]]})
    gold = write("\n".join([entity] * 4), "gold (1) [x].jsonl")
    a = write("\n".join([entity] * 3 + [other]), "=old $1$ [a] <b>.jsonl")
    b = write("\n".join([entity, other, other, entity]), "-new;'&.jsonl")
    found = everywhere(run, tmp_path, gold, a, b, "--by-label")
    plain = run("compare", gold, a, b, "--names", "A,B", "--by-label", "-q", *FAST).out
    assert len(found["text"].splitlines()) == len(plain.splitlines())
    assert json.loads(found["json"])["systems"][0]["name"] == "=old $1$ [a] <b>"
    assert "<script>" in found["html"]  # as text
    assert "x" * 3000 not in found["html"]
    outcome = run("compare", gold, a, b, "--require-better", *FAST)
    text_outline(outcome.err)
    figure = tmp_path / "figure.png"
    assert run("compare", gold, a, b, "--figure", figure, *FAST).status == 0
    assert figure.read_bytes().startswith(b"\x89PNG")


# --- gates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gate", "swap", "status", "words"),
    [
        (
            "--fail-if-worse",
            False,
            0,
            "--fail-if-worse PASSED: new against old, recall: P(B − A < 0 points)",
        ),
        (
            "--fail-if-worse",
            True,
            1,
            "--fail-if-worse FAILED: old against new, recall: P(B − A < 0 points)",
        ),
        ("--require-not-worse", False, 0, "--require-not-worse PASSED"),
        ("--require-not-worse", True, 1, "--require-not-worse FAILED"),
        ("--require-better", False, 0, "--require-better PASSED"),
        ("--require-better", True, 1, "--require-better FAILED"),
    ],
)
def test_gates(run, files, gate, swap, status, words):
    gold, old, new = files
    outcome = run("compare", gold, *((new, old) if swap else (old, new)), "-q", gate, *FAST)
    assert outcome.status == status
    assert outcome.err.count("\n") == 1
    assert outcome.err.startswith(words)
    assert "points" in outcome.out  # the results are there, whatever the gate says


def test_gates_with_a_margin_and_a_confidence(run, files):
    options = (*files, "-q", "--require-better", *FAST)
    assert run("compare", *options, "--margin", 0.2).status == 0
    far = run("compare", *options, "--margin", 0.6)
    assert far.status == 1
    assert "P(B − A > 60 points) = 0.0" in far.err
    assert "< 0.95" in far.err
    probability = float(run("compare", *options, "--margin", 0.4).err.split(" = ")[1].split()[0])
    for confidence, status in ((probability - 0.01, 0), (probability + 0.01, 1)):
        outcome = run("compare", *options, "--margin", 0.4, "--confidence", confidence)
        assert outcome.status == status


def test_identical_outputs_pass_unless_better_is_required(run, files):
    gold, old, _ = files
    same = ("compare", gold, old, old, "--names", "x,y", "-q", *FAST)
    assert run(*same, "--fail-if-worse").status == 0
    assert run(*same, "--require-not-worse").status == 0
    assert run(*same, "--require-better").status == 1


def test_gates_in_json(run, files):
    gate = ("--require-better", "--margin", 0.02, "--confidence", 0.9)
    answer = json.loads(run("compare", *files, *FAST, "-f", "json", *gate).out)
    (entry,) = answer["gates"]
    assert entry == {
        "kind": "require-better",
        "a": "old",
        "b": "new",
        "metric": "recall",
        "margin": 0.02,
        "margin_points": 2.0,
        "confidence": 0.9,
        "probability": entry["probability"],
        "passed": True,
        "least": entry["least"],
    }
    assert entry["least"] > 0.02
    assert 0.9 <= entry["probability"] <= 1
    assert "gates" not in json.loads(run("compare", *files, *FAST, "-f", "json").out)


@pytest.mark.parametrize("gate", ["--fail-if-worse", "--require-not-worse", "--require-better"])
def test_one_document_is_no_evidence(run, write, gate):
    one = "-DOCSTART-\tO\n\n"
    gold, old, new = (write(one + text, f"{i}.conll") for i, text in enumerate((GOLD, OLD, NEW)))
    asked = ("compare", gold, old, new, "--names", "old,new", "--by", "document", *FAST)
    outcome = run(*asked, gate, "--confidence", 0.999, "-q")
    assert outcome.status == 1
    assert outcome.err == (
        f"{gate} FAILED: new against old, recall: a score rests on a single document, which does "
        f"not show how the systems do on others\n"
    )
    assert "No verdict: a score rests on a single document" in outcome.out
    row = next(line for line in outcome.out.splitlines() if line.startswith(" difference"))
    assert "+43.3 [−100.0, +100.0]" in row
    assert "one unit: the variation" in outcome.out
    answer = json.loads(run(*asked, gate, "-f", "json").out)
    (c,) = answer["comparisons"]
    assert (c["low"], c["high"], c["pvalue"]) == (-1, 1, 1)
    assert (c["p_a_better"], c["p_equivalent"], c["p_b_better"]) == (None, None, None)
    assert answer["gates"][0]["probability"] is None
    assert not answer["gates"][0]["passed"]
    for system in answer["systems"]:
        assert (system["scores"][0]["low"], system["scores"][0]["high"]) == (0, 1)
    assert answer["unit"] == answer["by"] == "document"
    assert answer["units"] == 1


@pytest.mark.parametrize("metric", ["f1", "precision", "recall"])
@pytest.mark.parametrize("gate", ["--fail-if-worse", "--require-not-worse", "--require-better"])
def test_no_gate_passes_where_there_is_nothing_to_be_found(run, write, metric, gate):
    nothing = write(NOTHING, "nothing.conll")
    many, few = write(NEW, "many.conll"), write(NOTHING.replace("Ann\tO", "Ann\tB-PER", 1), "few")
    outcome = run("compare", nothing, many, few, "-q", "--metric", metric, gate)
    assert outcome.status == 1
    assert outcome.err.endswith(": gold has nothing to find\n")
    assert "gold has nothing to find." in outcome.out


# --- files and usage -----------------------------------------------------------------------------


def test_page_and_figures(run, files, tmp_path):
    for name, start in (("f.png", b"\x89PNG"), ("f.svg", b"<?xml"), ("f.pdf", b"%PDF")):
        path = tmp_path / name
        outcome = run("compare", *files, "--figure", path, "--html", tmp_path / "p.html", *FAST)
        assert outcome.status == 0
        assert f"wrote {path}" in outcome.err
        assert path.read_bytes().startswith(start)
        first = path.read_bytes()
        run("compare", *files, "--figure", path, "-q", *FAST)
        assert path.read_bytes() == first


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--metric", "f2"), "metric: unknown 'f2'"),
        (("--average", "weighted"), "average: unknown 'weighted'; expected one of micro, macro"),
        (("--by", "page"), "by: unknown 'page'"),
        (("--by", "document"), "by: no documents are marked"),
        (("--rope", "x"), "'x' is not a number"),
        (("--rope", "-1"), "rope: -1.0 is not a finite number >= 0"),
        (("--rope", "nan"), "'nan' is not a number"),
        (("--rope", "1"), "rope: 1.0 is not below 1; expected a fraction of 1: 0.01 is one point"),
        (("--rope", "2"), "rope: 2.0 is not below 1; expected a fraction of 1: 0.01 is one point"),
        (("--level", "95"), "level: 95.0 is not between 0 and 1"),
        (("--names", "x"), "names: 1 for 2 systems"),
        (("--require-better", "--margin", "-0.1"), "margin: -0.1 is not"),
        (("--require-better", "--margin", "1"), "margin: 1.0 is not below 1; expected a fraction"),
        (("--require-better", "--confidence", "1.5"), "confidence: 1.5 is not between 0 and 1"),
        (("--margin", "0.1"), "--margin: has no effect without --fail-if-worse or --require"),
        (("--confidence", "0.9"), "--confidence: has no effect without --fail-if-worse"),
        (("--fail-if-worse", "--require-better"), "--require-better: cannot be combined with"),
        (("--format", "xml"), "--format: unknown 'xml'"),
        (("--figure", "x.bmp"), "expected a name ending in .png, .svg or .pdf"),
        (("--html", "no/such/folder.html"), "cannot be written"),
        (("--nonsense",), "nonsense"),
    ],
)
def test_bad_usage_is_one_line(refused, files, arguments, message):
    assert message in refused("compare", *files, "-q", *FAST, *arguments)


def test_a_renamed_label_is_the_first_caveat(run, write):
    gold = "Ann B-PER\nmet O\nBob B-PER\n\nRome B-LOC\nfell O\n\n" * 20
    odd = gold.replace("Bob B-PER", "Bob I-LOC")  # tags out of place
    texts = gold, odd, gold.replace("B-LOC", "B-CITY")
    found = run("compare", *(write(text, f"{i}.conll") for i, text in enumerate(texts)))
    assert found.status == 0
    assert "labels that gold does not have: 'CITY'" in found.err
    assert len(found.err.splitlines()) == 2


def test_too_few_files(refused, files):
    for given, found in ((files[:1], "no outputs"), (files[:2], "one output")):
        said = refused("compare", *given, "-q")
        assert said == f"probative: {found}; give two outputs: probative compare GOLD A B"
    assert "missing" in refused("compare").lower()


# --- plan ----------------------------------------------------------------------------------------


def test_plan_json_contract(run, files):
    answer = json.loads(run("plan", *files, "--difference", 0.1, "-f", "json").out)
    expected = {"metric", "difference", "power", "level", "units", "observed_units"}
    assert expected <= answer.keys()
    assert (answer["command"], answer["metric"]) == ("plan", "f1")
    assert (answer["difference"], answer["power"], answer["level"]) == (0.1, 0.8, 0.95)
    assert answer["observed_units"] == 30
    assert isinstance(answer["units"], int)


def test_plan_in_words(run, files):
    text = run("plan", *files, "--units", 500, "--power", 0.9, "--metric", "recall", "-q").out
    assert (
        "is significant at the 5 % level with probability 0.90 on 500 sentences like the 30" in text
    )
    gold, old, _ = files
    nothing = run("plan", gold, old, old, "-q")
    assert "No number of sentences is enough" in nothing.out
    assert json.loads(run("plan", gold, old, old, "-f", "json").out)["units"] is None


@pytest.mark.parametrize("form", FORMATS)
def test_plan_in_every_format(run, files, form):
    outcome = run("plan", *files, "-f", form, "-q")
    assert outcome.status == 0
    OUTLINES[form](outcome.out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--difference", "0.1", "--power", "0.8", "--units", "5"), "expected at most two"),
        (("--power", "2"), "power: 2.0 is not between 0 and 1"),
        (("--units", "0"), "units: 0 is not a whole number >= 1"),
        (("--units", "-3"), "is not a whole number >= 0"),
        (("--metric", "f1,recall"), "metric: unknown 'f1,recall'"),
    ],
)
def test_plan_bad_usage(refused, files, arguments, message):
    assert message in refused("plan", *files, "-q", *arguments)


def test_plan_wants_two_systems(refused, files):
    assert "expected two" in refused("plan", *files[:2], "-q")
    assert "expected two" in refused("plan", *files, files[1], "-q")


def test_buckets_are_told_where_they_are_asked_for(run, refused, tmp_path):
    words = [["Ann", "Lee", "saw", "York"], ["the", "Bank", "of", "Rome", "in", "May"]] * 6
    gold = [["B-P", "I-P", "O", "B-L"], ["O", "B-O", "I-O", "I-O", "O", "O"]] * 6
    new = [["B-P", "O", "O", "B-L"], ["O", "B-O", "I-O", "I-O", "O", "O"]] * 6
    for name, tags in (("gold", gold), ("old", new[::-1]), ("new", new), ("train", gold[:1])):
        blocks = (
            "\n".join(f"{word} {tag}" for word, tag in zip(*side, strict=False))
            for side in zip(words, tags, strict=False)
        )
        (tmp_path / f"{name}.conll").write_text("\n\n".join(blocks) + "\n")
    files = [str(tmp_path / f"{name}.conll") for name in ("gold", "new", "gold")]
    page = ["--html", str(tmp_path / "page.html")]
    plain = json.loads(run("compare", *files, "--format", "json", *page).out)
    assert "buckets" not in plain  # a page besides changes nothing
    assert "by entity length" in (tmp_path / "page.html").read_text()
    asked = json.loads(run("compare", *files, "--format", "json", "--buckets").out)
    assert {b["kind"] for b in asked.pop("buckets")} == {"entity length", "sentence length"}
    assert asked == plain
    seen = ["--train", str(tmp_path / "train.conll")]
    told = json.loads(run("compare", *files, "--format", "json", *seen).out)
    found = {b["bucket"]: b["items"] for b in told["buckets"] if b["kind"].startswith("presence")}
    assert found == {"seen": 12, "not seen": 6}
    assert "F1 by presence in training in points" in run("compare", *files, *seen).out
    assert "none.conll" in refused("compare", *files, "--train", str(tmp_path / "none.conll"))


@pytest.mark.parametrize("width", [64, 80])
def test_buckets_fit_and_what_is_left_out_is_named(run, tmp_path, monkeypatch, width):
    sentence = "Ann\tB-PER\nvan\tI-PER\nDyck\tI-PER\nlives\tO\n\nin\tO\nYork\tB-LOC\n\n"
    files = {
        "gold": sentence * 20,
        "yesterday": sentence.replace("B-LOC", "O") * 8 + sentence * 12,
        "uh_ritual": sentence.replace("B-PER", "O") * 3 + sentence * 17,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("COLUMNS", str(width))
    out = run("compare", *(tmp_path / name for name in files), "--buckets", "-q").out
    assert max(map(len, out.splitlines())) <= width
    told = " ".join(out.split())
    assert "Hidden columns (terminal too narrow): yesterday" in told
    assert ("Hidden columns (terminal too narrow): precision" in told) == (width < 80)


def test_buckets_that_were_asked_for_and_are_not_there_are_told(run, write):
    table = write("y,a,b\n" + "x,x,y\ny,y,y\nx,y,x\n" * 8, "t.csv")
    words = ("compare", table, "--gold-column", "y", "--columns", "a,b")
    assert "no buckets: neither lengths nor labels" in run(*words, "--buckets").err
    assert "no buckets" not in run(*words).err
