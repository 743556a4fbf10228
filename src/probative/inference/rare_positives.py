"""Scores of a pool of single items from a stratified sample, however rare the positive ones.

All items of a stratum have the same answer of every system (returned or not), so every score is a
function of how many items of each stratum are positive. There are two ways to its limits:

* by the labels alone: every stratum's share has limits of its own (Jeffreys' as modified by Brown,
  Cai and DasGupta, 2001: down to 0 where none or one was found), and the strata are joined as MOVER
  joins them: the limits of the score are its extremes over all totals whose deviations, each
  measured by its stratum's limit on that side, have a sum of squares of at most 1;
* by confidences recalibrated by the labels (`recalibration`), where there are any: quantiles over
  draws from the posterior of the strata's totals. Where confidences do not go with the labels, the
  labels alone are asked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import flag, open_probability, whole_number
from probative.counts import Counts
from probative.errors import InputError
from probative.inference.joined_limits import Totals
from probative.inference.recalibration import Recalibration, recalibrate
from probative.metrics import bounds, score, span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from probative._types import Array

__all__ = ["ItemStrata", "RareInterval", "rare_difference", "rare_score"]

DRAWS = 20_000
_MOSTLY = 2.0  # times the width: from here on the limits owe much to the confidences


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
    finite
        Whether the pool is all that matters; else it is taken for a random sample of what does.
    draws
        How many draws from the posterior the limits are taken from.
    """

    sizes: Array
    labelled: Array
    positive: Array
    returned: NDArray[np.bool_]
    confidence: tuple[Array, ...] | None = None
    finite: bool = True
    draws: int = field(default=DRAWS, kw_only=True)

    @classmethod
    def of(
        cls,
        sizes: ArrayLike,
        labelled: ArrayLike,
        positive: ArrayLike,
        returned: ArrayLike,
        confidence: Sequence[ArrayLike] | None = None,
        *,
        finite: bool = True,
        draws: int = DRAWS,
    ) -> ItemStrata:
        """Check what is given: 0 <= positive <= labelled <= sizes.

        Parameters
        ----------
        sizes, labelled, positive, returned, confidence, finite, draws
            The attributes; `returned` may have one column less axis for one system.
        """
        numbers = [np.asarray(x, np.float64) for x in (sizes, labelled, positive)]
        flags = np.asarray(returned, bool)
        flags = flags[:, None] if flags.ndim == 1 else flags
        strata = len(flags)
        if any(x.shape != (strata,) for x in numbers):
            raise InputError(
                f"sizes: shapes {[x.shape for x in numbers]} of sizes, labelled and positive; "
                f"expected {strata} strata, as returned has"
            )
        all_, known, found = numbers
        if np.any(found < 0) or np.any(found > known) or np.any(known > all_):
            raise InputError("positive: expected 0 <= positive <= labelled <= sizes in all strata")
        if not np.any(known > 0):
            raise InputError("labelled: no item; expected at least one")
        values = None if confidence is None else _probabilities(confidence, strata)
        draws = whole_number("draws", draws, least=100)
        finite = flag("finite", finite)
        return cls(all_, known, found, flags, values, finite, draws=draws)

    @classmethod
    def of_items(
        cls,
        stratum: ArrayLike,
        returned: ArrayLike,
        labelled: ArrayLike,
        positive: ArrayLike,
        confidence: ArrayLike | None = None,
        **how: Any,
    ) -> ItemStrata:
        """Sort all items of a pool; a stratum with several answers of the systems is parted.

        Parameters
        ----------
        stratum
            The stratum of every item.
        returned
            Whether a system returns it: one row per system.
        labelled, positive
            The numbers of the labelled items, and whether each of them is positive.
        confidence
            The probability that somebody gives every item of being positive.
        **how
            As for `of`.
        """
        flags, known = np.asarray(returned, bool), np.asarray(labelled, np.intp)
        keys = np.concatenate([np.asarray(stratum)[None], flags])
        kinds, first, part = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        part = part.ravel()
        number = kinds.shape[1]
        values = None if confidence is None else np.asarray(confidence, np.float64)
        return cls.of(
            np.bincount(part, minlength=number),
            np.bincount(part[known], minlength=number),
            np.bincount(part[known], np.asarray(positive, np.float64), number),
            flags[:, first].T,
            None if values is None else [values[part == own] for own in range(number)],
            **how,
        )

    @property
    def shares(self) -> Array:
        """The share of positive items among those labelled, by stratum.

        Where none is labelled, that of all labelled items with the same answers, or of all.
        """
        same = np.all(self.returned[:, None] == self.returned[None], axis=2)
        alike = same @ self.labelled
        usual = np.where(alike > 0, same @ self.positive, self.positive.sum())
        usual /= np.where(alike > 0, alike, self.labelled.sum())
        known = np.maximum(self.labelled, 1)
        return np.where(self.labelled > 0, self.positive / known, usual)

    @cached_property
    def recalibration(self) -> Recalibration | None:
        """The posterior of the strata's shares; None without confidences."""
        if self.confidence is None:
            return None
        return recalibrate(self.labelled, self.positive, self.confidence)

    @property
    def contradicted(self) -> bool:
        """Whether the confidences do not go with the labels, more likely than not."""
        return self.recalibration is not None and self.recalibration.far > 0.5

    @cached_property
    def drawn(self) -> Array:
        """Totals of positive items from the posterior: one row per draw, one column per stratum."""
        if (nodes := self.recalibration) is None:
            raise InputError("confidence: none; expected those of every stratum")
        rng = np.random.default_rng(0)
        # each node is drawn as often as its weight says, to within one
        ends = np.searchsorted(np.cumsum(nodes.weight), (np.arange(self.draws) + 0.5) / self.draws)
        node = np.minimum(ends, len(nodes.weight) - 1)
        share = rng.beta(nodes.a[node], nodes.b[node])
        if not self.finite:
            return np.asarray(self.sizes * share)
        return self.positive + rng.binomial((self.sizes - self.labelled).astype(np.int64), share)


