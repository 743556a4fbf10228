"""Do rank sets and the limits of all differences hold at once? By simulation.

Sentences differ in how hard they are, for all systems alike and for each on its own: an item of
unit i is found by system k with probability Φ(a_k + h_i/√2 + h_ik/√2), all h standard normal, and a
false alarm comes for `_ALARMS` of the items that are missed. So the true recall of a system is
Φ(a_k/√2), and its F1 follows; systems with the same a_k tie exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative._validation import one_of, open_probability, whole_number
from probative.counts import Counts
from probative.inference.leaderboard import ADJUSTMENTS, evidence_of_units, leaderboard
from probative.inference.unit_table import UnitTable
from probative.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["TRUTHS", "UNITS", "RankCoverage", "rank_study"]

TRUTHS = ("all tie", "pairs tie", "all differ")
UNITS = ("300 sentences", "20 documents")
_ALARMS = 0.8
_BEST, _WORST = 1.4, 0.9  # a_k of the best and of the worst system, where they differ
_NORMAL_DRAWS = 20_000  # for the limits: fewer than in earnest, since there are many test sets


@dataclass(frozen=True, eq=False, repr=False)
class RankCoverage(Result):
    """How often a leaderboard was right in all it said, under one condition.

    Attributes
    ----------
    systems, truth, units
        How many systems, which of them tie in truth, and what a test set is.
    level
        The confidence asked for.
    rank_sets, rank_error
        The share of test sets on which all rank sets together hold the true ranks (of tied systems
        every rank that the tie leaves open), and its Monte-Carlo error.
    limits, limits_error
        The share on which the limits of all differences hold the true ones, and its error.
    decided
        The mean share of the pairs that were decided.
    replicates
        Test sets drawn.
    """

    systems: int
    truth: str
    units: str
    level: float
    rank_sets: float
    rank_error: float
    limits: float
    limits_error: float
    decided: float
    replicates: int

    @property
    def holds(self) -> bool:
        """Whether both shares reach the level, within three standard errors."""
        slack = 3 * math.sqrt(self.level * (1 - self.level) / self.replicates)
        return min(self.rank_sets, self.limits) >= self.level - slack

    def __str__(self) -> str:
        return (
            f"{self.systems} systems, {self.truth}, {self.units}: rank sets "
            f"{self.rank_sets:.4f} ± {self.rank_error:.4f}, limits {self.limits:.4f} ± "
            f"{self.limits_error:.4f}"
        )


def rank_study(
    systems: Sequence[int] = (5, 20),
    truths: Sequence[str] = TRUTHS,
    units: Sequence[str] = UNITS,
    *,
    adjust: str = "holm",
    level: float = 0.95,
    replicates: int = 1000,
    rng: int = 0,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> list[RankCoverage]:
    """Simulate how often all rank sets, and the limits of all differences, hold at once.

    Parameters
    ----------
    systems, truths, units
        What to try, in all combinations: how many systems, which of them tie, and the test set.
    adjust, level
        As for `probative.rank`.
    replicates, rng
        Test sets for each condition, and the seed.
    report
        Called with the number of test sets done and of all.

    Examples
    --------
    >>> from probative.studies.ranks import rank_study
    >>> (found,) = rank_study([3], ["all tie"], ["20 documents"], replicates=20)
    >>> found.rank_sets >= 0.8
    True
    """
    one_of("adjust", adjust, ADJUSTMENTS)
    level = open_probability("level", level)
    replicates = whole_number("replicates", replicates)
    seed = whole_number("rng", rng, least=0)
    for truth in truths:
        one_of("truths", truth, TRUTHS)
    for unit in units:
        one_of("units", unit, UNITS)
    conditions = [
        (whole_number("systems", k, least=2), t, u) for k in systems for t in truths for u in units
    ]
    found = []
    for place, (k, truth, unit) in enumerate(conditions):
        skill = _skills(k, truth)
        scores = true_scores(skill)
        right = np.zeros((replicates, 2), dtype=bool)
        decided = np.zeros(replicates)
        for i in range(replicates):
            report(place * replicates + i, len(conditions) * replicates)
            generator = np.random.default_rng([seed, place, i])
            table = draw(skill, unit, generator)
            right[i, 0], right[i, 1], decided[i] = _judge(table, scores, level, adjust, generator)
        shares = right.mean(axis=0)
        errors = np.sqrt(shares * (1 - shares) / replicates)
        found.append(
            RankCoverage(
                k,
                truth,
                unit,
                level,
                float(shares[0]),
                float(errors[0]),
                float(shares[1]),
                float(errors[1]),
                float(decided.mean()),
                replicates,
            )
        )
    return found


def _skills(k: int, truth: str) -> Array:
    """The a_k of every system, worst first."""
    if truth == "all tie":
        return np.full(k, (_BEST + _WORST) / 2)
    groups = np.arange(k) // 2 if truth == "pairs tie" else np.arange(k)
    return np.asarray(_WORST + (_BEST - _WORST) * groups / max(1, groups[-1]))


def true_scores(skill: Array) -> Array:
    """The F1 that systems would have on endlessly many units."""
    recall = special.ndtr(skill / math.sqrt(2))
    return np.asarray(2 * recall / (recall + _ALARMS * (1 - recall) + 1))


def draw(skill: Array, units: str, rng: np.random.Generator) -> UnitTable:
    """A test set, and what each system has right and wrong on it."""
    n = int(units.split()[0])
    mean = np.full(n, 1.6)
    if units.endswith("documents"):
        mean = rng.lognormal(math.log(25) - 0.32, 0.8, n)  # 25 items on average
    positives = rng.poisson(mean)
    ease = rng.standard_normal(n) + rng.standard_normal((len(skill), n))
    chance = special.ndtr(skill[:, None] + ease / math.sqrt(2))
    tp = rng.binomial(positives, chance)
    fp = rng.poisson(_ALARMS * (positives * (1 - chance)))
    return UnitTable.of_counts([Counts(a, b, positives - a) for a, b in zip(tp, fp, strict=True)])


def _judge(
    table: UnitTable, scores: Array, level: float, adjust: str, rng: np.random.Generator
) -> tuple[bool, bool, float]:
    """Whether all rank sets hold, whether all limits do, and the share of decided pairs."""
    board = leaderboard(
        evidence_of_units(table, n_jobs=1),
        level=level,
        adjust=adjust,
        rng=rng,
        n_normal=_NORMAL_DRAWS,
        n_bootstrap=0,
    )
    own = scores[board.order]
    gaps = np.subtract.outer(own, own)
    better, worse = (gaps < 0).sum(axis=1), (gaps > 0).sum(axis=1)
    ranks = (board.rank_low <= 1 + better) & (board.rank_high >= len(own) - worse)
    limits = (board.low <= gaps) & (gaps <= board.high)
    pairs = np.triu_indices(len(own), 1)
    return bool(ranks.all()), bool(limits[pairs].all()), float(board.decided[pairs].mean())
