"""The total of a pool of units from a sample that was drawn at random within strata.

Every unit drawn stands for N_h/n_h units of its stratum, N_h the number of units that the stratum
has and n_h that of the units drawn from it. The variance of the total is the sum over the strata of
N_h²·(1 - n_h/N_h)·s_h²/n_h: what all units of a stratum have in common costs nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from probative.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from probative._types import Array
    from probative.inference.judges import Judged

__all__ = ["Draw", "Spread", "spread_of", "unit_variance"]

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Draw:
    """Units drawn at random within strata.

    Attributes
    ----------
    stratum
        The number of the stratum of every labelled unit, from 0.
    sizes
        How many units of the pool every stratum has.

    Examples
    --------
    >>> from probative.inference.strata import Draw
    >>> draw = Draw.of([0, 0, 1, 1, 1], [10, 3])
    >>> draw.total([1, 0, 2, 2, 3])
    12.0
    """

    stratum: NDArray[np.intp]
    sizes: Array

    @classmethod
    def of(cls, stratum: ArrayLike, sizes: ArrayLike) -> Draw:
        """Check what is given: units of every stratum that has any, and not more than it has."""
        own = np.asarray(stratum)
        all_ = np.asarray(sizes, dtype=np.float64)
        if own.ndim != 1 or all_.ndim != 1:
            raise InputError(
                f"stratum: shapes {own.shape} and {all_.shape} of sizes; expected two rows"
            )
        if not own.size:
            raise InputError("stratum: no labelled unit; expected at least one")
        if own.dtype.kind not in "iu" or own.min() < 0 or own.max() >= len(all_):
            raise InputError(f"stratum: expected whole numbers from 0 to {len(all_) - 1}")
        if not np.all(np.isfinite(all_) & (all_ >= 0) & (all_ == np.rint(all_))):
            raise InputError("sizes: expected numbers of units, 0 or more")
        draw = cls(own.astype(np.intp), all_)
        few = np.flatnonzero((draw.drawn == 0) & (all_ > 0))
        if few.size:
            raise InputError(
                f"stratum: no unit of {few.size} strata with {all_[few].sum():,.0f} units is "
                f"labelled, the first being number {few[0]}; expected units of each"
            )
        many = np.flatnonzero(draw.drawn > all_)
        if many.size:
            raise InputError(
                f"stratum: {draw.drawn[many[0]]:g} units of stratum {many[0]}, which has "
                f"{all_[many[0]]:g}; expected no more"
            )
        return draw

    @cached_property
    def drawn(self) -> Array:
        """How many units of every stratum are labelled."""
        return np.bincount(self.stratum, minlength=len(self.sizes)).astype(np.float64)

    @cached_property
    def weights(self) -> Array:
        """How many units of the pool every labelled unit stands for."""
        return (self.sizes[self.stratum]) / self.drawn[self.stratum]

    @property
    def rest(self) -> Array:
        """The share of every stratum that is not labelled."""
        return 1 - np.divide(
            self.drawn, self.sizes, out=np.ones_like(self.sizes), where=self.sizes > 0
        )

    @property
    def lonely(self) -> NDArray[np.bool_]:
        """Of which strata a single unit of several is labelled."""
        return np.asarray((self.drawn == 1) & (self.sizes > 1))

    @property
    def pool(self) -> float:
        """How many units there are."""
        return float(self.sizes.sum())

    @property
    def labelled(self) -> int:
        """How many of them are labelled."""
        return len(self.stratum)

    def total(self, values: ArrayLike) -> float:
        """The total over the pool of something that every labelled unit has."""
        return float(self.weights @ np.asarray(values, dtype=np.float64))

    def means(self, values: Array) -> Array:
        """The mean of every stratum; 0 where nothing was drawn."""
        sums = np.bincount(self.stratum, weights=values, minlength=len(self.sizes))
        return sums / np.maximum(self.drawn, 1)


@dataclass(frozen=True)
class Spread:
    """How far a total over the pool is known from a stratified sample.

    Attributes
    ----------
    variance, degrees_of_freedom
        Of the total, and how well the strata tell it (Satterthwaite); no degrees of freedom where
        they tell nothing.
    unit_variance
        The variance of the units of the whole pool about their mean, estimated without bias from
        the strata: what simply random units would have to do with.
    by_stratum
        What each stratum adds to the variance.
    """

    variance: float
    degrees_of_freedom: float
    unit_variance: float
    by_stratum: Array

    def worth(self, draw: Draw, *, finite: bool = True) -> float:
        """How many units drawn simply at random would tell the total as well; NaN if unknown.

        It is the same for the pool and beyond it: n units of N have the variance
        N²·(1/n - 1/N)·S² there and N²/n·S² here.
        """
        pool, unit = draw.pool, self.unit_variance
        if not unit > 0:
            return pool if finite and not np.any(draw.rest > 0) else math.nan
        return pool**2 * unit / (self.variance + (pool * unit if finite else 0.0))

    def design_effect(self, draw: Draw, *, finite: bool = True) -> float:
        """The variance, over that of as many simply random units; NaN if unknown."""
        pool, n = draw.pool, draw.labelled
        random = pool**2 * (1 / n - (1 / pool if finite else 0.0)) * self.unit_variance
        return self.variance / random if random > 0 else math.nan


def spread_of(
    values: ArrayLike,
    draw: Draw,
    *,
    finite: bool = True,
    judged: Judged | None = None,
    least: Array | None = None,
) -> Spread:
    """How far the total of `values` over the pool (`finite`) or beyond it is known.

    Parameters
    ----------
    values
        One per labelled unit.
    draw
        Their strata.
    finite
        Whether the pool is all that matters. Beyond it, the pool is a random sample of N units
        itself, which adds N times the variance of its units.
    judged
        What a judge leaves of the values; by default all of it.
    least
        By stratum, the least variance that its units are taken to have; by default none.

    Examples
    --------
    >>> from probative.inference.strata import Draw, spread_of
    >>> spread = spread_of([1, 0, 2, 2, 3], Draw.of([0, 0, 1, 1, 1], [10, 3]))
    >>> spread.variance, spread.degrees_of_freedom
    (20.0, 1.0)
    """
    own = np.asarray(values, dtype=np.float64)
    left = own if judged is None else judged.residuals
    n, size = draw.drawn, draw.sizes
    unit, freedom = _variances(left, draw, None if judged is None else judged.lost, least)
    chance = np.divide(size**2 * unit, n, out=np.zeros_like(n), where=n > 0)
    parts = chance * draw.rest
    alone, _ = _variances(own, draw, None, least)
    within = float(np.maximum(size - 1, 0) @ alone) / max(draw.pool - 1, 1)
    all_units = max(
        unit_variance(own, draw, least), within
    )  # strata never differ less than not at all
    variance = float(parts.sum()) + (0.0 if finite else draw.pool * all_units)
    squared = (parts if finite else chance) ** 2
    doubt = float(np.divide(squared, freedom, out=np.zeros_like(n), where=freedom > 0).sum())
    known = variance**2 / doubt if doubt > 0 else 0.0
    return Spread(variance, known, all_units, parts)


def unit_variance(values: ArrayLike, draw: Draw, least: Array | None = None) -> float:
    """The variance of all units of the pool, without bias: within strata and between them.

    The squared distance of a stratum's mean from that of all is too large by what both vary.

    Parameters
    ----------
    values
        One per labelled unit.
    draw
        Their strata.
    least
        As for `spread_of`; without it there is no bias.
    """
    own, size, pool = np.asarray(values, dtype=np.float64), draw.sizes, draw.pool
    if pool <= 1:
        return 0.0
    unit, _ = _variances(own, draw, None, least)
    error = np.divide(unit * draw.rest, draw.drawn, out=np.zeros_like(unit), where=draw.drawn > 0)
    apart = draw.means(own) - draw.total(own) / pool
    between = float(size @ (apart**2 - error)) + float(size**2 @ error) / pool
    return (float(np.maximum(size - 1, 0) @ unit) + between) / (pool - 1)


def _variances(
    values: Array, draw: Draw, lost: Array | None = None, least: Array | None = None
) -> tuple[Array, Array]:
    """The variance of the units of every stratum, and its degrees of freedom.

    Where one unit of several is labelled, they are taken to vary as all labelled units do,
    whatever their stratum: rather too much than too little.
    """
    freedom = np.maximum(draw.drawn - 1 - (0.0 if lost is None else lost), 0.0)
    squares = _squares(values, draw)
    unit = squares / np.maximum(draw.drawn - 1, 1)
    lonely = draw.lonely
    if lonely.any() and draw.labelled > 1:
        together = Draw(np.zeros(draw.labelled, np.intp), np.array([float(draw.labelled)]))
        unit[lonely] = float(_squares(values, together)[0]) / (draw.labelled - 1)
        freedom[lonely] = 1.0
    return (unit if least is None else np.maximum(unit, least)), freedom


def _squares(values: Array, draw: Draw) -> Array:
    """The sum of squares about the mean, by stratum; what is rounding is 0."""
    apart = values - draw.means(values)[draw.stratum]
    apart[np.abs(apart) <= _ROUNDING * np.abs(values).max()] = 0.0
    return np.bincount(draw.stratum, apart**2, len(draw.sizes)).astype(np.float64)
