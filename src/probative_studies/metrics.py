"""Do the intervals of MCC, kappa and their kin cover what they promise?

Of one score the coverage is a sum over all tables of four cells, and the question is what the least
of it is: over shares of positives, recalls and specificities down to guessing, where the score is
defined in half of the test sets at least. Of differences, of units and of several classes test sets
are drawn.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import special

from probative._validation import Array, Ints, one_of, whole_number
from probative.counts import Counts, LabelCounts, PairedCounts
from probative.errors import InputError
from probative.inference.classes import METHOD, ClassScore, ConfusedItems, confusion_interval
from probative.inference.differences import difference
from probative.inference.intervals import (
    PRIOR_ITEMS,
    default_method,
    interval,
    methods_for,
    pessimist_and_optimist,
)
from probative.inference.macro import (
    MacroEvidence,
    degrees_of_freedom,
    macro_interval,
    macro_posterior,
    macro_score,
)
from probative.inference.macro_comparison import macro_difference
from probative.inference.units import dependence_of_score
from probative.metrics import COMPOSITES, OF_TABLES, TABLE, Composite, ratio, score, score_of_table
from probative_studies.clusters import Condition, draw, true_difference
from probative_studies.coverage import all_tables, chances_of
from probative_studies.harness import Report, Row, mean, share_of, streams, study

# --- Test sets of several classes, and the intervals of their scores.

_Codes = NDArray[np.intp]

METRICS = (*OF_TABLES, "balanced_accuracy")


@dataclass(frozen=True)
class Confused:
    """Two systems on classes of these shares."""

    name: str
    shares: tuple[float, ...]  # of the classes in the gold
    right: float  # the share of items of every class that A gets right; errors are evenly spread
    copied: (
        float  # the share of items of which B says what A says; elsewhere it is right more often
    )
    n: int
    units: int = 0  # they come in, each with its own share that is right; 0: independent

    @property
    def _own_right(self) -> float:
        """Return how often B is right where it does not copy A."""
        return (1 + self.right) / 2

    def truth(self, metric: str) -> list[float]:
        """Return the scores of A and B."""
        rights = [self.right, self.copied * self.right + (1 - self.copied) * self._own_right]
        if metric == "balanced_accuracy":
            return rights
        k, found = len(self.shares), []
        for right in rights:
            wrong = (1 - right) / (k - 1)
            table = np.array(self.shares)[:, None] * (wrong + (right - wrong) * np.eye(k))
            found.append(float(score_of_table(table, metric)))
        return found

    def interval(self, metric: str, rng: Generator, level: float) -> Any:
        """Return the interval of A's score on a test set."""
        a, _ = self.draw(rng)
        if metric == "balanced_accuracy":
            return macro_interval(cells_of_items(a), "recall", level=level)
        return confusion_interval(a, metric, level=level)

    def difference(self, metric: str, rng: Generator, level: float) -> Any:
        """Return the interval of B minus A on a test set."""
        a, b = self.draw(rng)
        if metric == "balanced_accuracy":
            return macro_difference(cells_of_items(a), cells_of_items(b), "recall", level=level)[0]
        return ClassScore(((a,), (b,)), metric).difference(0, 1, level)

    def draw(self, rng: Generator) -> tuple[ConfusedItems, ConfusedItems]:
        """Draw a test set in whose gold all classes occur."""
        k = len(self.shares)
        while len(np.unique(answer := rng.choice(k, self.n, p=self.shares))) < k:
            pass
        units, luck = None, np.zeros(self.n)
        if self.units:
            units = np.sort(rng.integers(self.units, size=self.n))
            luck = rng.standard_normal(self.units)[units]
        a = self._said(rng, answer, self.right, luck)
        b = self._said(rng, answer, self._own_right, luck)
        b = np.where(rng.random(self.n) < self.copied, a, b)
        return ConfusedItems(answer, a, k, units), ConfusedItems(answer, b, k, units)

    def _said(self, rng: Generator, answer: _Codes, right: float, luck: Array) -> _Codes:
        """Draw what a system says: right with this probability, which a unit's luck moves."""
        # a normal threshold keeps the mean where it is, whatever the units share
        shared = _SHARED if self.units else 0.0
        own = np.sqrt(shared) * luck + np.sqrt(1 - shared) * rng.standard_normal(self.n)
        wrong = (answer + rng.integers(1, len(self.shares), self.n)) % len(self.shares)
        return np.where(special.ndtr(own) < right, answer, wrong)


