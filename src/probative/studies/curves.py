"""Do the intervals of curves hold what they promise? By simulation.

Scores of negatives are standard normal, those of positives lie `distance` higher, so that every
true value is known. "tied": scores are rounded to halves. "units": five items each share half of
the variance of their scores. Test sets have a fixed expected number of positives; those with fewer
than two are drawn again, since they tell nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import one_of, open_probability, positive, random_generator, whole_number
from probative.inference.average_precision import average_precision_interval
from probative.inference.best_threshold import best_threshold
from probative.inference.curve_bands import pointwise_band, simultaneous_band
from probative.inference.ranked import Ranked
from probative.inference.roc_area import roc_auc_interval
from probative.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from probative._types import RNG, Array

__all__ = ["KINDS", "CurveCoverage", "curve_study", "draw_scores"]

KINDS = ("continuous", "tied", "units")
_GRID, _UNIT, _SHARED = 0.5, 5, 0.5


@dataclass(frozen=True, eq=False, repr=False)
class CurveCoverage(Result):
    """How often the intervals of a curve hold the truth under one condition.

    Attributes
    ----------
    kind, share, positives, distance
        The condition: how scores are drawn, the share of positives, their expected number, and how
        far their scores lie above the others.
    average_precision
        The true one.
    covered_ap, length_ap, covered_auc
        How often the intervals of average precision and of the area under the ROC curve hold it;
        the mean length of the first.
    covered_point
        How often precision and recall at a fixed threshold each lie within pointwise limits (the
        lower of the two).
    covered_curve
        How often the whole curve lies within the simultaneous band.
    covered_naive, covered_best
        How often the F1 that the chosen threshold truly has lies within the interval that knows
        nothing of the choice, and within ours.
    bias_naive, bias_best
        How much too high F1 is on average, as seen and corrected.
    covered_threshold
        How often the interval of thresholds holds the best one; NaN where taking everything for
        "yes" is best.
    standard_error
        The Monte-Carlo error of a coverage of 0.95.
    """

    kind: str
    share: float
    positives: int
    distance: float
    average_precision: float
    covered_ap: float
    length_ap: float
    covered_auc: float
    covered_point: float
    covered_curve: float
    covered_naive: float
    covered_best: float
    bias_naive: float
    bias_best: float
    covered_threshold: float
    standard_error: float

    def __str__(self) -> str:
        return (
            f"{self.kind}, {self.positives} positives of {self.share:g}, distance "
            f"{self.distance:g}: average precision {self.covered_ap:.3f}"
        )


@dataclass(frozen=True)
class _Truth:
    """True values by threshold."""

    share: float
    distance: float
    grid: float

    def taken(self, t: Any, mean: float) -> Any:
        """The share of scores about a mean that reach a threshold."""
        edge = np.ceil(np.asarray(t) / self.grid) * self.grid - self.grid / 2 if self.grid else t
        return special.ndtr(mean - np.asarray(edge))

    def recall(self, t: Any) -> Any:
        return self.taken(t, self.distance)

    def precision(self, t: Any) -> Any:
        right = self.share * self.recall(t)
        return right / np.maximum(right + (1 - self.share) * self.taken(t, 0.0), 1e-300)

    def f1(self, t: Any) -> Any:
        right = self.share * self.recall(t)
        taken = right + (1 - self.share) * self.taken(t, 0.0)
        return 2 * right / (self.share + taken)

    @property
    def thresholds(self) -> Array:
        step = self.grid or 1e-3
        return np.arange(-7.0, 8.0 + self.distance, step)[::-1]

    @property
    def average_precision(self) -> float:
        t = self.thresholds
        return float(np.diff(self.recall(t), prepend=0.0) @ self.precision(t))

    @property
    def roc_auc(self) -> float:
        t = self.thresholds
        false = self.taken(t, 0.0)
        middle = false - np.diff(false, prepend=0.0) / 2
        return float(np.diff(self.recall(t), prepend=0.0) @ (1 - middle))

    @property
    def best(self) -> float:
        t = self.thresholds
        return float(t[np.argmax(self.f1(t))])


def draw_scores(
    kind: str, share: float, positives: int, distance: float, rng: np.random.Generator
) -> Ranked:
    """Draw a test set.

    Parameters
    ----------
    kind, share, positives, distance
        The condition.
    rng
        For the draws.
    """
    n = round(positives / share)
    while True:
        yes = rng.random(n) < share
        if yes.sum() > 1 and not yes.all():
            break
    unit = np.arange(n) // _UNIT if kind == "units" else None
    noise = rng.standard_normal(n)
    if unit is not None:
        common = rng.standard_normal(n // _UNIT + 1)[unit]
        noise = math.sqrt(_SHARED) * common + math.sqrt(1 - _SHARED) * noise
    scores = noise + distance * yes
    return Ranked.of(yes, np.round(scores / _GRID) * _GRID if kind == "tied" else scores, unit)


def curve_study(
    *,
    positives: Sequence[int] = (5, 20, 100, 1000),
    shares: Sequence[float] = (0.5, 0.05, 0.01),
    distances: Sequence[float] = (0.0, 1.0, 2.0, 3.0),
    kinds: Sequence[str] = KINDS,
    level: float = 0.95,
    replicates: int = 400,
    rng: RNG | None = 0,
    report: Callable[[int, int], None] | None = None,
) -> list[CurveCoverage]:
    """Draw test sets under many conditions, and see how often intervals hold the truth.

    Parameters
    ----------
    positives, shares, distances, kinds
        The conditions: all combinations.
    level
        The level of the intervals.
    replicates
        Test sets per condition; with 1,000 positives a quarter of them.
    rng
        A seed or generator.
    report
        Is told how many conditions are done, and how many there are.
    """
    level = open_probability("level", level)
    replicates = whole_number("replicates", replicates)
    generator = random_generator(rng)
    conditions = [
        (
            one_of("kinds", kind, KINDS),
            open_probability("shares", share),
            whole_number("positives", number, least=2),
            positive("distances", distance, zero=True),
        )
        for kind in kinds
        for share in shares
        for number in positives
        for distance in distances
    ]
    results = []
    for done, condition in enumerate(conditions, start=1):
        times = replicates if condition[2] < 1000 else max(1, replicates // 4)
        results.append(_covered(condition, level, times, generator))
        if report is not None:
            report(done, len(conditions))
    return results


def _covered(
    condition: tuple[str, float, int, float], level: float, times: int, rng: np.random.Generator
) -> CurveCoverage:
    kind, share, _, distance = condition
    truth = _Truth(share, distance, _GRID if kind == "tied" else 0.0)
    rows = np.array(
        [_one_test_set(draw_scores(*condition, rng), truth, level, rng) for _ in range(times)]
    )
    ap, length, auc, precision, recall, curve, naive, best, bias, left, place = rows.mean(axis=0)
    edge = truth.best <= truth.thresholds[-1] + 1
    return CurveCoverage(
        *condition,
        average_precision=truth.average_precision,
        covered_ap=ap,
        length_ap=length,
        covered_auc=auc,
        covered_point=min(precision, recall),
        covered_curve=curve,
        covered_naive=naive,
        covered_best=best,
        bias_naive=bias,
        bias_best=left,
        covered_threshold=math.nan if edge else float(place),
        standard_error=math.sqrt(0.95 * 0.05 / times),
    )


def _one_test_set(
    ranked: Ranked, truth: _Truth, level: float, rng: np.random.Generator
) -> list[float]:
    ap, auc = average_precision_interval(ranked, level), roc_auc_interval(ranked, level)
    fixed = 0.5 * round(truth.distance)  # chosen without the data
    at = int(np.searchsorted(-ranked.thresholds, -fixed, side="right")) - 1
    one, all_ = pointwise_band(ranked, level), simultaneous_band(ranked, level)
    best = best_threshold(ranked, level, 1.0, rng)
    true_f1 = float(truth.f1(best.threshold))
    return [
        ap.low <= truth.average_precision <= ap.high,
        float(ap.high - ap.low),
        auc.low <= truth.roc_auc <= auc.high,
        # where nothing reaches the threshold there are no limits: all that there is
        at < 0 or one.precision_low[at] <= truth.precision(fixed) <= one.precision_high[at],
        at < 0 or one.recall_low[at] <= truth.recall(fixed) <= one.recall_high[at],
        _all_within(all_, ranked.thresholds, truth),
        best.apparent_low <= true_f1 <= best.apparent_high,
        best.low <= true_f1 <= best.high,
        best.apparent - true_f1,
        best.estimate - true_f1,
        best.threshold_low <= truth.best <= best.threshold_high,
    ]


def _all_within(band: Any, thresholds: Array, truth: _Truth) -> bool:
    """Whether the truth lies within the band at every threshold, also between scores."""
    ends = [thresholds, np.append(np.nextafter(thresholds[1:], np.inf), thresholds[-1])]
    return all(
        bool(np.all((low <= of(t) + 1e-12) & (of(t) <= high + 1e-12)))
        for t in ends
        for of, low, high in (
            (truth.recall, band.recall_low, band.recall_high),
            (truth.precision, band.precision_low, band.precision_high),
        )
    )
