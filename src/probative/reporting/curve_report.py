"""Build the documents and figures of curves: average precision, thresholds, calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from probative.reporting.document import Document, Table, payload
from probative.reporting.figures import BASELINE, CHALLENGER, COLOURS, new_figure, safe_name
from probative.reporting.svg import Series, lines
from probative.wording.numbers import (
    metric_name,
    number,
    points,
    probability,
    pvalue,
    signed_points,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from probative._validation import Array
    from probative.reporting.document import Drawing
    from probative.results import Comparison, Curve, CurveComparison, GateVerdict, Interval


# --- Figures for the page: precision by recall, scores by threshold, reliability

_MOST_THRESHOLDS_DRAWN = 200  # thresholds in a figure


def _curve_drawings(curve: Curve, name: str = "") -> list[Drawing]:
    """Draw all figures of one curve; `name` is empty if there is only one system."""
    who = f" of {name}" if name else ""
    drawings = []
    if len(curve.thresholds) > 1:  # a single point is no line
        drawings = [_by_recall(curve, who), _by_threshold(curve, who)]
    if curve.calibration is not None and len(curve.calibration.bins) > 1:
        drawings.append(_reliability(curve, who))
    return drawings


def _steps_shown(curve: Curve) -> NDArray[np.int64]:
    """Return the thresholds that a figure shows."""
    return curve.shown(_MOST_THRESHOLDS_DRAWN)


def _fbeta_along(curve: Curve, at: NDArray[np.int64]) -> Array:
    """Compute F-beta at these thresholds."""
    b = curve.best.beta**2
    return (1 + b) * curve.tp[at] / (b * curve.positives + curve.tp[at] + curve.fp[at])


def _as_steps(x: Array, *values: Array) -> tuple[Array, ...]:
    """Return rising thresholds and their values as corners of steps.

    The score at a threshold holds down to the next lower score, so that nothing slopes.
    """
    return np.repeat(x, 2)[:-1], *(np.repeat(v, 2)[1:] for v in values)


def _series(name: str, estimate: Array, low: Array, high: Array) -> Series:
    return Series(name, estimate.tolist(), low.tolist(), high.tolist())


def _by_recall(curve: Curve, who: str) -> Drawing:
    at = _steps_shown(curve)
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
    at = _steps_shown(curve)[::-1]
    one, best = curve.pointwise, curve.best
    name = metric_name(best.metric)
    low = max(best.threshold_low, float(curve.thresholds[-1]))
    score = _fbeta_along(curve, at)
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


def curves_document(curves: Sequence[Curve]) -> Document:
    """Build the document of the curves of one or more systems."""
    return Document(
        title="What the probabilities are worth"
        if _probable(curves)
        else "What the scores are worth",
        payload=payload(
            "score", curves[0].signature, task="probabilities", systems=_entries(curves)
        ),
        tables=_tables(curves),
        records=tuple({"system": c.name, **_summary(c)} for c in curves),
        notes=(*_readings(curves), curves[0].signature),
        drawings=_drawings(curves),
    )


def comparison_document(comparison: CurveComparison, gates: Sequence[GateVerdict] = ()) -> Document:
    """Build the document of two curves: differences, verdict and gates."""
    curves, c = comparison.curves, comparison.comparisons
    judged = {"gates": [gate.to_dict() for gate in gates]} if gates else {}
    table = Table(
        ("score", curves[0].name, curves[1].name, "difference", "interval", "p", "P(better)"),
        tuple(
            (
                metric_name(one.metric),
                points(one.score_a),
                points(one.score_b),
                signed_points(one.difference, 2),
                f"{signed_points(one.low)} to {signed_points(one.high)}",
                pvalue(one.pvalue),
                probability(one.p_b_better),
            )
            for one in c
        ),
        title=f"Differences in points, {c[0].b} minus {c[0].a}, with "
        f"{100 * comparison.level:g} % intervals",
        notes=(
            f"p: {_how(c)}. P(better): that {c[0].b} is better.",
            "Best scores are those to expect of thresholds chosen on these data.",
            *(f"p of {metric_name(one.metric)}: {one.note}." for one in c if one.note),
        ),
    )
    return Document(
        title=f"{c[0].b} against {c[0].a}",
        payload=payload(
            "compare",
            comparison.signature,
            task="probabilities",
            systems=_entries(curves),
            comparisons=[one.to_dict() for one in c],
            verdicts=list(comparison.verdicts),
            **judged,
        ),
        tables=(table, *_tables(curves)),
        records=tuple(comparison.records()),
        notes=(*comparison.verdicts, *_readings(curves), comparison.signature),
        drawings=_drawings(curves),
        content=lambda: {"leading": [*comparison.verdicts, *map(_sentence, gates)]},
    )


def _how(comparisons: Sequence[Comparison]) -> str:
    """Return how the p-values were computed, and the number of draws."""
    by = comparisons[0].by
    draws = [c.draws for c in comparisons if c.draws is not None]
    if not draws:
        return f"every exchange of ranks by {by}"
    numbers = " to ".join(f"{n:,}" for n in sorted({min(draws), max(draws)}))
    return (
        f"sampled exchange of ranks by {by}, drawn until the decision at 0.05 and 0.01 is clear "
        f"({numbers} draws)"
    )


def _sentence(gate: GateVerdict) -> str:
    words = f"{gate}."
    return words[:1].upper() + words[1:]


def _entries(curves: Sequence[Curve]) -> list[dict[str, Any]]:
    return [curve.to_dict() for curve in curves]


def _probable(curves: Sequence[Curve]) -> bool:
    return all(curve.calibration is not None for curve in curves)


def _tables(curves: Sequence[Curve]) -> tuple[Table, ...]:
    tables = [_score_table(curves), _threshold_table(curves)]
    calibrated = [curve for curve in curves if curve.calibration is not None]
    if calibrated:
        tables.append(_calibration_table(calibrated))
        tables += (_bin_table(curve) for curve in calibrated if len(curves) == 1)
    return tuple(tables)


def _limits(low: float, high: float) -> str:
    return f"{points(low, 1)}–{points(high, 1)}"


def _score_table(curves: Sequence[Curve]) -> Table:
    level = 100 * curves[0].level
    notes = [
        f"{curve.name}: {words}: {one.note}"
        for curve in curves
        for words, one in _scores(curve)
        if one.note
    ]
    return Table(
        ("system", "items", "positive", "average precision", "interval", "ROC AUC", "interval"),
        tuple(
            (
                curve.name,
                f"{curve.items:,}",
                f"{curve.positives:,}",
                points(curve.average_precision.estimate),
                _limits(curve.average_precision.low, curve.average_precision.high),
                points(curve.roc_auc.estimate),
                _limits(curve.roc_auc.low, curve.roc_auc.high),
            )
            for curve in curves
        ),
        title=f"Order of the items: scores in points with {level:g} % intervals",
        notes=tuple(notes),
    )


def _scores(curve: Curve) -> tuple[tuple[str, Interval], ...]:
    return ("average precision", curve.average_precision), ("ROC AUC", curve.roc_auc)


def _threshold_table(curves: Sequence[Curve]) -> Table:
    name = metric_name(curves[0].best.metric)
    rows = []
    for curve in curves:
        best = curve.best
        low = "any" if best.threshold_low == -float("inf") else f"{best.threshold_low:.4g}"
        rows.append(
            (
                curve.name,
                f"{best.threshold:.4g}",
                f"{low}–{best.threshold_high:.4g}",
                points(best.apparent),
                points(best.estimate),
                _limits(best.low, best.high),
                points(best.precision, 1),
                points(best.recall, 1),
            )
        )
    notes = dict.fromkeys(f"{c.name}: {c.best.note}" for c in curves if c.best.note)
    return Table(
        (
            "system",
            "best threshold",
            "interval",
            f"{name} here",
            f"{name} elsewhere",
            "interval",
            "precision",
            "recall",
        ),
        tuple(rows),
        title=f"The threshold with the highest {name}, and what it will score on other data",
        notes=tuple(notes),
        droppable=(6, 7),
    )


def _calibration_table(curves: Sequence[Curve]) -> Table:
    rows = []
    for curve in curves:
        c = curve.calibration
        if c is None:
            continue
        rows.append(
            (
                curve.name,
                points(c.ece_debiased),
                _limits(c.ece_low, c.ece_high),
                points(c.ece),
                points(c.ece_by_chance),
                number(c.brier, 4),
                number(c.miscalibration, 4),
                number(c.discrimination, 4),
                number(c.uncertainty, 4),
            )
        )
    notes = (
        f"{c.name}: {c.calibration.note}" for c in curves if c.calibration and c.calibration.note
    )
    return Table(
        (
            "system",
            "calibration error",
            "interval",
            "as seen",
            "by chance",
            "Brier",
            "miscalibration",
            "discrimination",
            "uncertainty",
        ),
        tuple(rows),
        title="Do the probabilities mean what they say? Calibration error in points, Brier score",
        notes=tuple(notes),
        droppable=(8, 7, 6),
    )


def _bin_table(curve: Curve) -> Table:
    bins = curve.calibration.bins if curve.calibration is not None else ()
    return Table(
        ("from", "to", "items", "mean probability", "share positive", "interval"),
        tuple(
            (
                number(b.low_edge),
                number(b.high_edge),
                f"{b.items:,}",
                points(b.mean, 1),
                points(b.share, 1),
                _limits(b.low, b.high),
            )
            for b in bins
        ),
        title="Reliability: bins of about as many items each, in points",
        text_columns=0,
    )


def _readings(curves: Sequence[Curve]) -> tuple[str, ...]:
    best = curves[0].best
    name = metric_name(best.metric)
    first = (
        f"{name} here is that of the best threshold on the data that chose it, hence too high; "
        f"elsewhere: cross-fitted, with an interval that allows for the choice."
    )
    bands = (
        f"Bands: pointwise ones ({curves[0].pointwise.method}) hold at a threshold chosen "
        f"beforehand, simultaneous ones ({curves[0].simultaneous.method}) at all together."
    )
    doubts = dict.fromkeys(
        f"{band.kind.capitalize()} limits: {band.note}."
        for curve in curves
        for band in (curve.pointwise, curve.simultaneous)
        if band.note
    )
    return first, " ".join([bands, *doubts])


def _summary(curve: Curve) -> dict[str, Any]:
    """Return one record of numbers per system, for CSV."""
    ap, auc, best, c = curve.average_precision, curve.roc_auc, curve.best, curve.calibration
    return {
        "items": curve.items,
        "positives": curve.positives,
        "average_precision": ap.estimate,
        "average_precision_low": ap.low,
        "average_precision_high": ap.high,
        "roc_auc": auc.estimate,
        "roc_auc_low": auc.low,
        "roc_auc_high": auc.high,
        "metric": best.metric,
        "threshold": best.threshold,
        "apparent": best.apparent,
        "estimate": best.estimate,
        "low": best.low,
        "high": best.high,
        "ece_debiased": None if c is None else c.ece_debiased,
        "ece_low": None if c is None else c.ece_low,
        "ece_high": None if c is None else c.ece_high,
        "brier": None if c is None else c.brier,
    }


def _drawings(curves: Sequence[Curve]) -> tuple[Drawing, ...]:
    """Return the figures of all systems, with those of one kind side by side."""
    several = len(curves) > 1
    by_system = [_curve_drawings(c, c.name if several else "") for c in curves]
    most = max(map(len, by_system))
    return tuple(own[k] for k in range(most) for own in by_system if k < len(own))


# --- Figure for papers


def curves_figure(curves: Sequence[Curve]) -> Figure:
    """Draw precision by recall, F-beta by threshold, and reliability of probabilities."""
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
    at = _steps_shown(curve)
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
    at, best = _steps_shown(curve), curve.best
    # the score at a threshold holds down to the next lower score
    axis.step(
        curve.thresholds[at][::-1],
        100 * _fbeta_along(curve, at)[::-1],
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
