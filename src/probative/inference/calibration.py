"""Compute the calibration of probabilities: reliability, calibration errors, the Brier score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize, special

from probative.counts import Counts
from probative.inference.intervals import interval
from probative.inference.proportions import normal_quantile
from probative.results import Calibration, CalibrationBin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative._validation import Array

__all__ = ["calibration"]

_FEWEST_ITEMS_PER_BIN = 5  # on average
_DEPENDENT = "items of units: the interval of the calibration error may be too short"
_MEAN_OF_ABSOLUTE_NORMAL = math.sqrt(2 / math.pi)  # the mean of |z| for a standard normal z


def calibration(
    is_positive: NDArray[np.bool_],
    probabilities: Array,
    *,
    level: float,
    bins: int,
    unit: NDArray[np.int64] | None = None,
) -> Calibration:
    """Compare probabilities with gold in at most `bins` bins of about equally many items.

    Equal probabilities stay in one bin, and a bin has at least five items on average.
    """
    group = _equal_mass(
        probabilities, min(bins, max(1, len(probabilities) // _FEWEST_ITEMS_PER_BIN))
    )
    all_bins = [
        _bin(group == k, is_positive, probabilities, unit, level) for k in range(group.max() + 1)
    ]
    share = np.array([bin_.items for bin_ in all_bins]) / len(probabilities)
    gap = np.array([bin_.share - bin_.mean for bin_ in all_bins])
    # noise of the share of positives per bin: as observed, and if every probability were right
    noise = np.array([_variance(bin_) for bin_ in all_bins])
    expected = np.bincount(group, weights=probabilities * (1 - probabilities))
    chance = np.sqrt(expected) / np.array([bin_.items for bin_ in all_bins])
    error = float(share @ np.abs(gap))
    debiased = _debiased(share, gap, np.sqrt(noise))
    together = 1.0 if unit is None else _together(is_positive, group, gap, unit)
    low, high = _limits_of_error(all_bins, share, gap, together, level)
    brier, parts = _brier(is_positive, probabilities)
    return Calibration(
        bins=tuple(all_bins),
        ece=error,
        ece_by_chance=float(share @ chance) * _MEAN_OF_ABSOLUTE_NORMAL,
        ece_debiased=debiased,
        ece_low=min(low, debiased),
        ece_high=max(high, debiased),
        squared_error=float(share @ (gap**2 - noise)),
        brier=brier,
        miscalibration=parts[0],
        discrimination=parts[1],
        uncertainty=parts[2],
        level=level,
        note=None if unit is None else _DEPENDENT,
    )


def _equal_mass(values: Array, bins: int) -> Any:
    """Return the bin of every item: about equally many per bin, equal values in one."""
    cuts = np.quantile(values, np.arange(1, bins) / bins, method="higher")
    group = np.searchsorted(np.unique(cuts), values, side="right")
    return np.unique(group, return_inverse=True)[1].reshape(-1)


def _bin(chosen: Any, is_positive: Any, probabilities: Array, unit: Any, level: float) -> Any:
    said, came = probabilities[chosen], is_positive[chosen].astype(float)
    right, wrong = came, 1.0 - came
    if unit is None:
        counts, clustered = Counts(float(right.sum()), 0.0, float(wrong.sum())), False
    else:
        sums = (np.bincount(unit[chosen], weights=w) for w in (right, wrong))
        right, wrong = (np.asarray(s) for s in sums)
        counts, clustered = Counts(right, np.zeros_like(right), wrong), True
    limits = interval(counts, "recall", level=level, clustered=clustered)
    return CalibrationBin(
        low_edge=float(said.min()),
        high_edge=float(said.max()),
        items=len(said),
        positives=int(came.sum()),
        mean=float(said.mean()),
        share=float(came.mean()),
        low=float(limits.low),
        high=float(limits.high),
        design_effect=None if limits.design_effect is None else float(limits.design_effect),
    )


def _variance(bin_: CalibrationBin) -> float:
    """Return an unbiased estimate of the variance of the share; for one item, the largest."""
    if bin_.items < 2:
        return 0.25
    effect = bin_.design_effect
    factor = 1.0 if effect is None or math.isnan(effect) else max(1.0, effect)
    return factor * bin_.share * (1 - bin_.share) / (bin_.items - 1)


def _debiased(share: Array, gap: Array, deviation: Array) -> float:
    """Return the calibration error without the part that chance adds.

    Absolute gaps are too large on average, because chance makes gaps where there are none. The gaps
    are shrunk by one factor such that, with noise of the observed size, the expected error is the
    observed one; the result is 0 if noise alone gives as much.
    """
    seen = float(share @ np.abs(gap))

    def shown(factor: float) -> float:
        return float(share @ _mean_of_absolute(factor * gap, deviation)) - seen

    if seen == 0 or shown(0.0) >= 0:
        return 0.0
    return seen * (float(optimize.brentq(shown, 0.0, 1.0)) if shown(1.0) > 0 else 1.0)


def _likely(bin_: CalibrationBin) -> float:
    """Return the standard error of the share; half an item more of each kind keeps it above 0."""
    effect = bin_.design_effect
    factor = 1.0 if effect is None or math.isnan(effect) else max(1.0, effect)
    share = (bin_.positives + 0.5) / (bin_.items + 1)
    return math.sqrt(factor * share * (1 - share) / max(1, bin_.items - 1))


def _limits_of_error(
    bins: Sequence[CalibrationBin], share: Array, gap: Array, together: float, level: float
) -> tuple[float, float]:
    """Return the interval of the calibration error.

    Lower end: all gaps are moved towards 0, at most to 0, by the number of standard errors for
    which the observed error is at its upper quantile. Upper end, by MOVER: every gap may be as
    large as the Wilson interval of its bin allows. The variance is that of the bins times
    `together`.
    """
    size, seen = np.abs(gap), float(share @ np.abs(gap))
    deviation = np.array([_likely(bin_) for bin_ in bins])

    def nearer(by: float) -> Array:
        return np.maximum(0.0, size - by * deviation)

    def beyond(by: float) -> float:
        """Return the upper quantile of the error with these gaps minus the observed error."""
        mean = _mean_of_absolute(nearer(by), deviation)
        variance = share**2 @ np.maximum(0.0, nearer(by) ** 2 + deviation**2 - mean**2)
        chance = math.sqrt(together * float(variance))
        return float(share @ mean) + normal_quantile(level) * chance - seen

    most = float(np.max(size / deviation))
    low = 0.0
    if beyond(most) < 0:
        low = float(share @ nearer(float(optimize.brentq(beyond, 0.0, most))))
    largest = [max(bin_.mean - bin_.low, bin_.high - bin_.mean) for bin_ in bins]
    above = share * np.maximum(0.0, largest - size)
    return low, min(float(share @ largest), seen + math.sqrt(together * float(above @ above)))


def _together(is_positive: Any, group: Any, gap: Array, unit: Any) -> float:
    """Return the ratio of the variance of the error to that of independent bins, at least 1.

    Items of one unit that lie in several bins move their gaps together.
    """
    share = np.bincount(group, weights=is_positive) / np.bincount(group)
    moves = np.sign(gap)[group] * (is_positive - share[group])
    cells = np.unique(unit * len(gap) + group, return_inverse=True)[1]
    apart = float(np.sum(np.bincount(cells, weights=moves) ** 2))
    return max(1.0, float(np.sum(np.bincount(unit, weights=moves) ** 2)) / apart) if apart else 1.0


def _mean_of_absolute(mean: Array, deviation: Array) -> Array:
    """Return the mean of |x| for a normal x."""
    spread = np.where(deviation > 0, deviation, 1.0)
    z = mean / spread
    folded = spread * _MEAN_OF_ABSOLUTE_NORMAL * np.exp(-(z**2) / 2) + mean * special.erf(
        z / math.sqrt(2)
    )
    return np.where(deviation > 0, folded, np.abs(mean))


def _brier(is_positive: Any, probabilities: Array) -> tuple[float, tuple[float, float, float]]:
    """Return the Brier score, and its parts by the best monotone recalibration.

    Miscalibration is the gain of recalibration, discrimination the gain of the recalibrated
    probabilities over the share of positives. The score is miscalibration minus discrimination plus
    the uncertainty of that share.
    """
    came = is_positive.astype(float)
    order = np.argsort(probabilities, kind="stable")
    _, first, number = np.unique(probabilities[order], return_index=True, return_counts=True)
    means = np.add.reduceat(came[order], first) / number
    fitted = optimize.isotonic_regression(means, weights=number).x
    recalibrated = np.repeat(fitted, number)
    brier = float(np.mean((probabilities - came) ** 2))
    best = float(np.mean((recalibrated - came[order]) ** 2))
    share = float(came.mean())
    uncertain = share * (1 - share)
    return brier, (max(0.0, brier - best), max(0.0, uncertain - best), uncertain)
