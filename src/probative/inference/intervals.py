"""Compute confidence intervals for one score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from probative._validation import amounts, flag, one_of, open_probability, positive
from probative.counts import Counts
from probative.errors import InputError
from probative.metrics import (
    CELLS,
    TABLE,
    Composite,
    Metric,
    bounds,
    counts_for,
    f1_from_jaccard,
    ratio,
    score,
)
from probative.options import IntervalOptions
from probative.results import Interval

if TYPE_CHECKING:
    from probative.inference.posterior.single import CompositePosterior
    from probative.inference.units import Dependence


# --- Limits of a binomial proportion: x successes in n trials; NaN for n = 0


def normal_quantile(level: float) -> float:
    """Return the z for which a standard normal variable lies within ±z with probability `level`."""
    return float(np.sqrt(2) * special.erfinv(level))


def clopper_pearson(x: Any, n: Any, tail: float) -> tuple[Any, Any]:
    """Invert the two one-sided binomial tests: quantiles of two Beta distributions."""
    low = special.betaincinv(x, n - x + 1, tail)
    high = special.betainccinv(x + 1, n - x, tail)
    return np.where(x == 0, 0.0, low), np.where(x == n, 1.0, high)


def wilson(x: Any, n: Any, z: Any, *, of_f1: bool = False) -> tuple[Any, Any]:
    """Invert the score test: roots of (1+k)p² - (2p̂+k)p + p̂² = 0 with k = z²/n."""
    # `of_f1`: return the limits of F1 where x of n is the share of Jaccard's score
    misses, share = n - x, x / n
    root = z * np.sqrt(share * misses + 0.25 * z * z) + 0.5 * z * z  # times n
    # The product of the roots is p̂²/(1+k): dividing by the large root gives the small one without
    # cancellation, and the same for 1-p; p̂ = 0 and p̂ = 1 then give 0 and 1 exactly.
    hits, lost = share * x, (1 - share) * misses
    if not of_f1:
        return hits / (x + root), 1 - lost / (misses + root)
    # 2p / (1 + p) of both, with one division each
    return 2 * hits / (x + root + hits), 1 - lost / (2 * (misses + root) - lost)


def _jeffreys(x: Any, n: Any, tail: float) -> tuple[Any, Any]:
    """Equal-tailed limits of the posterior Beta(x + 1/2, n - x + 1/2)."""
    a, b = x + 0.5, n - x + 0.5
    return special.betaincinv(a, b, tail), special.betainccinv(a, b, tail)


# --- Wilson's score interval of F1 itself: two roots of a quartic, for millions of tables at once
#
# With F̂ the sample F1 and k = z²/nu, the ends of the interval are the roots of
#
#     Q(F) = k F(F-1)(F-2)² + 2(F-F̂)²                            on the F1 scale, or of
#     G(x) = (x-x̂)²(1+x)² - k(1+x̂)² x(1-x)                       with F = 2x/(1+x),
#
# one in [0, F̂] and one in [F̂, 1]. Newton's method needs no safeguard here. For the upper root, G
# is convex on [x̂, 1] and the Wilson limit of x lies to the right of the root, so the steps go
# down to it. For the lower root, Q is convex to the left of it (everywhere if k < 2; and if k >=
# 2, on [0, 0.77], while the root is below 0.25), so the steps go up from any point below it.

_MOST_NEWTON_STEPS = 60  # never more than a dozen were needed; the bound stops at a NaN


def _wilson_direct(tp: Any, nu: Any, z: float) -> tuple[Any, Any]:
    """Return the interval of F1 from tp and nu = tp + fp + fn."""
    k = z**2 / nu
    share = tp / nu
    score, weight = f1_from_jaccard(share), k * (1 + share) ** 2

    def lower(root: Any) -> tuple[Any, Any]:
        error = root - score
        value = 2 * error**2 - k * root * (1 - root) * (2 - root) ** 2
        return value, 4 * error - k * (2 - root) * (2 - root * (7 - 4 * root))

    def upper(root: Any) -> tuple[Any, Any]:
        product = (root - share) * (1 + root)
        value = product**2 - weight * root * (1 - root)
        return value, 2 * product * (1 + 2 * root - share) - weight * (1 - 2 * root)

    # G(x) = 0 is Wilson's equation with k(1+x̂)²/(1+x)² in place of k. Any x below the root makes
    # that factor too large and the result too low: a start below the root, refined twice.
    below, _ = wilson(tp, nu, z * (1 + share))
    below, _ = wilson(tp, nu, z * (1 + share) / (1 + below))
    low = np.clip(_newton(lower, f1_from_jaccard(below)), 0, score)
    high = np.clip(_newton(upper, wilson(tp, nu, z)[1]), share, 1)
    return low, f1_from_jaccard(np.where(tp == nu, 1.0, high))


def _newton(value_and_slope: Callable[[Any], tuple[Any, Any]], root: Any) -> Any:
    for _ in range(_MOST_NEWTON_STEPS):
        value, slope = value_and_slope(root)
        step = value / slope
        root = root - step
        if not np.any(np.abs(step) > 1e-16):
            break
    return root


# The methods for each kind of score, the recommended one first.
_PROPORTION_METHODS = ("wilson", "clopper-pearson", "jeffreys", "bayes", "logit", "wald")
_F1_METHODS = ("wilson-indirect", "wilson-direct", *_PROPORTION_METHODS[1:])
_FBETA_METHODS = ("logit", "bayes", "wald")
_SUM_METHODS = ("guarded", "jeffreys", "mover", "bayes", "logit", "wald")
_COMPOSITE_METHODS = ("guarded", "jeffreys", "bayes", "logit", "wald")
# Prior items for an end of the interval: added to the cells that move the score towards the other
# end, and to those that move it towards this one. With half an item in each, few errors of two
# kinds seem too certain.
PRIOR_ITEMS = {"guarded": (1 / 8, 3 / 4), "jeffreys": (1 / 2, 1 / 2)}
_POSTERIOR_METHODS = ("jeffreys", "bayes")  # the interval may leave out an estimate of 0 or 1
METHODS = ("wilson", *_F1_METHODS, "mover", "guarded")
# Scores that are a sum of two proportions of different items, given how many there are of each.
_PROPORTIONS_OF_SUM = {
    "balanced_accuracy": ("recall", "specificity"),
    "informedness": ("recall", "specificity"),
    "markedness": ("precision", "npv"),
}

UNDEFINED = "undefined: the denominator is 0"
# The notes on an interval; the index in this list is the code of the note.
_NOTES = np.array(
    [
        None,
        UNDEFINED,
        "overshoot: the interval leaves [0, 1]",
        "degenerate: the interval has no width",
        "the logit is undefined at the end of the range; the interval is that of the posterior",
        "the estimate is at the end of its range and lies outside the interval",
    ],
    dtype=object,
)
_UNDEFINED, _OVERSHOOT, _DEGENERATE, _TAKEN_OVER, _OUTSIDE = range(1, 6)

_TABLES_AT_ONCE = 1 << 16  # so that their columns stay in the processor's cache


def interval(
    counts: Counts,
    metric: str = "f1",
    method: str | None = None,
    *,
    level: float = 0.95,
    beta: float = 1.0,
    prior: float = 1.0,
    clustered: bool = False,
    multiplicity: ArrayLike | None = None,
) -> Interval:
    """Compute an interval for one score.

    Precision, recall, Jaccard and accuracy are binomial proportions given their denominators. F1
    is an increasing function of the Jaccard score, tp / (tp + fp + fn), so every interval of that
    proportion gives one of F1. Items are taken to be independent, unless `clustered`.

    Parameters
    ----------
    counts
        One table, or an array of tables; then the results are arrays too.
    metric
        precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv, balanced_accuracy, mcc,
        kappa, informedness, markedness or fowlkes_mallows.
    method
        The default is wilson-indirect for F1, wilson for proportions, logit for F-beta, and guarded
        for the last six metrics. The others are wilson-direct, clopper-pearson, jeffreys, mover,
        bayes, logit and wald; `methods_for` lists those for a metric. For a proportion both Wilson
        methods are the same.
    level
        The nominal coverage, in (0, 1).
    beta
        The weight of recall in F-beta.
    prior
        The prior weight of a cell for "bayes".
    clustered
        Take the rows of array-valued counts as the units (sentences, documents) of one system and
        widen the interval by their design effect.
    multiplicity
        The number of equal units that each row stands for, with `clustered`; 1 by default.

    Returns
    -------
    Interval
        With `estimate`, `low`, `high` and, where needed, a `note`. A score whose denominator is 0
        is NaN, and its interval covers all values that the score may have.

    References
    ----------
    Lam, "Confidence Intervals for the F1 Score: A Comparison of Four Methods".

    Examples
    --------
    >>> import probative as pv
    >>> counts = pv.Counts(tp=77, fp=44, fn=10, tn=702)
    >>> print(pv.interval(counts, "f1"))
    f1, 0.95 wilson-indirect interval: 0.7404 [0.6686, 0.8013]
    >>> round(pv.interval(counts, "recall", level=0.99).low, 4)
    0.7686
    """
    if not isinstance(counts, Counts):
        raise InputError(f"counts: {type(counts).__name__} is not Counts")
    one_of("metric", metric, TABLE)
    beta = positive("beta", beta) if TABLE[metric].depends_on_beta else 1.0
    method = _check_method(metric, method, beta)
    level = open_probability("level", level)
    prior = positive("prior", prior)
    counts_for(metric, counts)
    clustered = flag("clustered", clustered)
    options = IntervalOptions(level=level, beta=beta, prior=prior, clustered=clustered)
    signature = options.signature("interval", metric, method)
    if clustered:
        from probative.inference.units import dependence_of_score

        number = _check_multiplicity(counts, multiplicity)
        dependence = dependence_of_score(counts, metric, beta=beta, number=number)
        table = counts.sum() if number is None else (counts * number).sum()
        # from the undivided counts: dividing before taking the ratio would cost the last digit
        estimate = score(table, metric, beta=beta)
        low, high, note = limits_of_units(table, dependence, metric, method, level, beta, prior)
        if method not in _POSTERIOR_METHODS and not np.isnan(estimate):
            low, high = min(low, estimate), max(high, estimate)  # rounding must not leave it out
        effect = dependence.design_effect
        return Interval(metric, method, level, estimate, low, high, note, effect, signature)
    if multiplicity is not None:
        raise InputError("multiplicity: has no effect without units; expected clustered=True")

    how = metric, method, _Reach.normal(level), beta, prior
    estimate, low, high, code = _blockwise(counts, *how)
    note = _NOTES[code] if np.any(code) else None
    return Interval(metric, method, level, estimate, low, high, note, signature=signature)


def _check_multiplicity(units: Counts, multiplicity: ArrayLike | None) -> Any:
    """Return the number of units that each row stands for as an array; None if each is one."""
    if len(units.shape) != 1:
        raise InputError(
            f"clustered: counts of shape {units.shape}; expected arrays with one row per unit"
        )
    if multiplicity is None:
        return None
    number = amounts("multiplicity", multiplicity)
    if number.shape != units.shape:
        raise InputError(
            f"multiplicity: shape {number.shape}; expected one number per row, {units.shape}"
        )
    return number


def limits_of_units(
    table: Counts,
    dependence: Dependence,
    metric: str,
    method: str,
    level: float,
    beta: float = 1.0,
    prior: float = 1.0,
) -> tuple[float, float, str | None]:
    """Return both ends and the note of an interval from the summed units and their dependence."""
    if dependence.no_evidence:
        undefined = np.isnan(score(table, metric, beta=beta))
        return *bounds(metric), _NOTES[_UNDEFINED] if undefined else dependence.note
    reach = _Reach.students(dependence, level)
    divided = table / dependence.divisor
    _, low, high, code = _limits(divided, metric, method, reach, beta, prior)
    notes = [note for note in (dependence.note, _NOTES[int(code)]) if note]
    # of a tail that is almost 0, as with two units, SciPy may find no quantile
    least, most = bounds(metric)
    low, high = least if np.isnan(low) else float(low), most if np.isnan(high) else float(high)
    return low, high, "; ".join(notes) or None


@dataclass(frozen=True)
class _Reach:
    """The distance of the ends from the estimate: in standard errors, and as a tail probability."""

    # With few degrees of freedom, Student's quantile leaves a normal tail so small that 1 minus it
    # rounds to 1; therefore the tail is stored, not the level.

    z: float
    tail: float

    @classmethod
    def normal(cls, level: float) -> _Reach:
        return cls(normal_quantile(level), (1 - level) / 2)

    @classmethod
    def students(cls, dependence: Dependence, level: float) -> _Reach:
        t = dependence.quantile(level)
        return cls(t, float(special.ndtr(-t)))


def methods_for(metric: str, beta: float = 1.0) -> tuple[str, ...]:
    """Return the interval methods for a metric, the recommended one first."""
    entry = TABLE[one_of("metric", metric, TABLE)]
    if isinstance(entry, Composite):
        return _SUM_METHODS if metric in _PROPORTIONS_OF_SUM else _COMPOSITE_METHODS
    share = entry.share(beta**2)
    known = {1.0: _PROPORTION_METHODS, 2.0: _F1_METHODS}
    return _FBETA_METHODS if share is None else known.get(share.factor, _FBETA_METHODS)


def default_method(metric: str, beta: float = 1.0) -> str:
    """Return the recommended interval method for a metric."""
    return methods_for(metric, beta)[0]


def _check_method(metric: str, method: str | None, beta: float) -> str:
    methods = methods_for(metric, beta)
    if method is None:
        return methods[0]
    one_of("method", method, METHODS)
    if "wilson" in methods and method.startswith("wilson"):
        return "wilson"  # both Wilson methods give the same interval for a plain proportion
    if method not in methods:
        name = metric if beta == 1 else f"{metric} with beta {beta:g}"
        raise InputError(
            f"method: {method!r} makes no sense for {name}; expected one of {', '.join(methods)}"
        )
    return method


def _blockwise(counts: Counts, *how: Any) -> tuple[Any, Any, Any, Any]:
    """Apply `_limits` to a large array of tables block by block."""
    size = int(np.prod(counts.shape))
    if size <= _TABLES_AT_ONCE:
        parts = _limits(counts, *how)
        estimate, low, high, code = parts if counts.shape else (np.asarray(p).item() for p in parts)
        return estimate, low, high, code
    flat = counts if len(counts.shape) == 1 else counts.reshape(size)
    out: list[Any] = [np.empty(size), np.empty(size), np.empty(size), np.empty(size, np.uint8)]
    for start in range(0, size, _TABLES_AT_ONCE):
        block = slice(start, start + _TABLES_AT_ONCE)
        for whole, part in zip(out, _limits(flat[block], *how), strict=True):
            whole[block] = part
    estimate, low, high, code = (whole.reshape(counts.shape) for whole in out)
    return estimate, low, high, code


def _limits(
    counts: Counts, metric: str, method: str, reach: _Reach, beta: float, prior: float
) -> tuple[Any, Any, Any, Any]:
    """Return estimate, both ends of the interval, and the code of the note, for every table."""
    estimate = np.asarray(score(counts, metric, beta=beta))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        low, high = _limits_by_method(counts, metric, method, reach, beta, prior)
        code = np.zeros(estimate.shape, dtype=np.uint8)
        least, most = bounds(metric)
        if isinstance(TABLE[metric], Composite) and method in PRIOR_ITEMS:
            # an estimate at its bound belongs to the interval, as in Jeffreys' for proportions
            low, high = np.fmin(low, estimate), np.fmax(high, estimate)
        elif method == "wald":
            code[(low < least) | (high > most)] = _OVERSHOOT
            code[low == high] = _DEGENERATE
        elif method in _POSTERIOR_METHODS:
            code[(estimate < low) | (estimate > high)] = _OUTSIDE
        elif method == "logit":
            extreme = (estimate == least) | (estimate == most)
            if extreme.any():
                low, high = np.array(low), np.array(high)
                low[extreme], high[extreme] = _of_posterior(
                    counts[extreme], metric, beta, prior, reach.tail
                )
                code[extreme] = _TAKEN_OVER
    undefined = np.isnan(estimate)
    if undefined.any():
        low, high = np.where(undefined, least, low), np.where(undefined, most, high)
        code[undefined] = _UNDEFINED
    return estimate, low, high, code


def _limits_by_method(
    counts: Counts, metric: str, method: str, reach: _Reach, beta: float, prior: float
) -> tuple[Any, Any]:
    z = reach.z
    entry = TABLE[metric]
    if method == "bayes":
        return _of_posterior(counts, metric, beta, prior, reach.tail)
    if isinstance(entry, Composite):
        return _of_composite(counts, entry, method, reach)
    if method == "logit":
        return _logit(counts, entry, beta, z)
    if method == "wald":
        return _wald(counts, entry, beta, z)
    share = entry.share(beta**2)
    assert share is not None  # noqa: S101  # other methods are those of proportions and F1
    right, items = share.proportion(counts)
    if method == "wilson-direct":
        return _wilson_direct(right, items, z)
    if method == "clopper-pearson":
        ends = clopper_pearson(right, items, reach.tail)
    elif method == "jeffreys":
        ends = _jeffreys(right, items, reach.tail)
    else:
        return wilson(right, items, z, of_f1=share.factor == 2)
    low, high = map(share.score, ends)
    return low, high


def _of_composite(counts: Counts, entry: Composite, method: str, reach: _Reach) -> tuple[Any, Any]:
    """Return the interval of a score that is not a ratio of linear forms."""
    cells = entry.cells(counts)
    if method in PRIOR_ITEMS:
        # each end from a posterior of its own, with the prior items of this method
        table = np.stack(np.broadcast_arrays(*cells), axis=-1).astype(np.float64)
        how = entry.name, reach.tail, PRIOR_ITEMS[method]
        rows = [_limits_of_cells(*how, *row) for row in table.reshape(-1, 4).tolist()]
        limits = np.array(rows).reshape(*table.shape[:-1], 2)
        return limits[..., 0], limits[..., 1]
    value = entry.value(*cells)
    if method == "mover":  # from Wilson's intervals of two independent proportions
        below: Any = 0.0
        above: Any = 0.0
        for part in _PROPORTIONS_OF_SUM[entry.name]:
            x, n = ratio(counts, part)
            low, high = wilson(x, n, reach.z)
            below, above = below + (x / n - low) ** 2, above + (high - x / n) ** 2
        # 1/2 for balanced accuracy, the mean of two proportions
        scale = (entry.high - entry.low) / 2
        return value - scale * np.sqrt(below), value + scale * np.sqrt(above)
    variance = sum(n * d**2 for n, d in zip(cells, entry.slopes(*cells), strict=True))
    deviation = reach.z * np.sqrt(variance)
    if method == "wald":
        return value - deviation, value + deviation
    # on the scale of log odds between the bounds; for bounds of -1 and 1 this is Fisher's z
    width = entry.high - entry.low
    place = (value - entry.low) / width
    centre, step = special.logit(place), deviation / width / (place * (1 - place))
    low, high = (entry.low + width * special.expit(end) for end in (centre - step, centre + step))
    return low, high


# cached, because the interval of a difference (MOVER) is made from the same ends
@lru_cache(maxsize=2**12)
def _limits_of_cells(
    metric: str, tail: float, prior: tuple[float, float], *cells: float
) -> tuple[float, float]:
    for_low, for_high = pessimist_and_optimist(metric, prior, *cells)
    return float(for_low.ppf(tail)), float(for_high.isf(tail))


def pessimist_and_optimist(
    metric: str, prior: tuple[float, float], *cells: float
) -> tuple[CompositePosterior, CompositePosterior]:
    """Return the posteriors of which an interval takes its lower and its upper end."""
    from probative.inference.posterior.single import CompositePosterior

    tp, fp, fn, tn = cells
    few, many = prior
    return (
        CompositePosterior(metric, [tp + few, fp + many, fn + many, tn + few]),
        CompositePosterior(metric, [tp + many, fp + few, fn + few, tn + many]),
    )


def _of_posterior(
    counts: Counts, metric: str, beta: float, prior: float, tail: float
) -> tuple[Any, Any]:
    """Return the equal-tailed interval of the posterior."""
    from probative.inference.posterior.single import posterior  # few intervals need it

    density = posterior(counts, metric, prior=prior, beta=beta)
    return density.ppf(tail), density.isf(tail)


def _wald(counts: Counts, entry: Metric, beta: float, z: float) -> tuple[Any, Any]:
    """Add and subtract z standard errors (delta method); may leave [0, 1] or have no width."""
    top, bottom = ratio(counts, entry.name, beta=beta)
    value = top / bottom
    above, below = entry.forms(beta**2)
    pulls = [x - value * y if y else 0 for x, y in zip(above, below, strict=True)]
    reach = z * np.sqrt(_sum_of_squares(counts, pulls)) / bottom
    return value - reach, value + reach


def _logit(counts: Counts, entry: Metric, beta: float, z: float) -> tuple[Any, Any]:
    """Return the interval on the scale of log odds, by the delta method."""
    top, bottom = ratio(counts, entry.name, beta=beta)
    rest = bottom - top
    hits, all_weights = entry.forms(beta**2)
    misses = [y - x for x, y in zip(hits, all_weights, strict=True)]
    variance = _sum_of_squares(counts, hits) / top**2 + _sum_of_squares(counts, misses) / rest**2
    centre, reach = np.log(top / rest), z * np.sqrt(variance)
    return special.expit(centre - reach), special.expit(centre + reach)


def _sum_of_squares(counts: Counts, weights: Sequence[Any]) -> Any:
    """Return the sum over all items of the squared weight of each."""
    weighed = zip(CELLS, weights, strict=True)
    return sum(getattr(counts, cell) * w**2 for cell, w in weighed if np.any(w))
