"""Limits of a score by the labels alone: each stratum has limits of its own, and MOVER joins them.

The limits of the score are its extremes over all totals whose deviations from the estimated ones,
each measured by its stratum's limit on that side, have a sum of squares of at most 1. For a sum
this is what MOVER computes; of a ratio of sums, or a difference of two, the direction in which to
look moves with the totals, and steps that each help find it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Callable

    from probative._types import Array

__all__ = ["Totals", "share_limits"]

_STEPS = 60
_PARTS = np.append(0.5 ** np.arange(10), 0.0)  # of the way; the last one stays where it is
_CLOSE = 1e-9  # of a stratum's size


def share_limits(labelled: Array, positive: Array, level: float) -> tuple[Array, Array]:
    """Limits of shares: Jeffreys', as modified at the ends by Brown, Cai and DasGupta (2001).

    Parameters
    ----------
    labelled, positive
        How many items there are, and how many of them are positive.
    level
        The nominal coverage.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.joined_limits import share_limits
    >>> low, high = share_limits(np.array([50.0, 50.0]), np.array([0.0, 20.0]), 0.95)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.273], [0.071, 0.538])
    """
    tail = (1 - level) / 2
    shape = positive + 0.5, labelled - positive + 0.5
    low, high = special.betaincinv(*shape, tail), special.betaincinv(*shape, 1 - tail)
    extreme = tail ** (1 / np.maximum(labelled, 1))
    few, few_other = positive <= 1, labelled - positive <= 1
    low = np.where(few, 0.0, np.where(positive == labelled, extreme, low))
    high = np.where(few_other, 1.0, np.where(positive == 0, 1 - extreme, high))
    return low, high


@dataclass(frozen=True, eq=False)
class Totals:
    """How many items of each stratum are positive, as its labels alone tell.

    Attributes
    ----------
    sizes
        How many items every stratum has.
    estimate
        How many of them are positive, by the share of those labelled.
    below, above
        How far down and up the strata's own limits are from these estimates.
    """

    sizes: Array
    estimate: Array
    below: Array
    above: Array

    @classmethod
    def of(
        cls,
        sizes: Array,
        labelled: Array,
        positive: Array,
        share: Array,
        level: float,
        *,
        finite: bool = True,
    ) -> Totals:
        """What the labels of every stratum tell.

        Parameters
        ----------
        sizes, labelled, positive
            How many items every stratum has, how many are labelled, how many of these positive.
        share
            The share of positive items in it: of those labelled, where there are any.
        level
            The nominal coverage.
        finite
            Whether the pool is all that matters.
        """
        low, high = share_limits(labelled, positive, level)
        open_ = sizes * (np.sqrt(1 - labelled / sizes) if finite else 1.0)
        return cls(sizes, sizes * share, (share - low) * open_, (high - share) * open_)

    def extremes(
        self, value: Callable[[Array], Array], between: tuple[float, float]
    ) -> tuple[float, float]:
        """The least and the most of a function of the totals.

        Parameters
        ----------
        value
            The function; it takes the totals on the last axis.
        between
            The least and the most that it can ever be; returned where it is undefined.
        """
        if np.isnan(value(self.estimate)):
            return between
        low, high = (float(value(self._extreme(value, sign))) for sign in (-1, 1))
        return max(low, between[0]), min(high, between[1])

    def _extreme(self, value: Callable[[Array], Array], sign: int) -> Array:
        """The totals where the function is the least (-1) or the most (1).

        From the best totals along an axis, steps towards those that would be best if the function
        went on as it does there, as long as they help: where it rises and falls again, as the
        difference of two scores may while more and more items turn out to be missed, its extreme
        lies on the way.
        """
        now = _best(self._along_axes(), value, sign)
        for _ in range(_STEPS):
            slope = sign * self._slopes(value, now)
            reach = np.where(slope > 0, self.above, self.below)
            length = float(np.sqrt(np.sum((reach * slope) ** 2)))
            if not length > 0:
                break
            end = np.clip(self.estimate + reach**2 * slope / length, 0.0, self.sizes)
            last, now = now, _best(now + _PARTS[:, None] * (end - now), value, sign)
            if np.all(np.abs(now - last) <= _CLOSE * self.sizes):
                break
        return now

    def _along_axes(self) -> Array:
        """The estimated totals, and those with one of them off, by ever smaller parts."""
        axes = np.concatenate([np.diag(self.above), -np.diag(self.below)])
        ways = (_PARTS[:, None, None] * axes).reshape(-1, len(self.sizes))
        return np.asarray(np.clip(self.estimate + ways, 0.0, self.sizes))

    def _slopes(self, value: Callable[[Array], Array], totals: Array) -> Array:
        """How the function moves with the total of each stratum, by differences."""
        step = np.diag(self.sizes * 1e-6)
        up, down = np.minimum(totals + step, self.sizes), np.maximum(totals - step, 0.0)
        moved = np.diagonal(up) - np.diagonal(down)
        above, below = np.split(value(np.concatenate([up, down])), 2)
        return np.asarray(np.nan_to_num((above - below) / moved))


def _best(totals: Array, value: Callable[[Array], Array], sign: int) -> Array:
    """The row where the function is the most (1) or the least (-1) of all."""
    return np.asarray(totals[np.nanargmax(sign * value(totals))])
