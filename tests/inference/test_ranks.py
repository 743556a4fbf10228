"""Rank sets, tiers, tie letters, adjusted p-values, simultaneous limits, who is best."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special, stats

import probative as pv
from probative.inference import rank as ranks_module
from probative.inference.pooled import PooledScore, UnitTable, dispute, simultaneous_reach
from probative.inference.rank import (
    _cover,
    _insert_and_absorb,
    best_and_mean_rank,
    leaderboard,
    rank_sets,
    simultaneous_quantile,
    tie_letters,
    tiers,
)
from probative.inference.units import jackknife_covariance, leave_one_out, pair_errors

seeds = st.integers(0, 2**32 - 1)


def symmetric(k, share, seed):
    upper = np.triu(np.random.default_rng(seed).random((k, k)) < share, 1)
    return upper | upper.T


def shared(one, other):
    return set(re.findall("[A-Za-z]'*", one)) & set(re.findall("[A-Za-z]'*", other))


def draw_systems(k, n, seed, *, spread=0.5):
    """Counts of systems on units that are hard for all of them alike."""
    rng = np.random.default_rng(seed)
    positives, hard = rng.poisson(1.6, n), rng.normal(size=n)
    skill = 1 + spread * rng.normal(size=k)
    chance = special.ndtr(skill[:, None] - hard - 0.5 * rng.normal(size=(k, n)))
    tp = rng.binomial(positives, chance)
    fp = rng.poisson(0.5 * positives * (1 - chance))
    return [pv.Counts(t, f, positives - t) for t, f in zip(tp, fp, strict=True)]


# letters


@given(st.integers(1, 14), st.floats(0, 1), seeds)
def test_two_systems_share_a_letter_exactly_if_their_pair_is_undecided(k, share, seed):
    decided = symmetric(k, share, seed)
    letters = tie_letters(decided)
    assert all(letters)
    for i, j in combinations(range(k), 2):
        assert bool(shared(letters[i], letters[j])) != decided[i, j]


@given(st.integers(1, 14), st.floats(0, 1), seeds)
def test_the_greedy_cover_tells_the_same_ties(k, share, seed):
    decided = symmetric(k, share, seed)
    apart = [sum(1 << j for j in np.flatnonzero(row).tolist()) for row in decided]
    columns = _cover(apart)
    for i in range(k):
        assert any(column >> i & 1 for column in columns)
        for j in range(i):
            together = any(column >> i & 1 and column >> j & 1 for column in columns)
            assert together != decided[i, j]


@given(st.integers(1, 10), st.floats(0, 1), seeds)
def test_insert_and_absorb_finds_all_largest_groups_without_decided_pairs(k, share, seed):
    decided = symmetric(k, share, seed)
    apart = [sum(1 << j for j in np.flatnonzero(row).tolist()) for row in decided]
    tied = [
        group
        for group in range(1, 2**k)
        if not any(apart[i] & group for i in range(k) if group >> i & 1)
    ]
    largest = {g for g in tied if not any(g != other and g & other == g for other in tied)}
    found = _insert_and_absorb(apart)
    assert len(found) == len(set(found))
    assert set(found) == largest


def test_letters_go_on_beyond_the_alphabet():
    letters = tie_letters(~np.eye(120, dtype=bool))  # nobody ties: a letter each
    assert letters[0] == "a"
    assert letters[25:27] == ["z", "A"]
    assert letters[51:53] == ["Z", "a'"]
    assert letters[104] == "a''"
    assert len(set(letters)) == 120


def test_letters_of_many_systems_in_no_order_at_all():
    decided = symmetric(90, 0.5, 1)  # more largest groups than anybody would list
    assert (
        _insert_and_absorb([sum(1 << j for j in np.flatnonzero(r).tolist()) for r in decided])
        is None
    )
    letters = [set(re.findall("[A-Za-z]'*", own)) for own in tie_letters(decided)]
    for i, j in combinations(range(90), 2):
        assert bool(letters[i] & letters[j]) != decided[i, j]


# rank sets and tiers


def consistent_ranks(better):
    """The ranks of each system in all orders that the decided pairs allow, by brute force."""
    from itertools import permutations

    k = len(better)
    seen = [set() for _ in range(k)]
    for order in permutations(range(k)):
        place = np.argsort(order)
        if all(place[i] < place[j] for i, j in zip(*np.nonzero(better), strict=True)):
            for system in range(k):
                seen[system].add(int(place[system]) + 1)
    return seen


@given(st.integers(1, 6), st.floats(0, 1), seeds)
def test_rank_sets_against_brute_force(k, share, seed):
    pvalues = np.random.default_rng(seed).random((k, k)) ** 3
    scores = np.sort(np.random.default_rng(seed + 1).random(k))[::-1]
    better = np.array(
        [
            [i < j and pvalues[i, j] <= share / 4 and scores[i] > scores[j] for j in range(k)]
            for i in range(k)
        ]
    )
    low, high = rank_sets(better)
    for system, ranks in enumerate(consistent_ranks(better)):
        decided_better = sum(bool(better[other, system]) for other in range(k))
        decided_worse = sum(bool(better[system, other]) for other in range(k))
        assert low[system] == 1 + decided_better
        assert high[system] == k - decided_worse
        # whatever order is true, the set holds the rank
        assert low[system] <= min(ranks)
        assert max(ranks) <= high[system]


@given(st.integers(1, 9), st.floats(0, 1), seeds)
def test_a_tier_starts_where_all_above_are_better(k, share, seed):
    better = np.triu(np.random.default_rng(seed).random((k, k)) < share, 1)
    tier = tiers(better).tolist()
    assert tier[0] == 1
    for system in range(1, k):
        behind_all = all(better[above, system] for above in range(system))
        assert tier[system] == tier[system - 1] + (1 if behind_all else 0)


# adjusted p-values


def partitions(items):
    """All ways to put items into groups."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for smaller in partitions(rest):
        yield [[first], *smaller]
        for i, group in enumerate(smaller):
            yield [*smaller[:i], [first, *group], *smaller[i + 1 :]]


