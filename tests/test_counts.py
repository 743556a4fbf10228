from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import probative as pv
from probative.errors import InputError

amount = st.integers(0, 10**6)
table = st.builds(pv.Counts, amount, amount, amount, amount)
cases = st.lists(st.integers(0, 5), min_size=8, max_size=8)


def test_a_table_keeps_its_numbers_and_names_them():
    counts = pv.Counts(tp=77, fp=44, fn=10, tn=702)
    assert counts.to_dict() == {"tp": 77, "fp": 44, "fn": 10, "tn": 702}
    assert (counts.predicted, counts.positives, counts.nu) == (121, 87, 131)
    assert repr(counts) == "Counts(tp=77, fp=44, fn=10, tn=702)"
    assert repr(pv.Counts(1.5, 0, 2)) == "Counts(tp=1.5, fp=0, fn=2)"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tp": -1}, r"tp: -1 is not a finite number >= 0"),
        ({"fp": float("nan")}, r"fp: nan is not"),
        ({"fn": float("inf")}, r"fn: inf is not"),
        ({"tn": -0.5}, r"tn: -0.5 is not"),
        ({"tp": "many"}, r"tp: 'many' is not a number"),
        ({"tp": [1, 2]}, r"fp: shape \(\) differs from the shape of tp, \(2,\)"),
        ({"fn": None}, r"fn: .* is not a finite number"),
        ({"tp": [[1, 2], [3]]}, r"tp: .* is not a number or an array"),
    ],
)
def test_bad_fields_are_named(fields, message):
    with pytest.raises(ValueError, match=message):
        pv.Counts(**{"tp": 1, "fp": 1, "fn": 1, **fields})


def test_arrays_are_tables_of_their_own():
    counts = pv.Counts([1, 2, 3], [0, 1, 0], [4, 5, 6])
    assert len(counts) == 3
    assert counts[1] == pv.Counts(2, 1, 5)
    assert counts[counts.fp == 0] == pv.Counts([1, 3], [0, 0], [4, 6])
    assert list(counts)[2] == counts[2]
    assert counts.sum() == pv.Counts(6, 1, 15)
    assert sum(list(counts)) == counts.sum()
    with pytest.raises(TypeError, match="no length"):
        len(pv.Counts(1, 1, 1))


@given(table, table, st.floats(0, 100))
def test_addition_and_scaling_are_linear(a, b, weight):
    assert a + b == b + a
    left, right = (a + b) * weight, weight * a + weight * b
    for name in ("tp", "fp", "fn", "tn"):
        assert getattr(left, name) == pytest.approx(getattr(right, name), rel=1e-12)
    assert (a / 4) * 4 == a


def test_tables_that_do_not_fit_are_not_added():
    with pytest.raises(ValueError, match="tn: one of the two"):
        pv.Counts(1, 1, 1) + pv.Counts(1, 1, 1, 1)
    with pytest.raises(ValueError, match="shapes"):
        pv.Counts(1, 1, 1) + pv.Counts([1], [1], [1])


def test_counts_from_labels():
    gold = np.array(["spam", "ham", "spam", "eggs"])
    pred = ["spam", "spam", "ham", "ham"]
    assert pv.Counts.from_labels(gold, pred, positive="spam") == pv.Counts(1, 1, 1, 1)
    assert pv.Counts.from_labels([1, 0], [1, 1]) == pv.Counts(1, 1, 0, 0)
    # a label that is not there, of another type, is nobody's answer
    assert pv.Counts.from_labels([1, 0], [1, 1], positive="x") == pv.Counts(0, 0, 0, 2)
    with pytest.raises(ValueError, match="pred: 3 items, but gold has 2"):
        pv.Counts.from_labels([1, 0], [1, 0, 1])
    with pytest.raises(ValueError, match=r"gold: item 1 is \[1\]; expected text"):
        pv.Counts.from_labels([[1], [0]], [1, 0])


LABELS = st.lists(st.tuples(*[st.booleans()] * 3, st.integers(0, 4)), min_size=1, max_size=40)


