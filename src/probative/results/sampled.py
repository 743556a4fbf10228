"""What is drawn from a pool to be annotated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from probative.results.base import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative.reporting.document import Document

__all__ = ["Sampled", "SampledStratum"]


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
        from probative.reporting.sample_report import sample_document

        return sample_document(self, explain=True)

    def __str__(self) -> str:
        from probative.wording.sampled import sample_summary

        return sample_summary(self)
