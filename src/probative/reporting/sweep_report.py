"""Build the document and the figure of a threshold sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from probative.reporting.document import Document, Table, payload
from probative.reporting.figures import COLOURS, new_figure
from probative.reporting.svg import Series, lines
from probative.wording.numbers import number, points

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from probative.reporting.document import Drawing
    from probative.results import Interval, SegmentationSweep

__all__ = [
    "NAMES",
    "best_table",
    "draw_scores",
    "score_cells",
    "sweep_document",
    "sweep_drawing",
    "sweep_figure",
    "sweep_table",
]

NAMES = {"precision": "precision", "recall": "recall", "f1": "F1", "tnr": "true negative rate"}
_MARKERS = {"precision": "v", "recall": "o", "f1": "s", "tnr": "^"}
_MOST_ROWS = 50  # of a table; CSV and JSON have all


def sweep_document(sweep: SegmentationSweep, *, name: str = "", html: bool = False) -> Document:
    """Build the document of a sweep; `html` adds the figure of the page."""
    drawings = [sweep_drawing(sweep, name)] if html else []
    return Document(
        title=f"Threshold sweep{' of ' + name if name else ''}",
        payload=payload("sweep", sweep.signature, **sweep.to_dict()),
        tables=(sweep_table(sweep), best_table(sweep)),
        records=tuple(_records(sweep)),
        notes=(_reading(sweep), _peaks(sweep), sweep.signature),
        drawings=tuple(drawings),
    )


def sweep_drawing(sweep: SegmentationSweep, name: str = "") -> Drawing:
    """Draw the scores against λ, for the page."""
    series = [_series(score) for score in sweep.scores]
    who = f" of {name}" if name else ""
    return lines(
        sweep.shares.tolist(),
        series,
        axis="λ, share of positions accepted as boundaries",
        title=f"Scores{who} in points against λ, with {100 * sweep.level:g} % intervals.",
        description="; ".join(str(best) for best in sweep.best),
        reading="From left to right more positions are taken for boundaries, the most probable "
        "first; a band is where the true score may well lie."
        + ("" if _has_intervals(sweep) else " No bands here: a single sentence tells none."),
    )


def _series(score: Any) -> Series:
    """Return a score with its interval, or without it if that is not informative."""
    known = (score.low, score.high) if _is_informative(score) else (score.estimate,) * 2
    return Series(NAMES[score.metric], *(np.asarray(v).tolist() for v in (score.estimate, *known)))


def _reading(sweep: SegmentationSweep) -> str:
    return (
        f"λ: the share of the {sweep.positions:,} positions between two characters that is "
        f"accepted, the most probable first. Intervals allow for words of one sentence that go "
        f"right or wrong together."
    )


def sweep_table(sweep: SegmentationSweep) -> Table:
    """Build the table of scores in points at each λ; of many steps, only some."""
    every = -(-len(sweep.shares) // _MOST_ROWS)
    rows = [
        (
            number(sweep.shares[i], 2 if every == 1 else 3),
            number(sweep.thresholds[i]),
            *(cell for score in sweep.scores for cell in score_cells(score[i])),
            number(sweep.splitting_bias[i]),
        )
        for i in range(0, len(sweep.shares), every)
    ]
    heads = (cell for score in sweep.scores for cell in (NAMES[score.metric], "interval"))
    left_out = f", every {every}th step" if every > 1 else ""
    return Table(
        ("λ", "threshold", *heads, "splitting bias"),
        tuple(rows),
        title=f"Scores in points with {100 * sweep.level:g} % intervals{left_out}",
        text_columns=0,
    )


def score_cells(score: Interval) -> tuple[str, str]:
    """Return a score and its interval, in points."""
    return points(score.estimate), f"{points(score.low)}–{points(score.high)}"


def best_table(sweep: SegmentationSweep) -> Table:
    """Build the table of the λ at which each score is highest."""
    rows = tuple(
        (
            NAMES[best.metric],
            number(best.share, 3),
            points(best.score),
            number(best.finest_share, 4),
            points(best.finest_score),
        )
        for best in sweep.best
    )
    return Table(
        ("score", "best λ of the steps", "there", "best λ of all", "there"),
        rows,
        title="Where each score is highest",
    )


def _peaks(sweep: SegmentationSweep) -> str:
    precision, recall = (sweep.best_of(name).finest_share for name in ("precision", "recall"))
    if precision < recall:
        verdict = "at a smaller λ than recall: it rewards splitting too little"
    else:
        verdict = "at the same λ as recall" if precision == recall else "at a larger λ than recall"
    return f"Precision is highest {verdict} ({precision:.4f} against {recall:.4f})."


def _records(sweep: SegmentationSweep) -> list[dict[str, Any]]:
    return [
        {
            "lambda": step["lambda"],
            "threshold": step["threshold"],
            **step["counts"],
            "splitting_bias": step["splitting_bias"],
            **score,
        }
        for step in sweep.to_dict()["steps"]
        for score in step["scores"]
    ]


def sweep_figure(
    sweep: SegmentationSweep, title: str = "", peaks: Mapping[str, float] | None = None
) -> Figure:
    """Draw the scores against λ, with their intervals and their peaks.

    `peaks` are published values of the best λ by score, drawn as dotted lines.
    """
    figure, axis = new_figure(width=6.4, height=4.2)
    draw_scores(axis, sweep.shares, {score.metric: score for score in sweep.scores})
    for colour, best in zip(COLOURS, sweep.best, strict=False):
        axis.plot(
            best.finest_share, 100 * best.finest_score, "*", color=colour, markersize=11, zorder=4
        )
        if peaks and best.metric in peaks:
            axis.axvline(peaks[best.metric], color=colour, linewidth=0.8, linestyle=":")
    axis.set_xlabel("λ, share of positions accepted as boundaries")
    axis.set_xlim(-0.02, 1.02)
    axis.set_ylim(-2, 102)
    figure.legend(loc="outside lower center", ncols=len(sweep.scores), fontsize=9, frameon=False)
    if title or not _has_intervals(sweep):
        said = "" if _has_intervals(sweep) else "no intervals: a single sentence tells none"
        axis.set_title(": ".join(filter(None, (title, said))), fontsize=10)
    return figure


def _has_intervals(sweep: SegmentationSweep) -> bool:
    return any(_is_informative(score) for score in sweep.scores)


def _is_informative(score: Any) -> bool:
    """Return True if any interval is shorter than 1."""
    return any(high - low < 1 for low, high in zip(score.low, score.high, strict=True))


def draw_scores(axis: Axes, x: Any, scores: Mapping[str, Any]) -> None:
    """Draw scores in points with bands for their intervals."""
    few = len(x) <= 60
    for (metric, score), colour in zip(scores.items(), COLOURS, strict=False):
        marker = _MARKERS[metric] if few else None
        axis.plot(
            x,
            [100 * value for value in score.estimate],
            color=colour,
            marker=marker,
            markersize=4,
            linewidth=1.4,
            label=NAMES[metric],
        )
        if not _is_informative(score):
            continue
        low, high = ([100 * value for value in side] for side in (score.low, score.high))
        axis.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    axis.set_ylabel("score in points")
