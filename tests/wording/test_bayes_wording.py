"""The sentences of Bayes tests: the words and thresholds of `compare`."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import probative as pv
from probative.wording.verdict import STRENGTHS, outcome_sentence, outcome_words

TEST = pv.bayes_test(pv.Counts(77, 44, 10), pv.Counts(80, 40, 7), "precision")


def likely(p_b_better, **changes):
    """A test in which B is better with this probability."""
    p_a_better = 1 - p_b_better
    values = {"p_h1": p_b_better, "p_h0": p_a_better, "p_b_better": p_b_better}
    return replace(TEST, **{**values, "p_a_better": p_a_better, **changes})


@pytest.mark.parametrize(
    ("chance", "short", "words"),
    [
        (0.54, "not established", "the difference is not established: P(new better) = 0.540"),
        (0.7213, "not established", "the difference is not established: P(new better) = 0.721"),
        (0.93, "not established", "the difference is not established: P("),
        (0.96, "not established", "the difference is not established: P("),
        (
            0.98,
            "new better: moderate",
            "the evidence that new is better is moderate: P(new better)",
        ),
        (0.999, "new better: strong", "the evidence that new is better is strong: P(new better)"),
    ],
)
def test_the_words_are_those_of_compare(chance, short, words):
    test = likely(chance)
    assert outcome_words(test, "old", "new") == short
    sentence = outcome_sentence(test, "old", "new")
    assert sentence.startswith(f"precision: {words}")
    assert "(new 66.7, old 63.6; 95 % interval of the difference" in sentence
    assert "H1" not in sentence
    assert test.decision == "H1"  # the rule of the paper stays what it is


@settings(max_examples=60, deadline=None)
@given(
    a=st.tuples(*[st.integers(1, 90)] * 3),
    b=st.tuples(*[st.integers(1, 90)] * 3),
    rope=st.sampled_from([0.0, 0.03]),
)
def test_no_claim_where_the_interval_includes_0(a, b, rope):
    test = pv.bayes_test(pv.Counts(*a), pv.Counts(*b), "recall", rope=rope)
    words = outcome_words(test)
    better = max(test.p_a_better, test.p_b_better)
    if "better" in words:
        assert test.low > 0 or test.high < 0
        assert better >= {word: least for word, least, _ in STRENGTHS}[words.split()[-1]]
        assert f"is {words.split()[-1]}: P(" in outcome_sentence(test)
    elif words == "equivalent":
        assert test.p_equivalent >= 0.95
    elif rope == 0:
        assert "not established: P(" in outcome_sentence(test)
        assert outcome_sentence(test).count("established") == 1


def test_a_region_of_equivalence_keeps_the_two_claims_apart():
    same = likely(0.02, rope=0.05, p_equivalent=0.97, p_a_better=0.01, p_h0=0.3, p_h1=0.7)
    assert outcome_words(same) == "equivalent"
    assert "equivalent: P(the difference is at most 5 points) = 0.970" in outcome_sentence(same)
    small = likely(0.4, rope=0.05, p_equivalent=0.59, p_a_better=0.01, p_h0=0.005, p_h1=0.995)
    assert outcome_words(small) == "not established"
    assert (
        "there is strong evidence of a difference, but not that it exceeds 5 points: P(B better by "
        "more than 5 points) = 0.400"
    ) in outcome_sentence(small)


def test_an_undefined_score_has_no_verdict():
    test = pv.bayes_test(pv.Counts(0, 0, 9), pv.Counts(8, 1, 1), "precision")
    assert math.isnan(test.difference)
    assert outcome_words(test) == "no verdict"
    assert outcome_sentence(test) == ("precision: no verdict: it is undefined for one of A and B.")


def test_the_scores_are_in_the_result():
    assert (TEST.score_a, TEST.score_b) == pytest.approx((77 / 121, 80 / 120))
    assert TEST.difference == pytest.approx(TEST.score_b - TEST.score_a)
    assert str(TEST).startswith("precision: not established, P(H0) = 0.3")
