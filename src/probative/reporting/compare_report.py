"""Build the document of a comparison: the tables for a paper, and the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isnan
from operator import itemgetter
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from probative._validation import whole_number
from probative.errors import InputError
from probative.metrics import label_metric
from probative.reporting.bayes_report import difference_picture
from probative.reporting.document import (
    Answer,
    Column,
    Document,
    Strong,
    Table,
    Tracks,
    Words,
    comparison_answers,
    differed,
    evidence_words,
    gate_answers,
    limits,
    payload,
    scored,
    spoken,
    verdict_words,
    with_ends,
)
from probative.reporting.pictures import Bar, Forest, Histogram, Picture, figure
from probative.reporting.records_report import (
    compared_fields,
    field_table,
    quality_lines,
    records_content,
    two_averages,
)
from probative.reporting.render import templates
from probative.reporting.score_report import (
    RECALL_LEADS,
    about,
    ask_for_positive,
    ceiling_table,
    described,
    drop_order,
    has_runs,
    hidden,
    label_table,
    left_out,
    mean_table,
    named_pairs,
    oddities,
    of_kind,
    runs_content,
    score_columns,
    score_forest,
    scores_document,
    shown_metrics,
    variance_picture,
)
from probative.results import LabelExample, RecordExample
from probative.wording.numbers import (
    brackets,
    counted,
    factor,
    metric_name,
    metric_words,
    on_own_scale,
    p_equals,
    points,
    probability,
    pvalue,
    region,
    scale_word,
    signed_points,
    task_words,
    with_interval,
    words_of_test,
)
from probative.wording.verdict import STRENGTHS, no_verdict, pvalue_of, tested_pvalue

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from probative.results import (
        BayesTest,
        Comparison,
        Comparisons,
        DatasetComparisons,
        Example,
        GateVerdict,
        GroupSummary,
        Scores,
    )
    from probative.results.datasets import MeanDifference


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
    content = result.to_dict()
    del content["level"]
    if not buckets:
        content.pop("buckets", None)
    several, runs = has_runs(result.scores), runs_content(result)
    tables = _main_tables(result, digits)
    if compact:
        # means and spreads, with intervals in the caption, have one row per system already
        tables = tables[:1] if several else [_compact(result, digits)]
    records = result.task == "records"
    tables += compared_fields(result) if records and not compact else []
    if by_label:
        of_label = field_table if records else label_table
        tables += [of_label(result.scores, system) for system in result.systems if system.by_label]
        tables += [_label_differences(c) for c in result.comparisons if c.by_label and not records]
    main = result.comparisons[0].metric
    if buckets:
        first = [c for c in result.comparisons if c.metric == main and c.question != "procedures"]
        tables += [table for c in first for table in bucket_tables(result, c)]
    tables += group_tables(result) if result.groups is not None and not compact else []
    tables += [ceiling_table(result.ceilings)] if result.ceilings else []
    names = [system.name for system in result.systems]
    title = f"{len(names)} systems: {', '.join(names)}"
    headline = comparison_answers(result, gates)
    alone = len(result.verdicts) == 1 and not several
    return Document(
        title=f"{names[1]} against {names[0]}" if len(names) == 2 else title,
        payload=payload("compare", result.signature, gates, **content),
        tables=tuple(tables),
        more=() if compact else (*runs.get("run_tables", ()), *runs.get("more_tables", ())),
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
            *map(str, result.group_summaries or ()),
            result.signature,
        ),
        details=() if alone else result.verdicts,
        verdict=result.verdicts if alone else spoken(headline[len(gate_answers(gates)) :]),
        page="records.html" if records else "comparison.html",
        content=lambda: (
            _page_content(result, digits) | (records_content(result) if records else {})
        ),
        headline=headline,
    )


def _main_tables(result: Comparisons, digits: int | None, *, signs: bool = False) -> list[Table]:
    """Return the tables of scores and differences: one for two systems, else one of verdicts."""
    # on a page, verdicts have `signs`, so that they can be seen at a glance
    if has_runs(result.scores):
        procedures = [c for c in result.comparisons if c.question == "procedures"]
        return [mean_table(result.scores, procedures, digits), _differences(result, digits)]
    if len({(c.a, c.b) for c in result.comparisons}) == 1:
        return [_pair_table(result, digits)]
    several = len({c.metric for c in result.comparisons}) > 1
    return [_verdict_table(result, digits, signs=signs)] + [_differences(result, digits)] * several


def comparison_part(result: Comparisons) -> str:
    """Render the page of a comparison without its title, for a page that holds several."""
    content = _page_content(result, None)
    lead = result.verdicts[0] if result.verdicts else ""
    return templates().get_template("comparison_body.html").render(content, lead=lead, top=3)


def _metrics(result: Comparisons) -> list[str]:
    """Return the metrics to show: macro averages if these are compared, else the others."""
    compared = [c.metric for c in result.comparisons]
    known = [score.metric for score in result.systems[0].scores]
    shown = shown_metrics(result.scores)
    if compared[0].startswith("macro_"):
        shown = [metric for metric in known if metric.startswith("macro_")]
    return list(dict.fromkeys([*shown, *(m for m in compared if m in known)]))


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
    equal = (_chance_of(tested.get(m), "p_equivalent") for m in metrics)
    rows += [(f"P(within {region(first.rope)})", *equal)] if first.rope > 0 else []
    drops = drop_order(metrics, tested)
    untested = (
        "Differences without p are not tested, and not adjusted for their number; --metric tests "
        "them."
    )
    return Table.of(
        rows,
        Words("system", itemgetter(0)),
        *(Column(metric_words(m), itemgetter(i), drop=drops[m]) for i, m in enumerate(metrics, 1)),
        title=about(result.scores),
        notes=(*oddities(result.scores), *_shared_notes(result)),
        details=(f"difference: {first.b} − {first.a}.", untested * bool(others), _about_p(first)),
        bold_note="Established differences are in bold.",
        rule=len(result.systems),
    )


def _gap(gap: Any, digits: int | None) -> str:
    """Return a difference with its interval; in bold if a test has established it."""
    if gap is None:
        return ""
    shown = hasattr(gap, "pvalue") and evidence_words(gap)[1] in ("better", "worse")
    return (Strong if shown else str)(differed(gap, digits))


def _chance_of(c: Comparison | None, name: str) -> str:
    chance = getattr(c, name, None)
    return "" if chance is None else probability(chance)


def _about_p(c: Comparison) -> str:
    return (
        f"p: {words_of_test(c.test)} by {c.by}; it is not the probability that the "
        f"systems are equally good. P(better): posterior probability that {c.b} is better."
    )


def _shared_notes(result: Comparisons) -> list[str]:
    """Return the notes of the comparisons, each once."""
    notes = dict.fromkeys(f"Note: {c.note}." for c in result.comparisons if c.note)
    return [*notes, *dict.fromkeys(named_pairs(c) for c in result.comparisons if c.pairs)]


def _verdict_table(result: Comparisons, digits: int | None, *, signs: bool) -> Table:
    """Build the table of verdicts, one row per comparison, the highest score first."""
    main = result.comparisons[0].metric
    found = [c for c in result.comparisons if c.metric == main]
    against = list(dict.fromkeys(c.a for c in found))
    known = {score.metric for score in result.systems[0].scores}

    def row(name: str, score: Any, c: Comparison | None = None) -> dict[str, Any]:
        height = -inf if score is None or score != score else float(score)
        scores = {own.metric: own for own in result[name].scores}
        return {"name": name, "height": height, "c": c, **scores}

    rows = [row(c.b, c.score_b, c) for c in found]
    rows += [row(against[0], found[0].score_a)] if len(against) == 1 else []
    rows.sort(key=itemgetter("height"), reverse=True)
    metrics = [m for m in _metrics(result) if m in known]
    versus = f"against {against[0]}" if len(against) == 1 else "pair by pair"
    adjusted = any(c.p_adjusted is not None for c in found)

    def of(form: Callable[[Comparison], str], baseline: str = "") -> Callable[[Any], str]:
        return lambda row: baseline if row["c"] is None else form(row["c"])

    def verdict(c: Comparison) -> str:
        sign = f"{Answer('', evidence_words(c)[1]).sign} " if signs else ""
        return sign + verdict_words(c)

    return Table.of(
        rows,
        Words("system", itemgetter("name")),
        Words("against", of(lambda c: c.a), when=len(against) > 1),
        *score_columns(metrics, (main,), digits),
        Column("difference", of(lambda c: _gap(c, digits))),
        Column("adjusted p" if adjusted else "p", of(lambda c: pvalue(tested_pvalue(c))), drop=20),
        Column("P(better)", of(lambda c: probability(c.p_b_better)), drop=-1),
        Words("verdict", of(verdict, "baseline")),
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
    p = f"{'Holm-adjusted ' * adjusted}{words_of_test(c.test)} by {c.by}"
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
    note, by = _about_p(first), first.by
    if asked:
        note = (
            f"models: these trained models on other test sets; p of the {first.test} two-sided "
            f"randomisation test by {by}, all runs of a system together. procedures: new runs on "
            f"other test sets; interval and p by Student's t from the variance over {by}s and "
            f"runs. p is not the probability that they are equally good. P(better): probability "
            f"that {who}."
        )
    if asked and new_runs:
        note += " P(new run): that a new run of it beats a new run of the other on a new test set."
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
        details=note,
        bold_note="Established differences are in bold.",
    )


# --- The demonstration


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
    a, b = models
    bayes = Table.of(
        tests,
        Words("score", "metric", metric_words),
        Column(a, lambda test: with_interval(test.score_a, *test.interval_a)),
        Column(b, lambda test: with_interval(test.score_b, *test.interval_b)),
        Column(f"P({a} better)", "p_a_better", probability),
        Column(f"P({b} better)", "p_b_better", probability),
        title="2. Two chunkers in 3×2 cross-validation: the Bayes test",
        notes="Scores in points with credible intervals.",
    )
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
        tables=(_retitle(page.tables[0], first), bayes, _retitle(segmentation.tables[0], third)),
        records=page.records,
        verdict=(f"Verdict: {comparison.verdicts[0]}",),
    )
    return document, page


def _retitle(table: Table, title: str) -> Table:
    return replace(table, title=title, tracks=None, bold_note="")


# --- Differences in groups and on several data sets

_IN_TEXT, _ON_A_PAGE = 25, 60  # rows shown


class _ForestRow(NamedTuple):
    """Difference of two systems in a part of the data."""

    name: str
    units: int
    gap: Comparison | MeanDifference  # the difference, its interval and the scores of both
    p: float | None = None  # that counts; None without a test
    decided: bool = False
    whole: bool = False  # it is about all others together


def _choose_rows(rows: Sequence[_ForestRow], most: int) -> tuple[list[_ForestRow], int]:
    """Return the rows to show, by falling difference, the whole last; and how many are left out."""
    # if there are too many, decided rows are kept first, then those with the most units
    single = [row for row in rows if not row.whole]
    kept = sorted(single, key=lambda row: (not row.decided, -row.units))[:most]
    kept.sort(key=lambda row: (isnan(row.gap.difference), -row.gap.difference, row.name))
    return [*kept, *(row for row in rows if row.whole)], len(single) - len(kept)


@dataclass(frozen=True)
class _Differences:
    """Differences of two systems in parts of the data, for a table and a picture."""

    rows: Sequence[_ForestRow]
    by: str  # what the parts are
    whole: Comparison | DatasetComparisons
    p_head: str
    note: str
    unit: str = "unit"

    @property
    def title(self) -> str:
        c = self.whole
        return f"{c.b} − {c.a}, {metric_name(c.metric, c.match)} by {self.by}"

    def table(self, most: int = _IN_TEXT) -> Table:
        """Build a table of estimates, intervals, units and p-values, with drawn intervals."""
        shown, omitted = _choose_rows(self.rows, most)
        drawn, is_cut = _cut([limits(row.gap) for row in shown])
        cut = "Drawn intervals that reach far beyond the others are cut." * is_cut
        scored = all(row.gap.score_a is not None for row in shown if not row.whole)
        one = partial(points, digits=1)

        def difference(row: _ForestRow) -> str:
            gap = signed_points(row.gap.difference, 2)
            ends = points(row.gap.low), points(row.gap.high)
            return with_ends(Strong(gap) if row.decided else gap, *ends)

        whole = [i for i, row in enumerate(shown) if row.whole]
        return Table.of(
            shown,
            Words(self.by, lambda row: Strong(row.name) if row.whole else row.name),
            Column(f"{self.unit}s", "units", drop=3),
            Column(self.whole.a, "gap.score_a", one, when=scored, drop=1),
            Column(self.whole.b, "gap.score_b", one, when=scored, drop=2),
            Column("difference", difference),
            Column(self.p_head, "p", pvalue),
            title=f"{self.title}{scale_word(', ')}",
            notes=(self.note, left_out(omitted), cut),
            tracks=Tracks.of(drawn, zero=True, marked=whole),
            track_before="difference",
            bold_note=f"Decided differences in {metric_name(self.whole.metric)} are in bold.",
        )

    def picture(self) -> Forest:
        """Picture the differences as a forest plot."""
        shown, omitted = _choose_rows(self.rows, _ON_A_PAGE)
        a, b, name = self.whole.a, self.whole.b, metric_name(self.whole.metric)
        level = f"{100 * self.whole.level:g} %"
        drawn, is_cut = _cut([limits(row.gap) for row in shown])
        bars = [
            Bar(f"{row.name} ({row.units:,})", *own, row.whole, words=_in_words(row))
            for row, own in zip(shown, drawn, strict=True)
        ]
        listed = "; ".join(
            f"{row.name} {points(row.gap.difference)} ({brackets(row.gap.low, row.gap.high, 2)})"
            for row in shown
        )
        cut = "; long ones are cut" * is_cut
        cut += f"; {omitted:,} more left out" if omitted else ""
        return Forest(
            bars,
            zero=True,
            axis=f"{b} − {a}, {name}{scale_word(', ')}",
            title=f"{self.title} with {level} intervals; all together in orange.",
            description=f"Differences in {name}: {listed}",
            reading=f"Right of the dashed line {b} is better, left of it {a}; behind each name "
            f"stands on how many units it rests. Each interval stands for itself: it is not "
            f"adjusted for their number. {left_out(omitted)}".rstrip(),
            note=f"{level} intervals{cut}",
        )


def _cut(limits: list[tuple[float, float, float]]) -> tuple[list[tuple[float, float, float]], bool]:
    """Cut intervals to a scale on which the shorter half of them can be seen; was one cut?"""
    # otherwise one tiny group would turn all others into dots
    defined = [row for row in limits if row[0] == row[0]]
    if len(defined) < 4:
        return limits, False
    short = sorted(defined, key=lambda row: row[2] - row[1])[: (len(defined) + 1) // 2]
    reach = 1.5 * (short[-1][2] - short[-1][1])
    low = min(0.0, *(row[0] for row in defined), *(row[1] for row in short)) - reach
    high = max(0.0, *(row[0] for row in defined), *(row[2] for row in short)) + reach
    cut = [(d, max(a, low), min(b, high)) if d == d else (d, a, b) for d, a, b in limits]
    return cut, cut != limits


def _in_words(row: _ForestRow) -> str:
    """Return the numbers that stand on the right of a row."""
    p = "" if row.p is None else f"  p = {pvalue(row.p)}"
    difference, low, high = limits(row.gap)
    if isnan(difference):
        return p
    return f"{signed_points(difference)} {brackets(low, high, 1)}{p}"


# --- Groups of a comparison: forest plots, and tables of a reversal

_ALL = "all groups"


def _of_groups(result: Comparisons, whole: Comparison, summary: GroupSummary) -> _Differences:
    unit = result.unit if result.by != "item" else "item"
    note = (
        f"{100 * result.level:g} % intervals, each on its own; p adjusted by Holm's method for "
        f"{counted(summary.tests, 'test')} (JSON: Benjamini and Hochberg's, too), that of all "
        f"groups as it is. The largest difference comes first."
    )
    asked = (whole.a, whole.b, whole.metric, whole.question)
    rows = [_row(g.group, g.units, g.of_pair(*asked), result.level) for g in result.groups or ()]
    total = whole.observed_units or result.units
    rows.append(_row(_ALL, total, whole, result.level, whole=True))
    return _Differences(rows, summary.column, whole, "p adjusted", note, unit)


def group_tables(result: Comparisons, *, most: int = _IN_TEXT) -> list[Table]:
    """Build a forest table for each pair and metric, and the tables of a reversal."""
    pairs = zip(result.comparisons, result.group_summaries or (), strict=False)
    return [
        table
        for pair in pairs
        for table in (_of_groups(result, *pair).table(most), *_reversal_tables(*pair))
    ]


def group_pictures(result: Comparisons) -> list[Forest]:
    """Picture the groups as a forest plot for each pair and metric."""
    pairs = zip(result.comparisons, result.group_summaries or (), strict=False)
    return [_of_groups(result, *pair).picture() for pair in pairs]


@on_own_scale
def group_figure(result: Comparisons) -> Figure:
    """Draw the forest plot of the first pair and metric."""
    return figure(group_pictures(result)[0])


def _row(name: str, units: int, c: Comparison, level: float, *, whole: bool = False) -> _ForestRow:
    has_evidence = no_verdict(c) is None
    decided = has_evidence and pvalue_of(c) <= (1 - level) * (1 + 1e-9)
    return _ForestRow(name, units, c, tested_pvalue(c) if has_evidence else None, decided, whole)


def _reversal_tables(whole: Comparison, summary: GroupSummary) -> list[Table]:
    """Build two tables that show Simpson's paradox: every group, and the whole."""
    if not summary.weights:
        return []
    of_a, of_b = (f"{name}: {metric_words(whole.metric)}" for name in (whole.a, whole.b))
    within = Table.of(
        summary.weights[:_ON_A_PAGE],
        Words(summary.column, "group"),
        Column(of_a, "score_a", points),
        Column("weight", lambda entry: f"{100 * entry.weight_a:.1f} %"),
        Column(of_b, "score_b", points),
        Column("weight", lambda entry: f"{100 * entry.weight_b:.1f} %"),
        Column("difference", lambda entry: signed_points(entry.score_b - entry.score_a, 2)),
        title=f"Simpson's paradox, 1: within each {summary.column}",
        notes="A weight is the group's share of the denominator of the system's overall score, "
        "which is the sum of scores times weights.",
    )
    together = Table.of(
        [whole],
        Words("", lambda _: _ALL),
        Column(of_a, "score_a", points),
        Column(of_b, "score_b", points),
        Column("difference", lambda whole: signed_points(whole.difference, 2)),
        title="Simpson's paradox, 2: all groups together",
    )
    return [within, together]


