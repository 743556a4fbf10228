"""Build the documents of scores, intervals, agreement and file checks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf, isnan
from operator import itemgetter
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from probative.counts import Counts, ItemCounts
from probative.errors import InputError
from probative.metrics import PRF
from probative.options import sign
from probative.reporting.document import (
    Answer,
    Column,
    Document,
    Named,
    Table,
    Tracks,
    Words,
    differed,
    estimate_in_full,
    estimated,
    limits,
    payload,
    score_words,
    scored,
    upper,
    with_ends,
)
from probative.reporting.escape import plain
from probative.wording.numbers import (
    amount,
    counted,
    metric_name,
    metric_words,
    number,
    on_own_scale,
    points,
    pvalue,
    scale_word,
    some,
    task_words,
    with_interval,
)
from probative.wording.verdict import CAVEAT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from probative.inference.posterior.single import Posterior
    from probative.reporting.pictures import Bar, Densities, Forest, Shares
    from probative.results import (
        Agreement,
        Ceiling,
        Comparison,
        Comparisons,
        FileCheck,
        Interval,
        LabelScores,
        Ranking,
        Result,
        RunScores,
        Scores,
        SystemScores,
    )


_MOST_LABELS = 200  # labels in a table


@on_own_scale
def scores_document(scores: Scores) -> Document:
    """Build the document of the scores of systems."""
    content = scores.to_dict()
    del content["level"]
    tables = _tables(scores)
    if has_runs(scores):
        main = _main_metric(scores)
        tables[1:1] = [mean_table(scores), run_table(scores, main), _repeats_table(scores, main)]
    tables += [_overlaps(system) for system in scores.systems if system.overlap]
    tables += [_group_table(scores)] if scores.groups else []
    tables += [ceiling_table(scores.ceilings)] if scores.ceilings else []
    quality, averages = [], []
    if scores.task == "records":
        from probative.reporting.records_report import quality_lines, two_averages

        quality, averages = quality_lines(scores), two_averages(scores)
    several = len(scores.systems) > 1
    forest = [score_forest(scores, _main_score(scores), compared=False)] if several else []
    return Document(
        title=f"Scores of {', '.join(system.name for system in scores.systems)}",
        payload=payload("score", scores.signature, **content),
        tables=tuple(tables),
        records=tuple(_records(scores)),
        leading=tuple(quality),
        notes=(*_remarks(scores), *map(str, scores.judges or ()), *averages, scores.signature),
        details=_details(scores),
        pictures=tuple(forest),
        headline=(_headline(scores),),
    )


def _headline(scores: Scores) -> Answer:
    """Return the main score of each system."""
    metric = _main_score(scores)
    name = metric_name(metric, scores.match)
    said = f"{100 * scores.level:g} % intervals, {counted(scores.units, scores.unit)}."
    if len(scores.systems) == 1:
        (system,) = scores.systems
        others = [
            f"{metric_name(other.metric)} {score_words(other)}"
            for other in system.scores
            if other.metric in {"precision", "recall", "accuracy"} - {metric}
        ]
        also = f"{upper(', '.join(others))}. " if others else ""
        return Answer(f"{upper(name)} {score_words(system[metric])}", "fact", (also + said,))
    defined = [system for system in scores.systems if not isnan(system[metric].estimate)]
    if not defined:
        return Answer(f"{upper(name)} is undefined for all", "open", (said,))
    best = max(defined, key=lambda system: system[metric].estimate)
    untested = "Whether the systems differ is not tested here: compare and rank do that."
    words = f"Highest {name}: {best.name} {score_words(best[metric])}"
    return Answer(words, "fact", (said, untested))


def _main_score(scores: Scores) -> str:
    """Return the metric that a page of scores puts first."""
    known = {score.metric: score.estimate for score in scores.systems[0].scores}
    if scores.task == "segmentation" and "recall" in known:
        return "recall"
    # F1 of all classes together is the accuracy
    if "accuracy" in known and known.get("f1") in (None, known["accuracy"]):
        return "accuracy"
    return "f1" if "f1" in known else next(iter(known))


def _records(scores: Scores) -> list[dict[str, Any]]:
    """Return one record per score, and one per run and score if there are several runs."""
    if scores.groups:
        groups = [record for group in scores.groups for record in group.records()]
        return [*({"group": "", **record} for record in scores.records()), *groups]
    if not scores.run_scores:
        return scores.records()
    return of_kind("score", [scores]) + of_kind("run", scores.run_scores)


def _remarks(scores: Scores) -> list[str]:
    runs = (
        f"Scores of all runs together; the {scores.by} is the unit. They apply to these runs: new "
        f"ones would spread as these do."
    )
    leads = [RECALL_LEADS] * (scores.task == "segmentation")
    return [*leads, *[runs] * has_runs(scores), *ask_for_positive(scores)]


RECALL_LEADS = (
    "Recall leads: precision and F1 reward splitting too little. --metric chooses another score."
)


def ask_for_positive(scores: Scores) -> list[str]:
    """Ask which of two classes is the positive one, if all classes are scored together."""
    labels = [entry.label for entry in scores.systems[0].by_label]
    if not _of_all_classes(scores) or len(labels) != 2:
        return []
    first, last = labels
    return [f"Two classes: --positive {last} (or {first}) gives precision, recall and F1 of one."]


def _details(scores: Scores) -> tuple[str, ...]:
    """Return how many items are right, and what the intervals allow for."""
    runs = {own.system: f" ({counted(len(own.runs), 'run')})" for own in scores.run_scores or ()}
    details = tuple(
        f"{s.name}{runs.get(s.name, '')}: {_tally(s.counts, scores.task)}." for s in scores.systems
    )
    if all(s.design_effect is None for system in scores.systems for s in system.scores):
        return details
    items = "labels" if scores.by == "item" else "items"
    items = "fields" if scores.task == "records" else items
    together = f"{items} of one {scores.by} that are right or wrong together"
    return (*details, f"Intervals allow for {together} (design effects: JSON and CSV).")


# --- Tables of scores


def _of_all_classes(scores: Scores) -> bool:
    """Return True if all classes are scored together: precision, recall, F1 are the accuracy."""
    return all(
        "accuracy" in own and len({own[m] for m in own if m in ("accuracy", *PRF)}) == 1
        for system in scores.systems
        for own in [{s.metric: s.estimate for s in system.scores}]
    )


def shown_metrics(scores: Scores) -> list[str]:
    """Return the metrics of a table: of several names of one score, only one."""
    known = [score.metric for score in scores.systems[0].scores]
    single = [metric for metric in known if not metric.startswith("macro_")]
    if _of_all_classes(scores):
        several = len(scores.systems[0].by_label) > 2
        also = [m for m in known if several and m == "macro_f1"]
        return [m for m in single if m not in PRF] + also
    return single or known


def score_columns(
    metrics: Sequence[str], keep: Collection[str] = ("f1",), digits: int | None = None
) -> list[Column]:
    """Return a column for each score with its interval; those to `keep` are never hidden."""
    drops = drop_order(metrics, keep)
    return [
        Column(metric_words(m), itemgetter(m), partial(scored, digits=digits), drop=drops[m])
        for m in metrics
    ]


def drop_order(metrics: Sequence[str], keep: Collection[str]) -> dict[str, int]:
    """Return when the column of each metric is hidden: rare ones first, 0 for never."""
    rare = [m for m in metrics if m not in PRF]
    order = [*reversed(rare), "precision", "recall", "f1"]
    kept = {*keep} if {*keep} & {*metrics} else {metrics[0]}
    return {m: 0 if m in kept else 1 + order.index(m) for m in metrics}


def about(scores: Scores, what: str = "Scores") -> str:
    """Return the title of a table of scores: what, the level, the task and the units."""
    task = task_words(scores.task, scores.match, counted(scores.units, scores.unit))
    return f"{what}{scale_word(' in ')} with {100 * scores.level:g} % intervals ({task.lower()})"


def _tables(scores: Scores) -> list[Table]:
    """Return the tables of scores: of systems, and by label or field."""
    systems = scores.systems
    if scores.task == "records":
        from probative.reporting.records_report import record_tables

        return [_overview(scores), *record_tables(scores)]
    if all(len(system.by_label) < 2 for system in systems):
        return [_overview(scores)]
    if len(systems) > 1:
        return [_overview(scores), _labels_of_systems(scores)]
    own = {score.metric for score in systems[0].by_label[0].scores}
    if own >= set(shown_metrics(scores)) and not has_runs(scores):
        return [label_table(scores, systems[0], whole=True)]
    return [_overview(scores), label_table(scores, systems[0])]


def _overview(scores: Scores) -> Table:
    """Build the table of all scores, one row per system."""
    main = _main_score(scores)
    known = [system for system in scores.systems if system.splitting_bias is not None]
    biases = ", ".join(f"{s.name} {number(s.splitting_bias, 2)}" for s in known)
    splitting = f"Splitting bias (above 1: splits too much): {biases}."
    return Table.of(
        scores.systems,
        Words("system", "name"),
        *score_columns(shown_metrics(scores), (main,)),
        title=about(scores),
        notes=(*_score_notes(scores), *oddities(scores), *([splitting] if biases else [])),
        tracks=Tracks.of([limits(system[main]) for system in scores.systems]),
    )


def _score_notes(scores: Scores) -> list[str]:
    """Return the caveats of single scores, each once."""
    said: dict[str, list[str]] = {}
    for system in scores.systems:
        for score in system.scores:
            if score.note:
                name = f"{system.name}, " * (len(scores.systems) > 1) + metric_words(score.metric)
                said.setdefault(str(score.note), []).append(name)
    return [f"{some(names)}: {note}." for note, names in said.items()]


def oddities(scores: Scores) -> list[str]:
    """Return remarks on unusual data: nothing to find, nothing returned, unknown labels."""
    remarks = []
    if not any(system.counts.positives for system in scores.systems):
        wrong = "recall is undefined, and everything that a system returns is wrong"
        remarks.append(f"Gold has nothing to find: {wrong}.")
    silent = [system.name for system in scores.systems if not system.counts.predicted]
    remarks += [f"{name} returned nothing: its precision is undefined." for name in silent]
    what = "Fields" if scores.task == "records" else "Labels"
    users: dict[str, list[str]] = {}  # of labels that gold does not have
    for system in scores.systems:
        for entry in system.by_label:
            if entry.counts.predicted and not entry.counts.positives:
                users.setdefault(entry.label, []).append(system.name)
    if users:
        unknown = [f"{label} (returned by {some(names)})" for label, names in users.items()]
        remarks.append(f"{what} that gold does not have: {some(unknown)}.")
    for system in scores.systems:
        missed = [e.label for e in system.by_label if e.counts.positives and not e.counts.predicted]
        if missed and system.counts.predicted:
            remarks.append(f"{what} that {system.name} never returned: {some(missed)}.")
    return remarks


def _tally(counts: Counts | ItemCounts, task: str) -> str:
    if isinstance(counts, ItemCounts):
        return counted(counts.items, "score")
    if task == "samples" and not counts.fp:
        return f"{counts.tp:,.0f} of {counts.positives:,.0f} answers right"
    returned = f"{counts.predicted:,.0f} returned"
    return f"{amount(counts.tp)} right of {returned} and {counts.positives:,.0f} in gold"


def label_table(scores: Scores, system: SystemScores, *, whole: bool = False) -> Table:
    """Build the table of a system's scores by label; with `whole`, those of all labels, too."""
    shown = system.by_label[:_MOST_LABELS]
    metrics = [score.metric for score in shown[0].scores]
    rows = [_label_row(entry.label, entry) for entry in shown]
    if whole:
        above = [_label_row("all labels", system)]
        means = {m: above[0][f"macro_{m}"] for m in metrics if f"macro_{m}" in above[0]}
        above += [{"": "macro average", **means}] if len(means) == len(metrics) else []
        rows = [*above, *rows]
    several = f": {system.name}" if len(scores.systems) > 1 else ""
    return Table.of(
        rows,
        Words("label", itemgetter("")),
        *score_columns(metrics),
        Column("in gold", lambda row: row.get("positives"), drop=-1),
        Column("returned", lambda row: row.get("predicted"), drop=-2),
        title=about(scores) if whole else f"By label{several}",
        notes=(
            *((*oddities(scores), *_score_notes(scores)) if whole else ()),
            hidden(len(system.by_label) - len(shown), "labels"),
        ),
        tracks=Tracks.of([limits(row[metrics[-1]]) for row in rows]),
        rule=len(rows) - len(shown) or None,
    )


