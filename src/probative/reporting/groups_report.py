"""What groups say: a forest plot as a table, a drawing and a figure; tables of a reversal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative.reporting.document import Table
from probative.reporting.forests import (
    ON_A_PAGE,
    ForestRow,
    forest_drawing,
    forest_figure,
    forest_table,
)
from probative.wording.numbers import counted, metric_name, metric_words, points, signed_points
from probative.wording.verdict import no_verdict, pvalue_of, tested_pvalue

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from probative.reporting.document import Drawing
    from probative.results import Comparison, Comparisons, Group, GroupSummary, Scores

__all__ = [
    "group_drawings",
    "group_figure",
    "group_notes",
    "group_score_table",
    "group_tables",
]

_SCORED = 25  # groups whose scores a table shows
_ALL = "all groups"
_WEIGHTS = (
    "A weight is the group's share of the denominator of the system's overall score, which is the "
    "sum of scores times weights."
)


def group_tables(result: Comparisons, *, most: int | None = None) -> list[Table]:
    """A forest plot for each pair and metric, and the tables of a reversal."""
    tables = []
    for whole, summary in zip(result.comparisons, result.group_summaries or (), strict=False):
        how = {} if most is None else {"most": most}
        tables.append(
            forest_table(
                _rows(result, whole),
                head=summary.column,
                pair=(whole.a, whole.b),
                metric=whole.metric,
                title=f"{_title(whole, summary)}, points",
                p_head="p adjusted",
                notes=(_about(result, summary),),
                unit=result.unit if result.by != "item" else "item",
                **how,
            )
        )
        tables += _reversal_tables(whole, summary)
    return tables


def group_drawings(result: Comparisons) -> list[Drawing]:
    """A forest plot for each pair and metric, for the page."""
    pairs = zip(result.comparisons, result.group_summaries or (), strict=False)
    return [
        forest_drawing(
            _rows(result, whole),
            pair=(whole.a, whole.b),
            metric=whole.metric,
            title=_title(whole, summary),
            level=result.level,
        )
        for whole, summary in pairs
    ]


def group_figure(result: Comparisons) -> Figure:
    """The forest plot of the first pair and metric, for a paper."""
    whole = result.comparisons[0]
    return forest_figure(
        _rows(result, whole),
        pair=(whole.a, whole.b),
        metric=whole.metric,
        level=result.level,
    )


def group_notes(result: Comparisons) -> tuple[str, ...]:
    """What the groups say together, a paragraph per pair and metric."""
    return tuple(str(summary) for summary in result.group_summaries or ())


def group_score_table(scores: Scores, column: str, *, most: int = _SCORED) -> Table:
    """What every system scores in each group, by the last of its usual scores."""
    groups = scores.groups or ()
    metric = _main_metric(scores)
    shown = sorted(groups, key=lambda group: -group.rows)[:most]
    rows = [_score_row(group, metric) for group in groups if group in shown]
    left_out = len(groups) - len(rows)
    more = f"{left_out:,} more groups are left out here; JSON and CSV hold all of them."
    heads = [head for s in scores.systems for head in (s.name, f"{100 * scores.level:g} %")]
    return Table(
        (column, "rows", "units", *heads),
        tuple(rows),
        title=f"{metric_name(metric, scores.match)} by {column}, points",
        notes=(
            f"{100 * scores.level:g} % intervals, each on its own: not adjusted for their number.",
            *((more,) if left_out else ()),
        ),
        droppable=(2, 1),
    )


def _main_metric(scores: Scores) -> str:
    names = [score.metric for score in scores.systems[0].scores]
    return next((name for name in ("f1", "accuracy") if name in names), names[0])


def _score_row(group: Group, metric: str) -> tuple[str, ...]:
    cells = []
    for system in group.systems:
        own = system[metric]
        cells += [points(own.estimate), f"{points(own.low, 1)} to {points(own.high, 1)}"]
    return (group.group, f"{group.rows:,}", f"{group.units:,}", *cells)


def _title(whole: Comparison, summary: GroupSummary) -> str:
    return f"{whole.b} − {whole.a}, {metric_name(whole.metric, whole.match)} by {summary.column}"


def _about(result: Comparisons, summary: GroupSummary) -> str:
    return (
        f"{100 * result.level:g} % intervals, each on its own; p adjusted by Holm's method for "
        f"{counted(summary.tests, 'test')} (JSON: Benjamini and Hochberg's, too), that of all "
        f"groups as it is. The largest difference comes first."
    )


def _rows(result: Comparisons, whole: Comparison) -> list[ForestRow]:
    found = []
    for group in result.groups or ():
        c = group.of_pair(whole.a, whole.b, whole.metric)
        found.append(_row(group.group, group.units, c, result.level))
    total = whole.observed_units or result.units
    return [*found, _row(_ALL, total, whole, result.level, whole=True)]


def _row(name: str, units: int, c: Comparison, level: float, *, whole: bool = False) -> ForestRow:
    told = no_verdict(c) is None
    return ForestRow(
        name,
        units,
        c.difference,
        c.low,
        c.high,
        tested_pvalue(c) if told else None,
        c.score_a,
        c.score_b,
        decided=told and pvalue_of(c) <= (1 - level) * (1 + 1e-9),
        whole=whole,
    )


def _reversal_tables(whole: Comparison, summary: GroupSummary) -> list[Table]:
    """The two tables that show Simpson's paradox: every group, and all of them together."""
    if not summary.weights:
        return []
    a, b, metric = whole.a, whole.b, metric_words(whole.metric)
    rows = tuple(
        (
            entry.group,
            points(entry.score_a),
            f"{100 * entry.weight_a:.1f} %",
            points(entry.score_b),
            f"{100 * entry.weight_b:.1f} %",
            signed_points(entry.score_b - entry.score_a, 2),
        )
        for entry in summary.weights[:ON_A_PAGE]
    )
    within = Table(
        (summary.column, f"{a}: {metric}", "weight", f"{b}: {metric}", "weight", "difference"),
        rows,
        title=f"Simpson's paradox, 1: within each {summary.column}",
        notes=(_WEIGHTS,),
    )
    together = Table(
        ("", f"{a}: {metric}", f"{b}: {metric}", "difference"),
        (
            (
                _ALL,
                points(whole.score_a),
                points(whole.score_b),
                signed_points(whole.difference, 2),
            ),
        ),
        title="Simpson's paradox, 2: all groups together",
    )
    return [within, together]
