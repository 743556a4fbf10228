"""Build the document of a comparison: the tables for a paper, and the page."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from probative._validation import whole_number
from probative.errors import InputError
from probative.reporting.agreement_report import ceiling_table
from probative.reporting.compare_page import bucket_tables, label_differences, page_content
from probative.reporting.document import Column, Document, Strong, Table, Words, interval, payload
from probative.reporting.forests import group_notes, group_tables
from probative.reporting.headlines import comparison_answers
from probative.reporting.records_report import (
    compared_fields,
    field_table,
    quality_lines,
    records_content,
    two_averages,
)
from probative.reporting.render import as_part
from probative.reporting.runs_report import (
    companion_table,
    has_runs,
    mean_table,
    named_pairs,
    run_table,
    single_runs,
    variance_table,
)
from probative.reporting.score_report import label_table, oddities, scores_document
from probative.results import Scores
from probative.wording.numbers import (
    counted,
    factor,
    metric_words,
    number,
    on_own_scale,
    points,
    probability,
    pvalue,
    scale_word,
    signed_points,
    task_words,
    words_of_test,
)
from probative.wording.verdict import SIGNIFICANT, pvalue_of, tested_pvalue

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from markupsafe import Markup

    from probative.results import BayesTest, Comparison, Comparisons, GateVerdict, SystemScores


@on_own_scale
def compare_document(
    result: Comparisons,
    *,
    by_label: bool = False,
    buckets: bool = False,
    gates: Sequence[GateVerdict] = (),
    digits: int | None = None,
    compact: bool = False,
) -> Document:
    """Build the document of scores, differences and verdicts.

    `by_label` and `buckets` add tables to the text; the page always has them. `digits` are the
    decimals of points, by default 2, and 1 for intervals of scores. `compact` prints one table with
    one row per system instead of scores and differences.
    """
    if digits is not None:
        whole_number("digits", digits, least=0, most=15)
    signed = result.signature
    content = result.to_dict()
    del content["level"]
    if not buckets:
        content.pop("buckets", None)
    if gates:
        content["gates"] = [gate.to_dict() for gate in gates]
    procedures = [c for c in result.comparisons if c.question == "procedures"]
    several = has_runs(result)
    score_table = mean_table(result, procedures, digits) if several else _scores(result, digits)
    difference_table = _differences(result, digits)
    tables = [score_table, difference_table]
    if compact:
        # means and spreads, with intervals in the caption, have one row per system already
        tables = [score_table if several else _compact(result, digits)]
    if several and not compact:
        tables.insert(1, run_table(result, result.comparisons[0].metric))
    if procedures and not compact:
        tables += [variance_table(procedures), companion_table(procedures)]
    records = result.task == "records"
    if records and not compact:
        tables += compared_fields(result)
    if by_label:
        of_label = field_table if records else label_table
        tables += [of_label(result, system) for system in result.systems if system.by_label]
        tables += [label_differences(c) for c in result.comparisons if c.by_label and not records]
    if buckets:
        main = result.comparisons[0].metric
        first = [c for c in result.comparisons if c.metric == main and c.question != "procedures"]
        tables += [table for c in first for table in bucket_tables(result, c)]
    if result.groups is not None and not compact:
        tables += group_tables(result)
    beside = [ceiling_table(result.ceilings)] if result.ceilings else []
    names = [system.name for system in result.systems]
    return Document(
        title=_names_in_title(names),
        payload=payload("compare", signed, **content),
        tables=(*tables, *beside),
        records=tuple(_records(result)),
        leading=tuple(quality_lines(result)),
        notes=(
            *result.verdicts,
            *map(str, result.judges or ()),
            *two_averages(result),
            *group_notes(result),
            signed,
        ),
        page="records.html" if records else "comparison.html",
        content=lambda: (
            page_content(result, score_table, difference_table)
            | _runs_content(result)
            | (records_content(result) if records else {})
        ),
        headline=comparison_answers(result, gates),
    )


def _runs_content(result: Comparisons) -> dict[str, Any]:
    """Return the variables of the template for single runs."""
    if not has_runs(result):
        return {"run_tables": [], "more_tables": [], "single_runs": None}
    metric = result.comparisons[0].metric
    procedures = [c for c in result.comparisons if c.question == "procedures"]
    return {
        "run_tables": [run_table(result, metric)],
        "more_tables": [variance_table(procedures), companion_table(procedures)]
        if procedures
        else [],
        "single_runs": single_runs(result, metric),
    }


def comparison_part(result: Comparisons) -> Markup:
    """Render the page of a comparison without its title, for a page that holds several."""
    shown = mean_table(result) if has_runs(result) else _scores(result, None)
    content = page_content(result, shown, _differences(result, None)) | _runs_content(result)
    lead = result.verdicts[0] if result.verdicts else ""
    return as_part("comparison_body.html", {**content, "lead": lead, "top": 3})


def _names_in_title(names: Sequence[str]) -> str:
    if len(names) == 2:
        return f"{names[1]} against {names[0]}"
    return f"{len(names)} systems: {', '.join(names)}"


def _metrics(result: Comparisons) -> list[str]:
    """Return the metrics to show: macro averages if these are compared, else the others."""
    macro = result.comparisons[0].metric.startswith("macro_")
    return [
        score.metric
        for score in result.systems[0].scores
        if score.metric.startswith("macro_") == macro
    ]


def _compact(result: Comparisons, digits: int | None) -> Table:
    """Build a table with one row per system: scores, and its difference from the baseline."""
    main = result.comparisons[0].metric
    baseline = result.systems[0].name
    if any(c.a != baseline for c in result.comparisons):
        raise InputError("compact: tells differences from the baseline; expected no other pairs")
    against = {c.b: c for c in result.comparisons if (c.a, c.metric) == (baseline, main)}
    adjusted = any(c.p_adjusted is not None for c in against.values())
    decimals = _decimals(digits, 1)
    level, metrics = f"{100 * result.level:g} %", _metrics(result)

    def difference(head: str, form: Callable[[Comparison], str]) -> Column:
        return Column(head, lambda s: form(against[s.name]) if s.name in against else "")

    def scores(metric: str) -> list[Column]:
        return [
            _score_column(result, metric, _short(metric), decimals),
            Column(level, lambda s: interval(s[metric], decimals), when=metric == main),
        ]

    c = result.comparisons[0]
    p = f"{'Holm-adjusted ' * adjusted}{words_of_test(c.test, 'two-sided')} by {c.by}"
    short = [f"{_short(m)}: {metric_words(m)}" for m in metrics if _short(m) != metric_words(m)]
    what = task_words(result.task, result.match, counted(result.units, result.unit))
    in_points = f"{what}; scores{scale_word(' in ')} with {level} intervals"
    return Table.of(
        result.systems,
        [
            Words("system", "name"),
            *(column for metric in metrics for column in scores(metric)),
            difference("Δ", lambda c: signed_points(c.difference, decimals)),
            difference(level, lambda c: interval(c, decimals)),
            difference("p", lambda c: pvalue(tested_pvalue(c))),
            difference("P(better)", lambda c: probability(c.p_b_better)),
        ],
        title="Scores and differences",
        notes=(
            f"{'; '.join(filter(None, (in_points, ', '.join(short))))}.",
            f"Δ: difference from {baseline}; p: {p}; P(better): posterior probability.",
        ),
        bold_note="The best is in bold.",
    )


def _score_column(
    result: Comparisons,
    metric: str,
    head: str,
    decimals: int,
    marked: Collection[tuple[str, str]] = (),
    **more: Any,
) -> Column:
    """Return the column of a score with the best in bold; `marked` ones have a dagger."""
    best = _best(result.systems, metric)

    def cell(system: SystemScores) -> str:
        text = points(system[metric].estimate, decimals) + "†" * ((system.name, metric) in marked)
        return Strong(text) if system[metric].estimate == best else text

    return Column(head, cell, **more)


def _short(metric: str) -> str:
    """Return the heading of a narrow column."""
    plain = metric.removeprefix("macro_")
    return {"precision": "P", "recall": "R"}.get(plain, metric_words(plain))


def _decimals(digits: int | None, usual: int) -> int:
    return usual if digits is None else digits


def _scores(result: Comparisons, digits: int | None) -> Table:
    """Build the table of scores, the best in bold, differences from the baseline marked."""
    marked = _significant_scores(result)
    metrics, level = _metrics(result), f"{100 * result.level:g} %"
    compared = {c.metric for c in result.comparisons}

    def columns(metric: str) -> list[Column]:
        # first the intervals of scores that are not compared are dropped, then those scores
        beside = metric not in compared
        decimals = _decimals(digits, 2)
        of_score = _score_column(
            result, metric, metric_words(metric), decimals, marked, drop=2 * beside
        )
        limits = Column(
            level, lambda s: interval(s[metric], _decimals(digits, 1)), drop=int(beside)
        )
        return [of_score, limits]

    differs = f"† differs from {result.systems[0].name}, {_significance(result)}."
    return Table.of(
        result.systems,
        [Words("system", "name"), *(column for m in metrics for column in columns(m))],
        title=f"Scores{scale_word(' in ')}",
        notes=(
            f"{task_words(result.task, result.match, counted(result.units, result.unit))}.",
            differs if any(metric in metrics for _, metric in marked) else "",
            *oddities(result),
        ),
        bold_note="The best is in bold.",
    )


def _best(systems: Sequence[SystemScores], metric: str) -> float | None:
    values = [s.estimate for system in systems for s in system.scores if s.metric == metric]
    defined = [value for value in values if value == value]
    return max(defined, default=None) if len(systems) > 1 else None


def _significant_scores(result: Comparisons) -> set[tuple[str, str]]:
    """Return systems and metrics whose difference from the baseline is significant."""
    baseline = result.systems[0].name
    return {
        (c.b, c.metric)
        for c in result.comparisons
        if c.a == baseline and pvalue_of(c) <= SIGNIFICANT and not c.identical
    }


def _significance(result: Comparisons) -> str:
    c = result.comparisons[0]
    adjusted = f"{result.adjustment.capitalize()}-adjusted " if c.p_adjusted is not None else ""
    return f"{adjusted}p ≤ {SIGNIFICANT:g} ({words_of_test(c.test)} by {c.by})"


def _differences(result: Comparisons, digits: int | None) -> Table:
    found, first = result.comparisons, result.comparisons[0]
    asked, rope = has_runs(result), first.rope
    adjusted = any(c.p_adjusted is not None for c in found)
    new_runs = any(c.p_new_run_better is not None for c in found)
    notes = {c.note for c in found}
    has_notes = len(notes) > 1  # a note that all share is printed once, below
    gap = partial(points, digits=_decimals(digits, 2))
    alone = len({(c.a, c.b) for c in found}) == 1
    who = (
        f"{first.b} is worse or better than {first.a}"
        if alone
        else "the system named first is worse or better"
    )
    note = (
        f"p: {words_of_test(first.test, 'two-sided')} by {first.by}; it is not the probability "
        f"that the systems are equally good. P(worse), P(better): posterior probabilities that "
        f"{who}."
    )
    if asked:
        note = _TWO_QUESTIONS.format(by=first.by, test=first.test, who=who) + _NEW_RUN * new_runs
    return Table.of(
        found,
        [
            Words("comparison", lambda c: f"{c.b} − {c.a}"),
            Words("score", "metric", metric_words, drop=2 * (len({c.metric for c in found}) == 1)),
            Words("question", when=asked),
            Column("difference", form=gap),
            Column("low", form=gap),
            Column("high", form=gap),
            Column("p", "pvalue", pvalue),
            Column("p adjusted", "p_adjusted", pvalue, when=adjusted),
            # without a region of equivalence, one probability gives the other
            Column("P(worse)", "p_a_better", probability, drop=int(rope == 0)),
            Column(f"P(within {factor() * rope:.4g})", "p_equivalent", probability, when=rope > 0),
            Column("P(better)", "p_b_better", probability),
            # the verdict says it, too
            Column("P(new run)", "p_new_run_better", _chance_of_a_run, when=new_runs, drop=3),
            Words("note", when=has_notes),
        ],
        title=f"Differences{scale_word(' in ')} with {100 * result.level:g} % intervals",
        notes=(
            note,
            *(f"Note: {same}." for same in notes if same and not has_notes),
            *dict.fromkeys(named_pairs(c) for c in found if c.pairs),
        ),
    )


def _chance_of_a_run(chance: float | None) -> str:
    return "" if chance is None else probability(chance)


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
    groups = [record for group in result.groups or () for record in group.records()]
    return [
        *scores,
        *({"kind": "comparison", **record} for record in result.records()),
        *({"kind": "group", **record} for record in groups),
    ]


# -----------------------------------------------------------------------------
# Build the document of the demonstration, and the page of its comparison.
# -----------------------------------------------------------------------------


def demo_document(
    comparison: Comparisons,
    models: tuple[str, str],
    tests: Sequence[BayesTest],
    segmenters: Scores,
    *,
    signature: str,
) -> tuple[Document, Document]:
    """Build the document for the terminal, and that of the seven systems for the page."""
    page = compare_document(comparison)
    segmentation = scores_document(segmenters)
    scores, differences = page.tables[:2]
    words = _few_scores(segmentation.tables[0])
    tables = (
        _retitle(scores, "1. Seven systems of a shared task on 1,287 sentences (F1 in points)"),
        _retitle(differences, "Are the others better or worse than spinningbytes?"),
        _bayes_table(models, tests),
        _retitle(words, "3. Two word segmenters on three sentences: read the recall"),
    )
    document = Document(
        title="What probative does",
        payload=payload(
            "demo",
            signature,
            comparison=page.payload,
            bayes=[test.to_dict() for test in tests],
            segmentation=segmentation.payload,
        ),
        tables=tables,
        records=page.records,
        notes=(f"Verdict: {comparison.verdicts[0]}",),
    )
    return document, page


def _few_scores(table: Table) -> Table:
    """Keep only precision, recall and F1 of words."""
    columns = table.columns[:5]
    rows = tuple(row[:5] for row in table.rows if row[1] in ("recall", "precision", "f1"))
    return Table(columns, rows, table.title, table.notes, text_columns=2)


def _retitle(table: Table, title: str) -> Table:
    return replace(table, title=title, tracks=None, droppable=(), bold_note="")


def _bayes_table(models: tuple[str, str], tests: Sequence[BayesTest]) -> Table:
    def limits(pair: tuple[float, float]) -> str:
        return f"{points(pair[0])} to {points(pair[1])}"

    a, b = models
    return Table.of(
        tests,
        [
            Words("score", "metric"),
            Column(a, "interval_a", limits),
            Column(b, "interval_b", limits),
            Column(f"P({a} better)", "p_a_better", number),
            Column(f"P({b} better)", "p_b_better", number),
        ],
        title="2. Two chunkers in 3×2 cross-validation: the Bayes test",
        notes=("Credible intervals in points.",),
    )
