from __future__ import annotations

import json
import warnings
from fractions import Fraction
from math import factorial

import numpy as np
import pytest
from conftest import GOLDEN
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

import probative as pv
from probative.data import load
from probative.inference.posterior.independent import IndependentPosterior

golden = json.loads((GOLDEN / "bayes_tests.json").read_text())
published = load("bayes_test")
NAMES = {"precision": "P", "recall": "R", "f1": "F1"}

size = st.one_of(st.integers(0, 20), st.integers(0, 10**4), st.integers(0, 10**8))
table = st.builds(pv.Counts, size, size, size)
small = st.builds(pv.Counts, *[st.floats(0, 60)] * 3)


def difference(a, b, metric="f1", **choices):
    return IndependentPosterior(
        pv.posterior(pv.Counts(*a), metric, **choices),
        pv.posterior(pv.Counts(*b), metric, **choices),
    )


def test_p_h0_of_two_hundred_pairs_agrees_with_mpmath():
    assert len(golden) == 200
    for metric in NAMES:
        _, a, b, expected = zip(*(row for row in golden if row[0] == metric), strict=True)
        found = pv.bayes_test(*(pv.Counts(*np.transpose(tables)) for tables in (a, b)), metric)
        np.testing.assert_allclose(found.p_h0, np.array(expected, dtype=float), atol=1e-10, rtol=0)
        np.testing.assert_allclose(found.p_h0 + found.p_h1, 1, atol=1e-10)


def finite_sum(a, b):
    """P(B > A) for Beta variates with whole shapes, as a fraction."""

    def beta(x, y):
        return Fraction(factorial(x - 1) * factorial(y - 1), factorial(x + y - 1))

    (a1, b1), (a2, b2) = a, b
    return sum(
        beta(a1 + i, b1 + b2) / ((b2 + i) * beta(1 + i, b2) * beta(a1, b1)) for i in range(a2)
    )


@pytest.mark.parametrize(("a", "b"), [((77, 44, 10), (80, 40, 9)), ((3, 0, 1), (0, 4, 2))])
def test_p_h0_agrees_with_a_closed_finite_sum(a, b):
    shapes = [(tp + 1, fp + fn + 2) for tp, fp, fn in (a, b)]
    found = pv.bayes_test(pv.Counts(*a), pv.Counts(*b), "f1")
    assert found.p_h1 == pytest.approx(float(finite_sum(*shapes)), abs=1e-13)


def test_large_counts_where_plain_quadrature_returns_nothing():
    a, b = (10**8, 10**7, 10**6), (10**8, 10**7 + 10**3, 10**6)
    of_a, of_b = (stats.beta(tp + 1, fp + 1) for tp, fp, _ in (a, b))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain, _ = integrate.quad(lambda x: of_a.pdf(x) * of_b.cdf(x), 0, 1)
    assert plain == pytest.approx(0, abs=1e-12)
    found = pv.bayes_test(pv.Counts(*a), pv.Counts(*b), "precision")
    ours = [pv.posterior(pv.Counts(*c), "precision") for c in (a, b)]
    z = (ours[0].mean - ours[1].mean) / np.sqrt(ours[0].var + ours[1].var)
    assert found.p_h0 == pytest.approx(stats.norm.cdf(z), abs=1e-4)


@pytest.mark.parametrize("d", [-0.9, -0.3, -1e-9, 0, 1e-9, 0.2, 0.7])
def test_two_uniform_posteriors_differ_by_a_triangle(d):
    found = difference((0, 0, 0), (0, 0, 0), "recall")
    below = (1 + d) ** 2 / 2 if d < 0 else 1 - (1 - d) ** 2 / 2
    assert found.cdf(d) == pytest.approx(below, abs=1e-13)
    assert found.sf(d) == pytest.approx(1 - below, abs=1e-13)
    assert found.pdf(d) == pytest.approx(1 - abs(d), abs=1e-13)


