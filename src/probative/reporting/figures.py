"""Draw pictures with matplotlib: one style, no global state, the same bytes for the same input."""

from __future__ import annotations

import io
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.files import write_whole
from probative.reporting.escape import plain
from probative.reporting.pictures import Densities, Density, Forest, Lines, Picture
from probative.wording.numbers import factor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Okabe & Ito's palette: distinct to colour-blind readers, and in grey
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
BASELINE, CHALLENGER = COLOURS[1], COLOURS[0]  # orange and blue, as on every page
_FIGURE_FORMATS = ("png", "svg", "pdf")


def new_figure(
    columns: int = 1, rows: int = 1, *, width: float = 4.0, height: float = 3.2, **grid: Any
) -> tuple[Figure, Any]:
    """Return a figure and its axes in the house style; sizes are inches per panel."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, **grid)
    for axis in figure.axes:
        _tidy(axis)
    return figure, axes


def _tidy(axis: Axes) -> None:
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=9)
    axis.grid(visible=True, linewidth=0.4, alpha=0.5)
    axis.set_axisbelow(True)


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


def safe_name(name: str, longest: int = 60) -> str:
    """Shorten a name, and escape dollar signs, which matplotlib reads as formulas."""
    short = name if len(name) <= longest else name[: longest - 1] + "…"
    return plain(short).replace("$", r"\$")


# --- Pictures, drawn with matplotlib

_ZERO: dict[str, Any] = {"color": "0.4", "linewidth": 1, "linestyle": (0, (4, 3))}
_MOST_MARKED = 60  # points of a line that are marked one by one


def figure(*pictures: Picture, title: str = "", beside: float = 0.0) -> Figure:
    """Draw pictures side by side, with one legend below.

    `beside` leaves an empty panel of so many inches on the right, with the same rows.
    """
    sizes = [_size(picture, alone=len(pictures) == 1) for picture in pictures]
    width, height = (max(side) for side in zip(*sizes, strict=True))
    grid: dict[str, Any] = {}
    columns = len(pictures)
    if beside:
        grid = {"sharey": True, "gridspec_kw": {"width_ratios": [3.0] * columns + [beside]}}
        width, columns = (width * columns + beside) / (columns + 1), columns + 1
    drawn, axes = new_figure(columns, squeeze=False, width=width, height=height, **grid)
    for axis, picture in zip(axes[0], pictures, strict=False):
        _KINDS[type(picture)](axis, picture)
        if not isinstance(picture, Forest):
            axis.locator_params(axis="x", nbins=5)
    if title:
        drawn.suptitle(safe_name(title), fontsize=11)
    _draw_legend(drawn, pictures)
    return drawn


def _size(picture: Picture, *, alone: bool) -> tuple[float, float]:
    """Return width and height of a panel in inches."""
    if isinstance(picture, Forest):
        names = [safe_name(bar.name) for bar in picture.bars]
        longest = max(sum(2 if ord(c) > 0x2E80 else 1 for c in name) for name in names)
        words = 2.0 * any(bar.words for bar in picture.bars)
        return max(4.0, 2.6 + 0.08 * longest) + words, 0.9 + 0.3 * len(names)
    if isinstance(picture, Lines):
        return (6.0, 4.0) if alone else (3.7, 3.4)
    return 3.6, 3.1


def _draw_legend(drawn: Figure, pictures: Sequence[Picture]) -> None:
    """Name the colours and dashes: below all panels if these share them, else in each panel."""
    from matplotlib.lines import Line2D

    found: dict[str, Any] = {}
    most = 0
    for axis in drawn.axes:
        lines, labels = axis.get_legend_handles_labels()
        own = {label: line for line, label in zip(lines, labels, strict=True) if label != _RUN}
        most = max(most, len(own))
        found = own | found
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
    drawn.legend(
        list(found.values()),
        list(found),
        loc="outside lower center",
        ncols=len(found) if sum(widths) < room else max(1, int(room / max(widths))),
        frameon=False,
        fontsize=9,
    )


_RUN = "run"  # label of the dots of single runs


def _draw_forest(axis: Axes, forest: Forest) -> None:
    bars = forest.bars
    if forest.zero:
        axis.axvline(0, **_ZERO)
    across = axis.get_yaxis_transform()  # x in fractions of the axis, y in rows
    for i, bar in enumerate(bars):
        colour = "0.45" if bar.pale else BASELINE if bar.marked else CHALLENGER
        if bar.words:
            axis.text(1.02, i, bar.words, transform=across, va="center", fontsize=8)
        if bar.estimate != bar.estimate:
            axis.text(0.02, i, "undefined", transform=across, va="center", fontsize=9, color="0.4")
            continue
        if bar.runs:
            dots: dict[str, Any] = {"alpha": 0.45, "markersize": 3, "markeredgewidth": 0}
            places = [i + 0.24] * len(bar.runs)
            axis.plot(_points(bar.runs), places, "o", color=colour, label=_RUN, **dots)
        ends = _points((bar.low, bar.high))
        axis.plot(ends, [i, i], color=colour, linewidth=2, solid_capstyle="round")
        shape = "D" if bar.marked and forest.zero else "o"
        axis.plot([factor() * bar.estimate], [i], shape, color=colour, markersize=5)
    axis.set_yticks(range(len(bars)), [safe_name(bar.name) for bar in bars])
    axis.set_ylim(len(bars) - 0.5, -0.5)
    parts = sum(not bar.marked for bar in bars)
    if forest.zero and 0 < parts < len(bars):
        axis.axhline(parts - 0.5, color="0.7", linewidth=0.8)
    axis.grid(visible=False, axis="y")
    axis.set_xlabel(_labelled(forest))


def _draw_density(axis: Axes, density: Density) -> None:
    rope = factor() * density.rope
    if rope > 0:
        axis.axvspan(-rope, rope, color="0.87", zorder=0, linewidth=0)
    axis.axvline(0, **_ZERO)
    if density.x:
        x = factor() * np.asarray(density.x)
        # with the ends of the region, so that the shaded parts meet
        grid = np.union1d(x, np.clip([-rope, rope], x[0], x[-1]))
        height = np.interp(grid, x, density.y)
        for colour, side in ((BASELINE, grid <= -rope), (CHALLENGER, grid >= rope)):
            axis.fill_between(grid, height, where=side, color=colour, alpha=0.3, linewidth=0)
        axis.plot(grid, height, color="0.15", linewidth=1.4)
    axis.margins(x=0)
    axis.set_ylim(bottom=0)
    axis.set_yticks([])
    a, b = (safe_name(name, 24) for name in density.names)
    axis.set_xlabel(f"{b} − {a}, {density.note}")
    first, same, second = map(_relation, density.chances)
    words = [(f"P({b} better) {second}", CHALLENGER), (f"P({a} better) {first}", BASELINE)]
    if rope > 0:
        words.insert(1, (f"P(equivalent) {same}", "0.3"))
    for line, (text, colour) in enumerate(words):
        place: dict[str, Any] = {"transform": axis.transAxes, "ha": "center", "fontsize": 9}
        axis.text(0.5, 1.03 + 0.085 * line, text, color=colour, **place)


def _relation(chance: str) -> str:
    return chance if chance[0] in "<>" else f"= {chance}"


def _draw_densities(axis: Axes, densities: Densities) -> None:
    for curve in densities.curves:
        axis.plot(
            _points(curve.x),
            curve.y,
            color=BASELINE if curve.marked else CHALLENGER,
            linestyle="-." if curve.dashed else "-",
            linewidth=1.6,
            label=None if curve.dashed else safe_name(curve.name, 24),
        )
    axis.set_xlabel(_labelled(densities))
    axis.set_ylabel("posterior density")
    axis.set_ylim(bottom=0)
    axis.set_yticks([])
    axis.margins(x=0.02)


def _draw_lines(axis: Axes, lines: Lines) -> None:
    colours = [COLOURS[i % len(COLOURS)] for i in range(len(lines.series))]
    if lines.baseline:
        colours[:2] = colours[1::-1]
    series = lines.series
    if lines.in_points:
        series = [replace(one, x=_points(one.x)) for one in series]
    for i, (one, colour) in enumerate(zip(series, colours, strict=True)):
        if one.reference:
            axis.plot(one.x, _points(one.estimate), **_ZERO)
            continue
        for start, end in one.ranges:
            axis.axvspan(start, end, color=colour, alpha=0.12, linewidth=0)
        single = len(set(one.x)) == len(one.x) <= _MOST_MARKED  # corners of steps are no points
        low, high = _points(one.low), _points(one.high)
        axis.fill_between(one.x, low, high, color=colour, alpha=0.15, linewidth=0)
        if len(one.x) == 1:
            axis.vlines(one.x, low, high, color=colour)
        axis.plot(
            one.x,
            _points(one.estimate),
            color=colour,
            marker="ovs^DPX"[i % 7] if single else None,
            markersize=3.5,
            linewidth=1.4,
            label=safe_name(one.name),
        )
        if one.peak is not None:
            axis.plot(one.peak[0], 100 * one.peak[1], "*", color=colour, markersize=11, zorder=4)
    if lines.zero:
        axis.axhline(0, **_ZERO)
    if lines.stop is not None:
        axis.axvline(lines.stop, color="0.4", linewidth=0.8, linestyle=":")
    axis.set_xlabel(lines.axis)
    axis.set_ylabel(lines.up)
    axis.set_title(lines.note, fontsize=9)


def _points(values: Sequence[float]) -> list[float]:
    return [factor() * value for value in values]


def _labelled(picture: Picture) -> str:
    return safe_name(", ".join(filter(None, (picture.axis, picture.note))), 120)


_KINDS: dict[type[Picture], Callable[[Axes, Any], None]] = {
    Forest: _draw_forest,
    Density: _draw_density,
    Densities: _draw_densities,
    Lines: _draw_lines,
}
