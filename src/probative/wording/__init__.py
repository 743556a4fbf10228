"""Word everything that is printed: numbers, names, and the sentences of verdicts."""

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
