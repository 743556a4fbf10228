"""Define what every kind of score provides; comparisons, ranks, plans and runs use nothing else.

A `Score` holds one metric of several systems on the same units, one row per system: pairs are
tested together, and their covariances need the same units. Kinds of scores:

    pooled.PooledScore             counts pooled over labels, exact exchange tests
    macro_comparison.MacroScore    means over labels
    classes.ClassScore             scores of a whole confusion table
    means.MeanScore, JudgedScore   means of graded scores, and of a judge corrected by people

A new kind implements the abstract methods below, and works with several runs, groups, ranks, plans
and gates at once. What a comparison of two systems needs is a `PairScore`; two kinds are no more:

    curves.CurveScore              areas under curves, and the highest F-beta along one
    surveys.estimating.PoolScore   scores of a pool, estimated from a sample
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from probative.inference.differences import UnitTest, student_pvalue
from probative.inference.planning import Pilot, plan_from_pilot
from probative.inference.sampled import (
    SampledExchange,
    SampledPvalue,
    SharedExchanges,
    levels_at,
    most_exchanges,
    sampled_tests,
    sequential_pvalues,
)
from probative.inference.units import effective_units_of_pairs, jackknife_covariance, leave_one_out
from probative.metrics import label_metric
from probative.results import Comparison
from probative.workers import in_processes

if TYPE_CHECKING:
    from probative._validation import Array, Mask
    from probative.inference.runs import Runs
    from probative.results import Difference, Interval, Plan, RandomizationTest
    from probative.results.base import DifferencePosterior

    Pair = tuple[int, int]
    # by pair, the lower index first: a p-value and its number of draws (0 if exact); a quantile and
    # the ends of the interval at its level
    KnownTests = MutableMapping[Pair, tuple[float, int]]
    KnownLimits = MutableMapping[Pair, tuple[float, float, float]]

_NO_VARIANCE = 1e-20  # a smaller variance of a difference is a rounding error of 0
_FEWEST_INTERVALS_FOR_PROCESSES = 20  # with fewer, starting processes costs more than it saves


@dataclass(frozen=True, eq=False)
class PairTests:
    """The exchange tests of all pairs of systems."""

    pvalues: Array  # two-sided
    sampled: int  # how many of these were sampled
    unclear: int = 0  # sampled pairs of which it is not clear what all exchanges would decide
    draws: tuple[int, int] = (0, 0)  # fewest and most exchanges of a pair
    # pairs whose evidence the exchange test alone would overstate, and how many times as many
    # items as the other one system of such a pair returns, at most
    overstated: int = 0
    returned: float = 1.0


class PairScore(ABC):
    """One metric of several systems, with what it takes to compare two of them."""

    metric: str  # its name in results
    # what the score is, if its tests are sampled and its intervals approximate
    approximate: ClassVar[str | None] = None

    @abstractmethod
    def difference(self, i: int, j: int, level: float) -> Difference:
        """Return the difference of system j minus system i, with its interval."""

    @abstractmethod
    def posterior(self, i: int, j: int) -> DifferencePosterior:
        """Return the posterior of the difference of system j minus system i."""

    @abstractmethod
    def tests(
        self,
        pairs: Sequence[Pair],
        *,
        level: float,
        rng: np.random.Generator,
        null: bool = False,
        n_jobs: int | None = 1,
    ) -> Iterable[RandomizationTest]:
        """Test pairs by exchanging units, two-sided; with `null`, keep the null distribution."""

    def unit_test(self, i: int, j: int) -> UnitTest:
        """Test a difference by Student's distribution over units; by default there is no test."""
        del i, j
        return UnitTest(math.nan, math.nan)

    def plan(self, i: int, j: int, **wanted: Any) -> Plan | None:
        """Plan the number of units; None if that is unknown."""
        del i, j, wanted
        return None

    def comparison(self, i: int, j: int, **found: Any) -> Comparison:
        """Return the comparison of a pair with these fields, to which a kind may add its own."""
        del i, j
        return Comparison(**found)

    def note(self, test: RandomizationTest) -> str | None:
        """Return how a pair was tested, if that must be said."""
        if self.approximate is None:
            return test.note
        return (
            f"{self.approximate}: the test is sampled ({test.note}), interval and posterior are "
            f"approximations"
        )


