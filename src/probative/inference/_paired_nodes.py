"""Points at which the shares of the eight cases are averaged, chosen until they are enough.

A share that only moves the difference of two scores a little, and smoothly, needs few nodes: a
Gauss-Jacobi rule of its Beta variate has them where they tell most. One that may be next to
nothing, while what matters is its ratio to another such share, is smooth on the scale of log odds
only: there a trapezoid rule does better, whose steps grow towards the tails. Which rule each share
needs, and how fine, is tried with few nodes for the others; the product of all is then compared
with a coarser one, and refined as a whole where that shows that it is not enough. Where several
shares range over hundreds of log odds, Sobol points do better than any product.
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
    Averages = Callable[["Nodes"], Array]
    Ladder = Callable[[int], Rule]  # rules of one variate, finer from step to step
    Shapes = Sequence[tuple[float, float]]

__all__ = [
    "Nodes",
    "gauss_jacobi",
    "gauss_nodes",
    "log_odds_rule",
    "mixed_nodes",
    "product_nodes",
    "sobol_nodes",
]

_SIZES = (2, 3, 4, 6, 9, 13, 19, 27, 38)  # of Gauss-Jacobi rules
_LARGE = 4  # the last of them before trapezoid rules are tried, too
_STEPS = (4.0, 3.1, 2.3, 1.7, 1.25, 0.92, 0.68, 0.5, 0.37)  # of trapezoid rules
_COARSE = 3
_ROUGH = 1e-4  # error of a Gauss rule of six nodes from which on it is no use going on
_NEGLIGIBLE = 0.1  # of the tolerance: the weight of nodes that are left out
_LOG_WEIGHT = 23.0  # a trapezoid rule ends where the density has fallen to exp(-23)
_CONVERGING = 4.0  # by how much a finer product errs less, at least
_SCRAMBLINGS, _POINTS = 8, 512
_SAFE = 3.0  # standard errors
_TABLE = 2**13  # entries of a table of quantiles
_EVEN = 4.0  # log odds about the peak up to which its steps are about equal


@dataclass(frozen=True)
class Nodes:
    """Points in the space of the shares: each variate and what it lacks to 1, and the weights."""

    share: tuple[Array, ...]
    rest: tuple[Array, ...]
    weight: Array
    error: float = np.nan  # of the averages that were tried

    @classmethod
    def single(cls) -> Nodes:
        """One node, where there is nothing to average."""
        return cls((), (), np.ones(1), 0.0)


def gauss_nodes(shapes: Shapes, averages: Averages, tolerance: float, most: int) -> Nodes:
    """Return a product of Gauss-Jacobi rules whose averages are right to the tolerance.

    Whichever rule errs most is refined next. The error of each is about what its last refinement
    changed, times the rate at which the changes shrink, and doubled to be safe. Where it would take
    more than `most` nodes, or nothing points to fast convergence, the error is not a number.
    """
    rule = cache(lambda i, level: gauss_jacobi(*shapes[i], _SIZES[level]))

    def at(level: Sequence[int]) -> Nodes:
        return _product([rule(i, one) for i, one in enumerate(level)])

    level = [2] * len(shapes)
    value = averages(at(level))
    changes = [
        [_largest(averages(at([*level[:i], 0, *level[i + 1 :]])) - value)]
        for i in range(len(shapes))
    ]
    while True:
        errors = [_remaining(seen) for seen in changes]
        if sum(errors) <= tolerance:
            return replace(at(level), error=max(sum(errors), 1e-12))
        worst = int(np.argmax(errors))
        slow = len(changes[worst]) > 1 and errors[worst] > _ROUGH
        if slow or level[worst] + 1 == len(_SIZES):
            return replace(at(level), error=np.nan)
        level[worst] += 1
        if np.prod([_SIZES[i] for i in level]) > most:
            return replace(at(level), error=np.nan)
        refined = averages(at(level))
        changes[worst].append(_largest(refined - value))
        value = refined


def mixed_nodes(shapes: Shapes, averages: Averages, tolerance: float, most: int) -> Nodes:
    """Return a product of rules of either kind whose averages are right to the tolerance.

    Or, where that would take more than `most` nodes, to the error that is returned with them:
    by how much the averages differ from those of a coarser product, which errs more.
    """
    chosen = [_enough(shapes, i, averages, tolerance) for i in range(len(shapes))]

    def product(change: int) -> Nodes:
        rules = [ladder(max(0, level + change)) for ladder, level in chosen]
        return _product(rules, _NEGLIGIBLE * tolerance)

    finest = max(level for _, level in chosen)
    change = 0
    while change > 2 - finest and len(product(change).weight) > most:
        change -= 1
    nodes = product(change)
    value = averages(nodes)
    error = _largest(averages(product(change - 1)) - value)
    while error > _CONVERGING * tolerance:
        change += 1
        finer = product(change)
        if not len(nodes.weight) < len(finer.weight) <= most:
            break
        last, nodes, value = value, finer, averages(finer)
        error = _largest(value - last)
    return replace(nodes, error=error)


def sobol_nodes(shapes: Shapes, averages: Averages) -> Nodes:
    """Return scrambled Sobol points, for shapes so small that products need too many nodes.

    They reach into the corners: a share is as exact where it is 1e-300 as near 1/2. The error is
    three times the largest standard error, over independent scramblings, of what is averaged.
    """
    from scipy.stats import qmc  # a heavy import, for sparse tables only

    parts = []
    for i in range(_SCRAMBLINGS):
        uniform = qmc.Sobol(len(shapes), rng=np.random.default_rng([0, i])).random(_POINTS)
        odds = [_log_odds_at(a, b, uniform[:, j]) for j, (a, b) in enumerate(shapes)]
        share, rest = (tuple(special.expit(sign * y) for y in odds) for sign in (1, -1))
        parts.append(Nodes(share, rest, np.full(_POINTS, 1 / _POINTS)))
    values = np.array([averages(part) for part in parts])
    return Nodes(
        tuple(np.concatenate(column) for column in zip(*(x.share for x in parts), strict=True)),
        tuple(np.concatenate(column) for column in zip(*(x.rest for x in parts), strict=True)),
        np.concatenate([x.weight for x in parts]) / _SCRAMBLINGS,
        error=_SAFE * _largest(values.std(axis=0, ddof=1)) / np.sqrt(_SCRAMBLINGS),
    )


def _log_odds_at(a: float, b: float, q: Array) -> Array:
    """Quantiles of the log odds of Beta(a, b), from a table fine enough for the points' error."""
    shapes = np.array(a), np.array(b)
    y = np.linspace(*_log_odds.window(*shapes), _TABLE)
    return np.interp(q, _log_odds.cdf(*shapes, y), y)


