"""Curves of precision and recall as a figure for papers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from probative.reporting.curve_drawings import fbeta_along, steps_shown
from probative.reporting.figures import BASELINE, CHALLENGER, COLOURS, new_figure, safe_name
from probative.wording.numbers import metric_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from probative.results import Curve

__all__ = ["curves_figure"]


def curves_figure(curves: Sequence[Curve]) -> Figure:
    """Draw precision by recall, F-beta by threshold, and reliability where there are probabilities.

    Parameters
    ----------
    curves
        Of one system, or of several on the same items.
    """
    calibrated = [curve for curve in curves if curve.calibration is not None]
    figure, axes = new_figure(2 + bool(calibrated), width=3.6, height=3.4, squeeze=False)
    by_recall, by_threshold, *reliability = axes[0]
    for curve, colour in zip(curves, _colours(curves), strict=True):
        _draw_by_recall(by_recall, curve, colour)
        _draw_by_threshold(by_threshold, curve, colour)
        if curve.calibration is not None:
            _draw_reliability(reliability[0], curve, colour)
    level = f"{100 * curves[0].level:g} %"
    _finish(by_recall, "recall in points", "precision in points", f"{level} bands, simultaneous")
    name = metric_name(curves[0].best.metric)
    _finish(by_threshold, "threshold", f"{name} in points", "shaded: where the best may lie")
    if reliability:
        reliability[0].plot([0, 100], [0, 100], color="0.5", linewidth=0.8, linestyle="--")
        _finish(
            reliability[0],
            "mean probability in points",
            "share positive in points",
            f"reliability, {level} intervals",
        )
    if len(curves) > 1:
        handles, labels = by_recall.get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside lower center", ncols=min(4, len(curves)), frameon=False
        )
    return figure


def _colours(curves: Sequence[Curve]) -> list[str]:
    if len(curves) == 2:
        return [BASELINE, CHALLENGER]
    return [COLOURS[i % len(COLOURS)] for i in range(len(curves))]


def _finish(axis: Axes, x: str, y: str, title: str) -> None:
    axis.set_xlabel(x, fontsize=9)
    axis.set_ylabel(y, fontsize=9)
    axis.set_ylim(-2, 102)
    axis.set_title(title, fontsize=9)


def _draw_by_recall(axis: Axes, curve: Curve, colour: str) -> None:
    at = steps_shown(curve)
    recall, precision = curve.recall[at], curve.precision[at]
    low, high = curve.simultaneous.at_recall(recall)
    limits: Any = np.minimum(low, precision), np.maximum(high, precision)
    marker = "o" if len(at) <= 30 else None
    axis.fill_between(100 * recall, *(100 * v for v in limits), color=colour, alpha=0.15, lw=0)
    axis.plot(
        100 * recall,
        100 * precision,
        color=colour,
        marker=marker,
        markersize=3,
        linewidth=1.4,
        label=safe_name(curve.name),
    )
    axis.set_xlim(-2, 102)


def _draw_by_threshold(axis: Axes, curve: Curve, colour: str) -> None:
    at, best = steps_shown(curve), curve.best
    # what a threshold scores holds for all above the next lower score, too
    axis.step(
        curve.thresholds[at][::-1],
        100 * fbeta_along(curve, at)[::-1],
        where="pre",
        color=colour,
        linewidth=1.4,
    )
    low = max(best.threshold_low, float(curve.thresholds[-1]))
    axis.axvspan(low, best.threshold_high, color=colour, alpha=0.12, linewidth=0)
    axis.plot(best.threshold, 100 * best.apparent, "*", color=colour, markersize=10)


def _draw_reliability(axis: Axes, curve: Curve, colour: str) -> None:
    bins = curve.calibration.bins if curve.calibration is not None else ()
    mean, share = (np.array([getattr(b, name) for b in bins]) for name in ("mean", "share"))
    below = np.array([max(0.0, b.share - b.low) for b in bins])
    above = np.array([max(0.0, b.high - b.share) for b in bins])
    axis.errorbar(
        100 * mean,
        100 * share,
        yerr=[100 * below, 100 * above],
        color=colour,
        marker="o",
        markersize=3.5,
        linewidth=1.2,
        elinewidth=0.9,
    )
    axis.set_xlim(-2, 102)
