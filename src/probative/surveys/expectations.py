"""How much units are expected to differ, before they are annotated.

What a sample is to estimate, the F1 of a system or the difference of two, is to first order a sum
over units of e = sum_s c_s tp_s + c_g g, with the gradient of section "ratios of totals" for c. An
item that some systems return is taken to be right with a probability that depends on how many of
them return it; items that nobody returns are taken to come at a rate. So every unit has an
expected e and a variance of it, and a stratum the mean of the variances and the variance of the
means. These guesses place the sample. They have no part in what is estimated from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative.surveys.pool import Pool

    Floats = NDArray[np.float64]

__all__ = ["Evidence", "Expected", "expect"]

# what is guessed where nothing is known: the probability that an item is right which all systems
# return, which some return, which the only system returns; items missed by all per item returned
AGREED, DISPUTED, ALONE, MISSED = 0.75, 1 / 3, 0.6, 0.5
# what the scores count for where differences are to be told: the difference is hardly less sure for
# it, and scores, which are told beside it, much more
_BESIDE = 0.05
_KNOWN = 5.0  # annotated units (items) that a guess counts for beside evidence
_FAR = 20.0  # how many times the usual one the doubt in a unit counts for at most


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of annotated units, or what a judge says of all.

    Attributes
    ----------
    units
        Their numbers in the pool.
    right_agreed, right_disputed
        Of every unit, how many of the items that all systems return are right, and how many of
        those that some return.
    missed
        How many items nobody returns.
    tp, g
        The counts: of each system the items that are right, one row per system; items to be found.
    source
        ``pilot`` or ``judge``.
    """

    units: NDArray[np.int64]
    right_agreed: Floats
    right_disputed: Floats
    missed: Floats
    tp: Floats
    g: Floats
    source: str


@dataclass(frozen=True, eq=False)
class Expected:
    """What is expected of every unit.

    Attributes
    ----------
    mean, variance
        Of every e (one row per system or pair) and unit, in items.
    n_goals
        How many of the rows are the goal; the others are the scores beside differences.
    scale
        What e is divided by: the change of F1 that comes of one item.
    observed
        The e of units with evidence, likewise.
    evidence
        That evidence; None without.
    why
        On what it rests: ``guess``, ``scores``, ``pilot`` or ``judge``.
    reach
        How far every unit could move what is to be told if all of it went wrong, in items.
    """

    mean: Floats
    variance: Floats
    n_goals: int
    scale: float
    observed: Floats | None
    evidence: Evidence | None
    why: str
    reach: Floats

    def spread(self, units: NDArray[np.intp]) -> float:
        """The standard deviation of what is to be told among units that are drawn alike."""
        return float(np.sqrt(self._variances(units)[: self.n_goals].mean()))

    def beside(self, units: NDArray[np.intp]) -> float:
        """What the scores add to it where units are placed for differences; 0 for scores."""
        scores = self._variances(units)[self.n_goals :]
        return float(np.sqrt(_BESIDE * scores.mean())) if len(scores) else 0.0

    def placing(self, units: NDArray[np.intp]) -> float:
        """The spread by which units are placed."""
        return float(np.hypot(self.spread(units), self.beside(units)))

    def _variances(self, units: NDArray[np.intp]) -> Floats:
        """The variance of every e among these units."""
        guess = self.mean[:, units].var(axis=1) + self.variance[:, units].mean(axis=1)
        if self.observed is None or self.evidence is None:
            return np.asarray(guess)
        known = np.flatnonzero(np.isin(self.evidence.units, units))
        if len(known) < 2:
            return np.asarray(guess)
        seen = self.observed[:, known].var(axis=1, ddof=1)
        return np.asarray((len(known) * seen + _KNOWN * guess) / (len(known) + _KNOWN))

    @cached_property
    def alone(self) -> Floats:
        """Of every unit, the spread by which it would be placed if it were a stratum."""
        goals, scores = self.variance[: self.n_goals], self.variance[self.n_goals :]
        beside = _BESIDE * scores.mean(axis=0) if len(scores) else 0.0
        return np.asarray(np.sqrt(goals.mean(axis=0) + beside))

    @cached_property
    def overall(self) -> float:
        """The standard deviation of what is to be told among all units of the pool."""
        every = self.mean.var(axis=1) + self.variance.mean(axis=1)
        return float(np.sqrt(every[: self.n_goals].mean()))


