"""Compute the golden values of the posteriors with mpmath: python tests/golden/make_posteriors.py.

Independent of the package: incomplete beta functions by tanh-sinh quadrature in pieces, with 30
digits; quantiles by bisection and secant steps on them. Writes posteriors.json beside this file.
"""

import json
from pathlib import Path

import mpmath as mp

mp.mp.dps = 30

TABLES = [
    (0, 0, 0, 0),
    (0, 1, 0, 3),
    (1, 0, 0, 0),
    (3, 2, 5, 40),
    (0.7, 0, 2.5, 1),
    (77, 44, 10, 702),
    (1170000, 53000, 60000, 0),
    (10**9, 10, 0, 10**9),
    (0, 10**9, 10**9, 5),
    (5 * 10**8, 10**8, 4 * 10**8, 10**8),
]
LEVELS = [0.5, 0.95, 0.999999]


def log_density(y, a, b):
    """Log density of the log odds of Beta(a, b)."""
    return (
        -a * mp.log1p(mp.exp(-y))
        - b * mp.log1p(mp.exp(y))
        - (mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b))
    )


def lower_tail(y, a, b):
    """P(log odds of Beta(a, b) <= y), added up in pieces from y downwards."""
    width = mp.sqrt(1 / a + 1 / b)
    total = mp.mpf(0)
    while True:
        piece = mp.quad(lambda u: mp.exp(log_density(u, a, b)), [y - width, y])
        total += piece
        y -= width
        if piece <= total * mp.mpf(10) ** -25:
            return total


def quantile(q, a, b):
    """Log odds with probability q below: Newton's method from the normal approximation."""
    y = mp.log(a / b) - mp.sqrt(2 * (1 / a + 1 / b)) * mp.erfinv(1 - 2 * q)
    for _ in range(200):
        tail = lower_tail(y, a, b)
        step = mp.log(tail / q) * tail / mp.exp(log_density(y, a, b))
        limit = 4 * mp.sqrt(1 / a + 1 / b)
        y -= max(-limit, min(limit, step))
        if abs(step) < mp.mpf(10) ** -18:
            return y
    raise ArithmeticError(f"no convergence: {q}, {a}, {b}")


def shapes(table, metric):
    tp, fp, fn, tn = (mp.mpf(x) for x in table)
    return {
        "precision": (tp + 1, fp + 1, 0),
        "recall": (tp + 1, fn + 1, 0),
        "jaccard": (tp + 1, fp + fn + 2, 0),
        "f1": (tp + 1, fp + fn + 2, mp.log(2)),
        "accuracy": (tp + tn + 1, fp + fn + 1, 0),
    }[metric]


def main():
    rows = []
    for table in TABLES:
        for metric in ("precision", "recall", "jaccard", "f1", "accuracy"):
            a, b, shift = shapes(table, metric)
            for level in LEVELS:
                tail = (1 - mp.mpf(level)) / 2
                low = quantile(tail, a, b) + shift
                high = -quantile(tail, b, a) + shift
                low, high = (1 / (1 + mp.exp(-y)) for y in (low, high))
                rows.append([*table, metric, level, mp.nstr(low, 18), mp.nstr(high, 18)])
    here = Path(__file__).parent
    write(here / "posteriors.json", rows)
    write(here / "fbeta_posteriors.json", fbeta_rows())


def write(path, rows):
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    print(f"{len(rows)} rows written to {path}")


def fbeta_rows():
    """P(F-beta <= t) as an integral over the share of misses among the errors."""
    cases = [
        (0, 0, 0, 2.0, 0.3),
        (0, 0, 0, 0.5, 0.99),
        (3, 2, 5, 2.0, 0.2),
        (3, 2, 5, 0.5, 0.9),
        (0.7, 0, 2.5, 3.0, 0.6),
        (77, 44, 10, 2.0, 0.75),
        (77, 44, 10, 0.5, 0.5),
        (77, 44, 10, 1.0, 0.9),
        (20, 300, 1, 10.0, 0.5),
    ]
    rows = []
    for tp, fp, fn, beta, t in cases:
        a, b, c = mp.mpf(tp) + 1, mp.mpf(fp) + 1, mp.mpf(fn) + 1
        square, t_ = mp.mpf(beta) ** 2, mp.mpf(t)

        def integrand(w, a=a, b=b, c=c, square=square, t_=t_):
            weighed = 1 + (square - 1) * w
            x = t_ * weighed / ((1 + square) * (1 - t_) + t_ * weighed)
            share = mp.betainc(a, b + c, 0, x, regularized=True)
            return share * w ** (c - 1) * (1 - w) ** (b - 1) / mp.beta(c, b)

        mean = c / (b + c)
        cdf = mp.quad(integrand, [0, mean / 4, mean / 2, mean, 2 * mean if 2 * mean < 1 else 1, 1])
        rows.append([tp, fp, fn, beta, t, mp.nstr(cdf, 18)])
    return rows


if __name__ == "__main__":
    main()
