"""Figures for the page, drawn as SVG that takes its colours from the page's style.

They follow the reader's light or dark mode, need no font and no script, and the same input gives
the same bytes. Figures for papers are drawn by matplotlib, elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import pairwise
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from probative.reporting.document import Drawing, points
from probative.reporting.escape import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Bar", "density", "forest", "histogram"]

_WIDTH = 560.0  # of a figure that has the page to itself
_HALF = 400.0  # of one that shares it
_MARGIN = 14.0
_ROW = 26.0
_NAME = 20.0  # of a name that stands above its row
_BESIDE = 200.0  # names up to this width stand beside their rows
_AXIS = 40.0  # room for ticks and the name of the axis


@dataclass(frozen=True)
class Bar:
    """A row of a forest plot: an estimate and its limits, in fractions of 1."""

    name: str
    estimate: float
    low: float
    high: float
    marked: bool = False


def forest(
    bars: Sequence[Bar],
    *,
    axis: str,
    title: str,
    description: str,
    zero: bool = False,
    reading: str = "",
) -> Drawing:
    """Estimates with their limits, one a row; `zero` draws the line of no difference."""
    defined = [bar for bar in bars if bar.estimate == bar.estimate]
    values = [v for bar in defined for v in (bar.low, bar.high)] + ([0.0] if zero else [])
    widest = max((_text_width(bar.name) for bar in bars), default=0)
    beside = widest <= _BESIDE
    left, row = (widest + 12, _ROW) if beside else (_MARGIN, _ROW + _NAME)
    scale = _Scale.around(values or [0.0, 1.0], left, _WIDTH - _MARGIN)
    bottom = _MARGIN + row * len(bars)
    parts = scale.axis(bottom, axis)
    if zero:
        parts.append(_line(scale(0), _MARGIN - 6, scale(0), bottom, "zero"))
    for i, bar in enumerate(bars):
        y = _MARGIN + row * (i + 1) - _ROW / 2
        if beside:
            parts.append(_text(left - 10, y + 4, bar.name, "name", "end"))
        else:
            parts.append(_text(left, y - _NAME + 6, _short(bar.name), "name", "start"))
        if bar not in defined:
            parts.append(_text(scale.left + 4, y + 4, "undefined", "tick", "start"))
            continue
        kind = " marked" if bar.marked else ""
        parts.append(_line(scale(bar.low), y, scale(bar.high), y, f"limits{kind}"))
        parts.append(
            f'<circle class="estimate{kind}" cx="{scale(bar.estimate):.1f}" cy="{y:.1f}" r="4.5"/>'
        )
    return _drawing(parts, bottom + _AXIS, title, description, reading=reading)


def density(
    x: Sequence[float],
    y: Sequence[float],
    *,
    rope: float,
    sides: tuple[tuple[str, str], tuple[str, str]],
    axis: str,
    title: str,
    description: str,
    reading: str = "",
) -> Drawing:
    """A posterior of the difference, the region of equivalence shaded.

    `sides` hold what is said left and right of it, in the colours of the baseline and of the
    challenger: a name, and a line below it.
    """
    height = 130.0
    scale = _Scale.around([*x, 0.0], _MARGIN, _HALF - _MARGIN)
    top, bottom = _MARGIN + 34, _MARGIN + 34 + height
    peak = max(y) or 1.0
    parts = scale.axis(bottom, axis)
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
    parts.append(f'<polyline class="curve" points="{path}"/>')
    parts.append(_line(scale(0), top - 4, scale(0), bottom, "zero"))
    places = ((_MARGIN, "start", "share baseline"), (_HALF - _MARGIN, "end", "share challenger"))
    for (place, anchor, kind), lines in zip(places, sides, strict=True):
        for number, words in enumerate(lines):
            shown = _short(words, _HALF / 2 - 2 * _MARGIN)
            parts.append(_text(place, _MARGIN + 4 + 17 * number, shown, kind, anchor))
    return _drawing(parts, bottom + _AXIS, title, description, _HALF, reading)


def _clipped(
    curve: Sequence[tuple[float, float]], low: float, high: float
) -> list[tuple[float, float]]:
    """The part of a curve between two places, its ends interpolated."""
    inside = [point for point in curve if low <= point[0] <= high]
    for edge in (low, high):
        for (a, y_a), (b, y_b) in pairwise(curve):
            if a < edge < b:
                inside.append((edge, y_a + (y_b - y_a) * (edge - a) / (b - a)))
    return sorted(inside) if len(inside) > 1 else []


def histogram(
    edges: Sequence[float],
    probabilities: Sequence[float],
    *,
    observed: float,
    axis: str,
    title: str,
    description: str,
    reading: str = "",
) -> Drawing:
    """A null distribution with the observed difference marked; what is as extreme is coloured."""
    height = 120.0
    scale = _Scale.around([*edges, observed], _MARGIN, _HALF - _MARGIN)
    top, bottom = _MARGIN + 18, _MARGIN + 18 + height
    heights = [
        p / (b - a) if b > a else 0.0
        for p, a, b in zip(probabilities, edges[:-1], edges[1:], strict=True)
    ]
    peak = max(heights, default=1.0) or 1.0
    parts = scale.axis(bottom, axis)
    for value, a, b in zip(heights, edges[:-1], edges[1:], strict=True):
        # an edge parts what is as extreme from what is not
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
    return _drawing(parts, bottom + _AXIS, title, description, _HALF, reading)


@dataclass(frozen=True)
class _Scale:
    """From fractions of 1 to places across the figure."""

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

    def axis(self, y: float, name: str) -> list[str]:
        step = _round_step((self.high - self.low) / (self.right - self.left) * 75)
        first, last = ceil(self.low / step), floor(self.high / step)
        digits = max(0, -floor(log10(100 * step)))
        parts = [_line(self.left, y, self.right, y, "axis")]
        for i in range(first, last + 1):
            x = self(i * step)
            parts.append(_line(x, y, x, y + 4, "axis"))
            parts.append(_text(x, y + 17, points(i * step, digits), "tick", "middle"))
        parts.append(_text((self.left + self.right) / 2, y + 34, name, "tick", "middle"))
        return parts


def _round_step(rough: float) -> float:
    """The next of 1, 2, 5, 10, … (times a power of ten) above a rough step."""
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
    """About how wide words are at the size they have on a phone; wide characters count double."""
    return sum(20.0 if ord(c) > 0x2E80 else 10.8 for c in plain(words))


def _short(words: str, room: float = _WIDTH - 4 * _MARGIN) -> str:
    """As much of the words as there is room for, by default in a row."""
    shown = words
    while _text_width(shown) > room:
        shown = shown[: len(shown) * 9 // 10]
    return shown if shown == words else shown + "…"


def _drawing(
    parts: list[Any],
    height: float,
    title: str,
    description: str,
    width: float = _WIDTH,
    reading: str = "",
) -> Drawing:
    kind = "wide" if width == _WIDTH else "half"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(plain(description), quote=True)}">'
    )
    return Drawing(head + "".join(parts) + "</svg>", title, description, reading)
