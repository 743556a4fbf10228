"""Do the intervals of curves hold what they promise? By simulation.

Scores of negatives are standard normal, those of positives lie higher, so far that the area under
the ROC curve is a given one; every true value is known. "tied": scores are rounded to halves.
"coarse": rounded to even numbers, so that three or four scores are all there are. "missed":
positives lie far above all others, but for some that are like negatives. "units": items of a unit,
five on average and of any number, share half of the variance of their scores. Test sets have a
fixed expected number of positives; those with fewer than two are drawn again, since they tell
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import special

from probative._validation import RNG, Array, Ints, Mask, one_of, open_probability, whole_number
from probative.inference.curve_difference import compare_ranked
from probative.inference.curves import (
    Ranked,
    average_precision_interval,
    best_threshold,
    calibration,
    pointwise_band,
    roc_auc_interval,
    simultaneous_band,
)
from probative_studies.harness import Report, Row, checked, monte_carlo_error, one_stream, quiet

KINDS = ("continuous", "tied", "coarse", "missed", "units")
_GRIDS = {"tied": 0.5, "coarse": 2.0}
_UNIT, _SHARED, _FAR = 5, 0.5, 8.0


@dataclass(frozen=True, eq=False, repr=False)
class OrderCoverage(Row):
    """Coverage of the intervals of average precision and of the area under the ROC curve."""

    kind: str  # the condition: how scores are drawn
    share: float  # of positives
    positives: int  # expected
    area: float  # under the ROC curve before scores are rounded
    average_precision: float  # the true ones
    roc_auc: float
    covered_ap: float  # how often the interval holds it, its mean length, how often it has a note
    length_ap: float
    noted_ap: float
    covered_auc: float  # the same for the area under the ROC curve
    length_auc: float
    noted_auc: float
    standard_error: float  # the Monte-Carlo error of a coverage of 0.95

    line = (
        "{kind}, {positives} positives of {share:g}, area {area:g}: average precision "
        "{covered_ap:.3f}, area {covered_auc:.3f}"
    )


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdCoverage(Row):
    """Coverage of limits at thresholds, and of those at the best threshold."""

    kind: str  # the condition, as in `OrderCoverage`
    share: float
    positives: int
    area: float
    covered_point: float  # of precision and recall at a fixed threshold, the lower coverage
    noted_point: float  # how often a note stands beside these
    covered_curve: float  # how often the whole curve lies within the simultaneous band
    # how often the F1 that the chosen threshold truly has lies within the interval that knows
    # nothing of the choice, and within ours
    covered_naive: float
    covered_best: float
    noted_best: float
    bias_naive: float  # how much too high F1 is on average, as seen and corrected
    bias_best: float
    # how often the interval of thresholds holds the best; NaN where all should be taken for "yes"
    covered_threshold: float
    noted_threshold: float
    standard_error: float  # the Monte-Carlo error of a coverage of 0.95

    line = "{kind}, {positives} positives of {share:g}, area {area:g}: best F1 {covered_best:.3f}"


@dataclass(frozen=True)
class Truth:
    """True values by threshold."""

    kind: str
    share: float
    area: float

    @property
    def grid(self) -> float:
        """Return what scores are rounded to; 0 where they are not."""
        return _GRIDS.get(self.kind, 0.0)

    @property
    def missed(self) -> float:
        """Return the share of positives that are like negatives."""
        return min(1.0, 2 * (1 - self.area)) if self.kind == "missed" else 0.0

    @property
    def distance(self) -> float:
        """Return how far the other positives lie above negatives."""
        return _FAR if self.kind == "missed" else math.sqrt(2) * float(special.ndtri(self.area))

    def _above(self, t: Any, mean: float) -> Any:
        edge = np.ceil(np.asarray(t) / self.grid) * self.grid - self.grid / 2 if self.grid else t
        return special.ndtr(mean - np.asarray(edge))

    def false(self, t: Any) -> Any:
        """Return the share of negatives that reach a threshold."""
        return self._above(t, 0.0)

    def recall(self, t: Any) -> Any:
        """Return the share of positives that reach a threshold."""
        return (1 - self.missed) * self._above(t, self.distance) + self.missed * self.false(t)

    def precision(self, t: Any) -> Any:
        """Return the share of positives among all that reach a threshold."""
        right = self.share * self.recall(t)
        return right / np.maximum(right + (1 - self.share) * self.false(t), 1e-300)

    def f1(self, t: Any) -> Any:
        """Return F1 at a threshold."""
        right = self.share * self.recall(t)
        taken = right + (1 - self.share) * self.false(t)
        return 2 * right / (self.share + taken)

    @property
    def thresholds(self) -> Array:
        """Return thresholds close together, falling."""
        return np.arange(-8.0, 8.0 + self.distance, self.grid or 1e-3)[::-1]

    @cached_property
    def average_precision(self) -> float:
        """Return the true average precision."""
        t = self.thresholds
        return float(np.diff(self.recall(t), prepend=0.0) @ self.precision(t))

    @cached_property
    def roc_auc(self) -> float:
        """Return the true area under the ROC curve."""
        t = self.thresholds
        false = self.false(t)
        middle = false - np.diff(false, prepend=0.0) / 2
        return float(np.diff(self.recall(t), prepend=0.0) @ (1 - middle))

    @cached_property
    def best(self) -> float:
        """Return the threshold with the highest F1; NaN where accepting everything is best."""
        t = self.thresholds
        found = float(t[np.argmax(self.f1(t))])
        return math.nan if found <= t[-1] + 2 else found


def draw_units(n: int, rng: Generator) -> Ints:
    """Draw the unit of each of n items: units of any size, five items on average."""
    begins = rng.random(n) < 1 / _UNIT
    begins[0] = True
    return np.asarray(np.cumsum(begins) - 1, dtype=np.int64)


def draw_scores(kind: str, share: float, positives: int, area: float, rng: Any) -> Ranked:
    """Draw a test set."""
    truth = Truth(kind, share, area)
    n = round(positives / share)
    yes = _draw_answer(n, share, rng)
    unit = draw_units(n, rng) if kind == "units" else None
    found = yes & (rng.random(n) >= truth.missed)
    scores = _draw_noise(unit, n, rng) + truth.distance * found
    rounded = np.round(scores / truth.grid) * truth.grid if truth.grid else scores
    return Ranked.of(yes, rounded, unit)


def _draw_answer(n: int, share: float, rng: Generator) -> Mask:
    """Draw which of n items are positive: at least two, and not all."""
    while True:
        yes = rng.random(n) < share
        if 1 < yes.sum() < n:
            return np.asarray(yes)


def _draw_noise(unit: Ints | None, n: int, rng: Generator) -> Array:
    """Draw standard normal noise of n items; those of a unit share half of the variance."""
    noise = rng.standard_normal(n)
    if unit is None:
        return noise
    common = rng.standard_normal(int(unit.max()) + 1)[unit]
    return np.asarray(math.sqrt(_SHARED) * common + math.sqrt(1 - _SHARED) * noise)


# --- the studies

_truth = cache(Truth)
# expected numbers of positives, shares of positives, areas under the ROC curve
_GRID: tuple[Any, ...] = ((5, 10, 20, 50, 200), (0.5, 0.05), (0.6, 0.8, 0.95, 0.99))


def _grid(
    name: str, kinds: Sequence[str], grid: Sequence[Any]
) -> list[tuple[str, float, int, float]]:
    """Return all combinations of kinds, shares, numbers of positives and areas."""
    known = {"kinds": KINDS, "pairs": PAIRS}[name]
    chosen = [one_of(name, kind, known) for kind in kinds]
    numbers = [whole_number("positives", number, least=2) for number in grid[0]]
    shares = [open_probability("shares", share) for share in grid[1]]
    return list(product(chosen, shares, numbers, [open_probability("areas", a) for a in grid[2]]))


def _means(
    judge: Callable[..., list[float]],
    conditions: Sequence[tuple[Any, ...]],
    *,
    level: float = 0.95,
    replicates: int = 400,
    rng: RNG | None = 0,
    report: Report = quiet,
) -> Iterator[tuple[Any, list[float], float]]:
    """Judge test sets; yield every condition with the means, and the Monte-Carlo error."""
    level, replicates = checked(level, replicates)
    for condition, generator in one_stream(conditions, rng, report):
        rows = [judge(condition, level, generator) for _ in range(replicates)]
        yield condition, np.mean(rows, axis=0).tolist(), monte_carlo_error(replicates)


def order_study(
    kinds: Sequence[str] = KINDS, grid: Sequence[Any] = _GRID, **simulation: Any
) -> list[OrderCoverage]:
    """Return the coverage of the intervals of average precision and of the area."""
    results = []
    for condition, means, error in _means(_order, _grid("kinds", kinds, grid), **simulation):
        truth = _truth_of(condition)
        true = truth.average_precision, truth.roc_auc
        results.append(OrderCoverage.make(*condition, *true, *means, error))
    return results


def threshold_study(
    kinds: Sequence[str] = KINDS, grid: Sequence[Any] = _GRID, **simulation: Any
) -> list[ThresholdCoverage]:
    """Return the coverage of limits along the curve, and of those of its best threshold."""
    results = []
    for condition, means, error in _means(
        _at_thresholds, _grid("kinds", kinds, grid), **simulation
    ):
        precision, recall, *rest, place, noted = means
        if math.isnan(_truth_of(condition).best):
            place = noted = math.nan
        found = min(precision, recall), *rest, place, noted
        results.append(ThresholdCoverage.make(*condition, *found, error))
    return results


def _truth_of(condition: Sequence[Any]) -> Truth:
    kind, share, _, area = condition
    return _truth(kind, share, area)


def _drawn(condition: Any, rng: Generator) -> tuple[Ranked, Truth]:
    kind, share, positives, area = condition
    return draw_scores(kind, share, positives, area, rng), _truth(kind, share, area)


def _order(condition: Any, level: float, rng: Generator) -> list[float]:
    ranked, truth = _drawn(condition, rng)
    return [
        *_judge(average_precision_interval(ranked, level), truth.average_precision),
        *_judge(roc_auc_interval(ranked, level), truth.roc_auc),
    ]


def _judge(interval: Any, true: float) -> tuple[float, float, float]:
    """Return whether an interval covers the truth, its length, and whether it has a note."""
    low, high = float(interval.low), float(interval.high)
    held = low - 1e-12 <= true <= high + 1e-12
    return float(held), high - low, float(interval.note is not None)


def _at_thresholds(condition: Any, level: float, rng: Generator) -> list[float]:
    ranked, truth = _drawn(condition, rng)
    fixed = 0.5 * round(truth.distance)  # chosen without the data
    at = int(np.searchsorted(-ranked.thresholds, -fixed, side="right")) - 1
    one, all_ = pointwise_band(ranked, level), simultaneous_band(ranked, level)
    best = best_threshold(ranked, level, 1.0, rng)
    true_f1 = float(truth.f1(best.threshold))
    return [
        # where nothing reaches the threshold there are no limits: all that there is
        at < 0 or one.precision_low[at] <= truth.precision(fixed) <= one.precision_high[at],
        at < 0 or one.recall_low[at] <= truth.recall(fixed) <= one.recall_high[at],
        one.note is not None,
        _all_within(all_, ranked.thresholds, truth),
        best.apparent_low <= true_f1 <= best.apparent_high,
        best.low <= true_f1 <= best.high,
        best.note is not None,
        best.apparent - true_f1,
        best.estimate - true_f1,
        _as_good(truth, truth.best, best.threshold_low, best.threshold_high),
        best.note is not None,
    ]


def _as_good(truth: Truth, optimum: float, low: float, high: float) -> bool:
    """Return True if a threshold as good as the best lies within limits (rounded scores tie)."""
    t = truth.thresholds
    inner = t[(t > low) & (t <= high)]
    return bool(low < optimum <= high) or bool(
        len(inner) and truth.f1(inner).max() >= float(truth.f1(optimum)) - 1e-9
    )


def _all_within(band: Any, thresholds: Array, truth: Truth) -> bool:
    """Return True if the truth lies within the band at every threshold, also between scores."""
    ends = [thresholds, np.append(thresholds[1:] + 1e-12, thresholds[-1])]
    return all(
        bool(np.all((low <= of(t) + 1e-12) & (of(t) <= high + 1e-12)))
        for t in ends
        for of, low, high in (
            (truth.recall, band.recall_low, band.recall_high),
            (truth.precision, band.precision_low, band.precision_high),
        )
    )


# --- Do the test and the intervals of two curves' differences hold what they promise?
#
# Two systems score the same items as above, half of the variance in common.
# "alike": both are of one quality, so that a test at the level 0.05 should find a difference in 5 %
# of the test sets at most. "units": so too, with items of units. "copies": B is A, but for one item
# in a hundred, scored anew. "better": B's area is half as far from 1.

PAIRS = ("alike", "units", "copies", "better")
_COMMON, _ANEW, _EXCHANGES = 0.5, 0.01, 999
_SIZE = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class PairCoverage(Row):
    """Size or power of the tests of two curves, and coverage of the intervals."""

    pair: str  # the condition: how the systems are related; then as in `OrderCoverage`
    share: float
    positives: int
    area: float  # of A
    # how often p is at most 0.05: the size of the test, or its power where B is better
    found_ap: float
    found_auc: float
    found_best: float
    # how often the interval of the difference holds the true one; of F1, at the thresholds chosen
    covered_ap: float
    covered_auc: float
    covered_best: float
    noted_ap: float  # how often a note stands beside it
    noted_auc: float
    noted_best: float
    surer: float  # how often P(B better) of the average precision is above 0.95
    standard_error: float  # the Monte-Carlo error of a coverage of 0.95 and of a size of 0.05

    line = (
        "{pair}, {positives} positives of {share:g}, area {area:g}: found {found_ap:.3f}, covered"
        " {covered_ap:.3f}"
    )


def draw_pair(
    pair: str, share: float, positives: int, area: float, rng: Generator
) -> tuple[Ranked, Ranked]:
    """Draw what two systems score on one test set."""
    n = round(positives / share)
    yes = _draw_answer(n, share, rng)
    unit = draw_units(n, rng) if pair == "units" else None
    noise = _draw_noise(unit, n, rng)
    truths = _truths(pair, share, area)
    if pair == "copies":
        a = noise + truths[0].distance * yes
        anew = rng.permutation(n) < max(1, round(_ANEW * n))
        b = np.where(anew, rng.standard_normal(n) + truths[1].distance * yes, a)
        return Ranked.of(yes, a), Ranked.of(yes, b)
    a, b = (
        math.sqrt(_COMMON) * noise
        + math.sqrt(1 - _COMMON) * _draw_noise(unit, n, rng)
        + truth.distance * yes
        for truth in truths
    )
    return Ranked.of(yes, a, unit), Ranked.of(yes, b, unit)


def _truths(pair: str, share: float, area: float) -> tuple[Truth, Truth]:
    other = (1 + area) / 2 if pair == "better" else area
    return _truth("continuous", share, area), _truth("continuous", share, other)


def pair_study(
    pairs: Sequence[str] = PAIRS, grid: Sequence[Any] = _GRID, **simulation: Any
) -> list[PairCoverage]:
    """Compare systems whose true difference is known; each test has 999 exchanges at most."""
    found = _means(_one_pair, _grid("pairs", pairs, grid), **simulation)
    return [PairCoverage.make(*condition, *means, error) for condition, means, error in found]


def _one_pair(condition: Any, level: float, rng: Generator) -> list[float]:
    pair, share, positives, area = condition
    ranked = draw_pair(pair, share, positives, area, rng)
    seed = int(rng.integers(2**32))  # the same folds for both, as `compare_curves` has it
    curves: Any = [
        SimpleNamespace(
            name=name,
            average_precision=average_precision_interval(own, level),
            roc_auc=roc_auc_interval(own, level),
            best=best_threshold(own, level, 1.0, np.random.default_rng(seed)),
        )
        for name, own in zip("AB", ranked, strict=True)
    ]
    found = compare_ranked(
        ranked, (curves[0], curves[1]), level=level, beta=1.0, rope=0.0, rng=rng, most=_EXCHANGES
    )
    a, b = _truths(pair, share, area)
    true = (
        b.average_precision - a.average_precision,
        b.roc_auc - a.roc_auc,
        float(b.f1(curves[1].best.threshold)) - float(a.f1(curves[0].best.threshold)),
    )
    return [
        *(one.pvalue <= _SIZE for one in found),
        *(
            one.low - 1e-12 <= value <= one.high + 1e-12
            for one, value in zip(found, true, strict=True)
        ),
        *(one.note is not None for one in found),
        found[0].p_b_better > level,
    ]


# --- Do the intervals of calibration hold what they promise?
#
# The log-odds of probabilities are normal, so that about a fourth of the items are positive.
# "right": every probability is right. "bold": the true log-odds are half as large. "high": they are
# lower by one half. "units": probabilities are right, but items of a unit come true together more
# often; "high units": so, and they are too high. "bolder": as "bold", with log-odds between -8 and
# 8. "labels": probabilities are 0 or 1, and right 98 times of 100. "rare": most are near 0, and all
# are twice as large as they should be. "partly": those above 0.9 are too large by one half, all
# others right.

PROBABILITIES = (
    *("right", "bold", "high", "units"),
    *("high units", "bolder", "labels", "rare", "partly"),
)
_MEAN, _DEVIATION = -1.0, 1.5
_BINS = 10


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationCoverage(Row):
    """Bias of the calibration error, and coverage of its interval."""

    probabilities: str  # the condition: what is wrong with them, and how many there are
    items: int
    error: float  # the true calibration error of the bins, on average
    seen: float  # the one seen, and what is left of it without what chance adds, on average
    left: float
    covered: float  # how often the interval holds it, its mean length, how often it has a note
    length: float
    noted: float
    covered_bins: float  # how often the interval of a bin holds its true share of positives
    standard_error: float  # the Monte-Carlo error of a coverage of 0.95

    line = "{probabilities}, {items} items: covered {covered:.3f}"


def calibration_study(
    probabilities: Sequence[str] = PROBABILITIES,
    items: Sequence[int] = (20, 50, 200, 1000),
    **simulation: Any,
) -> list[CalibrationCoverage]:
    """Draw probabilities whose true calibration is known."""
    conditions = [
        (one_of("probabilities", kind, PROBABILITIES), whole_number("items", number, least=2))
        for kind in probabilities
        for number in items
    ]
    found = _means(_one_test_set, conditions, **simulation)
    return [
        CalibrationCoverage.make(*condition, *means, error) for condition, means, error in found
    ]


def _one_test_set(condition: Any, level: float, rng: Generator) -> list[float]:
    kind, n = condition
    stated, true = _probabilities(kind, n, rng)
    unit = draw_units(n, rng) if kind.endswith("units") else None
    came = special.ndtr(_draw_noise(unit, n, rng)) < true
    found = calibration(came, stated, level=level, bins=_BINS, unit=unit)
    shares = np.array([_within(one, stated, true) for one in found.bins])
    weights = np.array([one.items for one in found.bins]) / n
    error = float(weights @ np.abs(shares - [one.mean for one in found.bins]))
    held = [one.low <= share <= one.high for one, share in zip(found.bins, shares, strict=True)]
    low, high = found.ece_low, found.ece_high
    covered = low <= error <= high, high - low, found.note is not None, float(np.mean(held))
    return [error, found.ece, found.ece_debiased, *covered]


def _probabilities(kind: str, n: int, rng: Generator) -> tuple[Array, Array]:
    """Return the probabilities that are stated, and the true ones."""
    if kind == "labels":
        stated = (rng.random(n) < 0.4).astype(float)
        return stated, np.abs(stated - 0.02)
    if kind == "rare":
        stated = rng.beta(0.3, 6.0, n)
        return stated, stated / 2
    if kind == "partly":
        stated = rng.random(n)
        return stated, np.where(stated > 0.9, stated - 0.5, stated)
    said = rng.normal(0.0, 4.0, n) if kind == "bolder" else rng.normal(_MEAN, _DEVIATION, n)
    odds = said / 2 if kind.startswith("bold") else said - 0.5 * kind.startswith("high")
    return special.expit(said), special.expit(odds)


def _within(one: Any, stated: Any, true: Any) -> float:
    """Return the true share of positives in a bin."""
    return float(true[(stated >= one.low_edge) & (stated <= one.high_edge)].mean())


# --- The studies of curves under one roof, each of which has a table of its own.

QUESTIONS = ("order", "threshold", "calibration", "difference")


def curve_study(
    *,
    questions: Sequence[str] = QUESTIONS,
    positives: Sequence[int] = (5, 10, 20, 50, 200),
    shares: Sequence[float] = (0.5, 0.05),
    areas: Sequence[float] = (0.6, 0.8, 0.95, 0.99),
    kinds: Sequence[str] = KINDS,
    pairs: Sequence[str] = PAIRS,
    probabilities: Sequence[str] = PROBABILITIES,
    items: Sequence[int] = (20, 50, 200, 1000),
    level: float = 0.95,
    replicates: int = 400,
    rng: RNG | None = 0,
    report: Report = quiet,
) -> dict[str, Sequence[Row]]:
    """See whether what is said of curves holds, question by question."""
    how: dict[str, Any] = {"level": level, "replicates": replicates, "rng": rng, "report": report}
    grid = positives, shares, areas
    studies: dict[str, tuple[Callable[..., Sequence[Row]], Any, Any]] = {
        "order": (order_study, kinds, grid),
        "threshold": (threshold_study, kinds, grid),
        "calibration": (calibration_study, probabilities, items),
        "difference": (pair_study, pairs, grid),
    }
    asked = [studies[one_of("questions", question, QUESTIONS)] for question in questions]
    found = [study(*conditions, **how) for study, *conditions in asked]
    return dict(zip(questions, found, strict=True))
