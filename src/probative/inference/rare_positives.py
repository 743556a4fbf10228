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
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import flag, open_probability, whole_number
from probative.counts import Counts
from probative.errors import InputError
from probative.metrics import bounds, score, span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from probative._validation import Array


# -----------------------------------------------------------------------------
# How many items of each stratum are positive, as confidences and labels tell together.
#
# Confidences may be timid, bold or shifted: the share of positive items of a stratum is centred at
# the mean of expit(α + β·logit c) over its items, c their confidences. Around this centre μ the
# logit of the share strays by about τ: the share is Beta(1/(τ²(1 - μ)), 1/(τ²μ)), so that rare
# shares stray by a factor, not by a constant. A priori α is normal with standard deviation 3, ln β
# with standard deviation 1 around 0 (confidences as they should be), and τ is one of 0.1, 0.2,
# 0.4, 0.8 and 1.6. Given the three, the strata are independent and their posteriors are betas; a
# posteriori the three are integrated over on a grid that is laid around the posterior, anew for
# every τ.
# -----------------------------------------------------------------------------

SHIFT_SPREAD, SLOPE_SPREAD = 3.0, 1.0
_STRAYING = (0.1, 0.2, 0.4, 0.8, 1.6)
_FAR = 0.7  # from here on strata stray from their centre by a factor of two

_REACH, _POINTS = 4.0, 13  # of the grid: standard deviations to either side, points per axis
_PASSES = 5
_VALUES = 16  # confidences that stand for those of a stratum
_LEAST = 1e-10  # centre: below, differences of log gamma functions are noise
_FARTHEST_LOGIT = 30.0
_KEPT = 1e-6  # of the heaviest weight; lighter nodes are not worth their time


@dataclass(frozen=True, eq=False)
class _Recalibration:
    """Beta posteriors of the strata at every node (α, β, τ), and the weights of the nodes.

    Attributes
    ----------
    a, b
        The parameters of the beta distributions: one row per node, one column per stratum.
    weight
        The posterior probability of the nodes, which sums to 1.
    far
        The posterior probability that strata stray from what any recalibration of the confidences
        says by a factor of two or more: confidences that do not go with the labels.
    """

    a: Array
    b: Array
    weight: Array
    far: float