# --- Comparison on several data sets


@on_own_scale
def datasets_document(result: DatasetComparisons, *, gates: Sequence[GateVerdict] = ()) -> Document:
    """Build the document of every data set, the mean, the pooled difference and counts."""
    found = _of_datasets(result)
    return Document(
        title=f"{result.b} against {result.a} on {len(result)} data sets",
        payload=payload("compare", result.signature, gates, **result.to_dict()),
        tables=(found.table(), _partial_conjunctions(result)),
        records=tuple(result.records()),
        notes=(*result.verdicts, result.signature),
        pictures=(found.picture(),),
        headline=(*gate_answers(gates), _datasets_headline(result)),
    )


def _datasets_headline(result: DatasetComparisons) -> Answer:
    """Say on how many data sets one system is better."""
    better, worse = result.better.bonferroni, result.worse.bonferroni
    sets = f"of {counted(len(result), 'data set')}"
    parts = [
        f"{name} better on at least {count} {sets}"
        for name, count in ((result.b, better), (result.a, worse))
        if count
    ]
    state = {(True, False): "better", (False, True): "worse"}.get((better > 0, worse > 0), "open")
    words = "; ".join(parts) or f"Not established on any {sets}"
    return Answer(words, state, result.verdicts[:1])


def _of_datasets(result: DatasetComparisons) -> _Differences:
    note = (
        f"{100 * result.level:g} % intervals, each on its own; p: two-sided, not adjusted, the "
        f"larger of the exact test and Student's by unit. The mean gives every data set the same "
        f"weight, the pooled difference every unit."
    )
    limit = (1 - result.level) * (1 + 1e-9)
    rows = [
        _ForestRow(
            one.dataset,
            one.units,
            one.comparison,
            one.comparison.p_decision if no_verdict(one.comparison) is None else None,
            min(one.p_holm_better, one.p_holm_worse) <= limit,
        )
        for one in result.datasets
    ]
    units, pooled = sum(one.units for one in result.datasets), result.pooled
    rows.append(_ForestRow("mean", units, result.mean, whole=True))
    if pooled is not None:
        rows.append(_ForestRow("all pooled", units, pooled, pooled.p_decision, whole=True))
    return _Differences(rows, "data set", result, "p", note)


