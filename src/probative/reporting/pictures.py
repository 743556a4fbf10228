"""Describe pictures once, and draw them as SVG for a page and with matplotlib for a paper.

Scores, differences and their intervals are fractions of 1; both ways of drawing show points. A
picture has one method for each: `_shapes` and `_draw`. SVG takes its colours from the style of the
page, so that it follows the reader's light or dark mode; both give the same bytes for the same
input.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from html import escape
from itertools import pairwise
from math import ceil, floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.files import write_whole
from probative.reporting.escape import plain
from probative.wording.numbers import factor, number, points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from probative._validation import Array

    _Shapes = tuple[list[str], float, float]  # shapes, height and width

_WIDTH = 560.0  # a figure over the full page
_HALF = 400.0  # one of two figures side by side
_MARGIN = 14.0
_ROW_HEIGHT = 26.0
_NAME_HEIGHT = 20.0  # height of a name above its row
_WIDEST_NAME_BESIDE = 200.0  # widest name that is set beside its row
_AXIS_HEIGHT = 43.0  # height of ticks and the name of the axis
_SWATCH = 30.0  # width of a piece of a line in a legend, with the gap before the name
_PAGE_COLOURS = ("s0", "s1", "s2", "s3", "s4", "s5")  # in the style of the page
# Okabe & Ito's palette: distinct to colour-blind readers, and in grey
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_BASELINE, _CHALLENGER = COLOURS[1], COLOURS[0]  # orange and blue, as on every page
_ZERO: dict[str, Any] = {"color": "0.4", "linewidth": 1, "linestyle": (0, (4, 3))}
_MOST_MARKED = 60  # points of a line that are marked one by one
_RUN = "run"  # label of the dots of single runs


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Base class of pictures."""

    axis: str = ""  # the name of the horizontal axis
    title: str = ""  # what it shows
    description: str = ""  # its numbers, for those who cannot see it
    reading: str = ""  # how to read it
    note: str = ""  # what a figure without a caption says beside its axis

    def _shapes(self) -> _Shapes:
        """Return the picture as SVG."""
        raise NotImplementedError

    def _draw(self, axis: Axes) -> None:
        """Draw the picture with matplotlib."""
        raise NotImplementedError

    def _size(self) -> tuple[float, float]:
        """Return width and height of its panel in inches."""
        return 3.6, 3.1


@dataclass(frozen=True)
class Bar:
    """Row of a forest plot: an estimate, its interval and single runs."""

    name: str
    estimate: float
    low: float
    high: float
    marked: bool = False  # the baseline, or the sum of all others
    runs: tuple[float, ...] = ()
    pale: bool = False  # it stands back
    words: str = ""  # on the right of the row in a figure


