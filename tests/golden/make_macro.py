"""Posteriors of macro averages by brute force: a fine grid of the prior, and draws.

    python tests/golden/make_macro.py > tests/golden/macro.json

Nothing of the package is used. logit of the prior mean = alpha + beta (ln(n + 1) - its mean),
expit(alpha) uniform, beta normal with deviation 1/2, ln kappa uniform on [0, ln 100].
"""

from __future__ import annotations

import json

import numpy as np
from scipy import special

CASES = {
    "rare and frequent": ([3, 250], [4, 300], True),
    "rare and frequent, shares": ([3, 250], [4, 300], False),
    "four of three": ([3, 3, 2, 3], [3, 3, 3, 4], True),
    "twenty of five": ([5] * 10 + [4] * 6 + [3] * 4, [5] * 20, True),
    "empty label": ([0, 900], [0, 1000], True),
    "rare and perfect": ([300, 280, 3], [330, 330, 3], True),
    "all wrong": ([0, 0], [40, 50], True),
    "rare are worse": ([1, 3, 15, 70, 440], [4, 7, 25, 90, 480], True),
    "one label": ([7], [9], True),
}
DRAWS = 200_000


def posterior(right, items, f1, rng):
    right, items = np.array(right, float), np.array(items, float)
    size = np.log(items + 1)
    size -= size.mean()
    alpha = np.linspace(-14, 14, 281)
    beta = np.linspace(-2, 2, 41)
    log_kappa = np.linspace(0, np.log(100), 31)
    a, b, k = (g.ravel() for g in np.meshgrid(alpha, beta, log_kappa, indexing="ij"))
    kappa = np.exp(k)
    weight = special.log_expit(a) + special.log_expit(-a) - 2 * b**2
    weight -= np.log(2) * (np.isclose(k, 0) | np.isclose(k, np.log(100)))  # trapezoid
    for r, n, s in zip(right, items, size, strict=True):
        mean = special.expit(a + b * s)
        p, q = np.maximum(mean * kappa, 1e-300), np.maximum((1 - mean) * kappa, 1e-300)
        weight += special.betaln(r + p, n - r + q) - special.betaln(p, q)
    weight = np.exp(weight - weight.max())
    node = rng.choice(len(weight), DRAWS, p=weight / weight.sum())
    # spread over the cell of the grid: the posterior may be narrow next to it
    a = a[node] + rng.uniform(-0.5, 0.5, DRAWS) * (alpha[1] - alpha[0])
    b, kappa = b[node], kappa[node]
    mean = special.expit(a[:, None] + b[:, None] * size)
    share = rng.beta(
        right + np.maximum(mean * kappa[:, None], 1e-12),
        items - right + np.maximum((1 - mean) * kappa[:, None], 1e-12),
    )
    return np.mean(2 * share / (1 + share) if f1 else share, axis=1)


def main():
    rng = np.random.default_rng(0)
    golden = []
    for name, (right, items, f1) in CASES.items():
        draws = posterior(right, items, f1, rng)
        quantiles = np.quantile(draws, [0.025, 0.5, 0.975]).round(5).tolist()
        golden.append(
            {
                "name": name,
                "right": right,
                "items": items,
                "f1": f1,
                "quantiles": quantiles,
                "mean": round(float(draws.mean()), 5),
            }
        )
    print(json.dumps(golden, indent=1))


main()
