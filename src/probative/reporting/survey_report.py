"""Build the documents of samples, estimates of a pool, and looks while labels arrive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from probative.errors import InputError
from probative.reporting.document import (
    Answer,
    Column,
    Document,
    Strong,
    Table,
    Tracks,
    Words,
    evidence_words,
    gate_answers,
    payload,
    score_words,
    scored,
    upper,
    with_ends,
)
from probative.reporting.pictures import Lines, Series, figure
from probative.wording.numbers import (
    counted,
    metric_name,
    number,
    probability,
    pvalue,
    signed_points,
    task_words,
)
from probative.wording.verdict import (
    WHY,
    estimate_summary,
    judge_sentence,
    merged_notes,
    sample_summary,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from probative.results import Estimate, EstimatedDifference, GateVerdict, Sampled
    from probative.results.surveys import Looks


# --- Estimate of a pool


def estimate_document(estimate: Estimate, *, gates: Sequence[GateVerdict] = ()) -> Document:
    """Build the document of an estimate: scores and differences of a pool, and strata."""
    said = f"{estimate_summary(estimate)}."
    first: Any = estimate[estimate.systems[0], estimate.metric]
    if estimate.comparisons:
        first = estimate.comparisons[0]
    judged = [] if estimate.judge is None else [judge_sentence(first)]
    return Document(
        title=f"{', '.join(estimate.systems)} on {counted(estimate.pool, estimate.unit)}",
        payload=payload("estimate", estimate.signature, gates, **estimate.to_dict()),
        tables=(
            _scores(estimate),
            *([_differences(estimate)] if estimate.comparisons else []),
            _estimated_strata(estimate),
        ),
        records=tuple(estimate.records()),
        notes=(said, *judged, *estimate.verdicts, estimate.signature),
        headline=(*gate_answers(gates), _headline(estimate, said)),
    )


def _headline(estimate: Estimate, sentence: str) -> Answer:
    """Say what the labels show about the first difference, or about the score."""
    said = (*estimate.verdicts, sentence)
    if not estimate.comparisons:
        score = estimate[estimate.systems[0], estimate.metric]
        words = f"{upper(metric_name(score.metric))} {score_words(score)}"
        return Answer(words, "fact", (sentence,))
    gap = estimate.comparisons[0]
    if estimate.labelled == estimate.pool and not estimate.population:
        name, state = (gap.b, "better") if gap.difference > 0 else (gap.a, "worse")
        return Answer(f"{name} better on this pool", state, said)
    if len({(other.a, other.b) for other in estimate.comparisons}) > 1:
        return Answer("Several systems", "fact", said)
    return Answer(*evidence_words(gap), said)


def _worth_columns(estimate: Estimate) -> list[Column]:
    """Return the columns of what the labels are worth, and of what a judge adds."""
    judged = estimate.judge is not None

    def moved(one: Any) -> str:
        known = one.judge_width is not None and not isnan(one.judge_width)
        return signed_points(one.judge_moved, 2) if known else "–"

    return [
        Column("worth", form=lambda n: "–" if n is None or isnan(n) else f"{round(n):,}"),
        Column("moved", moved, when=judged),
        Column("width", "judge_width", partial(number, digits=2), when=judged),
    ]


def _scores(estimate: Estimate) -> Table:
    where = "beyond the pool" if estimate.population else "in the pool"
    sizes = f"{estimate.labelled:,} of {counted(estimate.pool, estimate.unit)} labelled"
    worth = "number of simple random labels that would give the same width of the interval"
    moved = (
        "moved: change of the estimate by the judge, in points; width: the new width of the "
        "interval, relative to the old one."
    )
    return Table.of(
        estimate.scores,
        Words("system"),
        Words("score", "metric", metric_name),
        Column("points", scored),
        *_worth_columns(estimate),
        title=f"Scores {where} with {100 * estimate.level:g} % intervals",
        notes=(
            f"{task_words(estimate.task, estimate.match, sizes)}.",
            f"worth: the {worth}.",
            moved if estimate.judge is not None else "",
            *merged_notes(estimate.scores),
        ),
        track="estimate",
    )


def _differences(estimate: Estimate) -> Table:
    gaps = estimate.comparisons
    rope, signed = gaps[0].rope, partial(signed_points, digits=2)

    def difference(gap: EstimatedDifference) -> str:
        shown, ends = signed(gap.difference), (signed(gap.low), signed(gap.high))
        return with_ends(Strong(shown) if gap.low > 0 or gap.high < 0 else shown, *ends)

    adjusted = any(gap.p_adjusted is not None for gap in gaps)
    return Table.of(
        gaps,
        Words("comparison", lambda gap: f"{gap.b} − {gap.a}"),
        Words("score", "metric", metric_name),
        Column("difference", difference),
        Column("p", "pvalue", pvalue),
        Column("p adjusted", "p_adjusted", pvalue, when=adjusted),
        Column("P(worse)", "p_a_better", probability),
        Column(f"P(within {100 * rope:.4g})", "p_equivalent", probability, when=rope > 0),
        Column("P(better)", "p_b_better", probability),
        *_worth_columns(estimate),
        title="Differences in points",
        notes=(
            "p, P and the interval come from one Student t distribution."
            if gaps[0].method == "stratified"
            else "p and P come from a normal distribution as wide as the interval.",
            *merged_notes(gaps),
        ),
        track="difference",
        bold_note="Bold: the interval excludes 0.",
    )


def _estimated_strata(estimate: Estimate) -> Table:
    def right(name: str) -> Column:
        return Column(name, lambda stratum: f"{stratum.right[name]:.2f}")

    return _strata(
        estimate,
        (estimate.pool, estimate.labelled),
        Column("labelled"),
        Column("to be found", lambda stratum: f"{stratum.items:.2f}"),
        *map(right, estimate.systems),
        Column("variance", lambda stratum: f"{100 * stratum.share:.0f} %"),
        notes=(
            "in gold, and found by each system: mean number of items per labelled unit.",
            "variance: this stratum's share of the variance of the estimate.",
        ),
    )


def _strata(
    result: Estimate | Sampled, total: Sequence[int], *columns: Column, notes: Sequence[str]
) -> Table:
    """Build a table of strata, with a last row that sums up all."""
    size = Column(f"{result.unit}s", "size")
    name, title = Words("stratum", "name"), "Strata"
    table = Table.of(result.strata, name, size, *columns, title=title, notes=notes)
    cells = ("all", *map("{:,}".format, total))
    last = (*cells, *[""] * (len(table.columns) - len(cells)))
    return replace(table, rows=(*table.rows, last))


# --- Sample


def sample_document(sampled: Sampled, *, explain: bool = False) -> Document:
    """Build the document of a sample, with its strata if `explain`."""
    said = f"{sample_summary(sampled)}."
    return Document(
        title=f"A sample of {counted(sampled.pool, sampled.unit)}",
        payload=payload("sample", sampled.signature, **sampled.to_dict()),
        tables=(_drawn_strata(sampled),) if explain else (),
        records=tuple(sampled.records()),
        notes=(said, sampled.signature),
        headline=(Answer(f"Label {counted(sampled.new, sampled.unit)}", "fact", (said,)),),
    )


def _drawn_strata(sampled: Sampled) -> Table:
    further = sampled.new != sampled.labelled
    return _strata(
        sampled,
        (sampled.pool, sampled.labelled, *[sampled.new] * further),
        Column("drawn"),
        Column("new", when=further),
        Column("spread", lambda stratum: f"{stratum.spread:.3f}"),
        Column("information", lambda stratum: f"{100 * stratum.share:.0f} %"),
        Words("reason", lambda stratum: WHY[stratum.why]),
        notes=(
            "spread: standard deviation of the units in a stratum, in items.",
            "information: this stratum's share of the remaining uncertainty.",
            "The sample is optimised for the difference (95 %) and single scores (5 %)."
            if sampled.goal == "difference"
            else "",
        ),
    )


# --- Looks while labels arrive


def watch_document(looks: Looks) -> Document:
    """Build the document of looks: a table, the last verdict, and a figure."""
    last = _last(looks)
    said = f"{upper(last.verdict(looks.a, looks.b or 'B'))}."
    is_curve = _has_band(looks) and sum(look.has_limits for look in looks.looks) > 1
    return Document(
        title=f"{_what(looks)} at every check",
        payload=payload(
            "watch",
            looks.signature,
            systems=[looks.a, *([looks.b or "B"] if last.is_of_two else [])],
            looks=looks.records(),
            notes=list(looks.notes),
        ),
        tables=(_table(looks),),
        records=tuple(looks.records()),
        notes=(said, *([f"{upper(last.note)}."] if last.note else []), looks.signature),
        pictures=(_picture(looks),) if is_curve else (),
        headline=(Answer(*_state(looks), (said,)),),
    )


def _last(looks: Looks) -> Any:
    """Return the last look; refuse if there is none."""
    if not looks.looks:
        raise InputError("looks: there are no checks yet; expected at least one batch")
    return looks.last


def _state(looks: Looks) -> tuple[str, str]:
    """Say whether labelling may stop, and how many labels more are expected."""
    last = looks.last
    if not last.is_of_two:
        score = f"{upper(metric_name(last.metric))} {score_words(last)}"
        return f"{score} after {counted(last.units, last.by)}", "fact"
    if last.decided:
        name, state = (looks.b or "B", "better") if last.decided == "b" else (looks.a, "worse")
        return f"May stop: {name} is better", state
    if last.low == last.high == 0 and last.pool is not None:
        return "May stop: no difference on this pool", "equal"
    more = "no decision in sight" if last.more is None else f"about {last.more:,} more"
    return f"Keep labelling: {more}", "open"


def _what(looks: Looks) -> str:
    name = metric_name(looks.last.metric)
    return f"{name}, {looks.b or 'B'} − {looks.a}" if looks.last.is_of_two else name


def _table(looks: Looks) -> Table:
    two = looks.last.is_of_two
    better = {"a": f"{looks.a} is better", "b": f"{looks.b or 'B'} is better"}
    # a look without an interval is not drawn
    drawn = [(x.estimate if x.has_limits else nan, x.low, x.high) for x in looks.looks]
    table = Table.of(
        looks.looks,
        Words("look"),
        Column(f"{looks.last.by}s", "units"),
        Column(_what(looks), scored),
        Column("p at any time", "pvalue", pvalue, when=two),
        Words("decided", lambda look: better.get(look.decided, "no"), when=two),
        title=f"{100 * looks.last.level:g} % intervals that hold at every check, in points",
        tracks=Tracks.of(drawn, zero=two) if _has_band(looks) else None,
    )
    return replace(table, track_column=5)


def _has_band(looks: Looks) -> bool:
    """Return True if there is an interval to draw that is not a single point."""
    return any(look.has_limits and look.low < look.high for look in looks.looks)


def _picture(looks: Looks) -> Lines:
    """Picture the intervals against the number of labels, and where the look decided."""
    by = f"{_last(looks).by}s"
    drawn = [look for look in looks.looks if look.has_limits] or list(looks.looks)
    columns = ([getattr(look, name) for look in drawn] for name in ("estimate", "low", "high"))
    decided = next((look for look in looks.looks if look.decided), None)
    stop = f"dotted: decided after {decided.units:,} {by}" if decided else ""
    return Lines(
        [Series(_what(looks), [look.units for look in drawn], *columns)],
        axis=f"{by} labelled",
        up=f"{_what(looks)}, points",
        title=f"{_what(looks)} against the number of labels.",
        description=str(looks),
        reading="The band holds at every check: you may check as often as you like and stop at any "
        "time.",
        note=stop,
        zero=looks.last.is_of_two,
        stop=decided.units if decided else None,
    )


def looks_figure(looks: Looks) -> Figure:
    """Draw the intervals against the number of labels."""
    return figure(_picture(looks))
