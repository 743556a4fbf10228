"""A group from what is known of it: items of systems, or the cases of their pairs alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from probative.counts import Counts
from probative.inference.intervals import interval
from probative.results import Group, SystemScores
from probative.runs.answers import without_claims

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from probative.counts import PairedCounts
    from probative.results import Comparison, Interval

    Pair = tuple[str, str]

__all__ = ["group_of_cases"]


def group_of_cases(
    name: str,
    cases: Mapping[Pair, PairedCounts],
    metrics: Sequence[str],
    judge: Callable[[PairedCounts, Pair, str], Comparison],
    *,
    level: float = 0.95,
    beta: float = 1.0,
    all_classes: bool = False,
) -> Group:
    """What a group says, from the cases of every pair of systems in it.

    Parameters
    ----------
    name
        The group.
    cases
        The cases by pair, the baseline's name first: one row per unit (with multiplicities, where
        equal units are kept once), or one table of independent items.
    metrics
        What is compared.
    judge
        Compares a pair by a metric: `probative.pairs.pooled.compare_cases` with its choices.
    level, beta
        Of the intervals of scores; the weight of recall in F-beta.
    all_classes
        Whether these are right and wrong answers over all classes of single-label data: then every
        score is the share of right ones, and what was given instead is no item of its own.
    """
    comparisons = [
        without_claims(judge(paired, pair, metric))
        for metric in metrics
        for pair, paired in cases.items()
    ]
    first = next(iter(cases.values()))
    systems: dict[str, SystemScores] = {}
    for pair, paired in cases.items():
        for system, counts in zip(pair, (paired.a, paired.b), strict=True):
            if system not in systems:
                scores = _scores(counts, metrics, level, beta, all_classes=all_classes)
                total = counts.sum() if counts.shape else counts
                # an answer that is wrong is one too many, and one is missing
                shown = Counts(total.tp, total.fn, total.fn) if all_classes else total
                systems[system] = SystemScores(system, shown, scores)
    rows = int(first.total().cases.sum())
    units = first.n_units if first.has_units else rows
    return Group(name, rows, units, tuple(systems.values()), tuple(comparisons))


def _scores(
    counts: Counts, metrics: Sequence[str], level: float, beta: float, *, all_classes: bool
) -> tuple[Interval, ...]:
    clustered = bool(np.ndim(counts.tp))
    return tuple(
        replace(
            interval(
                counts,
                "recall" if all_classes else metric,
                level=level,
                beta=beta,
                clustered=clustered,
            ),
            metric=metric,
            signature="",
        )
        for metric in metrics
    )
