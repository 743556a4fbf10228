"""Compare and rank macro averages: difference, exchange test, all pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse, special

from probative._validation import one_of, open_probability, positive, random_generator, whole_number
from probative.counts import PairedCounts
from probative.errors import InputError
from probative.inference.differences import student_pvalue
from probative.inference.macro import (
    METHOD,
    MacroEvidence,
    as_cells,
    degrees_of_freedom,
    macro_evidence,
    moves_of_units,
    normal_tail_of,
    shifts,
)
from probative.inference.posterior.single import plain
from probative.inference.rank import Evidence, pair_errors
from probative.inference.sampled import (
    LEVELS,
    MOST,
    TIE,
    SharedExchanges,
    UnitFlips,
    kinds_of,
    limits_of_pairs,
    sample_pairs,
    sampled_pair_tests,
    sequential_pvalues,
)
from probative.inference.units import jackknife_covariance
from probative.metrics import METRICS, ratio
from probative.results import Difference, NullDistribution, RandomizationTest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from probative._validation import RNG, Array, Mask, Number
    from probative.counts import Counts, LabelCounts
    from probative.inference.macro import MacroPosterior
    from probative.inference.pairs import KnownTests
    from probative.inference.sampled import KnownLimits, SampledPvalue


# -----------------------------------------------------------------------------
# The difference of two macro averages on one test set.
#
# Each system's average has its own posterior (`macro_posterior`). Both were judged on the same
# items, so their errors go together: the two posteriors are joined by a normal copula with the
# correlation of the two estimates. Limits and probabilities come from that one distribution.
# -----------------------------------------------------------------------------

_MACRO_DIFFERENCE_REACH = 7.0  # the normal scores of the grid
_CAUSES, _CHANCES = 71, 281  # how many of them: what both systems share, and what sets them apart
_HALF = 0.5
_MACRO_DIFFERENCE_FEW = 8  # differences that all rows of the grid are searched for at once


def macro_difference(
    a: Counts | LabelCounts,
    b: Counts | LabelCounts,
    metric: str = "f1",
    *,
    level: float = 0.95,
    beta: float = 1.0,
    labels: tuple[Mask, Mask] | None = None,
    known: tuple[MacroEvidence, MacroEvidence] | None = None,
) -> tuple[Difference, MacroDifferencePosterior]:
    """The difference of two macro averages, B minus A, with its interval; and its posterior.

    Parameters
    ----------
    a, b
        The counts of the two systems on the same units and labels: one row per unit and one column
        per label, or `LabelCounts` with the same cells.
    metric, level, beta
        As for `probative.difference`.
    labels
        Which labels count for each system; by default all for both.
    known
        What is known of each average, where that is at hand already.
    """
    level = open_probability("level", level)
    cells_a, cells_b = as_cells(a), as_cells(b)
    _check_same_cells(cells_a, cells_b)
    every = np.ones(cells_a.n_labels, dtype=bool)
    chosen = (every, every) if labels is None else labels
    own = [cells.only(mask) for cells, mask in zip((cells_a, cells_b), chosen, strict=True)]
    first, second = known or [macro_evidence(cells, metric, beta=beta) for cells in own]
    r = _correlation((cells_a, cells_b), chosen, metric, beta)
    posterior = _posterior(first, second, r, degrees_of_freedom(*own))
    estimate = second.estimate - first.estimate
    low, high = posterior.interval(level)
    if not math.isnan(estimate):
        low, high = min(low, estimate), max(high, estimate)
    note = "; ".join(dict.fromkeys(one.note for one in (first, second) if one.note)) or None
    gap = Difference(
        f"macro_{metric}",
        METHOD,
        level,
        estimate,
        low,
        high,
        first.estimate,
        second.estimate,
        r,
        note=note,
    )
    return gap, posterior


def _posterior(
    first: MacroEvidence, second: MacroEvidence, correlation: float, freedom: float
) -> MacroDifferencePosterior:
    a, b = first.posterior, second.posterior
    if a is None or b is None:
        return MacroDifferencePosterior(None, None, correlation, 0.0)
    return MacroDifferencePosterior(a, b, correlation, freedom)


@dataclass(frozen=True, eq=False)
class MacroDifferencePosterior:
    """The posterior of the difference of two averages, B minus A.

    Attributes
    ----------
    a, b
        The posteriors of the two averages; None where there is no evidence.
    correlation
        Of their normal scores.
    degrees_of_freedom
        Of Student's t, which takes the normal distribution's place: P = T(Φ⁻¹(P0)).
    """

    a: MacroPosterior | None
    b: MacroPosterior | None
    correlation: float
    degrees_of_freedom: float

    kind = "hierarchical"

    @property
    def no_evidence(self) -> bool:
        """Return True if there are not two units, and so no probability."""
        return self.a is None or self.b is None or not self.degrees_of_freedom > 0

    def cdf(self, d: ArrayLike) -> Number:
        """The probability of a difference of at most `d`."""
        return self._tail(d, 1.0)

    def sf(self, d: ArrayLike) -> Number:
        """The probability of a difference above `d`."""
        return self._tail(d, -1.0)

    def pdf(self, d: ArrayLike) -> Number:
        """The density at `d`."""
        d = np.asarray(d, np.float64)
        low, high = self.interval(0.68)
        step = max((high - low) / 100, 1e-300)
        return plain(np.maximum(self.cdf(d + step) - self.cdf(d - step), 0.0) / (2 * step))

    def probabilities(self, rope: float = 0.0) -> tuple[float, float, float]:
        """P(A better), P(equivalent) and P(B better) by more than `rope`; NaN without evidence."""
        rope = positive("rope", rope, zero=True)
        a_better, b_better = float(self.cdf(-rope)), float(self.sf(rope))
        rest = 1 - a_better - b_better
        return a_better, (max(rest, 0.0) if rope > 0 or math.isnan(rest) else 0.0), b_better

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The equal-tailed limits between which the difference lies."""
        level = open_probability("level", level)
        if self.no_evidence:
            return -1.0, 1.0
        z = special.ndtri(normal_tail_of(level, self.degrees_of_freedom))
        if z < -_MACRO_DIFFERENCE_REACH:
            return float(self._grid.min()), float(self._grid.max())
        return self._quantile(z), self._quantile(-z)

    def _quantile(self, z: float) -> float:
        """Return the difference whose normal score is z."""
        d = np.array([self._grid.min(), self._grid.max()])
        scores = self._normal_score(d)
        while (width := d[1] - d[0]) > 1e-10:
            # the score is nearly a straight line: look close to where that is z, and in the
            # middle, so that what is left is half at most
            line, near = float(np.interp(z, scores, d)), width * min(0.01, width)
            tried = np.clip([line - near, line + near, d.mean()], *d)
            d, scores = np.append(d, tried), np.append(scores, self._normal_score(tried))
            order = np.argsort(d)
            d, scores = d[order], scores[order]
            place = int(np.clip(np.searchsorted(scores, z), 1, len(d) - 1))
            d, scores = d[place - 1 : place + 1], scores[place - 1 : place + 1]
        return float(d.mean())

    def _tail(self, d: ArrayLike, side: float) -> Any:
        d = np.asarray(d, np.float64)
        if self.no_evidence:
            return plain(np.full(d.shape, np.nan))
        z = side * self._normal_score(np.atleast_1d(d)).reshape(d.shape)
        return plain(special.stdtr(self.degrees_of_freedom, z))

    def _normal_score(self, d: Array) -> Array:
        """Φ⁻¹ of the probability of at most d, from the smaller of the two tails."""
        # the upper tail is the lower one of A minus B, digit by digit
        below, above = _below(self._grid, d), _below(-self._grid[:, ::-1], -d)
        smaller = special.ndtri(np.minimum(below, above))
        return np.asarray(np.where(below <= above, smaller, -smaller))

    @cached_property
    def _grid(self) -> Array:
        """Differences for every common cause (rows) and every chance in favour of B (columns)."""
        if self.a is None or self.b is None:
            return np.zeros((1, 1))
        common = math.sqrt((1 + self.correlation) / 2) * _scores(_CAUSES)[:, None]
        chance = math.sqrt((1 - self.correlation) / 2) * _scores(_CHANCES)
        of_a, of_b = (
            np.asarray(posterior.ppf(special.ndtr(common + sign * chance)))
            for posterior, sign in ((self.a, -1), (self.b, 1))
        )
        return np.asarray(of_b - of_a)


