"""Read files, frames and sequences into annotations; every error names file, line and remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative._lazy import names_on_demand

if TYPE_CHECKING:
    from probative.reading.annotations import Labels, Segmented, Spans, Tagged, Text
    from probative.reading.formats import (
        FORMATS,
        TASKS,
        Input,
        Options,
        open_input,
        read,
        read_pair,
    )
    from probative.reading.source import refuse_repeats

__all__ = [
    "FORMATS",
    "TASKS",
    "Input",
    "Labels",
    "Options",
    "Segmented",
    "Spans",
    "Tagged",
    "Text",
    "open_input",
    "read",
    "read_pair",
    "refuse_repeats",
]

__getattr__, __dir__ = names_on_demand(
    __name__,
    {
        "annotations": (
            "Labels",
            "Segmented",
            "Spans",
            "Tagged",
            "Text",
        ),
        "formats": (
            "FORMATS",
            "Input",
            "Options",
            "TASKS",
            "open_input",
            "read",
            "read_pair",
        ),
        "source": ("refuse_repeats",),
    },
)
