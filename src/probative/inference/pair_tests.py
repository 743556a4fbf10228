"""The randomisation tests of all pairs of systems.

What the pairs share is made once: the counts of each system on every unit. Only the units on which
two systems differ matter to their test.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from probative.inference._exchange_items import ItemExchange
from probative.inference._exchange_units import UnitExchange
from probative.inference._score_difference import difference_of_totals
from probative.inference._spectrum import TooLargeError
from probative.inference._walk import walk_of_credits
from probative.inference.randomization import exact_pvalue, sampled_pvalue
from probative.workers import in_processes

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping, Sequence

    from numpy.typing import NDArray

    from probative.inference._score_difference import ScoreDifference
    from probative.inference.unit_table import UnitTable

    KnownTests = MutableMapping[tuple[int, int], tuple[float, bool]]

__all__ = ["PairTests", "pair_tests"]

_AT_ONCE = 64  # pairs that a process is given at once
_ENOUGH = 400  # pairs from which on other processes are worth their start
_MEMORY = 2**28  # bytes that one exact test may use for its tables
_RESAMPLES = 10_000


class PairTests(NamedTuple):
    """The p-values of all pairs, as a symmetric table with ones on its diagonal.

    `sampled` is how many of them could not be computed exactly.
    """

    pvalues: NDArray[np.float64]
    sampled: int


def pair_tests(
    table: UnitTable,
    metric: str = "f1",
    *,
    beta: float = 1.0,
    seed: int = 0,
    n_jobs: int | None = -1,
    report: Callable[[int, int], None] | None = None,
    tested: KnownTests | None = None,
) -> PairTests:
    """Test every pair of systems, two-sided and exactly.

    Parameters
    ----------
    table
        The counts of the systems.
    metric, beta
        The score.
    seed
        Of the exchanges of a pair whose exact test would not fit into memory.
    n_jobs
        How many processes work at once, where there are enough pairs; -1 for all cores.
    report
        Is told how many pairs are done, and how many there are.
    tested
        What is known already, which is not tested again; what is found is added. By the numbers
        of the two systems, the lower first: the p-value, and whether it is exact.

    Examples
    --------
    >>> import numpy as np
    >>> import probative as pv
    >>> from probative.inference.pair_tests import pair_tests
    >>> from probative.inference.unit_table import UnitTable
    >>> hit = np.arange(24) % 4 > 0
    >>> a = pv.Counts(tp=~hit, fp=np.zeros(24), fn=hit)
    >>> b = pv.Counts(tp=hit, fp=np.zeros(24), fn=~hit)
    >>> table = UnitTable.of_counts([a, b, b])
    >>> pair_tests(table, "recall").pvalues.round(4).tolist()
    [[1.0, 0.0227, 0.0227], [0.0227, 1.0, 1.0], [0.0227, 1.0, 1.0]]
    """
    first, kind = table.distinct()
    own = table.only(first).grouped()
    tested = {} if tested is None else tested
    everyone = list(combinations(range(len(first)), 2))
    pairs = [(i, j) for i, j in everyone if (first[i], first[j]) not in tested]
    tell = report or (lambda done, total: None)
    done = 0
    chunks = [pairs[start : start + _AT_ONCE] for start in range(0, len(pairs), _AT_ONCE)]
    jobs = n_jobs if len(pairs) >= _ENOUGH else 1
    work = partial(_test_pairs, own, metric, beta, seed)
    tell(0, len(pairs))
    for chunk, answers in in_processes(work, chunks, jobs):
        tested.update(
            ((int(first[i]), int(first[j])), own)
            for (i, j), own in zip(chunk, answers, strict=True)
        )
        done += len(chunk)
        tell(done, len(pairs))
    pvalues, sampled = np.ones((len(first), len(first))), 0
    for i, j in everyone:
        pvalue, exact = tested[int(first[i]), int(first[j])]
        pvalues[i, j] = pvalues[j, i] = pvalue
        sampled += not exact
    return PairTests(pvalues[np.ix_(kind, kind)], sampled)


def _test_pairs(
    table: UnitTable, metric: str, beta: float, seed: int, pairs: Sequence[tuple[int, int]]
) -> list[tuple[float, bool]]:
    """The p-values of some pairs, and whether each is exact."""
    positives = int(table.number @ table.positives)
    negatives = 0 if table.negatives is None else int(table.number @ table.negatives)
    answers = []
    for i, j in pairs:
        a, b = (np.stack([table.tp[k], table.fp[k]], axis=1).astype(np.int64) for k in (i, j))
        (x, f), (u, v) = ((table.number @ own).tolist() for own in (a, b))
        gap = difference_of_totals(positives, negatives, (x + u, f + v), metric, beta)
        observed = gap.exact_difference(x, f)
        if observed == 0:
            answers.append((1.0, True))
            continue
        exchange = _exchange(table, a, b, gap)
        try:
            answers.append((exact_pvalue(exchange, observed, "two-sided"), True))
        except TooLargeError:
            rng = np.random.default_rng((seed, i, j))
            _, p = sampled_pvalue(exchange, observed, "two-sided", _RESAMPLES, rng)
            answers.append((p, False))
    return answers


def _exchange(
    table: UnitTable, a: NDArray[np.int64], b: NDArray[np.int64], gap: ScoreDifference
) -> ItemExchange | UnitExchange:
    if not table.by_item:
        differ = np.any(a != b, axis=1)
        walk = walk_of_credits(a[differ], b[differ], table.number[differ])
        same = table.number[~differ] @ a[~differ]
        return UnitExchange.of(walk.moved(same), gap, _MEMORY)
    both = table.number @ (a & b)
    only_a, only_b = table.number @ a - both, table.number @ b - both
    cases = np.array([*only_a, *only_b, *both, 0, 0], dtype=np.int64)
    return ItemExchange(cases, gap)
