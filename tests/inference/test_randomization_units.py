"""The randomisation test by unit."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inference.exchanges import (
    difference_of,
    exact_score,
    law_by_unit,
    pvalue_of,
    walk_polynomial,
)

import probative as pv
from probative.inference.exchange import UnitExchange
from probative.inference.score_differences import score_difference
from probative.inference.walks import (
    Convolution,
    Inversion,
    Lattice,
    TiltedWalk,
    Walk,
    significant_frequencies,
    tilt_onto,
    walk_of_units,
)
from probative.metrics import RATIOS as METRICS

ALTERNATIVES = ("two-sided", "greater", "less")


def cases_of(a, b, positives):
    """The eight cases of a unit from (tp, predicted) of A and of B, with all possible overlap."""
    both, both_wrong = min(a[0], b[0]), min(a[1] - a[0], b[1] - b[0])
    only = [a[0] - both, a[1] - a[0] - both_wrong, b[0] - both, b[1] - b[0] - both_wrong]
    return [*only, both, both_wrong, positives - a[0] - b[0] + both, 0]


def sentences(n, most, agree, lift, seed):
    """Two systems that find most of 0 to `most` entities per sentence and invent a few."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, most + 1, n)
    differs = rng.random(n) > agree
    tp_a, fp_a = rng.binomial(gold, 0.8), rng.binomial(most, 0.1, n)
    tp_b = np.where(differs, rng.binomial(gold, 0.8 + lift), tp_a)
    fp_b = np.where(differs, rng.binomial(most, 0.1, n), fp_a)
    return pv.PairedCounts(
        [
            cases_of((x, x + f), (y, y + g), p)
            for x, f, y, g, p in zip(tp_a, fp_a, tp_b, fp_b, gold, strict=True)
        ]
    )


def tails_by_both_ways(paired, metric, threshold, beta=1.0):
    """The tail probability by Fourier inversion and coin by coin, however short the walk is."""
    game = score_difference(paired.total(), metric, beta)
    number = paired.multiplicity if paired.multiplicity is not None else np.ones(len(paired.cases))
    exchange = UnitExchange(walk_of_units(paired.cases, number.astype(np.int64)), game, 2.0**30)
    if not len(exchange.walk.steps):
        return [exchange.tail(threshold)]
    walk = TiltedWalk(exchange.walk, tilt_onto(exchange.walk, exchange.gap, threshold))
    first = walk.first_extreme(exchange.gap, threshold)
    return [Inversion(walk, 2.0**30).tail(first), Convolution(walk).tail(first)]


def test_a_known_value():
    groups = [
        (200, (2, 2), (2, 2), 2),
        (80, (1, 2), (2, 2), 2),
        (12, (2, 2), (1, 2), 2),
        (50, (1, 3), (1, 1), 1),
        (10, (1, 1), (1, 2), 1),
        (18, (0, 1), (1, 1), 1),
    ]
    rows, number = zip(*((cases_of(*units), n) for n, *units in groups), strict=True)
    test = pv.randomization_test(pv.PairedCounts(rows, number), "f1")
    assert test.pvalue == pytest.approx(6.5879363955069e-28, rel=1e-12, abs=0)
    assert test.by == "unit"
    assert test.n_units == 370
    assert test.method == "exact"