_SHARED = 0.2  # of the variance behind being right, in a unit
_SHARES = {
    "3 classes": (0.6, 0.3, 0.1),
    "3 classes, rare": (0.9, 0.07, 0.03),
    "8 classes": (0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05),
}
CONDITIONS = tuple(
    Confused(f"{name}, {right:g} right", shares, right, 0.7, n)
    for name, shares in _SHARES.items()
    for right in (0.95, 0.7)
    for n in (50, 200)
) + tuple(
    Confused(f"{name}, 0.8 right, {kind}", _SHARES[name], 0.8, copied, n, units)
    for name in ("3 classes", "8 classes")
    for kind, copied, n, units in (
        ("copies", 0.99, 100, 0),
        ("copies", 0.99, 1000, 0),
        ("10 units", 0.7, 300, 10),
        ("40 units", 0.7, 1200, 40),
    )
)


def cells_of_items(items: ConfusedItems) -> LabelCounts:
    """Count right and missed items of every class by unit, one cell per class and unit."""
    units = np.arange(len(items.answer)) if items.units is None else items.units
    cell, place = np.unique(units * items.n_classes + items.answer, return_inverse=True)
    right, wrong = (
        np.bincount(place, own, len(cell))
        for own in (items.said == items.answer, items.said != items.answer)
    )
    unit, label = np.divmod(cell, items.n_classes)
    counts = Counts(right, 0 * right, wrong)
    return LabelCounts(unit, label, counts, int(units.max()) + 1, items.n_classes)


_QUESTIONS = (
    *("score", "difference", "units", "unit-differences"),
    *("classes", "class-differences"),
)
_POSITIVES = (0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)
_RATES = (0.05, 0.15, 0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999)
_DEFINED = 0.5
_HARDLY = 1e-12  # rounding
# share of positives, recall, specificity, share of the items in dispute
_SYSTEMS = {
    "even": (0.5, 0.8, 0.8, 0.1),
    "rare": (0.1, 0.7, 0.95, 0.04),
    "good": (0.3, 0.95, 0.97, 0.03),
}
# share of positives, recall, specificity and items of two systems that err apart from each other
_APART = {
    "scarce, apart": (0.05, 0.9, 0.99, 400),
    "scarce and poor, apart": (0.05, 0.3, 0.98, 400),
    "guessing, apart": (0.5, 0.5, 0.5, 50),
}
_ITEMS = (20, 50, 200)
_COPIED, _COPIES = 0.01, (50, 100, 300, 1000)
_UNITS, _UNIT_SIZES, _CORRELATION = (10, 20, 40), ("equal", "lognormal"), 0.1


def _jobs(
    questions: Sequence[str] = _QUESTIONS,
    metrics: Sequence[str] = COMPOSITES,
    *,
    sizes: Sequence[int] = (10, 20),
    methods: Sequence[str] | None = None,
    conditions: Sequence[str] | None = None,
) -> list[tuple[str, int, str] | _Drawn]:
    for question in questions:
        one_of("questions", question, _QUESTIONS)
    for metric in metrics:
        one_of("metrics", metric, COMPOSITES)
    jobs: list[tuple[str, int, str] | _Drawn] = []
    if "score" in questions:
        sizes = [whole_number("sizes", n) for n in sizes]
        jobs += [
            (metric, n, one_of("methods", method, methods_for(metric)))
            for metric, n in itertools.product(metrics, sizes)
            for method in methods or (default_method(metric),)
        ]
    for asked, metric in itertools.product((_difference_jobs, _unit_jobs, _class_jobs), metrics):
        jobs += [
            job
            for job in asked(metric)
            if job.question in questions
            and (conditions is None or any(part in job.condition for part in conditions))
        ]
    if conditions and not jobs:
        raise InputError(f"conditions: none is called {', '.join(conditions)}")
    return jobs