@on_own_scale
def datasets_figure(result: DatasetComparisons) -> Figure:
    """Draw the forest plot of all data sets."""
    return figure(_of_datasets(result).picture())


def _partial_conjunctions(result: DatasetComparisons) -> Table:
    """Build the table of the partial-conjunction p-values of both directions."""
    better, worse = result.better, result.worse
    return Table.of(
        range(len(better.p_bonferroni)),
        Words("at least", lambda i: str(i + 1)),
        Column(f"{result.b} better", better.p_bonferroni.__getitem__, pvalue),
        Column("if independent", better.p_fisher.__getitem__, pvalue),
        Column(f"{result.a} better", worse.p_bonferroni.__getitem__, pvalue, drop=2),
        Column("if independent", worse.p_fisher.__getitem__, pvalue, drop=1),
        title="p of being better on at least so many data sets",
        notes=f"Partial conjunctions of one-sided tests: by Bonferroni, whatever the dependence of "
        f"the data sets; by Fisher, if they are independent. The count is the last that is at most "
        f"{1 - result.level:.4g}: {better.bonferroni} and {better.fisher} for {result.b}, "
        f"{worse.bonferroni} and {worse.fisher} for {result.a}.",
    )


# --- The page

_MOST_LABELS = 200  # labels in a table
_MOST_CONFUSED_LABELS = 10  # labels of a heat map; more do not fit on a phone


