"""What runs and units would bring, as contours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from probative.errors import InputError
from probative.reporting.figures import COLOURS, new_figure
from probative.wording.numbers import metric_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from probative.results.runs import RunsPlan

__all__ = ["runs_plan_figure"]

# points that people call by name; one contour for each that lies on the figure
_ROUND = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100)
_MOST_LINES = 8


def runs_plan_figure(plan: RunsPlan) -> Figure:
    """Draw the half-width of the interval over units and runs, and where the power is enough.

    A contour joins designs whose intervals are as long: where it is upright, only more units help,
    where it lies flat, only more runs do.
    """
    surface = plan.surface
    if surface is None or not np.all(surface.half_widths > 0):
        raise InputError("plan: nothing varies in the pilot, so there is nothing to draw")
    figure, axis = new_figure(1, 1, width=5.4, height=3.8)
    axis.set_xscale("log")
    axis.set_yscale("log")
    widths = 100 * surface.half_widths
    lines = axis.contour(
        surface.units,
        surface.runs,
        widths,
        levels=_levels(float(widths.min()), float(widths.max())),
        colors="0.45",
        linewidths=1,
    )
    axis.clabel(lines, fmt=lambda value: f"±{value:g}", fontsize=8)
    reached = surface.powers.max() >= plan.power > surface.powers.min()
    if reached:
        axis.contourf(
            surface.units,
            surface.runs,
            surface.powers,
            levels=[plan.power, 1.01],
            colors=[COLOURS[5]],
            alpha=0.35,
        )
    now = (plan.n_runs_a + plan.n_runs_b) / 2
    axis.plot(
        plan.observed_units, now, "o", color=COLOURS[1], markersize=6, zorder=3, clip_on=False
    )
    axis.set_yticks(plan.runs, [str(number) for number in plan.runs])
    axis.set_xticks(plan.units, [f"{number:,}" for number in plan.units], rotation=30, ha="right")
    axis.minorticks_off()
    axis.set_xlabel(f"{plan.by}s")
    axis.set_ylabel("runs of either system")
    shaded = (
        f"; shaded: {100 * plan.difference:.3g} points show with power {plan.power:g}"
        if reached
        else ""
    )
    axis.set_title(
        f"{metric_name(plan.metric)}: half the length of the {100 * plan.level:g} % interval, "
        f"points\ndot: as now{shaded}",
        fontsize=9,
    )
    return figure


def _levels(low: float, high: float) -> list[float]:
    """Round numbers between two others, a few of them at most."""
    found = [value for value in _ROUND if low < value < high]
    if len(found) > _MOST_LINES:
        found = found[:: -(-len(found) // _MOST_LINES)]
    return found or [(low + high) / 2]
