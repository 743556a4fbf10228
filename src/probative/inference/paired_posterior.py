"""The posterior of B minus A for two systems judged on the same items.

The eight cases have a Dirichlet posterior: shares of independent gamma variates g0 … g7. Its
marginals are the posteriors of the single scores, and it carries their correlation.

Recall and accuracy differ by k(2V - 1), with k the share of the items on which exactly one of the
two is right and V the share of these that B has right: one integral. The other scores are ratios
of linear forms in the g. In each of the two splits g0 : g2 and g1 : g3 their difference is
monotone, so the split that moves it most is integrated out as an incomplete beta function at the
root of a quadratic; the rest is averaged over a product of Gauss-Jacobi rules or, where a table
is too sparse for these, over scrambled Sobol points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import one_of, open_probability, positive
from probative.errors import InputError
from probative.inference._paired_nodes import gauss_nodes, sobol_nodes
from probative.inference.beta_posterior import Posterior, plain
from probative.inference.independent import Pair, quantile_search
from probative.inference.posteriors import posterior

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from probative.counts import PairedCounts

    Array = NDArray[np.float64]

__all__ = ["PAIRED_METRICS", "PairedPosterior"]

RULES = ("auto", "quadrature", "sobol")
PAIRED_METRICS = ("precision", "recall", "f1", "fbeta", "jaccard", "accuracy")

# Which of the cases 0 to 6 are true positives and predictions of A and of B, and positives.
_TP_A, _TP_B = np.eye(7)[[0, 4]].sum(axis=0), np.eye(7)[[2, 4]].sum(axis=0)
_PRED_A, _PRED_B = np.eye(7)[[0, 1, 4, 5]].sum(axis=0), np.eye(7)[[2, 3, 4, 5]].sum(axis=0)
_POS = np.eye(7)[[0, 2, 4, 6]].sum(axis=0)

_GOOD_ENOUGH = 1e-5  # estimated error up to which a product of Gauss rules is used


class PairedPosterior:
    """The posterior of the difference of a score of two systems, B minus A.

    Parameters
    ----------
    table
        The eight cases; units are added up.
    metric
        One of precision, recall, f1, fbeta, jaccard, accuracy.
    prior
        The weight λ of the prior, as for `probative.posterior`.
    beta
        The weight of recall in F-beta.
    rule
        "auto": a product of Gauss rules where two of them agree, else scrambled Sobol points.
        "quadrature" or "sobol" asks for one of them.
    seed
        Seed of the scrambled Sobol points.

    Examples
    --------
    >>> import probative as pv
    >>> from probative.inference.paired_posterior import PairedPosterior
    >>> both = PairedPosterior(pv.PairedCounts([30, 20, 80, 10, 400, 60, 70, 3000]), "f1")
    >>> low, high = both.interval(0.95)
    >>> print(f"{both.mean:.4f} [{low:.4f}, {high:.4f}]")
    0.0604 [0.0375, 0.0840]
    """

    kind = "paired"

    def __init__(
        self,
        table: PairedCounts,
        metric: str = "f1",
        *,
        prior: float = 1.0,
        beta: float = 1.0,
        rule: str = "auto",
        seed: int = 0,
    ):
        one_of("metric", metric, PAIRED_METRICS)
        one_of("rule", rule, RULES)
        prior, beta = positive("prior", prior), positive("beta", beta)
        table = table.total()
        if metric == "accuracy" and not table.has_negatives:
            raise InputError("metric: accuracy needs case 7, and these counts have none")
        self.table = table
        self.a = posterior(table.a, metric, prior=prior, beta=beta)
        self.b = posterior(table.b, metric, prior=prior, beta=beta)
        # four cells make up a count of accuracy's posterior, two one of the others'
        cells = table.cases + prior / (4 if metric == "accuracy" else 2)
        self._engine: _Split | _Ratios
        if metric == "recall":
            self._engine = _Split.of(b_only=cells[2], a_only=cells[0], same=cells[4] + cells[6])
        elif metric == "accuracy":
            b_only, a_only = cells[1] + cells[2], cells[0] + cells[3]
            self._engine = _Split.of(b_only=b_only, a_only=a_only, same=cells[4:].sum())
        else:
            self._engine = _Ratios.of(metric, cells[:7], beta, rule, seed)

    @property
    def rule(self) -> str:
        """How the integrals are evaluated: "quadrature" or "sobol"."""
        return self._engine.rule

    @property
    def error(self) -> float:
        """An estimate of the error of the probabilities.

        The difference of two Gauss rules, or the standard error over independent scramblings of
        the Sobol points; NaN where "quadrature" was asked for and nothing compared.
        """
        return self._engine.error

    @property
    def mean(self) -> float:
        """The expected difference."""
        return float(self.b.mean - self.a.mean)

    def cdf(self, d: ArrayLike) -> Any:
        """Return the probability of a difference of at most d."""
        d = np.asarray(d, dtype=np.float64)
        below, _ = self._engine.cdf_and_pdf(d.ravel())
        return plain(below.reshape(d.shape))

    def sf(self, d: ArrayLike) -> Any:
        """Return the probability of a difference above d."""
        return plain(1 - np.asarray(self.cdf(d)))

    def pdf(self, d: ArrayLike) -> Any:
        """Return the density of the difference at d."""
        d = np.asarray(d, dtype=np.float64)
        return plain(self._engine.pdf(d.ravel()).reshape(d.shape))

    def probabilities(self, rope: float = 0.0) -> tuple[float, float, float]:
        """Return P(A better), P(equivalent) and P(B better).

        Differences of at most `rope` either way count as equivalent.
        """
        rope = positive("rope", rope, zero=True)
        a_better = float(self.cdf(-rope))
        not_b_better = float(self.cdf(rope)) if rope > 0 else a_better
        b_better = 1 - not_b_better
        if self._symmetric:  # exactly, whatever the points
            a_better = b_better = (a_better + b_better) / 2
        return a_better, max(1 - a_better - b_better, 0.0), b_better

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the equal-tailed limits between which the difference lies."""
        tail = (1 - open_probability("level", level)) / 2
        q = np.array([tail, 1 - tail])
        sd = np.full(2, self._engine.sd)
        start = np.clip(self.mean + special.ndtri(q) * sd, -0.999, 0.999)
        low, high = quantile_search(lambda d, at: self._engine.cdf_and_pdf(d), q, start, sd)
        return float(low), float(high)

    def curve(self, points: int = 201) -> tuple[Array, Array]:
        """Return differences from the 0.001 to the 0.999 quantile, and the density there."""
        d = np.linspace(*self.interval(0.998), points)
        return d, np.asarray(self.pdf(d))

    @property
    def _symmetric(self) -> bool:
        """Whether exchanging A and B leaves the table as it is."""
        return bool(np.array_equal(self.table.cases, self.table.swapped().cases))


