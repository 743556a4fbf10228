"""Slow, plain and independent computations for the randomisation tests."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np


def exact_score(tp, fp, fn, tn, metric, beta=Fraction(1)):
    """A score as a fraction; 0 where it is undefined."""
    b2 = beta**2
    top, bottom = {
        "precision": (tp, tp + fp),
        "recall": (tp, tp + fn),
        "f1": (2 * tp, 2 * tp + fp + fn),
        "fbeta": ((1 + b2) * tp, (1 + b2) * tp + b2 * fn + fp),
        "jaccard": (tp, tp + fp + fn),
        "accuracy": (tp + tn, tp + fp + fn + tn),
        "specificity": (tn, tn + fp),
        "npv": (tn, tn + fn),
    }[metric]
    return Fraction(top) / bottom if bottom else Fraction(0)


def difference_of(t, metric, beta=Fraction(1)):
    """B minus A of one table of eight cases."""
    t = [int(value) for value in t]
    a = exact_score(t[0] + t[4], t[1] + t[5], t[2] + t[6], t[3] + t[7], metric, beta)
    b = exact_score(t[2] + t[4], t[3] + t[5], t[0] + t[6], t[1] + t[7], metric, beta)
    return b - a


def pvalue_of(law, observed, alternative):
    """The p-value from the whole distribution, {difference: weight}."""
    total = sum(law.values())
    if alternative == "greater":
        extreme = sum(w for d, w in law.items() if d >= observed)
    elif alternative == "less":
        extreme = sum(w for d, w in law.items() if d <= observed)
    else:
        extreme = sum(w for d, w in law.items() if abs(d) >= abs(observed))
    return Fraction(extreme, total)


def law_by_item(t, metric, beta=Fraction(1)):
    """Every way to exchange items, those of one case not told apart but counted."""
    law = {}
    for k in itertools.product(*(range(int(n) + 1) for n in t[:4])):
        swapped = [t[0] - k[0] + k[2], t[1] - k[1] + k[3], t[2] - k[2] + k[0], t[3] - k[3] + k[1]]
        d = difference_of([*swapped, *t[4:]], metric, beta)
        law[d] = law.get(d, 0) + math.prod(math.comb(int(n), i) for n, i in zip(t, k, strict=False))
    return law


def law_by_unit(cases, metric, beta=Fraction(1)):
    """Every way to exchange units, all 2^N of them."""
    cases = np.asarray(cases, dtype=np.int64)
    swapped = cases[:, [2, 3, 0, 1, 4, 5, 6, 7]]
    tables = np.zeros((1, 8), dtype=np.int64)
    for kept, other in zip(cases, swapped, strict=True):
        tables = np.concatenate([tables + kept, tables + other])
    distinct, number = np.unique(tables, axis=0, return_counts=True)
    law = {}
    for t, n in zip(distinct, number.tolist(), strict=True):
        d = difference_of(t, metric, beta)
        law[d] = law.get(d, 0) + n
    return law


def walk_polynomial(steps, bits):
    """The product of (1 + X^a·Y^b) over steps a, b >= 0, as {(i, j): coefficient}.

    The polynomial is packed into one large integer, `bits` bits a coefficient, so that a step is
    one shift and one addition.
    """
    width = 1 + sum(b for _, b in steps)
    packed = 1
    for a, b in steps:
        packed += packed << (bits * (a * width + b))
    size = bits // 8
    data = packed.to_bytes(size * width * (2 + sum(a for a, _ in steps)), "little")
    return {
        divmod(place, width): coefficient
        for place in range(len(data) // size)
        if (coefficient := int.from_bytes(data[place * size : (place + 1) * size], "little"))
    }
