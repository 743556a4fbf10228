"""Draw pictures for the page as SVG, with colours from the style of the page.

They follow the reader's light or dark mode, need no font and no script, and the same input gives
the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import pairwise
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from probative.reporting.escape import plain
from probative.reporting.pictures import (
    Densities,
    Density,
    Forest,
    Histogram,
    Lines,
    Picture,
    Shares,
)
from probative.wording.numbers import factor, number, points

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WIDTH = 560.0  # a figure over the full page
_HALF = 400.0  # one of two figures side by side
_MARGIN = 14.0
_ROW_HEIGHT = 26.0
_NAME_HEIGHT = 20.0  # height of a name above its row
_WIDEST_NAME_BESIDE = 200.0  # widest name that is set beside its row
_AXIS_HEIGHT = 43.0  # height of ticks and the name of the axis
_SWATCH = 30.0  # width of a piece of a line in a legend, with the gap before the name
_COLOURS = 6  # of series, in the style of the page


def svg(picture: Picture) -> str:
    """Return a picture as SVG, with its description for those who cannot see it."""
    parts, height, width = _KINDS[type(picture)](picture)
    kind = "wide" if width == _WIDTH else "half"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(plain(picture.description), quote=True)}">{"".join(parts)}</svg>'
    )


def _forest(forest: Forest) -> _Drawn:
    bars, zero = forest.bars, forest.zero
    defined = [bar for bar in bars if bar.estimate == bar.estimate]
    values = [v for bar in defined for v in (bar.low, bar.high, *bar.runs)] + [0.0] * zero
    widest = max((_text_width(bar.name) for bar in bars), default=0)
    beside = widest <= _WIDEST_NAME_BESIDE
    left, row = (widest + 12, _ROW_HEIGHT) if beside else (_MARGIN, _ROW_HEIGHT + _NAME_HEIGHT)
    scale = _Scale.around(values or [0.0, 1.0], left, _WIDTH - _MARGIN)
    bottom = _MARGIN + row * len(bars)
    parts = scale.axis(bottom, forest.axis)
    for i, bar in enumerate(bars):
        half = _ROW_HEIGHT / 2
        y = _MARGIN + row * (i + 1) - half
        if zero:  # it does not cross the names above the rows
            parts.append(_line(scale(0), y - half, scale(0), y + half, "zero"))
        if beside:
            parts.append(_text(left - 10, y + 4, bar.name, "name", "end"))
        else:
            parts.append(_text(left, y - _NAME_HEIGHT + 6, _short(bar.name), "name", "start"))
        if bar not in defined:
            parts.append(_text(scale.left + 4, y + 4, "undefined", "tick", "start"))
            continue
        kind = " marked" * bar.marked + " pale" * bar.pale
        parts += (
            f'<circle class="run{kind}" cx="{scale(run):.1f}" cy="{y + 8:.1f}" r="3"/>'
            for run in bar.runs
        )
        parts.append(_line(scale(bar.low), y, scale(bar.high), y, f"limits{kind}"))
        parts.append(
            f'<circle class="estimate{kind}" cx="{scale(bar.estimate):.1f}" cy="{y:.1f}" r="4.5"/>'
        )
    return parts, bottom + _AXIS_HEIGHT, _WIDTH


def _shares(shares: Shares) -> _Drawn:
    parts = shares.parts
    height, row = 22.0, _NAME_HEIGHT + 4
    room = _HALF - 2 * _MARGIN
    drawn: list[str] = []
    at = _MARGIN
    for part in parts:
        width = room * part.share
        drawn.append(
            f'<rect class="part {part.colour}" x="{at:.1f}" y="{_MARGIN:.1f}" '
            f'width="{max(width - 1, 0):.1f}" height="{height:.1f}"/>'
        )
        at += width
    for i, part in enumerate(parts):
        y = _MARGIN + height + row * (i + 1)
        drawn.append(
            f'<rect class="part {part.colour}" x="{_MARGIN:.1f}" y="{y - 11:.1f}" width="12" '
            f'height="12"/>'
        )
        words = _short(part.name, room - 90)
        drawn.append(_text(_MARGIN + 20, y, words, "name", "start"))
        drawn.append(_text(_HALF - _MARGIN, y, f"{100 * part.share:.0f} %", "name", "end"))
    bottom = _MARGIN + height + row * len(parts) + _MARGIN
    return drawn, bottom, _HALF


def _density(density: Density) -> _Drawn:
    x, y, rope = density.x, density.y, density.rope
    height = 130.0
    scale = _Scale.around([*x, 0.0], _MARGIN, _HALF - _MARGIN)
    top, bottom = _MARGIN + 34, _MARGIN + 34 + height
    peak = max(y) or 1.0
    parts = scale.axis(bottom, density.axis)
    if rope > 0:
        left, right = scale(max(-rope, scale.low)), scale(min(rope, scale.high))
        parts.append(
            f'<rect class="rope" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
            f'height="{height:.1f}"/>'
        )
    curve = [(a, bottom - height * b / peak) for a, b in zip(x, y, strict=True)]
    for kind, part in (
        ("area baseline", _clipped(curve, scale.low, -rope)),
        ("area", _clipped(curve, rope, scale.high)),
    ):
        if part:
            path = " ".join(f"{scale(a):.1f},{b:.1f}" for a, b in part)
            ends = [f"{scale(part[k][0]):.1f},{bottom:.1f}" for k in (0, -1)]
            parts.append(f'<polygon class="{kind}" points="{ends[0]} {path} {ends[1]}"/>')
    path = " ".join(f"{scale(a):.1f},{b:.1f}" for a, b in curve)
    parts.append(f'<polyline class="outline" points="{path}"/>')
    parts.append(_line(scale(0), top - 4, scale(0), bottom, "zero"))
    places = ((_MARGIN, "start", "share baseline"), (_HALF - _MARGIN, "end", "share challenger"))
    chances = density.chances[::2]
    for (place, anchor, kind), *side in zip(places, density.names, chances, strict=True):
        name = _short(side[0], _HALF / 2 - 2 * _MARGIN)  # probabilities are never shortened
        for row, shown in enumerate((name, f"better: {side[1]}")):
            parts.append(_text(place, _MARGIN + 4 + 17 * row, shown, kind, anchor))
    return parts, bottom + _AXIS_HEIGHT, _HALF


def _clipped(
    curve: Sequence[tuple[float, float]], low: float, high: float
) -> list[tuple[float, float]]:
    """Return the part of a curve between two places, with interpolated ends."""
    inside = [point for point in curve if low <= point[0] <= high]
    for edge in (low, high):
        for (a, y_a), (b, y_b) in pairwise(curve):
            if a < edge < b:
                inside.append((edge, y_a + (y_b - y_a) * (edge - a) / (b - a)))
    return sorted(inside) if len(inside) > 1 else []


def _densities(densities: Densities) -> _Drawn:
    curves = densities.curves
    height = 130.0
    solid = [curve for curve in curves if not curve.dashed]
    scale = _Scale.around([x for curve in curves for x in curve.x], _MARGIN, _HALF - _MARGIN)
    top = _MARGIN + _NAME_HEIGHT * len(solid)
    bottom = top + height
    peak = max((y for curve in curves for y in curve.y), default=1.0) or 1.0
    parts = scale.axis(bottom, densities.axis)
    for row, curve in enumerate(solid):
        colour = "marked" if curve.marked else ""
        name = _short(curve.name, _HALF - 2 * _MARGIN - _SWATCH)
        parts += _key(_MARGIN, _MARGIN + 4 + _NAME_HEIGHT * row, name, colour)
    for curve in curves:
        kind = f"curve{' marked' * curve.marked}{' dashed' * curve.dashed}"
        path = " ".join(
            f"{scale(a):.1f},{bottom - (height - 4) * b / peak:.1f}"
            for a, b in zip(curve.x, curve.y, strict=True)
        )
        parts.append(f'<polyline class="{kind}" points="{path}"/>')
    return parts, bottom + _AXIS_HEIGHT, _HALF


def _histogram(histogram: Histogram) -> _Drawn:
    edges, probabilities, observed = histogram.edges, histogram.probabilities, histogram.observed
    height = 120.0
    # leave out empty ends, such as differences above 100 points
    used = [k for k, p in enumerate(probabilities) if p > 0] or [0]
    probabilities = probabilities[used[0] : used[-1] + 1]
    edges = edges[used[0] : used[-1] + 2]
    scale = _Scale.around([*edges, observed], _MARGIN, _HALF - _MARGIN)
    top, bottom = _MARGIN + 18, _MARGIN + 18 + height
    heights = [
        p / (b - a) if b > a else 0.0
        for p, a, b in zip(probabilities, edges[:-1], edges[1:], strict=True)
    ]
    peak = max(heights, default=1.0) or 1.0
    parts = scale.axis(bottom, histogram.axis)
    for value, a, b in zip(heights, edges[:-1], edges[1:], strict=True):
        # edges separate extreme differences from the others
        extreme = max(abs(a), abs(b)) > abs(observed) * (1 + 1e-9)
        size = height * value / peak
        parts.append(
            f'<rect class="{"bin extreme" if extreme else "bin"}" x="{scale(a):.1f}" '
            f'y="{bottom - size:.1f}" width="{max(scale(b) - scale(a) - 0.6, 0.3):.1f}" '
            f'height="{size:.1f}"/>'
        )
    parts.append(_line(scale(observed), top - 6, scale(observed), bottom, "observed"))
    anchor = "end" if scale(observed) > _HALF / 2 else "start"
    parts.append(
        _text(scale(observed), _MARGIN + 4, f"observed {points(observed)}", "share", anchor)
    )
    return parts, bottom + _AXIS_HEIGHT, _HALF


def _lines(lines: Lines) -> _Drawn:
    height, left, right = 230.0, 46.0, _WIDTH - _MARGIN
    names, rows = _in_rows([one.name for one in lines.series], left, right)
    top = _MARGIN + _NAME_HEIGHT * (rows + 1)
    bottom = top + height
    across = _Scale.around([x for one in lines.series for x in one.x], left, right)
    values = [v for s in lines.series for v in (*s.estimate, *s.low, *s.high) if v == v]
    up = _Scale.around([*values, *[0.0] * lines.zero] or [0.0, 1.0], bottom, top)
    colours = [f"s{i % _COLOURS}" for i in range(len(lines.series))]
    if lines.baseline:
        colours[:2] = colours[1::-1]
    kinds = zip(colours, lines.series, strict=True)
    colours = ["reference" if one.reference else colour for colour, one in kinds]
    parts = [
        f'<rect class="area {colour}" x="{across(a):.1f}" y="{top:.1f}" '
        f'width="{across(b) - across(a):.1f}" height="{height:.1f}"/>'
        for colour, one in zip(colours, lines.series, strict=True)
        for a, b in one.ranges
    ]
    for value, words in up.ticks(room=30):
        parts.append(_line(left, up(value), right, up(value), "grid"))
        parts.append(_text(left - 6, up(value) + 4, words, "tick", "end"))
    parts.append(_text(_MARGIN, top - 8, lines.up, "tick", "start"))
    parts += across.axis(bottom, lines.axis, unit=100 if lines.in_points else 1)
    if lines.zero:
        parts.append(_line(left, up(0), right, up(0), "zero"))
    if lines.stop is not None:
        parts.append(_line(across(lines.stop), top, across(lines.stop), bottom, "zero"))
    for colour, one, (place, row) in zip(colours, lines.series, names, strict=True):
        name = _short(one.name, right - left - _SWATCH)
        parts += _key(place, _MARGIN + 4 + _NAME_HEIGHT * row, name, colour)
        there = [k for k, value in enumerate(one.estimate) if value == value]
        if not there:
            continue
        ahead = [f"{across(one.x[k]):.1f},{up(one.high[k]):.1f}" for k in there]
        back = [f"{across(one.x[k]):.1f},{up(one.low[k]):.1f}" for k in reversed(there)]
        parts.append(f'<polygon class="area {colour}" points="{" ".join(ahead + back)}"/>')
        path = " ".join(f"{across(one.x[k]):.1f},{up(one.estimate[k]):.1f}" for k in there)
        parts.append(f'<polyline class="curve {colour}" points="{path}"/>')
        if one.peak is not None:
            x, y = across(one.peak[0]), up(one.peak[1])
            parts.append(f'<circle class="peak {colour}" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>')
    return parts, bottom + _AXIS_HEIGHT, _WIDTH


def _key(x: float, y: float, name: str, colour: str) -> list[str]:
    """Draw an entry of a legend: a piece of the line, and its name."""
    return [
        _line(x, y - 4, x + _SWATCH - 8, y - 4, f"curve {colour}".strip()),
        _text(x + _SWATCH, y, name, f"named {colour}".strip(), "start"),
    ]


def _in_rows(
    names: Sequence[str], left: float, right: float
) -> tuple[list[tuple[float, int]], int]:
    """Return the place and row of each name, and the number of rows."""
    places, at, row = [], left, 0
    for name in names:
        width = _text_width(name) + _SWATCH
        if at > left and at + width > right:
            at, row = left, row + 1
        places.append((at, row))
        at += width + 14
    return places, row + 1


@dataclass(frozen=True)
class _Scale:
    """Mapping from values (fractions of 1) to places in the figure."""

    low: float
    high: float
    left: float
    right: float

    @classmethod
    def around(cls, values: Sequence[float], left: float, right: float) -> _Scale:
        low, high = min(values), max(values)
        room = 0.04 * (high - low) or 0.01
        return cls(low - room, high + room, left, right)

    def __call__(self, value: float) -> float:
        return self.left + (value - self.low) / (self.high - self.low) * (self.right - self.left)

    def ticks(self, unit: float | None = None, room: float = 75) -> list[tuple[float, str]]:
        """Return round values with their labels: in points, or as they are with a unit of 1."""
        unit = factor() if unit is None else unit
        step = _round_step((self.high - self.low) / abs(self.right - self.left) * room)
        first, last = ceil(self.low / step), floor(self.high / step)
        digits = max(0, -floor(log10(unit * step)))
        return [(i * step, number(unit * i * step, digits)) for i in range(first, last + 1)]

    def axis(self, y: float, name: str, unit: float | None = None) -> list[str]:
        parts = [_line(self.left, y, self.right, y, "axis")]
        for value, words in self.ticks(unit):
            x = self(value)
            parts.append(_line(x, y, x, y + 4, "axis"))
            room = min(_text_width(words) / 2 - _MARGIN, (self.right - self.left) / 2)
            middle = min(max(x, self.left + room), self.right - room)
            parts.append(_text(middle, y + 17, words, "tick", "middle"))
        parts.append(_text((self.left + self.right) / 2, y + 37, name, "tick", "middle"))
        return parts


def _round_step(rough: float) -> float:
    """Return the next of 1, 2, 5, 10, … (times a power of ten) above a rough step."""
    power = 10.0 ** floor(log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, words: str, kind: str, anchor: str) -> str:
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
        f"{escape(plain(words))}</text>"
    )


def _text_width(words: str) -> float:
    """Estimate the width of words at the size on a phone; wide characters count double."""
    return sum(20.0 if ord(c) > 0x2E80 else 17.0 if c in _BROAD else 11.5 for c in plain(words))


_BROAD = frozenset("mwMWQ@%−")


def _short(words: str, room: float = _WIDTH - 4 * _MARGIN) -> str:
    """Shorten words to the room, by default that of a row."""
    shown = words
    while _text_width(shown) > room:
        shown = shown[: len(shown) * 9 // 10]
    return shown if shown == words else shown + "…"


if TYPE_CHECKING:
    _Drawn = tuple[list[str], float, float]  # shapes, height and width
_KINDS: dict[type[Picture], Callable[[Any], _Drawn]] = {
    Forest: _forest,
    Shares: _shares,
    Density: _density,
    Densities: _densities,
    Histogram: _histogram,
    Lines: _lines,
}
