"""Define what every kind of score provides; comparisons, ranks, plans and runs use nothing else.

A `Score` holds one metric of several systems on the same units, one row per system: pairs are
tested together, and their covariances need the same units. Kinds of scores:

    pooled.PooledScore             counts pooled over labels, exact exchange tests
    macro_comparison.MacroScore    means over labels
    classes.ClassScore             scores of a whole confusion table
    means.MeanScore                means of graded scores

A new kind implements the abstract methods below, and works with several runs, groups, ranks, plans
and gates at once.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from probative.inference.differences import UnitTest, student_pvalue
from probative.inference.planning import plan_from_pilot
from probative.inference.sampled import (
    levels_at,
    limits_of_pairs,
    sample_pairs,
    sampled_pair_tests,
    sampled_tests,
)
from probative.inference.units import effective_units_of_pairs, jackknife_covariance
from probative.metrics import label_metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from probative._validation import Array, Mask
    from probative.inference.planning import Pilot
    from probative.inference.pooled import KnownTests
    from probative.inference.runs import Runs
    from probative.inference.sampled import KnownLimits, SampledExchange, SharedExchanges
    from probative.results import Difference, Interval, Plan, RandomizationTest
    from probative.results.base import DifferencePosterior

    Pair = tuple[int, int]

_NO_VARIANCE = 1e-20  # a smaller variance of a difference is a rounding error of 0


class Score(ABC):
    """One metric of several systems on the units of a test set.

    Attributes
    ----------
    metric
        The name of the score in results.
    most
        The largest possible difference of two systems.
    approximate
        What the score is, if its tests are sampled and its intervals approximate; else None.
    """

    metric: str
    most: float = 1.0
    approximate: ClassVar[str | None] = None

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

    @property
    @abstractmethod
    def observed_units(self) -> int:
        """Return the number of units, with those in which nothing counts."""

    @abstractmethod
    def interval(self, i: int, level: float) -> Interval:
        """Return the interval of system i."""

    @abstractmethod
    def difference(self, i: int, j: int, level: float) -> Difference:
        """Return the difference of system j minus system i, with its interval."""

    @abstractmethod
    def posterior(self, i: int, j: int) -> DifferencePosterior:
        """Return the posterior of the difference of system j minus system i."""

    @abstractmethod
    def pilot(self, i: int, j: int) -> Pilot:
        """Return how much one unit adds to the difference, to plan with."""

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

    @abstractmethod
    def runs(self, places: Sequence[int]) -> Runs:
        """Return the runs of one system, which are the systems at these places."""

    @abstractmethod
    def pooled(self, groups: Sequence[Sequence[int]]) -> Score:
        """Return the score of systems whose runs are the systems at these places, added up."""

    @abstractmethod
    def test_all(
        self,
        *,
        level: float,
        adjust: str,
        seed: int,
        n_jobs: int | None,
        report: Callable[[int, int], None] | None,
        tested: KnownTests | None,
    ) -> dict[str, Any]:
        """Test all pairs, and return pvalues, sampled, unclear and draws as fields of `Evidence`.

        `tested` holds known results by pair, and new ones are added to it.
        """

    @abstractmethod
    def simultaneous(
        self, known: NDArray[np.intp], limited: KnownLimits | None, n_jobs: int | None
    ) -> Callable[[float], tuple[Array, Array]]:
        """Return a function from a normal quantile to the intervals of all differences.

        Differences are row minus column, of the `known` systems.
        """

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

    def observed(self, i: int, j: int) -> float:
        """Return the observed difference of system j minus system i."""
        return float(self.estimates[j] - self.estimates[i])

    def note(self, test: RandomizationTest) -> str | None:
        """Return how a pair was tested, if that must be said."""
        if self.approximate is None:
            return test.note
        return (
            f"{self.approximate}: the test is sampled ({test.note}), interval and posterior are "
            f"approximations"
        )


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
        self,
        pairs: Sequence[Pair],
        *,
        level: float,
        rng: np.random.Generator,
        null: bool = False,
        n_jobs: int | None = 1,
    ) -> list[RandomizationTest]:
        """Test pairs; how many exchanges one needs depends on the others."""
        exchanges = [self.exchange(i, j, keep=null) for i, j in pairs]
        return sampled_tests(
            exchanges, self.metric, by=self.by, levels=levels_at(level), rng=rng, n_jobs=n_jobs
        )

    def test_all(
        self,
        *,
        tested: KnownTests | None,
        **how: Any,
    ) -> dict[str, Any]:
        """Test all pairs from the same exchanges, one by one where few are open."""
        shared, few = self.shared()

        def find(pairs: Sequence[Pair], **known: Any) -> Any:
            @cache
            def alone(test: int) -> SampledExchange:
                return self.exchange(*pairs[test])

            return sampled_pair_tests(shared, alone, pairs, few=few, **known, **how)

        return sample_pairs(find, self.kinds, tested)

    def simultaneous(
        self, known: NDArray[np.intp], limited: KnownLimits | None, n_jobs: int | None
    ) -> Callable[[float], tuple[Array, Array]]:
        """Return the intervals of `difference` at the joint level."""
        return limits_of_pairs(ends_of_pair, self.only, known.tolist(), limited, n_jobs=n_jobs)

    @abstractmethod
    def only(self, i: int, j: int) -> Score:
        """Return the score of two systems alone."""


def ends_of_pair(level: float, pair: Score) -> tuple[float, float]:
    """Return the interval of the difference of a pair of systems."""
    gap = pair.difference(0, 1, level)
    return float(gap.low), float(gap.high)
