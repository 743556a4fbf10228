"""How good is this NLP system, and is that one really better?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from probative._version import __version__
from probative.errors import InputError

if TYPE_CHECKING:
    from probative import metrics
    from probative.comparison import compare
    from probative.counts import Counts, PairedCounts
    from probative.crossval.runner import compare_models
    from probative.crossval.splitter import BlockRegularizedCV
    from probative.evaluation import score
    from probative.inference.bayes import bayes_test
    from probative.inference.bootstrap import bootstrap_difference
    from probative.inference.differences import difference
    from probative.inference.effective import effective_counts
    from probative.inference.fold_tests import (
        block_regularized_t_test,
        five_by_two_f_test,
        five_by_two_t_test,
    )
    from probative.inference.intervals import interval
    from probative.inference.mcnemar import mcnemar_test
    from probative.inference.multiplicity import adjust_pvalues
    from probative.inference.planning import plan
    from probative.inference.posteriors import posterior
    from probative.inference.randomization import randomization_test
    from probative.sweep import segmentation_sweep

__all__ = [
    "BlockRegularizedCV",
    "Counts",
    "InputError",
    "PairedCounts",
    "__version__",
    "adjust_pvalues",
    "bayes_test",
    "block_regularized_t_test",
    "bootstrap_difference",
    "compare",
    "compare_models",
    "difference",
    "effective_counts",
    "five_by_two_f_test",
    "five_by_two_t_test",
    "interval",
    "mcnemar_test",
    "metrics",
    "plan",
    "posterior",
    "randomization_test",
    "score",
    "segmentation_sweep",
]

# What is imported when it is first asked for: the command line starts, and can be interrupted,
# before anything large is loaded.
_LATER = {
    "BlockRegularizedCV": "crossval.splitter",
    "Counts": "counts",
    "PairedCounts": "counts",
    "adjust_pvalues": "inference.multiplicity",
    "bayes_test": "inference.bayes",
    "block_regularized_t_test": "inference.fold_tests",
    "bootstrap_difference": "inference.bootstrap",
    "compare": "comparison",
    "compare_models": "crossval.runner",
    "difference": "inference.differences",
    "effective_counts": "inference.effective",
    "five_by_two_f_test": "inference.fold_tests",
    "five_by_two_t_test": "inference.fold_tests",
    "interval": "inference.intervals",
    "mcnemar_test": "inference.mcnemar",
    "plan": "inference.planning",
    "posterior": "inference.posteriors",
    "randomization_test": "inference.randomization",
    "score": "evaluation",
    "segmentation_sweep": "sweep",
}


def __getattr__(name: str) -> Any:
    if name == "metrics":
        return import_module("probative.metrics")
    if name in _LATER:
        return getattr(import_module(f"probative.{_LATER[name]}"), name)
    raise AttributeError(f"module 'probative' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
