"""Estimate scores of a pool of single items from a stratified sample with few positive items.

Every system treats all items of a stratum alike (returned or not), so every score is a function of
the number of positive items in each stratum. Its interval is computed in one of two ways:

* from the labels alone: every stratum's share has its own interval (Jeffreys' as modified by Brown,
  Cai and DasGupta, 2001: down to 0 if at most one positive item was found), and MOVER joins them;
* from confidences recalibrated by the labels, where there are any: quantiles of the score over
  draws from the posterior of the strata's totals. If the confidences contradict the labels, the
  labels alone are used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from probative.counts import Counts
from probative.metrics import bounds, score, span

if TYPE_CHECKING:
    from probative._validation import Array


# --- Posterior of the strata's shares from confidences and labels
# Confidences may be timid, bold or shifted: the share of positive items of a stratum has its
# centre μ at the mean of expit(α + β·logit c) over the confidences c of its items. The logit of
# the share deviates from that of μ by about τ: the share is Beta(1/(τ²(1 - μ)), 1/(τ²μ)), so that
# rare shares deviate by a factor, not by a constant. The prior of α is normal with standard
# deviation 3, that of ln β normal with standard deviation 1 (both with mean 0: calibrated
# confidences), and τ is one of 0.1, 0.2, 0.4, 0.8 and 1.6. Given the three, the strata are
# independent with beta posteriors; the three are integrated over on a grid around the posterior,
# one grid per τ.

_SHIFT_SPREAD, _SLOPE_SPREAD = 3.0, 1.0  # prior standard deviations of α and of ln β
_DEVIATIONS = (0.1, 0.2, 0.4, 0.8, 1.6)
_CONTRADICTING_DEVIATION = 0.7  # τ (about ln 2) from which strata deviate by a factor of two

_GRID_REACH = 4.0  # standard deviations from the centre of the grid to its edge
_GRID_POINTS = 13  # per axis
_GRID_PASSES = 5  # the grid is moved to the posterior in passes; the last one is used
_CONFIDENCES_PER_STRATUM = 16  # quantiles that represent the confidences of a stratum
_SMALLEST_CENTRE = 1e-10  # below, differences of log gamma functions are noise
_LARGEST_LOGIT = 30.0
_SMALLEST_WEIGHT = 1e-6  # relative to the largest; lighter nodes are dropped to save time


class Recalibration:
    """The posterior of the strata's shares of positive items: beta at every node (α, β, τ)."""

    def __init__(self, labelled: Array, positive: Array, confidence: Sequence[Array]) -> None:
        # the logits of quantiles that represent the confidences of a stratum
        parts = (np.arange(_CONFIDENCES_PER_STRATUM) + 0.5) / _CONFIDENCES_PER_STRATUM
        chosen = [np.sort(own)[(parts * len(own)).astype(np.intp)] for own in confidence]
        with np.errstate(divide="ignore"):
            logits = np.clip(special.logit(chosen), -_LARGEST_LOGIT, _LARGEST_LOGIT)
        nodes = [_nodes(labelled, positive, logits, straying) for straying in _DEVIATIONS]
        a, b, log_weight = (np.concatenate(parts) for parts in zip(*nodes, strict=True))
        weight = np.exp(log_weight - log_weight.max())
        strays = np.array(_DEVIATIONS) > _CONTRADICTING_DEVIATION
        far = np.repeat(strays, len(weight) // len(_DEVIATIONS))
        # P(strata deviate from every recalibration by a factor of two or more)
        self.far = float(weight @ far / weight.sum())
        kept = weight > _SMALLEST_WEIGHT
        # the posterior probabilities of the nodes, which sum to 1, and the parameters of the beta
        # distributions: one row per node, one column per stratum
        self.weight = weight[kept] / weight[kept].sum()
        self.a, self.b = a[kept] + positive, b[kept] + labelled - positive


def _nodes(
    labelled: Array, positive: Array, logits: Array, straying: float
) -> tuple[Array, Array, Array]:
    """Compute the strata's prior at every node for one τ, and the log weights of the nodes."""
    # each grid yields the mean and covariance of (α, ln β), around which the next one is laid
    grid, step = _grid()
    centre, root = np.zeros(2), np.diag([_SHIFT_SPREAD, _SLOPE_SPREAD])
    for last in [False] * (_GRID_PASSES - 1) + [True]:
        points = centre + grid @ root.T
        # the parameters of the strata's beta priors at every point (α, ln β)
        moved = points[:, :1, None] + np.exp(points[:, 1:, None]) * logits
        share = np.clip(special.expit(moved).mean(axis=2), _SMALLEST_CENTRE, 1 - _SMALLEST_CENTRE)
        a, b = 1 / (straying**2 * (1 - share)), 1 / (straying**2 * share)
        # the log of prior times beta-binomial likelihood, up to a constant
        likelihood = special.betaln(a + positive, b + labelled - positive) - special.betaln(a, b)
        prior = (points / (_SHIFT_SPREAD, _SLOPE_SPREAD)) ** 2
        log_density = likelihood.sum(axis=1) - prior.sum(axis=1) / 2
        if last:
            break
        weight = np.exp(log_density - log_density.max())
        weight /= weight.sum()
        centre = weight @ points
        away = points - centre
        # a coarse grid cannot resolve a posterior narrower than its cells: widen by half a cell
        seen = (away * weight[:, None]).T @ away + (step / 2) ** 2 * root @ root.T
        root = np.linalg.cholesky(seen)
    return a, b, log_density + np.log(np.diag(root)).sum()


@cache
def _grid() -> tuple[Array, float]:
    """Return the points of the standardised grid and the distance between neighbours."""
    axis, step = np.linspace(-_GRID_REACH, _GRID_REACH, _GRID_POINTS, retstep=True)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    return np.stack([x.ravel(), y.ravel()], axis=1), float(step)


# --- Interval of a score from the labels alone
# The ends of the interval are the extremes of the score over all totals whose deviations from the
# estimates, each divided by the distance to the end of its stratum's interval on that side, have
# a sum of squares of at most 1. For a sum this is MOVER; for a ratio of sums, or a difference of
# two, the gradient depends on the totals, and the extreme is found by an iterative search.

_MOST_SEARCH_STEPS = 60
_STEP_LENGTHS = np.append(0.5 ** np.arange(10), 0.0)  # as parts of the way; 0 stays in place
_CONVERGED = 1e-9  # change of the totals, relative to a stratum's size, that ends the search


def share_limits(labelled: Array, positive: Array, level: float) -> tuple[Array, Array]:
    """Compute Jeffreys' intervals of shares, modified at 0 and 1 (Brown, Cai, DasGupta 2001)."""
    tail = (1 - level) / 2
    shape = positive + 0.5, labelled - positive + 0.5
    low, high = special.betaincinv(*shape, tail), special.betaincinv(*shape, 1 - tail)
    extreme = tail ** (1 / np.maximum(labelled, 1))
    few, few_other = positive <= 1, labelled - positive <= 1
    low = np.where(few, 0.0, np.where(positive == labelled, extreme, low))
    high = np.where(few_other, 1.0, np.where(positive == 0, 1 - extreme, high))
    return low, high


class Totals:
    """The number of positive items in each stratum, estimated from its labels alone."""

    def __init__(self, items: ItemStrata, level: float) -> None:
        self.sizes, labelled, share = items.sizes, items.labelled, items.shares
        self.estimate = self.sizes * share
        # the distances from the estimates to the ends of the strata's own intervals
        low, high = share_limits(labelled, items.positive, level)
        open_ = self.sizes * (np.sqrt(1 - labelled / self.sizes) if items.finite else 1.0)
        self.below, self.above = (share - low) * open_, (high - share) * open_

    def extremes(
        self, value: Callable[[Array], Array], between: tuple[float, float]
    ) -> tuple[float, float]:
        """Return the smallest and largest value of a function of the totals, within `between`."""
        if np.isnan(value(self.estimate)):
            return between
        low, high = (float(value(self._extreme(value, sign))) for sign in (-1, 1))
        return max(low, between[0]), min(high, between[1])

    def _extreme(self, value: Callable[[Array], Array], sign: int) -> Array:
        """Find the totals where the function is smallest (-1) or largest (1)."""

        # From the best totals along an axis, step towards the optimum of the linearised function as
        # long as that helps; shorter steps too, because the function may rise and fall on the way.
        def best(totals: Array) -> Array:
            return np.asarray(totals[np.nanargmax(sign * value(totals))])

        # the estimated totals, and those with one total moved by ever smaller parts
        axes = np.concatenate([np.diag(self.above), -np.diag(self.below)])
        ways = (_STEP_LENGTHS[:, None, None] * axes).reshape(-1, len(self.sizes))
        now = best(np.clip(self.estimate + ways, 0.0, self.sizes))
        for _ in range(_MOST_SEARCH_STEPS):
            slope = sign * self._slopes(value, now)
            reach = np.where(slope > 0, self.above, self.below)
            length = float(np.sqrt(np.sum((reach * slope) ** 2)))
            if not length > 0:
                break
            end = np.clip(self.estimate + reach**2 * slope / length, 0.0, self.sizes)
            last, now = now, best(now + _STEP_LENGTHS[:, None] * (end - now))
            if np.all(np.abs(now - last) <= _CONVERGED * self.sizes):
                break
        return now

    def _slopes(self, value: Callable[[Array], Array], totals: Array) -> Array:
        """Compute the gradient of the function by finite differences."""
        step = np.diag(self.sizes * 1e-6)
        up, down = np.minimum(totals + step, self.sizes), np.maximum(totals - step, 0.0)
        moved = np.diagonal(up) - np.diagonal(down)
        above, below = np.split(value(np.concatenate([up, down])), 2)
        return np.asarray(np.nan_to_num((above - below) / moved))


# --- Scores and differences of a pool of items

_DRAWS = 20_000
# A note is given if the interval from the labels alone is this many times as long
_NOTED_LENGTH_RATIO = 2.0


class ItemStrata:
    """The counts of a pool of single items, by stratum."""

    def __init__(
        self,
        sizes: ArrayLike,  # number of items by stratum, of labelled ones, and of positive ones
        labelled: ArrayLike,
        positive: ArrayLike,
        returned: ArrayLike,  # one row per stratum, one column per system
        # for every stratum, probabilities of its items to be positive: those of all items, or a few
        # that represent them; None without confidences
        confidence: Sequence[ArrayLike] | None = None,
        *,
        finite: bool = True,  # only the pool matters, not a larger population
        draws: int = _DRAWS,  # number of draws from the posterior
    ) -> None:
        self.sizes, self.labelled, self.positive = (
            np.asarray(own, np.float64) for own in (sizes, labelled, positive)
        )
        flags = np.asarray(returned, bool)
        self.returned = flags[:, None] if flags.ndim == 1 else flags
        self.finite, self.draws = finite, draws
        self.confidence = self.recalibration = None  # the latter: the posterior of the shares
        if confidence is not None:
            self.confidence = [np.asarray(own, np.float64) for own in confidence]
            self.recalibration = Recalibration(self.labelled, self.positive, self.confidence)
        # True if the confidences probably contradict the labels
        self.contradicted = self.recalibration is not None and self.recalibration.far > 0.5

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
        """Group all items of a pool; split strata whose items the systems treat differently."""
        flags, known = np.asarray(returned, bool), np.asarray(labelled, np.intp)
        keys = np.concatenate([np.asarray(stratum)[None], flags])
        kinds, first, part = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        part = part.ravel()
        number = kinds.shape[1]
        values = None if confidence is None else np.asarray(confidence, np.float64)
        return cls(
            np.bincount(part, minlength=number),
            np.bincount(part[known], minlength=number),
            np.bincount(part[known], np.asarray(positive, np.float64), number),
            flags[:, first].T,
            None if values is None else [values[part == index] for index in range(number)],
            **how,
        )

    @property
    def shares(self) -> Array:
        """Return the share of positive items among those labelled, by stratum."""
        # of strata without labels: of all labelled items that the same systems return, or else all
        same = np.all(self.returned[:, None] == self.returned[None], axis=2)
        alike = same @ self.labelled
        fallback = np.where(alike > 0, same @ self.positive, self.positive.sum())
        fallback /= np.where(alike > 0, alike, self.labelled.sum())
        known = np.maximum(self.labelled, 1)
        return np.where(self.labelled > 0, self.positive / known, fallback)

    @cached_property
    def drawn(self) -> Array:
        """Draw totals of positive items from the posterior of the confidences, one row per draw."""
        nodes: Any = self.recalibration
        rng = np.random.default_rng(0)
        # systematic sampling: the number of draws of a node is its weight times draws, to within 1
        ends = np.searchsorted(np.cumsum(nodes.weight), (np.arange(self.draws) + 0.5) / self.draws)
        node = np.minimum(ends, len(nodes.weight) - 1)
        share = rng.beta(nodes.a[node], nodes.b[node])
        if not self.finite:
            return np.asarray(self.sizes * share)
        return self.positive + rng.binomial((self.sizes - self.labelled).astype(np.int64), share)


class _RareInterval(NamedTuple):
    """The interval of a score or of a difference."""

    estimate: float  # the estimate and its interval
    low: float
    high: float
    alone: tuple[float, float]  # the interval from the labels alone, whatever the confidences are
    notes: tuple[str, ...]


def rare_interval(
    items: ItemStrata,
    metric: str = "f1",
    systems: tuple[int, ...] = (0,),
    *,
    level: float = 0.95,
    beta: float = 1,
) -> _RareInterval:
    """Compute the interval of one system's score, or of the second system's minus the first's."""
    # from recalibrated confidences, or else from the labels alone

    def value(totals: Array) -> Array:
        scores = [_score(items, totals, metric, system, beta) for system in systems]
        return scores[0] if len(scores) == 1 else np.asarray(scores[1] - scores[0])

    between = bounds(metric) if len(systems) == 1 else (-span(metric), span(metric))
    alone = Totals(items, level).extremes(value, between)
    if items.recalibration is None or items.contradicted:
        estimate = float(value(items.sizes * items.shares))
        return _RareInterval(estimate, *alone, alone, (_CONTRADICTED,) * items.contradicted)
    draws = value(items.drawn)
    draws = draws[~np.isnan(draws)]  # the score is undefined for some totals
    if not draws.size:
        return _RareInterval(np.nan, *between, between, ())
    low, estimate, high = np.quantile(draws, [(1 - level) / 2, 0.5, (1 + level) / 2]).tolist()
    trusting = alone[1] - alone[0] > _NOTED_LENGTH_RATIO * (high - low)
    notes = (_TRUSTING.format(*alone),) if trusting else ()
    return _RareInterval(estimate, low, high, alone, notes)


def _score(items: ItemStrata, totals: Array, metric: str, system: int, beta: float) -> Array:
    """Compute the score from the number of positive items in each stratum (the last axis)."""
    returned = items.returned[:, system]
    tp, fn = totals @ returned, totals @ ~returned
    fp, tn = items.sizes @ returned - tp, items.sizes @ ~returned - fn
    cells = (np.maximum(cell, 0.0) for cell in (tp, fp, fn, tn))  # rounding may leave -1e-13
    return np.asarray(score(Counts(*cells), metric, beta=beta))


_CONTRADICTED = (
    "the confidences do not fit the labels, even recalibrated: the interval uses only the labels"
)
_TRUSTING = "the interval depends strongly on the confidences: labels alone give {:.4f} to {:.4f}"
