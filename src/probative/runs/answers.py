"""From what two questions were answered to what a comparison says of each."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from probative._validation import flag, fraction, one_of, open_probability
from probative.errors import InputError
from probative.inference.multiplicity import adjust_pvalues
from probative.inference.run_scores import compare_run_scores
from probative.inference.student_posterior import StudentPosterior
from probative.results import Comparison, Comparisons, LabelDifference, Scores
from probative.scoring.basis import AVERAGES
from probative.wording.runs import runs_verdict
from probative.wording.verdict import no_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.options import CompareOptions
    from probative.results import ModelsAnswer, ProceduresAnswer, RunsDifference

__all__ = [
    "adjust_answers",
    "answer_both",
    "check_options",
    "check_pairs",
    "sign_answers",
    "with_verdicts",
    "without_claims",
]


def answer_both(
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
    """No probabilities where there is no evidence: a prior alone would seem to know something."""
    if no_verdict(c) is None:
        return c
    return replace(c, p_a_better=math.nan, p_equivalent=math.nan, p_b_better=math.nan)


def adjust_answers(answers: list[list[Comparison]]) -> list[list[Comparison]]:
    """The same with p-values that allow for the number of pairs, each question for itself."""
    every = [c for both in answers for c in both]
    questions = dict.fromkeys(c.question for c in every)
    values = {q: [c.p_decision for c in every if c.question == q] for q in questions}
    adjusted = {q: iter(adjust_pvalues(own).tolist()) for q, own in values.items()}
    return [[replace(c, p_adjusted=next(adjusted[c.question])) for c in both] for both in answers]


def check_options(options: CompareOptions) -> None:
    """Refuse choices that there are not, or that several runs do not have."""
    open_probability("level", options.level)
    fraction("rope", options.rope)
    open_probability("power", options.power)
    flag("paired_runs", options.paired_runs)
    if one_of("average", options.average, AVERAGES) == "macro":
        raise InputError(
            "average: macro averages of several runs have no limits yet; expected 'micro'"
        )


def check_pairs(a: str, runs_a: int, b: str, runs_b: int, options: CompareOptions) -> None:
    """Refuse to pair different numbers of runs."""
    if options.paired_runs and runs_a != runs_b:
        raise InputError(
            f"paired_runs: {runs_a} runs of {a}, but {runs_b} of {b}; expected as many"
        )


def sign_answers(
    facts: Sequence[str], options: CompareOptions, comparisons: Sequence[Comparison]
) -> str:
    """The signature of a comparison of runs: what was done, and every choice."""
    first = comparisons[0]
    kinds = dict.fromkeys(c.posterior.kind for c in comparisons)
    return options.signature(
        *facts,
        ",".join(dict.fromkeys(c.metric for c in comparisons)),
        ",".join(dict.fromkeys(c.method for c in comparisons)),
        f"{first.test}-by-{first.by}",
        f"{','.join(kinds)}-posterior",
    )


def with_verdicts(
    scores: Scores,
    comparisons: Sequence[Comparison],
    pairs: Sequence[tuple[str, str]],
    signature: str,
) -> Comparisons:
    """Everything together, with a verdict per pair on the first metric."""
    result = Comparisons(
        **{field.name: getattr(scores, field.name) for field in fields(scores)},
        comparisons=tuple(comparisons),
    )
    main = [c for c in comparisons if c.metric == comparisons[0].metric]
    verdicts = tuple(runs_verdict(result, a, b, main) for a, b in pairs)
    return replace(result, verdicts=verdicts, signature=signature)
