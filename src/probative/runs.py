"""Systems with several runs: do these models differ, and would new runs?"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import flag, fraction, one_of, open_probability, random_generator
from probative.errors import InputError
from probative.evaluation import (
    AVERAGES,
    ONE_RUN,
    compared_metrics,
    facts_of_reading,
    scored_as,
    scores_of,
    signed_runs,
    unit_of_runs,
)
from probative.inference.differences import difference
from probative.inference.multiplicity import adjust_pvalues
from probative.inference.runs import compare_runs, pool_cases
from probative.inference.student_posterior import StudentPosterior
from probative.matching.cases import cases_by
from probative.matching.pooled import cases_of_runs, counts_of_runs
from probative.metrics import label_metric
from probative.options import CompareOptions, ScoreOptions
from probative.reading.runs import numbered_siblings
from probative.results import Comparison, Comparisons, LabelDifference
from probative.wording.runs import runs_verdict
from probative.wording.verdict import no_verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probative.counts import PairedCounts
    from probative.matching.matched import Matched, RunGroup
    from probative.results import ModelsAnswer, ProceduresAnswer, RunsDifference

__all__ = ["compare_groups", "hints_of_runs", "with_one_run"]


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
    matched: Matched, options: CompareOptions, *, figures: bool = False
) -> Comparisons:
    """Compare systems of which at least one has several runs.

    Parameters
    ----------
    matched
        What has been gathered, with the runs of every system.
    options
        The choices, as for `compare`.
    figures
        Whether to keep the null distributions, for their figures.
    """
    _check_options(options)
    unit = unit_of_runs(matched, options.by)
    metrics = compared_metrics(matched, options.metric, options.average)
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
            answers = _adjusted(answers)
        comparisons += (one for both in answers for one in both)
    scores = scores_of(
        matched,
        ScoreOptions(level=options.level, by=options.by, beta=options.beta),
        also=[c.metric for c in comparisons],
    )
    scores = replace(
        scores,
        notes=(*scores.notes, *hints_of_runs(matched)),
        signature=_signature(matched, options, comparisons),
    )
    result = Comparisons(
        **{field.name: getattr(scores, field.name) for field in fields(scores)},
        comparisons=tuple(comparisons),
    )
    main = [c for c in comparisons if c.metric == comparisons[0].metric]
    return replace(
        result, verdicts=tuple(runs_verdict(result, a.name, b.name, main) for a, b in pairs)
    )


def _check_options(options: CompareOptions) -> None:
    open_probability("level", options.level)
    fraction("rope", options.rope)
    open_probability("power", options.power)
    flag("paired_runs", options.paired_runs)
    if one_of("average", options.average, AVERAGES) == "macro":
        raise InputError(
            "average: macro averages of several runs have no limits yet; expected 'micro'"
        )


def _signature(matched: Matched, options: CompareOptions, comparisons: Sequence[Comparison]) -> str:
    first = comparisons[0]
    kinds = dict.fromkeys(c.posterior.kind for c in comparisons)
    return options.signature(
        *facts_of_reading(matched, options),
        ",".join(dict.fromkeys(c.metric for c in comparisons)),
        ",".join(dict.fromkeys(c.method for c in comparisons)),
        f"{first.test}-by-{first.by}",
        f"{','.join(kinds)}-posterior",
        signed_runs(matched),
    )


def _answers(
    matched: Matched, a: RunGroup, b: RunGroup, metric: str, choices: _Choices
) -> list[Comparison]:
    """What is known of one pair: of its models, and of how they were trained."""
    unit, options = choices.unit, choices.options
    if options.paired_runs and len(a.places) != len(b.places):
        raise InputError(
            f"paired_runs: {len(a.places)} runs of {a.name}, but {len(b.places)} of {b.name}; "
            f"expected as many"
        )
    cases = pool_cases(cases_of_runs(matched, a, b, unit), len(a.places), len(b.places))
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
    says = matched.items.says
    positives = int(np.count_nonzero(matched.items.answer))
    common = {
        "a": a.name,
        "b": b.name,
        "metric": metric,
        "positives": positives,
        "identical": bool(np.array_equal(says[list(a.places)], says[list(b.places)])),
        "observed_units": cases.n_units,
        "pairs": tuple(zip(a.runs, b.runs, strict=True)) if options.paired_runs else None,
    }
    by_label = _by_label(matched, a, b, label_metric(metric), choices)
    return _comparisons(answer, common, options, unit, by_label)


def _comparisons(
    answer: RunsDifference,
    common: dict[str, Any],
    options: CompareOptions,
    unit: str,
    by_label: tuple[LabelDifference, ...] = (),
) -> list[Comparison]:
    """The answers to both questions, or to the one that has an answer."""
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
        both.append(_of_procedures(answer.procedures, common, unit))
    return [_without_claims(c) for c in both]


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


def _of_procedures(answer: ProceduresAnswer, common: dict[str, Any], unit: str) -> Comparison:
    posterior = StudentPosterior(answer.estimate, answer.standard_error, answer.degrees_of_freedom)
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


def _without_claims(c: Comparison) -> Comparison:
    """No probabilities where there is no evidence."""
    if no_verdict(c) is None:
        return c
    return replace(c, p_a_better=math.nan, p_equivalent=math.nan, p_b_better=math.nan)


def _adjusted(answers: list[list[Comparison]]) -> list[list[Comparison]]:
    """The same with p-values that allow for the number of pairs, each question for itself."""
    adjusted: dict[int, float] = {}
    for question in ("models", "procedures"):
        own = [c for both in answers for c in both if c.question == question]
        values = adjust_pvalues([c.pvalue for c in own]).tolist() if own else []
        adjusted |= {id(c): p for c, p in zip(own, values, strict=True)}
    return [[replace(c, p_adjusted=adjusted[id(c)]) for c in both] for both in answers]


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


# --- what to look out for ---------------------------------------------------------------------


def hints_of_runs(matched: Matched) -> list[str]:
    """What may be wrong with the choice of runs; each is a hint and changes no number."""
    hints = []
    for group in matched.runs:
        hints += _twins(matched, group)
        if len(group.places) == 1:
            hints += _picked(group.name, group.files[0])
    return hints


def _twins(matched: Matched, group: RunGroup) -> list[str]:
    """Runs of a system that gave identical outputs."""
    seen: dict[bytes, str] = {}
    hints = []
    for place, run in zip(group.places, group.runs, strict=True):
        first = seen.setdefault(np.packbits(matched.items.says[place]).tobytes(), run)
        if first != run:
            hints.append(
                f"{group.name}: {first} and {run} gave identical outputs; were they trained apart?"
            )
    return hints


def _picked(name: str, file: str | None) -> list[str]:
    """Signs that one run was picked from several."""
    if file is None:
        return []
    siblings = numbered_siblings(file)
    if siblings:
        hint = (
            f"{name}: {file} is one run, and {siblings} more beside it differ from its name by a "
            f"number alone; if these are runs, give all of them: one that was picked tells less"
        )
    elif "best" in file.lower():
        hint = (
            f"{name}: {file} is called best; the best of several runs scores higher than a new run "
            f"would: give all of them"
        )
    else:
        return []
    return [hint]