def _label_row(name: str, entry: LabelScores | SystemScores) -> dict[str, Any]:
    """Return the scores of a row by metric, its name under "", and its counts in print."""
    counts = entry.counts
    shown = {"positives": amount(counts.positives), "predicted": amount(counts.predicted)}
    return {"": name, **shown, **{score.metric: score for score in entry.scores}}


def _labels_of_systems(scores: Scores) -> Table:
    """Build the table of one score of every system by label."""
    metrics = [score.metric for s in scores.systems for e in s.by_label[:1] for score in e.scores]
    metric = "f1" if "f1" in metrics else metrics[-1]
    runs = {own.system: len(own.runs) for own in scores.run_scores or ()}  # their counts add up
    gold = {
        entry.label: amount(entry.counts.positives / runs.get(system.name, 1))
        for system in scores.systems
        for entry in system.by_label
    }

    def of_system(system: SystemScores) -> Column:
        own = {entry.label: scored(entry[metric]) for entry in system.by_label}
        return Column(system.name, lambda label: own.get(label, "–"))

    return Table.of(
        sorted(gold)[:_MOST_LABELS],
        Words("label", str),
        *map(of_system, scores.systems),
        Column("in gold", gold.__getitem__, drop=1),
        title=f"{metric_name(metric, scores.match)} by label",
        notes=hidden(len(gold) - _MOST_LABELS, "labels"),
    )


