"""How many items of each stratum are positive, as confidences and labels tell together.

Confidences may be timid, bold or shifted: the share of positive items of a stratum is centred at
the mean of expit(α + β·logit c) over its items, c their confidences. Around this centre μ the
logit of the share strays by about τ: the share is Beta(1/(τ²(1 - μ)), 1/(τ²μ)), so that rare shares
stray by a factor, not by a constant. A priori α is normal with standard deviation 3, ln β with
standard deviation 1 around 0 (confidences as they should be), and τ is one of 0.1, 0.2, 0.4, 0.8
and 1.6. Given the three, the strata are independent and their posteriors are betas; a posteriori
the three are integrated over on a grid that is laid around the posterior, anew for every τ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative._types import Array

__all__ = ["Recalibration", "recalibrate"]

SHIFT_SPREAD, SLOPE_SPREAD = 3.0, 1.0
STRAYING = (0.1, 0.2, 0.4, 0.8, 1.6)
FAR = 0.7  # from here on strata stray from their centre by a factor of two

_REACH, _POINTS = 4.0, 13  # of the grid: standard deviations to either side, points per axis
_PASSES = 5
_VALUES = 16  # confidences that stand for those of a stratum
_LEAST = 1e-10  # centre: below, differences of log gamma functions are noise
_FARTHEST_LOGIT = 30.0
_KEPT = 1e-6  # of the heaviest weight; lighter nodes are not worth their time


@dataclass(frozen=True, eq=False)
class Recalibration:
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


def recalibrate(labelled: Array, positive: Array, confidence: Sequence[Array]) -> Recalibration:
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
    >>> from probative.inference.recalibration import recalibrate
    >>> labelled, positive = np.array([50.0, 50.0]), np.array([40.0, 0.0])
    >>> nodes = recalibrate(labelled, positive, [np.array([0.8]), np.array([0.001])])
    >>> share = nodes.weight @ (nodes.a / (nodes.a + nodes.b))
    >>> bool(share[1] < 0.01), nodes.far < 0.5
    (True, True)
    """
    logits = np.stack([_representatives(values) for values in confidence])
    nodes = [_nodes(labelled, positive, logits, straying) for straying in STRAYING]
    a, b, log_weight = (np.concatenate(parts) for parts in zip(*nodes, strict=True))
    weight = np.exp(log_weight - log_weight.max())
    far = np.repeat(np.array(STRAYING) > FAR, len(weight) // len(STRAYING))
    share = float(weight @ far / weight.sum())
    kept = weight > _KEPT
    weight = weight[kept] / weight[kept].sum()
    return Recalibration(a[kept] + positive, b[kept] + labelled - positive, weight, share)


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
