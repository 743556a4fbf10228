"""Krippendorff's alpha: the krippendorff package's values, limits, corners."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from probative.errors import InputError
from probative.inference.agreement import Ratings, alpha_interval

codes_of = st.tuples(st.integers(2, 5), st.integers(1, 12)).flatmap(
    lambda size: arrays(np.int64, size, elements=st.integers(-1, 3))
)


@given(codes_of)
def test_values_are_those_of_the_krippendorff_package(codes):
    own = alpha_interval(Ratings(codes, 4)).estimate
    paired = codes[:, (codes >= 0).sum(axis=0) > 1]
    if len(np.unique(paired[paired >= 0])) < 2:
        assert np.isnan(own)
        return
    table = np.where(codes < 0, np.nan, codes.astype(float))
    expected = krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")
    assert own == pytest.approx(expected, abs=1e-12)


def drawn(seed, items=60, annotators=3):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, items)
    size = (annotators, items)
    codes = np.where(rng.random(size) < 0.3, rng.integers(0, 3, size), truth)
    codes[rng.random(size) < 0.1] = -1
    return codes


def test_limits_do_not_depend_on_the_order_of_annotators_items_or_labels():
    codes = drawn(1)
    first = alpha_interval(Ratings(codes, 3))
    other = np.array([2, 0, 1, -1])[codes[::-1, ::-1]]
    second = alpha_interval(Ratings(other, 3))
    assert (second.low, second.high) == pytest.approx((first.low, first.high))
    assert first.low < first.estimate < first.high


def test_the_reach_is_about_that_of_leaving_out_items():
    codes = drawn(2, items=400)
    left = [alpha_interval(Ratings(np.delete(codes, k, axis=1), 3)).estimate for k in range(400)]
    error = np.sqrt(399 / 400 * np.sum((np.array(left) - np.mean(left)) ** 2))
    own = alpha_interval(Ratings(codes, 3))
    assert (own.high - own.low) / 2 == pytest.approx(1.96 * error, rel=0.1)


def test_copies_of_an_item_are_worth_one_item_if_they_are_one_unit():
    codes = drawn(3)
    alone = alpha_interval(Ratings(codes, 3))
    units = np.repeat(np.arange(codes.shape[1]), 5)
    together = alpha_interval(Ratings(np.repeat(codes, 5, axis=1), 3, units))
    assert together.design_effect == pytest.approx(5, rel=0.1)
    assert (together.low, together.high) == pytest.approx((alone.low, alone.high), abs=0.03)


def test_annotators_who_never_differ_are_not_sure():
    own = alpha_interval(Ratings(np.tile([0, 1, 0], (2, 10)), 2))
    assert own.estimate == own.high == 1
    assert 0.3 < own.low < 0.9


def test_corners():
    one_label = alpha_interval(Ratings(np.zeros((2, 5), dtype=np.int64), 1))
    assert np.isnan(one_label.estimate)
    assert "one label" in one_label.note
    apart = alpha_interval(Ratings(np.array([[0, -1, 1], [-1, 0, -1]]), 2))
    assert np.isnan(apart.estimate)
    assert "two annotators" in apart.note
    single = alpha_interval(Ratings(np.array([[0], [1]]), 2))
    assert (single.low, single.high) == (-1, 1)
    with pytest.raises(InputError, match=r"^annotators: shape \(1, 3\)"):
        Ratings(np.zeros((1, 3), dtype=np.int64), 1)


def test_kinds_of_items_change_nothing(monkeypatch):
    rng = np.random.default_rng(7)
    codes, units = rng.integers(-1, 3, (3, 60)), rng.integers(0, 20, 60)
    assert len(Ratings(codes, 3).kinds[0]) < 60
    merged = [alpha_interval(Ratings(codes, 3, own)) for own in (None, units)]
    monkeypatch.setattr("probative.inference.agreement._SHORT_TABLE", 0)
    assert len(Ratings(codes, 3).kinds[0]) == 60  # fewer items than there could be kinds
    single = [alpha_interval(Ratings(codes, 3, own)) for own in (None, units)]
    for one, other in zip(merged, single, strict=True):
        for name in ("estimate", "low", "high"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-13)
