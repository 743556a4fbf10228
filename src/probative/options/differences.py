"""The choices of intervals and tests of a difference."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from probative.options.base import ALWAYS, Options

__all__ = ["DifferenceOptions", "ExchangeOptions"]


@dataclass(frozen=True, kw_only=True)
class DifferenceOptions(Options):
    """The choices of an interval of a difference; those of resampling where it resamples."""

    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    prior: float = 1.0
    n_resamples: int | None = None
    rng: Any = field(default=None, metadata={"as": "seed"})


@dataclass(frozen=True, kw_only=True)
class ExchangeOptions(Options):
    """The choices of a randomisation test."""

    alternative: str = field(default="two-sided", metadata=ALWAYS)
    beta: float = 1.0
    n_resamples: int | None = None
    rng: Any = field(default=None, metadata={"as": "seed"})
