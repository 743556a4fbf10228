from __future__ import annotations

import json

import pytest

import probative as pv


@pytest.fixture
def trained_elsewhere(run, tmp_path, monkeypatch):
    """A corpus, its folds, and the predictions of two taggers that were made from them."""
    monkeypatch.chdir(tmp_path)
    corpus = tmp_path / "corpus.conll"
    sentences = [f"Name{i} B-PER\nsaw O\nRome{i % 7} B-LOC\n" for i in range(28)]
    corpus.write_text("\n".join(sentences) + "\n" + "word O\n\n" * 12)
    assert run("split", corpus, "-o", "folds", "--seed", 1, "-q").status == 0
    for name, change in (("a", ("B-LOC", "O")), ("b", ("B-LOC", "B-LOC"))):
        (tmp_path / name).mkdir()
        for number in range(1, 7):
            gold = (tmp_path / "folds" / f"fold-{number}-validation.conll").read_text()
            (tmp_path / name / f"{number}.conll").write_text(gold.replace(*change))
    return tmp_path


@pytest.mark.usefixtures("trained_elsewhere")
def test_predictions_are_scored_against_their_folds(run):
    arguments = ("--folds", "folds", "--preds-a", "a/*.conll", "--preds-b", "b/*.conll")
    outcome = run("bayes", *arguments, "--metric", "recall", "-f", "json")
    answer = json.loads(outcome.out)
    assert answer["command"] == "bayes"
    assert len(answer["folds"]) == 12
    a = [pv.Counts(**fold["counts"]) for fold in answer["folds"] if fold["model"] == "A"]
    b = [pv.Counts(**fold["counts"]) for fold in answer["folds"] if fold["model"] == "B"]
    assert {(c.tp, c.fp, c.fn) for c in a} == {(14, 0, 14)}
    assert {(c.tp, c.fp, c.fn) for c in b} == {(28, 0, 0)}
    paired, independent = answer["tests"]
    expected = pv.bayes_test(a, b, "recall").to_dict()
    assert independent == json.loads(json.dumps(expected))
    assert paired["posterior"] == "paired"
    assert paired["p_b_better"] > 0.9999


def test_only_type_and_page(run, trained_elsewhere):
    arguments = ("--folds", "folds", "--preds-a", "a/*", "--preds-b", "b/*", "--metric", "recall")
    only = json.loads(run("bayes", *arguments, "--only", "PER", "-f", "json").out)
    assert {fold["counts"]["tp"] for fold in only["folds"]} == {14}
    outcome = run("bayes", *arguments, "--html", "page.html", "--figure", "figure.svg")
    assert outcome.status == 0
    assert (trained_elsewhere / "page.html").read_text().count("<svg") == 2
    assert (trained_elsewhere / "figure.svg").exists()


def test_what_does_not_belong_together(refused, trained_elsewhere):
    folds = ("--folds", "folds")
    both = ("--preds-a", "a/*", "--preds-b", "b/*")
    assert "--folds: missing; expected --folds, --preds-a and --preds-b" in refused("bayes", *both)
    assert "--preds-b: missing" in refused("bayes", *folds, *both[:2])
    assert "--preds-b: 0 files; expected 6" in refused("bayes", *folds, *both[:3], "c/*")
    assert "cannot be combined" in refused("bayes", "counts.csv", *folds, *both)
    line = refused("bayes", "--folds", "elsewhere", *both)
    assert "manifest.json: cannot be read" in line
    path = trained_elsewhere / "b" / "3.conll"
    path.write_text(path.read_text().replace("saw", "seen"))
    line = refused("bayes", *folds, *both)
    assert "(the file belongs to no fold; compared with fold-3-validation.conll)" in line


@pytest.mark.usefixtures("trained_elsewhere")
def test_every_choice_is_in_the_signature(run):
    arguments = ("bayes", "--folds", "folds", "--preds-a", "a/*", "--preds-b", "b/*", "-f", "json")

    def signature(*more):
        return json.loads(run(*arguments, *more).out)["signature"]

    recall = ("--metric", "recall")
    fbeta = ("--metric", "fbeta", "--only", "PER", "--beta")
    variants = [recall, (*recall, "--rope", 0.01), (*fbeta, 2), (*fbeta, 0.5)]
    variants += [(*recall, "--prior", 0.5), (*recall, "--level", 0.9), ("--metric", "jaccard")]
    variants += [(*recall, "--weight", "averaged"), (*recall, "--ignore-type")]
    assert len({signature(*variant) for variant in variants}) == len(variants)


@pytest.mark.usefixtures("trained_elsewhere")
def test_options_that_mean_nothing_here_are_refused(refused, tmp_path):
    arguments = ("bayes", "--folds", "folds", "--preds-a", "a/*", "--preds-b", "b/*")
    line = refused(*arguments, "--sampled", 1000)
    assert "--sampled: cannot be combined with --folds" in line
    assert "--plot: has no effect without --figure" in refused(*arguments, "--plot", "difference")
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("tp,fp,fn\n8,1,2\n")
    counts = ("bayes", tmp_path / "a.csv", tmp_path / "b.csv")
    assert "--only: has no effect without --folds" in refused(*counts, "--only", "PER")
    assert "--ignore-type: has no effect" in refused(*counts, "--ignore-type")
    assert "--weight: applies to folds" in refused(*counts, "--weight", "averaged")


def test_the_difference_is_drawn_where_it_is_asked_for(run, trained_elsewhere):
    arguments = ("bayes", "--folds", "folds", "--preds-a", "a/*", "--preds-b", "b/*", "-q")
    arguments += ("--metric", "recall", "--figure")
    run(*arguments, "scores.svg")
    run(*arguments, "difference.svg", "--plot", "difference")
    scores, difference = (
        (trained_elsewhere / f"{name}.svg").read_text() for name in ("scores", "difference")
    )
    assert scores != difference


@pytest.mark.usefixtures("trained_elsewhere")
def test_the_verdict_stands_beside_the_published_test(run):
    arguments = ("bayes", "--folds", "folds", "--preds-a", "a/*", "--preds-b", "b/*")
    answer = json.loads(run(*arguments, "--metric", "recall", "-f", "json").out)
    (adjusted,) = answer["adjusted_tests"]
    assert set(adjusted) >= set(answer["tests"][0])
    assert adjusted["fold_design_effect"] is None  # every fold is like the others
    assert "cannot be measured" in adjusted["note"]
    text = run(*arguments, "--metric", "recall").out
    assert "recall: the training variance cannot be measured here" in text
    assert "A = A" not in text
