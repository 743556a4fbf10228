"""The study of size and power as a document, and its figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative.reporting.document import Document, Table, number, payload
from probative.reporting.figures import COLOURS, new_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["tests_document", "tests_figure"]


def tests_document(study: Sequence[Any], *, signature: str) -> Document:
    """Show how often each method rejects and covers, with standard errors."""
    records = [result.to_dict() for result in study]
    level = study[0].level
    tables = [_table(study, "rejection", f"Share of rejections at {1 - level:.4g}")]
    if any(result.coverage is not None for result in study):
        tables += [
            _table(study, "coverage", f"Coverage of {level:.4g} intervals of the difference"),
            _table(study, "length", "Mean length of these intervals"),
        ]
    note = (
        f"{study[0].replicates:,} simulated test sets of {study[0].units:,} sentences per line; "
        "the number after ± is a standard error. Where the difference is 0, a rejection is a "
        "mistake."
    )
    return Document(
        title="Size and power of tests on clustered items",
        payload=payload("study tests", signature, conditions=records),
        tables=tuple(tables),
        records=tuple(records),
        notes=(note,),
    )


def _table(study: Sequence[Any], quantity: str, title: str) -> Table:
    kept = [result for result in study if getattr(result, quantity) is not None]
    methods = list(dict.fromkeys(result.method for result in kept))
    lines: dict[tuple[float, float], list[str]] = {}
    for result in kept:
        error = getattr(result, f"{quantity}_error", None)
        cell = number(getattr(result, quantity), 4 if error is None else 3)
        cell += "" if error is None else f" ± {number(error, 3)}"
        lines.setdefault((result.difference, result.correlation), []).append(cell)
    return Table(
        columns=("difference", "correlation", *methods),
        rows=tuple((f"{d:g}", f"{r:g}", *cells) for (d, r), cells in sorted(lines.items())),
        title=title,
        text_columns=0,
    )


def tests_figure(study: Sequence[Any]) -> Figure:
    """Rejections against the correlation, one panel per difference; and coverage."""
    differences = sorted({result.difference for result in study})
    covering = any(result.coverage is not None for result in study)
    figure, axes = new_figure(len(differences) + covering, squeeze=False, width=3.8)
    level = study[0].level
    for axis, difference in zip(axes[0], differences, strict=False):
        chosen = [result for result in study if result.difference == difference]
        _lines(axis, chosen, "rejection")
        axis.set_ylim(0, None if difference == 0 else 1)
        if difference == 0:
            axis.axhline(1 - level, color="0.4", linewidth=1, linestyle=(0, (4, 3)))
            axis.set_title("no difference: mistakes", fontsize=10)
        else:
            axis.set_title(f"true difference {difference:g}: power", fontsize=10)
        axis.set_ylabel("share of rejections")
    if covering:
        axis = axes[0][-1]
        chosen = [r for r in study if r.difference == differences[-1] and r.coverage is not None]
        _lines(axis, chosen, "coverage", first=len({r.method for r in study if r.coverage is None}))
        axis.axhline(level, color="0.4", linewidth=1, linestyle=(0, (4, 3)))
        axis.set_ylim(top=min(axis.get_ylim()[1], 1.01))  # nothing covers more often than always
        axis.set_title(f"true difference {differences[-1]:g}: coverage", fontsize=10)
        axis.set_ylabel(f"coverage of {level:g} intervals")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9
    )
    return figure


def _lines(axis: Axes, results: Sequence[Any], quantity: str, first: int = 0) -> None:
    """One line per method over the correlation, with bars of two standard errors."""
    methods = list(dict.fromkeys(result.method for result in results))
    styles = list(zip(COLOURS, "osD^vPX", strict=True))[first:]
    for place, ((colour, marker), method) in enumerate(zip(styles, methods, strict=False)):
        # methods that agree would hide each other
        aside = 0.008 * (place - (len(methods) - 1) / 2)
        points = sorted((r for r in results if r.method == method), key=lambda r: r.correlation)
        axis.errorbar(
            [r.correlation + aside for r in points],
            [getattr(r, quantity) for r in points],
            yerr=[2 * getattr(r, f"{quantity}_error") for r in points],
            color=colour,
            marker=marker,
            markersize=4.5,
            linewidth=1.2,
            elinewidth=0.8,
            label=method,
        )
    axis.set_xlabel("correlation within a sentence")
