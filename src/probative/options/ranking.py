"""The choices of rankings, and of boards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from probative.options.base import ALWAYS
from probative.options.reading import ReadingOptions

if TYPE_CHECKING:
    from probative._types import RNG

__all__ = ["BoardOptions", "RankOptions"]


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


@dataclass(frozen=True, kw_only=True)
class BoardOptions(RankOptions):
    """The choices of a board.

    Attributes
    ----------
    show_gold
        Whether the site may show what stands in the answer.
    max_size
        The most MiB that a submission may have.
    """

    show_gold: bool = False
    max_size: float = 64.0
