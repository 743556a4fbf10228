"""What all figures share: one look, no global state, the same bytes for the same input."""

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
    """Return a figure and its axes in the house style; sizes are inches a panel."""
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
    """Return a figure as PNG, SVG or PDF, with neither date nor random names inside."""
    import matplotlib as mpl

    out = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form, {})
    repeatable = mpl.rc_context({"svg.hashsalt": "probative", "svg.fonttype": "path"})
    with repeatable, warnings.catch_warnings():
        # characters that the font lacks are drawn as boxes, which the reader sees without a warning
        warnings.filterwarnings("ignore", message="Glyph .* missing from ")
        figure.savefig(out, format=form, dpi=160, metadata=undated)
    return out.getvalue()


def save_figure(figure: Figure, path: Path | str) -> None:
    """Write a figure; the ending of the file's name says in which form."""
    write_whole(path, figure_bytes(figure, figure_format(path)))


def figure_format(path: Path | str) -> str:
    """Return the form that the ending of a file's name asks for."""
    form = Path(path).suffix.lower().lstrip(".")
    if form not in _FIGURE_FORMATS:
        raise InputError(
            f"a figure cannot be written as {form!r}; expected a name ending in .png, .svg or .pdf",
            path,
        )
    return form


def safe_name(name: str, longest: int = 30) -> str:
    """Keep matplotlib from reading dollar signs as formulas, and long names from taking over."""
    short = name if len(name) <= longest else name[: longest - 1] + "…"
    return plain(short).replace("$", r"\$")


# -----------------------------------------------------------------------------
# The curve of a posterior, for every figure that shows one.
# -----------------------------------------------------------------------------

_SHOWN = 0.999  # of the probability; what lies further out is too low to be seen
_POINTS = 101
_ENDS = 1 - 1e-9  # of the largest difference, which has no density itself


def density_curve(posterior: DifferencePosterior) -> tuple[list[float], list[float]] | None:
    """Differences and the density there, or None where there is no curve to draw."""
    limits = np.array(getattr(posterior, "shown", posterior.interval)(_SHOWN))
    most = 1.0 if np.max(np.abs(limits)) <= 1 else 2.0  # what scores down to -1 may differ by
    low, high = np.clip(limits, -_ENDS * most, _ENDS * most)
    if not low < high:
        return None
    grid = np.linspace(low, high, _POINTS)
    density = np.asarray(posterior.pdf(grid))
    return (grid.tolist(), density.tolist()) if np.all(np.isfinite(density)) else None
