"""Define the results of comparisons, tests, groups and gates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import floor, log10, nan
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from probative.results.base import (
    DifferencePosterior,
    DifferenceResult,
    PairDifference,
    Result,
    SignedResult,
    bracketed,
    drawn_by,
    numbers_of,
    with_limits,
)
from probative.results.scores import ScoredResult, SystemScores
from probative.wording.numbers import (
    metric_name,
    number,
    region,
    scale_of,
    scale_word,
    signed_points,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from probative._validation import Array
    from probative.results.base import Named
    from probative.results.ledger import Fingerprints, GateUse
    from probative.results.records import FieldChange, RecordExample
    from probative.results.runs import RunScoreTests, VarianceParts


# the gold label, the one given instead, and how often; None is no span at all
_Confusion: TypeAlias = tuple[str | None, str | None, int]


def decision_pvalue(pvalue: Any, p_unit: Any) -> Any:
    """Return the p-value that decides: the larger of the exchange's and Student's by unit.

    If there is no Student's p-value (NaN), the exchange decides alone.
    """
    return np.fmax(pvalue, p_unit)


def one_sided(pvalue: float, difference: float) -> float:
    """Return the one-sided p-value of "B is better" from the two-sided one of a symmetric law."""
    return pvalue / 2 if difference > 0 else 1 - pvalue / 2


@dataclass(frozen=True, eq=False, repr=False)
class LabelDifference(DifferenceResult):
    """Difference of two systems on one label, B minus A, with its interval.

    For fields of records, `pvalue` is that of the randomisation test or of Student's by document,
    whichever is larger, and `p_adjusted` allows for the number of fields by Holm's method.
    """

    label: str  #: The label, or the path of a field of records.
    score_a: float  #: The score of A on this label.
    score_b: float  #: The score of B on this label.
    difference: float  #: B minus A.
    low: float  #: The lower end of the interval of the difference.
    high: float  #: The upper end of the interval of the difference.
    pvalue: float | None = None  #: For fields of records, the p-value; else None.
    p_adjusted: float | None = None  #: For fields of records, the adjusted p-value; else None.

    def __str__(self) -> str:
        limits = with_limits(self.difference, self.low, self.high, "+.4f")
        return f"{self.label}: {self.score_b:.4f} against {self.score_a:.4f}, {limits}"


@dataclass(frozen=True, eq=False, repr=False)
class SystemScore(Result):
    """Score of one system with its interval, as one of several."""

    system: str  #: The name of the system.
    metric: str  #: The score.
    estimate: float  #: Its value.
    low: float  #: The lower end of its interval.
    high: float  #: The upper end of its interval.

    def __str__(self) -> str:
        return f"{self.system}: {self.metric} {with_limits(self.estimate, self.low, self.high)}"


@dataclass(frozen=True, eq=False, repr=False)
class BucketDifference(PairDifference):
    """Difference of two systems in one metric, B minus A, with its interval and without a test.

    It is that on the items of a bucket, or that in a metric beside the compared one.
    """


@dataclass(frozen=True, eq=False, repr=False)
class Bucket(Result):
    """Scores of systems on items of one kind, such as short ones or those of rare labels.

    An item belongs to the bucket of its own length (sentence, words, label), whether gold has it or
    only a system does.
    """

    kind: str  #: The property by which the items were sorted.
    bucket: str  #: The name of the bucket.
    items: int  #: The number of gold items in it.
    units: int  #: The number of units that have these.
    scores: tuple[SystemScore, ...]  #: A `SystemScore` for each system.
    #: A `BucketDifference` for each pair that is compared. Their intervals are not adjusted for
    #: their number.
    differences: tuple[BucketDifference, ...]

    _lines = ("scores", "differences")
    _head = ("kind", "bucket", "items", "units")

    def __str__(self) -> str:
        return f"{self.kind}, {self.bucket}: {'; '.join(map(str, self.differences))}"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(PairDifference):
    """Difference of two systems in one score: interval, test and posterior.

    Attributes
    ----------
    a, b
        The baseline and the challenger.
    metric
        The score.
    difference, low, high
        B minus A, also called ``estimate``, with its interval.
    method
        The method of the interval.
    pvalue, p_unit, p_adjusted
        The p-value of the two-sided randomisation test; Student's by unit, from the variance behind
        the interval, NaN if there is none; and, with more than two systems or several groups, the
        larger of the two adjusted by Holm's method.
    test, by
        Whether the test was exact or sampled, and what was exchanged.
    draws, pvalue_low, pvalue_high
        The number of exchanges that were drawn, and an interval that holds the p-value of all
        exchanges with probability 0.9999; None if the test is exact.
    design_effect
        The ratio of the variance of the difference to that of independent items.
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
        The number of gold items; without any, only accuracy and similar scores are meaningful.
    identical
        Whether the two outputs agree on every item.
    units_needed, observed_units, power
        The number of units with which a difference of this size would show with that power, and the
        number there are; None if it is unknown.
    by_label
        The difference on every label, if there are several.
    null
        The null distribution of the test, from the same pass as `pvalue`, if figures were asked
        for; else None.
    question
        With several runs: "models", whether these trained models differ, regardless of other runs;
        or "procedures", whether new runs would. Else None.
    runs
        The number of runs of each of the two, by name.
    variance
        For procedures: the parts of the variance of the difference that come from the `units` of
        the test set, from the runs of either system (`runs_a`, `runs_b`; for paired runs together
        in `runs_a`) and from both together (`interaction`), and the `shares` of these parts.
    p_new_run_better
        For procedures: the probability that a new run of B scores higher than a new run of A on a
        new test set of this size.
    standard_error, degrees_of_freedom
        For procedures, and in groups: those of the difference.
    pairs
        For paired runs: the names of the runs of every pair.
    companions
        For procedures: tests of the scores of runs alone, on this test set.
    p_bh
        In groups: the p-value adjusted by Benjamini and Hochberg's method, which keeps the expected
        share of false claims among all claims below the level.
    note
        A caveat, or None.
    match
        The rule by which a span is right, such as ``partial``; None if it must be equal.
    unknown
        Why there is no probability, unless the reason is a single unit; else None.
    """

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
    unknown: str | None = None

    @property
    def p_decision(self) -> float:
        """Return the p-value that decides about this pair, the larger of `pvalue` and `p_unit`."""
        return float(decision_pvalue(self.pvalue, self.p_unit))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON."""
        content = super().to_dict()
        if self.question is None:
            return content
        # with several runs, the comparisons of both questions have the same keys
        return {"variance": None, "p_new_run_better": None, **content}

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
        """Draw the posterior of the difference; return matplotlib's axes."""
        return drawn_by("compare_report.posterior_figure", self)[0]

    def _key_numbers(self) -> str:
        chance = f"P({self.b} better) = {number(self.p_b_better, 4)}"
        return f"{super().__str__()}, p = {self.pvalue:.4g}, {chance}"

    def __str__(self) -> str:
        from probative.wording.verdict import verdict

        return verdict(self)


