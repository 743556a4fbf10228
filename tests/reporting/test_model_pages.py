"""The pages of Bayes tests and of cross-validated comparisons."""

from __future__ import annotations

import sys

import pytest

import probative as pv
from probative.cli import main
from probative.crossval.runner import judge_folds
from probative.reporting.bayes_report import crossval_document, crossval_figure, crossval_pictures
from probative.reporting.pictures import svg
from probative.reporting.render import as_text
from probative.results.crossval import FoldCounts
from probative.wording.numbers import probability

FOLDS = "tp,fp,fn\n" + "60,10,12\n58,12,14\n62,9,10\n" * 2
BETTER = "tp,fp,fn\n" + "70,10,12\n68,12,14\n72,9,10\n" * 2


@pytest.fixture
def page(write, tmp_path, monkeypatch):
    def make(*options):
        monkeypatch.setitem(sys.modules, "matplotlib", None)  # nobody may ask for it
        a, b = write(FOLDS, "one.csv"), write(BETTER, "two.csv")
        place = tmp_path / "page.html"
        assert main(["bayes", str(a), str(b), "--html", str(place), "-q", *options]) == 0
        return place.read_text()

    return make


def test_every_metric_has_its_posteriors_and_its_difference(page, capsys):
    shown = page()
    assert shown.count('<svg xmlns="http://www.w3.org/2000/svg" class="half"') == 6
    for name in ("precision", "recall", "F1"):
        assert f"Posterior of {name}; the baseline in orange" in shown
        assert f"difference in {name}, points" in shown
    capsys.readouterr()


def test_one_metric_shows_both_models(page, capsys):
    shown = page("--metric", "f1", "--rope", "0.01")
    assert '<text class="named marked"' in shown
    assert '<text class="named"' in shown
    assert "between them the two count as equivalent" in shown
    capsys.readouterr()


def test_a_page_is_signed_once(page, capsys):
    assert page().count("probative:0.1.0|") == 1
    capsys.readouterr()


def test_the_answer_stands_above_the_tables(page, capsys):
    shown = page("--metric", "recall")
    lines = capsys.readouterr().out.splitlines()
    sentence = (
        "recall: the difference is not established: P(two better) = 0.698 (two 85.4, one 83.3; "
        "95 % interval of the difference [−5.6, +9.9])."
    )
    assert lines[0] == sentence
    headline = shown.index('<div class="headline open">')
    assert headline < shown.index("Not established") < shown.index(f"<p>{sentence}")
    assert shown.index(f"<p>{sentence}") < shown.index("<table")
    assert shown.count(sentence) == 1
    assert " recall   not established   83.33 [" in "\n".join(lines)
    assert lines[3].split()[-2:] == ["likelier", "hypothesis"]
    assert "s score is higher. Likelier hypothesis: the one with the higher probability" in shown


FICKLE = [
    [3, 4, 30, 4, 160, 28, 29, 300],
    [27, 4, 4, 4, 160, 28, 29, 300],
    [5, 6, 28, 3, 162, 26, 27, 300],
    [20, 4, 9, 4, 160, 28, 29, 300],
    [13, 4, 11, 4, 160, 28, 29, 300],
    [9, 6, 22, 3, 162, 26, 27, 300],
]


def test_a_cross_validation_draws_the_posterior_of_its_verdict():
    paired = [pv.PairedCounts(row) for row in FICKLE]
    folds = tuple(
        FoldCounts(number, name, 500, 500, counts)
        for number, table in enumerate(paired, 1)
        for name, counts in (("old", table.a), ("new", table.b))
    )
    found = judge_folds(paired, ["f1"], names=("old", "new"), task="labels", folds=folds)
    published, adjusted = (probability(t["f1"].p_b_better) for t in (found.published, found))
    assert published != adjusted
    assert f"P(new better) = {adjusted}" in str(found)
    scores, difference = crossval_pictures(found)
    for words in (difference.reading, difference.description, svg(difference)):
        assert adjusted in words
        assert published not in words
    assert "without the training variance" in scores.reading
    drawn = [text.get_text() for text in crossval_figure(found, "difference").axes[0].texts]
    assert f"P(new better) = {adjusted}" in drawn
    shown = as_text(crossval_document(found))
    assert shown.startswith("F1: ")
    assert shown.index("scores in points") < shown.index("Published tests, which do not allow")
