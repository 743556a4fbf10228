"""Scores and comparisons of a pool while the units of a stratified sample are being labelled.

Limits: the estimate of the pool, so many standard errors to either side as hold at every look.
What the standard error is a share of, information, is counted in units of what the planned sample
would tell.

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
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative.errors import InputError
from probative.inference.sequences import GRID, Wealth, planned_grid, reach
from probative.inference.sequential import FEWEST
from probative.inference.strata import Draw
from probative.inference.stratified import PoolScores
from probative.metrics import RATIOS, bounds, contributions, span
from probative.results.sequences import Look

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from probative.counts import Counts
    from probative.inference.projections import Projection

    Array = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["LabelledUnits", "mirrored_chances", "stratified_looks"]

_FARTHEST = 10**9  # units: more than anybody will label
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
    planned: Sequence[int],
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
    number = int(np.sum(planned))
    wealth = Wealth(planned_grid(number, level) if number else GRID)
    start = 0
    for look, end in enumerate(ends, 1):
        so_far = units.first(end)
        base = {"look": look, "metric": metric, "level": level, "by": by, "units": end}
        found = _limits(so_far, planned, metric, level, beta)
        if len(units.systems) == 1:
            yield Look(**base, **found, planned=number)
            continue
        d = _leads(so_far, metric, beta)
        wealth = wealth.bet(d[start:], chance=_chances(so_far, d, start))
        p = wealth.pvalue()
        decided = None
        if p <= 1 - level:
            decided = "b" if wealth.pvalue("greater") <= wealth.pvalue("less") else "a"
        yield Look(
            **base,
            **found,
            e_value=math.exp(min(wealth.log_e, 700.0)),
            pvalue=p,
            decided=decided,
            more=None if decided else _more(d, wealth, level),
            planned=number,
        )
        start = end


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


def _limits(
    units: LabelledUnits, planned: Sequence[int], metric: str, level: float, beta: float
) -> dict[str, float | str | None]:
    """The estimate of the pool, its limits, the scores, and what must be said."""
    two = len(units.systems) > 1
    least, most = (-span(metric), span(metric)) if two else bounds(metric)
    drawn = np.bincount(units.stratum, minlength=len(units.sizes))
    nothing: dict[str, float | str | None] = {"estimate": math.nan, "low": least, "high": most}
    if np.any((drawn == 0) & (units.sizes > 0)):
        scores = {"score_a": math.nan, "score_b": math.nan} if two else {}
        return nothing | scores | {"note": _UNSEEN}
    draw = Draw.of(units.stratum, units.sizes)
    pool = PoolScores.of(
        units.systems, draw, metric, level=level, beta=beta, disputed=units.disputed
    )
    found = pool.difference() if two else pool.score()
    told = nothing | {"estimate": found.estimate}
    if two:
        told |= {"score_a": pool.score(0).estimate, "score_b": pool.score(1).estimate}
    if not np.any(draw.rest > 0):
        return told | {"low": found.estimate, "high": found.estimate}
    counting = np.sum([contributions(own, metric, beta=beta)[1] > 0 for own in units.systems], 0)
    if np.count_nonzero(counting) < FEWEST:
        return told | {"note": _TOO_FEW}
    if np.any((drawn < 2) & (units.sizes > drawn)):
        return told | {"note": _UNSEEN}
    if math.isnan(found.estimate) or not found.standard_error > 0 or found.no_evidence:
        return told | {"note": "all units alike so far: no limits yet"}
    normal = float(reach(_information(found, draw, planned), 1.0, level=level))
    # Student's distance for the same tail: the standard error is an estimate, too
    tail = special.stdtrit(max(found.degrees_of_freedom, 1.0), special.ndtr(-normal))
    far = -float(tail) * found.standard_error
    low, high = max(least, found.estimate - far), min(most, found.estimate + far)
    return told | {"low": low, "high": high, "note": found.notes[0] if found.notes else None}


def _information(found: Projection, draw: Draw, planned: Sequence[int]) -> float:
    """What the labelled units tell, in units of what the planned ones would tell.

    By the variances within strata as they look now, in either case.
    """
    number = np.asarray(planned, dtype=np.float64)
    labelled = draw.drawn
    open_ = (labelled < draw.sizes) & (number > 0)
    share = (1 / number[open_] - 1 / draw.sizes[open_]) / (
        1 / labelled[open_] - 1 / draw.sizes[open_]
    )
    now, then = found.by_stratum[open_].sum(), float(found.by_stratum[open_] @ share)
    if not now > 0 or not then > 0:
        return float(labelled.sum() / max(number.sum(), 1.0))
    return float(then / now)


def _more(d: Array, wealth: Wealth, level: float) -> int | None:
    """How many units more would decide it, if the difference stays as it looks."""
    squares = float(d @ d)
    if squares == 0:
        return None
    drift = float(d.sum()) / math.sqrt(squares * len(d))  # per unit, in standard deviations
    missing = -math.log(1 - level) - wealth.log_e
    if drift == 0 or missing / (drift**2 / 2) > _FARTHEST:
        return None
    return max(1, math.ceil(missing / (drift**2 / 2)))
