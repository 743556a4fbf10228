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

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize

from probative._validation import open_probability, whole_number
from probative.counts import Counts, PairedCounts
from probative.inference.clusters import contributions, student_quantile
from probative.inference.differences import difference, mover
from probative.inference.intervals import interval
from probative.inference.proportions import normal_quantile
from probative.metrics import ratio, score
from probative.results import Interval, Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["SIZES", "Condition", "Coverage", "case_shares", "cluster_study", "conditions"]

SIZES = ("equal", "lognormal", "zipf")
_ZIPF = -1.5


@dataclass(frozen=True)
class Condition:
    """What test sets are drawn, and what is asked of them.

    Attributes
    ----------
    question
        "score": the interval of A's score; "difference": that of B minus A.
    metric, f1
        The score, and the true F1 of A.
    units, sizes, items
        How many units, how their sizes vary ("item": units are single items, and the intervals
        know of no units), and their mean size (of the nonempty ones).
    correlation
        Of two items of a unit.
    disputed, gap
        The share of items that only one of the systems returns, and the true difference of F1.
    filled
        The probability that a unit has any item at all.
    """

    question: str
    metric: str = "f1"
    f1: float = 0.75
    units: int = 20
    sizes: str = "equal"
    items: int = 30
    correlation: float = 0.1
    disputed: float = 0.1
    gap: float = 0.0
    filled: float = 1.0


@dataclass(frozen=True, eq=False)
class Coverage(Result):
    """How often intervals hold the truth under one condition.

    Attributes
    ----------
    question, metric, f1, units, sizes, items, correlation, disputed
        The condition.
    before, after, standard_error
        The coverage of the first recipe, that of the present one, and the standard error of the
        latter.
    noted, unnoted_misses
        How often the interval carries a note, and how often it misses without one.
    length_before, length_after
        Mean lengths.
    replicates
        Test sets drawn.
    """

    question: str
    metric: str
    f1: float
    units: int
    sizes: str
    items: int
    correlation: float
    disputed: float
    before: float
    after: float
    standard_error: float
    noted: float
    unnoted_misses: float
    length_before: float
    length_after: float
    replicates: int


def conditions(
    units: Sequence[int] = (10, 12, 15, 20, 40),
    scores: Sequence[float] = (0.5, 0.75, 0.95, 0.97),
    correlations: Sequence[float] = (0.1, 0.3),
) -> list[Condition]:
    """All conditions of the recorded study.

    Scores and differences over the numbers, sizes and correlations of units; near-copies, of
    which 1 % of the items are in dispute, as single items and in documents; and a label that
    occurs in ten of a thousand sentences.
    """
    grid = [
        Condition("score", f1=f1, units=n, sizes=sizes, correlation=r)
        for r in correlations
        for sizes in SIZES
        for f1 in scores
        for n in units
    ]
    # as large a difference as the errors allow for
    apart = [replace(c, question="difference", gap=0.02 if c.f1 < 0.9 else 0.005) for c in grid]
    copies = [
        Condition("difference", metric, f1, n, "item", 1, 0.0, disputed=0.01)
        for metric, f1 in (("recall", 0.49), ("f1", 0.5), ("f1", 0.75), ("f1", 0.95))
        for n in (50, 100, 300, 1000)
    ]
    by_document = [
        Condition("difference", f1=f1, units=n, sizes=sizes, correlation=r, disputed=0.01)
        for r in correlations
        for sizes in SIZES
        for f1 in (0.5, 0.95)
        for n in (10, 20, 40)
    ]
    rare = [
        Condition(question, f1=f1, units=1000, sizes="equal", items=2, filled=0.01)
        for question in ("score", "difference")
        for f1 in (0.5, 0.75, 0.95)
    ]
    return [*grid, *apart, *copies, *by_document, *rare]


