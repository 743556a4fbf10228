"""One pair of systems and one score of the pooled items: difference, test, posterior, plan."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import fraction, open_probability, random_generator
from probative.counts import PairedCounts
from probative.inference.clustered_posterior import posterior_of_difference
from probative.inference.clusters import variance_of_difference
from probative.inference.decisions import unit_test
from probative.inference.differences import difference
from probative.inference.planning import plan
from probative.inference.randomization import randomization_test
from probative.matching.cases import cases_by, cases_of_pair
from probative.metrics import label_metric
from probative.results import Comparison, LabelDifference
from probative.scoring.basis import match_of, scored_as

if TYPE_CHECKING:
    from collections.abc import Iterable

    from probative.inference.clustered_posterior import ClusteredPosterior
    from probative.inference.macro_difference import MacroDifferencePosterior
    from probative.inference.student_posterior import StudentPosterior
    from probative.matching.matched import Matched
    from probative.options import CompareOptions
    from probative.results import Difference, RandomizationTest

__all__ = [
    "PairChoices",
    "compare_cases",
    "compare_pooled",
    "differences_by_label",
    "numbers_of_pair",
]


@dataclass(frozen=True)
class PairChoices:
    """What all pairs of a comparison have in common.

    `in_group` asks for what groups are weighed by, and leaves out what only the whole tells.
    """

    unit: str
    level: float
    rope: float
    beta: float
    prior: float
    power: float
    generator: np.random.Generator
    figures: bool
    in_group: bool = False

    @classmethod
    def of(cls, options: CompareOptions, unit: str, *, figures: bool = False) -> PairChoices:
        """The choices of a comparison by these units, if they are some that there are."""
        return cls(
            unit,
            open_probability("level", options.level),
            fraction("rope", options.rope),
            options.beta,
            options.prior,
            open_probability("power", options.power),
            random_generator(options.rng),
            figures,
        )


def compare_pooled(
    matched: Matched, i: int, j: int, metric: str, choices: PairChoices
) -> Comparison:
    """Everything that is known of one pair in one score of the pooled items."""
    paired = cases_of_pair(matched, i, j, choices.unit)
    names = matched.names[i], matched.names[j]
    known = compare_cases(paired, names, metric, choices, scored=scored_as(matched, metric))
    by_label = (
        ()
        if choices.in_group
        else differences_by_label(matched, i, j, label_metric(metric), choices)
    )
    return replace(known, **facts_of_pair(matched, i, j), by_label=by_label)


def compare_cases(
    paired: PairedCounts,
    names: tuple[str, str],
    metric: str,
    choices: PairChoices,
    *,
    scored: str | None = None,
) -> Comparison:
    """Everything that is known of one pair from its cases alone.

    Parameters
    ----------
    paired
        The cases, one row per unit, or one table where single items are exchanged.
    names
        The baseline and the challenger.
    metric
        What is compared.
    choices
        How.
    scored
        What the metric is called on these cases, if not by its own name: over all classes of
        single-label data accuracy is the recall of what is right.
    """
    paired = paired.grouped()
    scored, level, beta = scored or metric, choices.level, choices.beta
    gap = difference(paired, scored, level=level, beta=beta, prior=choices.prior)
    test = randomization_test(
        paired,
        scored,
        by="unit" if paired.has_units else "item",
        beta=beta,
        rng=choices.generator,
        null=choices.figures,
    )
    posterior = posterior_of_difference(paired, scored, prior=choices.prior, beta=beta)
    needed = plan(paired, scored, power=choices.power, level=level, beta=beta)
    total = paired.total()
    table = total.cases
    by_unit = unit_test(paired, scored, beta=beta)
    why = by_unit.why(total, test.pvalue, names, choices.unit)
    return Comparison(
        **numbers_of(choices, gap, test, posterior),
        p_unit=by_unit.pvalue,
        a=names[0],
        b=names[1],
        metric=metric,
        design_effect=gap.design_effect,
        units_needed=needed.units,
        observed_units=needed.observed_units,
        positives=int(table[::2].sum()),
        identical=not table[:4].any(),
        note="; ".join(note for note in (gap.note, test.note, why) if note) or None,
        **(_standard_error(paired, scored, beta) if choices.in_group else {}),
    )


def _standard_error(paired: PairedCounts, scored: str, beta: float) -> dict[str, Any]:
    variance, freedom = variance_of_difference(paired, scored, beta=beta)
    return {"standard_error": math.sqrt(variance), "degrees_of_freedom": freedom}


def numbers_of_pair(
    matched: Matched,
    i: int,
    j: int,
    choices: PairChoices,
    *,
    gap: Difference,
    test: RandomizationTest,
    posterior: ClusteredPosterior | MacroDifferencePosterior | StudentPosterior,
) -> dict[str, Any]:
    """What a comparison says whatever the average."""
    return {
        **numbers_of(choices, gap, test, posterior),
        "a": matched.names[i],
        "b": matched.names[j],
        **facts_of_pair(matched, i, j),
    }


def facts_of_pair(matched: Matched, i: int, j: int) -> dict[str, Any]:
    """What the items of two systems tell without any statistics."""
    return {
        "match": match_of(matched),
        "positives": matched.items.positives,
        "identical": matched.gave_the_same(i, j),
    }


def numbers_of(
    choices: PairChoices,
    gap: Difference,
    test: RandomizationTest,
    posterior: ClusteredPosterior | MacroDifferencePosterior | StudentPosterior,
) -> dict[str, Any]:
    """What interval, test and posterior say."""
    a_better, equivalent, b_better = posterior.probabilities(choices.rope)
    return {
        "by": choices.unit,
        "rope": choices.rope,
        "level": choices.level,
        "power": choices.power,
        "difference": gap.estimate,
        "low": gap.low,
        "high": gap.high,
        "method": gap.method,
        "pvalue": test.pvalue,
        "p_adjusted": None,
        "test": test.method,
        "draws": test.n_resamples,
        "pvalue_low": test.pvalue_low,
        "pvalue_high": test.pvalue_high,
        "null": test.null,
        "p_a_better": a_better,
        "p_equivalent": equivalent,
        "p_b_better": b_better,
        "posterior": posterior,
        "score_a": gap.a,
        "score_b": gap.b,
    }


def differences_by_label(
    matched: Matched, i: int, j: int, metric: str, choices: PairChoices
) -> tuple[LabelDifference, ...]:
    """The differences of a pair on every label that one of its systems or the answer has."""
    items = matched.items
    used = items.uses(i) | items.uses(j)  # what only a third system uses is not their matter
    if np.count_nonzero(used) < 2:
        return ()
    tables: Iterable[PairedCounts]
    if choices.unit == "item":
        cells = items.paired(i, j, by="label")
        tables = map(PairedCounts, cells.cases if cells.has_negatives else cells.cases[:, :7])
    else:
        tables = (cases_by(alone, i, j, choices.unit).grouped() for alone in items.by_label)
    differences = []
    for label, paired, use in zip(items.labels, tables, used.tolist(), strict=True):
        if not use:
            continue
        gap = difference(paired, metric, level=choices.level, beta=choices.beta)
        differences.append(LabelDifference(label, gap.a, gap.b, gap.estimate, gap.low, gap.high))
    return tuple(differences)
