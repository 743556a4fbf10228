"""The randomisation test of kappa and Matthews' coefficient of several classes.

The scores depend on how many items are right and on how often each class is said; an exchange
moves these sums. Sums over so many dimensions have no exact test: exchanges are drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from probative._confusion import OF_TABLES, score_of_margins
from probative._validation import one_of, random_generator
from probative.inference._pair_exchanges import TIE
from probative.inference._unit_flips import UnitFlips
from probative.inference.sequential_pvalue import levels_at, sequential_pvalues
from probative.results import RandomizationTest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative._types import RNG, Array
    from probative.inference.confusion import ConfusedItems

__all__ = ["TableExchange", "TableScores", "confusion_test", "confusion_tests"]


def confusion_test(
    a: ConfusedItems,
    b: ConfusedItems,
    metric: str = "kappa",
    *,
    level: float = 0.95,
    rng: RNG | None = None,
) -> RandomizationTest:
    """The randomisation test by sampled exchanges of items, or of units; two-sided.

    Parameters
    ----------
    a, b, metric, level
        As for `confusion_difference`; drawing stops when it is clear whether the p-value is below
        0.05, 0.01 and 1 - level.
    rng
        A seed or generator.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.confusion import ConfusedItems
    >>> from probative.inference.confusion_test import confusion_test
    >>> answer = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2] * 5)
    >>> a = ConfusedItems(answer, np.array([0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 0] * 5), 3)
    >>> b = ConfusedItems(answer, np.array([0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2] * 5), 3)
    >>> confusion_test(a, b, rng=0).pvalue < 0.01
    True
    """
    return confusion_tests([(a, b)], metric, level=level, rng=rng)[0]


def confusion_tests(
    pairs: Sequence[tuple[ConfusedItems, ConfusedItems]],
    metric: str = "kappa",
    *,
    level: float = 0.95,
    rng: RNG | None = None,
    n_jobs: int | None = 1,
) -> list[RandomizationTest]:
    """The same for several pairs, whose p-values will be adjusted by Holm's method.

    Parameters
    ----------
    pairs, metric, level, rng
        As for `confusion_test`; exchanges are drawn until it is clear what the test of each pair
        says, by itself and adjusted for their number.
    n_jobs
        How many threads work at once; -1 for as many as there are cores. The result is the same.
    """
    one_of("metric", metric, OF_TABLES)
    exchanges = [TableExchange.of(a, b, metric) for a, b in pairs]

    def draw(own: np.random.Generator, number: int, tests: NDArray[np.int64]) -> list[int]:
        # the exchanges of a pair do not depend on which others are still open
        seeds = own.integers(2**63, size=len(exchanges)).tolist()
        return [exchanges[i].extreme(np.random.default_rng(seeds[i]), number) for i in tests]

    found = sequential_pvalues(
        draw, len(pairs), levels=levels_at(level), rng=random_generator(rng), n_jobs=n_jobs
    )
    return [
        RandomizationTest(
            metric=metric,
            alternative="two-sided",
            by="item" if a.units is None else "unit",
            statistic=exchange.observed,
            n_units=a.n_units,
            method="sampled",
            pvalue=1.0 if abs(exchange.observed) <= TIE else own.pvalue,
            n_resamples=own.draws,
            standard_error=own.standard_error,
            pvalue_low=own.low,
            pvalue_high=own.high,
            note=str(own),
        )
        for (a, _), exchange, own in zip(pairs, exchanges, found, strict=True)
    ]


class TableScores:
    """Scores from how many items are right and how often each class is said.

    Those of balanced accuracy from how many items of each class are right. An undefined score
    counts as 0.

    Parameters
    ----------
    answer
        How often each class is right.
    metric
        Which score.
    """

    def __init__(self, answer: Array, metric: str):
        self.answer, self.metric = answer, metric

    def __call__(self, sums: Array) -> Array:
        """The scores of sums; the sums stand on the last axis but one, draws on the last."""
        if self.metric == "balanced_accuracy":
            there = self.answer > 0
            recalls = sums[..., there, :] / self.answer[there, None]
            return np.asarray(recalls.mean(axis=-2))
        right, said = sums[..., 0, :], np.moveaxis(sums[..., 1:, :], -2, -1)
        scores = score_of_margins(right, said, self.answer, self.metric)
        return np.asarray(np.nan_to_num(scores))


class TableExchange:
    """Random exchanges of what two systems say of a unit, and what they do to their scores.

    Parameters
    ----------
    sums
        Of A and of B.
    moves, number
        By how much the sums change where a unit takes A's side instead of B's, and how many units
        change them so.
    scores
        Turns sums into scores.
    """

    def __init__(
        self,
        sums: tuple[Array, Array],
        moves: Array,
        number: NDArray[np.int64],
        scores: TableScores,
    ):
        self._scores = scores
        of_a, of_b = scores(np.stack(sums, axis=-1)).tolist()
        self.observed = of_b - of_a
        moves = moves.copy()
        # to exchange a unit is as good as not to exchange one that moves the sums the other way
        first = moves[np.arange(len(moves)), np.argmax(moves != 0, axis=1)]
        back = first < 0
        self._total = sums[0] + sums[1]
        self._base = sums[1] + number[back] @ moves[back]
        moves[back] *= -1
        moves, kind = np.unique(moves, axis=0, return_inverse=True)
        number = np.bincount(kind.ravel(), number, minlength=len(moves)).astype(np.int64)
        self._flips = UnitFlips(sparse.csr_array(moves.T), number)

    @classmethod
    def of(cls, a: ConfusedItems, b: ConfusedItems, metric: str) -> TableExchange:
        """Of the items of two systems, or of whole units of them."""
        scores = TableScores(a.table.sum(axis=1), metric)
        return cls((a.sums, b.sums), *_distinct_moves(a, b), scores)

    def extreme(self, generator: np.random.Generator, number: int) -> int:
        """How many of so many exchanges make the difference at least as large."""
        extreme = 0
        for moved in self._flips.draw(generator, number):
            own = self._base[:, None] + moved
            size = np.abs(self._scores(own) - self._scores(self._total[:, None] - own))
            extreme += int(np.count_nonzero(size >= abs(self.observed) - TIE))
        return extreme


def _distinct_moves(a: ConfusedItems, b: ConfusedItems) -> tuple[Array, NDArray[np.int64]]:
    """The distinct changes of the sums that a unit makes which takes A's side instead of B's.

    And how many units make each.
    """
    differ = np.flatnonzero(a.said != b.said)
    k, answer = a.n_classes, a.answer[differ]
    said_a, said_b = a.said[differ], b.said[differ]
    right = (said_a == answer).astype(np.int64) - (said_b == answer)
    if a.units is None:
        kinds = (said_a.astype(np.int64) * k + said_b) * 3 + right + 1
        kinds, number = np.unique(kinds, return_counts=True)
        pair, right = kinds // 3, kinds % 3 - 1
        said_a, said_b = pair // k, pair % k
        place = np.arange(len(kinds))
    else:
        units, place = np.unique(a.units[differ], return_inverse=True)
        number = np.ones(len(units), dtype=np.int64)
    moves = np.zeros((len(number), k + 1))
    np.add.at(moves[:, 0], place, right)
    np.add.at(moves, (place, said_a + 1), 1)
    np.add.at(moves, (place, said_b + 1), -1)
    there = moves.any(axis=1)
    return moves[there], number[there]
