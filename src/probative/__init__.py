"""How good is this NLP system, and is that one really better?"""

from probative import metrics
from probative._version import __version__
from probative.counts import Counts, PairedCounts
from probative.errors import InputError
from probative.inference.bootstrap import bootstrap_difference
from probative.inference.differences import difference
from probative.inference.fold_tests import (
    block_regularized_t_test,
    five_by_two_f_test,
    five_by_two_t_test,
)
from probative.inference.intervals import interval
from probative.inference.mcnemar import mcnemar_test
from probative.inference.multiplicity import adjust_pvalues
from probative.inference.posteriors import posterior
from probative.inference.randomization import randomization_test

__all__ = [
    "Counts",
    "InputError",
    "PairedCounts",
    "__version__",
    "adjust_pvalues",
    "block_regularized_t_test",
    "bootstrap_difference",
    "difference",
    "five_by_two_f_test",
    "five_by_two_t_test",
    "interval",
    "mcnemar_test",
    "metrics",
    "posterior",
    "randomization_test",
]
