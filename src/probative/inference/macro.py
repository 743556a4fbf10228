"""Average a score over labels: estimate, interval, posterior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from probative._validation import Array, Number, one_of, open_probability
from probative.counts import Counts, LabelCounts
from probative.inference.intervals import UNDEFINED, default_method, wilson
from probative.inference.units import ONE_UNIT, effective_units, influence, student_quantile
from probative.metrics import METRICS, TABLE, Share, f1_from_jaccard, ratio, score
from probative.results import Interval

# --- The prior that the labels of one system share
#
# The share J of a label's n items that the system gets right is drawn from a beta distribution
# that all labels have in common, Beta(m·κ, (1 - m)·κ). Rare labels tend to be worse than frequent
# ones: the mean m moves with the label's size, logit m = α + β·(ln(n + 1) - its mean over the
# labels). A priori the mean of a label of middling size is uniform on (0, 1), β normal with
# standard deviation ½, ln κ uniform between 0 and ln 100. Given (α, β, κ) the labels are
# independent, and each has a beta posterior; a posteriori these three are integrated over: ln κ by
# Gauss and Legendre's rule, α and β by Gauss and Hermite's, laid around their mode.

_SLOPE_SPREAD, _LARGEST_KAPPA = 0.5, 100.0
_NODES = (6, 9, 5)  # of ln κ, α and β
_KEPT = 1 - 1e-5  # of the posterior weight; the lightest nodes are not worth their time
_TINY = np.finfo(np.float64).tiny
_STEPS = 60
_FARTHEST_STEP = 2.0


class _Model:
    """The posterior density of α and β for every κ: arrays with one row per κ."""

    def __init__(
        self,
        right: Array,
        items: Array,
        number: Array,
        *,
        slope_spread: float = _SLOPE_SPREAD,
        largest_kappa: float = _LARGEST_KAPPA,
    ):
        self.right, self.wrong, self.number = right, items - right, number
        knots, self.kappa_weight = np.polynomial.legendre.leggauss(_NODES[0])
        self.kappa, self.precision = largest_kappa ** ((knots + 1) / 2), slope_spread**-2
        size = np.log(items + 1)
        self.size = size - number @ size / number.sum()

    def labels(self) -> tuple[Array, Array, Array]:
        """Return a and b of the labels' beta posteriors by node, and the weights of the nodes."""
        alpha, beta = self._mode()
        _, _, aa, ab, bb = self._slopes(alpha, beta)
        z, log_w = _normal_nodes()
        spread = np.sqrt(aa)
        slope = ab / spread
        rest = np.sqrt(np.maximum(bb - slope**2, 1e-300))
        alphas = alpha[:, None] + spread[:, None] * z[0]
        betas = beta[:, None] + slope[:, None] * z[0] + rest[:, None] * z[1]
        scale = np.log(spread * rest) + np.log(self.kappa_weight)
        log_weight = self._log_density(alphas, betas) + log_w + scale[:, None]
        weight = np.exp(log_weight - log_weight.max()).ravel()
        heaviest = np.argsort(-weight, kind="stable")
        share = np.cumsum(weight[heaviest])
        kept = np.sort(heaviest[: int(np.searchsorted(share, _KEPT * share[-1])) + 1])
        kappa = np.repeat(self.kappa, alphas.shape[1])[kept, None]
        mean = special.expit(alphas.ravel()[kept, None] + betas.ravel()[kept, None] * self.size)
        a, b = self.right + mean * kappa, self.wrong + (1 - mean) * kappa
        return a, b, weight[kept] / weight[kept].sum()

    def _log_density(self, alpha: Array, beta: Array) -> Array:
        """Return the log of prior times beta-binomial likelihood, but for a constant."""
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

    def _slopes(self, alpha: Array, beta: Array) -> tuple[Array, ...]:
        """Return the gradient of the log density in α and β, and the covariance near by."""
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
        of_prior = -2 * centre * (1 - centre)
        # minus the inverse of the second derivatives, made positive where it is not: the prior
        # alone bends at least that much downwards
        aa = np.minimum(np.minimum(bent.sum(axis=1) + of_prior, of_prior), -1e-12)
        bb = np.minimum(bent @ self.size**2 - self.precision, -self.precision)
        limit = 0.999 * np.sqrt(aa * bb)
        ab = np.clip(bent @ self.size, -limit, limit)
        determinant = aa * bb - ab**2
        return (
            weighted.sum(axis=1) + 1 - 2 * centre,
            weighted @ self.size - self.precision * beta,
            -bb / determinant,
            ab / determinant,
            -aa / determinant,
        )

    def _mode(self) -> tuple[Array, Array]:
        """Find the mode by Newton's method, each step halved until it climbs."""
        share = (self.number @ self.right + 1) / (self.number @ (self.right + self.wrong) + 2)
        alpha = np.full(len(self.kappa), special.logit(share))
        beta = np.zeros(len(self.kappa))
        height = self._log_density(alpha, beta)
        for _ in range(_STEPS):
            of_alpha, of_beta, aa, ab, bb = self._slopes(alpha, beta)
            steps = np.stack([aa * of_alpha + ab * of_beta, ab * of_alpha + bb * of_beta])
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


