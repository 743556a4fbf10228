"""Make figures with one style, no global state, and the same bytes for the same input."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.files import write_whole
from probative.reporting.escape import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from probative.results import DifferencePosterior


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


def safe_name(name: str, longest: int = 30) -> str:
    """Shorten a name, and escape dollar signs, which matplotlib reads as formulas."""
    short = name if len(name) <= longest else name[: longest - 1] + "…"
    return plain(short).replace("$", r"\$")


# --- Curve of a posterior

_DRAWN_PROBABILITY = 0.999  # beyond this range the density is too low to be seen
_POINTS_OF_A_CURVE = 101
_LARGEST_DRAWN = 1 - 1e-9  # of the largest difference, at which there is no density


def density_curve(posterior: DifferencePosterior) -> tuple[list[float], list[float]] | None:
    """Return differences and their density, or None if there is no curve."""
    limits = np.array(getattr(posterior, "shown", posterior.interval)(_DRAWN_PROBABILITY))
    most = 1.0 if np.max(np.abs(limits)) <= 1 else 2.0  # scores that go down to -1 can differ by 2
    low, high = np.clip(limits, -_LARGEST_DRAWN * most, _LARGEST_DRAWN * most)
    if not low < high:
        return None
    grid = np.linspace(low, high, _POINTS_OF_A_CURVE)
    density = np.asarray(posterior.pdf(grid))
    return (grid.tolist(), density.tolist()) if np.all(np.isfinite(density)) else None
