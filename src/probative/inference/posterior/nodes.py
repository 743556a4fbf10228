"""Choose the points at which the shares of the eight cases are averaged, until they are enough.

A share that moves the difference of two scores only a little, and smoothly, needs few nodes of the
Gauss-Jacobi rule of its Beta variate. For a share that may be tiny while its ratio to another tiny
share matters, the integrand is smoother in the root of the odds; there is a Gauss rule for that,
too. Trials with few nodes show which of the two is better. Then the rule with the largest error is
refined until all are accurate, or there are too many nodes. Where several shares range over
hundreds of log odds, Sobol points are better than any product.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative.inference.posterior import log_odds

if TYPE_CHECKING:
    from probative._validation import Array

    Rule = tuple[Array, Array, Array]
    Averages = Callable[[Sequence["Nodes"]], Array]
    Shapes = Sequence[tuple[float, float]]

_SIZES = (2, 3, 4, 6, 9, 13, 19)  # nodes of a rule, by level
_SIZES_TRIED = 5  # of each rule, with few nodes of the others
_NODES_OF_THE_OTHERS = 2  # while one rule is tried
_MOST_PLAIN_NODES = 800  # of plain rules, which are tried first
_LARGEST_ERROR_WITHOUT_MORE_KINDS = 1e-6  # beyond it, all shares get the same kind of rule
_PROMISING_TOLERANCES = 1000.0  # predicted error, in tolerances, up to which plain rules are tried
_NEGLIGIBLE_WEIGHT = 1e-11  # of all nodes that are left out together
_SAFETY = 8.0  # factor on errors, which were seen at a few averages only
_LEAST_RATE = 0.02  # smallest factor by which errors are taken to shrink
_UNSETTLED = 0.5  # error relative to the last change, where nodes do not settle
_LEAST_ERROR = 1e-9
_SCRAMBLINGS, _SOBOL_POINTS = 8, 512
_STANDARD_ERRORS = 3.0
_QUANTILE_TABLE_ENTRIES = 2**13
_SMALLEST_UNSTRETCHED_SHAPE = 3.0
_STRETCH = 2.0  # the stretched rule is in the odds to the power of 1/_STRETCH
_STEP = 0.25  # of the trapezoid rule from which a stretched one is made
_EVEN_LOG_ODDS = 8.0  # distance from the peak up to which its steps are about equal


@dataclass(frozen=True)
class Nodes:
    """Points in the space of the shares: each variate, 1 minus it, and the weights."""

    share: tuple[Array, ...]
    rest: tuple[Array, ...]
    weight: Array
    error: float = np.nan  # estimate, for the averages that were tried

    @classmethod
    def single(cls) -> Nodes:
        """Return one node, where there is nothing to average."""
        return cls((), (), np.ones(1), 0.0)

    @classmethod
    def joined(cls, parts: Sequence[Nodes]) -> Nodes:
        """Return all nodes of the parts, with one column of weights per part."""
        share, rest = (
            tuple(np.concatenate(column) for column in zip(*columns, strict=True))
            for columns in ([part.share for part in parts], [part.rest for part in parts])
        )
        sizes = [len(part.weight) for part in parts]
        weight = np.zeros((sum(sizes), len(parts)))
        column = np.repeat(np.arange(len(parts)), sizes)
        weight[np.arange(len(weight)), column] = np.concatenate([part.weight for part in parts])
        return cls(share, rest, weight)


def gauss_nodes(shapes: Shapes, averages: Averages, tolerance: float, most: int) -> Nodes:
    """Return a product of Gauss rules whose averages are accurate to the tolerance."""
    # The number of nodes of each rule is tried with few nodes of the others. Where plain rules are
    # predicted to need many, stretched ones are tried, too: each share gets the better one or, if
    # that is not accurate enough, all get the same kind.
    plain, few = _tried(gauss_jacobi, shapes, averages), min(_MOST_PLAIN_NODES, most)
    tries = []
    if _promised(plain, tolerance, few) <= _PROMISING_TOLERANCES * tolerance:
        tries.append(_refined(plain, averages, tolerance, few))
        if tries[0].error <= _SAFETY * tolerance:
            return tries[0]
    stretched = _tried(stretched_gauss, shapes, averages)
    best = [
        min(pair, key=lambda rule: rule.errors[_SIZES_TRIED])
        for pair in zip(plain, stretched, strict=True)
    ]
    tries.append(_refined(best, averages, tolerance, most))
    for rules in (stretched, plain):
        left = min(nodes.error for nodes in tries)
        if left > _LARGEST_ERROR_WITHOUT_MORE_KINDS and (
            rules is stretched or _promised(rules, tolerance, most) < left
        ):
            tries.append(_refined(rules, averages, tolerance, most))
    return min(tries, key=lambda nodes: nodes.error)


def _promised(rules: Sequence[_Rule], tolerance: float, most: int) -> float:
    """Return the error of so many nodes that the trials with few nodes predict."""
    errors = [rule.errors for rule in rules]
    level = _cheapest(errors, tolerance, most)
    return sum(row[one] for row, one in zip(errors, level, strict=True))


def _refined(rules: Sequence[_Rule], averages: Averages, tolerance: float, most: int) -> Nodes:
    """Refine all rules until that changes little, or the product exceeds `most` nodes."""
    # Return the coarsest product that suffices. Its error is its change from the finest or, if
    # none suffices, half of the last change, but at least a quarter of the geometric mean of the
    # last two; times eight, because other averages than these will be computed, too.
    level = _cheapest([rule.errors for rule in rules], tolerance, most)
    even = max(i for i in range(len(_SIZES)) if _size([i] * len(rules)) <= most)

    def coarsened(by: int) -> Nodes:
        sizes = [max(one - by, 0) for one in level]
        return product([rule.at(size) for rule, size in zip(rules, sizes, strict=True)])

    products = [coarsened(2), coarsened(1), coarsened(0)]
    values = list(averages(products))
    some_stay = False
    while True:
        errors = [_largest(value - values[-1]) for value in values[:-1]]
        finer = [min(one + 1, len(_SIZES) - 1) for one in level]
        if _size(finer) > most:  # the largest equal size of all rules that is allowed
            finer = [even] * len(rules)
        if errors[-1] <= tolerance or finer == level or _size(finer) <= _size(level):
            break
        some_stay = any(one == before for one, before in zip(finer, level, strict=True))
        level = finer
        products.append(coarsened(0))
        values.extend(averages(products[-1:]))
    # refining the others does not show the error of rules that already have the largest size
    unseen = _largest(averages([coarsened(1)])[0] - values[-1]) if some_stay else 0.0
    if unseen > max(tolerance, errors[-1]):
        return replace(products[-1], error=_SAFETY * unseen)
    if errors[-1] <= tolerance:
        best = int(np.argmax(np.array(errors) <= tolerance))
        return replace(products[best], error=max(_SAFETY * errors[best], _LEAST_ERROR))
    before, last = (_largest(one - other) for one, other in itertools.pairwise(values[-3:]))
    # a last change much below the one before may be luck, since few differences are tried
    last = max(last, math.sqrt(before * last) / 2)
    return replace(products[-1], error=_SAFETY * _UNSETTLED * last)


@dataclass(frozen=True)
class _Rule:
    """A Gauss rule for one share, in all sizes, with the error of each size."""

    kind: Callable[[float, float, int], Rule]
    shape: tuple[float, float]
    errors: list[float]

    def at(self, level: int) -> Rule:
        return self.kind(*self.shape, _SIZES[level])


def _tried(
    kind: Callable[[float, float, int], Rule], shapes: Shapes, averages: Averages
) -> list[_Rule]:
    """Try rules of one kind, one per share, with few nodes of the others."""
    few = [gauss_jacobi(*shape, _NODES_OF_THE_OTHERS) for shape in shapes]
    values = averages(
        [
            product([*few[:i], kind(*shapes[i], size), *few[i + 1 :]])
            for i in range(len(shapes))
            for size in _SIZES[:_SIZES_TRIED]
        ]
    )
    changes = np.abs(np.diff(values.reshape(len(shapes), _SIZES_TRIED, -1), axis=1)).max(axis=2)
    errors: list[list[float]] = changes.tolist()
    for row in errors:
        while len(row) < len(_SIZES):  # predict: the last change times the rate of shrinking
            rate = min(1.0, row[-1] / max(row[-2], 1e-300))
            row.append(2 * row[-1] * max(rate, _LEAST_RATE))
    return [_Rule(kind, *rule) for rule in zip(shapes, errors, strict=True)]


def _cheapest(errors: Sequence[Sequence[float]], tolerance: float, most: int) -> list[int]:
    """Return the level of each rule for which the errors add up to at most the tolerance."""
    # No level is much above those that were tried.
    level = [1] * len(errors)
    while True:
        left = [row[size] for row, size in zip(errors, level, strict=True)]
        worst = int(np.argmax(left))
        finer = [size + (i == worst) for i, size in enumerate(level)]
        if sum(left) <= tolerance or finer[worst] > _SIZES_TRIED or _size(finer) > most:
            return level
        level = finer


def _size(level: Sequence[int]) -> int:
    return math.prod(_SIZES[i] for i in level)


def sobol_nodes(shapes: Shapes, averages: Averages) -> Nodes:
    """Return scrambled Sobol points, for shapes so small that products need too many nodes."""
    # They reach into the corners: a share is as exact at 1e-300 as near 1/2. The error is three
    # times the largest standard error of the averages over independent scramblings.
    from scipy.stats import qmc  # a heavy import, for sparse tables only

    parts = []
    for i in range(_SCRAMBLINGS):
        uniform = qmc.Sobol(len(shapes), rng=np.random.default_rng([0, i])).random(_SOBOL_POINTS)
        odds = [np.interp(uniform[:, j], *_log_odds_table(*own)) for j, own in enumerate(shapes)]
        share, rest = (tuple(special.expit(sign * y) for y in odds) for sign in (1, -1))
        parts.append(Nodes(share, rest, np.full(_SOBOL_POINTS, 1 / _SOBOL_POINTS)))
    values = averages(parts)
    together = Nodes.joined(parts)
    return replace(
        together,
        weight=together.weight.sum(axis=1) / _SCRAMBLINGS,
        error=_STANDARD_ERRORS * _largest(values.std(axis=0, ddof=1)) / np.sqrt(_SCRAMBLINGS),
    )


@lru_cache(maxsize=16)
def _log_odds_table(a: float, b: float) -> tuple[Array, Array]:
    """Return the distribution function of log odds, fine enough for quantiles of Sobol points."""
    shapes = np.array(a), np.array(b)
    y = np.linspace(*log_odds.window(*shapes), _QUANTILE_TABLE_ENTRIES)
    return log_odds.cdf(*shapes, y), y


def stretched_gauss(a: float, b: float, size: int) -> Rule:
    """Return a Gauss rule of Beta(a, b), stretched towards 0 and 1 if a shape is small."""
    # The polynomials are in u = z/(1 + z), with z the root of the odds over a/b. Small shapes have
    # much of their probability near 0 or 1, where these nodes are closer together.
    if min(a, b) >= _SMALLEST_UNSTRETCHED_SHAPE:
        return gauss_jacobi(a, b, size)
    centre = np.log(a / b)
    diagonal, beside = _recurrence(a, b)
    nodes, weight = _golub_welsch(diagonal[:size], beside[: size - 1])
    y = centre + _STRETCH * special.logit(nodes)
    return special.expit(y), special.expit(-y), weight


def _golub_welsch(diagonal: Array, beside: Array) -> tuple[Array, Array]:
    """Return nodes and weights of a Gauss rule from its three-term recurrence."""
    matrix = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    nodes, vectors = np.linalg.eigh(matrix)
    return nodes, vectors[0] ** 2


@lru_cache(maxsize=64)
def _recurrence(a: float, b: float) -> tuple[Array, Array]:
    """Return the three-term recurrence of the polynomials in u, by Lanczos' method."""
    step = _STEP * min(1.0, float(log_odds.spread(np.array(a), np.array(b))))
    y, weight = log_odds.stretched(a, b, step, _EVEN_LOG_ODDS)
    u = special.expit((y - np.log(a / b)) / _STRETCH)
    basis = np.zeros((_SIZES[-1] + 1, len(u)))
    basis[0] = np.sqrt(weight / weight.sum())
    diagonal, beside = np.zeros(_SIZES[-1]), np.zeros(_SIZES[-1])
    for k in range(_SIZES[-1]):
        following = u * basis[k]
        diagonal[k] = basis[k] @ following
        for _ in range(2):  # orthogonalise twice, or rounding errors would add up
            following -= basis[: k + 1].T @ (basis[: k + 1] @ following)
        beside[k] = np.linalg.norm(following)
        basis[k + 1] = following / beside[k]
    return diagonal, beside


