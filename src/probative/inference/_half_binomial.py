"""Binomial probabilities with one chance in two, to full relative accuracy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["half_binomial"]


def half_binomial(k: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """Probabilities of Bin(n, ½), to full relative accuracy at any n and in any tail.

    Loader's form: the deviance n·[y·atanh y + ½·log(1-y²)], y = (2k-n)/n, and the errors of
    Stirling's formula. Nothing large cancels, as it does in differences of log-gammas.
    """
    inner = k[(k > 0) & (k < n)]
    y = (2 * inner - n) / n
    deviance = n * (y * np.arctanh(y) + 0.5 * np.log1p(-y * y))
    error = _stirling_error(np.array([n])) - _stirling_error(inner) - _stirling_error(n - inner)
    probability = np.full(len(k), 0.5**n if n < 1074 else 0.0)
    probability[(k > 0) & (k < n)] = np.exp(error - deviance) * np.sqrt(
        n / (2 * np.pi * inner * (n - inner.astype(np.float64)))
    )
    return probability


def _stirling_error(n: NDArray[np.int64]) -> NDArray[np.float64]:
    """What Stirling's formula lacks: log n! - log(sqrt(2πn)·(n/e)^n), for n >= 1."""
    small = np.minimum(n, _EXACT_ERRORS.size - 1)
    large = np.maximum(n, _EXACT_ERRORS.size).astype(np.float64)
    r = 1 / (large * large)
    series = (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r / 1188)))) / large
    return np.where(n < _EXACT_ERRORS.size, _EXACT_ERRORS[small], series)


_EXACT_ERRORS = np.array(
    [0.0]
    + [
        math.log(math.factorial(n)) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi)
        for n in range(1, 20)
    ]
)
