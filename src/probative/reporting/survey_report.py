"""Build the documents of samples, estimates of a pool, and looks while labels arrive."""

from __future__ import annotations

import math
from math import isnan
from typing import TYPE_CHECKING

from probative.errors import InputError
from probative.reporting.document import Document, Strong, Table, Tracks, payload
from probative.reporting.figures import figure
from probative.reporting.pictures import Lines, Series
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
from probative.wording.surveys import (
    WHY,
    estimate_summary,
    judge_sentence,
    merged_notes,
    sample_summary,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from probative.results import (
        Estimate,
        EstimatedDifference,
        EstimatedScore,
        GateVerdict,
        Sampled,
    )
    from probative.results.surveys import Look, Looks


# --- Estimate of a pool

_WORTH = (
    "worth: how many labels of simply random units would be expected to give as narrow an interval."
)
_ESTIMATE_REPORT_SHARE = "variance: how much of what is not known lies in the stratum."


def estimate_document(estimate: Estimate, *, gates: Sequence[GateVerdict] = ()) -> Document:
    """Build the document of an estimate: scores and differences of a pool, and strata."""
    content = estimate.to_dict()
    if gates:
        content["gates"] = [gate.to_dict() for gate in gates]
    return Document(
        title=f"{', '.join(estimate.systems)} on {counted(estimate.pool, estimate.unit)}",
        payload=payload("estimate", estimate.signature, **content),
        tables=(
            _scores(estimate),
            *([_differences(estimate)] if estimate.comparisons else []),
            _estimate_report_strata(estimate),
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
    """Return a sentence on how the judge changed the first estimate."""
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
    """Return the notes on columns and on single rows."""
    notes = [_WORTH] if found is estimate.scores else []
    if found is estimate.scores and estimate.judge is not None:
        notes.append(
            "moved, width: by how many points the judge moved the estimate, and what is left of "
            "the interval's width."
        )
    return [*notes, *merged_notes(found)]


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


def _estimate_report_strata(estimate: Estimate) -> Table:
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
            _ESTIMATE_REPORT_SHARE,
        ),
    )


# --- Sample

_BESIDE = "Scores, which are told beside differences, count for a twentieth where units are placed."
_SAMPLE_REPORT_SHARE = "information: how much of what is not known yet lies in the stratum."


def sample_document(sampled: Sampled, *, explain: bool = False) -> Document:
    """Build the document of a sample, with its strata if `explain`."""
    return Document(
        title=f"A sample of {counted(sampled.pool, sampled.unit)}",
        payload=payload("sample", sampled.signature, **sampled.to_dict()),
        tables=(_sample_report_strata(sampled),) if explain else (),
        records=tuple(sampled.records()),
        notes=(f"{sample_summary(sampled)}.", sampled.signature),
    )


def _sample_report_strata(sampled: Sampled) -> Table:
    further = sampled.new != sampled.labelled
    rows = [
        (
            stratum.name,
            f"{stratum.size:,}",
            f"{stratum.drawn:,}",
            *((f"{stratum.new:,}",) if further else ()),
            f"{stratum.spread:.3f}",
            f"{100 * stratum.share:.0f} %",
            WHY[stratum.why],
        )
        for stratum in sampled.strata
    ]
    new = (f"{sampled.new:,}",) if further else ()
    total = ("all", f"{sampled.pool:,}", f"{sampled.labelled:,}", *new)
    heads = ("stratum", f"{sampled.unit}s", "drawn", *(("new",) if further else ()))
    return Table(
        (*heads, "spread", "information", "why so many"),
        (*rows, (*total, "", "", "")),
        title="Strata",
        notes=(
            "spread: how much units of a stratum differ, in items.",
            _SAMPLE_REPORT_SHARE,
            *((_BESIDE,) if sampled.goal == "difference" else ()),
        ),
        closing_words=True,
    )


# --- Looks while labels arrive

_READING = (
    "The band holds at every look: however often it is read, and whenever one stops, it misses "
    "with at most the stated probability."
)


def watch_document(looks: Looks) -> Document:
    """Build the document of looks: a table, the last verdict, and a figure."""
    if not looks.looks:
        raise InputError("looks: there are none yet; expected at least one batch")
    last = looks.last
    said = last.verdict(looks.a, looks.b or "B")
    notes = [_sentence(said)]
    return Document(
        title=f"{_what(looks)} at every look",
        payload=payload(
            "watch",
            looks.signature,
            systems=[looks.a, *([looks.b or "B"] if last.is_of_two else [])],
            looks=looks.records(),
            notes=list(looks.notes),
        ),
        tables=(_table(looks),),
        records=tuple(looks.records()),
        notes=(*notes, *([_sentence(last.note)] if last.note else []), looks.signature),
        pictures=(_picture(looks),) if _has_band(looks) else (),
    )


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _what(looks: Looks) -> str:
    name = metric_name(looks.last.metric)
    return f"{name}, {looks.b or 'B'} − {looks.a}" if looks.last.is_of_two else name


def _table(looks: Looks) -> Table:
    two = looks.last.is_of_two
    heads = ["look", f"{looks.last.by}s", _what(looks), "low", "high"]
    heads += ["p at any time", "decided"] if two else []
    return Table(
        tuple(heads),
        tuple(_row(look, looks) for look in looks.looks),
        title=f"Limits at level {looks.last.level:g} that hold at every look (points)",
        closing_words=two,
        tracks=Tracks.of([_track(look) for look in looks.looks], zero=two)
        if _has_band(looks)
        else None,
        track_column=5,
    )


def _track(look: Look) -> tuple[float, float, float]:
    """Return estimate and interval of a look; the estimate is NaN if it has no interval."""
    return (look.estimate if look.has_limits else math.nan, look.low, look.high)


def _has_band(looks: Looks) -> bool:
    """Return True if there is an interval to draw that is not a single point."""
    return any(look.has_limits and look.low < look.high for look in looks.looks)


def _row(look: Look, looks: Looks) -> tuple[str, ...]:
    row = [
        f"{look.look}",
        f"{look.units:,}",
        points(look.estimate),
        points(look.low),
        points(look.high),
    ]
    if look.is_of_two:
        better = {"a": looks.a, "b": looks.b or "B"}.get(look.decided or "")
        row += [pvalue(look.pvalue), f"{better} is better" if better else "no"]
    return tuple(row)


def _picture(looks: Looks) -> Lines:
    """Picture the intervals against the number of labels, and where the look decided."""
    if not looks.looks:
        raise InputError("looks: there are none yet; expected at least one batch")
    drawn = [look for look in looks.looks if look.has_limits] or list(looks.looks)
    columns = ([getattr(look, name) for look in drawn] for name in ("estimate", "low", "high"))
    decided = next((look for look in looks.looks if look.decided), None)
    stop = f"dotted: decided after {decided.units:,} {decided.by}s" if decided else ""
    return Lines(
        [Series(_what(looks), [look.units for look in drawn], *columns)],
        axis=f"{looks.last.by}s labelled",
        up=f"{_what(looks)}, points",
        title=f"{_what(looks)} against the number of labels.",
        description=str(looks),
        reading=_READING,
        note=stop,
        zero=looks.last.is_of_two,
        stop=decided.units if decided else None,
    )


def looks_figure(looks: Looks) -> Figure:
    """Draw the intervals against the number of labels."""
    return figure(_picture(looks))
