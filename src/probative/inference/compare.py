"""Compare two systems in any kind of score: difference, test, posterior, sample size, runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import (
    flag,
    fraction,
    one_of,
    open_probability,
    positive,
    random_generator,
)
from probative.counts import Counts, PairedCounts, counts_of, paired_of
from probative.errors import InputError
from probative.inference.pooled import PooledScore
from probative.inference.runs import answer_procedures
from probative.metrics import METRICS, TABLE
from probative.results import Comparison
from probative.results.runs import ModelsAnswer, RunsDifference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from probative._validation import RNG
    from probative.inference.scores import Score
    from probative.options import CompareOptions
    from probative.results import RandomizationTest


@dataclass(frozen=True)
class Choices:
    """Choices shared by all pairs of a comparison.

    `in_group` adds the standard errors that groups are weighted by.
    """

    unit: str
    level: float
    rope: float
    power: float
    generator: np.random.Generator
    figures: bool = False
    in_group: bool = False

    @classmethod
    def of(cls, options: CompareOptions, unit: str, *, figures: bool = False) -> Choices:
        """Return the validated choices of a comparison by these units."""
        return cls(
            unit,
            open_probability("level", options.level),
            fraction("rope", options.rope),
            open_probability("power", options.power),
            random_generator(options.rng),
            figures,
        )


def compare_pairs(
    score: Score, pairs: Sequence[tuple[int, int]], names: Sequence[str], choices: Choices
) -> Iterator[Comparison]:
    """Compare pairs of systems, the baseline first; their tests may be drawn together."""
    tests = score.tests(
        pairs,
        level=choices.level,
        rng=choices.generator,
        null=choices.figures,
        n_jobs=-1,
    )
    for (i, j), test in zip(pairs, tests, strict=True):
        yield _compare_pair(score, i, j, test, (names[i], names[j]), choices)


def _compare_pair(
    score: Score,
    i: int,
    j: int,
    test: RandomizationTest,
    names: tuple[str, str],
    choices: Choices,
) -> Comparison:
    """Compare one pair whose test is known."""
    gap = score.difference(i, j, choices.level)
    posterior = score.posterior(i, j)
    a_better, equivalent, b_better = posterior.probabilities(choices.rope)
    needed = score.plan(i, j, power=choices.power, level=choices.level)
    by_unit = score.unit_test(i, j)
    said: tuple[str | None, ...] = score.note(test), gap.note
    if score.approximate is None:
        said = gap.note, test.note, by_unit.why(test.pvalue, names, choices.unit)
    extra: dict[str, Any] = {}
    if choices.in_group:
        extra["standard_error"] = by_unit.standard_error
        extra["degrees_of_freedom"] = by_unit.degrees_of_freedom
    return Comparison(
        a=names[0],
        b=names[1],
        metric=score.metric,
        difference=gap.estimate,
        low=gap.low,
        high=gap.high,
        method=gap.method,
        pvalue=test.pvalue,
        p_adjusted=None,
        test=test.method,
        by=choices.unit,
        design_effect=gap.design_effect,
        p_a_better=a_better,
        p_equivalent=equivalent,
        p_b_better=b_better,
        rope=choices.rope,
        posterior=posterior,
        score_a=gap.a,
        score_b=gap.b,
        level=choices.level,
        units_needed=needed.units,
        observed_units=needed.observed_units,
        power=choices.power,
        note="; ".join(note for note in said if note) or None,
        draws=test.n_resamples,
        pvalue_low=test.pvalue_low,
        pvalue_high=test.pvalue_high,
        null=test.null,
        p_unit=by_unit.pvalue,
        **extra,
    )


# --- Several runs of two systems


def compare_runs_of(
    score: Score,
    a: Sequence[int],
    b: Sequence[int],
    *,
    level: float = 0.95,
    paired_runs: bool = False,
    rng: RNG | None = None,
    null: bool = False,
) -> RunsDifference:
    """Compare two systems whose runs are rows of a score: these models, and their procedures."""
    level = open_probability("level", level)
    paired_runs = flag("paired_runs", paired_runs)
    if paired_runs and len(a) != len(b):
        raise InputError(
            f"paired_runs: {len(a)} runs and {len(b)}; expected the same number of each"
        )
    models = _models(score.pooled([a, b]), level, rng, null=null)
    side_a, side_b = score.runs(a), score.runs(b)
    procedures, note = answer_procedures(side_a, side_b, models, level, paired_runs, score.most)
    scores_a, scores_b = (tuple(side.scores.tolist()) for side in (side_a, side_b))
    return RunsDifference(
        score.metric, level, scores_a, scores_b, paired_runs, models, procedures, note
    )


def _models(pooled: Score, level: float, rng: RNG | None, *, null: bool) -> ModelsAnswer:
    """Compute difference, test and posterior for these models, on the sums over their runs."""
    gap = pooled.difference(0, 1, level)
    (test,) = pooled.tests([(0, 1)], level=level, rng=random_generator(rng), null=null)
    posterior = pooled.posterior(0, 1)
    p_a_better, _, p_b_better = posterior.probabilities(0.0)
    by_unit = pooled.unit_test(0, 1)
    said: tuple[str | None, ...] = pooled.note(test), gap.note
    if pooled.approximate is None:
        said = gap.note, test.note, by_unit.why(test.pvalue)
    return ModelsAnswer(
        gap.a,
        gap.b,
        gap.estimate,
        gap.low,
        gap.high,
        gap.method,
        gap.design_effect,
        test.pvalue,
        test.method,
        p_a_better,
        p_b_better,
        "; ".join(note for note in said if note) or None,
        null=test.null,
        posterior=posterior,
        p_unit=by_unit.pvalue,
        standard_error=by_unit.standard_error,
        degrees_of_freedom=by_unit.degrees_of_freedom,
    )


def compare_runs(
    a: Sequence[Counts],
    b: Sequence[Counts],
    metric: str = "f1",
    *,
    level: float = 0.95,
    beta: float = 1.0,
    prior: float = 1.0,
    paired_runs: bool = False,
    cases: PairedCounts | None = None,
    rng: RNG | None = None,
    null: bool = False,
) -> RunsDifference:
    """Compare two systems with several runs each, B minus A."""
    one_of("metric", metric, METRICS)
    beta = positive("beta", beta) if TABLE[metric].depends_on_beta else 1.0
    _check(a, b)
    score = PooledScore.of_counts([*a, *b], metric, beta=beta, prior=prior)
    places = range(len(a)), range(len(a), len(a) + len(b))
    if cases is not None:
        pooled = score.pooled(places)
        _check_cases(cases, pooled.exchanged(0, 1))
        score = replace(score, cases_of_runs=lambda _a, _b: cases)
    return compare_runs_of(score, *places, level=level, paired_runs=paired_runs, rng=rng, null=null)


def _check(a: Sequence[Counts], b: Sequence[Counts]) -> None:
    """Refuse runs that are missing or differ in shape, units, gold or the presence of tn."""
    for name, runs in (("a", a), ("b", b)):
        if not runs:
            raise InputError(f"{name}: no runs; expected one at least")
        for k, counts in enumerate(runs):
            if len(counts_of(f"{name}[{k}]", counts).shape) != 1:
                raise InputError(
                    f"{name}[{k}]: counts of shape {counts.shape}; expected one row per unit "
                    f"(macro averages of several runs are not supported)"
                )
    first = a[0]
    for name, runs in (("a", a), ("b", b)):
        for k, counts in enumerate(runs):
            if counts.shape != first.shape:
                raise InputError(
                    f"{name}[{k}]: {len(counts)} units, but a[0] has {len(first)}; expected the "
                    f"same units in all runs"
                )
            if (counts.tn is None) != (first.tn is None):
                raise InputError(f"{name}[{k}]: some runs have tn and others have not")
            _check_answer(f"{name}[{k}]", counts, first)


def _check_answer(name: str, counts: Counts, first: Counts) -> None:
    """Refuse counts of another gold: positives and negatives per unit must be those of a[0]."""
    sides: list[tuple[str, Any, Any]] = [("found", counts.positives, first.positives)]
    if counts.tn is not None and first.tn is not None:
        sides.append(("left alone", counts.fp + counts.tn, first.fp + first.tn))
    for what, own, others in sides:
        unlike = np.flatnonzero(own != others)
        if unlike.size:
            i = int(unlike[0])
            raise InputError(
                f"{name}: {own[i]:g} items to be {what} in unit {i}, but a[0] has {others[i]:g}; "
                "expected the same gold in all runs"
            )


def _check_cases(cases: PairedCounts, exchanged: PairedCounts) -> None:
    """Refuse cases that do not add up to the counts of the runs."""
    given, expected = paired_of("cases", cases).total(), exchanged.total()
    for system in "ab":
        for cell in ("tp", "fp", "fn"):
            own, of_runs = (float(getattr(getattr(c, system), cell)) for c in (given, expected))
            if not math.isclose(own, of_runs, rel_tol=1e-9, abs_tol=1e-6):
                raise InputError(
                    f"cases: {cell} {own:g} of {system.upper()}, but its runs have {of_runs:g}; "
                    f"expected the cases of all pairs of runs"
                )
