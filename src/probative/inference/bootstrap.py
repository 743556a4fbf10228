"""Compute paired bootstrap intervals of a difference by resampling whole units."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import one_of, open_probability, positive, random_generator, whole_number
from probative.counts import PairedCounts, paired_of
from probative.errors import InputError
from probative.inference.units import ONE_UNIT, contributions, correlation
from probative.metrics import METRICS, TABLE, Composite, span
from probative.options import DifferenceOptions
from probative.results import Difference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative._validation import RNG

_NUMBERS_AT_ONCE = 2**20  # bounds the memory
_FEWEST_UNITS = 50  # units; in simulations, intervals of fewer cover less than their level
_FEW_UNITS = f"fewer than {_FEWEST_UNITS} units: bootstrap intervals are too narrow"


def bootstrap_difference(
    paired: PairedCounts,
    metric: str = "f1",
    *,
    method: str = "percentile",
    level: float = 0.95,
    n_resamples: int = 10_000,
    rng: RNG | None = None,
    beta: float = 1.0,
) -> Difference:
    """Compute an interval for the difference of two scores, B minus A, by the paired bootstrap.

    Units (sentences, documents) are drawn with replacement; without units, items are. Equal units
    are drawn together, with one multinomial draw per resample, and only their contributions to the
    numerators and denominators of the scores are summed.

    Parameters
    ----------
    paired
        The cases of the two systems, one row per unit or one table of whole numbers. Units in
        which nothing counts for either system are left out.
    metric
        One of precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv.
    method
        "percentile", or "bca": corrected for bias and for a variance that changes with the
        difference (acceleration, by leaving out one unit at a time). With few units the
        corrections are estimated from too few data, and the coverage is lower.
    level
        The nominal coverage, in (0, 1).
    n_resamples, rng
        The number of resamples, and a seed or generator for them.
    beta
        The weight of recall in F-beta.

    References
    ----------
    B. Efron, "Better bootstrap confidence intervals", 1987.

    Examples
    --------
    >>> import probative as pv
    >>> paired = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
    >>> gap = pv.bootstrap_difference(paired, "f1", rng=1)
    >>> gap.method, round(gap.estimate, 4), bool(gap.low < 0 < gap.high)
    ('bootstrap-percentile', 0.0606, True)
    """
    paired_of("paired", paired)
    one_of("metric", metric, METRICS)
    one_of("method", method, ("percentile", "bca"))
    level = open_probability("level", level)
    n_resamples = whole_number("n_resamples", n_resamples, most=10**9)
    generator = random_generator(rng)
    beta = positive("beta", beta) if TABLE[metric].depends_on_beta else 1.0

    sums, number = _sufficient_statistics(paired, metric, beta)
    most = span(metric)
    a, b = (float(value) for value in _scores(number @ sums, metric))
    result = partial(
        Difference,
        metric=metric,
        method=f"bootstrap-{method}",
        level=level,
        estimate=b - a,
        a=a,
        b=b,
        correlation=correlation(paired.total(), metric, beta=beta),
        signature=DifferenceOptions(
            level=level, beta=beta, n_resamples=n_resamples, rng=rng
        ).signature("difference", metric, f"bootstrap-{method}"),
    )
    if math.isnan(b - a):
        return result(low=-most, high=most, note="undefined: the denominator of a score is 0")
    least = 2
    if paired.has_units:
        rows, units = contributions(paired, metric, beta=beta)
        least = min(int(units[y > 0].sum()) for _, y in rows)
    if min(least, number.sum()) < 2:
        return result(low=-most, high=most, note=ONE_UNIT)
    n, at_once, parts = int(number.sum()), max(1, _NUMBERS_AT_ONCE // len(number)), []
    for start in range(0, n_resamples, at_once):
        size = min(at_once, n_resamples - start)
        of_a, of_b = _scores(generator.multinomial(n, number / n, size) @ sums, metric)
        parts.append(of_b - of_a)
    drawn = np.concatenate(parts)
    undefined = int(np.count_nonzero(np.isnan(drawn)))
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn):
        return result(low=-most, high=most, note="a score is undefined in every resample")
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if method == "bca":
        left_a, left_b = _scores(number @ sums - sums, metric)  # without one unit of each kind
        tails = _bca_tails(tails, drawn, b - a, np.asarray(left_b - left_a), number)
    low, high = np.quantile(drawn, tails).tolist()
    notes = [
        f"left out {undefined} resamples with an undefined score" if undefined else None,
        _FEW_UNITS if number.sum() < _FEWEST_UNITS else None,
    ]
    return result(low=low, high=high, note="; ".join(filter(None, notes)) or None)


def _sufficient_statistics(
    paired: PairedCounts, metric: str, beta: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the contributions of distinct units to both scores, and their numbers."""
    # (x_A, y_A, x_B, y_B) for ratios x/y, the cells for composite scores
    if not paired.has_units and np.any(paired.cases != np.round(paired.cases)):
        raise InputError("paired: fractions of items cannot be drawn; expected whole cases")
    entry = TABLE[metric]
    if isinstance(entry, Composite):
        grouped, width = paired.grouped(), 7 + paired.has_negatives
        rows = PairedCounts((grouped.cases if paired.has_units else np.eye(8))[:, :width])
        number = grouped.multiplicity if paired.has_units else paired.cases
        number = np.ones(len(rows.cases)) if number is None else number[: len(rows.cases)]
        cells = [part for side in (rows.a, rows.b) for part in entry.cells(side)]
        kept = np.asarray(number) > 0
        return np.stack(cells, axis=-1)[kept], np.asarray(number)[kept].astype(np.int64)
    (a, b), number = contributions(paired.grouped(), metric, beta=beta)
    return np.stack([*a, *b], axis=-1), number.astype(np.int64)


def _scores(sums: NDArray[np.float64], metric: str) -> tuple[Any, Any]:
    entry = TABLE[metric]
    if isinstance(entry, Composite):
        cells = np.moveaxis(sums, -1, 0)
        return entry.value(*cells[:4]), entry.value(*cells[4:])
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums[..., 0] / sums[..., 1], sums[..., 2] / sums[..., 3]


def _bca_tails(
    tails: NDArray[np.float64],
    drawn: NDArray[np.float64],
    estimate: float,
    without: NDArray[np.float64],
    number: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the levels of the bootstrap quantiles that BCa uses."""
    below = (np.mean(drawn < estimate) + np.mean(drawn <= estimate)) / 2
    bias = special.ndtri(np.clip(below, 1 / (2 * len(drawn)), 1 - 1 / (2 * len(drawn))))
    usable = ~np.isnan(without)
    if not usable.any():
        return np.asarray(special.ndtr(2 * bias + special.ndtri(tails)))
    deviation = np.average(without[usable], weights=number[usable]) - without[usable]
    spread = float(number[usable] @ deviation**2)
    skew = float(number[usable] @ deviation**3) / (6 * spread**1.5) if spread > 0 else 0.0
    z = bias + special.ndtri(tails)
    return np.asarray(special.ndtr(bias + z / (1 - skew * z)))
