"""Compare the paired posterior with draws, over sparse and dense tables, priors and metrics.

    python tests/check_paired_posterior.py --n 60 --draws 4000000 --seed 1

The draws share nothing with the library: shares of independent gamma variates, drawn on the scale
of their logarithms, so that none is lost to underflow. At five differences and at the limits of the
interval, the probabilities may be apart by 4.5 standard errors of the draws plus the error that the
posterior claims; by chance alone, one run of 10,000 comparisons in fifteen has so large a gap.
P(B better) in precision, F1 and Jaccard index is also compared with its exact value, from which it
may be apart by the claimed error. Prints the comparisons that failed, and how long the posteriors
took.
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
from scipy import special

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
LARGEST_ERROR_CALLED_EXACT = 1e-8  # of P(B better); where it is larger, draws must do


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


# --- P(B better), exactly
#
# With N the positives, T the true and F the false positives, B has the higher precision where
#
#     log(T_B/T_A) > log(F_B/F_A)
#
# and the higher F1 or Jaccard index where log(T_B/T_A) > log((N + F_B)/(N + F_A)). The two sides
# are independent: the left one depends only on how the true positives of either system are
# divided. Each is a log ratio (a + c)/(a + b) of gamma variates. Above 0, b/a and c/(a + b) are
# independent, so that its tail and its density are one integral, and P(B better) is another.


def b_better(cells: np.ndarray, metric: str, size: int = 400) -> tuple[float, float]:
    """P(B better) and its error: what half the points change, and the mass that grids lose.

    Only for precision, f1 and jaccard; NaN and infinity for other metrics.
    """
    c = cells.tolist()
    if metric == "precision":
        alarms = c[5], c[1], c[3]
    elif metric in ("f1", "jaccard"):
        alarms = c[0] + c[2] + c[4] + c[5] + c[6], c[1], c[3]
    else:
        return math.nan, math.inf
    hits = c[4], c[0], c[2]
    (found, lost), (coarse, _) = (_hits_ahead(hits, alarms, n) for n in (size, size // 2))
    return found, lost + abs(found - coarse)


def _hits_ahead(
    hits: tuple[float, ...], alarms: tuple[float, ...], size: int
) -> tuple[float, float]:
    """P(log ratio of hits > log ratio of alarms), and the mass that the grids lose."""
    total, lost = 0.0, 0.0
    for turned in (False, True):
        hit, alarm = ((x[0], x[2], x[1]) if turned else x for x in (hits, alarms))
        t = _log_ratios(alarm, size)
        density = _tail(alarm, np.exp(t), size)[1] * np.exp(t) * (t[1] - t[0])
        ahead = float(density @ _tail(hit, np.exp(t), size)[0])
        mass = float(_tail(alarm, np.array([1e-300]), size)[0][0])
        total += mass - ahead if turned else ahead
        lost += abs(float(density.sum()) - mass)
    return total, lost


def _tail(shapes: tuple[float, ...], zeta: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """P(log ratio > zeta) and the density, for zeta above 0."""
    a, b, c = shapes
    y, weight = log_odds_nodes(b, a, size)
    least = np.expm1(zeta)[:, None] + special.expit(y)  # of c/(a + b)
    logs = (c - 1) * np.log(least) - (a + b + c) * np.log1p(least) + zeta[:, None]
    density = np.exp(logs - special.betaln(c, a + b))
    return special.betainc(a + b, c, 1 / (1 + least)) @ weight, density @ weight


def _log_ratios(shapes: tuple[float, ...], size: int) -> np.ndarray:
    """Logarithms of log ratios above 0, where these matter."""
    a, b, c = shapes
    mean = math.log((a + c) / (a + b))
    shared = a * (1 / (a + c) - 1 / (a + b)) ** 2
    sd = math.sqrt(c / (a + c) ** 2 + b / (a + b) ** 2 + shared)
    if mean > 9 * sd:
        return np.linspace(math.log(mean - 9 * sd), math.log(mean + 9 * sd), size)
    most = min(max(abs(mean) + 12 * sd, 45 / a if a < 8 else 0.0), 690.0)
    return np.linspace(math.log(sd) - 6 - 30 / min(1.0, b + c), math.log(most), size)


def log_odds_nodes(a: float, b: float, size: int) -> tuple[np.ndarray, np.ndarray]:
    """A trapezoid rule for the log odds of Beta(a, b), with steps that grow outwards."""
    even = 8 * min(1.0, float(np.sqrt(special.polygamma(1, a) + special.polygamma(1, b))))
    wide = math.sqrt(80 * (1 / a + 1 / b))
    left, right = (math.asinh(max(wide, 45 / shape) / even) for shape in (a, b))
    t = np.linspace(-left, right, size)
    offset = even * np.sinh(t)
    n = a + b  # relative to the peak, so that no huge logarithms cancel
    with np.errstate(over="ignore"):
        logs = -a * np.log1p(b / n * np.expm1(-offset)) - b * np.log1p(a / n * np.expm1(offset))
    weight = np.exp(logs) * np.cosh(t)
    return np.log(a / b) + offset, weight / weight.sum()


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
                    better, own = b_better(np.array(table) + prior / 2, name.split()[0])
                    off = abs(found.sf(0.0) - better)
                    if own <= LARGEST_ERROR_CALLED_EXACT and off > found.error + own:
                        record.failures.append(
                            f"{table} {name} prior {prior:g}: P(B better) off by {off:.1e}, "
                            f"claimed error {found.error:.1e}"
                        )
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
