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
from probative.inference.randomization import drawing, exact_pvalue
from probative.inference.sequential_pvalue import sequential_pvalues
from probative.workers import in_processes

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from probative.inference.unit_table import UnitTable

    KnownTests = MutableMapping[tuple[int, int], tuple[float, int]]

__all__ = ["PairTests", "pair_tests"]

_AT_ONCE = 64  # pairs that a process is given at once
_ENOUGH = 400  # pairs from which on other processes are worth their start
_MEMORY = 2**28  # bytes that one exact test may use for its tables


class PairTests(NamedTuple):
    """The p-values of all pairs, as a symmetric table with ones on its diagonal.

    `sampled` is how many of them could not be computed exactly, `unclear` of how many of these it
    is not clear what drawing all exchanges would decide.
    """

    pvalues: NDArray[np.float64]
    sampled: int
    unclear: int = 0


def pair_tests(
    table: UnitTable,
    metric: str = "f1",
    *,
    beta: float = 1.0,
    level: float = 0.95,
    adjust: str = "holm",
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
    level, adjust
        How the p-values will be adjusted, and with what they will be compared: of a pair whose
        exact test would not fit into memory, exchanges are drawn until that is clear.
    seed
        Of these exchanges.
    n_jobs
        How many processes work at once, where there are enough pairs; -1 for all cores.
    report
        Is told how many pairs are done, and how many there are.
    tested
        What is known already, which is not tested again; what is found is added. By the numbers
        of the two systems, the lower first: the p-value, and from how many draws; 0 if exact.

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
    work = partial(_test_pairs, own, metric, beta)
    tell(0, len(pairs))
    for chunk, answers in in_processes(work, chunks, jobs):
        tested.update(
            ((int(first[i]), int(first[j])), (pvalue, 0))
            for (i, j), pvalue in zip(chunk, answers, strict=True)
            if pvalue is not None
        )
        done += len(chunk)
        tell(done, len(pairs))
    unclear = 0
    too_large = [(i, j) for i, j in everyone if tested.get((first[i], first[j]), (0, 1))[1]]
    if too_large:
        drawings = {
            (int(first[i]), int(first[j])): drawing(
                *_exchange(own, i, j, metric, beta), "two-sided"
            )
            for i, j in too_large
        }
        places = first[kind].tolist()
        unclear = _sample(drawings, places, tested, (level, adjust), seed=seed, n_jobs=n_jobs)
    pvalues, sampled = np.ones((len(first), len(first))), 0
    for i, j in everyone:
        pvalue, draws = tested[int(first[i]), int(first[j])]
        pvalues[i, j] = pvalues[j, i] = pvalue
        sampled += draws > 0
    return PairTests(pvalues[np.ix_(kind, kind)], sampled, unclear)


def _test_pairs(
    table: UnitTable, metric: str, beta: float, pairs: Sequence[tuple[int, int]]
) -> list[float | None]:
    """The p-values of some pairs; None where an exact test would not fit into memory."""
    answers: list[float | None] = []
    for i, j in pairs:
        exchange, observed = _exchange(table, i, j, metric, beta)
        try:
            answers.append(exact_pvalue(exchange, observed, "two-sided"))
        except TooLargeError:
            answers.append(None)
    return answers


def _sample(
    drawings: dict[tuple[int, int], Callable[[np.random.Generator, int], int]],
    places: Sequence[int],
    tested: KnownTests,
    rule: tuple[float, str],
    *,
    seed: int,
    n_jobs: int | None,
) -> int:
    """Add sampled tests to those that are known, and tell how many of them are not clear.

    Parameters
    ----------
    drawings
        What draws exchanges of a pair of systems that differ.
    places
        Of every system the first one that it is a copy of: all pairs are adjusted for together.
    tested
        What is known.
    rule
        Level and adjustment.
    """
    level, adjust = rule
    family = [(min(a, b), max(a, b)) for a, b in combinations(places, 2)]
    known = {t: tested[pair] for t, pair in enumerate(family) if pair in tested}
    known |= {t: (1.0, 0) for t, (a, b) in enumerate(family) if a == b}

    def draw(generator: np.random.Generator, number: int, tests: NDArray[np.int64]) -> list[int]:
        # the exchanges of a pair do not depend on which others are still open
        seeds = dict(zip(drawings, generator.integers(2**63, size=len(drawings)), strict=True))
        wanted = {family[t] for t in tests}
        counts = {
            pair: drawings[pair](np.random.default_rng(seeds[pair]), number) for pair in wanted
        }
        return [counts[family[t]] for t in tests]

    found = sequential_pvalues(
        draw,
        len(family),
        levels=(1 - level,),
        adjust=adjust,
        plain=False,
        known=known,
        rng=seed,
        n_jobs=n_jobs,
    )
    of_pairs = {pair: own for pair, own in zip(family, found, strict=True) if pair in drawings}
    tested.update((pair, (own.pvalue, own.draws)) for pair, own in of_pairs.items())
    return sum(not own.clear for own in of_pairs.values())


def _exchange(
    table: UnitTable, i: int, j: int, metric: str, beta: float
) -> tuple[ItemExchange | UnitExchange, Fraction]:
    """What is exchanged between two systems, and the difference of their scores."""
    positives = int(table.number @ table.positives)
    negatives = 0 if table.negatives is None else int(table.number @ table.negatives)
    a, b = (np.stack([table.tp[k], table.fp[k]], axis=1).astype(np.int64) for k in (i, j))
    (x, f), (u, v) = ((table.number @ own).tolist() for own in (a, b))
    gap = difference_of_totals(positives, negatives, (x + u, f + v), metric, beta)
    observed = gap.exact_difference(x, f)
    if not table.by_item:
        differ = np.any(a != b, axis=1)
        walk = walk_of_credits(a[differ], b[differ], table.number[differ])
        same = table.number[~differ] @ a[~differ]
        return UnitExchange.of(walk.moved(same), gap, _MEMORY), observed
    both = table.number @ (a & b)
    only_a, only_b = table.number @ a - both, table.number @ b - both
    cases = np.array([*only_a, *only_b, *both, 0, 0], dtype=np.int64)
    return ItemExchange(cases, gap), observed
