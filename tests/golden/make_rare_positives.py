"""Rare positives by brute force: a fine grid of the prior, all totals of a small pool.

    python tests/golden/make_rare_positives.py > tests/golden/rare_positives.json

Nothing of the package is used. logit of a stratum's centre = alpha + beta·logit(confidence), alpha
normal with deviation 3, ln beta with deviation 1, tau one of five; the share of a stratum with
centre m is Beta(1/(tau²(1 - m)), 1/(tau² m)), what is left of it beta-binomial. Limits of shares by
mpmath: Jeffreys', modified at the ends as Brown, Cai and DasGupta (2001) say.
"""

from __future__ import annotations

import json

import mpmath
import numpy as np
from scipy import special

TAUS = (0.1, 0.2, 0.4, 0.8, 1.6)
# sizes, labelled, positive, returned, confidence
CASES = {
    "few missed": ([40, 600], [20, 60], [14, 1], [True, False], [0.7, 0.02]),
    "none missed": ([40, 600], [20, 60], [14, 0], [True, False], [0.7, 0.002]),
    "too bold": ([30, 30, 300], [15, 15, 30], [6, 10, 4], [True, True, False], [0.8, 0.99, 0.001]),
    "nonsense": ([40, 600], [20, 60], [2, 40], [True, False], [0.9, 0.05]),
}
LIMITS = [(50, 0), (50, 1), (50, 2), (50, 25), (50, 49), (50, 50), (3, 1), (1, 0), (1000, 7)]


def log_poch_ratio(a, b, k, n):
    """ln B(a + k, b + n - k) - ln B(a, b), by sums of logarithms."""
    total = sum(np.log(a + j) for j in range(k)) + sum(np.log(b + j) for j in range(n - k))
    return total - sum(np.log(a + b + j) for j in range(n))


def nodes(labelled, positive, confidence):
    alpha, log_beta = np.linspace(-13, 13, 417), np.linspace(-4.5, 4.5, 181)
    x, y = (g.ravel() for g in np.meshgrid(alpha, log_beta, indexing="ij"))
    logit = np.log(confidence) - np.log1p(-np.asarray(confidence))
    centre = np.clip(special.expit(x[:, None] + np.exp(y[:, None]) * logit), 1e-10, 1 - 1e-10)
    found = []
    for tau in TAUS:
        a, b = 1 / (tau**2 * (1 - centre)), 1 / (tau**2 * centre)
        weight = -((x / 3) ** 2) / 2 - y**2 / 2
        for h in range(len(labelled)):
            weight = weight + log_poch_ratio(a[:, h], b[:, h], positive[h], labelled[h])
        found.append((a, b, weight, np.full(len(x), tau)))
    a, b, weight, tau = (np.concatenate(parts) for parts in zip(*found, strict=True))
    weight = np.exp(weight - weight.max())
    weight /= weight.sum()
    kept = weight > 1e-10
    return a[kept], b[kept], weight[kept], tau[kept]


def totals(a, b, k, n, size):
    """The probability of every total of a stratum, one row per node."""
    rest = size - n
    j = np.arange(rest + 1)
    log_pmf = (
        special.gammaln(rest + 1)
        - special.gammaln(j + 1)
        - special.gammaln(rest - j + 1)
        + special.betaln(a[:, None] + k + j, b[:, None] + n - k + rest - j)
        - special.betaln(a + k, b + n - k)[:, None]
    )
    full = np.zeros((len(a), size + 1))
    full[:, k : k + rest + 1] = np.exp(log_pmf)
    return full / full.sum(axis=1, keepdims=True)


def joint(case):
    """The joint probability of (tp, fn)."""
    sizes, labelled, positive, returned, confidence = case
    a, b, weight, tau = nodes(labelled, positive, confidence)
    top = sum(s for s, r in zip(sizes, returned, strict=True) if r)
    rest = sum(sizes) - top
    table = np.zeros((top + 1, rest + 1))
    for part in np.array_split(np.arange(len(weight)), max(1, len(weight) // 2000)):
        groups = {True: np.ones((len(part), 1)), False: np.ones((len(part), 1))}
        for h, side in enumerate(returned):
            own = totals(a[part, h], b[part, h], positive[h], labelled[h], sizes[h])
            before = groups[side]
            both = np.zeros((len(part), before.shape[1] + sizes[h]))
            for i in range(before.shape[1]):
                both[:, i : i + sizes[h] + 1] += before[:, i : i + 1] * own
            groups[side] = both
        table += (groups[True] * weight[part, None]).T @ groups[False]
    far = float(weight[tau > 0.7].sum())
    return table, top, far


def quantile(n, k, tail):
    """Of Beta(k + 1/2, n - k + 1/2), by halving."""
    low, high = mpmath.mpf(0), mpmath.mpf(1)
    for _ in range(70):
        middle = (low + high) / 2
        share = mpmath.betainc(k + 0.5, n - k + 0.5, 0, middle, regularized=True)
        low, high = (middle, high) if share < mpmath.mpf(tail) else (low, middle)
    return low


def main():
    answer = {"cases": [], "limits": []}
    for name, case in CASES.items():
        table, top, far = joint(case)
        tp, fn = np.meshgrid(*(np.arange(n) for n in table.shape), indexing="ij")
        f1 = 2 * tp / (top + tp + fn)
        order = np.argsort(f1.ravel())
        below = np.cumsum(table.ravel()[order])
        points = np.interp([0.025, 0.25, 0.5, 0.75, 0.975], below, f1.ravel()[order])
        answer["cases"].append(
            {
                "name": name,
                "sizes": case[0],
                "labelled": case[1],
                "positive": case[2],
                "returned": case[3],
                "confidence": case[4],
                "far": far,
                "tp": float((table * tp).sum()),
                "fn": float((table * fn).sum()),
                "f1": points.tolist(),
                "below": [float(table[f1 <= point].sum()) for point in points],
            }
        )
    mpmath.mp.dps = 30
    for n, k in LIMITS:
        ends = [quantile(n, k, tail) for tail in ("0.025", "0.975")]
        low, high = map(float, ends)
        extreme = 0.025 ** (1 / n)
        low = 0.0 if k <= 1 else extreme if k == n else low
        high = 1.0 if n - k <= 1 else 1 - extreme if k == 0 else high
        answer["limits"].append([n, k, low, high])
    print(json.dumps(answer, indent=1))


if __name__ == "__main__":
    main()
