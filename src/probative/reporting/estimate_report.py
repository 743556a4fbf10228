"""What few labels tell of a pool, as a document."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from probative.reporting.document import Document, Strong, Table, Tracks, payload
from probative.wording.estimated import estimate_summary, judge_sentence, merged_notes
from probative.wording.numbers import (
    counted,
    metric_name,
    metric_words,
    points,
    probability,
    pvalue,
    signed_points,
    task_words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import Estimate, EstimatedDifference, EstimatedScore, GateVerdict

__all__ = ["estimate_document"]

_WORTH = (
    "worth: how many labels of simply random units would be expected to give as narrow an interval."
)
_SHARE = "variance: how much of what is not known lies in the stratum."


def estimate_document(estimate: Estimate, *, gates: Sequence[GateVerdict] = ()) -> Document:
    """Show scores and differences of a pool, and from what they come.

    Parameters
    ----------
    estimate
        What is known of the pool.
    gates
        What the gate said that was asked for.
    """
    content = estimate.to_dict()
    if gates:
        content["gates"] = [gate.to_dict() for gate in gates]
    return Document(
        title=f"{', '.join(estimate.systems)} on {counted(estimate.pool, estimate.unit)}",
        payload=payload("estimate", estimate.signature, **content),
        tables=(
            _scores(estimate),
            *([_differences(estimate)] if estimate.comparisons else []),
            _strata(estimate),
        ),
        records=tuple(estimate.records()),
        notes=(
            f"{estimate_summary(estimate)}.",
            *_judged(estimate),
            *estimate.verdicts,
            estimate.signature,
        ),
        content=lambda: {"leading": [*estimate.verdicts, f"{estimate_summary(estimate)}."]},
    )


def _judged(estimate: Estimate) -> list[str]:
    """What the judge has changed in what the sample was drawn for."""
    if estimate.judge is None:
        return []
    if estimate.comparisons:
        gap = estimate.comparisons[0]
        what = f"the difference of {gap.a} and {gap.b} ({metric_name(gap.metric)})"
        return [judge_sentence(gap, what)]
    first = estimate[estimate.systems[0], estimate.metric]
    return [judge_sentence(first, f"the {metric_name(first.metric)} of {first.system}")]


def _worth(worth: float | None) -> str:
    return "–" if worth is None or isnan(worth) else f"{round(worth):,}"


def _judge_cells(score: EstimatedScore | EstimatedDifference) -> tuple[str, str]:
    moved, width = score.judge_moved, score.judge_width
    if moved is None or width is None or isnan(width):
        return "–", "–"
    return signed_points(moved, 2), f"{width:.2f}"


def _heads(estimate: Estimate) -> tuple[str, ...]:
    return ("worth", *(("moved", "width") if estimate.judge is not None else ()))


def _cells(estimate: Estimate, found: EstimatedScore | EstimatedDifference) -> tuple[str, ...]:
    return (_worth(found.worth), *(_judge_cells(found) if estimate.judge is not None else ()))


def _notes(estimate: Estimate, found: Sequence[EstimatedScore | EstimatedDifference]) -> list[str]:
    """What is to be known of the columns, and of single rows."""
    told = [_WORTH] if found is estimate.scores else []
    if found is estimate.scores and estimate.judge is not None:
        told.append(
            "moved, width: by how many points the judge moved the estimate, and what is left of "
            "the interval's width."
        )
    return [*told, *merged_notes(found)]


def _scores(estimate: Estimate) -> Table:
    level = f"{100 * estimate.level:g} %"
    rows = [
        (
            score.system,
            metric_words(score.metric),
            points(score.estimate),
            points(score.low),
            points(score.high),
            *_cells(estimate, score),
        )
        for score in estimate.scores
    ]
    where = "beyond the pool" if estimate.population else "in the pool"
    sizes = f"{estimate.labelled:,} of {counted(estimate.pool, estimate.unit)} labelled"
    return Table(
        ("system", "score", "points", "low", "high", *_heads(estimate)),
        tuple(rows),
        title=f"Scores {where} with {level} intervals",
        notes=(
            f"{task_words(estimate.task, estimate.match, sizes)}.",
            *_notes(estimate, estimate.scores),
        ),
        text_columns=2,
        tracks=Tracks.of([(s.estimate, s.low, s.high) for s in estimate.scores]),
    )


def _differences(estimate: Estimate) -> Table:
    gaps = estimate.comparisons
    adjusted = any(gap.p_adjusted is not None for gap in gaps)
    rope = gaps[0].rope
    rows = []
    for gap in gaps:
        shown = signed_points(gap.difference, 2)
        leaves_out = gap.low > 0 or gap.high < 0
        rows.append(
            (
                f"{gap.b} − {gap.a}",
                metric_words(gap.metric),
                Strong(shown) if leaves_out else shown,
                signed_points(gap.low, 2),
                signed_points(gap.high, 2),
                pvalue(gap.pvalue),
                *((pvalue(gap.p_adjusted),) if adjusted else ()),
                _chance(gap.p_a_better),
                *((_chance(gap.p_equivalent),) if rope > 0 else ()),
                _chance(gap.p_b_better),
                *_cells(estimate, gap),
            )
        )
    within = (f"P(within {100 * rope:.4g})",) if rope > 0 else ()
    return Table(
        (
            *("comparison", "score", "difference", "low", "high", "p"),
            *(("p adjusted",) if adjusted else ()),
            *("P(worse)", *within, "P(better)"),
            *_heads(estimate),
        ),
        tuple(rows),
        title="Differences in points",
        notes=(
            "p and P: of Student's distribution about the difference, as the limits are."
            if gaps[0].method == "stratified"
            else "p and P: of normal distributions as wide as the limits.",
            *_notes(estimate, gaps),
        ),
        text_columns=2,
        tracks=Tracks.of([(g.difference, g.low, g.high) for g in gaps], zero=True),
        bold_note="Bold: the interval leaves out 0.",
    )


def _chance(value: float) -> str:
    return "–" if isnan(value) else probability(value)


def _strata(estimate: Estimate) -> Table:
    rows = [
        (
            stratum.name,
            f"{stratum.size:,}",
            f"{stratum.labelled:,}",
            f"{stratum.items:.2f}",
            *(f"{stratum.right[name]:.2f}" for name in estimate.systems),
            f"{100 * stratum.share:.0f} %",
        )
        for stratum in estimate.strata
    ]
    rows.append(
        ("all", f"{estimate.pool:,}", f"{estimate.labelled:,}", *[""] * (2 + len(estimate.systems)))
    )
    return Table(
        ("stratum", f"{estimate.unit}s", "labelled", "to be found", *estimate.systems, "variance"),
        tuple(rows),
        title="Strata",
        notes=(
            "to be found, and found by each system: items of a labelled unit, on average.",
            _SHARE,
        ),
    )
