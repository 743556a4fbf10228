"""Define the results of several runs: about these models, and about their training procedures."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from probative.results.base import Result, SignedResult, drawn_by, jsonable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from probative._validation import Array


@dataclass(frozen=True, eq=False, repr=False)
class VarianceParts(Result):
    """Parts of the variance of a mean difference."""

    units: float  #: The part due to the choice of units, common to all runs.
    #: The part due to the choice of runs of A; for paired runs, of both systems together.
    runs_a: float
    runs_b: float  #: The part due to the choice of runs of B; 0 for paired runs.
    interaction: float  #: The part due to effects of single runs on single units.
    n_units: int  #: The number of units to which the parts belong.
    n_runs_a: int  #: The number of runs of A.
    n_runs_b: int  #: The number of runs of B.
    #: The part of the interaction that is due to A; for paired runs all of it.
    interaction_a: float
    interaction_b: float  #: The part of the interaction that is due to B; 0 for paired runs.
    paired_runs: bool = False  #: Whether run i of A and run i of B belong together.

    @property
    def total(self) -> float:
        """Return the variance of the mean difference."""
        return self.units + self.runs_a + self.runs_b + self.interaction

    @property
    def shares(self) -> dict[str, float]:
        """Return the share of each part; NaN if nothing varies."""
        names, total = ("units", "runs_a", "runs_b", "interaction"), self.total
        return {name: getattr(self, name) / total if total > 0 else math.nan for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return the parts and their shares."""
        return {**super().to_dict(), "shares": jsonable(self.shares)}


@dataclass(frozen=True, eq=False, repr=False)
class RunScoreTests(Result):
    """Tests of the scores of runs alone, on this test set."""

    #: The share of all assignments of runs to systems whose means lie at least as far apart.
    permutation_pvalue: float
    assignments: int  #: The number of all assignments.
    exact: bool  #: Whether all of them were counted rather than sampled.
    rank_test: str  #: "mann-whitney", or "wilcoxon" for paired runs.
    rank_pvalue: float  #: Its two-sided p-value, as SciPy computes it.
    #: The share of pairs of runs in which that of B scores higher; a tie counts half.
    p_run_better: float
    #: The almost stochastic order of B over A, at `level`; below 0.5, B is almost stochastically
    #: dominant.
    eps_min: float
    eps_min_a: float  #: The almost stochastic order of A over B.
    level: float  #: The confidence of the two.


@dataclass(frozen=True, eq=False, repr=False)
class RepeatedScore(Result):
    """Score of a model that answered each sample several times."""

    metric: str  #: The score.
    level: float  #: The level of the interval.
    #: The value of the score, to which each sample contributes the mean of its answers.
    estimate: float
    low: float  #: The lower end of its interval for new samples and new answers.
    high: float  #: The upper end of its interval for new samples and new answers.
    method: str  #: The method of the interval.
    samples: int  #: The number of samples.
    answers: int  #: The number of answers.
    repeats: float  #: The harmonic mean of the number of answers to a sample.
    #: The number of answers that carry as much information as one independent answer.
    design_effect: float
    #: The share of the variance that comes from the choice of answers, which more answers to these
    #: samples could remove at most. None if no sample was answered twice.
    share_of_answers: float | None
    note: str | None = None  #: A caveat, or None.

    def width_with(self, *, samples: float | None = None, repeats: float | None = None) -> float:
        """Predict the width of the interval with other numbers of samples and answers to each.

        Parameters
        ----------
        samples, repeats
            The numbers; by default those observed. An infinite number of repeats is allowed.

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


class RunsSurface(NamedTuple):
    """Half-widths and powers by number of runs (rows) and of units (columns)."""

    runs: Array
    units: Array
    half_widths: Array
    powers: Array


@dataclass(frozen=True, eq=False, repr=False)
class RunsPlan(SignedResult):
    """Predicted precision and power of other numbers of runs and units, for procedures.

    Attributes
    ----------
    metric, level
        The score, and the level of the interval.
    difference, power
        The true difference to be shown, and the required probability of showing it.
    runs, units
        The numbers of runs of either system and of units that were tried.
    half_widths, powers
        Half the width of the interval, and the probability of showing the difference: a row for
        each number of runs, in it a number for each number of units.
    units_needed
        The smallest number of units with that power, for each number of runs; None if no number
        has it, because seeds alone vary too much.
    n_runs_a, n_runs_b, observed_units, paired_runs
        The pilot.
    half_width
        Half the width of an interval like the pilot's.
    half_width_with_another_run
        Half the width with one more run of either system.
    units_instead
        The number of units with the effect of one more run of either; None if no number has it.
    shares
        The share of the variance of the pilot that comes from units, runs and both together.
    by, notes, signature
        The name of the units, messages on what was recognised in files, and every choice.
    surface
        Half-widths and powers on a finer grid, for figures.
    task, range
        For graded scores: "scores", and the range of possible scores.
    note
        A caveat, or None.
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
    surface: RunsSurface | None = field(default=None, repr=False)
    task: str | None = field(default=None, repr=False)
    range: tuple[float, float] | None = None

    _report = "plan_report.runs_plan_document"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name; null means that no number is enough."""
        return {**super().to_dict(), "units_instead": self.units_instead}

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each number of runs and of units."""
        return [
            {"runs": runs, "units": units, "half_width": width, "power": power}
            for runs, widths, powers in zip(self.runs, self.half_widths, self.powers, strict=True)
            for units, width, power in zip(self.units, widths, powers, strict=True)
        ]

    def plot(self) -> list[Axes]:
        """Draw contours of the half-width over runs and units; return matplotlib's axes."""
        return drawn_by("plan_report.runs_plan_figure", self)

    def __str__(self) -> str:
        instead = "no number of units does as much"
        if self.units_instead is not None:
            instead = f"as would {self.units_instead:,} units"
        return (
            f"{self.metric}: ±{self.half_width:.4f} now; another run of either: "
            f"±{self.half_width_with_another_run:.4f}, {instead} ({self.observed_units:,} observed)"
        )
