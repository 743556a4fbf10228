"""Gates for releases."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from wording.test_verdict import comparison

import probative as pv
from probative.errors import InputError
from probative.jobs.gate import GATES, check_gate


class Asked:
    """A posterior that gives one answer, and remembers what it was asked."""

    kind = "paired"

    def __init__(self, probability_above):
        self.answer, self.at = probability_above, []

    def sf(self, d):
        self.at.append(d)
        return self.answer

    def cdf(self, d):
        return 1 - self.sf(d)

    def interval(self, _level):
        return 0.02, 0.05  # above every margin here


def with_posterior(probability_above, **changes):
    return comparison(posterior=Asked(probability_above), **changes)


@pytest.mark.parametrize(
    ("gate", "margin", "asked_at", "probability_above", "passes"),
    [
        # P(B - A < -margin) must stay below 0.95
        ("fail-if-worse", 0.0, 0.0, 0.05, False),
        ("fail-if-worse", 0.0, 0.0, 0.051, True),
        ("fail-if-worse", 0.01, -0.01, 0.04, False),
        # P(B - A > -margin) must reach it
        ("require-not-worse", 0.01, -0.01, 0.95, True),
        ("require-not-worse", 0.01, -0.01, 0.949, False),
        # P(B - A > margin) must reach it
        ("require-better", 0.01, 0.01, 0.95, True),
        ("require-better", 0.01, 0.01, 0.949, False),
        ("require-better", 0.0, 0.0, 0.95, True),
    ],
)
def test_each_gate_asks_its_question(gate, margin, asked_at, probability_above, passes):
    c = with_posterior(probability_above, pvalue=0.01)
    (verdict,) = pv.gate([c], gate, margin=margin)
    assert verdict.passed == passes
    assert c.posterior.at == pytest.approx([asked_at] * len(c.posterior.at))
    line = str(verdict)
    assert line.startswith(f"{gate} {'PASSED' if passes else 'FAILED'}: new against old, F1: P(B")
    assert f"{'−' if asked_at < 0 else ''}{100 * margin:g} point" in line
    assert "−0 " not in line
    assert f"= {verdict.probability:.4f}" in line


def holds(comparisons, gate, margin=0.0, confidence=0.95):
    verdicts = pv.gate(comparisons, gate, margin=margin, confidence=confidence)
    return all(verdict.passed for verdict in verdicts)


@pytest.mark.parametrize("margin", [0.0, 0.01])
def test_identical_outputs_are_neither_better_nor_worse(margin):
    same = with_posterior(0.5, identical=True)
    assert holds([same], "fail-if-worse", margin)
    assert holds([same], "require-not-worse", margin)
    assert not holds([same], "require-better", margin)


@pytest.mark.parametrize("gate", GATES)
def test_what_is_not_known_does_not_pass(gate):
    assert not holds([with_posterior(math.nan)], gate, 0.0)


def test_every_challenger_must_pass_in_the_first_metric():
    rows = [
        with_posterior(0.99, b="one", pvalue=0.02),
        with_posterior(0.5, b="two"),
        with_posterior(0.0, b="two", a="one"),
        with_posterior(0.0, b="one", metric="recall"),
    ]
    verdicts = pv.gate(rows, "require-better")
    assert [(v.b, v.passed) for v in verdicts] == [("one", True), ("two", False)]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kind": "--require-better"}, "kind: unknown '--require-better'; expected one of fail-if"),
        ({"margin": -1}, "margin: -1 is not a finite number >= 0"),
        ({"margin": math.nan}, "margin: nan is not a finite number >= 0"),
        ({"margin": 1}, "margin: 1 is not below 1; expected a fraction of 1: 0.01 is one point"),
        ({"confidence": 1}, "confidence: 1 is not between 0 and 1"),
    ],
)
def test_bad_gates_are_refused(wrong, message):
    with pytest.raises(InputError) as error:
        pv.gate([comparison()], **{"kind": "require-better", **wrong})
    assert str(error.value).startswith(message)
    assert check_gate("require-better") == ("require-better", 0.0, 0.95)


def test_a_real_posterior_stands_behind_the_gate():
    gold = [["B-A"]] * 60
    old, new = [["B-A"]] * 30 + [["O"]] * 30, [["B-A"]] * 55 + [["O"]] * 5
    better = pv.compare(gold, old, new, metric="recall").comparisons
    worse = pv.compare(gold, new, old, metric="recall").comparisons
    assert holds(better, "require-better", 0.1)
    assert not holds(better, "require-better", 0.6)
    assert holds(better, "fail-if-worse", 0.0)
    assert not holds(worse, "fail-if-worse", 0.0)
    assert not holds(worse, "require-not-worse", 0.0)
    assert holds(worse, "require-not-worse", 0.7)


@pytest.mark.parametrize("gate", GATES)
def test_one_unit_or_nothing_to_be_found_passes_no_gate(gate):
    gold, old, new = [["B-A"] * 6], [["B-A", "O"] * 3], [["B-A"] * 6]
    for found in (
        pv.compare(gold, old, new),
        pv.compare(gold, new, new, names=["x", "y"]),  # identical, and still one sentence
        pv.compare([["O"] * 6] * 30, old * 30, new * 30),
        pv.compare([["O"] * 6] * 30, [["O"] * 6] * 30, new * 30, metric="precision"),
    ):
        (verdict,) = pv.gate(found.comparisons, gate, confidence=0.5)
        assert not verdict.passed
        assert verdict.reason
        assert math.isnan(verdict.probability)
        assert verdict.to_dict()["probability"] is None
        assert math.isnan(found.comparisons[0].p_b_better)


def rows_by_language():
    """Old and new on reviews of two languages: new is better in one and worse in the other."""
    rows = [(1, 0, 1, "de")] * 20 + [(1, 1, 1, "de")] * 40 + [(0, 0, 0, "de")] * 50
    rows += [(1, 1, 0, "ja")] * 14 + [(1, 1, 1, "ja")] * 60
    return pd.DataFrame(rows, columns=["y", "old", "new", "lang"])


def grouped(**how):
    columns = {"gold_column": "y", "columns": ["old", "new"], "group": "lang"}
    return pv.compare(rows_by_language(), metric="recall", **columns, **how)


@pytest.mark.parametrize(("pvalue", "p_unit", "passes"), [(0.09, 0.02, True), (0.11, 0.02, False)])
def test_better_must_be_shown_by_the_test_too(pvalue, p_unit, passes):
    c = with_posterior(0.97, pvalue=pvalue, p_unit=p_unit, difference=0.03)
    (verdict,) = pv.gate([c], "require-better")
    assert verdict.passed == passes
    assert verdict.pvalue == pytest.approx(pvalue / 2)
    relation = "<=" if passes else ">"
    assert f"= 0.9700 >= 0.95, one-sided p = {pvalue / 2:.4f} {relation} 0.05" in str(verdict)


def test_better_must_be_shown_by_the_larger_p():
    c = with_posterior(0.97, pvalue=0.001, p_unit=0.2, difference=0.03)
    (verdict,) = pv.gate([c], "require-better")
    assert not verdict.passed
    assert verdict.pvalue == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("kind", "margin"),
    [("require-better", 0.01), ("require-not-worse", 0.01), ("require-not-worse", 0)],
)
def test_with_a_margin_the_interval_must_agree(kind, margin):
    paired = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
    sets = {"one": paired}
    c = pv.compare_datasets(sets | {"two": paired}).datasets[0].comparison
    boundary = margin if kind == "require-better" else -margin
    for confidence in (0.6, 0.8, 0.9, 0.95, 0.99):
        (verdict,) = pv.gate([c], kind, margin=margin, confidence=confidence)
        low = pv.difference(paired, "f1", level=2 * confidence - 1).low
        assert verdict.least == pytest.approx(low, abs=1e-12)
        likely = c.posterior.sf(boundary) >= confidence
        assert verdict.passed == (likely and low > boundary)
        assert f"one-sided {100 * confidence:g} % interval from " in str(verdict)


def test_a_gate_does_not_contradict_the_sentence_above_it():
    shown = ("evidence that B is better is strong", "evidence that B is better is moderate")
    rates = [2, 1, 5, 1, 30, 4, 6]
    draws = {str(i): pv.PairedCounts(np.random.default_rng(i).poisson(rates)) for i in range(60)}
    for dataset in pv.compare_datasets(draws).datasets:
        c = dataset.comparison
        (verdict,) = pv.gate([c], "require-better")
        if any(words in str(c) for words in shown):
            assert verdict.passed
        elif verdict.passed:  # a question in one direction asks for less
            assert "asked in this direction alone" in str(verdict)


def test_a_grouped_comparison_says_that_its_groups_disagree():
    found = grouped()
    words = "the groups disagree: better in de, worse in ja"
    assert words in found.verdicts[0]
    assert words in str(found)
    whole, *_ = pv.gate(found, "fail-if-worse")
    assert words in str(whole)
    assert whole.to_dict()["warning"] == words


@pytest.mark.parametrize("kind", GATES)
def test_a_gate_checks_every_group(kind):
    found = grouped()
    whole, de, ja = pv.gate(found, kind, margin=0.05)
    assert (whole.group, de.group, ja.group) == (None, "de", "ja")
    assert de.passed
    assert not ja.passed
    assert "recall in ja" in str(ja)


def test_groups_are_allowed_for_by_holms_method():
    found = grouped()
    _, *groups = pv.gate(found, "require-not-worse", margin=0.1)
    doubts = []
    for group in found.groups:
        (alone,) = pv.gate(group.comparisons, "require-not-worse", margin=0.1)
        doubts.append(1 - alone.probability)
    adjusted = [group.doubt for group in groups]
    assert all(one >= alone - 1e-12 for one, alone in zip(adjusted, doubts, strict=True))
    assert adjusted[0] >= 2 * doubts[0] * (1 - 1e-9) or adjusted[0] == adjusted[1]