@pytest.mark.parametrize(
    ("a", "b", "metric"),
    [
        ((7, 3, 1), (9, 2, 2), "f1"),
        ((0, 3, 0), (2, 0, 0), "precision"),
        ((40, 3, 0), (10**6, 10, 0), "recall"),
        ((20, 4, 9), (25, 1, 4), "fbeta"),
    ],
)
def test_differences_agree_with_adaptive_quadrature(a, b, metric):
    found = difference(a, b, metric, beta=2)
    of_a, of_b = (pv.posterior(pv.Counts(*c), metric, beta=2) for c in (a, b))
    for d in (-0.35, 0.003, 0.11):
        near_one = 1 - d - np.array([0, 1e-6, 1e-5, 1e-4])  # where B may rise steeply
        edges = np.sort(np.clip([*of_a.ppf([1e-9, 0.1, 0.5, 0.9]), *near_one], 0, 1))
        below = sum(
            integrate.quad(
                lambda x, d=d: of_a.pdf(x) * of_b.cdf(x + d), low, high, epsabs=1e-12, limit=200
            )[0]
            for low, high in zip([0, *edges], [*edges, 1], strict=True)
        )
        assert found.cdf(d) == pytest.approx(below, abs=1e-8)


@settings(max_examples=40)
@given(table, table, st.sampled_from(["precision", "recall", "f1"]))
def test_exchanging_the_systems_exchanges_the_outcomes(a, b, metric):
    one, other = pv.bayes_test(a, b, metric, rope=0.02), pv.bayes_test(b, a, metric, rope=0.02)
    assert one.p_h0 == pytest.approx(other.p_h1, abs=1e-10)
    assert one.p_a_better == pytest.approx(other.p_b_better, abs=1e-10)
    assert one.p_equivalent == pytest.approx(other.p_equivalent, abs=1e-10)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-9)
    total = one.p_a_better + one.p_equivalent + one.p_b_better
    assert total == pytest.approx(1, abs=1e-10)


@settings(max_examples=40)
@given(table, st.floats(0.1, 5))
def test_equal_tables_leave_it_open(counts, prior):
    found = pv.bayes_test(counts, counts, prior=prior)
    assert found.p_h0 == pytest.approx(0.5, abs=1e-10)
    assert found.low == pytest.approx(-found.high, abs=1e-9)


@settings(max_examples=40)
@given(small, small, st.sampled_from(["precision", "f1", "recall"]), st.floats(0.5, 0.999))
def test_the_interval_holds_its_level(a, b, metric, level):
    found = pv.bayes_test(a, b, metric, level=level)
    posterior = IndependentPosterior(pv.posterior(a, metric), pv.posterior(b, metric))
    tail = (1 - level) / 2
    assert posterior.cdf(found.low) == pytest.approx(tail, abs=1e-9)
    assert posterior.sf(found.high) == pytest.approx(tail, abs=1e-9)


@pytest.mark.parametrize(
    ("a", "b", "prior", "level"),
    [
        ((1, 244, 1), (870, 314, 0), 0.1, 0.95),
        ((25, 345, 2), (688, 3016, 0), 1, 0.999),
        ((1, 84, 7), (0, 91, 429), 1, 0.999),
    ],
)
def test_the_interval_holds_its_level_where_one_tail_is_light(a, b, prior, level):
    # a normal guess at the limit lies where the probability is too small to have digits
    of_a, of_b = (pv.posterior(pv.Counts(*own), "recall", prior=prior) for own in (a, b))
    posterior = IndependentPosterior(of_a, of_b)
    low, high = posterior.interval(level)
    assert posterior.cdf(low) == pytest.approx((1 - level) / 2, rel=1e-6)
    assert posterior.sf(high) == pytest.approx((1 - level) / 2, rel=1e-6)


@settings(max_examples=8)
@given(small, small)
def test_fbeta_at_one_is_f1(a, b):
    f1 = pv.bayes_test(a, b, "f1", rope=0.01)
    fbeta = pv.bayes_test(a, b, "fbeta", beta=1, rope=0.01)
    for name in ("p_h0", "p_h1", "p_equivalent", "low", "high"):
        assert getattr(fbeta, name) == pytest.approx(getattr(f1, name), abs=1e-9)


def test_arrays_are_as_many_tests():
    rng = np.random.default_rng(11)
    a, b = (pv.Counts(*rng.integers(0, 300, (3, 40))) for _ in range(2))
    many = pv.bayes_test(a, b, "f1", rope=0.05)
    assert many.interval_a.shape == (40, 2)
    for i in range(0, 40, 7):
        one = pv.bayes_test(a[i], b[i], "f1", rope=0.05)
        for name in ("p_h0", "p_h1", "p_a_better", "p_equivalent", "low", "high", "difference"):
            assert getattr(many, name)[i] == pytest.approx(getattr(one, name), abs=1e-11)
        assert many.decision[i] == one.decision
        assert many.interval_b[i] == pytest.approx(one.interval_b)


