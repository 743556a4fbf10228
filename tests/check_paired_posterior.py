"""Compare the paired posterior with draws, over sparse and dense tables, priors and metrics.

    python tests/check_paired_posterior.py --n 60 --draws 4000000 --seed 1

The draws share nothing with the library: shares of independent gamma variates, drawn on the scale
of their logarithms, so that none is lost to underflow. At five differences and at the limits of the
interval, the probabilities may be apart by 4.5 standard errors of the draws plus the error that the
posterior claims; by chance alone, one run of 10,000 comparisons in fifteen has so large a gap.
Prints the comparisons that failed, and how long the posteriors took.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

import probative as pv
from probative.inference.posterior.paired import PairedPosterior

if TYPE_CHECKING:
    from collections.abc import Iterator

PRIORS = (0.1, 0.25, 0.5, 1.0, 2.0)
# metric and beta; what true positives, false positives and misses weigh in the score
WEIGHTS = {
    ("precision", 1.0): (1, 1, 0),
    ("recall", 1.0): (1, 0, 1),
    ("f1", 1.0): (2, 1, 1),
    ("fbeta", 0.5): (1.25, 1, 0.25),
    ("fbeta", 2.0): (5, 1, 4),
    ("jaccard", 1.0): (1, 1, 1),
    ("accuracy", 1.0): None,
}
PIECE = 100_000
STANDARD_ERRORS = 4.5  # by which draws may differ


def random_table(rng: np.random.Generator) -> list[int]:
    """Empty, sparse, one-sided, near-copies, dense: all eight cases."""
    kind = rng.integers(5)
    if kind == 0:
        return [int(x) for x in rng.poisson(rng.choice([0, 0.3, 1, 3]), 8)]
    if kind == 1:  # near-copies
        few = rng.poisson(rng.choice([0.2, 1, 3]), 4)
        return [int(x) for x in [*few, *(10 ** rng.uniform(1, 4, 4)).astype(int)]]
    table = (10 ** rng.uniform(0, 4 if kind == 2 else 2, 8)).astype(int)
    if kind == 3:
        table[rng.random(8) < 0.5] = 0
    return [int(x) for x in table]


def draws(
    rng: np.random.Generator, cells: np.ndarray, weights: tuple[float, ...] | None, n: int
) -> np.ndarray:
    """Draws of B minus A."""
    found = []
    for size in [PIECE] * (n // PIECE) + [n % PIECE] * (n % PIECE > 0):
        # log of a gamma variate of shape a: that of shape a + 1, times a uniform to the 1/a
        logs = np.log(rng.standard_gamma(cells[:, None] + 1, (8, size)))
        logs += np.log(rng.random((8, size))) / cells[:, None]
        found.append(_differences(logs, weights))
    return np.sort(np.concatenate(found))


def _differences(logs: np.ndarray, weights: tuple[float, ...] | None) -> np.ndarray:
    if weights is None:
        parts = np.exp(logs - logs.max(axis=0))
        return (parts[1] + parts[2] - parts[0] - parts[3]) / parts.sum(axis=0)

    def score(tp: tuple[int, ...], fp: tuple[int, ...], fn: tuple[int, ...]) -> np.ndarray:
        cases = [*tp, *fp, *fn]
        weight = np.repeat(weights, 2)[:, None]
        used = weight[:, 0] > 0
        parts = logs[cases][used] + np.log(weight[used])
        parts = np.exp(parts - parts.max(axis=0))
        return parts[:2].sum(axis=0) / parts.sum(axis=0)

    return score((2, 4), (3, 5), (0, 6)) - score((0, 4), (1, 5), (2, 6))


@dataclass
class Record:
    """What the comparisons came to."""

    failures: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    largest: float = 0.0  # difference, in standard errors, beyond the claimed error


def compare(table: list[int], prior: float, n: int, rng: np.random.Generator) -> Iterator[tuple]:
    """For every metric: the posterior, what it says, what the draws say, and the time it took."""
    for (metric, beta), weights in WEIGHTS.items():
        cells = np.array(table) + prior / (4 if metric == "accuracy" else 2)
        sample = draws(rng, cells, weights, n)
        start = time.process_time()
        found = PairedPosterior(pv.PairedCounts(table), metric, prior=prior, beta=beta)
        low, high = found.interval()
        at = np.array([low, high, *np.quantile(sample, [0.1, 0.4, 0.7]), -0.01, 0.01])
        ours = np.asarray(found.cdf(at))
        yield f"{metric} {beta:g}", found, ours, at, sample, time.process_time() - start


def check(n_tables: int, n_draws: int, seed: int) -> Record:
    record = Record()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(n_tables):
            rng = np.random.default_rng([seed, i])
            table = random_table(rng)
            for prior in PRIORS:
                for name, found, ours, at, sample, took in compare(table, prior, n_draws, rng):
                    theirs = np.searchsorted(sample, at, side="right") / n_draws
                    # 1/n: a share that the draws may have missed altogether
                    spread = np.sqrt(ours * (1 - ours) / n_draws) + 1 / n_draws
                    gap = (np.abs(ours - theirs) - found.error) / spread
                    worst = int(np.argmax(gap))
                    record.seconds.append(took)
                    record.errors.append(found.error)
                    record.largest = max(record.largest, float(gap[worst]))
                    if not gap[worst] <= STANDARD_ERRORS:
                        record.failures.append(
                            f"{table} {name} prior {prior:g}: P(d <= {at[worst]:.6g}) "
                            f"{ours[worst]:.6f}, drawn {theirs[worst]:.6f}, "
                            f"claimed error {found.error:.1e}"
                        )
    return record


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, default=60, help="tables")
    parser.add_argument("--draws", type=int, default=4_000_000)
    parser.add_argument("--seed", type=int, default=1)
    choices = parser.parse_args()
    record = check(choices.n, choices.draws, choices.seed)
    errors, seconds = np.array(record.errors), np.array(record.seconds)
    expected = math.sqrt(2 * math.log(14 * len(errors)))
    tables = (
        f"{len(errors)} posteriors of {choices.n} tables at 7 differences, {choices.draws} draws "
        f"each, seed {choices.seed}: {len(record.failures)} failed; largest gap beyond the claimed "
        f"error {record.largest:.1f} standard errors (expected about {expected:.1f})"
    )
    claims = (
        f"claimed errors: {np.mean(errors <= 1e-8):.0%} below 1e-8, {np.mean(errors <= 1e-5):.0%} "
        f"below 1e-5, the largest {errors.max():.1e}"
    )
    cost = (
        f"processor time with interval: median {np.median(seconds) * 1e3:.0f} ms, "
        f"90 % {np.quantile(seconds, 0.9) * 1e3:.0f} ms, the longest {seconds.max():.1f} s"
    )
    lines = [*record.failures, tables, claims, cost]
    sys.stdout.write("\n".join(lines) + "\n")
    return int(bool(record.failures))


if __name__ == "__main__":
    sys.exit(main())
