"""Is the error true that a paired posterior claims? python tests/golden/check_paired_error.py.

Random tables of up to a hundred items, many of their cases empty, against the same integral by
brute force: the split of favourable and unfavourable cases as an incomplete beta function at the
root of a quadratic, their share by a Gauss rule of 30 points from where the integral begins on, and
each of the other shares by 16 Gauss points in the root of their odds. The reference's own error is
taken to be ten times what 12 points in their place change: of precision, against 84 steps of the
rule in make_paired_tails.py, it was nine times that. It may be more for precision without false
positives under a prior of 0.5, so an alarm there wants another look. Prints every claim
that is too small, and how large the claims are.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from scipy import special

import probative as pv
from probative.inference.posterior.paired import PairedPosterior

# what true positives, false positives and misses weigh in the score
WEIGHTS = {"precision": (1, 1, 0), "f1": (2, 1, 1), "jaccard": (1, 1, 1)}
_OWN = 10.0  # times a change is the reference's error
FINE = 4000  # steps of the rule from which Gauss rules are made


def gauss(a: float, b: float, size: int, stretch: float) -> tuple[np.ndarray, ...]:
    """Gauss rule of Beta(a, b) for polynomials in u = z/(1 + z), z the odds to 1/stretch.

    By Stieltjes' procedure, with Lanczos' orthogonalisation, on a fine grid of log odds.
    """
    centre = np.log(a / b)
    wide = np.sqrt(180 * (1 / a + 1 / b))
    left, right = (np.arcsinh(max(wide, 90 / shape) / 8) for shape in (a, b))
    y = centre + 8 * np.sinh(np.linspace(-left, right, FINE))
    logs = a * -np.logaddexp(0, -y) - b * np.logaddexp(0, y) + np.log(np.hypot(8, y - centre))
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    u = special.expit((y - centre) / stretch)
    basis, diagonal, beside = [np.sqrt(weight)], [], []
    for _ in range(size):
        following = u * basis[-1]
        diagonal.append(basis[-1] @ following)
        for _ in range(2):
            for one in basis:
                following = following - (one @ following) * one
        beside.append(np.linalg.norm(following))
        basis.append(following / beside[-1])
    matrix = np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1)
    nodes, vectors = np.linalg.eigh(matrix)
    y = centre + stretch * special.logit(nodes)
    return special.expit(y), special.expit(-y), vectors[0] ** 2


def jacobi(a: float, b: float, size: int) -> tuple[np.ndarray, ...]:
    """Nodes in (0, 1), 1 minus these, and weights, for x^(a-1) (1-x)^(b-1), adding up to 1."""
    x, w = special.roots_jacobi(size, b - 1, a - 1)
    return (1 + x) / 2, (1 - x) / 2, w / w.sum()


def above(cells: np.ndarray, metric: str, d: float, size: int) -> float:
    """P(B - A > d) for d of at least 0, from Dirichlet(cells)."""
    hit, false, miss = WEIGHTS[metric]
    c = cells
    wrong = c[5] + (c[6] if miss else 0)
    favour, against = c[1] + c[2], c[0] + c[3]
    rules = [gauss(*pair, size, 2.0) for pair in ((c[1], c[2]), (c[3], c[0]), (c[4], wrong))]
    s1, s3, right = (x.ravel() for x in np.meshgrid(*(rule[0] for rule in rules), indexing="ij"))
    s2, s0, bad = (x.ravel() for x in np.meshgrid(*(rule[1] for rule in rules), indexing="ij"))
    weight = np.prod(np.meshgrid(*(rule[2] for rule in rules), indexing="ij"), axis=0).ravel()
    n_k, alike = favour + against, c[4] + wrong
    total = 0.0
    for first in range(0, len(weight), 3000):
        part = slice(first, first + 3000)
        e0, e1, e2, e3, r, w = (x[part, None] for x in (s0, s1, s2, s3, right, bad))

        def gap(k, v, e=(e0, e1, e2, e3, r, w)):  # (B - A - d) times both denominators
            f0, f1, f2, f3, hits, wrongs = e
            g1, g2, g0, g3 = k * v * f1, k * v * f2, k * (1 - v) * f0, k * (1 - v) * f3
            g4, g5 = (1 - k) * hits, (1 - k) * wrongs
            top_a, top_b = hit * (g0 + g4), hit * (g2 + g4)
            low_a, low_b = top_a + false * g1 + miss * g2 + g5, top_b + false * g3 + miss * g0 + g5
            return top_b * low_a - top_a * low_b - d * low_a * low_b

        # with V = 1 it is a quadratic in K, below 0 at K = 0 and above at K = 1
        begin = root(*(gap(np.float64(k), 1.0) for k in (0, 0.5, 1))) if d > 0 else 0 * r
        x, _, mass = jacobi(against if d > 0 else n_k, alike, 30)
        k = begin + (1 - begin) * x
        v = root(*(gap(k, np.float64(v)) for v in (0, 0.5, 1)))
        if d > 0:
            scale = np.exp(special.betaln(against, alike) - special.betaln(n_k, alike))
            mass = mass * scale * (1 - begin) ** alike * k ** (n_k - 1) / x ** (against - 1)
        tail = special.betaincc(favour, against, np.clip(v, 0, 1))
        total += float(weight[part] @ np.sum(tail * mass, axis=1))
    return total


def root(start, middle, end):
    """Where in [0, 1] a parabola through values at 0, 1/2 and 1 rises through 0."""
    square, linear = 2 * (start + end) - 4 * middle, 4 * middle - 3 * start - end
    spread = np.sqrt(np.maximum(linear**2 - 4 * square * start, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(
            linear >= 0, -2 * start / (linear + spread), (spread - linear) / (2 * square)
        )
    return np.where(np.isfinite(found), found, 1.0)


def random_table(rng: np.random.Generator) -> list[int]:
    kind = rng.integers(4)
    if kind == 0:
        return [int(x) for x in rng.poisson(rng.choice([0, 0.3, 1, 3]), 7)]
    table = (10 ** rng.uniform(0, 1.0 if kind == 1 else 1.5, 7)).astype(int)
    table[rng.random(7) < (0.0 if kind == 2 else 0.5)] = 0
    return [int(x) for x in table]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    choices = parser.parse_args()
    false, rows = 0, []
    for i in range(choices.n):
        rng = np.random.default_rng([choices.seed, i])
        table = random_table(rng)
        metric = str(rng.choice(list(WEIGHTS)))
        prior = float(rng.choice([0.5, 1, 1, 1, 2]))
        start = time.process_time()
        found = PairedPosterior(pv.PairedCounts(table), metric, prior=prior)
        low, high = found.interval()
        claimed = found.error
        took = time.process_time() - start
        cells = np.array(table) + prior / 2
        swapped = cells[[2, 3, 0, 1, 4, 5, 6]]
        for d in (0.0, 0.01, high, low, *rng.uniform(low, high, 2)):
            side = cells if d >= 0 else swapped
            exact, check = (above(side, metric, abs(float(d)), size) for size in (16, 12))
            ours = float(found.sf(d) if d >= 0 else found.cdf(d))
            gap, own = abs(ours - exact), _OWN * abs(exact - check)
            rows.append((claimed, gap, own, took))
            if gap > claimed + own + 1e-12:
                false += 1
                text = f"claims {claimed:.1e}, errs {gap:.1e} (reference {own:.1e})"
                sys.stdout.write(f"{table} {metric} prior {prior:g} d {d:.4f}: {text}\n")
    claimed, gap, own, took = np.array(rows).T
    sys.stdout.write(
        f"{choices.n} tables, {len(rows)} probabilities, {false} claims too small; claimed "
        f"{np.mean(claimed <= 1e-8):.0%} below 1e-8, largest {claimed.max():.1e}; largest gap "
        f"{gap.max():.1e}; median {np.median(took) * 1e3:.0f} ms\n"
    )
    return int(false > 0)


if __name__ == "__main__":
    sys.exit(main())
