"""Define the results of scoring, of checking a file and of agreement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from probative.results.base import (
    DifferenceResult,
    Interval,
    Result,
    ScoresByMetric,
    SignedResult,
    drawn_by,
    jsonable,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from probative.counts import Counts
    from probative.results.base import Named
    from probative.results.comparisons import Group
    from probative.results.records import PathSummary, RecordOutcomes
    from probative.results.runs import RepeatedScore


@dataclass(frozen=True, eq=False, repr=False)
class LabelScores(ScoresByMetric):
    """Scores of one label."""

    label: str  #: Its name.
    #: True positives, false positives, false negatives (and true negatives, if they exist).
    counts: Counts
    scores: tuple[Interval, ...]  #: Precision, recall and F1 with their intervals.

    _lines = ("scores",)
    _head = ("label", "counts")

    def _metrics(self) -> Iterable[Named]:
        for score in self.scores:
            yield from score._metrics()
        yield from (((name,), value) for name, value in self.counts.to_dict().items())

    def __str__(self) -> str:
        return f"{self.label}: {self._listed(3)}"


@dataclass(frozen=True, eq=False, repr=False)
class SystemScores(ScoresByMetric):
    """Scores of one system.

    Attributes
    ----------
    name
        The system.
    counts
        Its counts over everything.
    scores
        The scores with their intervals, in the order in which they should be read. With several
        labels also macro_precision, macro_recall and macro_f1, the means over the labels; an
        undefined score counts as 0 in them.
    by_label
        The scores of each label; empty if there is only one.
    splitting_bias
        For word segmentation: the number of words returned per gold word. Above 1 the system splits
        too much.
    overlap
        If asked for: the outcomes of pairing spans with gold spans, by ``strict``, ``exact``,
        ``partial`` and ``ent_type``, each a dictionary of correct, incorrect, partial, missed,
        spurious, precision, recall and f1.
    outcomes
        For records: what became of the outputs, and of their fields by path.
    """

    name: str
    counts: Counts
    scores: tuple[Interval, ...]
    by_label: tuple[LabelScores, ...] = ()
    splitting_bias: float | None = None
    overlap: dict[str, dict[str, float]] | None = None
    outcomes: RecordOutcomes | None = None

    def _metrics(self) -> Iterable[Named]:
        yield from LabelScores("", self.counts, self.scores)._metrics()
        if self.splitting_bias is not None:
            yield ("splitting_bias",), self.splitting_bias
        for entry in self.by_label:
            yield from entry._metrics_under(entry.label)

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each score: of the system, and of every label."""
        entries = (LabelScores("", self.counts, self.scores), *self.by_label)
        return [{"system": self.name} | record for own in entries for record in own.records()]

    def __str__(self) -> str:
        return f"{self.name}: {self._listed(3)}"


