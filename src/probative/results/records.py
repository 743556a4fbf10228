"""Define what became of the fields of records: outcomes by path, and values wrong only in form."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from typing import Any

from probative.results.base import Result


@dataclass(frozen=True, eq=False, repr=False)
class FieldCounts(Result):
    """Numbers of fields of one path; weights are not counted."""

    path: str  #: The path.
    #: Gold fields, and those that the system has, too.
    in_gold: int
    right: int
    #: Fields with another value in the output, gold fields without one, and output without gold.
    other_value: int
    missing: int
    invented: int
    #: Leaves of gold, and of the output, where the other has another JSON type.
    lost_type: int
    other_type: int
    absent: int | None  #: Documents in which neither gold nor the system has it; None within lists.

    @property
    def errors(self) -> int:
        """Return the number of fields that are not right."""
        lost = self.missing + self.invented + self.lost_type + self.other_type
        return self.other_value + lost


@dataclass(frozen=True, eq=False, repr=False)
class NearMiss(Result):
    """Wrong values of a path that one more rule would accept."""

    #: The path and the rule as text.
    path: str
    rule: str
    number: int  #: The number of wrong values that it would accept.
    #: F1 of the system if these were right; at least that, as rows may be aligned better.
    f1: float

    @property
    def option(self) -> str:
        """Return the rule as a value of ``--field``."""
        return f"{self.path}={self.rule}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON, and the rule as an option."""
        return {**super().to_dict(), "field": self.option}

    def __str__(self) -> str:
        return f"{self.option}: {self.number} more right, F1 {self.f1:.4f}"


@dataclass(frozen=True, eq=False, repr=False)
class PathSummary(Result):
    """A path of records: what stands there, and how often."""

    path: str  #: The path.
    types: tuple[str, ...]  #: The JSON types of its values, the most frequent first.
    #: The number of documents that have it, and of its values.
    documents: int
    values: int
    examples: tuple[Any, ...]  #: Its first distinct values.
    #: With a schema, True if it is required there, and an option that may suit it.
    required: bool | None = None
    rule: str | None = None


@dataclass(frozen=True)
class FieldExample:
    """A field of a document in gold and in two outputs, as JSON text; None where it is not there.

    `kind_a` and `kind_b` say what became of it: right, other value, missing, invented, other type,
    or an empty text if it is the other system's; `why_a` and `why_b` why the value is not equal.
    """

    path: str
    place: str
    gold: str | None
    said_a: str | None
    said_b: str | None
    kind_a: str
    kind_b: str
    why_a: str = ""
    why_b: str = ""


@dataclass(frozen=True)
class RecordExample:
    """A document in which a system errs: its name, the errors of both, and its fields."""

    a: str
    b: str
    document: str
    errors_a: int
    errors_b: int
    fields: tuple[FieldExample, ...]


@dataclass(frozen=True, eq=False, repr=False)
class FieldChange(Result):
    """Gold fields of one path that only one of two systems has right."""

    #: The systems, and the path.
    a: str
    b: str
    path: str
    #: The number of fields that only B has right, and that only A has right.
    fixed: int
    broken: int
    #: Some of the documents.
    fixed_in: tuple[str, ...]
    broken_in: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class RecordOutcomes(Result):
    """Outcomes of the outputs of one system and of their fields."""

    documents: int  #: The number of documents.
    #: Outputs that are no JSON objects, that are missing, and that were read after a repair.
    malformed: int
    missing: int
    repaired: int
    strict: int  #: Documents without any error.
    mean_f1: float = nan  #: The mean of the F1 of single documents; NaN if none has a field.
    #: A `FieldCounts` for each path, those with most errors first.
    fields: tuple[FieldCounts, ...] = ()
    #: The number of wrong values with a gold value that they could stand for, and a `NearMiss` for
    #: each rule that would accept some of them.
    wrong_values: int = 0
    near_misses: tuple[NearMiss, ...] = ()
    #: Paths that gold never has, but the system has in over half of the documents.
    never_in_gold: tuple[str, ...] = ()
    #: For paths with the rule ``date``, the number of texts that are no date.
    unparsed: dict[str, int] = field(default_factory=dict)

    @property
    def differ_in_form(self) -> int:
        """Return the number of wrong values that some rule would accept."""
        return sum(miss.number for miss in self.near_misses)