def _probabilities(confidence: Sequence[ArrayLike], strata: int) -> tuple[Array, ...]:
    values = tuple(np.atleast_1d(np.asarray(x, np.float64)) for x in confidence)
    if len(values) != strata or any(not x.size for x in values):
        raise InputError(
            f"confidence: {sum(bool(x.size) for x in values)} strata with confidences; expected "
            f"{strata}"
        )
    for x in values:
        if not np.all((x >= 0) & (x <= 1)):
            wrong = x[~((x >= 0) & (x <= 1))][0]
            raise InputError(f"confidence: {wrong}; expected probabilities between 0 and 1")
    return values


@dataclass(frozen=True)
class RareInterval:
    """An interval of a score or of a difference.

    Attributes
    ----------
    estimate, low, high
        The estimate and its limits.
    alone
        The limits by the labels alone, whatever the confidences are.
    p_better
        The probability of a difference above 0; None of a single score.
    notes
        What the limits rest on beyond the labels, or why they do not; empty where they are those
        of the labels alone because there is nothing else.
    """

    estimate: float
    low: float
    high: float
    alone: tuple[float, float]
    p_better: float | None
    notes: tuple[str, ...]


def rare_score(
    items: ItemStrata,
    metric: str = "f1",
    *,
    system: int = 0,
    level: float = 0.95,
    beta: float = 1.0,
) -> RareInterval:
    """The score of one system in the pool.

    Parameters
    ----------
    items
        What is known of the pool.
    metric, beta
        The score.
    system
        Its number.
    level
        The nominal coverage of the limits.

    Examples
    --------
    >>> from probative.inference.rare_positives import ItemStrata, rare_score
    >>> pool = [200, 9800], [100, 100], [70, 0], [True, False]
    >>> trusting = rare_score(ItemStrata.of(*pool, confidence=[[0.7], [0.002]]))
    >>> print(f"{trusting.low:.2f} to {trusting.high:.2f}")
    0.62 to 0.86
    >>> alone = rare_score(ItemStrata.of(*pool))
    >>> print(f"{alone.low:.2f} to {alone.high:.2f}")
    0.40 to 0.86
    """

    def value(totals: Array) -> Array:
        return _score(items, totals, metric, system, beta)

    return _interval(items, value, open_probability("level", level), bounds(metric))


