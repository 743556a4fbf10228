"""Estimate scores of a whole pool, and give a verdict, from a design and its annotated units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np

from probative._validation import Input, Systems, flag, fraction, open_probability, positive
from probative.inference.compare import Choices, compare_pairs
from probative.inference.groups import adjust_pvalues
from probative.inference.posterior.student import LimitsPosterior, StudentPosterior
from probative.inference.rare_positives import ItemStrata, rare_interval
from probative.inference.scores import PairScore
from probative.inference.stratified import Draw, Judge, PoolScores, Projection
from probative.inference.units import design_notes
from probative.jobs.score import compared_metrics, facts_of_reading, match_of, scored_as
from probative.metrics import PRF, span
from probative.options import EstimateOptions
from probative.reading.inputs import is_path
from probative.results import (
    Comparison,
    Difference,
    Estimate,
    EstimatedDifference,
    EstimatedScore,
    EstimatedStratum,
    RandomizationTest,
)
from probative.surveys.blanks import Annotated, read_draws
from probative.surveys.design import Design, SystemSource, open_design
from probative.surveys.pool import Pool, fingerprint, read_again
from probative.wording.verdict import certain_verdict, verdict

# --- Scores and differences of a pool in one metric, as results


@dataclass(frozen=True, eq=False)
class _Survey:
    """A pool, its design, the counts of the annotated units and their strata."""

    design: Design
    pool: Pool
    answers: Annotated
    draw: Draw
    options: EstimateOptions

    @property
    def how(self) -> dict[str, Any]:
        """Return how every score is estimated."""
        return {"level": self.options.level, "beta": self.options.beta}

    @property
    def method(self) -> str:
        """Return the name of the method of the intervals."""
        return "stratified" if self.items is None else "rare-items"

    @cached_property
    def judge(self) -> Judge | None:
        """Return the counts of all units against the judge's opinion; None without a judge."""
        judged = self.pool.judged
        if judged is None:
            return None
        by = "document" if self.pool.unit == "document" else "sentence"
        counts = [judged.items.counts(k, by=by) for k in range(len(self.pool.names))]
        if self.answers.counts[0].tn is None:
            counts = [replace(own, tn=None) for own in counts]
        return Judge(counts, self.design.stratum_of, self.design.units.number)

    @cached_property
    def items(self) -> ItemStrata | None:
        """Return the strata of single items, split by which systems return them; None elsewhere."""
        single = self.pool.is_single and not self.pool.matched.all_classes
        known = self.answers.counts[0]
        if not single or self.pool.judged is not None or known.tn is None:
            return None
        which = self.design.stratum_of, self.pool.returned > 0, self.design.units.number
        positives, is_finite = known.tp + known.fn, not self.options.population
        return ItemStrata.of_items(*which, positives, self.pool.probability, finite=is_finite)


