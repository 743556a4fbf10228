"""Intervals against numpy.roots and statsmodels, the exact study against a simulation."""

from __future__ import annotations

import numpy as np
from statsmodels.stats.proportion import proportion_confint
from timing import Line, against, in_turns, show

import probative as pv
from probative.inference.intervals import normal_quantile
from probative_studies.coverage import METHODS, coverage_study

TABLES = 1_000_000
LOOPED = 10_000  # tables for the loop of numpy.roots, scaled up


def random_tables() -> pv.Counts:
    return pv.Counts(*np.random.default_rng(0).integers(1, 1000, (3, TABLES)))


def loop_of_roots(counts: pv.Counts) -> None:
    z = normal_quantile(0.95)
    for tp, nu in zip(counts.tp[:LOOPED], counts.nu[:LOOPED], strict=True):
        k, score = z**2 / nu, 2 * tp / (tp + nu)
        np.roots([k, -5 * k, 2 * (4 * k + 1), -4 * (k + score), 2 * score**2])


def simulate_one_condition() -> None:
    rng = np.random.default_rng(1)
    tp, fp, fn, _ = rng.multinomial(5000, [0.4, 0.1, 0.1, 0.4], size=1_000_000).T
    counts = pv.Counts(tp, fp, fn)
    for method in METHODS:
        found = pv.interval(counts, "f1", method)
        ((found.low <= 0.8) & (found.high >= 0.8)).mean(), (found.high - found.low).mean()


def main() -> bool:
    counts = random_tables()
    tp, nu = counts.tp, counts.nu
    best = in_turns(
        5,
        direct=lambda: pv.interval(counts, "f1", "wilson-direct"),
        roots=lambda: loop_of_roots(counts),
        study=coverage_study,
        simulated=simulate_one_condition,
    )
    return show(
        f"Intervals, {TABLES:,} random tables",
        [
            Line(
                "wilson-direct / a loop of numpy.roots",
                best["direct"],
                best["roots"] * TABLES / LOOPED,
                0.01,
            ),
            against(
                "wilson-indirect / statsmodels wilson",
                lambda: pv.interval(counts, "f1", "wilson-indirect"),
                lambda: proportion_confint(tp, nu, method="wilson"),
                1.2,
                rounds=15,
            ),
            against(
                "clopper-pearson / statsmodels beta",
                lambda: pv.interval(counts, "f1", "clopper-pearson"),
                lambda: proportion_confint(tp, nu, method="beta"),
                1.2,
            ),
            Line(
                "exact study, 18 conditions x 4 methods / one condition simulated",
                best["study"],
                best["simulated"],
                1.0,
            ),
        ],
    )


if __name__ == "__main__":
    raise SystemExit(not main())
