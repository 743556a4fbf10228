"""Draw ten million tables from the eight-case posterior: python tests/golden/make_paired_draws.py.

For five tables and several scores: the share of draws with B - A at most d, for a few d. Seeded;
the standard error of a share is at most 0.00016. Writes paired_draws.json.
"""

import json
from pathlib import Path

import numpy as np

DRAWS, PIECE = 10_000_000, 500_000
TABLES = [
    [30, 20, 80, 10, 400, 60, 70, 3000],
    [3, 2, 8, 1, 40, 6, 7, 300],
    [0, 0, 1, 0, 5, 0, 1, 9],
    [12, 0, 1, 30, 4000, 300, 200, 0],
    [1000, 900, 1300, 800, 1_000_000, 10_000, 10_000, 1_000_000],
]


def scores(g, beta):
    """Differences B - A of all scores."""
    tp_a, tp_b = g[0] + g[4], g[2] + g[4]
    said_a, said_b = g[0] + g[1] + g[4] + g[5], g[2] + g[3] + g[4] + g[5]
    positive = g[0] + g[2] + g[4] + g[6]
    f = [
        (1 + b**2) * (tp_b / (said_b + b**2 * positive) - tp_a / (said_a + b**2 * positive))
        for b in (1, beta)
    ]
    return {
        "precision": tp_b / said_b - tp_a / said_a,
        "recall": (tp_b - tp_a) / positive,
        "f1": f[0],
        "fbeta": f[1],
        "jaccard": tp_b / (said_b + positive - tp_b) - tp_a / (said_a + positive - tp_a),
    }


def main():
    rng = np.random.default_rng(20191)
    rows = []
    for table in TABLES:
        at: dict[str, np.ndarray] = {}
        below: dict[str, np.ndarray] = {}
        for piece in range(DRAWS // PIECE):
            g = rng.standard_gamma(np.array(table)[:, None] + 0.5, (8, PIECE))
            for metric, d in scores(g, 2.0).items():
                if piece == 0:
                    at[metric] = np.append(np.quantile(d, [0.02, 0.3, 0.6, 0.98]).round(6), 0.0)
                    below[metric] = np.zeros(5)
                below[metric] += (d[:, None] <= at[metric]).sum(axis=0)
        for metric, limits in at.items():
            rows.append([table, metric, limits.tolist(), (below[metric] / DRAWS).tolist()])
    path = Path(__file__).with_name("paired_draws.json")
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    print(f"{len(rows)} rows written to {path}")


if __name__ == "__main__":
    main()
