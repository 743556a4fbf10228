"""Pairs of systems and their means over labels: the tests of all pairs are drawn together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from probative.inference.decisions import student_pvalue
from probative.inference.macro import degrees_of_freedom, macro_evidence, moves_of_units
from probative.inference.macro_difference import macro_difference
from probative.inference.macro_test import macro_tests
from probative.inference.ranks import covariance_of_moves
from probative.inference.sequential_pvalue import levels_at
from probative.pairs.pooled import PairChoices, differences_by_label, numbers_of_pair
from probative.results import Comparison
from probative.scoring.intervals import cells_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from probative.inference.macro import MacroEvidence
    from probative.label_counts import LabelCounts
    from probative.matching.matched import Matched
    from probative.results import Difference, RandomizationTest

__all__ = ["MacroSide", "compare_macro", "macro_sides", "tests_of_sides"]


class MacroSide(NamedTuple):
    """What all pairs of a system need of it."""

    cells: LabelCounts
    evidence: MacroEvidence


def macro_sides(
    matched: Matched, pairs: Sequence[tuple[int, int]], metric: str, choices: PairChoices
) -> dict[int, MacroSide]:
    """What the pairs need of each of their systems, by its number.

    Parameters
    ----------
    matched, pairs
        What has been gathered, and the numbers of the systems of each pair.
    metric, choices
        The mean over labels of what, and how.
    """
    by = cells_of(matched, choices.unit)
    sides = {}
    for k in sorted({k for pair in pairs for k in pair}):
        cells = matched.items.by_unit_and_label(k, by=by)
        evidence = macro_evidence(cells.only(matched.averaged[k]), metric, beta=choices.beta)
        sides[k] = MacroSide(cells, evidence)
    return sides


def tests_of_sides(
    matched: Matched,
    pairs: Sequence[tuple[int, int]],
    metric: str,
    choices: PairChoices,
    sides: Mapping[int, MacroSide],
) -> dict[tuple[int, int], RandomizationTest]:
    """The tests of all pairs: how many exchanges one needs depends on the others, too."""
    tests = macro_tests(
        [(sides[i].cells, sides[j].cells) for i, j in pairs],
        metric,
        by=choices.unit,
        levels=levels_at(choices.level),
        rng=choices.generator,
        beta=choices.beta,
        labels=matched.items.uses() if matched.own_labels else matched.averaged[0],
        own_labels=matched.own_labels,
        null=choices.figures,
        n_jobs=-1,
    )
    return dict(zip(pairs, tests, strict=True))


def compare_macro(
    matched: Matched,
    i: int,
    j: int,
    metric: str,
    choices: PairChoices,
    *,
    sides: Mapping[int, MacroSide],
    tests: Mapping[tuple[int, int], RandomizationTest],
) -> Comparison:
    """The same for the mean over the labels, with approximations where nothing exact exists."""
    (a, of_a), (b, of_b) = sides[i], sides[j]
    gap, posterior = macro_difference(
        a,
        b,
        metric,
        level=choices.level,
        beta=choices.beta,
        labels=(matched.averaged[i], matched.averaged[j]),
        known=(of_a, of_b),
    )
    test = tests[i, j]
    how = (
        f"macro average: the test is sampled ({test.note}), interval and posterior are "
        f"approximations"
    )
    return Comparison(
        **numbers_of_pair(matched, i, j, choices, gap=gap, test=test, posterior=posterior),
        p_unit=_unit_pvalue(gap, (a, b), (matched.averaged[i], matched.averaged[j]), choices.beta),
        metric=gap.metric,
        design_effect=None,
        observed_units=int(a.repeats.sum()),
        by_label=differences_by_label(matched, i, j, metric, choices),
        note="; ".join(note for note in (how, gap.note) if note),
    )


def _unit_pvalue(
    gap: Difference,
    cells: tuple[LabelCounts, LabelCounts],
    labels: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    beta: float,
) -> float:
    """Return Student's p-value of a difference of two means over labels, by unit."""
    metric = gap.metric.removeprefix("macro_")
    moves = [moves_of_units(c, m, metric, beta) for c, m in zip(cells, labels, strict=True)]
    number, busy = cells[0].repeats, (moves[0] != 0) | (moves[1] != 0)
    variance = covariance_of_moves((moves[1] - moves[0])[None, busy], number[busy])[0, 0]
    freedom = degrees_of_freedom(*(c.only(m) for c, m in zip(cells, labels, strict=True)))
    return float(student_pvalue(gap.estimate, np.sqrt(variance), freedom))
