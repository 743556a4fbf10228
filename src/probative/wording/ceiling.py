"""What a second annotation of the same texts says of a system's score, and what it does not."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from probative.wording.numbers import metric_name, points
from probative.wording.verdict import SIGNIFICANT, limit, small_pvalue

if TYPE_CHECKING:
    from probative.results import Ceiling

__all__ = ["CAVEAT", "ceiling_sentence"]

CAVEAT = (
    "The second annotation is no law for systems: it shows how far two annotators agree who worked "
    "apart under the same guidelines. A system that learnt from the first one's habits can come "
    "nearer to the answer than a second person does, and where the answer is wrong, who repeats "
    "its mistakes is called right."
)


def ceiling_sentence(c: Ceiling) -> str:
    """Whether a system agrees with the answer less than the second annotation does, or more."""
    name = metric_name(c.metric, c.match) + "," * (c.match is not None)
    if isnan(c.difference):
        return f"{c.system} and {c.second} cannot be compared: {name} is undefined for one of them."
    figures = (
        f"({name} {points(c.score, 1)} against {points(c.second_score, 1)}; {100 * c.level:g} % "
        f"interval of the difference {limit(c.low)} to {limit(c.high)}; p {small_pvalue(c.pvalue)} "
        f"by {c.by})"
    )
    settled = c.pvalue <= SIGNIFICANT and (c.low > 0 or c.high < 0)
    if not settled:
        return (
            f"It is open whether {c.system} agrees with the answer less or more than {c.second} "
            f"does {figures}."
        )
    word = "less" if c.difference < 0 else "more"
    size = points(abs(c.difference), 1)
    return (
        f"{c.system} agrees with the answer {word} than {c.second} does, by {size} points "
        f"{figures}."
    )
