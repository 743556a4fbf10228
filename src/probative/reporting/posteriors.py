"""Draw posterior densities of two models and of their difference, as SVG and as figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from probative.reporting.figures import (
    BASELINE,
    CHALLENGER,
    COLOURS,
    density_curve,
    new_figure,
    safe_name,
)
from probative.reporting.svg import Curve, densities, density
from probative.wording.numbers import equals, metric_name, points, probability, region

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from probative._validation import Array
    from probative.reporting.document import Drawing
    from probative.results import BayesTest, DifferencePosterior, ScorePosteriors


# --- Drawings for the page

_MENTIONED_BEYOND = 0.01  # smallest probability beyond the ends of a curve that is mentioned


def model_drawings(
    panels: Sequence[ScorePosteriors],
    tests: Sequence[BayesTest],
    models: tuple[str, str],
    *,
    adjusted: bool = False,
) -> list[Drawing]:
    """Draw for each score the posteriors of both models, and that of their difference.

    `adjusted` tests allow for the training variance, which the posteriors of scores do not.
    """
    drawings = []
    for panel, test in zip(panels, tests, strict=True):
        probabilities = (test.p_a_better, test.p_equivalent, test.p_b_better)
        drawings += [
            _scores(panel, adjusted=adjusted),
            difference_drawing(
                test.posterior, test.metric, models, rope=test.rope, probabilities=probabilities
            ),
        ]
    return [drawing for drawing in drawings if drawing is not None]


def _scores(panel: ScorePosteriors, *, adjusted: bool) -> Drawing | None:
    curves = [
        Curve(model, scores.tolist(), heights.tolist(), marked=i == 0, dashed=weight > 0)
        for i, (model, by_weight) in enumerate(panel.curves().items())
        for weight, (scores, heights) in enumerate(by_weight.values())
        if np.isfinite(scores).all() and np.isfinite(heights).all()
    ]
    if not curves:
        return None
    name = metric_name(panel.metric)
    second = [weight for by_weight in panel.posteriors.values() for weight in [*by_weight][1:]]
    title = f"Posterior of {name}; the baseline in orange."
    if second:
        title = f"{title[:-1]}, dash-dotted with {second[0]} counts."
    reading = (
        "The higher a curve, the more plausible is that true score of its model, given these data; "
        "the more two curves overlap, the less they tell the models apart."
    )
    if adjusted:
        reading += (
            " These are the published posteriors, without the training variance; the intervals in "
            "the table and the difference allow for it."
        )
    peaks = "; ".join(
        f"{curve.name} peaks at {points(curve.x[int(np.argmax(curve.y))])}"
        for curve in curves
        if not curve.dashed
    )
    return densities(
        curves,
        axis=f"{name}, points",
        title=title,
        description=f"{title} {peaks} points",
        reading=reading,
    )


def difference_drawing(
    posterior: DifferencePosterior,
    metric: str,
    models: tuple[str, str],
    *,
    rope: float,
    probabilities: tuple[float, float, float],
) -> Drawing | None:
    """Draw the posterior of one difference; return None if there is no curve.

    `probabilities` are those that A is better, that both are equivalent, and that B is better.
    """
    curve = density_curve(posterior)
    if curve is None:
        return None
    name, (a, b) = metric_name(metric), models
    p_a, p_equivalent, p_b = map(probability, probabilities)
    reading = "The higher the curve, the more plausible is that true difference, given these data."
    if rope > 0:
        reading += (
            f" The coloured areas are the probabilities that {b} ({p_b}) or {a} ({p_a}) is better "
            f"by more than {region(rope)}; between them the two count as equivalent "
            f"({p_equivalent})."
        )
    else:
        reading += (
            f" The area right of the dashed line is the probability that {b} is better, {p_b}; the "
            f"area left of it that {a} is, {p_a}."
        )
    beyond = float(posterior.cdf(curve[0][0]) + posterior.sf(curve[0][-1]))
    if beyond > _MENTIONED_BEYOND:
        reading += (
            f" So few units rule nothing out: a probability of {probability(beyond)} lies beyond "
            f"the ends of the curve."
        )
    return density(
        *curve,
        rope=rope,
        sides=((a, f"better: {p_a}"), (b, f"better: {p_b}")),
        axis=f"difference in {name}, points",
        title=f"Posterior of the difference {b} − {a}.",
        description=f"Density of the difference in {name}; P({a} better) {p_a}, P({b} better) "
        f"{p_b}",
        reading=reading,
    )


# --- Figures for papers

_MODELS = (BASELINE, CHALLENGER, *COLOURS[2:])
# effective counts solid, averaged counts dash-dotted, as Wang and Li draw them
_STYLES = {"effective": "-", "averaged": "-."}


def density_figure(panels: Sequence[ScorePosteriors], *, title: str = "") -> Figure:
    """Draw posterior densities, one panel per score, one colour per model."""
    from matplotlib.lines import Line2D

    figure, axes = new_figure(len(panels), squeeze=False, width=3.4, height=2.9)
    models = list(panels[0].posteriors)
    weights = list(panels[0].posteriors[models[0]])
    for axis, panel in zip(axes[0], panels, strict=True):
        for colour, curves in zip(_MODELS, panel.curves().values(), strict=False):
            for style, (scores, height) in zip(_styles(weights), curves.values(), strict=True):
                axis.plot(100 * scores, height, color=colour, linestyle=style, linewidth=1.6)
        axis.set_xlabel(f"{_opening(metric_name(panel.metric))} (points)")
        axis.set_ylim(bottom=0)
        axis.set_yticks([])
        axis.margins(x=0.02)
        axis.locator_params(axis="x", nbins=5)
    axes[0][0].set_ylabel("posterior density")
    if title:
        figure.suptitle(title, fontsize=11)
    handles = [Line2D([], [], color=c) for c, _ in zip(_MODELS, models, strict=False)]
    labels = [safe_name(model, 24) for model in models]
    if len(weights) > 1:
        handles += [Line2D([], [], color="0.3", linestyle=s) for s in _styles(weights)]
        labels += [f"{weight} counts" for weight in weights]
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=_legend_columns(labels, figure.get_figwidth()),
        frameon=False,
        fontsize=9,
    )
    return figure


def _legend_columns(labels: Sequence[str], width: float) -> int:
    """Return the number of legend entries that fit side by side; `width` in inches."""
    entry = 0.5 + 0.068 * max(map(len, labels))
    return max(1, min(len(labels), int(width / entry)))


def difference_figure(
    tests: Sequence[BayesTest],
    *,
    models: tuple[str, str] = ("A", "B"),
) -> Figure:
    """Draw the posterior of the difference of each score, one panel per test."""
    figure, axes = new_figure(len(tests), squeeze=False, width=3.4, height=3.1)
    for axis, test in zip(axes[0], tests, strict=True):
        _draw_difference(axis, test, models)
    axes[0][0].set_ylabel("posterior density")
    return figure


def _draw_difference(axis: Axes, test: BayesTest, models: tuple[str, str]) -> None:
    axis.axvline(0, color="0.35", linewidth=1, linestyle=(0, (4, 3)))
    if test.rope > 0:
        axis.axvspan(-100 * test.rope, 100 * test.rope, color="0.88", zorder=0, linewidth=0)
    curve = density_curve(test.posterior)
    if curve is not None:
        _draw_shaded(axis, np.asarray(curve[0]), np.asarray(curve[1]), test.rope)
    axis.set_yticks([])
    axis.margins(x=0)
    axis.locator_params(axis="x", nbins=5)
    a, b = (safe_name(model, 24) for model in models)
    axis.set_xlabel(f"{b} − {a}, {_opening(metric_name(test.metric))} (points)")
    words = [
        (f"P({a} better) {equals(test.p_a_better)}", BASELINE),
        (f"P({b} better) {equals(test.p_b_better)}", CHALLENGER),
    ]
    if test.rope > 0:
        words.insert(1, (f"P(equivalent) {equals(test.p_equivalent)}", "0.3"))
    for line, (text, colour) in enumerate(reversed(words)):
        axis.text(
            0.5,
            1.03 + 0.085 * line,
            text,
            transform=axis.transAxes,
            ha="center",
            fontsize=9,
            color=colour,
        )


def _draw_shaded(axis: Axes, differences: Array, density: Array, rope: float) -> None:
    """Draw the curve, with the sides on which A and B are better in colour."""
    edges = np.clip([-rope, rope], differences[0], differences[-1])
    grid = np.union1d(differences, edges)  # so that the shaded parts meet
    height = np.interp(grid, differences, density)
    for colour, side in ((BASELINE, grid <= -rope), (CHALLENGER, grid >= rope)):
        axis.fill_between(100 * grid, height, where=side, color=colour, alpha=0.3, linewidth=0)
    axis.plot(100 * grid, height, color="0.15", linewidth=1.4)
    axis.set_ylim(0, 1.08 * height.max())


def _styles(weights: Sequence[str]) -> list[Any]:
    return [_STYLES.get(weight, "-") for weight in weights]


def _opening(words: str) -> str:
    """Capitalise the first letter."""
    return words[:1].upper() + words[1:]
