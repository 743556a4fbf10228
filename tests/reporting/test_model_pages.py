"""The pages of Bayes tests and of cross-validated comparisons."""

from __future__ import annotations

import sys

import pytest

from probative.cli import main

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
