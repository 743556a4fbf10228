"""Judge means of graded scores: a judge's 1 to 5, ROUGE, partial credit, any number per item.

The mean over items is a ratio F = sum of x / sum of y over the units, with x the summed scores of a
unit and y its number of items. Leaving out one unit at a time gives its variance.

* Interval: Wilson's, with the effective size m(1 - m)/v of the mean m on a scale from 0 to 1 and
  its variance v, and Student's quantile. Scores without a range have Student's interval.
* Difference: both intervals are combined by MOVER with the correlation of the two systems' moves.
* Test: units are exchanged. All exchanges of few units are counted. If the differences of all units
  are multiples of a step, the sums lie on a lattice and the p-value is exact, too. Otherwise
  differences are rounded to a fine grid, and the largest possible effect of the rounding gives a
  bracket of the p-value. Where that is too wide, exchanges are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from probative._validation import Array, open_probability
from probative.errors import InputError
from probative.inference.differences import UnitTest, combine_arms, student_pvalue
from probative.inference.exchange import UnitExchange, exact_pvalue, null_distribution
from probative.inference.intervals import wilson
from probative.inference.planning import Pilot
from probative.inference.posterior.student import StudentPosterior
from probative.inference.runs import MOST_RUNS_COUNTED, Runs, permutation_pvalue
from probative.inference.sampled import SampledExchange, kinds_of, levels_at, sampled_tests
from probative.inference.score_differences import ScoreDifference
from probative.inference.scores import PairTests, RatioScore, pair_tests
from probative.inference.units import (
    ONE_UNIT,
    effective_units,
    influence,
    jackknife_covariance,
    student_quantile,
)
from probative.inference.walks import TooLargeError, walk_of_credits
from probative.results import (
    Difference,
    Interval,
    JudgeAgreement,
    NullDistribution,
    RandomizationTest,
)

if TYPE_CHECKING:
    Range = tuple[float, float]

_UNDEFINED = "undefined: no item has a score"
_NO_VARIANCE = 1e-20  # a smaller variance, on a scale from 0 to 1, is a rounding error of 0


# --- The lattice of scores

_MOST_CELLS = 10**6  # of a lattice on which a test is exact
_LONGEST_DECIMALS = 6
_DENOMINATORS = (1, 2, 3, 4, 6, 7, 8, 9, 11, 12)  # of thirds, halves …; times powers of ten
_ROUNDING = 1e-12  # relative error of a sum of decimals
_FIRST = 64  # values that show most scales without a step
_MOST_LEVELS = 20  # of a scale that has steps: ratings, halves, tenths


def step_of(values: Array) -> float | None:
    """Return the largest step of which all values are multiples, or None if there is none."""
    values = values[values != 0]
    if not values.size:
        return None
    if len(values) > 2 * _FIRST and step_of(values[:_FIRST]) is None:
        return None
    for digits in range(_LONGEST_DECIMALS + 1):
        for denominator in _DENOMINATORS:
            scale = denominator * 10**digits
            scaled = values * scale
            whole = np.round(scaled)
            slack = _ROUNDING * np.maximum(1.0, np.abs(scaled)) * 100
            if np.all(np.abs(scaled - whole) <= slack) and np.abs(whole).max() < 2**53:
                return float(np.gcd.reduce(whole.astype(np.int64)) / scale)
    return None


# --- The exchange test of differences by unit: a walk on a line

_LEAST_CELLS, _MOST_GRID_CELLS = 2**12, 2**22  # of a grid, where differences have no common step
_REFINED = 4  # times as many cells, where a bracket is too wide
_REACH = 18.0  # standard deviations that the cells of the grid cover
_CLOSE = 0.01  # relative width of a bracket of the p-value that is good enough
_LEFT_TO_CHANCE = 1e-4  # share of the p-value by which a bracket may err, which it includes
_TINY = 1e-4  # p-values up to this need no more digits
_MEMORY = 2**29  # bytes that one test may use


@dataclass(frozen=True)
class _LinePvalue:
    """The two-sided p-value of an exchange of units, with a bracket that holds it."""

    # differences of the exchange's walk times the scale are differences of sums

    pvalue: float
    low: float
    high: float
    method: str  # "exact" on a lattice, "bracketed" on a grid
    exchange: UnitExchange | None = None
    scale: float = 1.0

    def null(self, total: float, observed: float) -> NullDistribution:
        """Return the null distribution of the difference of means, over `total` items."""
        if self.exchange is None:
            return NullDistribution(np.array([-1.0, 1.0]), np.array([1.0]))
        unit = self.scale / total
        found = null_distribution(self.exchange, Fraction(round(observed / unit)))
        return NullDistribution(found.edges * unit, found.probabilities)


def exchange_pvalue(d: Array) -> _LinePvalue | None:
    """Compute P(|sum of ±d| >= |sum of d|) with fair signs; None if no bracket is narrow enough."""
    d = d[d != 0]
    total = float(d.sum())
    if not d.size or abs(total) <= _ROUNDING * np.abs(d).sum():
        return _LinePvalue(1.0, 1.0, 1.0, "exact")
    step, cells, found = step_of(d), _cells_for(d), None
    reach, few = _REACH * float(np.sqrt(d @ d)), len(d) <= MOST_RUNS_COUNTED
    if few or (step is not None and np.abs(d).sum() / step <= _MOST_CELLS):
        width = step or reach / cells
        whole = np.round(d / width).astype(np.int64)
        exchange = _line(whole)
        try:
            if few:
                pvalue, _, _ = permutation_pvalue(np.zeros(len(d)), d, paired_runs=True)
            else:
                pvalue = exact_pvalue(exchange, Fraction(abs(int(whole.sum()))), "two-sided")
        except TooLargeError:
            return None
        return _LinePvalue(pvalue, pvalue, pvalue, "exact", exchange, width)
    while cells <= _MOST_GRID_CELLS:
        found = _bracket(d, reach / cells)
        if found is None or found.high - found.low <= _CLOSE * found.pvalue:
            return found
        cells *= _REFINED
    # however wide its bracket, so small a p-value is reported by its upper end
    return replace(found, pvalue=found.high) if found and found.high <= _TINY else None


def _cells_for(d: Array) -> int:
    """Return a number of cells that should make the bracket of the p-value narrow enough."""
    # Errors of rounding are uniform on a cell, so their squares add up to n/12. A normal p-value at
    # z standard deviations changes by less than a share z + 1 of itself per standard deviation.
    z = abs(float(d.sum())) / float(np.sqrt(d @ d))
    slack = math.sqrt((math.log(2 / _LEFT_TO_CHANCE) + z * z / 2) * len(d) / 6)
    needed = 2 * min(slack, len(d) / 4) * (z + 1) * _REACH / _CLOSE
    return int(min(max(2 ** math.ceil(math.log2(needed)), _LEAST_CELLS), _MOST_GRID_CELLS))


def _bracket(d: Array, step: float) -> _LinePvalue | None:
    """Return the p-value on a grid with this step, and the bracket that its rounding leaves."""
    # The errors e of the rounded differences add up to at most the sum of |e|; and, with signs by
    # chance, to more than sqrt(2·log(2/δ)·sum of e²) with probability δ at most (Hoeffding).
    scaled = d / step
    whole = np.round(scaled).astype(np.int64)
    errors = np.abs(scaled - whole)
    exchange, wanted = _line(whole), abs(float(scaled.sum()))
    chance = _LEFT_TO_CHANCE * math.erfc(wanted / math.sqrt(2 * float(scaled @ scaled)))
    try:
        bound = math.sqrt(2 * math.log(2 / max(chance, 1e-300)) * float(errors @ errors))
        most = float(errors.sum())
        slack, chance = (most, 0.0) if most <= bound else (bound, chance)
        tail = exchange.tails(Fraction(wanted))
        low, high = (2 * tail(Fraction(max(0.0, wanted + side * slack))) for side in (1, -1))
    except TooLargeError:
        return None
    low, high = max(0.0, low - chance), min(1.0, high + chance)
    return _LinePvalue((low + high) / 2, low, high, "bracketed", exchange, step)


def _line(whole: NDArray[np.int64]) -> UnitExchange:
    """Return the exchange of units with these whole differences, as that of one count per unit."""
    zero = np.zeros_like(whole)
    a = np.stack([np.maximum(-whole, 0), zero], axis=1)
    b = np.stack([np.maximum(whole, 0), zero], axis=1)
    total = int(np.abs(whole).sum())
    gap = ScoreDifference((1, 0, 0), (0, 0, 1), (total, 0))
    walk = walk_of_credits(a, b, np.ones(len(whole), dtype=np.int64))
    return UnitExchange(walk, gap, _MEMORY)


# --- The score


@dataclass(frozen=True, eq=False)
class MeanScore(RatioScore):
    """The mean score of several systems, with exact or bracketed exchange tests."""

    x: Array  # the summed scores of every unit: one row per system
    y: Array  # its number of items
    range: Range | None = (0.0, 1.0)  # of possible scores; None if there is none
    metric: str = "mean"
    by: str = "unit"
    squares: Array | None = None  # summed, for design effects; None if units are items
    n_items: float | None = None  # if not the sum of y: runs repeat items, means merge them

    def __post_init__(self) -> None:
        if self.x.shape != self.y.shape or self.x.ndim != 2:
            raise InputError(
                f"x: shape {self.x.shape}, and y {self.y.shape}; expected a row per system, and a "
                f"column per unit, in both"
            )

    @property
    def most(self) -> float:
        """Return the largest possible difference of two systems."""
        return math.inf if self.range is None else self.range[1] - self.range[0]

    @cached_property
    def parts(self) -> tuple[Array, Array, NDArray[np.int64]]:
        """Return x and y of the units in which any system has an item, each a kind of its own."""
        there = np.any(self.y > 0, axis=0)
        return self.x[:, there], self.y[:, there], np.ones(there.sum(), dtype=np.int64)

    @property
    def observed_units(self) -> int:
        """Return the number of units, with those without items."""
        return int(self.x.shape[1])

    @property
    def kinds(self) -> NDArray[np.intp]:
        """Return the kind of every system."""
        return kinds_of(x.tobytes() + y.tobytes() for x, y in zip(self.x, self.y, strict=True))

    # --- Intervals

    def _covariance(self, *systems: int) -> Array:
        """Return the jackknife covariance of some systems' means."""
        there = self.there(systems)
        return jackknife_covariance(self.moves[list(systems)][:, there], self.number[there])

    def _limits(self, mean: float, variance: float, units: float, t: float) -> Range:
        """Return the interval of a mean by Student's quantile: Wilson's, if there is a range."""
        # if all scores are equal, there are as many effective scores as units
        if self.range is None:
            reach = t * math.sqrt(variance)
            return mean - reach, mean + reach
        low, width = self.range[0], self.most
        m, v = min(1.0, max(0.0, (mean - low) / width)), variance / width**2
        n = m * (1 - m) / v if v > _NO_VARIANCE else units
        ends = wilson(m * n, n, t)
        return low + width * float(ends[0]), low + width * float(ends[1])

    @property
    def _everything(self) -> Range:
        return (-math.inf, math.inf) if self.range is None else self.range

    def interval(self, i: int, level: float) -> Interval:
        """Return the interval of system i."""
        level = open_probability("level", level)
        mean, sizes = float(self.estimates[i]), self.sizes[i]
        method = "student" if self.range is None else "wilson"
        note, effect = None, None
        ends = self._everything
        if math.isnan(mean):
            note = _UNDEFINED
        elif not np.count_nonzero(sizes) > 1:
            note = ONE_UNIT
        else:
            variance = float(self._covariance(i)[0, 0])
            freedom = effective_units(sizes) - 1
            t = float(student_quantile(level, freedom))
            ends = self._limits(mean, variance, float(np.count_nonzero(sizes)), t)
            if self.squares is not None:
                items = float(self.y[i].sum())
                independent = (float(self.squares[i].sum()) / items - mean**2) / items
                effect = variance / independent if independent > _NO_VARIANCE else math.nan
        return Interval(self.metric, method, level, mean, *ends, note, effect)

    @cached_property
    def step(self) -> float:
        """Return a step of the scale: that of the scores, or a quarter of the range."""
        # without a range, the standard deviation of a unit's mean
        x, y, _ = self.parts
        if self.range is None:
            with np.errstate(invalid="ignore"):
                return float(np.nanstd(x / np.where(y > 0, y, np.nan)))
        found = step_of((x - self.range[0] * y).ravel())
        return found if found and self.most / found <= _MOST_LEVELS else self.most / 4

    def _spread(self, i: int, j: int) -> tuple[float, float, float, float]:
        """Return the variances of two means, their covariance, and the floor of the difference."""
        # Two systems that hardly differ here may differ elsewhere: one more unit in which an item
        # differs by a step of the scale is added to the variance of the difference.
        covariance = self._covariance(i, j)
        items = float(self.y[[i, j]].sum()) / 2 if self.n_items is None else self.n_items
        floor = (self.step / items) ** 2
        return float(covariance[0, 0]), float(covariance[1, 1]), float(covariance[0, 1]), floor

    def difference(self, i: int, j: int, level: float) -> Difference:
        """Return the difference of system j minus system i, with its MOVER interval."""
        level = open_probability("level", level)
        a, b = float(self.estimates[i]), float(self.estimates[j])
        result = partial(Difference, self.metric, "mover", level, b - a)
        trouble = _UNDEFINED if math.isnan(b - a) else ONE_UNIT if self._alone(i, j) else None
        if trouble:
            return result(-self.most, self.most, a, b, 0.0, None, trouble)
        v_a, v_b, covariance, floor = self._spread(i, j)
        t = float(student_quantile(level, self.freedom(i, j)))
        units = float(np.count_nonzero(self.there((i, j))))
        arms = []
        for mean, variance in ((a, v_a), (b, v_b)):
            low, high = self._limits(mean, variance, units, t)
            arms.append((max(0.0, mean - low), max(0.0, high - mean)))
        product = math.sqrt(v_a * v_b)
        r = max(-1.0, min(1.0, (covariance - floor / 2) / product)) if product > 0 else 0.0
        low, high = combine_arms(b - a, arms[0], arms[1], r)
        return result(max(-self.most, low), min(self.most, high), a, b, r)

    def _alone(self, i: int, j: int) -> bool:
        """Return True if one of two systems has items in one unit only."""
        return bool(np.any(np.count_nonzero(self.sizes[[i, j]], axis=1) < 2))

    def posterior(self, i: int, j: int) -> StudentPosterior:
        """Return Student's distribution about the difference of system j minus system i."""
        gap = self.observed(i, j)
        if math.isnan(gap) or self._alone(i, j):
            return StudentPosterior(gap, 0.0, math.inf, most=self.most)
        v_a, v_b, covariance, floor = self._spread(i, j)
        variance = max(0.0, v_a + v_b - 2 * covariance) + floor
        return StudentPosterior(gap, math.sqrt(variance), self.freedom(i, j), most=self.most)

    def pilot(self, i: int, j: int) -> Pilot:
        """Return each unit's part in the difference, by the derivatives at the mean of both."""
        x, y, number = self.parts
        return Pilot.of_ratios((x[i], y[i]), (x[j], y[j]), number, self.observed_units)

    # --- Several runs

    def runs(self, places: Sequence[int]) -> Runs:
        """Return the score of each run, and each unit's move of it."""
        return Runs.of(self.x[list(places)], self.y[list(places)])

    def pooled(self, groups: Sequence[Sequence[int]]) -> Self:
        """Return the score of systems whose runs are the systems at these places, added up."""
        # smaller groups are repeated, so that all count as much
        most = math.lcm(*map(len, groups))

        def added(part: Array) -> Array:
            return np.array([part[list(own)].sum(axis=0) * (most // len(own)) for own in groups])

        # the repeats of an item are not independent items, so there is no design effect
        items = float(self.y.mean(axis=0).sum()) if self.n_items is None else self.n_items
        return replace(self._changed(added), squares=None, n_items=items)

    def only(self, i: int, j: int) -> Self:
        """Return the score of two systems alone."""
        return self._changed(lambda part: part[[i, j]])

    def _changed(self, change: Callable[[Array], Array]) -> Self:
        """Return the score with all tables of one row per system changed alike."""
        names = ("x", "y", "squares", "human", "judged_sums", "labelled")
        tables: Any = {n: change(own) for n in names if (own := getattr(self, n, None)) is not None}
        return replace(self, **tables)

    # --- Tests

    def line(self, i: int, j: int) -> _LinePvalue | None:
        """Return the p-value of a pair without sampling; None if that is impossible."""
        if not np.array_equal(self.y[i], self.y[j]):
            return None
        return exchange_pvalue(self.x[j] - self.x[i])

    def exchange(self, i: int, j: int, *, keep: bool = False) -> SampledExchange:
        """Return the exchanges of one pair, to be sampled."""
        x, y, _ = self.parts
        of_a, of_b = (np.array([x[k].sum(), y[k].sum()]) for k in (i, j))
        moves = np.stack([x[i] - x[j], y[i] - y[j]])
        there = moves.any(axis=0)
        moves, number = np.unique(moves[:, there], axis=1, return_counts=True)
        kinds = sparse.csr_array(moves), number.astype(np.int64)
        return SampledExchange(of_a, of_b, *kinds, _ratio, self.observed_units, keep=keep)

    def tests(
        self, pairs: Sequence[tuple[int, int]], *, level: float, null: bool = False, **how: Any
    ) -> Iterable[RandomizationTest]:
        """Test pairs exactly or by a bracket; those for which that is impossible are sampled."""
        lines = [self.line(i, j) for i, j in pairs]
        left = [pair for pair, line in zip(pairs, lines, strict=True) if line is None]
        exchanges = [self.exchange(i, j, keep=null) for i, j in left]
        how |= {"by": self.by, "levels": levels_at(level)}
        drawn = iter(sampled_tests(exchanges, self.metric, **how) if left else ())
        return [
            next(drawn) if line is None else self._tested(i, j, line, null=null)
            for (i, j), line in zip(pairs, lines, strict=True)
        ]

    def _tested(self, i: int, j: int, line: _LinePvalue, *, null: bool) -> RandomizationTest:
        """Return the result of a test on a lattice or a grid."""
        observed = self.observed(i, j)
        head = self.metric, "two-sided", self.by, line.method, observed, line.pvalue
        drawn = line.null(float(self.y[i].sum()), observed) if null else None
        test = RandomizationTest(*head, self.observed_units, null=drawn)
        if line.method == "exact":
            return test
        note = _BRACKETED.format(line.low, line.high)
        return replace(test, pvalue_low=line.low, pvalue_high=line.high, note=note)

    def test_all(self, **how: Any) -> PairTests:
        """Test all pairs, in several processes where there are many."""
        return pair_tests(
            self.kinds, self._pvalues, lambda i, j: self.exchange(i, j).extreme, **how
        )

    def _pvalues(self, pairs: Sequence[tuple[int, int]]) -> list[float | None]:
        """Return the p-values of some pairs; None where they must be sampled."""
        lines = (self.line(i, j) for i, j in pairs)
        return [None if line is None else line.pvalue for line in lines]


_BRACKETED = "p between {:.4g} and {:.4g}, on a grid: the differences have no common step"


def _ratio(sums: Array) -> Array:
    """Return means from the sums of scores and items, on the last axis but one."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nan_to_num(sums[..., 0, :] / sums[..., 1, :]))


# --- A judge that errs, corrected by human scores of some items
#
# A judge (a language model, a cheap metric) scores all items, people score some of them, drawn at
# random. The corrected mean is H - s·(F_L - F): the mean H of the human scores, the judge's means
# F_L on the same items and F on all, and the slope s that makes its variance smallest. A constant
# bias of the judge cancels; a useless judge has a slope near 0 and changes nothing
# (prediction-powered inference with a tuned slope, the regression estimator of surveys).
# Differences of two systems are corrected in the same way, item by item, so that a judge biased
# towards one of them is found out.
#
# A. N. Angelopoulos, J. C. Duchi & T. Zrnic, "PPI++: Efficient prediction-powered inference", 2023.

_FEW_LABELS = "few human labels: {} units have any"
_UNITS_PER_SLOPE = 10  # with human labels; with fewer a slope is hardly known, and none is used
_LEAST_LEFT = 0.1  # of one, less the leverage of a unit
_CORRECTED = "prediction-powered"


@dataclass(frozen=True, eq=False)
class Corrected:
    """Corrected means: their values, what every unit adds to them, and degrees of freedom."""

    estimates: Array
    # one row per system; a variance, of a mean or a difference, is the sum of their squares
    residuals: Array
    freedom: float


def correct(judge: Array, items: Array, human: Array, judged: Array, labelled: Array) -> Corrected:
    """Return the means of a judge's scores, corrected by human scores."""
    # `human` and `judged` are sums over the labelled items of every unit. Slopes are fitted on the
    # judge's scores of all systems, so that differences agree with means.
    systems, total = len(judge), float(labelled.sum())
    of_human, on_same = (
        influence(own, labelled, own.sum(axis=1, keepdims=True), total) for own in (human, judged)
    )
    off = on_same - influence(judge, items, judge.sum(axis=1, keepdims=True), items.sum())
    units = float(np.count_nonzero(labelled))
    slopes = np.zeros((systems, systems))
    leverage = np.zeros(judge.shape[1])
    used = 0
    if units >= _UNITS_PER_SLOPE * systems:
        inverse = np.linalg.pinv(off @ off.T)
        slopes = of_human @ off.T @ inverse
        leverage = np.einsum("ku,kl,lu->u", off, inverse, off)
        used = systems
    # a unit that decides the slopes has a small residual, which says little
    residuals = (of_human - slopes @ off) / np.maximum(1 - leverage, _LEAST_LEFT)
    residuals *= math.sqrt(units / max(units - 1, 1.0))
    shift = judged.sum(axis=1) / total - judge.sum(axis=1) / items.sum()
    estimates = human.sum(axis=1) / total - slopes @ shift
    return Corrected(estimates, residuals, effective_units(labelled) - 1 - used)


@dataclass(frozen=True, eq=False)
class JudgedScore(MeanScore):
    """Means of a judge's scores, corrected by human scores of some items."""

    human: Any = None  # summed over the labelled items of every unit: one row per system
    judged_sums: Any = None  # the judge's scores of the same items
    labelled: Any = None  # their number

    approximate = "corrected by human labels"

    @cached_property
    def corrected(self) -> Corrected:
        """Return the corrected means of all systems."""
        return correct(self.x, self.y[0], self.human, self.judged_sums, self.labelled[0])

    @property
    def estimates(self) -> Array:
        """Return the corrected mean of every system."""
        return self.corrected.estimates

    @property
    def uncorrected(self) -> MeanScore:
        """Return the score of the judge alone."""
        return MeanScore(self.x, self.y, self.range, self.metric, self.by, self.squares)

    def interval(self, i: int, level: float) -> Interval:
        """Return the interval of the corrected mean of system i."""
        mean, moves = float(self.estimates[i]), self.corrected.residuals[i]
        units = float(np.count_nonzero(self.labelled[i]))
        note = _FEW_LABELS.format(int(units)) if units < _UNITS_PER_SLOPE else None
        ends, freedom = self._everything, self.corrected.freedom
        if freedom > 0:
            t = float(student_quantile(level, freedom))
            ends = self._limits(mean, float(moves @ moves), units, t)
        return Interval(self.metric, _CORRECTED, level, mean, *ends, note)

    def freedom(self, i: int, j: int) -> float:  # noqa: ARG002
        """Return the degrees of freedom of a difference: labelled units, less what slopes take."""
        return self.corrected.freedom

    def _variance(self, i: int, j: int) -> float:
        """Return the variance of a corrected difference."""
        gap = self.corrected.residuals[j] - self.corrected.residuals[i]
        return float(gap @ gap)

    def _error(self, i: int, j: int) -> float:
        """Return the standard error of a corrected difference, with the floor."""
        floor = self.step / max(1.0, float(self.labelled[i].sum()))
        return math.sqrt(self._variance(i, j) + floor**2)

    def difference(self, i: int, j: int, level: float) -> Difference:
        """Return the corrected difference of system j minus system i, with Student's interval."""
        freedom, reach, gap = self.corrected.freedom, math.inf, self.observed(i, j)
        if freedom > 0:
            reach = float(student_quantile(level, freedom)) * self._error(i, j)
        ends = max(-self.most, gap - reach), min(self.most, gap + reach)
        a, b = (float(self.estimates[k]) for k in (i, j))
        return Difference(self.metric, _CORRECTED, level, gap, *ends, a, b, 0.0)

    def posterior(self, i: int, j: int) -> StudentPosterior:
        """Return Student's distribution about the corrected difference."""
        freedom = max(self.corrected.freedom, 1e-3)
        gap, error = self.observed(i, j), self._error(i, j)
        return StudentPosterior(gap, error, freedom, most=self.most)

    def unit_test(self, i: int, j: int) -> UnitTest:
        """Test the corrected difference by Student's distribution over units."""
        error, freedom = self._error(i, j), self.corrected.freedom
        pvalue = float(student_pvalue(self.observed(i, j), error, freedom))
        return UnitTest(pvalue, math.nan, error, freedom)

    def pilot(self, i: int, j: int) -> Pilot:
        """Return how much one unit adds to the corrected difference, with as many labels in it."""
        spread = self._variance(i, j) * self.observed_units
        return Pilot(self.observed_units, (spread, 0.0, 3 * spread**2), 1.0, None)

    def tests(self, pairs: Sequence[tuple[int, int]], **how: Any) -> Iterable[RandomizationTest]:  # noqa: ARG002
        """Test pairs by Student's distribution: corrected scores cannot be exchanged."""
        found = []
        for i, j in pairs:
            gap, pvalue = self.observed(i, j), self.unit_test(i, j).pvalue
            head = self.metric, "two-sided", self.by, "student", gap, pvalue
            units, note = int(np.count_nonzero(self.labelled[i])), self._beside(i, j, gap, pvalue)
            found.append(RandomizationTest(*head, units, note=note))
        return found

    def _beside(self, i: int, j: int, gap: float, pvalue: float) -> str:
        """Say what the judge alone would have shown, and whether that differs."""
        alone = self.uncorrected
        own, test = alone.difference(i, j, 0.95), alone.unit_test(i, j)
        said = f"the judge alone: {own.estimate:+.4g} [{own.low:+.4g}, {own.high:+.4g}]"
        said += f", p = {test.pvalue:.4g}"
        decided = [p <= 0.05 for p in (pvalue, test.pvalue)]
        if decided[0] != decided[1] or (all(decided) and gap * own.estimate < 0):
            said += "; it would mislead"
        return said

    def note(self, test: RandomizationTest) -> str | None:
        """Return what the judge alone would have shown."""
        return f"corrected by {int(self.labelled[0].sum()):,} human labels; {test.note}"

    def test_all(self, **how: Any) -> PairTests:
        """Test all pairs by Student's distribution."""
        pvalues, tested = np.ones((len(self.x), len(self.x))), how.get("tested")
        for i, j in combinations(range(len(self.x)), 2):
            pvalues[i, j] = pvalues[j, i] = self.unit_test(i, j).pvalue
            if tested is not None:
                tested[i, j] = pvalues[i, j], 0
        return PairTests(pvalues, 0)

    def runs(self, places: Sequence[int]) -> Runs:
        """Return the corrected mean of each run, and what every unit adds to it."""
        moves = self.corrected.residuals[list(places)]
        scores, size = self.corrected.estimates[list(places)], self.labelled[list(places)]
        return Runs(scores, moves, -moves.mean(axis=0), size.mean(axis=0))


# --- Agreement of a judge with people


def judge_agreement(
    system: str, judge: Array, human: Array, unit: Array | None, level: float
) -> JudgeAgreement:
    """Compute bias, correlation and kappa of a judge from the items that people scored."""
    # Kappa has quadratic weights; of yes and no it is Cohen's. Intervals leave out one unit at a
    # time, correlation and kappa on Fisher's scale.
    units = np.arange(len(judge)) if unit is None else np.unique(unit, return_inverse=True)[1]
    n = int(units.max(initial=-1)) + 1
    products = (np.ones(len(judge)), judge, human, judge**2, human**2, judge * human)
    sums = np.array([np.bincount(units, own, minlength=n) for own in products])
    total = sums.sum(axis=1, keepdims=True)
    freedom = effective_units(sums[0]) - 1
    t = float(student_quantile(level, freedom)) if freedom > 0 else math.inf

    def values(s: Array) -> Array:
        """Return bias, correlation and kappa, the latter two on Fisher's scale."""
        f, h = s[1] / s[0], s[2] / s[0]
        v, w, c = s[3] / s[0] - f**2, s[4] / s[0] - h**2, s[5] / s[0] - f * h
        shares = c / np.sqrt(v * w), 2 * c / (v + w + (f - h) ** 2)
        return np.stack([f - h, *np.arctanh(np.clip(shares, -1 + 1e-12, 1 - 1e-12))])

    with np.errstate(invalid="ignore", divide="ignore"):
        estimates, left = values(total)[:, 0], values(total - sums)
        reaches = t * np.sqrt(np.diag(jackknife_covariance(left, np.ones(n))))
    scores = []
    for name, at, reach in zip(("bias", "correlation", "kappa"), estimates, reaches, strict=True):
        ends = np.array([at, at - reach, at + reach])
        back = ends if name == "bias" else np.tanh(ends)
        scores.append(Interval(name, "student", level, *back.tolist()))
    return JudgeAgreement(system, len(judge), tuple(scores))
