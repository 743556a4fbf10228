"""What a comparison of systems comes back as."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from probative.results.base import DifferenceResult, Result
from probative.results.scores import Scores
from probative.wording.numbers import number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from probative.reporting.document import Document
    from probative.results.groups import GroupSummary
    from probative.results.ledger import Fingerprints
    from probative.results.posteriors import DifferencePosterior
    from probative.results.runs import RunScoreTests, VarianceParts
    from probative.results.tests import NullDistribution

__all__ = [
    "Bucket",
    "BucketDifference",
    "Comparison",
    "Comparisons",
    "Example",
    "LabelDifference",
    "LabelExample",
    "SystemScore",
    "decision_pvalue",
    "one_sided",
]

# the right label, the one given instead, and how often; None is no span at all
Confusion: TypeAlias = tuple[str | None, str | None, int]


def decision_pvalue(pvalue: Any, p_unit: Any) -> Any:
    """Return the p-value that decides: the larger of the exchange's and Student's by unit.

    Where there is no Student's p-value (NaN), the exchange decides alone.
    """
    return np.fmax(pvalue, p_unit)


def one_sided(pvalue: float, difference: float) -> float:
    """Return the one-sided p-value of "B is better" from the two-sided one of a symmetric law."""
    return pvalue / 2 if difference > 0 else 1 - pvalue / 2


@dataclass(frozen=True, eq=False, repr=False)
class LabelDifference(DifferenceResult):
    """The difference of two systems on one label, B minus A, with its interval."""

    label: str
    score_a: float
    score_b: float
    difference: float
    low: float
    high: float

    def __str__(self) -> str:
        return (
            f"{self.label}: {self.score_b:.4f} against {self.score_a:.4f}, "
            f"{self.difference:+.4f} [{self.low:+.4f}, {self.high:+.4f}]"
        )


@dataclass(frozen=True, eq=False, repr=False)
class SystemScore(Result):
    """The score of one system with its interval, where several stand side by side."""

    system: str
    metric: str
    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.system}: {self.metric} {self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True, eq=False, repr=False)
class BucketDifference(DifferenceResult):
    """The difference of two systems on the items of a bucket, B minus A, with its interval."""

    a: str
    b: str
    metric: str
    difference: float
    low: float
    high: float

    def __str__(self) -> str:
        return (
            f"{self.metric}, {self.b} - {self.a}: {self.difference:+.4f} "
            f"[{self.low:+.4f}, {self.high:+.4f}]"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Bucket(Result):
    """What systems score on items of one kind: short ones, say, or those of rare labels.

    An item belongs to the bucket of its own length (sentence, words, label), whether the answer has
    it or only a system does.

    Attributes
    ----------
    kind, bucket
        What the items were parted by, and which part this is.
    items, units
        How many items the answer has in it, and in how many units.
    scores
        A `SystemScore` for each system.
    differences
        A `BucketDifference` for each pair that is compared. Their intervals stand each for itself:
        they are not adjusted for their number.
    """

    kind: str
    bucket: str
    items: int
    units: int
    scores: tuple[SystemScore, ...]
    differences: tuple[BucketDifference, ...]

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each score and each difference."""
        head = {name: getattr(self, name) for name in ("kind", "bucket", "items", "units")}
        return [{**head, **entry.to_dict()} for entry in (*self.scores, *self.differences)]

    def __str__(self) -> str:
        return f"{self.kind}, {self.bucket}: {'; '.join(map(str, self.differences))}"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(DifferenceResult):
    """What is known of the difference of two systems in one score.

    Attributes
    ----------
    a, b
        The baseline and the challenger.
    metric
        What is compared.
    difference, low, high
        B minus A, also called ``estimate``, with its interval.
    method
        How the interval was made.
    pvalue, p_unit, p_adjusted
        Of the two-sided randomisation test; Student's by unit, from the variance on which the
        interval rests, NaN where there is none; and, where there are more than two systems or
        several groups, the larger of the two adjusted by Holm's method.
    test, by
        Whether the test was exact or sampled, and what was exchanged.
    draws, pvalue_low, pvalue_high
        How many exchanges were drawn, and the limits between which the p-value of all exchanges
        lies with a probability of 0.9999; None where the test is exact.
    design_effect
        How many times larger the variance of the difference is than with independent items.
    p_a_better, p_equivalent, p_b_better
        Posterior probabilities that A is better by more than `rope`, that neither is, that B is.
    rope
        Half the width of the region of practical equivalence.
    posterior
        The posterior of the difference, with `kind`, `cdf`, `sf`, `pdf` and `interval`; its kind
        is "paired", or "hierarchical" for macro averages, which have no exact one.
    score_a, score_b, level
        The two scores, and the level of the interval.
    positives
        How many items the answer holds; without any, no score but accuracy and its like says
        anything.
    identical
        Whether the two outputs agree on every item.
    units_needed, observed_units, power
        How many units a difference of this size would need to show with that power, and how many
        there are; None where it cannot be told.
    by_label
        The difference on every label, where there are several.
    note
        What the reader must know, or None.
    null
        The null distribution of the test, from the same pass as `pvalue`, where figures were
        asked for; else None.
    question
        With several runs: "models", whether these trained models differ, whatever other runs would
        do; or "procedures", whether new runs would. Else None.
    runs
        How many runs each of the two has, by name.
    variance
        For procedures: the parts of the variance of the difference that come from the `units` of
        the test set, from the runs of either system (`runs_a`, `runs_b`; of paired runs together
        in `runs_a`) and from both together (`interaction`), and the `shares` of these parts.
    p_new_run_better
        For procedures: the probability that a new run of B scores higher than a new run of A on a
        new test set of this size.
    standard_error, degrees_of_freedom
        For procedures, and in groups: of the difference.
    pairs
        For paired runs: what the runs of every pair are called.
    companions
        For procedures: what tests of the scores of runs alone say, on this test set.
    p_bh
        In groups: the p-value adjusted by Benjamini and Hochberg's method, which keeps the expected
        share of false claims among all claims below the level.
    match
        When a span counts as right, such as ``partial``; None where it must be equal.
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
    posterior: DifferencePosterior
    score_a: float
    score_b: float
    level: float = 0.95
    positives: int | None = None
    identical: bool = False
    units_needed: int | None = None
    observed_units: int | None = None
    power: float = 0.8
    by_label: tuple[LabelDifference, ...] = ()
    note: str | None = None
    draws: int | None = None
    pvalue_low: float | None = None
    pvalue_high: float | None = None
    null: NullDistribution | None = field(default=None, repr=False)
    question: str | None = None
    runs: dict[str, int] | None = None
    variance: VarianceParts | None = None
    p_new_run_better: float | None = None
    standard_error: float | None = None
    degrees_of_freedom: float | None = None
    pairs: tuple[tuple[str, str], ...] | None = None
    companions: RunScoreTests | None = None
    p_bh: float | None = None
    match: str | None = None
    p_unit: float = nan

    @property
    def p_decision(self) -> float:
        """The p-value that decides about this pair alone: the larger of `pvalue` and `p_unit`."""
        return float(decision_pvalue(self.pvalue, self.p_unit))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; of the posterior its kind."""
        content = {**super().to_dict(), "posterior": self.posterior.kind}
        if self.question is None:
            return content
        # of several runs every comparison has the same keys, whichever question it answers
        return {"variance": None, "p_new_run_better": None, **content}

    @property
    def lacking(self) -> str | None:
        """Why there is no probability, where that is not because of a single unit."""
        return None

    def records(self) -> list[dict[str, Any]]:
        """Return the comparison as one flat dictionary."""
        (flat,) = super().records()
        if self.runs is not None:
            flat |= {"runs_of_a": self.runs[self.a], "runs_of_b": self.runs[self.b]}
        if self.variance is not None:
            shares = self.variance.to_dict()["shares"]
            flat |= {f"share_of_{name}": share for name, share in shares.items()}
        return [flat]

    def plot(self) -> Axes:
        """Draw the posterior of the difference; returns matplotlib's axes."""
        from probative.reporting.compare_figures import posterior_figure

        return posterior_figure(self).axes[0]

    def _key_numbers(self) -> str:
        return (
            f"{self.metric}, {self.b} - {self.a}: {self.difference:+.4f} "
            f"[{self.low:+.4f}, {self.high:+.4f}], p = {self.pvalue:.4g}, "
            f"P({self.b} better) = {number(self.p_b_better, 4)}"
        )

    def __str__(self) -> str:
        from probative.wording.verdict import verdict

        return verdict(self)


