"""Pairs of systems on items of one kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative.inference.differences import difference
from probative.matching.cases import cases_of_pair
from probative.options import ScoreOptions
from probative.scoring.basis import is_of_classes, scored_as
from probative.scoring.intervals import intervals_of
from probative.scoring.kinds import make_bucket

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.matching.matched import Matched
    from probative.pairs.pooled import PairChoices
    from probative.results import Bucket

__all__ = ["bucket_of_pairs", "metric_of_buckets"]


def metric_of_buckets(matched: Matched, metrics: Sequence[str]) -> str:
    """What kinds of items are scored by: a kind has no table of all classes."""
    return "accuracy" if is_of_classes(matched, metrics[0]) else metrics[0]


def bucket_of_pairs(
    part: Matched,
    metric: str,
    kind: str,
    name: str,
    *,
    pairs: Sequence[tuple[int, int]],
    choices: PairChoices,
) -> Bucket:
    """What the systems score on items of one kind."""
    scored, level, beta = scored_as(part, metric), choices.level, choices.beta
    usual = ScoreOptions(metric=metric, by=choices.unit, level=level, beta=beta)
    scores = zip(part.names, intervals_of(part, usual), strict=True)
    differences = []
    for i, j in pairs:
        cases = cases_of_pair(part, i, j, choices.unit).grouped()
        gap = difference(cases, scored, level=level, beta=beta)
        differences.append((part.names[i], part.names[j], gap))
    return make_bucket(part, kind, name, choices.unit, scores, differences, metric)
