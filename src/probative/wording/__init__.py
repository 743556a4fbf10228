"""Everything that is said in words: numbers and names in print, and the sentences of a verdict."""

from probative.wording.numbers import (
    counted,
    equals,
    metric_name,
    metric_words,
    number,
    points,
    probability,
    pvalue,
    region,
    round_up,
    signed_points,
)

__all__ = [
    "counted",
    "equals",
    "metric_name",
    "metric_words",
    "number",
    "points",
    "probability",
    "pvalue",
    "region",
    "round_up",
    "signed_points",
]
