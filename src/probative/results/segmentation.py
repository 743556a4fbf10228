"""Define the results of sweeps, learning curves and the study of word segmentation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.results.base import Interval, Result, jsonable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative._validation import Array
    from probative.counts import Counts
    from probative.reporting.document import Document
    from probative.results.comparisons import Comparison, Comparisons
    from probative.results.scores import SystemScores

__all__ = [
    "BestCut",
    "CurvePoint",
    "Reversal",
    "SegmentationStudy",
    "SegmentationSweep",
    "SegmenterRun",
]


@dataclass(frozen=True, eq=False, repr=False)
class BestCut(Result):
    """Cut at which a score is highest.

    Attributes
    ----------
    metric
        The score.
    share, score
        The smallest λ of the sweep's steps at which it is highest, and its value.
    finest_share, finest_score
        The same over every possible λ, with one step per position.
    """

    metric: str
    share: float
    score: float
    finest_share: float
    finest_score: float

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
class SegmentationSweep(Result):
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
    signature: str = field(default="", repr=False)

    def __getitem__(self, metric: str) -> Interval:
        """Return the scores of a metric by its name."""
        return {score.metric: score for score in self.scores}[metric]

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
                "lambda": step["lambda"],
                "accepted": step["accepted"],
                "threshold": step["threshold"],
                **step["counts"],
                **{score["metric"]: score["estimate"] for score in step["scores"]},
            }
            for step in self.to_dict()["steps"]
        ]

    def _document(self) -> Document:
        from probative.reporting.sweep_report import sweep_document

        return sweep_document(self, html=True)

    def __str__(self) -> str:
        return (
            f"{len(self.shares) - 1} steps over {self.positions} positions: "
            f"{'; '.join(str(best) for best in self.best)}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class SegmenterRun(Result):
    """Trained segmenter, and its segmentation of the test set.

    Attributes
    ----------
    system, sentences
        The segmenter, and the number of sentences it was trained on.
    seconds
        The time of training and prediction.
    machine
        The hardware on which they ran.
    losses
        For the network: training and development loss of each epoch.
    best_epoch
        For the network: the epoch whose weights were kept.
    words
        Its segmentation of the test set: one list of words per sentence.
    probabilities
        The probabilities of a boundary at every inner position, if the segmenter gives them and
        they were kept.
    """

    system: str
    sentences: int
    seconds: float
    machine: str
    losses: tuple[tuple[float, float], ...] | None = None
    best_epoch: int | None = None
    words: Sequence[Sequence[str]] = field(default=(), repr=False)
    probabilities: Sequence[Array] | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return (
            f"{self.system}, trained on {self.sentences:,} sentences in {self.seconds:.0f} s "
            f"({self.machine})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class CurvePoint(Result):
    """Scores of a segmenter after training on some number of sentences.

    Attributes
    ----------
    sentences
        The size of the training set.
    scores
        Counts and scores on the test set.
    """

    sentences: int
    scores: SystemScores

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each score."""
        return [{"sentences": self.sentences, **record} for record in self.scores.records()]

    def __str__(self) -> str:
        return f"{self.sentences:,} sentences: {self.scores}"


@dataclass(frozen=True, eq=False, repr=False)
class Reversal(Result):
    """Pair of training sizes between which recall rises and precision falls.

    Attributes
    ----------
    smaller, larger
        The sizes.
    recall, precision
        The comparisons of the two models on the test set.
    """

    smaller: int
    larger: int
    recall: Comparison
    precision: Comparison

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each of the two comparisons."""
        sizes = {"smaller": self.smaller, "larger": self.larger}
        return [{**sizes, **c.records()[0]} for c in (self.recall, self.precision)]

    def __str__(self) -> str:
        return (
            f"from {self.smaller:,} to {self.larger:,} sentences: "
            f"recall {100 * self.recall.difference:+.2f} points (p = {self.recall.pvalue:.3g}), "
            f"precision {100 * self.precision.difference:+.2f} (p = {self.precision.pvalue:.3g})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class SegmentationStudy(Result):
    """Study of segmenters on one language: scores, differences, sweep, learning curve.

    Attributes
    ----------
    corpus
        The files, and their numbers of sentences and words.
    seed
        The seed of all random numbers.
    runs
        The trained segmenters.
    comparisons
        Scores of the systems trained on everything, and all pairs compared.
    sweep, sweep_system
        The threshold sweep and its system; None if no system gives probabilities.
    curve, curve_system
        The learning curve, smallest training set first, and its system.
    reversals
        The steps of that curve at which recall rises and precision falls.
    """

    corpus: dict[str, dict[str, str | int]]
    seed: int
    runs: tuple[SegmenterRun, ...]
    comparisons: Comparisons
    sweep: SegmentationSweep | None
    sweep_system: str | None
    curve: tuple[CurvePoint, ...]
    curve_system: str | None
    reversals: tuple[Reversal, ...]

    @property
    def observations(self) -> tuple[str, ...]:
        """Say whether the two observations of Shao, Hardmeier and Nivre are confirmed."""
        return tuple(text for text in (self._peaks(), self._falls()) if text)

    def _peaks(self) -> str:
        if self.sweep is None:
            return ""
        precision, recall = (self.sweep.best_of(name) for name in ("precision", "recall"))
        holds = "confirmed" if precision.finest_share < recall.finest_share else "not confirmed"
        return (
            f"Precision peaks at a smaller λ than recall: {holds} ({self.sweep_system}: "
            f"λ = {precision.finest_share:.4f} against {recall.finest_share:.4f} of all λ; "
            f"{precision.share:g} against {recall.share:g} of the steps)."
        )

    def _falls(self) -> str:
        if len(self.curve) < 2:
            return ""
        steps = f"{len(self.reversals)} of {len(self.curve) - 1} steps of the learning curve"
        if not self.reversals:
            return f"Precision can fall while recall rises: not confirmed, in {steps}."
        clear = sum(reversal.precision.pvalue <= 0.05 for reversal in self.reversals)
        return (
            f"Precision can fall while recall rises: confirmed, in {steps}: "
            f"{'; '.join(map(str, self.reversals))}. The fall by itself is significant "
            f"(p ≤ 0.05) in {clear} of them."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON."""
        entry = super().to_dict()
        comparisons = entry.pop("comparisons")
        kept = ("systems", "comparisons", "verdicts", "level", "units", "unit")
        return {
            **entry,
            **{key: comparisons[key] for key in kept},
            "observations": list(self.observations),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each comparison."""
        return self.comparisons.records()

    def _document(self) -> Document:
        from probative.reporting.segmentation_report import study_document

        return study_document(self, {}, html=True)

    def __str__(self) -> str:
        return " ".join((str(self.comparisons), *self.observations))
