"""Values, variances and posterior quantiles of the composite scores, in forty digits.

Written from their definitions; the quantiles by nested quadrature over recall, specificity and the
share of positives, or over what there is of them. Run it to write ``composites.json``.
"""

from __future__ import annotations

import json
from pathlib import Path

from mpmath import mp, mpf, sqrt

mp.dps = 40
TABLES = [(77, 44, 10, 702), (5, 3, 1, 991), (40, 7, 9, 44), (3, 9, 8, 4), (20, 0, 0, 30)]


def scores(tp, fp, fn, tn):
    tp, fp, fn, tn = map(mpf, (tp, fp, fn, tn))
    n = tp + fp + fn + tn
    recall, specificity = tp / (tp + fn), tn / (tn + fp)
    precision, npv = tp / (tp + fp), tn / (tn + fn)
    agree = (tp + tn) / n
    chance = ((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)) / n**2
    margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return {
        "balanced_accuracy": (recall + specificity) / 2,
        "mcc": (tp * tn - fp * fn) / sqrt(margins),
        "kappa": (agree - chance) / (1 - chance),
        "informedness": recall + specificity - 1,
        "markedness": precision + npv - 1,
        "fowlkes_mallows": sqrt(precision * recall),
    }


def deviation(table, metric):
    """The standard error by the multinomial delta method, with derivatives by differences."""
    total = mpf(0)
    for i, count in enumerate(table):
        if not count:
            continue

        def moved(x, i=i):
            cells = [mpf(c) for c in table]
            cells[i] = x
            return scores(*cells)[metric]

        total += count * mp.diff(moved, mpf(count)) ** 2
    return sqrt(total)


def informedness_tail(table, t):
    """P(informedness <= t) with half an item added to every cell, by one integral."""
    tp, fp, fn, tn = (mpf(c) + mpf(1) / 2 for c in table)

    def given(s):
        share = min(mpf(1), max(mpf(0), t + 1 - s))
        density = s ** (tn - 1) * (1 - s) ** (fp - 1) / mp.beta(tn, fp)
        return density * mp.betainc(tp, fn, 0, share, regularized=True)

    middle = tn / (tn + fp)
    return mp.quad(given, [0, middle / 2, middle, (1 + middle) / 2, 1])


def main():
    rows = []
    for table in TABLES:
        for metric, value in scores(*table).items():
            row = {"table": table, "metric": metric, "value": mp.nstr(value, 20)}
            if table[1] and table[2]:
                row["deviation"] = mp.nstr(deviation(table, metric), 15)
            rows.append(row)
    tails = []
    for table in TABLES[:4]:
        t = scores(*table)["informedness"] - mpf("0.05")
        tails.append(
            {"table": table, "t": mp.nstr(t, 20), "below": mp.nstr(informedness_tail(table, t), 15)}
        )
    path = Path(__file__).with_name("composites.json")
    path.write_text(json.dumps({"scores": rows, "tails": tails}, indent=1) + "\n")


if __name__ == "__main__":
    main()
