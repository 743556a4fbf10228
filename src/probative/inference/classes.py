"""Judge scores of a whole confusion table: kappa and Matthews' coefficient of several classes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse, special

from probative._validation import one_of, open_probability
from probative.inference.differences import mover
from probative.inference.planning import UNDEFINED, Pilot
from probative.inference.posterior.student import StudentPosterior
from probative.inference.proportions import normal_quantile
from probative.inference.runs import Runs, Spread
from probative.inference.sampled import SampledExchange, SharedExchanges, kinds_of
from probative.inference.scores import SampledScore
from probative.inference.units import ONE_UNIT, effective_units, student_quantile
from probative.metrics import OF_TABLES, score_of_margins, score_of_table, slopes_of_table, span
from probative.results import Difference, Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative._validation import Array

    Codes = NDArray[np.intp]


# --- Intervals and differences of kappa and Matthews' coefficient of a whole confusion table
#
# The delta method: an item of class i called j moves a score by its derivative in cell (i, j), and
# a unit moves it by the sum over its items. The interval is a logit interval of the score between
# its bounds. One item is added to the table, so that a standard error of 0 does not make an end
# certain: for the lower end it is shared out as chance would do, for the upper end it is a right
# item, shared out evenly among the classes that occur on either side. Score and interval stay the
# same when gold and system change places.

METHOD = "logit"
_ADDED_ITEMS = 1.0  # added to the table: by chance for the lower end, right for the upper end
_NO_VARIANCE = 1e-12  # squared moves that sum to less than this are rounding
_UNDEFINED = "undefined: everything is of one class"
_ONE_LABEL = "only one class is predicted: the interval allows for others in new data"
_ONE_ANSWER = "gold has only one class: the interval allows for others in new data"


@dataclass(frozen=True, eq=False)
class ConfusedItems:
    """The gold class of every item and the class that a system says."""

    answer: Codes  # gold and predicted class of every item, as codes from 0
    said: Codes
    n_classes: int
    units: Codes | None = None  # of every item; None if items are independent

    @property
    def table(self) -> Array:
        """Return the confusion table: gold classes in rows, predicted classes in columns."""
        k = self.n_classes
        flat = np.bincount(self.answer * k + self.said, minlength=k * k)
        return flat.reshape(k, k).astype(np.float64)

    @property
    def n_units(self) -> int:
        """Return the number of units; the number of items if items are independent."""
        return len(self.answer) if self.units is None else int(self.units.max(initial=-1)) + 1

    @property
    def unit_of_item(self) -> Codes:
        """Return the unit of every item; its own if items are independent."""
        return np.arange(len(self.answer)) if self.units is None else self.units

    @property
    def sums(self) -> Array:
        """Return the number of right items, followed by how often each class is said."""
        table = self.table
        return np.concatenate([[np.trace(table)], table.sum(axis=0)])

    def moves(self, metric: str) -> Array:
        """Return the derivative of the score with respect to each item's weight."""
        return np.asarray(slopes_of_table(self.table, metric)[self.answer, self.said])


def confusion_interval(
    items: ConfusedItems, metric: str = "kappa", *, level: float = 0.95
) -> Interval:
    """Compute the logit interval of kappa or R_K ("mcc") of a whole table."""
    one_of("metric", metric, OF_TABLES)
    level = open_probability("level", level)
    table = items.table
    estimate = float(score_of_table(table, metric))
    if np.isnan(estimate):
        return Interval(metric, METHOD, level, estimate, -1.0, 1.0, _UNDEFINED)
    worth = Worth.of(items.units, items.moves(metric), len(items.answer))
    low, high = worth.limits(table, metric, level)
    ends, note = (min(low, estimate), max(high, estimate)), worth.note or _note_on_labels(table)
    return Interval(metric, METHOD, level, estimate, *ends, note, worth.design_effect)


