"""The curve of a posterior, for every figure that shows one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from probative.results import DifferencePosterior

__all__ = ["density_curve"]

_SHOWN = 0.999  # of the probability; what lies further out is too low to be seen
_POINTS = 101
_ENDS = 1 - 1e-9  # differences of exactly -1 and 1 have no density


def density_curve(posterior: DifferencePosterior) -> tuple[list[float], list[float]] | None:
    """Differences and the density there, or None where there is no curve to draw."""
    low, high = np.clip(posterior.interval(_SHOWN), -_ENDS, _ENDS)
    if not low < high:
        return None
    grid = np.linspace(low, high, _POINTS)
    density = np.asarray(posterior.pdf(grid))
    return (grid.tolist(), density.tolist()) if np.all(np.isfinite(density)) else None
