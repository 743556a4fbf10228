"""Scores and comparisons of a pool while the units of a stratified sample are being labelled.

Limits: the estimate of the pool, so many standard errors to either side as hold at every look. When
they are tightest is told by information, one over the variance: where the planned sample would be.
It is decided who is better on the pool when they leave out 0.

Is B better? If A and B are exchangeable, what B is ahead in a unit is as likely d as -d. Strata may
tell the two apart: a unit in which A says yes and B no is in another stratum than its mirror image.
How many units of either were drawn is then known before anything is labelled, and given that, any
of the drawn units may be of either kind, with the shares that are left: the bets are fair at these
odds. Nothing else that the bets use would change if the outputs were exchanged: units of mirrored
strata weigh the same, and the rates depend on the sizes of what is bet on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative.errors import InputError
from probative.inference.sequences import Wealth, planned_grid, reach
from probative.inference.sequential import FEWEST
from probative.inference.strata import Draw
from probative.inference.stratified import PoolScores
from probative.metrics import RATIOS, bounds, contributions, span
from probative.results.sequences import Look

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from probative._types import Array, Ints
    from probative.counts import Counts
    from probative.inference.projections import Projection

__all__ = ["LabelledUnits", "mirrored_chances", "order_of_drawing", "stratified_looks"]

_STEPS = 50  # of a bisection
_TOO_FEW = f"fewer than {FEWEST} units in which anything counts: no limits yet"
_UNSEEN = "fewer than two units of a stratum so far: no limits yet"


@dataclass(frozen=True, eq=False)
class LabelledUnits:
    """The units of a stratified sample, in the order in which they are looked at.

    Attributes
    ----------
    systems
        The counts of one system, or of two, one row per unit.
    number
        What tells the units apart, whoever says what in them: their numbers in the pool.
    stratum
        The number of the stratum of every unit.
    sizes
        How many units of the pool every stratum has.
    mirror
        Of every stratum the number of its mirror image: its own, where exchanging the systems
        leaves a unit where it is.
    disputed
        How many items of every unit one system has returned and the other has not; None where
        that is not known.
    """

    systems: tuple[Counts, ...]
    number: Ints
    stratum: Ints
    sizes: Ints
    mirror: Ints
    disputed: Array | None = None

    def first(self, end: int) -> LabelledUnits:
        """The first ones."""
        return replace(
            self,
            systems=tuple(counts[:end] for counts in self.systems),
            number=self.number[:end],
            stratum=self.stratum[:end],
            disputed=None if self.disputed is None else self.disputed[:end],
        )

    @property
    def pair(self) -> Ints:
        """The smaller number of a stratum and its mirror image, per unit."""
        return np.asarray(np.minimum(self.stratum, self.mirror[self.stratum]))

    def even_weights(self) -> Array:
        """How many units of the pool each stands for; mirrored strata are taken together."""
        both = np.minimum(np.arange(len(self.sizes)), self.mirror)
        there = np.bincount(both, weights=self.sizes, minlength=len(self.sizes))
        drawn = np.bincount(self.pair, minlength=len(self.sizes))
        return np.asarray((there / np.maximum(drawn, 1))[self.pair])


def stratified_looks(
    units: LabelledUnits,
    ends: Sequence[int],
    planned: ArrayLike,
    *,
    metric: str = "f1",
    level: float = 0.95,
    beta: float = 1.0,
    by: str = "unit",
) -> Iterator[Look]:
    """Look after so many units, and again, and again.

    Parameters
    ----------
    units
        What is labelled, in this order.
    ends
        After how many of them somebody looks.
    planned
        How many units of every stratum were planned before anything was labelled.
    metric, level, beta
        The score; the level of limits and test.
    by
        What a unit is called.
    """
    if metric not in RATIOS:
        raise InputError(
            f"metric: {metric} is no ratio of sums over units; expected one of {', '.join(RATIOS)}"
        )
    planned = np.asarray(planned, dtype=np.float64)
    wealth = Wealth(planned_grid(float(planned.sum()), level))
    start, decided = 0, None
    for number, end in enumerate(ends, 1):
        so_far = units.first(end)
        found, more = _Pool(so_far, metric, level, beta, planned).look(number, by)
        if len(units.systems) == 1:
            yield found
            continue
        d = _leads(so_far, metric, beta)
        wealth = wealth.bet(d[start:], chance=_chances(so_far, d, start))
        decided = decided or _clear(found.low, found.high)
        yield replace(
            found,
            e_value=math.exp(min(wealth.log_e, 700.0)),
            pvalue=wealth.pvalue(),
            decided=decided,
            more=None if decided else more,
        )
        start = end


def order_of_drawing(stratum: Ints, rank: Ints) -> Ints:
    """An order in which the beginning is a random part of every stratum, in equal shares.

    Parameters
    ----------
    stratum
        The number of the stratum of every unit.
    rank
        Which one of its stratum every unit was, in the random order of that.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.stratified_sequential import order_of_drawing
    >>> order_of_drawing(np.array([0, 0, 0, 0, 1, 1]), np.array([3, 0, 2, 1, 0, 1])).tolist()
    [1, 4, 3, 2, 5, 0]
    """
    number = np.bincount(stratum)
    return np.lexsort((stratum, (rank + 0.5) / number[stratum]))


def _leads(units: LabelledUnits, metric: str, beta: float) -> Array:
    """By how much B is ahead in every unit, given what both score together, and its weight."""
    (xa, ya), (xb, yb) = (contributions(own, metric, beta=beta) for own in units.systems)
    weights = units.even_weights()
    below = float(weights @ (ya + yb))
    common = float(weights @ (xa + xb)) / below if below else 0.0
    return np.asarray(weights * ((xb - xa) - common * (yb - ya)))


def _chances(units: LabelledUnits, d: Array, start: int) -> Array:
    """How likely each lead of the new units is one of B, if the systems are exchangeable."""
    new = slice(start, None)
    return mirrored_chances(units.number[new], units.stratum[new], units.mirror, d[new])


def mirrored_chances(number: Ints, stratum: Ints, mirror: Ints, d: Array) -> Array:
    """How likely each d is positive if systems are exchangeable, given the numbers of strata.

    Units are taken one after the other, in the order of their numbers. Of a stratum and its mirror
    image so many units are left; the next one is of either with the shares of these.

    Parameters
    ----------
    number, stratum
        Of every unit, what it is called and where it comes from.
    mirror
        Of every stratum the number of its mirror image.
    d
        By how much B is ahead in every unit.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.stratified_sequential import mirrored_chances
    >>> mirror, d = np.array([1, 0, 2]), np.array([1.0, 1.0, -1.0, 2.0])
    >>> mirrored_chances(np.arange(4), np.array([0, 0, 1, 2]), mirror, d).tolist()
    [0.6666666666666666, 0.5, 0.0, 0.5]
    """
    chance = np.full(len(d), 0.5)
    pair = np.minimum(stratum, mirror[stratum])
    for one in np.unique(pair[mirror[stratum] != stratum]):
        own = np.flatnonzero(pair == one)
        own = own[np.argsort(number[own])]
        first = stratum[own] == one
        taken = np.cumsum(first) - first
        left = len(own) - np.arange(len(own))
        share = (first.sum() - taken) / left  # that this unit is of the first of the two
        # in the other stratum it would be as far behind as it is ahead
        ahead_in_first = (d[own] > 0) == first
        chance[own] = np.where(ahead_in_first, share, 1 - share)
    return chance


def _clear(low: float, high: float) -> str | None:
    """Who is better, if the limits of the difference leave out 0."""
    return "b" if low > 0 else "a" if high < 0 else None


@dataclass(frozen=True, eq=False)
class _Pool:
    """What labelled units tell of their pool, at one look of many."""

    units: LabelledUnits
    metric: str
    level: float
    beta: float
    planned: Array

    def look(self, number: int, by: str) -> tuple[Look, int | None]:
        """The estimate and its limits; and how many units more would decide it."""
        two = len(self.units.systems) > 1
        least, most = (-span(self.metric), span(self.metric)) if two else bounds(self.metric)
        found = Look(
            look=number,
            metric=self.metric,
            level=self.level,
            by=by,
            units=len(self.units.number),
            estimate=math.nan,
            low=least,
            high=most,
            score_a=math.nan if two else None,
            score_b=math.nan if two else None,
            planned=round(float(self.planned.sum())),
            pool=int(self.units.sizes.sum()),
        )
        drawn = np.bincount(self.units.stratum, minlength=len(self.units.sizes))
        if np.any((drawn == 0) & (self.units.sizes > 0)):
            return replace(found, note=_UNSEEN), None
        draw = Draw.of(self.units.stratum, self.units.sizes)
        scores = PoolScores.of(
            self.units.systems,
            draw,
            self.metric,
            level=self.level,
            beta=self.beta,
            disputed=self.units.disputed,
        )
        told = scores.difference() if two else scores.score()
        found = replace(found, estimate=told.estimate)
        if two:
            found = replace(
                found, score_a=scores.score(0).estimate, score_b=scores.score(1).estimate
            )
        if not np.any(draw.rest > 0):
            return replace(found, low=told.estimate, high=told.estimate), None
        note = self._why_none(told, drawn)
        if note is not None:
            return replace(found, note=note), None
        far = self._reach(told, draw, drawn)
        return replace(
            found,
            low=max(least, told.estimate - far),
            high=min(most, told.estimate + far),
            note=told.notes[0] if told.notes else None,
        ), self._more(told, draw) if two else None

    def _why_none(self, told: Projection, drawn: Ints) -> str | None:
        """Why there are no limits yet, or None."""
        of_systems = [
            contributions(own, self.metric, beta=self.beta)[1] > 0 for own in self.units.systems
        ]
        if np.count_nonzero(np.any(of_systems, axis=0)) < FEWEST:
            return _TOO_FEW
        if np.any((drawn < 2) & (self.units.sizes > drawn)):
            return _UNSEEN
        if math.isnan(told.estimate) or not told.standard_error > 0 or told.no_evidence:
            return "all units alike so far: no limits yet"
        return None

    def _reach(self, told: Projection, draw: Draw, number: NDArray[Any]) -> float:
        """How far limits would reach with so many units of every stratum.

        By the variances within strata as they look now. Information is what one over the variance
        is; at what the planned units tell, limits are tightest.
        """
        then, planned = (_variance(told, draw, own) for own in (number, self.planned))
        if not then > 0:
            return 0.0
        information = planned / then if planned > 0 else number.sum() / self.planned.sum()
        normal = float(reach(information, 1.0, level=self.level))
        # Student's distance for the same tail: the standard error is an estimate, too
        tail = special.stdtrit(max(told.degrees_of_freedom, 1.0), special.ndtr(-normal))
        return -float(tail) * math.sqrt(then)

    def _more(self, told: Projection, draw: Draw) -> int | None:
        """How many units more would decide it, if the difference stays as it looks.

        In the shares of the strata that there are; what is left of the pool in the end.
        """
        if told.estimate == 0:
            return None
        low, high = 1.0, float(np.max(draw.sizes / draw.drawn))
        for _ in range(_STEPS):
            middle = (low + high) / 2
            number = np.minimum(draw.sizes, middle * draw.drawn)
            if self._reach(told, draw, number) < abs(told.estimate):
                high = middle
            else:
                low = middle
        more = float(np.minimum(draw.sizes, high * draw.drawn).sum()) - draw.labelled
        return max(1, math.ceil(more))


def _variance(told: Projection, draw: Draw, number: NDArray[Any]) -> float:
    """The variance with so many units of every stratum, whose units vary as they do now."""
    open_ = (draw.drawn < draw.sizes) & (number > 0)
    size = draw.sizes[open_]
    now = 1 / draw.drawn[open_] - 1 / size
    return float(told.by_stratum[open_] @ ((1 / number[open_] - 1 / size) / now))
