"""Golden values of the randomisation test by item: python tests/golden/randomization.py

Up to 10^5 items in exact rational arithmetic; at 10^9 items with mpmath at 40 digits, where the
binomials are built by multiplying the ratios of neighbours outwards from an exact middle term.
Nothing here is shared with the package.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import mpmath as mp

mp.mp.dps = 40


def score(tp, predicted, positives, n, metric):
    top, bottom = {
        "f1": (2 * tp, predicted + positives),
        "precision": (tp, predicted),
        "recall": (tp, positives),
        "accuracy": (n - predicted - positives + 2 * tp, n),
    }[metric]
    return Fraction(top, bottom) if bottom else Fraction(0)


def extreme_from(t, u, metric, observed, low, high):
    """The least v in low..high+1 such that exchanging leads to a difference >= observed."""
    tp_sum, fp_sum = t[0] + t[2] + 2 * t[4], t[1] + t[3] + 2 * t[5]
    positives, n = t[0] + t[2] + t[4] + t[6], sum(t)

    def extreme(v):
        tp, fp = t[4] + u, t[5] + v
        other = tp_sum - tp, fp_sum - fp
        b = score(other[0], sum(other), positives, n, metric)
        return b - score(tp, tp + fp, positives, n, metric) >= observed

    while low <= high:
        middle = (low + high) // 2
        low, high = (low, middle - 1) if extreme(middle) else (middle + 1, high)
    return low


def observed_difference(t, metric):
    positives, n = t[0] + t[2] + t[4] + t[6], sum(t)
    a = score(t[0] + t[4], t[0] + t[4] + t[1] + t[5], positives, n, metric)
    b = score(t[2] + t[4], t[2] + t[4] + t[3] + t[5], positives, n, metric)
    return b - a


def rational(t, metric, alternative):
    """The p-value as a fraction."""
    n, m = t[0] + t[2], t[1] + t[3]
    observed = observed_difference(t, metric)
    if alternative == "two-sided":
        observed = abs(observed)
    row = [math.comb(m, v) for v in range(m + 1)]
    tails = [0] * (m + 2)
    for v in range(m, -1, -1):
        tails[v] = tails[v + 1] + row[v]
    total = sum(
        math.comb(n, u) * tails[extreme_from(t, u, metric, observed, 0, m)] for u in range(n + 1)
    )
    p = Fraction(total, 2 ** (n + m))
    return min(Fraction(1), 2 * p) if alternative == "two-sided" else p


def middle_term(n):
    return mp.exp(mp.loggamma(n + 1) - 2 * mp.loggamma(mp.mpf(n) / 2 + 1) - n * mp.log(2))


def binomial_window(n, reach):
    """{k: probability} of Bin(n, 1/2) around an even n's middle."""
    values = {n // 2: middle_term(n)}
    for k in range(n // 2, n // 2 + reach):
        values[k + 1] = values[k] * (n - k) / (k + 1)
        values[n - k - 1] = values[k + 1]
    return values


def digits40(t, metric, alternative, deviations):
    n, m = t[0] + t[2], t[1] + t[3]
    observed = observed_difference(t, metric)
    if alternative == "two-sided":
        observed = abs(observed)
    u_law, v_law = (
        binomial_window(size, min(size // 2, int(deviations * math.sqrt(size) / 2)))
        for size in (n, m)
    )
    low, high = min(v_law), max(v_law)
    tails = {high + 1: mp.mpf(0)}
    for v in range(high, low - 1, -1):
        tails[v] = tails[v + 1] + v_law[v]
    # the boundary falls or rises with u: start each search near the last answer
    total, first = mp.mpf(0), None
    for u in sorted(u_law):
        near = (low, high) if first is None else (max(low, first - 64), min(high, first + 64))
        found = extreme_from(t, u, metric, observed, *near)
        if first is not None and found in (near[0], near[1] + 1):
            found = extreme_from(t, u, metric, observed, low, high)
        first = found
        total += u_law[u] * tails[first]
    return min(mp.mpf(1), 2 * total) if alternative == "two-sided" else total


CASES = [
    ("small table", [3, 2, 8, 1, 40, 6, 7, 300], "f1", "two-sided", 1e-13),
    ("p = 1e-19", [20, 60, 130, 40, 900, 80, 90, 5000], "f1", "two-sided", 1e-12),
    ("p = 1e-67", [30, 90, 330, 40, 900, 80, 90, 5000], "f1", "greater", 1e-12),
    ("p = 1e-239", [3, 260, 700, 40, 900, 80, 90, 5000], "f1", "two-sided", 1e-12),
    ("p = 1e-196, precision", [3, 690, 60, 10, 2900, 80, 90, 5000], "precision", "greater", 1e-12),
    ("p = 1e-211, one count", [0, 0, 700, 0, 9, 8, 9, 50], "recall", "greater", 1e-12),
    ("all but certain", [330, 40, 30, 90, 900, 80, 90, 5000], "f1", "greater", 1e-12),
    ("1e5 items", [900, 450, 1010, 430, 15000, 1500, 1700, 79010], "f1", "two-sided", 1e-12),
    ("1e5 items, tail", [500, 700, 1500, 300, 15000, 1500, 1700, 78800], "f1", "two-sided", 1e-12),
    ("1e5 items, far", [400, 850, 1500, 250, 15000, 1500, 1700, 78800], "f1", "greater", 1e-12),
]
LARGE = [
    ("1e9 items", [4999000, 2501000, 5001000, 2499000, 10**8, 10**7, 10**7, 865 * 10**6], 12),
    ("1e9 items, far", [4980000, 2503000, 5020000, 2497000, 10**8, 10**7, 10**7, 865 * 10**6], 26),
    (
        "1e9 items, p = 1e-195",
        [4955500, 2512000, 5044500, 2488000, 10**8, 10**7, 10**7, 865 * 10**6],
        39,
    ),
]


def main():
    by_item = []
    for name, t, metric, alternative, tolerance in CASES:
        p = rational(t, metric, alternative)
        by_item.append(
            (name, t, metric, alternative, tolerance, mp.mpf(p.numerator) / p.denominator)
        )
    for name, t, deviations in LARGE:
        p = digits40(t, "f1", "two-sided", deviations)
        by_item.append((name, t, "f1", "two-sided", 1e-9, p))
    keys = ("name", "cases", "metric", "alternative", "tolerance", "pvalue")
    golden = {
        "by_item": [
            {**dict(zip(keys, case, strict=True)), "pvalue": mp.nstr(case[-1], 20)}
            for case in by_item
        ],
        "half_binomial": [],
    }
    for n in (0, 1, 2, 7, 40, 1000, 10**5, 10**9):
        chosen = {round(n / 2 + z * math.sqrt(n) / 2) for z in (-30, -9, -3, 0, 0.5, 3, 9, 20, 30)}
        ks = sorted({min(max(k, 0), n) for k in chosen})
        exact = [
            mp.exp(mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1) - n * mp.log(2))
            for k in ks
        ]
        golden["half_binomial"].append(
            {"n": n, "k": ks, "probability": [mp.nstr(p, 20) for p in exact]}
        )
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(golden, indent=1) + "\n")
    for case in golden["by_item"]:
        print(case["name"], case["pvalue"])


if __name__ == "__main__":
    main()