def _page_content(result: Comparisons, digits: int | None) -> dict[str, Any]:
    """Return the variables of the template."""
    tables = _main_tables(result, digits, signs=True)
    main = result.comparisons[0].metric
    first = [c for c in result.comparisons if c.metric == main]
    drawn = [
        {"title": f"{c.b} against {c.a}{_OF[c.question]}", "pictures": _pair_pictures(c)}
        for c in first
        if not c.identical and no_verdict(c) is None
    ]
    kind = "labels" if result.task in ("labels", "samples") else "spans"
    many = len({(c.a, c.b) for c in first}) > 1
    told = [example for example in result.examples if not isinstance(example, RecordExample)]
    shown = len({(example.a, example.b) for example in result.examples})
    more = len([c for c in first if not c.identical]) - shown
    without = f" Of {counted(shown, 'pair')}; {more:,} more pairs have none here." * (more > 0)
    return {
        # the headline has the verdict of two systems
        "verdicts": result.verdicts if many or has_runs(result.scores) else (),
        "many": many,  # then the figures and tables of most pairs are folded
        "recognised": [base_name(note) for note in result.notes],
        "score_table": tables[0],
        "difference_table": tables[1] if len(tables) > 1 else None,
        "score_pictures": [score_forest(result.scores, main)],
        "difference_pictures": [_difference_forest(first)],
        "pairs": drawn,
        "label_tables": [_label_differences(c) for c in first if c.by_label],
        "bucket_tables": [bucket_tables(result, c) for c in first if c.question != "procedures"],
        "bucket_words": _BUCKET_WORDS.format(
            length="characters" if result.task == "segmentation" else "tokens"
        ),
        "confusions": _confusions(result),
        "confusion_words": _CONFUSION_WORDS[kind],
        "examples": shown_examples(told),
        "example_words": EXAMPLE_WORDS[kind] + without,
        "methods": methods_of(result),
        "group_pictures": group_pictures(result),
        "group_tables": group_tables(result, most=_ON_A_PAGE) if result.groups else [],
        "group_notes": list(map(str, result.group_summaries or ())),
        "ceiling_tables": [ceiling_table(result.ceilings)] if result.ceilings else [],
        **runs_content(result),
    }