@dataclass(frozen=True, eq=False)
class PoolScore(PairScore):
    """One metric of the systems in a pool, estimated from the annotated units."""

    metric: str  # as users know it
    survey: _Survey

    @cached_property
    def scores(self) -> PoolScores:
        """Return the estimates of the pool."""
        own, metric = self.survey, scored_as(self.survey.answers.matched, self.metric)
        known: dict[str, Any] = {"finite": not own.options.population, "judge": own.judge}
        known["disputed"] = own.pool.disputed[own.design.units.number]
        return PoolScores(own.answers.counts, own.draw, metric, **own.how, **known)

    def score(self, system: int) -> EstimatedScore:
        """Estimate the score of a system."""
        found: Any = self.scores.score(system)
        known, survey = _known(found), self.survey
        if survey.items is not None:
            found = rare_interval(survey.items, self.scores.metric, (system,), **survey.how)
        known |= {"level": survey.options.level, "note": "; ".join(found.notes) or None}
        limits = found.estimate, found.low, found.high
        return EstimatedScore(survey.pool.names[system], self.metric, *limits, **known)

    @cached_property
    def _found(self) -> Callable[[int, int], Any]:
        """Estimate a difference: with its standard error, or by the strata of rare items."""

        def estimated(a: int, b: int) -> Any:
            projection = self.scores.difference(a, b)
            if self.survey.pool.is_same(a, b):  # the difference is 0, whatever the labels are
                return replace(projection, estimate=0.0, low=0.0, high=0.0, notes=())
            items = self.survey.items
            if items is None:
                return projection
            return rare_interval(items, self.scores.metric, (a, b), **self.survey.how)

        return cache(estimated)

    def difference(self, i: int, j: int, level: float) -> Difference:
        """Return the difference of the two systems in the pool."""
        found = self._found(i, j)
        limits = found.estimate, found.low, found.high
        scores = self.score(i).estimate, self.score(j).estimate
        note = "; ".join(found.notes) or None
        return Difference(self.metric, self.survey.method, level, *limits, *scores, nan, note=note)

    def posterior(self, i: int, j: int) -> StudentPosterior | LimitsPosterior:
        """Return Student's distribution of the difference, or one from its interval."""
        found, most = self._found(i, j), span(self.scores.metric)
        if self.survey.items is not None and not self.survey.pool.is_same(i, j):
            limits = found.estimate, found.low, found.high
            return LimitsPosterior(*limits, self.survey.options.level, most)
        error, freedom = found.standard_error, found.degrees_of_freedom
        if self.survey.pool.is_same(i, j) or not error > 0:
            error, freedom = 0.0, inf
        return StudentPosterior(found.estimate, error, freedom, most=most)

    def tests(self, pairs: Sequence[tuple[int, int]], **how: Any) -> Iterator[RandomizationTest]:
        """Test pairs by the tails of their posteriors: no units are exchanged in a sample."""
        del how
        for i, j in pairs:
            posterior = self.posterior(i, j)
            tail = min(float(posterior.cdf(0.0)), float(posterior.sf(0.0)))
            yield RandomizationTest(
                self.metric,
                "two-sided",
                self.survey.pool.unit,
                "student" if self.survey.items is None else "limits",
                self._found(i, j).estimate,
                1.0 if self._is_open(i, j) else min(1.0, 2 * tail),
                self.survey.draw.labelled,
            )

    def comparison(self, i: int, j: int, **found: Any) -> Comparison:
        """Return the comparison with its effective sample size, and why it has no probability."""
        if self._is_open(i, j):
            found |= dict.fromkeys(("p_a_better", "p_equivalent", "p_b_better"), nan)
        notes = self._found(i, j).notes
        found |= {
            "positives": round(self.survey.answers.positives),
            "identical": self.survey.pool.is_same(i, j),
            "observed_units": self.survey.draw.labelled,
            "match": match_of(self.survey.answers.matched),
            "unknown": notes[0] if self._lacks_evidence(i, j) and notes else None,
            **_known(self.scores.difference(i, j)),
        }
        return EstimatedDifference(**found)

    def _lacks_evidence(self, a: int, b: int) -> bool:
        is_projected = self.survey.items is None and not self.survey.pool.is_same(a, b)
        return is_projected and self._found(a, b).no_evidence

    def _is_open(self, a: int, b: int) -> bool:
        """Return True if there is no probability of the difference."""
        return self._lacks_evidence(a, b) or isnan(self._found(a, b).estimate)


