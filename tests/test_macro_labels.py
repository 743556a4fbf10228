"""Which labels a macro average is taken over: never a matter of the other systems in the call."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score, precision_recall_fscore_support

import probative as pv
from probative.errors import InputError

GOLD = list("aaabbbccab") * 6
PLAIN = list("aabbbbccab") * 6
ODD = list("aaxbbycczb") * 6  # labels that the answer does not have
OTHER = list("qaabrrccab") * 6


def spans(labels):
    """Sentences of two tags each."""
    tags = [f"B-{label}" for label in labels]
    return [tags[i : i + 2] for i in range(0, len(tags), 2)]


FORMS = {"labels": (lambda labels: labels), "entities": spans}


def macro_f1(found, name):
    return found[name]["macro_f1"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("labels", [None, "union", ["a", "c"]])
def test_other_systems_change_nothing(form, labels):
    """Everything said of a system stays the same, whoever is scored beside it."""
    shape = FORMS[form]
    gold = shape(GOLD)
    alone = pv.score(gold, shape(ODD), names=["odd"], labels=labels)
    beside = pv.score(
        gold, shape(ODD), shape(PLAIN), shape(OTHER), names=["odd", "plain", "other"], labels=labels
    )
    assert beside["odd"].to_dict() == alone["odd"].to_dict()


@pytest.mark.parametrize("form", FORMS)
def test_a_comparison_depends_on_its_two_systems_alone(form):
    shape = FORMS[form]
    gold, a, b = shape(GOLD), shape(PLAIN), shape(ODD)
    two = pv.compare(gold, a, b, names=["a", "b"], average="macro", rng=0).comparisons[0]
    three = pv.compare(
        gold, a, b, shape(OTHER), names=["a", "b", "c"], average="macro", rng=0
    ).comparisons[0]
    for key in ("difference", "low", "high", "score_a", "score_b", "p_b_better"):
        assert getattr(three, key) == getattr(two, key)
    # how many exchanges are drawn depends on the others, too: p is adjusted for their number
    assert three.draws >= two.draws
    assert two.pvalue_low <= three.pvalue <= two.pvalue_high
    assert (three.pvalue == two.pvalue) == (three.draws == two.draws)
    assert [entry.label for entry in three.by_label] == [entry.label for entry in two.by_label]


@pytest.mark.parametrize("pred", [PLAIN, ODD, OTHER])
def test_averages_equal_scikit_learn(pred):
    answers = sorted(set(GOLD))
    ours = pv.score(GOLD, pred)[0]
    assert ours["macro_f1"].estimate == pytest.approx(
        f1_score(GOLD, pred, labels=answers, average="macro", zero_division=0)
    )
    union = pv.score(GOLD, pred, labels="union")[0]
    theirs = precision_recall_fscore_support(GOLD, pred, average="macro", zero_division=0)
    for metric, value in zip(("precision", "recall", "f1"), theirs, strict=False):
        assert union[f"macro_{metric}"].estimate == pytest.approx(value)
    chosen = pv.score(GOLD, pred, labels=["a", "b"])[0]
    assert chosen["macro_f1"].estimate == pytest.approx(
        f1_score(GOLD, pred, labels=["a", "b"], average="macro", zero_division=0)
    )


def test_the_difference_of_the_union_takes_each_systems_own_labels():
    (c,) = pv.compare(GOLD, PLAIN, ODD, average="macro", labels="union").comparisons
    scores = [f1_score(GOLD, pred, average="macro", zero_division=0) for pred in (PLAIN, ODD)]
    assert (c.score_a, c.score_b) == pytest.approx(tuple(scores))
    assert c.low <= c.difference <= c.high


def test_labels_of_a_system_are_named_and_count_as_false_alarms():
    found = pv.score(spans(GOLD), spans(ODD), names=["odd"])
    (note,) = (note for note in found.notes if "does not have" in note)
    assert "'x', 'y', 'z'" in note
    assert found[0].counts.fp == 18
    assert not any("does not have" in note for note in pv.score(GOLD, PLAIN).notes)


def test_a_label_that_nobody_has():
    with pytest.raises(InputError, match=r"labels: neither .* has 'PERS'; did you mean 'PER'\?"):
        pv.score([["B-PER", "B-LOC"]], [["B-PER", "O"]], labels=["PERS", "LOC"])
    with pytest.raises(InputError, match="labels: none given"):
        pv.score(GOLD, PLAIN, labels=[])


def test_two_classes_are_two_classes_whatever_a_system_says():
    """A third answer of one system is a no, and takes nothing from the others."""
    gold, good, strange = [0, 1, 1, 0] * 5, [0, 1, 0, 0] * 5, [2, 1, 1, 0] * 5
    alone = pv.score(gold, good, names=["good"])
    beside = pv.score(gold, good, strange, names=["good", "strange"])
    assert beside["good"].to_dict() == alone["good"].to_dict()
    assert any("count as no" in note for note in beside.notes)


def test_thousands_of_labels_are_scored_at_once_and_cut_in_print():
    rng = np.random.default_rng(0)
    gold = [f"L{i}" for i in range(3000)]
    pred = [f"L{i if rng.random() < 0.7 else rng.integers(3000)}" for i in range(3000)]
    from probative.reporting.score_report import scores_document

    found = pv.score(gold, pred)
    assert len(found[0].by_label) == 3000
    assert 0 < found[0]["macro_f1"].low < found[0]["macro_f1"].high < 1
    document = scores_document(found)
    table = document.tables[1]
    assert len(table.rows) == 200
    assert "2,800 more labels are hidden here" in table.notes[0]
    assert len(document.payload["systems"][0]["by_label"]) == 3000
