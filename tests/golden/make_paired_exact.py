"""References for the paired posterior: python tests/golden/make_paired_exact.py.

Two computations that share nothing with the library's. Where every case on which the systems
disagree has been seen ten times, another order of integration: the split of the cases 1 : 3 is
integrated out as an incomplete beta function at the root of a quadratic, everything else is a
product of Gauss-Jacobi rules. Elsewhere six million draws, with the gamma variates on the scale of
their logarithms, so that none of them is lost to underflow; the standard error of a share is at most
0.0002. Writes paired_exact.json, in a few minutes.
"""

import json
from pathlib import Path

import numpy as np
from scipy import special

DRAWS, PIECE = 6_000_000, 250_000
DENSE = [
    ([30, 20, 80, 15, 400, 60, 70], 1.0),
    ([120, 90, 130, 75, 5000, 300, 400], 0.5),
    ([1000, 900, 1300, 800, 1_000_000, 10_000, 10_000], 1.0),
    ([40_000, 25_000, 41_000, 24_000, 1_000_000_000, 10_000_000, 10_000_000], 1.0),
]
SPARSE = [
    ([3, 2, 8, 1, 40, 6, 7], 1.0),
    ([1, 0, 2, 1, 5, 0, 1], 1.0),
    ([1, 0, 2, 1, 5, 0, 1], 0.25),
    ([0, 0, 0, 0, 0, 0, 0], 1.0),
    ([0, 0, 1, 0, 500, 30, 40], 1.0),
    ([0, 0, 1, 0, 500, 30, 40], 0.1),
    ([0, 0, 80, 0, 400, 60, 70], 1.0),
    ([3, 1, 5, 2, 1_000_000_000, 1_000_000, 1_000_000], 1.0),
    ([0, 0, 3, 0, 0, 0, 20], 0.1),
    ([0, 3, 0, 0, 2, 0, 0], 0.5),
]
METRICS = {"precision": (1, 1, 0), "f1": (2, 1, 1), "fbeta": (5, 1, 4), "jaccard": (1, 1, 1)}


def golub_welsch(a, b, size):
    """Nodes and weights of the Gauss rule for Beta(a, b), from the Jacobi polynomials' recurrence."""
    k = np.arange(size, dtype=np.float64)
    alpha, beta = b - 1, a - 1
    twice = 2 * k + alpha + beta
    diagonal = np.empty(size)
    diagonal[0] = (beta - alpha) / (alpha + beta + 2)
    diagonal[1:] = (beta - alpha) * (beta + alpha) / (twice[1:] * (twice[1:] + 2))
    k, twice = k[1:], twice[1:]
    ratio = np.ones(size - 1)  # for k = 1 the two factors cancel, also where both are 0
    ratio[1:] = (k[1:] + alpha + beta) / (twice[1:] - 1)
    beside = 2 * np.sqrt(k * (k + alpha) * (k + beta) / (twice + 1) * ratio) / twice
    nodes, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1))
    return (1 + nodes) / 2, vectors[0] ** 2


def integrated(cells, metric, limits):
    """P(B - A <= d): over g0 : g2, (g0 + g2) : (g1 + g3), g4 : rest and all of it, then g1 : g3."""
    hit, false, miss = METRICS[metric]
    a = cells
    wrong = a[5] if metric == "precision" else a[5] + a[6]
    shapes = [(a[0], a[2]), (a[0] + a[2], a[1] + a[3]), (a[4], wrong), (a[:4].sum(), a[4] + wrong)]
    sizes = [40, 16, 12, 12]
    if metric == "fbeta":
        shapes.append((a[5], a[6]))
        sizes = [30, 10, 8, 8, 8]
    rules = [golub_welsch(*shape, size) for shape, size in zip(shapes, sizes, strict=True)]
    split, first, right, discordant, *five = np.meshgrid(*(x for x, _ in rules), indexing="ij")
    weight = np.prod(np.meshgrid(*(w for _, w in rules), indexing="ij"), axis=0)
    g0, g2 = split * first * discordant, (1 - split) * first * discordant
    g13 = (1 - first) * discordant
    g4, rest = right * (1 - discordant), (1 - right) * (1 - discordant)
    if metric == "fbeta":
        rest = rest * (false * five[0] + miss * (1 - five[0]))
    top_a, top_b = hit * (g0 + g4), hit * (g2 + g4)
    bottom_a, bottom_b = top_a + miss * g2 + rest, top_b + miss * g0 + rest
    shares = []
    for d in limits:
        # top_b/(bottom_b + (1-v)s) - top_a/(bottom_a + v s) = d, rising in v; s = false·g13
        s = false * g13
        low, high = np.zeros_like(split), np.ones_like(split)
        for _ in range(60):
            v = (low + high) / 2
            above = top_b / (bottom_b + (1 - v) * s) - top_a / (bottom_a + v * s) > d
            low, high = np.where(above, low, v), np.where(above, v, high)
        shares.append(float(np.sum(weight * special.betainc(a[1], a[3], (low + high) / 2))))
    return shares


def drawn(rng, cells, metric, limits=None):
    """Shares of draws with B - A at most d; without d, quantiles of one piece."""
    hit, false, miss = METRICS[metric]
    below = None if limits is None else np.zeros(len(limits))
    for _ in range(1 if limits is None else DRAWS // PIECE):
        logs = np.log(rng.standard_gamma(cells[:, None] + 1, (7, PIECE)))
        logs += np.log(rng.random((7, PIECE))) / cells[:, None]

        def score(tp, fp, fn, logs=logs):
            rows = [(i, hit) for i in tp] + [(i, false) for i in fp] + [(i, miss) for i in fn]
            parts = np.array([logs[i] + np.log(weight) for i, weight in rows if weight])
            parts = np.exp(parts - parts.max(axis=0))
            return parts[:2].sum(axis=0) / parts.sum(axis=0)

        d = score((2, 4), (3, 5), (0, 6)) - score((0, 4), (1, 5), (2, 6))
        if limits is None:
            quantiles = np.quantile(d, [0.025, 0.2, 0.7, 0.975])
            return [float(f"{x:.6g}") for x in quantiles] + [0.0]
        below += (d[:, None] <= np.array(limits)).sum(axis=0)
    return (below / DRAWS).tolist()


def main():
    rng = np.random.default_rng(5)
    rows = []
    for table, prior in DENSE + SPARSE:
        cells = np.array(table) + prior / 2
        dense = (table, prior) in DENSE
        for metric in METRICS if dense else ("precision", "f1"):
            limits = drawn(rng, cells, metric)
            shares = (
                integrated(cells, metric, limits) if dense else drawn(rng, cells, metric, limits)
            )
            rows.append([table, prior, metric, limits, shares, 1e-8 if dense else 9e-4])
            print(rows[-1], flush=True)
    path = Path(__file__).with_name("paired_exact.json")
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    print(f"{len(rows)} rows written to {path}")


if __name__ == "__main__":
    main()
