"""Looks at a stratified sample: fair bets, limits of the pool."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from probative.counts import Counts
from probative.errors import InputError
from probative.inference.sequential import (
    LabelledUnits,
    Wealth,
    mirrored_chances,
    reach,
    stratified_looks,
)
from probative.inference.stratified import Draw, PoolScores

MIRROR = np.array([0, 2, 1])
SIZES = np.array([60, 20, 31])


def exchanged(units, turned):
    """The same units with the outputs of two systems exchanged in some: mirrored strata, too."""
    a, b = units.systems
    cells = [
        [np.where(turned, getattr(two, c), getattr(one, c)) for c in ("tp", "fp", "fn")]
        for one, two in ((a, b), (b, a))
    ]
    stratum = np.where(turned, units.mirror[units.stratum], units.stratum)
    return replace(units, systems=tuple(Counts(*own) for own in cells), stratum=stratum)


def drawn_units(rng, strata):
    """Two systems in so many units of these strata."""
    n = len(strata)
    found = rng.integers(0, 3, n)
    cells = []
    for _ in range(2):
        tp = rng.integers(0, found + 1)
        cells.append(Counts(tp, rng.integers(0, 3, n), found - tp))
    number = rng.permutation(1000)[:n]
    return LabelledUnits(tuple(cells), number, np.array(strata), SIZES, MIRROR)


def exchanges(units, ends):
    """All ways to exchange outputs that leave as many units in every stratum, batch by batch."""
    n = len(units.number)
    of_strata = [np.sort(units.stratum[a:b]) for a, b in itertools.pairwise((0, *ends))]
    for turned in itertools.product((False, True), repeat=n):
        other = exchanged(units, np.array(turned))
        parts = [np.sort(other.stratum[a:b]) for a, b in itertools.pairwise((0, *ends))]
        if all(np.array_equal(x, y) for x, y in zip(parts, of_strata, strict=True)):
            yield other


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    strata=st.lists(st.sampled_from((0, 1, 1, 2, 2)), min_size=2, max_size=8),
)
def test_bets_are_fair_under_every_exchange(seed, strata):
    """On average over all exchanges the wealth is 1 after each batch, exactly."""
    rng = np.random.default_rng(seed)
    units = drawn_units(rng, strata)
    ends = (len(strata) // 2, len(strata)) if len(strata) > 3 else (len(strata),)
    wealth = []
    for other in exchanges(units, ends):
        looks = list(stratified_looks(other, ends, [5, 5, 5]))
        wealth.append([look.e_value for look in looks])
    assert np.mean(wealth, axis=0) == pytest.approx(1.0, abs=1e-9)


def test_bets_that_knew_the_stratum_would_not_be_fair():
    """Fair coins are not what the strata leave: this is why the odds are those that are left."""
    rng = np.random.default_rng(2)
    units = drawn_units(rng, [1, 1, 1, 2, 2, 1])
    naive = []
    for other in exchanges(units, (6,)):
        a, b = other.systems
        d = (b.tp - a.tp) - 0.4 * (b.tp + b.fp - a.tp - a.fp)
        naive.append(math.exp(Wealth((0.8,)).bet(d).log_e))
    assert abs(np.mean(naive) - 1) > 1e-3


def test_the_chances_are_the_shares_that_are_left():
    number, stratum = np.array([9, 3, 5, 7, 1]), np.array([1, 2, 1, 1, 0])
    d = np.array([1.0, 1.0, -2.0, 0.5, 3.0])
    # in the order 1 (alone), 3, 5, 7, 9: of the first stratum 3 of 4, 3 of 3, 2 of 2, 1 of 1
    expected = [1.0, 1 - 3 / 4, 0.0, 1.0, 0.5]
    assert mirrored_chances(number, stratum, MIRROR, d).tolist() == expected


def test_without_mirrors_the_bets_are_those_of_fair_coins():
    rng = np.random.default_rng(0)
    d = rng.normal(size=20)
    plain, told = Wealth().bet(d), Wealth().bet(d, chance=np.full(20, 0.5))
    assert told.log_e == pytest.approx(plain.log_e, rel=1e-12)


@pytest.fixture
def stream():
    rng = np.random.default_rng(5)
    return drawn_units(rng, rng.permutation([0] * 30 + [1] * 15 + [2] * 20))


def test_limits_are_the_estimate_of_the_pool_and_so_many_standard_errors(stream):
    ends, planned = (50, 65), (30, 15, 20)
    looks = list(stratified_looks(stream, ends, planned))
    for look, end in zip(looks, ends, strict=True):
        so_far = stream.first(end)
        pool = PoolScores(so_far.systems, Draw(so_far.stratum, SIZES), "f1")
        found = pool.difference()
        assert look.estimate == found.estimate
        assert look.score_b - look.score_a == pytest.approx(found.estimate)
    # all that was planned is labelled: the limits are tightest there
    normal = float(reach(1.0, 1.0))
    far = -special.stdtrit(found.degrees_of_freedom, special.ndtr(-normal)) * found.standard_error
    assert looks[-1].high - looks[-1].estimate == pytest.approx(far)
    assert looks[0].high - looks[0].low > looks[1].high - looks[1].low


def test_one_system_has_limits_and_no_test(stream):
    alone = replace(stream, systems=stream.systems[:1])
    look = list(stratified_looks(alone, (65,), (30, 15, 20)))[-1]
    assert look.pvalue is None
    assert 0 <= look.low < look.estimate < look.high <= 1


def test_few_units_have_no_limits_yet(stream):
    order = np.argsort(stream.stratum, kind="stable")
    late = replace(
        stream,
        systems=tuple(counts[order] for counts in stream.systems),
        stratum=stream.stratum[order],
        number=stream.number[order],
    )
    first, second, third, _ = stratified_looks(late, (20, 40, 46, 65), (30, 15, 20))
    for look in (first, second, third):
        assert (look.low, look.high) == (-1, 1)
    assert math.isnan(first.estimate)
    assert "fewer than two units of a stratum" in second.note
    assert "fewer than two units of a stratum" in third.note
    few = next(iter(stratified_looks(stream, (20,), (30, 15, 20))))
    assert "fewer than 30 informative units" in few.note


def test_a_pool_that_is_labelled_whole_has_nothing_left_open():
    rng = np.random.default_rng(1)
    units = replace(drawn_units(rng, [0] * 20 + [1] * 10 + [2] * 10), sizes=np.array([20, 10, 10]))
    look = list(stratified_looks(units, (40,), (10, 5, 5)))[-1]
    assert look.low == look.estimate == look.high


def test_what_is_no_ratio_of_sums_is_refused(stream):
    with pytest.raises(InputError, match="metric: mcc is no ratio of sums"):
        list(stratified_looks(stream, (65,), (30, 15, 20), metric="mcc"))
