"""Compute P(H0) of 200 pairs of tables with mpmath: python tests/golden/make_bayes_tests.py.

By another way than the package's: the log odds of Beta(a, b) have the characteristic function
Γ(a + iω)Γ(b - iω)/(Γ(a)Γ(b)), and the distribution function of a difference follows from the
product of two of these by the inversion formula of Gil-Pelaez, summed at half-integer multiples
of a step. The common factor between odds and score cancels. Writes bayes_tests.json.
"""

import json
import random
from pathlib import Path

import mpmath as mp

mp.mp.dps = 40


def p_h0(a, b):
    """P(B <= A) for Beta(*a) and Beta(*b)."""
    shapes = [mp.mpf(x) for x in (*b, *reversed(a))]  # B's odds over A's
    constant = sum(mp.loggamma(x) for x in shapes)
    spread = mp.sqrt(sum(mp.psi(1, x) for x in shapes))
    centre = (
        mp.psi(0, shapes[0]) - mp.psi(0, shapes[1]) + mp.psi(0, shapes[2]) - mp.psi(0, shapes[3])
    )
    # aliases fall where the distribution has no mass left, to 1e-25
    reach = 2 * (abs(centre) + max(16 * spread, 70 / min(shapes)))
    step = 2 * mp.pi / reach
    total, k, small = mp.mpf(0), 0, 0
    while small < 5:
        w = (k + mp.mpf(1) / 2) * step
        log_phi = (
            mp.loggamma(shapes[0] + 1j * w)
            + mp.loggamma(shapes[1] - 1j * w)
            + mp.loggamma(shapes[2] + 1j * w)
            + mp.loggamma(shapes[3] - 1j * w)
            - constant
        )
        total += mp.im(mp.exp(log_phi)) / (k + mp.mpf(1) / 2)
        small = small + 1 if mp.re(log_phi) < -50 else 0
        k += 1
    return mp.mpf(1) / 2 - total / mp.pi


def tables():
    rng = random.Random(2019)  # noqa: S311
    yield (0, 0, 0), (0, 0, 0)
    yield (0, 0, 0), (10**8, 10**6, 10**7)
    yield (10**8, 0, 0), (10**8, 1, 0)
    for i in range(197):
        top = 10 ** rng.uniform(0, 8)
        a = [round(top * rng.random() ** 2) for _ in range(3)]
        if i % 3 == 0:  # unrelated, of any size
            b = [round(10 ** rng.uniform(0, 8) * rng.random()) for _ in range(3)]
        else:  # a little different, so that neither hypothesis is sure
            b = [max(0, round(x + rng.gauss(0, 1) * x**0.5)) for x in a]
        yield tuple(a), tuple(b)


def shapes(table, metric):
    tp, fp, fn = table
    return {
        "precision": (tp + 1, fp + 1),
        "recall": (tp + 1, fn + 1),
        "f1": (tp + 1, fp + fn + 2),
    }[metric]


def main():
    rows = []
    for i, (a, b) in enumerate(tables()):
        metric = ("f1", "precision", "recall")[i % 3]
        value = p_h0(shapes(a, metric), shapes(b, metric))
        rows.append(json.dumps([metric, a, b, mp.nstr(value, 18)]))
    path = Path(__file__).with_name("bayes_tests.json")
    path.write_text("[\n" + ",\n".join(rows) + "\n]\n")
    print(f"{len(rows)} tests written to {path}")


if __name__ == "__main__":
    main()