def base_name(note: str) -> str:
    """Shorten the paths of files in a note to their last parts."""
    path, colon, words = note.partition(": ")
    head = f"{PurePath(path).name}{colon}" if colon and path else path
    said = (PurePath(w).name if w.startswith("/") and len(w) > 1 else w for w in words.split(" "))
    return head + " ".join(said)


def _difference_forest(comparisons: Sequence[Comparison]) -> Forest:
    bars = [Bar(f"{c.b} − {c.a}{_OF[c.question]}", *limits(c)) for c in comparisons]
    metric = metric_name(comparisons[0].metric, comparisons[0].match)
    level = f"{100 * comparisons[0].level:g} % intervals"
    return Forest(
        bars,
        zero=True,
        axis=f"difference in {metric}{scale_word(', ')}",
        title=f"Differences in {metric} with {level}.",
        description=f"Differences in {metric}: {described(bars)}",
        reading="Right of the dashed line the system that is named first is better, left of it the "
        "other. An interval that crosses the line does not establish a difference.",
        note=level,
    )


@on_own_scale
def comparison_figure(result: Comparisons) -> Figure:
    """Draw the scores of the systems and the differences of the pairs side by side."""
    main = result.comparisons[0].metric
    first = [c for c in result.comparisons if c.metric == main]
    return figure(score_forest(result.scores, main), _difference_forest(first))


