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
    #: The part due to the choice of runs of either system; for paired runs both together in
    #: `runs_a`.
    runs_a: float
    runs_b: float
    interaction: float  #: The part due to effects of single runs on single units.
    #: The number of units and runs to which the parts belong.
    n_units: int
    n_runs_a: int
    n_runs_b: int
    #: The two parts of the interaction; for paired runs both together in `interaction_a`.
    interaction_a: float
    interaction_b: float
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

    #: The share of all assignments of runs to systems whose means lie at least as far apart; the
    #: number of assignments, and whether all were counted rather than sampled.
    permutation_pvalue: float
    assignments: int
    exact: bool
    #: "mann-whitney", or "wilcoxon" for paired runs; as SciPy computes it, two-sided.
    rank_test: str
    rank_pvalue: float
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

    #: The score, and the level and method of its interval.
    metric: str
    level: float
    #: The score, to which each sample contributes the mean of its answers, and the ends of its
    #: interval for new samples and new answers.
    estimate: float
    low: float
    high: float
    method: str
    #: The number of samples and of answers.
    samples: int
    answers: int
    repeats: float  #: The harmonic mean of the number of answers to a sample.
    #: The number of answers that carry as much information as one independent answer.
    design_effect: float
    #: The share of the variance that comes from the choice of answers, which more answers to these
    #: samples could remove at most. None if no sample was answered twice.
    share_of_answers: float | None
    note: str | None = None  #: A caveat, or None.

    @property
    def share_of_samples(self) -> float | None:
        """Return the share of the variance that only more samples could remove."""
        return None if self.share_of_answers is None else 1 - self.share_of_answers

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
    """Predicted precision and power of other numbers of runs and units, for procedures."""

    #: The score, and the level of the interval.
    metric: str
    level: float
    #: The true difference to be shown, and the required probability of showing it.
    difference: float
    power: float
    #: The numbers of runs of either system and of units that were tried.
    runs: tuple[int, ...]
    units: tuple[int, ...]
    #: Half the width of the interval, and the probability of showing the difference, a row for each
    #: number of runs, in it a number for each number of units.
    half_widths: tuple[tuple[float, ...], ...]
    powers: tuple[tuple[float, ...], ...]
    #: The smallest number of units with that power, for each number of runs; None if no number has
    #: it, because seeds alone vary too much.
    units_needed: tuple[int | None, ...]
    #: The pilot.
    n_runs_a: int
    n_runs_b: int
    observed_units: int
    half_width: float  #: Half the width of an interval like the pilot's.
    half_width_with_another_run: float  #: Half the width with one more run of either system.
    #: The number of units with the effect of one more run of either; None if no number has it.
    units_instead: int | None
    #: The share of the variance of the pilot that comes from units, runs and both together.
    shares: dict[str, float]
    paired_runs: bool = False
    note: str | None = None  #: A caveat, or None.
    #: The name of the units, messages on what was recognised in files, and every choice.
    by: str = field(default="unit", repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)
    #: Half-widths and powers on a finer grid, for figures.
    surface: RunsSurface | None = field(default=None, repr=False)
    #: For graded scores, "scores", and the range of possible scores.
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
