"""The choices of curves of precision and recall."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from probative.options.base import ALWAYS
from probative.options.reading import ReadingOptions

if TYPE_CHECKING:
    from probative._types import RNG

__all__ = ["CurveOptions"]


@dataclass(frozen=True, kw_only=True)
class CurveOptions(ReadingOptions):
    """The choices of a curve, or of the comparison of two."""

    beta: float = 1.0
    bins: int = 10
    level: float = field(default=0.95, metadata=ALWAYS)
    rope: float = 0.0
    rng: RNG | None = field(default=0, metadata={"as": "seed"})
