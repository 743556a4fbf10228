"""Limits and tests that hold at every look."""

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import probative as pv
from probative.counts import PairedCounts
from probative.inference.sequential import (
    GRID,
    Wealth,
    log_e_value,
    log_growth,
    look_limits,
    planned_grid,
    reach,
    share_limits,
)
from probative.metrics import f1
from probative_studies.clusters import case_shares, draw
from probative_studies.looks import CONDITIONS, look_study

GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "sequences.json").read_text())


@pytest.mark.parametrize("case", GOLDEN, ids=lambda c: f"{c['hits']}-of-{c['number']}")
def test_limits_are_those_of_many_digits(case):
    low, high = share_limits(case["hits"], case["number"], level=case["level"])
    assert [float(low), float(high)] == pytest.approx(case["limits"], rel=1e-10, abs=1e-14)


def test_check_values_of_the_sequence_of_f1():
    look = pv.sequential("f1").update(pv.Counts(tp=77, fp=30, fn=24))
    assert (look.low, look.high) == pytest.approx((0.612244, 0.840271), abs=5e-7)


def test_check_values_of_bets():
    won = np.exp(log_growth([0.25, 0.5, 1], [1, 1, -1, 1, 2, 0, 1.5, -0.5]))
    assert won == pytest.approx([2.533623, 3.656715, 2.623001], abs=5e-7)


def test_the_e_value_is_one_on_average_whatever_the_share():
    for share in (0.2, 0.7):
        hits = np.arange(21)
        chance = [math.comb(20, h) * share**h * (1 - share) ** (20 - h) for h in hits]
        assert np.dot(chance, np.exp(log_e_value(hits, 20, share))) == pytest.approx(1, rel=1e-12)


def test_bets_win_nothing_on_average_over_all_exchanges():
    sizes = [1.0, 0.5, 2.0, 0.0, 1.5]
    wealth = []
    for signs in itertools.product((-1, 1), repeat=5):
        d = np.multiply(signs, sizes)
        # sizes are known beforehand, the second batch is bet on after the first
        wealth.append(math.exp(Wealth(GRID).bet(d[:2]).bet(d[2:]).log_e))
    assert np.mean(wealth) == pytest.approx(1, rel=1e-12)


@given(st.integers(0, 400), st.integers(0, 400), st.floats(0.5, 0.999))
def test_the_limits_hold_the_estimate_and_widen_with_the_level(hits, misses, level):
    low, high = share_limits(hits, hits + misses, level=level)
    wide_low, wide_high = share_limits(hits, hits + misses, level=(1 + level) / 2)
    assert 0 <= wide_low <= low <= high <= wide_high <= 1
    if hits + misses:
        assert low <= hits / (hits + misses) <= high


rows = st.lists(st.tuples(*[st.integers(0, 3)] * 7), min_size=2, max_size=60)


@settings(max_examples=60)
@given(rows, st.integers(1, 3))
def test_exchanging_the_systems_turns_everything_round(cases, batches):
    batches = np.array_split(np.array(cases), min(batches, len(cases)))
    there, back = pv.sequential("f1", planned=100), pv.sequential("f1", planned=100)
    for batch in batches:
        a = there.update(pv.PairedCounts(batch))
        b = back.update(pv.PairedCounts(batch).swapped())
        assert a.estimate == pytest.approx(-b.estimate, abs=1e-12, nan_ok=True)
        assert (a.low, a.high) == pytest.approx((-b.high, -b.low), abs=1e-9)
        assert a.pvalue == pytest.approx(b.pvalue, rel=1e-9)
        assert {a.decided, b.decided} in ({None}, {"a", "b"})
        assert 0 < a.pvalue <= 1
        assert -1 <= a.low <= a.high <= 1


def test_units_stored_once_are_as_good_as_one_by_one():
    rng = np.random.default_rng(5)
    cases = rng.integers(0, 2, (200, 7))
    one_by_one, once = pv.sequential(), pv.sequential()
    for batch in np.array_split(cases, 4):
        a = one_by_one.update(pv.PairedCounts(batch))
        b = once.update(pv.PairedCounts(batch).grouped())
        assert a.to_metrics() == pytest.approx(b.to_metrics(), rel=1e-9)


def test_p_never_rises_and_copies_are_never_told_apart():
    rng = np.random.default_rng(1)
    test, copies = pv.sequential("recall"), pv.sequential("recall")
    last = 1.0
    for _ in range(20):
        cases = rng.integers(0, 3, (20, 7))
        p = test.update(pv.PairedCounts(cases)).pvalue
        assert p <= last
        last = p
        cases[:, :4] = 0
        look = copies.update(pv.PairedCounts(cases))
        assert (look.pvalue, look.decided, look.more) == (1.0, None, None)


