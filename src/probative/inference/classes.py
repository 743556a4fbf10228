"""Judge scores of a whole confusion table: kappa and Matthews' coefficient of several classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from probative._validation import Array, open_probability
from probative.inference.differences import mover
from probative.inference.planning import UNDEFINED, Pilot
from probative.inference.posterior.student import StudentPosterior
from probative.inference.runs import Runs, Spread
from probative.inference.sampled import SampledExchange, SharedExchanges, kinds_of
from probative.inference.scores import SampledScore
from probative.inference.units import (
    Dependence,
    dependence_of_moves,
    effective_units,
    student_quantile,
)
from probative.metrics import score_of_margins, score_of_table, slopes_of_table, span
from probative.results import Difference, Interval

if TYPE_CHECKING:
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

    def moves(self, metric: str) -> Array:
        """Return the derivative of the score with respect to each item's weight."""
        return np.asarray(slopes_of_table(self.table, metric)[self.answer, self.said])


def confusion_interval(
    items: ConfusedItems, metric: str = "kappa", *, level: float = 0.95
) -> Interval:
    """Compute the logit interval of kappa or R_K ("mcc") of a whole table."""
    return ClassScore(((items,),), metric).interval(0, level)


def limits_of_table(
    table: Array, metric: str, level: float, worth: Dependence
) -> tuple[float, float]:
    """Return the ends of the interval of a table's score at its effective sample size."""
    if worth.no_evidence:
        return -1.0, 1.0
    table, z = table / worth.divisor, worth.quantile(level)
    if _note_on_labels(table):
        return _limits_of_one_label(table, metric, z)
    answer, said = table.sum(axis=1), table.sum(axis=0)
    by_chance = table + _ADDED_ITEMS * np.outer(answer, said) / table.sum() ** 2
    there = said + answer > 0
    righted = table + _ADDED_ITEMS * np.diag(there / there.sum())
    return _logit_limit(by_chance, metric, -z), _logit_limit(righted, metric, z)


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


