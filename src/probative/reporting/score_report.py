"""Build the document of scores, also in the layout of conlleval, and of a file check."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from probative.counts import ItemCounts
from probative.errors import InputError
from probative.options import sign
from probative.reporting.agreement_report import ceiling_table
from probative.reporting.document import Column, Document, Named, Table, Tracks, Words, payload
from probative.reporting.escape import plain
from probative.reporting.figures import figure
from probative.reporting.forests import group_score_table
from probative.reporting.headlines import (
    check_answers,
    interval_answers,
    main_score,
    score_answers,
)
from probative.reporting.pictures import Bar, Forest
from probative.reporting.records_report import (
    path_table,
    quality_lines,
    record_tables,
    two_averages,
)
from probative.reporting.runs_report import (
    has_runs,
    main_metric,
    mean_table,
    repeats_table,
    run_table,
)
from probative.wording.numbers import (
    amount,
    counted,
    metric_name,
    metric_words,
    number,
    on_own_scale,
    points,
    scale_word,
    task_words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from probative.counts import Counts
    from probative.inference.posterior.single import Posterior
    from probative.reporting.pictures import Densities
    from probative.results import FileCheck, Interval, Scores, SystemScores


_UNTYPED = "_"
_MOST_LABELS = 200  # labels in a table
_MOST_NAMES = 6  # names written out; the rest is counted


@on_own_scale
def scores_document(scores: Scores) -> Document:
    """Build the document of the scores of systems."""
    signed = scores.signature
    content = scores.to_dict()
    del content["level"]
    tables = [_overview(scores)]
    if has_runs(scores):
        main = main_metric(scores)
        tables += [mean_table(scores), run_table(scores, main), repeats_table(scores, main)]
    if scores.task == "records":
        tables += record_tables(scores)
    else:
        labelled = [system for system in scores.systems if len(system.by_label) > 1]
        tables += [label_table(scores, system) for system in labelled]
    tables += [_overlaps(system) for system in scores.systems if system.overlap]
    if scores.groups:
        tables.append(group_score_table(scores, "group"))
    tables += [ceiling_table(scores.ceilings)] if scores.ceilings else []
    return Document(
        title=f"Scores of {', '.join(system.name for system in scores.systems)}",
        payload=payload("score", signed, **content),
        tables=tuple(tables),
        records=tuple(_records(scores)),
        leading=tuple(quality_lines(scores)),
        notes=(
            *_remarks(scores),
            *map(str, scores.judges or ()),
            *two_averages(scores),
            signed,
        ),
        pictures=(score_forest(scores, main_score(scores), compared=False),)
        if len(scores.systems) > 1
        else (),
        headline=score_answers(scores),
    )


def _records(scores: Scores) -> list[dict[str, Any]]:
    """Return one record per score, and one per run and score if there are several runs."""
    if scores.groups:
        groups = (record for group in scores.groups for record in group.records())
        return [{"group": "", **record} for record in scores.records()] + list(groups)
    if not scores.run_scores:
        return scores.records()
    records = [{"kind": "score", **record} for record in scores.records()]
    return records + [
        {"kind": "run", **record} for own in scores.run_scores for record in own.records()
    ]


def _is_clustered(scores: Scores) -> bool:
    return any(s.design_effect is not None for system in scores.systems for s in system.scores)


def _remarks(scores: Scores) -> list[str]:
    remarks = []
    if scores.task == "segmentation":
        remarks.append(
            "Read the recall: precision and F1 reward a system that splits too little. A "
            "splitting bias above 1 means that it splits too much."
        )
    if has_runs(scores):
        remarks.append(
            f"The scores above are those of all runs together; what the runs say of one "
            f"{scores.by} counts as one {scores.by}. They speak of these runs: what new ones would "
            f"score spreads as the runs do."
        )
    if _is_clustered(scores):
        remarks.append(
            f"Intervals allow for {_items(scores)} of one "
            f"{scores.by} that go right or wrong together "
            f"(deff: the design effect)."
        )
    return remarks


def _items(scores: Scores) -> str:
    return "labels" if scores.by == "item" else "fields" if scores.task == "records" else "items"


def _overview(scores: Scores) -> Table:
    found = [Named(system.name, score) for system in scores.systems for score in system.scores]
    clustered = _is_clustered(scores)
    tallies = []
    for system in scores.systems:
        what = f"{system.name}: {_tally(system.counts, scores.task)}"
        if scores.task == "segmentation" and system.splitting_bias is not None:
            what += f"; splitting bias {number(system.splitting_bias)}"
        tallies.append(what)
    return Table.of(
        found,
        [
            Words("system", "name", when=len(scores.systems) > 1),
            Words("metric", "score.metric", metric_words),
            Column("score", "score.estimate", points),
            Column("low", "score.low", points),
            Column("high", "score.high", points),
            Column("deff", lambda one: number(one.score.design_effect, 2), when=clustered),
            Words("note", "score.note", when=any(one.score.note for one in found)),
        ],
        title=f"Scores{scale_word(' in ')} with {100 * scores.level:g} % intervals",
        notes=(
            f"{task_words(scores.task, scores.match, counted(scores.units, scores.unit))}.",
            *oddities(scores),
            *tallies,
        ),
        track="score.estimate",
    )


def oddities(scores: Scores) -> list[str]:
    """Return remarks on unusual data: nothing to find, nothing returned, unknown labels."""
    remarks = []
    if not any(system.counts.positives for system in scores.systems):
        remarks.append(
            "The answer holds nothing to be found: recall is undefined, and whatever a system "
            "returns is wrong."
        )
    remarks += [
        f"{system.name} returned nothing: its precision is undefined."
        for system in scores.systems
        if not system.counts.predicted
    ]
    what = "Fields" if scores.task == "records" else "Labels"
    unknown = _unknown_labels(scores)
    if unknown:
        remarks.append(f"{what} that the answer does not have: {_some(unknown)}.")
    for system in scores.systems:
        missed = [e.label for e in system.by_label if e.counts.positives and not e.counts.predicted]
        if missed and system.counts.predicted:
            remarks.append(f"{what} that {system.name} never returned: {_some(missed)}.")
    return remarks


def _unknown_labels(scores: Scores) -> list[str]:
    """Return the labels that only systems use, each with these systems."""
    users: dict[str, list[str]] = {}
    for system in scores.systems:
        for entry in system.by_label:
            if entry.counts.predicted and not entry.counts.positives:
                users.setdefault(entry.label, []).append(system.name)
    return [f"{label} (returned by {_some(names)})" for label, names in users.items()]


def _some(names: Sequence[str]) -> str:
    """Return the first names of a list, and the number of the others."""
    listed = ", ".join(names[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    return f"{listed} and {more:,} more" if more > 0 else listed


def _tally(counts: Counts | ItemCounts, task: str) -> str:
    if isinstance(counts, ItemCounts):
        return counted(counts.items, "score")
    if task == "samples" and not counts.fp:
        return f"{counts.tp:,.0f} of {counts.positives:,.0f} answers right"
    return (
        f"{amount(counts.tp)} right of {counts.predicted:,.0f} returned and "
        f"{counts.positives:,.0f} to be found"
    )


def label_table(scores: Scores, system: SystemScores) -> Table:
    """Build the table of the scores of a system, one row per label."""
    shown = system.by_label[:_MOST_LABELS]
    left_out = len(system.by_label) - len(shown)
    metrics = [score.metric for score in shown[0].scores]

    def estimate(place: int) -> Column:
        return Column(metrics[place], lambda entry: points(entry.scores[place].estimate))

    return Table.of(
        shown,
        [
            Words("label"),
            *map(estimate, range(len(metrics))),
            Column(f"{metrics[-1]} low", lambda entry: points(entry.scores[-1].low)),
            Column(f"{metrics[-1]} high", lambda entry: points(entry.scores[-1].high)),
            *(Column(name, f"counts.{name}", amount) for name in ("tp", "fp", "fn")),
        ],
        title=f"By label{': ' + system.name if len(scores.systems) > 1 else ''}",
        notes=(
            f"{left_out:,} more labels are left out here; JSON and CSV hold all of them."
            if left_out
            else "",
        ),
        tracks=Tracks.of([(s.estimate, s.low, s.high) for *_, s in (e.scores for e in shown)]),
    )


def _overlaps(system: SystemScores) -> Table:
    outcomes = ("correct", "incorrect", "partial", "missed", "spurious")
    metrics = ("precision", "recall", "f1")

    def value(name: str) -> Callable[[Named], float]:
        return lambda entry: entry.score[name]

    def times(name: str) -> Callable[[Named], str]:
        return lambda entry: f"{entry.score[name]:,.0f}"

    return Table.of(
        [Named(*entry) for entry in (system.overlap or {}).items()],
        [
            Words("match", "name"),
            *(Column(name, times(name)) for name in outcomes),
            *(Column(name, value(name), points) for name in metrics),
        ],
        title=f"Overlaps: {system.name}",
    )


# --- Pictures of scores

_RUNS_BELOW = " The pale dots below are the single runs; the dark one stands for all of them."


def score_forest(result: Scores, metric: str, *, compared: bool = True) -> Forest:
    """Picture a score of every system with its interval, and its single runs.

    If systems are `compared`, the first is the baseline.
    """
    known = [score.metric for score in result.systems[0].scores]
    metric = metric if metric in known else known[0]
    runs = {own.system: own.scores for own in result.run_scores or () if own.metric == metric}
    bars = []
    for i, system in enumerate(result.systems):
        score, own = system.scores[known.index(metric)], runs.get(system.name, ())
        dots = tuple(run for run in own if run == run) if len(own) > 1 else ()
        baseline = i == 0 and len(result.systems) > 1 and compared
        bars.append(Bar(system.name, score.estimate, score.low, score.high, baseline, dots))
    name = metric_name(metric, result.match)
    level = f"{100 * result.level:g} % intervals"
    return Forest(
        bars,
        axis=f"{name}{scale_word(', ')}",
        title=f"{name[:1].upper()}{name[1:]} with {level}"
        + (f"; the baseline, {bars[0].name}, in orange." if bars[0].marked else "."),
        description=f"{name} of each system: {described(bars)}",
        reading="The dot is the score on this test set. The line shows which true scores, those on "
        "endless data like these, go well with it." + _RUNS_BELOW * any(bar.runs for bar in bars),
        note=level,
    )


def described(bars: Sequence[Bar]) -> str:
    """Return the numbers of a forest in words."""
    return "; ".join(
        f"{bar.name} {points(bar.estimate)} ({points(bar.low)} to {points(bar.high)})"
        for bar in bars
    )


@on_own_scale
def scores_figure(scores: Scores) -> Figure:
    """Draw the scores of the systems, one panel for each of the first three metrics."""
    return figure(*(score_forest(scores, score.metric) for score in scores.systems[0].scores[:3]))


# --- Layout of conlleval


def conlleval_report(scores: Scores) -> str:
    """Render scores as conlleval prints them; an undefined score is 0, as there."""
    if scores.match is not None:
        raise InputError(
            f"form: conlleval knows no match={scores.match!r}; expected another format"
        )
    if scores.token_accuracy is None:
        raise InputError("form: conlleval prints scores of tags; expected another format here")
    blocks = []
    for system, (right, tokens) in zip(scores.systems, scores.token_accuracy, strict=True):
        counts = system.counts
        lines = [f"{plain(system.name)}:"] if len(scores.systems) > 1 else []
        lines.append(
            f"processed {tokens} tokens with {counts.positives:.0f} phrases; "
            f"found: {counts.predicted:.0f} phrases; correct: {counts.tp:.0f}."
        )
        share = 100 * right / tokens if tokens else 0.0
        lines.append(f"accuracy: {share:6.2f}%; {_conlleval_scores(counts)}")
        lines += [
            f"{plain(entry.label):>17s}: {_conlleval_scores(entry.counts)}  "
            f"{entry.counts.predicted:.0f}"
            for entry in system.by_label
            if entry.label != _UNTYPED  # the script does not print the empty type
        ]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _conlleval_scores(counts: Counts) -> str:
    precision = 100 * counts.tp / counts.predicted if counts.predicted else 0.0
    recall = 100 * counts.tp / counts.positives if counts.positives else 0.0
    both = precision + recall
    f1 = 2 * precision * recall / both if both else 0.0
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"


# --- Check of a file


def check_document(report: FileCheck, *, signature: str = "") -> Document:
    """Build the document of a file check: format, facts and problems."""
    signed = signature or sign("check", report.input_format, report.task)
    facts = (
        ("file", report.path),
        ("format", report.input_format),
        *((("because", report.reason),) if report.reason else ()),
        ("task", report.task),
        *report.facts.items(),
    )
    tables = [
        Table(
            ("what", "value"),
            tuple((name, f"{v:,}" if isinstance(v, int) else str(v)) for name, v in facts),
            text_columns=2,
        )
    ]
    if report.labels:
        rows = tuple((label, f"{times:,}") for label, times in report.labels.items())
        tables.append(Table(("label", "number"), rows, title="Labels"))
    tables += [path_table(report.paths, int(report.facts["documents"]))] if report.paths else []
    verdict = "Nothing is wrong with it."
    if report.problems:
        verdict = "What is wrong with it:"
    name = PurePath(report.path).name
    return Document(
        title=f"Check of {name}",
        payload=payload("check", signed, **report.to_dict()),
        tables=tuple(tables),
        records=tuple({"problem": problem} for problem in report.problems)
        or tuple({"label": label, "number": times} for label, times in report.labels.items())
        or tuple(record for path in report.paths or () for record in path.records()),
        notes=(verdict, *report.problems),
        headline=check_answers(report),
        content=lambda: {"tables": (_named_file(tables[0], name), *tables[1:])},
    )


def _named_file(table: Table, name: str) -> Table:
    """Return the table with the name of the file instead of its path, for a page."""
    return replace(table, rows=(("file", name), *table.rows[1:]))


# -----------------------------------------------------------------------------
# Build the document of intervals.
# -----------------------------------------------------------------------------


def intervals_document(
    counts: Counts,
    intervals: Sequence[Interval],
    *,
    signature: str,
    posteriors: Mapping[str, Posterior] = MappingProxyType({}),
) -> Document:
    """Build the document of the intervals of one table of counts, or of many.

    The page shows the `posteriors` of scores, by metric.
    """
    many = bool(counts.shape)
    tables = list(counts) if many else [counts]
    scores = [[one[i] if many else one for one in intervals] for i in range(len(tables))]
    rows: list[dict[str, Any]] = [
        {"counts": table.to_dict(), "intervals": [score.to_dict() for score in own]}
        for table, own in zip(tables, scores, strict=True)
    ]
    records = [
        {**({"row": i} if many else {}), **row["counts"], **entry}
        for i, row in enumerate(rows, 1)
        for entry in row["intervals"]
    ]
    level = intervals[0].level
    what = (
        f"{len(counts)} tables of counts"
        if many
        else ", ".join(f"{name} {value:,}" for name, value in counts.to_dict().items())
    )
    found = [Named(str(i), score) for i, own in enumerate(scores, 1) for score in own]
    table = Table.of(
        found,
        [
            Words("row", "name", when=many),
            Words("metric", "score.metric"),
            Words("method", "score.method"),
            Column("score", "score.estimate", points),
            Column("low", "score.low", points),
            Column("high", "score.high", points),
            Words("note", "score.note", when=any(one.score.note for one in found)),
        ],
        title=f"Scores in points with {number(100 * level, 6).rstrip('0').rstrip('.')} % intervals",
        track="score.estimate",
    )
    return Document(
        title=f"{what}: {100 * level:g} % intervals",
        payload=payload("interval", signature, **({"rows": rows} if many else rows[0])),
        tables=(table,),
        records=tuple(records),
        headline=interval_answers(scores),
        pictures=tuple(_posterior_picture(name, own) for name, own in posteriors.items()),
    )


def _posterior_picture(metric: str, posterior: Posterior) -> Densities:
    """Picture the posterior of one score."""
    from probative.reporting.bayes_report import score_picture
    from probative.results import ScorePosteriors

    name = metric_name(metric)
    shown = score_picture(ScorePosteriors(metric, {name: {"": posterior}}))
    title = f"Posterior of {name}."
    return replace(
        shown,
        curves=[replace(curve, marked=False) for curve in shown.curves],
        title=title,
        description=shown.description.replace(shown.title, title),
        reading="The higher the curve, the more plausible is that true score, given these counts.",
    )
