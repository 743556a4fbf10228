"""Wilson's score interval of F1 itself: two roots of a quartic, for millions of tables at once.

With F̂ the sample F1 and k = z²/nu, the limits are the roots of

    Q(F) = k F(F-1)(F-2)² + 2(F-F̂)²                            on the F1 scale, or of
    G(x) = (x-x̂)²(1+x)² - k(1+x̂)² x(1-x)                       with F = 2x/(1+x),

one in [0, F̂] and one in [F̂, 1]. Newton's method needs no safeguard here. For the upper root, G is
convex on [x̂, 1] and the Wilson limit of x lies to the right of the root, so the steps go down
to it. For the lower root, Q is convex to the left of it (everywhere if k < 2; and if k >= 2, on
[0, 0.77], while the root is below 0.25), so the steps go up from any point below it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from probative.inference.proportions import wilson
from probative.metrics import f1_from_jaccard

__all__ = ["wilson_direct"]

_ROUNDS = 60  # a dozen is the most that was ever needed; the bound keeps a NaN from looping


def wilson_direct(tp: Any, nu: Any, z: float) -> tuple[Any, Any]:
    """Limits of F1 from tp and nu = tp + fp + fn."""
    return _lower_root(tp, nu, z), _upper_root(tp, nu, z)


def _lower_root(tp: Any, nu: Any, z: float) -> Any:
    k = z**2 / nu
    share = tp / nu
    score = f1_from_jaccard(share)
    # G(x) = 0 is Wilson's equation with k(1+x̂)²/(1+x)² for k. Any x below the root makes that
    # factor too large and the limit too low: a start below the root, twice refined.
    below, _ = wilson(tp, nu, z * (1 + share))
    below, _ = wilson(tp, nu, z * (1 + share) / (1 + below))
    root = f1_from_jaccard(below)
    for _ in range(_ROUNDS):
        error = root - score
        value = 2 * error**2 - k * root * (1 - root) * (2 - root) ** 2
        slope = 4 * error - k * (2 - root) * (2 - root * (7 - 4 * root))
        step = value / slope
        root = root - step
        if not np.any(np.abs(step) > 1e-16):
            break
    return np.clip(root, 0, score)


def _upper_root(tp: Any, nu: Any, z: float) -> Any:
    share = tp / nu
    weight = z**2 / nu * (1 + share) ** 2
    _, root = wilson(tp, nu, z)
    for _ in range(_ROUNDS):
        product = (root - share) * (1 + root)
        value = product**2 - weight * root * (1 - root)
        slope = 2 * product * (1 + 2 * root - share) - weight * (1 - 2 * root)
        step = value / slope
        root = root - step
        if not np.any(np.abs(step) > 1e-16):
            break
    return f1_from_jaccard(np.where(tp == nu, 1.0, np.clip(root, share, 1)))
