"""The threshold sweep against counting every segmentation by itself."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import probative as pv
from probative.data import load
from probative.jobs.score import score
from probative.jobs.sweep import METRICS

LETTERS = "abc甲乙"


def split(text, begins):
    """The words of a text; `begins` says where inner ones begin."""
    places = [0, *(i + 1 for i, yes in enumerate(begins) if yes), len(text)]
    return [text[a:b] for a, b in pairwise(places)] if text else []


@st.composite
def corpora(draw):
    """Gold words and probabilities with ties; sentences may be empty or one character long."""
    seed = draw(st.integers(0, 2**32 - 1))
    lengths = draw(st.lists(st.integers(0, 9), min_size=1, max_size=6))
    if max(lengths) < 2:
        lengths.append(4)
    rng = np.random.default_rng(seed)
    gold, probabilities = [], []
    for length in lengths:
        text = "".join(rng.choice(list(LETTERS), length))
        inner = max(length - 1, 0)
        gold.append(split(text, rng.random(inner) < 0.5))
        probabilities.append(rng.integers(0, 6, inner) / 5)
    return gold, probabilities


def direct(gold, probabilities, cut):
    """The segmentation that accepts the first `cut` positions, counted by `score`."""
    flat = np.concatenate(probabilities)
    accepted = np.zeros(len(flat), dtype=bool)
    accepted[np.argsort(-flat, kind="stable")[:cut]] = True
    parts = np.split(accepted, np.cumsum([len(row) for row in probabilities])[:-1])
    texts = ["".join(words) for words in gold]
    system = [split(text, part) for text, part in zip(texts, parts, strict=True)]
    return score(gold, system, task="segmentation")[0], system


@settings(max_examples=20)  # a score of every cut takes long
@given(corpora(), st.integers(1, 12))
def test_the_sweep_equals_counting_each_segmentation(corpus, steps):
    gold, probabilities = corpus
    sweep = pv.segmentation_sweep(gold, probabilities, steps)
    for i, cut in enumerate(sweep.accepted.tolist()):
        alone, _ = direct(gold, probabilities, cut)
        assert sweep.counts[i].to_dict()["tp"] == alone.counts.tp
        assert sweep.counts[i].fp == alone.counts.fp
        assert sweep.counts[i].fn == alone.counts.fn
        assert sweep.splitting_bias[i] == pytest.approx(alone.splitting_bias)
        for metric in METRICS:
            got, expected = sweep[metric][i], alone[metric]
            assert got.estimate == pytest.approx(expected.estimate, nan_ok=True)
            if len(gold) > 1:
                assert got.low == pytest.approx(expected.low, abs=1e-12)
                assert got.high == pytest.approx(expected.high, abs=1e-12)


@settings(max_examples=20)
@given(corpora())
def test_the_best_of_all_cuts_is_the_best_of_trying_them_all(corpus):
    gold, probabilities = corpus
    sweep = pv.segmentation_sweep(gold, probabilities, 3)
    every = [direct(gold, probabilities, cut)[0] for cut in range(sweep.positions + 1)]
    for metric in METRICS:
        scores = np.array([alone[metric].estimate for alone in every])
        best = sweep.best_of(metric)
        assert best.finest_score == pytest.approx(np.nanmax(scores))
        close = np.flatnonzero(scores >= np.nanmax(scores) - 1e-12)
        assert round(best.finest_share * sweep.positions) in close
        assert best.score <= best.finest_score


def test_both_ends_are_the_trivial_segmenters_of_table_1():
    for sentence in load("segmentation")["table1"]:
        gold = [sentence["reference"]]
        length = len("".join(gold[0]))
        sweep = pv.segmentation_sweep(gold, [np.linspace(0, 1, length - 1)])
        for end, name in ((-1, "T1"), (0, "T2")):
            published = sentence["systems"][name]
            assert sweep.counts[end].tp == published["tp"]
            assert sweep.counts[end].predicted == published["words"]
            for metric in METRICS:
                value = sweep[metric].estimate[end]
                assert value == pytest.approx(published[metric], abs=0.0051)


def test_more_steps_pass_through_the_same_points():
    rng = np.random.default_rng(5)
    gold = [["ab", "c", "def"], ["a", "bcd"]] * 20
    probabilities = [rng.random(len("".join(words)) - 1) for words in gold]
    few = pv.segmentation_sweep(gold, probabilities, 20)
    many = pv.segmentation_sweep(gold, probabilities, 200)
    assert np.array_equal(few.counts.tp, many.counts.tp[::10])
    assert few["f1"].low == pytest.approx(many["f1"].low[::10])
    assert few.best_of("f1").finest_share == many.best_of("f1").finest_share


def test_any_scores_that_rank_will_do():
    gold = [["ab", "c"]]
    logits = pv.segmentation_sweep(gold, [[-3.0, 4.0]], 2)
    shares = pv.segmentation_sweep(gold, [[0.1, 0.9]], 2)
    assert logits.counts == shares.counts
    assert np.isnan(logits.thresholds[0])
    assert logits.thresholds[1:].tolist() == [4.0, -3.0]


def test_it_reads_aloud_and_as_json():
    sweep = pv.segmentation_sweep([["ab", "c"]], [[0.1, 0.9]], 2)
    assert "recall is highest at λ = 0.5 (1.0000)" in str(sweep)
    content = json.loads(json.dumps(sweep.to_dict()))
    assert [step["lambda"] for step in content["steps"]] == [0.0, 0.5, 1.0]
    assert content["steps"][0]["threshold"] is None
    assert content["best"][1]["lambda"] == 0.5
    assert {"metric", "estimate", "low", "high"} <= content["steps"][0]["scores"][0].keys()


@pytest.mark.parametrize(
    ("probabilities", "gold", "message"),
    [
        ([[0.5]], [["ab"], ["c"]], "1 sentences, but gold has 2"),
        ([[0.5, 0.5]], [["ab"]], "sentence 1: 2 numbers; expected 1"),
        ([[float("nan")]], [["ab"]], "sentence 1: is no list of finite numbers"),
        ([["x"]], [["ab"]], "sentence 1: is no list of finite numbers"),
        (7, [["ab"]], "probabilities: int"),
        ([[]], [["a"]], "expected one to split"),
    ],
)
def test_what_does_not_fit_is_refused(probabilities, gold, message):
    with pytest.raises(pv.InputError, match=message):
        pv.segmentation_sweep(gold, probabilities)


def test_steps_and_level_are_checked():
    with pytest.raises(pv.InputError, match="steps: 0 is not a whole number >= 1"):
        pv.segmentation_sweep([["ab"]], [[0.5]], 0)
    with pytest.raises(pv.InputError, match="level"):
        pv.segmentation_sweep([["ab"]], [[0.5]], level=95)


@pytest.fixture
def files(tmp_path):
    gold, rows = tmp_path / "gold.txt", tmp_path / "p.jsonl"
    gold.write_text("约翰 喜欢 玛丽\n\n我 来 了\n好\n", encoding="utf-8")
    rows.write_text(
        '[0.1, 0.9, 0.2, 0.8, 0.3]\n\n{"text": "我来了", "probabilities": [0.7, 0.6]}\n[]\n',
        encoding="utf-8",
    )
    return gold, rows


def test_the_command_writes_tables_json_figures_and_a_page(run, files, tmp_path):
    figure, page = tmp_path / "s.png", tmp_path / "s.html"
    shown = run("sweep", *files, "--steps", 7, "--figure", figure, "--html", page)
    assert shown.status == 0
    assert "Where each score is highest" in shown.out
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert "<svg" in page.read_text(encoding="utf-8")
    content = json.loads(run("sweep", *files, "--steps", 7, "-f", "json").out)
    assert content["command"] == "sweep"
    assert content["positions"] == 7
    assert content["steps"][4]["counts"] == {"tp": 7, "fp": 0, "fn": 0, "tn": 21}
    lines = run("sweep", *files, "--steps", 7, "-f", "csv").out.splitlines()
    assert len(lines) == 1 + 8 * 4


def test_the_command_names_file_and_line(refused, files, tmp_path):
    gold, _ = files
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text("[0.1, 0.9, 0.2, 0.8, 0.3]\n\n[0.7]\n[]\n")
    assert refused("sweep", gold, wrong, "-q").startswith(f"{wrong}:3: 1 numbers; expected 2")
    wrong.write_text("[0.1, 0.9, 0.2, 0.8, 0.3]\n\nyes\n[]\n")
    assert refused("sweep", gold, wrong, "-q").startswith(f"{wrong}:3: 'yes' is not JSON")
    wrong.write_text('{"words": 3}\n')
    assert "expected a list of numbers" in refused("sweep", gold, wrong, "-q")
    wrong.write_text("[1e999]\n")
    assert f"{wrong}:1:" in refused("sweep", gold, wrong, "-q")
    assert refused("sweep", gold, wrong, "--steps", "few", "-q")