@study(_jobs, streams, replicates=400)
def metric_study(job: Any, level: float, replicates: int, rng: Generator) -> Iterator[Row]:
    """Compute or simulate the coverage under all conditions.

    >>> result, = metric_study(["score"], ["informedness"], sizes=[4])
    >>> 0.93 < result.coverage < 0.97
    True
    """
    if isinstance(job, tuple):
        yield least_coverage(*job, level=level)
    else:
        yield job.coverage(level, replicates, rng)


def least_coverage(metric: str, n: int, method: str | None = None, *, level: float = 0.95) -> Row:
    """Return the least coverage over shares of positives, recalls and specificities."""
    method = default_method(metric) if method is None else method
    own = TABLE[metric]
    assert isinstance(own, Composite)  # noqa: S101  # as `metric_study` makes sure
    tables = all_tables(n)
    found = interval(Counts(*tables.T), metric, method, level=level)
    there = ~np.isnan(own.value(*tables.T))
    low, high, length = found.low, found.high, np.where(there, found.high - found.low, 0.0)
    notes = np.broadcast_to(np.asarray(found.note, dtype=object), len(tables))
    noted = np.array([note is not None for note in notes])
    conditions, rows = [], []
    for share, recall, specificity in itertools.product(_POSITIVES, _RATES, _RATES):
        if recall + specificity < 1:  # worse than guessing
            continue
        rest, miss, alarm = 1 - share, 1 - recall, 1 - specificity
        shares = np.array([share * recall, rest * alarm, share * miss, rest * specificity])
        weight = chances_of(tables, shares) * there
        if weight.sum() >= _DEFINED:
            truth = float(own.value(*shares))
            held = (low <= truth + _HARDLY) & (truth - _HARDLY <= high)
            events = held, noted, ~held & ~noted, length
            rows.append([weight @ event / weight.sum() for event in events])
            conditions.append(shares)
    columns = np.array(rows).T
    worst = int(np.argmin(columns[0]))
    where = "least, at " + " ".join(f"{share:.4g}" for share in conditions[worst])
    about = "score", metric, where, n, method
    # a sum has no standard error; notes and length are those of all conditions, on average
    least, misses = float(columns[0][worst]), float(columns[2][worst])
    return _row(*about, least, 0.0, mean(columns[1]), misses, mean(columns[3]), 0)


def paired_shares(
    positives: float, recall: float, specificity: float, disputed: float, lead: float = 0.0
) -> Array:
    """Return the shares of the eight cases of two systems."""
    won, lost = disputed * (1 + lead) / 2, disputed * (1 - lead) / 2
    negatives = 1 - positives
    shares = np.empty(8)
    shares[[2, 0]] = positives * won, positives * lost
    shares[[4, 6]] = positives * (recall - lost), positives * (1 - recall - won)
    shares[[1, 3]] = negatives * won, negatives * lost
    shares[[7, 5]] = negatives * (specificity - lost), negatives * (1 - specificity - won)
    return np.maximum(shares, 0.0)


def _shares_apart(positives: float, recall: float, specificity: float) -> Array:
    """Return the shares of the eight cases of two systems as good as each other that err apart."""
    shares = np.empty(8)
    missed, alarms = 1 - recall, 1 - specificity
    shares[[0, 2, 4, 6]] = recall * missed, recall * missed, recall**2, missed**2
    shares[[1, 3, 5, 7]] = alarms * specificity, alarms * specificity, alarms**2, specificity**2
    return shares * np.where(np.arange(8) % 2, 1 - positives, positives)


