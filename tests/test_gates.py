"""Gates for releases."""

from __future__ import annotations

import math

import pytest
from wording.test_verdict import comparison

import probative as pv
from probative.errors import InputError
from probative.gates import GATES, check_gate


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
    c = with_posterior(probability_above)
    (verdict,) = pv.gate([c], gate, margin=margin)
    assert verdict.passed == passes
    assert c.posterior.at == [pytest.approx(asked_at)]
    line = str(verdict)
    assert line.startswith(f"{gate} {'passed' if passes else 'failed'}: new against old, F1: P(B")
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
        with_posterior(0.99, b="one"),
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
