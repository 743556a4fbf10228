"""What several runs of two systems say: about these models, and about how they were trained."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from probative.results.base import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from probative._validation import Array
    from probative.reporting.document import Document
    from probative.results.base import DifferencePosterior
    from probative.results.comparisons import NullDistribution

__all__ = [
    "ModelsAnswer",
    "ProceduresAnswer",
    "RepeatedScore",
    "RunScoreTests",
    "RunsDifference",
    "RunsPlan",
    "RunsSurface",
    "VarianceParts",
]


@dataclass(frozen=True, eq=False, repr=False)
class VarianceParts(Result):
    """Where the variance of a mean difference comes from.

    Attributes
    ----------
    units
        From which units are in the test set, whatever the run.
    runs_a, runs_b
        From which runs there are of either system; both together in `runs_a` for paired runs.
    interaction
        From what single runs do to single units.
    n_units, n_runs_a, n_runs_b
        How many units and runs the parts belong to.
    interaction_a, interaction_b
        The two parts of the interaction; both together in `interaction_a` for paired runs.
    paired_runs
        Whether run i of A and run i of B belong together.
    """

    units: float
    runs_a: float
    runs_b: float
    interaction: float
    n_units: int
    n_runs_a: int
    n_runs_b: int
    interaction_a: float
    interaction_b: float
    paired_runs: bool = False

    @property
    def total(self) -> float:
        """The variance of the mean difference."""
        return self.units + self.runs_a + self.runs_b + self.interaction

    @property
    def shares(self) -> dict[str, float]:
        """The share of each part; NaN where nothing varies."""
        parts = {name: getattr(self, name) for name in _PARTS}
        total = self.total
        return {name: part / total if total > 0 else float("nan") for name, part in parts.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the parts and their shares."""
        return {**super().to_dict(), "shares": jsonable_shares(self.shares)}

    def __str__(self) -> str:
        shares = ", ".join(f"{name} {share:.0%}" for name, share in self.shares.items())
        return f"variance {self.total:.3g}: {shares}"


_PARTS = ("units", "runs_a", "runs_b", "interaction")


def jsonable_shares(shares: dict[str, float]) -> dict[str, float | None]:
    """Undefined shares as null."""
    return {name: share if share == share else None for name, share in shares.items()}


