"""Word the benefit of a sample and the results of its labels."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from probative.wording.numbers import counted, listed, metric_name, points, signed_points
from probative.wording.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import Estimate, EstimatedDifference, EstimatedScore, Sampled


# --- Estimates from few labels


def estimate_summary(estimate: Estimate) -> str:
    """Say which labels the estimates come from, and their effective sample size."""
    e = estimate
    all_ = counted(e.pool, e.unit)
    where = f"{e.unit}s like the {all_} of the pool" if e.population else f"all {all_} of the pool"
    if e.labelled == e.pool:
        return f"All {all_} of the pool are labelled" + (
            f": the estimates apply to {e.unit}s like them"
            if e.population
            else f": the scores on this pool are exact; they say nothing about other {e.unit}s"
        )
    first = f"Estimated for {where} from {e.labelled:,} labels"
    if e.worth is None or isnan(e.worth):
        return first
    goal = f"the {metric_name(e.metric)} of {e.scores[0].system}"
    if e.comparisons and e.goal == "difference":
        gap = e.comparisons[0]
        goal = f"the difference between {gap.a} and {gap.b} ({metric_name(gap.metric)})"
    return f"{first}, equivalent to about {round(e.worth):,} random ones for {goal}"


def certain_verdict(gap: EstimatedDifference) -> str:
    """Return the verdict for a pool that is labelled completely, without uncertainty."""
    if gap.identical or isnan(gap.difference):
        return verdict(gap)
    scores = f"{metric_name(gap.metric)} {points(gap.score_b)} against {points(gap.score_a)}"
    if gap.difference == 0:
        return f"{gap.b} and {gap.a} score the same on this pool ({scores})."
    better, worse = (gap.b, gap.a) if gap.difference > 0 else (gap.a, gap.b)
    size = points(abs(gap.difference))
    return f"{better} is better than {worse} on this pool, by {size} points ({scores})."


def judge_sentence(result: EstimatedScore | EstimatedDifference, what: str) -> str:
    """Say by how much a judge changed an estimate and its interval."""
    moved, width = result.judge_moved, result.judge_width
    if moved is None or width is None:
        return ""
    if isnan(width):
        return f"The judge changed nothing in {what}."
    by = f"The judge moved {what} by {signed_points(moved, 2)} points"
    change = round(100 * (1 - width))
    if change == 0:
        return f"{by} and did not change the width of its interval."
    wider = "narrower" if change > 0 else "wider"
    return f"{by} and made its interval {points(abs(change) / 100, 0)} % {wider}."


def merged_notes(found: Sequence[EstimatedScore | EstimatedDifference]) -> list[str]:
    """Return each note once, after the scores that it is about, or "all scores"."""
    holds: dict[str, list[EstimatedScore | EstimatedDifference]] = {}
    for result in found:
        for note in result.note.split("; ") if result.note else ():
            holds.setdefault(note, []).append(result)
    every = "all scores" if any(hasattr(one, "system") for one in found) else "all differences"
    return [
        f"{every if 1 < len(results) == len(found) else _list(results)}: {note}."
        for note, results in holds.items()
    ]


def _list(results: Sequence[EstimatedScore | EstimatedDifference]) -> str:
    """List systems (or pairs of them) with their scores: 'a and b, recall; c, recall and F1'."""
    scores: dict[str, list[str]] = {}
    for result in results:
        whose = getattr(result, "system", None) or f"{result.b} − {result.a}"  # type: ignore[union-attr]
        scores.setdefault(whose, []).append(metric_name(result.metric))
    alike: dict[str, list[str]] = {}
    for whose, names in scores.items():
        alike.setdefault(listed(names), []).append(whose)
    return "; ".join(f"{listed(whose)}, {names}" for names, whose in alike.items())


# --- Samples

WHY = {
    "all": "all of them: no sampling error",
    "least": "the minimum per stratum",
    "guess": "by spread (assumed)",
    "scores": "by spread (from confidences)",
    "pilot": "by spread (in the labels so far)",
    "judge": "by spread (from the judge)",
}


def sample_summary(sampled: Sampled) -> str:
    """Say what was drawn, and how wide its interval is expected to be."""
    chosen = counted(sampled.labelled, sampled.unit)
    if sampled.new != sampled.labelled:
        chosen = f"{counted(sampled.new, f'more {sampled.unit}')}, {sampled.labelled:,} in all,"
    goal = "all scores"
    if sampled.goal == "difference":
        two = " and ".join(sampled.systems)
        goal = f"the difference between {two}" if len(sampled.systems) == 2 else "all differences"
    elif len(sampled.systems) == 1:
        goal = f"the score of {sampled.systems[0]}"
    first = f"{chosen} of {sampled.pool:,} chosen for {goal}"
    if sampled.labelled == sampled.pool:
        return f"{first}: all of them, so there is no sampling error"
    if isnan(sampled.worth):
        return f"{first}: the outputs do not differ, so every unit is equally useful"
    gain = f"equivalent to about {round(sampled.worth):,} random ones"
    width = f"{points(sampled.width, 1)} instead of {points(sampled.random_width, 1)} points"
    return f"{first}: {gain} (an interval about {width} wide)"
