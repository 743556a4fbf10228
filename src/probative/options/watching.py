"""The choices of looks at a sample that is being annotated."""

from __future__ import annotations

from dataclasses import dataclass, field

from probative.options.base import ALWAYS, Options

__all__ = ["WatchOptions"]


@dataclass(frozen=True, kw_only=True)
class WatchOptions(Options):
    """The choices of `watch`.

    Attributes
    ----------
    metric
        The score.
    level
        With this probability the limits hold at every look.
    beta
        The weight of recall in F-beta.
    every
        After how many units somebody looks.
    planned
        How many units were planned before anything was labelled.
    """

    metric: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    beta: float = 1.0
    every: int | None = None
    planned: int | None = None

    told = frozenset({"metric", "every", "planned"})
