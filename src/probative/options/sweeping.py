"""The choices of a threshold sweep."""

from __future__ import annotations

from dataclasses import dataclass, field

from probative.options.base import ALWAYS, Options

__all__ = ["SweepOptions"]


@dataclass(frozen=True, kw_only=True)
class SweepOptions(Options):
    """The choices of a threshold sweep."""

    steps: int = field(default=20, metadata=ALWAYS)
    input_format: str | None = None
    encoding: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
