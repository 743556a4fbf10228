"""The curve of a posterior, for every figure that shows one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from probative.results import DifferencePosterior

__all__ = ["density_curve"]

_SHOWN = 0.999  # of the probability; what lies further out is too low to be seen
_POINTS = 101
_ENDS = 1 - 1e-9  # of the largest difference, which has no density itself


def density_curve(posterior: DifferencePosterior) -> tuple[list[float], list[float]] | None:
    """Differences and the density there, or None where there is no curve to draw."""
    limits = np.array(getattr(posterior, "shown", posterior.interval)(_SHOWN))
    most = 1.0 if np.max(np.abs(limits)) <= 1 else 2.0  # what scores down to -1 may differ by
    low, high = np.clip(limits, -_ENDS * most, _ENDS * most)
    if not low < high:
        return None
    grid = np.linspace(low, high, _POINTS)
    density = np.asarray(posterior.pdf(grid))
    return (grid.tolist(), density.tolist()) if np.all(np.isfinite(density)) else None