@cache
def _normal_nodes() -> tuple[tuple[Array, Array], Array]:
    """Return nodes of a standard normal pair, and the log weights that undo its density."""
    rules = [np.polynomial.hermite_e.hermegauss(number) for number in _NODES[1:]]
    x, y = (grid.ravel() for grid in np.meshgrid(*(nodes for nodes, _ in rules), indexing="ij"))
    weight: Any = np.outer(*(weights for _, weights in rules)).ravel()
    return (x, y), np.log(weight) + (x**2 + y**2) / 2


# --- The posterior of a mean over labels, by convolution
#
# Given the prior that they share, the labels' shares are independent betas. The mean of their
# scores is a sum of independent terms: its characteristic function is the product of theirs,
# averaged over the nodes of the prior. Labels whose score is nearly known next to the rest enter
# as normal terms with their exact means and variances; so do a hundred thousand labels at once.

_CELLS = 512  # of the grid
_SPARE = 64  # cells left over for what rounding each term up to whole cells adds
_NARROW = 16  # cells below which a label's own distribution is a normal term
_TAIL = 1e-7  # of a label's distribution, which may lie outside of its grid
_TERMS = 64  # of the series of F1's moments: the rest is below 2**-58
_LARGE = 1e8  # items from which the variance is the delta method's, to ten digits


@dataclass(frozen=True, eq=False)
class MacroPosterior:
    """The distribution of a mean over labels on a grid."""

    edges: Array  # of the cells
    below: Array  # probability of at most each of them

    def ppf(self, probability: ArrayLike) -> Number:
        """Return the value that is exceeded with probability 1 - `probability`."""
        rising = np.concatenate([[True], np.diff(self.below) > 0])
        known = self.below[rising], self.edges[rising]
        return np.interp(np.asarray(probability, np.float64), *known)

    @property
    def mean(self) -> float:
        """Return the expected value."""
        return float(np.diff(self.below) @ (self.edges[1:] + self.edges[:-1]) / 2)


