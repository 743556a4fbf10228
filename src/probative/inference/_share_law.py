"""A Beta variate whose tails are looked up, where they are wanted at thousands of points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative.inference import _log_odds

if TYPE_CHECKING:
    from probative._types import Array

__all__ = ["ShareLaw"]

_ENTRIES = 2**12
_LEAST = 0.25  # shapes below which tails reach too far for a table


@dataclass(frozen=True)
class ShareLaw:
    """Beta(a, b), by Hermite's rule between the logarithms of its tails at even log odds.

    The relative error is 1e-7 at most, far in a tail, too.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference._share_law import ShareLaw
    >>> [f"{float(x[0]):.6f}" for x in ShareLaw(3.5, 8.5).tails(np.array([0.2]))]
    ['0.257655', '0.742345']
    """

    a: float
    b: float

    def tails(self, share: Array) -> tuple[Array, Array]:
        """P(at most this share) and P(above it)."""
        if min(self.a, self.b) < _LEAST:
            return special.betainc(self.a, self.b, share), special.betaincc(self.a, self.b, share)
        below, above = self._logs
        with np.errstate(divide="ignore"):
            y = np.clip(special.logit(share), below.x[0], below.x[-1])
        inside = (share > 0) & (share < 1)
        return (
            np.where(inside, np.exp(below(y)), share >= 1),
            np.where(inside, np.exp(above(y)), share <= 0),
        )

    def density(self, share: Array) -> Array:
        """The density at a share."""
        inner = np.clip(share, 1e-300, 1 - 1e-16)
        logs = special.xlogy(self.a - 1, inner) + special.xlog1py(self.b - 1, -inner)
        return np.asarray(np.exp(logs - special.betaln(self.a, self.b)))

    @cached_property
    def _logs(self) -> tuple[Any, Any]:
        from scipy.interpolate import CubicHermiteSpline

        shapes = np.array(self.a), np.array(self.b)
        y = np.linspace(*_log_odds.window(*shapes), _ENTRIES)
        density = np.exp(_log_odds.log_pdf(*shapes, y))
        below, above = _log_odds.cdf(*shapes, y), _log_odds.sf(*shapes, y)
        return (
            CubicHermiteSpline(y, np.log(below), density / below),
            CubicHermiteSpline(y, np.log(above), -density / above),
        )
