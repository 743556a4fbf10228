"""How many units to draw from each stratum: the whole numbers with the least variance."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["allocate", "sampling_variance", "worth_in_random_units"]


def allocate(
    sizes: ArrayLike, spreads: ArrayLike, n: int, least: ArrayLike = 0
) -> NDArray[np.int64]:
    """The whole numbers n_h that add up to `n` and make the variance of a total least.

    The variance is the sum of N_h² S_h² (1/n_h - 1/N_h). One more unit from stratum h lowers it by
    N_h² S_h² / (n_h (n_h + 1)), and ever less: so the best unit is taken, time and again, which
    gives the best numbers of all, not rounded ones (Wright 2012).

    Parameters
    ----------
    sizes, spreads
        The number N_h of units in each stratum, and their standard deviation S_h.
    n
        How many to draw, from the sum of `least` to the sum of `sizes`.
    least
        How many to draw from each at least: what was drawn already, for instance.

    References
    ----------
    T. Wright, "The equivalence of Neyman optimum allocation for sampling and equal proportions for
    apportioning the U.S. House of Representatives", The American Statistician 66, 2012.
    """
    size = np.asarray(sizes, dtype=np.int64)
    gain = np.asarray(size * np.asarray(spreads, dtype=np.float64), dtype=np.float64)
    drawn = np.minimum(np.broadcast_to(np.asarray(least, dtype=np.int64), size.shape), size).copy()
    if not drawn.sum() <= n <= size.sum():
        raise ValueError(f"{n} units; expected {drawn.sum()} to {size.sum()}")
    drawn = _towards(gain, size, drawn, n)
    queue = [(_priority(gain[h], int(drawn[h])), h) for h in range(len(size)) if drawn[h] < size[h]]
    heapq.heapify(queue)
    for _ in range(n - int(drawn.sum())):
        h = queue[0][1]
        drawn[h] += 1
        if drawn[h] < size[h]:
            heapq.heapreplace(queue, (_priority(gain[h], int(drawn[h])), h))
        else:
            heapq.heappop(queue)
    return drawn


def _priority(gain: float, drawn: int) -> tuple[int, float, float]:
    """Who is next: a stratum of which nothing is known, then whoever lowers the variance most.

    Among strata in which all units are alike, the one with the fewest.
    """
    if drawn == 0 and gain > 0:
        return 0, -gain, 0
    return 1, -(gain**2) / max(1, drawn * (drawn + 1)), drawn


def _towards(
    gain: NDArray[np.float64], size: NDArray[np.int64], drawn: NDArray[np.int64], n: int
) -> NDArray[np.int64]:
    """Numbers below the best ones but near them, so that few are left to be taken one by one.

    Taking the best unit time and again stops at a common level of gain/sqrt(n_h (n_h + 1)): all
    numbers that a higher level gives are surely passed on the way.
    """
    low, high = 0.0, float(gain.max(initial=0.0))
    if high == 0:
        return drawn
    best = drawn
    for _ in range(60):
        level = (low + high) / 2
        # the largest m with gain/sqrt(m (m - 1)) >= level: unit m is taken at that level
        reached = np.floor(0.5 + np.sqrt(0.25 + (gain / level) ** 2))
        reached = np.where(gain > 0, np.minimum(reached, size), 0).astype(np.int64)
        taken = np.maximum(drawn, reached)
        if taken.sum() <= n:
            best, high = taken, level
        else:
            low = level
    return best


def sampling_variance(
    sizes: ArrayLike, spreads: ArrayLike, drawn: ArrayLike, *, finite: bool = True
) -> float:
    """The variance of an estimated total, if so many units are drawn from each stratum.

    Parameters
    ----------
    sizes, spreads, drawn
        Of each stratum the number of units, their standard deviation, and how many are drawn.
    finite
        Whether the total is that of these units; without, of others like them.
    """
    size, spread, number = (np.asarray(x, dtype=np.float64) for x in (sizes, spreads, drawn))
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = (size * spread) ** 2 * (1 / number - (1 / size if finite else 0))
    parts = np.where(size * spread == 0, 0, parts)
    return float(parts.sum())


def worth_in_random_units(variance: float, spread: float, size: int) -> float:
    """How many random units of a pool would give a total the same variance.

    Parameters
    ----------
    variance
        That of the total, with the sample as it is.
    spread
        The standard deviation among all units of the pool.
    size
        How many units the pool has.
    """
    if spread == 0:
        return float("nan")
    # N² S² (1/n - 1/N) = V
    return 1 / (variance / (size * spread) ** 2 + 1 / size)