def product_nodes(shapes: Shapes, size: int, *, stretched: bool = False) -> Nodes:
    """Return the product of Gauss rules of this size, one per Beta variate."""
    kind = stretched_gauss if stretched else gauss_jacobi
    return product([kind(*shape, size) for shape in shapes])


def product(rules: Sequence[Rule]) -> Nodes:
    """Return the product of the rules without nodes of negligible weight."""
    weight = rules[0][2]
    for _, _, other in rules[1:]:
        weight = np.multiply.outer(weight, other)
    ordered = np.sort(weight, axis=None)
    least = ordered[np.searchsorted(np.cumsum(ordered), _NEGLIGIBLE_WEIGHT)]
    keep = np.nonzero(weight >= least)
    share, rest = (tuple(rule[i][at] for rule, at in zip(rules, keep, strict=True)) for i in (0, 1))
    return Nodes(share, rest, weight[keep] / weight[keep].sum())


@lru_cache(maxsize=256)
def gauss_jacobi(a: float, b: float, size: int) -> tuple[Array, Array, Array]:
    """Return nodes, 1 minus the nodes, and weights of the Gauss rule for Beta(a, b)."""
    # The three-term recurrence is written around the mean and from the nearer end of the scale, so
    # that narrow distributions lose no digits.
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
    nodes, weight = _golub_welsch(diagonal, beside)
    share = np.clip(mean + nodes, 0, 1)
    return share, 1 - share, weight


def _largest(changes: Array) -> float:
    return float(np.max(np.abs(changes)))
