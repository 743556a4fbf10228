from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import probative as pv
from probative.counts import LabelCounts
from probative.inference.macro import label_dependence, macro_interval
from probative.inference.units import dependence_of_score

small = st.lists(st.tuples(*[st.integers(0, 3)] * 6), min_size=1, max_size=300)


def cells_of(rows, factor=1.0):
    """Units with two labels each."""
    table = factor * np.array(rows, dtype=float).reshape(-1, 2, 3)
    return LabelCounts.from_table(pv.Counts(*np.moveaxis(table, -1, 0)))


@given(small)
def test_kinds_hold_what_the_cells_hold(rows):
    cells = cells_of(rows)
    kinds, number, kind = cells.kinds
    assert number.sum() == len(cells.label)
    assert kinds.label[kind].tolist() == cells.label.tolist()
    assert kinds.counts.tp[kind].tolist() == cells.counts.tp.tolist()
    for one, all_of_them in zip(
        (kinds.counts.tp, kinds.counts.fp, kinds.counts.fn),
        (cells.counts.tp, cells.counts.fp, cells.counts.fn),
        strict=True,
    ):
        assert kinds.sum_by_label(number * one).tolist() == cells.sum_by_label(all_of_them).tolist()


def test_many_equal_cells_are_few_kinds_and_fractions_are_none():
    rows = np.random.default_rng(0).integers(0, 3, (5000, 6))
    kinds, _, _ = cells_of(rows).kinds
    assert len(kinds.label) == 2 * 27
    halves = cells_of(rows, 0.5)
    kinds, number, kind = halves.kinds
    assert kinds is halves
    assert set(number.tolist()) == {1.0}
    assert kind.tolist() == list(range(len(halves.label)))


@pytest.mark.parametrize("metric", ["precision", "recall", "f1", "jaccard"])
def test_dependence_by_kinds_is_that_of_the_units(metric):
    rows = np.random.default_rng(1).integers(0, 4, (3000, 6))
    cells = cells_of(rows)
    effect, _, freedom = label_dependence(cells, metric)
    for label in range(2):
        units = cells.counts[cells.label == label]
        expected = dependence_of_score(units, metric)
        assert effect[label] == pytest.approx(expected.design_effect, rel=1e-10)
        assert freedom[label] == pytest.approx(expected.degrees_of_freedom, rel=1e-12)


def test_units_that_stand_for_several_are_those_written_out():
    from probative.inference.macro import macro_interval
    from probative.inference.macro_comparison import macro_difference

    rng = np.random.default_rng(0)
    number = np.array([3, 1, 5, 2, 4])
    sides = []
    for _ in range(2):
        cells = LabelCounts.from_table(pv.Counts(*rng.integers(0, 4, (3, 5, 3))))
        sides.append(LabelCounts(cells.unit, cells.label, cells.counts, 5, 3, number))
    out = [side.written_out() for side in sides]
    assert out[0].n_units == number.sum()
    assert out[0].by_label == sides[0].by_label
    for metric in ("f1", "precision"):
        one, other = macro_interval(sides[0], metric), macro_interval(out[0], metric)
        assert (one.estimate, one.low, one.high) == pytest.approx(
            (other.estimate, other.low, other.high), rel=1e-9
        )
        gaps = [macro_difference(*both, metric)[0] for both in (sides, out)]
        assert (gaps[0].low, gaps[0].high, gaps[0].correlation) == pytest.approx(
            (gaps[1].low, gaps[1].high, gaps[1].correlation), rel=1e-9
        )


@pytest.mark.parametrize("n_labels", [2, 5, 60])
def test_cells_of_equal_items_say_what_the_cells_of_all_items_say(n_labels):
    rng = np.random.default_rng(n_labels)
    gold = rng.integers(0, n_labels, 200)
    given = np.where(rng.random(200) < 0.6, gold, rng.integers(0, n_labels, 200))
    merged = LabelCounts.from_classes(gold, given, n_labels)
    labels = np.arange(n_labels)
    is_gold, is_given = gold[:, None] == labels, given[:, None] == labels
    table = pv.Counts(is_gold & is_given, ~is_gold & is_given, is_gold & ~is_given)
    full = LabelCounts.from_table(table)
    assert merged.by_label == full.by_label
    assert len(merged.unit) < 400
    for metric in ("precision", "recall", "f1"):
        ours, theirs = (macro_interval(cells, metric) for cells in (merged, full))
        numbers = [(one.estimate, one.low, one.high) for one in (ours, theirs)]
        assert numbers[0] == pytest.approx(numbers[1], abs=1e-12)
