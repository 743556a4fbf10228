"""Build the tables and pictures of differences in groups and on several data sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from probative.reporting.document import (
    Answer,
    Column,
    Document,
    Strong,
    Table,
    Tracks,
    Words,
    estimate_in_full,
    gate_answers,
    limits,
    payload,
    with_ends,
)
from probative.reporting.pictures import Bar, Forest, figure
from probative.wording.numbers import (
    brackets,
    counted,
    metric_name,
    metric_words,
    on_own_scale,
    points,
    pvalue,
    scale_word,
    signed_points,
)
from probative.wording.verdict import no_verdict, pvalue_of, tested_pvalue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from probative.results import (
        Comparison,
        Comparisons,
        DatasetComparisons,
        GateVerdict,
        GroupSummary,
        Scores,
    )
    from probative.results.datasets import MeanDifference


_IN_TEXT, ON_A_PAGE = 25, 60  # rows shown


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
        shown, left_out = _choose_rows(self.rows, most)
        scored = all(row.gap.score_a is not None for row in shown if not row.whole)
        one = partial(points, digits=1)

        def difference(row: _ForestRow) -> str:
            gap = signed_points(row.gap.difference, 2)
            ends = points(row.gap.low), points(row.gap.high)
            return with_ends(Strong(gap) if row.decided else gap, *ends)

        full = [limits(row.gap) for row in shown]
        drawn, cut = _cut(full), "Drawn intervals that reach far beyond the others are cut."
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
            notes=(self.note, _left_out(left_out), cut if drawn != full else ""),
            tracks=Tracks.of(drawn, zero=True, marked=whole),
            track_before="difference",
            bold_note=f"Decided differences in {metric_name(self.whole.metric)} are in bold.",
        )

    def picture(self) -> Forest:
        """Picture the differences as a forest plot."""
        shown, left_out = _choose_rows(self.rows, ON_A_PAGE)
        a, b, name = self.whole.a, self.whole.b, metric_name(self.whole.metric)
        level = f"{100 * self.whole.level:g} %"
        full = [limits(row.gap) for row in shown]
        drawn = _cut(full)
        bars = [
            Bar(f"{row.name} ({row.units:,})", *own, row.whole, words=_in_words(row))
            for row, own in zip(shown, drawn, strict=True)
        ]
        listed = "; ".join(
            f"{row.name} {points(row.gap.difference)} ({brackets(row.gap.low, row.gap.high, 2)})"
            for row in shown
        )
        cut = "; long ones are cut" if drawn != full else ""
        cut += f"; {left_out:,} more left out" if left_out else ""
        return Forest(
            bars,
            zero=True,
            axis=f"{b} − {a}, {name}{scale_word(', ')}",
            title=f"{self.title} with {level} intervals; all together in orange.",
            description=f"Differences in {name}: {listed}",
            reading=f"Right of the dashed line {b} is better, left of it {a}; behind each name "
            f"stands on how many units it rests. Each interval stands for itself: it is not "
            f"adjusted for their number. {_left_out(left_out)}".rstrip(),
            note=f"{level} intervals{cut}",
        )


def _left_out(number: int, what: str = "more") -> str:
    return f"{number:,} {what} are left out here; JSON and CSV hold all of them." if number else ""


def _cut(limits: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    """Cut intervals to a scale on which the shorter half of them can be seen."""
    # otherwise one tiny group would turn all others into dots
    defined = [row for row in limits if row[0] == row[0]]
    if len(defined) < 4:
        return limits
    short = sorted(defined, key=lambda row: row[2] - row[1])[: (len(defined) + 1) // 2]
    reach = 1.5 * (short[-1][2] - short[-1][1])
    low = min(0.0, *(row[0] for row in defined), *(row[1] for row in short)) - reach
    high = max(0.0, *(row[0] for row in defined), *(row[2] for row in short)) + reach
    return [(d, max(a, low), min(b, high)) if d == d else (d, a, b) for d, a, b in limits]


def _in_words(row: _ForestRow) -> str:
    """Return the numbers that stand on the right of a row."""
    p = "" if row.p is None else f"  p = {pvalue(row.p)}"
    difference, low, high = limits(row.gap)
    if isnan(difference):
        return p
    return f"{signed_points(difference)} [{points(low, 1)}, {points(high, 1)}]{p}"


# --- Groups of a comparison: forest plots, and tables of a reversal

_MOST_SCORED_GROUPS = 25  # groups in a table of scores
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
    tables = []
    for whole, summary in zip(result.comparisons, result.group_summaries or (), strict=False):
        tables.append(_of_groups(result, whole, summary).table(most))
        tables += _reversal_tables(whole, summary)
    return tables


def group_pictures(result: Comparisons) -> list[Forest]:
    """Picture the groups as a forest plot for each pair and metric."""
    pairs = zip(result.comparisons, result.group_summaries or (), strict=False)
    return [_of_groups(result, whole, summary).picture() for whole, summary in pairs]


@on_own_scale
def group_figure(result: Comparisons) -> Figure:
    """Draw the forest plot of the first pair and metric."""
    return figure(group_pictures(result)[0])


def group_notes(result: Comparisons) -> tuple[str, ...]:
    """Return the summary of the groups, one paragraph per pair and metric."""
    return tuple(str(summary) for summary in result.group_summaries or ())


def group_score_table(scores: Scores) -> Table:
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
            _left_out(len(groups) - len(shown), "more groups"),
        ),
    )


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
        summary.weights[:ON_A_PAGE],
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
        tables=(found.table(), _counts(result)),
        records=tuple(result.records()),
        notes=(*result.verdicts, result.signature),
        pictures=(found.picture(),),
        headline=(*gate_answers(gates), _headline(result)),
    )


def _headline(result: DatasetComparisons) -> Answer:
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


def _counts(result: DatasetComparisons) -> Table:
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