def _enough(shapes: Shapes, i: int, averages: Averages, tolerance: float) -> tuple[Ladder, int]:
    """The rules for one share, and which of them is fine enough with few nodes for the others."""
    few = [gauss_jacobi(*shape, _COARSE) for shape in shapes]

    def value(rule: Rule) -> Array:
        return averages(_product([*few[:i], rule, *few[i + 1 :]]))

    def gauss(level: int) -> Rule:
        return gauss_jacobi(*shapes[i], _SIZES[min(level, len(_SIZES) - 1)])

    def trapezoid(level: int) -> Rule:
        return log_odds_rule(*shapes[i], _STEPS[min(level, len(_STEPS) - 1)])

    first, error = _climb(gauss, value, tolerance, _LARGE)
    if error <= tolerance:
        return gauss, first
    second, other = _climb(trapezoid, value, tolerance, len(_STEPS) - 1)
    if other > tolerance:
        third, error = _climb(gauss, value, tolerance, len(_SIZES) - 1)
        if error < other:
            return gauss, third
    return trapezoid, second


def _climb(
    ladder: Ladder, value: Callable[[Rule], Array], tolerance: float, last: int
) -> tuple[int, float]:
    """The first rule of a ladder that is right to the tolerance, and about its error.

    That is what the last step changed, times the rate at which the changes shrink.
    """
    before = value(ladder(0))
    changes: list[float] = []
    for level in range(1, last + 1):
        now = value(ladder(level))
        changes.append(_largest(now - before))
        before = now
        rate = min(1.0, changes[-1] / max(changes[-2], 1e-300)) if len(changes) > 1 else 1.0
        error = changes[-1] * max(rate, 0.05)
        if error <= tolerance:
            break
    return level, error


def log_odds_rule(a: float, b: float, step: float) -> Rule:
    """Return a trapezoid rule for Beta(a, b) on the scale of log odds.

    The step is so many standard deviations, or log odds if these are fewer. Towards the tails,
    where what is averaged hardly changes any more, steps grow.
    """
    shapes = np.array(a), np.array(b)
    peak = np.log(a / b)
    window = _log_odds.window(*shapes, _LOG_WEIGHT)
    low, high = (float(np.arcsinh((end - peak) / _EVEN)) for end in window)
    step *= min(1.0, float(_log_odds.spread(*shapes))) / _EVEN
    t = np.linspace(low, high, int(np.ceil((high - low) / step)) + 1)
    y = peak + _EVEN * np.sinh(t)
    weight = np.exp(_log_odds.log_pdf(*shapes, y)) * np.cosh(t)
    return special.expit(y), special.expit(-y), weight / weight.sum()


def product_nodes(shapes: Shapes, sizes: Sequence[int]) -> Nodes:
    """Return the product of Gauss-Jacobi rules of these sizes, one for each Beta variate."""
    return _product([gauss_jacobi(*shape, size) for shape, size in zip(shapes, sizes, strict=True)])


def _product(rules: Sequence[Rule], negligible: float = 0.0) -> Nodes:
    """The product of the rules, but for nodes that have less than this weight together."""
    weight = rules[0][2]
    for _, _, one in rules[1:]:
        weight = np.multiply.outer(weight, one)
    ordered = np.sort(weight, axis=None)
    least = ordered[np.searchsorted(np.cumsum(ordered), negligible)]
    keep = np.nonzero(weight >= least)
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
