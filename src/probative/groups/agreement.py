"""Do the groups agree with each other, and with all of them together?

The overall score of a system is a mean of its scores in the groups, weighted by its denominators.
Those of accuracy and recall are the same for both systems: then the overall difference is a mean of
the groups' differences, and cannot have another sign than all of them. Those of precision and F1
grow with what a system returns. Then it can: Simpson's paradox.
"""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING

from probative.inference.heterogeneity import heterogeneity
from probative.metrics import NEEDS_TN, TABLE, Metric, ratio
from probative.results import GroupSummary, GroupWeight
from probative.wording.groups import sentences_of_groups
from probative.wording.verdict import no_verdict, pvalue_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.counts import Counts
    from probative.results import Comparison, Group

__all__ = ["can_be_tested", "is_decided", "summarize"]


def summarize(
    whole: Comparison, groups: Sequence[Group], column: str, *, level: float, beta: float = 1.0
) -> GroupSummary:
    """What the groups say together about one pair and metric.

    Parameters
    ----------
    whole
        The comparison over all groups.
    groups
        The groups, p-values adjusted.
    column
        What the groups are told by.
    level
        The level at which a difference is decided.
    beta
        The weight of recall in F-beta.
    """
    a, b, metric = whole.a, whole.b, whole.metric
    own = {group.group: group.of_pair(a, b, metric) for group in groups}
    decided = {name: c for name, c in own.items() if is_decided(c, level)}
    summary = GroupSummary(
        a=a,
        b=b,
        metric=metric,
        column=column,
        difference=whole.difference,
        groups=len(groups),
        tested=sum(can_be_tested(c) for c in own.values()),
        tests=sum(
            can_be_tested(c) for g in groups for c in g.comparisons or () if c.metric == metric
        ),
        better=tuple(name for name, c in decided.items() if c.difference > 0),
        worse=tuple(name for name, c in decided.items() if c.difference < 0),
        ahead=sum(c.difference > 0 for c in own.values()),
        behind=sum(c.difference < 0 for c in own.values()),
        heterogeneity=heterogeneity(
            [c.difference for c in own.values()],
            [_number(c.standard_error) for c in own.values()],
            [_number(c.degrees_of_freedom) for c in own.values()],
        ),
    )
    found = _disagreements(summary, whole, level)
    summary = replace(summary, disagreements=found)
    if "reversal" in found:
        summary = replace(summary, weights=_weights(groups, a, b, metric, beta))
    return replace(summary, sentences=sentences_of_groups(summary, whole, groups))


def is_decided(c: Comparison, level: float) -> bool:
    """Whether a pair is known to differ, by the p-value that counts."""
    return no_verdict(c) is None and pvalue_of(c) <= (1 - level) * (1 + 1e-9)


def can_be_tested(c: Comparison) -> bool:
    """Whether the test of a comparison could have found anything."""
    one_unit = c.observed_units is not None and c.observed_units < 2
    nothing = c.positives == 0 and c.metric.removeprefix("macro_") not in NEEDS_TN
    return not (c.identical or nothing or one_unit)


def _number(value: float | None) -> float:
    return nan if value is None else value


def _disagreements(s: GroupSummary, whole: Comparison, level: float) -> tuple[str, ...]:
    """In which ways the groups contradict each other or all of them together, with confidence."""
    found = []
    if s.better and s.worse:
        found.append("mixed")
    if not is_decided(whole, level):
        return tuple(found)
    with_it, against = (s.ahead, s.behind) if whole.difference > 0 else (s.behind, s.ahead)
    opposed = s.worse if whole.difference > 0 else s.better
    if not opposed:
        return tuple(found)
    if not with_it and against > 1:
        found.append("reversal")
    elif against > with_it:
        found.append("against-most")
    return tuple(found)


def _weights(
    groups: Sequence[Group], a: str, b: str, metric: str, beta: float
) -> tuple[GroupWeight, ...] | None:
    """How much every group weighs in the overall score of either system."""
    if not isinstance(TABLE.get(metric), Metric):
        return None  # a macro average, say, is no mean over groups
    tables = [{system.name: system.counts for system in group.systems} for group in groups]

    def shares(name: str) -> list[float]:
        bottoms = [_bottom(table[name], metric, beta) for table in tables]
        return [bottom / sum(bottoms) for bottom in bottoms]

    rows = zip(groups, shares(a), shares(b), strict=True)
    return tuple(
        GroupWeight(
            group.group,
            group.of_pair(a, b, metric).score_a,
            weight_a,
            group.of_pair(a, b, metric).score_b,
            weight_b,
        )
        for group, weight_a, weight_b in rows
    )


def _bottom(counts: Counts, metric: str, beta: float) -> float:
    """The denominator of a score, which is its weight in that of all groups."""
    return float(ratio(counts, metric, beta=beta)[1])