@dataclass(frozen=True)
class _Split:
    """A difference k(2V - 1): V of the share k is B's alone, the rest of k A's alone."""

    discordant: Posterior
    won: Posterior
    rule: str = "quadrature"
    error: float = 0.0  # beyond rounding

    @classmethod
    def of(cls, b_only: float, a_only: float, same: float) -> _Split:
        return cls(Posterior([b_only + a_only], [same]), Posterior([b_only], [a_only]))

    @property
    def sd(self) -> float:
        k, v = self.discordant, self.won
        centred = 2 * v.mean - 1
        return float(np.sqrt(4 * v.var * (k.var + k.mean**2) + centred**2 * k.var)[0])

    def cdf_and_pdf(self, d: Array) -> tuple[Array, Array]:
        """Average over k, of which only what exceeds |d| leaves anything open."""
        size = np.abs(d)
        many = [p[np.zeros(len(d), dtype=np.intp)] for p in (self.discordant, self.won)]

        def given_share(pair: Pair, at: Any, nodes: NDArray[np.intp]) -> tuple[Array, Array]:
            # the odds of V at the limit are (k + d)/(k - d); at.shifted is k - |d|
            sign = np.sign(d[nodes])[:, None]
            total = at.x + size[nodes, None]
            y = sign * (np.log(total) - np.log(at.shifted))
            density = np.exp(pair.b.at_nodes("log_odds_logpdf", y))
            # dy/dd = 1/(k + d) + 1/(k - d)
            return pair.b.at_nodes("log_odds_cdf", y), density * (1 / total + 1 / at.shifted)

        inside, density = Pair(*many).averages(given_share, -size)
        settled = np.where(d > 0, np.asarray(self.discordant.cdf(size)), 0.0)
        return np.clip(inside + settled, 0, 1), density

    def pdf(self, d: Array) -> Array:
        return self.cdf_and_pdf(d)[1]


