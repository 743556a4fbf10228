"""Draw figures of scores and comparisons for papers and notebooks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.reporting.figures import BASELINE, CHALLENGER, density_curve, new_figure, safe_name
from probative.wording.numbers import equals, metric_name

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from probative.results import Comparison, Comparisons, Scores

__all__ = [
    "comparison_figure",
    "draw_differences",
    "draw_posterior",
    "draw_scores",
    "posterior_figure",
    "scores_figure",
]


def comparison_figure(result: Comparisons) -> Figure:
    """Draw the scores of the systems and the differences of the pairs side by side."""
    first = [c for c in result.comparisons if c.metric == result.comparisons[0].metric]
    rows = max(len(result.systems), len(first))
    width = _panel_width(
        [*(safe_name(system.name) for system in result.systems), *map(_pair, first)]
    )
    figure, axes = new_figure(2, width=width, height=0.9 + 0.32 * rows)
    draw_scores(axes[0], result, first[0].metric)
    draw_differences(axes[1], first)
    return figure


def scores_figure(scores: Scores) -> Figure:
    """Draw the scores of the systems, one panel for each of the first three metrics."""
    metrics = [score.metric for score in scores.systems[0].scores[:3]]
    width = _panel_width([safe_name(system.name) for system in scores.systems])
    figure, axes = new_figure(
        len(metrics), squeeze=False, width=width, height=0.9 + 0.32 * len(scores.systems)
    )
    for axis, metric in zip(axes[0], metrics, strict=True):
        draw_scores(axis, scores, metric)
    return figure


def posterior_figure(comparison: Comparison) -> Figure:
    """Draw the posterior of one difference."""
    figure, axis = new_figure()
    draw_posterior(axis, comparison)
    return figure


def draw_scores(axis: Axes, result: Scores, metric: str) -> None:
    """Draw a score of every system with its interval."""
    names = [score.metric for score in result.systems[0].scores]
    shown = names.index(metric) if metric in names else 0
    scores = [system.scores[shown] for system in result.systems]
    # a single system is no baseline
    marked = {0} if len(result.systems) > 1 else set()
    _draw_runs(axis, result, names[shown], marked)
    _draw_limits(
        axis, [safe_name(s.name) for s in result.systems], [_points(s) for s in scores], marked
    )
    axis.set_xlabel(
        f"{metric_name(names[shown], result.match)} (points), {100 * result.level:g} % intervals"
    )


def _draw_runs(axis: Axes, result: Scores, metric: str, marked: Collection[int]) -> None:
    """Draw the scores of single runs below the score of all."""
    known = {(own.system, own.metric): own.scores for own in result.run_scores or ()}
    for i, system in enumerate(result.systems):
        scores = known.get((system.name, metric), ())
        if len(scores) < 2:
            continue
        colour = BASELINE if i in marked else CHALLENGER
        places = [i + 0.24] * len(scores)
        axis.plot(
            [100 * s for s in scores],
            places,
            "o",
            color=colour,
            alpha=0.45,
            markersize=3,
            markeredgewidth=0,
            label="run",
        )


def draw_differences(axis: Axes, comparisons: Sequence[Comparison]) -> None:
    """Draw the difference of every pair with its interval, and the line of no difference."""
    limits = [tuple(100 * v for v in (c.difference, c.low, c.high)) for c in comparisons]
    axis.axvline(0, color="0.4", linewidth=1, linestyle=(0, (4, 3)))
    _draw_limits(axis, [_pair(c) for c in comparisons], limits)
    axis.set_xlabel(
        f"difference in {metric_name(comparisons[0].metric, comparisons[0].match)} (points)"
    )


def draw_posterior(axis: Axes, comparison: Comparison) -> None:
    """Draw the posterior of the difference, with the region of equivalence shaded."""
    c = comparison
    if c.rope > 0:
        axis.axvspan(-100 * c.rope, 100 * c.rope, color="0.85", zorder=0)
    axis.axvline(0, color="0.4", linewidth=1, linestyle=(0, (4, 3)))
    curve = density_curve(c.posterior)
    if curve is not None:
        grid, density = [100 * d for d in curve[0]], curve[1]
        axis.plot(grid, density, color="0.3", linewidth=1.4)
        for colour, low, high in (
            (BASELINE, -math.inf, -100 * c.rope),
            (CHALLENGER, 100 * c.rope, math.inf),
        ):
            fine = np.union1d(grid, np.clip([low, high], grid[0], grid[-1]))
            inside = (fine >= low) & (fine <= high)
            height = np.interp(fine, grid, density)
            axis.fill_between(fine, height, where=inside, alpha=0.3, color=colour, linewidth=0)
    axis.set_ylim(bottom=0)
    axis.set_yticks([])
    axis.set_xlabel(f"{_pair(c)}, {metric_name(c.metric, c.match)} (points)")
    parts = [
        f"P({safe_name(c.a)} better) {equals(c.p_a_better)}",
        f"P({safe_name(c.b)} better) {equals(c.p_b_better)}",
    ]
    if c.rope > 0:
        parts.insert(1, f"P(equivalent) {equals(c.p_equivalent)}")
    axis.set_title("\n".join(parts), fontsize=9)


def _draw_limits(
    axis: Axes,
    names: Sequence[str],
    limits: Sequence[tuple[Any, ...]],
    marked: Collection[int] = (),
) -> None:
    for i, (estimate, low, high) in enumerate(limits):
        if estimate != estimate:
            place = axis.get_yaxis_transform()  # x in fractions of the axis, y in rows
            axis.text(0.02, i, "undefined", transform=place, va="center", fontsize=9, color="0.4")
            continue
        colour = BASELINE if i in marked else CHALLENGER
        axis.plot([low, high], [i, i], color=colour, linewidth=2, solid_capstyle="round")
        axis.plot([estimate], [i], "o", color=colour, markersize=5)
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.grid(visible=False, axis="y")


def _panel_width(names: Sequence[str]) -> float:
    """Return the inches that leave room for the plot beside the longest name."""
    longest = max(sum(2 if ord(c) > 0x2E80 else 1 for c in name) for name in names)
    return max(4.0, 2.6 + 0.08 * longest)


def _points(score: Any) -> tuple[float, float, float]:
    return 100 * score.estimate, 100 * score.low, 100 * score.high


def _pair(c: Comparison) -> str:
    question = {"models": ", these models", "procedures": ", new runs"}.get(c.question or "", "")
    return f"{safe_name(c.b)} − {safe_name(c.a)}{question}"
