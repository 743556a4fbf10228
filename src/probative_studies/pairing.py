"""Does the interval of a difference cover, and what does knowing the pairs gain?

Test sets are drawn from a population of the eight cases, on which the two systems agree as two
systems of a kind do. The interval of the difference is computed from the paired posterior and
from two independent ones; it covers where the true difference lies between its limits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from probative._validation import RNG, open_probability, random_generator
from probative.counts import PairedCounts
from probative.inference.posterior.independent import IndependentPosterior
from probative.inference.posterior.paired import PairedPosterior
from probative.inference.posterior.single import posterior
from probative.metrics import PRF, score
from probative_studies.harness import Report, Row, mean, quiet, share_of, two_or_more

# Shares of the cases 0 to 7: F1 of about 0.88 for both, and nine items in ten treated alike.
CASES = (0.02, 0.02, 0.03, 0.02, 0.40, 0.05, 0.06, 0.40)
_WITH_LENGTHS = 40  # data sets whose limits are computed, not only whether they cover


def pairing_study(
    sizes: Sequence[int] = (200, 1000, 5000),
    metrics: Sequence[str] = PRF,
    *,
    replicates: int = 1000,
    level: float = 0.95,
    rng: RNG | None = 0,
    report: Report = quiet,
) -> list[Row]:
    """Simulate the coverage of paired and independent intervals of a difference."""
    level = open_probability("level", level)
    replicates = two_or_more(replicates)
    generator = random_generator(rng)
    truth = PairedCounts(CASES)
    results = []
    for i, size in enumerate(sizes):
        tables = [PairedCounts(cases) for cases in generator.multinomial(size, CASES, replicates)]
        for j, metric in enumerate(metrics):
            report(i * len(metrics) + j, len(sizes) * len(metrics))
            true = score(truth.b, metric) - score(truth.a, metric)
            for kind in ("paired", "independent"):
                below: list[float] = []
                lengths: list[float] = []
                for table in tables:  # one after the other: each holds a megabyte of nodes
                    difference = _posterior(kind, table, metric)
                    below.append(difference.cdf(true))
                    if len(lengths) < _WITH_LENGTHS:
                        low, high = difference.interval(level)
                        lengths.append(high - low)
                covered, error = share_of(np.abs(np.array(below) - 0.5) <= level / 2)
                row = Row(
                    items=int(size),
                    metric=metric,
                    posterior=kind,
                    coverage=covered,
                    standard_error=error,
                    length=mean(lengths),
                    difference=float(true),
                    replicates=replicates,
                    level=level,
                )
                results.append(row)
    return results


def _posterior(
    kind: str, table: PairedCounts, metric: str
) -> PairedPosterior | IndependentPosterior:
    if kind == "paired":
        return PairedPosterior(table, metric)
    return IndependentPosterior(posterior(table.a, metric), posterior(table.b, metric))
