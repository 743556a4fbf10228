"""Points at which the shares of the eight cases are averaged, chosen until they are enough.

A share that only moves the difference of two scores a little, and smoothly, needs few nodes: a
Gauss-Jacobi rule of each Beta variate has them where they tell most. How many each share needs is
found by trying: whichever changed the answer most is refined next.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative.inference import _log_odds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Rule = tuple[Array, Array, Array]
    Shapes = Sequence[tuple[float, float]]

__all__ = ["Nodes", "gauss_jacobi", "product_nodes", "refined_nodes", "sobol_nodes"]

_SIZES = (2, 4, 6, 9, 13, 19, 27, 38)
_NEGLIGIBLE = 1e-13  # weight of a node that is left out
_SCRAMBLINGS, _POINTS = 8, 128
_TABLE = 2**13  # entries of a table of quantiles


@dataclass(frozen=True)
class Nodes:
    """Points in the space of the shares: each variate and what it lacks to 1, and the weights."""

    share: tuple[Array, ...]
    rest: tuple[Array, ...]
    weight: Array
    error: float = np.nan  # of the averages that were tried
    rule: str = "quadrature"

    @classmethod
    def single(cls) -> Nodes:
        """One node, where there is nothing to average."""
        return cls((), (), np.ones(1), 0.0)


def refined_nodes(
    shapes: Shapes, averages: Callable[[Nodes], Array], tolerance: float, most: int
) -> Nodes:
    """Return a product of Gauss-Jacobi rules whose averages are right to the tolerance.

    Or, where that would take more than `most` nodes, to the error that is returned with them: the
    error of each rule is about what its last refinement changed, times the rate at which the
    changes shrink, and doubled to be safe.
    """
    rule = cache(lambda i, level: gauss_jacobi(*shapes[i], _SIZES[level]))

    def at(level: Sequence[int]) -> Nodes:
        return _product([rule(i, one) for i, one in enumerate(level)])

    level = [1] * len(shapes)
    value = averages(at(level))
    changes = [
        [_largest(averages(at([*level[:i], 0, *level[i + 1 :]])) - value)]
        for i in range(len(shapes))
    ]
    while True:
        errors = [_remaining(seen) for seen in changes]
        if sum(errors) <= tolerance:
            break
        worst = int(np.argmax(errors))
        level[worst] += 1
        if level[worst] >= len(_SIZES) or np.prod([_SIZES[i] for i in level]) > most:
            level[worst] -= 1
            break
        refined = averages(at(level))
        changes[worst].append(_largest(refined - value))
        value = refined
    if sum(errors) > tolerance:  # nothing tells how fast it would go on
        errors = [2 * seen[-1] for seen in changes]
    return replace(at(level), error=max(sum(errors), 1e-12))


def sobol_nodes(shapes: Shapes, averages: Callable[[Nodes], Array]) -> Nodes:
    """Return scrambled Sobol points, for shapes so small that Gauss rules need too many nodes.

    They reach into the corners: a share is as exact where it is 1e-300 as near 1/2. The error is
    twice the largest standard error, over independent scramblings, of what is averaged.
    """
    from scipy.stats import qmc  # a heavy import, for sparse tables only

    parts = []
    for i in range(_SCRAMBLINGS):
        uniform = qmc.Sobol(len(shapes), rng=np.random.default_rng([0, i])).random(_POINTS)
        odds = [_log_odds_at(a, b, uniform[:, j]) for j, (a, b) in enumerate(shapes)]
        share, rest = (tuple(special.expit(sign * y) for y in odds) for sign in (1, -1))
        parts.append(Nodes(share, rest, np.full(_POINTS, 1 / _POINTS), rule="sobol"))
    values = np.array([averages(part) for part in parts])
    return Nodes(
        tuple(np.concatenate(column) for column in zip(*(x.share for x in parts), strict=True)),
        tuple(np.concatenate(column) for column in zip(*(x.rest for x in parts), strict=True)),
        np.concatenate([x.weight for x in parts]) / _SCRAMBLINGS,
        error=2 * _largest(values.std(axis=0, ddof=1)) / np.sqrt(_SCRAMBLINGS),
        rule="sobol",
    )


def _log_odds_at(a: float, b: float, q: Array) -> Array:
    """Quantiles of the log odds of Beta(a, b), from a table fine enough for the points' error."""
    shapes = np.array(a), np.array(b)
    y = np.linspace(*_log_odds.window(*shapes), _TABLE)
    return np.interp(q, _log_odds.cdf(*shapes, y), y)


def product_nodes(shapes: Shapes, sizes: Sequence[int]) -> Nodes:
    """Return the product of Gauss-Jacobi rules of these sizes, one for each Beta variate."""
    return _product([gauss_jacobi(*shape, size) for shape, size in zip(shapes, sizes, strict=True)])


def _product(rules: Sequence[Rule]) -> Nodes:
    weight = rules[0][2]
    for _, _, one in rules[1:]:
        weight = np.multiply.outer(weight, one)
    keep = np.nonzero(weight > _NEGLIGIBLE)
    weight = weight[keep]
    share, rest = (tuple(rule[i][at] for rule, at in zip(rules, keep, strict=True)) for i in (0, 1))
    return Nodes(share, rest, weight / weight.sum())


def gauss_jacobi(a: float, b: float, size: int) -> tuple[Array, Array, Array]:
    """Return nodes, 1 minus the nodes, and weights of the Gauss rule for Beta(a, b).

    By Golub and Welsch. The three-term recurrence is written around the mean, so that narrow
    distributions lose no digits, and around the nearer end of the scale.
    """
    if a > b:
        rest, share, weight = gauss_jacobi(b, a, size)
        return share[::-1], rest[::-1], weight[::-1]
    n = a + b
    mean = a / n
    k = np.arange(1, size)
    twice = 2 * k + n - 2
    diagonal = np.zeros(size)
    diagonal[1:] = (b / n - mean) * (2 * k / twice) * ((n + k - 1) / (twice + 2))
    beside = np.empty(size - 1)
    beside[:1] = np.sqrt(mean * (b / n) / (n + 1))
    j = k[1:]
    twice = 2 * j + n - 2
    beside[1:] = np.sqrt(
        (j / twice)
        * ((j + b - 1) / twice)
        * ((j + a - 1) / (twice + 1))
        * ((j + n - 2) / (twice - 1))
    )
    matrix = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    nodes, vectors = np.linalg.eigh(matrix)
    share = np.clip(mean + nodes, 0, 1)
    return share, 1 - share, vectors[0] ** 2


def _largest(changes: Array) -> float:
    return float(np.max(np.abs(changes)))


def _remaining(changes: list[float]) -> float:
    """What is left of a series of changes: the last one, times the rate at which they shrink."""
    if len(changes) < 2:
        return changes[-1]
    rate = min(1.0, changes[-1] / max(changes[-2], 1e-300))
    return 2 * changes[-1] * max(rate, 0.05)
