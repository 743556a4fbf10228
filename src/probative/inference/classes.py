"""Judge scores of a whole confusion table (kappa, MCC): interval, difference, test, ranks, runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse, special

from probative._validation import flag, one_of, open_probability, random_generator
from probative.errors import InputError
from probative.inference.differences import mover, student_pvalue
from probative.inference.planning import UNDEFINED, Pilot, plan_from_pilot
from probative.inference.posterior.student import StudentPosterior
from probative.inference.proportions import normal_quantile, wilson
from probative.inference.rank import Evidence, pair_errors
from probative.inference.runs import Runs, Spread, answer_procedures
from probative.inference.sampled import (
    TIE,
    SharedExchanges,
    UnitFlips,
    kinds_of,
    levels_at,
    limits_of_pairs,
    sample_pairs,
    sampled_pair_tests,
    sequential_pvalue,
    sequential_pvalues,
)
from probative.inference.units import (
    ONE_UNIT,
    effective_units,
    jackknife_covariance,
    student_quantile,
)
from probative.metrics import OF_TABLES, score_of_margins, score_of_table, slopes_of_table, span
from probative.results import Difference, Interval, RandomizationTest
from probative.results.runs import ModelsAnswer, RunsDifference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from probative._validation import RNG, Array
    from probative.inference.pairs import KnownTests
    from probative.inference.sampled import KnownLimits, SampledPvalue
    from probative.results import Plan


# --- Intervals and differences of kappa and Matthews' coefficient of a whole confusion table
#
# The delta method: an item of class i called j moves a score by its derivative in cell (i, j), and
# a unit moves it by the sum over its items. The interval is a logit interval of the score between
# its bounds. One item is added to the table, so that a standard error of 0 does not make an end
# certain: for the lower end it is shared out as chance would do, for the upper end it is a right
# item, shared out evenly among the classes that occur on either side. Score and interval stay the
# same when gold and system change places.

if TYPE_CHECKING:
    Codes = NDArray[np.intp]


METHOD = "logit"
_ADDED_ITEMS = 1.0  # added to the table: by chance for the lower end, right for the upper end
_NO_VARIANCE = 1e-12  # squared moves that sum to less than this are rounding
_UNDEFINED = "undefined: everything is of one class"
_ONE_LABEL = "everything is called one class: limits from how often others may be called otherwise"
_ONE_ANSWER = "the answer has one class: limits from how often it may have others"


@dataclass(frozen=True, eq=False)
class ConfusedItems:
    """The gold class of every item and the class that a system says.

    Attributes
    ----------
    answer, said
        Gold and predicted class of every item, as codes from 0.
    n_classes
        The number of classes.
    units
        The unit of every item, as a code from 0; None if items are independent.
    """

    answer: Codes
    said: Codes
    n_classes: int
    units: Codes | None = None

    def __post_init__(self) -> None:
        if len(self.answer) != len(self.said):
            raise InputError(f"said: {len(self.said)} items, but the answer has {len(self.answer)}")

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
    def sums(self) -> Array:
        """Return the number of right items, followed by how often each class is said."""
        table = self.table
        return np.concatenate([[np.trace(table)], table.sum(axis=0)])

    def moves(self, metric: str) -> Array:
        """Return the derivative of the score with respect to each item's weight."""
        return np.asarray(slopes_of_table(self.table, metric)[self.answer, self.said])


def pool_items(runs: Sequence[ConfusedItems], times: int) -> ConfusedItems:
    """Join the predictions of all runs of a system, each repeated until there are `times` of them.

    All predictions for one item (or unit) form one unit.
    """
    first, repeated = runs[0], times // len(runs)
    units = np.arange(len(first.answer)) if first.units is None else first.units
    said = np.concatenate([run.said for run in runs])
    return ConfusedItems(
        np.tile(first.answer, times),
        np.tile(said, repeated),
        first.n_classes,
        np.tile(units, times),
    )


