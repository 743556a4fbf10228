from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from conftest import GOLDEN
from hypothesis import given
from hypothesis import strategies as st

import probative as pv
from probative.data import load
from probative.inference.intervals import METHODS, methods_for, normal_quantile
from probative.metrics import RATIOS as METRICS
from probative.metrics import score

F1_METHODS = methods_for("f1")
SCORE_METHODS = ("wilson-direct", "wilson-indirect", "clopper-pearson")

golden = json.loads((GOLDEN / "intervals.json").read_text())
level = st.floats(0.01, 0.999999)
size = st.one_of(st.integers(0, 50), st.integers(0, 10**6), st.integers(0, 10**12))
table = st.builds(pv.Counts, size, size, size, size)


@pytest.mark.parametrize("method", F1_METHODS)
def test_f1_limits_agree_with_forty_digits(method):
    cases = [case for case in golden["f1"] if method in case["limits"]]
    assert len(cases) > 100
    for case in cases:
        counts = pv.Counts(case["tp"], case["nu"] - case["tp"], 0)
        found = pv.interval(counts, "f1", method, level=case["level"])
        expected = [float(limit) for limit in case["limits"][method]]
        assert [found.low, found.high] == pytest.approx(expected, rel=1e-9, abs=1e-12), case


@pytest.mark.parametrize("method", ["wald", "logit"])
def test_fbeta_limits_agree_with_forty_digits(method):
    for case in golden["fbeta"]:
        counts = pv.Counts(case["tp"], case["fp"], case["fn"])
        found = pv.interval(counts, "fbeta", method, level=case["level"], beta=case["beta"])
        expected = [float(limit) for limit in case["limits"][method]]
        assert [found.low, found.high] == pytest.approx(expected, rel=1e-9, abs=1e-12), case


def test_proportions_have_the_limits_of_their_binomial():
    """F1's golden limits, mapped back, are limits of tp out of nu: those of any proportion."""
    counts_of = {
        "precision": lambda x, n: pv.Counts(x, n - x, 3, 4),
        "recall": lambda x, n: pv.Counts(x, 3, n - x, 4),
        "jaccard": lambda x, n: pv.Counts(x, n - x, 0, 4),
        "accuracy": lambda x, n: pv.Counts(x, n - x, 0, 0),
        "specificity": lambda x, n: pv.Counts(3, n - x, 4, x),
        "npv": lambda x, n: pv.Counts(3, 4, n - x, x),
    }
    names = {
        "wilson": "wilson-indirect",
        "clopper-pearson": "clopper-pearson",
        "jeffreys": "jeffreys",
    }
    for case in golden["f1"]:
        for metric, make in counts_of.items():
            for method, source in names.items():
                f1_limits = [float(limit) for limit in case["limits"][source]]
                expected = [f / (2 - f) for f in f1_limits]
                counts = make(case["tp"], case["nu"])
                found = pv.interval(counts, metric, method, level=case["level"])
                assert [found.low, found.high] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("example", load("f1_intervals")["examples"], ids=lambda e: e["name"])
def test_worked_examples_of_the_paper(example):
    counts = pv.Counts(**example["counts"])
    for method, limits in example["intervals"].items():
        found = pv.interval(counts, "f1", method)
        assert [round(found.low, 3), round(found.high, 3)] == limits


@given(table, st.sampled_from(METRICS), st.sampled_from(METHODS), level, st.floats(0.2, 5))
def test_limits_are_ordered_and_within_the_unit_interval(counts, metric, method, chosen, beta):
    if method not in methods_for(metric, beta):
        return
    found = pv.interval(counts, metric, method, level=chosen, beta=beta)
    assert found.low <= found.high
    if np.isnan(found.estimate):
        assert (found.low, found.high) == (0, 1)
        assert found.note.startswith("undefined")
    elif method == "wald":
        overshoots = found.low < 0 or found.high > 1
        assert overshoots == bool(found.note and found.note.startswith("overshoot"))
        assert (found.low == found.high) == bool(found.note and "no width" in found.note)
    else:
        assert found.low >= 0
        assert found.high <= 1


@given(table, st.sampled_from(SCORE_METHODS), level)
def test_score_intervals_hold_the_estimate_and_stay_inside(counts, method, chosen):
    if counts.nu == 0:
        return
    found = pv.interval(counts, "f1", method, level=chosen)
    assert found.low <= found.estimate <= found.high
    if method != "clopper-pearson":
        assert (found.low == 0) == (counts.tp == 0)
        assert (found.high == 1) == (counts.tp == counts.nu)


@given(table, st.sampled_from(F1_METHODS), level, level)
def test_a_higher_level_gives_an_interval_around_the_lower_one(counts, method, one, two):
    inner, outer = (pv.interval(counts, "f1", method, level=x) for x in sorted((one, two)))
    assert outer.low <= inner.low + 1e-14
    assert outer.high >= inner.high - 1e-14


@given(st.integers(0, 10**12), st.integers(0, 10**12), level)
def test_direct_roots_satisfy_the_quartic(tp, rest, chosen):
    if tp + rest == 0:
        return
    found = pv.interval(pv.Counts(tp, rest, 0), "f1", "wilson-direct", level=chosen)
    k = normal_quantile(chosen) ** 2 / (tp + rest)
    for root in (found.low, found.high):
        value = k * root * (root - 1) * (root - 2) ** 2 + 2 * (root - found.estimate) ** 2
        assert abs(value) <= 1e-12


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.sampled_from(F1_METHODS))
def test_more_true_positives_never_lower_a_limit(tp, rest, method):
    fewer = pv.interval(pv.Counts(tp - 1, rest + 1, 0), "f1", method)
    more = pv.interval(pv.Counts(tp, rest, 0), "f1", method)
    if method == "wald" or fewer.note or more.note:
        return  # Wald's limits collapse at the ends, and so say the notes
    assert fewer.low <= more.low
    assert fewer.high <= more.high


