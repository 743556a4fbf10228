"""What labelled units tell of a pool comes back as a `Projection`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probative._types import Array

__all__ = ["JudgeEffect", "Projection"]


@dataclass(frozen=True)
class JudgeEffect:
    """What a judge has changed.

    Attributes
    ----------
    moved
        The estimate, less that of the labels alone.
    width
        The standard error, over that of the labels alone.
    strata
        In how many strata the judge was listened to: elsewhere too few units are labelled, or the
        judge says the same of all of them.
    """

    moved: float
    width: float
    strata: int


@dataclass(frozen=True)
class Projection:
    """A score of a pool, or a difference of two, as labelled units tell it.

    Attributes
    ----------
    estimate, low, high
        The estimate and its limits.
    standard_error, degrees_of_freedom
        How far it is known, and how well that is; no degrees of freedom without evidence.
    design_effect
        The variance, over that of as many units drawn simply at random from the pool.
    worth
        How many units drawn simply at random would tell it as well, analysed in the usual way.
    by_stratum
        What each stratum adds to the variance.
    judge
        What a judge has changed; None without one.
    notes
        Why the limits may be too narrow; empty where nothing speaks against them.
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    degrees_of_freedom: float
    design_effect: float
    worth: float
    by_stratum: Array
    judge: JudgeEffect | None = None
    notes: tuple[str, ...] = ()

    @property
    def no_evidence(self) -> bool:
        """Whether nothing tells how far the estimate may be off."""
        return not self.degrees_of_freedom > 0 and self.low < self.high
