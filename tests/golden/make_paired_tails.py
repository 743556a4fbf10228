"""References for a difference in precision beyond d: python tests/golden/make_paired_tails.py.

P(B - A > d) with the cases in another order than the library takes: the split of favourable and
unfavourable cases is an incomplete beta function at the root of a quadratic, their share is a Gauss
rule from where the integral begins on (as in check_paired_error.py), and each of the three shares
that are left is a trapezoid rule on the scale of log odds, with steps that grow towards the tails.
Twice what fewer steps change is written beside the value. Writes paired_tails.json, in minutes.
"""

import json
from pathlib import Path

import check_paired_error as brute
import numpy as np
from scipy import special

# with the steps of each rule
TABLES = [
    ([0, 0, 0, 0, 0, 0, 0], 2.0, 72),
    ([1, 0, 2, 0, 3, 1, 1], 2.0, 52),
    ([1, 0, 2, 0, 3, 1, 1], 1.0, 64),
    ([0, 3, 1, 1, 2, 2, 0], 1.0, 72),
    ([2, 5, 4, 1, 7, 3, 2], 2.0, 44),
    ([3, 2, 8, 1, 40, 6, 7], 1.0, 56),
]
EVEN = 14.0  # log odds about the peak within which steps are about equal


def trapezoid(a, b, size, _):
    """Nodes of Beta(a, b), 1 minus these, and weights: equal steps in t, y = peak + 14·sinh(t)."""
    peak = np.log(a / b)
    wide = np.sqrt(60 * (1 / a + 1 / b))
    left, right = (np.arcsinh(max(wide, 24 / shape) / EVEN) for shape in (a, b))
    t = np.linspace(-left, right, size)
    y = peak + EVEN * np.sinh(t)
    logs = a * special.log_expit(y) + b * special.log_expit(-y) + np.log(np.cosh(t))
    weight = np.exp(logs - logs.max())
    return special.expit(y), special.expit(-y), weight / weight.sum()


def main():
    brute.gauss = trapezoid
    rows = []
    for table, prior, size in TABLES:
        cells = np.array(table) + prior / 2
        for d in (-0.05, 0.15):
            side = cells if d > 0 else cells[[2, 3, 0, 1, 4, 5, 6]]
            value, check = (
                brute.above(side, "precision", abs(d), steps) for steps in (size, int(0.8 * size))
            )
            rows.append([table, prior, d, value, max(2 * abs(value - check), 1e-10)])
            print(rows[-1], flush=True)
    path = Path(__file__).with_name("paired_tails.json")
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    print(f"{len(rows)} rows written to {path}")


if __name__ == "__main__":
    main()
