"""The choices of an estimate of a pool's scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from probative.options.base import ALWAYS, Options

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["EstimateOptions"]


@dataclass(frozen=True, kw_only=True)
class EstimateOptions(Options):
    """The choices of an estimate; how outputs are read stands in the design.

    Attributes
    ----------
    metric
        What the systems are scored and compared by.
    population
        Whether the pool is a random sample of what matters, not all of it.
    level
        The nominal coverage of limits.
    rope
        Half the width of the region of practical equivalence.
    beta
        The weight of recall in F-beta.
    """

    metric: str | Sequence[str] | None = None
    population: bool = False
    level: float = field(default=0.95, metadata=ALWAYS)
    rope: float = field(default=0.0, metadata=ALWAYS)
    beta: float = 1.0

    told = frozenset({"metric"})
