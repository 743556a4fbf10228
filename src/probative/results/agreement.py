"""How far annotators agree, and what that says of a system's score."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from probative.results.base import DifferenceResult, Interval, Result

if TYPE_CHECKING:
    from collections.abc import Iterable

    from probative.reporting.document import Document

__all__ = ["Agreement", "Ceiling", "PairAgreement"]


@dataclass(frozen=True, eq=False, repr=False)
class PairAgreement(Result):
    """How far two annotators agree.

    Attributes
    ----------
    a, b
        The annotators.
    items
        How many items both have labelled; of spans, how many either of them has.
    scores
        Of labels the ``agreement`` (the share of items that have the same label) and ``kappa``; of
        spans, words and sets of labels ``f1``, the first annotator taken for the answer.
    """

    a: str
    b: str
    items: int
    scores: tuple[Interval, ...]

    def __getitem__(self, metric: str) -> Interval:
        """The interval of a metric by its name."""
        return {score.metric: score for score in self.scores}[metric]

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each score."""
        head = {"a": self.a, "b": self.b, "items": self.items}
        return [{**head, **score.to_dict()} for score in self.scores]

    def __str__(self) -> str:
        listed = ", ".join(
            f"{s.metric} {s.estimate:.4f} [{s.low:.4f}, {s.high:.4f}]" for s in self.scores
        )
        return f"{self.a} and {self.b}: {listed}"


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """How far annotators agree.

    Attributes
    ----------
    task
        ``entities``, ``segmentation`` or ``labels``.
    annotators
        What they are called.
    alpha
        Krippendorff's alpha of all of them together, for labels; else None.
    pairs
        A `PairAgreement` for each two of them.
    level
        The level of the intervals.
    units, unit, by
        How many units there are, what they are, and what the intervals take to be independent.
    match
        When two spans count as the same, such as ``partial``; None where they must be equal.
    notes
        What was recognised, repaired or left out.
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
    signature: str = field(default="", repr=False)

    def pair(self, one: str, other: str) -> PairAgreement:
        """Two annotators, named in any order."""
        return {frozenset((p.a, p.b)): p for p in self.pairs}[frozenset((one, other))]

    def _metrics(self) -> Iterable[tuple[tuple[str, ...], Any]]:
        if self.alpha is not None:
            yield from self.alpha._metrics()
        for pair in self.pairs:
            head = () if len(self.pairs) == 1 else (f"{pair.a} and {pair.b}",)
            for score in pair.scores:
                yield from (((*head, *parts), value) for parts, value in score._metrics())

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each coefficient."""
        together = [] if self.alpha is None else [{"items": None, **self.alpha.to_dict()}]
        return [*together, *(record for pair in self.pairs for record in pair.records())]

    def _document(self) -> Document:
        from probative.reporting.agreement_report import agreement_document

        return agreement_document(self)

    def __str__(self) -> str:
        words = [] if self.alpha is None else [str(self.alpha)]
        return "; ".join([*words, *map(str, self.pairs)])


@dataclass(frozen=True, eq=False, repr=False)
class Ceiling(DifferenceResult):
    """A system beside a second annotation, both scored against the answer.

    Attributes
    ----------
    system, second
        What they are called.
    metric, score, second_score
        What both are scored by, and what they score.
    second_low, second_high
        The interval of the second annotation's score.
    difference, low, high
        The system minus the second annotation, with its interval.
    pvalue, test, by
        Of the two-sided randomisation test: exact or sampled, and what was exchanged.
    level
        The level of the intervals.
    match
        When a span counts as right, such as ``partial``; None where it must be equal.
    note
        What the reader must know, or None.
    """

    system: str
    second: str
    metric: str
    score: float
    second_score: float
    second_low: float
    second_high: float
    difference: float
    low: float
    high: float
    pvalue: float
    test: str
    by: str
    level: float = 0.95
    match: str | None = None
    note: str | None = None

    def __str__(self) -> str:
        from probative.wording.ceiling import ceiling_sentence

        return ceiling_sentence(self)
