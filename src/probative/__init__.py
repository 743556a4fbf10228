"""How good is this NLP system, and is that one really better?"""

from probative import metrics
from probative._version import __version__
from probative.counts import Counts, PairedCounts
from probative.errors import InputError
from probative.inference.differences import difference
from probative.inference.intervals import interval
from probative.inference.randomization import randomization_test

__all__ = [
    "Counts",
    "InputError",
    "PairedCounts",
    "__version__",
    "difference",
    "interval",
    "metrics",
    "randomization_test",
]