def true_sets(k):
    """The sets of equal pairs that there can be."""
    pairs = list(combinations(range(k), 2))
    return [
        frozenset(pairs.index(pair) for group in groups for pair in combinations(sorted(group), 2))
        for groups in partitions(list(range(k)))
    ]


def closed_test(p, k):
    """Bonferroni on every set of hypotheses that can be true together, closed."""
    adjusted = np.zeros(len(p))
    for true in true_sets(k):
        if true:
            combined = min(1.0, len(true) * min(p[i] for i in true))
            for i in true:
                adjusted[i] = max(adjusted[i], combined)
    return adjusted


@given(st.integers(2, 5), seeds)
def test_shaffer_lies_between_the_closed_test_and_holm(k, seed):
    n = k * (k - 1) // 2
    p = np.random.default_rng(seed).random(n) ** 4
    shaffer, holm = pv.adjust_pvalues(p, "shaffer"), pv.adjust_pvalues(p, "holm")
    assert np.all(shaffer <= holm + 1e-15)
    assert np.all(closed_test(p, k) <= shaffer + 1e-15)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 7])
def test_shaffers_numbers_of_true_hypotheses_by_brute_force(k):
    n = k * (k - 1) // 2
    sizes = {len(true) for true in true_sets(k)}
    expected = [max(s for s in sizes if s <= n - false) for false in range(n)]
    p = np.full(n, 1e-9)  # all alike and small: each is multiplied by the largest, the first number
    assert pv.adjust_pvalues(p, "shaffer")[0] == pytest.approx(expected[0] * 1e-9)
    for step in range(n):
        p = np.full(n, 1e-3 / n)
        p[:step] = 0.0
        assert pv.adjust_pvalues(p, "shaffer")[-1] == pytest.approx(expected[step] * 1e-3 / n)


def test_shaffer_needs_all_pairs():
    with pytest.raises(pv.InputError, match="4 of them; expected those of all pairs"):
        pv.adjust_pvalues([0.1] * 4, "shaffer")


@pytest.mark.parametrize("truth", [[3, 2], [2, 2, 1], [5]])
def test_shaffer_keeps_its_promise_where_some_systems_are_equal(truth):
    """Independent p-values of the equal pairs, zeros elsewhere: the worst for a step-down."""
    rng = np.random.default_rng(5)
    group = np.repeat(np.arange(len(truth)), truth)
    equal = np.array([group[i] == group[j] for i, j in combinations(range(5), 2)])
    wrong = 0
    for _ in range(2000):
        p = np.where(equal, rng.random(10), 0.0)
        wrong += bool((pv.adjust_pvalues(p, "shaffer")[equal] <= 0.05).any())
    assert wrong / 2000 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000)


