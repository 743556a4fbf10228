"""Columns of a table as data, and pictures that both back ends draw."""

from __future__ import annotations

import math
from typing import NamedTuple

import pytest

from probative.reporting.document import Column, Strong, Table, Words
from probative.reporting.pictures import Bar, Forest, Lines, Series, figure, svg
from probative.wording.numbers import points


class Entry(NamedTuple):
    name: str
    difference: float
    low: float
    high: float
    units: int = 1234
    note: str | None = None


ENTRIES = [Entry("a", 0.01, -0.02, 0.04), Entry("b", math.nan, 0.0, 1.0, note="few")]


def build(**how):
    columns = [
        Words("system", lambda e: Strong(e.name) if e.name == "a" else e.name),
        Column("units", drop=2),
        Column("difference", form=points),
        Column("p", "no such attribute", when=False),
        Column("low", form=points, drop=1),
        Words("note"),
    ]
    return Table.of(ENTRIES, *columns, notes=("kept", ""), track="difference", **how)


def test_a_column_names_its_value_its_form_and_its_place():
    table = build(track_before="difference")
    assert table.columns == ("system", "units", "difference", "low", "note")
    assert table.rows == (("a", "1,234", "1.00", "−2.00", ""), ("b", "1,234", "–", "0.00", "few"))
    assert isinstance(table.rows[0][0], Strong)
    assert table.word_columns == (True, False, False, False, True)
    assert table.droppable == (3, 1)
    assert table.notes == ("kept",)
    assert table.track_column == 2
    assert table.tracks.zero
    assert table.tracks.rows == ((0.01, -0.02, 0.04), None)
    assert build().track_column is None


def test_a_column_that_nobody_has_is_an_error():
    with pytest.raises(AttributeError, match="nothing"):
        Table.of(ENTRIES, Column("nothing"))


def test_both_back_ends_draw_the_same_intervals():
    bars = [Bar("old $x$", 0.40, 0.38, 0.42, marked=True), Bar("new", 0.44, 0.41, 0.47)]
    (axis,) = figure(Forest(bars, axis="F1, points", note="95 % intervals")).axes
    ends = [tuple(line.get_xdata()) for line in axis.lines if len(line.get_xdata()) == 2]
    assert ends == [pytest.approx((38, 42)), pytest.approx((41, 47))]
    assert axis.get_xlabel() == "F1, points, 95 % intervals"
    assert [label.get_text() for label in axis.get_yticklabels()] == [r"old \$x\$", "new"]


def test_lines_of_two_systems_have_the_colours_of_baseline_and_challenger():
    x = [0.1, 0.5, 0.9]
    series = [Series(name, x, [0.2, 0.4, 0.6], [0.1] * 3, [0.7] * 3) for name in ("old", "new")]
    lines = Lines(series, axis="recall", up="precision, points", baseline=True)
    drawn = svg(lines)
    assert drawn.index('class="curve s1"') < drawn.index('class="curve s0"')
    (axis,) = figure(lines).axes
    assert [line.get_color() for line in axis.lines] == ["#d55e00", "#0072b2"]
    assert axis.get_ylabel() == "precision, points"