@given(LABELS)
def test_paired_labels_agree_with_single_ones(rows):
    gold, a, b, unit = (list(column) for column in zip(*rows, strict=True))
    paired = pv.PairedCounts.from_labels(gold, a, b, positive=True)
    assert paired.a == pv.Counts.from_labels(gold, a, positive=True)
    assert paired.b == pv.Counts.from_labels(gold, b, positive=True)
    by_unit = pv.PairedCounts.from_labels(gold, a, b, positive=True, units=unit)
    assert by_unit.n_units == len(set(unit))
    assert by_unit.total() == paired
    assert by_unit.grouped().total() == paired
    assert by_unit.grouped().n_units == by_unit.n_units
    assert by_unit.swapped().a == by_unit.b
    first = [i for i, u in enumerate(unit) if u == unit[0]]
    alone = pv.PairedCounts.from_labels(
        *([c[i] for i in first] for c in (gold, a, b)), positive=True
    )
    np.testing.assert_array_equal(by_unit.cases[0], alone.cases)


SPANS = st.sets(st.tuples(st.integers(0, 3), st.integers(4, 6), st.sampled_from("AB")), max_size=5)


@given(st.lists(st.tuples(SPANS, SPANS, SPANS), min_size=1, max_size=8))
def test_paired_spans_count_what_the_sets_hold(sentences):
    gold, a, b = zip(*sentences, strict=True)
    paired = pv.PairedCounts.from_spans(gold, a, b)
    assert not paired.has_negatives
    assert paired.n_units == len(gold)
    np.testing.assert_array_equal(paired.a.tp, [len(g & x) for g, x in zip(gold, a, strict=True)])
    np.testing.assert_array_equal(paired.a.fp, [len(x - g) for g, x in zip(gold, a, strict=True)])
    np.testing.assert_array_equal(paired.b.fn, [len(g - y) for g, y in zip(gold, b, strict=True)])
    assert paired.a.tn is None
    items = [len(g | x | y) for g, x, y in zip(gold, a, b, strict=True)]
    np.testing.assert_array_equal(paired.cases.sum(axis=1), items)


@given(st.lists(st.tuples(cases, st.integers(1, 3)), min_size=1, max_size=10))
def test_grouping_changes_nothing_but_the_storage(rows):
    table, multiplicity = (list(column) for column in zip(*rows, strict=True))
    paired = pv.PairedCounts(table, multiplicity)
    grouped = paired.grouped()
    assert grouped.total() == paired.total()
    assert len(np.unique(grouped.cases, axis=0)) == len(grouped.cases)
    assert grouped.n_units == paired.n_units == sum(multiplicity)
    assert sorted(grouped.a.tp) == sorted(paired.a.tp)
    scaled = (paired * 0.3).grouped()  # fractions take the other way of telling rows apart
    np.testing.assert_allclose(scaled.total().cases, 0.3 * paired.total().cases)
    assert len(scaled.cases) == len(grouped.cases)


def test_paired_tables_add_scale_and_join():
    one = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
    assert (one + one).cases[0] == 6
    assert sum([one, one]) == 2 * one
    units = pv.PairedCounts([[1, 0, 0, 0, 2, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 5]])
    assert (units + units).total() == 2 * units.total()
    joined = pv.PairedCounts.concatenate([units, units.grouped()])
    assert joined.n_units == 4
    assert joined.total() == 2 * units.total()
    with pytest.raises(ValueError, match="multiplicity"):
        units.grouped() + units.grouped()
    with pytest.raises(ValueError, match="shapes"):
        one + units
    with pytest.raises(ValueError, match="case 7"):
        one + pv.PairedCounts([1] * 7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1] * 6,), r"cases: shape \(6,\); expected 8 numbers"),
        (([1] * 7 + [-1],), "cases: -1 is not a finite number"),
        (([1] * 8, [1]), "multiplicity: needs one row"),
        (([[1] * 8], [1, 2]), "multiplicity: shape"),
        (([[1] * 8], [1.5]), "multiplicity: 1.5 is not a whole number"),
        (([[1] * 8], [-1]), "multiplicity: -1 is not"),
    ],
)
def test_bad_cases_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        pv.PairedCounts(*arguments)