def cluster_study(
    study: Sequence[Condition] | None = None,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> list[Coverage]:
    """Simulate how often the intervals cover, before and after.

    Parameters
    ----------
    study
        The conditions; all of `conditions()` by default.
    level, replicates, seed
        The level of the intervals, test sets a condition, and the seed.
    report
        Called with the number of conditions done and of all.

    Examples
    --------
    >>> from probative.studies.clusters import Condition, cluster_study
    >>> uneven = Condition("score", units=12, sizes="zipf")
    >>> found, = cluster_study([uneven], replicates=100)
    >>> found.before < 0.9 < found.after
    True
    """
    level = open_probability("level", level)
    replicates = whole_number("replicates", replicates)
    seed = whole_number("seed", seed, least=0)
    study = conditions() if study is None else study
    found = []
    for place, condition in enumerate(study):
        report(place, len(study))
        rng = np.random.default_rng([seed, place])
        found.append(_coverage(condition, level, replicates, rng))
    return found


def case_shares(condition: Condition) -> Array:
    """The true shares of cases 0 to 6."""
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
    """The difference that these shares of cases make."""
    table = PairedCounts(shares)
    return float(score(table.b, metric) - score(table.a, metric))


def draw(rng: np.random.Generator, condition: Condition, shares: Array) -> Array:
    """One test set: a row of the seven cases per unit."""
    sizes = _sizes(rng, condition)
    if condition.filled < 1:
        sizes = sizes * (rng.random(len(sizes)) < condition.filled)
    if condition.correlation == 0:
        return rng.multinomial(sizes, shares).astype(np.float64)
    own = rng.standard_gamma((1 / condition.correlation - 1) * shares, (len(sizes), 7))
    return rng.multinomial(sizes, own / own.sum(axis=1, keepdims=True)).astype(np.float64)


def _sizes(rng: np.random.Generator, condition: Condition) -> NDArray[np.int64]:
    n, mean = condition.units, condition.items
    if condition.sizes == "lognormal":
        return np.maximum(1, np.rint(mean * np.exp(rng.standard_normal(n) - 0.5))).astype(np.int64)
    if condition.sizes == "zipf":
        sizes = np.arange(1, 10 * mean + 1)
        weights = sizes**_ZIPF
        return rng.choice(sizes, n, p=weights / weights.sum())
    return np.full(n, mean)


def _coverage(
    condition: Condition, level: float, replicates: int, rng: np.random.Generator
) -> Coverage:
    shares = case_shares(condition)
    if condition.question == "score":
        truth = float(score(PairedCounts(shares).a, condition.metric))
    else:
        truth = true_difference(shares, condition.metric)
    outcomes = []
    while len(outcomes) < replicates:
        cases = draw(rng, condition, shares)
        if cases.sum() > 0:  # else there is nothing to give an interval of
            outcomes.append(_outcome(cases, condition, level, truth))
    before, after, noted, length_before, length_after = np.array(outcomes, dtype=np.float64).T
    share = float(after.mean())
    return Coverage(
        condition.question,
        condition.metric,
        condition.f1,
        condition.units,
        condition.sizes,
        condition.items,
        condition.correlation,
        condition.disputed,
        float(before.mean()),
        share,
        math.sqrt(share * (1 - share) / replicates),
        float(noted.mean()),
        float(np.mean((after == 0) & (noted == 0))),
        float(length_before.mean()),
        float(length_after.mean()),
        replicates,
    )


def _outcome(cases: Array, condition: Condition, level: float, truth: float) -> tuple[Any, ...]:
    paired, metric = PairedCounts(cases), condition.metric
    if condition.sizes == "item":
        paired = paired.total()
    found: Any
    if condition.question == "score":
        found = interval(paired.a, metric, level=level, clustered=True)
        low, high = _first_score(paired.a, metric, level)
    else:
        found = difference(paired, metric, level=level)
        low, high = _first_difference(paired, metric, level)
    return (
        low <= truth <= high,
        found.low <= truth <= found.high,
        found.note is not None,
        high - low,
        found.high - found.low,
    )


def _first_score(units: Counts, metric: str, level: float) -> tuple[float, float]:
    """The first recipe for a score."""
    x, y = ratio(units, metric)
    table = units.sum()
    item_x, item_y = ratio(Counts(*np.eye(3)), metric)
    number = np.array([table.tp, table.fp, table.fn])
    moves = [part[0] - x.sum() / y.sum() * part[1] for part in ((x, y), (item_x, item_y))]
    divisor = _first_divisor(moves[0], moves[1], number, level)
    found = interval(table / divisor, metric, level=level)
    return found.low, found.high


def _first_difference(paired: PairedCounts, metric: str, level: float) -> tuple[float, float]:
    """The first recipe for a difference, with the correlation of the table as it is."""
    table = paired.total()
    kinds = [ratio(c, metric) for c in _both(PairedCounts(np.eye(7)))]
    number = table.cases[:7]
    totals = [(number @ x, number @ y) for x, y in kinds]
    if min(y for _, y in totals) == 0:
        return -1.0, 1.0
    a, b = ((x - X / Y * y) / Y for (x, y), (X, Y) in zip(kinds, totals, strict=True))
    if paired.has_units:
        rows, _ = contributions(paired, metric)
        by_unit = [(x - X / Y * y) / Y for (x, y), (X, Y) in zip(rows, totals, strict=True)]
        empty = np.zeros(paired.n_units - len(by_unit[0]))
        moves = np.concatenate([by_unit[1] - by_unit[0], empty])
        table = table / _first_divisor(moves, b - a, number, level)
    scale = math.sqrt(float((number @ a**2) * (number @ b**2)))
    r = float(number @ (a * b)) / scale if scale > 0 else 0.0
    singles: list[Interval] = [interval(c, metric, level=level) for c in _both(table)]
    return mover(singles[0], singles[1], r)


def _first_divisor(by_unit: Array, by_item: Array, items: Array, level: float) -> float:
    n, independent = len(by_unit), float(items @ by_item**2)
    if n < 2 or not independent > 0:
        return 1.0
    effect = n / (n - 1) * float(by_unit @ by_unit) / independent
    return max(1.0, effect) * float(student_quantile(level, n - 1) / normal_quantile(level)) ** 2


def _both(paired: PairedCounts) -> tuple[Counts, Counts]:
    return paired.a, paired.b
