"""Systems with several runs: do these models differ, and would new runs?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import names_of, random_generator
from probative.errors import InputError
from probative.evaluation import ONE_RUN, scores_of
from probative.inference.confusion_runs import compare_table_runs
from probative.inference.differences import difference
from probative.inference.runs import compare_runs, pool_cases
from probative.matching.cases import cases_by
from probative.matching.pooled import cases_of_runs, counts_of_runs, pool_runs
from probative.metrics import label_metric
from probative.options import CompareOptions, ScoreOptions
from probative.results import Bucket, Comparison, Comparisons, LabelDifference
from probative.runs.answers import (
    adjust_answers,
    answer_both,
    check_options,
    check_pairs,
    sign_answers,
    with_verdicts,
)
from probative.runs.counting import counts_by_system, refuse_all_but, scores_of_counts
from probative.runs.hints import hints_of_runs
from probative.scoring.basis import (
    compared_metrics,
    facts_of_reading,
    is_of_classes,
    match_of,
    scored_as,
    signed_runs,
    unit_of_runs,
)
from probative.scoring.classes import confused_runs
from probative.scoring.intervals import intervals_of
from probative.scoring.kinds import find_buckets, make_bucket

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from probative.counts import PairedCounts
    from probative.matching.matched import Matched
    from probative.matching.outputs import RunGroup

__all__ = ["compare_counts", "compare_groups", "with_one_run"]


@dataclass(frozen=True)
class _Choices:
    """What all pairs of a comparison have in common."""

    unit: str
    options: CompareOptions
    generator: np.random.Generator
    figures: bool

    @property
    def how(self) -> dict[str, Any]:
        """The score and its limits."""
        return {"level": self.options.level, "beta": self.options.beta}


def compare_groups(
    matched: Matched, options: CompareOptions, *, figures: bool = False, buckets: bool = False
) -> Comparisons:
    """Compare systems of which at least one has several runs.

    Parameters
    ----------
    matched
        What has been gathered, with the runs of every system.
    options
        The choices, as for `compare`.
    figures, buckets
        Whether to keep the null distributions, for their figures; whether to score items of
        different kinds apart.
    """
    check_options(options)
    unit = unit_of_runs(matched, options.by)
    metrics = compared_metrics(matched, options.metric, options.average, tables=True)
    choices = _Choices(unit, options, random_generator(options.rng), figures)
    groups = matched.runs
    pairs = (
        list(combinations(groups, 2))
        if options.all_pairs
        else [(groups[0], group) for group in groups[1:]]
    )
    comparisons: list[Comparison] = []
    for metric in metrics:
        answers = [_answers(matched, a, b, metric, choices) for a, b in pairs]
        if len(groups) > 2:
            answers = adjust_answers(answers)
        comparisons += (one for both in answers for one in both)
    scores = scores_of(
        matched,
        ScoreOptions(level=options.level, by=options.by, beta=options.beta),
        also=[c.metric for c in comparisons],
    )
    scores = replace(scores, notes=(*scores.notes, *hints_of_runs(matched)))
    facts = (*facts_of_reading(matched, options), signed_runs(matched))
    named = [(a.name, b.name) for a, b in pairs]
    result = with_verdicts(scores, comparisons, named, sign_answers(facts, options, comparisons))
    if not buckets and options.train is None:
        return result
    make = partial(_bucket_of_runs, pairs=pairs, choices=choices)
    return replace(result, buckets=find_buckets(matched, metrics[0], options, make))


def compare_counts(
    systems: Mapping[str, Any], options: CompareOptions, *, figures: bool
) -> Comparisons:
    """Compare systems of which only the counts by run and unit are known.

    Parameters
    ----------
    systems
        The `Counts` of each run, one row per unit, the same units in all; by system.
    options, figures
        As for `compare_groups`.
    """
    refuse_all_but(
        options,
        "metric",
        "level",
        "rope",
        "beta",
        "prior",
        "power",
        "all_pairs",
        "paired_runs",
        "rng",
    )
    check_options(options)
    by_system = counts_by_system(systems)
    if len(by_system) < 2:
        raise InputError(f"b: {len(by_system)} system; expected at least two to compare")
    asked = options.metric or "f1"
    metrics = (asked,) if isinstance(asked, str) else names_of("metric", asked)
    generator = random_generator(options.rng)
    names = list(by_system)
    pairs = (
        list(combinations(names, 2)) if options.all_pairs else [(names[0], b) for b in names[1:]]
    )
    comparisons: list[Comparison] = []
    for metric in metrics:
        answers = []
        for a, b in pairs:
            check_pairs(a, len(by_system[a]), b, len(by_system[b]), options)
            answer = compare_runs(
                by_system[a],
                by_system[b],
                metric,
                level=options.level,
                beta=options.beta,
                prior=options.prior,
                paired_runs=options.paired_runs,
                rng=generator,
                null=figures,
            )
            first = by_system[a][0]
            common = {
                "a": a,
                "b": b,
                "metric": metric,
                "positives": int(np.sum(first.positives)),
                "observed_units": len(first),
            }
            answers.append(answer_both(answer, common, options, "unit"))
        comparisons += (
            c for both in (adjust_answers(answers) if len(names) > 2 else answers) for c in both
        )
    scores = scores_of_counts(by_system, options.level, options.beta, metrics)
    facts = ("counts", f"runs:{','.join(str(len(own)) for own in by_system.values())}")
    return with_verdicts(scores, comparisons, pairs, sign_answers(facts, options, comparisons))


def _answers(
    matched: Matched, a: RunGroup, b: RunGroup, metric: str, choices: _Choices
) -> list[Comparison]:
    """What is known of one pair: of its models, and of how they were trained."""
    unit, options = choices.unit, choices.options
    check_pairs(a.name, len(a.places), b.name, len(b.places), options)
    cases = pool_cases(cases_of_runs(matched, a, b, unit), len(a.places), len(b.places))
    if is_of_classes(matched, metric):
        answer = compare_table_runs(
            confused_runs(matched, a, unit),
            confused_runs(matched, b, unit),
            metric,
            level=options.level,
            paired_runs=options.paired_runs,
            rng=choices.generator,
        )
    else:
        answer = compare_runs(
            counts_of_runs(matched, a, unit),
            counts_of_runs(matched, b, unit),
            scored_as(matched, metric),
            prior=options.prior,
            paired_runs=options.paired_runs,
            cases=cases,
            rng=choices.generator,
            null=choices.figures,
            **choices.how,
        )
    positives = matched.items.positives
    common = {
        "a": a.name,
        "b": b.name,
        "metric": metric,
        "positives": positives,
        "match": match_of(matched),
        "identical": len(a.places) == len(b.places)
        and all(map(matched.gave_the_same, a.places, b.places)),
        "observed_units": cases.n_units,
        "pairs": tuple(zip(a.runs, b.runs, strict=True)) if options.paired_runs else None,
    }
    by_label = _by_label(matched, a, b, label_metric(metric), choices)
    return answer_both(answer, common, options, unit, by_label)


def _by_label(
    matched: Matched, a: RunGroup, b: RunGroup, metric: str, choices: _Choices
) -> tuple[LabelDifference, ...]:
    """The differences of these models on every label."""
    items = matched.items
    used = np.any([items.uses(place) for place in (*a.places, *b.places)], axis=0)
    if np.count_nonzero(used) < 2:
        return ()
    rows = "datum" if choices.unit == "item" else choices.unit
    differences = []
    for label, alone, use in zip(items.labels, items.by_label, used.tolist(), strict=True):
        if not use:
            continue
        tables: Iterable[PairedCounts] = (
            cases_by(alone, i, j, rows) for i in a.places for j in b.places
        )
        paired = pool_cases(tables, len(a.places), len(b.places)).grouped()
        gap = difference(paired, metric, **choices.how)
        differences.append(LabelDifference(label, gap.a, gap.b, gap.estimate, gap.low, gap.high))
    return tuple(differences)


def _bucket_of_runs(
    part: Matched,
    metric: str,
    kind: str,
    name: str,
    *,
    pairs: Sequence[tuple[RunGroup, RunGroup]],
    choices: _Choices,
) -> Bucket:
    """What these models score on items of one kind."""
    scored, unit = scored_as(part, metric), choices.unit
    usual = ScoreOptions(metric=metric, by="unit" if unit == "item" else unit, **choices.how)
    scores = [(g.name, intervals_of(pool_runs(part, g), usual)[0]) for g in part.runs]
    differences = []
    for a, b in pairs:
        cases = pool_cases(cases_of_runs(part, a, b, unit), len(a.places), len(b.places))
        differences.append((a.name, b.name, difference(cases.grouped(), scored, **choices.how)))
    return make_bucket(part, kind, name, unit, scores, differences, metric)


def with_one_run(matched: Matched, plain: Comparisons) -> Comparisons:
    """A plain comparison of systems that were given as runs, one each: it is about models alone.

    Parameters
    ----------
    matched
        What has been gathered.
    plain
        The comparison.
    """
    comparisons = tuple(
        replace(c, question="models", runs={c.a: 1, c.b: 1}) for c in plain.comparisons
    )
    unanswered = "Whether training again would give the same cannot be told from one run each."
    return replace(
        plain,
        comparisons=comparisons,
        verdicts=tuple(f"{words} {unanswered}" for words in plain.verdicts),
        notes=(*plain.notes, ONE_RUN, *hints_of_runs(matched)),
    )
