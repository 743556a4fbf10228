"""The choices of rankings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from probative.options.base import ALWAYS
from probative.options.reading import ReadingOptions

if TYPE_CHECKING:
    from probative._types import RNG

__all__ = ["RankOptions"]


@dataclass(frozen=True, kw_only=True)
class RankOptions(ReadingOptions):
    """The choices of a ranking."""

    metric: str | None = None
    average: str = "micro"
    by: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    adjust: str = "holm"
    rng: RNG | None = field(default=0, metadata={"as": "seed"} | ALWAYS)

    # how p-values were adjusted is told beside the test
    told = ReadingOptions.told | {"metric", "by", "adjust"}
