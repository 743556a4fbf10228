"""The choices of intervals from counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from probative.options.base import ALWAYS, Options

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["IntervalOptions"]


@dataclass(frozen=True, kw_only=True)
class IntervalOptions(Options):
    """The choices of intervals from counts."""

    metric: str | Sequence[str] | None = None
    method: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    prior: float = 1.0
    clustered: bool = False

    told = frozenset({"metric", "method"})
