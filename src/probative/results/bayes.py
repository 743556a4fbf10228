"""What a Bayes test of two models says."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.results.base import Result, jsonable

if TYPE_CHECKING:
    from probative._types import Array, Number, Words
    from probative.results.posteriors import DifferencePosterior

__all__ = ["BayesTest"]


@dataclass(frozen=True, eq=False, repr=False)
class BayesTest(Result):
    """What the posteriors say about a score of two systems, A and B.

    Attributes
    ----------
    metric
        The score.
    p_h0, p_h1
        The probabilities that B's score is at most A's, and that it is higher.
    decision
        The rule of Wang and Li's test, which accepts the likelier hypothesis: "H1" where it is
        the more probable one, however little, else "H0". It is no verdict: sentences go by the
        thresholds of `compare`.
    interval_a, interval_b
        The equal-tailed intervals of the two scores.
    score_a, score_b
        The two scores, as observed.
    difference, estimate
        B's score minus A's, as observed.
    low, high
        The equal-tailed interval of the difference, found when it is first asked for: it takes
        several times as long as the probabilities.
    p_a_better, p_equivalent, p_b_better
        The probabilities that A is better by more than `rope`, that neither is, that B is.
    rope
        Half the width of the region of practical equivalence.
    posterior
        The posterior of the difference, with ``cdf``, ``sf``, ``pdf`` and ``interval``. Its
        ``kind`` is "independent", of the two systems' own posteriors, or "paired", of the eight
        cases; JSON has the kind alone.
    weight
        The factor by which the summed counts of folds were multiplied; 1 for single tables.
    prior, level
        The weight of the prior and the level of the intervals.
    method
        "exact", or "integrated" where that left an error above 1e-8, or "sampled".
    error
        The standard error of p_h0 where it was sampled, or an estimate of the numerical error.
    fold_design_effect
        How many times more the differences of folds vary than their items explain; NaN where that
        is undefined, None for single tables.
    degrees_of_freedom
        Those of the training variance, where it was measured and allowed for.
    note
        What the reader must know, or None.
    signature
        A short reproducible description of every choice.

    For many tables the numbers are arrays, and the intervals have a row of two per table.
    """

    metric: str
    p_h0: Number
    p_h1: Number
    decision: str | Words
    interval_a: tuple[float, float] | Array
    interval_b: tuple[float, float] | Array
    score_a: Number
    score_b: Number
    difference: Number
    p_a_better: Number
    p_equivalent: Number
    p_b_better: Number
    posterior: DifferencePosterior
    weight: float
    rope: float = 0.0
    prior: float = 1.0
    level: float = 0.95
    method: str = "exact"
    error: Number = 0.0
    fold_design_effect: Number | None = None
    degrees_of_freedom: float | None = None
    note: str | None = None
    limits: tuple[Number, Number] | None = field(default=None, repr=False)  # if they were drawn
    signature: str = field(default="", repr=False)

    @cached_property
    def _interval(self) -> tuple[Number, Number]:
        return self.posterior.interval(self.level) if self.limits is None else self.limits

    @property
    def estimate(self) -> Number:
        """The observed difference, by the name that all results have for what they estimate."""
        return self.difference

    @property
    def low(self) -> Number:
        """The lower limit of the difference."""
        return self._interval[0]

    @property
    def high(self) -> Number:
        """The upper limit of the difference."""
        return self._interval[1]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON, the limits after the difference."""
        content: dict[str, Any] = {}
        for name, value in super().to_dict().items():
            content[name] = self.posterior.kind if name == "posterior" else value
            if name == "difference":
                content |= {"low": jsonable(self.low), "high": jsonable(self.high)}
        return content

    def __str__(self) -> str:
        if np.ndim(self.p_h0):
            return f"{self.metric}: Bayes tests of {np.size(self.p_h0)} pairs of tables"
        from probative.wording.bayes_verdict import outcome_words

        return (
            f"{self.metric}: {outcome_words(self)}, P(H0) = {self.p_h0:.4f}, P(H1) = "
            f"{self.p_h1:.4f}; B - A = {self.difference:.4f} [{self.low:.4f}, {self.high:.4f}]"
        )
