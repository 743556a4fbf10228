"""Posteriors for the page: the scores of two models, and their differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from probative.reporting.curves import density_curve
from probative.reporting.svg import Curve, densities, density
from probative.wording.numbers import metric_name, points, probability, region

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.reporting.document import Drawing
    from probative.results import BayesTest, DifferencePosterior, ScorePosteriors

__all__ = ["difference_drawing", "model_drawings"]

_SEEN = 0.01  # of the probability beyond the ends of a curve, from which on it is told


def model_drawings(
    panels: Sequence[ScorePosteriors],
    tests: Sequence[BayesTest],
    models: tuple[str, str],
    *,
    adjusted: bool = False,
) -> list[Drawing]:
    """Draw of each score the posteriors of both models, and that of their difference.

    Parameters
    ----------
    panels
        The posteriors of the scores.
    tests
        The tests that the verdict rests on.
    models
        What A and B are called.
    adjusted
        Whether the tests allow for the training variance, which the posteriors of scores do not.
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
    """The posterior of one difference; None where there is no curve to draw.

    Parameters
    ----------
    posterior
        The posterior of B minus A.
    metric, models
        The score, and what A and B are called.
    rope
        Half the width of the region of equivalence.
    probabilities
        That A is better, that both are equivalent, that B is better.
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
    if beyond > _SEEN:
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
