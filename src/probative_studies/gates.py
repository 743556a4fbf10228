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
from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.random import Generator
from scipy import special

from probative._validation import fraction, open_probability, positive, whole_number
from probative.counts import PairedCounts
from probative.errors import InputError
from probative.inference.units import dependence_of_difference
from probative.jobs.gate import GATES
from probative_studies.clusters import Condition, case_shares, draw, true_difference
from probative_studies.harness import Report, Row, quiet, share_of, streams
from probative_studies.tests import drawn_differences

_SETTLED = 0.75  # a share of the first draws below which a gate of 0.9 or more cannot hold


class GateErrors(Row):
    """Error rate of a gate under one condition."""

    @property
    def holds(self) -> bool:
        """Return True if the share is at most 1 - confidence, within three standard errors."""
        allowed = 1 - self.confidence
        slack = 3 * math.sqrt(allowed * (1 - allowed) / self.replicates)
        return bool(self.share <= allowed + slack)

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
    conditions = product(gates, [fraction("margins", m) for m in margins], sizes, units)
    results = []
    for (gate, margin, kind, number), generator in streams(conditions, rng, report):
        condition = Condition(
            "difference", f1=f1, units=number, sizes=kind, correlation=correlation, gap=margin
        )
        shares = case_shares(condition)
        if not math.isclose(true_difference(shares), margin, abs_tol=1e-9):
            raise InputError(f"margins: {margin!r} is too large for this study")
        wrong = []
        for _ in range(replicates):
            paired, border = PairedCounts(draw(generator, condition, shares)), margin
            if gate == "require-not-worse":
                paired, border = paired.swapped(), -margin
            # "fail-if-worse" is asked of the mirrored pair: a difference below -margin is one above
            above = probability_above(paired, border, n_resamples, generator)
            # without evidence "fail-if-worse" fails, too
            wrong.append(not above < confidence if gate == "fail-if-worse" else above >= confidence)
        found, error = share_of(wrong)
        row = GateErrors(
            gate=gate,
            margin=margin,
            confidence=confidence,
            units=number,
            sizes=kind,
            items=condition.items,
            correlation=correlation,
            error="false fail" if gate == "fail-if-worse" else "false pass",
            share=found,
            standard_error=error,
            replicates=replicates,
        )
        results.append(row)
    return results


def probability_above(
    paired: PairedCounts, threshold: float, n_resamples: int, rng: Generator
) -> float:
    """Return P(B - A > threshold) of F1, by draws from the posterior that allows for units."""
    dependence = dependence_of_difference(paired, "f1")
    if dependence.no_evidence:
        return math.nan
    cells = paired.total().cases[:7] / dependence.divisor + 0.5
    above = number = 0
    for more in (n_resamples // 16, n_resamples - n_resamples // 16):
        above += int(np.count_nonzero(drawn_differences(rng, cells, more) > threshold))
        number += more
        if above < _SETTLED * number:  # far from what any gate asks for
            break
    # neither 0 nor 1: draws cannot tell that
    share = (above + 0.5) / (number + 1)
    return float(special.stdtr(dependence.tail_freedom, special.ndtri(share)))