@dataclass(frozen=True)
class Example:
    """A sentence on which two systems differ.

    Attributes
    ----------
    a, b
        The systems.
    sentence
        Its number, from 1.
    words, separator
        Its tokens (or characters), of a long sentence those around the first dispute, and what
        stands between them.
    gold, spans_a, spans_b
        The spans of the answer and of the systems that meet these words, as (start, end, label)
        counted from the first of them.
    errors_a, errors_b
        How many spans each system has too many or too few.
    """

    a: str
    b: str
    sentence: int
    words: tuple[str, ...]
    separator: str
    gold: tuple[tuple[int, int, str], ...]
    spans_a: tuple[tuple[int, int, str], ...]
    spans_b: tuple[tuple[int, int, str], ...]
    errors_a: int
    errors_b: int


@dataclass(frozen=True)
class LabelExample:
    """A text on which one of two systems is right.

    Attributes
    ----------
    a, b
        The systems.
    item
        Its number, from 1.
    text
        What it says; of a long one the beginning.
    gold, label_a, label_b
        The right label, and those that the systems gave.
    """

    a: str
    b: str
    item: int
    text: str
    gold: str
    label_a: str
    label_b: str


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons(Scores):
    """The scores of several systems, and what is known of their differences.

    Attributes
    ----------
    comparisons
        A `Comparison` for each pair and metric; with several runs, one for each question.
    verdicts
        One sentence per pair, on the first metric.
    examples
        Sentences on which systems differ most; of labels, texts on which one of two is right.
    confusions
        For each system: the right label, the one given instead, and how often; None stands for no
        span at all.
    buckets
        Where they were asked for: a `Bucket` for each kind of items, such as long entities.
    adjustment
        ``holm`` or ``shaffer``: how p-values were adjusted, where they were.
    group_summaries
        Where groups were asked for: a `GroupSummary` for each pair and metric. What every group
        says stands in `groups`.
    fingerprints
        Where they were asked for: what tells the test set and the outputs from others.
    """

    comparisons: tuple[Comparison, ...] = ()
    verdicts: tuple[str, ...] = ()
    examples: tuple[Example | LabelExample, ...] = field(default=(), repr=False)
    confusions: tuple[tuple[Confusion, ...], ...] = field(default=(), repr=False)
    buckets: tuple[Bucket, ...] | None = None
    adjustment: str = field(default="holm", repr=False)
    group_summaries: tuple[GroupSummary, ...] | None = None
    fingerprints: Fingerprints | None = field(default=None, repr=False)

    def _metrics(self) -> Iterable[tuple[tuple[str, ...], Any]]:
        yield from super()._metrics()
        for c in self.comparisons:
            head = (f"{c.b} vs {c.a}", *([] if c.question is None else [c.question]))
            yield from (((*head, *parts), value) for parts, value in c._metrics())

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary per comparison."""
        return [record for comparison in self.comparisons for record in comparison.records()]

    def plot(self) -> list[Axes]:
        """Draw scores and differences with their intervals; returns matplotlib's axes."""
        from probative.reporting.compare_figures import comparison_figure

        return comparison_figure(self).axes

    def to_latex(
        self, *, label: str | None = None, digits: int | None = None, compact: bool = False
    ) -> str:
        r"""Return tables for a paper, in the style of the booktabs package.

        Parameters
        ----------
        label
            What ``\ref`` calls the first table; by default it is called after its title.
        digits
            How many decimals points have; by default 2, and 1 for limits of scores.
        compact
            Whether to put all into one table with one row per system: its scores, the interval of
            the one that is compared, the difference from the baseline, p and the probability of
            being better.
        """
        from probative.reporting.compare_report import compare_document
        from probative.reporting.render import as_latex

        return as_latex(compare_document(self, digits=digits, compact=compact), label)

    def _document(self) -> Document:
        from probative.reporting.compare_report import compare_document

        return compare_document(self)

    def _key_numbers(self) -> str:
        return "; ".join(c._key_numbers() for c in self.comparisons)

    def __str__(self) -> str:
        return " ".join(self.verdicts)
