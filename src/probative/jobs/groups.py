"""Compare systems group by group, and summarise the groups."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING

from probative.inference.groups import adjust_pvalues, heterogeneity
from probative.metrics import NEEDS_TN, TABLE, Metric, ratio
from probative.results import Group, GroupSummary, GroupWeight
from probative.results.scores import with_scores
from probative.wording.summaries import sentences_of_groups, words_of_disagreement
from probative.wording.verdict import no_verdict, pvalue_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import Comparison, Comparisons


# --- Agreement of the groups with each other and with the whole
#
# The overall score of a system is a mean of its scores in the groups, weighted by its denominators.
# Those of accuracy and recall are the same for both systems: then the overall difference is a mean
# of the differences of the groups, and cannot have another sign than all of them. Those of
# precision and F1 grow with the number of items that a system returns; then it can (Simpson's
# paradox).


def _summarize(
    whole: Comparison, groups: Sequence[Group], column: str, *, level: float, beta: float = 1.0
) -> GroupSummary:
    """Summarise the groups of `column` for one pair and metric; their p-values are adjusted."""
    a, b, metric = whole.a, whole.b, whole.metric
    own = {group.group: group.of_pair(a, b, metric, whole.question) for group in groups}
    decided = {name: c for name, c in own.items() if _is_decided(c, level)}
    summary = GroupSummary(
        a=a,
        b=b,
        metric=metric,
        question=whole.question,
        column=column,
        difference=whole.difference,
        groups=len(groups),
        tested=sum(_can_be_tested(c) for c in own.values()),
        tests=sum(
            _can_be_tested(c)
            for g in groups
            for c in g.comparisons or ()
            if (c.metric, c.question) == (metric, whole.question)
        ),
        better=tuple(name for name, c in decided.items() if c.difference > 0),
        worse=tuple(name for name, c in decided.items() if c.difference < 0),
        ahead=sum(c.difference > 0 for c in own.values()),
        behind=sum(c.difference < 0 for c in own.values()),
        heterogeneity=heterogeneity(
            [c.difference for c in own.values()],
            [nan if c.standard_error is None else c.standard_error for c in own.values()],
            [nan if c.degrees_of_freedom is None else c.degrees_of_freedom for c in own.values()],
        ),
    )
    found = _disagreements(summary, whole, level)
    summary = replace(summary, disagreements=found)
    if "reversal" in found:
        summary = replace(summary, weights=_weights(groups, whole, beta))
    return replace(summary, sentences=sentences_of_groups(summary, whole, groups))


def _is_decided(c: Comparison, level: float) -> bool:
    """Return True if a pair is shown to differ, by the p-value that counts."""
    return no_verdict(c) is None and pvalue_of(c) <= (1 - level) * (1 + 1e-9)


def _can_be_tested(c: Comparison) -> bool:
    """Return True if the test of a comparison could have found a difference."""
    one_unit = c.observed_units is not None and c.observed_units < 2
    nothing = c.positives == 0 and c.metric.removeprefix("macro_") not in NEEDS_TN
    return not (c.identical or nothing or one_unit)


def _disagreements(s: GroupSummary, whole: Comparison, level: float) -> tuple[str, ...]:
    """Return how the groups contradict each other or the whole, at this level."""
    mixed = ("mixed",) if s.better and s.worse else ()
    with_it, against, opposed = s.behind, s.ahead, s.better
    if whole.difference > 0:
        with_it, against, opposed = s.ahead, s.behind, s.worse
    if not opposed or not _is_decided(whole, level):
        return mixed
    if not with_it and against > 1:
        return *mixed, "reversal"
    return (*mixed, "against-most") if against > with_it else mixed


def _weights(
    groups: Sequence[Group], whole: Comparison, beta: float
) -> tuple[GroupWeight, ...] | None:
    """Return the weight of every group in the overall score of each system."""
    a, b, metric = whole.a, whole.b, whole.metric
    if not isinstance(TABLE.get(metric), Metric):
        return None  # a macro average, for example, is no mean over groups
    tables = [{system.name: system.counts for system in group.systems} for group in groups]

    def shares(name: str) -> list[float]:
        # the denominator of a score is its weight in the overall score
        bottoms = [float(ratio(table[name], metric, beta=beta)[1]) for table in tables]
        return [bottom / sum(bottoms) for bottom in bottoms]

    own = [(group.group, group.of_pair(a, b, metric, whole.question)) for group in groups]
    return tuple(
        GroupWeight(name, c.score_a, weight_a, c.score_b, weight_b)
        for (name, c), weight_a, weight_b in zip(own, shares(a), shares(b), strict=True)
    )


# --- Adding the comparisons of every group to the result
#
# The comparisons of a pair in every group, from items or from counts, come as `Group` objects;
# their p-values are adjusted and summarised here.

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
    """Add the groups, with unadjusted p-values, and their summaries to a comparison."""
    adjusted = adjust_groups(groups)
    notes = whole.notes
    if crossing:
        words = {"n": crossing, "unit": whole.unit, "s": "" if crossing == 1 else "s"}
        notes = (*notes, _CROSSING.format(column=column, **words))
    summaries = tuple(
        _summarize(c, adjusted, column, level=whole.level, beta=beta) for c in whole.comparisons
    )
    # one verdict per pair, on the first metric; with several runs, on the models
    first = whole.comparisons[0]
    judged = zip(whole.comparisons, summaries, strict=True)
    said = [
        words_of_disagreement(summary)
        for c, summary in judged
        if (c.metric, c.question) == (first.metric, first.question)
    ]
    verdicts = [
        verdict if words is None else f"{verdict} But {words}."
        for verdict, words in zip(whole.verdicts, said, strict=True)
    ]
    whole = with_scores(whole, groups=adjusted, notes=notes)
    return replace(whole, group_summaries=summaries, verdicts=tuple(verdicts))


def adjust_groups(groups: Sequence[Group]) -> tuple[Group, ...]:
    """Adjust the p-values for the number of groups and pairs, separately for each metric."""
    # tests that cannot reject do not count: one unit, identical outputs, or no positive items
    every = (c for group in groups for c in group.comparisons or ())
    for family in dict.fromkeys((c.metric, c.question) for c in every):
        groups = _adjust_family(groups, family)
    return tuple(groups)


def _adjust_family(groups: Sequence[Group], family: tuple[str, str | None]) -> list[Group]:
    """Adjust the p-values of one metric, and with several runs of one question."""
    tests = [
        c.p_decision
        for group in groups
        for c in group.comparisons or ()
        if (c.metric, c.question) == family and _can_be_tested(c)
    ]
    holm = iter(adjust_pvalues(tests).tolist())
    bh = iter(adjust_pvalues(tests, "benjamini-hochberg").tolist())

    def adjust(c: Comparison) -> Comparison:
        if (c.metric, c.question) != family:
            return c
        if not _can_be_tested(c):
            return replace(c, p_adjusted=1.0, p_bh=1.0)
        return replace(c, p_adjusted=next(holm), p_bh=next(bh))

    return [
        replace(group, comparisons=tuple(map(adjust, group.comparisons or ()))) for group in groups
    ]
