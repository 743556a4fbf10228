"""Do intervals of scores and differences cover what they promise where units are few or uneven?

A unit (document) has so many items: all the same, lognormal with a deviation of 1 on the log
scale, or Zipf (size k with probability falling as k^-1.5). The items of a unit are dealt from
shares of the seven cases that are the unit's own, drawn from a Dirichlet distribution around the
true ones, so that any two items of a unit have the same correlation. Errors are half false
positives, half false negatives; of the items so many are in dispute, a quarter in each of the
cases 0 to 3, and B is better by moving a part of case 0 to case 2.

"Before" is what this package did at first: a linearised variance, as many degrees of freedom as
units less one (empty ones included), and independence where all items are right or all wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy import optimize

from probative._validation import Array, Ints, Mask
from probative.counts import PairedCounts
from probative.inference.intervals import normal_quantile, wilson
from probative.inference.units import student_quantile
from probative.metrics import f1_from_jaccard, ratio, score
from probative_studies.harness import Row, mean, share_of, streams, study

_SIZES = ("equal", "lognormal", "zipf")
_ZIPF = -1.5

_INDEPENDENT = 1e-9  # correlations below this are none


@dataclass(frozen=True)
class Condition:
    """Kind of test sets to draw, and the question asked of them."""

    question: str  # "score": the interval of A's score; "difference": that of B minus A
    metric: str = "f1"  # the score, and the true F1 of A
    f1: float = 0.75
    units: int = 20
    sizes: str = "equal"  # "item": units are single items, and the intervals know of no units
    items: int = 30  # the mean size of units that are not empty
    correlation: float = 0.1  # of two items of a unit
    disputed: float = 0.1  # the share of items that only one of the systems returns
    gap: float = 0.0  # the true difference of F1
    filled: float = 1.0  # the probability that a unit has any item at all


def conditions(
    units: Sequence[int] = (10, 12, 15, 20, 40),
    scores: Sequence[float] = (0.5, 0.75, 0.95, 0.97),
    correlations: Sequence[float] = (0.1, 0.3),
) -> list[Condition]:
    """Return the conditions: few and uneven units, near-copies, and a label that is rare."""
    grid = [
        Condition("score", f1=f1, units=n, sizes=sizes, correlation=r)
        for r, sizes, f1, n in product(correlations, _SIZES, scores, units)
    ]
    # a smaller difference where there are few errors; the gap of near-copies is all they have
    apart = [replace(c, question="difference", gap=0.02 if c.f1 < 0.9 else 0.005) for c in grid]
    copies = [
        Condition("difference", metric, f1, n, "item", 1, 0.0, disputed=0.01, gap=0.02)
        for metric, f1 in (("recall", 0.49), ("f1", 0.5), ("f1", 0.75), ("f1", 0.95))
        for n in (50, 100, 300, 1000)
    ]
    by_document = [
        Condition("difference", f1=f1, units=n, sizes=sizes, correlation=r, disputed=0.01, gap=0.02)
        for r, sizes, f1, n in product(correlations, _SIZES, (0.5, 0.75, 0.95), (10, 20, 40))
    ]
    rare = [
        Condition(question, f1=f1, units=1000, sizes="equal", items=2, filled=0.01)
        for question, f1 in product(("score", "difference"), (0.5, 0.75, 0.95))
    ]
    return [*grid, *apart, *copies, *by_document, *rare]


def chosen_conditions(
    correlations: Sequence[float], questions: Sequence[str], **options: Any
) -> list[Row]:
    """Run `cluster_study` on the conditions with these correlations and questions."""
    wanted = [c for c in conditions(correlations=correlations) if c.question in questions]
    return cluster_study(wanted, **options)


def case_shares(condition: Condition) -> Array:
    """Return the true shares of cases 0 to 6."""
    if condition.metric == "recall":  # nothing false is returned, and all in dispute is A's
        right = condition.f1
        return np.array([condition.disputed, 0, 0, 0, right - condition.disputed, 0, 1 - right])
    wrong = 1 - condition.f1 / (2 - condition.f1)
    disputed = min(condition.disputed, 0.6 * wrong)
    shares = np.array([disputed / 4] * 4 + [0, (wrong - disputed) / 2, (wrong - disputed) / 2])
    shares[4] = 1 - shares.sum()

    def moved(part: float) -> Array:
        return shares + part * np.array([-1, 0, 1, 0, 0, 0, 0])

    def missing(part: float) -> float:
        return true_difference(moved(part)) - condition.gap

    if condition.gap == 0:
        return shares
    return moved(optimize.brentq(missing, 0, shares[0]) if missing(shares[0]) > 0 else shares[0])


def true_difference(shares: Array, metric: str = "f1") -> float:
    """Return the difference that these shares of cases make."""
    table = PairedCounts(shares)
    return float(score(table.b, metric) - score(table.a, metric))


def draw(rng: Generator, condition: Condition, shares: Array) -> Array:
    """Draw one test set: a row of the cases per unit."""
    sizes = _sizes(rng, condition)
    if condition.filled < 1:
        sizes = sizes * (rng.random(len(sizes)) < condition.filled)
    if condition.correlation < _INDEPENDENT:
        return rng.multinomial(sizes, shares).astype(np.float64)
    own = rng.standard_gamma((1 / condition.correlation - 1) * shares, (len(sizes), len(shares)))
    # with a correlation near 1 all items of a unit are of one case, and gammas too small to tell
    alike = own.sum(axis=1) == 0
    own[alike] = rng.multinomial(1, shares, np.count_nonzero(alike))
    return rng.multinomial(sizes, own / own.sum(axis=1, keepdims=True)).astype(np.float64)


def _sizes(rng: Generator, condition: Condition) -> Ints:
    n, mean = condition.units, condition.items
    sizes = np.full(n, mean)
    if condition.sizes == "lognormal":
        sizes = np.maximum(1, np.rint(mean * np.exp(rng.standard_normal(n) - 0.5)))
    elif condition.sizes == "zipf":
        possible = np.arange(1, 10 * mean + 1)
        weights = possible**_ZIPF
        sizes = rng.choice(possible, n, p=weights / weights.sum())
    return sizes.astype(np.int64)


@study(conditions(), streams)
def cluster_study(c: Condition, level: float, replicates: int, rng: Generator) -> Iterator[Row]:
    """Simulate how often the intervals cover, before and after.

    >>> uneven = Condition("score", units=12, sizes="zipf")
    >>> result, = cluster_study([uneven], replicates=100)
    >>> result.before < 0.9 < result.after
    True
    """
    shares = case_shares(c)
    sets = np.empty((replicates, c.units, len(shares)))
    for own in sets:  # an empty test set has no interval
        while not np.any(cases := draw(rng, c, shares)):
            pass
        own[:] = cases
    if c.sizes == "item":
        sets = sets.sum(axis=1, keepdims=True)
    kinds = _Kinds.of(c.metric)
    if c.question == "score":
        judge, truth = scores, float(score(PairedCounts(shares).a, c.metric))
    else:
        judge, truth = differences, true_difference(shares, c.metric)
    first, now = (judge(sets, kinds, level, first=which) for which in (True, False))
    held, noted = now.holds(truth), now.noted
    after, error = share_of(held)
    yield Row(
        **{name: value for name, value in vars(c).items() if name not in ("gap", "filled")},
        before=mean(first.holds(truth)),
        after=after,
        standard_error=error,
        noted=mean(noted),
        unnoted_misses=mean(~held & ~noted),
        length_before=mean(first.high - first.low),
        length_after=mean(now.high - now.low),
        replicates=replicates,
    )


class _Limits(NamedTuple):
    """Limits of many test sets, and which of them carry a note."""

    low: Array
    high: Array
    noted: Mask

    def holds(self, truth: float) -> Mask:
        """Return True where the limits cover the truth."""
        return (self.low <= truth) & (truth <= self.high)


@dataclass(frozen=True)
class _Kinds:
    """Contributions of an item of each of the seven cases to the scores x/y of A and B."""

    x: Array
    y: Array
    share: tuple[Array, Array]  # parts of the binomial proportion behind each score
    f1: bool

    @classmethod
    def of(cls, metric: str) -> _Kinds:
        systems = [getattr(PairedCounts(np.eye(7)), system) for system in "ab"]
        x, y = np.stack([ratio(c, metric) for c in systems], axis=1)
        proportion = "jaccard" if metric == "f1" else metric
        top, bottom = np.stack([ratio(c, proportion) for c in systems], axis=1)
        return cls(x, y, (top, bottom), metric == "f1")

    def wilson(self, table: Array, system: int, t: Array) -> tuple[Array, Array]:
        """Return Wilson's limits of a system's score from tables of the seven cases."""
        low, high = wilson(table @ self.share[0][system], table @ self.share[1][system], t)
        return (f1_from_jaccard(low), f1_from_jaccard(high)) if self.f1 else (low, high)


def scores(sets: Array, kinds: _Kinds, level: float, *, first: bool) -> _Limits:
    """Compute `interval` of A's score on many test sets, (sets, units, 7), all at once."""
    table = sets.sum(axis=1)
    worth = _Worth.of(sets, kinds, [0], first=first)
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = kinds.wilson(table / worth.divisor[:, None], 0, worth.quantile(level))
    return worth.limits(low, high, 0.0)