def confusion_interval(
    items: ConfusedItems, metric: str = "kappa", *, level: float = 0.95
) -> Interval:
    """Compute the logit interval of kappa, R_K ("mcc") or balanced accuracy of a whole table."""
    one_of("metric", metric, OF_TABLES)
    level = open_probability("level", level)
    table = items.table
    estimate = float(score_of_table(table, metric))
    if np.isnan(estimate):
        return Interval(metric, METHOD, level, estimate, -1.0, 1.0, _UNDEFINED)
    worth = Worth.of(items.units, items.moves(metric), len(items.answer))
    low, high = worth.limits(table, metric, level)
    return Interval(
        metric,
        METHOD,
        level,
        estimate,
        min(low, estimate),
        max(high, estimate),
        worth.note or _note_on_labels(table),
        worth.design_effect,
    )


@dataclass(frozen=True)
class Worth:
    """The effect of units on the variance of a score.

    Items are divided by `divisor`, which is the design effect but at least 1; `freedom` are the
    degrees of freedom, Kish's effective number of units less one.
    """

    design_effect: float | None
    divisor: float
    freedom: float

    @classmethod
    def of(cls, units: Codes | None, moves: Array, n: int) -> Worth:
        """Compute the effect from the items' units, their moves of the score, and their number."""
        if units is None:
            return cls(None, 1.0, np.inf)
        moved, size = np.bincount(units, moves), np.bincount(units).astype(np.float64)
        moved, size = moved[size > 0], size[size > 0]
        freedom = effective_units(size) - 1
        if not freedom > 0:
            return cls(np.nan, 1.0, 0.0)
        independent = float(moves @ moves)
        if independent * n**2 < _NO_VARIANCE:
            return cls(np.nan, n / len(size), freedom)
        # without a unit the others share fewer items, and the score moves further
        left = moved / (1 - size / n)
        variance = (len(size) - 1) / len(size) * float(np.sum((left - left.mean()) ** 2))
        effect = variance / independent
        return cls(effect, max(1.0, effect), freedom)

    @property
    def note(self) -> str | None:
        """Return a note if there is only one unit."""
        return None if self.freedom > 0 else ONE_UNIT

    def limits(self, table: Array, metric: str, level: float) -> tuple[float, float]:
        """Return the ends of the interval of a table's score at its effective sample size."""
        if not self.freedom > 0:
            return _least(metric), 1.0
        endless = np.isinf(self.freedom)
        z = normal_quantile(level) if endless else float(student_quantile(level, self.freedom))
        return _limits_of_table(table / self.divisor, metric, z)


def _limits_of_table(table: Array, metric: str, z: float) -> tuple[float, float]:
    """Return the ends of the interval of a table's score at a normal or Student quantile."""
    if metric == "balanced_accuracy":
        return _limits_of_recalls(table, z)
    if _has_one_label(table):
        return _limits_of_one_label(table, metric, z)
    chance = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True)
    by_chance = table + _ADDED_ITEMS * chance / table.sum() ** 2
    there = table.sum(axis=0) + table.sum(axis=1) > 0
    righted = table + _ADDED_ITEMS * np.diag(there / there.sum())
    return _logit_limit(by_chance, metric, -z), _logit_limit(righted, metric, z)


def _limits_of_recalls(table: Array, z: float) -> tuple[float, float]:
    """Return the ends of the mean recall's interval, by MOVER from a Wilson interval per class.

    A class that is always right, or never, has variance 0 and yet is not certain.
    """
    there = table.sum(axis=1) > 0
    right, answer = np.diagonal(table)[there], table.sum(axis=1)[there]
    recall, (low, high) = right / answer, wilson(right, answer, z)
    below, above = (float(np.sqrt(np.sum((recall - end) ** 2))) for end in (low, high))
    return float(recall.mean()) - below / len(recall), float(recall.mean()) + above / len(recall)


def _logit_limit(table: Array, metric: str, z: float) -> float:
    """Return the value `z` standard errors from the score, on the log odds between -1 and 1."""
    score = float(score_of_table(table, metric))
    if not -1 < score < 1:
        return score
    variance = float(np.sum(table * slopes_of_table(table, metric) ** 2))
    reach = z * np.sqrt(variance) * 2 / ((1 + score) * (1 - score))
    return float(np.tanh(np.arctanh(score) + reach / 2))


def _has_one_label(table: Array) -> bool:
    """Return True if gold has one class or the system says one class only; kappa is then 0."""
    return any(np.count_nonzero(table.sum(axis=axis)) == 1 for axis in (0, 1))