@dataclass(frozen=True)
class Forest(Picture):
    """Estimates with their intervals, one per row, with a line at 0 if `zero`."""

    bars: Sequence[Bar]
    zero: bool = False

    def _shapes(self) -> _Shapes:
        bars, zero = self.bars, self.zero
        defined = [bar for bar in bars if bar.estimate == bar.estimate]
        values = [v for bar in defined for v in (bar.low, bar.high, *bar.runs)] + [0.0] * zero
        widest = max((_text_width(bar.name) for bar in bars), default=0)
        beside = widest <= _WIDEST_NAME_BESIDE
        left, row = (widest + 12, _ROW_HEIGHT) if beside else (_MARGIN, _ROW_HEIGHT + _NAME_HEIGHT)
        scale = _Scale.around(values or [0.0, 1.0], left, _WIDTH - _MARGIN)
        bottom = _MARGIN + row * len(bars)
        parts = scale.axis(bottom, self.axis)
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
            parts += (_circle(scale(run), y + 8, f"run{kind}", r=3) for run in bar.runs)
            parts.append(_line(scale(bar.low), y, scale(bar.high), y, f"limits{kind}"))
            parts.append(_circle(scale(bar.estimate), y, f"estimate{kind}"))
        return parts, bottom + _AXIS_HEIGHT, _WIDTH

    def _draw(self, axis: Axes) -> None:
        bars = self.bars
        if self.zero:
            axis.axvline(0, **_ZERO)
        across = axis.get_yaxis_transform()  # x in fractions of the axis, y in rows
        for i, bar in enumerate(bars):
            colour = "0.45" if bar.pale else _BASELINE if bar.marked else _CHALLENGER
            if bar.words:
                axis.text(1.02, i, bar.words, transform=across, va="center", fontsize=8)
            if bar.estimate != bar.estimate:
                soft: dict[str, Any] = {"va": "center", "fontsize": 9, "color": "0.4"}
                axis.text(0.02, i, "undefined", transform=across, **soft)
                continue
            if bar.runs:
                dots: dict[str, Any] = {"alpha": 0.45, "markersize": 3, "markeredgewidth": 0}
                places = [i + 0.24] * len(bar.runs)
                axis.plot(_points(bar.runs), places, "o", color=colour, label=_RUN, **dots)
            ends = _points((bar.low, bar.high))
            axis.plot(ends, [i, i], color=colour, linewidth=2, solid_capstyle="round")
            shape = "D" if bar.marked and self.zero else "o"
            axis.plot([factor() * bar.estimate], [i], shape, color=colour, markersize=5)
        axis.set_yticks(range(len(bars)), [_safe_name(bar.name) for bar in bars])
        axis.set_ylim(len(bars) - 0.5, -0.5)
        parts = sum(not bar.marked for bar in bars)
        if self.zero and 0 < parts < len(bars):
            axis.axhline(parts - 0.5, color="0.7", linewidth=0.8)
        axis.grid(visible=False, axis="y")
        axis.set_xlabel(_labelled(self))

    def _size(self) -> tuple[float, float]:
        names = [_safe_name(bar.name) for bar in self.bars]
        longest = max(sum(2 if ord(c) > 0x2E80 else 1 for c in name) for name in names)
        words = 2.0 * any(bar.words for bar in self.bars)
        return max(4.0, 2.6 + 0.08 * longest) + words, 0.9 + 0.3 * len(names)


@dataclass(frozen=True)
class Density(Picture):
    """Posterior of the difference of two systems, with the region of equivalence shaded."""

    x: Sequence[float]  # empty if there is no curve
    y: Sequence[float]
    rope: float
    names: tuple[str, str]  # of baseline and challenger
    # probabilities that the first is better, that both are equivalent, that the second is better
    chances: tuple[str, str, str]

    def _shapes(self) -> _Shapes:
        rope, height, peak = self.rope, 130.0, max(self.y) or 1.0
        scale = _Scale.around([*self.x, 0.0], _MARGIN, _HALF - _MARGIN)
        top, bottom = _MARGIN + 34, _MARGIN + 34 + height
        parts = scale.axis(bottom, self.axis)
        if rope > 0:
            left, right = scale(max(-rope, scale.low)), scale(min(rope, scale.high))
            parts.append(_rect(left, top, right - left, height, "rope"))

        def placed(x: Iterable[float], y: Iterable[float]) -> list[tuple[float, float]]:
            return [(scale(a), bottom - height * b / peak) for a, b in zip(x, y, strict=True)]

        grid, heights = self._shaded()
        for kind, there in (("area baseline", grid <= -rope), ("area", grid >= rope)):
            if there.sum() > 1:
                part = placed(grid[there], heights[there])
                outline = [(part[0][0], bottom), *part, (part[-1][0], bottom)]
                parts.append(_path("polygon", outline, kind))
        parts.append(_path("polyline", placed(self.x, self.y), "outline"))
        parts.append(_line(scale(0), top - 4, scale(0), bottom, "zero"))
        ends = (_MARGIN, "start", "share baseline"), (_HALF - _MARGIN, "end", "share challenger")
        for (place, anchor, kind), *side in zip(ends, self.names, self.chances[::2], strict=True):
            name = _short(side[0], _HALF / 2 - 2 * _MARGIN)  # probabilities are never shortened
            for row, shown in enumerate((name, f"better: {side[1]}")):
                parts.append(_text(place, _MARGIN + 4 + 17 * row, shown, kind, anchor))
        return parts, bottom + _AXIS_HEIGHT, _HALF

    def _shaded(self) -> tuple[Array, Array]:
        """Return the curve with the ends of the region, so that the shaded parts meet."""
        grid = np.union1d(self.x, np.clip([-self.rope, self.rope], self.x[0], self.x[-1]))
        return grid, np.interp(grid, self.x, self.y)

    def _draw(self, axis: Axes) -> None:
        rope = factor() * self.rope
        if rope > 0:
            axis.axvspan(-rope, rope, color="0.87", zorder=0, linewidth=0)
        axis.axvline(0, **_ZERO)
        if self.x:
            grid, height = self._shaded()
            x = factor() * grid
            for colour, side in ((_BASELINE, grid <= -self.rope), (_CHALLENGER, grid >= self.rope)):
                area: dict[str, Any] = {"where": side, "color": colour, "alpha": 0.3}
                axis.fill_between(x, height, linewidth=0, **area)
            axis.plot(x, height, color="0.15", linewidth=1.4)
        axis.margins(x=0)
        axis.set_ylim(bottom=0)
        axis.set_yticks([])
        a, b = (_safe_name(name, 24) for name in self.names)
        axis.set_xlabel(f"{b} − {a}, {self.note}")
        first, same, second = (c if c[0] in "<>" else f"= {c}" for c in self.chances)
        words = [(f"P({b} better) {second}", _CHALLENGER), (f"P({a} better) {first}", _BASELINE)]
        words[1:1] = [(f"P(equivalent) {same}", "0.3")] if rope > 0 else []
        place: dict[str, Any] = {"transform": axis.transAxes, "ha": "center", "fontsize": 9}
        for line, (text, colour) in enumerate(words):
            axis.text(0.5, 1.03 + 0.085 * line, text, color=colour, **place)


