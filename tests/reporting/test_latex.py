r"""LaTeX tables: what they hold, and that a real LaTeX sets them."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

import probative as pv
from probative.errors import InputError
from probative.reporting.escape import is_latin

GOLD = [["B-PER", "I-PER", "O"], ["O", "B-LOC", "O"]] * 40
OLD = [["B-PER", "O", "O"], ["O", "B-LOC", "O"]] * 25 + GOLD[:30]
NEW = [["B-PER", "I-PER", "O"], ["O", "B-ORG", "O"]] * 5 + GOLD[:70]
MID = [["B-PER", "I-PER", "O"], ["O", "O", "O"]] * 15 + GOLD[:50]
SPECIAL = "a_b & 50% #1 {x} ~y^z \\n $m$ [*] <é> \"q\" 'p' `r` | -- é"


def compared(**how):
    return pv.compare(GOLD, {"old": OLD, "new": NEW, "mid": MID}, **how)


def test_scores_are_named_as_in_papers():
    text = compared().to_latex()
    assert "F$_1$" in text
    assert " f1" not in text
    assert r"\usepackage{booktabs}" in text


def test_labels_are_there_once_each():
    text = compared().to_latex()
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert labels == ["tab:verdicts-against"]
    assert re.search(r"\\caption\{.*\}\n\\label\{tab:verdicts-against\}\n\\end\{table\}", text)
    both = compared(metric=("f1", "recall")).to_latex(label="tab:ner")
    assert re.findall(r"\\label\{(.*?)\}", both) == ["tab:ner", "tab:ner-2"]
    several = pv.score(GOLD, OLD, NEW, MID).to_latex()
    labels = re.findall(r"\\label\{(.*?)\}", several)
    assert len(set(labels)) == len(labels) == several.count(r"\begin{table}")
    for wrong in ("tab}", "a b", "", "x\\y"):
        with pytest.raises(InputError, match="label: "):
            compared().to_latex(label=wrong)


def test_digits():
    text = compared().to_latex(digits=1)
    scores = re.search(r"^old &.*$", text, re.MULTILINE)[0]
    assert re.findall(r"\d+\.\d+", scores)
    assert all(len(n.split(".")[1]) == 1 for n in re.findall(r"\d+\.\d+", scores))
    three = re.search(r"^old &.*$", compared().to_latex(digits=3), re.MULTILINE)[0]
    assert "68.750" in three
    assert "57.7, 78.0" in re.search(r"^old &.*$", compared().to_latex(), re.MULTILINE)[0]
    for wrong in (-1, 1.5, 99):
        with pytest.raises(InputError, match="digits: "):
            compared().to_latex(digits=wrong)


def test_compact_has_one_row_per_system():
    found = compared()
    text = found.to_latex(compact=True)
    assert text.count(r"\begin{table}") == 1
    head, *rows = re.findall(r"^(.*) \\\\$", text, re.MULTILINE)
    assert head == r"system & P & R & F$_1$ & $\Delta$ & p & P(better)"
    assert [row.split(" & ")[0] for row in rows] == ["old", "new", "mid"]
    assert rows[0].endswith("&  &  & ")  # the baseline has no difference from itself
    c = found.comparisons[0]
    ends = f"+{100 * c.low:.1f}, +{100 * c.high:.1f}"
    assert f"\\textbf{{+{100 * c.difference:.1f} {{[}}{ends}{{]}}}}" in rows[1]
    assert "Holm-adjusted" in text
    with pytest.raises(InputError, match="compact: shows differences from the baseline"):
        compared(all_pairs=True).to_latex(compact=True)


def test_compact_on_the_command_line(run, refused, tmp_path):
    paths = []
    for name, side in (("gold", GOLD), ("old", OLD), ("new", NEW)):
        paths.append(tmp_path / f"{name}.conll")
        rows = ("\n".join(f"w {tag}" for tag in tags) for tags in side)
        paths[-1].write_text("\n\n".join(rows) + "\n")
    made = run("compare", *paths, "--compact", "--digits", 1, "-f", "latex", "-q")
    assert made.status == 0
    assert made.out.startswith(
        pv.compare(*paths).to_latex(compact=True, digits=1).partition("\n\n")[0]
    )
    assert "| new | " in run("compare", *paths, "--compact", "-f", "markdown", "-q").out
    assert "--digits" in refused("compare", *paths, "--digits", "x")
    assert "--all-pairs" in refused("compare", *paths, paths[1], "--compact", "--all-pairs")


def test_wide_tables_are_set_closely_and_lose_nothing_that_is_not_told():
    assert compared().to_latex().count(r"\footnotesize") == 1
    head = re.search(r"^system & .*$", compared().to_latex(), re.MULTILINE)[0]
    assert head.endswith(r"difference & adjusted p & P(better) & verdict \\")


def test_letters_that_pdflatex_does_not_have_are_announced():
    assert is_latin(SPECIAL)
    assert is_latin("F1 ≤ 5 − 2 Δ …")
    for name in ("模型", "модель", "🎉"):
        text = pv.compare(GOLD, {name: OLD, "new": NEW}).to_latex()
        assert text.count("LuaLaTeX") == 1
    assert "LuaLaTeX" not in pv.compare(GOLD, {SPECIAL: OLD, "new": NEW}).to_latex()


def documents():
    """Every kind of table that goes into a paper."""
    paired = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
    folds = [pv.Counts(77, 44, 10)] * 6
    named = {SPECIAL: OLD, "new": NEW, "mid": MID}
    special = [[tag.replace("LOC", SPECIAL.replace(" ", "")) for tag in tags] for tags in GOLD]
    return {
        "two": pv.compare(GOLD, OLD, NEW),
        "three": compared(),
        "macro": compared(average="macro", labels="union"),
        "rope": compared(rope=0.01),
        "buckets": compared(buckets=True),
        "special": pv.compare(special, named, buckets=True),
        "scores": pv.score(special, named),
        "overlap": pv.score(GOLD, OLD, overlap=True),
        "labels": pv.score(["a", "b", "c"] * 9, ["a", "b", "b"] * 9),
        "interval": pv.interval(pv.Counts([77, 7], [44, 4], [10, 1])),
        "difference": pv.difference(paired),
        "randomization": pv.randomization_test(paired),
        "bayes": pv.bayes_test(folds, folds),
        "plan": pv.plan(paired),
        "gate": pv.gate(pv.compare(GOLD, OLD, NEW), "fail-if-worse")[0],
        "rank": pv.rank(special, named, n_jobs=1),
        "macro-rank": pv.rank(GOLD, named, average="macro", n_jobs=1),
        "segmentation": pv.score(["a b"] * 9, ["ab"] * 9, task="segmentation"),
    }


def typeset(folder, tables):
    """What pdfLaTeX says of tables, in a paper that refers to each."""
    labels = re.findall(r"\\label\{(.*?)\}", "".join(tables))
    body = "\n".join([*tables, *(rf"Table~\ref{{{label}}}." for label in labels)])
    (folder / "paper.tex").write_text(
        "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
        f"{body}\n\\end{{document}}\n",
        encoding="utf-8",
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    for _ in range(2):  # the second time references are known
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
        log = done.stdout.decode(errors="replace")
        assert done.returncode == 0, log[-3000:]
    assert "undefined" not in log
    return log


@pytest.fixture
def pdflatex():
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not here")


@pytest.mark.latex
@pytest.mark.usefixtures("pdflatex")
def test_a_real_latex_sets_every_table(tmp_path):
    tables = [found.to_latex(label=f"tab:{name}") for name, found in documents().items()]
    special = pv.compare(GOLD, {SPECIAL: OLD, "new": NEW})
    tables.append(special.to_latex(compact=True, digits=2, label="tab:compact"))
    typeset(tmp_path, tables)


@pytest.mark.latex
@pytest.mark.usefixtures("pdflatex")
def test_the_compact_table_fits_a_page(tmp_path):
    tables = [
        compared().to_latex(compact=True),
        compared(average="macro").to_latex(compact=True, label="tab:macro"),
        pv.compare(GOLD, {"old": OLD, "new": NEW}).to_latex(label="tab:two"),
    ]
    assert "Overfull" not in typeset(tmp_path, tables)


@pytest.mark.latex
@pytest.mark.usefixtures("pdflatex")
def test_a_leaderboard_and_its_pairs_fit_a_page(tmp_path):
    short = pv.rank(GOLD, {"old": OLD, "new": NEW, "mid": MID}, n_jobs=1)
    long = {f"{name} with a name of several words": o for name, o in (("a", OLD), ("b", NEW))}
    tables = [
        short.to_latex(label="tab:short"),
        pv.rank(GOLD, {**long, SPECIAL: MID}, n_jobs=1).to_latex(label="tab:long"),
    ]
    assert tables[0].count("raggedright") == 0
    assert tables[1].count("raggedright") == 6  # one for every system and pair
    assert "Overfull" not in typeset(tmp_path, tables)
