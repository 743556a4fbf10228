"""Pairs of systems of which nothing is exact: sampled tests, and limits pair by pair."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative.inference.sequential_pvalue import MOST
from probative.workers import in_processes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, MutableMapping, Sequence

    from numpy.typing import NDArray

    from probative._types import Array
    from probative.inference.pair_tests import KnownTests

    KnownLimits = MutableMapping[tuple[int, int], tuple[float, float, float]]

__all__ = ["kinds_of", "limits_of_pairs", "most_exchanges", "sample_pairs"]

_ALWAYS = 100_000  # exchanges that may be drawn, however many pairs there are
_OF_ALL_PAIRS = 3 * 10**8
_ENOUGH = 20  # pairs from which on other processes are worth their start


def most_exchanges(n_pairs: int) -> int:
    """How many exchanges may be drawn for one of so many pairs."""
    return min(MOST, max(_ALWAYS, _OF_ALL_PAIRS // max(1, n_pairs)))


def kinds_of(keys: Iterable[bytes]) -> NDArray[np.intp]:
    """The kind of every system, from all that counts of it: copies are of one kind."""
    kinds: dict[bytes, int] = {}
    return np.array([kinds.setdefault(key, len(kinds)) for key in keys], dtype=np.intp)


def sample_pairs(
    find: Callable[..., Any], kind: NDArray[np.intp], tested: KnownTests | None
) -> dict[str, Any]:
    """Test all pairs of systems; what is found, as `Evidence` has it.

    Parameters
    ----------
    find
        The tests of pairs, as for `macro_pair_tests`, but for its systems.
    kind
        The kind of every system.
    tested
        As for `probative.inference.pair_tests.pair_tests`.
    """
    k = len(kind)
    tested = {} if tested is None else tested
    pairs = list(combinations(range(k), 2))
    same = {pair: (1.0, 0) for pair in pairs if kind[pair[0]] == kind[pair[1]]}
    found = find(pairs, known={**tested, **same}, most=most_exchanges(len(pairs)))
    pvalues, draws = np.ones((k, k)), [own.draws for own in found if own.draws]
    for (i, j), own in zip(pairs, found, strict=True):
        pvalues[i, j] = pvalues[j, i] = own.pvalue
        if (i, j) not in same:
            tested[i, j] = own.pvalue, own.draws
    return {
        "pvalues": pvalues,
        "sampled": len(pairs),
        "unclear": sum(not own.clear for own in found),
        "draws": (min(draws, default=0), max(draws, default=0)),
    }


def limits_of_pairs(
    find: Callable[[float, tuple[Any, Any]], tuple[float, float]],
    systems: Sequence[Any],
    there: Sequence[int],
    limited: KnownLimits | None,
    *,
    n_jobs: int | None,
) -> Callable[[float], tuple[Array, Array]]:
    """What turns a normal quantile into the limits of all differences, row minus column.

    Parameters
    ----------
    find
        The limits of the difference of two systems at a level, the second minus the first.
    systems, there
        All systems, and the numbers of those that are judged.
    limited
        Limits that are known already, by the numbers of the two systems, the lower first: how many
        standard errors they reach, and the limits. What is new is added.
    n_jobs
        How many processes work at once, where there are enough pairs.
    """

    def limits(quantile: float) -> tuple[Array, Array]:
        level = float(special.erf(quantile / np.sqrt(2)))
        known = {} if limited is None else limited
        wanted = list(combinations(there, 2))
        unknown = [pair for pair in wanted if known.get(pair, (None,))[0] != quantile]
        # a process is sent the two systems of its pair alone
        parts = [(systems[i], systems[j]) for i, j in unknown]
        jobs = n_jobs if len(parts) >= _ENOUGH else 1
        found = in_processes(partial(find, level), parts, jobs)
        for pair, (_, own) in zip(unknown, found, strict=True):
            known[pair] = quantile, *own
        place = {i: at for at, i in enumerate(there)}
        low, high = np.zeros((len(there), len(there))), np.zeros((len(there), len(there)))
        for i, j in wanted:
            a, b = place[i], place[j]
            _, least, most = known[i, j]
            low[b, a], high[b, a], low[a, b], high[a, b] = least, most, -most, -least
        return low, high

    return limits
