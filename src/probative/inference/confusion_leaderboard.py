"""What the items of a test set tell of kappa or Matthews' coefficient of many systems."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from probative._confusion import score_of_margins, score_of_table
from probative.inference._pair_exchanges import SharedExchanges, sampled_pair_tests
from probative.inference.confusion import confusion_difference
from probative.inference.confusion_test import TableExchange, TableScores
from probative.inference.decisions import student_pvalue
from probative.inference.leaderboard import Evidence
from probative.inference.ranks import covariance_of_moves, pair_errors
from probative.inference.sampled_evidence import kinds_of, limits_of_pairs, sample_pairs
from probative.metrics import span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from probative._types import Array
    from probative.inference.confusion import ConfusedItems
    from probative.inference.pair_tests import KnownTests
    from probative.inference.sampled_evidence import KnownLimits
    from probative.inference.sequential_pvalue import SampledPvalue

    Pair = tuple[int, int]

__all__ = ["confusion_pair_tests", "evidence_of_tables"]

_KINDS = 3 / 2  # of items by the square of their classes: said, said instead, and which is right


def evidence_of_tables(
    systems: Sequence[ConfusedItems],
    metric: str = "kappa",
    *,
    level: float = 0.95,
    adjust: str = "holm",
    seed: int = 0,
    n_jobs: int | None = -1,
    report: Callable[[int, int], None] | None = None,
    tested: KnownTests | None = None,
    limited: KnownLimits | None = None,
) -> Evidence:
    """What the items tell of a score of the whole confusion table of several systems.

    Parameters
    ----------
    systems
        What each system says of the same items.
    metric
        "kappa", or "mcc": Gorodkin's R_K.
    level, adjust
        What the p-values will be compared with, and how they will be adjusted for their number:
        exchanges are drawn until that is clear.
    seed, n_jobs, report, tested
        As for `probative.inference.pair_tests.pair_tests`.
    limited
        As for `probative.inference.sampled_evidence.limits_of_pairs`.
    """
    estimates = np.array([float(score_of_table(own.table, metric)) for own in systems])
    units, number, size = _units_of(systems)
    judged = ~np.isnan(estimates) & (number.sum() > 1)
    kind = kinds_of(own.said.tobytes() for own in systems)
    how: dict[str, Any] = {"level": level, "adjust": adjust, "seed": seed}
    find = partial(confusion_pair_tests, systems, metric=metric, n_jobs=n_jobs, report=report)
    tests = sample_pairs(partial(find, **how), kind, tested)
    there: list[int] = np.flatnonzero(judged).tolist()
    left = 1 - size / max(1.0, float(number @ size))  # without a unit fewer items are left
    moves = np.zeros((len(there), len(number)))
    for row, i in enumerate(there):
        of_units = np.bincount(units, systems[i].moves(metric), minlength=len(number))
        moves[row] = of_units / number / left
    covariance = covariance_of_moves(moves, number)
    gaps = np.subtract.outer(estimates[there], estimates[there])
    freedom = float(number @ size) ** 2 / max(1.0, float(number @ size**2)) - 1
    sums: Any = _sums_of_units([systems[i] for i in there], units, number) if there else None

    def scores(weights: Array) -> Array:
        parts = np.asarray(weights @ sums).reshape(len(weights), len(there) + 1, -1)
        answer = parts[:, :1, 1:]
        return np.asarray(
            np.nan_to_num(score_of_margins(parts[:, 1:, 0], parts[:, 1:, 1:], answer, metric))
        )

    return Evidence(
        estimates=estimates,
        judged=judged,
        identical=kind[:, None] == kind,
        **tests,
        unit_pvalues=student_pvalue(gaps, pair_errors(covariance), freedom),
        covariance=covariance,
        limits=limits_of_pairs(partial(_limits, metric), systems, there, limited, n_jobs=n_jobs),
        scores=scores,
        number=number,
        most=span(metric),
        approximate="score of the whole confusion table",
    )


def confusion_pair_tests(
    systems: Sequence[ConfusedItems], pairs: Sequence[Pair], metric: str = "kappa", **how: Any
) -> list[SampledPvalue]:
    """The p-values of pairs of systems, two-sided, from exchanges of items or whole units.

    Parameters
    ----------
    systems
        What each system says of the same items.
    pairs
        The numbers of the two systems of each pair.
    metric
        As for `evidence_of_tables`.
    how
        As for `sampled_pair_tests`.
    """
    first = systems[0]

    @cache
    def alone(test: int) -> TableExchange:
        a, b = (systems[k] for k in pairs[test])
        return TableExchange.of(a, b, metric)

    # single items are of few kinds, units mostly each of its own
    few = 1 if first.units is not None else int(len(first.answer) / _KINDS / first.n_classes**2)
    return sampled_pair_tests(
        _shared_exchanges(systems, metric), alone, pairs, few=max(1, few), **how
    )


def _shared_exchanges(systems: Sequence[ConfusedItems], metric: str) -> SharedExchanges:
    """What every unit adds to the right items and to the classes that are said, by system."""
    first = systems[0]
    rows = np.arange(len(first.answer)) if first.units is None else first.units
    width = first.n_classes + 1
    differences = []
    for system, own in enumerate(systems):
        there = np.flatnonzero(own.said != first.said)
        at = rows[there]
        for side, sign in ((own, 1.0), (first, -1.0)):
            said, right = side.said[there], side.said[there] == side.answer[there]
            ones = np.full(len(there), sign)
            differences.append((system * width + 1 + said, at, ones))
            differences.append((np.full(right.sum(), system * width), at[right], ones[right]))
    totals = np.stack([own.sums for own in systems])
    scores = TableScores(first.table.sum(axis=1), metric)
    return SharedExchanges.of(differences, totals, first.n_units, scores)


def _limits(
    metric: str, level: float, pair: tuple[ConfusedItems, ConfusedItems]
) -> tuple[float, float]:
    gap = confusion_difference(*pair, metric, level=level)
    return gap.low, gap.high


def _units_of(
    systems: Sequence[ConfusedItems],
) -> tuple[NDArray[np.intp], NDArray[np.int64], Array]:
    """The kind of unit that each item belongs to, how many units of it there are, their size.

    Single items of which all systems say the same are of one kind.
    """
    first = systems[0]
    if first.units is not None:
        _, kinds, size = np.unique(first.units, return_inverse=True, return_counts=True)
        return kinds.ravel(), np.ones(len(size), dtype=np.int64), size.astype(np.float64)
    kinds = first.answer.astype(np.int64)
    for own in systems:
        _, kinds = np.unique(kinds * own.n_classes + own.said, return_inverse=True)
    number = np.bincount(kinds)
    return kinds, number, np.ones(len(number))


def _sums_of_units(
    systems: Sequence[ConfusedItems], units: NDArray[np.intp], number: NDArray[np.int64]
) -> Any:
    """What one unit of every kind adds: to the answer's classes, then to the sums of each system.

    A row per kind. The answer stands first, as a system that says it, so that it is weighed, too.
    """
    answer, width = systems[0].answer, systems[0].n_classes + 1
    rows, columns = [], []
    for place, said in enumerate([answer, *(own.said for own in systems)]):
        right = np.flatnonzero(said == answer)
        rows += [units, units[right]]
        columns += [place * width + 1 + said, np.full(len(right), place * width)]
    row = np.concatenate(rows)
    shape = (len(number), (len(systems) + 1) * width)
    places = (row, np.concatenate(columns))
    return sparse.coo_array((1 / number[row], places), shape=shape).tocsc()
