"""Macro averages: the plain mean of a score over several labels.

A macro average is no score of summed counts, so nothing binomial is left. Its interval comes from
the delta method: every unit moves the average by the mean of its influences on the labels' scores,
and the variance is that of these moves. The test exchanges whole units at random; an exact one
would have to walk on a lattice with two dimensions a label.

A label whose score has an empty denominator counts as 0, as in scikit-learn's default.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import one_of, open_probability, positive, random_generator, whole_number
from probative.errors import InputError
from probative.metrics import METRICS, ratio, score
from probative.results import Difference, Interval, RandomizationTest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative.counts import Counts

__all__ = ["macro_difference", "macro_interval", "macro_score", "macro_test", "normal_tail"]

_RARE = 10  # items of a label below which the delta method covers less than it promises
_AT_ONCE = 1 << 22  # numbers held in memory while exchanges are drawn


def macro_score(counts: Counts, metric: str = "f1", *, beta: float = 1.0) -> float:
    """The mean of a score over labels.

    Parameters
    ----------
    counts
        A row a unit and a column a label.
    metric, beta
        The score.

    Examples
    --------
    >>> import probative as pv
    >>> from probative.inference.macro import macro_score
    >>> two_labels = pv.Counts(tp=[[8, 1]], fp=[[2, 1]], fn=[[0, 2]])
    >>> round(macro_score(two_labels), 4)
    0.6444
    """
    by_label = _by_label(counts, metric)
    if not len(by_label):
        return math.nan
    return float(np.mean(score(by_label, metric, beta=beta, zero_division=0)))


def macro_interval(
    counts: Counts, metric: str = "f1", *, level: float = 0.95, beta: float = 1.0
) -> Interval:
    """An interval for a macro average, by the delta method on the scale of log odds.

    Parameters
    ----------
    counts
        A row a unit (sentence, item) and a column a label.
    metric, level, beta
        As for `probative.interval`.
    """
    level = open_probability("level", level)
    estimate = macro_score(counts, metric, beta=beta)
    if math.isnan(estimate):
        note = "undefined: there are no labels"
        return Interval(f"macro_{metric}", "delta", level, estimate, 0.0, 1.0, note)
    deviation = _deviation(_shifts(counts, metric, beta))
    name = f"macro_{metric}"
    if not 0 < estimate < 1 or math.isnan(deviation):
        note = "the variance cannot be told at this extreme"
        return Interval(name, "delta", level, estimate, 0.0, 1.0, note)
    reach = _quantile(len(counts), level) * deviation / (estimate * (1 - estimate))
    centre = special.logit(estimate)
    low, high = special.expit([centre - reach, centre + reach]).tolist()
    return Interval(name, "delta", level, estimate, low, high, _rare_note(counts))


def macro_difference(
    a: Counts, b: Counts, metric: str = "f1", *, level: float = 0.95, beta: float = 1.0
) -> tuple[Difference, float]:
    """The difference of two macro averages with its interval, and its standard error.

    Parameters
    ----------
    a, b
        The counts of the two systems on the same units and labels, a row a unit and a column a
        label.
    metric, level, beta
        As for `probative.difference`.
    """
    _same_shape(a, b)
    level = open_probability("level", level)
    macro_a, macro_b = (macro_score(c, metric, beta=beta) for c in (a, b))
    moves = [_shifts(c, metric, beta) for c in (a, b)]
    deviation = _deviation(moves[1] - moves[0])
    estimate = macro_b - macro_a
    low, high, note = -1.0, 1.0, None
    if math.isnan(estimate):
        note = "undefined: there are no labels"
    elif math.isnan(deviation):
        note = "one unit tells nothing of the variance"
    else:
        reach = _quantile(len(a), level) * deviation
        low, high = max(low, estimate - reach), min(high, estimate + reach)
    spread = [float(np.sqrt(np.sum(move**2))) for move in moves]
    together = float(np.sum(moves[0] * moves[1]))
    correlation = together / math.prod(spread) if all(spread) else 0.0
    limits = estimate, low, high
    found = Difference(
        f"macro_{metric}", "delta", level, *limits, macro_a, macro_b, correlation, note=note
    )
    return found, deviation


def normal_tail(distance: float, deviation: float) -> float:
    """The probability that a normal variate exceeds its mean by more than a distance.

    Without deviation it never differs from its mean; NaN where the deviation is not known.
    """
    if deviation == 0:
        return float(distance < 0)
    return float(special.ndtr(-distance / deviation))


def macro_test(
    a: Counts,
    b: Counts,
    metric: str = "f1",
    *,
    by: str = "unit",
    n_resamples: int = 10_000,
    rng: Any = None,
    beta: float = 1.0,
) -> RandomizationTest:
    """Test two macro averages by random exchanges of whole units, two-sided.

    Parameters
    ----------
    a, b
        The counts of the two systems on the same units and labels.
    metric, beta
        The score.
    by
        What the units are called.
    n_resamples, rng
        How many exchanges to draw, and a seed or generator for them.
    """
    _same_shape(a, b)
    one_of("metric", metric, METRICS)
    n_resamples = whole_number("n_resamples", n_resamples, most=10**9)
    generator = random_generator(rng)
    parts = [np.stack(ratio(c, metric, beta=beta)) for c in (a, b)]  # numerators, denominators
    moves, number = _distinct_moves(parts[0] - parts[1])
    totals_a, totals_b = (part.sum(axis=1) for part in parts)
    observed = float(_mean_ratio(totals_b) - _mean_ratio(totals_a))

    extreme = 0
    width = max(1, len(number), totals_b.size)
    for start in range(0, n_resamples, step := max(1, _AT_ONCE // width)):
        draws = min(step, n_resamples - start)
        exchanged = generator.binomial(number, 0.5, size=(draws, len(number)))
        moved = exchanged.astype(np.float64) @ moves.reshape(len(number), totals_b.size)
        new_b = totals_b + moved.reshape(draws, *totals_b.shape)
        differences = _mean_ratio(new_b) - _mean_ratio(totals_a + totals_b - new_b)
        # a tie that rounding would break is still a tie
        extreme += int(np.count_nonzero(np.abs(differences) >= abs(observed) - 1e-12))
    pvalue = (extreme + 1) / (n_resamples + 1)
    return RandomizationTest(
        metric=f"macro_{metric}",
        alternative="two-sided",
        by=by,
        method="sampled",
        statistic=observed,
        pvalue=pvalue,
        n_units=len(a),
        n_resamples=n_resamples,
        standard_error=math.sqrt(pvalue * (1 - pvalue) / n_resamples),
    )


def _rare_note(counts: Counts) -> str | None:
    """A warning where simulation shows that the interval is too short."""
    rarest = counts.positives.sum(axis=0).min(initial=np.inf)
    if rarest >= _RARE:
        return None
    return f"a label with fewer than {_RARE} items to be found: the interval may be too short"


def _by_label(counts: Counts, metric: str) -> Counts:
    one_of("metric", metric, METRICS)
    if len(counts.shape) != 2:
        raise InputError(f"counts: shape {counts.shape}; expected a row a unit, a column a label")
    return counts._map(lambda column: column.sum(axis=0))


def _shifts(counts: Counts, metric: str, beta: float) -> NDArray[np.float64]:
    """How far each unit moves the macro average."""
    beta = positive("beta", beta)
    x, y = ratio(counts, metric, beta=beta)
    total = y.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        influence = (x - x.sum(axis=0) / total * y) / total
    return np.asarray(np.where(total > 0, influence, 0.0).sum(axis=1) / max(1, len(total)))


def _deviation(moves: NDArray[np.float64]) -> float:
    n = len(moves)
    return math.sqrt(n / (n - 1) * float(np.sum(moves**2))) if n > 1 else math.nan


def _quantile(n_units: int, level: float) -> float:
    return float(special.stdtrit(max(1, n_units - 1), (1 + level) / 2))


def _mean_ratio(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    top, bottom = totals[..., 0, :], totals[..., 1, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = np.where(bottom > 0, top / bottom, 0.0)
    return np.asarray(scores.sum(axis=-1) / max(1, scores.shape[-1]))


def _distinct_moves(
    moves: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The distinct changes that exchanging a unit makes, and how many units make each."""
    rows = np.moveaxis(moves, 1, 0).reshape(moves.shape[1], -1)
    rows = rows[np.any(rows != 0, axis=1)]
    distinct, number = np.unique(rows, axis=0, return_counts=True)
    return distinct.reshape(len(number), 2, moves.shape[2]), number


def _same_shape(a: Counts, b: Counts) -> None:
    if a.shape != b.shape:
        raise InputError(f"b: shape {b.shape} differs from the shape of a, {a.shape}")
