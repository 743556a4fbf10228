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

__all__ = [
    "Difference",
    "Interval",
    "NullDistribution",
    "RandomizationTest",
    "Result",
    "SignificanceTest",
]


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
class NullDistribution(Result):
    """How a difference of scores is distributed if the systems are exchangeable, as a histogram.

    Attributes
    ----------
    edges
        The limits of the bins, symmetric about 0; the observed difference is one of them.
    probabilities
        The probability of each bin. A difference that falls on an edge belongs to the bin further
        from 0, as a tie counts as extreme; the outermost bins hold what lies beyond them, too.
    """

    edges: Any
    probabilities: Any

    def __str__(self) -> str:
        return f"null distribution in {len(self.probabilities)} bins up to ±{self.edges[-1]:.4g}"


@dataclass(frozen=True, eq=False)
class RandomizationTest(Result):
    """What a randomisation test says about two systems on one test set.

    Attributes
    ----------
    metric, alternative, by
        What was compared, against which alternative, and what was exchanged: "unit" or "item".
    method
        "exact", or "sampled" where random exchanges were drawn.
    statistic
        The observed difference, B minus A; an undefined score counts as 0.
    pvalue
        The probability of a difference at least as extreme if A and B were exchangeable.
    n_units
        How many units (by unit) or items (by item) there are.
    n_resamples, standard_error
        How many exchanges were drawn, and the Monte-Carlo error of the p-value; None if exact.
    note
        What the reader must know about this test, or None.
    null
        The distribution of the difference under the null hypothesis, where it was asked for.
    """

    metric: str
    alternative: str
    by: str
    method: str
    statistic: float
    pvalue: float
    n_units: int
    n_resamples: int | None = None
    standard_error: float | None = None
    note: str | None = None
    null: NullDistribution | None = field(default=None, repr=False)

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return (
            f"{self.metric}, B - A = {self.statistic:+.4f}: p = {self.pvalue:.4g}, {self.method} "
            f"{self.alternative} randomisation test by {self.by}{note}"
        )


@dataclass(frozen=True, eq=False)
class Difference(Result):
    """The difference of two scores, B minus A, and the limits between which it is said to lie.

    Attributes
    ----------
    metric, method, level
        What was computed, and how.
    estimate, low, high
        The difference and its limits. Where a score is undefined they are NaN, -1 and 1.
    a, b
        The two scores.
    correlation
        The correlation of the two scores over test sets like this one.
    design_effect
        How many times larger the variance of the difference is than with independent items, or
        None without units; the limits already allow for it.
    note
        What the reader must know about this interval, or None.
    """

    metric: str
    method: str
    level: float
    estimate: float
    low: float
    high: float
    a: float
    b: float
    correlation: float
    design_effect: float | None = None
    note: str | None = None

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return (
            f"{self.metric}, B - A: {self.estimate:+.4f} [{self.low:+.4f}, {self.high:+.4f}], "
            f"{self.level:.4g} {self.method} interval{note}"
        )


@dataclass(frozen=True, eq=False)
class SignificanceTest(Result):
    """What a test of two systems says that is not a randomisation test.

    Attributes
    ----------
    test
        Its name.
    statistic, pvalue
        The test statistic and the probability of one at least as extreme if there were no
        difference.
    alternative
        "two-sided", "greater" (B is better) or "less".
    degrees_of_freedom
        Of the statistic's distribution, where it has any.
    note
        What the reader must know about this test, or None.
    """

    test: str
    statistic: float
    pvalue: float
    alternative: str
    degrees_of_freedom: float | tuple[float, float] | None = None
    note: str | None = None

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return (
            f"{self.test} test, {self.alternative}: statistic {self.statistic:.4g}, "
            f"p = {self.pvalue:.4g}{note}"
        )
