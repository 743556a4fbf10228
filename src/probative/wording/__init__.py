"""Everything that is said in words: numbers and names in print, and the sentences of a verdict."""

from probative.wording.numbers import (
    amount,
    counted,
    equals,
    is_of_ranking,
    match_words,
    metric_name,
    metric_words,
    number,
    points,
    probability,
    pvalue,
    region,
    signed_points,
    task_words,
)

__all__ = [
    "amount",
    "counted",
    "equals",
    "is_of_ranking",
    "match_words",
    "metric_name",
    "metric_words",
    "number",
    "points",
    "probability",
    "pvalue",
    "region",
    "signed_points",
    "task_words",
]
