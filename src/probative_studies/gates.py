"""How often do gates err? By simulation, where it is hardest: at the border of what they guard.

Test sets are drawn as in the study of few and uneven units. For "require-better" B is better by
just the margin, for the other two worse by just the margin, so that a gate that passes
("fail-if-worse": fails) does so wrongly, and should do so in no more than 1 - confidence of the
test sets. Anywhere else errors are rarer.

The posterior's probabilities come from draws here, which take a thousandth of the time of the
exact ones; the noise that they add is a tenth of what the test sets themselves bring.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative._validation import fraction, open_probability, positive, whole_number
from probative.counts import PairedCounts
from probative.errors import InputError
from probative.inference.units import dependence_of_difference
from probative.jobs.gate import GATES
from probative_studies.clusters import Condition, case_shares, draw, true_difference
from probative_studies.harness import Report, Row, quiet, share_of, streams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


_SETTLED = 0.75  # a share of the first draws below which a gate of 0.9 or more cannot hold


@dataclass(frozen=True, eq=False, repr=False)
class GateErrors(Row):
    """Error rate of a gate under one condition."""

    gate: str
    margin: float
    confidence: float
    # how many units, how their sizes vary, their mean size, and the correlation of two items of a
    # unit
    units: int
    sizes: str
    items: int
    correlation: float
    error: str  # "false pass" or "false fail"
    share: float  # how often it happened, and the Monte-Carlo error of that
    standard_error: float
    replicates: int

    @property
    def holds(self) -> bool:
        """Return True if the share is at most 1 - confidence, within three standard errors."""
        allowed = 1 - self.confidence
        return self.share <= allowed + 3 * math.sqrt(allowed * (1 - allowed) / self.replicates)

    line = (
        "{gate}, margin {margin:g}, {units} {sizes} units: {error} in {share:.4f} ± "
        "{standard_error:.4f}"
    )


def gate_study(
    gates: Sequence[str] = GATES,
    margins: Sequence[float] = (0.0, 0.02),
    units: Sequence[int] = (10, 20, 50, 100),
    sizes: Sequence[str] = ("equal", "lognormal", "zipf"),
    *,
    correlation: float = 0.1,
    f1: float = 0.75,
    confidence: float = 0.95,
    replicates: int = 2000,
    n_resamples: int = 4000,
    rng: int = 0,
    report: Report = quiet,
) -> list[GateErrors]:
    """Simulate how often each gate errs.

    Parameters
    ----------
    gates, margins, units, sizes
        What to try, in all combinations.
    correlation, f1
        Of two items of a unit, and the baseline's true score.
    confidence
        Of the gates.
    replicates, n_resamples, rng
        Test sets for each condition, draws from a posterior, and the seed.

    Examples
    --------
    >>> from probative_studies.gates import gate_study
    >>> (result,) = gate_study(["require-better"], [0.0], [20], ["equal"], replicates=200)
    >>> result.share < 0.12
    True
    """
    confidence = open_probability("confidence", confidence)
    if confidence < 0.9:
        raise InputError(f"confidence: {confidence!r} is below 0.9; expected what a gate asks for")
    correlation = fraction("correlation", positive("correlation", correlation, zero=True))
    replicates = whole_number("replicates", replicates)
    n_resamples = whole_number("n_resamples", n_resamples)
    conditions = [
        (g, fraction("margins", m), s, n)
        for g in gates
        for m in margins
        for s in sizes
        for n in units
    ]
    results = []
    for (gate, margin, kind, number), generator in streams(conditions, rng, report):
        condition = Condition(
            "difference", f1=f1, units=number, sizes=kind, correlation=correlation, gap=margin
        )
        shares = case_shares(condition)
        if not math.isclose(true_difference(shares), margin, abs_tol=1e-9):
            raise InputError(f"margins: {margin!r} is too large for this study")
        wrong = [
            _errs(
                gate, margin, confidence, draw(generator, condition, shares), n_resamples, generator
            )
            for _ in range(replicates)
        ]
        found, error = share_of(wrong)
        results.append(
            GateErrors.of(
                condition,
                gate=gate,
                margin=margin,
                confidence=confidence,
                error="false fail" if gate == "fail-if-worse" else "false pass",
                share=found,
                standard_error=error,
                replicates=replicates,
            )
        )
    return results


def _errs(
    gate: str,
    margin: float,
    confidence: float,
    cases: NDArray[np.float64],
    n_resamples: int,
    rng: np.random.Generator,
) -> bool:
    """Return True if a gate errs on one test set, drawn with B better by the margin."""
    paired = PairedCounts(cases)
    if gate == "require-better":
        return probability_above(paired, margin, n_resamples, rng) >= confidence
    if gate == "require-not-worse":
        return probability_above(paired.swapped(), -margin, n_resamples, rng) >= confidence
    # of the mirrored pair: a difference below -margin is one above it
    below = probability_above(paired, margin, n_resamples, rng)
    return not below < confidence  # without evidence it fails, too


def probability_above(
    paired: PairedCounts, threshold: float, n_resamples: int, rng: np.random.Generator
) -> float:
    """Return P(B - A > threshold) of F1, by draws from the posterior that allows for units."""
    dependence = dependence_of_difference(paired, "f1")
    if dependence.no_evidence:
        return math.nan
    cells = paired.total().cases[:7] / dependence.divisor + 0.5
    above = number = 0
    for more in (n_resamples // 16, n_resamples - n_resamples // 16):
        above += int(np.count_nonzero(_differences(rng, cells, more) > threshold))
        number += more
        if above < _SETTLED * number:  # far from what any gate asks for
            break
    # neither 0 nor 1: draws cannot tell that
    share = (above + 0.5) / (number + 1)
    return float(special.stdtr(dependence.tail_freedom, special.ndtri(share)))


def _differences(
    rng: np.random.Generator, cells: NDArray[np.float64], number: int
) -> NDArray[np.float64]:
    """Draw F1 of B minus F1 of A, where the seven cases have a Dirichlet posterior."""
    g = rng.standard_gamma(cells, (number, 7)).T
    both, positives = g[4] + g[5], g[0] + g[2] + g[4] + g[6]
    f1_a = 2 * (g[0] + g[4]) / (g[0] + g[1] + both + positives)
    f1_b = 2 * (g[2] + g[4]) / (g[2] + g[3] + both + positives)
    return np.asarray(f1_b - f1_a)