@dataclass(frozen=True)
class Curve:
    """Density of a score; `marked` is the baseline, `dashed` a second `kind` of the same name."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    marked: bool = False
    dashed: bool = False
    kind: str = ""


@dataclass(frozen=True)
class Densities(Picture):
    """Posteriors of the same score in one picture."""

    curves: Sequence[Curve]

    def _shapes(self) -> _Shapes:
        curves, height = self.curves, 130.0
        solid = [curve for curve in curves if not curve.dashed]
        scale = _Scale.around([x for curve in curves for x in curve.x], _MARGIN, _HALF - _MARGIN)
        bottom = _MARGIN + _NAME_HEIGHT * len(solid) + height
        peak = max((y for curve in curves for y in curve.y), default=1.0) or 1.0
        parts = scale.axis(bottom, self.axis)
        for row, curve in enumerate(solid):
            colour = "marked" if curve.marked else ""
            name = _short(curve.name, _HALF - 2 * _MARGIN - _SWATCH)
            parts += _key(_MARGIN, _MARGIN + 4 + _NAME_HEIGHT * row, name, colour)
        for curve in curves:
            kind = f"curve{' marked' * curve.marked}{' dashed' * curve.dashed}"
            sized = [bottom - (height - 4) * y / peak for y in curve.y]
            parts.append(_path("polyline", zip(map(scale, curve.x), sized, strict=True), kind))
        return parts, bottom + _AXIS_HEIGHT, _HALF

    def _draw(self, axis: Axes) -> None:
        for curve in self.curves:
            axis.plot(
                _points(curve.x),
                curve.y,
                color=_BASELINE if curve.marked else _CHALLENGER,
                linestyle="-." if curve.dashed else "-",
                linewidth=1.6,
                label=None if curve.dashed else _safe_name(curve.name, 24),
            )
        axis.set_xlabel(_labelled(self))
        axis.set_ylabel("posterior density")
        axis.set_ylim(bottom=0)
        axis.set_yticks([])
        axis.margins(x=0.02)


@dataclass(frozen=True)
class Histogram(Picture):
    """Null distribution, with the observed difference and what is as extreme marked."""

    edges: Sequence[float]
    probabilities: Sequence[float]
    observed: float

    def _shapes(self) -> _Shapes:
        observed, height = self.observed, 120.0
        # leave out empty ends, such as differences above 100 points
        used = [k for k, p in enumerate(self.probabilities) if p > 0] or [0]
        shown = slice(used[0], used[-1] + 1)
        bins = list(zip(self.probabilities, pairwise(self.edges), strict=True))[shown]
        heights = [p / (b - a) if b > a else 0.0 for p, (a, b) in bins]
        ends = [edge for _, pair in bins for edge in pair]
        scale = _Scale.around([*ends, observed], _MARGIN, _HALF - _MARGIN)
        top, bottom = _MARGIN + 18, _MARGIN + 18 + height
        peak = max(heights, default=1.0) or 1.0
        parts = scale.axis(bottom, self.axis)
        for value, (_, (a, b)) in zip(heights, bins, strict=True):
            # edges separate extreme differences from the others
            extreme = max(abs(a), abs(b)) > abs(observed) * (1 + 1e-9)
            size, width = height * value / peak, max(scale(b) - scale(a) - 0.6, 0.3)
            kind = "bin extreme" if extreme else "bin"
            parts.append(_rect(scale(a), bottom - size, width, size, kind))
        parts.append(_line(scale(observed), top - 6, scale(observed), bottom, "observed"))
        anchor = "end" if scale(observed) > _HALF / 2 else "start"
        words = f"observed {points(observed)}"
        parts.append(_text(scale(observed), _MARGIN + 4, words, "share", anchor))
        return parts, bottom + _AXIS_HEIGHT, _HALF


@dataclass(frozen=True)
class Series:
    """Score along an axis with its interval; its `peak` is marked, its `ranges` are shaded."""

    name: str
    x: Sequence[float]
    estimate: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    _: KW_ONLY
    peak: tuple[float, float] | None = None
    ranges: tuple[tuple[float, float], ...] = ()
    reference: bool = False  # a dashed line without a colour of its own


@dataclass(frozen=True)
class Lines(Picture):
    """Scores along an axis, each as a line with the band of its interval."""

    series: Sequence[Series]
    up: str = "points"  # the name of the vertical axis
    zero: bool = False  # draw the line of no difference
    stop: float | None = None  # draw an upright line
    baseline: bool = False  # the first series has the colour of the baseline
    in_points: bool = False  # the values of the horizontal axis are in points, too

    def _colours(self, palette: Sequence[str]) -> list[str]:
        colours = [palette[i % len(palette)] for i in range(len(self.series))]
        return [*colours[1::-1], *colours[2:]] if self.baseline else colours

    def _shapes(self) -> _Shapes:
        height, left, right = 230.0, 46.0, _WIDTH - _MARGIN
        names, rows = _in_rows([one.name for one in self.series], left, right)
        top = _MARGIN + _NAME_HEIGHT * (rows + 1)
        bottom = top + height
        across = _Scale.around([x for one in self.series for x in one.x], left, right)
        values = [v for s in self.series for v in (*s.estimate, *s.low, *s.high) if v == v]
        up = _Scale.around([*values, *[0.0] * self.zero] or [0.0, 1.0], bottom, top)
        kinds = zip(self._colours(_PAGE_COLOURS), self.series, strict=True)
        drawn = [("reference" if one.reference else colour, one) for colour, one in kinds]
        parts = [
            _rect(across(a), top, across(b) - across(a), height, f"area {colour}")
            for colour, one in drawn
            for a, b in one.ranges
        ]
        for value, words in up.ticks(room=30):
            parts.append(_line(left, up(value), right, up(value), "grid"))
            parts.append(_text(left - 6, up(value) + 4, words, "tick", "end"))
        parts.append(_text(_MARGIN, top - 8, self.up, "tick", "start"))
        parts += across.axis(bottom, self.axis, unit=100 if self.in_points else 1)
        if self.zero:
            parts.append(_line(left, up(0), right, up(0), "zero"))
        if self.stop is not None:
            parts.append(_line(across(self.stop), top, across(self.stop), bottom, "zero"))
        for (colour, one), (place, row) in zip(drawn, names, strict=True):
            name = _short(one.name, right - left - _SWATCH)
            parts += _key(place, _MARGIN + 4 + _NAME_HEIGHT * row, name, colour)
            there = [k for k, value in enumerate(one.estimate) if value == value]
            if not there:
                continue
            ahead = [(across(one.x[k]), up(one.high[k])) for k in there]
            back = [(across(one.x[k]), up(one.low[k])) for k in reversed(there)]
            parts.append(_path("polygon", ahead + back, f"area {colour}"))
            line = [(across(one.x[k]), up(one.estimate[k])) for k in there]
            parts.append(_path("polyline", line, f"curve {colour}"))
            if one.peak is not None:
                parts.append(_circle(across(one.peak[0]), up(one.peak[1]), f"peak {colour}"))
        return parts, bottom + _AXIS_HEIGHT, _WIDTH

    def _draw(self, axis: Axes) -> None:
        for i, (one, colour) in enumerate(zip(self.series, self._colours(COLOURS), strict=True)):
            x = _points(one.x) if self.in_points else one.x
            if one.reference:
                axis.plot(x, _points(one.estimate), **_ZERO)
                continue
            for start, end in one.ranges:
                axis.axvspan(start, end, color=colour, alpha=0.12, linewidth=0)
            single = len(set(x)) == len(x) <= _MOST_MARKED  # corners of steps are no points
            low, high = _points(one.low), _points(one.high)
            axis.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
            if len(x) == 1:
                axis.vlines(x, low, high, color=colour)
            axis.plot(
                x,
                _points(one.estimate),
                color=colour,
                marker="ovs^DPX"[i % 7] if single else None,
                markersize=3.5,
                linewidth=1.4,
                label=_safe_name(one.name),
            )
            if one.peak is not None:
                star: dict[str, Any] = {"color": colour, "markersize": 11, "zorder": 4}
                axis.plot(one.peak[0], 100 * one.peak[1], "*", **star)
        if self.zero:
            axis.axhline(0, **_ZERO)
        if self.stop is not None:
            axis.axvline(self.stop, color="0.4", linewidth=0.8, linestyle=":")
        axis.set_xlabel(self.axis)
        axis.set_ylabel(self.up)
        axis.set_title(self.note, fontsize=9)

    def _size(self) -> tuple[float, float]:
        return 3.7, 3.4


@dataclass(frozen=True)
class Shares(Picture):
    """Parts of a whole as one bar."""

    parts: Sequence[tuple[str, str, float]]  # the name, the colour and the share of each

    def _shapes(self) -> _Shapes:
        height, row, room, at = 22.0, _NAME_HEIGHT + 4, _HALF - 2 * _MARGIN, _MARGIN
        bar, names = [], []
        for i, (name, colour, share) in enumerate(self.parts, 1):
            width, y = room * share, _MARGIN + height + row * i
            bar.append(_rect(at, _MARGIN, max(width - 1, 0), height, f"part {colour}"))
            names.append(_rect(_MARGIN, y - 11, 12, 12, f"part {colour}"))
            names.append(_text(_MARGIN + 20, y, _short(name, room - 90), "name", "start"))
            names.append(_text(_HALF - _MARGIN, y, f"{100 * share:.0f} %", "name", "end"))
            at += width
        return [*bar, *names], 2 * _MARGIN + height + row * len(self.parts), _HALF


# --- As SVG


def svg(picture: Picture) -> str:
    """Return a picture as SVG, with its description for those who cannot see it."""
    parts, height, width = picture._shapes()
    kind = "wide" if width == _WIDTH else "half"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(plain(picture.description), quote=True)}">{"".join(parts)}</svg>'
    )


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
        rough = (self.high - self.low) / abs(self.right - self.left) * room
        power = 10.0 ** floor(log10(rough))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
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


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    size = f'width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" {size}/>'


def _circle(x: float, y: float, kind: str, r: float = 4.5) -> str:
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{r:g}"/>'


def _path(shape: str, places: Iterable[tuple[float, float]], kind: str) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return f'<{shape} class="{kind}" points="{path}"/>'


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


# --- With matplotlib

_FIGURE_FORMATS = ("png", "svg", "pdf")


def new_figure(
    columns: int = 1, rows: int = 1, *, width: float = 4.0, height: float = 3.2, **grid: Any
) -> tuple[Figure, Any]:
    """Return a figure and its axes in the house style; sizes are inches per panel."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, **grid)
    for axis in figure.axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=9)
        axis.grid(visible=True, linewidth=0.4, alpha=0.5)
        axis.set_axisbelow(True)
    return figure, axes


