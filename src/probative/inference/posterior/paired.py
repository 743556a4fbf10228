"""Compute the posterior of B minus A for two systems judged on the same items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from probative._validation import Array, one_of, open_probability
from probative.errors import InputError
from probative.inference.posterior import log_odds
from probative.inference.posterior.independent import Outcomes, quantile_search
from probative.inference.posterior.nodes import (
    Nodes,
    gauss_jacobi,
    gauss_nodes,
    product_nodes,
    sobol_nodes,
)
from probative.inference.posterior.precision import Side, precision_sides
from probative.inference.posterior.single import LEAST_PRIOR, limits_beyond, plain, posterior
from probative.metrics import METRICS, TABLE, Composite, Metric

if TYPE_CHECKING:
    from probative.counts import PairedCounts


# --- Integration over K, the share of the cases on which two systems disagree
#
# K is a Beta variate, and the integral starts at the smallest K that allows the difference. There
# are two rules: a trapezoid rule on the scale of log odds, for any shapes, and a Gauss-Jacobi rule
# from the start to 1, for few cases, where the density of K is nearly a polynomial and a few points
# suffice.

_MOST_EQUAL_STEPS = 50  # a trapezoid rule that needs more has steps that grow outwards
_EVEN_LOG_ODDS = 8.0  # distance from the middle within which steps hardly grow, before refinement
_REFINEMENT = np.sqrt(2.0)  # factor by which steps get shorter
_MARGIN_BELOW_K = 4.0  # standard deviations below K's window at which the start has no effect


class _Points(NamedTuple):
    """Points of the rule for K along the last axis but one, nodes along the last."""

    k: Array
    rest: Array  # 1 - K
    ahead: Array  # 1 - (odds at the start of the integral)/(odds of K)
    mass: Array


@dataclass(frozen=True)
class _GaussShare:
    """A Gauss-Jacobi rule for K, for few cases."""

    a: float
    b: float
    points: int

    def over(self, begin: Array, power: float) -> _Points:
        """Return points from log odds `begin` to 1, for an integrand that rises like this power."""
        start, room = (special.expit(sign * begin[:, None, :]) for sign in (1, -1))
        x, rest, weight = (
            column[:, None] for column in gauss_jacobi(power + 1, self.b, self.points)
        )
        k = start + room * x
        scale = special.betaln(power + 1, self.b) - special.betaln(self.a, self.b)
        # the density of Beta(a, b) divided by the weight function of the rule
        fixed = self.b * np.log(room) + (scale + np.log(weight) - power * np.log(x))
        return _Points(k, room * rest, x / k, np.exp((self.a - 1) * np.log(k) + fixed))

    def whole(self) -> _Points:
        """Return points for all of K."""
        x, rest, weight = (column[:, None] for column in gauss_jacobi(self.a, self.b, self.points))
        return _Points(x, rest, np.ones_like(x), weight)


@dataclass(frozen=True)
class _SteppedShare:
    """A trapezoid rule for K on the scale of log odds."""

    a: Array
    b: Array
    step: float
    even: float  # log odds from the middle within which the steps hardly grow
    low: float
    high: float
    sd: float

    @classmethod
    def of(cls, a: float, b: float) -> _SteppedShare:
        """Return the rule for Beta(a, b) with steps that resolve its density."""
        shapes = np.array(a), np.array(b)
        sd = float(log_odds.spread(*shapes))
        low, high = log_odds.window(*shapes)
        # at most one standard deviation and at most 1 on the scale of log odds
        step = 1 / np.sqrt(1 + sd**2)
        return cls(*shapes, float(step), _EVEN_LOG_ODDS, float(low), float(high), sd)

    def refined(self) -> _SteppedShare:
        """Return the rule with steps shorter by a factor of √2, and even over a longer range."""
        return replace(self, step=self.step / _REFINEMENT, even=self.even * _REFINEMENT)

    @property
    def points(self) -> int:
        """Return about how many points the rule has."""
        return int((self.high - self.low) / (self.sd * self.step)) + 20

    def over(self, begin: Array, least: Array) -> _Points:
        """Return points from log odds `begin` on, evenly spaced in t from at least `least`."""
        # log odds are begin + sd·softplus(t); below the floor K is negligible
        floor = self.low - _MARGIN_BELOW_K * self.sd
        start = np.maximum(begin, floor)
        if np.all(begin <= floor):  # then all rows share the same points
            start, least = start[:1, :1], least[:1, :1]
        first = np.maximum(_inverse_softplus(np.maximum(self.low - start, 0) / self.sd), least)
        last = np.maximum(_inverse_softplus(np.maximum(self.high - start, 0) / self.sd), first)
        t, rate = self._steps(first, last, np.maximum(-start, 0) / self.sd)
        small = np.exp(-np.abs(t))
        beyond = self.sd * (np.maximum(t, 0) + np.log1p(small))
        y = start[:, None, :] + beyond
        rate = rate * self.sd * np.where(t >= 0, 1.0, small) / (1 + small)
        mass = np.exp(log_odds.log_pdf(self.a, self.b, y)) * rate
        ahead = -np.expm1((begin - start)[:, None, :] - beyond)
        return _Points(special.expit(y), special.expit(-y), ahead, mass)

    def _steps(self, first: Array, last: Array, centre: Array) -> tuple[Array, Array]:
        """Return points of a trapezoid rule from first to last on a new axis, and their gaps."""
        # Where shapes below 1 stretch K over hundreds of log odds, only the points around the
        # centre are equally spaced: t = centre + c·sinh(u) has equal steps in u.
        first, last, centre = (x[:, None, :] for x in (first, last, centre))
        steps = max(1, int(np.ceil(np.max(last - first) / self.step)))
        if steps <= _MOST_EQUAL_STEPS:
            distance = (last - first) / steps
            return first + distance * np.arange(steps + 1)[:, None], distance
        scale = self.even / self.sd
        low, high = np.arcsinh((first - centre) / scale), np.arcsinh((last - centre) / scale)
        steps = max(1, int(np.ceil(np.max(high - low) * scale / self.step)))
        distance = (high - low) / steps
        u = low + distance * np.arange(steps + 1)[:, None]
        return centre + scale * np.sinh(u), scale * np.cosh(u) * distance


def _inverse_softplus(x: Array) -> Array:
    """Return the t for which log(1 + exp(t)) is x."""
    return np.where(x > 30, x, np.log(np.expm1(np.minimum(x, 30))))


# --- The difference of two scores as a function of the shares of the cases
#
# The cases 0 to 3, on which the systems disagree, are grouped by the system they favour: 1 and 2
# raise B minus A, 0 and 3 lower it. With K the share of all four, V the share of 1 and 2 among
# them, and M = 1 - K:
#
#     U = K·V,  L = K·(1 - V)
#     B - A = (M(u1·U - l1·L) + u2·U² - l2·L²) / ((c·M + ua·U + la·L)(c·M + ub·U + lb·L))
#
# The coefficients depend only on the other shares: how each of the two pairs, and the cases on
# which the systems agree, are divided. K, V and these are independent Beta variates.
#
# For d >= 0, B - A exceeds d where V exceeds the root of one quadratic, and only where K exceeds
# the root of another. V is integrated out as an incomplete beta function. The integral over K
# starts at the second root y_d: y = y_d + S·softplus(t) on the scale of log odds, so that in t
# there is no edge and a trapezoid rule converges exponentially. Its steps must resolve the density
# of K and P(V > root) as a function of K, which changes faster where V is known better than K. For
# d < 0, A and B are exchanged.

_CHUNK = 2**12  # numbers evaluated at once, so that they stay in the processor's cache
_UNREACHABLE_LOG_ODDS = 1e6  # start of the integral where no K allows the difference
_SMALLEST_TERM = 1e-300  # avoids division by 0


class _Coefficients(NamedTuple):
    """The coefficients of the formula above, at every node."""

    alike: Array  # c, the coefficient of M in both denominators
    up1: Array
    up2: Array
    down1: Array
    down2: Array
    up_a: Array
    up_b: Array
    down_a: Array
    down_b: Array

    def swapped(self) -> _Coefficients:
        """Return the coefficients with A and B exchanged."""
        alike, up1, up2, down1, down2, up_a, up_b, down_a, down_b = self
        return _Coefficients(alike, down1, down2, up1, up2, down_b, down_a, up_b, up_a)


@dataclass(frozen=True)
class _Discordance:
    """The tail of the difference at d >= 0, averaged over K, V and the nodes of other shares."""

    at: _Coefficients
    weight: Array  # of the nodes; columns of it give as many averages
    size: _GaussShare | _SteppedShare  # K
    won: log_odds.TailTable  # V

    def tail(self, d: Array, *, density: bool = False) -> tuple[Array, Array]:
        """Return P(B - A > d) and, if asked for, the density at each d (otherwise NaN)."""
        shape = (len(d), *self.weight.shape[1:])
        share, slope = np.zeros(shape), np.full(shape, 0.0 if density else np.nan)
        # several d at once where there are few nodes; 0 apart, where the integral covers all of K
        together = max(1, _CHUNK // (self.size.points * len(self.weight)))
        with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
            for inside in (np.flatnonzero(d == 0), np.flatnonzero((d > 0) & (d < 1))):
                for first in range(0, len(inside), together):
                    at = inside[first : first + together]
                    share[at], slope[at] = self._average(d[at], density=density)
        if density and self.size.a <= 1:
            slope[d == 0] = np.inf
        return np.minimum(share, 1.0), slope

    def _average(self, d: Array, *, density: bool) -> tuple[Array, Array]:
        """Return tail and density at some d; arrays have one axis each for d, K and the nodes."""
        begin, gain = _least_odds(self.at, d[:, None])
        points = self._points(d[:, None], begin, gain, density=density)
        shape = (len(d), *self.weight.shape[1:])
        sums = [np.zeros(shape), np.full(shape, 0.0 if density else np.nan)]
        rows = max(1, _CHUNK // (self.size.points * len(d)))
        for first in range(0, len(self.weight), rows):
            some = slice(first, first + rows)
            at = points(some)
            there = [x[some] for x in self.at]
            values = self._probability_given(
                d[:, None, None], there, at, gain[:, None, some], density=density
            )
            for i, value in enumerate(values):
                sums[i] += np.sum(value * at.mass, axis=-2) @ self.weight[some]
        return sums[0], sums[1]

    def _points(
        self, d: Array, begin: Array, gain: Array, *, density: bool
    ) -> Callable[[slice], _Points]:
        """Return a function that gives the points of K for a slice of the nodes."""
        size = self.size
        if isinstance(size, _GaussShare):
            if np.all(d == 0):
                whole = size.whole()
                return lambda _: whole
            # at the start V is close to 1, and its tail is a power of 1 - V
            return lambda some: size.over(begin[:, some], float(self.won.b) - 1)
        # The integrand matters from some t on, close to the start of the integral. There it falls
        # like exp(t·b), where b is the second shape of V, and dy/dt like exp(t). V is close to 1,
        # and its odds are inversely proportional to the distance from the start; where V has nearly
        # all its probability close to 1, this holds over a long range.
        b = self.won.b + (0 if density else 1)
        most = log_odds.window(self.won.a, b)[1]
        k, m = special.expit(begin), special.expit(-begin)
        alike, up1, up2, down1, _, *rest = self.at
        up_a, up_b, down_a, down_b = (m * alike + k * x for x in rest)
        linear = k * m * (up1 - down1) - d * (down_a * up_b + up_a * down_b)
        odds = np.abs(linear) / (k * ((1 - d) * up2 * k + gain * m) * size.sd)
        least = np.fmin(np.log(odds) - most, -log_odds.DROP / float(b))
        return lambda some: size.over(begin[:, some], least[:, some])

    def _probability_given(
        self, d: Array, at: list[Array], points: _Points, gain: Array, *, density: bool
    ) -> tuple[Array, ...]:
        """Return P(B - A > d) given K at every node and, if asked for, the density."""
        k, m, ahead, _ = points
        alike, up1, up2, down1, down2, *rest = at
        both = m * alike
        up_a, up_b, down_a, down_b = (both + k * x for x in rest)
        # P(B - A > d) = P(V/(1-V) > root of square·x² + linear·x = constant)
        lower = down_a * down_b
        mixed = down_a * up_b + up_a * down_b
        constant = k * (m * down1 + k * down2) + d * lower
        linear = k * m * (up1 - down1) - d * mixed
        # `ahead` is proportional to the distance from the start of the integral
        square = k * ahead * ((1 - d) * up2 * k + gain * m)
        square, constant = np.maximum(square, _SMALLEST_TERM), np.maximum(constant, _SMALLEST_TERM)
        root = np.sqrt(linear * linear + 4 * constant * square)
        half = np.maximum(np.abs(linear) + root, _SMALLEST_TERM)
        limit = np.where(linear >= 0, 2 * constant / half, half / (2 * square))
        at_limit = np.log(limit)
        above = self.won.sf(at_limit)
        if not density:
            return (above,)
        # by the implicit function theorem
        slope = (lower / limit + mixed + up_a * up_b * limit) / root
        dens = np.exp(self.won.log_pdf(at_limit)) * slope
        return above, np.where(np.isfinite(dens), dens, 0.0)


def _least_odds(at: _Coefficients, d: Array) -> tuple[Array, Array]:
    """Return the log odds of K above which B - A exceeds d for V = 1."""
    # The odds x solve square·x² + linear·x = constant; also return constant/x.
    square = (1 - d) * at.up2
    linear = at.up1 - d * at.alike * (at.up_a + at.up_b)
    constant = d * at.alike * at.alike
    half = np.abs(linear) + np.sqrt(linear * linear + 4 * square * constant)
    rises = linear >= 0
    odds = np.where(rises, 2 * constant / half, half / (2 * square))
    return np.fmin(np.log(odds), _UNREACHABLE_LOG_ODDS), np.where(
        rises, half / 2, 2 * constant * square / half
    )


# --- The posterior of B minus A for two systems judged on the same items
#
# The eight cases have a Dirichlet posterior: shares of independent gamma variates g0 … g7. Its
# marginals are the posteriors of the single scores, and it includes their correlation.
#
# The difference depends most on how often the systems disagree (K) and on the share of these cases
# that favour B (V); these two are integrated exactly (`_Discordance`). It depends less on how the
# favourable cases, the unfavourable ones and those of agreement are divided; this is averaged over
# a product of Gauss rules (`posterior/nodes.py`). Recall and accuracy do not depend on it at all.
# Precision may depend on ratios of tiny shares, but its true and false positives are independent,
# and it has its own rule (`posterior/precision.py`).

if TYPE_CHECKING:
    Share = _GaussShare | _SteppedShare

_TOLERANCE = 1e-9  # of the average over the nodes
_TOLERANCE_OF_K = 1e-9  # of the integral over K
# Error of the integral over K while nodes are chosen. That of Gauss rules is a smooth function of
# the other shares, that of steps is not.
_TOLERANCE_WHILE_CHOOSING_NODES = {_GaussShare: 1e-4, _SteppedShare: 1e-8}
_MOST_POINTS_WHILE_CHOOSING_NODES = 500  # of K, if a coarser rule is about right
_REFINEMENTS, _REFINEMENTS_ALONE = 5, 16  # of the steps of K, with and without other shares
_LEAST_NODES, _MOST_NODES = 400, 2200
_MOST_POINTS = 100_000  # of K at all nodes together, unless that allows fewer than _LEAST_NODES
_LARGEST_ERROR = 5e-4  # beyond it: Sobol points, or refusal of a small prior
_ROUNDING = 1e-13  # rounding error of a sum of about a thousand terms
_NOT_PICKLED = ("_settled", "_nodes", "_law")
_NEGATED = [3, 2, 1, 0, 7, 6, 5, 4]  # the cases after exchanging positive and negative
_MOST_CASES_FOR_GAUSS = 100.0  # of disagreement, for which a Gauss rule for K is tried
_GAUSS_POINTS = (6, 9, 13, 19)
_SAFETY = 4.0  # factor on errors, which were seen at a few differences only
_SAFETY_OF_REPORTED_ERROR = 3.0
_WEIGHT_OF_DENSITY_ERROR = 1e-3  # relative to errors of probabilities
_PROBES_NEAR_0 = np.array([1.5, 0.5, 0.15, 0.05, 0.015, 0.005, 0.001])  # standard deviations
_COARSE = 4  # nodes of each rule in the first search for the ends of an interval
_MANY_SHARES = 4  # beside K and V


class PairedPosterior(Outcomes):
    """The posterior of the difference of a score of two systems, B minus A.

    Parameters
    ----------
    table
        The eight cases; units are summed.
    metric
        One of precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv.
    prior
        The weight λ of the prior, as for `probative.posterior`.
    beta
        The weight of recall in F-beta.

    Examples
    --------
    >>> import probative as pv
    >>> from probative.inference.posterior.paired import PairedPosterior
    >>> both = PairedPosterior(pv.PairedCounts([30, 20, 80, 10, 400, 60, 70, 3000]), "f1")
    >>> low, high = both.interval(0.95)
    >>> print(f"{both.mean:.4f} [{low:.4f}, {high:.4f}]")
    0.0604 [0.0375, 0.0840]
    """

    kind = "paired"

    def __init__(
        self, table: PairedCounts, metric: str = "f1", *, prior: float = 1.0, beta: float = 1.0
    ):
        self.table = table.total()
        self.a = posterior(self.table.a, metric, prior=prior, beta=beta)
        self.b = posterior(self.table.b, metric, prior=prior, beta=beta)
        self._set_up(metric, prior, beta)

    def _set_up(self, metric: str, prior: float, beta: float) -> None:
        self._shares = _Shares.of(metric, self.table, prior, beta)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the nodes, which are larger to store than slow to compute again."""
        return {name: value for name, value in vars(self).items() if name not in _NOT_PICKLED}

    @property
    def error(self) -> float:
        """Return an estimate of the error of the probabilities, beyond rounding.

        It is the change from coarser rules and longer steps, times a factor for differences at
        which that was not tried, or three standard errors over scramblings of Sobol points. This is
        multiplied by 3: compared with finer rules, it was too small by up to a factor of 2.
        """
        return _SAFETY_OF_REPORTED_ERROR * self._settled.error

    @property
    def mean(self) -> float:
        """Return the expected difference."""
        return float(self.b.mean - self.a.mean)

    def _at(self, name: str, d: ArrayLike) -> Any:
        return self._tails(d, density=name == "pdf")[("cdf", "sf", "pdf").index(name)]

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the equal-tailed interval of the difference with probability `level`."""
        return self.limits((1 - open_probability("level", level)) / 2)

    def limits(self, tail: float) -> tuple[float, float]:
        """Return the two quantiles beyond each of which lies the probability `tail`."""
        side = np.array([-1.0, 1.0])
        sd = np.full(2, self._shares.sd)
        # both ends are sought as lower ends, of B - A and of A - B, so that exchanging the systems
        # gives exactly the mirrored interval
        reach = np.clip(special.ndtri(tail) * sd - side * self.mean, -0.999, 0.999)
        laws, above = [self._settled], self._settled.b_above
        if isinstance(above, _Discordance) and self._shares.others:  # search first with few nodes
            laws.insert(0, self._shares.at(product_nodes(self._shares.others, _COARSE), above.size))
        for law in laws:

            def outside(x: Array, at: Any, law: _Law = law) -> tuple[Array, Array]:
                below, above, density = law.tails(-side[at] * x, density=True)
                return np.where(side[at] > 0, above, below), density

            reach = quantile_search(outside, np.full(2, tail), reach, sd)
        return float(reach[0]), float(-reach[1])

    def curve(self, points: int = 201) -> tuple[Array, Array]:
        """Return differences from the 0.001 to the 0.999 quantile, and the density there."""
        d = np.linspace(*self.interval(0.998), points)
        density = np.atleast_1d(self.pdf(d))
        endless = np.isinf(density)
        if endless.any():  # for drawing, use a value next to 0 instead of infinity
            density[endless] = self.pdf((d[-1] - d[0]) / (4 * points))
        return d, density

    def _tails(self, d: ArrayLike, *, density: bool = False) -> list[Any]:
        d = np.asarray(d, dtype=np.float64)
        tails = self._tails_at(d.ravel(), density=density)
        return [plain(np.reshape(x, d.shape)) for x in tails]

    def _tails_at(self, d: Array, *, density: bool) -> Sequence[Array]:
        """Return P(at most d), P(above d) and, if asked for, the density."""
        return self._settled.tails(d, density=density)

    @cached_property
    def _settled(self) -> _Law:
        """Return the distribution of the difference with as many nodes as it needs."""
        if (precise := self._shares.of_precision()) is not None:
            return precise
        # differences at which the accuracy of probabilities is checked; also 0, where the ratio of
        # tiny shares may matter, and a point next to it, because at 0 errors may cancel
        sd = self._shares.sd
        probes = np.clip(self.mean + sd * np.array([-2, -0.6, 0.9]), -1 + 1e-9, 1 - 1e-9)
        near_0 = [0.0, min(sd / 20, 0.5)] if abs(self.mean) < 3 * sd else [0.0]
        law = self._shares.law(np.append(probes, near_0))
        # at 0 the two tails are integrated separately: the gap of their sum to 1 is an error, too
        gap = abs(sum(law.at_0) - 1)
        if gap <= _ROUNDING:
            return law
        self._shares.refuse_corners(gap)
        return replace(law, error=max(law.error, gap))

    @property
    def _symmetric(self) -> bool:
        """Return True if exchanging A and B leaves the table unchanged."""
        return bool(np.array_equal(self.table.cases, self.table.swapped().cases))


@dataclass(frozen=True)
class _Law:
    """The distribution of B minus A, from its two sides."""

    b_above: _Discordance | Side
    a_above: _Discordance | Side
    error: float

    def beyond(self, d: Array) -> Array:
        """Return P(above d) for d >= 0 and P(below d) for d < 0; one row per column of weights."""
        rises = d >= 0
        tails = [self.b_above.tail(d[rises])[0], self.a_above.tail(-d[~rises])[0]]
        return np.concatenate(tails).T

    @cached_property
    def at_0(self) -> tuple[float, float]:
        """Return P(at most 0) and P(above 0), integrated separately so that each keeps digits."""
        below, above = (side.tail(np.zeros(1))[0][0] for side in (self.a_above, self.b_above))
        return float(below), float(above)

    def tails(self, d: Array, *, density: bool = False) -> tuple[Array, Array, Array]:
        """Return P(at most d), P(above d) and, if asked for, the density."""
        if not density and np.all(d == 0):
            below, above = (np.full(len(d), tail) for tail in self.at_0)
            return below, above, np.full(len(d), np.nan)
        below, above, slope = np.full((3, len(d)), np.nan)
        for side, rises, near, far in (
            (self.b_above, d >= 0, above, below),
            (self.a_above, d <= 0, below, above),
        ):
            if rises.any():
                tail, own = side.tail(np.abs(d[rises]), density=density)
                slope[rises] = own if density else np.nan
                near[rises] = tail = np.where(1 - tail > _ROUNDING, tail, 1.0)
                far[rises] = np.where(d[rises] == 0, far[rises], 1 - tail)
        return below, above, slope


@dataclass(frozen=True)
class _Shares:
    """The independent Beta variates on which a difference of scores depends."""

    cells: Array
    weights: tuple[float, float, float]  # of tp, fp and fn in the score
    discordant: tuple[float, float]
    won: tuple[float, float]
    others: list[tuple[float, float]]
    prior: float

    @classmethod
    def of(cls, metric: str, table: PairedCounts, prior: float, beta: float) -> _Shares:
        score = TABLE[metric]
        if not isinstance(score, Metric):
            raise InputError(f"metric: {metric} is no ratio of linear forms; see paired_posterior")
        # a count is the sum of four cells for a share of all items, and of two otherwise
        cells = table.cases + prior / (4 if score.is_of_all_items else 2)
        top, bottom = score.forms(beta**2)
        if not bottom[0]:  # the score counts correct negatives: exchange positive and negative
            cells, top, bottom = cells[_NEGATED], top[::-1], bottom[::-1]
        t = cells.tolist()
        hit, false, miss, true_negative = bottom
        fixed = hit == miss and false == true_negative
        if top != (hit, 0, 0, true_negative) or true_negative not in (0, hit * fixed):
            raise InputError(f"metric: the posterior of a difference in {metric} is not known")
        if fixed:  # the denominator depends on gold only
            won, lost, alike = t[2], t[0], t[4] + t[6]
            if true_negative:
                won, lost, alike = won + t[1], lost + t[3], alike + t[5] + t[7]
            return cls(cells, (1.0, 1.0, 1.0), (won + lost, alike), (won, lost), [], prior)
        won, lost = t[1] + t[2], t[0] + t[3]
        wrong = t[5] + (t[6] if miss else 0)
        others = [(t[1], t[2]), (t[3], t[0]), (t[4], wrong)]
        if score.depends_on_beta:
            others.append((t[5], t[6]))
        weights = hit / false, 1.0, miss / false
        return cls(cells, weights, (won + lost, t[4] + wrong), (won, lost), others, prior)

    @property
    def sd(self) -> float:
        """Return the standard deviation of the difference to first order in the cases."""
        (a, b), (c, d) = self.discordant, self.won
        if not self.others:
            k, v, n = a / (a + b), c / (c + d), a + b
            spread = k * (1 - k) / (n + 1)
            return float(
                np.sqrt((2 * v - 1) ** 2 * spread + 4 * v * (1 - v) / (a + 1) * (spread + k**2))
            )
        hit, false, miss = self.weights
        gradient = np.zeros(7)
        for sign, (tp, fp, fn) in ((-1, ([0, 4], [1, 5], [2, 6])), (1, ([2, 4], [3, 5], [0, 6]))):
            x, y = np.zeros((2, 7))
            x[tp] = y[tp] = hit
            y[fp], y[fn] = false, miss
            total = self.cells[:7] @ y
            gradient += sign * (x - self.cells[:7] @ x / total * y) / total
        return float(np.sqrt(self.cells[:7] @ gradient**2))

    def of_precision(self) -> _Law | None:
        """Return the rule for differences of precision (and npv), or None if it is not accurate."""
        if not self.others or self.weights[2] != 0:
            return None
        sides = precision_sides(self.cells.tolist())
        return _Law(*sides) if sides and sides[2] <= _LARGEST_ERROR else None

    def law(self, probes: Array) -> _Law:
        """Return the distribution with enough nodes for accurate probabilities at the probes."""
        if not self.others:
            size, error = self._coarsest(self._sizes(probes, _ROUNDING), 0.0)
            return self.at(Nodes.single(), size, error)
        sizes = self._sizes(probes, _TOLERANCE_OF_K)
        size = next(
            (one for one, error in sizes if error <= _TOLERANCE_WHILE_CHOOSING_NODES[type(one)]),
            sizes[-1][0],
        )
        if size.points > _MOST_POINTS_WHILE_CHOOSING_NODES:
            size, _ = self._coarsest(sizes, _TOLERANCE_WHILE_CHOOSING_NODES[_GaussShare])

        def averages(parts: Sequence[Nodes]) -> Array:
            return self.at(Nodes.joined(parts), size).beyond(probes)

        most = min(_MOST_NODES, max(_MOST_POINTS // size.points, _LEAST_NODES))
        nodes = gauss_nodes(self.others, averages, _TOLERANCE, most)
        if nodes.error > _LARGEST_ERROR and self.prior >= LEAST_PRIOR:
            points = sobol_nodes(self.others, averages)
            nodes = min(nodes, points, key=lambda found: found.error)
        size, error = self._coarsest(sizes, nodes.error / 10)
        self.refuse_corners(error + nodes.error)
        return self.at(nodes, size, error + nodes.error)

    @staticmethod
    def _coarsest(sizes: list[tuple[Share, float]], error: float) -> tuple[Share, float]:
        """Return the first rule with at most this error, or the last one."""
        return next((rule for rule in sizes if rule[1] <= error), sizes[-1])

    def refuse_corners(self, error: float) -> None:
        """Refuse a small prior that leaves a large error."""
        if error > _LARGEST_ERROR and self.prior < LEAST_PRIOR:
            raise InputError(
                f"prior: {self.prior:g} is too small for so sparse a table, whose posterior "
                f"then lies in corners out of reach; expected {LEAST_PRIOR} or more"
            )

    def _sizes(self, probes: Array, tolerance: float) -> list[tuple[Share, float]]:
        """Return rules for K with ever more points and their errors, estimated with few nodes."""
        # The error of the last is at most the tolerance, if possible.
        few = Nodes.single()
        if self.others:
            size = _COARSE - 1 if len(self.others) < _MANY_SHARES else _COARSE - 2
            few = product_nodes(self.others, size, stretched=True)
        rules: list[tuple[Share, float]] = []
        if self.others and self.discordant[0] <= _MOST_CASES_FOR_GAUSS:
            gauss = [_GaussShare(*self.discordant, points) for points in _GAUSS_POINTS]
            rules, _ = _tried(
                gauss, lambda size: self._tails_and_density(few, size, probes), _SAFETY * tolerance
            )
        if not rules or rules[-1][1] > _SAFETY * tolerance:
            steps = [_SteppedShare.of(*self.discordant)]
            for _ in range(_REFINEMENTS if self.others else _REFINEMENTS_ALONE):
                steps.append(steps[-1].refined())
            stepped, last = _tried(steps, lambda size: self.at(few, size).beyond(probes), tolerance)
            # the longest steps whose error cannot be distinguished from that of the shortest
            enough = [error <= max(2 * last, tolerance) for _, error in stepped]
            rules.extend(stepped[: enough.index(True) + 1 if any(enough) else 1])
        return rules

    def _tails_and_density(self, few: Nodes, size: Share, probes: Array) -> Array:
        """Return values that a Gauss rule for K must get right, also near 0, where it starts."""
        law = self.at(few, size)
        d = np.minimum(np.append(self.sd * _PROBES_NEAR_0, np.abs(probes[probes != 0])), 0.99)
        values = [side.tail(d, density=True) for side in (law.b_above, law.a_above)]
        scale = _WEIGHT_OF_DENSITY_ERROR * self.sd
        return np.array([[*tail, *(scale * density)] for tail, density in values])

    def at(self, nodes: Nodes, size: Share, error: float = np.nan) -> _Law:
        """Return the distribution at these nodes."""
        at = self._coefficients(nodes)
        b_won, a_won = self._won
        return _Law(
            _Discordance(at, nodes.weight, size, b_won),
            _Discordance(at.swapped(), nodes.weight, size, a_won),
            error,
        )

    @cached_property
    def _won(self) -> tuple[log_odds.TailTable, log_odds.TailTable]:
        return log_odds.TailTable(*self.won), log_odds.TailTable(*self.won[::-1])

    def _coefficients(self, nodes: Nodes) -> _Coefficients:
        if not self.others:
            return _Coefficients(*[np.ones(1)] * 9)
        hit, false, miss = self.weights
        (case_1, case_3, right), (case_2, case_0, wrong) = nodes.share[:3], nodes.rest[:3]
        if len(nodes.share) == 4:
            wrong = wrong * (false * nodes.share[3] + miss * nodes.rest[3])
        against_a = false * case_1 + miss * case_2
        against_b = false * case_3 + miss * case_0
        return _Coefficients(
            alike=hit * right + wrong,
            up1=hit * (right * against_a + wrong * case_2),
            up2=hit * case_2 * against_a,
            down1=hit * (right * against_b + wrong * case_0),
            down2=hit * case_0 * against_b,
            up_a=against_a,
            up_b=hit * case_2,
            down_a=hit * case_0,
            down_b=against_b,
        )


def _tried(
    sizes: Sequence[Share], values_of: Callable[[Any], Array], tolerance: float
) -> tuple[list[tuple[Share, float]], float]:
    """Try ever finer rules until the last change is small; return their errors, and this change."""
    values, last = [values_of(sizes[0])], np.inf
    for size in sizes[1:]:
        values.append(values_of(size))
        last = _SAFETY * float(np.max(np.abs(values[-1] - values[-2])))
        if last <= tolerance:
            break
    errors = [_SAFETY * float(np.max(np.abs(value - values[-1]))) for value in values[:-1]]
    return list(zip(sizes, errors, strict=False)), last


# --- The paired posterior of scores that are not ratios of linear forms
#
# The eight cases have a Dirichlet posterior. Independent Beta variates are the share of positives
# and, separately for positives and negatives: the share of disputed items, the share of these that
# B wins, and the share of the undisputed items that are right. B minus A increases with the share
# that B wins, so its distribution function is that of this share at the root of an equation,
# averaged over the other six at scrambled Sobol points. Of the two shares that B wins, the one that
# varies the difference more is integrated exactly. The spread of independent scramblings gives the
# error.

_COMPOSITE_PAIRED_PROBES = np.array([-2.0, -0.6, 0.0, 0.9, 2.0])  # standard deviations
_MOST_ROOT_STEPS = 60
_ROOT_TOLERANCE = 1e-11  # of the difference
_LARGEST_LOG_ODDS = 690.0  # of a share that is not 0 or 1 as a number
_TABLE_POINTS = 129  # tails of more differences are interpolated between these
_POSITIVE = (2, 0, 4, 6)  # cases: B wins, A wins, both are right, both are wrong
_NEGATIVE = (1, 3, 7, 5)
# the cases of tp, fp, fn and tn, of A and of B
_CASES_OF_CELLS = ((0, 4), (1, 5), (2, 6), (3, 7)), ((2, 4), (3, 5), (0, 6), (1, 7))


def _tables(cases: Sequence[Any] | Array) -> list[list[Any]]:
    """Return tp, fp, fn and tn of A and of B."""
    return [[cases[i] + cases[j] for i, j in pairs] for pairs in _CASES_OF_CELLS]


def paired_posterior(
    table: PairedCounts, metric: str = "f1", *, prior: float = 1.0, beta: float = 1.0
) -> PairedPosterior:
    """Return the paired posterior of the difference B minus A, for any metric."""
    is_composite = isinstance(TABLE[one_of("metric", metric, METRICS)], Composite)
    kind = CompositePairedPosterior if is_composite else PairedPosterior
    return kind(table, metric, prior=prior, beta=beta)


class CompositePairedPosterior(PairedPosterior):
    """The paired posterior of B minus A in a score that is not a ratio of linear forms."""

    def _set_up(self, metric: str, prior: float, beta: float) -> None:
        del beta  # no composite score depends on it
        entry = TABLE[metric]
        assert isinstance(entry, Composite)  # noqa: S101  # as `paired_posterior` makes sure
        self._score = entry
        self._cells = self.table.cases + prior / 2

    @property
    def error(self) -> float:
        """Return the estimated error of the probabilities: three standard errors of scramblings."""
        return self._nodes.error

    @cached_property
    def _moves(self) -> Array:
        """Return how much one item of each case changes the difference, to first order."""
        a, b = (np.array(self._score.slopes(*own), dtype=float) for own in _tables(self._cells))
        of_a, of_b = [0, 1, 2, 3, 0, 1, 2, 3], [2, 3, 0, 1, 0, 1, 2, 3]
        return np.asarray(b[of_b] - a[of_a])

    @cached_property
    def _sd(self) -> float:
        return float(np.sqrt(self._cells @ self._moves**2))

    @cached_property
    def _sides(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return positives and negatives, first the side on which winning matters more."""

        def varied(side: tuple[int, ...]) -> float:
            won, lost = self._cells[side[0]], self._cells[side[1]]
            gap = self._moves[side[0]] - self._moves[side[1]]
            return float(won * lost / (won + lost) * gap**2)

        sides = sorted((_POSITIVE, _NEGATIVE), key=varied, reverse=True)
        return sides[0], sides[1]

    @cached_property
    def _nodes(self) -> Nodes:
        first, second = ([float(self._cells[i]) for i in side] for side in self._sides)
        shapes = [  # of the shares that are averaged over
            (sum(first), sum(second)),
            (first[0] + first[1], first[2] + first[3]),
            (first[2], first[3]),
            (second[0] + second[1], second[2] + second[3]),
            (second[0], second[1]),
            (second[2], second[3]),
        ]
        probes = self._centre + _COMPOSITE_PAIRED_PROBES * self._sd

        def averages(parts: Sequence[Nodes]) -> Array:
            return np.array([self._below(probes, part) for part in parts])

        return sobol_nodes(shapes, averages)

    @property
    def _centre(self) -> float:
        a, b = (float(self._score.value(*own)) for own in _tables(self._cells))
        return b - a

    def _gap(self, won: Array, nodes: Nodes) -> Array:
        """Return B minus A if B wins this share of the first side's disputed items."""
        share, rest = nodes.share, nodes.rest
        cases: list[Any] = [None] * 8
        wins = (won, 1 - won), (share[4], rest[4])
        for side, part, disputed, agreed, win in (
            (self._sides[0], share[0], 1, 2, wins[0]),
            (self._sides[1], rest[0], 3, 5, wins[1]),
        ):
            for i, x in zip(side[:2], win, strict=True):
                cases[i] = part * share[disputed] * x
            for i, x in zip(side[2:], (share[agreed], rest[agreed]), strict=True):
                cases[i] = part * rest[disputed] * x
        a, b = (np.nan_to_num(self._score.value(*own)) for own in _tables(cases))
        return np.asarray(b - a)

    def _root(self, d: float, nodes: Nodes) -> tuple[Array, Array]:
        """Return the share at which the difference is d, and its derivative in d, at every node."""
        low, high = np.zeros(len(nodes.weight)), np.ones(len(nodes.weight))
        at_low, at_high = self._gap(low, nodes) - d, self._gap(high, nodes) - d
        span = at_high - at_low
        x = np.clip(-at_low / np.where(span > 0, span, 1.0), 0.0, 1.0)
        outside = (at_low >= 0) | (at_high <= 0)
        x = np.where(at_low >= 0, 0.0, np.where(at_high <= 0, 1.0, x))
        moved = np.zeros(len(x))  # which end moved last
        for _ in range(_MOST_ROOT_STEPS):
            value = self._gap(x, nodes) - d
            if np.all(outside | (np.abs(value) < _ROOT_TOLERANCE)):
                break
            rises = value < 0
            # the Illinois rule: halve the value at an end that stays twice
            at_high = np.where(rises, np.where(moved < 0, at_high / 2, at_high), value)
            at_low = np.where(rises, value, np.where(moved > 0, at_low / 2, at_low))
            moved = np.where(rises, -1.0, 1.0)
            low, high = np.where(rises, x, low), np.where(rises, high, x)
            with np.errstate(divide="ignore", invalid="ignore"):
                new = (low * at_high - high * at_low) / (at_high - at_low)
            inside = (new > low) & (new < high)
            x = np.where(outside, x, np.where(inside, new, (low + high) / 2))
        h = 1e-5
        left, right = np.maximum(x - h, 0.0), np.minimum(x + h, 1.0)
        rise = (self._gap(right, nodes) - self._gap(left, nodes)) / (right - left)
        return x, np.where(outside | (rise <= 0), 0.0, 1 / np.where(rise > 0, rise, 1.0))

    @cached_property
    def _law(self) -> log_odds.TailTable:
        """Return the distribution of the share that B wins on the first side."""
        return log_odds.TailTable(*(float(self._cells[i]) for i in self._sides[0][:2]))

    def _below(self, d: Array, nodes: Nodes) -> Array:
        roots = (self._root(x, nodes)[0] for x in d.tolist())
        return np.array([self._law.cdf(special.logit(root)) @ nodes.weight for root in roots])

    def _tails_at(self, d: Array, *, density: bool) -> Sequence[Array]:
        """Return P(at most d), P(above d) and, if asked for, the density."""
        # Many differences are interpolated in a table by Hermite's rule, whose error is far below
        # that of the nodes.
        if len(d) > _TABLE_POINTS:
            from scipy.interpolate import CubicHermiteSpline, PchipInterpolator

            few = np.linspace(d.min(), d.max(), _TABLE_POINTS)
            below, above, slope = self._tails_at(few, density=True)
            return (
                np.clip(CubicHermiteSpline(few, below, slope)(d), 0.0, 1.0),
                np.clip(CubicHermiteSpline(few, above, -slope)(d), 0.0, 1.0),
                PchipInterpolator(few, slope)(d),
            )
        weight, tails = self._nodes.weight, np.full((3, len(d)), np.nan)
        for i, x in enumerate(d.tolist()):
            share, slope = self._root(x, self._nodes)
            y = np.clip(special.logit(share), -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS)
            tails[:2, i] = self._law.cdf(y) @ weight, self._law.sf(y) @ weight
            if density:
                at_share = np.exp(self._law.log_pdf(y)) / (special.expit(y) * special.expit(-y))
                tails[2, i] = at_share @ (slope * weight)
        return list(tails)

    def limits(self, tail: float) -> tuple[float, float]:
        """Return the two quantiles beyond each of which lies the probability `tail`."""

        def tails(x: Array) -> tuple[Array, Array]:
            below, above, density = self._tails_at(x, density=True)
            return np.array([below[0], 1 - above[1]]), density

        return limits_beyond(tail, tails, self._centre, self._sd, self._score)
