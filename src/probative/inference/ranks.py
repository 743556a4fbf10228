"""Ranks, tiers and who is best, from the decided pairs and from draws over the units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative.inference.clusters import student_quantile
from probative.inference.proportions import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from probative._types import Array, Mask

__all__ = [
    "average_ranks",
    "best_and_mean_rank",
    "covariance_of_moves",
    "dispute",
    "jackknife_covariance",
    "jackknife_moves",
    "kish_freedom",
    "pair_errors",
    "rank_sets",
    "simultaneous_quantile",
    "simultaneous_reach",
    "tiers",
]

N_NORMAL, N_BOOTSTRAP = 200_000, 20_000
_NUMBERS_AT_ONCE = 2**22
MANY_KINDS = 20_000  # of units: the sum of so many weights is as good as normal
_TIE = 1e-12  # scores that rounding alone sets apart are equal


def rank_sets(better: Mask) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The least and the greatest rank that each system may have.

    Parameters
    ----------
    better
        Whether the system of the row is decided better than the system of the column.

    References
    ----------
    M. Mogstad, J. P. Romano, A. M. Shaikh & D. Wilhelm, "Inference for ranks with applications to
    mobility across neighbourhoods and academic achievement across countries", 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.ranks import rank_sets
    >>> better = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> [ends.tolist() for ends in rank_sets(better)]
    [[1, 1, 3], [2, 2, 3]]
    """
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)


def tiers(better: Mask) -> NDArray[np.int64]:
    """The tier of each system, from 1; the systems are sorted, best first.

    A new tier starts at the first system that every system of the tiers above is decided better
    than.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.ranks import tiers
    >>> better = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> tiers(better).tolist()
    [1, 1, 2]
    """
    tier = np.ones(len(better), dtype=np.int64)
    for k in range(1, len(better)):
        tier[k] = tier[k - 1] + bool(better[:k, k].all())
    return tier


def jackknife_covariance(x: Array, y: Array, number: NDArray[Any]) -> Array:
    """The covariance of all scores F = sum x / sum y, leaving out one unit at a time.

    The linearised covariance is too small where units are of unequal size; with equal units the two
    agree but for terms of the order of one over their number.

    Parameters
    ----------
    x, y
        What every kind of unit adds to numerator and denominator: one row per system.
    number
        How many units there are of each kind.
    """
    return covariance_of_moves(jackknife_moves(x, y, number), number)


def jackknife_moves(x: Array, y: Array, number: NDArray[Any]) -> Array:
    """How far leaving out one unit of each kind moves every score: F without it less F with it."""
    total_x, total_y = x @ number, y @ number
    return np.asarray(((total_x / total_y)[:, None] * y - x) / (total_y[:, None] - y))


def covariance_of_moves(moved: Array, number: NDArray[Any]) -> Array:
    """The jackknife's covariance, given how far leaving out each unit moves every score."""
    n = max(1, number.sum())  # without units nobody is judged
    centred = moved - (moved @ number / n)[:, None]
    return np.asarray((n - 1) / n * (centred * number) @ centred.T)


def kish_freedom(y: Array, number: NDArray[Any]) -> Array:
    """The degrees of freedom of every pair: its effective number of units, less one."""
    total, squares = y @ number, (y * number) @ y.T
    size = np.add.outer(total, total) ** 2
    own = np.diag(squares)
    return np.asarray(size / (np.add.outer(own, own) + 2 * squares) - 1)


def dispute(moved: Array, number: NDArray[Any]) -> Array:
    """Return how many units the difference of every pair rests on.

    With d the moves of a pair's difference, that is (sum d²)² / sum d⁴: the number of units in
    dispute, were they all worth the same. It is infinite for a pair that no unit moves.

    Parameters
    ----------
    moved
        How far each kind of unit moves every score: one row per system.
    number
        How many units there are of each kind.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.ranks import dispute
    >>> moved = np.array([[2.0, 0.0], [0.0, 0.0]])  # four units tell the two systems apart
    >>> float(dispute(moved, np.array([4, 96]))[0, 1])
    4.0
    """
    first, second, third, fourth = (moved**power for power in (1, 2, 3, 4))

    def cross(a: Array, b: Array) -> Array:
        return np.asarray((a * number) @ b.T)

    def own(a: Array) -> Array:
        return np.asarray(np.add.outer(a @ number, a @ number))

    # the binomial expansions of sums of (m_i - m_j)^power
    both = cross(third, first)
    squares = own(second) - 2 * cross(first, first)
    fourths = own(fourth) - 4 * (both + both.T) + 6 * cross(second, second)
    differs = squares > 1e-14 * own(second)
    with np.errstate(divide="ignore", invalid="ignore"):
        # at most as many as there are, whatever rounding leaves of fourth powers
        rests_on = squares**2 / np.maximum(fourths, squares**2 / max(1, number.sum()))
    return np.where(differs, rests_on, np.inf)


