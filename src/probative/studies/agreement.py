"""How often the intervals of alpha and kappa cover: ``python -m probative.studies.agreement``.

Items are hard in different degrees, those of a unit alike; who finds one hard guesses. The true
value is that of a very large corpus of the same kind.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from probative.inference.alpha import Ratings, alpha_interval, krippendorff_alpha
from probative.inference.confusion import ConfusedItems, confusion_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["Condition", "coverage", "main"]

_LARGE = 400_000
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

    def draw(self, rng: np.random.Generator, items: int) -> Ratings:
        """One corpus of this kind."""
        shares = _SHARES[: self.labels] / _SHARES[: self.labels].sum()
        truth = rng.choice(self.labels, items, p=shares)
        units = np.arange(items) // self.per_unit
        hard = rng.beta(0.5, 0.5 * (1 - self.guesses) / self.guesses, int(units[-1]) + 1)[units]
        size = (self.annotators, items)
        codes = np.where(rng.random(size) < hard, rng.integers(0, self.labels, size), truth)
        codes[rng.random(size) < self.missing] = -1
        return Ratings(codes, self.labels, units if self.per_unit > 1 else None)


CONDITIONS = (
    Condition(30, 2, 2, 0.2),
    Condition(100, 2, 2, 0.01),
    Condition(100, 2, 3, 0.1),
    Condition(100, 3, 3, 0.3, missing=0.2),
    Condition(200, 2, 3, 0.2, per_unit=10),
    Condition(500, 3, 2, 0.05, per_unit=10, missing=0.1),
    Condition(500, 5, 3, 0.5, missing=0.5),
    Condition(1000, 2, 3, 0.05),
)


def coverage(
    conditions: Sequence[Condition] = CONDITIONS, *, replicates: int = 1000, seed: int = 1
) -> Iterator[tuple[Condition, str, float, float, float]]:
    """How often limits at the level 0.95 cover, and how long they are: condition by condition.

    Kappa is told where there are two annotators and nothing is missing.
    """
    for number, condition in enumerate(conditions):
        rng = np.random.default_rng([seed, number])
        large = condition.draw(rng, _LARGE)
        corpora = [condition.draw(rng, condition.items) for _ in range(replicates)]
        limits = np.array([_limits(alpha_interval(own)) for own in corpora])
        yield condition, "alpha", *_told(limits, krippendorff_alpha(large))
        if condition.annotators == 2 and not condition.missing:
            true = confusion_interval(_confused(large), "kappa").estimate
            limits = np.array(
                [_limits(confusion_interval(_confused(own), "kappa")) for own in corpora]
            )
            yield condition, "kappa", *_told(limits, float(true))


def _confused(ratings: Ratings) -> ConfusedItems:
    a, b = ratings.codes
    return ConfusedItems(a, b, ratings.n_labels, ratings.units)


def _limits(interval: object) -> tuple[float, float]:
    return float(getattr(interval, "low", np.nan)), float(getattr(interval, "high", np.nan))


def _told(limits: NDArray[np.float64], true: float) -> tuple[float, float, float]:
    covers = (limits[:, 0] <= true) & (true <= limits[:, 1])
    return true, float(covers.mean()), float((limits[:, 1] - limits[:, 0]).mean())


def main(replicates: int = 1000, seed: int = 1) -> str:
    """The table, in Markdown."""
    heads = ("items", "annotators", "labels", "guesses", "per unit", "missing", "coefficient")
    lines = [
        f"| {' | '.join((*heads, 'true', 'coverage', 'length'))} |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | :--- | ---: | ---: | ---: |",
    ]
    for c, name, true, covered, length in coverage(replicates=replicates, seed=seed):
        lines.append(
            f"| {c.items} | {c.annotators} | {c.labels} | {c.guesses:g} | {c.per_unit} | "
            f"{c.missing:g} | {name} | {true:.3f} | {covered:.3f} | {length:.3f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(main(*map(int, sys.argv[1:])) + "\n")
