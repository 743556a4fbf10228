"""P(B - A <= d) of independent posteriors of composite scores, computed in other ways.

Informedness and markedness are sums and differences of four independent Beta variates: Gil-Pelaez'
formula has their distribution function as one integral of the product of their characteristic
functions, in forty digits. Of the others, a product of Gauss-Jacobi rules averages over all shares
of both systems but B's recall (or, of Fowlkes-Mallows, over those there are). Run it to write
``composite_bayes.json``.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
from mpmath import mp, mpf
from scipy import special

mp.dps = 40
PAIRS = [
    ((77, 44, 10, 702), (80, 30, 7, 716)),
    ((40, 7, 9, 44), (38, 12, 11, 39)),
    ((5, 1, 2, 12), (4, 0, 3, 13)),
    ((20, 0, 0, 30), (18, 2, 1, 29)),
]
GAPS = ("0", "0.03", "-0.1")


def shares(table, metric):
    """The Beta shapes of the two shares whose sum, less one, is the score."""
    tp, fp, fn, tn = (mpf(c) + 1 for c in table)
    return [(tp, fn), (tn, fp)] if metric == "informedness" else [(tp, fp), (tn, fn)]


def below(a, b, metric, d):
    signed = [(1, s) for s in shares(b, metric)] + [(-1, s) for s in shares(a, metric)]

    def integrand(t):
        value = mp.e ** (-1j * t * d)
        for sign, (x, y) in signed:
            value *= mp.hyp1f1(x, x + y, sign * 1j * t)
        return mp.im(value) / t

    ends = [0, 5, 10, 20, 40, 80, 160, 320, 640, 1280]
    return mpf(1) / 2 - mp.quad(integrand, ends) / mp.pi


def rule(x, y, size):
    """Gauss-Jacobi nodes and weights of Beta(x, y)."""
    node, weight = special.roots_jacobi(size, y - 1, x - 1)
    return (node + 1) / 2, weight / weight.sum()


def score(metric, p, r, f):
    """From the share of positives, recall and the rate of false alarms."""
    tp, fn, fp, tn = p * r, p * (1 - r), (1 - p) * f, (1 - p) * (1 - f)
    if metric == "kappa":
        chance = (tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)
        return (tp + tn - chance) / (1 - chance)
    if metric == "fowlkes_mallows":
        return tp / np.sqrt((tp + fp) * (tp + fn))
    return (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))


def by_rules(a, b, metric, d, size=22):
    """As `below`: A at a product of nodes, B's recall at which it is A + d found by bisection."""
    tp, fp, fn, tn = (c + 1.0 for c in a)
    grid = [rule(tp + fn, fp + tn, size), rule(tp, fn, size), rule(fp, tn, size)]
    scores, weights = [], []
    for (p, u), (r, v), (f, w) in itertools.product(*(zip(*g, strict=True) for g in grid)):
        scores.append(score(metric, p, r, f))
        weights.append(u * v * w)
    scores, weights = np.array(scores) + d, np.array(weights)
    tp, fp, fn, tn = (c + 1.0 for c in b)
    total = 0.0
    for (p, u), (f, w) in itertools.product(
        zip(*rule(tp + fn, fp + tn, size), strict=True), zip(*rule(fp, tn, size), strict=True)
    ):
        low, high = np.zeros(len(scores)), np.ones(len(scores))
        for _ in range(50):
            middle = (low + high) / 2
            less = score(metric, p, middle, f) < scores
            low, high = np.where(less, middle, low), np.where(less, high, middle)
        total += u * w * float(weights @ special.betainc(tp, fn, (low + high) / 2))
    return total


def main():
    rows = []
    for a, b in PAIRS:
        for metric in ("informedness", "markedness"):
            for d in GAPS:
                value = mp.nstr(below(a, b, metric, mpf(d)), 15)
                rows.append({"a": a, "b": b, "metric": metric, "d": d, "below": value})
    for metric in ("mcc", "kappa", "fowlkes_mallows"):
        for a, b in PAIRS[:2]:
            value = by_rules(a, b, metric, 0.03)
            coarser = by_rules(a, b, metric, 0.03, size=16)
            print(metric, a, b, value, value - coarser)
            rows.append({"a": a, "b": b, "metric": metric, "d": "0.03", "below": f"{value:.10f}"})
    path = Path(__file__).with_name("composite_bayes.json")
    path.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
