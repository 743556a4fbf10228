"""The choices of agreement between annotators."""

from __future__ import annotations

from dataclasses import dataclass, field

from probative.options.base import ALWAYS
from probative.options.reading import ReadingOptions

__all__ = ["AgreementOptions"]


@dataclass(frozen=True, kw_only=True)
class AgreementOptions(ReadingOptions):
    """The choices of agreement between annotators.

    Attributes
    ----------
    by, level
        As for a scoring.
    missing
        The label that stands for none, where annotators have left items out; the empty text for
        blank cells of tables.
    """

    by: str | None = None
    level: float = field(default=0.95, metadata=ALWAYS)
    missing: str | None = None

    told = ReadingOptions.told | {"by"}
