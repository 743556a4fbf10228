"""The difference of two scores on one test set."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from probative._validation import one_of, open_probability, positive
from probative.counts import PairedCounts
from probative.errors import InputError
from probative.inference import clusters
from probative.inference.intervals import interval
from probative.inference.paired_posterior import PairedPosterior
from probative.metrics import METRICS, score
from probative.results import Difference

if TYPE_CHECKING:
    from probative.results import Interval

__all__ = ["METHODS", "difference"]

METHODS = ("mover", "bayes")


def difference(
    paired: PairedCounts,
    metric: str = "f1",
    *,
    method: str = "mover",
    level: float = 0.95,
    beta: float = 1.0,
    prior: float = 1.0,
) -> Difference:
    """An interval for the difference of two scores, B minus A.

    Where there are units, the table is divided by the design effect of the difference, so that
    the interval allows for the dependence of the items of a unit. Without units the items are
    taken to be independent.

    Parameters
    ----------
    paired
        The cases of the two systems, one table or a row a unit.
    metric
        One of precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv.
    method
        "mover" combines the two single intervals, of Wilson's kind, with the correlation of the
        two scores; "bayes" is the equal-tailed interval of the paired posterior.
    level
        The nominal coverage, in (0, 1).
    beta
        The weight of recall in F-beta.
    prior
        The prior weight of a cell of either system's table for "bayes".

    Returns
    -------
    Difference
        With `estimate`, `low`, `high`, the scores `a` and `b`, their `correlation` and the
        `design_effect` of the difference.

    Examples
    --------
    >>> import probative as pv
    >>> paired = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
    >>> print(pv.difference(paired, "f1"))
    f1, B - A: +0.0606 [-0.0126, +0.1391], 0.95 mover interval
    """
    if not isinstance(paired, PairedCounts):
        raise InputError(f"paired: expected PairedCounts, not {type(paired).__name__}")
    one_of("metric", metric, METRICS)
    one_of("method", method, METHODS)
    level = open_probability("level", level)
    beta = positive("beta", beta) if metric == "fbeta" else 1.0
    prior = positive("prior", prior)

    table = paired.total()
    a, b = score(table.a, metric, beta=beta), score(table.b, metric, beta=beta)
    if math.isnan(a) or math.isnan(b):
        undefined = "undefined: the denominator of a score is 0"
        return Difference(metric, method, level, math.nan, -1.0, 1.0, a, b, 0.0, None, undefined)
    effect: float | None = None
    note: str | None = None
    if paired.has_units:
        effect = clusters.design_effect_of_difference(paired, metric, beta=beta)
        note = clusters.undefined_note(effect)
        table = table / clusters.effective_divisor(effect, paired.n_units, level)
    r = clusters.correlation(table, metric, beta=beta)
    if method == "bayes":
        low, high = PairedPosterior(table, metric, prior=prior, beta=beta).interval(level)
    else:
        single_a = interval(table.a, metric, level=level, beta=beta)
        single_b = interval(table.b, metric, level=level, beta=beta)
        low, high = mover(single_a, single_b, r)
    return Difference(metric, method, level, b - a, low, high, a, b, r, effect, note)


def mover(a: Interval, b: Interval, r: float) -> tuple[float, float]:
    """Recover the variances of both scores from their limits, and combine them.

    With correlation r, the limits of a difference lie where the lower half of one interval and
    the upper half of the other meet.
    """
    below_a, above_a = a.estimate - a.low, a.high - a.estimate
    below_b, above_b = b.estimate - b.low, b.high - b.estimate
    estimate = b.estimate - a.estimate
    return estimate - _combined(below_b, above_a, r), estimate + _combined(above_b, below_a, r)


def _combined(x: float, y: float, r: float) -> float:
    """The third side of a triangle whose sides x and y meet at an angle of cosine r."""
    return math.sqrt(max(0.0, (x - y) ** 2 + 2 * (1 - r) * x * y))
