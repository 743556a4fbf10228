"""Compare and rank means over labels: difference, posterior, exchange test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special

from probative._validation import Array, Mask, open_probability
from probative.counts import LabelCounts, PairedCounts
from probative.errors import InputError
from probative.inference.macro import (
    METHOD,
    MacroEvidence,
    MacroPosterior,
    degrees_of_freedom,
    macro_evidence,
    macro_score,
    moves_of_units,
    normal_tail_of,
    shifts,
)
from probative.inference.planning import UNDEFINED, Pilot
from probative.inference.posterior.independent import Outcomes
from probative.inference.posterior.single import plain
from probative.inference.runs import Runs, Spread
from probative.inference.sampled import TIE, SampledExchange, SharedExchanges, kinds_of
from probative.inference.scores import SampledScore
from probative.metrics import ratio
from probative.results import Difference, Interval

if TYPE_CHECKING:
    _Judged = tuple[MacroEvidence, MacroEvidence, "MacroDifferencePosterior"]


# --- The difference of two macro averages on one test set
#
# Each system's average has its own posterior (`macro_posterior`). Both were judged on the same
# items, so their errors go together: the two posteriors are joined by a normal copula with the
# correlation of the two estimates. Limits and probabilities come from that one distribution.

_MACRO_DIFFERENCE_REACH = 7.0  # the normal scores of the grid
_CAUSES, _CHANCES = 71, 281  # how many of them: what both systems share, and what sets them apart
_HALF = 0.5


def macro_difference(
    a: LabelCounts, b: LabelCounts, metric: str = "f1", *, level: float = 0.95, beta: float = 1.0
) -> tuple[Difference, MacroDifferencePosterior]:
    """Return the difference of two macro averages, B minus A, and its posterior."""
    score = MacroScore((a, b), np.ones((2, a.n_labels), dtype=bool), metric, beta)
    return score.difference(0, 1, level), score.posterior(0, 1)


@dataclass(frozen=True, eq=False)
class MacroDifferencePosterior(Outcomes):
    """The posterior of the difference of two averages, B minus A."""

    a: MacroPosterior | None  # None without evidence
    b: MacroPosterior | None
    correlation: float  # of their normal scores
    degrees_of_freedom: float  # of Student's t in place of the normal: P = T(Φ⁻¹(P0))

    kind = "hierarchical"

    @property
    def no_evidence(self) -> bool:
        """Return True if there are not two units, and so no probability."""
        return self.a is None or self.b is None or not self.degrees_of_freedom > 0

    def _at(self, name: str, d: ArrayLike) -> Any:
        d = np.asarray(d, np.float64)
        if name == "pdf":
            low, high = self.interval(0.68)
            step = max((high - low) / 100, 1e-300)
            return plain(np.maximum(self.cdf(d + step) - self.cdf(d - step), 0.0) / (2 * step))
        if self.no_evidence:
            return plain(np.full(d.shape, np.nan))
        z = self._normal_score(np.atleast_1d(d)).reshape(d.shape)
        return plain(special.stdtr(self.degrees_of_freedom, z if name == "cdf" else -z))

    @property
    def _symmetric(self) -> bool:
        """Return True if both averages have the same posterior."""
        if self.a is None or self.b is None:
            return False
        same = np.array_equal(self.a.below, self.b.below)
        return same and np.array_equal(self.a.edges, self.b.edges)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the equal-tailed limits between which the difference lies."""
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

    def _normal_score(self, d: Array) -> Array:
        """Return Φ⁻¹ of the probability of at most d, from the smaller of the two tails."""
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
    """Return the probability of at most d."""
    causes, chances = _scores(_CAUSES), _scores(_CHANCES)
    weight = np.exp(-(causes**2) / 2)
    # the chance in favour of B at which the difference is d, for every common cause
    border = np.stack([np.interp(d.ravel(), row, chances) for row in grid])
    return np.asarray(weight @ special.ndtr(border) / weight.sum()).reshape(d.shape)