def test_few_units_have_no_limits_and_say_so():
    look = pv.sequential().update(pv.PairedCounts([[1, 0, 0, 0, 1, 0, 0]] * 5))
    assert (look.low, look.high) == (-1, 1)
    assert "no interval yet" in look.note
    alike = pv.sequential().update(pv.PairedCounts([[0, 0, 0, 0, 1, 0, 0]] * 50))
    assert (alike.low, alike.high) == (-1, 1)
    assert "are equal" in alike.note


def test_units_without_an_error_leave_room_for_some():
    right = pv.Counts(tp=[2] * 50, fp=[0] * 50, fn=[0] * 50)
    look = pv.sequential().update(right)
    assert look.estimate == look.high == 1
    assert 0.7 < look.low < share_limits(100, 100)[0]
    assert "at most 4 % of simulated streams" in str(look)
    assert "about" not in str(pv.sequential().update(right.sum()))


@pytest.mark.slow
def test_limits_of_a_good_system_hold_at_every_look():
    """Sentences of about two items, some of them under a wrong label; a look every 20."""
    rng, f1, units = np.random.default_rng(0), 0.98, 600
    ever = 0
    for _ in range(120):
        items = 1 + rng.poisson(1.0, units)
        right = rng.binomial(items, f1)
        x, y = 2.0 * right, 2.0 * items
        limits = [
            look_limits([(x[:end], y[:end])], np.ones(end), (0.0, 1.0), 200)
            for end in range(30, units + 1, 20)
        ]
        ever += not all(low <= f1 <= high for _, low, high, _ in limits)
    assert ever / 120 <= 0.05


def test_batches_of_another_kind_are_refused():
    test = pv.sequential()
    test.update(pv.Counts(tp=5, fp=1, fn=2))
    with pytest.raises(pv.InputError, match="PairedCounts of items with true negatives; expected"):
        test.update(pv.PairedCounts([1, 1, 1, 1, 1, 1, 1, 1]))
    with pytest.raises(pv.InputError, match="expected Counts or PairedCounts"):
        test.update([1, 2, 3])
    assert len(test.looks.looks) == 1  # what was refused is no look
    with pytest.raises(pv.InputError, match="accuracy needs tn"):
        pv.sequential("accuracy").update(pv.Counts(tp=5, fp=1, fn=2))
    for wrong in ({"level": 1}, {"planned": 0}, {"planned": 2.5}, {"metric": "f2"}, {"beta": 0}):
        with pytest.raises(pv.InputError):
            pv.sequential(**wrong)


def test_huge_counts_of_items_cost_nothing():
    look = pv.sequential("f1").update(pv.PairedCounts([1e12, 2e12, 3e12, 0, 1e12, 5, 0, 1e12]))
    assert look.decided == "b"
    assert 0 <= look.pvalue < 1e-200
    assert "p < 1e" in str(look)


def test_what_is_expected_to_be_missing_about_decides():
    rng = np.random.default_rng(3)
    shares = [0.04, 0.05, 0.09, 0.05, 0.6, 0.1, 0.2]
    test = pv.sequential("f1", planned=1500)
    first = test.update(pv.PairedCounts(rng.binomial(1, shares, (200, 7))))
    assert first.decided is None
    look = first
    while look.decided is None and look.units < 20 * (200 + first.more):
        look = test.update(pv.PairedCounts(rng.binomial(1, shares, (50, 7))))
    assert look.decided == "b"
    assert 200 + first.more / 5 < look.units < 200 + 5 * first.more


def test_the_reach_is_shortest_where_it_was_planned():
    at = np.arange(50, 2000, 10)
    lengths = reach(at, 500) / np.sqrt(at)  # of limits, with one standard deviation per unit
    others = [reach(500, planned) / np.sqrt(500) for planned in (50, 100, 1000, 5000)]
    assert lengths[at == 500][0] < min(others)
    assert planned_grid(400)[1] == pytest.approx(2 * planned_grid(1600)[1])


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_study_sees_what_a_user_would_see(condition):
    """Its looks are those of `update`, batch after batch: the same streams are ever wrong."""
    how = {"units": 120, "batch": 20, "level": 0.5}
    found = look_study([condition], streams=12, item_streams=1, rng=3, **how)[3:6]
    rng = np.random.default_rng([3, 100])
    condition = replace(condition, units=120)
    shares = case_shares(condition)
    truths = float(f1(PairedCounts(shares).a)), 0.0
    wrong = np.zeros((3, 12), dtype=bool)
    for stream in range(12):
        rows = draw(rng, condition, shares)
        single, paired = (pv.sequential(level=0.5, planned=120) for _ in range(2))
        for start in range(0, 120, 20):
            batch = PairedCounts(rows[start : start + 20])
            looks = single.update(batch.a), paired.update(batch)
            for place, (look, truth) in enumerate(zip(looks, truths, strict=True)):
                wrong[place, stream] |= not look.low <= truth <= look.high
            wrong[2, stream] |= looks[1].decided is not None
    assert [one.share for one in found] == wrong.mean(axis=1).tolist()
    assert 0 < wrong.mean() < 1


