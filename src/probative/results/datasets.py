"""Define the results of a comparison on several data sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from probative.results.base import (
    DifferencePosterior,
    DifferenceResult,
    Result,
    SignedResult,
    drawn_by,
    with_limits,
)
from probative.wording.numbers import counted, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from probative.results.base import Named
    from probative.results.comparisons import Comparison, Heterogeneity


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Result):
    """Comparison of a pair of systems on one data set."""

    dataset: str  #: Its name.
    units: int  #: The number of units (sentences, documents, items).
    unit: str  #: The name of the units.
    comparison: Comparison  #: The result of `probative.compare` on this data set alone.
    p_better: float  #: The one-sided p-value of "B is better".
    p_worse: float  #: The one-sided p-value of "B is worse", of the same test.
    #: `p_better`, adjusted for the number of data sets by Holm's method.
    p_holm_better: float = 1.0
    p_holm_worse: float = 1.0  #: `p_worse`, adjusted in the same way.
    #: Messages on what was recognised, repaired or left out.
    notes: tuple[str, ...] = field(default=(), repr=False)

    def records(self) -> list[dict[str, Any]]:
        """Return one flat dictionary."""
        (head,) = super().records()
        return [head | record for record in self.comparison.records()]


@dataclass(frozen=True, eq=False, repr=False)
class MeanDifference(DifferenceResult):
    """Mean difference over the data sets, all with the same weight."""

    difference: float  #: B minus A.
    low: float  #: The lower end of its interval, from the sum of the variances.
    high: float  #: The upper end of its interval, from the sum of the variances.
    level: float  #: The level of the interval.
    p_a_better: float  #: The posterior probability that A is better by more than `rope`.
    p_equivalent: float  #: The posterior probability that neither is.
    p_b_better: float  #: The posterior probability that B is better by more than `rope`.
    rope: float  #: Half the width of the region of practical equivalence.
    score_a: float  #: The mean score of A.
    score_b: float  #: The mean score of B.
    posterior: DifferencePosterior  #: The posterior, with `cdf`, `sf`, `pdf` and `interval`.

    def __str__(self) -> str:
        limits = with_limits(self.difference, self.low, self.high, "+.4f")
        return f"mean difference {limits}, P(B better) = {number(self.p_b_better, 4)}"


@dataclass(frozen=True, eq=False, repr=False)
class DatasetCount(Result):
    """Number of data sets on which a system is better, with the confidence of the level."""

    system: str  #: The system that is better.
    bonferroni: int  #: A lower bound of the number, for any dependence between the data sets.
    fisher: int  #: A lower bound of the number if the data sets are independent.
    #: The partial-conjunction p-values of "on at least u", for u = 1, 2, … and any dependence.
    p_bonferroni: tuple[float, ...]
    p_fisher: tuple[float, ...]  #: These p-values if the data sets are independent.
    datasets: tuple[str, ...]  #: The data sets that Holm's method identifies.


@dataclass(frozen=True, eq=False, repr=False)
class DatasetComparisons(SignedResult):
    """Comparison of a pair of systems on several data sets.

    Attributes
    ----------
    a, b, metric, level
        The baseline, the challenger, the score, and the level of the intervals.
    datasets
        A `Dataset` for each, in the order given.
    better, worse
        The number of data sets on which B is better, and on which A is.
    mean
        The `MeanDifference`: every data set has the same weight.
    pooled
        The `Comparison` of all units in one test: every unit has the same weight. None if the data
        sets do not count the same things.
    heterogeneity
        Whether the differences vary by more than chance.
    verdicts
        The conclusions, one sentence each.
    notes
        Messages on what was recognised, repaired or left out, with the name of the data set.
    task, range
        For graded scores: "scores", and the range of possible scores.
    signature
        A short reproducible description of every choice.
    """

    a: str
    b: str
    metric: str
    level: float
    datasets: tuple[Dataset, ...]
    better: DatasetCount
    worse: DatasetCount
    mean: MeanDifference
    pooled: Comparison | None = None
    heterogeneity: Heterogeneity | None = None
    verdicts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    task: str | None = field(default=None, repr=False)
    range: tuple[float, float] | None = None

    _report = "compare_report.datasets_document"

    @property
    def match(self) -> str | None:
        """Return the rule by which a span is right on all data sets; None for the usual one."""
        return self.datasets[0].comparison.match

    def __getitem__(self, which: int | str) -> Dataset:
        """Return a data set by its index or its name."""
        if isinstance(which, str):
            return {one.dataset: one for one in self.datasets}[which]
        return self.datasets[which]

    def __len__(self) -> int:
        return len(self.datasets)

    def _metrics(self) -> Iterable[Named]:
        for one in self.datasets:
            yield from one.comparison._metrics_under(one.dataset)
        yield from self.mean._metrics_under("mean")
        for count in (self.better, self.worse):
            yield (count.system, "better_on_bonferroni"), count.bonferroni
            yield (count.system, "better_on_fisher"), count.fisher

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary per data set, then the mean and the pooled difference."""
        found = [{"kind": "dataset", **record} for one in self.datasets for record in one.records()]
        head = self._own(("a", "b", "metric"))
        found += ({"kind": "mean", **head, **record} for record in self.mean.records())
        if self.pooled is not None:
            found += ({"kind": "pooled", **record} for record in self.pooled.records())
        return found

    def plot(self) -> Axes:
        """Draw the differences with their intervals; return matplotlib's axes."""
        return drawn_by("compare_report.datasets_figure", self)[0]

    def _key_numbers(self) -> str:
        return f"{counted(len(self), 'data set')}, {self.metric}, {self.b} - {self.a}: {self.mean}"

    def __str__(self) -> str:
        return " ".join(self.verdicts)
