"""Build the document and the figure of a threshold sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from probative.reporting.document import Document, Table, payload
from probative.reporting.figures import figure
from probative.reporting.pictures import Lines, Series
from probative.wording.numbers import number, points

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from probative.results import Interval, SegmentationSweep

NAMES = {"precision": "precision", "recall": "recall", "f1": "F1", "tnr": "true negative rate"}
_MOST_ROWS = 50  # of a table; CSV and JSON have all


def sweep_document(sweep: SegmentationSweep, *, name: str = "", html: bool = False) -> Document:
    """Build the document of a sweep; `html` adds the figure of the page."""
    return Document(
        title=f"Threshold sweep{' of ' + name if name else ''}",
        payload=payload("sweep", sweep.signature, **sweep.to_dict()),
        tables=(sweep_table(sweep), best_table(sweep)),
        records=tuple(_records(sweep)),
        notes=(_reading(sweep), _peaks(sweep), sweep.signature),
        pictures=(sweep_picture(sweep, name),) if html else (),
    )


def sweep_picture(sweep: SegmentationSweep, name: str = "") -> Lines:
    """Picture the scores against λ, with their intervals and their peaks."""
    known = _has_intervals(sweep)
    who = f" of {name}" if name else ""
    peaks = {best.metric: (best.finest_share, best.finest_score) for best in sweep.best}
    scores = {score.metric: score for score in sweep.scores}
    said = "" if known else "no intervals: a single sentence tells none"
    return Lines(
        score_series(sweep.shares.tolist(), scores, peaks),
        axis="λ, share of positions accepted as boundaries",
        up="score in points",
        title=f"Scores{who} in points against λ, with {100 * sweep.level:g} % intervals.",
        description="; ".join(str(best) for best in sweep.best),
        reading="From left to right more positions are taken for boundaries, the most probable "
        "first; a band is where the true score may well lie."
        + ("" if known else " No bands here: a single sentence tells none."),
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


def sweep_figure(sweep: SegmentationSweep, title: str = "") -> Figure:
    """Draw the scores against λ, with their intervals and their peaks."""
    return figure(sweep_picture(sweep, title))


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


def _has_intervals(sweep: SegmentationSweep) -> bool:
    return any(_is_informative(score) for score in sweep.scores)


def _is_informative(score: Any) -> bool:
    """Return True if any interval is shorter than 1."""
    return any(high - low < 1 for low, high in zip(score.low, score.high, strict=True))
