"""Scores of a pool of single items from a stratified sample, however rare the positive ones.

All items of a stratum have the same answer of every system (returned or not), so every score is a
function of how many items of each stratum are positive. These numbers are unknown but for the
items labelled. Each has a posterior whose prior looks at the confidence of the stratum's items.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from probative._validation import open_probability
from probative.counts import Counts
from probative.errors import InputError
from probative.metrics import score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from probative._types import Array

__all__ = ["ItemStrata", "RareInterval", "rare_difference", "rare_score"]

_DRAWS = 20_000
_STRENGTH = 2.0  # items that the prior is worth


@dataclass(frozen=True, eq=False)
class ItemStrata:
    """What is known of a pool of single items, by stratum.

    Attributes
    ----------
    sizes, labelled, positive
        How many items every stratum has, how many of them are labelled, and how many of these are
        positive.
    returned
        Whether a system returns the items of a stratum: one row per stratum, one column per system.
    confidence
        Of every stratum, the probabilities that somebody gives its items of being positive: those
        of all items, or a few that stand for them; None where there are none.
    """

    sizes: Array
    labelled: Array
    positive: Array
    returned: Array
    confidence: tuple[Array, ...] | None = None

    @classmethod
    def of(
        cls,
        sizes: ArrayLike,
        labelled: ArrayLike,
        positive: ArrayLike,
        returned: ArrayLike,
        confidence: Sequence[ArrayLike] | None = None,
    ) -> ItemStrata:
        """Check what is given: 0 <= positive <= labelled <= sizes, the same number of strata."""
        numbers = [np.asarray(x, np.float64) for x in (sizes, labelled, positive)]
        flags = np.asarray(returned, bool)
        flags = flags[:, None] if flags.ndim == 1 else flags
        number = len(numbers[0])
        if any(x.shape != (number,) for x in numbers) or len(flags) != number:
            shapes = [x.shape for x in (*numbers, flags)]
            raise InputError(f"sizes: strata of {shapes}; expected the same number of each")
        if np.any(numbers[2] < 0) or np.any(np.diff(numbers[::-1], axis=0) < 0):
            raise InputError(
                "positive: expected 0 <= positive <= labelled <= sizes in each stratum"
            )
        values = None
        if confidence is not None:
            values = tuple(np.atleast_1d(np.asarray(x, np.float64)) for x in confidence)
            if len(values) != number or any(np.any((x < 0) | (x > 1)) for x in values):
                raise InputError("confidence: expected probabilities for each stratum")
        return cls(*numbers, flags, values)


@dataclass(frozen=True)
class RareInterval:
    """An interval of a score or of a difference.

    Attributes
    ----------
    estimate, low, high
        The estimate, which weighs each stratum by its size, and the limits.
    p_better
        The probability of a difference above 0; None of a single score.
    notes
        Why the limits may not hold; empty where nothing speaks against them.
    """

    estimate: float
    low: float
    high: float
    p_better: float | None
    notes: tuple[str, ...]


def rare_score(
    items: ItemStrata,
    metric: str = "f1",
    *,
    system: int = 0,
    level: float = 0.95,
    beta: float = 1.0,
    finite: bool = True,
) -> RareInterval:
    """The score of one system in the pool (`finite`), or where the pool comes from.

    Examples
    --------
    >>> from probative.inference.rare_positives import ItemStrata, rare_score
    >>> items = ItemStrata.of([200, 9800], [100, 100], [70, 1], [True, False], [[0.7], [0.01]])
    >>> found = rare_score(items)
    >>> found.low < found.estimate < found.high
    True
    """
    level = open_probability("level", level)
    estimate = _score(items, items.sizes * _shares(items), metric, system, beta)
    draws = _score(items, _draw(items, finite=finite), metric, system, beta)
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return RareInterval(float(estimate), float(low), float(high), None, ())


def rare_difference(
    items: ItemStrata,
    metric: str = "f1",
    *,
    a: int = 0,
    b: int = 1,
    level: float = 0.95,
    beta: float = 1.0,
    finite: bool = True,
) -> RareInterval:
    """The score of system `b` minus that of system `a`, as `rare_score`."""
    level = open_probability("level", level)
    ends = []
    for totals in (items.sizes * _shares(items), _draw(items, finite=finite)):
        first, second = (_score(items, totals, metric, system, beta) for system in (a, b))
        ends.append(second - first)
    low, high = np.quantile(ends[1], [(1 - level) / 2, (1 + level) / 2])
    better = float(np.mean(ends[1] > 0) + np.mean(ends[1] == 0) / 2)
    return RareInterval(float(ends[0]), float(low), float(high), better, ())


def _shares(items: ItemStrata) -> Array:
    return items.positive / np.maximum(items.labelled, 1)


def _score(items: ItemStrata, totals: Array, metric: str, system: int, beta: float) -> Array:
    """The score, given how many positive items each stratum has (the last axis)."""
    returned = items.returned[:, system]
    tp = totals @ returned
    fn = totals @ ~returned
    fp, tn = items.sizes @ returned - tp, items.sizes @ ~returned - fn
    return np.asarray(score(Counts(tp, fp, fn, tn), metric, beta=beta))


def _draw(items: ItemStrata, *, finite: bool) -> Array:
    rng = np.random.default_rng(0)
    centre = np.array([x.mean() for x in items.confidence]) if items.confidence else _shares(items)
    centre = np.clip(centre, 1e-6, 1 - 1e-6)
    share = rng.beta(
        items.positive + _STRENGTH * centre,
        items.labelled - items.positive + _STRENGTH * (1 - centre),
        (_DRAWS, len(centre)),
    )
    if not finite:
        return items.sizes * share
    rest = (items.sizes - items.labelled).astype(np.int64)
    return items.positive + rng.binomial(rest, share)
