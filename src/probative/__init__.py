"""How good is this NLP system, and is that one really better?"""

from probative import metrics
from probative._version import __version__
from probative.counts import Counts, PairedCounts
from probative.errors import InputError
from probative.inference.bayes import bayes_test
from probative.inference.effective import effective_counts
from probative.inference.intervals import interval
from probative.inference.posteriors import posterior

__all__ = [
    "Counts",
    "InputError",
    "PairedCounts",
    "__version__",
    "bayes_test",
    "effective_counts",
    "interval",
    "metrics",
    "posterior",
]
