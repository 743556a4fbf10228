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

    answer: str  #: The fingerprint of the content of gold.
    unnamed: str  #: The fingerprint of it without the names of labels.
    name: str  #: The name of the file of gold.
    units: int  #: The number of units.
    unit: str  #: The name of the units.
    #: The kind of places of gold, "words" of spans, "texts" of labelled items, else their "order".
    sketched: str
    #: Fingerprints of some places, by which the test set is recognised after a change.
    sketch: tuple[str, ...]
    #: The fingerprints of the outputs of the baseline and of a challenger together with gold, by
    #: the challenger's name.
    outputs: Mapping[str, str]


@dataclass(frozen=True, eq=False, repr=False)
class GateUse(Result):
    """Use of a test set by one gate."""

    test_set: str  #: The fingerprint of gold.
    look: int  #: The number of this look at the test set.
    passes: int  #: The number of candidates that passed before.
    candidates: str  #: How candidates are chosen, "adaptive" or "independent".
    threshold: float  #: The largest 1 - P with which the gate passes.
    #: Whether the confidence is guaranteed over all looks; it is not once scores were shown to the
    #: developers of the candidates.
    promised: bool
    shown: int  #: The number of earlier looks at which scores were shown.
    #: The number of looks left before a gate needs twice the difference that the first look needed,
    #: if none passes.
    looks_left: int
    worn_out: bool  #: Whether a gate needs twice that difference already.
    units: int  #: The number of units of the test set.
    unit: str  #: The name of the units.
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
    test_set: str  #: The fingerprint of the test set.
    answer: str  #: The name of gold then.
    units: int  #: The number of its units.
    unit: str  #: The name of the units.
    a: str  #: The baseline.
    b: str  #: The challenger.
    outputs: str  #: The fingerprint of the outputs of both together with gold.
    metric: str  #: The score that the gate compared.
    kind: str  #: The kind of the gate, such as "require-better".
    margin: float  #: The margin of the gate.
    confidence: float  #: The confidence of the gate.
    choices: str  #: How the comparison was computed.
    candidates: str  #: How candidates are chosen, "adaptive" or "independent".
    look: int  #: The number of the look.
    threshold: float  #: The largest 1 - P that passes.
    passed: bool  #: Whether the challenger passed.
    scores_shown: bool  #: Whether more than the verdict was shown.
    repeated: bool  #: Whether the same was asked before; then it is not a new look.
    content: str  #: The fingerprint of the content of gold.
    unnamed: str  #: As in `Fingerprints`.
    sketched: str  #: As in `Fingerprints`.
    sketch: tuple[str, ...] = field(default=())  #: As in `Fingerprints`.


@dataclass(frozen=True, eq=False, repr=False)
class TestSet(Result):
    """Test set that gates have used."""

    __test__ = False

    test_set: str  #: The fingerprint of gold.
    answer: str  #: The name of its file.
    units: int  #: The number of its units.
    unit: str  #: The name of the units.
    candidates: str  #: How candidates are chosen, "adaptive" or "independent".
    uses: int  #: The number of uses.
    looks: int  #: The number of new looks among the uses.
    passes: int  #: The number of looks that passed.
    shown: int  #: The number of uses after which scores were shown.
    first: str  #: When it was used first, in UTC.
    last: str  #: When it was used last, in UTC.
    confidence: float  #: The confidence of the last gate.
    threshold: float  #: The largest 1 - P with which the next one passes at that confidence.
    promised: bool  #: Whether the confidence is guaranteed for the next one.
    looks_left: int  #: As in `GateUse`, for the next look.
    worn_out: bool  #: As in `GateUse`, for the next look.

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
    signature
        A short reproducible description of every choice.
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
