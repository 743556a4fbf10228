"""The sampled tests of the macro averages of all pairs of systems.

Which units are exchanged is drawn once for all pairs; where few pairs are open, each is tested by
itself: see `probative.inference._pair_exchanges`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from probative.inference._pair_exchanges import TIE, SharedExchanges, sampled_pair_tests
from probative.inference.macro_test import MacroExchange, contributions
from probative.inference.sequential_pvalue import MOST

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from probative._types import Array, Mask
    from probative.inference.sequential_pvalue import SampledPvalue
    from probative.label_counts import LabelCounts

    Pair = tuple[int, int]

__all__ = ["macro_pair_tests"]

_FEW = 64  # pairs that are quicker tested one by one


def macro_pair_tests(
    cells: Sequence[LabelCounts],
    pairs: Sequence[Pair],
    metric: str = "f1",
    *,
    labels: Mask,
    own_labels: bool = False,
    beta: float = 1.0,
    level: float = 0.95,
    adjust: str = "holm",
    known: Mapping[Pair, tuple[float, int]] | None = None,
    n_resamples: int | None = None,
    most: int = MOST,
    seed: int = 0,
    n_jobs: int | None = 1,
    report: Callable[[int, int], None] | None = None,
) -> list[SampledPvalue]:
    """The p-values of pairs of systems, two-sided, from the same exchanges of whole units.

    Parameters
    ----------
    cells
        The counts of every system in the same cells of units and labels.
    pairs
        The numbers of the two systems of each pair.
    metric, labels, own_labels, beta
        As for `probative.inference.macro_test.macro_test`.
    level, adjust
        With what the adjusted p-values will be compared: exchanges are drawn until that is clear.
    known, n_resamples, most, n_jobs, report
        As for `probative.inference.sequential_pvalue.sequential_pvalues`; what is known, by pair.
    seed
        For the exchanges.
    """

    @cache
    def alone(test: int) -> MacroExchange:
        a, b = (cells[k] for k in pairs[test])
        return MacroExchange(a, b, metric, beta, labels, own_labels=own_labels)

    return sampled_pair_tests(
        _shared_exchanges(cells, metric, beta, labels, own_labels=own_labels),
        alone,
        pairs,
        few=_FEW,
        level=level,
        adjust=adjust,
        known=known,
        n_resamples=n_resamples,
        most=most,
        seed=seed,
        n_jobs=n_jobs,
        report=report,
    )


def _shared_exchanges(
    cells: Sequence[LabelCounts], metric: str, beta: float, labels: Mask, *, own_labels: bool
) -> SharedExchanges:
    """What every unit adds to numerators, denominators and, where labels of an output count, items.

    The sums are by system, part and label.
    """
    chosen = np.ones_like(labels) if own_labels else labels
    n_parts, n_labels = 2 + own_labels, int(chosen.sum())
    parts = [contributions(own.only(chosen), metric, beta)[:n_parts] for own in cells]
    first = cells[0].only(chosen)
    totals = np.array([[first.sum_by_label(part) for part in own] for own in parts])
    differences = []
    for system, own in enumerate(parts):
        for part, (mine, other) in enumerate(zip(own, parts[0], strict=True)):
            there = np.flatnonzero(mine != other)
            row = (system * n_parts + part) * n_labels + first.label[there]
            differences.append((row, first.unit[there], mine[there] - other[there]))
    least = first.sum_by_label(np.min([own[1] for own in parts], axis=0))
    return SharedExchanges.of(
        differences,
        totals.reshape(len(cells), n_parts, n_labels),
        first.n_units,
        _Averages(labels[chosen], own_labels=own_labels, defined=bool(np.all(least > TIE))),
    )


class _Averages:
    """The macro averages of sums by part, label and draw.

    Parameters
    ----------
    always
        Which labels count, whatever is exchanged.
    own_labels
        Whether those that are returned count, too.
    defined
        Whether no exchange can leave a label without a score.
    """

    def __init__(self, always: Mask, *, own_labels: bool, defined: bool):
        self.always, self.own_labels, self.defined = always, own_labels, defined

    def __call__(self, sums: Array) -> Array:
        top, bottom = sums[:, 0], sums[:, 1]
        if self.defined:
            scores = top / bottom
        else:  # sums of fractions come back as 0 only up to rounding
            scores = np.divide(top, bottom, out=np.zeros_like(top), where=bottom > TIE)
        if not self.own_labels:
            return np.asarray(scores.sum(axis=1) / max(1, scores.shape[1]))
        counts = self.always[:, None] | (sums[:, 2] > TIE)
        return np.asarray((scores * counts).sum(axis=1) / np.maximum(1, counts.sum(axis=1)))
