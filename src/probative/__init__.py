"""How good is this NLP system, and is that one really better?"""

from probative import metrics
from probative._version import __version__
from probative.counts import Counts, PairedCounts
from probative.crossval.splitter import BlockRegularizedCV
from probative.errors import InputError
from probative.inference.intervals import interval

__all__ = [
    "BlockRegularizedCV",
    "Counts",
    "InputError",
    "PairedCounts",
    "__version__",
    "interval",
    "metrics",
]