# the tests of pairs


def pair_tests(systems, metric="f1", *, seed=0, n_jobs=1, report=None):
    """Test all pairs of systems."""
    how = {"level": 0.95, "adjust": "holm", "tested": None}
    score = PooledScore.of_counts(systems, metric)
    return score.test_all(seed=seed, n_jobs=n_jobs, report=report, **how)


@pytest.mark.parametrize("metric", ["f1", "precision", "recall", "jaccard"])
def test_pair_tests_are_the_exact_tests_of_two_systems(metric):
    systems = draw_systems(4, 60, 2)
    found = pair_tests(systems, metric)
    assert found.sampled == 0
    for i, j in combinations(range(4), 2):
        a, b = systems[i], systems[j]
        # any cases with these margins: what both have right and wrong need not be known
        both, wrong = np.minimum(a.tp, b.tp), np.minimum(a.fp, b.fp)
        missed = a.positives - a.tp - b.tp + both
        extra = np.maximum(0, -missed)
        both, missed = both + extra, missed + extra
        cases = np.stack(
            [a.tp - both, a.fp - wrong, b.tp - both, b.fp - wrong, both, wrong, missed], axis=1
        )
        if (cases < 0).any():
            continue
        expected = pv.randomization_test(pv.PairedCounts(cases), metric)
        assert found.pvalues[i, j] == found.pvalues[j, i]
        assert found.pvalues[i, j] == pytest.approx(expected.pvalue, rel=1e-9)


def test_pair_tests_in_processes_are_those_of_one():
    systems = draw_systems(31, 25, 4)
    told = []
    apart = pair_tests(systems, n_jobs=2, report=lambda done, total: told.append((done, total)))
    assert np.array_equal(apart.pvalues, pair_tests(systems).pvalues)
    assert told[0] == (0, 465)
    assert told[-1] == (465, 465)


def test_a_test_that_does_not_fit_is_sampled_and_counted(monkeypatch):
    from probative.inference import pooled as module

    monkeypatch.setattr(module, "_MEMORY", 100)
    systems = draw_systems(3, 200, 6)
    found = pair_tests(systems, seed=3)
    assert found.sampled == 3
    assert np.array_equal(found.pvalues, pair_tests(systems, seed=3).pvalues)
    assert np.all((found.pvalues > 0) & (found.pvalues <= 1))


# limits of all differences


def test_the_covariance_is_that_of_leaving_out_units():
    table = UnitTable.of_counts(draw_systems(3, 30, 8))
    x, y = table.contributions("f1")
    number = table.number
    without = np.array(
        [[(x[k].sum() - x[k, i]) / (y[k].sum() - y[k, i]) for i in range(30)] for k in range(3)]
    )
    expected = np.cov(without, bias=True) * 29  # (n-1)/n times the sum over n units
    assert jackknife_covariance(leave_one_out(x, y, number), number) == pytest.approx(
        expected, rel=1e-12
    )
    grouped = table.grouped()
    gx, gy = grouped.contributions("f1")
    assert jackknife_covariance(
        leave_one_out(gx, gy, grouped.number), grouped.number
    ) == pytest.approx(expected, rel=1e-10)


def test_the_quantile_of_independent_scores_is_tukeys():
    # with equal, independent scores the largest |Z_i - Z_j| / sqrt(2) is a studentized range
    for k in (3, 6):
        expected = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2)
        found = simultaneous_quantile(np.eye(k), 0.95, np.random.default_rng(1))
        assert found == pytest.approx(expected, abs=0.02)


@given(st.integers(2, 6), seeds, st.floats(0.5, 0.99))
def test_the_quantile_lies_between_the_normal_and_sidaks(k, seed, level):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(k, k + 2))
    found = simultaneous_quantile(root @ root.T, level, rng, 20_000)
    pairs = k * (k - 1) // 2
    sidak = special.ndtri((1 + level ** (1 / pairs)) / 2)
    assert special.ndtri((1 + level) / 2) - 0.08 <= found <= sidak + 0.08


