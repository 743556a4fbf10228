"""Compare the curves of two systems on the same items: intervals and a randomisation test.

The scores of two systems need not be on one scale, and average precision, the area under the ROC
curve and the highest F-beta depend only on the order of the items. So the test exchanges ranks
between the systems, item by item or unit by unit: under the null hypothesis, exchanging the ranks
of an item within the two systems changes nothing in distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from probative.inference.curves import (
    Ranked,
    WeightedCurves,
    blocks_of,
    fbeta_of,
    influence_on_average_precision,
    influence_on_roc_auc,
    standard_error,
    weights_of_units,
)
from probative.inference.differences import mover
from probative.inference.posterior.student import StudentPosterior
from probative.inference.sampled import SampledPvalue, levels_at, sequential_pvalues
from probative.results import Comparison, Interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from probative._validation import Array
    from probative.results import BestThreshold

__all__ = ["compare_ranked"]

_MOST_RANK_CLASSES = 2_000  # more take time and hardly change the result
_MOST_UNITS_ENUMERATED = 13  # units that an exchange changes; beyond, exchanges are sampled
_EXCHANGES_AT_ONCE = 256
_ROUNDING = 1e-12
_MOST_CELLS = 10**11  # of the curves, over all exchanges


class _Scored(Protocol):
    """The results of a curve that the comparison needs."""

    @property
    def name(self) -> str: ...

    @property
    def average_precision(self) -> Interval: ...

    @property
    def roc_auc(self) -> Interval: ...

    @property
    def best(self) -> BestThreshold: ...


@dataclass(frozen=True)
class _Pair:
    """The scores of two systems by one metric, their correlation, and the standard error."""

    metric: str
    a: Interval
    b: Interval
    correlation: float
    deviation: float


def compare_ranked(
    ranked: tuple[Ranked, Ranked],
    curves: tuple[_Scored, _Scored],
    *,
    level: float,
    beta: float,
    rope: float,
    rng: np.random.Generator,
    most: int | None = None,
) -> tuple[Comparison, ...]:
    """Compare average precision, the area under the ROC curve and the highest F-beta, B minus A.

    `ranked` and `curves` hold both systems on the same items, the baseline first. `most` is the
    largest number of exchanges; by default drawing stops when the decision is clear.
    """
    first, second = ranked
    if np.array_equal(first.step, second.step):
        same = exact = True
        tests: list[SampledPvalue | None] = [None] * 3
    else:
        same = False
        found_tests, exact = _exchange_ranks(first, second, level, beta, rng, most)
        tests = [*found_tests]
    pairs = _pairs(ranked, curves, level, beta, rng)
    by = "item" if first.unit is None else "unit"
    freedom = max(1e-3, first.positive_units - 1)
    found = []
    for pair, test in zip(pairs, tests, strict=True):
        difference = float(pair.b.estimate) - float(pair.a.estimate)
        low, high = (0.0, 0.0) if same else mover(pair.a, pair.b, pair.correlation)
        posterior = StudentPosterior(difference, pair.deviation, freedom)
        # a single item or unit of a class shows nothing about the variance
        alone = first.negatives > 0 and first.fewest <= 1
        unknown = not same and (alone or math.isnan(difference))
        chances = (math.nan,) * 3 if unknown else None
        worse, equal, better = chances or posterior.probabilities(rope)
        found.append(
            Comparison(
                a=curves[0].name,
                b=curves[1].name,
                metric=pair.metric,
                difference=difference,
                low=-1.0 if unknown else low,
                high=1.0 if unknown else high,
                method="mover",
                pvalue=1.0 if test is None or math.isnan(difference) else test.pvalue,
                p_adjusted=None,
                test="exact" if exact else "sampled",
                draws=None if exact or test is None else test.draws,
                pvalue_low=None if exact or test is None else test.low,
                pvalue_high=None if exact or test is None else test.high,
                by=by,
                design_effect=None,
                p_a_better=worse,
                p_equivalent=equal,
                p_b_better=better,
                rope=rope,
                posterior=posterior,
                score_a=float(pair.a.estimate),
                score_b=float(pair.b.estimate),
                level=level,
                positives=first.positives,
                identical=same,
                note=None if test is None or test.clear else str(test),
            )
        )
    return tuple(found)


def _pairs(
    ranked: tuple[Ranked, Ranked],
    curves: tuple[_Scored, _Scored],
    level: float,
    beta: float,
    rng: np.random.Generator,
) -> list[_Pair]:
    """Return scores, correlation and standard error of the difference for each metric."""
    first, second = ranked
    one, other = curves
    pairs = []
    for metric, influence in (
        ("average_precision", influence_on_average_precision),
        ("roc_auc", influence_on_roc_auc),
    ):
        a, b = getattr(one, metric), getattr(other, metric)
        if not first.negatives and metric == "roc_auc":
            pairs.append(_Pair(metric, a, b, 0.0, math.nan))
            continue
        mine, theirs = (r.by_unit(influence(r)) for r in ranked)
        deviation = standard_error(first, influence(second) - influence(first))
        pairs.append(_Pair(metric, a, b, _correlation(mine, theirs), deviation))
    best_a, best_b = (
        Interval(
            f"best_{c.best.metric}", "cross-fitted", level, c.best.estimate, c.best.low, c.best.high
        )
        for c in curves
    )
    block = blocks_of(first.n_units)
    weights = weights_of_units(int(block.max()) + 1, rng)
    draws = []
    for system in ranked:
        tp, predicted = WeightedCurves.of(system, block).cumulated(weights)
        draws.append(fbeta_of(tp, predicted, tp[-1], beta).max(axis=0))
    # the optimism of the two scores is known only to about its own size
    corrected = one.best.optimism - other.best.optimism
    spread = math.hypot(float(np.std(draws[1] - draws[0])), corrected)
    together = _correlation(*(own - own.mean() for own in draws))
    pairs.append(_Pair(best_a.metric, best_a, best_b, together, spread))
    return pairs


def _correlation(x: Array, y: Array) -> float:
    """Return the correlation of deviations from 0; 0 if one of them is all 0."""
    size = math.sqrt(float(x @ x) * float(y @ y))
    return min(1.0, max(-1.0, float(x @ y) / size)) if size > 0 else 0.0


# --- The randomisation test


def _exchange_ranks(
    a: Ranked, b: Ranked, level: float, beta: float, rng: np.random.Generator, most: int | None
) -> tuple[list[SampledPvalue], bool]:
    """Return the p-values of the three differences, and True if all exchanges were enumerated."""
    block = blocks_of(a.n_units)
    codes = _common_ranks(a, b)
    rows = int(max(code.max() for code in codes)) + 1
    thresholds = np.arange(rows, 0, -1, dtype=float)
    sides = [_cells(Ranked(a.is_positive, code, thresholds, a.unit), block, rows) for code in codes]
    exchange = _RankExchange(sides[0], sides[1], a.positives, a.negatives, beta)
    columns = int(block.max()) + 1
    observed = np.abs(exchange.differences(np.zeros((columns, 1))))

    def extreme(flips: Array) -> NDArray[np.int64]:
        far = np.abs(exchange.differences(flips)) >= observed - _ROUNDING
        return np.asarray(np.count_nonzero(far, axis=1))

    def draw(
        generator: np.random.Generator, number: int, tests: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        found = np.zeros(3, dtype=np.int64)
        for start in range(0, number, _EXCHANGES_AT_ONCE):
            size = (columns, min(_EXCHANGES_AT_ONCE, number - start))
            found += extreme(generator.integers(0, 2, size).astype(float))
        return found[tests]

    moving = exchange.moving
    if len(moving) <= _MOST_UNITS_ENUMERATED:
        return _all_exchanges(extreme, moving, columns, levels_at(level)), True
    work = rows + sides[0].items.nnz
    most = most or int(min(10**6, max(10_000, _MOST_CELLS // (10 * work))))
    # each metric is a question of its own: p-values are not adjusted for each other
    found = sequential_pvalues(
        draw, 3, levels=levels_at(level), adjust=None, most=most, rng=rng, n_jobs=-1
    )
    return found, False


def _all_exchanges(
    extreme: Callable[[Array], NDArray[np.int64]],
    moving: NDArray[np.int64],
    columns: int,
    levels: tuple[float, ...],
) -> list[SampledPvalue]:
    """Enumerate all exchanges of the moving units; by symmetry, one unit stays in place."""
    total = 2 ** max(0, len(moving) - 1)  # one exchange if no unit moves
    found = np.zeros(3, dtype=np.int64)
    for start in range(0, total, _EXCHANGES_AT_ONCE):
        code = np.arange(start, min(start + _EXCHANGES_AT_ONCE, total))
        flips = np.zeros((columns, len(code)))
        flips[moving[1:]] = (code >> np.arange(len(moving) - 1)[:, None]) & 1
        found += extreme(flips)
    shares = (found / total).tolist()
    return [
        SampledPvalue(p, p, p, total, int(k), levels) for p, k in zip(shares, found, strict=True)
    ]


def _common_ranks(a: Ranked, b: Ranked) -> list[NDArray[np.int64]]:
    """Return the midrank of every item within each system, as classes shared by both."""
    middles = []
    for system in (a, b):
        twice = 2 * system.predicted - system.new_items  # twice the midrank of a step
        middles.append(twice[system.step])
    values = np.unique(np.concatenate(middles))
    if len(values) <= _MOST_RANK_CLASSES:
        return [np.searchsorted(values, own) for own in middles]
    width = 2 * a.items / _MOST_RANK_CLASSES
    return [np.minimum((own / width).astype(np.int64), _MOST_RANK_CLASSES - 1) for own in middles]


def _cells(ranked: Ranked, block: NDArray[np.int64], rows: int) -> WeightedCurves:
    """Return positives and items by rank class and unit, including empty classes."""
    from scipy import sparse

    column = block[ranked.units]
    shape = (rows, int(block.max()) + 1)
    ones, own = np.ones(ranked.items), ranked.is_positive
    return WeightedCurves(
        sparse.csr_matrix((ones[own], (ranked.step[own], column[own])), shape),
        sparse.csr_matrix((ones, (ranked.step, column)), shape),
        np.arange(rows),
    )


class _RankExchange:
    """The three differences, B minus A, under any exchange of ranks between two systems."""

    def __init__(
        self, a: WeightedCurves, b: WeightedCurves, positives: int, negatives: int, beta: float
    ):
        self._sums = [
            np.asarray(m.sum(axis=1)) for m in (a.positives, a.items, b.positives, b.items)
        ]
        self._moved = (b.positives - a.positives).tocsr(), (b.items - a.items).tocsr()
        self._positives, self._negatives, self._beta = positives, negatives, beta

    @property
    def moving(self) -> NDArray[np.int64]:
        """Return the units (columns) in which an exchange changes anything."""
        return np.unique(np.concatenate([change.nonzero()[1] for change in self._moved]))

    def differences(self, flips: Array) -> Array:
        """Return the differences, one row per metric and one column per exchange."""
        moved = [change @ flips for change in self._moved]
        mine = self._scores(self._sums[0] + moved[0], self._sums[1] + moved[1])
        theirs = self._scores(self._sums[2] - moved[0], self._sums[3] - moved[1])
        return np.asarray(theirs - mine)

    def _scores(self, gained: Array, items: Array) -> Array:
        """Return the three scores from positives and items by rank class."""
        tp, predicted = np.cumsum(gained, axis=0), np.cumsum(items, axis=0)
        precision = np.where(predicted > 0, tp / np.maximum(predicted, 1), 0.0)
        average = (gained * precision).sum(axis=0) / self._positives
        below = self._negatives - (predicted - tp) + (items - gained) / 2
        pairs: Any = max(1, self._positives * self._negatives)
        area = (gained * below).sum(axis=0) / pairs
        best = fbeta_of(tp, predicted, self._positives, self._beta).max(axis=0)
        return np.stack([average, area, best])