@dataclass(frozen=True, eq=False, repr=False)
class RunScores(Result):
    """Scores of the runs of one system."""

    system: str  #: The system.
    metric: str  #: The score.
    mean: float  #: The mean over the runs.
    spread: float  #: The standard deviation over the runs; NaN for one run.
    worst: float  #: The lowest score of a run.
    best: float  #: The highest score of a run.
    runs: tuple[str, ...]  #: The names of the runs.
    scores: tuple[float, ...]  #: The scores of the runs.
    #: In scorings, the runs as repeated answers of one model, with the shares of the variance that
    #: come from samples and from answers.
    repeated: RepeatedScore | None = None

    @classmethod
    def of(
        cls, system: str, metric: str, runs: tuple[str, ...], scores: Sequence[float]
    ) -> RunScores:
        """Collect the scores of runs; if one is undefined, so are mean and spread."""
        from statistics import fmean, stdev

        own = tuple(float(score) for score in scores)
        defined = [score for score in own if score == score]
        whole = len(defined) == len(own)
        mean, spread = fmean(own) if whole else nan, stdev(own) if whole and len(own) > 1 else nan
        worst, best = min(defined, default=nan), max(defined, default=nan)
        return cls(system, metric, mean, spread, worst, best, runs, own)

    def __len__(self) -> int:
        return len(self.scores)

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each run."""
        head = {"system": self.system, "metric": self.metric}
        pairs = zip(self.runs, self.scores, strict=True)
        return [{**head, "run": run, "estimate": jsonable(score)} for run, score in pairs]

    def __str__(self) -> str:
        return (
            f"{self.system}: {self.metric} {self.mean:.4f} ± {self.spread:.4f} over "
            f"{len(self.scores)} runs, {self.worst:.4f} to {self.best:.4f}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Scores(SignedResult):
    """Scores of one or more systems against the same gold.

    Attributes
    ----------
    task
        ``entities``, ``segmentation``, ``labels``, ``records`` or ``samples``.
    systems
        The systems, in the order given.
    units, unit
        The number of units (sentences, documents, items) of gold, and their name.
    by
        What the intervals take to be independent: the units, or "item".
    scheme
        The tag scheme of gold, if it was tags.
    token_accuracy
        For tags: the numbers of tokens with the right tag and of all tokens, for each system.
    run_scores
        If systems have several runs: a `RunScores` for each system and metric. The scores of
        `systems` are then those of all runs together, and the runs of a unit belong to that unit.
    groups
        If groups were asked for: a `Group` for each, in the natural order of their names.
    ceilings
        If a second annotation was given: a `Ceiling` for each system.
    range
        For graded scores: the smallest and the largest possible score; None if there are none.
    judges
        With human scores of some items: how the judge agrees with them, by system.
    level
        The level of the intervals.
    notes
        Messages on what was recognised, repaired or left out.
    match
        The rule by which a span is right, such as ``partial``; None if it must be equal.
    signature
        A short reproducible description of every choice.
    """

    task: str
    systems: tuple[SystemScores, ...]
    level: float
    units: int
    unit: str
    by: str = "item"
    scheme: str | None = None
    notes: tuple[str, ...] = ()
    token_accuracy: tuple[tuple[int, int], ...] | None = field(default=None, repr=False)
    run_scores: tuple[RunScores, ...] | None = None
    groups: tuple[Group, ...] | None = None
    match: str | None = None
    ceilings: tuple[Ceiling, ...] | None = None
    range: tuple[float, float] | None = None
    judges: tuple[JudgeAgreement, ...] | None = None

    _report = "score_report.scores_document"
    _lines = ("systems",)

    def runs_of(self, system: str, metric: str) -> RunScores:
        """Return the scores of the runs of a system."""
        known = {(own.system, own.metric): own for own in self.run_scores or ()}
        return known[system, metric]

    def __getitem__(self, which: int | str) -> SystemScores:
        """Return a system by its index or its name."""
        if isinstance(which, str):
            return {system.name: system for system in self.systems}[which]
        return self.systems[which]

    def __len__(self) -> int:
        return len(self.systems)

    def _metrics(self) -> Iterable[Named]:
        for system in self.systems:
            head = (system.name,) if len(self.systems) > 1 else ()
            yield from system._metrics_under(*head)
            for own in self.run_scores or ():
                if own.system == system.name and len(own) > 1:
                    yield from own._metrics_under(*head)

    def plot(self) -> list[Axes]:
        """Draw the scores with their intervals; return matplotlib's axes."""
        return drawn_by("score_report.scores_figure", self)

    def __str__(self) -> str:
        return "; ".join(str(system) for system in self.systems)