def _overlaps(system: SystemScores) -> Table:
    outcomes = ("correct", "incorrect", "partial", "missed", "spurious")
    return Table.of(
        [{"match": rule, **found} for rule, found in (system.overlap or {}).items()],
        Words("match", itemgetter("match")),
        *(Column(name, itemgetter(name), "{:,.0f}".format) for name in outcomes),
        *(Column(metric_words(m), itemgetter(m), points) for m in PRF),
        title=f"Overlaps: {system.name}",
    )


_MOST_SCORED_GROUPS = 25  # groups in a table of scores


def left_out(number: int, what: str = "more") -> str:
    """Say how many rows are left out, if any are."""
    return f"{number:,} {what} are left out here; JSON and CSV hold all of them." if number else ""


def _group_table(scores: Scores) -> Table:
    """Build the table of the main score (F1 or accuracy) of every system in each group."""
    groups, level = scores.groups or (), f"{100 * scores.level:g} %"
    names = [score.metric for score in scores.systems[0].scores]
    metric = next((name for name in ("f1", "accuracy") if name in names), names[0])
    shown = sorted(groups, key=lambda group: -group.rows)[:_MOST_SCORED_GROUPS]

    def of_system(place: int) -> Column:
        head = f"{scores.systems[place].name} [{level}]"
        return Column(head, lambda group: group.systems[place][metric], estimate_in_full)

    return Table.of(
        [group for group in groups if group in shown],
        Words("group"),
        Column("rows", drop=2),
        Column("units", drop=1),
        *map(of_system, range(len(scores.systems))),
        title=f"{metric_name(metric, scores.match)} by group{scale_word(', ')}",
        notes=(
            f"{level} intervals, each on its own: not adjusted for their number.",
            left_out(len(groups) - len(shown), "more groups"),
        ),
    )