def test_the_study_counts_what_is_ever_wrong():
    results = look_study(CONDITIONS[:1], units=100, batch=25, streams=20, item_streams=2000, rng=1)
    items = results[:3]
    assert all(r.share <= 0.05 < r.fixed for r in items)
    assert [r.what for r in results[3:]] == [
        "F1 of units",
        "difference",
        "test of exchangeable systems",
        "difference",
        "test finds B better",
    ]


def test_looks_show_themselves():
    test = pv.sequential("f1", planned=100)
    with pytest.raises(pv.InputError, match="no checks yet"):
        test.looks.to_html()
    batch = pv.PairedCounts([[0, 0, 1, 0, 1, 0, 0], [1, 0, 0, 0, 1, 1, 1]], [30, 20])
    test.update(batch)
    assert "<svg" not in test.looks.to_html()  # one check makes no curve
    test.update(batch)
    looks = test.looks
    assert "no" in looks.to_markdown()
    assert "<svg" in looks.to_html()
    assert looks.plot().get_xlabel() == "units labelled"
    assert looks.to_frame().shape[0] == 2
    assert looks.to_metrics()["f1_units"] == 100
    assert "|planned:100" in looks.signature


@pytest.mark.parametrize("metric", [*pv.metrics.COMPOSITES, "f1", "accuracy"])
def test_bets_on_any_score_win_nothing_on_average_over_all_exchanges(metric):
    """Which system an output came from is exchanged in every way, batch by batch."""
    rows = np.array(
        [
            [1, 0, 2, 0, 3, 1, 1, 4],
            [0, 1, 0, 0, 2, 0, 1, 6],
            [2, 0, 0, 1, 1, 0, 0, 3],
            [0, 0, 1, 0, 2, 1, 0, 5],
            [0, 0, 0, 0, 1, 0, 0, 2],
            [0, 2, 1, 0, 0, 0, 1, 2],
        ]
    )
    e_values = []
    for exchanged in itertools.product((False, True), repeat=len(rows)):
        swapped = rows[:, [2, 3, 0, 1, 4, 5, 6, 7]]
        own = np.where(np.array(exchanged)[:, None], swapped, rows)
        test = pv.sequential(metric)
        for batch in (own[:2], own[2:]):
            test.update(pv.PairedCounts(batch))
        e_values.append(math.exp(test._wealth.log_e))
    assert np.mean(e_values) == pytest.approx(1, rel=1e-9)
    assert np.ptp(e_values) > 0


@pytest.mark.parametrize("metric", pv.metrics.COMPOSITES)
def test_scores_that_are_no_ratios_of_sums_have_limits_and_bets(metric):
    rng = np.random.default_rng(2)
    shares = [0.01, 0.01, 0.05, 0.03, 0.3, 0.04, 0.06, 0.5]
    single, units, paired = (pv.sequential(metric, planned=400) for _ in range(3))
    widths = []
    for _ in range(8):
        batch = pv.PairedCounts(rng.multinomial(10, shares, 50))
        looks = [single.update(batch.total().a), units.update(batch.a), paired.update(batch)]
        widths.append([look.high - look.low for look in looks])
    total = paired._so_far().total()
    scores = [pv.metrics.score(side, metric) for side in (total.a, total.b)]
    assert looks[0].estimate == pytest.approx(scores[0])
    assert looks[1].estimate == pytest.approx(scores[0])
    assert looks[2].estimate == pytest.approx(scores[1] - scores[0])
    for look, truth in zip(looks, (scores[0], scores[0], scores[1] - scores[0]), strict=True):
        assert look.low < truth < look.high
    assert np.all(np.array(widths[-1]) < np.array(widths[0]) / 2)
    fixed = pv.interval(total.a, metric)
    assert 1 < (looks[0].high - looks[0].low) / (fixed.high - fixed.low) < 2
    assert paired.update(batch).pvalue <= looks[2].pvalue


def test_a_rare_class_has_no_limits_yet():
    few = pv.sequential("mcc").update(pv.Counts(tp=3, fp=2, fn=2, tn=400))
    assert (few.low, few.high) == (-1, 1)
    assert "of a class" in few.note
    one_class = pv.sequential("mcc").update(pv.Counts(tp=0, fp=2, fn=0, tn=400))
    assert math.isnan(one_class.estimate)
    gap = pv.sequential("kappa").update(pv.PairedCounts([1, 0, 1, 0, 3, 1, 1, 60]))
    assert (gap.low, gap.high) == (-2, 2)
    none = pv.sequential("mcc").update(pv.PairedCounts([0, 3, 0, 1, 0, 1, 0, 60]))
    assert none.pvalue == 1.0  # of one class nobody can be ahead
