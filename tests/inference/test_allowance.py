"""The shares of a test set's looks: never more than everything, whatever the verdicts."""

from __future__ import annotations

from itertools import product

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from probative.errors import InputError
from probative.inference.allowance import (
    allowance,
    looks_left,
    share_of_adaptive,
    share_of_independent,
)


def share(tries):
    """The formula as it is written, in many digits: 2^-(j+1) times 6/(pi²g²) of every try."""
    whole = mpmath.mpf(1)
    for g in tries:
        whole *= 6 / (mpmath.pi**2 * mpmath.mpf(g) ** 2)
    return whole / 2 ** len(tries)


def test_the_shares_are_those_of_the_formulas():
    assert share_of_independent(7) == pytest.approx(float(6 / (mpmath.pi**2 * 49)), rel=1e-14)
    for tries in ([1], [4], [1, 1], [3, 2, 5]):
        assert share_of_adaptive(tries) == pytest.approx(float(share(tries)), rel=1e-14)
    assert allowance("adaptive", [False, False, True, False, True], 0.05) == pytest.approx(
        float(share([3, 2, 1])) * 0.05, rel=1e-13
    )
    assert allowance("independent", [True, False], 0.1) == pytest.approx(
        0.1 * 6 / (9 * float(mpmath.pi) ** 2), rel=1e-13
    )


@pytest.mark.parametrize("depth", [1, 3, 8, 12])
def test_all_histories_of_verdicts_together_get_no_more_than_everything(depth):
    """Every node of the tree of verdicts is one look; all looks together spend at most alpha."""
    spent = mpmath.mpf(0)
    for level in range(depth):
        for verdicts in product((False, True), repeat=level):
            spent += mpmath.mpf(allowance("adaptive", verdicts, 0.05))
    assert spent < 0.05
    if depth == 12:
        assert spent > 0.03  # and the bound is not an empty one


def test_the_tree_is_spent_in_the_limit():
    # with j passes the shares of all histories sum up to 2^-(j+1)
    several = mpmath.nsum(lambda g: share([g]), [1, mpmath.inf])
    assert mpmath.almosteq(several, mpmath.mpf("0.5"), 1e-12)
    assert mpmath.almosteq(mpmath.nsum(lambda j: several**j, [1, mpmath.inf]), 1, 1e-12)
    alone = mpmath.nsum(lambda k: 6 / (mpmath.pi * k) ** 2, [1, mpmath.inf])
    assert mpmath.almosteq(alone, 1, 1e-12)


@given(st.lists(st.booleans(), max_size=40), st.sampled_from(("adaptive", "independent")))
def test_worn_out_is_twice_the_difference_of_the_first_look(verdicts, candidates):
    first = stats.norm.isf(allowance(candidates, [], 0.05))
    now = stats.norm.isf(allowance(candidates, verdicts, 0.05))
    assert (looks_left(candidates, verdicts) == 0) == (now >= 2 * first)
    left = looks_left(candidates, verdicts)
    assert looks_left(candidates, [*verdicts, *[False] * left]) == 0
    if left:
        assert looks_left(candidates, [*verdicts, *[False] * (left - 1)]) > 0


def test_what_is_no_way_of_making_candidates_is_refused():
    with pytest.raises(InputError, match="candidates: unknown 'lucky'; expected one of adaptive"):
        allowance("lucky", [])
