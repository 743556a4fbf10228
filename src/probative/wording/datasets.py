"""What several data sets say together, in sentences."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from probative.wording.groups import listed_groups, spread_sentences
from probative.wording.numbers import counted, equals, metric_name, number, points, signed_points

if TYPE_CHECKING:
    from probative.results import Comparison, DatasetComparisons, DatasetCount

__all__ = ["sentences_of_datasets"]


def sentences_of_datasets(result: DatasetComparisons) -> tuple[str, ...]:
    """On how many a system is better, the mean over these data sets, and all units together."""
    said = [_counted(result), _mean(result)]
    if result.pooled is not None:
        said.append(_pooled(result, result.pooled))
    return (*said, *_disagreement(result), *spread_sentences(result.heterogeneity, "data sets"))


def _counted(r: DatasetComparisons) -> str:
    parts = [_count(r, count) for count in (r.better, r.worse) if count.fisher or count.bonferroni]
    if not parts:
        return (
            f"On none of {counted(len(r), 'data set')} is {r.b} known to be better than {r.a}, nor "
            f"{r.a} than {r.b} ({_confidence(r)})."
        )
    return f"{'; '.join(parts)} ({_confidence(r)}; {metric_name(r.metric, r.match)})."


def _confidence(r: DatasetComparisons) -> str:
    return f"one-sided exact tests, {100 * r.level:g} % confidence"


def _count(r: DatasetComparisons, count: DatasetCount) -> str:
    n = len(r)
    other = r.a if count.system == r.b else r.b
    most = max(count.bonferroni, count.fisher)
    least = "all" if most == n else f"at least {most}"
    how = "" if count.bonferroni == most else " if the data sets are independent of each other"
    if count.bonferroni not in (0, most):
        how += f", on at least {count.bonferroni} whatever their dependence"
    which = f": {listed_groups(count.datasets)}" if count.datasets else ""
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
        f"{signed_points(m.difference)} points ({points(m.score_b, 1)} against "
        f"{points(m.score_a, 1)}; {100 * r.level:g} % interval {signed_points(m.low)} to "
        f"{signed_points(m.high)}{chance}). It speaks of other texts like those of these data "
        f"sets, not of other data sets."
    )


def _pooled(r: DatasetComparisons, c: Comparison) -> str:
    p = "< 0.001" if c.pvalue < 0.001 else f"= {number(c.pvalue)}"
    return (
        f"All units together, each of the same weight, so that large data sets decide: "
        f"{signed_points(c.difference)} points ({100 * r.level:g} % interval "
        f"{signed_points(c.low)} to {signed_points(c.high)}, p {p})."
    )


def _disagreement(r: DatasetComparisons) -> list[str]:
    said = []
    if r.better.datasets and r.worse.datasets:
        said.append(
            f"Warning: the data sets disagree. {r.b} is better on "
            f"{listed_groups(r.better.datasets)} and worse on {listed_groups(r.worse.datasets)}: "
            f"no average tells which to take."
        )
    if r.pooled is not None and r.pooled.difference * r.mean.difference < 0:
        said.append(
            "Mean and pooled difference have different signs: the answer depends on whether data "
            "sets or units weigh the same."
        )
    return said
