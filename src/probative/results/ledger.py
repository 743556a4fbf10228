"""What a ledger of gates holds: the uses of test sets, and what is left of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from probative.results.base import Result
from probative.wording.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from probative.reporting.document import Document

__all__ = ["SKETCH", "Fingerprints", "GateUse", "Ledger", "TestSet", "TestSetUse"]

SKETCH = 64  # places by which a test set is known again after a change


@dataclass(frozen=True)
class Fingerprints:
    """What tells a test set, and outputs on it, from others.

    Attributes
    ----------
    answer, unnamed, name
        Of the content of gold, of the same without the names of labels, and what its file is
        called.
    units, unit
        How many units there are, and what they are.
    sketched, sketch
        Some places of gold, by which a test set is known again after a change, and what they are
        known by: "words" of spans, "texts" of labelled items, else their "order".
    outputs
        Of the outputs of the baseline and of a challenger together with gold, by the challenger's
        name.
    """

    answer: str
    unnamed: str
    name: str
    units: int
    unit: str
    sketched: str
    sketch: tuple[str, ...]
    outputs: Mapping[str, str]


@dataclass(frozen=True, eq=False, repr=False)
class GateUse(Result):
    """What one gate has used of its test set.

    Attributes
    ----------
    test_set
        The fingerprint of the answer.
    look, passes
        Which look at this test set it was, and how many candidates had passed before.
    candidates
        "adaptive" or "independent".
    threshold
        The doubt that it might leave: 1 - P had to be at most this.
    promised
        Whether the allowance keeps its promise; it cannot once scores were shown to those who make
        the candidates.
    shown
        At how many earlier looks scores were shown.
    looks_left, worn_out
        How many looks more there are before a gate needs twice the difference that the first look
        needed, if none passes; and whether it does already.
    units, unit
        The size of the test set.
    new
        Whether the ledger did not know this test set.
    repeated
        When the same question was asked before, where it was: it is no new look.
    overlap
        Where this test set is not quite the one that it counts as, the share of its units that are
        those of that one; else None.
    note
        What was odd about the ledger, or None.
    """

    test_set: str
    look: int
    passes: int
    candidates: str
    threshold: float
    promised: bool
    shown: int
    looks_left: int
    worn_out: bool
    units: int
    unit: str
    new: bool = False
    repeated: str | None = None
    overlap: float | None = None
    note: str | None = None

    def __str__(self) -> str:
        parts = [f"test set {self.test_set[:8]}, {self._which()}"]
        parts.append(f"1 − P may be at most {self.threshold:.2g}")
        parts.append(_wear(self))
        return "; ".join([*parts, *self._known()])

    def _which(self) -> str:
        if self.repeated:
            return f"look {self.look} again (asked before on {self.repeated}: no new look)"
        before = f", {_passes(self.passes)} before" if self.look > 1 else ""
        return f"look {self.look}{' (new to this ledger)' if self.new else ''}{before}"

    def _known(self) -> list[str]:
        if self.overlap is None:
            return []
        shared = f"about {100 * self.overlap:.0f} % of its units are those of test set "
        return [f"{shared}{self.test_set[:8]}, so it counts as the same"]


def _passes(number: int) -> str:
    return f"{number:,} {'pass' if number == 1 else 'passes'}"


def _wear(use: GateUse | TestSet) -> str:
    """What is left of a test set."""
    if not use.promised:
        return (
            f"no promise: scores were shown at {counted(use.shown, 'look')} before; "
            f"{counted(use.units, f'new {use.unit}')}, as many as it has, would make it fresh again"
        )
    if use.worn_out:
        return "worn out: it takes twice the difference that the first look needed"
    given = " if none passes" if use.candidates == "adaptive" else ""
    return f"worn out after about {counted(use.looks_left, 'look')} more{given}"


@dataclass(frozen=True, eq=False, repr=False)
class TestSetUse(Result):
    """One use of a test set by a gate, as a ledger has it.

    Attributes
    ----------
    time
        When, in UTC.
    test_set, answer, units, unit
        The fingerprint of the test set, the name of gold then, its size.
    a, b, outputs
        The systems, and the fingerprint of their outputs together with gold.
    metric, kind, margin, confidence, choices
        What was asked, and how it was computed.
    candidates, look, threshold
        How candidates come about, which look it was, and the doubt that it might leave.
    passed, scores_shown
        The verdict, and whether more than that was shown.
    repeated
        Whether the same was asked before: then it is no new look.
    content, unnamed, sketched, sketch
        What gold held, as `Fingerprints` has it.
    """

    __test__ = False  # no test of pytest's

    time: str
    test_set: str
    answer: str
    units: int
    unit: str
    a: str
    b: str
    outputs: str
    metric: str
    kind: str
    margin: float
    confidence: float
    choices: str
    candidates: str
    look: int
    threshold: float
    passed: bool
    scores_shown: bool
    repeated: bool
    content: str
    unnamed: str
    sketched: str
    sketch: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        again = " again" if self.repeated else ""
        return (
            f"{self.time}: look {self.look}{again} at {self.test_set[:8]}, {self.b} against "
            f"{self.a}, {self.kind} {'passed' if self.passed else 'failed'}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class TestSet(Result):
    """A test set that gates have used.

    Attributes
    ----------
    test_set, answer, units, unit
        The fingerprint of the answer, what its file was called, and its size.
    candidates
        How candidates come about: "adaptive" or "independent".
    uses, looks, passes, shown
        How often it was used, how many of these were new looks, how many passed, and after how many
        uses scores were shown.
    first, last
        The first and the last use.
    confidence, threshold
        Of the last gate; and the doubt that the next one may leave at that confidence.
    promised
        Whether anything can be promised of the next one.
    looks_left, worn_out
        As `GateUse` has them, for the next look.
    """

    __test__ = False

    test_set: str
    answer: str
    units: int
    unit: str
    candidates: str
    uses: int
    looks: int
    passes: int
    shown: int
    first: str
    last: str
    confidence: float
    threshold: float
    promised: bool
    looks_left: int
    worn_out: bool

    @property
    def state(self) -> str:
        """What is left of it, in words."""
        return _wear(self)

    def __str__(self) -> str:
        return (
            f"{self.answer} ({self.test_set[:8]}): {counted(self.looks, 'look')}, "
            f"{_passes(self.passes)}; {self.state}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Ledger(Result):
    """A ledger of gates.

    Attributes
    ----------
    path
        The file.
    sets
        The test sets, in the order of their first use.
    uses
        All uses, in the order of the file.
    notes
        What was odd about the file.
    signature
        A short reproducible description of what this is.
    """

    path: str
    sets: tuple[TestSet, ...]
    uses: tuple[TestSetUse, ...]
    notes: tuple[str, ...] = ()
    signature: str = field(default="", repr=False)

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per test set."""
        return [one.to_dict() for one in self.sets]

    def _metrics(self) -> Iterable[tuple[tuple[str, ...], Any]]:
        for one in self.sets:
            for name in ("looks", "passes", "threshold"):
                yield (one.test_set, name), getattr(one, name)

    def __str__(self) -> str:
        if not self.sets:
            return f"{self.path}: no use of a test set yet"
        return f"{self.path}: " + "; ".join(map(str, self.sets))

    def _document(self) -> Document:
        from probative.reporting.ledger_report import ledger_document

        return ledger_document(self)