def rare_difference(
    items: ItemStrata,
    metric: str = "f1",
    *,
    a: int = 0,
    b: int = 1,
    level: float = 0.95,
    beta: float = 1.0,
) -> RareInterval:
    """The score of system `b` minus that of system `a`.

    Parameters
    ----------
    items
        What is known of the pool.
    metric, beta
        The score.
    a, b
        The numbers of the systems.
    level
        The nominal coverage of the limits.
    """

    def value(totals: Array) -> Array:
        first, second = (_score(items, totals, metric, system, beta) for system in (a, b))
        return np.asarray(second - first)

    most = span(metric)
    return _interval(items, value, open_probability("level", level), (-most, most), paired=True)


def _score(items: ItemStrata, totals: Array, metric: str, system: int, beta: float) -> Array:
    """The score, given how many positive items each stratum has (the last axis)."""
    returned = items.returned[:, system]
    tp, fn = totals @ returned, totals @ ~returned
    fp, tn = items.sizes @ returned - tp, items.sizes @ ~returned - fn
    cells = (np.maximum(cell, 0.0) for cell in (tp, fp, fn, tn))  # rounding may leave -1e-13
    return np.asarray(score(Counts(*cells), metric, beta=beta))


def _interval(
    items: ItemStrata,
    value: Callable[[Array], Array],
    level: float,
    between: tuple[float, float],
    *,
    paired: bool = False,
) -> RareInterval:
    alone = _alone(items, value, level, between)
    if items.recalibration is None or items.contradicted:
        estimate = float(value(items.sizes * items.shares))
        better = _p_better(estimate, alone, level) if paired else None
        notes = (_CONTRADICTED,) if items.contradicted else ()
        return RareInterval(estimate, *alone, alone, better, notes)
    draws = value(items.drawn)
    draws = draws[~np.isnan(draws)]  # of totals for which the score is defined
    if not draws.size:
        return RareInterval(np.nan, *between, between, 0.5 if paired else None, ())
    low, estimate, high = (
        float(x) for x in np.quantile(draws, [(1 - level) / 2, 0.5, (1 + level) / 2])
    )
    better = float(np.mean(draws > 0) + np.mean(draws == 0) / 2) if paired else None
    trusting = alone[1] - alone[0] > _MOSTLY * (high - low)
    notes = (_TRUSTING.format(*alone),) if trusting else ()
    return RareInterval(estimate, low, high, alone, better, notes)


_CONTRADICTED = (
    "the confidences do not go with the labels, however they are recalibrated: limits by the "
    "labels alone"
)
_TRUSTING = "the limits owe much to the confidences: labels alone would give {:.4f} to {:.4f}"


def _alone(
    items: ItemStrata, value: Callable[[Array], Array], level: float, between: tuple[float, float]
) -> tuple[float, float]:
    """The limits by the labels alone."""
    labels = items.labelled, items.positive, items.shares
    return Totals.of(items.sizes, *labels, level, finite=items.finite).extremes(value, between)


def _p_better(estimate: float, limits: tuple[float, float], level: float) -> float:
    """The confidence in a difference above 0: as normal as the limit on the side of 0 is wide."""
    if np.isnan(estimate) or estimate == 0:
        return 0.5
    reach = abs(estimate - limits[0 if estimate > 0 else 1])
    if reach == 0:
        return float(estimate > 0)
    return float(special.ndtr(special.ndtri((1 + level) / 2) * estimate / reach))
