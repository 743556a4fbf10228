"""Compare two systems in any kind of score: difference, test, posterior, sample size, runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from probative._validation import RNG, flag, fraction, open_probability, random_generator
from probative.errors import InputError
from probative.inference.runs import compare_procedures, compare_run_scores, why_no_procedures

if TYPE_CHECKING:
    import numpy as np

    from probative.inference.scores import PairScore, Score
    from probative.options import CompareOptions
    from probative.results import Comparison, RandomizationTest


@dataclass(frozen=True)
class Choices:
    """Choices shared by all pairs of a comparison."""

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
    score: PairScore, pairs: Sequence[tuple[int, int]], names: Sequence[str], choices: Choices
) -> Iterator[Comparison]:
    """Compare pairs of systems, the baseline first; their tests may be drawn together."""
    tests = score.tests(
        pairs, level=choices.level, rng=choices.generator, null=choices.figures, n_jobs=-1
    )
    for (i, j), test in zip(pairs, tests, strict=True):
        found = _compare_pair(score, i, j, test, (names[i], names[j]), choices)
        needed = score.plan(i, j, power=choices.power, level=choices.level)
        if needed is None:
            yield found
        else:
            yield replace(found, units_needed=needed.units, observed_units=needed.observed_units)


def _compare_pair(
    score: PairScore,
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
    by_unit = score.unit_test(i, j)
    said: tuple[str | None, ...] = score.note(test), gap.note
    if score.approximate is None:
        said = gap.note, test.note, by_unit.why(test.pvalue, names, choices.unit)
    extra: dict[str, Any] = {}
    if choices.in_group:
        extra["standard_error"] = by_unit.standard_error
        extra["degrees_of_freedom"] = by_unit.degrees_of_freedom
    return score.comparison(
        i,
        j,
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


class _RunsCompared(NamedTuple):
    """Comparisons of two systems with several runs each."""

    models: Comparison
    procedures: Comparison | None


def compare_runs_of(
    score: Score,
    a: Sequence[int],
    b: Sequence[int],
    names: tuple[str, str],
    choices: Choices,
    *,
    paired_runs: bool = False,
    rng: RNG | None = 0,
) -> _RunsCompared:
    """Compare two systems whose runs are rows of a score; `rng` is for tests of run scores."""
    runs = {names[0]: len(a), names[1]: len(b)}
    if flag("paired_runs", paired_runs) and len(a) != len(b):
        both = f"{len(a)} runs of {names[0]}, but {len(b)} of {names[1]}"
        raise InputError(f"paired_runs: {both}; expected the same number")
    pooled = score.pooled([a, b])
    (test,) = pooled.tests(
        [(0, 1)], level=choices.level, rng=choices.generator, null=choices.figures
    )
    alone = _compare_pair(pooled, 0, 1, test, names, choices)
    models = replace(alone, question="models", runs=runs, observed_units=score.observed_units)
    sides = score.runs(a), score.runs(b)
    reason = why_no_procedures(*sides, paired_runs)
    if reason is not None:
        note = reason if models.note is None else f"{models.note}; {reason}"
        return _RunsCompared(replace(models, note=note), None)
    tests = compare_run_scores(
        sides[0].scores, sides[1].scores, paired_runs=paired_runs, level=choices.level, rng=rng
    )
    procedures = compare_procedures(*sides, models, paired_runs, score.most)
    return _RunsCompared(models, replace(procedures, companions=tests))