def test_paired_inputs_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="b: 1 items, but gold has 2"):
        pv.PairedCounts.from_labels([1, 0], [1, 0], [1])
    with pytest.raises(ValueError, match="units: 1 items"):
        pv.PairedCounts.from_labels([1, 0], [1, 0], [1, 1], units=[0])
    with pytest.raises(ValueError, match="a: 2 sentences, but gold has 1"):
        pv.PairedCounts.from_spans([set()], [set(), set()], [set()])


def test_counts_are_copies_that_cannot_be_changed():
    tp, cases, number = np.array([1.0, 2.0]), np.ones((2, 8)), np.array([1, 2])
    counts, paired = pv.Counts(tp, tp, tp), pv.PairedCounts(cases, number)
    seven = pv.PairedCounts(np.ones((2, 7)))
    tp[0] = cases[0, 0] = number[0] = 99
    assert counts == pv.Counts([1, 2], [1, 2], [1, 2])
    assert paired == pv.PairedCounts(np.ones((2, 8)), [1, 2])
    for array in (counts.tp, paired.cases, paired.multiplicity, seven.cases, paired.a.tp):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5


@pytest.mark.parametrize("wrong", ["1", "1_000", "٣", ["1"], b"1", 1j, None, [[1], [1, 2]]])
def test_what_is_no_count_is_refused(wrong):
    with pytest.raises(pv.InputError, match="tp: "):
        pv.Counts(wrong, 1, 1)


@pytest.mark.parametrize("wrong", [1e300, 10**400, 2**53 + 2, [1, 1e300]])
def test_counts_have_a_limit(wrong):
    with pytest.raises(pv.InputError, match="tp: "):
        pv.Counts(wrong, 1, 1)
    assert pv.Counts(2**53, 1, 1).tp == 2**53


def test_masked_counts_are_refused():
    with pytest.raises(pv.InputError, match="tp: 1 values are masked"):
        pv.Counts(np.ma.array([1, 2], mask=[0, 1]), [1, 1], [1, 1])


def test_stacked_tables_add_up_along_an_axis():
    tables = [pv.Counts(1, 2, 3, 4), pv.Counts(5, 6, 7, 8)]
    assert pv.Counts.stacked(tables).shape == (2,)
    assert pv.Counts.stacked(tables).sum(axis=0) == tables[0] + tables[1]
    with pytest.raises(pv.InputError, match="tn"):
        pv.Counts.stacked([tables[0], pv.Counts(1, 2, 3)])
    with pytest.raises(pv.InputError, match="shapes"):
        pv.Counts.stacked([tables[0], pv.Counts([1], [2], [3], [4])])


def test_a_slice_of_tables_is_read_only():
    part = pv.Counts([1, 2, 3], [4, 5, 6], [7, 8, 9])[1:]
    assert part == pv.Counts([2, 3], [5, 6], [8, 9])
    with pytest.raises(ValueError, match="read-only"):
        part.tp[0] = 7


def test_computed_cases_are_refused_as_given_ones_are():
    one, two = (pv.PairedCounts([range(1, 9)] * n, number) for n, number in ((1, [2]), (2, None)))
    with pytest.raises(InputError, match=r"multiplicity: shape \(1,\)"):
        one * np.array([[1.0], [2.0]])
    with pytest.raises(InputError, match=r"cases: shape \(2, 2, 8\)"):
        two * np.ones((2, 1, 1))
    huge = pv.PairedCounts([[1] * 8] * 1025, [2**53] * 1025)
    with pytest.raises(InputError, match=r"multiplicity: .* too large"):
        huge.grouped()
    with pytest.raises(InputError, match=r"cases: .* too large"):
        pv.PairedCounts([2**53] * 8) * 2
    with pytest.raises(InputError, match=r"tp: .* too large"):
        _ = pv.PairedCounts([2**53] * 8).a
    for made in (two * 2, two.grouped(), two.swapped(), two.total()):
        with pytest.raises(ValueError, match="read-only"):
            made.cases[..., 0] = 9
        with pytest.raises(ValueError, match="read-only"):
            np.atleast_1d(two.a.tp)[0] = 9


def test_no_units_stay_no_units():
    none = pv.PairedCounts(np.zeros((0, 8)), [])
    assert none.grouped() == none.swapped() == none
    assert none.n_units == 0
    assert not none.total().cases.any()