@pytest.mark.parametrize("task", published["tasks"])
@pytest.mark.parametrize("metric", NAMES)
def test_the_published_tests(task, metric):
    data = published["tasks"][task]
    a, b = ([pv.Counts(*fold) for fold in data["folds"][model]] for model in ("a", "b"))
    found = pv.bayes_test(a, b, metric)
    expected = data["published"][metric]
    for ours, theirs in zip(
        (*found.interval_a, *found.interval_b), (*expected["a"], *expected["b"]), strict=True
    ):
        assert abs(round(100 * ours, 2) - theirs) < 0.0101
    assert found.p_h0 == pytest.approx(expected["p_h0"], abs=0.0015)
    assert found.decision == expected["decision"]


def test_draws_agree_and_state_their_error():
    a, b = pv.Counts(77, 44, 10), pv.Counts(80, 40, 9)
    exact = pv.bayes_test(a, b, rope=0.02)
    drawn = pv.bayes_test(a, b, rope=0.02, method="sampled", rng=7)
    assert drawn.error == pytest.approx(np.sqrt(exact.p_h0 * exact.p_h1 / 1e6), rel=0.01)
    assert drawn.p_h0 == pytest.approx(exact.p_h0, abs=5 * drawn.error)
    assert drawn.p_equivalent == pytest.approx(exact.p_equivalent, abs=5 * drawn.error)
    assert (drawn.low, drawn.high) == pytest.approx((exact.low, exact.high), abs=1e-3)
    again = pv.bayes_test(a, b, rope=0.02, method="sampled", rng=7)
    assert again.to_dict() == drawn.to_dict()
    several = pv.bayes_test(
        pv.Counts([77, 5], [44, 5], [10, 5]),
        pv.Counts([80, 6], [40, 5], [9, 5]),
        method="sampled",
        n_resamples=10_000,
        rng=1,
    )
    assert several.p_h0.shape == (2,)


def test_the_answer_as_a_dictionary():
    found = pv.bayes_test(pv.Counts(77, 44, 10), pv.Counts(0, 0, 0), "precision").to_dict()
    assert found["difference"] is None  # precision of B is undefined
    assert list(found) == [
        "metric",
        "p_h0",
        "p_h1",
        "decision",
        "interval_a",
        "interval_b",
        "score_a",
        "score_b",
        "difference",
        "low",
        "high",
        "p_a_better",
        "p_equivalent",
        "p_b_better",
        "posterior",
        "weight",
        "rope",
        "prior",
        "level",
        "method",
        "error",
    ]
    json.dumps(found, allow_nan=False)


def test_folds_are_weighed():
    folds_a = [pv.Counts(90, 10, 9), pv.Counts(88, 12, 11)]
    folds_b = [pv.Counts(92, 9, 7), pv.Counts(90, 10, 9)]
    found = pv.bayes_test(folds_a, folds_b, weight="averaged")
    alone = pv.bayes_test(pv.Counts(89, 11, 10), pv.Counts(91, 9.5, 8))
    assert found.p_h0 == pytest.approx(alone.p_h0, abs=1e-12)
    assert (found.weight, alone.weight) == (0.5, 1)


def test_the_metric_may_come_second_beside_paired_counts():
    paired = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
    assert pv.bayes_test(paired, "recall").p_h0 == pv.bayes_test(paired, metric="recall").p_h0
    assert pv.bayes_test([paired] * 2, "recall").metric == "recall"
    assert pv.bayes_test(paired.a, paired.b, "recall").metric == "recall"