def test_what_is_in_dispute_is_counted_unit_by_unit():
    table = UnitTable.of_counts(draw_systems(4, 40, 3)).grouped()
    moved = leave_one_out(*table.contributions("f1"), table.number)
    each = np.repeat(moved, table.number, axis=1)
    rests_on = dispute(moved, table.number)
    for i, j in combinations(range(4), 2):
        d = [float(a - b) for a, b in zip(each[i], each[j], strict=True)]
        squares = sum(x**2 for x in d)
        assert rests_on[i, j] == pytest.approx(squares**2 / sum(x**4 for x in d), rel=1e-9)
    assert np.all(np.isinf(np.diag(rests_on)))


@given(st.floats(1.5, 4.5), st.floats(3, 1e4), st.floats(1, 1e4))
def test_units_in_dispute_never_bring_limits_nearer(quantile, freedom, disputed):
    reach = float(simultaneous_reach(quantile, np.array(freedom), np.array(disputed)))
    tail = special.ndtr(-quantile)
    assert reach >= -special.stdtrit(freedom, tail) * (1 - 1e-9)
    assert reach <= -special.stdtrit(min(freedom, 2 * disputed), tail) * (1 + 1e-9)


@pytest.mark.parametrize("each", [0.5, 1.0])
def test_with_very_few_units_in_dispute_the_limits_are_tangos(each):
    # as many on either side; numbers that are Poisson, and how likely those seen are where the
    # difference of their means is h
    z = 3.5

    def variance(h):
        def unlikely(log_other):
            other = np.exp(log_other)
            return 2 * other + h - each * np.log(other + h) - each * np.log(other)

        other = np.exp(optimize.minimize_scalar(unlikely, bounds=(-20, 5), method="bounded").x)
        return 2 * other + h

    expected = optimize.brentq(lambda h: h**2 - z**2 * variance(h), 1e-3, 100)
    reach = simultaneous_reach(z, np.array(1e9), np.array(2 * each))
    assert reach * np.sqrt(2 * each) == pytest.approx(expected, rel=1e-4)


def test_limits_allow_for_few_units_in_dispute():
    # 500 sentences with one item each; the second system has five more of them right
    found = np.arange(500) < 400
    more = np.arange(500) < 405
    a, b = (pv.Counts(hit, np.zeros(500), ~hit) for hit in (found, more))
    board = board_of([a, b], metric="recall")
    error = np.sqrt(5) / 500
    # not far from Student's with ten degrees of freedom, nor from those that Tango's score has
    reach = (board.high[0, 1] - board.difference[0, 1]) / error
    assert reach == pytest.approx(2.23, abs=0.05)


def test_copies_have_no_standard_error():
    covariance = np.full((2, 2), 0.3)
    assert np.array_equal(pair_errors(covariance), np.zeros((2, 2)))
    assert np.isnan(simultaneous_quantile(covariance, 0.95, np.random.default_rng(0)))


# who is best


def test_expected_ranks_are_scipys():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 4, (50, 6)) / 4
    best, rank, _ = best_and_mean_rank(lambda _: scores, np.array([1]), rng, 50)
    assert rank == pytest.approx(stats.rankdata(-scores, axis=1).mean(axis=0))
    first = scores == scores.max(axis=1, keepdims=True)
    assert best == pytest.approx((first / first.sum(axis=1, keepdims=True)).mean(axis=0))


def test_two_units_decide_who_is_best_as_often_as_their_weights():
    # A is right on the first unit alone, B on the second alone: P(best) = P(w1 > w2)
    x = np.array([[3.0, 0.0], [0.0, 1.0]])
    best, rank, ahead = best_and_mean_rank(
        lambda w: (w @ x.T) / w.sum(axis=1, keepdims=True),
        np.array([1, 1]),
        np.random.default_rng(1),
        200_000,
    )
    # 3 w1 > w2 with probability 3/4
    assert best == pytest.approx([0.75, 0.25], abs=0.005)
    assert rank == pytest.approx([1.25, 1.75], abs=0.005)
    assert ahead == pytest.approx(np.array([[0.5, best[0]], [best[1], 0.5]]))


