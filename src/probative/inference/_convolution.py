"""A tail probability of a short walk, coin by coin.

With few coins the characteristic function is nowhere negligible, and adding the coins one after
the other is quicker than finding it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative.inference._tilt import TiltedWalk

__all__ = ["Convolution"]


class Convolution:
    """A tilted walk, ready to be summed over regions: the probabilities of its window."""

    def __init__(self, walk: TiltedWalk) -> None:
        self.walk = walk
        low = np.array([walk.rows[0], walk.columns[0]])
        high = np.array([walk.rows[-1], walk.columns[-1]])
        mean, corner, law = np.zeros(2), np.zeros(2, dtype=np.int64), np.ones((1, 1))
        for step, chance in zip(
            np.repeat(walk.steps, walk.times, axis=0),
            np.repeat((1 + walk.tilt) / 2, walk.times),
            strict=True,
        ):
            corner, law = corner + np.minimum(step, 0), _with_coin(law, step, chance)
            mean = mean + chance * step
            # what is as far from the mean as the window's edge will not find its way back
            moved = np.round(mean).astype(np.int64) - walk.origin
            start = np.maximum(low + moved - corner, 0)
            stop = np.minimum(high + moved + 1 - corner, law.shape)
            corner, law = corner + start, law[start[0] : stop[0], start[1] : stop[1]]
        self.law = law
        self.rows = corner[0] + np.arange(law.shape[0])
        self.columns = corner[1] + np.arange(law.shape[1])

    def tail(self, first: NDArray[np.int64]) -> float:
        """The probability of what lies from the column `first` on in each row."""
        begin = first[self.rows - self.walk.rows[0]]
        i, j = self.rows - self.walk.origin[0], self.columns - self.walk.origin[1]
        log_weight = -np.add.outer(self.walk.tau[0] * i, self.walk.tau[1] * j)
        log_weight[self.columns < begin[:, None]] = -np.inf
        return float(np.sum(self.law * np.exp(log_weight)) * np.exp(-self.walk.log_gain))


def _with_coin(
    law: NDArray[np.float64], step: NDArray[np.int64], chance: float
) -> NDArray[np.float64]:
    """The law after a step that is taken with this chance."""
    height, width = law.shape
    wider = np.zeros((height + abs(step[0]), width + abs(step[1])))
    stay, go = np.maximum(-step, 0), np.maximum(step, 0)
    wider[stay[0] : stay[0] + height, stay[1] : stay[1] + width] = (1 - chance) * law
    wider[go[0] : go[0] + height, go[1] : go[1] + width] += chance * law
    return wider
