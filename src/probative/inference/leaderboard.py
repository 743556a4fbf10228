"""Everything that is known of the order of many systems, from what is known of each pair.

The pairs that the tests decide give rank sets, tiers and letters; the covariance of the scores over
the units gives limits for all differences at once; draws over the units give the probability of
being best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative.counts import Counts, PairedCounts
from probative.inference.decisions import exchange_errors, overstating, student_pvalue
from probative.inference.differences import difference
from probative.inference.intervals import interval
from probative.inference.multiplicity import adjust_pvalues
from probative.inference.pair_tests import pair_tests
from probative.inference.ranks import (
    N_BOOTSTRAP,
    N_NORMAL,
    best_and_mean_rank,
    dispute,
    jackknife_covariance,
    jackknife_moves,
    kish_freedom,
    pair_errors,
    rank_sets,
    simultaneous_quantile,
    simultaneous_reach,
    tiers,
)
from probative.inference.tie_letters import tie_letters
from probative.metrics import COMPOSITES, span
from probative.results.comparisons import decision_pvalue

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from probative._types import Array, Mask
    from probative.inference.pair_tests import KnownTests
    from probative.inference.unit_table import UnitTable

    Limits = tuple[Array, Array]

__all__ = ["ADJUSTMENTS", "Evidence", "Leaderboard", "evidence_of_units", "leaderboard"]

ADJUSTMENTS = ("holm", "shaffer")
_NO_SPREAD = 1e-12  # standard errors that rounding makes of none


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of the scores of several systems, before they are put in order.

    Attributes
    ----------
    estimates
        The scores; NaN where one is undefined.
    judged
        Which systems there is evidence of: those with a score that rests on two units or more.
    identical
        Which pairs no unit tells apart.
    pvalues
        Of all pairs, two-sided.
    unit_pvalues
        Student's, by unit, of all pairs of judged systems; NaN where there is none. Without them
        the `pvalues` decide alone.
    overstated, returned
        Of how many pairs the exchange test alone would overstate the evidence, because a difference
        varies more than exchanging assumes; and how many times as many items as the other the one
        system of such a pair returns, at most.
    sampled, unclear
        How many of them were sampled, and of how many of these it is not clear what drawing all
        exchanges would decide.
    draws
        The fewest and the most exchanges drawn for a pair; none where all tests are exact.
    covariance
        Of the scores of the judged systems.
    limits
        Turns a normal quantile into the limits of all differences of judged systems, those of the
        row minus those of the column.
    scores
        Turns weights of the kinds of units into scores of the judged systems: one row per draw.
    number
        How many units there are of each kind.
    most
        By how much two scores can differ.
    approximate
        What the scores are, where nothing about them is exact.
    """

    estimates: Array
    judged: Mask
    identical: Mask
    pvalues: Array
    sampled: int
    covariance: Array
    limits: Callable[[float], Limits]
    scores: Callable[[Array], Array]
    number: NDArray[np.int64]
    unclear: int = 0
    draws: tuple[int, int] = (0, 0)
    most: float = 1.0
    approximate: str | None = None
    unit_pvalues: Array | None = None
    overstated: int = 0
    returned: float = 1.0


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """Systems in order, best first, and what is known of each and of every pair.

    Attributes
    ----------
    order
        The number of the system in every place, as given.
    rank_low, rank_high, tier, letters, p_best, expected_rank
        What is known of the system in every place; NaN where there is no evidence.
    difference, low, high
        The score of the row's place minus that of the column's, and its simultaneous limits.
    pvalue, p_unit, p_adjusted, decided, p_ahead, identical
        Of every pair of places; `p_adjusted` is the larger of the two p-values, adjusted, and
        `p_ahead` the probability that the row's system is better.
    quantile
        How many standard errors the limits reach, with many units; NaN without a pair.
    """

    order: NDArray[np.intp]
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
    identical: Mask
    quantile: float


