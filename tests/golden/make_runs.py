"""Golden values of several runs, by plain loops over fractions.

    python tests/golden/make_runs.py > tests/golden/runs.json

Nothing here is shared with the package: scores without a unit are computed again without it,
exchanges and assignments are enumerated, quantiles of Student's distribution are found by bisection
of mpmath's incomplete beta function.
"""

from __future__ import annotations

import json
import random
from fractions import Fraction
from itertools import combinations, product
from math import comb, lcm

from mpmath import betainc, mp, mpf, sqrt

mp.dps = 40
LEVEL = mpf("0.95")


def forms(metric: str, tp: int, fp: int, fn: int) -> tuple[Fraction, Fraction]:
    if metric == "recall":
        return Fraction(tp), Fraction(tp + fn)
    b2 = 4 if metric == "fbeta" else 1
    return Fraction((1 + b2) * tp), Fraction((1 + b2) * tp + b2 * fn + fp)


def score(metric: str, run: list[list[int]]) -> Fraction:
    x = sum(forms(metric, *unit)[0] for unit in run)
    y = sum(forms(metric, *unit)[1] for unit in run)
    return x / y


def mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def variance(values: list[Fraction]) -> Fraction:
    centre = mean(values)
    return sum((v - centre) ** 2 for v in values) / (len(values) - 1)


def moves(metric: str, run: list[list[int]]) -> list[Fraction]:
    f = score(metric, run)
    total = sum(forms(metric, *unit)[1] for unit in run)
    return [(forms(metric, *unit)[0] - f * forms(metric, *unit)[1]) / total for unit in run]


def interaction(rows: list[list[Fraction]], units: int) -> Fraction:
    """n/(n-1) times the sum over units of the variance over runs."""
    by_unit = [variance([row[i] for row in rows]) for i in range(len(rows[0]))]
    return Fraction(units, units - 1) * sum(by_unit)


def student_cdf(t: mpf, freedom: mpf) -> mpf:
    tail = betainc(freedom / 2, mpf(1) / 2, 0, freedom / (freedom + t * t), regularized=True) / 2
    return tail if t < 0 else 1 - tail


def student_quantile(freedom: mpf) -> mpf:
    low, high = mpf(0), mpf(10) ** 6
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if student_cdf(middle, freedom) < (1 + LEVEL) / 2 else (low, middle)
        )
    return low


def number(value: Fraction) -> mpf:
    return mpf(value.numerator) / value.denominator


def add(squares: list[tuple[Fraction, Fraction]]) -> tuple[mpf, mpf]:
    total = sum(v for v, _ in squares)
    freedom = total**2 / sum(v**2 / f for v, f in squares)
    return number(total), number(freedom)


def above_zero(estimate: Fraction, squares: list[tuple[Fraction, Fraction]]) -> mpf:
    if not any(v for v, _ in squares):  # nothing varies
        return mpf(estimate > 0) + mpf(estimate == 0) / 2
    total, freedom = add(squares)
    return student_cdf(number(estimate) / sqrt(total), freedom)


def procedures(metric: str, a: list, b: list, paired: bool) -> dict:
    n_all = len(a[0])
    sizes = [
        mean([forms(metric, *run[i])[1] for run in a])
        + mean([forms(metric, *run[i])[1] for run in b])
        for i in range(n_all)
    ]
    there = [i for i in range(n_all) if sizes[i] > 0]
    n = len(there)

    def difference(kept: list[int]) -> Fraction:
        of_a, of_b = (
            mean([score(metric, [run[i] for i in kept]) for run in runs]) for runs in (a, b)
        )
        return of_b - of_a

    estimate = difference(there)
    without = [difference([i for i in there if i != left]) for left in there]
    centre = mean(without)
    by_unit = Fraction(n - 1, n) * sum((w - centre) ** 2 for w in without)
    freedom = sum(sizes) ** 2 / sum(s**2 for s in sizes) - 1
    scores_a, scores_b = ([score(metric, run) for run in runs] for runs in (a, b))
    moves_a, moves_b = ([moves(metric, run) for run in runs] for runs in (a, b))
    if paired:
        sides = [
            (
                [y - x for x, y in zip(scores_a, scores_b, strict=True)],
                [
                    [y - x for x, y in zip(p, q, strict=True)]
                    for p, q in zip(moves_a, moves_b, strict=True)
                ],
            )
        ]
    else:
        sides = [(scores_a, moves_a), (scores_b, moves_b)]
    own = [(variance(s), interaction(m, n), len(s)) for s, m in sides]
    squares = [(by_unit, freedom), *((v / r, Fraction(r - 1)) for v, _, r in own)]
    total, df = add(squares)
    both = sum(i / r for _, i, r in own)
    here = [(v * (1 + Fraction(1, r)), Fraction(r - 1)) for v, _, r in own]
    units = max(Fraction(0), by_unit - both)
    new = [(by_unit + units, freedom), *here]
    t = number(estimate) / sqrt(total)
    predicted = [above_zero(estimate, squares) for squares in (new, here)]
    return {
        "estimate": number(estimate),
        "standard_error": sqrt(total),
        "degrees_of_freedom": df,
        "reach": student_quantile(df) * sqrt(total),
        "p_student": 2 * min(student_cdf(t, df), student_cdf(-t, df)),
        "p_b_student": student_cdf(t, df),
        "p_new_run_better": predicted[0],
        "p_new_run_better_here": predicted[1],
        "units": number(units),
        "runs": [number(max(Fraction(0), v - i) / r) for v, i, r in own],
        "interactions": [number(i / r) for _, i, r in own],
    }


