"""Limits of a binomial proportion: x successes in n trials. Arrays in, arrays out.

Empty tables (n = 0) come out as NaN; `intervals` says what that means.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

__all__ = ["clopper_pearson", "jeffreys", "normal_quantile", "wald", "wilson"]

_Limits = tuple[Any, Any]


def normal_quantile(level: float) -> float:
    """Return the z for which a standard normal variable lies within ±z with probability `level`."""
    return float(np.sqrt(2) * special.erfinv(level))


def clopper_pearson(x: Any, n: Any, tail: float) -> _Limits:
    """Invert the two one-sided binomial tests: quantiles of two Beta distributions."""
    low = special.betaincinv(x, n - x + 1, tail)
    high = special.betainccinv(x + 1, n - x, tail)
    return np.where(x == 0, 0.0, low), np.where(x == n, 1.0, high)


def wald(x: Any, n: Any, z: float) -> _Limits:
    """Add and subtract z standard errors; may leave [0, 1] or have no width at all."""
    share = x / n
    reach = z * np.sqrt(share * (1 - share) / n)
    return share - reach, share + reach


def wilson(x: Any, n: Any, z: Any) -> _Limits:
    """Invert the score test: roots of (1+k)p² - (2p̂+k)p + p̂² = 0 with k = z²/n."""
    misses, share = n - x, x / n
    root = z * np.sqrt(share * misses + 0.25 * z * z) + 0.5 * z * z  # times n
    # The product of the roots is p̂²/(1+k): dividing by the large root gives the small one without
    # cancellation, and the same for 1-p; p̂ = 0 and p̂ = 1 then give 0 and 1 exactly.
    return share * x / (x + root), 1 - misses / n * misses / (misses + root)


def jeffreys(x: Any, n: Any, tail: float) -> _Limits:
    """Equal-tailed limits of the posterior Beta(x + 1/2, n - x + 1/2)."""
    a, b = x + 0.5, n - x + 0.5
    return special.betaincinv(a, b, tail), special.betainccinv(a, b, tail)