def recalibrate(labelled: Array, positive: Array, confidence: Sequence[Array]) -> _Recalibration:
    """The posterior of the strata's shares of positive items.

    Parameters
    ----------
    labelled, positive
        How many items of each stratum are labelled, and how many of these are positive.
    confidence
        Of each stratum the probabilities that somebody gives its items of being positive.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.rare_positives import recalibrate
    >>> labelled, positive = np.array([50.0, 50.0]), np.array([40.0, 0.0])
    >>> nodes = recalibrate(labelled, positive, [np.array([0.8]), np.array([0.001])])
    >>> share = nodes.weight @ (nodes.a / (nodes.a + nodes.b))
    >>> bool(share[1] < 0.01), nodes.far < 0.5
    (True, True)
    """
    logits = np.stack([_representatives(values) for values in confidence])
    nodes = [_nodes(labelled, positive, logits, straying) for straying in _STRAYING]
    a, b, log_weight = (np.concatenate(parts) for parts in zip(*nodes, strict=True))
    weight = np.exp(log_weight - log_weight.max())
    far = np.repeat(np.array(_STRAYING) > _FAR, len(weight) // len(_STRAYING))
    share = float(weight @ far / weight.sum())
    kept = weight > _KEPT
    weight = weight[kept] / weight[kept].sum()
    return _Recalibration(a[kept] + positive, b[kept] + labelled - positive, weight, share)


def _representatives(confidence: Array) -> Array:
    """The logits of some confidences that stand for all of a stratum."""
    ordered = np.sort(confidence)
    places = ((np.arange(_VALUES) + 0.5) / _VALUES * len(ordered)).astype(np.intp)
    with np.errstate(divide="ignore"):
        logits = special.logit(ordered[places])
    return np.asarray(np.clip(logits, -_FARTHEST_LOGIT, _FARTHEST_LOGIT))


def _nodes(
    labelled: Array, positive: Array, logits: Array, straying: float
) -> tuple[Array, Array, Array]:
    """The prior of the strata at every node for one τ, and the nodes' log weights.

    A grid over the prior tells mean and covariance of (α, ln β) roughly, the next grid, laid
    around these, tells them better.
    """
    grid, step = _grid()
    centre, root = np.zeros(2), np.diag([SHIFT_SPREAD, SLOPE_SPREAD])
    for last in [False] * (_PASSES - 1) + [True]:
        points = centre + grid @ root.T
        a, b = _prior(points, logits, straying)
        log_density = _log_density(points, a, b, labelled, positive)
        if last:
            break
        weight = np.exp(log_density - log_density.max())
        weight /= weight.sum()
        centre = weight @ points
        away = points - centre
        # a coarse grid does not see what is narrower than its cells
        seen = (away * weight[:, None]).T @ away + (step / 2) ** 2 * root @ root.T
        root = np.linalg.cholesky(seen)
    return a, b, log_density + np.log(np.diag(root)).sum()


def _prior(points: Array, logits: Array, straying: float) -> tuple[Array, Array]:
    moved = points[:, :1, None] + np.exp(points[:, 1:, None]) * logits
    centre = np.clip(special.expit(moved).mean(axis=2), _LEAST, 1 - _LEAST)
    return 1 / (straying**2 * (1 - centre)), 1 / (straying**2 * centre)


def _log_density(points: Array, a: Array, b: Array, labelled: Array, positive: Array) -> Array:
    """The log of prior times beta-binomial likelihood, but for a constant."""
    likelihood = special.betaln(a + positive, b + labelled - positive) - special.betaln(a, b)
    prior = (points / (SHIFT_SPREAD, SLOPE_SPREAD)) ** 2
    return np.asarray(likelihood.sum(axis=1) - prior.sum(axis=1) / 2)


@cache
def _grid() -> tuple[Array, float]:
    axis, step = np.linspace(-_REACH, _REACH, _POINTS, retstep=True)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    return np.stack([x.ravel(), y.ravel()], axis=1), float(step)


# -----------------------------------------------------------------------------
# Limits of a score by the labels alone: each stratum has limits of its own, and MOVER joins them.
#
# The limits of the score are its extremes over all totals whose deviations from the estimated
# ones, each measured by its stratum's limit on that side, have a sum of squares of at most 1. For
# a sum this is what MOVER computes; of a ratio of sums, or a difference of two, the direction in
# which to look moves with the totals, and steps that each help find it.
# -----------------------------------------------------------------------------

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
    >>> from probative.inference.rare_positives import share_limits
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


# -----------------------------------------------------------------------------
# All items of a stratum have the same answer of every system (returned or not), so every score is
# a function of how many items of each stratum are positive. There are two ways to its limits:
#
# * by the labels alone: every stratum's share has limits of its own (Jeffreys' as modified by
#   Brown, Cai and DasGupta, 2001: down to 0 where none or one was found), and the strata are
#   joined as MOVER joins them: the limits of the score are its extremes over all totals whose
#   deviations, each measured by its stratum's limit on that side, have a sum of squares of at most
#   1;
# * by confidences recalibrated by the labels (`recalibration`), where there are any: quantiles
#   over draws from the posterior of the strata's totals. Where confidences do not go with the
#   labels, the labels alone are asked.
# -----------------------------------------------------------------------------

_DRAWS = 20_000
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
    draws: int = field(default=_DRAWS, kw_only=True)

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
        draws: int = _DRAWS,
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
    def recalibration(self) -> _Recalibration | None:
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
class _RareInterval:
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
) -> _RareInterval:
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
) -> _RareInterval:
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
) -> _RareInterval:
    alone = _alone(items, value, level, between)
    if items.recalibration is None or items.contradicted:
        estimate = float(value(items.sizes * items.shares))
        better = _p_better(estimate, alone, level) if paired else None
        notes = (_CONTRADICTED,) if items.contradicted else ()
        return _RareInterval(estimate, *alone, alone, better, notes)
    draws = value(items.drawn)
    draws = draws[~np.isnan(draws)]  # of totals for which the score is defined
    if not draws.size:
        return _RareInterval(np.nan, *between, between, 0.5 if paired else None, ())
    low, estimate, high = (
        float(x) for x in np.quantile(draws, [(1 - level) / 2, 0.5, (1 + level) / 2])
    )
    better = float(np.mean(draws > 0) + np.mean(draws == 0) / 2) if paired else None
    trusting = alone[1] - alone[0] > _MOSTLY * (high - low)
    notes = (_TRUSTING.format(*alone),) if trusting else ()
    return _RareInterval(estimate, low, high, alone, better, notes)


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
