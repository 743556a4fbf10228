"""The choices of comparisons and rankings, of plans for them, and of the demonstration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from probative.options.base import ALWAYS, INPUT, Options
from probative.options.reading import ReadingOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative._types import RNG

__all__ = ["CompareOptions", "DemoOptions", "PlanOptions"]


@dataclass(frozen=True, kw_only=True)
class CompareOptions(ReadingOptions):
    """The choices of a comparison."""

    metric: str | Sequence[str] | None = None
    average: str = "micro"
    by: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    rope: float = field(default=0.0, metadata=ALWAYS)
    beta: float = 1.0
    prior: float = field(default=1.0, metadata=ALWAYS)
    power: float = 0.8
    all_pairs: bool = False
    paired_runs: bool = False
    train: Any = None
    second_gold: Any = field(default=None, metadata=INPUT)
    rng: RNG | None = field(default=0, metadata={"as": "seed"})

    told = ReadingOptions.told | {"metric", "by"}


@dataclass(frozen=True, kw_only=True)
class PlanOptions(ReadingOptions):
    """The choices of a plan."""

    metric: str | None = None
    by: str | None = None
    difference: float | None = None
    power: float | None = None
    units: int | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    paired_runs: bool = False

    told = ReadingOptions.told | {"metric", "by"}


@dataclass(frozen=True, kw_only=True)
class DemoOptions(Options):
    """The choices of the demonstration."""

    level: float = field(default=0.95, metadata=ALWAYS)
