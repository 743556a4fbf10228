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
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product

import numpy as np
from numpy.random import Generator
from scipy import special

from probative._validation import Mask, fraction, open_probability, positive, whole_number
from probative.counts import PairedCounts
from probative.errors import InputError
from probative.inference.allowance import allowance
from probative.inference.posterior.clustered import posterior_of_difference
from probative.inference.units import dependence_of_difference
from probative.jobs.gate import GATES
from probative_studies.clusters import Condition, case_shares, draw, true_difference
from probative_studies.harness import Report, Row, quiet, share_error, share_of, streams
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


# --- Does the ledger keep its promise? Candidates that are no better, and how often one passes.
#
# A baseline is right on about half of the items of a test set. A change turns every answer with the
# same probability, so that it makes nothing better or worse but by luck; what is lucky on this test
# set is not elsewhere. Three ways to come by candidates:
#
# * independent: each is a new change of the baseline;
# * by verdicts: every probe is a system that is really better, with a change besides; the last
#   candidate is the baseline with all changes whose probes have passed, and no better;
# * by scores: each is a new change of the baseline, and the last has all that raised the score.

_TURNED = 0.05  # of the answers, by a change
_MENDED = 0.06  # of the wrong answers, by what is really better
_KINDS = ("plain", "independent", "adaptive")  # one confidence, or the allowances of a ledger
_WAYS = ("independent", "by verdicts", "by scores")


def ledger_study(
    *,
    sequences: int = 2000,
    looks: int = 20,
    items: int = 300,
    confidence: float = 0.95,
    rng: int = 0,
    report: Report = quiet,
) -> list[Row]:
    """Simulate sequences of candidates that meet one test set.

    >>> independent, *_ = ledger_study(sequences=100, looks=10)
    >>> independent.adaptive <= independent.independent < independent.plain
    True
    """
    sequences, looks = whole_number("sequences", sequences), whole_number("looks", looks)
    items = whole_number("items", items)
    doubt = 1 - open_probability("confidence", confidence)
    generator = np.random.default_rng(whole_number("rng", rng, least=0))
    wrong = {way: np.zeros(3) for way in _WAYS}
    for number in range(sequences):
        report(number, sequences)
        right = generator.random(items) < 0.5
        changes = generator.random((looks, items)) < _TURNED
        mended = ~right & (generator.random(items) < _MENDED)
        for place, kind in enumerate(_KINDS):
            for way in _WAYS:
                wrong[way][place] += _passes(way, right, changes, mended, kind, doubt)
    promised = {"independent": "both", "by verdicts": "adaptive", "by scores": "neither"}
    return [
        Row(
            way=way,
            looks=looks,
            **dict(zip(_KINDS, (shares / sequences).tolist(), strict=True)),
            promised=promised[way],  # which of these stay below `allowed`
            allowed=doubt,
            standard_error=share_error(doubt, sequences),
            sequences=sequences,
        )
        for way, shares in wrong.items()
    ]


def _passes(way: str, right: Mask, changes: Mask, mended: Mask, kind: str, doubt: float) -> bool:
    """Return True if a candidate that is no better passes in one sequence."""
    judge = _gate(right, kind, doubt)
    if way == "independent":
        return sum(judge(right ^ change) for change in changes) > 0
    *probes, last = changes
    if way == "by scores":
        for change in probes:
            judge(right ^ change)
        kept = [change for change in probes if (right ^ change).sum() > right.sum()]
    else:
        kept = [change for change in probes if judge((right ^ change) | mended)]
    return judge(right ^ np.logical_or.reduce(kept or [last]))


def _gate(right: Mask, kind: str, doubt: float) -> Callable[[Mask], bool]:
    """Return a gate that judges candidates against the baseline, one after the other."""
    verdicts: list[bool] = []

    def judge(candidate: Mask) -> bool:
        threshold = doubt if kind == "plain" else allowance(kind, verdicts, doubt)
        gained = int(np.count_nonzero(candidate & ~right))
        lost = int(np.count_nonzero(right & ~candidate))
        verdicts.append(_doubt(gained, lost) <= threshold)
        return verdicts[-1]

    return judge


@cache
def _doubt(gained: int, lost: int) -> float:
    """Return 1 - P(better) as a gate has it; items that both get right or wrong do not matter."""
    cases = PairedCounts([lost, 0, gained, 0, 100, 0, 100])
    return float(posterior_of_difference(cases, "recall").cdf(0.0))
