"""What few labels tell of a large pool."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from probative.results.base import Result
from probative.results.comparisons import Comparison

if TYPE_CHECKING:
    from collections.abc import Iterable

    from probative.reporting.document import Document

__all__ = ["Estimate", "EstimatedDifference", "EstimatedScore", "EstimatedStratum"]


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedScore(Result):
    """The score of one system in a pool.

    Attributes
    ----------
    system, metric
        Whose, and which.
    estimate, low, high
        The score and its limits.
    level
        Their level.
    standard_error, degrees_of_freedom
        How far the estimate is known, and how well the strata tell that; of limits that are not
        made of these (rare items) those of the strata all the same.
    design_effect
        The variance, over that of as many units drawn simply at random.
    worth
        How many units drawn simply at random would be expected to tell it as well.
    judge_moved, judge_width
        By how much a judge moved the estimate, and what is left of the standard error; None
        without a judge.
    note
        What the reader must know, or None.
    """

    system: str
    metric: str
    estimate: float
    low: float
    high: float
    level: float = 0.95
    standard_error: float | None = None
    degrees_of_freedom: float | None = None
    design_effect: float | None = None
    worth: float | None = None
    judge_moved: float | None = None
    judge_width: float | None = None
    note: str | None = None

    def __str__(self) -> str:
        return f"{self.system}: {self.metric} {self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedDifference(Comparison):
    """What is known of the difference of two systems in a pool: a `Comparison`, and its worth.

    Limits, p-value and probabilities are all of one Student's distribution: that of the difference
    about its estimate.

    Attributes
    ----------
    worth
        How many units drawn simply at random would be expected to tell it as well.
    judge_moved, judge_width
        By how much a judge moved the estimate, and what is left of the standard error; None
        without a judge.
    unknown
        Why there is no probability; None where there is one.
    """

    worth: float | None = None
    judge_moved: float | None = None
    judge_width: float | None = None
    unknown: str | None = None

    @property
    def lacking(self) -> str | None:
        """Why there is no probability."""
        return self.unknown


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedStratum(Result):
    """Units that were drawn alike.

    Attributes
    ----------
    name
        What they have in common.
    size, labelled
        How many of them the pool has, and how many are labelled.
    items, right
        How many items a labelled unit of it has to be found, on average, and how many of these
        each system has found.
    share
        How much of the variance of what the sample was drawn for comes from it.
    """

    name: str
    size: int
    labelled: int
    items: float
    right: dict[str, float]
    share: float

    def __str__(self) -> str:
        return f"{self.name}: {self.labelled} of {self.size}"


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Result):
    """What few labels tell of a large pool: scores, differences, and how sure they are.

    Attributes
    ----------
    task, unit, goal
        As the sample has them: what was read, what was drawn, and what for.
    systems
        What the systems are called.
    pool, labelled
        How many units there are, and how many of them are labelled.
    population
        Whether the statements hold beyond the pool, which is then a random sample itself.
    scores
        An `EstimatedScore` for each system and metric.
    comparisons
        An `EstimatedDifference` of each system with the first, by metric.
    verdicts
        What the first metric says of each system and the first, in words.
    strata
        An `EstimatedStratum` for each.
    worth
        How many simply random labels would be expected to tell as well what the sample was drawn
        for: the first difference, or the first system's score; None where it cannot be told.
    metric
        The score of which `worth`, `verdicts` and the shares of the strata speak.
    judge
        What the judge is called; None without one.
    level
        The level of the intervals.
    match
        When a span counts as right, such as ``partial``; None where it must be equal.
    notes
        What was recognised, and what is to be known of single scores.
    signature
        A short reproducible description of every choice.
    """

    task: str
    unit: str
    goal: str
    systems: tuple[str, ...]
    pool: int
    labelled: int
    population: bool
    scores: tuple[EstimatedScore, ...]
    comparisons: tuple[EstimatedDifference, ...]
    verdicts: tuple[str, ...]
    strata: tuple[EstimatedStratum, ...]
    worth: float | None
    metric: str
    judge: str | None
    level: float = 0.95
    match: str | None = None
    notes: tuple[str, ...] = ()
    signature: str = field(default="", repr=False)

    def __getitem__(self, key: tuple[str, str]) -> EstimatedScore:
        """The score of a system, by its name and the metric's."""
        return {(score.system, score.metric): score for score in self.scores}[key]

    def _metrics(self) -> Iterable[tuple[tuple[str, ...], Any]]:
        for score in self.scores:
            for name in ("estimate", "low", "high"):
                yield (score.system, score.metric, name), getattr(score, name)
        for gap in self.comparisons:
            for name in ("difference", "low", "high", "p_b_better"):
                yield (f"{gap.b} - {gap.a}", gap.metric, name), getattr(gap, name)

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each score and each difference."""
        return [
            *(score.to_dict() for score in self.scores),
            *(record for gap in self.comparisons for record in gap.records()),
        ]

    def _document(self) -> Document:
        from probative.reporting.estimate_report import estimate_document

        return estimate_document(self)

    def __str__(self) -> str:
        from probative.wording.estimated import estimate_summary

        told = self.verdicts or tuple(map(str, self.scores))
        return " ".join([f"{estimate_summary(self)}.", *told])
