"""The sentence that ends a comparison."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probative.results import BucketDifference, Comparison
from probative.wording import numbers
from probative.wording.verdict import STRENGTHS, strength, verdict


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
        "posterior": None,  # the sentence does not ask for it
        "score_a": 0.4078,
        "score_b": 0.4190,
        "units_needed": 7712,
        "observed_units": 1287,
    }
    return Comparison(**{**values, **changes})


def shown(**changes):
    """A comparison whose interval leaves out 0 on the side of the difference."""
    limits = (0.002, 0.0334) if changes.get("difference", 1) > 0 else (-0.05, -0.002)
    return comparison(**{"low": limits[0], "high": limits[1], **changes})


def test_weak_evidence_names_everything():
    assert verdict(comparison()) == (
        "new scores 1.1 points higher than old (F1 41.9 against 40.8; 95 % interval of the "
        "difference [−1.1, +3.3]). The difference is not established: "
        "P(new better) = 0.850, p = 0.310 by sentence. A difference of this size would need about "
        "7,712 sentences to show (with 80 % power); there are 1,287."
    )


@pytest.mark.parametrize(
    ("likely", "pvalue", "word"),
    [
        (0.99, 0.01, "strong"),
        (0.9899, 0.01, "moderate"),
        (0.99, 0.0101, "moderate"),
        (0.95, 0.05, "moderate"),
        (0.95, 0.0501, None),
        (0.9999, 0.2, None),
    ],
)
def test_words_follow_both_thresholds(likely, pvalue, word):
    c = (shown if word else comparison)(p_a_better=1 - likely, p_b_better=likely, pvalue=pvalue)
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
    c = shown(p_a_better=0.001, p_b_better=0.999, pvalue=0.004, p_adjusted=0.2)
    assert strength(c) is None
    aside = "(the interval is not adjusted for the number of comparisons)"
    assert f"adjusted p = 0.200 by sentence {aside}" in verdict(c)
    assert "(with 80 % power in a single test)" in verdict(c)


def test_not_established_is_said_once():
    said = verdict(comparison(p_a_better=0.21, p_b_better=0.79))
    assert "The difference is not established: P(new better) = 0.790, p = 0.310" in said
    assert said.count("established") == 1


def test_the_baseline_may_be_the_better_one():
    c = shown(difference=-0.03, p_a_better=0.995, p_b_better=0.005, pvalue=0.002, score_b=0.3778)
    said = verdict(c)
    assert said.startswith("new scores 3.0 points lower than old (F1 37.8 against 40.8;")
    assert "The evidence that old is better is strong: P(old better) = 0.995, p = 0.00200" in said


def test_nothing_is_certain():
    said = verdict(shown(p_a_better=0.0, p_b_better=1.0, pvalue=1e-30))
    assert "P(new better) > 0.999" in said
    assert "p = 1.0e−30" in said
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
    beyond = shown(rope=0.005, p_a_better=0.001, p_b_better=0.996, pvalue=0.001)
    assert "The evidence that new is better by more than 0.5 points is strong" in verdict(beyond)


def test_identical_and_undefined():
    assert verdict(comparison(identical=True)) == (
        "old and new gave identical outputs: no item that counts differs."
    )
    # probabilities that look alike are not identity
    alike = comparison(difference=0.0, p_a_better=0.5, p_b_better=0.5, pvalue=1.0)
    assert "identical" not in verdict(alike)
    assert "new and old score the same" in verdict(alike)
    one = comparison(p_a_better=math.nan, p_b_better=math.nan, low=-1, high=1, by="document")
    assert verdict(one).endswith(
        "interval of the difference [−100.0, +100.0]). No verdict: a score rests on a single "
        "document, which does not show how the systems do on others."
    )
    nothing = comparison(positives=0, difference=0.0, p_b_better=0.99)
    assert verdict(nothing).endswith("No verdict: gold has nothing to find.")
    assert "No verdict" not in verdict(comparison(positives=0, metric="accuracy"))
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
    assert "about 1,288 sentences" in verdict(comparison(units_needed=1288))


# --- two claims, kept apart -----------------------------------------------------------------------


def test_a_difference_smaller_than_the_region_is_still_a_difference():
    c = shown(pvalue=1e-5, rope=0.01, p_b_better=0.62, p_equivalent=0.38, p_a_better=0.0)
    assert verdict(c).endswith(
        "There is strong evidence of a difference (p = 1.0e−05 by sentence), but not that it "
        "exceeds 1 point: P(new better by more than 1 point) = 0.620."
    )
    same = shown(pvalue=1e-5, rope=0.01, p_b_better=0.02, p_equivalent=0.98, p_a_better=0.0)
    assert verdict(same).endswith(
        "There is strong evidence of a difference (p = 1.0e−05 by sentence), but for practical "
        "purposes they are equivalent: P(the difference is at most 1 point) = 0.980."
    )
    neither = comparison(rope=0.01, p_b_better=0.45, p_equivalent=0.5, p_a_better=0.05)
    assert (
        "The difference is not established: P(new better by more than 1 point) = 0.450, p = 0.310 "
        "by sentence." in verdict(neither)
    )


def test_interval_and_test_that_disagree_are_told():
    c = shown(pvalue=0.0502, p_b_better=0.99, p_a_better=0.01)
    assert strength(c) is None
    assert (
        "Interval and test disagree: the 95 % interval excludes 0, but the test does not find a "
        "difference at the 5 % level (p = 0.0502 by sentence); P(new better) = 0.990. The weaker "
        "one counts: whether new is better stays open." in verdict(c)
    )
    c = comparison(pvalue=0.0004, p_b_better=0.97, p_a_better=0.03, low=-0.0002)
    assert strength(c) is None
    assert verdict(c).endswith(
        "difference [−0.02, +3.3]). Interval and test disagree: the test finds a difference at the "
        "5 % level (p = 4.0e−04 by sentence), but the 95 % interval includes 0; P(new better) = "
        "0.970. The weaker one counts: whether new is better stays open."
    )
    c = shown(pvalue=0.03, p_b_better=0.9499, p_a_better=0.0501)
    assert verdict(c).endswith(
        "Test and posterior disagree: p = 0.0300 by sentence, but P(new better) = 0.950. The "
        "weaker one counts: whether new is better stays open."
    )
    # the interval's own level is what the p-value is held against
    assert "disagree" not in verdict(shown(pvalue=0.09, level=0.9, p_b_better=0.96))
    assert "disagree" in verdict(shown(pvalue=0.03, level=0.99, p_b_better=0.99))


LIMITS = ((-0.3, -0.001), (-0.01, 0.02), (0.0, 0.02), (0.0002, 0.02), (-1.0, 1.0))
PVALUES = (0.0, 0.0004, 0.0099, 0.0101, 0.0499, 0.05, 0.0501, 0.2, 1.0)
# P(A better), P(equivalent), P(B better)
POSTERIORS = (
    (0.0001, 0.0, 0.9999),
    (0.004, 0.0, 0.996),
    (0.03, 0.0, 0.97),
    (0.06, 0.0, 0.94),
    (0.4, 0.0, 0.6),
    (0.97, 0.0, 0.03),
    (0.001, 0.96, 0.039),
    (0.01, 0.39, 0.6),
    (0.5, 0.45, 0.05),
)


def every_comparison():
    for difference, limits, p, shares, rope, adjusted, level in itertools.product(
        (-0.02, 0.0, 0.0003, 0.03),
        LIMITS,
        PVALUES,
        POSTERIORS,
        (0.0, 0.01, 0.9),
        (None, 1, 3),
        (0.9, 0.95, 0.99),
    ):
        a, equivalent, b = shares
        if (rope == 0) != (equivalent == 0) or not limits[0] <= difference <= limits[1]:
            continue
        yield comparison(
            difference=difference,
            low=limits[0],
            high=limits[1],
            pvalue=p,
            p_adjusted=None if adjusted is None else min(1.0, adjusted * p),
            p_a_better=a,
            p_equivalent=equivalent,
            p_b_better=b,
            rope=rope,
            level=level,
        )


def test_no_sentence_claims_more_than_its_numbers_or_contradicts_itself():
    number = 0
    for c in every_comparison():
        said, number = verdict(c), number + 1
        p = c.pvalue if c.p_adjusted is None else c.p_adjusted
        likely = {c.a: c.p_a_better, c.b: c.p_b_better}
        excluded = c.low > 0 or c.high < 0
        for word, probability, most in STRENGTHS:
            for name in likely:
                if f"evidence that {name} is better" in said and f"is {word}:" in said:
                    assert likely[name] >= probability, said
                    assert p <= most, said
                    assert (c.difference > 0) == (name == c.b) or c.difference == 0, said
                    assert excluded or c.pvalue > 1 - c.level, said
                    assert "disagree" not in said
                    assert "not established" not in said
            if f"There is {word} evidence of a difference" in said:
                assert p <= most, said
                assert c.rope > 0
        if "not established" in said:
            assert p > 0.05, said  # never beside a small p-value
            assert "strong" not in said
            assert "moderate" not in said
        if "equivalent" in said:
            assert c.p_equivalent >= 0.95, said
        if "excludes 0" in said:
            assert excluded, said
            assert "difference [0.0," not in said
            assert c.pvalue > 1 - c.level
        if "includes 0" in said:
            assert not excluded, said
            assert c.pvalue <= 1 - c.level + 1e-12
        # a disagreement is never passed over, unless the region makes it irrelevant
        agree = excluded == (c.pvalue <= 1 - c.level + 1e-12)
        assert agree or "disagree" in said or "practical purposes" in said, said
        assert sum(said.count(claim) for claim in CLAIMS) == 1, said
    assert number > 5000


CLAIMS = (
    "is better is strong:",
    "is better is moderate:",
    "points is strong:",
    "points is moderate:",
    "point is strong:",
    "point is moderate:",
    "practical purposes",
    "disagree:",
    "but not that it exceeds",
    "is not established",
)


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
        if f"is {word}:" in said:
            assert likely >= probability
            assert pvalue <= level
    if "not established" in said:
        assert pvalue > STRENGTHS[-1][2]


def test_a_trade_of_precision_for_recall_is_said_only_where_both_intervals_show_it():
    def others(precision, recall):
        gaps = {"precision": precision, "recall": recall}
        return [BucketDifference("old", "new", m, (a + b) / 2, a, b) for m, (a, b) in gaps.items()]

    traded = verdict(comparison(), others((0.06, 0.15), (-0.06, -0.003)))
    assert "new is more precise by 10.5 points and finds 3.1 points less." in traded
    turned = verdict(comparison(), others((-0.15, -0.06), (0.003, 0.06)))
    assert "old is more precise by 10.5 points and finds 3.1 points less." in turned
    for gaps in (((0.06, 0.15), (-0.06, 0.003)), ((0.06, 0.15), (0.01, 0.06))):
        assert "more precise" not in verdict(comparison(), others(*gaps))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[
            (0.496, "0.496"),
            (0.0124, "0.0124"),
            (0.001, "0.00100"),
            (1.0, "1.00"),
            (0.05, "0.0500"),
        ],
        *[(0.05003, "0.05003"), (0.0499999, "0.0499999"), (2.2e-16, "2.2e−16"), (0.0, "< 1e−300")],
        *[(math.nan, "–"), (None, "")],
    ],
)
def test_p_values_have_one_form(value, text):
    assert numbers.pvalue(value) == text


def test_an_interval_stands_behind_its_score_with_the_decimals_that_it_deserves():
    assert numbers.with_interval(0.4186, 0.385, 0.4532) == "41.9 [38.5, 45.3]"
    assert numbers.with_interval(0.011, -0.02, 0.042, signed=True) == "+1.1 [−2.0, +4.2]"
    assert numbers.with_interval(0.97512, 0.9742, 0.976) == "97.51 [97.42, 97.60]"
    assert numbers.with_interval(0.0012, 0.0003, 0.0021, signed=True) == "+0.12 [+0.03, +0.21]"
    assert numbers.with_interval(math.nan, 0, 1) == "–"
