"""How good is this NLP system, and is that one really better?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from probative import metrics
from probative._version import __version__
from probative.counts import Counts, PairedCounts
from probative.errors import InputError
from probative.inference.intervals import interval
from probative.inference.posteriors import posterior

if TYPE_CHECKING:
    from probative.evaluation import score

__all__ = [
    "Counts",
    "InputError",
    "PairedCounts",
    "__version__",
    "interval",
    "metrics",
    "posterior",
    "score",
]

# What only some programs use is imported when it is first asked for.
_LATER = {"score": "probative.evaluation"}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'probative' has no attribute {name!r}")
