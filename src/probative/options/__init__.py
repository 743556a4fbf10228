"""Every choice of a job, in one place.

Python's keywords, the options of the command line and the signature of a result are all made from
these classes, so that none of them can know a choice that the others do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative._lazy import names_on_demand

if TYPE_CHECKING:
    from probative.options.agreeing import AgreementOptions
    from probative.options.base import ALWAYS, Options, sign
    from probative.options.comparing import (
        CompareOptions,
        DemoOptions,
        PlanOptions,
    )
    from probative.options.curves import CurveOptions
    from probative.options.differences import DifferenceOptions, ExchangeOptions
    from probative.options.estimating import EstimateOptions
    from probative.options.intervals import IntervalOptions
    from probative.options.models import (
        BayesOptions,
        CheckOptions,
        CorpusOptions,
        CrossvalOptions,
        FoldsOptions,
        SplitOptions,
    )
    from probative.options.ranking import BoardOptions, RankOptions
    from probative.options.reading import ReadingKeywords, ReadingOptions
    from probative.options.sampling import SampleOptions
    from probative.options.scoring import ScoreOptions
    from probative.options.sweeping import SweepOptions
    from probative.options.watching import WatchOptions

__all__ = [
    "ALWAYS",
    "AgreementOptions",
    "BayesOptions",
    "BoardOptions",
    "CheckOptions",
    "CompareOptions",
    "CorpusOptions",
    "CrossvalOptions",
    "CurveOptions",
    "DemoOptions",
    "DifferenceOptions",
    "EstimateOptions",
    "ExchangeOptions",
    "FoldsOptions",
    "IntervalOptions",
    "Options",
    "PlanOptions",
    "RankOptions",
    "ReadingKeywords",
    "ReadingOptions",
    "SampleOptions",
    "ScoreOptions",
    "SplitOptions",
    "SweepOptions",
    "WatchOptions",
    "sign",
]

# making such a class takes a millisecond: only those are made that somebody asks for
__getattr__, __dir__ = names_on_demand(
    __name__,
    {
        "agreeing": ("AgreementOptions",),
        "base": ("ALWAYS", "Options", "sign"),
        "comparing": ("CompareOptions", "DemoOptions", "PlanOptions"),
        "curves": ("CurveOptions",),
        "differences": ("DifferenceOptions", "ExchangeOptions"),
        "estimating": ("EstimateOptions",),
        "intervals": ("IntervalOptions",),
        "models": (
            "BayesOptions",
            "CheckOptions",
            "CorpusOptions",
            "CrossvalOptions",
            "FoldsOptions",
            "SplitOptions",
        ),
        "ranking": ("BoardOptions", "RankOptions"),
        "reading": ("ReadingKeywords", "ReadingOptions"),
        "sampling": ("SampleOptions",),
        "scoring": ("ScoreOptions",),
        "sweeping": ("SweepOptions",),
        "watching": ("WatchOptions",),
    },
)
