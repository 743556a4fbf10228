"""What a comparison comes back as in each group: a language, a domain, a day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from probative.results.base import Result

if TYPE_CHECKING:
    from probative.results.comparisons import Comparison
    from probative.results.scores import SystemScores

__all__ = ["Group", "GroupSummary", "GroupWeight", "Heterogeneity"]


@dataclass(frozen=True, eq=False, repr=False)
class Group(Result):
    """What systems score in one group, and what is known of their differences there.

    Attributes
    ----------
    group
        Its name: what the column says; ``(missing)`` for rows that say nothing.
    rows, units
        How many rows (sentences, of tags) belong to it, and in how many units.
    systems
        The counts and the scores of every system.
    comparisons
        Where systems are compared, a `Comparison` for each pair and metric. `p_adjusted` allows
        for the number of groups and pairs by Holm's method, `p_bh` by Benjamini and Hochberg's.
    """

    group: str
    rows: int
    units: int
    systems: tuple[SystemScores, ...]
    comparisons: tuple[Comparison, ...] | None = None

    def of_pair(self, a: str, b: str, metric: str) -> Comparison:
        """The comparison of a pair in a metric."""
        known = {(c.a, c.b, c.metric): c for c in self.comparisons or ()}
        return known[a, b, metric]

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary per comparison; of scores, one per score."""
        head = {"group": self.group, "rows": self.rows, "units": self.units}
        parts = self.systems if self.comparisons is None else self.comparisons
        return [{**head, **record} for part in parts for record in part.records()]

    def __str__(self) -> str:
        parts = self.systems if self.comparisons is None else self.comparisons
        return f"{self.group}: {'; '.join(part._key_numbers() for part in parts)}"


@dataclass(frozen=True, eq=False, repr=False)
class Heterogeneity(Result):
    """Whether differences vary more over groups than chance makes them.

    Attributes
    ----------
    q, degrees_of_freedom
        Cochran's Q: the squared distances of the differences from their weighted mean, in standard
        errors; and the number of groups that have one, less one.
    pvalue
        Of the hypothesis that the difference is the same in all of them, by Welch's approximation,
        which allows for standard errors that rest on few units.
    i_squared
        The share of the variance of the differences that chance does not explain.
    """

    q: float
    degrees_of_freedom: int
    pvalue: float
    i_squared: float

    def __str__(self) -> str:
        return (
            f"Q = {self.q:.2f} on {self.degrees_of_freedom} degrees of freedom, "
            f"p = {self.pvalue:.4g}, I² = {self.i_squared:.2f}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class GroupWeight(Result):
    """What two systems score in a group, and how much that weighs in their overall scores.

    The overall score of a system is the sum of its scores times their weights.
    """

    group: str
    score_a: float
    weight_a: float
    score_b: float
    weight_b: float

    def __str__(self) -> str:
        return (
            f"{self.group}: {self.score_a:.4f} (weight {self.weight_a:.3f}) against "
            f"{self.score_b:.4f} (weight {self.weight_b:.3f})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class GroupSummary(Result):
    """What the groups say together about one pair.

    Attributes
    ----------
    a, b, metric, column
        The pair, what is compared, and the column of the groups.
    difference
        B minus A over all groups together.
    groups, tested, tests
        How many groups there are, in how many the pair was tested, and how many tests the p-values
        are adjusted for: those of other pairs count, too.
    better, worse
        The groups in which B is decided better, and worse, by Holm-adjusted p-values.
    ahead, behind
        How many groups have a difference above 0, and below, decided or not.
    heterogeneity
        Whether the differences vary more than chance makes them; None where that is not known.
    disagreements
        What a reader of the overall difference must know: ``mixed`` (B is decided better in some
        groups and worse in others), ``reversal`` (every group has a difference of the other sign
        than all together: Simpson's paradox), ``against-most`` (B minus A is decided overall, and
        most groups point the other way).
    sentences
        The same in words.
    weights
        For a reversal: a `GroupWeight` for each group, which shows how it comes about. None for
        macro averages, which are no means over groups.
    """

    a: str
    b: str
    metric: str
    column: str
    difference: float
    groups: int
    tested: int
    tests: int
    better: tuple[str, ...]
    worse: tuple[str, ...]
    ahead: int
    behind: int
    heterogeneity: Heterogeneity | None = None
    disagreements: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    weights: tuple[GroupWeight, ...] | None = None

    def __str__(self) -> str:
        return " ".join(self.sentences)