class Score(PairScore):
    """One metric of several systems on the units of a test set."""

    @property
    @abstractmethod
    def estimates(self) -> Array:
        """Return the score of every system; NaN where it is undefined."""

    @property
    @abstractmethod
    def number(self) -> NDArray[Any]:
        """Return the number of units of each kind; equal units are of one kind."""

    @property
    @abstractmethod
    def moves(self) -> Array:
        """Return what leaving out one unit of each kind changes: one row per system."""

    @property
    @abstractmethod
    def sizes(self) -> Array:
        """Return the part of one unit of each kind in the denominator: one row per system."""

    @abstractmethod
    def interval(self, i: int, level: float) -> Interval:
        """Return the interval of system i."""

    @abstractmethod
    def pilot(self, i: int, j: int) -> Pilot:
        """Return how much one unit adds to the difference, to plan with."""

    @abstractmethod
    def runs(self, places: Sequence[int]) -> Runs:
        """Return the runs of one system, which are the systems at these places."""

    @abstractmethod
    def pooled(self, groups: Sequence[Sequence[int]]) -> Score:
        """Return the score of systems whose runs are the systems at these places, added up."""

    @abstractmethod
    def test_all(self, *, tested: KnownTests | None, **how: Any) -> PairTests:
        """Test all pairs of systems."""
        # `tested` holds known results by pair, and new ones are added to it; `how`: level, adjust,
        # seed, n_jobs and report, as for `pair_tests`

    @abstractmethod
    def resampled(self, known: NDArray[np.intp], weights: Array) -> Array:
        """Return the scores of the `known` systems with weighted units: one row per draw."""

    @property
    @abstractmethod
    def kinds(self) -> NDArray[np.intp]:
        """Return the kind of every system; systems with the same outputs are of one kind."""

    # --- What follows for every kind of score

    @property
    def by_label(self) -> str:
        """Return the metric of single labels that goes with this score."""
        return label_metric(self.metric)

    @property
    def most(self) -> float:
        """Return the largest possible difference of two systems."""
        return 1.0

    @property
    def observed_units(self) -> int:
        """Return the number of units, with those in which nothing counts."""
        return int(self.number.sum())

    @property
    def judged(self) -> Mask:
        """Return True for the systems of which there is evidence: two units or more."""
        return np.asarray(~np.isnan(self.estimates) & (((self.sizes > 0) @ self.number) > 1))

    def there(self, systems: Sequence[int]) -> Mask:
        """Return True for the kinds of units in which anything counts for these systems."""
        return np.asarray(np.any(self.sizes[list(systems)] > 0, axis=0))

    def freedom(self, i: int, j: int) -> float:
        """Return the degrees of freedom of a difference: Kish's effective units, less one."""
        return float(effective_units_of_pairs(self.sizes[[i, j]], self.number)[0, 1]) - 1

    def freedoms(self, systems: Sequence[int]) -> Array:
        """Return the degrees of freedom of the differences of all pairs of these systems."""
        return effective_units_of_pairs(self.sizes[list(systems)], self.number) - 1

    def unit_test(self, i: int, j: int) -> UnitTest:
        """Test a difference by Student's distribution over units."""
        there = self.there((i, j))
        moved = (self.moves[j] - self.moves[i])[None, there]
        variance = float(jackknife_covariance(moved, self.number[there])[0, 0])
        error = math.sqrt(variance) if variance > _NO_VARIANCE else 0.0
        freedom = self.freedom(i, j)
        pvalue = float(student_pvalue(self.observed(i, j), error, freedom))
        return UnitTest(pvalue, math.nan, error, freedom)

    def plan(self, i: int, j: int, **wanted: Any) -> Plan:
        """Compute sample size, power or smallest detectable difference, as `probative.plan`."""
        observed = self.observed(i, j)
        return plan_from_pilot(self.pilot(i, j), self.metric, observed, most=self.most, **wanted)

    def only(self, i: int, j: int) -> Score:
        """Return the score of two systems alone, for `simultaneous`."""
        raise NotImplementedError

    def simultaneous(
        self, known: NDArray[np.intp], limited: KnownLimits | None, n_jobs: int | None
    ) -> Callable[[float], tuple[Array, Array]]:
        """Return a function from a normal quantile to the intervals of all differences."""
        # Row minus column, of the `known` systems; by default those of `difference` at the joint
        # level. `limited` holds known intervals by pair; new ones are added to it.
        found = {} if limited is None else limited
        wanted = list(combinations(known.tolist(), 2))

        def limits(quantile: float) -> tuple[Array, Array]:
            unknown = [pair for pair in wanted if found.get(pair, (None,))[0] != quantile]
            # send a process only the two systems of its pair
            parts = [self.only(i, j) for i, j in unknown]
            jobs = n_jobs if len(parts) >= _FEWEST_INTERVALS_FOR_PROCESSES else 1
            level = float(special.erf(quantile / np.sqrt(2)))
            ends = in_processes(partial(_ends_of_pair, level), parts, jobs)
            for pair, (_, own) in zip(unknown, ends, strict=True):
                found[pair] = quantile, *own
            low, high = np.zeros((2, len(known), len(known)))
            for (a, b), pair in zip(combinations(range(len(known)), 2), wanted, strict=True):
                _, low[b, a], high[b, a] = found[pair]
            upper = np.triu_indices(len(known), 1)
            low[upper], high[upper] = -high.T[upper], -low.T[upper]
            return low, high

        return limits

    def observed(self, i: int, j: int) -> float:
        """Return the observed difference of system j minus system i."""
        return float(self.estimates[j] - self.estimates[i])


