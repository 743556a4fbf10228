"""The figures of a curve for the page: precision by recall, scores by threshold, reliability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from probative.reporting.svg import Series, lines
from probative.wording.numbers import metric_name, points

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative._types import Array
    from probative.reporting.document import Drawing
    from probative.results import Curve

__all__ = ["curve_drawings", "fbeta_along", "steps_shown"]

_SHOWN = 200  # thresholds that a figure has room for


def curve_drawings(curve: Curve, name: str = "") -> list[Drawing]:
    """All figures of one curve.

    Parameters
    ----------
    curve
        What was found.
    name
        What titles call the system; nothing where there is one only.
    """
    who = f" of {name}" if name else ""
    drawings = []
    if len(curve.thresholds) > 1:  # of a single point there is no line
        drawings = [_by_recall(curve, who), _by_threshold(curve, who)]
    if curve.calibration is not None and len(curve.calibration.bins) > 1:
        drawings.append(_reliability(curve, who))
    return drawings


def steps_shown(curve: Curve) -> NDArray[np.int64]:
    """The thresholds that a figure shows."""
    return curve.shown(_SHOWN)


def fbeta_along(curve: Curve, at: NDArray[np.int64]) -> Array:
    """F-beta at these thresholds."""
    b = curve.best.beta**2
    return (1 + b) * curve.tp[at] / (b * curve.positives + curve.tp[at] + curve.fp[at])


def _as_steps(x: Array, *values: Array) -> tuple[Array, ...]:
    """Rising thresholds and what holds at each, as corners of steps.

    What a threshold scores holds for all above the next lower score, too: nothing slopes.
    """
    return np.repeat(x, 2)[:-1], *(np.repeat(v, 2)[1:] for v in values)


def _series(name: str, estimate: Array, low: Array, high: Array) -> Series:
    return Series(name, estimate.tolist(), low.tolist(), high.tolist())


def _by_recall(curve: Curve, who: str) -> Drawing:
    at = steps_shown(curve)
    recall, precision = curve.recall[at], curve.precision[at]
    one = curve.pointwise
    low, high = curve.simultaneous.at_recall(recall)
    level = f"{100 * curve.level:g} %"
    ap = curve.average_precision
    return lines(
        recall.tolist(),
        [
            _series(
                "all thresholds", precision, np.minimum(low, precision), np.maximum(high, precision)
            ),
            _series("one threshold", precision, one.precision_low[at], one.precision_high[at]),
        ],
        axis="recall",
        title=f"Precision{who} in points against recall, with {level} bands.",
        description=f"Average precision {points(ap.estimate)}, {level} interval "
        f"{points(ap.low)} to {points(ap.high)}.",
        reading="From left to right the threshold falls. The narrow band holds at a threshold that "
        "was chosen beforehand, the wide one along the whole curve at once.",
    )


def _by_threshold(curve: Curve, who: str) -> Drawing:
    at = steps_shown(curve)[::-1]
    one, best = curve.pointwise, curve.best
    name = metric_name(best.metric)
    low = max(best.threshold_low, float(curve.thresholds[-1]))
    score = fbeta_along(curve, at)
    thresholds, *values = _as_steps(
        curve.thresholds[at],
        *(curve.precision[at], one.precision_low[at], one.precision_high[at]),
        *(curve.recall[at], one.recall_low[at], one.recall_high[at]),
        *(score, score, score),
    )
    return lines(
        thresholds.tolist(),
        [
            _series("precision", *values[:3]),
            _series("recall", *values[3:6]),
            _series(name, *values[6:]),
        ],
        axis="threshold",
        title=f"Scores{who} in points by threshold, with {100 * curve.level:g} % intervals.",
        description=str(best),
        shaded=[(low, best.threshold_high)],
        reading=f"Items from a threshold on count as {curve.positive}. Shaded: where the threshold "
        f"with the highest {name} may well lie.",
    )


def _reliability(curve: Curve, who: str) -> Drawing:
    bins = curve.calibration.bins if curve.calibration is not None else ()
    mean, share, low, high = (
        np.array([getattr(b, field) for b in bins]) for field in ("mean", "share", "low", "high")
    )
    return lines(
        mean.tolist(),
        [_series("share positive", share, low, high), _series("ideal", mean, mean, mean)],
        axis="mean probability of a bin",
        title=f"Reliability{who}: share of positives in points by probability.",
        description=str(curve.calibration),
        reading="Bins of about as many items each. Where the band leaves out the ideal line, the "
        "probabilities say more or less than comes true.",
    )
