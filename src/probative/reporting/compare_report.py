"""Build the document of a comparison: the tables for a paper, and the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative._validation import whole_number
from probative.errors import InputError
from probative.reporting.agreement_report import ceiling_table
from probative.reporting.compare_page import bucket_tables, label_differences, page_content
from probative.reporting.document import Document, Strong, Table, payload
from probative.reporting.forests import group_notes, group_tables
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
    metric_words,
    number,
    points,
    probability,
    pvalue,
    signed_points,
    task_words,
)
from probative.wording.verdict import SIGNIFICANT, pvalue_of, tested_pvalue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from probative.results import BayesTest, Comparison, Comparisons, GateVerdict, SystemScores


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
    if by_label:
        tables += [label_table(result, system) for system in result.systems if system.by_label]
        tables += [label_differences(c) for c in result.comparisons if c.by_label]
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
        notes=(*result.verdicts, *group_notes(result), signed),
        page="comparison.html",
        content=lambda: (
            page_content(result, score_table, difference_table, gates) | _runs_content(result)
        ),
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
    return as_part("comparison_body.html", {**content, "top": 3})


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
    metrics = _metrics(result)
    best = {metric: _best(result.systems, metric) for metric in metrics}
    rows = []
    for system in result.systems:
        cells = []
        for score in (system[metric] for metric in metrics):
            text = points(score.estimate, _decimals(digits, 1))
            cells.append(Strong(text) if score.estimate == best[score.metric] else text)
            if score.metric == main:
                cells.append(_limits(score.low, score.high, digits))
        c = against.get(system.name)
        if c is None:
            cells += ["", "", "", ""]
        else:
            cells.append(signed_points(c.difference, _decimals(digits, 1)))
            cells.append(_limits(c.low, c.high, digits))
            cells += [pvalue(tested_pvalue(c)), probability(c.p_b_better)]
        rows.append((system.name, *cells))
    level = f"{100 * result.level:g} %"
    heads = {m: _short(m) for m in metrics}
    shown = [head for m in metrics for head in (heads[m], *([level] if m == main else ()))]
    c = result.comparisons[0]
    p = f"{'Holm-adjusted ' * adjusted}{c.test} two-sided randomisation test by {c.by}"
    short = [f"{head}: {metric_words(m)}" for m, head in heads.items() if head != metric_words(m)]
    what = task_words(result.task, result.match, counted(result.units, result.unit))
    notes = (
        f"{what}; scores in points with {level} intervals{'; ' * bool(short)}{', '.join(short)}.",
        f"Δ: difference from {baseline}; p: {p}; P(better): posterior probability.",
    )
    return Table(
        ("system", *shown, "Δ", level, "p", "P(better)"),
        tuple(rows),
        title="Scores and differences",
        notes=notes,
        bold_note="The best is in bold.",
    )


def _short(metric: str) -> str:
    """Return the heading of a narrow column."""
    plain = metric.removeprefix("macro_")
    return {"precision": "P", "recall": "R"}.get(plain, metric_words(plain))


def _decimals(digits: int | None, usual: int) -> int:
    return usual if digits is None else digits


def _limits(low: float, high: float, digits: int | None) -> str:
    return f"{points(low, _decimals(digits, 1))} to {points(high, _decimals(digits, 1))}"


def _scores(result: Comparisons, digits: int | None) -> Table:
    """Build the table of scores, the best in bold, differences from the baseline marked."""
    metrics = _metrics(result)
    best = {metric: _best(result.systems, metric) for metric in metrics}
    marked = _significant_scores(result)
    rows = []
    for system in result.systems:
        cells = []
        for score in (system[metric] for metric in metrics):
            text = points(score.estimate, _decimals(digits, 2))
            if (system.name, score.metric) in marked:
                text += "†"
            is_best = score.estimate == best[score.metric]
            cells.append(Strong(text) if is_best else text)
            cells.append(_limits(score.low, score.high, digits))
        rows.append((system.name, *cells))
    level = f"{100 * result.level:g} %"
    notes = [f"{task_words(result.task, result.match, counted(result.units, result.unit))}."]
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
        # first the intervals of scores that are not compared, then those scores
        droppable=(*(2 * i + 2 for i in beside), *(2 * i + 1 for i in beside)),
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
    return f"{adjusted}p ≤ {SIGNIFICANT:g} ({c.test} randomisation test by {c.by})"


def _differences(result: Comparisons, digits: int | None) -> Table:
    several = any(c.p_adjusted is not None for c in result.comparisons)
    asked = has_runs(result)
    new_runs = any(c.p_new_run_better is not None for c in result.comparisons)
    rope = result.comparisons[0].rope
    equivalent = (f"P(within {100 * rope:.4g})",) if rope > 0 else ()
    notes = {c.note for c in result.comparisons}
    has_notes = len(notes) > 1  # a note that all share is printed once, below
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
            *(points(value, _decimals(digits, 2)) for value in (c.difference, c.low, c.high)),
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
        # without a region of equivalence, one probability gives the other
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
    return Table(
        table.columns, table.rows, title, table.notes, table.text_columns, table.closing_words
    )


def _bayes_table(models: tuple[str, str], tests: Sequence[BayesTest]) -> Table:
    a, b = models
    rows = tuple(
        (
            test.metric,
            *(
                f"{points(low)} to {points(high)}"
                for low, high in (test.interval_a, test.interval_b)
            ),
            number(test.p_a_better),
            number(test.p_b_better),
        )
        for test in tests
    )
    return Table(
        ("score", a, b, f"P({a} better)", f"P({b} better)"),
        rows,
        "2. Two chunkers in 3×2 cross-validation: the Bayes test",
        ("Credible intervals in points.",),
    )
