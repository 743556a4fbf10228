"""Define the results of cross-validations and Bayes tests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.results.base import (
    DifferencePosterior,
    Result,
    ScorePosterior,
    SignedResult,
    drawn_by,
    jsonable,
    with_limits,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from probative._validation import Array, Number, Words
    from probative.counts import Counts, PairedCounts
    from probative.results.base import Named


@dataclass(frozen=True, eq=False, repr=False)
class SplitBalance(Result):
    """Balance of the halves of a block-regularised split, compared with random splits."""

    m: int  #: The number of repetitions.
    block_sizes: tuple[int, ...]  #: The number of instances of every block.
    size_difference: int  #: The largest difference between the sizes of two halves.
    strata: tuple[str, ...]  #: What was balanced (classes, labels, tokens).
    totals: Array  #: How often each of the strata occurs.
    #: For every stratum, the largest relative deviation of a half from half of the total.
    deviation: Array
    chi_square: Array  #: For every stratum, the chi-square statistic of its counts in the blocks.
    random_deviation: Array  #: The mean of `deviation` over twenty random splits.
    random_chi_square: Array  #: The mean of `chi_square` over these splits.

    @property
    def units(self) -> tuple[str, ...]:
        """Return `strata`, under its former name, for one release."""
        return self.strata

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; `strata` also as `units`, for one release."""
        return {**super().to_dict(), "units": list(self.strata)}

    def __str__(self) -> str:
        sizes = f"{len(self.block_sizes)} blocks of {min(self.block_sizes)}"
        if max(self.block_sizes) > min(self.block_sizes):
            sizes += f" to {max(self.block_sizes)}"
        if not self.strata:
            return f"{sizes}, halves differ by {self.size_difference} at most"
        return (
            f"{sizes}, halves differ by {self.size_difference} at most; strata deviate by up to "
            f"{100 * np.max(self.deviation):.3g} % (random splits: "
            f"{100 * np.max(self.random_deviation):.3g} %)"
        )


@dataclass(frozen=True, eq=False, repr=False)
class FoldCounts(Result):
    """Counts of a model on one fold."""

    fold: int  #: The number of the fold, from 1.
    model: str  #: The name of the model.
    train: int  #: The number of instances it was trained on.
    validation: int  #: The number of instances it was judged on.
    counts: Counts  #: Its counts on the validation half.
    seconds: float | None = None  #: The time of training and prediction, if they happened here.


@dataclass(frozen=True, eq=False, repr=False)
class ScorePosteriors(Result):
    """Posteriors of one score of some models, by how their folds are added up."""

    metric: str  #: The score.
    #: The results of `probative.posterior`, by model and by weight ("effective", "averaged").
    posteriors: dict[str, dict[str, ScorePosterior]] = field(repr=False)

    def curves(self, points: int = 200) -> dict[str, dict[str, tuple[Array, Array]]]:
        """Return scores from the 0.001 to the 0.999 quantile, and the densities there."""

        def curve(posterior: ScorePosterior) -> tuple[Array, Array]:
            scores = np.linspace(posterior.ppf(0.001), posterior.isf(0.001), points)
            return scores, np.asarray(posterior.pdf(scores))

        return {
            model: {weight: curve(posterior) for weight, posterior in by_weight.items()}
            for model, by_weight in self.posteriors.items()
        }


@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison(SignedResult):
    """Comparison of two training procedures on the folds of a cross-validation.

    Attributes
    ----------
    a, b
        The names of the baseline and the challenger.
    task, m
        ``labels`` or ``spans``, and the repetitions.
    folds
        The counts of every fold and model.
    paired
        The eight cases of the two models, fold by fold.
    effective_a, effective_b
        The effective counts: those of independent items that carry the same information.
    tests
        For every metric, the Bayes test with the paired posterior and that with independent ones.
    adjusted_tests
        For every metric, the test with the paired posterior that allows for the training variance:
        counts divided by the fold design effect, if it exceeds 1. The verdict is based on these.
    seed
        The seed of the split, or None if the folds were made elsewhere.
    balance
        The balance of the halves.
    scores
        For every metric, the posteriors of the two models' scores.
    signature
        A short reproducible description of every choice.
    """

    a: str
    b: str
    task: str
    m: int
    folds: tuple[FoldCounts, ...]
    paired: tuple[PairedCounts, ...] = field(repr=False)
    effective_a: Counts
    effective_b: Counts
    tests: tuple[BayesTest, ...]
    adjusted_tests: tuple[BayesTest, ...]
    seed: int | None = None
    balance: SplitBalance | None = None
    scores: tuple[ScorePosteriors, ...] = field(default=(), repr=False)

    _report = "bayes_report.crossval_document"

    @property
    def metrics(self) -> tuple[str, ...]:
        """Return the scores that were compared."""
        return tuple(dict.fromkeys(test.metric for test in self.tests))

    @property
    def paired_tests(self) -> tuple[BayesTest, ...]:
        """Return the published tests, with the paired posterior, without training variance."""
        return tuple(test for test in self.tests if test.posterior.kind == "paired")

    @property
    def published(self) -> dict[str, BayesTest]:
        """Return the published test of each metric, without training variance."""
        return {test.metric: test for test in self.paired_tests}

    def _metrics(self) -> Iterable[Named]:
        for test in self.tests:
            yield from test._metrics_under(test.posterior.kind)
        for test in self.adjusted_tests:
            yield from test._metrics_under("adjusted")

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary per test, with probabilities that allow for training variance."""
        return [
            record | self.adjusted_outcome(test) for test in self.tests for record in test.records()
        ]

    def adjusted_outcome(self, test: BayesTest) -> dict[str, float]:
        """Return the three probabilities of a paired test that allow for training variance."""
        if test.posterior.kind != "paired":
            return {}
        own = self[test.metric]._own(("p_a_better", "p_equivalent", "p_b_better"))
        return {f"{name}_adjusted": value for name, value in own.items()}

    def plot(self) -> list[Axes]:
        """Draw the posterior densities of the scores of both models; return matplotlib's axes."""
        return drawn_by("bayes_report.density_figure", self.scores)

    def _key_numbers(self) -> str:
        return "; ".join(
            f"{test.metric}: {with_limits(test.difference, test.low, test.high, '+.4f')}, "
            f"P({self.b} better) = {test.p_b_better:.4f}"
            for test in self.adjusted_tests
        )

    def __getitem__(self, metric: str) -> BayesTest:
        """Return the test of a metric on which the verdict is based, with training variance."""
        return {test.metric: test for test in self.adjusted_tests}[metric]

    def __str__(self) -> str:
        from probative.wording.verdict import model_remarks, model_verdicts

        return " ".join([*model_verdicts(self), *model_remarks(self)[:-1]])