@dataclass(frozen=True)
class _Ratios:
    """A difference of two ratios of linear forms in the g."""

    top_a: Array
    bottom_a: Array
    top_b: Array
    bottom_b: Array
    cells: Array
    up: int  # the split integrated out: its share `up` raises the difference
    down: int
    nodes: Array  # g at each node, with the split all on `down`
    weight: Array  # a row for each rule: the first is used, the others tell its error
    rule: str
    error: float

    @classmethod
    def of(cls, metric: str, cells: Array, beta: float, rule: str, seed: int) -> _Ratios:
        forms = _forms(metric, beta)
        gradient = _gradient(cells, *forms)
        other, (up, down) = sorted(
            ((2, 0), (1, 3)), key=lambda split: _split_effect(cells, gradient, *split)
        )
        # F1 and the Jaccard index only see the sum of cases 5 and 6, precision does not see 6
        tail = {"precision": "one", "fbeta": "two"}.get(metric, "sum")

        def engine(nodes: Array, weight: Array, name: str, error: float) -> _Ratios:
            return cls(*forms, cells, up, down, nodes, weight, name, error)

        def gauss(*, fine: bool) -> _Ratios:
            nodes, weight = gauss_nodes(cells, (up, down), other, tail, fine=fine)
            return engine(nodes, weight, "quadrature", np.nan)

        found = gauss(fine=True)
        if rule == "quadrature":
            return found
        probes = _difference(cells, *forms) + found.sd * np.array([-2.0, -0.7, 0.4, 1.8])
        probes = np.append(np.clip(probes, -0.99, 0.99), 0.0)
        if rule == "auto":
            gap = found.cdf_and_pdf(probes)[0] - gauss(fine=False).cdf_and_pdf(probes)[0]
            error = float(np.max(np.abs(gap)))
            if error <= _GOOD_ENOUGH:
                return replace(found, error=error)
        nodes, weight = sobol_nodes(cells, (up, down), other, tail, seed)
        sampled = engine(nodes, weight, "sobol", np.nan)
        by_scrambling = sampled._averages(probes)[0]
        error = float(np.max(by_scrambling.std(axis=0, ddof=1)) / np.sqrt(len(by_scrambling)))
        return replace(sampled, error=error)

    @cached_property
    def sd(self) -> float:
        gradient = _gradient(self.cells, self.top_a, self.bottom_a, self.top_b, self.bottom_b)
        return float(np.sqrt(np.sum(self.cells * gradient**2)))

    def cdf_and_pdf(self, d: Array) -> tuple[Array, Array]:
        below, density = (x.mean(axis=0) for x in self._averages(d))
        return np.clip(below, 0, 1), density

    def _averages(self, d: Array) -> tuple[Array, Array]:
        """Distribution function and density at each d, by each of the rows of weights."""
        below, density = zip(*(self._average(value) for value in d), strict=True)
        return np.stack(below, axis=-1), np.stack(density, axis=-1)

    def pdf(self, d: Array) -> Array:
        """The density alone, which needs no incomplete beta function."""
        return np.array(
            [self._weighted(self._density(*self._root(value)[:3])).mean() for value in d]
        )

    def _average(self, d: float) -> tuple[Array, Array]:
        share, slope, inside, above = self._root(d)
        below = np.where(above, 1.0, 0.0)
        below[inside] = special.betainc(self.cells[self.up], self.cells[self.down], share[inside])
        return self._weighted(below), self._weighted(self._density(share, slope, inside))

    def _weighted(self, values: Array) -> Array:
        """The average over the nodes, by each of the rows of weights."""
        return np.asarray(np.sum(self.weight * values.reshape(self.weight.shape), axis=-1))

    def _density(self, share: Array, slope: Array, inside: NDArray[np.bool_]) -> Array:
        a, b = self.cells[self.up], self.cells[self.down]
        density = np.zeros(len(share))
        log_density = (
            special.xlogy(a - 1, share[inside])
            + special.xlog1py(b - 1, -share[inside])
            - special.betaln(a, b)
        )
        density[inside] = np.exp(log_density) / slope[inside]
        return density

    @cached_property
    def _lines(self) -> tuple[list[Array], list[Array], Array, Array]:
        """The four forms as lines in z, at every node, and the difference at z = 0 and 1."""
        forms = (self.top_b, self.bottom_b, self.top_a, self.bottom_a)
        split = self.nodes[:, self.down]
        start = [self.nodes @ form for form in forms]
        slope = [split * (form[self.up] - form[self.down]) for form in forms]
        ends = [x + y for x, y in zip(start, slope, strict=True)]
        at_zero, at_one = (top / bottom - x / y for top, bottom, x, y in (start, ends))
        return start, slope, at_zero, at_one

    def _root(self, d: float) -> tuple[Array, Array, NDArray[np.bool_], NDArray[np.bool_]]:
        """The share z of `up` at which the difference is d, and the difference's slope there."""
        (b0, e0, a0, c0), (b1, e1, a1, c1), at_zero, at_one = self._lines
        inside, above = (at_zero < d) & (d < at_one), d >= at_one
        # (b0 + b1 z)(c0 + c1 z) - (a0 + a1 z)(e0 + e1 z) = d (e0 + e1 z)(c0 + c1 z)
        square = b1 * c1 - a1 * e1 - d * e1 * c1
        linear = b0 * c1 + b1 * c0 - a0 * e1 - a1 * e0 - d * (e0 * c1 + e1 * c0)
        constant = b0 * c0 - a0 * e0 - d * e0 * c0
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(np.maximum(linear**2 - 4 * square * constant, 0))
            half = -(linear + np.copysign(root, linear)) / 2
            first, second = half / square, constant / half
            z = np.where(np.abs(first - 0.5) < np.abs(second - 0.5), first, second)
            z = np.clip(np.where(np.isfinite(z), z, second), 0, 1)
            slope = (b1 * e0 - b0 * e1) / (e0 + e1 * z) ** 2 - (a1 * c0 - a0 * c1) / (
                c0 + c1 * z
            ) ** 2
        return z, slope, inside, above


