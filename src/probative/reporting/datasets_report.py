"""Build the document and the figure of a comparison on several data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative.reporting.document import Column, Document, Table, Words, payload
from probative.reporting.figures import figure
from probative.reporting.forests import ForestRow, forest_picture, forest_table
from probative.wording.numbers import metric_name, pvalue
from probative.wording.verdict import no_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from probative.reporting.pictures import Forest
    from probative.results import DatasetComparisons, GateVerdict

__all__ = ["datasets_document", "datasets_figure"]

_MEAN, _POOLED = "mean", "all pooled"


def datasets_document(result: DatasetComparisons, *, gates: Sequence[GateVerdict] = ()) -> Document:
    """Build the document of every data set, the mean, the pooled difference and counts."""
    content = result.to_dict()
    if gates:
        content["gates"] = [gate.to_dict() for gate in gates]
    table = forest_table(
        _rows(result),
        head="data set",
        pair=(result.a, result.b),
        metric=result.metric,
        title=f"{_title(result)}, points",
        p_head="p",
        notes=(_about(result),),
    )
    return Document(
        title=f"{result.b} against {result.a} on {len(result)} data sets",
        payload=payload("compare", result.signature, **content),
        tables=(table, _counts(result)),
        records=tuple(result.records()),
        notes=(*result.verdicts, result.signature),
        pictures=(_forest(result),),
    )


def _forest(result: DatasetComparisons) -> Forest:
    return forest_picture(
        _rows(result),
        pair=(result.a, result.b),
        metric=result.metric,
        title=_title(result),
        level=result.level,
    )


def _title(result: DatasetComparisons) -> str:
    return f"{result.b} − {result.a}, {metric_name(result.metric, result.match)} by data set"


def datasets_figure(result: DatasetComparisons) -> Figure:
    """Draw the forest plot of all data sets."""
    return figure(_forest(result))


def _rows(result: DatasetComparisons) -> list[ForestRow]:
    limit = (1 - result.level) * (1 + 1e-9)
    rows = []
    for one in result.datasets:
        c = one.comparison
        has_evidence = no_verdict(c) is None
        rows.append(
            ForestRow(
                one.dataset,
                one.units,
                c.difference,
                c.low,
                c.high,
                c.p_decision if has_evidence else None,
                c.score_a,
                c.score_b,
                decided=min(one.p_holm_better, one.p_holm_worse) <= limit,
            )
        )
    units = sum(one.units for one in result.datasets)
    mean, pooled = result.mean, result.pooled
    rows.append(
        ForestRow(
            _MEAN,
            units,
            mean.difference,
            mean.low,
            mean.high,
            None,
            mean.score_a,
            mean.score_b,
            whole=True,
        )
    )
    if pooled is not None:
        rows.append(
            ForestRow(
                _POOLED,
                units,
                pooled.difference,
                pooled.low,
                pooled.high,
                pooled.p_decision,
                pooled.score_a,
                pooled.score_b,
                whole=True,
            )
        )
    return rows


def _about(result: DatasetComparisons) -> str:
    return (
        f"{100 * result.level:g} % intervals, each on its own; p: two-sided, not adjusted, the "
        f"larger of the exact test and Student's by unit. The mean gives every data set the same "
        f"weight, the pooled difference every unit."
    )


def _counts(result: DatasetComparisons) -> Table:
    """Build the table of the partial-conjunction p-values of both directions."""
    better, worse = result.better, result.worse
    note = (
        f"Partial conjunctions of one-sided tests: by Bonferroni, whatever the dependence of the "
        f"data sets; by Fisher, if they are independent. The count is the last that is at most "
        f"{1 - result.level:.4g}: {better.bonferroni} and {better.fisher} for {result.b}, "
        f"{worse.bonferroni} and {worse.fisher} for {result.a}."
    )
    return Table.of(
        range(len(better.p_bonferroni)),
        [
            Words("at least", lambda i: str(i + 1)),
            Column(f"{result.b} better", better.p_bonferroni.__getitem__, pvalue),
            Column("if independent", better.p_fisher.__getitem__, pvalue),
            Column(f"{result.a} better", worse.p_bonferroni.__getitem__, pvalue, drop=2),
            Column("if independent", worse.p_fisher.__getitem__, pvalue, drop=1),
        ],
        title="p of being better on at least so many data sets",
        notes=(note,),
    )
