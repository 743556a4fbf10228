"""A comparison of systems as a document: the table for the paper, and the page to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative.reporting.compare_page import bucket_tables, label_differences, page_content
from probative.reporting.document import (
    Document,
    Strong,
    Table,
    payload,
    points,
)
from probative.reporting.runs_report import (
    companion_table,
    has_runs,
    mean_table,
    named_pairs,
    run_table,
    single_runs,
    variance_table,
)
from probative.reporting.score_report import label_table, oddities
from probative.results import Scores
from probative.wording import counted, metric_words, probability, pvalue
from probative.wording.verdict import SIGNIFICANT, pvalue_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import Comparison, Comparisons, GateVerdict, SystemScores

__all__ = ["compare_document"]


def compare_document(
    result: Comparisons,
    *,
    by_label: bool = False,
    buckets: bool = False,
    gates: Sequence[GateVerdict] = (),
) -> Document:
    """Show scores, differences and verdicts.

    Parameters
    ----------
    result
        The comparison.
    by_label
        Whether to print a table for each label, too; JSON and the page always have it.
    buckets
        Whether to tell the scores of different kinds of items, where they were computed; the page
        always does.
    gates
        What the gate said that was asked for.
    """
    signed = result.signature
    content = result.to_dict()
    del content["level"]
    if not buckets:
        content.pop("buckets", None)
    if gates:
        content["gates"] = [gate.to_dict() for gate in gates]
    procedures = [c for c in result.comparisons if c.question == "procedures"]
    several = has_runs(result)
    score_table = mean_table(result, procedures) if several else _scores(result)
    difference_table = _differences(result)
    tables = [score_table, difference_table]
    if several:
        tables.insert(1, run_table(result, result.comparisons[0].metric))
    if procedures:
        tables += [variance_table(procedures), companion_table(procedures)]
    if by_label:
        tables += [label_table(result, system) for system in result.systems if system.by_label]
        tables += [label_differences(c) for c in result.comparisons if c.by_label]
    if buckets:
        main = result.comparisons[0].metric
        first = [c for c in result.comparisons if c.metric == main and c.question != "procedures"]
        tables += [table for c in first for table in bucket_tables(result, c)]
    names = [system.name for system in result.systems]
    return Document(
        title=_listed(names),
        payload=payload("compare", signed, **content),
        tables=tuple(tables),
        records=tuple(_records(result)),
        notes=(*result.verdicts, signed),
        page="comparison.html",
        content=lambda: (
            page_content(result, score_table, difference_table, gates)
            | _runs_content(result, tables)
        ),
    )


def _runs_content(result: Comparisons, tables: Sequence[Table]) -> dict[str, Any]:
    """What the page shows of single runs."""
    if not has_runs(result):
        return {"run_tables": [], "more_tables": [], "single_runs": None}
    metric = result.comparisons[0].metric
    procedures = [c for c in result.comparisons if c.question == "procedures"]
    return {
        "run_tables": [tables[1]],
        "more_tables": [variance_table(procedures), companion_table(procedures)]
        if procedures
        else [],
        "single_runs": single_runs(result, metric),
    }


def _listed(names: Sequence[str]) -> str:
    if len(names) == 2:
        return f"{names[1]} against {names[0]}"
    return f"{len(names)} systems: {', '.join(names)}"


def _scores(result: Comparisons) -> Table:
    """Systems by scores, the best in bold, those that differ from the baseline marked."""
    macro = result.comparisons[0].metric.startswith("macro_")
    metrics = [
        score.metric
        for score in result.systems[0].scores
        if score.metric.startswith("macro_") == macro
    ]
    best = {metric: _best(result.systems, metric) for metric in metrics}
    marked = _significant_scores(result)
    rows = []
    for system in result.systems:
        cells = []
        for score in (system[metric] for metric in metrics):
            text = points(score.estimate)
            if (system.name, score.metric) in marked:
                text += "†"
            is_best = score.estimate == best[score.metric]
            cells.append(Strong(text) if is_best else text)
            cells.append(f"{points(score.low, 1)} to {points(score.high, 1)}")
        rows.append((system.name, *cells))
    level = f"{100 * result.level:g} %"
    notes = [f"{result.task.capitalize()}, {counted(result.units, result.unit)}."]
    if any(metric in metrics for _, metric in marked):
        notes.append(f"† differs from {result.systems[0].name}, {_significance(result)}.")
    notes += oddities(result)
    compared = {c.metric for c in result.comparisons}
    beside = [i for i, metric in enumerate(metrics) if metric not in compared]
    return Table(
        ("system", *(head for m in metrics for head in (metric_words(m), level))),
        tuple(rows),
        title="Scores in points",
        notes=tuple(notes),
        # the intervals of scores that are not compared, then those scores
        droppable=(*(2 * i + 2 for i in beside), *(2 * i + 1 for i in beside)),
        bold_note="The best is in bold.",
    )


def _best(systems: Sequence[SystemScores], metric: str) -> float | None:
    values = [s.estimate for system in systems for s in system.scores if s.metric == metric]
    defined = [value for value in values if value == value]
    return max(defined, default=None) if len(systems) > 1 else None


def _significant_scores(result: Comparisons) -> set[tuple[str, str]]:
    """Systems and metrics whose difference from the baseline is significant."""
    baseline = result.systems[0].name
    return {
        (c.b, c.metric)
        for c in result.comparisons
        if c.a == baseline and pvalue_of(c) <= SIGNIFICANT and not c.identical
    }


def _significance(result: Comparisons) -> str:
    c = result.comparisons[0]
    adjusted = "Holm-adjusted " if c.p_adjusted is not None else ""
    return f"{adjusted}p ≤ {SIGNIFICANT:g} ({c.test} randomisation test by {c.by})"


def _differences(result: Comparisons) -> Table:
    several = any(c.p_adjusted is not None for c in result.comparisons)
    asked = has_runs(result)
    new_runs = any(c.p_new_run_better is not None for c in result.comparisons)
    rope = result.comparisons[0].rope
    equivalent = (f"P(within {100 * rope:.4g})",) if rope > 0 else ()
    notes = {c.note for c in result.comparisons}
    has_notes = len(notes) > 1  # what holds for all of them is said once, below
    columns = (
        "comparison",
        "score",
        *(("question",) if asked else ()),
        "difference",
        "low",
        "high",
        "p",
        *(("p adjusted",) if several else ()),
        "P(worse)",
        *equivalent,
        "P(better)",
        *(("P(new run)",) if new_runs else ()),
        *(("note",) if has_notes else ()),
    )
    rows = tuple(
        (
            f"{c.b} − {c.a}",
            metric_words(c.metric),
            *((str(c.question),) if asked else ()),
            *(points(value) for value in (c.difference, c.low, c.high)),
            pvalue(c.pvalue),
            *((pvalue(c.p_adjusted),) if several else ()),
            probability(c.p_a_better),
            *((probability(c.p_equivalent),) if rope > 0 else ()),
            probability(c.p_b_better),
            *((_chance_of_a_run(c),) if new_runs else ()),
            *((c.note or "",) if has_notes else ()),
        )
        for c in result.comparisons
    )
    c = result.comparisons[0]
    spare: tuple[str, ...] = () if rope > 0 else ("P(worse)",)
    spare += ("score",) if len({c.metric for c in result.comparisons}) == 1 else ()
    spare += ("P(new run)",) if new_runs else ()  # the verdict says it, too
    alone = len({(c.a, c.b) for c in result.comparisons}) == 1
    who = (
        f"{c.b} is worse or better than {c.a}"
        if alone
        else "the system named first is worse or better"
    )
    note = (
        f"p: {c.test} two-sided randomisation test by {c.by}; it is not the probability that the "
        f"systems are equally good. P(worse), P(better): posterior probabilities that {who}."
    )
    if asked:
        note = _TWO_QUESTIONS.format(by=c.by, test=c.test, who=who) + _NEW_RUN * new_runs
    return Table(
        columns,
        rows,
        title=f"Differences in points with {100 * result.level:g} % intervals",
        notes=(
            note,
            *(f"Note: {same}." for same in notes if same and not has_notes),
            *dict.fromkeys(named_pairs(c) for c in result.comparisons if c.pairs),
        ),
        # without a region of equivalence the one probability tells the other
        droppable=tuple(columns.index(name) for name in spare),
        text_columns=3 if asked else 2,
        closing_words=has_notes,
    )


def _chance_of_a_run(c: Comparison) -> str:
    return "" if c.p_new_run_better is None else probability(c.p_new_run_better)


_TWO_QUESTIONS = (
    "models: these trained models on other test sets; p of the {test} two-sided randomisation test "
    "by {by}, all runs of a system together. procedures: new runs on other test sets; limits and p "
    "by Student's t from the variance over {by}s and runs. p is not the probability that they are "
    "equally good. P(worse), P(better): probabilities that {who}."
)
_NEW_RUN = " P(new run): that a new run of it beats a new run of the other on a new test set."


def _records(result: Comparisons) -> list[dict[str, Any]]:
    scores = [{"kind": "score", **record} for record in Scores.records(result)]
    for own in result.run_scores or ():
        scores += ({"kind": "run", **record} for record in own.records())
    return scores + [{"kind": "comparison", **record} for record in result.records()]
