"""Posteriors of scores that are no ratio of linear forms.

The four cells have a Dirichlet posterior: the share of positives, recall and specificity are then
independent Beta variates. Every score rises with recall, the others given; so its distribution
function is that of recall at the root of an equation, averaged over the others by Gauss rules. The
same holds with answer and system exchanged, and with yes and no: what varies the score most takes
the place of recall, and the average is one of a smooth function.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import one_of, open_probability, random_generator
from probative.inference import _log_odds
from probative.inference._paired_nodes import Nodes, gauss_nodes
from probative.inference._share_law import ShareLaw
from probative.inference.beta_posterior import KINDS, Posterior, plain
from probative.metrics import TABLE, Composite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from probative._types import RNG, Array, Number

__all__ = ["CompositePosterior", "Single", "invert"]

_TOLERANCE, _MOST_NODES = 1e-9, 400
_FEW = 3.0  # items and prior, below which a cell is nearly empty
_POINTS = (384, 56)  # of each share, where one or two are averaged over
_NEAR_ENDS = (0.9, 0.99)
_PROBES = np.array([-2.0, -0.6, 0.9, 2.0])  # standard deviations from the middle
_STEP = 1e-6  # of the scale, for a derivative
_NEGLIGIBLE = 1e-10  # the weight of a node that is left out
_MANY = 2**14  # tails from which on they are looked up
_GRID = 257  # points for moments and modes
_CLOSE = 1e-9  # of the scale: a limit is settled
_FARTHEST = 9.0  # standard deviations
# The orders of tp, fp, fn, tn that put recall, specificity, precision and npv first.
_ORDERS = ([0, 1, 2, 3], [3, 2, 1, 0], [0, 2, 1, 3], [3, 1, 2, 0])
_SENSIBLE = {
    "balanced_accuracy": (0, 1),
    "informedness": (0, 1),
    "markedness": (2, 3),
    "fowlkes_mallows": (0, 2),
}


def invert(
    tails: Callable[[Array], tuple[Array, Array]], q: Array, low: float, high: float, start: Array
) -> Array:
    """Where a distribution function reaches q: Newton's method, kept between two bounds.

    Parameters
    ----------
    tails
        The distribution function and its density.
    q
        Probabilities.
    low, high
        The ends of the scale.
    start
        Where to begin.
    """
    below, above = np.full_like(q, low), np.full_like(q, high)
    x = np.clip(start, low + 1e-9 * (high - low), high - 1e-9 * (high - low))
    for _ in range(60):
        value, slope = tails(x)
        below, above = np.where(value < q, x, below), np.where(value < q, above, x)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            new = x - (value - q) / slope
        new = np.where((new > below) & (new < above), new, (below + above) / 2)
        if np.max(np.abs(new - x)) < _CLOSE * (high - low):
            return new
        x = new
    return x


@dataclass(frozen=True, eq=False)
class Single:
    """The posterior of one table."""

    metric: str
    cells: Array  # with the prior
    coarseness: int = 1  # of the points at which few items are averaged

    @cached_property
    def own(self) -> Composite:
        """The score."""
        found = TABLE[self.metric]
        assert isinstance(found, Composite)  # noqa: S101  # others have posteriors of their own
        return found

    @cached_property
    def centre(self) -> float:
        """The score of the cells."""
        return float(self.own.value(*self.cells))

    @cached_property
    def sd(self) -> float:
        """Its standard deviation, nearly."""
        slope = np.array([float(x) for x in self.own.slopes(*self.cells)])
        return float(np.sqrt(max(self.cells @ slope**2, 1e-30)))

    @cached_property
    def order(self) -> Array:
        """The cells in the order in which their first share varies the score most."""
        slope = np.array([float(x) for x in self.own.slopes(*self.cells)])

        def varied(order: list[int]) -> float:
            tp, fn = self.cells[order[0]], self.cells[order[2]]
            return float(tp * fn / (tp + fn) * (slope[order[0]] - slope[order[2]]) ** 2)

        orders = [_ORDERS[i] for i in _SENSIBLE.get(self.metric, range(4))]
        return self.cells[max(orders, key=varied)]

    @property
    def others(self) -> list[tuple[float, float]]:
        """The shapes of the shares that are averaged over."""
        tp, fp, fn, tn = self.order.tolist()
        if self.metric == "fowlkes_mallows":
            return [(tp + fn, fp)]
        if self.metric in ("kappa", "mcc"):
            return [(tn, fp), (tp + fn, fp + tn)]
        return [(tn, fp)]

    @cached_property
    def nodes(self) -> Nodes:
        """At which the other shares are averaged."""
        if self.is_smooth:
            return gauss_nodes(self.others, self._averages, _TOLERANCE, _MOST_NODES)
        points = _POINTS[len(self.others) - 1] // self.coarseness
        return _even_nodes(self.others, points)

    @property
    def coarser(self) -> Single:
        """The same with half of the points."""
        return replace(self, coarseness=2 * self.coarseness)

    @cached_property
    def error(self) -> float:
        """An estimate of the error of the probabilities, beyond rounding."""
        if self.is_smooth:
            return self.nodes.error
        fine, coarse = self._averages([self.nodes, self.coarser.nodes])
        return float(np.max(np.abs(fine - coarse)))

    @property
    def has_few(self) -> bool:
        """Whether the score comes near its bounds, where the average is of what has kinks."""
        return bool(self.cells[: 4 if self.own.needs_tn else 3].min() < _FEW)

    @property
    def is_smooth(self) -> bool:
        """Whether few points tell the average, by rules that know their error."""
        return len(self.others) > 1 and not self.has_few

    def _averages(self, parts: Sequence[Nodes]) -> Array:
        ends = self.own.low, self.own.high
        near = [self.centre + (end - self.centre) * share for end in ends for share in _NEAR_ENDS]
        probes = np.append(np.clip(self.centre + _PROBES * self.sd, *ends), near)
        return np.array([self.tail(probes, part) for part in parts])

    def tail(self, t: Array, nodes: Nodes | None = None, *, upper: bool = False) -> Array:
        """P(at most t), or P(above t)."""
        nodes = self.nodes if nodes is None else nodes
        tp, _, fn, _ = self.order
        share = np.clip(self._recall(t[:, None], nodes), 0.0, 1.0)
        if share.size > _MANY:
            return np.asarray(self._law.tails(share)[upper] @ nodes.weight)
        function = special.betaincc if upper else special.betainc
        return np.asarray(function(tp, fn, share) @ nodes.weight)

    @cached_property
    def _law(self) -> ShareLaw:
        return ShareLaw(float(self.order[0]), float(self.order[2]))

    def density(self, t: Array) -> Array:
        """The density at t."""
        tp, _, fn, _ = self.order
        h = _STEP * min(self.sd, 0.1)
        share = self._recall(t[:, None], self.nodes)
        rise = self._recall(t[:, None] + h, self.nodes) - self._recall(t[:, None] - h, self.nodes)
        inside = (share > 0) & (share < 1)
        share = np.where(inside, share, 0.5)
        logs = special.xlogy(tp - 1, share) + special.xlog1py(fn - 1, -share)
        values = np.exp(logs - special.betaln(tp, fn)) * rise / (2 * h)
        return np.asarray(np.where(inside, values, 0.0) @ self.nodes.weight)

    def _recall(self, t: Any, nodes: Nodes) -> Any:
        """The recall at which the score is t, given the other shares; outside [0, 1] if none is."""
        if self.metric == "fowlkes_mallows":
            t = np.clip(t, 0.0, 1.0)
            q, rest = nodes.share[0], nodes.rest[0]
            return t * (t * q + np.sqrt((t * q) ** 2 + 4 * q * rest)) / (2 * q)
        false = nodes.rest[0]  # the rate of false alarms
        if self.metric == "balanced_accuracy":
            return 2 * t - 1 + false
        if self.metric in ("informedness", "markedness"):
            return t + false
        p, n = nodes.share[1], nodes.rest[1]
        f = n * false
        if self.metric == "kappa":
            top, bottom = t * ((n - p) * f + p) + 2 * p * f, 2 * n - t * (n - p)
            # where most are positive, no recall gives a kappa so low
            return np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0) / p, -1.0)
        c = t * t * p * n
        root = np.sqrt(c * (c + 4 * f * (n - f)))
        m = (2 * n * f + c + np.sign(t) * root) / (2 * (n * n + c))
        return (m - f) / p

    def quantile(self, q: Array, *, upper: bool = False) -> Array:
        """The score below which lies the probability q, or above which."""

        def tails(t: Array) -> tuple[Array, Array]:
            value = self.tail(t, upper=upper)
            return (1 - value, self.density(t)) if upper else (value, self.density(t))

        start = self.centre + self.sd * special.ndtri(1 - q if upper else q)
        return invert(tails, 1 - q if upper else q, self.own.low, self.own.high, start)

    @cached_property
    def moments(self) -> tuple[float, float]:
        """Mean and variance, by parts: integrals of the tails."""
        ends = np.clip(
            self.centre + np.array([-1, 1]) * _FARTHEST * self.sd, self.own.low, self.own.high
        )
        x, w = _gauss_legendre(_GRID)
        t = ends[0] + (x + 1) / 2 * (ends[1] - ends[0])
        w = w * (ends[1] - ends[0]) / 2
        above = self.tail(t, upper=True)
        mean = ends[0] + float(w @ above)
        second = ends[0] ** 2 + float(w @ (2 * t * above))
        return mean, max(0.0, second - mean**2)


@cache
def _gauss_legendre(points: int) -> tuple[Array, Array]:
    """Return points and weights of Gauss' rule, which take longer to find than most integrals."""
    return np.polynomial.legendre.leggauss(points)


