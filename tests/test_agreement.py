"""Agreement between annotators, and systems beside a second annotation."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score

import probative as pv
from probative.cli import main
from probative.errors import InputError


def labels(seed, n=80):
    rng = np.random.default_rng(seed)
    truth = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    return [
        np.where(rng.random(n) < 0.25, rng.choice(["a", "b", "c"], n), truth).tolist()
        for _ in range(3)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_kappa_is_that_of_scikit_learn(seed):
    ann, bob, eve = labels(seed)
    found = pv.agreement({"ann": ann, "bob": bob, "eve": eve})
    assert found.annotators == ("ann", "bob", "eve")
    pair = found.pair("eve", "bob")
    assert pair["kappa"].estimate == pytest.approx(cohen_kappa_score(bob, eve))
    assert pair["agreement"].estimate == np.mean(np.array(bob) == np.array(eve))
    assert pair["kappa"].low < pair["kappa"].estimate < pair["kappa"].high
    assert found.alpha.low < found.alpha.estimate < found.alpha.high


@pytest.mark.parametrize("seed", range(40))
def test_kappa_and_its_interval_are_the_same_whoever_is_named_first(seed):
    rng = np.random.default_rng(seed)
    ann = rng.choice(["a", "b", "c", "d"], 30, p=[0.6, 0.3, 0.07, 0.03])
    bob = np.where(rng.random(30) < 0.3, rng.choice(["a", "b", "c", "d"], 30), ann)
    bob[bob == "d"] = "b"
    one, other = pv.agreement(ann, bob), pv.agreement(bob, ann)
    for mine, theirs in zip(one.pairs[0].scores, other.pairs[0].scores, strict=True):
        figures = [(i.estimate, i.low, i.high) for i in (mine, theirs)]
        assert figures[0] == pytest.approx(figures[1], abs=1e-12)


def test_missing_labels_in_lists_and_in_tables(tmp_path):
    ann, bob, eve = labels(4)
    bob[3] = eve[5] = ann[7] = None
    found = pv.agreement(ann, bob, eve)
    assert found.annotators == ("annotator 1", "annotator 2", "annotator 3")
    rows = [",".join(x or "NA" for x in row) for row in zip(ann, bob, eve, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["ann,bob,eve", *rows]) + "\n")
    table = pv.agreement(str(tmp_path / "t.csv"), columns=["ann", "bob", "eve"], missing="NA")
    assert table.alpha.estimate == found.alpha.estimate
    assert [p.items for p in table.pairs] == [78, 78, 78]
    assert not any("false alarms" in note for note in table.notes)
    with pytest.raises(InputError, match=r"^missing: nobody gives the label 'NB'"):
        pv.agreement(str(tmp_path / "t.csv"), columns=["ann", "bob"], missing="NB")


def test_units_widen_the_intervals(tmp_path):
    ann, bob, _ = (np.repeat(own, 5).tolist() for own in labels(5))
    rows = [f"{a},{b},{i // 5}" for i, (a, b) in enumerate(zip(ann, bob, strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(["ann,bob,doc", *rows]) + "\n")
    how = {"columns": ["ann", "bob"], "unit_column": "doc"}
    by_unit = pv.agreement(str(tmp_path / "t.csv"), **how)
    by_item = pv.agreement(str(tmp_path / "t.csv"), by="item", **how)
    assert (by_unit.by, by_unit.units) == ("unit", 80)
    scores = zip(
        (by_unit.alpha, *by_unit.pairs[0].scores),
        (by_item.alpha, *by_item.pairs[0].scores),
        strict=True,
    )
    for one, other in scores:
        assert one.estimate == other.estimate
        assert one.high - one.low > 1.8 * (other.high - other.low)


GOLD = [["B-PER", "I-PER", "O"], ["O", "B-LOC", "O"], ["B-ORG", "O", "O"]] * 12
ONE = [["B-PER", "I-PER", "O"], ["O", "B-LOC", "O"], ["B-LOC", "O", "O"]] * 12
TWO = [["B-PER", "O", "O"], ["O", "O", "O"], ["B-LOC", "O", "O"]] * 12


def test_f1_of_spans_between_all_pairs():
    found = pv.agreement(GOLD, ONE, TWO, names=["x", "y", "z"])
    assert found.alpha is None
    for (a, b), sides in {("x", "y"): (GOLD, ONE), ("z", "y"): (TWO, ONE)}.items():
        own = found.pair(a, b)["f1"]
        for one, other in (sides, sides[::-1]):
            score = pv.score(one, other)[0]["f1"]
            assert (own.estimate, own.low, own.high) == pytest.approx(
                (score.estimate, score.low, score.high)
            )
    near = pv.agreement(GOLD, TWO, match="partial")
    assert near.match == "partial"
    assert near.pairs[0]["f1"].estimate > found.pair("x", "z")["f1"].estimate


def test_words_and_sets_of_labels():
    words = pv.agreement([["to", "be"]] * 9, [["tobe"]] * 4 + [["to", "be"]] * 5,
                         task="segmentation")  # fmt: skip
    assert words.pairs[0]["f1"].estimate == pytest.approx(2 * 10 / (18 + 14))
    sets = [[{"a"}, {"a", "b"}, set()] * 5, [{"a"}, {"b"}, {"c"}] * 5]
    one, two = ([[x in own for x in "abc"] for own in side] for side in sets)
    found = pv.agreement(*sets, multilabel=True)
    assert found.pairs[0]["f1"].estimate == pytest.approx(f1_score(one, two, average="micro"))


def test_corners():
    one = pv.agreement(["x"] * 5, ["x"] * 5)
    assert np.isnan(one.alpha.estimate)
    assert np.isnan(one.pairs[0]["kappa"].estimate)
    constant = pv.agreement(["x", "y"] * 5, ["x"] * 10).pairs[0]["kappa"]
    assert (constant.estimate, constant.low, constant.high) == (0, -1, 1)
    assert "so kappa is always 0" in constant.note
    apart = pv.agreement(["x", None], [None, "x"])
    assert apart.pairs[0].items == 0
    assert np.isnan(apart.pairs[0]["agreement"].estimate)
    with pytest.raises(InputError, match=r"^others: one annotation"):
        pv.agreement(["x", "y"])
    with pytest.raises(InputError, match=r"labels, but|expected as many"):
        pv.agreement(["x", "y"], ["x"])
    with pytest.raises(InputError, match=r"^missing: 3; expected a label"):
        pv.agreement(["x"], ["x"], missing=3)


def test_files_of_other_tokens_are_refused(tmp_path, run):
    (tmp_path / "a").write_text("Ann B-PER\nran O\n")
    (tmp_path / "b").write_text("Bob B-PER\nran O\n")
    outcome = run("agreement", str(tmp_path / "a"), str(tmp_path / "b"))
    assert outcome.status == 2
    assert "b:1: token 'Bob', gold has 'Ann' (" in outcome.err


def test_the_command(tmp_path, run):
    for name, side in (("a", GOLD), ("b", ONE), ("c", TWO)):
        lines = ["\n".join(f"w {tag}" for tag in tags) for tags in side]
        (tmp_path / name).write_text("\n\n".join(lines) + "\n")
    files = [f"{name}={tmp_path / name}" for name in "abc"]
    outcome = run("agreement", *files, "--format", "json", "--quiet")
    assert outcome.status == 0
    told = json.loads(outcome.out)
    assert told["command"] == "agreement"
    assert told["annotators"] == ["a", "b", "c"]
    assert len(told["pairs"]) == 3
    gold, second, system = (str(tmp_path / name) for name in "abc")
    outcome = run("score", gold, system, "--second-gold", second, "--quiet")
    assert outcome.status == 0
    assert "c agrees with gold less than b does, by" in " ".join(outcome.out.split())
    assert "It is no upper bound" in outcome.out
    page = tmp_path / "page.html"
    lines = (tmp_path / "b").read_text()
    (tmp_path / "d").write_text(lines.replace("B-PER", "B-LOC", 3))
    outcome = run("compare", gold, system, str(tmp_path / "d"), "--second-gold", second,
                  "--html", str(page))  # fmt: skip
    assert outcome.status == 0
    assert "Score of each annotation against the second one" in page.read_text()


@pytest.mark.parametrize("match", ["strict", "partial"])
def test_a_system_beside_the_second_annotation_is_a_comparison(match):
    (own,) = pv.score(GOLD, TWO, second_gold=ONE, match=match).ceilings
    (c,) = pv.compare(GOLD, ONE, TWO, match=match).comparisons
    assert (own.difference, own.low, own.high) == (c.difference, c.low, c.high)
    assert own.pvalue == c.pvalue
    second = pv.score(GOLD, ONE, match=match)[0]["f1"]
    assert (own.second_score, own.second_low, own.second_high) == pytest.approx(
        (second.estimate, second.low, second.high)
    )
    both = pv.compare(GOLD, TWO, ONE, second_gold=GOLD, match=match)
    assert [each.second_score for each in both.ceilings] == [1, 1]
    assert len(both.systems) == 2


def test_missing_labels_of_columns_are_those_of_lists():
    one, two = ["x", "y", None, "x", "y"], ["x", None, "y", "y", "y"]
    alpha = pv.agreement(one, two).alpha.estimate
    assert pv.agreement(pd.Series(one), pd.Series(two, dtype="string")).alpha.estimate == alpha
    assert pv.agreement(pl.Series(one), pl.Series(two)).alpha.estimate == alpha


def test_blank_cells_are_missing_where_that_is_said(tmp_path):
    ann, bob, _ = labels(1)
    holes = [None if i % 7 == 0 else label for i, label in enumerate(bob)]
    place = tmp_path / "labels.csv"
    rows = [f"{a},{'' if b is None else b}" for a, b in zip(ann, holes, strict=True)]
    place.write_text("\n".join(["ann,bob", *rows]) + "\n")
    with pytest.raises(InputError, match="column 'bob' has missing labels"):
        pv.agreement(place, columns=["ann", "bob"])
    found = pv.agreement(place, columns=["ann", "bob"], missing="")
    assert found.alpha.estimate == pytest.approx(pv.agreement(ann, holes).alpha.estimate)
    assert found.pairs[0].items == len(ann) - len(ann[::7])
    frame = pd.DataFrame({"ann": ann, "bob": holes})
    of_frame = pv.agreement(frame, columns=["ann", "bob"], missing="")
    assert of_frame.alpha.estimate == found.alpha.estimate
    with pytest.raises(InputError, match="missing: there are no blank cells"):
        pv.agreement(frame.fillna("a"), columns=["ann", "bob"], missing="")


def test_the_help_speaks_of_annotators(capsys):
    assert main(["agreement", "--help"]) == 0
    text = capsys.readouterr().out
    assert "annotators' columns" in " ".join(text.split())
    for word in ("system", "answer", "test"):
        assert word not in text.lower(), word
    assert text.index("Input:") < text.index("--columns A,B") < text.index("What to compute:")


def test_the_signature_tells_that_there_is_a_second_annotation_not_where(tmp_path):
    for name, sentences in (("gold", GOLD), ("one", ONE), ("two", TWO)):
        lines = ["\n".join(f"w{i} {t}" for i, t in enumerate(own)) for own in sentences]
        (tmp_path / f"{name}.conll").write_text("\n\n".join(lines) + "\n")
    gold, one, two = (str(tmp_path / f"{name}.conll") for name in ("gold", "one", "two"))
    for found in (
        pv.score(gold, one, second_gold=two),
        pv.compare(gold, one, two, second_gold=two),
    ):
        assert "|second-gold" in found.signature
        assert str(tmp_path) not in found.signature
    assert pv.score(gold, one, second_gold=two).ceilings[0].second == "two"
    assert pv.score(GOLD, ONE, second_gold=TWO).ceilings[0].second == "second annotation"


def test_full_agreement_has_no_note():
    """With nothing in dispute the upper limit is 1: it cannot be too low."""
    a = ["x", "y", "y"] * 20
    found = pv.agreement(a, list(a))
    scores = [score for pair in found.pairs for score in pair.scores]
    assert all(score.high == 1 and score.note is None for score in scores)


def test_records_have_no_agreement():
    records = [{"name": "Ada"}, {"name": "Bob"}]
    with pytest.raises(InputError, match="others: records have no agreement; expected tags"):
        pv.agreement(records, records, task="records")


@pytest.mark.parametrize("missing", [np.float64("nan"), None, float("nan"), pd.NaT, pd.NA])
@pytest.mark.parametrize("place", [0, 1, 3])
def test_missing_values_of_any_kind_and_at_any_place_are_left_out(missing, place):
    first, other = ["x", "y", "x", "y"] * 3, ["x", "y", "x", "y"] * 3
    other[place] = missing
    found = pv.agreement(first, other)
    assert found.pairs[0].items == 11
    assert found.to_dict()["alpha"] == pv.agreement(other, first).to_dict()["alpha"]


def test_lists_beside_a_table_may_have_missing_values_where_the_table_may_not():
    frame = pd.DataFrame({"l": ["x", "y", "x", "y"]})
    found = pv.agreement(frame, ["x", None, "x", "y"], gold_column="l")
    assert found.pairs[0].items == 3
    blank = pd.DataFrame({"l": ["x", None, "x", "y"]})
    with pytest.raises(InputError, match="missing labels: 1 of 4"):
        pv.agreement(blank, ["x", "y", "x", "y"], gold_column="l")


def test_sentences_are_no_labels_also_where_some_are_missing():
    with pytest.raises(InputError, match="could be sentences or labels"):
        pv.agreement(["ab c", None, "d"], ["a bc", None, "d"])


def test_the_design_effect_is_undefined_where_items_do_not_vary():
    frame = pd.DataFrame({"u": ["i", "j"], "a": ["x", "y"], "b": ["x", "y"]})
    found = pv.agreement(frame, columns=["a", "b"], unit_column="u", by="unit")
    assert found.alpha.estimate == 1
    assert np.isnan(found.alpha.design_effect)
