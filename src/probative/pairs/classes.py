"""A pair of systems and a score of the whole table of all classes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from probative.inference.confusion import (
    confusion_difference,
    confusion_posterior,
)
from probative.inference.confusion_planning import confusion_plan
from probative.inference.confusion_test import confusion_test
from probative.metrics import label_metric
from probative.pairs.macro import compare_macro, macro_sides, tests_of_sides
from probative.pairs.pooled import PairChoices, differences_by_label, numbers_of_pair
from probative.results import Comparison
from probative.scoring.classes import confused_items, over_answered

if TYPE_CHECKING:
    from probative.matching.matched import Matched

__all__ = ["compare_classes"]


def compare_classes(
    matched: Matched, i: int, j: int, metric: str, choices: PairChoices
) -> Comparison:
    """The same for a score of the whole table of all classes."""
    a, b = (confused_items(matched, k, choices.unit) for k in (i, j))
    needed = confusion_plan(a, b, metric, power=choices.power, level=choices.level)
    if metric == "balanced_accuracy":  # the mean recall of the classes
        matched, pairs = over_answered(matched), [(i, j)]
        sides = macro_sides(matched, pairs, "recall", choices)
        tests = tests_of_sides(matched, pairs, "recall", choices, sides)
        mean = compare_macro(matched, i, j, "recall", choices, sides=sides, tests=tests)
        return replace(mean, metric=metric, units_needed=needed.units)
    gap = confusion_difference(a, b, metric, level=choices.level)
    test = confusion_test(a, b, metric, level=choices.level, rng=choices.generator)
    posterior = confusion_posterior(a, b, metric)
    how = "score of the whole confusion table: the test is sampled, the posterior approximate"
    return Comparison(
        **numbers_of_pair(matched, i, j, choices, gap=gap, test=test, posterior=posterior),
        metric=metric,
        design_effect=gap.design_effect,
        units_needed=needed.units,
        observed_units=test.n_units,
        by_label=differences_by_label(matched, i, j, label_metric(metric), choices),
        note="; ".join(note for note in (how, gap.note, test.note) if note),
    )
