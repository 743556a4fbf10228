"""Build the document and the figure of a threshold sweep."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.reporting.document import Column, Document, Table, Words, payload
from probative.reporting.figures import figure
from probative.reporting.headlines import sweep_answers
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
        headline=sweep_answers(sweep, _peaks(sweep)),
        content=lambda: {"tables": (best_table(sweep), sweep_table(sweep))},
    )


def sweep_picture(sweep: SegmentationSweep, name: str = "") -> Lines:
    """Picture the scores against λ, with their intervals and their peaks."""
    known = _has_intervals(sweep)
    who = f" of {name}" if name else ""
    peaks = {best.metric: (best.finest_share, best.finest_score) for best in sweep.best}
    scores = {score.metric: score for score in sweep.scores}
    said = "" if known else "no intervals: there is only one sentence"
    return Lines(
        score_series(sweep.shares.tolist(), scores, peaks),
        axis="λ, share of positions accepted as boundaries",
        up="score in points",
        title=f"Scores{who} in points against λ, with {100 * sweep.level:g} % intervals.",
        description="; ".join(str(best) for best in sweep.best),
        reading=(
            "From left to right, more positions are accepted as boundaries, the most probable "
            "first. A band is the interval; a dot marks the highest score."
        )
        + ("" if known else " There are no bands: there is only one sentence."),
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
        "accepted, the most probable first. Intervals allow for correlated errors within a "
        "sentence."
    )


def sweep_table(sweep: SegmentationSweep) -> Table:
    """Build the table of scores in points at each λ; of many steps, only some."""
    every = -(-len(sweep.shares) // _MOST_ROWS)
    share = partial(number, digits=2 if every == 1 else 3)

    def of_score(scores: Any) -> list[Column]:
        return [
            Column(NAMES[scores.metric], lambda i: score_cells(scores[i])[0]),
            Column("interval", lambda i: score_cells(scores[i])[1]),
        ]

    left_out = f", every {every}th step" if every > 1 else ""
    return Table.of(
        range(0, len(sweep.shares), every),
        [
            Column("λ", sweep.shares.__getitem__, share),
            Column("threshold", sweep.thresholds.__getitem__, number),
            *(column for scores in sweep.scores for column in of_score(scores)),
            Column("splitting bias", sweep.splitting_bias.__getitem__, number),
        ],
        title=f"Scores in points with {100 * sweep.level:g} % intervals{left_out}",
    )


def score_cells(score: Interval) -> tuple[str, str]:
    """Return a score and its interval, in points."""
    return points(score.estimate), f"[{points(score.low, 1)}, {points(score.high, 1)}]"


def best_table(sweep: SegmentationSweep) -> Table:
    """Build the table of the λ at which each score is highest."""
    return Table.of(
        sweep.best,
        [
            Words("score", lambda best: NAMES[best.metric]),
            Column("best λ of the steps", "share", number),
            Column("there", "score", points),
            Column("best λ of all", "finest_share", partial(number, digits=4)),
            Column("there", "finest_score", points),
        ],
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
