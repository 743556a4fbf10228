"""Does a planned sample size give the power that was asked for?

New test sets are drawn from a pilot's units with replacement, as many as the plan says, and the
exact randomisation test is run on each. The share of significant ones is the power.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from probative._validation import RNG, random_generator, whole_number
from probative.counts import PairedCounts
from probative.inference.exchange import randomization_test
from probative.inference.planning import plan
from probative.jobs.demo import shared_task
from probative_studies.harness import Report, Row, part, quiet, share_of


def power_check(
    paired: PairedCounts,
    pilot: str,
    *,
    power: float = 0.8,
    level: float = 0.95,
    replicates: int = 1000,
    rng: RNG | None = 0,
    report: Report = quiet,
) -> Row:
    """Plan from a pilot, and see how often the exact test by unit finds the difference."""
    generator = random_generator(rng)
    whole_number("replicates", replicates)
    wanted = plan(paired, "f1", power=power, level=level)
    grouped = paired.grouped()
    number = np.asarray(grouped.multiplicity)
    share = number / number.sum()
    rows = grouped.cases if grouped.has_negatives else grouped.cases[:, :7]
    units = wanted.units or 0
    rejected = []
    for done in range(replicates):
        report(done, replicates)
        drawn = generator.multinomial(units, share)
        sample = PairedCounts(rows[drawn > 0], drawn[drawn > 0])
        rejected.append(randomization_test(sample, "f1", by="unit").pvalue <= 1 - level)
    simulated, error = share_of(rejected)
    return Row(
        pilot=pilot, difference=wanted.difference or 0.0, units=units,
        planned=power, simulated=simulated, standard_error=error,
        replicates=replicates,
    )


def planning_study(
    powers: Sequence[float] = (0.5, 0.8, 0.9),
    *,
    level: float = 0.95,
    replicates: int = 1000,
    rng: RNG | None = 0,
    report: Report = quiet,
) -> list[Row]:
    """Check plans from pilots: the best of the WNUT 2017 shared task against the six others.

    Their differences are small and large. One pair is also planned by item, and there is a
    made-up pilot of 400 sentences.
    """
    task = shared_task()
    best = task.names.index("uh_ritual")
    others = [k for k in range(len(task.names)) if k != best]
    pilots = {f"{task.names[k]}, uh_ritual": task.items.paired(k, best) for k in others}
    name = task.names[others[-1]]
    pilots[f"{name}, uh_ritual, by item"] = _items_alone(pilots[f"{name}, uh_ritual"])
    pilots["made-up pilot of 400 sentences"] = _invent_pilot()
    conditions = [(name, power) for name in pilots for power in powers]
    choices: dict[str, Any] = {"level": level, "replicates": replicates, "rng": rng}
    return [
        power_check(
            pilots[name], name, power=power, **choices, report=part(report, place, len(conditions))
        )
        for place, (name, power) in enumerate(conditions)
    ]


def _items_alone(paired: PairedCounts) -> PairedCounts:
    """Make every item a unit of its own."""
    number = paired.total().cases[:7]
    return PairedCounts(np.eye(7)[number > 0], number[number > 0])


def _invent_pilot() -> PairedCounts:
    """Make a pilot: one to six entities per sentence, easy and hard ones, B a bit better."""
    rng = np.random.default_rng(7)
    entities = rng.integers(1, 7, 400)
    ease = rng.beta(4, 2, 400)  # what a sentence does to both systems
    rows = np.zeros((400, 7))
    for row, n, p in zip(rows, entities, ease, strict=True):
        found_a, found_b = rng.random((2, n)) < np.array([[p], [min(1.0, p + 0.03)]])
        spurious = rng.poisson(0.15, 3)
        found = found_a & ~found_b, found_b & ~found_a, found_a & found_b, ~found_a & ~found_b
        row[[0, 2, 4, 6]] = [np.sum(which) for which in found]
        row[[1, 3, 5]] = spurious
    return PairedCounts(rows)