# --- Pictures of scores


def score_forest(result: Scores, metric: str, *, compared: bool = True) -> Forest:
    """Picture a score of every system and its runs; if `compared`, the first is the baseline."""
    from probative.reporting.pictures import Bar, Forest

    known = [score.metric for score in result.systems[0].scores]
    metric = metric if metric in known else known[0]
    runs = several_runs(result, metric)
    bars = [Bar(s.name, *limits(s[metric]), runs=runs.get(s.name, ())) for s in result.systems]
    if compared and len(bars) > 1:
        bars[0] = replace(bars[0], marked=True)
    name = metric_name(metric, result.match)
    level = f"{100 * result.level:g} % intervals"
    pale = " The pale dots below are the single runs; the dark one stands for all of them."
    below = pale if any(bar.runs for bar in bars) else ""
    baseline_words = f"; the baseline, {bars[0].name}, in orange." if bars[0].marked else "."
    return Forest(
        bars,
        axis=f"{name}{scale_word(', ')}",
        title=f"{upper(name)} with {level}{baseline_words}",
        description=f"{name} of each system: {described(bars)}",
        reading=f"The dot is the score on this test set, the line its {level.removesuffix('s')}: "
        f"the true scores compatible with these data.{below}",
        note=level,
    )


def several_runs(result: Scores | Ranking, metric: str) -> dict[str, tuple[float, ...]]:
    """Return the defined scores of the runs of each system that has several."""
    found = [own for own in result.run_scores or () if own.metric == metric and len(own) > 1]
    return {own.system: tuple(score for score in own.scores if score == score) for own in found}


def described(bars: Sequence[Bar]) -> str:
    """Return the numbers of a forest in words."""
    return "; ".join(f"{bar.name} {with_interval(bar.estimate, bar.low, bar.high)}" for bar in bars)


@on_own_scale
def scores_figure(scores: Scores) -> Figure:
    """Draw the scores of the systems, one panel for each of the first three metrics."""
    from probative.reporting.pictures import figure

    return figure(*(score_forest(scores, score.metric) for score in scores.systems[0].scores[:3]))


# --- Layout of conlleval


