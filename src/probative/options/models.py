"""The choices of what is done with a corpus, and with models trained on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from probative.options.base import ALWAYS, Options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative._types import RNG

__all__ = [
    "BayesOptions",
    "CheckOptions",
    "CorpusOptions",
    "CrossvalOptions",
    "FoldsOptions",
    "SplitOptions",
]


@dataclass(frozen=True, kw_only=True)
class FoldsOptions(Options):
    """The choices of a Bayes test of two models, given their folds."""

    metric: str | Sequence[str] | None = None
    weight: Any = field(default="effective", metadata=ALWAYS)
    level: float = field(default=0.95, metadata=ALWAYS)
    prior: float = field(default=1.0, metadata=ALWAYS)
    rope: float = 0.0
    beta: float = 1.0

    told = frozenset({"metric"})


@dataclass(frozen=True, kw_only=True)
class BayesOptions(FoldsOptions):
    """The choices of a Bayes test, from counts or from predictions for folds.

    Attributes
    ----------
    only, ignore_type
        Of predictions: count these labels only; count boundaries alone.
    n_resamples, rng
        Of counts: how many draws stand for the integral, and their seed; None integrates.
    training_variance
        Whether the differences of folds tell how much to allow for training.
    """

    only: Sequence[str] = ()
    ignore_type: bool = False
    n_resamples: int | None = field(default=None, metadata={"as": "sampled"})
    rng: RNG | None = field(default=None, metadata={"as": "seed"})
    training_variance: bool = False


@dataclass(frozen=True, kw_only=True)
class CorpusOptions(Options):
    """How to read a corpus; what is None is recognised."""

    task: str | None = None
    input_format: str | None = None
    encoding: str | None = None
    tag_column: int | str | None = None
    comments: bool = False
    scheme: str | None = None

    told = frozenset({"task"})


@dataclass(frozen=True, kw_only=True)
class CrossvalOptions(CorpusOptions, FoldsOptions):
    """The choices of a cross-validated comparison of two models.

    Attributes
    ----------
    a, b
        What the models are called.
    only, ignore_type, features
        Learn these labels only; learn boundaries alone; the columns that features see.
    positive, groups, regularize
        As for `probative.compare_models`.
    m, keep_documents, rng
        The repetitions, whether documents stay whole, and the seed of the split.
    """

    a: str | None = None
    b: str | None = None
    only: Sequence[str] = ()
    ignore_type: bool = False
    features: Sequence[int] = ()
    m: int = 3
    positive: Any = None
    groups: Any = None
    regularize: Any = None
    keep_documents: bool = False
    rng: RNG | None = field(default=None, metadata={"as": "seed"})

    # the seed that was drawn is told where none was given
    told = frozenset({"task", "metric", "m", "rng"})


@dataclass(frozen=True, kw_only=True)
class SplitOptions(CorpusOptions):
    """The choices of a split into folds."""

    m: int = field(default=3, metadata=ALWAYS)
    regularize: Sequence[str] = field(default=("entities", "tokens"), metadata=ALWAYS)
    keep_documents: bool = False
    gold_column: str | None = None
    rng: int | None = field(default=None, metadata={"as": "seed"})

    told = frozenset({"task", "rng"})


@dataclass(frozen=True, kw_only=True)
class CheckOptions(CorpusOptions):
    """The choices of a check of a file."""

    column: str | None = None
    unit_column: str | None = None
    header: bool | None = None
    multilabel: bool | str | None = None
    label_names: Sequence[str] = ()
    score_name: str | None = None
    threshold: float | None = None

    told = frozenset({"task", "input_format"})