def exchange(metric: str, a: list, b: list) -> Fraction:
    """The share of all exchanges of units, all runs at once, as far from 0 as what was seen."""
    times = [lcm(len(a), len(b)) // len(runs) for runs in (a, b)]
    pooled = [
        [[factor * sum(run[i][k] for run in runs) for k in range(3)] for i in range(len(a[0]))]
        for factor, runs in zip(times, (a, b), strict=True)
    ]
    seen = abs(score(metric, pooled[1]) - score(metric, pooled[0]))
    extreme = 0
    for coins in product((0, 1), repeat=len(a[0])):
        of_a = [pooled[c][i] for i, c in enumerate(coins)]
        of_b = [pooled[1 - c][i] for i, c in enumerate(coins)]
        extreme += abs(score(metric, of_b) - score(metric, of_a)) >= seen
    return Fraction(extreme, 2 ** len(a[0]))


def assignments(a: list[Fraction], b: list[Fraction]) -> Fraction:
    every = [*a, *b]
    seen = abs(mean(b) - mean(a))
    extreme = 0
    for chosen in combinations(range(len(every)), len(a)):
        own = [every[i] for i in chosen]
        others = [every[i] for i in range(len(every)) if i not in chosen]
        extreme += abs(mean(others) - mean(own)) >= seen
    return Fraction(extreme, comb(len(every), len(a)))


def signs(a: list[Fraction], b: list[Fraction]) -> Fraction:
    moved = [y - x for x, y in zip(a, b, strict=True)]
    seen, extreme = abs(sum(moved)), 0
    for coins in product((-1, 1), repeat=len(a)):
        extreme += abs(sum(c * d for c, d in zip(coins, moved, strict=True))) >= seen
    return Fraction(extreme, 2 ** len(a))


def violation(better: list[Fraction], worse: list[Fraction]) -> Fraction:
    steps = lcm(len(better), len(worse))
    p = [sorted(better)[i * len(better) // steps] for i in range(steps)]
    q = [sorted(worse)[i * len(worse) // steps] for i in range(steps)]
    distance = sum((y - x) ** 2 for x, y in zip(p, q, strict=True))
    if distance == 0:
        return Fraction(1, 2)
    return sum((y - x) ** 2 for x, y in zip(p, q, strict=True) if y > x) / distance


def eps_min(better: list[Fraction], worse: list[Fraction]) -> mpf:
    """The ratio, and 1.645 standard deviations over every ordered resample of both."""
    ratios = [
        violation(list(p), list(q))
        for p in product(better, repeat=len(better))
        for q in product(worse, repeat=len(worse))
    ]
    centre = mean(ratios)
    spread = sum((r - centre) ** 2 for r in ratios) / len(ratios)
    low, high = mpf(0), mpf(10)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if mp.ncdf(middle) < LEVEL else (low, middle)
    return min(mpf(1), max(mpf(0), number(violation(better, worse)) + low * sqrt(number(spread))))


def draw(rng: random.Random, units: int, runs: int, positives: list[int], skill: float) -> list:
    table = []
    for _ in range(runs):
        own = min(0.97, max(0.03, skill + rng.gauss(0, 0.06)))
        run = []
        for i in range(units):
            tp = sum(rng.random() < own for _ in range(positives[i]))
            fp = sum(rng.random() < 0.3 for _ in range(2)) if positives[i] else 0
            run.append([tp, fp, positives[i] - tp])
        table.append(run)
    return table


def main() -> None:
    rng = random.Random(16)  # noqa: S311
    cases = []
    for metric, units, n_a, n_b, paired, copies in [
        ("f1", 9, 3, 3, False, 1),
        ("f1", 10, 5, 5, True, 1),
        ("recall", 8, 3, 5, False, 1),
        ("fbeta", 9, 4, 2, False, 1),
        ("f1", 7, 2, 2, True, 1),
        ("f1", 5, 1, 1, False, 3),
    ]:
        positives = [rng.randint(0, 4) for _ in range(units)]
        positives[0] = 3
        a = draw(rng, units, n_a, positives, 0.6) * copies
        b = draw(rng, units, n_b, positives, 0.75) * copies
        if copies > 1:  # few units, all on one side: the exact test cannot be sure
            a, b = (
                [[[k, 0, 6 - k] for k in own]] * copies
                for own in ((2, 3, 2, 2, 3), (4, 4, 3, 4, 5))
            )
        answer = procedures(metric, a, b, paired)
        cases.append(
            {
                "metric": metric,
                "paired_runs": paired,
                "a": a,
                "b": b,
                "p_exchange": float(exchange(metric, a, b)),
                "procedures": {
                    name: [float(v) for v in value] if isinstance(value, list) else float(value)
                    for name, value in answer.items()
                },
            }
        )
    scores = []
    for n, m in [(2, 3), (3, 3), (4, 2), (4, 4)]:
        a = [Fraction(rng.randint(700, 730), 1000) for _ in range(n)]
        b = [Fraction(rng.randint(705, 740), 1000) for _ in range(m)]
        scores.append(
            {
                "a": [float(v) for v in a],
                "b": [float(v) for v in b],
                "assignments": float(assignments(a, b)),
                "signs": float(signs(a, b)) if n == m else None,
                "eps_min": float(eps_min(b, a)),
                "eps_min_a": float(eps_min(a, b)),
            }
        )
    print(json.dumps({"runs": cases, "scores": scores}, indent=1))


if __name__ == "__main__":
    main()
