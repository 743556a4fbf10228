"""Gates for releases."""

from __future__ import annotations

import math

import pytest
from test_verdict import comparison

import probative as pv
from probative.errors import InputError
from probative.gates import GATES, check_gates, judge_gates


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
        ("--fail-if-worse", 0.0, 0.0, 0.05, False),
        ("--fail-if-worse", 0.0, 0.0, 0.051, True),
        ("--fail-if-worse", 0.01, -0.01, 0.04, False),
        # P(B - A > -margin) must reach it
        ("--require-not-worse", 0.01, -0.01, 0.95, True),
        ("--require-not-worse", 0.01, -0.01, 0.949, False),
        # P(B - A > margin) must reach it
        ("--require-better", 0.01, 0.01, 0.95, True),
        ("--require-better", 0.01, 0.01, 0.949, False),
        ("--require-better", 0.0, 0.0, 0.95, True),
    ],
)
def test_each_gate_asks_its_question(gate, margin, asked_at, probability_above, passes):
    c = with_posterior(probability_above)
    holds, (line,) = judge_gates([c], gate, margin, 0.95)
    assert holds == passes
    assert c.posterior.at == [pytest.approx(asked_at)]
    assert line.startswith(f"{gate} {'passed' if passes else 'failed'}: new against old, f1: P(B")
    assert "-0)" not in line


@pytest.mark.parametrize("margin", [0.0, 0.01])
def test_identical_outputs_are_neither_better_nor_worse(margin):
    same = with_posterior(0.5, identical=True)
    assert judge_gates([same], "--fail-if-worse", margin, 0.95)[0]
    assert judge_gates([same], "--require-not-worse", margin, 0.95)[0]
    assert not judge_gates([same], "--require-better", margin, 0.95)[0]


@pytest.mark.parametrize("gate", GATES)
def test_what_is_not_known_does_not_pass(gate):
    assert not judge_gates([with_posterior(math.nan)], gate, 0.0, 0.95)[0]


def test_every_challenger_must_pass_in_the_first_metric():
    rows = [
        with_posterior(0.99, b="one"),
        with_posterior(0.5, b="two"),
        with_posterior(0.0, b="two", a="one"),
        with_posterior(0.0, b="one", metric="recall"),
    ]
    holds, lines = judge_gates(rows, "--require-better", 0.0, 0.95)
    assert not holds
    assert [line.split()[1:3] for line in lines] == [["passed:", "one"], ["failed:", "two"]]
    assert judge_gates(rows, None, 0.0, 0.95) == (True, [])


def test_gates_are_checked_before_anything_is_computed():
    assert check_gates([], 0.0, 0.95) is None
    assert check_gates(["--require-better"], 0.0, 0.95) == "--require-better"
    with pytest.raises(InputError, match="cannot be combined with --fail-if-worse"):
        check_gates(["--fail-if-worse", "--require-better"], 0.0, 0.95)
    with pytest.raises(InputError, match="--margin: -1 is not a finite number >= 0"):
        check_gates([], -1, 0.95)
    with pytest.raises(InputError, match="--confidence: 1 is not between 0 and 1"):
        check_gates([], 0.0, 1)


def test_a_real_posterior_stands_behind_the_gate():
    gold = [["B-A"]] * 60
    old, new = [["B-A"]] * 30 + [["O"]] * 30, [["B-A"]] * 55 + [["O"]] * 5
    better = pv.compare(gold, old, new, metric="recall").comparisons
    worse = pv.compare(gold, new, old, metric="recall").comparisons
    assert judge_gates(better, "--require-better", 0.1, 0.95)[0]
    assert not judge_gates(better, "--require-better", 0.6, 0.95)[0]
    assert judge_gates(better, "--fail-if-worse", 0.0, 0.95)[0]
    assert not judge_gates(worse, "--fail-if-worse", 0.0, 0.95)[0]
    assert not judge_gates(worse, "--require-not-worse", 0.0, 0.95)[0]
    assert judge_gates(worse, "--require-not-worse", 0.7, 0.95)[0]
