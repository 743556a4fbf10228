"""Scores and comparisons while labels still arrive: look after every batch, stop at any time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import one_of, open_probability, positive, shown, whole_number
from probative.counts import Counts, PairedCounts
from probative.errors import InputError
from probative.inference.clusters import contributions, jackknife_error
from probative.inference.sequences import GRID, Wealth, planned_grid, reach, share_limits
from probative.metrics import CELLS, COMPOSITES, METRICS, TABLE, bounds, score
from probative.metrics import contributions as contributions_of
from probative.options.base import sign
from probative.results.sequences import Look, Looks

if TYPE_CHECKING:
    from probative._types import Array

    # what each kind of unit adds to numerator and denominator of one score or two
    Rows = list[tuple[Array, Array]]

__all__ = ["FEWEST", "SequentialTest", "look_limits", "sequential"]

# Limits from a standard error begin where there are so many units in which anything counts: with
# fewer, a score that happens to be all right or all wrong would have none.
FEWEST = 30
_TOO_FEW = f"fewer than {FEWEST} units in which anything counts: no limits yet"
# A good system shows no error, so no variance, in its first units. Its score varies as if so many
# more errors had been seen, each as large as an item that is returned under a wrong label in
# sentences of two items (the square of its weight is that of a mean unit).
_ERRORS_UNSEEN = 4
# A score of both classes rests on the rarer one, however many units there are.
FEWEST_OF_A_CLASS = 10
_TOO_FEW_OF_A_CLASS = f"fewer than {FEWEST_OF_A_CLASS} items of a class: no limits yet"
_FARTHEST = 10**9  # units: more than anybody will label


def sequential(
    metric: str = "f1", *, level: float = 0.95, planned: int | None = None, beta: float = 1.0
) -> SequentialTest:
    """Begin to look at scores, or at the difference of two systems, while labels still arrive.

    Parameters
    ----------
    metric, beta
        The score: precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv,
        balanced_accuracy, mcc, kappa, informedness, markedness or fowlkes_mallows; the weight of
        recall in F-beta.
    level
        With this probability the limits hold at every look, and 1 - level bounds the probability
        that the test ever decides between exchangeable systems.
    planned
        How many units will be labelled if nothing is decided before, about. Limits are tightest
        there, and bets do best for differences that just come out by then. By default limits are
        made for 1,000 units, and bets for differences of all sizes.

    Returns
    -------
    SequentialTest
        `update(counts)` takes the next batch and returns a `Look`.

    Examples
    --------
    >>> import probative as pv
    >>> test = pv.sequential("f1", planned=500)
    >>> batch = pv.PairedCounts([[0, 0, 1, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0, 1]], [60, 40])
    >>> look = test.update(batch)
    >>> look.units, look.decided
    (100, 'b')
    >>> print(look)  # doctest: +ELLIPSIS
    look 1, 100 units: F1, B − A 30.07 [27.75, 32.38]; decided: B is better than A (p = ...
    """
    return SequentialTest(metric, level=level, planned=planned, beta=beta)


class SequentialTest:
    """The state of a sequence of looks; made by `sequential`."""

    def __init__(
        self,
        metric: str = "f1",
        *,
        level: float = 0.95,
        planned: int | None = None,
        beta: float = 1.0,
    ) -> None:
        self.metric = one_of("metric", metric, METRICS)
        self._bounds = bounds(self.metric)
        self.level = open_probability("level", level)
        self.beta = positive("beta", beta)
        self.planned = None if planned is None else whole_number("planned", planned)
        grid = GRID if self.planned is None else planned_grid(self.planned, self.level)
        self._wealth = Wealth(grid)
        self._counted: list[Any] = []
        self._looks: list[Look] = []

    def update(self, counts: Counts | PairedCounts) -> Look:
        """Add the next batch of labels and look.

        Parameters
        ----------
        counts
            Of one system `Counts`, of two `PairedCounts`. With one row per unit, units are what is
            independent; a single table is one of independent items. All batches are of one kind.
            What a batch holds must not depend on whether the systems are right in it.
        """
        self._check(counts)
        self._counted.append(counts)
        look = self._pair(counts) if isinstance(counts, PairedCounts) else self._single()
        self._looks.append(look)
        return look

    @property
    def looks(self) -> Looks:
        """All looks so far."""
        return Looks(tuple(self._looks), signature=self.signature)

    @property
    def signature(self) -> str:
        """A short reproducible description of every choice."""
        chosen = [f"level:{self.level:g}"]
        if TABLE[self.metric].depends_on_beta:
            chosen.append(f"beta:{self.beta:g}")
        if self.planned is not None:
            chosen.append(f"planned:{self.planned}")
        return sign("sequential", self.metric, *chosen)

    def _check(self, counts: object) -> None:
        if not isinstance(counts, (Counts, PairedCounts)):
            raise InputError(f"counts: {shown(counts)}; expected Counts or PairedCounts")
        if isinstance(counts, Counts) and len(counts.shape) > 1:
            raise InputError(f"counts: shape {counts.shape}; expected one row per unit, or a table")
        if self._counted and _kind(counts) != _kind(self._counted[0]):
            raise InputError(
                f"counts: {_kind(counts)}; expected {_kind(self._counted[0])}, as before"
            )
        score(counts.a if isinstance(counts, PairedCounts) else counts, self.metric)

    def _look(self, by: str, units: int, **values: Any) -> Look:
        return Look(
            look=len(self._looks) + 1,
            metric=self.metric,
            level=self.level,
            by=by,
            units=units,
            planned=self.planned,
            signature=self.signature,
            **values,
        )

    def _single(self) -> Look:
        """One system's score and its limits."""
        first = self._counted[0]
        if first.shape:
            cells = [
                np.concatenate([getattr(c, name) for c in self._counted]) for name in _cells(first)
            ]
            by_unit = Counts(*cells)
            x, y = contributions_of(by_unit, self.metric, beta=self.beta)
            rows, number = [(np.asarray(x, float), np.asarray(y, float))], np.ones(len(x))
            estimate, low, high, note = self._limits(rows, number, self._bounds, by_unit.sum())
            return self._look("unit", len(x), estimate=estimate, low=low, high=high, note=note)
        total = sum(self._counted[1:], start=first)
        units = int(sum(getattr(total, name) for name in _cells(first)))
        share = TABLE[self.metric].share(self.beta**2)
        if share is not None:
            hits, number = share.proportion(total)
            low, high = (
                float(share.score(end)) for end in share_limits(hits, number, level=self.level)
            )
            estimate = float(share.score(hits / number)) if number else math.nan
            return self._look("item", units, estimate=estimate, low=low, high=high)
        times = np.array([getattr(total, name) for name in _cells(first)], dtype=np.float64)
        kinds = Counts(*np.eye(len(times)))
        x, y = contributions_of(kinds, self.metric, at=total, units=False, beta=self.beta)
        estimate, low, high, note = self._limits([(x, y)], times, self._bounds, total)
        return self._look("item", units, estimate=estimate, low=low, high=high, note=note)

    def _pair(self, batch: PairedCounts) -> Look:
        """The difference of two scores, its limits, and the bets."""
        so_far = self._so_far()
        rows, number = contributions(so_far, self.metric, beta=self.beta)
        worth = _worth_of_cells(so_far, self.metric, self.beta)
        d, times = _leads(batch, worth)
        self._wealth = self._wealth.bet(d, times, units=_number_of_units(batch))
        most = self._bounds[1] - self._bounds[0]
        estimate, low, high, note = self._limits(rows, number, (-most, most), so_far.total().a)
        a, b = (_share(number @ x, number @ y) for x, y in rows)
        p = self._wealth.pvalue()
        decided = None
        if p <= 1 - self.level:
            ahead = self._wealth.pvalue("greater") <= self._wealth.pvalue("less")
            decided = "b" if ahead else "a"
        return self._look(
            "unit" if so_far.has_units else "item",
            _number_of_units(so_far),
            estimate=estimate,
            low=low,
            high=high,
            score_a=a,
            score_b=b,
            e_value=math.exp(min(self._wealth.log_e, 700.0)),
            pvalue=p,
            decided=decided,
            more=None if decided else self._more(so_far, worth),
            note=note,
        )

    def _so_far(self) -> PairedCounts:
        """All batches in one."""
        first: PairedCounts = self._counted[0]
        if len(self._counted) > 1:
            if first.has_units:
                first = PairedCounts.concatenate(self._counted).grouped()
            else:
                first = sum(self._counted[1:], start=first)
            self._counted = [first]
        return first

    def _limits(
        self, rows: Rows, number: Array, ends: tuple[float, float], total: Counts
    ) -> tuple[float, float, float, str | None]:
        """A score or difference, limits from its standard error, and what must be said of them."""
        found = look_limits(rows, number, ends, self.planned, level=self.level)
        few = self.metric in COMPOSITES and _least_class(total) < FEWEST_OF_A_CLASS
        if few and found[-1] != _TOO_FEW:
            return found[0], *ends, _TOO_FEW_OF_A_CLASS
        return found

    def _more(self, so_far: PairedCounts, worth: Array) -> int | None:
        """How many units more would decide it, if the difference stays as it looks."""
        d, number = _leads(so_far, worth)
        squares = float(number @ d**2)
        if squares == 0:
            return None
        # per unit, in standard deviations
        drift = float(number @ d) / math.sqrt(squares * _number_of_units(so_far))
        missing = -math.log(1 - self.level) - self._wealth.log_e
        if drift == 0 or missing / (drift**2 / 2) > _FARTHEST:
            return None
        return max(1, math.ceil(missing / (drift**2 / 2)))


def look_limits(
    rows: Rows,
    number: Array,
    ends: tuple[float, float],
    planned: int | None = None,
    *,
    level: float = 0.95,
) -> tuple[float, float, float, str | None]:
    """A score or difference by unit, limits that hold at every look, and what is to be said.

    Parameters
    ----------
    rows, number
        What each kind of unit adds to numerator and denominator, for one score or two, and how many
        units of it there are so far.
    ends
        The least and the most that it can be.
    planned
        How many units will be labelled if nothing is decided before; 1,000 by default.
    level
        With this probability the limits hold at every look.
    """
    lowest, highest = ends
    scores = [_share(number @ x, number @ y) for x, y in rows]
    estimate = scores[-1] - scores[0] if len(scores) > 1 else scores[0]
    size = np.sum([y for _, y in rows], axis=0)
    there = size > 0
    units = float(number[there].sum())
    if units < FEWEST or any(number[y > 0].sum() < 2 for _, y in rows):
        return estimate, lowest, highest, _TOO_FEW
    error = jackknife_error([(x[there], y[there]) for x, y in rows], number[there])
    if len(rows) == 1:
        error = math.hypot(error, math.sqrt(_ERRORS_UNSEEN / units / float(number @ size)))
    if not error > 0:
        return estimate, lowest, highest, "all units alike so far: no limits yet"
    freedom = max(float((number @ size) ** 2 / (number @ size**2)) - 1, 1.0)
    normal = float(reach(units, planned or 1000, level=level))
    # Student's distance for the same tail: the standard error is an estimate, too
    far = -float(special.stdtrit(freedom, special.ndtr(-normal))) * error
    return estimate, max(lowest, estimate - far), min(highest, estimate + far), None


def _kind(counts: Counts | PairedCounts) -> str:
    paired = isinstance(counts, PairedCounts)
    units = counts.has_units if isinstance(counts, PairedCounts) else bool(counts.shape)
    what = "PairedCounts" if paired else "Counts"
    negatives = counts.has_negatives if isinstance(counts, PairedCounts) else counts.tn is not None
    cells = "with" if negatives else "without"
    return f"{what} of {'units' if units else 'items'} {cells} true negatives"


def _cells(counts: Counts) -> tuple[str, ...]:
    return ("tp", "fp", "fn") if counts.tn is None else ("tp", "fp", "fn", "tn")


def _share(x: Any, y: Any) -> float:
    return float(x / y) if y > 0 else math.nan


def _number_of_units(paired: PairedCounts) -> int:
    return int(paired.n_units) if paired.has_units else int(paired.cases.sum())


def _least_class(total: Counts) -> float:
    """How many items the rarer class of the answer has; without negatives, the class."""
    positives = float(total.tp + total.fn)
    return positives if total.tn is None else min(positives, float(total.fp + total.tn))


def _worth_of_cells(so_far: PairedCounts, metric: str, beta: float) -> Array:
    """By how much an item in each cell moves a score, near what both systems score together.

    That is the same whichever system an output came from, so that it may be known before one bets
    on that.
    """
    table = so_far.total()
    both = (table + table.swapped()).a
    kinds = Counts(*np.eye(4))
    x, y = contributions_of(kinds, metric, at=both, units=False, beta=beta)
    common = score(both, metric, beta=beta, zero_division=0.0)
    return np.asarray(x - common * y)


def _leads(paired: PairedCounts, worth: Array) -> tuple[Array, Array]:
    """By how much B is ahead in units of each kind, given what cells are worth; and how many."""
    cases = paired.cases if paired.has_units else np.eye(8)
    number = paired.multiplicity if paired.has_units else paired.cases
    number = np.ones(len(cases)) if number is None else np.asarray(number, dtype=np.float64)
    rows = PairedCounts(cases)
    gains = [getattr(rows.b, cell) - getattr(rows.a, cell) for cell in CELLS]
    d = np.stack(gains, axis=-1) @ worth
    there = (number > 0) & (d != 0)
    return d[there], number[there]