# --- Bayes tests


@dataclass(frozen=True, eq=False, repr=False)
class BayesTest(SignedResult):
    """Bayes test of a score of two systems, A and B.

    Attributes
    ----------
    metric
        The score.
    p_h0, p_h1
        The probabilities that B's score is at most A's, and that it is higher.
    decision
        The rule of Wang and Li's test, which accepts the likelier hypothesis: "H1" if it is the
        more probable one, however little, else "H0". It is not a verdict: sentences use the
        thresholds of `compare`.
    interval_a, interval_b
        The equal-tailed intervals of the two scores.
    score_a, score_b
        The two scores, as observed.
    difference, estimate
        B's score minus A's, as observed.
    low, high
        The equal-tailed interval of the difference, computed on first use: it takes several times
        as long as the probabilities.
    p_a_better, p_equivalent, p_b_better
        The probabilities that A is better by more than `rope`, that neither is, that B is.
    rope
        Half the width of the region of practical equivalence.
    posterior
        The posterior of the difference, with ``cdf``, ``sf``, ``pdf`` and ``interval``. Its
        ``kind`` is "independent", from the two systems' own posteriors, or "paired", from the eight
        cases; JSON has the kind alone.
    weight
        The factor by which the summed counts of folds were multiplied; 1 for single tables.
    prior, level
        The weight of the prior and the level of the intervals.
    method
        "exact", or "integrated" if that left an error above 1e-8, or "sampled".
    error
        The standard error of p_h0 if it was sampled, or an estimate of the numerical error.
    fold_design_effect
        The ratio of the variance of the fold differences to that expected from their items; NaN if
        it is undefined, None for single tables.
    degrees_of_freedom
        Those of the training variance, if it was measured and allowed for.
    note
        A caveat, or None.

    For many tables the numbers are arrays, and the intervals have a row of two per table.
    signature
        A short reproducible description of every choice.
    """

    metric: str
    p_h0: Number
    p_h1: Number
    decision: str | Words
    interval_a: tuple[float, float] | Array
    interval_b: tuple[float, float] | Array
    score_a: Number
    score_b: Number
    difference: Number
    p_a_better: Number
    p_equivalent: Number
    p_b_better: Number
    posterior: DifferencePosterior
    weight: float
    rope: float = 0.0
    prior: float = 1.0
    level: float = 0.95
    method: str = "exact"
    error: Number = 0.0
    fold_design_effect: Number | None = None
    degrees_of_freedom: float | None = None
    note: str | None = None
    #: The ends of the interval of the difference, if they were sampled; else None.
    limits: tuple[Number, Number] | None = field(default=None, repr=False)

    @cached_property
    def _interval(self) -> tuple[Number, Number]:
        return self.posterior.interval(self.level) if self.limits is None else self.limits

    @property
    def estimate(self) -> Number:
        """Return the observed difference, under the name common to all results."""
        return self.difference

    @property
    def low(self) -> Number:
        """Return the lower end of the interval of the difference."""
        return self._interval[0]

    @property
    def high(self) -> Number:
        """Return the upper end of the interval of the difference."""
        return self._interval[1]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON, with the interval after the difference."""
        content: dict[str, Any] = {}
        for name, value in super().to_dict().items():
            content[name] = value
            if name == "difference":
                content |= {"low": jsonable(self.low), "high": jsonable(self.high)}
        return content

    def __str__(self) -> str:
        if np.ndim(self.p_h0):
            return f"{self.metric}: Bayes tests of {np.size(self.p_h0)} pairs of tables"
        from probative.wording.verdict import outcome_words

        return (
            f"{self.metric}: {outcome_words(self)}, P(H0) = {self.p_h0:.4f}, P(H1) = "
            f"{self.p_h1:.4f}; B - A = {with_limits(self.difference, self.low, self.high)}"
        )
