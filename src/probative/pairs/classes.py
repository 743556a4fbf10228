"""A pair of systems and a score of the whole table of all classes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from probative.inference.confusion import (
    confusion_difference,
    confusion_posterior,
    confusion_unit_pvalue,
)
from probative.inference.confusion_planning import confusion_plan
from probative.inference.confusion_test import confusion_tests
from probative.metrics import label_metric
from probative.pairs.macro import compare_macro, macro_sides, tests_of_sides
from probative.pairs.pooled import PairChoices, differences_by_label, numbers_of_pair
from probative.results import Comparison
from probative.scoring.classes import confused_items, over_answered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from probative.inference.confusion import ConfusedItems
    from probative.matching.matched import Matched
    from probative.pairs.macro import MacroSide
    from probative.results import RandomizationTest

    Items = Mapping[int, ConfusedItems]
    Tests = Mapping[tuple[int, int], RandomizationTest]

__all__ = ["judge_of_classes"]


def judge_of_classes(
    matched: Matched, pairs: Sequence[tuple[int, int]], metric: str, choices: PairChoices
) -> Callable[[Matched, int, int, str, PairChoices], Comparison]:
    """What compares two of the systems: the tests of all pairs are drawn together.

    Parameters
    ----------
    matched, pairs
        What has been gathered, and the numbers of the systems of each pair.
    metric, choices
        The score of the whole table of all classes, and how.
    """
    items = {
        k: confused_items(matched, k, choices.unit) for k in sorted({k for p in pairs for k in p})
    }
    if metric == "balanced_accuracy":  # the mean recall of the classes
        answered = over_answered(matched)
        sides = macro_sides(answered, pairs, "recall", choices)
        tests = tests_of_sides(answered, pairs, "recall", choices, sides)
        return partial(_compare_recalls, items=items, sides=sides, tests=tests)
    found = confusion_tests(
        [(items[i], items[j]) for i, j in pairs],
        metric,
        level=choices.level,
        rng=choices.generator,
        n_jobs=-1,
    )
    return partial(_compare_tables, items=items, tests=dict(zip(pairs, found, strict=True)))


def _compare_recalls(
    matched: Matched,
    i: int,
    j: int,
    metric: str,
    choices: PairChoices,
    *,
    items: Items,
    sides: Mapping[int, MacroSide],
    tests: Tests,
) -> Comparison:
    mean = compare_macro(over_answered(matched), i, j, "recall", choices, sides=sides, tests=tests)
    return replace(mean, metric=metric, units_needed=_needed(items[i], items[j], metric, choices))


def _compare_tables(
    matched: Matched,
    i: int,
    j: int,
    metric: str,
    choices: PairChoices,
    *,
    items: Items,
    tests: Tests,
) -> Comparison:
    a, b, test = items[i], items[j], tests[i, j]
    gap = confusion_difference(a, b, metric, level=choices.level)
    posterior = confusion_posterior(a, b, metric)
    how = (
        f"score of the whole confusion table: the test is sampled ({test.note}), the posterior "
        f"approximate"
    )
    return Comparison(
        **numbers_of_pair(matched, i, j, choices, gap=gap, test=test, posterior=posterior),
        p_unit=confusion_unit_pvalue(a, b, metric),
        metric=metric,
        design_effect=gap.design_effect,
        units_needed=_needed(a, b, metric, choices),
        observed_units=test.n_units,
        by_label=differences_by_label(matched, i, j, label_metric(metric), choices),
        note="; ".join(note for note in (how, gap.note) if note),
    )


def _needed(a: ConfusedItems, b: ConfusedItems, metric: str, choices: PairChoices) -> int | None:
    return confusion_plan(a, b, metric, power=choices.power, level=choices.level).units
