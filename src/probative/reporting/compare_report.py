"""Build the document of a comparison: the tables for a paper, and the page."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from probative._validation import whole_number
from probative.errors import InputError
from probative.reporting.compare_page import bucket_tables, label_differences, page_content
from probative.reporting.document import (
    Column,
    Document,
    Strong,
    Table,
    Words,
    differed,
    payload,
    scored,
)
from probative.reporting.forests import group_notes, group_tables
from probative.reporting.headlines import (
    comparison_answers,
    evidence_words,
    gate_answers,
    spoken,
    verdict_words,
)
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
    of_kind,
    run_table,
    single_runs,
    variance_table,
)
from probative.reporting.score_report import (
    RECALL_LEADS,
    about,
    ask_for_positive,
    ceiling_table,
    drop_order,
    label_table,
    oddities,
    score_columns,
    scores_document,
    shown_metrics,
)
from probative.wording.numbers import (
    counted,
    factor,
    metric_name,
    metric_words,
    on_own_scale,
    points,
    probability,
    pvalue,
    region,
    scale_word,
    task_words,
    with_interval,
    words_of_test,
)
from probative.wording.verdict import tested_pvalue

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from markupsafe import Markup

    from probative.results import (
        BayesTest,
        Comparison,
        Comparisons,
        GateVerdict,
        Interval,
        Scores,
        SystemScores,
    )


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
    """Build the document of scores, differences and verdicts."""
    # `by_label` and `buckets` add tables to the text; the page always has them. `digits` are the
    # decimals of points, by default 1, and more where intervals are narrow. `compact` prints one
    # table with one row per system.
    if digits is not None:
        whole_number("digits", digits, least=0, most=15)
    signed = result.signature
    content = result.to_dict()
    del content["level"]
    if not buckets:
        content.pop("buckets", None)
    several, runs = has_runs(result.scores), _runs_content(result)
    tables = _main_tables(result, digits)
    if compact:
        # means and spreads, with intervals in the caption, have one row per system already
        tables = tables[:1] if several else [_compact(result, digits)]
    records = result.task == "records"
    if records and not compact:
        tables += compared_fields(result)
    if by_label:
        of_label = field_table if records else label_table
        tables += [of_label(result.scores, system) for system in result.systems if system.by_label]
        tables += [label_differences(c) for c in result.comparisons if c.by_label and not records]
    main = result.comparisons[0].metric
    if buckets:
        first = [c for c in result.comparisons if c.metric == main and c.question != "procedures"]
        tables += [table for c in first for table in bucket_tables(result, c)]
    if result.groups is not None and not compact:
        tables += group_tables(result)
    beside = [ceiling_table(result.ceilings)] if result.ceilings else []
    names = [system.name for system in result.systems]
    title = f"{len(names)} systems: {', '.join(names)}"
    headline = comparison_answers(result, gates)
    alone = len(result.verdicts) == 1 and not several
    return Document(
        title=f"{names[1]} against {names[0]}" if len(names) == 2 else title,
        payload=payload("compare", signed, gates, **content),
        tables=(*tables, *beside),
        more=() if compact else (*runs["run_tables"], *runs["more_tables"]),
        records=(
            *of_kind("score", [result.scores]),
            *of_kind("run", result.run_scores or ()),
            *of_kind("comparison", [result]),
            *of_kind("group", result.groups or ()),
        ),
        leading=tuple(quality_lines(result.scores)),
        notes=(
            *([RECALL_LEADS] if (result.task, main) == ("segmentation", "recall") else ()),
            *ask_for_positive(result.scores),
            *map(str, result.judges or ()),
            *two_averages(result.scores, result),
            *group_notes(result),
            signed,
        ),
        details=() if alone else result.verdicts,
        verdict=result.verdicts if alone else spoken(headline[len(gate_answers(gates)) :]),
        page="records.html" if records else "comparison.html",
        content=lambda: (
            page_content(result, _main_tables(result, digits))
            | runs
            | (records_content(result) if records else {})
        ),
        headline=headline,
    )


def _main_tables(result: Comparisons, digits: int | None = None) -> list[Table]:
    """Return the tables of scores and differences: one for two systems, else one of verdicts."""
    if has_runs(result.scores):
        procedures = [c for c in result.comparisons if c.question == "procedures"]
        return [mean_table(result.scores, procedures, digits), _differences(result, digits)]
    if len({(c.a, c.b) for c in result.comparisons}) == 1:
        return [_pair_table(result, digits)]
    several = len({c.metric for c in result.comparisons}) > 1
    return [_verdict_table(result, digits)] + [_differences(result, digits)] * several


def _runs_content(result: Comparisons) -> dict[str, Any]:
    """Return the variables of the template for single runs."""
    if not has_runs(result.scores):
        return {"run_tables": [], "more_tables": [], "single_runs": None}
    metric = result.comparisons[0].metric
    procedures = [c for c in result.comparisons if c.question == "procedures"]
    both = (variance_table, companion_table) if procedures else ()
    return {
        "run_tables": [run_table(result.scores, metric)],
        "more_tables": [table(procedures) for table in both],
        "single_runs": single_runs(result.scores, metric),
    }


def comparison_part(result: Comparisons) -> Markup:
    """Render the page of a comparison without its title, for a page that holds several."""
    content = page_content(result, _main_tables(result)) | _runs_content(result)
    lead = result.verdicts[0] if result.verdicts else ""
    return as_part("comparison_body.html", {**content, "lead": lead, "top": 3})


def _metrics(result: Comparisons) -> list[str]:
    """Return the metrics to show: macro averages if these are compared, else the others."""
    compared = list(dict.fromkeys(c.metric for c in result.comparisons))
    known = [score.metric for score in result.systems[0].scores]
    shown = shown_metrics(result.scores)
    if compared[0].startswith("macro_"):
        shown = [metric for metric in known if metric.startswith("macro_")]
    return [*shown, *(m for m in compared if m in known and m not in shown)]


def _pair_table(result: Comparisons, digits: int | None) -> Table:
    """Build the table of two systems: their scores, the difference, p and the probabilities."""
    metrics, first = _metrics(result), result.comparisons[0]
    tested = {c.metric: c for c in result.comparisons}
    others = {gap.metric: gap for gap in result.other_metrics or ()}
    rows = [
        *((s.name, *(scored(s[m], digits) for m in metrics)) for s in result.systems),
        ("difference", *(_gap(tested.get(m) or others.get(m), digits) for m in metrics)),
        ("p", *(pvalue(tested[m].pvalue) if m in tested else "" for m in metrics)),
        ("P(better)", *(_chance_of(tested.get(m), "p_b_better") for m in metrics)),
    ]
    if first.rope > 0:
        equal = (_chance_of(tested.get(m), "p_equivalent") for m in metrics)
        rows.append((f"P(within {region(first.rope)})", *equal))
    drops = drop_order(metrics, tested)
    return Table.of(
        rows,
        Words("system", itemgetter(0)),
        *(Column(metric_words(m), itemgetter(i), drop=drops[m]) for i, m in enumerate(metrics, 1)),
        title=about(result.scores),
        notes=(*oddities(result.scores), *_shared_notes(result)),
        details=(
            f"difference: {first.b} − {first.a}.",
            "Differences without p are not tested, and not adjusted for their number; --metric "
            "tests them."
            if others
            else "",
            _about_p(first),
        ),
        bold_note="Established differences are in bold.",
        rule=len(result.systems),
    )


def _gap(gap: Any, digits: int | None) -> str:
    """Return a difference with its interval; in bold if a test has established it."""
    if gap is None:
        return ""
    text = differed(gap, digits)
    shown = hasattr(gap, "pvalue") and evidence_words(gap)[1] in ("better", "worse")
    return Strong(text) if shown else text


def _chance_of(c: Comparison | None, name: str) -> str:
    chance = getattr(c, name, None)
    return "" if chance is None else probability(chance)


def _about_p(c: Comparison) -> str:
    return (
        f"p: {words_of_test(c.test, 'two-sided')} by {c.by}; it is not the probability that the "
        f"systems are equally good. P(better): posterior probability that {c.b} is better."
    )


def _shared_notes(result: Comparisons) -> list[str]:
    """Return the notes of the comparisons, each once."""
    notes = dict.fromkeys(f"Note: {c.note}." for c in result.comparisons if c.note)
    return [*notes, *dict.fromkeys(named_pairs(c) for c in result.comparisons if c.pairs)]


@dataclass(frozen=True)
class _Row:
    """Row of the table of verdicts: a system, and its comparison; None for the baseline."""

    system: SystemScores
    c: Comparison | None

    def __getitem__(self, metric: str) -> Interval:
        return self.system[metric]


def _verdict_table(result: Comparisons, digits: int | None) -> Table:
    """Build the table of verdicts, one row per comparison, the highest score first."""
    main = result.comparisons[0].metric
    found = [c for c in result.comparisons if c.metric == main]
    against = list(dict.fromkeys(c.a for c in found))
    rows = [_Row(result[c.b], c) for c in found]
    if len(against) == 1:
        rows.append(_Row(result[against[0]], None))
    known = {score.metric for score in result.systems[0].scores}

    def height(row: _Row) -> float:
        score = row.c.score_b if row.c is not None else found[0].score_a
        return -math.inf if score is None or score != score else float(score)

    rows.sort(key=height, reverse=True)
    metrics = [m for m in _metrics(result) if m in known]
    versus = f"against {against[0]}" if len(against) == 1 else "pair by pair"
    adjusted = any(c.p_adjusted is not None for c in found)

    def of(form: Callable[[Comparison], str], baseline: str = "") -> Callable[[_Row], str]:
        return lambda row: baseline if row.c is None else form(row.c)

    return Table.of(
        rows,
        Words("system", "system.name"),
        Words("against", of(lambda c: c.a), when=len(against) > 1),
        *score_columns(metrics, (main,), digits),
        Column("difference", of(lambda c: _gap(c, digits))),
        Column("adjusted p" if adjusted else "p", of(lambda c: pvalue(tested_pvalue(c))), drop=20),
        Column("P(better)", of(lambda c: probability(c.p_b_better)), drop=-1),
        Words("verdict", of(verdict_words, "baseline")),
        title=about(result.scores, f"Verdicts {versus}, {metric_name(main, result.match)}"),
        notes=(*oddities(result.scores), *_shared_notes(result)),
        details=(f"{'Adjusted ' * adjusted}{_about_p(found[0])}", "Intervals are not adjusted."),
        bold_note="Established differences are in bold.",
    )


def _compact(result: Comparisons, digits: int | None) -> Table:
    """Build a table with one row per system: scores, and its difference from the baseline."""
    main = result.comparisons[0].metric
    baseline = result.systems[0].name
    if any(c.a != baseline for c in result.comparisons):
        raise InputError("compact: shows differences from the baseline; expected no other pairs")
    against = {c.b: c for c in result.comparisons if (c.a, c.metric) == (baseline, main)}
    adjusted = any(c.p_adjusted is not None for c in against.values())
    level, metrics = f"{100 * result.level:g} %", _metrics(result)

    def difference(head: str, form: Callable[[Comparison], str]) -> Column:
        return Column(head, lambda s: form(against[s.name]) if s.name in against else "")

    def score(metric: str) -> Column:
        if metric == main:
            return Column(_short(metric), lambda s: scored(s[metric], digits))
        decimals = 1 if digits is None else digits
        return Column(_short(metric), lambda s: points(s[metric].estimate, decimals))

    c = result.comparisons[0]
    p = f"{'Holm-adjusted ' * adjusted}{words_of_test(c.test, 'two-sided')} by {c.by}"
    short = [f"{_short(m)}: {metric_words(m)}" for m in metrics if _short(m) != metric_words(m)]
    what = task_words(result.task, result.match, counted(result.units, result.unit))
    in_points = f"{what}; scores{scale_word(' in ')} with {level} intervals"
    return Table.of(
        result.systems,
        Words("system", "name"),
        *map(score, metrics),
        difference("Δ", lambda c: _gap(c, digits)),
        difference("p", lambda c: pvalue(tested_pvalue(c))),
        difference("P(better)", lambda c: probability(c.p_b_better)),
        title="Scores and differences",
        notes=(
            f"{'; '.join(filter(None, (in_points, ', '.join(short))))}.",
            f"Δ: difference from {baseline}; p: {p}; P(better): posterior probability.",
        ),
        bold_note="Established differences are in bold.",
    )


def _short(metric: str) -> str:
    """Return the heading of a narrow column."""
    plain = metric.removeprefix("macro_")
    return {"precision": "P", "recall": "R"}.get(plain, metric_words(plain))


def _differences(result: Comparisons, digits: int | None) -> Table:
    """Build the table of differences, one row per pair, metric and question."""
    found, first = result.comparisons, result.comparisons[0]
    asked, rope = has_runs(result.scores), first.rope
    adjusted = any(c.p_adjusted is not None for c in found)
    new_runs = any(c.p_new_run_better is not None for c in found)
    alone = len({(c.a, c.b) for c in found}) == 1
    who = f"{first.b} is better than {first.a}" if alone else "the system named first is better"
    note = _about_p(first)
    if asked:
        note = _TWO_QUESTIONS.format(by=first.by, test=first.test, who=who) + _NEW_RUN * new_runs
    return Table.of(
        found,
        Words("comparison", lambda c: f"{c.b} − {c.a}"),
        Words("score", "metric", metric_words, drop=2 * (len({c.metric for c in found}) == 1)),
        Words("question", when=asked),
        Column("difference", lambda c: _gap(c, digits)),
        Column("p", "pvalue", pvalue),
        Column("p adjusted", "p_adjusted", pvalue, when=adjusted),
        Column(f"P(within {factor() * rope:.4g})", "p_equivalent", probability, when=rope > 0),
        Column("P(better)", "p_b_better", probability),
        # the verdict says it, too
        Column("P(new run)", lambda c: _chance_of(c, "p_new_run_better"), when=new_runs, drop=3),
        title=f"Differences{scale_word(' in ')} with {100 * result.level:g} % intervals",
        notes=_shared_notes(result),
        details=(note,),
        bold_note="Established differences are in bold.",
    )


_TWO_QUESTIONS = (
    "models: these trained models on other test sets; p of the {test} two-sided randomisation test "
    "by {by}, all runs of a system together. procedures: new runs on other test sets; interval and "
    "p by Student's t from the variance over {by}s and runs. p is not the probability that they "
    "are equally good. P(better): probability that {who}."
)
_NEW_RUN = " P(new run): that a new run of it beats a new run of the other on a new test set."


# --- The demonstration, and the page of its comparison


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
    first = "1. Seven systems of a shared task, F1 in points on 1,287 sentences"
    third = "3. Two word segmenters on three sentences: recall leads"
    document = Document(
        title="What probative does",
        payload=payload(
            "demo",
            signature,
            comparison=page.payload,
            bayes=[test.to_dict() for test in tests],
            segmentation=segmentation.payload,
        ),
        tables=(
            _retitle(page.tables[0], first),
            _bayes_table(models, tests),
            _retitle(segmentation.tables[0], third),
        ),
        records=page.records,
        verdict=(f"Verdict: {comparison.verdicts[0]}",),
    )
    return document, page


def _retitle(table: Table, title: str) -> Table:
    return replace(table, title=title, tracks=None, bold_note="")


def _bayes_table(models: tuple[str, str], tests: Sequence[BayesTest]) -> Table:
    def score(test: BayesTest, name: str) -> str:
        return with_interval(getattr(test, f"score_{name}"), *getattr(test, f"interval_{name}"))

    a, b = models
    return Table.of(
        tests,
        Words("score", "metric", metric_words),
        Column(a, lambda test: score(test, "a")),
        Column(b, lambda test: score(test, "b")),
        Column(f"P({a} better)", "p_a_better", probability),
        Column(f"P({b} better)", "p_b_better", probability),
        title="2. Two chunkers in 3×2 cross-validation: the Bayes test",
        notes=("Scores in points with credible intervals.",),
    )
