"""The frozen objects in which every answer comes back.

They hold numbers, can say themselves in one line (`str`) and as a dictionary for JSON
(`to_dict`). An undefined number is NaN here and null in JSON.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Comparison", "Interval", "Result"]


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
