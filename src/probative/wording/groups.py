"""Word the results of groups and data sets: who is better where, and where they disagree."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from probative.metrics import TABLE, Metric
from probative.wording.numbers import (
    brackets,
    counted,
    equals,
    metric_name,
    number,
    p_equals,
    points,
    scale_word,
    signed_points,
    some,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import (
        Comparison,
        DatasetComparisons,
        DatasetCount,
        Group,
        GroupSummary,
        Heterogeneity,
    )


# the denominator of an overall score, by which it weighs the groups
_WEIGHED_BY = {"precision": "what the system returns there", "npv": "what the system rejects there"}


def sentences_of_groups(
    summary: GroupSummary, whole: Comparison, groups: Sequence[Group]
) -> tuple[str, ...]:
    """Return the sentences about one pair: where it is decided, how groups vary, warnings."""
    metrics = {c.metric for group in groups for c in group.comparisons or ()}
    said = [_decided(summary, whole, named=len(metrics) > 1)]
    if untested := summary.groups - summary.tested:
        holds = "holds" if untested == 1 else "hold"
        what = "one unit, identical outputs, or no gold items"
        said.append(f"{counted(untested, 'group')} {holds} nothing to test: {what}.")
    said += _spread_sentences(summary.heterogeneity)
    if "reversal" in summary.disagreements:
        said.append(_reversal(summary))
    if "mixed" in summary.disagreements:
        s = summary
        said.append(
            f"Warning: the groups disagree. {s.b} is better than {s.a} in {some(s.better)} and "
            f"worse in {some(s.worse)}: which of the two is better depends on the group, and the "
            f"overall difference ({signed_points(s.difference)}) holds for this mixture alone."
        )
    if "against-most" in summary.disagreements:
        said.append(_against_most(summary, groups))
    return tuple(said)


def words_of_disagreement(summary: GroupSummary) -> str | None:
    """Say briefly how the groups disagree with each other or with the whole; None if not."""
    if not summary.disagreements:
        return None
    if "mixed" in summary.disagreements:
        why = f"better in {some(summary.better)}, worse in {some(summary.worse)}"
    elif "reversal" in summary.disagreements:
        why = "all of them point the other way (Simpson's paradox)"
    else:
        why = "most of them point the other way"
    return f"the groups disagree: {why}"


def _decided(s: GroupSummary, whole: Comparison, *, named: bool) -> str:
    score = f", {metric_name(s.metric, whole.match)}" if named else ""
    head = f"By {s.column}, {counted(s.groups, 'group')}{score}"
    tests = f"Holm-adjusted p ≤ {1 - whole.level:.4g}, {counted(s.tests, 'test')}"
    if not s.better and not s.worse:
        return f"{head}: in none is a difference between {s.b} and {s.a} decided ({tests})."
    parts = [
        f"{word} than {s.a} in {len(names)} ({some(names)})"
        for word, names in (("better", s.better), ("worse", s.worse))
        if names
    ]
    open_ones = s.tested - len(s.better) - len(s.worse)
    rest = f"; in {open_ones:,} it is not decided" if open_ones else ""
    return f"{head}: {s.b} is {' and '.join(parts)}{rest} ({tests})."


def _spread_sentences(h: Heterogeneity | None, parts: str = "groups") -> list[str]:
    """Say whether differences vary over groups (or other parts) by more than chance."""
    if h is None:
        return []
    figures = (
        f"Cochran's Q = {number(h.q, 1)} on {h.degrees_of_freedom:,}, p {p_equals(h.pvalue)}, "
        f"I² = {100 * h.i_squared:.0f} %"
    )
    how = "by more than chance" if h.pvalue <= 0.05 else "no more than chance explains"
    return [f"The differences vary over the {parts} {how} ({figures})."]


def _reversal(s: GroupSummary) -> str:
    b_wins = s.difference < 0  # in the groups
    winner, loser = (s.b, s.a) if b_wins else (s.a, s.b)
    decided = len(s.better if b_wins else s.worse)
    number_of = s.ahead if b_wins else s.behind
    every = "both groups" if number_of == 2 else f"all {number_of:,} groups"
    return (
        f"Warning: Simpson's paradox. In {every} {winner} scores higher than {loser} (decided in "
        f"{decided:,}), and over all groups together it scores lower ({s.b} − {s.a}: "
        f"{signed_points(s.difference)}). {_why(s)} Use the groups: within a group both systems "
        f"are judged on the same data."
    )


def _why(s: GroupSummary) -> str:
    """Say why the overall difference can have another sign than that of all groups."""
    if s.weights is None:
        return f"{metric_name(s.metric)} over everything is not a mean of the groups."
    by = _WEIGHED_BY.get(s.metric, "what the system returns and what is right there")
    return (
        f"An overall score weighs each group by {by}, which differs between the systems: one has "
        f"more of its weight where both score low, as the two tables show."
    )


def _against_most(s: GroupSummary, groups: Sequence[Group]) -> str:
    up = s.difference > 0
    against, decided = (s.behind, s.worse) if up else (s.ahead, s.better)
    leader = s.b if up else s.a
    rows = sum(group.rows for group in groups)
    largest = max(groups, key=lambda group: group.rows)
    share = f"{largest.group} alone has {100 * largest.rows / rows:.0f} % of all rows"
    reason = "" if _can_reverse(s.metric) else " (no Simpson's paradox: some groups agree with it)"
    return (
        f"Warning: most groups point the other way. Over all groups {leader} is better, but in "
        f"{against:,} of {s.ahead + s.behind:,} it scores lower (decided in {len(decided):,}): a "
        f"few groups with much weight carry the overall difference; {share}{reason}."
    )


def _can_reverse(metric: str) -> bool:
    """Return True if the overall difference can have another sign than that of all groups."""
    known = TABLE.get(metric)
    if not isinstance(known, Metric):
        return True
    _, bottom = known.forms()
    return bool(bottom[0] != bottom[2] or bottom[1] != bottom[3])


# --- Several data sets


def sentences_of_datasets(result: DatasetComparisons) -> tuple[str, ...]:
    """Return the sentences: on how many a system is better, mean, pooled units, warnings."""
    said = [_counted(result), _mean(result)]
    if (c := result.pooled) is not None:
        said.append(
            f"All units together, each of the same weight, so that large data sets decide: "
            f"{signed_points(c.difference)}{scale_word()} ({100 * result.level:g} % interval "
            f"{brackets(c.low, c.high, 1, signed=True)}, p {p_equals(c.p_decision)})."
        )
    return (*said, *_disagreement(result), *_spread_sentences(result.heterogeneity, "data sets"))


def _counted(r: DatasetComparisons) -> str:
    parts = [_count(r, count) for count in (r.better, r.worse) if count.fisher or count.bonferroni]
    if not parts:
        return (
            f"On none of {counted(len(r), 'data set')} is {r.b} known to be better than {r.a}, nor "
            f"{r.a} than {r.b} ({_confidence(r)})."
        )
    return f"{'; '.join(parts)} ({_confidence(r)}; {metric_name(r.metric, r.match)})."


def _confidence(r: DatasetComparisons) -> str:
    return f"one-sided tests, {100 * r.level:g} % confidence"


def _count(r: DatasetComparisons, count: DatasetCount) -> str:
    n = len(r)
    other = r.a if count.system == r.b else r.b
    most = max(count.bonferroni, count.fisher)
    least = "all" if most == n else f"at least {most}"
    how = "" if count.bonferroni == most else " if the data sets are independent of each other"
    if count.bonferroni not in (0, most):
        how += f", on at least {count.bonferroni} whatever their dependence"
    which = f": {some(count.datasets)}" if count.datasets else ""
    named = f"; Holm's method names {len(count.datasets)}{which}"
    return (
        f"{count.system} is better than {other} on {least} of {counted(n, 'data set')}{how}{named}"
    )


def _mean(r: DatasetComparisons) -> str:
    m = r.mean
    if isnan(m.difference):
        score = metric_name(r.metric, r.match)
        return f"The mean over the data sets is undefined: {score} is, on one."
    chance = "" if isnan(m.p_b_better) else f"; P({r.b} better on average) {equals(m.p_b_better)}"
    return (
        f"Mean over these data sets, each of the same weight: {r.b} − {r.a} = "
        f"{signed_points(m.difference)}{scale_word()} ({points(m.score_b, 1)} against "
        f"{points(m.score_a, 1)}; {100 * r.level:g} % interval "
        f"{brackets(m.low, m.high, 1, signed=True)}{chance}). It applies to other texts like "
        f"those of these data sets, not to other data sets."
    )


def _disagreement(r: DatasetComparisons) -> list[str]:
    said = []
    if r.better.datasets and r.worse.datasets:
        said.append(
            f"Warning: the data sets disagree. {r.b} is better on "
            f"{some(r.better.datasets)} and worse on "
            f"{some(r.worse.datasets)}: no average can decide between them."
        )
    if r.pooled is not None and r.pooled.difference * r.mean.difference < 0:
        said.append(
            "Mean and pooled difference have different signs: the result depends on whether data "
            "sets or units have equal weight."
        )
    return said