def _note_on_labels(table: Array) -> str | None:
    """Return a note if gold or the system has a single class."""
    if not _has_one_label(table):
        return None
    return _ONE_ANSWER if np.count_nonzero(table.sum(axis=1)) == 1 else _ONE_LABEL


def _limits_of_one_label(table: Array, metric: str, z: float) -> tuple[float, float]:
    """Return the lowest and highest score if some items were labelled otherwise.

    None of n items was; by Clopper and Pearson up to 1 - tail^(1/n) of all items may be.
    """
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
    low, high = (float(score_of_table(one, metric)) for one in (worst, best))
    return low, high


def confusion_difference(
    a: ConfusedItems, b: ConfusedItems, metric: str = "kappa", *, level: float = 0.95
) -> Difference:
    """Compute a MOVER interval for the difference of two systems on the same items, B minus A.

    Gold and units must be the same in both.
    """
    one_of("metric", metric, OF_TABLES)
    level = open_probability("level", level)
    tables = a.table, b.table
    if np.isnan(sum(float(score_of_table(table, metric)) for table in tables)):
        return _difference_of_tables(tables, metric, level, Worth(None, 1.0, np.inf), 0.0)
    moves_a, moves_b = a.moves(metric), b.moves(metric)
    worth = Worth.of(a.units, moves_b - moves_a, len(a.answer))
    squares = float(moves_a @ moves_a), float(moves_a @ moves_b), float(moves_b @ moves_b)
    most = max(float(np.max(own**2, initial=0)) for own in (moves_a, moves_b))
    r = _correlation_of_moves(*squares, most * worth.divisor)
    return _difference_of_tables(tables, metric, level, worth, r)


def _difference_of_tables(
    tables: tuple[Array, Array], metric: str, level: float, worth: Worth, r: float
) -> Difference:
    """Compute a MOVER interval for the difference of two tables' scores, correlated by `r`.

    `worth` is the effect of units on the variance of the difference.
    """
    score_a, score_b = (float(score_of_table(table, metric)) for table in tables)
    gap, most = score_b - score_a, 1.0 - _least(metric)

    def result(low: float, high: float, note: str | None) -> Difference:
        effect = worth.design_effect
        return Difference(metric, "mover", level, gap, low, high, score_a, score_b, r, effect, note)

    if np.isnan(gap):
        return result(-most, most, _UNDEFINED)
    if not worth.freedom > 0:
        return result(-most, most, worth.note)
    singles = []
    for table, score in zip(tables, (score_a, score_b), strict=True):
        low, high = worth.limits(table, metric, level)
        own = Interval(metric, METHOD, level, score, min(low, score), max(high, score))
        singles.append(own)
    return result(*mover(singles[0], singles[1], r), worth.note)


def confusion_posterior(
    a: ConfusedItems, b: ConfusedItems, metric: str = "kappa"
) -> StudentPosterior:
    """Return the posterior of the difference: Student's distribution about the estimate."""
    gap = confusion_difference(a, b, metric)
    if np.isnan(gap.estimate):
        return _posterior_of_gap(gap, np.inf)
    moves = b.moves(metric) - a.moves(metric)
    return _posterior_of_gap(gap, Worth.of(a.units, moves, len(a.answer)).freedom)


def confusion_unit_pvalue(a: ConfusedItems, b: ConfusedItems, metric: str = "kappa") -> float:
    """Return Student's p-value of the difference of two systems, by unit or by item."""
    gap = float(score_of_table(b.table, metric)) - float(score_of_table(a.table, metric))
    if np.isnan(gap):
        return float("nan")
    units = np.arange(len(a.answer)) if a.units is None else a.units
    moves = b.moves(metric) - a.moves(metric)
    worth = Worth.of(units, moves, len(a.answer))
    variance = np.nan_to_num(worth.design_effect or 0.0) * float(moves @ moves)
    return float(student_pvalue(gap, np.sqrt(variance), worth.freedom))


def _posterior_of_gap(gap: Difference, freedom: float) -> StudentPosterior:
    """Return Student's distribution about a difference, with the width of its interval.

    The interval also allows for items that happen to move neither score here.
    """
    most = 1.0 - _least(gap.metric)
    if np.isnan(gap.estimate):
        return StudentPosterior(np.nan, 0.0, np.inf, most=most)
    freedom = max(freedom, 1e-3)
    reach = (
        float(student_quantile(gap.level, freedom))
        if np.isfinite(freedom)
        else normal_quantile(gap.level)
    )
    return StudentPosterior(gap.estimate, (gap.high - gap.low) / 2 / reach, freedom, most=most)


