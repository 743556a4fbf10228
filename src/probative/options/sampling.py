"""The choices of a sample."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from probative.options.base import ALWAYS
from probative.options.reading import ReadingOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SampleOptions"]


@dataclass(frozen=True, kw_only=True)
class SampleOptions(ReadingOptions):
    """The choices of a sample.

    Attributes
    ----------
    size, add
        How many units to draw, or to draw besides.
    goal
        What the sample is to tell best: the ``score`` of each system, or their ``difference``.
    by
        What a unit is: sentence, document, unit or item.
    keep
        Further columns of the pool that annotators may see.
    level
        The level of the interval whose width is foretold.
    rng
        The seed of the orders in which units are drawn.
    """

    size: int | None = None
    add: int | None = None
    goal: str | None = None
    by: str | None = None
    keep: Sequence[int | str] = ()
    level: float = field(default=0.95, metadata=ALWAYS)
    rng: int = field(default=0, metadata={"as": "seed"} | ALWAYS)

    told = ReadingOptions.told | {"size", "add", "goal", "by"}