INDEPENDENT = Dependence(None, 1.0, math.inf, 0)  # items without units


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
        level = open_probability("level", level)
        estimate, table = float(self.estimates[i]), self.tables[i]
        if np.isnan(estimate):
            return Interval(self.metric, METHOD, level, estimate, -1.0, 1.0, _UNDEFINED)
        worth = INDEPENDENT
        if self._first.units is not None:
            worth = self._worth(self.moves[i], float((self._item_moves(i) ** 2).sum()))
        note = worth.note or _note_on_labels(table)
        return self._single_interval(i, worth, level, note)

    def _single_interval(
        self, i: int, worth: Dependence, level: float, note: str | None = None
    ) -> Interval:
        """Return the interval of system i at an effective sample size."""
        estimate = float(self.estimates[i])
        low, high = limits_of_table(self.tables[i], self.metric, level, worth)
        ends = min(low, estimate), max(high, estimate)
        return Interval(self.metric, METHOD, level, estimate, *ends, note, worth.design_effect)

    def difference(self, i: int, j: int, level: float) -> Difference:
        """Return the difference of system j minus system i, with its MOVER interval."""
        level = open_probability("level", level)
        worth, r = self._judge(i, j)
        a, b = float(self.estimates[i]), float(self.estimates[j])
        low, high = -self.most, self.most
        if not np.isnan(b - a) and not worth.no_evidence:
            singles = [self._single_interval(k, worth, level) for k in (i, j)]
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
        freedom = max(self._judge(i, j)[0].degrees_of_freedom, 1e-3)
        deviation = (gap.high - gap.low) / 2 / float(student_quantile(gap.level, freedom))
        return StudentPosterior(gap.estimate, deviation, freedom, most=self.most)

    def _judge(self, i: int, j: int) -> tuple[Dependence, float]:
        """Return the effect of the units on a difference and the correlation of the two scores."""
        # The design effect compares the variance of the difference with that of one run of each
        # system on independent items. More runs reduce it, at most to one over their effective
        # number.
        if np.isnan(self.estimates[i] + self.estimates[j]):
            return INDEPENDENT, 0.0
        moves = [self._item_moves(k) for k in (i, j)]
        squares = [float((own**2).sum()) / len(own) for own in moves]
        most = max(float((own**2).max(initial=0)) for own in moves)
        product = float(moves[0].mean(axis=0) @ moves[1].mean(axis=0))
        worth = INDEPENDENT
        if self._first.units is not None or len(moves[0]) > 1 or len(moves[1]) > 1:
            runs = 1.0
            if len(moves[0]) > 1 or len(moves[1]) > 1:
                a, b = (self._runs(self.systems[k]) for k in (i, j))
                runs = float(Spread.of(a, b).worth())
            independent = squares[0] + squares[1] - 2 * product
            worth = self._worth(self.moves[j] - self.moves[i], independent, runs)
        # an extra item moves one score alone, as much as the items that move it most: the
        # correlation is never taken to be exactly 1
        extra = most * worth.divisor
        bottom = float(np.sqrt((squares[0] + extra) * (squares[1] + extra)))
        return worth, product / bottom if bottom > 0 else 0.0

    def _worth(self, moved: Array, independent: float, runs: float = 1.0) -> Dependence:
        """Return the effect of the units on what they move, given the variance without units."""
        # several runs count for at most this effective number of `runs`
        _, number, size = self._units
        n, freedom = float(number @ size), effective_units(size, number) - 1
        known = independent if independent * n**2 >= _NO_VARIANCE else 0.0
        return dependence_of_moves(moved, number, freedom, known, n, 1 / runs)

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
        pair = self if (i, j) == (0, 1) and len(self.systems) == 2 else self.only(i, j)
        of_a, of_b = (pair.number @ pair._sums_of(k) for k in (0, 1))
        differ = pair._sums_of(0) - pair._sums_of(1)
        there = np.diff(differ.indptr) > 0
        moves, number = differ[there].toarray(), pair.number[there]
        # exchanging a unit has the same distribution as not exchanging one with the opposite move
        back = moves[np.arange(len(moves)), np.argmax(moves != 0, axis=1)] < 0
        base = of_b + number[back] @ moves[back]
        moves = np.where(back[:, None], -moves, moves)
        moves, kind = np.unique(moves, axis=0, return_inverse=True)
        number = np.bincount(kind.ravel(), number, minlength=len(moves)).astype(np.int64)
        flips, n_units = sparse.csr_array(moves.T), self._first.n_units
        return SampledExchange(
            of_a, of_b, flips, number, pair._score_sums, n_units, base=base, keep=keep
        )

    def shared(self) -> tuple[SharedExchanges, int]:
        """Return the exchanges of all pairs: right items and said classes by system and unit."""
        first, (kinds, number, _) = self._first, self._units
        width, single = first.n_classes + 1, first.units is None and self._single
        rows = kinds if single else np.arange(len(number))  # the kind of every unit
        codes = np.unique(first.unit_of_item)
        differences = []
        for system in range(len(self.systems)):
            moved = (self._sums_of(system) - self._sums_of(0))[rows].tocoo()
            differences.append((system * width + moved.col, codes[moved.row], moved.data))
        totals = np.stack([number @ self._sums_of(k) for k in range(len(self.systems))])
        # single items have few distinct exchanges, units mostly one each
        few = 1
        if single:
            few = int(len(first.answer) / _KINDS_PER_SQUARED_CLASSES / first.n_classes**2)
        exchanges = SharedExchanges(differences, totals, first.n_units, self._score_sums)
        return exchanges, max(1, few)

    def resampled(self, known: NDArray[np.intp], weights: Array) -> Array:
        """Return the scores of the known systems with weighted units; gold is reweighted, too."""
        parts = np.asarray(weights @ self._sums).reshape(len(weights), len(self.systems) + 1, -1)
        own = parts[:, 1 + known]
        scores = score_of_margins(own[:, :, 0], own[:, :, 1:], parts[:, :1, 1:], self.metric)
        return np.asarray(np.nan_to_num(scores))

    @cached_property
    def _sums(self) -> Any:
        """Return what one unit of each kind (row) adds to the sums of gold and of each system."""
        # The sums are the number of right items and how often each class is said, in as many runs
        # of every system. Gold is a system that is always right.
        units, number, _ = self._units
        items = np.arange(len(units))
        if self._first.units is None and self._single:
            items = np.unique(units, return_index=True)[1]
        answer, width = self._first.answer[items], self._first.n_classes + 1
        tables, times = [], math.lcm(*map(len, self.systems))
        for runs in ([self._first.answer], *([run.said for run in own] for own in self.systems)):
            said = np.stack(runs)[:, items]
            right, row = said == answer, np.broadcast_to(units[items], said.shape)
            places = np.append(row, row[right]), np.append(said + 1, np.zeros(right.sum(), np.intp))
            added = np.full(len(places[0]), float(times // len(runs)))
            tables.append(sparse.coo_array((added, places), shape=(len(number), width)))
        return sparse.hstack(tables, format="csc")

    def _sums_of(self, i: int) -> Any:
        """Return what one unit of each kind adds to the sums of system i."""
        width = self._first.n_classes + 1
        return self._sums[:, (i + 1) * width : (i + 2) * width].tocsr()

    def _score_sums(self, sums: Array) -> Array:
        """Compute scores of sums on the last axis but one, with draws on the last."""
        right, said = sums[..., 0, :], np.moveaxis(sums[..., 1:, :], -2, -1)
        return np.asarray(np.nan_to_num(score_of_margins(right, said, self._answer, self.metric)))

    @cached_property
    def _answer(self) -> Array:
        """Return how often each class is gold, as often as the sums hold an item."""
        return np.asarray(self._first.table.sum(axis=1) * math.lcm(*map(len, self.systems)))