@pytest.mark.parametrize("rope", [1.0, 1.5, float("nan"), -0.1])
def test_a_region_of_equivalence_is_a_fraction_of_one(rope):
    paired = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
    for arguments in ((paired,), (paired.a, paired.b)):
        with pytest.raises(pv.InputError, match="rope: "):
            pv.bayes_test(*arguments, metric="recall", rope=rope)
        found = pv.bayes_test(*arguments, metric="recall", rope=0.9999999)
        assert found.p_equivalent == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((pv.Counts(1, 2, 3),), "b: missing; expected the counts of B"),
        ((pv.Counts(1, 2, 3), "f1"), "b: found str; expected Counts"),
        ((pv.PairedCounts([1] * 7), pv.Counts(1, 2, 3)), "b: found Counts.* beside PairedCounts"),
        ((pv.Counts(1, 2, 3), pv.PairedCounts([1] * 7)), "b: found PairedCounts"),
        (([pv.Counts(1, 2, 3)] * 2, [pv.Counts(1, 2, 3)] * 4), "b: expected as many folds"),
        (([pv.Counts(1, 2, 3)] * 2, pv.Counts(1, 2, 3)), "b: expected as many folds"),
        (([pv.Counts(1, 2, 3)] * 3, [pv.Counts(1, 2, 3)] * 3), "folds: 3 of them"),
        ((3, 4), "a: found int; expected Counts"),
    ],
)
def test_what_is_compared_is_checked(arguments, message):
    with pytest.raises(pv.InputError, match=message):
        pv.bayes_test(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "f3"}, "metric: unknown 'f3'"),
        ({"metric": "accuracy"}, "metric: accuracy needs tn"),
        ({"rope": -0.1}, "rope: -0.1 is not"),
        ({"level": 2}, "level: 2 is not between 0 and 1"),
        ({"prior": 0}, "prior: 0 is not"),
        ({"method": "exakt"}, "method: unknown 'exakt'.*did you mean 'exact'"),
        ({"method": "sampled", "n_resamples": 1.5}, "n_resamples: 1.5 is not a whole number"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(pv.InputError, match=message):
        pv.bayes_test(pv.Counts(1, 2, 3), pv.Counts(3, 2, 1), **options)


@pytest.mark.parametrize("metric", ["precision", "recall", "f1"])
def test_a_tie_accepts_h0(metric):
    counts = pv.Counts(77, 44, 10)
    found = pv.bayes_test(counts, counts, metric)
    assert found.p_h0 == pytest.approx(0.5, abs=1e-10)
    assert found.decision == "H0"


@pytest.mark.parametrize(("prior", "share"), [(0.05, 0.7602), (0.02, 0.7547), (0.01, 0.7528)])
def test_a_small_prior_of_empty_counts(prior, share):
    """Nearly all probability lies where a share cannot be told from 0, or from 1.

    The shares are of 400,000 draws, with gamma variates as logarithms: standard error 0.0007.
    """
    empty, some = pv.Counts(0, 0, 0), pv.Counts(0, 2, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alike = pv.bayes_test(empty, empty, "precision", prior=prior)
        assert alike.p_h1 == pytest.approx(0.5, abs=1e-9)
        assert alike.low == pytest.approx(-alike.high, abs=1e-12)
        assert pv.bayes_test(some, empty, "precision", prior=prior).p_h1 == pytest.approx(
            share, abs=0.003
        )


def test_fbeta_of_empty_counts_needs_a_prior():
    with pytest.raises(pv.InputError, match=r"prior: 0\.02 is too small for a difference in F-be"):
        pv.bayes_test(pv.Counts(0, 0, 3), pv.Counts(5, 0, 0), "fbeta", beta=2, prior=0.02)


@pytest.mark.parametrize(
    ("metric", "cases", "method"),
    [
        ("f1", [30, 20, 80, 15, 400, 60, 70], "exact"),
        ("recall", [0, 0, 1, 0, 2, 1, 1], "exact"),
        ("fbeta", [0, 0, 1, 0, 2, 1, 1], "integrated"),
    ],
)
def test_what_is_called_exact_has_eight_decimals(metric, cases, method):
    test = pv.bayes_test(pv.PairedCounts(cases), metric=metric, beta=2)
    assert test.method == method
    assert (test.error <= 1e-8) == (method == "exact")
    assert f"|paired|{method}|" in test.signature


@pytest.mark.parametrize("metric", ["f1", "recall", "mcc"])
def test_no_difference_lies_beyond_the_largest_possible_one(metric):
    a, b = pv.Counts(50, 10, 12, 90), pv.Counts(55, 9, 8, 91)
    posterior = pv.bayes_test(a, b, metric).posterior
    most = 2.0 if metric == "mcc" else 1.0
    ends = [-2 * most, -most, most, 2 * most]
    assert posterior.cdf(ends).tolist() == [0, 0, 1, 1]
    assert posterior.sf(ends).tolist() == [1, 1, 0, 0]
    assert posterior.pdf(ends).tolist() == [0, 0, 0, 0]
    assert posterior.cdf(most) == 1
    middle = posterior.cdf([-most, 0.0, most])[1]
    assert middle == pytest.approx(posterior.cdf(0.0), abs=1e-15)