@dataclass(frozen=True)
class _Drawn:
    """Test sets that are drawn, and an interval of each."""

    question: str
    metric: str
    condition: str
    n: int
    method: str
    truth: float
    # an interval, with its note; or whether it holds the truth, and has a note
    limits: Callable[[Generator, float], Any]

    def coverage(self, level: float, replicates: int, generator: Generator) -> Row:
        found: list[tuple[bool, bool, float]] = []
        while len(found) < replicates:
            one = self.limits(generator, level)
            if isinstance(one, tuple):
                found.append((*one, math.nan))
            elif one is not None and not math.isnan(one.estimate):  # else there is no interval
                held = one.low - _HARDLY <= self.truth <= one.high + _HARDLY
                found.append((held, one.note is not None, one.high - one.low))
        held, noted, length = (np.array(column) for column in zip(*found, strict=True))
        about = self.question, self.metric, self.condition, self.n, self.method
        # the length is NaN where it was told without limits whether they hold
        rest = mean(noted), mean(~held & ~noted), mean(length)
        return _row(*about, *share_of(held), *rest, replicates)


def _row(*values: Any) -> Row:
    return Row(**dict(zip(_COLUMNS, values, strict=True)))


_COLUMNS = (
    *("question", "metric", "condition", "n", "method", "coverage", "standard_error"),
    *("noted", "unnoted_misses", "length", "replicates"),
)


def _difference_jobs(metric: str) -> Iterator[_Drawn]:
    """Yield systems that differ in a part of the items, and near-copies, also with one ahead."""
    for name, (positives, recall, specificity, disputed) in _SYSTEMS.items():
        shares = paired_shares(positives, recall, specificity, disputed, 0.4)
        for n in _ITEMS:
            yield _of_items(metric, name, shares, n)
        for what, lead in (("copies", 0.0), ("copies, B ahead", 1.0)):
            shares = paired_shares(positives, recall, specificity, _COPIED, lead)
            for n in _COPIES:
                yield _of_items(metric, f"{name}, {what}", shares, n)
    for name, (positives, recall, specificity, n) in _APART.items():
        yield _of_items(metric, name, _shares_apart(positives, recall, specificity), n)


def _of_items(metric: str, name: str, shares: Array, n: int) -> _Drawn:
    def drawn(rng: Generator) -> Ints:
        return rng.multinomial(n, shares)

    limits = partial(_differ, drawn, metric)
    return _Drawn("difference", metric, name, n, "mover", true_difference(shares, metric), limits)


def _unit_jobs(metric: str) -> Iterator[_Drawn]:
    """Yield one score and a difference, of units of equal and uneven size."""
    for (system, values), sizes, n in itertools.product(_SYSTEMS.items(), _UNIT_SIZES, _UNITS):
        shares = paired_shares(*values, 0.4)
        condition = Condition("score", units=n, sizes=sizes, correlation=_CORRELATION)
        drawn = partial(draw, condition=condition, shares=shares)
        truth, gap = float(score(PairedCounts(shares).a, metric)), true_difference(shares, metric)
        about = metric, f"{system}, {sizes} units", n
        single = partial(_hold, drawn, metric, truth)
        yield _Drawn("units", *about, default_method(metric), truth, single)
        yield _Drawn("unit-differences", *about, "mover", gap, partial(_differ, drawn, metric))


def units_hold(
    units: Counts, metric: str, truth: float, *, level: float = 0.95
) -> tuple[bool, bool] | None:
    """Return whether the guarded interval of units contains a value, and whether it has a note."""
    # This uses the tails beyond the value, which take a tenth of the time of the interval. None:
    # the score is undefined.
    table = units.sum()
    estimate = score(table, metric)
    if np.isnan(estimate):
        return None
    dependence = dependence_of_score(units, metric)
    noted = dependence.note is not None
    if dependence.no_evidence:
        return True, noted
    entry = TABLE[metric]
    assert isinstance(entry, Composite)  # noqa: S101  # others have no guarded interval
    tail = float(special.ndtr(-dependence.quantile(level)))
    cells = [float(cell) for cell in entry.cells(table / dependence.divisor)]
    pessimist, optimist = pessimist_and_optimist(metric, PRIOR_ITEMS["guarded"], *cells)
    if truth < estimate:
        return bool(pessimist.cdf(truth) >= tail), noted
    return bool(truth == estimate or optimist.sf(truth) >= tail), noted