def _forms(metric: str, beta: float) -> tuple[Array, Array, Array, Array]:
    """Numerator and denominator of A's score and of B's, as weights of the cases."""
    if metric == "precision":
        return _TP_A, _PRED_A, _TP_B, _PRED_B
    if metric == "jaccard":
        return _TP_A, _PRED_A + _POS - _TP_A, _TP_B, _PRED_B + _POS - _TP_B
    square = 1.0 if metric == "f1" else beta**2
    return (
        (1 + square) * _TP_A,
        _PRED_A + square * _POS,
        (1 + square) * _TP_B,
        _PRED_B + square * _POS,
    )


def _difference(g: Array, top_a: Array, bottom_a: Array, top_b: Array, bottom_b: Array) -> float:
    return float(g @ top_b / (g @ bottom_b) - g @ top_a / (g @ bottom_a))


def _gradient(g: Array, top_a: Array, bottom_a: Array, top_b: Array, bottom_b: Array) -> Array:
    """Derivative of the difference in each g, at the mean."""
    low_a, low_b = g @ bottom_a, g @ bottom_b
    slope_b = (top_b - g @ top_b / low_b * bottom_b) / low_b
    slope_a = (top_a - g @ top_a / low_a * bottom_a) / low_a
    return np.asarray(slope_b - slope_a)


def _split_effect(g: Array, gradient: Array, up: int, down: int) -> float:
    """Variance of the difference that comes from how g[up] + g[down] is split."""
    total = g[up] + g[down]
    share_var = g[up] * g[down] / total**2 / (total + 1)
    return float((total * (gradient[up] - gradient[down])) ** 2 * share_var)
