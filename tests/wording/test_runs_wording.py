"""Sentences about several runs: two claims kept apart, none stronger than its numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import probative as pv
from probative.wording.numbers import in_words
from probative.wording.verdict import runs_verdict


def counts(seed: int, ability: float) -> pv.Counts:
    rng = np.random.default_rng(seed)
    tp = rng.binomial(3, ability, 80)
    return pv.Counts(tp, rng.binomial(1, 0.3, 80), 3 - tp)


RESULT = pv.compare(
    {"A": [counts(s, 0.7) for s in (1, 2, 3)], "B": [counts(s, 0.75) for s in (4, 5, 6)]}
)
MODELS, PROCEDURES = RESULT.comparisons
SMALL = st.floats(0, 1)


@settings(max_examples=200)
@given(
    difference=st.floats(-0.3, 0.3),
    reach=st.floats(0.001, 0.4),
    pvalue=SMALL,
    likely=SMALL,
    new_run=SMALL,
    rope=st.sampled_from([0.0, 0.02]),
)
def test_never_stronger_than_the_numbers(difference, reach, pvalue, likely, new_run, rope):
    c = replace(
        PROCEDURES,
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        pvalue=pvalue,
        p_b_better=likely,
        p_a_better=1 - likely,
        p_new_run_better=new_run,
        rope=rope,
        p_equivalent=0.0,
    )
    words = runs_verdict(RESULT, "A", "B", [MODELS, c])
    better = "B" if difference >= 0 else "A"
    chance = likely if better == "B" else 1 - likely
    claims = f"The evidence that training {better} again would beat" in words
    assert claims == (f"That training {better} again would beat" not in words)
    if claims:
        assert pvalue <= 0.05
        assert chance >= 0.95
        assert c.low > 0 or c.high < 0
    if "is strong: mean difference" in words:
        assert pvalue <= 0.01
        assert chance >= 0.99
    # what is said of these models does not depend on what is said of new runs
    head = words.split(f"That training {better}")[0].split(f"The evidence that training {better}")[
        0
    ]
    assert head == runs_verdict(RESULT, "A", "B", [MODELS]).split("These scores do not")[0]


def test_the_probability_of_a_new_run_is_that_of_the_better_looking_system():
    worse = replace(PROCEDURES, difference=-0.02, p_new_run_better=0.2)
    assert "A new run of A would beat a new run of B with probability 0.800" in runs_verdict(
        RESULT, "A", "B", [MODELS, worse]
    )


def test_equivalence_is_a_claim_of_its_own():
    same = replace(PROCEDURES, rope=0.1, p_equivalent=0.97, p_a_better=0.01, p_b_better=0.02)
    words = runs_verdict(RESULT, "A", "B", [MODELS, same])
    assert "Trained again, they would be equivalent for practical purposes" in words
    assert "P(at most 10 points apart) = 0.970" in words


@pytest.mark.parametrize(("runs", "unseen"), [(2, 81), (3, 73), (19, 14), (20, None)])
def test_fewer_than_twenty_runs_say_how_often_they_hide_a_failure(runs, unseen):
    sides = {
        name: [counts(100 * i + s, 0.7) for s in range(runs)] for i, name in enumerate(("A", "B"))
    }
    sides["B"].append(counts(7, 0.7))  # the smaller number counts
    (words,) = pv.compare(sides).verdicts
    line = f"{runs} runs: a procedure that fails in 1 run of 10 shows no failure in {unseen} % of "
    assert (line in words) == (unseen is not None)
    assert ("fails in 1 run of 10" in words) == (unseen is not None)
    assert "limits are wide for it" not in words


@pytest.mark.parametrize(
    ("number", "words"), [(1, "one"), (2, "two"), (10, "ten"), (11, "11"), (1100, "1,100")]
)
def test_numbers_in_words(number, words):
    assert in_words(number, 10) == words
