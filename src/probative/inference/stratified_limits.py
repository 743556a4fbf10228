"""Limits of what a stratified sample tells of a pool, and when they may be too narrow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from probative.inference.clusters import is_too_skewed, student_quantile
from probative.inference.proportions import wilson

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from probative.inference.strata import Draw, Spread

    Array = NDArray[np.float64]

__all__ = ["difference_limits", "find_doubts", "is_rough", "score_limits"]

ONE_UNIT = "one unit: no evidence of how others would come out, so the limits are all there is"
ALIKE = (
    "all labelled units are alike: no evidence of how others would differ, so the limits are all "
    "there is"
)
FEW = 10  # labelled units of a stratum that tell how far its units vary only roughly
_GOOD_PART = 0.1
SELDOM_WRONG = (
    "the judge is hardly ever wrong in labelled units, which says little of how far it is in "
    "others: the interval may be too short"
)
_MOST_UNSEEN = 3  # what none of n units shows is so many times 1/n of all, at most (at 0.95)


def score_limits(
    value: float,
    spread: Spread,
    even_units: float,
    level: float,
    *,
    between: tuple[float, float] = (0.0, 1.0),
) -> tuple[float, float]:
    """Wilson's limits of a share that so many independent items would tell as well.

    Parameters
    ----------
    value, spread
        The score, and how far it is known.
    even_units
        How many units of equal weight tell it: the items, where all units are alike.
    level
        The nominal coverage.
    between
        The least and the most that the score can be.
    """
    low, high = between
    if math.isnan(value):
        return low, high
    if math.isinf(even_units):
        return value, value
    share = (value - low) / (high - low)
    items, freedom = even_units, even_units - 1
    if spread.variance > 0:
        freedom = spread.degrees_of_freedom
        if 0 < share < 1:
            items = share * (1 - share) * (high - low) ** 2 / spread.variance
    if not freedom > 0:
        return low, high
    least, most = wilson(share * items, items, float(student_quantile(level, freedom)))
    return low + (high - low) * float(least), low + (high - low) * float(most)


def difference_limits(
    value: float, spread: Spread, draw: Draw, level: float, most: float = 1.0
) -> tuple[float, float]:
    """Student's limits of a difference; all that it can be where nothing tells how far it varies.

    Parameters
    ----------
    value, spread
        The difference, and how far it is known.
    draw
        The strata of the labelled units.
    level
        The nominal coverage.
    most
        By how much two scores can differ.
    """
    if math.isnan(value):
        return -most, most
    if not spread.variance > 0 and not np.any(draw.rest > 0):
        return value, value
    if not spread.degrees_of_freedom > 0:
        return -most, most
    reach = float(student_quantile(level, spread.degrees_of_freedom)) * math.sqrt(spread.variance)
    return max(-most, value - reach), min(most, value + reach)


def find_doubts(
    moves: Array,
    parts: Sequence[Array],
    empty: NDArray[np.bool_],
    miss: float,
    spread: Spread,
    draw: Draw,
    reach: float,
) -> Iterator[str]:
    """Why limits may be too narrow, in words.

    Parameters
    ----------
    moves
        What every labelled unit moves the score, or the difference, by.
    parts
        How much of the score, or of what is not known of it, lies in each stratum; each for itself.
    empty
        In which of them nothing counts.
    miss
        What an item moves it by that nobody has returned.
    spread, draw
        How far it is known, and from which units.
    reach
        How far the limits are from the estimate.
    """
    if not spread.degrees_of_freedom > 0:
        if np.any(draw.rest > 0):
            yield ONE_UNIT if draw.labelled == 1 else ALIKE
        return
    lonely = int(np.count_nonzero(draw.lonely))
    if lonely:
        strata = "1 stratum has" if lonely == 1 else f"{lonely} strata have"
        yield (
            f"{strata} one labelled unit of several: its others are taken to vary as all "
            f"labelled units do"
        )
    if any(is_rough(own, draw) for own in parts) or is_too_skewed(
        _skewness(moves, draw, spread), spread.degrees_of_freedom
    ):
        yield "few labelled units tell a good part of it: the interval may be too short"
    full = np.bincount(draw.stratum[~empty], minlength=len(draw.sizes)) > 0
    for h in np.flatnonzero(~full & (draw.rest > 0)):
        unseen = min(1.0, _MOST_UNSEEN / draw.drawn[h]) * draw.rest[h] * draw.sizes[h]
        if abs(miss) * unseen > reach / 2:
            yield (
                f"nothing is to be found in {draw.drawn[h]:g} labelled units that stand for "
                f"{draw.sizes[h]:,.0f}: up to {unseen:,.0f} of these may hold items that the "
                f"interval does not know of"
            )


def is_rough(parts: Array, draw: Draw) -> bool:
    """Whether a few labelled units tell a good part of the score.

    Parameters
    ----------
    parts
        How much of it lies in each stratum.
    draw
        The strata of the labelled units.
    """
    few = (draw.drawn < FEW) & (draw.rest > 0)
    return bool(parts[few].sum() > _GOOD_PART * parts.sum())


def _skewness(moves: Array, draw: Draw, spread: Spread) -> float:
    """How lopsided the distribution of a total is; 0 where nothing moves it."""
    apart = moves - draw.means(moves)[draw.stratum]
    n = np.maximum(draw.drawn, 1)
    third = draw.means(apart**3)
    variance = float(spread.by_stratum.sum())
    if not variance > 0:
        return 0.0
    moment = float((draw.sizes**3 * draw.rest * third / n**2).sum())
    return float(abs(moment) / variance**1.5)
