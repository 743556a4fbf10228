"""Sampled p-values that stop when their decisions are clear."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inference.of_scores import macro_test, macro_tests
from scipy import special

import probative as pv
from probative.inference import sampled as module
from probative.inference.intervals import clopper_pearson
from probative.inference.sampled import (
    ERROR,
    LEVELS,
    levels_at,
    looks,
    sequential_pvalue,
    sequential_pvalues,
)
from probative_studies.looks import stopping, stopping_study


def bernoulli(share):
    return lambda generator, number: int(generator.binomial(number, share))


@pytest.mark.parametrize(("extreme", "draws"), [(0, 2048), (3, 2048), (97, 2048), (2048, 2048)])
def test_limits_are_those_of_binomial_tails(extreme, draws):
    """The lower limit makes so many or more as improbable as allowed, the upper one so few."""
    error = 4e-6
    low, high = (float(side) for side in clopper_pearson(extreme, draws, error / 2))

    def at_most(k, p):
        with mpmath.workdps(40):
            p = mpmath.mpf(p)
            return mpmath.fsum(
                mpmath.binomial(draws, i) * p**i * (1 - p) ** (draws - i) for i in range(k + 1)
            )

    assert (low == 0) == (extreme == 0)
    assert (high == 1) == (extreme == draws)
    if extreme > 0:
        assert float(1 - at_most(extreme - 1, low)) == pytest.approx(error / 2, rel=1e-6)
    if extreme < draws:
        assert float(at_most(extreme, high)) == pytest.approx(error / 2, rel=1e-6)


def test_looks_grow_and_end_with_the_most():
    numbers = looks()
    assert (numbers[0], numbers[-1], len(numbers)) == (2048, 10**6, 25)
    assert all(b - a >= 2048 for a, b in pairwise(numbers))
    assert looks(100) == [100]


@pytest.mark.parametrize(
    ("share", "under"),
    [(1e-5, {0.05, 0.01}), (0.003, {0.05, 0.01}), (0.03, {0.05}), (0.3, set()), (1.0, set())],
)
def test_it_stops_early_on_the_right_side(share, under):
    found = sequential_pvalue(bernoulli(share), rng=3)
    assert found.clear
    assert found.draws < 20_000
    assert found.low <= share <= found.high
    assert {t for t in found.levels if found.pvalue <= t} == under
    assert {t for t in found.levels if found.high <= t} == under
    assert str(found).startswith(f"decided at 0.05 and 0.01 after {found.draws:,} draws: p between")


def test_what_lies_on_a_level_stays_undecided():
    found = sequential_pvalue(bernoulli(0.05), rng=3)
    assert (found.draws, found.undecided) == (10**6, (0.05,))
    assert found.low < 0.05 < found.high
    assert str(found).startswith("undecided at 0.05 after 1,000,000 draws: p between 0.048")


def test_a_number_that_is_asked_for_is_drawn():
    found = sequential_pvalue(bernoulli(0.04), n_resamples=1500, rng=3)
    assert found.draws == 1500
    assert found.pvalue == (found.extreme + 1) / 1501
    assert found.undecided == (0.05,)


def test_the_result_depends_on_the_seed_alone():
    one, same, other = (
        sequential_pvalue(bernoulli(0.04), rng=seed, n_jobs=jobs)
        for seed, jobs in ((1, 1), (1, 3), (2, 1))
    )
    assert one == same
    assert one.extreme != other.extreme


def test_levels_go_with_the_level_of_the_interval():
    assert levels_at(0.95) == (0.05, 0.01)
    assert levels_at(0.9) == (0.1, 0.05, 0.01)
    assert sequential_pvalue(bernoulli(0.1), levels=(0.1,), rng=0).undecided == (0.1,)


def test_adjusted_decisions_are_clear_and_those_of_exact_p_values():
    shares = np.array([1e-6, 0.0004, 0.004, 0.012, 0.03, 0.2, 0.6, 1.0])

    def draw(generator, number, tests):
        return generator.binomial(number, shares)[tests]

    found = sequential_pvalues(draw, 8, rng=5)
    assert all(own.clear for own in found)
    estimates = [own.pvalue for own in found]
    for level in (0.05, 0.01):
        exact = pv.adjust_pvalues(shares) <= level
        assert (pv.adjust_pvalues(estimates) <= level).tolist() == exact.tolist()
        assert [own.pvalue <= level for own in found] == (shares <= level).tolist()
    # the first needs many draws to be clear of 0.01 / 8, the last ones do not
    assert found[0].draws > 10_000
    assert found[-1].draws == 2048
    alone = sequential_pvalues(draw, 8, rng=5, adjust=None)
    assert alone[0].draws == 2048


def test_what_is_exact_is_not_drawn():
    def draw(generator, number, tests):
        assert tests.tolist() == [1]
        return generator.binomial(number, [0.3])

    found = sequential_pvalues(draw, 2, rng=5, known={0: (0.001, 0)})
    assert (found[0].pvalue, found[0].low, found[0].draws) == (0.001, 0.001, 0)
    assert found[1].draws == 2048


# --- how it ends, computed -----------------------------------------------------------------------


def by_hand(share, planned, levels, error):
    """Expected draws, wrong decisions and undecided ones: all walks, step by step, in fractions."""
    share = Fraction(share)
    going, before = {0: Fraction(1)}, 0
    expected = wrong = undecided = Fraction(0)

    def tail(k, n, t):
        """P(X >= k)."""
        t = Fraction(t)
        return sum(comb(n, i) * t**i * (1 - t) ** (n - i) for i in range(k, n + 1))

    for end in planned:
        expected += sum(going.values()) * (end - before)
        for _ in range(end - before):
            after = {}
            for x, p in going.items():
                after[x] = after.get(x, 0) + p * (1 - share)
                after[x + 1] = after.get(x + 1, 0) + p * share
            going = after
        allowed = Fraction(error) / len(planned) / 2
        kept = {}
        for x, p in going.items():
            above = [tail(x, end, t) < allowed for t in levels]  # surely p > t
            below = [1 - tail(x + 1, end, t) <= allowed for t in levels]
            clear = all(a or b for a, b in zip(above, below, strict=True))
            mistaken = any(
                (a and share <= Fraction(t)) or (b and share > Fraction(t))
                for a, b, t in zip(above, below, levels, strict=True)
            )
            if clear or end == planned[-1]:
                wrong += p * mistaken
                undecided += p * (not clear)
            else:
                kept[x] = p
        going, before = kept, end
    return float(expected), float(wrong), float(undecided)


@pytest.mark.parametrize("share", [0.02, 0.2, 0.3, 0.45])
def test_the_computed_end_is_that_of_all_walks(share, monkeypatch):
    from probative_studies import looks as study

    monkeypatch.setattr(study, "looks", lambda most: [12, 24, 40])
    monkeypatch.setattr(study, "ERROR", 0.05)
    found = stopping(share, levels=(0.3, 0.1), most=40)
    expected, wrong, undecided = by_hand(share, [12, 24, 40], (0.3, 0.1), 0.05)
    assert found.draws == round(expected)
    assert found.wrong == pytest.approx(1e6 * wrong, rel=1e-9, abs=1e-12)
    assert found.undecided == pytest.approx(undecided, rel=1e-10)


@pytest.mark.slow
def test_the_error_is_kept():
    """One in ten thousand, wherever the p-value lies; worst on a level."""
    for found in stopping_study([0.0001, 0.008, 0.04, 0.05, 0.06, 0.5]):
        assert found.wrong <= 100
    assert stopping(0.05).wrong > 10
    assert stopping(0.2).draws == pytest.approx(2048, abs=1)


def test_simulated_tests_stop_when_they_should():
    share, number = 0.03, 300
    found = stopping(share)
    draws = [sequential_pvalue(bernoulli(share), rng=seed).draws for seed in range(number)]
    error = np.std(draws) / np.sqrt(number)
    assert abs(np.mean(draws) - found.draws) < 4.5 * error
    first = np.mean(np.array(draws) == 2048)
    assert abs(first - found.at_first) < 4.5 * np.sqrt(0.25 / number)


def size_of_estimate(most):
    """Return all x that the estimate can be, and how often it is at most x if p is uniform."""
    # a valid p-value is at most x with a probability of x or less
    planned = looks(most)
    values, masses = [], []
    extreme, chances, before = np.zeros(1, dtype=np.int64), np.ones(1), 0
    for end in planned:
        chances = urn(extreme, chances, before, end)
        extreme = np.flatnonzero(chances)
        chances = chances[extreme]
        low, high = clopper_pearson(extreme, end, ERROR / len(planned) / 2)
        going = np.any([(low <= t) & (high > t) for t in LEVELS], axis=0) & (end < most)
        values.append((extreme[~going] + 1) / (end + 1))
        masses.append(chances[~going])
        extreme, chances, before = extreme[going], chances[going], end
    value, mass = np.concatenate(values), np.concatenate(masses)
    order = np.argsort(value)
    return value[order], np.cumsum(mass[order])


def urn(extreme, chances, before, end):
    """Return where walks are whose share of steps up is uniform: the urn of Pólya."""
    if before == 0:
        return np.full(end + 1, 1 / (end + 1))
    steps = end - before
    mean = steps * (extreme + 1) / (before + 2)
    reach = 12 * np.sqrt(mean * (1 + steps / before)) + 60
    least = np.maximum(0, mean - reach).astype(np.int64)
    most = np.minimum(steps, mean + reach).astype(np.int64)
    total = np.zeros(int((extreme + most).max(initial=0)) + 1)
    for x, chance, low, high in zip(extreme, chances, least, most, strict=True):
        ups = np.arange(low, high + 1)
        a, b = x + 1, before - x + 1
        ways = -special.betaln(ups + 1, steps - ups + 1) - np.log(steps + 1)
        log = ways + special.betaln(ups + a, steps - ups + b)
        total[x + ups] += chance * np.exp(log - special.betaln(a, b))
    return total


def test_the_size_of_the_estimate_at_its_levels():
    values, size = size_of_estimate(most=20_000)
    assert size[-1] == pytest.approx(1, abs=1e-9)
    for level in (0.05, 0.01):
        assert size[np.searchsorted(values, level, side="right") - 1] <= level
    assert (size / values).max() < 1.15


# --- the tests that use it -----------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 7), min_size=2, max_size=12), st.integers(0, 99))
def test_sampled_and_exact_tests_agree(rows, seed):
    paired = pv.PairedCounts(np.array(rows))
    exact = pv.randomization_test(paired, "f1", by="unit").pvalue
    how = {"method": "sampled", "rng": seed, "n_resamples": 4000}
    sampled = pv.randomization_test(paired, "f1", by="unit", **how)
    assert sampled.pvalue_low <= exact * (1 + 1e-9)
    assert exact <= sampled.pvalue_high * (1 + 1e-9)
    swapped = pv.randomization_test(paired.swapped(), "f1", by="unit", **how)
    assert swapped.pvalue_low <= exact * (1 + 1e-9)
    assert exact <= swapped.pvalue_high * (1 + 1e-9)


def test_a_sampled_test_says_when_it_stopped():
    paired = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
    found = pv.randomization_test(paired, method="sampled", rng=1)
    assert found.n_resamples == 2048
    assert found.pvalue_low < 0.1393 < found.pvalue_high
    assert "decided at 0.05 and 0.01 after 2,048 draws" in found.note
    assert pv.randomization_test(paired).pvalue_low is None


def macro_counts(seed, shape=(300, 3)):
    rng = np.random.default_rng(seed)
    positives = rng.poisson(0.8, shape)
    tables = []
    for skill in (0.6, 0.63, 0.75):
        tp = rng.binomial(positives, skill)
        tables.append(pv.Counts(tp, rng.poisson(0.3, shape), positives - tp))
    return tables


def test_macro_tests_are_symmetric_and_repeat():
    a, b, c = macro_counts(1)
    there, back = macro_test(a, b, rng=4), macro_test(b, a, rng=4)
    assert (there.pvalue, there.n_resamples) == (back.pvalue, back.n_resamples)
    assert there.statistic == -back.statistic
    assert macro_test(a, b, rng=4, n_jobs=2).pvalue == there.pvalue
    several = macro_tests([(a, b), (a, c)], rng=4)
    assert several[1].pvalue < 0.05 < several[0].pvalue
    assert macro_tests([(a, b), (a, c)], rng=4, n_jobs=2)[1].pvalue == several[1].pvalue


def test_many_equal_units_are_drawn_as_one(monkeypatch):
    """Bits, and binomial variates where a kind of unit is frequent, have the same law."""
    a, b, _ = macro_counts(2, (2000, 1))
    exact = pv.randomization_test(pv.PairedCounts(_cases(a, b)), "f1", by="unit").pvalue
    for many in (1, 10**9):
        monkeypatch.setattr("probative.inference.sampled._FEWEST_UNITS_FOR_BINOMIAL", many)
        found = macro_test(a, b, n_resamples=20_000, rng=1)
        assert found.pvalue_low <= exact <= found.pvalue_high


def _cases(a, b):
    """One label: what both, one or neither finds; false ones are all different."""
    tp_a, tp_b, fp_a, fp_b, fn = (np.asarray(part)[:, 0] for part in (a.tp, b.tp, a.fp, b.fp, a.fn))
    both = np.minimum(tp_a, tp_b)
    neither = tp_a + fn - tp_a - tp_b + both
    extra = np.minimum(neither, 0)
    both, neither = both - extra, neither - extra
    return np.stack([tp_a - both, fp_a, tp_b - both, fp_b, both, 0 * both, neither], axis=1)


def test_draws_come_in_streams():
    numbers = []

    def draw(_, number, tests):
        numbers.append(number)
        return np.zeros(len(tests), dtype=int)

    module.sequential_pvalues(draw, 1, n_resamples=2052, rng=0)
    assert numbers == [1024, 1024, 4]
