"""Compute what a unit (sentence, document) does to a score, once for every kind of score.

A score is a ratio F = sum of x / sum of y over the units. Leaving out one unit at a time gives the
variance of F from test set to test set; divided by the variance that independent items would have,
it is the design effect. Units of unequal size count for less than their number: the degrees of
freedom are Kish's effective number of units, less one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from probative.counts import Counts, PairedCounts, kinds_of_rows
from probative.metrics import TABLE, Composite, ratio
from probative.metrics import contributions as contributions_of
from probative.wording.numbers import counted

if TYPE_CHECKING:
    from probative._validation import Array

ONE_UNIT = "one unit: the variation between units is unknown, so the interval is the whole range"
# Fewer effective units than this leave room for a weakness that a test set does not show: what
# None of n units shows affects up to 3 in n of all (the rule of three).
_ENOUGH, _RULE_OF_THREE = 60, 3
# From so many units on, and at this level, sizes that go with errors are spoken of.
_CORRELATED_UNITS, _CORRELATED_LEVEL, _MORE_ERRORS = 10, 0.01, 0.05
_ROUNDING = 1e-9
_LARGEST_QUANTILE = 1e50  # far outside of anything: Student's quantiles grow without bounds


@dataclass(frozen=True)
class Dependence:
    """Design effect and degrees of freedom of a score or difference whose items come in units."""

    design_effect: Any  # NaN if undefined: all items are right, or all wrong; None without units
    divisor: float  # of the counts: the design effect, at least 1, or the mean size of a unit
    degrees_of_freedom: float  # Kish's effective number of units, less one; 0 without evidence
    units: int  # in which anything counts
    note: str | None = None
    variance_freedom: float = math.inf  # of the variance: a few large units may decide it

    @property
    def tail_freedom(self) -> float:
        """Return the degrees of freedom of a probability, which is a statement about one tail."""
        # a variance that looks small with the difference costs an interval on one side only
        return min(self.degrees_of_freedom, self.variance_freedom)

    @property
    def no_evidence(self) -> bool:
        """Return True if a score rests on a single unit, which says nothing about others."""
        return not self.degrees_of_freedom > 0

    def quantile(self, level: float) -> float:
        """Return Student's quantile: how many standard errors an interval reaches."""
        return float(student_quantile(level, self.degrees_of_freedom))


def student_quantile(level: float, degrees_of_freedom: Any) -> Any:
    """Return the t for which Student's variable lies within ±t with probability `level`."""
    # from the lower tail, which keeps its digits at levels near 1
    t = -special.stdtrit(np.maximum(degrees_of_freedom, 1e-3), (1 - level) / 2)
    return np.minimum(t, _LARGEST_QUANTILE)


def influence(x: Any, y: Any, total_x: Any, total_y: Any, rest: Any = None) -> Array:
    """Return how far something that adds x and y moves the score F = X/Y: (x - F·y)/Y."""
    # with the `rest` of Y without it, that is exactly how far leaving it out moves F back
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((x - total_x / total_y * y) / (total_y if rest is None else rest))


def leave_one_out(x: Any, y: Any, number: NDArray[Any]) -> Array:
    """Return F without one unit of each kind minus F with all of them."""
    total_x, total_y = (np.asarray(part @ number)[..., None] for part in (x, y))
    return -influence(x, y, total_x, total_y, total_y - y)


def jackknife_covariance(moved: Array, number: NDArray[Any]) -> Array:
    """Return the covariance of scores from what leaving out a unit changes, one row per score."""
    n = max(1, number.sum())  # without units nobody is judged
    centred = moved - (moved @ number / n)[:, None]
    return np.asarray((n - 1) / n * (centred * number) @ centred.T)


def pair_errors(covariance: Array) -> Array:
    """Return the standard error of the difference of every pair."""
    own = np.diag(covariance)
    variance = np.add.outer(own, own) - 2 * covariance
    # what rounding leaves of the variance of a pair without differences is none
    return np.sqrt(np.where(variance > 1e-14 * np.add.outer(own, own), variance, 0.0))


def effective_units(size: Array, number: Any = None) -> float:
    """Return Kish's effective number of units, (sum y)² / sum y²; 0 where there are none."""
    times = np.ones_like(size) if number is None else number
    squares = float(times @ size**2)
    return float(times @ size) ** 2 / squares if squares > 0 else 0.0


def effective_units_of_pairs(y: Array, number: NDArray[Any]) -> Array:
    """Return Kish's effective number of units of every pair of systems, whose sizes add up."""
    total, squares = y @ number, (y * number) @ y.T
    own = np.diag(squares)
    return np.asarray(np.add.outer(total, total) ** 2 / (np.add.outer(own, own) + 2 * squares))


def dependence_of_score(
    counts: Counts, metric: str = "f1", *, beta: float = 1.0, number: Array | None = None
) -> Dependence:
    """Compute the design effect and degrees of freedom of one system's score."""
    times = np.ones(len(counts)) if number is None else np.asarray(number, dtype=np.float64)
    total = (counts * times).sum()
    x, y = contributions_of(counts, metric, at=total, units=True, beta=beta)
    there = (y > 0) & (times > 0)
    table = np.array(total._cells(), dtype=np.float64)
    item_x, item_y = contributions_of(Counts(*np.eye(len(table))), metric, at=total, beta=beta)
    return _dependence([(x[there], y[there])], times[there], [(item_x, item_y)], table)


