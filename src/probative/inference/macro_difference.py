"""The difference of two macro averages on one test set.

Each system's average has its own posterior (`macro_posterior`). Both were judged on the same items,
so their errors go together: the two posteriors are joined by a normal copula with the correlation
of the two estimates. Limits and probabilities come from that one distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import open_probability, positive
from probative.counts import PairedCounts
from probative.errors import InputError
from probative.inference.beta_posterior import plain
from probative.inference.macro import (
    METHOD,
    MacroEvidence,
    as_cells,
    degrees_of_freedom,
    macro_evidence,
    normal_tail_of,
    shifts,
)
from probative.metrics import ratio
from probative.results import Difference

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from probative._types import Array, Mask, Number
    from probative.counts import Counts
    from probative.inference.macro_posterior import MacroPosterior
    from probative.label_counts import LabelCounts

__all__ = ["MacroDifferencePosterior", "macro_difference"]

_REACH = 7.0  # the normal scores of the grid
_CAUSES, _CHANCES = 71, 281  # how many of them: what both systems share, and what sets them apart
_HALF = 0.5
_FEW = 8  # differences that all rows of the grid are searched for at once


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
    check_same_cells(cells_a, cells_b)
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
        """Whether there is no probability, because there are not two units."""
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
        if z < -_REACH:
            return float(self._grid.min()), float(self._grid.max())
        return self._quantile(z), self._quantile(-z)

    def _quantile(self, z: float) -> float:
        """Where the normal score of the difference is z."""
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
    if d.size > _FEW:
        border = np.stack([np.interp(d.ravel(), row, chances) for row in grid])
    else:
        border = _interpolated(d.ravel(), grid, chances)
    return np.asarray(weight @ special.ndtr(border) / weight.sum()).reshape(d.shape)


def _interpolated(d: Array, grid: Array, chances: Array) -> Array:
    """What `np.interp` gives for every row of the grid, all rows at once."""
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
    half = np.linspace(0, _REACH, number // 2 + 1)
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


def check_same_cells(a: LabelCounts, b: LabelCounts) -> None:
    """Complain unless two systems were counted in the same units and labels."""
    shapes = [(cells.n_units, cells.n_labels) for cells in (a, b)]
    if shapes[0] != shapes[1] or len(a.unit) != len(b.unit):
        raise InputError(f"b: shape {shapes[1]} differs from the shape of a, {shapes[0]}")
