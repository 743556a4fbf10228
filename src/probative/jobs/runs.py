"""Compare systems that have several runs.

Two questions are answered: do these trained models differ (models), and would new runs of the
training procedures differ (procedures)?
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import (
    flag,
    fraction,
    names_of,
    one_of,
    open_probability,
    random_generator,
    shown,
    whole_number,
)
from probative.counts import Counts
from probative.errors import InputError
from probative.inference.classes import compare_table_runs
from probative.inference.differences import difference
from probative.inference.groups import adjust_pvalues
from probative.inference.intervals import interval
from probative.inference.planning import plan_runs
from probative.inference.posterior.student import StudentPosterior
from probative.inference.runs import compare_run_scores, compare_runs, pool_cases
from probative.jobs.score import (
    AVERAGES,
    ONE_RUN,
    compared_metrics,
    confused_runs,
    facts_of_reading,
    find_buckets,
    intervals_of,
    is_of_classes,
    make_bucket,
    match_of,
    scored_as,
    scores_of,
    signed_runs,
    unit_of_runs,
)
from probative.matching.items import cases_by
from probative.matching.matched import cases_of_runs, counts_of_runs, pool_runs
from probative.metrics import PRF, label_metric
from probative.metrics import score as score_of
from probative.options import CompareOptions, ScoreOptions
from probative.reading.runs import numbered_siblings
from probative.results import (
    Bucket,
    Comparison,
    Comparisons,
    LabelDifference,
    RunScores,
    Scores,
    SystemScores,
)
from probative.wording.verdict import no_verdict, runs_verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from probative.counts import PairedCounts
    from probative.matching.matched import Matched
    from probative.matching.outputs import RunGroup
    from probative.options import PlanOptions, ReadingOptions
    from probative.results import ModelsAnswer, ProceduresAnswer, RunsDifference, RunsPlan


# --- From the answers to both questions to comparisons


def _answer_both(
    answer: RunsDifference,
    common: dict[str, Any],
    options: CompareOptions,
    unit: str,
    by_label: tuple[LabelDifference, ...] = (),
) -> list[Comparison]:
    """Return the comparison of the models and, if there is one, that of the procedures."""
    common = {
        **common,
        "level": options.level,
        "rope": options.rope,
        "power": options.power,
        "p_adjusted": None,
        "runs": {common["a"]: len(answer.scores_a), common["b"]: len(answer.scores_b)},
    }
    both = [_of_models(answer.models, common, unit, by_label, answer.note)]
    if answer.procedures is not None:
        companions = compare_run_scores(
            answer.scores_a,
            answer.scores_b,
            paired_runs=options.paired_runs,
            level=options.level,
            rng=options.rng,
        )
        procedures = _of_procedures(answer.procedures, answer.models, common, unit)
        both.append(replace(procedures, companions=companions))
    return [without_claims(c) for c in both]


def _of_models(
    models: ModelsAnswer,
    common: dict[str, Any],
    unit: str,
    by_label: tuple[LabelDifference, ...],
    note: str | None,
) -> Comparison:
    posterior: Any = models.posterior
    a_better, equivalent, b_better = posterior.probabilities(common["rope"])
    return Comparison(
        **common,
        question="models",
        by=unit,
        difference=models.estimate,
        low=models.low,
        high=models.high,
        method=models.method,
        pvalue=models.pvalue,
        p_unit=models.p_unit,
        test=models.test,
        null=models.null,
        p_a_better=a_better,
        p_equivalent=equivalent,
        p_b_better=b_better,
        posterior=posterior,
        score_a=models.score_a,
        score_b=models.score_b,
        design_effect=models.design_effect,
        by_label=by_label,
        note="; ".join(words for words in (models.note, note) if words) or None,
    )


def _of_procedures(
    answer: ProceduresAnswer, models: ModelsAnswer, common: dict[str, Any], unit: str
) -> Comparison:
    posterior = StudentPosterior(
        answer.estimate, answer.standard_error, answer.degrees_of_freedom, models.posterior
    )
    a_better, equivalent, b_better = posterior.probabilities(common["rope"])
    return Comparison(
        **common,
        question="procedures",
        by=f"{unit} and run",
        difference=answer.estimate,
        low=answer.low,
        high=answer.high,
        method="satterthwaite",
        pvalue=answer.pvalue,
        test="student",
        p_a_better=a_better,
        p_equivalent=equivalent,
        p_b_better=b_better,
        posterior=posterior,
        score_a=answer.score_a,
        score_b=answer.score_b,
        design_effect=None,
        note=answer.note,
        variance=answer.parts,
        p_new_run_better=answer.p_new_run_better,
        standard_error=answer.standard_error,
        degrees_of_freedom=answer.degrees_of_freedom,
    )


def without_claims(c: Comparison) -> Comparison:
    """Remove the probabilities if there is no evidence: they would show the prior alone."""
    if no_verdict(c) is None:
        return c
    return replace(c, p_a_better=math.nan, p_equivalent=math.nan, p_b_better=math.nan)


def _adjust_answers(answers: list[list[Comparison]]) -> list[list[Comparison]]:
    """Adjust the p-values for the number of pairs, separately for each question."""
    every = [c for both in answers for c in both]
    questions = dict.fromkeys(c.question for c in every)
    values = {q: [c.p_decision for c in every if c.question == q] for q in questions}
    adjusted = {q: iter(adjust_pvalues(own).tolist()) for q, own in values.items()}
    return [[replace(c, p_adjusted=next(adjusted[c.question])) for c in both] for both in answers]


def _check_options(options: CompareOptions) -> None:
    """Refuse invalid choices, and those that several runs do not support."""
    open_probability("level", options.level)
    fraction("rope", options.rope)
    open_probability("power", options.power)
    flag("paired_runs", options.paired_runs)
    if one_of("average", options.average, AVERAGES) == "macro":
        raise InputError(
            "average: macro averages of several runs have no limits yet; expected 'micro'"
        )


def _check_pairs(a: str, runs_a: int, b: str, runs_b: int, options: CompareOptions) -> None:
    """Refuse to pair different numbers of runs."""
    if options.paired_runs and runs_a != runs_b:
        raise InputError(
            f"paired_runs: {runs_a} runs of {a}, but {runs_b} of {b}; expected as many"
        )


def _sign_answers(
    facts: Sequence[str], options: CompareOptions, comparisons: Sequence[Comparison]
) -> str:
    """Return the signature of a comparison of runs: methods and choices."""
    first = comparisons[0]
    kinds = dict.fromkeys(c.posterior.kind for c in comparisons)
    return options.signature(
        *facts,
        ",".join(dict.fromkeys(c.metric for c in comparisons)),
        ",".join(dict.fromkeys(c.method for c in comparisons)),
        f"{first.test}-by-{first.by}",
        f"{','.join(kinds)}-posterior",
    )


def _with_verdicts(
    scores: Scores,
    comparisons: Sequence[Comparison],
    pairs: Sequence[tuple[str, str]],
    signature: str,
) -> Comparisons:
    """Combine scores and comparisons, with one verdict per pair on the first metric."""
    result = Comparisons(
        **{field.name: getattr(scores, field.name) for field in fields(scores)},
        comparisons=tuple(comparisons),
    )
    main = [c for c in comparisons if c.metric == comparisons[0].metric]
    verdicts = tuple(runs_verdict(result, a, b, main) for a, b in pairs)
    return replace(result, verdicts=verdicts, signature=signature)


# --- Counts by run and unit, from any source


def counts_by_system(
    systems: Mapping[str, Counts | Sequence[Counts]],
) -> dict[str, list[Counts]]:
    """Return the counts of every run by system; refuse different units or gold."""
    if not systems:
        raise InputError("systems: none; expected at least one")
    by_system = {str(name): _as_runs(str(name), own) for name, own in systems.items()}
    first = None
    for name, runs in by_system.items():
        if not runs:
            raise InputError(f"{name}: no runs; expected one at least")
        for number, counts in enumerate(runs, start=1):
            here = f"{name}, run {number}" if len(runs) > 1 else name
            if len(counts.shape) != 1:
                raise InputError(f"{here}: shape {counts.shape}; expected one row per unit")
            first = (here, counts) if first is None else first
            _check_same_answer(*first, here, counts)
    return by_system


def _as_runs(name: str, own: object) -> list[Counts]:
    """Return one or several counts as a list."""
    runs: list[Any] = list(own) if isinstance(own, (list, tuple)) else [own]
    if not all(isinstance(counts, Counts) for counts in runs):
        raise InputError(f"{name}: {shown(own)}; expected Counts, one row per unit")
    return runs


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
                f"{here[unit]:g}; expected counts against the same answer"
            )


def pooled_counts(systems: Sequence[Sequence[Counts]]) -> list[Counts]:
    """Sum the counts of the runs of each system, scaled to the same number of runs."""
    most = math.lcm(*(len(runs) for runs in systems))
    return [sum(runs[1:], start=runs[0]) * (most // len(runs)) for runs in systems]


def scores_of_counts(
    systems: Mapping[str, Sequence[Counts]], level: float, beta: float, metrics: Sequence[str]
) -> Scores:
    """Score systems from their counts by run and unit, in `metrics` and the usual ones."""
    wanted = dict.fromkeys((*PRF, *metrics))
    scored, of_runs = [], []
    for name, runs in systems.items():
        pooled = sum(runs[1:], start=runs[0])
        limits = (interval(pooled, m, level=level, beta=beta, clustered=True) for m in wanted)
        scored.append(SystemScores(name, pooled.sum(), tuple(limits)))
        called = tuple(f"run {k}" for k in range(1, len(runs) + 1))
        for metric in wanted:
            values = [score_of(own.sum(), metric, beta=beta) for own in runs]
            of_runs.append(RunScores.of(name, metric, called, values))
    units = len(next(iter(systems.values()))[0])
    return Scores(
        "counts", tuple(scored), level, units, "unit", by="unit", run_scores=tuple(of_runs)
    )


def refuse_all_but(options: ReadingOptions, *known: str) -> None:
    """Refuse choices that do not apply to counts."""
    usual = type(options)()
    for entry in fields(options):
        if entry.name not in known and getattr(options, entry.name) != getattr(usual, entry.name):
            raise InputError(f"{entry.name}: means nothing for counts; expected it left out")


# --- Hints that runs may be badly chosen; they change no number

# as a separate word, as in best.conll and run-best-3.conll
_BEST = re.compile(r"(?<![a-z])best(?![a-z])", re.IGNORECASE)


def hints_of_runs(matched: Matched) -> list[str]:
    """Return hints that the runs may be badly chosen: identical, or picked as the best."""
    hints = []
    for group in matched.runs:
        hints += _twins(matched, group)
        if len(group.places) == 1:
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
        own = np.packbits(matched.items.says[place]).tobytes()
        first, first_run = seen.setdefault(own, (place, run))
        if first != place and matched.gave_the_same(first, place):
            hints.append(
                f"{group.name}: {first_run} and {run} gave identical outputs; were they trained "
                f"apart?"
            )
    return hints


def _picked(name: str, file: str | None) -> list[str]:
    """Return a hint if the name of a file suggests that it was picked from several runs."""
    if file is None:
        return []
    head = "" if name == file else f"{name}: "
    siblings = numbered_siblings(file)
    if _BEST.search(Path(file).name):
        hint = (
            f"{head}{file} is called best; if it is the best of several runs, it scores higher "
            f"than a new run would: give all of them"
        )
    elif siblings:
        hint = (
            f"{head}{file} is one file, and {siblings} more beside it differ from its name by a "
            f"number alone; if these are runs, give all of them: one that was picked tells less"
        )
    else:
        return []
    return [hint]


# --- Systems with several runs: models and procedures


@dataclass(frozen=True)
class _Choices:
    """Choices shared by all pairs of a comparison."""

    unit: str
    options: CompareOptions
    generator: np.random.Generator
    figures: bool

    @property
    def how(self) -> dict[str, Any]:
        """Return the level of the intervals and the beta of the score."""
        return {"level": self.options.level, "beta": self.options.beta}


def compare_groups(
    matched: Matched, options: CompareOptions, *, figures: bool = False, buckets: bool = False
) -> Comparisons:
    """Compare systems of which at least one has several runs."""
    _check_options(options)
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
            answers = _adjust_answers(answers)
        comparisons += (one for both in answers for one in both)
    scores = scores_of(
        matched,
        ScoreOptions(level=options.level, by=options.by, beta=options.beta),
        also=[c.metric for c in comparisons],
    )
    scores = replace(scores, notes=(*scores.notes, *hints_of_runs(matched)))
    facts = (*facts_of_reading(matched, options), signed_runs(matched))
    named = [(a.name, b.name) for a, b in pairs]
    result = _with_verdicts(scores, comparisons, named, _sign_answers(facts, options, comparisons))
    if not buckets and options.train is None:
        return result
    make = partial(_bucket_of_runs, pairs=pairs, choices=choices)
    return replace(result, buckets=find_buckets(matched, metrics[0], options, make))


def compare_counts(
    systems: Mapping[str, Any], options: CompareOptions, *, figures: bool
) -> Comparisons:
    """Compare systems from the counts of each run, one row per unit."""
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
    _check_options(options)
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
            _check_pairs(a, len(by_system[a]), b, len(by_system[b]), options)
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
            answers.append(_answer_both(answer, common, options, "unit"))
        comparisons += (
            c for both in (_adjust_answers(answers) if len(names) > 2 else answers) for c in both
        )
    scores = scores_of_counts(by_system, options.level, options.beta, metrics)
    facts = ("counts", f"runs:{','.join(str(len(own)) for own in by_system.values())}")
    return _with_verdicts(scores, comparisons, pairs, _sign_answers(facts, options, comparisons))


def _answers(
    matched: Matched, a: RunGroup, b: RunGroup, metric: str, choices: _Choices
) -> list[Comparison]:
    """Compare one pair: its models, and the procedures that trained them."""
    unit, options = choices.unit, choices.options
    _check_pairs(a.name, len(a.places), b.name, len(b.places), options)
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
    return _answer_both(answer, common, options, unit, by_label)


def _by_label(
    matched: Matched, a: RunGroup, b: RunGroup, metric: str, choices: _Choices
) -> tuple[LabelDifference, ...]:
    """Return the differences of these models on every label."""
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
    """Return the bucket of items of one kind, with scores and differences of the models."""
    scored, unit = scored_as(part, metric), choices.unit
    usual = ScoreOptions(metric=metric, by="unit" if unit == "item" else unit, **choices.how)
    scores = [(g.name, intervals_of(pool_runs(part, g), usual)[0]) for g in part.runs]
    differences = []
    for a, b in pairs:
        cases = pool_cases(cases_of_runs(part, a, b, unit), len(a.places), len(b.places))
        differences.append((a.name, b.name, difference(cases.grouped(), scored, **choices.how)))
    return make_bucket(part, kind, name, unit, scores, differences, metric)


def with_one_run(matched: Matched, plain: Comparisons) -> Comparisons:
    """Mark a comparison of single runs as one of models, and add the hints on runs."""
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


# --- Planning: numbers of runs and units


def plan_groups(matched: Matched, options: PlanOptions) -> RunsPlan:
    """Plan the number of runs and units for two systems, from the runs of a pilot."""
    if len(matched.runs) != 2:
        raise InputError(f"systems: {len(matched.runs)} of them; expected two")
    unit = unit_of_runs(matched, options.by)
    (metric,) = compared_metrics(matched, options.metric, "micro", tables=True)
    if is_of_classes(matched, metric):
        items = {group.name: confused_runs(matched, group, unit) for group in matched.runs}
        compare = partial(compare_table_runs, metric=metric)
        result = _plan_of(items, compare, matched.items.units_in_all, options)
    else:
        counts = {group.name: counts_of_runs(matched, group, unit) for group in matched.runs}
        result = _plan_of_counts(counts, scored_as(matched, metric), options)
    facts = (*facts_of_reading(matched, options), signed_runs(matched))
    signature = options.signature("plan", *facts, metric, f"by-{unit}")
    return replace(result, metric=metric, by=unit, notes=matched.notes, signature=signature)


def plan_counts(systems: Mapping[str, Counts | Sequence[Counts]], options: PlanOptions) -> RunsPlan:
    """Plan the number of runs and units from the counts of each run, one row per unit."""
    refuse_all_but(
        options, "metric", "difference", "power", "units", "level", "beta", "paired_runs"
    )
    by_system = counts_by_system(systems)
    if len(by_system) != 2:
        raise InputError(f"systems: {len(by_system)} of them; expected two")
    metric = options.metric or "f1"
    facts = ("counts", f"runs:{','.join(str(len(own)) for own in by_system.values())}")
    signature = options.signature("plan", *facts, metric, "by-unit")
    return replace(_plan_of_counts(by_system, metric, options), signature=signature)


def _plan_of_counts(
    counts: Mapping[str, Sequence[Counts]], metric: str, options: PlanOptions
) -> RunsPlan:
    compare = partial(compare_runs, metric=metric, beta=options.beta)
    return _plan_of(counts, compare, len(next(iter(counts.values()))[0]), options)


def _plan_of(
    systems: Mapping[str, Sequence[Any]],
    compare: Callable[..., RunsDifference],
    n_units: int,
    options: PlanOptions,
) -> RunsPlan:
    """Plan from the runs of two systems and the function that compares them."""
    (name_a, a), (name_b, b) = systems.items()
    for name, runs in systems.items():
        if len(runs) < 2:
            raise InputError(f"{name}: one run, which says nothing about others; expected several")
    if options.paired_runs and len(a) != len(b):
        raise InputError(
            f"paired_runs: {len(a)} runs of {name_a}, but {len(b)} of {name_b}; expected as many"
        )
    level = open_probability("level", options.level)
    pilot = compare(a, b, level=level, paired_runs=options.paired_runs)
    if pilot.procedures is None:
        raise InputError(f"systems: {pilot.note}; expected a pilot that tells how runs vary")
    units = None
    if options.units is not None:
        units = sorted({n_units, whole_number("units", options.units, least=2)})
    return plan_runs(
        pilot,
        difference=options.difference,
        power=0.8 if options.power is None else options.power,
        units=units,
    )