def _hold(
    drawn: Callable[..., Array], metric: str, truth: float, rng: Generator, level: float
) -> Any:
    return units_hold(PairedCounts(drawn(rng)).a, metric, truth, level=level)


def _differ(drawn: Callable[..., Any], metric: str, rng: Generator, level: float) -> Any:
    return difference(PairedCounts(drawn(rng)), metric, level=level)


def _class_jobs(metric: str) -> Iterator[_Drawn]:
    """Yield one score and a difference, of the whole table of several classes."""
    if metric not in METRICS:
        return
    for one in CONDITIONS:
        a, b = one.truth(metric)
        limits = partial(one.interval, metric), partial(one.difference, metric)
        how = (METHOD, "mover") if metric in OF_TABLES else ("hierarchical", "hierarchical")
        yield _Drawn("classes", metric, one.name, one.n, how[0], a, limits[0])
        yield _Drawn("class-differences", metric, one.name, one.n, how[1], b - a, limits[1])


# --- Do the intervals of macro averages cover what they promise?
#
# Test sets are drawn from populations whose macro F1 is known, and judged by two systems that err
# together. Labels are independent of each other in ten conditions, from comfortable ones to labels
# with three items; in the others every datum has one label, and what one label misses is another
# one's false alarm.

# --- Intervals of macro averages as others make them, for comparison.


def _delta_interval(cells: LabelCounts, level: float) -> tuple[float, float]:
    """Use the delta method over the units, on the log-odds scale, with Student's quantile."""
    estimate = macro_score(cells)
    if not 0 < estimate < 1:
        return 0.0, 1.0
    reach = _reach(_moves(cells), level) / (estimate * (1 - estimate))
    low, high = special.expit(special.logit(estimate) + np.array([-reach, reach])).tolist()
    return low, high


def _mover_interval(cells: LabelCounts, level: float) -> tuple[float, float]:
    """Join Wilson's limits of the labels; their arms are added up in squares."""
    tables = cells.by_label
    limits = interval(tables, "f1", level=level)
    return _join(*map(np.asarray, (score(tables, zero_division=0), limits.low, limits.high)))


def _mover_difference(paired: Array, level: float) -> tuple[float, float]:
    """Join the limits (MOVER) of each label's difference, from its seven paired cases."""
    differences = [difference(PairedCounts(row), "f1", level=level) for row in paired]
    estimates, low, high = np.array([(d.estimate, d.low, d.high) for d in differences]).T
    return _join(np.nan_to_num(estimates), low, high)


def _one_prior_interval(cells: LabelCounts, level: float) -> tuple[float, float]:
    """Use one prior for labels of every size, worth at most eight items."""
    tables = cells.by_label
    posterior = macro_posterior(
        np.asarray(tables.tp), np.asarray(tables.nu), f1=True, slope_spread=1e-4, largest_kappa=8.0
    )
    low, high = np.asarray(posterior.ppf([(1 - level) / 2, (1 + level) / 2])).tolist()
    return low, high


def _join(estimate: Array, low: Array, high: Array) -> tuple[float, float]:
    n, centre = len(estimate), float(np.mean(estimate))
    below, above = (
        math.sqrt(float(np.sum(arm**2))) / n for arm in (estimate - low, high - estimate)
    )
    return centre - below, centre + above


def _moves(cells: LabelCounts) -> Array:
    """Return how far each unit moves the macro F1."""
    x, y = ratio(cells.counts, "f1")
    top, bottom = cells.sum_by_label(x), cells.sum_by_label(y)
    with np.errstate(invalid="ignore", divide="ignore"):
        share, weight = (np.where(bottom > 0, own / bottom, 0.0) for own in (top, 1.0))
    moved = (x - share[cells.label] * y) * weight[cells.label]
    return cells.sum_by_unit(moved) / cells.n_labels


