"""What a system scores at every threshold of its probabilities, and how two of them differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.results.base import Interval, Result, jsonable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from probative._validation import Array
    from probative.reporting.document import Document
    from probative.results.comparisons import Comparison

__all__ = ["Band", "BestThreshold", "Calibration", "CalibrationBin", "Curve", "CurveComparison"]

_MOST_POINTS = 500  # of a curve in JSON; the arrays and data frames have all


@dataclass(frozen=True, eq=False, repr=False)
class Band(Result):
    """Limits of precision and recall at every threshold.

    Attributes
    ----------
    kind
        "pointwise": each holds at a threshold that was chosen beforehand. "simultaneous": all hold
        together, so also at one that was chosen by looking at the curve.
    method, level
        How they were made, and at which level.
    precision_low, precision_high, recall_low, recall_high
        One per threshold.
    note
        What the reader must know about it, or None.
    """

    kind: str
    method: str
    level: float
    precision_low: Array
    precision_high: Array
    recall_low: Array
    recall_high: Array
    note: str | None = None

    def at_recall(self, recall: Any) -> tuple[Array, Array]:
        """Return limits of the precision at given recalls.

        Whatever threshold has this recall within its limits counts; where none has, the limits are
        0 and 1.
        """
        wanted = np.atleast_1d(np.asarray(recall, dtype=float))
        # the limits of recall never fall along the curve
        low_edge = np.maximum.accumulate(self.recall_low)
        high_edge = np.maximum.accumulate(self.recall_high)
        first = np.searchsorted(high_edge, wanted)
        end = np.searchsorted(low_edge, wanted, side="right")
        low, high = np.zeros(len(wanted)), np.ones(len(wanted))
        for place, (start, stop) in enumerate(zip(first, end, strict=True)):
            if start < stop:
                low[place] = self.precision_low[start:stop].min()
                high[place] = self.precision_high[start:stop].max()
        return low, high

    def __str__(self) -> str:
        return f"{self.kind} band of {len(self.precision_low)} thresholds, {self.method}"


@dataclass(frozen=True, eq=False, repr=False)
class BestThreshold(Result):
    """The threshold with the highest F-beta, and what it will score on other data.

    Attributes
    ----------
    metric, beta
        The score by which it was chosen.
    threshold
        From here on "yes" scores highest on these data.
    threshold_low, threshold_high
        Between these the best threshold lies; minus infinity (null in JSON) where taking everything
        for "yes" may be best.
    estimate, low, high
        The score to expect of this threshold on other data, with its interval: that it was chosen
        on the same data is allowed for.
    apparent, apparent_low, apparent_high
        The score on these data, with an interval that knows nothing of the choice.
    optimism
        How much too high that is.
    precision, recall
        On these data.
    level
        The level of the intervals.
    note
        What the reader must know, or None.
    """

    metric: str
    beta: float
    threshold: float
    threshold_low: float
    threshold_high: float
    estimate: float
    low: float
    high: float
    apparent: float
    apparent_low: float
    apparent_high: float
    optimism: float
    precision: float
    recall: float
    level: float
    note: str | None = None

    def __str__(self) -> str:
        return (
            f"{self.metric} is highest from {self.threshold:.4g} on "
            f"[{self.threshold_low:.4g}, {self.threshold_high:.4g}]: {self.apparent:.4f} here, "
            f"{self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}] to be expected elsewhere"
        )


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationBin(Result):
    """Items of about the same probability, and how many of them are positive.

    Attributes
    ----------
    low_edge, high_edge
        The least and the largest probability in it.
    items, positives
        How many items there are, and how many of them are positive.
    mean
        The mean of the probabilities.
    share, low, high
        The share of positives, with its interval.
    design_effect
        How many times larger the variance of the share is than with independent items; None
        without units.
    """

    low_edge: float
    high_edge: float
    items: int
    positives: int
    mean: float
    share: float
    low: float
    high: float
    design_effect: float | None = None

    @property
    def estimate(self) -> float:
        """The share, by the name that all results have for what they estimate."""
        return self.share

    def __str__(self) -> str:
        return (
            f"{self.items} items from {self.low_edge:.4g} to {self.high_edge:.4g}: mean "
            f"{self.mean:.4f}, {self.share:.4f} [{self.low:.4f}, {self.high:.4f}] positive"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Result):
    """Whether probabilities mean what they say.

    Attributes
    ----------
    bins
        Bins of about as many items each, from low to high probabilities.
    ece
        The expected calibration error of these bins: the mean gap between probability and share.
        Chance alone makes it larger than 0.
    ece_by_chance
        What it would be on average if every probability were right.
    ece_debiased, ece_low, ece_high
        What is left of it without what chance adds, with its interval.
    squared_error
        The mean squared gap, unbiased: about 0 if every probability is right, so also below.
    brier
        The mean squared distance of the probabilities from what came true.
    miscalibration, discrimination, uncertainty
        Its parts, by the best monotone recalibration: the score is the first, less the second, plus
        the third.
    level
        The level of the intervals.
    note
        What the reader must know, or None.
    """

    bins: tuple[CalibrationBin, ...]
    ece: float
    ece_by_chance: float
    ece_debiased: float
    ece_low: float
    ece_high: float
    squared_error: float
    brier: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    level: float
    note: str | None = None

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each bin."""
        return [one.to_dict() for one in self.bins]

    def __str__(self) -> str:
        return (
            f"calibration error {self.ece_debiased:.4f} [{self.ece_low:.4f}, {self.ece_high:.4f}] "
            f"({self.ece:.4f} as seen, "
            f"{self.ece_by_chance:.4f} by chance alone), Brier score {self.brier:.4f}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Result):
    """What a system scores at every threshold.

    Attributes
    ----------
    name, positive
        The system, and the class that its scores speak of.
    items, positives
        How many items there are, and how many are positive.
    units
        How many units they belong to; None where items are independent.
    thresholds, tp, fp
        Every score that occurs, from high to low, and how many positive and negative items have it
        or a higher one.
    precision, recall
        At every threshold.
    pointwise, simultaneous
        Limits of both.
    average_precision
        With its interval.
    roc_auc
        The area under the ROC curve, with its interval; NaN without negative items.
    best
        The threshold with the highest F-beta.
    calibration
        None where the scores are no probabilities.
    level
        The level of all intervals.
    notes
        What was recognised, and what the reader must know.
    signature
        A short reproducible description of every choice.
    """

    name: str
    positive: str
    items: int
    positives: int
    units: int | None
    thresholds: Array
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    precision: Array
    recall: Array
    pointwise: Band
    simultaneous: Band
    average_precision: Interval
    roc_auc: Interval
    best: BestThreshold
    calibration: Calibration | None
    level: float
    notes: tuple[str, ...] = ()
    signature: str = field(default="", repr=False)

    def shown(self, most: int = _MOST_POINTS) -> NDArray[np.int64]:
        """Return the numbers of so many thresholds at most, spread along the curve."""
        n = len(self.thresholds)
        if n <= most:
            return np.arange(n)
        # as many by recall as by the number of items that are taken
        taken = self.tp + self.fp
        wanted = np.linspace(0, 1, most // 2)
        places = [
            np.searchsorted(along, wanted * along[-1]) for along in (self.recall, taken / taken[-1])
        ]
        return np.unique(np.clip(np.concatenate([[0, n - 1], *places]), 0, n - 1))

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as JSON has it: of many thresholds some, spread along it."""
        points = [_with_limits(self, i) for i in self.shown().tolist()]
        bands = (self.pointwise, self.simultaneous)
        return {
            "name": self.name,
            "positive": self.positive,
            "items": self.items,
            "positives": self.positives,
            "units": self.units,
            "level": self.level,
            "average_precision": self.average_precision.to_dict(),
            "roc_auc": self.roc_auc.to_dict(),
            "best_threshold": self.best.to_dict(),
            "calibration": None if self.calibration is None else self.calibration.to_dict(),
            "bands": {band.kind: band.method for band in bands},
            "band_notes": {band.kind: band.note for band in bands if band.note},
            "thresholds": len(self.thresholds),
            "points": jsonable(points),
            "notes": list(self.notes),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each threshold, all of them."""
        return [jsonable(_with_limits(self, i)) for i in range(len(self.thresholds))]

    def _metrics(self) -> Iterable[tuple[tuple[str, ...], Any]]:
        yield from self.average_precision._metrics()
        yield from self.roc_auc._metrics()
        best = self.best
        head = f"best_{best.metric}"
        yield (head,), best.estimate
        yield (f"{head}_low",), best.low
        yield (f"{head}_high",), best.high
        yield (f"{head}_threshold",), best.threshold
        if self.calibration is not None:
            yield ("ece",), self.calibration.ece_debiased
            yield ("ece_low",), self.calibration.ece_low
            yield ("ece_high",), self.calibration.ece_high
            yield ("brier",), self.calibration.brier

    def plot(self) -> list[Axes]:
        """Draw the curve, scores by threshold and calibration; returns matplotlib's axes."""
        from probative.reporting.curve_report import curves_figure

        return curves_figure((self,)).axes

    def _document(self) -> Document:
        from probative.reporting.curve_report import curves_document

        return curves_document((self,))

    def __str__(self) -> str:
        ap = self.average_precision
        return (
            f"{self.name}: average precision {ap.estimate:.4f} [{ap.low:.4f}, {ap.high:.4f}]; "
            f"{self.best}"
        )


def _with_limits(curve: Curve, i: int) -> dict[str, Any]:
    one, all_ = curve.pointwise, curve.simultaneous
    return {
        "threshold": curve.thresholds[i],
        "tp": curve.tp[i],
        "fp": curve.fp[i],
        "precision": curve.precision[i],
        "precision_low": one.precision_low[i],
        "precision_high": one.precision_high[i],
        "recall": curve.recall[i],
        "recall_low": one.recall_low[i],
        "recall_high": one.recall_high[i],
        "precision_low_simultaneous": all_.precision_low[i],
        "precision_high_simultaneous": all_.precision_high[i],
        "recall_low_simultaneous": all_.recall_low[i],
        "recall_high_simultaneous": all_.recall_high[i],
    }


@dataclass(frozen=True, eq=False, repr=False)
class CurveComparison(Result):
    """How two systems that give probabilities differ on the same items.

    Attributes
    ----------
    curves
        The `Curve` of the baseline and of the challenger.
    comparisons
        A `Comparison` each for average precision, the area under the ROC curve and the highest
        F-beta: B minus A.
    verdicts
        One sentence, on average precision.
    level
        The level of all intervals.
    notes
        What was recognised, and what the reader must know.
    signature
        A short reproducible description of every choice.
    """

    curves: tuple[Curve, ...]
    comparisons: tuple[Comparison, ...]
    verdicts: tuple[str, ...]
    level: float
    notes: tuple[str, ...] = ()
    signature: str = field(default="", repr=False)

    def __getitem__(self, metric: str) -> Comparison:
        """The comparison of a metric by its name."""
        return {c.metric: c for c in self.comparisons}[metric]

    def to_dict(self) -> dict[str, Any]:
        """Return both curves and what is known of their differences."""
        return {
            "curves": [curve.to_dict() for curve in self.curves],
            "comparisons": [c.to_dict() for c in self.comparisons],
            "verdicts": list(self.verdicts),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary per comparison."""
        return [record for comparison in self.comparisons for record in comparison.records()]

    def _metrics(self) -> Iterable[tuple[tuple[str, ...], Any]]:
        for curve in self.curves:
            yield from (((curve.name, *parts), value) for parts, value in curve._metrics())
        for c in self.comparisons:
            head = f"{c.b} vs {c.a}"
            yield from (((head, *parts), value) for parts, value in c._metrics())

    def plot(self) -> list[Axes]:
        """Draw both curves; returns matplotlib's axes."""
        from probative.reporting.curve_report import curves_figure

        return curves_figure(self.curves).axes

    def _document(self) -> Document:
        from probative.reporting.curve_report import comparison_document

        return comparison_document(self)

    def _key_numbers(self) -> str:
        return "; ".join(c._key_numbers() for c in self.comparisons)

    def __str__(self) -> str:
        return " ".join(self.verdicts)