@dataclass(frozen=True)
class Example:
    """Sentence on which two systems differ."""

    a: str  #: The first system, A.
    b: str  #: The second system, B.
    sentence: int  #: Its number, from 1.
    #: Its tokens (or characters), in a long sentence those around the first difference.
    words: tuple[str, ...]
    separator: str  #: The text between two of these words.
    #: The spans of gold that overlap these words, as (start, end, label) counted from the first of
    #: them.
    gold: tuple[tuple[int, int, str], ...]
    spans_a: tuple[tuple[int, int, str], ...]  #: The spans of A, in the same form.
    spans_b: tuple[tuple[int, int, str], ...]  #: The spans of B, in the same form.
    errors_a: int  #: The number of extra and missing spans of A.
    errors_b: int  #: The number of extra and missing spans of B.
    #: The F1 of A on this sentence alone; 1 if nothing is there and nothing is returned.
    f1_a: float
    f1_b: float  #: The F1 of B on this sentence alone, with the same rule.

    @property
    def better(self) -> str:
        """Return the system with the higher F1 on this sentence."""
        return self.b if self.f1_b > self.f1_a else self.a


@dataclass(frozen=True)
class LabelExample:
    """Text on which one of two systems is right."""

    a: str  #: The first system, A.
    b: str  #: The second system, B.
    item: int  #: Its number, from 1.
    text: str  #: The text, or the beginning of a long one.
    gold: str  #: The gold label.
    label_a: str  #: The label from A.
    label_b: str  #: The label from B.

    @property
    def better(self) -> str:
        """Return the system that is right."""
        return self.b if self.label_b == self.gold else self.a


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons(ScoredResult):
    """Scores of several systems, and comparisons of them.

    Attributes
    ----------
    scores
        The `Scores` of the systems; with groups, `scores.groups` holds the results of every group.
        All it has can be read from the comparison, too: `systems`, `task`, `notes` and so on.
    comparisons
        A `Comparison` for each pair and metric; with several runs, one for each question.
    verdicts
        One sentence per pair, on the first metric.
    examples
        Sentences on which systems differ most; for labels, texts on which one of two is right; for
        records, the documents with the most errors.
    confusions
        For each system: the gold label, the one given instead, and how often; None stands for no
        span at all.
    buckets
        If asked for: a `Bucket` for each kind of items, such as long entities.
    other_metrics
        If no metric was asked for: the differences in the metrics beside the compared one, such as
        precision and recall beside F1. They are not tested, and not adjusted for their number.
    adjustment
        ``holm`` or ``shaffer``: how p-values were adjusted, if they were.
    group_summaries
        If groups were asked for: a `GroupSummary` for each pair and metric. The results of every
        group are in `groups`.
    fingerprints
        If asked for: what identifies the test set and the outputs.
    fields
        If asked for: a `Group` for each of the critical fields of records.
    changes
        For records: a `FieldChange` for each pair and each path on which they differ.
    """

    comparisons: tuple[Comparison, ...] = ()
    verdicts: tuple[str, ...] = ()
    examples: tuple[Example | LabelExample | RecordExample, ...] = field(default=(), repr=False)
    confusions: tuple[tuple[_Confusion, ...], ...] = field(default=(), repr=False)
    buckets: tuple[Bucket, ...] | None = None
    adjustment: str = field(default="holm", repr=False)
    group_summaries: tuple[GroupSummary, ...] | None = None
    fingerprints: Fingerprints | None = field(default=None, repr=False)
    fields: tuple[Group, ...] | None = None
    changes: tuple[FieldChange, ...] | None = field(default=None, repr=False)
    other_metrics: tuple[BucketDifference, ...] | None = None

    _report = "compare_report.compare_document"
    _lines = ("comparisons",)

    def _metrics(self) -> Iterable[Named]:
        yield from self.scores._metrics()
        for c in self.comparisons:
            question = [] if c.question is None else [c.question]
            yield from c._metrics_under(f"{c.b} vs {c.a}", *question)

    def plot(self) -> list[Axes]:
        """Draw scores and differences with their intervals; return matplotlib's axes."""
        return drawn_by("compare_report.comparison_figure", self)

    def to_latex(
        self, *, label: str | None = None, digits: int | None = None, compact: bool = False
    ) -> str:
        r"""Return tables for a paper, in the style of the booktabs package.

        Parameters
        ----------
        label
            The label of the first table for ``\ref``; by default it is made from its title.
        digits
            The number of decimals of points; by default 1, and more where intervals are narrow.
        compact
            Whether to make one table with one row per system: its scores, the interval of the one
            that is compared, the difference from the baseline, p and the probability of being
            better.
        """
        from probative.reporting.compare_report import compare_document
        from probative.reporting.render import as_latex

        return as_latex(compare_document(self, digits=digits, compact=compact), label)

    def _key_numbers(self) -> str:
        return "; ".join(c._key_numbers() for c in self.comparisons)

    def __str__(self) -> str:
        return " ".join(self.verdicts)