@dataclass(frozen=True)
class Worth:
    """The effect of units on the variance of a score."""

    design_effect: float | None
    divisor: float  # of items: the design effect, at least 1
    freedom: float  # Kish's effective number of units less one

    @classmethod
    def of(
        cls,
        units: Codes | None,
        moves: Array,
        n: int,
        *,
        independent: float | None = None,
        runs: float = 1.0,
    ) -> Worth:
        """Compute the effect from the items' units, their moves of the score, and their number."""
        # `independent` is the variance with independent items, by default that of the moves;
        # several runs count for at most this effective number of `runs`
        if units is None:
            return cls(None, 1.0, np.inf)
        moved, size = np.bincount(units, moves), np.bincount(units).astype(np.float64)
        moved, size = moved[size > 0], size[size > 0]
        freedom = effective_units(size) - 1
        if not freedom > 0:
            return cls(np.nan, 1.0, 0.0)
        if independent is None:
            independent = float(moves @ moves)
        if independent * n**2 < _NO_VARIANCE:
            return cls(np.nan, n / len(size), freedom)
        # without a unit the others share fewer items, and the score moves further
        left = moved / (1 - size / n)
        variance = (len(size) - 1) / len(size) * float(np.sum((left - left.mean()) ** 2))
        effect = variance / independent
        return cls(effect, max(1 / runs, effect), freedom)

    @property
    def note(self) -> str | None:
        """Return a note if there is only one unit."""
        return None if self.freedom > 0 else ONE_UNIT

    def limits(self, table: Array, metric: str, level: float) -> tuple[float, float]:
        """Return the ends of the interval of a table's score at its effective sample size."""
        if not self.freedom > 0:
            return -1.0, 1.0
        table, z = table / self.divisor, _quantile(level, self.freedom)
        if _note_on_labels(table):
            return _limits_of_one_label(table, metric, z)
        answer, said = table.sum(axis=1), table.sum(axis=0)
        by_chance = table + _ADDED_ITEMS * np.outer(answer, said) / table.sum() ** 2
        there = said + answer > 0
        righted = table + _ADDED_ITEMS * np.diag(there / there.sum())
        return _logit_limit(by_chance, metric, -z), _logit_limit(righted, metric, z)


def _quantile(level: float, freedom: float) -> float:
    """Return Student's quantile, or the normal one if the degrees of freedom are infinite."""
    endless = np.isinf(freedom)
    return normal_quantile(level) if endless else float(student_quantile(level, freedom))


def _logit_limit(table: Array, metric: str, z: float) -> float:
    """Return the value `z` standard errors from the score, on the log odds between -1 and 1."""
    score = float(score_of_table(table, metric))
    if not -1 < score < 1:
        return score
    variance = float(np.sum(table * slopes_of_table(table, metric) ** 2))
    reach = z * np.sqrt(variance) * 2 / ((1 + score) * (1 - score))
    return float(np.tanh(np.arctanh(score) + reach / 2))


def _note_on_labels(table: Array) -> str | None:
    """Return a note if gold or the system has a single class; kappa is then 0."""
    said, answer = (np.count_nonzero(table.sum(axis=axis)) for axis in (0, 1))
    return _ONE_ANSWER if answer == 1 else _ONE_LABEL if said == 1 else None


def _limits_of_one_label(table: Array, metric: str, z: float) -> tuple[float, float]:
    """Return the lowest and highest score if some items were labelled otherwise."""
    # none of n items was; by Clopper and Pearson up to 1 - tail^(1/n) of all items may be
    if np.count_nonzero(table) == 1:
        return -1.0, 1.0
    if np.count_nonzero(table.sum(axis=1)) == 1:  # the score is symmetric in gold and system
        table = table.T
    n, answer = table.sum(), table.sum(axis=1)
    label = int(np.argmax(table.sum(axis=0)))
    moved = n * -np.expm1(special.log_ndtr(-z) / n)
    others = np.where(np.arange(len(answer)) == label, 0.0, answer)
    best, worst = table.copy(), table.copy()
    righted = others * min(1.0, moved / others.sum())
    best[:, label] -= righted
    best += np.diag(righted)
    wronged = min(moved, answer[label])
    worst[label, label] -= wronged
    worst[label] += wronged * others / others.sum()
    return float(score_of_table(worst, metric)), float(score_of_table(best, metric))


# --- The score of several systems, each with one run or several
#
# The scores depend on the number of right items and on how often the system says each class; an
# exchange moves these sums. They have too many dimensions for an exact test, so exchanges are
# drawn at random. Several runs of a system count by their mean table; what they say of one unit
# belongs to that unit.

# distinct exchanges of single items, as a multiple of the squared number of classes: unordered
# pairs of labels, times three for which of the two is right
_KINDS_PER_SQUARED_CLASSES = 3 / 2


