"""Figures of the page."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probative.reporting.pictures import (
    Bar,
    Curve,
    Densities,
    Density,
    Forest,
    Histogram,
    Lines,
    Series,
    svg,
)

WORDS = {"axis": "difference, points", "title": "A figure", "description": "What it shows"}
SVG = "{http://www.w3.org/2000/svg}"


def parsed(picture):
    root = ET.fromstring(svg(picture))  # noqa: S314  # our own text
    width, height = map(float, root.get("viewBox").split()[2:])
    return root, width, height


def numbers(root, *names):
    return [float(e.get(name)) for e in root.iter() for name in names if e.get(name) is not None]


def inside(picture):
    """Every shape stays on the canvas."""
    root, width, height = parsed(picture)
    assert all(0 <= x <= width for x in numbers(root, "x1", "x2", "cx", "x"))
    assert all(0 <= y <= height for y in numbers(root, "y1", "y2", "cy", "y"))
    for shape in root.iter():
        for point in (shape.get("points") or "").split():
            x, y = map(float, point.split(","))
            assert -1e-6 <= x <= width
            assert -1e-6 <= y <= height
    return root


def test_a_forest_plot_is_to_scale():
    bars = [Bar("old", 0.40, 0.38, 0.42, marked=True), Bar("new", 0.44, 0.41, 0.47)]
    root = inside(Forest(bars, **WORDS))
    limits = [e for e in root.iter(f"{SVG}line") if e.get("class").startswith("limits")]
    lengths = [float(e.get("x2")) - float(e.get("x1")) for e in limits]
    assert lengths[1] / lengths[0] == pytest.approx(0.06 / 0.04, abs=0.01)
    centres = [float(e.get("cx")) for e in root.iter(f"{SVG}circle")]
    assert centres[1] - centres[0] == pytest.approx(lengths[0], abs=0.3)
    assert [e.get("class") for e in root.iter(f"{SVG}circle")] == ["estimate marked", "estimate"]


def test_the_line_of_no_difference_is_on_the_canvas():
    root = inside(Forest([Bar("x", 0.3, 0.2, 0.4)], zero=True, **WORDS))
    assert [e for e in root.iter(f"{SVG}line") if e.get("class") == "zero"]


def test_an_undefined_score_says_so():
    root = inside(Forest([Bar("x", math.nan, 0.0, 1.0), Bar("y", 0.5, 0.4, 0.6)], **WORDS))
    assert "undefined" in [e.text for e in root.iter(f"{SVG}text")]
    inside(Forest([Bar("x", math.nan, 0.0, 1.0)], **WORDS))


@given(
    st.lists(
        st.tuples(st.text(max_size=60), *[st.floats(0, 1)] * 3),
        min_size=1,
        max_size=5,
    ),
    st.booleans(),
)
def test_whatever_the_bars(rows, zero):
    bars = [Bar(name, *sorted(values)[1::-1], sorted(values)[2]) for name, *values in rows]
    root = inside(Forest(bars, zero=zero, **WORDS))
    ticks = [e.text for e in root.iter(f"{SVG}text") if e.get("class") == "tick"]
    assert len(ticks) >= 2  # at least one figure, and the name of the axis
    assert len(set(ticks)) == len(ticks)


def test_a_density_with_its_region():
    x = [i / 1000 for i in range(-40, 61)]
    y = [math.exp(-0.5 * ((v - 0.01) / 0.015) ** 2) for v in x]
    names, chances = ("old", "new"), ("0.100", "0.200", "0.700")
    root = inside(Density(x, y, 0.01, names, chances, **WORDS))
    (region,) = [e for e in root.iter(f"{SVG}rect") if e.get("class") == "rope"]
    (zero,) = [e for e in root.iter(f"{SVG}line") if e.get("class") == "zero"]
    middle = float(region.get("x")) + float(region.get("width")) / 2
    assert middle == pytest.approx(float(zero.get("x1")), abs=0.2)
    words = [e.text for e in root.iter(f"{SVG}text") if e.get("class").startswith("share")]
    assert words == ["old", "better: 0.100", "new", "better: 0.700"]
    areas = {e.get("class"): e.get("points") for e in root.iter(f"{SVG}polygon")}
    assert list(areas) == ["area baseline", "area"]
    left, right = float(region.get("x")), float(region.get("x")) + float(region.get("width"))
    ends = {k: [float(p.split(",")[0]) for p in v.split()] for k, v in areas.items()}
    assert max(ends["area baseline"]) == pytest.approx(left, abs=0.2)
    assert min(ends["area"]) == pytest.approx(right, abs=0.2)
    inside(Density(x, y, 1.0, names, chances, **WORDS))
    inside(Density(x, y, 0.0, names, chances, **WORDS))


def test_a_null_distribution_colours_what_is_as_extreme():
    edges = [-0.03, -0.02, -0.01, 0.01, 0.02, 0.03]
    shares = [0.05, 0.2, 0.5, 0.2, 0.05]
    root = inside(Histogram(edges, shares, -0.02, **WORDS))
    kinds = [e.get("class") for e in root.iter(f"{SVG}rect")]
    assert kinds == ["bin extreme", "bin", "bin", "bin", "bin extreme"]
    heights = [float(e.get("height")) for e in root.iter(f"{SVG}rect")]
    assert max(heights) == pytest.approx(120)
    assert heights[2] / heights[1] == pytest.approx((0.5 / 0.02) / (0.2 / 0.01), abs=0.01)


def test_words_are_escaped_and_long_ones_cut():
    hostile = '"/><script>alert(1)</script>\x1b\u202e'
    picture = Forest(
        [Bar(hostile, 0.5, 0.4, 0.6), Bar("名" * 300, 0.5, 0.4, 0.6)],
        axis=hostile,
        title=hostile,
        description=hostile,
    )
    root = inside(picture)
    assert {e.tag for e in root.iter()} <= {f"{SVG}{t}" for t in ("svg", "line", "text", "circle")}
    assert len(max((e.text or "" for e in root.iter()), key=len)) < 100
    assert not re.search(r"[\x00-\x1f\u202e]", svg(picture))


def test_densities_name_every_model_once_and_stay_inside():
    x = [0.6 + i / 100 for i in range(30)]
    curves = [
        Curve(name, x, [float(i % 9) for i in range(30)], marked=name == "a", dashed=dashed)
        for name in ("a", "<b>" * 40)
        for dashed in (False, True)
    ]
    picture = Densities(curves, axis="F1, points", title="t", description="d")
    root = inside(picture)
    kinds = [part.get("class") for part in root]
    assert kinds.count("named") == kinds.count("named marked") == 1
    drawn = [part.get("class") for part in root if part.tag == f"{SVG}polyline"]
    swatches = [k for k in kinds if k.startswith("curve")][: len(drawn) // 2]
    assert swatches == ["curve marked", "curve"]
    assert drawn == [
        "curve marked",
        "curve marked dashed",
        "curve",
        "curve dashed",
    ]


def test_ticks_are_not_cut_off():
    x = [0.99801 + i * 0.0000333 for i in range(30)]
    words = {**WORDS, "axis": "F1"}
    root, width, _ = parsed(Density(x, [1.0] * 30, 0.0, ("", ""), ("", "", ""), **words))
    for tick in root.iter(f"{SVG}text"):
        half = 8.6 / 2 * len(tick.text or "")
        if tick.get("class") == "tick":
            assert half - 0.1 <= float(tick.get("x")) <= width - half + 0.1


def test_lines_leave_out_what_is_undefined_and_stay_inside():
    nan, x = math.nan, [0.0, 0.5, 1.0]
    series = [
        Series("precision", x, [nan, 0.4, 0.6], [nan, 0.3, 0.5], [nan, 0.5, 0.7]),
        Series("recall", x, [0.1, 0.2, 0.3], [0.0, 0.1, 0.2], [0.2, 0.3, 0.4]),
        Series("nothing", x, [nan] * 3, [nan] * 3, [nan] * 3, ranges=((0.5, 1.0),)),
    ]
    root = inside(Lines(series, **WORDS))
    drawn = {e.get("class"): e.get("points") for e in root.iter(f"{SVG}polyline")}
    assert {kind: len(points.split()) for kind, points in drawn.items()} == {
        "curve s0": 2,
        "curve s1": 3,
    }
    assert "nan" not in ET.tostring(root, encoding="unicode")


def test_a_histogram_ends_where_nothing_can_be():
    edges = [-3.0, -2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 3.0]
    shares = [0.0, 0.0, 0.25, 0.5, 0.25, 0.0, 0.0]
    words = {"axis": "x", "title": "t", "description": "d"}
    drawn = svg(Histogram(edges, shares, 0.5, **words))
    assert drawn == svg(Histogram(edges[2:6], shares[2:5], 0.5, **words))
    assert ">200<" not in drawn
    assert svg(Histogram([-1.0, 1.0], [0.0], 0.0, **words)).count("<rect") == 1