def _correlation_of_moves(aa: float, ab: float, bb: float, extra: float) -> float:
    """Return the correlation of two scores from the sums of products of their moves.

    An extra item moves one score alone, as much as the items that move it most: the correlation is
    never taken to be exactly 1.
    """
    bottom = np.sqrt((aa + extra) * (bb + extra))
    return ab / float(bottom) if bottom > 0 else 0.0


def _least(metric: str) -> float:
    """Return the smallest possible value of a score."""
    return 0.0 if metric == "balanced_accuracy" else -1.0


# --- Randomisation test of kappa and Matthews' coefficient
#
# The scores depend on the number of right items and on how often the system says each class; an
# exchange moves these sums. They have too many dimensions for an exact test, so exchanges are
# drawn at random.


def confusion_test(
    a: ConfusedItems,
    b: ConfusedItems,
    metric: str = "kappa",
    *,
    level: float = 0.95,
    rng: RNG | None = None,
) -> RandomizationTest:
    """Test the difference of two systems by sampled exchanges of items or units; two-sided.

    Drawing stops when it is clear whether the p-value is below 0.05, 0.01 and 1 - level.
    """
    return confusion_tests([(a, b)], metric, level=level, rng=rng)[0]


def confusion_tests(
    pairs: Sequence[tuple[ConfusedItems, ConfusedItems]],
    metric: str = "kappa",
    *,
    level: float = 0.95,
    rng: RNG | None = None,
    n_jobs: int | None = 1,
) -> list[RandomizationTest]:
    """Test several pairs whose p-values will be adjusted by Holm's method.

    Drawing stops when the decision on each pair is clear, with and without the adjustment. The
    result does not depend on `n_jobs`, the number of threads.
    """
    one_of("metric", metric, OF_TABLES)
    exchanges = [TableExchange.of(a, b, metric) for a, b in pairs]

    def draw(own: np.random.Generator, number: int, tests: NDArray[np.int64]) -> list[int]:
        # one seed per pair: its exchanges do not depend on which other pairs are still open
        seeds = own.integers(2**63, size=len(exchanges)).tolist()
        return [exchanges[i].extreme(np.random.default_rng(seeds[i]), number) for i in tests]

    found = sequential_pvalues(
        draw, len(pairs), levels=levels_at(level), rng=random_generator(rng), n_jobs=n_jobs
    )
    return [
        RandomizationTest(
            metric=metric,
            alternative="two-sided",
            by="item" if a.units is None else "unit",
            statistic=exchange.observed,
            n_units=a.n_units,
            method="sampled",
            pvalue=1.0 if abs(exchange.observed) <= TIE else own.pvalue,
            n_resamples=own.draws,
            standard_error=own.standard_error,
            pvalue_low=own.low,
            pvalue_high=own.high,
            note=str(own),
        )
        for (a, _), exchange, own in zip(pairs, exchanges, found, strict=True)
    ]


class TableScores:
    """Scores from the number of right items and how often each class is said.

    Balanced accuracy takes the number of right items of each gold class instead. `answer` holds the
    number of items of each gold class. An undefined score counts as 0.
    """

    def __init__(self, answer: Array, metric: str):
        self.answer, self.metric = answer, metric

    def __call__(self, sums: Array) -> Array:
        """Compute the scores of sums; sums are on the last axis but one, draws on the last."""
        if self.metric == "balanced_accuracy":
            there = self.answer > 0
            recalls = sums[..., there, :] / self.answer[there, None]
            return np.asarray(recalls.mean(axis=-2))
        right, said = sums[..., 0, :], np.moveaxis(sums[..., 1:, :], -2, -1)
        scores = score_of_margins(right, said, self.answer, self.metric)
        return np.asarray(np.nan_to_num(scores))


