from __future__ import annotations

import importlib.util
import json

import pytest
from conftest import GOLDEN, WNUT17_F1

from probative.data import load


def test_the_demo_judges_writes_and_says_where(run, tmp_path):
    outcome = run("demo", "-o", tmp_path / "out")
    assert outcome.status == 0
    assert "Verdict: uh_ritual scores 1.1 points higher than spinningbytes" in outcome.out
    assert "not established" in outcome.out
    assert str((tmp_path / "out" / "report.html").resolve()) in outcome.err
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"report.html", "gold.conll", "old.conll", "new.conll"}
    assert (tmp_path / "out" / "report.html").read_text().startswith("<!doctype html>")
    files = [tmp_path / "out" / f"{name}.conll" for name in ("gold", "old", "new")]
    again = run("compare", *files, "-q")
    assert again.status == 0
    assert "new scores" in again.out


def test_the_seven_published_scores(run, tmp_path):
    answer = json.loads(run("demo", "-o", tmp_path, "-f", "json", "-q").out)
    systems = {system["name"]: system for system in answer["comparison"]["systems"]}
    for name, published in WNUT17_F1.items():
        (f1,) = (s["estimate"] for s in systems[name]["scores"] if s["metric"] == "f1")
        assert round(100 * f1, 2) == published


def test_a_folder_that_cannot_be_made(refused, tmp_path):
    (tmp_path / "file").write_text("")
    assert "cannot be made" in refused("demo", "-o", tmp_path / "file" / "out")


def test_the_figures_follow_from_the_files(shared):
    path = GOLDEN / "make_wnut17.py"
    spec = importlib.util.spec_from_file_location("make_wnut17", path)
    recipe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe)
    assert recipe.figures(shared / "data" / "wnut17") == load("wnut17")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["latex"])
def test_another_format(run, tmp_path, form):
    assert run("demo", "-o", tmp_path, "-f", form, "-q").status == 0
