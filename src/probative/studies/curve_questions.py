"""The studies of curves under one roof, each of which has a table of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative._validation import one_of
from probative.studies.curve_calibration import PROBABILITIES, calibration_study
from probative.studies.curve_pairs import PAIRS, pair_study
from probative.studies.curves import KINDS, order_study, threshold_study

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from probative._types import RNG
    from probative.results import Result

__all__ = ["QUESTIONS", "curve_study"]

QUESTIONS = ("order", "threshold", "calibration", "difference")


def curve_study(
    *,
    questions: Sequence[str] = QUESTIONS,
    positives: Sequence[int] = (5, 10, 20, 50, 200),
    shares: Sequence[float] = (0.5, 0.05),
    areas: Sequence[float] = (0.6, 0.8, 0.95, 0.99),
    kinds: Sequence[str] = KINDS,
    pairs: Sequence[str] = PAIRS,
    probabilities: Sequence[str] = PROBABILITIES,
    items: Sequence[int] = (20, 50, 200, 1000),
    level: float = 0.95,
    replicates: int = 400,
    rng: RNG | None = 0,
    report: Callable[[int, int], None] | None = None,
) -> dict[str, Sequence[Result]]:
    """See whether what is said of curves holds, question by question.

    Parameters
    ----------
    questions
        "order" (average precision and the area under the ROC curve), "threshold" (limits along the
        curve, the best threshold and its F1), "calibration", "difference" (of two systems). A seed
        gives each of them the same draws, with or without the others.
    positives, shares, areas
        Conditions of all but the calibration: expected numbers of positives, their shares, areas
        under the ROC curve.
    kinds, pairs
        How the scores of one system are drawn, and how two systems are related.
    probabilities, items
        Conditions of the calibration: what is wrong with the probabilities, and how many there are.
    level
        The level of the intervals.
    replicates
        Test sets per condition.
    rng
        A seed or generator.
    report
        Is told how many conditions of a question are done, and how many there are.
    """
    shared: dict[str, Any] = {
        "level": level,
        "replicates": replicates,
        "rng": rng,
        "report": report,
    }
    asked = [one_of("questions", question, QUESTIONS) for question in questions]
    ranking: dict[str, Any] = {"positives": positives, "shares": shares, "areas": areas}
    studies: dict[str, Callable[[], Sequence[Result]]] = {
        "order": lambda: order_study(**ranking, kinds=kinds, **shared),
        "threshold": lambda: threshold_study(**ranking, kinds=kinds, **shared),
        "calibration": lambda: calibration_study(
            probabilities=probabilities, items=items, **shared
        ),
        "difference": lambda: pair_study(**ranking, pairs=pairs, **shared),
    }
    return {question: studies[question]() for question in asked}