def macro_posterior(right: Array, items: Array, *, f1: bool, **prior: Any) -> MacroPosterior:
    """Return the posterior of the mean over labels of a share J, or of F1 = 2J/(1 + J)."""
    tables, number = np.unique(np.stack([right, items]), axis=1, return_counts=True)
    a, b, weight = _Model(tables[0], tables[1], number.astype(float), **prior).labels()
    mean, variance = _moments(a, b, f1=f1)
    # the range of every label over all nodes, but for a tiny tail
    low = special.betaincinv(a.min(axis=0), b.max(axis=0), _TAIL)
    high = special.betaincinv(a.max(axis=0), b.min(axis=0), 1 - _TAIL)
    if f1:
        low, high = f1_from_jaccard(low), f1_from_jaccard(high)
    one = 1 / number.sum()  # what one label weighs in the mean
    centre = mean @ number * one
    width = (high - low) * one
    # the root of squares would do for one node of the prior; the nodes differ in their means
    reach = min(number @ width, 2 * float(np.sqrt(number @ width**2)) + float(np.ptp(centre)))
    step = reach / (_CELLS - _SPARE)

    # The number of a value's cell, counted from the lowest value of each term, stands for it: the
    # numbers add up, modulo the size of the grid.
    wide = np.flatnonzero(width >= _NARROW * step)
    base = float(number[wide] @ low[wide]) * one + (number[wide].sum() - 1) / 2 * step
    product = np.ones((len(centre), _CELLS // 2 + 1), np.complex128)
    for k in wide:
        masses = _cell_masses(a[:, k], b[:, k], low[k], step / one, f1=f1)
        term = np.fft.rfft(masses, _CELLS, axis=1)
        product *= term if number[k] == 1 else term ** number[k]
    if len(wide) < len(number):
        narrow = width < _NARROW * step
        known = mean[:, narrow] @ number[narrow] * one
        spread = np.sqrt(variance[:, narrow] @ number[narrow]) * one
        start = float(known.min()) - _CELLS / 4 * step
        # a normal distribution that is narrower than a cell is given its width
        scale = np.maximum(spread, step / 2)[:, None]
        z = (step * np.arange(_CELLS + 1) - (known - start)[:, None]) / scale
        product *= np.fft.rfft(np.diff(special.ndtr(z), axis=1), axis=1)
        base += start + step / 2
    mass = np.maximum(np.fft.irfft(weight @ product, _CELLS), 0.0)

    lowest, highest = float(low @ number) * one, float(high @ number) * one
    start = float(weight @ centre) - step * _CELLS / 2
    start = min(max(start, lowest), max(lowest, highest - reach))
    first = int(np.floor((start - base) / step + 1e-9))
    below = np.concatenate([[0.0], np.cumsum(np.roll(mass, -first))])
    below /= below[-1]
    edges = base + step * (first + np.arange(_CELLS + 1))
    # rounding to cells must not move the mean
    edges += float(weight @ centre) - np.diff(below) @ (edges[1:] + edges[:-1]) / 2
    return MacroPosterior(np.clip(edges, 0.0, 1.0), below)


def _cell_masses(a: Array, b: Array, low: float, step: float, *, f1: bool) -> Array:
    """Return the probability of every cell from `low` on for beta distributions, one row each."""
    cells = min(_CELLS, int(np.ceil((1 - low) / step - 1e-9)))
    edges = np.minimum(low + step * np.arange(cells + 1), 1.0)
    middle = (edges[:-1] + edges[1:]) / 2
    share = _share_of(middle, f1=f1)
    log_measure = np.log(np.diff(edges))
    if f1:
        log_measure = log_measure + np.log(2) - 2 * np.log(2 - middle)
    # the log densities of all rows and cells as one product of matrices
    rows = np.stack([a - 1, b - 1, -special.betaln(a, b), np.ones_like(a)], axis=1)
    masses = rows @ np.stack([np.log(share), np.log1p(-share), np.ones(cells), log_measure])
    np.exp(masses, out=masses)
    # a beta density may rise without bound at 0 and 1: there the exact masses
    for ends in (slice(0, 3), slice(max(0, cells - 3), cells)):
        limits = _share_of(edges[ends.start : ends.stop + 1], f1=f1)
        masses[:, ends] = np.diff(special.betainc(a[:, None], b[:, None], limits), axis=1)
    masses /= masses.sum(axis=1, keepdims=True)
    return np.asarray(masses)


def _share_of(score: Array, *, f1: bool) -> Array:
    return score / (2 - score) if f1 else score


def _moments(a: Array, b: Array, *, f1: bool) -> tuple[Array, Array]:
    """Return mean and variance of every label's score at every node."""
    # with u = 1 - J, F1 = J/(1 - u/2): a series in u/2, whose terms have moments that follow from
    # one another
    size = a + b
    share = a / size
    spread = share * (1 - share) / (size + 1)
    if not f1:
        return share, spread
    first, second = np.ones_like(a), np.ones_like(a)
    term, term_2 = np.ones_like(a), np.ones_like(a)
    for k in range(_TERMS):
        term = term * (b + k) / (size + 1 + k) / 2
        term_2 = term_2 * (b + k) / (size + 2 + k) / 2
        first += term
        second += (k + 2) * term_2
    mean = share * first
    variance = share * (a + 1) / (size + 1) * second - mean**2
    steep = 2 / (1 + share) ** 2
    return mean, np.where(size < _LARGE, np.maximum(variance, 0.0), spread * steep**2)


# --- What it costs, label by label, that the items of a unit are not independent
#
# The same quantities as `units.dependence_of_score` finds for one score, for every label at
# once.


def label_dependence(
    cells: LabelCounts, metric: str = "f1", *, beta: float = 1.0
) -> tuple[Array, Array, Array]:
    """Return design effect, divisor and degrees of freedom of the score of each label."""
    tables, (item_x, item_y) = _kinds_of_items(cells.by_label, metric, beta)
    cells, number, _ = cells.kinds
    x, y = (np.asarray(part, np.float64) for part in ratio(cells.counts, metric, beta=beta))
    total_x, total_y = cells.sum_by_label(number * x), cells.sum_by_label(number * y)
    units = cells.sum_by_label(number * (y > 0))
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = total_y**2 / cells.sum_by_label(number * y**2) - 1
        by_item = influence(item_x, item_y, total_x[:, None], total_y[:, None])
        independent = (tables * by_item**2).sum(axis=1)
        # the score without a unit less the score with it
        of_x, of_y = total_x[cells.label], total_y[cells.label]
        moved = np.where(y > 0, -influence(x, y, of_x, of_y, of_y - y), 0.0)
        mean = cells.sum_by_label(number * moved) / units
        squares = cells.sum_by_label(number * moved**2) - units * mean**2
        effect = (units - 1) / units * squares / independent
        items = tables[:, item_y > 0].sum(axis=1) / units
    freedom = np.where((units > 1) & (freedom > 0), freedom, 0.0)
    effect = np.where((freedom > 0) & (independent > 0), effect, np.nan)
    # one unit counts as one item, as units do that are all right or all wrong
    divisor = np.where(np.isnan(effect), np.where(units > 0, items, 1.0), effect)
    return effect, np.maximum(1.0, divisor), freedom


def is_at_once(metric: str) -> bool:
    """Return True if `label_intervals` can compute all labels at once, by Wilson's intervals."""
    # true negatives are not counted by label, and F-beta has no such interval
    score = TABLE[metric]
    by_wilson = default_method(metric).startswith("wilson")
    return by_wilson and not (score.needs_tn or score.depends_on_beta)


def label_intervals(cells: LabelCounts, metric: str = "f1", *, level: float = 0.95) -> Interval:
    """Return the clustered intervals of every label, as arrays, for a metric that `is_at_once`."""
    tables = cells.by_label
    effect, divisor, freedom = label_dependence(cells, metric)
    share = TABLE[metric].share()
    assert share is not None  # noqa: S101  # as `is_at_once` says
    right, items = share.proportion(tables)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        ends = wilson(right / divisor, items / divisor, student_quantile(level, freedom))
        low, high = map(share.score, ends)
    estimate, known = score(tables, metric), freedom > 0
    note = np.array([None, ONE_UNIT, UNDEFINED])[np.where(np.isnan(estimate), 2, 1 - known)]
    low = np.where(known, np.fmin(low, estimate), 0.0)  # not left out by rounding
    high = np.where(known, np.fmax(high, estimate), 1.0)
    return Interval(metric, default_method(metric), level, estimate, low, high, note, effect)


def _kinds_of_items(tables: Counts, metric: str, beta: float) -> tuple[Array, tuple[Any, Any]]:
    """Return the number of items of each kind per table, and what an item adds to x and y."""
    columns = np.stack([np.atleast_1d(cell) for cell in tables._cells()], axis=-1)
    kinds = ratio(Counts(*np.eye(columns.shape[-1])), metric, beta=beta)
    return columns.astype(np.float64), kinds


METHOD = "hierarchical"
_NO_LABELS = "undefined: there are no labels"
_NO_ITEMS = "undefined: there are no items"
_HALF = 0.5  # of an item of each kind, added so that no variance is thought to be 0


def macro_score(cells: LabelCounts, metric: str = "f1", *, beta: float = 1.0) -> float:
    """Return the mean of a score over labels."""
    one_of("metric", metric, METRICS)
    if not cells.n_labels:
        return math.nan
    return float(np.mean(score(cells.by_label, metric, beta=beta, zero_division=0)))


def macro_interval(
    cells: LabelCounts, metric: str = "f1", *, level: float = 0.95, beta: float = 1.0
) -> Interval:
    """Return the interval of a macro average, from labels that share their prior."""
    level = open_probability("level", level)
    evidence = macro_evidence(cells, metric, beta=beta)
    return evidence.interval(f"macro_{metric}", level)


@dataclass(frozen=True, eq=False)
class MacroEvidence:
    """Evidence about one macro average."""

    estimate: float
    # before Student's t allows for the number of units; None without evidence
    posterior: MacroPosterior | None
    degrees_of_freedom: float  # the effective number of units, less one
    note: str | None = None

    def limits(self, level: float) -> tuple[float, float]:
        """Return the equal-tailed limits, widened to the estimate where it lies outside of them."""
        tail = normal_tail_of(level, self.degrees_of_freedom)
        if self.posterior is None or tail < _TAIL:  # the grid has rounding errors there
            return 0.0, 1.0
        low, high = np.asarray(self.posterior.ppf([tail, 1 - tail])).tolist()
        return max(0.0, min(low, self.estimate)), min(1.0, max(high, self.estimate))

    def interval(self, metric: str, level: float) -> Interval:
        """Return the interval of the average under this name."""
        return Interval(metric, METHOD, level, self.estimate, *self.limits(level), self.note)


def normal_tail_of(level: float, degrees_of_freedom: float) -> float:
    """Return the normal tail beyond Student's quantile, P0 with T(Φ⁻¹(P0)) = (1 - level)/2."""
    return float(special.ndtr(-student_quantile(level, degrees_of_freedom)))


def macro_evidence(cells: LabelCounts, metric: str = "f1", *, beta: float = 1.0) -> MacroEvidence:
    """Compute what the macro average of one system is judged by: posterior, divisors, freedom."""
    estimate = macro_score(cells, metric, beta=beta)
    if math.isnan(estimate):
        return MacroEvidence(estimate, None, 0.0, _NO_LABELS)
    freedom = degrees_of_freedom(cells)
    if freedom == 0:
        nothing = _NO_ITEMS if not np.any(cells.counts.nu) else ONE_UNIT
        return MacroEvidence(estimate, None, 0.0, nothing)
    right, items = _proportions_of(cells.by_label, metric, beta)
    divisor = _divisors(cells, metric, beta)
    share = _share(metric, beta)
    f1 = share is not None and share.factor == 2
    posterior = macro_posterior(right / divisor, items / divisor, f1=f1)
    return MacroEvidence(estimate, posterior, freedom)


def degrees_of_freedom(*systems: LabelCounts) -> float:
    """Return Kish's effective number of units, less one; infinite if every unit is one item."""
    size = np.asarray(sum(cells.items_by_unit for cells in systems))
    number = systems[0].repeats
    if number[size > 0].sum() > 1 and all((cells.items_by_unit <= 1).all() for cells in systems):
        return math.inf
    return max(0.0, effective_units(size, number) - 1)


def _divisors(cells: LabelCounts, metric: str, beta: float) -> Array:
    """Return the divisors of the counts of every label: its design effect, at least 1."""
    most = np.zeros(cells.n_labels)
    kinds = cells.kinds[0]
    np.maximum.at(most, kinds.label, kinds.counts.nu)
    # items of a label that are alone in their units are independent
    within = np.where(most <= 1, 1.0, label_dependence(cells, metric, beta=beta)[1])
    # the variance of the mean over the variance that independent labels would give it
    of_cells, of_items = shifts(cells, metric, beta)
    unknown = _HALF * float(np.sum(of_items**2))
    number = cells.repeats
    together = float(number @ cells.sum_by_unit(of_cells) ** 2) + unknown
    apart = float(number[cells.unit] @ of_cells**2) + unknown
    return np.asarray(within * max(1.0, together / apart))


def _proportions_of(tables: Counts, metric: str, beta: float) -> tuple[Array, Array]:
    """Return how many items of each label are right, and how many there are."""
    # A score whose errors weigh differently, as those of F-beta, is a function of no proportion: it
    # is taken for one itself, of as many items as give it the variance of the delta method.
    share = _share(metric, beta)
    if share is not None:
        right, items = share.proportion(tables)
        return np.asarray(right, np.float64), np.asarray(items, np.float64)
    x, y = (np.asarray(part, np.float64) for part in ratio(tables, metric, beta=beta))
    table, (item_x, item_y) = _kinds_of_items(tables, metric, beta)
    table = table + _HALF * (item_y > 0)
    top, bottom = table @ item_x, table @ item_y
    value = top / bottom
    variance = (table * (item_x - value[:, None] * item_y) ** 2).sum(axis=1) / bottom**2
    items = np.where(y > 0, value * (1 - value) / variance, 0.0)
    with np.errstate(invalid="ignore"):
        return np.where(y > 0, x / y, 0.0) * items, items


def _share(metric: str, beta: float) -> Share | None:
    """Return the share that a score is, or whose F1 it is."""
    share = TABLE[metric].share(beta**2)
    return share if share is not None and share.factor in (1, 2) else None


def shifts(
    cells: LabelCounts,
    metric: str,
    beta: float,
    sums: tuple[Any, ...] | None = None,
    added: tuple[Any, Any] | None = None,
) -> tuple[Array, Array]:
    """Return how far every cell, and an item of every kind and label, moves the mean of labels."""
    # `sums`: numerator and denominator of every label's score, by default the system's own;
    # `added`: what an item of each kind would add to them, of which half a one is added already
    totals = cells.by_label
    sums = ratio(totals, metric, beta=beta) if sums is None else sums
    added = _kinds_of_items(totals, metric, beta)[1] if added is None else added
    top, bottom = (part + _HALF * item.sum() for part, item in zip(sums, added, strict=True))
    kinds, _, kind = cells.kinds
    x, y = ratio(kinds.counts, metric, beta=beta)
    of_cells = influence(x, y, top[kinds.label], bottom[kinds.label])[kind]
    of_items = influence(*added, top[:, None], bottom[:, None])
    return of_cells / max(1, cells.n_labels), of_items / max(1, cells.n_labels)


def moves_of_units(
    cells: LabelCounts,
    mask: NDArray[np.bool_],
    metric: str,
    beta: float,
    sums: tuple[Any, ...] | None = None,
) -> Array:
    """Return how far every unit moves the mean over the labels of a system that count."""
    of_cells, _ = shifts(cells, metric, beta, sums)  # linear near `sums`
    share = cells.n_labels / max(1, mask.sum())
    return np.asarray(cells.sum_by_unit(of_cells * mask[cells.label]) * share)