# --- Tests and differences of two systems


@dataclass(frozen=True, eq=False, repr=False)
class NullDistribution(Result):
    """Distribution of a difference of scores if the systems are exchangeable, as a histogram."""

    #: The edges of the bins, symmetric about 0. The observed difference is one of them; if
    #: differences come in equal steps, that edge lies half a step nearer to 0, and no difference
    #: falls on an edge.
    edges: Array
    #: The probability of each bin. A difference that falls on an edge belongs to the bin further
    #: from 0, as a tie counts as extreme; the outermost bins also hold what lies beyond them.
    probabilities: Array

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each bin."""
        bins = zip(self.edges[:-1], self.edges[1:], self.probabilities, strict=True)
        names = ("low", "high", "probability")
        return [dict(zip(names, map(float, row), strict=True)) for row in bins]

    def __str__(self) -> str:
        return f"null distribution in {len(self.probabilities)} bins up to ±{self.edges[-1]:.4g}"


@dataclass(frozen=True, eq=False, repr=False)
class RandomizationTest(SignedResult):
    """Result of a randomisation test of two systems on one test set.

    Attributes
    ----------
    metric, alternative, by
        The score, the alternative hypothesis, and what was exchanged: "unit" or "item".
    method
        "exact", or "sampled" if random exchanges were drawn.
    statistic, estimate
        The observed difference, B minus A, by either name; an undefined score counts as 0.
    pvalue
        The probability of a difference at least as extreme if A and B were exchangeable.
    n_units
        The number of units (by unit) or items (by item).
    n_resamples, standard_error
        The number of exchanges that were drawn, and the Monte-Carlo error of the p-value; None if
        exact.
    pvalue_low, pvalue_high
        An interval that holds the p-value of all exchanges with probability 0.9999, however many
        were drawn; None if exact.
    note
        A caveat about this test, or None.
    null
        The distribution of the difference under the null hypothesis, if it was asked for.
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

    @property
    def estimate(self) -> float:
        """Return the statistic, a difference, under the name common to all results."""
        return self.statistic

    def __str__(self) -> str:
        return (
            f"{self.metric}, B - A = {self.statistic:+.4f}: p = {self.pvalue:.4g}, {self.method} "
            f"{self.alternative} randomisation test by {self.by}{bracketed(self.note)}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Difference(SignedResult):
    """Difference of two scores, B minus A, with its interval.

    Attributes
    ----------
    metric, method, level
        The score, the method of the interval, and its level.
    estimate, low, high
        The difference and the ends of its interval. If a score is undefined they are NaN, -1 and 1.
    a, b
        The two scores.
    correlation
        The correlation of the two scores over test sets like this one.
    design_effect
        The ratio of the variance of the difference to that of independent items, or None without
        units; the interval already allows for it.
    note
        A caveat about this interval, or None.
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

    def _metrics(self) -> Iterable[Named]:
        others = self._own(("low", "high", "a", "b", "correlation", "design_effect"))
        return numbers_of({"difference": self.estimate} | others, self.metric)

    def __str__(self) -> str:
        limits = with_limits(self.estimate, self.low, self.high, "+.4f")
        how = f"{self.level:.4g} {self.method} interval{bracketed(self.note)}"
        return f"{self.metric}, B - A: {limits}, {how}"


@dataclass(frozen=True, eq=False, repr=False)
class SignificanceTest(Result):
    """Result of a test of two systems that is not a randomisation test.

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
        Those of the statistic's distribution, if it has any.
    note
        A caveat about this test, or None.
    """

    test: str
    statistic: float
    pvalue: float
    alternative: str
    degrees_of_freedom: float | tuple[float, float] | None = None
    note: str | None = None

    def __str__(self) -> str:
        return (
            f"{self.test} test, {self.alternative}: statistic {self.statistic:.4g}, "
            f"p = {self.pvalue:.4g}{bracketed(self.note)}"
        )


# --- Groups, such as languages, domains or days


@dataclass(frozen=True, eq=False, repr=False)
class Group(Result):
    """Scores of systems in one group, and comparisons of them there."""

    group: str  #: Its name, from the column of groups; ``(missing)`` for rows without a value.
    rows: int  #: The number of its rows (sentences, for tags).
    units: int  #: The number of units that have these rows.
    systems: tuple[SystemScores, ...]  #: The counts and the scores of every system.
    #: If systems are compared, a `Comparison` for each pair and metric. `p_adjusted` allows for the
    #: number of groups and pairs by Holm's method, `p_bh` by Benjamini and Hochberg's.
    comparisons: tuple[Comparison, ...] | None = None

    _lines = ("_parts",)
    _head = ("group", "rows", "units")

    def of_pair(self, a: str, b: str, metric: str, question: str | None = None) -> Comparison:
        """Return the comparison of a pair in a metric; with several runs, on one question."""
        known = {(c.a, c.b, c.metric, c.question): c for c in self.comparisons or ()}
        return known[a, b, metric, question]

    @property
    def _parts(self) -> tuple[Result, ...]:
        return self.systems if self.comparisons is None else self.comparisons

    def __str__(self) -> str:
        return f"{self.group}: {'; '.join(part._key_numbers() for part in self._parts)}"


@dataclass(frozen=True, eq=False, repr=False)
class Heterogeneity(Result):
    """Test whether differences vary over groups by more than chance."""

    #: Cochran's Q, the sum of squared distances of the differences from their weighted mean, in
    #: standard errors.
    q: float
    degrees_of_freedom: int  #: The number of groups with a known standard error, less one.
    #: The p-value of the hypothesis that the difference is the same in all of them, by Welch's
    #: approximation, which allows for standard errors from few units.
    pvalue: float
    i_squared: float  #: The share of the variance of the differences that chance does not explain.


@dataclass(frozen=True, eq=False, repr=False)
class GroupWeight(Result):
    """Scores of two systems in a group, and the weights of these in their overall scores.

    The overall score of a system is the sum of its scores times their weights.
    """

    group: str  #: The name of the group.
    score_a: float  #: The score of A in this group.
    weight_a: float  #: The weight of this score in the overall score of A.
    score_b: float  #: The score of B in this group.
    weight_b: float  #: The weight of this score in the overall score of B.


@dataclass(frozen=True, eq=False, repr=False)
class GroupSummary(Result):
    """Summary of all groups for one pair."""

    a: str  #: The first system, A.
    b: str  #: The second system, B.
    metric: str  #: The score.
    column: str  #: The column of the groups.
    difference: float  #: B minus A over all groups together.
    groups: int  #: The number of groups.
    tested: int  #: The number of groups in which the pair was tested.
    #: The number of tests that the p-values are adjusted for, with those of other pairs.
    tests: int
    better: tuple[str, ...]  #: The groups in which B is decided better, by Holm-adjusted p-values.
    worse: tuple[str, ...]  #: The groups in which B is decided worse, in the same way.
    ahead: int  #: The number of groups with a difference above 0, decided or not.
    behind: int  #: The number of groups with a difference below 0, decided or not.
    #: Whether the differences vary by more than chance; None if that is unknown.
    heterogeneity: Heterogeneity | None = None
    #: Warnings about the overall difference are ``mixed`` (B is decided better in some groups and
    #: worse in others), ``reversal`` (the difference in every group has the opposite sign of the
    #: overall one: Simpson's paradox), ``against-most`` (B minus A is decided overall, and most
    #: groups point the other way).
    disagreements: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()  #: The summary in words.
    #: For a reversal, a `GroupWeight` for each group, which shows how it arises. None for macro
    #: averages, which are not means over groups.
    weights: tuple[GroupWeight, ...] | None = None
    question: str | None = None  #: With several runs, "models" or "procedures", as in `Comparison`.

    def __str__(self) -> str:
        return " ".join(self.sentences)


# --- Gates

_BOUNDARY = {"fail-if-worse": ("<", -1), "require-not-worse": (">", -1), "require-better": (">", 1)}


@dataclass(frozen=True, eq=False, repr=False)
class GateVerdict(Result):
    """Verdict of a gate: whether a challenger passes, and why.

    Attributes
    ----------
    kind
        "fail-if-worse", "require-not-worse" or "require-better".
    a, b, metric
        The baseline, the challenger, and the score.
    margin, confidence
        The margin, a fraction of 1, and the probability that is required (or, for "fail-if-worse",
        that must not be reached).
    probability
        The probability of the difference that the gate asks for; NaN if there is no evidence.
    passed
        Whether the challenger passes.
    reason
        Why the gate refuses to judge, or None.
    question
        With several runs: "procedures" if new runs were allowed for, "models" if there was a single
        run of each. With several data sets: "mean", for the mean over them. Else None.
    use
        With a ledger: the number of this look at the test set, and how many are left.
    hidden
        Whether only the verdict is shown: then the probability is NaN.
    pvalue
        For "require-better" without a margin: the one-sided p-value, which must be at most 1 -
        confidence. It is that of the exchange or Student's by unit, whichever is larger. Else None.
    least
        With a margin, and for "require-not-worse": the lower end of the one-sided interval at this
        confidence, which must exceed the margin. Else None.
    group, doubt
        With groups: the group, None for the whole; and the probability that the requirement does
        not hold in it, adjusted for the number of groups by Holm's method.
    warning
        With groups: how they disagree, or None.
    match
        The rule by which a span is right, such as ``partial``; None if it must be equal.
    """

    kind: str
    a: str
    b: str
    metric: str
    margin: float
    confidence: float
    probability: float
    passed: bool
    reason: str | None = None
    question: str | None = None
    match: str | None = None
    use: GateUse | None = None
    hidden: bool = field(default=False, repr=False)
    pvalue: float | None = None
    least: float | None = None
    group: str | None = None
    doubt: float | None = None
    warning: str | None = None
    #: Whether it passes although a difference, asked in both directions, is not established.
    one_sided_only: bool = field(default=False, repr=False)
    scale: Any = field(default=None, repr=False)  #: The result on whose scale numbers are printed.

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes by name, and the margin in points."""
        return super().to_dict() | {"margin_points": round(100 * self.margin, 10)}

    def __str__(self) -> str:
        with scale_of(self.scale):
            return self._sentence()

    def _sentence(self) -> str:
        word, metric = "PASSED" if self.passed else "FAILED", metric_name(self.metric, self.match)
        head = f"{self.kind} {word}: {self.b} against {self.a}, {metric}"
        head += {
            "procedures": " of new runs",
            "models": " of these models",
            "mean": ", mean over the data sets",
        }.get(self.question or "", "")
        if self.group is not None:
            head += f" in {self.group}"
        if self.reason:
            return f"{head}: {self.reason}"
        if self.hidden:
            return f"{head}, at confidence {_confidence(self.confidence)}"
        sign, side = _BOUNDARY[self.kind]
        limit = f"{'−' if side < 0 and self.margin > 0 else ''}{region(self.margin)}"
        relation = ">=" if self.probability >= self.confidence else "<"
        chance = f"{self.probability:.{max(4, _digits(self.confidence))}f}"
        asked = f"{chance} {relation} {_confidence(self.confidence)}"
        return f"{head}: P(B − A {sign} {limit}) = {asked}{self._beside(limit)}"

    def _beside(self, limit: str) -> str:
        """Return the text after the probability: test or interval, and warnings of groups."""
        said, most = "", 1 - self.confidence
        if self.pvalue is not None:
            holds = self.pvalue <= most * (1 + 1e-9)
            said += f", one-sided p = {self.pvalue:.4f} {'<=' if holds else '>'} {most:.4g}"
        if self.least is not None:
            side = 1 if self.kind == "require-better" else -1
            relation = ">" if self.least > side * self.margin else "<="
            level = f"{100 * self.confidence:.6g} %"
            low = f"{signed_points(self.least, 2)}{scale_word()}"
            said += f", one-sided {level} interval from {low} {relation} {limit}"
        if self.doubt is not None:
            said += f" (Holm-adjusted doubt {self.doubt:.4f})"
        if self.one_sided_only:
            said += "; asked in this direction alone: both ways, a difference is not established"
        return said if self.warning is None else f"{said}; {self.warning}"


def _confidence(confidence: float) -> str:
    """Format a confidence, with enough digits to distinguish it from 1."""
    short = f"{confidence:g}"
    return short if float(short) == confidence else f"{confidence:.{_digits(confidence)}f}"


def _digits(confidence: float) -> int:
    """Return the number of decimals that shows two digits of 1 - confidence."""
    return 1 - floor(log10(1 - confidence)) if confidence < 1 else 12