@pytest.mark.slow
def test_agrees_with_all_exchanges_written_out():
    """300 cases of up to 16 units: through the front door, and by inversion always."""
    rng = np.random.default_rng(30)
    worst = worst_relative = 0.0
    ties = 0
    for case in range(300):
        n = int(rng.integers(1, 17))
        cases = rng.integers(0, rng.integers(2, 6), (n, 8))
        if case % 5 == 0:
            cases[:, :4] *= 2  # steps that share a period
        if case % 7 == 0:
            cases[:, [1, 3]] = cases[:, [2, 0]]  # as many predicted by A as by B: a line
        metric = METRICS[case % len(METRICS)]
        beta = ("0.5", "2", "0.3", "1")[case % 4]
        law = law_by_unit(cases, metric, Fraction(beta))
        observed = difference_of(cases.sum(axis=0), metric, Fraction(beta))
        ties += law[observed] > 2
        paired = pv.PairedCounts(cases)
        for alternative in ALTERNATIVES:
            expected = float(pvalue_of(law, observed, alternative))
            test = pv.randomization_test(paired, metric, alternative=alternative, beta=float(beta))
            threshold = {"greater": observed, "less": -observed}.get(alternative, abs(observed))
            tails = tails_by_both_ways(paired, metric, threshold, float(beta))
            if alternative == "two-sided":
                tails = [min(1.0, 2 * tail) for tail in tails]
            for found in (test.pvalue, *tails):
                worst = max(worst, abs(found - expected))
                worst_relative = max(worst_relative, abs(found / expected - 1))
    assert worst < 1e-12
    assert worst_relative < 1e-10
    assert ties > 100


@pytest.mark.parametrize("metric", ["precision", "recall", "f1"])
def test_agrees_with_a_million_shuffles_of_a_thousand_sentences(metric):
    paired = sentences(1000, 4, 0.85, 0.02, seed=1)
    exact = pv.randomization_test(paired, metric)
    sampled = pv.randomization_test(paired, metric, method="sampled", n_resamples=10**6, rng=2)
    assert 0.001 < exact.pvalue < 0.95
    assert abs(sampled.pvalue - exact.pvalue) < 4 * sampled.standard_error


@pytest.mark.parametrize(
    ("n", "most", "agree"), [(1000, 4, 0.85), (3000, 4, 0.85), (1000, 40, 0.3), (40, 12, 0.0)]
)
def test_the_walk_has_a_mass_of_one(n, most, agree):
    paired = sentences(n, most, agree, 0.03, seed=3)
    game = score_difference(paired.total(), "f1", 1.0)
    walk = walk_of_units(paired.cases, np.ones(n, dtype=np.int64))
    for tau in (np.zeros(2), np.array([0.02, -0.01]), tilt_onto(walk, game, Fraction(1, 50))):
        tilted = TiltedWalk(walk, tau)
        everything = tilted.first_extreme(game, Fraction(-2))
        # the tilted walk as it is: without the weights that undo the tilt
        tilted.tau[:] = 0
        tilted.log_gain = 0.0
        assert Inversion(tilted, 2.0**30).tail(everything) == pytest.approx(1, abs=1e-12)
        if n < 1000:
            assert Convolution(tilted).tail(everything) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_one_item_a_unit_is_the_test_by_item(metric, alternative):
    t = [60, 40, 85, 52, 700, 110, 95, 900]
    units = pv.PairedCounts(np.eye(8), t)
    by_unit = pv.randomization_test(units, metric, alternative=alternative)
    by_item = pv.randomization_test(pv.PairedCounts(t), metric, alternative=alternative)
    assert by_unit.by == "unit"
    assert by_unit.pvalue == pytest.approx(by_item.pvalue, rel=1e-12, abs=0)
    also_by_item = pv.randomization_test(units, metric, by="item", alternative=alternative)
    assert also_by_item.pvalue == by_item.pvalue