def _reach(moves: Array, level: float) -> float:
    n = len(moves)
    quantile = float(special.stdtrit(n - 1, (1 + level) / 2))
    return quantile * math.sqrt(n / (n - 1) * float(np.sum(moves**2)))


_BETTER = 0.02  # what B's F1 exceeds A's by
_TOGETHER = 0.5  # how often the two systems share their fate
_RIGHT = (0.75, 0.8)  # shares of data with one label each that A and B get right by themselves


class _Sample(NamedTuple):
    """A test set as two systems answer it, and their macro F1 in the population."""

    a: LabelCounts
    b: LabelCounts
    paired: Array
    true_a: float
    true_b: float


@dataclass(frozen=True)
class _SeparateLabels:
    """Labels with so many expected items each, independent of each other; items are units."""

    items: tuple[float, ...]
    f1: tuple[float, ...]  # A's precision and recall of each label; B's are two points higher

    def draw(self, generator: Generator) -> _Sample:
        """Draw a test set."""
        items, a = np.array(self.items, np.float64), np.array(self.f1)
        b = np.minimum(a + _BETTER, 0.99)
        both = _TOGETHER * np.minimum(a, b) + (1 - _TOGETHER) * a * b
        alarms_a, alarms_b = items * (1 - a), items * (1 - b)
        shared = _TOGETHER * np.minimum(alarms_a, alarms_b)
        expected = [
            *(items * (a - both), alarms_a - shared, items * (b - both), alarms_b - shared),
            *(items * both, shared, items * (1 - a - b + both)),
        ]
        paired = generator.poisson(np.stack(expected, axis=1))
        label, case = (grid.ravel() for grid in np.indices(paired.shape))
        label, case = (np.repeat(part, paired.ravel()) for part in (label, case))
        cases, unit = PairedCounts(np.eye(7)), np.arange(len(label))
        cells_a, cells_b = (
            LabelCounts(unit, label, side[case], len(unit), len(items))
            for side in (cases.a, cases.b)
        )
        return _Sample(
            cells_a, cells_b, paired.astype(np.float64), float(a.mean()), float(b.mean())
        )


@dataclass(frozen=True)
class _OneLabelEach:
    """Data with one label each; A is right on 75 % of them, B on about 78 %."""

    items: int
    prevalence: tuple[float, ...]

    def draw(self, generator: Generator) -> _Sample:
        """Draw a test set."""
        prevalence = np.array(self.prevalence)
        cells, patterns = _population(prevalence)
        data = patterns[generator.choice(len(cells), size=self.items, p=cells)]
        k = len(prevalence)
        gold, a, b = (data[:, side, None] == np.arange(k) for side in range(3))
        kinds = (a & ~b, ~a & b, a & b, ~a & ~b)
        paired = [np.sum(which & own, axis=0) for own in kinds for which in (gold, ~gold)][:7]
        side_a, side_b = (
            LabelCounts.from_table(Counts(gold & s, ~gold & s, gold & ~s)) for s in (a, b)
        )
        true = []  # macro F1 of A and of B in the population
        for side in (1, 2):
            said = [[patterns[:, s] == label for s in (0, side)] for label in range(k)]
            shares = [(cells[a & b].sum(), cells[a].sum() + cells[b].sum()) for a, b in said]
            true.append(mean([2 * both / either for both, either in shares]))
        return _Sample(side_a, side_b, np.stack(paired, axis=1).astype(float), *true)


def _even(f1: float, *items: float) -> _SeparateLabels:
    return _SeparateLabels(tuple(items), (f1,) * len(items))