def pair_errors(covariance: Array) -> Array:
    """The standard error of the difference of every pair."""
    own = np.diag(covariance)
    variance = np.add.outer(own, own) - 2 * covariance
    # what rounding leaves of the variance of a pair without differences is none
    return np.sqrt(np.where(variance > 1e-14 * np.add.outer(own, own), variance, 0.0))


def simultaneous_quantile(
    covariance: Array, level: float, rng: np.random.Generator, n_draws: int = N_NORMAL
) -> float:
    """The quantile of the largest |Z_i - Z_j| / se_ij of all pairs, Z normal with this covariance.

    It lies between the normal quantile, that of a single pair, and that of Šidák's inequality; NaN
    where no pair differs.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.ranks import simultaneous_quantile
    >>> rng = np.random.default_rng(1)
    >>> round(simultaneous_quantile(np.eye(3), 0.95, rng), 1)
    2.3
    """
    errors = pair_errors(covariance)
    if not np.any(errors > 0):
        return np.nan
    if len(covariance) == 2:
        return normal_quantile(level)
    # whatever the order in which the systems were given
    order = np.argsort(np.diag(covariance), kind="stable")
    covariance, errors = (table[np.ix_(order, order)] for table in (covariance, errors))
    with np.errstate(divide="ignore"):
        weight = np.where(errors > 0, 1 / errors, 0.0).astype(np.float32)
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-14 * values[-1]
    root = (vectors[:, kept] * np.sqrt(values[kept])).T.astype(np.float32)
    k = len(covariance)
    step = max(1, 2**18 // k)
    largest = np.zeros(n_draws, dtype=np.float32)
    for start in range(0, n_draws, step):
        drawn = rng.standard_normal((min(step, n_draws - start), len(root)), dtype=np.float32)
        z = np.ascontiguousarray((drawn @ root).T)  # the largest gap is then found faster
        most = largest[start : start + len(drawn)]
        for i in range(k - 1):
            gaps = np.abs(z[i + 1 :] - z[i])
            gaps *= weight[i + 1 :, i, None]
            np.maximum(most, gaps.max(axis=0), out=most)
    return float(np.quantile(largest, level))


def simultaneous_reach(quantile: float, freedom: Array, disputed: Array) -> Array:
    """How many standard errors the limits of each pair reach, given the normal quantile for all.

    Each pair has Student's quantile of the same tail with its own degrees of freedom. That errs on
    the safe side: the largest of Student's variables that share their denominator is less extreme.

    A variance that rests on m units in dispute is itself an estimate: as their number is random,
    its variance is about 1/m of its square, and Satterthwaite's degrees of freedom are 2m. With
    very few units Student's quantile has no bounds, and the variance at the limit is the better
    guide: a difference that is farther off by h comes with more units in dispute. With u the
    worth of one and V = m·u², the maximum-likelihood variance there is V/2 + √(V²/4 + u²h²)
    (Tango's score interval, with the units in dispute on both sides alike), which makes
    h = t·√(V + t²u²).

    Parameters
    ----------
    quantile
        Of the largest of all pairs' deviations.
    freedom
        The degrees of freedom of every pair, from the sizes of its units.
    disputed
        How many units the difference of every pair rests on.

    References
    ----------
    T. Tango, "Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design", 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.ranks import simultaneous_reach
    >>> simultaneous_reach(3.5, np.full(4, 500), np.array([np.inf, 100, 10, 1])).round(2).tolist()
    [3.52, 3.56, 4.18, 12.9]
    """
    level = float(special.erf(quantile / np.sqrt(2)))
    by_size = student_quantile(level, freedom)
    by_dispute = student_quantile(level, np.minimum(freedom, 2 * disputed))
    at_the_limit = by_size * np.sqrt(1 + by_size**2 / disputed)
    return np.asarray(np.minimum(by_dispute, at_the_limit))


def best_and_mean_rank(
    scores: Callable[[Array], Array],
    number: NDArray[np.int64],
    rng: np.random.Generator,
    n_draws: int = N_BOOTSTRAP,
    covariance: Array | None = None,
) -> tuple[Array, Array, Array]:
    """The probability of being best, the expected rank, and the probability of being ahead.

    By the Bayesian bootstrap over units. Systems that tie in a draw share the first place, and the
    ranks that they take together; each is ahead of the other by half. The last is a table: the
    row's system is ahead of the column's.

    Parameters
    ----------
    scores
        Turns weights of the kinds of units, one row per draw, into scores: one column per system.
    number
        How many units there are of each kind: as many exponential weights, added up.
    rng, n_draws
        A generator, and how many draws to make.
    covariance
        Of the scores over the units. With very many kinds of units the scores of a draw are normal
        with this covariance, which takes no time.

    References
    ----------
    D. B. Rubin, "The Bayesian bootstrap", 1981.
    """
    best = mean = ahead = np.zeros(0)
    for start, drawn in enumerate(_draw_scores(scores, number, rng, n_draws, covariance)):
        rank, first = average_ranks(drawn)
        if not start:
            best, mean = np.zeros(rank.shape[1]), np.zeros(rank.shape[1])
            ahead = np.zeros((rank.shape[1], rank.shape[1]))
        ahead = ahead + _times_ahead(rank)
        best = best + (first / first.sum(axis=1, keepdims=True)).sum(axis=0)
        mean = mean + rank.sum(axis=0)
    return best / n_draws, mean / n_draws, ahead / n_draws


def _draw_scores(
    scores: Callable[[Array], Array],
    number: NDArray[np.int64],
    rng: np.random.Generator,
    n_draws: int,
    covariance: Array | None,
) -> Iterator[Array]:
    """Scores under random weights of the units, some draws at a time."""
    if covariance is not None and len(number) > MANY_KINDS:
        centre = scores(number[None].astype(np.float64))[0]
        yield rng.multivariate_normal(
            centre, covariance, n_draws, check_valid="ignore", method="eigh"
        )
        return
    step = max(1, _NUMBERS_AT_ONCE // max(1, len(number)))
    several = np.flatnonzero(number > 1)  # as many exponential weights, added up, are a gamma
    for start in range(0, n_draws, step):
        size = (min(step, n_draws - start), len(number))
        weights = rng.standard_exponential(size)
        weights[:, several] = rng.standard_gamma(number[several], (size[0], len(several)))
        yield scores(weights)


def _times_ahead(rank: Array) -> Array:
    """In how many rows the rank of each system is lower than that of each other; ties by half."""
    columns = np.ascontiguousarray(rank.T, dtype=np.float32)
    lower = [np.count_nonzero(own < columns, axis=1) for own in columns]
    wins = np.array(lower, dtype=float)
    return np.asarray((wins + len(rank) - wins.T) / 2)


def average_ranks(scores: Array) -> tuple[Array, Mask]:
    """The rank of every score in its row, 1 for the highest; ties share. And which are highest."""
    rounded = np.round(scores / _TIE) * _TIE
    order = np.argsort(-rounded, axis=1, kind="stable")
    sorted_scores = np.take_along_axis(rounded, order, axis=1)
    place = np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    fresh = np.ones(scores.shape, dtype=bool)
    fresh[:, 1:] = sorted_scores[:, 1:] != sorted_scores[:, :-1]
    last = np.ones(scores.shape, dtype=bool)
    last[:, :-1] = fresh[:, 1:]
    begin = np.maximum.accumulate(np.where(fresh, place, 0), axis=1)
    end = np.minimum.accumulate(np.where(last, place, scores.shape[1])[:, ::-1], axis=1)[:, ::-1]
    rank = np.empty(scores.shape)
    np.put_along_axis(rank, order, (begin + end) / 2 + 1, axis=1)
    return rank, rounded == sorted_scores[:, :1]