def conlleval_report(scores: Scores) -> str:
    """Render scores as conlleval prints them; an undefined score is 0, as there."""
    if scores.match is not None:
        raise InputError(f"form: conlleval has no match={scores.match!r}; expected another format")
    if scores.token_accuracy is None:
        raise InputError("form: conlleval prints scores of tags; expected another format here")
    blocks = []
    for system, (right, tokens) in zip(scores.systems, scores.token_accuracy, strict=True):
        counts = system.counts
        lines = [f"{plain(system.name)}:"] if len(scores.systems) > 1 else []
        share = 100 * right / tokens if tokens else 0.0
        found = f"found: {counts.predicted:.0f} phrases; correct: {counts.tp:.0f}."
        lines += [
            f"processed {tokens} tokens with {counts.positives:.0f} phrases; {found}",
            f"accuracy: {share:6.2f}%; {_conlleval_scores(counts)}",
        ]
        lines += [
            f"{plain(entry.label):>17s}: {_conlleval_scores(entry.counts)}  "
            f"{entry.counts.predicted:.0f}"
            for entry in system.by_label
            if entry.label != "_"  # the script does not print the empty type
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
    name = PurePath(report.path).name
    facts: dict[str, Any] = {"file": report.path, "format": report.input_format}
    facts |= {"because": report.reason} if report.reason else {}
    facts |= {"task": report.task, **report.facts}
    what, value = Words("what", itemgetter(0)), Words("value", itemgetter(1))

    # a page shows the name of the file instead of its path
    table, named = (Table.of((facts | own).items(), what, value) for own in ({}, {"file": name}))
    tables = []
    if report.labels:
        columns = Words("label", itemgetter(0)), Column("number", itemgetter(1))
        tables.append(Table.of(report.labels.items(), *columns, title="Labels"))
    if report.paths:
        from probative.reporting.records_report import path_table

        tables.append(path_table(report.paths, int(report.facts["documents"])))
    verdict, words, state = "No problems found.", "Nothing is wrong", "passed"
    if report.problems:
        verdict, words, state = "Problems:", counted(len(report.problems), "problem"), "failed"
    return Document(
        title=f"Check of {name}",
        payload=payload("check", signed, **report.to_dict()),
        tables=(table, *tables),
        records=tuple({"problem": problem} for problem in report.problems)
        or tuple({"label": label, "number": times} for label, times in report.labels.items())
        or tuple(record for path in report.paths or () for record in path.records()),
        notes=(verdict, *report.problems),
        headline=(Answer(words, state, (upper(f"{report.input_format}, {report.task}."),)),),
        content=lambda: {"tables": (named, *tables)},
    )


# --- Agreement of annotators


_SAME = "F1 is the same whichever annotator counts as gold."
_FIRST = "The first annotator of a pair counts as gold; the matching of spans can depend on this."
_SPANS = (
    "There is no kappa for spans: the places where neither annotator marks one cannot be counted."
)
_LABELS = (
    "alpha: Krippendorff's alpha (nominal) of all annotators; kappa: Cohen's kappa of the items "
    "that both labelled; agreement: share with the same label; high by chance when one label "
    "dominates."
)


def agreement_document(found: Agreement) -> Document:
    """Build the document of the agreement between annotators."""
    # some rules pair the spans of one side in order
    first = found.match in ("exact", "partial", "type")
    about_scores = [_FIRST if first else _SAME, _SPANS]
    found_scores = [Named(f"{p.a}, {p.b}", score) for p in found.pairs for score in p.scores]
    if found.alpha is not None:
        about_scores = [_LABELS]
        found_scores.insert(0, Named("all", found.alpha))
    items = {f"{p.a}, {p.b}": p.items for p in found.pairs}
    table = Table.of(
        found_scores,
        Words("annotators", "name"),
        Words("coefficient", "score.metric", metric_name),
        Column("value", "score", lambda s: with_ends(*map(number, limits(s)))),
        Column("items", lambda one: items.get(one.name)),
        Words("note", "score.note", when=any(one.score.note for one in found_scores)),
        title=f"Agreement with {100 * found.level:g} % intervals",
        notes=(
            f"{task_words(found.task, found.match, counted(found.units, found.unit))}.",
            *about_scores,
        ),
        track="score.estimate",
    )
    return Document(
        title=f"Agreement of {', '.join(found.annotators)}",
        payload=payload("agreement", found.signature, **found.to_dict()),
        tables=(table,),
        records=tuple(found.records()),
        notes=(found.signature,),
        headline=(_agreement(found),),
    )


def _agreement(found: Agreement) -> Answer:
    """Return alpha of all annotators, or the F1 of their pairs."""
    scores = [pair.scores[-1] for pair in found.pairs] if found.alpha is None else [found.alpha]
    name = upper(metric_name(scores[0].metric))
    if len(scores) == 1:
        estimate, low, high = map(number, limits(scores[0]))
        said = f"{100 * scores[0].level:g} % interval."
        return Answer(f"{name} {estimate} [{low}, {high}]", "fact", (said,))
    low, high = (number(f(score.estimate for score in scores)) for f in (min, max))
    said = f"{counted(len(scores), 'pair')} of annotators."
    return Answer(f"{name} of two annotators: {low} to {high}", "fact", (said,))


def ceiling_table(ceilings: tuple[Ceiling, ...]) -> Table:
    """Build the table of systems and the second annotation, all scored against gold."""
    first = ceilings[0]
    return Table.of(
        ceilings,
        Words("system"),
        Column("score", form=points),
        Column(
            f"second annotation [{100 * first.level:g} %]",
            lambda c: estimated(c.second_score, c.second_low, c.second_high),
        ),
        Column("difference", differed),
        Column("p", "pvalue", pvalue),
        title=(
            f"Score of each annotation against the second one ({first.second}), "
            f"{metric_name(first.metric, first.match)} in points"
        ),
        notes=(*map(str, ceilings), CAVEAT),
    )


# --- Intervals of counts


def intervals_document(
    counts: Counts,
    intervals: Sequence[Interval],
    *,
    signature: str,
    posteriors: Mapping[str, Posterior] = MappingProxyType({}),
) -> Document:
    """Build the document of the intervals of one or many tables; its page has the `posteriors`."""
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
    level, what = intervals[0].level, f"{len(tables)} tables of counts"
    if not many:
        what = ", ".join(f"{name} {value:,}" for name, value in rows[0]["counts"].items())
    found = [Named(str(i), score) for i, own in enumerate(scores, 1) for score in own]
    table = Table.of(
        found,
        Words("row", "name", when=many),
        Words("metric", "score.metric", metric_words),
        Words("method", "score.method"),
        Column("score", "score", scored),
        Words("note", "score.note", when=any(one.score.note for one in found)),
        title=f"Scores in points with {number(100 * level, 6).rstrip('0').rstrip('.')} % intervals",
        track="score.estimate",
    )
    return Document(
        title=f"{what}: {100 * level:g} % intervals",
        payload=payload("interval", signature, **({"rows": rows} if many else rows[0])),
        tables=(table,),
        records=tuple(records),
        headline=(_interval_headline(scores),),
        pictures=tuple(_posterior_picture(name, own) for name, own in posteriors.items()),
    )


def _interval_headline(rows: Sequence[Sequence[Interval]]) -> Answer:
    """Return the interval of F1, or of the first score."""
    if len(rows) > 1:
        return Answer(f"Intervals of {len(rows):,} tables of counts")
    score = next((one for one in rows[0] if one.metric == "f1"), rows[0][0])
    words = f"{upper(metric_name(score.metric))} {score_words(score)}"
    return Answer(words, "fact", (f"{100 * score.level:g} % interval, {score.method}.",))


def _posterior_picture(metric: str, posterior: Posterior) -> Densities:
    """Picture the posterior of one score."""
    from probative.reporting.bayes_report import score_picture
    from probative.results import ScorePosteriors

    name = metric_name(metric)
    shown = score_picture(ScorePosteriors(metric, {name: {"": posterior}}))
    return replace(
        shown,
        curves=[replace(curve, marked=False) for curve in shown.curves],
        title=f"Posterior of {name}.",
        description=shown.description.replace(shown.title, f"Posterior of {name}."),
        reading="The higher the curve, the more plausible is that true score, given these counts.",
    )


# --- Tables of several runs: mean and spread, single runs, parts of the variance


_MOST_RUNS = 30  # runs in a table


def of_kind(kind: str, results: Iterable[Result]) -> list[dict[str, Any]]:
    """Return the records of results, all with this kind."""
    return [{"kind": kind, **record} for one in results for record in one.records()]


def hidden(number: int, what: str, kept: str = "JSON and CSV have all of them") -> str:
    """Say how many rows of a table are hidden, if any are."""
    return f"{number:,} more {what} are hidden here; {kept}." if number > 0 else ""


def has_runs(scores: Scores) -> bool:
    """Return True if a system has several runs."""
    return any(len(own) > 1 for own in scores.run_scores or ())


def _main_metric(scores: Scores) -> str:
    """Return the usual metric of the task: F1, or the first one."""
    known = [own.metric for own in scores.run_scores or ()]
    return "f1" if "f1" in known and scores.task != "segmentation" else known[0]


def mean_table(
    result: Scores, comparisons: Sequence[Comparison] = (), digits: int | None = None
) -> Table:
    """Build the table of mean and spread of scores; `comparisons` are those of the procedures."""
    decimals = 1 if digits is None else digits
    metrics = list(dict.fromkeys(own.metric for own in result.run_scores or ()))
    compared = {c.metric for c in comparisons} or {_main_metric(result)}

    def column(metric: str) -> Column:
        form = partial(_mean_and_spread, decimals=decimals)
        own = partial(result.runs_of, metric=metric)
        return Column(metric_words(metric), own, form, drop=int(metric not in compared))

    return Table.of(
        [system.name for system in result.systems],
        Words("system", str),
        Column("runs", lambda name: str(len(result.runs_of(name, metrics[0])))),
        *map(column, metrics),
        title=f"Scores of runs{scale_word(' in ')}, mean ± standard deviation ({result.task}, "
        f"{counted(result.units, result.unit)})",
        caption=tuple(
            f"{c.b} − {c.a}, {metric_name(c.metric, c.match)}: "
            f"{with_interval(c.difference, c.low, c.high, decimals, signed=True)}{scale_word()}, "
            f"{100 * c.level:g} % interval for test set and runs together."
            for c in comparisons
        ),
    )


def _mean_and_spread(own: RunScores, decimals: int = 1) -> str:
    if own.spread != own.spread:
        return points(own.mean, decimals)
    return f"{points(own.mean, decimals)} ± {points(own.spread, decimals)}"


def runs_content(result: Comparisons) -> dict[str, Any]:
    """Return the tables of single runs by the names that the page of a comparison has for them."""
    if not has_runs(result.scores):
        return {}
    metric = result.comparisons[0].metric
    new = [c for c in result.comparisons if c.question == "procedures"]
    return {
        "run_tables": [run_table(result.scores, metric)],
        "more_tables": [_variance_table(new), _companion_table(new)] if new else [],
        "single_runs": _single_runs(result.scores, metric),
    }


def _ends_of_runs() -> list[Column]:
    return [Column(f"{end} run", end, partial(points, digits=1)) for end in ("worst", "best")]


def named_pairs(c: Comparison) -> str:
    """Return a sentence that names the paired runs; of many, the first."""
    pairs = some([f"{one} with {other}" for one, other in c.pairs or ()])
    return f"Pairs of runs, {c.a} with {c.b}: {pairs}."


def run_table(result: Scores, metric: str) -> Table:
    """Build the table of the worst and best run of every system, and all runs together."""
    return Table.of(
        [result.runs_of(system.name, metric) for system in result.systems],
        Words("system"),
        *_ends_of_runs(),
        Column("all runs", lambda own: scored(result[own.system][metric])),
        title=f"{metric_words(metric)} of the runs{scale_word(' in ')}",
        notes=f"All runs: pooled counts. The interval is for these trained models; the {result.by} "
        "is the unit.",
    )


def _repeats_table(result: Scores, metric: str) -> Table:
    """Build the table of the interval of every system with more units or more runs."""
    unit = result.by
    found = [Named(s.name, result.runs_of(s.name, metric).repeated) for s in result.systems]
    return Table.of(
        [one for one in found if one.score and one.score.share_of_answers is not None],
        Words("system", "name"),
        Column(f"{unit}s", lambda one: _percent(1 - one.score.share_of_answers)),
        Column("runs", "score.share_of_answers", _percent),
        Column("length", lambda one: one.score.width_with(), points),
        Column(
            f"2 × {unit}s", lambda one: one.score.width_with(samples=2 * one.score.samples), points
        ),
        Column("2 × runs", lambda one: one.score.width_with(repeats=2 * one.score.repeats), points),
        Column("endless runs", lambda one: one.score.width_with(repeats=inf), points),
        title=f"Interval with more {unit}s or more runs, {metric_words(metric)}",
        notes=f"Shares of the variance from the {unit}s and from the runs; the length of the "
        f"interval{scale_word(' in ')} as it is, and with more of either.",
    )


def spread_table(ranking: Ranking) -> Table:
    """Build the table of the spread of the runs, in the order of a leaderboard."""
    return Table.of(
        [ranking.runs_of(system.name, ranking.metric) for system in ranking.ranking],
        Words("system"),
        Column("runs", len),
        Column("mean ± spread", _mean_and_spread),
        *_ends_of_runs(),
        title=f"Runs, {metric_words(ranking.metric)}{scale_word(' in ')}",
        details="Mean of the runs ± their standard deviation. The leaderboard adds up the counts "
        "of all runs of a system: it ranks these trained models on test sets like this one. "
        "compare shows, pair by pair, how new runs would differ.",
    )


def _single_runs(result: Scores, metric: str) -> Table:
    """Build the table of the scores of single runs; of many runs, the first."""
    scores = [own for own in result.run_scores or () if own.metric == metric]
    rows = [
        (own.system, *one)
        for own in scores
        for one in list(zip(own.runs, own.scores, strict=True))[:_MOST_RUNS]
    ]
    return Table.of(
        rows,
        Words("system", itemgetter(0)),
        Words("run", itemgetter(1)),
        Column(metric_words(metric), itemgetter(2), partial(points, digits=1)),
        title=f"Single runs, {metric_words(metric)}{scale_word(' in ')}",
        notes=hidden(sum(map(len, scores)) - len(rows), "runs", "JSON and CSV have all"),
    )


def _named_shares(c: Comparison) -> list[tuple[str, str, float]]:
    """Return the source, the colour and the share of each part of the variance."""
    if c.variance is None:
        return []
    runs = [("runs_a", f"runs of {c.a}", "a"), ("runs_b", f"runs of {c.b}", "b")]
    if c.variance.paired_runs:  # pairs vary, not the runs of each system
        runs = [("runs_a", "pairs of runs", "a")]
    parts = [("units", "test set", "soft"), *runs, ("interaction", "interaction", "d")]
    return [(words, colour, c.variance.shares[part]) for part, words, colour in parts]


def _variance_table(comparisons: Sequence[Comparison]) -> Table:
    """Build the table of the parts of the variance of every mean difference."""
    by = comparisons[0].by.removesuffix(" and run")
    heads = [name for name, *_ in _named_shares(comparisons[0])]
    if len({(c.a, c.b) for c in comparisons}) > 1 and "pairs of runs" not in heads:
        heads[1:3] = "runs of baseline", "runs of other"

    def share(place: int) -> Column:
        return Column(heads[place], lambda c: _percent(_named_shares(c)[place][2]))

    return Table.of(
        comparisons,
        *_pair_columns(comparisons),
        *map(share, range(len(heads))),
        Column("std. error", "standard_error", points, drop=1),
        title="Where the uncertainty of the mean difference comes from",
        notes=f"Sources of variance: test {by}s, runs, and their interaction. The standard error"
        f"{scale_word(', in ', ',')} counts the interaction twice, to be safe.",
    )


def _pair_columns(comparisons: Sequence[Comparison]) -> list[Column]:
    """Return the columns of the pair, and of the metric if there are several."""
    several = len({c.metric for c in comparisons}) > 1
    return [
        Words("comparison", lambda c: f"{c.b} − {c.a}"),
        Words("score", "metric", metric_words, when=several),
    ]


def _companion_table(comparisons: Sequence[Comparison]) -> Table:
    """Build the table of tests that use only the scores of the runs."""
    companions: list[Any] = [c.companions for c in comparisons]
    ranked = "Mann-Whitney" if companions[0].rank_test == "mann-whitney" else "Wilcoxon"
    assignments = "all" if all(own.exact for own in companions) else "sampled"
    return Table.of(
        comparisons,
        *_pair_columns(comparisons),
        Column("permutation p", "companions.permutation_pvalue", pvalue),
        Column(f"{ranked} p", "companions.rank_pvalue", pvalue),
        Column("P(run better)", lambda c: number(c.companions.p_run_better, 2)),
        Column("eps_min", "companions.eps_min", number),
        title="Companions: the scores of the runs alone",
        notes="They use one number per run and hold for this test set only. Permutation: "
        f"{assignments} assignments of runs to systems. P(run better): the share of pairs of "
        "runs in which the first system scores higher. eps_min: almost stochastic order; below "
        "0.5 the first system is almost stochastically dominant.",
    )


def _percent(share: float) -> str:
    return "–" if share != share else f"{number(100 * share, 0)} %"


def variance_picture(c: Comparison) -> Shares | None:
    """Picture the shares of the parts of the variance as one bar."""
    from probative.reporting.pictures import Shares

    parts = _named_shares(c)
    if not parts or any(isnan(share) for *_, share in parts):
        return None
    listed = ", ".join(f"{name} {100 * share:.0f} %" for name, _, share in parts)
    return Shares(
        parts,
        title="Where the uncertainty about new runs comes from.",
        description=f"Shares of the variance of the mean difference: {listed}",
        reading="More sentences shrink the first part, more runs the parts of the runs; their "
        "interaction shrinks with either.",
    )
