"""Define the results of samples: the draw, estimates for the pool, looks while labels arrive."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from probative.results.base import Result, SignedResult, bracketed, drawn_by, shown_by
from probative.results.comparisons import Comparison, SystemScore
from probative.wording.numbers import counted, metric_name, points, pvalue

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from probative.results.base import Named


# --- Samples


@dataclass(frozen=True, eq=False, repr=False)
class SampledStratum(Result):
    """Stratum: units that are drawn with the same probability."""

    name: str  #: The common property of the units.
    size: int  #: The number of such units in the pool.
    drawn: int  #: The number of such units in the sample.
    new: int  #: The number of these that the last draw added.
    spread: float  #: The assumed standard deviation between them, in items.
    share: float  #: Their share of the sum over all strata of size times spread.
    #: The basis of their number; "all" of them are drawn; the "least" that a stratum gets; or their
    #: spread by a "guess", by "scores" (confidences), by a "pilot" or a "judge".
    why: str


@dataclass(frozen=True, eq=False, repr=False)
class Sampled(SignedResult):
    """Sample that was drawn from a pool to be annotated, and its expected precision.

    Attributes
    ----------
    task, unit
        ``entities`` or ``labels``; and what is drawn: sentences, documents, units or items.
    goal
        What the sample is to estimate best: the ``score`` of each system, or their ``difference``.
    systems
        The names of the systems.
    pool
        The number of units in the pool.
    labelled, new
        The number of units in the sample, and the number that the last draw added.
    strata
        A `SampledStratum` for each kind of unit.
    width, random_width
        The expected width of the interval of the goal, and that with the same number of random
        units.
    worth
        The effective sample size, the number of random units expected to give the same precision.
    level
        The level of that interval.
    seed
        The seed of the order in which units are drawn.
    units
        The numbers of the new units in the pool, from 0, in the order of the pool.
    files
        The files written: the ``sample`` and its ``design``.
    notes
        Messages on what was recognised or left out.
    design
        The `Design`.
    signature
        A short reproducible description of every choice.
    """

    task: str
    unit: str
    goal: str
    systems: tuple[str, ...]
    pool: int
    labelled: int
    new: int
    strata: tuple[SampledStratum, ...]
    width: float
    random_width: float
    worth: float
    level: float
    seed: int
    units: NDArray[Any]
    files: dict[str, str]
    notes: tuple[str, ...] = ()
    design: Any = field(default=None, repr=False)

    _lines = ("strata",)

    def _document(self) -> Any:
        return shown_by("survey_report.sample_document", self, explain=True)

    def __str__(self) -> str:
        from probative.wording.verdict import sample_summary

        return sample_summary(self)


# --- Estimates for a pool from few labels


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedScore(SystemScore):
    """Score of one system in a pool."""

    level: float = 0.95  #: The level of the interval.
    #: The standard error of the estimate; from the strata, even if the interval is made in another
    #: way (rare items).
    standard_error: float | None = None
    degrees_of_freedom: float | None = None  #: The degrees of freedom of `standard_error`.
    #: The variance, over that of the same number of units drawn by simple random sampling.
    design_effect: float | None = None
    #: The effective sample size, the number of units of a simple random sample that would be
    #: expected to give the same precision.
    worth: float | None = None
    judge_moved: float | None = None  #: The change of the estimate by a judge; None without one.
    #: The ratio of the standard errors with and without a judge; None without one.
    judge_width: float | None = None
    note: str | None = None  #: A caveat, or None.


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedDifference(Comparison):
    """Difference of two systems in a pool: a `Comparison` with its effective sample size.

    Interval, p-value and probabilities all come from one Student's distribution of the difference
    about its estimate. The fields of every `Comparison` are described there.
    """

    #: The effective sample size, the number of units of a simple random sample that would be
    #: expected to give the same precision.
    worth: float | None = None
    judge_moved: float | None = None  #: The change of the estimate by a judge; None without one.
    #: The ratio of the standard errors with and without a judge; None without one.
    judge_width: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedStratum(Result):
    """Stratum: units that were drawn with the same probability."""

    name: str  #: The common property of the units.
    size: int  #: The number of such units in the pool.
    labelled: int  #: The number of these that are labelled.
    items: float  #: The mean number of gold items in a labelled unit.
    right: dict[str, float]  #: The mean number of these items that each system has found.
    #: The share of the variance of the goal of the sample that comes from this stratum.
    share: float


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(SignedResult):
    """Scores and differences of systems in a large pool, estimated from few labels.

    Attributes
    ----------
    task, unit, goal
        As in `Sampled`: what was read, what was drawn, and what for.
    systems
        The names of the systems.
    pool, labelled
        The number of units, and the number of labelled ones.
    population
        Whether the statements hold beyond the pool, which is then a random sample itself.
    scores
        An `EstimatedScore` for each system and metric.
    comparisons
        An `EstimatedDifference` of each system with the first, by metric.
    verdicts
        The verdict on each system and the first, by the first metric.
    strata
        An `EstimatedStratum` for each.
    worth
        The effective sample size for the goal of the sample (the first difference, or the score of
        the first system): the number of simple random labels that would be expected to give the
        same precision; None if it is unknown.
    metric
        The score to which `worth`, `verdicts` and the shares of the strata refer.
    judge
        The name of the judge; None without one.
    notes
        Messages on what was recognised, and caveats about single scores.
    level
        The level of the intervals.
    match
        The rule by which a span is right, such as ``partial``; None if it must be equal.
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

    _report = "survey_report.estimate_document"
    _lines = ("scores", "comparisons")

    def __getitem__(self, key: tuple[str, str]) -> EstimatedScore:
        """Return the score of a system, by the names of the system and the metric."""
        return {(score.system, score.metric): score for score in self.scores}[key]

    def _metrics(self) -> Iterable[Named]:
        for score in self.scores:
            for name in ("estimate", "low", "high"):
                yield (score.system, score.metric, name), getattr(score, name)
        for gap in self.comparisons:
            for name in ("difference", "low", "high", "p_b_better"):
                yield (f"{gap.b} - {gap.a}", gap.metric, name), getattr(gap, name)

    def __str__(self) -> str:
        from probative.wording.verdict import estimate_summary

        sentences = self.verdicts or tuple(map(str, self.scores))
        return " ".join([f"{estimate_summary(self)}.", *sentences])


