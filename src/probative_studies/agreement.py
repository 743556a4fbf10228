"""How often do the intervals of alpha and kappa cover? By simulation.

Items are hard in different degrees, those of a unit alike; who finds one hard guesses. The true
value is that of a very large corpus of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from probative.inference.agreement import Ratings, alpha_interval, doubt, krippendorff_alpha
from probative.inference.classes import ConfusedItems, confusion_interval
from probative.results import Interval
from probative_studies.harness import Row, study, summary

_ITEMS_OF_THE_TRUTH = 400_000  # of the corpus that shows the true values
_SHARES = np.array([0.7, 0.2, 0.1])  # how frequent the labels are


@dataclass(frozen=True)
class Condition:
    """A corpus: items, annotators, labels, how often they guess, items per unit, missing labels."""

    items: int
    annotators: int
    labels: int
    guesses: float
    per_unit: int = 1
    missing: float = 0.0

    def draw(self, rng: Generator, items: int) -> Ratings:
        """Draw one corpus of this kind."""
        shares = _SHARES[: self.labels] / _SHARES[: self.labels].sum()
        truth = rng.choice(self.labels, items, p=shares)
        units = np.arange(items) // self.per_unit
        hard = rng.beta(0.5, 0.5 * (1 - self.guesses) / self.guesses, int(units[-1]) + 1)[units]
        size = (self.annotators, items)
        codes = np.where(rng.random(size) < hard, rng.integers(0, self.labels, size), truth)
        codes[rng.random(size) < self.missing] = -1
        return Ratings(codes, self.labels, units if self.per_unit > 1 else None)


_CONDITIONS = (
    Condition(30, 2, 2, 0.2),
    Condition(100, 2, 2, 0.01),
    Condition(100, 2, 3, 0.1),
    Condition(100, 3, 3, 0.3, missing=0.2),
    Condition(200, 2, 3, 0.2, per_unit=10),
    Condition(500, 3, 2, 0.05, per_unit=10, missing=0.1),
    Condition(500, 5, 3, 0.5, missing=0.5),
    Condition(1000, 2, 3, 0.05),
)


@study(_CONDITIONS)
def agreement_study(c: Condition, level: float, replicates: int, rng: Generator) -> Iterator[Row]:
    """Draw corpora that annotators know well or badly, and see how often intervals cover.

    There are rows of alpha, and of kappa for two annotators with nothing missing.
    """
    large = c.draw(rng, _ITEMS_OF_THE_TRUTH)
    corpora = [c.draw(rng, c.items) for _ in range(replicates)]
    alphas = [alpha_interval(own, level=level) for own in corpora]
    found = {"alpha": (krippendorff_alpha(large), alphas)}
    if c.annotators == 2 and not c.missing:
        true = float(_kappa(large, level).estimate)
        found["kappa"] = (true, [_kappa(own, level) for own in corpora])
    for name, (true, intervals) in found.items():
        yield Row(**vars(c), coefficient=name, value=true, **summary(intervals, true))


def _kappa(ratings: Ratings, level: float) -> Interval:
    a, b = ratings.codes
    items = ConfusedItems(a, b, ratings.n_labels, ratings.units)
    found = confusion_interval(items, "kappa", level=level)
    return replace(found, note=found.note or doubt(a != b, ratings.units))
