"""The blocks of m×2 block-regularised cross-validation.

The data are cut into 2^⌈log2(m+1)⌉ blocks. Each of m different parity columns of the Hadamard array
calls half of the blocks "first" and half "second"; any two columns share exactly a quarter of the
blocks. *Regularised* means that the blocks hold as equal a share of chosen strata (classes, entity
types, tokens) as the data allow.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

__all__ = ["balanced_blocks", "blocks_of_groups", "first_halves", "number_of_blocks", "splits"]

_ENUMERABLE = 20_000  # subsets of blocks that are tried one and all
_POOL = 128  # instances of each of two blocks among which the best exchange is sought
_STEPS = 3000  # exchanges sought at most


def number_of_blocks(m: int) -> int:
    """How many blocks m repetitions need: the least power of two above m."""
    return 1 << m.bit_length()


def first_halves(m: int) -> NDArray[np.bool_]:
    """Which blocks form the first half of each repetition, one row per repetition."""
    blocks = range(number_of_blocks(m))
    parity = [[(b & column).bit_count() % 2 for b in blocks] for column in range(1, m + 1)]
    return np.array(parity, dtype=bool) ^ True


def splits(block: Ints, m: int) -> Iterator[tuple[Ints, Ints]]:
    """The 2m folds as (training, validation) positions: each repetition in both directions."""
    for half in first_halves(m):
        first, second = np.flatnonzero(half[block]), np.flatnonzero(~half[block])
        yield first, second
        yield second, first


def balanced_blocks(kind: Ints, strata: Floats, m: int, rng: np.random.Generator) -> Ints:
    """Give every instance a block: sizes equal within 1, strata as equal as the data allow.

    Parameters
    ----------
    kind
        The row of `strata` that every instance has.
    strata
        Distinct rows of counts of strata.
    m
        Repetitions.
    rng
        Instances with equal rows go to blocks at random.
    """
    n_blocks = number_of_blocks(m)
    order = rng.permutation(len(kind))
    order = order[np.argsort(kind[order], kind="stable")]
    sorted_kind = kind[order]
    number = np.bincount(kind, minlength=len(strata))
    rank = np.arange(len(kind)) - np.concatenate([[0], np.cumsum(number)])[sorted_kind]
    block = np.empty(len(kind), dtype=np.intp)
    # as many equal instances as there are blocks spread without any imbalance; only what is
    # left over needs thought
    whole = rank < (number - number % n_blocks)[sorted_kind]
    block[order[whole]] = rank[whole] % n_blocks
    rest = order[~whole]
    scaled = _scale(strata, number)
    _deal(block, rest, scaled[kind[rest]], kind[rest], m, rng)
    _exchange(block, kind, scaled, n_blocks, rng)
    return block


def blocks_of_groups(strata: Floats, sizes: Floats, m: int, rng: np.random.Generator) -> Ints:
    """Give every group a block, so that strata and numbers of instances are balanced.

    Parameters
    ----------
    strata
        Counts of strata, one row per group.
    sizes
        The number of instances of every group.
    m, rng
        As for `balanced_blocks`.
    """
    n_blocks = number_of_blocks(m)
    groups = len(sizes)
    # an empty place is a group without members: exchanging a group for it moves the group
    places = n_blocks * max(2, -(-2 * groups // n_blocks))
    rows = np.zeros((groups + 1, strata.shape[1] + 1))
    # the size of the halves matters as much as all strata together
    rows[:groups] = np.column_stack([strata, sizes])
    weight = np.append(np.ones(strata.shape[1]), max(1, strata.shape[1]))
    kind = np.minimum(np.arange(places), groups)
    return balanced_blocks(kind, rows * weight, m, rng)[:groups]


def _scale(strata: Floats, number: NDArray[Any]) -> Floats:
    """Counts of strata whose squared imbalances are chi-square terms."""
    total = number @ strata
    return np.asarray(strata / np.sqrt(np.where(total > 0, total, 1)))


def _deal(
    block: Ints, instances: Ints, rows: Floats, kind: Ints, m: int, rng: np.random.Generator
) -> None:
    """Hand out instances in rounds, one per block; each round goes where it mends most.

    Large rows come first, so that small ones are left to even out.
    """
    from scipy.optimize import linear_sum_assignment

    n_blocks = number_of_blocks(m)
    shuffled = rng.permutation(int(kind.max(initial=-1)) + 1)
    order = np.lexsort((shuffled[kind], -(rows**2).sum(axis=1).round(12)))
    excess = np.zeros((n_blocks, rows.shape[1]))
    last = len(instances) - len(instances) % n_blocks
    for start in range(0, len(instances), n_blocks):
        places = (
            np.arange(n_blocks) if start < last else _extra_blocks(len(instances) % n_blocks, m)
        )
        some = order[start : start + n_blocks]
        taken, place = linear_sum_assignment(rows[some] @ excess[places].T)
        chosen, target = some[taken], places[place]
        block[instances[chosen]] = target
        excess[target] += rows[chosen]


def _extra_blocks(extra: int, m: int) -> Ints:
    """Which blocks hold one instance more, so that the halves differ as little as they can."""
    n_blocks = number_of_blocks(m)
    sign = np.where(first_halves(m), 1, -1)
    if comb(n_blocks, extra) <= _ENUMERABLE:
        subsets = np.array(list(combinations(range(n_blocks), extra)), dtype=np.intp)
    else:
        rng = np.random.default_rng(0)
        draws = rng.permuted(np.tile(np.arange(n_blocks), (_ENUMERABLE, 1)), axis=1)
        subsets = draws[:, :extra]
    difference = np.abs(sign[:, subsets].sum(axis=2))
    best = np.lexsort(((difference**2).sum(axis=0), difference.max(axis=0)))[0]
    return np.asarray(subsets[best])


def _exchange(
    block: Ints, kind: Ints, rows: Floats, n_blocks: int, rng: np.random.Generator
) -> None:
    """Exchange instances between two blocks while that makes them more alike."""
    number = np.bincount(block * len(rows) + kind, minlength=n_blocks * len(rows))
    excess = number.reshape(n_blocks, -1) @ rows
    excess -= excess.mean(axis=0)
    members = [np.flatnonzero(block == b) for b in range(n_blocks)]
    pairs = list(combinations(range(n_blocks), 2))
    idle = 0
    for step in range(_STEPS):
        if idle > 2 * len(pairs) or (excess**2).sum() < 1e-12:
            break
        a, b = pairs[step % len(pairs)]
        at_a = rng.integers(len(members[a]), size=_POOL)
        at_b = rng.integers(len(members[b]), size=_POOL)
        i, j, gain = _best_exchange(
            rows[kind[members[a][at_a]]], rows[kind[members[b][at_b]]], excess[a] - excess[b]
        )
        if gain < 1e-12:
            idle += 1
            continue
        idle = 0
        one, other = members[a][at_a[i]], members[b][at_b[j]]
        moved = rows[kind[one]] - rows[kind[other]]
        excess[a] -= moved
        excess[b] += moved
        members[a][at_a[i]], members[b][at_b[j]] = other, one
        block[one], block[other] = b, a


def _best_exchange(rows_a: Floats, rows_b: Floats, gap: Floats) -> tuple[int, int, float]:
    """The pair whose exchange lowers the sum of squared excesses most, and by how much.

    Exchanging changes it by 2d² − 2d·gap, d the difference of the two rows.
    """
    worth_a = rows_a @ gap - (rows_a**2).sum(axis=1)
    worth_b = -(rows_b @ gap) - (rows_b**2).sum(axis=1)
    gain = worth_a[:, None] + worth_b + 2 * (rows_a @ rows_b.T)
    best = int(np.argmax(gain))
    return best // len(rows_b), best % len(rows_b), 2 * float(gain.flat[best])