def posterior_figure(c: Comparison) -> Figure:
    """Draw the posterior of one difference."""
    return figure(difference_picture(c, (c.a, c.b)))


def _pair_pictures(c: Comparison) -> list[Picture]:
    posterior, variance = difference_picture(c, (c.a, c.b)), variance_picture(c)
    pictures: list[Picture] = [posterior] if posterior.x else []
    pictures += [] if variance is None else [variance]
    if c.null is None:
        return pictures
    name, p = metric_name(c.metric, c.match), f"p {p_equals(c.pvalue)}"
    null = Histogram(
        [float(x) for x in c.null.edges],
        [float(p) for p in c.null.probabilities],
        c.difference,
        axis=f"difference by chance alone{scale_word(', ')}",
        title=f"Null distribution of the {c.test} test by {c.by}.",
        description=f"Null distribution of the difference in {name}; observed "
        f"{signed_points(c.difference)}, {p}",
        reading=f"Differences expected by chance: the outputs are swapped at random, {c.by} by "
        f"{c.by}. Purple: at least as large as the observed one, on either side; its share is {p}.",
    )
    return [*pictures, null]


def _label_differences(c: Comparison) -> Table:
    """Build the table of the scores of two systems and their difference by label."""
    shown = c.by_label[:_MOST_LABELS]
    metric = metric_name(label_metric(c.metric.removeprefix("macro_")), c.match)
    return Table.of(
        shown,
        Words("label"),
        Column(c.a, lambda e: points(e.score_a, 1), drop=1),
        Column(c.b, lambda e: points(e.score_b, 1), drop=2),
        Column("difference", differed),
        title=f"{c.b} against {c.a}, {metric} by label{scale_word(' in ')}",
        notes=(
            _each_on_its_own(c.level),
            hidden(len(c.by_label) - len(shown), "labels", "JSON has all of them"),
        ),
        track="difference",
    )


def _each_on_its_own(level: float) -> str:
    return f"{100 * level:g} % intervals, each on its own: not adjusted for their number."


def bucket_tables(result: Comparisons, c: Comparison) -> list[Table]:
    """Build one table per kind of bucket: the scores of two systems and their difference."""
    kinds: dict[str, list[tuple[Any, ...]]] = {}
    for bucket in result.buckets or ():
        own = {score.system: score for score in bucket.scores}
        gap = next(d for d in bucket.differences if (d.a, d.b) == (c.a, c.b))
        kinds.setdefault(bucket.kind, []).append((bucket, own[c.a], own[c.b], gap))
    return [_bucket_table(c, kind, found) for kind, found in kinds.items()]


def _bucket_table(c: Comparison, kind: str, found: Sequence[tuple[Any, ...]]) -> Table:
    metric = metric_name(found[0][3].metric, c.match)
    return Table.of(
        found,
        Words(kind, lambda row: row[0].bucket),
        Column("items", lambda row: row[0].items),
        # the difference is kept longest
        Column(c.a, itemgetter(1), scored, drop=1),
        Column(c.b, itemgetter(2), scored, drop=2),
        Column("difference", itemgetter(3), differed),
        title=f"{c.b} against {c.a}, {metric} by {kind}{scale_word(' in ')}",
        notes=_each_on_its_own(c.level),
        tracks=Tracks.of([limits(gap) for *_, gap in found], zero=True),
    )


