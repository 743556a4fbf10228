"""From the comparisons of every group to what they say together.

Whoever has the comparisons of a pair in every group, from items or from counts alone, hands them
over as `Group` objects; p-values are adjusted here, and what the groups say together is found out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from probative.groups.agreement import can_be_tested, summarize
from probative.inference.multiplicity import adjust_pvalues
from probative.wording.groups import words_of_disagreement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import Comparison, Comparisons, Group

__all__ = ["adjust_groups", "with_groups"]

_CROSSING = (
    "{n:,} {unit}{s} with rows in several groups of {column!r}: each group counts its own rows, so "
    "that the groups are not independent of each other"
)


def with_groups(
    whole: Comparisons,
    groups: Sequence[Group],
    column: str,
    *,
    beta: float = 1.0,
    crossing: int = 0,
) -> Comparisons:
    """A comparison with what it says in each group, and what the groups say together.

    Parameters
    ----------
    whole
        The comparison of all groups together.
    groups
        Every group with the comparisons of the same pairs and metrics, as each test gave them.
    column
        What the groups are told by.
    beta
        The weight of recall in F-beta.
    crossing
        How many units have rows in several groups.
    """
    adjusted = adjust_groups(groups)
    notes = whole.notes
    if crossing:
        words = {"n": crossing, "unit": whole.unit, "s": "" if crossing == 1 else "s"}
        notes = (*notes, _CROSSING.format(column=column, **words))
    summaries = tuple(
        summarize(c, adjusted, column, level=whole.level, beta=beta) for c in whole.comparisons
    )
    # a verdict per pair, on the first metric
    said = [words_of_disagreement(summary) for summary in summaries[: len(whole.verdicts)]]
    verdicts = [
        verdict if words is None else f"{verdict} But {words}."
        for verdict, words in zip(whole.verdicts, said, strict=True)
    ]
    return replace(
        whole,
        groups=adjusted,
        group_summaries=summaries,
        verdicts=tuple(verdicts),
        notes=notes,
    )


def adjust_groups(groups: Sequence[Group]) -> tuple[Group, ...]:
    """The same groups with p-values that allow for their number and for that of pairs.

    Every metric is a family of its own. A test whose p-value is 1 whatever the systems say is none:
    of one unit, of identical outputs, or where there is nothing to be found.
    """
    metrics = dict.fromkeys(c.metric for group in groups for c in group.comparisons or ())
    for metric in metrics:
        groups = _adjust_metric(groups, metric)
    return tuple(groups)


def _adjust_metric(groups: Sequence[Group], metric: str) -> list[Group]:
    tests = [
        c.p_decision
        for group in groups
        for c in group.comparisons or ()
        if c.metric == metric and can_be_tested(c)
    ]
    holm = iter(adjust_pvalues(tests).tolist())
    bh = iter(adjust_pvalues(tests, "benjamini-hochberg").tolist())

    def adjust(c: Comparison) -> Comparison:
        if c.metric != metric:
            return c
        if not can_be_tested(c):
            return replace(c, p_adjusted=1.0, p_bh=1.0)
        return replace(c, p_adjusted=next(holm), p_bh=next(bh))

    return [
        replace(group, comparisons=tuple(map(adjust, group.comparisons or ()))) for group in groups
    ]