def dependence_of_difference(
    paired: PairedCounts, metric: str = "f1", *, beta: float = 1.0
) -> Dependence:
    """Compute the design effect and degrees of freedom of a difference, B minus A."""
    total = paired.total()
    kinds = _contributions(kinds_of(total)[0], total, metric, beta)
    rows, number = contributions(paired, metric, beta=beta)
    table = total.cases
    dependence = _dependence(rows, number, kinds, table)
    if dependence.no_evidence:
        return dependence
    # Satterthwaite's degrees of freedom of a sum of squares over units: a unit of h items has
    # variance h·(1 + (h - 1)·r); r is the correlation of its items that makes the design effect
    # what it is
    items, size = table[kinds[0][1] + kinds[1][1] > 0].sum(), rows[0][1] + rows[1][1]
    h = size * items / (number @ size)
    mean = float(number @ h**2 / items)  # how many items the unit of an item has
    r = min(1.0, (dependence.divisor - 1) / (mean - 1)) if mean > 1 else 0.0
    variance = h * (1 + np.maximum(h - 1, 0) * r)
    return replace(dependence, variance_freedom=effective_units(variance, number))


def design_notes(
    systems: Sequence[Counts],
    names: Sequence[str],
    unit: str,
    number: Array | None = None,
    *,
    weights: Array | None = None,
) -> list[str]:
    """Say what the number and the sizes of units leave open, whatever the scores are."""
    # Notes that depend on how scores came out mislead: without the one hard document nothing
    # shows that it is missing. These two depend on the design alone, or can be tested.
    first = systems[0]
    items = first.positives if first.tn is None else first.nu + first.tn
    size = np.asarray(items, dtype=np.float64)
    times = np.ones(len(size)) if number is None else np.asarray(number, dtype=np.float64)
    all_units = round(float(times.sum()))
    there = (size > 0) & (times > 0)
    size, times = size[there], times[there]
    units, told = round(float(times.sum())), []
    if not units:
        return []
    effective = effective_units(size, times)
    if weights is not None:
        own = np.asarray(weights, dtype=np.float64)[there]
        effective = float((own @ size) ** 2 / ((own * size) @ (own * size)))
        times = own * own.sum() / (own @ own)  # in all as many as units of equal weight would be
    if effective < _ENOUGH:
        share = int(effective / _RULE_OF_THREE + _ROUNDING)
        affected = f"fewer than 1 {unit} in {share}" if share > 1 else f"many {unit}s"
        which = " that hold items" if units < all_units else ""
        worth = f" (effective sample size {effective:.0f})" if effective < 0.9 * units else ""
        where = "test set" if weights is None else "sample"
        told.append(
            f"{counted(units, unit)}{which}{worth}: a weakness that affects {affected} may be "
            f"missing from this {where}"
        )
    found = []
    for counts, name in zip(systems, names, strict=True):
        also = 0 if counts.tn is None else counts.tn
        right, all_ = (np.asarray(cells + also)[there] for cells in (counts.tp, counts.nu))
        r = _rank_correlation(size, right, all_, times)
        if r is not None:
            found.append(f"−{-r:.2f}" + (f" for {name}" if len(names) > 1 else ""))
    if found:
        told.append(
            f"longer {unit}s score lower (rank correlation {', '.join(found)}): intervals may be "
            f"too optimistic"
        )
    return told


def _rank_correlation(size: Array, right: Array, all_: Array, times: Array) -> float | None:
    """Return Spearman's correlation of size and score where longer units score lower, else None."""
    # Small units of a good system are all right by chance, so ranks go with sizes. The errors of
    # long units must also be more than their items would have at the rate of all.
    n = float(times.sum())
    if n < _CORRELATED_UNITS:
        return None
    rows = np.column_stack([size, right, all_])
    if np.array_equal(rows, np.round(rows)):  # few kinds of units are quicker to rank
        first, kind = kinds_of_rows(rows)
        size, right, all_ = rows[first].T
        times = np.bincount(kind, times).astype(np.float64)
    a, b = (_centred_ranks(values, times) for values in (size, right / np.maximum(all_, 1)))
    bottom = math.sqrt(float(times @ a**2) * float(times @ b**2))
    r = float(times @ (a * b)) / bottom if bottom > 0 else 0.0
    if r >= 0:
        return None
    t = r * math.sqrt((n - 2) / max(1 - r**2, 1e-300))
    if 2 * float(special.stdtr(n - 2, t)) >= _CORRELATED_LEVEL:
        return None
    fewer = right - all_ * (times @ right) / (times @ all_)
    moves = (a - (times @ (a * all_)) / (times @ all_)) * fewer
    error = math.sqrt(float(times @ moves**2))
    return r if float(special.stdtr(n - 2, times @ moves / error)) < _MORE_ERRORS else None