def _known(projection: Projection) -> dict[str, Any]:
    """Return the fields that estimated scores and differences share."""
    return {
        "standard_error": projection.standard_error,
        "degrees_of_freedom": projection.degrees_of_freedom,
        "design_effect": projection.design_effect,
        "worth": projection.worth,
        "judge_moved": getattr(projection.judge, "moved", None),
        "judge_width": getattr(projection.judge, "width", None),
    }


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
    """Estimate the scores of a whole pool, and compare systems there, from the labels of a sample.

    Every labelled unit represents units of its stratum that were not drawn. Intervals are for the
    pool: the scores that would result if all of it were labelled.

    Parameters
    ----------
    design
        The design that `sample` has made, or the path of its file.
    annotated, more
        The annotated sample: one or more files that hold each drawn unit once, in the order in
        which they were written, or in any order if tokens, texts or ids identify them; also as a
        list of paths. Lists, arrays and the like are in the order of the draws. If a design was
        extended, draws that are not annotated yet may be left out as a whole.
    systems
        The outputs, if they have moved or came from Python: a dictionary by their names,
        or a list. Outputs other than those of the design are refused.
    judge
        The opinion of a judge or a weak labeller on all units of the pool, read as the outputs
        are. The labels show in every stratum how closely gold follows it. By default the judge
        of the design, if it has one.
    scores
        The confidences, if they came from Python.
    metric
        The scores to estimate and compare; by default precision, recall and F1, compared by F1.
    population
        True to estimate a larger population, of which the pool is a random sample; by default
        the pool alone.
    level, rope, beta
        As for `compare`.

    Returns
    -------
    Estimate
        `scores`, `comparisons`, `verdicts`, and the effective sample size `worth`.

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
    if judge is not None:
        path = str(judge) if is_path(judge) else None
        known = replace(known, judge=SystemSource("judge", path, fingerprint(judge)))
    pool = read_again(known, folder, outputs=systems, judge=judge, scores=scores)
    done, answers = read_draws(known, pool, [annotated, *more])
    known = known.first(done)
    draw = Draw(known.units.stratum, [stratum.size for stratum in known.strata])
    survey = _Survey(known, pool, answers, draw, options)
    compared = compared_metrics(answers.matched, metric, "micro")
    shown_metrics = compared if metric is not None or answers.matched.all_classes else PRF
    projected = {name: PoolScore(name, survey) for name in (*shown_metrics, *compared)}
    everyone = range(len(pool.names))
    estimated = [projected[name].score(k) for k in everyone for name in shown_metrics]
    rng = np.random.default_rng(0)
    choices = Choices(pool.unit, options.level, options.rope, Comparison.power, rng)
    gaps: list[Any] = []
    for name in compared:  # each system with the first
        pairs = [(0, k) for k in everyone[1:]]
        own = list(compare_pairs(projected[name], pairs, pool.names, choices))
        if len(own) > 1:
            adjusted = adjust_pvalues([gap.pvalue for gap in own], method="holm")
            own = [replace(c, p_adjusted=float(p)) for c, p in zip(own, adjusted, strict=True)]
        gaps += own
    of_goal = gaps if known.goal == "difference" and gaps else estimated
    worth = next(one.worth for one in of_goal if one.metric == compared[0])
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
        scores=tuple(estimated),
        comparisons=tuple(gaps),
        verdicts=tuple(map(say, gaps[: len(pool.names) - 1])),
        strata=tuple(_strata(survey, projected[compared[0]].scores)),
        worth=worth,
        metric=compared[0],
        judge=None if known.judge is None else known.judge.name,
        level=options.level,
        match=match_of(answers.matched),
        notes=(*dict.fromkeys(pool.matched.notes), *answers.notes, *open_),
        signature=options.signature(
            "estimate",
            *facts_of_reading(answers.matched, pool.reading),
            f"by-{pool.unit}",
            f"labelled:{known.size}-of-{known.pool.units}",
            f"strata:{len(known.strata)}",
            ",".join(shown_metrics),
            survey.method,
            "" if known.judge is None else "judge",
        ),
    )


def _strata(survey: _Survey, scores: PoolScores) -> Iterator[EstimatedStratum]:
    """Summarise the labelled units of each stratum, and its share in the variance of the goal."""
    design, counts = survey.design, survey.answers.counts
    two = design.goal == "difference" and len(counts) > 1
    parts = (scores.difference() if two else scores.score()).by_stratum
    total = float(parts.sum())
    for number, (own, part) in enumerate(zip(design.strata, parts.tolist(), strict=True)):
        mine = design.units.stratum == number
        labelled = int(np.count_nonzero(mine))
        tables = [system[mine].sum() for system in counts]
        each = tables[0].positives, *(table.tp for table in tables)
        items, *right = (float(number) / max(labelled, 1) for number in each)
        by_system = dict(zip(design.systems, right, strict=True))
        share = part / total if total > 0 else 0.0
        yield EstimatedStratum(own.name, own.size, labelled, items, by_system, share)
