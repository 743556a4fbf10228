"""Judge scores of counts that are pooled over labels: exact tests, intervals, posteriors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from probative.counts import Counts, PairedCounts
from probative.errors import InputError
from probative.inference.differences import (
    UnitTest,
    difference,
    exchange_errors,
    overstating,
    student_pvalue,
    unit_test,
)
from probative.inference.exchange import (
    ItemExchange,
    UnitExchange,
    drawing,
    exact_pvalue,
    randomization_test,
)
from probative.inference.intervals import interval
from probative.inference.planning import Pilot
from probative.inference.posterior.student import ClusteredPosterior, posterior_of_difference
from probative.inference.runs import Runs, Spread
from probative.inference.sampled import kinds_of
from probative.inference.score_differences import difference_of_totals
from probative.inference.scores import PairTests, RatioScore, pair_tests
from probative.inference.units import jackknife_covariance, pair_errors, student_quantile
from probative.inference.walks import TooLargeError, walk_of_credits
from probative.metrics import COMPOSITES, contributions, ratio, score, span

if TYPE_CHECKING:
    from fractions import Fraction

    from probative._validation import Array, Mask
    from probative.results import Difference, Interval, RandomizationTest


# --- Exact tests of pairs of systems
#
# The counts of each system on every unit are computed once. A test uses only the units on which
# the two systems differ.

_MEMORY = 2**28  # bytes that one exact test may use for its tables


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


def _exchange(
    table: UnitTable, i: int, j: int, metric: str, beta: float
) -> tuple[UnitExchange, Fraction]:
    """Return the exchange of two systems and the difference of their scores."""
    positives = int(table.number @ table.positives)
    negatives = 0 if table.negatives is None else int(table.number @ table.negatives)
    a, b = (np.stack([table.tp[k], table.fp[k]], axis=1).astype(np.int64) for k in (i, j))
    (x, f), (u, v) = ((table.number @ counts).tolist() for counts in (a, b))
    gap = difference_of_totals(positives, negatives, (x + u, f + v), metric, beta)
    observed = gap.exact_difference(x, f)
    if not table.by_item:
        return UnitExchange(walk_of_credits(a, b, table.number), gap, _MEMORY), observed
    only_a, only_b, both = (table.number @ own for own in (a & ~b, b & ~a, a & b))
    return ItemExchange(np.array([*only_a, *only_b, *both, 0, 0]), gap, _MEMORY), observed


# --- Counts of many systems on the units of one test set
#
# Gold is the same for all systems, so the true and false positives of a system on every unit
# determine all its scores, and those of two systems their exchange test.


@dataclass(frozen=True, eq=False)
class UnitTable:
    """The counts of several systems, unit by unit."""

    tp: NDArray[Any]  # one row per system, one column per kind of unit
    fp: NDArray[Any]
    positives: NDArray[Any]  # items of every unit, in gold
    negatives: NDArray[Any] | None  # None if they cannot be counted
    number: NDArray[np.int64]  # of units of each kind
    by_item: bool = False  # True if every unit is a single item

    @classmethod
    def of_counts(cls, systems: Sequence[Counts]) -> UnitTable:
        """Return the table from the counts of every system on the same units."""
        first = systems[0]
        whole = [_whole(np.stack([np.atleast_1d(cell) for cell in c._cells()])) for c in systems]
        tp, fp = (np.stack([cells[row] for cells in whole]) for row in (0, 1))
        negatives = None if first.tn is None else whole[0][1] + whole[0][3]
        positives = whole[0][0] + whole[0][2]
        number = np.ones(tp.shape[1], dtype=np.int64)
        return cls(tp, fp, positives, negatives, number)

    def grouped(self) -> UnitTable:
        """Return the table with equal units merged, in order of first appearance."""
        rows = [self.tp, self.fp, self.positives[None]]
        rows += [] if self.negatives is None else [self.negatives[None]]
        stacked = np.ascontiguousarray(np.concatenate(rows).T)
        keys = stacked.view(np.dtype((np.void, stacked.itemsize * stacked.shape[1])))[:, 0]
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        kept, group = np.unique(first[group], return_inverse=True)
        return replace(
            self,
            tp=self.tp[:, kept],
            fp=self.fp[:, kept],
            positives=self.positives[kept],
            negatives=None if self.negatives is None else self.negatives[kept],
            number=np.bincount(group, weights=self.number).astype(np.int64),
        )

    def counts(self) -> Counts:
        """Return one table per system and kind of unit."""
        tn = None if self.negatives is None else self.negatives - self.fp
        return Counts(self.tp, self.fp, self.positives - self.tp, tn)

    def totals(self, weights: NDArray[Any]) -> Counts:
        """Return the weighted sums over the units, with systems along the last axis."""
        return self.counts()._map(lambda cells: np.asarray(weights @ cells.T))

    def contributions(self, metric: str = "f1", *, beta: float = 1.0) -> tuple[Array, Array]:
        """Return the contribution of every kind of unit to numerator and denominator, by system."""
        if metric in COMPOSITES:
            rows, totals = self.counts(), self.totals(self.number)
            tables = zip(rows, totals, strict=True)
            own = (contributions(row, metric, at=total, units=True) for row, total in tables)
            x, y = map(np.stack, zip(*own, strict=True))
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


# --- Simultaneous intervals of all differences


def dispute(moved: Array, number: NDArray[Any]) -> Array:
    """Return how many units the difference of every pair rests on."""
    # With d the moves of a pair's difference, (sum d²)² / sum d⁴: the number of units in dispute,
    # were they all worth the same. It is infinite for a pair that no unit moves.
    first, second, third, fourth = (moved**power for power in (1, 2, 3, 4))

    def cross(a: Array, b: Array) -> Array:
        return np.asarray((a * number) @ b.T)

    def own(a: Array) -> Array:
        return np.asarray(np.add.outer(a @ number, a @ number))

    # the binomial expansions of sums of (m_i - m_j)^power
    both = cross(third, first)
    squares = own(second) - 2 * cross(first, first)
    fourths = own(fourth) - 4 * (both + both.T) + 6 * cross(second, second)
    differs = squares > 1e-14 * own(second)
    with np.errstate(divide="ignore", invalid="ignore"):
        # at most as many as there are, whatever rounding leaves of fourth powers
        rests_on = squares**2 / np.maximum(fourths, squares**2 / max(1, number.sum()))
    return np.where(differs, rests_on, np.inf)


def simultaneous_reach(quantile: float, freedom: Array, disputed: Array) -> Array:
    """Return how many standard errors the interval of each pair reaches, by the joint quantile."""
    # Each pair has Student's quantile of the same tail with its own degrees of freedom. That errs
    # on the safe side: the largest of Student's variables that share their denominator is less
    # extreme. A variance that rests on m units in dispute is itself an estimate: its variance is
    # about 1/m of its square, and Satterthwaite's degrees of freedom are 2m. With very few units
    # Student's quantile has no bounds, and the variance at the limit is the better guide: with u
    # the worth of a unit and V = m·u², the maximum-likelihood variance at a distance h is
    # V/2 + √(V²/4 + u²h²), which makes h = t·√(V + t²u²) (T. Tango, "Equivalence test and
    # confidence interval for the difference in proportions for the paired-sample design", 1998).
    level = float(special.erf(quantile / np.sqrt(2)))
    by_size = student_quantile(level, freedom)
    by_dispute = student_quantile(level, np.minimum(freedom, 2 * disputed))
    at_the_limit = by_size * np.sqrt(1 + by_size**2 / disputed)
    return np.asarray(np.minimum(by_dispute, at_the_limit))


# --- The score of several systems

_NO_SPREAD = 1e-12  # smaller standard errors are rounding errors of 0
_WITHOUT_POSITIVES = ("accuracy", "specificity", "npv")  # defined even without positive items


@dataclass(frozen=True, eq=False)
class PooledScore(RatioScore):
    """A score of pooled counts of several systems, with exact exchange tests."""

    metric: str
    scored: str  # what is computed: over all classes of single-label data, accuracy is recall
    n_systems: int
    counts_of: Callable[[int], Counts]  # of a system, one row per unit
    # Cases of every run of A beside every run of B, added up, divided by the greatest common
    # divisor of the two numbers of runs: one row per unit in the order of the counts, or one table
    # of single items. Without them, two systems are right together and wrong together as often as
    # possible.
    cases_of: Callable[[Sequence[int], Sequence[int]], PairedCounts] | None = None
    exchanged_of: Callable[[int, int], PairedCounts] | None = None  # if not those of `cases_of`
    table_of: Callable[[], UnitTable] | None = None  # of all systems, if units are single items
    multiplicity: NDArray[Any] | None = None  # equal units that each row stands for
    weight: float = 1.0  # of an item; dividing by it makes half items whole
    beta: float = 1.0
    prior: float = 1.0

    @classmethod
    def of_counts(cls, systems: Sequence[Counts], metric: str = "f1", **how: Any) -> PooledScore:
        """Return the score of systems from their counts on the same units."""
        return cls(metric, metric, len(systems), lambda i: systems[i], **how)

    @classmethod
    def of_cases(
        cls, paired: PairedCounts, metric: str = "f1", scored: str | None = None, **how: Any
    ) -> PooledScore:
        """Return the score of two systems from their cases."""
        return cls(
            metric,
            scored or metric,
            2,
            lambda i: paired.b if i else paired.a,
            lambda a, b: paired if (*a, *b) == (0, 1) else paired.swapped(),
            **how,
        )

    @property
    def most(self) -> float:
        """Return the largest possible difference of two systems."""
        return span(self.scored)

    def cases(self, i: int, j: int) -> PairedCounts:
        """Return the cases of two systems that interval and posterior are computed from."""
        if self.cases_of is None:
            return overlap(self.counts_of(i), self.counts_of(j)).grouped()
        return self.cases_of([i], [j]).grouped()

    def exchanged(self, i: int, j: int) -> PairedCounts:
        """Return the cases of two systems that are exchanged."""
        return (self.exchanged_of or self.cases)(i, j)

    @cached_property
    def table(self) -> UnitTable:
        """Return the counts of all systems on every unit."""
        if self.table_of is not None:
            return self.table_of()
        systems = [self.counts_of(i) / self.weight for i in range(self.n_systems)]
        table = UnitTable.of_counts(systems)
        if self.multiplicity is None:
            return table
        return replace(table, number=np.asarray(self.multiplicity, dtype=np.int64))

    @cached_property
    def units(self) -> UnitTable:
        """Return the table with equal units merged."""
        return self.table.grouped()

    @cached_property
    def _contributions(self) -> tuple[Array, Array, Mask]:
        """Return x and y of all kinds of units, and those in which anything counts."""
        x, y = self.units.contributions(self.scored, beta=self.beta)
        return x, y, np.any(y > 0, axis=0)

    @cached_property
    def parts(self) -> tuple[Array, Array, NDArray[np.int64]]:
        """Return x and y of the kinds of units in which anything counts, and their numbers."""
        x, y, there = self._contributions
        return x[:, there], y[:, there], self.units.number[there]

    @property
    def observed_units(self) -> int:
        """Return the number of units."""
        return int(self.table.number.sum())

    @property
    def judged(self) -> Mask:
        """Return True for the systems whose score rests on two units, if gold has anything."""
        findable = bool(self.table.positives.any()) or self.scored in _WITHOUT_POSITIVES
        return np.asarray(((self.sizes > 0) @ self.number > 1) & findable)

    @property
    def kinds(self) -> NDArray[np.intp]:
        """Return the kind of every system."""
        return kinds_of(
            tp.tobytes() + fp.tobytes() for tp, fp in zip(self.table.tp, self.table.fp, strict=True)
        )

    def interval(self, i: int, level: float) -> Interval:
        """Return the interval of system i, with the items of a unit as dependent."""
        return interval(
            self.counts_of(i),
            self.scored,
            level=level,
            beta=self.beta,
            clustered=True,
            multiplicity=self.multiplicity,
        )

    def difference(self, i: int, j: int, level: float) -> Difference:
        """Return the difference of system j minus system i, with its MOVER interval."""
        return difference(
            self.cases(i, j), self.scored, level=level, beta=self.beta, prior=self.prior
        )

    def posterior(self, i: int, j: int) -> ClusteredPosterior:
        """Return the paired posterior of the difference, allowing for units."""
        return posterior_of_difference(
            self.cases(i, j), self.scored, prior=self.prior, beta=self.beta
        )

    def pilot(self, i: int, j: int) -> Pilot:
        """Return how much one unit adds to the difference."""
        return Pilot.of(self.cases(i, j), self.scored, self.beta)

    def observed(self, i: int, j: int) -> float:
        """Return the observed difference of system j minus system i."""
        total = self.cases(i, j).total()
        a, b = (score(own, self.scored, beta=self.beta) for own in (total.a, total.b))
        return float(b - a)

    def unit_test(self, i: int, j: int) -> UnitTest:
        """Test a difference by Student's distribution over units; without units, over items."""
        return unit_test(self.exchanged(i, j), self.scored, beta=self.beta)

    def tests(
        self,
        pairs: Sequence[tuple[int, int]],
        *,
        rng: np.random.Generator,
        null: bool = False,
        **_: Any,
    ) -> Iterator[RandomizationTest]:
        """Test pairs exactly, one by one."""
        for i, j in pairs:
            cases = self.exchanged(i, j)
            yield randomization_test(
                cases,
                self.scored,
                by="unit" if cases.has_units else "item",
                beta=self.beta,
                rng=rng,
                null=null,
            )

    def runs(self, places: Sequence[int]) -> Runs:
        """Return the score of each run, and each unit's move of it."""
        parts = [contributions(self.counts_of(k), self.scored, beta=self.beta) for k in places]
        return Runs.of(*(np.array(part, dtype=np.float64) for part in zip(*parts, strict=True)))

    def pooled(self, groups: Sequence[Sequence[int]]) -> PooledScore:
        """Return the score of systems whose runs are the systems at these places, added up."""
        most = math.lcm(*map(len, groups))

        def summed(a: int, others: int) -> Counts:
            """Sum the counts of the runs of a system, scaled to as many runs as another has."""
            runs = [self.counts_of(place) for place in groups[a]]
            return sum(runs[1:], start=runs[0]) * (others // math.gcd(len(runs), others))

        def exchanged(a: int, b: int) -> PairedCounts:
            n_a, n_b = len(groups[a]), len(groups[b])
            if self.cases_of is not None and n_a == n_b == 1:
                return self.cases_of(groups[a], groups[b])
            return overlap(summed(a, n_b), summed(b, n_a))

        def cases(sides_a: Sequence[int], sides_b: Sequence[int]) -> PairedCounts:
            (a,), (b,) = sides_a, sides_b
            runs = groups[a], groups[b]
            known = exchanged(a, b) if self.cases_of is None else self.cases_of(*runs)
            worth = float(Spread.of(self.runs(runs[0]), self.runs(runs[1])).worth())
            return known * (worth / math.lcm(*map(len, runs)))

        return replace(
            self,
            n_systems=len(groups),
            counts_of=lambda a: summed(a, most),
            cases_of=cases,
            exchanged_of=exchanged,
            table_of=None,
        )

    def test_all(self, **how: Any) -> PairTests:
        """Test all pairs exactly, in several processes where there are many."""
        units, metric, beta = self.units, self.scored, self.beta

        def draw(i: int, j: int) -> Callable[[np.random.Generator, int], int]:
            return drawing(*_exchange(units, i, j, metric, beta), "two-sided")

        exact = partial(_test_pairs, units, metric, beta)
        found = pair_tests(self.kinds, exact, draw, **how)
        # how many pairs the exchange test alone would overstate, and the ratio of the items that
        # the two systems of such a pair return, at most
        known, (x, y, number) = np.flatnonzero(self.judged), self.parts
        gaps, errors, freedom = self._all_gaps(known)
        p_unit = student_pvalue(gaps, errors, freedom)
        given = ((units.tp + units.fp) @ units.number)[known].astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            excess = errors / exchange_errors(x[known], y[known], number)
            amounts = np.divide.outer(given, given)
        pairs = np.triu(overstating(excess, found.pvalues[np.ix_(known, known)], p_unit))
        returned = float(np.max(np.fmax(amounts, amounts.T)[pairs], initial=1.0))
        return replace(found, overstated=int(np.count_nonzero(pairs)), returned=returned)

    def _all_gaps(self, known: NDArray[np.intp]) -> tuple[Array, Array, Array]:
        """Return the differences of all pairs, their standard errors and degrees of freedom."""
        gaps = np.subtract.outer(self.estimates[known], self.estimates[known])
        errors = pair_errors(jackknife_covariance(self.moves[known], self.number))
        return gaps, errors, self.freedoms(known.tolist())

    def resampled(self, known: NDArray[np.intp], weights: Array) -> Array:
        """Return the scores of the known systems with weighted units."""
        if self.scored not in COMPOSITES:
            return super().resampled(known, weights)
        units = replace(self.units, tp=self.units.tp[known], fp=self.units.fp[known])
        drawn = np.zeros((len(weights), len(units.number)))
        drawn[:, self._contributions[2]] = weights
        return np.asarray(np.nan_to_num(score(units.totals(drawn), self.scored)))

    def simultaneous(
        self, known: NDArray[np.intp], *_: Any
    ) -> Callable[[float], tuple[Array, Array]]:
        """Return the intervals of all differences, from the standard errors of all pairs."""
        gaps, errors, freedom = self._all_gaps(known)
        disputed = dispute(self.moves[known], self.number)
        kind = self.kinds[known]

        def limits(quantile: float) -> tuple[Array, Array]:
            reach = simultaneous_reach(quantile, freedom, disputed) * errors
            low, high = gaps - reach, gaps + reach
            level = float(special.erf(quantile / np.sqrt(2)))
            for i in range(len(known)):
                same = kind == kind[i]
                if np.count_nonzero(same) > 1:
                    low[i, same], high[i, same] = self._limits_of_copies(int(known[i]), level)
            still = (errors <= _NO_SPREAD) & (kind[:, None] != kind)
            if still.any():
                arms = np.array([self._arms(int(one), level) for one in known])
                low[still] = (gaps - np.hypot(arms[:, None, 0], arms[:, 1]))[still]
                high[still] = (gaps + np.hypot(arms[:, None, 1], arms[:, 0]))[still]
            return np.maximum(low, -self.most), np.minimum(high, self.most)

        return limits

    def _arms(self, system: int, level: float) -> tuple[float, float]:
        """Return how far the interval of a single score reaches below and above it."""
        # Two systems that differ equally in every unit have no standard error: MOVER joins the two
        # intervals, as if they were independent.
        units = self.units
        rows = units.counts()[system]._map(lambda cells: np.repeat(cells, units.number))
        rows = rows.sum() if units.by_item else rows
        how: Any = {"level": level, "beta": self.beta, "clustered": not units.by_item}
        alone = interval(rows, self.scored, **how)
        estimate = float(np.asarray(alone.estimate))
        return estimate - float(np.asarray(alone.low)), float(np.asarray(alone.high)) - estimate

    def _limits_of_copies(self, system: int, level: float) -> tuple[float, float]:
        """Return the interval of the difference of two systems that no unit distinguishes."""
        # that nothing differs here does not show that nothing would elsewhere
        own = self.units.counts()[system]
        paired = overlap(own, own, self.units.number)
        paired = paired.total() if self.units.by_item else paired
        gap = difference(paired, self.scored, level=level, beta=self.beta)
        return gap.low, gap.high


def overlap(a: Counts, b: Counts, number: NDArray[Any] | None = None) -> PairedCounts:
    """Return the cases of two systems that are right together and wrong together most often."""
    both, wrong = np.minimum(a.tp, b.tp), np.minimum(a.fp, b.fp)
    cases = [a.tp - both, a.fp - wrong, b.tp - both, b.fp - wrong, both, wrong]
    cases.append(a.positives - a.tp - b.tp + both)
    if a.tn is not None:
        cases.append(a.tn - b.fp + wrong)
    return PairedCounts(np.stack(cases, axis=-1), number)
