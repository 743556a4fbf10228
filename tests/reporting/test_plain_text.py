"""Tables without Rich look as those that it draws."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probative.reporting import render
from probative.reporting.document import Document, Strong, Table

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


@given(st.lists(tables(), max_size=3), st.lists(WORDS, max_size=2))
def test_plain_tables_are_those_of_rich(some, notes):
    document = Document("", {}, tuple(some), (), tuple(notes))
    drawn = render._as_plain_text(document)
    if drawn is not None:
        by_rich = render._as_rich_text(document, colour=False, width=render.UNLIMITED)
        assert render.as_text(document) == _tidied(by_rich)


def _tidied(text):
    lines = "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
    return render.re.sub(r"\n{3,}", "\n\n", lines) + "\n"


@pytest.mark.parametrize(
    "table",
    [
        Table(("a", "b"), (("x" * 150, "y" * 60),)),
        Table(("a",), (("x",),), title="a title that is wider than its table"),
        Table(("a",), ()),
    ],
)
def test_what_does_not_fit_is_left_to_rich(table):
    assert render._as_plain_text(Document("", {}, (table,), ())) is None


def test_bold_cells_are_plain_and_numbers_stand_to_the_right():
    table = Table(("system", "f1"), (("old", "7.5"), ("東京", Strong("81.25"))), title="Scores")
    assert render.as_text(Document("", {}, (table,), ())) == (
        "Scores\n\n system      f1\n ──────────────\n old        7.5\n 東京     81.25\n"
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