def _confusions(result: Comparisons) -> list[dict[str, Any]]:
    """Return a heat map for each system, of the labels that are confused most."""
    pairs = zip(result.systems, result.confusions, strict=False)
    systems = [(system.name, rows) for system, rows in pairs if rows]
    times: Counter[str] = Counter()
    for _, rows in systems:
        for right, given, n in rows:
            times.update({label: n for label in (right, given) if label is not None})
    most = sorted(times, key=lambda label: (-times[label], label))[:_MOST_CONFUSED_LABELS]
    labels: list[str | None] = [*sorted(most)]
    if any(None in row[:2] for _, rows in systems for row in rows):
        labels.append(None)
    # one scale for all, so that a colour has one meaning
    largest = max((n for _, rows in systems for *_, n in rows), default=1)
    return [_heat_map(name, rows, labels, largest) for name, rows in systems]


def _heat_map(
    name: str, rows: Sequence[Any], labels: Sequence[str | None], largest: int
) -> dict[str, Any]:
    times = {(right, given): n for right, given, n in rows}
    table = [[times.get((right, given), 0) for given in labels] for right in labels]
    shown, total = sum(map(sum, table)), sum(times.values())
    named = f"the {len(labels) - (None in labels)} labels that all systems together confuse most"
    note = f"{shown:,} of {total:,} confusions: those of {named}."
    return {
        "title": name,
        "note": note if shown < total else "",
        "largest": largest,
        "labels": ["(nothing)" if label is None else label for label in labels],
        "rows": table,
    }


