"""Golden values of stratified samples, in fractions: textbook formulas, unit by unit.

Cochran, Sampling Techniques (1977): the total of a stratified sample and its variance (5.3, 5.4),
the variance of a ratio by linearisation (6.13), Satterthwaite's degrees of freedom (5.16). The only
steps that are not exact are Student's quantile and square roots, by mpmath.
"""

import json
from fractions import Fraction
from pathlib import Path

import mpmath as mp

mp.mp.dps = 40

# per stratum: its size, and (tp_a, fp_a, tp_b, fp_b, items of the answer) of each labelled unit
SAMPLES = {
    "two strata": [
        (40, [(2, 0, 2, 1, 3), (1, 1, 1, 0, 1), (0, 0, 1, 0, 2), (3, 1, 3, 1, 3)]),
        (10, [(0, 2, 1, 1, 1), (3, 0, 2, 0, 4), (1, 1, 1, 2, 2)]),
    ],
    "one drawn whole": [
        (3, [(1, 1, 0, 1, 1), (2, 0, 1, 1, 2), (0, 1, 1, 0, 1)]),
        (
            500,
            [(1, 0, 1, 0, 1), (1, 0, 0, 0, 1), (0, 1, 0, 0, 2), (2, 0, 2, 1, 3), (1, 0, 1, 0, 1)],
        ),
        (97, [(0, 0, 0, 0, 0), (0, 0, 0, 0, 1), (0, 0, 0, 0, 0), (0, 0, 0, 0, 2)]),
    ],
    "one stratum": [
        (60, [(1, 0, 1, 1, 2), (0, 2, 1, 0, 1), (2, 1, 2, 1, 2), (1, 1, 0, 2, 3), (0, 0, 1, 0, 1)]),
    ],
}
# numerator and denominator in tp, returned, items of the answer
FORMS = {
    "precision": ((1, 0, 0), (0, 1, 0)),
    "recall": ((1, 0, 0), (0, 0, 1)),
    "f1": ((2, 0, 0), (0, 1, 1)),
    "fbeta": ((5, 0, 0), (0, 1, 4)),  # beta = 2
    "jaccard": ((1, 0, 0), (-1, 1, 1)),
}


def dot(form, unit):
    return sum((Fraction(w) * v for w, v in zip(form, unit, strict=True)), Fraction(0))


def project(strata, values):
    """The total of something that labelled units have."""
    return sum(
        Fraction(size, len(own)) * sum(own, Fraction(0))
        for (size, _), own in zip(strata, values, strict=True)
    )


def spread(strata, values):
    """Variance of a total and its degrees of freedom; the variance of all units of the pool."""
    variance, doubt, parts = Fraction(0), Fraction(0), []
    for (size, _), own in zip(strata, values, strict=True):
        n, mean = len(own), sum(own, Fraction(0)) / len(own)
        s2 = sum((v - mean) ** 2 for v in own) / (n - 1)
        part = Fraction(size) ** 2 * (1 - Fraction(n, size)) * s2 / n
        variance, doubt = variance + part, doubt + part**2 / (n - 1)
        parts.append((size, n, mean, s2))
    pool = sum(size for size, *_ in parts)
    centre = sum(size * mean for size, _, mean, _ in parts) / pool
    of_centre = variance / pool**2
    squares = sum((size - 1) * s2 for size, _, _, s2 in parts)
    within = squares
    squares += sum(
        size * (mean**2 - (1 - Fraction(n, size)) * s2 / n) for size, n, mean, s2 in parts
    ) - pool * (centre**2 - of_centre)
    # strata never differ less than not at all
    return (
        variance,
        (variance**2 / doubt if doubt else Fraction(0)),
        max(squares, within) / (pool - 1),
    )


def sides(strata, forms):
    """Score and influences of both systems."""
    for a in (0, 2):
        units = [[(u[a], u[a] + u[a + 1], u[4]) for u in own] for _, own in strata]
        x, y = ([[dot(form, u) for u in own] for own in units] for form in forms)
        top, bottom = project(strata, x), project(strata, y)
        score = top / bottom
        yield (
            score,
            [
                [(p - score * q) / bottom for p, q in zip(xs, ys, strict=True)]
                for xs, ys in zip(x, y, strict=True)
            ],
        )


def golden(strata, metric):
    (score_a, moves_a), (score_b, moves_b) = sides(strata, FORMS[metric])
    moves = [
        [q - p for p, q in zip(own_a, own_b, strict=True)]
        for own_a, own_b in zip(moves_a, moves_b, strict=True)
    ]
    variance, freedom, unit = spread(strata, moves)
    pool = sum(size for size, _ in strata)
    difference = score_b - score_a
    t = quantile(mp.mpf(freedom.numerator) / freedom.denominator)
    reach = t * mp.sqrt(mp.mpf(variance.numerator) / variance.denominator)
    value = mp.mpf(difference.numerator) / difference.denominator
    return {
        "metric": metric,
        "scores": [float(score_a), float(score_b)],
        "variances": [float(spread(strata, own)[0]) for own in (moves_a, moves_b)],
        "difference": float(difference),
        "variance": float(variance),
        "freedom": float(freedom),
        "unit_variance": float(unit),
        "worth": float(Fraction(pool) ** 2 * unit / (variance + pool * unit)),
        "beyond": float(variance + pool * unit),
        "limits": [float(max(-1, value - reach)), float(min(1, value + reach))],
    }


def quantile(freedom, level="0.95"):
    """Student's t, by bisection of its incomplete beta function."""
    tail = 1 - mp.mpf(level)
    low, high = mp.mpf(0), mp.mpf(10) ** 4
    for _ in range(160):
        t = (low + high) / 2
        beyond = mp.betainc(freedom / 2, mp.mpf(1) / 2, 0, freedom / (freedom + t**2), True)
        low, high = (t, high) if beyond > tail else (low, t)
    return (low + high) / 2


if __name__ == "__main__":
    cases = [
        {"name": name, "strata": strata, **golden(strata, metric)}
        for name, strata in SAMPLES.items()
        for metric in FORMS
    ]
    Path(__file__).with_name("stratified.json").write_text(json.dumps(cases, indent=1) + "\n")
