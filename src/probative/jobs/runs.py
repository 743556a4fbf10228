"""Compare systems that have several runs.

Two questions are answered: do these trained models differ (models), and would new runs of the
training procedures differ (procedures)?
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import names_of, shown
from probative.counts import Counts
from probative.errors import InputError
from probative.inference.compare import Choices, compare_runs_of
from probative.inference.groups import adjust_pvalues
from probative.inference.intervals import interval
from probative.inference.pooled import PooledScore
from probative.jobs.score import signed_runs
from probative.matching.outputs import RunGroup
from probative.metrics import NEEDS_TN, PRF
from probative.metrics import score as score_of
from probative.reading.runs import numbered_siblings
from probative.results import Comparison, Comparisons, RunScores, Scores, SystemScores
from probative.wording.verdict import no_verdict, runs_verdict, verdict

if TYPE_CHECKING:
    from probative.inference.scores import Score
    from probative.matching.matched import Matched
    from probative.options import CompareOptions, ReadingOptions
    from probative.results import BucketDifference


# --- From comparisons to a result


def without_claims(c: Comparison) -> Comparison:
    """Remove the probabilities if there is no evidence: they would show the prior alone."""
    if no_verdict(c) is None:
        return c
    return replace(c, p_a_better=math.nan, p_equivalent=math.nan, p_b_better=math.nan)


def pairs_of(
    systems: Sequence[RunGroup], options: CompareOptions
) -> list[tuple[RunGroup, RunGroup]]:
    """Return the pairs to compare: each system with the first, or all."""
    if len(systems) < 2:
        raise InputError(f"b: {len(systems)} system; expected at least two to compare")
    every = list(combinations(systems, 2))
    return every if options.all_pairs else every[: len(systems) - 1]


def answers_on(
    score: Score, a: RunGroup, b: RunGroup, options: CompareOptions, choices: Choices, **facts: Any
) -> list[Comparison]:
    """Compare the models of a pair, and the procedures; `facts` are fields without statistics."""
    by_label = facts.pop("by_label", ())
    found = compare_runs_of(
        *(score, a.places, b.places, (a.name, b.name), choices),
        paired_runs=options.paired_runs,
        rng=options.rng,
    )
    found = found._replace(models=replace(found.models, by_label=by_label))
    return [without_claims(replace(c, **facts)) for c in found if c is not None]


def can_be_tested(c: Comparison) -> bool:
    """Return True if the test of a comparison could have found a difference."""
    one_unit = c.observed_units is not None and c.observed_units < 2
    nothing = c.positives == 0 and c.metric.removeprefix("macro_") not in NEEDS_TN
    return not (c.identical or nothing or one_unit)


def adjust_answers(every: Sequence[Comparison], *, in_groups: bool = False) -> list[Comparison]:
    """Adjust the p-values for their number, separately for each metric and question."""
    # in groups, tests that cannot reject do not count
    families: dict[tuple[str, str | None], list[int]] = {}
    for place, c in enumerate(every):
        if not in_groups or can_be_tested(c):
            families.setdefault((c.metric, c.question), []).append(place)
    adjusted = [replace(c, p_adjusted=1.0, p_bh=1.0 if in_groups else None) for c in every]
    for places in families.values():
        tests = [every[place].p_decision for place in places]
        holm, bh = adjust_pvalues(tests), adjust_pvalues(tests, "benjamini-hochberg")
        for place, p, q in zip(places, holm.tolist(), bh.tolist(), strict=True):
            adjusted[place] = replace(every[place], p_adjusted=p, p_bh=q if in_groups else None)
    return adjusted


def result_of(
    scores: Scores,
    comparisons: Sequence[Comparison],
    pairs: Sequence[tuple[RunGroup, RunGroup]],
    facts: Sequence[str],
    options: CompareOptions,
    others: tuple[BucketDifference, ...] | None = None,
) -> Comparisons:
    """Return the result: comparisons with adjusted p-values, a signature, a verdict per pair."""
    if len(scores.systems) > 2:
        comparisons = adjust_answers(comparisons)
    first = comparisons[0]
    judged = comparisons[:1] if first.question is None else comparisons
    signature = options.signature(
        *facts,
        ",".join(dict.fromkeys(c.metric for c in comparisons)),
        ",".join(dict.fromkeys(c.method for c in judged)),
        f"{first.test}-by-{first.by}",
        f"{','.join(dict.fromkeys(c.posterior.kind for c in judged))}-posterior",
    )
    scores = replace(scores, signature=signature)
    result = Comparisons(scores, tuple(comparisons), other_metrics=others)
    # the verdicts are on the first metric
    main = [c for c in comparisons if c.metric == first.metric]
    if first.question is None:
        verdicts = tuple(verdict(c, others or ()) for c in main)
    else:
        verdicts = tuple(runs_verdict(result, a.name, b.name, main) for a, b in pairs)
    return replace(result, verdicts=verdicts)


# --- Counts by run and unit, from any source


def counts_of_runs(
    systems: Mapping[str, Counts | Sequence[Counts]], options: ReadingOptions, *known: str
) -> tuple[list[Counts], list[RunGroup]]:
    """Return the counts of all runs and their systems; refuse choices that are not `known`."""
    for name in sorted(options.changed() - {*known}):
        raise InputError(f"{name}: does not apply to counts; leave it out")
    if not systems:
        raise InputError("systems: none; expected at least one")
    every: list[Counts] = []
    groups, first = [], None
    for name, own in systems.items():
        runs: list[Any] = list(own) if isinstance(own, (list, tuple)) else [own]
        if not all(isinstance(counts, Counts) for counts in runs):
            raise InputError(f"{name}: {shown(own)}; expected Counts, one row per unit")
        if not runs:
            raise InputError(f"{name}: no runs; expected one at least")
        called = tuple(f"run {number}" for number in range(1, len(runs) + 1))
        groups.append(RunGroup(str(name), tuple(range(len(every), len(every) + len(runs))), called))
        every += runs
        for counts, run in zip(runs, called, strict=True):
            here = f"{name}, {run}" if len(runs) > 1 else str(name)
            if len(counts.shape) != 1:
                raise InputError(f"{here}: shape {counts.shape}; expected one row per unit")
            first = first or here
            _check_same_answer(first, every[0], here, counts)
    return every, groups


def _check_same_answer(first: str, one: Counts, name: str, other: Counts) -> None:
    """Refuse counts that cannot come from the same gold."""
    if len(one) != len(other):
        raise InputError(f"{name}: {len(other)} units, but {first} has {len(one)}")
    if (one.tn is None) != (other.tn is None):
        raise InputError(f"{name}: tn is there for some systems only; expected all or none")
    sides: list[tuple[str, Any, Any]] = [("positives", one.positives, other.positives)]
    if one.tn is not None and other.tn is not None:
        sides.append(("negatives", one.fp + one.tn, other.fp + other.tn))
    for what, here, there in sides:
        wrong = np.flatnonzero(np.asarray(here) != np.asarray(there))
        if len(wrong):
            unit = wrong[0]
            raise InputError(
                f"{name}: {there[unit]:g} {what} in unit {unit + 1}, but {first} has "
                f"{here[unit]:g}; expected counts against the same gold"
            )


def scores_of_counts(
    every: Sequence[Counts], groups: Sequence[RunGroup], options: Any, metrics: Sequence[str]
) -> Scores:
    """Score systems from their counts by run and unit, in `metrics` and the usual ones."""
    wanted, beta = dict.fromkeys((*PRF, *metrics)), options.beta
    scored, of_runs = [], []
    for group in groups:
        runs = [every[place] for place in group.places]
        pooled = sum(runs[1:], start=runs[0])
        how: Any = {"level": options.level, "beta": beta, "clustered": True}
        limits = tuple(interval(pooled, metric, **how) for metric in wanted)
        scored.append(SystemScores(group.name, pooled.sum(), limits))
        for metric in wanted:
            values = [score_of(own.sum(), metric, beta=beta) for own in runs]
            of_runs.append(RunScores.of(group.name, metric, group.runs, values))
    sizes = options.level, len(every[0]), "unit"
    return Scores("counts", tuple(scored), *sizes, by="unit", run_scores=tuple(of_runs))


# --- Hints that runs may be badly chosen; they change no number

# as a separate word, as in best.conll and run-best-3.conll
_BEST = re.compile(r"(?<![a-z])best(?![a-z])", re.IGNORECASE)


def hints_of_runs(matched: Matched) -> list[str]:
    """Return hints that the runs may be badly chosen: identical, or picked as the best."""
    hints = []
    for group in matched.runs:
        hints += _twins(matched, group)
        if len(group.places) == 1 and group.files[0] is not None:
            hints += _picked(group.name, group.files[0])
    return hints


def hints_of_files(systems: Sequence[object]) -> list[str]:
    """Return hints that files of a plain comparison are the best, or one, of several runs."""
    files = [str(system) for system in systems if isinstance(system, (str, Path))]
    # files of one folder that differ by a number are usually systems of a shared task
    apart = len({Path(file).parent for file in files}) == len(files) > 1
    return [
        hint
        for file in files
        for hint in _picked(file, file)
        if apart or _BEST.search(Path(file).name)
    ]


def _twins(matched: Matched, group: RunGroup) -> list[str]:
    """Return a hint for each run that gave the same output as an earlier run of its system."""
    seen: dict[bytes, tuple[int, str]] = {}
    hints = []
    for place, run in zip(group.places, group.runs, strict=True):
        own = matched.items.says[place].tobytes()
        first, first_run = seen.setdefault(own, (place, run))
        if first != place and matched.gave_the_same(first, place):
            hints.append(
                f"{group.name}: {first_run} and {run} gave identical outputs; were they trained "
                f"apart?"
            )
    return hints


def _picked(name: str, file: str) -> list[str]:
    """Return a hint if the name of a file suggests that it was picked from several runs."""
    head = "" if name == file else f"{name}: "
    siblings, hint = numbered_siblings(file), ""
    if _BEST.search(Path(file).name):
        hint = (
            "is called best; if it is the best of several runs, it scores higher than a new run "
            "would: give all of them"
        )
    elif siblings:
        hint = (
            f"is one file, and {siblings} more beside it differ from its name by a number alone; "
            f"if these are runs, give all of them: a picked one shows less"
        )
    return [f"{head}{file} {hint}"] if hint else []


# --- Systems from counts alone


def compare_counts(
    systems: Mapping[str, Any], options: CompareOptions, *, figures: bool
) -> Comparisons:
    """Compare systems from the counts of each run, one row per unit."""
    numbers = ("metric", "level", "rope", "beta", "prior", "power", "rng")
    runs, groups = counts_of_runs(systems, options, *numbers, "all_pairs", "paired_runs")
    asked = options.metric or "f1"
    metrics = tuple(dict.fromkeys([asked] if isinstance(asked, str) else names_of("metric", asked)))
    choices = Choices.of(options, "unit", figures=figures)
    pairs = pairs_of(groups, options)
    positives = int(np.sum(runs[0].positives))
    comparisons: list[Comparison] = []
    for metric in metrics:
        score = PooledScore.of_counts(runs, metric, beta=options.beta, prior=options.prior)
        for a, b in pairs:
            comparisons += answers_on(score, a, b, options, choices, positives=positives)
    scores = scores_of_counts(runs, groups, options, metrics)
    return result_of(scores, comparisons, pairs, ("counts", signed_runs(groups)), options)
