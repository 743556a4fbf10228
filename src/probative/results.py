"""The frozen objects in which every answer comes back.

They hold numbers, can say themselves in one line (`str`) and as a dictionary for JSON
(`to_dict`). An undefined number is NaN here and null in JSON.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BayesTest", "Interval", "Result"]


@dataclass(frozen=True, eq=False)
class Result:
    """What all results share."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; fields that do not apply are left out."""
        values = ((f.name, getattr(self, f.name)) for f in fields(self) if f.repr)
        return {name: jsonable(value) for name, value in values if value is not None}


@dataclass(frozen=True, eq=False)
class Interval(Result):
    """A score and the limits between which it is said to lie.

    Attributes
    ----------
    metric, method, level
        What was computed, and how.
    estimate, low, high
        The score and its limits: numbers, or arrays where the counts were arrays. An undefined
        score is NaN with the limits 0 and 1.
    note
        What the reader must know about this interval, or None. For arrays an array of these.
    design_effect
        How many times larger the variance is than it would be with independent items, where the
        counts were clustered; the limits already allow for it.
    """

    metric: str
    method: str
    level: float
    estimate: Any
    low: Any
    high: Any
    note: Any = None
    design_effect: float | None = None

    def __getitem__(self, index: int) -> Interval:
        return replace(
            self,
            estimate=self.estimate[index],
            low=self.low[index],
            high=self.high[index],
            note=None if self.note is None else self.note[index],
        )

    def __len__(self) -> int:
        return len(self.estimate)

    def __iter__(self) -> Iterator[Interval]:
        return (self[i] for i in range(len(self)))

    def __str__(self) -> str:
        head = f"{self.metric}, {self.level:.4g} {self.method} interval"
        if np.ndim(self.estimate):
            return f"{head} of {np.size(self.estimate)} tables"
        note = f" ({self.note})" if self.note else ""
        return f"{head}: {self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}]{note}"


def jsonable(value: Any) -> Any:
    """Turn NumPy values into Python's, and undefined numbers into None."""
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if isinstance(value, dict):
        return {key: jsonable(item) for key, item in value.items()}
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


@dataclass(frozen=True, eq=False)
class BayesTest(Result):
    """What the posteriors say about a score of two systems, A and B.

    Attributes
    ----------
    metric
        The score.
    p_h0, p_h1
        The probabilities that B's score is at most A's, and that it is higher.
    decision
        "H1" where it is the more probable hypothesis, else "H0".
    interval_a, interval_b
        The equal-tailed intervals of the two scores.
    difference
        B's score minus A's, as observed.
    low, high
        The equal-tailed interval of the difference.
    p_a_better, p_equivalent, p_b_better
        The probabilities that A is better by more than `rope`, that neither is, that B is.
    rope
        Half the width of the region of practical equivalence.
    posterior
        "independent": the two systems' own posteriors; "paired": that of the eight cases.
    weight
        The factor by which the summed counts of folds were multiplied; 1 for single tables.
    prior, level
        The weight of the prior and the level of the intervals.
    method
        "exact" or "sampled".
    error
        The standard error of p_h0 where it was sampled, or an estimate of the numerical error.

    For many tables the numbers are arrays, and the intervals have a row of two a table.
    """

    metric: str
    p_h0: Any
    p_h1: Any
    decision: Any
    interval_a: Any
    interval_b: Any
    difference: Any
    low: Any
    high: Any
    p_a_better: Any
    p_equivalent: Any
    p_b_better: Any
    posterior: str
    weight: float
    rope: float = 0.0
    prior: float = 1.0
    level: float = 0.95
    method: str = "exact"
    error: Any = 0.0

    def __str__(self) -> str:
        if np.ndim(self.p_h0):
            return f"{self.metric}: Bayes tests of {np.size(self.p_h0)} pairs of tables"
        return (
            f"{self.metric}: P(H0) = {self.p_h0:.4f}, P(H1) = {self.p_h1:.4f}, decision "
            f"{self.decision}; B - A = {self.difference:.4f} [{self.low:.4f}, {self.high:.4f}]"
        )