def _below(grid: Array, d: Array) -> Array:
    """The probability of at most d."""
    causes, chances = _scores(_CAUSES), _scores(_CHANCES)
    weight = np.exp(-(causes**2) / 2)
    # the chance in favour of B at which the difference is d, for every common cause
    if d.size > _MACRO_DIFFERENCE_FEW:
        border = np.stack([np.interp(d.ravel(), row, chances) for row in grid])
    else:
        border = _interpolated(d.ravel(), grid, chances)
    return np.asarray(weight @ special.ndtr(border) / weight.sum()).reshape(d.shape)


def _interpolated(d: Array, grid: Array, chances: Array) -> Array:
    """Interpolate as `np.interp` does, for all rows of the grid at once."""
    # rows one after the other, each far above the last: one search finds the place in every row
    above = 4.0 * np.arange(len(grid))[:, None]
    place = np.searchsorted((grid + above).ravel(), d + above, side="right")
    place -= np.arange(len(grid))[:, None] * len(chances)
    last = np.clip(place, 1, len(chances) - 1)
    low, high = (np.take_along_axis(grid, last - k, axis=1) for k in (1, 0))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(high > low, (d - low) / (high - low), 0.0)
    between = chances[last - 1] + np.clip(share, 0, 1) * (chances[last] - chances[last - 1])
    return np.asarray(np.where(place < len(chances), between, chances[-1]))