def figure_bytes(figure: Figure, form: str) -> bytes:
    """Return a figure as PNG, SVG or PDF, without dates and random names."""
    import matplotlib as mpl

    out = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form, {})
    repeatable = mpl.rc_context({"svg.hashsalt": "probative", "svg.fonttype": "path"})
    with repeatable, warnings.catch_warnings():
        # characters that the font lacks are drawn as boxes, which the reader sees anyway
        warnings.filterwarnings("ignore", message="Glyph .* missing from ")
        figure.savefig(out, format=form, dpi=160, metadata=undated)
    return out.getvalue()


def save_figure(figure: Figure, path: Path | str) -> None:
    """Write a figure in the format of the file's ending."""
    write_whole(path, figure_bytes(figure, figure_format(path)))


def figure_format(path: Path | str) -> str:
    """Return the format of the file's ending."""
    form = Path(path).suffix.lower().lstrip(".")
    if form not in _FIGURE_FORMATS:
        raise InputError(
            f"a figure cannot be written as {form!r}; expected a name ending in .png, .svg or .pdf",
            path,
        )
    return form


def _safe_name(name: str, longest: int = 60) -> str:
    """Shorten a name, and escape dollar signs, which matplotlib reads as formulas."""
    short = name if len(name) <= longest else name[: longest - 1] + "…"
    return plain(short).replace("$", r"\$")