@pytest.mark.parametrize(
    ("better", "other", "smallest", "largest"),
    [(60, 30, 1e-15, 1e-4), (150, 40, 1e-50, 1e-25), (420, 20, 1e-130, 1e-100)],
)
def test_far_tails_against_exact_rational_arithmetic(better, other, smallest, largest):
    rows = [
        cases_of((1, 2), (2, 2), 2),  # B finds what A mistook
        cases_of((2, 2), (1, 2), 2),  # the other way round
        cases_of((1, 3), (1, 1), 1),  # B invents less
        cases_of((1, 1), (1, 2), 1),
        cases_of((0, 1), (2, 2), 2),
    ]
    number = [better // 2, other // 3, better // 3, other // 3, better // 6]
    paired = pv.PairedCounts([*rows, cases_of((2, 2), (2, 2), 2)], [*number, 500])
    table = paired.total().cases
    observed = difference_of(table, "f1")

    # A's (tp, fp) moves by these steps towards B's; reflected where negative so that all are >= 0
    moves = [(r[2] - r[0], r[3] - r[1]) for r in rows]
    steps = [(abs(x), abs(f)) for (x, f), n in zip(moves, number, strict=True) for _ in range(n)]
    assert all(x * f <= 0 for x, f in moves)
    start = np.array([table[0] + table[4], table[1] + table[5]]).astype(int)
    lowest = start + [
        sum(n * min(m[axis], 0) for m, n in zip(moves, number, strict=True)) for axis in (0, 1)
    ]
    highest = start + [
        sum(n * max(m[axis], 0) for m, n in zip(moves, number, strict=True)) for axis in (0, 1)
    ]
    positives = int(table[[0, 2, 4, 6]].sum())
    total = start + np.array([table[2] + table[4], table[3] + table[5]]).astype(int)

    def f1(credit):
        return Fraction(2 * int(credit[0]), int(credit[0] + credit[1]) + positives)

    # x grows with i and f falls with j, as every move goes down in one and up in the other
    bits = 8 * (sum(number) // 8 + 1)
    extreme = 0
    for (i, j), ways in walk_polynomial(steps, bits).items():
        credit = np.array([lowest[0] + i, highest[1] - j])
        if f1(total - credit) - f1(credit) >= observed:
            extreme += ways
    expected = 2 * Fraction(extreme, 2 ** sum(number))
    found = pv.randomization_test(paired, "f1").pvalue
    assert smallest < expected < largest
    assert found == pytest.approx(float(expected), rel=1e-11, abs=0)


@pytest.mark.parametrize("n", [5, 50, 250])
def test_the_most_extreme_of_all_outcomes(n):
    """B is better on every unit: of all exchanges only two are as extreme."""
    rows = [[0, 1, 1, 0, 2, 0, 0], [0, 0, 3, 0, 1, 0, 0], [0, 2, 0, 0, 1, 1, 1]]
    number = [n, n // 2, n // 3]
    paired = pv.PairedCounts([*rows, [0, 0, 0, 0, 3, 1, 1]], [*number, 100])
    found = pv.randomization_test(paired, "f1").pvalue
    assert found == pytest.approx(2 * 0.5 ** sum(number), rel=1e-11, abs=0)


def test_large_walks_need_no_grid_of_their_size():
    """0 to 40 entities per sentence, hardly any agreement: still a few thousand frequencies."""
    paired = sentences(5000, 40, 0.3, 0.002, seed=4)
    walk = walk_of_units(paired.cases, np.ones(5000, dtype=np.int64))
    inversion = Inversion(TiltedWalk(walk, np.zeros(2)), 2.0**30)
    assert np.prod(inversion.shape) > 10**6
    assert len(inversion.phi) < 3000
    exact = pv.randomization_test(paired, "f1")
    sampled = pv.randomization_test(paired, "f1", method="sampled", n_resamples=20_000, rng=5)
    assert abs(sampled.pvalue - exact.pvalue) < 4 * sampled.standard_error


def test_few_units_with_large_counts_are_convolved():
    """Three dozen documents: all frequencies matter, and the coins are added one by one."""
    rng = np.random.default_rng(8)
    documents = np.concatenate([rng.integers(0, 40, (36, 4)), rng.integers(0, 99, (36, 4))], axis=1)
    paired = pv.PairedCounts(documents)
    exact = pv.randomization_test(paired, "f1", method="exact")
    one, other = tails_by_both_ways(paired, "f1", abs(difference_of(documents.sum(axis=0), "f1")))
    assert exact.pvalue == pytest.approx(2 * one, rel=1e-11)
    assert exact.pvalue == pytest.approx(2 * other, rel=1e-11)
    sampled = pv.randomization_test(paired, "f1", method="sampled", n_resamples=10**5, rng=9)
    assert abs(sampled.pvalue - exact.pvalue) < 4 * sampled.standard_error


def test_frequencies_far_from_the_origin_are_found():
    """Nearly all steps are even: the spectrum has a second, small peak at half a turn."""
    steps, times = np.array([[2, 0], [0, 1], [1, 1]]), np.array([400, 300, 3])
    shape = (360, 200)
    walk = SimpleNamespace(steps=steps, times=times, tilt=np.zeros(3))
    found, log_modulus = significant_frequencies(walk, shape, 2.0**30)
    theta = [2 * np.pi * np.arange(n) / n for n in shape]
    grid = np.stack(np.meshgrid(*theta, indexing="ij"), axis=-1)
    with np.errstate(divide="ignore"):
        full = np.log(np.abs(np.cos(grid @ steps.T / 2))) @ times
    half = full[: shape[0] // 2 + 1]
    expected = {(i, j) for i, j in np.argwhere(half > -41)}
    assert {(i, j % shape[1]) for i, j in found.tolist()} == expected
    assert any(abs(i - 180) < 10 for i, _ in expected)
    assert log_modulus == pytest.approx(full[found[:, 0], found[:, 1]], abs=1e-9)


unit_rows = st.lists(st.lists(st.integers(0, 4), min_size=8, max_size=8), min_size=1, max_size=30)


@given(unit_rows, st.sampled_from(METRICS))
@settings(max_examples=60, deadline=None)
def test_swapping_the_systems_mirrors_the_test(rows, metric):
    paired = pv.PairedCounts(rows)
    p = {a: pv.randomization_test(paired, metric, alternative=a) for a in ALTERNATIVES}
    q = {a: pv.randomization_test(paired.swapped(), metric, alternative=a) for a in ALTERNATIVES}
    assert p["two-sided"].pvalue == q["two-sided"].pvalue
    assert p["greater"].pvalue == q["less"].pvalue
    assert p["less"].pvalue == q["greater"].pvalue
    assert 0 < p["two-sided"].pvalue <= 1
    assert p["greater"].pvalue + p["less"].pvalue >= 1 - 1e-12


@given(unit_rows, st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_the_order_and_the_grouping_of_units_do_not_matter(rows, random):
    test = pv.randomization_test(pv.PairedCounts(rows), "f1")
    shuffled = list(rows)
    random.shuffle(shuffled)
    again = pv.randomization_test(pv.PairedCounts(shuffled).grouped(), "f1")
    assert again.pvalue == pytest.approx(test.pvalue, rel=1e-12)
    assert again.n_units == test.n_units


@given(
    st.lists(st.tuples(st.integers(-6, 6), st.integers(-6, 6)), min_size=1, max_size=5),
    st.lists(st.integers(1, 9), min_size=5, max_size=5),
)
def test_lattice_holds_the_steps_and_no_more(steps, times):
    steps = np.array(steps)
    units = np.zeros((len(steps), 8))
    units[:, 0], units[:, 2] = np.maximum(steps[:, 0], 0), np.maximum(-steps[:, 0], 0)
    units[:, 1], units[:, 3] = np.maximum(steps[:, 1], 0), np.maximum(-steps[:, 1], 0)
    walk = walk_of_units(units, np.array(times[: len(steps)]))
    if not len(walk.steps):
        return
    lattice = Lattice(walk)
    i, j = lattice.coordinates(walk.steps).T
    assert np.array_equal(np.stack([lattice.a * i, lattice.c * i + lattice.e * j], 1), walk.steps)
    if lattice.a and lattice.e:
        pairs = [(p, q) for p in walk.steps for q in walk.steps]
        index = np.gcd.reduce([int(p[0] * q[1] - p[1] * q[0]) for p, q in pairs])
        assert lattice.a * lattice.e == index


def test_the_hull_of_a_walk():
    walk = Walk(np.array([[1, -1], [2, 1], [0, 1]]), np.array([2, 1, 3]), np.array([10, 20]))
    least, most = walk.reachable(np.array([10, 11, 12, 13, 14]))
    ends = {(10 + a + 2 * b, 20 - a + b + c) for a in range(3) for b in range(2) for c in range(4)}
    assert least.tolist()[::2] == [min(f for x, f in ends if x == e) for e in (10, 12, 14)]
    assert most.tolist()[::2] == [max(f for x, f in ends if x == e) for e in (10, 12, 14)]


@pytest.mark.parametrize("metric", METRICS)
def test_identical_systems_give_one(metric):
    paired = pv.PairedCounts([[0, 0, 0, 0, 5, 2, 3, 9], [0, 0, 0, 0, 1, 0, 3, 9]])
    for alternative in ALTERNATIVES:
        assert pv.randomization_test(paired, metric, alternative=alternative).pvalue == 1


def test_without_enough_memory_it_samples_and_says_so():
    rng = np.random.default_rng(6)
    documents = np.concatenate([rng.integers(0, 90, (40, 4)), rng.integers(0, 300, (40, 4))], 1)
    paired = pv.PairedCounts(documents)
    test = pv.randomization_test(paired, memory_limit=10_000, rng=1)
    assert test.method == "sampled"
    assert "MiB" in test.note
    with pytest.raises(ValueError, match=r"^memory_limit: the exact test needs"):
        pv.randomization_test(paired, memory_limit=10_000, method="exact")


def test_null_distribution_shows_the_pvalue():
    test = pv.randomization_test(sentences(800, 4, 0.85, 0.03, seed=7), null=True)
    edges, probability = test.null.edges, test.null.probabilities
    outside = np.abs((edges[1:] + edges[:-1]) / 2) > abs(test.statistic)
    assert probability[outside].sum() == pytest.approx(test.pvalue, abs=1e-12)
    assert np.all(probability > -1e-15)


@pytest.mark.parametrize("shared", [(1, 0), (0, 2), (1, 1)])
@pytest.mark.parametrize("metric", ["precision", "f1", "jaccard"])
def test_a_system_that_says_next_to_nothing(metric, shared):
    """The score of few items jumps as they change places, so that its gradient leads astray."""
    said = {(0, 1): 17, (0, 2): 6, (1, 0): 5, (1, 1): 17, (1, 2): 5, (2, 0): 2, (2, 1): 2}
    rows = [cases_of((tp, tp + fp), (0, 0), 2) for tp, fp in said]
    alike = shared[0], sum(shared)
    paired = pv.PairedCounts([*rows, cases_of(alike, alike, 2)], [*said.values(), 1])
    observed = abs(difference_of(paired.total().cases, metric))
    positives = 2 * (sum(said.values()) + 1)

    # how often each end point is reached, one unit after the other
    ways = {shared: 1}
    for (tp, fp), n in said.items():
        for _ in range(n):
            further = dict(ways)
            for (x, f), times in ways.items():
                further[x + tp, f + fp] = further.get((x + tp, f + fp), 0) + times
            ways = further
    right, wrong = (sum(n * one[k] for one, n in said.items()) + 2 * shared[k] for k in range(2))

    def score(tp, fp):
        return exact_score(tp, fp, positives - tp, 0, metric)

    extreme = sum(
        times
        for (x, f), times in ways.items()
        if abs(score(right - x, wrong - f) - score(x, f)) >= observed
    )
    expected = float(Fraction(extreme, 2 ** sum(said.values())))
    found = pv.randomization_test(paired, metric).pvalue
    assert found == pytest.approx(expected, rel=1e-9, abs=0)