class TableExchange:
    """Random exchanges of two systems' predictions by unit, with their effect on the scores.

    `sums` are those of A and of B; `moves` holds the changes of the sums when a unit takes A's
    predictions instead of B's, and `number` counts the units with each change.
    """

    def __init__(
        self,
        sums: tuple[Array, Array],
        moves: Array,
        number: NDArray[np.int64],
        scores: TableScores,
    ):
        self._scores = scores
        of_a, of_b = scores(np.stack(sums, axis=-1)).tolist()
        self.observed = of_b - of_a
        moves = moves.copy()
        # exchanging a unit has the same distribution as not exchanging one with the opposite move
        first = moves[np.arange(len(moves)), np.argmax(moves != 0, axis=1)]
        back = first < 0
        self._total = sums[0] + sums[1]
        self._base = sums[1] + number[back] @ moves[back]
        moves[back] *= -1
        moves, kind = np.unique(moves, axis=0, return_inverse=True)
        number = np.bincount(kind.ravel(), number, minlength=len(moves)).astype(np.int64)
        self._flips = UnitFlips(sparse.csr_array(moves.T), number)

    @classmethod
    def of(cls, a: ConfusedItems, b: ConfusedItems, metric: str) -> TableExchange:
        """Build the exchanges of single items, or of whole units if the items have units."""
        scores = TableScores(a.table.sum(axis=1), metric)
        return cls((a.sums, b.sums), *_distinct_moves(a, b), scores)

    def extreme(self, generator: np.random.Generator, number: int) -> int:
        """Count the exchanges, out of `number`, with a difference at least as large as observed."""
        extreme = 0
        for moved in self._flips.draw(generator, number):
            own = self._base[:, None] + moved
            size = np.abs(self._scores(own) - self._scores(self._total[:, None] - own))
            extreme += int(np.count_nonzero(size >= abs(self.observed) - TIE))
        return extreme


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


# --- Sample size for a comparison by a score of the whole confusion table
#
# A unit's part in the difference comes from the derivatives of the score at the mean of both
# systems' tables; `planning` does the rest.


def confusion_plan(
    a: ConfusedItems, b: ConfusedItems, metric: str = "kappa", *, level: float = 0.95, **how: Any
) -> Plan:
    """Compute the sample size, power or smallest detectable difference from a pilot.

    `how` holds `difference`, `power` and `units`, as for `probative.plan`.
    """
    level = open_probability("level", level)
    observed = float(score_of_table(b.table, metric) - score_of_table(a.table, metric))
    return plan_from_pilot(_pilot(a, b, metric), metric, observed, level=level, **how)


def _pilot(a: ConfusedItems, b: ConfusedItems, metric: str) -> Pilot:
    """Return each unit's part in the difference, by the derivatives at the mean of both tables."""
    together = (a.table + b.table) / 2
    units = np.arange(len(a.answer)) if a.units is None else a.units
    _, place = np.unique(units, return_inverse=True)
    n_units = int(place.max(initial=-1)) + 1
    if np.isnan(score_of_table(together, metric)):
        return Pilot.without_any(n_units, UNDEFINED)
    slopes = slopes_of_table(together, metric)
    moves = slopes[b.answer, b.said] - slopes[a.answer, a.said]
    added = np.bincount(place.ravel(), moves).astype(np.float64)
    informative = int(np.count_nonzero(added))
    return Pilot.of_units(n_units * added, np.ones(n_units), n_units, informative)


# --- Several runs of two systems, by a score of the whole confusion table
#
# As in `probative.inference.runs`, with a unit's part in a score replaced by the sum of its items'
# derivatives in the table of their run. *These models* are compared by the summed tables of their
# runs, *these procedures* by the mean scores of the runs.


def compare_table_runs(
    a: Sequence[ConfusedItems],
    b: Sequence[ConfusedItems],
    metric: str = "kappa",
    *,
    level: float = 0.95,
    paired_runs: bool = False,
    rng: RNG | None = None,
) -> RunsDifference:
    """Compare two systems with several runs each by a score of the whole table, B minus A.

    Each run holds its predictions for the same items.
    """
    level = open_probability("level", level)
    paired_runs = flag("paired_runs", paired_runs)
    units = _confusion_runs_units_of(a[0])
    side_a, side_b = (_runs(own, units, metric) for own in (a, b))
    models = _models(a, b, metric, level, units, Spread.of(side_a, side_b), rng)
    procedures, note = answer_procedures(side_a, side_b, models, level, paired_runs, span(metric))
    scores_a, scores_b = (tuple(side.scores.tolist()) for side in (side_a, side_b))
    return RunsDifference(metric, level, scores_a, scores_b, paired_runs, models, procedures, note)


