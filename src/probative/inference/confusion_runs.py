"""Several runs of two systems, by a score of the whole confusion table.

As in `probative.inference.runs`, with what a unit adds to a score replaced by how far its items
move it: their derivatives in the table of their run. *These models* are judged by the tables of
their runs added up; *these procedures* by the mean scores of the runs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from probative._confusion import score_of_table, slopes_of_table
from probative._validation import flag, open_probability, random_generator
from probative.inference._pair_exchanges import TIE
from probative.inference.confusion import (
    Worth,
    correlation_of_moves,
    difference_of_tables,
    posterior_of_gap,
)
from probative.inference.confusion_test import TableExchange, TableScores
from probative.inference.decisions import student_pvalue
from probative.inference.runs import Runs, Spread, answer_procedures
from probative.inference.sequential_pvalue import levels_at, sequential_pvalue
from probative.metrics import span
from probative.results.runs import ModelsAnswer, RunsDifference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative._types import RNG, Array
    from probative.inference.confusion import ConfusedItems
    from probative.inference.sequential_pvalue import SampledPvalue

__all__ = ["compare_table_runs"]


def compare_table_runs(
    a: Sequence[ConfusedItems],
    b: Sequence[ConfusedItems],
    metric: str = "kappa",
    *,
    level: float = 0.95,
    paired_runs: bool = False,
    rng: RNG | None = None,
) -> RunsDifference:
    """Compare two systems with several runs each, B minus A.

    Parameters
    ----------
    a, b
        What each run says of the same items.
    metric
        "kappa", "mcc" (Gorodkin's R_K) or "balanced_accuracy".
    level, paired_runs
        As for `probative.inference.runs.compare_runs`.
    rng
        A seed or generator for the exchanges.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.confusion import ConfusedItems
    >>> from probative.inference.confusion_runs import compare_table_runs
    >>> rng = np.random.default_rng(1)
    >>> answer = rng.integers(0, 3, 300)
    >>> def run(share):
    ...     said = np.where(rng.random(300) < share, answer, rng.integers(0, 3, 300))
    ...     return ConfusedItems(answer, said, 3)
    >>> found = compare_table_runs([run(0.6) for _ in range(4)], [run(0.7) for _ in range(4)])
    >>> found.models.pvalue < 0.01, found.procedures.low < 0.1 < found.procedures.high
    (True, True)
    """
    level = open_probability("level", level)
    paired_runs = flag("paired_runs", paired_runs)
    units = _units_of(a[0])
    side_a, side_b = (_runs(own, units, metric) for own in (a, b))
    models = _models(a, b, metric, level, units, Spread.of(side_a, side_b), rng)
    procedures, note = answer_procedures(side_a, side_b, models, level, paired_runs, span(metric))
    scores_a, scores_b = (tuple(side.scores.tolist()) for side in (side_a, side_b))
    return RunsDifference(metric, level, scores_a, scores_b, paired_runs, models, procedures, note)


def _units_of(items: ConfusedItems) -> NDArray[np.intp]:
    """The unit of every item, from 0, none left out: what runs say of one item is one unit."""
    if items.units is None:
        return np.arange(len(items.answer))
    return np.unique(items.units, return_inverse=True)[1].ravel()


def _runs(runs: Sequence[ConfusedItems], units: NDArray[np.intp], metric: str) -> Runs:
    """How each run scores, and how far every unit moves its score."""
    size = np.bincount(units).astype(np.float64)
    scores = np.array([float(score_of_table(own.table, metric)) for own in runs])
    with np.errstate(invalid="ignore", divide="ignore"):
        moves = np.array([np.bincount(units, own.moves(metric)) for own in runs])
        left_out = -moves.mean(axis=0) / (1 - size / size.sum())
    return Runs(scores, moves, left_out, size)


def _models(
    a: Sequence[ConfusedItems],
    b: Sequence[ConfusedItems],
    metric: str,
    level: float,
    units: NDArray[np.intp],
    spread: Spread,
    rng: RNG | None,
) -> ModelsAnswer:
    """The difference, test and posterior of one test set, on the tables of all runs together."""
    tables = _together(a), _together(b)
    worth, r = Worth(None, 1.0, np.inf), 0.0
    if not np.isnan(sum(float(score_of_table(table, metric)) for table in tables)):
        worth, r = _worth(a, b, tables, metric, units, float(spread.worth()))
    gap = difference_of_tables(tables, metric, level, worth, r)
    exchange = _exchange(a, b, metric, units)
    found = sequential_pvalue(exchange.extreme, levels=levels_at(level), rng=random_generator(rng))
    posterior = posterior_of_gap(gap, worth.freedom)
    p_a_better, _, p_b_better = posterior.probabilities(0.0)
    how = (
        f"score of the whole confusion table: the test is sampled ({found}), the posterior "
        f"approximate"
    )
    return ModelsAnswer(
        gap.a,
        gap.b,
        gap.estimate,
        gap.low,
        gap.high,
        gap.method,
        gap.design_effect,
        _pvalue(exchange, found),
        "sampled",
        p_a_better,
        p_b_better,
        "; ".join(note for note in (how, gap.note) if note),
        posterior=posterior,
        p_unit=float(student_pvalue(gap.estimate, spread.by_unit**0.5, spread.unit_freedom)),
    )


def _pvalue(exchange: TableExchange, found: SampledPvalue) -> float:
    return 1.0 if abs(exchange.observed) <= TIE else found.pvalue


def _together(runs: Sequence[ConfusedItems]) -> Array:
    return np.asarray(sum(own.table for own in runs) / len(runs))


def _worth(
    a: Sequence[ConfusedItems],
    b: Sequence[ConfusedItems],
    tables: tuple[Array, Array],
    metric: str,
    units: NDArray[np.intp],
    runs: float,
) -> tuple[Worth, float]:
    """What the units are worth to the difference, and the correlation of the two scores.

    The design effect compares the variance of the difference with that of one run of each system
    on independent items: more runs lessen it, down to one over the number that they are worth.
    """
    means, squares, most = [], [], 0.0
    for own, table in zip((a, b), tables, strict=True):
        slopes = slopes_of_table(table, metric)
        moves = np.array([slopes[run.answer, run.said] for run in own])
        means.append(moves.mean(axis=0))
        squares.append(float((moves**2).sum()) / len(own))
        most = max(most, float((moves**2).max(initial=0)))
    n, size = len(units), np.bincount(units).astype(np.float64)
    freedom = float(n**2 / (size @ size) - 1)
    if not freedom > 0:
        return Worth(np.nan, 1.0, 0.0), 0.0
    product = float(means[0] @ means[1])
    independent = squares[0] + squares[1] - 2 * product
    left = np.bincount(units, means[1] - means[0]) / (1 - size / n)
    variance = (len(size) - 1) / len(size) * float(np.sum((left - left.mean()) ** 2))
    if independent * n**2 < TIE:
        worth = Worth(np.nan, n / len(size), freedom)
    else:
        effect = variance / independent
        worth = Worth(effect, max(1 / runs, effect), freedom)
    r = correlation_of_moves(squares[0], product, squares[1], most * worth.divisor)
    return worth, r


def _exchange(
    a: Sequence[ConfusedItems], b: Sequence[ConfusedItems], metric: str, units: NDArray[np.intp]
) -> TableExchange:
    """Exchanges of whole units, all their runs at once, on a lattice that both systems share."""
    times = math.lcm(len(a), len(b))
    scores = TableScores(a[0].table.sum(axis=1) * times, metric)
    of_a, of_b = (_sums(own, metric, units) * (times // len(own)) for own in (a, b))
    moves = of_a - of_b
    moves = moves[moves.any(axis=1)]
    number = np.ones(len(moves), dtype=np.int64)
    return TableExchange((of_a.sum(axis=0), of_b.sum(axis=0)), moves, number, scores)


def _sums(runs: Sequence[ConfusedItems], metric: str, units: NDArray[np.intp]) -> Array:
    """What all runs together add to the sums that the score is made of: a row per unit."""
    first = runs[0]
    by_class = metric == "balanced_accuracy"  # right items by class; else of all, and what is said
    sums = np.zeros((int(units.max(initial=-1)) + 1, first.n_classes + (not by_class)))
    for own in runs:
        right = own.said == own.answer
        if by_class:
            np.add.at(sums, (units[right], own.answer[right]), 1)
        else:
            np.add.at(sums[:, 0], units[right], 1)
            np.add.at(sums, (units, own.said + 1), 1)
    return sums
