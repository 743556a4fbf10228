"""Golden values of the randomisation test by item at 10^9 and 10^12 items.

python tests/golden/make_huge_exchange.py (some minutes)

No value is left out, sampled or approximated: every U with a probability to speak of is gone
through, and the first extreme V of each is found in whole numbers. Binomial probabilities are
built outwards from a middle term of mpmath's, by multiplying the ratios of neighbours in extended
precision (64 bits), which keeps 15 digits over millions of steps. Nothing here is shared with the
package.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import mpmath as mp
import numpy as np

mp.mp.dps = 50
REACH = 14  # standard deviations on either side: what lies beyond weighs 1e-43

N, M = 10**9 // 8, 10**12 // 8
TABLES = {
    "10^9 items": [N, N // 2, N + 30_000, N // 2 - 7_000, N, N, N, N],
    "10^9 items, far": [N, N // 2 + 50_000, N + 130_000, N // 2, 2 * N, N // 3, N // 5, N],
    "10^12 items": [M // 8, M // 10, M // 8 + 400_000, M // 10 - 90_000, 6 * M, M, M // 4, M // 2],
    "10^12 items, far": [M // 9, M // 8, M // 9 + 9 * 10**5, M // 8 - 10**6, 6 * M, M, M // 4, M],
}
METRICS = ("f1", "precision", "recall", "accuracy")


def fair_coins(n):
    """The first value, and the probabilities of all values within REACH deviations."""
    middle = n // 2
    distance = math.ceil(REACH * math.sqrt(n) / 2) + 1
    first, last = max(0, middle - distance), min(n, middle + distance)
    log = mp.loggamma(n + 1) - mp.loggamma(middle + 1) - mp.loggamma(n - middle + 1)
    top = np.longdouble(mp.nstr(mp.exp(log - n * mp.log(2)), 25))
    up = np.arange(middle, last, dtype=np.longdouble)
    down = np.arange(middle, first, -1, dtype=np.longdouble)
    above = np.cumprod((n - up) / (up + 1))
    below = np.cumprod(down / (n - down + 1))
    return first, top * np.concatenate([below[::-1], [1], above])


def fraction(metric, tp, fp, positives, items):
    """A score's numerator and denominator, whole numbers."""
    return {
        "f1": (2 * tp, tp + fp + positives),
        "precision": (tp, tp + fp),
        "recall": (tp, positives),
        "accuracy": (items - positives - fp + tp, items),
    }[metric]


def pvalue(t, metric):
    """P(|B - A| >= what was observed), twice the upper tail."""
    tp_sum, fp_sum = t[0] + t[2] + 2 * t[4], t[1] + t[3] + 2 * t[5]
    positives, items = t[0] + t[2] + t[4] + t[6], sum(t)

    def difference(tp, fp):
        top_a, bottom_a = fraction(metric, tp, fp, positives, items)
        top_b, bottom_b = fraction(metric, tp_sum - tp, fp_sum - fp, positives, items)
        return top_b * bottom_a - top_a * bottom_b, bottom_a * bottom_b

    top, bottom = difference(t[0] + t[4], t[1] + t[5])
    top = abs(top)

    def extreme(u, v):
        over, under = difference(t[4] + u, t[5] + v)
        return over * bottom >= top * under

    first_u, chance_u = fair_coins(t[0] + t[2])
    first_v, chance_v = fair_coins(t[1] + t[3])
    tail = np.append(np.cumsum(chance_v[::-1])[::-1], np.longdouble(0))
    # the more true positives A is given, the more false ones it takes: V only goes up
    v, places = 0, np.empty(len(chance_u), dtype=np.int64)
    for k in range(len(chance_u)):
        while v < len(chance_v) and not extreme(first_u + k, first_v + v):
            v += 1
        places[k] = v
    return 2 * np.sum(chance_u * tail[places])


def main():
    found = []
    for name, table in TABLES.items():
        for metric in METRICS:
            p = pvalue(table, metric)
            line = {"name": name, "cases": table, "metric": metric}
            found.append({**line, "pvalue": np.format_float_scientific(p, 17)})
            print(found[-1], flush=True)
    path = Path(__file__).with_name("huge_exchange.json")
    path.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
