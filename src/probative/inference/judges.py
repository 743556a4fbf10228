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

    from probative._types import Array
    from probative.counts import Counts
    from probative.inference.strata import Draw

__all__ = ["Judge", "Judged"]

# Labelled units of a stratum below which its slopes are not trusted: so many per slope
_PER_SLOPE = 10
_ALL_BUT_EQUAL = 1e-6
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Judged:
    """What a judge leaves of the values of labelled units.

    Attributes
    ----------
    residuals
        One per labelled unit: what would be left of it if the slopes had been found without it,
        weighed by how much the unit counts in the total. Their variance is that of the total also
        where a few units make the slopes, or vary more than others.
    shift
        What the judge adds to the total over the pool.
    lost
        By stratum, the degrees of freedom that the slopes took; 0 where there are none.
    """

    residuals: Array
    shift: float
    lost: Array

    def __sub__(self, other: Judged) -> Judged:
        """Of the difference of two values that were judged by the same slopes."""
        return Judged(self.residuals - other.residuals, self.shift - other.shift, self.lost)


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
        """Slopes within each stratum; all systems' opinions explain each, so differences agree."""
        residuals, shift = values.copy(), np.zeros(values.shape[1])
        lost = np.zeros(len(draw.sizes))
        for h in np.flatnonzero((draw.rest > 0) & (draw.drawn > 0)):
            mine = draw.stratum == h
            known = opinions[self.labelled[mine]]
            x, y = known - known.mean(axis=0), values[mine] - values[mine].mean(axis=0)
            x[np.abs(x) <= _ROUNDING * np.abs(known).max()] = 0.0
            inverse, rank = _inverse_of_squares(x)
            if not rank or len(x) < _PER_SLOPE * rank:
                continue
            slopes = inverse @ x.T @ y
            off = opinions[self.stratum == h].mean(axis=0) - known.mean(axis=0)
            shift += draw.sizes[h] * off @ slopes
            lost[h] = rank
            residuals[mine] = (y - x @ slopes) * _counted_without(x, inverse, off)[:, None]
        return [Judged(residuals[:, k], float(shift[k]), lost) for k in range(len(shift))]


def _inverse_of_squares(x: Array) -> tuple[Array, int]:
    """The inverse of x'x, and how many slopes there are: all but equal opinions count once."""
    _, lengths, axes = np.linalg.svd(x, full_matrices=False)
    kept = (lengths > 0) & (lengths > _ALL_BUT_EQUAL * lengths[0])
    along = axes[kept] / lengths[kept, None]
    return along.T @ along, int(kept.sum())


def _counted_without(x: Array, inverse: Array, off: Array) -> Array:
    """What to multiply residuals by: the weight of a unit, over what it has of its own slopes."""
    n = len(x)
    weight = 1 + n * (x @ inverse @ off)
    leverage = 1 / n + np.einsum("ij,jk,ik->i", x, inverse, x)
    # a unit that a slope rests on alone has no residual, and says nothing about it
    return np.asarray(weight * (1 - 1 / n) / np.maximum(1 - leverage, 1 / n))
