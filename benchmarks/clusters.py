"""Coverage and power in the populations that the recipes for units were first tried in.

Published here are the figures found then and ours, beside each other; they must agree within what
a thousand test sets and populations that are known by their description only can tell.
"""

from __future__ import annotations

import math

import numpy as np

import probative as pv
from probative.inference.units import contributions
from probative.jobs.demo import shared_task
from probative_studies.clusters import Condition, cluster_study
from probative_studies.tests import power_check

REPLICATES, SEED = 1000, 0
NEAR = 0.03

# what, the population, and the coverage found then: before and after
SCORES = [
    ("10 documents, lognormal", Condition("score", units=10, sizes="lognormal"), 0.870, 0.945),
    ("15 documents, lognormal", Condition("score", units=15, sizes="lognormal"), 0.891, 0.937),
    (
        "12 documents at F1 0.95, lognormal",
        Condition("score", f1=0.95, units=12, sizes="lognormal"),
        0.881,
        0.949,
    ),
    ("40 sentences, Zipf", Condition("score", units=40, sizes="zipf", items=8), 0.868, 0.948),
    (
        "a label in ten of a thousand sentences",
        Condition("score", units=1000, items=2, filled=0.01, correlation=0.3),
        0.902,
        0.989,
    ),
    (
        "mostly all right: 10 documents at F1 0.98, correlation 0.9",
        Condition("score", f1=0.98, units=10, correlation=0.9),
        0.28,
        0.94,
    ),
]
COPIES = [
    (
        f"near-copies, recall 0.49, {n:,} items",
        Condition("difference", "recall", 0.49, n, "item", 1, 0.0, disputed=0.01),
        before,
        after,
    )
    for n, before, after in (
        (50, 0.59, 1.00),
        (100, 0.64, 1.00),
        (300, 0.80, 0.95),
        (1000, 0.93, 0.93),
    )
]
# the pilot (against the best system of WNUT 2017), a planned power, and what came out with s1 alone
PLANS = [("flytxt", 0.8, 0.72), ("drexel_cci", 0.8, 0.51), ("drexel_cci", 0.5, 0.18)]
BEST = "uh_ritual"


def power_with_s1_alone(paired: pv.PairedCounts, power: float) -> tuple[int, float]:
    """Plan with the deviation under the alternative alone, and simulate the exact test.

    The plan knows only units in which something counts, as it did then; test sets are drawn from
    all of them, with replacement.
    """
    (a, b), number = contributions(paired, "f1")
    scores = [(number @ x, number @ y) for x, y in (a, b)]
    z_a, z_b = (
        (x - top / bottom * y) / bottom
        for (x, y), (top, bottom) in zip((a, b), scores, strict=True)
    )
    n = number.sum()
    s1 = math.sqrt(n * (number @ (z_b - z_a) ** 2))
    d = abs(scores[1][0] / scores[1][1] - scores[0][0] / scores[0][1])
    quantiles = 1.959964 + {0.5: 0.0, 0.8: 0.841621}[power]
    units = math.ceil((quantiles * s1 / d) ** 2)
    rng = np.random.default_rng(SEED)
    grouped = paired.grouped()
    rows, share = grouped.cases[:, :7], np.asarray(grouped.multiplicity, dtype=float)
    share /= share.sum()
    rejected = 0
    for _ in range(REPLICATES):
        drawn = rng.multinomial(units, share)
        sample = pv.PairedCounts(rows[drawn > 0], drawn[drawn > 0])
        rejected += pv.randomization_test(sample, "f1", by="unit").pvalue <= 0.05
    return units, rejected / REPLICATES


def main() -> bool:
    every = [*SCORES, *COPIES]
    found = cluster_study([c for _, c, _, _ in every], replicates=REPLICATES, rng=SEED)
    print("| population | before, then | after, then | before | after | s.e. |")
    print("| :--- | ---: | ---: | ---: | ---: | ---: |")
    for (name, _, before, after), now in zip(every, found, strict=True):
        ours = f"{now.before:.3f} | {now.after:.3f} | {now.standard_error:.3f}"
        print(f"| {name} | {before:.3g} | {after:.3g} | {ours} |")
    task = shared_task()
    print("\n| pilot | planned | then | s1 alone | plan() |\n| :--- | ---: | ---: | ---: | ---: |")
    for name, power, then in PLANS:
        paired = task.items.paired(task.names.index(name), task.names.index(BEST))
        units, alone = power_with_s1_alone(paired, power)
        ours = power_check(paired, name, power=power, replicates=REPLICATES, rng=SEED)
        both = f"{alone:.3f} ({units:,}) | {ours.simulated:.3f} ({ours.units:,})"
        print(f"| {name}, {BEST} | {power} | {then} | {both} |")
    return all(abs(now.after - told[3]) < NEAR for told, now in zip(every, found, strict=True))


if __name__ == "__main__":
    raise SystemExit(not main())
