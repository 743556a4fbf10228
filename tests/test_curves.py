"""Curves from the inputs that people have."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import probative as pv
from probative.cli import main

GOLD = [1, 1, 0, 1, 0, 0, 1, 0, 0, 0]
SCORES = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.35, 0.3, 0.2, 0.1]


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(2)
    yes = rng.random(60) < 0.4
    rows = zip(
        np.arange(60) // 2, yes, rng.random(60), 0.5 * yes + 0.5 * rng.random(60), strict=True
    )
    lines = [f"{u},{'yes' if y else 'no'},{a:.3f},{b:.3f}" for u, y, a, b in rows]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["doc,label,old,new", *lines]) + "\n")
    return path


def numbers(curve):
    ap, best = curve.average_precision, curve.best
    return ap.estimate, ap.low, ap.high, curve.roc_auc.low, best.estimate, best.low, best.high


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**20))
def test_a_monotone_transformation_changes_nothing_but_thresholds(seed):
    rng = np.random.default_rng(seed)
    yes = np.append(rng.random(30) < 0.4, [True, True, False])
    scores = np.round(rng.normal(yes), 1)
    one, other = pv.curve(yes, scores), pv.curve(yes, np.exp(scores / 2) - 7)
    assert numbers(one) == pytest.approx(numbers(other))
    np.testing.assert_allclose(one.simultaneous.precision_low, other.simultaneous.precision_low)


def test_lists_arrays_frames_and_files_give_the_same(table):
    import pandas as pd
    import polars as pl

    frame = pd.read_csv(table)
    columns = {"gold_column": "label", "columns": ["new"]}
    expected = numbers(pv.curve(frame["label"].tolist(), frame["new"].tolist()))
    assert numbers(pv.curve(frame["label"], frame["new"])) == expected
    assert numbers(pv.curve(frame["label"].to_numpy(), frame["new"].to_numpy())) == expected
    assert numbers(pv.curve(frame, **columns)) == expected
    assert numbers(pv.curve(pl.read_csv(table), **columns)) == expected
    assert numbers(pv.curve(str(table), **columns)) == expected
    for ending, write in (("jsonl", "to_json"), ("parquet", "to_parquet")):
        path = table.with_suffix(f".{ending}")
        how = {"orient": "records", "lines": True} if ending == "jsonl" else {}
        getattr(frame, write)(path, **how)
        assert numbers(pv.curve(str(path), **columns)) == expected
    by_unit = pv.curve(str(table), **columns, unit_column="doc")
    units = pv.curve(frame["label"], frame["new"], units=frame["doc"])
    assert by_unit.units == 30
    assert numbers(by_unit) == numbers(units) != expected


def test_separate_files_are_read(tmp_path):
    gold, scores = tmp_path / "gold.txt", tmp_path / "scores.txt"
    gold.write_text("\n".join(map(str, GOLD)) + "\n")
    scores.write_text("\n".join(map(str, SCORES)) + "\n")
    assert numbers(pv.curve(str(gold), str(scores))) == numbers(pv.curve(GOLD, SCORES))


@pytest.mark.parametrize(
    ("gold", "scores", "words"),
    [
        ([0, 0], [0.1, 0.2], "no item is '1'"),
        ([1, 0], [0.1, float("nan")], "item 2 is nan"),
        ([1, 0], [0.1, float("inf")], "item 2 is inf"),
        ([1, 0], ["a", "b"], "not a number"),
        ([1, 0], [0.1], "1 scores, but gold has 2"),
        ([1, 0], [[0.1, 0.9], [0.4, 0.6]], "one score per item"),
        (["a", "b"], [0.1, 0.2], "expected positive="),
        (["a", "b", "c"], [0.1, 0.2, 0.3], "several classes"),
    ],
)
def test_what_is_no_score_is_refused_in_one_line(gold, scores, words):
    with pytest.raises(pv.InputError) as error:
        pv.curve(gold, scores)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_choices_that_mean_nothing_are_refused():
    chosen = {
        "threshold": 0.5,
        "scheme": "iob2",
        "only": ["1"],
        "group": "lang",
        "match": "partial",
        "key": "id",
    }
    for name, value in chosen.items():
        with pytest.raises(pv.InputError, match=f"{name}: does not apply"):
            pv.curve(GOLD, SCORES, **{name: value})


def test_what_is_odd_is_said():
    assert any("0 and 1 alone" in n for n in pv.curve([1, 0, 1], [1, 0, 0]).notes)
    assert any("all scores are equal" in n for n in pv.curve([1, 0, 1], [0.5] * 3).notes)
    curve = pv.curve([1, 0, 1], [3, -2, 1])
    assert curve.calibration is None
    assert any("no probabilities" in n for n in curve.notes)
    rest = pv.curve(["a", "b", "c", "a"], [3, 1, 2, 4], positive="a")
    assert rest.average_precision.estimate == 1
    assert "'a' against 2 other classes" in rest.notes


def test_copies_of_a_system_do_not_differ():
    result = pv.compare_curves(GOLD, SCORES, np.exp(SCORES))
    for one in result.comparisons:
        assert (one.difference, one.low, one.high, one.pvalue) == (0, 0, 0, 1)
    assert "identical" in str(result)


@pytest.mark.parametrize("power", [1, 6])
def test_of_one_ranking_only_the_ranking_is_called_identical(power):
    chance = 1 / (1 + np.exp(-np.asarray(SCORES)))
    result = pv.compare_curves(GOLD, chance, chance**power)
    for sentence in (*result.verdicts, *map(str, result.comparisons)):
        assert "The ranking is identical" in sentence
        assert "identical outputs" not in sentence
        assert "nothing that counts differs" not in sentence
    assert "depends on the order alone" in result.verdicts[0]
    assert pv.gate(result, "require-not-worse")[0].passed


@pytest.mark.parametrize("case", ["one positive", "one negative", "one unit", "positives in one"])
def test_one_of_a_class_is_no_evidence(case):
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 40))
    yes = {"one positive": np.arange(40) == 3, "one negative": np.arange(40) != 3}.get(
        case, np.arange(40) < 10
    )
    units = {
        "one unit": ["d"] * 40,
        "positives in one": ["d"] * 10 + [str(i) for i in range(30)],
    }.get(case)
    found = pv.compare_curves(yes, a, b, units=units)
    for one in found.comparisons:
        assert (one.low, one.high) == (-1, 1), one.metric
        assert math.isnan(one.p_b_better)
    for curve in found.curves:
        for interval in (curve.average_precision, curve.roc_auc):
            assert (interval.low, interval.high) == (0, 1)
            assert "its variation cannot be estimated" in interval.note
    assert "No verdict" in found.verdicts[0]
    assert not pv.gate(found, "require-not-worse")[0].passed


def test_items_of_one_class_are_refused():
    with pytest.raises(pv.InputError, match="all 8 items are '1'; expected those of another class"):
        pv.compare_curves([1] * 8, np.arange(8), np.arange(8)[::-1])
    with pytest.raises(pv.InputError, match="all 5 items are '1'"):
        pv.curve([1] * 5, [0.1, 0.2, 0.3, 0.4, 0.5])


def test_scores_out_of_0_and_1_have_ranks_and_no_calibration():
    inside, outside = pv.curve(GOLD, SCORES), pv.curve(GOLD, 7 * np.array(SCORES) - 3)
    assert outside.average_precision.estimate == inside.average_precision.estimate
    assert outside.calibration is None
    assert "no calibration" in " ".join(outside.notes)
    assert inside.calibration is not None


def test_the_folds_of_near_copies_are_the_same():
    rng = np.random.default_rng(8)
    yes = rng.random(80) < 0.4
    a = rng.normal(yes)
    b = np.where(np.arange(80) == 7, 0.0, a)
    found = pv.compare_curves(yes, a, b, rng=np.random.default_rng(3))
    assert abs(found["best_f1"].difference) < 0.02


def test_perfect_systems_do_not_differ_by_their_folds():
    rng = np.random.default_rng(1)
    yes = rng.random(40) < 0.3
    found = pv.compare_curves(yes, yes + rng.random(40) / 9, yes + rng.random(40) / 9)
    assert found["best_f1"].low < 0 < found["best_f1"].high
    assert 0.05 < found["best_f1"].p_b_better < 0.95


def test_a_and_b_change_places():
    rng = np.random.default_rng(3)
    yes = rng.random(120) < 0.3
    a, b = rng.normal(yes), rng.normal(2.0 * yes)
    one, other = pv.compare_curves(yes, a, b), pv.compare_curves(yes, b, a)
    for x, y in zip(one.comparisons, other.comparisons, strict=True):
        assert (x.difference, x.low, x.high) == pytest.approx((-y.difference, -y.high, -y.low))
        assert x.pvalue == pytest.approx(y.pvalue, abs=0.02)
        assert x.p_b_better == pytest.approx(y.p_a_better)


def test_ranks_are_exchanged_exactly():
    """All exchanges of six items, one by one."""
    from itertools import product

    from sklearn.metrics import average_precision_score

    yes = np.array([1, 0, 1, 0, 1, 0])
    a, b = np.array([1, 4, 2, 5, 3, 6.0]), np.array([60, 30, 50, 20, 40, 10.0])
    ranks = [np.argsort(np.argsort(s)) for s in (a, b)]
    extreme = []
    for flips in product([False, True], repeat=6):
        mine, theirs = np.where(flips, ranks[1], ranks[0]), np.where(flips, *ranks)
        extreme.append(average_precision_score(yes, theirs) - average_precision_score(yes, mine))
    expected = np.mean(np.abs(extreme) >= abs(extreme[0]) - 1e-12)
    found = pv.compare_curves(yes, a, b)["average_precision"]
    assert found.pvalue == pytest.approx(expected)
    assert found.test == "exact"


def test_exchanges_within_a_unit_that_change_nothing_are_one():
    """Two positives of one unit change places: the orders differ, and no exchange does."""
    found = pv.compare_curves([1, 1, 0, 1], [4, 3, 2, 1], [3, 4, 2, 1], units=["a", "a", "b", "c"])
    assert [one.pvalue for one in found.comparisons] == [1, 1, 1]
    assert found["average_precision"].difference == 0


def test_systems_of_one_quality_seldom_differ():
    rng = np.random.default_rng(5)
    small = 0
    for _ in range(15):
        yes = rng.random(60) < 0.4
        shared = rng.normal(yes)
        a, b = (shared + rng.normal(size=60) for _ in range(2))
        small += pv.compare_curves(yes, a, b, rng=rng)["average_precision"].pvalue <= 0.05
    assert small <= 4


def test_results_show_themselves():
    curve = pv.curve(GOLD, SCORES)
    both = pv.compare_curves(GOLD, {"old": SCORES, "new": SCORES[::-1]})
    for result in (curve, both):
        json.dumps(result.to_dict(), allow_nan=False)
        assert result.to_html().startswith("<!doctype html>")
        assert "tabular" in result.to_latex()
        assert "|" in result.to_markdown()
        assert result.signature.startswith("probative:")
        assert len(result.plot()) == 3
        assert result.to_metrics()
        assert len(result.to_frame()) == len(result.records())
    assert len(curve.records()) == 10
    assert "lower than old" in str(both)


def test_long_curves_are_thinned_in_json_alone():
    rng = np.random.default_rng(1)
    yes = rng.random(3000) < 0.3
    curve = pv.curve(yes, rng.normal(yes))
    points = curve.to_dict()["points"]
    assert len(points) <= 502
    assert len(curve.thresholds) == 3000
    assert points[0]["tp"] + points[0]["fp"] == 1
    assert points[-1]["recall"] == 1


def test_the_command_line_says_the_same(table, capsys, tmp_path):
    words = [str(table), "--gold-column", "label", "--probabilities", "-q", "-f", "json"]
    page, figure = tmp_path / "page.html", tmp_path / "figure.svg"
    outputs = ["--html", str(page), "--figure", str(figure)]
    assert main(["score", *words, "--columns", "new", *outputs]) == 0
    printed = json.loads(capsys.readouterr().out)
    curve = pv.curve(str(table), gold_column="label", columns=["new"])
    assert printed["systems"][0]["average_precision"] == curve.average_precision.to_dict()
    assert page.stat().st_size > 5000
    assert figure.stat().st_size > 5000
    assert main(["compare", *words, "--columns", "old,new", "--unit-column", "doc"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [c["metric"] for c in printed["comparisons"]] == [
        "average_precision",
        "roc_auc",
        "best_f1",
    ]
    assert printed["verdicts"]


def test_gates_ask_about_average_precision(table, capsys, tmp_path):
    page = tmp_path / "page.html"
    words = ["compare", str(table), "--gold-column", "label", "--columns", "old,new"]
    words += ["--probabilities", "-q", "-f", "json", "--html", str(page), "--margin", "0.01"]
    for kind, confidence in (("require-better", "0.5"), ("require-better", "0.9999999")):
        status = main([*words, f"--{kind}", "--confidence", confidence])
        printed, said = capsys.readouterr()
        (told,) = json.loads(printed)["gates"]
        result = pv.compare_curves(str(table), gold_column="label", columns=["old", "new"])
        assert told["metric"] == "average_precision"
        expected = result["average_precision"].posterior.sf(0.01)
        assert told["probability"] == pytest.approx(expected)
        assert told["passed"] is (expected >= float(confidence)) is (status == 0)
        assert f"--{kind}" in said
        assert f"{kind[:1].upper()}{kind[1:]} " in page.read_text()
        (judged,) = pv.gate(result, kind, margin=0.01, confidence=float(confidence))
        assert judged.passed is told["passed"]


def test_no_gate_passes_without_evidence_and_copies_are_not_better():
    one = pv.compare_curves([1, 0, 0, 0], [4, 3, 2, 1], [1, 2, 3, 4])
    assert not pv.gate(one, "fail-if-worse")[0].passed
    same = pv.compare_curves(GOLD, SCORES, SCORES)
    assert pv.gate(same, "require-not-worse")[0].passed
    assert not pv.gate(same, "require-better")[0].passed


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--metric", "f1"], "--metric"),
        (["--threshold", "0.5"], "--threshold"),
        (["--format", "conlleval"], "conlleval"),
    ],
)
def test_options_that_mean_nothing_are_refused(table, capsys, more, words):
    head = ["score", str(table), "--gold-column", "label", "--columns", "new", "--probabilities"]
    assert main([*head, *more]) == 2
    assert words in capsys.readouterr().err


def test_files_without_ids_are_paired_by_place_and_that_is_said(tmp_path):
    gold, scores = ["yes", "no", "yes", "no", "yes"], [0.9, 0.2, 0.7, 0.6, 0.4]

    def write(name, head, rows):
        (tmp_path / name).write_text("\n".join([head, *map(str, rows)]) + "\n")
        return tmp_path / name

    by_place = pv.curve(write("g.csv", "y", gold), write("p.csv", "score", scores))
    assert any("matched with gold by position" in note for note in by_place.notes)
    rows = [f"{i},{label}" for i, label in enumerate(gold)]
    ids = write("gi.csv", "id,y", rows)
    with_ids = write("pi.csv", "id,score", [f"{i},{score}" for i, score in enumerate(scores)])
    by_id = pv.curve(ids, with_ids, gold_column="y", columns=["score"])
    assert not any("places" in note for note in by_id.notes)
    in_lists = pv.curve(gold, scores)
    assert not any("places" in note for note in in_lists.notes)


def test_each_p_value_is_drawn_until_it_is_clear_by_itself():
    rng, gold = np.random.default_rng(8), (np.arange(60) % 3 == 0).astype(int)
    a, b = gold + rng.normal(size=60), 1.5 * gold + 0.8 * rng.normal(size=60)
    found = pv.compare_curves(gold, a, b)
    smallest = min(one.pvalue for one in found.comparisons)
    assert 0.05 < 3 * smallest < 0.06  # were they adjusted, it would take many more draws
    assert all(one.draws < 20_000 for one in found.comparisons)
    assert all(one.pvalue_low < one.pvalue < one.pvalue_high for one in found.comparisons)
    assert "drawn until the decision at 0.05 and 0.01 is clear" in found.to_markdown()


def test_a_curve_that_was_stored_computes_the_same():
    rng = np.random.default_rng(3)
    gold = rng.random(200) < 0.3
    curve = pv.curve(gold, rng.normal(1.0 * gold))
    again = pickle.loads(pickle.dumps(curve))  # noqa: S301  # our own bytes
    assert again.to_dict() == curve.to_dict()
