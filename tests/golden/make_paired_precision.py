"""References for P(B better) in precision: python tests/golden/make_paired_precision.py.

B's precision is higher where the true positives have the larger ratio,
(g2 + g4)/(g0 + g4) > (g3 + g5)/(g1 + g5), and the two ratios are independent. The ratio of the
true positives exceeds r >= 1 where g2/(g0 + g4) > r - 1 + z, with z the share of g0 in g0 + g4:
an average of incomplete beta functions over a Beta variate. Below 1 the systems change places; the
density is a derivative of that. All integrals are double-exponential rules; what a smaller one
changes is written beside the value. Nothing of the library's is used. Writes paired_precision.json.
"""

import json
from pathlib import Path

import numpy as np
from scipy import special

TABLES = [
    ([0, 0, 0, 0, 0, 0, 0], 1.0),
    ([1, 0, 0, 0, 0, 0, 0], 1.0),
    ([0, 0, 1, 0, 2, 0, 1], 1.0),
    ([1, 0, 2, 0, 3, 1, 1], 1.0),
    ([1, 0, 1, 1, 2, 0, 0], 1.0),
    ([1, 0, 2, 1, 5, 0, 1], 0.5),
    ([0, 3, 0, 1, 0, 1, 0], 0.5),
    ([0, 1, 0, 0, 0, 0, 0], 0.5),
    ([2, 5, 4, 1, 7, 3, 2], 2.0),
    ([0, 8, 0, 0, 1, 1, 0], 1.0),
    ([4, 9, 0, 6, 7, 0, 0], 0.5),
    ([8, 2, 19, 0, 0, 0, 1], 1.0),
    ([37, 0, 721, 0, 1728, 0, 12], 1.0),
    ([77, 2, 58, 0, 20, 0, 0], 1.0),
]


def unit_interval(size):
    """Nodes in (0, 1), 1 minus these, and weights of a tanh-sinh rule, as logarithms."""
    t = np.linspace(-5.2, 5.2, size)
    y = np.pi * np.sinh(t)  # log odds
    log_x, log_rest = special.log_expit(y), special.log_expit(-y)
    return log_x, log_rest, log_x + log_rest + np.log(np.pi * np.cosh(t) * (t[1] - t[0]))


def beta_average(function, a, b, size):
    """The average of a function of z over Beta(a, b); nodes along the last axis."""
    log_x, log_rest, log_weight = unit_interval(size)
    weight = np.exp(a * log_x + b * log_rest - special.betaln(a, b) + log_weight - log_x - log_rest)
    return np.sum(function(np.exp(log_x)) * weight, axis=-1)


def exceeds(log_r, only_a, only_b, both, size):
    """P((b + c)/(a + c) > r) and minus its derivative in log r, for r >= 1."""
    r = np.exp(log_r)[:, None]
    n = only_a + both

    def tail(z):
        gap = np.expm1(log_r)[:, None] + z  # what only_b's share must exceed, over the others'
        return special.betaincc(only_b, n, gap / (1 + gap))

    def density(z):
        gap = np.expm1(log_r)[:, None] + z
        logs = (only_b - 1) * np.log(gap) - (only_b + n) * np.log1p(gap)
        return np.exp(logs - special.betaln(only_b, n)) * r

    return tuple(beta_average(one, only_a, both, size) for one in (tail, density))


def better(cells, size):
    """P(B better)."""
    a0, a1, a2, a3, a4, a5 = cells[:6]
    # log r from 0 on: a double-exponential rule for the half-line
    t = np.linspace(-4.6, 4.2, 2 * size)
    log_r = np.exp(np.pi / 2 * np.sinh(t))
    weight = log_r * np.pi / 2 * np.cosh(t) * (t[1] - t[0])
    keep = log_r < 700
    log_r, weight = log_r[keep], weight[keep]
    hits_up, _ = exceeds(log_r, a0, a2, a4, size)
    hits_down, _ = exceeds(log_r, a2, a0, a4, size)
    _, false_up = exceeds(log_r, a1, a3, a5, size)
    _, false_down = exceeds(log_r, a3, a1, a5, size)
    # the ratio of the false positives is above 1, or below it
    return float(weight @ (hits_up * false_up + (1 - hits_down) * false_down))


def main():
    rows = []
    for table, prior in TABLES:
        cells = np.array(table) + prior / 2
        value, check = (better(cells, size) for size in (300, 220))
        print(table, prior, value, abs(value - check), flush=True)
        rows.append([table, prior, value, max(abs(value - check), 1e-11)])
    path = Path(__file__).with_name("paired_precision.json")
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    print(f"{len(rows)} rows written to {path}")


if __name__ == "__main__":
    main()
