"""Whole numbers that make the variance of a stratified total least."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probative.inference.stratified import allocate, sampling_variance, worth_in_random_units

STRATA = st.lists(
    st.tuples(st.integers(1, 6), st.one_of(st.just(0.0), st.floats(0.01, 5))),
    min_size=1,
    max_size=4,
)


def every_allocation(sizes, n, least):
    """All whole numbers within bounds that add up."""
    ranges = [range(min(low, size), size + 1) for size, low in zip(sizes, least, strict=True)]
    return [np.array(numbers) for numbers in product(*ranges) if sum(numbers) == n]


@settings(max_examples=200)
@given(STRATA, st.data())
def test_no_other_numbers_have_less_variance(strata, data):
    sizes, spreads = zip(*strata, strict=True)
    least = [data.draw(st.integers(0, size)) for size in sizes]
    n = data.draw(st.integers(sum(least), sum(sizes)))
    drawn = allocate(sizes, spreads, n, least)
    assert drawn.sum() == n
    assert (drawn >= least).all()
    assert (drawn <= sizes).all()
    best = min(sampling_variance(sizes, spreads, own) for own in every_allocation(sizes, n, least))
    assert sampling_variance(sizes, spreads, drawn) == pytest.approx(best, rel=1e-9)


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(1, 10**5), st.just(0.0) | st.floats(1e-6, 3)), min_size=1, max_size=12
    ),
    st.floats(0, 1),
)
def test_large_pools_are_placed_as_one_by_one(strata, share):
    sizes, spreads = map(np.array, zip(*strata, strict=True))
    n = int(share * min(sizes.sum(), 3000))
    drawn = allocate(sizes, spreads, n)
    slow = np.zeros(len(sizes), dtype=int)
    for _ in range(n):
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.where(slow < sizes, (sizes * spreads) ** 2 / (slow * (slow + 1)), -1)
            gain = np.where((slow == 0) & (sizes * spreads == 0), 0, gain)
        slow[np.argmax(gain)] += 1
    both = [sampling_variance(sizes, spreads, own) for own in (drawn, slow)]
    assert drawn.sum() == n
    assert both[0] == pytest.approx(both[1], rel=1e-9) or np.isinf(both).all()


def test_neyman_of_the_textbook():
    # N_h S_h = 10 : 20 : 30, so 60 units fall as 10, 20, 30
    assert allocate([100, 100, 100], [0.1, 0.2, 0.3], 60).tolist() == [10, 20, 30]


def test_more_or_fewer_than_there_are_is_refused():
    with pytest.raises(ValueError, match="expected 3 to 7"):
        allocate([3, 4], [1, 1], 8, [1, 2])


def test_variance_of_a_mean_by_all_samples():
    """The formula is the variance over all samples that could be drawn."""
    values = [np.array([1.0, 4.0, 4.0, 7.0]), np.array([0.0, 2.0, 9.0])]
    drawn = [2, 2]
    totals = [
        sum(len(v) * np.mean(own) for v, own in zip(values, both, strict=True))
        for both in product(*(combinations(v, k) for v, k in zip(values, drawn, strict=True)))
    ]
    spreads = [v.std(ddof=1) for v in values]
    assert sampling_variance([4, 3], spreads, drawn) == pytest.approx(np.var(totals))


def test_worth_of_a_random_sample_is_its_size():
    variance = sampling_variance([500], [0.7], [40])
    assert worth_in_random_units(variance, 0.7, 500) == pytest.approx(40)
    assert np.isnan(worth_in_random_units(0, 0, 500))
