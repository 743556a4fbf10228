"""Integers in arrays are read as the same numbers in lists are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import probative as pv
from probative.labels import factorise, place_of_unhashable

LARGE = 2**63 - 1


@given(st.lists(st.integers(-LARGE - 1, LARGE), max_size=30), st.integers(0, 60))
def test_arrays_and_lists_have_the_same_codes(values, shift):
    values = [value >> shift for value in values]
    codes, distinct = factorise(np.array(values, dtype=np.int64))
    assert [distinct[code] for code in codes] == values
    assert len(set(distinct)) == len(distinct)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "bool"])
def test_small_integers_do_not_overflow(kind):
    limits = [0, 1] if kind == "bool" else [np.iinfo(kind).min, np.iinfo(kind).max, 0]
    codes, distinct = factorise(np.array(limits, dtype=kind))
    assert [distinct[code] for code in codes] == limits


def test_the_largest_unsigned_integers():
    values = np.array([2**64 - 1, 2**64 - 2, 2**64 - 1], dtype=np.uint64)
    codes, distinct = factorise(values)
    assert [distinct[code] for code in codes] == values.tolist()


def test_the_first_value_that_is_not_hashable_is_named():
    assert place_of_unhashable(["a", 1, [], []]) == 2
    with pytest.raises(pv.InputError, match="item 3 is"):
        pv.score(["a", "b", []], ["a", "b", "a"])
