"""How much data a comparison needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from probative.results.base import Result, jsonable

__all__ = ["Plan"]


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """Difference, power and number of units that belong together.

    Attributes
    ----------
    metric
        The score.
    difference
        The difference to be shown, as a fraction of 1.
    power
        The probability that a test at this level shows it.
    level
        1 minus the level of significance.
    units
        How many units (sentences, items) that takes; None where no number would do.
    observed_units
        How many the pilot had.
    """

    metric: str
    difference: float
    power: float
    level: float
    units: int | None
    observed_units: int

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; `units` is null where no number would do."""
        return {**super().to_dict(), "units": jsonable(self.units)}

    def __str__(self) -> str:
        if self.units is None:
            return f"{self.metric}: no number of units shows a difference of {self.difference:.4g}"
        return (
            f"{self.metric}: a difference of {self.difference:.4g} needs {self.units:,} units to "
            f"show with power {self.power:.3g} at level {self.level:.4g} "
            f"({self.observed_units:,} observed)"
        )
