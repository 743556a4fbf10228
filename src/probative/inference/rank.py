"""Rank many systems: exact tests of all pairs, rank sets, tiers, letters, P(best)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from string import ascii_letters
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from probative.inference.differences import student_pvalue
from probative.inference.groups import adjust_pvalues
from probative.inference.intervals import normal_quantile
from probative.inference.units import jackknife_covariance, pair_errors
from probative.results.comparisons import decision_pvalue

if TYPE_CHECKING:
    from probative._validation import Array, Mask
    from probative.inference.scores import KnownLimits, KnownTests, PairTests, Score


# --- Ranks, tiers and who is best, from the decided pairs and from draws over the units

_N_NORMAL, N_BOOTSTRAP = 200_000, 20_000
_NUMBERS_AT_ONCE = 2**22
MANY_KINDS = 20_000  # of units: the sum of so many weights is as good as normal
_TIE = 1e-12  # scores that rounding alone sets apart are equal


def rank_sets(better: Mask) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the least and the greatest rank that each system may have."""
    # M. Mogstad, J. P. Romano, A. M. Shaikh & D. Wilhelm, "Inference for ranks with applications to
    # mobility across neighbourhoods and academic achievement across countries", 2024
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)


def tiers(better: Mask) -> NDArray[np.int64]:
    """Return the tier of each system, from 1; the systems are sorted, best first."""
    # a new tier starts at the first system that all systems above are decided better than
    tier = np.ones(len(better), dtype=np.int64)
    for k in range(1, len(better)):
        tier[k] = tier[k - 1] + bool(better[:k, k].all())
    return tier


def simultaneous_quantile(
    covariance: Array, level: float, rng: np.random.Generator, n_draws: int = _N_NORMAL
) -> float:
    """Return the quantile of the largest |Z_i - Z_j| / se_ij of all pairs, Z ~ N(0, covariance)."""
    # it lies between the normal quantile and Šidák's; NaN if no pair differs
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


def best_and_mean_rank(
    scores: Callable[[Array], Array],
    number: NDArray[np.int64],
    rng: np.random.Generator,
    n_draws: int = N_BOOTSTRAP,
    covariance: Array | None = None,
) -> tuple[Array, Array, Array]:
    """Return the probabilities of being best, the expected ranks, and P(row ahead of column)."""
    # The Bayesian bootstrap over units (D. B. Rubin, 1981). Systems that tie in a draw share the
    # first place, and the ranks that they take together; each is ahead of the other by half.
    best: Any = 0.0
    ahead: Any = 0.0
    for drawn in _draw_scores(scores, number, rng, n_draws, covariance):
        columns = np.ascontiguousarray(np.round(drawn.T / _TIE))
        # the draws in which a system scores more than another; ties count by half
        wins = np.array([np.count_nonzero(own > columns, axis=1) for own in columns], dtype=float)
        ahead = ahead + (wins + len(drawn) - wins.T) / 2
        first = columns == columns.max(axis=0)
        best = best + (first / first.sum(axis=0)).sum(axis=1)
    # every system is ahead of itself by half, too
    return best / n_draws, (ahead.sum(axis=0) + n_draws / 2) / n_draws, ahead / n_draws


def _draw_scores(
    scores: Callable[[Array], Array],
    number: NDArray[np.int64],
    rng: np.random.Generator,
    n_draws: int,
    covariance: Array | None,
) -> Iterator[Array]:
    """Yield scores under random weights of the units, some draws at a time."""
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


# --- Tie letters: systems that the data do not distinguish share a letter

_MOST = 5  # groups per system, beyond which they would be more than anybody reads


def tie_letters(decided: NDArray[np.bool_]) -> list[str]:
    """Make a compact letter display: systems share a letter if and only if not decided."""
    # H.-P. Piepho, "An algorithm for a letter-based representation of all-pairwise comparisons",
    # 2004
    k = len(decided)
    apart = [sum(1 << j for j in np.flatnonzero(row).tolist()) for row in decided]
    # the letter whose best systems come first is the first letter: a to Z, then a' and so on
    columns = _swept(_insert_and_absorb(apart) or _cover(apart), k)
    letters = [""] * k
    for place, members in enumerate(sorted(tuple(_members(column)) for column in columns)):
        turns, letter = divmod(place, len(ascii_letters))
        for system in members:
            letters[system] += ascii_letters[letter] + "'" * turns
    return letters


def _insert_and_absorb(apart: Sequence[int]) -> list[int] | None:
    """Return the largest groups of systems of which no two are decided, as bits of numbers."""
    # All systems begin in one group. A decided pair splits each group that holds both (insert);
    # what is then part of another group is dropped (absorb). None if there are too many groups.
    k = len(apart)
    columns = [(1 << k) - 1]
    for i in range(k):
        for j in _members(apart[i] >> (i + 1) << (i + 1)):
            pair = 1 << i | 1 << j
            both = [column for column in columns if column & pair == pair]
            if not both:
                continue
            columns = [column for column in columns if column & pair != pair]
            halves = {column ^ 1 << one for column in both for one in (i, j)}
            for column in sorted(halves, key=int.bit_count, reverse=True):
                if not any(column & other == column for other in columns):
                    columns.append(column)
            if len(columns) > _MOST * k:
                return None
    return columns