@dataclass(frozen=True, eq=False, repr=False)
class ModelsAnswer(Result):
    """Are these trained models better? Only the test set is random.

    Attributes
    ----------
    score_a, score_b
        The scores of the counts of all runs together.
    estimate, low, high
        Their difference, B minus A, and its limits.
    method, design_effect
        How the limits were made, as for `Difference`.
    pvalue, test, p_unit
        Of the exchange of whole units, all runs of a system at once; "exact" or "sampled". And
        Student's by unit, NaN where there is no variance.
    p_a_better, p_b_better
        The probabilities that either set of models scores higher on units like these.
    note
        What the reader must know, or None.
    """

    score_a: float
    score_b: float
    estimate: float
    low: float
    high: float
    method: str
    design_effect: float | None
    pvalue: float
    test: str
    p_a_better: float
    p_b_better: float
    note: str | None = None
    question: str = "models"
    null: NullDistribution | None = field(default=None, repr=False)
    posterior: DifferencePosterior | None = field(default=None, repr=False)
    p_unit: float = math.nan

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return (
            f"models, B - A: {self.estimate:+.4f} [{self.low:+.4f}, {self.high:+.4f}], "
            f"p = {self.pvalue:.4g}{note}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class ProceduresAnswer(Result):
    """Is this way of training better? A new run and a new test set are random.

    Attributes
    ----------
    score_a, score_b
        The mean scores of the runs.
    estimate, low, high
        Their difference, B minus A, and its limits.
    standard_error, degrees_of_freedom
        Of the difference.
    pvalue
        Of no difference between the procedures, two-sided.
    p_a_better, p_b_better
        The probabilities that the runs of either score higher on average.
    p_new_run_better
        The probability that a new run of B scores higher than a new run of A on a new test set of
        this size; a tie counts half.
    p_new_run_better_here
        The same on this test set.
    parts
        Where the variance comes from.
    note
        What the reader must know, or None.
    """

    score_a: float
    score_b: float
    estimate: float
    low: float
    high: float
    standard_error: float
    degrees_of_freedom: float
    pvalue: float
    p_a_better: float
    p_b_better: float
    p_new_run_better: float
    p_new_run_better_here: float
    parts: VarianceParts
    note: str | None = None
    question: str = "procedures"

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return (
            f"procedures, B - A: {self.estimate:+.4f} [{self.low:+.4f}, {self.high:+.4f}], "
            f"p = {self.pvalue:.4g}{note}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class RunsDifference(Result):
    """Two systems with several runs each, compared: two questions and their answers.

    Attributes
    ----------
    metric, level
        What was computed.
    scores_a, scores_b
        The score of each run.
    paired_runs
        Whether run i of A and run i of B belong together.
    models
        The answer about these trained models.
    procedures
        The answer about how they were trained; None where a system has one run. `note` says so.
    note
        What the reader must know, or None.
    """

    metric: str
    level: float
    scores_a: tuple[float, ...]
    scores_b: tuple[float, ...]
    paired_runs: bool
    models: ModelsAnswer
    procedures: ProceduresAnswer | None
    note: str | None = None

    @property
    def runs_overlap(self) -> bool:
        """Whether the best run of the system with the lower mean reaches the worst of the other."""
        low, high = sorted((self.scores_a, self.scores_b), key=lambda own: sum(own) / len(own))
        return max(low) >= min(high)

    def __str__(self) -> str:
        runs = f"{len(self.scores_a)} and {len(self.scores_b)} runs"
        lines = [f"{self.metric}, {runs}, level {self.level:.4g}", str(self.models)]
        lines += [str(self.procedures)] if self.procedures else []
        lines += [self.note] if self.note else []
        return "; ".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class RunScoreTests(Result):
    """What the scores of runs alone say, on this test set.

    Attributes
    ----------
    permutation_pvalue, assignments, exact
        The share of all assignments of runs to systems whose means lie at least as far apart; how
        many assignments there are, and whether all were counted rather than sampled.
    rank_test, rank_pvalue
        "mann-whitney", or "wilcoxon" for paired runs; as SciPy computes it, two-sided.
    p_run_better
        The share of pairs of runs in which that of B scores higher; a tie counts half.
    eps_min
        The almost stochastic order of B over A, at `level`: below 0.5, B is almost stochastically
        dominant.
    eps_min_a
        The same of A over B.
    level
        The confidence of the two.
    """

    permutation_pvalue: float
    assignments: int
    exact: bool
    rank_test: str
    rank_pvalue: float
    p_run_better: float
    eps_min: float
    eps_min_a: float
    level: float

    def __str__(self) -> str:
        how = "exact" if self.exact else "sampled"
        return (
            f"runs: {how} permutation p = {self.permutation_pvalue:.4g}, {self.rank_test} "
            f"p = {self.rank_pvalue:.4g}, eps_min = {self.eps_min:.3f}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class RepeatedScore(Result):
    """The score of a model that answered each sample several times.

    Attributes
    ----------
    metric, level, method
        What was computed, and how.
    estimate, low, high
        The score, to which each sample adds what its answers are worth on average, and its limits
        for new samples and new answers.
    samples, answers
        How many there are.
    repeats
        How many answers a sample has, on (harmonic) average.
    design_effect
        How many answers say as much as one independent one.
    share_of_answers
        The share of the variance that comes from which answers were given: what more answers to
        these samples could remove at most. None where no sample was answered twice.
    note
        What the reader must know, or None.
    """

    metric: str
    level: float
    estimate: float
    low: float
    high: float
    method: str
    samples: int
    answers: int
    repeats: float
    design_effect: float
    share_of_answers: float | None
    note: str | None = None

    @property
    def share_of_samples(self) -> float | None:
        """The share of the variance that only more samples could remove."""
        return None if self.share_of_answers is None else 1 - self.share_of_answers

    def width_with(self, *, samples: float | None = None, repeats: float | None = None) -> float:
        """How long the interval would be with other numbers of samples and answers to each.

        Parameters
        ----------
        samples, repeats
            As many as there are, by default. An infinite number of repeats is allowed.

        Examples
        --------
        >>> from probative.inference.runs import pass_rate
        >>> rate = pass_rate([[1, 1, 0], [0, 0, 0], [1, 1, 1], [1, 0, 1]] * 20)
        >>> "{:.3f} {:.3f}".format(rate.high - rate.low, rate.width_with(repeats=30))
        '0.161 0.127'
        """
        n = self.samples if samples is None else samples
        k = self.repeats if repeats is None else repeats
        share = self.share_of_answers
        if share is None:
            if repeats is not None and repeats != self.repeats:
                return math.nan
            share = 0.0
        factor = self.samples / n * (1 - share + share * self.repeats / k)
        return (self.high - self.low) * math.sqrt(factor)

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        share = self.share_of_answers
        told = "" if share is None else f"; answers make {100 * share:.0f} % of the variance"
        each = f"{self.repeats:.3g} answer{'' if self.repeats == 1 else 's'} each"
        return (
            f"{self.metric} of {self.samples:,} samples, {each}: {self.estimate:.4f} "
            f"[{self.low:.4f}, {self.high:.4f}]{told}{note}"
        )


class RunsSurface(NamedTuple):
    """Half-widths and powers over numbers of runs (down) and of units (across)."""

    runs: Array
    units: Array
    half_widths: Array
    powers: Array


@dataclass(frozen=True, eq=False, repr=False)
class RunsPlan(Result):
    """What other numbers of runs and units would bring for a comparison of procedures.

    Attributes
    ----------
    metric, level
        The score, and the level of the limits.
    difference, power
        The true difference to be shown, and the probability of showing it that is asked for.
    runs, units
        The numbers of runs of either system and of units that were tried.
    half_widths, powers
        Half the length of the interval, and the probability of showing the difference: a row for
        each number of runs, in it a number for each number of units.
    units_needed
        The least number of units with that power, for each number of runs; None where no number
        has it, because seeds alone vary too much.
    n_runs_a, n_runs_b, observed_units, paired_runs
        The pilot.
    half_width
        Half the length of an interval like the pilot's.
    half_width_with_another_run
        The same with one more run of either system.
    units_instead
        How many units would do as much as one more run of either; None where no number would.
    shares
        The share of the variance of the pilot that comes from units, runs and both together.
    note
        What the reader must know, or None.
    by, notes, signature
        What units are called, what was recognised in files, and every choice.
    surface
        Half-widths and powers on a finer grid, for figures.
    """

    metric: str
    level: float
    difference: float
    power: float
    runs: tuple[int, ...]
    units: tuple[int, ...]
    half_widths: tuple[tuple[float, ...], ...]
    powers: tuple[tuple[float, ...], ...]
    units_needed: tuple[int | None, ...]
    n_runs_a: int
    n_runs_b: int
    observed_units: int
    half_width: float
    half_width_with_another_run: float
    units_instead: int | None
    shares: dict[str, float]
    paired_runs: bool = False
    note: str | None = None
    by: str = field(default="unit", repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)
    signature: str = field(default="", repr=False)
    surface: RunsSurface | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name; null is what no number would do for."""
        return {**super().to_dict(), "units_instead": self.units_instead}

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each number of runs and of units."""
        return [
            {"runs": runs, "units": units, "half_width": width, "power": power}
            for runs, widths, powers in zip(self.runs, self.half_widths, self.powers, strict=True)
            for units, width, power in zip(self.units, widths, powers, strict=True)
        ]

    def plot(self) -> list[Axes]:
        """Draw contours of the half-width over runs and units; returns matplotlib's axes."""
        from probative.reporting.plan_report import runs_plan_figure

        return runs_plan_figure(self).axes

    def _document(self) -> Document:
        from probative.reporting.plan_report import runs_plan_document

        return runs_plan_document(self)

    def __str__(self) -> str:
        instead = "no number of units does as much"
        if self.units_instead is not None:
            instead = f"as would {self.units_instead:,} units"
        return (
            f"{self.metric}: ±{self.half_width:.4f} now; another run of either: "
            f"±{self.half_width_with_another_run:.4f}, {instead} ({self.observed_units:,} observed)"
        )
