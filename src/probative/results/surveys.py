"""Hold what comes of a sample: the draw, estimates of the pool, checks while labels arrive."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from probative.results.base import Result
from probative.results.comparisons import Comparison
from probative.wording.numbers import counted, metric_name, points, pvalue

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from probative.reporting.document import Document


# -----------------------------------------------------------------------------
# What is drawn from a pool to be annotated.
# -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class SampledStratum(Result):
    """Units that are drawn alike.

    Attributes
    ----------
    name
        What they have in common.
    size
        How many of them the pool has.
    drawn, new
        How many of them are in the sample, and how many of these came with the last draw.
    spread
        How much they are taken to differ from each other, in items.
    share
        How much of what is not known is taken to lie in them.
    why
        On what their number rests: "all" of them are drawn; the "least" that a stratum gets; or
        how much they differ by a "guess", by "scores" (confidences), by a "pilot" or a "judge".
    """

    name: str
    size: int
    drawn: int
    new: int
    spread: float
    share: float
    why: str

    def __str__(self) -> str:
        return f"{self.name}: {self.drawn} of {self.size}"


@dataclass(frozen=True, eq=False, repr=False)
class Sampled(Result):
    """What is drawn from a pool to be annotated, and what is to be expected of it.

    Attributes
    ----------
    task, unit
        ``entities`` or ``labels``; and what is drawn: sentences, documents, units or items.
    goal
        What the sample is to tell best: the ``score`` of each system, or their ``difference``.
    systems
        What the systems are called.
    pool
        How many units the pool has.
    labelled, new
        How many units are in the sample, and how many of these came with the last draw.
    strata
        A `SampledStratum` for each kind of unit.
    width, random_width
        How wide the interval of what the sample is for is expected to be, and how wide with as
        many random units.
    worth
        How many random units would be expected to say as much.
    level
        The level of that interval.
    seed
        That of the orders in which units are drawn.
    units
        The numbers of the new units in the pool, from 0, in the order of the pool.
    files
        What was written: the ``sample`` and its ``design``.
    notes
        What was recognised or left out.
    signature
        A short reproducible description of every choice.
    design
        The `Design`.
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
    signature: str = field(default="", repr=False)
    design: Any = field(default=None, repr=False)

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each stratum."""
        return [stratum.to_dict() for stratum in self.strata]

    def _document(self) -> Document:
        from probative.reporting.survey_report import sample_document

        return sample_document(self, explain=True)

    def __str__(self) -> str:
        from probative.wording.surveys import sample_summary

        return sample_summary(self)


# -----------------------------------------------------------------------------
# What few labels tell of a large pool.
# -----------------------------------------------------------------------------


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
        from probative.reporting.survey_report import estimate_document

        return estimate_document(self)

    def __str__(self) -> str:
        from probative.wording.surveys import estimate_summary

        told = self.verdicts or tuple(map(str, self.scores))
        return " ".join([f"{estimate_summary(self)}.", *told])


# -----------------------------------------------------------------------------
# What is known at each look, while labels still arrive.
# -----------------------------------------------------------------------------

# Measured at level 0.95 (docs/results/looks.md); the study of samples of a pool comes to less.
_ABOUT = ", about (asymptotic: simulated streams were outside at some look in at most 4 %)"


@dataclass(frozen=True, eq=False, repr=False)
class Look(Result):
    """What is known after so many units, whenever one looks and however often.

    Attributes
    ----------
    look
        Which look this is, from 1.
    metric, level, by
        The score, the level of the limits, and what is counted: units or items.
    units
        How many of them there are so far.
    estimate, low, high
        One system's score, or the difference B minus A, and limits that hold at every look.
    score_a, score_b
        The two scores; None with one system.
    e_value
        How much a bet against exchangeable systems has grown by now; None with one system.
    pvalue
        One over the largest e-value so far, at most 1; it holds at any time.
    decided
        "b" if B was found better at the level, "a" if worse, else None. Of a sample of a pool: on
        this pool, since the limits left out 0 at this look or before; e-value and p-value ask
        whether the systems differ beyond it.
    more
        How many units more would be expected to decide it if the difference stays as it looks;
        None where that is unknown, or where it is decided.
    planned
        For how many units limits and bets are tuned.
    note
        What must be said about it, or None.
    pool
        How many units the pool has, where these are a sample of one; else None.
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
    signature: str = field(default="", repr=False)

    @property
    def is_of_two(self) -> bool:
        """Whether it tells of the difference of two systems."""
        return self.pvalue is not None

    @property
    def has_limits(self) -> bool:
        """Whether the limits tell anything: at first they are all there is."""
        least = -1.0 if self.is_of_two else 0.0
        return self.estimate == self.estimate and not (self.low <= least and self.high >= 1.0)

    def verdict(self, a: str = "A", b: str = "B") -> str:
        """What the look says, with the names of the systems."""
        if self.pvalue is None:
            exact = self.by == "item" and self.pool is None
            return "the limits hold at every look" + ("" if exact else _ABOUT)
        value = pvalue(self.pvalue)
        said = f"p {value if value[0] == '<' else f'= {value}'} at any time"
        if self.decided:
            better, worse = (b, a) if self.decided == "b" else (a, b)
            if self.pool is not None:
                where = f"on this pool of {counted(self.pool, self.by)}"
                why = f"since the limits left out 0 (beyond it, {said})"
                return f"decided: {better} is better than {worse} {where}, {why}"
            return f"decided: {better} is better than {worse} ({said})"
        if self.pool is not None:
            if self.low == self.high == 0:
                return "there is no difference on this pool: no more labels would change that"
            said = f"beyond this pool, {said}"
        if self.more is None:
            return f"not decided ({said}); no difference in sight that more labels would decide"
        return (
            f"not decided ({said}); about {counted(self.more, self.by)} more would be expected to "
            f"decide it, if the difference stays as it looks"
        )

    def __str__(self) -> str:
        return self.summary()

    def summary(self, a: str = "A", b: str = "B") -> str:
        """The look in one line, with the names of the systems."""
        what = metric_name(self.metric)
        head = f"look {self.look}, {counted(self.units, self.by)}: "
        head += f"{what}, {b} − {a}" if self.is_of_two else what
        limits = f"{points(self.estimate)} [{points(self.low)}, {points(self.high)}]"
        return f"{head} {limits}; {self.verdict(a, b)}" + (f" ({self.note})" if self.note else "")


@dataclass(frozen=True, eq=False, repr=False)
class Looks(Result):
    """All looks so far, and what the last one says.

    Attributes
    ----------
    looks
        One `Look` after each batch.
    a, b
        What the systems are called; b is None with one system.
    signature
        A short reproducible description of every choice.
    """

    looks: tuple[Look, ...]
    a: str = "A"
    b: str | None = None
    notes: tuple[str, ...] = ()
    signature: str = field(default="", repr=False)

    @property
    def last(self) -> Look:
        """The newest look."""
        return self.looks[-1]

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per look."""
        return [look.to_dict() for look in self.looks]

    def __str__(self) -> str:
        if not self.looks:
            return "no looks yet"
        return self.last.summary(self.a, self.b or "B")

    def _metrics(self) -> Iterable[tuple[tuple[str, ...], Any]]:
        return self.last._metrics()

    def plot(self) -> Axes:
        """Draw the limits against the number of labels; returns matplotlib's axes."""
        from probative.reporting.survey_report import draw_looks

        return draw_looks(self)

    def _document(self) -> Document:
        from probative.reporting.survey_report import watch_document

        return watch_document(self)