def _ends_of_pair(level: float, pair: Score) -> tuple[float, float]:
    """Return the interval of the difference of a pair of systems."""
    gap = pair.difference(0, 1, level)
    return float(gap.low), float(gap.high)


class RatioScore(Score):
    """A score that is a ratio, sum of x / sum of y over the units."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Array, Array, NDArray[np.int64]]:
        """Return x and y of the kinds of units in which anything counts, and their numbers."""

    @property
    def number(self) -> NDArray[np.int64]:
        """Return the number of units of each kind in which anything counts."""
        return self.parts[2]

    @property
    def sizes(self) -> Array:
        """Return each unit's part in the denominators."""
        return self.parts[1]

    @cached_property
    def estimates(self) -> Array:
        """Return the score of every system."""
        x, y, number = self.parts
        with np.errstate(invalid="ignore"):
            return np.asarray((x @ number) / (y @ number))

    @cached_property
    def moves(self) -> Array:
        """Return what leaving out a unit changes."""
        return leave_one_out(*self.parts)

    def resampled(self, known: NDArray[np.intp], weights: Array) -> Array:
        """Return the scores of the known systems with weighted units."""
        x, y, _ = self.parts
        with np.errstate(invalid="ignore"):
            return np.nan_to_num((weights @ x[known].T) / (weights @ y[known].T))


class SampledScore(Score):
    """A score without an exact exchange test: exchanges of whole units are drawn at random."""

    by: str

    @abstractmethod
    def exchange(self, i: int, j: int, *, keep: bool = False) -> SampledExchange:
        """Return the exchanges of one pair."""

    @abstractmethod
    def shared(self) -> tuple[SharedExchanges, int]:
        """Return the exchanges of all pairs together, and the number of open pairs that are few."""

    def tests(
        self, pairs: Sequence[Pair], *, level: float, null: bool = False, **how: Any
    ) -> list[RandomizationTest]:
        """Test pairs; how many exchanges one needs depends on the others."""
        exchanges = [self.exchange(i, j, keep=null) for i, j in pairs]
        return sampled_tests(exchanges, self.metric, by=self.by, levels=levels_at(level), **how)

    def test_all(self, *, tested: KnownTests | None, **how: Any) -> PairTests:
        """Test all pairs from the same exchanges, one by one where few are open."""
        kind, tested = self.kinds, {} if tested is None else tested
        pairs = list(combinations(range(len(kind)), 2))
        same = {(i, j): (1.0, 0) for i, j in pairs if kind[i] == kind[j]}
        most = most_exchanges(len(pairs))
        found = self.test_pairs(pairs, known={**tested, **same}, most=most, **how)
        pvalues, draws = np.ones((len(kind), len(kind))), [own.draws for own in found if own.draws]
        for (i, j), own in zip(pairs, found, strict=True):
            pvalues[i, j] = pvalues[j, i] = own.pvalue
            if (i, j) not in same:
                tested[i, j] = own.pvalue, own.draws
        unclear = sum(not own.clear for own in found)
        return PairTests(
            pvalues, len(pairs), unclear, (min(draws, default=0), max(draws, default=0))
        )

    def test_pairs(
        self,
        pairs: Sequence[Pair],
        *,
        level: float = 0.95,
        adjust: str = "holm",
        seed: int = 0,
        known: Mapping[Pair, tuple[float, int]] | None = None,
        **how: Any,
    ) -> list[SampledPvalue]:
        """Sample two-sided p-values until the adjusted ones are clear of the level."""
        shared, few = self.shared()
        alone = cache(lambda test: self.exchange(*pairs[test]))
        observed, sides = shared.observed(pairs), np.array(pairs, dtype=np.intp).reshape(-1, 2)

        def draw(own: np.random.Generator, number: int, tests: NDArray[np.int64]) -> Any:
            if len(tests) <= few:
                # one seed per pair: its draws do not depend on which other pairs are still open
                seeds = own.integers(2**63, size=len(pairs))
                return [alone(t).extreme(np.random.default_rng(seeds[t]), number) for t in tests]
            drawn = shared.draw(own, number)
            return sum(shared.count_extreme(part, sides[tests], observed[tests]) for part in drawn)

        place = {pair: t for t, pair in enumerate(pairs)}
        found = {place[pair]: own for pair, own in (known or {}).items() if pair in place}
        how |= {"levels": (1 - level,), "adjust": adjust, "plain": False, "rng": seed}
        return sequential_pvalues(draw, len(pairs), known=found, **how)


