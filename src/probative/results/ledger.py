"""Define the results of a ledger of gates: the uses of test sets, and how worn they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from probative.results.base import Result, SignedResult
from probative.wording.numbers import counted

if TYPE_CHECKING:
    from probative.results.base import Named

SKETCH = 64  # places by which a changed test set is recognised


@dataclass(frozen=True)
class Fingerprints:
    """Fingerprints that identify a test set, and outputs on it."""

    #: The fingerprint of the content of gold, that without the names of labels, and the name of its
    #: file.
    answer: str
    unnamed: str
    name: str
    #: The number of units, and their name.
    units: int
    unit: str
    #: The kind of places of gold, "words" of spans, "texts" of labelled items, else their "order";
    #: and some places, by which the test set is recognised after a change.
    sketched: str
    sketch: tuple[str, ...]
    #: The fingerprints of the outputs of the baseline and of a challenger together with gold, by
    #: the challenger's name.
    outputs: Mapping[str, str]


@dataclass(frozen=True, eq=False, repr=False)
class GateUse(Result):
    """Use of a test set by one gate."""

    test_set: str  #: The fingerprint of gold.
    #: The number of this look at the test set, and the number of candidates that passed before.
    look: int
    passes: int
    candidates: str  #: "adaptive" or "independent".
    threshold: float  #: The largest 1 - P with which the gate passes.
    #: Whether the confidence is guaranteed over all looks; it is not once scores were shown to the
    #: developers of the candidates.
    promised: bool
    shown: int  #: The number of earlier looks at which scores were shown.
    #: The number of looks left before a gate needs twice the difference that the first look needed,
    #: if none passes; and whether it needs that already.
    looks_left: int
    worn_out: bool
    #: The size of the test set.
    units: int
    unit: str
    new: bool = False  #: Whether this test set was new to the ledger.
    #: When the same question was asked before, if it was; then this is not a new look.
    repeated: str | None = None
    #: If this test set differs from the one that it counts as, the share of its units that are in
    #: that one; else None.
    overlap: float | None = None
    note: str | None = None  #: A problem of the ledger, or None.

    def __str__(self) -> str:
        name = f"test set {self.test_set[:8]}"
        parts = [f"{name}, {self._which()}", f"1 − P may be at most {self.threshold:.2g}"]
        parts.append(_wear(self))
        if self.overlap is not None:
            shared = f"about {100 * self.overlap:.0f} % of its units are those of {name}"
            parts.append(f"{shared}, so it counts as the same")
        return "; ".join(parts)

    def _which(self) -> str:
        if self.repeated:
            return f"use {self.look} again (asked before on {self.repeated}: not a new use)"
        before = f", {_passes(self.passes)} before" if self.look > 1 else ""
        return f"use {self.look}{(' (new to this ledger)' if self.new else '')}{before}"


def _passes(number: int) -> str:
    return f"{number:,} {'pass' if number == 1 else 'passes'}"


def _wear(use: GateUse | TestSet) -> str:
    """Say how much a test set is worn."""
    if not use.promised:
        return (
            f"no promise: scores were shown at {counted(use.shown, 'use')} before; "
            f"{counted(use.units, f'new {use.unit}')} (as many as it has) would renew it"
        )
    if use.worn_out:
        return "worn out: the required difference has doubled"
    given = " if none passes" if use.candidates == "adaptive" else ""
    return f"worn out after about {counted(use.looks_left, 'more use')}{given}"


@dataclass(frozen=True, eq=False, repr=False)
class TestSetUse(Result):
    """Use of a test set by a gate, as recorded in a ledger."""

    __test__ = False  # pytest must not collect it

    time: str  #: When, in UTC.
    #: The fingerprint of the test set, the name of gold then, its size.
    test_set: str
    answer: str
    units: int
    unit: str
    #: The systems, and the fingerprint of their outputs together with gold.
    a: str
    b: str
    outputs: str
    #: The question of the gate, and how it was computed.
    metric: str
    kind: str
    margin: float
    confidence: float
    choices: str
    #: How candidates are chosen, the number of the look, and the largest 1 - P that passes.
    candidates: str
    look: int
    threshold: float
    #: The verdict, and whether more than that was shown.
    passed: bool
    scores_shown: bool
    repeated: bool  #: Whether the same was asked before; then it is not a new look.
    #: The content of gold, as in `Fingerprints`.
    content: str
    unnamed: str
    sketched: str
    sketch: tuple[str, ...] = field(default=())


@dataclass(frozen=True, eq=False, repr=False)
class TestSet(Result):
    """Test set that gates have used."""

    __test__ = False

    #: The fingerprint of gold, the name of its file, and its size.
    test_set: str
    answer: str
    units: int
    unit: str
    candidates: str  #: How candidates are chosen, "adaptive" or "independent".
    #: The number of uses, of new looks among them, of passes, and of uses after which scores were
    #: shown.
    uses: int
    looks: int
    passes: int
    shown: int
    #: The first and the last use.
    first: str
    last: str
    #: The confidence of the last gate; and the largest 1 - P with which the next one passes at that
    #: confidence.
    confidence: float
    threshold: float
    promised: bool  #: Whether the confidence is guaranteed for the next one.
    #: As in `GateUse`, for the next look.
    looks_left: int
    worn_out: bool

    @property
    def state(self) -> str:
        """Return in words how much it is worn."""
        return _wear(self)

    def __str__(self) -> str:
        return (
            f"{self.answer} ({self.test_set[:8]}): {counted(self.looks, 'use')}, "
            f"{_passes(self.passes)}; {self.state}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Ledger(SignedResult):
    """Ledger of gates.

    Attributes
    ----------
    path
        The file.
    sets
        The test sets, in the order of their first use.
    uses
        All uses, in the order of the file.
    notes
        Problems of the file.
    """

    path: str
    sets: tuple[TestSet, ...]
    uses: tuple[TestSetUse, ...]
    notes: tuple[str, ...] = ()

    _report = "ledger_report.ledger_document"
    _lines = ("sets",)

    def _metrics(self) -> Iterable[Named]:
        for one in self.sets:
            for name in ("looks", "passes", "threshold"):
                yield (one.test_set, name), getattr(one, name)

    def __str__(self) -> str:
        if not self.sets:
            return f"{self.path}: no use of a test set yet"
        return f"{self.path}: " + "; ".join(map(str, self.sets))
