"""One model that answers each sample several times."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import probative as pv
from probative.inference.runs import pass_rate, score_repeats

answers = st.lists(
    st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=4), min_size=2, max_size=6
)


def flat(table):
    """One row per answer, and the sample that each belongs to."""
    rows = [cells for own in table for cells in own]
    samples = [i for i, own in enumerate(table) for _ in own]
    return pv.Counts(*np.array(rows, dtype=float).T), samples


def by_loops(table):
    """F1 and the share of the variance that comes from the answers, in fractions."""
    means = [[Fraction(sum(a[c] for a in own), len(own)) for c in range(3)] for own in table]
    x = [2 * tp for tp, _, _ in means]
    y = [2 * tp + fp + fn for tp, fp, fn in means]
    if not sum(y):
        return None, None
    f = sum(x) / sum(y)
    n = sum(size > 0 for size in y)
    if n < 2:
        return f, None
    total = sum(((p - f * q) / sum(y)) ** 2 for p, q in zip(x, y, strict=True))
    total *= Fraction(n, n - 1)
    spreads = []
    for own in table:
        if len(own) < 2:
            spreads.append(None)
            continue
        moves = [(2 * tp - f * (2 * tp + fp + fn)) / sum(y) for tp, fp, fn in own]
        centre = sum(moves) / len(moves)
        spreads.append(sum((m - centre) ** 2 for m in moves) / (len(moves) - 1))
    known = [s for s in spreads if s is not None]
    if not known:
        return f, None
    usual = sum(known) / len(known)
    within = sum(
        (usual if s is None else s) / len(own) for s, own in zip(spreads, table, strict=True)
    )
    if not total:
        return f, Fraction(1) if within else None
    return f, min(Fraction(1), within / total)


@settings(max_examples=80, deadline=None)
@given(answers)
def test_scores_and_shares_agree_with_plain_loops(table):
    f, share = by_loops(table)
    counts, samples = flat(table)
    result = score_repeats(counts, samples=samples)
    if f is None:
        assert math.isnan(result.estimate)
        return
    assert result.estimate == pytest.approx(float(f))
    assert 0 <= result.low <= result.estimate <= result.high <= 1
    if share is None:
        assert result.share_of_answers is None
    else:
        assert result.share_of_answers == pytest.approx(float(share), abs=1e-9)


def test_a_table_and_its_rows_are_the_same():
    rng = np.random.default_rng(0)
    tp, fp, fn = rng.integers(0, 4, (3, 20, 5))
    table = score_repeats(pv.Counts(tp, fp, fn))
    samples = np.repeat([f"s{i}" for i in range(20)], 5)
    rows = score_repeats(pv.Counts(tp.ravel(), fp.ravel(), fn.ravel()), samples=samples)
    assert table.to_dict() == rows.to_dict()
    # with as many answers to each, the sums over answers are the units
    summed = pv.Counts(tp.sum(1), fp.sum(1), fn.sum(1))
    expected = pv.interval(summed, clustered=True)
    assert (table.low, table.high) == (expected.low, expected.high)


def test_copies_of_an_answer_say_nothing_new():
    rng = np.random.default_rng(1)
    passed = rng.integers(0, 2, (40, 1))
    once, often = pass_rate(passed), pass_rate(np.repeat(passed, 7, axis=1))
    assert (often.estimate, often.low, often.high) == pytest.approx(
        (once.estimate, once.low, once.high), abs=2e-3
    )
    assert often.share_of_answers == 0
    assert once.share_of_answers is None
    assert "answered twice" in once.note
    assert math.isnan(once.width_with(repeats=5))
    assert once.width_with(samples=160) == pytest.approx((once.high - once.low) / 2)


def test_a_sample_counts_once_however_often_it_was_answered():
    result = pass_rate([1, 0, 0, 0, 0, 0], samples=["easy", *["hard"] * 5])
    assert result.estimate == 0.5
    assert (result.samples, result.answers) == (2, 6)


def test_more_answers_or_more_samples():
    rng = np.random.default_rng(2)
    ease = rng.random((300, 1))
    result = pass_rate(rng.random((300, 4)) < ease)
    now = result.high - result.low
    assert result.width_with() == pytest.approx(now)
    assert result.width_with(samples=1200) == pytest.approx(now / 2)
    fewest = result.width_with(repeats=math.inf)
    assert fewest == pytest.approx(now * math.sqrt(1 - result.share_of_answers))
    # a uniform ease has the variance 1/12, an answer to it 1/6 on average
    assert result.share_of_answers == pytest.approx((1 / 6 / 4) / (1 / 12 + 1 / 6 / 4), abs=0.04)


@pytest.mark.parametrize(
    ("counts", "samples", "message"),
    [
        (pv.Counts([1, 2], [0, 0], [1, 1]), None, "expected samples by answers"),
        (pv.Counts([[1]], [[0]], [[1]]), [1], "with samples, expected one row per answer"),
        (pv.Counts([1, 2], [0, 0], [1, 1]), [1], "samples: 1 of them, but counts has 2 rows"),
        ("x", None, "expected Counts"),
    ],
)
def test_what_does_not_fit_is_refused(counts, samples, message):
    with pytest.raises(pv.InputError, match=message):
        score_repeats(counts, samples=samples)


def test_a_pass_is_between_no_and_yes():
    with pytest.raises(pv.InputError, match="passed: expected numbers between 0 and 1"):
        pass_rate([[2, 0]])
