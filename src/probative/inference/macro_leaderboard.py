"""What the units of a test set tell of the macro averages of many systems.

Nothing about a macro average is exact: its tests are sampled, and the limits of a difference come
from the posterior that `macro_difference` has for two systems.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from probative.inference.decisions import student_pvalue
from probative.inference.leaderboard import Evidence
from probative.inference.macro import degrees_of_freedom, macro_evidence, moves_of_units
from probative.inference.macro_difference import macro_difference
from probative.inference.macro_pair_tests import macro_pair_tests
from probative.inference.ranks import covariance_of_moves, pair_errors
from probative.inference.sampled_evidence import kinds_of, limits_of_pairs, sample_pairs
from probative.metrics import ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from probative._types import Array, Mask
    from probative.inference.macro import MacroEvidence
    from probative.inference.pair_tests import KnownTests
    from probative.inference.sampled_evidence import KnownLimits
    from probative.label_counts import LabelCounts

    System = tuple[LabelCounts, Mask, MacroEvidence]

__all__ = ["evidence_of_labels"]

_DENSE = 0.04  # the share of cells with a count from which on a full table is faster
_LARGE = 1 << 26  # numbers that are too many for a full table


def evidence_of_labels(
    cells: Sequence[LabelCounts],
    metric: str = "f1",
    *,
    labels: Mask,
    answered: Mask,
    own_labels: bool = False,
    level: float = 0.95,
    adjust: str = "holm",
    beta: float = 1.0,
    seed: int = 0,
    n_jobs: int | None = -1,
    report: Callable[[int, int], None] | None = None,
    tested: KnownTests | None = None,
    limited: KnownLimits | None = None,
) -> Evidence:
    """What the units tell of the macro averages of several systems.

    Parameters
    ----------
    cells
        The counts of every system in the same cells of units and labels.
    metric, beta
        The score.
    labels
        Which labels count for each system: one row per system.
    answered, own_labels
        Which labels count whatever is exchanged, and whether those that an output uses count for
        it, too; as for `macro_test`.
    level, adjust
        What the p-values will be compared with, and how they will be adjusted for their number:
        exchanges are drawn until that is clear.
    seed, n_jobs, report, tested
        As for `probative.inference.pair_tests.pair_tests`.
    limited
        As for `probative.inference.sampled_evidence.limits_of_pairs`.
    """
    averages = [
        macro_evidence(own.only(mask), metric, beta=beta)
        for own, mask in zip(cells, labels, strict=True)
    ]
    judged = np.array([one.posterior is not None for one in averages])
    kind = _kinds(cells)
    find = partial(
        macro_pair_tests,
        cells,
        metric=metric,
        labels=answered,
        own_labels=own_labels,
        beta=beta,
        level=level,
        adjust=adjust,
        seed=seed,
        n_jobs=n_jobs,
        report=report,
    )
    tests = sample_pairs(find, kind, tested)
    there: list[int] = np.flatnonzero(judged).tolist()
    moves = [moves_of_units(cells[i], labels[i], metric, beta) for i in there]
    n_units = cells[0].n_units
    number = np.ones(n_units, dtype=np.int64)
    busy = np.any([own != 0 for own in moves], axis=0) if moves else np.zeros(n_units, dtype=bool)
    covariance = covariance_of_moves(
        np.reshape(moves, (len(there), n_units))[:, busy], number[busy]
    )
    sums: Any = _sums([cells[i] for i in there], metric, beta) if there else None
    estimates = np.array([one.estimate for one in averages])
    own = [cells[i].only(labels[i]) for i in there]
    freedom = np.reshape([[degrees_of_freedom(a, b) for a in own] for b in own], covariance.shape)
    gaps = np.subtract.outer(estimates[there], estimates[there])

    def scores(weights: Array) -> Array:
        parts = np.asarray(weights @ sums).reshape(len(weights), len(there), 2, -1)
        columns = [
            _mean_score(parts[:, at, 0], parts[:, at, 1], labels[i]) for at, i in enumerate(there)
        ]
        return np.stack(columns, axis=1)

    return Evidence(
        estimates=estimates,
        judged=judged,
        identical=kind[:, None] == kind,
        **tests,
        unit_pvalues=student_pvalue(gaps, pair_errors(covariance), freedom),
        covariance=covariance,
        limits=limits_of_pairs(
            partial(_limits, metric, beta),
            list(zip(cells, labels, averages, strict=True)),
            there,
            limited,
            n_jobs=n_jobs,
        ),
        scores=scores,
        number=number,
        approximate="macro average",
    )


def _kinds(cells: Sequence[LabelCounts]) -> NDArray[np.intp]:
    """The kind of every system: copies are of one kind."""
    return kinds_of(np.stack([c.counts.tp, c.counts.fp]).tobytes() for c in cells)


def _limits(
    metric: str, beta: float, level: float, pair: tuple[System, System]
) -> tuple[float, float]:
    (a, mask_a, known_a), (b, mask_b, known_b) = pair
    labels, known = (mask_a, mask_b), (known_a, known_b)
    gap, _ = macro_difference(a, b, metric, level=level, beta=beta, labels=labels, known=known)
    return float(gap.low), float(gap.high)


def _sums(cells: Sequence[LabelCounts], metric: str, beta: float) -> Any:
    """Numerator and denominator of every label's score, system by system: one row per unit.

    All of them in one table, so that weights of the units are multiplied with it once.
    """
    blocks = []
    for own in cells:
        shape = (own.n_units, own.n_labels)
        for part in ratio(own.counts, metric, beta=beta):
            values = np.asarray(part, np.float64)
            blocks.append(sparse.coo_array((values, (own.unit, own.label)), shape=shape))
    table = sparse.hstack(blocks, format="csc")
    size = table.shape[0] * table.shape[1]
    return table.toarray() if _DENSE * size < table.nnz and size < _LARGE else table


def _mean_score(top: Array, bottom: Array, mask: Mask) -> Array:
    """The macro average of sums over weighted units; an undefined score counts as 0."""
    top, bottom = top[:, mask], bottom[:, mask]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(bottom > 0, top / bottom, 0.0).mean(axis=1))
