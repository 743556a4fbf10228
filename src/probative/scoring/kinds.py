"""Items of different kinds, scored apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from probative.matching.buckets import bucketings_of
from probative.matching.matched import match_training
from probative.metrics import NEEDS_TN
from probative.results import Bucket, BucketDifference, SystemScore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from probative.matching.matched import Matched
    from probative.options import CompareOptions
    from probative.results import Difference, Interval

__all__ = ["find_buckets", "make_bucket"]


def find_buckets(
    matched: Matched,
    metric: str,
    options: CompareOptions,
    make: Callable[[Matched, str, str, str], Bucket],
) -> tuple[Bucket, ...]:
    """The scores and differences on items of each kind, pooled over labels.

    Parameters
    ----------
    matched
        What has been gathered.
    metric
        What is compared.
    options
        The choices, among them the training data.
    make
        Makes a bucket from its items, the metric, its kind and its name.
    """
    if matched.all_classes:
        metric = "accuracy"
    elif metric in NEEDS_TN:
        return ()  # what is no item has no length and no label
    train = None if options.train is None else match_training(options.train, matched, options)
    return tuple(
        make(replace(matched, items=items), metric, bucketing.kind, name)
        for bucketing in bucketings_of(matched, train)
        for name, items in bucketing.parts(matched.items)
    )


def make_bucket(
    part: Matched,
    kind: str,
    name: str,
    unit: str,
    scores: Iterable[tuple[str, Interval]],
    differences: Iterable[tuple[str, str, Difference]],
    metric: str,
) -> Bucket:
    """A bucket from the scores of its systems and the differences of its pairs."""
    own = part.items.unit[part.items.answer]
    if unit == "document" and part.items.document is not None:
        own = part.items.document[own]
    return Bucket(
        kind,
        name,
        part.items.positives,
        len(np.unique(own)),
        tuple(SystemScore(who, metric, s.estimate, s.low, s.high) for who, s in scores),
        tuple(BucketDifference(a, b, metric, d.estimate, d.low, d.high) for a, b, d in differences),
    )