@dataclass(frozen=True, eq=False, repr=False)
class ScoredResult(Result):
    """Result on systems that holds their scores; what `scores` has can be read here, too."""

    scores: Scores = field(repr=False)

    task = property(attrgetter("scores.task"))
    systems = property(attrgetter("scores.systems"))
    level = property(attrgetter("scores.level"))
    units = property(attrgetter("scores.units"))
    unit = property(attrgetter("scores.unit"))
    by = property(attrgetter("scores.by"))
    scheme = property(attrgetter("scores.scheme"))
    notes = property(attrgetter("scores.notes"))
    token_accuracy = property(attrgetter("scores.token_accuracy"))
    signature = property(attrgetter("scores.signature"))
    run_scores = property(attrgetter("scores.run_scores"))
    groups = property(attrgetter("scores.groups"))
    match = property(attrgetter("scores.match"))
    ceilings = property(attrgetter("scores.ceilings"))
    range = property(attrgetter("scores.range"))
    judges = property(attrgetter("scores.judges"))
    runs_of = property(attrgetter("scores.runs_of"))

    def __getitem__(self, which: int | str) -> SystemScores:
        """Return the scores of a system by its index or its name."""
        return self.scores[which]

    def __len__(self) -> int:
        return len(self.scores)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the scores and its own by name, ready for JSON."""
        return {**self.scores.to_dict(), **super().to_dict()}


_Scored = TypeVar("_Scored", bound=ScoredResult)


def with_scores(result: _Scored, **changes: Any) -> _Scored:
    """Return a copy of a result with other values of some fields of its scores."""
    return replace(result, scores=replace(result.scores, **changes))


@dataclass(frozen=True, eq=False, repr=False)
class FileCheck(Result):
    """Recognised format, contents and problems of a file.

    Attributes
    ----------
    path
        The file.
    input_format, task
        The format and the task as which it was read.
    facts
        Its contents: numbers of sentences, tokens and spans, the scheme and so on, by name.
    labels
        The number of occurrences of every label.
    problems
        The problems, one line each, with line numbers; empty if there are none.
    notes
        Messages on what was recognised.
    reason
        Why it is taken to be of this format.
    paths
        For records: a `PathSummary` for each path.
    """

    path: str
    input_format: str
    task: str
    facts: Mapping[str, int | str]
    labels: dict[str, int]
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()
    reason: str = ""
    paths: tuple[PathSummary, ...] | None = None

    _report = "score_report.check_document"

    def __str__(self) -> str:
        facts = ", ".join(f"{value} {name}" for name, value in self.facts.items())
        wrong = f"{len(self.problems)} problems" if self.problems else "nothing wrong"
        return f"{self.path}: {self.input_format} for {self.task}; {facts}; {wrong}"


# --- Agreement of annotators, and a second annotation beside a system


@dataclass(frozen=True, eq=False, repr=False)
class PairAgreement(ScoresByMetric):
    """Agreement of two annotators."""

    a: str  #: The first annotator.
    b: str  #: The second annotator.
    #: The number of items that both have labelled; for spans, the number that either of them has.
    items: int
    #: For labels the ``agreement`` (the share of items that have the same label) and ``kappa``; for
    #: spans, words and sets of labels ``f1``, with the first annotator as gold.
    scores: tuple[Interval, ...]

    _lines = ("scores",)
    _head = ("a", "b", "items")

    def __str__(self) -> str:
        return f"{self.a} and {self.b}: {self._listed()}"


@dataclass(frozen=True, eq=False, repr=False)
class JudgeAgreement(ScoresByMetric):
    """Agreement of a judge's scores of one system with human scores."""

    system: str  #: The system whose outputs were scored.
    items: int  #: The number of items that people scored.
    #: The ``bias`` (judge minus people), the ``correlation`` and ``kappa`` with quadratic weights,
    #: which is Cohen's for yes and no.
    scores: tuple[Interval, ...]

    def __str__(self) -> str:
        listed = self._listed(digits=3)
        return f"judge of {self.system} on {self.items:,} items scored by people: {listed}"


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(SignedResult):
    """Agreement of annotators.

    Attributes
    ----------
    task
        ``entities``, ``segmentation`` or ``labels``.
    annotators
        The names of the annotators.
    alpha
        Krippendorff's alpha of all of them together, for labels; else None.
    pairs
        A `PairAgreement` for each two of them.
    units, unit, by
        The number of units, their name, and what the intervals take to be independent.
    match
        The rule by which two spans are the same, such as ``partial``; None if they must be equal.
    level
        The level of the intervals.
    notes
        Messages on what was recognised, repaired or left out.
    signature
        A short reproducible description of every choice.
    """

    task: str
    annotators: tuple[str, ...]
    alpha: Interval | None
    pairs: tuple[PairAgreement, ...]
    level: float
    units: int
    unit: str
    by: str
    match: str | None = None
    notes: tuple[str, ...] = ()

    _report = "score_report.agreement_document"

    def pair(self, one: str, other: str) -> PairAgreement:
        """Return the agreement of two annotators, named in any order."""
        return {frozenset((p.a, p.b)): p for p in self.pairs}[frozenset((one, other))]

    def _metrics(self) -> Iterable[Named]:
        if self.alpha is not None:
            yield from self.alpha._metrics()
        for pair in self.pairs:
            head = () if len(self.pairs) == 1 else (f"{pair.a} and {pair.b}",)
            for score in pair.scores:
                yield from score._metrics_under(*head)

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each coefficient."""
        together = [] if self.alpha is None else [{"items": None, **self.alpha.to_dict()}]
        return [*together, *(record for pair in self.pairs for record in pair.records())]

    def __str__(self) -> str:
        words = [] if self.alpha is None else [str(self.alpha)]
        return "; ".join([*words, *map(str, self.pairs)])


@dataclass(frozen=True, eq=False, repr=False)
class Ceiling(DifferenceResult):
    """Comparison of a system with a second annotation, both scored against gold."""

    system: str  #: The name of the system.
    second: str  #: The name of the second annotation.
    metric: str  #: The score.
    score: float  #: The score of the system.
    second_score: float  #: The score of the second annotation.
    second_low: float  #: The lower end of the interval of the second annotation's score.
    second_high: float  #: The upper end of that interval.
    difference: float  #: The system minus the second annotation.
    low: float  #: The lower end of the interval of the difference.
    high: float  #: The upper end of the interval of the difference.
    pvalue: float  #: The p-value of the two-sided randomisation test.
    test: str  #: Whether the test was exact or sampled.
    by: str  #: What was exchanged in the test.
    level: float = 0.95  #: The level of the intervals.
    #: The rule by which a span is right, such as ``partial``; None if it must be equal.
    match: str | None = None
    note: str | None = None  #: A caveat, or None.

    def __str__(self) -> str:
        from probative.wording.verdict import ceiling_sentence

        return ceiling_sentence(self)
