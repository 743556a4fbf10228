"""What few labels tell of a pool, in words."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from probative.wording.numbers import counted, metric_name, points, signed_points

if TYPE_CHECKING:
    from probative.results import Estimate, EstimatedDifference, EstimatedScore

__all__ = ["estimate_summary", "judge_sentence", "worth_words"]


def estimate_summary(estimate: Estimate) -> str:
    """From what the figures come, and what that is worth."""
    e = estimate
    all_ = counted(e.pool, e.unit)
    where = f"{e.unit}s like the {all_} of the pool" if e.population else f"all {all_} of the pool"
    if e.labelled == e.pool:
        return f"All {all_} of the pool are labelled" + (
            f"; said of {where}" if e.population else ""
        )
    first = f"Estimated for {where} from {e.labelled:,} labelled ones"
    if e.worth is None or isnan(e.worth):
        return first
    return f"{first}, which tell {_goal(e)} about as well as {worth_words(e.worth)} would"


def worth_words(worth: float) -> str:
    """How many random labels that is."""
    return f"{round(worth):,} random ones"


def _goal(e: Estimate) -> str:
    if e.comparisons and e.goal == "difference":
        gap = e.comparisons[0]
        return f"the difference of {gap.a} and {gap.b} ({metric_name(gap.metric)})"
    return f"the {metric_name(e.scores[0].metric)} of {e.scores[0].system}"


def judge_sentence(result: EstimatedScore | EstimatedDifference, what: str) -> str:
    """What a judge has changed."""
    moved, width = result.judge_moved, result.judge_width
    if moved is None or width is None:
        return ""
    if isnan(width):
        return f"The judge changed nothing in {what}."
    by = f"The judge moved {what} by {signed_points(moved, 2)} points"
    change = round(100 * (1 - width))
    if change == 0:
        return f"{by} and left its interval as wide as it was."
    return f"{by} and made its interval {points(abs(change) / 100, 0)} % {_than(change)}."


def _than(change: int) -> str:
    return "narrower" if change > 0 else "wider"