def _scores(number: int) -> Array:
    """Normal scores from -7 to 7, an odd number of them: the two halves alike."""
    half = np.linspace(0, _MACRO_DIFFERENCE_REACH, number // 2 + 1)
    return np.concatenate([-half[:0:-1], half])


def _correlation(
    cells: tuple[LabelCounts, LabelCounts], labels: tuple[Mask, Mask], metric: str, beta: float
) -> float:
    """The correlation of two estimates over test sets like this one.

    What units move both ways, with half an item of every paired case added to each label: it is
    never known that two systems err together always.
    """
    cases = PairedCounts(np.eye(7 if cells[0].counts.tn is None else 8))  # an item of each
    if not all(mask.any() for mask in labels):
        return 0.0
    moves, added = [], []
    for system, one, mask in zip("ab", cells, labels, strict=True):
        kinds = ratio(getattr(cases, system), metric, beta=beta)
        sums = ratio(one.by_label(), metric, beta=beta)
        of_cells, of_items = shifts(one, sums, kinds, metric, beta)
        moves.append(one.sum_by_unit(of_cells * mask[one.label]) * one.n_labels / mask.sum())
        added.append(of_items * mask[:, None] * one.n_labels / mask.sum())
    number = cells[0].repeats
    aa, ab, bb = (
        float((number * moves[i]) @ moves[j]) + _HALF * float(np.sum(added[i] * added[j]))
        for i, j in ((0, 0), (0, 1), (1, 1))
    )
    return float(np.clip(ab / math.sqrt(aa * bb), -1.0, 1.0)) if aa > 0 and bb > 0 else 0.0


def _check_same_cells(a: LabelCounts, b: LabelCounts) -> None:
    """Complain unless two systems were counted in the same units and labels."""
    shapes = [(cells.n_units, cells.n_labels) for cells in (a, b)]
    if shapes[0] != shapes[1] or len(a.unit) != len(b.unit):
        raise InputError(f"b: shape {shapes[1]} differs from the shape of a, {shapes[0]}")


# -----------------------------------------------------------------------------
# The randomisation test of two macro averages: whole units are exchanged at random.
#
# An exact test would have to walk on a lattice with two dimensions per label. How many exchanges
# are drawn depends on what they show: see `probative.inference.sampled`.
# -----------------------------------------------------------------------------

_BINS_A_SIDE, _MACRO_TEST_REACH = (
    20,
    4.0,
)  # of the histogram of the null distribution, in deviations


def macro_test(
    a: Counts | LabelCounts,
    b: Counts | LabelCounts,
    metric: str = "f1",
    *,
    by: str = "unit",
    n_resamples: int | None = None,
    levels: Sequence[float] = LEVELS,
    rng: RNG | None = None,
    beta: float = 1.0,
    labels: Mask | None = None,
    own_labels: bool = False,
    null: bool = False,
    n_jobs: int | None = 1,
) -> RandomizationTest:
    """Test two macro averages by random exchanges of whole units, two-sided.

    Parameters
    ----------
    a, b
        The counts of the two systems on the same units and labels.
    metric, beta
        The score.
    by
        What the units are called.
    n_resamples, levels
        How many exchanges to draw; by default as many as it takes until it is clear on which side
        of these levels the p-value lies, a million at most.
    rng
        A seed or generator for them.
    labels
        The labels that count; by default all.
    own_labels
        Whether a label that an output uses counts for that output, too.
    null
        Whether to return the null distribution, too: of the same draws as the p-value.
    n_jobs
        How many threads work at once; -1 for as many as there are cores. The result is the same.
    """
    found = macro_tests(
        [(a, b)],
        metric,
        by=by,
        n_resamples=n_resamples,
        levels=levels,
        rng=rng,
        beta=beta,
        labels=labels,
        own_labels=own_labels,
        null=null,
        n_jobs=n_jobs,
    )
    return found[0]


def macro_tests(
    pairs: Sequence[tuple[Counts | LabelCounts, Counts | LabelCounts]],
    metric: str = "f1",
    *,
    by: str = "unit",
    n_resamples: int | None = None,
    levels: Sequence[float] = LEVELS,
    rng: RNG | None = None,
    beta: float = 1.0,
    labels: Mask | None = None,
    own_labels: bool = False,
    null: bool = False,
    n_jobs: int | None = 1,
) -> list[RandomizationTest]:
    """Test several pairs, whose p-values will be adjusted by Holm's method.

    Exchanges are drawn until it is clear at every level what the test of each pair says, by itself
    and adjusted for their number.
    """
    one_of("metric", metric, METRICS)
    if n_resamples is not None:
        n_resamples = whole_number("n_resamples", n_resamples, most=10**9)
    generator = random_generator(rng)
    exchanges = [
        _MacroExchange(
            as_cells(a), as_cells(b), metric, beta, labels, own_labels=own_labels, keep=null
        )
        for a, b in pairs
    ]

    def draw(own: np.random.Generator, number: int, tests: NDArray[np.int64]) -> list[int]:
        # the exchanges of a pair do not depend on which others are still open
        seeds = own.integers(2**63, size=len(exchanges)).tolist()
        return [exchanges[i].extreme(np.random.default_rng(seeds[i]), number) for i in tests]

    found = sequential_pvalues(
        draw, len(pairs), levels=levels, n_resamples=n_resamples, rng=generator, n_jobs=n_jobs
    )
    return [
        RandomizationTest(
            metric=f"macro_{metric}",
            alternative="two-sided",
            by=by,
            method="sampled",
            statistic=exchange.observed,
            pvalue=own.pvalue,
            n_units=exchange.n_units,
            n_resamples=own.draws,
            standard_error=own.standard_error,
            pvalue_low=own.low,
            pvalue_high=own.high,
            note=str(own),
            null=_null_distribution(exchange.sizes, abs(exchange.observed)) if null else None,
        )
        for exchange, own in zip(exchanges, found, strict=True)
    ]


class _MacroExchange:
    """Random exchanges of the units of two systems, and what they do to two macro averages."""

    def __init__(
        self,
        a: LabelCounts,
        b: LabelCounts,
        metric: str,
        beta: float,
        labels: Mask | None,
        *,
        own_labels: bool,
        keep: bool = False,
    ):
        _check_same_cells(a, b)
        always = np.ones(a.n_labels, dtype=bool) if labels is None else labels
        self._average = _Average(always, own_labels=own_labels)
        # which labels are returned matters to those alone that count only where they are
        parts = [contributions(cells, metric, beta)[: 2 + own_labels] for cells in (a, b)]
        self._totals = [np.stack([a.sum_by_label(column) for column in part]) for part in parts]
        self._flips = UnitFlips(*_distinct_moves(a, parts[0] - parts[1]))
        self.n_units = int(a.repeats.sum())
        self.observed = float(self._average(self._totals[1]) - self._average(self._totals[0]))
        self._kept: list[Array] | None = [] if keep else None

    def extreme(self, generator: np.random.Generator, number: int) -> int:
        """Count the exchanges, of so many, that make the difference at least as large."""
        a, b = self._totals
        extreme = 0
        for sums in self._flips.draw(generator, number):
            moved = sums.T.reshape(sums.shape[1], *a.shape)
            size = np.abs(self._average(b + moved) - self._average(a - moved))
            extreme += int(np.count_nonzero(size >= abs(self.observed) - TIE))
            if self._kept is not None:
                self._kept.append(size)
        return extreme

    @property
    def sizes(self) -> Array:
        """Return the differences after every exchange, where they were kept."""
        return np.concatenate(self._kept or [np.zeros(1)])


class _Average:
    """The macro averages of arrays of totals: rows of x, y and, for own labels, items returned."""

    def __init__(self, always: Mask, *, own_labels: bool):
        self.always, self.own_labels = always, own_labels

    def __call__(self, totals: Array) -> Array:
        top, bottom = totals[..., 0, :], totals[..., 1, :]
        with np.errstate(invalid="ignore", divide="ignore"):
            # sums of fractions come back as 0 only up to rounding
            scores = np.where(bottom > TIE, top / bottom, 0.0)
        counts = self.always
        if self.own_labels:
            counts = counts | (totals[..., 2, :] > TIE)
        number = np.maximum(1, np.sum(np.broadcast_to(counts, scores.shape), axis=-1))
        return np.asarray(np.sum(scores * counts, axis=-1) / number)


def contributions(cells: LabelCounts, metric: str, beta: float) -> Array:
    """Return what every cell adds to numerator, denominator and items returned, one row each."""
    x, y = ratio(cells.counts, metric, beta=beta)
    return np.stack([np.asarray(part, np.float64) for part in (x, y, cells.counts.predicted)])


def _distinct_moves(cells: LabelCounts, parts: Array) -> tuple[Any, NDArray[np.int64]]:
    """The distinct changes that exchanging a unit makes, and how many units make each.

    A row per part and label, a column per kind of unit.
    """
    columns = np.arange(len(parts))[:, None] * cells.n_labels + cells.label
    there = parts != 0
    rows = np.broadcast_to(cells.unit, columns.shape)[there]
    shape = (cells.n_units, len(parts) * cells.n_labels)
    table = sparse.coo_array((parts[there], (rows, columns[there])), shape=shape).tocsr()
    table.sum_duplicates()
    table.eliminate_zeros()
    kinds: dict[bytes, list[int]] = {}
    for unit in np.flatnonzero(np.diff(table.indptr)).tolist():
        own = slice(table.indptr[unit], table.indptr[unit + 1])
        key = table.indices[own].tobytes() + table.data[own].tobytes()
        kinds.setdefault(key, []).append(unit)
    first = [units[0] for units in kinds.values()]
    times = cells.repeats
    number = np.array([times[units].sum() for units in kinds.values()], dtype=np.int64)
    return table[first].T.tocsr(), number


def _null_distribution(size: Array, observed: float) -> NullDistribution:
    """The histogram of the drawn differences; the observed one is an edge."""
    deviation = float(np.sqrt(np.mean(size**2)))
    span = max(_MACRO_TEST_REACH * deviation, observed)
    if span == 0:
        return NullDistribution(np.array([-1.0, 1.0]), np.array([1.0]))
    width = span / _BINS_A_SIDE
    if observed > 0:
        width = observed / max(1, round(observed / width))
    edges = width * np.arange(1, math.ceil(span / width - 1e-9) + 1)
    tails = 1 - np.searchsorted(np.sort(size), edges - TIE) / len(size)
    outer = np.append(-np.diff(tails)[:-1], tails[-2:-1]) / 2
    middle = 1 - tails[0] if len(edges) > 1 else 1.0
    return NullDistribution(
        np.concatenate([-edges[::-1], edges]), np.concatenate([outer[::-1], [middle], outer])
    )


# -----------------------------------------------------------------------------
# The sampled tests of the macro averages of all pairs of systems.
#
# Which units are exchanged is drawn once for all pairs; where few pairs are open, each is tested
# by itself: see `probative.inference.sampled`.
# -----------------------------------------------------------------------------

if TYPE_CHECKING:
    Pair = tuple[int, int]


_MACRO_PAIR_TESTS_FEW = 64  # pairs that are quicker tested one by one


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
        As for `probative.inference.macro_comparison.macro_test`.
    level, adjust
        With what the adjusted p-values will be compared: exchanges are drawn until that is clear.
    known, n_resamples, most, n_jobs, report
        As for `probative.inference.sampled.sequential_pvalues`; what is known, by pair.
    seed
        For the exchanges.
    """

    @cache
    def alone(test: int) -> _MacroExchange:
        a, b = (cells[k] for k in pairs[test])
        return _MacroExchange(a, b, metric, beta, labels, own_labels=own_labels)

    return sampled_pair_tests(
        _shared_exchanges(cells, metric, beta, labels, own_labels=own_labels),
        alone,
        pairs,
        few=_MACRO_PAIR_TESTS_FEW,
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
    """Sum what every unit adds to numerators, denominators and, with own labels, items.

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


# -----------------------------------------------------------------------------
# What the units of a test set tell of the macro averages of many systems.
#
# Nothing about a macro average is exact: its tests are sampled, and the limits of a difference
# come from the posterior that `macro_difference` has for two systems.
# -----------------------------------------------------------------------------

if TYPE_CHECKING:
    System = tuple[LabelCounts, Mask, MacroEvidence]


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
    """Compute the evidence about the macro averages of several systems.

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
        As for `probative.inference.pairs.pair_tests`.
    limited
        As for `probative.inference.sampled.limits_of_pairs`.
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
    covariance = jackknife_covariance(
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