def differences(sets: Array, kinds: _Kinds, level: float, *, first: bool) -> _Limits:
    """Compute `difference` on many test sets, all at once."""
    table = sets.sum(axis=1)
    worth = _Worth.of(sets, kinds, [0, 1], first=first)
    divided, t = table / worth.divisor[:, None], worth.quantile(level)
    with np.errstate(invalid="ignore", divide="ignore"):
        a, b = (table @ kinds.x[k] / (table @ kinds.y[k]) for k in (0, 1))
        (low_a, high_a), (low_b, high_b) = (kinds.wilson(divided, k, t) for k in (0, 1))
        r = _correlation(divided if first else divided + 0.5, kinds)
        below = _third_side(b - low_b, high_a - a, r)
        above = _third_side(high_b - b, a - low_a, r)
        low, high = b - a - below, b - a + above
    return worth.limits(np.maximum(low, -1), np.minimum(high, 1), -1.0)


@dataclass(frozen=True)
class _Worth:
    """`Dependence` of many test sets, by the first recipe or the present one."""

    divisor: Array
    freedom: Array

    @classmethod
    def of(cls, sets: Array, kinds: _Kinds, systems: list[int], *, first: bool) -> _Worth:
        table = sets.sum(axis=1)
        n_sets, n_units = sets.shape[:2]
        single = n_units == 1  # single items, and no units known
        size = sets @ kinds.y[systems].sum(axis=0)
        there = size > 0
        n = np.full(n_sets, n_units) if first else there.sum(axis=1)
        moves, by_item = np.zeros(size.shape), np.zeros(table.shape)
        alone = np.zeros(n_sets, dtype=bool)
        with np.errstate(invalid="ignore", divide="ignore"):
            for k in systems:
                x, y = sets @ kinds.x[k], sets @ kinds.y[k]
                alone |= np.count_nonzero(y, axis=1) < 2
                total = y.sum(axis=1, keepdims=True)
                ratio = x.sum(axis=1, keepdims=True) / total
                sign = 1 if k == systems[-1] else -1
                moves += sign * (x - ratio * y) / (total if first else total - y)
                by_item += sign * (kinds.x[k] - ratio * kinds.y[k]) / total
            independent = (table * by_item**2).sum(axis=1)
            if first:
                effect = n / (n - 1) * (moves**2).sum(axis=1) / independent
                freedom = np.where(independent > 0, n - 1.0, np.inf)
            else:
                centred = (moves - moves.sum(axis=1, keepdims=True) / n[:, None]) * there
                effect = (n - 1) / n * (centred**2).sum(axis=1) / independent
                freedom = size.sum(axis=1) ** 2 / (size**2).sum(axis=1) - 1
                freedom = np.where(alone, 0.0, freedom)
            items = table[:, kinds.y[systems].sum(axis=0) > 0].sum(axis=1) / n
        unknown = 1.0 if first else items
        divisor = np.maximum(1, np.where(independent > 0, effect, unknown))
        divisor = np.where(np.isfinite(divisor) & (not single), divisor, 1.0)
        freedom = np.full(n_sets, np.inf) if single else freedom
        return cls(divisor, freedom)

    def quantile(self, level: float) -> Array:
        endless = np.isinf(self.freedom)
        student = student_quantile(level, np.where(endless, 1, self.freedom))
        return np.where(endless, normal_quantile(level), student)

    def limits(self, low: Array, high: Array, least: float) -> _Limits:
        """Return the limits, or the whole range where there is no evidence."""
        nothing = ~(self.freedom > 0)
        low, high = np.where(nothing, least, low), np.where(nothing, 1.0, high)
        return _Limits(low, high, nothing)


def _correlation(table: Array, kinds: _Kinds) -> Array:
    moves = [
        kinds.x[k] - (table @ kinds.x[k] / (table @ kinds.y[k]))[:, None] * kinds.y[k]
        for k in (0, 1)
    ]
    aa, ab, bb = ((table * moves[i] * moves[j]).sum(axis=1) for i, j in ((0, 0), (0, 1), (1, 1)))
    return np.asarray(np.where(aa * bb > 0, ab / np.sqrt(aa * bb), 0.0))


def _third_side(x: Array, y: Array, r: Array) -> Array:
    return np.asarray(np.sqrt(np.maximum(0.0, (x - y) ** 2 + 2 * (1 - r) * x * y)))
