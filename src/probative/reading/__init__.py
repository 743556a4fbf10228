"""Files, frames and sequences to annotations; every error names file, line and remedy."""

from probative.reading.annotations import Labels, Segmented, Spans, Tagged, Text
from probative.reading.recognise import FORMATS, TASKS, Options, read, read_pair

__all__ = [
    "FORMATS",
    "TASKS",
    "Labels",
    "Options",
    "Segmented",
    "Spans",
    "Tagged",
    "Text",
    "read",
    "read_pair",
]
