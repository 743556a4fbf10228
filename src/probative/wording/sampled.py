"""What a sample is good for, in words."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from probative.wording.numbers import counted, points

if TYPE_CHECKING:
    from probative.results import Sampled

__all__ = ["WHY", "sample_summary"]

WHY = {
    "all": "all of them: nothing is left to chance",
    "least": "as few as a stratum may have",
    "guess": "by their spread, guessed",
    "scores": "by their spread, from confidences",
    "pilot": "by their spread in what is annotated",
    "judge": "by their spread as the judge sees it",
}


def sample_summary(sampled: Sampled) -> str:
    """What was drawn, and what is to be expected of it."""
    chosen = counted(sampled.labelled, sampled.unit)
    if sampled.new != sampled.labelled:
        chosen = f"{counted(sampled.new, f'more {sampled.unit}')}, {sampled.labelled:,} in all,"
    first = f"{chosen} of {sampled.pool:,} chosen for {_goal(sampled)}"
    if sampled.labelled == sampled.pool:
        return f"{first}: all of them, so that nothing is left to chance"
    if isnan(sampled.worth):
        return f"{first}: the outputs do not differ, so no unit is better than another"
    gain = f"about as good as {round(sampled.worth):,} random ones"
    width = f"{points(sampled.width, 1)} instead of {points(sampled.random_width, 1)} points"
    return f"{first}: {gain} (an interval about {width} wide)"


def _goal(sampled: Sampled) -> str:
    if sampled.goal == "difference":
        a, *others = sampled.systems
        return f"the difference of {a} and {others[0]}" if len(others) == 1 else "all differences"
    return f"the score of {sampled.systems[0]}" if len(sampled.systems) == 1 else "all scores"
