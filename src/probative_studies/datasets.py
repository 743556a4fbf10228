"""Do the claims about several data sets hold? By simulation.

The count of data sets on which B is better must not exceed the true number in more than 5 % of the
cases, whichever of the data sets are the better ones. The interval of the mean difference must hold
the true mean in 95 %, whatever the sizes. Where the difference is the same on all data sets,
Cochran's Q must not find that it varies in more than 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.random import Generator
from scipy import special

from probative._validation import Array, whole_number
from probative.counts import PairedCounts
from probative.inference.differences import difference
from probative.inference.groups import METHODS, count_of_conjunctions, heterogeneity, mean_limits
from probative.inference.units import variance_of_difference
from probative_studies.clusters import Condition, case_shares, draw, true_difference
from probative_studies.harness import Report, Row, quiet, share_of, streams

_LEVEL = 0.95
_UNITS = (20, 60, 200, 35, 100)  # of data sets, in turn
_DISPUTED = (12, 40, 150, 25, 80)  # items on which the systems differ
_BETTER = (0.9, 0.75, 0.65, 0.8, 0.7)  # the share of them that B wins where it is better
_MEANS = 4  # a quarter of the replicates: they take a hundred times as long


class _DatasetClaim(Row):
    """Frequency of a claim about several data sets under one condition."""

    @property
    def holds(self) -> bool:
        """Return True if at most 5 % are wrong (of intervals 7 %), within three standard errors."""
        wrong, allowed = self.share, 1 - _LEVEL
        if self.claim == "mean covered":
            wrong, allowed = 1 - self.share, 0.07
        slack = 3 * math.sqrt(allowed * (1 - allowed) / self.replicates)
        return bool(wrong <= allowed + slack)

    def __str__(self) -> str:
        better = "" if self.better is None else f", better on {self.better}"
        return (
            f"{self.claim} by {self.method}, {self.datasets} {self.dependence} data sets{better}: "
            f"{self.share:.4f} ± {self.standard_error:.4f}"
        )


def dataset_study(
    datasets: Sequence[int] = (2, 3, 6, 20),
    *,
    replicates: int = 4000,
    rng: int = 0,
    report: Report = quiet,
) -> list[_DatasetClaim]:
    """Simulate how often the claims about several data sets hold.

    >>> all(claim.holds for claim in dataset_study([3], replicates=200))
    True
    """
    replicates = whole_number("replicates", replicates)
    sizes = [whole_number("datasets", n) for n in datasets]
    counted = [
        (n, better, dependence)
        for n in sizes
        for better in sorted({0, 1, n // 2, n - 1})
        for dependence in ("independent", "shared")
    ]
    found: list[_DatasetClaim] = []
    for condition, generator in streams([*counted, *sizes], rng, report):
        if isinstance(condition, int):
            found += _means(condition, -(-replicates // _MEANS), generator)
        else:
            n, better, dependence = condition
            found += _too_large(n, better, dependence, replicates, generator)
    return found


def _too_large(
    n: int, better: int, dependence: str, replicates: int, rng: Generator
) -> Iterator[_DatasetClaim]:
    """Count how often more data sets are claimed than there are better ones."""
    pvalues = _pvalues(n, better, dependence, replicates, rng)
    for method in METHODS:
        if (method, dependence) == ("fisher", "shared"):
            continue  # which it does not promise
        wrong = [count_of_conjunctions(p, method, _LEVEL) > better for p in pvalues]
        yield _claim("count too large", n, better, method, dependence, wrong)


def _pvalues(n: int, better: int, dependence: str, replicates: int, rng: Generator) -> Array:
    """Draw one-sided exact p-values of the sign test, by replicate and data set."""
    disputed = np.array([_DISPUTED[i % len(_DISPUTED)] for i in range(n)])
    chance = np.array([_BETTER[i % len(_BETTER)] if i < better else 0.5 for i in range(n)])
    won = rng.binomial(disputed, chance, (replicates, n))
    if dependence == "shared":
        disputed[better:] = disputed[-1]
        won[:, better:] = won[:, -1:]
    # P(at least so many of the disputed items are won by chance)
    return np.where(won > 0, special.bdtrc(np.maximum(won - 1, 0), disputed, 0.5), 1.0)


def _means(n: int, replicates: int, rng: Generator) -> Iterator[_DatasetClaim]:
    """Count how often the interval of the mean covers, and Q finds a spread that is not there."""
    conditions = [
        Condition("difference", units=_UNITS[i % len(_UNITS)], sizes="lognormal", items=5, gap=0.02)
        for i in range(n)
    ]
    shares = [case_shares(condition) for condition in conditions]
    truth = float(np.mean([true_difference(own) for own in shares]))
    covered, spread = [], []
    for _ in range(replicates):
        cases = zip(conditions, shares, strict=True)
        sets = [PairedCounts(draw(rng, condition, own)) for condition, own in cases]
        gaps = [difference(one, "f1", level=_LEVEL) for one in sets]
        _, low, high = mean_limits([(g.estimate, g.low, g.high) for g in gaps])
        covered.append(low <= truth <= high)
        told = [variance_of_difference(one, "f1") for one in sets]
        errors, freedoms = [math.sqrt(v) for v, _ in told], [freedom for _, freedom in told]
        tested = heterogeneity([g.estimate for g in gaps], errors, freedoms)
        spread.append(tested is not None and tested.pvalue <= 1 - _LEVEL)
    for claim, method, held in (
        ("mean covered", "mover", covered),
        ("spread found", "welch", spread),
    ):
        yield _claim(claim, n, None, method, "independent", held)


def _claim(
    claim: str, n: int, better: int | None, method: str, dependence: str, events: Sequence[bool]
) -> _DatasetClaim:
    """Count the events; `better` is None where it does not matter on how many B is better."""
    share, error = share_of(events)
    about = {"claim": claim, "datasets": n, "better": better, "method": method}
    found = {"dependence": dependence, "share": share, "standard_error": error}
    return _DatasetClaim(**about, **found, replicates=len(events))
