"""Scores and differences of a pool in one metric, as results."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.counts import Counts
from probative.evaluation import match_of
from probative.inference.judges import Judge
from probative.inference.limits_posterior import LimitsPosterior
from probative.inference.rare_positives import ItemStrata, rare_difference, rare_score
from probative.inference.stratified import PoolScores
from probative.inference.student_posterior import StudentPosterior
from probative.metrics import span
from probative.results import EstimatedDifference, EstimatedScore

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative.inference.projections import Projection
    from probative.inference.strata import Draw
    from probative.options import EstimateOptions
    from probative.surveys.annotated import Annotated
    from probative.surveys.design import Design
    from probative.surveys.pool import Pool

__all__ = ["Projected", "Survey"]


@dataclass(frozen=True, eq=False)
class Survey:
    """A pool, its design, and what is right in the units that were drawn.

    Attributes
    ----------
    design, pool, answers
        What was drawn, who returns what, and what is right.
    draw
        The strata of the drawn units.
    """

    design: Design
    pool: Pool
    answers: Annotated
    draw: Draw

    def project(self, metric: str, options: EstimateOptions) -> Projected:
        """What is known of the pool in one metric."""
        rows = self.design.units.number
        scores = PoolScores.of(
            self.answers.counts,
            self.draw,
            metric,
            level=options.level,
            beta=options.beta,
            finite=not options.population,
            judge=self.judge,
            disputed=self.pool.disputed[rows],
        )
        return Projected(self, scores, options)

    @cached_property
    def judge(self) -> Judge | None:
        """The counts of all units as a judge sees them."""
        opinion = self.pool.judge
        if opinion is None:
            return None
        returned, universe = self.pool.returned, self.universe
        counts = [
            Counts(
                tp,
                own - tp,
                opinion.g - tp,
                None if universe is None else universe - own - opinion.g + tp,
            )
            for tp, own in zip(opinion.tp, returned, strict=True)
        ]
        stratum = self.design.stratum_of
        return Judge.of(counts, stratum, self.design.units.number, self.draw)

    @property
    def universe(self) -> NDArray[Any] | None:
        """How many decisions every unit holds, where "no" can be counted."""
        return None if self.answers.counts[0].tn is None else np.ones(self.pool.n_units)

    @cached_property
    def items(self) -> ItemStrata | None:
        """The strata of single items, parted where systems return some of their items only."""
        single = self.pool.is_single and not self.pool.all_classes
        if not single or self.pool.judge is not None or self.universe is None:
            return None
        known = self.answers.counts[0]
        return ItemStrata.of_items(
            self.design.stratum_of,
            self.pool.returned > 0,
            self.design.units.number,
            known.tp + known.fn,
            self.pool.probability,
        )


@dataclass(frozen=True, eq=False)
class Projected:
    """Scores and differences of a pool in one metric.

    Attributes
    ----------
    survey
        The pool and its sample.
    scores
        What strata tell of it.
    options
        The choices.
    """

    survey: Survey
    scores: PoolScores
    options: EstimateOptions

    @property
    def method(self) -> str:
        """How limits are made."""
        return "stratified" if self._items is None else "rare-items"

    def shares(self, goal: str) -> list[float]:
        """How much of the variance of what the sample is for each stratum makes."""
        two = goal == "difference" and len(self.survey.pool.names) > 1
        parts = (self.scores.difference() if two else self.scores.score()).by_stratum
        total = float(parts.sum())
        return [float(part) / total if total > 0 else 0.0 for part in parts]

    def score(self, system: int, name: str) -> EstimatedScore:
        """The score of a system, under the name that it has for its users."""
        found = self.scores.score(system)
        limits, notes = (found.estimate, found.low, found.high), found.notes
        if self._items is not None:
            rare = rare_score(
                self._items,
                self.scores.metric,
                system=system,
                level=self.options.level,
                beta=self.options.beta,
            )
            limits, notes = (rare.estimate, rare.low, rare.high), rare.notes
        return EstimatedScore(
            self.survey.pool.names[system],
            name,
            *limits,
            level=self.options.level,
            **_known(found),
            note="; ".join(notes) or None,
        )

    def difference(self, a: int, b: int, name: str) -> EstimatedDifference:
        """The score of system `b` minus that of system `a`."""
        found, pool = self.scores.difference(a, b), self.survey.pool
        identical = not pool.only(a, b).any() and not pool.only(b, a).any()
        limits, notes = (found.estimate, found.low, found.high), found.notes
        posterior: Any = self._posterior(found, exact=identical)
        if identical:  # whatever the labels are
            limits, notes = (0.0, 0.0, 0.0), ()
        elif self._items is not None:
            rare = rare_difference(
                self._items,
                self.scores.metric,
                a=a,
                b=b,
                level=self.options.level,
                beta=self.options.beta,
            )
            limits, notes = (rare.estimate, rare.low, rare.high), rare.notes
            posterior = LimitsPosterior(*limits, self.options.level, span(self.scores.metric))
        unknown = not identical and self._items is None and found.no_evidence
        gone = unknown or isnan(limits[0])
        a_better, same, b_better = (
            (nan, nan, nan) if gone else posterior.probabilities(self.options.rope)
        )
        one, other = self.score(a, name), self.score(b, name)
        return EstimatedDifference(
            a=one.system,
            b=other.system,
            metric=name,
            difference=limits[0],
            low=limits[1],
            high=limits[2],
            method=self.method,
            pvalue=_pvalue(posterior, gone=gone),
            p_adjusted=None,
            test="student" if self._items is None else "limits",
            by=pool.unit,
            p_a_better=a_better,
            p_equivalent=same,
            p_b_better=b_better,
            rope=self.options.rope,
            posterior=posterior,
            score_a=one.estimate,
            score_b=other.estimate,
            level=self.options.level,
            positives=round(self.survey.answers.positives),
            identical=identical,
            observed_units=self.survey.draw.labelled,
            note="; ".join(notes) or None,
            match=match_of(self.survey.answers.matched),
            unknown=notes[0] if unknown and notes else None,
            **_known(found),
        )

    @property
    def _items(self) -> ItemStrata | None:
        items = self.survey.items
        if items is None or items.finite == self.scores.finite:
            return items
        from dataclasses import replace

        return replace(items, finite=self.scores.finite)

    def _posterior(self, found: Projection, *, exact: bool) -> StudentPosterior:
        most = span(self.scores.metric)
        if exact or not found.standard_error > 0:
            return StudentPosterior(0.0 if exact else found.estimate, 0.0, inf, most=most)
        return StudentPosterior(
            found.estimate, found.standard_error, found.degrees_of_freedom, most=most
        )


def _pvalue(posterior: Any, *, gone: bool) -> float:
    """Twice the smaller tail beyond 0."""
    if gone:
        return 1.0
    return min(1.0, 2 * min(float(posterior.cdf(0.0)), float(posterior.sf(0.0))))


def _known(found: Projection) -> dict[str, Any]:
    """What is told of scores and differences alike."""
    return {
        "standard_error": found.standard_error,
        "degrees_of_freedom": found.degrees_of_freedom,
        "design_effect": found.design_effect,
        "worth": found.worth,
        "judge_moved": None if found.judge is None else found.judge.moved,
        "judge_width": None if found.judge is None else found.judge.width,
    }