def test_the_expected_rank_is_one_more_than_the_systems_that_are_ahead_on_average():
    rng = np.random.default_rng(3)
    x = rng.integers(0, 3, (5, 12)) / 2  # scores that tie at times

    def scores(w):
        return (w @ x.T) / w.sum(axis=1, keepdims=True)

    scored = best_and_mean_rank(lambda w: np.round(scores(w), 1), np.ones(12, dtype=int), rng, 999)
    _, rank, ahead = scored
    assert np.allclose(ahead + ahead.T, 1)
    assert np.allclose(rank, 1 + ahead.sum(axis=0) - 0.5)  # of which one half is the system itself


def test_units_of_one_kind_weigh_as_much_as_one_by_one():
    x = np.array([[1.0, 0.0], [0.4, 0.6]])

    def scores(w):
        return (w @ x.T) / w.sum(axis=1, keepdims=True)

    each = np.repeat(np.eye(2), [3, 5], axis=0)
    together = best_and_mean_rank(scores, np.array([3, 5]), np.random.default_rng(1), 100_000)
    apart = best_and_mean_rank(
        lambda w: scores(w @ each), np.ones(8, dtype=int), np.random.default_rng(2), 100_000
    )
    assert together[0] == pytest.approx(apart[0], abs=0.008)


# all together


def board_of(systems, metric="f1", n_draws=20_000, **how):
    score = PooledScore.of_counts(systems, metric)
    return leaderboard(score, n_jobs=1, n_normal=n_draws, n_bootstrap=n_draws, **how)


@given(st.integers(1, 6), st.integers(2, 12), seeds)
def test_a_board_is_in_order_and_its_parts_agree(k, n, seed):
    systems = draw_systems(k, n, seed)
    board = board_of(systems, n_draws=500)
    scores = np.array([pv.metrics.f1(own.sum()) for own in systems])[board.order]
    known = scores[~np.isnan(scores)]
    assert np.all(np.diff(known) <= 0)
    assert np.all(np.isnan(scores[len(known) :]))
    better = board.decided & (board.difference > 0)
    assert np.array_equal(better | better.T, board.decided)
    low, high = rank_sets(better)
    assert np.array_equal(board.rank_low, low)
    assert np.array_equal(board.rank_high, high)
    inside = (board.low - 1e-12 <= board.difference) & (board.difference <= board.high + 1e-12)
    assert np.all(inside | np.isnan(board.difference))
    assert np.allclose(board.low, -board.high.T)
    best = board.p_best[~np.isnan(board.p_best)]
    if len(best):
        assert best.sum() == pytest.approx(1)
        assert np.nansum(board.expected_rank) == pytest.approx(len(best) * (len(best) + 1) / 2)


def test_copies_tie_and_share_the_first_place():
    one, other = draw_systems(2, 80, 3, spread=0)
    board = board_of([one, other, one, one])
    copies = [place for place, system in enumerate(board.order) if system != 1]
    for a, b in combinations(copies, 2):
        assert board.identical[a, b]
        assert board.difference[a, b] == 0
        assert board.pvalue[a, b] == board.p_adjusted[a, b] == 1
        assert not board.decided[a, b]
        # that nothing differs here is no proof that nothing would elsewhere
        assert -0.2 < board.low[a, b] < 0 < board.high[a, b] < 0.2
        assert board.p_best[a] == board.p_best[b]
        assert board.expected_rank[a] == board.expected_rank[b]
    assert board.p_best.sum() == pytest.approx(1)
    alone = leaderboard(PooledScore.of_counts([one, other]))
    assert 3 * board.p_best[copies[0]] == pytest.approx(alone.p_best[alone.order == 0][0], abs=0.02)


def test_near_copies_are_not_decided():
    (one,) = draw_systems(1, 200, 3)
    tp = np.array(one.tp)
    found = np.flatnonzero(tp)[0]
    tp[found] -= 1
    near = pv.Counts(tp, one.fp, one.positives - tp)
    board = board_of([near, one])
    assert board.order.tolist() == [1, 0]
    assert board.pvalue[0, 1] == 1
    assert not board.identical[0, 1]
    assert board.low[0, 1] < 0 < board.high[0, 1]
    # it is better wherever they differ
    assert board.p_best.tolist() == [1.0, 0.0]


