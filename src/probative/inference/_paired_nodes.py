"""Points at which the eight-case posterior is averaged.

The gamma variates of the cases 0 to 6, as shares of their sum, are built from independent Beta
variates: g0 : g2, g1 : g3, (g0 + g2) : (g1 + g3), g4 : (g5 + g6), g5 : g6, and
(g0 + … + g3) : (g4 + g5 + g6). One of the first two splits is integrated out elsewhere; its whole
sum stands in one of its two cells here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative.inference import _log_odds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Split = tuple[int, int]

__all__ = ["gauss_jacobi", "gauss_nodes", "sobol_nodes"]

_SCRAMBLINGS = 8
_POINTS = 2**14  # of each scrambling
_TABLE = 2**13  # entries of a table of quantiles


def gauss_nodes(
    cells: Array, solved: Split, other: Split, tail: str, *, fine: bool
) -> tuple[Array, Array]:
    """Return g at the nodes of a product of Gauss-Jacobi rules, and the weights (one row)."""
    shapes = _shapes(cells, solved, other, tail)
    first, rest = (28, 9) if fine else (20, 7)
    if len(shapes) == 5:  # F-beta has one dimension more
        first, rest = (20, 7) if fine else (14, 5)
    rules = [gauss_jacobi(a, b, first if i == 0 else rest) for i, (a, b) in enumerate(shapes)]
    shares = np.meshgrid(*(nodes for nodes, _ in rules), indexing="ij")
    weights = np.meshgrid(*(weight for _, weight in rules), indexing="ij")
    g = _cells_of([share.ravel() for share in shares], solved, other, tail, cells)
    return g, np.prod(weights, axis=0).reshape(1, -1)


def sobol_nodes(
    cells: Array, solved: Split, other: Split, tail: str, seed: int
) -> tuple[Array, Array]:
    """Return g at scrambled Sobol points, and the weights: a row for each scrambling."""
    from scipy.stats import qmc  # a heavy import, for sparse tables only

    shapes = _shapes(cells, solved, other, tail)
    uniform = np.concatenate(
        [
            qmc.Sobol(len(shapes), rng=np.random.default_rng([seed, i])).random(_POINTS)
            for i in range(_SCRAMBLINGS)
        ]
    )
    shares = [_quantiles(a, b, uniform[:, i]) for i, (a, b) in enumerate(shapes)]
    weight = np.full((_SCRAMBLINGS, _POINTS), 1 / _POINTS)
    return _cells_of(shares, solved, other, tail, cells), weight


def _quantiles(a: float, b: float, q: Array) -> Array:
    """Quantiles of Beta(a, b), from a table fine enough for the points' own error."""
    shape_a, shape_b = np.array(a), np.array(b)
    y = np.linspace(*_log_odds.window(shape_a, shape_b), _TABLE)
    return np.asarray(special.expit(np.interp(q, _log_odds.cdf(shape_a, shape_b, y), y)))


def gauss_jacobi(a: float, b: float, size: int) -> tuple[Array, Array]:
    """Return nodes and weights of the Gauss rule for Beta(a, b), by Golub and Welsch.

    The three-term recurrence is written around the mean, so that narrow distributions lose no
    digits.
    """
    k = np.arange(1, size)
    n = a + b
    mean = a / n
    diagonal = np.empty(size)
    diagonal[0] = 0.0
    twice = 2 * k + n - 2
    centre = (1 + (a - b) / twice * ((n - 2) / (twice + 2))) / 2
    diagonal[1:] = centre - mean
    beside = np.empty(size - 1)
    beside[0] = np.sqrt(mean * (b / n) / (n + 1))
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
    return np.clip(mean + nodes, 0, 1), vectors[0] ** 2


def _shapes(cells: Array, solved: Split, other: Split, tail: str) -> list[tuple[float, float]]:
    """The Beta variates averaged over: the other split first, then what is shared."""
    wrong = cells[5] if tail == "one" else cells[5] + cells[6]
    by_answer = {0: cells[0] + cells[2], 2: cells[0] + cells[2]}
    by_answer |= {1: cells[1] + cells[3], 3: cells[1] + cells[3]}
    disagreed = cells[:4].sum()
    shapes = [
        (cells[other[0]], cells[other[1]]),
        (by_answer[other[0]], by_answer[solved[0]]),
        (cells[4], wrong),
        (disagreed, cells[4] + wrong),
    ]
    if tail == "two":
        shapes.append((cells[5], cells[6]))
    return shapes


def _cells_of(shares: list[Array], solved: Split, other: Split, tail: str, cells: Array) -> Array:
    """Put the shares together to g0 … g6."""
    split, of_other, right, disagreed = shares[:4]
    g = np.zeros((len(split), 7))
    g[:, other[0]] = split * of_other * disagreed
    g[:, other[1]] = (1 - split) * of_other * disagreed
    g[:, solved[1]] = (1 - of_other) * disagreed
    g[:, 4] = right * (1 - disagreed)
    wrong = (1 - right) * (1 - disagreed)
    if tail == "one":
        g[:, 5] = wrong
    else:
        first = shares[4] if tail == "two" else cells[5] / (cells[5] + cells[6])
        g[:, 5], g[:, 6] = first * wrong, (1 - first) * wrong
    return g