def shown_examples(examples: Sequence[Example | LabelExample]) -> list[dict[str, Any]]:
    """Return examples for the page, under a heading for each system that does better."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for example in examples:
        whose = (example.a, example.b, example.better)
        groups.setdefault(whose, []).append(_shown_example(example))
    return [
        {"title": f"{better} does better than {a if better == b else b}", "examples": own}
        for (a, b, better), own in groups.items()
    ]


# part of a line: its text; whether it is right, wrong, missed or nothing of these; and its label
_Part = tuple[str, str, str]


def _shown_example(example: Example | LabelExample) -> dict[str, Any]:
    """Return an example for the page: a head, a text, and one line per side."""
    if isinstance(example, LabelExample):
        given = (("gold", example.gold), (example.a, example.label_a), (example.b, example.label_b))
        kinds = {True: "right", False: "wrong"}
        lines = [(who, [(label, kinds[label == example.gold], "")]) for who, label in given]
        return {"head": f"Item {example.item:,}", "text": example.text, "lines": lines}
    show = _differing_words if example.separator == "" and _covers(example) else _marked
    sides = (("gold", example.gold), (example.a, example.spans_a), (example.b, example.spans_b))
    f1 = f"F1 {points(example.f1_b, 0)} of {example.b}, {points(example.f1_a, 0)} of {example.a}"
    return {
        "head": f"Sentence {example.sentence:,}: {f1}",
        "lines": [(who, show(example, spans)) for who, spans in sides],
    }


def _marked(example: Example, spans: Sequence[tuple[int, int, str]]) -> list[_Part]:
    """Split a sentence into parts with its spans marked; of overlapping spans, keep the first."""
    # spans of gold that a system does not have, and that none of its spans overlaps, are missed
    right = set(example.gold)
    missed = [g for g in example.gold if not any(a < g[1] and g[0] < b for a, b, _ in spans)]
    kinds = {own: "right" if own in right else "wrong" for own in spans}
    kinds |= dict.fromkeys(missed, "missed")
    parts: list[_Part] = []
    at, space = 0, example.separator
    for first, end, label in sorted(kinds):
        start = max(first, 0)  # a span may begin before the shown words
        if start < at:
            continue
        if start > at:
            parts.append((space.join(example.words[at:start]) + space, "", ""))
        words = space.join(example.words[start:end])
        parts += [(words, kinds[first, end, label], label), (space or "\u2009", "", "")]
        at = end
    return [*parts, (space.join(example.words[at:]), "", "")]


_WORDS_AROUND = 5  # words shown before and after a place where segmentations differ


def _covers(example: Example) -> bool:
    """Return True if the gold spans are the words of the sentence, one after the other."""
    ends = [0, *(end for _, end, _ in sorted(example.gold))]
    starts = [max(first, 0) for first, _, _ in sorted(example.gold)]
    return len(example.gold) > 1 and starts == ends[:-1]


def _differing_words(example: Example, spans: Sequence[tuple[int, int, str]]) -> list[_Part]:
    """Return the words of a segmentation around the places where the systems differ."""
    gold, a, b = set(example.gold), set(example.spans_a), set(example.spans_b)
    apart = a ^ b
    places = sorted(example.gold)
    shown: set[int] = set()  # characters of gold words
    for k, (first, end, _) in enumerate(places):
        if any(start < end and first < stop for start, stop, _ in apart):
            near = places[max(k - _WORDS_AROUND, 0) : k + _WORDS_AROUND + 1]
            shown.update(*(range(max(start, 0), stop) for start, stop, _ in near))
    parts: list[_Part] = []
    is_open = True
    for first, end, label in sorted(spans):
        if not shown & set(range(max(first, 0), end)):
            if is_open:
                parts.append(("… ", "", ""))
            is_open = False
            continue
        is_open = True
        text = "".join(example.words[max(first, 0) : end])
        own = (first, end, label)
        kind = ("right" if own in gold else "wrong") if own in apart else ""
        parts += [(text, kind, ""), (" ", "", "")]
    return parts


def methods_of(result: Comparisons, among: str = "") -> list[tuple[str, str]]:
    """Return the method and the assumptions of each number; p is adjusted `among` so many pairs."""
    c = result.comparisons[0]
    words = {
        **_SCORES,
        **(_CLUSTERS if result.by != "item" else {}),
        **(_PAIRED if c.posterior.kind == "paired" else _MACRO),
        **(_SEVERAL if c.p_adjusted is not None else {}),
        **_VERDICT,
        **(_RUNS if has_runs(result.scores) else {}),
    }
    filled = {"level": f"{100 * c.level:g} %", "unit": result.by, "by": c.by, "test": c.test}
    filled |= {"among": among, "adjuster": result.adjustment.capitalize()}
    filled["strengths"] = " ".join(
        f"{word.capitalize()} evidence: posterior probability at least {likely:g} and p at most "
        f"{p:g}."
        for word, likely, p in STRENGTHS
    )
    return [(term, text.format(**filled)) for term, text in words.items()]


EXAMPLE_WORDS = {
    "spans": "Sentences with the largest gap in F1, in either direction. ✓ and a solid line: gold "
    "has the span. ✗ and a wavy line: gold does not have it. A dotted line: the system missed it.",
    "labels": "Texts on which only one of the two is right. ✓ and a solid line: the right label. ✗ "
    "and a wavy line: a wrong one.",
}
_CONFUSION_WORDS = {
    "spans": "How often a gold span (row) was given another label (column). Row “(nothing)”: false "
    "alarms. Column “(nothing)”: missed spans. A span with wrong boundaries counts as a miss and a "
    "false alarm. The stronger the colour, the more often; right ones are not counted.",
    "labels": "How often an item of one class (row) was given another (column). The "
    "stronger the colour, the more often; right ones are not counted.",
}
_BUCKET_WORDS = (
    "The same scores on parts of the data. Lengths are in {length}. Items are grouped by their own "
    "length; false alarms too. “items”: how many gold has there. Dot and line: the difference and "
    "its interval."
)
_SCORES = {
    "Scores": "Precision, recall and accuracy with {level} intervals by Wilson's method; F1 by "
    "way of tp / (tp + fp + fn), of which it is an increasing function."
}
_CLUSTERS = {
    "Clusters": "Items of one {unit} are not independent. Counts are divided by the design effect "
    "of the {unit}s before an interval or a posterior is made from them, and Student's t takes the "
    "place of the normal distribution, with the effective number of {unit}s less one as degrees "
    "of freedom."
}
_SEVERAL = {
    "Several systems": "p-values are adjusted{among} by {adjuster}'s method; intervals are not."
}
_VERDICT = {
    "Words of the verdict": "{strengths} Else the difference is not established. Where interval, "
    "test and posterior disagree, the verdict says so, and the weaker one counts.",
    "What it applies to": "These trained systems on data like this test set, whose {unit}s count "
    "as drawn independently of each other. Not other training runs, and not other domains.",
}
# suffix of a comparison, where several questions are asked about a pair
_OF = {None: "", "models": ", these models", "procedures": ", new runs"}
_RUNS = {
    "Several runs": "The counts of a {unit} are added up over the runs of a system: the verdict on "
    "these models holds for them on other test sets. The verdict on new runs allows for the spread "
    "of the runs, too: variance over {unit}s, variance over runs, Satterthwaite's degrees of "
    "freedom; the run-by-{unit} interaction is counted twice, to be safe.",
    "What it applies to": "Data like this test set, whose {unit}s count as drawn independently of "
    "each other; runs that differ as these do (by a seed, say). Not other domains.",
}
_PAIRED = {
    "Differences": "The system named first (B) minus the other (A), with {level} intervals that "
    "combine the two single ones and the correlation of the systems on the same items (MOVER).",
    "p-values": "Two-sided randomisation test by {by}, {test}: the probability of a difference at "
    "least this large if the outputs of A and B on each {by} were exchangeable. It is not the "
    "probability that the systems are equally good.",
    "Posterior probabilities": "From a Dirichlet posterior over the eight cases of A, B and gold, "
    "which allows for both systems having seen the same items.",
}
_MACRO = {
    "Macro averages": "Intervals and posterior probabilities by the delta method, p-values by "
    "sampled exchanges of whole units."
}
