"""Scores of a pool from a stratified sample."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import probative as pv
from probative.inference.stratified import (
    Draw,
    Judge,
    PoolScores,
    Spread,
    target_of,
    unit_variance,
)
from probative.metrics import score

GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "stratified.json").read_text())


def project_score(counts, draw, metric="f1", **how):
    return PoolScores([counts], draw, metric, **how).score()


def project_difference(a, b, draw, metric="f1", **how):
    return PoolScores([a, b], draw, metric, **how).difference()


def _of_golden(strata):
    rows = np.array([unit for _, units in strata for unit in units], dtype=float)
    stratum = np.repeat(np.arange(len(strata)), [len(units) for _, units in strata])
    a, b = (pv.Counts(rows[:, k], rows[:, k + 1], rows[:, 4] - rows[:, k]) for k in (0, 2))
    return a, b, Draw(stratum, [size for size, _ in strata])


@pytest.mark.parametrize("case", GOLDEN, ids=lambda c: f"{c['name']}-{c['metric']}")
def test_differences_are_those_of_textbook_formulas_in_fractions(case):
    a, b, draw = _of_golden(case["strata"])
    how = {"beta": 2.0} if case["metric"] == "fbeta" else {}
    found = project_difference(a, b, draw, case["metric"], **how)
    assert found.estimate == pytest.approx(case["difference"], rel=1e-12)
    assert found.standard_error**2 == pytest.approx(case["variance"], rel=1e-11)
    assert found.degrees_of_freedom == pytest.approx(case["freedom"], rel=1e-11)
    assert (found.low, found.high) == pytest.approx(case["limits"], rel=1e-9)
    assert found.worth == pytest.approx(case["worth"], rel=1e-10)
    beyond = project_difference(a, b, draw, case["metric"], finite=False, **how)
    assert beyond.standard_error**2 == pytest.approx(case["beyond"], rel=1e-10)
    assert beyond.worth == pytest.approx(found.worth, rel=1e-10)
    for counts, value, variance in zip((a, b), case["scores"], case["variances"], strict=True):
        total = (counts * draw.weights).sum()
        own = target_of(counts, total, draw, case["metric"], how.get("beta", 1.0))
        assert own.value == pytest.approx(value, rel=1e-12)
        assert Spread(own.moves, draw).variance == pytest.approx(variance, rel=1e-11)


POOL = np.array([3.0, 0, 1, 1, 5, 2, 2, 7, 4])
STRATUM = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2])


def _all_samples(drawn):
    strata = [np.flatnonzero(h == STRATUM) for h in range(len(drawn))]
    for parts in itertools.product(
        *(itertools.combinations(u, n) for u, n in zip(strata, drawn, strict=True))
    ):
        yield np.concatenate(parts).astype(int)


@pytest.mark.parametrize("drawn", [(2, 2, 2), (3, 2, 2), (2, 3, 2), (4, 3, 2)])
def test_over_all_samples_totals_and_variances_are_right_on_average(drawn):
    """Every stratified sample of a small pool: no bias in the total or in the variances."""
    sizes = np.bincount(STRATUM)
    totals, variances, units = [], [], []
    for rows in _all_samples(drawn):
        draw = Draw(STRATUM[rows], sizes)
        totals.append(draw.total(POOL[rows]))
        variances.append(Spread(POOL[rows], draw).variance)
        units.append(unit_variance(POOL[rows], draw))
    assert np.mean(totals) == pytest.approx(POOL.sum(), rel=1e-12)
    assert np.mean(variances) == pytest.approx(np.var(totals), rel=1e-12, abs=1e-12)
    assert np.mean(units) == pytest.approx(np.var(POOL, ddof=1), rel=1e-12)


def test_beyond_the_pool_the_variance_is_right_on_average():
    """Pools drawn from three kinds of units, and all stratified samples of each of them."""
    kinds, stratum_of = np.array([0.0, 1.0, 4.0]), np.array([0, 1, 1])
    totals, variances = [], []
    for pool in itertools.product(range(3), repeat=5):
        values, stratum = kinds[list(pool)], stratum_of[list(pool)]
        sizes = np.bincount(stratum, minlength=2)
        drawn = [min(2, size) for size in sizes]
        if 1 in drawn:  # a stratum of one unit is known, but two are needed to see a variance
            drawn = list(map(int, sizes))
        parts = [
            itertools.combinations(np.flatnonzero(stratum == h), n) for h, n in enumerate(drawn)
        ]
        samples = [np.concatenate(rows).astype(int) for rows in itertools.product(*parts)]
        for rows in samples:
            draw = Draw(stratum[rows], sizes)
            spread = Spread(values[rows], draw)
            weight = 1 / len(samples)
            totals.append((weight, draw.total(values[rows])))
            beyond = spread.variance + draw.pool * unit_variance(values[rows], draw)
            variances.append((weight, beyond))
    weight, total = np.array(totals).T
    mean = weight @ total / weight.sum()
    true = weight @ (total - mean) ** 2 / weight.sum()
    weight, variance = np.array(variances).T
    assert weight @ variance / weight.sum() == pytest.approx(true, rel=1e-12)


def test_one_stratum_is_simple_random_sampling():
    values = np.array([3.0, 1, 4, 1, 5])
    spread = Spread(values, Draw([0] * 5, [50]))
    assert spread.variance == pytest.approx(50**2 * 0.9 * np.var(values, ddof=1) / 5)
    assert spread.degrees_of_freedom == pytest.approx(4)
    assert spread.worth == pytest.approx(5)
    assert spread.design_effect == pytest.approx(1)


def test_all_units_labelled_is_the_score_of_the_pool_and_no_doubt():
    counts = pv.Counts(tp=[2, 0, 1, 3], fp=[1, 0, 0, 2], fn=[0, 1, 2, 1])
    draw = Draw([0, 0, 1, 1], [2, 2])
    for metric in ("precision", "recall", "f1", "jaccard", "fowlkes_mallows"):
        found = project_score(counts, draw, metric)
        exact = score(counts.sum(), metric)
        assert (found.estimate, found.low, found.high) == pytest.approx((exact,) * 3)
        assert found.worth == 4
        assert not found.notes
    gap = project_difference(counts, counts[::-1], draw)
    assert gap.low == gap.estimate == gap.high


def test_all_units_labelled_still_leave_doubt_beyond_the_pool():
    rng = np.random.default_rng(1)
    tp = rng.integers(0, 4, 60)
    counts = pv.Counts(tp, rng.integers(0, 2, 60), rng.integers(0, 2, 60))
    parted = project_score(counts, Draw(np.arange(60) % 3, [20] * 3), finite=False)
    together = project_score(counts, Draw(np.zeros(60, int), [60]), finite=False)
    assert parted.standard_error == pytest.approx(together.standard_error, rel=1e-9)
    assert parted.worth == pytest.approx(60)


units = st.tuples(*[st.integers(0, 4)] * 5)


@st.composite
def drawn_pools(draw, least=2):
    """A pool of units in strata, and the rows of it that are labelled."""
    n_strata = draw(st.integers(1, 3))
    stratum, rows = [], []
    for h in range(n_strata):
        size = draw(st.integers(least, 9))
        first = len(stratum)
        stratum += [h] * size
        rows += range(first, first + draw(st.integers(least, size)))
    cells = np.array([draw(units) for _ in stratum], dtype=float)
    tp_b = np.minimum(cells[:, 2], cells[:, 0] + cells[:, 4])
    a = pv.Counts(cells[:, 0], cells[:, 1], cells[:, 4])
    b = pv.Counts(tp_b, cells[:, 3], cells[:, 0] + cells[:, 4] - tp_b)
    return a, b, np.array(stratum), np.array(rows)


@settings(max_examples=60, deadline=None)
@given(drawn_pools(), st.sampled_from(["precision", "recall", "f1", "jaccard"]), st.booleans())
def test_bounds_and_symmetry(pool, metric, finite):
    a, b, stratum, rows = pool
    draw = Draw(stratum[rows], np.bincount(stratum))
    disputed = np.abs(a.tp - b.tp)[rows] + np.abs(a.fp - b.fp)[rows]
    both = PoolScores([a[rows], b[rows]], draw, metric, finite=finite, disputed=disputed)
    for number in (0, 1):
        found = both.score(number)
        if not math.isnan(found.estimate):
            assert 0 <= found.low <= found.estimate + 1e-12
            assert found.estimate <= found.high + 1e-12
        assert 0 <= found.low <= found.high <= 1
    forth, back = both.difference(0, 1), both.difference(1, 0)
    if math.isnan(forth.estimate):
        assert (forth.low, forth.high) == (-1, 1)
        return
    assert -1 <= forth.low <= forth.estimate <= forth.high <= 1
    assert forth.estimate == pytest.approx(-back.estimate, abs=1e-12)
    assert (forth.low, forth.high) == pytest.approx((-back.high, -back.low), abs=1e-9)
    same = both.score(1).estimate - both.score(0).estimate
    assert forth.estimate == pytest.approx(same, abs=1e-12)
    if not finite or not draw.rest.any():
        return
    beyond = PoolScores([a[rows], b[rows]], draw, metric, finite=False, disputed=disputed)
    assert beyond.difference().standard_error >= forth.standard_error - 1e-12


@settings(max_examples=30, deadline=None)
@given(drawn_pools(), st.integers(2, 5))
def test_more_copies_of_the_pool_and_the_sample_change_no_estimate(pool, times):
    a, b, stratum, rows = pool
    draw = Draw(stratum[rows], np.bincount(stratum))
    many = Draw(np.tile(stratum[rows], times), times * np.bincount(stratum))
    again = np.tile(rows, times)
    one, more = (
        project_difference(a[rows], b[rows], draw),
        project_difference(a[again], b[again], many),
    )
    assert one.estimate == pytest.approx(more.estimate, abs=1e-12, nan_ok=True)
    assert more.standard_error <= one.standard_error + 1e-12


def test_proportional_allocation_is_worth_its_number_where_strata_say_nothing():
    rng = np.random.default_rng(2)
    values, stratum = rng.normal(size=4000), rng.integers(0, 4, 4000)
    worths = []
    for _ in range(100):
        rows = np.concatenate(
            [rng.choice(np.flatnonzero(stratum == h), 50, replace=False) for h in range(4)]
        )
        draw = Draw(stratum[rows], np.bincount(stratum))
        worths.append(Spread(values[rows], draw).worth)
    assert np.mean(worths) == pytest.approx(200, rel=0.03)


def test_strata_that_tell_everything_are_worth_the_whole_pool():
    draw = Draw([0, 0, 1, 1, 2, 2], [100, 100, 100])
    spread = Spread([1, 1, 5, 5, 9, 9], draw)
    assert spread.variance == 0
    assert spread.worth == pytest.approx(300)


# --- corners ----------------------------------------------------------------------------------


def test_one_unit_of_a_stratum_borrows_the_variance_of_the_others():
    draw = Draw([0, 0, 0, 1], [30, 10])
    values = np.array([1.0, 3.0, 2.0, 7.0])
    spread = Spread(values, draw)
    all_ = np.var(values, ddof=1)
    assert spread.by_stratum[1] == pytest.approx(100 * 0.9 * all_)
    counts = pv.Counts(tp=[2, 1, 1, 0], fp=[0, 1, 0, 1], fn=[0, 1, 1, 2])
    assert any("one labelled unit" in note for note in project_score(counts, draw).notes)


def test_one_unit_in_each_of_several_strata_still_tells_something():
    counts = pv.Counts(tp=[2, 1, 1, 0], fp=[0, 1, 0, 1], fn=[0, 1, 1, 2])
    found = project_score(counts, Draw([0, 1, 2, 3], [30, 10, 5, 8]))
    assert 0 <= found.low < found.estimate < found.high <= 1
    assert any(note.startswith("4 strata have one labelled unit") for note in found.notes)


def test_one_unit_of_several_tells_nothing_of_the_others():
    one = pv.Counts(tp=[2], fp=[1], fn=[0])
    draw = Draw([0], [30])
    found = project_score(one, draw)
    assert (found.low, found.high) == (0, 1)
    assert found.no_evidence
    gap = project_difference(one, pv.Counts(tp=[1], fp=[0], fn=[1]), draw)
    assert (gap.low, gap.high) == (-1, 1)
    assert gap.no_evidence
    assert "one unit" in gap.notes[0]


def test_a_perfect_system_is_not_known_to_be_perfect():
    g = np.array([1, 2, 3, 1, 2, 1, 4, 1])
    perfect = pv.Counts(g, 0 * g, 0 * g)
    found = project_score(perfect, Draw([0, 0, 0, 0, 1, 1, 1, 1], [400, 90]))
    assert found.estimate == found.high == 1
    assert 0.2 < found.low < 0.9


def test_systems_that_never_differ_in_the_sample_give_no_probability():
    counts = pv.Counts(tp=[2, 1, 1, 0], fp=[0, 1, 0, 1], fn=[0, 1, 1, 2])
    gap = project_difference(counts, counts, Draw([0, 0, 1, 1], [30, 10]))
    assert gap.estimate == 0
    assert (gap.low, gap.high) == (-1, 1)
    assert gap.no_evidence
    assert "are equal" in gap.notes[0]


def test_half_a_unit_more_stands_for_what_few_units_do_not_show():
    """Ten units in dispute, all decided for B: the others need not be."""
    one, none = np.ones(10), np.zeros(10)
    a, b = pv.Counts(none, none, one), pv.Counts(one, none, none)
    draw = Draw(np.zeros(10, int), [500])
    bare = PoolScores([a, b], draw).difference()
    wide = PoolScores([a, b], draw, disputed=one).difference()
    assert bare.no_evidence
    assert not wide.no_evidence
    assert wide.low < wide.estimate == 1


def _with_an_empty_stratum(labelled, size=100):
    """Forty units that are all labelled, and a stratum in which nobody returned anything."""
    rng = np.random.default_rng(3)
    g = rng.integers(1, 4, 40)
    a, b = (rng.binomial(g, share) for share in (0.6, 0.9))
    fp = rng.binomial(2, 0.2, 40)
    more = np.zeros(labelled, int)
    a, b = (pv.Counts(*(np.concatenate([own, more]) for own in (tp, fp, g - tp))) for tp in (a, b))
    return a, b, Draw(np.repeat([0, 1], [40, labelled]), [40, size])


@pytest.mark.parametrize("labelled", [5, 20, 60, 99])
def test_a_stratum_in_which_nothing_was_found_may_hold_something(labelled):
    """The rule of three bounds it: no interval has zero width before the pool is labelled whole."""
    a, b, draw = _with_an_empty_stratum(labelled)
    for metric in ("recall", "f1"):
        of_pool = PoolScores([a, b], draw, metric)
        found, gap = of_pool.score(), of_pool.difference()
        unseen = min(1.0, 3 / labelled) * (100 - labelled)
        if metric == "recall":
            reached = a.tp.sum() / (a.positives.sum() + unseen)
            assert found.low == pytest.approx(reached, abs=0.06)
        assert found.low < found.estimate < found.high
        assert not found.notes
        assert -1 < gap.low < gap.estimate < gap.high < 1
        assert gap.estimate - gap.low < found.estimate - found.low
        assert not gap.no_evidence
    whole = _with_an_empty_stratum(100)
    assert (found := project_score(whole[0], whole[2])).low == found.high


def test_more_labels_never_show_less():
    """Width of F1 and of the difference, as the labels of an empty stratum come in."""
    widths = []
    for labelled in (5, 10, 20, 40, 80, 99, 100):
        a, b, draw = _with_an_empty_stratum(labelled)
        of_pool = PoolScores([a, b], draw, disputed=np.zeros(len(a)))
        widths.append([one.high - one.low for one in (of_pool.score(), of_pool.difference())])
    assert np.all(np.diff(widths, axis=0) < 0)


def test_precision_is_known_once_all_that_was_returned_is_labelled():
    a, b, draw = _with_an_empty_stratum(7)
    of_pool = PoolScores([a, b], draw, "precision")
    for found in (of_pool.score(), of_pool.difference()):
        assert found.low == found.estimate == found.high
        assert not found.no_evidence
        assert not found.notes


def test_a_perfect_score_is_not_certain_while_units_are_out():
    g = np.concatenate([np.ones(40), np.zeros(10)])
    found = project_score(pv.Counts(g, 0 * g, 0 * g), Draw(np.repeat([0, 1], [40, 10]), [40, 90]))
    assert found.estimate == found.high == 1
    # up to 3/10 of 80 units may hold an item that is missed: F1 is 2·40/(2·40 + 24) then
    assert found.low == pytest.approx(80 / 104)


@pytest.mark.parametrize("n", [12, 20, 40])
def test_documents_with_a_high_score_have_no_wider_interval_than_their_clusters(n):
    """Half a document more that goes wrong as a whole is more than documents do."""
    rng, widths, covered = np.random.default_rng(n), [], []
    for _ in range(200):
        size = np.maximum(1, rng.lognormal(2.7, 0.5, 400)).astype(int)
        right = rng.binomial(size, rng.beta(17.2, 1.8, 400))
        extra = rng.binomial(size - right, 0.5)
        pool = pv.Counts(right, extra, size - right - extra)
        rows = rng.choice(400, n, replace=False)
        found = project_score(pool[rows], Draw(np.zeros(n, int), [400]))
        clustered = pv.interval(pool[rows], clustered=True)
        widths.append([found.high - found.low, clustered.high - clustered.low])
        covered.append(found.low <= score(pool.sum()) <= found.high)
    mine, theirs = np.mean(widths, axis=0)
    assert mine < 1.2 * theirs
    assert np.mean(covered) >= 0.9


def test_an_undefined_score_is_nan_with_all_limits():
    none = np.zeros(4)
    found = project_score(pv.Counts(none, none, none), Draw([0, 0, 1, 1], [9, 9]))
    assert math.isnan(found.estimate)
    assert (found.low, found.high) == (0, 1)


@pytest.mark.parametrize(
    ("stratum", "sizes", "message"),
    [
        ([], [3], "no labelled unit"),
        ([0, 0], [3, 4], "no unit of 1 strata with 4 units"),
    ],
)
def test_impossible_draws_are_refused(stratum, sizes, message):
    with pytest.raises(pv.InputError, match=message):
        Draw(stratum, sizes)


# --- a judge ----------------------------------------------------------------------------------


def _judged_pool(noise, seed=5, size=3000):
    """A pool in two strata; the judge's counts are the truth, or a share of other units' counts."""
    rng = np.random.default_rng(seed)
    g = rng.poisson(1.5, size)
    a = pv.Counts(tp := rng.binomial(g, 0.6), rng.poisson(0.4, size), g - tp)
    b = pv.Counts(tp := rng.binomial(g, 0.7), rng.poisson(0.4, size), g - tp)
    own = np.where(rng.random(size) < noise, rng.permutation(size), np.arange(size))
    return a, b, (a[own], b[own]), np.asarray(np.arange(size) % 3 == 0, dtype=int)


def _with_judge(a, b, judge, stratum, rng, drawn=(60, 60)):
    rows = np.concatenate(
        [rng.choice(np.flatnonzero(stratum == h), n, replace=False) for h, n in enumerate(drawn)]
    )
    draw = Draw(stratum[rows], np.bincount(stratum))
    known = None if judge is None else Judge(judge, stratum, rows)
    return PoolScores([a[rows], b[rows]], draw, judge=known)


def test_a_judge_who_knows_the_truth_tells_the_pool():
    a, b, judge, stratum = _judged_pool(noise=0.0)
    found = _with_judge(a, b, judge, stratum, np.random.default_rng(1))
    plain = _with_judge(a, b, None, stratum, np.random.default_rng(1))
    truth = score(b.sum()) - score(a.sum())
    assert abs(found.difference().estimate - truth) < 0.004
    assert found.difference().judge.width < 0.1
    moved = found.difference().estimate - plain.difference().estimate
    assert found.difference().judge.moved == pytest.approx(moved)


def test_differences_agree_with_scores_beside_a_judge():
    a, b, judge, stratum = _judged_pool(noise=0.5)
    found = _with_judge(a, b, judge, stratum, np.random.default_rng(1))
    gap = found.score(1).estimate - found.score(0).estimate
    assert found.difference().estimate == pytest.approx(gap, abs=1e-12)


@pytest.mark.parametrize("noise", [0.2, 1.0])
def test_a_judge_does_no_harm(noise):
    """Coverage at least 0.93 (two standard errors below it here), and nonsense does not widen."""
    a, b, judge, stratum = _judged_pool(noise)
    truth, rng = score(b.sum()) - score(a.sum()), np.random.default_rng(6)
    found = [_with_judge(a, b, judge, stratum, rng).difference() for _ in range(250)]
    covered = np.mean([one.low <= truth <= one.high for one in found])
    assert covered > 0.93 - 2 * math.sqrt(0.93 * 0.07 / 250)
    width = np.mean([one.judge.width for one in found])
    assert (0.97 < width < 1.06) if noise == 1 else width < 0.8
    off = np.array([one.estimate - truth for one in found])
    assert abs(off.mean()) < 3 * off.std() / math.sqrt(len(off))


@pytest.mark.parametrize(("noise", "noted"), [(0.0, True), (0.5, False)])
def test_a_judge_who_looks_perfect_is_noted(noise, noted):
    """Labels that show no error of a judge do not tell how far it errs elsewhere."""
    a, b, judge, stratum = _judged_pool(noise)
    found = _with_judge(a, b, judge, stratum, np.random.default_rng(1)).score()
    assert any("the judge is rarely wrong" in note for note in found.notes) == noted


def test_a_judge_is_not_listened_to_where_few_units_are_labelled():
    a, b, judge, stratum = _judged_pool(noise=0.2)
    silent = tuple(counts[np.where(stratum == 0, 0, np.arange(len(stratum)))] for counts in judge)
    few, none = (
        _with_judge(a, b, given, stratum, np.random.default_rng(1), drawn=(8, 60)).difference()
        for given in (judge, silent)
    )
    assert (few.low, few.estimate, few.high) == (none.low, none.estimate, none.high)
    assert few.judge.width < 1


def test_a_judge_never_widens_an_interval():
    """One who talks nonsense is not listened to where the interval would be wider."""
    a, b, judge, stratum = _judged_pool(noise=1.0)
    for seed in range(40):
        with_it, without = (
            _with_judge(a, b, given, stratum, np.random.default_rng(seed))
            for given in (judge, None)
        )
        pairs = [(with_it.score(k), without.score(k)) for k in (0, 1)]
        pairs.append((with_it.difference(), without.difference()))
        for found, plain in pairs:
            assert found.high - found.low <= plain.high - plain.low
            assert found.judge.width <= 1
            if found.judge.width == 1:
                assert (found.low, found.estimate, found.high) == (
                    plain.low,
                    plain.estimate,
                    plain.high,
                )
                assert (found.judge.moved, found.judge.width) == (0, 1)


def test_a_judge_who_says_the_same_of_all_changes_nothing():
    a, b, _, stratum = _judged_pool(noise=0.0)
    same = pv.Counts(*np.ones((3, len(stratum))))
    found = _with_judge(a, b, (same, same), stratum, np.random.default_rng(1)).difference()
    assert found.judge.moved == 0
    assert found.judge.width == 1