def figure(*pictures: Picture, title: str = "", beside: float = 0.0) -> Figure:
    """Draw pictures side by side, with one legend below."""
    # `beside` leaves an empty panel of so many inches on the right, with the same rows
    sizes = [picture._size() for picture in pictures]
    width, height = (max(side) for side in zip(*sizes, strict=True))
    if len(pictures) == 1 and isinstance(pictures[0], Lines):
        width, height = 6.0, 4.0
    grid: dict[str, Any] = {}
    columns = len(pictures)
    if beside:
        grid = {"sharey": True, "gridspec_kw": {"width_ratios": [3.0] * columns + [beside]}}
        width, columns = (width * columns + beside) / (columns + 1), columns + 1
    drawn, axes = new_figure(columns, squeeze=False, width=width, height=height, **grid)
    for axis, picture in zip(axes[0], pictures, strict=False):
        picture._draw(axis)
        if not isinstance(picture, Forest):
            axis.locator_params(axis="x", nbins=5)
    if title:
        drawn.suptitle(_safe_name(title), fontsize=11)
    _draw_legend(drawn, pictures)
    return drawn


def _draw_legend(drawn: Figure, pictures: Sequence[Picture]) -> None:
    """Name the colours and dashes: below all panels if these share them, else in each panel."""
    from matplotlib.lines import Line2D

    found: dict[str, Any] = {}
    most = 0
    for axis in drawn.axes:
        lines, labels = axis.get_legend_handles_labels()
        own = {label: line for line, label in zip(lines, labels, strict=True) if label != _RUN}
        found, most = own | found, max(most, len(own))
    if len(found) > most:
        for axis in drawn.axes:
            axis.legend(fontsize=8, frameon=False)
        return
    curves = [c for picture in pictures if isinstance(picture, Densities) for c in picture.curves]
    kinds: dict[str, Any] = {curve.kind: "-." if curve.dashed else "-" for curve in curves}
    if len(kinds) > 1:
        found |= {kind: Line2D([], [], color="0.3", linestyle=s) for kind, s in kinds.items()}
    if len(found) < 2:
        return
    widths = [0.5 + 0.068 * len(label) for label in found]  # inches
    room = drawn.get_figwidth()
    columns = len(found) if sum(widths) < room else max(1, int(room / max(widths)))
    how: dict[str, Any] = {"ncols": columns, "frameon": False, "fontsize": 9}
    drawn.legend(list(found.values()), list(found), loc="outside lower center", **how)


def _points(values: Sequence[float]) -> list[float]:
    return [factor() * value for value in values]


def _labelled(picture: Picture) -> str:
    return _safe_name(", ".join(filter(None, (picture.axis, picture.note))), 120)
