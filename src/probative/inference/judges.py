"""A judge's opinion on every unit of a pool, used to sharpen what few labels tell.

In every stratum the labelled units tell how far the truth follows the judge: a regression slope.
The total over the pool is that of the labelled units plus the slope times what the judge knows of
the others. An opinion that has nothing to do with the truth has a slope near 0 and changes nothing;
a biased one cancels, since only how the judge differs between units is used (prediction-powered
inference with a tuned slope; the regression estimator of survey sampling).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.metrics import contributions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.counts import Counts
    from probative.inference.strata import Draw

    Array = NDArray[np.float64]

__all__ = ["Judge", "Judged"]

# Labelled units of a stratum below which its slopes are not trusted: so many per slope
_PER_SLOPE = 10


@dataclass(frozen=True, eq=False)
class Judged:
    """What a judge leaves of the values of labelled units.

    Attributes
    ----------
    residuals
        One per labelled unit.
    shift
        What the judge adds to the total over the pool.
    lost
        By stratum, the degrees of freedom that the slopes took; 0 where there are none.
    stretch
        By stratum, by how much not knowing the slopes makes the variance larger.
    """

    residuals: Array
    shift: float
    lost: Array
    stretch: Array

    def __sub__(self, other: Judged) -> Judged:
        """Of the difference of two values that were judged by the same slopes."""
        return Judged(
            self.residuals - other.residuals, self.shift - other.shift, self.lost, self.stretch
        )


@dataclass(frozen=True, eq=False)
class Judge:
    """What somebody says of every unit of a pool, labelled or not.

    Attributes
    ----------
    counts
        The counts of each system against the judge's opinion, one row per unit of the pool.
    stratum
        The number of the stratum of every unit.
    labelled
        The numbers of the labelled units in the pool, in the order of their labels.
    """

    counts: tuple[Counts, ...]
    stratum: NDArray[np.intp]
    labelled: NDArray[np.intp]

    @classmethod
    def of(cls, counts: Sequence[Counts], stratum: Any, labelled: Any, draw: Draw) -> Judge:
        """Check that the pool is that of the draw."""
        strata, rows = np.asarray(stratum), np.asarray(labelled)
        if any(own.shape != strata.shape for own in counts):
            raise InputError(
                f"judge: counts of {[own.shape for own in counts]} units; expected {strata.shape}"
            )
        sizes = np.bincount(strata, minlength=len(draw.sizes))
        if not np.array_equal(sizes, draw.sizes) or not np.array_equal(strata[rows], draw.stratum):
            raise InputError("judge: other strata than those of the labelled units")
        return cls(tuple(counts), strata.astype(np.intp), rows.astype(np.intp))

    def explain(
        self,
        scores: Sequence[tuple[float, Array]],
        totals: Sequence[Counts],
        draw: Draw,
        metric: str,
        beta: float,
    ) -> list[Judged]:
        """What is left of what units move scores by, the judge's opinion of them being known.

        Parameters
        ----------
        scores
            Of every system its score, and what every labelled unit moves it by.
        totals
            The counts of the pool without the judge.
        draw
            The strata of the labelled units.
        metric, beta
            The score.
        """
        opinions = []
        for own, (score, _), total in zip(self.counts, scores, totals, strict=True):
            x, y = contributions(own, metric, at=total, beta=beta)
            _, bottom = contributions(total, metric, at=total, beta=beta)
            opinions.append((x - score * y) / bottom)
        values = np.stack([moves for _, moves in scores], axis=1)
        return self._regress(values, np.stack(opinions, axis=1), draw)

    def _regress(self, values: Array, opinions: Array, draw: Draw) -> list[Judged]:
        residuals, shift = values.copy(), np.zeros(values.shape[1])
        lost, stretch = np.zeros(len(draw.sizes)), np.ones(len(draw.sizes))
        for h in np.flatnonzero((draw.rest > 0) & (draw.drawn > 0)):
            mine = draw.stratum == h
            slopes = _slopes(values[mine], opinions[self.labelled[mine]])
            if slopes is None:
                continue
            known = opinions[self.labelled[mine]]
            off = opinions[self.stratum == h].mean(axis=0) - known.mean(axis=0)
            residuals[mine] -= (known - known.mean(axis=0)) @ slopes.matrix
            shift += draw.sizes[h] * off @ slopes.matrix
            lost[h] = slopes.rank
            chance = 1 / draw.drawn[h] - 1 / draw.sizes[h]
            stretch[h] = 1 + float(off @ slopes.inverse @ off) / chance
        return [Judged(residuals[:, k], float(shift[k]), lost, stretch) for k in range(len(shift))]


@dataclass(frozen=True, eq=False)
class _Slopes:
    """A regression within a stratum: its slopes, the inverse of the squares, and its rank."""

    matrix: Array
    inverse: Array
    rank: int


def _slopes(values: Array, opinions: Array) -> _Slopes | None:
    """How far values follow opinions; None where too few units tell."""
    x, y = opinions - opinions.mean(axis=0), values - values.mean(axis=0)
    squares = x.T @ x
    rank = int(np.linalg.matrix_rank(x)) if np.any(squares > 0) else 0
    if not rank or len(x) < _PER_SLOPE * rank:
        return None
    inverse = np.linalg.pinv(squares, hermitian=True)
    return _Slopes(inverse @ x.T @ y, inverse, rank)
