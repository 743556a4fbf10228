"""Do rank sets and the limits of all differences hold at once? By simulation.

Sentences differ in how hard they are, for all systems alike and for each on its own: an item of
unit i is found by system k with probability Φ(a_k + h_i/√2 + h_ik/√2), all h standard normal, and a
false alarm comes for `_ALARMS` of the items that are missed. So the true recall of a system is
Φ(a_k/√2), and its F1 follows; systems with the same a_k tie exactly. Near copies are one system, in
which ever more of the units have been put right: up to `_MENDED` of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import special

from probative._validation import Array, one_of, whole_number
from probative.counts import Counts
from probative.inference.pooled import PooledScore
from probative.inference.rank import ADJUSTMENTS, Leaderboard, leaderboard
from probative_studies.harness import Report, Row, as_given, mean, share_of, study

_TRUTHS = ("all tie", "pairs tie", "all differ", "near copies")
_UNITS = ("300 sentences", "20 documents")
_ALARMS = 0.8
_BEST, _WORST = 1.4, 0.9  # a_k of the best and of the worst system, where they differ
_MENDED = 0.1
_NORMAL_DRAWS = 10_000  # for the limits: fewer than in earnest, since there are many test sets


class RankCoverage(Row):
    """Share of leaderboards that were right in everything; NaN without tests."""

    @property
    def holds(self) -> bool:
        """Return True if both shares reach the level, within three standard errors."""
        slack = 3 * math.sqrt(self.level * (1 - self.level) / self.replicates)
        return bool(np.nanmin([self.rank_sets, self.limits]) >= self.level - slack)

    def __str__(self) -> str:
        sets = f"rank sets {self.rank_sets:.4f} ± {self.rank_error:.4f}, "
        return (
            f"{self.systems} systems, {self.truth}, {self.units}: "
            f"{'' if math.isnan(self.rank_sets) else sets}"
            f"limits {self.limits:.4f} ± {self.limits_error:.4f}"
        )


def _boards(
    systems: Sequence[int] = (5, 20),
    truths: Sequence[str] = _TRUTHS,
    units: Sequence[str] = _UNITS,
    *,
    adjust: str = "holm",
    limits_only: bool = False,
) -> Iterator[tuple[Any, ...]]:
    one_of("adjust", adjust, ADJUSTMENTS)
    numbers = [whole_number("systems", k, least=2) for k in systems]
    truths = [one_of("truths", truth, _TRUTHS) for truth in truths]
    conditions = product(numbers, truths, [one_of("units", u, _UNITS) for u in units])
    for place, condition in enumerate(conditions):
        yield place, *condition, adjust, limits_only


@study(_boards, as_given)
def rank_study(
    case: tuple[Any, ...], level: float, replicates: int, rng: int, report: Report
) -> Iterator[Row]:
    """Simulate how often all rank sets, and the limits of all differences, hold at once.

    >>> (found,) = rank_study([3], ["all tie"], ["20 documents"], replicates=20)
    >>> found.rank_sets >= 0.8
    True
    """
    place, k, truth, unit, adjust, limits_only = case
    seed = whole_number("rng", rng, least=0)
    skill, mended = _skills(k, truth), _mended(k, truth)
    scores = true_scores(skill, mended)
    # stand-ins where nobody asks for tests
    tested = dict.fromkeys(combinations(range(k), 2), (1.0, 0)) if limits_only else None
    found = np.zeros((replicates, 3))
    for i in range(replicates):
        report(i, replicates)
        generator = np.random.default_rng([seed, place, i])
        board = leaderboard(
            draw(skill, unit, generator, mended),
            level=level,
            adjust=adjust,
            rng=generator,
            n_jobs=1,
            tested=tested,
            n_normal=_NORMAL_DRAWS,
            n_bootstrap=0,
        )
        found[i] = _judge(board, scores)
    (sets, error), (limits, limits_error) = (share_of(own) for own in found.T[:2])
    tests: dict[str, float] = {"rank_sets": sets, "rank_error": error}
    decided = {"decided": mean(found[:, 2])}
    if limits_only:
        tests, decided = (dict.fromkeys(own, math.nan) for own in (tests, decided))
    about = {"systems": k, "truth": truth, "units": unit, "level": level, **tests}
    about |= {"limits": limits, "limits_error": limits_error, **decided}
    yield RankCoverage(**about, replicates=replicates)


def _skills(k: int, truth: str) -> Array:
    """Return the a_k of every system, worst first."""
    if truth in ("all tie", "near copies"):
        return np.full(k, (_BEST + _WORST) / 2)
    groups = np.arange(k) // 2 if truth == "pairs tie" else np.arange(k)
    return np.asarray(_WORST + (_BEST - _WORST) * groups / max(1, groups[-1]))


def _mended(k: int, truth: str) -> Array | None:
    """Return the share of the units that is put right in every near copy."""
    return np.linspace(0, _MENDED, k) if truth == "near copies" else None


def true_scores(skill: Array, mended: Array | None = None) -> Array:
    """Return the F1 that systems would have on endlessly many units."""
    missed = special.ndtr(-skill / math.sqrt(2)) * (1 if mended is None else 1 - mended)
    return np.asarray(2 * (1 - missed) / (2 - missed + _ALARMS * missed))


def draw(skill: Array, units: str, rng: Generator, mended: Array | None = None) -> PooledScore:
    """Draw a test set, and what each system has right and wrong on it."""
    # with `mended` all systems are the first one, but for this share of the units, put right
    n = int(units.split()[0])
    mean = np.full(n, 1.6)
    if units.endswith("documents"):
        mean = rng.lognormal(math.log(25) - 0.32, 0.8, n)  # 25 items on average
    positives = rng.poisson(mean)
    ease = rng.standard_normal(n) + rng.standard_normal((len(skill), n))
    chance = special.ndtr(skill[:, None] + ease / math.sqrt(2))
    tp = rng.binomial(positives, chance)
    fp = rng.poisson(_ALARMS * (positives * (1 - chance)))
    if mended is not None:
        right = rng.random(tp.shape) < mended[:, None]
        tp, fp = np.where(right, positives, tp[0]), np.where(right, 0, fp[0])
    return PooledScore.of_counts([Counts(a, b, positives - a) for a, b in zip(tp, fp, strict=True)])


def _judge(board: Leaderboard, scores: Array) -> tuple[bool, bool, float]:
    """Return whether all rank sets and all limits hold, and the share of decided pairs."""
    own = scores[board.order]
    gaps = np.subtract.outer(own, own)
    better, worse = (gaps < 0).sum(axis=1), (gaps > 0).sum(axis=1)
    ranks = (board.rank_low <= 1 + better) & (board.rank_high >= len(own) - worse)
    limits = (board.low <= gaps) & (gaps <= board.high)
    pairs = np.triu_indices(len(own), 1)
    return bool(ranks.all()), bool(limits[pairs].all()), float(board.decided[pairs].mean())
