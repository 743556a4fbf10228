"""Several runs of two systems: two questions, and what each answer promises."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inference.of_scores import compare_runs

import probative as pv
from probative.inference.compare import Choices, compare_runs_of
from probative.inference.pooled import PooledScore, overlap

GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "runs.json").read_text())["runs"]


def counts(run):
    tp, fp, fn = np.array(run, dtype=float).T
    return pv.Counts(tp, fp, fn)


def golden(case, **how):
    beta = 2.0 if case["metric"] == "fbeta" else 1.0
    a, b = ([counts(run) for run in case[name]] for name in "ab")
    return compare_runs(a, b, case["metric"], beta=beta, paired_runs=case["paired_runs"], **how)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda c: f"{c['metric']}-{len(c['a'])}-{len(c['b'])}")
def test_the_procedures_agree_with_plain_loops(case):
    answer, expected = golden(case).procedures, case["procedures"]
    for name in ("estimate", "standard_error", "degrees_of_freedom"):
        assert getattr(answer, name) == pytest.approx(expected[name], rel=1e-10)
    assert answer.p_new_run_better == pytest.approx(expected["p_new_run_better"], rel=1e-9)
    parts = answer.variance
    assert parts.units == pytest.approx(expected["units"], rel=1e-9)
    runs, both = (expected[name] + [0.0] for name in ("runs", "interactions"))
    assert (parts.runs_a, parts.runs_b) == pytest.approx(tuple(runs[:2]), rel=1e-9)
    assert (parts.interaction_a, parts.interaction_b) == pytest.approx(tuple(both[:2]), rel=1e-9)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda c: f"{c['metric']}-{len(c['a'])}-{len(c['b'])}")
def test_the_procedures_promise_no_more_than_the_models(case):
    result, expected = golden(case), case["procedures"]
    models, answer = result.models, result.procedures
    assert models.pvalue == pytest.approx(case["p_exchange"], rel=1e-9)
    assert answer.pvalue == pytest.approx(max(models.pvalue, expected["p_student"]), rel=1e-9)
    below, above = models.estimate - models.low, models.high - models.estimate
    low = answer.estimate - max(expected["reach"], below)
    high = answer.estimate + max(expected["reach"], above)
    assert answer.low == pytest.approx(max(-1, low), rel=1e-9)
    assert answer.high == pytest.approx(min(1, high), rel=1e-9)
    nearer = min(models.p_b_better, expected["p_b_student"], key=lambda p: abs(p - 0.5))
    assert answer.p_b_better == pytest.approx(nearer, rel=1e-9)


def test_both_sides_of_either_maximum_are_reached():
    """The golden cases would not tell a missing maximum if one side always won."""
    results = [(golden(case), case["procedures"]) for case in GOLDEN]
    assert {r.models.pvalue > e["p_student"] for r, e in results} == {True, False}
    assert {r.models.estimate - r.models.low > e["reach"] for r, e in results} == {True, False}


def random_runs(seed, n_a, n_b, units=12, largest=4):
    rng = np.random.default_rng(seed)
    positives = rng.integers(0, largest + 1, units)
    positives[:2] += 1

    def run(skill):
        tp = rng.binomial(positives, np.clip(skill + rng.normal(0, 0.1), 0, 1))
        return pv.Counts(tp, rng.integers(0, 3, units), positives - tp)

    return [run(0.6) for _ in range(n_a)], [run(0.7) for _ in range(n_b)]


several = st.tuples(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 5))


@settings(max_examples=12, deadline=None)
@given(several, st.sampled_from(["f1", "recall", "precision", "jaccard"]))
def test_swapping_the_systems_mirrors_everything(drawn, metric):
    a, b = random_runs(*drawn)
    there, back = compare_runs(a, b, metric), compare_runs(b, a, metric)
    for question in ("models", "procedures"):
        one, other = getattr(there, question), getattr(back, question)
        assert (one is None) == (other is None)
        if one is None:
            continue
        assert one.estimate == pytest.approx(-other.estimate, abs=1e-12)
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-9)
        assert one.pvalue == pytest.approx(other.pvalue, rel=1e-9)
        assert one.p_a_better == pytest.approx(other.p_b_better, abs=1e-6)
    if there.procedures:
        own, others = there.procedures, back.procedures
        assert own.p_new_run_better == pytest.approx(1 - others.p_new_run_better, abs=1e-9)
        assert own.variance.runs_a == pytest.approx(others.variance.runs_b, abs=1e-12)
    assert there.models.score_a == pytest.approx(back.models.score_b)


@settings(max_examples=10, deadline=None)
@given(several, st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_runs_does_not_matter(drawn, paired, shuffle):
    seed, n_a, n_b = drawn
    a, b = random_runs(seed, n_a, n_a if paired else n_b)
    order_a, order_b = list(range(len(a))), list(range(len(b)))
    shuffle.shuffle(order_a)
    shuffle.shuffle(order_b)
    order_b = order_a if paired else order_b
    one = compare_runs(a, b, paired_runs=paired)
    other = compare_runs([a[i] for i in order_a], [b[i] for i in order_b], paired_runs=paired)
    assert one.models.to_metrics() == pytest.approx(other.models.to_metrics())
    assert one.procedures.variance.to_dict()["shares"] == pytest.approx(
        other.procedures.variance.to_dict()["shares"]
    )
    for name in ("estimate", "low", "high", "pvalue", "p_b_better", "p_new_run_better"):
        assert getattr(one.procedures, name) == pytest.approx(getattr(other.procedures, name))


@settings(max_examples=10, deadline=None)
@given(several)
def test_limits_are_bounded_and_reach_as_far_as_the_models(drawn):
    result = compare_runs(*random_runs(*drawn, units=4))
    models, procedures = result.models, result.procedures
    if procedures is None:
        return
    assert -1 <= procedures.low <= procedures.estimate <= procedures.high <= 1
    below, above = procedures.estimate - procedures.low, procedures.high - procedures.estimate
    assert below >= min(models.estimate - models.low, 1 + procedures.estimate) - 1e-12
    assert above >= min(models.high - models.estimate, 1 - procedures.estimate) - 1e-12
    assert procedures.pvalue >= models.pvalue
    total = sum(procedures.variance.shares.values())
    assert math.isnan(total) or total == pytest.approx(1)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_copies_of_one_run_have_no_seed_variance_and_narrow_nothing(seed, copies):
    (a,), (b,) = random_runs(seed, 1, 1)
    alone = compare_runs([a], [b]).models
    result = compare_runs([a] * copies, [b] * copies)
    parts = result.procedures.variance
    assert parts.runs_a == parts.runs_b == parts.interaction == 0
    for answer in (result.models, result.procedures):
        assert answer.low <= alone.low + 1e-9
        assert answer.high >= alone.high - 1e-9
        assert answer.pvalue >= alone.pvalue * (1 - 1e-9)


def test_one_run_each_is_the_plain_comparison():
    rng = np.random.default_rng(3)
    gold = [["B-PER", "O", "B-LOC", "O"]] * 60
    said = [[[t if rng.random() < p else "O" for t in s] for s in gold] for p in (0.7, 0.8)]
    plain = pv.compare(gold, *said, metric="f1").comparisons[0]
    sets = [
        [{(i, i + 1, t) for i, t in enumerate(s) if t != "O"} for s in side]
        for side in (gold, *said)
    ]
    cases = pv.PairedCounts.from_spans(*sets)
    given = PooledScore.of_cases(cases)
    choices = Choices("sentence", 0.95, 0.0, 0.8, np.random.default_rng(0))
    result = compare_runs_of(given, [0], [1], ("A", "B"), choices)
    models = result.models
    assert (models.estimate, models.low, models.high) == (plain.difference, plain.low, plain.high)
    assert (models.pvalue, models.p_b_better) == (plain.pvalue, plain.p_b_better)
    assert result.procedures is None
    assert "one run" in result.models.note


def test_items_that_are_units_need_no_cases():
    """The overlap of two answers to one item is known; of several it is not."""
    rng = np.random.default_rng(0)
    cases = np.eye(8)[rng.integers(0, 8, 50)]
    paired = pv.PairedCounts(cases)
    assert np.array_equal(overlap(paired.a, paired.b).cases, cases)


def test_pooled_cases_are_those_of_all_pairs_of_runs():
    a, b = random_runs(5, 2, 4)
    tables = [overlap(x, y) for x in a for y in b]
    cases = sum(tables, start=0) / 2  # by the greatest common divisor of 2 and 4
    # two runs of A count twice each, four of B once
    assert float(cases.total().a.tp) == 2 * sum(x.tp.sum() for x in a)
    assert float(cases.total().b.tp) == sum(y.tp.sum() for y in b)


def test_unequal_numbers_of_runs_weigh_alike():
    a, b = random_runs(8, 2, 3)
    result = compare_runs(a, b)
    equal = compare_runs(a * 3, b * 2)
    assert result.models.estimate == pytest.approx(equal.models.estimate)
    assert result.models.pvalue == pytest.approx(equal.models.pvalue)
    assert result.procedures.estimate == pytest.approx(equal.procedures.estimate)


def test_huge_and_empty_counts():
    huge = [pv.Counts([1e8 + k, 2e8], [1e7, 3e7], [2e8 - k, 1e8]) for k in range(3)]
    result = compare_runs(huge, huge[::-1], "recall")
    assert result.procedures.estimate == pytest.approx(0, abs=1e-12)
    nothing = pv.Counts([0, 0], [0, 0], [0, 0])
    result = compare_runs([nothing] * 2, [nothing] * 2)
    assert result.procedures is None
    assert "undefined" in result.models.note
    alone = pv.Counts([3, 0], [1, 0], [2, 0])
    result = compare_runs([alone] * 2, [alone] * 3)
    assert result.procedures is None
    assert "one unit" in result.models.note
    assert (result.models.low, result.models.high) == (-1, 1)


def test_empty_units_change_nothing():
    a, b = random_runs(11, 3, 3)
    padded = [
        [pv.Counts(*(np.append(cell, [0] * 50) for cell in (c.tp, c.fp, c.fn))) for c in side]
        for side in (a, b)
    ]
    one, other = compare_runs(a, b).procedures, compare_runs(*padded).procedures
    for name in ("low", "high", "pvalue", "degrees_of_freedom", "p_new_run_better"):
        assert getattr(one, name) == pytest.approx(getattr(other, name)), name
    assert other.variance.n_units == one.variance.n_units + 50


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b: [], "B: no runs"),
        (lambda b: [*b, b[0][:3]], "B, run 3: 3 units, but A, run 1 has 12"),
        (lambda b: [b[0].sum()], r"B: shape \(\); expected one row per unit"),
        (lambda b: [b[0].reshape(3, 4)], r"B: shape \(3, 4\); expected one row per unit"),
        (lambda b: [b[0] * 2], "B: .* positives in unit 1, but A, run 1 has"),
        (lambda b: ["x"], "B: .*expected Counts"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(change, message):
    a, b = random_runs(2, 2, 2)
    with pytest.raises(pv.InputError, match=message) as error:
        pv.compare({"A": a, "B": change(b)})
    assert "\n" not in str(error.value)


def test_true_negatives():
    rng = np.random.default_rng(6)
    answer = rng.random(300) < 0.4

    def run(skill):
        right = rng.random(300) < skill
        return pv.Counts(answer & right, ~answer & ~right, answer & ~right, ~answer & right)

    a, b = [run(0.8) for _ in range(3)], [run(0.85) for _ in range(3)]
    result = compare_runs(a, b, "accuracy")
    scores = [np.mean([(run.tp + run.tn).mean() for run in side]) for side in (a, b)]
    assert result.procedures.estimate == pytest.approx(scores[1] - scores[0])
    assert result.models.estimate == pytest.approx(result.procedures.estimate)
    other = pv.Counts(b[0].tp, b[0].fp, b[0].fn, b[0].tn + 1)
    with pytest.raises(pv.InputError, match=r"B, run 4: .* negatives in unit 1"):
        pv.compare({"A": a, "B": [*b, other]}, metric="accuracy")
    with pytest.raises(pv.InputError, match="tn is there for some systems only"):
        pv.compare({"A": a, "B": [pv.Counts(b[0].tp, b[0].fp, b[0].fn)]})


def test_paired_runs_come_in_pairs():
    with pytest.raises(
        pv.InputError, match="paired_runs: 2 runs of A, but 3 of B; expected the same number"
    ):
        compare_runs(*random_runs(2, 2, 3), paired_runs=True)


def test_shared_seeds_that_cancel_shorten_the_interval():
    rng = np.random.default_rng(4)
    positives = np.full(200, 4)
    seeds = rng.normal(0, 0.1, 5)

    def run(skill):
        tp = rng.binomial(positives, np.clip(skill, 0, 1))
        return pv.Counts(tp, rng.integers(0, 2, 200), positives - tp)

    a, b = [run(0.6 + s) for s in seeds], [run(0.65 + s) for s in seeds]
    apart, together = compare_runs(a, b), compare_runs(a, b, paired_runs=True)
    assert together.procedures.standard_error < apart.procedures.standard_error / 3
    assert together.procedures.variance.runs_b == 0
    assert together.procedures.estimate == apart.procedures.estimate
