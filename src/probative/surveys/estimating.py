"""From a design and its annotated units to scores of the whole pool, and a verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import flag, fraction, open_probability, positive
from probative.inference.clusters import design_notes
from probative.inference.multiplicity import adjust_pvalues
from probative.inference.strata import Draw
from probative.metrics import PRF
from probative.options import EstimateOptions
from probative.reading.inputs import is_path
from probative.results import Estimate, EstimatedStratum
from probative.scoring.basis import compared_metrics, facts_of_reading, match_of, scored_as
from probative.surveys.annotated import read_draws, say_what_is_out
from probative.surveys.design import SystemSource, open_design
from probative.surveys.fingerprints import fingerprint
from probative.surveys.pool import outputs_of, read_again
from probative.surveys.projecting import Survey
from probative.wording.estimated import certain_verdict
from probative.wording.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from probative._types import Input, Systems
    from probative.results import EstimatedDifference, EstimatedScore
    from probative.surveys.annotated import Annotated
    from probative.surveys.design import Design
    from probative.surveys.pool import Pool
    from probative.surveys.projecting import Projected

__all__ = ["estimate"]


def estimate(
    design: Design | Path | str,
    annotated: Input,
    *more: Input,
    systems: Systems | Sequence[Input] | None = None,
    judge: Input | None = None,
    scores: Sequence[float] | None = None,
    metric: str | Sequence[str] | None = None,
    population: bool = False,
    level: float = 0.95,
    rope: float = 0.0,
    beta: float = 1.0,
) -> Estimate:
    """Scores of a whole pool, and which system is better there, from the labels of a sample.

    Every labelled unit stands for the units of its stratum that were not drawn. Limits hold for
    the pool: what would come out if all of it were labelled.

    Parameters
    ----------
    design
        What `sample` has made: the design, or the path of its file.
    annotated, more
        The annotated sample: one or more files that hold each drawn unit once, in the order in
        which they were written, or in any order if tokens, texts or ids tell which they are; also
        as a list of paths.
        Lists, arrays and the like are in the order of the draws. Of a design that was extended,
        draws that are not annotated yet may be left out, each of them whole.
    systems
        The outputs, where they are elsewhere now or came from Python: a dictionary by their names,
        or a list. Others than those of the design are refused.
    judge
        The opinion of a judge or a weak labeller on all units of the pool, read as the outputs
        are. In every stratum the labels tell how far the truth follows it. By default the judge
        of the design, if it has one.
    scores
        The confidences, where they came from Python.
    metric
        What to score and compare by; by default precision, recall and F1, compared by F1.
    population
        Whether to speak of units like those of the pool, not of the pool alone: it is taken for a
        random sample itself.
    level, rope, beta
        As for `compare`.

    Returns
    -------
    Estimate
        `scores`, `comparisons`, `verdicts`, and what the labels are `worth`.

    Examples
    --------
    >>> import probative as pv
    >>> gold = [["B-PER", "O"], ["O", "O"], ["O", "B-LOC"], ["O", "B-LOC"], ["O", "O"]] * 60
    >>> old = [["B-PER", "O"], ["O", "O"], ["O", "B-LOC"], ["O", "O"], ["B-PER", "O"]] * 60
    >>> new = [["B-PER", "O"], ["O", "O"], ["O", "B-LOC"], ["O", "B-LOC"], ["O", "O"]] * 60
    >>> drawn = pv.sample(None, {"old": old, "new": new}, size=60)
    >>> labels = [gold[i] for i in drawn.units]
    >>> found = pv.estimate(drawn.design, labels, systems={"old": old, "new": new})
    >>> print(found["old", "f1"])
    old: f1 0.6667 [0.5112, 0.7927]
    """
    options = EstimateOptions(
        metric=metric,
        population=flag("population", population),
        level=open_probability("level", level),
        rope=fraction("rope", rope),
        beta=positive("beta", beta),
    )
    known, folder = open_design(design)
    known = known if judge is None else replace(known, judge=_source(judge))
    pool = read_again(known, folder, outputs=outputs_of(systems, known), judge=judge, scores=scores)
    done, answers = read_draws(known, pool, [annotated, *more])
    out = say_what_is_out(known, done)
    known = known.first(done)
    survey = Survey(
        known, pool, answers, Draw.of(known.units.stratum, [own.size for own in known.strata])
    )
    compared = compared_metrics(answers.matched, metric, "micro")
    shown_metrics = compared if metric is not None or answers.matched.all_classes else PRF
    found = {
        name: survey.project(scored_as(answers.matched, name), options)
        for name in dict.fromkeys((*shown_metrics, *compared))
    }
    everyone = range(len(pool.names))
    told = [found[name].score(k, name) for k in everyone for name in shown_metrics]
    gaps = [gap for name in compared for gap in _compared(found[name], name, len(pool.names))]
    first = found[compared[0]]
    worth = _worth(known.goal, told, gaps, compared[0])
    is_certain = known.size == known.pool.units and not options.population
    say = certain_verdict if is_certain else verdict
    open_: list[str] = []
    if not is_certain and not pool.is_single:
        weights = survey.draw.weights
        open_ = design_notes(answers.counts, pool.names, pool.unit, weights=weights)
    return Estimate(
        task=pool.task,
        unit=pool.unit,
        goal=known.goal,
        systems=pool.names,
        pool=known.pool.units,
        labelled=known.size,
        population=options.population,
        scores=tuple(told),
        comparisons=tuple(gaps),
        verdicts=tuple(map(say, gaps[: len(pool.names) - 1])),
        strata=_strata(known, answers, first.shares(known.goal)),
        worth=worth,
        metric=compared[0],
        judge=None if known.judge is None else known.judge.name,
        level=options.level,
        match=match_of(answers.matched),
        notes=(*_notes_of(pool), *answers.notes, *out, *open_),
        signature=options.signature(
            "estimate",
            *facts_of_reading(answers.matched, pool.reading),
            f"by-{pool.unit}",
            f"labelled:{known.size}-of-{known.pool.units}",
            f"strata:{len(known.strata)}",
            ",".join(shown_metrics),
            first.method,
            "" if known.judge is None else "judge",
        ),
    )


def _source(judge: Any) -> SystemSource:
    return SystemSource("judge", str(judge) if is_path(judge) else None, fingerprint(judge))


def _compared(found: Projected, name: str, n_systems: int) -> list[EstimatedDifference]:
    """Each system and the first, with p-values adjusted where there are several."""
    gaps = [found.difference(0, k, name) for k in range(1, n_systems)]
    if len(gaps) < 2:
        return gaps
    adjusted = adjust_pvalues([gap.pvalue for gap in gaps], method="holm")
    return [replace(gap, p_adjusted=float(p)) for gap, p in zip(gaps, adjusted, strict=True)]


def _worth(
    goal: str,
    scores: Sequence[EstimatedScore],
    gaps: Sequence[EstimatedDifference],
    metric: str,
) -> float | None:
    """What the labels are worth for what they were drawn for."""
    if goal == "difference" and gaps:
        return gaps[0].worth
    return next(score.worth for score in scores if score.metric == metric)


def _strata(
    design: Design, answers: Annotated, shares: Sequence[float]
) -> tuple[EstimatedStratum, ...]:
    """What was labelled of each stratum, and what it held."""
    stratum, strata = design.units.stratum, []
    for number, (own, share) in enumerate(zip(design.strata, shares, strict=True)):
        mine = stratum == number
        labelled = int(np.count_nonzero(mine))
        tables = [counts[mine].sum() for counts in answers.counts]
        items = float(tables[0].positives) / max(labelled, 1)
        right = {
            name: float(table.tp) / max(labelled, 1)
            for name, table in zip(design.systems, tables, strict=True)
        }
        strata.append(EstimatedStratum(own.name, own.size, labelled, items, right, share))
    return tuple(strata)


def _notes_of(pool: Pool) -> list[str]:
    """What is to be said of the reading; that an output is the answer itself is not true here."""
    told = [note for note in pool.matched.notes if "is the answer itself" not in note]
    return list(dict.fromkeys(told))
