"""Candidate rules for the paired posterior: error and time on random tables.

    python benchmarks/paired_posterior.py --n 100 --seed 5

For every rule and metric: the share of tables whose claimed error is at most 1e-6, the largest
claim, the largest gap to the exact P(B better) of `tests/check_paired_posterior.py` and how many
gaps exceed the claim, and the processor time of one posterior with its 95 % interval (of a
candidate without a search for it, with ten probabilities). The tables have cells of 0 to 10^6, and
priors from 1/4. Recorded in docs/results/paired-posterior-rules.csv.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

import probative as pv
from probative.inference.posterior import log_odds, nodes, paired

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from check_paired_posterior import b_better, log_odds_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PRIORS = (0.25, 0.5, 1.0, 2.0)
# what true positives, false positives and misses weigh in the score
WEIGHTS = {"precision": (1, 1, 0), "f1": (2, 1, 1), "fbeta": (5, 1, 4)}
MOST_NODES = 20_000  # of the candidates
OWN_ERROR = 1e-8  # of the exact P(B better); tables for which it is larger are left out


def random_table(rng: np.random.Generator) -> list[int]:
    """Return one of six kinds: tiny, near-copies, and filled up to 10^2, 10^4 and 10^6."""
    kind = int(rng.integers(6))
    if kind == 0:
        return [int(x) for x in rng.poisson(rng.choice([0, 0.3, 1, 3]), 8)]
    if kind == 1:
        few = rng.poisson(rng.choice([0.2, 1, 3]), 4)
        return [int(x) for x in [*few, *(10 ** rng.uniform(1, 6, 4)).astype(int)]]
    table = (10 ** rng.uniform(0, {2: 4, 3: 2, 4: 6, 5: 6}[kind], 8)).astype(int)
    if kind in (3, 5):
        table[rng.random(8) < 0.5] = 0
    return [int(x) for x in table]


# --- Candidates


def library(table: list[int], metric: str, prior: float) -> tuple[float, float]:
    """The rules of the library: their claimed error and P(B better)."""
    found = paired.PairedPosterior(pv.PairedCounts(table), metric, prior=prior, beta=2)
    found.interval()
    return found.error, float(found.sf(0.0))


def without_precision(table: list[int], metric: str, prior: float) -> tuple[float, float]:
    """One rule for all ratios: products of Gauss rules, or Sobol points, also for precision."""
    sides = paired.precision_sides
    paired.precision_sides = lambda _: None
    try:
        return library(table, metric, prior)
    finally:
        paired.precision_sides = sides


def trapezoids(table: list[int], metric: str, prior: float) -> tuple[float, float]:
    """K and V as in the library, a product of trapezoid rules in log odds for the other shares."""

    def product(
        shapes: nodes.Shapes, averages: nodes.Averages, tolerance: float, _: int
    ) -> nodes.Nodes:
        rules = nodes._tried(lambda a, b, n: _steps(a, b, 3 * n), shapes, averages)
        return nodes._refined(rules, averages, tolerance, MOST_NODES // 3 ** len(shapes))

    before = paired.gauss_nodes
    paired.gauss_nodes = product
    try:
        return without_precision(table, metric, prior)
    finally:
        paired.gauss_nodes = before


def _steps(a: float, b: float, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    y, weight = log_odds_nodes(a, b, size)
    return special.expit(y), special.expit(-y), weight


@dataclass
class OneShare:
    """The share between the cases that raise B - A most and the others is integrated exactly.

    They are grouped so that this share explains most of the variance. The difference exceeds d
    between roots of a quadratic in its odds. All other shares have Gauss rules.
    """

    cells: np.ndarray
    forms: np.ndarray  # of each cell in the numerators and denominators of A and B

    @classmethod
    def of(cls, table: list[int], metric: str, prior: float) -> OneShare:
        h, f, m = WEIGHTS[metric]
        c = np.array(table[:7]) + prior / 2
        forms = np.array(
            [
                (h, h, 0, m),
                (0, f, 0, 0),
                (0, m, h, h),
                (0, 0, 0, f),
                (h, h, h, h),
                (0, f, 0, f),
                (0, m, 0, m),
            ],
            dtype=float,
        )
        if f == m:
            return cls(np.append(c[:5], c[5] + c[6]), forms[:6])
        return cls(c, forms) if m else cls(c[:6], forms[:6])

    def __post_init__(self) -> None:
        top_a, all_a, top_b, all_b = self.cells @ self.forms
        a, b, form = top_a / all_a, top_b / all_b, self.forms.T
        self.gradient = (form[2] - b * form[3]) / all_b - (form[0] - a * form[1]) / all_a
        self.centre, self.sd = b - a, float(np.sqrt(self.cells @ self.gradient**2))
        self.shapes: list[tuple[float, float]] = []
        low, high = self._halves(np.argsort(self.gradient))
        self.law = log_odds.TailTable(self.cells[high].sum(), self.cells[low].sum())
        self.trees = self._tree(high), self._tree(low)

    def _halves(self, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        def explained(at: int) -> float:
            (n, x), (k, y) = (
                (self.cells[part].sum(), self.cells[part] @ self.gradient[part])
                for part in (order[:at], order[at:])
            )
            return float(n * k / (n + k) * (x / n - y / k) ** 2)

        best = max(range(1, len(order)), key=explained)
        return order[:best], order[best:]

    def _tree(self, order: np.ndarray) -> tuple:
        if len(order) == 1:
            return (int(order[0]),)
        parts = self._halves(order)
        self.shapes.append(tuple(float(self.cells[part].sum()) for part in parts))
        return len(self.shapes) - 1, *(self._tree(part) for part in parts)

    def _forms(self, tree: tuple, at: nodes.Nodes) -> np.ndarray:
        if len(tree) == 1:
            return np.broadcast_to(self.forms[tree[0]][:, None], (4, len(at.weight)))
        share, left, right = tree
        return at.share[share] * self._forms(left, at) + at.rest[share] * self._forms(right, at)

    def above(self, d: np.ndarray, at: nodes.Nodes) -> np.ndarray:
        """Return P(B - A > d), one row per d."""
        high, low = (self._forms(tree, at) for tree in self.trees)
        return np.array([self._above(x, high, low) @ at.weight for x in d.tolist()])

    def _above(self, d: float, high: np.ndarray, low: np.ndarray) -> np.ndarray:
        def gap(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            return x[2] * y[1] - y[0] * x[3] - d * y[1] * x[3]

        square, constant = gap(high, high), gap(low, low)
        linear = gap(high, low) + gap(low, high)
        square = np.where(square == 0, np.copysign(1e-300, linear), square)
        inner = linear * linear - 4 * square * constant
        half = -(linear + np.copysign(np.sqrt(np.maximum(inner, 0)), linear)) / 2
        with np.errstate(all="ignore"):
            roots = np.sort(np.nan_to_num([half / square, constant / half], nan=np.inf), axis=0)
            first, last = self.law.sf(np.clip(np.log(np.maximum(roots, 0)), -700, 700))
        outside = square > 0
        between = np.where(outside, 1 - first + last, first - last)
        return np.where(inner < 0, outside, between)

    def fitted(self) -> nodes.Nodes:
        """Return enough nodes for four probabilities."""
        probes = np.append(self.centre + self.sd * np.array([-2, -0.6, 0.9]), 0.0)
        probes = np.clip(probes, -0.999, 0.999)

        def averages(parts: Sequence[nodes.Nodes]) -> np.ndarray:
            return self.above(probes, nodes.Nodes.joined(parts)).T

        return nodes.gauss_nodes(self.shapes, averages, 1e-8, MOST_NODES)


def one_share(table: list[int], metric: str, prior: float) -> tuple[float, float]:
    rule = OneShare.of(table, metric, prior)
    at = rule.fitted()
    rule.above(rule.centre + rule.sd * np.linspace(-2, 2, 9), at)
    return at.error, float(rule.above(np.zeros(1), at)[0])


RULES: dict[str, Callable[[list[int], str, float], tuple[float, float]]] = {
    "library": library,
    "Gauss products": without_precision,
    "trapezoid products": trapezoids,
    "one share exact": one_share,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--rules", nargs="+", choices=list(RULES), default=list(RULES))
    choices = parser.parse_args()
    tables = []
    for i in range(choices.n):
        rng = np.random.default_rng([choices.seed, i])
        tables.append((random_table(rng), float(rng.choice(PRIORS))))
    columns = "claims ≤ 1e-6", "largest claim", "largest gap", "false claims", "median", "90 %"
    show(f"| metric | rule | {' | '.join(columns)} |")
    for metric in WEIGHTS:
        exact = np.array([b_better(np.array(table) + prior / 2, metric) for table, prior in tables])
        known = exact[:, 1] <= OWN_ERROR
        for name in choices.rules:
            rows = []
            for table, prior in tables:
                start = time.process_time()
                rows.append((*RULES[name](table, metric, prior), time.process_time() - start))
            claim, found, took = np.array(rows).T
            gap = np.where(known, np.abs(found - exact[:, 0]), 0.0)
            false = np.count_nonzero(gap > claim + OWN_ERROR)
            exactly = f"{gap.max():.0e} | {false} of {known.sum()}" if known.any() else "| "
            show(
                f"| {metric} | {name} | {np.mean(claim <= 1e-6):.0%} | {claim.max():.0e} | "
                f"{exactly} | {1e3 * np.median(took):.0f} ms | "
                f"{1e3 * np.quantile(took, 0.9):.0f} ms |"
            )
            worst = int(np.argmax(claim))
            show(f"    largest claim: {tables[worst]}")
    return 0


def show(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
