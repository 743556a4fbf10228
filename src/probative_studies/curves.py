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
from probative.inference.curves import (
    Ranked,
    average_precision_interval,
    best_threshold,
    calibration,
    compare_ranked,
    pointwise_band,
    roc_auc_interval,
    simultaneous_band,
)
from probative_studies.harness import Report, Row, checked, mean, one_stream, quiet, share_error

KINDS = ("continuous", "tied", "coarse", "missed", "units")
_GRIDS = {"tied": 0.5, "coarse": 2.0}
_ITEMS_OF_A_UNIT, _SHARED_VARIANCE = 5, 0.5
_DISTANCE_OF_FOUND = 8.0  # of positives that are not missed


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
        if self.kind == "missed":
            return _DISTANCE_OF_FOUND
        return math.sqrt(2) * float(special.ndtri(self.area))

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
    begins = rng.random(n) < 1 / _ITEMS_OF_A_UNIT
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
    return Ranked(yes, rounded, unit)


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
    return np.asarray(
        math.sqrt(_SHARED_VARIANCE) * common + math.sqrt(1 - _SHARED_VARIANCE) * noise
    )


# --- Order and thresholds of one system

_truth = cache(Truth)


def _order(
    kind: str, share: float, positives: int, area: float, level: float, rng: Generator
) -> dict[str, float]:
    """Judge the intervals of average precision and of the area under the ROC curve."""
    ranked, truth = draw_scores(kind, share, positives, area, rng), _truth(kind, share, area)
    by_ap = _judge(average_precision_interval(ranked, level), truth.average_precision)
    by_auc = _judge(roc_auc_interval(ranked, level), truth.roc_auc)
    names = ["covered_ap", "length_ap", "noted_ap", "covered_auc", "length_auc", "noted_auc"]
    return dict(zip(names, (*by_ap, *by_auc), strict=True))


def _with_truth(truth: Truth, means: dict[str, float]) -> dict[str, float]:
    return {"average_precision": truth.average_precision, "roc_auc": truth.roc_auc} | means


def _judge(interval: Any, true: float) -> tuple[float, float, float]:
    """Return whether an interval covers the truth, its length, and whether it has a note."""
    low, high = float(interval.low), float(interval.high)
    held = low - 1e-12 <= true <= high + 1e-12
    return float(held), high - low, float(interval.note is not None)


def _at_thresholds(
    kind: str, share: float, positives: int, area: float, level: float, rng: Generator
) -> dict[str, float]:
    """Judge limits at thresholds, and those of F1 at the best one, naive and ours."""
    ranked, truth = draw_scores(kind, share, positives, area, rng), _truth(kind, share, area)
    fixed = 0.5 * round(truth.distance)  # chosen without the data
    at = int(np.searchsorted(-ranked.thresholds, -fixed, side="right")) - 1
    one, all_ = pointwise_band(ranked, level), simultaneous_band(ranked, level)
    best = best_threshold(ranked, level, 1.0, rng)
    true_f1 = float(truth.f1(best.threshold))
    return {
        # where nothing reaches the threshold there are no limits: all that there is
        "precision": at < 0
        or one.precision_low[at] <= truth.precision(fixed) <= one.precision_high[at],
        "recall": at < 0 or one.recall_low[at] <= truth.recall(fixed) <= one.recall_high[at],
        "noted_point": one.note is not None,
        "covered_curve": _all_within(all_, ranked.thresholds, truth),
        "covered_naive": best.apparent_low <= true_f1 <= best.apparent_high,
        "covered_best": best.low <= true_f1 <= best.high,
        "noted_best": best.note is not None,
        "bias_naive": best.apparent - true_f1,
        "bias_best": best.estimate - true_f1,
        "covered_threshold": _as_good(truth, best.threshold_low, best.threshold_high),
        "noted_threshold": best.note is not None,
    }


def _lower_coverage(truth: Truth, means: dict[str, float]) -> dict[str, float]:
    """Join precision and recall; leave out a best threshold where taking everything is best."""
    point = min(means.pop("precision"), means.pop("recall"))
    if math.isnan(truth.best):
        means |= {"covered_threshold": math.nan, "noted_threshold": math.nan}
    return {"covered_point": point, **means}


def _as_good(truth: Truth, low: float, high: float) -> bool:
    """Return True if a threshold as good as the best lies within limits (rounded scores tie)."""
    t, optimum = truth.thresholds, truth.best
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
        return Ranked(yes, a), Ranked(yes, b)
    a, b = (
        math.sqrt(_COMMON) * noise
        + math.sqrt(1 - _COMMON) * _draw_noise(unit, n, rng)
        + truth.distance * yes
        for truth in truths
    )
    return Ranked(yes, a, unit), Ranked(yes, b, unit)


