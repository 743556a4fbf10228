"""References for a difference in precision beyond d: python tests/golden/make_paired_tails.py.

P(B - A > d) with the cases in another order than the library takes: the split of favourable and
unfavourable cases is an incomplete beta function at the root of a quadratic, their share is a Gauss
rule from where the integral begins on (as in check_paired_error.py), and each of the three shares
that are left is a trapezoid rule on the scale of log odds, with steps that grow towards the tails.
What fewer steps change is written beside the value. Writes paired_tails.json, in some minutes.
"""

import json
from pathlib import Path

import check_paired_error as brute
import numpy as np
from scipy import special

# with the steps of each rule
TABLES = [
    ([0, 0, 0, 0, 0, 0, 0], 1.0, 130),
    ([0, 0, 0, 0, 0, 0, 0], 2.0, 100),
    ([0, 0, 2, 0, 3, 1, 1], 2.0, 76),
    ([1, 0, 2, 0, 3, 1, 1], 1.0, 70),
    ([2, 5, 4, 1, 7, 3, 2], 2.0, 48),
    ([3, 2, 8, 1, 40, 6, 7], 1.0, 60),
]
DIFFERENCES = (0.01, 0.15)


def trapezoid(a, b, size, _):
    """Nodes of Beta(a, b), 1 minus these, and weights: y = peak + 14·sinh(t), equal steps in t."""
    peak = np.log(a / b)
    wide = np.sqrt(60 * (1 / a + 1 / b))
    left, right = (np.arcsinh(max(wide, 26 / shape) / 14) for shape in (a, b))
    t = np.linspace(-left, right, size)
    y = peak + 14 * np.sinh(t)
    logs = a * special.log_expit(y) + b * special.log_expit(-y) + np.log(np.cosh(t))
    weight = np.exp(logs - logs.max())
    return special.expit(y), special.expit(-y), weight / weight.sum()


def main():
    brute.gauss = trapezoid
    rows = []
    for table, prior, size in TABLES:
        cells = np.array(table) + prior / 2
        for side, sign in ((cells, 1), (cells[[2, 3, 0, 1, 4, 5, 6]], -1)):
            for d in DIFFERENCES:
                value, check = (
                    brute.above(side, "precision", d, steps) for steps in (size, int(0.85 * size))
                )
                error = max(2 * abs(value - check), 1e-10)
                print(table, prior, sign * d, value, error, flush=True)
                rows.append([table, prior, sign * d, value, error])
    path = Path(__file__).with_name("paired_tails.json")
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    print(f"{len(rows)} rows written to {path}")


if __name__ == "__main__":
    main()
