"""Do the intervals of calibration hold what they promise? By simulation.

The log-odds of probabilities are normal, so that about a fourth of the items are positive. "right":
every probability is right. "bold": the true log-odds are half as large. "high": they are lower by
one half. "units": probabilities are right, but items of a unit come true together more often; "high
units": so, and they are too high. "bolder": as "bold", with log-odds between -8 and 8. "labels":
probabilities are 0 or 1, and right 98 times of 100. "rare": most are near 0, and all are twice as
large as they should be. "partly": those above 0.9 are too large by one half, all others right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import one_of, open_probability, random_generator, whole_number
from probative.inference.calibration import calibration
from probative.results import Result
from probative.studies.curves import draw_noise, draw_units, monte_carlo_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from probative._types import RNG, Array

__all__ = ["PROBABILITIES", "CalibrationCoverage", "calibration_study"]

PROBABILITIES = (
    *("right", "bold", "high", "units"),
    *("high units", "bolder", "labels", "rare", "partly"),
)
_MEAN, _DEVIATION = -1.0, 1.5
_BINS = 10


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationCoverage(Result):
    """How far calibration errors are from the truth, and how often their intervals hold it.

    Attributes
    ----------
    probabilities, items
        The condition: what is wrong with the probabilities, and how many there are.
    error
        The true calibration error of the bins, on average.
    seen, left
        The one seen, and what is left of it without what chance adds, on average.
    covered, length, noted
        How often the interval holds the true one, its mean length, and how often a note stands
        beside it.
    covered_bins
        How often the interval of a bin holds its true share of positives.
    standard_error
        The Monte-Carlo error of a coverage of 0.95.
    """

    probabilities: str
    items: int
    error: float
    seen: float
    left: float
    covered: float
    length: float
    noted: float
    covered_bins: float
    standard_error: float

    def __str__(self) -> str:
        return f"{self.probabilities}, {self.items} items: covered {self.covered:.3f}"


def calibration_study(
    *,
    probabilities: Sequence[str] = PROBABILITIES,
    items: Sequence[int] = (20, 50, 200, 1000),
    level: float = 0.95,
    replicates: int = 400,
    rng: RNG | None = 0,
    report: Callable[[int, int], None] | None = None,
) -> list[CalibrationCoverage]:
    """Draw probabilities whose true calibration is known.

    Parameters
    ----------
    probabilities, items
        The conditions: all combinations.
    level
        The level of the intervals.
    replicates
        Test sets per condition.
    rng
        A seed or generator.
    report
        Is told how many conditions are done, and how many there are.
    """
    level = open_probability("level", level)
    replicates = whole_number("replicates", replicates)
    generator = random_generator(rng)
    conditions = [
        (one_of("probabilities", kind, PROBABILITIES), whole_number("items", number, least=2))
        for kind in probabilities
        for number in items
    ]
    results = []
    for done, condition in enumerate(conditions, start=1):
        rows = [_one_test_set(*condition, level, generator) for _ in range(replicates)]
        told: list[Any] = [*condition, *np.mean(rows, axis=0).tolist()]
        told.append(monte_carlo_error(replicates))
        results.append(CalibrationCoverage(*told))
        if report is not None:
            report(done, len(conditions))
    return results


def _one_test_set(kind: str, n: int, level: float, rng: np.random.Generator) -> list[float]:
    stated, true = _probabilities(kind, n, rng)
    unit = draw_units(n, rng) if kind.endswith("units") else None
    came = special.ndtr(draw_noise(unit, n, rng)) < true
    found = calibration(came, stated, level=level, bins=_BINS, unit=unit)
    shares = np.array([_within(one, stated, true) for one in found.bins])
    weights = np.array([one.items for one in found.bins]) / n
    error = float(weights @ np.abs(shares - [one.mean for one in found.bins]))
    held = [one.low <= share <= one.high for one, share in zip(found.bins, shares, strict=True)]
    return [
        error,
        found.ece,
        found.ece_debiased,
        found.ece_low <= error <= found.ece_high,
        found.ece_high - found.ece_low,
        found.note is not None,
        float(np.mean(held)),
    ]


def _probabilities(kind: str, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the probabilities that are stated, and the true ones."""
    if kind == "labels":
        stated = (rng.random(n) < 0.4).astype(float)
        return stated, np.abs(stated - 0.02)
    if kind == "rare":
        stated = rng.beta(0.3, 6.0, n)
        return stated, stated / 2
    if kind == "partly":
        stated = rng.random(n)
        return stated, np.where(stated > 0.9, stated - 0.5, stated)
    said = rng.normal(0.0, 4.0, n) if kind == "bolder" else rng.normal(_MEAN, _DEVIATION, n)
    odds = said / 2 if kind.startswith("bold") else said - 0.5 * kind.startswith("high")
    return special.expit(said), special.expit(odds)


def _within(one: Any, stated: Any, true: Any) -> float:
    """The true share of positives in a bin."""
    return float(true[(stated >= one.low_edge) & (stated <= one.high_edge)].mean())
