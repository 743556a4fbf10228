"""Plain words that fit: the text of every command, its page, its help and its errors."""

from __future__ import annotations

import contextlib
import io
import itertools
import re

import pytest
from reporting.test_every_page import COMMANDS, _answer, inputs, pages  # noqa: F401  # fixtures
from reporting.test_model_pages import FICKLE
from rich.cells import cell_len

import probative as pv
from probative.cli import main
from probative.cli.app import build_app
from probative.cli.output import Output
from probative.crossval.runner import judge_folds
from probative.reporting.bayes_report import crossval_document
from probative.reporting.render import as_text
from probative.results.crossval import FoldCounts

BANNED = (
    "told apart",
    "tell apart",
    "want of room",
    "the answer",
    "go well with",
    "goes well with",
    "speaks? of",
    "the data do not say",
    "left out for",
    "endless data",
    "going by the weaker",
    "it is open whether",
    "is surer",
    "cannot be told",
    r"nothing (?:is|can be) said",
    "counts as one sentence",
    "what single runs do",
    "a row a unit",
)
PATTERN = re.compile(rf"\b(?:{'|'.join(BANNED)})\b", re.IGNORECASE)
WIDTHS = (60, 80, 120)
# Commands whose sentences are still to be written plainly: to be emptied.
NOT_YET_PLAIN: frozenset[str] = frozenset()


def crossval_text(width: int, *, verbose: bool) -> str:
    paired = [pv.PairedCounts(row) for row in FICKLE]
    names = ("crf:iob2,max_iterations=10", "crf:iobes,max_iterations=10")
    folds = tuple(
        FoldCounts(number, name, 500, 500, counts)
        for number, table in enumerate(paired, 1)
        for name, counts in zip(names, (table.a, table.b), strict=True)
    )
    found = judge_folds(paired, ["precision", "f1"], names=names, task="labels", folds=folds)
    return as_text(crossval_document(found), width=width, verbose=verbose)


@pytest.fixture(scope="module")
def texts(inputs, pages):  # noqa: F811, ARG001  # the pages write what later commands read
    """What every command prints, by its name, the width and whether it is verbose."""
    printed = {}
    made = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(inputs)
        patch.setattr(Output, "emit", lambda _, document, draw=None: made.append(document))
        for name, words in COMMANDS.items():
            if name == "sample":
                for drawn in inputs.glob("drawn.*"):
                    drawn.unlink()
            if name == "estimate":
                _answer(inputs)
            err = io.StringIO()
            with contextlib.redirect_stderr(err):
                assert main(words.split()) in (0, 1), name
            for width, verbose in itertools.product(WIDTHS, (False, True)):
                text = as_text(made[-1], width=width, verbose=verbose)
                printed[name, width, verbose] = text, err.getvalue()
    for width, verbose in itertools.product(WIDTHS, (False, True)):
        printed["crossval", width, verbose] = crossval_text(width, verbose=verbose), ""
    return printed


def test_no_line_is_wider_than_the_terminal(texts):
    wide = {
        (name, width, verbose): line
        for (name, width, verbose), (out, _) in texts.items()
        for line in out.splitlines()
        if cell_len(line) > width
    }
    assert wide == {}


def test_a_hidden_column_is_named(texts):
    narrow, wide = texts["compare", 60, False][0], texts["compare", 120, False][0]
    assert "Hidden columns (terminal too narrow): precision." in " ".join(narrow.split())
    assert "Hidden columns" not in wide
    assert "precision" in wide


def said(text: str) -> list[str]:
    return PATTERN.findall(" ".join(text.split()))


def test_the_text_of_every_command_is_plain(texts):
    found = {
        name: said(out + err)
        for (name, width, verbose), (out, err) in texts.items()
        if verbose and width == 120 and name not in NOT_YET_PLAIN
    }
    assert {name: words for name, words in found.items() if words} == {}


def test_every_page_is_plain(pages):  # noqa: F811  # a fixture
    found = {
        name: said(re.sub(r"<(style|script).*?</\1>", "", page.read_text("utf-8"), flags=re.DOTALL))
        for name, page in pages.items()
        if name.split("-")[0] not in NOT_YET_PLAIN and name not in NOT_YET_PLAIN
    }
    assert {name: words for name, words in found.items() if words} == {}


def test_the_help_of_every_command_is_plain(run):
    for name in build_app().commands:
        if name in ("app", "study") or name in NOT_YET_PLAIN:
            continue
        for flag in ("--help", "--help-all"):
            shown = run(name, flag)
            assert shown.status in (0, 2)
            assert said(shown.out) == [], name


def test_rank_names_systems_and_no_tiers(texts, pages):  # noqa: F811  # fixtures
    for verbose in (False, True):
        out, _ = texts["rank", 120, verbose]
        assert "tier" not in out
        assert "E(rank)" not in out
        assert "leads" in out
    assert "tier" not in re.sub(r"<style.*?</style>", "", pages["rank"].read_text("utf-8"))


@pytest.mark.parametrize(
    ("name", "most"), [("score", 15), ("compare", 14), ("rank", 16)], ids=lambda v: str(v)
)
def test_the_usual_output_is_short(texts, name, most):
    out, err = texts[name, 80, False]
    assert len(out.splitlines()) <= most
    assert len(err.splitlines()) <= 2


def test_the_verdict_is_last_and_the_signature_is_for_the_curious(texts):
    brief, full = texts["compare", 120, False][0], texts["compare", 120, True][0]
    assert "probative:" not in brief
    assert "probative:" in full
    last = brief.strip().split("\n\n")[-1]
    assert "scores" in last
    assert brief.count("established") <= 1
    assert full.strip().endswith(last)
