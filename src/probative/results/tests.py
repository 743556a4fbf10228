"""Tests and differences of two systems."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from probative.results.base import Result

if TYPE_CHECKING:
    from collections.abc import Iterable

    from probative._types import Array

__all__ = ["Difference", "NullDistribution", "RandomizationTest", "SignificanceTest"]


@dataclass(frozen=True, eq=False, repr=False)
class NullDistribution(Result):
    """How a difference of scores is distributed if the systems are exchangeable, as a histogram.

    Attributes
    ----------
    edges
        The limits of the bins, symmetric about 0. The observed difference is one of them; where
        differences come in equal steps, one lies half a step nearer to 0, and none on an edge.
    probabilities
        The probability of each bin. A difference that falls on an edge belongs to the bin further
        from 0, as a tie counts as extreme; the outermost bins hold what lies beyond them, too.
    """

    edges: Array
    probabilities: Array

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each bin."""
        bins = zip(self.edges[:-1], self.edges[1:], self.probabilities, strict=True)
        return [
            {"low": float(low), "high": float(high), "probability": float(p)}
            for low, high, p in bins
        ]

    def __str__(self) -> str:
        return f"null distribution in {len(self.probabilities)} bins up to ±{self.edges[-1]:.4g}"


@dataclass(frozen=True, eq=False, repr=False)
class RandomizationTest(Result):
    """What a randomisation test says about two systems on one test set.

    Attributes
    ----------
    metric, alternative, by
        What was compared, against which alternative, and what was exchanged: "unit" or "item".
    method
        "exact", or "sampled" where random exchanges were drawn.
    statistic, estimate
        The observed difference, B minus A, by either name; an undefined score counts as 0.
    pvalue
        The probability of a difference at least as extreme if A and B were exchangeable.
    n_units
        How many units (by unit) or items (by item) there are.
    n_resamples, standard_error
        How many exchanges were drawn, and the Monte-Carlo error of the p-value; None if exact.
    pvalue_low, pvalue_high
        Between these the p-value of all exchanges lies with a probability of 0.9999, however many
        were drawn; None if exact.
    note
        What the reader must know about this test, or None.
    null
        The distribution of the difference under the null hypothesis, where it was asked for.
    signature
        A short reproducible description of every choice.
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
    pvalue_low: float | None = None
    pvalue_high: float | None = None
    note: str | None = None
    null: NullDistribution | None = field(default=None, repr=False)
    signature: str = field(default="", repr=False)

    @property
    def estimate(self) -> float:
        """The statistic, a difference, by the name that all results have for what they estimate."""
        return self.statistic

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return (
            f"{self.metric}, B - A = {self.statistic:+.4f}: p = {self.pvalue:.4g}, {self.method} "
            f"{self.alternative} randomisation test by {self.by}{note}"
        )


@dataclass(frozen=True, eq=False, repr=False)
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
    signature
        A short reproducible description of every choice.
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
    signature: str = field(default="", repr=False)

    def _metrics(self) -> Iterable[tuple[tuple[str, ...], Any]]:
        from probative.results.flat import numbers_of

        names = ("low", "high", "a", "b", "correlation", "design_effect")
        fields = {"difference": self.estimate, **{name: getattr(self, name) for name in names}}
        return numbers_of(fields, self.metric)

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return (
            f"{self.metric}, B - A: {self.estimate:+.4f} [{self.low:+.4f}, {self.high:+.4f}], "
            f"{self.level:.4g} {self.method} interval{note}"
        )


@dataclass(frozen=True, eq=False, repr=False)
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