def expect(pool: Pool, goal: str, evidence: Evidence | None = None) -> Expected:
    """What is to be expected of every unit of a pool.

    Parameters
    ----------
    pool
        Who returns what.
    goal
        ``score`` (the mean of the variances of all systems' scores is to be small) or
        ``difference`` (that of all pairs, and a little of the scores).
    evidence
        What annotated units, or a judge, say; None without.
    """
    right = _chances(pool, evidence)
    missed = _missed(pool, evidence)
    says = pool.matched.items.says
    weight = pool.matched.items.weight
    returned = pool.returned.sum(axis=1)
    expected = weight * (says * right).sum(axis=1)
    total = weight * float(right.sum()) + float(missed.sum())
    if pool.all_classes:
        total = float(len(pool.matched.gold))  # every item has one label to be found
    contrasts, n_goals, scale = _contrasts(expected, returned, total, goal)
    to_find = np.zeros(len(contrasts)) if pool.all_classes else contrasts[:, -1]
    item = contrasts[:, :-1] @ says + to_find[:, None]
    unit, n_units = pool.unit_of_item, pool.n_units

    def by_unit(values: Floats) -> Floats:
        return np.stack([np.bincount(unit, weights=row, minlength=n_units) for row in values])

    mean = weight * by_unit(item * right) + to_find[:, None] * missed
    unsure = missed * (1 - np.minimum(missed, 1)) if pool.is_single else missed
    variance = weight**2 * by_unit(item**2 * right * (1 - right)) + to_find[:, None] ** 2 * unsure
    if pool.doubt is not None and pool.probability is None:
        variance = variance * _relative(pool.doubt)
    observed = None
    if evidence is not None:
        observed = contrasts[:, :-1] @ evidence.tp + to_find[:, None] * evidence.g
    why = "guess" if pool.doubt is None else "scores"
    why = why if evidence is None else evidence.source
    reach = pool.disputed if goal == "difference" else pool.returned.mean(axis=0)
    return Expected(mean, variance, n_goals, scale, observed, evidence, why, reach)


def _contrasts(
    right: Floats, returned: Floats, total: float, goal: str
) -> tuple[Floats, int, float]:
    """The gradients of what is to be estimated, times a scale that makes them count in items.

    Those of the goal come first; how many these are, and the scale.
    """
    below = np.maximum(returned + total, 1.0)
    f1 = 2 * right / below
    scores = np.zeros((len(right), len(right) + 1))
    scores[:, :-1] = np.diag(2 / below)
    scores[:, -1] = -f1 / below
    scale = float(below.mean()) / 2
    if goal == "score":
        return scores * scale, len(scores), scale
    pairs = [scores[b] - scores[a] for a, b in combinations(range(len(right)), 2)]
    return np.stack([*pairs, *scores]) * scale, len(pairs), scale


def _chances(pool: Pool, evidence: Evidence | None) -> Floats:
    """The probability that each item which somebody returns is right."""
    says = pool.matched.items.says
    if pool.probability is not None and not pool.all_classes and pool.matched.positive is not None:
        return np.asarray(pool.probability[pool.unit_of_item])  # p is that of "yes"
    agreed, disputed = (ALONE if len(says) == 1 else AGREED), DISPUTED
    if evidence is not None:
        units = evidence.units
        agreed = _updated(agreed, evidence.right_agreed, pool.agreed[units])
        disputed = _updated(disputed, evidence.right_disputed, pool.disputed[units])
    right = np.where(says.all(axis=0), agreed, np.where(says.any(axis=0), disputed, 0.0))
    if pool.probability is not None and evidence is None:
        sure = says.all(axis=0)  # p is that of the label which all give
        right = np.where(sure, pool.probability[pool.unit_of_item], right)
    return np.asarray(right)


def _missed(pool: Pool, evidence: Evidence | None) -> Floats:
    """How many items are expected in every unit that nobody returns."""
    if pool.all_classes:
        return np.zeros(pool.n_units)
    nothing = (pool.agreed == 0) & (pool.disputed == 0)
    if pool.is_single and pool.matched.positive is not None:
        if pool.probability is not None:
            return np.where(nothing, pool.probability, 0.0)
        likely = nothing.astype(np.float64)  # what is returned is the only item of its unit
    else:
        likely = 1 + pool.disputed  # where systems disagree, there is more to be missed
        if pool.doubt is not None:
            likely = likely * _relative(pool.doubt)
    returned = float((pool.agreed + pool.disputed).sum())
    rate = MISSED * max(returned, 1.0) / max(float(likely.sum()), 1.0)
    if evidence is not None:
        known = float(likely[evidence.units].sum())
        rate = (float(evidence.missed.sum()) + _KNOWN * rate) / (known + _KNOWN)
    expected = rate * likely
    return np.asarray(np.minimum(expected, 0.5) if pool.is_single else expected)


def _updated(guess: float, right: Floats, number: Floats) -> float:
    """A probability after so many items, a guess counting for a few."""
    return (float(right.sum()) + _KNOWN * guess) / (float(number.sum()) + _KNOWN)


def _relative(doubt: Floats) -> Floats:
    """The doubt in every unit beside the usual one, within bounds."""
    usual = float(doubt.mean())
    return np.clip(doubt / usual, 1 / _FAR, _FAR) if usual > 0 else np.ones_like(doubt)