@pytest.mark.parametrize("metric", METRICS)
def test_arrays_give_what_single_tables_give(metric):
    rng = np.random.default_rng(5)
    columns = rng.integers(0, 30, (4, 40))
    columns[:, 0] = 0
    many = pv.Counts(*columns)
    for method in methods_for(metric, 2.0):
        together = pv.interval(many, metric, method, beta=2.0)
        for i, one in enumerate(many):
            alone = pv.interval(one, metric, method, beta=2.0)
            got = together[i]
            np.testing.assert_allclose(
                [got.estimate, got.low, got.high],
                [alone.estimate, alone.low, alone.high],
                rtol=1e-12,
            )
            assert got.note == alone.note


def test_large_arrays_are_worked_on_in_pieces_without_a_seam():
    tp = np.arange(70_000.0)
    found = pv.interval(
        pv.Counts(tp.reshape(7, -1), (tp + 1).reshape(7, -1), (0 * tp).reshape(7, -1))
    )
    assert found.low.shape == (7, 10_000)
    one = pv.interval(pv.Counts(tp[32768], tp[32768] + 1, 0))
    assert found.low.flat[32768] == one.low


def test_the_f1_estimate_is_exact():
    counts = pv.Counts(10**12, 3 * 10**11 + 1, 4 * 10**11)
    expected = Fraction(2 * 10**12, 2 * 10**12 + 7 * 10**11 + 1)
    assert pv.interval(counts).estimate == pytest.approx(float(expected), rel=1e-15)
    assert score(counts) == pv.interval(counts).estimate


def test_fbeta_at_one_is_f1():
    counts = pv.Counts(77, 44, 10)
    for method in F1_METHODS:
        one, other = pv.interval(counts, "f1", method), pv.interval(counts, "fbeta", method, beta=1)
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-10)


def test_where_the_logit_ends_the_posterior_takes_over():
    for counts in (pv.Counts(0, 3, 4), pv.Counts(5, 0, 0)):
        for beta in (1, 2):
            logit = pv.interval(counts, "fbeta", "logit", beta=beta)
            bayes = pv.interval(counts, "fbeta", "bayes", beta=beta)
            assert (logit.low, logit.high) == (bayes.low, bayes.high)
            assert "that of the posterior" in logit.note


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"level": 0}, "level: 0 is not between 0 and 1"),
        ({"level": 1}, "level: 1 is not between 0 and 1"),
        ({"level": "high"}, "level: 'high' is not a number"),
        ({"metric": "F1"}, "metric: unknown 'F1'.*did you mean 'f1'"),
        ({"method": "wilsn"}, "method: unknown 'wilsn'.*did you mean 'wilson'"),
        (
            {"method": "wilson"},
            "method: 'wilson' makes no sense for f1; expected one of wilson-indi",
        ),
        (
            {"metric": "fbeta", "beta": 2, "method": "jeffreys"},
            "fbeta with beta 2; .*logit, bayes, wald",
        ),
        ({"metric": "fbeta", "beta": -1}, "beta: -1 is not"),
        ({"metric": "npv"}, "npv needs tn"),
        ({"prior": 0}, "prior: 0 is not"),
        ({"counts": [1, 2, 3]}, "counts: list is not Counts"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    given_counts = arguments.pop("counts", pv.Counts(1, 2, 3))
    with pytest.raises(ValueError, match=message):
        pv.interval(given_counts, **arguments)


def test_both_wilson_names_go_for_a_proportion():
    counts = pv.Counts(77, 44, 10)
    found = [
        pv.interval(counts, "recall", m) for m in ("wilson", "wilson-direct", "wilson-indirect")
    ]
    assert {result.method for result in found} == {"wilson"}


def test_the_result_says_itself():
    found = pv.interval(pv.Counts(77, 44, 10))
    assert str(found) == "f1, 0.95 wilson-indirect interval: 0.7404 [0.6686, 0.8013]"
    assert set(found.to_dict()) == {"metric", "method", "level", "estimate", "low", "high"}
    with pytest.raises(AttributeError):
        found.low = 0


def test_equal_units_once_with_their_number():
    units = pv.Counts(tp=[3, 0, 2, 5], fp=[1, 2, 0, 0], fn=[0, 1, 1, 0], tn=[4, 4, 9, 0])
    number = np.array([4, 1, 7, 2])
    every = units[np.repeat(np.arange(4), number)]
    for metric in ("f1", "recall", "accuracy", "fbeta"):
        once = pv.interval(units, metric, clustered=True, multiplicity=number)
        out = pv.interval(every, metric, clustered=True)
        for name in ("estimate", "low", "high", "design_effect"):
            assert getattr(once, name) == pytest.approx(getattr(out, name), rel=1e-12)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"multiplicity": [1, 2]}, "multiplicity: has no effect without units"),
        ({"multiplicity": [1, 2, 3], "clustered": True}, r"expected one number per row, \(2,\)"),
    ],
)
def test_a_number_of_units_that_does_not_fit(more, message):
    with pytest.raises(pv.InputError, match=message):
        pv.interval(pv.Counts([1, 2], [0, 1], [1, 1]), "f1", **more)