def _confusion_runs_units_of(items: ConfusedItems) -> NDArray[np.intp]:
    """Return the unit of every item as a code from 0 without gaps; a single item is a unit."""
    if items.units is None:
        return np.arange(len(items.answer))
    return np.unique(items.units, return_inverse=True)[1].ravel()


def _runs(runs: Sequence[ConfusedItems], units: NDArray[np.intp], metric: str) -> Runs:
    """Compute the score of each run and each unit's move of it."""
    size = np.bincount(units).astype(np.float64)
    scores = np.array([float(score_of_table(own.table, metric)) for own in runs])
    with np.errstate(invalid="ignore", divide="ignore"):
        moves = np.array([np.bincount(units, own.moves(metric)) for own in runs])
        left_out = -moves.mean(axis=0) / (1 - size / size.sum())
    return Runs(scores, moves, left_out, size)


def _models(
    a: Sequence[ConfusedItems],
    b: Sequence[ConfusedItems],
    metric: str,
    level: float,
    units: NDArray[np.intp],
    spread: Spread,
    rng: RNG | None,
) -> ModelsAnswer:
    """Compute difference, test and posterior for these models, on the summed tables of all runs."""
    tables = _together(a), _together(b)
    worth, r = Worth(None, 1.0, np.inf), 0.0
    if not np.isnan(sum(float(score_of_table(table, metric)) for table in tables)):
        worth, r = _worth(a, b, tables, metric, units, float(spread.worth()))
    gap = _difference_of_tables(tables, metric, level, worth, r)
    exchange = _exchange(a, b, metric, units)
    found = sequential_pvalue(exchange.extreme, levels=levels_at(level), rng=random_generator(rng))
    posterior = _posterior_of_gap(gap, worth.freedom)
    p_a_better, _, p_b_better = posterior.probabilities(0.0)
    how = (
        f"score of the whole confusion table: the test is sampled ({found}), the posterior "
        f"approximate"
    )
    return ModelsAnswer(
        gap.a,
        gap.b,
        gap.estimate,
        gap.low,
        gap.high,
        gap.method,
        gap.design_effect,
        _pvalue(exchange, found),
        "sampled",
        p_a_better,
        p_b_better,
        "; ".join(note for note in (how, gap.note) if note),
        posterior=posterior,
        p_unit=float(student_pvalue(gap.estimate, spread.by_unit**0.5, spread.unit_freedom)),
    )


def _pvalue(exchange: TableExchange, found: SampledPvalue) -> float:
    """Return the sampled p-value; 1 for equal scores."""
    return 1.0 if abs(exchange.observed) <= TIE else found.pvalue


def _together(runs: Sequence[ConfusedItems]) -> Array:
    """Return the mean table of the runs."""
    return np.asarray(sum(own.table for own in runs) / len(runs))


def _worth(
    a: Sequence[ConfusedItems],
    b: Sequence[ConfusedItems],
    tables: tuple[Array, Array],
    metric: str,
    units: NDArray[np.intp],
    runs: float,
) -> tuple[Worth, float]:
    """Return the effect of the units on the difference and the correlation of the two scores.

    The design effect compares the variance of the difference with that of one run of each system on
    independent items. More runs reduce it, at most to one over the effective number of runs.
    """
    means, squares, most = [], [], 0.0
    for own, table in zip((a, b), tables, strict=True):
        slopes = slopes_of_table(table, metric)
        moves = np.array([slopes[run.answer, run.said] for run in own])
        means.append(moves.mean(axis=0))
        squares.append(float((moves**2).sum()) / len(own))
        most = max(most, float((moves**2).max(initial=0)))
    n, size = len(units), np.bincount(units).astype(np.float64)
    freedom = effective_units(size) - 1
    if not freedom > 0:
        return Worth(np.nan, 1.0, 0.0), 0.0
    product = float(means[0] @ means[1])
    independent = squares[0] + squares[1] - 2 * product
    left = np.bincount(units, means[1] - means[0]) / (1 - size / n)
    variance = (len(size) - 1) / len(size) * float(np.sum((left - left.mean()) ** 2))
    if independent * n**2 < TIE:
        worth = Worth(np.nan, n / len(size), freedom)
    else:
        effect = variance / independent
        worth = Worth(effect, max(1 / runs, effect), freedom)
    r = _correlation_of_moves(squares[0], product, squares[1], most * worth.divisor)
    return worth, r