def leaderboard(
    evidence: Evidence,
    *,
    level: float = 0.95,
    adjust: str = "holm",
    rng: np.random.Generator | None = None,
    n_normal: int = N_NORMAL,
    n_bootstrap: int = N_BOOTSTRAP,
) -> Leaderboard:
    """Put systems in order, and say how sure that is.

    Parameters
    ----------
    evidence
        What is known of their scores.
    level
        The confidence with which all decided pairs, and so all rank sets, are right at once; and
        that of the limits of all differences.
    adjust
        How p-values are adjusted for the number of pairs: "holm" or "shaffer".
    rng
        A generator for the quantile of the limits, and for the probabilities of being best.
    n_normal, n_bootstrap
        How many draws each of them rests on; without any of the latter there are none.
    """
    generator = np.random.default_rng(0) if rng is None else rng
    estimates, judged = evidence.estimates, evidence.judged
    k = len(estimates)
    # undefined scores last; equal ones in the order given
    order = np.lexsort((np.arange(k), -np.where(np.isnan(estimates), -np.inf, estimates)))
    known = np.flatnonzero(judged)
    pairs = np.ix_(known, known)

    pvalue, p_unit, p_adjusted = evidence.pvalues.copy(), *np.full((2, k, k), np.nan)
    pvalue[np.isnan(np.add.outer(estimates, estimates))] = np.nan
    if evidence.unit_pvalues is not None:
        p_unit[pairs] = evidence.unit_pvalues
    p_adjusted[pairs] = _adjusted(decision_pvalue(pvalue, p_unit)[pairs], adjust)
    with np.errstate(invalid="ignore"):
        difference = np.subtract.outer(estimates, estimates)
        decided = p_adjusted <= (1 - level) * (1 + 1e-12)
        better = decided & (difference > 0)

    low, high = np.full((k, k), -evidence.most), np.full((k, k), evidence.most)
    quantile = simultaneous_quantile(evidence.covariance, level, generator, n_normal)
    reach = float(special.ndtri((1 + level) / 2)) if np.isnan(quantile) else quantile
    low[pairs], high[pairs] = evidence.limits(reach)

    best, expected, ahead = np.full(k, np.nan), np.full(k, np.nan), np.full((k, k), np.nan)
    if len(known) and n_bootstrap:
        best[known], expected[known], ahead[pairs] = best_and_mean_rank(
            evidence.scores, evidence.number, generator, n_bootstrap, evidence.covariance
        )

    places = np.ix_(order, order)
    better, decided = better[places], (better | better.T)[places]
    rank_low, rank_high = rank_sets(better)
    return Leaderboard(
        order=order,
        rank_low=rank_low,
        rank_high=rank_high,
        tier=tiers(better),
        letters=tie_letters(decided),
        p_best=best[order],
        expected_rank=expected[order],
        difference=difference[places],
        low=low[places],
        high=high[places],
        pvalue=pvalue[places],
        p_unit=p_unit[places],
        p_adjusted=p_adjusted[places],
        decided=decided,
        p_ahead=ahead[places],
        identical=evidence.identical[places],
        quantile=quantile,
    )


def _adjusted(pvalues: Array, method: str) -> Array:
    """The p-values of a symmetric table, adjusted for the number of pairs."""
    adjusted = np.ones_like(pvalues)
    upper = np.triu_indices(len(pvalues), 1)
    adjusted[upper] = adjust_pvalues(pvalues[upper], method)
    return np.minimum(adjusted, adjusted.T)


