"""Test sets of several classes, and the intervals of their scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._confusion import OF_TABLES, score_of_table
from probative.counts import Counts
from probative.inference.confusion import (
    METHOD,
    ConfusedItems,
    confusion_difference,
    confusion_interval,
)
from probative.inference.macro import macro_interval
from probative.inference.macro_difference import macro_difference
from probative.label_counts import LabelCounts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative._types import Array

    Codes = NDArray[np.intp]

__all__ = ["CONDITIONS", "METRICS", "Confused", "cells_of_items", "methods_of"]

METRICS = (*OF_TABLES, "balanced_accuracy")


def methods_of(metric: str) -> tuple[str, str]:
    """What the intervals of one score and of a difference are called."""
    return (METHOD, "mover") if metric in OF_TABLES else ("hierarchical", "hierarchical")


@dataclass(frozen=True)
class Confused:
    """Two systems on classes of these shares.

    Attributes
    ----------
    name
        What it is called.
    shares
        Of the classes in the answer.
    right
        The share of items of every class that A gets right; wrong ones are evenly spread.
    copied
        The share of items of which B says what A says; of the others B says what it would say for
        itself, right twice as often as wrong, and more often than A.
    n
        Items.
    units
        How many units they come in; 0 where they are independent. A unit has its own share that
        is right.
    """

    name: str
    shares: tuple[float, ...]
    right: float
    copied: float
    n: int
    units: int = 0

    @property
    def _own_right(self) -> float:
        """How often B is right where it does not copy A."""
        return (1 + self.right) / 2

    def truth(self, metric: str) -> tuple[float, float]:
        """The scores of A and B."""
        right_b = self.copied * self.right + (1 - self.copied) * self._own_right
        a, b = (self._score(right, metric) for right in (self.right, right_b))
        return a, b

    def _score(self, right: float, metric: str) -> float:
        if metric == "balanced_accuracy":
            return right
        k = len(self.shares)
        wrong = (1 - right) / (k - 1)
        table = np.array(self.shares)[:, None] * (wrong + (right - wrong) * np.eye(k))
        return float(score_of_table(table, metric))

    def interval(self, metric: str, rng: np.random.Generator, level: float) -> Any:
        """The interval of A's score on a test set."""
        a, _ = self.draw(rng)
        if metric == "balanced_accuracy":
            return macro_interval(cells_of_items(a), "recall", level=level)
        return confusion_interval(a, metric, level=level)

    def difference(self, metric: str, rng: np.random.Generator, level: float) -> Any:
        """The interval of B minus A on a test set."""
        a, b = self.draw(rng)
        if metric == "balanced_accuracy":
            return macro_difference(cells_of_items(a), cells_of_items(b), "recall", level=level)[0]
        return confusion_difference(a, b, metric, level=level)

    def draw(self, rng: np.random.Generator) -> tuple[ConfusedItems, ConfusedItems]:
        """A test set on which the answer has all classes."""
        k = len(self.shares)
        while True:
            answer = rng.choice(k, self.n, p=self.shares)
            if len(np.unique(answer)) == k:
                break
        units, luck = None, np.zeros(self.n)
        if self.units:
            units = np.sort(rng.integers(self.units, size=self.n))
            luck = rng.standard_normal(self.units)[units]
        a = self._said(rng, answer, self.right, luck)
        b = self._said(rng, answer, self._own_right, luck)
        b = np.where(rng.random(self.n) < self.copied, a, b)
        return ConfusedItems(answer, a, k, units), ConfusedItems(answer, b, k, units)

    def _said(self, rng: np.random.Generator, answer: Codes, right: float, luck: Array) -> Codes:
        """What a system says: right with this probability, which a unit's luck moves."""
        from scipy import special

        # a normal threshold keeps the mean where it is, whatever the units share
        shared = _SHARED if self.units else 0.0
        own = np.sqrt(shared) * luck + np.sqrt(1 - shared) * rng.standard_normal(self.n)
        wrong = (answer + rng.integers(1, len(self.shares), self.n)) % len(self.shares)
        return np.where(special.ndtr(own) < right, answer, wrong)


_SHARED = 0.2  # of the variance behind being right, in a unit
_SHARES = {
    "3 classes": (0.6, 0.3, 0.1),
    "3 classes, rare": (0.9, 0.07, 0.03),
    "8 classes": (0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05),
}
CONDITIONS = tuple(
    Confused(f"{name}, {right:g} right", shares, right, 0.7, n)
    for name, shares in _SHARES.items()
    for right in (0.95, 0.7)
    for n in (50, 200)
) + tuple(
    Confused(f"{name}, 0.8 right, {kind}", _SHARES[name], 0.8, copied, n, units)
    for name in ("3 classes", "8 classes")
    for kind, copied, n, units in (
        ("copies", 0.99, 100, 0),
        ("copies", 0.99, 1000, 0),
        ("10 units", 0.7, 300, 10),
        ("40 units", 0.7, 1200, 40),
    )
)


def cells_of_items(items: ConfusedItems) -> LabelCounts:
    """Right and missed items of every class, by unit: one cell for all of a class in a unit."""
    units = np.arange(len(items.answer)) if items.units is None else items.units
    cell, place = np.unique(units * items.n_classes + items.answer, return_inverse=True)
    right, wrong = (
        np.bincount(place, own, len(cell))
        for own in (items.said == items.answer, items.said != items.answer)
    )
    unit, label = np.divmod(cell, items.n_classes)
    counts = Counts(right, 0 * right, wrong)
    return LabelCounts(unit, label, counts, int(units.max()) + 1, items.n_classes)