def _exchange(
    a: Sequence[ConfusedItems], b: Sequence[ConfusedItems], metric: str, units: NDArray[np.intp]
) -> TableExchange:
    """Build exchanges of whole units, all runs at once, with both systems' sums on one lattice."""
    times = math.lcm(len(a), len(b))
    scores = TableScores(a[0].table.sum(axis=1) * times, metric)
    of_a, of_b = (_sums(own, metric, units) * (times // len(own)) for own in (a, b))
    moves = of_a - of_b
    moves = moves[moves.any(axis=1)]
    number = np.ones(len(moves), dtype=np.int64)
    return TableExchange((of_a.sum(axis=0), of_b.sum(axis=0)), moves, number, scores)


def _sums(runs: Sequence[ConfusedItems], metric: str, units: NDArray[np.intp]) -> Array:
    """Return the summed parts of all runs in the sums behind the score, one row per unit."""
    first = runs[0]
    by_class = (
        metric == "balanced_accuracy"
    )  # right items by class; else right items in all, then labels said
    sums = np.zeros((int(units.max(initial=-1)) + 1, first.n_classes + (not by_class)))
    for own in runs:
        right = own.said == own.answer
        if by_class:
            np.add.at(sums, (units[right], own.answer[right]), 1)
        else:
            np.add.at(sums[:, 0], units[right], 1)
            np.add.at(sums, (units, own.said + 1), 1)
    return sums


# --- Evidence for a ranking of many systems by kappa or Matthews' coefficient

if TYPE_CHECKING:
    Pair = tuple[int, int]


# distinct exchanges of single items, as a multiple of the squared number of classes: unordered
# pairs of labels, times three for which of the two is right
_KINDS_PER_SQUARED_CLASSES = 3 / 2


def evidence_of_tables(
    systems: Sequence[ConfusedItems],
    metric: str = "kappa",
    *,
    level: float = 0.95,
    adjust: str = "holm",
    seed: int = 0,
    n_jobs: int | None = -1,
    report: Callable[[int, int], None] | None = None,
    tested: KnownTests | None = None,
    limited: KnownLimits | None = None,
) -> Evidence:
    """Collect the evidence for a ranking of systems by a score of the whole confusion table.

    Drawing stops when the p-values are clear of `level`, adjusted for their number by `adjust`.
    `tested` and `limited` are as for `pairs.pair_tests` and `sampled.limits_of_pairs`.
    """
    estimates = np.array([float(score_of_table(own.table, metric)) for own in systems])
    units, number, size = _confusion_leaderboard_units_of(systems)
    judged = ~np.isnan(estimates) & (number.sum() > 1)
    kind = kinds_of(own.said.tobytes() for own in systems)
    how: dict[str, Any] = {"level": level, "adjust": adjust, "seed": seed}
    find = partial(confusion_pair_tests, systems, metric=metric, n_jobs=n_jobs, report=report)
    tests = sample_pairs(partial(find, **how), kind, tested)
    there: list[int] = np.flatnonzero(judged).tolist()
    left = 1 - size / max(
        1.0, float(number @ size)
    )  # share of the items that is left without a unit
    moves = np.zeros((len(there), len(number)))
    for row, i in enumerate(there):
        of_units = np.bincount(units, systems[i].moves(metric), minlength=len(number))
        moves[row] = of_units / number / left
    covariance = jackknife_covariance(moves, number)
    gaps = np.subtract.outer(estimates[there], estimates[there])
    freedom = effective_units(size, number) - 1
    sums: Any = _sums_of_units([systems[i] for i in there], units, number) if there else None

    def scores(weights: Array) -> Array:
        parts = np.asarray(weights @ sums).reshape(len(weights), len(there) + 1, -1)
        answer = parts[:, :1, 1:]
        return np.asarray(
            np.nan_to_num(score_of_margins(parts[:, 1:, 0], parts[:, 1:, 1:], answer, metric))
        )

    return Evidence(
        estimates=estimates,
        judged=judged,
        identical=kind[:, None] == kind,
        **tests,
        unit_pvalues=student_pvalue(gaps, pair_errors(covariance), freedom),
        covariance=covariance,
        limits=limits_of_pairs(partial(_limits, metric), systems, there, limited, n_jobs=n_jobs),
        scores=scores,
        number=number,
        most=span(metric),
        approximate="score of the whole confusion table",
    )


def confusion_pair_tests(
    systems: Sequence[ConfusedItems], pairs: Sequence[Pair], metric: str = "kappa", **how: Any
) -> list[SampledPvalue]:
    """Compute two-sided p-values of pairs of systems by sampled exchanges of items or whole units.

    `pairs` holds the indices of two systems each; `how` is passed on to `sampled_pair_tests`.
    """
    first = systems[0]

    @cache
    def alone(test: int) -> TableExchange:
        a, b = (systems[k] for k in pairs[test])
        return TableExchange.of(a, b, metric)

    # single items have few distinct exchanges, units mostly one each
    few = (
        1
        if first.units is not None
        else int(len(first.answer) / _KINDS_PER_SQUARED_CLASSES / first.n_classes**2)
    )
    return sampled_pair_tests(
        _shared_exchanges(systems, metric), alone, pairs, few=max(1, few), **how
    )


def _shared_exchanges(systems: Sequence[ConfusedItems], metric: str) -> SharedExchanges:
    """Build shared exchanges from each unit's right items and said classes, by system."""
    first = systems[0]
    rows = np.arange(len(first.answer)) if first.units is None else first.units
    width = first.n_classes + 1
    differences = []
    for system, own in enumerate(systems):
        there = np.flatnonzero(own.said != first.said)
        at = rows[there]
        for side, sign in ((own, 1.0), (first, -1.0)):
            said, right = side.said[there], side.said[there] == side.answer[there]
            ones = np.full(len(there), sign)
            differences.append((system * width + 1 + said, at, ones))
            differences.append((np.full(right.sum(), system * width), at[right], ones[right]))
    totals = np.stack([own.sums for own in systems])
    scores = TableScores(first.table.sum(axis=1), metric)
    return SharedExchanges.of(differences, totals, first.n_units, scores)


def _limits(
    metric: str, level: float, pair: tuple[ConfusedItems, ConfusedItems]
) -> tuple[float, float]:
    """Return the ends of the interval of the difference of a pair."""
    gap = confusion_difference(*pair, metric, level=level)
    return gap.low, gap.high


def _confusion_leaderboard_units_of(
    systems: Sequence[ConfusedItems],
) -> tuple[NDArray[np.intp], NDArray[np.int64], Array]:
    """Return the kind of unit of each item, the number of units of each kind, and their sizes.

    Single items with the same gold class and the same predictions of all systems are of one kind.
    """
    first = systems[0]
    if first.units is not None:
        _, kinds, size = np.unique(first.units, return_inverse=True, return_counts=True)
        return kinds.ravel(), np.ones(len(size), dtype=np.int64), size.astype(np.float64)
    kinds = first.answer.astype(np.int64)
    for own in systems:
        _, kinds = np.unique(kinds * own.n_classes + own.said, return_inverse=True)
    number = np.bincount(kinds)
    return kinds, number, np.ones(len(number))


def _sums_of_units(
    systems: Sequence[ConfusedItems], units: NDArray[np.intp], number: NDArray[np.int64]
) -> Any:
    """Return the sums that one unit of each kind adds (rows) for gold, then for each system.

    Gold stands first, as a system that is always right, so that resampling reweights it, too.
    """
    answer, width = systems[0].answer, systems[0].n_classes + 1
    rows, columns = [], []
    for place, said in enumerate([answer, *(own.said for own in systems)]):
        right = np.flatnonzero(said == answer)
        rows += [units, units[right]]
        columns += [place * width + 1 + said, np.full(len(right), place * width)]
    row = np.concatenate(rows)
    shape = (len(number), (len(systems) + 1) * width)
    places = (row, np.concatenate(columns))
    return sparse.coo_array((1 / number[row], places), shape=shape).tocsc()