def _cover(apart: Sequence[int]) -> list[int]:
    """Return groups that cover every undecided pair, each made as large as it will go."""
    k = len(apart)
    everybody = (1 << k) - 1
    columns = []
    for i in range(k):
        missing = everybody & ~apart[i] & -(1 << i)  # itself, and the undecided ones below it
        while missing:
            group = 1 << i
            free = everybody & ~apart[i]
            for j in (*_members(missing), *_members(everybody & ~missing)):
                if free >> j & 1:
                    group |= 1 << j
                    free &= ~apart[j]
            columns.append(group)
            missing &= ~group
    return columns


def _swept(columns: list[int], k: int) -> list[int]:
    """Drop the groups whose pairs all share another one."""
    members = {column: list(_members(column)) for column in columns}
    together = np.zeros((k, k), dtype=np.int64)  # how many groups hold both
    for own in members.values():
        together[np.ix_(own, own)] += 1
    kept = []
    for column in sorted(members, key=int.bit_count):
        pairs = np.ix_(members[column], members[column])
        if np.all(together[pairs] > 1):
            together[pairs] -= 1
        else:
            kept.append(column)
    return kept


def _members(column: int) -> Iterable[int]:
    """Return the places of the bits of a number."""
    while column:
        low = column & -column
        yield low.bit_length() - 1
        column ^= low


# --- Everything that is known of the order of many systems, from what is known of each pair
#
# The pairs that the tests decide give rank sets, tiers and letters; the covariance of the scores
# over the units gives limits for all differences at once; draws over the units give the
# probability of being best.

ADJUSTMENTS = ("holm", "shaffer")


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """Systems in order, best first, and what is known of each and of every pair."""

    # tables have one row and one column per place; they compare the row with the column
    order: NDArray[np.intp]  # the number of the system in every place, as given
    rank_low: NDArray[np.int64]
    rank_high: NDArray[np.int64]
    tier: NDArray[np.int64]
    letters: list[str]
    p_best: Array
    expected_rank: Array
    difference: Array
    low: Array
    high: Array
    pvalue: Array
    p_unit: Array
    p_adjusted: Array
    decided: Mask
    p_ahead: Array
    identical: Mask  # pairs that no unit tells apart
    quantile: float
    tests: PairTests  # as the systems were given


def leaderboard(
    score: Score,
    *,
    level: float = 0.95,
    adjust: str = "holm",
    seed: int = 0,
    rng: np.random.Generator | None = None,
    n_jobs: int | None = -1,
    report: Callable[[int, int], None] | None = None,
    tested: KnownTests | None = None,
    limited: KnownLimits | None = None,
    n_normal: int = _N_NORMAL,
    n_bootstrap: int = N_BOOTSTRAP,
) -> Leaderboard:
    """Put systems in order by any kind of score, and say how sure that is."""
    # `seed` is for the tests, `rng` for the draws of the scores
    generator = np.random.default_rng(0) if rng is None else rng
    tests = score.test_all(
        level=level, adjust=adjust, seed=seed, n_jobs=n_jobs, report=report, tested=tested
    )
    estimates, kind = score.estimates, score.kinds
    k = len(estimates)
    # undefined scores last; equal ones in the order given
    order = np.lexsort((np.arange(k), -np.where(np.isnan(estimates), -np.inf, estimates)))
    known = np.flatnonzero(score.judged)
    pairs = np.ix_(known, known)
    there = score.there(known.tolist()) if len(known) else np.zeros(len(score.number), dtype=bool)
    covariance = jackknife_covariance(score.moves[known][:, there], score.number[there])

    with np.errstate(invalid="ignore"):
        difference = np.subtract.outer(estimates, estimates)
    pvalue, p_unit, p_adjusted = tests.pvalues.copy(), *np.full((2, k, k), np.nan)
    pvalue[np.isnan(difference)] = np.nan
    freedom = score.freedoms(known.tolist())
    p_unit[pairs] = student_pvalue(difference[pairs], pair_errors(covariance), freedom)
    upper = np.triu_indices(len(known), 1)
    adjusted = np.ones((len(known), len(known)))
    adjusted[upper] = adjust_pvalues(decision_pvalue(pvalue, p_unit)[pairs][upper], adjust)
    p_adjusted[pairs] = np.minimum(adjusted, adjusted.T)
    with np.errstate(invalid="ignore"):
        decided = p_adjusted <= (1 - level) * (1 + 1e-12)
        better = decided & (difference > 0)

    low, high = np.full((k, k), -score.most), np.full((k, k), score.most)
    quantile = simultaneous_quantile(covariance, level, generator, n_normal)
    reach = float(special.ndtri((1 + level) / 2)) if np.isnan(quantile) else quantile
    low[pairs], high[pairs] = score.simultaneous(known, limited, n_jobs)(reach)

    best, expected, ahead = np.full(k, np.nan), np.full(k, np.nan), np.full((k, k), np.nan)
    if len(known) and n_bootstrap:
        number = np.asarray(score.number, dtype=np.int64)
        best[known], expected[known], ahead[pairs] = best_and_mean_rank(
            partial(score.resampled, known), number, generator, n_bootstrap, covariance
        )

    places = np.ix_(order, order)
    better, decided = better[places], (better | better.T)[places]
    ranks = *rank_sets(better), tiers(better), tie_letters(decided), best[order], expected[order]
    tables = (own[places] for own in (difference, low, high, pvalue, p_unit, p_adjusted))
    identical = (kind[:, None] == kind)[places]
    found: Any = (*tables, decided, ahead[places], identical, quantile, tests)
    return Leaderboard(order, *ranks, *found)