class CompositePosterior(Posterior):
    """The posterior of a score that is no ratio of linear forms, of one table or several.

    Parameters
    ----------
    metric
        balanced_accuracy, mcc, kappa, informedness, markedness or fowlkes_mallows.
    cells
        tp, fp, fn and tn with the prior added: numbers, or arrays for as many tables.

    Examples
    --------
    >>> import probative as pv
    >>> mcc = pv.posterior(pv.Counts(tp=77, fp=44, fn=10, tn=702), "mcc")
    >>> low, high = mcc.interval(0.95)
    >>> print(f"{mcc.mean:.4f} [{low:.4f}, {high:.4f}]")
    0.7103 [0.6377, 0.7761]
    """

    def __init__(self, metric: str, cells: Sequence[ArrayLike]):
        self.metric = metric
        self._cells = np.stack(np.broadcast_arrays(*cells), axis=-1).astype(np.float64)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tables; () for a single one."""
        return self._cells.shape[:-1]

    @cached_property
    def tables(self) -> list[Single]:
        """One posterior per table."""
        return [Single(self.metric, row) for row in self._cells.reshape(-1, 4)]

    @property
    def error(self) -> float:
        """An estimate of the error of the probabilities, beyond rounding."""
        return max(one.error for one in self.tables)

    def _map(self, function: Callable[[Single, Array], Array], at: ArrayLike) -> Any:
        at = np.asarray(at, dtype=np.float64)
        shape = np.broadcast_shapes(self.shape, at.shape)
        if not self.shape:
            return plain(function(self.tables[0], at.reshape(-1)).reshape(shape))
        flat = np.broadcast_to(at, shape).reshape(-1)
        which = np.broadcast_to(np.arange(len(self.tables)).reshape(self.shape), shape).reshape(-1)
        values = [function(self.tables[i], flat[[k]])[0] for k, i in enumerate(which)]
        return np.array(values).reshape(shape)

    def cdf(self, t: ArrayLike) -> Number:
        """Return the probability of a score of at most t."""
        return self._map(lambda one, t: one.tail(_within(one, t)), t)

    def sf(self, t: ArrayLike) -> Number:
        """Return the probability of a score above t."""
        return self._map(lambda one, t: one.tail(_within(one, t), upper=True), t)

    def pdf(self, t: ArrayLike) -> Number:
        """Return the density at t; 0 outside of the bounds of the score."""

        def density(one: Single, t: Array) -> Array:
            inside = (t >= one.own.low) & (t <= one.own.high)
            return np.where(inside, one.density(_within(one, t)), 0.0)

        return self._map(density, t)

    def logpdf(self, t: ArrayLike) -> Number:
        """Return the log density at t."""
        with np.errstate(divide="ignore"):
            return plain(np.log(self.pdf(t)))

    def ppf(self, q: ArrayLike) -> Number:
        """Return the quantile: the score below which lies the probability q."""
        return self._map(lambda one, q: one.quantile(q), q)

    def isf(self, q: ArrayLike) -> Number:
        """Return the score above which lies the probability q."""
        return self._map(lambda one, q: one.quantile(q, upper=True), q)

    def rvs(self, size: int | tuple[int, ...] | None = None, rng: RNG | None = None) -> Number:
        """Draw scores: `size` of them a table, so that the shape is `size` and then the tables'."""
        rng = random_generator(rng)
        shape = () if size is None else np.broadcast_shapes(size)
        drawn = rng.standard_gamma(self._cells, (*shape, *self._cells.shape))
        return plain(self.tables[0].own.value(*np.moveaxis(drawn, -1, 0)))

    def interval(self, level: float = 0.95, *, kind: str = "equal-tailed") -> tuple[Number, Number]:
        """Return the limits between which the score lies with probability `level`.

        Parameters
        ----------
        level
            A probability, strictly between 0 and 1.
        kind
            "equal-tailed", or "highest-density": the shortest interval.
        """
        level = open_probability("level", level)
        tail = (1 - level) / 2
        if one_of("kind", kind, KINDS) == "equal-tailed":
            return self.ppf(tail), self.isf(tail)
        limits = np.array([_shortest(one, level) for one in self.tables])
        low, high = (plain(column.reshape(self.shape)) for column in limits.T)
        return low, high

    @property
    def mean(self) -> Number:
        """The expected score."""
        return self._map(lambda one, _: np.array([one.moments[0]]), 0.0)

    @property
    def var(self) -> Number:
        """The variance of the score."""
        return self._map(lambda one, _: np.array([one.moments[1]]), 0.0)

    @property
    def mode(self) -> Number:
        """The most probable score."""
        return self._map(lambda one, _: np.array([_mode(one)]), 0.0)

    def __getitem__(self, index: Any) -> CompositePosterior:
        """Return the posterior of some of the tables."""
        some = self._cells[index]
        return CompositePosterior(self.metric, list(np.moveaxis(some, -1, 0)))

    def _flat(self, shape: tuple[int, ...]) -> CompositePosterior:
        cells = np.broadcast_to(self._cells, (*shape, 4)).reshape(-1, 4)
        return CompositePosterior(self.metric, list(cells.T))


