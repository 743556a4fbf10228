"""How equal the halves of a split are, next to random splits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from probative.crossval.blocks import first_halves, number_of_blocks
from probative.results.crossval import SplitBalance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative.crossval.strata import Strata

__all__ = ["measure_balance"]

_RANDOM_SPLITS = 20


def measure_balance(
    block: NDArray[np.intp],
    strata: Strata,
    group: NDArray[np.intp] | None,
    m: int,
    rng: np.random.Generator,
) -> SplitBalance:
    """Measure a split and the average of random ones with the same block sizes.

    Parameters
    ----------
    block
        The block of every instance.
    strata
        Their counts of strata.
    group
        Their groups, which a random split does not cut either.
    m, rng
        The repetitions, and where the random splits come from.
    """
    sizes = np.bincount(block, minlength=number_of_blocks(m))
    deviation, chi_square = _imbalance(strata.by_group(block, len(sizes)), m)
    by_chance = [
        _imbalance(strata.by_group(_random_blocks(block, group, rng), len(sizes)), m)
        for _ in range(_RANDOM_SPLITS if strata.names else 0)
    ]
    random_deviation, random_chi_square = (
        np.mean(by_chance, axis=0) if by_chance else (deviation, chi_square)
    )
    halves = first_halves(m) @ sizes
    return SplitBalance(
        m=m,
        block_sizes=tuple(sizes.tolist()),
        size_difference=int(np.abs(2 * halves - sizes.sum()).max()),
        strata=strata.names,
        totals=strata.totals,
        deviation=deviation,
        chi_square=chi_square,
        random_deviation=random_deviation,
        random_chi_square=random_chi_square,
    )


def _imbalance(
    counts: NDArray[np.float64], m: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Largest relative deviation of a half from half of the total, and chi-square, per stratum."""
    total = counts.sum(axis=0)
    some = np.where(total > 0, total, 1)
    halves = first_halves(m) @ counts
    deviation = np.abs(2 * halves - total).max(axis=0) / some
    expected = total / len(counts)
    chi_square = ((counts - expected) ** 2).sum(axis=0) / (some / len(counts))
    return deviation, chi_square


def _random_blocks(
    block: NDArray[np.intp], group: NDArray[np.intp] | None, rng: np.random.Generator
) -> NDArray[np.intp]:
    if group is None:
        return rng.permutation(block)
    number = int(group.max()) + 1
    return rng.permutation(np.arange(number) % (int(block.max()) + 1))[group]
