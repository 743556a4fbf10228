"""What a cross-validation comes back as."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.results.base import Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from probative.counts import Counts, PairedCounts

__all__ = ["FoldCounts", "ModelComparison", "SplitBalance"]


@dataclass(frozen=True, eq=False, repr=False)
class SplitBalance(Result):
    """How equal the halves of a block-regularised split are, next to random splits.

    Attributes
    ----------
    m, block_sizes
        The repetitions, and the number of instances of every block.
    size_difference
        The largest difference between the sizes of two halves.
    units, totals
        The units that were balanced, and how often each occurs.
    deviation
        For every unit, the largest relative deviation of a half from half of the total.
    chi_square
        For every unit, the chi-square statistic of its counts in the blocks.
    random_deviation, random_chi_square
        The same for random splits, on average over twenty.
    """

    m: int
    block_sizes: tuple[int, ...]
    size_difference: int
    units: tuple[str, ...]
    totals: Any
    deviation: Any
    chi_square: Any
    random_deviation: Any
    random_chi_square: Any

    def __str__(self) -> str:
        sizes = f"{len(self.block_sizes)} blocks of {min(self.block_sizes)}"
        if max(self.block_sizes) > min(self.block_sizes):
            sizes += f" to {max(self.block_sizes)}"
        if not self.units:
            return f"{sizes}, halves differ by {self.size_difference} at most"
        return (
            f"{sizes}, halves differ by {self.size_difference} at most; units deviate by up to "
            f"{100 * np.max(self.deviation):.3g} % (random splits: "
            f"{100 * np.max(self.random_deviation):.3g} %)"
        )


@dataclass(frozen=True, eq=False, repr=False)
class FoldCounts(Result):
    """What a model reached on one fold.

    Attributes
    ----------
    fold, model
        The number of the fold, from 1, and the name of the model.
    train, validation
        How many instances it was trained on and judged on.
    counts
        Its counts on the validation half.
    seconds
        How long training and prediction took, if it happened here.
    """

    fold: int
    model: str
    train: int
    validation: int
    counts: Counts
    seconds: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON."""
        return {**super().to_dict(), "counts": self.counts.to_dict()}


@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison(Result):
    """Two ways of training a model, compared on the folds of a cross-validation.

    Attributes
    ----------
    a, b
        The names of the baseline and the challenger.
    task, m
        ``labels`` or ``spans``, and the repetitions.
    folds
        The counts of every fold and model.
    paired
        The eight cases of the two models, fold by fold.
    effective_a, effective_b
        The counts of independent items to which the folds amount.
    tests
        For every metric, the Bayes test with the paired posterior and that with independent ones.
    seed
        The seed of the split, or None where the folds were made elsewhere.
    balance
        How equal the halves are.
    densities, differences
        Called, they give the posterior densities of the scores and of their paired differences,
        for figures.
    """

    a: str
    b: str
    task: str
    m: int
    folds: tuple[FoldCounts, ...]
    paired: tuple[PairedCounts, ...] = field(repr=False)
    effective_a: Counts
    effective_b: Counts
    tests: tuple[Any, ...]
    seed: int | None = None
    balance: SplitBalance | None = None
    densities: Callable[[], Any] | None = field(default=None, repr=False)
    differences: Callable[[], Any] | None = field(default=None, repr=False)

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary a test."""
        return [record for test in self.tests for record in test.records()]

    def plot(self) -> Any:
        """Draw the posterior densities of the scores of both models; returns matplotlib's axes."""
        from probative.reporting.crossval_report import densities_figure

        return densities_figure(self).axes

    def __getitem__(self, metric: str) -> Any:
        """Return the test of a metric with the paired posterior."""
        for test in self.tests:
            if test.metric == metric and test.posterior == "paired":
                return test
        raise KeyError(metric)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON."""
        effective = {"effective_a": self.effective_a, "effective_b": self.effective_b}
        return {**super().to_dict(), **{key: c.to_dict() for key, c in effective.items()}}

    def __str__(self) -> str:
        return "; ".join(str(test) for test in self.tests if test.posterior == "paired")
