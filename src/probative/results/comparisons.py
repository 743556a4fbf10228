"""What a comparison of systems comes back as."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from probative.results.base import Result

__all__ = ["Comparison"]


@dataclass(frozen=True, eq=False)
class Comparison(Result):
    """What is known of the difference of two systems in one score.

    Attributes
    ----------
    a, b
        The baseline and the challenger.
    metric
        What is compared.
    difference, low, high
        B minus A, with its interval.
    method
        How the interval was made.
    pvalue, p_adjusted
        Of the randomisation test; adjusted by Holm's method where there are several comparisons.
    test, by
        Whether the test was exact or sampled, and what was exchanged.
    design_effect
        How many times larger the variance of the difference is than with independent items.
    p_a_better, p_equivalent, p_b_better
        Posterior probabilities that A is better by more than `rope`, that neither is, that B is.
    rope
        Half the width of the region of practical equivalence.
    posterior
        Which posterior: "paired", or another where the score has no paired one.
    score_a, score_b, level
        The two scores, and the level of the interval.
    identical
        Whether the two outputs agree on every item.
    units_needed, observed_units, power
        How many units a difference of this size would need to show with that power, and how many
        there are; None where it cannot be told.
    note
        What the reader must know, or None.
    null, density
        The null distribution of the test and the posterior density of the difference, for figures.
    """

    a: str
    b: str
    metric: str
    difference: float
    low: float
    high: float
    method: str
    pvalue: float
    p_adjusted: float | None
    test: str
    by: str
    design_effect: float | None
    p_a_better: float
    p_equivalent: float
    p_b_better: float
    rope: float
    posterior: str
    score_a: float
    score_b: float
    level: float = 0.95
    identical: bool = False
    units_needed: int | None = None
    observed_units: int | None = None
    power: float = 0.8
    note: str | None = None
    null: Any = field(default=None, repr=False)
    density: Any = field(default=None, repr=False)

    def __str__(self) -> str:
        return (
            f"{self.metric}, {self.b} - {self.a}: {self.difference:+.4f} "
            f"[{self.low:+.4f}, {self.high:+.4f}], p = {self.pvalue:.4g}, "
            f"P({self.b} better) = {self.p_b_better:.4f}"
        )
