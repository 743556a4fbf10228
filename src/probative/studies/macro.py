"""Do the intervals of macro averages cover what they promise?

Single-label data with classes of very unequal size are simulated; the macro F1 that a system has
in the population is known. Approximations are at their worst where a class is rare.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import random_generator, whole_number
from probative.counts import Counts
from probative.inference.macro import macro_difference, macro_interval
from probative.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["MacroCoverage", "macro_coverage"]


@dataclass(frozen=True, eq=False)
class MacroCoverage(Result):
    """Coverage of the intervals of macro F1 under one condition.

    Attributes
    ----------
    n, rarest
        Items of a test set, and how many of them the rarest class has on average.
    coverage, coverage_difference, standard_error
        Of the interval of one macro F1, of the difference of two, and the larger Monte-Carlo
        error of the two.
    length, length_difference
        The mean lengths of these intervals.
    replicates
        How many test sets were drawn.
    """

    n: int
    rarest: float
    coverage: float
    coverage_difference: float
    standard_error: float
    length: float
    length_difference: float
    replicates: int


def macro_coverage(
    sizes: tuple[int, ...] = (100, 300, 1000, 3000),
    *,
    level: float = 0.95,
    replicates: int = 2000,
    rng: Any = 0,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> list[MacroCoverage]:
    """Simulate test sets of five classes, judged by two systems that err together.

    Parameters
    ----------
    sizes
        Numbers of items.
    level, replicates, rng
        The level of the intervals, how many test sets to draw, and the seed.
    report
        Called with the number of test sets done and of all.
    """
    generator = random_generator(rng)
    whole_number("replicates", replicates)
    prevalence = np.array([0.5, 0.25, 0.15, 0.07, 0.03])
    cells, patterns = _population(prevalence)
    true = [_population_macro_f1(cells, patterns, side) for side in (1, 2)]
    study = []
    for k, n in enumerate(sizes):
        hits = np.zeros((replicates, 2))
        lengths = np.zeros((replicates, 2))
        for r in range(replicates):
            report(k * replicates + r, len(sizes) * replicates)
            items = generator.choice(len(cells), size=n, p=cells)
            a, b = (_counts(patterns[items], side, len(prevalence)) for side in (1, 2))
            one = macro_interval(a, level=level)
            both, _ = macro_difference(a, b, level=level)
            hits[r] = (
                one.low <= true[0] <= one.high,
                both.low <= true[1] - true[0] <= both.high,
            )
            lengths[r] = one.high - one.low, both.high - both.low
        share, length = hits.mean(axis=0), lengths.mean(axis=0)
        study.append(
            MacroCoverage(
                n=n,
                rarest=float(n * prevalence.min()),
                coverage=float(share[0]),
                coverage_difference=float(share[1]),
                standard_error=float(np.sqrt((share * (1 - share)).max() / replicates)),
                length=float(length[0]),
                length_difference=float(length[1]),
                replicates=replicates,
            )
        )
    return study


def _population(prevalence: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Probabilities of all triples of right label, label of A and label of B."""
    k = len(prevalence)
    confused = prevalence / prevalence.sum()
    right_a, right_b, together = 0.75, 0.80, 0.5  # how often each is right; how often they share
    patterns, cells = [], []
    for gold in range(k):
        wrong = np.where(np.arange(k) == gold, 0, confused)
        wrong = wrong / wrong.sum()
        of_a = np.where(np.arange(k) == gold, right_a, (1 - right_a) * wrong)
        of_b = np.where(np.arange(k) == gold, right_b, (1 - right_b) * wrong)
        for a in range(k):
            for b in range(k):
                shared = together * of_a[a] * (a == b)
                cells.append(prevalence[gold] * (shared + (1 - together) * of_a[a] * of_b[b]))
                patterns.append((gold, a, b))
    return np.array(cells) / np.sum(cells), np.array(patterns)


def _counts(items: NDArray[np.int64], side: int, k: int) -> Counts:
    gold, said = items[:, 0, None] == np.arange(k), items[:, side, None] == np.arange(k)
    return Counts(gold & said, ~gold & said, gold & ~said)


def _population_macro_f1(
    cells: NDArray[np.float64], patterns: NDArray[np.int64], side: int
) -> float:
    k = int(patterns.max()) + 1
    scores = []
    for label in range(k):
        gold, said = patterns[:, 0] == label, patterns[:, side] == label
        scores.append(2 * cells[gold & said].sum() / (cells[gold].sum() + cells[said].sum()))
    return float(np.mean(scores))
