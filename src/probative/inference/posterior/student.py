"""Compute posteriors of a difference with Student's distribution, or from its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from probative._validation import Array, Number, open_probability
from probative.counts import PairedCounts
from probative.inference.posterior.independent import Outcomes
from probative.inference.posterior.paired import PairedPosterior, paired_posterior
from probative.inference.posterior.single import plain
from probative.inference.units import Dependence, dependence_of_difference, student_quantile
from probative.metrics import span

if TYPE_CHECKING:
    from probative.results import DifferencePosterior


# --- Posterior of a difference from its estimate and standard error: Student's distribution


@dataclass(eq=False, repr=False)
class StudentPosterior(Outcomes):
    """Student's distribution of a difference, B minus A, around its estimate.

    If `models` is given, the posterior that leaves fewer things to chance, no probability is
    farther from one half than there. `most` is the largest possible difference of two scores.
    """

    kind = "student"

    estimate: float
    standard_error: float
    degrees_of_freedom: float
    models: DifferencePosterior | None = None
    most: float = 1.0

    def _at(self, name: str, d: ArrayLike) -> Any:
        off = np.asarray(d, dtype=float) - self.estimate
        if name != "pdf":
            own = self._below(off if name == "cdf" else -off)
            if self.models is None:
                return plain(own)
            # the median of both and one half
            return plain(np.median([own, getattr(self.models, name)(d), 0.0 * own + 0.5], axis=0))
        deviation, freedom = self.standard_error, self.degrees_of_freedom
        x = off / deviation
        if math.isinf(freedom):
            return plain(np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) / deviation)
        scale = special.beta(0.5, freedom / 2) * math.sqrt(freedom) * deviation
        return plain((1 + x**2 / freedom) ** (-(freedom + 1) / 2) / scale)

    def interval(self, level: float = 0.95) -> tuple[Number, Number]:
        """Return the equal-tailed interval, within the range of a difference."""
        reach = 0.0
        if self.standard_error > 0:
            reach = float(student_quantile(level, self.degrees_of_freedom)) * self.standard_error
        return max(-self.most, self.estimate - reach), min(self.most, self.estimate + reach)

    def _below(self, x: ArrayLike) -> Number:
        """Return P(estimation error < x); a tie counts half."""
        if not self.standard_error > 0:
            return 0.5 + 0.5 * np.sign(x)
        z = np.asarray(x) / self.standard_error
        if math.isinf(self.degrees_of_freedom):
            return special.ndtr(z)
        return special.stdtr(self.degrees_of_freedom, z)


# --- Posterior of a difference, approximated from its estimate and interval


class LimitsPosterior(Outcomes):
    """Two half-normal distributions around an estimate, as wide as its interval on either side.

    `level` is that of the interval, `most` the largest possible difference of two scores.
    """

    kind = "limits"

    def __init__(
        self, estimate: float, low: float, high: float, level: float = 0.95, most: float = 1.0
    ):
        self.estimate, self.most = estimate, most
        quantile = float(special.ndtri(0.5 + level / 2))
        self.below, self.above = (estimate - low) / quantile, (high - estimate) / quantile

    def _at(self, name: str, d: ArrayLike) -> Any:
        off = np.asarray(d, dtype=float) - self.estimate
        deviation = np.where(off < 0, self.below, self.above)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(off == 0, 0.0, off / deviation)  # in standard errors of its side
        if name != "pdf":
            return plain(special.ndtr(z if name == "cdf" else -z))
        return plain(np.exp(-(z**2) / 2) / (np.maximum(deviation, 1e-300) * np.sqrt(2 * np.pi)))

    def interval(self, level: float = 0.95) -> tuple[Number, Number]:
        """Return the equal-tailed interval, within the range of a difference."""
        quantile = float(special.ndtri(0.5 + level / 2))
        low, high = self.estimate - quantile * self.below, self.estimate + quantile * self.above
        return max(-self.most, low), min(self.most, high)


# --- Posterior of a difference where items come in units
#
# The counts are divided by the design effect of the difference. The design effect is itself an
# estimate with few degrees of freedom: where the paired posterior of the divided counts has the
# probability P0, Student's distribution replaces the normal one, P = T(Φ⁻¹(P0)). Probabilities and
# intervals of every level follow from the same P.

# Standard deviations up to which the tails of the paired posterior are known, to 1e-15. Student's
# tails reach farther: what lies beyond is taken to be no less likely than what lies there.
_FARTHEST = 8.0
_USUAL_TAIL = 0.025  # of an interval of level 0.95
_WIDEST_PICTURE = 3.3  # standard deviations of the paired posterior, before it is stretched


def posterior_of_difference(
    paired: PairedCounts, metric: str = "f1", *, prior: float = 1.0, beta: float = 1.0
) -> ClusteredPosterior:
    """Return the posterior of the difference of two scores, B minus A, allowing for units.

    Examples
    --------
    >>> import probative as pv
    >>> from probative.inference.posterior.student import posterior_of_difference
    >>> rows = [[0, 0, 3, 0, 12, 0, 0], [2, 0, 0, 0, 14, 1, 0], [0, 2, 0, 0, 11, 0, 1]]
    >>> sentences = pv.PairedCounts(rows, [9, 4, 6])
    >>> print("{:.3f} {:.3f} {:.3f}".format(*posterior_of_difference(sentences).probabilities(0)))
    0.002 0.000 0.998
    """
    dependence = dependence_of_difference(paired, metric, beta=beta) if paired.has_units else None
    return ClusteredPosterior(paired, metric, dependence, prior=prior, beta=beta)


class ClusteredPosterior(Outcomes):
    """The posterior of the difference of a score of two systems on units, B minus A.

    Without a dependence between items, this is the paired posterior of the summed table.
    """

    kind = "paired"

    def __init__(
        self,
        paired: PairedCounts,
        metric: str = "f1",
        dependence: Dependence | None = None,
        *,
        prior: float = 1.0,
        beta: float = 1.0,
    ):
        self.dependence = dependence
        self.choices = metric, prior, beta  # as they were given
        divisor = 1.0 if dependence is None else dependence.divisor
        self.table = paired.total() / divisor
        _paired(self.table, *self.choices)  # refuses what it cannot use

    @property
    def base(self) -> PairedPosterior:
        """Return the paired posterior of the divided table."""
        return _paired(self.table, *self.choices)

    @property
    def no_evidence(self) -> bool:
        """Return True if a score rests on a single unit, so that there are no probabilities."""
        return self.dependence is not None and self.dependence.no_evidence

    @property
    def mean(self) -> float:
        """Return the expected difference, before Student's distribution widens both sides."""
        return math.nan if self.no_evidence else self.base.mean

    @property
    def error(self) -> float:
        """Return an estimate of the error of the probabilities at 0 and at the ends for level 0.95.

        Student's tails are longer than the normal ones, and so are errors in them.
        """
        error = self.base.error
        if self.dependence is None or self.no_evidence:
            return error
        p = np.array([_USUAL_TAIL, min(self.base.cdf(0.0), self.base.sf(0.0))])
        z = special.ndtri([p, p + np.minimum(p, error)])
        there, beside = special.stdtr(self.dependence.tail_freedom, z)
        return max(error, float(np.max(beside - there)))

    def _at(self, name: str, d: ArrayLike) -> Any:
        d = np.asarray(d, dtype=np.float64)
        if self.no_evidence:
            return plain(np.full(d.shape, np.nan))
        if self.dependence is None:
            return self.base._at(name, d)
        # all three at once, since they come from the same nodes
        below, above, density = map(np.asarray, self.base._tails(d, density=name == "pdf"))
        # Φ⁻¹ of the probability of at most d, from the smaller of the two tails
        z = np.sign(above - below) * special.ndtri(np.minimum(below, above))
        z = np.clip(z, -_FARTHEST, _FARTHEST)
        z = np.where(np.abs(d) < span(self.choices[0]), z, np.copysign(np.inf, d))
        if name != "pdf":
            return plain(special.stdtr(self.dependence.tail_freedom, z if name == "cdf" else -z))
        inside = np.abs(z) < _FARTHEST
        z = np.where(inside, z, 0.0)
        n = self.dependence.tail_freedom
        log_student = -special.betaln(n / 2, 0.5) - np.log(n) / 2 - (n + 1) / 2 * np.log1p(z**2 / n)
        log_normal = -(z**2) / 2 - np.log(2 * np.pi) / 2
        with np.errstate(over="ignore"):
            return plain(np.where(inside, density * np.exp(log_student - log_normal), 0.0))

    @property
    def _symmetric(self) -> bool:
        return np.array_equal(self.table.cases, self.table.swapped().cases)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the equal-tailed interval of the difference with probability `level`."""
        level = open_probability("level", level)
        if self.dependence is None:
            return self.base.interval(level)
        t = student_quantile(level, self.dependence.tail_freedom)
        if self.no_evidence or t > _FARTHEST:
            return -span(self.choices[0]), span(self.choices[0])
        return self.base.limits(float(special.ndtr(-t)))

    def curve(self, points: int = 201) -> tuple[Array, Array]:
        """Return differences from the 0.001 to the 0.999 quantile, and the density there."""
        d = np.linspace(*self.shown(0.998), points)
        return d, np.asarray(self.pdf(d))

    def shown(self, level: float) -> tuple[float, float]:
        """Return the interval of this level, or a narrower one for a picture of the density.

        With few units, Student's tails reach beyond the largest possible difference. Their
        probability piles up at the ends, in spikes that say nothing about the systems.
        """
        low, high = self.interval(level)
        if self.dependence is None or self.no_evidence:
            return low, high
        # the fewer degrees of freedom, the closer to the middle the spikes start
        in_sight = min(1.5 + self.dependence.tail_freedom, _WIDEST_PICTURE)
        least, most = self.base.limits(float(special.ndtr(-in_sight)))
        return max(low, least), min(high, most)


def _paired(table: PairedCounts, metric: str, prior: float, beta: float) -> PairedPosterior:
    cases = table.cases if table.has_negatives else table.cases[:7]
    return _recent(tuple(cases.tolist()), metric, float(prior), float(beta))


# The nodes of one posterior take megabytes, and the results of all pairs of many systems are kept
# at once: results hold only their tables, and the posteriors used last are cached here.
@lru_cache(maxsize=8)
def _recent(cases: tuple[float, ...], metric: str, prior: float, beta: float) -> PairedPosterior:
    return paired_posterior(PairedCounts(cases), metric, prior=prior, beta=beta)
