"""Define the results of sweeps of a segmenter's threshold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.results.base import Interval, Result, jsonable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative._validation import Array
    from probative.counts import Counts
    from probative.reporting.document import Document


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