MACRO_CONDITIONS: dict[str, _SeparateLabels | _OneLabelEach] = {
    "3 and 1000 items, 0.9": _even(0.9, 3, 1000),
    "3 and 300 items, 0.9": _even(0.9, 3, 300),
    "300, 300 and 3 items, 0.9": _even(0.9, 300, 300, 3),
    "60, 60 and 3 items, 0.9": _even(0.9, 60, 60, 3),
    "20 labels of 5, 0.9": _even(0.9, *[5] * 20),
    "20 labels of 50, 0.95": _even(0.95, *[50] * 20),
    "4 labels of 3, 0.9": _even(0.9, *[3] * 4),
    "3 to 500 items, 0.4 to 0.95": _SeparateLabels(
        (3, 6, 12, 25, 50, 120, 250, 500), tuple(np.linspace(0.4, 0.95, 8).tolist())
    ),
    "5 labels of 200, 0.9": _even(0.9, *[200] * 5),
    "10 labels of 100, 0.6 to 0.95": _SeparateLabels(
        (100,) * 10, tuple(np.linspace(0.6, 0.95, 10).tolist())
    ),
    "2 classes, 100 data": _OneLabelEach(100, (0.7, 0.3)),
    "5 classes, 100 data": _OneLabelEach(100, (0.5, 0.25, 0.15, 0.07, 0.03)),
    "5 classes, 1000 data": _OneLabelEach(1000, (0.5, 0.25, 0.15, 0.07, 0.03)),
}


def _populations(
    conditions: Mapping[str, _SeparateLabels | _OneLabelEach] = MACRO_CONDITIONS,
) -> Any:
    return conditions.items()


@study(_populations, streams, replicates=400)
def macro_coverage(
    case: tuple[str, Any], level: float, replicates: int, rng: Generator, report: Report
) -> Iterator[Row]:
    """Simulate test sets under every condition, and count how often the truth is covered."""
    name, condition = case
    limits, true = [], []
    for r in range(replicates):
        report(r, replicates)
        sample = condition.draw(rng)
        by_method = _macro_limits(sample, level)
        limits.append(list(by_method.values()))
        gap = sample.true_b - sample.true_a
        true.append([sample.true_a if q == "one system" else gap for q, _ in by_method])
    low, high = np.moveaxis(np.array(limits), -1, 0)
    held = (low <= true) & (true <= high)
    for i, (question, method) in enumerate(by_method):
        coverage, error = share_of(held[:, i])
        about = {"condition": name, "question": question, "method": method}
        found = {"coverage": coverage, "standard_error": error}
        yield Row(**about, **found, length=mean((high - low)[:, i]), replicates=replicates)


def _macro_limits(sample: _Sample, level: float) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the limits of every method, by question and name."""
    a, b, paired, *_ = sample
    both, posterior = macro_difference(a, b, level=level)
    one = MacroEvidence(both.a, posterior.a, degrees_of_freedom(a))  # is found on the way
    single, gap = "one system", "difference"
    # the delta method over the units, with Student's quantile
    apart, reach = macro_score(b) - macro_score(a), _reach(_moves(b) - _moves(a), level)
    return {
        (single, "delta"): _delta_interval(a, level),
        (single, "mover"): _mover_interval(a, level),
        (single, "one prior"): _one_prior_interval(a, level),
        (single, "hierarchical"): one.limits(level),
        (gap, "delta"): (apart - reach, apart + reach),
        (gap, "mover"): _mover_difference(paired, level),
        (gap, "hierarchical"): (both.low, both.high),
    }


def _population(prevalence: Array) -> tuple[Array, Ints]:
    """Return the probabilities of all triples of right label, label of A and label of B."""
    k = len(prevalence)
    right = np.eye(k, dtype=bool)
    wrong = np.where(right, 0, prevalence)
    wrong = wrong / wrong.sum(axis=1, keepdims=True)
    a, b = (np.where(right, share, (1 - share) * wrong) for share in _RIGHT)
    apart = (1 - _TOGETHER) * a[:, :, None] * b[:, None, :]
    cells = prevalence[:, None, None] * (_TOGETHER * a[:, :, None] * np.eye(k) + apart)
    return cells.ravel() / cells.sum(), np.indices((k, k, k)).reshape(3, -1).T
