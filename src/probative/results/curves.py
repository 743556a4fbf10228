"""Define the results of curves over thresholds, of their comparison, and of sweeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from probative.results.base import (
    Interval,
    Result,
    ScoresByMetric,
    SignedResult,
    drawn_by,
    jsonable,
    shown_by,
    with_limits,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from probative._validation import Array
    from probative.counts import Counts
    from probative.results.base import Named
    from probative.results.comparisons import Comparison

_MOST_POINTS = 500  # of a curve in JSON; arrays and data frames have all
_IN_JSON = (
    *("name", "positive", "items", "positives", "units", "level"),
    *("average_precision", "roc_auc"),
)
_ENDS = ("precision_low", "precision_high", "recall_low", "recall_high")


@dataclass(frozen=True, eq=False, repr=False)
class Band(Result):
    """Intervals of precision and recall at every threshold."""

    #: If "pointwise", each holds at a threshold that was chosen beforehand; if "simultaneous", all
    #: hold together, so also at one that was chosen after seeing the curve.
    kind: str
    method: str  #: The method of the intervals.
    level: float  #: The level of the intervals.
    precision_low: Array  #: The lower ends for precision, one per threshold.
    precision_high: Array  #: The upper ends for precision, one per threshold.
    recall_low: Array  #: The lower ends for recall, one per threshold.
    recall_high: Array  #: The upper ends for recall, one per threshold.
    note: str | None = None  #: A caveat, or None.

    def at_recall(self, recall: Any) -> tuple[Array, Array]:
        """Return the ends of intervals of the precision at given recalls.

        They cover every threshold whose recall interval holds this recall; if there is none, they
        are 0 and 1.
        """
        wanted = np.atleast_1d(np.asarray(recall, dtype=float))
        # recall never falls along the curve, so the ends of its intervals must not, either
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


@dataclass(frozen=True, eq=False, repr=False)
class BestThreshold(Result):
    """Threshold with the highest F-beta, and its expected score on other data."""

    metric: str  #: The score by which it was chosen.
    beta: float  #: The weight of recall in that score.
    #: The smallest value that counts as "yes" when the score is highest on these data.
    threshold: float
    #: The lower end of the interval of the best threshold; minus infinity (null in JSON) if taking
    #: everything for "yes" may be best.
    threshold_low: float
    threshold_high: float  #: The upper end of the interval of the best threshold.
    #: The expected score of this threshold on other data; it allows for the choice on these data.
    estimate: float
    low: float  #: The lower end of its interval, which allows for that choice, too.
    high: float  #: The upper end of that interval.
    apparent: float  #: The score on these data.
    apparent_low: float  #: The lower end of its interval, which ignores the choice.
    apparent_high: float  #: The upper end of its interval, which ignores the choice.
    optimism: float  #: The bias of the score on these data.
    precision: float  #: The precision on these data.
    recall: float  #: The recall on these data.
    level: float  #: The level of the intervals.
    note: str | None = None  #: A caveat, or None.

    def __str__(self) -> str:
        return (
            f"{self.metric} is highest from {self.threshold:.4g} on "
            f"[{self.threshold_low:.4g}, {self.threshold_high:.4g}]: {self.apparent:.4f} here, "
            f"{self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}] to be expected elsewhere"
        )


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationBin(Result):
    """Items of similar probability, and the share of positives among them."""

    low_edge: float  #: The smallest probability in it.
    high_edge: float  #: The largest probability in it.
    items: int  #: The number of items.
    positives: int  #: The number of positive items.
    mean: float  #: The mean of the probabilities.
    share: float  #: The share of positives.
    low: float  #: The lower end of the interval of the share.
    high: float  #: The upper end of the interval of the share.
    #: The ratio of the variance of the share to that of independent items; None without units.
    design_effect: float | None = None

    @property
    def estimate(self) -> float:
        """Return the share, under the name common to all results."""
        return self.share


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Result):
    """Calibration of probabilities: how well they agree with the shares of positives."""

    #: Bins with about the same number of items, from low to high probabilities.
    bins: tuple[CalibrationBin, ...]
    #: The expected calibration error of these bins, the mean gap between probability and share.
    #: Chance alone makes it larger than 0.
    ece: float
    ece_by_chance: float  #: Its mean if every probability were right.
    ece_debiased: float  #: The error without the part due to chance.
    ece_low: float  #: The lower end of the interval of that error.
    ece_high: float  #: The upper end of the interval of that error.
    #: An unbiased estimate of the mean squared gap, about 0 and possibly below, if every
    #: probability is right.
    squared_error: float
    brier: float  #: The mean squared difference of probabilities and outcomes.
    #: The part of the Brier score that the best monotone recalibration removes. The score is this
    #: part, less `discrimination`, plus `uncertainty`.
    miscalibration: float
    #: What recalibrated probabilities gain over the share of positives alone.
    discrimination: float
    uncertainty: float  #: The Brier score of the share of positives alone.
    level: float  #: The level of the intervals.
    note: str | None = None  #: A caveat, or None.

    _lines = ("bins",)

    def __str__(self) -> str:
        return (
            f"calibration error {with_limits(self.ece_debiased, self.ece_low, self.ece_high)} "
            f"({self.ece:.4f} as seen, {self.ece_by_chance:.4f} by chance alone), "
            f"Brier score {self.brier:.4f}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Curve(SignedResult):
    """Scores of a system at every threshold.

    Attributes
    ----------
    name, positive
        The system, and the class whose probability it gives.
    items, positives
        The number of items, and of positive ones.
    units
        The number of units to which they belong; None if items are independent.
    thresholds, tp, fp
        Every score that occurs, from high to low, and the numbers of positive and negative items
        with this score or a higher one.
    precision, recall
        The two scores at every threshold.
    level
        The level of all intervals.
    notes
        Messages on what was recognised, and caveats.
    judged
        The functions that compute the bands, areas, best threshold and calibration by name, when
        they are first asked for.
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
    level: float
    notes: tuple[str, ...] = ()
    judged: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def pointwise(self) -> Band:
        """Return the band that holds at each threshold by itself."""
        return cast("Band", self.judged["pointwise"]())

    @cached_property
    def simultaneous(self) -> Band:
        """Return the band that holds at all thresholds together."""
        return cast("Band", self.judged["simultaneous"]())

    @cached_property
    def average_precision(self) -> Interval:
        """Return the average precision with its interval."""
        return cast("Interval", self.judged["average_precision"]())

    @cached_property
    def roc_auc(self) -> Interval:
        """Return the area under the ROC curve with its interval."""
        return cast("Interval", self.judged["roc_auc"]())

    @cached_property
    def best(self) -> BestThreshold:
        """Return the threshold with the highest F-beta."""
        return cast("BestThreshold", self.judged["best"]())

    @cached_property
    def calibration(self) -> Calibration | None:
        """Return the calibration; None if the scores are not probabilities."""
        return self.judged["calibration"]() if "calibration" in self.judged else None

    def shown(self, most: int = _MOST_POINTS) -> NDArray[np.int64]:
        """Return the indices of at most `most` thresholds, spread along the curve."""
        n = len(self.thresholds)
        if n <= most:
            return np.arange(n)
        # half of them spread evenly by recall, half by the number of items accepted
        taken = self.tp + self.fp
        wanted = np.linspace(0, 1, most // 2)
        places = [
            np.searchsorted(along, wanted * along[-1]) for along in (self.recall, taken / taken[-1])
        ]
        return np.unique(np.clip(np.concatenate([[0, n - 1], *places]), 0, n - 1))

    def to_dict(self) -> dict[str, Any]:
        """Return the curve for JSON: of many thresholds some, spread along it."""
        bands = (self.pointwise, self.simultaneous)
        entry = {
            **self._own(_IN_JSON),
            "best_threshold": self.best,
            "calibration": self.calibration,
            "bands": {band.kind: band.method for band in bands},
            "band_notes": {band.kind: band.note for band in bands if band.note},
            "thresholds": len(self.thresholds),
            "points": self._points(self.shown()),
            "notes": self.notes,
        }
        content: dict[str, Any] = jsonable(entry)
        return content

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each threshold, all of them."""
        return self._points(np.arange(len(self.thresholds)))

    def _points(self, places: NDArray[np.int64]) -> list[dict[str, Any]]:
        """Return a dictionary for each of these thresholds, with both bands."""
        columns = {
            "threshold": self.thresholds,
            "tp": self.tp,
            "fp": self.fp,
            "precision": self.precision,
            **self.pointwise._own(_ENDS[:2]),
            "recall": self.recall,
            **self.pointwise._own(_ENDS[2:]),
            **{f"{end}_simultaneous": own for end, own in self.simultaneous._own(_ENDS).items()},
        }
        rows = zip(*(jsonable(column[places]) for column in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def _metrics(self) -> Iterable[Named]:
        yield from self.average_precision._metrics()
        yield from self.roc_auc._metrics()
        best, scaled = self.best, self.calibration
        yield (f"best_{best.metric}",), best.estimate
        for end in ("low", "high", "threshold"):
            yield (f"best_{best.metric}_{end}",), getattr(best, end)
        if scaled is not None:
            yield ("ece",), scaled.ece_debiased
            for name in ("ece_low", "ece_high", "brier"):
                yield (name,), getattr(scaled, name)

    def plot(self) -> list[Axes]:
        """Draw the curve, scores by threshold and calibration; return matplotlib's axes."""
        return drawn_by("curve_report.curves_figure", (self,))

    def _document(self) -> Any:
        return shown_by("curve_report.curves_document", (self,))

    def __str__(self) -> str:
        ap = self.average_precision
        limits = with_limits(ap.estimate, ap.low, ap.high)
        return f"{self.name}: average precision {limits}; {self.best}"


@dataclass(frozen=True, eq=False, repr=False)
class CurveComparison(SignedResult):
    """Comparison of two systems that give probabilities for the same items.

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
        Messages on what was recognised, and caveats.
    signature
        A short reproducible description of every choice.
    """

    curves: tuple[Curve, ...]
    comparisons: tuple[Comparison, ...]
    verdicts: tuple[str, ...]
    level: float
    notes: tuple[str, ...] = ()

    _report = "curve_report.comparison_document"
    _lines = ("comparisons",)

    def __getitem__(self, metric: str) -> Comparison:
        """Return the comparison of a metric by its name."""
        return {c.metric: c for c in self.comparisons}[metric]

    def to_dict(self) -> dict[str, Any]:
        """Return both curves and their comparisons."""
        content: dict[str, Any] = jsonable(self._own(("curves", "comparisons", "verdicts")))
        return content

    def _metrics(self) -> Iterable[Named]:
        for curve in self.curves:
            yield from curve._metrics_under(curve.name)
        for c in self.comparisons:
            yield from c._metrics_under(f"{c.b} vs {c.a}")

    def plot(self) -> list[Axes]:
        """Draw both curves; return matplotlib's axes."""
        return drawn_by("curve_report.curves_figure", self.curves)

    def _key_numbers(self) -> str:
        return "; ".join(c._key_numbers() for c in self.comparisons)

    def __str__(self) -> str:
        return " ".join(self.verdicts)


# --- Sweeps of a segmenter's threshold


@dataclass(frozen=True, eq=False, repr=False)
class BestCut(Result):
    """Cut at which a score is highest."""

    metric: str  #: The score.
    share: float  #: The smallest λ of the sweep's steps at which it is highest.
    score: float  #: The score at this λ.
    #: The smallest of all possible λ (one step per position) at which it is highest.
    finest_share: float
    finest_score: float  #: The score at that λ.

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; the share is called lambda there."""
        entry = super().to_dict()
        return {key.replace("share", "lambda"): value for key, value in entry.items()}

    def __str__(self) -> str:
        return (
            f"{self.metric} is highest at λ = {self.share:g} ({self.score:.4f}); of all λ at "
            f"{self.finest_share:.4f} ({self.finest_score:.4f})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class SegmentationSweep(ScoresByMetric, SignedResult):
    """Scores of a segmenter if the λ·100 % most probable boundaries are accepted.

    Attributes
    ----------
    shares
        The values of λ, from 0 (nothing is split) to 1 (everything is).
    accepted
        The number of boundaries that are accepted at each.
    thresholds
        The probability of the last one accepted; NaN if there is none.
    counts
        True and false positives, false and true negatives (substrings) at each.
    scores
        Precision, recall, F1 and the true negative rate (tnr), each an interval with arrays.
    best
        The cut at which each score is highest.
    positions, sentences
        The number of inner positions and of sentences.
    level
        The level of the intervals.
    signature
        A short reproducible description of every choice.
    """

    shares: Array
    accepted: NDArray[np.int64]
    thresholds: Array
    counts: Counts
    scores: tuple[Interval, ...]
    best: tuple[BestCut, ...]
    positions: int
    sentences: int
    level: float

    _report = "curve_report.sweep_document"

    def best_of(self, metric: str) -> BestCut:
        """Return the cut at which a metric is highest."""
        return {best.metric: best for best in self.best}[metric]

    @property
    def splitting_bias(self) -> Array:
        """Return the number of words returned per gold word, at each λ."""
        return np.asarray(self.counts.predicted / self.counts.positives)

    def to_dict(self) -> dict[str, Any]:
        """Return the sweep for JSON, with one entry per step."""
        counts = self.counts.to_dict()
        steps = [
            {
                "lambda": self.shares[i],
                "accepted": self.accepted[i],
                "threshold": self.thresholds[i],
                "counts": {name: values[i] for name, values in counts.items()},
                "splitting_bias": self.splitting_bias[i],
                "scores": [score[i].to_dict() for score in self.scores],
            }
            for i in range(len(self.shares))
        ]
        entry = {"sentences": self.sentences, "positions": self.positions, "level": self.level}
        return {**entry, "steps": jsonable(steps), "best": jsonable(self.best)}

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each step."""
        return [
            {
                **{name: step[name] for name in ("lambda", "accepted", "threshold")},
                **step["counts"],
                **{score["metric"]: score["estimate"] for score in step["scores"]},
            }
            for step in self.to_dict()["steps"]
        ]

    def __str__(self) -> str:
        return (
            f"{len(self.shares) - 1} steps over {self.positions} positions: "
            f"{'; '.join(str(best) for best in self.best)}"
        )
