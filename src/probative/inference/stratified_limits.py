"""Intervals of what a stratified sample shows of a pool, and what they rest on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from probative.inference.clusters import student_quantile
from probative.inference.proportions import wilson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probative.inference.strata import Draw, Spread

__all__ = ["difference_limits", "find_doubts", "score_limits"]

ONE_UNIT = "one unit: no evidence of how others would come out, so the limits are all there is"
ALIKE = (
    "all labelled units are alike: no evidence of how others would differ, so the limits are all "
    "there is"
)
SELDOM_WRONG = (
    "the judge is hardly ever wrong in labelled units, which says little of how far it is in "
    "others: the interval may be too short"
)


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
    if math.isinf(even_units) and not spread.variance > 0:
        return value, value
    share = (value - low) / (high - low)
    items, freedom = even_units, even_units - 1
    if spread.variance > 0:
        freedom = spread.degrees_of_freedom
        if 0 < share < 1:
            items = share * (1 - share) * (high - low) ** 2 / spread.variance
    if not freedom > 0:
        return low, high
    t = float(student_quantile(level, freedom))
    if share in (0, 1) and spread.variance > 0:  # Wilson's limits reach t²/(items + t²) then
        far = t * math.sqrt(spread.variance) / (high - low)
        items = min(items, t**2 * (1 / far - 1)) if far < 1 else 0.0
    if not items > 0:
        return low, high
    least, most = wilson(share * items, items, t)
    return low + (high - low) * float(least), low + (high - low) * float(most)


def difference_limits(
    value: float, spread: Spread, level: float, most: float = 1.0, *, known: bool = False
) -> tuple[float, float]:
    """Student's limits of a difference; all that it can be where nothing tells how far it varies.

    Parameters
    ----------
    value, spread
        The difference, and how far it is known.
    level
        The nominal coverage.
    most
        By how much two scores can differ.
    known
        Whether nothing that is not labelled can change it.
    """
    if math.isnan(value):
        return -most, most
    if not spread.variance > 0 and known:
        return value, value
    if not spread.degrees_of_freedom > 0:
        return -most, most
    reach = float(student_quantile(level, spread.degrees_of_freedom)) * math.sqrt(spread.variance)
    return max(-most, value - reach), min(most, value + reach)


def find_doubts(spread: Spread, draw: Draw) -> Iterator[str]:
    """Say what the interval rests on, where the design leaves units without evidence.

    Parameters
    ----------
    spread, draw
        How far something is known, and from which units.
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
