"""The sentence that ends a comparison."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probative.inference.normal_posterior import NormalPosterior
from probative.results import Comparison
from probative.verdict import STRENGTHS, UNDECIDED, strength, verdict


def comparison(**changes):
    values = {
        "a": "old",
        "b": "new",
        "metric": "f1",
        "difference": 0.0112,
        "low": -0.011,
        "high": 0.0334,
        "method": "mover",
        "pvalue": 0.31,
        "p_adjusted": None,
        "test": "exact",
        "by": "sentence",
        "design_effect": 1.2,
        "p_a_better": 0.15,
        "p_equivalent": 0.0,
        "p_b_better": 0.85,
        "rope": 0.0,
        "posterior": NormalPosterior(0.0112, 0.0108),
        "score_a": 0.4078,
        "score_b": 0.4190,
        "units_needed": 7712,
        "observed_units": 1287,
    }
    return Comparison(**{**values, **changes})


def test_weak_evidence_names_everything():
    assert verdict(comparison()) == (
        "new scores 1.1 points higher than old (F1 41.9 against 40.8; 95 % interval of the "
        "difference −1.1 to +3.3). The evidence is weak and the difference is not established: "
        "P(new better) = 0.850, p = 0.310 by sentence. A difference of this size would need about "
        "7,800 sentences to show (with 80 % power); there are 1,287."
    )


@pytest.mark.parametrize(
    ("likely", "pvalue", "word"),
    [
        (0.99, 0.01, "strong"),
        (0.9899, 0.01, "moderate"),
        (0.99, 0.0101, "moderate"),
        (0.95, 0.05, "moderate"),
        (0.9499, 0.05, None),
        (0.95, 0.0501, None),
        (0.9999, 0.2, None),
        (0.5, 0.001, None),
    ],
)
def test_words_follow_both_thresholds(likely, pvalue, word):
    c = comparison(p_a_better=1 - likely, p_b_better=likely, pvalue=pvalue)
    assert strength(c) == word
    said = verdict(c)
    if word:
        assert f"The evidence that new is better is {word}" in said
        assert "not established" not in said
        assert "would need" not in said
    else:
        assert "not established" in said
        assert "strong" not in said
        assert "moderate" not in said


def test_the_adjusted_p_value_counts():
    c = comparison(p_a_better=0.001, p_b_better=0.999, pvalue=0.004, p_adjusted=0.2)
    assert strength(c) is None
    assert "adjusted p = 0.200 by sentence" in verdict(c)
    assert "(with 80 % power in a single test)" in verdict(c)


def test_below_the_threshold_the_data_lean_to_no_side():
    c = comparison(p_a_better=0.21, p_b_better=0.79)
    assert c.p_b_better < UNDECIDED
    assert "The data do not say which is better; a difference is not established" in verdict(c)


def test_the_baseline_may_be_the_better_one():
    c = comparison(
        difference=-0.03, p_a_better=0.995, p_b_better=0.005, pvalue=0.002, score_b=0.3778
    )
    said = verdict(c)
    assert said.startswith("new scores 3.0 points lower than old (F1 37.8 against 40.8;")
    assert "The evidence that old is better is strong: P(old better) = 0.995, p = 0.002" in said


def test_nothing_is_certain():
    said = verdict(comparison(p_a_better=0.0, p_b_better=1.0, pvalue=1e-30))
    assert "P(new better) > 0.999" in said
    assert "p < 0.001" in said
    assert "= 1.000" not in said


def test_equivalence_within_the_region():
    c = comparison(rope=0.005, p_equivalent=0.97, p_a_better=0.01, p_b_better=0.02)
    said = verdict(c)
    assert said.endswith(
        "For practical purposes they are equivalent: P(the difference is at most 0.5 points) "
        "= 0.970."
    )
    assert "would need" not in said
    small = comparison(rope=0.0005, p_equivalent=0.97, p_a_better=0.01, p_b_better=0.02)
    assert "at most 0.05 points" in verdict(small)
    beyond = comparison(rope=0.005, p_a_better=0.001, p_b_better=0.996, pvalue=0.001)
    assert "The evidence that new is better by more than 0.5 points is strong" in verdict(beyond)


def test_identical_and_undefined():
    assert verdict(comparison(identical=True)) == (
        "old and new gave identical outputs: they were compared item by item, and nothing that "
        "counts differs."
    )
    # probabilities that look alike are not identity
    alike = comparison(difference=0.0, p_a_better=0.5, p_b_better=0.5, pvalue=1.0)
    assert "identical" not in verdict(alike)
    assert "new and old score the same" in verdict(alike)
    undefined = comparison(difference=math.nan, metric="precision")
    assert (
        verdict(undefined) == "No verdict on old and new: precision is undefined for one of them."
    )


def test_small_differences_and_other_metrics():
    assert "scores less than 0.1 points higher" in verdict(comparison(difference=0.0004))
    assert "(macro F1 41.9" in verdict(comparison(metric="macro_f1"))
    assert "(F-beta 41.9" in verdict(comparison(metric="fbeta"))


def test_no_promise_where_none_can_be_made():
    assert "would need" not in verdict(comparison(units_needed=None))
    assert "would need" not in verdict(comparison(units_needed=1000))
    assert "about 1,300 sentences" in verdict(comparison(units_needed=1288))


@given(
    likely=st.floats(0.5, 1),
    pvalue=st.floats(0, 1),
    difference=st.floats(-1, 1),
    rope=st.sampled_from([0.0, 0.01]),
)
def test_never_stronger_than_the_numbers(likely, pvalue, difference, rope):
    ahead = difference >= 0
    c = comparison(
        difference=difference,
        p_a_better=1 - likely if ahead else likely,
        p_b_better=likely if ahead else 1 - likely,
        pvalue=pvalue,
        rope=rope,
    )
    said = verdict(c)
    for word, probability, level in STRENGTHS:
        if f"is {word}" in said:
            assert likely >= probability
            assert pvalue <= level
    established = likely >= STRENGTHS[-1][1] and pvalue <= STRENGTHS[-1][2]
    assert ("not established" in said) == (not established)