# --- Looks while labels arrive

# Measured at level 0.95 (docs/results/looks.csv); the study of samples of a pool comes to less.
_ABOUT = ", approximately (asymptotic: at most 4 % of simulated streams were ever outside)"


@dataclass(frozen=True, eq=False, repr=False)
class Look(SignedResult):
    """Estimate after some units, valid at any time and however often one looks.

    Attributes
    ----------
    look
        The number of this look, from 1.
    metric, level, by
        The score, the level of the interval, and what is counted: units or items.
    units
        The number of units so far.
    estimate, low, high
        One system's score, or the difference B minus A, and the ends of an interval that holds at
        every look.
    score_a, score_b
        The two scores; None with one system.
    e_value
        The capital by now of a bet against the hypothesis that the systems are exchangeable; None
        with one system.
    pvalue
        One over the largest e-value so far, at most 1; it is valid at any time.
    decided
        "b" if B was found better at the level, "a" if worse, else None. For a sample of a pool: on
        this pool, because the interval excluded 0 at this look or before; e-value and p-value test
        whether the systems differ beyond it.
    more
        The expected number of further units until a decision if the difference stays the same;
        None if that is unknown, or if it is decided.
    planned
        The number of units for which intervals and bets are tuned.
    pool
        The number of units of the pool, if these are a sample of one; else None.
    note
        A caveat, or None.
    signature
        A short reproducible description of every choice.
    """

    look: int
    metric: str
    level: float
    by: str
    units: int
    estimate: float
    low: float
    high: float
    score_a: float | None = None
    score_b: float | None = None
    e_value: float | None = None
    pvalue: float | None = None
    decided: str | None = None
    more: int | None = None
    planned: int | None = None
    note: str | None = None
    pool: int | None = None

    @property
    def is_of_two(self) -> bool:
        """Return True if it is about the difference of two systems."""
        return self.pvalue is not None

    @property
    def has_limits(self) -> bool:
        """Return True if the interval is narrower than all possible values, as it is at first."""
        least = -1.0 if self.is_of_two else 0.0
        return self.estimate == self.estimate and not (self.low <= least and self.high >= 1.0)

    def verdict(self, a: str = "A", b: str = "B") -> str:
        """Return the result of the check, with the names of the systems."""
        if self.pvalue is None:
            exact = self.by == "item" and self.pool is None
            return "the interval holds at every check" + ("" if exact else _ABOUT)
        value = pvalue(self.pvalue)
        said = f"p {value if value[0] == '<' else f'= {value}'} at any time"
        if self.decided:
            better, worse = (b, a) if self.decided == "b" else (a, b)
            if self.pool is not None:
                where = f"on this pool of {counted(self.pool, self.by)}"
                why = f"because the interval excludes 0 (beyond it, {said})"
                return f"decided: {better} is better than {worse} {where}, {why}"
            return f"decided: {better} is better than {worse} ({said})"
        if self.pool is not None:
            if self.low == self.high == 0:
                return "there is no difference on this pool, and further labels cannot change that"
            said = f"beyond this pool, {said}"
        if self.more is None:
            return f"not decided ({said}); further labels are not expected to decide it"
        return (
            f"not decided ({said}). Label about {counted(self.more, f'more {self.by}')}, assuming "
            "the difference stays the same"
        )

    def __str__(self) -> str:
        return self.summary()

    def summary(self, a: str = "A", b: str = "B") -> str:
        """Return the check in one line, with the names of the systems."""
        what = metric_name(self.metric)
        head = f"check {self.look}, {counted(self.units, self.by)}: "
        head += f"{what}, {b} − {a}" if self.is_of_two else what
        limits = f"{points(self.estimate)} [{points(self.low)}, {points(self.high)}]"
        return f"{head} {limits}; {self.verdict(a, b)}{bracketed(self.note)}"


@dataclass(frozen=True, eq=False, repr=False)
class Looks(SignedResult):
    """All looks so far; printed by the last one.

    Attributes
    ----------
    looks
        One `Look` after each batch.
    a, b
        The names of the systems; b is None with one system.
    notes
        Messages on what was recognised or left out.
    signature
        A short reproducible description of every choice.
    """

    looks: tuple[Look, ...]
    a: str = "A"
    b: str | None = None
    notes: tuple[str, ...] = ()

    _report = "survey_report.watch_document"
    _lines = ("looks",)

    @property
    def last(self) -> Look:
        """Return the newest look."""
        return self.looks[-1]

    def __str__(self) -> str:
        if not self.looks:
            return "no checks yet"
        return self.last.summary(self.a, self.b or "B")

    def _metrics(self) -> Iterable[Named]:
        return self.last._metrics()

    def plot(self) -> Axes:
        """Draw the interval against the number of labels; return matplotlib's axes."""
        return drawn_by("survey_report.looks_figure", self)[0]
