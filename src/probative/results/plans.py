"""Define the result of planning the size of a test set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from probative.results.base import SignedResult, bracketed, jsonable


@dataclass(frozen=True, eq=False, repr=False)
class Plan(SignedResult):
    """Number of units with which a test shows a difference with some power.

    Attributes
    ----------
    metric
        The score.
    difference
        The difference to be shown, as a fraction of 1; None if no difference would show.
    power
        The probability that a test at this level shows it; None if the pilot cannot show that.
    level
        1 minus the level of significance.
    units
        The number of units (sentences, items) needed; None if no number is enough.
    observed_units
        The number of units of the pilot.
    note
        A caveat about this plan, or None.
    by
        The name of the units.
    notes
        Messages on what was recognised in the files of the pilot.
    a, b
        The baseline and the challenger of the pilot, if it came from inputs.
    task, range
        For graded scores: "scores", and the range of possible scores.
    signature
        A short reproducible description of every choice.
    """

    metric: str
    difference: float | None
    power: float | None
    level: float
    units: int | None
    observed_units: int
    note: str | None = None
    by: str = field(default="unit", repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)
    a: str | None = None
    b: str | None = None
    task: str | None = field(default=None, repr=False)
    range: tuple[float, float] | None = None

    _report = "plan_report.plan_document"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; null means that no number is enough."""
        named = super().to_dict() | jsonable(self._own(("difference", "power", "units")))
        return {name: named[name] for name in self.__dataclass_fields__ if name in named}

    def __str__(self) -> str:
        note = bracketed(self.note)
        if self.units is None:
            wanted = f"a difference of {self.difference:.4g}"
            return f"{self.metric}: no number of units shows {wanted}{note}"
        if self.difference is None:
            return f"{self.metric}: no difference shows on {self.units:,} units{note}"
        if self.power is None:
            return f"{self.metric}: the power of {self.units:,} units is not known{note}"
        return (
            f"{self.metric}: a difference of {self.difference:.4g} needs {self.units:,} units for "
            f"power {self.power:.3g} at level {self.level:.4g} ({self.observed_units:,} "
            f"observed){note}"
        )