def _truths(pair: str, share: float, area: float) -> tuple[Truth, Truth]:
    other = (1 + area) / 2 if pair == "better" else area
    return _truth("continuous", share, area), _truth("continuous", share, other)


def _one_pair(
    pair: str, share: float, positives: int, area: float, level: float, rng: Generator
) -> dict[str, float]:
    """Judge tests at 0.05 of at most 999 exchanges, and the intervals of the differences."""
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
    compared = compare_ranked(
        ranked, (curves[0], curves[1]), level=level, beta=1.0, rope=0.0, rng=rng, most=_EXCHANGES
    )
    a, b = _truths(pair, share, area)
    true = {
        "ap": b.average_precision - a.average_precision,
        "auc": b.roc_auc - a.roc_auc,
        "best": float(b.f1(curves[1].best.threshold)) - float(a.f1(curves[0].best.threshold)),
    }
    found = dict(zip(true, compared, strict=True))
    return {
        **{f"found_{name}": one.pvalue <= _SIZE for name, one in found.items()},
        **{f"covered_{name}": _judge(one, true[name])[0] for name, one in found.items()},
        **{f"noted_{name}": one.note is not None for name, one in found.items()},
        "surer": compared[0].p_b_better > level,
    }


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


def _one_test_set(kind: str, n: int, level: float, rng: Generator) -> dict[str, float]:
    """Judge the calibration error: true, seen, without what chance adds; and its interval."""
    stated, true = _probabilities(kind, n, rng)
    unit = draw_units(n, rng) if kind.endswith("units") else None
    came = special.ndtr(_draw_noise(unit, n, rng)) < true
    found = calibration(came, stated, level=level, bins=_BINS, unit=unit)
    shares = np.array(
        [true[(stated >= one.low_edge) & (stated <= one.high_edge)].mean() for one in found.bins]
    )
    weights = np.array([one.items for one in found.bins]) / n
    error = float(weights @ np.abs(shares - [one.mean for one in found.bins]))
    held = [one.low <= share <= one.high for one, share in zip(found.bins, shares, strict=True)]
    return {
        "error": error,
        "seen": found.ece,
        "left": found.ece_debiased,
        "covered": found.ece_low <= error <= found.ece_high,
        "length": found.ece_high - found.ece_low,
        "noted": found.note is not None,
        "covered_bins": mean(held),
    }


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
) -> dict[str, list[Row]]:
    """See whether what is said of curves holds, question by question."""
    level, replicates = checked(level, replicates)

    def on_grid(name: str, chosen: Sequence[str], known: Sequence[str]) -> Iterator[dict[str, Any]]:
        grid: dict[str, list[Any]] = {
            name: [one_of(f"{name}s", kind, known) for kind in chosen],
            "share": [open_probability("shares", one) for one in shares],
            "positives": [whole_number("positives", number, least=2) for number in positives],
            "area": [open_probability("areas", one) for one in areas],
        }
        for values in product(*grid.values()):
            yield dict(zip(grid, values, strict=True))

    def of_items() -> Iterator[dict[str, Any]]:
        for kind, number in product(probabilities, items):
            named = one_of("probabilities", kind, PROBABILITIES)
            yield {"probabilities": named, "items": whole_number("items", number, least=2)}

    studies: dict[str, tuple[Callable[..., dict[str, float]], Any, Any]] = {
        "order": (_order, on_grid("kind", kinds, KINDS), _with_truth),
        "threshold": (_at_thresholds, on_grid("kind", kinds, KINDS), _lower_coverage),
        "calibration": (_one_test_set, of_items(), None),
        "difference": (_one_pair, on_grid("pair", pairs, PAIRS), None),
    }
    asked = {question: studies[one_of("questions", question, QUESTIONS)] for question in questions}
    results: dict[str, list[Row]] = {question: [] for question in asked}
    for question, (judge, conditions, finish) in asked.items():
        for condition, own in one_stream(conditions, rng, report):
            found = [judge(*condition.values(), level, own) for _ in range(replicates)]
            columns = np.mean([list(one.values()) for one in found], axis=0).tolist()
            means = dict(zip(found[0], columns, strict=True))
            if finish is not None:
                truth = _truth(*(condition[name] for name in ("kind", "share", "area")))
                means = finish(truth, means)
            error = share_error(0.95, replicates)
            results[question].append(Row(**condition, **means, standard_error=error))
    return results