def test_one_unit_is_no_evidence():
    board = board_of([pv.Counts([9], [0], [1]), pv.Counts([1], [7], [9]), pv.Counts([5], [1], [5])])
    assert board.rank_low.tolist() == [1, 1, 1]
    assert board.rank_high.tolist() == [3, 3, 3]
    assert not board.decided.any()
    assert np.isnan(board.p_best).all()
    assert np.isnan(board.expected_rank).all()
    assert board.low.min() == -1
    assert board.high.max() == 1
    assert np.isnan(board.quantile)


def test_one_system_and_two():
    (one,) = draw_systems(1, 30, 1)
    alone = board_of([one])
    assert alone.rank_low.tolist() == alone.rank_high.tolist() == [1]
    assert alone.letters == ["a"]
    assert alone.p_best.tolist() == [1.0]
    two = board_of(draw_systems(2, 30, 1))
    assert two.p_adjusted[0, 1] == two.pvalue[0, 1]  # a single test needs no adjustment
    assert two.quantile == pytest.approx(1.96, abs=0.05)


def test_a_system_without_a_score_is_judged_by_nobody():
    some = draw_systems(2, 60, 9)
    positives = some[0].positives
    nothing = pv.Counts(np.zeros(60), np.zeros(60), positives)
    board = board_of([nothing, *some], metric="precision")
    assert board.order[-1] == 0
    assert np.isnan(board.p_best[-1])
    assert (board.rank_low[-1], board.rank_high[-1]) == (1, 3)
    assert not board.decided[-1].any()
    assert np.isnan(board.pvalue[-1, :2]).all()
    # F1 counts it as 0, which is a score
    assert not np.isnan(board_of([nothing, *some]).p_best).any()


def test_nothing_to_be_found_decides_nothing():
    rng = np.random.default_rng(1)
    systems = [pv.Counts(np.zeros(50), rng.poisson(1 + k, 50), np.zeros(50)) for k in range(3)]
    board = board_of(systems)
    assert not board.decided.any()
    assert np.isnan(board.p_best).all()


def test_ten_units_decide_little():
    systems = draw_systems(12, 10, 5, spread=2.0)
    board = board_of(systems)
    smallest = 2 * 0.5**10 * 66  # of an exact test on ten units, adjusted for all pairs
    assert smallest > 0.05
    assert not board.decided.any()
    assert board.tier.tolist() == [1] * 12


def test_the_whole_board_is_the_same_with_the_same_seed():
    score = PooledScore.of_counts(draw_systems(5, 50, 7))
    a, b = (leaderboard(score, rng=np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(a.p_best, b.p_best)
    assert a.quantile == b.quantile


def test_part_of_an_item_cannot_be_exchanged():
    with pytest.raises(pv.InputError, match=r"0\.5 of an item cannot be exchanged"):
        UnitTable.of_counts([pv.Counts([0.5], [1], [1])])


@pytest.mark.parametrize("metric", ["f1", "precision", "recall"])
def test_pairs_that_every_unit_tells_alike_have_no_certain_difference(metric):
    none, one = np.zeros(30, int), np.ones(30, int)
    some = (np.arange(30) % 3 == 0).astype(int)
    systems = {
        "silly": pv.Counts(none, one, one),
        "wary": pv.Counts(none, some, one),
        "right": pv.Counts(one, none, none),
    }
    for pair in pv.rank(systems, metric=metric).pairs:
        assert -1 <= pair.low < pair.difference or pair.difference == -1
        assert pair.difference <= pair.high
        assert pair.high - pair.low > 0.05


def test_with_very_many_kinds_of_units_draws_are_normal(monkeypatch):
    rng = np.random.default_rng(4)
    right = rng.integers(0, 30, (3, 2000))
    right[1] += rng.integers(0, 2, 2000)
    right[2] = right[0]  # a copy
    systems = [pv.Counts(tp=tp, fp=40 - tp, fn=40 - tp) for tp in right]
    named = dict(zip("abc", systems, strict=True))
    bootstrap = pv.rank(named, rng=1)
    monkeypatch.setattr(ranks_module, "MANY_KINDS", 500)
    normal = pv.rank(named, rng=1)
    assert bootstrap.to_dict() != normal.to_dict()
    for one, other in zip(bootstrap.ranking, normal.ranking, strict=True):
        assert one.name == other.name
        assert one.p_best == pytest.approx(other.p_best, abs=0.02)
        assert one.expected_rank == pytest.approx(other.expected_rank, abs=0.03)