# --- Exact tests of all pairs of systems

_PAIRS_PER_TASK = 64  # tested by a process in one go
_FEWEST_PAIRS_FOR_PROCESSES = 400  # fewer are not worth starting other processes


def pair_tests(
    kind: NDArray[np.intp],
    exact: Callable[[Sequence[Pair]], list[float | None]],
    draw: Callable[[int, int], Callable[[np.random.Generator, int], int]],
    *,
    level: float,
    adjust: str,
    seed: int,
    n_jobs: int | None,
    report: Callable[[int, int], None] | None,
    tested: KnownTests | None,
) -> PairTests:
    """Test every pair of systems exactly, or by sampling where that does not fit into memory."""
    # `exact` returns p-values, None if an exact test does not fit into memory; then exchanges are
    # drawn by `draw` until the adjusted p-value is clear of the level. Only the first system of
    # each kind is tested, but the adjustment is for all pairs, including equal systems.
    tested = {} if tested is None else tested
    first = np.unique(kind, return_index=True)[1]
    distinct = list(combinations(first.tolist(), 2))
    pairs = [pair for pair in distinct if pair not in tested]
    chunks = [pairs[at : at + _PAIRS_PER_TASK] for at in range(0, len(pairs), _PAIRS_PER_TASK)]
    progress, done = report or (lambda done, total: None), 0
    progress(0, len(pairs))
    jobs = n_jobs if len(pairs) >= _FEWEST_PAIRS_FOR_PROCESSES else 1
    for chunk, answers in in_processes(exact, chunks, jobs):
        found = zip(chunk, answers, strict=True)
        tested.update((pair, (pvalue, 0)) for pair, pvalue in found if pvalue is not None)
        done += len(chunk)
        progress(done, len(pairs))
    drawings = {pair: draw(*pair) for pair in distinct if tested.get(pair, (0, 1))[1]}
    unclear, places = 0, first[kind]
    if drawings:
        family = [(min(pair), max(pair)) for pair in combinations(places.tolist(), 2)]
        known = {t: tested[pair] for t, pair in enumerate(family) if pair in tested}
        known |= {t: (1.0, 0) for t, (a, b) in enumerate(family) if a == b}

        def draw_open(own: np.random.Generator, number: int, tests: NDArray[np.int64]) -> list[int]:
            # seeds for all pairs, so that a pair's draws do not depend on which others are open
            seeds = dict(zip(drawings, own.integers(2**63, size=len(drawings)), strict=True))
            wanted = {family[t] for t in tests}
            counts = {p: drawings[p](np.random.default_rng(seeds[p]), number) for p in wanted}
            return [counts[family[t]] for t in tests]

        how: Any = {"levels": (1 - level,), "adjust": adjust, "plain": False, "rng": seed}
        results = sequential_pvalues(draw_open, len(family), known=known, n_jobs=n_jobs, **how)
        sampled = {p: own for p, own in zip(family, results, strict=True) if p in drawings}
        tested.update((pair, (own.pvalue, own.draws)) for pair, own in sampled.items())
        unclear = sum(not own.clear for own in sampled.values())
    pvalues = np.ones((len(kind), len(kind)))
    for i, j in distinct:
        pvalues[i, j] = pvalues[j, i] = tested[i, j][0]
    number = sum(tested[pair][1] > 0 for pair in distinct)
    return PairTests(pvalues[np.ix_(places, places)], number, unclear)