@dataclass(frozen=True, eq=False)
class ClassScore(SampledScore):
    """Kappa or Matthews' coefficient of several systems on the same items."""

    systems: tuple[tuple[ConfusedItems, ...], ...]  # the runs of every system
    metric: str = "kappa"
    by: str = "item"

    approximate = "score of the whole confusion table"

    def __post_init__(self) -> None:
        one_of("metric", self.metric, OF_TABLES)

    @property
    def most(self) -> float:
        """Return the largest possible difference of two systems."""
        return span(self.metric)

    @cached_property
    def tables(self) -> list[Array]:
        """Return the mean table of the runs of every system."""
        return [np.asarray(sum(own.table for own in runs) / len(runs)) for runs in self.systems]

    @cached_property
    def estimates(self) -> Array:
        """Return the score of every system's mean table."""
        return np.array([float(score_of_table(table, self.metric)) for table in self.tables])

    @property
    def _first(self) -> ConfusedItems:
        return self.systems[0][0]

    @property
    def _single(self) -> bool:
        """Return True if every system has one run."""
        return all(len(runs) == 1 for runs in self.systems)

    @cached_property
    def _units(self) -> tuple[NDArray[np.intp], NDArray[np.int64], Array]:
        """Return the kind of unit of each item, the number of units of each kind, their sizes."""
        # Single items with the same gold class and the same predictions of all systems are of one
        # kind; what several runs say of an item is one unit.
        first = self._first
        if first.units is not None or not self._single:
            _, kinds, size = np.unique(first.unit_of_item, return_inverse=True, return_counts=True)
            return kinds.ravel(), np.ones(len(size), dtype=np.int64), size.astype(np.float64)
        kinds = first.answer.astype(np.int64)
        for (own,) in self.systems:
            _, kinds = np.unique(kinds * own.n_classes + own.said, return_inverse=True)
        number = np.bincount(kinds)
        return kinds, number, np.ones(len(number))

    @property
    def number(self) -> NDArray[np.int64]:
        """Return the number of units of each kind."""
        return self._units[1]

    @property
    def sizes(self) -> Array:
        """Return the items of a unit, the same for all systems."""
        return np.tile(self._units[2], (len(self.systems), 1))

    @cached_property
    def moves(self) -> Array:
        """Return what leaving out a unit changes: its items' derivatives at the mean table."""
        units, number, size = self._units
        left = 1 - size / max(1.0, float(number @ size))  # share of the items that is left
        with np.errstate(invalid="ignore", divide="ignore"):
            own = (self._item_moves(i).mean(axis=0) for i in range(len(self.systems)))
            return np.array([-np.bincount(units, moved) / number / left for moved in own])

    def _item_moves(self, i: int, at: Array | None = None) -> Array:
        """Return the derivative of a score with respect to each item's weight, by run."""
        slopes = slopes_of_table(self.tables[i] if at is None else at, self.metric)
        return np.array([slopes[run.answer, run.said] for run in self.systems[i]])

    @property
    def kinds(self) -> NDArray[np.intp]:
        """Return the kind of every system."""
        return kinds_of(b"".join(run.said.tobytes() for run in runs) for runs in self.systems)

    def interval(self, i: int, level: float) -> Interval:
        """Return the logit interval of system i."""
        (items,) = self.systems[i]
        return confusion_interval(items, self.metric, level=level)

    def difference(self, i: int, j: int, level: float) -> Difference:
        """Return the difference of system j minus system i, with its MOVER interval."""
        level = open_probability("level", level)
        worth, r = self._worth(i, j)
        a, b = float(self.estimates[i]), float(self.estimates[j])
        low, high = -self.most, self.most
        if not np.isnan(b - a) and worth.freedom > 0:
            singles = []
            for table, score in ((self.tables[i], a), (self.tables[j], b)):
                ends = worth.limits(table, self.metric, level)
                own = min(ends[0], score), max(ends[1], score)
                singles.append(Interval(self.metric, METHOD, level, score, *own))
            low, high = mover(singles[0], singles[1], r)
        note = _UNDEFINED if np.isnan(b - a) else worth.note
        effect = worth.design_effect
        return Difference(self.metric, "mover", level, b - a, low, high, a, b, r, effect, note)

    def posterior(self, i: int, j: int) -> StudentPosterior:
        """Return Student's distribution about the difference, with the width of its interval."""
        # the interval also allows for items that happen to move neither score here
        gap = self.difference(i, j, 0.95)
        if np.isnan(gap.estimate):
            return StudentPosterior(np.nan, 0.0, np.inf, most=self.most)
        freedom = max(self._worth(i, j)[0].freedom, 1e-3)
        deviation = (gap.high - gap.low) / 2 / _quantile(gap.level, freedom)
        return StudentPosterior(gap.estimate, deviation, freedom, most=self.most)

    def _worth(self, i: int, j: int) -> tuple[Worth, float]:
        """Return the effect of the units on a difference and the correlation of the two scores."""
        # The design effect compares the variance of the difference with that of one run of each
        # system on independent items. More runs reduce it, at most to one over their effective
        # number.
        nothing = Worth(None, 1.0, np.inf), 0.0
        if np.isnan(self.estimates[i] + self.estimates[j]):
            return nothing
        moves = [self._item_moves(k) for k in (i, j)]
        means = [own.mean(axis=0) for own in moves]
        squares = [float((own**2).sum()) / len(own) for own in moves]
        most = max(float((own**2).max(initial=0)) for own in moves)
        product, n = float(means[0] @ means[1]), len(means[0])
        units = self._first.units
        if units is None and len(moves[0]) == len(moves[1]) == 1:
            worth = nothing[0]
        else:
            runs = 1.0
            if len(moves[0]) > 1 or len(moves[1]) > 1:
                a, b = (self._runs(self.systems[k]) for k in (i, j))
                runs = float(Spread.of(a, b).worth())
            codes = self._first.unit_of_item
            independent = squares[0] + squares[1] - 2 * product
            worth = Worth.of(codes, means[1] - means[0], n, independent=independent, runs=runs)
        # an extra item moves one score alone, as much as the items that move it most: the
        # correlation is never taken to be exactly 1
        extra = most * worth.divisor
        bottom = float(np.sqrt((squares[0] + extra) * (squares[1] + extra)))
        return worth, product / bottom if bottom > 0 else 0.0

    def pilot(self, i: int, j: int) -> Pilot:
        """Return each unit's part in the difference, by the derivatives at the mean of both."""
        units, number, _ = self._units
        n_units = self.observed_units
        together = (self.tables[i] + self.tables[j]) / 2
        if np.isnan(score_of_table(together, self.metric)):
            return Pilot.without_any(n_units, UNDEFINED)
        a, b = (self._item_moves(k, together).mean(axis=0) for k in (i, j))
        added = np.bincount(units, b - a) / number
        informative = float(number[added != 0].sum())
        return Pilot.of_units(n_units * added, number, n_units, informative)

    def runs(self, places: Sequence[int]) -> Runs:
        """Return the score of each run, and each unit's move of it."""
        return self._runs([self.systems[place][0] for place in places])

    def _runs(self, runs: Sequence[ConfusedItems]) -> Runs:
        units = np.unique(runs[0].unit_of_item, return_inverse=True)[1].ravel()
        size = np.bincount(units).astype(np.float64)
        scores = np.array([float(score_of_table(own.table, self.metric)) for own in runs])
        with np.errstate(invalid="ignore", divide="ignore"):
            moves = np.array([np.bincount(units, own.moves(self.metric)) for own in runs])
            left_out = -moves.mean(axis=0) / (1 - size / size.sum())
        return Runs(scores, moves, left_out, size)

    def pooled(self, groups: Sequence[Sequence[int]]) -> ClassScore:
        """Return the score of systems whose runs are the systems at these places."""
        runs = ((self.systems[place] for place in places) for places in groups)
        return replace(self, systems=tuple(tuple(chain.from_iterable(own)) for own in runs))

    def only(self, i: int, j: int) -> ClassScore:
        """Return the score of two systems alone."""
        return replace(self, systems=(self.systems[i], self.systems[j]))

    def exchange(self, i: int, j: int, *, keep: bool = False) -> SampledExchange:
        """Return the exchanges of single items, or of whole units, all runs at once."""
        a, b = self.systems[i], self.systems[j]
        times = math.lcm(len(a), len(b))
        of_a, of_b = (times / len(x) * np.sum([run.sums for run in x], axis=0) for x in (a, b))
        if times == 1:
            moves, number = _distinct_moves(a[0], b[0])
        else:
            units, _, _ = self._units
            rows_a, rows_b = (_sums_by_unit(own, units) * (times // len(own)) for own in (a, b))
            moves = rows_a - rows_b
            moves = moves[moves.any(axis=1)]
            number = np.ones(len(moves), dtype=np.int64)
        # exchanging a unit has the same distribution as not exchanging one with the opposite move
        back = moves[np.arange(len(moves)), np.argmax(moves != 0, axis=1)] < 0
        base = of_b + number[back] @ moves[back]
        moves = np.where(back[:, None], -moves, moves)
        moves, kind = np.unique(moves, axis=0, return_inverse=True)
        number = np.bincount(kind.ravel(), number, minlength=len(moves)).astype(np.int64)
        scores = partial(_score_sums, self._first.table.sum(axis=1) * times, self.metric)
        flips = sparse.csr_array(moves.T)
        return SampledExchange(
            of_a, of_b, flips, number, scores, self._first.n_units, base=base, keep=keep
        )

    def shared(self) -> tuple[SharedExchanges, int]:
        """Return the exchanges of all pairs: right items and said classes by system and unit."""
        first, rows = self._first, self._first.unit_of_item
        times, width = math.lcm(*map(len, self.systems)), first.n_classes + 1
        differences = []
        for system, runs in enumerate(self.systems):
            there = np.arange(len(rows))
            if self._single:
                there = np.flatnonzero(runs[0].said != first.said)
            sides = [(run, times / len(runs)) for run in runs]
            sides += [(run, -times / len(self.systems[0])) for run in self.systems[0]]
            for side, weight in sides:
                items, sums = _added(side.said[there], side.answer[there])
                weights = np.full(len(items), weight)
                differences.append((system * width + sums, rows[there][items], weights))
        together = [sum(run.sums for run in runs) * (times / len(runs)) for runs in self.systems]
        totals = np.stack(together)
        scores = partial(_score_sums, first.table.sum(axis=1) * times, self.metric)
        # single items have few distinct exchanges, units mostly one each
        few = 1
        if first.units is None and self._single:
            few = int(len(first.answer) / _KINDS_PER_SQUARED_CLASSES / first.n_classes**2)
        return SharedExchanges(differences, totals, first.n_units, scores), max(1, few)

    def resampled(self, known: NDArray[np.intp], weights: Array) -> Array:
        """Return the scores of the known systems with weighted units; gold is reweighted, too."""
        parts = np.asarray(weights @ self._sums).reshape(len(weights), len(self.systems) + 1, -1)
        own = parts[:, 1 + known]
        scores = score_of_margins(own[:, :, 0], own[:, :, 1:], parts[:, :1, 1:], self.metric)
        return np.asarray(np.nan_to_num(scores))

    @cached_property
    def _sums(self) -> Any:
        """Return the sums that one unit of each kind adds (rows) for gold, then for each system."""
        # gold is a system that is always right
        units, number, _ = self._units
        answer, width = self._first.answer, self._first.n_classes + 1
        rows, columns, values = [], [], []
        everyone = [[answer], *([run.said for run in runs] for runs in self.systems)]
        for place, said_by_run in enumerate(everyone):
            for said in said_by_run:
                items, sums = _added(said, answer)
                rows.append(units[items])
                columns.append(place * width + sums)
                values.append((1 / len(said_by_run) / number)[units[items]])
        places = np.concatenate(rows), np.concatenate(columns)
        shape = (len(number), len(everyone) * width)
        return sparse.coo_array((np.concatenate(values), places), shape=shape).tocsc()


def _score_sums(answer: Array, metric: str, sums: Array) -> Array:
    """Compute scores of `ConfusedItems.sums` on the last axis but one, with draws on the last."""
    right, said = sums[..., 0, :], np.moveaxis(sums[..., 1:, :], -2, -1)
    return np.asarray(np.nan_to_num(score_of_margins(right, said, answer, metric)))


def _added(said: Codes, answer: Codes) -> tuple[Codes, Codes]:
    """Return the items that add one to `ConfusedItems.sums`, and to which of the sums each does."""
    right = np.flatnonzero(said == answer)
    items = np.concatenate([np.arange(len(said)), right])
    return items, np.concatenate([said + 1, np.zeros(len(right), dtype=np.intp)])


def _sums_by_unit(runs: Sequence[ConfusedItems], units: NDArray[np.intp]) -> Array:
    """Return the summed parts of all runs in the sums behind the score, one row per unit."""
    sums = np.zeros((int(units.max(initial=-1)) + 1, runs[0].n_classes + 1))
    for own in runs:
        items, columns = _added(own.said, own.answer)
        np.add.at(sums, (units[items], columns), 1)
    return sums


def _distinct_moves(a: ConfusedItems, b: ConfusedItems) -> tuple[Array, NDArray[np.int64]]:
    """Return the distinct changes of the sums by a unit that takes A's side, and their numbers."""
    differ = np.flatnonzero(a.said != b.said)
    k, answer = a.n_classes, a.answer[differ]
    said_a, said_b = a.said[differ], b.said[differ]
    right = (said_a == answer).astype(np.int64) - (said_b == answer)
    if a.units is None:
        kinds = (said_a.astype(np.int64) * k + said_b) * 3 + right + 1
        kinds, number = np.unique(kinds, return_counts=True)
        pair, right = kinds // 3, kinds % 3 - 1
        said_a, said_b = pair // k, pair % k
        place = np.arange(len(kinds))
    else:
        units, place = np.unique(a.units[differ], return_inverse=True)
        number = np.ones(len(units), dtype=np.int64)
    moves = np.zeros((len(number), k + 1))
    np.add.at(moves[:, 0], place, right)
    np.add.at(moves, (place, said_a + 1), 1)
    np.add.at(moves, (place, said_b + 1), -1)
    there = moves.any(axis=1)
    return moves[there], number[there]