@cache
def _scores(number: int) -> Array:
    """Normal scores from -7 to 7, an odd number of them: the two halves alike."""
    half = np.linspace(0, _MACRO_DIFFERENCE_REACH, number // 2 + 1)
    return np.concatenate([-half[:0:-1], half])


def _correlation(
    cells: tuple[LabelCounts, LabelCounts], labels: tuple[Mask, Mask], metric: str, beta: float
) -> float:
    """Return the correlation of two estimates over test sets like this one."""
    # Half an item of every paired case is added to each label: it is never known that two systems
    # err together always.
    cases = PairedCounts(np.eye(7 if cells[0].counts.tn is None else 8))  # an item of each
    if not all(mask.any() for mask in labels):
        return 0.0
    moves, added = [], []
    for system, one, mask in zip("ab", cells, labels, strict=True):
        kinds = ratio(getattr(cases, system), metric, beta=beta)
        of_cells, of_items = shifts(one, metric, beta, added=kinds)
        moves.append(one.sum_by_unit(of_cells * mask[one.label]) * one.n_labels / mask.sum())
        added.append(of_items * mask[:, None] * one.n_labels / mask.sum())
    number = cells[0].repeats
    aa, ab, bb = (
        float((number * moves[i]) @ moves[j]) + _HALF * float(np.sum(added[i] * added[j]))
        for i, j in ((0, 0), (0, 1), (1, 1))
    )
    return float(np.clip(ab / math.sqrt(aa * bb), -1.0, 1.0)) if aa > 0 and bb > 0 else 0.0


# --- The score of several systems: exchanges are sampled
#
# An exact test would have to walk on a lattice with two dimensions per label. Exchanges are drawn
# until the decision is clear: see `probative.inference.sampled`.

_FEW_OPEN_PAIRS = 64  # are quicker tested one by one
_DENSE = 0.04  # the share of cells with a count from which on a full table is faster
_LARGE = 1 << 26  # numbers that are too many for a full table
_MOST_UNITS = 10_000_000  # more would not fit into memory when all pairs are tested together


@dataclass(frozen=True, eq=False)
class MacroScore(SampledScore):
    """The means of a score over labels, of several systems."""

    cells: tuple[LabelCounts, ...]  # of every system, in the same cells of units and labels
    labels: NDArray[np.bool_]  # that count for each system: one row per system
    score: str = "f1"  # of a label
    beta: float = 1.0
    answered: NDArray[np.bool_] | None = None  # labels that count whatever is exchanged
    own_labels: bool = False  # True if those that an output uses count for it, too
    by: str = "unit"
    name: str | None = None  # balanced_accuracy is the mean recall of the classes
    members: tuple[tuple[LabelCounts, ...], ...] = ()  # the runs that `cells` add up

    approximate = "macro average"

    @property
    def metric(self) -> str:  # type: ignore[override]
        """Return the name of the mean."""
        return self.name or f"macro_{self.score}"

    @property
    def by_label(self) -> str:
        """Return the metric of single labels."""
        return self.score

    @cached_property
    def _chosen(self) -> list[LabelCounts]:
        """Return the cells of every system, of the labels that count for it."""
        return [own.only(mask) for own, mask in zip(self.cells, self.labels, strict=True)]

    @cached_property
    def _evidence(self) -> list[MacroEvidence]:
        """Return the posterior of every system's mean."""
        return [macro_evidence(own, self.score, beta=self.beta) for own in self._chosen]

    @cached_property
    def estimates(self) -> Array:
        """Return the mean of every system."""
        return np.array([macro_score(own, self.score, beta=self.beta) for own in self._chosen])

    @property
    def number(self) -> NDArray[Any]:
        """Return the number of units of each kind."""
        return self.cells[0].repeats

    @cached_property
    def moves(self) -> Array:
        """Return what leaving out a unit changes."""
        sides = zip(self.cells, self.labels, strict=True)
        return -np.array([moves_of_units(*own, self.score, self.beta) for own in sides])

    @cached_property
    def sizes(self) -> Array:
        """Return the items of every unit, of the labels that count."""
        return np.array([own.items_by_unit for own in self._chosen])

    def there(self, systems: Sequence[int]) -> Mask:
        """Return True for the units that move the mean of one of these systems."""
        return np.asarray(np.any(self.moves[list(systems)] != 0, axis=0))

    @property
    def judged(self) -> Mask:
        """Return True for the systems with a posterior."""
        return np.array([one.posterior is not None for one in self._evidence])

    def freedom(self, i: int, j: int) -> float:
        """Return the degrees of freedom of a difference; infinite if every unit is one item."""
        return degrees_of_freedom(self._chosen[i], self._chosen[j])

    def freedoms(self, systems: Sequence[int]) -> Array:
        """Return the degrees of freedom of the differences of all pairs of these systems."""
        found = [[self.freedom(i, j) for i in systems] for j in systems]
        return np.reshape(found, (len(systems), len(systems)))

    @property
    def kinds(self) -> NDArray[np.intp]:
        """Return the kind of every system."""
        return kinds_of(np.stack([c.counts.tp, c.counts.fp]).tobytes() for c in self.cells)

    def interval(self, i: int, level: float) -> Interval:
        """Return the interval of system i."""
        return self._evidence[i].interval(self.metric, level)

    def difference(self, i: int, j: int, level: float) -> Difference:
        """Return the difference of system j minus system i, with its interval."""
        first, second, posterior = self._judge(i, j)
        estimate = second.estimate - first.estimate
        low, high = posterior.interval(level)
        if not math.isnan(estimate):
            low, high = min(low, estimate), max(high, estimate)
        note = "; ".join(dict.fromkeys(one.note for one in (first, second) if one.note)) or None
        found = estimate, low, high, first.estimate, second.estimate, posterior.correlation
        return Difference(self.metric, METHOD, level, *found, note=note)

    def posterior(self, i: int, j: int) -> MacroDifferencePosterior:
        """Return the posterior of the difference of system j minus system i."""
        return self._judge(i, j)[2]

    def _judge(self, i: int, j: int) -> _Judged:
        """Return the evidence about each of two systems, and the posterior of their difference."""
        if (i, j) not in self._pairs:
            first, second = self._evidence_of(i, j)
            cells, labels = (self.cells[i], self.cells[j]), (self.labels[i], self.labels[j])
            r = _correlation(cells, labels, self.score, self.beta)
            sides = first.posterior, second.posterior
            freedom = 0.0 if None in sides else self.freedom(i, j)
            self._pairs[i, j] = first, second, MacroDifferencePosterior(*sides, r, freedom)
        return self._pairs[i, j]

    @cached_property
    def _pairs(self) -> dict[tuple[int, int], _Judged]:
        return {}

    def _evidence_of(self, i: int, j: int) -> tuple[MacroEvidence, MacroEvidence]:
        """Return the posteriors of a pair; several runs count by their effective number."""
        if not self.members or len(self.members[i]) == len(self.members[j]) == 1:
            return self._evidence[i], self._evidence[j]
        a, b = (self._runs(self.members[k], self.labels[k]) for k in (i, j))
        runs = float(Spread.of(a, b).worth())
        cells = [(self._chosen[k], runs / len(self.members[k])) for k in (i, j)]
        scaled = (replace(own, counts=own.counts * scale) for own, scale in cells)
        first, second = (macro_evidence(own, self.score, beta=self.beta) for own in scaled)
        return first, second

    def pilot(self, i: int, j: int) -> Pilot:
        """Return each unit's part in the difference, by the derivatives at the mean of both."""
        halves = [ratio(self.cells[k].by_label, self.score, beta=self.beta) for k in (i, j)]
        sums = tuple(np.asarray(x + y) / 2 for x, y in zip(*halves, strict=True))
        n_units = self.observed_units
        if not all(self.labels[k].any() for k in (i, j)):
            return Pilot.without_any(n_units, UNDEFINED)
        sides = [(self.cells[k], self.labels[k]) for k in (i, j)]
        a, b = (moves_of_units(*own, self.score, self.beta, sums) for own in sides)
        one, other = self.cells[i].counts, self.cells[j].counts
        differ = self.cells[i].sum_by_unit((one.tp != other.tp) | (one.fp != other.fp))
        informative = float(self.number[differ > 0].sum())
        return Pilot.of_units(n_units * (b - a), self.number, n_units, informative)

    def runs(self, places: Sequence[int]) -> Runs:
        """Return the score of each run, and each unit's move of it."""
        return self._runs([self.cells[place] for place in places], self.labels[places[0]])

    def _runs(self, runs: Sequence[LabelCounts], mask: Mask) -> Runs:
        own = [cells.written_out() for cells in runs]
        chosen = [cells.only(mask) for cells in own]
        scores = np.array([macro_score(cells, self.score, beta=self.beta) for cells in chosen])
        moves = np.array([moves_of_units(cells, mask, self.score, self.beta) for cells in own])
        size = np.mean([cells.items_by_unit for cells in chosen], axis=0)
        return Runs(scores, moves, -moves.mean(axis=0), size)

    def pooled(self, groups: Sequence[Sequence[int]]) -> MacroScore:
        """Return the score of systems whose runs are the systems at these places, added up."""
        members = tuple(tuple(self.cells[place] for place in places) for places in groups)
        counts = [sum((run.counts for run in own[1:]), start=own[0].counts) for own in members]
        cells = tuple(replace(m[0], counts=c) for m, c in zip(members, counts, strict=True))
        labels = np.array([np.any(self.labels[list(places)], axis=0) for places in groups])
        return replace(self, cells=cells, labels=labels, members=members)

    def only(self, i: int, j: int) -> MacroScore:
        """Return the score of two systems alone, with the posteriors that are known."""
        pair = replace(
            self,
            cells=(self.cells[i], self.cells[j]),
            labels=self.labels[[i, j]],
            members=(self.members[i], self.members[j]) if self.members else (),
        )
        if "_evidence" in vars(self):
            vars(pair)["_evidence"] = [self._evidence[i], self._evidence[j]]
        return pair

    @cached_property
    def _parts(self) -> Array:
        """Return what every cell adds to numerator, denominator and items returned, by system."""
        # multiplied so that all systems have as many runs; which labels are returned matters to
        # those alone that count only where they are
        runs = [len(own) for own in self.members] or [1] * len(self.cells)
        parts = []
        for own, number in zip(self.cells, runs, strict=True):
            sums = (*ratio(own.counts, self.score, beta=self.beta), own.counts.predicted)
            rows = [np.asarray(row, np.float64) for row in sums[: 2 + self.own_labels]]
            parts.append(math.lcm(*runs) / number * np.stack(rows))
        return np.array(parts)

    @cached_property
    def _totals(self) -> Array:
        """Return the sums of these parts by system, part and label."""
        return np.array([[self.cells[0].sum_by_label(part) for part in own] for own in self._parts])

    def exchange(self, i: int, j: int, *, keep: bool = False) -> SampledExchange:
        """Return the exchanges of whole units of one pair."""
        pair = self.only(i, j)
        a, b = pair._totals
        moves, number = _distinct_moves(pair.cells[0], pair._parts[0] - pair._parts[1])
        n_units = int(self.number.sum())
        return SampledExchange(a, b, moves, number, pair._averages, n_units, keep=keep)

    @property
    def _always(self) -> Mask:
        """Return True for the labels that count whatever is exchanged."""
        if self.answered is not None:
            return self.answered
        return np.ones(self.cells[0].n_labels, dtype=bool)

    def shared(self) -> tuple[SharedExchanges, int]:
        """Return the exchanges of all pairs: numerators, denominators and items by label."""
        if self.number.sum() > _MOST_UNITS:
            raise InputError(
                f"average: the macro ranks of {int(self.number.sum()):,} units would not fit into "
                f"memory; expected 'micro', or larger units"
            )
        always = self._always
        chosen = np.ones_like(always) if self.own_labels else always
        cells = tuple(own.written_out().only(chosen) for own in self.cells)
        own = replace(self, cells=cells, answered=always[chosen])
        first, parts, totals = cells[0], own._parts, own._totals
        moved = parts - parts[0]
        system, part, place = np.nonzero(moved)
        rows = (system * totals.shape[1] + part) * totals.shape[2] + first.label[place]
        differences = [(rows, first.unit[place], moved[system, part, place])]
        least = first.sum_by_label(parts[:, 1].min(axis=0))
        average = partial(own._averages, defined=bool(np.all(least > TIE)))
        return SharedExchanges(differences, totals, first.n_units, average), _FEW_OPEN_PAIRS

    def _averages(self, sums: Array, *, defined: bool = False) -> Array:
        """Return the averages of sums by part and label, with draws on the last axis."""
        top, bottom = sums[..., 0, :, :], sums[..., 1, :, :]
        if defined:
            scores = top / bottom
        else:  # sums of fractions come back as 0 only up to rounding
            scores = np.divide(top, bottom, out=np.zeros_like(top), where=bottom > TIE)
        if not self.own_labels:
            return np.asarray(scores.sum(axis=-2) / max(1, scores.shape[-2]))
        counts = self._always[:, None] | (sums[..., 2, :, :] > TIE)
        return np.asarray((scores * counts).sum(axis=-2) / np.maximum(1, counts.sum(axis=-2)))

    def resampled(self, known: NDArray[np.intp], weights: Array) -> Array:
        """Return the means of the known systems with weighted units."""
        parts = np.asarray(weights @ self._sums).reshape(len(weights), len(self.cells), 2, -1)
        columns = []
        for i in known.tolist():
            top, bottom = (parts[:, i, part][:, self.labels[i]] for part in (0, 1))
            with np.errstate(invalid="ignore", divide="ignore"):
                columns.append(np.where(bottom > 0, top / bottom, 0.0).mean(axis=1))
        return np.stack(columns, axis=1)

    @cached_property
    def _sums(self) -> Any:
        """Return numerator and denominator of every label's score, by system: one row per unit."""
        # all of them in one table, so that weights of the units are multiplied with it once
        first = self.cells[0]
        shape, places = (first.n_units, first.n_labels), (first.unit, first.label)
        parts = self._parts[:, :2].reshape(-1, len(first.unit))
        blocks = [sparse.coo_array((part, places), shape=shape) for part in parts]
        table = sparse.hstack(blocks, format="csc")
        size = table.shape[0] * table.shape[1]
        return table.toarray() if _DENSE * size < table.nnz and size < _LARGE else table


def _distinct_moves(cells: LabelCounts, parts: Array) -> tuple[Any, NDArray[np.int64]]:
    """Return the distinct changes that exchanging a unit makes, and how many units make each."""
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
