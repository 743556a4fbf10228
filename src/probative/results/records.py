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
    in_gold: int  #: The number of fields in gold.
    right: int  #: Gold fields that the system has, too.
    other_value: int  #: Fields with another value in the output.
    missing: int  #: Gold fields that the output does not have.
    invented: int  #: Fields of the output that gold does not have.
    lost_type: int  #: Leaves of gold where the output has another JSON type.
    other_type: int  #: Leaves of the output where gold has another JSON type.
    absent: int | None  #: Documents in which neither gold nor the system has it; None within lists.

    @property
    def errors(self) -> int:
        """Return the number of fields that are not right."""
        lost = self.missing + self.invented + self.lost_type + self.other_type
        return self.other_value + lost


@dataclass(frozen=True, eq=False, repr=False)
class NearMiss(Result):
    """Wrong values of a path that one more rule would accept."""

    path: str  #: The path.
    rule: str  #: The rule as text.
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
    documents: int  #: The number of documents that have it.
    values: int  #: The number of its values.
    examples: tuple[Any, ...]  #: Its first distinct values.
    required: bool | None = None  #: With a schema, whether it is required there; else None.
    rule: str | None = None  #: With a schema, an option that may suit it; else None.


@dataclass(frozen=True)
class FieldExample:
    """A field of a document in gold and in two outputs, as JSON text; None where it is not there.

    `kind_a` and `kind_b` say what became of it: right, other value, missing, invented, other type,
    or an empty text if it is the other system's; `why_a` and `why_b` why the value is not equal.
    """

    path: str  #: The path of the field.
    place: str  #: The place of this field in its document.
    gold: str | None  #: The value in gold.
    said_a: str | None  #: The value in the output of A.
    said_b: str | None  #: The value in the output of B.
    kind_a: str  #: What became of it in the output of A.
    kind_b: str  #: What became of it in the output of B.
    why_a: str = ""  #: Why the value of A is not equal to gold.
    why_b: str = ""  #: Why the value of B is not equal to gold.


@dataclass(frozen=True)
class RecordExample:
    """A document in which a system errs: its name, the errors of both, and its fields."""

    a: str  #: The first system, A.
    b: str  #: The second system, B.
    document: str  #: The name of the document, or its number from 1.
    errors_a: int  #: The number of errors of A in it.
    errors_b: int  #: The number of errors of B in it.
    fields: tuple[FieldExample, ...]  #: The first of its fields, those of gold before others.


@dataclass(frozen=True, eq=False, repr=False)
class FieldChange(Result):
    """Gold fields of one path that only one of two systems has right."""

    a: str  #: The first system, A.
    b: str  #: The second system, B.
    path: str  #: The path.
    fixed: int  #: The number of fields that only B has right.
    broken: int  #: The number of fields that only A has right.
    fixed_in: tuple[str, ...]  #: Some documents with fields that only B has right.
    broken_in: tuple[str, ...]  #: Some documents with fields that only A has right.


@dataclass(frozen=True, eq=False, repr=False)
class RecordOutcomes(Result):
    """Outcomes of the outputs of one system and of their fields."""

    documents: int  #: The number of documents.
    malformed: int  #: Outputs that are no JSON objects.
    missing: int  #: Outputs that are missing.
    repaired: int  #: Outputs that were read after a repair.
    strict: int  #: Documents without any error.
    mean_f1: float = nan  #: The mean of the F1 of single documents; NaN if none has a field.
    #: A `FieldCounts` for each path, those with most errors first.
    fields: tuple[FieldCounts, ...] = ()
    #: The number of wrong values with a gold value that they could stand for.
    wrong_values: int = 0
    #: A `NearMiss` for each rule that would accept some of them.
    near_misses: tuple[NearMiss, ...] = ()
    #: Paths that gold never has, but the system has in over half of the documents.
    never_in_gold: tuple[str, ...] = ()
    #: For paths with the rule ``date``, the number of texts that are no date.
    unparsed: dict[str, int] = field(default_factory=dict)

    @property
    def differ_in_form(self) -> int:
        """Return the number of wrong values that some rule would accept."""
        return sum(miss.number for miss in self.near_misses)
