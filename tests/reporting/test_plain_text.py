"""Tables as text: every cell is shown, nothing is wider than the terminal."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from probative.reporting import escape, render
from probative.reporting.document import Document, Strong, Table
from probative.reporting.render import note_lines

WORDS = st.text(max_size=12) | st.sampled_from(["東京", "–", "0.5", " a ", "", "e\u0301", "😀"])


@st.composite
def tables(draw):
    wide = draw(st.integers(1, 5))
    row = st.tuples(*[WORDS] * wide)
    return Table(
        columns=draw(row),
        rows=tuple(draw(st.lists(row, max_size=4))),
        title=draw(WORDS),
        notes=tuple(draw(st.lists(WORDS, max_size=2))),
        text_columns=draw(st.integers(0, wide)),
        closing_words=draw(st.booleans()),
    )


@given(tables(), st.integers(20, 90))
def test_every_cell_is_shown_or_its_column_is_named(table, width):
    text = render.as_text(Document("", {}, (table,), ()), width=width)
    letters = "".join(text.split())
    fitted, hidden = render._fitted(table, width)
    if sum(render._least_widths(fitted)) <= render._room_for(fitted, width):
        assert all(cell_len(line) <= width for line in text.splitlines())
    for head in hidden:
        assert "".join(escape.plain(head).split()) in letters
    for row in (fitted.columns, *fitted.rows):
        for cell in row:
            assert all(character in letters for character in "".join(escape.plain(cell).split()))


def test_names_are_broken_before_columns_are_hidden():
    table = Table(("a", "b"), (("x" * 150, "y" * 60),))
    text = render.as_text(Document("", {}, (table,), ()), width=100)
    assert text.count("x") == 150
    assert text.count("y") == 60


def test_bold_cells_are_plain_and_numbers_stand_to_the_right():
    table = Table(("system", "f1"), (("old", "7.5"), ("東京", Strong("81.25"))), title="Scores")
    assert render.as_text(Document("", {}, (table,), ())) == (
        "Scores\n system      f1\n ──────────────\n old        7.5\n 東京     81.25\n"
    )


def test_a_table_for_a_pipe_needs_little_of_rich():
    code = (
        "import sys; from probative.cli import main; "
        "main(['interval', '--tp', '77', '--fp', '44', '--fn', '10']); "
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "wilson-indirect" in done.stdout
    assert "rich.console" not in done.stderr.split()


@pytest.mark.parametrize("width", [1, 7, 20, 80])
def test_sentences_are_broken_at_words(width):
    note = "Two systems that share a letter are not distinguishable; 東京都 and 京都 are wide."
    lines = note_lines(note, width)
    assert "".join("".join(lines).split()) == "".join(note.split())
    if width > 1:
        assert all(cell_len(line) <= width for line in lines)
    if width == 80:
        assert " ".join(lines) == note
    assert note_lines(note, None) == [note]


def test_columns_are_left_out_in_order():
    table = Table(
        ("system", "f1", "95 %", "P(best)"),
        (("one", "81.25", "70 to 90", "0.9"), ("other", "7.50", "1 to 20", "0.1")),
        droppable=(3, 2),
    )
    document = Document("", {}, (table,), ())
    heads = [render.as_text(document, width=width).split("\n")[0].split() for width in (40, 28, 14)]
    assert heads == [
        ["system", "f1", "95", "%", "P(best)"],
        ["system", "f1", "95", "%"],
        ["system", "f1"],
    ]
    assert "Hidden columns (terminal too narrow): P(best), 95 %." in " ".join(
        render.as_text(document, width=14).split()
    )
    assert table.without(2).droppable == (2,)
    assert table.without(0).text_columns == 0


def test_a_table_that_is_too_wide_keeps_its_words():
    """Columns of numbers are hidden first, the last one first."""
    numbers = tuple(f"number {i}" for i in range(9))
    table = Table(("metric", *numbers, "decision"), (("precision", *["0.12345"] * 9, "H1"),),
                  closing_words=True)  # fmt: skip
    text = render.as_text(Document("", {}, (table,), ()), width=60)
    head, _, row, *note = text.splitlines()
    assert "number 8, number 7" in " ".join(note)
    assert (head.split()[0], head.split()[-1]) == ("metric", "decision")
    assert (row.split()[0], row.split()[-1]) == ("precision", "H1")


def test_the_bayes_test_names_its_scores_on_a_narrow_terminal(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("tp,fp,fn\n" + "77,44,10\n" * 6)
    text = run("bayes", tmp_path / "a.csv", tmp_path / "b.csv", "--rope", "0.005").out
    head = next(line for line in text.splitlines() if line.startswith(" metric "))
    assert head.split()[:3] == ["metric", "verdict", "A"]
    assert all(cell_len(line) <= 100 for line in text.splitlines())
    left_out = " ".join(text[text.index("Hidden columns (terminal too narrow):") :].split())
    assert "fold effect, P(H0)" in left_out