def evidence_of_units(
    table: UnitTable,
    metric: str = "f1",
    *,
    beta: float = 1.0,
    anything_to_find: bool = True,
    seed: int = 0,
    level: float = 0.95,
    adjust: str = "holm",
    n_jobs: int | None = -1,
    report: Callable[[int, int], None] | None = None,
    tested: KnownTests | None = None,
) -> Evidence:
    """What the units of a test set tell of scores that are ratios of sums over them.

    Parameters
    ----------
    table
        The counts of the systems.
    metric, beta
        The score.
    anything_to_find
        Whether the answer holds what the score is about; without that nothing is known.
    seed, level, adjust, n_jobs, report, tested
        As for `pair_tests`.
    """
    tests = pair_tests(
        table,
        metric,
        beta=beta,
        level=level,
        adjust=adjust,
        seed=seed,
        n_jobs=n_jobs,
        report=report,
        tested=tested,
    )
    units = table.grouped()
    x, y = units.contributions(metric, beta=beta)
    there = np.any(y > 0, axis=0)  # units in which nothing counts are not there
    x, y, number = x[:, there], y[:, there], units.number[there]
    with np.errstate(invalid="ignore"):
        estimates = (x @ number) / (y @ number)
    judged = ((y > 0) @ number > 1) & anything_to_find
    _, kind = table.distinct()
    known = np.flatnonzero(judged)
    x, y = x[known], y[known]
    covariance = jackknife_covariance(x, y, number)
    errors, freedom = pair_errors(covariance), kish_freedom(y, number)
    disputed = dispute(jackknife_moves(x, y, number), number)
    gaps = np.subtract.outer(estimates[known], estimates[known])
    p_unit = student_pvalue(gaps, errors, freedom)
    with np.errstate(invalid="ignore", divide="ignore"):
        excess = errors / exchange_errors(x, y, number)
    overstated = np.triu(overstating(excess, tests.pvalues[np.ix_(known, known)], p_unit))
    returned = ((units.tp + units.fp) @ units.number)[known].astype(np.float64)

    def limits(quantile: float) -> Limits:
        reach = simultaneous_reach(quantile, freedom, disputed) * errors
        low, high = gaps - reach, gaps + reach
        level = float(special.erf(quantile / np.sqrt(2)))
        for i in np.flatnonzero(np.bincount(kind[known], minlength=len(kind))[kind[known]] > 1):
            same = kind[known] == kind[known[i]]
            low[i, same], high[i, same] = _limits_of_copies(units, known[i], metric, level, beta)
        still = (errors <= _NO_SPREAD) & (kind[known][:, None] != kind[known])
        if still.any():
            arms = np.array([_arms(units, int(one), metric, level, beta) for one in known])
            low[still] = (gaps - np.hypot(arms[:, None, 0], arms[:, 1]))[still]
            high[still] = (gaps + np.hypot(arms[:, None, 1], arms[:, 0]))[still]
        return np.maximum(low, -span(metric)), np.minimum(high, span(metric))

    def scores(weights: Array) -> Array:
        if metric in COMPOSITES:
            drawn = np.zeros((len(weights), len(units.number)))
            drawn[:, there] = weights
            return np.nan_to_num(units.only(known).scores(metric, drawn))
        return np.asarray((weights @ x.T) / (weights @ y.T))

    return Evidence(
        estimates=estimates,
        judged=judged,
        identical=kind[:, None] == kind,
        pvalues=tests.pvalues,
        sampled=tests.sampled,
        unclear=tests.unclear,
        covariance=covariance,
        limits=limits,
        scores=scores,
        number=number,
        most=span(metric),
        unit_pvalues=p_unit,
        overstated=int(np.count_nonzero(overstated)),
        returned=_largest_ratio(returned, overstated),
    )


def _largest_ratio(returned: Array, pairs: Mask) -> float:
    """Return how many times as much one of a pair returns as the other, at most, of these pairs."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.divide.outer(returned, returned)
    ratio = np.fmax(ratio, ratio.T)[pairs]
    return float(np.max(ratio, initial=1.0))


def _arms(
    units: UnitTable, system: int, metric: str, level: float, beta: float
) -> tuple[float, float]:
    """How far the limits of a single score reach below and above it.

    Two systems of which every unit tells the same (all right and all wrong, say) seem to differ by
    just so much: MOVER joins what is known of each, as if they were independent.
    """
    own = units.counts()
    parts = [own.tp, own.fp, own.fn, *([] if own.tn is None else [own.tn])]
    rows = [np.repeat(np.asarray(part)[system], units.number) for part in parts]
    alone = interval(
        Counts(*(row.sum() if units.by_item else row for row in rows)),
        metric,
        level=level,
        beta=beta,
        clustered=not units.by_item,
    )
    estimate = float(np.asarray(alone.estimate))
    return estimate - float(np.asarray(alone.low)), float(np.asarray(alone.high)) - estimate


def _limits_of_copies(
    units: UnitTable, system: int, metric: str, level: float, beta: float
) -> tuple[float, float]:
    """The limits of the difference of two systems that no unit tells apart.

    That nothing differs here does not show that nothing would elsewhere.
    """
    counts = units.counts()
    parts = [counts.tp, counts.fp, counts.fn, *([] if counts.tn is None else [counts.tn])]
    agreed = np.stack([np.asarray(part)[system] for part in parts], axis=1)
    cases = np.concatenate([np.zeros((len(agreed), 4)), agreed], axis=1)
    paired = PairedCounts(cases, units.number)
    gap = difference(paired.total() if units.by_item else paired, metric, level=level, beta=beta)
    return gap.low, gap.high
