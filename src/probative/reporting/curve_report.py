"""Build the documents and figures of scores along thresholds: curves and sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.reporting.document import (
    Answer,
    Column,
    Document,
    Named,
    Table,
    Words,
    estimate_in_full,
    estimated,
    evidence_words,
    gate_answers,
    limits,
    payload,
    score_words,
    with_ends,
)
from probative.reporting.pictures import Lines, Series, figure
from probative.wording.numbers import (
    brackets,
    metric_name,
    number,
    points,
    probability,
    pvalue,
    signed_points,
    with_interval,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from probative._validation import Array
    from probative.results import (
        Comparison,
        Curve,
        CurveComparison,
        GateVerdict,
        Interval,
        SegmentationSweep,
    )


# --- Pictures: precision by recall, scores by threshold, reliability

_MOST_THRESHOLDS_DRAWN = 200  # thresholds in a picture


def _pictures(curves: Sequence[Curve]) -> list[Lines]:
    """Picture the curves: one system with all its scores, several beside each other."""
    drawn = any(len(curve.thresholds) > 1 for curve in curves)  # a single point is no line
    binned = [c for c in curves if c.calibration is not None and len(c.calibration.bins) > 1]
    lines = [_by_recall(curves), _by_threshold(curves)] if drawn else []
    return [*lines, *([_reliability(binned)] if binned else [])]


def curves_figure(curves: Sequence[Curve]) -> Figure:
    """Draw precision by recall, F-beta by threshold, and reliability of probabilities."""
    return figure(*(_pictures(curves) or [_by_recall(curves), _by_threshold(curves)]))


def _series(name: str, *values: Array, **more: Any) -> Series:
    x, *scores = (value.tolist() for value in values)
    return Series(name, x, *(scores if len(scores) > 1 else scores * 3), **more)


def _who(curves: Sequence[Curve]) -> str:
    """Return whose curves these are; empty text if it is the only system."""
    return "" if len(curves) == 1 else f" of {', '.join(curve.name for curve in curves)}"


def _described(curves: Sequence[Curve], words: Sequence[str]) -> str:
    """Return the words on each curve, after the name of its system if there are several."""
    if len(curves) == 1:
        return words[0]
    return " ".join(f"{curve.name}: {said}" for curve, said in zip(curves, words, strict=True))


def _by_recall(curves: Sequence[Curve]) -> Lines:
    alone, series, level = len(curves) == 1, [], f"{100 * curves[0].level:g} %"
    for curve in curves:
        at = curve.shown(_MOST_THRESHOLDS_DRAWN)
        recall, precision = curve.recall[at], curve.precision[at]
        one, (low, high) = curve.pointwise, curve.simultaneous.at_recall(recall)
        wide = np.minimum(low, precision), np.maximum(high, precision)
        series.append(_series("all thresholds" if alone else curve.name, recall, precision, *wide))
        if alone:
            narrow = one.precision_low[at], one.precision_high[at]
            series.append(_series("one threshold", recall, precision, *narrow))
    averages = [curve.average_precision for curve in curves]
    words = [
        f"Average precision {points(ap.estimate, 1)} {brackets(ap.low, ap.high, 1)}, {level} "
        f"interval."
        for ap in averages
    ]
    whole = "band for the whole curve at once."
    bands = f"The narrow band is for one threshold chosen in advance, the wide {whole}"
    bands = bands if alone else "The band is for the whole curve at once."
    return Lines(
        series,
        axis="recall, points",
        in_points=True,
        up="precision, points",
        title=f"Precision{_who(curves)} in points against recall, with {level} bands.",
        description=_described(curves, words),
        reading=f"From left to right the threshold falls. {bands}",
        note=f"{level} bands",
        baseline=len(curves) == 2,
    )


def _by_threshold(curves: Sequence[Curve]) -> Lines:
    alone, series = len(curves) == 1, []
    name, level = metric_name(curves[0].best.metric), f"{100 * curves[0].level:g} %"
    for curve in curves:
        at, one, best = curve.shown(_MOST_THRESHOLDS_DRAWN)[::-1], curve.pointwise, curve.best
        b = best.beta**2
        found = (
            (1 + b) * curve.tp[at] / (b * curve.positives + curve.tp[at] + curve.fp[at]),
            *(curve.precision[at], one.precision_low[at], one.precision_high[at]),
            *(curve.recall[at], one.recall_low[at], one.recall_high[at]),
        )
        # corners of steps: the score at a threshold holds down to the next lower one
        x = np.repeat(curve.thresholds[at], 2)[:-1]
        score, *values = (np.repeat(value, 2)[1:] for value in found)
        if alone:
            series.append(_series("precision", x, *values[:3]))
            series.append(_series("recall", x, *values[3:]))
        low = max(best.threshold_low, float(curve.thresholds[-1]))
        about = {"ranges": ((low, best.threshold_high),), "peak": (best.threshold, best.apparent)}
        series.append(_series(name if alone else curve.name, x, score, **about))
    what = f"Scores in points by threshold, with {level} intervals."
    return Lines(
        series,
        axis="threshold",
        up="points" if alone else f"{name}, points",
        title=what if alone else f"{name}{_who(curves)} in points by threshold.",
        description=_described(curves, [str(curve.best) for curve in curves]),
        reading=f"Items at or above a threshold count as {curves[0].positive}. Shaded: interval of "
        f"the threshold with the highest {name}; the dot marks it.",
        note="shaded: interval of the best threshold",
        baseline=len(curves) == 2,
    )


def _reliability(curves: Sequence[Curve]) -> Lines:
    series = []
    for curve in curves:
        bins = curve.calibration.bins if curve.calibration is not None else ()
        columns = np.array([(b.mean, b.share, b.low, b.high) for b in bins]).T
        series.append(_series(curve.name if len(curves) > 1 else "share positive", *columns))
    ideal = np.array(sorted({x for one in series for x in one.x}))
    return Lines(
        [*series, _series("ideal", ideal, ideal, reference=True)],
        axis="mean probability of a bin, points",
        in_points=True,
        up="share positive, points",
        title=f"Reliability{_who(curves)}: share of positives in points by probability.",
        description=_described(curves, [str(curve.calibration) for curve in curves]),
        reading="Bins have about the same number of items. Where the band excludes the ideal line, "
        "the probabilities are too high or too low.",
        note=f"reliability, {100 * curves[0].level:g} % intervals",
        baseline=len(curves) == 2,
    )


# --- Documents


def curves_document(curves: Sequence[Curve]) -> Document:
    """Build the document of the curves of one or more systems."""
    probable = all(curve.calibration is not None for curve in curves)
    signed, systems = curves[0].signature, [curve.to_dict() for curve in curves]
    return Document(
        title=f"How good are the {'probabilities' if probable else 'scores'}?",
        payload=payload("score", signed, task="probabilities", systems=systems),
        tables=_tables(curves),
        records=tuple({"system": c.name, **_summary(c)} for c in curves),
        notes=(*_readings(curves), signed),
        pictures=tuple(_pictures(curves)),
        headline=(_headline(curves),),
    )


def _headline(curves: Sequence[Curve]) -> Answer:
    """Return the best threshold of one system, or the highest average precision of several."""
    first = max(curves, key=lambda curve: curve.average_precision.estimate)
    average, best = score_words(first.average_precision), first.best
    if len(curves) > 1:
        return Answer(f"Highest average precision: {first.name} {average}")
    score = f"{metric_name(best.metric)} {score_words(best)} expected on other data"
    words = f"Best threshold {number(best.threshold)}: {score}"
    return Answer(words, "fact", (f"Average precision {average}.",))


def comparison_document(comparison: CurveComparison, gates: Sequence[GateVerdict] = ()) -> Document:
    """Build the document of two curves: differences, verdict and gates."""
    curves, c, content = comparison.curves, comparison.comparisons, comparison.to_dict()
    systems = content.pop("curves")
    found = Answer(*evidence_words(c[0]), tuple(comparison.verdicts[:1]))

    def difference(one: Comparison) -> str:
        ends = signed_points(one.low), signed_points(one.high)
        return with_ends(signed_points(one.difference, 2), *ends)

    table = Table.of(
        c,
        Words("score", "metric", metric_name),
        Column(curves[0].name, "score_a", points),
        Column(curves[1].name, "score_b", points),
        Column("difference", difference),
        Column("p", "pvalue", pvalue),
        Column("P(better)", "p_b_better", probability),
        title=f"Differences in points, {c[0].b} minus {c[0].a}, with "
        f"{100 * comparison.level:g} % intervals",
        notes=(
            f"p: {_how(c)}. P(better): that {c[0].b} is better.",
            *(
                f"{metric_name(one.metric)}: expected on new data, with the threshold chosen here."
                for one in c
                if one.metric.startswith("best_")
            ),
            *(f"p of {metric_name(one.metric)}: {one.note}." for one in c if one.note),
        ),
    )
    return Document(
        title=f"{c[0].b} against {c[0].a}",
        payload=payload(
            "compare", comparison.signature, gates, task="probabilities", systems=systems, **content
        ),
        tables=(table, *_tables(curves)),
        records=tuple(comparison.records()),
        notes=(*comparison.verdicts, *_readings(curves), comparison.signature),
        pictures=tuple(_pictures(curves)),
        headline=(*gate_answers(gates), found),
    )


def _how(comparisons: Sequence[Comparison]) -> str:
    """Return how the p-values were computed, and the number of draws."""
    how = f"exchange of ranks by {comparisons[0].by}"
    draws = [c.draws for c in comparisons if c.draws is not None]
    if not draws:
        return f"every {how}"
    numbers = " to ".join(f"{n:,}" for n in sorted({min(draws), max(draws)}))
    return f"sampled {how}, drawn until the decision at 0.05 and 0.01 is clear ({numbers} draws)"


def _tables(curves: Sequence[Curve]) -> tuple[Table, ...]:
    tables = [_score_table(curves), _threshold_table(curves)]
    found = [Named(c.name, c.calibration) for c in curves if c.calibration is not None]
    if found:
        tables.append(_calibration_table(found))
        tables += (_bin_table(one.score.bins) for one in found if len(curves) == 1)
    return tuple(tables)


def _score_table(curves: Sequence[Curve]) -> Table:
    return Table.of(
        curves,
        Words("system", "name"),
        Column("items"),
        Column("positive", "positives"),
        Column("average precision", "average_precision", estimate_in_full),
        Column("ROC AUC", "roc_auc", estimate_in_full),
        title=f"Order of the items: scores in points with {100 * curves[0].level:g} % intervals",
        notes=[
            f"{curve.name}: {metric_name(score.metric)}: {score.note}"
            for curve in curves
            for score in (curve.average_precision, curve.roc_auc)
            if score.note
        ],
    )


def _threshold_table(curves: Sequence[Curve]) -> Table:
    name = metric_name(curves[0].best.metric)

    def threshold(curve: Curve) -> str:
        best, low = curve.best, curve.best.threshold_low
        ends = "any" if low == -inf else f"{low:.4g}", f"{best.threshold_high:.4g}"
        return with_ends(f"{best.threshold:.4g}", *ends)

    return Table.of(
        curves,
        Words("system", "name"),
        Column("best threshold", threshold),
        Column(f"{name} here", "best.apparent", points),
        Column(f"{name} elsewhere", "best", estimate_in_full),
        Column("precision", lambda curve: points(curve.best.precision, 1), drop=1),
        Column("recall", lambda curve: points(curve.best.recall, 1), drop=2),
        title=f"Best threshold for {name}, and its expected score on new data",
        notes=dict.fromkeys(f"{c.name}: {c.best.note}" for c in curves if c.best.note),
    )


def _calibration_table(found: Sequence[Named]) -> Table:
    four = partial(number, digits=4)

    def error(calibration: Any) -> str:
        return estimated(calibration.ece_debiased, calibration.ece_low, calibration.ece_high)

    return Table.of(
        found,
        Words("system", "name"),
        Column("calibration error", "score", error),
        Column("as seen", "score.ece", points),
        Column("by chance", "score.ece_by_chance", points),
        Column("Brier", "score.brier", four),
        Column("miscalibration", "score.miscalibration", four, drop=3),
        Column("discrimination", "score.discrimination", four, drop=2),
        Column("uncertainty", "score.uncertainty", four, drop=1),
        title="Calibration error in points, Brier score",
        notes=[f"{one.name}: {one.score.note}" for one in found if one.score.note],
    )


def _bin_table(bins: Sequence[Any]) -> Table:
    return Table.of(
        bins,
        Column("from", "low_edge", number),
        Column("to", "high_edge", number),
        Column("items"),
        Column("mean probability", lambda b: points(b.mean, 1)),
        Column("share positive", lambda b: with_interval(b.share, b.low, b.high, 1)),
        title="Reliability by bins of equal size, in points",
    )


def _readings(curves: Sequence[Curve]) -> tuple[str, ...]:
    best = curves[0].best
    name = metric_name(best.metric)
    first = (
        f"{name} here: at the best threshold, on the data that chose it, and so too high; "
        "elsewhere: cross-fitted, with an interval that allows for the choice."
    )
    bands = (
        f"Bands: pointwise ones ({curves[0].pointwise.method}) are for one threshold chosen in "
        f"advance, simultaneous ones ({curves[0].simultaneous.method}) for all thresholds at once."
    )
    drawn = [band for curve in curves for band in (curve.pointwise, curve.simultaneous)]
    doubts = [f"{band.kind.capitalize()} interval: {band.note}." for band in drawn if band.note]
    return first, " ".join([bands, *dict.fromkeys(doubts)])


def _summary(curve: Curve) -> dict[str, Any]:
    """Return one record of numbers per system, for CSV."""
    record: dict[str, Any] = {"items": curve.items, "positives": curve.positives}
    for name in ("average_precision", "roc_auc"):
        ends = (name, f"{name}_low", f"{name}_high")
        record |= zip(ends, limits(getattr(curve, name)), strict=True)
    best = ("metric", "threshold", "apparent", "estimate", "low", "high")
    calibrated = ("ece_debiased", "ece_low", "ece_high", "brier")
    record |= {name: getattr(curve.best, name) for name in best}
    return record | {name: getattr(curve.calibration, name, None) for name in calibrated}


# --- Sweep over the thresholds of word boundaries

NAMES = {"precision": "precision", "recall": "recall", "f1": "F1", "tnr": "true negative rate"}
_MOST_ROWS = 50  # of a table; CSV and JSON have all


def sweep_document(sweep: SegmentationSweep) -> Document:
    """Build the document of a sweep."""
    recall, f1 = (sweep.best_of(metric).finest_share for metric in ("recall", "f1"))
    words = f"Recall is highest at λ = {recall:.2f}, F1 at {f1:.2f}"
    records = []
    for step in sweep.to_dict()["steps"]:
        own = {"lambda": step["lambda"], "threshold": step["threshold"], **step["counts"]}
        own["splitting_bias"] = step["splitting_bias"]
        records += [own | score for score in step["scores"]]
    peaks = _peaks(sweep)
    reading = (
        f"λ: the share of the {sweep.positions:,} positions between two characters that is "
        "accepted, the most probable first. Intervals allow for correlated errors within a "
        "sentence."
    )
    tables = sweep_table(sweep), best_table(sweep)
    return Document(
        title="Threshold sweep",
        payload=payload("sweep", sweep.signature, **sweep.to_dict()),
        tables=tables,
        records=tuple(records),
        notes=(reading, peaks, sweep.signature),
        pictures=(sweep_picture(sweep),),
        headline=(Answer(words, "fact", (peaks,)),),
        content=lambda: {"tables": tables[::-1]},
    )


def sweep_picture(sweep: SegmentationSweep, name: str = "") -> Lines:
    """Picture the scores against λ, with their intervals and their peaks."""
    known = any(map(_is_informative, sweep.scores))
    said = "" if known else "no intervals: there is only one sentence"
    bands = "" if known else " There are no bands: there is only one sentence."
    who = f" of {name}" if name else ""
    peaks = {best.metric: (best.finest_share, best.finest_score) for best in sweep.best}
    scores = {score.metric: score for score in sweep.scores}
    return Lines(
        score_series(sweep.shares.tolist(), scores, peaks),
        axis="λ, share of positions accepted as boundaries",
        up="score in points",
        title=f"Scores{who} in points against λ, with {100 * sweep.level:g} % intervals.",
        description="; ".join(str(best) for best in sweep.best),
        reading="From left to right, more positions are accepted as boundaries, the most probable "
        f"first. A band is the interval; a dot marks the highest score.{bands}",
        note=": ".join(filter(None, (name, said))),
    )


def score_series(
    x: Sequence[float],
    scores: Mapping[str, Any],
    peaks: Mapping[str, tuple[float, float]] | None = None,
) -> list[Series]:
    """Return scores along an axis, with their intervals where these are informative."""
    series = []
    for metric, score in scores.items():
        known = (score.low, score.high) if _is_informative(score) else (score.estimate,) * 2
        values = (np.asarray(v).tolist() for v in (score.estimate, *known))
        series.append(Series(NAMES[metric], x, *values, peak=(peaks or {}).get(metric)))
    return series


def sweep_figure(sweep: SegmentationSweep) -> Figure:
    """Draw the scores against λ, with their intervals and their peaks."""
    return figure(sweep_picture(sweep))


def sweep_table(sweep: SegmentationSweep) -> Table:
    """Build the table of scores in points at each λ; of many steps, only some."""
    every = -(-len(sweep.shares) // _MOST_ROWS)
    share = partial(number, digits=2 if every == 1 else 3)
    scores = (Column(NAMES[s.metric], s.__getitem__, estimate_in_full) for s in sweep.scores)
    left_out = f", every {every}th step" if every > 1 else ""
    return Table.of(
        range(0, len(sweep.shares), every),
        Column("λ", sweep.shares.__getitem__, share),
        Column("threshold", sweep.thresholds.__getitem__, number),
        *scores,
        Column("splitting bias", sweep.splitting_bias.__getitem__, number),
        title=f"Scores in points with {100 * sweep.level:g} % intervals{left_out}",
    )


def score_cells(score: Interval) -> tuple[str, str]:
    """Return a score and its interval, in points."""
    return points(score.estimate), brackets(score.low, score.high, 1)


def best_table(sweep: SegmentationSweep) -> Table:
    """Build the table of the λ at which each score is highest."""
    return Table.of(
        sweep.best,
        Words("score", lambda best: NAMES[best.metric]),
        Column("best λ of the steps", "share", number),
        Column("there", "score", points),
        Column("best λ of all", "finest_share", partial(number, digits=4)),
        Column("there", "finest_score", points),
        title="Where each score is highest",
    )


def _peaks(sweep: SegmentationSweep) -> str:
    precision, recall = (sweep.best_of(name).finest_share for name in ("precision", "recall"))
    verdict = "at the same λ as recall" if precision == recall else "at a larger λ than recall"
    if precision < recall:
        verdict = "at a smaller λ than recall: it rewards splitting too little"
    return f"Precision is highest {verdict} ({precision:.4f} against {recall:.4f})."


def _is_informative(score: Any) -> bool:
    """Return True if any interval is shorter than 1."""
    return any(high - low < 1 for low, high in zip(score.low, score.high, strict=True))