def _centred_ranks(values: Array, times: Array) -> Array:
    """Return the ranks of values that are there so many times, less their mean."""
    _, place = np.unique(values, return_inverse=True)
    weight = np.bincount(place, times)
    rank = (np.cumsum(weight) - weight / 2)[place]  # the mean rank of equal ones
    return np.asarray(rank - times @ rank / times.sum())


def variance_of_difference(
    paired: PairedCounts, metric: str = "f1", *, beta: float = 1.0
) -> tuple[float, float]:
    """Return the variance of the difference of two scores by leaving out one unit at a time."""
    rows, number = contributions(paired, metric, beta=beta)
    freedom = freedom_of(rows, number)
    if not freedom > 0:
        return math.nan, math.nan
    return jackknife_variance(rows, number), freedom


def freedom_of(rows: list[tuple[Array, Array]], number: Array) -> float:
    """Return the degrees of freedom of a score or difference; 0 if a score rests on one unit."""
    if any(number[y > 0].sum() < 2 for _, y in rows):
        return 0.0
    return effective_units(np.sum([y for _, y in rows], axis=0), number) - 1


def _dependence(
    rows: list[tuple[Array, Array]], number: Array, kinds: list[tuple[Array, Array]], table: Array
) -> Dependence:
    """Compute the dependence of the last score minus the first of two, or of the only one."""
    # `rows`: x and y of each kind of unit; `kinds`: x and y of an item of each kind, of which
    # `table` has so many
    freedom = freedom_of(rows, number)
    items = table[np.sum([y for _, y in kinds], axis=0) > 0].sum()
    totals = [(number @ x, number @ y) for x, y in rows]
    sides = zip(kinds, totals, strict=True)
    by_item = _difference([influence(*kind, *total) for kind, total in sides])
    return dependence_of_moves(_moves(rows, number), number, freedom, table @ by_item**2, items)


def dependence_of_moves(
    moved: Array,
    number: NDArray[Any],
    freedom: float,
    independent: Any,
    items: float,
    least: float = 1.0,
) -> Dependence:
    """Compute the dependence from how far units move a score, and its variance without units."""
    units = int(number.sum())
    if not freedom > 0:
        return Dependence(np.nan, 1.0, 0.0, units, ONE_UNIT)
    effect = np.nan
    if independent > 0:
        effect = float(jackknife_covariance(moved[None], number)[0, 0]) / float(independent)
    divisor = float(max(least, items / units if np.isnan(effect) else effect))
    return Dependence(effect, divisor, freedom, units)


def jackknife_variance(rows: list[tuple[Any, Any]], number: Array) -> float:
    """Return the jackknife variance of a score, or of the second score minus the first."""
    return float(jackknife_covariance(_moves(rows, number)[None], number)[0, 0])


def _moves(rows: list[tuple[Any, Any]], number: Array) -> Array:
    """Return how far leaving out a unit moves a score, or the second score minus the first."""
    return _difference([leave_one_out(x, y, number) for x, y in rows])


def _difference(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else parts[1] - parts[0]


def kinds_of(paired: PairedCounts) -> tuple[PairedCounts, Array]:
    """Return the cases of each kind of unit (of item, without units), and how many there are."""
    rows, number = np.eye(8), paired.cases
    if paired.has_units:
        rows, number = paired.cases, paired._number().astype(np.float64)
    return paired._with(rows), number


def contributions(
    paired: PairedCounts, metric: str = "f1", *, beta: float = 1.0, pooled: bool = False
) -> tuple[list[tuple[Array, Array]], Array]:
    """Return what each kind of unit adds to both scores x/y, A's first, and its number."""
    # scores that are no ratios of linear forms are linearised at each system's table or, `pooled`,
    # at the mean of both
    kinds, number = kinds_of(paired)
    table = paired.total()
    near = (table + table.swapped()) / 2 if pooled else table
    rows = _contributions(kinds, near, metric, beta, units=True)
    size = rows[0][1] + rows[1][1]
    there = (number > 0) & (size > 0)
    return [(x[there], y[there]) for x, y in rows], number[there]


def correlation(table: PairedCounts, metric: str, *, beta: float = 1.0) -> float:
    """Return the correlation of two estimates on one table, with half an item in every case."""
    # without the halves, systems that hardly differ would have correlation 1
    added = table._with(table.cases + 0.5)
    cases = added.cases
    rows = _contributions(kinds_of(added)[0], added, metric, beta)
    a, b = (influence(x, y, cases @ x, cases @ y) for x, y in rows)
    return float(cases @ (a * b)) / float(np.sqrt(float(cases @ (a * a)) * float(cases @ (b * b))))


def _contributions(
    kinds: PairedCounts, table: PairedCounts, metric: str, beta: float, *, units: bool = False
) -> list[tuple[Any, Any]]:
    """Return what rows of cases add to numerator and denominator of both scores of a table."""
    if not isinstance(TABLE[metric], Composite):  # the same in every table
        return [ratio(own, metric, beta=beta) for own in (kinds.a, kinds.b)]
    sides = (kinds.a, table.a), (kinds.b, table.b)
    return [contributions_of(own, metric, at=at, units=units, beta=beta) for own, at in sides]
