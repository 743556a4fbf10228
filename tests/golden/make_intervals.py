"""Limits of every interval method in 40 digits, by other means than the package's.

Run ``python tests/golden/make_intervals.py`` to write intervals.json beside this file. Beta
distribution functions come from their continued fraction, quantiles from Newton's method kept
inside a bracket, the quartic from mpmath's polynomial solver; all in mpmath.
"""

from __future__ import annotations

import json
from pathlib import Path

import mpmath as mp

mp.mp.dps = 40
LEVELS = (0.5, 0.8, 0.95, 0.99, 0.999999)
SIZES = (1, 2, 3, 10, 97, 10**4, 10**6, 10**9)


def grid():
    for nu in SIZES:
        shares = sorted({0, 1, nu // 2, 9 * nu // 10, nu - 1, nu} - {-1})
        for tp in shares:
            # the continued fraction is long for huge balanced tables: three levels will do there
            for level in LEVELS if nu < 10**9 or tp in (0, nu) else LEVELS[::2]:
                yield tp, nu, level


def fraction(a, b, x):
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = mp.mpf(10) ** -100
    c, d = mp.mpf(1), 1 - (a + b) * x / (a + 1)
    d = 1 / (d if d else tiny)
    h, m = d, 0
    while True:
        m += 1
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + numerator * d
            c = 1 + numerator / c
            d = 1 / (d if d else tiny)
            h *= d * c
        if abs(d * c - 1) < mp.mpf(10) ** -36:
            return h


def beta_cdf(a, b, x):
    if x <= 0 or x >= 1:
        return mp.mpf(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_cdf(b, a, 1 - x)
    log_front = a * mp.log(x) + b * mp.log1p(-x) - mp.log(mp.beta(a, b)) - mp.log(a)
    return mp.exp(log_front) * fraction(a, b, x)


def beta_quantile(a, b, p):
    a, b, p = mp.mpf(a), mp.mpf(b), mp.mpf(p)
    low, high = mp.mpf(0), mp.mpf(1)
    mean = a / (a + b)
    spread = mp.sqrt(mean * (1 - mean) / (a + b + 1))
    x = min(max(mean + spread * mp.sqrt(2) * mp.erfinv(2 * p - 1), mean / 100), (99 + mean) / 100)
    log_norm = mp.log(mp.beta(a, b))
    for _ in range(300):
        error = beta_cdf(a, b, x) - p
        low, high = (x, high) if error < 0 else (low, x)
        step = error / mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - log_norm)
        following = x - step
        if not low < following < high:
            following = (low + high) / 2
        if abs(following - x) < mp.mpf(10) ** -30 * x:
            return following
        x = following
    raise RuntimeError((a, b, p))


def to_f1(share):
    return 2 * share / (1 + share)


def beta_limits(a, b, level):
    tail = (1 - mp.mpf(level)) / 2
    return beta_quantile(a, b, tail), 1 - beta_quantile(b, a, tail)


def clopper_pearson(tp, nu, level):
    tail = (1 - mp.mpf(level)) / 2
    low = mp.mpf(0) if tp == 0 else beta_quantile(tp, nu - tp + 1, tail)
    high = mp.mpf(1) if tp == nu else 1 - beta_quantile(nu - tp, tp + 1, tail)
    return low, high


def quartic(tp, nu, z):
    k, score = z**2 / nu, to_f1(mp.mpf(tp) / nu)
    with mp.workdps(80):
        coefficients = [k, -5 * k, 2 * (4 * k + 1), -4 * (k + score), 2 * score**2]
        roots = mp.polyroots(coefficients, maxsteps=2000, extraprec=400)
        real = sorted(mp.re(r) for r in roots if abs(mp.im(r)) < mp.mpf(10) ** -30)
        slack = mp.mpf(10) ** -30
        low = [r for r in real if -slack <= r <= score + slack]
        high = [r for r in real if score - slack <= r <= 1 + slack]
    return (mp.mpf(0) if tp == 0 else low[0]), (mp.mpf(1) if tp == nu else high[-1])


def wilson(tp, nu, z):
    k, share = z**2 / nu, mp.mpf(tp) / nu
    centre, reach = (share + k / 2) / (1 + k), mp.sqrt(k * (share * (1 - share) + k / 4)) / (1 + k)
    return centre - reach, centre + reach


def delta(tp, fp, fn, beta, z):
    """Wald and logit limits of F-beta."""
    b2 = mp.mpf(beta) ** 2
    bottom = (1 + b2) * tp + b2 * fn + fp
    f = (1 + b2) * tp / bottom
    sd = mp.sqrt((1 + b2) ** 2 * tp * (1 - f) ** 2 + f**2 * (b2**2 * fn + fp)) / bottom
    logit = None
    if 0 < f < 1:
        centre, reach = mp.log(f / (1 - f)), z * sd / (f * (1 - f))
        logit = tuple(1 / (1 + mp.exp(-(centre + sign * reach))) for sign in (-1, 1))
    return (f - z * sd, f + z * sd), logit


def f1_case(tp, nu, level):
    z = mp.sqrt(2) * mp.erfinv(mp.mpf(level))
    wald, logit = delta(tp, nu - tp, 0, 1, z)
    limits = {
        "clopper-pearson": tuple(map(to_f1, clopper_pearson(tp, nu, level))),
        "jeffreys": tuple(
            map(to_f1, beta_limits(tp + mp.mpf(1) / 2, nu - tp + mp.mpf(1) / 2, level))
        ),
        "bayes": tuple(map(to_f1, beta_limits(tp + 1, nu - tp + 2, level))),
        "wilson-indirect": tuple(map(to_f1, wilson(tp, nu, z))),
        "wilson-direct": quartic(tp, nu, z),
        "wald": wald,
    }
    if logit:
        limits["logit"] = logit
    return limits


def as_text(limits):
    return {name: [mp.nstr(limit, 25) for limit in pair] for name, pair in limits.items()}


def main():
    f1 = [
        {"tp": tp, "nu": nu, "level": level, "limits": as_text(f1_case(tp, nu, level))}
        for tp, nu, level in grid()
    ]
    fbeta = []
    for tp, fp, fn in ((1, 1, 1), (77, 44, 10), (10**6, 3, 10**5), (5, 10**9, 7)):
        for beta in (0.5, 2, 3):
            for level in LEVELS:
                z = mp.sqrt(2) * mp.erfinv(mp.mpf(level))
                wald, logit = delta(tp, fp, fn, beta, z)
                limits = as_text({"wald": wald, "logit": logit})
                fbeta.append(
                    {"tp": tp, "fp": fp, "fn": fn, "beta": beta, "level": level, "limits": limits}
                )
    lines = {
        key: ",\n".join(json.dumps(case) for case in cases)
        for key, cases in (("f1", f1), ("fbeta", fbeta))
    }
    body = ",\n".join(f'"{key}": [\n{text}\n]' for key, text in lines.items())
    Path(__file__).with_name("intervals.json").write_text("{\n" + body + "\n}\n")


if __name__ == "__main__":
    main()
