"""The prior that the labels of one system share.

The share J of a label's n items that the system gets right is drawn from a beta distribution that
all labels have in common, Beta(m·κ, (1 - m)·κ). Rare labels tend to be worse than frequent ones:
the mean m moves with the label's size, logit m = α + β·(ln(n + 1) - its mean over the labels). A
priori the mean of a label of middling size is uniform on (0, 1), β normal with standard deviation
½, ln κ uniform between 0 and ln 100. Given (α, β, κ) the labels are independent, and each has a
beta posterior; a posteriori these three are integrated over: ln κ by Gauss and Legendre's rule, α
and β by Gauss and Hermite's, laid around their mode.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from probative._types import Array

__all__ = ["LabelPosteriors", "label_posteriors"]

SLOPE_SPREAD, LARGEST_KAPPA = 0.5, 100.0
_NODES = (6, 9, 5)  # of ln κ, α and β
_KEPT = 1 - 1e-5  # of the posterior weight; the lightest nodes are not worth their time
_TINY = np.finfo(np.float64).tiny
_STEPS = 60
_FARTHEST_STEP = 2.0


@dataclass(frozen=True, eq=False)
class LabelPosteriors:
    """Beta posteriors of the labels at every node (α, β, κ), and the weights of the nodes.

    Attributes
    ----------
    a, b
        The parameters of the beta distributions: one row per node, one column per label.
    weight
        The posterior probability of the nodes, which sums to 1.
    """

    a: Array
    b: Array
    weight: Array


def label_posteriors(
    right: Array,
    items: Array,
    number: Array | None = None,
    *,
    slope_spread: float = SLOPE_SPREAD,
    largest_kappa: float = LARGEST_KAPPA,
) -> LabelPosteriors:
    """The posteriors of shares that have a prior in common.

    Parameters
    ----------
    right, items
        How many of the items of each label are right, and how many there are; fractions, too.
    number
        How many labels have these counts; by default one each.
    slope_spread, largest_kappa
        The standard deviation of β a priori, in logits per e-fold of a label's size, and how many
        items the prior is worth at most.
    """
    right, items = np.asarray(right, np.float64), np.asarray(items, np.float64)
    number = np.ones(len(right)) if number is None else np.asarray(number, np.float64)
    knots, kappa_weight = _kappa_nodes()
    kappa = largest_kappa ** ((knots + 1) / 2)
    model = _Model(right, items, number, kappa, slope_spread)
    alpha, beta, log_weight = model.nodes(np.log(kappa_weight))
    weight = np.exp(log_weight - log_weight.max()).ravel()
    kept = np.sort(np.argsort(-weight, kind="stable")[: _enough(weight)])
    kappas = np.broadcast_to(kappa[:, None], alpha.shape).ravel()[kept, None]
    mean = special.expit(alpha.ravel()[kept, None] + beta.ravel()[kept, None] * model.size)
    return LabelPosteriors(
        right + mean * kappas,
        items - right + (1 - mean) * kappas,
        weight[kept] / weight[kept].sum(),
    )


def _enough(weight: Array) -> int:
    """How many of the heaviest nodes are needed."""
    share = np.cumsum(np.sort(weight)[::-1])
    return int(np.searchsorted(share, _KEPT * share[-1])) + 1


class _Model:
    """The posterior density of α and β for every κ: arrays with one row per κ."""

    def __init__(
        self, right: Array, items: Array, number: Array, kappa: Array, slope_spread: float
    ):
        self.right, self.wrong, self.number = right, items - right, number
        self.kappa, self.precision = kappa, slope_spread**-2
        size = np.log(items + 1)
        self.size = size - number @ size / number.sum()

    def nodes(self, log_kappa_weight: Array) -> tuple[Array, Array, Array]:
        """α, β and the log weight at the nodes: one row per κ."""
        alpha, beta = self._mode()
        aa, ab, bb = self._covariance(alpha, self._derivatives(alpha, beta))
        z, log_w = _normal_nodes()
        spread = np.sqrt(aa)
        slope = ab / spread
        rest = np.sqrt(np.maximum(bb - slope**2, 1e-300))
        alphas = alpha[:, None] + spread[:, None] * z[0]
        betas = beta[:, None] + slope[:, None] * z[0] + rest[:, None] * z[1]
        density = self._log_density(alphas, betas)
        scale = np.log(spread * rest) + log_kappa_weight
        return alphas, betas, density + log_w + scale[:, None]

    def _log_density(self, alpha: Array, beta: Array) -> Array:
        """The log of prior times beta-binomial likelihood, but for a constant.

        α and β have one row per κ, and any number of columns or none.
        """
        a, b = self._prior(alpha, beta)
        with np.errstate(invalid="ignore"):
            gain = special.betaln(self.right + a, self.wrong + b) - special.betaln(a, b)
        uniform = special.log_expit(alpha) + special.log_expit(-alpha)
        return np.asarray(gain @ self.number + uniform - self.precision * beta**2 / 2)

    def _prior(self, alpha: Array, beta: Array) -> tuple[Array, Array]:
        logit = alpha[..., None] + beta[..., None] * self.size
        kappa = self.kappa.reshape(-1, *[1] * alpha.ndim)
        a, b = (special.expit(sign * logit) * kappa for sign in (1, -1))
        return np.maximum(a, _TINY), np.maximum(b, _TINY)

    def _derivatives(self, alpha: Array, beta: Array) -> tuple[Array, ...]:
        """The gradient and the second derivatives of the log density in α and β."""
        kappa = self.kappa[:, None]
        a, b = self._prior(alpha, beta)
        mean = a / kappa
        bend = a * b / kappa**2  # dm/dlogit
        first = special.digamma(self.right + a) - special.digamma(a)
        first -= special.digamma(self.wrong + b) - special.digamma(b)
        second = special.zeta(2, self.right + a) - special.zeta(2, a)
        second += special.zeta(2, self.wrong + b) - special.zeta(2, b)
        slope = kappa * first * bend
        curve = kappa**2 * second * bend**2 + slope * (1 - 2 * mean)
        centre = special.expit(alpha)
        weighted, bent = self.number * slope, self.number * curve
        return (
            weighted.sum(axis=1) + 1 - 2 * centre,
            weighted @ self.size - self.precision * beta,
            bent.sum(axis=1) - 2 * centre * (1 - centre),
            bent @ self.size,
            bent @ self.size**2 - self.precision,
        )

    def _mode(self) -> tuple[Array, Array]:
        """Newton's method, each step halved until it climbs."""
        share = (self.number @ self.right + 1) / (self.number @ (self.right + self.wrong) + 2)
        alpha = np.full(len(self.kappa), special.logit(share))
        beta = np.zeros(len(self.kappa))
        height = self._log_density(alpha, beta)
        for _ in range(_STEPS):
            derivatives = self._derivatives(alpha, beta)
            gradient_a, gradient_b, *_ = derivatives
            aa, ab, bb = self._covariance(alpha, derivatives)
            steps = np.stack([aa * gradient_a + ab * gradient_b, ab * gradient_a + bb * gradient_b])
            steps *= np.minimum(1, _FARTHEST_STEP / np.maximum(np.abs(steps).max(axis=0), 1e-300))
            for _ in range(12):
                new = self._log_density(alpha + steps[0], beta + steps[1])
                climbs = new >= height
                if climbs.all():
                    break
                steps = np.where(climbs, steps, steps / 2)
            steps = np.where(climbs, steps, 0.0)
            alpha, beta = alpha + steps[0], beta + steps[1]
            height = np.where(climbs, new, height)
            if np.all(np.abs(steps) < 1e-6):
                break
        return alpha, beta

    def _covariance(
        self, alpha: Array, derivatives: tuple[Array, ...]
    ) -> tuple[Array, Array, Array]:
        """Minus the inverse of the second derivatives, made positive where it is not."""
        _, _, aa, ab, bb = derivatives
        centre = special.expit(alpha)
        # the prior alone bends at least that much downwards
        aa = np.minimum(aa, -2 * centre * (1 - centre))
        aa = np.minimum(aa, -1e-12)
        bb = np.minimum(bb, -self.precision)
        limit = 0.999 * np.sqrt(aa * bb)
        ab = np.clip(ab, -limit, limit)
        determinant = aa * bb - ab**2
        return -bb / determinant, ab / determinant, -aa / determinant


@cache
def _kappa_nodes() -> tuple[Array, Array]:
    knots, weight = np.polynomial.legendre.leggauss(_NODES[0])
    return knots, weight


@cache
def _normal_nodes() -> tuple[tuple[Array, Array], Array]:
    """Nodes of a standard normal pair, and the log weights that undo its density."""
    rules = [np.polynomial.hermite_e.hermegauss(number) for number in _NODES[1:]]
    x, y = (grid.ravel() for grid in np.meshgrid(*(nodes for nodes, _ in rules), indexing="ij"))
    weight: Any = np.outer(*(weights for _, weights in rules)).ravel()
    return (x, y), np.log(weight) + (x**2 + y**2) / 2