def _even_nodes(shapes: Sequence[tuple[float, float]], points: int) -> Nodes:
    """Points whose log odds are evenly spaced, as far as the shares have any probability."""
    rules = []
    for a, b in shapes:
        own = np.array(a), np.array(b)
        y = np.linspace(*_log_odds.window(*own), points)
        weight = np.exp(_log_odds.log_pdf(*own, y))
        rules.append((special.expit(y), special.expit(-y), weight / weight.sum()))
    weight = rules[0][2]
    for _, _, more in rules[1:]:
        weight = np.multiply.outer(weight, more)
    kept = np.nonzero(weight > _NEGLIGIBLE)
    share, rest = (tuple(r[i][at] for r, at in zip(rules, kept, strict=True)) for i in (0, 1))
    return Nodes(share, rest, weight[kept] / weight[kept].sum())


def _within(one: Single, t: Array) -> Array:
    return np.clip(t, one.own.low, one.own.high)


def _mode(one: Single) -> float:
    """By ever finer grids."""
    low, high = one.quantile(np.array([0.001, 0.999]))
    for _ in range(4):
        t = np.linspace(low, high, 65)
        best = int(np.argmax(one.density(t)))
        low, high = t[max(best - 1, 0)], t[min(best + 1, len(t) - 1)]
    return float((low + high) / 2)


def _shortest(one: Single, level: float) -> tuple[float, float]:
    """The quantiles at which the density is the same."""
    few, many = 0.0, 1 - level
    for _ in range(40):
        below = (few + many) / 2
        low, high = one.quantile(np.array([below, below + level]))
        falls = one.density(np.array([low]))[0] >= one.density(np.array([high]))[0]
        few, many = (few, below) if falls else (below, many)
    return float(low), float(high)
