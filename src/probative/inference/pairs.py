"""Count many systems on the units of one test set, and test every pair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from probative.counts import Counts
from probative.errors import InputError
from probative.inference.exchange import ItemExchange, UnitExchange, drawing, exact_pvalue
from probative.inference.sampled import sequential_pvalues
from probative.inference.score_differences import difference_of_totals
from probative.inference.walks import TooLargeError, walk_of_credits
from probative.metrics import COMPOSITES, NEEDS_TN, contributions, ratio, score
from probative.workers import in_processes

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from probative._validation import Array


# --- Randomisation tests of all pairs of systems
#
# The counts of each system on every unit are computed once. A test uses only the units on which
# the two systems differ.

if TYPE_CHECKING:
    KnownTests = MutableMapping[tuple[int, int], tuple[float, int]]


_PAIRS_PER_TASK = 64  # tested by a process in one go
_FEWEST_PAIRS_FOR_PROCESSES = 400  # fewer are not worth starting other processes
_MEMORY = 2**28  # bytes that one exact test may use for its tables


class _PairTests(NamedTuple):
    """The p-values of all pairs, as a symmetric table with ones on its diagonal.

    `sampled` is the number of pairs without an exact p-value, `unclear` the number of those for
    which the decision after drawing all exchanges is not yet certain.
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
) -> _PairTests:
    """Test every pair of systems, two-sided and exactly.

    Where an exact test does not fit into memory, exchanges are drawn until the adjusted p-value is
    clearly above or below the level. `tested` maps pairs of systems (lower index first) to the
    p-value and its number of draws (0 if exact); known pairs are not tested again, new ones are
    added. `report` receives the number of pairs done and their total.
    """
    first, kind = table.distinct()
    distinct = table.only(first).grouped()
    tested = {} if tested is None else tested
    everyone = list(combinations(range(len(first)), 2))
    pairs = [(i, j) for i, j in everyone if (first[i], first[j]) not in tested]
    progress = report or (lambda done, total: None)
    done = 0
    chunks = [
        pairs[start : start + _PAIRS_PER_TASK] for start in range(0, len(pairs), _PAIRS_PER_TASK)
    ]
    jobs = n_jobs if len(pairs) >= _FEWEST_PAIRS_FOR_PROCESSES else 1
    work = partial(_test_pairs, distinct, metric, beta)
    progress(0, len(pairs))
    for chunk, answers in in_processes(work, chunks, jobs):
        tested.update(
            ((int(first[i]), int(first[j])), (pvalue, 0))
            for (i, j), pvalue in zip(chunk, answers, strict=True)
            if pvalue is not None
        )
        done += len(chunk)
        progress(done, len(pairs))
    unclear = 0
    too_large = [(i, j) for i, j in everyone if tested.get((first[i], first[j]), (0, 1))[1]]
    if too_large:
        drawings = {
            (int(first[i]), int(first[j])): drawing(
                *_exchange(distinct, i, j, metric, beta), "two-sided"
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
    return _PairTests(pvalues[np.ix_(kind, kind)], sampled, unclear)


def _test_pairs(
    table: UnitTable, metric: str, beta: float, pairs: Sequence[tuple[int, int]]
) -> list[float | None]:
    """Return the p-values of some pairs; None where an exact test does not fit into memory."""
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
    """Add sampled tests to the known ones, and return how many of them are not clear.

    `drawings` draws exchanges for each pair of distinct systems. `places` gives, for every system,
    the first system that it equals: the adjustment is for all pairs, including equal systems.
    """
    level, adjust = rule
    family = [(min(a, b), max(a, b)) for a, b in combinations(places, 2)]
    known = {t: tested[pair] for t, pair in enumerate(family) if pair in tested}
    known |= {t: (1.0, 0) for t, (a, b) in enumerate(family) if a == b}

    def draw(generator: np.random.Generator, number: int, tests: NDArray[np.int64]) -> list[int]:
        # seeds for all pairs, so that a pair's draws do not depend on which others are open
        seeds = dict(zip(drawings, generator.integers(2**63, size=len(drawings)), strict=True))
        wanted = {family[t] for t in tests}
        counts = {
            pair: drawings[pair](np.random.default_rng(seeds[pair]), number) for pair in wanted
        }
        return [counts[family[t]] for t in tests]

    results = sequential_pvalues(
        draw,
        len(family),
        levels=(1 - level,),
        adjust=adjust,
        plain=False,
        known=known,
        rng=seed,
        n_jobs=n_jobs,
    )
    of_pairs = {
        pair: result for pair, result in zip(family, results, strict=True) if pair in drawings
    }
    tested.update((pair, (result.pvalue, result.draws)) for pair, result in of_pairs.items())
    return sum(not result.clear for result in of_pairs.values())


def _exchange(
    table: UnitTable, i: int, j: int, metric: str, beta: float
) -> tuple[ItemExchange | UnitExchange, Fraction]:
    """Return the exchange of two systems and the difference of their scores."""
    positives = int(table.number @ table.positives)
    negatives = 0 if table.negatives is None else int(table.number @ table.negatives)
    a, b = (np.stack([table.tp[k], table.fp[k]], axis=1).astype(np.int64) for k in (i, j))
    (x, f), (u, v) = ((table.number @ counts).tolist() for counts in (a, b))
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


# --- Counts of many systems on the units of one test set
#
# Gold is the same for all systems, so the true and false positives of a system on every unit
# determine all its scores, and those of two systems their exchange test.


@dataclass(frozen=True, eq=False)
class UnitTable:
    """The counts of several systems, unit by unit.

    Attributes
    ----------
    tp, fp
        True and false positives: one row per system, one column per kind of unit.
    positives, negatives
        The items of every unit that are positive and negative in gold (negatives are None where
        they cannot be counted).
    number
        The number of units of each kind.
    by_item
        True if every unit is a single item.
    """

    tp: NDArray[Any]
    fp: NDArray[Any]
    positives: NDArray[Any]
    negatives: NDArray[Any] | None
    number: NDArray[np.int64]
    by_item: bool = False

    @classmethod
    def of_counts(cls, systems: Sequence[Counts], *, by_item: bool = False) -> UnitTable:
        """Return the table from the counts of every system on the same units."""
        first = systems[0]
        columns = [[c.tp, c.fp, c.fn, *([] if c.tn is None else [c.tn])] for c in systems]
        whole = [_whole(np.stack([np.atleast_1d(part) for part in cells])) for cells in columns]
        tp, fp = (np.stack([cells[row] for cells in whole]) for row in (0, 1))
        negatives = None if first.tn is None else whole[0][1] + whole[0][3]
        positives = whole[0][0] + whole[0][2]
        number = np.ones(tp.shape[1], dtype=np.int64)
        return cls(tp, fp, positives, negatives, number, by_item)

    @property
    def n_systems(self) -> int:
        """Return the number of systems."""
        return len(self.tp)

    @property
    def n_units(self) -> int:
        """Return the number of units."""
        return int(self.number.sum())

    def only(self, systems: NDArray[Any]) -> UnitTable:
        """Return the table of some of the systems."""
        return replace(self, tp=self.tp[systems], fp=self.fp[systems])

    def grouped(self) -> UnitTable:
        """Return the table with equal units merged, in order of first appearance."""
        rows = [self.tp, self.fp, self.positives[None]]
        rows += [] if self.negatives is None else [self.negatives[None]]
        stacked = np.ascontiguousarray(np.concatenate(rows).T)
        keys = stacked.view(np.dtype((np.void, stacked.itemsize * stacked.shape[1])))[:, 0]
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first)  # in the order of their first appearance
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        number = np.bincount(place[group], weights=self.number, minlength=len(first))
        kept = first[order]
        return UnitTable(
            self.tp[:, kept],
            self.fp[:, kept],
            self.positives[kept],
            None if self.negatives is None else self.negatives[kept],
            number.astype(np.int64),
            self.by_item,
        )

    def distinct(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the first system of each kind, and the kind of every system; copies share one."""
        kinds: dict[bytes, int] = {}
        first: list[int] = []
        kind_of = np.empty(self.n_systems, dtype=np.intp)
        for k in range(self.n_systems):
            key = self.tp[k].tobytes() + self.fp[k].tobytes()
            if key not in kinds:
                kinds[key] = len(first)
                first.append(k)
            kind_of[k] = kinds[key]
        return np.array(first, dtype=np.intp), kind_of

    def counts(self) -> Counts:
        """Return one table per system and kind of unit."""
        tn = None if self.negatives is None else self.negatives - self.fp
        return Counts(self.tp, self.fp, self.positives - self.tp, tn)

    def totals(self, weights: NDArray[Any]) -> Counts:
        """Return the weighted sums over the units, with systems along the last axis."""
        return self.counts()._map(lambda cells: np.asarray(weights @ cells.T))

    def scores(self, metric: str, weights: NDArray[Any], *, beta: float = 1.0) -> Array:
        """Return the scores of all systems with weighted units: one row per row of weights."""
        return np.asarray(score(self.totals(weights), metric, beta=beta))

    def contributions(self, metric: str = "f1", *, beta: float = 1.0) -> tuple[Array, Array]:
        """Return the contribution of every kind of unit to numerator and denominator, by system."""
        if metric in NEEDS_TN and self.negatives is None:
            raise InputError(f"metric: {metric} needs tn, and these counts have none")
        if metric in COMPOSITES:
            rows, totals = self.counts(), self.totals(self.number)
            parts = [
                contributions(rows[k], metric, at=totals[k], units=True)
                for k in range(self.n_systems)
            ]
            x, y = (np.stack([part[i] for part in parts]) for i in (0, 1))
            return x, y
        x, y = ratio(self.counts(), metric, beta=beta)
        return np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)


def _whole(cells: NDArray[Any]) -> NDArray[np.int32]:
    """Return counts as whole numbers; refuse fractions, which cannot be exchanged."""
    rounded = np.round(cells)
    if np.any(cells != rounded):
        value = cells[cells != rounded].flat[0]
        raise InputError(f"counts: {value:g} of an item cannot be exchanged; expected whole counts")
    if np.max(rounded, initial=0) >= 2**31:
        raise InputError("counts: more than 2**31 items in one unit")
    return np.asarray(rounded.astype(np.int32))
