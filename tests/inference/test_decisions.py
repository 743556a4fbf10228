"""What decides whether two systems differ, and that all ways to ask give one answer."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import probative as pv
from probative.errors import InputError
from probative.inference.compare import Choices
from probative.inference.differences import student_pvalue, unit_test
from probative.inference.pooled import PooledScore
from probative.inference.posterior.student import posterior_of_difference
from probative.jobs.datasets import compare_cases
from probative.options import CompareOptions


def two_thresholds(seed: int, units: int = 50) -> pv.PairedCounts:
    """One model at two thresholds: B returns more items, right just so often that F1 stays.

    Documents differ in how hard they are for both, and the items that B adds do not depend on that.
    """
    rng = np.random.default_rng(seed)
    gold, spurious, gray = 24.0, 16.0, 5.2  # B returns 1.26 times as many items
    right = 0.26446  # of the gray items: F1 is the same then
    q = rng.beta(0.7, 0.7, units)
    positives = rng.poisson(gold, units)
    found = rng.binomial(positives, q)
    wrong = rng.poisson(spurious * (1 - q))
    more = rng.poisson(gray, units)
    hits = rng.binomial(more, right)
    nothing = np.zeros(units)
    rows = [nothing, nothing, hits, more - hits, found, wrong, positives - found]
    return pv.PairedCounts(np.stack(rows, axis=1))


def clustered_documents() -> pv.PairedCounts:
    """Thirty documents in which the errors of a system go together."""
    rng = np.random.default_rng(3)
    rows = np.zeros((30, 7))
    for row in rows:
        kind = rng.integers(0, 4)
        row[4] = 20
        row[[0, 2, 6, 4][kind]] += 6
    return pv.PairedCounts(rows)


def tags(paired: pv.PairedCounts) -> tuple[list[list[str]], list[list[str]], list[list[str]]]:
    """Sentences whose items have these cases: gold, A and B, one token per item."""
    says = {0: "110", 1: "010", 2: "101", 3: "001", 4: "111", 5: "011", 6: "100"}
    sentences: tuple[list[list[str]], ...] = ([], [], [])
    for row in paired.cases.astype(int):
        items = [says[case] for case, number in enumerate(row[:7]) for _ in range(number)]
        for side, out in enumerate(sentences):
            out.append(["B-X" if item[side] == "1" else "O" for item in items] or ["O"])
    return sentences  # type: ignore[return-value]


SEED = 8  # a set of which the exchange test alone would say that equal scores differ


def test_student_decides_where_systems_return_different_amounts():
    paired = two_thresholds(SEED)
    gold, high, low = tags(paired)
    found = pv.compare(gold, high, low, names=["high", "low"], examples=False)
    (c,) = found.comparisons
    exact = pv.randomization_test(paired, "f1", by="unit").pvalue
    assert c.pvalue == pytest.approx(exact, rel=1e-9)  # the test itself stays
    assert c.pvalue < 0.05 < c.p_unit
    assert c.p_decision == c.p_unit
    assert "not established" in found.verdicts[0]
    assert "Student's p" in found.verdicts[0]
    assert "the systems return different amounts: low 1.26 times as many as high" in c.note
    content = json.loads(json.dumps(found.to_dict()))["comparisons"][0]
    assert content["p_unit"] == pytest.approx(c.p_unit)
    assert content["pvalue"] == c.pvalue


def test_a_ranking_decides_by_the_larger_p():
    gold, high, low = tags(two_thresholds(SEED))
    ranking = pv.rank(gold, {"high": high, "low": low, "again": low})
    for names in (("high", "low"), ("high", "again")):
        pair = ranking.pair(*names)
        assert pair.pvalue < 0.05 < pair.p_unit <= pair.p_adjusted
        assert not pair.decided
    assert "p_unit" in ranking.to_dict()["pairs"][0]
    assert math.isnan(ranking.pair("low", "again").p_unit)
    assert any("return different amounts (up to 1.26 times)" in note for note in ranking.notes)


def test_several_systems_are_adjusted_for_by_the_larger_p():
    gold, high, low = tags(two_thresholds(SEED))
    found = pv.compare(gold, high, low, low, examples=False)
    larger = [max(c.pvalue, c.p_unit) for c in found.comparisons]
    assert [c.p_adjusted for c in found.comparisons] == pv.adjust_pvalues(larger).tolist()


def test_data_sets_count_by_the_larger_p():
    cases = two_thresholds(SEED)
    sets = pv.compare_datasets({"one": cases, "two": two_thresholds(SEED + 1)})
    first = sets.datasets[0]
    side = min(first.p_better, first.p_worse)
    assert side == pytest.approx(first.comparison.p_unit / 2)
    assert side > pv.randomization_test(cases, "f1", by="unit").pvalue / 2


def test_students_p_by_unit_is_that_of_the_jackknife():
    cases = two_thresholds(1, 12)
    rows = cases.cases
    total = rows.sum(axis=0)

    def gap(table):
        one = pv.PairedCounts(table)
        return pv.difference(one, "f1").estimate

    left_out = np.array([gap(total - row) for row in rows])
    n = len(rows)
    error = math.sqrt((n - 1) / n * np.sum((left_out - left_out.mean()) ** 2))
    a, b = cases.a, cases.b
    size = np.asarray(2 * a.tp + a.fp + a.fn + 2 * b.tp + b.fp + b.fn, dtype=float)
    freedom = size.sum() ** 2 / np.sum(size**2) - 1
    expected = float(student_pvalue(gap(total), error, freedom))
    assert unit_test(cases, "f1").pvalue == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("metric", ["f1", "precision", "recall", "accuracy", "mcc", "kappa"])
def test_every_score_by_item_has_a_students_p(metric):
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 2, 200)
    a, b = (np.where(rng.random(200) < share, gold, 1 - gold) for share in (0.7, 0.8))
    (c,) = pv.compare(gold, a, b, metric=metric, positive=1, by="item").comparisons
    ranking = pv.rank(gold, {"a": a, "b": b}, metric=metric, positive=1, by="item")
    assert 0 < c.p_unit < 1
    assert ranking.pairs[0].p_unit == pytest.approx(c.p_unit, rel=1e-6)


@pytest.mark.parametrize(("metric", "average"), [("f1", "macro"), ("kappa", "micro")])
def test_sampled_tests_have_a_students_p_too(metric, average):
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 3, 300)
    a, b = (
        np.where(rng.random(300) < share, gold, rng.integers(0, 3, 300)) for share in (0.6, 0.7)
    )
    how = {"metric": metric, "average": average}
    (c,) = pv.compare(gold, a, b, **how).comparisons
    assert c.test == "sampled"
    assert 0 < c.p_unit < 1
    ranking = pv.rank(gold, {"a": a, "b": b, "c": a}, **how)
    assert ranking.pair("a", "b").p_unit == pytest.approx(c.p_unit, rel=1e-6)


def test_without_a_variance_the_exchange_decides_alone():
    gold = [["B-X", "B-X"]] * 20
    (c,) = pv.compare(gold, [["B-X", "O"]] * 20, gold, metric="recall").comparisons
    assert math.isnan(c.p_unit)
    assert c.p_decision == c.pvalue
    assert c.to_dict()["p_unit"] is None


# one question, one answer


def test_the_bayes_test_of_units_is_the_posterior_of_compare():
    paired = clustered_documents()
    test = pv.bayes_test(paired, "f1")
    posterior = posterior_of_difference(paired, "f1")
    items = pv.bayes_test(paired.total(), "f1")
    low, high = posterior.interval(0.95)
    assert (test.low, test.high) == pytest.approx((low, high), abs=1e-12)
    assert test.p_b_better == pytest.approx(posterior.sf(0.0), abs=1e-12)
    assert test.high - test.low > 1.5 * (items.high - items.low)
    alone = pv.interval(paired.a, "f1", "bayes", clustered=True)
    assert test.interval_a == pytest.approx((alone.low, alone.high))
    with pytest.raises(InputError, match=r"paired\.total"):
        pv.bayes_test(paired, "f1", method="sampled")


@pytest.mark.parametrize("by", ["sentence", "item"])
@pytest.mark.parametrize("metric", ["f1", "recall", "precision"])
def test_one_question_has_one_answer(metric, by):
    paired = two_thresholds(2, 30)
    gold, a, b = tags(paired)
    cases = paired if by == "sentence" else paired.total()
    result = pv.compare(gold, a, b, names=["a", "b"], metric=metric, by=by, examples=False)
    (c,) = result.comparisons
    limits, chance = (c.low, c.high), c.p_b_better
    gap = pv.difference(cases, metric)
    assert (gap.low, gap.high) == pytest.approx(limits, abs=1e-12)
    assert pv.bayes_test(cases, metric).p_b_better == pytest.approx(chance, abs=1e-9)
    (verdict,) = pv.gate(result, "require-better")
    assert verdict.probability == pytest.approx(chance, abs=1e-9)
    ranking = pv.rank(gold, {"a": a, "b": b}, metric=metric, by=by)
    (pair,) = ranking.pairs
    sign = 1 if pair.b == "b" else -1
    assert sorted(sign * end for end in (pair.low, pair.high)) == pytest.approx(limits, abs=1e-12)
    assert (pair.pvalue, pair.p_unit) == pytest.approx((c.pvalue, c.p_unit), rel=1e-9)
    assert pair.p_b_better == pytest.approx(chance if sign == 1 else c.p_a_better, abs=1e-12)
    best = {system.name: system.p_best for system in ranking.ranking}
    assert (best["a"], best["b"]) == pytest.approx((c.p_a_better, c.p_b_better), abs=1e-12)
    compared = compare_cases(
        PooledScore.of_cases(cases.grouped(), metric), ("a", "b"), Choices.of(CompareOptions(), by)
    )
    assert (compared.low, compared.high, compared.p_b_better) == (*limits, chance)


@pytest.mark.parametrize("how", [{"average": "macro"}, {"metric": "kappa"}, {"metric": "mcc"}])
def test_two_systems_are_ranked_as_they_are_compared(how):
    rng = np.random.default_rng(9)
    gold = rng.integers(0, 3, 120)
    a, b = (
        np.where(rng.random(120) < share, gold, rng.integers(0, 3, 120)) for share in (0.5, 0.7)
    )
    (c,) = pv.compare(gold, a, b, names=["a", "b"], **how).comparisons
    (pair,) = pv.rank(gold, {"a": a, "b": b}, **how).pairs
    assert (pair.low, pair.high) == pytest.approx((c.low, c.high), abs=1e-12)
    assert (pair.pvalue, pair.p_b_better) == (c.pvalue, c.p_b_better)


def test_counts_of_two_systems_are_ranked_as_they_are_compared():
    paired = two_thresholds(2, 30)
    systems = {"a": paired.a, "b": paired.b}
    (c,) = pv.compare(systems).comparisons
    (pair,) = pv.rank(systems).pairs
    ends = [c.low, c.high] if pair.b == "b" else [-c.high, -c.low]
    assert [pair.low, pair.high] == pytest.approx(ends, abs=1e-12)
    assert pair.p_b_better == pytest.approx(c.p_b_better if pair.b == "b" else c.p_a_better)


def test_simultaneous_limits_depend_on_no_order():
    rng = np.random.default_rng(4)
    gold = [["B-X" if hit else "O" for hit in rng.random(6) < 0.5] for _ in range(60)]
    outputs = {
        name: [[tag if rng.random() < share else "O" for tag in row] for row in gold]
        for name, share in (("a", 0.6), ("b", 0.65), ("c", 0.7), ("d", 0.9), ("e", 0.62))
    }
    first = pv.rank(gold, outputs)
    turned = pv.rank(gold, dict(reversed(outputs.items())))
    order = rng.permutation(60)
    rows = pv.rank([gold[i] for i in order], {n: [o[i] for i in order] for n, o in outputs.items()})
    for other in (turned, rows):
        assert other.quantile == pytest.approx(first.quantile, rel=1e-6)
        for pair in first.pairs:
            same = other.pair(pair.a, pair.b)
            assert (same.low, same.high) == pytest.approx((pair.low, pair.high), abs=1e-7)


def test_plan_and_compare_name_the_same_number_of_sentences():
    gold, a, b = tags(two_thresholds(2))  # 3,265: a number that two digits would not tell
    result = pv.compare(gold, a, b, names=["a", "b"], examples=False)
    plan = pv.plan(gold, a, b)
    assert plan.units == result.comparisons[0].units_needed
    said = result.verdicts[0].partition("would need about ")[2].partition(" sentences")[0]
    assert f" {said} sentences" in plan.to_markdown()
    assert f" {said} units" in str(plan)
