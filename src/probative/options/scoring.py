"""The choices of a scoring."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from probative.options.base import ALWAYS, INPUT
from probative.options.reading import ReadingOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ScoreOptions"]


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(ReadingOptions):
    """The choices of a scoring."""

    metric: str | Sequence[str] | None = None
    method: str | None = None
    by: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    overlap: bool = False
    second_gold: Any = field(default=None, metadata=INPUT)

    told = ReadingOptions.told | {"method", "by"}
